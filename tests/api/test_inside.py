"""Transforms called inside functions that are compiled themselves."""

import numpy as np
import pytest

import s2s_ad
from api.decorated import slope
from api.oracles import gradient, hessian, jacobian
from s2s_ad import (
    S2SError,
    grad,
    jacfwd,
    jacrev,
    jit,
    jvp,
    linearize,
    value_and_grad,
    vjp,
    vmap,
)
from s2s_ad.core import tree

X, V = np.array([0.5, -1.5, 2.0]), np.array([1.0, 2.0, -0.5])
ROWS = np.array([[0.5, -1.0, 2.0], [1.5, 0.25, -0.5]])


def energy(x):
    return np.sum(np.sin(x) * x) + x[0] * x[1] * x[2]


def energy_slope(x):
    return np.cos(x) * x + np.sin(x) + np.array([x[1] * x[2], x[0] * x[2], x[0] * x[1]])


made_before = grad(energy)


def of_module_level(x):
    return np.sum(made_before(x) ** 2)


def of_decorated(x):
    return np.sum(slope(x) ** 3)


def made_inside(x):
    return np.sum(grad(energy)(x) ** 2)


def by_module(x):
    return np.sum(s2s_ad.grad(energy)(x) ** 2)


def of_lambda(x):
    return np.sum(grad(lambda y: np.sum(np.sin(y) * y * x))(x) ** 2)


def of_nested_function(x):
    scale = np.sum(x)

    def inner(y, k):
        return np.sum(y**3) * scale * k

    return np.sum(grad(inner)(x, 2.0))


def with_value(x):
    value, derivative = value_and_grad(energy)(x)
    return value + np.sum(derivative)


def of_vjp(x):
    value, pull = vjp(energy, x)
    (x_bar,) = pull(value)
    return np.sum(x_bar)


def of_vjp_of_two(x):
    (y, z), pull = vjp(lambda a, b: (a * b, np.sum(a)), x, 2.0 * x)
    a_bar, b_bar = pull(y, z)
    return np.sum(a_bar * b_bar)


def of_vjp_with_aux(x):
    value, pull, aux = vjp(lambda a: (np.sum(a * a), a + 1.0), x, has_aux=True)
    return np.sum(pull(1.0)[0] * aux) + value


def of_jvp(x):
    value, tangent = jvp(energy, (x,), (V,))
    return value * tangent


def of_jvp_of_lambda(x):
    return jvp(lambda y: np.sum(y * y * x), x, x)[1]


def of_vmap(x):
    return np.sum(vmap(lambda row: energy(row) * x[0])(ROWS) ** 2)


def of_vmap_of_grad(x):
    return np.sum(vmap(grad(lambda row: energy(row * x)))(ROWS) ** 2)


def of_jacobian(x):
    return np.sum(jacrev(lambda y: y * y * x)(x) ** 2)


def of_columns(x):
    return np.sum(jacfwd(lambda y: y * y * x)(x) ** 2)


def of_jit(x):
    return jit(energy)(x)


def of_grad_of_grad(x):
    return grad(grad(lambda y: y**4 * x[0]))(x[1])


def of_a_function_as_argument(x):
    return helper(energy, x)


def helper(function, x):
    return np.sum(grad(function)(x) * x)


FUNCTIONS = [each for name, each in list(globals().items()) if name.startswith(("of_", "made_in"))]
FUNCTIONS += [by_module, with_value]


def by_python(function, x):
    """The value by plain Python: transforms inside are then functions like any other."""
    return function(x)


@pytest.mark.thinned(4)
@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda each: each.__name__)
def test_values_and_derivatives_of_functions_with_transforms_inside(function):
    value = by_python(function, X)
    np.testing.assert_allclose(jit(function)(X), value)
    expected = gradient(lambda x: by_python(function, x), X)
    np.testing.assert_allclose(grad(function)(X), expected, rtol=1e-6, atol=1e-6)
    np.testing.assert_allclose(jacfwd(function)(X), expected, rtol=1e-6, atol=1e-6)
    batched = vmap(function)(np.stack([X, V]))
    np.testing.assert_allclose(batched, [value, by_python(function, V)])
    both = vmap(grad(function))(np.stack([X, V]))
    np.testing.assert_allclose(both[0], expected, rtol=1e-6, atol=1e-6)


def test_python_s_values_are_right():
    """What the test above compares with, against formulas and differences."""
    np.testing.assert_allclose(made_inside(X), np.sum(energy_slope(X) ** 2))
    np.testing.assert_allclose(of_module_level(X), np.sum(energy_slope(X) ** 2))
    np.testing.assert_allclose(of_decorated(X), np.sum((2 * X) ** 3))
    np.testing.assert_allclose(of_nested_function(X), np.sum(3 * X**2) * np.sum(X) * 2)
    np.testing.assert_allclose(of_vjp(X), energy(X) * np.sum(energy_slope(X)))
    np.testing.assert_allclose(of_jvp(X), energy(X) * np.sum(energy_slope(X) * V))
    np.testing.assert_allclose(of_jvp_of_lambda(X), np.sum(2 * X * X * X))
    np.testing.assert_allclose(of_jacobian(X), np.sum((2 * X * X) ** 2))
    np.testing.assert_allclose(of_grad_of_grad(X), 12 * X[1] ** 2 * X[0])
    np.testing.assert_allclose(
        of_vjp_of_two(X),
        np.sum(2 * X**2 * 2 * X + np.sum(X)) * 0
        + np.sum((2 * X**2 * 2 * X + np.sum(X)) * (2 * X**2 * X)),
    )
    np.testing.assert_allclose(of_vjp_with_aux(X), np.sum(2 * X * (X + 1)) + np.sum(X * X))
    expected = jacobian(energy, X) @ X
    np.testing.assert_allclose(of_a_function_as_argument(X), expected, rtol=1e-6)


def test_second_derivatives_through_a_transform_inside():
    found = jacfwd(grad(of_jvp))(X)
    np.testing.assert_allclose(found, hessian(of_jvp, X), rtol=1e-4, atol=1e-4)


def test_a_changed_global_under_a_transform_inside_is_followed(monkeypatch):
    derivative = jit(uses_rate_inside)
    for rate in (2.0, 3.0, 5.0):
        monkeypatch.setitem(globals(), "RATE", rate)
        np.testing.assert_allclose(derivative(X), 2 * rate * X)


RATE = 1.0


def uses_rate(x):
    return np.sum(x * x) * RATE


def uses_rate_inside(x):
    return grad(uses_rate)(x)


def refuses_weights(x):
    return grad(energy, 0, x)(x)


def out_of_range(x):
    return grad(energy, 3)(x)


def of_ints(x):
    return grad(lambda n: n * 2.0)(3) * x


def wrong_adjoints(x):
    return vjp(energy, x)[1](1.0, 2.0)[0]


def closure_as_argument(x):
    return grad(lambda f, y: f(y), 1)(lambda z: z * 2.0, x)


@pytest.mark.parametrize(
    "function, text, place",
    [
        (refuses_weights, "'weights'", "grad(energy, 0, x)"),
        (out_of_range, "grad_position = 3", "grad(energy, 3)"),
        (of_ints, "int 3; gradients", "grad(lambda n: n * 2.0)(3)"),
        (wrong_adjoints, "1 adjoint", "vjp(energy, x)[1](1.0, 2.0)"),
        (closure_as_argument, "passed to a transformed function", "lambda z: z * 2.0"),
    ],
)
def test_misuse_inside_is_refused_with_its_place(function, text, place):
    with pytest.raises(S2SError) as caught:
        jit(function)(X)
    assert text in str(caught.value)
    assert place in str(caught.value)


def three(x):
    return 3.0


def three_and_double(x):
    return (3, 3.0, None, 2.0 * x)


def by_names(x):
    return {"a": x, "b": [3.0 * x, x.shape[0]]}


@pytest.mark.parametrize(
    "function, adjoint, expected",
    [
        (three, 1.0, [0.0, 0.0, 0.0]),
        (three_and_double, (0, 1.0, None, V), 2 * V),
        (by_names, {"b": [V, 0], "a": 10 * V}, 13 * V),
        (by_names, {"a": V, "b": [10 * V, None]}, 31 * V),
    ],
)
def test_adjoints_are_given_in_the_structure_of_the_output_inside_as_outside(
    function, adjoint, expected
):
    np.testing.assert_allclose(vjp(function, X)[1](adjoint)[0], expected)
    np.testing.assert_allclose(jit(lambda x: vjp(function, x)[1](adjoint)[0])(X), expected)
    tangent = jvp(lambda x: vjp(function, x)[1](adjoint)[0], (X,), (V,))[1]
    np.testing.assert_allclose(tangent, np.zeros(3))


def test_tangents_of_a_dict_with_its_keys_in_another_order_are_refused_inside_as_outside():
    def product(p):
        return p["a"] * 2 + p["b"] * 3

    def linear(p, v):
        return linearize(product, (p,))[1](v)

    point, direction = {"a": 1.0, "b": 2.0}, {"b": 10.0, "a": 1.0}
    for function in (linear, jit(linear)):
        with pytest.raises(S2SError, match=r"keys \['b', 'a'\], input 0 .* \['a', 'b'\]"):
            function(point, direction)


class Setting:
    def __init__(self, scale):
        self.scale = scale


SETTING = Setting(3.0)


def scaled_by(x, setting):
    return x * setting.scale


def of_a_captured_object(x):
    return np.sum(vmap(scaled_by, (0, None))(x, SETTING))


def test_a_captured_object_is_passed_to_a_transformed_function():
    x = np.ones(2)
    assert grad(of_a_captured_object)(x).tolist() == [3.0, 3.0]
    SETTING.scale = 5.0
    assert grad(of_a_captured_object)(x).tolist() == [5.0, 5.0]


def of_numbers_that_grow(x):
    value, _ = value_and_grad(energy)(x)
    first = value
    value *= 2.0
    return first, value


def of_the_best(x):
    best = None
    for scale in (2.0, 3.0, 1.0):
        value, slope = value_and_grad(lambda y: energy(y) * scale)(x)
        if best is None or value > best:
            best = value
    return best, slope


def of_a_number_beside(x):
    return jvp(lambda y: (np.sum(y), np.float32(0.5)), x, x)


@pytest.mark.parametrize("function", [of_numbers_that_grow, of_the_best, of_a_number_beside])
def test_numbers_that_transforms_inside_give_are_numbers(function):
    """They are no arrays without axes, which `*=` would change under all their names."""
    for x in (X, X.astype(np.float32)):
        found, expected = (tree.leaves(tree.from_object(f(x), lambda leaf, _: leaf))
            for f in (jit(function, native=False), function))  # fmt: skip
        assert [type(each) for each in found] == [type(each) for each in expected]
        for mine, own in zip(found, expected, strict=True):
            np.testing.assert_allclose(mine, own, rtol=1e-6)
