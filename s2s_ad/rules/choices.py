"""Functions that choose between arrays: np.select, np.choose; and np.interp between points."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import gast
import numpy as np

from s2s_ad.core import values
from s2s_ad.core.builder import Builder, Symbol, static
from s2s_ad.core.registry import METHODS, register
from s2s_ad.core.rule import Operation
from s2s_ad.diagnostics import UnsupportedError
from s2s_ad.rules import support
from s2s_ad.rules.composite import composite
from s2s_ad.rules.elementwise import Elementwise


def _select(condlist: Any, choicelist: Any, default: Any) -> Any:
    """The choice of the first condition that holds."""
    if len(condlist) != len(choicelist) or not len(condlist):
        raise ValueError("list of cases must be same length as list of conditions")
    result = default
    for condition, choice in zip(condlist[::-1], choicelist[::-1], strict=True):
        dtype = getattr(condition, "dtype", None)
        if dtype is not None and dtype != np.dtype(bool):
            raise TypeError("the conditions of np.select have to be boolean")
        result = np.where(condition, choice, result)
    return result


composite(np.select, "condlist, choicelist, default=0", _select)


MOST_CHOICES = 64  # that NumPy takes


def _compress(condition: Any, x: Any, axis: Any) -> Any:
    """What stands where the condition, which may be the shorter one, is true."""
    builder = next(each.builder for each in (condition, x) if isinstance(each, Symbol))
    condition = support.as_operand(builder, condition)
    indices = builder.call(np.flatnonzero, (condition,), {})
    return builder.call(np.take, (x, indices), {"axis": axis})


composite(np.compress, "condition, x, axis=None", _compress)
# The ufunc inside of np.clip, which people call because it was the faster of the two.
composite(np._core.umath.clip, "a, a_min, a_max", np.clip)  # pyright: ignore


class Choose(Elementwise):
    """np.choose(a, choices): the choice that `a` counts, element by element."""

    def picks(self, known: list[bool]) -> bool:
        return known[0]

    def __init__(self) -> None:
        adjoints = (None, *("y_bar",) * MOST_CHOICES)
        super().__init__(np.choose, adjoints, operands=("a", "choices"))

    def bind(self, builder: Builder, args: tuple, kwargs: dict[str, Any]) -> Any:
        given = support.bind_call(builder, self, "a, choices, mode='raise'", args, kwargs)
        a, choices = support.as_operand(builder, given["a"]), given["choices"]
        if not isinstance(choices, tuple | list):
            raise UnsupportedError(
                "S2S203",
                "np.choose from one array",
                origin=builder.origin,
                help="give a list of choices, or use np.take_along_axis",
            )
        mode, count = static(given["mode"], "mode of np.choose"), len(choices)
        if mode == "wrap":
            a = a % count
        elif mode == "clip":
            a = np.clip(a, 0, count - 1)
        return builder.emit(self, [a, *(support.as_operand(builder, c) for c in choices)], {})

    def infer(self, operands: list, params: dict[str, Any]) -> values.AbstractValue:
        if support.any_unknown(*operands):
            return support.unknown(*operands[1:])
        kinds = [values.dtype_argument(each) for each in operands[1:]]
        numbers = (kind(0) if isinstance(kind, type) else kind for kind in kinds)
        dtype = None if values.missing(kinds) else np.result_type(*numbers)
        return values.Array(dtype, values.broadcast(map(values.shape_of, operands)))

    def factor(self, position: int, operation: Operation, y_bar: Any) -> Any:
        return np.where(operation.operands[0] == position - 1, y_bar, 0.0)

    def surface(self, call: gast.Call, facts: Callable) -> gast.AST:
        choices = gast.List(elts=call.args[1:], ctx=gast.Load())
        return gast.Call(func=call.func, args=[call.args[0], choices], keywords=[])


register(Choose())
METHODS["choose"] = np.choose
