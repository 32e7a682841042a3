"""What a branch gives something else for has no part in the derivative, however steep it is there,
and wherever it was computed: in a `try`, a loop, a helper, a function that calls itself."""

import math
import warnings

import numpy as np
import pytest

from s2s_ad import grad, jvp, vmap


def root(x):
    y = np.sqrt(x)
    z = y + 1
    return y * z


def logs(x):
    a = np.log(x)
    b = a * 2 + x
    return b


def steep(x):
    t = np.sqrt(x)
    u = t * np.log(x)
    return u + t


def both(x):
    a = np.sqrt(x)
    b = x * x + 3 * x
    c = a * 2
    return c, b


def again(x, n):
    if n == 0:
        return x
    y = np.sqrt(x)
    return again(y, n - 1)


def quotient_by_a_count(x):
    try:
        out = np.ptp(x) / sum(1 for v in x if v > 8)
    except ZeroDivisionError:
        out = 0.5
    if x[0] < 1:
        out = 1.3 * x[1]
    return out**3


def in_a_helper(x):
    s = steep(x)
    if not np.all(np.isfinite(s)):
        s = 2 * x
    return np.sum(s)


def with_an_early_exit(x):
    s = steep(x)
    if not np.all(np.isfinite(s)):
        return x[1] ** 2
    return np.sum(s)


def raised(x):
    try:
        s = steep(x)
        if not np.all(np.isfinite(s)):
            raise ValueError
        t = np.sum(s)
    except ValueError:
        t = x[0] + 2.0
    return t


def left_by_a_break(x):
    t = x[1]
    for i in range(3):
        s = steep(x * i)
        if not np.all(np.isfinite(s)):
            break
        t += np.sum(s)
    return t


def in_a_loop(x):
    s = x[0]
    for _ in range(len(x)):
        s = np.sqrt(s)
    if x[0] < 1:
        s = x[0] * 3
    return s


def in_a_branch(x):
    s = np.sqrt(x[0]) if x[1] < 3 else x[0] * x[0]
    if x[0] < 1:
        s = x[0] * 3
    return s


def of_two(x):
    a, b = both(x[0])
    if x[0] < 1:
        a, b = 1.0, 2.0 * x[1]
    return a * b


def one_of_two(x):
    a, b = both(x[0])
    if x[0] < 1:
        a = x[1]
    return a * b + a


def one_of_two_in_a_loop(x):
    t = 0.0
    for v in x:
        a, b = both(v)
        if v < 1:
            a = 1.0
        t += a * b
    return t


def with_its_length(x):
    length = np.linalg.norm(x)
    return length, x.sum()


def by_a_length(x):
    length, s = with_its_length(x * np.array([1.0, 0.0]))
    if length == 0:
        length = 2.0
    return (s + x[1]) / length


def elements_set_to_zero(x):
    roots, others = np.zeros(len(x)), [0.0, 0.0]
    for i in range(len(x)):
        roots[i] = np.sqrt(x[i])
        others[i] = x[i] * np.sqrt(x[i])
        if x[i] < 1:
            roots[i] = 0.0
            others[i] = 0.0
    return roots.sum() * x[1] + sum(others)


def deeper_inside(x):
    s = root(x[0])
    if x[0] < 1:
        if x[1] < 3:
            s = x[1]
    return s * 2


def one_after_the_other(x):
    s = logs(x[0])
    if x[0] > 5:
        return s
    if x[1] < 3:
        return x[1] ** 2
    return 2 * s


def scaled(x):
    s = 2 * root(x[0]) + x[1]
    if x[0] < 1:
        s = x[1]
    return s * 2


def finite_or_not(x):
    s = logs(x[0])
    return s if math.isfinite(s) else x[1]


def too_large(x):
    def raised(v):
        w = np.exp(v + 1000)
        z = w * w
        return z

    s = raised(x[0])
    if not np.isfinite(s):
        s = x[1]
    return s


def of_itself(x):
    s = again(x[0], 3)
    if x[0] < 1:
        return 2.0 * x[1]
    return s


def of_the_larger(x):
    return np.sqrt(max(x[0] - 1, 0.0)) + x[1]


def of_one_or_the_other(x):
    n = x[0] if x[0] > 1 else 0.0
    return np.sqrt(n) * x[1] + np.log(n + 1) + x[1]


def set_where_any(x):
    y = x / np.log(1 + x)
    small = np.abs(x) < 1e-3
    if np.any(small):
        y[small] = 1 + x[small] / 2
    return np.sum(y)


def set_or_kept(x):
    y = x / np.log(1 + x)
    if x[1] < 1:
        print("not here")
    else:
        y[x == 0] = 1.0
    return np.sum(y)


def beside_another(x):
    """The adjoint of the one result of a `try` is a selection, that of the other is not."""
    y = x[1]
    try:
        root = np.sqrt(x)
        y = y + 1 / y
    except ZeroDivisionError:
        root = x * y
    root = np.where(x > 0.5, root, 3.0)
    return np.sum(root) * y


def replaced_by_else(x):
    y = x[1]
    try:
        root = np.sum(np.sqrt(x))
        y = y + 1 / y
    except ZeroDivisionError:
        root = y * y
    else:
        root = x[0]
    return root + y


def larger_than_another(x):
    """Which of two is larger is a question about both."""
    if x[1] > 1:
        root = np.sqrt(x)
    else:
        root = x * x
    return np.sum(np.maximum(root, 1 - x))


PROGRAMS = {
    larger_than_another: [-1, 0.5 / 2**0.5],
    beside_another: [0, 2.5 / 8**0.5 + 0.75 * (3 + 2**0.5)],
    replaced_by_else: [1, 0.75],
    set_where_any: [0.5, 1 / np.log(3) - 2 / (3 * np.log(3) ** 2)],
    set_or_kept: [0, 1 / np.log(3) - 2 / (3 * np.log(3) ** 2)],
    of_the_larger: [0, 1],
    of_one_or_the_other: [0, 1],
    quotient_by_a_count: [0, 3 * 1.3**3 * 4],
    in_a_helper: [2, 2],
    with_an_early_exit: [0, 4],
    raised: [1, 0],
    left_by_a_break: [0, 1],
    in_a_loop: [3, 0],
    in_a_branch: [3, 0],
    of_two: [0, 2],
    one_of_two: [6, 1],
    one_of_two_in_a_loop: [3, 10 / 2**0.5 + 14 * 2**0.5],
    by_a_length: [0.5, 0.5],
    elements_set_to_zero: [0, 3 * 2**0.5],
    deeper_inside: [0, 2],
    one_after_the_other: [0, 4],
    scaled: [0, 2],
    finite_or_not: [0, 1],
    too_large: [0, 1],
    of_itself: [0, 2],
}


@pytest.mark.thinned(4)
@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_what_a_branch_leaves_out_has_no_part(f):
    """At [0, 2], where what is left out is infinite, or its slope is."""
    x, expected = np.array([0.0, 2.0]), np.array(PROGRAMS[f], float)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        np.testing.assert_allclose(grad(f)(x), expected)
        np.testing.assert_allclose(vmap(grad(f))(np.stack([x, x])), [expected] * 2)
        np.testing.assert_allclose(jvp(f, x, np.array([1.0, 0.5]))[1], expected @ [1.0, 0.5])


def quotient(x, n):
    """Python's numbers where a number of NumPy's is divided by zero without a word."""
    out = np.max(x) / n
    return 1.3 if n == 0 else out


def test_text_for_itself_divides_by_nothing_that_the_function_left_out():
    scope = {}
    exec(grad(quotient).source(np.ones(2), 0), scope)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        np.testing.assert_array_equal(scope["quotient_grad"](np.ones(2), 0), np.zeros(2))
    exec(grad(quotient_by_a_count).source(np.ones(2)), scope)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = scope["quotient_by_a_count_grad"](np.array([0.0, 2.0]))
    np.testing.assert_allclose(found, PROGRAMS[quotient_by_a_count])


@pytest.mark.parametrize("y", [np.array([0.3, 0.7]), np.array([0.0, -2.0])])
def test_a_tangent_that_cancels_is_none(y):
    """What a power of a negative number has of its exponent is nan."""

    def f(y):
        nothing = y - y
        return np.sum(np.array([-0.8, 0.5]) ** nothing * y)

    assert jvp(f, (y,), (y,))[1] == pytest.approx(np.sum(y))
    np.testing.assert_array_equal(grad(f)(y), 1.0)
