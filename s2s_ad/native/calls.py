"""Calls of functions of the program, and operations with several results."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import gast

from s2s_ad.core import form
from s2s_ad.core.callee import Callee
from s2s_ad.core.saved import Unpack
from s2s_ad.emit.lines import Line
from s2s_ad.emit.provenance import with_origin
from s2s_ad.emit.ready import Ready
from s2s_ad.native.entries import dtype_of
from s2s_ad.native.indexing import layout_of, taken
from s2s_ad.native.nodes import (
    Length,
    ListNode,
    Node,
    NotNative,
    RowNode,
    SavedNode,
)
from s2s_ad.native.spelling import Expression, assign, field, name, number, plus
from s2s_ad.native.state import State, captured_by, is_passed
from s2s_ad.rules.unpacking import Unpack as Unpacking


class Calls(State):
    """Writes calls."""

    def _pack(self, call_: gast.Call, core: str, text: str) -> None:
        """Several values as one."""
        items = []
        for atom in call_.args:
            node = self._node(atom)
            if isinstance(node, Node):
                items.append(self._item(node, atom))
            elif isinstance(node, ListNode | SavedNode) and node.text:
                items.append(name(node.text))
            else:
                raise NotNative(f"{node!r} among what is saved")
        own = self.writer.fresh(text)
        self.writer.emit(assign(own, gast.Tuple(items, gast.Load())))
        self.nodes[core] = SavedNode(own)

    def _several(self, line: Line) -> None:
        """An operation with several results."""
        function = line.expression.func.value
        operands = [self._node(each) for each in line.expression.args]
        if isinstance(function, Unpacking):
            self._unpacked(line, operands[0])
            return
        if not isinstance(function, Unpack) or not isinstance(operands[0], SavedNode):
            raise NotNative(f"{getattr(function, '__name__', function)} has no native form")
        shown = [self.writer.fresh(self._text(e)) if e else "_" for e in line.names]
        target = gast.Tuple([form.name(each, gast.Store) for each in shown], gast.Store())
        self.writer.emit(assign(target, name(operands[0].text)))
        for core, text in zip(line.names, shown, strict=True):
            if core:
                self._enter(core, text)

    def _unpacked(self, line: Line, array_: Any) -> None:
        """a, b = x"""
        if isinstance(array_, RowNode):
            for part, core in enumerate(line.names):
                if core:
                    text = self.writer.fresh(self._text(core))
                    self.writer.emit(assign(text, field(name(array_.text), part)))
                    self._enter(core, text)
            return
        if not isinstance(array_, Node) or array_.rank == 0:
            raise NotNative("an unpacking of what is no array")
        count = len(line.names)
        self.writer.check_equal(array_.shape[0], Length(number(count), count))
        for index, core in enumerate(line.names):
            if core:
                layout = layout_of(self.writer, (index,), array_, array_.shape[1:])
                self._bind(core, taken(array_, layout), self._text(core))

    def _unpack(self, line: Line) -> None:
        """A call of a function of the program."""
        callee = line.expression.func.value
        if not isinstance(callee, Callee):
            self._several(line)
            return
        pairs = zip(line.expression.args, callee.program.leaves(), strict=True)
        alike = callee.is_recursive
        given = [self._argument(a, callee.program.facts[leaf], alike=alike) for a, leaf in pairs]
        given += [
            self._passed(self.nodes[each], fact, "captured") if is_passed(fact) else None
            for each, fact in captured_by(callee.program).items()
        ]
        self._settle()  # it may change lists and arrays that it is given
        arguments = [each for each in given if each is not None]
        if callee.is_recursive:
            depth = plus(name(self.depth), number(1)) if self.depth else number(0)
            arguments.append(depth)
        ready = self.alone(callee)
        made = (
            gast.Call(name(self.name_of(callee)), arguments, [])
            if ready is None
            else self._in_place(ready, arguments)
        )
        outputs = line.names if line.kind == "unpack" else (line.name,)
        shown = [self.writer.fresh(self._text(each)) if each else "_" for each in outputs]
        target: Any = shown[0]
        if len(outputs) > 1:
            target = gast.Tuple([form.name(each, gast.Store) for each in shown], gast.Store())
        self.writer.emit(assign(target, made))
        for core, text in zip(outputs, shown, strict=True):
            if core:
                self._enter(core, text)

    def _in_place(self, ready: Ready, given: Sequence[Expression]) -> Expression:
        """The statements of a function that is called here alone; gives what it returns."""
        inner = type(self)(ready, self.text, self.name_of, self.alone)
        inner.writer.taken = self.writer.taken  # no name means two things
        shown, returned = inner.open()
        for parameter, value in zip(shown, given, strict=True):
            self.writer.emit(assign(parameter, value))
        for statement in inner.writer.blocks[0]:
            with_origin(statement, getattr(statement, "origin", None), self.writer.place[1])
            self.writer.emit(statement)
        return returned[0] if len(returned) == 1 else gast.Tuple(returned, gast.Load())

    def _argument(self, atom: gast.AST, fact: Any, *, alike: bool) -> Expression | None:
        """What a function is given for a parameter; None where it knows that.

        Args:
            alike: arrays are given in the order of C, so that all calls are of one type.
        """
        node = self._node(atom)
        if not is_passed(fact):
            return None
        dtype = dtype_of(fact)
        if isinstance(node, Node) and dtype is not None:
            node = self.writer.cast(node, dtype)
        if isinstance(node, Node) and alike and node.rank:
            return self.writer.contiguous(node, self._text(atom)).whole()
        return self._passed(node, fact, self._text(atom))

    def _passed(self, node: Any, fact: Any, text: str) -> Expression:
        """A value as a function is given it."""
        if isinstance(node, ListNode):
            return name(self._as_list(node, fact).text)
        if isinstance(node, SavedNode):
            return name(node.text)
        if not isinstance(node, Node):
            raise NotNative(f"a function that is given {node!r}")
        return self.writer.whole(node, text)
