"""scipy.linalg: what NumPy has too is written as NumPy's, the rest is in the modules beside.

check_finite and overwrite_a are about errors and memory, and do not show in generated text.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import linalg

from s2s_ad import runtime
from s2s_ad.core import sizes, values
from s2s_ad.core.builder import Builder, Symbol, static
from s2s_ad.core.registry import register
from s2s_ad.core.rule import Operation
from s2s_ad.diagnostics import UnsupportedError
from s2s_ad.rules import (  # noqa: F401  (they register their rows)
    decompositions,
    scipy_linalg_equations,
    scipy_linalg_factored,
    scipy_linalg_functions,
    scipy_linalg_matrices,
    scipy_linalg_spectra,
    scipy_linalg_systems,
    support,
)
from s2s_ad.rules.composite import composite
from s2s_ad.rules.matrices import Several, as_matrix, conj, hermitian, mH
from s2s_ad.rules.scipy_linalg_matrices import double, single
from s2s_ad.rules.scipy_linalg_systems import assumed, triangular
from s2s_ad.rules.shape_checks import check_equal, check_square

CHECKED = "overwrite_a=False, check_finite=True"


def _inv(x: Symbol, overwrite_a: Any, check_finite: Any, assume_a: Any, lower: Any) -> Any:
    assume_a, lower = static((assume_a, lower), "an option of scipy.linalg.inv")
    check_square(x, linalg.inv, ValueError)
    return np.linalg.inv(assumed(x, assume_a, lower))


def _cholesky(x: Symbol, lower: Any, **_: Any) -> Any:
    check_square(x, linalg.cholesky, ValueError)
    return np.linalg.cholesky(x, upper=not static(lower, "lower of scipy.linalg.cholesky"))


def _pinv(x: Symbol, atol: Any, rtol: Any, return_rank: Any, check_finite: Any) -> Any:
    _refuse_atol(x, atol)
    inverse = np.linalg.pinv(x, rtol=rtol)
    return (inverse, np.linalg.matrix_rank(x, rtol=rtol)) if return_rank else inverse


def _refuse_atol(x: Symbol, atol: Any) -> None:
    if atol is not None:
        raise UnsupportedError(
            "S2S203",
            "atol= of a pseudo-inverse",
            origin=x.builder.origin,
            help="rtol=, in units of the largest singular value, says the same of matrices whose "
            "scale is known",
        )


def _chosen(x: Symbol, subset: Any) -> Symbol:
    return x if subset is None else x[..., subset[0] : subset[1] + 1]


def _generalised(x: Symbol, b: Any, lower: bool, only: bool, subset: Any) -> Any:
    """a @ v = b @ v * w: the eigenvectors of inv(l) @ a @ inv(l).T, where l @ l.T = b."""
    factor = np.linalg.cholesky(b) if lower else mH(np.linalg.cholesky(b, upper=True))
    half = triangular(factor, hermitian(x, lower), lower=True)
    inner = triangular(factor, mH(half), lower=True)
    options = {"eigvals_only": only, "subset_by_index": subset}
    found = x.builder.call(linalg.eigh, (inner,), options)
    return found if only else (found[0], triangular(factor, found[1], lower=True, trans=2))


def _eig(x: Symbol, right: Any, **_: Any) -> Any:
    check_square(x, linalg.eig, ValueError)
    w, v = np.linalg.eig(x)
    return (w, v) if static(right, "right of scipy.linalg.eig") else w


def _eigvals(x: Symbol, **_: Any) -> Any:
    check_square(x, linalg.eigvals, ValueError)
    return np.linalg.eigvals(x)


def _eigvalsh(x: Symbol, b: Any, lower: Any, subset_by_index: Any, **_: Any) -> Any:
    options = {"lower": lower, "eigvals_only": True, "subset_by_index": subset_by_index}
    return x.builder.call(linalg.eigh, (x, b), options)


def _det(x: Symbol, **_: Any) -> Any:
    check_square(x, linalg.det, ValueError)
    return double(np.linalg.det(x))


def _lstsq(x: Symbol, b: Any, cond: Any, **_: Any) -> tuple:
    """SciPy's residuals are a number where b is a vector, and x has more rows than columns."""
    cond = np.finfo(float if x.dtype is None else x.dtype).eps if cond is None else cond
    found, residuals, rank, s = np.linalg.lstsq(x, b, rcond=float(cond))
    rows, columns = map(values.size_of_dim, x.shape[-2:])
    one = support.rank(b) == 1 and not sizes.at_least(columns, rows)
    return found, np.reshape(residuals, ()) if one else residuals, rank, s


def _norm(x: Symbol, ord: Any, axis: Any, keepdims: Any, check_finite: Any) -> Any:
    found = np.linalg.norm(x, ord, axis, keepdims)
    by_lapack = {1: (None, 2), 2: ("fro", 1, np.inf)}.get(x.ndim, ())
    return double(found) if axis is None and not keepdims and ord in by_lapack else found


def _orth(x: Symbol, rcond: Any) -> Any:
    u, s, _ = np.linalg.svd(x, full_matrices=False)
    rows, cols = support.lengths(x, (-2, -1))
    eps = np.finfo(float if s.dtype is None else s.dtype).eps
    rcond = eps * np.maximum(rows, cols) if rcond is None else rcond
    return u[..., : np.sum(s > s[..., :1] * rcond)]


def _pinvh(x: Symbol, atol: Any, rtol: Any, lower: Any, return_rank: Any, check_finite: Any) -> Any:
    _refuse_atol(x, atol)
    x = hermitian(x, static(lower, "lower of scipy.linalg.pinvh"))
    inverse = np.linalg.pinv(x, rtol=rtol, hermitian=True)
    if not static(return_rank, "return_rank of scipy.linalg.pinvh"):
        return inverse
    return inverse, np.linalg.matrix_rank(x, hermitian=True, rtol=rtol)


def _procrustes(x: Symbol, B: Any, check_finite: Any) -> tuple:
    """The unitary polar factor, and the sum of singular values, of one product."""
    x, B = single(x, "orthogonal_procrustes"), support.as_operand(x.builder, B)
    B = single(B, "orthogonal_procrustes")
    check_equal(x.shape, B.shape, "the shapes of A and B differ")
    both = mH(mH(B) @ x)
    return x.builder.call(linalg.polar, (both,), {})[0], np.sum(np.linalg.svdvals(both))


def _qr(x: Symbol, mode: Any, pivoting: Any, **_: Any) -> Any:
    mode, pivoting = static((mode, pivoting), "an option of scipy.linalg.qr")
    if pivoting:
        raise UnsupportedError(
            "S2S203",
            "scipy.linalg.qr with pivoting=True",
            origin=x.builder.origin,
            help="decompose the matrix with its columns in an order of yours",
        )
    if mode == "economic":
        return tuple(np.linalg.qr(x))
    q, r = np.linalg.qr(x, mode="raw" if mode == "raw" else "complete")
    return (r,) if mode == "r" else (q, r)


def _qr_multiply(x: Symbol, c: Any, mode: Any, pivoting: Any, conjugate: Any, **_: Any) -> Any:
    mode, conjugate = static((mode, conjugate), "an option of scipy.linalg.qr_multiply")
    if support.known_rank(support.as_operand(x.builder, c), "scipy.linalg.qr_multiply") > 2:
        single(c, "qr_multiply")
    q, r = _qr(single(x, "qr_multiply"), "economic", pivoting)
    q = conj(q) if conjugate else q
    return (c @ q if mode == "right" else q @ c), r


def _svd(x: Symbol, full_matrices: Any, compute_uv: Any, **_: Any) -> Any:
    found = np.linalg.svd(x, full_matrices=full_matrices, compute_uv=compute_uv)
    return tuple(found) if isinstance(found, tuple) else found


class Eigh(decompositions.Eigh):
    """scipy.linalg.eigh, whose eigenvectors may have other signs than NumPy's, and other phases:
    those of complex matrices jump from point to point."""

    of_complex = False
    text = (
        "a, b=None, *, lower=True, eigvals_only=False, overwrite_a=False, overwrite_b=False,"
        " check_finite=True, subset_by_index=None, driver=None"
    )

    def bind(self, builder: Builder, args: tuple, kwargs: dict[str, Any]) -> Any:
        params = support.bind_call(builder, self, self.text, args, kwargs)
        a = as_matrix(builder, self, params["a"])
        check_square(a, self.function, ValueError)
        names = ("lower", "eigvals_only", "subset_by_index")
        lower, only, subset = static(tuple(params[each] for each in names), "an option of eigh")
        if params["b"] is not None:
            return _generalised(a, params["b"], lower, only, subset)
        if only:
            return _chosen(np.linalg.eigvalsh(a, UPLO="L" if lower else "U"), subset)
        result = builder.emit(self, [a], {} if lower else {"lower": False})
        w, v = self.items(builder, result)
        return _chosen(w, subset), _chosen(v, subset)

    def is_lower(self, params: dict[str, Any]) -> bool:
        return params.get("lower", True)


class Polar(Several):
    """u, p = polar(a) with a = u @ p: of u_dot the part in the space of u is u @ w with w skew, and
    w @ p + p @ w is the skew part of mH(u) @ a_dot, twice.
    """

    text = "a, side='right'"
    names = ("u", "p")
    of_complex = True
    of_stack = staticmethod(runtime.polar_of_stack)

    def of_matrix(self, builder: Builder, a: Any, params: dict[str, Any]) -> Any:
        if params.get("side", "right") == "left":
            u, p = super().of_matrix(builder, mH(a), {})
            return mH(u), p
        return super().of_matrix(builder, a, {})

    def shapes(self, shape: values.Shape, params: dict[str, Any]) -> list[values.Shape]:
        return [shape, (*shape[:-2], shape[-1], shape[-1])]

    def _turn(self, p: Symbol, x: Symbol) -> Symbol:
        return p.builder.call(linalg.solve_sylvester, (p, p, x - mH(x)), {})

    def reverse(self, operation: Operation, y_bar: dict[int, Any]) -> list:
        u, p = self.items(operation.result.builder, operation.result)
        u_bar, p_bar = y_bar.get(0), y_bar.get(1)
        inner = None if u_bar is None else mH(u) @ u_bar
        if p_bar is None:
            of_u = u @ self._turn(p, inner)
        else:
            inner = -(p_bar @ p) if inner is None else inner - p_bar @ p
            of_u = u @ (p_bar + self._turn(p, inner))
        if u_bar is None:
            return [of_u]
        return [of_u + mH(np.linalg.solve(p, mH(u_bar - u @ (mH(u) @ u_bar))))]

    def forward(self, operation: Operation, tangents: list) -> list:
        u, p = self.items(operation.result.builder, operation.result)
        inner = mH(u) @ tangents[0]
        turn = self._turn(p, inner)
        beyond = mH(np.linalg.solve(p, mH(tangents[0] - u @ inner)))
        return [u @ turn + beyond, inner - turn @ p]


composite(linalg.cholesky, f"x, lower=False, {CHECKED}", _cholesky)
composite(linalg.det, f"x, {CHECKED}", _det)
composite(linalg.eig, "x, *, right=True, overwrite_a=False, check_finite=True", _eig)
composite(linalg.eigvals, f"x, *, {CHECKED}", _eigvals)
composite(
    linalg.eigvalsh,
    "x, b=None, *, lower=True, overwrite_a=False, overwrite_b=False, check_finite=True,"
    " subset_by_index=None, driver=None",
    _eigvalsh,
)
composite(linalg.inv, f"x, {CHECKED}, *, assume_a=None, lower=False", _inv)
composite(
    linalg.lstsq,
    "x, b, cond=None, overwrite_a=False, overwrite_b=False, check_finite=True, lapack_driver=None",
    _lstsq,
)
composite(linalg.norm, "x, ord=None, axis=None, keepdims=False, check_finite=True", _norm)
composite(linalg.orth, "x, rcond=None", _orth)
composite(linalg.orthogonal_procrustes, "x, B, check_finite=True", _procrustes)
composite(linalg.pinv, "x, *, atol=None, rtol=None, return_rank=False, check_finite=True", _pinv)
composite(
    linalg.pinvh,
    "x, atol=None, rtol=None, lower=True, return_rank=False, check_finite=True",
    _pinvh,
)
composite(
    linalg.qr,
    "x, overwrite_a=False, lwork=None, mode='full', pivoting=False, check_finite=True",
    _qr,
)
composite(
    linalg.qr_multiply,
    "x, c, mode='right', pivoting=False, conjugate=False, overwrite_a=False, overwrite_c=False",
    _qr_multiply,
)
composite(
    linalg.svd,
    f"x, full_matrices=True, compute_uv=True, {CHECKED}, lapack_driver='gesdd'",
    _svd,
)
composite(linalg.svdvals, f"x, {CHECKED}", lambda x, **_: np.linalg.svdvals(x))

register(Eigh(linalg.eigh, "eigh"))
register(Polar(linalg.polar, "polar"))
