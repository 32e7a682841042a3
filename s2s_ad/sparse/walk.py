"""Which elements of the output of a program depend on which elements of an input.

An abstract run of Core for arguments of given shapes: what the elements of the input do not decide
is computed, of everything else it is known which of these elements it depends on. Where they decide
which way a run goes, it goes all ways. So the pattern holds for all elements of the input.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from typing import Any

import gast
import numpy as np

from s2s_ad.core import form, saved, tree, values
from s2s_ad.core.builder import Builder, Symbol
from s2s_ad.core.callee import ITEM, Callee
from s2s_ad.core.custom import CustomCallee
from s2s_ad.core.dependence import Pattern, Undecided, Use, stacked, union
from s2s_ad.core.homes import Held
from s2s_ad.core.program import Program
from s2s_ad.core.regions import Attempt, Branch, Loop
from s2s_ad.core.rule import Rule
from s2s_ad.diagnostics import S2SError, UnsupportedError
from s2s_ad.sparse.elements import (
    UNKNOWN,
    Value,
    is_stable,
    join,
    known,
    leaves,
    patterns_of,
    raw,
    shape_decided,
    sources_of,
    undecided,
)
from s2s_ad.sparse.execution import Execution

PATIENT = 8  # passes of a loop after which all that still changes is taken to depend on everything


class Walk:
    """One abstract run.

    Args:
        width: the number of elements of the input.
        captured: reads what stands now where the function captured a number or array, by its name.

    Attributes:
        decided_by: the sources of the values that the pattern rests on.
        held: the objects that it rests on (sparse matrices).
    """

    def __init__(self, width: int, captured: Mapping[str, Any]):
        self.width = width
        self.captured = {name: known(each, frozenset({name})) for name, each in captured.items()}
        self.decided_by: set = set()
        self.held: list[Held] = []
        self.execution = Execution()
        self.builder = Builder()
        self.entered: dict[Callee, int] = {}
        self.undecided = 0  # branches that are entered on both sides

    # ---- programs

    def run(self, program: Program, arguments: list) -> list:
        """The values of the output's leaves."""
        named = dict(zip(program.leaves(), arguments, strict=True))
        named |= {each.name: self.captured[each.name] for each in program.captured()}
        for statement in program.body:
            if isinstance(statement, form.Effect):
                continue
            try:
                named[statement.target] = self._statement(statement, program, named)
            except S2SError as error:
                raise error.at(statement.origin) from None
        return [self._operand(atom, named) for atom in tree.leaves(program.output)]

    def _operand(self, node: Any, named: dict[str, Any]) -> Any:
        if isinstance(node, gast.Name):
            return named[node.id]
        if isinstance(node, gast.Constant):
            return known(node.value) if not isinstance(node.value, tuple) else _constants(node)
        if node is None:
            return known(None)
        if isinstance(node, gast.Slice):
            bounds = (node.lower, node.upper, node.step)
            return slice(*(self._operand(each, named) for each in bounds))
        kind = tuple if isinstance(node, gast.Tuple) else list
        return kind(self._operand(each, named) for each in node.elts)

    def _statement(self, statement: form.Op, program: Program, named: dict[str, Any]) -> Any:
        function = statement.function
        args = [self._operand(each, named) for each in statement.operands]
        params = {key: self._operand(e, named) for key, e in statement.parameters.items()}
        if function is ITEM:
            return args[0][raw(params["index"])]
        if function is saved.PACK:
            return tuple(args)
        if isinstance(function, saved.Unpack):
            return args[0]
        if isinstance(function, Callee):
            return self._call(function, args)
        if isinstance(function, Branch):
            return self._branch(function, *args)
        if isinstance(function, Loop):
            return self._loop(function, args)
        if isinstance(function, Attempt):
            return self._attempt(function, args)
        return Operation(self, statement, program, named, args, params).result()

    def decide(self, value: Any) -> Any:
        """What a value is, on which the pattern then rests; UNKNOWN where the run tells."""
        parts = list(leaves(value))
        if not all(each.is_known for each in parts):
            return UNKNOWN
        self.decided_by.update(*(each.sources for each in parts))
        return raw(value)

    # ---- functions, branches and loops

    def _call(self, function: Callee, args: list) -> Any:
        """A function that calls itself where the run decides is not followed any further."""
        entered = self.entered.get(function)
        if isinstance(function, CustomCallee) or entered not in (None, self.undecided):
            return self._summary(function, args)
        self.entered[function] = self.undecided
        try:
            results = self.run(function.program, args)
        except RecursionError:
            raise UnsupportedError(
                "S2S302",
                f"{function.name} calls itself too often for its pattern to be found",
                help="say which elements depend on which with pattern=",
            ) from None
        finally:
            if entered is None:
                del self.entered[function]
        return tuple(results) if function.several else results[0]

    def _summary(self, function: Callee, args: list) -> Any:
        """Each result depends on all that the function is given."""
        whole = self._depending(args)
        facts = function.infer(list(map(fact_of, args)), {})
        items = facts.items if function.several else (facts,)
        results = [self._spread(shaped(each), whole) for each in items]
        return tuple(results) if function.several else results[0]

    def _depending(self, args: Any) -> Pattern | None:
        """What any of the values depends on, as a pattern of one row."""
        rows = [each.pattern.total() for each in leaves(args) if each.pattern is not None]
        return union(rows, 1, self.width) if rows else None

    def _spread(self, value: Any, whole: Pattern | None) -> Any:
        """A value each of whose elements depends on all that one row says."""
        if isinstance(value, tuple | list):
            return type(value)([self._spread(each, whole) for each in value])
        pattern = None if whole is None else whole.take(np.zeros(value.size, np.int64))
        return Value(undecided(value).fact, UNKNOWN, pattern)

    def _branch(self, branch: Branch, condition: Any, *operands: Any) -> tuple:
        chosen = self.decide(condition)
        if chosen is not UNKNOWN:
            return tuple(self.run(branch.then if chosen else branch.orelse, list(operands)))
        self.undecided += 1
        sides = [self.run(block, list(operands)) for block in (branch.then, branch.orelse)]
        self.undecided -= 1
        return tuple(self._joined(*sides))

    def _joined(self, one: list, other: list) -> list:
        return [join(a, b, self.width) for a, b in zip(one, other, strict=True)]

    def _attempt(self, attempt: Attempt, args: list) -> tuple:
        """The body, or a handler: which of them came to its end only the run tells."""
        found = self.run(attempt.body, args)
        for handler in attempt.handlers:
            found = self._joined(found, self.run(handler, args))
        return (*map(undecided, found), Value(values.Scalar(int)))

    def _loop(self, loop: Loop, args: list) -> tuple:
        parts = loop.parts(args)
        if loop.is_for:
            bounds = self.decide(parts.bounds)
            if bounds is UNKNOWN:
                index = Value(values.Scalar(int))
                return self._until_stable(loop, parts.carried, parts.fixed, [index])
            indices = range(*bounds)
            return self._passes(loop, reversed(indices) if loop.backwards else indices, parts)
        carried, left = list(parts.carried), None
        while True:
            test = self.decide(self.run(loop.test, [*carried, *parts.fixed])[0])
            if test is UNKNOWN:
                return self._until_stable(loop, carried, parts.fixed, [])
            if not test:
                return tuple(carried)
            carried, left, ends = self._pass(loop, [], carried, parts.fixed, left)
            if ends:
                return tuple(carried)
            if left is not None:  # how many passes follow, if any, only the run tells
                return self._until_stable(loop, carried, parts.fixed, [])

    def _passes(self, loop: Loop, indices: Any, parts: Any) -> tuple:
        carried, left = list(parts.carried), None
        for index in indices:
            carried, left, ends = self._pass(loop, [known(index)], carried, parts.fixed, left)
            if ends:
                break
        return tuple(carried if left is None else self._joined(left, carried))

    def _pass(self, loop: Loop, index: list, carried: list, fixed: list, left: list | None) -> Any:
        """(what is carried on, what the loop may have ended with, whether it ends here)."""
        results = self.run(loop.body, [*index, *carried, *fixed])
        carried = results[: loop.carried]
        if not loop.exits:
            return carried, left, False
        ends = self.decide(results[-1])
        if ends is UNKNOWN:
            left = list(map(undecided, carried)) if left is None else self._joined(left, carried)
        return carried, left, ends is not UNKNOWN and ends

    def _until_stable(self, loop: Loop, carried: list, fixed: list, index: list) -> tuple:
        """What holds after any number of passes."""
        for count in range(PATIENT + len(carried) + 3):
            after = self.run(loop.body, [*index, *carried, *fixed])[: loop.carried]
            joined = self._joined(carried, after)
            moving = [not is_stable(*pair) for pair in zip(carried, joined, strict=True)]
            if not any(moving):
                return tuple(joined)
            if count >= PATIENT:
                whole = self._depending([*joined, *fixed])
                pairs = zip(joined, moving, strict=True)
                joined = [self._spread(each, whole) if moves else each for each, moves in pairs]
            carried = joined
        raise UnsupportedError(
            "S2S302",
            "what the passes of a loop depend on does not come to an end",
            help="say which elements depend on which with pattern=",
        )


def _constants(node: gast.Constant) -> tuple:
    return tuple(known(each) for each in node.value)


class Operation:
    """One operation of a run: its operands, its parameters, and what follows for the result."""

    def __init__(
        self,
        walk: Walk,
        statement: form.Op,
        program: Program,
        named: dict[str, Any],
        args: list,
        params: dict[str, Any],
    ):
        self.walk, self.statement, self.program, self.named = walk, statement, program, named
        self.args, self.params = args, params
        self.rule: Rule = statement.rule
        self.parts = list(leaves(args))

    def result(self) -> Any:
        """What is known of the result."""
        every = [*self.parts, *leaves(list(self.params.values()))]
        self.walk.held += [each.known for each in every if isinstance(each.known, Held)]
        if not self.rule.effects and all(each.is_known for each in every):
            found = self._executed()
            if found is not UNKNOWN:
                return known(self._several(found), sources_of(every))
        params = self._decided(self.params)
        if params is not UNKNOWN:
            for attempt in (self._of_shapes, self._of_items, self._picked, self._of_linear):
                found = attempt(params)
                if found is not UNKNOWN:
                    return found
        return self._dependent(self._inferred())

    def _of_shapes(self, params: dict[str, Any]) -> Any:
        """The result where the shapes of the operands tell it."""
        found = self._executed(_stand_in) if self.rule.of_shape else UNKNOWN
        return found if found is UNKNOWN else known(found)

    def _of_items(self, params: dict[str, Any]) -> Any:
        """What an operation makes of lists whose items it does not look at."""
        found = self.rule.of_items(self.args, params, self._sum)
        return UNKNOWN if found is NotImplemented else found

    def _decided(self, params: dict[str, Any]) -> Any:
        found = {name: self.walk.decide(each) for name, each in params.items()}
        return UNKNOWN if any(each is UNKNOWN for each in found.values()) else found

    def _executed(self, stand_in: Callable[[Value], Any] = raw) -> Any:
        """The result for what stands in for the operands; UNKNOWN where it raises: it may never
        run."""
        operands = set(form.reads([*self.statement.operands]))
        named = {
            each: _mapped(self.named[each], stand_in if each in operands else raw)
            for each in self.statement.reads
        }
        try:
            with warnings.catch_warnings(), np.errstate(all="ignore"):
                warnings.simplefilter("ignore")
                return self.walk.execution.run(self.statement, self.program, named)
        except Exception:
            return UNKNOWN

    def _several(self, result: Any) -> Any:
        """The result; a tuple of the rows of an array that an assignment takes apart."""
        is_whole = self.rule.count is not None and isinstance(result, np.ndarray)
        return tuple(result) if is_whole else result

    def _sum(self, one: Any, other: Any) -> Any:
        """The sum of two adjoints, item by item where they are lists."""
        if isinstance(one, list):
            return [self._sum(a, b) for a, b in zip(one, other, strict=True)]
        rows = patterns_of([one, other], self.walk.width)
        larger = max(one, other, key=lambda each: each.size)
        return Value(larger.fact, UNKNOWN, union(rows, larger.size, self.walk.width))

    # ---- elements that are moved

    def _picked(self, params: dict[str, Any]) -> Any:
        """The result of an operation that moves elements, or puts constants beside them.

        It is run on numbers for the elements, twice, with other numbers: what moves along is the
        element of this number, and what stays is a constant. UNKNOWN where neither holds.
        """
        if not self.rule.picks([each.is_known for each in self.parts]):
            return UNKNOWN
        unknown = [each for each in dict.fromkeys(self.parts) if not each.is_known]
        count = sum(each.size for each in unknown)
        starts = dict(zip(unknown, np.cumsum([0, *(each.size for each in unknown)]), strict=False))

        def numbered(first: int) -> Callable[[Value], Any]:
            return lambda value: (
                _plain(value.known) if value.is_known else _numbers(value, first + starts[value])
            )

        runs = [self._executed(numbered(first)) for first in (1, 1 + count)]
        if any(each is UNKNOWN for each in runs):
            return UNKNOWN
        runs = list(map(self._several, runs))
        self.walk.decided_by.update(*(each.sources for each in self.parts if each.is_known))
        rows = stacked(patterns_of(unknown, self.walk.width), self.walk.width)
        try:
            return self._moved(*runs, rows, count, _dtype_of(self.parts))
        except _NotMoved:
            return UNKNOWN

    def _moved(self, one: Any, other: Any, rows: Pattern, count: int, dtype: Any) -> Any:
        if isinstance(one, tuple | list):
            pairs = zip(one, other, strict=True)
            return type(one)([self._moved(*each, rows, count, dtype) for each in pairs])
        first, second = (np.real(np.asarray(each)) for each in (one, other))
        moves = second - first
        if not np.all((moves == 0) | (moves == count)):
            raise _NotMoved
        index = np.where(moves == count, first, 0).astype(np.int64).reshape(-1) - 1
        fact = values.Array(dtype, first.shape)
        return Value(fact, UNKNOWN, rows.take(index) if len(rows.columns) else None)

    # ---- anything else

    def _inferred(self) -> Any:
        """The abstract value of the result, in which lengths are numbers."""
        symbols = {name: _with_symbols(self.walk, each) for name, each in self.params.items()}
        facts = [fact_of(each) for each in self.args]
        fact = self.rule.infer(facts, symbols)
        if not isinstance(fact, values.Unknown) or not facts:
            return fact
        builder = self.walk.builder  # the program was written without the ranks
        made = self.rule.bind(builder, tuple(map(builder.symbol, facts)), symbols)
        return made.fact if isinstance(made, Symbol) else fact

    def _of_linear(self, params: dict[str, Any]) -> Any:
        """The result where it is linear in all that is not known: elements decide no length."""
        linear = (each.is_known or at in self.rule.linear for at, each in self._places())
        fact = self._inferred()
        if not isinstance(fact, values.Array) or _has_lengths(fact) or not all(linear):
            return UNKNOWN
        found = self._executed(_stand_in)
        self.walk.decided_by |= sources_of(self.parts)
        return UNKNOWN if found is UNKNOWN else self._dependent(known(found).fact)

    def _places(self) -> list[tuple[int, Value]]:
        return [(index, each) for index, arg in enumerate(self.args) for each in leaves(arg)]

    def _dependent(self, fact: Any) -> Any:
        if isinstance(fact, tree.Tree):
            return tuple(map(self._dependent, fact.items))
        found = shaped(fact)
        return Value(found.fact, UNKNOWN, self._pattern(found.shape))

    def _pattern(self, shape: tuple[int, ...]) -> Pattern | None:
        if self.rule.is_flat([fact_of(each) for each in self.args]):
            return None
        size = int(np.prod(shape, dtype=np.int64))
        params = {
            name: Undecided() if self.walk.decide(each) is UNKNOWN else raw(each)
            for name, each in self.params.items()
        }
        shapes = [each.shape if isinstance(each, Value) else () for each in self.args]
        use = Use(shapes, shape, params, self._value_of)
        rows = []
        for position, each in enumerate(self.args):
            if isinstance(each, Value):
                if each.pattern is not None:
                    links = self.rule.dependence(use, position)
                    rows.append(each.pattern.through(links, size))
                continue
            whole = self.walk._depending(each)
            if whole is not None:
                rows.append(whole.take(np.zeros(size, np.int64)))
        return union(rows, size, self.walk.width) if rows else None

    def _value_of(self, position: int) -> Any:
        found = self.walk.decide(self.args[position])
        return None if found is UNKNOWN else found


def shaped(fact: Any) -> Value:
    """A value of which no more is known than its abstract value, lengths included."""
    if values.shape_of(fact) is None and not isinstance(
        fact, values.Static | values.Word | values.Error
    ):
        raise shape_decided("the shape of a result")
    if not _has_lengths(fact):
        raise shape_decided("a length")
    return Value(fact)


def _has_lengths(fact: Any) -> bool:
    return all(type(each) is int for each in values.shape_of(fact) or ())


class _NotMoved(Exception):
    """An operation does more than to move elements."""


def _names(node: Any) -> list[gast.Name]:
    return [each for each in gast.walk(node) if isinstance(each, gast.Name)]


def _mapped(value: Any, change: Callable[[Value], Any]) -> Any:
    if isinstance(value, tuple | list):
        return type(value)([_mapped(each, change) for each in value])
    return change(value)


def _stand_in(value: Value) -> Any:
    """An array like the value."""
    if value.is_known:
        return value.known
    if isinstance(value.fact, values.Scalar):
        return value.fact.kind(1)
    return np.ones(value.shape, _dtype_of([value]) or float)[()]


def _numbers(value: Value, first: int) -> Any:
    """The numbers of the elements, in the form of the value."""
    if isinstance(value.fact, values.Scalar):
        return int(first)
    return (np.arange(value.size) + first).reshape(value.shape)


def _plain(value: Any) -> Any:
    """A value whose dtype can hold the numbers of elements."""
    if isinstance(value, np.ndarray | np.generic) and value.dtype.kind in "fc":
        return np.asarray(value, complex if value.dtype.kind == "c" else float)[()]
    return value


def _dtype_of(found: list[Value]) -> np.dtype | None:
    dtypes = [values.strong_dtype(each.fact) for each in found if not each.is_known]
    dtypes = [each for each in dtypes if each is not None]
    return np.result_type(*dtypes) if dtypes else None


def fact_of(value: Any) -> Any:
    """The abstract value of an operand."""
    if isinstance(value, list):
        return values.List(values.join_items(map(fact_of, value)))
    if isinstance(value, tuple):
        return tree.tuple_of(map(fact_of, value))
    return value.fact


def _with_symbols(walk: Walk, value: Any) -> Any:
    """A parameter as rules are given it: arrays, and numbers that are not known, are Symbols."""
    if isinstance(value, slice):
        bounds = (value.start, value.stop, value.step)
        return slice(*(_with_symbols(walk, each) for each in bounds))
    if isinstance(value, tuple | list):
        return type(value)(_with_symbols(walk, each) for each in value)
    if value.is_known and not isinstance(value.known, np.ndarray):
        return value.known.item() if isinstance(value.known, np.integer) else value.known
    return walk.builder.symbol(value.fact)
