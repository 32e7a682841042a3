"""Names that are read for their truth alone: as conditions, never as numbers."""

from __future__ import annotations

import operator
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import gast

from s2s_ad.core import form, values
from s2s_ad.core.callee import item_of
from s2s_ad.core.program import Program
from s2s_ad.core.regions import Branch, Loop, Region, region_of


class Valued:
    """The names of a program, blocks included, that may be read for more than their truth.

    Any other value may be replaced by one of another type that has the same truth: what reads it,
    directly or by way of blocks and lists, is a condition.

    A name flows to others: the operands of a region to its leaves, the outputs of a block to those
    of the region. It is read as a number where one of those is. Names of several blocks that are
    spelled alike count as one.
    """

    def __init__(self, program: Program):
        self._sources: dict[str, list[str]] = {}  # name -> the names that flow to it
        self._results: dict[str, list[list[gast.AST]]] = {}  # a region's result -> output -> atoms
        self.names: set[str] = set()
        self._waiting: list[str] = []
        self._scan(program)
        self._read(program.outputs())
        while self._waiting:
            self._add(self._sources.get(self._waiting.pop(), ()))

    def __contains__(self, name: str) -> bool:
        return name in self.names

    def _add(self, names: Iterable[str]) -> None:
        new = [each for each in names if each not in self.names]
        self.names.update(new)
        self._waiting += new

    def _read(self, nodes: Iterable[Any]) -> None:
        for node in nodes:
            self._add(form.reads(node))

    def _flow(self, target: str, atoms: Iterable[gast.AST]) -> None:
        self._sources.setdefault(target, []).extend(_names(atoms))

    def _scan(self, program: Program) -> None:
        for statement in program.body:
            region, item = region_of(statement), item_of(statement)
            if isinstance(statement, form.Effect):
                self._read([statement])
            elif region is not None:
                self._scan_region(region, statement)
            elif item is not None:
                outputs = self._results.get(item[0])
                atoms = statement.operands if outputs is None else outputs[item[1]]
                self._flow(statement.target, atoms)
            elif statement.rule.hands_on or _is_of_truths(program, statement):
                self._flow(statement.target, statement.operands)
            elif statement.function is not operator.not_:
                self._read([statement])

    def _scan_region(self, region: Region, statement: form.Op) -> None:
        for block in region.blocks:
            self._scan(block)
        operands = statement.operands
        if isinstance(region, Loop):
            self._results[statement.target] = self._flows_of_loop(region, operands)
            return
        operands = operands[1:] if isinstance(region, Branch) else operands
        for block in region.blocks:
            for leaf, operand in zip(block.leaves(), operands, strict=True):
                self._flow(leaf, [operand])
        columns = zip(*(block.outputs() for block in region.blocks), strict=True)
        position = [] if isinstance(region, Branch) else [[]]  # which block of a `try` came to run
        self._results[statement.target] = [*map(list, columns), *position]

    def _flows_of_loop(self, loop: Loop, operands: Sequence[gast.AST]) -> list[list[gast.AST]]:
        parts, (ends, _) = loop.parts(operands), loop.results()
        self._read(parts.bounds)
        columns = [[start, end] for start, end in zip(parts.carried, ends, strict=True)]
        for block in loop.blocks:
            leaves = loop.leaves(block)
            given = [*columns, *([each] for each in parts.fixed)]
            for leaf, atoms in zip([*leaves.carried, *leaves.fixed], given, strict=True):
                self._flow(leaf, atoms)
        return columns


def _is_of_truths(program: Program, statement: form.Op) -> bool:
    """Whether it is `and` or `or` of truths, whose own truth alone it depends on."""
    facts = map(program.fact, statement.operands)
    return statement.rule.shared_truth is not None and all(map(values.is_truth, facts))


def _names(atoms: Iterable[gast.AST]) -> Iterator[str]:
    return (name for atom in atoms for name in form.reads(atom))
