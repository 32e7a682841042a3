"""Temporaries go back into the expressions that read them, where that reads better and is safe."""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import gast

from s2s_ad.core import form, tree, values
from s2s_ad.core.builder import DERIVED
from s2s_ad.core.callee import has_effect
from s2s_ad.core.program import TEMPORARY, Hint, Program
from s2s_ad.core.registry import rule_for
from s2s_ad.core.tree import Tree
from s2s_ad.diagnostics import Origin
from s2s_ad.emit.stores import Store
from s2s_ad.emit.surface import Surface
from s2s_ad.emit.variables import Entry, Moves

LARGEST = 7  # operations in an expression that we compose; the user's own may be larger


@dataclass(slots=True)
class Line:
    """One statement to come.

    Kinds: "assign" (`name = expression`), "unpack" (`names = expression`), "effect", "store" (see
    `store`), "moves" (`moves`, all at once), "if", "for", "while", "try", "break".

    Attributes:
        expression: the value; the condition of an "if" or "while"; a list of bounds of a "for".
        test: of a "while" the lines that come before its condition.
        folded: where what was folded into it comes from.
    """

    kind: str
    statement: form.Statement
    name: str = ""
    expression: Any = None
    index: Any = None
    names: tuple[str | None, ...] = ()
    store: Store | None = None
    moves: Moves = field(default_factory=list)
    blocks: tuple[list[Line], ...] = ()
    backwards: bool = False
    errors: tuple = ()
    folded: Sequence[Origin] = ()

    def reads(self) -> list[str]:
        """The names that the line itself reads, its blocks apart."""
        parts = [self.expression, self.index, [atom for _, atom in self.moves]]
        if self.store is not None:
            parts.append(form.name(self.store.base))
        return [name for part in parts if part is not None for name in form.reads(part)]

    def assigns(self) -> list[str]:
        """The variables that it assigns at once."""
        if self.kind == "moves":
            return [name for name, _ in self.moves]
        if self.kind == "for":
            return [self.name]
        if self.kind == "store":
            return [self.name] if self.store.kind == "pop" and self.name else []
        return [each for each in (self.name, *self.names) if each]

    def origins(self) -> list[Origin | None]:
        """Where it comes from: its statement, then what was folded into it."""
        return [self.statement.origin, *self.folded]


class Refold:
    """Walks the entries once; what is folded waits in `pending` until it is read.

    Args:
        called: whether another function of the module calls this one, and says what is returned.
    """

    def __init__(
        self,
        program: Program,
        entries: list[Entry],
        output: Any,
        surface: Surface,
        *,
        called: bool = False,
    ):
        self.program, self.surface = program, surface
        self.returns = LARGEST if called or _has_keys(output) else 0  # what may stand in a return
        self.pending: dict[str, gast.AST] = {}
        self.sizes: dict[str, int] = {}
        self.origins: dict[str, list[Origin]] = {}  # of what is pending: where it comes from
        self.folded: list[Origin] = []  # where what is folded into the current line comes from
        names = [name for atom in tree.leaves(output) for name in form.reads(atom)]
        self.outputs = set(names)
        self.counts = Counter(names)
        self.read_by_effect: set[str] = set()
        self.added: set[str] = set()  # what sums read
        self.gathered: set[str] = set()  # what is put side by side to be an adjoint
        self.read_under: dict[str, set] = {name: {()} for name in names}  # settings of the readers
        self.bases: set[str] = set()
        self.stored: dict[str, str] = {}  # a value -> the array that it becomes elements of
        for each in every(entries):
            self._count(each)
        self.returned = output
        self.entries = entries

    def _count(self, entry: Entry) -> None:
        read = list(direct_reads(entry))
        self.counts.update(read)
        tested = [] if entry.test is None else form.reads(entry.test)
        self.counts.update(tested)
        for name in (*read, *tested):
            self.read_under.setdefault(name, set()).add(settings_of(entry.statement))
        if entry.kind == "effect":
            self.read_by_effect.update(read)
        if entry.kind == "operation" and rule_for(entry.call.func.value).adds:
            self.added.update(read)
        if entry.kind == "operation" and rule_for(entry.call.func.value).gathers:
            self.gathered.update(read if entry.statement.phase in DERIVED else ())
        if entry.store is not None:
            self.bases.add(entry.store.base)
            if entry.store.kind in ("set", "add"):
                value = entry.call.args[1]
                self.stored[getattr(value, "id", "")] = entry.statement.target
        if entry.kind == "operation":
            derived = (
                each for each in read if self.program.hints.get(each, TEMPORARY).kind == "derived"
            )
            self.stored.update(dict.fromkeys(derived, entry.name))
        for name, atom in entry.moves:
            self.bases.add(name)
            self.bases.update(form.reads(atom))  # assigned where they are computed

    def lines(self) -> list[Line]:
        return self._block(self.entries, list(self.outputs))

    def output(self) -> Any:
        """What is returned, with what was folded."""
        return tree.tree_map(lambda atom: self._folded(atom), self.returned)

    def _block(
        self, entries: list[Entry], outputs: Sequence[str] = (), *, tried: bool = False
    ) -> list[Line]:
        """The lines of a block; of what is `tried` nothing moves behind a change."""
        readers = Readers(entries, outputs)
        found: list[Line] = []
        around = self.folded
        for place, entry in enumerate(entries):
            self.folded = []
            if entry.kind == "operation":
                expression, size = self._composed(entry.call)
                read = None if tried else form.reads(expression)
                if not readers.changes(place, entry.name, read) and self._folds(
                    entry, size, readers
                ):
                    self._wait(entry, expression, size)
                    continue
                line = Line("assign", entry.statement, entry.name, expression)
            else:
                line = self._line(entry)
            line.folded = self.folded
            found.append(line)
        self.folded = around
        return found

    def _wait(self, entry: Entry, expression: gast.AST, size: int) -> None:
        """Keep a value until it is read."""
        name, origin = entry.name, entry.statement.origin
        self.pending[name], self.sizes[name] = expression, size
        self.origins[name] = self.folded if origin is None else [origin, *self.folded]

    def _line(self, entry: Entry) -> Line:
        kind, statement = entry.kind, entry.statement
        if kind == "call":
            return Line(
                "unpack", statement, expression=self._composed(entry.call)[0], names=entry.names
            )
        if kind == "store":
            return self._store(entry)
        if kind == "moves":
            moves = [
                (name, atom if form.is_undefined(atom) else self._folded(atom))
                for name, atom in entry.moves
            ]
            return Line(kind, statement, moves=moves)
        if kind == "for":
            bounds = [self._folded(each) for each in entry.call]
            blocks = tuple(self._block(each) for each in entry.blocks)
            return Line(
                kind, statement, entry.name, bounds, blocks=blocks, backwards=entry.backwards
            )
        if kind == "while":
            test, body = entry.blocks
            before = self._block(test, form.reads(entry.test))
            condition = self._folded(entry.test)
            return Line(kind, statement, expression=condition, blocks=(before, self._block(body)))
        head = None if entry.call is None else self._folded(entry.call)
        tried = entry.kind == "try"
        blocks = tuple(
            self._block(each, tried=tried and place == 0) for place, each in enumerate(entry.blocks)
        )
        return Line(kind, statement, expression=head, blocks=blocks, errors=entry.errors)

    def _store(self, entry: Entry) -> Line:
        store, call = entry.store, entry.call
        value = index = None
        if store.kind == "update":
            value = self._folded(store.value)
        elif store.kind != "pop":
            value = self._folded(call.args[1])
        if store.kind in ("set", "add", "add at"):
            index = self._folded(call.keywords[0].value)
        return Line("store", entry.statement, entry.name, value, index, store=store)

    def _composed(self, call: gast.Call) -> tuple[gast.AST, int]:
        expression = self.surface.expression(call)
        inner = self._inner(expression)
        size = 1 + sum(self.sizes[each] for each in inner)
        expression = nested(subtracted(form.substitute(expression, self.pending)))
        return negated_first(shaped(expression, self.program.fact), self.program.fact), size

    def _folded(self, node: gast.AST) -> gast.AST:
        spelled = self.surface.spelled(node)
        self._inner(spelled)
        return form.substitute(spelled, self.pending)

    def _inner(self, expression: gast.AST) -> list[str]:
        """The values that an expression is about to take in."""
        inner = [each for each in form.reads(expression) if each in self.pending]
        for each in inner:
            self.folded += self.origins[each]
        return inner

    # ---- what may be folded

    def _folds(self, entry: Entry, size: int, readers: Readers) -> bool:
        """Whether the value is better read where it is used."""
        name, statement = entry.name, entry.statement
        rule = rule_for(entry.call.func.value)
        if name in self.bases or name in readers.tried or has_effect(statement):
            return False
        if self.read_under.get(name, set()) - {settings_of(statement)}:
            return False
        hint = self.program.hints.get(name, TEMPORARY)
        if hint.kind != "temporary" and not self._is_stored(name, hint):
            return hint.kind == "derived" and self._is_told(entry, size)
        if name in self.outputs:
            fits = size <= LARGEST or self._is_users(statement)
            return self.counts[name] == 1 and fits
        again = rule.cheap or is_plain_view(entry.call) or self._is_next_index(entry)
        if again and not any(self.sizes.get(each, 0) for each in form.reads(entry.call)):
            return True  # shorter to write again than to name
        if name in self.read_by_effect or name in readers.nested:
            return False
        goes_on = name in self.added or name in self.stored
        more = 2 if goes_on and rule_for(entry.call.func.value).adds else 1
        return self.counts[name] == 1 and (size < more * LARGEST or self._is_users(statement))

    def _is_told(self, entry: Entry, size: int) -> bool:
        """Whether the one place where an adjoint is read says what it is."""
        name = entry.name
        if entry.statement.phase not in DERIVED or self.counts[name] > 1:
            return False
        if name not in self.outputs or size > self.returns:
            return name in self.gathered and size <= 2 * LARGEST
        self.returns -= size
        return True

    def _is_stored(self, name: str, hint: Hint) -> bool:
        """Whether the value goes into a variable of the same name, and nowhere else."""
        called = self.program.hints.get(self.stored.get(name, ""))
        goes_on = hint.kind == "derived" and name in self.added
        return called is not None and (called.text == hint.text or (goes_on and not called.text))

    def _is_users(self, statement: form.Op) -> bool:
        """Part of a larger expression that the user wrote as one."""
        return statement.phase in ("", "forward") and bool(statement.origin)

    def _is_next_index(self, entry: Entry) -> bool:
        """Whether it is a whole number next to another: i + 1 is shorter than a name for it."""
        args = entry.call.args
        numbers = [each.value for each in args if isinstance(each, gast.Constant)]
        one = len(args) == 2 and len(numbers) == 1 and type(numbers[0]) is int
        fact = self.program.facts.get(entry.name)
        whole = isinstance(fact, values.Scalar) and fact.kind is int
        return one and whole and rule_for(entry.call.func.value).adds


def _has_keys(output: Any) -> bool:
    """Whether a container says by a key or a name what each of its items is."""
    return isinstance(output, Tree) and output.kind not in (tuple, list)


class Readers:
    """Where the names that the entries of a block define are read last.

    Attributes:
        nested: names that a block inside reads.
        tried: names that a "try" inside reads: what computes them may raise before it, not in it.
    """

    def __init__(self, entries: list[Entry], outputs: Sequence[str]):
        self.last: dict[str, int] = dict.fromkeys(outputs, len(entries))
        self.nested: set[str] = set()
        self.tried: set[str] = set()
        for place in range(len(entries) - 1, -1, -1):
            inside = inside_of(entries[place])
            self.nested |= inside.reads
            if inside.tries:
                self.tried |= inside.reads
            for name in {*direct_reads(entries[place]), *inside.reads}:
                self.last.setdefault(name, place)
        self._changed: dict[str | None, list[int]] = {}  # where a variable changes; None: any
        for place, each in enumerate(entries):
            changes = inside_of(each).changes
            for variable in (*changes, None) if changes else ():
                self._changed.setdefault(variable, []).append(place)

    def changes(self, place: int, name: str, read: Sequence[str] | None) -> bool:
        """Whether one of these (None: any variable) changes before the last reader of the name.

        The name is the one that is defined at `place`.
        """
        until = self.last.get(name, -1) + (name in self.nested)
        for variable in (None,) if read is None else read:
            places = self._changed.get(variable, ())
            after = bisect_right(places, place)
            if after < len(places) and places[after] < until:
                return True
        return False


def settings_of(statement: form.Statement) -> tuple[tuple[str, str], ...]:
    """The settings of np.errstate under which a statement runs."""
    return () if statement.origin is None else statement.origin.settings


@dataclass(frozen=True, slots=True)
class Inside:
    """What happens in an entry.

    Attributes:
        reads: the names that its blocks read, and the condition of a while: in each pass.
        changes: the variables that it assigns anew, or whose memory it changes.
        tries: whether it is a "try", or there is one in its blocks.
    """

    reads: set[str]
    changes: set[str]
    tries: bool


def inside_of(entry: Entry) -> Inside:
    """What happens in an entry: of blocks in blocks each is looked at once."""
    if entry.inside is None:
        reads = set() if entry.test is None else set(form.reads(entry.test))
        changes = {name for name, _ in entry.moves}
        changes.update(() if entry.store is None else entry.store.changed)
        tries = entry.kind == "try"
        for each in (each for block in entry.blocks for each in block):
            inner = inside_of(each)
            reads.update(inner.reads, direct_reads(each))
            changes |= inner.changes
            tries |= inner.tries
        entry.inside = Inside(reads, changes, tries)
    return entry.inside


def subtracted(node: gast.AST) -> gast.AST:
    """a - 2 * b for a + -2 * b."""
    if not isinstance(node, gast.BinOp) or not isinstance(node.op, gast.Add):
        return node
    positive = negative_of(node.right)
    return node if positive is None else gast.BinOp(node.left, gast.Sub(), positive)


def negated_first(node: gast.AST, fact: Callable[[gast.AST], Any]) -> gast.AST:
    """-a * b for -(a * b), where a is no truth, of which there is no negative."""
    if not isinstance(node, gast.UnaryOp) or not isinstance(node.op, gast.USub):
        return node
    factors, first = [], node.operand
    while isinstance(first, gast.BinOp) and isinstance(first.op, gast.Mult | gast.Div):
        factors.append(first)
        first = first.left
    named = isinstance(first, gast.Name) and values.is_inexact(fact(first)) is True
    if not factors or not named:
        return node
    product: gast.AST = gast.UnaryOp(node.op, first)
    for each in reversed(factors):
        product = gast.BinOp(product, each.op, each.right)
    return product


def nested(node: gast.AST) -> gast.AST:
    """np.array([[a, b], [c, d]]) for np.array([np.array([a, b]), np.array([c, d])])."""
    rows = _displayed(node)
    inner = [_displayed(each) for each in rows or ()]
    if not inner or None in inner:
        return node
    lists = [gast.List(elts=each, ctx=gast.Load()) for each in inner]
    return gast.Call(node.func, [gast.List(elts=lists, ctx=gast.Load())], [])


def shaped(node: gast.AST, fact: Callable[[gast.AST], Any]) -> gast.AST:
    """np.zeros(x.shape) for np.zeros((len(x), x.shape[1])), where x has no more axes."""
    if not isinstance(node, gast.Call) or not node.args:
        return node
    *before, last = node.args
    if isinstance(last, gast.Tuple) and (whole := _shape_of(last.elts, fact)):
        return gast.Call(node.func, [*before, whole], node.keywords)
    is_method = getattr(node.func, "attr", "") == "reshape"
    whole = _shape_of(node.args, fact) if is_method else None
    return node if whole is None else gast.Call(node.func, [whole], node.keywords)


def _shape_of(lengths: list[gast.AST], fact: Callable[[gast.AST], Any]) -> gast.AST | None:
    """The shape that the lengths of all axes of one array are."""
    read = [length_of(each) for each in lengths]
    if len(read) < 2 or any(not name for name, _ in read):
        return None
    shapes = {name: values.shape_of(fact(form.name(name))) for name, _ in read}
    if any(shape is None for shape in shapes.values()):
        return None
    wanted = tuple(shapes[name][axis] for name, axis in read)
    whole = (name for name, shape in shapes.items() if shape == wanted)
    name = next(whole, None)
    return name and gast.Attribute(value=form.name(name), attr="shape", ctx=gast.Load())


def length_of(value: gast.AST) -> tuple[str, int]:
    """(x, axis) of `len(x)` and `x.shape[axis]`; ("", 0) of anything else."""
    if isinstance(value, gast.Call) and getattr(value.func, "id", "") == "len":
        return getattr(value.args[0], "id", ""), 0
    if isinstance(value, gast.Subscript) and getattr(value.value, "attr", "") == "shape":
        axis = getattr(value.slice, "value", None)
        return (getattr(value.value.value, "id", ""), axis) if type(axis) is int else ("", 0)
    return "", 0


def _displayed(node: gast.AST) -> list[gast.AST] | None:
    """What stands in the list of `np.array([...])`."""
    if not isinstance(node, gast.Call) or node.keywords or len(node.args) != 1:
        return None
    path = (getattr(getattr(node.func, "value", None), "id", ""), getattr(node.func, "attr", ""))
    return getattr(node.args[0], "elts", None) if path == ("np", "array") else None


def negative_of(value: gast.AST) -> gast.AST | None:
    """-value, where that reads simpler."""
    if isinstance(value, gast.UnaryOp) and isinstance(value.op, gast.USub):
        return value.operand
    if isinstance(value, gast.Constant) and type(value.value) in (int, float) and value.value < 0:
        return form.constant(-value.value)
    if isinstance(value, gast.BinOp) and isinstance(value.op, gast.Mult | gast.Div):
        left = negative_of(value.left)
        if left is not None:
            return gast.BinOp(left, value.op, value.right)
    return None


def every(entries: Sequence[Entry]) -> Iterator[Entry]:
    """The entries and all in their blocks."""
    waiting = list(reversed(entries))
    while waiting:
        entry = waiting.pop()
        yield entry
        waiting += (each for block in reversed(entry.blocks) for each in reversed(block))


def direct_reads(entry: Entry) -> Iterator[str]:
    """The names that an entry reads itself, its blocks apart."""
    parts: list[Any] = [entry.call, [atom for _, atom in entry.moves]]
    if entry.store is not None:
        parts = [entry.store.value] if entry.store.kind == "update" else parts
        parts.append(form.name(entry.store.base))
    return (name for part in parts if part is not None for name in form.reads(part))


def is_plain_view(call: gast.Call) -> bool:
    """x[1:], x[:, None] or x.T of a name: cheaper to write again than to keep."""
    rule = rule_for(call.func.value)
    if not rule.view or not call.args or not isinstance(call.args[0], gast.Name):
        return False
    params: Sequence[gast.AST] = [each.value for each in call.keywords]
    atoms = [atom for each in params for atom in form.atoms_of(each)]
    return rule.written_short and all(isinstance(atom, gast.Constant) for atom in atoms)


__all__ = ["Line", "Refold", "every", "settings_of"]
