"""Regions whose adjoints find out by themselves that an index is out of range: where the adjoint of
an element goes there is no such element either, and its value need not be read for that."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from s2s_ad.analysis import activity
from s2s_ad.core import form
from s2s_ad.core.program import Program
from s2s_ad.core.regions import Loop, Region, region_of, with_blocks


def trusted(region: Region, flags: tuple[bool, ...]) -> Region:
    """The region, where `flags` mark the operands that derivatives are asked of."""
    key = ("trusted", flags)
    if key not in region.derived:
        blocks = [_trusted(block, _marked(region, block, flags)) for block in region.blocks]
        region.derived[key] = region.with_blocks(blocks)
    return region.derived[key]


def _marked(region: Region, block: Program, flags: tuple[bool, ...]) -> list[str]:
    """The leaves of a block that depend on what is marked."""
    if not isinstance(region, Loop):
        names = block.leaves()
        return _chosen(names, flags[len(flags) - len(names) :])
    leaves, parts = region.leaves(block), region.parts(flags)
    carried = activity.varied_carried(region, flags)
    return [*(leaves.carried[i] for i in sorted(carried)), *_chosen(leaves.fixed, parts.fixed)]


def _chosen(names: Iterable[str], flags: Iterable[bool]) -> list[str]:
    return [each for each, flag in zip(names, flags, strict=True) if flag]


def _trusted(block: Program, leaves: Iterable[str]) -> Program:
    varied = activity.varied(block, leaves)
    return block.with_body([_trusted_statement(each, varied) for each in block.body])


def _trusted_statement(statement: form.Statement, varied: set[str]) -> form.Statement:
    if isinstance(statement, form.Effect):
        return statement
    region = region_of(statement)
    if region is not None:
        flags = tuple(getattr(each, "id", None) in varied for each in statement.operands)
        return with_blocks(statement, region, trusted(region, flags).blocks)
    if not (statement.required or statement.waits):
        return statement
    return statement.trusted(positions(statement, varied))


def positions(statement: form.Op, active: Collection[str]) -> list[int]:
    """Which operands of a statement are active, or hold what is."""
    reads = enumerate(map(form.reads, statement.operands))
    return [place for place, names in reads if any(each in active for each in names)]
