"""What every backend starts from: functions whose copies and updates in place are decided.

The text for NumPy (`emit.write`) and the loops for Numba (`native.module`) are written from these:
neither has an alias analysis of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from keyword import iskeyword
from typing import Any

import gast

from s2s_ad.analysis import liveness
from s2s_ad.analysis.described import Described
from s2s_ad.core import form
from s2s_ad.core.callee import Callee, item_of, reached
from s2s_ad.core.callers import Caller
from s2s_ad.core.passes import STORES, tell
from s2s_ad.core.program import TEMPORARY, Program
from s2s_ad.core.regions import map_blocks
from s2s_ad.core.tree import Tree
from s2s_ad.emit.alpha_renaming import apart
from s2s_ad.emit.stores import Store, plan_stores


@dataclass(frozen=True)
class Ready:
    """A function whose copies and updates in place are decided.

    Attributes:
        known: the names that it had before.
        parts: a name of a list -> (what an item of it is called, the list of tuples with it).
    """

    program: Program
    stores: Mapping[str, Store]
    known: frozenset[str]
    parts: Mapping[str, tuple[str, str]] = field(default_factory=dict)


Functions = dict[Any, Ready]  # by what is called; None: the program itself


def as_it_is(program: Program) -> Program:
    return program


def ready_functions(
    program: Program, by_parts: bool = True, change: Callable[[Program], Program] = as_it_is
) -> tuple[Functions, set]:
    """The program and all functions that it comes to, and those that others call too.

    Args:
        change: what a backend makes of each before that is decided: with inputs, outputs and calls
            as they are.
    """
    functions: Functions = {None: _ready(change(program), by_parts)}
    opened: set = {None}
    for each in reached((program,)):
        if isinstance(each, Caller):
            each = each.callee
            opened.add(each)
        if isinstance(each, Callee):
            functions[each] = _ready(change(each.program), by_parts)
            if each.is_recursive or each.program.part:
                opened.add(each)
    return functions, opened


def _ready(program: Program, by_parts: bool = True) -> Ready:
    """A function with copies and updates in place."""
    program = apart(_without_keywords(_with_value_names(program)))
    known = frozenset(program.facts)
    stored, stores = plan_stores(program, by_parts=by_parts)
    tell(STORES, program, stored)
    return Ready(stored, stores, known)


def _without_keywords(program: Program) -> Program:
    """Hints that Python cannot have as names count as none."""
    made = map_blocks(program, _without_keywords)
    if not any(iskeyword(hint.text) for hint in made.hints.values()):
        return made
    nameless = {"text": "", "kind": "temporary"}
    hints = {n: replace(h, **nameless) if iskeyword(h.text) else h for n, h in made.hints.items()}
    return made.with_(hints=hints)


def _with_value_names(program: Program) -> Program:
    """Outputs among several that have no name are called `value`, unless they are saved ones.

    Others may stand in the return, unless that would compute a value after its derivatives.
    """
    if not isinstance(program.output, Tree):
        return program
    hints, described = dict(program.hints), Described(program)
    counts = liveness.counts(program.body, program.outputs())
    made = {each.target: each for each in program.body if isinstance(each, form.Op)}
    backward = any(each.phase == "backward" for each in program.body)
    own = len(program.outputs()) - program.kept
    for index, atom in enumerate(program.outputs()):
        hint = hints.get(getattr(atom, "id", ""), TEMPORARY)  # a pass may have made the name
        if isinstance(atom, gast.Name) and not hint.text:
            statement = made.get(atom.id)
            if statement is not None and statement.rule.copy:
                inner = hints.get(statement.operands[0].id)
                text = f"{inner.text}_copy" if inner and inner.text else "copied"
            elif backward or counts[atom.id] > 1 or statement is None or item_of(statement):
                words = (described.text(atom.id), described.kind(atom.id), "value")
                text = "value" if index < own else next(filter(None, words))
            else:
                continue
            hints[atom.id] = replace(hint, text=text, kind="derived", of="")
    return program.with_(hints=hints)
