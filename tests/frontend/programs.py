"""Programs the way users write them: each with arguments, to be run as they are and compiled."""

import dataclasses
import functools
import logging
import math
import warnings
from collections import namedtuple
from typing import Any, ClassVar, NamedTuple

import numpy
import numpy as np
import numpy.linalg as la
from numpy import exp
from numpy import sin as s

from frontend import helpers_a, helpers_b
from frontend.helpers_a import Box, apply_twice, power, standardize, total
from s2s_ad import stop_gradient

V = np.array([0.3, -0.7, 1.1])
W = np.array([1.2, 0.4, -0.5])
M = np.array([[0.5, -0.2, 0.1], [1.0, 0.3, -0.4]])
SQUARE = np.array([[2.0, 0.3, 0.1], [0.2, 1.5, -0.3], [0.0, 0.4, 1.1]])

PROGRAMS = {}


def program(*args):
    """Register a program with the arguments to run it on; the first is differentiated."""

    def register(function):
        name = getattr(function, "__name__", "callable")
        while name in PROGRAMS:
            name += "_"
        PROGRAMS[name] = (function, args)
        return function

    return register


# ---- assignments and unpacking -------------------------------------------------------------------


@program(V)
def chained_targets(x):
    a = b = np.sin(x)
    return a * b


@program(V)
def annotated(x: np.ndarray) -> float:
    y: np.ndarray = x * x
    z: float
    z = y + 1.0
    return z


@program(V)
def rebinding(x):
    x = x * 2.0
    y = x
    x = x + y
    return x * y


@program(V, W)
def nested_unpacking(x, y):
    (a, (b, [c, d])), e = (x, (y, [x * y, x + y])), 2.0
    return a * b + c * d * e


@program(V, W)
def starred_unpacking(x, y):
    first, *middle, last = x, y, x * y, x + 1.0
    *start, _ = [first, last]
    p, *empty = (middle[0],)
    return start[0] * middle[1] + last * p + len(empty)


@program(V)
def rows_of_an_array(x):
    a, b, c = x
    return a * b**2 + c


@program(M)
def rows_of_a_matrix(x):
    first, second = x
    (a, b, c), _ = x
    return np.sum(first * second) + a * b * c


@program(V, W)
def swapped(x, y):
    x, y = y, x
    return x**2 * y


@program(M)
def shape_unpacked(x):
    n, d = x.shape
    return np.sum(x**2) / n + d * np.mean(x)


@program(V, W)
def starred_displays(x, y):
    pair = (x, y)
    items = [*pair, *(x * y,)]
    return items[0] * items[2] + np.stack([*items])[1]


# ---- augmented assignments -----------------------------------------------------------------------


@program(V)
def augmented_scalars(x):
    total = 0.0
    total += np.sum(x * x)
    total *= 2.0
    total -= x[0]
    total **= 2
    total /= 3.0
    return total


@program(V)
def augmented_own_array(x):
    y = x * 2.0
    y += x
    y *= y
    y -= 1.0
    return y


@program(V)
def augmented_copy(x):
    y = x.copy()
    y += 1.0
    z = np.zeros_like(x)
    z += x * y
    return z


@program(V)
def augmented_equal_arrays(x):
    a = x * 2.0
    b = x * 2.0
    a += 1.0
    return a * b


@program(V.astype(np.float32), W)
def augmented_keeps_dtype(x, y):
    z = x * 2
    z *= y
    return z


@program(M, V)
def augmented_broadcasts_the_value(x, y):
    z = x * 2.0
    z += y
    z @= SQUARE
    return z


@program(V)
def augmented_rows(x):
    a, b = x[0], x[1]
    a += b
    a *= a
    return a * b


@program(V)
def augmented_python_values(x):
    n = 2
    n += 1
    n //= 2
    parts = (x,)
    parts += (x * x,)
    text = "a"
    text += "b"
    return parts[n] * len(text)


# ---- operators -----------------------------------------------------------------------------------


@program(V, W)
def arithmetic(x, y):
    return (x + y) * (x - y) / (2.0 + y * y) - (-x) + (+y) + x**2 + 2.0**x


@program(V, M)
def matrix_products(x, m):
    return m @ x + (m @ SQUARE) @ x


@program(V)
def floor_and_remainder(x):
    return x * (7 // 2) + x % 2.0 + (x * 3.0) // 1.0


@program(V, W)
def comparisons(x, y):
    return x * (x > 0) + y * (x <= y) + x * ((x != 0.5) & ~(y == 0.9) | (x >= 1.0) ^ (y < 0))


@program(V, 3)
def integer_operators(x, n):
    return x * (n << 1) + x * (n >> 1) + x * (n & 1) + x * (n | 4) + x * (n ^ 2) + x * ~n


@program(V, 2.5)
def chained_comparison_of_numbers(x, t):
    return x * (0 < t < 3) + x * (1 < 2 < 3)


@program(2.5)
def condition_on_a_number(t):
    return t * (t > 0 and not t > 3)


@program(V)
def identity_and_membership(x, mode="a", extra=None):
    known = mode in ("a", "b") and "k" in {"k": 1} and mode not in ["c"] and 2 in range(3)
    return x * known * (extra is None) * (x is not None)


@program(V)
def joined_containers(x):
    items = [x] + [x * 2.0] * 2
    pairs = (x, 1.0) + (2.0,) * 2
    both = {"a": x} | {"b": x * x}
    return items[1] * items[2] * pairs[3] + both["b"]


@program(V)
def lists_as_arrays(x):
    return x * [1.0, 2.0, 3.0] + (x[0], x[1], 4.0) * x


# ---- NumPy, however it is imported ---------------------------------------------------------------


@program(V)
def import_aliases(x):
    return s(x) * exp(x) + numpy.cos(x) * np.pi + la.norm(x) + np.linalg.norm(x) + math.pi


@program(SQUARE, V)
def linear_algebra(a, b):
    return la.solve(a, b) + np.linalg.inv(a) @ b + la.det(a)


SINE = np.sin
TABLE = {"f": np.tanh, "g": lambda v: v * v}
LINALG = np.linalg


@program(V)
def functions_by_other_names(x):
    f = np.cos
    return SINE(x) + TABLE["f"](x) * TABLE["g"](x) + f(x) * LINALG.norm(x)


@program(V)
def numpy_keywords(x):
    return np.sum(x**2, axis=-1, keepdims=True) + np.clip(x, a_min=-0.5, a_max=0.5)


@program(V)
def numpy_of_lists(x):
    return np.stack([x, x * x]) @ x + np.concatenate((x[:1], x[:1])) + np.array([x[0], 2.0])


@program(2.0)
def numbers_and_mathematics(x):
    return np.float64(x) * np.sin(x) + abs(x) ** 3 + float(x) + pow(x, 2) + x.real


# ---- methods and attributes of arrays ------------------------------------------------------------


@program(M)
def array_attributes(x):
    return x.T @ x.mT.T * x.ndim + x.shape[1] * x.size * (x.dtype == np.float64) + len(x)


@program(M)
def array_reductions(x):
    return x.sum() * x.mean(axis=0) + x.max(1).sum() + x.min() + x.std() + x.var(keepdims=True)


@program(M)
def array_shapes(x):
    return (
        x.reshape(3, 2) @ x
        + x.reshape((3, -1)) @ x.reshape(2, 3)
        + x.flatten()[:3]
        + x.ravel()[3:]
        + x.transpose(1, 0).swapaxes(0, 1)[0]
        + x[None].squeeze(0)[1]
    )


@program(M)
def array_methods(x):
    return (
        x.dot(SQUARE).cumsum(axis=1)
        + x.copy().clip(-0.35, 0.35)
        + x.take([0, 1, 1], axis=1)
        + x.astype(np.float64)
        + x.trace()
        + x[:, :2].diagonal().sum()
        + x.argmax()
        + (x > 0).any()
        + (x > -9).all()
        + x.T.T
    )


@program(M)
def unbound_methods(x):
    shape = x.shape
    f = x.sum
    return f(axis=0) * shape[0] + x.reshape(shape)


@program(V)
def item_of_an_array(x):
    return x.sum().item() * 2.0


# ---- subscripts ----------------------------------------------------------------------------------


@program(M)
def subscripts(x):
    return (
        x[0]
        + x[-1, :]
        + x[:, 1:2][0]
        + x[..., 0][0]
        + x[None, 1][0]
        + x[np.newaxis][0, 1]
        + x[::-1][0]
        + x[1, ::2].sum()
        + x[0, 2]
        + x[()][0]
    )


@program(M)
def advanced_subscripts(x):
    rows = np.array([0, 1, 1])
    return x[rows].sum(0) + x[[1, 0]][0] + x[rows, [2, 0, 2]] + x[x > 0].sum() + x[:, rows][0]


@program(V, 1)
def dynamic_subscripts(x, i):
    return x[i] * x[i:].sum() + x[: i + 1].sum() + x[slice(i, None)].sum() + x[(i,)]


@program(M)
def starred_subscript(x):
    index = (0, slice(1, None))
    return x[*index] * x[index]


@program(V, 1)
def position_in_a_list(x, i):
    items = [x, x * x, x**3]
    return items[i] * items[-1] + sum(items[:2])


# ---- containers ----------------------------------------------------------------------------------


@program({"w": V, "b": 0.5}, W)
def dict_argument(params, x):
    return params["w"] @ x + params["b"] + params.get("none", 1.0) + len(params)


@program([V, (W, 2.0)])
def nested_argument(items):
    a, (b, c) = items
    return a * b * c


@program({"a": V, "b": W})
def dict_methods(params):
    scaled = {key: 1.0 for key in ()} if False else dict(params, c=params["a"] * 2.0)
    total = sum(scaled.values())
    names = list(scaled.keys())
    first = list(scaled.items())[-3]
    merged = {**scaled, "d": total, "a": 3.0}
    return merged["d"] * merged["a"] + first[1] * len(names) * ("c" in scaled)


@program(V)
def returns_containers(x):
    return {"value": x * x, "parts": [x[0], (x[1], 2.0)], "none": None, "flag": True}


@program(V)
def keys_that_are_known(x):
    k = 1
    params = {f"w{k}": x, (1, 2): x * x, 3: 2.0, "n" + "m": 1.0}
    return params["w1"] * params[1, 2] * params[k + 2] * params["nm"]


@program(V, W)
def python_functions_on_containers(x, y):
    pairs = list(zip((x, y), (1.0, 2.0)))
    doubled = tuple(map(lambda v: 2.0 * v, [x, y]))
    i, second = list(enumerate((x, y)))[1]
    last = list(reversed(doubled))[-2]
    return pairs[1][0] * pairs[1][1] + doubled[0] * i + second * last * max(1, 2) * min([3, 4])


# ---- functions -----------------------------------------------------------------------------------


@program(V)
def helpers_of_the_same_name(x):
    return helpers_a.helper(x) * helpers_b.helper(x) + helpers_a.scale - helpers_b.scale


@program(V)
def keywords_and_defaults(x):
    return power(x) + power(x, 3) + power(exponent=2, x=x) + power(x, offset=1.0, exponent=3)


@program(V)
def star_arguments(x):
    items, named = (x, x * x), {"b": x**3}
    return total(*items, weight=2.0, **named) + total(x) + power(*(x, 2), **{"offset": 0.5})


@program(V)
def functions_as_arguments(x):
    return apply_twice(np.sin, x) + apply_twice(lambda v: v * v, x) + apply_twice(helper, x)


def helper(x):
    return standardize(x) * 0.5


def outer_default(x, function=np.tanh, table={"k": 2.0}, *, array=W):
    return function(x) * table["k"] * array


@program(V)
def defaults_that_are_objects(x):
    return outer_default(x) + outer_default(x, np.sin, array=2.0 * x)


@program(V)
def positional_only_and_keyword_only(x):
    def inner(a, /, b, *, c=2.0):
        return a * b * c

    return inner(x, x) + inner(x, b=2.0, c=x)


@program(V, W)
def positional_only_parameters(x, y, /):
    return x * y


@program(V)
def star_parameters(*args, **kwargs):
    return args[0] * len(args) + len(kwargs)


# ---- lambdas -------------------------------------------------------------------------------------

double, triple = lambda v: 2.0 * v, lambda v: 3.0 * v
same_one, same_two = (lambda v: v * V), (lambda v: v * V)
OPERATIONS = {"square": lambda v: v * v, "cube": lambda v: v**3}
# fmt: off
MULTI_LINE = dict(
    f=lambda a, b=2.0: (
        a * b
        + a
    ),
    g=lambda a: a**2,
)
# fmt: on
curried = lambda a: lambda b: a * b + a
conditional = (lambda v: v * v) if V[0] > 0 else (lambda v: v)


@program(V)
def many_lambdas(x):
    return (
        double(x) * triple(x)
        + same_one(x) * same_two(x)
        + OPERATIONS["square"](x)
        + OPERATIONS["cube"](x)
        + MULTI_LINE["f"](x) * MULTI_LINE["g"](x)
        + curried(x)(2.0)
        + conditional(x)
    )


@program(V)
def local_lambdas(x):
    k = 2.0
    f = lambda v, p=x: v * p * k
    g = lambda *vs, **named: sum(vs) + named["z"]
    table = {"f": f, "g": lambda v: f(v) + 1.0}
    k = 3.0
    return table["g"](x) + g(x, x, z=x) + (lambda: x)()


program(V)(lambda x: x * np.sin(x))
program(V, W)(lambda x, y=2.0: x * y)


# ---- closures and nested functions ---------------------------------------------------------------


def make_scaled(k):
    def scaled(x):
        return k * x

    return scaled


def make_chain(*functions):
    def chain(x):
        return functions[0](functions[1](x))

    return chain


by_two, by_three = make_scaled(2.0), make_scaled(3.0)
program(V)(make_scaled(V))
program(V)(make_chain(by_two, make_chain(by_three, np.sin)))


@program(V)
def closures_with_cells_of_one_name(x):
    return by_two(x) * by_three(x)


@program(V)
def nested_functions(x):
    def outer(a, b=2.0):
        def inner(c):
            return a * b * c + x

        return inner(a) + inner(b)

    return outer(x) + outer(x, b=3.0)


@program(V)
def factories_called_inside(x):
    f, g = make_scaled(x), make_scaled(2.0)
    compose = lambda a, b: lambda v: a(b(v))
    return compose(f, compose(g, g))(x)


@program(V)
def late_binding(x):
    def f():
        return k * x

    k = 2.0
    first = f()
    k = 3.0
    return first * f()


def logged(function):
    @functools.wraps(function)
    def wrapper(*args, **kwargs):
        return 2.0 * function(*args, **kwargs)

    return wrapper


def configured(factor):
    def decorate(function):
        def wrapper(x, *rest):
            return factor * function(x, *rest)

        return wrapper

    return decorate


@program(V, W)
@logged
@configured(3.0)
def decorated(x, y):
    return x * y


@logged
def decorated_helper(x):
    return np.sin(x)


@logged
def another_decorated_helper(x):
    return decorated_helper(x) * x


@program(V)
def calls_decorated_helpers(x):
    return another_decorated_helper(x) + decorated_helper(x)


# ---- captured objects ----------------------------------------------------------------------------

RATE = 0.5
AXIS = 0
SIZE = 3
PARAMS = {"w": W, "layers": [(SQUARE, 0.1), (SQUARE, 0.2)], "name": "net", "k": 2}


class Config:
    rate = 0.1
    order = 2
    weights = W

    class Inner:
        scale = 3.0


@program(M)
def captured_constants(x):
    return RATE * x.sum(axis=AXIS) * Config.rate * Config.Inner.scale + x.reshape(SIZE, 2)[:, AXIS]


@program(V)
def captured_containers(x):
    (a, b), last = PARAMS["layers"][0], PARAMS["layers"][-1]
    y = a @ x + b + last[1]
    return y * PARAMS["w"] ** PARAMS["k"] * (PARAMS["name"] == "net") ** Config.order


@program(V)
def captured_class_attributes(x):
    return Config.weights * x * Config.order


# ---- partials ------------------------------------------------------------------------------------

square_plus = functools.partial(power, exponent=2, offset=1.0)
times_w = functools.partial(np.multiply, W)
nested_partial = functools.partial(functools.partial(total, 1.0), weight=W)
program(V)(functools.partial(power, exponent=3))
program(V)(functools.partial(total, W, weight=2.0))


@program(V)
def partials(x):
    return square_plus(x) + times_w(x) + nested_partial(x, z=x) + square_plus(x, offset=2.0)


# ---- objects -------------------------------------------------------------------------------------


class Layer:
    """An ordinary class of the user's, with everything that classes have."""

    count = 2

    def __init__(self, weight, bias):
        self.weight, self.bias = weight, bias
        self.__secret = 2.0
        self.options = {"act": np.tanh, "scale": 1.5}

    def __call__(self, x):
        return self.options["act"](self.linear(x)) * self.secret

    def linear(self, x, *, extra=0.0):
        return self.weight @ x + self.bias + extra

    @property
    def secret(self):
        return self.__secret * self.count

    @functools.cached_property
    def norm(self):
        return np.sum(self.weight**2)

    @staticmethod
    def square(x):
        return x * x

    @classmethod
    def doubled(cls, x):
        return cls.count * cls.square(x)

    def loss(self, x):
        return self(x) * Layer.square(x) + self.doubled(x) * self.norm


class Deeper(Layer):
    count = 3

    def linear(self, x, *, extra=1.0):
        return Layer.linear(self, x, extra=extra) * 2.0


layer, deeper = Layer(SQUARE, 0.1), Deeper(SQUARE, V)
program(V)(layer)
program(V)(layer.loss)
program(V)(deeper.loss)
program(V)(Layer.square)
program(V)(Deeper.doubled)


class Network:
    def __init__(self):
        self.layers = [layer, deeper]
        self.readout = layer.linear


network = Network()


@program(V)
def objects(x):
    first, second = network.layers
    return second(first(x)) + network.readout(x, extra=2.0) + layer.secret + getattr(layer, "bias")


# ---- dataclasses and namedtuples -----------------------------------------------------------------


@dataclasses.dataclass
class Params:
    w: Any
    b: float = 0.5
    unit: ClassVar[float] = 2.0

    @property
    def doubled(self):
        return self.w * 2.0

    def predict(self, x):
        return np.sum(self.w * x) + self.b * self.unit

    def __call__(self, x):
        return self.predict(x) ** 2

    @classmethod
    def made(cls, w):
        return cls(w, b=1.0)


@dataclasses.dataclass(frozen=True, kw_only=True)
class Keyed:
    late: Any = 1.0
    early: Any


class Point(NamedTuple):
    x: Any
    y: Any = 1.0

    def norm(self):
        return np.sum(self.x**2) * self.y


Pair = namedtuple("Pair", "first second")
MODEL = Params(W, 0.25)
POINT = Point(W, 2.0)


@program(Params(V, 2.0), W)
def dataclass_argument(params, x):
    return params.predict(x) + params(x) + params.doubled


@program(Point(V, 2.0))
def namedtuple_argument(p):
    a, b = p
    return p.norm() * a + p[1] * p.x + b


@program(V)
def dataclasses_inside(x):
    params = Params(x)
    changed = dataclasses.replace(params, b=x[0])
    keyed = Keyed(early=x, late=2.0)
    return params.doubled * changed.b + keyed.late * keyed.early + Params.made(x).b * x


@program(V)
def namedtuples_inside(x):
    p = Point(x)
    q = p._replace(y=x[1])
    pair = Pair(first=q.norm(), second=Box(low=x, high=2.0))
    return pair.first * pair.second.low * pair[1][1] * len(pair)


@program(V)
def captured_dataclasses(x):
    return MODEL.predict(x) * POINT.norm() + MODEL(x) + MODEL.b * POINT.y * MODEL.doubled


@program(V)
def returns_objects(x):
    return Point(x * x, Params(x, x[0])), Keyed(early=x, late=1.0)


program(V)(MODEL)
program(V)(MODEL.predict)


# ---- effects -------------------------------------------------------------------------------------

log = logging.getLogger("s2s_ad.tests")


@program(V)
def effects(x):
    """A docstring."""
    print("x", x, f"{x.sum():.3f} {x!r:>30} {RATE}", sep=" ", end="\n")
    print([v * 2.0 for v in x], {"k": x[0]}, PARAMS["name"], *x, layer.bias)
    assert x.shape == (3,), f"wrong shape {x.shape}"
    assert np.all(np.isfinite(x)) and len(x) == 3, "not finite"  # noqa: PT018
    log.debug("x is %s", x)
    logging.getLogger("s2s_ad.tests").debug("again %s", x[0])
    if np.any(x > 100):
        raise ValueError(f"too large: {x.max()}")
    elif x[0] > 50:
        warnings.warn("large", RuntimeWarning)
    else:
        pass
    ...
    return x * x


@program(V)
def unused_text(x):
    f"{x}"
    f"{RATE}{'a' + 'b'}"
    return x * len("abc".upper() + ",".join(("a", "b")))


# ---- conditions that are known -------------------------------------------------------------------


@program(V)
def known_conditions(x, training=True, mode="fast", bias=None):
    if training:
        x = x * 2.0
    else:
        x.no_such_method()
    if mode == "slow":
        x = x + 1.0
    elif mode == "fast" and x.ndim == 1:
        x = x * x
    y = x if bias is None else x + bias
    if isinstance(x, np.ndarray) and not isinstance(mode, (int, float)) and callable(helper):
        y = y + 1.0
    z = None or y
    return z if hasattr(layer, "weight") and len(x.shape) == 1 else 0.0


@program(V, 0.5)
def early_return(x, p):
    if p is not None:
        return x * p
    raise ValueError("p is needed")


# ---- derivatives stopped -------------------------------------------------------------------------


@program(V)
def without_parameters_used(x):
    return stop_gradient(W) * x
