"""The kind of functions that find places: of arrays, without a derivative.

np.searchsorted, np.digitize, np.isin, np.lexsort and the parts of np.unique.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import gast
import numpy as np

from s2s_ad import runtime
from s2s_ad.core import form, values
from s2s_ad.core.builder import Builder, Symbol, static
from s2s_ad.core.registry import METHODS, register
from s2s_ad.core.rule import Operation, Ragged, Rule
from s2s_ad.rules import support
from s2s_ad.rules.composite import composite


class Lookup(Rule):
    """A function of one array or two, which are its first arguments; the others are static.

    Args:
        text: its signature.
        arrays: how many of its arguments are arrays.
        like: the array whose shape the result has.
        kind: the type of its elements.
        ragged: whether the length of the result depends on the values.
    """

    flat = True

    def __init__(
        self,
        function: Callable,
        text: str,
        *,
        arrays: int = 2,
        like: int = 0,
        kind: type = np.intp,
        ragged: bool = False,
        selects: bool = False,
    ):
        super().__init__(function, function.__name__)
        self.text, self.arrays, self.like, self.kind = text, arrays, like, kind
        self.ragged, self.selects = ragged, selects

    def bind(self, builder: Builder, args: tuple, kwargs: dict[str, Any]) -> Any:
        params = support.bind_call(builder, self, self.text, args, kwargs)
        names = list(params)[: self.arrays]
        if params.get("sorter") is not None:  # places in the order that it gives
            params |= {"a": params["a"][params["sorter"]], "sorter": None}
        operands = [support.as_operand(builder, params.pop(name)) for name in names]
        params = support.given(support.static_params(params, self), self.text)
        return builder.emit(self, operands, params)

    def infer(self, operands: list, params: dict[str, Any]) -> values.AbstractValue:
        dtype = np.dtype(self.kind)
        if self.ragged:
            return values.Array(dtype, (values.fresh_dim(),), selects=self.selects)
        if support.any_unknown(operands[self.like]):
            return values.Unknown()
        return values.Array(dtype, values.shape_of(operands[self.like]))

    def batch(self, operation: Operation, batched: list[bool], batch: Any) -> Any:
        if self.ragged:
            raise Ragged
        if self.arrays == 1 or any(flag for i, flag in enumerate(batched) if i != self.like):
            raise support.CannotBatch
        return batch.builder.emit(self, operation.operands, operation.params)


class Bits(Lookup):
    """np.packbits and np.unpackbits: along an axis, or of the flattened array."""

    def __init__(self, function: Callable):
        text = "a, axis=None, *, bitorder='big'"
        super().__init__(function, text, arrays=1, kind=np.uint8, ragged=True)

    def infer(self, operands: list, params: dict[str, Any]) -> values.AbstractValue:
        if "axis" not in params:
            return super().infer(operands, params)
        if support.any_unknown(operands[0]):
            return values.Unknown()
        shape = list(operands[0].shape)
        shape[support.normal_axis(params["axis"], len(shape))] = values.fresh_dim()
        return values.Array(np.dtype(self.kind), tuple(shape))

    def batch(self, operation: Operation, batched: list[bool], batch: Any) -> Any:
        if "axis" not in operation.params:
            rows = support.flatten_samples(operation.operands[0])
            return batch.builder.emit(self, [rows], operation.params | {"axis": 1})
        rank = support.sample_rank(operation.operands[0], True)
        axis = support.normal_axis(operation["axis"], rank) + 1
        return batch.builder.emit(self, operation.operands, operation.params | {"axis": axis})


class IsIn(Lookup):
    """np.isin: of sets that differ from sample to sample by comparing each with each."""

    def batch(self, operation: Operation, batched: list[bool], batch: Any) -> Any:
        if not batched[1]:
            return super().batch(operation, batched, batch)
        elements, tests = operation.operands
        rank = support.sample_rank(elements, batched[0])
        tests = support.flatten_samples(tests)
        tests = np.expand_dims(tests, tuple(range(1, rank + 1))) if rank else tests
        found = np.any(elements[..., None] == tests, axis=-1)
        return np.logical_not(found) if operation.params.get("invert") else found


class SearchSorted(Lookup):
    """np.searchsorted: in arrays that differ from sample to sample by a helper."""

    def batch(self, operation: Operation, batched: list[bool], batch: Any) -> Any:
        if not batched[0]:
            return super().batch(operation, batched, batch)
        a, v = (batch.spread(*each) for each in zip(operation.operands, batched, strict=True))
        return batch.builder.call(runtime.search_of_stack, (a, v), operation.params)


class SearchOfStack(Lookup):
    """search_of_stack(a, v): np.searchsorted for each of a batch."""

    def batch(self, operation: Operation, batched: list[bool], batch: Any) -> Any:
        raise support.CannotBatch


class UniquePart(Lookup):
    """What np.unique gives beside the values: places, inverse and counts."""

    def __init__(self, function: Callable, option: str, **facts: Any):
        text = "x, axis=None, equal_nan=True"
        super().__init__(function, text, arrays=1, ragged=option != "return_inverse", **facts)
        self.option = option

    def infer(self, operands: list, params: dict[str, Any]) -> values.AbstractValue:
        if self.ragged or "axis" not in params or support.any_unknown(operands[0]):
            return super().infer(operands, params)
        rank = len(operands[0].shape)
        axis = support.normal_axis(params["axis"], rank)
        shape = tuple(dim if i == axis else 1 for i, dim in enumerate(operands[0].shape))
        return values.Array(np.dtype(self.kind), shape)

    def surface(self, call: gast.Call, facts: Callable) -> gast.AST:
        option = gast.keyword(self.option, form.constant(True))
        pair = gast.Call(form.constant(np.unique), call.args, [option, *call.keywords])
        return gast.Subscript(pair, form.constant(1), gast.Load())


class LexSort(Rule):
    """np.lexsort(keys, axis): the order by the last key, then by the one before."""

    flat = True

    def bind(self, builder: Builder, args: tuple, kwargs: dict[str, Any]) -> Any:
        params = support.bind_call(builder, self, "keys, axis=-1", args, kwargs)
        keys, axis = params["keys"], params["axis"]
        if isinstance(keys, Symbol):
            keys = [keys[i] for i in range(static(np.size(keys, 0), "the number of keys"))]
        keys = [support.as_operand(builder, each) for each in keys]
        return builder.emit(self, keys, {} if axis == -1 else {"axis": axis})

    def infer(self, operands: list, params: dict[str, Any]) -> values.AbstractValue:
        if support.any_unknown(*operands):
            return values.Unknown()
        return values.Array(np.dtype(np.intp), values.broadcast(map(values.shape_of, operands)))

    def batch(self, operation: Operation, batched: list[bool], batch: Any) -> Any:
        pairs = list(zip(operation.operands, batched, strict=True))
        rank = max(support.sample_rank(*pair) for pair in pairs)
        axis = support.normal_axis(operation.params.get("axis", -1), rank) + 1
        return batch.builder.emit(self, [batch.spread(*each) for each in pairs], {"axis": axis})

    def surface(self, call: gast.Call, facts: Callable) -> gast.AST:
        return gast.Call(call.func, [gast.Tuple(call.args, gast.Load())], call.keywords)


def _nonzero(x: Symbol) -> tuple:
    """The indices of the elements that are true, an array for each axis."""
    rank = support.known_rank(x, "np.nonzero")
    if rank == 1:
        return (np.flatnonzero(x),)
    found, indices = np.flatnonzero(x), []
    for axis in range(rank - 1, 0, -1):
        length = support.length(x, axis)
        indices.append(found % length)
        found = found // length
    return (found, *reversed(indices))


def _argwhere(x: Symbol) -> Any:
    return np.stack(np.nonzero(x), axis=1)


register(Lookup(np.digitize, "x, bins, right=False"))
register(
    IsIn(
        np.isin,
        "element, test_elements, assume_unique=False, invert=False, *, kind=None",
        kind=bool,
    )
)
register(LexSort(np.lexsort, "lexsort"))
register(Bits(np.packbits))
register(SearchSorted(np.searchsorted, "a, v, side='left', sorter=None", like=1))
register(SearchOfStack(runtime.search_of_stack, "a, v, side='left'", like=1))
register(UniquePart(runtime.unique_counts, "return_counts"))
register(UniquePart(runtime.unique_index, "return_index", selects=True))
register(UniquePart(runtime.unique_inverse, "return_inverse"))
register(Bits(np.unpackbits))

composite(np.argwhere, "x", _argwhere)
composite(np.nonzero, "x", _nonzero)

METHODS |= {"nonzero": np.nonzero, "searchsorted": np.searchsorted}
