"""Functions of NumPy arrays as functions of JAX: custom_vjp over pure_callback."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import jax
import numpy as np

from s2s_ad.interop.calls import Call, as_function, key_of, put_together, taken_apart
from s2s_ad.interop.shapes import results_of


def bridge(fn: Callable) -> Callable:
    """See `interop.jax`."""
    compiled = as_function(fn)
    calls: dict[Any, Call] = {}

    @functools.wraps(fn)
    def bridged(*args: Any) -> Any:
        structure, arrays = taken_apart(args, lambda leaf: isinstance(leaf, jax.Array | np.ndarray))
        key = key_of(structure)
        if key not in calls:
            calls[key] = Call(compiled, structure)
        found = _differentiable(calls[key])(*arrays)
        return put_together(calls[key].outputs, found)

    return bridged


def _differentiable(call: Call) -> Callable:
    """A call as a function of JAX arrays with a rule for reverse mode."""
    made = call.notes.get("jax")
    if made is None:
        made = call.notes["jax"] = jax.custom_vjp(functools.partial(_called, call))
        made.defvjp(functools.partial(_forward, call), functools.partial(_backward, call))
    return made


def _called(call: Call, *arrays: Any) -> tuple:
    """The results, computed by NumPy when the program of JAX runs."""
    kinds = tuple(jax.ShapeDtypeStruct(np.shape(each), each.dtype) for each in arrays)
    if kinds not in call.notes:
        call.notes[kinds] = results_of(call, kinds)
    asked = [
        jax.ShapeDtypeStruct(shape, jax.dtypes.canonicalize_dtype(dtype))
        for shape, dtype in call.notes[kinds]
    ]
    ranks = [len(each.shape) for each in kinds]
    run = functools.partial(_run, call, ranks, [each.dtype for each in asked])
    return tuple(jax.pure_callback(run, asked, *arrays, vmap_method="expand_dims"))


def _run(call: Call, ranks: Sequence[int], dtypes: Sequence[Any], *arrays: Any) -> list:
    """The call of arrays, which may have further axes in front, one for each batch: an axis of
    length one is that of an array that all samples share."""
    given = [np.asarray(each) for each in arrays]
    levels = given[0].ndim - ranks[0] if given else 0
    sizes = np.ones(levels, int)
    for each in given:
        sizes = np.maximum(sizes, each.shape[:levels])
    made = call
    for level in reversed(range(levels)):
        axes = [0 if each.shape[level] == sizes[level] else None for each in given]
        made = made.batched(axes)
    own = [_without_shared(each, sizes) for each in given]
    results = made(own)
    return [np.asarray(each, dtype) for each, dtype in zip(results, dtypes, strict=True)]


def _without_shared(array: np.ndarray, sizes: np.ndarray) -> np.ndarray:
    """The array without the axes in front that it does not share with the samples."""
    index = tuple(
        slice(None) if length == size else 0
        for length, size in zip(array.shape, sizes, strict=False)
    )
    return array[index]


def _forward(call: Call, *arrays: Any) -> tuple:
    """The results, which may be differentiated once more, and what `_backward` needs."""
    return _differentiable(call)(*arrays), arrays


def _backward(call: Call, arrays: tuple, adjoints: tuple) -> tuple:
    """The adjoints, by a function that JAX differentiates again; whole numbers have none."""
    wanted = [jax.numpy.issubdtype(each.dtype, jax.numpy.floating) for each in arrays]
    made = call.adjoint(wanted)
    found = _differentiable(made)(*arrays, *adjoints)
    given = call.adjoints_of(made, wanted, list(found))
    return tuple(
        np.zeros(np.shape(x), jax.dtypes.float0) if each is None else each
        for x, each in zip(arrays, given, strict=True)
    )
