"""scipy.linalg: matrices that are made of vectors, as gathers, and matrices of numbers alone."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import linalg

from s2s_ad.core import values
from s2s_ad.core.builder import Symbol, static
from s2s_ad.core.registry import register
from s2s_ad.diagnostics import ArgumentValueError
from s2s_ad.rules import support
from s2s_ad.rules.composite import composite
from s2s_ad.rules.creation import Creation
from s2s_ad.rules.matrices import conj
from s2s_ad.rules.shape_checks import check_equal, ends
from s2s_ad.rules.shapes import dim_of


def vector(x: Symbol, name: str) -> Symbol:
    return _of_rank(x, name, 1, "a vector")


def single(x: Symbol, name: str) -> Symbol:
    """x, which has to be one matrix; SciPy takes stacks of these, too."""
    return _of_rank(x, name, 2, "a matrix")


def _of_rank(x: Symbol, name: str, rank: int, kind: str) -> Symbol:
    if support.known_rank(x, f"scipy.linalg.{name}") != rank:
        raise ArgumentValueError(
            "S2S203",
            f"scipy.linalg.{name} of an array of rank {x.ndim}",
            origin=x.builder.origin,
            help=f"give {kind}, and use vmap for several",
        )
    return x


def double(x: Any) -> Any:
    """Where SciPy works in double precision, or gives Python's floats."""
    if values.is_dtype(x.dtype, np.complex64):
        return x.astype(complex)
    return x.astype(float) if values.is_dtype(x.dtype, np.float32) else x


def counted(x: Symbol, size: Any) -> Symbol:
    """0, 1, ... as many as `size` says."""
    return x.builder.call(np.arange, (size,), {})


def zeros(x: Symbol, *shape: Any) -> Symbol:
    return x.builder.call(np.zeros, (shape,), {} if x.dtype is None else {"dtype": x.dtype})


def _toeplitz(x: Symbol, r: Any) -> Any:
    c = vector(x, "toeplitz")
    r = conj(c) if r is None else vector(r, "toeplitz")
    indices = counted(x, np.size(c, 0))[:, None] - counted(x, np.size(r, 0))
    return np.concatenate([r[:0:-1], c])[indices + (np.size(r, 0) - 1)]


def _hankel(x: Symbol, r: Any) -> Any:
    c = vector(x, "hankel")
    r = np.zeros_like(c) if r is None else vector(r, "hankel")
    indices = counted(x, np.size(c, 0))[:, None] + counted(x, np.size(r, 0))
    return np.concatenate([c, r[1:]])[indices]


def _circulant(x: Symbol) -> Any:
    c = vector(x, "circulant")
    indices = counted(x, np.size(c, 0))
    return c[(indices[:, None] - indices) % np.size(c, 0)]


def _companion(x: Symbol) -> Any:
    a = vector(x, "companion")
    options = {} if x.dtype is None else {"dtype": x.dtype}
    below = x.builder.call(np.eye, (np.size(a, 0) - 2, np.size(a, 0) - 1), options)
    return np.concatenate([(-a[1:] / a[0])[None], below])


def _leslie(x: Symbol, s: Any) -> Any:
    f = vector(x, "leslie")
    below = np.concatenate([np.diag(s), zeros(x, np.size(s, 0), 1)], axis=1)
    return np.concatenate([f[None], below])


def _convolution_matrix(x: Symbol, n: Any, mode: Any) -> Any:
    a, mode = vector(x, "convolution_matrix"), static(mode, "mode of convolution_matrix")
    size = np.size(a, 0)
    around = zeros(x, n - 1)
    indices = counted(x, size + n - 1)[:, None] - counted(x, n)
    whole = np.concatenate([around, a, around])[indices + (n - 1)]
    if mode == "full":
        return whole
    trim = (np.minimum(n, size) if isinstance(size, Symbol) else min(n, size)) - 1
    before = trim // 2 if mode == "same" else trim
    after = trim - before if mode == "same" else trim
    return whole[before : size + n - 1 - after]


def _fiedler(x: Symbol) -> Any:
    a = vector(x, "fiedler")
    return np.abs(a[:, None] - a)


def _khatri_rao(x: Symbol, b: Any) -> Any:
    """The products of all rows of one with all rows of the other."""
    check_equal(*ends(x, b), "The number of columns for both arrays should be equal.")
    products = x[..., :, None, :] * b[..., None, :, :]
    rows = np.size(x, -2) * np.size(b, -2)
    stack = support.lengths(products, range(products.ndim - 3))
    return np.reshape(products, (*stack, rows, np.size(x, -1)))


def _block_diag(arrs: tuple) -> Any:
    blocks = [_as_block(each) for each in arrs]
    like = next(each for each in blocks if isinstance(each, Symbol))
    widths = [np.size(each, 1) for each in blocks]
    rows = []
    for index, each in enumerate(blocks):
        height = np.size(each, 0)
        parts = [zeros(like, height, width) for width in widths]
        rows.append(np.concatenate([*parts[:index], each, *parts[index + 1 :]], axis=1))
    return np.concatenate(rows)


def _as_block(x: Symbol) -> Symbol:
    rank = support.known_rank(x, "scipy.linalg.block_diag")
    return single(x, "block_diag") if rank > 1 else np.reshape(x, (1, -1))


def _pair(c_or_cr: Any) -> tuple:
    return c_or_cr if isinstance(c_or_cr, tuple | list) else (c_or_cr, None)


def _matmul_toeplitz(c_or_cr: Any, x: Any, **_: Any) -> Any:
    c, r = _pair(c_or_cr)
    return double(_toeplitz(c, r) @ x)


def _solve_toeplitz(c_or_cr: Any, b: Any, check_finite: Any) -> Any:
    c, r = _pair(c_or_cr)
    return np.linalg.solve(_toeplitz(c, r), b)


def _solve_circulant(x: Symbol, b: Any) -> Any:
    return np.linalg.solve(_circulant(x), b)


def made(
    function: Callable, text: str, rows: Callable[[Any], Any] = lambda full: full["n"]
) -> None:
    """A matrix of numbers alone, of n columns; its dtype is asked of a small one."""

    def shape(full: dict[str, Any]) -> tuple:
        return dim_of(rows(full)), dim_of(full["n"])

    def dtype(full: dict[str, Any]) -> np.dtype:
        return function(**{**full, "n": 2}).dtype

    register(Creation(function, text, shape, dtype))


composite(linalg.block_diag, "*arrs", _block_diag)
composite(linalg.circulant, "x", _circulant)
composite(linalg.companion, "x", _companion)
composite(linalg.convolution_matrix, "x, n, mode='full'", _convolution_matrix)
composite(linalg.fiedler, "x", _fiedler)
composite(linalg.hankel, "x, r=None", _hankel)
composite(linalg.khatri_rao, "x, b", _khatri_rao)
composite(linalg.leslie, "x, s", _leslie)
composite(linalg.matmul_toeplitz, "c_or_cr, x, check_finite=False, workers=None", _matmul_toeplitz)
composite(linalg.solve_circulant, "x, b", _solve_circulant)
composite(linalg.solve_toeplitz, "c_or_cr, b, check_finite=True", _solve_toeplitz)
composite(linalg.toeplitz, "x, r=None", _toeplitz)

made(linalg.dft, "n, scale=None")
made(linalg.hadamard, "n, dtype=int")
made(linalg.helmert, "n, full=False", lambda full: full["n"] - (not full["full"]))
made(linalg.hilbert, "n")
made(linalg.invhilbert, "n, exact=False")
made(linalg.invpascal, "n, kind='symmetric', exact=True")
made(linalg.pascal, "n, kind='symmetric', exact=True")
