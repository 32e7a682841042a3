"""Functions defined inside functions: lambdas of comprehensions, decorators, caches."""

import functools

import numpy as np
import pytest

from frontend.flow import lowered
from s2s_ad import S2SError, grad, vmap

XS = np.array([1.0, 0.3, 2.0])


def late_and_early(xs):
    late = [lambda t: t * i for i in range(1, 4)]
    early = [lambda t, i=i: t * i for i in range(1, 4)]
    called = [(lambda t: t + k)(j * x) for j, x in enumerate(xs) for k in (1, 2)]
    i = 10.0
    total = sum(f(x) for f in late for x in xs) + sum(g(xs[0]) ** 2 for g in early)
    return total + sum(called) * xs[1] + i


def decorated(x, n):
    def scaled(factor):
        def decorate(f):
            @functools.wraps(f)
            def wrapper(*args):
                return factor * f(*args)

            return wrapper

        return decorate

    @scaled(3.0)
    def product(t, u):
        return t * u * x

    return product(x, 2.0) + n


def cached(x):
    @functools.cache
    def power(n):
        if n == 0:
            return 1.0
        return x * power(n - 1)

    @functools.cache
    def square(t):
        return t * t

    return power(5) + square(x) + square(x * 2)


def even_steps(n, x):
    return x if n == 0 else odd_steps(n - 1, x * 1.1)


def odd_steps(n, x):
    return x * x if n == 0 else even_steps(n - 1, x + 1)


def mutual_recursion(x):
    def halved(n, t):
        return t if n == 0 else raised(n - 1, t * 0.5)

    def raised(n, t):
        return t if n == 0 else halved(n - 1, t + x)

    return even_steps(5, x) + odd_steps(2, x * x) * halved(4, x)


def made_in_a_loop(x, n):
    """Called after the loop, the function reads what the last pass left."""
    for i in range(n):
        y = x * (i + 1)

        def scaled(p):
            return p * y + i

        x = x * 1.5
    return scaled(x)


def made_while(x, n):
    while n > 0:
        n -= 1
        step = x * n

        def moved(p):
            return (p + step) * n

        x = moved(x) + 0.5
    return moved(x) * x


def made_on_a_path(xs, n):
    """A loop carries what some passes define, and other passes leave as it is."""
    total, scaled = xs[0], None
    for i in range(int(np.sum(xs > 0)) + n):
        if total < 3.0 or scaled is None:

            def scaled(p):
                return p * xs[1] + i

        total = total + scaled(xs[2])
    return total * scaled(xs[0])


def compared(xs):
    first, same = None, 0
    for _ in range(int(np.sum(xs > 0))):

        def scaled(p):
            return p

        first = scaled if first is None else first
        same += first is scaled
    return xs[0] * same


def test_functions_that_passes_define_are_not_told_apart():
    with pytest.raises(S2SError, match="functions that a loop defines"):
        lowered(compared, (XS,))


PROGRAMS = [(late_and_early, (XS,)), (decorated, (1.3, 2.0)), (cached, (1.3,))]
PROGRAMS += [(mutual_recursion, (1.3,))]
PROGRAMS += [(made_in_a_loop, (1.3, 1)), (made_in_a_loop, (1.3, 3)), (made_while, (1.3, 2))]
PROGRAMS += [(made_on_a_path, (XS, 2))]


# ---- caches that would be seen -------------------------------------------------------------------


def reads_what_is_bound_again(x):
    scale = 1.0

    @functools.cache
    def f(t):
        return t * scale * x

    first, scale = f(2.0), 3.0
    return first + f(2.0)


def reads_the_name_of_a_loop(x):
    total = 0.0

    @functools.cache
    def f(t):
        return t * k * x

    for k in range(3):
        total += f(2.0)
    return total


def reads_what_changes(x):
    a = np.ones(2)

    @functools.cache
    def f(t):
        return t * a[0] * x

    total = 0.0
    for k in range(3):
        a[0] = k
        total += f(2.0)
    return total


def counts_its_calls(x):
    calls = []

    @functools.cache
    def f(t):
        calls.append(t)
        return t * x

    return f(2.0) + f(2.0) + len(calls)


@pytest.mark.parametrize(
    "function, what",
    [
        (reads_what_is_bound_again, "reads 'scale'"),
        (reads_the_name_of_a_loop, "reads 'k'"),
        (reads_what_changes, "reads 'a'"),
        (counts_its_calls, "and does more"),
    ],
)
def test_a_cache_that_would_be_seen_is_refused(function, what):
    with pytest.raises(S2SError, match=what) as caught:
        lowered(function, (1.5,))
    assert "leave the cache out" in str(caught.value)
    assert caught.value.origin is not None


def sums(x, found):
    if x > 4.0:
        return sum(found)
    return sums(x * 1.5, [*found, x])


def a_list_that_grows_with_each_call(x):
    return sums(x, [])


def test_a_recursion_with_another_structure_in_each_call_is_refused():
    with pytest.raises(S2SError, match="sums calls itself with arguments of another") as caught:
        lowered(a_list_that_grows_with_each_call, (1.5,))
    assert caught.value.code == "S2S206"
    assert caught.value.origin.line == sums.__code__.co_firstlineno


def steps_of(x, found, n):
    if n == 0:
        return sum(found)
    return steps_of(x, [*found, x * n], n - 1)


PICKED, FIXED = (1,), [2, 0.44]


def with_some_fixed(x):
    """As people fix some of the arguments: which of them the numbers of a tuple say."""
    order, step = [x if i in PICKED else FIXED[i] for i in range(2)]
    return sum(step**k for k in range(order + 1))


def normed(v):
    v /= np.sqrt(np.sum(v**2))
    return np.sum(v * np.arange(3.0))


def with_another_fixed(x):
    """Of what was captured nothing is changed: it is not what is picked."""
    return normed([x if i in PICKED else DIRECTION for i in range(2)][1])


DIRECTION = np.ones(3)


@pytest.mark.parametrize(
    "f, x, derivative",
    [
        (lambda x: steps_of(x, [], 3), 1.5, 6.0),
        (with_some_fixed, 0.3, 1.6),
    ],
)
def test_branches_on_captured_numbers_are_decided_where_the_code_is_refused_else(f, x, derivative):
    assert grad(f)(x) == pytest.approx(derivative, rel=1e-12)
    assert vmap(grad(f))(np.array([x, x])) == pytest.approx([derivative] * 2, rel=1e-12)


def test_an_array_that_is_not_picked_may_stand_where_the_picked_one_is_changed():
    x = np.array([1.0, 2.0, 2.5])
    length = np.sqrt(np.sum(x**2))
    weights = np.arange(3.0)
    expected = weights / length - x * (x @ weights) / length**3
    found = grad(with_another_fixed)(x.copy())
    np.testing.assert_allclose(found, expected, rtol=1e-12)
