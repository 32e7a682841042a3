"""One function of a program as loop text: its statements in order, in branches and loops."""

from __future__ import annotations

import itertools
import operator
from collections import Counter
from collections.abc import Sequence
from typing import Any

import gast

from s2s_ad import runtime
from s2s_ad.core import form, tree, values
from s2s_ad.core.callee import Callee, is_watched
from s2s_ad.core.program import TEMPORARY
from s2s_ad.core.saved import PACK
from s2s_ad.emit.lines import Line, flat
from s2s_ad.emit.provenance import with_origin
from s2s_ad.native import rearranging, structures  # noqa: F401  (fill the table)
from s2s_ad.native.blocks import Blocks
from s2s_ad.native.calls import Calls
from s2s_ad.native.coalescing import coalesced
from s2s_ad.native.counted import counted
from s2s_ad.native.counters import counted_together
from s2s_ad.native.effects import Effects
from s2s_ad.native.entries import inner_of, names_in_atoms
from s2s_ad.native.fusion import fused
from s2s_ad.native.invariant import read_ahead
from s2s_ad.native.layouts import by_columns
from s2s_ad.native.lists import Lists
from s2s_ad.native.nests import nests_of
from s2s_ad.native.nodes import ListNode, Node, NotNative, SavedNode
from s2s_ad.native.operations import Operation, node_of_operation
from s2s_ad.native.order import reordered
from s2s_ad.native.reusing import reused
from s2s_ad.native.spelling import Expression, assign, compare, listed, name, number
from s2s_ad.native.stacks import stacks_of
from s2s_ad.native.state import captured_by, is_passed, known_now
from s2s_ad.native.stored import kept
from s2s_ad.native.stores import Stores
from s2s_ad.native.writer import node_of

#: calls of itself that a function may be in: what is deeper is left to NumPy, before the stack ends
DEEPEST = 200


class Function(Stores, Lists, Effects, Calls, Blocks):
    """Writes one function."""

    def write(self) -> gast.FunctionDef:
        """The definition.

        Raises:
            NotNative: something in it has no native form.
        """
        shown, returned = self.open()
        value = returned[0] if len(returned) == 1 else gast.Tuple(returned, gast.Load())
        return_ = with_origin(gast.Return(value), None)
        hints = self.program.hints
        telling = {
            own for core, own in self.shown.items() if hints.get(core, TEMPORARY).text == own
        }
        body = counted_together(coalesced([*self.writer.blocks[0], return_], shown, telling))
        body = fused(body, shown)
        body = reused(by_columns(reordered(body, shown), shown), shown)
        body = counted(read_ahead(kept(body, shown), shown))
        parameters = [form.name(each, gast.Param) for each in shown]
        none: list = []
        arguments = gast.arguments(parameters, none, None, none, none, None, none)
        return gast.FunctionDef(self.text, arguments, body, [], None, None, [])

    def open(self) -> tuple[list[str], list[Expression]]:
        """Write the statements; gives what the parameters are called, and what is returned."""
        program, writer = self.program, self.writer
        self.given: set[str] = set()  # the parameters that are arrays
        facts = {each: program.facts[each] for each in program.leaves()} | captured_by(program)
        shown = []
        for each, fact in facts.items():
            if is_passed(fact):
                shown.append(writer.fresh(self._text(each)))
                node = self.nodes[each] = self._parameter(each, shown[-1], fact)
                if isinstance(node, ListNode) or (isinstance(node, Node) and node.rank):
                    self.given.add(getattr(node, "text", shown[-1]))
            else:
                self.nodes[each] = known_now(fact.value)
        known = lambda dim: type(dim) is int or writer.size_text(dim.size) is not None  # noqa: E731
        escaped = [*facts, *names_in_atoms(self.output)]
        self.stacks = stacks_of(self.lines, escaped, program.facts, known)
        self.nests = nests_of(self.lines, escaped, program.facts, known)
        if self.depth:
            shown.append(self.depth)
            writer.refuse(compare(name(self.depth), gast.Gt, number(DEEPEST)))
        self._statements(self.lines, [*self.output])
        return shown, [self._returned(each) for each in self.output]

    def _parameter(self, core: str, text: str, fact: Any) -> Any:
        """What a parameter is; Python gives the items of a list as an array."""
        if isinstance(fact, values.List) and self.is_entry:
            if core in self._changed_for_the_caller():
                raise NotNative("a list which is given, and changed")
            if values.rank_of(fact.item) == 0:
                items = self.writer.fresh(f"{text}_items")
                self.writer.emit(assign(items, listed(name("item"), "item", name(text))))
                text = items
            elif not values.holds_rows(fact):
                raise NotNative("a list of lists which is given")
        return node_of(self.writer, text, fact)

    def _changed_for_the_caller(self) -> set[str]:
        """The leaves of the arguments that the function changes."""
        trees = {each.name: each.tree for each in self.program.inputs}
        return {tree.follow(trees[name], path) for name, path in self.program.mutated}

    def _returned(self, atom: gast.AST) -> Expression:
        node = self._node(atom)
        if isinstance(node, ListNode) and node.text in self.given:
            raise NotNative("a list which is given, as a result")
        if isinstance(node, ListNode | SavedNode) and node.text:
            return name(node.text)
        if not isinstance(node, Node):
            raise NotNative(f"a result that is {node!r}")
        if node.rank == 0:
            return node.at(())
        if node.is_view and not node.kept and node.reads & self.given:
            raise NotNative("a result that shares memory with an argument")
        return self.writer.in_memory(node, self._text(atom), own=not node.kept).whole()

    def _statements(self, lines: Sequence[Line], after: Sequence[gast.AST] = ()) -> None:
        """Write the statements of a block.

        Args:
            after: atoms that are read behind it.
        """
        outer, before = self.inside, Counter(self.left)
        direct, inner = Counter(names_in_atoms(after)), set()
        for each in lines:
            direct.update(each.reads())
            inner |= {read for e in flat(inner_of(each)) for read in e.reads()}
        self.left = before + direct
        self.inside = frozenset(inner)
        self.pending.append({})
        self.unkept |= self._copied_to_push(lines)
        for each, after_it in itertools.zip_longest(lines, lines[1:]):
            if each.kind == "moves" and after_it is not None and after_it.kind == "for":
                self._make_room(each, after_it)
            if is_watched(each.statement):
                raise NotNative("np.errstate(...='raise')")
            self.writer.place = (each.statement.origin, each.statement.phase)
            getattr(self, f"_{each.kind}")(each)
        if not after:
            self.pending.pop()
        self.inside, self.left = outer, before

    def _assign(self, line: Line) -> None:
        call_, core = line.expression, line.name
        function = call_.func.value
        text, fact = self._text(core), self.program.facts[core]
        if function is runtime.list_of:
            self.nodes[core] = self._list_of(call_, core)
            return
        if isinstance(function, Callee):
            self._unpack(line)
            return
        if function is PACK:
            self._pack(call_, core, text)
            return
        operands = [self._node(each) for each in call_.args]
        params = {each.arg: self._param(each.value) for each in call_.keywords}
        if operands and isinstance(operands[0], ListNode) and function is operator.getitem:
            self._item_of(operands[0], params["index"], core)
            return
        if isinstance(fact, values.List):
            self.nodes[core] = self._list(function, operands, params, fact, text)
            return
        if core in self.unkept and self.left[core] == 1 and core not in self.inside:
            self.nodes[core] = operands[0]
            return
        made = node_of_operation(self.writer, Operation(function, operands, params, fact, text))
        self._bind(core, made, text)
