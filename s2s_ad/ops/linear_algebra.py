"""Products of matrices and tensors, inverses and determinants."""

from __future__ import annotations

from typing import Any

import numpy as np

from s2s_ad.diagnostics import ArgumentTypeError, ArgumentValueError
from s2s_ad.ops.arguments import array, axis_of, eager, floating, line_up
from s2s_ad.tensors import Tensor

# ---- products ------------------------------------------------------------------------------------


def matmul(input: Any, other: Any) -> Tensor:
    """input @ other: of vectors, matrices, and stacks of matrices, which broadcast.

    Raises:
        ArgumentValueError: the shapes do not line up.

    Example:
        >>> matmul(Tensor([[1.0, 2.0]]), Tensor([3.0, 4.0])).tolist()
        [11.0]
    """
    line_up("matmul", array("matmul", input), array("matmul", other, "other"))
    return input @ other


def mm(input: Any, mat2: Any) -> Tensor:
    """The product of two matrices."""
    return product_of("mm", input, mat2, (2, 2), ("input", "mat2"))


def mv(mat: Any, vec: Any) -> Tensor:
    """The product of a matrix and a vector."""
    return product_of("mv", mat, vec, (2, 1), ("mat", "vec"))


def bmm(input_x: Any, mat2: Any) -> Tensor:
    """The products of two stacks of matrices, (n, i, k) and (n, k, j)."""
    return product_of("bmm", input_x, mat2, (3, 3), ("input_x", "mat2"))


def dot(input: Any, other: Any) -> Tensor:
    """The sum of the products of the elements of two vectors."""
    return product_of("dot", input, other, (1, 1), ("input", "other"))


def product_of(
    api: str, first: Any, second: Any, ranks: tuple[int, int], names: tuple[str, str]
) -> Tensor:
    """first @ second, for operands of these ranks only."""
    for value, rank, name in zip((first, second), ranks, names, strict=True):
        if np.ndim(array(api, value, name)) != rank:
            raise ArgumentValueError(
                "S2S502", f"{api}: argument '{name}' has {np.ndim(value)} axes; expected {rank}"
            )
    line_up(api, first, second)
    return first @ second


def tensor_dot(x1: Any, x2: Any, axes: Any) -> Tensor:
    """Products of all elements, summed over axes of both.

    Args:
        axes: how many of the last axes of x1 and the first of x2 are summed over, or the axes of
            each: (of x1, of x2), ints or tuples of ints.

    Raises:
        ArgumentTypeError: axes is no int, tuple or list.
        ArgumentValueError: the lengths of axes that are summed over together differ.

    Example:
        >>> tensor_dot(Tensor([1.0, 2.0]), Tensor([3.0, 4.0]), 1).tolist()
        11.0
    """
    array("tensor_dot", x1, "x1"), array("tensor_dot", x2, "x2")
    if isinstance(axes, bool) or not isinstance(axes, int | tuple | list):
        raise ArgumentTypeError(
            "S2S501",
            f"tensor_dot: argument 'axes' is {axes!r}; expected an int or a pair of axes",
        )
    if isinstance(axes, int):
        limit = min(np.ndim(x1), np.ndim(x2))
        if not 0 <= axes <= limit:
            raise ArgumentValueError(
                "S2S502", f"tensor_dot: argument 'axes' is {axes}; expected a value in [0, {limit}]"
            )
    axes_line_up(x1, x2, axes)
    return np.tensordot(x1, x2, axes)


@eager
def axes_line_up(x1: Any, x2: Any, axes: Any) -> None:
    """The axes that are summed over together have one length."""
    if isinstance(axes, int):
        pairs = list(zip(range(np.ndim(x1) - axes, np.ndim(x1)), range(axes), strict=True))
    else:
        of_each = [each if isinstance(each, tuple | list) else (each,) for each in axes]
        pairs = list(zip(*of_each, strict=False))
    for mine, theirs in pairs:
        axis_of("tensor_dot", mine, np.ndim(x1), "axes")
        axis_of("tensor_dot", theirs, np.ndim(x2), "axes")
        lengths = np.shape(x1)[mine], np.shape(x2)[theirs]
        if lengths[0] != lengths[1]:
            raise ArgumentValueError(
                "S2S502",
                f"tensor_dot: axis {mine} of x1 has {lengths[0]}, "
                f"axis {theirs} of x2 has {lengths[1]}",
            )


def outer(input: Any, vec2: Any) -> Tensor:
    """The matrix of the products of the elements of two vectors.

    Example:
        >>> outer(Tensor([1.0, 2.0]), Tensor([3.0, 4.0])).tolist()
        [[3.0, 4.0], [6.0, 8.0]]
    """
    return np.outer(array("outer", input), array("outer", vec2, "vec2"))


def inner(input: Any, other: Any) -> Tensor:
    """Sums of products along the last axes of both."""
    return np.inner(array("inner", input), array("inner", other, "other"))


def kron(input: Any, other: Any) -> Tensor:
    """The Kronecker product."""
    return np.kron(array("kron", input), array("kron", other, "other"))


def cross(input: Any, other: Any, dim: int | None = None) -> Tensor:
    """The vector product along an axis of length 3 (the last without `dim`)."""
    array("cross", input), array("cross", other, "other")
    return np.cross(input, other, axis=-1 if dim is None else dim)


def einsum(equation: str, *operands: Any) -> Tensor:
    """Sums of products, as np.einsum writes them.

    Example:
        >>> einsum("i,i->", Tensor([1.0, 2.0]), Tensor([3.0, 4.0])).tolist()
        11.0
    """
    return np.einsum(equation, *operands)


def dense(input: Any, weight: Any, bias: Any = None) -> Tensor:
    """input @ weight.T + bias: a layer of (out, in) weights on inputs of shape (..., in)."""
    array("dense", input), array("dense", weight, "weight")
    features_line_up(input, weight)
    if bias is None:
        return input @ weight.T
    return input @ weight.T + bias


@eager
def features_line_up(input: Any, weight: Any) -> None:
    """The last axis of an input is as long as that of the weight."""
    takes = np.shape(weight)[-1:]
    if np.shape(input)[-1:] != takes:
        raise ArgumentValueError(
            "S2S502",
            f"dense: argument 'input' has shape {np.shape(input)}; expected (..., "
            f"{', '.join(map(str, takes))}) for weight of shape {np.shape(weight)}",
        )


def addmm(input: Any, mat1: Any, mat2: Any, *, beta: Any = 1, alpha: Any = 1) -> Tensor:
    """beta * input + alpha * (mat1 @ mat2)."""
    return beta * array("addmm", input) + alpha * (mat1 @ mat2)


def addmv(input: Any, mat: Any, vec: Any, *, beta: Any = 1, alpha: Any = 1) -> Tensor:
    """beta * input + alpha * (mat @ vec)."""
    return beta * array("addmv", input) + alpha * (mat @ vec)


def baddbmm(input: Any, batch1: Any, batch2: Any, beta: Any = 1, alpha: Any = 1) -> Tensor:
    """beta * input + alpha * (batch1 @ batch2), for stacks of matrices."""
    return beta * array("baddbmm", input) + alpha * (batch1 @ batch2)


# ---- matrices ------------------------------------------------------------------------------------


def trace(input: Any) -> Tensor:
    """The sum of the diagonal of a matrix."""
    return np.trace(array("trace", input))


def inverse(input: Any) -> Tensor:
    """The inverse of a matrix, or of each of a stack."""
    return np.linalg.inv(floating("inverse", input))


def pinv(x: Any) -> Tensor:
    """The pseudo-inverse of a matrix, or of each of a stack."""
    return np.linalg.pinv(floating("pinv", x, "x"))


def det(input: Any) -> Tensor:
    """The determinant of a matrix, or of each of a stack."""
    return np.linalg.det(floating("det", input))


def slogdet(input: Any) -> tuple[Tensor, Tensor]:
    """(sign, logarithm of the absolute value) of the determinant."""
    return tuple(np.linalg.slogdet(floating("slogdet", input)))


def cholesky(input_x: Any, upper: bool = False) -> Tensor:
    """The lower triangle L with L @ L.T = input_x, or with `upper` its transpose."""
    factor = np.linalg.cholesky(floating("cholesky", input_x, "input_x"))
    return np.swapaxes(factor, -1, -2) if upper else factor


def matrix_power(input: Any, n: int) -> Tensor:
    """A square matrix times itself, n times."""
    return np.linalg.matrix_power(array("matrix_power", input), n)


def cosine_similarity(x1: Any, x2: Any, dim: int = 1, eps: float = 1e-08) -> Tensor:
    """The cosine of the angle between vectors along an axis."""
    rank = np.ndim(array("cosine_similarity", x1, "x1"))
    axis = axis_of("cosine_similarity", dim, rank, "dim")
    array("cosine_similarity", x2, "x2")
    lengths = np.sqrt(np.sum(x1 * x1, axis=axis) * np.sum(x2 * x2, axis=axis))
    return np.sum(x1 * x2, axis=axis) / np.maximum(lengths, eps)


ger = outer
