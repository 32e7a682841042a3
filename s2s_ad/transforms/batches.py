"""A program of one sample as a program of a batch: axes at the door."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from s2s_ad.core import tree, values
from s2s_ad.core.builder import Builder, Symbol
from s2s_ad.core.program import TEMPORARY, Program
from s2s_ad.core.tree import Tree
from s2s_ad.diagnostics import ArgumentTypeError, ArgumentValueError, Origin, S2SError
from s2s_ad.simplify.dead import remove_dead
from s2s_ad.transforms.batch import batch
from s2s_ad.transforms.batch.context import NotMasked
from s2s_ad.transforms.common import finished, refill


def batched_program(
    program: Program, in_axes: Sequence[int | None], out_axes: Any, *, masked: bool = False
) -> Program:
    """`program` for each of a batch.

    Args:
        program: derived for one sample.
        in_axes: per leaf the batch axis (of the batched array), None where it has none.
        out_axes: an axis or None, or a Tree of these that is a prefix of the output's structure.
        masked: see `Batch`.
    """
    program = remove_dead(program)  # what nobody reads need not fit into a batch
    builder, dim = Builder(), values.fresh_dim()
    arguments, batched = {}, set()
    for leaf, axis in zip(program.leaves(), in_axes, strict=True):
        fact, hint = program.facts[leaf], program.hints.get(leaf, TEMPORARY)
        if axis is None:
            arguments[leaf] = builder.adopt(leaf, fact, hint)
            continue
        whole: Any = builder.adopt(leaf, values.add_axis(fact, axis, dim), hint)
        arguments[leaf] = np.moveaxis(whole, axis, 0) if axis else whole
        batched.add(leaf)
    outputs, moved, context = batch(builder, program, arguments, batched, masked=masked)
    subject = f"the output of {program.name}"
    axes = tree.leaves(prefix(out_axes, program.result, "vmap: out_axes", subject))
    paths = tree.paths(program.result)
    results = [
        _moved_out(context, y, flag, axis, tree.path_text(subject, path), program.origin)
        for y, flag, axis, path in zip(outputs, moved, axes, paths, strict=False)
    ]
    written = outputs[len(axes) :]
    _check_written(program, moved[len(axes) :])
    return finished(
        builder,
        program,
        name=program.name + "_vmap",
        doc=f"{program.doc}, for each of a batch of {_batched_names(program, batched)}",
        output=refill(program.result, results),
        written=written,
    )


def masked_program(program: Program, in_axes: Sequence[int | None]) -> Program | None:
    """`program` for a batch, the first axis, of which all samples go through all of it together:
    what is not for one of them is masked. None where one of them could come to harm."""
    try:
        return batched_program(program, in_axes, 0, masked=True)
    except (NotMasked, S2SError):
        return None


def _check_written(program: Program, batched: Sequence[bool]) -> None:
    """What is stored in a Parameter is the same for all samples."""
    for capture, differs in zip(program.writes, batched, strict=True):
        if differs:
            raise ArgumentValueError(
                "S2S402",
                f"vmap: {program.name} stores a value in the Parameter {capture.text}, and each "
                "sample has another",
                origin=program.origin,
                why="there is one Parameter for all samples",
                help="return the value, and store what becomes of all of them",
            )


def _batched_names(program: Program, batched: set[str]) -> str:
    names = [
        each.name for each in program.inputs if any(x in batched for x in tree.leaves(each.tree))
    ]
    return names[0] if len(names) == 1 else f"({', '.join(names)})"


def prefix(axes: Any, structure: Any, what: str, subject: str = "the value") -> Any:
    """`axes` spread over the leaves of `structure`: one number serves a whole container.

    What is no array there, a text, a count, None, is the same for all samples. `what` and
    `subject` are what a message calls the two.
    """
    if not isinstance(axes, Tree):
        within = isinstance(structure, Tree)
        return tree.tree_map(lambda leaf: None if within and _is_one(leaf) else axes, structure)
    keyed = axes.kind is dict
    fits = isinstance(structure, Tree) and keyed == (structure.kind is dict)
    if not fits or not (
        set(axes.keys) == set(structure.keys) if keyed else len(axes.items) == len(structure.items)
    ):
        raise ArgumentValueError(
            "S2S502",
            f"{what} = {tree.to_object(axes)!r} is {_container(axes)}, "
            f"{subject} is {_container(structure)}",
            help="give one axis, or the same nesting of tuples, lists or dicts",
        )
    items = []
    for i, (key, item) in enumerate(zip(structure.keys, structure.items, strict=True)):
        axis = axes.get(key) if keyed else axes.items[i]
        step = list(structure.steps())[i]
        inner = f"{what}[{key if keyed else i!r}]", tree.path_text(subject, (step,))
        items.append(prefix(axis, item, *inner))
    return Tree(structure.kind, structure.keys, tuple(items))


def _is_one(fact: Any) -> bool:
    """Whether a value has no batch axis and is no floating-point number, which might want one."""
    return isinstance(fact, values.Static) or fact == values.Scalar(int)


def _container(value: Any) -> str:
    """A container as a message shows it."""
    if not isinstance(value, Tree):
        return "a single value"
    if value.kind is dict:
        return f"a dict with the keys {list(value.keys)!r}"
    plural = "entry" if len(value.items) == 1 else "entries"
    return f"a {value.kind.__name__} of {len(value.items)} {plural}"


def _moved_out(
    context: Any, y: Any, flag: bool, axis: int | None, subject: str, origin: Origin | None
) -> Any:
    """An output with its batch axis where it is asked for; `subject` is what a message calls it."""
    if axis is None:
        if flag:
            raise ArgumentValueError(
                "S2S502",
                f"vmap: out_axes is None for {subject}, which depends on a mapped input",
                origin=origin,
                help="give the axis that the batch shall have in the output",
            )
        return y
    if y is None:
        return y
    number = type(y) in values.PYTHON_NUMBERS or isinstance(y, np.number | np.bool_)
    if not isinstance(y, Symbol) and not number:
        raise ArgumentTypeError(
            "S2S304",
            f"vmap: {subject} is {type(y).__name__} {y!r}; only arrays and numbers can be stacked",
            origin=origin,
            help="leave it out, or give it None in out_axes",
        )
    y = context.spread(y, flag)
    rank = y.ndim
    if rank is not None and not -rank <= axis < rank:
        raise ArgumentValueError(
            "S2S502",
            f"vmap: out_axes {axis} is out of range for {subject}, which has {rank} "
            f"{'axis' if rank == 1 else 'axes'} once mapped (valid: {-rank}..{rank - 1})",
            origin=origin,
        )
    return np.moveaxis(y, 0, axis) if axis not in (0, -(rank or 0)) else y
