"""Programs whose values lose all their axes, or whose ranks differ from path to path."""

import math
import warnings

import numpy as np
import pytest

from s2s_ad import grad, hessian, jvp, vmap
from transforms.modes_of_programs import assert_every_mode, check, differences

W = np.array([[0.5, -1.5, 2.0]])
X = np.array([1.0, 2.0, -0.5])
A = np.array([[2.0, 1.0], [0.5, 3.0]])
B = np.array([1.0, 2.0])


def one_row(w, x):
    return (w @ x).squeeze()


def one_cell(w, x):
    return np.squeeze(np.outer(w @ x, np.sum(x, keepdims=True))) * np.exp(x[0])


def summed_over_one(x):
    return np.squeeze(np.sum(np.ones((1, 1)) * x[:1], axis=1))


def broadcast_number(x):
    return np.squeeze(np.broadcast_to(x[1], (1, 1)))


def reshaped_product(w, x):
    return np.reshape(w @ (x * x), ())


def transposed_and_squeezed(w, x):
    return np.transpose(w @ x[:, None]).squeeze() * 3.0


def raised_anew(A, b):
    try:
        inverse = np.linalg.inv(A)
    except np.linalg.LinAlgError:
        raise ValueError("singular") from None
    return b @ inverse @ b


def raised_before_else(A, b):
    try:
        inverse = np.linalg.inv(A)
    except np.linalg.LinAlgError:
        raise
    else:
        y = inverse @ b
    return y @ y


def raised_with_finally(A, b):
    inverse = None
    try:
        inverse = np.linalg.inv(A)
    except np.linalg.LinAlgError:
        raise ValueError("singular") from None
    finally:
        c = b * 2
    return c @ inverse @ c


def nan_at_first(x):
    best = np.nan
    for i in range(len(x)):
        best = np.outer(x, x) if i == 0 else best + np.outer(x, x) * x[i]
    return np.sum(best)


def nan_and_then_products(x):
    best = np.nan
    for i in range(3):
        best = np.outer(x, x) * best if i else np.outer(x, x)
    return np.sum(best @ best)


def never_divided(x):
    if x[0] > 100:
        return np.sum(x) * (1 // 0) * math.sqrt(-1)
    return np.sum(x * x)


def whole_numbers_that_fail(x):
    k = 0
    try:
        k = 1 // 0
    except ZeroDivisionError:
        k = k + 3
    try:
        k = 1 % 0
    except ZeroDivisionError:
        k = k * 5
    try:
        k = 1 << -1
    except ValueError:
        k = k + 7
    try:
        k = 8 >> k - 99
    except ValueError:
        k = k * 2
    return np.sum(x * x) * k


def numbers_that_fail(x):
    k = 0.0
    try:
        k = math.exp(1000)
    except OverflowError:
        k = k + 3.0
    try:
        k = math.ceil(k * math.inf)
    except OverflowError:
        k = k * 5.0
    try:
        k = math.sin(k * math.inf)
    except ValueError:
        k = k + 7.0
    return np.sum(x * x) * k


PROGRAMS = [
    (one_row, W, X),
    (one_cell, W, X),
    (summed_over_one, X),
    (broadcast_number, X),
    (reshaped_product, W, X),
    (transposed_and_squeezed, W, X),
    (raised_anew, A, B),
    (raised_before_else, A, B),
    (raised_with_finally, A, B),
    (nan_at_first, B),
    (nan_and_then_products, B),
    (never_divided, B),
    (whole_numbers_that_fail, B),
    (numbers_that_fail, B),
]


@pytest.mark.thinned(2)
@pytest.mark.parametrize("f, x, rest", [(f, x, rest) for f, x, *rest in PROGRAMS])
def test_in_every_mode(f, x, rest):
    assert_every_mode(f, x, *rest)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = vmap(grad(f), in_axes=(0, *(None for _ in rest)))(np.stack([x, 1.25 * x]), *rest)
    check(found, [differences(f, each, *rest) for each in (x, 1.25 * x)], 1e-5)


@pytest.mark.parametrize("f, rest", [(raised_anew, (B,)), (raised_before_else, (B,))])
def test_second_derivatives_where_a_handler_raises(f, rest):
    columns = [differences(lambda m, k=k: grad(f)(m, *rest).flat[k], A) for k in range(A.size)]
    check(hessian(f)(A, *rest), np.reshape(columns, (2, 2, 2, 2)), 1e-5)


def items_of_an_item(x):
    h, items = np.full(2, 0.31), [x, 2.0]
    for _ in range(1):
        items.insert(0, 1.75)
    items += [h * x]
    total = 0.0
    for i, b in enumerate(items[3]):
        total = total + b * b * i
    return total


def test_gradient_of_a_batch_of_items_whose_rank_is_not_known():
    """The index of the loop is the same for all samples, which are taken one by one."""
    x = np.array([0.5, 2.0, -1.0])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = grad(lambda x: np.sum(vmap(items_of_an_item)(x)))(x)
    np.testing.assert_allclose(found, 2 * 0.31**2 * x)


def squeezed_in_each_pass(w, u):
    for _ in range(2):
        u = np.squeeze(w)
    return np.sum(u**2) + np.sum(w**2)


def test_an_adjoint_that_begins_as_a_number_has_no_index():
    w, u = np.array([0.7]), np.array(2.0)
    of_w, of_u = grad(squeezed_in_each_pass, (0, 1))(w, u)
    np.testing.assert_allclose(of_w, 4 * w)
    assert of_u == 0.0


def changed_on_one_path(y, z):
    state = y.ravel()
    state *= 1.5
    if z > 1:
        z = z * 2.0
    else:
        state[np.arange(1)] -= state
    return np.sum(state * state)


@pytest.mark.parametrize("z, slope", [(2.0, 2 * 1.5**2), (0.5, 0.0)])
def test_an_adjoint_that_is_a_number_on_one_path_has_no_methods(z, slope):
    y = np.array(0.7)
    assert grad(changed_on_one_path)(y, z) == pytest.approx(slope * y)


def items_or_number(x, z):
    total = 0.0
    for _ in range(1):
        total += z if np.any(x) else 1.5
    try:
        _, _ = x
        c = x
    except ArithmeticError:
        c = z
    return np.sum(c**2) + total


def test_a_tangent_that_is_a_number_on_one_path_has_no_methods():
    """Second derivatives: nothing but x is read where x is zero."""
    along = (np.zeros(2), 0.3), (np.array([1.0, 2.0]), 1.0)
    (of_x, of_z), tangents = jvp(grad(items_or_number, (0, 1)), *along)
    assert not of_x.any()
    assert of_z == tangents[1] == 0.0
    np.testing.assert_allclose(tangents[0], [2.0, 4.0])


def first_replaced(x, i):
    try:
        a = x[i][0]
        a = x[i]
    except IndexError:
        a = x
    b = a.astype(float)
    b[0] = 7.0
    return np.sum(b * b) + np.sum(x)


def rows_reversed(rows):
    try:
        first = rows[0][0]
        rows.reverse()
    except IndexError:
        first = 1.5
    return np.sum(first) + np.sum(rows[1])


def test_another_type_of_what_has_no_known_rank_is_other_memory():
    for i in (5, 1):  # two axes, or one
        x = np.arange(6.0).reshape(2, 3)
        expected = 2 * x + 1
        expected[0] = 1.0
        if i == 1:
            expected = np.array([[1.0, 1, 1], [1, 9, 11]])
        np.testing.assert_array_equal(grad(first_replaced)(x, i), expected)
        np.testing.assert_array_equal(x, np.arange(6.0).reshape(2, 3))
    columns, slopes = grad(rows_reversed)([np.ones((2, 3, 1)), np.ones(1)])
    np.testing.assert_array_equal(columns, [[[2.0]] * 3, [[1.0]] * 3])
    np.testing.assert_array_equal(slopes, [0.0])


def flattened_sum_of_rows(rows):
    total = sum(rows, 0)[:, None] / 3  # what began as a number
    return np.sum(total.flatten() ** 2 * np.arange(rows.shape[1]))


def test_a_batch_gets_the_shape_of_what_has_no_known_rank():
    rows = np.random.default_rng(1).normal(size=(3, 4, 2))
    slopes = [2 / 9 * np.tile(each.sum(axis=0) * [0, 1], (4, 1)) for each in rows]
    np.testing.assert_allclose(vmap(grad(flattened_sum_of_rows))(rows), slopes)
    moved = vmap(grad(flattened_sum_of_rows), 2, 2)(np.moveaxis(rows, 0, 2))
    np.testing.assert_allclose(np.moveaxis(moved, 2, 0), slopes)
