"""Readable names: the user's own, their adjoints, and words for what has no name yet."""

from __future__ import annotations

import builtins
import functools
import keyword
import operator
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any, TypeGuard

import gast

from s2s_ad import runtime
from s2s_ad.analysis.described import Described, element
from s2s_ad.analysis.indices import index_kind
from s2s_ad.core import form, values
from s2s_ad.core.builder import DERIVED
from s2s_ad.core.callee import callee_of
from s2s_ad.core.program import LONGEST, TEMPORARY, Hint, Program, list_of
from s2s_ad.core.regions import blocks_of
from s2s_ad.core.sharing import lazy
from s2s_ad.emit.coalesce import Variables
from s2s_ad.emit.lines import Line, flat
from s2s_ad.emit.numbering import Numbering, Test
from s2s_ad.emit.tidy import popped_from

FARTHEST = 4  # values between one and what it is called after
ROLES = {gast.Add: "term", gast.Sub: "term", gast.Mult: "factor", gast.Div: "factor"}
UNSAID = ("einsum", "contract")

WORDS = {
    gast.Add: "total",
    gast.Compare: "mask",
    gast.Div: "ratio",
    gast.MatMult: "product",
    gast.Mult: "product",
    gast.Pow: "power",
    gast.Sub: "difference",
    gast.USub: "negated",
}


def means_something(name: str) -> bool:
    """Whether text that another function of the module holds may mean something by the name."""
    return name in ("np", "numpy") or hasattr(builtins, name) or hasattr(runtime, name)


class Naming:
    """Gives each variable of the lines a name; a name is used again where the old value is dead.

    Args:
        described: what values without a name may be called.
        reserved: names that mean something else in the module.
        captured: what captured names are called in the module; new ones are entered.
        elsewhere: names that mean something else in other functions of the module; a captured name,
            which is the same in all of them, leaves these alone too.
        by_sort: whether no name is that of a list and of an array in turn.
    """

    def __init__(
        self,
        program: Program,
        lines: list[Line],
        variables: Variables,
        described: Described,
        reserved: Iterable[str],
        captured: dict[str, str],
        elsewhere: Iterable[str] = (),
        *,
        by_sort: bool = False,
    ):
        self.program, self.variables, self.described = program, variables, described
        self._lines = lines
        self.by_sort = by_sort
        self.reserved = set(reserved)
        self.shown: dict[str, str] = {}
        self.numbering = Numbering(variables)
        self._hints: dict[str, Hint] = {}
        self._numbers: dict[str, bool] = {}  # see is_number
        self.read = {name for line in flat(lines) for name in line.reads()}
        self.users = {hint.text for hint in program.hints.values() if hint.kind == "user"}
        outside = {*program.leaves(), *(each.name for each in program.captured())}
        self.foreign = _reached(outside, lines, variables)
        arrays = {each for each in outside if not _is_immutable(program.facts.get(each))}
        arrays |= {line.name for line in flat(lines) if _may_be_array(program, line)}
        arrays |= {name for line in flat(lines) for name in _handed_over(program, line)}
        self.arrays = _reached(arrays, lines, variables)
        self.sums = _partial_sums(program, lines)
        self.made = {line.name: line for line in flat(lines) if line.kind == "assign"}
        self.kept: dict[str, Any] = {  # a list -> what is appended to it
            variables.of(line.store.base): line.expression
            for line in reversed([*flat(lines)])
            if line.store is not None and line.store.kind == "append"
        }
        self.moved = [pair for line in flat(lines) for pair in line.moves]
        self._name_captures(program, captured, {*elsewhere})
        for line in flat(lines):
            self._name_line(line)

    @property
    def discarded(self) -> str:
        """Where an output goes that nobody reads: `_`, unless that is a name of the user's."""
        candidate = "_"
        while candidate in self.numbering.holders:
            candidate += "_"
        return candidate

    def is_number(self, name: str) -> bool:
        """Whether the variable is certain to hold numbers, never an array of somebody else's.

        Neither does another variable of that name hold one. Asked when all variables have names.
        """
        variable = self.variables.of(name)
        if variable not in self._numbers:
            self._numbers[variable] = self._is_number(variable)
        return self._numbers[variable]

    def _is_number(self, variable: str) -> bool:
        users = self._hint(variable).kind == "user"  # who wrote x = x + 1 reads that
        if (users and variable in self.foreign) or self.shown[variable] in self._of_arrays:
            return False
        facts = (self.program.facts.get(each) for each in self.variables.names(variable))
        return all(each is not None and values.shape_of(each) == () for each in facts)

    def of_the_user(self, node: Any) -> set[str]:
        """What names of the user's that a node reads are called."""
        named = [each for each in form.reads(node) if each in self.shown]
        return {
            self.shown[each] for each in named if self._hint(self.variables.of(each)).kind == "user"
        }

    def holds_numbers(self, name: str) -> bool:
        """Whether the items of a list are certain to be numbers, arrays without axes neither."""
        fact = self.program.facts.get(name)
        is_plain = isinstance(fact, values.List) and values.shape_of(fact.item) == ()
        return is_plain and self.variables.of(name) not in self._lists_of_others

    @lazy
    def _lists_of_others(self) -> set[str]:
        """The variables whose lists may hold what is an array, or what was handed in."""
        of, facts = self.variables.of, self.program.facts
        holders: dict[str, list[str]] = {}  # a variable -> the lists that its value goes into
        roots = self.arrays | {each for each in self.foreign if not _is_immutable(facts.get(each))}
        for op in _operations(self.program):
            if callee_of(op):
                roots.add(of(op.target))
            if values.shape_of(facts.get(op.target)) is not None or op.rule.of_shape:
                continue  # no list, nor what one comes out of, or a new one
            for each in op.operands:
                if isinstance(each, gast.Name) and not values.shape_of(facts.get(each.id)):
                    holders.setdefault(of(each.id), []).append(of(op.target))
        for line in flat(self._lines):
            if line.kind == "unpack":
                roots.update(of(name) for name in line.assigns())
        return _reached(roots, self._lines, self.variables, holders)

    @lazy
    def _of_arrays(self) -> set[str]:
        """The names of the text that are those of arrays."""
        return {self.shown[each] for each in self.arrays if each in self.shown}

    def families(self) -> dict[str, str]:
        """Each name of the text and the one that it is made of: `x_bar` and `x_2` of `x`."""
        found: dict[str, str] = {}
        for name, shown in self.shown.items():
            if shown not in found:
                hint = self._hint(self.variables.of(name))
                found[shown] = hint.of or hint.text or shown
        for variable, item in self.kept.items():
            kept = self.shown.get(getattr(item, "id", ""))
            if kept and variable in self.shown:
                found[self.shown[variable]] = found.get(kept, kept)
        return found

    def _name_captures(
        self, program: Program, captured: dict[str, str], elsewhere: set[str]
    ) -> None:
        """Captured names are the module's: the same in each of its functions."""
        names = [each.name for each in program.captured()]
        for name in names:
            if name in captured:
                self._take(name, captured[name])
        self.reserved |= {captured[name] for name in names if name in captured}
        for name in program.leaves():
            self._take(name, self._free(program.hints[name].text, name, again=False))
        own, self.reserved = self.reserved, self.reserved | elsewhere | {*captured.values()}
        for name in names:
            if name not in captured:
                text = program.hints[name].text
                text = f"{text}_value" if means_something(text) else text
                captured[name] = self._free(text, name, again=False)
                self._take(name, captured[name])
        self.reserved = own | {captured[name] for name in names}

    def _name_line(self, line: Line) -> None:
        if line.kind == "effect":
            self._name_bound(line)
        if line.kind == "unpack" or (line.store is not None and line.store.kind == "pop"):
            self._follow_lists(line)
        if line.kind == "assign" and (inner := self.kept.get(self._copied_list(line))):
            self.kept.setdefault(self.variables.of(line.name), inner)
        for name in line.assigns():
            variable = self.variables.of(name)
            if variable in self.shown or name in self.shown:
                continue
            if line.kind == "for" and name not in self.read:
                self.shown[name] = self.discarded
                continue
            hint = self._hint(variable)
            text, again = hint.text, bool(hint.text)
            if text in ("", "saved") and variable in self.kept:
                text = self._list_word(self.kept[variable]) or text or "items"
            elif text == "saved":
                text = self._saved_word(line, variable)
            elif not text:
                text, again = self._line_word(line, variable)
            self._take(variable, self._free(text, variable, hint.kind, again=again))

    def _line_word(self, line: Line, variable: str) -> tuple[str, bool]:
        """(what a line makes, whether it may be one name with other values in turn)."""
        if line.kind == "assign":
            text = self.described.text(line.name)
            text = text or self._word(line.expression)
            return text or self._becoming(line.name) or _plain_word(line.expression), False
        if line.kind == "for":
            return "i", True
        if line.store is not None:  # the item of a pop
            shown = self.shown[line.store.base]
            if shown.endswith("_saved"):
                return shown.removesuffix("_saved"), True
        if kept := self._kept_as(line, variable):
            return kept, True
        becoming = map(self._becoming, self.variables.names(variable))
        return next(filter(None, (*self._moved_words(variable), *becoming)), "value"), False

    def _copied_list(self, line: Line) -> str:
        """The list of which a line makes a copy."""
        whole = getattr(line.expression, "slice", None)
        if not isinstance(whole, gast.Slice) or whole.lower or whole.upper or whole.step:
            return ""
        return self.variables.of(getattr(line.expression.value, "id", ""))

    def _saved_word(self, line: Line, variable: str) -> str:
        """What a function saves for its backward pass is called after it."""
        call = callee_of(line.statement)
        kept = self._kept_as(line, variable) if line.kind == "unpack" and call is None else ""
        called = "" if call is None else call.program.name.removesuffix("_forward")
        text = kept or (f"{called}_saved" if called else "")
        return text if 0 < len(text) <= LONGEST else "saved"

    def _kept_as(self, line: Line, variable: str) -> str:
        """What an item was called when it was put into the tuple that a list is asked for."""
        return self.shown.get(dict(self._items(line)).get(variable, ""), "")

    def _items(self, line: Line) -> Iterator[tuple[str, str]]:
        """Each variable that a line takes from a list, with what was put there."""
        base = popped_from(line)
        kept = self.kept.get(self.variables.of(base)) if base else None
        names = line.names if line.kind == "unpack" else (line.name,)
        items = kept.elts if line.kind == "unpack" and isinstance(kept, gast.Tuple) else [kept]
        if len(names) == len(items):
            for name, item in zip(names, items, strict=True):
                if name and isinstance(item, gast.Name):
                    yield self.variables.of(name), item.id

    def _follow_lists(self, line: Line) -> None:
        """A list that is taken from a list holds what was put into it before that."""
        for variable, item in self._items(line):
            inner = self.kept.get(self.variables.of(item))
            if inner is not None:
                self.kept.setdefault(variable, inner)

    def _moved_words(self, variable: str) -> Iterator[str]:
        """What the values that branches give a variable may be called."""
        for name, atom in self.moved:
            if isinstance(atom, gast.Name) and self.variables.of(name) == variable:
                yield self.described.text(atom.id)

    def _list_word(self, item: gast.AST) -> str:
        """What a list is called: `x_saved` keeps values of x, `y_0_saved` those of `y[0]`."""
        if not isinstance(item, gast.Name):
            return list_of(self._word(item))
        variable = self.variables.of(item.id)
        text = self._hint(variable).text
        made = next((each for each in self.variables.names(variable) if each in self.made), "")
        if not text and made:
            text = self.described.text(made) or self._word(self.made[made].expression)
        inner = self.kept.get(variable)
        if inner is not None and text in ("", "saved"):
            text = self._list_word(inner)
        return list_of(text or self._becoming(item.id))

    def _hint(self, variable: str) -> Hint:
        """The best of the hints of the values that the variable holds in turn."""
        if variable not in self._hints:
            self._hints[variable] = self._best_hint(variable)
        return self._hints[variable]

    def _best_hint(self, variable: str) -> Hint:
        hints = [self.program.hints.get(n, TEMPORARY) for n in self.variables.names(variable)]
        ranks = [n in self.variables.weak for n in self.variables.names(variable)]
        best = min(zip(ranks, hints, strict=True), key=lambda each: _rank(*each))[1]
        return best if best.text else self.sums.get(variable, best)

    def _name_bound(self, line: Line) -> None:
        """The loop variables of a batched effect, and those of comprehensions in it."""
        for node in gast.walk(line.expression):
            if isinstance(node, gast.Name) and isinstance(node.ctx, gast.Store):
                hint = self.program.hints.get(node.id, TEMPORARY)
                self._take(node.id, self._free(hint.text or "sample", node.id, again=False))

    def _take(self, variable: str, shown: str) -> None:
        for name in self.variables.names(self.variables.of(variable)):
            self.shown[name] = shown
        self.shown[variable] = shown
        self.numbering.take(shown, self.variables.of(variable))

    def _free(self, text: str, variable: str, kind: str = "user", *, again: bool = True) -> str:
        """`text`, or `text_2` ... where it means something else at this place."""
        text = unicodedata.normalize("NFKC", text)
        text = text if f"{text}_2".isidentifier() else "value"
        if again:
            allowed = functools.partial(self._may_take, kind=kind)
            if self.by_sort:
                allowed = self._of_its_sort(variable, allowed)
            return self.numbering.free(text, variable, allowed)
        return self.numbering.unused(text, lambda each: self._may_take(each, kind))

    def _of_its_sort(self, variable: str, allowed: Test) -> Test:
        """Whether a name is allowed and no list has it where the variable is an array, or so on."""
        is_list = self._holds_list(self.variables.names(self.variables.of(variable)))

        def fits(text: str) -> bool:
            holders = self.numbering.held_by(text)
            return allowed(text) and all(self._holds_list(e.names) == is_list for e in holders)

        return fits

    def _holds_list(self, names: Iterable[str]) -> bool:
        facts = (self.program.facts.get(each) for each in names)
        return any(isinstance(each, values.List | values.Saved) for each in facts)

    def _may_take(self, text: str, kind: str) -> bool:
        if text in self.reserved or keyword.iskeyword(text) or not text.isidentifier():
            return False
        return kind == "user" or not (text in self.users or hasattr(builtins, text))

    def _word(self, expression: gast.AST) -> str:
        """A name for a value that has none, from what computes it; "" where that says nothing."""
        if isinstance(expression, gast.Call):
            function = expression.func
            label = getattr(function, "attr", getattr(function, "id", ""))
            receiver = getattr(function, "value", None)
            own = isinstance(receiver, gast.Name) and receiver.id in self.shown
            first = receiver if own or not expression.args else expression.args[0]
            return "" if label in UNSAID else self._joined(label, first)
        if isinstance(expression, gast.Subscript):
            base = self._called(expression.value) or self._word(expression.value)
            text = element(base, expression.slice, self._called)
            if (not text or len(text) > LONGEST) and base:
                text = f"{base}_part"
            return text if text.isidentifier() and len(text) <= LONGEST else ""
        if isinstance(expression, gast.Attribute):
            return self._joined(expression.attr, expression.value)
        if isinstance(expression, gast.ListComp):  # zeros for each item of a list
            kept = self._called(expression.generators[0].iter)
            return f"{kept}_bar" if kept else ""
        if isinstance(expression, gast.BinOp) and isinstance(expression.left, gast.List):
            kept = self._called(getattr(expression.right, "args", [None])[0])
            return f"{kept}_bar" if kept else ""
        return ""

    def _called(self, node: gast.AST | None) -> str:
        """The name of a variable, or what it will be called."""
        if not isinstance(node, gast.Name):
            return ""
        return self.shown.get(node.id, "") or self._hint(self.variables.of(node.id)).text

    def _joined(self, label: str, node: gast.AST | None) -> str:
        shown = self._called(node)
        joined = f"{label}_{shown}"
        return joined if shown and joined.isidentifier() and len(joined) <= LONGEST else ""

    def _becoming(self, name: str) -> str:
        """What a value becomes a part of: `y_bar_term`, `loss_factor`, the `state` of a helper."""
        first = self.made.get(name)
        for _ in range(FARTHEST):
            reader = self._readers.get(name)
            if reader is None or (first is not None and _goes_back(first, reader)):
                return ""
            text = self._part_of(reader, name)
            if text:
                return text if len(text) <= LONGEST else ""
            name = reader.name
        return ""

    def _part_of(self, reader: Line, name: str) -> str:
        """What is read is called after what the line makes of it."""
        if reader.kind in ("if", "while"):
            return "condition"
        call = callee_of(reader.statement)
        if call is not None:
            operands = [getattr(each, "id", "") for each in reader.statement.operands]
            leaf = call.program.leaves()[operands.index(name)] if name in operands else ""
            return call.program.hints.get(leaf, TEMPORARY).text
        made = reader.name if reader.store is None else reader.store.base
        text = self._hint(self.variables.of(made)).text if made else ""
        return f"{text}_{_role(reader.expression, name)}" if text.strip("_") else ""

    @lazy
    def _readers(self) -> dict[str, Line]:
        """The first line that computes with each value."""
        found: dict[str, Line] = {}
        for line in flat(self._lines):
            for name in line.reads() if line.store is None or line.store.kind != "append" else ():
                found.setdefault(name, line)
        return found

    def renamed(self, node: Any) -> Any:
        """The tree with Core names replaced by the names shown."""
        if isinstance(node, gast.Name):
            name: str = node.id
            return form.name(self.shown.get(name, name), type(node.ctx))
        if isinstance(node, list):
            return [self.renamed(item) for item in node]
        if isinstance(node, gast.Constant) or not isinstance(node, gast.AST):
            return node
        fields = {name: self.renamed(getattr(node, name, None)) for name in node._fields}
        return type(node)(**fields)


def _plain_word(expression: gast.AST) -> str:
    """The name of an operation."""
    if not isinstance(expression, gast.Call):
        return WORDS.get(type(getattr(expression, "op", expression)), "value")
    function = expression.func
    label = getattr(function, "attr", getattr(function, "id", ""))
    return label if label.isidentifier() and label not in UNSAID else "product"


def _goes_back(line: Line, reader: Line) -> bool:
    """Whether a value of the user's is read by a derivative."""
    return reader.statement.phase in DERIVED and line.statement.phase not in DERIVED


def _role(expression: Any, name: str) -> str:
    """What an operand is to the operation that reads it."""
    for node in gast.walk(expression) if isinstance(expression, gast.AST) else ():
        sides = (node.left, node.right) if isinstance(node, gast.BinOp) else ()
        if name in (getattr(each, "id", "") for each in sides):
            return ROLES.get(type(node.op), "part")
    return "term" if getattr(expression, "id", "") == name else "part"


def _partial_sums(program: Program, lines: list[Line]) -> dict[str, Hint]:
    """What is called after the adjoint of which it is a part: `x_bar = a - b; x_bar = x_bar + c`.

    A sum that has no name, and that nothing reads but the sum which goes on with it.
    """
    found: dict[str, Hint] = {}
    every = [*flat(lines)]
    reads = Counter(name for line in every for name in line.reads())
    sums = [line for line in every if line.kind == "assign" and _is_sum(line.expression)]
    made = {line.name for line in sums if line.statement.phase == "backward"}
    for line in reversed(sums):
        hint = program.hints.get(line.name, TEMPORARY)
        hint = hint if hint.text else found.get(line.name, hint)
        first = line.expression
        while _is_sum(first):
            first = first.left
        name = getattr(first, "id", "")
        own = program.hints.get(name, TEMPORARY).text
        if hint.kind == "derived" and name in made and not own and reads[name] == 1:
            found[name] = hint
    return found


def _is_sum(node: Any) -> TypeGuard[gast.BinOp]:
    return isinstance(node, gast.BinOp) and isinstance(node.op, gast.Add | gast.Sub)


def _rank(weak: bool, hint: Hint) -> tuple:
    return ("user", "derived", "temporary").index(hint.kind), weak, not hint.text


def _is_immutable(fact: Any) -> bool:
    return isinstance(fact, values.Scalar) or (isinstance(fact, values.Array) and bool(fact.number))


def _may_be_array(program: Program, line: Line) -> bool:
    """Whether a line may give an array without axes: `x[...]`, `np.zeros(())`, an item of a list.

    Of all but views, what computes with numbers gives a number of NumPy's, which nobody can change.
    """
    if line.kind != "assign" or values.shape_of(program.facts.get(line.name)) != ():
        return False
    op = line.statement
    if isinstance(program.facts[line.name], values.Scalar):
        return False
    if op.function is operator.getitem:
        fact = program.fact(op.operands[0])
        kind = index_kind(op.parameters["index"], fact, program.fact)
        return isinstance(fact, values.List) or kind not in ("number", "new")
    return op.rule.is_view(op.operands, program.fact) or op.rule.keeps_array


def _handed_over(program: Program, line: Line) -> Iterator[str]:
    """What has no axes and comes out of a list or a function: perhaps an array that went in."""
    for name in line.assigns() if line.kind in ("store", "unpack") else ():
        fact = program.facts.get(name)
        if values.shape_of(fact) == () and not _is_immutable(fact):
            yield name


def _operations(program: Program) -> Iterator[form.Op]:
    for statement in program.body:
        if isinstance(statement, form.Op):
            yield statement
            for block in blocks_of(statement):
                yield from _operations(block)


def _reached(
    names: Iterable[str],
    lines: list[Line],
    variables: Variables,
    holders: Mapping[str, Sequence[str]] = MappingProxyType({}),
) -> set[str]:
    """The variables that may hold what one of the names holds; `holders` are lists of variables."""
    targets = {each: [*lists] for each, lists in holders.items()}
    for line in flat(lines):
        for name, atom in line.moves:
            if isinstance(atom, gast.Name):
                targets.setdefault(variables.of(atom.id), []).append(variables.of(name))
    waiting = [variables.of(name) for name in names]
    found = set(waiting)
    while waiting:
        new = set(targets.get(waiting.pop(), ())) - found
        found |= new
        waiting += new
    return found
