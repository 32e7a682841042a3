"""A value that the way back reads for its lengths alone is not kept: inputs have these lengths."""

from __future__ import annotations

import numpy as np
import pytest

from s2s_ad import grad, vmap
from transforms.differences import differences

X = np.random.default_rng(1).uniform(0.2, 0.9, (4, 3))
W = np.random.default_rng(2).uniform(0.2, 0.9, 3)


def pairs(x, w):
    total = 0.0
    for k in range(len(w)):
        difference = x[:, None] - x[None] * w[k]
        total += np.mean(np.sum(difference**2, axis=-1))
    return total


def shifted(x, w):
    total = 0.0
    for _ in range(3):
        difference = x[1:, 1:] - x[:-1, :-1] * total
        total += np.mean(difference**3)
    return total


def inner(x, w):
    total = 0.0
    for k in range(1, len(w)):
        total += np.mean(np.outer(x[:, k], w)) ** 2 + np.var(x[:k])
    return total


def on_a_path(x, w):
    total = 0.0
    for k in range(len(w)):
        if total > 0.3:
            total += np.mean((x[:, None] - w[k] * x[None]) ** 2) * total
        else:
            total += np.mean(np.sin(x[x > 0.5])) + 0.2
    return total


def of_two_that_fit(x, w):
    total = 0.0
    for row in x:
        total += np.mean(np.tanh(x * row - w) ** 2) * total + 1
    return total


PROGRAMS = [
    (pairs, "len(x) ** 2"),
    (shifted, "((len(x) - 1) * (x.shape[1] - 1))"),
    (inner, "(len(x) * len(w))"),
    (on_a_path, "(len(x) * len(x) * x.shape[1])"),
    (of_two_that_fit, "x.size"),
]


@pytest.mark.parametrize("program, count", PROGRAMS, ids=lambda each: getattr(each, "__name__", ""))
def test_the_count_is_that_of_inputs(program, count):
    assert f"/ {count}" in grad(program).source(X, W)
    for x in (X, X[:3, :3] + 0.1, np.vstack([X, X])):
        slope = differences(lambda x: program(x, W), x)
        np.testing.assert_allclose(grad(program)(x, W), slope, rtol=1e-6, atol=1e-8)
    batch = np.stack([X, 0.9 * X])
    found = vmap(grad(program), in_axes=(0, None))(batch, W)
    np.testing.assert_allclose(found, [grad(program)(each, W) for each in batch])


def test_no_pass_forward_for_a_count():
    assert grad(pairs).source(X, W).count("for ") == 1


def of_lower_rows(x):
    m = np.tril(np.ones((len(x), len(x))))[1:]
    return np.sum(m @ x) * 3


def of_differences(x):
    return np.trapezoid(np.diff(x) ** 2)


def of_counts(x):
    total = x.sum() + 1.0
    for _ in range(2):
        total = total + np.sum((x[1:] * 0.5)[1:] * 3 + total)
    return total


@pytest.mark.parametrize("function", [of_lower_rows, of_differences, of_counts])
def test_what_is_cut_from_too_few_items_has_none(function):
    """`len(x) - 1` is no length where x is empty: the text for a call knows its lengths, and that
    which stands alone asks."""
    for first in (0, 4):
        of_calls, space = grad(function), {}
        of_calls(np.linspace(0.5, 1, first))
        exec(grad(function).source(np.linspace(0.5, 1, first), standalone=True), space)
        for length in (0, 1, 2, 4):
            x = np.linspace(0.5, 1, length)
            for each in (of_calls, space[f"{function.__name__}_grad"]):
                np.testing.assert_allclose(each(x), differences(function, x), rtol=1e-6)
