"""vmap where samples go different ways: what is printed and raised, what is never evaluated."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

from s2s_ad import grad, vmap
from s2s_ad.diagnostics import BatchError, SampleLoopWarning

X = np.array([0.5, -1.0, 2.0])


def speaks(x):
    if x > 0:
        print("positive", x)
        return np.log(x)
    return x


def counts(x):
    k = 0
    while x < 3.0:
        x = x * 2
        k += 1
        print("pass", k)
    return x


def raises(x):
    if x < -2.0:
        y = x
        raise ValueError(f"too small: {y}")
    return x * 2.0


def checks(x):
    small = x < -2.0
    if np.any(small):
        raise ValueError("too small")
    return x * 2.0


def divides(x, c):
    if x > 0:
        y = 1.0 / c
    else:
        y = x
    return y


def endless(x):
    y = 0.0
    if x > 0:
        while True:
            y = y + 1.0
            if y < 0:
                break
    return y


def singular(a):
    if a[0, 0] > 0:
        return np.linalg.inv(a)[0, 0]
    return 0.0


def selected(x):
    return x[x > 0]


def test_prints_once_for_each_sample_that_comes_to_it(capsys):
    vmap(speaks)(X)
    assert capsys.readouterr().out == "positive 0.5\npositive 2.0\n"
    vmap(counts)(np.array([2.0, 1.0, 5.0]))
    assert capsys.readouterr().out == "pass 1\npass 1\npass 2\n"


def test_raises_only_if_a_sample_comes_to_it():
    np.testing.assert_array_equal(vmap(raises)(X), 2 * X)
    with pytest.raises(ValueError, match=r"too small: -3.0"):
        vmap(raises)(np.array([1.0, -3.0]))


def test_a_check_that_says_nothing_of_a_sample_is_made_once_for_all():
    x = np.array([X, X])
    batched = vmap(checks)
    np.testing.assert_array_equal(batched(x), 2 * x)
    assert "for " not in batched.source(x).partition('"""\n')[2]
    x[1, 2] = -3.0
    with pytest.raises(ValueError, match="too small"):
        batched(x)
    assert batched(np.zeros((0, 3))).shape == (0, 3)


def test_a_side_that_no_sample_takes_is_not_run():
    np.testing.assert_array_equal(vmap(divides, in_axes=(0, None))(-abs(X), 0.0), -abs(X))
    with pytest.raises(ZeroDivisionError):
        vmap(divides, in_axes=(0, None))(X, 0.0)
    np.testing.assert_array_equal(vmap(endless)(-abs(X)), np.zeros(3))


def test_a_sample_never_sees_the_side_that_it_does_not_take():
    a = np.stack([2.0 * np.eye(2), np.zeros((2, 2)), 4.0 * np.eye(2)])
    np.testing.assert_array_equal(vmap(singular)(a), [0.5, 0.0, 0.25])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        np.testing.assert_allclose(vmap(grad(speaks))(X), [2.0, 1.0, 0.5])
        np.testing.assert_allclose(grad(lambda x: np.sum(vmap(speaks)(x)))(X), [2.0, 1.0, 0.5])


@pytest.mark.parametrize("function", [speaks, counts, raises], ids=lambda f: f.__name__)
def test_a_batch_without_samples(function):
    assert vmap(function)(np.zeros(0)).shape == (0,)


def test_samples_of_different_shapes_are_refused_where_they_arise():
    with pytest.raises(BatchError, match=r"x\[x > 0\]"):
        vmap(selected)(np.ones((2, 3)))


def test_what_has_no_batched_form_is_a_loop_with_a_warning():
    both = vmap(vmap(speaks))
    with pytest.warns(SampleLoopWarning, match="vmap has no batched form"):
        found = both(np.array([X, X + 1.0]))
    np.testing.assert_array_equal(found, [vmap(speaks)(X), vmap(speaks)(X + 1.0)])
