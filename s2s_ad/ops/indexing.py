"""Elements by their places, and writing to places: each gives a new array."""

from __future__ import annotations

from typing import Any

import numpy as np

from s2s_ad.ops.arguments import array, axis_of, beside
from s2s_ad.tensors import Tensor

# ---- reading -------------------------------------------------------------------------------------


def gather(input_params: Any, input_indices: Any, axis: int, batch_dims: int = 0) -> Tensor:
    """The slices of `input_params` along an axis that the indices name.

    Args:
        input_indices: integers of any shape, which takes the place of the axis.
        batch_dims: leading axes that both have; each item of these has indices of its own.

    Example:
        >>> gather(Tensor([1.0, 2.0, 3.0]), Tensor([0, 2, 0]), 0).tolist()
        [1.0, 3.0, 1.0]
    """
    rank = np.ndim(array("gather", input_params, "input_params"))
    array("gather", input_indices, "input_indices")
    place = axis_of("gather", axis, rank) % rank
    if batch_dims == 0:
        return np.take(input_params, input_indices, place)
    lead = np.ndim(input_indices)
    batch = tuple(along(np.shape(input_params)[i], i, lead) for i in range(batch_dims))
    moved = np.moveaxis(input_params, place, batch_dims)
    found = moved[(*batch, input_indices)]
    extra = lead - batch_dims
    sources = tuple(range(batch_dims, lead))
    return np.moveaxis(found, sources, tuple(range(place, place + extra)))


def along(length: int, axis: int, rank: int) -> Any:
    """The numbers up to a length, along one of so many axes."""
    return np.arange(length).reshape((-1,) + (1,) * (rank - axis - 1))


def gather_elements(input: Any, dim: int, index: Any) -> Tensor:
    """Along an axis the elements that the index at each place names."""
    place = axis_of("gather_elements", dim, np.ndim(array("gather_elements", input)), "dim")
    return np.take_along_axis(input, array("gather_elements", index, "index"), place)


def gather_nd(input_x: Any, indices: Any) -> Tensor:
    """The elements (or slices) whose places the last axis of `indices` spells."""
    array("gather_nd", input_x, "input_x")
    return input_x[places(array("gather_nd", indices, "indices"))]


def places(indices: Any) -> tuple:
    """Indices along the last axis as one array for each axis."""
    return tuple(indices[..., i] for i in range(np.shape(indices)[-1]))


def index_select(input: Any, axis: int, index: Any) -> Tensor:
    """The slices along an axis that a vector of indices names."""
    place = axis_of("index_select", axis, np.ndim(array("index_select", input)))
    return np.take(input, array("index_select", index, "index"), place)


def masked_select(input: Any, mask: Any) -> Tensor:
    """The elements where the mask is true, in a row."""
    array("masked_select", input), array("masked_select", mask, "mask")
    return input[mask]


def nonzero(input: Any, *, as_tuple: bool = False) -> Any:
    """The places of elements other than 0: a row for each, or with as_tuple an array per axis."""
    found = np.nonzero(array("nonzero", input))
    return found if as_tuple else np.stack(found, axis=-1)


def searchsorted(sorted_sequence: Any, values: Any, *, right: bool = False) -> Tensor:
    """Where in a sorted vector each value would have to stand."""
    array("searchsorted", sorted_sequence, "sorted_sequence")
    side = "right" if right else "left"
    return np.searchsorted(sorted_sequence, array("searchsorted", values, "values"), side)


# ---- choosing ------------------------------------------------------------------------------------


def where(condition: Any, input: Any, other: Any) -> Tensor:
    """`input` where the condition is true, `other` elsewhere.

    Example:
        >>> where(Tensor([True, False]), Tensor([1.0, 2.0]), 0.0).tolist()
        [1.0, 0.0]
    """
    array("where", input), array("where", other, "other")
    array("where", condition, "condition")
    return np.where(
        condition, beside("where", input, other), beside("where", other, input, "other")
    )


def select(condition: Any, input: Any, other: Any) -> Tensor:
    """`input` where the condition is true, `other` elsewhere."""
    array("select", input), array("select", other, "other")
    array("select", condition, "condition")
    return np.where(
        condition, beside("select", input, other), beside("select", other, input, "other")
    )


def masked_fill(input_x: Any, mask: Any, value: Any) -> Tensor:
    """`value` where the mask is true, `input_x` elsewhere, in the dtype of `input_x`."""
    array("masked_fill", input_x, "input_x"), array("masked_fill", mask, "mask")
    return np.where(mask, value, input_x).astype(input_x.dtype)


# ---- writing -------------------------------------------------------------------------------------


def index_add(x: Any, indices: Any, y: Any, axis: int) -> Tensor:
    """x with the slices of y added to those along an axis that the indices name."""
    rank = np.ndim(array("index_add", x, "x"))
    lead = (slice(None),) * (axis_of("index_add", axis, rank) % rank)
    result = np.copy(x)
    np.add.at(result, (*lead, indices), y)
    return result


def index_fill(x: Any, axis: int, index: Any, value: Any) -> Tensor:
    """x with a number in the slices along an axis that the indices name."""
    rank = np.ndim(array("index_fill", x, "x"))
    lead = (slice(None),) * (axis_of("index_fill", axis, rank) % rank)
    result = np.copy(x)
    result[(*lead, index)] = value
    return result


def scatter(input: Any, axis: int, index: Any, src: Any) -> Tensor:
    """input with the elements of src at the places that the index names along an axis."""
    place = axis_of("scatter", axis, np.ndim(array("scatter", input)))
    result = np.copy(input)
    np.put_along_axis(result, array("scatter", index, "index"), src, place)
    return result


def scatter_nd(indices: Any, updates: Any, shape: Any) -> Tensor:
    """Zeros of a shape, with updates added at the places that the indices spell."""
    array("scatter_nd", indices, "indices"), array("scatter_nd", updates, "updates")
    result = np.zeros(shape, updates.dtype)
    np.add.at(result, places(indices), updates)
    return Tensor.from_numpy(result)


def tensor_scatter_update(input_x: Any, indices: Any, updates: Any) -> Tensor:
    """input_x with updates at the places that the indices spell."""
    array("tensor_scatter_update", input_x, "input_x")
    result = np.copy(input_x)
    result[places(indices)] = updates
    return result


def tensor_scatter_add(input_x: Any, indices: Any, updates: Any) -> Tensor:
    """input_x with updates added at the places that the indices spell."""
    array("tensor_scatter_add", input_x, "input_x")
    result = np.copy(input_x)
    np.add.at(result, places(indices), updates)
    return result


gather_d = gather_elements
