"""Programs of twice as many parts take about twice as many steps to compile.

A step is a call of a function, of Python or of C, so nothing here depends on the machine.
"""

from __future__ import annotations

import cProfile
import importlib.util
import sys
from unittest import mock

import numpy as np
import pytest

from s2s_ad import grad, jit, jvp, value_and_grad, vmap
from s2s_ad.core import passes

MOST = 2.3  # times as many steps for twice as many parts: n**1.2
MOST_OF_ROWS = 2.5  # n**1.3: each return stands in the block of the one before


def scalar_statements(n):
    return [f"x = np.sin(x) * {i}.5 + a[0]" for i in range(n)]


def array_statements(n):
    return [*(f"a = np.sin(a) * {i}.5 + a" for i in range(n)), "x = x + np.sum(a)"]


def updates(n):
    lines = [f"a[{i % 3}] = a[{(i + 1) % 3}] * x\n    a += a * {i}.5" for i in range(n)]
    return ["a = a * 1.0", *lines, "x = x + a[0]"]


def several_at_once(n):
    return ["y = x", *(f"x, y = y * {i}.5, np.sin(x) + y" for i in range(n)), "x = x + y"]


def sum_of_terms(n):
    return ["x = " + " + ".join(f"np.sin(x * {i}.5)" for i in range(n))]


def early_returns(n):
    return [f"if x > {n - i}.5:\n        return x * {i}.5" for i in range(n)]


def returns_between(n):
    lines = (f"if x > {n - i}.5:\n        return np.cos(x) * {i}.5" for i in range(n))
    return [f"{line}\n    x = x + 0.5 + 0.1 * np.sin(x)" for line in lines]


def nested_returns(n):
    lines = [f"{'    ' * i}if x > {i}.5:" for i in range(n)]
    return [*lines, *(f"{'    ' * i}return x * {i}.5" for i in range(n, 0, -1))]


def either_of_two(n):
    """A chain of conditions, of which each changes one of two values."""
    lines = (f"elif x < {i}.5:\n        {'yz'[i % 2]} = x * {i}.5" for i in range(1, n))
    return ["y, z = x, 2 * x", "if x < 0.5:\n        y = x * 0.5", *lines, "x = y * z"]


def in_a_loop(line):
    def parts(n):
        rows = [f"    if x > {n - i}.5:\n            {line}" for i in range(n)]
        return ["for _ in range(3):", *(f"{row}\n        x = x + 0.5" for row in rows)]

    parts.__name__ = f"{line.split()[0]}_in_a_loop"
    return parts


returns_in_a_loop, breaks, skips = map(in_a_loop, ("return np.cos(x)", "break", "continue"))


def none_until_then(n):
    """What is there on some paths only, and what follows asks for it."""
    row = "    if last is None or x < last:\n{0}last = x * {1}.5\n{0}x = x + np.cos(last)"
    rows = (row.format(" " * 12, i) for i in range(n))
    return ["last = None", "for _ in range(3):", *rows]


def entries(n):
    lines = (f"d['k{i}'] = d['k{i - 1}'] * x" for i in range(1, n))
    return ["d = {'k0': x}", *lines, f"x = d['k{n - 1}']"]


def statements_in_a_loop(n):
    return ["for _ in range(3):", *(f"    x = np.sin(x) * {i}.5 + a[0]" for i in range(n))]


def helpers(n):
    return [f"x = helper_{n}(x)"]


def helpers_below(n):
    """Functions each of which calls the one before."""
    text = "def helper_0(x):\n    return np.sin(x)\n\n\n"
    for i in range(1, n + 1):
        text += f"def helper_{i}(x):\n    y = np.sin(x) * {i}.5\n"
        text += f"    return helper_{i - 1}(y) + x\n\n\n"
    return text


def program(lines, folder, name, below=""):
    path = folder / f"{name}.py"
    body = "\n    ".join([*lines, "return x"])
    path.write_text(f"import numpy as np\n\n\n{below}def program(x, a):\n    {body}\n")
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.program


def tangent(f):
    return lambda x, a: jvp(f, (x, a), (1.0, np.ones_like(a)))


def batched(f):
    return lambda x, a: vmap(f, in_axes=(0, None))(np.full(3, x), a)


def steps(function, *args):
    """How many calls it takes."""
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(20_000)  # what is nested deeply is compiled in a thread, uncounted
    try:
        profile = cProfile.Profile()
        with mock.patch.object(passes, "VERIFY", False):  # what a user's program costs
            profile.runcall(function, *args)
    finally:
        sys.setrecursionlimit(limit)
    return sum(each.callcount for each in profile.getstats())


def growth(parts, n, transform, folder):
    """(steps for n parts, steps for 2n parts)."""
    a = np.linspace(0.1, 0.3, 3)
    names = (f"{parts.__name__}_{transform.__name__}_{count}" for count in (4, n, 2 * n))
    made = [
        program(parts(count), folder, name, helpers_below(count) if parts is helpers else "")
        for count, name in zip((4, n, 2 * n), names, strict=True)
    ]
    transform(made[0])(0.3, a)  # what is paid once
    return tuple(steps(transform(each), 0.3, a) for each in made[1:])


@pytest.mark.thinned(6)
@pytest.mark.parametrize(
    "parts, n",
    [
        (scalar_statements, 20),
        (array_statements, 40),
        (updates, 16),
        (several_at_once, 20),
        (sum_of_terms, 20),
        (early_returns, 12),
        (entries, 20),
        (statements_in_a_loop, 10),
        (either_of_two, 16),
        (breaks, 16),
        (none_until_then, 8),
        pytest.param(skips, 16, marks=pytest.mark.slow),
        pytest.param(helpers, 40, marks=pytest.mark.slow),
    ],
    ids=lambda each: getattr(each, "__name__", None),
)
def test_steps_grow_as_the_program_does(parts, n, tmp_path):
    few, many = growth(parts, n, grad, tmp_path)
    assert many < MOST * few


@pytest.mark.parametrize(
    "parts",
    [
        nested_returns,
        pytest.param(returns_between, marks=pytest.mark.slow),
        pytest.param(returns_in_a_loop, marks=pytest.mark.slow),
    ],
)
def test_steps_grow_as_a_row_of_returns_does(parts, tmp_path):
    few, many = growth(parts, 16, grad, tmp_path)
    assert many < MOST_OF_ROWS * few


@pytest.mark.slow
@pytest.mark.parametrize("transform", [grad, jit, tangent])
@pytest.mark.parametrize("parts", [scalar_statements, array_statements, updates, several_at_once])
def test_steps_grow_as_a_long_program_does(parts, transform, tmp_path):
    few, many = growth(parts, 150, transform, tmp_path)
    assert many < MOST * few


@pytest.mark.slow
@pytest.mark.parametrize("transform", [grad, jit, tangent])
@pytest.mark.parametrize("parts", [early_returns, returns_between, nested_returns])
def test_steps_grow_as_a_long_row_of_returns_does(parts, transform, tmp_path):
    few, many = growth(parts, 40, transform, tmp_path)
    assert many < MOST_OF_ROWS * few


def test_a_row_of_returns_for_each_sample(tmp_path):
    few, many = growth(early_returns, 8, batched, tmp_path)
    assert many < MOST_OF_ROWS * few


@pytest.mark.parametrize("parts", [early_returns, returns_between, nested_returns])
def test_text_is_as_long_as_the_program(parts, tmp_path):
    """Branches in branches neither double what follows nor move it beyond the margin."""
    few, many = (
        grad(program(parts(n), tmp_path, f"{parts.__name__}_{n}")).source(0.3, np.ones(3))
        for n in (12, 24)
    )
    assert many.count("\n") < 2.1 * few.count("\n")
    assert len(many) < 2.6 * len(few)


@pytest.mark.parametrize("parts", [returns_between, nested_returns])
def test_returns_deeper_than_text_is_wide(parts, tmp_path):
    """What is a function of its own has the derivative of what it was."""
    n, a, h = 15, np.ones(3), 1e-6
    function = program(parts(n), tmp_path, f"deep_{parts.__name__}")
    derived = value_and_grad(function)
    points = np.linspace(-1.0, n + 1.0, 41) + 0.013
    slopes = [(function(x + h, a) - function(x - h, a)) / (2 * h) for x in points]
    made = [derived(x, a) for x in points.tolist()]
    np.testing.assert_array_equal([value for value, _ in made], [function(x, a) for x in points])
    np.testing.assert_allclose([slope for _, slope in made], slopes, rtol=1e-6, atol=1e-6)
    batch = vmap(grad(function), in_axes=(0, None))(points, a)
    np.testing.assert_allclose(batch, slopes, rtol=1e-6, atol=1e-6)
    assert "program_value_and_grad_part(" in derived.source(0.3, a)


@pytest.mark.slow
def test_a_sum_of_two_thousand_terms(tmp_path):
    function = program([f"x = {' + '.join(['x * a[0]'] * 2000)}"], tmp_path, "terms")
    assert grad(function)(0.5, np.full(3, 0.25)) == 2000 * 0.25
    assert jit(function)(0.5, np.full(3, 0.25)) == 2000 * 0.5 * 0.25


def test_a_sum_of_more_terms_than_python_has_stack_for(tmp_path):
    function = program([f"x = {' + '.join(['x * a[0]'] * 400)}"], tmp_path, "terms")
    assert grad(function)(0.5, np.full(3, 0.25)) == 400 * 0.25


@pytest.mark.slow
def test_steps_grow_as_a_long_chain_of_helpers_does(tmp_path):
    """Each hands over what all below it have saved, one by one until text is written."""
    few, many = growth(helpers, 80, grad, tmp_path)
    assert many < MOST_OF_ROWS * few


@pytest.mark.slow
def test_helpers_that_call_each_other_two_hundred_deep(tmp_path):
    function = program(helpers(200), tmp_path, "deep_helpers", helpers_below(200))
    inputs = [0.3]  # of helper_200, helper_199, ..., helper_0
    for i in range(200, 0, -1):
        inputs.append(np.sin(inputs[-1]) * (i + 0.5))
    expected = np.cos(inputs.pop())
    for i, x in enumerate(reversed(inputs), start=1):
        expected = expected * np.cos(x) * (i + 0.5) + 1.0
    np.testing.assert_allclose(grad(function)(0.3, np.ones(3)), expected, rtol=1e-9)
