"""Tuples of as many items as an array is long: its shape is then part of the signature."""

import numpy as np
import pytest

from s2s_ad import grad, jit, jvp, vmap


def rows(x):
    return tuple(x)


def pairs(x):
    a, b = tuple(x[i : i + 2] for i in range(0, len(x), 2))
    return a @ b


def of_a_known_range(x):
    return np.sum(x, axis=tuple(i for i in range(2) if i != 1))


def is_a_number_or_none(x, scale=None):
    return x * 2 if isinstance(scale, int | None) else x


@pytest.mark.parametrize("length", [1, 2, 3])
def test_a_tuple_has_the_rows_of_an_array(length):
    x = np.arange(2.0 * length).reshape(length, 2)
    made = jit(rows)(x)
    assert type(made) is tuple
    np.testing.assert_array_equal(np.array(made), x)


def test_calls_with_arrays_of_other_lengths_are_compiled_for_these():
    made = jit(rows)
    lengths = [len(made(np.zeros((n, 2)))) for n in (2, 2, 2, 3, 3, 3, 2, 1)]
    assert lengths == [2, 2, 2, 3, 3, 3, 2, 1]


def test_derivatives_and_batches_go_through_such_tuples():
    x = np.array([1.0, 2.0, 3.0, 4.0])
    np.testing.assert_array_equal(grad(pairs)(x), [3.0, 4.0, 1.0, 2.0])
    np.testing.assert_array_equal(vmap(grad(pairs))(np.stack([x, 2 * x]))[1], [6.0, 8.0, 2.0, 4.0])


def test_a_tuple_over_a_known_range_is_known():
    np.testing.assert_array_equal(jit(of_a_known_range)(np.ones((2, 3))), [2.0, 2.0, 2.0])


@pytest.mark.parametrize("scale, factor", [(None, 2), (3, 2), (1.5, 1)])
def test_isinstance_takes_unions_of_classes(scale, factor):
    assert jit(is_a_number_or_none)(1.0, scale) == factor


@pytest.mark.parametrize("x", [np.float32(2.0), np.array(2.0), np.ones(3)])
def test_an_array_is_no_list_whether_it_has_axes_or_not(x):
    assert jit(lambda x: 0 if isinstance(x, list | tuple) else 1)(x) == 1


@pytest.mark.parametrize("count", [0, 1, 2, 3, 5])
def test_zip_ends_with_the_shortest(count):
    def weighted(xs, w):
        total = 0.0 * w
        for x, weight in zip(xs, [1.0, w, 3.0]):
            total += x * weight
        for x, _ in zip(xs * 2.0, (1, 2, 3)):
            total += x
        return total

    xs = np.arange(1.0, count + 1)
    assert jit(weighted)(xs, 2.0) == weighted(xs, 2.0)
    np.testing.assert_array_equal(grad(weighted)(xs, 2.0), [3.0, 4.0, 5.0, 0.0, 0.0][:count])


def test_zip_beside_an_array_whose_length_depends_on_its_numbers():
    """Python ends with the shorter one; code for the items that are known needs as many."""

    def weighted(x):
        total = 0.0
        for v, scale in zip(x[x > 0], (1, 2.0)):
            total += v * scale
        return total

    for x in (np.array([1.0, -1.0, 2.0]), np.array([1.0, 3.0, 2.0])):
        assert jit(weighted)(x) == weighted(x)
    np.testing.assert_array_equal(grad(weighted)(np.array([-1.0, 3.0, 2.0, 5.0])), [0, 1, 2, 0])
    with pytest.raises(NotImplementedError, match="2 items with an array that has fewer"):
        jit(weighted)(np.array([1.0, -1.0]))


def rest_after_a_store(scale, y):
    """How many rows there are is asked of what a number was stored in."""
    y.fill(scale)
    first, *rest = y
    rest[0][:1] = scale * scale
    return np.sum(np.sin(y)) + np.sum(first)


def test_a_length_inside_a_gradient_inside():
    y, scale, step = np.arange(6.0).reshape(3, 2), 0.75, 1e-4
    slope = jvp(grad(rest_after_a_store, argnums=(0, 1)), (scale, y), (1.0, 2.0 * y))[1]
    first = [grad(rest_after_a_store)(each, y) for each in (scale + step, scale - step)]
    np.testing.assert_allclose(slope[0], (first[0] - first[1]) / (2 * step), rtol=1e-6)
    expected = -5 * np.sin(scale) + 2 * np.cos(scale**2) - 4 * scale**2 * np.sin(scale**2)
    np.testing.assert_allclose(slope[0], expected)
    np.testing.assert_array_equal(slope[1], np.zeros((3, 2)))
