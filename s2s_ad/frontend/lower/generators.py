"""Generator functions, run to their end where they are called: each `yield` appends to a list.

That is the same as running them step by step where neither side sees what the other one does
between two steps; where it may, it is refused.
"""

from __future__ import annotations

import types
from typing import Any

import gast

from s2s_ad.core.callee import has_effect
from s2s_ad.diagnostics import (
    EndlessError,
    StepwiseError,
    UnsupportedError,
)
from s2s_ad.frontend.lower.calls import HANDLERS
from s2s_ad.frontend.lower.core import Lowering
from s2s_ad.frontend.lower.desugar import quote
from s2s_ad.frontend.lower.functions import Closure
from s2s_ad.frontend.lower.iteration import Produced, generator_in, is_iterator
from s2s_ad.frontend.lower.iterators import read_on
from s2s_ad.frontend.lower.nonlocals import may_be_bound_again, names_read, value_around
from s2s_ad.frontend.lower.references import changing, parts_of
from s2s_ad.frontend.lower.resuming import never_ends, not_resumable
from s2s_ad.frontend.lower.suspended import suspended
from s2s_ad.frontend.remembered import remembered
from s2s_ad.frontend.resolve import Frame, cells_of
from s2s_ad.frontend.scopes import FUNCTIONS
from s2s_ad.frontend.source import Source, source_of

#: locals under names that are no identifiers of Python: what was yielded, when the call began
YIELDED, STARTED, STEP = "yielded items", "generator started", "item of another"


def produced(lowering: Lowering, args: list, kwargs: dict[str, Any]) -> Produced:
    """The items that a call of a generator function gives."""
    function, arguments = args
    frame = frame_of(lowering, function)
    node = frame.source.node
    if frame.is_own or _runs_step_by_step(lowering, node, arguments):
        return suspended(lowering, frame, arguments)
    frame.source = _to_its_end(frame.source)
    try:
        return _at_once(lowering, frame, arguments, node)
    except UnsupportedError as error:
        if isinstance(error, EndlessError) or not_resumable(node) is not None:
            raise
        made = StepwiseError(
            error.code, error.what, origin=error.origin, why=error.why, help=error.help
        )
        made.generator = node
        raise made from error


def _at_once(
    lowering: Lowering, frame: Frame, arguments: dict[str, Any], node: gast.AST
) -> Produced:
    """All that the generator yields, where nobody sees what it does before an item is read."""
    name = frame.source.name
    watched = [*changing((*arguments.values(), *_read_around(frame)))]
    moment, start = lowering.memory.moment(), len(lowering.builder.body)
    items = lowering.enter_frame(frame, arguments | {STARTED: moment.clock})
    changed = lowering.memory.changes(moment)
    if not all(map(is_iterator, changed)) or any(map(has_effect, lowering.builder.body[start:])):
        raise _refused(name, "which does more than to yield")
    for each in changed:
        read_on(lowering, each)
    return Produced(items, watched, lowering.memory.moment(), name, node)


def frame_of(lowering: Lowering, function: types.FunctionType | Closure) -> Frame:
    """The frame in which a generator function runs."""
    if isinstance(function, Closure):
        return function.new_frame()
    lowering.captures.runs(function)
    source = source_of(function, yields=True)
    return Frame(function, source, function.__globals__, cells_of(function))


def _runs_step_by_step(lowering: Lowering, node: gast.FunctionDef, arguments: dict) -> bool:
    """Whether the generator has no end, as far as its text tells, or reads one that runs so."""
    endless = any(map(never_ends, gast.walk(node)))
    given = (generator_in(each) for each in parts_of(arguments))
    return endless or node in lowering.stepwise or any(x is not None for x in given)


def _read_around(frame: Frame) -> list:
    """What it reads of the functions around: that has to be the same at each step."""
    around, read = frame.parent, []
    for name in sorted(names_read(frame.source.node)) if around is not None else ():
        if may_be_bound_again(around, name):
            raise _refused(frame.source.name, f"which reads {name!r}, which may change meanwhile")
        read.append(value_around(around, name))
    return read


def note_yield(lowering: Lowering, args: list, kwargs: dict[str, Any]) -> Any:
    """An item that is yielded: nobody may change what the generator has made of it."""
    (value,) = args
    for each in changing(value):
        if each.root.born > lowering.frame.locals[STARTED]:
            each.refusal = each.root.refusal = "what a generator function has yielded is changed"
    return value


def _refused(name: str, what: str) -> UnsupportedError:
    return UnsupportedError(
        "S2S201",
        f"a call of {name}, {what}",
        why="a generator is run to its end where it is called",
        help="return a list",
    )


def _to_its_end(source: Source) -> Source:
    """The function that returns the list of what a generator function yields."""
    return Source(_collecting(source.node), source.file, source.lines, source.name)


@remembered
def _collecting(node: gast.FunctionDef) -> gast.FunctionDef:
    """The definition with a list that begins empty, gets each item, and is returned."""
    places = {"T": YIELDED, "Y": gast.Constant(value=note_yield, kind=None)}
    before, after = quote("T = []", node, places), quote("return T", node, places)
    body = [*before, *_statements(node.body, places), *after]
    fields = {name: getattr(node, name, None) for name in node._fields} | {"body": body}
    return gast.copy_location(gast.FunctionDef(**fields), node)


def _statements(body: list[gast.stmt], places: dict[str, Any]) -> list[gast.stmt]:
    return [made for each in body for made in _statement(each, places)]


def _statement(node: gast.stmt, places: dict[str, Any]) -> list[gast.stmt]:
    """A statement with its yields as additions to the list; others than plain ones stay, and are
    refused."""
    value = node.value if isinstance(node, gast.Expr) else None
    if isinstance(value, gast.Yield):
        item = value.value or gast.copy_location(gast.Constant(value=None, kind=None), node)
        return quote("T.append(Y(E))", node, places | {"E": item})
    if isinstance(value, gast.YieldFrom):
        return quote("for V in E: T.append(V)", node, places | {"E": value.value, "V": STEP})
    if isinstance(node, gast.Return) and node.value is None:
        return quote("return T", node, places)
    if isinstance(node, FUNCTIONS):
        return [node]
    fields = {name: getattr(node, name, None) for name in node._fields}
    for name, field in fields.items():
        if isinstance(field, list) and field and isinstance(field[0], gast.stmt):
            fields[name] = _statements(field, places)
    return [gast.copy_location(type(node)(**fields), node)]


HANDLERS[Produced] = produced
HANDLERS[note_yield] = note_yield
