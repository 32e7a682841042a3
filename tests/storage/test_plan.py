"""How many values a pass of a loop keeps for its backward pass, for a dozen programs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest

from programs.interpreter import interpret
from s2s_ad import grad, runtime
from s2s_ad.core import values
from s2s_ad.core.program import Program
from s2s_ad.core.regions import Loop, region_of
from transforms.regions_core import INTEGER, SCALAR, branch, loop, program, set_at, vector
from transforms.test_reverse_regions import check, gradient_of

MATRIX = values.Array(np.dtype(float), (values.fresh_dim(False), values.fresh_dim(False)))
SQUARE = values.Array(np.dtype(float), (values.fresh_dim(False),) * 2)

rng = np.random.default_rng(5)


def kept(made: Program) -> list[int]:
    """For each loop of the forward pass how many lists it appends to."""
    loops = [
        region
        for statement in made.body
        if isinstance(region := region_of(statement), Loop) and statement.phase == "forward"
    ]
    return [sum(isinstance(fact, values.List) for fact in each.facts) for each in loops]


def power(b, x, n):
    return loop(b, lambda b, i, y, x: [y * x], [(1.0, SCALAR)], [x], bounds=(0, n, 1))


def newton(b, a):
    return loop(
        b,
        lambda b, x, a: [0.5 * (x + a / x)],
        [(a, SCALAR)],
        [a],
        test=lambda b, x, a: [abs(x * x - a) > 1e-10],
    )


def logistic(b, r, x, n):
    return loop(b, lambda b, i, x, r: [r * x * (1 - x)], [(x, SCALAR)], [r], bounds=(0, n, 1))


def linear_recurrence(b, x, W, h):
    """h[t + 1] = x[t] @ W + h[t], filled into zeros."""

    def body(b, t, h, x, W):
        return [set_at(b, h, t + 1, x[t] @ W + h[t])]

    (h,) = loop(b, body, [(h, h.fact)], [x, W], bounds=(0, np.size(x, 0), 1))
    return [np.sum(h)]


def jacobi(b, u, f, n):
    def body(b, i, u, f):
        inner = 0.5 * (u[:-2] + u[2:] + f[1:-1])
        return [set_at(b, u, slice(1, -1), inner)]

    (u,) = loop(b, body, [(u, u.fact)], [f], bounds=(0, n, 1))
    return [np.sum(u)]


def heat(b, u, k, n):
    def body(b, i, u, k):
        curvature = u[2:] - 2 * u[1:-1] + u[:-2]
        return [b.call(runtime.index_add, (u, slice(1, -1), k * curvature), {})]

    (u,) = loop(b, body, [(u, u.fact)], [k], bounds=(0, n, 1))
    return [np.sum(u**2)]


def passive_heat(b, u, n):
    """The coefficient is a number: the update is linear."""

    def body(b, i, u):
        curvature = u[2:] - 2 * u[1:-1] + u[:-2]
        return [b.call(runtime.index_add, (u, slice(1, -1), 0.1 * curvature), {})]

    (u,) = loop(b, body, [(u, u.fact)], bounds=(0, n, 1))
    return [np.sum(u**2)]


def weighted_sum(b, x, w):
    """Elements of what is fixed are at hand."""
    return loop(
        b,
        lambda b, i, s, x, w: [s + np.sin(x[i]) * w[i]],
        [(0.0, SCALAR)],
        [x, w],
        bounds=(0, np.size(x, 0), 1),
    )


def recurrent(b, h, W, xs):
    """What a pass computes is what the next one starts from: one of the two is kept."""

    def body(b, t, h, W, xs):
        return [np.tanh(W @ h + xs[t])]

    (h,) = loop(b, body, [(h, h.fact)], [W, xs], bounds=(0, np.size(xs, 0), 1))
    return [h @ h]


def euler(b, x, v, n):
    """An oscillator: x and v are needed by turns, their products are computed again."""

    def body(b, i, x, v):
        return [x + 0.1 * v, v - 0.1 * x * x * x]

    x, v = loop(b, body, [(x, SCALAR), (v, SCALAR)], bounds=(0, n, 1))
    return [x + v]


def fibonacci(b, x, y, n):
    """Both factors are needed; one is the other of the pass before."""
    _, y = loop(
        b,
        lambda b, i, x, y: [y, x * y],
        [(x, SCALAR), (y, SCALAR)],
        bounds=(0, n, 1),
    )
    return [y]


def clipped(b, x, n):
    """Which side ran is computed again from what is kept."""

    def body(b, i, x):
        return branch(b, x > 1.0, [x], lambda b, x: [x * x * 0.5], lambda b, x: [x * 3.0])

    return loop(b, body, [(x, SCALAR)], bounds=(0, n, 1))


def element_store(b, y, x):
    """y[i] = y[i] * x[i]: what no pass has written before is in the array as it was."""

    def body(b, i, y, x):
        return [set_at(b, y, i, y[i] * x[i])]

    (y,) = loop(b, body, [(y, y.fact)], [x], bounds=(0, np.size(x, 0), 1))
    return [np.sum(y)]


def sum_of_rows(b, A):
    """Of a dot product with itself nothing but the row is needed, which is at hand."""

    def body(b, i, s, A):
        return [s + A[i] @ A[i]]

    return loop(b, body, [(0.0, SCALAR)], [A], bounds=(0, np.size(A, 0), 1))


def exponentials(b, x, n):
    """The results of np.exp are what the backward pass reads, of numbers and of arrays."""
    (x,) = loop(b, lambda b, i, x: [np.exp(-x)], [(x, x.fact)], bounds=(0, n, 1))
    return [np.sum(x)]


def inner_product_recurrence(b, x, W, n):
    """x = W @ x: for the adjoint of W what the pass starts from."""
    (x,) = loop(b, lambda b, i, x, W: [W @ x], [(x, x.fact)], [W], bounds=(0, n, 1))
    return [np.sum(x)]


def filled(b, h, a):
    """h[t + 1] = sin(h[t] * a): what was filled in is still there when the loop has ended."""

    def body(b, t, h, a):
        return [set_at(b, h, t + 1, np.sin(h[t] * a))]

    (h,) = loop(b, body, [(h, h.fact)], [a], bounds=(0, np.size(h) - 1, 1))
    return [np.sum(h * h)]


def filled_backwards(b, h, a):
    def body(b, t, h, a):
        return [set_at(b, h, t, np.sin(h[t + 1] * a))]

    (h,) = loop(b, body, [(h, h.fact)], [a], bounds=(0, np.size(h) - 1, 1), backwards=True)
    return [np.sum(h * h)]


def filled_rows(b, u, k):
    """The heat equation with each time in a row of its own."""

    def body(b, t, u, k):
        before = u[t]
        curvature = before[2:] - 2 * before[1:-1] + before[:-2]
        return [set_at(b, u, (t + 1, slice(1, -1)), before[1:-1] + k * curvature)]

    (u,) = loop(b, body, [(u, u.fact)], [k], bounds=(0, np.size(u, 0) - 1, 1))
    return [np.sum(u * u)]


def overwritten(b, h, a):
    """The element was written by the pass before, and this one overwrites it."""

    def body(b, t, h, a):
        return [set_at(b, set_at(b, h, t, np.sin(h[t] * a)), t + 1, h[t + 1] * a)]

    (h,) = loop(b, body, [(h, h.fact)], [a], bounds=(0, np.size(h) - 1, 1))
    return [np.sum(h * h)]


def read_from_the_end(b, h, a):
    """On the first pass t - 1 is the last element, which the last pass overwrites."""

    def body(b, t, h, a):
        return [set_at(b, h, t, np.sin(h[t - 1] * a))]

    (h,) = loop(b, body, [(h, h.fact)], [a], bounds=(0, np.size(h), 1))
    return [np.sum(h * h)]


def overwritten_later(b, h, a):
    """The next pass overwrites what this one reads, and which none has written before."""

    def body(b, t, h, a):
        return [set_at(b, h, t, np.sin(h[t + 1] * a) + h[t])]

    (h,) = loop(b, body, [(h, h.fact)], [a], bounds=(0, np.size(h) - 1, 1))
    return [np.sum(h * h)]


def squared_rows(b, A, w):
    """A square is computed again of the row, which is still there."""

    def body(b, i, s, A, w):
        return [s + np.sum(A[i] ** 2 * w)]

    return loop(b, body, [(0.0, SCALAR)], [A, w], bounds=(0, np.size(A, 0), 1))


def vectors(count: int) -> Callable[[], Sequence[Any]]:
    def facts():
        return [vector()] * count

    return facts


#: writer, facts of its leaves, arguments, values kept per pass of each loop
PROGRAMS = [
    (power, [SCALAR, INTEGER], (1.1, 5), [1]),
    (newton, [SCALAR], (2.5,), [1]),
    (logistic, [SCALAR, SCALAR, INTEGER], (3.1, 0.4, 5), [1]),
    (
        linear_recurrence,
        [MATRIX, SQUARE, MATRIX],
        (rng.normal(size=(3, 2)), rng.normal(size=(2, 2)), np.zeros((4, 2))),
        [0],
    ),
    (jacobi, vectors(2)() + [INTEGER], (rng.normal(size=6), rng.normal(size=6), 3), [0]),
    (heat, [vector(), SCALAR, INTEGER], (rng.normal(size=6), 0.2, 3), [1]),
    (passive_heat, [vector(), INTEGER], (rng.normal(size=6), 3), [0]),
    (weighted_sum, vectors(2)(), (rng.normal(size=3), rng.normal(size=3)), [0]),
    (
        recurrent,
        [vector(), SQUARE, MATRIX],
        (rng.normal(size=2), rng.normal(size=(2, 2)), rng.normal(size=(3, 2))),
        [1],
    ),
    (euler, [SCALAR, SCALAR, INTEGER], (1.0, 0.3, 4), [1]),
    (fibonacci, [SCALAR, SCALAR, INTEGER], (1.1, 0.9, 4), [1]),
    (clipped, [SCALAR, INTEGER], (0.3, 4), [1]),
    (element_store, vectors(2)(), (rng.normal(size=3), rng.normal(size=3)), [0]),
    (filled, [vector(), SCALAR], (rng.normal(size=4), 1.2), [0]),
    (filled_backwards, [vector(), SCALAR], (rng.normal(size=4), 1.2), [0]),
    (filled_rows, [MATRIX, SCALAR], (rng.normal(size=(4, 5)), 0.2), [0]),
    (overwritten, [vector(), SCALAR], (rng.normal(size=4), 1.2), [1]),
    (read_from_the_end, [vector(), SCALAR], (rng.normal(size=4), 1.2), [1]),
    (overwritten_later, [vector(), SCALAR], (rng.normal(size=4), 1.2), [0]),
    (sum_of_rows, [MATRIX], (rng.normal(size=(3, 2)),), [0]),
    (squared_rows, [MATRIX, vector()], (rng.normal(size=(3, 2)), rng.normal(size=2)), [0]),
    (exponentials, [SCALAR, INTEGER], (0.3, 4), [1]),
    (exponentials, [vector(), INTEGER], (rng.normal(size=3), 4), [1]),
    (
        inner_product_recurrence,
        [vector(), SQUARE, INTEGER],
        (rng.normal(size=2), rng.normal(size=(2, 2)), 3),
        [1],
    ),
]


@pytest.mark.parametrize("write, facts, arguments, counts", PROGRAMS)
def test_values_kept_per_pass(write, facts, arguments, counts):
    made = program(facts, write)
    derived = gradient_of(made)
    found = kept(derived)
    assert (found or [0]) == counts
    check(derived, made, arguments, 1e-6)


def test_a_value_is_kept_where_it_is_nearest_to_its_use():
    """The bracket of the heat equation, not the array that it is computed from."""
    derived = gradient_of(program([vector(), SCALAR, INTEGER], heat))
    (region,) = [r for s in derived.body if isinstance(r := region_of(s), Loop)][:1]
    (items,) = [fact for fact in region.facts if isinstance(fact, values.List)]
    before = next(fact for fact in region.facts if not isinstance(fact, values.List))
    assert items.item.shape != before.shape


def test_no_pass():
    made = program([SCALAR, SCALAR, INTEGER], logistic)
    assert interpret(gradient_of(made), (3.1, 0.4, 0)) == [0.0, 1.0]


def growing_part(r):
    """Each pass reads and changes what the passes before have filled."""
    y = np.empty_like(r)
    y[0] = r[0]
    for k in range(1, len(r)):
        last = r[k] * np.sum(y[:k] * y[:k])
        y[:k] += last * np.sin(y[:k])
        y[k] = last
    return np.sum(y)


def test_of_an_array_of_which_a_part_is_read_the_part_is_kept():
    r = np.array([0.3, -0.2, 0.5, 0.4])
    text = grad(growing_part).source(r)
    assert "y[:k].copy()" in text
    assert "y.copy()" not in text
    steps = 1e-6 * np.eye(4)
    expected = [(growing_part(r + h) - growing_part(r - h)) / 2e-6 for h in steps]
    np.testing.assert_allclose(grad(growing_part)(r), expected, rtol=1e-6)


def waves(x, c):
    if c > 0:
        y = np.exp(1.0 - x) * np.sin(2.0 * x)
    else:
        y = x
    return y * y


def test_a_number_by_one_operation_is_computed_again_behind_a_branch():
    text = grad(waves).source(0.3, 1.0)
    assert text.count("np.sin(2.0 * x)") == text.count("np.cos(2.0 * x)") == 1
    step = 1e-6
    expected = (waves(0.3 + step, 1.0) - waves(0.3 - step, 1.0)) / (2 * step)
    assert grad(waves)(0.3, 1.0) == pytest.approx(expected, rel=1e-8)
