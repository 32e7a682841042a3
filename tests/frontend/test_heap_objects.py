"""Objects that the function makes or is given: classes, dataclasses, operators, decorators."""

import dataclasses
import functools
from typing import Any

import numpy as np
import pytest

from frontend.flow import assert_like_python, interpreted
from s2s_ad import grad, vmap

X = np.array([3.0, 1.0, 2.0, 5.0])


class Model:
    count = 0

    def __init__(self, w, b=0.0):
        self.w = w
        self.b = b
        self.history = []

    def step(self, x):
        self.w = self.w - 0.1 * x
        self.b += 1.0
        self.history.append(self.w)
        return self

    @property
    def norm(self):
        return np.sum(self.w**2)

    @norm.setter
    def norm(self, value):
        self.w = self.w * value

    @functools.cached_property
    def first_norm(self):
        return self.norm

    def __call__(self, x):
        return self.w * x + self.b

    @staticmethod
    def doubled(x):
        return x * 2

    @classmethod
    def made(cls, x):
        return cls(cls.doubled(x))


class Wider(Model):
    def __init__(self, w):
        super().__init__(w, b=2.0)
        self.extra = w[0]

    def step(self, x):
        super().step(x)
        self.extra *= 2.0
        return self


def plain_class(x):
    model = Model(x)
    model.step(x).step(2.0 * x)
    start = model.first_norm
    model.norm = 3.0
    model.count += 1
    wide = Wider.made(x)
    wide.step(x)
    same = wide
    same.w[0] = 7.0
    del model.b
    model.b = wide.extra
    numbers = start, model.first_norm, model.norm, wide.extra, model.count, Model.count
    return model(x), wide(x), model.history, numbers


def what_objects_are(x):
    model, wide = Model(x), Wider(x)
    setattr(model, "name", "m")
    known = isinstance(wide, Model), isinstance(model, Wider), type(wide) is Wider
    read = hasattr(model, "extra"), getattr(model, "extra", 1.0), model.name
    return x, known, read, model is model, model is wide


def objects_in_loops(x, n):
    model, models = Model(x * 1.0), [Model(x), Model(x * 2)]
    for i in range(n):
        model.step(x)
        for each in models:
            each.w = each.w + i
    return model.w, model.b, np.array(model.history), models[0].w + models[1].w


def objects_on_two_paths(x, c):
    model = Model(x)
    if c > 0:
        model.w = x * 2
        model.b = c
    else:
        model.step(x)
        model.history.pop()
    return model(x), model.b


@dataclasses.dataclass
class Params:
    w: Any
    n: float = 1.5
    items: list = dataclasses.field(default_factory=list)

    def add(self, value):
        self.items.append(value)
        self.n += 1.0


@dataclasses.dataclass
class Scaled:
    w: Any
    scale: dataclasses.InitVar = 2.0
    scaled: Any = dataclasses.field(init=False)

    def __post_init__(self, scale):
        self.scaled = self.w * scale


@dataclasses.dataclass(frozen=True)
class Frozen:
    w: Any
    total: Any = dataclasses.field(init=False)

    def __post_init__(self):
        object.__setattr__(self, "total", np.sum(self.w))

    def twice(self):
        return Frozen(self.w * 2)


@dataclasses.dataclass
class Point:
    x: Any
    y: Any = 0.0


def dataclasses_that_change(x):
    one = Params(x)
    one.add(x[0])
    two = Params(x, 2.0)
    two.add(x[1])
    two.items.append(3.0)
    one.w = one.w * 2
    scaled, frozen = Scaled(x, 3.0), Frozen(x).twice()
    moved = dataclasses.replace(Point(x), y=1.0)
    moved.y += 1.0
    parts = one.w, one.n, one.items, two.w, two.n, two.items
    return parts, scaled.scaled, Scaled(x).scaled, frozen.w, frozen.total, moved.y


def dataclass_as_an_argument(params):
    same = params
    params.w = params.w * 2.0
    same.w[0] = 1.0
    params.n += 1
    params.items[0] = 5.0
    return params.w * params.n, len(same.items)


def dataclass_returned(x):
    point = Point(x)
    point.y = point.x * 2
    return point.x, point.y


class Vector:
    def __init__(self, values):
        self.values = values

    def __add__(self, other):
        return Vector(self.values + (other.values if isinstance(other, Vector) else other))

    __radd__ = __add__

    def __mul__(self, other):
        return Vector(self.values * (other.values if isinstance(other, Vector) else other))

    def __rmul__(self, other):
        return self * other

    def __neg__(self):
        return Vector(-self.values)

    def __sub__(self, other):
        return self + (-other)

    def __matmul__(self, other):
        return self.values @ other.values

    def __getitem__(self, i):
        return self.values[i]

    def __setitem__(self, i, value):
        self.values[i] = value

    def __len__(self):
        return 4

    def __iadd__(self, other):
        self.values = self.values + other
        return self

    def __eq__(self, other):
        return isinstance(other, Vector)

    def __lt__(self, other):
        return NotImplemented

    def __gt__(self, other):
        return False


def operators(x):
    v = Vector(x.copy())
    w = 2.0 * v * v + 1.0 - v
    w[0] = 5.0
    u = w
    u += 1.0
    w *= v
    return w.values, u[1], len(v), v @ u, v == w, v < w, v == 1.0


def doubled(function):
    @functools.wraps(function)
    def wrapper(*args, **kwargs):
        return function(*args, **kwargs) * 2

    return wrapper


def scaled_by(factor):
    def decorate(function):
        return lambda x: function(x) * factor

    return decorate


@doubled
@scaled_by(3.0)
def decorated(x):
    y = x * x
    return y + 1


def decorated_functions(x):
    return decorated(x)


def partials(x):
    f = functools.partial(np.multiply, 2.0)
    g = functools.partial(lambda a, b, c=1.0: a * b + c, x, c=3.0)
    return f(x) + g(2.0), functools.reduce(lambda a, b: a * b, [x, x, x]), list(map(f, [x, 1.0]))


class Node:
    def __init__(self, value, following=None):
        self.value = value
        self.following = following


def linked_list(x):
    head = Node(x[0])
    head = Node(x[1], head)
    head = Node(x[2], head)
    head.following.value *= 10.0
    total, node = 0.0, head
    while node is not None:
        total += node.value
        node = node.following
    return total


CASES = [
    (plain_class, (X,)),
    (what_objects_are, (X,)),
    (objects_in_loops, (X, 3)),
    (objects_on_two_paths, (X, 1.0)),
    (objects_on_two_paths, (X, -1.0)),
    (dataclasses_that_change, (X,)),
    (dataclass_returned, (X,)),
    (operators, (X,)),
    (decorated_functions, (X,)),
    (partials, (X,)),
]


@pytest.mark.parametrize("function, args", CASES)
def test_objects_are_those_of_python(function, args):
    assert_like_python(function, args)


def test_an_object_that_is_an_argument_is_the_functions_own():
    given = Params(X.copy(), 2.0, [1.0])
    expected = dataclass_as_an_argument(Params(X.copy(), 2.0, [1.0]))
    np.testing.assert_array_equal(interpreted(dataclass_as_an_argument, (given,))[0], expected[0])
    np.testing.assert_array_equal(given.w, X)
    assert (given.n, given.items) == (2.0, [1.0])


def test_a_loop_from_object_to_object():
    assert_like_python(linked_list, (X,))


class Doubled:
    """Its `__init__` makes another object of what one holds."""

    def __init__(self, x, n=3):
        self.x, self.n = 2 * x, n

    def __repr__(self):
        return f"Doubled({self.x})"

    def __bool__(self):
        return self.n > 0

    def __contains__(self, value):
        return value in ("a", "b") or value == self.x

    def __eq__(self, other):
        return self.x == other.x


def doubled_in_guards(x):
    p, q = Doubled(x), Doubled(x + 1)
    if p == q or "c" in p:
        raise ValueError("not reached")
    assert p and "a" in p and q  # noqa: PT018
    if "b" not in p:
        raise KeyError("b")
    if x in p:
        return p.x
    if x > 5.0:
        raise ValueError(f"large: {p}")
    print(p, f"{q!s}")
    return p.x**2


def test_objects_are_shown_and_asked_as_their_class_says(capsys):
    """Guards and prints called the class once more: 12.0 was shown where the object had 6.0."""
    assert grad(doubled_in_guards)(3.0) == 8 * 3.0
    assert capsys.readouterr().out == "Doubled(6.0) Doubled(8.0)\n"
    assert grad(doubled_in_guards)(0.0) == 2.0
    np.testing.assert_allclose(vmap(doubled_in_guards)(np.array([2.0, 0.0])), [16.0, 0.0])
    with pytest.raises(ValueError, match=r"^large: Doubled\(12.0\)"):
        grad(doubled_in_guards)(6.0)
    with pytest.raises(ValueError, match=r"^large: Doubled\(12.0\)"):
        vmap(doubled_in_guards)(np.array([1.0, 6.0]))


class Positive:
    """A descriptor with both methods, which keeps the value under another name."""

    def __set_name__(self, owner, name):
        self.name = "_" + name

    def __get__(self, obj, owner=None):
        if obj is None:
            return self
        return getattr(obj, self.name)

    def __set__(self, obj, value):
        if value <= 0:
            raise ValueError(f"{self.name} has to be positive")
        setattr(obj, self.name, value * 3.0)


class Lazy:
    """A descriptor that the attribute hides once it has been read."""

    def __init__(self, function):
        self.function, self.name = function, function.__name__

    def __get__(self, obj, owner):
        value = self.function(obj)
        obj.__dict__[self.name] = value
        return value


class Sphere:
    mass = Positive()

    def __init__(self, mass):
        self.mass = mass
        self.times = 0

    @Lazy
    def density(self):
        self.times += 1
        return self.mass / 2.0


def of_descriptors(x):
    sphere = Sphere(x)
    first = sphere.density
    sphere.mass *= 2.0  # 18 x; the density stays 1.5 x
    total = sphere.mass * sphere.density * first + sphere.times
    if "density" in sphere.__dict__ and "other" not in sphere.__dict__:
        del sphere.__dict__["density"]
    return total + sphere.density


def test_descriptors_of_the_user_are_read_and_set():
    """`__set__` was passed over: the mass was x, whatever the class did of it."""
    x = 0.7
    assert of_descriptors(x) == pytest.approx(18 * 1.5**2 * x**3 + 1 + 9 * x)
    assert grad(of_descriptors)(x) == pytest.approx(54 * 1.5**2 * x**2 + 9)
    assert vmap(of_descriptors)(np.array([x]))[0] == pytest.approx(of_descriptors(x))
    with pytest.raises(ValueError, match="_mass has to be positive"):
        grad(of_descriptors)(-1.0)


class Asked:
    def __init__(self, x):
        self.x = x

    def __abs__(self):
        return 2 * abs(self.x)

    def __float__(self):
        return float(3 * self.x)

    def __round__(self, digits=0):
        return Asked(5 * self.x + digits)

    def __divmod__(self, other):
        return self.x / other, self.x * other

    def __reversed__(self):
        yield 7 * self.x


def of_special_methods(x):
    asked = Asked(x)
    quotient, product = divmod(asked, 4)
    shown = [item for item in reversed(asked)]
    return abs(asked) * float(asked) + round(asked, 1).x + quotient * product + shown[0]


def test_functions_of_python_call_the_methods_of_objects():
    """abs(q), as quaternions have it, was refused."""
    assert grad(of_special_methods)(0.7) == pytest.approx(12 * 0.7 + 5 + 2 * 0.7 + 7)
    assert vmap(of_special_methods)(np.array([0.7]))[0] == pytest.approx(of_special_methods(0.7))


def item_of_a_dict_of_attributes(x):
    p = Model(x[0])
    attributes = p.__dict__
    p.b = x[2]
    attributes["w"] += x[1] * attributes["b"]
    return p.w**2


def test_items_of_a_dict_of_attributes_are_attributes():
    assert_like_python(item_of_a_dict_of_attributes, (X,))
    w = X[0] + X[1] * X[2]
    np.testing.assert_allclose(
        grad(item_of_a_dict_of_attributes)(X)[:3], 2 * w * np.array([1, X[2], X[1]])
    )
