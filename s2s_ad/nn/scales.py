"""Loss scales: what is done with them to Tensors in tuples and lists, and how they change."""

from __future__ import annotations

from typing import Any

import numpy as np

SEQUENCES = (tuple, list)


def times(inputs: Any, factor: Any) -> Any:
    """Each array times `factor`, in its own dtype, in the structure of `inputs`."""
    return (
        tuple(times(each, factor) for each in inputs)
        if isinstance(inputs, tuple)
        else [times(each, factor) for each in inputs]
        if isinstance(inputs, list)
        else inputs * np.asarray(factor).astype(inputs.dtype)
        if isinstance(inputs, np.ndarray)
        else inputs * factor
    )


def finite(inputs: Any) -> Any:
    """Whether no element of any array is infinite or nan."""
    return (
        np.all(np.asarray([finite(each) for each in inputs], np.bool_))
        if isinstance(inputs, SEQUENCES)
        else np.all(np.isfinite(inputs))
    )


def adjust_scale(scale: Any, counter: Any, is_finite: Any, factor: int, window: int) -> None:
    """Multiply the scale by `factor` at each `window`-th step in a row with finite gradients.

    After any other it is divided, and never below 1. It grows only as long as float32 can hold it.

    Args:
        scale, counter: Parameters without axes, which are changed: the scale, and the steps in a
            row with finite gradients since it last changed.
        is_finite: whether the gradients of this step are.
    """
    scale, counter = np.asarray(scale), np.asarray(counter)
    is_due = np.logical_and(is_finite, counter + 1 >= window)
    can_grow = scale <= np.finfo(np.float32).max / factor
    growth = np.where(np.logical_and(is_due, can_grow), factor, 1)
    counter[...] = np.where(np.logical_and(is_finite, np.logical_not(is_due)), counter + 1, 0)
    scale[...] = np.where(is_finite, scale * growth, np.maximum(scale / factor, 1))
