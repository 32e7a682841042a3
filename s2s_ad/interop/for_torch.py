"""Functions of NumPy arrays as autograd Functions of PyTorch."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np
import torch

from s2s_ad.interop.calls import Call, as_function, key_of, put_together, taken_apart


class Bridge(torch.autograd.Function):
    """apply(call, *tensors) -> a tuple of tensors, one for each array of the result."""

    @staticmethod
    def forward(call: Call, *tensors: torch.Tensor) -> tuple:
        device = tensors[0].device if tensors else None
        return tuple(_tensor(each, device) for each in call([_array(each) for each in tensors]))

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple, output: tuple) -> None:
        call, *tensors = inputs
        ctx.call = call
        ctx.save_for_backward(*tensors)
        ctx.mark_non_differentiable(*(e for e in output if not e.is_floating_point()))

    @staticmethod
    def backward(ctx: Any, *adjoints: torch.Tensor) -> tuple:
        wanted = ctx.needs_input_grad[1:]
        call = ctx.call.adjoint(wanted)
        found = Bridge.apply(call, *ctx.saved_tensors, *adjoints)
        return None, *ctx.call.adjoints_of(call, wanted, list(found))

    @staticmethod
    def vmap(info: Any, in_dims: tuple, call: Call, *tensors: torch.Tensor) -> tuple:
        made = call.batched(in_dims[1:])
        found = Bridge.apply(made, *tensors)
        call.outputs = made.outputs
        return found, (0,) * len(found)


def _array(tensor: torch.Tensor) -> np.ndarray:
    """The array of a tensor, which nobody may change through it."""
    array = tensor.detach().cpu().numpy()
    array.flags.writeable = False
    return array


def _tensor(array: np.ndarray, device: Any) -> torch.Tensor:
    array = array if array.flags.writeable and array.flags.c_contiguous else array.copy()
    return torch.from_numpy(array).to(device)


def bridge(fn: Callable) -> Callable:
    """See `interop.torch`."""
    compiled = as_function(fn)
    calls: dict[Any, Call] = {}

    @functools.wraps(fn)
    def bridged(*args: Any) -> Any:
        structure, tensors = taken_apart(args, lambda leaf: isinstance(leaf, torch.Tensor))
        key = key_of(structure)
        if key not in calls:
            calls[key] = Call(compiled, structure)
        call = calls[key]
        found = Bridge.apply(call, *tensors)
        return put_together(call.outputs, found)

    return bridged
