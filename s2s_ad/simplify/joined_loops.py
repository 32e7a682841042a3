"""Loops that only keep values for a loop back: that one computes them in its own passes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import gast

from s2s_ad.analysis.slots import Block, appended, taken_item
from s2s_ad.core import form, tree
from s2s_ad.core.callee import has_effect, item_of
from s2s_ad.core.passes import Pass
from s2s_ad.core.program import Input, Program
from s2s_ad.core.regions import Loop, everywhere_inwards, region_of


def join_loops(program: Program) -> Program:
    """A loop whose passes do not depend on each other runs with the loop back that reads it.

    Nothing else reads what it computes: a sum over samples is not wanted beside its gradient.

    Example:
        >>> import numpy as np
        >>> from s2s_ad import grad
        >>> from s2s_ad.check.passes import after
        >>> def f(x):
        ...     total = 0.0
        ...     for row in x:
        ...         total += np.exp(row) @ row
        ...     return total
        >>> print(after(JOIN_LOOPS, grad(f), np.ones((3, 2))))
        f_grad(x: f64[n, m]):
            t1 = np.size(x, axis=0)
            t2 = list_of()
            t3 = broadcast_like(0.0, x)
            x_bar.3, _ = for t4 in reversed range(t1) with x_bar = t3, saved = t2:
                row = x[t4]
                t5 = np.exp(row)
                exp_row_bar = 1.0 * row
                t6 = 1.0 * t5
                t7 = exp_row_bar * t5
                row_bar = t6 + t7
                x_bar.2 = index_add(x_bar, row_bar, index=t4)
                next x_bar.2, saved
            return x_bar.3
    """
    while True:
        joined = next(_joined(program), None)
        if joined is None:
            return program
        program = joined


def _joined(program: Program) -> Iterator[Program]:
    """The program with a loop joined with the one that reads its lists."""
    ops = [each for each in program.body if isinstance(each, form.Op)]
    loops = {each.target: each for each in ops if isinstance(each.rule, Loop)}
    if len(loops) < 2:
        return
    block = Block(program)
    for back in loops.values():
        sources = [block.items[name][0] for name in back.reads if name in block.items]
        for source in dict.fromkeys(sources):
            if source in loops and back.phase == "backward":
                made = _Join(block, loops[source], back).program_made()
                if made is not None:
                    yield made


@dataclass(frozen=True, slots=True)
class _Join:
    """Two loops of a block, of which the second may take in the first."""

    block: Block
    first: form.Op
    back: form.Op

    def program_made(self) -> Program | None:
        """The program with one loop for the two; None where both have to stay."""
        first, back = self.first.rule, self.back.rule
        if not isinstance(first, Loop) or not isinstance(back, Loop):
            return None
        plain = all(each.is_for and not each.exits for each in (first, back))
        if not plain or not self._are_in_step(first, back):
            return None
        lists, lasting = self._lists(first, back), self._lasting(first, back)
        if lists is None or lasting is None or not (lists or lasting):
            return None
        if not self._is_all_read(lists, lasting):
            return None
        wanted = [*(each.value for each in lists), *lasting.values()]
        moved = _needed(first, wanted)
        if moved is None or not self._may_wait(first):
            return None
        return self._written(first, back, moved, lists, lasting)

    def _are_in_step(self, first: Loop, back: Loop) -> bool:
        """Whether the second makes the passes of the first, the last first."""
        bounds = first.parts(self.first.operands).bounds, back.parts(self.back.operands).bounds
        index = back.leaves(back.body).bounds[0]
        read = any(index in each.reads for each in back.body.body)
        return all(map(_is_same, *bounds)) and (first.backwards != back.backwards or not read)

    def _lists(self, first: Loop, back: Loop) -> list[_Kept] | None:
        """The lists that the one fills and the other empties; None where either does more."""
        found = []
        for place, start in enumerate(back.parts(self.back.operands).carried):
            source, index = self.block.items.get(getattr(start, "id", ""), ("", 0))
            if source != self.first.target:
                continue
            append = appended(first, index) if index < first.carried else None
            taken = taken_item(back, place)
            if append is None or taken is None or self.block.reads[self.back.target, place]:
                return None
            found.append(_Kept(index, place, append.operands[1], taken))
        return found

    def _lasting(self, first: Loop, back: Loop) -> dict[str, gast.AST] | None:
        """By the leaf of the second loop what is the same in all passes of the first; None where
        the second reads what is not."""
        found, outputs = {}, first.body.outputs()
        (index,) = first.leaves(first.body).bounds
        leaves, atoms = back.leaves(back.body).fixed, back.parts(self.back.operands).fixed
        for leaf, atom in zip(leaves, atoms, strict=True):
            source, place = self.block.items.get(getattr(atom, "id", ""), ("", 0))
            if source == self.first.target:
                needed = _needed(first, [outputs[place]])
                if needed is None or any(index in each.reads for each in needed):
                    return None
                found[leaf] = outputs[place]
        return found

    def _is_all_read(self, lists: list[_Kept], lasting: Mapping[str, gast.AST]) -> bool:
        """Whether nothing but the second loop reads what the first computes, each output once."""
        reads = self.block.reads.items()
        own = sum(count for item, count in reads if item[0] == self.first.target)
        return own == len(lists) + len(lasting)

    def _may_wait(self, first: Loop) -> bool:
        """Whether nobody sees that the first loop runs where the second stands: what it reads is
        not updated before."""
        fixed = {getattr(each, "id", "") for each in first.parts(self.first.operands).fixed}
        body = self.block.program.body
        for each in body[body.index(self.first) + 1 : body.index(self.back)]:
            if isinstance(each, form.Effect):
                return False
            changed = each.operands[:1] if each.rule.updates else ()
            if isinstance(each.rule, Loop):
                changed = each.rule.parts(each.operands).carried
            if any(getattr(atom, "id", None) in fixed for atom in changed):
                return False
        return True

    def _written(
        self,
        first: Loop,
        back: Loop,
        moved: list[form.Op],
        lists: list[_Kept],
        lasting: Mapping[str, gast.AST],
    ) -> Program | None:
        """The program with the statements of the first loop in the second."""
        called, more = self._leaves(first, back)
        moved = [form.substitute(each, called).at(each.origin, "backward") for each in moved]
        known = {leaf: form.substitute(value, called) for leaf, value in lasting.items()}
        known |= {each.taken[1]: form.substitute(each.value, called) for each in lists}
        body = _joined_body(
            moved, back.body, known, {name for each in lists for name in each.taken}
        )
        if body is None:
            return None
        operands, output = [*self.back.operands], [*back.body.outputs()]
        starts, leaves = first.parts(self.first.operands).carried, back.leaves(back.body).carried
        for each in lists:
            operands[3 + each.there] = starts[each.here]
            output[each.there] = form.name(leaves[each.there])
        before = zip(back.body.inputs, operands[2:], strict=True)  # an index, for three bounds
        kept = [pair for pair in before if pair[0].name not in lasting]
        kept += [(Input(leaf, leaf), atom) for leaf, atom in more.items()]
        captured = {each.name for each in back.body.captures}
        captures = (each for each in first.body.captures if each.name not in captured)
        block = back.body.with_(
            inputs=tuple(leaf for leaf, _ in kept),
            body=tuple(body),
            output=tree.tuple_of([form.substitute(each, known) for each in output]),
            facts=first.body.facts | back.body.facts,
            hints=first.body.hints | back.body.hints,
            captures=(*back.body.captures, *captures),
        )
        loop: Any = back.with_blocks([block])
        loop.backwards = not first.backwards
        atoms = [atom for _, atom in kept]
        return self._with_one(self.back.with_call(loop, [*operands[:2], *atoms]))

    def _leaves(self, first: Loop, back: Loop) -> tuple[dict, dict[str, gast.AST]]:
        """What the leaves of the first loop are called in the second, and those that it lacks,
        with their operands."""
        own, theirs = first.leaves(first.body), back.leaves(back.body)
        called: dict[str, gast.AST] = {own.bounds[0]: form.name(theirs.bounds[0])}
        atoms = back.parts(self.back.operands).fixed
        more = {}
        for leaf, atom in zip(own.fixed, first.parts(self.first.operands).fixed, strict=True):
            pairs = zip(theirs.fixed, atoms, strict=True)
            same = [name for name, each in pairs if _is_same(each, atom)]
            if same:
                called[leaf] = form.name(same[0])
            else:
                more[leaf] = atom
        return called, more

    def _with_one(self, joined: form.Op) -> Program:
        """The program with one loop in the place of the second, and none in that of the first."""
        kept = []
        for each in self.block.program.body:
            item = item_of(each)
            if each is not self.first and (item is None or item[0] != self.first.target):
                kept.append(joined if each is self.back else each)
        return self.block.program.with_(body=tuple(kept))


@dataclass(frozen=True, slots=True)
class _Kept:
    """A list that one loop fills and another empties.

    Attributes:
        here: its place among what the first loop carries.
        there: its place in the second.
        value: what a pass of the first appends.
        taken: what takes it off in the second, see `taken_item`.
    """

    here: int
    there: int
    value: gast.AST
    taken: tuple[str, str, str]


def _joined_body(
    moved: list[form.Op], back: Program, known: Mapping[str, gast.AST], gone: set[str]
) -> list[form.Statement] | None:
    """The statements that are moved, then those of a block that are not among them; None where
    one name is of two values."""
    made = {each.target: each for each in moved}
    body: list[form.Statement] = [*moved]
    for statement in back.body:
        each = form.substitute(statement, known) if statement.target not in gone else None
        if each is None:
            continue
        if each.target not in made:
            body.append(each)
        elif not _is_same(each.call, made[each.target].call):
            return None
    return body


def _needed(loop: Loop, atoms: list[gast.AST]) -> list[form.Op] | None:
    """What computes some values of a pass; None where that reads the pass before, or the pass
    does what has to be done where the loop stands."""
    carried, wanted = {*loop.leaves(loop.body).carried}, {*form.reads(atoms)}
    found: list[form.Op] = []
    for each in reversed(loop.body.body):
        if isinstance(each, form.Effect) or has_effect(each):
            return None
        if each.target in wanted:
            wanted.update(each.reads)
            found.append(each)
        elif each.waits or each.required or region_of(each) is not None:
            return None
    return None if wanted & carried else found[::-1]


def _is_same(one: gast.AST, other: gast.AST) -> bool:
    return gast.dump(one, show_empty=True) == gast.dump(other, show_empty=True)


JOIN_LOOPS = Pass("join-loops", everywhere_inwards(join_loops))
