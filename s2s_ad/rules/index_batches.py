"""Indices into batches: the index that serves every sample, and where its axes stand."""

from __future__ import annotations

from typing import Any

import numpy as np

from s2s_ad.core.builder import Symbol
from s2s_ad.core.rule import Ragged
from s2s_ad.rules import support
from s2s_ad.rules.index_layout import Layout, apart, dtype_kind, index_of, is_integer, layout


def batched_index(index: Any, x: Symbol, x_batched: bool, batch: Any) -> tuple[Any, Layout]:
    """The index into a batch, and the layout of the sample's own."""
    items = index if isinstance(index, tuple) else (index,)
    moved = [batch.is_batched(item) for item in items]
    sample_shape = x.shape[1:] if x_batched and x.shape is not None else x.shape
    samples = tuple(
        batch.sample(item) if flag else item for item, flag in zip(items, moved, strict=True)
    )
    found = None if sample_shape is None else layout(samples, sample_shape)
    if found is None:
        raise support.CannotBatch
    if not any(moved):
        return ((slice(None), *items) if x_batched else index), found
    for item, flag in zip(items, moved, strict=True):
        if flag and dtype_kind(item) == "b":
            raise Ragged  # each sample selects another number of elements
    rank = len(found.block or ())
    aligned = tuple(
        support.align(item, flag, rank) for item, flag in zip(items, moved, strict=True)
    )
    if not x_batched:
        whole = layout(aligned, sample_shape)
        return index_of(aligned), whole
    samples_of = batch.positions
    if rank:
        samples_of = np.expand_dims(samples_of, 1 if rank == 1 else tuple(range(1, rank + 1)))
    return (samples_of, *aligned), found


def index_at(places: Symbol, index: Any, x: Symbol, batch: Any) -> tuple[tuple, int] | None:
    """(the index of the same elements of the samples at these places, their rank in a sample).

    `x` is the array of all samples. None where the index has axes of its own.
    """
    items = index if isinstance(index, tuple) else (index,)
    moved = [batch.is_batched(item) for item in items]
    samples = tuple(
        batch.sample(item) if flag else item for item, flag in zip(items, moved, strict=True)
    )
    if x.shape is None or not all(isinstance(each, slice) or is_integer(each) for each in samples):
        return None
    return (places, *items), len(layout(samples, x.shape[1:]).shape)


def index_of_lists(index: Any, batch: Any) -> Any:
    """The index into a list of batches: one item is one item for all samples."""
    if batch.is_batched(index):
        raise Ragged
    return index


def moved_back(result: Symbol, found: Layout, index_batched: bool) -> Any:
    """The batch axis first, and the block of advanced indexing where the sample has it."""
    rank = len(found.block or ())
    if not rank or result.ndim is None:
        return result
    if not index_batched:  # separated advanced indices put their block before the batch axis
        return np.moveaxis(result, rank, 0) if apart(found.advanced) else result
    if not found.place:
        return result
    block = tuple(range(1, rank + 1))
    return np.moveaxis(result, block, tuple(axis + found.place for axis in block))


def laid_like_batch(value: Any, batched: bool, found: Layout, index_batched: bool) -> Any:
    """A value to be added at the index, with its axes as the index into the batch has them.

    It undoes what `moved_back` does.
    """
    rank, block = len(found.shape), len(found.block or ())
    value = support.align(value, batched, rank)
    moves = found.place if index_batched else apart(found.advanced)
    if not block or not moves or (not batched and not support.sample_rank(value, False)):
        return value
    if not batched:  # a batch axis of length one, in front of all the sample's axes
        value = np.expand_dims(value, tuple(range(1 + rank - support.sample_rank(value, False))))
    if not index_batched:
        return np.moveaxis(value, 0, block)
    indices = tuple(range(1, block + 1))
    return np.moveaxis(value, tuple(index + found.place for index in indices), indices)
