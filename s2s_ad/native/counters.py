"""Counters that are always equal are one: lists that a loop fills in step are counted together."""

from __future__ import annotations

import itertools
import operator
from collections.abc import Iterator

import gast

from s2s_ad.native.spelling import names_in, value_of

Block = list[gast.stmt]
Update = tuple[Block, gast.stmt]
LEAVES = (gast.Break, gast.Continue, gast.Return)


def counted_together(body: Block) -> Block:
    """The statements of a function with one counter for all that are in step."""
    in_step: dict[tuple, list[str]] = {}
    for name, updates in _counters(body).items():
        changes = tuple((id(block), gast.dump(_change(update))) for block, update in updates)
        in_step.setdefault(changes, []).append(name)
    for kept, *others in in_step.values():
        for other in others:
            _merge(body, kept, other)
    return body


def _counters(body: Block) -> dict[str, list[Update]]:
    """The variables that are set to numbers and counted up or down, and nothing else: their
    updates, with the block that each stands in."""
    found: dict[str, list[Update]] = {}
    assigned_otherwise: set[str] = set()
    for block, statement in _statements(body):
        target = _target(statement)
        if target is not None:
            found.setdefault(target, []).append((block, statement))
        else:
            assigned_otherwise |= _assigned(statement)
    return {name: updates for name, updates in found.items() if name not in assigned_otherwise}


def _statements(body: Block) -> Iterator[Update]:
    """All statements, each with its block."""
    for each in body:
        yield body, each
        for block in _blocks(each):
            yield from _statements(block)


def _blocks(statement: gast.stmt) -> list[Block]:
    blocks = [getattr(statement, part, None) for part in ("body", "orelse")]
    return [each for each in blocks if isinstance(each, list)]


def _target(statement: gast.stmt) -> str | None:
    """The variable that a statement sets to a whole number, or counts up or down."""
    if isinstance(statement, gast.Assign):
        (target,) = statement.targets
    else:
        target = getattr(statement, "target", None)
    is_update = isinstance(statement, gast.Assign | gast.AugAssign)
    is_counted = is_update and type(value_of(statement.value)) is int
    return target.id if is_counted and isinstance(target, gast.Name) else None


def _assigned(statement: gast.stmt) -> set[str]:
    """The variables that a statement assigns, its blocks left out."""
    targets = getattr(statement, "targets", None) or [getattr(statement, "target", None)]
    several = [each.elts if isinstance(each, gast.Tuple) else [each] for each in targets]
    return {e.id for e in itertools.chain(*several) if isinstance(e, gast.Name)}


def _change(update: gast.stmt) -> gast.stmt:
    """What an update does, whichever variable it is of."""
    if isinstance(update, gast.Assign):
        return gast.Assign([], update.value, None)
    return gast.AugAssign(None, update.op, update.value)


def _merge(body: Block, kept: str, other: str) -> None:
    """Let one counter be the other as well, if they are equal wherever one is read."""
    counters = _counters(body)
    pairs = [*zip(counters[kept], counters[other], strict=True)]
    dropped = [_dropped(block, one, two, kept, other) for (block, one), (_, two) in pairs]
    if None in dropped:
        return
    for (block, _), update in zip(counters[kept], dropped, strict=True):
        block[:] = [each for each in block if each is not update]
    for node in itertools.chain.from_iterable(map(gast.walk, body)):
        if isinstance(node, gast.Name) and node.id == other:
            node.id = kept


def _dropped(
    block: Block, one: gast.stmt, two: gast.stmt, kept: str, other: str
) -> gast.stmt | None:
    """Which of two updates need not be, for nothing between them tells which is the later one.

    Args:
        one: the update of `kept`.
        two: that of `other`.
    """
    places = {id(each): k for k, each in enumerate(block)}
    pair = [(places[id(one)], kept, one), (places[id(two)], other, two)]
    (start, early, first), (stop, late, second) = sorted(pair, key=operator.itemgetter(0))
    between = block[start + 1 : stop]
    if any(isinstance(node, LEAVES) for each in between for node in gast.walk(each)):
        return None
    mentioned = {name for each in between for name in names_in(each)}
    changed = {name for _, each in _statements(between) for name in _assigned(each)}
    if late not in mentioned and early not in changed:
        return second
    if early not in mentioned and late not in changed:
        return first
    return None
