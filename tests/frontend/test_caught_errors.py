"""What a handler has caught: it may be logged, printed, warned of, and be the cause of another."""

import logging
import math
import warnings

import numpy as np
import pytest

from s2s_ad import S2SError, grad, jit, jvp, value_and_grad, vmap

logger = logging.getLogger(__name__)


def logged(x):
    try:
        y = math.log(x)
    except ValueError as error:
        logger.warning("no logarithm: %s (%s)", error, type(error).__name__)
        y = 0.5 * x
    return y * y


def printed(x):
    try:
        y = math.log(x)
    except (ValueError, TypeError) as e:
        print(f"no logarithm: {e!r}", e.args[0])
        y = 0.5 * x
    return y * y


def warned(x):
    try:
        y = math.log(x)
    except ValueError as e:
        warnings.warn(f"no logarithm: {e}", RuntimeWarning, stacklevel=1)
        y = x
    return y * y


def chained(x):
    try:
        y = math.log(x)
    except ValueError as error:
        raise RuntimeError(f"bad value {x}") from error
    return y * y


def chained_of_its_text(x):
    try:
        y = math.log(x)
    except ValueError as error:
        raise RuntimeError("bad: " + str(error)) from None
    return y * y


def one_in_another(x):
    try:
        y = math.log(x)
    except ValueError as first:
        try:
            y = math.sqrt(x)
        except ValueError as second:
            raise RuntimeError(f"{first}, {second}") from first
    return y * y


def shows_the_outer_one(x):
    try:
        y = math.log(x)
    except ValueError as outer:
        try:
            y = math.sqrt(x)
        except ValueError:
            raise RuntimeError(f"{outer}") from outer
    return y * y


def raised_for_certain(x):
    if x > 0.0:
        return x
    try:
        raise ValueError(f"not for {x}")
    except ValueError as e:
        raise RuntimeError(str(e)) from e


def in_a_loop(x):
    total = 0.0
    for k in range(3):
        try:
            total = total + math.log(x + k)
        except ValueError as e:
            print("step", k, e)
    return total


RUN = [logged, printed, warned, in_a_loop]
RAISE = [chained, chained_of_its_text, one_in_another, shows_the_outer_one, raised_for_certain]
MODES = {
    "value": lambda f, x: jit(f)(x),
    "gradient": lambda f, x: grad(f)(x),
    "both": lambda f, x: value_and_grad(f)(x),
    "tangent": lambda f, x: jvp(f, (x,), (1.0,)),
    "second": lambda f, x: grad(grad(f))(x),
    "batch": lambda f, x: vmap(grad(f))(np.array([2.0, x])),
}


def seen(call, capsys, caplog):
    """What a call prints, logs, warns of; of an exception, its kind, text and cause."""
    caplog.clear()
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        try:
            call()
            error = None
        except RuntimeError as found:
            cause = found.__cause__
            error = type(found), str(found), type(cause), str(cause)
    said = [str(e.message) for e in warned if e.category is RuntimeWarning]
    return error, capsys.readouterr().out, caplog.messages, said


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("f", [*RUN, *RAISE], ids=lambda f: f.__name__)
def test_each_mode_says_what_python_says(f, mode, capsys, caplog):
    for x in (-0.5, -1.5):
        expected = seen(lambda: f(x), capsys, caplog)
        found = seen(lambda: MODES[mode](f, x), capsys, caplog)
        assert any(found), "nothing was said"
        assert found == expected


@pytest.mark.parametrize("x", [2.0, -0.5])
@pytest.mark.parametrize("f", RUN, ids=lambda f: f.__name__)
def test_derivatives(f, x):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        expected = (f(x + 1e-6) - f(x - 1e-6)) / 2e-6
        np.testing.assert_allclose(grad(f)(x), expected, rtol=1e-6)
        np.testing.assert_allclose(vmap(grad(f))(np.array([x, x])), expected, rtol=1e-6)


def test_the_text_has_the_users_name():
    text = grad(one_in_another).source(2.0)
    assert "except ValueError as first:" in text
    assert 'raise RuntimeError(f"{first}, {second}") from first' in text
    assert "bound when it was compiled" not in text


def kept_as_a_value(x):
    last = None
    for k in range(3):
        try:
            return math.sqrt(x + k)
        except ValueError as error:
            last = error
    raise last


def test_as_a_value_it_is_refused():
    with pytest.raises(S2SError, match="the exception that was caught, as a value"):
        grad(kept_as_a_value)(0.5)


def test_nothing_is_written_behind_a_raise():
    lines = grad(chained).source(2.0).splitlines()
    at = next(i for i, line in enumerate(lines) if " from error" in line)
    deeper = [len(each) - len(each.lstrip()) for each in lines[at : at + 2]]
    assert deeper[1] < deeper[0]
