"""Loops, branches and calls beside an expert's code: the same numbers, about as long."""

from __future__ import annotations

import ast
import inspect

import numpy as np
import pytest

from golden import flow
from golden.test_golden import EXPECTED, flat
from s2s_ad import grad, vmap

rng = np.random.default_rng(0)
batch = np.array([0.5, 2.0, -0.3, 9.0, 0.0])
recurrent = (
    0.4 * rng.normal(size=(3, 2)),
    0.4 * rng.normal(size=(3, 3)),
    rng.normal(size=(4, 2)),
    rng.normal(size=3),
)
sum_of_logs = grad(lambda x: np.sum(vmap(flow.safe_log)(x)))

# name -> (derived, arguments, the functions that the expert wrote)
CASES = {
    "logistic_map_grad": (grad(flow.logistic_map), (3.7, 0.4, 5), [flow.logistic_map_grad]),
    "heat_grad": (grad(flow.heat, (0, 1)), (rng.normal(size=7), 0.1, 4), [flow.heat_grad]),
    "newton_sqrt_grad": (grad(flow.newton_sqrt), (2.0,), [flow.newton_sqrt_grad]),
    "newton_sqrt_vmap": (
        vmap(flow.newton_sqrt),
        (np.array([2.0, 9.0, 0.5]),),
        [flow.newton_sqrt_vmap],
    ),
    "huber_grad": (grad(flow.huber), (0.3, 1.0), [flow.huber_grad]),
    "huber_grad_linear": (grad(flow.huber), (-3.0, 1.0), [flow.huber_grad]),
    "huber_grad_vmap": (
        vmap(grad(flow.huber), in_axes=(0, None)),
        (batch, 1.0),
        [flow.huber_grad_vmap],
    ),
    "safe_log_vmap": (vmap(flow.safe_log), (batch,), [flow.safe_log_vmap]),
    "safe_log_vmap_grad": (sum_of_logs, (batch,), [flow.safe_log_vmap_grad]),
    "rnn_loss_grad": (
        grad(flow.rnn_loss, (0, 1)),
        recurrent,
        [flow.rnn_loss_grad, flow.cell_backward, flow.cell],
    ),
}


def count_statements(text: str) -> int:
    """Statements of all functions in the text, their headers and docstrings apart."""
    nodes = [node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.stmt)]
    apart = (ast.FunctionDef, ast.Import, ast.ImportFrom)
    plain = [node for node in nodes if not isinstance(node, apart)]
    return sum(not _is_docstring(node) for node in plain)


def _is_docstring(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


@pytest.mark.parametrize("name", CASES)
def test_same_numbers_as_the_expert(name):
    derived, arguments, experts = CASES[name]
    expected = experts[0](*arguments)
    for ours, theirs in zip(flat(derived(*arguments)), flat(expected), strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("name", CASES)
def test_statements(name):
    derived, arguments, experts = CASES[name]
    ours = count_statements(derived.text(*arguments).function)
    theirs = sum(count_statements(inspect.getsource(each)) for each in experts)
    assert ours <= 1.2 * theirs


@pytest.mark.parametrize("name", CASES)
def test_byte_for_byte(name, request):
    """The text is fixed; after a change on purpose: pytest --rewrite-golden, and read the diff."""
    derived, arguments, _ = CASES[name]
    text, path = derived.source(*arguments), EXPECTED / f"{name}.txt"
    if request.config.getoption("--rewrite-golden"):
        path.write_text(text)
    assert text == path.read_text()
