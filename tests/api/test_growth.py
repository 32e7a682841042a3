"""What is compiled and dropped leaves nothing behind, and what is compiled holds no arguments.

Each scenario compiles a definition with text of its own, as a notebook's cell has it, or a closure
of its own, and drops it. What is kept for a limited number of functions is emptied before anything
is counted, and its limit is checked apart.
"""

import collections
import contextlib
import functools
import gc
import itertools
import linecache
import sys
import weakref

import numpy as np
import pytest

from s2s_ad import (
    GradOperation,
    Parameter,
    S2SError,
    Tensor,
    checkpoint,
    grad,
    hessian,
    jit,
    jvp,
    linearize,
    nn,
    value_and_grad,
    vjp,
    vmap,
)
from s2s_ad.api.families import FAMILIES
from s2s_ad.api.recent import MOST_HELD, Recent
from s2s_ad.core import sharing

X = np.array([1.0, 2.0, 3.0])
LARGEST_CACHE = 256  # what keeps something for a limited number of functions keeps so many at most
ROUNDS = 3

_number = itertools.count()


def defined(text):
    """The function `f` of a cell with this text, in which NUMBER is another one each time."""
    number = next(_number)
    file, text = f"<cell {number}>", text.replace("NUMBER", f"{number}.5")
    linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
    space = {"__name__": "cells", "np": np, "nn": nn, "checkpoint": checkpoint}
    exec(compile(text, file, "exec"), space)
    weakref.finalize(space["f"], linecache.cache.pop, file)
    return space["f"]


# ---- scenarios -----------------------------------------------------------------------------------

CELLS = {
    "function": "def f(x):\n    return np.sum(x * x * NUMBER)\n",
    "lambda": "f = lambda x: np.sum(np.sin(x) * NUMBER)\n",
    "helper and loop": """
def scaled(y):
    z = y * NUMBER
    if z.sum() > 0:
        z = z * 2
    return z
def f(x):
    for _ in range(3):
        x = scaled(x)
    return np.sum(x)
""",
    "while and break": """
def f(x):
    while np.sum(x) < 100:
        x = x * 2 + NUMBER
        if x[0] > 50:
            break
    return np.sum(x)
""",
    "class": """
class Point:
    def __init__(self, a):
        self.a = a
    def scaled(self, x):
        return x * self.a * NUMBER
def f(x):
    point = Point(x)
    if x[0] > 0:
        point.b = x
    else:
        point.c = x
    return np.sum(point.scaled(x) + getattr(point, "b", x))
""",
    "dict": """
def f(x):
    table = {}
    if x[0] > 0:
        table["a"] = x * NUMBER
    return np.sum(table.get("a", x))
""",
    "generator": """
def parts(x):
    for i in range(3):
        yield x * i
def f(x):
    return np.sum(sum(parts(x))) * NUMBER
""",
    "try": """
def f(x):
    try:
        y = 1 / x[0]
        if y > 100:
            raise ValueError
    except ValueError:
        y = 0 * x[0]
    return y * NUMBER
""",
    "checkpoint": """
def part(x):
    return x * NUMBER
def f(x):
    return np.sum(checkpoint(part)(x))
""",
}


def of_cell(text):
    grad(defined(text))(X)


def batched():
    vmap(grad(defined(CELLS["function"])))(np.ones((2, 3)))


def nested():
    f = defined(CELLS["function"])
    grad(lambda x: np.sum(grad(f)(x)))(X)
    hessian(f)(X)


def vjp_and_jvp():
    f = defined(CELLS["function"])
    vjp(f, X)[1](1.0)
    jvp(f, X, X)
    linearize(f, X)[1](X)


def closure():
    k = float(next(_number))
    grad(lambda x: np.sum(x * k))(X)


def parameter():
    p = Parameter(np.ones(3))
    grad(lambda x: np.sum(x * p))(X)


def cell():
    net = nn.Dense(3, 2)
    value_and_grad(lambda x: net(x).sum(), None, net.trainable_params())(
        Tensor(np.ones((4, 3), np.float32))
    )


def method():
    class Model:
        w = 2.0

        @grad
        def loss(self, x):
            return np.sum(x * self.w)

    Model().loss(X)


def looked_at():
    derivative = grad(defined(CELLS["function"]))
    derivative.source(X), derivative.source(), derivative.explain(X), derivative.lower(X)
    derivative.source(X, standalone=True), derivative._repr_html_()


def refused():
    with pytest.raises(S2SError):
        grad(defined("def f(x):\n    with open(x):\n        return NUMBER\n"))(X)


def raises():
    with pytest.raises(ValueError, match="big"):
        grad(defined('def f(x):\n    if x[0] > 0: raise ValueError("big")\n    return x[0]\n'))(X)


def grad_operation():
    GradOperation()(defined(CELLS["function"]))(X)


SCENARIOS = {name: functools.partial(of_cell, text) for name, text in CELLS.items()}
for _each in (batched, nested, vjp_and_jvp, closure, parameter, cell, method, looked_at):
    SCENARIOS[_each.__name__] = _each
for _each in (refused, raises, grad_operation):
    SCENARIOS[_each.__name__] = _each


# ---- counting ------------------------------------------------------------------------------------


def caches():
    """The functions of the package that keep results: those for some arguments, those for all."""
    found = [
        each
        for name, module in list(sys.modules.items())
        if name.startswith("s2s_ad")
        for each in vars(module).values()
        if isinstance(each, functools._lru_cache_wrapper) and each.__module__ == name
    ]
    limited = [each for each in found if each.cache_parameters()["maxsize"] is not None]
    return limited, [each for each in found if each not in limited]


def objects():
    """How many objects there are, by class; what is kept for some functions is emptied before."""
    gc.collect()
    for each in caches()[0]:
        each.cache_clear()
    for recent in [each for each in sharing._locked if type(each) is Recent]:
        recent._made.clear()
    for _ in range(2):  # with the code of a function goes what is known of its text
        gc.collect()
    return collections.Counter(type(each) for each in gc.get_objects())


def left_by(scenarios):
    """The classes of which each round of the scenarios leaves an object."""
    for run in scenarios:
        run()
    before = objects()
    for _ in range(ROUNDS):
        for run in scenarios:
            run()
    more = objects() - before
    return {kind: count for kind, count in more.items() if count >= ROUNDS}


def test_what_was_dropped_leaves_nothing():
    assert left_by(SCENARIOS.values()) == {}


@pytest.mark.slow  # says which scenario it is, where the test above fails
@pytest.mark.parametrize("name", SCENARIOS)
def test_what_was_dropped_leaves_nothing_in(name):
    assert left_by([SCENARIOS[name]]) == {}


def test_what_is_kept_for_functions_is_limited():
    limited, unlimited = caches()
    assert len(limited) > 3
    sizes = {each: each.cache_parameters()["maxsize"] for each in limited}
    assert {each.__name__ for each, size in sizes.items() if size > LARGEST_CACHE} <= {
        "sample_dtypes"  # small tuples of dtypes
    }
    for run in SCENARIOS.values():
        run()
    before = [each.cache_info().currsize for each in unlimited]
    for run in SCENARIOS.values():
        run()
    assert before == [each.cache_info().currsize for each in unlimited]


@pytest.mark.slow
def test_memory_is_flat_over_ten_thousand_functions():
    runs = itertools.cycle(SCENARIOS.values())
    blocks = []
    for _ in range(5):
        for _ in range(2000):
            next(runs)()
        gc.collect()
        blocks.append(sys.getallocatedblocks())
    assert max(blocks[1:]) - min(blocks[1:]) < 2000, blocks  # the limits are reached in the first


# ---- what is kept alive --------------------------------------------------------------------------

LARGE = MOST_HELD // 10


@pytest.mark.parametrize(
    "call",
    [lambda f, x: vjp(f, x)[1](1.0), lambda f, x: jvp(f, x, x), lambda f, x: GRADIENT(f)(x)],
    ids=["vjp", "jvp", "GradOperation"],
)
def test_functions_made_for_each_batch_do_not_keep_the_batches(call):
    def step(batch):
        held = {"batch": [batch]}
        call(lambda x: np.sum(x) * held["batch"][0][0], np.float64(1.0))

    seen = []
    for _ in range(14):
        batch = np.ones(LARGE // 8)
        seen.append(weakref.ref(batch))
        step(batch)
    del batch
    gc.collect()
    assert sum(each() is not None for each in seen) == 0


GRADIENT = GradOperation()


def test_functions_that_are_asked_again_keep_what_they_hold():
    recent = Recent()
    steady = [np.ones(LARGE // 8) for _ in range(4)]
    for _ in range(3):
        first = [recent.get((each,), object) for each in steady]
    for _ in range(30):
        recent.get((np.ones(LARGE // 8),), object)
    assert [recent.get((each,), object) for each in steady] == first
    assert len(recent._made) <= 4 + 10


def test_weights_of_each_call_are_not_kept_for_ever(monkeypatch):
    monkeypatch.setattr(FAMILIES, "size", 4)

    def loss(x):
        return np.sum(x * x)

    seen = []
    for _ in range(10):
        p = Parameter(np.ones(1))
        vjp(loss, X, weights=[p])
        seen.append(weakref.ref(p))
    del p
    gc.collect()
    assert sum(each() is not None for each in seen) <= 4


# ---- arguments -----------------------------------------------------------------------------------


def elements(x, y):
    return np.tanh(x * y)


def total(x, y):
    return np.sum(elements(x, y) ** 2)


def loops(x, y):
    x = x.copy()
    while np.sum(x) < 30:
        x[1:] += y[1:] ** 2
    return np.sum(x)


def changes(x, y):
    x += y
    return np.sum(x * x)


def of_root(x, y):
    return np.sum(x) * y**0.5


def of_quotient(x, y):
    return np.sum(x) * (1 / y)


def refuses(x, y):
    raise ValueError("no")


CALLS = {
    "grad": lambda: grad(total),
    "value_and_grad": lambda: value_and_grad(total, (0, 1)),
    "of a loop": lambda: grad(loops),
    "of a change in place": lambda: grad(changes),
    "nested": lambda: grad(lambda x, y: np.sum(grad(total)(x, y))),
    "vmap": lambda: vmap(grad(total)),
    "checkpoint": lambda: grad(checkpoint(total)),
    "hessian": lambda: hessian(total),
    "jit": lambda: jit(total),
    "GradOperation": lambda: GradOperation()(total),
    "Tensors": lambda: lambda x, y, f=grad(total): f(Tensor(x), Tensor(y)),
    "vjp": lambda: lambda x, y: vjp(elements, x, y)[1](x),
    "jvp": lambda: lambda x, y: jvp(elements, (x, y), (y, x)),
    "linearize": lambda: lambda x, y: linearize(elements, (x, y))[1](y, x),
    "source": lambda: functools.partial(grad(total).source, standalone=True),
    "explain": lambda: grad(loops).explain,
    "lower": lambda: grad(elements).lower,
    "an error": lambda: grad(refuses),
    "a derivative in the limit": lambda: lambda x, y, f=grad(of_root, (0, 1)): f(x, 0.0),
    "a division by zero": lambda: lambda x, y, f=grad(of_quotient, (0, 1)): f(x, 0.0),
    "a refusal": lambda: lambda x, y, f=grad(total): f(x, y[:2]),
}


@pytest.mark.thinned(2)
@pytest.mark.filterwarnings("ignore:divide by zero")
@pytest.mark.parametrize("name", CALLS)
def test_arguments_go_as_soon_as_the_caller_drops_them(name):
    """Not when garbage is collected next: nothing holds them, and nothing does in a circle."""
    call, shape = CALLS[name](), (4, 3) if name == "vmap" else (3,)
    gc.collect()
    gc.disable()
    try:
        for _ in range(5):  # the first compiles, the last take the fast path
            x, y = np.full(shape, 0.5), np.full(shape, 0.7)
            seen = [weakref.ref(x), weakref.ref(y)]
            with contextlib.suppress(ValueError, ZeroDivisionError, S2SError):
                call(x, y)
            del x, y
            assert [each() for each in seen] == [None, None]
    finally:
        gc.enable()


def of_a_helper(w):
    def scaled(x):
        x = x * w
        if x[0] > 0:
            x = x + 1
        return x

    return lambda x: np.sum(scaled(scaled(x)))


@pytest.mark.thinned(3)
@pytest.mark.parametrize(
    "make, at_once",
    [
        (lambda w: grad(lambda x: np.sum(x * x * w)), True),
        (lambda w: value_and_grad(lambda x: np.sum(x * x * w)), True),
        (lambda w: grad(lambda x: np.sum(grad(lambda x: np.sum(x**3 * w))(x))), True),
        (lambda w: hessian(lambda x: np.sum(x**3 * w)), True),
        (lambda w: vmap(lambda x: x * w), True),
        (lambda w: grad(of_a_helper(w)), False),  # functions of a module that call each other
    ],
    ids=["grad", "value_and_grad", "nested", "hessian", "vmap", "helper"],
)
def test_captured_arrays_go_with_the_function(make, at_once):
    derivative, seen = make(captured := np.ones(3)), weakref.ref(captured)
    del captured
    gc.collect()
    gc.disable()
    try:
        for _ in range(5):
            derivative(X)
        assert seen() is not None
        del derivative
        assert (seen() is None) >= at_once
    finally:
        gc.enable()
    gc.collect()
    gc.collect()  # circles that others in circles held
    assert seen() is None


def test_a_function_that_was_handed_out_stays_when_what_made_it_goes():
    captured = np.array([1.0, 2.0, 3.0])
    _, pull = vjp(lambda x: np.sum(x * captured), X)
    call = grad(lambda x: np.sum(x * captured)).__call__
    call(X)
    gc.collect()
    np.testing.assert_array_equal(pull(1.0)[0], captured)
    np.testing.assert_array_equal(call(X), captured)
