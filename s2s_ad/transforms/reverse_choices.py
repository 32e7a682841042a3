"""Reverse mode of branches, and of attempts: which of several blocks ran is known by then.

The forward pass hands over what each block's backward half needs; a value that another block does
not have is undefined there. The backward pass is a branch on the same condition. Where an operand
has an adjoint already, that goes into the blocks, and comes out with their contributions.

Where the adjoints of a branch's outputs are known before it runs, as those of what is returned are,
both sweeps over a block are one block. So of branches in branches, which a row of early returns is,
none hands over what those inside of it computed.
"""

from __future__ import annotations

import operator
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from typing import Any

import gast
import numpy as np

from s2s_ad import runtime
from s2s_ad.analysis import activity
from s2s_ad.core import form, tree, values
from s2s_ad.core.builder import Builder, Symbol, fresh_name, is_same
from s2s_ad.core.magnitudes import hand_in, is_steep, note_steep, relies, rely_on, stays_finite
from s2s_ad.core.parts import is_one_number
from s2s_ad.core.program import TEMPORARY, Hint, Program
from s2s_ad.core.regions import Attempt, Branch, Region, block, region_of
from s2s_ad.core.zero_paths import zero_paths
from s2s_ad.storage.costs import size
from s2s_ad.transforms import halves
from s2s_ad.transforms.chosen import chosen_of, selected_by
from s2s_ad.transforms.halves import Halves, adjoint_fact
from s2s_ad.transforms.small import described

Key = tuple[str, int]  # an operand of the backward pass: its kind, and which one of these
RAN: Key = ("ran", 0)  # the position of the block that ran


@dataclass
class Side:
    """One block: both sweeps over it, and its halves.

    Attributes:
        adjoints: by the leaf's position its adjoint, where the block contributes to it.
        entered: the leaf of each operand of the backward pass that the block knows.
    """

    block: Program
    sweep: Any
    adjoints: dict[int, Any]
    entered: dict[Key, Any]
    results: list = field(default_factory=list)


@dataclass(kw_only=True)
class Divided(Side):
    """A block of which the two halves are apart."""

    joint: Program
    halves: Halves


@dataclass
class Slot:
    """A value that the forward pass hands over; `names` says how each block calls it."""

    fact: values.AbstractValue
    hint: Hint
    names: dict[int, str] = field(default_factory=dict)


def reverse_choice(sweep: Any, statement: form.Op, region: Region, given: dict) -> list:
    """Write the backward pass of a branch or an attempt: what it adds to adjoints of names."""
    return Choice(sweep, statement, region, given).write()


class Choice:
    """The backward pass of one branch or attempt.

    Args:
        sweep: the sweep over the program that it stands in.
        given: the adjoints of its outputs.
    """

    def __init__(self, sweep: Any, statement: form.Op, region: Region, given: dict):
        self.outer, self.builder, self.region = sweep, sweep.builder, region
        self.result: Symbol = sweep.atoms[statement.target]
        own = statement.operands
        first = 1 if isinstance(region, Branch) else 0
        self.condition = [sweep.output(each) for each in own[:first]]
        self.args = own[first:]
        if isinstance(region, Attempt):
            self.ran = self.builder.emit_item(self.result, region.count - 1)
        useful = activity.useful_operands(region, frozenset(given))
        self.active = [
            index
            for index, each in enumerate(self.args)
            if sweep.name_of(each) in sweep.active and first + index in useful
        ]
        self.known: dict[Key, Any] = {
            ("leaf", index): sweep.output(each) for index, each in enumerate(self.args)
        }
        # the paths on which none of this runs: see `left_out`
        self.left_out = zero_paths(self.builder, given.values())
        self.alike: set[int] = set()  # outputs, lists, whose adjoint is one number for all items
        for index, adjoint in sorted(given.items()):
            output = self._output(index)
            if isinstance(self.builder.fact(output), values.List) and is_one_number(adjoint):
                self.alike.add(index)
                self.known["seed", index] = adjoint
            else:
                self.known["seed", index] = sweep.full(adjoint, output)

    def write(self) -> list[tuple[str, Any]]:
        """The names of operands, and their adjoints."""
        sums = self._take_sums()
        names = {key: fresh_name() for key in self.known if key[0] in ("seed", "sum")}
        self.at_once = self._is_known_before(names)
        sides = [self._swept(i, names) for i in range(len(self.region.blocks))]
        handed_on = self._handed_on(sides)
        if len(handed_on) < len(self.alike):
            for place in self.alike:
                seed = self.known["seed", place]
                self.known["seed", place] = self.outer.full(seed, self._output(place))
            self.alike, handed_on = set(), {}
            self.at_once = self._is_known_before(names)
            sides = [self._swept(i, names) for i in range(len(self.region.blocks))]
        sides = self._told_what_is_chosen(sides, names)
        if any(relies(side.sweep.builder) for side in sides):
            for key in names:
                rely_on(self.builder, self.known[key])
        self.outer.steep = any(is_steep(side.sweep.builder) for side in sides)
        if self.outer.steep:
            for key in names:
                note_steep(self.builder, self.known[key])
        changed = [p for p in self.active if any(p in side.adjoints for side in sides)]
        changed = [place for place in changed if place not in handed_on]
        unchanged = [(self.args[p].id, each) for p, each in sums.items() if p not in changed]
        unchanged += [(self.args[p].id, each) for p, each in handed_on.items()]
        if not changed:
            return unchanged
        outputs = [self._finish(side, changed) for side in sides]
        if self.at_once:
            adjoints = self._in_one(sides, outputs, changed)
        else:
            adjoints = self._in_two(sides, outputs)
        return unchanged + [
            (self.args[place].id, each) for place, each in zip(changed, adjoints, strict=True)
        ]

    def _told_what_is_chosen(self, sides: list[Side], names: dict[Key, str]) -> list[Side]:
        """The sides, swept once more where one is steep and an adjoint is a selection: they are
        given what says which elements it takes."""
        if not any(is_steep(side.sweep.builder) for side in sides):
            return sides
        mark, count = self.builder.mark(), len(names)
        for kind, index in [*names]:
            chosen = chosen_of(self.builder, self.known[kind, index]) if kind == "seed" else None
            whole = chosen is not None and isinstance(chosen.fact, values.Scalar)
            if chosen is not None and not (whole and self.left_out):
                self.known["chosen", index] = chosen
                names["chosen", index] = fresh_name()
        if len(names) == count:
            self.builder.undo(mark)
            return sides
        self.at_once = self._is_known_before(names)
        return [self._swept(i, names) for i in range(len(self.region.blocks))]

    def _is_known_before(self, adjoints: Collection[Key]) -> bool:
        """Whether nothing that the branch is given depends on what it computes."""
        given = [each for key in adjoints if isinstance(each := self.known[key], Symbol)]
        known = self.outer.at_once and isinstance(self.region, Branch)
        return known and all(each.name in self.outer.entered for each in given)

    def _take_sums(self) -> dict[int, Any]:
        """The adjoints that operands have already, by the position of the operand."""
        found = {}
        for place in self.active:
            name = self.args[place].id
            if name in self.outer.adjoints:
                adjoint = self.outer.adjoints.pop(name)
                found[place] = self.outer.full(adjoint, self.known["leaf", place])
                self.known["sum", place] = found[place]
        return found

    def _handed_on(self, sides: Sequence[Side]) -> dict[int, Any]:
        """The adjoints of operands, by position, that are those of outputs whatever side runs."""
        found = {}
        for output in self.alike:
            seeds = [side.entered.get(("seed", output)) for side in sides]
            for place in self.active:
                own = [side.adjoints.get(place) for side in sides]
                known = not values.missing(own) and not values.missing(seeds)
                if known and all(map(is_same, own, seeds)):
                    found[place] = self.known["seed", output]
        return found

    # ---- the sweeps over the blocks

    def _swept(self, number: int, names: dict[Key, str]) -> Side:
        builder, program = Builder(), self.region.blocks[number]
        leaves, atoms = program.leaves(), program.outputs()
        places = [place for kind, place in names if kind == "seed"]
        wanted = [leaves[place] for place in self.active]
        sweep = self.outer.inner(builder, program, wanted, places, at_once=self.at_once)
        sweep.passing.update(self._passing(program))
        sweep.forward_sweep()
        entered: dict[Key, Any] = {("leaf", i): Symbol(builder, x) for i, x in enumerate(leaves)}
        for key, name in names.items():
            kind, place = key
            primal = form.name(leaves[place]) if kind == "sum" else atoms[place]
            if kind == "chosen":
                entered[key] = builder.adopt(name, self.builder.fact(self.known[key]), TEMPORARY)
            elif isinstance(primal, gast.Name):
                entered[key] = self._enter(builder, program, primal.id, key, name)
        sweep.entered |= {each.name for each in entered.values() if isinstance(each, Symbol)}
        before = {place: entered.get(("sum", place)) for place in self.active}
        sweep.adjoints |= {leaves[p]: each for p, each in before.items() if each is not None}
        for place in places:
            if ("seed", place) in entered and not self._is_left_out(place, number):
                sweep.seed(atoms[place], self._selected(builder, entered, place))
        sweep.walk_back()
        after = {place: sweep.adjoints.get(leaves[place]) for place in self.active}
        adjoints = {place: each for place, each in after.items() if each is not before[place]}
        return Side(program, sweep, adjoints, entered)

    def _is_left_out(self, index: int, number: int) -> bool:
        """Whether the adjoint of an output is zero wherever that block ran."""
        where = zero_paths(self.builder, [self.known["seed", index]])
        if where is None:
            return False
        if isinstance(self.region, Branch):
            is_asked = getattr(self.condition[0], "name", None) == where.condition
            return is_asked and (where.then, where.orelse)[number] is True
        asked = self.builder.operands_of(Symbol(self.builder, where.condition), operator.eq)
        if not asked or not is_same(asked[0], self.ran):
            return False
        return (where.then if asked[1] == number else where.orelse) is True

    def _selected(self, builder: Builder, entered: dict[Key, Any], index: int) -> Any:
        """The adjoint of an output, written as the selection that it is known to be."""
        adjoint, chosen = entered["seed", index], entered.get(("chosen", index))
        if chosen is None:
            return adjoint
        with builder.at(self.builder.origin, "backward"):
            return selected_by(builder, chosen, adjoint)

    def _passing(self, program: Program) -> list[str]:
        """The leaves of a block, arrays, of which each pass of a loop around has others."""
        pairs = zip(program.leaves(), self.args, strict=True) if self.outer.repeated else ()
        return [
            leaf
            for leaf, each in pairs
            if isinstance(each, gast.Name) and each.id not in self.outer.at_hand
            if isinstance(program.facts[leaf], values.Array) and size(program.facts[leaf]) > 1
        ]

    def _enter(self, builder: Builder, program: Program, primal: str, key: Key, name: str) -> Any:
        """The leaf for an adjoint, of `primal`, that comes from outside; a number needs none."""
        value = self.known[key]
        if not isinstance(value, Symbol):
            return value
        hint = program.hints.get(primal, TEMPORARY).derived("_bar")
        hand_in(builder, [name], bounded=stays_finite(self.builder, value))
        alike = key[0] == "seed" and key[1] in self.alike
        fact = value.fact if alike else adjoint_fact(program.facts[primal], value.fact)
        return builder.adopt(name, fact, hint)

    def _finish(self, side: Side, changed: Sequence[int]) -> list:
        """All that the block computes, last the adjoints that it changes."""
        sweep, builder = side.sweep, side.sweep.builder
        with builder.at(side.block.origin, "backward"):
            side.results = [self._result(side, place) for place in changed]
        return [*map(sweep.output, side.block.outputs()), *side.results]

    def _result(self, side: Side, index: int) -> Any:
        """The adjoint of a leaf: what it was before where the block does not contribute."""
        before = side.entered.get(("sum", index), 0.0)
        return side.sweep.settled(side.block.leaves()[index], side.adjoints.get(index, before))

    # ---- both passes in one

    def _in_one(self, sides: Sequence[Side], outputs: list[list], changed: Sequence[int]) -> list:
        """The adjoints, from a branch that takes the place of the forward pass."""
        keys = [k for k, each in self.known.items() if k[0] == "leaf" or isinstance(each, Symbol)]
        pairs = zip(sides, outputs, strict=True)
        blocks = [self._whole_block(side, keys, results) for side, results in pairs]
        operands = [self.known[key] for key in keys]
        hints = [self.outer.described.hint(self.args[p].id) for p in changed]
        with self.outer.instead_of(self.result), self.builder.at(self.builder.origin, "backward"):
            self.outer.define(self.result.name, Branch(*blocks), [*self.condition, *operands])
            return [
                self.outer.take(self.result, self.region.count + i, hint.derived("_bar"))
                for i, hint in enumerate(hints)
            ]

    def _whole_block(self, side: Side, keys: Sequence[Key], results: list) -> Program:
        builder = side.sweep.builder
        leaves = [
            side.entered[key].name
            if isinstance(side.entered.get(key), Symbol)
            else builder.symbol(self.builder.fact(self.known[key])).name
            for key in keys
        ]
        return halves.swept(builder, side.block, results).with_(inputs=halves.leaves(leaves))

    # ---- a forward and a backward pass

    def _in_two(self, sides: Sequence[Side], outputs: list[list]) -> list:
        """The adjoints, from a backward pass, to which the forward pass hands what it needs."""
        divided = [self._halve(*pair) for pair in zip(sides, outputs, strict=True)]
        self._save(divided)
        return self._backward(divided)

    def _halve(self, side: Side, results: list) -> Divided:
        more = [
            each.name
            for (kind, _), each in side.entered.items()
            if kind != "leaf" and isinstance(each, Symbol)
        ]
        joint = halves.joint(side.sweep.builder, side.block, more, results)
        made = halves.halve(
            joint,
            side.results,
            around=side.sweep.passing,
            asked_again=_conditions(joint),
            repeated=self.outer.repeated,
        )
        return Divided(**vars(side), joint=described(joint, made.kept), halves=made)

    # ---- the forward pass

    def _save(self, sides: Sequence[Divided]) -> None:
        """Let the forward pass hand over what the backward halves need of it."""
        slots = self._slots(sides)
        if not slots and not any(side.halves.checks_again for side in sides):
            return
        blocks = [self._forward_block(i, side, slots) for i, side in enumerate(sides)]
        is_attempt = isinstance(self.region, Attempt)
        made = self.region.like(blocks)
        first = self.region.count - is_attempt  # the position of the block that ran stays last
        operands = [each for (kind, _), each in self.known.items() if kind == "leaf"]
        if is_attempt:
            self.outer.renumber(self.result, first, made.count - 1)
        with self.outer.instead_of(self.result):
            self.outer.define(self.result.name, made, [*self.condition, *operands])
            for i, slot in enumerate(slots):
                self.known["saved", i] = self.outer.take(self.result, first + i, slot.hint)

    def _slots(self, sides: Sequence[Divided]) -> list[Slot]:
        """What is handed over besides the outputs; values of one kind share a place in a list."""
        slots: list[Slot] = []
        for i, side in enumerate(sides):
            outputs = [side.sweep.output(atom) for atom in side.block.outputs()]
            names = [getattr(each, "name", None) for each in outputs]
            for name in side.halves.kept:
                if name in names:
                    index = names.index(name)
                    key, self.known[key] = ("output", index), self._output(index)
                else:
                    key = ("saved", self._slot(slots, i, side.joint, name))
                side.entered[key] = Symbol(side.sweep.builder, name)
        return slots

    def _output(self, index: int) -> Symbol:
        return self.builder.emit_item(self.result, index)

    def _slot(self, slots: list[Slot], side: int, joint: Program, name: str) -> int:
        """The index of a value among those handed over."""
        fact, hint = joint.facts[name], joint.hints.get(name, TEMPORARY)
        for index, slot in enumerate(slots):
            if self.outer.collected and side not in slot.names and _alike(slot.fact, fact):
                slot.names[side], slot.fact = name, values.join(slot.fact, fact)
                return index
        slots.append(Slot(fact, hint, {side: name}))
        return len(slots) - 1

    def _forward_block(self, index: int, side: Divided, slots: Sequence[Slot]) -> Program:
        writer = halves.writer(side.joint)
        writer.body += side.halves.early
        outputs = [side.sweep.output(atom) for atom in side.block.outputs()]
        for slot in slots:
            name = slot.names.get(index)
            outputs.append(Symbol(writer, name) if name else self._missing(writer, slot.fact))
        return halves.written(writer, side.joint, side.block.leaves(), outputs)

    def _missing(self, writer: Builder, fact: values.AbstractValue) -> Any:
        """What stands for a value that a block does not have."""
        if self.outer.collected and isinstance(fact, values.List):
            return writer.call(runtime.list_of, (), {})
        if self.outer.collected and values.shape_of(fact) == ():
            dtype = values.strong_dtype(fact)
            return 0.0 if dtype is None else dtype.type(0).item()
        return values.UNDEFINED

    # ---- the backward pass

    def _backward(self, sides: Sequence[Divided]) -> list:
        """The adjoints that the block that ran gives."""
        keys = [key for key in self.known if any(self._reads(side, key) for side in sides)]
        operands = [self.known[key] for key in keys]
        if isinstance(self.region, Branch):
            blocks = [self._backward_block(side, keys, operands) for side in sides]
            made = Branch(*blocks).judged_by(each for side in sides for each in side.results)
            return made.call(self.builder, [*self.condition, *operands])
        keys, operands = [RAN, *keys], [self.ran, *operands]
        ended = [i for i, side in enumerate(sides) if not any(map(form.raised, side.block.body))]
        blocks = {i: self._backward_block(sides[i], keys, operands) for i in ended or (0,)}
        return self._chain(self.builder, blocks, operands)

    def _reads(self, side: Divided, key: Key) -> bool:
        return getattr(side.entered.get(key), "name", None) in side.halves.read

    def _backward_block(
        self, side: Divided, keys: Sequence[Key], operands: Sequence[Any]
    ) -> Program:
        joint = side.joint.with_(tried=False)  # it runs behind the `try`
        writer = halves.writer(joint)
        writer.body += side.halves.late
        leaves = [
            side.entered[key].name
            if self._reads(side, key)
            else writer.symbol(self.builder.fact(value)).name
            for key, value in zip(keys, operands, strict=True)
        ]
        return halves.written(writer, joint, leaves, side.results)

    def _chain(self, builder: Builder, blocks: dict[int, Program], operands: list) -> list:
        """A branch for each block but the last, one in the other; the position comes first.

        Of the blocks, by their positions, those are there that may come to their end.
        """
        (ran, first), *others = blocks.items()
        if not others:
            return tree.leaves(
                builder.splice(first, dict(zip(first.leaves(), operands, strict=True)))
            )
        if len(others) == 1:
            orelse = others[0][1]
        else:
            inner, programs = Builder(), [program for _, program in others]
            leaves = [inner.symbol(builder.fact(each)) for each in operands]
            results = self._chain(inner, dict(others), leaves)
            captures = [each for program in programs for each in program.captures]
            inner.know_captures(programs)
            orelse = block(inner, [each.name for each in leaves], results, captures=captures)
        condition = builder.call(operator.eq, (operands[0], ran), {})
        return Branch(first, orelse).call(builder, [condition, *operands])


def _alike(a: values.AbstractValue, b: values.AbstractValue) -> bool:
    """Whether values are of one kind: numbers, or arrays, or lists."""
    return type(a) is type(b) and values.rank_of(a) == values.rank_of(b)


def _conditions(program: Program) -> set[str]:
    """The truths on which branches of a block decide.

    Of branches in branches each would hand the conditions inside on to the one around it, and they
    would need some value where they were not asked.
    """
    branches = (each for each in program.body if isinstance(region_of(each), Branch))
    names = (getattr(each.operands[0], "id", None) for each in branches)
    return {name for name in names if name in program.facts and _is_truth(program.facts[name])}


def _is_truth(fact: values.AbstractValue) -> bool:
    return values.shape_of(fact) == () and values.strong_dtype(fact) == np.dtype(bool)
