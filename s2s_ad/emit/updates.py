"""Which operations may be updates in place: stores of elements, of lists, of whole arrays."""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import gast
import numpy as np

from s2s_ad import runtime
from s2s_ad.analysis.cells import Site
from s2s_ad.core import form, values
from s2s_ad.core.builder import Builder
from s2s_ad.core.program import Program
from s2s_ad.core.regions import Path, region_of

AUGMENTED: dict[Callable, bool] = {  # the operators that Python has in place -> commutative or not
    operator.add: True,
    operator.and_: True,
    operator.floordiv: False,
    operator.lshift: False,
    operator.mod: False,
    operator.mul: True,
    operator.or_: True,
    operator.pow: False,
    operator.rshift: False,
    operator.sub: False,
    operator.truediv: False,
    operator.xor: True,
}


@dataclass(frozen=True, slots=True)
class Update:
    """A statement that may be an update in place."""

    kind: str
    program: Program
    statement: form.Op
    index: int = 0  # of the operand that is changed

    @property
    def base(self) -> str:
        return self.statement.operands[self.index].id


def updates_in(program: Program, path: Path) -> Iterator[tuple[Site, Update]]:
    builder = functools.cache(functools.partial(Builder.of, program))
    for position, statement in enumerate(program.body):
        if isinstance(statement, form.Effect):
            continue
        region = region_of(statement)
        for number, block in enumerate(() if region is None else region.blocks):
            yield from updates_in(block, (*path, (position, number)))
        kind = _kind(program, statement, builder)
        if kind:
            yield (path, position), Update(kind, program, statement)
        else:
            index = _whole(program, statement)
            if index is not None:
                yield (path, position), Update("update", program, statement, index)


def _kind(program: Program, statement: form.Op, builder: Callable[[], Builder]) -> str:
    """What the update of elements or of a list is in the text; "" where it is an expression."""
    function, operands = statement.function, statement.operands
    base = operands[0] if operands else None
    if not isinstance(base, gast.Name):
        return ""
    fact = program.facts[base.id]
    is_list, is_array = isinstance(fact, values.List), isinstance(fact, values.Array)
    if function is runtime.list_append:
        return "append" if is_list else ""
    if function is runtime.list_pop:
        return "pop" if is_list else ""
    if function is runtime.index_set:
        return "set" if is_list or (is_array and fact.shape) else ""
    if function is runtime.index_add and is_array and fact.shape:
        if not _takes(fact, program, operands[1]):
            return ""
        rule, _, params = builder().definitions[statement.target]
        return "add at" if rule.may_repeat(params["index"], builder()) else "add"
    return ""


def _takes(fact: values.Array, program: Program, value: gast.AST) -> bool:
    """Whether the dtype of an array can take what is added to it."""
    if fact.dtype is None:
        return False
    if isinstance(value, gast.Constant):
        return values.is_inexact(fact) is True
    given = program.facts[value.id]
    if isinstance(given, values.Scalar):
        return True
    dtype = values.strong_dtype(given)
    return dtype is not None and np.can_cast(dtype, fact.dtype, "same_kind")


def _whole(program: Program, statement: form.Op) -> int | None:
    """The operand that may take the result of an operator: `x = x + y` as `x += y`."""
    function = statement.function
    if function not in AUGMENTED or statement.parameters:
        return None
    name = statement.target
    for index in (0, 1) if AUGMENTED[function] else (0,):
        base = getattr(statement.operands[index], "id", "")
        fits = base and _same_kind(program.facts[name], program.facts[base])
        if fits and _is_variable(program, statement, base):
            return index
    return None


def _same_kind(result: Any, base: Any) -> bool:
    """Whether an array is certain to have the dtype and shape of the result."""
    if not isinstance(result, values.Array) or not isinstance(base, values.Array):
        return False
    if not base.shape or not result.shape or values.missing((base.dtype, result.dtype)):
        return False
    same = len(base.shape) == len(result.shape) and base.dtype == result.dtype
    pairs = zip(base.shape, result.shape, strict=False)
    return same and all(a == b or values.known_not_one(a) for a, b in pairs)


def _is_variable(program: Program, statement: form.Op, base: str) -> bool:
    """Whether the result is worth a statement of its own, not only a part of an expression."""
    name = statement.target
    result, before = (program.hints.get(each) for each in (name, base))
    named = result if result is not None and result.kind != "temporary" else None
    if named is not None and before is not None and named.text and named.text == before.text:
        return True
    handed = any(getattr(atom, "id", None) == name for atom in program.outputs())
    sums = statement.rule.adds
    return handed or (statement.phase == "backward" and sums)
