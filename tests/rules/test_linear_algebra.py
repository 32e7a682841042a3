"""Linear algebra where derivatives are special: equal eigenvalues, full matrices, triangles."""

import numpy as np
import pytest
import scipy.linalg

from rules.properties import module
from s2s_ad import grad, jit, jvp, runtime, vmap
from s2s_ad.diagnostics import DerivativeError

RNG = np.random.default_rng(0)
TALL, WIDE = RNG.normal(size=(4, 2)), RNG.normal(size=(2, 4))


def function(body):
    return module(f"def f(a):\n    {body}\n").f


def turned(*eigenvalues):
    """A symmetric matrix with these eigenvalues."""
    q, _ = np.linalg.qr(RNG.normal(size=(len(eigenvalues),) * 2))
    return (q * eigenvalues) @ q.T


EQUAL = [(2.0, 2.0, 5.0), (2.0, 2.0, 2.0), (1.0, 3.0, 3.0), (0.0, 0.0, 1.0)]


@pytest.mark.parametrize(
    "text", ["np.linalg.eigh(a)[0]", "np.linalg.eigvalsh(a)", "np.linalg.svdvals(a)"]
)
@pytest.mark.parametrize("eigenvalues", EQUAL)
def test_sums_of_functions_of_equal_eigenvalues_have_a_derivative(text, eigenvalues):
    """The sum of squares is that of the elements of the matrix."""
    a, d = turned(*eigenvalues), turned(1.0, 2.0, 4.0)
    f = function(f"return np.sum({text} ** 2)")
    np.testing.assert_allclose(np.sum(grad(f)(a) * d), 2 * np.sum(a * d), rtol=1e-9)
    np.testing.assert_allclose(jvp(f, (a,), (d,))[1], 2 * np.sum(a * d), rtol=1e-9)


@pytest.mark.parametrize(
    "text",
    [
        "w, v = np.linalg.eigh(a); return np.sum((v * np.arange(3)) @ v.T)",
        "w, v = np.linalg.eigh(a); return np.sum(v @ np.diag(np.where(w > 2.5, 2, 1)) @ v.T)",
        "u, s, vh = np.linalg.svd(a); return np.sum((u * s) @ vh)",
        "return np.sum(np.linalg.eigh(a)[1][:, 1])",
        "w, v = np.linalg.eigh(a); return np.sum((v.T @ np.arange(3.0)) ** 4)",
        "w, v = np.linalg.eigh(a); return np.sum((v.T @ np.arange(3.0)) ** 2 * np.arange(3.0))",
        "w, v = np.linalg.eigh(a); u = v[:, ::-1]; return np.sum((v * w) @ v.T) + u[0, 1] * w[0]",
        "w, v = np.linalg.eigh(a); u = v[:, ::-1]; return np.sum((u * np.exp(w)) @ u.T)",
    ],
)
@pytest.mark.parametrize("eigenvalues", EQUAL)
def test_vectors_of_equal_eigenvalues_have_no_derivative(text, eigenvalues):
    """What they are put together to may have one, which does not show in theirs."""
    assert np.isnan(grad(function(text))(turned(*eigenvalues))).any()


#: functions of w, v = np.linalg.eigh(a) to which it does not matter which the vectors are
OF_ALL_VECTORS = [
    "(v * w**3) @ v.T",
    "v @ np.diag(1 / np.sqrt(w)) @ v.T @ np.arange(3.0)",
    "v @ (np.exp(w)[:, None] * v.T - 2 * v.T)",
    "v @ ((v.T @ np.arange(3.0)) / w) * (v @ v.T)[0, 0]",
    "np.einsum('ij,j,kj->ik', v, np.where(w > 2.5, w / np.sum(w), 2.0), v)",
    "(v * (w > 2.5)) @ v.T + v @ np.diag((w < 4.0).astype(float)) @ v.T",
    "w[w > 2.5] = 0.5; y = (v * w[None]) @ v.T",
    "w, v = w[::-1], v[:, ::-1]; y = (v / w) @ v.T",
    "v @ np.diag(np.exp(w)) @ np.linalg.inv(v)",
    "np.sum((v.T @ np.arange(3.0)) ** 2 / w) + np.sum(np.log(w))",
    "np.sum(np.square(K.real @ (v / np.sqrt(w))), axis=1)",
    "c = K.real @ v; y = np.sum(c * (K.imag @ v) * np.exp(w), axis=-1, keepdims=True) / 99",
    "np.real((np.arange(9).reshape(3, 3) + 1j) * ((v * np.exp(1j * w)) @ v.T))",
    "np.abs(v @ (np.diag(np.exp(-1j * w)) @ (v.conj().T @ np.array([1.0, 0.5, 1j])))) ** 2",
]


#: the same of complex vectors
OF_ALL_COMPLEX_VECTORS = [
    "np.real(K * ((v * np.exp(w)) @ v.conj().T))",
    "np.abs(v @ (np.exp(-1j * w) * (v.conj().T @ K[0]))) ** 2",
    "np.imag(K * (v.conj() @ np.diag(np.exp(1j * w)).T @ v.T))",
    "np.real(K * np.einsum('ij,j,kj->ik', v, np.log(w), np.conj(v)))",
    "np.imag(K * (v @ (np.conj(v) * (w + 1j)).T))",
    "np.imag(K * ((v * np.exp(1j * w)) @ np.linalg.inv(v)))",
    "c = v.conj().T @ K[0]; y = np.real(np.sum(c.conj() * c * np.log(w)))",
    "np.imag(K * ((v * np.exp(1j * w) + 2 * v) @ v.conj().T))",
]


def hermitian(*eigenvalues):
    """A Hermitian matrix with these eigenvalues."""
    shape = (len(eigenvalues),) * 2
    q, _ = np.linalg.qr(RNG.normal(size=shape) + 1j * RNG.normal(size=shape))
    return (q * eigenvalues) @ q.conj().T


@pytest.mark.parametrize(
    "text, matrix",
    [(text, turned) for text in OF_ALL_VECTORS]
    + [(text, hermitian) for text in OF_ALL_COMPLEX_VECTORS],
)
def test_functions_of_all_vectors_alike_have_a_derivative_where_values_are_equal(text, matrix):
    """Central differences, for their values depend smoothly on the matrix."""
    text = text if "y = " in text else f"y = {text}"
    space = module(
        f"K = np.arange(9).reshape(3, 3) + 1j\n\n\ndef f(a):\n    w, v = np.linalg.eigh(a)\n"
        f"    {text}\n    return y\n\n\n"
        "def loss(a):\n    return np.dot(np.ravel(f(a)), np.cos(np.arange(f(a).size)))\n\n\n"
        "def total(many):\n    return np.sum(vmap(loss)(many))\n"
    )
    space.vmap, d, step = vmap, matrix(1.0, -2.0, 4.0), 1e-5
    along = lambda gradient: np.sum(np.real(np.conj(gradient) * d), axis=(-2, -1))
    many = np.stack([matrix(*each) for each in (*EQUAL[:3], (1.0, 2.0, 5.0))])
    slopes = [(space.loss(a + step * d) - space.loss(a - step * d)) / (2 * step) for a in many]
    for gradients in (vmap(grad(space.loss))(many), grad(space.total)(many)):
        np.testing.assert_allclose(along(gradients), slopes, atol=2e-7)
    for a, slope in zip(many, slopes, strict=True):
        np.testing.assert_allclose(jvp(space.loss, (a,), (d,))[1], slope, atol=2e-7)
    ends = [grad(space.loss)(many[-1] + sign * step * d) for sign in (1, -1)]
    curve = jvp(grad(space.loss), (many[-1],), (d,))[1]
    np.testing.assert_allclose(along(curve), along(np.subtract(*ends)) / (2 * step), atol=1e-6)


@pytest.mark.parametrize(
    "text",
    [
        "np.real(K * ((v * w) @ v.T))",  # a pair of which none is conjugated
        "np.real(K * ((v * w + v.conj()) @ v.conj().T))",
        "np.real(v * w) @ np.real(v).T",
    ],
)
def test_of_complex_vectors_one_of_each_pair_is_conjugated(text):
    """Else it depends on phases which vectors have: nan, not a number that would mean nothing."""
    f = function(f"w, v = np.linalg.eigh(a); K = np.ones((3, 3)) + 1j; return np.sum({text})")
    assert np.isnan(grad(f)(hermitian(2.0, 2.0, 5.0))).any()


@pytest.mark.parametrize("text", ["w, v = np.linalg.eigh(a)", "_, w, v = np.linalg.svd(a)"])
def test_what_is_cancelled_of_one_output_is_none(text):
    f = function(f"{text}; c = v[0] ** 2; return np.sum(c / w * w)")
    a = turned(1.0, 2.0, 5.0)
    expected = grad(function(f"{text}; return np.sum(v[0] ** 2)"))(a)
    np.testing.assert_allclose(grad(f)(a), expected, atol=1e-12)


def test_eigenvectors_may_be_put_into_another_order():
    order = "i = np.argsort(w)[::-1]; w, v = w[i], v[:, i]"
    f = function(f"w, v = np.linalg.eigh(a); {order}; return np.sum((v * w**2) @ v.T)")
    a, d = turned(2.0, 2.0, 5.0), turned(1.0, 2.0, 4.0)
    np.testing.assert_allclose(np.sum(grad(f)(a) * d), np.sum(a @ d + d @ a), rtol=1e-9)


@pytest.mark.parametrize("gap", [0.0, 1e-16, 1e-12, 1e-8, 1e-5, 1e-2, 1.0])
def test_differences_that_are_divided_are_exact_whatever_the_gap(gap):
    """(exp(x + h) - exp(x - h)) / (2 * h) is exp(x) * sinh(h) / h."""
    w = np.array([0.3, 0.3 + gap])
    half = (w[1] - w[0]) / 2
    expected = np.exp(0.3 + half) * (np.sinh(half) / half if half else 1.0)
    found = runtime.divided_differences(w, np.exp(w), np.exp(w))
    np.testing.assert_allclose(found[[0, 1], [1, 0]], expected, rtol=1e-10)
    np.testing.assert_allclose(np.diagonal(found), np.exp(w), rtol=1e-15)


@pytest.mark.parametrize(
    "text, eigenvalues",
    [
        ("w, v = np.linalg.eigh(a); return v[0, 0] * v[1, 0] + w[0]", (1.0, 2.0, 2.0)),
        ("return np.sum(np.abs(np.linalg.eigh(a)[1][:, -1]))", (1.0, 1.0, 2.0)),
        ("v = np.linalg.eigh(a)[1][:, :1]; return np.sum((v @ v.T) ** 3)", (1.0, 2.0, 2.0)),
        ("u, s, vh = np.linalg.svd(a); return u[0, 0] * vh[0, 1] * s[0]", (1.0, 1.0, 3.0)),
        (
            "u, s, vh = np.linalg.svd(a, full_matrices=False); return u[1, 0] * vh[0, 1]",
            (1.0, 1.0, 3.0),
        ),
        ("w, v = scipy.linalg.eigh(a); return v[0, 0] * v[1, 0] + w[0]", (1.0, 2.0, 2.0)),
    ],
)
def test_the_vector_of_a_single_value_has_a_derivative_whatever_the_others_are(text, eigenvalues):
    a, step = turned(*eigenvalues), 1e-5
    f = module(f"import scipy.linalg\ndef f(a):\n    {text}\n").f
    slopes = np.zeros((3, 3))
    for index in np.ndindex(3, 3):
        d = np.zeros((3, 3))
        d[index] = step
        slopes[index] = (f(a + d) - f(a - d)) / (2 * step)
    np.testing.assert_allclose(grad(f)(a), slopes, atol=1e-8)
    batch = vmap(grad(f))(np.stack([a, turned(1.0, 3.0, 5.0)]))
    np.testing.assert_allclose(batch[0], slopes, atol=1e-8)
    d = turned(1.0, 2.0, 4.0)
    np.testing.assert_allclose(jvp(f, (a,), (d,))[1], np.sum(slopes * d), atol=1e-7)


def test_only_the_triangle_that_is_read_has_a_derivative():
    a = turned(1.0, 2.0, 4.0)
    lower = grad(function("return np.linalg.eigh(a)[0][0]"))(a)
    upper = grad(function("return np.linalg.eigvalsh(a, 'U')[0]"))(a)
    np.testing.assert_array_equal(lower, np.tril(lower))
    np.testing.assert_allclose(upper, lower.T, rtol=1e-9)


@pytest.mark.parametrize(
    "text, a",
    [
        ("np.linalg.svd(a)[0]", TALL),
        ("np.linalg.svd(a)[2]", WIDE),
        ("np.linalg.qr(a, 'complete')[0]", TALL),
    ],
)
def test_vectors_that_are_any_basis_of_a_space_have_no_derivative(text, a):
    weights = RNG.normal(size=(4, 4))
    f = module(f"W = None\ndef f(a):\n    return np.sum({text} * W)\n")
    f.W = weights
    with pytest.raises(ValueError, match="any basis of a space"):
        grad(f.f)(a)
    with pytest.raises(ValueError, match="any basis of a space"):
        jvp(f.f, (a,), (a,))


def test_tangents_of_any_basis_raise_behind_a_choice_that_the_matrix_makes():
    """Only where an output has them: rows of the space that the matrix spans have a tangent."""
    body = """
        u, s, vh = np.linalg.svd(np.atleast_2d(a))
        rank = (s > 1e-13).sum()
        return vh[{part}] ** 2
    """
    a = np.array([1.0, 2.0, 0.5])
    null, span = (function(body.format(part=part)) for part in ("rank:", ":rank"))
    with pytest.raises(ValueError, match="any basis of a space"):
        jvp(null, (a,), (a,))
    tangent = jvp(span, (a,), (a[::-1].copy(),))[1][0]
    step = 1e-6
    ends = (span(a + sign * step * a[::-1])[0] for sign in (1, -1))
    np.testing.assert_allclose(tangent, np.subtract(*ends) / (2 * step), rtol=1e-7)


@pytest.mark.parametrize(
    "full, thin, a",
    [
        ("np.linalg.svd(a)[0][:, :2]", "np.linalg.svd(a, full_matrices=False)[0]", TALL),
        ("np.linalg.svd(a)[2][:2]", "np.linalg.svd(a, full_matrices=False)[2]", WIDE),
        ("np.linalg.qr(a, 'complete')[0][:, :2]", "np.linalg.qr(a)[0]", TALL),
    ],
)
def test_the_vectors_of_full_matrices_that_belong_to_values_have_the_same_derivative(full, thin, a):
    found, expected = (
        grad(function(f"return np.sum({text}[0] ** 2 * np.arange(len({text}[0])))"))(a)
        for text in (full, thin)
    )
    np.testing.assert_allclose(found, expected, atol=1e-12)


def test_a_zero_singular_value_of_a_square_matrix():
    """Nothing is divided by it: u and vh are square."""
    a, d = turned(0.0, 1.0, 3.0), RNG.normal(size=(3, 3))
    f = function("return np.sum(np.linalg.svd(a)[0][:, 0] ** 2 * np.arange(3.0))")
    step = 1e-5
    central = (f(a + step * d) - f(a - step * d)) / (2 * step)
    np.testing.assert_allclose(np.sum(grad(f)(a) * d), central, rtol=1e-7)


ONES = ("w > 0.5", "[2]", "[2, 2]", "np.array([-1])", "slice(2, 3)")
PICKED = (*(f"v[:, {each}]" for each in ONES), "np.where(w > 0.5, v, 0.0)")


@pytest.mark.parametrize("picked", PICKED)
@pytest.mark.parametrize(
    "vectors", ["w, v = np.linalg.eigh(a)", "v, w, _ = np.linalg.svd(a, False); w = 1.2 - w"]
)
def test_a_simple_eigenvector_beside_equal_ones(vectors, picked):
    """The projection to it has a derivative: with equal eigenvalues s, D / (1 - s) beside it."""
    weights = "np.arange(9).reshape(3, 3)"
    f = function(f"{vectors}; v = {picked}; return np.sum({weights} * (v @ v.T))")
    a = np.diag([0.2, 0.2, 1.0]) if "eigh" in vectors else np.diag([1.0, 1.0, 0.2])
    direction = np.array([[0.3, -1.2, 0.7], [-1.2, 0.4, 0.6], [0.7, 0.6, 0.1]])
    slope = (f(a + 1e-5 * direction) - f(a - 1e-5 * direction)) / 2e-5
    np.testing.assert_allclose(np.sum(grad(f)(a) * direction), slope, rtol=1e-7)


@pytest.mark.parametrize("columns", ["[0, 2]", "w < 0.5"])
def test_one_of_equal_eigenvectors_has_no_derivative(columns):
    """Nor has what needs all of them, where nothing tells that it does."""
    f = function(
        f"w, v = np.linalg.eigh(a); u = v[:, {columns}]; return np.sum((u * w[{columns}]) @ u.T)"
    )
    assert np.isnan(grad(f)(np.diag([0.0, 0.0, 1.0]))).any()


def test_the_raw_form_of_qr_has_no_derivative():
    with pytest.raises(DerivativeError, match="mode 'raw'"):
        grad(function("return np.sum(np.linalg.qr(a, mode='raw')[0])"))(TALL)


def test_residuals_of_a_batch_need_matrices_of_full_rank():
    f = module("def f(a, b):\n    return np.linalg.lstsq(a, b)[1]\n").f
    a = np.stack([TALL, np.ones_like(TALL)])
    with pytest.raises(ValueError, match="full column rank"):
        vmap(f, (0, None))(a, np.ones(4))


def test_residuals_that_there_are_not_and_nobody_reads_are_none_of_the_solutions():
    f = module("import scipy.linalg\ndef f(a, b):\n    return scipy.linalg.lstsq(a, b)[0]\n").f
    wide, b = np.array([[1.0, 2.0, -1.0]]), np.array([0.6])
    np.testing.assert_allclose(jit(f)(wide, b), scipy.linalg.lstsq(wide, b)[0])
    caught = module(
        "import scipy.linalg\ndef f(a, b):\n    try:\n"
        "        return scipy.linalg.lstsq(a, b)[0]\n    except ValueError:\n        return b\n"
    ).f
    np.testing.assert_allclose(jit(caught)(wide, b), scipy.linalg.lstsq(wide, b)[0])


def test_the_gradient_of_an_eigenvalue_is_text_that_a_person_would_write():
    f = function("w, v = np.linalg.eigh(a); return w[0]")
    assert "w, v = np.linalg.eigh(a)" in grad(f).source(np.eye(3))


def test_decompositions_in_loops_and_branches():
    """What is kept of several results is kept one by one."""
    f = module(
        """
def f(a, n):
    total = 0.0
    for i in range(n):
        w, v = np.linalg.eigh(a)
        a = (v * np.tanh(w)) @ v.T + np.diag(np.arange(3.0) * i)
        if w[0] > 0.3:
            q, r = np.linalg.qr(a)
            total = total + np.sum(r**2) + q[0, 0]
        else:
            u, s, vh = np.linalg.svd(a)
            total = total + np.sum(s**3)
    return total + np.sum(a)
"""
    ).f
    matrices, d = np.stack([turned(1.0, 2.0, 4.0), turned(0.1, 1.0, 2.0)]), RNG.normal(size=(3, 3))
    slopes = vmap(grad(f), (0, None))(matrices, 4)
    for a, slope in zip(matrices, slopes, strict=True):
        central = (f(a + 1e-5 * d, 4) - f(a - 1e-5 * d, 4)) / 2e-5
        np.testing.assert_allclose(np.sum(slope * d), central, rtol=1e-6)
        np.testing.assert_allclose(jvp(lambda a: f(a, 4), (a,), (d,))[1], central, rtol=1e-6)


@pytest.mark.parametrize("size", [31, 32, 33, 70])
def test_cholesky_factors_of_several_blocks(size):
    """The adjoint is found block by block: that of the log-determinant is the inverse."""
    f = module("def f(a):\n    return 2 * np.sum(np.log(np.diag(np.linalg.cholesky(a))))\n").f
    root = np.random.default_rng(0).normal(size=(2, size, size))
    stack = root @ np.swapaxes(root, -1, -2) + size * np.eye(size)
    for a, bar in zip(stack, vmap(grad(f))(stack), strict=True):  # of the lower triangle alone
        inverse = np.linalg.inv(a)
        np.testing.assert_allclose(bar, np.tril(inverse) + np.tril(inverse, -1), atol=1e-12)
