"""Where Python raises because an index is out of range, so does every transform: also where the
derivative does not need the element."""

from __future__ import annotations

import numpy as np
import pytest

from api.test_lengths_have_to_fit import TRANSFORMS
from s2s_ad import grad, hessian, jit, value_and_grad
from transforms.differences import differences

CAPTURED = np.array([1.0, 2.0, 3.0])


def picked(x, c):
    return np.sum(x) + c[int(x[0])]


def unread(x, c):
    c[int(x[0])]
    return np.sum(x)


def one_of_many(x, c):
    return np.sum(x) + CAPTURED[int(x[0])] * 2


def picked_by_order(x, c):
    order = np.argsort(-x)
    return np.sum(x) + c[order[0] + int(x[0])]


def several(x, c):
    return np.sum(x) + np.sum(c[np.array([0, 1]) + int(x[0])])


def stored(x, c):
    y = np.zeros(3)
    y[int(x[0])] = 1.0
    return np.sum(x) + np.sum(y)


def in_a_loop(x, c):
    total = 0.0
    for i in range(int(x[0]) + 1):
        total += x[0] ** 2 + c[i]
    return total


def looked_up(c, x):
    return 2.0 * c[int(x)]


def in_a_helper(x, c):
    return np.sum(x) + looked_up(c, x[0])


def unread_of_a_list(x, c):
    [c[0], x[1], 2.0][int(x[0])]
    return np.sum(x)


def unread_of_a_tuple_of_arrays(x, c):
    pair = x, c, 2 * c
    pair[int(x[0])]
    return np.sum(x)


def unread_of_a_grown_list(x, c):
    rows = []
    for i in range(4 - int(x[0])):
        rows.append(x[0] * i)
    rows[1]
    return np.sum(x)


def stored_into_a_list(x, c):
    items = [1.0, 2.0, 3.0]
    items[int(x[0])] = x[1]
    return np.sum(x)


@pytest.mark.thinned(3)
@pytest.mark.parametrize("transform", [each for each in TRANSFORMS if each != "both"])
@pytest.mark.parametrize(
    "f",
    [
        picked,
        unread,
        one_of_many,
        picked_by_order,
        several,
        stored,
        in_a_loop,
        in_a_helper,
        unread_of_a_list,
        unread_of_a_tuple_of_arrays,
        unread_of_a_grown_list,
        stored_into_a_list,
    ],
)
def test_an_index_that_values_decide(f, transform):
    transformed = TRANSFORMS[transform](f)
    good, bad, c = np.array([1.0, 0.5]), np.array([3.0, 0.5]), np.arange(3.0)
    f(good, c)
    transformed(good, c)
    for _ in range(2):
        with pytest.raises(IndexError):
            f(bad, c)
        with pytest.raises(IndexError):
            transformed(bad, c)


@pytest.mark.parametrize("axis, index", [(0, [0, 2]), (0, [-3, 0]), (None, [0, 2])])
def test_an_index_along_an_axis_is_asked_of_a_second_derivative(axis, index):
    """Nothing is read there: the function is linear."""
    with pytest.raises(IndexError):
        hessian(lambda x, i: np.sum(np.take_along_axis(x, i, axis)))(np.ones(2), np.array(index))


def added_up(x, c):
    total = 0.0
    for i in range(len(x)):
        total += x[i] ** 2 + c[i]
    return total


def of_neighbours(x, c):
    total = 0.0
    for i in range(1, len(x)):
        total += x[i] * x[i - 1] + c[i - 1]
    return total


def from_the_end(x, c):
    return np.sum(x) + c[-len(x)]


def the_sixth(x, c):
    return np.sum(x) + c[5]


@pytest.mark.parametrize("f, least", [(added_up, 3), (of_neighbours, 2), (from_the_end, 3)])
def test_an_index_that_lengths_decide(f, least):
    x, derived = np.array([1.0, 2.0, 3.0]), grad(f)
    wanted = {added_up: 2 * x, of_neighbours: [2.0, 4.0, 2.0], from_the_end: np.ones(3)}[f]
    for length in (least, least - 1, least + 1, least - 1):
        c = np.ones(length)
        if length < least:
            with pytest.raises(IndexError):
                f(x, c)
            with pytest.raises(IndexError):
                derived(x, c)
        else:
            np.testing.assert_allclose(derived(x, c), wanted)


def test_a_number_as_an_index():
    np.testing.assert_array_equal(grad(the_sixth)(np.ones(2), np.ones(6)), np.ones(2))
    with pytest.raises(IndexError):
        grad(the_sixth)(np.ones(2), np.ones(5))


def where_there_is_one(x, c):
    total = 0.0
    for i in range(len(x)):
        if i < len(c):
            total += x[i] + c[i]
        else:
            total += 3 * x[i]
    return total


def test_only_what_runs_has_to_be_in_range():
    x = np.ones(3)
    for length, wanted in ((1, [1, 3, 3]), (3, [1, 1, 1]), (0, [3, 3, 3])):
        np.testing.assert_array_equal(grad(where_there_is_one)(x, np.ones(length)), wanted)


def test_elements_that_lengths_prove_are_not_read_for_that():
    text = grad(added_up).source(np.ones(3), np.ones(3))
    assert "c[i]" not in text
    assert "# for arguments with len(c) >= len(x)" in text


def added_of_lists(x):
    weights, made, total = [1.0, 2.0, 3.0], [], 0.0
    for k in range(len(x)):
        made.append(k * 0.5)
    for k in range(len(weights)):
        total = total + weights[k] + x[0]
    for k in range(len(x)):
        total = total + made[k] * 2.0 + x[k]
    return total


def test_items_that_a_loop_takes_are_not_read_for_that():
    assert "made" not in grad(added_of_lists).source(np.ones(3))
    np.testing.assert_array_equal(grad(added_of_lists)(np.ones(3)), [4.0, 1.0, 1.0])


def labelled(x, label):
    return np.log(np.sum(np.exp(x))) - x[label]


def test_the_adjoint_of_an_element_raises_by_itself():
    """Its value is not read once more, and no function is called for it."""
    x = np.array([0.3, -0.2])
    assert grad(labelled).source(x, 1).count("[label]") == 1
    for derived in (grad(labelled), value_and_grad(labelled), jit(labelled)):
        with pytest.raises(IndexError):
            derived(x, 2)


def fitted(w, x):
    total = 0.0
    for v in x:
        i = int(v)
        total += (w[i] * v - CAPTURED[i]) ** 2
    return total


def test_what_the_backward_pass_reads_again_is_not_read_before_for_that():
    w, x = np.ones(3), np.array([0.5, 2.5, 1.5])
    derived = grad(fitted)
    assert derived.source(w, x).count("for ") == 1
    np.testing.assert_allclose(derived(w, x), slopes_by_hand(w, x))
    with pytest.raises(IndexError):
        derived(w, np.array([0.5, 3.5]))


def slopes_by_hand(w, x):
    """The slope of each square: 2 v (w v - c)."""
    slopes = np.zeros(3)
    for v in x:
        slopes[int(v)] += 2 * v * (w[int(v)] * v - CAPTURED[int(v)])
    return slopes


def triangular_product(a, b):
    b = b.copy()
    for i in range(b.shape[0]):
        for j in range(b.shape[1]):
            b[i, j] += a[i + 1 :, i] @ b[i + 1 :, j]
    return np.sum(b)


def test_lengths_that_are_assumed_to_fit_are_not_computed_to_find_out():
    rng = np.random.default_rng(0)
    a, b = rng.normal(size=(4, 4)), rng.normal(size=(4, 3))
    derived = grad(triangular_product, (0, 1))
    assert derived.source(a, b).count("for i") == 1
    a_bar, b_bar = derived(a, b)
    np.testing.assert_allclose(a_bar, differences(lambda a: triangular_product(a, b), a))
    np.testing.assert_allclose(b_bar, differences(lambda b: triangular_product(a, b), b))
    with pytest.raises(ValueError, match="mismatch"):
        derived(rng.normal(size=(5, 4)), b)
