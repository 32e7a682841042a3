"""Which calls share one compilation, what a call is guarded by, and what is kept in memory."""

import functools
import gc
import linecache
import threading
import types
import weakref
from collections import namedtuple
from dataclasses import dataclass

import numpy as np
import pytest

from s2s_ad import S2SError, Tensor, grad, jit, jvp, value_and_grad, vjp, vmap
from s2s_ad.api import function as api
from s2s_ad.api.families import FAMILIES
from s2s_ad.api.recent import Made, Recent
from s2s_ad.load import dispatch, fast

X = np.array([1.0, 2.0, 3.0])
CALLS = 12  # enough for the fast path to serve the last of them


@pytest.fixture
def compiled(monkeypatch):
    """The names of the functions that are compiled during the test."""
    names = []

    def load(program, text):
        names.append(text.name)
        return loaded(program, text)

    loaded = api.load
    monkeypatch.setattr(api, "load", load)
    return names


def loss(w, x):
    return np.sum(np.tanh(x @ w) ** 2)


def scaled(x, k):
    return np.sum(x * k)


def power(x, n):
    return np.sum(x**n)


def sum_along(x, axis):
    return np.sum(np.sum(x, axis=axis) ** 2)


def sum_of_config(x, config):
    return np.sum(np.sum(x, axis=config["axis"]) ** 2)


def of_config(x, config):
    return np.sum(x * config["scale"]) if config["on"] else np.sum(x)


def apply(x, function):
    return np.sum(function(x))


Pair = namedtuple("Pair", "a b")


@dataclass
class Layer:
    w: np.ndarray
    b: float


def rows(n, columns=3):
    return np.arange(float(n * columns)).reshape(n, columns)


def f32(x):
    return x.astype(np.float32)


# ---- what shares a compilation -------------------------------------------------------------------

SHARED = [  # function, the arguments of several calls, how many compilations they take
    ("batch sizes", loss, [(X, rows(n)) for n in (2, 7, 64, 1000)], 1),
    ("one row is another pattern", loss, [(X, rows(n)) for n in (2, 1, 5, 1)], 2),
    ("dtypes", loss, [(X, rows(2)), (f32(X), f32(rows(2))), (X, f32(rows(2)))], 3),
    ("ranks", loss, [(X, rows(2)), (X, X), (X, rows(4).reshape(2, 2, 3))], 3),
    ("what += changes, or not", power, [(np.array(2.0), 2), (np.float64(2.0), 2)], 2),
    ("ints and floats are dynamic", scaled, [(X, 2), (X, 3), (X, 4.0), (X, 5.0)], 2),
    ("an axis is static", sum_along, [(rows(3), 0), (rows(4), 0), (rows(3), 1), (rows(3), 0)], 2),
    (
        "an axis in a container is static",
        sum_of_config,
        [(rows(3), {"axis": 0}), (rows(3), {"axis": 1}), (rows(4), {"axis": 0})],
        2,
    ),
    ("bools are static", power, [(X, True), (X, False), (X, True)], 2),
    (
        "containers",
        of_config,
        [(X, {"scale": 2.0, "on": True}), (X, {"scale": 3.0, "on": True})],
        1,
    ),
    (
        "bools in containers",
        of_config,
        [(X, {"scale": 2.0, "on": True}), (X, {"scale": 2.0, "on": False})],
        2,
    ),
    ("functions", apply, [(X, np.sin), (X, np.cos), (X, np.sin)], 2),
]


@pytest.mark.parametrize(
    "function, calls, count", [pytest.param(*each, id=name) for name, *each in SHARED]
)
def test_calls_that_share_a_compilation(function, calls, count, compiled):
    derivative = value_and_grad(function)
    for args in [*calls, *calls]:
        value, _ = derivative(*args)
        np.testing.assert_allclose(value, function(*args), rtol=1e-6)
    assert len(compiled) == count


def test_one_compilation_serves_every_batch_of_vmap(compiled):
    batched = vmap(grad(loss), in_axes=(None, 0))
    for n in (3, 1, 0, 64):
        x = rows(n).reshape(n, 1, 3).repeat(2, axis=1)
        expected = [grad(loss)(X, each) for each in x]
        np.testing.assert_allclose(batched(X, x), np.reshape(expected, (n, 3)))
    assert compiled.count("loss_grad_vmap") == 1


@pytest.mark.parametrize(
    "values",
    [(1, True, 1.0), (True, 1, 1.0), (1.0, 1, True), (2, 2.0)],
    ids=str,
)
def test_equal_numbers_of_different_types_are_told_apart(values):
    squared = jit(lambda n: n * n)
    for value in values * CALLS:
        found = squared(value)
        assert (type(found), found) == (type(value * value), value * value)


def test_zeros_of_both_signs_and_nan_are_data(compiled):
    inverse = jit(lambda x, zero: x / zero)
    one = np.array(1.0)
    with np.errstate(divide="ignore"):
        found = [inverse(one, np.float64(zero)) for zero in (0.0, -0.0) * CALLS]
    assert found == [np.inf, -np.inf] * CALLS
    copied = jit(lambda x: x + 0.0)
    assert all(np.isnan(copied(float("nan"))) for _ in range(CALLS))
    assert len(compiled) == 2


def test_keys_that_are_equal_to_python_are_other_keys():
    def first(table, x):
        return list(table)[0] * x  # noqa: RUF015

    scaled_by_key = jit(first)
    for _ in range(CALLS):
        for key in (1, True, 1.0):
            found = scaled_by_key({key: "any"}, 2)
            assert (found, type(found)) == (key * 2, type(key * 2))


def test_the_order_of_a_dict_is_kept():
    def with_sum(table):
        return {**table, "c": table["a"] + table["b"]}

    each = jit(with_sum)
    for _ in range(CALLS):
        assert list(each({"a": 1.0, "b": 2.0})) == ["a", "b", "c"]
        assert list(each({"b": 1.0, "a": 2.0})) == ["b", "a", "c"]


def test_objects_that_cannot_be_hashed_count_by_identity():
    class Settings:
        __hash__ = None

        def __init__(self, scale):
            self.scale = scale

        def __eq__(self, other):
            return True

    def with_settings(x, settings):
        return np.sum(x * settings.scale)

    derivative = grad(with_settings)
    settings = [Settings(2.0), Settings(3.0)]
    for _ in range(CALLS):
        for each in settings:
            np.testing.assert_allclose(derivative(X, each), each.scale * np.ones(3))
    settings[0].scale = 5.0  # an attribute is followed
    np.testing.assert_allclose(derivative(X, settings[0]), 5 * np.ones(3))


def test_arguments_by_position_by_name_and_by_default():
    def affine(x, a=2.0, *, b=3.0):
        return np.sum(x * a + b * x * x)

    derivative = grad(affine)
    calls = [
        (lambda: derivative(X), 2 + 6 * X),
        (lambda: derivative(X, 5.0), 5 + 6 * X),
        (lambda: derivative(X, a=5.0), 5 + 6 * X),
        (lambda: derivative(X, b=1.0), 2 + 2 * X),
        (lambda: derivative(b=1.0, x=X, a=7.0), 7 + 2 * X),
        (lambda: derivative(X, 7.0, b=1.0), 7 + 2 * X),
    ]
    for call, expected in calls * CALLS:
        np.testing.assert_allclose(call(), expected)
    for _ in range(CALLS):
        derivative(X)
    for wrong in (lambda: derivative(), lambda: derivative(X, c=1), lambda: derivative(X, 1, 2, 3)):
        with pytest.raises(TypeError, match=r"affine\(\)"):
            wrong()


def test_star_arguments():
    def spread(x, *others, scale=1.0, **named):
        total = x * scale
        if len(others) > 0:
            total = total * others[0]
        if "k" in named:
            total = total * named["k"]
        return np.sum(total)

    derivative = grad(spread)
    calls = [
        (lambda: derivative(X), np.ones(3)),
        (lambda: derivative(X, 2 * X), 2 * X),
        (lambda: derivative(X, 2 * X, None), 2 * X),
        (lambda: derivative(X, scale=3.0), 3 * np.ones(3)),
        (lambda: derivative(X, k=2.0), 2 * np.ones(3)),
        (lambda: derivative(X, X, scale=3.0, k=2.0), 6 * X),
        (lambda: derivative(X, j=2.0), np.ones(3)),
    ]
    for call, expected in calls * CALLS:
        np.testing.assert_allclose(call(), expected)
    for call, expected in calls:
        for _ in range(CALLS):
            np.testing.assert_allclose(call(), expected)


def test_positional_only_arguments_have_no_name():
    def only(x, /, y):
        return np.sum(x * y)

    derivative = grad(only)
    for _ in range(CALLS):
        np.testing.assert_allclose(derivative(X, y=2 * X), 2 * X)
    with pytest.raises(TypeError):
        derivative(x=X, y=X)


def test_the_fast_path_refuses_what_the_first_call_would_have_refused():
    derivative, batched = grad(lambda x, unread: np.sum(x)), vmap(lambda x, unread: x)
    for _ in range(CALLS):
        derivative(X, X)
        batched(rows(2), rows(2))
    for bad in (np.array([1, 2]), "text", None, 3):
        with pytest.raises(TypeError):
            derivative(bad, X)
    with pytest.raises(ValueError, match="different sizes"):
        batched(rows(2), rows(3))
    with pytest.raises(TypeError, match="MaskedArray"):
        derivative(np.ma.array([1.0]), X)


@pytest.mark.parametrize(
    "function",
    [
        lambda x, y: np.sum(x) if y.ndim == 1 else np.sum(2 * x),
        lambda x, y: np.sum(x) if y.dtype == np.float64 else np.sum(2 * x),
        lambda x, y: np.sum(x) if np.ndim(y) == 1 else np.sum(2 * x),
    ],
)
def test_what_only_shapes_the_code_is_compared_on_the_fast_path(function):
    derivative = grad(function)
    for y in (X, f32(X).reshape(1, 3), X):
        for _ in range(CALLS):
            np.testing.assert_array_equal(derivative(X, y), (1 if y is X else 2) * np.ones(3))


@pytest.mark.parametrize(
    "argument",
    [
        {"w": X, "b": 1.0},
        {"inner": {"w": X}, "list": [1.0, X]},
        (X, 2.0),
        [X, X],
        Pair(X, 2.0),
        Layer(X, 2.0),
        {1: X, (2, "b"): X},
        {},
        (),
    ],
    ids=str,
)
def test_containers_on_the_fast_path(argument, compiled):
    def passed_on(x):
        return x

    same = jit(passed_on)
    for _ in range(CALLS):
        assert repr(same(argument)) == repr(argument)
    assert len(compiled) == 1


def test_many_kinds_of_calls_do_not_fill_memory(monkeypatch):
    monkeypatch.setattr(dispatch, "LARGEST_TABLE", 8)
    monkeypatch.setattr(dispatch, "MOST_COMPILED", 4)
    tagged = jit(lambda x, tag: x * 2)
    for n in range(2, 40):
        tagged(np.ones(n), "same")
        tagged(X, str(n))
    assert len(tagged._dispatch.exact) <= 9
    assert len(tagged._dispatch.by_signature) <= 4


def test_captured_objects_that_shape_the_code_and_change_at_each_call_do_not_fill_memory():
    state = types.SimpleNamespace(n=1, function=np.sin)
    derivative, seen = grad(lambda x: np.sum(state.function(x**state.n))), []
    for n in range(1, 4 * dispatch.MOST_VARIANTS):
        slope = 2.0 * n
        state.n, state.function = n, lambda x, slope=slope: slope * x
        seen.append(weakref.ref(state.function))
        np.testing.assert_allclose(derivative(X), slope * n * X ** (n - 1))
    gc.collect()
    assert sum(each() is not None for each in seen) <= dispatch.MOST_VARIANTS + fast.MOST_HOT
    assert [len(each) for each in derivative._dispatch.by_signature.values()] == [8]


# ---- several kinds of calls in turn --------------------------------------------------------------


@pytest.fixture
def slow_calls(monkeypatch):
    """The calls that the fast path does not serve."""
    found, find = [], dispatch.Dispatcher.find
    monkeypatch.setattr(
        dispatch.Dispatcher, "find", lambda *args: found.append(args) or find(*args)
    )
    return found


def weighted_sum(x, k=1.0, *more, scale=2.0, **options):
    total = np.sum(x * x) * k * scale
    for each in (*more, *options.values()):
        total = total + np.sum(each)
    return total


def chosen(x, mode="double"):
    return np.sum(x) * 2 if mode == "double" else np.sum(x * x)


def of_items(x):
    items = tuple(x)
    return items[0] * len(items)


def behind_zeros(x, k):
    padded = np.zeros(len(x) + k)
    padded[k:] = x
    return np.sum(padded[: len(x)] * x)


X32, X2D, XT = X.astype("f4"), np.arange(6.0).reshape(2, 3), Tensor(X)

#: a function, calls of it in turn, and their gradients with respect to x
IN_TURN = {
    "dtypes": (weighted_sum, [((X,), {}), ((X32,), {})], [4 * X, 4 * X32]),
    "ranks": (weighted_sum, [((X,), {}), ((X2D,), {})], [4 * X, 4 * X2D]),
    "numbers": (
        weighted_sum,
        [((X, 2), {}), ((X, 3.0), {}), ((X, np.float64(4)), {}), ((X, np.array(5.0)), {})],
        [8 * X, 12 * X, 16 * X, 20 * X],
    ),
    "ways to call": (
        weighted_sum,
        [((X,), {}), ((X, 3.0), {}), ((X, 3.0, X), {}), ((X,), {"scale": 5.0, "other": X})],
        [4 * X, 12 * X, 12 * X, 10 * X],
    ),
    "arrays and Tensors": (weighted_sum, [((X,), {}), ((XT,), {})], [4 * X, Tensor(4 * X)]),
    "texts": (
        chosen,
        [((X,), {}), ((X, "double"), {}), ((X, "square"), {}), ((X2D, "square"), {})],
        [2 * np.ones(3), 2 * np.ones(3), 2 * X, 2 * X2D],
    ),
    "sizes": (
        weighted_sum,
        [((np.arange(float(n)),), {}) for n in range(2, 12)],
        [4 * np.arange(float(n)) for n in range(2, 12)],
    ),
    "sizes and dtypes": (
        weighted_sum,
        [((np.arange(n, dtype=d),), {}) for n in range(2, 9) for d in (float, "f4")],
        [4 * np.arange(n, dtype=d) for n in range(2, 9) for d in (float, "f4")],
    ),
    "sizes that shape the code": (
        of_items,
        [((np.ones(n),), {}) for n in (2, 3, 4)],
        [np.array([n, *[0.0] * (n - 1)]) for n in (2, 3, 4)],
    ),
    "lengths that numbers give": (
        behind_zeros,
        [((X, 1), {}), ((X, 2), {})],
        [np.array([2.0, 4.0, 2.0]), np.array([3.0, 0.0, 1.0])],
    ),
}


@pytest.mark.parametrize("function, calls, expected", IN_TURN.values(), ids=IN_TURN)
def test_calls_of_several_kinds_in_turn_take_the_fast_path(function, calls, expected, slow_calls):
    derivative = grad(function)

    def run():
        for (args, kwargs), each in zip(calls, expected, strict=True):
            result = derivative(*args, **kwargs)
            assert type(result) is type(each)
            np.testing.assert_array_equal(np.asarray(result), np.asarray(each), strict=True)

    for _ in range(4):
        run()
    slow_calls.clear()
    run()
    assert slow_calls == []


def test_more_kinds_than_the_fast_path_serves():
    derivative = grad(weighted_sum)
    kinds = [np.ones((2,) * rank, dtype) for rank in range(4) for dtype in (float, "f4")]
    for _ in range(20):
        for x in kinds:
            np.testing.assert_array_equal(derivative(x), 4 * x, strict=True)
    assert len(derivative._hot) == fast.MOST_HOT


def test_shapes_that_do_not_fit_are_refused_behind_shapes_that_do():
    derivative = grad(loss)
    batched = vmap(grad(scaled))
    for n in (2, 3, 4) * CALLS:
        derivative(np.ones(n), np.ones((5, n)))
        batched(np.ones((n, 3)), np.ones((n, 3)))
    with pytest.raises(ValueError, match="do not fit together: 3 and 2"):
        derivative(np.ones(2), np.ones((5, 3)))
    with pytest.raises(S2SError, match="axis"):
        batched(np.ones((2, 3)), np.ones((4, 3)))


def test_shapes_known_to_the_fast_path_do_not_fill_memory(monkeypatch):
    monkeypatch.setattr(fast, "LARGEST_TABLE", 8)
    monkeypatch.setattr(dispatch, "LARGEST_TABLE", 8)
    derivative = grad(weighted_sum)
    for n in range(2, 40):
        for _ in range(3):
            np.testing.assert_array_equal(derivative(np.ones(n)), 4 * np.ones(n))
    assert [len(each.shapes) <= 8 for each in derivative._hot] == [True]


def test_states_of_captured_objects_in_turn(slow_calls, compiled):
    derivative, results = grad(of_state), {True: 2 * np.ones(3), False: 3 * np.ones(3)}
    for round in range(6):
        for STATE["on"] in (True, False):
            np.testing.assert_array_equal(derivative(X), results[STATE["on"]])
        if round == 3:
            slow_calls.clear()
    assert len(compiled) == 2


STATE = {"on": True}


def of_state(x):
    return np.sum(x) * 2 if STATE["on"] else np.sum(x) * 3


def test_what_was_captured_before_is_not_kept_by_the_fast_path():
    held = types.SimpleNamespace(w=np.ones(3))
    derivative, seen = grad(lambda x: np.sum(x * held.w)), []
    for k in range(6):
        held.w = np.full(3, float(k))
        seen.append(weakref.ref(held.w))
        for _ in range(CALLS):
            np.testing.assert_array_equal(derivative(X), np.full(3, float(k)))
    assert len(derivative._hot) == 1
    gc.collect()
    _, *between, last = [each() is not None for each in seen]
    assert (between, last) == ([False] * 4, True)


# ---- captured objects ----------------------------------------------------------------------------

WEIGHT, FLAG, HELPER, TABLE = np.array([1.0, 2.0, 3.0]), True, np.sin, {"a": X, "b": 2.0}
COUNT = 2


def of_weight(x):
    return np.sum(WEIGHT * x)


def weighted(x):
    y = x * WEIGHT
    z = y * y
    return z + WEIGHT * z


def of_weight_in_a_helper(x):
    return np.sum(weighted(weighted(x)))


def grad_by_weight(function, w):
    """The slope at X of the two functions above, by the chain rule."""
    if function is of_weight:
        return w
    first = (1 + w) * (w * X) ** 2
    return (1 + w) * 2 * w * w * first * (1 + w) * 2 * w * w * X


def of_flag(x):
    return np.sum(x * 2) if FLAG else np.sum(x * 3)


def of_helper(x):
    return np.sum(HELPER(x))


def of_table(x):
    return np.sum(TABLE["a"] * x * TABLE["b"])


def of_count(x):
    return np.sum(np.sum(np.stack([x] * COUNT), axis=COUNT - 2))


def of_missing(x):
    return np.sum(x * MISSING)  # noqa: F821


SLOPES = [  # function, global, the values it takes, slope
    (
        of_weight,
        "WEIGHT",
        [X, 2 * X, X, np.ones((2, 1)), X],
        lambda v: np.sum(v * np.ones((2, 3)), 0) if v.ndim == 2 else v,
    ),
    (of_weight, "WEIGHT", [2.0, 3, 2.0, np.float32(4)], lambda v: v * np.ones(3)),
    (of_flag, "FLAG", [True, False, True, False], lambda v: (2 if v else 3) * np.ones(3)),
    (
        of_helper,
        "HELPER",
        [np.sin, np.exp, np.sin],
        lambda v: np.cos(X) if v is np.sin else np.exp(X),
    ),
    (of_table, "TABLE", [{"a": X, "b": 2.0}, {"b": 3.0, "a": X, "c": 0}], lambda v: X * v["b"]),
    (of_count, "COUNT", [2, 3, 2], lambda v: v * np.ones(3)),
]


@pytest.mark.parametrize("function, name, values, slope", SLOPES)
def test_a_changed_global_is_followed(function, name, values, slope, monkeypatch):
    derivative = grad(function)
    for value in values:
        monkeypatch.setitem(globals(), name, value)
        for _ in range(CALLS):
            np.testing.assert_allclose(derivative(X), slope(value))


@pytest.mark.parametrize("function", [of_weight, of_weight_in_a_helper])
def test_a_global_that_changes_for_one_call_is_followed_there_and_back(function, monkeypatch):
    derivative, pulled = grad(function), lambda x: vjp(function, x)[1](1.0)[0]
    for value in [X, 2 * X, X, 2 * X]:
        monkeypatch.setitem(globals(), "WEIGHT", X)
        for _ in range(CALLS):
            np.testing.assert_allclose(derivative(X), grad_by_weight(function, X))
            np.testing.assert_allclose(pulled(X), grad_by_weight(function, X))
        for each in (value, 3 * X, X, value):
            monkeypatch.setitem(globals(), "WEIGHT", each)
            np.testing.assert_allclose(derivative(X), grad_by_weight(function, each))
            np.testing.assert_allclose(pulled(X), grad_by_weight(function, each))


def test_a_new_array_of_the_same_kind_needs_no_new_code(compiled, monkeypatch):
    derivative = grad(of_weight)
    for k in range(5):
        monkeypatch.setitem(globals(), "WEIGHT", k * X)
        np.testing.assert_allclose(derivative(X), k * X)
    assert len(compiled) == 1


def test_globals_that_alternate_keep_their_code(compiled, monkeypatch):
    derivative = grad(of_flag)
    for flag in [True, False] * CALLS:
        monkeypatch.setitem(globals(), "FLAG", flag)
        np.testing.assert_allclose(derivative(X), (2 if flag else 3) * np.ones(3))
    assert len(compiled) == 2


def test_a_captured_array_that_is_changed_in_place_is_read_again(monkeypatch):
    weight = X.copy()
    monkeypatch.setitem(globals(), "WEIGHT", weight)
    derivative = grad(of_weight)
    for k in range(CALLS):
        weight[0] = k
        np.testing.assert_allclose(derivative(X), weight)


def test_a_global_that_is_gone_is_missed(monkeypatch):
    monkeypatch.setitem(globals(), "MISSING", 2.0)
    derivative = grad(of_missing)
    for _ in range(CALLS):
        derivative(X)
    monkeypatch.delitem(globals(), "MISSING")
    for _ in range(2):
        with pytest.raises(S2SError, match="MISSING"):
            derivative(X)
    monkeypatch.setitem(globals(), "MISSING", 5.0)
    np.testing.assert_allclose(derivative(X), 5 * np.ones(3))


def test_cells_attributes_and_items_are_followed():
    scale, settings, items = 2.0, type("Settings", (), {"rate": 3.0})(), [1.0, X]

    def closure(x):
        return np.sum(x * scale * settings.rate * items[0] * items[1])

    derivative = grad(closure)
    for _ in range(CALLS):
        np.testing.assert_allclose(derivative(X), 6 * X)
    scale = 5.0
    np.testing.assert_allclose(derivative(X), 15 * X)
    settings.rate = 1.0
    np.testing.assert_allclose(derivative(X), 5 * X)
    items[0] = 2.0
    np.testing.assert_allclose(derivative(X), 10 * X)
    items[:] = [1.0, 2 * X, "more"]
    np.testing.assert_allclose(derivative(X), 10 * X)


def test_a_pullback_keeps_what_its_forward_pass_read(monkeypatch):
    monkeypatch.setitem(globals(), "WEIGHT", X)
    _, before = vjp(of_weight, X)
    monkeypatch.setitem(globals(), "WEIGHT", 2 * X)
    _, after = vjp(of_weight, X)
    np.testing.assert_allclose(before(1.0)[0], X)
    np.testing.assert_allclose(after(1.0)[0], 2 * X)


def test_a_pullback_keeps_its_inputs():
    x = X.copy()
    _, pullback = vjp(lambda x: np.sum(x * x), x)
    x[:] = 0
    np.testing.assert_allclose(pullback(1.0)[0], 2 * X)


# ---- at once, threads, memory --------------------------------------------------------------------


@pytest.mark.parametrize("make", [lambda f: jvp(f, X, X), lambda f: vjp(f, X)], ids=["jvp", "vjp"])
def test_jvp_and_vjp_compile_once_for_functions_of_the_same_parts(make, compiled):
    def scaled_by(k):
        for _ in range(CALLS):
            make(lambda x: np.sum(x * k))
            make(functools.partial(scaled, k=k))

    scaled_by(2.0)
    first = len(compiled)
    scaled_by(3.0)
    assert first <= 4
    assert len(compiled) == first / 2 * 3  # the lambda once, the partial for each k


def test_threads_with_different_kinds_of_arguments_at_once():
    derivative = value_and_grad(lambda x, k: np.sum(x * x) * k)
    kinds = [
        (np.full(shape, 2.0, dtype), k)
        for shape in [(), (1,), (3,), (2, 1), (2, 3)]
        for dtype in (float, np.float32)
        for k in (1, 2.0)
    ]
    errors, start = [], threading.Barrier(8)

    def work(seed):
        start.wait()
        for i in np.random.default_rng(seed).integers(len(kinds), size=200):
            x, k = kinds[i]
            value, slope = derivative(x, k)
            if value != np.sum(x * x) * k or slope.dtype != x.dtype or not np.all(slope == 4 * k):
                errors.append((x, k, value, slope))

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(8)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert errors == []


def test_what_was_compiled_goes_with_the_code():
    def count():
        gc.collect()
        return sum(name.startswith("<s2s_ad") for name in linecache.cache)

    text = "def f(x):\n    return np.sum(x * x)\n"
    linecache.cache["<gone>"] = (len(text), None, text.splitlines(keepends=True), "<gone>")
    exec(compile(text, "<gone>", "exec"), space := {"np": np, "__name__": "gone"})
    before, families = count(), len(FAMILIES._made)
    derivative = grad(space["f"])
    for n in (1, 2, 3):
        derivative(np.ones((2,) * n))
    reference = weakref.ref(derivative)
    assert (count(), len(FAMILIES._made)) == (before + 3, families + 1)
    del derivative
    assert (count(), len(FAMILIES._made), reference()) == (before + 3, families + 1, None)
    del space["f"]
    assert (count(), len(FAMILIES._made)) == (before, families)


def test_a_method_does_not_keep_more_than_some_of_its_instances():
    class Model:
        def __init__(self, w):
            self.w = w

        @grad
        def loss(self, x):
            return np.sum(x * self.w)

    seen = []
    for k in range(Recent().size + 10):
        model = Model(float(k))
        np.testing.assert_allclose(model.loss(X), k * np.ones(3))
        seen.append(weakref.ref(model))
    del model
    gc.collect()
    assert sum(each() is not None for each in seen) <= Recent().size


def test_what_dies_while_room_is_made_is_forgotten():
    """The collector runs whenever it likes, and what it finds dead lets go of its value."""
    recent = Recent(size=4)

    class Dying(Made):
        @property
        def again(self):
            recent.forget("a")
            return False

        again = again.setter(lambda self, value: None)

    for key in "abc":
        recent._made[key,] = Dying(key, (), {})
    assert recent.get((sum,), lambda: "made") == "made"
    assert recent.known("a") is None
    assert recent.known("b") == "b"


def test_recent_values_stay_as_long_as_they_are_asked_for():
    recent, objects = Recent(size=3), [object() for _ in range(10)]
    for each in objects:
        recent.get((each,), object)
        first = recent.get((objects[0],), object)
        assert recent.get((objects[0],), object) is first
    assert recent.get((objects[0],), lambda: "made again") is first
    assert recent.get((objects[1],), lambda: "made again") == "made again"
