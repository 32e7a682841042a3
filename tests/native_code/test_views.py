"""Views of arrays whose names loops and branches bind anew, as loops and by NumPy."""

from __future__ import annotations

import numpy as np
import pytest

from native_code.interpreted import interpreted
from native_code.test_native import leaves, loops_alone
from s2s_ad import grad, jit
from s2s_ad.check import central_differences
from s2s_ad.load.native import Native

pytestmark = pytest.mark.thinned(2)

pytest.importorskip("numba")
X = np.array([1.3, -0.7, 0.9, 2.1])
PROGRAMS = []


@pytest.fixture(autouse=True)
def as_python(monkeypatch):
    """Loops that Python runs."""
    monkeypatch.setenv("S2S_AD_NATIVE", "1")
    monkeypatch.setattr(Native, "kernel", lambda self: interpreted(self.text, self.name))


def program(function):
    PROGRAMS.append(function)
    return function


@program
def view_of_what_a_loop_doubles(x, y):
    x = x * 1.0
    part = x[:2]
    part[0] = 3.0
    while y < 1.0:
        y = y + 1.0
        x = x * 2.0
    return x[:2] + part


@program
def view_before_a_branch(x, y):
    x = x * 1.0
    part = x[1:]
    part *= 2.0
    if y < 1.0:
        x = x * x
    return x[1:] * part


@program
def view_before_a_branch_of_two(x, y):
    x = x * 1.0
    part = x[1:]
    if y < 1.0:
        x = x * x
    else:
        x[0] = 5.0
        x = x + 1.0
    part[0] = part[0] * 3.0
    return x[1:] * part


@program
def swapped(x, y):
    a, b = x * 1.0, x * 2.0
    first = a[:1]
    for _ in range(3):
        a, b = b, a
        a[0] = a[0] + b[1]
    return np.sum(a * 3.0 + b) + first[0] * y


@program
def swapped_views(x, y):
    a, b = x * 1.0, x * 2.0
    p, q = a[1:], b[:-1]
    for _ in range(3):
        p, q = q, p
        a, b = b * 1.5, a
        q[0] = q[0] * y + 1.0
    return np.sum(a * 3.0 + b) + np.sum(p * q)


@program
def view_of_a_view(x, y):
    x = x * 1.0
    rows = x.reshape(2, -1)
    row = rows[0]
    end = row[1:]
    end[0] = end[0] * y
    while y < 3.0:
        y = y + 1.0
        rows = rows * 2.0
        x = x + 1.0
    return np.sum(rows * row) + np.sum(x) * np.sum(end)


@program
def transposed(x, y):
    a = (x * 1.0).reshape(2, -1)
    t = a.T
    t[0, 0] = 3.0 * y
    for _ in range(2):
        a = a @ np.ones((a.shape[1], a.shape[1])) * y
    return np.sum(a * 2.0) + np.sum(t * t)


@program
def rows_of_a_loop(x, y):
    a = np.outer(x, x)
    total = 0.0
    for i in range(2):
        row = a[i]
        row[0] = row[0] * y
        a = a * 2.0
        total = total + np.sum(row) * np.sum(a)
    return total


@program
def element_before_a_loop(x, y):
    x = x * 1.0
    one = x[1]
    for _ in range(3):
        x = x * y
    return x * one


@program
def column_kept(x, y):
    a = np.outer(x, x)
    column = a[:, 1]
    column[0] = y
    for i in range(3):
        a = a * 0.5
        column = column + a[:, i]
    return np.sum(a) + np.sum(column)


@program
def a_view_is_carried(x, y):
    x = x * 1.0
    part = x[1:]
    for i in range(3):
        part[0] = part[0] * y
        part = part[:-1]
        x[1] = x[1] + 1.0
    return np.sum(x) * 1.0


@program
def shorter_and_shorter(x, y):
    if y < 1.0:
        a = x * 2.0
    else:
        a = x * 3.0
    b = a * a
    while y < 3.0:
        a = a[1:] * 1.5
        y = y + 1.0
    return np.sum(b * b) * np.sum(a)


@program
def shorter_with_a_view(x, y):
    a = np.sort(x) * 2.0
    b = a[::-1]
    b[0] = y
    while y < 3.0:
        a = a[1:] * 1.5
        y = y + 1.0
    return np.sum(b * b) * np.sum(a)


@program
def loop_after_loop(x, y):
    for _ in range(2):
        x = x * y
    part = x[:2]
    part[0] = 3.0
    for _ in range(2):
        x = x * y
    last = x[1:]
    last[0] = y
    for _ in range(2):
        x = x + part[0]
    return np.sum(x) + np.sum(part) * np.sum(last)


@program
def view_inside_of_a_loop(x, y):
    x = x * 1.0
    total = 0.0
    for _ in range(3):
        part = x[1:]
        part[0] = part[0] + y
        for _ in range(2):
            x = x * 1.1
        total = total + np.sum(part) * x[0]
    return total


@program
def view_across_break(x, y):
    x = x * 1.0
    part = x[1:]
    for k in range(5):
        if x[0] > 3.0:
            x = x - 1.0
            break
        part[0] = part[0] * 1.5
        x = x * y
    return np.sum(x) * np.sum(part)


@program
def list_and_view(x, y):
    x = x * 1.0
    kept = [x[:-1], x[1:]]
    kept[0][0] = 2.0
    for _ in range(3):
        x = x * y
        kept.append(x)
    return np.sum(kept[0] * kept[1]) + np.sum(kept[-1])


@program
def buffers_in_turn(x, y):
    a, b = np.zeros_like(x), x * 1.0
    for _ in range(3):
        a[1:] = b[:-1] * y
        a[0] = b[-1]
        a, b = b, a
    return np.sum(a * b * np.arange(1.0, len(x) + 1))


@program
def late_read_of_an_operand(x, y):
    x = x * 1.0
    later = x[1:] * y
    once = x.T
    for _ in range(2):
        x = x + 1.0
        once = once * x
    return np.sum(later) * np.sum(once)


@program
def view_of_an_argument(x, y):
    part = x[1:]
    for _ in range(3):
        x = x * y
        x[0] = x[0] + part[0]
    return np.sum(x) * np.sum(part)


@program
def view_of_an_argument_that_changes(x, y):
    part = x[1:]
    x[1] = y
    for _ in range(3):
        x = x * y
    part[0] += 1.0
    return np.sum(x) * np.sum(part)


@program
def two_names(x, y):
    x = x * 1.0
    z = x
    z[0] = y
    for _ in range(2):
        x = x * 2.0
        z[1] = z[1] + x[0]
    return np.sum(x * z)


@program
def branch_picks_a_view(x, y):
    x = x * 1.0
    if y < 1.0:
        part = x[:2]
    else:
        part = x[1:3]
    part[0] = part[0] * 5.0
    x2 = x * 1.0
    for _ in range(2):
        x2 = x2 * part[0]
        x = x * 2.0
    return np.sum(x) * np.sum(x2) * np.sum(part)


@program
def reversed_view(x, y):
    x = x * 1.0
    back = x[::-1]
    for i in range(2):
        back[0] = back[0] * y
        x = x * 2.0
    return np.sum(x * back)


@program
def diagonal_view(x, y):
    a = np.outer(x, x)
    d = np.diagonal(a)
    for i in range(2):
        a[i, i] = a[i, i] * y
        a = a * 2.0
    return np.sum(a) * np.sum(d)


@program
def broadcast_view(x, y):
    x = x * 1.0
    wide = x[None, :]
    for i in range(2):
        x[i] = x[i] * y
        x = x * 2.0
    return np.sum(wide * x[:, None])


@program
def inner_function(x, y):
    def step(a, p):
        p[0] = p[0] + 1.0
        return a * y + p[0]

    x = x * 1.0
    p = x[:2]
    for _ in range(3):
        x = step(x, p)
    return np.sum(x) * np.sum(p)


@program
def rolled(x, y):
    x = x * 1.0
    r = np.roll(x, 1)
    for _ in range(3):
        x, r = r, x
        x[0] = x[0] * y
    return np.sum(x * np.arange(len(x)) + r)


@program
def three_in_turn(x, y):
    a, b, c = x * 1.0, x * 2.0, x * 3.0
    first, last = a[0:1], c[-1:]
    for _ in range(4):
        a, b, c = b, c, a
        a[0] = b[1] * y
        last = last * 1.5
        first += 0.5
    return np.sum(a + 2.0 * b + 3.0 * c) * first[0] * last[0]


@program
def branch_in_a_loop(x, y):
    x = x * 1.0
    part = x[1:]
    for k in range(4):
        if x[0] < 2.0:
            x = x * 1.7
            part[0] = part[0] + 1.0
        else:
            part = x[:-1]
            x = x - 0.5
    return np.sum(x) * np.sum(part)


@program
def nested_loops(x, y):
    x = x * 1.0
    part = x[1:]
    part *= y
    for _ in range(2):
        row = x[:2]
        for _ in range(2):
            x = x * 1.2
            row[0] = row[0] + part[0]
        part = x[1:]
        part[0] += row[0]
    return np.sum(x) * np.sum(part)


@program
def sums_of_two_passes(x, y):
    x = x * 1.0
    u = x * 0.0
    old = x[:]
    for _ in range(3):
        u[1:-1] = x[:-2] + x[2:] - old[1:-1]
        old = x
        x = u * y
    return np.sum(x * old * u)


@program
def read_as_a_whole_and_changed(x, y):
    squares = x[None] ** 2
    row = squares[0]
    part = row[::2]
    if not 1.5 >= np.argmax(row):
        part /= 2.0 * part
    return np.sum(part * y) + row[0]


@program
def squeezed(x, y):
    row = np.squeeze(np.cos(x[None]), axis=0)
    part = row[::2]
    if not 4.5 <= np.argmax(row):
        part /= y * part
    return np.sum(row * x)


@program
def read_as_a_whole_and_stored_into(x, y):
    rows = np.stack([x, x * x], axis=1)
    column = rows[:, 1]
    first = np.argmax(column)
    rows[first] = y
    return np.sum(column * x) + np.dot(column, x)


@program
def read_as_a_whole_in_each_pass(x, y):
    rows = np.stack([x, x * x], axis=1)
    column = rows[:, 1]
    total = 0.0
    for _ in range(3):
        k = np.argmax(column)
        total = total + np.dot(column, x)
        column[k] = column[k] * y - 1.0
    return total + np.sum(column)


@program
def sorted_before_and_after(x, y):
    rows = np.outer(x, x)
    diagonal = rows[1::2, 1]
    before = np.sort(diagonal)[0]
    rows[:, 1] *= y
    after = np.sort(diagonal)[0]
    return before * after


@program
def product_before_and_after(x, y):
    rows = np.outer(x, x)
    part = rows[::2, ::2]
    before = part @ part
    part[0, 1] = y
    return np.sum(before * (part @ part))


@pytest.mark.thinned(4)
@pytest.mark.parametrize("y", [0.6, 1.2])
@pytest.mark.parametrize("function", PROGRAMS, ids=lambda each: each.__name__)
def test_a_view_stays_what_it_was_when_its_array_was_replaced(function, y):
    found = loops_alone(jit(function), X.copy(), y)
    np.testing.assert_allclose(found, function(X.copy(), y), rtol=1e-13)


#: their gradient meets lengths that no loop is written for, and the text for NumPy answers
OF_SEVERAL_LENGTHS = {"shorter_and_shorter", "shorter_with_a_view"}


@pytest.mark.thinned(10)
@pytest.mark.parametrize("y", [0.6, 1.2])
@pytest.mark.parametrize(
    "function",
    [each for each in PROGRAMS if each.__name__ not in OF_SEVERAL_LENGTHS],
    ids=lambda each: each.__name__,
)
def test_its_gradient_is_that_of_differences(function, y):
    def total(x, y):
        return np.sum(function(x, y))

    found = loops_alone(jit(grad(total, (0, 1))), X.copy(), y)
    expected = central_differences(lambda x, y: total(x.copy(), y), (X, y))
    for mine, its in zip(leaves(found), leaves(expected), strict=True):
        np.testing.assert_allclose(mine, its, rtol=1e-6, atol=1e-6)
