"""What was changed in place after a function was compiled: followed or refused, never mixed."""

import builtins
import functools
import math

import numpy as np
import pytest

from s2s_ad import S2SError, grad, jit, value_and_grad, vmap

HOT = 5  # calls after which the fast path serves


def square(x):
    return x * x


def cube(x):
    return x * x * x


class Scaled:
    """An object whose class, attributes and methods the tests change."""

    rate = 2.0

    def __call__(self, x):
        return self.scaled(x)

    def scaled(self, x):
        return self.rate * x

    @property
    def twice(self):
        return 2.0


class Other:
    rate = 7.0

    def __call__(self, x):
        return x * x * x * 0.5 + x


class Base:
    def scaled(self, x):
        return 2.0 * x


class Derived(Base):
    pass


def case(make):
    """A case is (function, what changes it, an argument, slope before, slope after)."""
    CASES[make.__name__] = make
    return make


CASES = {}


@case
def code():
    def f(x):
        return x * x

    return f, lambda _: setattr(f, "__code__", cube.__code__), 2.0, 4.0, 12.0


@case
def code_of_a_helper():
    def helper(x):
        y = x * x
        return y

    def f(x):
        return helper(x) * 3.0

    return f, lambda _: setattr(helper, "__code__", cube.__code__), 2.0, 12.0, 36.0


@case
def code_of_a_lambda_that_is_written_in_place():
    helper = lambda x: x * x
    other = lambda x: x * x * x
    f = lambda x: helper(x) * 3.0
    return f, lambda _: setattr(helper, "__code__", other.__code__), 2.0, 12.0, 36.0


@case
def code_of_a_helper_of_a_helper():
    def inner(x):
        y = x * x
        return y

    def outer(x):
        y = inner(x)
        return y

    def f(x):
        return outer(x)

    return f, lambda _: setattr(inner, "__code__", cube.__code__), 2.0, 4.0, 12.0


@case
def code_with_another_parameter():
    def f(x):
        return x * x

    def other(x, k=3.0):
        return x * k

    def change(_):
        f.__code__, f.__defaults__ = other.__code__, other.__defaults__

    return f, change, 2.0, 4.0, 3.0


@case
def code_of_a_method():
    class Own:
        def __call__(self, x):
            return x * x

    def call(self, x):
        return x * x * x

    return Own(), lambda _: setattr(Own.__call__, "__code__", call.__code__), 2.0, 4.0, 12.0


@case
def code_of_a_generator():
    def parts(x):
        yield x
        yield x * x

    def other(x):
        yield x
        yield x * x * x

    def f(x):
        return sum(parts(x))

    return f, lambda _: setattr(parts, "__code__", other.__code__), 2.0, 5.0, 13.0


@case
def code_of_what_is_transformed_inside():
    def inner(x):
        return x * x * x

    def other(x):
        return x * x

    def f(x):
        return grad(inner)(x)

    return f, lambda _: setattr(inner, "__code__", other.__code__), 2.0, 12.0, 2.0


@case
def a_default():
    def f(x, k=3.0):
        return x * k

    return f, lambda _: setattr(f, "__defaults__", (5.0,)), 2.0, 3.0, 5.0


@case
def a_default_that_is_an_array():
    def f(x, k=np.array([1.0, 2.0])):
        return np.sum(x * k)

    return f, lambda _: setattr(f, "__defaults__", (np.array([3.0, 4.0]),)), 2.0, 3.0, 7.0


@case
def a_default_by_keyword():
    def f(x, *, k=3.0):
        return x * k

    return f, lambda _: setattr(f, "__kwdefaults__", {"k": 5.0}), 2.0, 3.0, 5.0


@case
def a_default_by_keyword_in_place():
    def f(x, *, k=3.0):
        return x * k

    return f, lambda _: f.__kwdefaults__.update(k=5.0), 2.0, 3.0, 5.0


@case
def a_default_of_a_helper():
    def helper(x, k=3.0):
        y = x * k
        return y

    def f(x):
        return helper(x)

    return f, lambda _: setattr(helper, "__defaults__", (5.0,)), 2.0, 3.0, 5.0


@case
def a_default_by_keyword_of_a_helper():
    helper = lambda x, *, k=3.0: x * k
    f = lambda x: helper(x)
    return f, lambda _: helper.__kwdefaults__.update(k=5.0), 2.0, 3.0, 5.0


@case
def a_default_that_was_not_there():
    def f(x, k):
        return x * k

    g = functools.partial(f, k=3.0)
    return g, lambda _: g.keywords.update(k=5.0), 2.0, 3.0, 5.0


@case
def a_keyword_of_a_partial_that_was_not_there():
    def f(x, k=3.0):
        return x * k

    g = functools.partial(f)
    return g, lambda _: g.keywords.update(k=5.0), 2.0, 3.0, 5.0


@case
def a_partial():
    f = functools.partial(lambda k, x: x * k, 3.0)
    return f, lambda _: f.__setstate__((lambda k, x: x * x * k, (5.0,), {}, {})), 2.0, 3.0, 20.0


@case
def a_partial_that_is_called():
    part = functools.partial(lambda k, x: x * k, 3.0)
    f = lambda x: part(x)
    change = lambda _: part.__setstate__((lambda k, x: x * x * k, (5.0,), {}, {}))
    return f, change, 2.0, 3.0, 20.0


@case
def a_keyword_of_a_partial_that_is_called():
    part = functools.partial(lambda x, k=3.0: x * k)
    f = lambda x: part(x)
    return f, lambda _: part.keywords.update(k=5.0), 2.0, 3.0, 5.0


@case
def a_closure_cell():
    k = 3.0

    def f(x):
        return x * k

    return f, lambda _: setattr(f.__closure__[0], "cell_contents", 5.0), 2.0, 3.0, 5.0


@case
def a_cell_that_holds_a_function():
    helper = square

    def f(x):
        return helper(x)

    return f, lambda _: setattr(f.__closure__[0], "cell_contents", cube), 2.0, 4.0, 12.0


@case
def an_attribute_of_a_class():
    return Scaled(), lambda patch: patch.setattr(Scaled, "rate", 5.0), 2.0, 2.0, 5.0


@case
def an_attribute_of_an_object_in_front_of_that_of_its_class():
    own = Scaled()
    return own, lambda _: setattr(own, "rate", 5.0), 2.0, 2.0, 5.0


@case
def a_method_of_a_class():
    changed = lambda self, x: 5.0 * x
    return Scaled(), lambda patch: patch.setattr(Scaled, "scaled", changed), 2.0, 2.0, 5.0


@case
def a_method_of_an_object_in_front_of_that_of_its_class():
    own = Scaled()
    return own, lambda _: setattr(own, "scaled", lambda x: 5.0 * x), 2.0, 2.0, 5.0


@case
def a_method_of_a_class_between():
    own = Derived()

    def f(x):
        return own.scaled(x)

    def change(patch):
        patch.setattr(Derived, "scaled", lambda self, x: 5.0 * x, raising=False)

    return f, change, 2.0, 2.0, 5.0


@case
def the_class_of_an_object():
    own = Scaled()
    return own, lambda _: setattr(own, "__class__", Other), 2.0, 2.0, 7.0


@case
def the_class_of_an_object_that_is_captured():
    own = Scaled()
    f = lambda x: own.rate * x
    return f, lambda _: setattr(own, "__class__", Other), 2.0, 2.0, 7.0


@case
def a_property():
    own = Scaled()
    f = lambda x: own.twice * x
    changed = property(lambda self: 5.0)
    return f, lambda patch: patch.setattr(Scaled, "twice", changed), 2.0, 2.0, 5.0


@case
def code_of_a_property():
    class Own:
        @property
        def rate(self):
            return 2.0

    own = Own()
    f = lambda x: own.rate * x
    other = lambda self: 5.0
    return f, lambda _: setattr(Own.rate.fget, "__code__", other.__code__), 2.0, 2.0, 5.0


@case
def what_a_decorator_wraps():
    @functools.wraps(square)
    def f(x):
        return square(x)

    return f, lambda _: setattr(f, "__wrapped__", cube), 2.0, 4.0, 4.0


@case
def what_a_cache_wraps():
    @functools.lru_cache
    def helper(x):
        return x * x

    def f(x):
        return helper(x)

    return f, lambda _: setattr(helper.__wrapped__, "__code__", cube.__code__), 2.0, 4.0, 12.0


@case
def a_function_of_numpy():
    f = lambda x: np.sum(np.tanh(x))
    change = lambda patch: patch.setattr(np, "tanh", lambda x: 5.0 * x)
    return f, change, 0.0, 1.0, 5.0


@case
def a_function_of_a_module_of_numpy():
    f = lambda x: np.linalg.det(x * np.eye(1))
    change = lambda patch: patch.setattr(np.linalg, "det", lambda x: 5.0 * np.sum(x))
    return f, change, 2.0, 1.0, 5.0


@case
def a_function_of_math():
    f = lambda x: math.sin(x)
    return f, lambda patch: patch.setattr(math, "sin", lambda x: 5.0 * x), 0.0, 1.0, 5.0


@case
def a_function_that_only_the_derivative_reads():
    f = lambda x: math.sin(x)
    return f, lambda patch: patch.setattr(math, "cos", lambda x: 5.0 * x), 0.0, 1.0, 1.0


@case
def a_function_of_numpy_that_only_the_derivative_reads():
    f = lambda x: np.sin(x)
    return f, lambda patch: patch.setattr(np, "cos", lambda x: 5.0 * x), 0.0, 1.0, 1.0


@case
def a_constant_of_numpy():
    f = lambda x: np.pi * x
    return f, lambda patch: patch.setattr(np, "pi", 3.0), 0.0, np.pi, 3.0


@case
def a_builtin():
    f = lambda x: abs(x)
    return f, lambda patch: patch.setattr(builtins, "abs", lambda x: 5.0 * x), 2.0, 1.0, 5.0


@case
def a_builtin_that_a_global_hides():
    f = lambda x: abs(x)
    change = lambda patch: patch.setitem(globals(), "abs", lambda x: 5.0 * x)
    return f, change, 2.0, 1.0, 5.0


@case
def a_builtin_of_a_helper_that_a_global_hides():
    space = dict(globals())
    exec(compile(SHADOWED, __file__ + ".shadowed", "exec"), space)
    return space["f"], lambda _: space.update(max=lambda *items: 5.0 * items[0]), 2.0, 1.0, 5.0


SHADOWED = "def helper(x):\n    y = max(x, 0.0)\n    return y\ndef f(x):\n    return helper(x)\n"


@pytest.fixture(autouse=True)
def shadowed(monkeypatch):
    import linecache

    lines = SHADOWED.splitlines(keepends=True)
    file = __file__ + ".shadowed"
    monkeypatch.setitem(linecache.cache, file, (len(SHADOWED), None, lines, file))


#: rules call these, so nothing is compiled while they are others
OF_LIBRARIES = [
    "a_function_of_numpy",
    "a_function_of_a_module_of_numpy",
    "a_function_of_math",
    "a_function_of_numpy_that_only_the_derivative_reads",
    "a_function_that_only_the_derivative_reads",
]


@pytest.mark.parametrize("name", [name for name in CASES if name not in OF_LIBRARIES])
def test_a_change_in_place_is_followed(name, monkeypatch):
    f, change, x, before, after = CASES[name]()
    slopes = [grad(f), jit(value_and_grad(f))] if name.startswith("code") else [grad(f)]
    for slope in slopes * HOT:
        assert np.array(slope(x)).flat[-1] == pytest.approx(before, abs=1e-12)
    change(monkeypatch)
    for slope in slopes * HOT:
        assert np.array(slope(x)).flat[-1] == pytest.approx(after, abs=1e-12)


@pytest.mark.parametrize("name", OF_LIBRARIES)
def test_what_calls_a_function_that_was_replaced_is_refused(name, monkeypatch):
    """What was compiled and does not call it goes on with what it was written with."""
    f, change, x, before, _ = CASES[name]()
    cold, slope, samples = grad(f), grad(f), vmap(grad(f))
    for _ in range(HOT):
        assert slope(x) == pytest.approx(before)
        assert samples(np.array([x])) == pytest.approx(before)
    with monkeypatch.context() as patch:
        change(patch)
        if "derivative_reads" in name:
            found = [slope(x), samples(np.array([x]))[0], cold(x)]
            assert found == pytest.approx([before] * 3)
            with pytest.raises(S2SError, match="was replaced by something else"):
                grad(slope)(x)
        else:
            with pytest.raises(S2SError, match="was replaced by something else"):
                cold(x)
            with pytest.raises(S2SError, match="was replaced by something else"):
                slope(x)
            with pytest.raises(S2SError, match="was replaced by something else"):
                samples(np.array([x]))
    for each in (cold, slope):
        assert each(x) == pytest.approx(before)


def test_parameters_that_came_with_new_code_are_bound():
    def f(x):
        return x * x

    def other(x, y, *, k=2.0):
        return x * y * k

    slope = grad(f)
    for _ in range(HOT):
        assert slope(2.0) == 4.0
    f.__code__, f.__kwdefaults__ = other.__code__, other.__kwdefaults__
    for _ in range(HOT):
        assert slope(2.0, 5.0) == 10.0
        assert slope(2.0, y=5.0, k=3.0) == 15.0
        with pytest.raises(S2SError, match="missing"):
            slope(2.0)


def test_a_default_that_is_differentiated():
    def f(x, k=3.0):
        return x * k * k

    slope = grad(f, 1)
    for _ in range(HOT):
        assert slope(2.0) == 12.0
    f.__defaults__ = (5.0,)
    for _ in range(HOT):
        assert slope(2.0) == 20.0


def test_another_module_under_the_name_of_one_is_followed():
    """As where a cell of a notebook says `import jax.numpy as np`."""
    space = {"np": np, "sin": np.sin}
    f = type(square)((lambda x: np.sin(x)).__code__, space)
    slope = grad(f)
    for _ in range(HOT):
        assert slope(0.0) == 1.0
    space["np"] = type("fake", (), {"sin": staticmethod(lambda x: 5.0 * x)})
    for _ in range(HOT):
        assert slope(0.0) == 5.0
