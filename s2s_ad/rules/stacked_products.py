"""Products of stacks of vectors and matrices: np.vecdot, np.matvec, np.cross, np.kron and kin."""

from __future__ import annotations

from typing import Any

import numpy as np

from s2s_ad import versions
from s2s_ad.core import sizes, values
from s2s_ad.core.builder import Builder, Symbol, static
from s2s_ad.core.registry import register
from s2s_ad.rules import support
from s2s_ad.rules.composite import composite
from s2s_ad.rules.composite_ufuncs import composite_ufunc
from s2s_ad.rules.matrix_products import Cross


def _vdot(x: Symbol, b: Any) -> Any:
    return np.dot(np.ravel(support.conj(x)), np.ravel(support.as_operand(x.builder, b)))


def _check(name: str, core: str, x1: Any, x2: Any) -> None:
    """The axes that are summed over have one length; here nothing broadcasts.

    Raises:
        ValueError: an operand has too few axes, or their lengths differ.
    """
    for index, (x, axes) in enumerate(zip((x1, x2), core.split(","), strict=True)):
        if support.known_rank(x, name) < len(axes):
            raise ValueError(f"{name}: input operand {index} does not have enough dimensions")
    first, second = (
        support.shape(x)[axes.index("n") - len(axes)]
        for x, axes in zip((x1, x2), core.split(","), strict=True)
    )
    values.check_fit(first, second, f"{name}: a mismatch in the core dimension of the operands")


def _vecdot(x1: Any, x2: Any, axis: Any) -> Any:
    if axis == -1:
        _check("vecdot", "n,n", x1, x2)
    if support.rank(x1) == support.rank(x2) == 1:
        return np.dot(support.conj(x1), x2)
    return np.sum(support.conj(x1) * x2, axis=axis)


def _matvec(x1: Any, x2: Any) -> Any:
    _check("matvec", "mn,n", x1, x2)
    return np.matmul(x1, x2) if support.rank(x2) == 1 else np.matmul(x1, x2[..., None])[..., 0]


def _vecmat(x1: Any, x2: Any) -> Any:
    _check("vecmat", "n,nm", x1, x2)
    x1 = support.conj(x1)
    if support.rank(x1) == 1:
        return np.matmul(x1, x2)
    return np.matmul(x1[..., None, :], x2)[..., 0, :]


class CrossOfAxes(Cross):
    """np.cross: the axes of the vectors may be said for each array, and for the result."""

    allocates = True
    in_c_order = "always"
    text = "x, b, axisa=-1, axisb=-1, axisc=-1, axis=None"

    def bind(self, builder: Builder, args: tuple, kwargs: dict[str, Any]) -> Any:
        """Of vectors of length three, or two; any other length NumPy refuses when it runs."""
        params = support.bind_call(builder, self, self.text, args, kwargs)
        x, b = (support.as_operand(builder, params.pop(each)) for each in ("x", "b"))
        *axes, axis = static(tuple(params.values()), "the axes of np.cross")
        axisa, axisb, axisc = axes if axis is None else (axis,) * 3
        x, b = _vectors_last(x, axisa), _vectors_last(b, axisb)
        flat = [*map(_is_flat, (x, b))] if versions.crosses_in_a_plane() else [False, False]
        if all(flat):
            return x[..., 0] * b[..., 1] - x[..., 1] * b[..., 0]
        x, b = (_in_space(each) if own else each for each, own in zip((x, b), flat, strict=True))
        y = builder.emit(self, [_of_three(x), _of_three(b)], {})
        axisc = support.normal_axis(axisc, y.ndim)
        return y if axisc == y.ndim - 1 else np.moveaxis(y, -1, axisc)


def _vectors_last(x: Symbol, axis: int) -> Symbol:
    """x with its vectors along the last axis."""
    rank = support.known_rank(x, "np.cross")
    axis = support.normal_axis(axis, rank)
    return x if axis == rank - 1 else np.moveaxis(x, axis, -1)


def _is_flat(x: Symbol) -> bool:
    """Whether the vectors have two components."""
    return sizes.equals(values.size_of_dim(x.shape[-1]), sizes.of(2))


def _in_space(x: Symbol) -> Symbol:
    """Vectors of two components with a third one, which is 0."""
    return np.concatenate([x, np.zeros_like(x[..., :1])], -1)


def _of_three(x: Symbol) -> Symbol:
    """Vectors, which have three components."""
    if x.shape[-1] == 3:
        return x
    if x.shape[-1] == 1:
        raise ValueError("incompatible dimensions for cross product: dimension must be 3")
    return np.broadcast_to(x, (*support.lengths(x, range(x.ndim - 1)), 3))


def _kron(x: Symbol, b: Any) -> Any:
    """Each element of the first array times all of the second."""
    a, b = x, support.as_operand(x.builder, b)
    ranks = [support.known_rank(each, "np.kron") for each in (a, b)]
    if 0 in ranks:
        return a * b
    rank = max(ranks)
    a, b = (_of_rank(each, rank) for each in (a, b))
    sizes = [support.length(a, i) * support.length(b, i) for i in range(rank)]
    outer = np.expand_dims(a, tuple(range(1, 2 * rank, 2)))
    inner = np.expand_dims(b, tuple(range(0, 2 * rank, 2)))
    return np.reshape(outer * inner, tuple(sizes))


def _of_rank(x: Symbol, rank: int) -> Symbol:
    return np.expand_dims(x, tuple(range(rank - x.ndim))) if x.ndim < rank else x


composite(np.kron, "x, b", _kron)
composite_ufunc(np.matvec, "x1, x2", _matvec)
composite(np.vdot, "x, b", _vdot)
composite_ufunc(np.vecdot, "x1, x2, axis=-1", _vecdot)
composite_ufunc(np.vecmat, "x1, x2", _vecmat)

register(CrossOfAxes(np.cross, "cross"))
