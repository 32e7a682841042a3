"""Lists that functions are given for good: whoever calls does not read them again.

A backward pass pops what its forward pass has saved. Where the list is nobody else's by then, it
need not be copied first.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import gast

from s2s_ad import runtime
from s2s_ad.analysis import liveness
from s2s_ad.core import form, values
from s2s_ad.core.callee import Callee, compound_of, item_of, reached
from s2s_ad.core.program import Program
from s2s_ad.core.regions import Branch, Loop, Region

HandedOver = dict[int, frozenset[str]]  # by the id of a function: the leaves that are its own


def handed_over(program: Program) -> HandedOver:
    """The lists that each function that a program comes to is given for good."""
    functions = [each for each in reached((program,)) if type(each) is Callee]
    if not any(map(_takes_lists, functions)):
        return {}
    found: HandedOver = {}
    while True:  # what a function is given for good it can hand on
        walk = _Walk(found)
        walk.block(program, ())
        for each in reached((program,)):
            if not isinstance(each, Region):
                for block in each.blocks:
                    walk.block(block, found.get(id(each), ()))
        new = {
            id(each): walk.given[id(each)] - walk.kept[id(each)]
            for each in functions
            if id(each) in walk.given and not each.is_recursive
        }
        if new == found:
            return found
        found = new


def _takes_lists(function: Callee) -> bool:
    program = function.program
    return any(isinstance(program.facts[leaf], values.List) for leaf in program.leaves())


class _Walk:
    """Looks at each call, and at what is known of the lists that it is given.

    Attributes:
        given, kept: by the id of a function: the leaves that are lists of which this is the only
            name at some call, and those of which that is not certain at some call.
    """

    def __init__(self, known: HandedOver):
        self.known = known
        self.given: dict[int, frozenset[str]] = {}
        self.kept: dict[int, frozenset[str]] = {}
        self._results: dict[int, list[bool]] = {}

    def results(self, call: Callee) -> list[bool]:
        """Which outputs of a function are the only names of lists, and of the lists in these."""
        if id(call) not in self._results:
            self._results[id(call)] = []  # of one that calls itself nothing is known
            own = self.known.get(id(call), ())
            self._results[id(call)] = self.block(call.program, own)
        return self._results[id(call)]

    def block(self, block: Program, own: Iterable[str]) -> list[bool]:
        """Walk a block; `own` are leaves that are the only names of lists. Says so of outputs."""
        names = _Names(block, own)
        for statement in block.body:
            if isinstance(statement, form.Effect):
                continue
            compound, args = compound_of(statement), statement.operands
            flags = [names.is_own(each) for each in args]
            if isinstance(compound, Region):
                names.ends[statement.target] = self._region(compound, args, flags)
            elif type(compound) is Callee:
                self._call(compound, block, args, flags)
                names.ends[statement.target] = self.results(compound)
            else:
                names.enter(statement, flags)
        return [names.is_own(each) for each in block.outputs()]

    def _call(
        self, call: Callee, block: Program, args: Sequence[gast.AST], own: list[bool]
    ) -> None:
        leaves = call.program.leaves()
        triples = zip(leaves, args, own, strict=True)
        lists = [(leaf, flag) for leaf, arg, flag in triples if _is_list(block.fact(arg))]
        before = self.given.get(id(call), frozenset()), self.kept.get(id(call), frozenset())
        self.given[id(call)] = before[0] | {leaf for leaf, flag in lists if flag}
        self.kept[id(call)] = before[1] | {leaf for leaf, flag in lists if not flag}

    def _region(self, region: Region, args: Sequence[gast.AST], own: list[bool]) -> list[bool]:
        """Walk the blocks of a region; says which outputs are the only names of lists."""
        if isinstance(region, Branch):
            sides = [self.block(block, _chosen(block.leaves(), own[1:])) for block in region.blocks]
            return [all(each) for each in zip(*sides, strict=True)]
        if isinstance(region, Loop) and region.is_for and not region.exits:
            return self._loop(region, args, own)
        for block in region.blocks:
            self.block(block, ())
        return []

    def _loop(self, region: Loop, args: Sequence[gast.AST], own: list[bool]) -> list[bool]:
        """What is carried is the only name where it is so before the first pass, and after each."""
        leaves = region.leaves(region.body)
        first = len(args) - len(leaves.fixed) - len(leaves.carried)
        flags = own[first : first + len(leaves.carried)]
        while True:
            walk = _Walk(self.known)
            walk._results = self._results
            after = walk.block(region.body, _chosen(leaves.carried, flags))
            kept = [a and b for a, b in zip(flags, after, strict=False)]
            if kept == flags:
                break
            flags = kept
        for leaf, names in walk.given.items():
            self.given[leaf] = self.given.get(leaf, frozenset()) | names
        for leaf, names in walk.kept.items():
            self.kept[leaf] = self.kept.get(leaf, frozenset()) | names
        return flags


class _Names:
    """The names of a block that are the only ones of lists.

    Attributes:
        ends: by the result of a call or a region: which of its outputs are.
    """

    def __init__(self, block: Program, own: Iterable[str]):
        self.program, self.single = block, set(own)
        self.counts = liveness.counts(block.body, block.outputs())
        self.ends: dict[str, list[bool]] = {}

    def is_own(self, atom: Any) -> bool:
        """Whether the name is the only one of a list, and read once."""
        name = getattr(atom, "id", None)
        return name in self.single and self.counts[name] == 1

    def _is_free(self, atom: Any) -> bool:
        """Whether an item is no list that has another name."""
        fact = self.program.fact(atom)
        return self.is_own(atom) or not isinstance(fact, values.List | values.Unknown)

    def enter(self, statement: form.Op, flags: list[bool]) -> None:
        """Note what an operation makes, or takes of a result; `flags` are those of its operands."""
        function, args, item = statement.function, statement.operands, item_of(statement)
        name, fine = statement.target, False
        if item is not None:
            known = self.ends.get(item[0], [])
            fine = item[1] < len(known) and known[item[1]]
        elif function is runtime.list_of:
            fine = all(map(self._is_free, args))
        elif function is runtime.list_append:
            fine = flags[0] and self._is_free(args[1])
        elif function is runtime.list_pop:
            self.ends[name] = flags * 2
        if fine:
            self.single.add(name)


def _chosen(names: list[str], flags: list[bool]) -> list[str]:
    return [name for name, flag in zip(names, flags, strict=True) if flag]


def _is_list(fact: Any) -> bool:
    return isinstance(fact, values.List)
