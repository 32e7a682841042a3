"""What is known while a function is written: the value of each name, and what waits."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any

import gast
import numpy as np

from s2s_ad.analysis.described import Described
from s2s_ad.core import tree, values
from s2s_ad.core.callee import Callee, reached
from s2s_ad.core.program import TEMPORARY, Program
from s2s_ad.emit.lines import flat
from s2s_ad.emit.ready import Ready
from s2s_ad.emit.variables import Opening
from s2s_ad.native.nests import Nest
from s2s_ad.native.nodes import Node, NotNative, Number
from s2s_ad.native.operations import CHEAP
from s2s_ad.native.spelling import Expression
from s2s_ad.native.stacks import with_empty_lists
from s2s_ad.native.support import SUPPORT
from s2s_ad.native.writer import DTYPE_OF_PYTHON, Writer, constant_node, node_of

#: names that mean something in each module of loops
RESERVED = {"np", "math", "njit", "types", "len", "range", "min", "max", "abs", "float", "int"}
RESERVED |= {"bool", "complex", "round", *SUPPORT}


#: what a number, and an element, may cost and be written where it is read, in additions
DEAR, DEAREST = 64, 400


class State:
    """What is known while a function is written.

    Args:
        ready: the function, with its updates in place decided.
        text: what it is called.
        name_of: the name of a function that it calls.
        alone: a function that is called in one place only, and is written there.
        taken: what the functions of the module are called.
        is_recursive: it calls itself, and is told how deep it is in calls of itself.
        is_entry: Python calls it.
    """

    def __init__(
        self,
        ready: Ready,
        text: str,
        name_of: Callable[[Callee], str],
        alone: Callable[[Callee], Ready | None],
        taken: Iterable[str] = (),
        is_recursive: bool = False,
        is_entry: bool = False,
    ):
        self.program, self.text, self.is_entry = ready.program, text, is_entry
        self.name_of, self.alone = name_of, alone
        self.opening = Opening(ready.stores)
        self.lines = with_empty_lists(self.opening.body(self.program))
        self.output = tree.leaves(tree.tree_map(self.opening.atom, self.program.output))
        made = (each.statement for each in flat(self.lines) if each.kind == "assign")
        self.described = Described(self.program, made)
        self.writer = Writer({*RESERVED, text, *taken}, self.program.facts)
        self.depth = self.writer.fresh("depth") if is_recursive else ""
        self.nodes: dict[str, Any] = {}
        self.pending: list[dict[str, Node]] = [{}]
        self.stacks: dict[str, frozenset[str]] = {}  # lists that are arrays, and their names
        self.nests: dict[str, Nest] = {}  # lists of lists that are one stack, and their items
        self.rooms: dict[str, Expression] = {}  # of lists: how many items they will have at most
        self.shown: dict[str, str] = {}  # the variable of each value that blocks hand over
        self.unkept: set[str] = set()  # copies that are only put on a stack, which copies them
        self.exact: set[str] = set()  # of stacks: those that have room for all that comes
        self.counts: dict[str, str] = {}  # of stacks: how many items they have
        self.inside: frozenset[str] = frozenset()  # names that inner blocks read
        self.left: Counter[str] = Counter()  # reads that are to come, of the blocks that are open
        stores = [each.store for each in flat(self.lines) if each.kind == "store"]
        self.changing = {each for store in stores for each in (store.base, *store.changed)}

    def _text(self, atom: Any) -> str:
        """What a name of Core is called."""
        text = atom if isinstance(atom, str) else getattr(atom, "id", "value")
        hint = self.program.hints.get(text, TEMPORARY)
        return hint.text or self.described.text(text) or self.described.kind(text) or "value"

    def _node(self, atom: Any) -> Any:
        """What an operand is: a Node, a list, or a Python object."""
        if isinstance(atom, gast.Name):
            if atom.id not in self.nodes:
                raise NotNative("a value that some paths lack")
            self.left[atom.id] -= 1
            node = self.nodes[atom.id]
            return self.writer.latest(node) if isinstance(node, Node) else node
        if isinstance(atom, gast.Tuple | gast.List):
            return [self._node(each) for each in atom.elts]
        if isinstance(atom, gast.Constant):
            return known_now(atom.value)
        raise NotNative(f"an operand that is a {type(atom).__name__}")

    def _param(self, node: Any) -> Any:
        """A parameter: a Python object, or the Node of a value; of a number its size too."""
        if isinstance(node, gast.Constant):
            return node.value
        if isinstance(node, gast.Tuple | gast.List):
            return tuple(map(self._param, node.elts))
        if isinstance(node, gast.Slice):
            parts = (node.lower, node.upper, node.step)
            return slice(*(None if each is None else self._param(each) for each in parts))
        found = self._node(node)
        if isinstance(found, Node) and found.rank == 0:
            return Number(found, getattr(self.program.facts.get(node.id), "size", None))
        return found

    def _bind(self, core: str, node: Any, text: str) -> None:
        """Let a name of Core be a value, which is put into memory where that is better."""
        writer = self.writer
        if isinstance(node, Node):
            inside = core in self.inside
            uses = self.left[core]
            if core in self.changing and not node.is_view:
                node = writer.in_memory(node, text, own=True)
            elif node.rank == 0:
                if uses > 1 or inside or node.cost > DEAR:
                    node = writer.named(node, text)
            elif not node.is_view and not node.kept and node.constant is None:
                is_dear = (uses > 1 and node.cost * uses > 2 * CHEAP) or node.cost > DEAREST
                node = writer.in_memory(node, text) if inside or is_dear else node
            if node.reads and not node.is_view and node.whole is None:
                self.pending[-1][core] = node
        self.nodes[core] = node

    def _settle(self, changed: frozenset[str] | set[str] | None = None) -> None:
        """Compute what waits to be written where it is read, before what it reads changes."""
        for waiting in self.pending:
            for core, node in [*waiting.items()]:
                if self.left[core] <= 0 and core not in self.inside:
                    continue
                if changed is None or node.reads & changed:
                    del waiting[core]
                    self.nodes[core] = self.writer.in_memory(node, self._text(core))
        self.writer.forget_views(self._memory_of(self.changing) if changed is None else changed)

    def _memory_of(self, names: Iterable[str]) -> set[str]:
        """Names of Core, and those of the arrays that hold them."""
        nodes = (self.nodes.get(each) for each in names)
        return {*names}.union(*(each.reads for each in nodes if isinstance(each, Node)))

    def _item(self, node: Node, atom: gast.AST | None) -> Expression:
        """A value as an item of a list, or of a variable.

        Arrays are C-contiguous there, but for views of what changes: these stay views.
        """
        if node.rank == 0:
            return node.at(())
        node = self.writer.latest(node)
        if node.whole is not None and not node.kept and getattr(atom, "id", "") in self.changing:
            return node.whole()
        return self.writer.contiguous(node, self._text(atom)).whole()

    def _enter(self, core: str, text: str, *, contiguous: bool = True, fact: Any = None) -> None:
        """Let a name of Core be a variable; `fact` says what holds for it where that is more."""
        node = node_of(self.writer, text, self.program.facts[core] if fact is None else fact)
        if core in self.counts:
            node = replace(node, count=self.counts[core], is_exact=core in self.exact)
        if isinstance(node, Node) and node.rank and contiguous:
            node = replace(node, kept=text)  # what functions and branches give is contiguous
        self.nodes[core] = node


def captured_by(program: Program) -> dict[str, Any]:
    """The captured values that a program and the functions that it calls read: name -> fact."""
    inner = [each.program for each in reached((program,)) if isinstance(each, Callee)]
    return {each.name: own.facts[each.name] for own in (program, *inner) for each in own.captured()}


def is_passed(fact: Any) -> bool:
    """Whether native code is given a value: what is part of the signature it knows."""
    return not isinstance(fact, values.Static)


def known_now(value: Any) -> Any:
    """What an object is that stands in the code: a number is a value."""
    plain = type(value) in DTYPE_OF_PYTHON or isinstance(value, np.generic)
    return constant_node(value) if plain else value
