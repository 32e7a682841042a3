"""Short helpers that one place calls are written there before the reverse sweep.

Each helper that keeps its name costs two calls, two returns and what the one hands to the other.
Where two places call it that is shorter than its text twice; where one does, and the helper is
short, its values are simply there.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Hashable, Iterator, Sequence
from dataclasses import replace
from typing import Any

import gast

from s2s_ad.analysis import activity
from s2s_ad.core import form, tree, values
from s2s_ad.core.builder import Builder
from s2s_ad.core.callee import Callee, Compound, callee_of, reached
from s2s_ad.core.program import Hint, Program
from s2s_ad.core.regions import Attempt, Branch, Loop, everywhere, map_blocks, region_of
from s2s_ad.core.rule import ITEM
from s2s_ad.diagnostics import Origin
from s2s_ad.simplify.inlining import Writer

LONGEST = 10  # lines of the user's in a helper
SCREEN = 40  # lines of the user's in a function with helpers in it


def called_once_in_place(program: Program, wanted: Sequence[str]) -> Program:
    """The program in which a short helper that derivatives pass through is written where it is
    called, if that is one place."""
    sites = _sites(program)
    if not any(count == 1 for count in sites.values()):
        return program
    names = [atom.id for atom in program.outputs() if isinstance(atom, gast.Name)]
    active = activity.varied(program, wanted) & activity.useful(program, names)
    return _InPlace(sites, SCREEN - _count(program)).of(program, active)


def _sites(program: Program) -> Counter[int]:
    """By the id of each program that is called, in how many places of the text one like it is.

    A helper that is called with arguments of several kinds may be several functions, none of which
    saves the other's text.
    """
    blocks = _blocks(program)
    calls = (callee_of(each) for block in blocks for each in block.body)
    called = [call.program for call in calls if call is not None]
    several = Counter(each.origin for each in {id(each): each for each in called}.values())
    forms = {id(each): _form(each) if several[each.origin] > 1 else () for each in called}
    counts = Counter((each.origin, forms[id(each)]) for each in called)
    return Counter({id(each): counts[each.origin, forms[id(each)]] for each in called})


def _blocks(program: Program) -> list[Program]:
    return [program, *(each for inner in reached((program,)) for each in inner.blocks)]


def _form(program: Program) -> Hashable:
    """The operations of a function and its constants: functions of one text have them in common."""
    found: list[Hashable] = []
    for statement in (each for block in _blocks(program) for each in block.body):
        if isinstance(statement, form.Effect):
            continue
        rule = statement.rule
        found.append(type(rule) if isinstance(rule, Compound) else id(rule))
        for atom in (*statement.operands, *statement.parameters.values()):
            constants = (each for each in gast.walk(atom) if isinstance(each, gast.Constant))
            found += [repr(each.value) for each in constants]
    return tuple(found)


def _count(program: Program) -> int:
    return len({*_lines(program)})


def _lines(program: Program) -> Iterator[tuple[str, int]]:
    """The lines of the user's that a function is made of, its blocks too."""
    for statement in program.body:
        if statement.origin is not None:
            yield statement.origin.file, statement.origin.line
        region = region_of(statement)
        for block in () if region is None else region.blocks:
            yield from _lines(block)


def _may_be_left_out(program: Program, index: int, call: Callee) -> bool:
    """Whether a branch may give something else for what a steep helper returns: the backward pass
    of a call is not run then (`left_out`)."""
    if not (call.has_poles or call.overflows):
        return False
    found = {program.body[index].target}
    for each in program.body[index + 1 :]:
        if found.isdisjoint(each.reads):
            continue
        if isinstance(each.rule, Branch | Attempt):
            return True
        found.add(each.target)
    return False


class _InPlace:
    """Writes helpers where they are called.

    Args:
        sites: in how many places each program is called, by its id.
        room: how many lines more the function may have.
    """

    def __init__(self, sites: Counter[int], room: int):
        self.sites, self.room = sites, room

    def of(self, program: Program, active: Collection[str] | None = None) -> Program:
        """The program with helpers in place, where calls and blocks of `active` names are looked
        at; in blocks all are."""

        def inside(statement: form.Statement) -> bool:
            return active is None or statement.target in active

        body = [self._with_blocks(each, program) if inside(each) else each for each in program.body]
        program = program.with_body(body)
        chosen: dict[str, Callee] = {}
        for index, each in enumerate(program.body):
            call = callee_of(each)
            if call is not None and inside(each) and not _may_be_left_out(program, index, call):
                chosen |= {each.target: call} if self._takes(call) else {}
        return _Writer(self, chosen).whole(program) if chosen else program

    def _with_blocks(self, statement: form.Statement, program: Program) -> form.Statement:
        if isinstance(statement.rule, Loop):
            return statement
        alone = program.with_(body=(statement,))
        return map_blocks(alone, self.of).body[0]

    def _takes(self, call: Callee) -> bool:
        plain = type(call) is Callee and not call.is_stub and not call.is_recursive
        if not plain or self.sites[id(call.program)] != 1 or call.program.tried:
            return False
        lines = _count(call.program)
        if lines > min(LONGEST, self.room):
            return False
        self.room -= lines
        return True


class _Writer(Writer):
    """Writes the helpers that were chosen by the names of their results."""

    def __init__(self, places: _InPlace, chosen: dict[str, Callee]):
        super().__init__(Builder())
        self.places, self.chosen = places, chosen

    def takes(self, statement: form.Statement) -> Callee | None:
        return self.chosen.get(statement.target)

    def outputs_of(
        self, call: Callee, leaves: dict[str, Any], statement: form.Statement
    ) -> list[Any]:
        helper = _placed(self.places.of(call.program), statement.origin)
        self.captures += helper.captures
        _name_after_parameters(self.builder, helper, leaves)
        return tree.leaves(self.builder.splice(helper, leaves))


def _name_after_parameters(builder: Builder, helper: Program, leaves: dict[str, Any]) -> None:
    """What is computed for a helper is called as its parameter, where it has no other name."""
    for leaf, operand in leaves.items():
        rule, _, _ = builder.definition(operand)
        named = rule is None or rule.view or rule is ITEM
        if not named and not isinstance(builder.fact(operand), values.List):
            builder.named(operand, Hint(helper.hints[leaf].text, "temporary"))


def _placed(helper: Program, call: Origin | None) -> Program:
    """A helper of another file as the line that calls it."""
    if call is None or helper.origin is None or helper.origin.file == call.file:
        return helper

    def at_call(program: Program) -> Program:
        body = [
            each
            if each.origin is None
            else each.at(replace(each.origin, root=call.root), each.phase)
            for each in program.body
        ]
        return program.with_(body=tuple(body))

    return everywhere(at_call)(helper)
