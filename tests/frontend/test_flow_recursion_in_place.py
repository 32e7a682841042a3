"""Functions that call themselves and change the arrays that they are given."""

import numpy as np
import pytest

from frontend.flow import assert_like_python
from s2s_ad import S2SError, grad, jit, vmap

XS = np.array([0.9, -0.3, 1.6, 0.2, -1.2, 0.5])
WEIGHTS = np.linspace(0.5, 2.0, 6)


def sort_part(a, low, high):
    if low >= high:
        return
    pivot, store = a[high], low
    for i in range(low, high):
        if a[i] < pivot:
            a[i], a[store] = a[store], a[i]
            store += 1
    a[store], a[high] = a[high], a[store]
    sort_part(a, low, store - 1)
    sort_part(a, store + 1, high)


def sorted_in_place(xs):
    ranked = xs.copy()
    sort_part(ranked, 0, len(ranked) - 1)
    return np.sum(WEIGHTS * ranked**2)


def double_all(a, i):
    """Changes the array, and returns something else."""
    if i == len(a):
        return 0.0
    a[i] *= 2
    return a[i] ** 2 + double_all(a, i + 1)


def changed_and_returned(xs):
    ys = xs * 1.0
    total = double_all(ys, 0)
    return total + np.sum(ys * WEIGHTS)


def of_a_part(xs):
    """A view is changed, and with it what it is a view of."""
    ys = xs * 1.0
    double_all(ys[2:], 0)
    return np.sum(ys**2 * WEIGHTS)


def its_argument(xs):
    return double_all(xs, 3) + np.sum(xs * WEIGHTS)


#: the slope of the squares that double_all returns: 2 * (2 * x) * 2
TWICE = 8 * XS * [0, 0, 0, 1, 1, 1]


def halves(a, n):
    """Views of the argument are passed on."""
    if n <= 1:
        return
    a[0] += a[-1] ** 2
    halves(a[: n // 2], n // 2)
    halves(a[n // 2 :], n - n // 2)


def changed_in_halves(xs):
    ys = xs * 1.0
    halves(ys, 6)
    return np.sum(ys * WEIGHTS)


def two_arrays(a, b, n):
    if n == 0:
        return
    a[n - 1] = a[n - 1] * b[n]
    b[n - 1] += a[n - 1]
    two_arrays(a, b, n - 1)


def both_are_changed(xs):
    a, b = xs * 1.0, xs**2
    two_arrays(a, b, 5)
    return np.sum(a * b)


def twice_changed(xs):
    ys = xs * 1.0
    alias = ys
    double_all(ys, 4)
    double_all(alias, 0)
    return np.sum(ys * WEIGHTS) + alias[0]


def plus_a_number(x, n):
    if n == 0:
        return x
    x = x + 1.0
    return plus_a_number(x * x, n - 1) + x


def of_numbers(xs):
    first = xs[0]
    return plus_a_number(first, 2) * first + plus_a_number(xs[1] * 1.0, 1)


def increased(x, n):
    """What `+=` does to an array without axes, who called would see; numbers are bound anew."""
    if n == 0:
        return x
    x += 1.0
    return increased(x * x, n - 1) + x


def increased_numbers(xs):
    return increased(xs[0], 2) * xs[1]


PROGRAMS = [
    (sorted_in_place, (XS,)),
    (changed_and_returned, (XS,)),
    (of_a_part, (XS,)),
    (changed_in_halves, (XS,)),
    (both_are_changed, (XS,)),
    (twice_changed, (XS,)),
    (of_numbers, (XS,)),
    (increased_numbers, (XS,)),
]


@pytest.mark.parametrize("function, args", PROGRAMS)
def test_on_other_values_too(function, args):
    assert_like_python(function, (args[0][::-1] * 1.5,))


def test_the_argument_of_the_caller_stays():
    xs = XS.copy()
    np.testing.assert_allclose(jit(its_argument)(xs), its_argument(XS.copy()))
    np.testing.assert_allclose(grad(its_argument)(xs), WEIGHTS * [1, 1, 1, 2, 2, 2] + TWICE)
    np.testing.assert_array_equal(xs, XS)


# ---- refused -------------------------------------------------------------------------------------


def one_array_twice(xs, n=5):
    a = xs * 1.0
    two_arrays(a, a, n)
    return np.sum(a)


def two_views(xs, n=4):
    a = xs * 1.0
    two_arrays(a[1:], a[:-1], n)
    return np.sum(a)


def read_by_its_own_name(xs, n=3):
    state = xs * 1.0

    def step(a, n):
        if n == 0:
            return 0.0
        a[0] += state[n]
        return a[0] + step(a, n - 1)

    return step(state, n) + state[0]


def increased_array(xs, n=2):
    return increased(np.array(xs[0]), n) * xs[1]


def number_then_array(xs, n=2):
    """The call inside is given an array, which whoever called would see changed."""

    def step(x, n):
        if n == 0:
            return x
        y = x
        y *= 2.0
        return step(np.array(x), n - 1) + x

    return step(xs[0], n) + xs[1]


def list_that_grows(xs, n=4):
    found = []

    def collect(n):
        if n == 0:
            return 0.0
        found.append(xs[n])
        return xs[n] * collect(n - 1)

    return collect(n) + sum(found)


SHARED = [
    one_array_twice,
    two_views,
    read_by_its_own_name,
    increased_array,
    number_then_array,
    list_that_grows,
]


@pytest.mark.parametrize("function", SHARED)
def test_what_may_be_shared_is_refused(function):
    """Where only the data say how deep it goes."""
    with pytest.raises(S2SError) as caught:
        jit(lambda xs: function(xs, np.count_nonzero(xs > 0.0)))(XS)
    assert caught.value.code in ("S2S206", "S2S207")
    assert caught.value.origin is not None


@pytest.mark.parametrize("function", SHARED)
def test_what_may_be_shared_is_written_out_where_the_depth_is_known(function):
    assert_like_python(function, (XS,))
    assert_like_python(function, (XS[::-1] * 1.5, 3))


def test_a_batch():
    batch = np.stack([XS, XS[::-1], -XS])
    expected = [changed_and_returned(x) for x in batch]
    np.testing.assert_allclose(vmap(changed_and_returned)(batch), expected)
