"""Calls of functions that keep their name: operations whose function is a Program."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import gast

from s2s_ad.core import form, tree, values
from s2s_ad.core.builder import Builder, Symbol
from s2s_ad.core.program import Program
from s2s_ad.core.registry import Rule


class Callee(Rule):
    """A Program as the function of an operation; its operands are the program's leaves.

    With several outputs the result is a tuple, which `ITEM` takes apart. What the transforms
    derive from it is remembered in `derived`, so that each form is made once.
    """

    def __init__(self, program: Program):
        super().__init__(self, program.name)
        self.program = program
        self.derived: dict[Any, Any] = {}
        self.effects = any(has_effect(statement) for statement in program.body)

    @property
    def several(self) -> bool:
        return isinstance(self.program.output, tree.Tree)

    def infer(self, operands: list, params: dict[str, Any]) -> Any:
        return tree.tree_map(self.program.fact, self.program.output)

    def call(self, builder: Builder, operands: Sequence[Any]) -> list:
        """Emit a call; returns the value of each output."""
        result = builder.emit(self, list(operands), {})
        return self.items(builder, result)

    def items(self, builder: Builder, result: Symbol) -> list:
        if not self.several:
            return [result]
        count = len(self.program.output.items)
        return [builder.emit(ITEM, [result], {"index": index}) for index in range(count)]


class Item(Rule):
    """One output of a call with several."""

    def __init__(self) -> None:
        super().__init__(self, "item")

    def infer(self, operands: list, params: dict[str, Any]) -> values.AbstractValue:
        return operands[0].items[params["index"]]


ITEM = Item()


def has_effect(statement: form.Statement) -> bool:
    """Whether the statement does more than to compute a value."""
    if form.is_effect(statement):
        return True
    function = form.function_of(statement)
    return isinstance(function, Callee) and function.effects


def callee_of(statement: form.Statement) -> Callee | None:
    """The function of a call that keeps its name."""
    if form.is_effect(statement):
        return None
    function = form.function_of(statement)
    return function if isinstance(function, Callee) else None


def captured_names(statement: form.Statement) -> list[str]:
    """The captured names that the statement reads inside the function that it calls."""
    call = callee_of(statement)
    return [] if call is None else [each.name for each in call.program.captured()]


def item_of(statement: form.Statement) -> tuple[str, int] | None:
    """(result, index) where the statement takes an output of a call."""
    if form.is_effect(statement) or form.function_of(statement) is not ITEM:
        return None
    operand: gast.AST = statement.value.args[0]
    return operand.id, statement.value.keywords[0].value.value


def items_of(program: Program) -> dict[str, dict[int, str]]:
    """For each call with several outputs the name of each output that is used."""
    found: dict[str, dict[int, str]] = {}
    for statement in program.body:
        item = item_of(statement)
        if item is not None:
            found.setdefault(item[0], {})[item[1]] = form.target(statement)
    return found
