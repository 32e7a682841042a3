"""One cache for the process: functions with the same code are compiled once, and never stale.

Each scenario makes a function anew at each call, in one state of several, and says what its
gradient is in that state. States come in turn, so that what was compiled for one is at hand in the
others.
"""

import collections
import dataclasses
import functools
import gc
import os
import random
import threading
import types
import weakref

import numpy as np
import pytest

from s2s_ad import (
    GradOperation,
    Parameter,
    S2SError,
    Tensor,
    grad,
    hessian,
    jacfwd,
    jit,
    jvp,
    linearize,
    nn,
    value_and_grad,
    vjp,
    vmap,
)
from s2s_ad.api import families
from s2s_ad.api import function as api
from s2s_ad.api.families import FAMILIES

X = np.array([1.0, 2.0, 3.0])


@pytest.fixture
def compiled(monkeypatch):
    """The names of the functions that are compiled during the test."""
    names, load = [], api.load

    def noted(program, text):
        names.append(text.name)
        return load(program, text)

    monkeypatch.setattr(api, "load", noted)
    return names


# ---- what a closure holds ------------------------------------------------------------------------

SCENARIOS = {}


def scenario(*states):
    """Register state -> (gradient, what it has to be), for these states."""

    def register(run):
        SCENARIOS[run.__name__] = run, states
        return run

    return register


@scenario(2.0, 3, np.float32(2.5), True, 2.0, 1 + 0j, np.array(4.0), -0.0)
def numbers(k):
    return grad(lambda x: np.sum(x * k).real)(X), np.full(3, np.real(k) * 1.0)


@scenario(X, 2 * X, X.astype("f4"), X[:1], np.ones((2, 3)), np.arange(3), X.reshape(3, 1))
def arrays(w):
    expected = w.sum(0) if w.ndim == 2 and w.shape != (3, 1) else w
    if w.shape == (3, 1):
        expected = np.full(3, w.sum())
    return grad(lambda x: np.sum(x * w))(X), np.broadcast_to(expected, 3)


@scenario("sin", "cos", None, b"sin", "sin")
def texts(name):
    def f(x):
        if name is None:
            return np.sum(x)
        return np.sum(np.sin(x) if name == "sin" else np.cos(x))

    slope = {"sin": np.cos(X), None: np.ones(3)}.get(name, -np.sin(X))
    return grad(f)(X), slope


@scenario((2.0,), (2.0, X), (X, 2.0), [2.0], [2.0, 3.0], {"a": 2.0}, {"b": 2.0, "a": 3.0}, ())
def containers(held):
    def f(x):
        items = held.values() if isinstance(held, dict) else held
        total = np.sum(x)
        for each in items:
            total = total + np.sum(x * each)
        return total

    items = held.values() if isinstance(held, dict) else held
    return grad(f)(X), sum((each * np.ones(3) for each in items), np.ones(3))


@dataclasses.dataclass
class Pair:
    a: object
    b: object


Named = collections.namedtuple("Named", "a b")


@scenario(Pair(2.0, X), Pair(X, 2.0), Named(2.0, X), Pair(3.0, 2 * X), Pair(2, 3))
def records(pair):
    return grad(lambda x: np.sum(x * pair.a + pair.b * x**2))(X), pair.a + 2 * pair.b * X


@scenario((1, 2), (1, 1), (2, 1), (2, 2))
def one_record_or_two(which):
    records = [Pair(2.0, 3.0), Pair(5.0, 7.0)]
    p, q = (records[each - 1] for each in which)
    return grad(lambda x: np.sum(x * p.a + x**2 * q.a))(X), p.a + 2 * q.a * X


@scenario(np.sin, np.cos, np.exp, np.sin)
def functions(function):
    slope = {np.sin: np.cos, np.cos: lambda x: -np.sin(x), np.exp: np.exp}[function]
    return grad(lambda x: np.sum(function(x)))(X), slope(X)


@scenario(1.0, 2.0, 3, 1.0)
def functions_made_anew(k):
    inner = lambda x: k * x
    return grad(lambda x: np.sum(inner(x) ** 2))(X), 2 * k**2 * X


def with_cell(k):
    def helper(x):
        return k * x

    def inner(helper):
        return lambda x: np.sum(helper(x)) + np.sum(x * x) * k

    return helper, inner


@scenario((1.0, 1.0), (1.0, 2.0), (2.0, 1.0), (2.0, 2.0))
def a_cell_that_is_shared_or_not(factors):
    """The helper and the lambda read the same cell, or two that have the same name."""
    made = {k: with_cell(k) for k in factors}
    (helper, _), (_, inner) = made[factors[0]], made[factors[1]]
    return grad(inner(helper))(X), factors[0] + 2 * factors[1] * X


HELPERS = {k: with_cell(k)[0] for k in (1.0, 2.0)}
INNERS = {k: with_cell(k)[1] for k in (1.0, 2.0)}


@scenario((1.0, 1.0), (1.0, 2.0), (2.0, 1.0))
def a_helper_that_stays(factors):
    helper, inner = HELPERS[factors[0]], INNERS[factors[1]]
    return grad(inner(helper))(X), factors[0] + 2 * factors[1] * X


KEPT = with_cell(1.0)


@scenario(1.0, 2.0, 1.0)
def a_cell_that_a_helper_reads_too(k):
    """In one state the cells of both are one, in the other they are two."""
    inner = KEPT[1] if k == 1.0 else with_cell(k)[1]
    return grad(inner(KEPT[0]))(X), 1.0 + 2 * k * X


@scenario(2, 3, 4, 2)
def recursion(n):
    def power(x, k=n):
        return x if k == 1 else x * power(x, k - 1)

    return grad(lambda x: np.sum(power(x)))(X), n * X ** (n - 1)


@scenario(2.0, 3.0, 2.0)
def attributes_of_the_function(k):
    def f(x):
        return np.sum(x) * f.factor

    f.factor = k
    return grad(f)(X), np.full(3, k)


@scenario(2, 3, 5, 2)
def numbers_that_the_code_depends_on(n):
    def f(x):
        for _ in range(n):
            x = x * 2.0
        return np.sum(np.reshape(x, (-1, 1))) * len(np.zeros(n))

    return grad(f)(X), np.full(3, 2.0**n * n)


@scenario(2.0, 3.0, X, "none", 2.0)
def defaults(k):
    if isinstance(k, str):
        return grad(lambda x, k=None: np.sum(x))(X), np.ones(3)
    return grad(lambda x, k=k: np.sum(x * k))(X), np.broadcast_to(k, 3)


@scenario(2.0, 3.0, X)
def keyword_defaults(k):
    def f(x, *, k=k):
        return np.sum(x * k)

    return grad(f)(X), np.broadcast_to(k, 3)


@scenario(2.0, 3.0, np.float32(2.0))
def defaults_that_are_differentiated(k):
    def f(x, y=k):
        return np.sum(x) * y**2

    return np.append(grad(f)(X), grad(f, 1)(X)), [k**2] * 3 + [2 * k * X.sum()]


# ---- what stands in modules ----------------------------------------------------------------------

GLOBAL = 2.0


def global_helper(x):
    return x * GLOBAL


@scenario(2.0, 3, X, (X, 2.0)[0], np.ones((2, 3)), 2.0)
def globals_that_change(value):
    globals()["GLOBAL"] = value
    total = np.broadcast_to(value, (2, 3)).sum(0) if np.ndim(value) == 2 else value
    both = grad(lambda x: np.sum(global_helper(x)))(X), grad(lambda x: np.sum(x * GLOBAL))(X)
    return np.stack(both), np.broadcast_to(total, (2, 3))


@scenario(1, 2, 3, 1)
def helpers_that_are_defined_anew(n):
    made = [lambda x: x * 2, lambda x: np.sin(x), lambda x, k=5.0: x * k][n - 1]
    globals()["changing"] = made
    slope = [np.full(3, 2.0), np.cos(X), np.full(3, 5.0)][n - 1]
    return grad(lambda x: np.sum(changing(x)))(X), slope  # noqa: F821


@scenario(False, True, False)
def a_builtin_that_is_hidden(hidden):
    if hidden:
        globals()["abs"] = np.square
    try:
        return grad(lambda x: np.sum(abs(x)))(X), 2 * X if hidden else np.ones(3)
    finally:
        globals().pop("abs", None)


@scenario(2.0, 3.0, 2.0)
def modules_that_run_the_same_code(k):
    code = (lambda x: np.sum(x * FACTOR)).__code__  # noqa: F821
    return grad(types.FunctionType(code, {"np": np, "FACTOR": k}))(X), np.full(3, k)


# ---- objects, methods, partial functions ---------------------------------------------------------


class Model:
    scale = 1.0

    def __init__(self, k):
        self.k = k

    def loss(self, x):
        return np.sum(x * self.k) * self.scale

    def __call__(self, x):
        return self.loss(x)

    @grad
    def slope(self, x):
        return np.sum(x * self.k) * self.scale


SHARED = Model(1.0)


@scenario(2.0, 3.0, X, 2.0)
def objects(k):
    model = Model(k)
    made = [grad(model.loss)(X), grad(model)(X), model.slope(X)]
    made += [grad(lambda x: model.loss(x))(X), GradOperation()(model)(X)]
    return np.stack(made), np.broadcast_to(k, (5, 3))


@scenario(2.0, 3, X, "class", 2.0)
def states_of_one_object(k):
    SHARED.k, SHARED.scale = (1.0, 7.0) if isinstance(k, str) else (k, 1.0)
    made = [grad(SHARED.loss)(X), grad(SHARED)(X), grad(lambda x: SHARED.loss(x))(X)]
    return np.stack(made), np.broadcast_to(7.0 if isinstance(k, str) else k, (3, 3))


def scaled(x, k, p=1):
    return np.sum(k * x**p)


@scenario((2.0, 1), (3.0, 2), (X, 2), (2.0, 3))
def partial_functions(state):
    k, p = state
    by_name = grad(functools.partial(scaled, k=k, p=p))(X)
    swapped = grad(functools.partial(lambda k, x: scaled(x, k, p), k))(X)
    return np.stack([by_name, swapped]), np.broadcast_to(k * p * X ** (p - 1), (2, 3))


@scenario(1.0, 2.0)
def parameters(k):
    p = Parameter(Tensor(np.full(3, k)), name="p")
    of_x, of_p = grad(lambda x: (x * p * p).sum(), 0, p)(Tensor(X))
    again = grad(lambda x: (x * p * p).sum(), weights=p, grad_position=None)(Tensor(X))
    return np.stack([of_x, of_p, again]), [np.full(3, k * k), 2 * k * X, 2 * k * X]


def replaced(x):
    return np.sum(x)


OTHERS = {
    "code": (lambda x: np.sum(x * x)).__code__,
    "other code": (lambda x: np.sum(x * 3)).__code__,
    "a default": (lambda x, k=4.0: np.sum(x * k)).__code__,
}


@scenario("code", "other code", "a default", "code")
def code_that_is_replaced(what):
    derivative = grad(replaced)  # made before
    replaced.__code__ = OTHERS[what]
    replaced.__defaults__ = (4.0,) if what == "a default" else None
    slope = {"code": 2 * X, "other code": np.full(3, 3.0), "a default": np.full(3, 4.0)}[what]
    return np.stack([derivative(X), grad(replaced)(X)]), [slope, slope]


def with_default(x, k=2.0, *, p=1):
    return np.sum(k * x**p)


@scenario((2.0, 1), (3.0, 2), (X, 3), (2.0, 1))
def defaults_that_are_replaced(state):
    k, p = state
    derivative = grad(with_default)
    with_default.__defaults__, with_default.__kwdefaults__ = (k,), {"p": p}
    slope = k * p * X ** (p - 1)
    return np.stack([derivative(X), grad(with_default)(X)]), np.broadcast_to(slope, (2, 3))


HELD = np.array([1.0, 1.0, 1.0])
HELD_LIST = [1.0]


@scenario(2.0, 3.0)
def arrays_and_lists_that_change_in_place(k):
    HELD[:] = k
    HELD_LIST[:] = [k] * int(k)
    held, held_list = HELD, HELD_LIST
    return grad(lambda x: np.sum(x * held) * sum(held_list))(X), np.full(3, k * k * int(k))


# ---- transforms and their options ----------------------------------------------------------------


@scenario(2.0, 3.0)
def transforms(k):
    f = lambda x, y: np.sum(k * x**2 * y)
    slope, other = 2 * k * X * X, k * X**2
    value, both = value_and_grad(f, (0, 1))(X, X)
    output, pullback = vjp(f, X, X)
    _, linear = linearize(f, (X, X))
    found = [
        [value, np.sum(k * X**3)],
        [grad(f)(X, X), slope],
        [grad(f, 1)(X, X), other],
        [grad(f, argnums=(1,))(X, y=X), other],
        [both, (slope, other)],
        [grad(f, (1, 0))(X, X), (other, slope)],
        [grad(lambda x, y: (f(x, y), k * y), has_aux=True)(X, X), (slope, k * X)],
        [vmap(grad(f), (0, None))(X[None], X), slope[None]],
        [vmap(grad(f), (None, 0))(X, X[None]), slope[None]],
        [hessian(f)(X, X), np.diag(2 * k * X)],
        [jacfwd(f)(X, X), slope],
        [jit(f)(X, X), value],
        [pullback(2.0), (2 * slope, 2 * other)],
        [linear(X, X), slope @ X + other @ X],
        [jvp(f, (X, X), (X, X)), (output, slope @ X + other @ X)],
        [grad(f, sens_param=True)(X, X, 3.0), 3 * slope],
        [grad(grad(lambda x: k * x**3))(2.0), 12 * k],
        [grad(lambda x: grad(lambda y: k * x * y**2)(x))(3.0), 4 * k * 3.0],
    ]
    both = zip(*found, strict=True)
    return tuple(np.concatenate([np.ravel(part) for part in parts_of(each)]) for each in both)


def parts_of(value):
    return [part for each in value for part in parts_of(each)] if type(value) is tuple else [value]


@scenario((), (X,), (X, X), (1, X))
def kinds_of_arguments(more):
    f = lambda x, *rest: np.sum(x) * sum(np.sum(each) for each in (1.0, *rest))
    return grad(f)(X, *more), np.full(3, 1.0 + sum(np.sum(each) for each in more))


@scenario(1, 2, 3, "sin", "cos", 2)
def arguments_that_count_by_value(n):
    def f(x, n):
        if isinstance(n, str):
            return np.sum(np.sin(x) if n == "sin" else np.cos(x))
        return np.sum(np.repeat(x, n)) if n > 1 else np.sum(x**2)

    slope = {1: 2 * X, "sin": np.cos(X), "cos": -np.sin(X)}.get(n, np.full(3, n))
    return grad(f)(X, n), slope


# ---- functions in cells, that are made anew with the function that calls them


def times(k):
    def inner(x):
        return x * k

    return inner


def squared_and_doubled(x):
    return 2 * x**2


@scenario(2.0, 3.0, 2, X, np.float32(0.5), 2.0)
def inner_functions(k):
    def inner(x):
        return x * k

    def outer(x, power=2):
        return inner(x) ** power

    return grad(lambda x: np.sum(outer(x)))(X), 2 * k**2 * X


@scenario((2.0, 2.0), (2.0, 3.0), (3.0, 2.0), (3.0, 3.0))
def one_inner_function_or_two(factors):
    f = times(factors[0])
    g = f if factors[0] == factors[1] else times(factors[1])
    expected = factors[0] + 2 * factors[1] ** 2 * X
    return grad(lambda x: np.sum(f(x) + g(x) ** 2))(X), expected


DOUBLED = times(2.0)


@scenario(False, True, False)
def an_inner_function_that_is_compared(is_doubled):
    f = DOUBLED if is_doubled else times(3.0)
    result = grad(lambda x: np.sum(f(x)) * (5.0 if f is DOUBLED else 7.0))(X)
    return result, np.full(3, 10.0 if is_doubled else 21.0)


@scenario(2, 5, 2)
def an_attribute_of_an_inner_function(k):
    f = times(2.0)
    f.factor = k
    return grad(lambda x: np.sum(f(x)) * f.factor)(X), np.full(3, 2.0 * k)


@scenario(0, 1, 2, 1)
def inner_functions_with_other_code(which):
    f = (times(3.0), squared_and_doubled, np.exp)[which]
    return grad(lambda x: np.sum(f(x)))(X), (np.full(3, 3.0), 4 * X, np.exp(X))[which]


@scenario(2.0, 3.0)
def a_cell_that_two_functions_read(k):
    def inner(x):
        return x * k

    return grad(lambda x: np.sum(inner(x) * k))(X), np.full(3, k * k)


class Scaled:
    scale = times(2.0)


@scenario(True, False)
def an_inner_function_that_is_a_method_too(is_method):
    f = Scaled.scale if is_method else times(3.0)
    result = grad(lambda x: np.sum(f(x)) + np.sum(Scaled.scale(x)))(X)
    return result, np.full(3, 4.0 if is_method else 5.0)


@pytest.mark.thinned(8)
@pytest.mark.parametrize("name", SCENARIOS)
def test_states_in_turn(name):
    run, states = SCENARIOS[name]
    for _ in range(3):
        for i in (*range(len(states)), *reversed(range(len(states)))):
            found, expected = run(states[i])
            np.testing.assert_allclose(found, expected, rtol=1e-6, err_msg=f"state {i}")


# ---- how often it is compiled --------------------------------------------------------------------


def squares(x, k=1.0):
    return np.sum(k * x * x)


def net(w, x):
    return np.sum(np.tanh(x @ w) ** 2)


def per_batch(n):
    batch = np.full((2, 3), float(n))
    return grad(lambda w: net(w, batch))(X)


def hessian_vector(n):
    p = np.full(3, float(n))
    return grad(lambda x: grad(squares)(x) @ p)(X)


def of_a_method(n, model=Model(2.0)):
    return model.slope(X), grad(model.loss)(X), GradOperation()(model)(X)


def of_lists(n):
    rows = [np.full(3, float(n)), np.ones(3)]
    return grad(lambda x: np.sum(x * rows[0] + rows[1]))(X)


def of_tensors(n, dense=nn.Dense(3, 2)):
    x = Tensor(np.full((4, 3), n, np.float32))
    return value_and_grad(lambda k: dense(k * x).sum(), None, dense.trainable_params())(1.0)


def keyword_default(n):
    def f(x, *, k=n, p=2):
        return np.sum(k * x**p)

    return f


STATE, PLAIN_STATE = np.random.RandomState(0), random.Random(0)


class Drawing:
    """Holds a generator, and a method of its own under another name."""

    def __init__(self):
        self.rng, self.also = np.random.default_rng(0), self.total

    def total(self, x):
        return np.sum(x * self.rng.normal(size=3))


DRAWING, DRAW = Drawing(), STATE.randn

INLINE = {
    "grad(f)(x)": (lambda n: grad(squares)(X), 1),
    "by name": (lambda n: grad(squares)(x=X, k=float(n)), 1),
    "value_and_grad(f)(x)": (lambda n: value_and_grad(squares)(X), 1),
    "vmap(grad(f))(x)": (lambda n: vmap(grad(squares))(np.ones((n + 1, 3))), 1),
    "grad(grad(f))": (lambda n: grad(lambda x: np.sum(grad(squares)(x) ** 2))(X), 1),
    "hessian(f)(x)": (lambda n: hessian(squares)(X), 1),
    "lambdas of a number": (lambda n: grad(lambda x: np.sum(x * float(n)))(X), 1),
    "lambdas of a batch": (per_batch, 1),
    "lambdas of lists": (of_lists, 1),
    "Hessian-vector products": (hessian_vector, 1),
    "lambdas of functions in cells": (lambda n: inner_functions(float(n)), 1),
    "inner lambdas": (lambda n: grad(lambda x: grad(lambda y: n * x * y**2)(x))(3.0), 1),
    "jvp of a lambda": (lambda n: jvp(lambda x: np.sum(x * n), (X,), (X,)), 1),
    "vjp of a lambda": (lambda n: vjp(lambda x: np.sum(x**2 * n), X)[1](1.0), 2),
    "methods": (of_a_method, 3),
    "defaults": (lambda n: grad(lambda x, k=float(n): np.sum(x * k))(X), 2),
    "defaults by name": (lambda n: grad(keyword_default(n))(X), 2),
    "defaults that are arrays": (lambda n: grad(lambda x, k=n * X: np.sum(x * k))(X), 1),
    "GradOperation()(f)(x)": (lambda n: GradOperation()(squares)(X), 1),
    "Tensors": (of_tensors, 1),
    "draws of a RandomState": (lambda n: grad(lambda x: np.sum(x * STATE.randn(3)))(X), 1),
    "draws of a method": (lambda n: grad(lambda x: np.sum(x * DRAW(3)))(X), 1),
    "draws of random.Random": (lambda n: grad(lambda x: np.sum(x * PLAIN_STATE.random()))(X), 1),
    # kept the second time: the generators of some releases of NumPy hold an array
    "a method in an attribute": (lambda n: grad(lambda x: DRAWING.also(x))(X), 2),
    "text": (lambda n: grad(squares).source(X), 1),
}


@pytest.mark.parametrize("name", INLINE)
def test_what_is_written_inline_is_compiled_once(name, compiled):
    run, times = INLINE[name]
    for n in range(2, 14):
        run(n)
    assert len(compiled) <= times


def test_another_method_where_a_method_was_captured_is_followed(monkeypatch):
    derivative = grad(lambda x: np.sum(x * DRAW(3)))
    for seed in (7, 7, 3):
        monkeypatch.setitem(globals(), "DRAW", np.random.RandomState(seed).randn)
        expected = np.random.RandomState(seed).randn(6)
        for i in range(2):
            np.testing.assert_array_equal(derivative(X), expected[3 * i : 3 * i + 3])
    monkeypatch.setitem(globals(), "DRAW", np.random.RandomState(7).rand)
    np.testing.assert_array_equal(derivative(X), np.random.RandomState(7).rand(3))


def test_a_gradient_that_is_kept_shares_what_was_compiled_inline(compiled):
    grad(squares)(X)
    kept = grad(squares)
    for _ in range(20):  # with a fast path of its own from some call on
        np.testing.assert_allclose(kept(X), 2 * X)
    assert kept.source(X) == grad(squares).source(X)
    assert len(compiled) == 1


def test_kept_gradients_of_many_closures_are_compiled_once_for_each_kind(compiled):
    """Each has its own table: more of them than the cache keeps variants stay compiled."""
    makers = [(lambda x, n=n: x**n) for n in range(2, 30)]
    kept = [grad(lambda x, power=power: np.sum(power(x))) for power in makers]
    for _ in range(4):
        for n, derivative in enumerate(kept, 2):
            np.testing.assert_allclose(derivative(X), n * X ** (n - 1))
    assert len(compiled) == len(kept)


def test_the_text_is_that_of_the_function_that_is_asked():
    """Captured values are written into text that stands alone: those of this function."""

    def made(k):
        return grad(lambda x: np.sum(x * k))

    for k in (2.0, 3.0, 2.0):
        space = {}
        exec(made(k).source(X, standalone=True), space)
        names = [each for each in space if each.endswith("_grad")]
        np.testing.assert_allclose(space[names[0]](X), np.full(3, k))


def test_a_function_goes_by_its_own_name():
    def made(name):
        def f(x):
            return np.sum(x)

        f.__name__ = f.__qualname__ = name
        return grad(f)

    assert [made(name).source(X).count(f"def {name}_grad") for name in ("one", "two")] == [1, 1]


def test_an_argument_that_is_changed_may_not_be_what_this_function_captured():
    """The check goes by the array that this closure holds, not by that of another."""

    def made(held):
        def f(x):
            x += held
            return np.sum(x * held)

        return grad(f)

    mine = np.ones(3)
    np.testing.assert_allclose(made(X.copy())(mine.copy()), X)
    for _ in range(2):
        with pytest.raises(S2SError, match="may share memory"):
            made(mine)(mine)
        np.testing.assert_allclose(made(mine)(X.copy()), mine)


def test_pullbacks_keep_what_their_function_captured():
    pullbacks = [vjp(lambda x, k=k: np.sum(k * x**2), X)[1] for k in (1.0, 2.0, 3.0)]
    for k, pullback in enumerate(pullbacks, 1):
        np.testing.assert_allclose(pullback(1.0)[0], 2.0 * k * X)


def test_options_are_checked_where_the_function_is_known():
    grad(squares)(X)
    for _ in range(2):
        with pytest.raises(S2SError, match="out of range"):
            grad(squares, 5)
        with pytest.raises(S2SError, match="missing"):
            grad(squares)()
        with pytest.raises(S2SError, match="unexpected keyword"):
            grad(squares)(X, z=1)
        with pytest.raises(S2SError, match="multiple values"):
            grad(squares)(X, x=X)
        with pytest.raises(S2SError, match="from 1 to 2 positional"):
            grad(squares)(X, X, X)


def test_errors_of_what_was_compiled_before_carry_the_line():
    def f(x, y):
        return np.sum((x @ y) ** 2)

    grad(f)(X, X)
    with pytest.raises(ValueError, match=r"(?s)do not fit.*return np.sum\(\(x @ y\) \*\* 2\)"):
        grad(f)(X, np.ones(4))


@pytest.mark.filterwarnings("ignore:divide by zero")
def test_derivatives_in_the_limit():
    for _ in range(3):
        assert grad(lambda x: x**0.5)(0.0) == np.inf


# ---- what is kept, threads, forks ----------------------------------------------------------------


def test_what_the_functions_captured_is_not_kept():
    def step(batch):
        parts = [batch, (2.0, batch)]
        grad(lambda x: np.sum(x * batch) + np.sum(x * parts[1][1]))(1.0)
        grad(lambda x, batch=batch: np.sum(x * batch))(1.0)
        vjp(lambda x: np.sum(x**2 * batch), 1.0)
        grad(lambda x: np.sum(grad(lambda y: np.sum(y**3 * batch))(x)))(np.ones(100))

    seen = []
    for n in range(5):
        batch = np.full(100, float(n))
        seen.append(weakref.ref(batch))
        step(batch)
    del batch
    gc.collect()
    assert [each() is None for each in seen] == [True] * 5


def test_objects_that_shaped_the_code_are_kept_up_to_some_size(monkeypatch):
    monkeypatch.setattr(families, "MOST_HELD", 4_000)

    def step(n):
        model = Model(np.full(100, float(n)))
        assert grad(lambda x: model.loss(x))(1.0) == 100.0 * n
        return weakref.ref(model.k)

    seen = [step(n) for n in range(1, 9)]
    gc.collect()
    alive = [each() is not None for each in seen]
    assert alive[-1]
    assert sum(alive) <= 5


def test_families_are_limited(monkeypatch):
    monkeypatch.setattr(FAMILIES, "size", 8)
    code = squares.__code__
    for n in range(40):
        f = types.FunctionType(code.replace(co_consts=code.co_consts), {"np": np}, argdefs=(1.0,))
        f.__code__ = code  # whose text is known
        f.__name__ = f"f_{n}"
        np.testing.assert_allclose(grad(f)(X), 2 * X)
    assert len(FAMILIES._made) <= 8


def test_threads_that_make_functions_at_once():
    errors, start = [], threading.Barrier(6)

    def work(seed):
        start.wait()
        for n in np.random.default_rng(seed).integers(1, 5, size=60):
            k = [float(n), int(n), np.full(3, float(n)), np.full((2, 3), n / 2)][n % 4]
            slope = np.full(3, float(n))
            found = grad(lambda x: np.sum(x * k))(X)
            if not np.allclose(found, slope):
                errors.append((n, found))

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(6)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert errors == []


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_fork_while_a_family_is_locked():
    derivative = grad(squares)
    derivative(X)
    held, done = threading.Event(), threading.Event()

    def hold():
        with derivative._family.lock, FAMILIES.lock:
            held.set()
            done.wait(20)

    thread = threading.Thread(target=hold)
    thread.start()
    held.wait(20)
    child = os.fork()
    if child == 0:
        right = np.allclose(grad(squares)(X[:1]), 2 * X[:1])
        os._exit(0 if right and np.allclose(grad(lambda x: x * 2.0)(1.0), 2.0) else 1)
    done.set()
    thread.join()
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
