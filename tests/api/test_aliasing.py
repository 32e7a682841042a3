"""Functions that change an argument: the caller's stays, and the same array twice is refused."""

import numpy as np
import pytest

from s2s_ad import S2SError, grad, jit, vmap


def moved(x, y):
    x[0] = 2.0 * x[1]
    return np.sum(x * y)


def in_containers(state):
    state["x"] *= 2.0
    return np.sum(state["x"] * state["y"])


X = np.array([1.0, 2.0, 3.0])


@pytest.mark.parametrize("transform", [grad, jit, vmap], ids=lambda each: each.__name__)
def test_the_same_array_twice_is_refused(transform):
    a = np.stack([X, 2 * X]) if transform is vmap else X.copy()
    for other in (a, a[::-1], a[..., ::-1] if transform is vmap else a[:]):
        with pytest.raises(S2SError, match="'x' and 'y' may share memory"):
            transform(moved)(a, other)
    transform(moved)(a, a.copy())


def test_again_after_the_first_call():
    derived = grad(moved, (0, 1))
    a = X.copy()
    of_x, of_y = derived(a, X)
    np.testing.assert_allclose(of_x, [0.0, 2 * X[0] + X[1], X[2]])
    np.testing.assert_allclose(of_y, [4.0, 2.0, 3.0])
    np.testing.assert_array_equal(a, X)
    for _ in range(3):
        with pytest.raises(S2SError):
            derived(a, a)


def test_inside_one_argument():
    a = X.copy()
    with pytest.raises(S2SError, match="may share memory"):
        grad(in_containers)({"x": a, "y": a})
    np.testing.assert_array_equal(a, X)


def test_what_is_not_changed_may_be_passed_twice():
    np.testing.assert_allclose(grad(lambda x, y: np.sum(x * y))(X, X), X)


SHARED = np.array([1.0, 2.0, 3.0])


def with_a_global(x):
    x[0] = 5.0
    return np.sum(x * SHARED)


def counted(a, b):
    a["n"] = 3.0
    return a["n"] * b["n"]


def test_a_captured_array_is_another_name_too():
    np.testing.assert_allclose(grad(with_a_global)(X.copy()), [0.0, 2.0, 3.0])
    with pytest.raises(S2SError, match="'x' and 'SHARED' may share memory"):
        grad(with_a_global)(SHARED)


def test_the_same_dict_twice_is_refused():
    assert grad(counted, 1)({"n": 1.0}, {"n": 2.0}) == {"n": 3.0}
    with pytest.raises(S2SError, match="may share memory"):
        grad(counted, 1)(*2 * ({"n": 1.0},))


def scaled_by(x):
    scale = x[0]
    for v in x[1:]:
        scale = divided(scale, v)
    return scale


def divided(a, b):
    try:
        return a / b if abs(b) > 0.3 else 1 / 0
    except ZeroDivisionError:
        return a * b


def test_a_captured_array_without_axes_is_not_divided_in_place():
    """It travels through lists as the first adjoint of a loop, where numbers follow it."""
    weight, x = np.array(0.5), np.array([1.0, 0.5, 0.2, -0.7])
    gradient = grad(lambda x: np.sum(weight * scaled_by(x)))
    along = grad(lambda x: np.sum(np.arange(1.0, 5.0) * gradient(x)))
    first = along(x)
    np.testing.assert_array_equal(weight, 0.5)
    np.testing.assert_array_equal(along(x), first)
    steps = [(gradient(x + h) - gradient(x - h)) / 2e-6 for h in 1e-6 * np.eye(4)]
    np.testing.assert_allclose(first, np.array(steps) @ np.arange(1.0, 5.0), rtol=1e-6)
