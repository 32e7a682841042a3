"""scipy.sparse: matrices made inside a function, and systems solved step by step."""

import numpy as np
import pytest
import scipy.sparse

from rules.properties import case, check_all, invertible, module, real, some_slow
from s2s_ad import grad, hessian, jit, jvp, value_and_grad, vmap
from s2s_ad.diagnostics import S2SError

LIKE = {"general": False, "empty": False}
PLACES = "(np.array([0, 1, 2, 2, 0, 0]), np.array([1, 0, 2, 1, 0, 1]))"  # one of them twice
STARTS = "np.array([2, 0, 1, 2, 0]), np.array([0, 2, 5])"  # the second index, and where rows begin
MADE = f"scipy.sparse.csr_matrix((v, {PLACES}), shape=(3, 3))"

CASES = [
    case(f"{MADE} @ b", v=real(6), b=real(3), **LIKE),
    case(f"{MADE}.T @ b", v=real(6), b=real(3, 2), **LIKE),
    case(f"{MADE.replace('csr_matrix', 'coo_array')}.dot(b)", v=real(6), b=real(3), **LIKE),
    case(f"{MADE}.toarray()", v=real(6), **LIKE),
    case(f"scipy.sparse.csr_array((v, {STARTS}), (2, 3)) @ b", v=real(5), b=real(3), **LIKE),
    case(f"b @ scipy.sparse.csc_array((v, {STARTS}), (3, 2))", v=real(5), b=real(2, 3), **LIKE),
    case("scipy.sparse.csc_matrix(A) @ b", A=real(2, 3), b=real(3), **LIKE),
    case(
        "scipy.sparse.linalg.spsolve(scipy.sparse.csc_matrix(A), b)",
        A=invertible(3, 3),
        b=real(3),
        **LIKE,
    ),
]


@pytest.mark.thinned(3)
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("each", some_slow(CASES, 2))
def test_properties(each):
    check_all(each)


DENSE = np.array([[0.0, 1.5, 0.0, -2.0], [0.3, 0.0, 0.0, 0.0], [0.0, -1.1, 0.7, 0.0]])
#: a product with a matrix M that is captured, and the shape of what it multiplies
PRODUCTS = [
    ("M @ x", (4,)),
    ("M @ x", (4, 2)),
    ("M.T @ x", (3,)),
    ("M.T @ x", (3, 2)),
    ("x @ M", (3,)),
    ("x @ M", (2, 3)),
    ("x @ M.T", (2, 4)),
    ("M.transpose().T.dot(x)", (4,)),
    ("M.T @ (M @ x)", (4,)),
]


@pytest.mark.thinned(12)
@pytest.mark.parametrize(
    "kind", ["csr_array", "csc_matrix", "coo_array", "bsr_matrix", "dia_array"]
)
@pytest.mark.parametrize("call, shape", PRODUCTS, ids=str)
def test_products_with_a_captured_matrix(kind, call, shape):
    """All modes are those of the same program with the dense matrix."""
    made = module(f"def f(x):\n    return np.sum(np.sin({call}) * np.exp({call}))\n")
    plain = module(f"def f(x):\n    return np.sum(np.sin({call}) * np.exp({call}))\n")
    made.M, plain.M = getattr(scipy.sparse, kind)(DENSE), DENSE
    rng = np.random.default_rng(0)
    x, v, samples = rng.normal(size=shape), rng.normal(size=shape), rng.normal(size=(5, *shape))
    for transform, arguments in [
        (grad, (x,)),
        (lambda f: vmap(f), (samples,)),
        (lambda f: vmap(grad(f)), (samples,)),
        (lambda f: lambda x: jvp(f, (x,), (v,)), (x,)),
        (lambda f: lambda x: jvp(grad(f), (x,), (v,)), (x,)),
        (lambda f: vmap(hessian(f)), (samples[:2],)),
    ]:
        found, wanted = (transform(each.f)(*arguments) for each in (made, plain))
        for pair in zip(*map(np.atleast_1d, (found, wanted)), strict=True):
            np.testing.assert_allclose(*pair, rtol=1e-12, atol=1e-13)


def test_the_adjoint_of_a_product_is_one_with_the_transpose():
    made = module("def f(x):\n    return np.sum(np.sin(M @ x))\n")
    made.M = scipy.sparse.csr_array(DENSE)
    assert "return M.T @ np.cos(M @ x)" in grad(made.f).source(np.ones(4))


def test_the_matrix_is_read_at_each_call():
    made = module("def f(x):\n    return np.sum(M @ x)\n")
    made.M = scipy.sparse.csr_array(DENSE)
    gradient, x = grad(made.f), np.ones(4)
    np.testing.assert_allclose(gradient(x), DENSE.sum(axis=0))
    made.M.data *= 3.0
    np.testing.assert_allclose(gradient(x), 3 * DENSE.sum(axis=0))
    made.M = scipy.sparse.csc_array(DENSE[:2])
    np.testing.assert_allclose(gradient(x), DENSE[:2].sum(axis=0))


def test_the_matrix_may_be_an_argument_or_an_attribute():
    given = module("def f(x, M):\n    return np.sum(M @ x)\n").f
    gradient, x = grad(given), np.ones(4)
    for factor in (1.0, -2.0):
        matrix = scipy.sparse.csr_array(factor * DENSE)
        np.testing.assert_allclose(gradient(x, matrix), factor * DENSE.sum(axis=0))
    text = "class C:\n    def __call__(self, x):\n        return np.sum(self.M.T @ x)\nf = C()\n"
    made = module(text)
    made.f.M = scipy.sparse.csr_array(DENSE)
    np.testing.assert_allclose(grad(made.f)(np.ones(3)), DENSE.sum(axis=1))


def test_a_complex_matrix():
    """The gradient of |M x|**2 is 2 M* (M x), its real part where x is real."""
    made = module("def f(x):\n    return np.sum(np.abs(M @ x) ** 2)\n")
    dense = DENSE * (1 - 2j)
    made.M = scipy.sparse.csr_array(dense)
    z = np.arange(4) * (0.5 + 1j)
    np.testing.assert_allclose(grad(made.f)(z), 2 * dense.conj().T @ (dense @ z))
    np.testing.assert_allclose(grad(made.f)(z.real), 2 * np.real(dense.conj().T @ (dense @ z.real)))


def test_single_precision_stays():
    made = module("def f(x):\n    return np.sum((M @ x) ** 2)\n")
    made.M = scipy.sparse.csr_array(DENSE.astype(np.float32))
    assert grad(made.f)(np.ones(4, np.float32)).dtype == np.float32


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("call", ["spsolve(M, b)", "spsolve(M.T, b)"])
def test_systems_with_a_captured_matrix(call):
    text = f"def f(b):\n    return np.sum(scipy.sparse.linalg.{call} ** 3)\n"
    made, plain = module(text), module(text.replace("scipy.sparse.linalg.sp", "np.linalg."))
    plain.M = DENSE[:, :3] + 2 * np.eye(3)
    made.M, b = scipy.sparse.csc_array(plain.M), np.array([0.3, -0.7, 1.1])
    for transform, argument in [
        (grad, b),
        (hessian, b),
        (lambda f: vmap(grad(f)), np.stack([b, 2 * b])),
    ]:
        found, wanted = (transform(each.f)(argument) for each in (made, plain))
        np.testing.assert_allclose(found, wanted, rtol=1e-11)


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
        ("scipy.sparse.csr_matrix((x, x, x)) @ x", "shape="),
        ("scipy.sparse.csr_matrix((x, (x, x))) @ x", "shape="),
        ("scipy.sparse.coo_matrix((x, x, x), (3, 3)) @ x", "data"),
        ("SPARSE @ SPARSE @ x", "two sparse matrices"),
        ("SPARSE @ np.ones((3, 2, 2))", "neither a vector nor a matrix"),
        ("(SPARSE * x)[0]", "__mul__"),
        ("SPARSE.sum() * x", "sum"),
        ("scipy.sparse.linalg.cg(np.eye(3), x, x0=x)[0]", "x0="),
        ("scipy.sparse.linalg.cg(np.eye(3), x, M=np.eye(3))[0]", "M="),
        ("scipy.sparse.linalg.eigsh(np.eye(3))[0] * x", "eigsh"),
        ("scipy.sparse.linalg.splu(np.eye(3)).solve(x)", "splu"),
    ],
)
def test_what_is_refused(call, said):
    made = module(f"def f(x):\n    return np.sum({call})\n")
    made.SPARSE, f = scipy.sparse.csr_array(np.eye(3)), made.f
    with pytest.raises(S2SError, match=said):
        grad(f)(np.ones(3))


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("matrix", ["M", "scipy.sparse.csc_array(A)"])
def test_the_solution_for_one_column_is_a_vector(matrix):
    made = module(f"def f(b, A):\n    return scipy.sparse.linalg.spsolve({matrix}, b)\n")
    dense = DENSE[:, :3] + 2 * np.eye(3)
    made.M, b = scipy.sparse.csc_array(dense), np.array([[0.3], [-0.7], [1.1]])
    found = jit(made.f)(b, dense)
    assert found.shape == made.f(b, dense).shape == (3,)
    np.testing.assert_allclose(found, np.linalg.solve(dense, b[:, 0]))
    slope = grad(lambda b: np.sum(made.f(b, dense)))(b)
    np.testing.assert_allclose(slope[:, 0], np.linalg.solve(dense.T, np.ones(3)))


CAPTURED = scipy.sparse.csr_array(2.0 * np.eye(3))


def which_are_sparse(x):
    made = scipy.sparse.csr_array((x, (np.arange(3), np.arange(3))), shape=(3, 3))
    kinds = [made, CAPTURED, CAPTURED.T, x, 1.0]
    return np.sum(x) * sum(2**k for k, each in enumerate(kinds) if scipy.sparse.issparse(each))


def test_what_is_sparse_is_known():
    np.testing.assert_array_equal(grad(which_are_sparse)(np.ones(3)), 7.0)
