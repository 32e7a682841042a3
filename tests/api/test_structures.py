"""Gradients have the structure of their inputs, and no call touches what belongs to the user."""

import copy
import pickle
from collections import namedtuple
from dataclasses import dataclass, field

import numpy as np
import pytest

from api.oracles import gradient
from s2s_ad import (
    grad,
    hessian,
    jacfwd,
    jacrev,
    jit,
    jvp,
    linearize,
    value_and_grad,
    vjp,
    vmap,
)

X = np.array([0.5, -1.5, 2.0])
W = np.array([[1.0, 2.0, -1.0], [0.5, 0.0, 3.0]])

Affine = namedtuple("Affine", "w b")


@dataclass
class Layer:
    w: np.ndarray
    b: np.ndarray


@dataclass(frozen=True)
class Model:
    layer: Layer
    scale: float
    name: str = field(default="model")


def of_leaves(w, b):
    return np.sum(np.tanh(W @ X * w + b) ** 2) + np.sum(w * b)


LEAF, OTHER = np.array([1.0, -0.5]), np.array([0.25, 2.0])

STRUCTURES = [  # a container of LEAF and OTHER, and how the function reads them
    ("tuple", (LEAF, OTHER), lambda p: of_leaves(p[0], p[1])),
    ("list", [LEAF, OTHER], lambda p: of_leaves(p[0], p[1])),
    ("dict", {"w": LEAF, "b": OTHER}, lambda p: of_leaves(p["w"], p["b"])),
    ("dict with other keys", {1: LEAF, (2, "b"): OTHER}, lambda p: of_leaves(p[1], p[(2, "b")])),
    ("namedtuple", Affine(LEAF, OTHER), lambda p: of_leaves(p.w, p.b)),
    ("dataclass", Layer(LEAF, OTHER), lambda p: of_leaves(p.w, p.b)),
    (
        "nested",
        {"a": [LEAF], "b": (Affine(OTHER, ()),)},
        lambda p: of_leaves(p["a"][0], p["b"][0].w),
    ),
    ("unpacked", (LEAF, [OTHER]), lambda p: _unpacked(p)),
    ("list of layers", [Layer(LEAF, OTHER)], lambda p: of_leaves(p[0].w, p[0].b)),
]


def _unpacked(p):
    w, (b,) = p
    return of_leaves(w, b)


def leaves_of(value):
    if isinstance(value, dict):
        return [leaf for item in value.values() for leaf in leaves_of(item)]
    if isinstance(value, tuple | list):
        return [leaf for item in value for leaf in leaves_of(item)]
    return leaves_of(list(vars(value).values())) if hasattr(value, "__dict__") else [value]


def structure_of(value):
    if isinstance(value, dict):
        return {key: structure_of(item) for key, item in value.items()}
    if isinstance(value, tuple | list):
        return type(value).__name__, [structure_of(item) for item in value]
    if hasattr(value, "__dict__"):
        return type(value).__name__, structure_of(vars(value))
    return np.shape(value)


GRADIENT_W = gradient(lambda w: of_leaves(w, OTHER), LEAF)
GRADIENT_B = gradient(lambda b: of_leaves(LEAF, b), OTHER)


@pytest.mark.parametrize(
    "argument, function", [pytest.param(*each, id=name) for name, *each in STRUCTURES]
)
def test_a_gradient_has_the_structure_of_its_input(argument, function):
    found = grad(function)(argument)
    assert structure_of(found) == structure_of(argument)
    for one, other in zip(leaves_of(found), (GRADIENT_W, GRADIENT_B), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize(
    "argument, function", [pytest.param(*each, id=name) for name, *each in STRUCTURES]
)
def test_every_transform_takes_structures(argument, function):
    value, (found,) = (lambda y, pull: (y, pull(1.0)))(*vjp(function, argument))
    np.testing.assert_allclose(value, function(argument))
    jacobian, tangent = jacfwd(function)(argument), jvp(function, (argument,), (argument,))[1]
    expected = np.sum(GRADIENT_W * LEAF) + np.sum(GRADIENT_B * OTHER)
    np.testing.assert_allclose(tangent, expected, rtol=1e-6)
    for each in (found, jacobian, jacrev(function)(argument)):
        assert structure_of(each) == structure_of(argument)
        np.testing.assert_allclose(leaves_of(each)[0], GRADIENT_W, rtol=1e-6, atol=1e-8)


# ---- leaves that are no floats -------------------------------------------------------------------


@dataclass
class Mixed:
    w: np.ndarray
    times: int
    name: str
    signed: bool
    bounds: tuple
    kernel: object
    rest: object = None


def mixed(p, x):
    y = p.w * x * p.bounds[0]
    for _ in range(p.times):
        y = y * 2.0
    y = -y if p.signed else y
    y = y**2 if p.name == "square" else y
    return np.sum(p.kernel(y)) if p.rest is None else 0.0


MIXED = [Mixed(LEAF, 2, name, name == "square", (3.0, None), np.sin) for name in ("square", "id")]
NOTHING = (None, None, None, None, None)
AT = np.array([2.0, 0.5])


def slopes(p, x):
    """The derivatives of `mixed` with respect to w and bounds[0], and the second one by w."""
    factor = 4.0 * p.bounds[0] * (-1 if p.signed else 1) * x
    y = factor * p.w
    outer, second = np.cos(y), -np.sin(y)
    if p.name == "square":
        outer, second = np.cos(y**2) * 2 * y, -np.sin(y**2) * 4 * y**2 + 2 * np.cos(y**2)
    return outer * factor, np.sum(outer * y) / p.bounds[0], np.diag(second * factor**2)


def others(found):
    return found.times, found.name, found.signed, found.kernel, found.rest


@pytest.mark.parametrize("p", MIXED, ids=lambda p: p.name)
def test_leaves_that_are_no_floats_have_no_gradient(p):
    of_w, of_bound, second = slopes(p, AT)
    pulled = vjp(mixed, p, AT)[1](1.0)[0]
    made = [grad(mixed)(p, AT), value_and_grad(mixed, (0, 1))(p, AT)[1][0], pulled]
    made += [jacrev(mixed)(p, AT), jacfwd(mixed)(p, AT), jit(grad(mixed))(p, AT)]
    made += [grad(lambda p, x: 0.5 * value_and_grad(mixed)(p, x)[0] * 2)(p, AT)]
    for found in made:
        np.testing.assert_allclose(found.w, of_w, rtol=1e-12)
        np.testing.assert_allclose(found.bounds[0], of_bound, rtol=1e-12)
        assert (*others(found), found.bounds[1]) == (*NOTHING, None)
    for found in (hessian(mixed)(p, AT), jacrev(grad(mixed))(p, AT)):
        np.testing.assert_allclose(found.w.w, second, rtol=1e-12, atol=1e-12)
        assert others(found.w) == NOTHING
        assert [leaf for each in others(found) for leaf in others(each)] == [None] * 25
    batch = vmap(grad(mixed), (None, 0))(p, np.stack([AT, 2 * AT]))
    np.testing.assert_allclose(batch.w, [of_w, slopes(p, 2 * AT)[0]], rtol=1e-12)
    assert others(batch) == NOTHING
    stacked = Mixed(np.stack([LEAF, -LEAF]), *(vars(p)[each] for each in list(vars(p))[1:]))
    stacked.bounds = (np.array([3.0, 3.0]), None)
    other = Mixed(-LEAF, *(vars(p)[each] for each in list(vars(p))[1:]))
    found = vmap(grad(mixed), (0, None))(stacked, AT)
    np.testing.assert_allclose(found.w, [of_w, slopes(other, AT)[0]], rtol=1e-12)


@pytest.mark.parametrize("p", MIXED, ids=lambda p: p.name)
def test_tangents_of_leaves_that_are_no_floats(p):
    of_w, of_bound, _ = slopes(p, AT)
    v = Mixed(OTHER, None, None, None, (2.0, None), None)
    expected = of_w @ OTHER + 2 * of_bound
    np.testing.assert_allclose(jvp(lambda p: mixed(p, AT), p, v)[1], expected)
    np.testing.assert_allclose(linearize(lambda p: mixed(p, AT), p)[1](v), expected)
    with pytest.raises(TypeError, match=r"v\[0\]\.times is a Python int, and .* has no tangent"):
        jvp(lambda p: mixed(p, AT), p, p)


@pytest.mark.parametrize(
    "argument, expected",
    [
        ({"w": 2.0, "n": 3}, {"w": 4.0 * 3, "n": None}),
        ((2.0, 3), (12.0, None)),
        (Affine(2.0, 3), Affine(12.0, None)),
        ([2.0, True], [4.0, None]),
        ({"w": (2.0, "n"), "n": 3}, None),
    ],
    ids=str,
)
def test_counts_and_texts_in_containers(argument, expected):
    def f(p):
        w, n = p.values() if isinstance(p, dict) else p
        return w**2 * n if not isinstance(w, tuple) else w[0] ** 2 * n

    found = grad(f)(argument)
    assert found == ({"w": (12.0, None), "n": None} if expected is None else expected)


def test_what_counts_by_value_may_change():
    derivative = grad(mixed)
    for _ in range(2):
        for p in MIXED:
            for times in (1, 3, 2):
                now = Mixed(LEAF / 2.0**times * 4, times, *(vars(p)[k] for k in list(vars(p))[2:]))
                expected = slopes(p, AT)[0] * 2.0**times / 4
                np.testing.assert_allclose(derivative(now, AT).w, expected, rtol=1e-12)


def test_a_container_without_floats_is_refused_by_path():
    model = Model(Layer(LEAF, OTHER), 2.0)
    with pytest.raises(TypeError, match=r"p\['name'\]|p\[\"name\"\]\) is str 'model'"):
        grad(lambda p: 1.0)({"name": "model", "n": 2})
    assert grad(lambda m: np.sum(m.layer.w) * m.scale)(model).name is None
    found = grad(lambda layer, model: np.sum(layer.w * model.layer.b) * model.scale)(
        model.layer, model
    )
    np.testing.assert_allclose(found.w, 2 * OTHER)
    np.testing.assert_allclose(found.b, 0 * OTHER)


def test_gradients_of_empty_containers_and_arrays():
    assert grad(lambda p, x: np.sum(x))({}, X) == {}
    assert grad(lambda p, x: np.sum(x))((), X) == ()
    assert grad(lambda x: np.sum(x * x))(np.zeros((0, 3))).shape == (0, 3)


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_dtypes_are_kept(dtype):
    x, w = X.astype(dtype), W.astype(dtype)

    def loss(w, x):
        return np.sum(np.tanh(w @ x) ** 2)

    value, (w_bar, x_bar) = value_and_grad(loss, (0, 1))(w, x)
    assert value.dtype == w_bar.dtype == x_bar.dtype == dtype
    assert hessian(loss, 1)(w, x).dtype == dtype
    assert jvp(loss, (w, x), (w, x))[1].dtype == dtype
    assert vmap(grad(loss), in_axes=(0, None))(np.stack([w, w]), x).dtype == dtype


# ---- what belongs to the user --------------------------------------------------------------------

GLOBAL = {"w": np.array([1.0, 2.0, 3.0]), "list": [np.array([4.0])]}


def reads_everything(x, extra):
    y = x + 0.0
    y += GLOBAL["w"]
    z = extra["a"] * GLOBAL["list"][0]
    return np.sum(y * y * z), y


def identity(x, extra):
    return x, extra["a"]


def constant(x, extra):
    return np.sum(x), GLOBAL["w"]


def view(x, extra):
    return np.sum(x[::-1]), x.T


def batched(make):
    return lambda f: lambda x, extra: make(f)(np.stack([x, x]), extra)


TRANSFORMS = {
    "grad": lambda f: grad(f, has_aux=True),
    "value_and_grad": lambda f: value_and_grad(f, has_aux=True),
    "jacfwd": lambda f: jacfwd(f, has_aux=True),
    "jacrev": lambda f: jacrev(f, has_aux=True),
    "vmap": batched(lambda f: vmap(f, in_axes=(0, None))),
    "vmap of grad": batched(lambda f: vmap(grad(f, has_aux=True), in_axes=(0, None))),
    "jvp": lambda f: lambda x, extra: jvp(f, (x, extra), (x, extra), has_aux=True),
    "vjp": lambda f: lambda x, extra: _with_adjoints(f, x, extra),
}


def _with_adjoints(f, x, extra):
    value, pull, aux = vjp(f, x, extra, has_aux=True)
    return value, pull(np.ones_like(value)), aux


def arrays_in(value):
    return [each for each in leaves_of(value) if isinstance(each, np.ndarray)]


@pytest.mark.parametrize("name", TRANSFORMS)
@pytest.mark.parametrize("function", [reads_everything, constant, view], ids=lambda f: f.__name__)
def test_nothing_of_the_user_s_is_changed_or_handed_out(name, function):
    x, extra = X.copy(), {"a": np.array([2.0])}
    before = pickle.dumps((x, extra, GLOBAL)), dict(globals()), copy.copy(vars(function))
    made = TRANSFORMS[name](function)
    for _ in range(12):  # the fast path too
        result = made(x, extra)
    assert (pickle.dumps((x, extra, GLOBAL)), dict(globals()), vars(function)) == before
    theirs = [x, *arrays_in(extra), *arrays_in(GLOBAL)]
    mine = arrays_in(result)
    for i, one in enumerate(mine):
        assert one.flags.writeable or one.ndim == 0
        assert not any(np.shares_memory(one, other) for other in [*theirs, *mine[:i]])


def test_an_output_that_no_sample_changes_is_a_copy():
    result = vmap(constant, (0, None), (0, None))(np.stack([X, X]), {"a": X})[1]
    np.testing.assert_array_equal(result, GLOBAL["w"])
    assert not np.shares_memory(result, GLOBAL["w"])


def test_jit_gives_what_python_gives_even_where_it_is_the_argument():
    assert jit(lambda x: x)(X) is X


def test_read_only_arguments_are_arguments():
    x = X.copy()
    x.flags.writeable = False
    np.testing.assert_allclose(grad(lambda x: np.sum(x[::2] * x[0]))(x), [3.0, 0, 0.5])
