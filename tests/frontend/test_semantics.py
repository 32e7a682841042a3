"""What programs mean in the corners: conditions, updates, effects, names, objects."""

import abc
import array
import collections
import dataclasses
from typing import Any

import numpy as np
import pytest

from s2s_ad import S2SError, grad, jit, vmap
from s2s_ad.diagnostics import UnsupportedError

X = np.array([0.3, -0.7, 1.1])
THRESHOLD = 0.5
LAYERS = 2
k = 7.0


def refused(function, *args):
    with pytest.raises(S2SError) as caught:
        jit(function)(*args)
    assert caught.value.origin is not None
    return caught.value


def assert_like_python(function, *args):
    expected, got = function(*args), jit(function)(*args)
    assert np.asarray(got).dtype == np.asarray(expected).dtype
    np.testing.assert_allclose(got, expected, rtol=1e-12)


# ---- conditions ----------------------------------------------------------------------------------


@pytest.mark.parametrize("order", [1, 2, 3])
def test_integers_that_decide_are_part_of_the_signature(order):
    def f(x, order):
        if order == 1:
            return x
        return x * x if order < 3 else x**order

    assert_like_python(f, X, order)
    np.testing.assert_allclose(grad(f)(X, order), order * X ** (order - 1))


def test_one_compiled_function_follows_the_integer_that_decides():
    f = jit(lambda x, n: x * x if n > 1 else x)
    assert [float(f(3.0, n)) for n in (0, 2, 1, 5)] == [3.0, 9.0, 3.0, 9.0]


def test_captured_numbers_that_decide_are_part_of_the_code():
    def f(x):
        if THRESHOLD > 0.4 and LAYERS * 2 == 4:
            x = x * x
        return x * 2.0 if not THRESHOLD else x

    assert_like_python(f, X)


@pytest.mark.parametrize(
    "function",
    [
        lambda x: 2.0 * (np.arctan(0.31) > 1.0) + x,
        lambda x: 2.0 * (-1.5 < -0.5 <= np.arctan(0.31)) + x,
        lambda x: 2.0 * (np.sqrt(2.0) in (1.0, np.sqrt(2.0))) + x,
        lambda x: 2.0 * ((np.sqrt(2.0), 1) == (np.sqrt(2.0), 1)) + x,
        lambda x: 2.0 * (not np.sqrt(2.0) > 3) + x,
        lambda x: (np.sqrt(2.0) > 1) + x,
    ],
)
def test_truths_of_constants_are_numpys_where_they_are_in_python(function):
    """A number of NumPy's has a dtype of its own, True and False have not."""
    x = np.float32(0.5)
    expected = function(x)
    for found in (jit(function)(x), vmap(function)(np.array([x]))[0]):
        assert (found, found.dtype) == (expected, expected.dtype)


@pytest.mark.parametrize("x", [3.0, -3.0])
def test_floats_decide_at_each_call(x):
    assert_like_python(lambda x: x if x > 0 else -x, x)


def shapes_that_agree(x, y):
    if x.shape != y.shape:
        raise ValueError(f"shapes {x.shape} and {y.shape}")
    return x * y


def test_a_check_of_shapes_is_kept():
    assert_like_python(shapes_that_agree, X, X)
    with pytest.raises(ValueError, match=r"shapes \(3,\) and \(2,\)"):
        jit(shapes_that_agree)(X, X[:2])


def test_what_decides_is_evaluated_once(capsys):
    def told(x):
        print("told")
        return x

    def f(x, flag):
        return flag and told(x)

    jit(f)(X, True)
    assert capsys.readouterr().out == "told\n"


class Holding:
    def __init__(self, *items):
        self.items = items

    def __len__(self):
        return len(self.items)


class Willing(Holding):
    def __bool__(self):
        return bool(self.items[0] > 2)


HOLDINGS = [Holding(1.0), Holding(), Willing(1.0), Willing(3.0)]


@pytest.mark.parametrize("holding", HOLDINGS, ids=lambda each: type(each).__name__)
def test_an_object_says_itself_whether_it_is_true(holding):
    assert_like_python(lambda x: x if holding else -x, X)

    def made_inside(x):
        one = Willing(x[0]) if x[0] > 1 else Willing(5 * x[0])
        return x * 2 if one and not Holding() else -x

    assert_like_python(made_inside, X)
    assert_like_python(made_inside, X * 4)


def test_an_object_of_another_language_does_not_say_whether_it_is_true():
    full = array.array("d", [1.0])
    assert refused(lambda x: x if full else -x, X).code == "S2S205"


# ---- updates -------------------------------------------------------------------------------------


def test_an_update_keeps_the_dtype():
    def f(x, y):
        z = x * 2
        z += y
        z /= 3
        return z

    assert_like_python(f, X.astype(np.float32), X)


@pytest.mark.parametrize("x, y", [(np.arange(3), X), (X[:1], X), (X, np.ones((2, 3))), (X, X + 1j)])
def test_an_update_that_numpy_refuses_is_an_error(x, y):
    def f(x, y):
        z = x * 1
        z += y
        return z

    with pytest.raises((TypeError, ValueError)):
        f(x, y)
    with pytest.raises((S2SError, TypeError, ValueError)):
        jit(f)(x, y)


def test_an_update_of_unknown_lengths_has_to_fit():
    def f(x, y):
        z = x[1:] * 2.0
        z += y[1:]
        z *= y[1:]
        return z

    assert_like_python(f, X, X)
    with pytest.raises(UnsupportedError, match="another shape"):
        jit(f)(X[:2], X)


def test_numbers_are_updated_whoever_holds_them():
    def f(x):
        a = 2.0
        b = a
        a += x
        first = x * a
        c = d = first
        c += 1.0
        return a * b * c * d

    assert_like_python(f, 3.0)


def test_zero_dimensional_arrays_are_arrays():
    def f(x):
        a = np.array(1.0)
        b = a
        a += 1.0
        return x * a * b

    assert_like_python(f, X)


# ---- effects -------------------------------------------------------------------------------------


def helper(x):
    q = x * 2.0
    return q


def test_names_of_comprehensions_in_effects_are_their_own(capsys):
    def f(x):
        y = helper(x)
        print([q + y[0] for q in x], [(q, r) for q in x for r in x if q > r], k)
        print([k for k in x], k, {q: q for q in (1, 2)}, sum(q for q in (1, 2)))
        return y

    f(X)
    expected = capsys.readouterr().out
    jit(f)(X)
    assert capsys.readouterr().out == expected


def test_what_an_effect_calls_has_to_leave_its_arguments_alone():
    class Counter:
        def __init__(self):
            self.count = 0

        def sum(self):
            self.count += 1
            return self.count

    counter = Counter()

    def f(x):
        print(counter.sum())
        return x

    assert refused(f, X).code == "S2S207"
    assert counter.count == 0


def test_what_the_types_alone_refuse_raises_on_the_path_that_comes_to_it():
    """Code for integers that is called with floats as well, where it does not get so far."""

    def head(x):
        if x[0] <= 62:
            return 2 * x[0], x[1:]
        return (x[1] << 6) + x[2], x[3:]

    def halved(x):
        try:
            return x >> 1
        except TypeError:
            return x / 2

    small, large = np.array([3.0, 1.0, 2.0]), np.array([70.0, 1.0, 2.0, 4.0])
    np.testing.assert_array_equal(grad(head)(small), [2, 1, 1])
    np.testing.assert_array_equal(vmap(grad(head))(np.stack([small, small])), [[2, 1, 1]] * 2)
    for transform in (jit, grad):
        with pytest.raises(TypeError, match="left_shift"):
            transform(head)(large)
    assert grad(halved)(3.0) == 0.5
    assert refused(lambda x: x << 1, 3.0).code == "S2S203"


@pytest.mark.parametrize("kind", ["a", "b", "c"])
@pytest.mark.parametrize("transform", [jit, grad])
def test_a_function_that_always_raises_raises(kind, transform):
    def f(x, kind):
        if kind == "a":
            raise ValueError(f"bad {kind} {np.sum(x)}")
        if kind == "b":
            checked(x)
        assert kind != "c", "c is not allowed"
        return x

    def checked(x):
        raise KeyError("always")

    expected = {"a": ValueError, "b": KeyError, "c": AssertionError}[kind]
    with pytest.raises(expected) as python:
        f(X, kind)
    with pytest.raises(expected) as ours:
        transform(f)(X, kind)
    assert str(ours.value).splitlines()[0] == str(python.value).splitlines()[0]


# ---- names ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("count", [2, 4])
def test_unpacking_checks_the_length(count):
    def f(x):
        a, b, c = x
        return a * b * c

    with pytest.raises(ValueError, match="unpack"):
        jit(f)(np.ones(count))
    assert_like_python(f, X)


def test_a_name_that_is_local_somewhere_is_local_everywhere():
    def before(x):
        if x.ndim == 2:
            k = 2.0
        return x * k

    def inner(x):
        def g():
            return k * x

        y = g()
        k = 3.0
        return y * k

    assert refused(before, X).code == "S2S202"
    assert refused(inner, X).code == "S2S202"


def test_an_argument_named_twice_is_an_error():
    def g(a, b=1.0, **more):
        return a * b

    assert refused(lambda x: g(x, a=x), X).code == "S2S203"
    assert refused(lambda x: g(x, **{"b": 1.0}, b=2.0), X).code == "S2S203"
    assert refused(lambda x: g(), X).code == "S2S203"


# ---- containers and objects ----------------------------------------------------------------------


@pytest.mark.parametrize(
    "function",
    [
        lambda x: {"a": x} * 2,
        lambda x: {"a": x} < {"a": x},
        lambda x: [x] + (x,),
        lambda x: x[{"a": 1}],
        lambda x: x["a"],
        lambda x: (x, x)[2],
        lambda x: {"a": x}["b"],
        lambda x: (x, x)[x],
        lambda x: x < None,
        lambda x: x(1.0),
        lambda x: "a" + x,
        lambda x: (3.0).size * x,
    ],
)
def test_what_python_refuses_is_refused(function):
    with pytest.raises(Exception):  # noqa: PT011
        function(X)
    refused(function, X)


def test_lists_are_repeated_by_integers_only():
    assert_like_python(lambda x, n: sum([x] * n), X, 3)
    refused(lambda x, t: [x] * t, X, 2.0)


class Base(abc.ABC):
    scale = 2.0

    def __init__(self, w):
        self.w = w

    def forward(self, x):
        return self.w * x

    @property
    def doubled(self):
        return 2.0 * self.w

    @classmethod
    def named(cls, x):
        return cls.scale * x


class Middle(Base):
    def forward(self, x):
        return super().forward(x) + super().doubled

    @classmethod
    def named(cls, x):
        return super().named(x) + 1.0


class Last(Middle):
    scale = 3.0

    def forward(self, x):
        return super().forward(x) * self.named(x)


def test_super():
    last = Last(X)
    assert_like_python(lambda x: last.forward(x) * Last.named(x), X)


@dataclasses.dataclass
class Checked:
    w: Any

    def __post_init__(self):
        self.w = self.w * 2.0


class Shifted(collections.namedtuple("Pair", "a b")):
    def __new__(cls, a, b):
        return super().__new__(cls, a + 1.0, b)


@dataclasses.dataclass
class Defaults:
    w: Any
    b: Any = dataclasses.field(default=k)
    table: Any = (X, 2.0)


def test_objects_that_compute_when_they_are_made():
    assert_like_python(lambda x: Checked(x).w, X)
    assert refused(lambda x: Shifted(x, x).a, X).code == "S2S201"


def test_defaults_of_fields():
    assert_like_python(lambda x: Defaults(x).table[0] * x * Defaults(x).b, X)


def test_texts_that_are_known_are_part_of_an_f_string():
    label = "rate"

    def f(x, unit="m"):
        if x > 1:
            raise ValueError(f"{label} of {x} {unit}: {label!r}")
        return x * x

    text = jit(f).source(2.0)
    assert """f"rate of {x} m: {'rate'!r}\"""" in text
    with pytest.raises(ValueError, match=r"^rate of 2.0 m: 'rate'\n.* in f"):  # and a note
        jit(f)(2.0)
