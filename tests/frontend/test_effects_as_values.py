"""Prints, warnings and logs where their value counts, too; warnings that are kept and not read."""

import logging
import warnings

import numpy as np
import pytest

from frontend.every_mode import assert_both_modes
from s2s_ad import S2SError, grad, jit

X = np.array([0.5, -1.2, 0.8])
LOG = logging.getLogger("tests.effects_as_values")


def warned_and_returned(x):
    def note(v):
        if v < 0:
            return warnings.warn("below zero", stacklevel=1)
        return None

    note(x[1])
    return np.sum(x**2)


def printed_in_a_choice(x):
    y = x[0] ** 2
    shown = print("small", y) if y < 5 else None
    return y if shown is None else 2 * y


def printed_or(x):
    x[0] > 3 or print("not above", x[1])
    return np.sum(x**3)


def logged(x):
    result = LOG.warning("x %s", x[0])
    return x[0] ** 2 if result is None else x[0]


@pytest.mark.parametrize("function", [warned_and_returned, printed_in_a_choice, printed_or, logged])
@pytest.mark.filterwarnings("ignore")
def test_it_is_none_and_happens_once(function, capsys, caplog):
    function(X)
    expected = capsys.readouterr().out, caplog.messages[:]
    caplog.clear()
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        grad(function)(X)
    assert (capsys.readouterr().out, caplog.messages) == expected
    assert len(found) == (function is warned_and_returned)
    assert_both_modes(function, (X,))


def kept(x):
    with warnings.catch_warnings(record=True) as found:  # noqa: F841
        warnings.simplefilter("always")
        y = np.log(x)
    return y


def test_warnings_that_are_kept_and_not_read():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert jit(kept)(np.array([0.0]))[0] == -np.inf
        np.testing.assert_allclose(grad(lambda x: np.sum(kept(x)))(X + 2), 1 / (X + 2))


def counted(x):
    with warnings.catch_warnings(record=True) as found:
        y = np.log(x)
    return y * len(found)


def warned_where_they_are_kept(x):
    with warnings.catch_warnings(record=True):
        warnings.warn("kept", stacklevel=1)
    return x


@pytest.mark.parametrize("function", [counted, warned_where_they_are_kept])
def test_warnings_that_are_read_are_refused(function):
    with pytest.raises(S2SError, match=r"are kept|keeps them"):
        jit(function)(X)
