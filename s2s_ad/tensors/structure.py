"""Methods of Tensors that rearrange, choose or make elements."""

from __future__ import annotations

import itertools
import warnings
from typing import Any

import numpy as np

from s2s_ad.diagnostics import ArgumentValueError

SEQUENCES = (tuple, list)
SIZES = (int, np.integer, tuple, list)


def spread(sizes: Any) -> Any:
    """Sizes or axes that are given one by one, or as one tuple or list."""
    return tuple(sizes[0]) if len(sizes) == 1 and isinstance(sizes[0], SEQUENCES) else sizes


def expanded(x: Any, sizes: Any) -> Any:
    """Sizes for broadcasting, in which -1 is the length that the Tensor has there."""
    return tuple(
        x.shape[i - len(sizes) + x.ndim] if size == -1 else size for i, size in enumerate(sizes)
    )


def joined(shape: Any, start: int, end: int) -> Any:
    """The shape with these axes and those between them joined to one."""
    return (*shape[: start % len(shape)], -1, *shape[end % len(shape) + 1 :])


def parts(x: Any, size: Any, axis: Any) -> Any:
    """Slices of one length along an axis; the last may be shorter."""
    lead = (slice(None),) * axis
    starts = range(0, x.shape[axis], size)
    return tuple(x[(*lead, slice(start, start + size))] for start in starts)


def order(x: Any, axis: Any, descending: Any) -> Any:
    """The indices that sort, in which equal elements keep their order."""
    return np.argsort(
        (~x if x.dtype.kind in "biu" else -x) if descending else x, axis=axis, kind="stable"
    ).astype(np.int32)


def with_indices(x: Any, indices: Any, axis: int) -> Any:
    """The elements at these indices, and the indices."""
    return np.take_along_axis(x, indices, axis=axis), indices


class Structure:
    """Methods of Tensors that rearrange, choose or make elements."""

    __slots__ = ()

    # ---- shapes ------------------------------------------------------------------------------

    def view(self, *shape, **dtype) -> Any:
        """The elements in another shape; for a dtype or a class of arrays, NumPy's view."""
        return (
            self.reshape(*shape)
            if shape and isinstance(shape[0], SIZES)
            else np.ndarray.view(self, *shape, **dtype)
        )

    def view_as(self, other) -> Any:
        return self.reshape(other.shape)

    def reshape_as(self, other) -> Any:
        return self.reshape(other.shape)

    def flatten(self, order="C", *, start_dim=0, end_dim=-1) -> Any:
        return (
            np.ndarray.flatten(self, order=order)
            if start_dim == 0 and end_dim in (-1, self.ndim - 1)
            else self.reshape(joined(self.shape, start_dim, end_dim))
        )

    def squeeze(self, axis=None, *, dim=None) -> Any:
        return np.squeeze(self, axis=dim if axis is None else axis)

    def expand_dims(self, axis) -> Any:
        return np.expand_dims(self, axis)

    def unsqueeze(self, dim) -> Any:
        return np.expand_dims(self, dim)

    def permute(self, *axis) -> Any:
        return np.ndarray.transpose(self, *axis)

    def transpose(self, *axes) -> Any:
        """The axes in this order; of two numbers, these two are swapped."""
        return (
            np.swapaxes(self, axes[0], axes[1])
            if len(axes) == 2 and self.ndim != 2
            else np.ndarray.transpose(self, *axes)
        )

    def t(self) -> Any:
        return np.ndarray.transpose(self)

    def moveaxis(self, source, destination) -> Any:
        return np.moveaxis(self, source, destination)

    def movedim(self, source, destination) -> Any:
        return np.moveaxis(self, source, destination)

    def swapdims(self, dim0, dim1) -> Any:
        return np.swapaxes(self, dim0, dim1)

    def adjoint(self) -> Any:
        return np.conj(np.swapaxes(self, -1, -2))

    @property
    def H(self) -> Any:
        """A matrix, conjugated and transposed."""
        if self.ndim != 2:
            raise ArgumentValueError("S2S502", f"H: the Tensor has {self.ndim} axes; expected 2")
        return self.adjoint()

    @property
    def mH(self) -> Any:
        """The last two axes, conjugated and swapped."""
        return self.adjoint()

    def broadcast_to(self, shape) -> Any:
        return np.broadcast_to(self, expanded(self, shape))

    def expand(self, *size) -> Any:
        return np.broadcast_to(self, expanded(self, spread(size)))

    def expand_as(self, other) -> Any:
        return np.broadcast_to(self, other.shape)

    def tile(self, *reps) -> Any:
        return np.tile(self, spread(reps))

    def repeat_interleave(self, repeats, dim=None) -> Any:
        return np.repeat(self, repeats, axis=dim)

    def roll(self, shifts, dims=None) -> Any:
        return np.roll(self, shifts, axis=dims)

    def flip(self, *dims) -> Any:
        return np.flip(self, spread(dims))

    def reverse(self, axis) -> Any:
        return np.flip(self, axis)

    def fliplr(self) -> Any:
        return np.fliplr(self)

    def flipud(self) -> Any:
        return np.flipud(self)

    def rot90(self, k=1, dims=(0, 1)) -> Any:
        return np.rot90(self, k, dims)

    def dim(self) -> Any:
        return self.ndim

    def ndimension(self) -> Any:
        return self.ndim

    def numel(self) -> Any:
        return self.size

    def nelement(self) -> Any:
        return self.size

    def element_size(self) -> Any:
        return self.itemsize

    # ---- parts -------------------------------------------------------------------------------

    def split(self, split_size_or_sections, axis=0) -> Any:
        """A tuple of parts of this length, the last of which may be shorter, or of these lengths.

        Raises:
            ArgumentValueError: the lengths are not that of the axis in all.
        """
        if isinstance(split_size_or_sections, int):
            return parts(self, split_size_or_sections, axis % self.ndim)
        ends = list(itertools.accumulate(split_size_or_sections))
        if ends[-1] != self.shape[axis]:
            raise ArgumentValueError(
                "S2S502",
                f"split: sections {split_size_or_sections} are {ends[-1]} in all, "
                f"axis {axis} has {self.shape[axis]}",
            )
        return tuple(np.split(self, ends[:-1], axis))

    def chunk(self, chunks, axis=0) -> Any:
        """A tuple of at most so many parts of one length; the last may be shorter."""
        return parts(self, -(-self.shape[axis] // chunks), axis % self.ndim)

    def unbind(self, dim=0) -> Any:
        return tuple(np.moveaxis(self, dim, 0))

    def narrow(self, dim, start, length) -> Any:
        return np.split(self, [start, start + length], dim)[1]

    def select(self, dim, index) -> Any:
        return np.moveaxis(self, dim, 0)[index]

    def diag(self, diagonal=0) -> Any:
        return np.diag(self, diagonal)

    def diagflat(self, offset=0) -> Any:
        return np.diagflat(self, offset)

    def tril(self, diagonal=0) -> Any:
        return np.tril(self, diagonal)

    def triu(self, diagonal=0) -> Any:
        return np.triu(self, diagonal)

    def take(self, indices, axis=None, mode="raise") -> Any:
        return np.take(self, indices, axis=axis, mode=mode)

    def index_select(self, axis, index) -> Any:
        return np.take(self, index, axis=axis)

    def gather(self, input_indices, axis) -> Any:
        return np.take(self, input_indices, axis=axis)

    def gather_elements(self, dim, index) -> Any:
        return np.take_along_axis(self, index, axis=dim)

    def gather_nd(self, indices) -> Any:
        return self[tuple(np.moveaxis(indices, -1, 0))]

    def index_fill(self, axis, index, value) -> Any:
        found = self.copy()
        np.moveaxis(found, axis, 0)[index] = value
        return found

    def index_add(self, dim, index, source, *, alpha=1) -> Any:
        found = self.copy()
        np.add.at(np.moveaxis(found, dim, 0), index, np.moveaxis(alpha * source, dim, 0))
        return found

    def masked_select(self, mask) -> Any:
        return self[mask]

    def nonzero(self, *, as_tuple=False) -> Any:
        """The indices of the elements that are not zero, one in each row, or by axis."""
        return np.nonzero(self) if as_tuple else np.argwhere(self)

    def argwhere(self) -> Any:
        return np.argwhere(self)

    def diff(self, n=1, dim=-1) -> Any:
        return np.diff(self, n, axis=dim)

    # ---- order -------------------------------------------------------------------------------

    def argsort(self, axis=-1, descending=False) -> Any:
        return order(self, axis, descending)

    def sort(self, axis=-1, descending=False) -> Any:
        """The elements in order, and the indices that they have."""
        return with_indices(self, order(self, axis, descending), axis)

    def topk(self, k, dim=-1, largest=True, sorted=True) -> Any:
        """The k largest elements in order, and the indices that they have."""
        return with_indices(self, np.take(order(self, dim, largest), np.arange(k), axis=dim), dim)

    def searchsorted(self, v, side="left", sorter=None) -> Any:
        return np.searchsorted(self, v, side=side, sorter=sorter)

    # ---- copies -----------------------------------------------------------------------------

    def clone(self) -> Any:
        return self.copy()

    def contiguous(self) -> Any:
        return self if self.flags.c_contiguous else self.copy()

    # ---- MindSpore's bookkeeping -------------------------------------------------------------

    @property
    def has_init(self) -> Any:
        """Whether the values are still to be made; they always are."""
        return False

    def init_data(self) -> Any:
        return self

    def value(self) -> Any:
        return self

    def numpy(self) -> Any:
        return np.asarray(self)

    def set_dtype(self, dtype) -> Any:
        """The dtype; that of the Tensor stays, for its memory does.

        Warns:
            UserWarning: it is another than the Tensor's.
        """
        if dtype != self.dtype:
            warnings.warn(
                f"set_dtype: the Tensor stays of {self.dtype}, because its memory cannot change; "
                f"write x = x.astype({dtype!r})",
                stacklevel=2,
            )
        return dtype
