"""Arrays that a function works in, made by who calls it: once for many calls."""

from __future__ import annotations

import copy
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

import gast

from s2s_ad.core import form
from s2s_ad.emit.printer import print_statements
from s2s_ad.emit.text import WIDTH
from s2s_ad.native.spelling import names_in


@dataclass(frozen=True)
class Rooms:
    """The arrays that a function is given to work in.

    Attributes:
        parameters: those that it has besides.
        made: the statements that make the arrays, by what the function calls its parameters.
        results: for each result of the function which of the arrays it is, None where it is none.
    """

    parameters: Sequence[str] = ()
    made: Sequence[gast.Assign] = ()
    results: Sequence[int | None] = ()

    def written(self, given: Sequence[str], taken: Collection[str]) -> tuple[list[str], list[str]]:
        """What the arrays are called by who calls, and the statements that make them there.

        Args:
            given: what is passed for the parameters, as text.
            taken: the names that stand for something else there.
        """
        names: list[str] = []
        passed = dict(zip(self.parameters, given, strict=True))
        lines = []
        for each in self.made:
            text, count = each.targets[0].id, 2
            while text in {*names, *taken}:
                text, count = f"{each.targets[0].id}_{count}", count + 1
            names.append(text)
            value = copy.deepcopy(each.value)
            for node in gast.walk(value):
                if isinstance(node, gast.Name):
                    node.id = passed.get(node.id, node.id)
            statement = gast.Assign([form.name(text, gast.Store)], value, None)
            lines.append(print_statements([statement], WIDTH).strip())
        return names, lines


def rooms_of(definition: gast.FunctionDef) -> Rooms:
    """The empty arrays of known lengths that a function makes: they become parameters.

    What such an array holds is not read before it is stored, so that another call may have left
    anything in it; and who calls has copied the results of a call before the next one.
    """
    parameters = [each.id for each in definition.args.args]
    assigned = [*_assigned(definition.body)]
    top = [each.targets[0].id for each in definition.body if _is_room(each)]
    made = [
        each
        for each in definition.body
        if _is_room(each)
        and not names_in(each.value) & {*assigned}
        and top.count(each.targets[0].id) == 1
        and each.targets[0].id not in parameters
    ]
    definition.body = [each for each in definition.body if not any(each is e for e in made)]
    definition.args.args += [form.name(each.targets[0].id, gast.Param) for each in made]
    return Rooms(parameters, made, _results(definition, [each.targets[0].id for each in made]))


def _results(definition: gast.FunctionDef, rooms: list[str]) -> list[int | None]:
    """Which of the arrays each result is; what is assigned to anew may be another one."""
    value = getattr(definition.body[-1], "value", None)
    results = value.elts if isinstance(value, gast.Tuple) else [value]
    assigned = {*_assigned(definition.body)}
    names = [getattr(each, "id", "") for each in results]
    return [rooms.index(each) if each in rooms and each not in assigned else None for each in names]


def _is_room(node: gast.stmt) -> bool:
    value = getattr(node, "value", None)
    is_plain = isinstance(node, gast.Assign) and isinstance(node.targets[0], gast.Name)
    return is_plain and isinstance(value, gast.Call) and getattr(value.func, "attr", "") == "empty"


def _assigned(body: Sequence[gast.stmt]) -> Iterator[str]:
    for statement in body:
        for each in gast.walk(statement):
            if isinstance(each, gast.Name) and isinstance(each.ctx, gast.Store):
                yield each.id
