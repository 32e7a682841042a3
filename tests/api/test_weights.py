"""Gradients with respect to the Parameters that a function reads.

Expected values are central differences of the plain function, for which the Parameter is changed in
place, or the closed form.
"""

import copy
import functools
import pickle

import numpy as np
import pytest

from s2s_ad import (
    Parameter,
    ParameterTuple,
    S2SError,
    Tensor,
    checkpoint,
    custom_rule,
    grad,
    hessian,
    insert_grad_of,
    jacfwd,
    jacrev,
    jit,
    jvp,
    stop_gradient,
    value_and_grad,
    vjp,
    vmap,
)

P = Parameter(np.array([2.0, 3.0]), name="p")
Q = Parameter(np.array([5.0]), name="q")
HELD = {"layers": [P, 3.0]}
X = np.array([1.0, -2.0])


class Layer:
    """A Cell as far as the transforms know one: called, it runs construct."""

    scale = P

    def __init__(self, weight):
        self.weight = weight

    def __call__(self, x):
        return self.construct(x)

    def construct(self, x):
        scaled = np.sin(x) * self.weight
        return scaled + x

    def with_the_class(self, x):
        return x * self.scale**2


class Net:
    """The same Parameter by three ways."""

    def __init__(self, weight):
        self.fc, self.same, self.all = Layer(weight), weight, [weight]

    def __call__(self, x):
        return self.fc(self.fc(x)) * self.same + self.all[0] ** 2


def called(function):
    return getattr(function, "__name__", type(function).__name__)


def differences(function, parameter, *args, step=1e-5):
    """The slope of the sum of the function's elements along each element of a Parameter."""
    slopes = np.empty(parameter.shape)
    for i in np.ndindex(parameter.shape):
        middle, ends = float(parameter[i]), []
        for each in (middle + step, middle - step):
            parameter[i] = each
            ends.append(np.sum(np.asarray(function(*args))))
        parameter[i] = middle
        slopes[i] = (ends[0] - ends[1]) / (2 * step)
    return slopes


# ---- where a Parameter may stand, and what may be done with it -----------------------------------


def of_a_global(x):
    return x * P**2


def of_a_cell(p=P):
    def function(x):
        return x * p**2

    return function


def of_a_default(x, w=P):
    return x * w**2


def of_a_container(x):
    return x * HELD["layers"][0] ** 2 * HELD["layers"][1]


def scaled(x, w):
    return x * w**2


def three_passes(x):
    for _ in range(3):
        x = np.sin(x * P)
    return x


def passes_until(x):
    count = 0
    while count < 3:
        x, count = x * P, count + 1
    return x


def in_segments(x):
    for _ in checkpoint(range(6), every=2):
        x = np.sin(x * P)
    return x


def on_one_side(x):
    if x[0] > 0:
        x = x * P
    return x * x


def in_a_try(x):
    try:
        x = x * P
    except ValueError:
        x = x + 1
    return x * x


def in_a_comprehension(x):
    return sum([x * P**i for i in range(3)])


def in_a_list(x):
    powers = []
    for i in range(3):
        powers.append(x * P**i)
    return sum(powers)


def recursive(x, n=3):
    if n == 0:
        return x * P
    return recursive(x, n - 1) * P


def helper(x):
    y = np.sin(x) * P
    return x + y


def by_helpers(x):
    return helper(x) + helper(2 * x)


def helper_given_what_it_reads(x):
    return helper(P) + helper(x)


@checkpoint
def block(x):
    return np.sin(x * P)


def by_a_checkpoint(x):
    return block(x) ** 2


def by_elements(x):
    return P[0] * x * P[1] + P.shape[0] * P.sum()


def by_a_local_function(x):
    k = x.sum()

    def local(t):
        return k * t * P**2

    return local(x)


def clipped(x):
    y = x * P
    with insert_grad_of(y) as y_bar:
        y_bar = 1.0 * y_bar
    return y


def batched_inside(x):
    return vmap(lambda t: t * P.sum())(x)


def slope_inside(x):
    return grad(lambda t: np.sum(t**3 * P**2))(x)


def slope_of_the_parameter_inside(x):
    return grad(lambda t: np.sum(t * P**3), None, P)(x)


def slope_and_itself(x):
    return np.sum(grad(lambda t: np.sum(t**3 * P))(x) * P**2)


def tangent_inside(x):
    return jvp(lambda t: t**3 * P, x, 2 * x)[1]


def adjoint_inside(x):
    return vjp(lambda t: t**3 * P, x)[1](x)[0]


def adjoint_of_the_parameter_inside(x):
    return vjp(lambda t: t * P**3, x, weights=[P])[1](x)[1][0]


PLACES = [
    of_a_global,
    of_a_cell(),
    of_a_default,
    of_a_container,
    functools.partial(scaled, w=P),
    functools.partial(lambda w, x: x * w**2, P),
    Layer(P),
    Layer(P).with_the_class,
    Net(P),
    jit(of_a_global),
]
WAYS = [
    three_passes,
    passes_until,
    in_segments,
    on_one_side,
    in_a_try,
    in_a_comprehension,
    in_a_list,
    recursive,
    by_helpers,
    helper_given_what_it_reads,
    by_a_checkpoint,
    by_elements,
    by_a_local_function,
    clipped,
]
INSIDE = [
    batched_inside,
    slope_inside,
    slope_of_the_parameter_inside,
    slope_and_itself,
    tangent_inside,
    adjoint_inside,
    adjoint_of_the_parameter_inside,
]


@pytest.mark.parametrize("function", [*PLACES, *WAYS, *INSIDE], ids=called)
def test_the_gradient_of_a_parameter_is_the_slope_along_it(function):
    expected = differences(function, P, X)
    np.testing.assert_allclose(grad(function, None, P)(X), expected, rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("function", [*WAYS, *INSIDE], ids=called)
def test_inside_a_compiled_function_it_is_the_same(function):
    @jit
    def step(x):
        return grad(function, None, [P, Q])(x)

    slope, other = step(X)
    expected = differences(function, P, X)
    np.testing.assert_allclose(slope, expected, rtol=1e-6, atol=1e-8)
    assert other.tolist() == [0.0]


@pytest.mark.parametrize("function", [Net(P), three_passes, by_helpers, slope_inside], ids=called)
def test_the_second_derivative_is_the_slope_of_the_first(function):
    first = grad(function, None, P)
    second = grad(lambda x: first(x) @ np.array([1.0, -3.0]), None, P)
    expected = differences(lambda x: first(x) @ np.array([1.0, -3.0]), P, X)
    np.testing.assert_allclose(second(X), expected, rtol=1e-6, atol=1e-7)


def test_the_gradient_of_the_gradient():
    twice = grad(grad(of_a_global, None, P), None, P)
    np.testing.assert_allclose(twice(X), 2 * X)


def test_a_parameter_that_is_an_argument_too_has_two_parts():
    both = grad(lambda x, w: x * w * P**2, (1,), P)(X, P)
    np.testing.assert_allclose(both[0], X * P**2)
    np.testing.assert_allclose(both[1], 2 * X * P**2)


def test_what_stands_behind_stop_gradient_has_no_part():
    np.testing.assert_allclose(grad(lambda x: stop_gradient(P) * x * P, None, P)(X), P * X)


def test_a_rule_of_the_users_says_nothing_of_what_the_function_reads_around_it():
    @custom_rule(reverse=lambda y_bar, y, x: y_bar * P)
    def times(x):
        return x * P

    with pytest.raises(S2SError, match="reads from around it"):
        grad(lambda x: times(x), None, P)(X)


# ---- batches -------------------------------------------------------------------------------------


@pytest.mark.parametrize("function", [Net(P), three_passes, by_helpers, slope_inside], ids=called)
def test_a_batch_has_a_gradient_for_each_sample(function):
    batch = np.array([[1.0, -2.0], [0.5, 4.0], [3.0, 0.1]])
    slope, other = vmap(grad(function, None, [P, Q]))(batch)
    expected = [grad(function, None, P)(x) for x in batch]
    np.testing.assert_allclose(slope, expected, rtol=1e-12)
    np.testing.assert_array_equal(other, np.zeros((3, 1)))


# ---- the nesting of the result -------------------------------------------------------------------


def product(x, y):
    return np.sum(x * y * P) * Q[0]


Y = np.array([0.5, 4.0])
OF_X, OF_Y, OF_P, OF_Q = Y * P * 5, X * P * 5, X * Y * 5, np.array([np.sum(X * Y * P)])


@pytest.mark.parametrize(
    "position, weights, expected",
    [
        (None, P, OF_P),
        (None, [P], (OF_P,)),
        (None, (P,), (OF_P,)),
        (None, ParameterTuple([P]), (OF_P,)),
        (None, iter([Q, P]), (OF_Q, OF_P)),
        (None, {"p": P}.values(), (OF_P,)),
        (None, [P, P], (OF_P, OF_P)),
        (None, [], ()),
        (0, P, (OF_X, OF_P)),
        (0, [P], (OF_X, (OF_P,))),
        ((1,), [P], (OF_Y, (OF_P,))),
        ((1, 0), [P, Q], ((OF_Y, OF_X), (OF_P, OF_Q))),
        ((0, 1), [], ((OF_X, OF_Y), ())),
    ],
)
def test_positions_and_weights_nest_as_they_are_given(position, weights, expected):
    found = value_and_grad(product, position, weights)(X, Y)
    assert_alike(found, (np.sum(X * Y * P) * 5, expected))


def assert_alike(found, expected):
    if isinstance(expected, tuple):
        assert type(found) is tuple
        for each in zip(found, expected, strict=True):
            assert_alike(*each)
    elif isinstance(expected, str | int):
        assert found == expected
    else:
        np.testing.assert_allclose(found, expected)


def test_ids_are_indices_and_names():
    found = grad(product, (1, 0), [P, Q], return_ids=True)(X, Y)
    assert_alike(found, (((1, OF_Y), (0, OF_X)), (("p", OF_P), ("q", OF_Q))))
    assert_alike(grad(product, 0, P, return_ids=True)(X, Y), ((0, OF_X), ("p", OF_P)))


@pytest.mark.parametrize("weights, of_weights", [(P, OF_P), ([P, Q], (OF_P, OF_Q))])
def test_vjp_gives_the_inputs_and_the_weights(weights, of_weights):
    value, pullback = vjp(product, X, Y, weights=weights)
    assert_alike((value, pullback(1.0)), (product(X, Y), ((OF_X, OF_Y), of_weights)))


# ---- what changes from call to call --------------------------------------------------------------


def test_a_new_value_is_read_at_each_call():
    w = Parameter(np.array([1.0, 1.0]), name="w")
    slope = grad(lambda x: x * w**2, None, w)
    for value in ([1.0, 2.0], [3.0, 4.0]):
        w.set_data(Tensor(np.array(value)))
        np.testing.assert_allclose(slope(X), 2 * X * value)


def test_another_parameter_at_the_same_place_is_another_parameter():
    first, second = (Parameter(np.array([k, k]), name="w") for k in (1.0, 2.0))
    layer = Layer(first)
    slope = grad(layer, None, [first, second])
    for _ in range(3):  # by the tables, and by the fast path
        np.testing.assert_allclose(slope(X), (np.sin(X), np.zeros(2)))
    layer.weight = second
    np.testing.assert_allclose(slope(X), (np.zeros(2), np.sin(X)))
    layer.weight = first
    np.testing.assert_allclose(slope(X), (np.sin(X), np.zeros(2)))


def test_one_of_two_places_gets_another_parameter():
    first, second = (Parameter(np.array([k, k]), name="w") for k in (2.0, 5.0))
    net = Net(first)
    slope = grad(net, None, first)
    slope(X)
    net.same = second
    np.testing.assert_allclose(slope(X), differences(net, first, X), rtol=1e-6)


def test_the_backward_pass_of_vjp_keeps_the_values_of_the_forward_pass():
    w = Parameter(np.array([2.0, 3.0]), name="w")
    _, pullback = vjp(lambda x: x * w**3, X, weights=w)
    w.set_data(Tensor(np.zeros(2)))
    of_x, of_w = pullback(np.ones(2))
    np.testing.assert_allclose(of_x[0], [8.0, 27.0])
    np.testing.assert_allclose(of_w, 3 * X * [4.0, 9.0])


@pytest.mark.parametrize("dtype", ["float32", "float64", "complex128"])
def test_a_parameter_that_is_not_read_has_zeros_in_its_shape_and_dtype(dtype):
    w = Parameter(np.ones((2, 3), dtype), name="w")
    (found,) = grad(of_a_global, None, [w])(X)
    np.testing.assert_array_equal(found, np.zeros((2, 3), dtype), strict=True)


@pytest.mark.parametrize("function", [of_a_global, lambda x: x**2], ids=called)
def test_the_gradient_is_a_tensor_and_no_parameter(function):
    (found,) = grad(function, None, [P])(X)
    assert type(found) is Tensor


@pytest.mark.parametrize(
    "function",
    [vmap(Net(P)), jit(Net(P)), jacrev(Net(P)), jacfwd(Net(P)), hessian(Net(P))],
    ids=["vmap", "jit", "jacrev", "jacfwd", "hessian"],
)
def test_what_a_transform_made_has_gradients_of_its_parameters(function):
    arguments = np.array([X, 2 * X])
    expected = differences(function, P, arguments)
    np.testing.assert_allclose(grad(function, None, P)(arguments), expected, rtol=1e-6, atol=1e-7)


# ---- sens_param ----------------------------------------------------------------------------------


def with_a_default(x, k=3.0):
    return k * x**2


def with_more(x, *more):
    return x**2 * sum(more)


def named(x, *, k):
    return k * x**2


C = np.array([1.0, 10.0])


@pytest.mark.parametrize(
    "function, args, kwargs, expected",
    [
        (lambda x: x**2, (X, C), {}, 2 * X * C),
        (lambda x: x**2, (X,), {"sens": C}, 2 * X * C),
        (with_a_default, (X, C), {}, 6 * X * C),
        (with_a_default, (X, 5.0, C), {}, 10 * X * C),
        (with_a_default, (X, C), {"k": 2.0}, 4 * X * C),
        (with_more, (X, 1.0, 2.0, C), {}, 6 * X * C),
        (named, (X, C), {"k": 2.0}, 4 * X * C),
        (lambda x: (x**2, np.sum(x)), (X, (C, 7.0)), {}, 2 * X * C + 7),
        (lambda x: {"a": x**2, "n": 3}, (X, {"a": C, "n": 0}), {}, 2 * X * C),
        (lambda x, sens: sens * x**2, (X, 2.0, C), {}, 4 * X * C),
        (lambda x: np.sum(x**2), (X, 3.0), {}, 6 * X),
    ],
)
def test_the_last_argument_is_the_gradient_of_the_output(function, args, kwargs, expected):
    slope = grad(function, sens_param=True)
    for _ in range(3):
        np.testing.assert_allclose(slope(*args, **kwargs), expected)


def test_the_gradient_of_the_output_is_an_input_like_any_other():
    slope = grad(lambda x: x**3, sens_param=True)
    np.testing.assert_allclose(grad(slope, (0, 1))(X, C), (6 * X * C, 3 * X**2))
    batch = np.array([X, 2 * X])
    np.testing.assert_allclose(vmap(slope)(batch, batch), 3 * batch**3)
    np.testing.assert_allclose(jit(lambda x: slope(x, x))(X), 3 * X**3)
    np.testing.assert_allclose(jit(grad(with_a_default, sens_param=True))(X, C), 6 * X * C)
    of_slope = grad(slope, sens_param=True)
    np.testing.assert_allclose(of_slope(X, C, Y), 6 * X * C * Y)


def test_in_a_batch_each_sample_has_its_gradient_of_the_output_and_lengths_are_checked():
    slope = vmap(grad(lambda x: np.sum(x) * x, sens_param=True), in_axes=(None, 0))
    with pytest.raises(ValueError, match=r"sens has shape \(3,\), the output of .* shape \(2,\)"):
        slope(X, np.ones((4, 3)))


def test_a_pickle_would_not_know_its_parameters():
    with pytest.raises(TypeError, match="identity"):
        pickle.dumps(grad(of_a_global, None, P))


class Scaled:
    """Reads a Parameter of its own."""

    def __init__(self, value):
        self.w = Parameter(np.array(value))
        self.slope = grad(self.loss, None, self.w)

    def loss(self, x):
        return np.sum(x * self.w**2)


def test_a_deep_copy_has_the_parameters_of_what_was_copied_with_it():
    scaled = Scaled([1.0, 2.0])
    twin = copy.deepcopy(scaled)
    twin.w.set_data(Tensor([5.0, 7.0]))
    x = np.array([1.0, 10.0])
    np.testing.assert_array_equal(scaled.slope(x), [2.0, 40.0])
    np.testing.assert_array_equal(twin.slope(x), [10.0, 140.0])


def test_a_deep_copy_shares_the_function_and_its_parameters():
    slope = grad(of_a_global, None, P)
    twin = copy.deepcopy(slope)
    assert twin is not slope
    np.testing.assert_array_equal(twin(X), slope(X))


@pytest.mark.parametrize(
    "made",
    [
        lambda p: [grad(Scaled([1.0, 2.0]).loss, None, p)],
        lambda p: [p, grad(functools.partial(Scaled.loss, Scaled([1.0, 2.0])), None, p)],
    ],
    ids=["not held by the object", "of a partial"],
)
def test_a_deep_copy_that_would_not_know_its_parameters_is_refused(made):
    with pytest.raises(TypeError, match="identity"):
        copy.deepcopy(made(Scaled([1.0, 2.0]).w))


# ---- inside compiled functions that change Parameters --------------------------------------------


def doubled_first(x):
    W.set_data(2 * W)
    return grad(lambda t: np.sum(t * W**2), None, W)(x), W.sum()


def doubled_by_the_function(x):
    def loss(t):
        W.set_data(2 * W)
        return np.sum(t * W**2)

    return grad(loss, None, W)(x), W.sum()


W = Parameter(np.array([2.0, 3.0]), name="w")


@pytest.mark.parametrize(
    "function, expected",
    [
        (doubled_first, 2 * X * np.array([4.0, 6.0])),
        (doubled_by_the_function, 8 * X * np.array([2.0, 3.0])),
    ],
)
def test_what_a_parameter_holds_when_the_gradient_is_taken_counts(function, expected):
    W.set_data(np.array([2.0, 3.0]))
    slope, total = jit(function)(X)
    np.testing.assert_allclose(slope, expected)
    assert float(total) == 10.0
    np.testing.assert_array_equal(W, [4.0, 6.0])
