"""`explain` says what the backward pass reads of the forward pass, and how much memory that is."""

from __future__ import annotations

import numpy as np
import pytest

from s2s_ad import grad, value_and_grad


def neuron(w, x, y):
    hidden = np.tanh(x @ w)
    error = hidden - y
    return np.sum(error * error)


def linear(x):
    return np.sum(3.0 * x)


def viewed(x):
    head = x[1:] * 1.0
    middle = np.exp(head)
    return np.sum(middle)


def logistic(r, x, n):
    for _ in range(n):
        x = r * x * (1 - x)
    return x


def newton(a):
    x = a
    while abs(x * x - a) > 1e-10:
        x = 0.5 * (x + a / x)
    return x


def grid(x, n):
    for _ in range(n):
        for _ in range(3):
            x = np.sin(x) * 2.0
    return np.sum(x)


def linear_recurrence(x, n):
    for _ in range(n):
        x = 0.5 * x
    return np.sum(x)


def rows(text: str) -> dict[str, list[str]]:
    """name -> [line, bytes, when and why...]."""
    return {row.split()[0]: row.split()[1:] for row in text.splitlines()[2:-1]}


def first(function) -> int:
    return function.__code__.co_firstlineno


@pytest.mark.parametrize("count, dtype", [(5, np.float64), (7, np.float64), (5, np.float32)])
def test_bytes_are_those_of_the_arrays_that_are_kept(count, dtype):
    x, w, y = np.ones((count, 3), dtype), np.ones(3, dtype), np.ones(count, dtype)
    derived = value_and_grad(neuron)
    kept = rows(derived.explain(w, x, y))
    assert set(kept) == {"hidden", "error"}
    for name in kept:
        assert kept[name][1] == str(count * np.dtype(dtype).itemsize)
        assert kept[name][2] == "once"
    assert derived.explain(w, x, y).endswith(f"{2 * count * np.dtype(dtype).itemsize} bytes")


def test_lines_are_the_users():
    kept = rows(grad(neuron).explain(np.ones(3), np.ones((5, 3)), np.ones(5)))
    assert kept["hidden"][0] == str(first(neuron) + 1)
    assert kept["error"][0] == str(first(neuron) + 2)


@pytest.mark.parametrize("function, arguments", [(linear, ()), (linear_recurrence, (4,))])
def test_what_is_linear_keeps_nothing(function, arguments):
    assert "nothing is kept" in grad(function).explain(np.ones(4), *arguments)


def test_lengths_of_slices_are_known():
    assert "middle" in grad(viewed).explain(np.ones(6))
    assert rows(grad(viewed).explain(np.ones(6)))["middle"][1] == str(5 * 8)


@pytest.mark.parametrize("count", [0, 1, 5])
def test_each_pass_of_a_loop_keeps_a_value(count):
    text = grad(logistic).explain(3.1, 0.4, count)
    line, size, *rest = rows(text)["x_saved"]
    assert (line, size) == (str(first(logistic) + 1), str(8 * count))
    assert " ".join(rest) == f"each pass of line {line} each pass overwrites it"
    assert text.endswith(f"kept in all: {8 * count} bytes")


def test_bytes_a_pass_where_the_number_of_passes_shows_when_it_runs():
    text = grad(newton).explain(2.0)
    assert rows(text)["x_saved"][1:4] == ["8", "a", "pass"]
    assert text.endswith("kept in all: 0 bytes and 8 a pass of x_saved")


def test_loops_in_loops():
    text = grad(grid).explain(np.ones(2), 4)
    inner, outer = first(grid) + 2, first(grid) + 1
    line, size, *rest = rows(text)["x_saved"]
    assert (line, size) == (str(inner), str(4 * 3 * 2 * 8))
    assert " ".join(rest).startswith(f"each pass of line {inner} of line {outer} ")


def test_general_text_gives_bytes_a_pass():
    assert rows(grad(logistic).explain())["x_saved"][1:4] == ["unknown", "a", "pass"]


def spectrum(a, steps):
    for _ in range(steps):
        values, vectors = np.linalg.eigh(a)
        a = vectors * values @ vectors.T + a * a
    return np.sum(a)


def stacked(xs):
    waiting = []
    for x in xs:
        waiting.append(np.exp(x))
    total = 1.0
    while len(waiting) > 0:
        y = waiting.pop()
        total = total * np.sin(y)
    return total


@pytest.mark.parametrize(
    "function, arguments, why",
    [
        (spectrum, (np.diag([1.0, 2.0]), 3), "np.linalg.eigh would have to run again"),
        (stacked, (np.ones(3),), "it was taken off a list, where it is no longer"),
    ],
)
def test_results_of_functions_with_several_and_items_of_lists(function, arguments, why):
    assert why in grad(function).explain(*arguments)
