"""Tensors in the user's code: how they are made, and what only they have."""

from __future__ import annotations

from typing import Any

import numpy as np

from s2s_ad import runtime
from s2s_ad.core import values
from s2s_ad.core.builder import Symbol
from s2s_ad.core.tree import Tree
from s2s_ad.diagnostics import UnsupportedError
from s2s_ad.frontend.lower.attributes import OF_TENSORS, PROPERTIES, Method
from s2s_ad.frontend.lower.builtin import evaluates
from s2s_ad.frontend.lower.calls import as_argument, known_object
from s2s_ad.frontend.lower.containers import sequence
from s2s_ad.frontend.lower.core import Lowering
from s2s_ad.frontend.lower.stores import replace, writable
from s2s_ad.tensors import Parameter, Tensor, dtype_of, tensor
from s2s_ad.tensors.conversion import DEFAULTS
from s2s_ad.tensors.dtypes import of_numpy


@evaluates(Tensor, tensor)
def made(lowering: Lowering, input_data: Any, dtype: Any = None) -> Any:
    """Tensor(data, dtype): an array of the dtype, or of the one that MindSpore gives such data."""
    data = as_argument(lowering, input_data)
    wanted = None if dtype is None else dtype_of(known_object(dtype))
    array = isinstance(data, Symbol) and isinstance(data.fact, values.Array)
    if not array and not isinstance(data, np.generic):
        found = data if isinstance(data, Symbol) else lowering.call(np.array, data)
        wanted = wanted or _default(values.strong_dtype(found.fact), input_data)
        data = lowering.call(np.array, data, dtype=wanted)
    elif wanted is not None and not _is_of(wanted, lowering.builder.fact(data)):
        data = lowering.call(np.ndarray.astype, data, wanted)
    elif isinstance(data, np.generic):
        data = lowering.call(np.array, data)
    return lowering.call(runtime.as_tensor, data)


def _is_of(dtype: np.dtype, fact: values.AbstractValue) -> bool:
    return values.is_dtype(values.strong_dtype(fact), dtype)


def _default(dtype: np.dtype | None, data: Any) -> np.dtype:
    """The dtype of a Tensor that is made of numbers or of a list."""
    if dtype is None:
        raise UnsupportedError(
            "S2S205",
            "the dtype of a Tensor made of values of unknown types",
            help="say which: Tensor(data, dtype)",
        )
    of_tensors = isinstance(data, Tree) and any(
        isinstance(each, Symbol) and isinstance(each.fact, values.Array) for each in data.items
    )
    return dtype if of_tensors else DEFAULTS.get(dtype.kind, dtype)


@evaluates(Tensor.from_numpy)
def from_numpy(lowering: Lowering, array: Any) -> Any:
    return lowering.call(runtime.as_tensor, array)


@evaluates(Parameter)
def parameter(lowering: Lowering, *args: Any, **kwargs: Any) -> Any:
    raise UnsupportedError(
        "S2S201",
        "a Parameter is made inside the function",
        why="it would be another one in each call",
        help="make it outside, or use a Tensor",
    )


@evaluates(Parameter.value, Tensor.asnumpy)
def itself(lowering: Lowering, x: Symbol) -> Any:
    """The array that a Tensor is, in the same memory."""
    return x


@evaluates(Parameter.set_data)
def set_data(lowering: Lowering, x: Symbol, data: Any) -> Any:
    """The Parameter holds other data of its shape from now on."""
    value = as_argument(lowering, data)
    wanted, given = x.shape, values.shape_of(lowering.builder.fact(value))
    if wanted is not None and given is not None and len(wanted) != len(given):
        raise ValueError(f"set_data: data of {len(given)} axes for a Parameter of {len(wanted)}")
    replace(lowering, writable(lowering, x), value, "unsafe")
    return x


@evaluates(Tensor.view)
def view(lowering: Lowering, x: Symbol, *shape: Any) -> Any:
    """x.view(2, 3) and x.view((2, 3)): the elements in another shape."""
    sizes = shape[0] if len(shape) == 1 else sequence(tuple, list(shape))
    return lowering.call(np.reshape, x, as_argument(lowering, sizes))


@evaluates(Tensor.contiguous)
def contiguous(lowering: Lowering, x: Symbol) -> Any:
    """The Tensor itself or a copy, which is not known: see `heap`."""
    return lowering.call(np.ascontiguousarray, x) if x.shape else x


OF_TENSORS |= {
    name: lambda lowering, x, method=method: Method(method, x)
    for name, method in {
        "asnumpy": Tensor.asnumpy,
        "set_data": Parameter.set_data,
        "value": Parameter.value,
        "view": Tensor.view,
    }.items()
}
OF_TENSORS |= {
    "data": lambda lowering, x: x,
    "dtype": lambda lowering, x: of_numpy(PROPERTIES["dtype"](lowering, x)),
    "device": lambda lowering, x: Tensor.device.fget(x),
    "has_init": lambda lowering, x: Tensor.has_init.fget(x),
}
