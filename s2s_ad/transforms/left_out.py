"""Backward passes on the path of a branch on which their adjoints are not zero.

Where a branch gives something else for a result, the adjoint of that result is zero. What computed
it has no part in the derivative then, however steep it is there: its backward pass is not run.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

import gast

from s2s_ad.core import form, tree, values
from s2s_ad.core.builder import Builder, Symbol, fresh_name, to_node
from s2s_ad.core.callee import captured_names, item_of
from s2s_ad.core.program import Capture, Program
from s2s_ad.core.regions import Branch, block
from s2s_ad.core.rule import ITEM
from s2s_ad.core.zero_paths import Paths


def off_the_paths(
    sweep: Any, where: Paths, write: Callable[[], list[tuple[str, Any]]]
) -> list[tuple[str, Any]]:
    """What `write` adds to adjoints of names, by a backward pass that does not run on the paths.

    That is left as it is where nothing in it is steep. On the paths an adjoint that it takes and
    goes on with is what it was before.
    """
    builder, before = sweep.builder, dict(sweep.adjoints)
    outside, mark = builder.mark(), _marked(builder)
    sweep.steep = False
    pairs = write()
    if not pairs or not sweep.steep:
        del builder.body[_place(builder, mark)]
        return pairs
    primals = [sweep.atoms[name] for name, _ in pairs]
    results = [sweep.full(y_bar, x) for (_, y_bar), x in zip(pairs, primals, strict=True)]
    ran = _cut(builder, mark), results
    builder.forget(outside)
    taken = {name: each for name, each in before.items() if name not in sweep.adjoints}
    mark = _marked(builder)
    idle = [
        sweep.full(taken.pop(name, 0.0), x) for (name, _), x in zip(pairs, primals, strict=True)
    ]
    skipped = _cut(builder, mark), idle
    builder.forget(outside)
    captures = {each.name: each for each in sweep.program.captured()}
    operands = _free_names((ran, skipped), captures)
    condition, truth = _asked(sweep, where)
    sides = (skipped, ran) if truth else (ran, skipped)
    made = Branch(*(_block(builder, *each, operands, captures) for each in sides))
    symbols = [Symbol(builder, each) for each in operands]
    adjoints = made.judged_by(results).call(builder, [condition, *symbols])
    return [(name, each) for (name, _), each in zip(pairs, adjoints, strict=True)]


def _asked(sweep: Any, where: Paths) -> tuple[Symbol, bool]:
    """A condition, and the truth of it on the paths; the branch says of paths deeper inside."""
    builder = sweep.builder
    if not where.is_nested:
        return Symbol(builder, where.condition), where.then is True
    result = Symbol(builder, where.branch)
    branch, operands, _ = builder.definition(result)
    made = _telling(branch, where)
    with sweep.instead_of(result, "backward"):
        sweep.define(result.name, made, operands)
        return sweep.take(result, branch.count), True


def _telling(branch: Branch, where: Paths) -> Branch:
    """The branch with one more output: whether it came to one of the paths."""
    sides = zip(branch.blocks, (where.then, where.orelse), strict=True)
    return Branch(*itertools.starmap(_told, sides))


def _told(program: Program, where: Paths | bool) -> Program:
    """A block that hands that over."""
    if isinstance(where, bool):
        return program.with_(output=tree.tuple_of((*program.outputs(), form.constant(where))))
    place = next(i for i, each in enumerate(program.body) if each.target == where.branch)
    inner: Any = program.body[place]
    made, told = _telling(inner.rule, where), fresh_name()
    index = {"index": form.constant(made.count - 1)}
    item = inner.beside(told, ITEM, [form.name(inner.target)], index)
    body = list(program.body)
    body[place : place + 1] = [inner.with_call(made, inner.operands), item]
    facts = dict(program.facts) | {told: values.of_constant(True), inner.target: made.infer([], {})}
    output = tree.tuple_of((*program.outputs(), form.name(told)))
    return program.with_(body=tuple(body), facts=facts, output=output)


def _marked(builder: Builder) -> form.Effect:
    """A statement that says where the builder is: what comes before may be written again."""
    mark = form.Effect(gast.Pass(), builder.origin, builder.phase)
    builder.body.append(mark)
    return mark


def _place(builder: Builder, mark: form.Effect) -> int:
    return next(i for i in reversed(range(len(builder.body))) if builder.body[i] is mark)


def _cut(builder: Builder, mark: form.Effect) -> list[form.Statement]:
    """What was appended behind the mark, which is taken out again.

    A block reads outputs of what is around it, and takes nothing apart itself: that stays.
    """
    place = _place(builder, mark)
    body = builder.body[place + 1 :]
    made = {each.target for each in body}
    stays = [_is_item_of_another(each, made) for each in body]
    builder.body[place:] = itertools.compress(body, stays)
    return [each for each, flag in zip(body, stays, strict=True) if not flag]


def _is_item_of_another(statement: form.Statement, made: Collection[str | None]) -> bool:
    """Whether a statement takes an output of what is not among those that were made."""
    item = item_of(statement)
    return item is not None and item[0] not in made


def _free_names(written: Sequence[tuple[list, list]], captures: Collection[str]) -> list[str]:
    """The names that blocks read and do not define, but for captured ones."""
    found: dict[str, None] = {}
    for body, results in written:
        defined = {each.target for each in body}
        found |= dict.fromkeys(name for name in _read(body, results) if name not in defined)
    return [name for name in found if name not in captures]


def _read(body: Sequence[form.Statement], results: Sequence[Any]) -> list[str]:
    read = [name for each in body for name in each.reads]
    return read + [name for each in results for name in form.reads(to_node(each))]


def _block(
    builder: Builder,
    body: Sequence[form.Statement],
    results: Sequence[Any],
    leaves: Sequence[str],
    captures: Mapping[str, Capture],
) -> Program:
    """Statements that were cut out, as a block."""
    read = {*_read(body, results), *(name for each in body for name in captured_names(each))}
    own = [each for name, each in captures.items() if name in read]
    return block(builder, leaves, results, captures=own).with_(body=tuple(body))
