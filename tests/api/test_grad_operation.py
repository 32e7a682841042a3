"""GradOperation, get_grad, InsertGradientOf, recompute and set_context: MindSpore's other doors.

Expected values are closed forms.
"""

import copy

import numpy as np
import pytest

import s2s_ad as ms
from s2s_ad import (
    GradOperation,
    InsertGradientOf,
    Parameter,
    ParameterTuple,
    Tensor,
    get_grad,
    grad,
    jit,
    jvp,
    nn,
    ops,
    recompute,
    value_and_grad,
    vmap,
)
from s2s_ad.api import function as api

P, Q = Parameter(np.array([2.0, 3.0]), name="p"), Parameter(np.array([5.0]), name="q")
X, Y = np.array([1.0, -2.0]), np.array([0.5, 4.0])


def product(x, y):
    return np.sum(x * y * P) * Q[0]


def single(x):
    return np.sum(x**2 * P)


def more(x, *others, k=2.0):
    return k * x * sum(others)


OF_X, OF_Y, OF_P, OF_Q = Y * P * 5, X * P * 5, X * Y * 5, np.array([np.sum(X * Y * P)])
ONE, OF_ONE = 2 * X * P, X**2


def assert_alike(found, expected):
    assert isinstance(found, tuple) == isinstance(expected, tuple)
    if isinstance(expected, tuple):
        for each in zip(found, expected, strict=True):
            assert_alike(*each)
    else:
        np.testing.assert_allclose(found, expected)


@pytest.mark.parametrize(
    "options, function, weights, args, expected",
    [
        ({}, product, None, (X, Y), OF_X),
        ({"get_all": True}, product, None, (X, Y), (OF_X, OF_Y)),
        ({"get_all": True}, single, None, (X,), (ONE,)),
        ({"get_all": True}, more, None, (2.0, 3.0, 4.0), (14.0, 4.0, 4.0)),
        ({"get_by_list": True}, product, [P, Q], (X, Y), (OF_P, OF_Q)),
        ({"get_by_list": True}, product, ParameterTuple([Q]), (X, Y), (OF_Q,)),
        ({"get_by_list": True}, product, P, (X, Y), (OF_P,)),
        (
            {"get_all": True, "get_by_list": True},
            product,
            [P, Q],
            (X, Y),
            ((OF_X, OF_Y), (OF_P, OF_Q)),
        ),
        ({"get_all": True, "get_by_list": True}, single, (P,), (X,), ((ONE,), (OF_ONE,))),
        ({"sens_param": True}, product, None, (X, Y, 2.0), 2 * OF_X),
        (
            {"get_all": True, "get_by_list": True, "sens_param": True},
            single,
            [P],
            (X, 3.0),
            ((3 * ONE,), (3 * OF_ONE,)),
        ),
    ],
)
def test_what_a_grad_operation_gives_and_how_it_nests(options, function, weights, args, expected):
    slope = GradOperation(**options)(function, weights)
    assert_alike(slope(*args), expected)
    assert_alike(
        jit(lambda *args: GradOperation(**options)(function, weights)(*args))(*args), expected
    )


def test_grad_of_all_inputs_of_the_call():
    assert_alike(grad(more, ...)(2.0, 3.0, 4.0), (14.0, 4.0, 4.0))
    value, (of_x,) = value_and_grad(single, ...)(X)
    np.testing.assert_allclose(of_x, ONE)
    assert float(value) == float(single(X))


def test_what_is_made_anew_in_each_step_is_compiled_once(monkeypatch):
    names, load = [], api.load
    monkeypatch.setattr(api, "load", lambda *made: names.append(made[1].name) or load(*made))
    operation = GradOperation(get_by_list=True)
    again = copy.deepcopy(operation)
    assert again.get_by_list
    for made in (operation, operation, again):
        for weights in ([P, Q], (P, Q)):
            made(product, weights)(X, Y)
    assert len(names) == 1
    operation(product, [P])(X, Y)
    assert len(names) == 2


def test_the_second_order():
    operation = GradOperation()
    np.testing.assert_allclose(operation(operation(lambda x: x**3))(X), 6 * X)


@pytest.mark.parametrize("position, weights", [((1, 0), [P, Q]), (0, P), (0, [P]), (None, [Q, P])])
def test_a_gradient_is_found_by_its_id(position, weights):
    made = grad(product, position, weights, return_ids=True)
    found = made(X, Y)
    expected = {0: OF_X, 1: OF_Y, P: OF_P, Q: OF_Q}
    identities = [] if position is None else [position] if position == 0 else list(position)
    identities += [weights] if weights is P else weights
    for each in identities:
        np.testing.assert_allclose(get_grad(found, each), expected[each])
        inside = jit(lambda x, y, each=each: get_grad(made(x, y), each))
        np.testing.assert_allclose(inside(X, Y), expected[each])


# ---- the gradient on its way ---------------------------------------------------------------------


clip = InsertGradientOf(lambda x_bar: np.clip(x_bar, -1.0, 1.0))


def clipped(x):
    return clip(x) ** 3


def doubled_inside(x):
    twice = InsertGradientOf(lambda x_bar: 2 * x_bar)
    return grad(lambda t: np.sum(twice(t) ** 2))(x)


def test_the_gradient_goes_through_the_function_that_is_inserted():
    x = np.array([0.1, -2.0, 5.0])
    np.testing.assert_allclose(clipped(x), x**3)
    np.testing.assert_allclose(grad(clipped)(x), np.clip(3 * x**2, -1, 1))
    np.testing.assert_allclose(vmap(grad(clipped))(x), np.clip(3 * x**2, -1, 1))
    np.testing.assert_allclose(jit(doubled_inside)(x), 4 * x)


def test_forward_mode_does_not_go_through_it():
    np.testing.assert_allclose(jvp(clipped, X, X)[1], 3 * X**3)


# ---- recompute -----------------------------------------------------------------------------------


class Block:
    """A stand-in for a Cell."""

    def __call__(self, x, scale=1.0):
        y = np.exp(x) * scale
        return np.sin(y) * P


def with_recompute(x):
    return recompute(Block(), x, use_reentrant=False) + recompute(block, x, scale=2.0)


block = Block()


def test_what_is_recomputed_has_the_same_gradients():
    y = np.exp(X)
    expected = np.cos(y) * y * P + np.cos(2 * y) * 2 * y * P
    of_x, of_p = grad(with_recompute, 0, P)(X)
    np.testing.assert_allclose(of_x, expected)
    np.testing.assert_allclose(of_p, np.sin(y) + np.sin(2 * y))
    np.testing.assert_allclose(with_recompute(X), (np.sin(y) + np.sin(2 * y)) * P)


# ---- settings ------------------------------------------------------------------------------------


@pytest.mark.parametrize("mode", [ms.GRAPH_MODE, ms.PYNATIVE_MODE])
def test_the_settings_of_mindspore_are_accepted(mode):
    ms.set_context(mode=mode, device_target="CPU", save_graphs=False)


def test_the_seed_starts_the_random_numbers():
    ms.set_seed(3)
    first = ops.randn(4)
    ms.set_seed(3)
    np.testing.assert_array_equal(first, ops.randn(4))
    assert isinstance(first, Tensor)


# ---- ForwardValueAndGrad -------------------------------------------------------------------------


@pytest.mark.parametrize(
    "options, weights, args, expected",
    [
        ({}, None, (X,), ONE),
        ({"get_all": True}, None, (X,), (ONE,)),
        ({"get_by_list": True}, [P], (X,), (OF_ONE,)),
        ({"get_all": True, "get_by_list": True}, [P], (X,), ((ONE,), (OF_ONE,))),
        ({"sens_param": True}, None, (X, 3.0), 3 * ONE),
    ],
)
def test_a_cell_of_the_value_and_the_gradients(options, weights, args, expected):
    cell = nn.ForwardValueAndGrad(single, weights, **options)
    for function in (cell, jit(cell)):
        value, gradients = function(*args)
        np.testing.assert_allclose(value, single(X))
        assert_alike(gradients, expected)


@pytest.mark.parametrize(
    "options, kind, text",
    [
        ({"get_by_list": True}, ValueError, "'weights' is missing"),
        ({"get_all": 1}, TypeError, "'get_all' must be True or False, got int 1"),
        ({"get_by_list": True, "weights": [X]}, TypeError, "weights[0] must be a Parameter"),
    ],
)
def test_misuse_of_the_cell_is_refused_when_it_is_made(options, kind, text):
    with pytest.raises(kind) as caught:
        nn.ForwardValueAndGrad(single, **options)
    assert text in str(caught.value)
