"""Helpers of more than one expression keep their name, in every transform."""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np
import pytest

from s2s_ad import grad, hessian, jacfwd, jacrev, jit, jvp, value_and_grad, vjp, vmap
from s2s_ad.check import central_differences
from transforms.differences import differences
from wrong import module_a, module_b

rng = np.random.default_rng(0)
h, x, other = rng.normal(size=(3, 3))
W, U = rng.normal(size=(2, 3, 3))


def cell(h, x, W, U):
    pre = W @ x + U @ h
    return np.tanh(pre)


def twice(h, x, W, U):
    h = cell(h, x, W, U)
    h = cell(h, x, W, U)
    err = h - x
    return err @ err


def moments(x, scale=2.0):
    """Mean and spread."""
    mean = np.mean(x)
    centred = x - mean
    return mean, np.sum(centred * centred) * scale


def mixed(x, y):
    mean_x, spread_x = moments(x)
    mean_y, spread_y = moments(y, scale=3.0)
    return spread_x * mean_y + spread_y * mean_x


def speaking(x):
    print("speaking")
    y = x * 2
    return y + 1


def spoken(x):
    return np.sum(speaking(x) ** 2)


def square(x):
    return x * x


def inlined(x):
    return np.sum(square(x))


def level_0(x):
    y = np.sin(x)
    return y + x


def level_1(x):
    a = level_0(x)
    return 0.5 * a + 0.1 * level_0(a)


def level_2(x):
    a = level_1(x)
    return 0.5 * a + 0.1 * level_1(a)


def level_3(x):
    a = level_2(x)
    return 0.5 * a + 0.1 * level_2(a)


def level_4(x):
    a = level_3(x)
    return 0.5 * a + 0.1 * level_3(a)


@dataclass
class Product:
    w: object

    def apply(self, x):
        return self.w * x


@dataclass
class Sum:
    w: object

    def apply(self, x):
        return self.w + x


def layered(x, layers):
    y = np.sin(x)
    return layers[0].apply(y) * len(layers[1])


def nested_containers(x):
    """The arguments differ in the kinds and lengths of containers in containers alone."""
    first = layered(x, (Product(x), (1, 2)))
    second = layered(x, (Sum(x), (1, 2)))
    third = layered(x, [Sum(x), [1]])
    return np.sum(first * second) + np.sum(third)


def gated(x):
    y = np.tanh(x)
    z = y * x

    def gate(t):
        return t * z

    return y, {"gate": gate, "also": lambda t: t + z}


def function_results(x):
    y, more = gated(x)
    return np.sum(more["gate"](y) * more["also"](x))


def unused_parts(x):
    a = np.sin(x)
    b = a * x
    return b, a, b * a


def underscore(x):
    _, a, c = unused_parts(x)
    b, _, c = unused_parts(a + c)
    _ = _ * b * c
    return np.sum(_) + np.sum(a * _)


def aliased_adjoint(x, y):
    """The adjoint of x is the transpose of another, which is read after it was updated."""
    first = np.sin(y)
    row = x[0] * 3.0
    z = x.T + 2 * y
    return np.sum(z * z * z) + np.sum(row * row) + np.sum(first)


def whole_power(x, n=3):
    scale = n**2
    y = x * scale
    return np.sum(y * y)


def power_of_known(x):
    return whole_power(x) + whole_power(x, 2)


def functions(text: str) -> list[str]:
    return re.findall(r"^def (\w+)", text, re.MULTILINE)


def numeric(f, arguments, position, step=1e-6):
    """Central differences with respect to one argument."""
    point = np.asarray(arguments[position])
    slopes = np.zeros(point.shape)
    for place in np.ndindex(point.shape):
        shift = np.zeros(point.shape)
        shift[place] = step
        ends = [
            f(*arguments[:position], point + sign * shift, *arguments[position + 1 :])
            for sign in (1, -1)
        ]
        slopes[place] = (ends[0] - ends[1]) / (2 * step)
    return slopes


CASES = [
    (twice, (h, x, W, U), (0, 1, 2, 3)),
    (mixed, (x, other), (0, 1)),
    (spoken, (x,), (0,)),
    (inlined, (x,), (0,)),
    (level_4, (0.3,), (0,)),
    (nested_containers, (x,), (0,)),
    (function_results, (x,), (0,)),
    (underscore, (x,), (0,)),
    (aliased_adjoint, (W, U), (0, 1)),
    (power_of_known, (x,), (0,)),
]


@pytest.mark.parametrize("f, arguments, positions", CASES)
def test_gradients_are_those_of_central_differences(f, arguments, positions):
    value, found = value_and_grad(f, positions)(*arguments)
    assert np.isclose(value, f(*arguments))
    parts = found if len(positions) > 1 else (found,)
    for position, part in zip(positions, parts, strict=True):
        np.testing.assert_allclose(part, numeric(f, arguments, position), rtol=1e-5, atol=1e-7)


@pytest.mark.parametrize("f, arguments, positions", CASES)
def test_forward_mode_agrees_with_reverse_mode(f, arguments, positions):
    directions = tuple(np.cos(each) for each in arguments)
    found = grad(f, positions)(*arguments)
    parts = found if len(positions) > 1 else (found,)
    expected = sum(np.sum(p * d) for p, d in zip(parts, directions, strict=True))
    assert np.isclose(jvp(f, arguments, directions)[1], expected)


@pytest.mark.parametrize("f, arguments, positions", CASES[:3])
def test_batches_are_loops_over_samples(f, arguments, positions):
    derived = grad(f, positions)
    batches = [np.stack([each, 0.5 * each, -each]) for each in arguments]
    axes = (0, *(None for _ in arguments[1:]))
    found = vmap(derived, in_axes=axes)(batches[0], *arguments[1:])
    for i in range(3):
        expected = derived(batches[0][i], *arguments[1:])
        pairs = zip(*map(as_tuple, (found, expected)), strict=True)
        for ours, theirs in pairs:
            np.testing.assert_allclose(ours[i], theirs, rtol=1e-10)


def as_tuple(value):
    return value if isinstance(value, tuple) else (value,)


def test_second_order():
    matrix = hessian(mixed)(x, other)
    rows = [
        (grad(mixed)(x + 1e-5 * unit, other) - grad(mixed)(x - 1e-5 * unit, other)) / 2e-5
        for unit in np.eye(3)
    ]
    np.testing.assert_allclose(matrix, rows, rtol=1e-6, atol=1e-8)


def test_a_helper_has_a_backward_of_its_own():
    assert functions(grad(twice).source(h, x, W, U)) == ["twice_grad", "cell", "cell_backward"]


def called_once(h, x, W, U):
    return np.sum(cell(cell_of_squares(h), x, W, U) ** 2)


def cell_of_squares(h):
    squares = h * h
    return squares + np.sin(squares)


def called_in_a_loop(h, x, W, U):
    for _ in range(3):
        h = cell(h, x, W, U)
    return np.sum(h * h)


def of_what_may_be_left_out(h, x, W, U):
    y = roots_of(h[0] ** 2)
    if h[1] > 0:
        y = h[1]
    return y * y


def roots_of(x):
    root = np.sqrt(x)
    return root * np.exp(root)


def of_two_kinds(h, x, W, U):
    return np.sum(normal(h, 0) ** 3) + np.sum(normal(W * h, 1) ** 3)


def normal(a, axis):
    e = np.exp(a - np.max(a, axis=axis, keepdims=True))
    return e / np.sum(e, axis=axis, keepdims=True)


@pytest.mark.parametrize(
    "f, kept",
    [
        (called_once, []),
        (of_two_kinds, []),
        (called_in_a_loop, ["cell"]),
        (twice, ["cell"]),
        (of_what_may_be_left_out, ["roots_of"]),
    ],
    ids=lambda each: getattr(each, "__name__", ""),
)
def test_a_short_helper_that_one_place_calls_is_written_there(f, kept):
    arguments = (h, x, W, U)
    text = grad(f).source(*arguments)
    helpers = [
        name for name in re.findall(r"(?m)^def (\w+)", text)[1:] if not name.endswith("_forward")
    ]
    assert {name.removesuffix("_backward") for name in helpers} == {*kept}, text
    np.testing.assert_allclose(
        grad(f)(*arguments), central_differences(f, arguments)[0], rtol=1e-6, atol=1e-9
    )


def test_a_helper_of_one_expression_is_written_in_place():
    assert functions(grad(inlined).source(x)) == ["inlined_grad"]


def test_other_constants_make_another_function():
    names = functions(jit(mixed).source(x, other))
    assert names == ["mixed", "moments", "moments_2"]


def test_effects_happen_once(capsys):
    value_and_grad(spoken)(x)
    assert capsys.readouterr().out == "speaking\n"
    jvp(spoken, (x,), (x,))
    assert capsys.readouterr().out == "speaking\n"


def ordered(x):
    pair = {"a": speaking(x), "b": speaking(x * 2)}
    print("between")
    return np.sum(pair["b"]) - np.sum(pair["a"] ** 2)


@pytest.mark.parametrize("make", [jit, grad, jacfwd, jacrev, hessian])
def test_effects_keep_their_order_and_happen_once(make, capsys):
    make(ordered)(x)
    assert capsys.readouterr().out == "speaking\nspeaking\nbetween\n"


@pytest.mark.parametrize("size", [0, 2])
def test_a_power_of_whole_numbers_has_a_batched_form(size):
    found = vmap(power_of_known)(np.stack([x, 2 * x])[:size])
    expected = [power_of_known(x), power_of_known(2 * x)][:size]
    np.testing.assert_allclose(found, expected)


def rounded(x):
    y = x * 2
    return y.astype(np.float32)


def rounded_sum(x):
    return np.sum(rounded(x) ** 2)


@pytest.mark.parametrize("make", [jacrev, hessian])
def test_the_adjoint_of_a_narrower_number(make):
    expected = 8 * x if make is jacrev else 8 * np.eye(3)
    np.testing.assert_allclose(make(rounded_sum)(x), expected, rtol=1e-6)


def test_globals_of_two_modules_may_have_the_same_name():
    def both(t):
        return module_a.twofold(t) * module_b.twofold(t)

    def naming_it(rate):
        return np.sum(both(rate))

    np.testing.assert_allclose(jit(both)(x), both(x))
    np.testing.assert_allclose(grad(naming_it)(rate=x), numeric(naming_it, (x,), 0), rtol=1e-6)


def test_text_is_linear_in_the_users_code():
    """Each level calls the one below twice: written in place it would double each time."""
    derived = [grad(each) for each in (level_2, level_3, level_4)]
    lengths = [len(each.source(0.3).splitlines()) for each in derived]
    assert lengths[2] - lengths[1] < 1.5 * (lengths[1] - lengths[0]) + 20


def test_captured_values_are_shared_by_all_functions():
    text = jit(reading).source(x)
    assert functions(text) == ["reading", "scaled"]
    np.testing.assert_allclose(jit(reading)(x), reading(x))
    np.testing.assert_allclose(grad(reading)(x), numeric(reading, (x,), 0), rtol=1e-6)


weights = np.array([1.0, 2.0, 3.0])


def scaled(x):
    y = x * weights
    return y * y


def reading(x):
    y = scaled(x) * weights
    return np.sum(y)


def powers(x, n):
    if n <= 0:
        return 1.0
    return 0.8 * x * powers(x, n - 1)


def bent(x):
    return x * x if x > 0 else np.exp(x)


def summed(x):
    total = 0.0
    while total < 3:
        total += x * x
    return total


@pytest.mark.parametrize("helper", [lambda x: powers(x, 2), bent, summed])
def test_an_equal_call_that_nothing_reads_takes_no_adjoint(helper):
    """Both are computed once; what the first one is given has no adjoint of its own."""

    def function(x):
        y = helper(np.sin(x))
        y = helper(np.sin(x))
        return y * x

    expected = central_differences(function, (0.7,))[0]
    np.testing.assert_allclose(grad(function)(0.7), expected, rtol=1e-6)
    np.testing.assert_allclose(jvp(function, 0.7, 1.0)[1], expected, rtol=1e-6)


def iterated(x, n):
    y = 1.5 * x
    for _ in range(n):
        y = np.sin(y) * x
    return y


def in_a_row(x):
    return np.sum(iterated(iterated(x, 3), 3) ** 2)


def for_each_row(x):
    total = 0.0
    for row in np.stack([x, x**2]):
        total = total + np.sum(iterated(row, 2))
    return total


@pytest.mark.parametrize("f", [in_a_row, for_each_row])
def test_lists_that_are_handed_over_are_popped_and_not_copied(f):
    x = np.array([0.4, -0.9, 1.3])
    text = grad(f).source(x)
    assert ".pop()" in text.split("def iterated_backward")[1]
    assert "[:]" not in text
    expected = differences(f, x)
    for _ in range(2):
        np.testing.assert_allclose(grad(f)(x), expected, rtol=1e-6, atol=1e-9)
    along = lambda x: np.sum(grad(f)(x) ** 2)
    np.testing.assert_allclose(grad(along)(x), differences(along, x), rtol=1e-5, atol=1e-8)
    rows = np.stack([x, 0.5 * x])
    np.testing.assert_allclose(vmap(grad(f))(rows), [grad(f)(each) for each in rows], rtol=1e-12)


def test_a_pullback_may_be_called_again():
    x = np.array([0.4, -0.9, 1.3])
    _, pullback = vjp(lambda x: iterated(x, 3), x)
    np.testing.assert_array_equal(pullback(np.ones(3)), pullback(np.ones(3)))
