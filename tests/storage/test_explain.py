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


def rows(text: str) -> dict[str, list[str]]:
    """name -> [line, bytes, how...]."""
    return {row.split()[0]: row.split()[1:] for row in text.splitlines()[2:-1]}


@pytest.mark.parametrize("count, dtype", [(5, np.float64), (7, np.float64), (5, np.float32)])
def test_bytes_are_those_of_the_arrays_that_are_kept(count, dtype):
    x, w, y = np.ones((count, 3), dtype), np.ones(3, dtype), np.ones(count, dtype)
    derived = value_and_grad(neuron)
    kept = rows(derived.explain(w, x, y))
    assert set(kept) == {"hidden", "error"}
    for name in kept:
        assert kept[name][1] == str(count * np.dtype(dtype).itemsize)
    assert derived.explain(w, x, y).endswith(f"{2 * count * np.dtype(dtype).itemsize} bytes")


def test_lines_are_the_users():
    kept = rows(grad(neuron).explain(np.ones(3), np.ones((5, 3)), np.ones(5)))
    first = neuron.__code__.co_firstlineno
    assert kept["hidden"][0] == str(first + 1)
    assert kept["error"][0] == str(first + 2)


def test_a_linear_function_keeps_nothing():
    assert "nothing is kept" in grad(linear).explain(np.ones(4))


def test_lengths_of_slices_are_known():
    assert "middle" in grad(viewed).explain(np.ones(6))
    assert rows(grad(viewed).explain(np.ones(6)))["middle"][1] == str(5 * 8)
