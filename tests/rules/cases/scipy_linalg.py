"""Cases of scipy.linalg."""

import inspect
from dataclasses import replace

import scipy.linalg

from rules.cases.linear_algebra import apart
from rules.properties import case, definite, distinct, invertible, positive, real

# needs the rank of its argument; SciPy refuses stacks of no matrices
LIKE = {"general": False, "empty": False}

SYSTEMS = [
    case("scipy.linalg.solve(a, b)", a=invertible(3, 3), b=real(3), **LIKE),
    case("scipy.linalg.solve(a, b, transposed=True)", a=invertible(3, 3), b=real(3, 2), **LIKE),
    *(
        case(f"scipy.linalg.solve(a, b, assume_a='{kind}'{more})", a=draw(3, 3), b=real(3), **LIKE)
        for kind, draw in [
            ("gen", invertible),
            ("sym", definite),
            ("her", definite),
            ("pos", definite),
            ("upper triangular", invertible),
            ("lower triangular", invertible),
            ("diagonal", invertible),
            ("tridiagonal", invertible),
        ]
        for more in ("", ", lower=True", ", transposed=True")
        if not (more == ", lower=True" and kind not in ("sym", "her", "pos"))
    ),
    case("scipy.linalg.solve_triangular(a, b)", a=invertible(3, 3), b=real(3), **LIKE),
    *(
        case(f"scipy.linalg.solve_triangular(a, b, {options})", a=apart(3, 3), b=real(3, 2), **LIKE)
        for options in ("lower=True", "trans=1", "trans='T', lower=True", "unit_diagonal=True")
    ),
    case("scipy.linalg.solve_triangular(a, b, 'C', True, True)", a=apart(3, 3), b=real(3), **LIKE),
    case("scipy.linalg.cholesky(a)", a=definite(3, 3), **LIKE),
    case("scipy.linalg.cholesky(a, lower=True)", a=definite(2, 3, 3), **LIKE),
    case("scipy.linalg.cho_factor(a)[0]", a=definite(3, 3), **LIKE),
    case("scipy.linalg.cho_factor(a, lower=True)[0]", a=definite(3, 3), **LIKE),
    case(
        "scipy.linalg.cho_solve(scipy.linalg.cho_factor(a), b)", a=definite(3, 3), b=real(3), **LIKE
    ),
    case(
        "scipy.linalg.cho_solve(scipy.linalg.cho_factor(a, True), b)",
        a=definite(3, 3),
        b=real(3, 2),
        **LIKE,
    ),
    case("scipy.linalg.lu(a)[1]", a=apart(3, 3), **LIKE),
    case("scipy.linalg.lu(a[::-1])[2]", a=apart(4, 2), **LIKE),
    case("scipy.linalg.lu(a)[1]", a=apart(2, 4), **LIKE),
    case("scipy.linalg.lu(a)[2]", a=apart(2, 4), **LIKE),
    case("scipy.linalg.lu(a, permute_l=True)[0]", a=apart(4, 3), **LIKE),
    case("a[scipy.linalg.lu(a, p_indices=True)[0]]", a=apart(3, 3), **LIKE),
    case("scipy.linalg.lu_factor(a[::-1])[0]", a=apart(3, 3), **LIKE),
    case("scipy.linalg.lu_factor(a)[0]", a=apart(4, 2), **LIKE),
    case(
        "scipy.linalg.lu_solve(scipy.linalg.lu_factor(a[::-1]), b)",
        a=apart(3, 3),
        b=real(3),
        **LIKE,
    ),
    case(
        "scipy.linalg.lu_solve(scipy.linalg.lu_factor(a[[1, 2, 0]]), b, trans=1)",
        a=apart(3, 3),
        b=real(3, 2),
        **LIKE,
    ),
    case(
        "scipy.linalg.solve_banded((1, 1), a + np.array([[0.0], [9.0], [0.0]]), b)",
        a=real(3, 4),
        b=real(4),
        **LIKE,
    ),
    case(
        "scipy.linalg.solve_banded((1, 2), a + np.array([[0.0], [0.0], [9.0], [0.0]]), b)",
        a=real(4, 4),
        b=real(4, 2),
        **LIKE,
    ),
    case(
        "scipy.linalg.solveh_banded(np.stack([a, 4.0 + b]), c)",
        a=positive(4),
        b=positive(4),
        c=real(4),
        **LIKE,
    ),
    case(
        "scipy.linalg.solveh_banded(np.stack([9.0 + b, a, a]), c, lower=True)",
        a=positive(4),
        b=positive(4),
        c=real(4, 2),
        **LIKE,
    ),
]

EQUATIONS = [
    case(
        "scipy.linalg.solve_sylvester(a, b, c)", a=apart(3, 3), b=apart(2, 2), c=real(3, 2), **LIKE
    ),
    case("scipy.linalg.solve_continuous_lyapunov(a, c)", a=apart(3, 3), c=real(3, 3), **LIKE),
    case("scipy.linalg.solve_discrete_lyapunov(0.1 * a, c)", a=apart(3, 3), c=real(3, 3), **LIKE),
    case(
        "scipy.linalg.solve_discrete_lyapunov(0.1 * a, c, method='bilinear')",
        a=apart(2, 2),
        c=real(2, 2),
        **LIKE,
    ),
    *(
        case(
            f"scipy.linalg.{name}(0.1 * a, b, c @ c.T + np.eye(3), d @ d.T + np.eye(2))",
            a=apart(3, 3),
            b=real(3, 2),
            c=real(3, 3),
            d=real(2, 2),
            **LIKE,
        )
        for name in ("solve_continuous_are", "solve_discrete_are")
    ),
]

FUNCTIONS = [
    case("scipy.linalg.expm(a)", a=real(3, 3), **LIKE),
    case("scipy.linalg.expm(a)", a=real(2, 3, 3), **LIKE),
    case("scipy.linalg.expm_frechet(a, e)[0]", a=real(2, 2), e=real(2, 2), **LIKE),
    case("scipy.linalg.expm_frechet(a, e, compute_expm=False)", a=real(2, 2), e=real(2, 2), **LIKE),
    *(
        case(f"scipy.linalg.{name}(0.3 * a)", a=real(2, 2), **LIKE)
        for name in ("cosm", "coshm", "sinm", "sinhm", "tanm", "tanhm")
    ),
]

FUNCTIONS += [
    case("np.real(scipy.linalg.sqrtm(a @ a.T + np.eye(3)))", a=real(3, 3), **LIKE),
    case("np.real(scipy.linalg.logm(a @ a.T + np.eye(3)))", a=real(3, 3), **LIKE),
    case(
        "np.real(scipy.linalg.fractional_matrix_power(a @ a.T + np.eye(2), 0.3))",
        a=real(2, 2),
        **LIKE,
    ),
]

DECOMPOSITIONS = [
    case("scipy.linalg.inv(a, assume_a='pos', lower=True)", a=definite(3, 3), **LIKE),
] * ("assume_a" in inspect.signature(scipy.linalg.inv).parameters)  # from SciPy 1.17 on

DECOMPOSITIONS += [
    case("scipy.linalg.inv(a)", a=invertible(3, 3), **LIKE),
    case("scipy.linalg.det(a)", a=invertible(2, 3, 3), **LIKE),
    case("np.abs(scipy.linalg.eig(a)[0])", a=apart(3, 3), **LIKE),
    case("np.abs(scipy.linalg.eig(a, right=False))", a=apart(3, 3), **LIKE),
    case("np.real(scipy.linalg.eigvals(a))", a=apart(3, 3), **LIKE),
    case("scipy.linalg.eigh(a)[0]", a=apart(3, 3), **LIKE),
    case("scipy.linalg.eigh(a, lower=False)[1] ** 2", a=apart(2, 3, 3), **LIKE),
    case("scipy.linalg.eigh(a, b)[0]", a=apart(3, 3), b=definite(3, 3), **LIKE),
    case("scipy.linalg.eigh(a, b, lower=False)[1] ** 2", a=apart(3, 3), b=definite(3, 3), **LIKE),
    case("scipy.linalg.eigh(a, subset_by_index=[1, 2])[0]", a=apart(3, 3), **LIKE),
    case("scipy.linalg.eigh_tridiagonal(a, b)[0]", a=distinct(4), b=positive(3), **LIKE),
    case("scipy.linalg.eigh_tridiagonal(a, b)[1] ** 2", a=distinct(4), b=positive(3), **LIKE),
    case("scipy.linalg.eigh_tridiagonal(a, b, True)", a=distinct(4), b=positive(3), **LIKE),
    case("scipy.linalg.hessenberg(a)", a=replace(apart(3, 3), varies=False), **LIKE),
    case("scipy.linalg.null_space(a) ** 2", a=apart(3, 4), batches=False, **LIKE),
    case("scipy.linalg.eigvalsh(a)", a=apart(3, 3), **LIKE),
    case("scipy.linalg.eigvalsh(a, b)", a=apart(3, 3), b=definite(3, 3), **LIKE),
    case("scipy.linalg.lstsq(a, b)[0]", a=apart(4, 3), b=real(4), **LIKE),
    case("scipy.linalg.norm(a)", a=real(2, 3)),
    case("scipy.linalg.norm(a, 1)", a=distinct(2, 3), **LIKE),
    case("scipy.linalg.norm(a, axis=-1, keepdims=True)", a=real(2, 3)),
    case("scipy.linalg.orth(a) ** 2", a=apart(4, 3), batches=False, **LIKE),
    case("scipy.linalg.orthogonal_procrustes(a, b)[0]", a=apart(4, 3), b=apart(4, 3), **LIKE),
    case("scipy.linalg.orthogonal_procrustes(a, b)[1]", a=apart(3, 3), b=apart(3, 3), **LIKE),
    case("scipy.linalg.pinv(a)", a=apart(4, 3), **LIKE),
    case("scipy.linalg.pinv(a, rtol=1e-9)", a=apart(2, 3), **LIKE),
    case("scipy.linalg.pinvh(a)", a=definite(3, 3), **LIKE),
    case("scipy.linalg.pinvh(a, lower=False)", a=definite(3, 3), **LIKE),
    case("scipy.linalg.polar(a)[0]", a=apart(4, 3), **LIKE),
    case("scipy.linalg.polar(a)[1]", a=apart(3, 3), **LIKE),
    case("scipy.linalg.polar(a, side='left')[0]", a=apart(2, 3), **LIKE),
    case("scipy.linalg.polar(a, 'left')[1]", a=apart(3, 3), **LIKE),
    case("scipy.linalg.qr(a, mode='economic')[0]", a=apart(4, 3), **LIKE),
    case("scipy.linalg.qr(a)[1]", a=apart(4, 3), **LIKE),
    case("scipy.linalg.qr(a, mode='r')[0]", a=apart(3, 3), **LIKE),
    case("scipy.linalg.qr_multiply(a, c)[0]", a=apart(4, 3), c=real(2, 4), **LIKE),
    case("scipy.linalg.qr_multiply(a, c, mode='left')[0]", a=apart(4, 3), c=real(3, 2), **LIKE),
    case("scipy.linalg.rq(a)[0]", a=apart(3, 3), **LIKE),
    case("scipy.linalg.rq(a)[1]", a=apart(4, 3), **LIKE),
    case("scipy.linalg.rq(a, mode='r')", a=apart(2, 3), **LIKE),
    case("scipy.linalg.rq(a, mode='economic')[1]", a=apart(2, 4), **LIKE),
    case("scipy.linalg.rq(a, mode='economic')[0]", a=apart(4, 2), **LIKE),
    case("scipy.linalg.schur(a)[0]", a=replace(apart(3, 3), varies=False), **LIKE),
    case("scipy.linalg.svd(a, full_matrices=False)[0] ** 2", a=apart(4, 3), **LIKE),
    case("scipy.linalg.svd(a, compute_uv=False)", a=apart(3, 4), **LIKE),
    case("scipy.linalg.svdvals(a)", a=apart(3, 4), **LIKE),
]

MATRICES = [
    case("scipy.linalg.block_diag(a, b)", a=real(2, 3), b=real(2, 2), **LIKE),
    case("scipy.linalg.block_diag(a, b, c)", a=real(2), b=real(), c=real(2, 1), **LIKE),
    case("scipy.linalg.circulant(a)", a=real(4), **LIKE),
    case("scipy.linalg.companion(a)", a=positive(4), **LIKE),
    *(
        case(f"scipy.linalg.convolution_matrix(a, {n}, '{mode}')", a=real(3), **LIKE)
        for n in (2, 5)
        for mode in ("full", "same", "valid")
    ),
    case("scipy.linalg.fiedler(a)", a=distinct(4), **LIKE),
    case("scipy.linalg.hankel(a)", a=real(3), **LIKE),
    case("scipy.linalg.hankel(a, b)", a=real(3), b=real(4), **LIKE),
    case("scipy.linalg.khatri_rao(a, b)", a=real(2, 3), b=real(4, 3), **LIKE),
    case("scipy.linalg.leslie(a, b)", a=real(4), b=real(3), **LIKE),
    case("scipy.linalg.matmul_toeplitz((a, b), c)", a=real(3), b=real(4), c=real(4, 2), **LIKE),
    case("scipy.linalg.solve_circulant(a + 5.0 * np.eye(4)[0], b)", a=real(4), b=real(4), **LIKE),
    case("scipy.linalg.solve_toeplitz(a + 5.0 * np.eye(3)[0], b)", a=real(3), b=real(3), **LIKE),
    case("scipy.linalg.toeplitz(a)", a=real(3), **LIKE),
    case("scipy.linalg.toeplitz(a, b)", a=real(3), b=real(4), **LIKE),
    case("scipy.linalg.hilbert(3) * a", a=real(3), **LIKE),
    case("np.abs(scipy.linalg.dft(3)) * a", a=real(3), **LIKE),
    case("scipy.linalg.hadamard(4) * a + scipy.linalg.helmert(4, full=True)", a=real(4), **LIKE),
    case("scipy.linalg.helmert(4) * a", a=real(4), **LIKE),
    case("scipy.linalg.invhilbert(3) * a + scipy.linalg.invpascal(3)", a=real(3), **LIKE),
    case("scipy.linalg.pascal(3, kind='lower') * a", a=real(3), **LIKE),
]

CASES = SYSTEMS + EQUATIONS + FUNCTIONS + DECOMPOSITIONS + MATRICES
