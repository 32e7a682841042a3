"""`explain(copies=True)`: each copy in the text has a row, and a reason that holds."""

from __future__ import annotations

import copy
import re

import numpy as np
import pytest

from programs.test_corpus import CASES, SUPPORTED, moving, of_moving
from s2s_ad import S2SError, grad
from s2s_ad.emit.copied import copies_of

X = np.array([1.5, 2.5, 3.0, 4.0])


def changes_its_argument(a):
    a[0] = 5.0
    return np.sum(a * a)


def reads_each_pass(x, n):
    y = 2.0 * x
    total = 0.0
    for _ in range(n):
        total += np.sum(y**2)
        y[1:] = y[1:] * x[0]
    return total


def returns_its_argument(x, y):
    return np.sum(x * y)


def asks_for_it(x):
    y = x.copy()
    y[0] = 2.0
    return np.sum(y**2)


def rows_of(text):
    """copy -> (line, bytes, how often, why)."""
    table = text.partition("\ncopy ")[2].split("\n")[1:]
    rows = [re.split(r"  +", row.strip(), maxsplit=4) for row in table]
    return {copied: tuple(rest) for copied, *rest in rows}


def outcome(source, name, arguments):
    """What a module's function returns, and the arguments once somebody has changed that."""
    space, given = {}, copy.deepcopy(arguments)
    exec(source, space)
    result = space[name](*given)
    shown = repr(result)
    result[...] = 7.0
    return shown, repr(given)


def with_lines(text, function):
    """`{3}` stands for the third line of the function."""
    first = function.__code__.co_firstlineno - 1
    return re.sub(r"{(\d)}", lambda found: str(first + int(found[1])), text)


@pytest.mark.parametrize(
    "function, arguments, copied, expected",
    [
        (
            changes_its_argument,
            (X,),
            "a.copy()",
            "{2} 32 once|line {2} changes it, and it is an argument",
        ),
        (
            reads_each_pass,
            (X, 3),
            "y.copy()",
            "{4} 32 each pass of line {4}"
            "|line {6} changes it, "
            "and `y_saved`, which is read again later, may be the same memory",
        ),
        (
            returns_its_argument,
            (X, X),
            "y.copy()",
            "{1} 32 once|it is returned, and it is an argument",
        ),
        (asks_for_it, (X,), "x.copy()", "{2} 32 once|line {2} copies"),
    ],
    ids=lambda each: getattr(each, "__name__", None),
)
def test_a_copy_and_its_reason(function, arguments, copied, expected):
    derived = grad(function)
    rows = rows_of(derived.explain(*arguments, copies=True))
    place, _, why = with_lines(expected, function).partition("|")
    assert rows[copied] == (*place.split(" ", 2), why)
    source = derived.source(*arguments, standalone=True)
    without = source.replace(copied, copied.removesuffix(".copy()"))
    name = f"{function.__name__}_grad"
    assert outcome(source, name, arguments) != outcome(without, name, arguments)


def test_nothing_is_copied():
    square = grad(lambda x: np.sum(x * x))
    assert square.explain(X, copies=True) == f"{square.explain(X)}\nnothing is copied"


def count(text):
    """The copies in a text, stores into `x[:]` and loops over `range` apart."""
    code = re.sub(r"#.*", "", text)
    stored = re.findall(r"^\s*[\w.\[\]]+\[:\] [-+*/|&@]*=", code, re.MULTILINE)
    found = re.findall(r"\.copy\(\)|np\.copy\(|\bcopied\(|\blist\(|[\w)\]]\[:\]", code)
    return len(found) - len(stored)


@pytest.mark.thinned(2)
@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=() if place % 40 == 0 else pytest.mark.slow)
        for place, name in enumerate(SUPPORTED)
    ],
)
def test_each_copy_in_the_text_has_a_row(name):
    case = CASES[name]
    derived = grad(of_moving(case), tuple(range(len(case.wrt))))
    try:
        text = derived.text(*moving(case))
    except S2SError:
        pytest.skip("no gradient of one number")
    rows = copies_of(derived.core(*moving(case)))
    assert len(rows) == count(text.function)
    assert all(each.fact is not None for each in rows)  # an operation of Core was found for it
