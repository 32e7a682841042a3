"""A[i][j] is A[i, j], and x[1:][i] is x[i + 1]: no part is made, nor zeros for its adjoint."""

from __future__ import annotations

import numpy as np
import pytest

from s2s_ad import grad, jit, jvp, vmap
from transforms.differences import differences

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


@pytest.mark.thinned(2)
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda each: each.__name__)
@pytest.mark.parametrize("i, j", [(1, 0), (0, 1), (-1, np.int64(1)), (1, -1)])
def test_value_gradient_and_batch(program, i, j):
    assert jit(program)(A, i, j) == program(A, i, j)
    slope = differences(lambda a: program(a, i, j), A)
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


# ---- items of slices


def neighbours(x):
    return sum(a * np.sin(b - a) for a, b in zip(x[:-1], x[1:]))  # noqa: RUF007


def three(x):
    total = 0.0
    for a, b, c in zip(x, x[1:], x[2:]):
        total += np.tanh(a * b) * c + total * b
    return total


def from_the_end(x):
    total = 1.0
    for v in x[-3:]:
        total = total * v + v
    for v in x[-4:-1]:
        total = total * v + v
    for v in x[-2:50]:
        total = total * v + v
    return total


def with_steps(x):
    total = 1.0
    for v in x[1::2]:
        total = total * v + v
    for v in x[-4::2]:
        total = total * v + v
    for v in x[1:5:2]:
        total = total * v + v
    for v in x[::-2]:
        total = total * v + v
    return total


def clipped(x):
    total = 1.0
    for v in x[2:50]:
        total = total * v + v
    for v in x[-50:]:
        total = total * v + v
    for v in x[5:2]:
        total = total * v + v
    return total


def up_to_an_index(x):
    total = 0.0
    for i in range(len(x)):
        for v in x[i + 1 :]:
            total += v * x[i] * np.cos(total)
        for v in x[:i]:
            total = total * v
    return total


def from_a_number_in_the_data(x):
    k = int(x[0] * 10) - 4
    total = 1.0
    for v in x[k:]:
        total = total * v + v
    for v in x[:k]:
        total = total * v + v
    return total


def rows_of_parts(x):
    table, total = x.reshape(2, -1), 0.0
    for column in table.T[1:, :-1]:
        total += column[0] ** 2 * total + np.sin(column @ column)
    for a, b in zip(table[:, 1:][0], table[1:, :-1][0], strict=True):
        total += a * a * b
    return total


def changed_on_the_way(x):
    y = x.copy()
    for i, v in enumerate(y[1:]):
        y[i] = y[i] * v
    for row in y.reshape(-1, 1)[1:]:
        row *= y[0]
    return np.sum(y**2)


OF_SLICES = [
    *(neighbours, three, from_the_end, with_steps, clipped, up_to_an_index),
    *(from_a_number_in_the_data, rows_of_parts, changed_on_the_way),
]


@pytest.mark.thinned(16)
@pytest.mark.parametrize("length", [8, 6, 2])
@pytest.mark.parametrize("program", OF_SLICES, ids=lambda each: each.__name__)
def test_items_of_slices_in_every_mode(program, length):
    x = np.random.default_rng(length).uniform(0.2, 0.9, length)
    batch = np.stack([x, 0.9 * x[::-1], 1.1 * x])
    slope = differences(program, x)
    np.testing.assert_allclose(jit(program)(x), program(x))
    np.testing.assert_allclose(grad(program)(x), slope, atol=1e-7)
    np.testing.assert_allclose(jvp(program, (x,), (x,))[1], slope @ x, atol=1e-7)
    np.testing.assert_allclose(vmap(program)(batch), [program(each) for each in batch])
    second = differences(lambda x: grad(program)(x) @ x, x)
    found = grad(lambda x: grad(program)(x) @ x)(x)
    np.testing.assert_allclose(found, second, rtol=1e-6, atol=1e-6)
    if program is not from_a_number_in_the_data:
        slopes = [differences(program, each) for each in batch]
        np.testing.assert_allclose(vmap(grad(program))(batch), slopes, atol=1e-7)


def test_an_item_of_a_slice_is_one_of_the_array():
    lines = [each.strip() for each in grad(neighbours).source(A[0, 0]).splitlines()]
    assert "x_bar[i + 1] += b_bar" in lines
    assert "for i in range(len(x) - 2, -1, -1):" in lines
    assert "zeros_like" not in "".join(lines).replace("np.zeros_like", "")


@pytest.mark.parametrize("part", [slice(2), slice(-2, None), slice(2, None), slice(1, -1)])
def test_an_index_out_of_a_slice_is_an_error(part):
    def element(x, k):
        return x[part][k]

    x = A[0, 0]
    for derived in (element, jit(element), grad(element)):
        with pytest.raises(IndexError):
            derived(x, 2)
    assert jit(element)(x, 1) == jit(element)(x, np.int64(1)) == element(x, 1)
    assert jit(element)(x, -1) == element(x, -1)
