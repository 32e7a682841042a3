"""Functions that change Parameters, as they run by themselves and as they are compiled."""

import numpy as np
import pytest

from s2s_ad import Parameter, Tensor, grad, jit, value_and_grad

p = Parameter(Tensor(np.array([1.0, 2.0])), name="p")
q = Parameter(Tensor(np.array([3.0, -1.0])), name="q")


def reads(x):
    y = x * p
    z = y + p
    return z.sum()


def writes(x):
    a = p * x
    p.set_data(p + a)
    return a.sum()


def helper_before_and_after(x):
    a = reads(x)
    p.set_data(p * 2)
    b = reads(x)
    return a, b


def helper_that_changes(x):
    a = writes(x)
    b = writes(x)
    return a, b, reads(x)


def view_of_a_parameter(x):
    v = p[1:]
    p.set_data(p * 3)
    return v * x[0], p * 1


def alias(x):
    old = p
    p.set_data(p + 1)
    return old * x


def copy_of_a_parameter(x):
    old = p.copy()
    p.set_data(p + 1)
    return old * x, p * x


def in_a_loop(x):
    for i in range(3):
        writes(x * i)
        if i == 1:
            q.set_data(p)
    return reads(x) + q.sum()


def in_a_while_loop(x):
    i = 0
    while p.sum() < 50:
        p.set_data(p * 2)
        i += 1
    return p * x, i


def elements(x):
    p[0] += x[1]
    p[1:] = x[:1]
    q.set_data(p)
    p.set_data(q * x)
    return p + q


def closure(x):
    def inner(y):
        nonlocal_p = p * y
        return nonlocal_p.sum()

    a = inner(x)
    p.set_data(x)
    b = inner(x)
    return a, b


def on_a_path(x):
    if x[0] > 0:
        p.set_data(x)
        y = reads(x)
    else:
        y = reads(x)
        q.set_data(x)
    return y + p.sum() + q.sum()


def derivative_inside(x):
    g = grad(reads)(x)
    p.set_data(p - 0.1 * g)
    value, g2 = value_and_grad(reads)(x)
    writes(g2)
    return value, g, g2, reads(x)


def in_a_list(x):
    ps = [p, q]
    for w in ps:
        w.set_data(w * x)
    return sum(w.sum() for w in ps)


def swapped(x):
    d = {"a": p}
    d["a"].set_data(x)
    a, b = p, q
    a[:] = b
    b[:] = a * 2
    return a * b


def augmented(x):
    r = p
    r += x
    r *= 2
    return p.sum() + r.sum()


def passed_to_a_helper(x):
    p.set_data(q)
    q.set_data(p * x)
    return writes(p)


FUNCTIONS = [
    helper_before_and_after,
    helper_that_changes,
    view_of_a_parameter,
    alias,
    copy_of_a_parameter,
    in_a_loop,
    in_a_while_loop,
    elements,
    closure,
    on_a_path,
    derivative_inside,
    in_a_list,
    swapped,
    augmented,
    passed_to_a_helper,
]
POINTS = ([1.0, 2.0], [-0.5, 0.25])
START = [1.0, 2.0], [3.0, -1.0]


def run(function, x, start=START):
    """The results, and what the Parameters hold afterwards."""
    p.set_data(np.array(start[0]))
    q.set_data(np.array(start[1]))
    result = function(Tensor(np.array(x)))
    results = result if isinstance(result, tuple) else (result,)
    return [*map(np.array, results), np.array(p), np.array(q)]


@pytest.mark.parametrize("x", POINTS)
@pytest.mark.parametrize("function", FUNCTIONS)
def test_compiled_code_changes_what_the_function_changes(function, x):
    expected, compiled = run(function, x), jit(function)
    for _ in range(3):
        for a, b in zip(run(compiled, x), expected, strict=True):
            np.testing.assert_allclose(a, b)


@pytest.mark.parametrize("x", POINTS)
@pytest.mark.parametrize("function", [each for each in FUNCTIONS if each is not in_a_while_loop])
def test_gradients_are_those_of_central_differences(function, x):
    def total(x, *start):
        return sum(each.sum() for each in run(function, x, start)[:-2])

    arguments = [np.array(x), *map(np.array, START)]
    expected = []
    for each in arguments:
        slopes = []
        for i in range(each.size):
            before, values = each[i], []
            for step in (1e-6, -1e-6):
                each[i] = before + step
                values.append(total(*arguments))
                each[i] = before
            slopes.append((values[0] - values[1]) / 2e-6)
        expected.append(slopes)
    slope = grad(function, 0, [p, q])
    found = run(lambda x: (lambda g: (g[0], *g[1]))(slope(x)), x)
    np.testing.assert_allclose(found[:3], expected, atol=1e-6, rtol=1e-6)
    for a, b in zip(found[3:], run(function, x)[-2:], strict=True):
        np.testing.assert_allclose(a, b)  # changed once
