"""Functions that return lists which they have made to grow, as they are or nested."""

import numpy as np
import pytest

from s2s_ad import grad, jit, jvp, vjp, vmap
from transforms.differences import differences


def numbers(x, n):
    return [x[0] * k + x[1] for k in range(n)]


def in_a_tuple(x, n):
    squares, sums = [], [0.0]
    for k in range(n):
        squares.append((x[0] * k) ** 2)
        sums.append(sums[-1] + x[1] * squares[k])
    return squares, sums


def of_a_list(x, n):
    out = [x[0] * k for k in range(n)]
    return [each * each * x[1] for each in out]


def arrays(x, n):
    return [np.sin(x * k) for k in range(n)]


def rows(x, n):
    table = [[0.0] * n for _ in range(n)]
    for i in range(n):
        for j in range(n):
            table[i][j] = x[0] ** i * x[1] ** j
    return table


def ragged(x, n):
    return [[x[0] * j + x[1] ** 2 for j in range(i)] for i in range(n)]


def total(y):
    return sum(map(total, y)) if isinstance(y, (list, tuple)) else np.sum(y)


X, N = np.array([0.7, 1.3]), 4
RETURNED = [numbers, in_a_tuple, of_a_list, arrays, rows, ragged]


@pytest.mark.parametrize("f", RETURNED)
def test_the_gradient_is_that_of_the_sum_of_all_items(f):
    expected = differences(lambda x: total(f(x, N)), X)
    np.testing.assert_allclose(grad(f)(X, N), expected, atol=1e-8)
    np.testing.assert_allclose(grad(f)(X, 2), differences(lambda x: total(f(x, 2)), X), atol=1e-8)
    np.testing.assert_allclose(jit(grad(f))(X, N), expected, atol=1e-8)
    batch = np.stack([X, 2 * X])
    each = [grad(f)(x, N) for x in batch]
    np.testing.assert_allclose(vmap(grad(f), (0, None))(batch, N), each, rtol=1e-12)


@pytest.mark.parametrize("f", RETURNED)
def test_tangents_and_pullbacks_have_the_structure_of_the_lists(f):
    direction = np.array([0.4, -0.9])
    value, tangent = jvp(lambda x: f(x, N), (X,), (direction,))
    h = 1e-6
    expected = (total(f(X + h * direction, N)) - total(f(X - h * direction, N))) / (2 * h)
    assert total(value) == pytest.approx(total(f(X, N)))
    assert total(tangent) == pytest.approx(expected, rel=1e-8)
    value, pullback = vjp(lambda x: f(x, N), X)
    given, expected = ones(value), differences(lambda x: total(f(x, N)), X)
    for _ in range(2):  # what is given stays as it is
        np.testing.assert_allclose(pullback(given)[0], expected, atol=1e-8)
    assert total(given) == total(ones(value))


def ones(y):
    return type(y)(map(ones, y)) if isinstance(y, (list, tuple)) else np.ones_like(y)[()]


@pytest.mark.parametrize(
    "f, length", [(numbers, "[1.0] * len("), (arrays, "np.ones_like(item) for")]
)
def test_the_adjoint_of_a_list_is_a_list(f, length):
    source = grad(f).source(X, N)
    assert length in source, source
    assert "unbroadcast" not in source, source


def shortest(costs):
    """A list that becomes an array on a path."""
    edges = [(0, 1), (0, 2), (1, 3), (2, 1), (2, 3), (3, 4)]
    distance = [0.0, *[np.inf] * 4]
    for _ in range(4):
        changed = False
        for (start, end), cost in zip(edges, costs, strict=True):
            if distance[start] + cost < distance[end]:
                distance[end] = distance[start] + cost
                changed = True
        if not changed:
            longer = list(np.ravel(distance))
            longer.append(1.0)
            distance = np.array(longer)
            break
    return distance[4] + sum(distance) / 5


def test_a_tangent_like_a_number_that_became_known():
    costs = np.array([4.0, 1.0, 2.0, 1.5, 6.0, 0.8])
    expected = differences(shortest, costs) @ costs
    assert jvp(shortest, (costs,), (costs,))[1] == pytest.approx(expected)
