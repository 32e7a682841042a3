"""Moves as they read best: none that nobody reads, values computed where they are moved to."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace

import gast

from s2s_ad.core import form
from s2s_ad.core.callee import has_effect
from s2s_ad.core.program import TEMPORARY, Hint
from s2s_ad.emit.coalesce import Liveness, Variables, flat
from s2s_ad.emit.refold import Line
from s2s_ad.emit.variables import is_undefined

LARGEST = 4  # operators in a value that is one of several on a line
MOST = 3  # values on one line


# ---- what nobody reads ---------------------------------------------------------------------------


def without_dead(lines: list[Line], inputs: Sequence[str], outputs: Iterable[str]) -> list[Line]:
    """The lines without assignments that nobody reads, as a flag that leaving a loop decides."""
    outputs = list(outputs)
    while True:
        live = Liveness(lines, inputs, outputs).after
        kept = _without_dead(lines, live)
        if kept is None:
            return lines
        lines = kept


def _without_dead(
    lines: list[Line], live: dict[int, set[str]], tried: bool = False
) -> list[Line] | None:
    """The lines that are left; None where these are all. What is `tried` may raise."""
    found, changed = [], False
    for line in lines:
        after = live.get(id(line), set())
        unread = line.kind == "assign" and line.name not in after
        if unread and not has_effect(line.statement):
            changed = True
            if not tried:
                continue
            line = replace(line, kind="effect", name="", expression=gast.Expr(line.expression))
        moves = [each for each in line.moves if each[0] in after]
        inside = tried or line.kind == "try"
        blocks = [_without_dead(each, live, inside) for each in line.blocks]
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
        for each in reversed(before):
            if each.kind != "assign" or has_effect(each.statement):
                break
            if each.name in targets and self._fits(each, targets[each.name]):
                values[each.name] = each.expression
                origin = each.statement
        if not values:
            return line
        before[:] = [each for each in before if each.name not in values or each.kind != "assign"]
        moves = [(name, values.get(getattr(atom, "id", None), atom)) for name, atom in line.moves]
        return replace(line, moves=moves, statement=origin)

    def _is_real(self, name: str, atom: gast.AST) -> bool:
        """Whether the move is seen in the text."""
        if is_undefined(atom):
            return False
        return self.variables.of(getattr(atom, "id", "")) != self.variables.of(name)

    def _fits(self, line: Line, target: str) -> bool:
        hint = self.hints.get(line.name, TEMPORARY)
        alike = hint.kind == "temporary" or hint.text == self.hints.get(target, TEMPORARY).text
        size = sum(isinstance(node, gast.expr) for node in gast.walk(line.expression))
        return alike and self.counts[line.name] == 1 and size <= 3 * LARGEST


# ---- what is not there on every path -------------------------------------------------------------


def unbound(lines: list[Line], variables: Variables, bound: Iterable[str]) -> set[str]:
    """The variables that are moved on where they may have no value yet.

    A name that a path does not have may be handed on as long as nobody reads it; but Python wants
    to see some value then.
    """
    found: set[str] = set()
    analysis = _Bound(variables, found)
    analysis.block(lines, frozenset(map(variables.of, bound)))
    return found


class _Bound:
    """Walks the paths with the variables that are certain to be bound; None: not reached."""

    def __init__(self, variables: Variables, found: set[str]):
        self.variables, self.found = variables, found
        self.leaving: list[list[frozenset[str]]] = []  # of each loop, where it is left

    def block(self, lines: Sequence[Line], bound: frozenset[str] | None) -> frozenset[str] | None:
        for line in lines:
            if bound is None:
                return None
            bound = self._line(line, bound)
        return bound

    def _line(self, line: Line, bound: frozenset[str]) -> frozenset[str] | None:
        if line.kind == "break":
            self.leaving[-1].append(bound)
            return None
        if line.kind == "if":
            return _met([self.block(each, bound) for each in line.blocks])
        if line.kind == "try":
            return _met([self.block(each, bound) for each in line.blocks])
        if line.kind in ("for", "while"):
            return self._loop(line, bound)
        if line.kind == "moves":
            return self._moves(line, bound)
        if line.kind == "store" and isinstance(line.expression, gast.Name):
            self.found.update({self.variables.of(line.expression.id)} - bound)  # kept, not read
        return bound.union(map(self.variables.of, line.assigns()))

    def _moves(self, line: Line, bound: frozenset[str]) -> frozenset[str]:
        made = set()
        for name, atom in line.moves:
            target = self.variables.of(name)
            sources = {self.variables.of(each) for each in form.reads(atom)} - {target}
            self.found.update(sources - bound)
            if not is_undefined(atom) and getattr(atom, "id", None) is not None:
                made |= {target} if sources or target in bound else set()
            elif not is_undefined(atom):
                made.add(target)
        return bound | made

    def _loop(self, line: Line, bound: frozenset[str]) -> frozenset[str] | None:
        self.leaving.append([])
        if line.kind == "for":
            self.block(line.blocks[0], bound | {self.variables.of(line.name)})
            ends = [bound]
        else:
            test, body = line.blocks
            tested = self.block(test, bound)
            if tested is not None:
                self.block(body, tested)
            forever = isinstance(line.expression, gast.Constant) and line.expression.value is True
            ends = [] if forever else [tested]
        return _met([*ends, *self.leaving.pop()])


def _met(paths: Iterable[frozenset[str] | None]) -> frozenset[str] | None:
    """What is bound where paths meet."""
    reached = [each for each in paths if each is not None]
    return frozenset.intersection(*reached) if reached else None


__all__ = ["unbound", "with_values_in_moves", "without_dead"]
