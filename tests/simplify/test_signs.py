"""Gradients take no negative of what can have the other sign."""

from __future__ import annotations

import ast

import numpy as np
import pytest

from s2s_ad import grad
from transforms.differences import differences

R = np.random.default_rng(4)
X, A, T = R.normal(size=3), R.normal(size=(5, 3)), R.normal(size=5)


def read_with_both_signs(x):
    u = np.sin(x)
    return np.sum((u - x) ** 2 * x) + np.sum(A @ (x - u) * T)


def by_a_matrix(x):
    y = -A @ np.tanh(x)
    return np.sum(np.cos(y) * T)


def of_a_square(x):
    """What is multiplied by itself keeps its sign."""
    d = 1.0 - x
    return np.sum(np.exp(-d) * d) - np.sum(np.exp(d * d) / (2.0 - d))


@pytest.mark.parametrize(
    "program, negatives", [(read_with_both_signs, 0), (of_a_square, 1), (by_a_matrix, 1)]
)
def test_slopes_are_right_and_have_no_sign_more_than_the_program(program, negatives):
    slopes = grad(program)
    np.testing.assert_allclose(slopes(X), differences(program, X), rtol=1e-6, atol=1e-7)
    nodes = [each for each in ast.walk(ast.parse(slopes.source(X))) if is_negative(each)]
    assert len(nodes) == negatives


def is_negative(node):
    is_sign = isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub)
    return is_sign and not isinstance(node.operand, ast.Constant)
