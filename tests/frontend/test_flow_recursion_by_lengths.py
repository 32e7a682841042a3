"""Functions that call themselves as often as an array is long, with another structure each time."""

import numpy as np
import pytest

from api.oracles import gradient
from s2s_ad import grad, jit, vmap


def best_choice(x):
    """Which values to take, with a table of what was computed before."""
    known = {}

    def best(i, left):
        if i == len(x) or left == 0:
            return 0.0
        if (i, left) not in known:
            known[i, left] = max(best(i + 1, left), x[i] ** 2 + 0.5 * best(i + 1, left - 1))
        return known[i, left]

    return best(0, 2)


def all_sums(x):
    """Of every subset, which a list outside collects."""
    found = []

    def add(i, chosen):
        if i == len(x):
            found.append(sum(chosen))
            return
        add(i + 1, chosen)
        add(i + 1, [*chosen, x[i]])

    add(0, [])
    return sum(np.tanh(each) for each in found)


def collected(x):
    def go(i, parts):
        if i >= len(x):
            return parts
        return go(i + 2, [*parts, x[i] * (i + 1)])

    return sum(each**2 for each in go(0, []))


@pytest.mark.thinned(2)
@pytest.mark.parametrize("f", [best_choice, all_sums, collected])
def test_each_length_has_its_own_code(f):
    derived = grad(f)
    for length in (3, 4, 2, 3):
        x = np.random.default_rng(length).uniform(0.5, 1.5, length)
        assert jit(f)(x) == pytest.approx(f(x), rel=1e-12)
        np.testing.assert_allclose(derived(x), gradient(f, x), rtol=1e-6)
        both = vmap(derived)(np.stack([x, 1.1 * x]))
        np.testing.assert_allclose(both[1], gradient(f, 1.1 * x), rtol=1e-6)


def lengths(items):
    """How long a list is, and the first list in it, and so on."""
    return (len(items), *lengths(items[0])) if isinstance(items, list) else ()


def of_its_lengths(rows):
    if len(set(lengths(rows))) != 1:
        raise ValueError("not square")
    return rows[0][0] * rows[1][1] - rows[0][1] * rows[1][0]


def test_a_list_is_one_also_in_a_function_that_calls_itself():
    """It was taken for an array: `isinstance(items, list)` was false, without a word."""
    rows = [[4.0, 1.0, 0.5], [1.0, 3.0, 0.2], [0.3, 0.1, 2.0]]
    expected = [[3.0, -1.0, 0.0], [-1.0, 4.0, 0.0], [0.0, 0.0, 0.0]]
    assert jit(of_its_lengths)(rows) == 11.0
    assert grad(of_its_lengths)(rows) == expected
    with pytest.raises(ValueError, match="not square"):
        grad(of_its_lengths)([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
