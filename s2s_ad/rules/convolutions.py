"""np.convolve and np.correlate: bilinear in two vectors; each adjoint is a convolution again."""

from __future__ import annotations

import functools
import operator
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from s2s_ad import runtime
from s2s_ad.core import sizes, values
from s2s_ad.core.builder import Builder, static
from s2s_ad.core.dependence import EVERYTHING, Dependence, Use, from_pairs
from s2s_ad.core.registry import register
from s2s_ad.core.rule import Operation, Rule
from s2s_ad.rules import support
from s2s_ad.rules.composite import composite

#: products in a convolution beyond which each result is taken to depend on all elements
MOST_PRODUCTS = 30_000_000


class Convolve(Rule):
    """np.convolve(a, v, mode): "same" and "valid" are parts of the whole convolution."""

    of_complex = True
    linear = (0, 1)

    def bind(self, builder: Builder, args: tuple, kwargs: dict[str, Any]) -> Any:
        params = support.bind_call(builder, self, "a, v, mode='full'", args, kwargs)
        a, v = (support.as_operand(builder, params[each]) for each in ("a", "v"))
        a, v = (each if support.rank(each) else np.reshape(each, (1,)) for each in (a, v))
        mode = static(params["mode"], "the mode of np.convolve")
        for each in (a, v):
            if support.known_rank(each, "np.convolve") != 1:
                raise ValueError("object too deep for desired array")
        return builder.emit(self, [a, v], {} if mode == "full" else {"mode": mode})

    def infer(self, operands: list, params: dict[str, Any]) -> values.AbstractValue:
        if support.any_unknown(*operands):
            return support.unknown(operands[0])
        lengths, mode = [each.shape[0] for each in operands], params.get("mode", "full")
        dim: Any = values.fresh_dim()
        if mode == "full":  # of empty arrays it raises
            dim = values.dim_of_size(sum(map(values.size_of_dim, lengths), start=sizes.of(-1)))
        if all(type(each) is int for each in lengths) and min(lengths):
            least, most = sorted(lengths)
            dim = {"full": least + most - 1, "same": most, "valid": most - least + 1}[mode]
        return values.Array(support.result_dtype(self.function, operands), (dim,))

    def dependence(self, use: Use, position: int) -> Dependence:
        """Element i of the whole reads the element i - j, for each j of the other operand."""
        own, other = use.shapes[position][0], use.shapes[1 - position][0]
        if own * other > MOST_PRODUCTS:
            return EVERYTHING
        less = own + other - 1 - use.shape[0]
        mode = use.params.get("mode", "full")
        first = less // 2 if mode != "full" else 0
        source, step = (each.reshape(-1) for each in np.mgrid[:own, :other])
        targets = source + step - first
        read = (targets >= 0) & (targets < use.shape[0])
        factor = use.value(1 - position)
        if factor is not None:
            read &= np.asarray(factor)[step] != 0
        return from_pairs(targets[read], source[read], use.shape[0])

    def _ends(self, operation: Operation, axis: int = 0) -> tuple | None:
        """How much of the whole is missing before and after; None where nothing is."""
        mode = operation.params.get("mode", "full")
        if mode == "full":
            return None
        sizes = [support.length(each, axis) for each in operation.operands]
        if all(isinstance(each, int) for each in sizes):
            less = min(sizes) - 1
        else:
            less = np.minimum(*sizes) - 1
        return (less, less) if mode == "valid" else (less // 2, less - less // 2)

    def reverse(self, operation: Operation, y_bar: Any) -> list:
        y_bar = operation.result.builder.call(runtime.broadcast_like, (y_bar, operation.result), {})
        ends = self._ends(operation)
        whole = y_bar if ends is None else np.pad(y_bar, ends)
        adjoints = []
        for index, operand in enumerate(operation.operands):
            other = operation.operands[1 - index]
            part = np.convolve(whole, support.conj(other)[::-1], mode="valid")
            wanted = operation.active[index]
            part = (
                operand.builder.call(runtime.unbroadcast, (part, operand), {}) if wanted else None
            )
            adjoints.append(part)
        return adjoints

    def forward(self, operation: Operation, tangents: list) -> Any:
        a, v = operation.operands
        pairs = ((tangents[0], v), (a, tangents[1]))
        terms = [
            operation.result.builder.emit(self, list(pair), operation.params)
            for pair, tangent in zip(pairs, tangents, strict=True)
            if tangent is not None
        ]
        return functools.reduce(operator.add, terms)

    def batch(self, operation: Operation, batched: list[bool], batch: Any) -> Any:
        """Windows of the one, padded, times the other reversed."""
        a, v = (batch.spread(*pair) for pair in zip(operation.operands, batched, strict=True))
        ends = self._ends(replace(operation, operands=[a, v]), axis=1)
        width = np.size(v, 1)
        zeros = np.zeros_like(v[:, 1:])
        padded = np.concatenate([zeros, a, zeros], axis=1)
        windows = sliding_window_view(padded, width, axis=1)
        whole = np.einsum("bij,bj->bi", windows, v[:, ::-1])
        if ends is None:
            return whole
        return whole[:, ends[0] : np.size(whole, 1) - ends[1]]


def _correlate(a: Any, v: Any, mode: Any) -> Any:
    """The convolution with one of them reversed."""
    mode = static(mode, "the mode of np.correlate")
    back = support.conj(v)[::-1]
    if mode != "same":
        return np.convolve(a, back, mode=mode)
    longer, shorter = support.length(a, 0), support.length(v, 0)
    if isinstance(longer, int) and isinstance(shorter, int) and shorter <= longer:
        return np.convolve(a, back, mode=mode)
    whole = np.convolve(a, back)  # of "same" NumPy takes another part where v is the longer
    swapped = np.where(shorter > longer, 1, 0)
    start = (np.minimum(longer, shorter) - 1 + swapped) // 2
    return whole[start : start + np.maximum(longer, shorter)]


composite(np.correlate, "a, v, mode='valid'", _correlate)
register(Convolve(np.convolve, "convolve"))
