"""Sums, means, extremes and norms along axes, and running sums.

An axis is an int, a tuple of ints, or None for all axes. The derivative of a maximum or minimum is
shared evenly between equal elements.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from s2s_ad import stop_gradient
from s2s_ad.ops.arguments import array, axes_of, axis_of, floating
from s2s_ad.tensors import Tensor

# ---- sums and means ------------------------------------------------------------------------------


def sum(input: Any, dim: Any = None, keepdim: bool = False, *, dtype: Any = None) -> Tensor:
    """The sum along axes.

    Args:
        dim: the axes; keepdim: keep them, with length 1.

    Example:
        >>> sum(Tensor([[1.0, 2.0], [3.0, 4.0]]), 1).tolist()
        [3.0, 7.0]
    """
    axes = axes_of("sum", dim, np.ndim(array("sum", input)), "dim")
    return np.sum(input, axis=axes, keepdims=keepdim, dtype=dtype)


def reduce_sum(x: Any, axis: Any = None, keep_dims: bool = False) -> Tensor:
    """The sum along axes."""
    axes = axes_of("reduce_sum", axis, np.ndim(array("reduce_sum", x, "x")))
    return np.sum(x, axis=axes, keepdims=keep_dims)


def mean(x: Any, axis: Any = None, keep_dims: bool = False) -> Tensor:
    """The mean along axes.

    Example:
        >>> mean(Tensor([[1.0, 2.0], [3.0, 4.0]]), 0).tolist()
        [2.0, 3.0]
    """
    axes = axes_of("mean", axis, np.ndim(array("mean", x, "x")))
    return np.mean(floating("mean", x, "x"), axis=axes, keepdims=keep_dims)


def prod(input: Any, axis: Any = None, keep_dims: bool = False, dtype: Any = None) -> Tensor:
    """The product along axes."""
    axes = axes_of("prod", axis, np.ndim(array("prod", input)))
    return np.prod(input, axis=axes, keepdims=keep_dims, dtype=dtype)


def nansum(input: Any, axis: Any = None, keepdims: bool = False, *, dtype: Any = None) -> Tensor:
    """The sum along axes of what is not nan."""
    axes = axes_of("nansum", axis, np.ndim(array("nansum", input)))
    return np.nansum(input, axis=axes, keepdims=keepdims, dtype=dtype)


def std(input: Any, axis: Any = None, ddof: int = 0, keepdims: bool = False) -> Tensor:
    """The standard deviation along axes; the sum of squares is divided by their count less ddof."""
    axes = axes_of("std", axis, np.ndim(array("std", input)))
    return np.std(floating("std", input), axis=axes, ddof=ddof, keepdims=keepdims)


def var(input: Any, axis: Any = None, ddof: int = 0, keepdims: bool = False) -> Tensor:
    """The variance along axes; the sum of squares is divided by their count less ddof."""
    axes = axes_of("var", axis, np.ndim(array("var", input)))
    return np.var(floating("var", input), axis=axes, ddof=ddof, keepdims=keepdims)


def logsumexp(input: Any, axis: Any = None, keep_dims: bool = False) -> Tensor:
    """log(sum(exp(input))) along axes, without overflow.

    Example:
        >>> round(logsumexp(Tensor([1000.0, 1000.0])).tolist(), 2)
        1000.69
    """
    axes = axes_of("logsumexp", axis, np.ndim(array("logsumexp", input)))
    x = floating("logsumexp", input)
    top = finite_top(x, axes)
    total = np.log(np.sum(np.exp(x - top), axis=axes, keepdims=True)) + top
    return total if keep_dims else np.squeeze(total, axes)


def finite_top(x: Any, axes: Any) -> Any:
    """The maximum along axes, which stay with length 1, as a constant; 0 for the infinities."""
    top = stop_gradient(np.max(x, axis=axes, keepdims=True))
    return np.where(np.isfinite(top), top, 0)


# ---- extremes ------------------------------------------------------------------------------------


def amax(input: Any, axis: Any = None, keepdims: bool = False) -> Tensor:
    """The largest element along axes.

    Example:
        >>> amax(Tensor([[1.0, 2.0], [4.0, 3.0]]), 1).tolist()
        [2.0, 4.0]
    """
    axes = axes_of("amax", axis, np.ndim(array("amax", input)))
    return np.max(input, axis=axes, keepdims=keepdims)


def amin(input: Any, axis: Any = None, keepdims: bool = False) -> Tensor:
    """The smallest element along axes."""
    axes = axes_of("amin", axis, np.ndim(array("amin", input)))
    return np.min(input, axis=axes, keepdims=keepdims)


def max(input: Any, axis: Any = None, keepdims: bool = False) -> tuple[Tensor, Tensor]:
    """(largest elements along an axis, their places); without an axis of all, and 0.

    Example:
        >>> [each.tolist() for each in max(Tensor([[1.0, 2.0], [4.0, 3.0]]), 1)]
        [[2.0, 4.0], [1, 0]]
    """
    array("max", input)
    if axis is None:
        return np.max(input), Tensor(0)
    place = axis_of("max", axis, np.ndim(input))
    return (
        np.max(input, axis=place, keepdims=keepdims),
        np.argmax(input, axis=place, keepdims=keepdims),
    )


def min(input: Any, axis: Any = None, keepdims: bool = False) -> tuple[Tensor, Tensor]:
    """(smallest elements along an axis, their places); without an axis of all, and 0."""
    array("min", input)
    if axis is None:
        return np.min(input), Tensor(0)
    place = axis_of("min", axis, np.ndim(input))
    return (
        np.min(input, axis=place, keepdims=keepdims),
        np.argmin(input, axis=place, keepdims=keepdims),
    )


def argmax(input: Any, dim: int | None = None, keepdim: bool = False) -> Tensor:
    """The place of the first largest element along an axis, or of all in one row.

    Example:
        >>> argmax(Tensor([1.0, 3.0, 2.0])).tolist()
        1
    """
    axis = axes_of("argmax", dim, np.ndim(array("argmax", input)), "dim")
    return np.argmax(input, axis=axis, keepdims=keepdim and dim is not None)


def argmin(input: Any, axis: int | None = None, keepdims: bool = False) -> Tensor:
    """The place of the first smallest element along an axis, or of all in one row, in Int32."""
    place = axes_of("argmin", axis, np.ndim(array("argmin", input)))
    return np.argmin(input, axis=place, keepdims=keepdims and axis is not None).astype(np.int32)


# ---- logic ---------------------------------------------------------------------------------------


def all(input: Any, axis: Any = None, keep_dims: bool = False) -> Tensor:
    """Whether all elements along axes are other than 0."""
    axes = axes_of("all", axis, np.ndim(array("all", input)))
    return np.all(input, axis=axes, keepdims=keep_dims)


def any(input: Any, axis: Any = None, keep_dims: bool = False) -> Tensor:
    """Whether some element along axes is other than 0."""
    axes = axes_of("any", axis, np.ndim(array("any", input)))
    return np.any(input, axis=axes, keepdims=keep_dims)


def count_nonzero(x: Any, axis: Any = None, keep_dims: bool = False) -> Tensor:
    """How many elements along axes are other than 0."""
    axes = axes_of("count_nonzero", axis, np.ndim(array("count_nonzero", x, "x")))
    return np.count_nonzero(x, axis=axes, keepdims=keep_dims)


# ---- norms ---------------------------------------------------------------------------------------


def norm(
    A: Any, ord: Any = None, dim: Any = None, keepdim: bool = False, *, dtype: Any = None
) -> Tensor:
    """The norm of vectors or matrices, as np.linalg.norm gives it.

    Args:
        ord: 2-norm without it; else as np.linalg.norm has it.
        dim: the axis of the vectors or the two axes of the matrices; all elements without it.

    Its derivative at 0 is nan.

    Example:
        >>> norm(Tensor([3.0, 4.0])).tolist()
        5.0
    """
    axes = axes_of("norm", dim, np.ndim(array("norm", A, "A")), "dim")
    x = floating("norm", A, "A") if dtype is None else A.astype(dtype)
    if ord is None:
        return np.sqrt(np.sum(np.square(x), axis=axes, keepdims=keepdim))
    return np.linalg.norm(x, ord=ord, axis=axes, keepdims=keepdim)


# ---- running -------------------------------------------------------------------------------------


def cumsum(x: Any, axis: int, dtype: Any = None) -> Tensor:
    """The sums of the elements so far, along an axis.

    Example:
        >>> cumsum(Tensor([1.0, 2.0, 3.0]), 0).tolist()
        [1.0, 3.0, 6.0]
    """
    place = axis_of("cumsum", axis, np.ndim(array("cumsum", x, "x")))
    return np.cumsum(x, axis=place, dtype=dtype)


def cumprod(input: Any, dim: int, dtype: Any = None) -> Tensor:
    """The products of the elements so far, along an axis."""
    place = axis_of("cumprod", dim, np.ndim(array("cumprod", input)), "dim")
    return np.cumprod(input, axis=place, dtype=dtype)


def diff(x: Any, n: int = 1, axis: int = -1) -> Tensor:
    """The differences of neighbours along an axis, taken n times."""
    return np.diff(array("diff", x, "x"), n, axis_of("diff", axis, np.ndim(x)))


reduce_all, reduce_any, reduce_max, reduce_min = all, any, amax, amin
reduce_mean, reduce_prod = mean, prod
