"""Other arrangements of the same elements, and what joins and parts arrays."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np

from s2s_ad.diagnostics import ArgumentValueError
from s2s_ad.ops.arguments import array, axes_of, axis_of, choice, count_of, one_shape, sequence
from s2s_ad.tensors import Tensor

# ---- one array -----------------------------------------------------------------------------------


def shape(input_x: Any) -> tuple[int, ...]:
    """The shape, a tuple of ints."""
    return np.shape(array("shape", input_x, "input_x"))


def rank(input_x: Any) -> int:
    """The number of axes."""
    return np.ndim(array("rank", input_x, "input_x"))


def numel(input: Any) -> int:
    """The number of elements."""
    return np.size(array("numel", input))


def cast(input: Any, dtype: Any) -> Tensor:
    """The same numbers in another dtype."""
    return array("cast", input).astype(dtype)


def reshape(input: Any, shape: Any) -> Tensor:
    """The elements in another shape; one length may be -1.

    Example:
        >>> reshape(Tensor([[1, 2], [3, 4]]), (4,)).tolist()
        [1, 2, 3, 4]
    """
    return np.reshape(array("reshape", input), shape)


def transpose(input: Any, dims: Any) -> Tensor:
    """The axes in the order of `dims`.

    Example:
        >>> transpose(Tensor([[1, 2], [3, 4]]), (1, 0)).tolist()
        [[1, 3], [2, 4]]
    """
    return np.transpose(array("transpose", input), dims)


def permute(input: Any, axis: Any) -> Tensor:
    """The axes in the order of `axis`."""
    return np.transpose(array("permute", input), axis)


def swapaxes(input: Any, axis0: int, axis1: int) -> Tensor:
    """Two axes in each other's place."""
    return np.swapaxes(array("swapaxes", input), axis0, axis1)


def movedim(x: Any, source: Any, destination: Any) -> Tensor:
    """Axes put elsewhere; the others stay in their order."""
    return np.moveaxis(array("movedim", x, "x"), source, destination)


def t(input: Any) -> Tensor:
    """The transpose of a matrix; vectors and numbers stay as they are."""
    if np.ndim(array("t", input)) > 2:
        raise ArgumentValueError(
            "S2S502", f"t: argument 'input' has {np.ndim(input)} axes; expected at most 2"
        )
    return np.transpose(input)


def squeeze(input: Any, axis: Any = None) -> Tensor:
    """Without axes of length 1: all of them, or those that `axis` names."""
    return np.squeeze(array("squeeze", input), axis)


def expand_dims(input_x: Any, axis: int) -> Tensor:
    """With one more axis, of length 1, at `axis`."""
    rank = np.ndim(array("expand_dims", input_x, "input_x"))
    return np.expand_dims(input_x, axis_of("expand_dims", axis, rank + 1))


def unsqueeze(input: Any, dim: int) -> Tensor:
    """With one more axis, of length 1, at `dim`."""
    rank = np.ndim(array("unsqueeze", input))
    return np.expand_dims(input, axis_of("unsqueeze", dim, rank + 1, "dim"))


def flatten(input: Any, order: str = "C", *, start_dim: int = 1, end_dim: int = -1) -> Tensor:
    """The axes from start_dim to end_dim as one: (n, a, b) becomes (n, a * b).

    Example:
        >>> flatten(Tensor(np.ones((2, 3, 4)))).shape
        (2, 12)
    """
    choice("flatten", order, "order", ("C", "F"))
    rank = np.ndim(array("flatten", input))
    first = axis_of("flatten", start_dim, max(rank, 2), "start_dim") % max(rank, 2)
    last = axis_of("flatten", end_dim, max(rank, 1), "end_dim") % max(rank, 1)
    x = input if order == "C" else np.transpose(input)
    if rank == 0 or (rank == 1 and last == 0):
        return np.reshape(x, -1)
    shape = np.shape(x)
    return np.reshape(x, (*shape[:first], -1, *shape[last + 1 :]))


def ravel(input: Any) -> Tensor:
    """All elements in one row."""
    return np.ravel(array("ravel", input))


def broadcast_to(input: Any, shape: Any) -> Tensor:
    """The array repeated to a shape; -1 stands for the length that it has."""
    array("broadcast_to", input)
    if -1 not in shape:
        return np.broadcast_to(input, shape)
    lead = len(shape) - np.ndim(input)
    lengths = [
        np.shape(input)[index - lead] if length == -1 else length
        for index, length in enumerate(shape)
    ]
    return np.broadcast_to(input, tuple(lengths))


def tile(input: Any, dims: Any) -> Tensor:
    """The array repeated `dims` times along its axes."""
    return np.tile(array("tile", input), dims)


def repeat_elements(x: Any, rep: int, axis: int = 0) -> Tensor:
    """Each element `rep` times along an axis."""
    return np.repeat(array("repeat_elements", x, "x"), rep, axis)


def repeat_interleave(input: Any, repeats: Any, axis: int | None = None) -> Tensor:
    """Each element `repeats` times along an axis, or of all elements in one row."""
    return np.repeat(array("repeat_interleave", input), repeats, axis)


def flip(input: Any, dims: Any) -> Tensor:
    """The elements in reverse along the axes of `dims`."""
    return np.flip(array("flip", input), axes_of("flip", dims, np.ndim(input), "dims"))


def fliplr(input: Any) -> Tensor:
    """The columns in reverse."""
    return np.fliplr(array("fliplr", input))


def flipud(input: Any) -> Tensor:
    """The rows in reverse."""
    return np.flipud(array("flipud", input))


def roll(input: Any, shifts: Any, dims: Any = None) -> Tensor:
    """The elements moved along an axis; what leaves at the end comes in at the start."""
    return np.roll(array("roll", input), shifts, dims)


def rot90(input: Any, k: int = 1, dims: Any = (0, 1)) -> Tensor:
    """Turned by k quarters in the plane of two axes."""
    return np.rot90(array("rot90", input), k, dims)


def narrow(input: Any, axis: int, start: int, length: int) -> Tensor:
    """The `length` elements from `start` on along an axis."""
    rank = np.ndim(array("narrow", input))
    lead = (slice(None),) * (axis_of("narrow", axis, rank) % rank)
    return input[(*lead, slice(start, start + length))]


def tril(input: Any, diagonal: int = 0) -> Tensor:
    """The triangle below a diagonal, 0 above it."""
    return np.tril(array("tril", input), diagonal)


def triu(input: Any, diagonal: int = 0) -> Tensor:
    """The triangle above a diagonal, 0 below it."""
    return np.triu(array("triu", input), diagonal)


def diag(input: Any) -> Tensor:
    """The matrix with this diagonal; of a matrix its diagonal."""
    return np.diag(array("diag", input))


def diagonal(input: Any, offset: int = 0, dim1: int = 0, dim2: int = 1) -> Tensor:
    """The diagonals of the matrices in two axes; the last axis goes along each."""
    return np.diagonal(array("diagonal", input), offset, dim1, dim2)


PADDING = {"constant": "constant", "reflect": "reflect", "replicate": "edge", "circular": "wrap"}


def pad(input_x: Any, padding: Any, mode: str = "constant", value: Any = None) -> Tensor:
    """More elements at the ends of axes, told from the last axis on.

    Args:
        padding: (before, after) of the last axis, then of the one before it, ...
        mode: 'constant' (`value`, or 0), 'reflect', 'replicate' or 'circular'.

    Example:
        >>> pad(Tensor([1, 2]), (1, 2)).tolist()
        [0, 1, 2, 0, 0]
    """
    array("pad", input_x, "input_x")
    choice("pad", mode, "mode", tuple(PADDING))
    pairs = len(padding) // 2
    if len(padding) % 2 or pairs > np.ndim(input_x):
        raise ArgumentValueError(
            "S2S502",
            f"pad: argument 'padding' is {padding}; expected two numbers for each of at most "
            f"{np.ndim(input_x)} axes",
        )
    widths = ((0, 0),) * (np.ndim(input_x) - pairs)
    widths += tuple((padding[2 * i], padding[2 * i + 1]) for i in range(pairs - 1, -1, -1))
    if mode == "constant":
        return np.pad(input_x, widths, constant_values=0 if value is None else value)
    return np.pad(input_x, widths, mode=PADDING[mode])


# ---- several arrays ------------------------------------------------------------------------------


def concat(tensors: Any, axis: int = 0) -> Tensor:
    """Arrays one after the other along an axis that they have.

    Raises:
        ArgumentTypeError: `tensors` is no tuple or list of Tensors.
        ArgumentValueError: it is empty, or the axis is out of range.

    Example:
        >>> concat((Tensor([1, 2]), Tensor([3]))).tolist()
        [1, 2, 3]
    """
    sequence("concat", tensors)
    return np.concatenate(tensors, axis_of("concat", axis, np.ndim(tensors[0])))


def stack(tensors: Any, axis: int = 0) -> Tensor:
    """Arrays of one shape as the items of a new axis.

    Raises:
        ArgumentTypeError: `tensors` is no tuple or list of Tensors.
        ArgumentValueError: it is empty, the axis is out of range, or the shapes differ.

    Example:
        >>> stack([Tensor([1, 2]), Tensor([3, 4])], axis=1).tolist()
        [[1, 3], [2, 4]]
    """
    one_shape("stack", sequence("stack", tensors))
    return np.stack(tensors, axis_of("stack", axis, np.ndim(tensors[0]) + 1))


def hstack(tensors: Any) -> Tensor:
    """Arrays side by side."""
    return np.hstack(sequence("hstack", tensors))


def vstack(inputs: Any) -> Tensor:
    """Arrays one below the other."""
    return np.vstack(sequence("vstack", inputs, "inputs"))


def dstack(inputs: Any) -> Tensor:
    """Arrays one behind the other."""
    return np.dstack(sequence("dstack", inputs, "inputs"))


def column_stack(tensors: Any) -> Tensor:
    """Vectors as the columns of a matrix."""
    return np.column_stack(sequence("column_stack", tensors))


def unstack(input_x: Any, axis: int = 0) -> tuple[Tensor, ...]:
    """The items along an axis, in a tuple."""
    rank = np.ndim(array("unstack", input_x, "input_x"))
    return tuple(np.moveaxis(input_x, axis_of("unstack", axis, rank), 0))


def unbind(input: Any, dim: int = 0) -> tuple[Tensor, ...]:
    """The items along an axis, in a tuple."""
    rank = np.ndim(array("unbind", input))
    return tuple(np.moveaxis(input, axis_of("unbind", dim, rank, "dim"), 0))


def split(tensor: Any, split_size_or_sections: Any, axis: int = 0) -> tuple[Tensor, ...]:
    """Parts along an axis, in a tuple.

    Args:
        split_size_or_sections: the length of each part (the last may be shorter), or a tuple or
            list of lengths.

    Example:
        >>> [each.tolist() for each in split(Tensor([1, 2, 3]), 2)]
        [[1, 2], [3]]
    """
    rank = np.ndim(array("split", tensor, "tensor"))
    place = axis_of("split", axis, rank) % rank
    length = np.shape(tensor)[place]
    if not isinstance(split_size_or_sections, tuple | list):
        size = count_of("split", split_size_or_sections, "split_size_or_sections", 1)
        return parts_of(tensor, size, place)
    for each in split_size_or_sections:
        count_of("split", each, "split_size_or_sections")
    ends = [0, *itertools.accumulate(split_size_or_sections)]
    if ends[-1] != length:
        raise ArgumentValueError(
            "S2S502",
            f"split: argument 'split_size_or_sections' is {split_size_or_sections}, "
            f"{ends[-1]} in all; expected {length}, the length of axis {axis}",
        )
    return tuple(np.split(tensor, ends[1:-1], place))


def chunk(input: Any, chunks: int, axis: int = 0) -> tuple[Tensor, ...]:
    """At most `chunks` parts of one length along an axis (the last may be shorter), in a tuple."""
    rank = np.ndim(array("chunk", input))
    place = axis_of("chunk", axis, rank) % rank
    return parts_of(input, -(-np.shape(input)[place] // chunks), place)


def parts_of(x: Any, size: int, axis: int) -> Any:
    """Slices of one length along an axis; the last may be shorter."""
    lead = (slice(None),) * axis
    starts = range(0, np.shape(x)[axis], size)
    return tuple(x[(*lead, slice(start, start + size))] for start in starts)


def meshgrid(*inputs: Any, indexing: str = "xy") -> tuple[Tensor, ...]:
    """Vectors as coordinates of a grid, in a tuple."""
    return tuple(np.meshgrid(*inputs, indexing=indexing))


# ---- other names ---------------------------------------------------------------------------------

cat = concat
moveaxis = movedim
swapdims = swapaxes
size = numel
