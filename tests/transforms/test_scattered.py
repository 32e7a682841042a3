"""Helpers that read elements of an array: a loop of their calls costs the same for any length."""

from __future__ import annotations

import numpy as np
import pytest

from s2s_ad import checkpoint, grad, vmap
from transforms.differences import differences

rng = np.random.default_rng(3)
A = rng.normal(size=(6, 5))
B = rng.normal(size=6)
PLACES = np.array([0, 2, 2])


def element(b, i):
    x = b[i]
    y = x * x
    return np.sin(y) + x


def slope(b, i):
    step = b[i + 1] - b[i]
    return step * step * b[i]


def window(a, i, k):
    part = a[i : i + 2, k]
    rows = a[i] * 2.0
    return np.sum(np.tanh(part)) + np.prod(rows)


def picked(a, places):
    rows = a[places]
    return np.sum(np.sin(rows) * rows)


def conditional(b, i):
    if b[i] > 0:
        y = b[i] * b[0]
    else:
        y = np.cos(b[i])
    return y


def summed(b, i):
    total = 0.0
    for k in range(i):
        total = total + b[k] * b[i]
    return total


def sum_of(helper, *more):
    def f(b):
        total = 0.0
        for i in range(len(b) - 1):
            total = total + helper(b, i, *more)
        return total

    return f


def checkpointed(b):
    total = 0.0
    for i in checkpoint(range(len(b) - 1), memory=2):
        total = total + slope(b, i)
    return total


def chained(b):
    """The adjoint of what a pass stores is what the helper adds to."""
    h = np.zeros(len(b))
    for i in range(1, len(b) - 1):
        h[i] = slope(h, i - 1) + element(b, i)
    return np.sum(h * b)


def first_ones(b, i):
    x = b[0] * b[i] + b[1]
    return x * b[0] - np.sin(b[1] * b[0])


def stencil(c, k):
    inner = c[1:-1]
    return k * (c[2:] + c[:-2] - 2 * inner) - np.sin(inner) * c[1:-1]


def plume(b):
    c = b.copy()
    for _ in range(3):
        c[1:-1] += stencil(c, 0.1)
    return np.sum(c**2)


def halves(b, k):
    m = len(b) // 2
    low, high = b[:m], b[m:]
    return k * np.sum(np.sin(low)) * np.sum(high * high)


def of_both(b):
    total = 0.0
    for k in range(3):
        total += halves(b, k) * halves(np.exp(b), k)
    return total


def rates(y, theta):
    growth = theta[0] * y - theta[1] * y * y
    return growth + np.sin(theta[2])


def rated(theta):
    y = 0.5
    for _ in range(4):
        y = y + 0.1 * rates(y, theta)
    return y * y


def oscillator(y, p):
    force = -y[0] * y[1] + np.sin(y[0])
    return np.array([y[1] * p, force])


def midpoint(y):
    for _ in range(3):
        half = y + 0.1 * oscillator(y, 0.5)
        y = y + 0.2 * oscillator(half, 0.5)
    return np.sum(y**2)


PROGRAMS = [
    (sum_of(first_ones), B),
    (midpoint, B[:2].copy()),
    (plume, B),
    (of_both, B),
    (rated, B[:3].copy()),
    (sum_of(element), B),
    (sum_of(slope), B),
    (sum_of(conditional), B),
    (sum_of(summed), B),
    (sum_of(window, 1), A),
    (lambda a: picked(a, PLACES) + picked(a, PLACES + 1), A),
    (lambda b: slope(b, 2) * element(b, 0), B),
    (checkpointed, B),
    (chained, B),
]


@pytest.mark.thinned(2)
@pytest.mark.parametrize("f, x", PROGRAMS)
def test_the_gradient(f, x):
    np.testing.assert_allclose(grad(f)(x), differences(f, x), rtol=1e-6, atol=1e-8)


@pytest.mark.thinned(6)
@pytest.mark.parametrize("f, x", PROGRAMS)
def test_second_order_and_batches(f, x):
    along = lambda x: np.sum(grad(f)(x) ** 2)
    np.testing.assert_allclose(grad(along)(x), differences(along, x), rtol=1e-5, atol=1e-6)
    batch = np.stack([x, 0.5 * x])
    np.testing.assert_allclose(vmap(grad(f))(batch), [grad(f)(each) for each in batch], rtol=1e-11)


@pytest.mark.parametrize("helper", [element, slope, first_ones])
def test_a_call_touches_no_more_than_its_elements(helper):
    text = grad(sum_of(helper)).source(B)
    assert text.count("zeros_like") == 1
    assert text.index("zeros_like") < text.index("for i in")


def test_the_elements_of_a_matrix():
    text = grad(sum_of(window, 1)).source(A)
    assert text.count("zeros_like") == 1
    assert "b_bar[i : i + 2, " in text


def test_under_a_checkpoint():
    body = grad(checkpointed).source(B).split("def segment_backward")[1]
    assert "zeros_like" not in body[body.index("while") :]


def test_elements_that_nobody_reads_are_left_out_of_steep_functions():
    def f(b):
        return first_ones(np.sqrt(b), 3)

    def of_read(b):
        return f(np.array([b[0], b[1], 0.0, b[2]]))

    b = np.array([4.0, 9.0, 1.0])
    expected = np.insert(differences(of_read, b), 2, 0.0)
    np.testing.assert_allclose(grad(f)(np.insert(b, 2, 0.0)), expected, rtol=1e-6)


def test_one_adjoint_for_each_element_that_is_read():
    text = grad(sum_of(first_ones)).source(B)
    loop = text[text.index("for i in") : text.index("return")]
    assert [loop.count(f"b_bar[{index}] +=") for index in (0, 1, "i")] == [1, 1, 1]


def test_elements_of_what_is_computed_as_a_whole_come_as_one_array():
    text = grad(midpoint).source(B[:2])
    main, helper = text.split("def oscillator_backward")
    assert "zeros_like" not in main
    assert "zeros_like" not in helper
    assert helper.count("return np.array(") == 1


def test_slices_of_most_of_an_array_are_one_adjoint():
    for x in (B, rng.normal(size=60)):
        main, helper = grad(plume).source(x).split("def stencil_backward")
        assert "    c_bar += stencil_backward(" in main
        assert helper.count("c_bar = np.zeros_like(c)") == 1
        assert helper.rstrip().endswith("return c_bar")


def test_elements_of_a_short_vector_are_one_adjoint():
    main, helper = grad(rated).source(B[:3]).split("def rates_backward")
    assert "zeros" not in helper
    assert main.count("theta_bar += ") == 1
    assert "np.array(" in helper
    text = grad(rated).source(rng.normal(size=40))
    assert "theta_bar[2] +=" in text.split("def rates(")[0]


def test_a_helper_has_one_backward_pass_where_one_does():
    assert grad(of_both).source(B).count("def halves_backward") == 1


def pulls(x, k):
    d = x[None] - x[:, None]
    near = 1.0 / (d * d + k)
    return np.sum(d * near * near, axis=1)


def drifting(x):
    """The helper is called in a loop, and before it."""
    v = 0.1 * x
    pull = pulls(x, 0.5)
    for _ in range(3):
        x = x + 0.1 * v + 0.01 * pull
        pull = pulls(x, 0.5)
        v = v + 0.1 * pull
    return np.sum(x * v)


def settled(x):
    """The helper is called in a loop, and after it."""
    for _ in range(3):
        x = x + 0.1 * pulls(x, 0.5)
    return np.sum(x * pulls(x, 0.5))


@pytest.mark.parametrize("f", [drifting, settled])
def test_a_helper_in_a_loop_and_outside_is_one(f):
    text = grad(f).source(B)
    assert text.count("def pulls_backward") == 1
    assert text.count("def pulls_forward") <= 1
    np.testing.assert_allclose(grad(f)(B), differences(f, B), rtol=1e-6)


def test_of_what_is_needed_as_a_whole_no_elements_are_handed_out():
    def gates(z, n):
        z = 2.0 * z
        return np.sum(np.tanh(z[:n])) * np.sum(np.exp(z[n : n + 1])) + z @ z

    def f(z):
        return sum(gates(z, i) for i in range(1, 3))

    np.testing.assert_allclose(grad(f)(B), differences(f, B), rtol=1e-6, atol=1e-8)
    text = grad(f).source(B)
    assert "part_z_bar" not in text


def test_what_a_helper_is_given_it_does_not_hand_back():
    square = 0.5 * A[:5]

    def step(p, q):
        squared = p @ p.T
        return np.sin(squared) @ squared + q

    def f(p):
        for _ in range(3):
            p = step(0.1 * p, p)
        return np.sum(p**2)

    np.testing.assert_allclose(grad(f)(square), differences(f, square), rtol=1e-6, atol=1e-8)
    batch = np.stack([square, 0.5 * square])
    np.testing.assert_allclose(vmap(grad(f))(batch), [grad(f)(each) for each in batch], rtol=1e-11)
    text = grad(f).source(square)
    assert ".copy()" not in text


def test_an_adjoint_that_is_handed_back_for_two_operands_is_added_twice():
    def added(p, q):
        s = p + q
        return s, np.sin(s[0])

    def f(p):
        for _ in range(2):
            p, s = added(p, p * p)
            p = p * s
        return np.sum(p**2)

    np.testing.assert_allclose(grad(f)(B), differences(f, B), rtol=1e-6, atol=1e-8)
