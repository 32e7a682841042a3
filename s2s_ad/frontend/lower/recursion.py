"""Functions that call themselves, perhaps through others.

The first round lowers the function as if a call of itself never came back: what the other paths
give says what it returns. Then it is lowered again, with a stub for the calls of itself that is
known to return that, until the result agrees with what was said of it. The stub then gets the body.
Where an inner call has arguments of another kind (a shorter array, the next number), the
function is lowered for what holds for both.
"""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from s2s_ad.core import tree, values
from s2s_ad.core.builder import Builder, NeedStatic, Symbol, fresh_name, to_node
from s2s_ad.core.callee import Callee
from s2s_ad.core.program import TEMPORARY, Hint, Input, Program
from s2s_ad.core.tree import Tree, tuple_of
from s2s_ad.diagnostics import S2SError, SharedMemoryError, UnsupportedError
from s2s_ad.frontend.lower.exits import Raises
from s2s_ad.frontend.lower.kinds import is_number
from s2s_ad.frontend.lower.paths import free_names
from s2s_ad.frontend.lower.references import Reference, changing, opened
from s2s_ad.frontend.resolve import Frame

if TYPE_CHECKING:
    from s2s_ad.frontend.lower.core import Lowering

ROUNDS = 8

#: what a round gives in which no path came to its end
NEVER = object()


@dataclass(frozen=True, slots=True)
class Returned:
    """A value that the function returns, by the position of the output."""

    position: int


class Widen(Exception):
    """An inner call has arguments of another kind than the call that is being lowered."""

    def __init__(self, call: OpenCall, facts: list):
        self.call, self.facts = call, facts
        super().__init__(call.name)


class NeedsNumbers(Exception):
    """A function that calls itself has to know the numbers that it is called with."""

    def __init__(self, call: OpenCall, error: S2SError):
        self.call, self.error = call, error
        super().__init__(str(error))


class OpenCall:
    """A call that is being lowered, as the calls of the same function inside it find it.

    Attributes:
        facts: of the values among the arguments, in order; None in the first round.
        numbers: which of these are numbers, see `is_number`.
        stub: what stands for the function; None as long as nothing is known of its result.
        result: its result as a Tree of Returned and of objects that are known.
        entered: whether the function did call itself.
        free: the values of functions around it that it reads; they are passed to it too.
        changed: which of the values among its arguments are arrays that it changes; what they hold
            at the end are further outputs, after those of the result.
    """

    def __init__(self, name: str, function: Any):
        self.name, self.function = name, function
        self.facts: list | None = None
        self.numbers: list[bool | None] = []
        self.returned: list = []
        self.stub: Callee | None = None
        self.result: Any = None
        self.entered = False
        self.free: list[str] = []
        self.changed: list[int] = []

    def enter(self, lowering: Lowering, arguments: dict[str, Any]) -> Any:
        """The result of a call of itself."""
        self.entered = True
        given = value_leaves(arguments)
        if self.facts is not None:
            facts = list(map(lowering.builder.fact, given))
            joined = [values.join(*pair) for pair in zip(self.facts, facts, strict=True)]
            pairs = zip(self.numbers, map(is_number, given), strict=True)
            numbers = [before if before is now else None for before, now in pairs]
            if numbers != self.numbers or not all(map(_covers, self.facts, facts)):
                self.numbers = numbers
                raise Widen(self, joined)
        if self.stub is None:
            raise Raises
        more = [Symbol(lowering.builder, name) for name in self.free]
        results = self.stub.call(lowering.builder, [*given, *more])
        return handed_back(lowering, self.name, arguments, self.result, results, self.changed)


def _covers(general: Any, special: Any) -> bool:
    return values.accepts(general, special, values.dims_of(general))


def value_leaves(arguments: dict[str, Any]) -> list:
    """What is passed and need not be known now: arrays and numbers, in order."""
    leaves = [leaf for value in arguments.values() for leaf in tree.leaves(opened(value))]
    return [each for each in leaves if is_value(each)]


def is_value(leaf: Any) -> bool:
    return isinstance(leaf, Symbol) or type(leaf) in (int, float, complex)


def handed_back(
    lowering: Lowering, name: str, arguments: dict, result: Any, outputs: list, changed: list[int]
) -> Any:
    """What a call of a function that calls itself gives and does.

    Args:
        changed: see `OpenCall`.
    """
    given = value_leaves(arguments)
    count = len(outputs) - len(changed)
    for index, output in zip(changed, outputs[count:], strict=True):
        _check_alone(lowering, name, given, index)
        lowering.memory.store(given[index], output)
    return placed(lowering, arguments, result, outputs[:count])


def _check_alone(lowering: Lowering, name: str, given: list, index: int) -> None:
    """Refuse where an array that a call changes may share memory with another argument."""
    target, others = given[index], [*given[:index], *given[index + 1 :]]
    alone = not any(each is target or lowering.memory.may_share(each, target) for each in others)
    if not isinstance(target, Reference) or not alone:
        raise SharedMemoryError(
            "S2S207",
            f"{name} calls itself and changes an array that may be among its arguments twice",
            origin=lowering.builder.origin,
            help="take a copy: y = x.copy()",
        )


def placed(lowering: Lowering, arguments: dict, result: Any, outputs: list) -> Any:
    """A result with the outputs of a call in their places."""

    def given(leaf: Any) -> Any:
        if isinstance(leaf, Returned):
            return outputs[leaf.position]
        return leaf

    arrays = list(changing(tuple(arguments.values())))
    return lowering.memory.returned(tree.tree_map(given, result), arrays)


# ---- the rounds ----------------------------------------------------------------------------------


def closed(
    lowering: Lowering,
    call: OpenCall,
    make_frame: Callable[[], Frame],
    arguments: dict[str, Any],
    first: Any,
) -> tuple[Callee, Any]:
    """(the function as a callee, its result) of a call that was found to call itself.

    Args:
        first: what the first round returned, or NEVER.
    """
    given = value_leaves(arguments)
    call.facts = [_generic(lowering.builder.fact(each)) for each in given]
    call.numbers = list(map(is_number, given))
    if first is not NEVER:
        _say(lowering.builder, call, make_frame, first, _values_in(first))
    for _ in range(ROUNDS):
        try:
            known = len(call.free), len(call.changed)
            program, result, leaves = _round(lowering, call, make_frame(), arguments)
        except Widen as wider:
            if wider.call is not call:
                raise
            call.facts = [_generic(each) for each in wider.facts]
            call.stub = None
            continue
        except NeedStatic as need:
            raise NeedsNumbers(call, _static(call, need, lowering)) from None
        same = known == (len(call.free), len(call.changed))
        if same and call.stub is not None and _agrees(call, result, leaves):
            _check_free(lowering, call)
            return call.stub.define(program), call.result
        if result is NEVER:
            break
        _say(lowering.builder, call, make_frame, result, leaves)
    raise UnsupportedError(
        "S2S206",
        f"{call.name} calls itself, and what it returns cannot be found out",
        origin=lowering.builder.origin,
        help="let one path return without calling itself, and all paths the same structure",
    )


def _check_free(lowering: Lowering, call: OpenCall) -> None:
    """What it changes might be an array of a function around it, which it reads by its own name."""
    if call.changed and any(values.shape_of(lowering.builder.facts[x]) != () for x in call.free):
        raise _changes(call, lowering)


def _changes(call: OpenCall, lowering: Lowering) -> UnsupportedError:
    return SharedMemoryError(
        "S2S207",
        f"{call.name} calls itself and changes an object in place that is not an argument alone",
        origin=lowering.builder.origin,
        help="return the new value instead",
    )


def _static(call: OpenCall, need: NeedStatic, lowering: Lowering) -> S2SError:
    if need.error is not None:
        return need.error
    return UnsupportedError(
        "S2S206",
        f"{call.name} calls itself with a number that {need.purpose} depends on",
        origin=lowering.needed_at or lowering.builder.origin,
        help="write the recursion as a loop",
    )


def _generic(fact: Any) -> Any:
    """Lengths differ from call to call: those of the first decide nothing in the others."""
    if not isinstance(fact, values.Array) or fact.shape is None:
        return fact
    dims = (
        each if isinstance(each, int) else values.fresh_dim(each.maybe_one) for each in fact.shape
    )
    return dataclasses.replace(fact, shape=tuple(dims))


def _round(
    lowering: Lowering, call: OpenCall, frame: Frame, arguments: dict[str, Any]
) -> tuple[Program, Any, list]:
    """Lower the body once: its program, its result, and the values in it."""
    builder, start = lowering.builder, len(lowering.builder.body)
    outlined, depth = dict(lowering.outlined), len(lowering.frames)
    inner, names = _inner_arguments(lowering, call, arguments)
    given, contents = value_leaves(inner), []
    mark = lowering.memory.mark()  # the arguments are older: what changes them is a change
    origin, phase = builder.origin, builder.phase
    try:
        result = lowering.enter_frame(frame, inner)
        _note_changes(lowering, call, given, lowering.memory.changes(mark))
        contents = [Symbol(builder, given[index].name) for index in call.changed]
    except Raises:
        result = NEVER
    except BaseException:
        lowering.outlined = outlined
        raise
    finally:
        body = builder.body[start:]
        del builder.body[start:], lowering.frames[depth:]
        builder.origin, builder.phase = origin, phase
        lowering.memory.rollback(mark)
    leaves = [*_values_in(result), *contents]
    free = free_names(lowering, body, map(to_node, leaves))
    call.free += [each for each in free if each not in {*names, *call.free}]
    program = _program(lowering, call, frame, [*names, *call.free], body, leaves)
    if call.stub is None or not _agrees(call, result, leaves):
        lowering.outlined = outlined  # they were made of what was said of the result
    return program, result, leaves


def _note_changes(lowering: Lowering, call: OpenCall, given: list, changes: list) -> None:
    """Note which of the arguments were changed; anything else may not be."""
    for each in changes:
        index = next((i for i, other in enumerate(given) if other is each), None)
        if index is None:
            raise _changes(call, lowering)
        if index not in call.changed:
            call.changed.append(index)


def _values_in(result: Any) -> list:
    return [each for each in tree.leaves(result) if is_value(each)]


def _inner_arguments(
    lowering: Lowering, call: OpenCall, arguments: dict[str, Any]
) -> tuple[dict[str, Any], list[str]]:
    """The arguments as the function knows them, and the names of the values among them."""
    said, names = zip(call.facts, call.numbers, strict=True), []

    def inner(leaf: Any) -> Any:
        if not is_value(leaf):
            return leaf
        fact, number = next(said)
        symbol = lowering.builder.symbol(fact)
        names.append(symbol.name)
        if isinstance(fact, values.List):
            return lowering.memory.list_of(symbol)
        single = symbol.shape in ((), None)  # it may be a number
        made = lowering.memory.renewed(symbol, own=alone and not single)
        made.number = number if single else False
        return made

    given = [each for each in value_leaves(arguments) if isinstance(each, Symbol)]
    pairs = itertools.combinations(given, 2)
    alone = not any(a is b or lowering.memory.may_share(a, b) for a, b in pairs)
    made = {name: tree.tree_map(inner, opened(value)) for name, value in arguments.items()}
    lowering.builder.hints.update(_hints(made))
    return made, names


def _hints(arguments: dict[str, Any]) -> dict[str, Hint]:
    found = {}
    for name, value in arguments.items():
        for path, leaf in zip(tree.paths(value), tree.leaves(value), strict=True):
            if isinstance(leaf, Symbol):
                steps = "_".join(str(key) for _, key in path)
                text = "".join(c if c.isalnum() else "_" for c in f"{name}_{steps}".strip("_"))
                found[leaf.name] = Hint(text if path else name, "user")
    return found


def _program(
    lowering: Lowering,
    call: OpenCall,
    frame: Frame,
    names: list[str],
    body: list,
    leaves: list,
) -> Program:
    builder = lowering.builder
    nodes = tuple(map(to_node, leaves))
    several = tuple_of(nodes)
    return Program(
        name=call.name,
        doc=call.name,
        inputs=tuple(Input(builder.hints.get(n, TEMPORARY).text or n, n) for n in names),
        body=tuple(body),
        output=nodes[0] if len(nodes) == 1 else several,
        facts=builder.facts,
        hints=builder.hints,
        captures=tuple(lowering.captures.constants().values()),
        origin=frame.source.origin(frame.source.node),
    )


# ---- what is said of the result ------------------------------------------------------------------


def _say(
    builder: Builder,
    call: OpenCall,
    make_frame: Callable[[], Frame],
    result: Any,
    leaves: list,
) -> None:
    """Note what the function returns, for the calls of itself; `leaves` has the values in it."""
    facts = [_generic(builder.fact(each)) for each in leaves]
    if call.stub is not None and len(facts) == len(call.returned):
        facts = [_generic(values.join(*pair)) for pair in zip(call.returned, facts, strict=True)]
    call.returned = facts
    indices = itertools.count()
    call.result = tree.tree_map(
        lambda leaf: Returned(next(indices)) if is_value(leaf) else leaf, result
    )
    call.stub = _stub(builder, call, make_frame())


def _stub(builder: Builder, call: OpenCall, frame: Frame) -> Callee:
    """A callee with inputs and outputs of these kinds, and no body."""
    inputs = {fresh_name(): fact for fact in call.facts}
    inputs |= {fresh_name(): builder.facts[name] for name in call.free}
    outputs = {fresh_name(): fact for fact in call.returned}
    nodes = tuple(to_node(Symbol(Builder(), name)) for name in outputs)
    several = tuple_of(nodes)
    program = Program(
        name=call.name,
        doc=call.name,
        inputs=tuple(Input(name, name) for name in inputs),
        body=(),
        output=nodes[0] if len(nodes) == 1 else several,
        facts=inputs | outputs,
        hints={},
        origin=frame.source.origin(frame.source.node),
    )
    return Callee(program, stub=True)


def _agrees(call: OpenCall, result: Any, leaves: list) -> bool:
    """Whether the result is what was said of it."""
    if len(leaves) != len(call.returned) or _shape(result) != _shape(call.result):
        return False
    facts = [each.fact if isinstance(each, Symbol) else values.of_constant(each) for each in leaves]
    return all(map(_covers, call.returned, facts))


def _shape(value: Any) -> Any:
    """The structure of a result, with the objects in it that are known."""
    if isinstance(value, Tree):
        return (value.kind, value.keys, tuple(map(_shape, value.items)))
    return "value" if is_value(value) or isinstance(value, Returned) else value


__all__ = [
    "NEVER",
    "NeedsNumbers",
    "OpenCall",
    "Returned",
    "Widen",
    "closed",
    "handed_back",
    "value_leaves",
]
