"""A program of one sample as a program of a batch: axes at the door."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from s2s_ad.core import tree, values
from s2s_ad.core.builder import Builder, Symbol
from s2s_ad.core.program import TEMPORARY, Program
from s2s_ad.core.tree import Tree
from s2s_ad.diagnostics import ArgumentValueError
from s2s_ad.transforms.batch import batch
from s2s_ad.transforms.common import finished, refill


def batched_program(program: Program, in_axes: Sequence[int | None], out_axes: Any) -> Program:
    """`program` for each of a batch.

    Args:
        program: derived for one sample.
        in_axes: per leaf the batch axis (of the batched array), None where it has none.
        out_axes: an axis or None, or a Tree of these that is a prefix of the output's structure.
    """
    builder, dim = Builder(), values.fresh_dim()
    arguments, batched = {}, set()
    for leaf, axis in zip(program.leaves(), in_axes, strict=True):
        fact, hint = program.facts[leaf], program.hints.get(leaf, TEMPORARY)
        if axis is None:
            arguments[leaf] = builder.adopt(leaf, fact, hint)
            continue
        whole = builder.adopt(leaf, values.add_axis(fact, axis, dim), hint)
        arguments[leaf] = np.moveaxis(whole, axis, 0) if axis else whole
        batched.add(leaf)
    outputs, moved, context = batch(builder, program, arguments, batched)
    axes = tree.leaves(prefix(out_axes, program.output, f"out_axes of vmap({program.name})"))
    results = [
        _moved_out(context, y, flag, axis, program)
        for y, flag, axis in zip(outputs, moved, axes, strict=True)
    ]
    return finished(
        builder,
        program,
        name=program.name + "_vmap",
        doc=f"{program.doc}, for each of a batch of {_batched_names(program, batched)}",
        output=refill(program.output, results),
    )


def _batched_names(program: Program, batched: set[str]) -> str:
    names = [
        each.name for each in program.inputs if any(x in batched for x in tree.leaves(each.tree))
    ]
    return names[0] if len(names) == 1 else f"({', '.join(names)})"


def prefix(axes: Any, structure: Any, what: str) -> Any:
    """`axes` spread over the leaves of `structure`: one number serves a whole container."""
    if not isinstance(axes, Tree):
        return tree.tree_map(lambda _: axes, structure)
    same = isinstance(structure, Tree) and len(axes.items) == len(structure.items)
    if not same or (axes.kind is dict) != (structure.kind is dict):
        raise ArgumentValueError(
            "S2S502",
            f"{what} = {tree.to_object(axes)!r} does not fit the structure it speaks of",
            help="give one axis, or the same nesting of tuples, lists or dicts",
        )
    if axes.kind is dict and set(axes.keys) != set(structure.keys):
        raise ArgumentValueError("S2S502", f"{what} has the keys {axes.keys}, not {structure.keys}")
    items = tuple(
        prefix(axes.get(key) if axes.kind is dict else axes.items[i], item, what)
        for i, (key, item) in enumerate(zip(structure.keys, structure.items, strict=True))
    )
    return Tree(structure.kind, structure.keys, items)


def _moved_out(context: Any, y: Any, flag: bool, axis: int | None, program: Program) -> Any:
    if axis is None:
        if flag:
            raise ArgumentValueError(
                "S2S502",
                f"out_axes of vmap({program.name}) is None for an output that differs from sample "
                "to sample",
                help="give the axis that the batch shall have in the output",
            )
        return y
    if not isinstance(y, Symbol) and type(y) not in values.PYTHON_NUMBERS:
        return y
    y = context.spread(y, flag)
    rank = y.ndim
    if rank is not None and not -rank <= axis < rank:
        raise ArgumentValueError(
            "S2S502",
            f"out_axes of vmap({program.name}) is {axis}, and the batched output has {rank} axes",
        )
    return np.moveaxis(y, 0, axis) if axis not in (0, -(rank or 0)) else y
