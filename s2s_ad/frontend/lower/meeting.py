"""Branches as regions: the sides are lowered, and what holds after them is joined."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from s2s_ad.core.builder import NeedStatic, Symbol
from s2s_ad.core.program import Program
from s2s_ad.core.regions import Branch
from s2s_ad.frontend.lower.chosen import Taken
from s2s_ad.frontend.lower.exits import (
    CONTINUE,
    FLAGS,
    LEAVES,
    MAYBE,
    SKIP,
    STOPS,
    Exits,
    Raises,
)
from s2s_ad.frontend.lower.joins import Join, joined_contents, joined_names
from s2s_ad.frontend.lower.paths import Path, as_symbols, block, explore, free_names
from s2s_ad.frontend.lower.poisons import may_be_known, staying_of
from s2s_ad.frontend.lower.references import settled

if TYPE_CHECKING:
    from s2s_ad.frontend.lower.core import Lowering


def branch(lowering: Lowering, condition: Symbol, *sides: Callable[[], Exits]) -> Exits:
    """Lower the two sides of a branch on a condition that is not known now."""
    paths = [where(lowering, condition, *each) for each in zip((True, False), sides, strict=True)]
    return meet(lowering, condition, paths)


def branch_for_each(
    lowering: Lowering, choices: Sequence[tuple[Symbol, Any]], act: Callable[[Any], Exits]
) -> Exits:
    """Do something with the one of several objects whose flag is true: a branch for each."""
    (flag, member), *rest = choices
    if not rest:
        return act(member)
    return branch(lowering, flag, lambda: act(member), lambda: branch_for_each(lowering, rest, act))


def where(lowering: Lowering, condition: Symbol, truth: bool, run: Callable[[], Exits]) -> Path:
    """What `run` does where the condition is true, or is false."""
    lowering.branches = True
    if lowering.decides and may_be_known(lowering, condition, lengths=lowering.decides_lengths):
        if lowering.decides_passes or may_be_known(lowering, condition, passes=False):
            raise NeedStatic(condition.name, "the condition of the branch", lowering.refused)
        lowering.left_to_passes = True

    def side() -> Exits:
        lowering.assumptions.assume(condition, truth)
        return run()

    return explore(lowering, side)


def meet(lowering: Lowering, condition: Symbol, paths: Sequence[Path]) -> Exits:
    """Emit the branch whose sides are these paths."""

    def emit(blocks: list[Program], operands: list[Symbol]) -> list[Symbol]:
        return Branch(*blocks).call(lowering.builder, [settled(condition), *operands])

    join = Join(lowering, paths, condition)
    left = unite(lowering, join, emit)
    join.decided_by(Taken(settled(condition), is_number=False))
    join.note_truths(condition)
    for path, other in zip(paths, (False, True), strict=True):
        if path.stops:
            lowering.assumptions.assume(condition, other)
    return left


def unite(
    lowering: Lowering,
    join: Join,
    emit: Callable[[list[Program], list[Symbol]], list[Symbol]],
) -> Exits:
    """Let hold what holds after the paths, once `emit` has made a region of their blocks."""
    lowering.memory.bury(min(path.clock for path in join.paths))  # what is joined is made anew
    names, contents = joined_names(lowering, join), joined_contents(lowering, join)
    sides = [(path.body, join.outputs(index)) for index, path in enumerate(join.paths)]
    free = dict.fromkeys(name for side in sides for name in free_names(lowering, *side))
    blocks = [block(lowering, body, [*free], outputs) for body, outputs in sides]
    if join.columns or any(path.body for path in join.paths):
        join.bind(emit(blocks, as_symbols(lowering, free)))
    lowering.frame.locals = names
    for each, content in contents:
        parts = [path.content(each, None) for path in join.paths]
        lowering.memory.assign(each, content, parts)
    return leaving(join.paths)


def leaving(paths: Sequence[Path]) -> Exits:
    """Whether what follows several paths is reached."""
    ways = {path.left for path in paths} - {STOPS}
    if not ways:
        raise Raises
    if ways <= {CONTINUE} or ways <= {LEAVES}:
        return ways.pop()
    return MAYBE


def unless_left(lowering: Lowering, run: Callable[[], Exits]) -> Exits:
    """Lower statements that are only reached where the flags say that nothing was left."""
    names = lowering.frame.locals
    skipped = names[SKIP]

    def left() -> Exits:
        lowering.frame.locals[SKIP] = True
        return LEAVES

    def stayed() -> Exits:
        now = lowering.frame.locals
        now |= dict.fromkeys(FLAGS, False)
        now |= {name: staying_of(each) for name, each in now.items()}
        return run()

    return branch(lowering, skipped, left, stayed)


def go_on(lowering: Lowering, left: Exits, run: Callable[[], Exits]) -> Exits:
    """Lower what follows statements that were left in this way."""
    if left is MAYBE:
        return unless_left(lowering, run)
    return run() if left is CONTINUE else left
