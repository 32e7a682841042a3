"""What a loop carries at an index: what its passes do with it, and in which passes of another loop
an atom has the same value."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from itertools import starmap
from typing import Any

import gast

from s2s_ad import runtime
from s2s_ad.analysis import liveness
from s2s_ad.core import form, tree, values
from s2s_ad.core.callee import Compound, item_of
from s2s_ad.core.program import Program
from s2s_ad.core.regions import Loop


class Block:
    """A program with its definitions, and how often each name is read.

    Attributes:
        items: (call, index) by the name of each output of a call.
        names: the name of each of these; one of them where it has several.
        reads: how often each of these is read, by whatever name.
    """

    def __init__(self, program: Program):
        self.program, self.outputs = program, program.outputs()
        self.made = {each.target: each for each in program.body if isinstance(each, form.Op)}
        self.counts: Counter[str] = liveness.counts(program.body, self.outputs)
        self.items = {name: item for name, each in self.made.items() if (item := item_of(each))}
        self.names = {item: name for name, item in self.items.items()}
        self.reads: Counter[tuple[str, int]] = Counter()
        for name, item in self.items.items():
            self.reads[item] += self.counts[name]

    def maker(self, atom: Any) -> form.Op | None:
        """What computes an atom, if nothing else reads it."""
        name = getattr(atom, "id", "")
        return self.made.get(name) if self.counts[name] == 1 else None

    def slot_after(self, atom: Any) -> Slot | None:
        """What a loop carries of which an atom is the last value, if nothing else reads it."""
        item = self.items.get(getattr(atom, "id", ""))
        loop = self.made.get(item[0]) if item and self.reads[item] == 1 else None
        return Slot(self, *item) if item and loop and isinstance(loop.rule, Loop) else None

    def slot_from(self, name: str) -> Slot | None:
        """What a loop carries of which a name is the first value, if nothing else reads it."""
        reader = next((each for each in self.made.values() if name in each.reads), None)
        if reader is None or self.counts[name] != 1 or not isinstance(reader.rule, Loop):
            return None
        starts = [getattr(each, "id", "") for each in reader.rule.parts(reader.operands).carried]
        return Slot(self, reader.target, starts.index(name)) if name in starts else None


@dataclass(frozen=True)
class Slot:
    """What a loop in a block carries at an index."""

    block: Block
    name: str
    index: int

    @property
    def statement(self) -> form.Op:
        return self.block.made[self.name]

    @property
    def loop(self) -> Any:
        return self.statement.rule

    @property
    def start(self) -> gast.AST:
        return self.loop.parts(self.statement.operands).carried[self.index]

    @property
    def leaf(self) -> str:
        """Its name in the body."""
        return self.loop.leaves(self.loop.body).carried[self.index]

    @property
    def fact(self) -> Any:
        return self.loop.body.facts[self.leaf]

    @property
    def is_read(self) -> bool:
        """Whether anything reads what it is after the loop."""
        return bool(self.block.reads[self.name, self.index])

    def with_body(self, body: Program) -> form.Op:
        """The loop with this body, in which the leaf may be something else."""
        loop, fact = self.loop, body.facts[self.leaf]
        blocks = [_with_fact(e, loop.leaves(e).carried[self.index], fact) for e in loop.blocks[:-1]]
        facts = [*loop.facts[: self.index], fact, *loop.facts[self.index + 1 :]]
        made = loop.with_blocks([*blocks, body], facts)
        return self.statement.with_call(made, self.statement.operands)

    def replaced(self, statement: form.Op, *names: str) -> Program:
        """The block with this loop instead of its own; these names hold what it carries, too."""
        loop: Any = statement.rule
        program, fact = self.block.program, loop.facts[self.index]
        known = tree.leaves(program.facts[self.name])
        known[self.index] = fact
        own = (name for name, item in self.block.items.items() if item == (self.name, self.index))
        facts = dict.fromkeys((*own, *names), fact)
        facts = {**program.facts, **facts, self.name: tree.tuple_of(known)}
        body = [statement if each.target == self.name else each for each in program.body]
        return program.with_(body=tuple(body), facts=facts)


def appended(loop: Loop, index: int, body: Block | None = None) -> form.Op | None:
    """How each pass appends one item to a list that a loop carries, if it does no more with it.

    Args:
        body: that of the loop, if it is at hand.
    """
    body = body or Block(loop.body)
    leaf, made = loop.leaves(loop.body).carried[index], body.maker(body.outputs[index])
    if made is None or not made.rule.appends or body.counts[leaf] != 1:
        return None
    return made if getattr(made.operands[0], "id", "") == leaf else None


def taken_item(loop: Loop, index: int, body: Block | None = None) -> tuple[str, str, str] | None:
    """The names of (item and rest, the item, the rest) where each pass of a loop takes one item
    off a list that it carries, and does nothing else with it."""
    body = body or Block(loop.body)
    leaf, rest = loop.leaves(loop.body).carried[index], body.maker(body.outputs[index])
    item = None if rest is None else item_of(rest)
    pair = body.made.get(item[0]) if item and item[1] == 1 else None
    if rest is None or pair is None or pair.function is not runtime.list_pop:
        return None
    alone = pair.reads == (leaf,) and body.counts[leaf] == 1 and body.counts[pair.target] == 2
    first = body.names.get((pair.target, 0))
    return (pair.target, first, rest.target) if alone and first is not None else None


def _with_fact(program: Program, name: str, fact: values.AbstractValue) -> Program:
    return program.with_(facts={**program.facts, name: fact})


@dataclass(frozen=True)
class Corresponding:
    """Whether atoms of two blocks hold the same value.

    Attributes:
        around: the loops of which these are the bodies, and what corresponds around them. Those
            passes are compared that belong together: the one takes off a list what the other put
            there.
    """

    one: Block
    other: Block
    around: tuple[Slot, Slot, Corresponding] | None = None

    def __call__(self, a: gast.AST, b: gast.AST) -> bool:
        if not (isinstance(a, gast.Name) and isinstance(b, gast.Name)):
            known = isinstance(a, gast.Constant) and isinstance(b, gast.Constant)
            return known and type(a.value) is type(b.value) and a.value == b.value
        if self.around is None and a.id == b.id:
            return True
        one, other = self.one.made.get(a.id), self.other.made.get(b.id)
        if self.around is not None:
            fill, empty, alike = self.around
            if self._is_taken(fill, empty, a, other):
                return True
            if one is None and other is None:
                return self._are_given_alike(fill, empty, alike, a.id, b.id)
        return one is not None and other is not None and self._are_computed_alike(one, other)

    def _is_taken(self, one: Slot, other: Slot, a: gast.Name, item: form.Op | None) -> bool:
        """Whether an item of a list is what the other loop has put there."""
        taken = None if item is None else item_of(item)
        pop = self.other.made.get(taken[0]) if taken and taken[1] == 0 else None
        leaves = other.loop.leaves(other.loop.body).carried
        leaf = getattr(pop.operands[0], "id", "") if pop and pop.operands else ""
        if pop is None or leaf not in leaves:
            return False
        empty = Slot(other.block, other.name, leaves.index(leaf))
        fill = other.block.slot_after(empty.start)
        names = taken_item(other.loop, empty.index, self.other)
        if fill is None or fill.name != one.name or names is None or names[0] != pop.target:
            return False
        append = appended(one.loop, fill.index, self.one)
        return append is not None and getattr(append.operands[1], "id", "") == a.id

    def _are_computed_alike(self, one: form.Op, other: form.Op) -> bool:
        """Whether the results of operations are equal where their operands are."""
        rule, keys = one.rule, one.parameters.keys()
        if rule is not other.rule or rule.effects or rule.distinct or isinstance(rule, Compound):
            return False
        if keys != other.parameters.keys() or len(one.operands) != len(other.operands):
            return False
        pairs = [(one.parameters[key], other.parameters[key]) for key in keys]
        return all(starmap(self, [*pairs, *zip(one.operands, other.operands, strict=True)]))

    def _are_given_alike(
        self, one: Slot, other: Slot, alike: Corresponding, a: str, b: str
    ) -> bool:
        """Whether leaves hold the same value: what is fixed, or the index of the pass."""
        leaves = [each.loop.leaves(each.loop.body) for each in (one, other)]
        parts = [each.loop.parts(each.statement.operands) for each in (one, other)]
        if a in leaves[0].fixed and b in leaves[1].fixed:
            positions = leaves[0].fixed.index(a), leaves[1].fixed.index(b)
            return alike(*(own.fixed[i] for own, i in zip(parts, positions, strict=True)))
        if a not in leaves[0].bounds or b not in leaves[1].bounds:
            return False
        mirrored = one.loop.backwards != other.loop.backwards
        ends = one.loop.exits or other.loop.exits
        return mirrored and not ends and all(map(alike, parts[0].bounds, parts[1].bounds))
