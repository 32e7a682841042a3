"""Cases of np.linalg: every function, option and order, with stacks of matrices."""

import numpy as np

from rules.properties import Draw, case, definite, distinct, invertible, positive, real

LIKE = {"general": False}  # needs the rank of its argument


def apart(*shape):
    """Matrices whose eigenvalues and singular values are well apart, and far from zero."""

    def values(rng, shape):
        steps = np.zeros(shape)
        places = np.arange(min(shape[-2:]))
        steps[..., places, places] = 3.0 * (1 + places)
        return steps + 0.5 * rng.normal(size=shape)

    return Draw(shape, values)


def turning(*shape):
    """Matrices with pairs of complex eigenvalues, well apart."""

    def values(rng, shape):
        turns = np.kron(np.diag([1.0, 3.0]), np.array([[0.5, -1.0], [1.0, 0.5]]))
        return turns + 0.3 * rng.normal(size=shape)

    return Draw(shape, values)


SOLVING = [
    case("np.linalg.solve(a, b)", a=invertible(3, 3), b=real(3), **LIKE),
    case("np.linalg.solve(a, b)", a=invertible(3, 3), b=real(3, 2), **LIKE),
    case("np.linalg.solve(a, b)", a=invertible(2, 3, 3), b=real(2, 3, 2), **LIKE),
    case("np.linalg.solve(a, b)", a=invertible(2, 3, 3), b=real(3, 2), **LIKE),
    case("np.linalg.solve(a, b)", a=invertible(3, 3), b=real(2, 3, 2), **LIKE),
    case("np.linalg.solve(a, b)", a=invertible(2, 3, 3), b=real(3), **LIKE),
    case("np.linalg.solve(a, b)", a=invertible(2, 1, 3, 3), b=real(4, 3, 2), **LIKE),
    case("np.linalg.solve(a, b)", a=invertible(1, 1), b=real(1), **LIKE),
    case("np.linalg.inv(a)", a=invertible(3, 3), **LIKE),
    case("np.linalg.inv(a)", a=invertible(2, 3, 3), **LIKE),
    case("np.linalg.det(a)", a=invertible(3, 3), **LIKE),
    case("np.linalg.det(a)", a=invertible(2, 3, 3), **LIKE),
    case("np.linalg.det(a)", a=invertible(1, 1), **LIKE),
    case("np.linalg.slogdet(a)[1]", a=invertible(3, 3), **LIKE),
    case("np.linalg.slogdet(a)[0] * np.linalg.slogdet(a)[1]", a=invertible(2, 3, 3), **LIKE),
    case("np.linalg.slogdet(a).logabsdet", a=invertible(3, 3), **LIKE),
    case("np.linalg.tensorsolve(a, b)", a=invertible(4, 4), b=real(4), **LIKE),
    case("np.linalg.tensorsolve(np.reshape(a, (2, 3, 6)), b)", a=apart(6, 6), b=real(2, 3), **LIKE),
    case(
        "np.linalg.tensorsolve(np.reshape(a, (2, 6, 3)), b, axes=(0, 2))",
        a=apart(6, 6),
        b=real(6),
        **LIKE,
    ),
    case("np.linalg.tensorinv(np.reshape(a, (6, 2, 3)), ind=1)", a=apart(6, 6), **LIKE),
    case("np.linalg.tensorinv(np.reshape(a, (2, 2, 4)))", a=apart(4, 4), **LIKE),
]

LEAST_SQUARES = [
    case("np.linalg.pinv(a)", a=apart(3, 3), **LIKE),
    case("np.linalg.pinv(a)", a=apart(2, 4, 3), **LIKE),
    case("np.linalg.pinv(a, rcond=1e-10)", a=apart(2, 4), **LIKE),
    case("np.linalg.pinv(a, rtol=1e-10)", a=apart(4, 2), **LIKE),
    case("np.linalg.pinv(a, hermitian=True)", a=apart(3, 3), **LIKE),
    case("np.linalg.pinv(a @ b)", a=positive(4, 2), b=positive(2, 3), **LIKE),
    case("np.linalg.lstsq(a, b)[0]", a=apart(4, 3), b=real(4), **LIKE),
    case("np.linalg.lstsq(a, b)[0]", a=apart(4, 3), b=real(4, 2), **LIKE),
    case("np.linalg.lstsq(a, b, rcond=1e-8)[0]", a=apart(2, 4), b=real(2), **LIKE),
    case("np.linalg.lstsq(a @ c, b)[0]", a=positive(4, 1), c=positive(1, 3), b=real(4), **LIKE),
    case("np.linalg.lstsq(a, b)[1]", a=apart(4, 3), b=real(4), **LIKE),
    case("np.linalg.lstsq(a, b)[1]", a=apart(4, 3), b=real(4, 2), **LIKE),
    case("np.linalg.lstsq(a, b)[1]", a=apart(4, 3), b=real(4, 1), **LIKE),
    case("np.linalg.lstsq(a, b)[2] * np.linalg.lstsq(a, b)[3]", a=apart(4, 3), b=real(4), **LIKE),
    case("np.linalg.matrix_rank(a) * a[..., 0, 0]", a=apart(2, 3, 4), **LIKE),
    case("np.linalg.matrix_rank(a @ b, rtol=1e-8) * a", a=positive(4, 2), b=positive(2, 3), **LIKE),
    case("np.linalg.matrix_rank(a, hermitian=True) * a", a=definite(3, 3), **LIKE),
]

DECOMPOSITIONS = [
    case("np.linalg.cholesky(a)", a=definite(3, 3), **LIKE),
    case("np.linalg.cholesky(a)", a=definite(2, 3, 3), **LIKE),
    case("np.linalg.cholesky(a, upper=True)", a=definite(3, 3), **LIKE),
    case("np.linalg.cholesky(b @ b.T + np.eye(3))", b=real(3, 3), **LIKE),
    case("runtime.cholesky_adjoint(np.tril(a), b)", a=invertible(3, 3), b=real(3, 3), **LIKE),
    case("runtime.cholesky_adjoint(np.tril(a), b)", a=invertible(2, 3, 3), b=real(2, 3, 3), **LIKE),
    case("np.linalg.eigh(a)[0]", a=apart(3, 3), **LIKE),
    case("np.linalg.eigh(a)[1] ** 2", a=apart(2, 3, 3), **LIKE),
    case("np.linalg.eigh(a, UPLO='U').eigenvectors ** 2", a=apart(3, 3), **LIKE),
    case("np.linalg.eigh(a).eigenvalues", a=apart(1, 1), **LIKE),
    case("np.linalg.eigvalsh(a)", a=apart(2, 3, 3), **LIKE),
    case("np.linalg.eigvalsh(a, UPLO='U')", a=apart(3, 3), **LIKE),
    case("np.linalg.svdvals(a)", a=apart(2, 3, 4), **LIKE),
    case("np.linalg.svd(a, compute_uv=False)", a=apart(4, 3), **LIKE),
    case("np.linalg.svd(a, compute_uv=False, hermitian=True)", a=apart(3, 3), **LIKE),
    case("np.linalg.svd(a)[1]", a=apart(4, 3), **LIKE),
    case("np.linalg.svd(a).U ** 2", a=apart(3, 3), **LIKE),
    case("np.linalg.svd(a)[0] ** 2", a=apart(2, 4), **LIKE),
    case("np.linalg.svd(a)[2] ** 2", a=apart(4, 2), **LIKE),
    case("np.linalg.svd(a, full_matrices=False)[0] ** 2", a=apart(4, 3), **LIKE),
    case("np.linalg.svd(a, full_matrices=False)[2] ** 2", a=apart(4, 3), **LIKE),
    case("np.linalg.svd(a, full_matrices=False).Vh ** 2", a=apart(2, 3, 4), **LIKE),
    case("np.linalg.svd(a, hermitian=True)[0] ** 2", a=apart(3, 3), **LIKE),
    case("np.linalg.qr(a)[0]", a=apart(3, 3), **LIKE),
    case("np.linalg.qr(a)[1]", a=apart(4, 3), **LIKE),
    case("np.linalg.qr(a).Q", a=apart(2, 4, 3), **LIKE),
    case("np.linalg.qr(a)[0]", a=apart(2, 4), **LIKE),
    case("np.linalg.qr(a).R", a=apart(2, 2, 4), **LIKE),
    case("np.linalg.qr(a, mode='r')", a=apart(4, 2), **LIKE),
    case("np.linalg.qr(a, 'r')", a=apart(2, 4), **LIKE),
    case("np.linalg.qr(a, mode='complete')[0]", a=apart(2, 4), **LIKE),
    case("np.linalg.qr(a, mode='complete')[1]", a=apart(4, 2), **LIKE),
]

EIGENVALUES = [
    case("np.abs(np.linalg.eig(a)[0])", a=apart(3, 3), **LIKE),
    case("np.real(np.linalg.eig(a).eigenvectors)", a=apart(3, 3), **LIKE),
    case("np.abs(np.linalg.eigvals(a))", a=apart(2, 3, 3), **LIKE),
    case("np.imag(np.linalg.eigvals(a))", a=turning(4, 4), **LIKE),
    case("np.real(np.linalg.eig(a)[0])", a=turning(4, 4), **LIKE),
    case("np.real(np.linalg.eig(a)[1])", a=turning(4, 4), **LIKE),
    case("np.imag(np.linalg.eig(a)[1])", a=turning(2, 4, 4), **LIKE),
]

NORMS = [
    case("np.linalg.norm(x)", x=real(3)),
    case("np.linalg.norm(x)", x=real(2, 3)),
    case("np.linalg.norm(x)", x=real(2, 3, 2)),
    case("np.linalg.norm(x, axis=1)", x=real(2, 3)),
    case("np.linalg.norm(x, 2, axis=-1, keepdims=True)", x=real(2, 3)),
    case("np.linalg.norm(x, 'fro', axis=(0, 1))", x=real(2, 3)),
    case("np.linalg.norm(x, axis=(0, 2), keepdims=True)", x=real(2, 3, 2)),
    case("np.linalg.norm(x, 'fro')", x=real(2, 3), **LIKE),
    case("np.linalg.norm(x, ord=1, axis=0)", x=distinct(2, 3)),
    case("np.linalg.norm(x, np.inf)", x=distinct(3), **LIKE),
    case("np.linalg.norm(x, -np.inf, axis=0)", x=distinct(3, 2)),
    case("np.linalg.norm(x, 3, axis=0)", x=distinct(3, 2)),
    case("np.linalg.norm(x, 0.5)", x=distinct(3), **LIKE),
    case("np.linalg.norm(x, 0, axis=0) * x", x=distinct(3, 2), **LIKE),
    *(
        case(f"np.linalg.norm(x, {order})", x=apart(3, 4), **LIKE)
        for order in ("'nuc'", "2", "-2", "1", "-1", "np.inf", "-np.inf")
    ),
    case("np.linalg.norm(x, 2, axis=(0, 1))", x=apart(3, 2, 2), **LIKE),
    case("np.linalg.norm(x, 'nuc', axis=(2, 0), keepdims=True)", x=apart(2, 2, 3), **LIKE),
    case("np.linalg.norm(x, 1, axis=(-1, 0), keepdims=True)", x=distinct(2, 2, 3), **LIKE),
    case("np.linalg.vector_norm(x)", x=real(2, 3)),
    case("np.linalg.vector_norm(x, axis=(0, 2), ord=3)", x=distinct(2, 3, 2)),
    case("np.linalg.vector_norm(x, axis=-1, keepdims=True, ord=1)", x=distinct(2, 3)),
    case("np.linalg.vector_norm(x, ord=np.inf, keepdims=True)", x=distinct(2, 3)),
    case("np.linalg.matrix_norm(x)", x=real(2, 3, 4)),
    case("np.linalg.matrix_norm(x, ord='nuc', keepdims=True)", x=apart(2, 3, 4), **LIKE),
    case("np.linalg.matrix_norm(x, ord=-1)", x=distinct(2, 3, 2), **LIKE),
    case("np.linalg.cond(x)", x=apart(2, 3, 3), **LIKE),
    case("np.linalg.cond(x, -2)", x=apart(3, 3), **LIKE),
    case("np.linalg.cond(x, 'fro')", x=apart(3, 3), **LIKE),
    case("np.linalg.cond(x, 1)", x=apart(2, 3, 3), **LIKE),
]

PRODUCTS = [
    case("np.linalg.cross(x, y)", x=real(3), y=real(2, 3), **LIKE),
    case("np.linalg.cross(x, y, axis=0)", x=real(3, 2), y=real(3, 1), **LIKE),
    case("np.linalg.diagonal(x, offset=1)", x=real(2, 3, 4), **LIKE),
    case("np.linalg.matmul(x, y)", x=real(2, 3), y=real(3)),
    case("np.linalg.matrix_power(x, 0) * x", x=real(3, 3), **LIKE),
    case("np.linalg.matrix_power(x, 1)", x=real(3, 3)),
    case("np.linalg.matrix_power(x, 5)", x=real(2, 3, 3), **LIKE),
    case("np.linalg.matrix_power(x, -2)", x=invertible(3, 3), **LIKE),
    case("np.linalg.matrix_transpose(x)", x=real(2, 3, 4), **LIKE),
    case("np.linalg.multi_dot([x, y])", x=real(2, 3), y=real(3, 4), **LIKE),
    case("np.linalg.multi_dot([x, y, z])", x=real(2, 3), y=real(3, 4), z=real(4), **LIKE),
    case("np.linalg.multi_dot([x, y, x])", x=real(3), y=real(3, 3), **LIKE),
    case("np.linalg.multi_dot((x, y, y.T, z))", x=real(2), y=real(2, 3), z=real(2, 3), **LIKE),
    case("np.linalg.outer(x, y)", x=real(2), y=real(3), general=False),
    case("np.linalg.tensordot(x, y, axes=1)", x=real(2, 3), y=real(3, 2), **LIKE),
    case("np.linalg.trace(x, offset=-1)", x=real(2, 3, 3), **LIKE),
    case("np.linalg.trace(x, dtype=np.float64)", x=real(3, 3), **LIKE),
    case("np.linalg.vecdot(x, y)", x=real(2, 3), y=real(3), **LIKE),
    case("np.linalg.vecdot(x, y, axis=0)", x=real(3, 2), y=real(3, 2), **LIKE),
]

CASES = SOLVING + LEAST_SQUARES + DECOMPOSITIONS + EIGENVALUES + NORMS + PRODUCTS
