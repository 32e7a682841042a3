"""Arrays that are others on other paths: a store changes what the path has chosen."""

import math

import numpy as np
import pytest

from frontend.flow import assert_like_python
from s2s_ad import grad, jit
from transforms.modes_of_programs import assert_every_mode

X = np.arange(1.0, 10.0).reshape(3, 3) / 4


def part_or_number(x, k):
    try:
        part = x[k]
        x[:] = x * 2.0
    except IndexError:
        part = 1.75
    return np.sum(part * x)


def view_before_a_failure(x, k):
    try:
        view = x[None]
        factor = x[0, k]
    except IndexError:
        factor = 1.5
    x *= factor
    return np.sum(view * x)


def rows_of_the_handler(x, k):
    try:
        a = b = c = x[k]
    except IndexError:
        a, b, c = x
    a[[0, 2]] *= b[:2]
    return np.sum(x * c) + np.sum(a)


def stored_through_either(x, k):
    y = x * 2.0
    whole = y
    if k > 3:
        part = y[1]
    else:
        part = x[0]
    part *= 3.0
    whole += part
    return np.sum(part * y) + np.sum(x * whole)


def one_of_one_of_two(x, k):
    y, z = x * 2.0, x * 3.0
    a = y if k > 3 else z
    b = a if k > 1 else x
    b[0] = 7.0
    y[1] *= b[2]
    return np.sum(a * b) + np.sum(x * y * z)


def in_passes_that_are_written_out(x, k):
    a, b = x * 1.0, x * 2.0
    c = a
    for i in range(2):
        if k > 1 + i:
            c = b
        c[i] *= 3.0
        b[0] += c[2]
    return np.sum(a * 2.0) + np.sum(b * c)


def rows_with_a_star(x, k):
    first, *others = x
    first /= 2.0
    x[2] += first
    return np.sum(others[1] * first) + np.sum(others[0]) * k


def swapped_where_it_fails(x, k):
    try:
        x[0], x[k] = x[1] * 1.0, x[0] * 2.0
        math.sqrt(1 - k)
    except (IndexError, ValueError):
        x *= 2.0
    return np.sum(x * X[::-1])


def added_where_it_fails(x, k):
    try:
        y = x[0] * 2.0
        np.add.at(x, [0, k], y)
    except IndexError:
        y = x[1]
    return np.sum(x * y)


def deleted_where_it_fails(x, k):
    y = x
    try:
        z = x[k, k]
        del y
    except IndexError:
        z = y[0, 0]  # noqa: F821  (where it fails it is not deleted)
    return z * np.sum(x)


def changed_pass_by_pass(x, k):
    """The count of one pass is what the next one tests."""
    i = 0
    try:
        while i < 4:
            i += 1
            x[i] = x[i - 1] * 2.0
            y = x[k, 0]
    except IndexError:
        y = x[1, 1]
    return y * np.sum(x)


def row_of_the_last_pass(x, k):
    for row in x:
        row *= 0.5
    x[1:] *= 3.0
    return np.sum(row * x) * k


def whole_array_each_pass(x, k):
    for i in range(k):
        whole = np.asarray(x)
        whole *= 1.0 + 0.1 * i
    x += 1.0
    return np.sum(whole * x)


def changed_or_not(x, k):
    y = x
    for _ in range(k - 1):
        y = y * 2.0
    y[0] = 5.0
    return np.sum(x * y)


def row_or_number_in_place(x, k):
    """In place a row changes, for all who hold it; a number is bound anew, for one of them."""
    try:
        part = x[1]
        factor = x[0, k]
    except IndexError:
        part = factor = x[0, 1] * 0.5
    other = part
    part *= 2.0
    part += factor
    return np.sum(part) + 3.0 * np.sum(other) + np.sum(x * x)


def row_or_number_beside_a_view(x, k):
    try:
        part, factor = x[1], x[2, 0]
        math.log(x[0, 0] - k)
    except ValueError:
        part, factor = 1.5, x[2, 0]
    part *= factor
    view = x[1, :2]
    view -= factor
    part += x[1, 1]
    x[1] *= x[0]
    part /= factor
    return np.sum(part) + np.sum(x * x)


def part_of_a_row_or_number(x, k):
    """A slice is one of an array, whatever else the name may stand for: a number has none."""
    try:
        row = x[1]
        math.log(x[0, 0] * 4.0 - k)
    except ValueError:
        row = np.float64(k)
    try:
        row[1:] *= 2.0
        x[1, 2] += 1.0
    except (TypeError, IndexError):
        row = row * 3.0
    return np.sum(row) + np.sum(x * x)


def halved_until_it_is_small(x, k):
    """Where no pass is made it is a view, and else an array of its own."""
    row, passes = x[1], 0.0
    while np.sum(row * row) > k * k:
        row = row * 0.5
        passes += 1.0
    row += 0.25
    x[1, 0] *= 3.0
    return np.sum(row * row) + np.sum(x * x) * (passes + 1.0)


PROGRAMS = [part_or_number, view_before_a_failure, rows_of_the_handler, stored_through_either]
PROGRAMS += [one_of_one_of_two, in_passes_that_are_written_out, rows_with_a_star]
PROGRAMS += [swapped_where_it_fails, added_where_it_fails, deleted_where_it_fails]
PROGRAMS += [row_or_number_in_place, row_or_number_beside_a_view, halved_until_it_is_small]
PROGRAMS += [changed_pass_by_pass, row_of_the_last_pass, whole_array_each_pass, changed_or_not]


@pytest.mark.filterwarnings("ignore::s2s_ad.diagnostics.SampleLoopWarning")
@pytest.mark.thinned(20)
@pytest.mark.parametrize("k", [1, 2, 4])
@pytest.mark.parametrize("function", PROGRAMS)
def test_a_store_changes_what_the_path_has_chosen(function, k):
    assert_like_python(function, (X, k))
    assert_every_mode(lambda x, k: function(x.copy(), k), X, k)


@pytest.mark.parametrize("k", [0.5, 1.5, 4.0])
def test_a_slice_is_one_of_an_array(k):
    assert_like_python(part_of_a_row_or_number, (X, k))
    step, found = 1e-6, grad(lambda x: part_of_a_row_or_number(x.copy(), k))(X)
    for i, j in np.ndindex(X.shape):
        change = step * np.outer(np.eye(3)[i], np.eye(3)[j])
        ends = [part_of_a_row_or_number(X + each, k) for each in (change, -change)]
        np.testing.assert_allclose(found[i, j], (ends[0] - ends[1]) / (2 * step), rtol=1e-6)


def unassigned_on_one_side(x):
    if x[0] > 1.0:
        y = x
    x *= 2.0
    return np.sum(x * y)


def test_a_local_that_the_path_does_not_assign_raises_what_python_raises():
    function = jit(unassigned_on_one_side)
    assert function(np.array([2.0, 3.0])) == 52.0
    with pytest.raises(UnboundLocalError, match="'y'"):
        function(np.array([0.5, 3.0]))
