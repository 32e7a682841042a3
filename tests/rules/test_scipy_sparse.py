"""scipy.sparse: matrices made inside a function, and systems solved step by step."""

import numpy as np
import pytest

from rules.properties import case, check_all, invertible, module, real, some_slow
from s2s_ad import grad, value_and_grad, vmap
from s2s_ad.diagnostics import S2SError

LIKE = {"general": False, "empty": False}
PLACES = "(np.array([0, 1, 2, 2, 0, 0]), np.array([1, 0, 2, 1, 0, 1]))"  # one of them twice
MADE = f"scipy.sparse.csr_matrix((v, {PLACES}), shape=(3, 3))"

CASES = [
    case(f"{MADE} @ b", v=real(6), b=real(3), **LIKE),
    case(f"{MADE}.T @ b", v=real(6), b=real(3, 2), **LIKE),
    case(f"{MADE.replace('csr_matrix', 'coo_array')}.dot(b)", v=real(6), b=real(3), **LIKE),
    case(f"{MADE}.toarray()", v=real(6), **LIKE),
    case("scipy.sparse.csc_matrix(A) @ b", A=real(2, 3), b=real(3), **LIKE),
    case(
        "scipy.sparse.linalg.spsolve(scipy.sparse.csc_matrix(A), b)",
        A=invertible(3, 3),
        b=real(3),
        **LIKE,
    ),
]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("each", some_slow(CASES, 2))
def test_properties(each):
    check_all(each)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", ["bicg", "bicgstab", "cg", "cgs", "gmres"])
def test_systems_solved_step_by_step(name):
    """The derivatives of both orders are those of np.linalg.solve."""
    text = "def f(A, b):\n    return np.sum(CALL ** 2)\n"
    f = module(text.replace("CALL", f"scipy.sparse.linalg.{name}(A, b, rtol=1e-13)[0]")).f
    plain = module(text.replace("CALL", "np.linalg.solve(A, b)")).f
    root = np.array([[1.0, 0.2, -0.3], [0.1, 1.5, 0.4], [0.3, -0.2, 0.8]])
    A, b = root @ root.T + np.eye(3), np.array([0.3, -0.7, 1.1])
    pairs = [*zip(grad(f, (0, 1))(A, b), grad(plain, (0, 1))(A, b), strict=True)]
    curves = []
    for each in (f, plain):
        outer = module("def g(A, b):\n    return np.sum(grad(f, 1)(A, b) ** 2)\n")
        outer.f = each
        curves.append(grad(outer.g, (0, 1))(A, b))
    for found, wanted in [*pairs, *zip(*curves, strict=True)]:
        np.testing.assert_allclose(found, wanted, rtol=1e-7, atol=1e-9)
    batch = vmap(grad(f, 1), (None, 0))(A, np.stack([b, 2 * b]))
    np.testing.assert_allclose(batch[1], 2 * batch[0], rtol=1e-8)


def test_without_a_solution_the_derivative_is_nan():
    text = "def f(A, b):\n    return np.sum(scipy.sparse.linalg.cg(A, b, maxiter=1)[0])\n"
    A, b = np.diag([1.0, 10.0, 100.0]), np.ones(3)
    value, b_bar = value_and_grad(module(text).f, 1)(A, b)
    assert np.isfinite(value)
    assert np.all(np.isnan(b_bar))


@pytest.mark.parametrize(
    "call, said",
    [
        ("scipy.sparse.csr_matrix((x, x, x)) @ x", "data"),
        ("scipy.sparse.csr_matrix((x, (x, x))) @ x", "shape="),
        ("scipy.sparse.linalg.cg(np.eye(3), x, x0=x)[0]", "x0="),
        ("scipy.sparse.linalg.cg(np.eye(3), x, M=np.eye(3))[0]", "M="),
        ("scipy.sparse.linalg.eigsh(np.eye(3))[0] * x", "eigsh"),
        ("scipy.sparse.linalg.splu(np.eye(3)).solve(x)", "splu"),
    ],
)
def test_what_is_refused(call, said):
    f = module(f"def f(x):\n    return np.sum({call})\n").f
    with pytest.raises(S2SError, match=said):
        grad(f)(np.ones(3))
