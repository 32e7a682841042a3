"""`global`: names of the module that functions assign, restored at the end or stored there."""

import numpy as np
import pytest
from scipy.optimize import brentq

from frontend.every_mode import assert_batched, assert_both_modes
from s2s_ad import S2SError, checkpoint, grad, jit, vmap

X = np.array([0.5, -1.2, 0.8, 1.9, -0.3])

COUNT = 0
SCALE = 2.0
MODE = "lin"
TABLE = None


def activated(v):
    y = v * SCALE
    z = y + 1
    if MODE == "lin":
        return y * z
    return np.sin(y) + z


def set_mode(mode):
    global MODE
    MODE = mode


class Mode:
    def __init__(self, mode):
        self.mode = mode

    def __enter__(self):
        self.before = MODE
        set_mode(self.mode)

    def __exit__(self, *_):
        set_mode(self.before)


def set_and_restored(x):
    old = MODE
    a = activated(x[0])
    set_mode("sin")
    b = activated(x[0])
    set_mode(old)
    return a + 3 * b + activated(x[1])


def in_a_context(x):
    with Mode("sin"):
        a = activated(x[0])
    return a * activated(x[1])


def scaled(v):
    global SCALE
    SCALE = SCALE * v
    return SCALE


def changed_in_a_loop(x):
    global SCALE
    old, total = SCALE, 0.0
    for v in x:
        total += scaled(v) + activated(v)
    SCALE = old
    return total


def only_declared(x):
    global TABLE, SCALE
    return np.sum(x**2) * SCALE * (TABLE is None)


def counted(x):
    global COUNT
    COUNT = 0
    total = 0.0
    for v in x:
        if v > 0:
            COUNT += 1
        total += v * COUNT
    return total


def of_a_function_inside(x):
    global COUNT
    COUNT = 3

    def more():
        global COUNT
        COUNT = COUNT + 1

    f = lambda v: v * COUNT
    first = f(x[0])
    more()
    return first + f(x[1]) ** 2


def residual(v, c):
    with Mode("sin"):
        return activated(v) - c


def restored_in_a_solver(x):
    return brentq(residual, -1.0, 0.5, args=(x[0],)) * activated(x[1])


PROGRAMS = [
    restored_in_a_solver,
    set_and_restored,
    in_a_context,
    changed_in_a_loop,
    only_declared,
    counted,
    of_a_function_inside,
]


@pytest.mark.thinned(2)
@pytest.mark.parametrize("function", PROGRAMS)
def test_in_all_modes(function):
    assert_both_modes(function, (X,))
    assert_batched(function, (X,))


def called(x):
    global COUNT
    COUNT += 1
    return np.sum(x**2)


def table():
    global TABLE
    if TABLE is None:
        TABLE = np.linspace(0.0, 1.0, 5)
    return TABLE


def of_a_table(x):
    return np.dot(table(), x**2)


def last(x):
    global LAST
    LAST = x[0] * 2
    return LAST**2


def test_what_is_another_value_is_stored(monkeypatch):
    space = globals()
    monkeypatch.setitem(space, "COUNT", 0)
    monkeypatch.setitem(space, "TABLE", None)
    for number in range(3):
        grad(called)(X)
        assert COUNT == number + 1
    np.testing.assert_allclose(grad(of_a_table)(X), 2 * np.linspace(0.0, 1.0, 5) * X)
    np.testing.assert_array_equal(TABLE, np.linspace(0.0, 1.0, 5))
    kept = TABLE
    np.testing.assert_allclose(grad(of_a_table)(2 * X), 4 * np.linspace(0.0, 1.0, 5) * X)
    assert TABLE is kept
    monkeypatch.setitem(space, "LAST", None)
    grad(last)(X)
    assert LAST == 1.0
    vmap(last)(np.stack([X, 2 * X]))
    assert LAST == 2.0
    assert "COUNT_2 = COUNT + 1" in grad(called).source(X)


def kept_in_a_list(x):
    global TABLE
    TABLE = [x]
    return x**2


def deleted(x):
    global COUNT
    del COUNT
    return x


def in_a_derivative(x):
    return grad(called)(x) * COUNT


def read_in_a_derivative(x):
    global SCALE
    SCALE = x * 3
    change = grad(activated)(x)
    SCALE = 2.0
    return change


def of_a_checkpoint(x):
    return checkpoint(called)(x)


@pytest.mark.parametrize(
    "function", [kept_in_a_list, deleted, in_a_derivative, read_in_a_derivative, of_a_checkpoint]
)
def test_what_cannot_be_stored_is_refused(function):
    with pytest.raises(S2SError) as caught:
        jit(function)(2.0)
    assert caught.value.code == "S2S207"
    assert caught.value.origin is not None
