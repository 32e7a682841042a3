"""Temporaries go back into the expressions that read them, where that reads better and is safe."""

from __future__ import annotations

import operator
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import gast

from s2s_ad.analysis.truths import Valued
from s2s_ad.core import form, tree, values
from s2s_ad.core.builder import DERIVED
from s2s_ad.core.callee import has_effect
from s2s_ad.core.program import TEMPORARY, Hint, Program
from s2s_ad.core.registry import rule_of
from s2s_ad.core.sharing import lazy
from s2s_ad.core.tree import Tree
from s2s_ad.diagnostics import Origin
from s2s_ad.emit.choices import of_truths
from s2s_ad.emit.lines import Line, flat
from s2s_ad.emit.stores import Store
from s2s_ad.emit.surface import Surface, dotted

LARGEST = 7  # operations in an expression that we compose; the user's own may be larger

BROADCAST_TO = gast.dump(dotted("np", "broadcast_to"))

MOST_AGAIN = 3  # times that an operation on a number is written again


class Refold:
    """Walks the lines once; what is folded waits in `pending` until it is read.

    Args:
        called: whether another function of the module calls this one, and says what is returned.
    """

    def __init__(
        self,
        program: Program,
        lines: list[Line],
        output: Any,
        surface: Surface,
        *,
        called: bool = False,
    ):
        self.program, self.surface = program, surface
        self.has_keys = _has_keys(output)
        self.is_one = not isinstance(output, Tree)  # a return says as much as a name for it
        self.made_last: form.Statement | None = None  # what the one result is folded from
        self.returns = LARGEST if called or self.has_keys else 0  # what may stand in a return
        self.pending: dict[str, gast.AST] = {}
        self.sizes: dict[str, int] = {}
        self.origins: dict[str, list[Origin]] = {}  # of what is pending: where it comes from
        self.folded: list[Origin] = []  # where what is folded into the current line comes from
        names = [name for atom in tree.leaves(output) for name in form.reads(atom)]
        self.outputs = set(names)
        self.counts = Counter(names)
        self.read_by_effect: set[str] = set()
        self.added: set[str] = set()  # what sums read
        self.summed: Counter[str] = Counter()  # how often a sum reads it, or adds it to elements
        self.gathered: set[str] = set()  # what is put side by side, or where it is, in an adjoint
        self.read_under: dict[str, set] = {name: {()} for name in names}  # settings of the readers
        self.asked: Counter[str] = Counter()  # how often a branch asks it
        self.bases: set[str] = set()
        self.stored: dict[str, str] = {}  # a value -> the array that it becomes elements of
        for each in flat(lines):
            self._count(each)
        self.returned = output
        self.opened = lines
        self.goes_back = False  # whether the block is that of a loop back that needs its index

    def _count(self, line: Line) -> None:
        read = line.reads()
        self.counts.update(read)
        for name in read:
            self.read_under.setdefault(name, set()).add(settings_of(line.statement))
        if line.kind == "effect":
            self.read_by_effect.update(read)
        if line.kind == "if":
            self.asked.update(read)
        if line.kind == "assign":
            rule = rule_of(line.expression.func.value)
            if rule.adds:
                self.added.update(read)
                self.summed.update(read)
            if rule.gathers and line.statement.phase in DERIVED:
                self.gathered.update(read)
            derived = (
                each for each in read if self.program.hints.get(each, TEMPORARY).kind == "derived"
            )
            self.stored.update(dict.fromkeys(derived, line.name))
        if line.store is not None:
            self._count_stored(line, line.store)
        for name, atom in line.moves:
            self.bases.add(name)
            self.bases.update(form.reads(atom))  # assigned where they are computed

    def _count_stored(self, line: Line, store: Store) -> None:
        self.bases.add(store.base)
        if store.kind == "add":
            self.summed.update(form.reads(line.expression))
        if store.kind in ("set", "add", "update"):
            self.stored[getattr(line.expression, "id", "")] = line.statement.target
        if store.kind in ("set", "add") and line.statement.phase in DERIVED:
            self.gathered.add(getattr(line.expression, "id", ""))

    def lines(self) -> list[Line]:
        return self._block(self.opened, list(self.outputs))

    def output(self) -> Any:
        """What is returned, with what was folded."""
        return tree.tree_map(lambda atom: self._folded(atom), self.returned)

    def _block(
        self, lines: list[Line], outputs: Sequence[str] = (), *, tried: bool = False
    ) -> list[Line]:
        """The lines of a block; of what is `tried` nothing moves behind a change."""
        readers = Readers(lines, outputs)
        found: list[Line] = []
        around = self.folded
        for position, line in enumerate(lines):
            self.folded = []
            if line.kind == "assign":
                expression, size = self._composed(line.expression, line.name)
                read = form.reads(expression)
                if self._is_unread(line):
                    found.append(_alone(line, expression, self.folded))
                    continue
                changes = readers.changes(position, line.name, None if tried else read)
                if not changes and self._folds(line, size, readers, read):
                    self._wait(line, expression, size)
                    continue
                made = replace(line, expression=expression)
            else:
                made = self._line(line)
            made.folded = self.folded
            found.append(made)
        self.folded = around
        return found

    def _is_unread(self, line: Line) -> bool:
        """Whether nothing reads a value without a name: it is there for what it may raise."""
        name = line.name
        named = self.program.hints.get(name, TEMPORARY).kind != "temporary"
        kept = named or name in self.outputs or name in self.bases or line.store is not None
        return not kept and not self.counts[name] and not has_effect(line.statement)

    def _wait(self, line: Line, expression: gast.AST, size: int) -> None:
        """Keep a value until it is read."""
        name, origin = line.name, line.statement.origin
        self.pending[name], self.sizes[name] = expression, size
        self.origins[name] = self.folded if origin is None else [origin, *self.folded]

    def _line(self, line: Line) -> Line:
        """The line with what is folded into it, and into its blocks."""
        head, kind = line.expression, line.kind
        if kind == "unpack":
            return replace(line, expression=self._composed(head)[0])
        if kind == "moves":
            moves = [
                (name, atom if form.is_undefined(atom) else self._folded(atom))
                for name, atom in line.moves
            ]
            return replace(line, moves=moves)
        if kind == "while":
            before = self._block(line.blocks[0], form.reads(head))
            condition = self._folded(head)  # of what its lines have left to fold
            return replace(line, expression=condition, blocks=(before, self._block(line.blocks[1])))
        if kind == "for":
            head = [self._folded(each) for each in head]
        elif head is not None:
            head = self._folded(head)
        index = None if line.index is None else self._folded(line.index)
        before = self.goes_back
        if kind == "for":
            self.goes_back = line.backwards and _needs_index(line, self.program.facts)
        blocks = tuple(
            self._block(each, tried=kind == "try" and position == 0)
            for position, each in enumerate(line.blocks)
        )
        self.goes_back = before
        return replace(line, expression=head, index=index, blocks=blocks)

    def _composed(self, call: gast.Call, name: str = "") -> tuple[gast.AST, int]:
        expression = self.surface.expression(call)
        inner = self._inner(expression)
        size = 1 + sum(self.sizes[each] for each in inner) - self._is_minus(call)
        expression = form.substitute(expression, self.pending)
        if self._is_of_truths(call, name):
            expression = of_truths(expression, rule_of(call.func.value))
        expression = filled(nested(subtracted(expression)))
        return negated_first(shaped(expression, self.program.fact), self.program.fact), size

    def _is_of_truths(self, call: gast.Call, name: str) -> bool:
        """Whether Python's `and`, `or` or `not` of the operands is what `name` stands for."""
        rule = rule_of(call.func.value)
        if (rule.shared_truth is None and not rule.negates) or call.keywords:
            return False
        facts = [*map(self.program.fact, call.args), self.program.facts.get(name)]
        if all(fact == values.Scalar(bool) for fact in facts):
            return True
        return all(map(values.is_truth, facts)) and name not in self._valued

    @lazy
    def _valued(self) -> Valued:
        """The values of which more than the truth counts."""
        return Valued(self.program)

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

    def _folds(self, line: Line, size: int, readers: Readers, read: Sequence[str]) -> bool:
        """Whether the value, which is made of what is `read`, is better read where it is used."""
        name, statement = line.name, line.statement
        rule = rule_of(line.expression.func.value)
        if name in self.bases or name in readers.tried or has_effect(statement):
            return False
        if self.read_under.get(name, set()) - {settings_of(statement)}:
            return False
        hint = self.program.hints.get(name, TEMPORARY)
        if hint.kind != "temporary" and not self._is_stored(name, hint):
            derived = hint.kind == "derived"
            told = self._is_told(line, size) if derived else self._is_part(line, readers)
            return told and not readers.replaces(name, read)
        if name in self.outputs:
            fits = size <= LARGEST or self._is_users(statement)
            return self.counts[name] == 1 and fits
        sizes = [self.sizes.get(each, 0) for each in form.reads(line.expression)]
        if rule.length and max(sizes, default=0) <= 1:
            return True  # of an array, or of a view that is written again
        again = rule.cheap or self._is_plain_view(line, readers) or self._is_short(line, readers)
        again = again or self._is_question(line, readers) or self._is_subtracted(line)
        if again and not any(sizes):
            return True  # shorter to write again than to name
        if size == 2 and self._is_index(line, readers):
            return True
        if name in self.read_by_effect or name in readers.nested:
            return False
        goes_on = name in self.added or name in self.stored
        more = 2 if goes_on and rule_of(line.expression.func.value).adds else 1
        if name in self.gathered and statement.phase in DERIVED:
            more = 2  # the element that it becomes part of says what it is
        return self.counts[name] == 1 and (size < more * LARGEST or self._is_users(statement))

    def _is_part(self, line: Line, readers: Readers) -> bool:
        """Whether a loop back reads, in one place, an element that the user has named."""
        name, rule = line.name, rule_of(line.expression.func.value)
        once = self.counts[name] == 1 and name not in self.outputs | self.read_by_effect
        return self.goes_back and once and rule.written_short and name not in readers.nested

    def _is_told(self, line: Line, size: int) -> bool:
        """Whether the one place where an adjoint is read says what it is."""
        name = line.name
        if line.statement.phase not in DERIVED or self.counts[name] > 1:
            return False
        if name in self.outputs and self.is_one:
            self.made_last = line.statement
            return True
        if name not in self.outputs or size > self.returns:
            return name in self.gathered and size <= 2 * LARGEST
        self.returns -= 0 if self.has_keys else size  # each has a line of its own, with its key
        return True

    def _is_stored(self, name: str, hint: Hint) -> bool:
        """Whether the value goes into a variable of the same name, and nowhere else."""
        called = self.program.hints.get(self.stored.get(name, ""))
        goes_on = hint.kind == "derived" and name in self.added
        return called is not None and (called.text == hint.text or (goes_on and not called.text))

    def _is_users(self, statement: form.Statement) -> bool:
        """Part of a larger expression that the user wrote as one."""
        return statement.phase in ("", "forward") and bool(statement.origin)

    def _is_plain_view(self, line: Line, readers: Readers) -> bool:
        """x[1:], x[:, None] or x.T of an array with a name: cheaper to write again than to keep."""
        rule, args = rule_of(line.expression.func.value), line.expression.args
        if not rule.view or not args or not isinstance(args[0], gast.Name):
            return False
        is_list = isinstance(self.program.facts.get(line.name), values.List)
        if is_list and line.name in readers.nested:
            return False  # a part of a list is a copy: none in each pass
        params: Sequence[gast.AST] = [each.value for each in line.expression.keywords]
        atoms = [atom for each in params for atom in form.atoms_of(each)]
        return rule.written_short and all(isinstance(atom, gast.Constant) for atom in atoms)

    def _is_short(self, line: Line, readers: Readers) -> bool:
        """Whether it is a number of Python's that is shorter than a name for it: i + 1, 0.5 * dt.

        A value that many read has a name, unless it is a whole number next to another.
        """
        args, name = line.expression.args, line.name
        numbers = [each.value for each in args if isinstance(each, gast.Constant)]
        fact, rule = self.program.facts.get(name), rule_of(line.expression.func.value)
        if not isinstance(fact, values.Scalar):
            users = values.shape_of(fact) == () and self._is_users(line.statement)
            inexact = values.is_inexact(fact) is True
            return users and inexact and self._is_simple(line, numbers, readers, 2)
        if fact.kind is bool:
            return False
        if self._is_minus(line.expression):
            return True
        if fact.kind is int and len(args) == 2 and rule.adds and [*map(type, numbers)] == [int]:
            return True
        if rule.elementwise and len(numbers) == len(args):
            return True  # 0.1**2, which Python computes when it compiles the text
        return self._is_simple(line, numbers, readers, MOST_AGAIN)

    def _is_question(self, line: Line, readers: Readers) -> bool:
        """Whether it is a comparison that branches ask, `if x > 0`, of values that are still there:
        it is asked again."""
        args, name = line.expression.args, line.name
        if not rule_of(line.expression.func.value).compares or self.asked[name] < self.counts[name]:
            return False
        facts = map(self.program.fact, args)
        single = name not in readers.nested and all(values.rank_of(fact) == 0 for fact in facts)
        last = readers.last[name]
        return single and all(
            each in self._unchanged or readers.last.get(each, -1) >= last
            for each in form.reads(args)
        )

    @lazy
    def _unchanged(self) -> set[str]:
        """The parameters whose names no other value has: they are there to the end."""
        hints, leaves = self.program.hints, self.program.leaves()
        others = {hint.text for name, hint in hints.items() if name not in leaves}
        return {each for each in leaves if each in hints and hints[each].text not in others}

    def _is_simple(self, line: Line, numbers: list, readers: Readers, most: int) -> bool:
        """Whether it is one operation on one value, which so many read in this block."""
        rule, name = rule_of(line.expression.func.value), line.name
        simple = rule.elementwise and rule.cost == 1
        simple = simple and len(numbers) >= len(line.expression.args) - 1
        return simple and self.counts[name] <= most and name not in readers.nested

    def _is_index(self, line: Line, readers: Readers) -> bool:
        """Whether it is a sum of whole numbers that is read to find an element, and to change it:
        x[2 * i + 1]."""
        fact, name = self.program.facts.get(line.name), line.name
        whole = isinstance(fact, values.Scalar) and fact.kind is int
        few = self.counts[name] <= 2 and name not in readers.nested
        return whole and few and rule_of(line.expression.func.value).adds

    def _is_minus(self, call: gast.Call) -> bool:
        """Whether it is a whole number with a minus, as in x[:-n]: that is read as one thing."""
        if rule_of(call.func.value).function is not operator.neg:
            return False
        fact = self.program.fact(call.args[0])
        return isinstance(fact, values.Scalar) and fact.kind is int

    def _is_subtracted(self, line: Line) -> bool:
        """Whether it is the negative of a value, of which each reader is a sum: a -= b."""
        is_negative = rule_of(line.expression.func.value).function is operator.neg
        return is_negative and self.summed[line.name] == self.counts[line.name]


def _alone(line: Line, expression: gast.AST, folded: list[Origin]) -> Line:
    """The line without a name for its value."""
    made = replace(line, kind="effect", name="", expression=gast.Expr(expression))
    made.folded = folded
    return made


def _needs_index(loop: Line, facts: Mapping[str, values.AbstractValue]) -> bool:
    """Whether the index of a loop is read by more than the items that it could be a loop over."""
    indices = {loop.name}
    for each in flat(loop.blocks[0]):
        if indices.isdisjoint(each.reads()):
            continue
        if each.kind != "assign":
            return True
        if facts.get(each.name) == values.Scalar(int):
            indices.add(each.name)
        elif not rule_of(each.expression.func.value).written_short:
            return True
    return False


def _has_keys(output: Any) -> bool:
    """Whether a container says by a key or a name what each of its items is."""
    return isinstance(output, Tree) and output.kind not in (tuple, list)


class Readers:
    """Where the names that the lines of a block define are read last.

    Attributes:
        nested: names that a block inside reads.
        tried: names that a "try" inside reads: what computes them may raise before it, not in it.
    """

    def __init__(self, lines: list[Line], outputs: Sequence[str]):
        self.last: dict[str, int] = dict.fromkeys(outputs, len(lines))
        self.nested: set[str] = set()
        self.tried: set[str] = set()
        for position in range(len(lines) - 1, -1, -1):
            inside = inside_of(lines[position])
            self.nested |= inside.reads
            if inside.tries:
                self.tried |= inside.reads
            for name in {*lines[position].reads(), *inside.reads}:
                self.last.setdefault(name, position)
        self._made = {each.name: position for position, each in enumerate(lines)}
        moves = [move for each in lines for move in each.moves]
        self._next = {  # what a loop carries -> where it is computed for the next pass
            name: self._made.get(getattr(atom, "id", ""), -1) for name, atom in moves
        }
        self._changed: dict[str | None, list[int]] = {}  # where a variable changes; None: any
        for position, each in enumerate(lines):
            changes = inside_of(each).changes
            for variable in (*changes, None) if changes else ():
                self._changed.setdefault(variable, []).append(position)

    def changes(self, position: int, name: str, read: Sequence[str] | None) -> bool:
        """Whether one of these (None: any variable) changes before the last reader of the name.

        The name is the one that is defined at `position`.
        """
        until = self.last.get(name, -1) + (name in self.nested)
        for variable in (None,) if read is None else read:
            places = self._changed.get(variable, ())
            after = bisect_right(places, position)
            if after < len(places) and places[after] < until:
                return True
        return False

    def replaces(self, name: str, read: Sequence[str]) -> bool:
        """Whether one of these is computed for the next pass before the name is read last.

        It would need two names.
        """
        first, last = self._made[name], self.last.get(name, -1)
        return any(first < self._next.get(each, -1) < last for each in read)


def settings_of(statement: form.Statement) -> tuple[tuple[str, str], ...]:
    """The settings of np.errstate that a statement needs around it."""
    settings = () if statement.origin is None else statement.origin.settings
    return tuple(each for each in settings if each[1] != "calm")


@dataclass(frozen=True, slots=True)
class Inside:
    """What happens in a line.

    Attributes:
        reads: the names that its blocks read, and the condition of a while: in each pass.
        changes: the variables that it assigns anew, or whose memory it changes.
        tries: whether it is a "try", or there is one in its blocks.
    """

    reads: set[str]
    changes: set[str]
    tries: bool


def inside_of(line: Line) -> Inside:
    """What happens in a line: blocks in blocks are looked at once."""
    if line.inside is None:
        reads = set(form.reads(line.expression)) if line.kind == "while" else set()
        changes = {name for name, _ in line.moves}
        changes.update(() if line.store is None else line.store.changed)
        tries = line.kind == "try"
        for each in (each for block in line.blocks for each in block):
            inner = inside_of(each)
            reads.update(inner.reads, each.reads())
            changes |= inner.changes
            tries |= inner.tries
        line.inside = Inside(reads, changes, tries)
    return line.inside


def subtracted(node: gast.AST) -> gast.AST:
    """a - 2 * b for a + -2 * b, and a + 2 * b for a - -2 * b."""
    if not isinstance(node, gast.BinOp) or not isinstance(node.op, gast.Add | gast.Sub):
        return node
    positive = negative_of(node.right)
    other = gast.Sub() if isinstance(node.op, gast.Add) else gast.Add()
    return node if positive is None else gast.BinOp(node.left, other, positive)


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


def filled(node: gast.AST) -> gast.AST:
    """np.full(x.shape, row) for np.broadcast_to(row, x.shape).copy()."""
    whole = getattr(getattr(node, "func", None), "value", None)
    is_copy = isinstance(node, gast.Call) and getattr(node.func, "attr", "") == "copy"
    if not is_copy or not isinstance(whole, gast.Call) or node.args or whole.keywords:
        return node
    if gast.dump(whole.func) != BROADCAST_TO:
        return node
    value, shape = whole.args
    known = isinstance(shape, gast.Attribute)
    return gast.Call(dotted("np", "full"), [shape, value], []) if known else node


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
    shapes = {name: values.shape_of(fact(form.name(name))) or () for name, _ in read}
    if not all(shapes.values()):
        return None
    wanted = tuple(shapes[name][axis] for name, axis in read)
    named = (form.name(name) for name, shape in shapes.items() if shape == wanted)
    return next((gast.Attribute(name, "shape", gast.Load()) for name in named), None)


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
    left = negative_of(value.left) if isinstance(value, gast.BinOp) else None
    if left is not None and isinstance(value.op, gast.Mult | gast.Div | gast.MatMult):
        return gast.BinOp(left, value.op, value.right)
    if left is not None and isinstance(value.op, gast.Sub):  # that of -a - b is a + b
        return gast.BinOp(left, gast.Add(), value.right)
    return None


__all__ = ["Refold", "settings_of"]
