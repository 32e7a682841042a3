"""A[i][j] is A[i, j]: no row is made for one element, nor a row of zeros for its adjoint."""

from __future__ import annotations

import numpy as np
import pytest

from s2s_ad import grad, jit, vmap

A = np.linspace(-1.0, 2.0, 24).reshape(2, 3, 4)


def element(a, i, j):
    return a[i][j][-1] ** 2


def part(a, i, j):
    return np.sum(a[i][j:, 1] ** 2)


def element_of_slice(a, i, j):
    return np.sum(a[i:][0][j] ** 2)


def element_of_several(a, i, j):
    return np.sum(a[[i, 0]][j] ** 2)


def of_an_inserted_axis(a, i, j):
    return np.sum(a[i][None][0][j] ** 2)


def changed_before(a, i, j):
    b = a.copy()
    b[i][j] = 3.0 * b[i][j]
    b[i] *= 2.0
    return np.sum(b[i][j] ** 2)


PROGRAMS = [
    *(element, part, element_of_slice, element_of_several),
    *(of_an_inserted_axis, changed_before),
]


def central_differences(f, x, step=1e-6):
    slope = np.zeros_like(x)
    for place in np.ndindex(x.shape):
        move = np.zeros_like(x)
        move[place] = step
        slope[place] = (f(x + move) - f(x - move)) / (2 * step)
    return slope


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda each: each.__name__)
@pytest.mark.parametrize("i, j", [(1, 0), (0, 1), (-1, np.int64(1)), (1, -1)])
def test_value_gradient_and_batch(program, i, j):
    assert jit(program)(A, i, j) == program(A, i, j)
    slope = central_differences(lambda a: program(a, i, j), A)
    np.testing.assert_allclose(grad(program)(A, i, j), slope, atol=1e-7)
    batch = np.stack([A, 2 * A])
    found = vmap(program, in_axes=(0, None, None))(batch, i, j)
    np.testing.assert_allclose(found, [program(a, i, j) for a in batch])


def apart(a, i, j):
    return a[i][1:, j] ** 2


@pytest.mark.parametrize("axes", [(0, 0, 0), (0, 0, None), (0, None, 0), (None, 0, 0)])
def test_indices_that_differ_from_sample_to_sample(axes):
    arguments = np.stack([A, 2 * A, 3 * A]), np.array([0, 1, -1]), np.array([2, 3, 0])
    given = [x if axis == 0 else x[1] for x, axis in zip(arguments, axes, strict=True)]
    samples = [
        [x[k] if axis == 0 else x for x, axis in zip(given, axes, strict=True)] for k in range(3)
    ]
    found = vmap(apart, in_axes=axes)(*given)
    np.testing.assert_array_equal(found, [apart(*each) for each in samples])


def test_the_text_has_one_index():
    assert "a_bar[i, j, -1] = 2.0 * a[i, j, -1]" in grad(element).source(A, 1, 0)


def named(a, i):
    row = a[i]
    return row[0] * row[1]


def test_a_row_that_the_user_named_is_read_by_its_name():
    assert "return row[0] * row[1]" in jit(named).source(A[0], 1)


@pytest.mark.parametrize("i, j", [(2, 0), (0, 3)])
def test_an_index_out_of_range_is_an_error(i, j):
    with pytest.raises(IndexError):
        jit(element)(A, i, j)
