"""Functions that call themselves with integers that they have to know: each call is written out."""

import numpy as np
import pytest

from s2s_ad import S2SError, jit

XS = np.array([0.3, 0.9, 0.4, 0.6])


def cheapest(weights):
    def cost(low, high):
        if low > high:
            return 0.0
        total = sum(weights[low : high + 1])
        best = None
        for root in range(low, high + 1):
            candidate = cost(low, root - 1) + cost(root + 1, high) + total
            if best is None or candidate < best:
                best = candidate
        return best

    return cost(0, len(weights) - 1)


def cheapest_tree(xs):
    return cheapest([xs[0], xs[1] ** 2, xs[2], xs[3]])


def halved(items, low, high):
    if high - low == 1:
        return items[low] ** 2
    middle = (low + high) // 2
    named = {"left": halved(items, low, middle), f"{low}": halved(items, middle, high)}
    return named["left"] * 0.5 + named[f"{low}"] * items[low]


def names_made_of_numbers(xs):
    return halved([xs[0], xs[1], xs[2]], 0, 3)


def doubled(names, n):
    if n == 0:
        return names[0]
    return doubled(names, n - 1) + names[0 * n] * doubled(names, n - 1)


def linear_in_its_calls(xs):
    """A call with the same integers is the same function."""
    return doubled({0: xs[0] * 0.5}, 12)


PROGRAMS = [
    (cheapest_tree, (XS,)),
    (names_made_of_numbers, (XS,)),
    (linear_in_its_calls, (XS,)),
]


def too_many_calls(xs):
    return cheapest([xs[0]] * 8)


def of_a_number_that_is_not_known(xs):
    return doubled({0: xs[0]}, int(xs[1] * 3))


@pytest.mark.parametrize(
    "function, code, what",
    [
        (too_many_calls, "S2S206", "calls itself with a number"),
        (of_a_number_that_is_not_known, "S2S205", "a key, .* that is computed from values"),
    ],
)
def test_what_is_too_much_is_refused(function, code, what):
    with pytest.raises(S2SError, match=what) as caught:
        jit(function)(XS)
    assert caught.value.code == code
    assert caught.value.origin is not None
