"""How results are nested: one row for each line of the rules that MindSpore users know."""

import numpy as np
import pytest

from s2s_ad import grad, hessian, jacfwd, jacrev, jvp, value_and_grad, vjp

X, Y = np.array([1.0, 2.0]), np.array([3.0, -1.0])
TWO_X, ONE = 2 * X, np.ones(2)


def f(x, y):
    return np.sum(x * x * y)


def with_aux(x, y):
    return np.sum(x * x * y), x + y


def with_two_aux(x, y):
    return np.sum(x * x * y), x + y, {"y": y}


def two(x, y):
    return x * y, x + y


def one_in_a_tuple(x, y):
    return (x * y,)


def as_list(x, y):
    return [np.sum(x * y), y]


def as_dict(x, y):
    return {"loss": np.sum(x * y), "y": y}


def square(x):
    return x * x


GX, GY, VALUE = 2 * X * Y, X * X, np.sum(X * X * Y)
AUX, AUX_2 = X + Y, {"y": Y}
EYE = np.eye(2)

# maker, function, options, result for X, Y
GRADIENTS = [
    (grad, f, {}, GX),
    (grad, f, {"grad_position": 0}, GX),
    (grad, f, {"grad_position": 1}, GY),
    (grad, f, {"grad_position": (0,)}, GX),
    (grad, f, {"grad_position": (1,)}, GY),
    (grad, f, {"grad_position": [1]}, GY),
    (grad, f, {"grad_position": (0, 1)}, (GX, GY)),
    (grad, f, {"grad_position": (1, 0)}, (GY, GX)),
    (grad, f, {"argnums": 1}, GY),
    (grad, f, {"argnums": (0, 1)}, (GX, GY)),
    (grad, f, {"grad_position": 1, "argnums": 1}, GY),
    (grad, f, {"return_ids": True}, (0, GX)),
    (grad, f, {"grad_position": 1, "return_ids": True}, (1, GY)),
    (grad, f, {"grad_position": (1,), "return_ids": True}, (1, GY)),
    (grad, f, {"grad_position": (1, 0), "return_ids": True}, ((1, GY), (0, GX))),
    (grad, with_aux, {"has_aux": True}, (GX, (AUX,))),
    (grad, with_aux, {"grad_position": (0, 1), "has_aux": True}, ((GX, GY), (AUX,))),
    (grad, with_two_aux, {"has_aux": True}, (GX, (AUX, AUX_2))),
    (grad, with_aux, {"has_aux": True, "return_ids": True}, ((0, GX), (AUX,))),
    (grad, two, {}, Y + ONE),  # of the sum of all outputs
    (grad, one_in_a_tuple, {}, Y),
    (grad, as_list, {}, Y),
    (grad, as_dict, {"grad_position": 1}, X + ONE),
    (value_and_grad, f, {}, (VALUE, GX)),
    (value_and_grad, f, {"grad_position": (0, 1)}, (VALUE, (GX, GY))),
    (value_and_grad, f, {"return_ids": True}, (VALUE, (0, GX))),
    (value_and_grad, with_aux, {"has_aux": True}, ((VALUE, AUX), GX)),
    (value_and_grad, with_two_aux, {"has_aux": True}, ((VALUE, AUX, AUX_2), GX)),
    (value_and_grad, two, {}, ((X * Y, X + Y), Y + ONE)),
    (value_and_grad, as_list, {}, ([np.sum(X * Y), Y], Y)),
    (value_and_grad, as_dict, {}, ({"loss": np.sum(X * Y), "y": Y}, Y)),
]

JACOBIANS = [
    (f, {}, GX),
    (f, {"grad_position": (1,)}, GY),
    (f, {"grad_position": (0, 1)}, (GX, GY)),
    (f, {"argnums": 1}, GY),
    (two, {}, (np.diag(Y), EYE)),
    (two, {"grad_position": (0, 1)}, ((np.diag(Y), np.diag(X)), (EYE, EYE))),
    (one_in_a_tuple, {}, (np.diag(Y),)),
    (as_list, {}, [Y, 0 * EYE]),
    (as_dict, {"grad_position": 1}, {"loss": X, "y": EYE}),
    (with_aux, {"has_aux": True}, (GX, AUX)),
    (with_two_aux, {"has_aux": True}, (GX, (AUX, AUX_2))),
    (with_aux, {"grad_position": (0, 1), "has_aux": True}, ((GX, GY), AUX)),
]


def same(found, expected):
    """Equal numbers in equal containers."""
    assert isinstance(found, tuple | list | dict) == isinstance(expected, tuple | list | dict)
    if isinstance(expected, tuple | list):
        assert type(found) is type(expected)
        assert len(found) == len(expected)
        for one, other in zip(found, expected, strict=True):
            same(one, other)
    elif isinstance(expected, dict):
        assert list(found) == list(expected)
        for key, value in expected.items():
            same(found[key], value)
    else:
        assert (
            type(found) is int if type(expected) is int else np.shape(found) == np.shape(expected)
        )
        np.testing.assert_allclose(found, expected)


def name_of(value):
    return getattr(value, "__name__", None) or (str(value) if isinstance(value, dict) else "")


@pytest.mark.parametrize("maker, function, options, expected", GRADIENTS, ids=name_of)
def test_gradients(maker, function, options, expected):
    same(maker(function, **options)(X, Y), expected)


@pytest.mark.parametrize("maker", [jacfwd, jacrev], ids=name_of)
@pytest.mark.parametrize("function, options, expected", JACOBIANS, ids=name_of)
def test_jacobians(maker, function, options, expected):
    same(maker(function, **options)(X, Y), expected)


@pytest.mark.parametrize(
    "options, expected",
    [
        ({}, np.diag(2 * Y)),
        ({"grad_position": (0,)}, np.diag(2 * Y)),
        ({"argnums": 1}, 0 * EYE),
        (
            {"grad_position": (0, 1)},
            ((np.diag(2 * Y), np.diag(2 * X)), (np.diag(2 * X), 0 * EYE)),
        ),
    ],
    ids=str,
)
def test_hessian(options, expected):
    same(hessian(f, **options)(X, Y), expected)


def test_hessian_with_aux():
    same(hessian(with_aux, has_aux=True)(X, Y), (np.diag(2 * Y), AUX))


@pytest.mark.parametrize(
    "function, inputs, v, options, expected",
    [
        (square, X, ONE, {}, (X * X, TWO_X)),
        (square, (X,), (ONE,), {}, (X * X, TWO_X)),
        (square, [X], (ONE,), {}, (X * X, TWO_X)),
        (f, (X, Y), (ONE, 0 * Y), {}, (VALUE, np.sum(GX))),
        (two, (X, Y), (ONE, 0 * Y), {}, ((X * Y, X + Y), (Y, ONE))),
        (one_in_a_tuple, (X, Y), (ONE, 0 * Y), {}, ((X * Y,), (Y,))),
        (as_list, (X, Y), (ONE, 0 * Y), {}, ([np.sum(X * Y), Y], [np.sum(Y), 0 * Y])),
        (
            as_dict,
            (X, Y),
            (0 * X, ONE),
            {},
            ({"loss": np.sum(X * Y), "y": Y}, {"loss": np.sum(X), "y": ONE}),
        ),
        (with_aux, (X, Y), (ONE, 0 * Y), {"has_aux": True}, (VALUE, np.sum(GX), AUX)),
        (
            with_two_aux,
            (X, Y),
            (ONE, 0 * Y),
            {"has_aux": True},
            (VALUE, np.sum(GX), (AUX, AUX_2)),
        ),
    ],
)
def test_jvp(function, inputs, v, options, expected):
    same(jvp(function, inputs, v, **options), expected)


@pytest.mark.parametrize(
    "function, inputs, adjoints, expected_value, expected",
    [
        (square, (X,), (Y,), X * X, (2 * X * Y,)),
        (f, (X, Y), (1.0,), VALUE, (GX, GY)),
        (two, (X, Y), (ONE, 0 * X), (X * Y, X + Y), (Y, X)),
        (two, (X, Y), ((ONE, 0 * X),), (X * Y, X + Y), (Y, X)),
        (one_in_a_tuple, (X, Y), (ONE,), (X * Y,), (Y, X)),
        (one_in_a_tuple, (X, Y), ((ONE,),), (X * Y,), (Y, X)),
        (as_list, (X, Y), ([1.0, 0 * Y],), [np.sum(X * Y), Y], (Y, X)),
        (
            as_dict,
            (X, Y),
            ({"y": ONE, "loss": 0.0},),  # in another order
            {"loss": np.sum(X * Y), "y": Y},
            (0 * X, ONE),
        ),
    ],
)
def test_vjp(function, inputs, adjoints, expected_value, expected):
    value, vjp_fn = vjp(function, *inputs)
    same(value, expected_value)
    same(vjp_fn(*adjoints), expected)


@pytest.mark.parametrize("function, aux", [(with_aux, AUX), (with_two_aux, (AUX, AUX_2))])
def test_vjp_with_aux(function, aux):
    value, vjp_fn, rest = vjp(function, X, Y, has_aux=True)
    same(value, VALUE)
    same(rest, aux)
    same(vjp_fn(1.0), (GX, GY))


@pytest.mark.parametrize(
    "function, position, args, kwargs, expected",
    [
        (lambda x, a=2.0: x * a, 1, (3.0,), {}, 3.0),
        (lambda x, a=2.0, b=5.0: x * a * b, 2, (3.0,), {}, 6.0),
        (lambda x, a=2.0, b=5.0: x * a * b, 2, (3.0,), {"b": 1.0}, 6.0),
        (lambda x, a=2.0, b=5.0: x * a * b, (0, 2), (3.0,), {}, (10.0, 6.0)),
        (lambda x, *, k: x * k * k, 1, (3.0,), {"k": 2.0}, 12.0),
        (lambda x, *xs: x * xs[1], 2, (3.0, 1.0, 2.0), {}, 3.0),
        (lambda x, /, y: x * y, 1, (3.0,), {"y": 2.0}, 3.0),
    ],
)
def test_positions_count_the_parameters(function, position, args, kwargs, expected):
    same(grad(function, position)(*args, **kwargs), expected)


@pytest.mark.parametrize(
    "function, inputs, v, expected",
    [
        (lambda x, k=3.0: x * k, (2.0,), (1.0,), (6.0, 3.0)),
        (lambda x, *, k=3.0: x * k, (2.0,), (1.0,), (6.0, 3.0)),
        (lambda *xs: xs[0] * xs[1], (2.0, 3.0), (1.0, 1.0), (6.0, 5.0)),
        (lambda x, *xs, k=2.0: x * xs[0] * k, (2.0, 3.0), (1.0, 0.0), (12.0, 6.0)),
        (lambda x, x_dot: x * x_dot, (2.0, 3.0), (1.0, 0.0), (6.0, 3.0)),
        (lambda d: d["a"] * d["b"], ({"a": 2.0, "b": 3.0},), ({"a": 1.0, "b": 1.0},), (6.0, 5.0)),
    ],
)
def test_jvp_along_the_inputs_that_are_given(function, inputs, v, expected):
    same(jvp(function, inputs, v), expected)


def test_outputs_that_are_no_floating_point_numbers_have_no_gradient():
    def mixed(x):
        return x * 2, np.argmax(x), "text", None

    same(grad(mixed)(X), 2 * ONE)
    value, vjp_fn = vjp(mixed, X)
    assert value[2:] == ("text", None)
    same(vjp_fn((Y, None, None, None)), (2 * Y,))
