"""Moves as they read best: none that nobody reads, values computed where they are moved to."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import gast

from s2s_ad.core import form, values
from s2s_ad.core.callee import checks, has_effect, may_be_out_of_range
from s2s_ad.core.program import TEMPORARY, Hint
from s2s_ad.emit.coalesce import Variables
from s2s_ad.emit.folding import length_of
from s2s_ad.emit.lines import Line, flat
from s2s_ad.emit.live_ranges import Liveness
from s2s_ad.emit.sugar import called_on

Fact = Callable[[gast.AST], Any]  # the abstract value of an atom

LARGEST = 4  # operators in a value that is one of several on a line
MOST = 3  # values on one line


# ---- what nobody reads ---------------------------------------------------------------------------


def without_dead(
    lines: list[Line], inputs: Sequence[str], outputs: Iterable[str], fact: Fact
) -> list[Line]:
    """The lines without assignments that nobody reads, as a flag that leaving a loop decides."""
    outputs = list(outputs)
    while True:
        read = Liveness(lines, inputs, outputs).read_again
        kept = _without_dead(lines, read, fact)
        if kept is None:
            return lines
        lines = kept


def _without_dead(
    lines: list[Line], read: set[tuple[int, str]], fact: Fact, tried: bool = False
) -> list[Line] | None:
    """The lines that are left; None where these are all. What is `tried` may raise."""
    found, changed = [], False
    for line in lines:
        unread = line.kind == "assign" and (id(line), line.name) not in read
        if unread and not has_effect(line.statement):
            changed = True
            runs = tried or checks(line.statement, fact) or may_be_out_of_range(line.statement)
            if not runs:
                continue
            line = replace(line, kind="effect", name="", expression=gast.Expr(line.expression))
        moves = [each for each in line.moves if (id(line), each[0]) in read]
        inside = tried or line.kind == "try"
        blocks = [_without_dead(each, read, fact, inside) for each in line.blocks]
        if len(moves) < len(line.moves) or any(each is not None for each in blocks):
            changed = True
            pairs = zip(blocks, line.blocks, strict=True)
            kept = tuple(old if new is None else new for new, old in pairs)
            line = replace(line, moves=moves, blocks=kept)
        found.append(line)
    return found if changed else None


# ---- values that are moved at once ---------------------------------------------------------------


def with_values_in_moves(
    lines: list[Line], variables: Variables, outputs: Iterable[str], hints: dict[str, Hint]
) -> list[Line]:
    """Compute a value where it is moved, if several moves happen at once.

    Before: `c = a + b; a = b; b = c`; after: `a, b = b, a + b`.
    """
    counts = Counter(name for line in flat(lines) for name in line.reads())
    counts.update(outputs)
    return _Moves(variables, counts, hints).block(lines)


class _Moves:
    def __init__(self, variables: Variables, counts: Counter[str], hints: dict[str, Hint]):
        self.variables, self.counts, self.hints = variables, counts, hints

    def block(self, lines: list[Line]) -> list[Line]:
        found: list[Line] = []
        for line in lines:
            blocks = tuple(self.block(each) for each in line.blocks)
            line = replace(line, blocks=blocks) if blocks else line
            if line.kind == "moves":
                line = self._with_values(found, line)
            found.append(line)
        return found

    def _with_values(self, before: list[Line], line: Line) -> Line:
        """The moves with what the lines directly before compute for them; those lines go."""
        real = [each for each in line.moves if self._is_real(*each)]
        if len(real) > MOST:
            return line
        targets = {atom.id: name for name, atom in real if isinstance(atom, gast.Name)}
        values: dict[str, gast.AST] = {}
        folded = [*line.folded]
        first = len(before)
        for each in reversed(before):
            if each.kind != "assign" or has_effect(each.statement):
                break
            if each.name in targets and self._fits(each, targets[each.name]):
                values[each.name] = each.expression
                origin = each.statement
                folded += each.origins()
            first -= 1
        if not values:
            return line
        before[first:] = [each for each in before[first:] if each.name not in values]
        moves = [(name, values.get(getattr(atom, "id", ""), atom)) for name, atom in line.moves]
        return replace(line, moves=moves, statement=origin, folded=folded)

    def _is_real(self, name: str, atom: gast.AST) -> bool:
        """Whether the move is seen in the text."""
        if form.is_undefined(atom):
            return False
        return self.variables.of(getattr(atom, "id", "")) != self.variables.of(name)

    def _fits(self, line: Line, target: str) -> bool:
        hint = self.hints.get(line.name, TEMPORARY)
        alike = hint.kind == "temporary" or hint.text == self.hints.get(target, TEMPORARY).text
        size = sum(isinstance(node, gast.expr) for node in gast.walk(line.expression))
        return alike and self.counts[line.name] == 1 and size <= 3 * LARGEST


# ---- what is not there on every path -------------------------------------------------------------


def unbound(
    lines: list[Line], variables: Variables, bound: Iterable[str], kept: Iterable[gast.AST]
) -> set[str]:
    """The variables that are moved on, or `kept` at the end, where they may have no value yet.

    A name that a path does not have may be handed on as long as nobody reads it; but Python wants
    to see some value then.
    """
    found: set[str] = set()
    walk = _Bound(variables, found, bound)
    if walk.block(lines):
        at_the_end = {variables.of(name) for atom in kept for name in form.reads(atom)}
        found |= at_the_end - walk.bound
    return found


class _Bound:
    """Walks the paths with the variables that are certain to be bound.

    What a block binds is the end of `new`; its methods say whether the end of a block is reached.
    """

    def __init__(self, variables: Variables, found: set[str], bound: Iterable[str]):
        self.variables, self.found = variables, found
        self.bound = set(map(variables.of, bound))
        self.new: list[str] = []
        self.leaving: list[tuple[int, list[set[str]]]] = []  # of each loop, where it is left

    def _bind(self, variables: Iterable[str]) -> None:
        for each in variables:
            if each not in self.bound:
                self.bound.add(each)
                self.new.append(each)

    def _side(self, lines: Sequence[Line]) -> set[str] | None:
        """What a block binds, which is not bound after this; None where its end is not reached."""
        mark = len(self.new)
        reached = self.block(lines)
        made = self._since(mark)
        self._forget(mark)
        return made if reached else None

    def _since(self, mark: int) -> set[str]:
        return set(self.new[mark:])

    def _forget(self, mark: int) -> None:
        self.bound.difference_update(self.new[mark:])
        del self.new[mark:]

    def _meet(self, paths: Iterable[set[str] | None]) -> bool:
        """Go on with what is bound where paths meet."""
        reached = [each for each in paths if each is not None]
        if reached:
            self._bind(sorted(set.intersection(*reached)))
        return bool(reached)

    def block(self, lines: Sequence[Line]) -> bool:
        return all(self._line(line) for line in lines)

    def _line(self, line: Line) -> bool:
        if line.kind == "break":
            mark, paths = self.leaving[-1]
            paths.append(self._since(mark))
            return False
        if line.kind in ("if", "try"):
            return self._meet([self._side(each) for each in line.blocks])
        if line.kind in ("for", "while"):
            return self._loop(line)
        if line.kind == "moves":
            self._moves(line)
            return True
        if line.kind == "store":  # kept, not read
            items = getattr(line.expression, "elts", [line.expression])
            kept = {self.variables.of(each.id) for each in items if isinstance(each, gast.Name)}
            self.found.update(kept - self.bound)
        self._bind(map(self.variables.of, line.assigns()))
        return True

    def _moves(self, line: Line) -> None:
        made = []
        for name, atom in line.moves:
            target = self.variables.of(name)
            sources = {self.variables.of(each) for each in form.reads(atom)} - {target}
            self.found.update(sources - self.bound)
            if not form.is_undefined(atom) and getattr(atom, "id", None) is not None:
                made += [target] if sources or target in self.bound else []
            elif not form.is_undefined(atom):
                made.append(target)
        self._bind(made)

    def _loop(self, line: Line) -> bool:
        mark = len(self.new)
        self.leaving.append((mark, []))
        ends: list[set[str] | None] = []
        if line.kind == "for":
            self._bind([self.variables.of(line.name)])
            self._side(line.blocks[0])
            ends = [set()]
        else:
            test, body = line.blocks
            tested = self._since(mark) if self.block(test) else None
            if tested is not None:
                self._side(body)
            forever = isinstance(line.expression, gast.Constant) and line.expression.value is True
            ends = [] if forever else [tested]
        self._forget(mark)
        return self._meet([*ends, *self.leaving.pop()[1]])


# ---- tuples in lists -----------------------------------------------------------------------------


def with_pops_unpacked(lines: list[Line], outputs: Iterable[str]) -> list[Line]:
    """`a, b = steps.pop()` for `step = steps.pop()` and `a, b = step`, if that reads it alone."""
    counts = Counter(name for line in flat(lines) for name in line.reads())
    counts.update(outputs)
    return _with_pops_unpacked(lines, counts)


def _with_pops_unpacked(lines: list[Line], counts: Mapping[str, int]) -> list[Line]:
    found: list[Line] = []
    for line in lines:
        if line.blocks:
            blocks = tuple(_with_pops_unpacked(each, counts) for each in line.blocks)
            line = replace(line, blocks=blocks)
        whole = getattr(line.expression, "id", "") if line.kind == "unpack" else ""
        if whole and found and found[-1].name == whole and counts[whole] == 1:
            items = popped_from(found[-1])
            if items:
                pop = gast.Attribute(form.name(items), "pop", gast.Load())
                folded = [*line.folded, *found.pop().origins()]
                line = replace(line, expression=gast.Call(pop, [], []), folded=folded)
        found.append(line)
    return found


def popped_from(line: Line) -> str:
    """The list that a line takes its value off, if it does."""
    if line.store is not None and line.store.kind == "pop":
        return line.store.base
    return called_on(line.expression, "pop") if line.kind == "unpack" else ""


# ---- lengths -------------------------------------------------------------------------------------


def with_shapes_unpacked(lines: list[Line], facts: Mapping[str, Any]) -> list[Line]:
    """`H, W = x.shape` for the lines `H = len(x)` and `W = x.shape[1]`, where these follow."""
    found: list[Line] = []
    for run in _runs(lines):
        names, source = {axis: line.name for line, (_, axis) in run}, run[0][1][0]
        rank = values.rank_of(facts.get(source))
        if len(names) < len(run) or len(run) < 2 or rank is None:
            found += [line for line, _ in run]
            continue
        shape = gast.Attribute(form.name(source), "shape", gast.Load())
        targets = tuple(names.get(axis) for axis in range(rank))
        made = Line("unpack", run[0][0].statement, expression=shape, names=targets)
        made.folded = [origin for line, _ in run for origin in line.origins()]
        found.append(made)
    return [
        replace(line, blocks=tuple(with_shapes_unpacked(each, facts) for each in line.blocks))
        if line.blocks
        else line
        for line in found
    ]


def _runs(lines: list[Line]) -> Iterator[list[tuple[Line, tuple[str, int]]]]:
    """Lines that follow each other and read lengths of one array; others each alone."""
    run: list[tuple[Line, tuple[str, int]]] = []
    for line in lines:
        length = length_of(line.expression) if line.kind == "assign" else ("", 0)
        if run and (not length[0] or length[0] != run[0][1][0]):
            yield run
            run = []
        run.append((line, length))
    if run:
        yield run
