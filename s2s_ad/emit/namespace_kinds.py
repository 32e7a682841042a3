"""What the expressions of a text are, where NumPy's numbers are arrays or numbers of Python's."""

from __future__ import annotations

import ast
import functools
import math
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from s2s_ad.core import tree, values
from s2s_ad.core.program import Program
from s2s_ad.core.regions import blocks_of
from s2s_ad.emit.text import Written

KINDS = ["", "b", "i", "f", "c"]  # of elements of arrays, as dtypes have them; "" is not known
CONSTANTS = {f"np.{each}" for each in ("e", "euler_gamma", "inf", "nan", "pi")}
#: functions of a shape or of bounds, and methods that keep what the elements are
MADE_ANEW = {"arange", "empty", "eye", "full", "identity", "linspace", "ones", "zeros"}
KEEPING = {"copy", "flatten", "ravel", "reshape", "transpose"}
ON_NUMBERS = {"abs", "float", "int", "max", "min", "pow", "round"}


@dataclass(frozen=True)
class Known:
    """What is known of the names in a function of the text.

    Attributes:
        ranks: of arrays, by name; names of arrays of no one rank are left out.
        kinds: of dtypes, by name: "b", "i", "f", "c"; names of no one kind are left out.
        numbers: names that are numbers of Python's.
        weak: names that are such numbers on some path, and of double precision on others.
        double: names without axes that are such numbers, or of double precision.
        containers: names of tuples, lists, dicts and objects.
        only_numbers: whether there is no array at all.
        no_array_given: whether all arguments are numbers of Python's.
    """

    ranks: Mapping[str, int] = field(default_factory=dict)
    kinds: Mapping[str, str] = field(default_factory=dict)
    numbers: Collection[str] = ()
    weak: Collection[str] = ()
    double: Collection[str] = ()
    containers: Collection[str] = ()
    only_numbers: bool = False
    no_array_given: bool = False


NOTHING = Known()


def known_names(functions: Sequence[Written]) -> dict[str, Known]:
    """What is known of the names in each function of a text, by the function's name."""
    only_numbers = _has_only_numbers(functions)
    return {each.name: _known(each, only_numbers) for each in functions}


def _has_only_numbers(functions: Sequence[Written]) -> bool:
    """Whether there is no array, if the numbers that NumPy computes of numbers count as such."""
    program = functions[0].program
    given = [*program.leaves(), *(each.name for each in program.captured())]
    facts = [fact for each in functions for b in _blocks(each.program) for fact in b.facts.values()]
    return all(_is_number(program.facts[name]) for name in given) and not any(map(_is_array, facts))


def _is_array(fact: Any) -> bool:
    """Whether a value may be an array with axes, or hold one."""
    if isinstance(fact, tree.Tree):
        return any(map(_is_array, fact.items))
    if isinstance(fact, values.List):
        return _is_array(fact.item)
    return not _is_number(fact) and values.rank_of(fact) != 0


def _known(function: Written, only_numbers: bool) -> Known:
    facts: dict[str, list] = {}
    for block in _blocks(function.program):
        for name, fact in block.facts.items():
            if name in function.shown:
                facts.setdefault(function.shown[name], []).append(fact)
    inputs = [e.name for e in function.program.inputs if isinstance(e.tree, tree.Tree)]
    lists = [name for name, found in facts.items() if any(map(_is_list, found))]
    numbers = {n for n, found in facts.items() if only_numbers or all(map(_is_number, found))}
    double = {name for name, found in facts.items() if all(map(_is_double, found))}
    return Known(
        _agreed(facts, values.rank_of),
        _agreed(facts, _kind),
        numbers,
        {name for name in double - numbers if any(map(_is_weak, facts[name]))},
        double,
        {*lists, *inputs},
        only_numbers,
        all(_is_number(function.program.facts[each]) for each in function.program.leaves()),
    )


def _blocks(program: Program) -> Iterator[Program]:
    """A function's program, and the blocks in it."""
    yield program
    for statement in program.body:
        for block in blocks_of(statement):
            yield from _blocks(block)


def _agreed(facts: Mapping[str, list], ask: Callable[[Any], Any]) -> dict[str, Any]:
    """What all abstract values of a name have in common."""
    found = {name: {ask(each) for each in several} for name, several in facts.items()}
    single = {name: answers.pop() for name, answers in found.items() if len(answers) == 1}
    return {name: each for name, each in single.items() if each is not None}


def _kind(fact: Any) -> str | None:
    if isinstance(fact, values.Scalar):
        return np.dtype(fact.kind).kind
    dtype = values.strong_dtype(fact)
    return None if dtype is None else "i" if dtype.kind == "u" else dtype.kind


def _is_list(fact: Any) -> bool:
    return isinstance(fact, values.List | values.Saved)


def _is_number(fact: Any) -> bool:
    return isinstance(fact, values.Scalar | values.Static)


def _is_double(fact: Any) -> bool:
    """Whether a number without axes is one of Python's, or of double precision."""
    return isinstance(fact, values.Scalar) or (
        values.shape_of(fact) == () and values.is_dtype(values.strong_dtype(fact), float)
    )


def _is_weak(fact: Any) -> bool:
    return isinstance(fact, values.Scalar) or getattr(fact, "weak", False)


class Expressions:
    """What the expressions in one function are: numbers of Python's, or arrays, and of which kind.

    NumPy's functions of numbers give numbers of NumPy's, which the text for another namespace
    computes as numbers of Python's: what is made of such alone is one, too, and so may be what a
    helper is given, or hands out.
    """

    def __init__(
        self, known: Known, function: ast.FunctionDef | None = None, *, is_helper: bool = False
    ):
        self.known, self.numbers = known, set(known.numbers)
        made = {} if function is None else _made_in(function)
        candidates = {name for name in made if known.ranks.get(name) == 0 or name in known.weak}
        parameters = set() if function is None else {each.arg for each in function.args.args}
        own = candidates - self.numbers - parameters
        self.numbers |= own
        while wrong := [n for n in own & self.numbers if not all(map(self.is_number, made[n]))]:
            self.numbers -= set(wrong)
        #: names that are numbers of Python's on some path
        self.perhaps = {
            name
            for name in (candidates | set(known.weak)) - self.numbers
            if name in known.weak
            or any(map(self.is_number, made[name]))
            or (name in known.double and any(map(_is_of_helper, made[name])))
        }
        self.perhaps |= parameters & set(known.double) - self.numbers if is_helper else set()

    def is_number(self, node: ast.AST | Part | None) -> bool:
        """Whether a value is a number of Python's, of which the standard has no functions."""
        if isinstance(node, ast.Constant):
            return type(node.value) in (bool, int, float)
        if isinstance(node, ast.Name):
            return node.id in self.numbers
        if isinstance(node, ast.Subscript):
            return isinstance(node.value, ast.Attribute) and node.value.attr == "shape"
        if isinstance(node, ast.Attribute):
            path = path_of(node)
            return path.startswith("math.") or path in CONSTANTS or node.attr in ("ndim", "size")
        if isinstance(node, ast.Call):
            return self._is_call_of_numbers(node)
        if isinstance(node, ast.BinOp | ast.UnaryOp | ast.Compare | ast.BoolOp | ast.IfExp):
            parts = [each for each in ast.iter_child_nodes(node) if isinstance(each, ast.expr)]
            return all(map(self.is_number, parts))
        return False

    def _is_call_of_numbers(self, node: ast.Call) -> bool:
        path = path_of(node.func)
        if path == "len":
            return True
        name = path.removeprefix("np.")
        own = path in ON_NUMBERS or path.startswith("math.")
        own = own or (path.startswith("np.") and name_for_numbers(name) != "")
        return own and not node.keywords and all(map(self.is_number, node.args))

    def may_be_number(self, node: ast.AST) -> bool:
        """Whether a value may be a number of Python's, and is one of double precision if not."""
        if isinstance(node, ast.Name):
            return node.id in self.perhaps or node.id in self.numbers
        if isinstance(node, ast.BinOp | ast.UnaryOp):
            parts = [each for each in ast.iter_child_nodes(node) if isinstance(each, ast.expr)]
            return all(map(self.may_be_number, parts))
        return self.is_number(node)

    def has_axes(self, node: ast.expr) -> bool:
        """Whether a value is an array with axes, by what it is computed of."""
        if isinstance(node, ast.Name):
            return self.known.ranks.get(node.id, 0) > 0 and node.id not in self.known.containers
        if isinstance(node, ast.Subscript):
            taken = sum(not is_slice(each) for each in items_of(node))
            return self.known.ranks.get(getattr(node.value, "id", ""), 0) > taken
        if isinstance(node, ast.BinOp):
            return self.has_axes(node.left) or self.has_axes(node.right)
        if isinstance(node, ast.Compare):
            return any(map(self.has_axes, [node.left, *node.comparators]))
        return isinstance(node, ast.UnaryOp) and self.has_axes(node.operand)

    def kind(self, node: ast.AST) -> str:
        """Of which kind a number or the elements of an array are; "" where that is not known."""
        if isinstance(node, ast.Name):
            return self.known.kinds.get(node.id, "")
        if isinstance(node, ast.Constant):
            return {bool: "b", int: "i", float: "f", complex: "c"}.get(type(node.value), "")
        if isinstance(node, ast.Compare):
            return "b"
        if isinstance(node, ast.UnaryOp):
            return self.kind(node.operand)
        if isinstance(node, ast.BinOp):
            found = max(self.kind(node.left), self.kind(node.right), key=KINDS.index)
            whole = found in ("b", "i") and isinstance(node.op, ast.Div)
            known = "" not in (self.kind(node.left), self.kind(node.right)) or found in "fc"
            return ("f" if whole else found) if known else ""
        if isinstance(node, ast.Subscript):
            return self.kind(node.value)
        if isinstance(node, ast.Call):
            return self._kind_of_call(node)
        return ""

    def _kind_of_call(self, node: ast.Call) -> str:
        path, function = path_of(node.func), node.func
        if not path.startswith("np."):
            if isinstance(function, ast.Attribute) and function.attr in KEEPING:
                return self.kind(function.value)
            return ""
        name = path.removeprefix("np.")
        if name in MADE_ANEW:
            return "i" if name == "arange" and not any(map(has_float, node.args)) else ""
        given = node.args[1:] if name == "where" else node.args[:1]
        parts = [e for a in given for e in (a.elts if isinstance(a, ast.List | ast.Tuple) else [a])]
        kinds = {self.kind(each) for each in parts}
        return kind_made(name, max(kinds, key=KINDS.index)) if kinds and kinds <= {"b", "i"} else ""

    def element_of_whole(self, node: ast.expr) -> bool:
        """Whether an index is an element of an array, which cannot stand beside slices."""
        if isinstance(node, ast.Subscript) and isinstance(node.value, ast.Name):
            items = items_of(node)
            name, rank, plain = node.value.id, len(items), not any(map(is_slice, items))
        else:
            name, rank = getattr(node, "id", ""), 0
            plain = name not in self.numbers
        known = self.known.ranks.get(name) == rank and self.known.kinds.get(name) == "i"
        return known and plain

    def float_in(self, node: ast.expr) -> str:
        """The name of an array of floats in an expression."""
        names = (each.id for each in ast.walk(node) if isinstance(each, ast.Name))
        unsure = self.numbers | self.perhaps
        return next((e for e in names if self.known.kinds.get(e) == "f" and e not in unsure), "")


@dataclass(frozen=True)
class Part:
    """What is taken out of a value at a place: `a, b = value`."""

    value: ast.expr


Made = ast.expr | Part | None  # what a name is assigned; None: what a loop goes through


def _made_in(function: ast.FunctionDef) -> dict[str, list[Made]]:
    """What each name is assigned in a function."""
    made: dict[str, list[Made]] = {}
    for node in ast.walk(function):
        targets: list[tuple[ast.expr, ast.expr | None]] = []
        if isinstance(node, ast.Assign):
            targets = [(each, node.value) for each in node.targets]
        elif isinstance(node, ast.AugAssign):
            targets = [(node.target, node.value)]
        elif isinstance(node, ast.For | ast.comprehension):
            targets = [(node.target, None)]
        for target, value in targets:
            for name, each in _bound(target, value):
                made.setdefault(name, []).append(each)
    return made


def _is_of_helper(made: Made) -> bool:
    """Whether a value is what a function of the module hands out, or a part of that."""
    value = made.value if isinstance(made, Part) else made
    return isinstance(value, ast.Call) and isinstance(value.func, ast.Name)


def _bound(target: ast.expr, value: Made) -> Iterator[tuple[str, Made]]:
    if isinstance(target, ast.Name):
        yield target.id, value
    elif isinstance(target, ast.Tuple):
        parts: list[Made] = [Part(value) if isinstance(value, ast.expr) else None] * len(
            target.elts
        )
        if isinstance(value, ast.Tuple) and len(value.elts) == len(target.elts):
            parts = [*value.elts]
        for each, part in zip(target.elts, parts, strict=True):
            yield from _bound(each, part)
    elif isinstance(target, ast.Starred):
        yield from _bound(target.value, None)


OWN_NAMES = {"absolute": "abs", "abs": "abs", "maximum": "max", "minimum": "min", "power": "pow"}


def name_for_numbers(name: str) -> str:
    """The function of Python's numbers that one of NumPy's is; "" where there is none."""
    if name in OWN_NAMES:
        return OWN_NAMES[name]
    short = name.replace("arc", "a", 1) if name.startswith("arc") else name
    return f"math.{short}" if hasattr(math, short) else ""


@functools.cache
def kind_made(name: str, kind: str) -> str:
    """What a function of NumPy makes of masks, "b", or whole numbers, "i"."""
    try:
        made = getattr(np, name)(np.ones(1, {"b": bool, "i": int}[kind]))
    except (AttributeError, TypeError, ValueError):
        return kind  # it takes more than an array, of which it takes parts
    return getattr(made, "dtype", np.dtype(int)).kind


@functools.cache
def makes_floats(name: str) -> bool:
    """Whether a function of NumPy makes floats of whole numbers."""
    try:
        made = getattr(np, name)(np.ones(1, int))
    except (AttributeError, TypeError, ValueError):
        return False
    return getattr(made, "dtype", np.dtype(bool)).kind == "f"


def path_of(node: ast.expr) -> str:
    """The dotted name that an expression is; "" where it is none."""
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute) and (base := path_of(node.value)):
        return f"{base}.{node.attr}"
    return ""


def items_of(node: ast.Subscript) -> list[ast.expr]:
    return node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]


def is_slice(node: ast.expr) -> bool:
    """Whether an index keeps its axis, or adds one."""
    return isinstance(node, ast.Slice) or (isinstance(node, ast.Constant) and node.value is None)


def has_float(node: ast.expr) -> bool:
    """Whether a number is written with a point in an expression."""
    inside = ast.walk(node)
    return any(isinstance(each, ast.Constant) and type(each.value) is float for each in inside)
