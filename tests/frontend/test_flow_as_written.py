"""What authors write who know nothing of compilers: imports inside, caches, contexts, super()."""

import abc
import bisect
import collections
import contextlib
import copy
import enum
import functools
import sys
import types

import numpy as np
import pytest

from s2s_ad import S2SError, grad, hessian, jvp, value_and_grad, vjp, vmap


def imports_inside(x):
    import math as m
    from os import path

    import scipy.special
    from numpy import linalg as la

    return scipy.special.erf(x) * m.exp(x) + la.norm(np.array([x, 1.0])) * len(path.sep)


def imports_what_is_missing(x):
    try:
        import no_such_module_anywhere

        return no_such_module_anywhere.of(x)
    except ImportError:
        return x * x


def imports_on_a_path_not_taken(x):
    if x > 10:
        import no_such_module_anywhere

        return no_such_module_anywhere.of(x)
    return x * x


@functools.cache
def factorial(n):
    return 1 if n < 2 else n * factorial(n - 1)


@functools.cache
def coefficients(n):
    return np.arange(n) * 1.0


@functools.lru_cache
def square(t):
    return t * t


class Table:
    def __init__(self, scale):
        self.scale = scale

    @functools.lru_cache
    def entry(self, n):
        return self.scale * n


TABLE = Table(3.0)


def cached_outside(x):
    series = sum(x**n / factorial(n) for n in range(5))
    return series + np.sum(coefficients(3) * x) + square(x) * TABLE.entry(2)


class Timer:
    def __init__(self):
        self.passes = 0.0

    def __enter__(self):
        self.passes = 1.0
        return self

    def __exit__(self, *exception):
        self.passes += 2.0


@contextlib.contextmanager
def doubled(t):
    twice = 2 * t
    yield twice


@contextlib.contextmanager
def noted(log):
    log.append(1.0)
    try:
        yield len(log)
    finally:
        log.append(2.0)


def managers(x):
    log = []
    with Timer() as first, Timer() as second, contextlib.nullcontext():
        y = x * x * first.passes
    with doubled(x) as twice, noted(log) as count:
        y = y / count + twice
    return y * first.passes + second.passes + sum(log) * x


def of_a_class_inside(x):
    class Doubles:
        def __enter__(self):
            self.value = x * 2
            return self

        def __exit__(self, *exception):
            self.value = self.value + 1.0

    with Doubles() as inner:
        y = inner.value * x
    return y * inner.value


class Place(enum.IntEnum):
    FIRST = 0
    LAST = 2


def indices_with_names(x):
    y = np.array([x, 2 * x, x * x])
    return y[Place.LAST] * y[Place.FIRST] + np.sum(y[Place.FIRST : Place.LAST])


def left_from_a_manager(x):
    total = 0.0
    for i in range(4):
        with Timer() as timer:
            if i == 1:
                continue
            total = total + x * i * timer.passes
            if total > 100.0:
                return total
    return total * x


def suppressed(x):
    y = x
    with contextlib.suppress(ValueError, KeyError):
        y = x * x
        if x > 0.1:
            raise ValueError("too large")
        y = 0.0
    return y * x


class Base:
    k = 1.0

    def __init__(self, *more):
        super().__init__()
        self.z = 2.0


class Derived(Base):
    k = 3.0

    def __init__(self, x):
        super().__init__()
        self.x = x

    def both(self):
        return super().k * self.x**2 + self.k * self.x


class Shape(abc.ABC):
    def __init__(self):
        super().__init__()

    @abc.abstractmethod
    def area(self): ...


class Square(Shape):
    def __init__(self, side):
        super().__init__()
        self.side = side

    def area(self):
        return self.side**2


def chains_of_super(x):
    made = Derived(x)
    return made.both() * made.z + Square(x).area()


def asks_for_the_type(x):
    if isinstance(x, (int, float)):
        x = np.array([x])
    scale = 2.0 if isinstance(np.sum(x), np.floating) else 3.0
    return np.sum(x**3) * scale + round(1.2345, ndigits=2)


class Model:
    def __init__(self):
        self.w, self.k = np.array([1.0, 2.0, 3.0]), 2.0
        self.parts = {"a": [1.0, 2.0]}

    def shallow(self, x):
        made = copy.copy(self)
        made.k = x
        return made

    def deep(self, x):
        made = copy.deepcopy(self)
        made.w[0] = x
        made.parts["a"].append(x)
        return made


class Doubles:
    def __init__(self, value):
        self.value = value

    def __copy__(self):
        return Doubles(self.value * 2)

    def __deepcopy__(self, memo):
        return Doubles(copy.deepcopy(self.value, memo) * 3)


MODEL = Model()


def copies(x):
    shallow, deep = MODEL.shallow(x), MODEL.deep(x)
    total = np.sum(shallow.w) * shallow.k + np.sum(deep.w**2) + sum(deep.parts["a"]) * x
    a = np.zeros(3)
    a[0] = x
    held = {"one": a, "same": a, "nested": (a, [a])}
    other = copy.deepcopy(held)
    other["one"][1] = x * x  # seen wherever the copy holds the array, and nowhere else
    total += np.sum(other["same"]) + np.sum(other["nested"][1][0]) + 3 * np.sum(held["one"])
    return total + copy.copy(Doubles(x)).value * copy.deepcopy(Doubles(x)).value


def copies_of_lists(x):
    items = []
    for i in range(3):
        items.append(x * i)
    deep, shallow = copy.deepcopy(items), copy.copy(items)
    deep.append(x)
    shallow[0] = x * x
    return sum(items) + 2 * sum(deep) + sum(shallow)


def is_positive(t):
    return t > 0


def checked(t, name):
    if t < -100:
        raise ValueError(f"{name} is too small")
    return True


def calls_in_checks(x):
    assert is_positive(x) or is_positive(-x), f"zero: {x}"
    assert checked(x, "x")
    assert np.isscalar(x) or isinstance(x, np.ndarray)
    assert all(is_positive(t * t) for t in [x, x + 1])
    assert len([is_positive(t) for t in (x, x)]) == 2
    if not checked(x, "x"):
        raise ValueError(describe(x))
    assert x > -100, describe(x)
    return x * x


def describe(t):
    return "<a number>"


def newton(c):
    y = c
    for _ in range(50):
        better = y - (y * y - c) / (2 * y)
        if abs(better - y) < 1e-12:
            break
        y = better
    return y


def halvings(t):
    found = []
    while abs(t) > 0.13:
        found.append(t)
        t = t * 0.5
    return found


def helpers_of_other_passes(x):
    y = abs(x) + 0.1
    total = 0.0
    for k in range(2):
        total = total + newton(y + k) * (newton(2 * y) if x > 0.6 else y)
    return total * 2 + sum(halvings(y)) * y


def lists_beside_numbers_of_numpy(x):
    s = np.sum(x * np.ones(2))
    total = np.sum([1.0, 2.0] - s) + np.sum(s / [1.0, x + 2])
    return total + np.sum([0.5, x] + np.float64(1.0))


def where_of_a_mask(x):
    values = np.array([x, -1.0, 2 * x, -3.0, x * x])
    found = np.where(values > 0)
    first = np.where(values > 0)[0][0]
    return np.sum(values[found] ** 2) + values[first]


def bisections(x):
    edges = [0.0, 0.5, 1.0, 4.0]
    i, j = bisect.bisect(edges, x), bisect.bisect_left(np.array(edges), 2 * x)
    return edges[i] * x + edges[j] * x * bisect.bisect_right([1, 2, 2, 3], 2)


def arrays_of_another_shape(x):
    a = np.ndarray((2, 3), dtype=float)
    a[:] = x
    b = np.zeros(6)
    b[:] = x
    b.shape = 3, -1
    b[1] *= x
    return np.sum(a * a) + np.sum(b[:, 0] * b[:, 1]) + np.atleast_1d([3, 3]).size * x


def views_of_another_shape(x):
    row, column = np.mgrid[0:2, 0:3]
    whole = x * (1.0 + row + column)
    part = whole[1]
    part.shape = -1, 3
    part[0] *= x
    row.shape = column.shape = 6
    return np.sum(whole**2) + np.sum(part) + np.sum((row * column) ** 2) * x


def turned(x):
    queue = collections.deque([x, 2 * x, 3.0])
    queue.rotate(1)
    entries = collections.OrderedDict([("b", x)])
    entries["a"] = queue[1] * x
    total = 0.0
    for i, (name, value) in enumerate(sorted(entries.items())):
        total += value * (i + 1) * len(name)
    best = sorted([(1, "z", x), (1, "a", 2 * x), (0, "q", 3.0)], reverse=True)
    return total * queue[0] + best[0][2] * best[1][2]


def scaled_by_an_attribute(function):
    def inner(t):
        return function(t) * inner.scale * (2.0 if inner.__name__ == "inner" else 3.0)

    inner.scale = 3.0
    return inner


def attributes_of_functions(x):
    def counted(t):
        counted.calls += 1
        return t * t

    counted.calls = 0
    y = x
    for _ in range(3):
        y = counted(y) * 1.5
    if x > 0:
        counted.calls = x * counted.calls
    return scaled_by_an_attribute(square_of)(x) * counted.calls * square_of.rate + y


def square_of(t):
    """The square."""
    return t * t


square_of.rate = 2.5


PROGRAMS = [
    (lists_beside_numbers_of_numpy, (0.7,)),
    (where_of_a_mask, (0.7,)),
    (bisections, (0.7,)),
    (arrays_of_another_shape, (0.7,)),
    (views_of_another_shape, (0.7,)),
    (turned, (0.7,)),
    (attributes_of_functions, (0.7,)),
    (copies, (0.7,)),
    (copies_of_lists, (0.7,)),
    (calls_in_checks, (0.7,)),
    (helpers_of_other_passes, (0.7,)),
    (cached_outside, (0.7,)),
    (managers, (0.7,)),
    (of_a_class_inside, (0.7,)),
    (indices_with_names, (0.7,)),
    (left_from_a_manager, (0.7,)),
    (suppressed, (0.7,)),
    (chains_of_super, (0.7,)),
    (imports_inside, (0.7,)),
    (imports_what_is_missing, (0.7,)),
    (imports_on_a_path_not_taken, (0.7,)),
    (asks_for_the_type, (0.7,)),
]


def test_an_attribute_that_super_reads_is_that_of_the_parent():
    made = Derived(1.0)
    assert grad(lambda x: super(Derived, made).k * x)(2.0) == 1.0
    with pytest.raises(S2SError, match="has no attribute 'both'"):
        grad(lambda x: super(Derived, made).both * x)(2.0)


def test_what_an_import_inside_binds_is_followed(monkeypatch):
    module = types.ModuleType("made_for_this_test")
    module.rate = 2.0
    monkeypatch.setitem(sys.modules, "made_for_this_test", module)

    def scaled(x):
        import made_for_this_test as made

        return made.rate * x

    g = grad(scaled)
    assert g(1.0) == 2.0
    module.rate = 5.0
    assert g(1.0) == 5.0
    other = types.ModuleType("made_for_this_test")
    other.rate = 7.0
    monkeypatch.setitem(sys.modules, "made_for_this_test", other)
    assert g(1.0) == 7.0


def changes_what_a_cache_keeps(x):
    kept = coefficients(3)
    kept[0] = 5.0
    return np.sum(kept * x)


@functools.cache
def prints(n):
    print("once")
    return n * 2.0


def reshaped_on_a_path(x):
    """The rows are there before it is known whether their shape is another one."""
    whole = np.zeros((2, 4))
    row = whole[0]
    if x > 0:
        row.shape = 2, 2
    row[0] = x
    return np.sum(whole)


def reshaped_under_a_view(x):
    a = np.zeros(6)
    v = a[1:]
    a.shape = 2, 3
    v[0] = x
    return np.sum(a)


class Swallows:
    def __enter__(self):
        return 3.0

    def __exit__(self, *exception):
        return True


class Asks(Swallows):
    def __exit__(self, kind, value, place):
        self.failed = kind is not None


def in_swallows(x):
    with Swallows() as k:
        y = x / k
    return y


def in_asks(x):
    with Asks() as k:
        y = x / k
    return y


@contextlib.contextmanager
def yields_in_a_branch(x):
    if x:
        yield 1.0
    else:
        yield 2.0


def in_a_branch(x):
    with yields_in_a_branch(True) as k:
        return x * k


def in_a_file(x):
    with open("numbers.txt") as file:
        return x * float(file.read())


def entered_twice(x):
    kept = doubled(x)
    with kept as y:
        x = x * y
    with kept as y:
        return x * y


@pytest.mark.parametrize(
    "function, message",
    [
        (entered_twice, "Python enters it once"),
        (changes_what_a_cache_keeps, "what a function with a cache has returned is changed"),
        (lambda x: prints(2) * x, "a call of prints, which keeps its results, and does more"),
        (lambda x: copy.deepcopy(Doubles(x), {}).value, "copy.deepcopy with a memo"),
        (reshaped_on_a_path, "not certain to be alone in its memory"),
        (reshaped_under_a_view, "not certain to be alone in its memory"),
        (in_swallows, "may swallow an exception"),
        (in_asks, "whose __exit__ asks for the exception"),
        (in_a_branch, "whose 'yield' does not stand by itself"),
        (in_a_file, "read the file outside"),
    ],
)
def test_what_is_refused(function, message):
    with pytest.raises(S2SError, match=message):
        grad(function)(1.0)


def raises_what_a_helper_says(x):
    assert is_positive(x), describe(x)
    return x


def test_what_a_check_calls_is_called_where_python_calls_it():
    assert grad(raises_what_a_helper_says)(1.0) == 1.0
    with pytest.raises(AssertionError, match="<a number>"):
        grad(raises_what_a_helper_says)(-1.0)
    with pytest.raises(ValueError, match="x is too small"):
        grad(lambda x: x * checked(x, "x"))(-200.0)


def test_an_attribute_that_an_object_gains_is_in_its_copies():
    model = Model()

    def of_copy(x):
        made = copy.copy(model)
        return x * (2.0 if hasattr(made, "extra") else 1.0)

    g = grad(of_copy)
    assert g(1.0) == 1.0
    model.extra = 1.0
    assert g(1.0) == 2.0


def test_a_generator_outside_draws_what_the_function_draws():
    rng = np.random.RandomState(3)

    def drawn(x):
        return np.sum((rng.randn(3, 2) * x) ** 2) + np.sum(rng.rand(2) * x)

    state = rng.get_state()
    a, b = rng.randn(3, 2), rng.rand(2)
    rng.set_state(state)
    value, slope = value_and_grad(drawn)(2.0)
    np.testing.assert_allclose(value, 4 * np.sum(a**2) + 2 * np.sum(b))
    np.testing.assert_allclose(slope, 4 * np.sum(a**2) + np.sum(b))


def test_an_attribute_of_a_function_is_followed(monkeypatch):
    g = grad(lambda x: square_of(x) * square_of.rate)
    assert g(1.0) == 5.0
    monkeypatch.setattr(square_of, "rate", 10.0)
    assert g(1.0) == 20.0


def test_the_derivative_of_a_constant_is_zero():
    def constant(x):
        return 3.0

    x = np.array([1.0, 2.0])
    np.testing.assert_array_equal(grad(constant)(x), np.zeros(2))
    assert value_and_grad(constant)(2.0) == (3.0, 0.0)
    assert jvp(constant, (2.0,), (1.0,)) == (3.0, 0.0)
    assert vjp(constant, 2.0)[1](1.0) == (0.0,)
    assert vjp(lambda x: (x * x, 3.0), 2.0)[1]((1.0, 1.0)) == (4.0,)
    np.testing.assert_array_equal(vmap(grad(constant))(x), np.zeros(2))
    np.testing.assert_array_equal(hessian(constant)(x), np.zeros((2, 2)))


def test_functions_of_numba_stand_for_their_python():
    numba = pytest.importorskip("numba", reason="numba is in the extra 'native'")

    @numba.njit
    def cube(t):
        return t * t * t

    @numba.vectorize
    def positive(t, k):
        return t * t * k if t > 0 else 0.0

    def total(x):
        return np.sum(positive(x, 2.0)) + cube(x[0])

    x = np.array([1.5, -0.5, 2.0])
    np.testing.assert_allclose(grad(total)(x), [6.0 + 3 * 1.5**2, 0.0, 8.0])
    assert grad(cube)(2.0) == 12.0
    assert "def cube_grad(t):" in grad(cube).source(2.0)
