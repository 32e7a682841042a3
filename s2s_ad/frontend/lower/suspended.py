"""Generators that run step by step: what lasts between two items, and the loops that read them.

A call of a generator function makes an object that holds its locals and where it was left. Each
step runs its text from there to the next `yield`, in the place where the item is asked for: so what
it does and what is done around it come in the order that Python has.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import gast

from s2s_ad.core import form
from s2s_ad.core.builder import Symbol
from s2s_ad.core.tree import Tree
from s2s_ad.core.values import UNDEFINED
from s2s_ad.diagnostics import UnsupportedError
from s2s_ad.frontend.lower.calls import HANDLERS, LEAVES_ITERATORS
from s2s_ad.frontend.lower.comprehensions import generator, private
from s2s_ad.frontend.lower.core import Lowering, expression
from s2s_ad.frontend.lower.desugar import quote
from s2s_ad.frontend.lower.entries import put_entry, read_entry
from s2s_ad.frontend.lower.exits import (
    LOOPS,
    always_leaves,
    is_users,
    leavers,
    rearranged,
    structured,
)
from s2s_ad.frontend.lower.functions import closure_of
from s2s_ad.frontend.lower.iteration import (
    ENDLESS,
    Items,
    Iterator,
    Suspended,
    generator_in,
    iterator,
    state_of,
)
from s2s_ad.frontend.lower.kinds import is_leaf
from s2s_ad.frontend.lower.nonlocals import share
from s2s_ad.frontend.lower.references import Box, parts_of
from s2s_ad.frontend.lower.resuming import (
    FINISHED,
    ITEM,
    SENT,
    STAGE,
    STARTED,
    STATE,
    is_sent_to,
    not_resumable,
    resumable,
)
from s2s_ad.frontend.lower.try_splitting import Bare
from s2s_ad.frontend.remembered import remembered
from s2s_ad.frontend.resolve import DEEPEST, Frame
from s2s_ad.frontend.source import Source


def suspended(lowering: Lowering, frame: Frame, arguments: dict[str, Any]) -> Box:
    """A call of a generator function, of which nothing has run."""
    source = frame.source
    wrong = not_resumable(source.node)
    if wrong is not None:
        raise UnsupportedError(
            "S2S201",
            f"a generator function that is left at a 'yield' and goes on, in {source.name}",
            origin=source.origin(wrong),
            why="'yield' stands by itself or in `x = yield y`, in conditions and loops alone, "
            "where it is run step by step",
            help="return a list of its items",
        )
    made = resumable(source.node)
    frame.source = Source(made.around, source.file, source.lines, source.name)
    sent = {SENT: None} if is_sent_to(source.node) else {}
    frame.locals.update(arguments | dict.fromkeys(STATE, False) | {STAGE: 0} | sent)
    share(lowering, frame)
    state, frame.shared = frame.shared, None
    fixed = {name: each for name, each in arguments.items() if name in made.given}
    frame.locals.update((name, x) for name, x in fixed.items() if not _may_be_carried(x))
    parts = (Suspended(frame, made.resume), None, state)
    return lowering.memory.box(Tree(Iterator, ("items", "position", "state"), parts))


def resume(lowering: Lowering, value: Box, sent: Any = None) -> Any:
    """The next item, where this is what `yield` gives; UNDEFINED where there is none."""
    generator = generator_in(value)
    receives = sent is not None and SENT in state_of(value).keys
    if receives:
        put_entry(lowering, state_of(value), SENT, sent)
    around, source = _with_state(value), generator.around.source
    if len(lowering.frames) > DEEPEST:
        raise UnsupportedError("S2S206", f"{source.name} reads itself")
    own = Source(generator.resume, source.file, source.lines, source.name)
    frame = Frame(value, own, around.globals, around.cells, around)
    lowering.frames.append(frame)
    try:
        frame.outside = around.outside
        lowering.run(structured(generator.resume))
        if receives:
            put_entry(lowering, state_of(value), SENT, None)
        return frame.locals.get(ITEM, UNDEFINED)
    finally:
        lowering.frames.pop()


def _with_state(value: Box) -> Frame:
    """The scope around the text of a generator, with the locals that it has now."""
    frame = generator_in(value).around
    made = Frame(frame.owner, frame.source, frame.globals, frame.cells, frame.parent)
    made.locals |= frame.locals
    made.shared, made.outside = state_of(value), frame.outside
    return made


def _may_be_carried(value: Any) -> bool:
    """Whether a loop carries the value as it is: others it takes apart, or not at all."""
    return isinstance(value, Box) or is_leaf(value)


def has_started(lowering: Lowering, value: Box) -> Any:
    """Whether anything of the generator has run."""
    return read_entry(lowering, state_of(value), STARTED, UnboundLocalError())


def stop(lowering: Lowering, value: Box) -> None:
    """Nothing of the generator runs any more."""
    put_entry(lowering, state_of(value), FINISHED, True)


def is_finished(lowering: Lowering, value: Box) -> Any:
    """Whether the last step came to the end, with no item."""
    return read_entry(lowering, state_of(value), FINISHED, UnboundLocalError())


# ---- generator expressions --------------------------------------------------------------------

#: the parameter of a generator expression, no identifier of Python
FIRST = "first iterable"


@expression(gast.GeneratorExp)
def generator_expression(lowering: Lowering, node: gast.GeneratorExp) -> Any:
    """`(f(x) for x in xs)`"""
    made = generator(lowering, node)
    if reads_steps(made.first):
        function = closure_of(lowering, _as_function(node), "<genexpr>")
        return suspended(lowering, function.new_frame(), {FIRST: made.first})
    return iterator(lowering, made)


def reads_steps(value: Any) -> bool:
    """Whether it is an iterator of which nobody can read all items in advance."""
    endless = isinstance(value, Items) and type(value.length) is int and value.length == ENDLESS
    return endless or generator_in(value) is not None


@remembered
def _as_function(node: gast.GeneratorExp) -> gast.FunctionDef:
    """The generator function that a generator expression calls, with what it reads first."""
    first = gast.copy_location(gast.Name(FIRST, gast.Load(), None, None), node)
    (body,) = quote("V", node, {"V": gast.copy_location(gast.Yield(node.elt), node.elt)})
    for place, clause in reversed([*enumerate(node.generators)]):
        for test in reversed(clause.ifs):
            body = gast.copy_location(gast.If(test, [body], []), test)
        loop = gast.For(clause.target, clause.iter if place else first, [body], [], None)
        body = gast.copy_location(loop, node)
    parameter = gast.Name(FIRST, gast.Param(), None, None)
    args = gast.arguments([parameter], [], None, [], [], None, [])
    made = gast.FunctionDef("<genexpr>", args, [body], [], None, None, [])
    return gast.copy_location(made, node)


# ---- loops ---------------------------------------------------------------------------------------


def next_of(lowering: Lowering, value: Any, sent: Any = None) -> Any:
    """The next item of a generator, where there is one; this is what its `yield` gives."""
    item = resume(lowering, value, sent)
    return None if item is UNDEFINED else item


def is_at_end(lowering: Lowering, value: Any) -> Any:
    return is_finished(lowering, value)


def goes_on(lowering: Lowering, value: Any) -> None:
    """From here on it is known that there was an item."""
    put_entry(lowering, state_of(value), FINISHED, False)


def forget(lowering: Lowering, values: list) -> None:
    """Nobody will ask generators again that are at their end: that need not be known."""
    for each in values:
        goes_on(lowering, each)


def settle(lowering: Lowering, values: list) -> None:
    """What is certain here of whether generators are at their end is known from here on."""
    for each in values:
        truth = is_finished(lowering, each)
        if isinstance(truth, Symbol) and truth.name in lowering.assumptions.known:
            put_entry(lowering, state_of(each), FINISHED, lowering.assumptions.known[truth.name])


def _parts(value: Any) -> list:
    """An iterator, and those that it reads, which run step by step."""
    return [each for each in parts_of(value) if generator_in(each) is not None]


# ---- who may read an iterator --------------------------------------------------------------------


def is_held(lowering: Lowering, value: Box) -> bool:
    """Whether somebody has given the iterator a name, or put it into something that has one."""
    return _is_reached(lowering, value, lambda name: True)


def _is_reached(lowering: Lowering, value: Box, counts: Callable[[str], bool]) -> bool:
    """Whether a name that counts leads to the iterator."""
    waiting, seen = [*lowering.frames], set()
    while waiting:
        frame = waiting.pop()
        if frame is None or id(frame) in seen:
            continue
        seen.add(id(frame))
        held = [each for name, each in frame.locals.items() if counts(name)]
        for each in parts_of([*held, frame.shared]):
            if each is value:
                return True
            waiting.append(getattr(each, "frame", None))
        waiting.append(frame.parent)
    return False


class Steps(gast.While):
    """A loop over a generator as the loop around its text that it is."""


def loop_over(lowering: Lowering, node: gast.For, value: Any) -> list[gast.stmt]:
    """A loop over a generator: a step before it, and one at the end of each pass.

    So the text of the first step, which begins, is another than that of the steps in the loop.
    """
    if isinstance(node, Bare):
        raise lowering.refuse(
            node,
            "a loop over a generator in a 'try' that catches what its text raises",
            "call next() in the 'try', or loop around the 'try'",
        )
    if any(isinstance(each, gast.Break | gast.Continue) for each in leavers(node.orelse)):
        raise lowering.refuse(node, "an else of a loop over a generator that leaves a loop around")
    ended = [x for x in _parts(value) if not _is_reached(lowering, x, is_users)]
    name, item = private("generator"), private("")
    lowering.frame.locals[name] = value
    places = {"I": name, "T": item, "X": node.target, "E": node.orelse}
    places |= {"N": form.constant(next_of), "F": form.constant(is_at_end)}
    places["K"] = form.constant(settle)
    places |= {"G": form.constant(goes_on), "D": form.constant(forget), "L": form.constant(ended)}
    text = "T = N(I)\nif F(I):\n    E\n    D(L)\n    break\nelse:\n    G(I)\n    K(L)"
    step = quote(text, node, places)
    body = [*quote("X = T", node, places), *followed_by(rearranged(node.body), step)]
    text = "T = N(I)\nif F(I):\n    E\n    D(L)\nelse:\n    G(I)\n    K(L)\n    "
    (loop,) = quote("while True:\n    B", node, {"B": body})
    loop = gast.copy_location(Steps(loop.test, loop.body, []), node)
    return quote(text + "B", node, places | {"B": [loop]})


def followed_by(body: list[gast.stmt], step: list[gast.stmt]) -> list[gast.stmt]:
    """The body of a loop with what each pass that another one follows ends with."""
    made = [x for each in _without_last_continue(body) for x in _continued(each, step)]
    return made if always_leaves(made) else [*made, *step]


def _without_last_continue(body: list[gast.stmt]) -> list[gast.stmt]:
    """The statements without a `continue` behind which there is nothing anyway."""
    if not body:
        return body
    *before, last = body
    if isinstance(last, gast.Continue):
        return before or [gast.copy_location(gast.Pass(), last)]
    if isinstance(last, gast.If):
        branches = _without_last_continue(last.body), _without_last_continue(last.orelse)
        last = gast.copy_location(gast.If(last.test, *branches), last)
    return [*before, last]


def _continued(node: gast.stmt, step: list[gast.stmt]) -> list[gast.stmt]:
    """A statement in the body of a loop with the step before each `continue`."""
    if not any(isinstance(each, gast.Continue) for each in leavers([node])):
        return [node]
    if isinstance(node, gast.Continue):
        return [*step, node]
    fields = {name: getattr(node, name, None) for name in node._fields}
    for name, field in fields.items():
        if isinstance(field, list) and not (isinstance(node, LOOPS) and name == "body"):
            fields[name] = [x for each in field for x in _continued(each, step)]
    return [gast.copy_location(type(node)(**fields), node)]


HANDLERS[next_of] = lambda lowering, args, kwargs: next_of(lowering, *args)
HANDLERS[is_at_end] = lambda lowering, args, kwargs: is_at_end(lowering, *args)
HANDLERS[goes_on] = lambda lowering, args, kwargs: goes_on(lowering, *args)
HANDLERS[settle] = lambda lowering, args, kwargs: settle(lowering, *args)
HANDLERS[forget] = lambda lowering, args, kwargs: forget(lowering, *args)
LEAVES_ITERATORS.extend((next_of, is_at_end, goes_on))
