"""The contraction kind: matmul, dot, inner, outer, tensordot and einsum are one operation.

Where the ranks are known each of them becomes `contract(spec, a, b)` with an einsum specification
of two operands; adjoints, tangents and batched forms are then other specifications. The surface
(`a @ b`, `np.outer(a, b)`, `a[:, None] * b`, `np.einsum(...)`) is chosen when text is written.
"""

from __future__ import annotations

import functools
import math
import operator
import string
from collections.abc import Callable, Mapping
from typing import Any

import gast
import numpy as np

from s2s_ad import runtime
from s2s_ad.core import values
from s2s_ad.core.builder import Builder
from s2s_ad.core.dependence import EVERYTHING, Dependence, Links, Use, numbers
from s2s_ad.core.registry import register
from s2s_ad.core.rule import Operation, Rule
from s2s_ad.rules import support
from s2s_ad.rules.elementwise import broadcast_source
from s2s_ad.rules.masks import Write
from s2s_ad.rules.part_products import inside_part
from s2s_ad.rules.product_surface import product_surface
from s2s_ad.rules.specifications import canonical, ordered, parts
from s2s_ad.rules.symmetric import is_symmetric, unscaled

#: products in a contraction beyond which each result is taken to depend on all elements
MOST_PRODUCTS = 30_000_000


def _laid(array: np.ndarray, names: str, every: str) -> np.ndarray:
    """An array whose axes have these names, with axes of length one for the other names."""
    order = sorted(range(len(names)), key=lambda axis: every.index(names[axis]))
    missing = tuple(axis for axis, name in enumerate(every) if name not in names)
    return np.expand_dims(np.transpose(array, order), missing)


class Contract(Rule):
    """contract(spec, a, b): the sum over products that an einsum specification names."""

    of_complex = True

    def bind(self, builder: Builder, args: tuple, kwargs: dict[str, Any]) -> Any:
        spec, a, b = args
        return builder.emit(self, [a, b], {"spec": canonical(spec)})

    def infer(self, operands: list, params: dict[str, Any]) -> values.AbstractValue:
        a, b, out = parts(params["spec"])
        dims: dict[str, Any] = {}
        for letters, operand in ((a, operands[0]), (b, operands[1])):
            shape = values.shape_of(operand)
            if shape is None:  # the specification says its rank
                shape = tuple(values.fresh_dim() for _ in letters)
            for letter, dim in zip(letters, shape, strict=True):
                dims[letter] = values.broadcast_dims(dims[letter], dim) if letter in dims else dim
        kinds = [values.strong_dtype(each) for each in operands]
        dtype = None if values.missing(kinds) else np.result_type(*kinds)
        return values.Array(dtype, tuple(dims[letter] for letter in out))

    def product_axes(self, params: Mapping[str, Any]) -> tuple[str, ...]:
        return parts(params["spec"])

    def dependence(self, use: Use, position: int) -> Dependence:
        """Zeros of the other operand, where that is known, let nothing through."""
        *letters, out = parts(use.params["spec"])
        own, other = letters[position], letters[1 - position]
        lengths: dict[str, int] = {}
        for names, shape in zip(letters, use.shapes, strict=True):
            for name, length in zip(names, shape, strict=True):
                lengths[name] = length if length != 1 else lengths.get(name, 1)
        every = out + "".join(sorted(set(own + other) - set(out)))
        whole = tuple(lengths[name] for name in every)
        repeats = any(len(set(each)) < len(each) for each in letters)
        if repeats or 0 in whole or math.prod(whole) > MOST_PRODUCTS:
            return EVERYTHING
        targets, sources = (
            np.broadcast_to(_laid(numbers(shape), names, every), whole).reshape(-1)
            for names, shape in ((out, use.shape), (own, use.shapes[position]))
        )
        factor = use.value(1 - position)
        if factor is not None:
            read = np.broadcast_to(_laid(np.asarray(factor) != 0, other, every), whole).reshape(-1)
            targets, sources = targets[read], sources[read]
        return Links(sources, np.searchsorted(targets, np.arange(math.prod(use.shape) + 1)))

    def fits(self, operands: list, result: Any, params: dict[str, Any]) -> bool:
        a, b, _ = parts(params["spec"])
        return _fit(a, operands[0], b, operands[1])

    def shortcut(self, builder: Builder, operands: list, params: dict[str, Any]) -> Any:
        a, b, out = parts(params["spec"])
        scaled = self._scaling(builder, operands, (a, b, out))
        if scaled is not None:
            return scaled
        for position, letters in ((0, a), (1, b)):
            rule, inner, options = builder.definition(operands[position])
            if rule is not None and rule.function is np.transpose:
                axes = options.get("axes") or tuple(reversed(range(len(letters))))
                order = "".join(letters[axes.index(i)] for i in range(len(letters)))
                spec = f"{order},{b}->{out}" if position == 0 else f"{a},{order}->{out}"
                both = (inner[0], operands[1]) if position == 0 else (operands[0], inner[0])
                return builder.call(runtime.contract, (spec, *both), {})
        if builder.derived and (turned := _without_sign(builder, operands, (a, b, out))):
            return -builder.emit(self, turned, params)
        spec = _without_turns(builder, operands, (a, b, out)) if builder.derived else params["spec"]
        return None if spec == params["spec"] else builder.emit(self, operands, {"spec": spec})

    def odd_in(self) -> tuple[int, ...]:
        return (0, 1)

    def symmetric_with(
        self, builder: Builder, operands: list, params: dict[str, Any]
    ) -> list | None:
        """`x.T @ x` is, but for a factor, and `x.T @ s @ x` is with s."""
        a, b, out = parts(params["spec"])
        turned = canonical(f"{b},{a}->{out[::-1]}") == params["spec"]
        if turned and _are_one(builder, *operands):
            return []
        found = _congruence(builder, operands, (a, b, out))
        return _congruence(builder, operands[::-1], (b, a, out)) if found is None else found

    def inside_mask(
        self, builder: Builder, operands: list, params: dict, write: Write, others: tuple
    ) -> Any:
        return inside_part(builder, operands, params["spec"], write, others)

    def _scaling(self, builder: Builder, operands: list, letters: tuple[str, str, str]) -> Any:
        """A product in which nothing is summed and one operand's axes are the other's: `*`."""
        a, b, out = letters
        if a == out and set(b) <= set(a) and ordered(b, a):
            return operands[0] * _inserted(operands[1], b, out)
        if b == out and set(a) <= set(b) and ordered(a, b):
            return _inserted(operands[0], a, out) * operands[1]
        return None

    def reverse(self, operation: Operation, y_bar: Any) -> list:
        a, b, out = parts(operation["spec"])
        builder = operation.result.builder
        x, w = (support.conj(each) for each in operation.operands)
        adjoints = [None, None]
        if operation.active[0]:
            adjoints[0] = _adjoint(builder, (out, b, a), y_bar, w, operation.operands[0])
        if operation.active[1]:
            adjoints[1] = _adjoint(builder, (out, a, b), y_bar, x, operation.operands[1])
        return adjoints

    def forward(self, operation: Operation, tangents: list) -> Any:
        x, w = operation.operands
        builder = operation.result.builder
        pairs = [(tangents[0], w), (x, tangents[1])]
        terms = [
            builder.call(runtime.contract, (operation["spec"], *pair), {})
            for pair, tangent in zip(pairs, tangents, strict=True)
            if tangent is not None
        ]
        return functools.reduce(operator.add, terms) if terms else None

    def batch(self, operation: Operation, batched: list[bool], batch: Any) -> Any:
        a, b, out = parts(operation["spec"])
        new = next(each for each in string.ascii_letters if each not in a + b)
        spec = f"{new * batched[0]}{a},{new * batched[1]}{b}->{new}{out}"
        return batch.builder.call(runtime.contract, (spec, *operation.operands), {})

    def surface(self, call: gast.Call, facts: Callable) -> gast.AST:
        spec = call.keywords[0].value.value
        real = all(values.is_real(facts(each)) for each in call.args)
        return product_surface(spec, *call.args, real=real)


def _without_sign(builder: Builder, operands: list, letters: tuple[str, str, str]) -> list:
    """The operands, without the sign that the user gives to one with no fewer axes than the
    result: what that is the negative of is at hand."""
    for position in (0, 1):
        inner = builder.operands_of(operands[position], operator.neg)
        if not inner or operands[position].name in builder.derived_names:
            continue
        if len(letters[position]) >= len(letters[2]):
            return [*operands[:position], inner[0], *operands[position + 1 :]]
    return []


def _without_turns(builder: Builder, operands: list, letters: tuple[str, str, str]) -> str:
    """The specification where a matrix that is its own transpose is read as it stands: then
    products with it and with its transpose are one."""
    a, b, out = letters
    turned = [[each] for each in (a, b)]
    for index, names in enumerate((a, b)):
        if len(names) == 2 and is_symmetric(builder, operands[index]):
            turned[index].append(names[::-1])
    pairs = ((one, other) for one in turned[0] for other in turned[1])
    specs = (canonical(f"{one},{other}->{out}") for one, other in pairs)
    return min(specs, key=lambda spec: (_turns(*parts(spec)), spec))


def _turns(a: str, b: str, out: str) -> int:
    """How many of two matrices stand transposed in their product."""
    if not len(a) == len(b) == len(out) == 2:
        return 0
    left, right = (a, b) if out[0] in a else (b, a)
    return (left[0] != out[0]) + (right[1] != out[1])


def _are_one(builder: Builder, one: Any, other: Any) -> bool:
    """Whether two values are the same but for factors."""
    names = [getattr(unscaled(builder, each), "name", None) for each in (one, other)]
    return names[0] == names[1] is not None


def _congruence(builder: Builder, operands: list, letters: tuple[str, str, str]) -> list | None:
    """The matrices with which a product of three is its own transpose, the first operand being
    the product of two of them; None where it is no such product."""
    own, last, out = letters
    rule, inner, params = builder.definition(unscaled(builder, operands[0]))
    if not isinstance(rule, Contract):
        return None
    *pair, result = parts(params["spec"])
    called = dict(zip(result, own, strict=True))
    for first, middle in ((0, 1), (1, 0)):
        if not _are_one(builder, inner[first], operands[1]):
            continue
        names, between = (
            "".join(called.get(x, x.upper()) for x in pair[i]) for i in (first, middle)
        )
        for there, needed in ((last, []), (last[::-1], [operands[1]])):
            swapped = dict(zip(names + there, there + names, strict=True))
            both = [(out, out[::-1]), (between, between[::-1])]
            if all("".join(swapped.get(x, x) for x in of) == to for of, to in both):
                return [*needed, inner[middle]]
    return None


def _adjoint(builder: Builder, spec: tuple, y_bar: Any, other: Any, varied: Any) -> Any:
    """Adjoint of `varied` (letters spec[2]): y_bar (spec[0]) contracted with `other` (spec[1])."""
    out, right, wanted = spec
    out, y_bar, right, other = _without_stretched(builder, spec, y_bar, other, varied)
    lone = [letter for letter in wanted if letter not in out + right]
    kept = "".join(letter for letter in wanted if letter not in lone)
    if out:
        value = builder.call(runtime.contract, (f"{out},{right}->{kept}", y_bar, other), {})
    else:
        value = y_bar * builder.call(np.transpose, (other, tuple(map(right.index, kept))), {})
    if lone:  # summed over in `varied` alone, or as y_bar is: elements have the same adjoint
        first = wanted.index(kept[0]) if kept else len(wanted)  # axes before stretch by themselves
        axes = tuple(i - first for i in map(wanted.index, lone) if i > first)
        value = np.expand_dims(value, support.axis_of(axes)) if axes else value
        value = builder.call(runtime.broadcast_like, (value, varied), {})
    return builder.call(runtime.unbroadcast, (value, varied), {})


def _fit(one: str, x: Any, other: str, y: Any) -> bool:
    """Whether two arrays are certain to have the same lengths where they have the same letters."""
    shapes = values.shape_of(x), values.shape_of(y)
    if None in shapes:
        return False
    lengths = dict(zip(one, shapes[0], strict=True))
    pairs = zip(other, shapes[1], strict=True)
    return all(values.are_equal((dim,), (lengths.get(each, dim),)) for each, dim in pairs)


def _without_stretched(
    builder: Builder, spec: tuple[str, str, str], y_bar: Any, other: Any, varied: Any
) -> tuple[str, Any, str, Any]:
    """(letters, y_bar, letters, other) without the axes along which y_bar is the same.

    Only where the product is the same along some axis, too, or is one of vectors then.
    """
    out, right, wanted = spec
    source = broadcast_source(builder, y_bar) if builder.derived else None
    shapes = None if source is None else (support.shape(source[0]), support.shape(other))
    if source is None or None in shapes:
        return out, y_bar, right, other
    rank = len(shapes[0])
    dims = dict(zip(out[len(out) - rank :], shapes[0], strict=True))
    stretched = [letter for letter in out if dims.get(letter, 1) == 1]
    own = "".join(letter for letter in out if letter not in stretched)
    if not own and all(letter in right for letter in wanted):
        return out, y_bar, right, other
    if not _fit(right, builder.fact(other), wanted, builder.fact(varied)):
        return out, y_bar, right, other
    summed = [letter for letter in right if letter in stretched and letter not in wanted]
    if summed:
        other = np.sum(other, axis=support.axis_of(tuple(map(right.index, summed))))
    ones = tuple(index for index, letter in enumerate(out[len(out) - rank :]) if letter not in own)
    value = np.squeeze(source[0], support.axis_of(ones)) if ones else source[0]
    return own, value, "".join(letter for letter in right if letter not in summed), other


def _inserted(value: Any, letters: str, out: str) -> Any:
    """`value` with axes of length one wherever `out` has a letter that it lacks."""
    if not letters:
        return value
    lead = next(i for i, letter in enumerate(out) if letter in letters)
    missing = tuple(i - lead for i, each in enumerate(out) if each not in letters and i > lead)
    if not missing:
        return value
    return np.expand_dims(value, support.axis_of(missing))


register(Contract(runtime.contract, "contract"))
