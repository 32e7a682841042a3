"""Objects of classes that derive from ndarray: NumPy says of which class each result is."""

import copy

import numpy as np
import pytest

from s2s_ad import grad, jvp, value_and_grad, vmap
from s2s_ad.check import central_differences
from s2s_ad.diagnostics import S2SError

from .every_mode import assert_as_a_whole


class Vector(np.ndarray):
    def __new__(cls, *parts):
        return np.array(parts if len(parts) > 1 else parts[0], dtype=float).view(cls)

    @property
    def x(self):
        return self[0]

    @x.setter
    def x(self, value):
        self[0] = value

    def norm(self):
        return np.sqrt(np.sum(self**2))

    def unit(self):
        return self / self.norm()


class Quaternion(Vector):
    def __mul__(self, other):
        if not isinstance(other, Quaternion):
            return super().__mul__(other)
        (a, b, c, d), (e, f, g, h) = self, other
        real = a * e - b * f - c * g - d * h
        return type(self)(
            real, a * f + b * e + c * h - d * g, a * g - b * h + c * e + d * f,
            a * h + b * g - c * f + d * e,
        )  # fmt: skip

    def conjugate(self):
        made = self.copy()
        made[1:] *= -1
        return made


class Quantity(np.ndarray):
    """Its unit goes along with views, parts and results."""

    def __new__(cls, value, unit=1.0):
        made = np.asarray(value).view(cls)
        made.unit = unit
        return made

    def __array_finalize__(self, obj):
        if obj is not None:
            self.unit, self.length = getattr(obj, "unit", 1.0), self.shape[0] if self.ndim else 0

    def __mul__(self, other):
        made = super().__mul__(other)
        made.unit = self.unit * getattr(other, "unit", 1.0)
        return made


class Colour(np.ndarray):
    """Results are colours where they have three parts, and between nought and one."""

    __array_priority__ = 20

    def __new__(cls, parts):
        return np.clip(np.asarray(parts, dtype=float), 0.0, 1.0).view(cls)

    def __array_wrap__(self, made, context=None, return_scalar=False):
        if return_scalar:
            return made[()]
        return type(self)(made) if made.shape == (3,) else np.asarray(made)


class Counted(np.ndarray):
    """What NumPy does it does with plain arrays; exp is another function."""

    def __new__(cls, x):
        return np.asarray(x).view(cls)

    def __array_ufunc__(self, ufunc, method, *inputs, **kwargs):
        plain = [np.asarray(each) if isinstance(each, Counted) else each for each in inputs]
        if ufunc is np.exp:
            ufunc = np.expm1
        return 2.0 * getattr(ufunc, method)(*plain, **kwargs)

    def __array_function__(self, func, types, args, kwargs):
        if func is np.cross:
            return 3.0 * np.cross(*map(np.asarray, args))
        return super().__array_function__(func, types, args, kwargs)


class Filled(np.ndarray):
    """Made of a shape, as ndarray itself is; it has its own indices and length."""

    def __new__(cls, *parts):
        made = super().__new__(cls, (len(parts),), dtype=float)
        for place, each in enumerate(parts):
            made[place] = each
        return made

    def __getitem__(self, index):
        return super().__getitem__(index) if isinstance(index, slice) else 2.0 * self.at(index)

    def __getattr__(self, name):
        if name == "last":
            return self.at(-1)
        raise AttributeError(name)

    def at(self, place):
        return np.asarray(self)[place]


def of_vectors(x):
    v = Vector(x)
    w = v.unit() + 2.0 * v[::-1]
    w.x = w.x * v.x
    w += v
    w[1:] *= 0.5
    total = sum(each * each for each in w) + len(w)
    return total * w.norm() + np.dot(w, np.cross(v, Vector(1.0, 0.0, w.x))) + v.T.max()


def of_quaternions(x):
    q = Quaternion(np.concatenate(([2.0], x)))
    turned, r = Quaternion(1.0, 0.0, 0.0, 0.0), q.unit()
    for _ in range(2):
        turned = turned * r * q.conjugate()
    return turned.norm() + np.sum(turned[1:] * 3.0) + (turned * 2.0)[2]


def of_units(x):
    a = Quantity(x, 3.0)
    b = a[:2] * Quantity(np.array([1.0, 2.0]), 2.0)
    c = a.reshape(3, 1).T.copy()
    return np.sum(np.asarray(b)) * b.unit * b.length + np.sqrt(a).sum() * c.unit * c.length


def of_wrapped_results(x):
    c = Colour(0.2 * x) * 2.5 + np.full(3, 0.1)
    return np.dot(c, [0.2, 0.7, 0.1]) + np.sum(c**2) * (2.0 if type(c) is Colour else 1.0)


def of_overridden_functions(x):
    a = Counted(x)
    return np.sum(np.asarray(np.exp(a) + np.sum(a) * np.cross(a, x)))


def of_own_items(x):
    a = Filled(x[0], x[1], x[0] * x[2])
    return a[0] * a.last + sum(a) + a[1:].sum()


def of_one_of_two_classes(x):
    v = Vector(x) if x[0] > 0.5 else x * x
    return np.sum(np.sin(v) * 2.0) + v[1:].max()


def in_a_loop(x):
    v, total = Vector(x), 0.0
    while total < 3.0:
        v = (v + v.unit() * 0.1) * 1.5
        total = total + v.norm()
    return total + np.sum(copy.copy(v))


def of_stores(x):
    v = Vector(1.0 * x)
    v[v > 0.8] = 0.1
    v[[0, 1]] *= 3.0
    v[1:] += v[:-1]
    np.add.at(v, [0, 0, 2], 2.0 * x)
    label = f"{v.norm():.3f}"
    return np.sum(v * v) + (v.norm() if v.any() else 0.0) * len(label)


WHOLE = [
    of_stores,
    of_vectors,
    of_quaternions,
    of_units,
    of_wrapped_results,
    of_overridden_functions,
]
WHOLE += [of_own_items, of_one_of_two_classes, in_a_loop]


@pytest.mark.slow
@pytest.mark.parametrize("f", WHOLE, ids=lambda f: f.__name__)
def test_as_a_whole(f):
    assert_as_a_whole(f, np.array([0.7, 0.4, 0.9]))


@pytest.mark.thinned(2)
@pytest.mark.parametrize("f", WHOLE, ids=lambda f: f.__name__)
def test_value_and_derivatives(f):
    x, tangent = np.array([0.7, 0.4, 0.9]), np.array([1.0, -2.0, 0.5])
    value, found = value_and_grad(f)(x)
    (expected,) = central_differences(f, [x])
    np.testing.assert_allclose(value, f(x), rtol=1e-12)
    np.testing.assert_allclose(found, expected, rtol=1e-6)
    np.testing.assert_allclose(jvp(f, (x,), (tangent,))[1], expected @ tangent, rtol=1e-6)
    batch = np.stack([x, 1.1 * x])
    np.testing.assert_allclose(vmap(f)(batch), [f(each) for each in batch], rtol=1e-12)


class Ranked(Vector):
    __array_priority__ = 5


def class_of(result):
    if isinstance(result, Vector):
        return 1.0 if isinstance(result, Ranked) else 2.0
    return 3.0


RESULTS = [
    lambda v: v[1:],
    lambda v: v[0],
    lambda v: v[...],
    lambda v: v[None],
    lambda v: v[[0, 2]],
    lambda v: v[v > 0.5],
    lambda v: v.T,
    lambda v: v.real,
    lambda v: v.sum(),
    lambda v: np.sum(v),
    lambda v: np.mean(v),
    lambda v: v.mean(keepdims=True),
    lambda v: v.max(),
    lambda v: v.cumsum(),
    lambda v: v.reshape(3, 1),
    lambda v: np.ravel(v),
    lambda v: v.astype(float),
    lambda v: v.copy(),
    lambda v: np.copy(v),
    lambda v: np.array(v),
    lambda v: np.array(v, subok=True),
    lambda v: np.asarray(v),
    lambda v: np.asanyarray(v),
    lambda v: v.view(np.ndarray),
    lambda v: v.view(Ranked),
    lambda v: 2.0 * v,
    lambda v: np.ones(3) * v,
    lambda v: v + Ranked(1.0, 2.0, 3.0),
    lambda v: Ranked(1.0, 2.0, 3.0) + v,
    lambda v: [1.0, 2.0, 3.0] * v,
    lambda v: abs(-v),
    lambda v: v**2,
    lambda v: v @ v,
    lambda v: np.eye(3) @ v,
    lambda v: v.dot(v),
    lambda v: np.dot(np.eye(3), v),
    lambda v: np.outer(v, v),
    lambda v: np.cross(v, np.ones(3)),
    lambda v: np.einsum("i,i->", v, v),
    lambda v: np.concatenate([v, v]),
    lambda v: np.stack([v, v]),
    lambda v: np.vstack((v, v)),
    lambda v: np.where(v > 0.5, v, 0.0),
    lambda v: np.clip(v, 0.1, 0.8),
    lambda v: np.maximum(v, 0.5),
    lambda v: np.diff(v),
    lambda v: np.roll(v, 1),
    lambda v: np.sort(v),
    lambda v: np.tile(v, 2),
    lambda v: np.zeros_like(v),
    lambda v: np.linalg.norm(v),
    lambda v: np.linalg.inv(np.eye(3) + np.outer(v, v).view(Vector)),
    lambda v: np.linalg.eigh(np.eye(3).view(Vector) * v)[1] ** 2,
    lambda v: np.add.reduce(v),
    lambda v: np.add.outer(v, v),
    lambda v: np.modf(v)[0],
    lambda v: np.interp(v, [0.0, 1.0], [2.0, 5.0]),
    lambda v: np.squeeze(v[None]),
    lambda v: np.atleast_2d(v),
    lambda v: np.sqrt(v.sum()),
]


@pytest.mark.thinned(4)
@pytest.mark.parametrize("make", RESULTS)
def test_of_which_class_a_result_is(make):
    def f(x):
        made = make(Vector(x))
        return class_of(made) * np.sum(np.asarray(made) * 1.0)

    x = np.array([0.7, 0.4, 0.9])
    value, found = value_and_grad(f)(x)
    np.testing.assert_allclose(value, f(x), rtol=1e-12)
    np.testing.assert_allclose(found, central_differences(f, [x])[0], rtol=1e-6, atol=1e-8)


class Summed(Vector):
    def sum(self, *_, **__):
        return 7.0


class Decorated:
    def __init__(self, function):
        self.function = function

    def __get__(self, holder, kind):
        return lambda other: 3.0 * self.function(holder, other)


class Scaled(np.ndarray):
    @Decorated
    def __mul__(self, other):
        return np.asarray(self) * other


def of_a_decorated_operator(x):
    return np.sum(x.view(Scaled) * 2.0)


@pytest.mark.parametrize(
    "f, message",
    [
        (lambda x: np.sum(Summed(x)), "np.sum of an object of class Summed"),
        (lambda x: np.var(Colour(x)), "NumPy calls __array_wrap__ of the class there"),
        (lambda x: np.mean(Counted(x)), None),
    ],
)
def test_what_is_refused_or_right(f, message):
    x = np.array([0.7, 0.4, 0.9])
    if message is None:
        np.testing.assert_allclose(grad(f)(x), central_differences(f, [x])[0], rtol=1e-6)
        return
    with pytest.raises(S2SError, match=message):
        grad(f)(x)


def test_an_operator_that_a_descriptor_gives_is_not_that_of_arrays():
    x = np.array([0.7, 0.4, 0.9])
    try:
        found = grad(of_a_decorated_operator)(x)
    except S2SError:
        return  # what it gives may be refused, and is never NumPy's own
    np.testing.assert_allclose(found, np.full(3, 6.0))
