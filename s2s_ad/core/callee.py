"""Operations with programs inside, and the calls of functions that keep their name."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import gast

from s2s_ad.core import form, tree
from s2s_ad.core.builder import Builder, Symbol
from s2s_ad.core.program import Program
from s2s_ad.core.registry import ITEM, Rule


class Compound(Rule):
    """An operation with programs inside: `blocks`.

    With several outputs the result is a tuple, which `ITEM` takes apart. What the transforms
    derive from it is remembered in `derived`, so that each form is made once.
    """

    def __init__(self, name: str, blocks: Sequence[Program]):
        super().__init__(self, name)
        self.blocks = tuple(blocks)
        self.derived: dict[Any, Any] = {}
        self.effects = any(has_effect(each) for block in self.blocks for each in block.body)

    @property
    def count(self) -> int | None:
        """The number of outputs where the result is a tuple; None where it is one value."""
        raise NotImplementedError

    @property
    def several(self) -> bool:
        return self.count is not None

    def call(self, builder: Builder, operands: Sequence[Any]) -> list:
        """Emit the operation; returns the value of each output."""
        result = builder.emit(self, list(operands), {})
        return self.items(builder, result)

    def items(self, builder: Builder, result: Symbol) -> list:
        if self.count is None:
            return [result]
        return [builder.emit_item(result, index) for index in range(self.count)]


class Callee(Compound):
    """A Program as the function of an operation; its operands are the program's leaves."""

    def __init__(self, program: Program):
        super().__init__(program.name, (program,))
        self.program = program

    @property
    def count(self) -> int | None:
        output = self.program.output
        return len(output.items) if isinstance(output, tree.Tree) else None

    def infer(self, operands: list, params: dict[str, Any]) -> Any:
        return tree.tree_map(self.program.fact, self.program.output)


def has_effect(statement: form.Statement) -> bool:
    """Whether the statement does more than to compute a value."""
    if form.is_effect(statement):
        return True
    function = form.function_of(statement)
    return isinstance(function, Rule) and function.effects


def compound_of(statement: form.Statement) -> Compound | None:
    """The function of an operation with programs inside."""
    if form.is_effect(statement):
        return None
    function = form.function_of(statement)
    return function if isinstance(function, Compound) else None


def callee_of(statement: form.Statement) -> Callee | None:
    """The function of a call that keeps its name."""
    if form.is_effect(statement):
        return None
    function = form.function_of(statement)
    return function if isinstance(function, Callee) else None


def captured_names(statement: form.Statement) -> list[str]:
    """The captured names that the statement reads inside the programs that it runs."""
    compound = compound_of(statement)
    blocks = () if compound is None else compound.blocks
    return [each.name for block in blocks for each in block.captured()]


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
