"""Functions that make arrays: no derivative passes through, save for the value of np.full."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import gast
import numpy as np

from s2s_ad import runtime
from s2s_ad.core import sizes, values
from s2s_ad.core.builder import Builder, Symbol, static
from s2s_ad.core.registry import RULES, register
from s2s_ad.core.rule import Operation, Rule
from s2s_ad.diagnostics import UnsupportedError
from s2s_ad.rules import support
from s2s_ad.rules.composite import composed, composite
from s2s_ad.rules.shapes import BroadcastTo, dim_of

#: where the elements stand in memory, which is no part of the value
LAYOUT = "order='K', subok=True"
FILLINGS = {0.0: np.zeros, 1.0: np.ones}


def _lengths_given(
    self: Rule, builder: Builder, operands: list, params: dict[str, Any]
) -> list[sizes.Size]:
    """The lengths of an array that is made: NumPy raises where one is below 0."""
    shape = params.get("shape", ())
    lengths = map(builder.size, shape if isinstance(shape, tuple | list) else (shape,))
    return [each for each in lengths if each is not None and not sizes.is_natural(each)]


class Creation(Rule):
    """A constant array: its arguments are parameters; `shape` tells the lengths of its axes."""

    cost = 1
    keeps_array = gives_array = typed = True
    in_c_order = "always"
    takes_order = False  # after the arguments that its text has

    def __init__(
        self, function: Callable, text: str, shape: Callable, dtype: Callable | None = None
    ):
        super().__init__(function, function.__name__)
        self.text, self.shape, self.dtype = text, shape, dtype
        self.fillings = FILLINGS if function in FILLINGS.values() else {}
        self.distinct = function in (np.empty, np.zeros)  # made to be filled, each on its own
        self.zeros = function is np.zeros

    def bind(self, builder: Builder, args: tuple, kwargs: dict[str, Any]) -> Any:
        if self.takes_order and len(args) > len(support.signature(self.text).parameters):
            args = args[:-1]  # how it lies in memory
        plain = {"device": None, "like": None}
        kwargs = {k: v for k, v in kwargs.items() if k not in plain or v != plain[k]}
        kwargs = {k: v for k, v in kwargs.items() if k != "order" or "order" in self.text}
        params = support.bind_call(builder, self, self.text, args, kwargs)
        if type(params.get("dtype")) is int and "shape" in params:
            raise UnsupportedError(
                "S2S203",
                f"the dtype of np.{self.name} is an integer",
                why="Python raises a TypeError here",
                help=f"give the lengths in one tuple: np.{self.name}((n, m))",
            )
        if "dtype" in params and params["dtype"] is not None:
            dtype = support.dtype_given(params["dtype"], "dtype")
            params["dtype"] = float if dtype is np.float64 else dtype
        return builder.emit(self, [], support.given(params, self.text))

    def infer(self, operands: list, params: dict[str, Any]) -> values.AbstractValue:
        full = {k: p.default for k, p in support.signature(self.text).parameters.items()} | params
        dtype = full.get("dtype")
        if dtype is None:
            dtype = self.dtype(full) if self.dtype else float
        return values.Array(None if dtype is None else np.dtype(dtype), self.shape(full))

    def filled_with(self, operands: list) -> Any:
        return 1.0 if self.function is np.ones else super().filled_with(operands)

    required = _lengths_given

    def symmetric_with(
        self, builder: Builder, operands: list, params: dict[str, Any]
    ) -> list | None:
        return [] if self.gives_identity and len(params) == 1 else None

    def surface(self, call: gast.Call, facts: Callable) -> gast.AST:
        """Arguments by position as long as none before was left out."""
        names = list(support.signature(self.text).parameters)
        args, keywords = [], []
        for index, keyword in enumerate(call.keywords):
            first = not keywords and names[index] == keyword.arg and keyword.arg != "dtype"
            args.append(keyword.value) if first else keywords.append(keyword)
        return gast.Call(func=call.func, args=args, keywords=keywords)


def _dims(full: dict[str, Any]) -> values.Shape | None:
    shape = full["shape"]
    if isinstance(shape, Symbol) and not isinstance(shape.fact, values.Scalar):
        return (values.fresh_dim(),) if shape.shape == () else None
    return tuple(dim_of(each) for each in (shape if isinstance(shape, tuple | list) else (shape,)))


def arange_shape(full: dict[str, Any]) -> values.Shape:
    """The shape of np.arange of these arguments."""
    bounds = [full[each] for each in ("start", "stop", "step")]
    if any(isinstance(each, Symbol) for each in bounds):
        start, stop = (0, bounds[0]) if bounds[1] is None else bounds[:2]
        return (_between(start, stop) if bounds[2] is None else values.fresh_dim(),)
    numbers = [each for each in bounds if each is not None]
    return (len(np.arange(*numbers)),)


def _between(start: Any, stop: Any) -> int | values.Dim:
    """How many numbers there are from the one to below the other, one apart."""
    if not isinstance(start, Symbol) and start == 0:
        return dim_of(stop)
    found = []
    for each in (start, stop):
        size = getattr(each.fact, "size", None) if isinstance(each, Symbol) else each
        if isinstance(size, float) and size.is_integer():
            size = int(size)
        if not isinstance(size, int | sizes.Size):
            return values.fresh_dim()
        found.append(sizes.of(size))
    return values.dim_of_size(found[1] - found[0])


def arange_dtype(full: dict[str, Any]) -> Any:
    """The dtype of np.arange of these arguments, None where that is not known."""
    kinds = [each for each in (full["start"], full["stop"], full["step"]) if each is not None]
    facts = [each.fact if isinstance(each, Symbol) else values.Scalar(type(each)) for each in kinds]
    dtypes = [values.strong_dtype(each) for each in facts]
    return None if values.missing(dtypes) else np.result_type(*dtypes)


def _square(full: dict[str, Any]) -> values.Shape:
    columns = full["N"] if full.get("M") is None else full["M"]
    rows = dim_of(full["N"])
    return (rows, rows if columns is full["N"] else dim_of(columns))


def _constant_shape(full: dict[str, Any]) -> values.Shape:
    return np.shape(static(full["object"]))


def _constant_dtype(full: dict[str, Any]) -> Any:
    return np.asarray(full["object"]).dtype


class MakeArray(Creation):
    """np.array and np.asarray: of an array the identity, of a list a stack of its items."""

    lists = True

    def __init__(self, function: Callable, *description: Any):
        super().__init__(function, *description)
        self.allocates = self.gives_array = self.asks_for_a_copy = function is np.array
        self.in_c_order = "first" if self.allocates else ""
        self.written_back = "" if self.allocates else "operand"

    def bind(self, builder: Builder, args: tuple, kwargs: dict[str, Any]) -> Any:
        params = support.bind_call(builder, self, self.text, args, kwargs)
        value, dtype = params["object"], params["dtype"]
        if isinstance(dtype, Symbol):
            raise UnsupportedError(
                "S2S203",
                f"the dtype of np.{self.name} is a value",
                why="Python raises a TypeError here",
                help=f"give the items in one list: np.{self.name}([a, b])",
            )
        if isinstance(value, Symbol) and isinstance(value.fact, values.Scalar):
            result = support.strong(builder, value)
        elif isinstance(value, Symbol) and isinstance(value.fact, values.List):
            result = builder.call(runtime.list_array, (value, 0), {})
        elif isinstance(value, Symbol):
            copies = self.function is np.array and static(params["copy"], "copy")
            result = np.copy(value) if copies else value
        elif _has_symbols(value):
            result = np.stack([_row(builder, each) for each in value])
        else:
            result = super().bind(builder, (value, *(() if dtype is None else (dtype,))), {})
            dtype = None
        result = result if dtype is None else result.astype(static(dtype, "dtype"))
        least = static(params.get("ndmin", 0), "ndmin")
        missing = least and least - support.known_rank(result, "np.array with ndmin=")
        return np.expand_dims(result, support.axis_of(range(missing))) if missing > 0 else result


def _row(builder: Builder, value: Any) -> Any:
    if isinstance(value, tuple | list):
        return (
            np.stack([_row(builder, each) for each in value])
            if _has_symbols(value)
            else (builder.call(np.array, (value,), {}))
        )
    return value


def _has_symbols(value: Any) -> bool:
    if isinstance(value, tuple | list):
        return any(map(_has_symbols, value))
    return isinstance(value, Symbol)


class Like(Rule):
    """np.zeros_like, np.ones_like, np.empty_like: of x only shape and dtype matter."""

    flat = total = keeps_array = gives_array = of_shape = True
    in_c_order = "first"
    cost = 1
    like_position = 0

    def __init__(self, function: Callable, name: str):
        super().__init__(function, name)
        self.zeros = function is np.zeros_like
        self.distinct = function is np.empty_like  # made to be filled, each on its own

    def bind(self, builder: Builder, args: tuple, kwargs: dict[str, Any]) -> Any:
        given = support.bind_call(builder, self, f"x, dtype=None, {LAYOUT}", args, kwargs)
        x, params = support.as_operand(builder, given["x"]), {"dtype": given["dtype"]}
        if params["dtype"] is not None:
            params["dtype"] = support.dtype_given(params["dtype"], "dtype")
        return builder.emit(self, [x], support.given(params, "x, dtype=None"))

    def infer(self, operands: list, params: dict[str, Any]) -> values.AbstractValue:
        x = operands[0]
        if isinstance(x, values.Unknown):
            return x
        dtype = params.get("dtype")
        return values.Array(
            values.strong_dtype(x) if dtype is None else np.dtype(dtype), values.shape_of(x)
        )

    def batch(self, operation: Operation, batched: list[bool], batch: Any) -> Any:
        return batch.builder.emit(self, operation.operands, operation.params)


class Full(BroadcastTo):
    """np.full(shape, fill_value): linear in the value."""

    view = overlapping = False
    keeps_array = gives_array = True
    in_c_order = "always"
    required = _lengths_given

    def bind(self, builder: Builder, args: tuple, kwargs: dict[str, Any]) -> Any:
        params = support.bind_call(
            builder, self, "shape, fill_value, dtype=None, order='C'", args, kwargs
        )
        shape, value, dtype = params["shape"], params["fill_value"], params["dtype"]
        shape = tuple(shape) if isinstance(shape, tuple | list) else (shape,)
        if dtype is not None:
            kind = support.dtype_given(dtype, "dtype")
            if isinstance(value, Symbol) and not isinstance(value.fact, values.Array):
                value = builder.call(kind, (value,), {})  # a Python number has no astype
            else:
                value = support.converted(value, kind)
        return builder.emit(self, [value], {"shape": shape})

    def infer(self, operands: list, params: dict[str, Any]) -> values.AbstractValue:
        return values.with_shape(operands[0], tuple(dim_of(each) for each in params["shape"]))

    def forward(self, operation: Operation, tangents: list) -> Any:
        if tangents[0] is None:
            return None
        return operation.result.builder.emit(self, [tangents[0]], operation.params)

    def transposed(self, operation: Operation, y_bar: Any) -> Any:
        builder = operation.result.builder
        return builder.call(runtime.unbroadcast, (y_bar, operation.operands[0]), {})

    def surface(self, call: gast.Call, facts: Callable) -> gast.AST:
        shape = call.keywords[0].value
        if isinstance(shape, gast.Tuple) and len(shape.elts) == 1:
            shape = shape.elts[0]
        return gast.Call(func=call.func, args=[shape, call.args[0]], keywords=[])


class DiagIndices(Rule):
    """np.diag_indices(n, ndim=2): the same count for each axis."""

    def bind(self, builder: Builder, args: tuple, kwargs: dict[str, Any]) -> Any:
        given = support.bind_call(builder, self, "n, ndim=2", args, kwargs)
        count = builder.call(np.arange, (given["n"],), {})
        return (count,) * static(given["ndim"], "ndim of np.diag_indices")


def _full_like(x: Any, fill_value: Any, dtype: Any, **_: Any) -> Any:
    if not isinstance(x, Symbol):
        return support.converted(fill_value, dtype)
    fill_value = support.as_operand(x.builder, fill_value)
    values.check_stored(support.shape(x), support.shape(fill_value))
    wanted = x.dtype if dtype is None else np.dtype(static(dtype, "dtype of np.full_like"))
    alone = x.shape == () and not x.builder.derived  # no array says the dtype of a number beside it
    if wanted is not None and (alone or dtype is not None or not _keeps_dtype(x, fill_value)):
        fill_value = support.as_dtype(x.builder, fill_value, wanted)
    if alone:
        return x.builder.call(np.array, (fill_value,), {})
    return x.builder.call(runtime.broadcast_like, (fill_value, x), {})


def _keeps_dtype(x: Symbol, value: Any) -> bool:
    """Whether the value in an array like x is of the dtype of x as it stands."""
    fact = x.builder.fact(value)
    if not isinstance(fact, values.Scalar) or not values.is_inexact(x.fact):
        return values.is_dtype(values.strong_dtype(fact), x.dtype)
    return np.result_type(x.dtype, fact.kind(0)) == x.dtype


register(Creation(np.empty, "shape, dtype=float", _dims)).takes_order = True
register(Creation(np.eye, "N, M=None, k=0, dtype=float", _square)).takes_order = True
register(Creation(np.identity, "N, dtype=float", _square))
register(Creation(np.ones, "shape, dtype=float", _dims)).takes_order = True
register(Creation(np.zeros, "shape, dtype=float", _dims)).takes_order = True
for _identity in (np.eye, np.identity):
    RULES[_identity].gives_identity = True
register(DiagIndices(np.diag_indices, "diag_indices"))
for _window in (np.bartlett, np.blackman, np.hamming, np.hanning):
    register(Creation(_window, "M", lambda p: (dim_of(p["M"]),)))
register(Creation(np.tri, "N, M=None, k=0, dtype=float", _square))
register(Full(np.full, "full"))
register(Like(np.empty_like, "empty_like"))
register(Like(np.ones_like, "ones_like"))
register(Like(np.zeros_like, "zeros_like"))
AS_ARRAY = "object, dtype=None, order=None, copy=None"
ARRAY = "object, dtype=None, copy=True, order='K', subok=False, ndmin=0"
register(MakeArray(np.array, ARRAY, _constant_shape, _constant_dtype))
register(MakeArray(np.asarray, AS_ARRAY, _constant_shape, _constant_dtype))


def _kaiser(M: Any, beta: Any) -> Any:
    """I0(beta * sqrt(1 - t**2)) / I0(beta), with t from -1 to 1."""
    if values.is_dtype(values.strong_dtype(beta.fact), np.float32):
        beta = support.as_dtype(beta.builder, beta, np.dtype(float))
    if M == 1:
        return np.i0(beta * 0.0)[None]
    t = beta.builder.call(np.linspace, (-1.0, 1.0, M), {})
    return np.i0(beta * np.sqrt(1 - t**2)) / np.i0(beta)


class Kaiser(Creation):
    """np.kaiser(M, beta), which is smooth in beta."""

    def bind(self, builder: Builder, args: tuple, kwargs: dict[str, Any]) -> Any:
        params = support.bind_call(builder, self, self.text, args, kwargs)
        return (
            _kaiser(**params)
            if isinstance(params["beta"], Symbol)
            else super().bind(builder, args, kwargs)
        )


def _logspace(
    builder: Builder, start: Any, stop: Any, base: Any, dtype: Any, **options: Any
) -> Any:
    powers = builder.call(np.linspace, (start, stop), options)
    return support.converted(np.power(base, powers), dtype)


def _in_double(builder: Builder, x: Any) -> Any:
    """x in the precision in which NumPy computes where no dtype is asked for."""
    dtype = values.strong_dtype(builder.fact(x))
    if dtype is None or not isinstance(builder.fact(x), values.Array):
        return x
    return support.as_dtype(builder, x, np.result_type(dtype, np.float64))


def _geomspace(
    builder: Builder, start: Any, stop: Any, dtype: Any, num: Any, endpoint: Any, axis: Any
) -> Any:
    start, stop = (_in_double(builder, each) for each in (start, stop))
    part = builder.call(np.linspace, (0.0, 1.0, num), {"endpoint": endpoint})
    rank = max(support.rank(start), support.rank(stop))
    part = part[(slice(None), *(None,) * rank)] if rank else part
    y = start * np.power(stop / start, part)
    y = np.moveaxis(y, 0, static(axis, "axis")) if rank and axis != 0 else y
    return support.converted(y, dtype)


composite(
    np.full_like,
    f"x, fill_value, dtype=None, {LAYOUT}",
    _full_like,
    allocates=True,
    gives_array=True,
)
composed(
    np.geomspace,
    "start, stop, num=50, endpoint=True, dtype=None, axis=0",
    _geomspace,
    of_complex=True,
)
composed(
    np.logspace,
    "start, stop, num=50, endpoint=True, base=10.0, dtype=None, axis=0",
    _logspace,
    of_complex=True,
)
register(Kaiser(np.kaiser, "M, beta", lambda p: (dim_of(p["M"]),)))
