"""np.where over the samples of a batch."""

from __future__ import annotations

from typing import Any

import gast
import numpy as np

from s2s_ad import runtime
from s2s_ad.core import form, values
from s2s_ad.core.builder import Builder, Symbol
from s2s_ad.core.callee import Callee, Compound, has_effect, is_watched, may_raise, reached
from s2s_ad.core.program import Program
from s2s_ad.core.regions import Loop, Region
from s2s_ad.core.rule import ITEM, Ragged, Rule
from s2s_ad.transforms.batch.context import Batch, Whole


def is_harmless(context: Batch, statement: form.Statement) -> bool:
    """Whether an operation that was written may be run for samples that do not ask for it."""
    if isinstance(statement, form.Effect):
        return False
    if is_watched(statement):
        return False
    builder = context.builder
    rule, operands, params = builder.definitions[statement.target]
    if not context.masked:
        return rule.is_total(operands)
    if has_effect(statement) or _has_while(rule):
        return False  # it could go on for ever
    if context.is_elementwise(statement) or not context.is_varied(statement):
        return True  # where it raises, which is for NumPy's text to say, it did no harm
    is_uniform = not context.is_batched([*operands[1:], *params.values()])
    return ((rule.moves or rule.view) and is_uniform) or not may_raise(statement, builder.fact)


def _has_while(rule: Rule) -> bool:
    inner = (rule, *reached(rule.blocks)) if isinstance(rule, Compound) else ()
    return any(isinstance(each, Loop) and not each.is_for for each in inner)


def selectable(fact: Any) -> bool:
    """Whether arrays of such samples can be selected from: their shape is one and the same."""
    return isinstance(fact, values.Scalar | values.Array) and values.rank_of(fact) is not None


def either(context: Batch, condition: Symbol, a: Any, b: Any, fact: Any) -> Any:
    """`a` for the samples where the condition holds, `b` for the others."""
    if b is values.UNDEFINED or same(a, b):
        return a
    if a is values.UNDEFINED:
        return b
    shapes = [_sample_shape(context, each) for each in (a, b)]
    rank = values.rank_of(fact)
    if any(len(each) != rank for each in shapes) or not all(map(values.stored_whole, *shapes)):
        raise Ragged
    absent = [_is_one_or_none(context, each) for each in (a, b)]
    if any(absent):
        return _stored(context, condition if absent[0] else np.logical_not(condition), absent, a, b)
    mask = np.expand_dims(condition, tuple(range(1, 1 + rank))) if rank else condition
    return context.mark(context.builder.call(np.where, (mask, a, b), {}))


def _is_one_or_none(context: Batch, value: Any) -> bool:
    """Whether it is one number for all samples, and none at all on some path."""
    single = isinstance(value, Symbol) and not context.is_batched(value)
    return single and may_be_nothing(context.builder, value)


def _stored(context: Batch, mask: Any, absent: list[bool], a: Any, b: Any) -> Any:
    """What np.where selects, where one of both may be none: it is stored where it is there."""
    value, other = (a, b) if absent[0] else (b, a)
    call = context.builder.call
    if all(absent) or values.rank_of(context.builder.fact(value)) != 0:
        raise Ragged
    if not context.is_batched(other):
        other = call(np.full, (context.size, other), {})
    places = call(np.flatnonzero, (mask,), {})
    return context.mark(call(runtime.index_set, (other, places, value), {}))


def _sample_shape(context: Batch, value: Any) -> values.Shape:
    shape = values.shape_of(context.builder.fact(value))
    if shape is None:
        raise Ragged
    return shape[1:] if context.is_batched(value) else shape


def same(a: Any, b: Any) -> bool:
    a, b = (each.array if isinstance(each, Whole) else each for each in (a, b))
    if isinstance(a, Symbol) or isinstance(b, Symbol):
        return isinstance(a, Symbol) and isinstance(b, Symbol) and a.name == b.name
    return type(a) is type(b) and a == b


def may_be_nothing(builder: Builder, value: Any) -> bool:
    """Whether a value is what a branch, a loop or a function gives, which has none on some path."""
    rule, operands, params = builder.definition(value)
    if rule is not ITEM:
        return False
    found, given, _ = builder.definition(operands[0])
    compound: Any = found
    if isinstance(compound, Loop):
        return any(each is values.UNDEFINED for each in given)
    if not isinstance(compound, Region | Callee):
        return False
    outputs = [(each, each.outputs()[params["index"]]) for each in compound.blocks]
    return any(_gives_nothing(block, atom) for block, atom in outputs)


def _gives_nothing(block: Program, atom: gast.AST) -> bool:
    if not isinstance(atom, gast.Name):
        return atom.value is values.UNDEFINED
    inside = Builder.of(block)
    return may_be_nothing(inside, Symbol(inside, atom.id))
