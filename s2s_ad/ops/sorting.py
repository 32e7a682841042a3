"""Elements in order, and where they stood."""

from __future__ import annotations

from typing import Any

import numpy as np

from s2s_ad.diagnostics import ArgumentValueError
from s2s_ad.ops.arguments import array, axis_of, count_of
from s2s_ad.tensors import Tensor


def argsort(input: Any, axis: int = -1, descending: bool = False) -> Tensor:
    """The places of the elements along an axis in the order of their values, int32.

    Equal elements stay in their order, also where the values descend.
    """
    array("argsort", input)
    return order(input, axis_of("argsort", axis, np.ndim(input)), descending).astype(np.int32)


def order(x: Any, axis: int, descending: bool) -> Any:
    """The places of the elements in ascending or descending order."""
    if not descending:
        return np.argsort(x, axis=axis, kind="stable")
    last = np.shape(x)[axis] - 1
    return last - np.flip(np.argsort(np.flip(x, axis), axis=axis, kind="stable"), axis)


def sort(input_x: Any, axis: int = -1, descending: bool = False) -> tuple[Tensor, Tensor]:
    """(the elements along an axis in order, the places where they stood, int32).

    Example:
        >>> [each.tolist() for each in sort(Tensor([3.0, 1.0, 2.0]))]
        [[1.0, 2.0, 3.0], [1, 2, 0]]
    """
    rank = np.ndim(array("sort", input_x, "input_x"))
    places = order(input_x, axis_of("sort", axis, rank), descending)
    return np.take_along_axis(input_x, places, axis), places.astype(np.int32)


def topk(
    input: Any, k: int, dim: int | None = None, largest: bool = True, sorted: bool = True
) -> tuple[Tensor, Tensor]:
    """(the k largest or smallest elements along an axis, in order; their places, int32).

    Example:
        >>> [each.tolist() for each in topk(Tensor([3.0, 1.0, 2.0]), 2)]
        [[3.0, 2.0], [0, 2]]
    """
    rank = np.ndim(array("topk", input))
    axis = axis_of("topk", -1 if dim is None else dim, rank, "dim") % rank
    count_of("topk", k, "k")
    if k > np.shape(input)[axis]:
        raise ArgumentValueError(
            "S2S502",
            f"topk: argument 'k' is {k}; axis {axis} of input has length {np.shape(input)[axis]}",
        )
    lead = (slice(None),) * axis
    places = order(input, axis, largest)[(*lead, slice(k))]
    return np.take_along_axis(input, places, axis), places.astype(np.int32)


def median(input: Any, axis: int = -1, keepdims: bool = False) -> tuple[Tensor, Tensor]:
    """(the lower median along an axis, its place)."""
    rank = np.ndim(array("median", input))
    axis = axis_of("median", axis, rank) % rank
    middle = (np.shape(input)[axis] - 1) // 2
    places = np.take(order(input, axis, False), middle, axis)
    values = np.take_along_axis(input, np.expand_dims(places, axis), axis)
    if keepdims:
        return values, np.expand_dims(places, axis)
    return np.squeeze(values, axis), places
