"""Lists that grow by as much in each pass of a loop: text knows how long they are."""

import numpy as np
import pytest

from s2s_ad import grad, jvp, vmap
from transforms.differences import differences

X, W = np.array([0.3, -0.7, 1.9, 0.6]), np.array([1.1, -0.6, 0.3, 0.8])


def appended(xs, w):
    out = []
    for x in xs:
        out.append(np.sin(x) * x)
    return np.sum(np.array(out) * w)


def comprehension(xs, w):
    return np.array([np.sin(x) * x for x in xs]) @ w


def state(xs, w):
    level, levels = 0.0, []
    for x in xs:
        level = 0.9 * level + x**2
        levels.append(level)
    return np.sum((np.array(levels) - w) ** 2)


def after_first_items(xs, w):
    out = [1.0, xs[0]]
    for i in range(1, len(xs)):
        out.append(out[-1] * xs[i])
    return np.sum(np.array(out)[1:] * w)


def backwards(xs, w):
    out = []
    for i in range(len(xs) - 1, -1, -1):
        out.append(xs[i] ** 2)
    return np.sum(np.array(out) * w)


def two_in_each_pass(xs, w):
    out = []
    for x in xs:
        out.append(x)
        out.append(x * x)
    return np.sum(np.array(out) * np.concatenate([w, w]))


def one_on_either_side(xs, w):
    out = []
    for x in xs:
        if x > 0.5:
            out.append(x * x)
        else:
            out.append(np.sin(x))
    return np.sum(np.array(out) * w)


def rows(xs, w):
    out = []
    for x in xs:
        out.append(np.tanh(w * x))
    return np.sum((np.stack(out) - w) ** 2) / len(out)


KNOWN = [appended, comprehension, state, after_first_items, backwards, two_in_each_pass]
KNOWN += [one_on_either_side, rows]


def some(xs, w):
    out = []
    for x in xs:
        if x > 0.5:
            out.append(x * x)
    return np.sum(np.array(out) * w[: len(out)])


def until(xs, w):
    out = []
    for x in xs:
        out.append(x * x)
        if x > 1.0:
            break
    return np.sum(np.array(out) * w[: len(out)])


def growing(xs, w):
    out, total = [], 0.0
    for x in xs:
        out.append(x * x)
        total += np.sum(np.array(out) * w[: len(out)])
    return total


def in_turn(xs, w):
    """Two lists change their places."""
    a, b = [], [1.0]
    for x in xs:
        a, b = b, a
        a.append(x * x)
    return np.sum(np.array(a)) * w[0] + np.sum(np.array(b) ** 2)


def shortened(xs, w):
    out = []
    for x in xs:
        out.append(x * x)
    out.pop()
    return np.sum(np.array(out) * w[1:])


@pytest.mark.thinned(4)
@pytest.mark.filterwarnings("ignore:.*no batched form")
@pytest.mark.parametrize("fn", [*KNOWN, some, until, growing, in_turn, shortened])
def test_gradients(fn):
    expected = [differences(lambda x: fn(x, W), X), differences(lambda w: fn(X, w), W)]
    np.testing.assert_allclose(grad(fn, (0, 1))(X, W), expected, atol=1e-6)
    batched = vmap(grad(fn, (0, 1)), (0, None))(np.stack([X, X[::-1].copy()]), W)
    np.testing.assert_allclose([each[0] for each in batched], expected, atol=1e-6)
    np.testing.assert_allclose(jvp(fn, (X, W), (W, X))[1], expected[0] @ W + expected[1] @ X)


@pytest.mark.parametrize("fn", KNOWN)
def test_what_is_made_of_them_is_as_long_as_what_it_meets(fn):
    source = grad(fn).source(X, W)
    assert "unbroadcast" not in source, source


@pytest.mark.parametrize("fn", KNOWN[:-1])
def test_lengths_that_do_not_fit_are_refused(fn):
    with pytest.raises(ValueError, match="lengths"):
        grad(fn)(X, np.ones(7))


def test_a_list_that_is_there_for_its_length_is_not_made():
    assert grad(appended).source(X, W).count("for ") == 1


def test_no_passes_and_one():
    np.testing.assert_array_equal(grad(appended)(X[:0], W[:0]), [])
    for fn in (appended, state, rows):
        expected = differences(lambda x: fn(x, W[:1]), X[:1])
        np.testing.assert_allclose(grad(fn)(X[:1], W[:1]), expected, atol=1e-6)
    expected = differences(lambda x: appended(x, W[:1]), X)
    np.testing.assert_allclose(grad(appended)(X, W[:1]), expected, atol=1e-6)  # broadcast
