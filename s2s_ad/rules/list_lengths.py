"""How long a list is, by how it was made: also by a loop that appends so many in each pass."""

from __future__ import annotations

from typing import Any

import gast

from s2s_ad.core import form, sizes, values
from s2s_ad.core.builder import Builder, Symbol
from s2s_ad.core.callee import item_of
from s2s_ad.core.program import Program
from s2s_ad.core.regions import Branch, Loop, region_of
from s2s_ad.core.rule import ITEM
from s2s_ad.core.sizes import Size
from s2s_ad.rules.index_layout import is_integer, range_of

FARTHEST = 100  # operations between a list and its beginning

Followed = tuple[Any, int]  # what a list was before, and how many items it has got since


def enter_list(x: Symbol) -> None:
    """Note how long an input is: of a name in a block the fact does not say it, for lists grow."""
    if isinstance(x.fact, values.List) and x.fact.count is not None:
        x.builder.notes.setdefault("lengths", {})[x.name] = x.fact.count.size


def length(builder: Builder, items: Any, farthest: int = FARTHEST) -> Size | None:
    """The number of items of a list; None where it is not known."""
    known = builder.notes.setdefault("lengths", {})
    name = getattr(items, "name", None)
    if name not in known:
        known[name] = _length(builder, items, farthest - 1) if farthest else None
    return known[name]


def _length(builder: Builder, items: Any, farthest: int) -> Size | None:
    rule, operands, params = builder.definition(items)
    if rule is None:
        return None
    if rule is not ITEM:
        return rule.item_count(operands, params, lambda each: length(builder, each, farthest))
    loop, given, _ = builder.definition(operands[0])
    if not isinstance(loop, Loop):
        return None
    start = length(builder, loop.parts(given).carried[params["index"]], farthest)
    grown = _grown(builder, loop, given, params["index"])
    return None if start is None or grown is None else start + grown


def required_of_list(builder: Builder, index: Any, items: Any) -> list[Size]:
    """What is not below 0 where a number of an index into a list that is made here is in range.

    Where it is not known how many items it has it is asked of a known index alone: a loop over a
    list runs as often as that has items.
    """
    rule, _, _ = builder.definition(items)
    if rule is None or not is_integer(index):
        return []
    low, high = range_of(builder, index)
    count = length(builder, items)
    if count is None:
        count = sizes.of(sizes.fresh())
        if low.known is None:
            return []
    return [each for each in (count - high - 1, count + low) if not sizes.is_natural(each)]


def _grown(builder: Builder, loop: Loop, operands: list, index: int) -> Size | None:
    """How many items all passes append to a list that a loop carries."""
    if not loop.is_for or loop.exits:
        return None
    leaf, output = loop.leaves(loop.body).carried[index], loop.results()[0][index]
    found = _followed(loop.body, output)
    if found is None or getattr(found[0], "id", None) != leaf:
        return None
    start, stop, step = loop.parts(operands).bounds
    first, last = builder.size(start), builder.size(stop)
    if not found[1]:
        return sizes.of(0)
    if first is None or last is None or step not in (1, -1):
        return None
    passes = sizes.clamped(last - first if step == 1 else first - last)
    return sizes.product(passes, sizes.of(found[1]))


def _followed(block: Program, atom: gast.AST) -> Followed | None:
    """A leaf of a block, and how many items a list has more than that."""
    made = {each.target: each for each in block.body if isinstance(each, form.Op)}
    count = 0
    for _ in range(FARTHEST):
        statement = made.get(getattr(atom, "id", ""))
        if statement is None:
            return atom, count
        if statement.rule.appends:
            atom, count = statement.operands[0], count + 1
            continue
        if statement.rule.updates and not isinstance(statement.parameters["index"], gast.Slice):
            atom = statement.operands[0]
            continue
        item = item_of(statement)
        source = None if item is None else made.get(item[0])
        found = None if item is None or source is None else _through(source, item[1])
        if found is None:
            return None
        atom, count = found[0], count + found[1]
    return None


def _through(statement: form.Op, index: int) -> Followed | None:
    """What both sides of a branch append as many items to."""
    region = region_of(statement)
    if not isinstance(region, Branch):
        return None
    ends = {}
    for block in region.blocks:
        found, leaves = _followed(block, block.outputs()[index]), block.leaves()
        name = None if found is None else getattr(found[0], "id", None)
        if found is None or name not in leaves:
            return None
        before = statement.operands[1 + leaves.index(name)]
        ends[getattr(before, "id", None), found[1]] = before, found[1]
    return next(iter(ends.values())) if len(ends) == 1 else None
