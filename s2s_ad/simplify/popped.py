"""Rows of an array that a loop takes from a list of them, the last first, are read by its index."""

from __future__ import annotations

import operator
from typing import Any

import gast

from s2s_ad import runtime
from s2s_ad.analysis.slots import Block, Slot, taken_item
from s2s_ad.core import form, tree, values
from s2s_ad.core.builder import fresh_name
from s2s_ad.core.passes import Pass
from s2s_ad.core.program import TEMPORARY, Input, Program
from s2s_ad.core.regions import Loop, everywhere


def read_popped(program: Program) -> Program:
    """A loop back over all rows of an array reads them, where it takes them from a list of these.

    Such is the adjoint of a list that a loop has filled, and that an array was made of. The list
    is handed on as it came then, and goes with the passes that follow.

    Example:
        >>> import numpy as np
        >>> from s2s_ad import grad
        >>> from s2s_ad.check.passes import after
        >>> def f(x):
        ...     ys = []
        ...     for each in x:
        ...         ys.append(np.sin(each))
        ...     return np.sum(np.array(ys) ** 2)
        >>> print(after(READ_POPPED, grad(f), np.ones(3)))
        f_grad(x: f64[n]):
            t1 = np.size(x, axis=0)
            ys = list_of()
            ys.4 = for t2 in range(t1) with ys.2 = ys:
                each = x[t2]
                t3 = np.sin(each)
                ys.3 = list_append(ys.2, t3)
                next ys.3
            t4 = list_array(ys.4)
            ys_bar = 2 * t4
            ys_bar.2 = list_rows(ys_bar)
            t5 = broadcast_like(0.0, x)
            _, x_bar.3 = for t2 in reversed range(t1) with ys_bar.3 = ys_bar.2, x_bar = t5:
                each.2 = x[t2]
                sin_each_bar = ys_bar[t2]
                t6 = np.cos(each.2)
                each_bar = sin_each_bar * t6
                x_bar.2 = index_add(x_bar, each_bar, index=t2)
                next ys_bar.3, x_bar.2
            return x_bar.3
    """
    ops = [each for each in program.body if isinstance(each, form.Op)]
    loops = [each for each in ops if isinstance(each.rule, Loop)]
    if not loops:
        return program
    block = Block(program)
    changed = {each.target: _changed(block, each) for each in loops}
    body = [changed.get(each.target, each) for each in program.body]
    return program.with_(body=tuple(body))


def _changed(block: Block, statement: form.Op) -> form.Op:
    """The loop with each list of rows that it takes the last of left alone."""
    program = block.program
    loop: Any = statement.rule
    parts = loop.parts(statement.operands)
    if not loop.is_for or not loop.backwards or loop.exits or not _from_the_start(parts.bounds):
        return statement
    count = getattr(program.fact(parts.bounds[1]), "size", None)
    for index, start in enumerate(parts.carried):
        listed = block.maker(start)
        if listed is None or listed.function is not runtime.list_rows or listed.parameters:
            continue
        array = listed.operands[0]
        shape = values.shape_of(program.fact(array))
        if count is None or not shape or values.size_of_dim(shape[0]) != count:
            continue
        if not Slot(block, statement.target, index).is_read:
            statement = _reading(program, statement, index, array)
    return statement


def _from_the_start(bounds: list) -> bool:
    start, _, step = (getattr(each, "value", None) for each in bounds)
    return start == 0 and step == 1


def _reading(program: Program, statement: form.Op, slot: int, array: gast.AST) -> form.Op:
    """The loop that reads the array; itself where it does not take one item in each pass."""
    loop: Any = statement.rule
    body, taken = loop.body, taken_item(loop, slot)
    if taken is None:
        return statement
    leaves, output, name = loop.leaves(body), [*body.outputs()], fresh_name()
    (index,) = leaves.bounds
    output[slot] = form.name(leaves.carried[slot])
    pair, item, rest = taken
    params = {"index": form.name(index)}
    instead = {pair: [], rest: [], item: []}
    row = next(each for each in body.body if each.target == item)
    instead[item] = [row.with_call(operator.getitem, [form.name(name)], params)]
    kept = [made for each in body.body for made in instead.get(each.target, [each])]
    block = body.with_(
        inputs=(*body.inputs, Input(name, name)),
        body=tuple(kept),
        output=tree.tuple_of(output),
        facts=body.facts | {name: program.fact(array)},
        hints=body.hints | {name: TEMPORARY},
    )
    return statement.with_call(loop.with_blocks([block]), [*statement.operands, array])


READ_POPPED = Pass("read-popped", everywhere(read_popped))
