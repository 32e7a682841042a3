"""Where the batch axis of each input and output is: in_axes and out_axes of vmap."""

import itertools
from collections import namedtuple
from dataclasses import dataclass

import numpy as np
import pytest

from s2s_ad import S2SError, grad, vmap

rng = np.random.default_rng(0)
A, B = rng.standard_normal((2, 3)), rng.standard_normal((2, 3))
Point = namedtuple("Point", "x y")


@dataclass
class Layer:
    w: np.ndarray
    b: np.ndarray


def outer_sum(x, y):
    return np.tanh(x)[:, None] + y[None, :] ** 2


@pytest.mark.parametrize("size", [0, 1, 3])
@pytest.mark.parametrize("in_axes", [*itertools.product([0, 1, -1, -2], [0, -1, None])], ids=str)
@pytest.mark.parametrize("out_axis", [0, 1, 2, -1, -3])
def test_every_place_of_the_batch_axis(size, in_axes, out_axis):
    samples_x, samples_y = rng.standard_normal((size, 4)), rng.standard_normal((size, 5))
    y = samples_y if in_axes[1] is not None else rng.standard_normal(5)
    expected = np.empty((size, 4, 5))
    for i in range(size):
        expected[i] = outer_sum(samples_x[i], y[i] if in_axes[1] is not None else y)
    args = np.moveaxis(samples_x, 0, in_axes[0]), y
    if in_axes[1] is not None:
        args = args[0], np.moveaxis(y, 0, in_axes[1])
    found = vmap(outer_sum, in_axes, out_axis)(*args)
    np.testing.assert_allclose(found, np.moveaxis(expected, 0, out_axis))


def affine(p, x):
    return p["w"] * x + p["b"]


def negated(x, mode):
    return -x if mode == "-" else x


ONE_FIVE = np.array([1.0, 5.0])
STACKED = {"w": A, "b": B}
SHARED = {"w": A, "b": B[0]}

NESTED = [  # function, in_axes, arguments, what each sample gives
    ("one axis for a dict", affine, 0, (STACKED, A), lambda i: A[i] * A[i] + B[i]),
    ("a list of axes", affine, [0, None], (STACKED, A[0]), lambda i: A[i] * A[0] + B[i]),
    (
        "a dict of axes",
        affine,
        ({"w": 0, "b": None}, 0),
        (SHARED, A),
        lambda i: A[i] * A[i] + B[0],
    ),
    (
        "keys in another order",
        affine,
        ({"b": None, "w": 0}, 0),
        (SHARED, A),
        lambda i: A[i] * A[i] + B[0],
    ),
    (
        "axes of a tuple",
        lambda t, z: t[0] * t[1] + z,
        ((0, 1), None),
        ((A, B.T), 2.0),
        lambda i: A[i] * B[i] + 2,
    ),
    (
        "a list for a tuple",
        lambda t: t[0] * t[1],
        ([0, None],),
        ((A, B[1]),),
        lambda i: A[i] * B[1],
    ),
    (
        "a namedtuple",
        lambda p: p.x * p.y,
        ((None, -1),),
        (Point(A[0], B.T),),
        lambda i: A[0] * B[i],
    ),
    ("a dataclass", lambda p: p.w * p.b, 0, (Layer(A, B),), lambda i: A[i] * B[i]),
    (
        "tuples in lists in dicts",
        lambda d: d["layers"][0][0] * d["layers"][1] + d["b"],
        ({"layers": [(0,), None], "b": 0},),
        ({"layers": [(A,), 3.0], "b": B},),
        lambda i: A[i] * 3 + B[i],
    ),
    (
        "None for text",
        lambda x, mode: -x if mode == "-" else x,
        (0, None),
        (A, "-"),
        lambda i: -A[i],
    ),
    ("by name", affine, {"x": 0}, ({"w": A[0], "b": 1.0}, B), lambda i: A[0] * B[i] + 1),
    (
        "by name, nested",
        affine,
        {"p": {"w": 0, "b": None}, "x": 0},
        (SHARED, A),
        lambda i: A[i] ** 2 + B[0],
    ),
    ("*args", lambda *xs: xs[0] * xs[1], 0, (A, B), lambda i: A[i] * B[i]),
    ("*args, one by one", lambda *xs: xs[0] * xs[1], (0, None), (A, B[0]), lambda i: A[i] * B[0]),
    ("*args by name", lambda x, *xs: x * xs[0], {"xs": (0,)}, (A[0], B), lambda i: A[0] * B[i]),
    ("a default that is kept", lambda x, k=2: x * k, 0, (A,), lambda i: 2 * A[i]),
    ("an axis for a default", lambda x, k=2: x * k, (0, 0), (A,), lambda i: 2 * A[i]),
    (
        "an array instead",
        lambda x, k=2: x * k,
        0,
        (A, np.array([1.0, 5.0])),
        lambda i: (1, 5)[i] * A[i],
    ),
]


@pytest.mark.parametrize(
    "function, in_axes, args, expected", [pytest.param(*each, id=name) for name, *each in NESTED]
)
def test_axes_follow_the_nesting_of_the_inputs(function, in_axes, args, expected):
    for _ in range(12):  # the fast path too
        found = vmap(function, in_axes)(*args)
    np.testing.assert_allclose(found, [expected(i) for i in range(2)])


def scaled(x, *, k=2.0, **others):
    return x * k + sum_of(others)


def sum_of(others):
    return others["a"] if "a" in others else 0.0


@pytest.mark.parametrize(
    "in_axes, kwargs, expected",
    [
        (0, {}, lambda i: 2 * A[i]),
        (0, {"k": np.array([1.0, 3.0])}, lambda i: (1, 3)[i] * A[i]),
        (0, {"k": B, "a": B}, lambda i: A[i] * B[i] + B[i]),
        ({"x": 0}, {"k": 3.0}, lambda i: 3 * A[i]),
        ({"x": 0, "k": 0}, {"k": B}, lambda i: A[i] * B[i]),
        ({"x": 0, "a": 0}, {"a": B}, lambda i: 2 * A[i] + B[i]),
        ((0,), {}, lambda i: 2 * A[i]),
    ],
)
def test_keyword_arguments(in_axes, kwargs, expected):
    found = vmap(scaled, in_axes)(A, **kwargs)
    np.testing.assert_allclose(found, [expected(i) for i in range(2)])


def test_a_keyword_argument_without_an_entry_is_refused():
    with pytest.raises(ValueError, match=r"no entry for input 1 \(k\)|1 entry"):
        vmap(scaled, (0,))(A, k=B)
    with pytest.raises(ValueError, match=r"no entry for input others\['a'\]|others"):
        vmap(scaled, (0,))(A, a=B)


def three(x):
    return {"twice": 2 * x, "pair": (x, [x + 1.0, 5.0])}


def test_out_axes_follow_the_nesting_of_the_outputs():
    found = vmap(three, 0, {"twice": 1, "pair": (-1, [0, None])})(A)
    np.testing.assert_allclose(found["twice"], 2 * A.T)
    np.testing.assert_allclose(found["pair"][0], A.T)
    np.testing.assert_allclose(found["pair"][1][0], A + 1)
    assert found["pair"][1][1] == 5.0


def test_outputs_that_no_sample_changes_are_repeated_or_left_alone():
    def outputs(x):
        return x, 2.0, np.arange(2.0), None, True

    x, two, positions, nothing, flag = vmap(outputs)(A)
    np.testing.assert_array_equal(x, A)
    np.testing.assert_array_equal(two, [2.0, 2.0])
    np.testing.assert_array_equal(positions, [[0, 1], [0, 1]])
    np.testing.assert_array_equal(flag, [True, True])
    assert nothing is None
    x, two, positions, nothing, flag = vmap(outputs, 0, (0, None, None, None, None))(A)
    assert (two, nothing, flag) == (2.0, None, True)
    np.testing.assert_array_equal(positions, [0, 1])


def test_a_text_may_be_an_output_without_an_axis():
    assert vmap(lambda x: (x, "tag"), 0, (0, None))(A)[1] == "tag"


def test_inner_batches_are_checked_as_well():
    nested = grad(lambda x, y: np.sum(vmap(np_multiply)(x, y)))
    np.testing.assert_allclose(nested(A, B), B)
    with pytest.raises(ValueError, match="different sizes"):
        grad(vmap(np_multiply))(A, B[:1])
    with pytest.raises(ValueError, match="different sizes"):
        vmap(vmap(np_multiply))(np.ones((2, 3)), np.ones((2, 1)))


def np_multiply(x, y):
    return x * y


def test_an_output_that_cannot_be_stacked_is_refused_with_its_place():
    def tagged(x):
        return x, "tag"

    with pytest.raises(S2SError, match=r"the output of tagged\[1\] is str 'tag'") as caught:
        vmap(tagged)(np.ones(3))
    assert "def tagged" in caught.value.origin.text
