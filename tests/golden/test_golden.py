"""Generated code beside an expert's: the same numbers, no longer, no helper, byte for byte."""

from __future__ import annotations

import ast
import inspect
import pathlib
import re

import numpy as np
import pytest

from golden import programs
from s2s_ad import grad, jit, jvp, value_and_grad, vmap

EXPECTED = pathlib.Path(__file__).parent / "expected"
rng = np.random.default_rng(0)
theta, s_tm1, s_t = (
    np.array([0.2, -0.2, 0.1]),
    np.array([2.0, 1.0, -2.0]),
    np.array([1.0, 2.0, 0.0]),
)
params = {
    "W1": rng.normal(size=(7, 5)),
    "b1": rng.normal(size=5),
    "W2": rng.normal(size=(5, 3)),
    "b2": rng.normal(size=3),
}
point, direction = rng.normal(size=6), rng.normal(size=6)


def hessian_vector_product(x, x_dot):
    return jvp(grad(programs.rosenbrock), (x,), (x_dot,))


def rows(x):
    return np.stack([x, 2 * x, x - 1])


td = (theta, s_tm1, np.array(2.0), s_t)
td_batch = (theta, *(rows(each) for each in td[1:]))
labels = np.array([2, 0, 1, 1])
samples = rng.normal(size=(4, 7))
regression = (rng.normal(size=3), 0.5, rng.normal(size=(8, 3)), rng.integers(0, 2, 8) * 1.0)

# name -> (derived, arguments, the expert's function, the most statements; None: 1.2 times theirs)
CASES = {
    "td_loss_grad": (grad(programs.td_loss), td, programs.td_loss_grad, None),
    "td_loss_grad_vmap": (
        vmap(grad(programs.td_loss), in_axes=(None, 0, 0, 0)),
        td_batch,
        programs.td_loss_grad_vmap,
        None,
    ),
    "mlp_value_and_grad": (
        value_and_grad(programs.mlp_loss),
        (params, samples[0], np.int64(2)),
        programs.mlp_loss_value_and_grad,
        None,
    ),
    "mlp_value_and_grad_vmap": (
        vmap(value_and_grad(programs.mlp_loss), in_axes=(None, 0, 0)),
        (params, samples, labels),
        programs.mlp_loss_value_and_grad_vmap,
        None,
    ),
    "rosenbrock_grad": (grad(programs.rosenbrock), (point,), programs.rosenbrock_grad, None),
    "logistic_regression_grad": (
        grad(programs.logistic_regression, (0, 1)),
        regression,
        programs.logistic_regression_grad,
        12,
    ),
    "cube_grad_grad": (grad(grad(programs.cube)), (2.0,), programs.cube_grad_grad, 3),
}


def count_statements(text: str, name: str) -> int:
    """Statements of a function, its docstring apart."""
    tree = ast.parse(text)
    (function,) = [node for node in tree.body if getattr(node, "name", None) == name]
    statements = [node for node in ast.walk(function) if isinstance(node, ast.stmt)][1:]
    return sum(not _is_docstring(node) for node in statements)


def _is_docstring(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def flat(value) -> list:
    if isinstance(value, dict):
        return [leaf for key in sorted(value) for leaf in flat(value[key])]
    if isinstance(value, tuple):
        return [leaf for item in value for leaf in flat(item)]
    return [value]


@pytest.mark.parametrize("name", CASES)
def test_same_numbers_as_the_expert(name):
    derived, arguments, expert, _ = CASES[name]
    for ours, theirs in zip(flat(derived(*arguments)), flat(expert(*arguments)), strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("name", CASES)
def test_statements(name):
    derived, arguments, expert, most = CASES[name]
    text = derived.text(*arguments)
    ours = count_statements(text.function, text.name)
    theirs = count_statements(inspect.getsource(expert), expert.__name__)
    assert ours == text.statements <= (most or 1.2 * theirs)


@pytest.mark.parametrize("name", CASES)
def test_no_helper_where_shapes_are_known(name):
    derived, arguments, _, _ = CASES[name]
    assert derived.text(*arguments).helpers == ()


@pytest.mark.parametrize("name", CASES)
def test_byte_for_byte(name, request):
    """The text is fixed; after a change on purpose: pytest --rewrite-golden, and read the diff."""
    derived, arguments, _, _ = CASES[name]
    text, path = derived.source(*arguments), EXPECTED / f"{name}.txt"
    if request.config.getoption("--rewrite-golden"):
        path.write_text(text)
    assert text == path.read_text()


def test_the_hessian_vector_product():
    gradient, second = hessian_vector_product(point, direction)
    expected = programs.rosenbrock_grad_jvp(point, direction)
    np.testing.assert_allclose(gradient, expected[0], rtol=1e-12)
    np.testing.assert_allclose(second, expected[1], rtol=1e-12)


def test_the_hessian_vector_product_written_in_a_function_is_as_short():
    text = jit(hessian_vector_product).text(point, direction)
    expert = inspect.getsource(programs.rosenbrock_grad_jvp)
    assert text.statements <= 1.2 * count_statements(expert, "rosenbrock_grad_jvp")
    assert text.helpers == ()


def test_names_of_the_user_are_kept():
    text = grad(programs.td_loss).source(*td)
    assert re.findall(r"^    (\w+) =", text, re.MULTILINE) == [
        "v_t",
        "target",
        "v_t_bar",
    ]
