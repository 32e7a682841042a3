"""A call of a Cell that has hooks, a derivative of its own, or a precision of its own.

The compiler lowers these functions like any code of the user's.
"""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np

from s2s_ad import custom_rule, vjp
from s2s_ad.nn.hooks import Hooks


class Cell(Protocol):
    """A cell (nn/cell.py) as the functions here see it; it may have a `bprop` as well."""

    _hooks: Hooks
    _compute_dtype: np.dtype | None
    _result_dtype: np.dtype | None

    def construct(self, *args: Any, **kwargs: Any) -> Any: ...


def special_call(cell: Cell, args: tuple, kwargs: dict[str, Any]) -> Any:
    """Everything around `construct`, in the order in which it happens."""
    for hook in cell._hooks.forward_pre.values():
        args = as_tuple(replaced(hook(cell, args), args))
    if cell._compute_dtype is not None:
        args = tuple(cast(each, cell._compute_dtype) for each in args)
        kwargs = {name: cast(each, cell._compute_dtype) for name, each in kwargs.items()}
    if hasattr(cell, "bprop"):
        output = construct_with_bprop(cell, *args, **kwargs)
    elif len(cell._hooks.backward) > 0:
        output = construct_with_backward_hooks(cell, *args, **kwargs)
    else:
        output = cell.construct(*args, **kwargs)
    if cell._result_dtype is not None:
        output = cast_all(output, cell._result_dtype)
    for hook in cell._hooks.backward_pre.values():
        output = with_backward_hook(cell, hook, output)
    for hook in cell._hooks.forward.values():
        output = replaced(hook(cell, args, output), output)
    return output


def replaced(given: Any, value: Any) -> Any:
    """What a hook gives; the value itself where it gives nothing."""
    return value if given is None else given


def as_tuple(value: Any) -> tuple:
    return value if isinstance(value, tuple) else (value,)


def cast(value: Any, dtype: np.dtype) -> Any:
    """Floating-point arrays in another precision; everything else as it is."""
    return value.astype(dtype) if is_floating(value) else value


def cast_all(output: Any, dtype: np.dtype) -> Any:
    """Nested tuples with their floating-point arrays in another precision."""
    return (
        tuple(cast_all(each, dtype) for each in output)
        if isinstance(output, tuple)
        else cast(output, dtype)
    )


def is_floating(value: Any) -> bool:
    return isinstance(value, np.ndarray) and value.dtype.kind == "f"


# ---- derivatives of the user's -------------------------------------------------------------------


def _bprop(dout: Any, out: Any, cell: Cell, *args: Any) -> tuple:
    return None, *cell.bprop(*args, out, dout)


@custom_rule(reverse=_bprop)
def construct_with_bprop(cell: Cell, *args: Any, **kwargs: Any) -> Any:
    """`cell.construct`, whose derivative is `cell.bprop`."""
    return cell.construct(*args, **kwargs)


def _hooked_inputs(dout: Any, out: Any, cell: Cell, *args: Any) -> tuple:
    _, pullback = vjp(lambda *given: cell.construct(*given), *args)
    grads = pullback(dout)
    for hook in cell._hooks.backward.values():
        grads = as_tuple(replaced(hook(cell, grads, as_tuple(dout)), grads))
    return None, *grads


@custom_rule(reverse=_hooked_inputs)
def construct_with_backward_hooks(cell: Cell, *args: Any, **kwargs: Any) -> Any:
    """`cell.construct`, whose gradients of inputs go through hooks; it is computed again there."""
    return cell.construct(*args, **kwargs)


def _hooked(dout: Any, out: Any, cell: Cell, hook: Any, output: Any) -> tuple:
    return None, None, replaced(hook(cell, dout), dout)


@custom_rule(reverse=_hooked, forward=lambda dots, out, cell, hook, output: dots[2])
def with_backward_hook(cell: Cell, hook: Any, output: Any) -> Any:
    """The output of the cell, whose gradient goes through the hook."""
    return output
