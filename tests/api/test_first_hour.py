"""The mistakes of the first hour: what was written, the first line of the message, the help."""

import dataclasses
import gc
import math
import re
import sys

import numpy as np
import pytest

from s2s_ad import S2SError, grad, jit, jvp, value_and_grad, vjp, vmap

X = np.array([1.0, 2.0, 3.0])
SQUARES = np.frompyfunc(lambda v: v * v, 1, 1)
LOG, COUNTS = [], {"calls": 0}


class Series:
    """As pandas has it: an array that is not NumPy's; Python methods that call compiled ones."""

    def __init__(self, values):
        self.held = np.asarray(values)

    def __array__(self, dtype=None, copy=None):
        return self.held

    def to_numpy(self):
        return self.held

    def __mul__(self, other):
        assert gc.is_tracked(self)  # what has no rule, as theirs have none
        return Series(self.held * getattr(other, "held", other))

    __rmul__ = __mul__


class Frame(Series):
    def __getitem__(self, name):
        return Series(self.held[name])


class Device(Series):
    """As PyTorch has it: its methods are compiled."""

    __mul__ = __rmul__ = __getitem__ = np.multiply
    to_numpy = None

    def detach(self):
        return self


class Lazy(Series):
    to_numpy = None

    def compute(self):
        return self.held


class Traced(Series):
    to_numpy = None


for _kind, _module in (
    (Series, "pandas"),
    (Frame, "pandas"),
    (Device, "torch"),
    (Lazy, "dask"),
    (Traced, "jax"),
):
    _kind.__module__ = f"{_module}.core"
SERIES, FRAME, DEVICE = Series(X), Frame({"a": X}), Device(X)


@dataclasses.dataclass
class Counter:
    n: int = 0


COUNTER = Counter()


class History:
    def __init__(self):
        self.values = []

    def __call__(self, x):
        self.values.append(np.sum(x))
        return np.sum(x)

    @grad(argnums=1)
    def slope(self, x):
        return np.sum(x)


def passed(x, log):
    y = np.sum(x**2)
    log.append(y)
    return y


def passed_in_a_dict(x, state):
    state["log"] += [np.sum(x)]
    return np.sum(x)


def captured(x):
    LOG.append(np.sum(x))
    return np.sum(x)


def counted(x):
    COUNTS["calls"] += 1
    return np.sum(x)


def counted_in_an_object(x):
    COUNTER.n += 1
    return np.sum(x)


def without_return(x):
    x * 2


def reads_a_file(x):
    with open("scale.txt") as file:
        return np.sum(x) * float(file.read())


def returned(x):
    return np.sum(x)


def imports_what_is_missing(x):
    import no_such_plots

    return no_such_plots.scale * np.sum(x)


def loss(x, y):
    return np.sum(x * y)


RETURN_IT = "return it beside the value, .*has_aux=True"
MISTAKES = [  # what was written, the first line, the help
    # changes that the caller would have to see
    (lambda: grad(passed)(X, []), "items are added to a list that was passed .*: log", RETURN_IT),
    (lambda: jit(passed)(X, []), "items are added to a list that was passed .*: log", RETURN_IT),
    (lambda: grad(passed)(X, [1.0] * 50), "items are added to a list that was passed", RETURN_IT),
    (lambda: grad(passed_in_a_dict)(X, {"log": []}), "items are added to a list", RETURN_IT),
    (lambda: grad(captured)(X), "a list that is not the function's own is changed", RETURN_IT),
    (lambda: grad(History())(X), "a list that is not the function's own is changed", RETURN_IT),
    (lambda: grad(counted)(X), "a dict that is not the function's own is changed", RETURN_IT),
    (lambda: grad(counted_in_an_object)(X), "attribute 'n' of .* Counter", "has_aux=True"),
    # arrays of other libraries
    (lambda: grad(np.sum)(SERIES), r"input 0 \(a\) is a pandas Series", r"\.to_numpy\(\)"),
    (lambda: grad(loss)(DEVICE, X), "is a torch Device", r"\.detach\(\)\.numpy\(\)"),
    (lambda: grad(loss)(Lazy(X), X), "is a dask Lazy", r"\.compute\(\)"),
    (
        lambda: grad(lambda p: p["a"])({"a": 1.0, "b": SERIES}),
        r'p\["b"\]\) is a pandas',
        "to_numpy",
    ),
    (lambda: grad(loss)(X, SERIES), "an operation on a pandas Series", "to_numpy"),
    (lambda: grad(lambda x: np.sum(x * FRAME["a"]))(X), "on a pandas Frame", "to_numpy"),
    (lambda: grad(lambda x: np.sum(x * DEVICE))(X), "an operation on a torch Device", "detach"),
    (lambda: grad(loss)(Traced(X), X), "is a jax Traced", r"np\.asarray"),
    # the habits of other libraries
    (lambda: grad(lambda x: np.sum(x.at[0].set(1.0)))(X), "'at' of an array", r"y = x\.copy\(\)"),
    (lambda: grad(lambda x: np.sum(x).backward())(X), "'backward' of an array", "leave it out"),
    (lambda: grad(lambda x: np.sum(x).grad)(X), "'grad' of an array", "call grad of the function"),
    (lambda: grad(lambda x: np.sum(x.numpy()))(X), "'numpy' of an array", "leave it out"),
    (lambda: grad(lambda x: np.sum(x.detach()))(X), "'detach' of an array", "stop_gradient"),
    # other kinds of arrays, and sets
    (lambda: grad(lambda x: np.sum(np.matrix(x)))(X), "np.matrix: arrays of a class", "a @ b"),
    (lambda: grad(lambda x: np.ma.masked_less(x, 0).sum())(X), "masked_less: arrays", "np.where"),
    (lambda: grad(lambda x: sum(set(x)))(X), "a set of numbers that are not known", "np.unique"),
    # names and options
    (lambda: grad(lambda x: np.summ(x))(X), "no attribute 'summ'", "did you mean 'sum'"),
    (lambda: grad(lambda x: np.mean(x, axiss=0))(X), "np.mean with axiss=", "did you mean axis="),
    (lambda: grad(lambda x: np.sum(x * undefined))(X), "the name 'undefined' is not defined", ""),  # noqa: F821
    (lambda: grad(lambda x: retuned(x))(X), "the name 'retuned' is not defined", "mean 'returned'"),  # noqa: F821
    (lambda: grad(imports_what_is_missing)(X), "import of no_such_plots: No module", "install it"),
    (lambda: grad(lambda x: np.gradient(loss)(x))(X), "np.gradient of the function loss", "grad"),
    (lambda: grad(lambda x: np.sum(x**2))([1.0, 2.0]), "operands: list and int", r"np\.array"),
    (lambda: grad(loss)(np.array([1.0, None]), X), "has dtype object", r"\.astype\(float\)"),
    (lambda: grad(np.sum, X), "must be None, an int or a tuple", r"comes back: grad\(f\)\(x\)"),
    (lambda: vjp(loss, X), "missing 1 .*: 'y'", r"takes the inputs of loss\(x, y\)"),
    (lambda: grad(loss, argnums=2), r"grad_position = 2 is out of range: loss\(x, y\)", ""),
    (lambda: History().slope(X), "out of range: the call has 1 input", "without self"),
    (lambda: grad(lambda x: math.sin(x))(X), "only 0-dimensional arrays", r"use np\.sin"),
    (lambda: grad(lambda x: np.sum(SQUARES(x)))(X), "np.frompyfunc made outside", "np.vectorize"),
    (
        lambda: grad(np.sum, "x"),
        "must be None, an int or a tuple of ints, got str 'x'",
        "the first one is 0",
    ),
    (lambda: grad(loss)(X), r"loss\(\) missing 1 .*: 'y'", r"is called as its .* loss\(x, y\)"),
    # what is passed and returned
    (lambda: grad(loss)(3, X), "is a Python int", "pass a float"),
    (lambda: grad(loss)(np.arange(3), X), "has dtype int64", "astype"),
    (lambda: grad(lambda p: 1.0)({"n": 2, "name": "a"}), "is a Python int", "pass a float"),
    (
        lambda: grad(without_return)(X),
        "without_return returned None",
        "is a return statement missing",
    ),
    (lambda: grad(np.sum(X)), "must be a function or a Cell", ""),
    (
        lambda: grad(Counter),
        "must be a function or a Cell",
        r"make an object of it: Counter\(...\)",
    ),
    (lambda: grad(reads_a_file)(X), r"'with open\(...\)'", "read the file outside"),
    (
        lambda: vmap(loss)(X, np.ones(4)),
        r"the mapped axes have different sizes: input 0 \(x\) axis 0 has 3, input 1 \(y\) .* has 4",
        "None in in_axes",
    ),
    (lambda: jvp(loss, (X, X), (X,)), "2 inputs and 1 tangent", "one tangent for each input"),
]


@pytest.mark.parametrize("mistake, first, help", MISTAKES, ids=[each[1] for each in MISTAKES])
def test_mistakes(mistake, first, help):
    for _ in range(2):  # and again, where something is known of the function
        with pytest.raises(S2SError) as caught:
            mistake()
        assert re.search(first, str(caught.value).splitlines()[0])
        assert re.search(help, caught.value.help)
        assert bool(caught.value.help) >= bool(help)
    assert (LOG, COUNTS, COUNTER) == ([], {"calls": 0}, Counter())


def test_a_record_is_returned_beside_the_value():
    def f(x, log):
        y = np.sum(x**2)
        return y, [*log, y]

    slope, (log,) = grad(f, has_aux=True)(X, [1.0])
    np.testing.assert_allclose(slope, 2 * X)
    assert log == [1.0, 14.0]


def test_a_list_of_the_function_grows():
    def f(x):
        log = []
        for each in x:
            log.append(each**2)
        return sum(log)

    np.testing.assert_allclose(grad(f)(X), 2 * X)


@pytest.mark.parametrize("transform", [jit, grad, value_and_grad, lambda f: vmap(grad(f))])
def test_breakpoint_stops_in_generated_code(transform, monkeypatch):
    stopped = []

    def stop(*args, **kwargs):
        frame = sys._getframe(1)
        stopped.append((frame.f_code.co_filename, dict(frame.f_locals)))

    def f(x):
        y = np.sin(x)
        breakpoint()
        return np.sum(y * y)

    monkeypatch.setattr(sys, "breakpointhook", stop)
    argument = np.stack([X, X]) if transform not in (jit, grad, value_and_grad) else X
    transform(f)(argument)
    ((file, names),) = stopped
    assert file.startswith("<s2s_ad")
    np.testing.assert_array_equal(names["x"], argument)
    np.testing.assert_allclose(names["y"], np.sin(argument))


def adds_none(x, b=None):
    return x + b


def compares_none(x, low=None):
    return x if x < low else 2 * x


def counts_up_to_a_number(x):
    total = 0.0
    for i in x.shape[0]:
        total += x[i]
    return total


def reads_what_it_deleted(x):
    y = 2.0 * x
    del y
    return np.sum(y)  # noqa: F821


def unpacks_keys(x):
    total = 0.0
    for name, value in {"w": x}:
        total += np.sum(value) * len(name)
    return total


def appends_to_an_array(x):
    out = np.array([])
    out.append(x)
    return np.sum(out)


MIXED_UP = [
    (adds_none, "operands: a value and NoneType", "ask before whether it is None"),
    (compares_none, "comparison of a value and NoneType", "ask before whether it is None"),
    (lambda x: x.sum * 2, "operands: method and int", "call the method: sum()"),
    (lambda x: x(0), "a call of a value that is not a function", "with brackets: x[0]"),
    (lambda x: x[1.0], "an index that is a float", "int(i)"),
    (lambda x: x[x[0]], "an index that is not an integer", "int(i)"),
    (lambda x: np.concatenate(x, x), "axis of np.concatenate is an array", "((a, b))"),
    (lambda x: np.array(x[0], x[1]), "dtype of np.array is a value", "np.array([a, b])"),
    (appends_to_an_array, "'append' of an array", "collect items in a list"),
    (lambda x: np.array([[x[0], x[1]], [x[2]]]), "items of an array that differ in length", ""),
    (lambda x: x.shape()[0] * x, "'tuple' object is not callable", "leave the brackets out"),
    (lambda x: x.T(), "a call of a value that is not a function", "what is no method has none"),
    (lambda x: x.len(), "'len' of an array", "call the function: len(x)"),
    (lambda x: x.exp(), "'exp' of an array", "call the function: np.exp(x)"),
    (lambda x: np.max(x, 2.0 * x), "the axis of np.max is no integer", "np.maximum(a, b)"),
    (lambda x: np.zeros(3, 4), "the dtype of np.zeros is an integer", "np.zeros((n, m))"),
    (lambda x: np.sum(map(abs, x)), "an iterator as an argument", "make a list of its items"),
    (lambda x: sum(x, axis=0), "sum() got an unexpected keyword argument 'axis'", ""),
    (lambda x: x.reshape(2, 2), "a reshape to another number", "-1 stands for the length"),
    (lambda x: "loss " + np.sum(x), "operands: str and a value", "put the value into the text"),
    (counts_up_to_a_number, "a number cannot be iterated over", "for i in range(n)"),
    (reads_what_it_deleted, "the local name 'y' is read after it was deleted", ""),
    (unpacks_keys, "cannot unpack 1 values into 2 names", "in its items()"),
    (lambda x: {"w": x}.w, "'dict' object has no attribute 'w'", "read the entry: ['w']"),
    (lambda x: {"weight": x}["wieght"], "KeyError: 'wieght'", "did you mean 'weight'"),
    (lambda x: {"w": x, "b": x}["bias"], "KeyError: 'bias'", "its keys are 'w', 'b'"),
]


@pytest.mark.parametrize("f, first, help", MIXED_UP, ids=[first for _, first, _ in MIXED_UP])
def test_what_was_mixed_up_is_told(f, first, help):
    with pytest.raises(S2SError, match=re.escape(first)) as caught:
        grad(f)(X)
    assert help in str(caught.value)


def test_the_function_itself_is_handed_in():
    with pytest.raises(S2SError, match=r"grad\(f\)\(\.\.\.\)"):
        grad(np.sum(X))(X)


class Gain:
    def __init__(self, x):
        self.factor = x


def appends(x):
    out = [x]
    out.apend(x)
    return sum(out)


def misspelt_attribute(x):
    return Gain(x).facter * x


def misspelt_method_of_a_text(x):
    return x if "a".uper() else 2 * x


def unpacks_too_many(x):
    a, b = np.array([x, x, x])
    return a * b


@pytest.mark.parametrize(
    "f, first, help",
    [
        (appends, "'list' object has no attribute 'apend'", "did you mean 'append'?"),
        (misspelt_attribute, "'Gain' object has no attribute 'facter'", "did you mean 'factor'?"),
        (
            misspelt_method_of_a_text,
            "'str' object has no attribute 'uper'",
            "did you mean 'upper'?",
        ),
        (unpacks_too_many, "cannot unpack 3 values into 2 names", "a, *rest = values"),
        (lambda x: np.array([x]).apend(x), "'apend' of an array", None),
    ],
    ids=["list", "object", "text", "unpacking", "array"],
)
def test_a_misspelt_attribute_is_told_what_may_be_meant(f, first, help):
    """Nothing was said of those of lists, objects and texts; of an array's apend "shape"."""
    with pytest.raises(S2SError, match=re.escape(first)) as caught:
        grad(f)(1.5)
    assert (help in str(caught.value)) if help else "did you mean" not in str(caught.value)
