"""Methods of Tensors that take axes together. Axes are called `axis` or, as in ops, `dim`."""

from __future__ import annotations

from typing import Any

import numpy as np

from s2s_ad.tensors.elementwise import inexact

SEQUENCES = (list, tuple)


def one_of(axis: Any, dim: Any) -> Any:
    """The axes, which have two names; an empty sequence stands for all, as in MindSpore."""
    found = dim if axis is None else axis
    return (tuple(found) or None) if isinstance(found, SEQUENCES) else found


class Reductions:
    """Methods of Tensors that take axes together."""

    __slots__ = ()

    def sum(self, axis=None, dtype=None, keepdims=False, *, dim=None, keepdim=False) -> Any:
        return np.sum(
            self,
            axis=one_of(axis, dim),
            dtype=None if isinstance(dtype, bool) else dtype,
            keepdims=keepdims or keepdim or dtype is True,  # sum(dim, keepdim)
        )

    def prod(self, axis=None, dtype=None, keepdims=False, *, dim=None, keepdim=False) -> Any:
        return np.prod(
            self,
            axis=one_of(axis, dim),
            dtype=None if isinstance(dtype, bool) else dtype,
            keepdims=keepdims or keepdim or dtype is True,  # prod(dim, keepdim)
        )

    def mean(
        self, axis=None, keep_dims=False, *, dtype=None, keepdims=False, dim=None, keepdim=False
    ) -> Any:
        return np.mean(
            inexact(self) if dtype is None else self.astype(dtype),
            axis=one_of(axis, dim),
            keepdims=keep_dims or keepdims or keepdim,
        )

    def var(self, axis=None, ddof=0, keepdims=False, *, dim=None, keepdim=False) -> Any:
        return np.var(
            inexact(self), axis=one_of(axis, dim), ddof=ddof, keepdims=keepdims or keepdim
        )

    def std(self, axis=None, ddof=0, keepdims=False, *, dim=None, keepdim=False) -> Any:
        return np.std(
            inexact(self), axis=one_of(axis, dim), ddof=ddof, keepdims=keepdims or keepdim
        )

    def max(
        self, axis=None, keepdims=False, *, return_indices=False, dim=None, keepdim=False
    ) -> Any:
        """The largest elements; with `dim` or `return_indices` a pair, with their indices."""
        return (
            np.max(self, axis=one_of(axis, dim), keepdims=keepdims or keepdim)
            if dim is None and not return_indices
            else (
                np.max(self, axis=one_of(axis, dim), keepdims=keepdims or keepdim),
                np.argmax(self, axis=one_of(axis, dim), keepdims=keepdims or keepdim),
            )
        )

    def min(
        self, axis=None, keepdims=False, *, return_indices=False, dim=None, keepdim=False
    ) -> Any:
        """The smallest elements; with `dim` or `return_indices` a pair, with their indices."""
        return (
            np.min(self, axis=one_of(axis, dim), keepdims=keepdims or keepdim)
            if dim is None and not return_indices
            else (
                np.min(self, axis=one_of(axis, dim), keepdims=keepdims or keepdim),
                np.argmin(self, axis=one_of(axis, dim), keepdims=keepdims or keepdim),
            )
        )

    def amax(self, axis=None, keepdims=False, *, dim=None, keepdim=False) -> Any:
        return np.max(self, axis=one_of(axis, dim), keepdims=keepdims or keepdim)

    def amin(self, axis=None, keepdims=False, *, dim=None, keepdim=False) -> Any:
        return np.min(self, axis=one_of(axis, dim), keepdims=keepdims or keepdim)

    def ptp(self, axis=None, keepdims=False) -> Any:
        return np.max(self, axis=axis, keepdims=keepdims) - np.min(
            self, axis=axis, keepdims=keepdims
        )

    def argmax(self, axis=None, keepdims=False, *, dim=None, keepdim=False) -> Any:
        return np.argmax(self, axis=one_of(axis, dim), keepdims=keepdims or keepdim)

    def argmin(self, axis=None, keepdims=False, *, dim=None, keepdim=False) -> Any:
        """The index of the first smallest element: Int32 in MindSpore, where argmax is Int64."""
        places = np.argmin(self, axis=one_of(axis, dim), keepdims=keepdims or keepdim)
        return places.astype(np.int32)

    def all(self, axis=None, keep_dims=False, *, keepdims=False, dim=None, keepdim=False) -> Any:
        return np.all(self, axis=one_of(axis, dim), keepdims=keep_dims or keepdims or keepdim)

    def any(self, axis=None, keep_dims=False, *, keepdims=False, dim=None, keepdim=False) -> Any:
        return np.any(self, axis=one_of(axis, dim), keepdims=keep_dims or keepdims or keepdim)

    def norm(
        self, ord=None, dim=None, keepdim=False, *, axis=None, keepdims=False, dtype=None
    ) -> Any:
        return np.linalg.norm(
            inexact(self) if dtype is None else self.astype(dtype),
            ord,
            axis=one_of(axis, dim),
            keepdims=keepdims or keepdim,
        )

    def logsumexp(self, axis=None, keepdims=False, *, dim=None, keepdim=False) -> Any:
        return np.logaddexp.reduce(
            inexact(self), axis=one_of(axis, dim), keepdims=keepdims or keepdim
        )

    def nansum(self, axis=None, keepdims=False) -> Any:
        return np.nansum(self, axis=axis, keepdims=keepdims)

    def nanmean(self, axis=None, keepdims=False) -> Any:
        return np.nanmean(inexact(self), axis=axis, keepdims=keepdims)

    def count_nonzero(self, axis=None, keepdims=False, *, dim=None) -> Any:
        return np.sum(self != 0, axis=one_of(axis, dim), keepdims=keepdims)

    def trace(self, offset=0, axis1=0, axis2=1) -> Any:
        return np.trace(self, offset, axis1, axis2)

    # ---- products ----------------------------------------------------------------------------

    def matmul(self, other) -> Any:
        return self @ other

    def mm(self, mat2) -> Any:
        return self @ mat2

    def mv(self, vec) -> Any:
        return self @ vec

    def bmm(self, mat2) -> Any:
        return self @ mat2

    def dot(self, other) -> Any:
        return np.dot(self, other)

    def inner(self, other) -> Any:
        return np.inner(self, other)

    def outer(self, vec2) -> Any:
        return np.outer(self, vec2)

    def ger(self, vec2) -> Any:
        return np.outer(self, vec2)

    def cross(self, other, dim=-1) -> Any:
        return np.cross(self, other, axis=dim)

    def addmm(self, mat1, mat2, *, beta=1, alpha=1) -> Any:
        return beta * self + alpha * (mat1 @ mat2)

    def addmv(self, mat, vec, *, beta=1, alpha=1) -> Any:
        return beta * self + alpha * (mat @ vec)

    def addr(self, vec1, vec2, *, beta=1, alpha=1) -> Any:
        return beta * self + alpha * np.outer(vec1, vec2)

    def baddbmm(self, batch1, batch2, *, beta=1, alpha=1) -> Any:
        return beta * self + alpha * (batch1 @ batch2)

    def kron(self, other) -> Any:
        return np.kron(self, other)

    def matrix_power(self, n) -> Any:
        return np.linalg.matrix_power(inexact(self), n)

    def det(self) -> Any:
        return np.linalg.det(inexact(self))

    def inverse(self) -> Any:
        return np.linalg.inv(inexact(self))
