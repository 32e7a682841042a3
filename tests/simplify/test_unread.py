"""Zeros of derivatives: they are written where somebody reads them, and nowhere else."""

from __future__ import annotations

import numpy as np
import pytest

from s2s_ad import grad
from s2s_ad.check import check


def overwritten(x):
    y = np.zeros(len(x))
    for i in range(len(x)):
        y[i] = x[i] ** 3
    return np.sum(y)


def overwritten_again(x):
    y = np.zeros(len(x))
    for k in range(2):
        for i in range(len(x)):
            y[i] = x[i] ** 3 * y[i - 1] + k + 1.0
    return np.sum(y)


def triangle(x):
    y = np.zeros((len(x), len(x)))
    for j in range(len(x)):
        y[j, j] = np.sqrt(x[j] + np.sum(y[j, :j] ** 2))
        for i in range(j + 1, len(x)):
            y[i, j] = x[i] * x[j] / y[j, j] - y[i, :j] @ y[j, :j]
    return np.sum(y)


def read_at_the_end(x):
    y = x.copy()
    for i in range(1, len(x)):
        y[i] = y[i - 1] ** 2
    return np.sum(y)


def rows(x):
    y = np.ones((3, len(x)))
    y[0] = x**2
    y[1] = y[0] * x
    y[2] = y[1] * y[0]
    return np.sum(y[2])


def on_one_side(x):
    y = np.ones(len(x))
    for i in range(len(x)):
        if x[i] > 1.0:
            y[i] = x[i] ** 2
        else:
            y[i - 1] = x[i]
    return np.sum(y**2)


def halved_on_one_side(x):
    y = x**2
    for i in range(1, len(x)):
        if x[i] > 1.0:
            y[i:] = y[i:] / 2
        else:
            y[i - 1] = x[i]
    return np.sum(y**2)


def halved_on_a_side_of_a_side(x):
    y = x**2
    for i in range(1, len(x)):
        if x[i] > 0.5:
            if x[i] > 1.0:
                y[i:] = y[i:] / 2
                y[:i] = y[:i] * 3
    return np.sum(y**2)


def halved_in_a_call_of_itself(x, n=4):
    if n == 2:
        return x[:2] ** 2
    y = np.zeros(n)
    y[: n - 1] = halved_in_a_call_of_itself(x, n - 1) * x[: n - 1]
    y[1 : n - 1] = y[1 : n - 1] / 2
    return y


def halved_in_calls(x):
    return np.sum(halved_in_a_call_of_itself(x) ** 2)


def read_by_a_helper(x):
    y = np.ones(len(x))
    for i in range(len(x)):
        y[i] = np.sin(x[i])
        y = smoothed(y)
    return np.sum(y**2)


def smoothed(y):
    out = y.copy()
    for i in range(1, len(y)):
        out[i] = 0.5 * (y[i] + out[i - 1])
    return out


def while_it_is_small(x):
    y = np.ones(len(x))
    i = 0
    while y[i] < 50.0 and i < len(x) - 1:
        y[i + 1] = x[i] ** 2 + y[i]
        i += 1
    return np.sum(y)


def other_way(x):
    y = np.ones(len(x) + 1)
    for i in range(len(x)):
        y[i + 1] = x[i] * y[i]
        y[i] = 2.0
    return np.sum(y)


def multiplied_by_a_table(x):
    A, B, u = np.eye(4), np.eye(4), x
    for i in range(1, len(x) - 1):
        A[i, i - 1] = A[i, i + 1] = x[i] ** 2
        B[i, i] = 0.5 + x[i]
    for _ in range(2):
        u = np.sin(A @ u) @ B
    return np.sum(u)


def filled_again(x):
    A, u = np.eye(4), x
    for i in range(len(x)):
        A[i, i] = x[i] ** 2
    for _ in range(2):
        u = np.sin(A @ u)
    for i in range(len(x)):
        A[i, i] = u[i] * x[i]
    return np.sum(A @ u)


@pytest.mark.thinned(4)
@pytest.mark.parametrize(
    "fn, zeros",
    [
        (overwritten, 0),
        (overwritten_again, 1),
        (triangle, 0),
        (read_at_the_end, 1),
        (rows, 0),
        (on_one_side, 2),
        (halved_on_one_side, 1),
        (halved_on_a_side_of_a_side, 0),
        (halved_in_calls, 0),
        (read_by_a_helper, 2),
        (while_it_is_small, 1),
        (other_way, 1),
        (multiplied_by_a_table, 0),
        (filled_again, 2),
    ],
    ids=lambda each: getattr(each, "__name__", ""),
)
def test_zeros_are_written_where_they_are_read(fn, zeros):
    x = np.array([0.4, 1.3, 0.7, 1.9])
    text = grad(fn).source(x)
    assert text.count("] = 0.0") == zeros, text
    check(grad(fn), x)


def each_once(x):
    s = 1.0
    for i in range(len(x)):
        s = s * np.sin(x[i]) + x[i] ** 2
    return s


def each_twice(x):
    s = 1.0
    for i in range(1, len(x)):
        s = s * x[i] + x[i - 1]
    return s


def in_each_pass(x):
    s = 1.0
    for i in range(len(x)):
        for j in range(i):
            s = s * x[i] + x[j]
    return s


def on_both_sides(x):
    s = 1.0
    for i in range(len(x)):
        if s > 1.2:
            s = s * x[i] ** 2
        else:
            s = s / x[i]
    return s


ORDER = np.array([2, 0, 2, 1])


def where_numbers_say(x):
    s = 1.0
    for i in range(4):
        s = s * x[ORDER[i]]
    return s


def the_last_as_well(x):
    s = 1.0
    for i in range(3):
        s = s * x[i] + x[-1] ** 2
    return s


@pytest.mark.thinned(4)
@pytest.mark.parametrize(
    "fn, sums",
    [
        (each_once, 0),
        (each_twice, 1),
        (in_each_pass, 2),
        (on_both_sides, 0),
        (where_numbers_say, 1),
        (the_last_as_well, 2),
    ],
    ids=lambda each: getattr(each, "__name__", ""),
)
def test_what_a_pass_alone_adds_is_stored(fn, sums):
    x = np.array([0.4, 1.3, 0.7, 1.9])
    text = grad(fn).source(x)
    assert text.count("] += ") == sums, text
    check(grad(fn), x)
