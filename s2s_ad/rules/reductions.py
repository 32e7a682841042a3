"""The reduction kind: functions that take axes away, and how their adjoints spread back."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from s2s_ad import runtime
from s2s_ad.core import measure, sizes, values
from s2s_ad.core.builder import Builder, Symbol
from s2s_ad.core.dependence import EVERYTHING, Dependence, Use, reduced
from s2s_ad.core.rule import Operation, Rule
from s2s_ad.diagnostics import UnsupportedError
from s2s_ad.rules import support
from s2s_ad.rules.elementwise import broadcast_source
from s2s_ad.rules.masks import Write, condition_of, within
from s2s_ad.rules.shares import shared_out

TEXT = "x, axis=None, keepdims=False"
#: the signatures that NumPy's reductions have; `out` is served before a call comes here
OF_INDEX = "x, axis=None, out=None, *, keepdims=False"
OF_LOGIC = "x, axis=None, out=None, keepdims=False, *, where=True"
OF_MEAN = "x, axis=None, dtype=None, out=None, keepdims=False, *, where=True"
OF_ORDER = "x, axis=None, out=None, keepdims=False, initial=None, where=True"
OF_TOTAL = "x, axis=None, dtype=None, out=None, keepdims=False, initial=None, where=True"


class Reduction(Rule):
    """A function with `axis` (int, tuple or None) and `keepdims`.

    `dtype=`, `where=` and `initial=` are written as what they mean: x in another type, x with a
    neutral number where it does not count, and the result joined with one number more.

    Args:
        adjoint: (reduction, x, y, y_bar, axes) -> adjoint of x, with y and y_bar already given
            axes of length one where x was reduced; None where there is no derivative.
        tangent: the same with x_dot for y_bar -> tangent, to be reduced by np.sum or np.mean.
        text: its signature.
        neutral: the number that changes no result; None: what `initial` says.
        join: the function of two numbers that it is the reduction of.
        within: whether the result is between the least element and the greatest.
        many_axes: whether `axis` may be a tuple.
    """

    of_complex = reduction = True

    def __init__(
        self,
        function: Callable,
        adjoint: Callable | None = None,
        tangent: Callable | None = None,
        *,
        text: str = OF_INDEX,
        neutral: float | None = None,
        join: Callable | None = None,
        many_axes: bool = True,
        within: bool = False,
    ):
        super().__init__(function, function.__name__)
        self.adjoint, self.tangent, self.many_axes = adjoint, tangent, many_axes
        self.text, self.neutral, self.join = text, neutral, join
        self.flat, self.within = adjoint is None, within

    def least(self, operands: list, of: Callable[[Any], float | None]) -> float | None:
        """Sums and products of what is not negative are not, either."""
        low = None if self.neutral is None else of(operands[0])
        return super().least(operands, of) if low is None or low < 0 else 0.0

    def bind(self, builder: Builder, args: tuple, kwargs: dict[str, Any]) -> Any:
        params = support.bind_call(builder, self, self.text, args, kwargs)
        x = support.as_operand(builder, params.pop("x"))
        self._check_axis(params.get("axis"))
        where, initial = params.pop("where", True), params.pop("initial", None)
        axis, dtype, out, keepdims = support.static_params(
            {key: params.get(key) for key in ("axis", "dtype", "out", "keepdims")}, self
        ).values()
        if out is not None:
            raise UnsupportedError(
                "S2S203", f"np.{self.name} with out= by position", help="write out=..."
            )
        x = support.converted(x, dtype)
        if where is not True:
            x = np.where(where, x, self._neutral(initial))
        if isinstance(x, Symbol) and x.shape == () and type(axis) is int:
            self.function(1.0, axis=axis)  # NumPy says whether a number has this axis: 0 and -1
            axis = None
        params = {"axis": tuple(axis) if isinstance(axis, list) else axis}
        if initial is not None and axis != () and self._may_be_of_nothing(x, axis):
            return self._of_one_more(builder, x, axis, bool(keepdims), initial)
        result = self._reduced(builder, x, params | {"keepdims": bool(keepdims)})
        return result if initial is None else builder.call(self.join, (result, initial), {})

    def _check_axis(self, axis: Any) -> None:
        """Refuse an array where an axis is meant, as in np.max(a, b)."""
        if not isinstance(axis, Symbol) or values.is_inexact(axis.fact) is not True:
            return
        pairs = f": np.{self.join.__name__}(a, b)" if isinstance(self.join, np.ufunc) else ""
        raise UnsupportedError(
            "S2S203",
            f"the axis of np.{self.name} is no integer",
            why="Python raises a TypeError here",
            help=f"for two arrays there is another function{pairs}" if pairs else "give an int",
        )

    def _may_be_of_nothing(self, x: Any, axis: Any) -> bool:
        """Whether there may be no elements that are reduced: `initial` is then the result."""
        if self.neutral is not None or not isinstance(x, Symbol) or not x.shape or x.dtype is None:
            return False
        lengths = [x.shape[each] for each in support.normal_axes(axis, len(x.shape))]
        return not all(sizes.differs(values.size_of_dim(each), 0) for each in lengths)

    def _of_one_more(
        self, builder: Builder, x: Symbol, axis: Any, keepdims: bool, initial: Any
    ) -> Any:
        """The result for the elements and `initial`, which are one axis: the first."""
        axes = support.normal_axes(axis, x.ndim)
        rest = [measure.length(x, each) for each in range(x.ndim) if each not in axes]
        if rest:
            count = math.prod(measure.length(x, each) for each in axes)
            x = np.reshape(np.moveaxis(x, axes, (*range(len(axes)),)), (count, *rest))
        more = builder.call(np.full, ((1, *rest), initial), {"dtype": x.dtype})
        x = np.concatenate((x if rest else np.ravel(x), more))
        result = self._reduced(builder, x, {"axis": 0, "keepdims": False})
        return np.expand_dims(result, axes) if keepdims else result

    def _neutral(self, initial: Any) -> Any:
        if self.neutral is None and initial is None:
            raise ValueError(f"np.{self.name} with where= has to have initial=")
        return initial if self.neutral is None else self.neutral

    def _reduced(self, builder: Builder, x: Any, params: dict[str, Any]) -> Any:
        if not isinstance(x, Symbol):
            return self.function(x, **support.given(params, TEXT))
        if params["axis"] == ():
            return self._of_no_axes(builder, x)
        return builder.emit(self, [x], support.given(params, TEXT))

    def _of_no_axes(self, builder: Builder, x: Symbol) -> Any:
        """Nothing is reduced: the sum, mean or extreme of each element by itself."""
        if self.flat or not values.is_inexact(x.fact):
            raise UnsupportedError("S2S203", f"np.{self.name} with axis=()", origin=builder.origin)
        return np.copy(x)

    def grows_with(self, operands: list) -> tuple[int, ...]:
        return (0,) if self.function in (np.sum, np.mean) else ()

    def vanishes_with(self) -> tuple[int, ...]:
        return self.grows_with([])

    def inside_mask(
        self, builder: Builder, operands: list, params: dict, write: Write, others: tuple
    ) -> Any:
        """A sum over axes along which a mask does not change is a sum within the mask."""
        mask = condition_of(builder, operands[0]) if self.function is np.sum else None
        rank = None if mask is None else support.rank(mask)
        if rank is None or rank != support.rank(operands[0]):
            return None
        axes = support.normal_axes(params.get("axis"), rank)
        if any(mask.shape[axis] != 1 for axis in axes):
            return None
        total = builder.emit(self, operands, params)
        kept = mask if params.get("keepdims") else np.squeeze(mask, axes)
        return within(kept, total, write, others)

    def infer(self, operands: list, params: dict[str, Any]) -> values.AbstractValue:
        x = operands[0]
        if support.any_unknown(x):
            return self._unranked(x, params)
        axes = support.normal_axes(params.get("axis"), len(x.shape))
        keep = params.get("keepdims", False)
        shape = tuple(
            1 if axis in axes else dim
            for axis, dim in enumerate(x.shape)
            if keep or axis not in axes
        )
        options = {key: each for key, each in params.items() if key != "keepdims"}
        return values.Array(support.result_dtype(self.function, operands, **options), shape)

    def _unranked(self, x: Any, params: dict[str, Any]) -> values.AbstractValue:
        """The fact of what an array of unknown rank is reduced to."""
        whole = params.get("axis") is None and not params.get("keepdims")
        if whole and isinstance(x, values.Array):
            some = [values.Array(x.dtype, (1,))]
            return values.Array(support.result_dtype(self.function, some, **params), ())
        return values.Unknown() if self.flat else support.unknown(x)

    def shortcut(self, builder: Builder, operands: list, params: dict[str, Any]) -> Any:
        rule, inner, _ = builder.definition(operands[0])
        negated = rule is not None and rule.function is operator.neg
        if negated and builder.derived and self.function in (np.sum, np.mean):
            return -builder.emit(self, inner, params)
        if self.function is np.sum and builder.derived:
            axis, keepdims = params.get("axis"), bool(params.get("keepdims"))
            found = shared_out(builder, operands[0], axis, keepdims)
            if found is not None:
                return found
        source = broadcast_source(builder, operands[0])
        if self.function not in (np.sum, np.mean) or source is None:
            return None
        if support.shape(source[0]) != ():
            return None
        x = operands[0]
        if x.ndim is None or params.get("keepdims"):
            return None
        axes = support.normal_axes(params.get("axis"), x.ndim)
        count = count_of(source[1], axes) if self.function is np.sum else 1
        if len(axes) < x.ndim:
            return None
        return source[0] * count

    def dependence(self, use: Use, position: int) -> Dependence:
        shape = use.shapes[position]
        axes = support.normal_axes(use.params.get("axis"), len(shape))
        kept = math.prod(each for axis, each in enumerate(shape) if axis not in axes)
        return reduced(shape, axes) if kept == math.prod(use.shape) else EVERYTHING

    # ---- derivatives

    def _spread(self, operation: Operation, value: Any) -> Any:
        """`value`, shaped like the result, with the axes that were reduced, at length one."""
        axis = operation.params.get("axis")
        if axis is None or operation.params.get("keepdims") or not isinstance(value, Symbol):
            return value
        source = broadcast_source(value.builder, value)
        if source is not None and support.shape(source[0]) == ():
            return source[0]  # the same number everywhere broadcasts by itself
        if operation.operands[0].ndim is not None:
            axes = support.normal_axes(axis, operation.operands[0].ndim)
            if axes == tuple(range(len(axes))) and value.ndim == 0:
                return value
            axis = support.axis_of(axes)
        return np.expand_dims(value, axis)

    def _axes(self, operation: Operation) -> Any:
        x, axis = operation.operands[0], operation.params.get("axis")
        return axis if x.ndim is None else support.normal_axes(axis, x.ndim)

    def reverse(self, operation: Operation, y_bar: Any) -> list:
        x = operation.operands[0]
        y = self._spread(operation, operation.result)
        x_bar = self.adjoint(x, y, self._spread(operation, y_bar), self._axes(operation))
        x_bar = x.builder.call(runtime.broadcast_like, (x_bar, x), {})
        return [x.builder.call(runtime.unbroadcast, (x_bar, x), {})]

    def forward(self, operation: Operation, tangents: list) -> Any:
        if tangents[0] is None:
            return None
        x = operation.operands[0]
        y = self._spread(operation, operation.result)
        function, term = self.tangent(x, y, tangents[0], self._axes(operation))
        return x.builder.call(function, (term,), operation.params)

    def batch(self, operation: Operation, batched: list[bool], batch: Any) -> Any:
        x = operation.operands[0]
        rank = support.sample_rank(x, True)
        axes = tuple(axis + 1 for axis in support.normal_axes(operation.params.get("axis"), rank))
        if not rank:
            return self._of_numbers(batch.builder, x, operation.params)
        if self.many_axes or len(axes) == 1:
            params = operation.params | {"axis": support.axis_of(axes)}
            return batch.builder.emit(self, [x], params)
        params = {key: each for key, each in operation.params.items() if key != "keepdims"}
        result = batch.builder.emit(self, [support.flatten_samples(x)], params | {"axis": 1})
        return np.expand_dims(result, axes) if operation.params.get("keepdims") else result

    def _of_numbers(self, builder: Builder, x: Symbol, params: dict[str, Any]) -> Any:
        """The reduction of samples that are single numbers."""
        options = {key: each for key, each in params.items() if key not in ("axis", "keepdims")}
        return builder.emit(self, [np.expand_dims(x, 1)], options | {"axis": 1})


def count_of(x: Symbol, axes: Any) -> Any:
    """How many elements the axes hold: a number where facts allow, else code for it."""
    if x.ndim is None:
        if axes is None:
            return np.size(x)
        axes = axes if isinstance(axes, tuple) else (axes,)
        return support.product([np.size(x, axis) for axis in axes])
    if len(axes) == x.ndim > 1 and not all(isinstance(dim, int) for dim in x.shape):
        return np.size(x)
    return support.product([measure.length(x, axis) for axis in axes])


def shared_evenly(x: Symbol, y: Any, axes: Any, share: Any = 1.0, *, some: bool = True) -> Any:
    """`share` / (number of ties) at each extreme value, 0 elsewhere: ties share the derivative.

    Without `some` there may be rows in which nothing is equal to y: all of it gets 0.
    """
    chosen = x == y
    if not values.is_dtype(x.dtype, float):
        chosen = chosen.astype(x.dtype if x.dtype is not None else float)
    if axes is None or (x.ndim is not None and len(axes) == x.ndim):
        part = share / np.sum(chosen)
    else:
        axis = axes if isinstance(axes, int) else support.axis_of(axes)
        part = share / np.sum(chosen, axis=axis, keepdims=True)
    return chosen * part if some else np.where(x == y, part, 0.0)
