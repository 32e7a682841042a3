"""Loops over lists that get longer or shorter meanwhile: Python asks for the length each time."""

import numpy as np
import pytest

from s2s_ad import grad, jit
from s2s_ad.diagnostics import UnsupportedError


def filled(x, n):
    items = [x * 1.0]
    for i in range(n):
        items.append(x * i)
    return items


def appended(x, n):
    items, total = filled(x, n), 0.0
    for a in items:
        if len(items) < 7:
            items.append(a * 2)
        total = total + a
    return total


def popped(x, n):
    items, total = filled(x, n), 0.0
    for a in items:
        items.pop()
        total = total + a
    return total


def deleted(x, n):
    items = filled(x, n)
    for _ in items:
        del items[0]
    return items[0]


def left_after_a_change(x, n):
    items, found = filled(x, n), 0.0
    for a in items:
        if np.sum(a) > 2:
            items.append(a * 3)
            found = found + a
            break
    return found * len(items)


def with_else(x, n):
    items, total = filled(x, n), 0.0
    for a in items:
        if len(items) < 6:
            items.append(a)
            continue
        total = total + a * len(items)
    else:
        total = total * 2
    return total


def stored_into(x, n):
    """Stores of items leave the length as it is."""
    items, total = filled(x, n), 0.0
    for i, a in enumerate(items):
        items[i] = a * 2
        if i > 1:
            items[0] = x
        total = total + items[i]
    return total


@pytest.mark.thinned(2)
@pytest.mark.parametrize("n", [1, 4])
@pytest.mark.parametrize(
    "f", [appended, popped, deleted, left_after_a_change, with_else, stored_into]
)
def test_as_in_python(f, n):
    x = np.array([1.0, 2.0])
    np.testing.assert_allclose(jit(f)(x, n), f(x, n))
    slopes = grad(lambda x: np.sum(f(x, n)))(x)  # all of them are linear in x
    np.testing.assert_allclose(slopes @ x, np.sum(f(x, n)))


def changed_by_a_helper(x, n):
    def add(items, a):
        if len(items) < 7:
            items.append(a)

    items, total = filled(x, n), 0.0
    for a in items:
        add(items, a)
        total = total + a
    return total


def numbered(x, n):
    items, total = filled(x, n), 0.0
    for _, a in enumerate(items):
        items.append(a)
        total = total + a
        if len(items) > 9:
            break
    return total


@pytest.mark.parametrize("f", [changed_by_a_helper, numbered])
def test_what_is_not_seen_is_refused(f):
    with pytest.raises(UnsupportedError, match="longer or shorter while a loop reads it"):
        jit(f)(np.array([1.0, 2.0]), 3)
