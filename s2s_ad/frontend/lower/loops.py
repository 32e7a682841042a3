"""for and while: rolled into one region, or pass after pass where their items are known."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import gast

from s2s_ad.core.builder import NeedKind, NeedStatic, Symbol
from s2s_ad.diagnostics import UnsupportedError
from s2s_ad.frontend.locality import own_names
from s2s_ad.frontend.lower.classes import is_iterated_by_class
from s2s_ad.frontend.lower.comprehensions import run_through
from s2s_ad.frontend.lower.conditions import condition
from s2s_ad.frontend.lower.containers import count_now, item_now, known_items, opened
from s2s_ad.frontend.lower.core import Lowering, statement
from s2s_ad.frontend.lower.entries import may_lack_entries, may_lack_items
from s2s_ad.frontend.lower.exits import (
    BREAK,
    CONTINUE,
    FLAGS,
    LEAVES,
    MAYBE,
    RETURN,
    SKIP,
    Exits,
    leavers,
)
from s2s_ad.frontend.lower.indexed import ByIndex, items_when_asked_for
from s2s_ad.frontend.lower.iterables import is_apart, passes_of
from s2s_ad.frontend.lower.iteration import Generator, Produced, generator_in, is_iterator
from s2s_ad.frontend.lower.iterators import (
    finish,
    gives_next,
    is_read_whole,
    iterated,
    object_by_object,
    step_by_step,
    taken,
)
from s2s_ad.frontend.lower.lengthening import index_by_index, may_change_length, watched
from s2s_ad.frontend.lower.loop_fixpoint import Rolled, Rolling, TestChanges
from s2s_ad.frontend.lower.meeting import branch, branch_for_each, unless_left
from s2s_ad.frontend.lower.objects import class_of
from s2s_ad.frontend.lower.picked import is_picked, options
from s2s_ad.frontend.lower.poisons import StructureChanges, may_be_known
from s2s_ad.frontend.lower.references import Box, parts_of
from s2s_ad.frontend.lower.segments import Segmented
from s2s_ad.frontend.lower.statements import bind
from s2s_ad.frontend.lower.suspended import Steps, loop_over
from s2s_ad.frontend.remembered import remembered
from s2s_ad.frontend.scopes import bound_names

MOST_PASSES = 200
MOST_WRITTEN = 4_000  # passes that are written out
MOST_NESTED = 30  # passes of a `while`, each inside of a branch of the one before


@statement(gast.For)
def for_(lowering: Lowering, node: gast.For) -> Exits:
    """`for x in items:` Over ranges and arrays; over containers of known length pass by pass."""
    value = lowering.evaluate(node.iter)
    asked_for = items_when_asked_for(lowering, value)
    if asked_for is not None:
        return unrolled(lowering, node, asked_for)
    if is_iterated_by_class(class_of(value)):
        value = iterated(lowering, value)
    if gives_next(value):
        return lowering.run([object_by_object(lowering, node, value)])
    if not is_iterator(value):
        return for_value(lowering, node, value)
    if generator_in(value) is not None:
        return lowering.run(loop_over(lowering, node, value))
    if not is_read_whole(lowering, node, value):
        return lowering.run([step_by_step(lowering, node, value)])
    left = for_value(lowering, node, taken(lowering, value))
    finish(lowering, value)
    return left


def for_value(lowering: Lowering, node: gast.For, value: Any) -> Exits:
    """The loop over anything but an iterator."""
    if is_picked(value):
        each = functools.partial(for_value, lowering, node)
        return branch_for_each(lowering, options(value), each)
    schedule = None
    if may_lack_entries(value):
        value = opened(lowering, value)
    if isinstance(value, Segmented):
        value, schedule = value.items, value
    if isinstance(value, Generator):
        refuse_rebinding(lowering, node, value)
        value = run_through(lowering, value)
    of_any_length = isinstance(value, Box) and (value.is_dynamic or may_lack_items(value))
    if of_any_length and may_change_length(lowering, node, value):
        return lowering.run([index_by_index(lowering, node, value)])
    produced = [each for each in parts_of(value) if isinstance(each, Produced)]
    value = value.items if isinstance(value, Produced) else value
    left = for_each(lowering, node, value, schedule)
    for each in produced:
        each.check(lowering)
    return left


def refuse_rebinding(lowering: Lowering, node: gast.For, items: Generator) -> None:
    """A name that a pass binds would be another one for the next item of a generator."""
    own, _ = bound_names([clause.target for clause in items.node.generators])
    read = {each.id for each in gast.walk(items.node) if isinstance(each, gast.Name)}.difference(
        own
    )
    bound = {name for names in bound_names([node]) for name in names if name in read}
    if bound and items.frame is lowering.frame:
        raise lowering.refuse(
            node,
            f"a loop that binds {min(bound)!r}, which its generator expression reads",
            "make a list of the items first",
        )


def for_each(lowering: Lowering, node: gast.For, value: Any, schedule: Any) -> Exits:
    """The loop over a value."""
    if is_apart(value):
        known_items(lowering, value)  # says what cannot be iterated over
        return unrolled(lowering, node, Current(value))
    passes = passes_of(lowering, value)
    known = passes.known()
    if known is not None and len(known) == 0:
        return unrolled(lowering, node, ())

    place, few = place_of(lowering), known is not None and len(known) <= MOST_PASSES
    if few and place in lowering.apart:
        return unrolled(lowering, node, Lazily(known, passes.item))

    def start(index: Any) -> None:
        bind(lowering, node.target, passes.item(index))

    rolling = Rolling(
        lowering,
        lambda: one_pass(lowering, node, passes.sources),
        bounds=passes.bounds,
        start=start,
        backwards=passes.backwards,
        **names_of(lowering, node),
    )
    rolling.schedule = schedule
    try:
        rolled = rolling.roll()
    except (NeedStatic, UnsupportedError) as need:
        if not rolling.explains(need):
            raise
        lowering.needed_at = None
        ask_for(lowering, passes.bounds, need)
        if not few:
            raise
        return unrolled(lowering, node, Lazily(known, passes.item))
    if few:
        lowering.rolled |= dict.fromkeys(rolling.made, place)
    if rolled.shares:
        lowering.sharing[place] = passes.bounds
    return after(lowering, node, rolled)


def one_pass(lowering: Lowering, node: gast.For, sources: Sequence[Any]) -> Exits:
    """Lower the body, which may not change the lengths of lists that the loop reads."""
    run = functools.partial(lowering.run, node.body)
    for each in sources:
        if isinstance(each, Box) and (each.is_dynamic or may_lack_items(each)):
            run = functools.partial(watched, lowering, each, run)
    return run()


def place_of(lowering: Lowering) -> tuple:
    """Where a loop stands, which is the same when the function is lowered again."""
    origin = lowering.builder.origin
    return (origin.file, origin.line, origin.column, origin.function)


@dataclass(frozen=True, slots=True)
class Lazily:
    """The items of the passes with these indices, each computed when its pass begins."""

    indices: Sequence[int]
    item: Callable[[int], Any]

    def __iter__(self) -> Iterator[Any]:
        return map(self.item, self.indices)

    def __getitem__(self, part: slice) -> Lazily:
        return Lazily(self.indices[part], self.item)


@dataclass(frozen=True, slots=True)
class Current:
    """The items of a container from one on, read pass by pass: a pass may change the next item."""

    value: Any
    start: int = 0

    def __iter__(self) -> Iterator[Any]:
        index = self.start
        while index < count_now(self.value):
            yield item_now(self.value, index)
            index += 1

    def __getitem__(self, part: slice) -> Current:
        return Current(self.value, self.start + part.start)


#: what a loop that is written out reads
Apart = Sequence[Any] | Lazily | Current | ByIndex


def ask_for(lowering: Lowering, bounds: Sequence[Any], need: Exception) -> None:
    """Ask for the bounds of a loop whose passes have to be known, where they can be."""
    unknown = [each for each in bounds if isinstance(each, Symbol)]
    if all(may_be_known(lowering, each) for each in unknown):
        for each in unknown:
            error = need if isinstance(need, UnsupportedError) else getattr(need, "error", None)
            purpose = getattr(need, "purpose", "the number of passes")
            raise NeedStatic(each.name, purpose, error) from None


#: loops over items: where these have no end it is for the loop to leave them
READS = (gast.For, Steps)


class Rest(gast.While):
    """A loop whose first pass is written before it."""


@statement(gast.While)
def while_(lowering: Lowering, node: gast.While) -> Exits:
    """`while condition:`"""
    place, divides = place_of(lowering), _divides(node)
    if divides and place in lowering.apart:
        return lowering.run(with_first_pass(node))
    rolling = Rolling(
        lowering,
        lambda: lowering.run(node.body),
        test=lambda: condition(lowering, node.test),
        **names_of(lowering, node),
    )
    try:
        rolled = rolling.roll()
    except TestChanges:
        return while_(lowering, with_test_inside(node))
    except (NeedStatic, StructureChanges) as need:
        if not rolling.explains(need):
            raise
        if isinstance(need, NeedKind) and divides:
            return lowering.run(with_first_pass(node))
        return unrolled_while(lowering, node, need)
    if rolled.shares and divides:
        lowering.sharing[place] = ()
    return after(lowering, node, rolled)


def _divides(node: gast.While) -> bool:
    """Whether the first pass of a loop may be written before it; that of the rest stays there."""
    leaves = next(iter(leavers(node.body)), None) is not None
    return not (leaves or node.orelse or isinstance(node, Rest))


@remembered
def with_first_pass(node: gast.While) -> list[gast.stmt]:
    """`if condition: body, while condition: body`: there are arrays that only a first pass makes.

    Before it they are others: a view, say, of what the function was given.
    """
    rest = gast.copy_location(Rest(test=node.test, body=node.body, orelse=[]), node)
    made = gast.If(test=node.test, body=[*node.body, rest], orelse=[])
    return [gast.copy_location(made, node)]


def unrolled_while(lowering: Lowering, node: gast.While, need: Exception) -> Exits:
    """A loop whose condition is known in each pass, written out: `while node is not None`."""
    known_passes(lowering, node, need)
    broke, returned = (lowering.frame.locals.get(flag, False) for flag in (BREAK, RETURN))
    return finished(lowering, node, broke, returned)


def known_passes(
    lowering: Lowering, node: gast.While, need: Exception, most: int = MOST_PASSES
) -> Exits:
    """The passes one after the other, up to one that leaves the loop; so many at most."""
    for left in reversed(range(most)):
        lowering.frame.locals |= dict.fromkeys(FLAGS, False)
        test = condition(lowering, node.test)
        if test is False:
            return CONTINUE
        if isinstance(test, Symbol) and may_be_known(lowering, test):
            raise NeedStatic(test.name, "the condition of the loop", getattr(need, "error", None))
        if test is not True:
            break
        lowering.needed_at = None
        lowering.run(node.body)
        stops = lowering.frame.locals.get(BREAK, False)
        if stops is True:
            return LEAVES
        if stops is not False:
            lowering.frame.locals[SKIP] = stops
            left = min(left, MOST_NESTED)
            return unless_left(lowering, lambda left=left: known_passes(lowering, node, need, left))
    raise need


@remembered
def with_test_inside(node: gast.While) -> gast.While:
    """`while True: if condition: body, else: break`"""
    stop = gast.copy_location(gast.Break(), node.test)
    inner = gast.If(test=node.test, body=node.body, orelse=[*node.orelse, stop])
    inner = gast.copy_location(inner, node.test)
    true = gast.copy_location(gast.Constant(value=True, kind=None), node.test)
    return gast.copy_location(gast.While(test=true, body=[inner], orelse=[]), node)


def names_of(lowering: Lowering, node: gast.For | gast.While) -> dict[str, list[str]]:
    """The names that a loop binds and others see, and those of them that it only updates."""
    scope = lowering.frame.scope
    own = (
        own_names(lowering.frame.source.node, node)
        | scope.shared
        | scope.outer.keys()
        | scope.module.keys()
    )
    assigned, updated = ([x for x in names if x not in own] for names in bound_names([node]))
    only_updated = [each for each in updated if each not in assigned]
    return {"bound": [*assigned, *only_updated], "updated": only_updated}


def after(lowering: Lowering, node: gast.For | gast.While, rolled: Rolled) -> Exits:
    """What follows a rolled loop."""
    stays = rolled.endless and rolled.broke is False
    if stays and rolled.returned is False and not rolled.raises and isinstance(node, READS):
        raise lowering.refuse(node, "a loop that does not end", "leave it by a break or a return")
    if stays:
        lowering.frame.locals |= dict.fromkeys(FLAGS, True)
        return LEAVES
    return finished(lowering, node, rolled.broke, rolled.returned)


def finished(lowering: Lowering, node: gast.For | gast.While, broke: Any, returned: Any) -> Exits:
    """The else clause, and whether what follows the loop is reached."""
    lowering.frame.locals |= dict.fromkeys(FLAGS, returned)
    left = MAYBE if isinstance(returned, Symbol) else LEAVES if returned else CONTINUE
    if not node.orelse or broke is True:
        return left
    if broke is False:
        return lowering.run(node.orelse)

    def otherwise() -> Exits:
        lowering.frame.locals |= dict.fromkeys(FLAGS, False)
        return lowering.run(node.orelse)

    return branch(lowering, broke, lambda: left, otherwise)


# ---- pass after pass -----------------------------------------------------------------------------


def unrolled(lowering: Lowering, node: gast.For, items: Apart) -> Exits:
    """A loop over items that are known, written out."""
    passes(lowering, node, items)
    broke, returned = (lowering.frame.locals.get(flag, False) for flag in (BREAK, RETURN))
    return finished(lowering, node, broke, returned)


def passes(lowering: Lowering, node: gast.For, items: Apart) -> Exits:
    """The passes one after the other, up to one that leaves the loop."""
    lowering.frame.locals |= dict.fromkeys(FLAGS, False)
    for index, item in enumerate(items):
        if index == MOST_WRITTEN:
            raise UnsupportedError(
                "S2S201",
                f"more than {MOST_WRITTEN} items one by one",
                origin=lowering.builder.origin,
                why="how many there are decides what is made of them, so the loop is written out",
                help="keep them in an array",
            )
        lowering.frame.locals |= dict.fromkeys(FLAGS, False)
        bind(lowering, node.target, item)
        lowering.run(node.body)
        stops = lowering.frame.locals.get(BREAK, False)
        if stops is True:
            return LEAVES
        if stops is not False:
            lowering.frame.locals[SKIP] = stops
            return unless_left(
                lowering, lambda rest=items[index + 1 :]: passes(lowering, node, rest)
            )
    lowering.frame.locals |= dict.fromkeys(FLAGS, False)
    return CONTINUE
