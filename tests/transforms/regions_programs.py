"""Functions with branches and loops, with samples that go different ways through them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

rng = np.random.default_rng(7)

#: name -> (function, samples of its arguments)
PROGRAMS: dict[str, tuple[Callable, list[tuple[Any, ...]]]] = {}


def samples(*arguments: Any) -> Callable:
    def enter(function: Callable) -> Callable:
        PROGRAMS[function.__name__] = (function, list(arguments))
        return function

    return enter


def vectors(count, length=4):
    return [(each,) for each in rng.normal(size=(count, length))]


SIGNS = [(0.7,), (-1.2,), (0.0,), (2.5,), (-0.3,)]


@samples(*SIGNS)
def huber(x):
    r = abs(x)
    if r <= 1.0:
        return 0.5 * x * x
    return 1.0 * (r - 0.5)


@samples(*SIGNS)
def safe_log(x):
    if x > 0:
        y = np.log(x)
    else:
        y = 0.0
    return y


@samples(*SIGNS)
def three_ways(x):
    if x > 1.0:
        y = np.sqrt(x - 1.0)
    elif x > 0.5:
        y = np.exp(x)
    else:
        y = x * 3
    return y * y


@samples(*vectors(5))
def clipped_norm(x):
    n = np.sqrt(np.sum(x * x))
    if n > 2.0:
        x = x * (2.0 / n)
    return x


@samples(*vectors(5))
def both_computed(x):
    if x[0] > 0:
        y = np.outer(x, x)
    else:
        y = np.exp(x)[:, None] + np.log(1 - x[0]) * np.eye(4)
    return np.sum(y, axis=0)


@samples(*SIGNS)
def short_circuit(x):
    if x > 0 and np.log(x) > -0.5:
        return np.log(x) * 2.0
    return x * x


@samples(*SIGNS)
def name_on_one_path(x):
    good = x > 0.2
    if good:
        root = np.sqrt(x)
    else:
        pass
    total = x
    if good:
        total = total + root
    return total


@samples((2.5,), (0.3,), (1.0,), (117.0,))
def newton_sqrt(a):
    x = a
    while abs(x * x - a) > 1e-10:
        x = 0.5 * (x + a / x)
    return x


@samples((27,), (1,), (6,), (97,), (2,))
def collatz(n):
    steps = 0
    while n != 1:
        if n % 2 == 0:
            n = n // 2
        else:
            n = 3 * n + 1
        steps += 1
    return steps


@samples((0.35,), (0.1,), (2.0,), (-0.4,))
def leaves_early(x):
    total = 0.0
    last = 0
    for i in range(12):
        if total > 3.0:
            break
        total += x * (i + 1)
        last = i
    return total * np.cos(x) + last


@samples((0.35,), (0.1,), (2.0,), (-0.4,))
def returns_early(x):
    for i in range(8):
        x = x * 1.5
        if x > 1.0:
            return np.log(x) + i
    return x


@samples((0.3, 4), (0.7, 0), (-0.5, 7), (1.1, 1))
def number_of_passes(x, n):
    for _ in range(n):
        x = np.sin(x) + 0.1 * x
    return x


@samples((0.3, 4), (0.7, 0), (-0.5, 7), (1.1, 1))
def passes_and_exit(x, n):
    y = 1.0
    for i in range(1, n, 2):
        y = y * (x + i)
        if y > 2.0:
            break
    return y


@samples((0.3, 1, 9, 2), (0.7, 2, 2, 1), (-0.5, 5, -3, -2), (1.1, 0, 3, 1))
def all_bounds(x, start, stop, step):
    total = x
    for i in range(start, stop, step):
        total = total * 0.5 + np.sin(x * i)
    return total


@samples((np.arange(5.0), 0.4), (np.ones(5), 0.1), (-np.arange(5.0), 2.0))
def filled_array(x, a):
    y = np.zeros(5)
    for i in range(1, 5):
        y[i] = y[i - 1] * a + x[i]
    return y


@samples((np.arange(5.0), 0.4), (np.ones(5), 1.1), (-np.arange(5.0), 2.0))
def filled_until(x, a):
    y = np.zeros(5)
    for i in range(5):
        y[i] = x[i] * a
        if y[i] > 1.0:
            break
    return y * a


@samples((np.arange(5.0), 0.4), (np.ones(5), 1.1), (-np.arange(5.0), 2.1))
def rows_with_branch(x, a):
    total = 0.0
    for v in x:
        if v > a:
            total += np.sqrt(v)
        else:
            total += v * a
    return total


@samples((0.3,), (0.8,), (0.99,))
def bisection(c):
    low, high = 0.0, 2.0
    while high - low > 1e-9:
        middle = 0.5 * (low + high)
        if middle * middle * middle > c:
            high = middle
        else:
            low = middle
    return 0.5 * (low + high)


@samples((1.0,), (3.0,), (0.2,))
def adaptive_step(y):
    t, step = 0.0, 0.3
    while t < 1.0:
        if t + step > 1.0:
            step = 1.0 - t
        full = y - step * y * y
        half = y - 0.5 * step * y * y
        half = half - 0.5 * step * half * half
        error = abs(full - half)
        if error < 0.01:
            y = half
            t = t + step
            step = step * 1.5
        else:
            step = step * 0.5
    return y


@samples((0.4, 3), (0.9, 1), (1.3, 5))
def nested_loops(x, n):
    total = 0.0
    for i in range(3):
        y = x
        while y < 2.0 + i:
            y = y * 1.7 + 0.1
        for _ in range(n):
            y = np.cos(y)
        total = total + y
    return total


@samples((0.5,), (1.5,), (2.5,))
def loop_in_branch(x):
    y = x
    if x > 1.0:
        k = 0
        while y > 0.85:
            y = np.sqrt(y) - 0.1
            k += 1
        y = y + k
    return y


@samples((1.0, 0.5), (2.0, 0.5), (-1.0, 0.5))
def uniform_condition(x, a):
    if a > 0.1:
        y = x * a
    else:
        y = 1.0
    for _ in range(3):
        y = y + np.sin(x)
    return y


@samples(*vectors(4))
def argmax_walk(x):
    best, place = x[0], 0
    for i in range(1, 4):
        if x[i] > best:
            best, place = x[i], i
    return best * place


@samples((np.array([3.0, 1.0, 2.0]),), (np.array([1.0, 2.0, 3.0]),), (np.array([0.0, -1.0, 5.0]),))
def bubble_sort(x):
    y = x.copy()
    for i in range(3):
        for j in range(2 - i):
            if y[j] > y[j + 1]:
                t = y[j]
                y[j] = y[j + 1]
                y[j + 1] = t
    return y * np.arange(3.0)


@samples((0.2,), (1.2,), (3.0,))
def list_of_unknown_length(x):
    found = []
    while x < 4.0:
        found.append(x)
        x = x * 1.8
    total = 0.0
    for each in found:
        total += each * each
    return total


@samples((0.2,), (1.2,), (3.0,))
def list_of_known_length(x):
    found = []
    for i in range(4):
        found.append(x * i)
        x = np.sin(x)
    return np.sum(np.array(found)) * x


@samples((2.0,), (-1.0,), (0.0,))
def tried(x):
    y = x * x
    try:
        y = y + float(1) / 2
    except ZeroDivisionError:
        y = 0.0
    return y


@samples((np.array([[2.0, 1.0], [1.0, 3.0]]),), (np.array([[-2.0, 1.0], [1.0, 3.0]]),))
def tried_factor(a):
    try:
        y = np.linalg.cholesky(a)[0, 0]
    except np.linalg.LinAlgError:
        y = -1.0
    return y * 2.0


@samples((0.3, 2), (0.5, 0), (0.9, 1))
def matched(x, kind):
    match kind:
        case 0:
            y = np.sin(x)
        case 1:
            y = np.log(x)
        case _:
            y = 0.0
    return y + x


@samples(*vectors(4), (np.array([0.1, -0.2, 0.3, 0.2]),))
def as_long_as_some_are_large(x):
    large = np.sum(np.abs(x) > 0.5)
    while large:  # a count, and no truth value
        x = x * 0.6
        large = np.sum(np.abs(x) > 0.5)
    return x


@samples((0.3,), (0.5,), (0.9,))
def while_else(x):
    k = 0
    while k < 5:
        x = x * 1.3
        k += 1
        if x > 1.5:
            break
    else:
        x = x - 10.0
    return x


@samples((0.3,), (0.55,), (0.9,))
def continues(x):
    total = 0.0
    for i in range(6):
        x = x + 0.25
        if x < 1.0:
            continue
        total += np.log(x) * i
    return total


@samples((np.array([0.5, 2.0, 1.0]),), (np.array([-0.5, 2.0, -1.0]),))
def positives(x):
    return np.sum(x[x > 0] ** 2)


@samples((np.array([0.5, 2.0, 1.0]),), (np.array([-0.5, 2.0, -1.0]),))
def swaps(x):
    y = x.copy()
    k = 0
    while k < 3 and y[k] > 0:
        y[k] = y[k] * y[0]
        y[0] += 0.1
        k += 1
    return y


@samples((np.array([0.5, 2.0, 1.0]), 3), (np.array([-0.5, 2.0, -1.0]), 2), (np.ones(3), 0))
def branches_on_elements(x, n):
    y = x.copy()
    k = 0
    while k < n:
        if y[k] > 0.8:
            y[k] = y[k] * y[0]
            if y[k] > 1.5:
                y[k - 1] += np.log(y[k])
        else:
            y[0] = y[0] + 0.7 * y[k]
        k += 1
    return y


@samples((np.array([0.5, 2.0, 1.0]), 0.1), (np.array([-0.5, 2.0, -1.0]), 0.3))
def exchanged_arrays(x, a):
    y = np.zeros_like(x)
    for i in range(3):
        y[i] = x[i] * a
        x, y = y.copy(), x.copy()
        if x[0] > 0.2:
            break
    return x + 2.0 * y


@samples((np.array([0.5, 2.0, 1.0]), 0.1), (np.array([-0.5, 2.0, -1.0]), 0.3))
def exchanged_with_an_array_of_three(x, a):
    y = np.zeros(3)
    for i in range(3):
        y[i] = x[i] * a
        x, y = y.copy(), x.copy()
        if x[0] > 0.2:
            break
    return x + 2.0 * y


@samples((np.array([[0.5, 2.0], [1.0, 3.0]]),), (np.array([[-0.5, 2.0], [1.0, 0.1]]),))
def rows_of_a_matrix(a):
    total = np.zeros(2)
    for row in a:
        if np.sum(row) > 2.0:
            total = total + np.sqrt(row)
        else:
            total = total + row * 0.5
    return total


@samples((np.arange(8.0).reshape(4, 2),), (np.ones((4, 2)),))
def last_tail(x):
    """What a pass leaves is shorter than what the one before left."""
    for i in range(len(x) - 1):
        d = np.sin(x[i:])
    return np.sum(d * d)


@samples((np.array([0.5, 2.0, 1.0, 3.0]),), (np.array([-0.5, 2.0, -1.0, 0.25]),))
def parts_of_tails(x):
    """The adjoint of what a pass leaves is added to, element by element, though none reads it."""
    total = 0.0
    for j in range(2):
        for i in range(len(x) - 1):
            d = np.sin(x[i:]) * (j + 1)
            if i > 0:
                e = d[1:] * x[0]
        total = total + np.sum(d * d) + np.sum(e)
    return total


@samples((np.eye(2) * 0.5, np.array([2.0, 1.0])), (np.ones((2, 2)), np.array([-0.5, 3.0])))
def last_product(a, x):
    for _ in range(3):
        h = a @ x
        g = h[1:] * x[0]
    return h[0] * x[0] + np.sum(g)


@samples((np.array([0.5, 2.0, 1.0]),), (np.array([-0.5, 2.0, -1.0]),))
def last_seen(x):
    d, k = x * x, 0
    while k < 2:
        k += 1
        seen = d
    return np.sum(np.sin(seen))


@samples((np.arange(16.0).reshape(2, 4, 2) * 0.1,), (np.ones((2, 4, 2)),))
def last_part(x):
    for i in range(3):
        d = x[None, np.array([0, 1, 1]), i:]
    return np.sum(d * d)
