"""A gradient has the dtype of its input, also where only the run tells what was multiplied."""

from __future__ import annotations

import math

import numpy as np
import pytest

from s2s_ad import custom_rule, grad, jit, jvp, vmap
from s2s_ad.check import central_differences


def by_power(x, n):
    return np.sum(x * n**2)


def by_double(x, n):
    return np.sum(x * np.float64(n))


def by_count(x, n):
    return np.sum(x) * len(x) * n


@pytest.mark.parametrize("f", [by_power, by_double, by_count])
@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_gradients_keep_the_dtype(f, dtype):
    x = np.ones(3, dtype)
    found = grad(f)(x, 2)
    assert found.dtype == dtype
    np.testing.assert_allclose(found, (f(2 * x, 2) - f(x, 2)) / 3)  # f is linear in x
    batch = vmap(grad(f), in_axes=(0, None))(np.stack([x, x]), 2)
    assert batch.dtype == dtype


@pytest.mark.parametrize(
    "function",
    [
        lambda x: x * float(x[0]),
        lambda x: x * int(np.argmax(x)),
        lambda x: x[0].item() - x,
        lambda x: x + np.argmax(x) * 1.0,
        lambda x: x[True] * int(np.argmax(x)),
        lambda x: np.sum(np.squeeze(x[x > 1], axis=())) + int(np.argmax(x)),
    ],
)
def test_a_batch_of_numbers_is_as_weak_as_a_number(function):
    x = np.arange(6, dtype=np.float32).reshape(2, 3)
    expected = np.stack([function(sample) for sample in x])
    result = vmap(function)(x)
    assert result.dtype == expected.dtype
    np.testing.assert_array_equal(result, expected)


@custom_rule(forward=lambda dots, y, x: np.where(y > 0, dots[0], 0.0))
def rectified(x):
    return np.maximum(x, 0)


def test_a_seed_has_the_dtype_of_what_it_is_the_adjoint_of():
    slope = grad(lambda x: np.sum(rectified(x)))(np.array([1.0, -1.0], np.float32))
    assert slope.dtype == np.float32
    np.testing.assert_array_equal(slope, [1.0, 0.0])


def total_of(x):
    total = 0.0
    for i in range(len(x)):
        total = total + x[i]
    return total


@pytest.mark.parametrize("dtype", [np.float32, np.complex64, np.float64])
def test_a_sum_that_begins_with_a_number_has_the_dtype_of_what_is_added(dtype):
    x = np.arange(6).reshape(2, 3).astype(dtype)
    result = vmap(total_of)(x)
    assert result.dtype == dtype
    np.testing.assert_array_equal(result, np.sum(x, axis=1))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("function", [np.floor, np.sign, np.angle, lambda x: x * 0])
def test_a_tangent_that_is_zero_has_the_dtype_of_the_result(function, dtype):
    _, change = jvp(lambda x: function(x), dtype(1.5), dtype(1.0))
    assert change == 0
    assert np.asarray(change).dtype == function(dtype(1.5)).dtype


def test_the_adjoint_of_what_is_squeezed_has_the_kind_of_the_argument():
    """The seed of a number was made an array of float64 while code was generated."""
    single = grad(lambda x: np.squeeze(np.full(1, 1.31) * x.sum()))(np.ones(3, np.float32))
    assert single.dtype == np.float32
    np.testing.assert_allclose(single, np.full(3, 1.31), rtol=1e-6)
    assert np.shape(grad(lambda x: np.squeeze(3.0 * x * np.ones(1) - x))(2.0)) == ()
    assert grad(lambda x: np.squeeze(3.0 * x * np.ones(1) - x))(2.0) == 2.0


# ---- a Python number on one path, NumPy's on another ---------------------------------------------


def item_or_number(x, k):
    try:
        y = x[k]
    except IndexError:
        y = 0.25
    return y * 3.0


def narrowed(x, k):
    return np.float32(item_or_number(x, k) ** 0.5) * x[0]


def beside_double(x, k):
    """The item is as wide as the square; a Python number would leave the sum in its dtype."""
    return item_or_number(x, k) + np.square(0.5) + np.sum(x)


def beside_shape(x, k):
    y = x if k < 2 else 2.0
    return np.sum(y + 0.5) * x[0]


def list_item(x, k):
    items = [x[0], x[1]]
    if k > 1:
        items = [x[1] * 2.0]
    return items[k - 2] * 0.5


def scaled_on_one_path(x, k):
    """Where the factor is a number of Python's the adjoint still has the dtype of the array."""
    return np.sum(x * (np.sqrt(x[1]) if k > 1 else 1.5))


def sine_of_either(x, k):
    """Where it is a number of Python's its sine is in double precision."""
    square = x[0] ** 2
    try:
        y = float(square) if k > 1 else square
    except TypeError:
        y = x[1]
    return np.sin(y)


def negative_of_either(x, k):
    """A ufunc makes a double of a number of Python's; the operator leaves it what it is."""
    return np.sum(x + np.negative(item_or_number(x, k)))


EITHER = [narrowed, beside_double, beside_shape, list_item, scaled_on_one_path, sine_of_either]


@pytest.mark.thinned(4)
@pytest.mark.parametrize("k", [1, 2])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("f", [*EITHER, negative_of_either])
def test_a_number_that_is_of_python_on_one_path(f, k, dtype):
    x = np.array([2.0, 3.0], dtype)
    expected, found = f(x, k), jit(f)(x, k)
    assert (found.dtype, type(found)) == (expected.dtype, type(expected))
    np.testing.assert_allclose(found, expected, rtol=1e-6)
    slope, change = grad(f)(x, k), jvp(lambda x: f(x, k), x, np.ones_like(x))[1]
    assert slope.dtype == dtype
    assert change.dtype == expected.dtype
    moved = [f(x.astype(float) + step, k) for step in (1e-3, -1e-3)]
    np.testing.assert_allclose(change, (moved[0] - moved[1]) / 2e-3, rtol=2e-3)
    np.testing.assert_allclose(np.sum(slope), change, rtol=1e-5)


def power_of_a_truth(x):
    """A truth of NumPy's to the power 2 is an int64, an array of truths an int8."""
    return x + (x > 1.5)[0] ** 2


def ones_or_none(x):
    try:
        x = np.ones(2, np.float32)
    except ValueError:
        pass
    return np.sum(x)


def stored_in_a_rest(rows):
    first, *rest = rows
    rest[1] = 0.25
    return 0.8 * rest[1] + first


def of_one_path_or_the_other(x):
    y = x.astype(float) if x[0] > 0 else x
    return y * 2.0


def either_of_pythons(x):
    """`or` of truths of Python's is one of them, whose sum with a float is a float."""
    n, m = int(x[0]), int(x[1])
    return x * ((n < 3 or m < 3) + 0.5)


@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.parametrize(
    "f",
    [
        power_of_a_truth,
        ones_or_none,
        stored_in_a_rest,
        of_one_path_or_the_other,
        either_of_pythons,
    ],
)
def test_a_tangent_has_the_dtype_of_its_value(f, sign):
    x = np.arange(1.0, 10.0, dtype=np.float32).reshape(3, 3) * np.float32(sign)
    x = x if f is stored_in_a_rest else x[0]
    expected = f(x)
    value, change = jvp(f, x, np.ones_like(x))
    assert (value.dtype, change.dtype) == (expected.dtype, expected.dtype)
    moved = [f(x.astype(float) + step) for step in (1e-3, -1e-3)]
    np.testing.assert_allclose(change, (moved[0] - moved[1]) / 2e-3, rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("count", [0, 3])
def test_the_tangent_of_an_array_of_items_has_its_dtype(count):
    """An array of no items is one of float64, of whatever type they would be."""
    x = np.ones(count, np.float32)
    _, change = jvp(lambda x: np.array([2.0 * v for v in x], dtype=np.float32), x, x * 1.0)
    assert change.dtype == np.float32
    np.testing.assert_array_equal(change, 2.0 * x)


def first_of_items(items):
    for k in range(1, len(items)):
        items[k] = 1
    return 2.0 * items[0]


def test_adjoints_in_a_list_have_the_dtype_of_its_items_in_a_batch_too():
    single = vmap(grad(first_of_items))([np.ones(3, np.float32), np.ones(3, np.float32)])
    assert [each.dtype for each in single] == [np.float32, np.float32]
    np.testing.assert_array_equal(single, [[2.0, 2.0, 2.0], [0.0, 0.0, 0.0]])


def divided(x, k):
    y = np.log(x) if k < 2 else x
    try:
        z = y / int(k - k)
    except ZeroDivisionError:
        z = -1.0
    return z


def test_a_python_number_divided_by_zero_raises_and_one_of_numpy_does_not():
    with np.errstate(divide="ignore"):
        assert [jit(divided)(2.0, k) for k in (1, 2)] == [math.inf, -1.0]


def stored_where(x, y):
    z = x.copy()
    z[z > 0.5] = y
    return z


@pytest.mark.parametrize(
    "function",
    [
        lambda x, y: math.atan(x[0]),
        lambda x, y: math.sqrt(bool(x.all())),
        stored_where,
        lambda x, y: stored_where(x, np.float64(2.5)),
    ],
)
def test_a_batch_has_the_dtype_of_the_samples(function):
    x, y = np.arange(6, dtype=np.float32).reshape(2, 3), np.array([0.5, 1.5])
    expected = np.stack([function(*sample) for sample in zip(x, y, strict=True)])
    found = vmap(function)(x, y)
    assert found.dtype == expected.dtype
    np.testing.assert_allclose(found, expected, rtol=1e-15)


@pytest.mark.filterwarnings("ignore::numpy.exceptions.ComplexWarning")
def test_the_adjoint_of_what_was_made_real_and_single_is_complex_and_double():
    slope = grad(lambda x: np.sin(x.astype(np.float32)))(np.array(0.5 + 2.0j))
    assert slope.dtype == np.complex128
    np.testing.assert_allclose(slope, np.cos(0.5), rtol=1e-6)


def row_that_becomes_a_number(x):
    first, *rest = x[0]
    rest[1] = 0.25
    return first + rest[1] * first


def test_a_row_of_a_list_that_becomes_a_number():
    x = np.ones((2, 3, 2), np.float32)
    value, change = jvp(lambda y: row_that_becomes_a_number((y,)), x[0], x[1])
    np.testing.assert_array_equal(value, [1.25, 1.25])
    np.testing.assert_array_equal(change, [1.25, 1.25])


@pytest.mark.parametrize("dtype", [np.float32, np.complex64, np.float64, np.int64])
def test_an_array_like_one_without_axes_has_its_dtype(dtype):
    """The number was an array of float64, and so was a batch of sums with it."""

    def shifted(x):
        return x + np.full_like(x, 1)

    for mode, x in ((jit, dtype(2)), (jit, np.array(2, dtype)), (vmap, np.full(2, 2, dtype))):
        found = mode(shifted)(x)
        assert found.dtype == dtype
        np.testing.assert_array_equal(found, shifted(x))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("part", [np.sum, np.mean, np.max, lambda a: a[0]])
def test_a_part_of_what_is_full_of_one_number_has_the_dtype_of_the_array(part, dtype):
    """It was a number of Python's, and took on the dtype of whatever stood beside it."""

    def beside(x, y):
        return part(np.full_like(x, 0.5)) * y

    x, y = np.ones(3, dtype), np.ones(2, np.float32)
    assert jit(beside)(x, y).dtype == beside(x, y).dtype == dtype
    np.testing.assert_array_equal(jit(beside)(x, y), beside(x, y))


def narrowed_in_passes(x, n):
    for _ in range(n):
        x = np.float32(x)
    return x


@pytest.mark.parametrize("n", [1, 2])
def test_a_pass_of_a_loop_narrows_a_number(n):
    """A value of float64 or float32 was taken for one of float64: NumPy's float64 equals None."""
    x = np.array([0.1, 0.2])
    found = vmap(narrowed_in_passes, (0, None))(x, n)
    assert found.dtype == np.float32
    np.testing.assert_array_equal(found, x.astype(np.float32))


def with_sorted_numbers(x, numbers):
    smallest, *_ = sorted(numbers)
    largest, *_ = sorted(numbers, key=lambda v: -v)
    numbers = [v * 2 for v in numbers if v > 0]
    numbers.sort()
    return x * (numbers[0] * smallest + largest)


def test_sorted_numbers_of_python_are_such():
    x, numbers = np.ones(2, np.float32), [0.75, -0.5, 1.25]
    found = jit(with_sorted_numbers)(x, numbers)
    assert found.dtype == np.float32
    np.testing.assert_array_equal(found, with_sorted_numbers(x, numbers))
    slopes = grad(lambda x, v: np.sum(with_sorted_numbers(x, v)), 1)(x, numbers)
    np.testing.assert_array_equal(slopes, [-2.0, 3.0, 2.0])  # of 2 * (2 * v[0] * v[1] + v[2])


def added_in_turn(x, y):
    for step in (float(y), 1.5):
        x += x if step > 1 else step
    return x


def test_a_batch_of_what_is_of_python_on_one_path():
    x, y = np.array([0.25, 1.0, 3.0], np.float32), np.array([0.5, 2.0, 0.75], np.float32)
    expected = np.stack([added_in_turn(a, b) for a, b in zip(x, y, strict=True)])
    found = vmap(added_in_turn)(x, y)
    assert found.dtype == expected.dtype == np.float32
    np.testing.assert_array_equal(found, expected)


def narrowed_on_one_side(x, scale):
    if scale > 1:
        x = x - np.float32(scale)
    elif scale > 0:
        x = x * scale
    return np.sum(x) + 2.0 * scale


@pytest.mark.parametrize("scale, slope", [(2.0, 0.0), (0.5, 4.0), (-1.0, 2.0)])
def test_a_gradient_that_is_single_on_one_path_has_the_dtype_of_its_input(scale, slope):
    x = np.ones(2, np.float32)
    found = grad(narrowed_on_one_side, 1)(x, np.float64(scale))
    assert (found, np.asarray(found).dtype) == (slope, np.float64)


def single_or_number(x, k):
    return np.float32(2.5) if k == 1 else 1.5


def constant_or_item(x, k):
    return single_or_number(x, k) if k < 3 else x[0]


def nested_constants(x, k):
    """What the inner branch gives is of two kinds, and has no tangent of its own."""
    if k < 3:
        y = single_or_number(x, k)
    else:
        y = x[0] * 2
    return y


def carried_constant(x, k):
    y = np.float32(0.5)
    for _ in range(int(k) - 2):
        y = y * x[0]
    return y


@pytest.mark.parametrize("k", [1, 2, 3])
@pytest.mark.parametrize("f", [constant_or_item, nested_constants, carried_constant])
def test_a_tangent_that_is_zero_on_one_path_has_the_dtype_of_its_value(f, k):
    x = np.array([2.0, 3.0], np.float32)
    expected = f(x, k)
    value, change = jvp(f, (x, float(k)), (np.ones_like(x), 0.0))
    assert np.asarray(value).dtype == np.asarray(change).dtype == np.asarray(expected).dtype
    moved = [f(x.astype(float) + step, k) for step in (1e-3, -1e-3)]
    np.testing.assert_allclose(change, (moved[0] - moved[1]) / 2e-3, rtol=1e-5)


# ---- paths that are certain, and batches of what is a Python number on one path -----------------


def replaced_in_each_pass(x):
    y = x[0]
    for _ in range(2):
        z, y = np.float32(y), 0.5
    return y + z


def replaced_from_the_second_pass(x):
    y = x[0] * 2
    for i in range(5, 2, -1):
        y = 0.25 * i
    return y * np.float32(x[1])


def float_unless_it_fails(x):
    try:
        y = float(x[1])
        z = x[0]
    except ArithmeticError:
        y = np.float32(1.5)
        z = x[1]
    return y * 1.5, z


def stays_where_no_pass_is_made(x):
    y = x[0] * 2
    for _ in range(int(np.sum(x * 0))):
        y = 0.5
    return y * np.float32(1.5)


@pytest.mark.parametrize(
    "f",
    [
        replaced_in_each_pass,
        replaced_from_the_second_pass,
        float_unless_it_fails,
        stays_where_no_pass_is_made,
    ],
)
def test_a_batch_has_the_dtype_and_the_digits_of_its_samples(f):
    x = np.arange(1.0, 9.0).reshape(4, 2) / 7
    samples = [f(each) for each in x]
    parts = [each if type(each) is tuple else (each,) for each in (vmap(f)(x), *samples)]
    for found, *expected in zip(*parts, strict=True):
        assert found.dtype == np.stack(expected).dtype
        np.testing.assert_array_equal(found, np.stack(expected))


# ---- numbers of several types beside each other --------------------------------------------------


def chosen_of_unpacked(y):
    first, _, last = y
    last = np.float64(1) if np.all(y) else last
    return first if np.all(y) else last


def sorted_and_added(y):
    return sum(sorted(y)) + y[0] * 2.0


def narrowed_in_a_changed_list(y):
    changed = [*y]
    changed[int(np.sum(y) * 0)] = 0
    for _ in range(1):
        _, *others = changed
        last = np.float32(others[-1])
    return last


@pytest.mark.parametrize(
    "f, x, slopes",
    [
        (chosen_of_unpacked, np.array([0.6, 0.1, 0.4], np.float32), [1, 0, 0]),
        (chosen_of_unpacked, np.array([0.0, 0.1, 0.4], np.float32), [0, 0, 1]),
        (sorted_and_added, [np.float32(-0.9), -2.2], [3, 1]),
        (sorted_and_added, [-0.9, np.float32(-2.2), 0.5], [3, 1, 1]),
        (narrowed_in_a_changed_list, [np.float64(0.5), np.float64(1.5)], [0, 1]),
    ],
    ids=lambda value: getattr(value, "__name__", None),
)
def test_each_adjoint_has_the_dtype_of_its_number(f, x, slopes):
    gradient = grad(f)(x)
    np.testing.assert_array_equal(gradient, slopes)
    if isinstance(x, list):
        assert [type(g) for g, v in zip(gradient, x, strict=True) if type(v) is not float] == [
            type(v) for v in x if type(v) is not float
        ]
    else:
        assert gradient.dtype == x.dtype
        batch = vmap(grad(f))(np.stack([x, x]))
        assert batch.dtype == x.dtype
        np.testing.assert_array_equal(batch, [slopes, slopes])


def logarithm_where_there_is_one(y):
    try:
        k = math.log(y)
    except ValueError:
        k = 0.7
    return y + np.sin(k)


@pytest.mark.parametrize("y", [-0.3, 0.3])
def test_a_tangent_is_as_wide_as_its_value_where_a_path_has_none(y):
    y = np.array(y, np.float32)
    value, tangent = jvp(logarithm_where_there_is_one, (y,), (np.ones_like(y),))
    assert value.dtype == tangent.dtype == logarithm_where_there_is_one(y).dtype
    expected = 1.0 if y < 0 else 1 + np.cos(np.log(y)) / y
    np.testing.assert_allclose(tangent, expected, rtol=1e-6)


@pytest.mark.parametrize("make", [np.array, lambda v, dtype: np.array([v], dtype=dtype)])
def test_a_tangent_is_narrowed_with_its_value(make):
    x = [-1.5, np.float32(-0.2), 0.3]
    value, tangent = jvp(lambda x: make(min(x), dtype=np.float32), (x,), ([1.0, 1.0, 1.0],))
    assert (value.dtype, tangent.dtype) == (np.float32, np.float32)
    assert tangent == 1.0


def double_on_one_path(x):
    y = np.float32(1.5)
    if np.any(x < 0.25):
        y = y * 2
    else:
        y = 1.3
    return y


def started_with_a_double(x, start):
    for each in x:
        start = start + each
    return start


def test_native_code_cuts_no_number_of_python():
    """1.3 is none of single precision."""
    for x in (np.zeros(2), np.ones(2)):
        found, expected = jit(double_on_one_path)(x), double_on_one_path(x)
        assert (found, type(found)) == (expected, type(expected))
    for x in (np.zeros(0, np.float32), np.ones(2, np.float32)):
        found, expected = jit(started_with_a_double)(x, 0.1), started_with_a_double(x, 0.1)
        assert (found, type(found)) == (expected, type(expected))


def truth_among_numbers(items, k):
    items[items[0]] = k < 3
    return items[0] + 0 if k > 9 else items[0], items[1]


@pytest.mark.parametrize("k", [1, 5])
def test_native_code_makes_no_number_of_a_truth(k):
    found, expected = jit(truth_among_numbers)([0, 2], k), truth_among_numbers([0, 2], k)
    assert found == expected
    assert [type(each) for each in found] == [type(each) for each in expected]


def scaled_in_place(y, u):
    y[:] *= float(u)
    return np.sum(y)


def test_an_adjoint_of_singles_stays_one_in_a_batch_of_numbers():
    y, u = np.ones((3, 2), np.float32), np.array([1.0, 2.0, 3.0])
    by_y, by_u = vmap(grad(scaled_in_place, (0, 1)))(y, u)
    assert (by_y.dtype, by_u.dtype) == (np.float32, np.float64)
    np.testing.assert_array_equal(by_y, np.broadcast_to(u[:, None], (3, 2)))
    np.testing.assert_array_equal(by_u, [2.0, 2.0, 2.0])


def number_in_the_end(y):
    for row in y:
        state = row
    try:
        state += 2.0
        state = 2.0 / len(y)
    except ArithmeticError:
        state = 0.25
    return state + np.sin(state)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_tangent_of_what_may_be_an_array_or_a_number(dtype):
    y = np.ones((1, 2), dtype)
    value, tangent = jvp(number_in_the_end, (y,), (np.ones_like(y),))
    assert (value, tangent) == (2.0 + np.sin(2.0), 0.0)


LIMIT = 3.5


def begins_whole_on_a_path(x):
    if LIMIT > 2:
        y = 0
    else:
        y = 0.0
    for each in x:
        y = y + each
    return y


def begins_after_no_pass(x, n=0):
    y = 0
    for _ in range(n):
        y = y + 0.5
    for each in x:
        y = y + each
    return y


def begins_in_a_helper(x):
    def first(limit):
        low = limit * 2
        return 0 if low > 4 else 0.5 * low

    y = first(LIMIT)
    for each in x:
        y = y + each**2
    return y


@pytest.mark.parametrize("f", [begins_whole_on_a_path, begins_after_no_pass, begins_in_a_helper])
def test_samples_are_not_cut_where_a_sum_begins_with_a_whole_number(f):
    rows = np.array([[0.5, 1.5, 2.25], [1.0, -0.5, 0.25]])
    np.testing.assert_allclose(vmap(f)(rows), [f(row) for row in rows])


def joined_with_an_element(x):
    last = 1 if LIMIT > 2 else x[0]
    return np.sum(np.r_[x, last] ** 2)


def test_a_number_that_becomes_known_may_be_reshaped():
    x = np.array([1.5, 2.0, 0.3])
    np.testing.assert_allclose(grad(lambda x: np.sum(grad(joined_with_an_element)(x)))(x), 2.0)


def single_on_a_path(x):
    y = np.float32(0.5)
    if x > 3:
        y = np.ones(2)[0]
    return y


@pytest.mark.parametrize("x", [1.0, 4.0])
def test_a_tangent_of_zero_has_the_precision_that_the_path_gives(x):
    value, tangent = jvp(single_on_a_path, (x,), (1.0,))
    assert type(value) is type(tangent) is type(single_on_a_path(x))


WRAPPED = [
    lambda x, w: np.sum(-w * np.sin(x)),
    lambda x, w: np.sum(np.where(x > 0, w * x, -w * x)),
    lambda x, w: np.sum(x * np.arctan2(w, x)),
    lambda x, w: np.sum(np.exp(-(w * x) / 300)) - np.dot(-w * 1.0, x),
    lambda x, w: np.sum((w + w) * x) - np.sum(2 * w * x**2) - x[0] * (-w[1]),
]


@pytest.mark.filterwarnings("ignore:overflow")
@pytest.mark.parametrize("f", WRAPPED)
@pytest.mark.parametrize("dtype", [np.uint8, np.int16, np.int64])
def test_whole_numbers_that_begin_anew_do_so_in_the_value_alone(f, dtype):
    """-3 is 253 as uint8, and 200**2 is 64: a derivative does not compute with such numbers."""
    x, w = np.array([0.5, -0.3, 1.2]), np.array([3, 2, 200], dtype)
    expected = central_differences(lambda x: f(x, w), (x,))[0]
    found = grad(f)(x, w)
    assert found.dtype == np.float64
    np.testing.assert_allclose(found, expected, rtol=1e-6)
    np.testing.assert_allclose(jvp(lambda x: f(x, w), (x,), (x,))[1], x @ expected, rtol=1e-6)


def test_a_mask_that_is_a_factor_is_not_negated():
    def f(x):
        return np.sum(x / np.where(np.sum(x), np.min(x), 0.5))

    x = np.array([-0.4, 0.58])
    np.testing.assert_allclose(grad(f)(x), central_differences(f, (x,))[0], rtol=1e-6)


@pytest.mark.parametrize("power", [np.power, np.float_power])
def test_the_least_exponent_of_a_dtype_has_one_below_it(power):
    """-128 - 1 is 127 as int8."""
    x, w = np.array([1.01, 0.99]), np.array([-128, -127], np.int8)
    expected = -np.array([128, 127]) * x ** np.array([-129.0, -128.0])
    np.testing.assert_allclose(grad(lambda x: np.sum(power(x, w)))(x), expected, rtol=1e-12)


def by_a_number_of_python(x):
    x[...] = max(1.5, x[0, 0])
    return x


def by_a_row_in_order(x):
    x[...] = sorted([1.5, x[0].sum(), 1])
    return x


def added_in_order(x):
    x += sorted([1.5, x[0].sum(), 1])
    return x


@pytest.mark.parametrize("f", [by_a_number_of_python, by_a_row_in_order, added_in_order])
def test_what_is_stored_takes_the_dtype_of_the_array(f):
    """Whatever the numbers are: on some path they are Python's, which make doubles of a list."""
    x = np.array([[0.25, 0.5, 0.25], [1.0, 2.0, 3.0]], np.float32)
    for y in (jit(f)(x.copy()), *jvp(f, x.copy(), x.copy()), vmap(f)(x[None])[0]):
        assert y.dtype == np.float32
    np.testing.assert_array_equal(jit(f)(x.copy()), f(x.copy()))


def of_a_list_with_both(x, y):
    items = [0, 2]
    if x.any():
        items.extend([np.float32(y)])
    else:
        items[1] = np.prod(x)
    items.extend([0.5])
    return items[1], x, items[2]


def test_the_tangent_of_an_item_may_be_a_number_of_python():
    x = np.zeros(0)
    found = jvp(of_a_list_with_both, (x, 0.4), (x, 1.0))
    assert [found[0][0], found[0][2]] == [1.0, 0.5]
    assert [found[1][0], found[1][2]] == [0.0, 0.0]
