"""Where each line of generated text comes from, as the compiler says it line by line."""

from __future__ import annotations

import inspect
import re

import numpy as np
import pytest

from s2s_ad import grad, jit, jvp, value_and_grad, vmap


def apart(x, y):
    a = np.sin(x)
    b = np.exp(y)
    c = np.tanh(a * b)
    return np.sum(c * x)


def in_a_loop(x, n):
    for _ in range(n):
        x = x * np.cos(x)
    return np.sum(np.sqrt(x))


def squared_again(x, n):
    for _ in range(n):
        x = x * x
    return np.sum(x)


def helper(v):
    w = np.log(v)
    return w * v


def with_a_helper(x):
    y = helper(x)
    z = helper(y + 2.0)
    return np.sum(np.arctan(z))


def branches(x, y):
    if y > 0.0:
        z = np.sinh(x)
    else:
        z = np.cosh(x)
    return np.sum(z)


def container(params, x):
    hidden = np.tanh(params["w"] * x)
    return np.sum(hidden + params["b"])


def line_of(function, text):
    """The one line of a function of this file in which a text stands."""
    lines, first = inspect.getsourcelines(function)
    (found,) = [number for number, line in enumerate(lines, first) if text in line]
    return found


X = np.array([0.3, 0.7, 1.1])

#: function, transform, arguments, {what a generated line has -> what one of the user's lines has}
CASES = [
    (apart, grad, (X, X), {"np.cos(": "np.sin", "np.exp(": "np.exp", "np.tanh(": "np.tanh"}),
    (apart, jit, (X, X), {"np.sin(": "np.sin", "return": "return"}),
    (apart, lambda f: vmap(grad(f)), (np.ones((2, 3)),) * 2, {"np.cos(": "np.sin"}),
    (
        in_a_loop,
        grad,
        (X, 2),
        {"np.sin(": "np.cos", "np.sqrt": "np.sqrt", ".append(": "np.cos", "reversed(": "for "},
    ),
    (with_a_helper, grad, (X + 2.0,), {"np.log(": "np.log", "z**2": "np.arctan"}),
    (branches, grad, (X, 1.0), {"np.cosh(": "np.sinh", "np.sinh(": "np.cosh", "if ": "if y"}),
    (container, value_and_grad, ({"w": X, "b": 1.0}, X), {"np.tanh(": "np.tanh"}),
]


@pytest.mark.parametrize("function, transform, arguments, expected", CASES)
def test_a_line_comes_from_the_users_line_with_that_function(
    function, transform, arguments, expected
):
    text = transform(function).text(*arguments)
    owner = {"np.log": helper}
    lines = list(zip(text.module.split("\n"), text.module_rows, strict=False))
    for made, written in expected.items():
        wanted = line_of(owner.get(written, function), written)
        rows = [row for line, row in lines if made in line.partition("#")[0]]
        assert rows, made
        for row in rows:
            assert wanted in [each.line for each in row.origins]
            assert all(each.file == __file__ for each in row.origins)


@pytest.mark.parametrize("function, transform, arguments, _", CASES)
def test_rows_agree_with_the_comments(function, transform, arguments, _):
    """The comments are written from the statements before they are printed."""
    text = transform(function).text(*arguments)
    rows = text.module_rows
    lines = text.module.removesuffix("\n").split("\n")
    assert len(rows) == len(lines)
    named = 0
    for line, row in zip(lines, rows, strict=True):
        if found := re.search(r"  # line (\d+)$", line):
            named += 1
            assert row.own
            assert row.origins[0].root == int(found[1])
    assert named


def test_the_sweeps_are_told_apart():
    text = grad(in_a_loop).text(X, 2)
    forward, _ = text.module.split("    # backward\n")
    phases = [each.phase for each in text.module_rows]
    assert "backward" not in phases[: forward.count("\n")]
    assert set(phases[forward.count("\n") + 1 : -2]) == {"backward"}
    assert {each.phase for each in _tangent(apart).module_rows} >= {"tangent"}


def _tangent(function):
    def along(x, y, v):
        return jvp(lambda z: function(z, y), (x,), (v,))[1]

    return jit(along).text(X, X, X)


def test_a_name_belongs_to_the_one_that_it_is_made_of():
    families = grad(squared_again).text(X, 2).families
    assert families["x_bar"] == families["x_saved"] == families["x"] == "x"
    again = _tangent(lambda x, y: grad(in_a_loop)(x, 2)).families
    assert again["x_bar_dot"] == again["x_dot"] == again["x_bar"] == "x"
