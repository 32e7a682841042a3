"""A fault of the compiler is told as such, at every stage; the user's own exceptions pass."""

import functools
import math

import numpy as np
import pytest

from s2s_ad import S2SError, grad, jit, jvp, vmap
from s2s_ad.api import function as door
from s2s_ad.core import faults
from s2s_ad.core.registry import RULES
from s2s_ad.diagnostics import InternalError


def helper(x):
    return np.tanh(x) * 2.0


def loss(x):
    y = helper(x)
    return np.sum(y * y)


class Broken(Exception):
    """Stands for any exception that nobody expects."""


def ours(statement, **names):
    """A function whose code stands, by what its traceback says, in a file of the package."""
    text = f"def failing(*args, **kwargs):\n    {statement}\n"
    exec(compile(text, faults.PACKAGE + "rules/broken.py", "exec"), names)
    return names["failing"]


X = np.ones(3)
STAGES = [
    ("infer", lambda: jit(loss)(X), True),
    ("bind", lambda: jit(loss)(X), True),
    ("reverse", lambda: grad(loss)(X), True),
    ("forward", lambda: jvp(loss, (X,), (X,)), True),
    ("batch", lambda: vmap(loss)(np.ones((2, 3))), True),
    ("surface", lambda: jit(loss)(X), False),
]


@pytest.mark.parametrize("method, run, has_line", STAGES)
@pytest.mark.parametrize("error", [Broken("out of order"), AssertionError(), UnboundLocalError()])
def test_a_rule_that_fails(monkeypatch, method, run, has_line, error):
    monkeypatch.setattr(RULES[np.tanh], method, ours("raise error", error=error))
    with pytest.raises(InternalError) as caught:
        run()
    assert caught.value.__cause__ is error
    assert type(error).__name__ in str(caught.value)
    assert "not of your code" in str(caught.value)
    assert "report" in str(caught.value)
    if has_line:
        assert caught.value.origin.text.strip() == "return np.tanh(x) * 2.0"
        assert caught.value.origin.root == loss.__code__.co_firstlineno + 1


@pytest.mark.parametrize(
    "owner, name",
    [(door, "finish"), (door, "write"), (door, "load")],
)
def test_a_pass_that_fails(monkeypatch, owner, name):
    monkeypatch.setattr(owner, name, ours("raise error", error=Broken()))
    with pytest.raises(InternalError) as caught:
        grad(loss)(X)
    assert isinstance(caught.value, S2SError)
    assert isinstance(caught.value.__cause__, Broken)


def test_what_speaks_of_the_compilers_own_objects_is_no_mistake_of_the_user(monkeypatch):
    monkeypatch.setattr(RULES[np.tanh], "infer", ours("return args[0][0].no_such_fact"))
    with pytest.raises(InternalError, match="no_such_fact"):
        jit(loss)(X)


@pytest.mark.parametrize("error", [KeyboardInterrupt, SystemExit, MemoryError, RuntimeWarning])
def test_what_is_no_error_of_code_passes(monkeypatch, error):
    monkeypatch.setattr(RULES[np.tanh], "infer", ours("raise error", error=error))
    with pytest.raises(error):
        jit(loss)(X)


def without_the_first(x):
    y = x * 1.0
    del y[0]
    return np.sum(y)


@pytest.mark.parametrize(
    "function, says",
    [
        (lambda x: np.sum(x, axis=7), "axis"),
        (lambda x: np.reshape(x, "four"), "Python refuses this|shape"),
        (without_the_first, "cannot delete array elements"),
        (lambda x: x + "a", "unsupported operands"),
        (lambda x: np.transpose(x, (0, 1)), "axes don't match"),
        (lambda x: x * np.sum(np.add.at(np.ones(3), 0, x[0])), r"np.add.at\(...\) gives None"),
        (lambda x: x[0] * [1.0].append(x[1]), r"append\(...\) gives None"),
    ],
)
def test_mistakes_of_the_user_are_no_faults(function, says):
    with pytest.raises(S2SError, match=says) as caught:
        jit(function)(X)
    assert not isinstance(caught.value, InternalError)


def pairs(x):
    yield x[0]
    yield x[1]


class Slot:
    """A class of the user's with the name of one of the compiler's."""


@pytest.mark.parametrize(
    "function, says",
    [
        (lambda x: x + pairs, "a value and function"),
        (lambda x: x.sum[0], "a subscript of a method"),
        (lambda x: [y for y in x.sum], "a loop over a method"),
        (lambda x: x[zip(x, x)], "an index that is an iterator"),
        (lambda x: -functools.partial(pairs, x), "unsupported operands: partial"),
        (lambda x: math.sin(lambda y: x), "must be real number, not function"),
        (lambda x: float(pairs(x)), "a real number, not 'generator'"),
        (lambda x: next(x.sum), "'method' object is not an iterator"),
        (lambda x: np.random.default_rng(0)(x), "a call of a Generator, which is not callable"),
        (lambda x: lambda y: y * x, "returns a function"),
        (lambda x: Slot().scale * x, "'Slot' object has no attribute 'scale'"),
        (lambda x: np.poly1d([1.0]).scale * x, "'poly1d' object has no attribute 'scale'"),
    ],
)
def test_a_refusal_speaks_of_what_the_user_has(function, says):
    with pytest.raises(S2SError, match=says) as caught:
        jit(function)(X)
    assert not isinstance(caught.value, InternalError)


class Picky:
    """An object whose own code runs while code is generated."""

    def __init__(self):
        self.scale = 2.0

    def __getattribute__(self, name):
        if name == "scale":
            raise Broken("of the user")
        return super().__getattribute__(name)


def test_exceptions_of_the_users_code_pass():
    picky = Picky.__new__(Picky)
    with pytest.raises(Broken, match="of the user"):
        jit(lambda x: x * picky.scale)(X)
