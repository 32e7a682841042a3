"""Readable names: the user's own, their adjoints, and words for what has no name yet."""

from __future__ import annotations

import builtins
import keyword
from collections.abc import Iterable
from typing import Any

import gast

from s2s_ad.core import form
from s2s_ad.core.program import TEMPORARY, Hint, Program
from s2s_ad.emit.refold import Line

WORDS = {
    gast.Add: "total",
    gast.BinOp: "value",
    gast.Compare: "mask",
    gast.Div: "ratio",
    gast.MatMult: "product",
    gast.Mult: "product",
    gast.Pow: "power",
    gast.Sub: "difference",
    gast.UnaryOp: "negated",
}
LONGEST = 20


class Naming:
    """Gives each Core name of the lines a name; a name is used again where the old value is dead.

    Args:
        reserved: names that mean something else in the module.
        captured: what captured names are called in the module; new ones are entered.
        elsewhere: names that mean something else in other functions of the module; a captured name,
            which is the same in all of them, leaves these alone too.
    """

    def __init__(
        self,
        program: Program,
        lines: list[Line],
        output: Any,
        reserved: Iterable[str],
        captured: dict[str, str],
        elsewhere: Iterable[str] = (),
    ):
        self.program = program
        self.reserved = set(reserved)
        self.shown: dict[str, str] = {}
        self.holder: dict[str, str] = {}
        self.groups = {line.name: line.expression.id for line in lines if line.kind == "alias"}
        self.last = self._last_reads(lines, output)
        self.best = self._best_hints(lines)
        self.users = {hint.text for hint in program.hints.values() if hint.kind == "user"}
        self._name_captures(program, captured, len(lines) + 1, {*elsewhere})
        for position, line in enumerate(lines):
            self._name_line(position, line)

    @property
    def discarded(self) -> str:
        """Where an output goes that nobody reads: `_`, unless that is a name of the user's."""
        candidate = "_"
        while candidate in self.holder:
            candidate += "_"
        return candidate

    def _name_captures(
        self, program: Program, captured: dict[str, str], end: int, elsewhere: set[str]
    ) -> None:
        """Captured names are the module's: the same in each of its functions."""
        names = [each.name for each in program.captured()]
        self.last.update(dict.fromkeys(names, end))
        for name in names:
            if name in captured:
                self._take(name, captured[name])
        for name in program.leaves():
            self._take(name, self._free(program.hints[name].text, -1))
        own, self.reserved = self.reserved, self.reserved | elsewhere | {*captured.values()}
        for name in names:
            if name not in captured:
                captured[name] = self._free(program.hints[name].text, -1)
                self._take(name, captured[name])
        self.reserved = own

    def _last_reads(self, lines: list[Line], output: Any) -> dict[str, int]:
        last: dict[str, int] = {}
        for position, line in enumerate(lines):
            for node in (line.expression, line.index):
                if node is not None:
                    last.update({self._group(each): position for each in form.reads(node)})
            if line.kind in ("store", "alias"):
                last[self._group(line.name)] = position
        final = {self._group(each): len(lines) for each in form.reads(output)}
        return last | final

    def _best_hints(self, lines: list[Line]) -> dict[str, Hint]:
        """For each variable the best of the hints of the values that it holds in turn."""
        order = ("user", "derived", "temporary")
        best: dict[str, Hint] = {}
        for line in lines:
            hint = self.program.hints.get(line.name, TEMPORARY)
            group = self._group(line.name)
            if order.index(hint.kind) < order.index(best.get(group, TEMPORARY).kind):
                best[group] = hint
        return best

    def _group(self, name: str) -> str:
        """The first of the names that are one variable in the text."""
        while name in self.groups:
            name = self.groups[name]
        return name

    def _name_line(self, position: int, line: Line) -> None:
        if line.kind == "alias":
            self.shown[line.name] = self.shown[line.expression.id]
        elif line.kind == "assign":
            hint = self.best.get(self._group(line.name), TEMPORARY)
            text = hint.text or self._word(line.expression)
            self._take(line.name, self._free(text, position, hint.kind, bool(hint.text)))
        elif line.kind == "unpack":
            for name in filter(None, line.names):
                hint = self.program.hints.get(name, TEMPORARY)
                text = hint.text or "value"
                self._take(name, self._free(text, position, hint.kind, bool(hint.text)))
        elif line.kind == "effect":
            self._name_bound(line)

    def _name_bound(self, line: Line) -> None:
        """The loop variables of a batched effect, and those of comprehensions in it."""
        for node in gast.walk(line.expression):
            if isinstance(node, gast.Name) and isinstance(node.ctx, gast.Store):
                hint = self.program.hints.get(node.id, TEMPORARY)
                self._take(node.id, self._free(hint.text or "sample", 0))

    def _take(self, name: str, shown: str) -> None:
        self.shown[name] = shown
        self.holder[shown] = name

    def _free(self, text: str, position: int, kind: str = "user", again: bool = True) -> str:
        """`text`, or `text_2` ... where it means something else at this place."""
        candidate, count = text, 2
        while not self._may_take(candidate, position, kind, again):
            candidate, count = f"{text}_{count}", count + 1
        return candidate

    def _may_take(self, name: str, position: int, kind: str, again: bool) -> bool:
        if name in self.reserved or keyword.iskeyword(name) or not name.isidentifier():
            return False
        if kind != "user" and (name in self.users or hasattr(builtins, name)):
            return False
        if name not in self.holder:
            return True
        return again and self.last.get(self._group(self.holder[name]), -1) <= position > -1

    def _word(self, expression: gast.AST) -> str:
        """A name for a value that has none, from what computes it."""
        if isinstance(expression, gast.Call):
            function = expression.func
            label = getattr(function, "attr", getattr(function, "id", "value"))
            first = expression.args[0] if expression.args else getattr(function, "value", None)
            if label in ("einsum", "contract") or not label.isidentifier():
                return "product"
            return self._joined(label, first)
        if isinstance(expression, gast.Subscript):
            return self._joined("part", expression.value)
        if isinstance(expression, gast.Attribute):
            return self._joined(expression.attr, expression.value)
        if isinstance(expression, gast.BinOp):
            return WORDS.get(type(expression.op), "value")
        return WORDS.get(type(expression), "value")

    def _joined(self, label: str, node: gast.AST | None) -> str:
        shown = self.shown.get(node.id, "") if isinstance(node, gast.Name) else ""
        joined = f"{label}_{shown}" if shown else label
        return joined if len(joined) <= LONGEST else label

    def renamed(self, node: Any) -> Any:
        """The tree with Core names replaced by the names shown."""
        if isinstance(node, gast.Name):
            context = type(node.ctx)
            return form.name(self.shown.get(node.id, node.id), context)
        if isinstance(node, list):
            return [self.renamed(item) for item in node]
        if isinstance(node, gast.Constant) or not isinstance(node, gast.AST):
            return node
        fields = {name: self.renamed(getattr(node, name, None)) for name in node._fields}
        return type(node)(**fields)
