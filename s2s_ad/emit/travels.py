"""How values travel: which names hold one list, or one saved value, on its way between functions.

Names that hand a value on (carried by a loop, handed to a block, taken of a result) are one class.
What happens to a class are *events*: where it is made, appended to, popped, handed over. Classes
with the same events travel together.
"""

from __future__ import annotations

import operator
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import gast

from s2s_ad import runtime
from s2s_ad.core import form, values
from s2s_ad.core.callee import Callee, item_of
from s2s_ad.core.program import Program
from s2s_ad.core.regions import Attempt, Branch, Loop, Region
from s2s_ad.core.saved import Unpack

Event = tuple


PACKED = -2  # the slot of what is appended as a tuple


class Node(NamedTuple):
    """A name of a function, or output `slot` of a result."""

    function: Any
    name: str
    slot: int = -1


class HandedOver(NamedTuple):
    """An operand of a call, or one of its results; `block` is where the call stands."""

    node: Node
    function: Callee
    slot: int
    call: form.Op
    block: Program


class Travels:
    """Walks all functions of a module.

    Args:
        functions: what is called -> its program, whose names are apart.
        opened: those whose arguments and results others know too.
        lists: the classes of lists over all functions; what this walk follows ends with each.

    Attributes:
        events: root of a class -> what happens to it, and how often.
        mixed: the roots of classes that something else is done with.
        operands, results: what calls are given, and what they give.
        handed, given: root of a class -> those of the operands, and of the results, in it.
        outputs: (function, slot) -> what its calls give there.
        calls: how often each function is called.
        items: root of a class of lists -> the classes of its items.
        appended: what is appended to lists, and in which block.
    """

    def __init__(
        self,
        functions: Mapping[Any, Program],
        opened: Iterable[Any],
        *,
        lists: Travels | None = None,
    ):
        self.functions, self.opened, self.lists = functions, set(opened), lists
        self._parents: dict[Node, Node] = {}
        self._noted: list[tuple[Node, Event]] = []
        self._mixed: list[Node] = []  # what is read or made otherwise
        self._items: list[tuple[Node, Node]] = []  # (list, item)
        self._slots: list[tuple[Node, int, Node]] = []  # (tuple, position, what is there)
        self.appended: list[tuple[Node, Program]] = []
        self.operands: list[HandedOver] = []
        self.results: list[HandedOver] = []
        self.calls: Counter[Callee] = Counter()
        for function, program in functions.items():
            self._function(function, program)
        self._join_items()
        self.events: defaultdict[Node, Counter[Event]] = defaultdict(Counter)
        for node, event in self._noted:
            self.events[self.root(node)][event] += 1
        self.mixed = {self.root(each) for each in self._mixed}
        self.items: defaultdict[Node, set[Node]] = defaultdict(set)
        for items, node in self._items:
            self.items[self.list_of(items)].add(self.root(node))
        self.handed, self.given = self._by_class(self.operands), self._by_class(self.results)
        self.outputs: defaultdict[tuple[Callee, int], list[Node]] = defaultdict(list)
        for each in self.results:
            self.outputs[each.function, each.slot].append(each.node)

    # ---- classes

    def _by_class(self, handed_over: list[HandedOver]) -> dict[Node, list[HandedOver]]:
        found: dict[Node, list[HandedOver]] = {}
        for each in handed_over:
            found.setdefault(self.root(each.node), []).append(each)
        return found

    def root(self, node: Node) -> Node:
        while (parent := self._parents.get(node, node)) != node:
            self._parents[node] = node = self._parents.get(parent, parent)
        return node

    def _join(self, a: Node, b: Node) -> None:
        a, b = self.root(a), self.root(b)
        if a != b:
            self._parents[b] = a

    def _join_items(self) -> None:
        """What is appended to a list and what is popped from it are one class."""
        before = -1
        while len(self._parents) != before:
            before = len(self._parents)
            known: dict[Any, Node] = {}
            for items, node in self._items:
                self._join(known.setdefault(self.list_of(items), node), node)
            for whole, slot, node in self._slots:
                self._join(known.setdefault((self.root(whole), slot), node), node)

    def list_of(self, items: Node) -> Node:
        """The class of a list over all functions."""
        return (self.lists or self).root(items)

    def parts(self) -> dict[Node, dict[int, Node]]:
        """For the classes of lists whose items are tuples the class of each part."""
        holders = {node: items for items, nodes in self.items.items() for node in nodes}
        found: dict[Node, dict[int, Node]] = {}
        for whole, slot, node in self._slots:
            items = holders.get(self.root(whole))
            if items is not None:
                found.setdefault(items, {})[slot] = self.root(node)
        return found

    def _note(self, node: Node, *event: Any) -> None:
        self._noted.append((node, event))

    # ---- functions and blocks

    def _function(self, function: Any, program: Program) -> None:
        outside = function in self.opened
        for leaf in program.leaves():
            if outside or self._ends(program.facts[leaf]):
                self._mixed.append(Node(function, leaf))
        for atom in program.outputs():
            if isinstance(atom, gast.Name) and (outside or self._ends(program.fact(atom))):
                self._mixed.append(Node(function, atom.id))
        _Blocks(self, function).block(program, tried=program.tried)

    def _ends(self, fact: Any) -> bool:
        """Whether a value is no longer followed where a function begins or ends."""
        return self.lists is not None or not isinstance(fact, values.List)


class _Blocks:
    """Walks the blocks of one function."""

    def __init__(self, travels: Travels, function: Any):
        self.travels, self.function = travels, function
        self.known: set[str] = set()  # results whose outputs are followed

    def _node(self, atom: Any) -> Node | None:
        return Node(self.function, atom.id) if isinstance(atom, gast.Name) else None

    def _use(self, *atoms: Any) -> None:
        names = [name for each in atoms for name in form.reads(each)]
        self.travels._mixed += [Node(self.function, name) for name in names]

    def block(self, program: Program, *, tried: bool) -> None:
        for statement in program.body:
            if isinstance(statement, form.Effect):
                self._use(statement)
            else:
                self._statement(program, statement, tried or program.tried)

    def _statement(self, block: Program, statement: form.Op, tried: bool) -> None:
        function, args = statement.function, statement.operands
        target = Node(self.function, statement.target)
        item = item_of(statement)
        if item is not None:
            output = Node(self.function, *item)
            self.travels._join(output, target)
            if item[0] not in self.known:
                self.travels._mixed.append(output)
        elif isinstance(function, Region):
            self.known.add(target.name)
            self._region(statement, function, tried)
        elif function in self.travels.functions and function not in self.travels.opened:
            self._call(block, statement, function)
        elif statement.rule.at_end and _is_list(block, args[0]):
            self._update(block, statement, tried)
        elif function is runtime.list_of and not args:
            self.travels._note(target, "made", id(block))
        elif isinstance(function, Unpack):
            self.known.add(target.name)
            whole = Node(self.function, args[0].id)
            slots = range(function.count)
            self.travels._slots += [(whole, i, target._replace(slot=i)) for i in slots]
        elif is_copy(statement) and _is_list(block, args[0]):
            self.travels._join(target, Node(self.function, args[0].id))
            self.travels._note(target, "copied", id(block))
        else:
            self._use(statement)
            self.travels._mixed.append(target)

    # ---- lists

    def _update(self, block: Program, statement: form.Op, tried: bool) -> None:
        travels, args = self.travels, statement.operands
        items, target = (Node(self.function, name) for name in (args[0].id, statement.target))
        if statement.function is runtime.list_pop:
            self.known.add(target.name)
            travels._join(items, target._replace(slot=1))
            plain = not tried and items.name in block.leaves()
            travels._note(items, "popped", id(block), plain)
            travels._items.append((items, target._replace(slot=0)))
            return
        travels._join(items, target)
        travels._note(items, "appended", id(block), not tried)
        if isinstance(args[1], gast.Tuple):
            whole = target._replace(slot=PACKED)
            travels._items.append((items, whole))
            for slot, part in enumerate(map(self._node, args[1].elts)):
                if part is not None:
                    travels._slots.append((whole, slot, part))
                    travels._note(part, "item", id(block))
        elif (item := self._node(args[1])) is not None:
            travels._items.append((items, item))
            travels.appended.append((item, block))
            # once lists that are alike are one, what goes into two lists goes two ways
            which = () if travels.lists is None else (travels.list_of(items),)
            travels._note(item, "item", id(block), *which)

    # ---- what is handed on

    def _hand(self, statement: form.Op, atom: gast.AST, to: Node, *event: Any) -> None:
        node = self._node(atom)
        if node is None:
            self.travels._note(to, "constant", id(statement), *event)
        else:
            self.travels._join(node, to)

    def _region(self, statement: form.Op, region: Region, tried: bool) -> None:
        result = Node(self.function, statement.target)
        if isinstance(region, Loop):
            self._loop(statement, region, result, tried)
            return
        operands = statement.operands
        if isinstance(region, Branch):
            self._use(operands[0])
            operands = operands[1:]
        count = region.count - isinstance(region, Attempt)
        for side, block in enumerate(region.blocks):
            self._leaves(statement, operands, block.leaves(), block)
            self.block(block, tried=tried or isinstance(region, Attempt))
            for slot, atom in enumerate(block.outputs()[:count]):
                self._hand(statement, atom, result._replace(slot=slot), "side", side)
        for slot in range(count):
            self.travels._note(result._replace(slot=slot), "result", id(statement))
        if count < region.count:
            self.travels._mixed.append(result._replace(slot=count))

    def _leaves(
        self, statement: form.Op, operands: Sequence, leaves: list[str], block: Program
    ) -> None:
        for atom, leaf in zip(operands, leaves, strict=True):
            node = Node(self.function, leaf)
            self._hand(statement, atom, node, "leaf", id(block))
            self.travels._note(node, "leaf", id(block))

    def _loop(self, statement: form.Op, loop: Loop, result: Node, tried: bool) -> None:
        parts = loop.parts(statement.operands)
        self._use(*parts.bounds)
        results, stop = loop.results()
        if stop is not None:
            self._use(stop)
        for block in loop.blocks:
            leaves = loop.leaves(block)
            self._leaves(statement, parts.carried, leaves.carried, block)
            self._leaves(statement, parts.fixed, leaves.fixed, block)
            self.block(block, tried=tried)
        if loop.test is not None:
            self._use(*loop.test.outputs())
        carried = loop.leaves(loop.body).carried
        asked = [] if loop.test is None else loop.leaves(loop.test).carried
        for leaf, own in zip(asked, carried, strict=False):  # also where they begin as a number
            self.travels._join(Node(self.function, leaf), Node(self.function, own))
        for slot, (leaf, atom) in enumerate(zip(carried, results, strict=True)):
            output = result._replace(slot=slot)
            self.travels._join(Node(self.function, leaf), output)
            self._hand(statement, atom, output, "end")
            self.travels._note(output, "result", id(statement))

    # ---- calls

    def _call(self, block: Program, statement: form.Op, function: Callee) -> None:
        travels, program = self.travels, self.travels.functions[function]
        travels.calls[function] += 1
        for slot, atom in enumerate(statement.operands):
            node, leaf = self._node(atom), program.leaves()[slot]
            inner = Node(function, leaf)
            if travels._ends(program.facts[leaf]):
                if node is not None:
                    travels._note(node, "operand", id(statement))
                    travels.operands.append(HandedOver(node, function, slot, statement, block))
            elif node is None:
                travels._mixed.append(inner)
            else:
                travels._join(node, inner)
                travels._note(node, "operand", id(statement))
        target = Node(self.function, statement.target)
        if function.several:
            self.known.add(target.name)
        for slot, atom in enumerate(program.outputs()):
            output = target._replace(slot=slot) if function.several else target
            if travels._ends(program.fact(atom)):
                travels.results.append(HandedOver(output, function, slot, statement, block))
            elif isinstance(atom, gast.Name):
                travels._join(output, Node(function, atom.id))
            else:
                travels._mixed.append(output)
            travels._note(output, "returned", id(statement))


def _is_list(block: Program, atom: Any) -> bool:
    return isinstance(block.facts.get(getattr(atom, "id", "")), values.List)


def is_copy(statement: form.Op) -> bool:
    """items[:]"""
    index = statement.parameters.get("index")
    whole = isinstance(index, gast.Slice) and not (index.lower or index.upper or index.step)
    return statement.function is operator.getitem and whole
