"""Which `index_add` may update its operand in place: memory of ours that nobody reads again."""

from __future__ import annotations

import gast
import numpy as np

from s2s_ad import runtime
from s2s_ad.analysis import liveness
from s2s_ad.analysis.memory import Memory
from s2s_ad.core import form, values
from s2s_ad.core.builder import Builder
from s2s_ad.core.program import Program


class Stores:
    """The decision for each `b = index_add(a, index, value)`.

    Attributes:
        in_place: results that take over the memory of their operand: `a[index] += value`.
        copied: results that start from a copy: `b = a.copy()`, then `b[index] += value`.
        repeating: results whose index may name an element twice: `np.add.at`.
        changed: for each result that is in place the names whose memory the update changes.
        The rest is an expression that calls the helper.
    """

    def __init__(self, program: Program):
        self.in_place: set[str] = set()
        self.copied: set[str] = set()
        self.repeating: set[str] = set()
        self.changed: dict[str, set[str]] = {}
        memory = Memory(program)
        last = liveness.last_reads(program.body, program.outputs())
        builder = Builder.of(program)
        for position, statement in enumerate(program.body):
            if form.is_effect(statement) or form.function_of(statement) is not runtime.index_add:
                continue
            name = form.target(statement)
            base, value = statement.value.args
            if not _updatable(program, base, value):
                continue
            rule, _, params = builder.definitions[name]
            if rule.may_repeat(params["index"], builder):
                self.repeating.add(name)
            sharing = memory.sharing(base.id)
            free = all(last.get(each, -1) <= position for each in sharing)
            if memory.owns(base.id) and free and _reads_once(statement, base.id):
                self.in_place.add(name)
                self.changed[name] = set(sharing)
                memory.share(name, base)
            else:
                self.copied.add(name)

    def __contains__(self, name: str) -> bool:
        return name in self.in_place or name in self.copied


def _updatable(program: Program, base: gast.AST, value: gast.AST) -> bool:
    """An array whose dtype can take the value."""
    fact = program.facts.get(getattr(base, "id", None))
    if not isinstance(fact, values.Array) or not fact.shape or fact.dtype is None:
        return False
    if isinstance(value, gast.Constant):
        return values.is_inexact(fact) is True
    dtype = values.strong_dtype(program.facts[value.id])
    weak = isinstance(program.facts[value.id], values.Scalar)
    return weak or (dtype is not None and np.can_cast(dtype, fact.dtype, "same_kind"))


def _reads_once(statement: gast.Assign, name: str) -> bool:
    return form.reads(statement).count(name) == 1
