"""Functions written again with tuples in the place of values that travel together.

What goes and what is one tuple is decided elsewhere (`together`); here lists are appended to and
popped from, blocks and calls are handed, and functions return, what is left.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import gast

from s2s_ad import runtime
from s2s_ad.core import form, values
from s2s_ad.core.builder import fresh_name
from s2s_ad.core.callee import Callee, item_of
from s2s_ad.core.callers import Caller
from s2s_ad.core.program import TEMPORARY, Hint, Input, Program
from s2s_ad.core.regions import Attempt, Branch, Loop, Region, blocks_of
from s2s_ad.core.rule import ITEM
from s2s_ad.core.saved import Unpack
from s2s_ad.core.tree import tuple_of
from s2s_ad.emit.ready import Functions, Ready
from s2s_ad.emit.travels import Node, Travels, is_copy

UNNAMED = ("", "saved", "value")

#: what a list of what passes save is called: the first that the user calls nothing
STEPS = ("steps", "history", "saved")


@dataclass(frozen=True)
class Saved:
    """Outputs of a function that go together, and where they come in.

    Attributes:
        slots: the outputs.
        inputs: the function that they are handed to -> the inputs that they are there.
        roots: the classes of each output.
    """

    slots: tuple[int, ...]
    inputs: Mapping[Callee, tuple[int, ...]]
    roots: tuple[frozenset[Node], ...]


@dataclass
class Change:
    """What goes, and what is one value in its place.

    Attributes:
        dropped: classes that are gone.
        moved: classes of lists that may be popped from without a copy.
        tuples: a class of lists -> those that its items are tuples of.
        wholes: the classes that are a tuple, and what they are called.
        inputs, outputs: of each function those that are gone.
        given, saved: of each function the inputs, and outputs, that are one tuple.
        names: what values are called.
        called: what the values of a class are called that have no name yet.
        again, taken: of these functions the arguments, and inputs, that the tuple holds too.
        slots: a class of lists -> the parts of its items, which are tuples, that are gone.
    """

    travels: Travels
    dropped: set[Node] = field(default_factory=set)
    moved: set[Node] = field(default_factory=set)
    tuples: dict[Node, list[Node]] = field(default_factory=dict)
    wholes: dict[Node, Hint] = field(default_factory=dict)
    inputs: dict[Any, set[int]] = field(default_factory=dict)
    outputs: dict[Any, set[int]] = field(default_factory=dict)
    given: dict[Any, tuple[int, ...]] = field(default_factory=dict)
    saved: dict[Any, tuple[int, ...]] = field(default_factory=dict)
    names: dict[Node, Hint] = field(default_factory=dict)
    called: dict[Node, Hint] = field(default_factory=dict)
    again: dict[Any, list[int]] = field(default_factory=dict)
    taken: dict[Any, list[int]] = field(default_factory=dict)
    slots: defaultdict[Node, set[int]] = field(default_factory=lambda: defaultdict(set))
    callees: dict[Any, Any] = field(default_factory=dict)
    callers: dict[Caller, Caller] = field(default_factory=dict)

    def is_gone(self, node: Node) -> bool:
        return self.travels.root(node) in self.dropped

    def parts(self, first: Node) -> list[Node]:
        """The lists of which the items are the parts of a tuple: one list of an item may do."""
        held = self.travels.items
        return [each for each in self.tuples[first] if not held.get(each, set()) & self.dropped]

    def join(self, function: Callee, saved: Saved) -> bool:
        """Make one tuple of what a function saves, if it has none yet."""
        if function in self.saved or any(g in self.given for g in saved.inputs):
            return False
        self.saved[function] = saved.slots
        self.outputs.setdefault(function, set()).update(saved.slots[1:])
        for given, slots in saved.inputs.items():
            self.given[given] = slots
            self.inputs.setdefault(given, set()).update(slots[1:])
        for root in saved.roots[0]:
            kept = any(event[0] == "item" for event in self.travels.events[root])
            self.wholes[root] = Hint("step" if kept else "saved", "derived")
            self.called.pop(root, None)
        for roots in saved.roots[1:]:
            self.dropped.update(roots)
        for items, slots in self.travels.parts().items():
            self.slots[items] |= {slot for slot, root in slots.items() if root in self.dropped}
        return True

    def made(self, functions: Functions, opened: Collection[Any]) -> tuple[Functions, set]:
        """The functions after the change, and which of them are opened."""
        if not self.dropped and not self.moved and not self.names:
            return functions, set(opened)
        self.functions = functions
        self.callees = {
            each: Callee(ready.program, stub=True)
            for each, ready in functions.items()
            if isinstance(each, Callee)
        }
        self.changed: Functions = {}
        for function in functions:
            self._change(function)
        opened = {self.callees.get(each, each) for each in opened}
        return {self.callees.get(each, each): it for each, it in self.changed.items()}, opened

    def _change(self, function: Any) -> Ready:
        if function not in self.changed:
            made = self.changed[function] = _Function(self, function).made()
            if function in self.callees:
                self.callees[function].define(made.program)
        return self.changed[function]

    def caller(self, caller: Caller) -> Caller:
        """The call of a library's function, of what becomes of the user's."""
        if caller not in self.callers:
            made = caller.with_program(self._change(caller.callee).program)
            self.callers[caller] = made
            self.callees[caller.callee] = made.callee
        return self.callers[caller]


class _Function:
    """Writes one function again."""

    def __init__(self, change: Change, function: Any):
        self.change, self.function = change, function
        self.ready: Ready = change.functions[function]
        self.facts: dict[str, Any] = dict(self.ready.program.facts)
        self.hints: dict[str, Hint] = dict(self.ready.program.hints)
        self.kept: dict[str, dict[int, int]] = {}  # a result -> its outputs, as they are now
        self.atoms: dict[str, gast.AST] = {}  # what stands for copies that are gone

    def made(self) -> Ready:
        program, change = self.ready.program, self.change
        users = {hint.text for hint in self.hints.values() if hint.kind == "user"}
        steps = next((each for each in STEPS if each not in users), STEPS[0])
        inner = set(self._filled_inside(program, frozenset()))
        for name in self.facts:
            root = change.travels.root(Node(self.function, name))
            if root in change.tuples:
                self.facts[name] = values.List(values.Saved())
                self.hints[name] = Hint(f"inner_{steps}" if root in inner else steps, "derived")
            elif root in change.wholes:
                self.facts[name] = values.Saved()
                self.hints[name] = change.wholes[root]
        for name, hint in self.hints.items():
            other = change.called.get(self._root(name), hint)
            hint = other if hint.text in UNNAMED else hint
            hint = change.names.get(self._node(name), hint)
            copied = program.hints.get(name, hint).copied
            self.hints[name] = replace(hint, copied=copied) if copied else hint
        body = self._block(program).body
        outputs = [*program.outputs()]
        inputs = self._inputs(program)
        output = program.output
        if change.outputs.get(self.function):
            output = self._output(outputs)
        made = program.with_(
            inputs=inputs, body=body, output=output, facts=self.facts, hints=self.hints
        )
        if program.kept:
            own = len(outputs) - program.kept
            made = made.with_(kept=len(made.outputs()) - own)
        return replace(self.ready, program=made, parts={**self.ready.parts, **self._parts()})

    def _filled_inside(self, block: Program, around: frozenset[Node]) -> Iterator[Node]:
        """The lists of tuples that a loop fills inside of one that fills another list, and those
        that are put into lists."""
        appends = [each for each in block.body if each.function is runtime.list_append]
        filled = {self._root(each.target) for each in appends} & self.change.tuples.keys()
        yield from filled if around - filled else ()
        yield from (self._root(getattr(each.operands[1], "id", "")) for each in appends)
        for statement in block.body:
            for each in blocks_of(statement):
                yield from self._filled_inside(each, around | filled)

    def _parts(self) -> dict[str, tuple[str, str]]:
        """What became of lists: what an item is called, and the list of tuples that it is in."""
        change, own = self.change, {}
        for name in self.ready.program.facts:
            own.setdefault(self._root(name), []).append(name)
        return {
            name: (self._called(each), own[first][0])
            for first, group in change.tuples.items()
            for each in group
            for name in own.get(each, ())
        }

    def _called(self, items: Node) -> str:
        nodes = self.change.travels.items[items]
        return next((self.change.called[n].text for n in nodes if n in self.change.called), "")

    # ---- what the function is given, and gives

    def _inputs(self, program: Program) -> tuple[Input, ...]:
        gone = self.change.inputs.get(self.function, ())
        together = self.change.given.get(self.function, ())
        found = []
        for index, each in enumerate(program.inputs):
            if together and index == together[0]:
                held = [*self.change.taken.get(self.function, ()), *together]
                leaves = tuple(program.inputs[i].tree for i in held)
                others = (o for i, o in enumerate(program.inputs) if i not in gone and i != index)
                taken = {other.name for other in others}
                taken |= {hint.text for hint in self.hints.values() if hint.kind == "user"}
                name = next(text for text in _numbered("saved") if text not in taken)
                each = Input(name, tuple_of(leaves))
            if index not in gone:
                found.append(each)
        return tuple(found)

    def _output(self, atoms: list[gast.AST]) -> Any:
        """The outputs that are left, those that are saved as one tuple."""
        gone = self.change.outputs[self.function]
        together = self.change.saved.get(self.function, ())
        found: list[Any] = []
        for index, atom in enumerate(atoms):
            if together and index == together[0]:
                leaves = self.ready.program.leaves()
                again = [form.name(leaves[i]) for i in self.change.again.get(self.function, ())]
                items = (*again, *(atoms[i] for i in together))
                found.append(tuple_of(items))
            elif index not in gone:
                found.append(atom)
        return tuple_of(found)

    # ---- blocks

    def _node(self, name: str, slot: int = -1) -> Node:
        return Node(self.function, name, slot)

    def _is_gone(self, atom: Any, slot: int = -1) -> bool:
        name = getattr(atom, "id", atom)
        return isinstance(name, str) and self.change.is_gone(self._node(name, slot))

    def _block(self, block: Program) -> Program:
        """A block without what is gone, and with tuples in its place."""
        updates = _Updates(self, block)
        body: list[form.Statement] = []
        for position, statement in enumerate(block.body):
            each = form.substitute(statement, self.atoms) if self.atoms else statement
            body += self._statement(each, position, updates)
        facts = {name: self.facts[name] for name in block.facts if name in self.facts}
        return block.with_(body=tuple(body), facts=facts)

    def _statement(
        self, statement: form.Statement, position: int, updates: _Updates
    ) -> list[form.Statement]:
        if isinstance(statement, form.Effect):
            return [statement]
        if position in updates.instead:
            return updates.instead[position]
        function, item = statement.function, item_of(statement)
        if item is not None:
            return self._item(statement, *item)
        if isinstance(function, Region):
            return [self._region(statement, function)]
        if function in self.change.callees or isinstance(function, Caller):
            return [self._call(statement, function)]
        target = statement.target
        if is_copy(statement) and self._root(target) in self.change.moved:
            self.atoms[target] = statement.operands[0]
            return []
        return [] if self._is_gone(target) else [statement]

    def _item(self, statement: form.Op, result: str, slot: int) -> list[form.Statement]:
        places = self.kept.get(result)
        if self._is_gone(result, slot) or (places is not None and slot not in places):
            return []
        slot = slot if places is None else places[slot]
        return [self._made(statement, ITEM, statement.operands, index=slot)]

    def _made(
        self, statement: form.Op, function: Any, args: Sequence[gast.AST], **params: Any
    ) -> form.Op:
        nodes = {key: form.constant(value) for key, value in params.items()}
        return statement.with_call(function, args, nodes)

    def _region(self, statement: form.Op, region: Region) -> form.Op:
        """A region that is handed, and hands over, what is left."""
        args, name, blocks = statement.operands, statement.target, []
        left = [slot for slot in range(region.count) if not self._is_gone(name, slot)]
        for block in region.blocks:
            stays = [each for each in block.inputs if not self._is_gone(each.tree)]
            made = self._block(block).with_(inputs=tuple(stays))
            atoms = [form.substitute(each, self.atoms) for each in block.outputs()]
            if not isinstance(region, Loop):
                atoms = [atoms[slot] for slot in left if slot < len(atoms)]
            elif block is region.body:
                atoms = [atoms[slot] for slot in left] + atoms[region.carried :]
            blocks.append(made.with_(output=tuple_of(atoms)))
        first = {Branch: 1, Attempt: 0, Loop: 3}[type(region)]
        skipped = 0
        if isinstance(region, Loop):
            first, skipped = len(region.parts(args).bounds), region.indices
        handed = zip(args[first:], region.blocks[-1].leaves()[skipped:], strict=True)
        operands = [*args[:first], *(a for a, leaf in handed if not self._is_gone(leaf))]
        facts = [
            values.List(values.Saved()) if self._root(name, s) in self.change.tuples else fact
            for s, fact in enumerate(region.facts)
        ]
        self.kept[name] = {slot: i for i, slot in enumerate(left)}
        made = region.with_blocks(blocks, [facts[slot] for slot in left])
        return self._made(statement, made, operands)

    def _root(self, name: str, slot: int = -1) -> Node:
        return self.change.travels.root(self._node(name, slot))

    def _call(self, statement: form.Op, function: Callee | Caller) -> form.Op:
        if isinstance(function, Caller):
            return self._made(statement, self.change.caller(function), statement.operands)
        gone = self.change.inputs.get(function, ())
        args = [each for index, each in enumerate(statement.operands) if index not in gone]
        lost = self.change.outputs.get(function, ())
        if lost:
            outputs = len(self.change.functions[function].program.outputs())
            left = [slot for slot in range(outputs) if slot not in lost]
            self.kept[statement.target] = {slot: i for i, slot in enumerate(left)}
        return self._made(statement, self.change.callees[function], args)

    def new(self, fact: Any, hint: Hint = TEMPORARY) -> str:
        name = fresh_name()
        self.facts[name], self.hints[name] = fact, hint
        return name


class _Updates:
    """What is appended to lists, and popped from them, in one block.

    Tuples are made before anything is known of what calls save, and may lose parts by that.

    Attributes:
        instead: position -> the statements there.
    """

    def __init__(self, function: _Function, block: Program):
        self.function = function
        self.ops = {i: each for i, each in enumerate(block.body) if isinstance(each, form.Op)}
        self.instead: dict[int, list[form.Statement]] = {}
        updates: defaultdict[tuple, dict[Node, int]] = defaultdict(dict)
        roots = {each: first for first, group in function.change.tuples.items() for each in group}
        for position, statement in self.ops.items() if roots else ():
            kind = statement.function
            if statement.rule.at_end:
                root = function._root(getattr(statement.operands[0], "id", ""))
                if root in roots:
                    updates[roots[root], kind][root] = position
        if function.change.slots:
            self._narrow()
        for (first, kind), positions in updates.items():
            self.instead.update({position: [] for position in positions.values()})
            write = self._append if kind is runtime.list_append else self._pop
            write(first, positions)

    def _narrow(self) -> None:
        """Tuples without the parts that are gone."""
        pops: dict[str, set[int]] = {}  # the result of a pop -> the parts that are gone
        wholes: dict[str, int] = {}  # an item -> where it is taken of the result of a pop
        for position, statement in self.ops.items():
            if not statement.operands:
                continue
            first, item = getattr(statement.operands[0], "id", ""), item_of(statement)
            function, name = statement.function, statement.target
            if statement.rule.at_end:
                gone = self._gone(first)
                if gone and function is runtime.list_pop:
                    pops[name] = gone
                elif gone:
                    self._narrow_append(position, statement, gone)
            elif item is not None and first in pops and item[1] == 0:
                wholes[name] = position
            elif isinstance(function, Unpack) and first in wholes:
                result = self.ops[wholes[first]].reads[0]
                self._narrow_parts(position, statement, wholes[first], pops[result])

    def _gone(self, items: str) -> set[int]:
        change = self.function.change
        return change.slots.get(change.travels.list_of(self.function._node(items)), set())

    def _narrow_append(self, position: int, statement: form.Op, gone: set[int]) -> None:
        items, whole = statement.operands
        left = [each for slot, each in enumerate(whole.elts) if slot not in gone]
        args = [items, left[0] if len(left) == 1 else gast.Tuple(left, gast.Load())]
        self.instead[position] = [self.function._made(statement, runtime.list_append, args)]

    def _narrow_parts(self, position: int, statement: form.Op, whole: int, gone: set[int]) -> None:
        rule, result = statement.function, statement.target
        left = [slot for slot in range(rule.count) if slot not in gone]
        parts = {}
        for at, each in self.ops.items():
            item = item_of(each)
            if item is not None and item[0] == result:
                parts[item[1]], self.instead[at] = each.target, []
        names = [parts.get(slot) for slot in left]
        self.instead[position] = []
        source = self.ops[whole]
        if len(left) == 1:
            name = names[0] or source.target
            made = statement.beside(name, source.rule, source.operands, source.parameters)
            self.instead[whole] = [made]
        else:
            self.instead[position] = [*self._unpacked(statement, source.target, names)]

    def _append(self, first: Node, positions: Mapping[Node, int]) -> None:
        """One tuple for the items, when the last of them is there."""
        parts = self.function.change.parts(first)
        items = [self.ops[positions[part]].operands[1] for part in parts]
        item = items[0] if len(items) == 1 else gast.Tuple(items, gast.Load())
        own, last = self.ops[positions[first]], max(positions.values())
        operands = [own.operands[0], item]
        self.instead[last] = [self.ops[last].beside(own.target, runtime.list_append, operands)]

    def _pop(self, first: Node, positions: Mapping[Node, int]) -> None:
        """One tuple, and its parts, when the first of them is needed."""
        function, own = self.function, self.ops[positions[first]]
        lists = {self.ops[p].target: each for each, p in positions.items()}
        names: dict[Node, str] = {}
        for position, statement in self.ops.items():
            item = item_of(statement)
            if item is not None and item[0] in lists and item[1] == 0:
                names[lists[item[0]]] = statement.target
                self.instead[position] = []
        parts = [names.get(each) for each in function.change.parts(first)]
        whole = function.new(values.Saved(), Hint("step", "derived"))
        made: list[form.Statement] = [own]
        if len(parts) == 1:
            whole = parts[0] or whole
        made.append(own.beside(whole, ITEM, [form.name(own.target)], {"index": form.constant(0)}))
        if len(parts) > 1:
            made += self._unpacked(own, whole, parts)
        self.instead[min(positions.values())] = made

    def _unpacked(self, own: form.Op, whole: str, parts: Sequence[str | None]) -> Iterator[form.Op]:
        function = self.function
        rule = Unpack([function.facts.get(name or "", values.Unknown()) for name in parts])
        result = function.new(rule.infer([], {}))
        yield own.beside(result, rule, [form.name(whole)])
        for slot, name in enumerate(parts):
            if name is not None:
                index = {"index": form.constant(slot)}
                yield own.beside(name, ITEM, [form.name(result)], index)


def _numbered(text: str) -> Iterator[str]:
    yield text
    count = 2
    while True:
        yield f"{text}_{count}"
        count += 1
