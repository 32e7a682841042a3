"""Sliding windows: views in which elements overlap; the adjoint adds what each element gets."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import gast
import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from s2s_ad import runtime
from s2s_ad.core import values
from s2s_ad.core.builder import Builder, static
from s2s_ad.core.registry import register
from s2s_ad.core.rule import Operation
from s2s_ad.diagnostics import UnsupportedError
from s2s_ad.rules import support
from s2s_ad.rules.shapes import dim_of
from s2s_ad.rules.structure import Structural

TEXT = "x, window_shape, axis=None, *, subok=False, writeable=False"


class Windows(Structural):
    """sliding_window_view along one axis: windows along the axis, their elements along the last."""

    overlapping = True

    def bind(self, builder: Builder, args: tuple, kwargs: dict[str, Any]) -> Any:
        given = support.bind_call(builder, self, TEXT, args, kwargs)
        if static((given["subok"], given["writeable"]), "writeable=") != (False, False):
            raise UnsupportedError("S2S203", "sliding_window_view with writeable= or subok=")
        x, axis = given["x"], static(given["axis"], "axis of sliding_window_view")
        rank = support.known_rank(x, "sliding_window_view")
        axes = support.normal_axes(axis, rank)
        widths = given["window_shape"]
        widths = tuple(widths) if isinstance(widths, tuple | list) else (widths,)
        if len(widths) != len(axes):
            raise ValueError("Must provide matching length window_shape and axis")
        for each, width in zip(axes, widths, strict=True):
            x = builder.emit(self, [x], {"window_shape": width, "axis": each})
        return x

    def picks(self, known: list[bool]) -> bool:
        return True

    def infer(self, operands: list, params: dict[str, Any]) -> values.AbstractValue:
        if support.any_unknown(*operands):
            return support.unknown(operands[0])
        x, width, axis = operands[0], params["window_shape"], params["axis"]
        known = type(width) is int
        dim = x.shape[axis]
        if known:
            rest = max(dim - width + 1, 0) if isinstance(dim, int) else dim.less(width - 1)
        else:
            rest = values.fresh_dim()
        last = width if known else values.fresh_dim()
        return values.with_shape(x, (*x.shape[:axis], rest, *x.shape[axis + 1 :], last))

    def transposed(self, operation: Operation, y_bar: Any) -> Any:
        x, axis = operation.operands[0], operation["axis"]
        options = {"length": np.size(x, axis), "axis": axis}
        return x.builder.call(runtime.windows_added, (y_bar,), options)

    def batch(self, operation: Operation, batched: list[bool], batch: Any) -> Any:
        params = operation.params | {"axis": operation["axis"] + 1}
        return batch.builder.emit(self, operation.operands, params)

    def forward(self, operation: Operation, tangents: list) -> Any:
        return operation.result.builder.emit(self, tangents, operation.params)

    def surface(self, call: gast.Call, facts: Callable) -> gast.AST:
        width, axis = (each.value for each in call.keywords)
        options = [] if values.rank_of(facts(call.args[0])) == 1 else [gast.keyword("axis", axis)]
        return gast.Call(call.func, [*call.args, width], options)


class WindowsAdded(Structural):
    """windows_added(windows, length, axis): the adjoint of sliding windows."""

    view = False

    def bind(self, builder: Builder, args: tuple, kwargs: dict[str, Any]) -> Any:
        return builder.emit(self, list(args), kwargs)

    def infer(self, operands: list, params: dict[str, Any]) -> values.AbstractValue:
        if support.any_unknown(*operands):
            return support.unknown(operands[0])
        x, axis = operands[0], params["axis"]
        shape = list(x.shape[:-1])
        shape[axis] = dim_of(params["length"])
        return values.with_shape(x, tuple(shape))

    def transposed(self, operation: Operation, y_bar: Any) -> Any:
        x = operation.operands[0]
        width = support.length(x, x.ndim - 1)
        params = {"window_shape": width, "axis": operation["axis"]}
        return x.builder.call(sliding_window_view, (y_bar,), params)

    def batch(self, operation: Operation, batched: list[bool], batch: Any) -> Any:
        params = operation.params | {"axis": operation["axis"] + 1}
        return batch.builder.emit(self, operation.operands, params)


register(Windows(sliding_window_view, "sliding_window_view"))
register(WindowsAdded(runtime.windows_added, "windows_added"))
