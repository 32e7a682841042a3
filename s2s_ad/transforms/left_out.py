"""Backward passes on the path of a branch on which their adjoints are not zero.

Where a branch gives something else for a result, the adjoint of that result is zero. What computed
it has no part in the derivative then, however steep it is there: its backward pass is not run.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import gast

from s2s_ad.core import form, tree, values
from s2s_ad.core.builder import Builder, Symbol, fresh_name, to_node
from s2s_ad.core.callee import captured_names, item_of
from s2s_ad.core.program import Capture, Program
from s2s_ad.core.regions import Branch, block
from s2s_ad.core.rule import ITEM

FARTHEST = 8  # operations between an adjoint and the branch that it comes from


@dataclass(frozen=True, slots=True)
class Where:
    """Where a value is zero: on the paths of a branch for which `then` and `orelse` say so.

    Each of these is a truth, or says on which paths of a branch in the block.
    """

    branch: str  # the name of its result
    condition: str
    then: Where | bool
    orelse: Where | bool

    @property
    def is_nested(self) -> bool:
        return not isinstance(self.then, bool) or not isinstance(self.orelse, bool)

    def same_as(self, other: Where) -> bool:
        """Whether these are the same paths."""
        if self.is_nested:
            return self == other
        return replace(self, branch=other.branch) == other


def left_out(builder: Builder, adjoints: Iterable[Any]) -> Where | None:
    """The paths on which each of the adjoints is zero; None where none are known."""
    found = [_zero_on(builder, each, FARTHEST) for each in adjoints]
    if not found or found[0] is None:
        return None
    same = all(each is not None and found[0].same_as(each) for each in found)
    return found[0] if same else None


def _zero_on(builder: Builder, value: Any, farthest: int) -> Where | None:
    rule, operands, params = builder.definition(value)
    if rule is None or not farthest:
        return None
    if rule is ITEM:
        branch, inner, _ = builder.definition(operands[0])
        if not isinstance(branch, Branch) or not isinstance(inner[0], Symbol):
            return None
        return _where(operands[0].name, inner[0].name, branch, params["index"])
    paths = (_zero_on(builder, operands[i], farthest - 1) for i in rule.vanishes_with())
    return next(filter(None, paths), None)


def _where(result: str, condition: str, branch: Branch, index: int) -> Where | None:
    """On which paths of a branch an output is zero; None where that is all or none of them."""
    sides = [_zero_in(each, each.outputs()[index]) for each in branch.blocks]
    return None if sides in ([True, True], [False, False]) else Where(result, condition, *sides)


def _zero_in(program: Program, atom: gast.AST) -> Where | bool:
    """Whether an output of a block is zero, or on which paths in it."""
    if _is_zero(program, atom):
        return True
    defined = {each.target: each for each in program.body if isinstance(each, form.Op)}
    item = item_of(defined[atom.id]) if getattr(atom, "id", None) in defined else None
    inner = None if item is None else defined.get(item[0])
    if item is None or inner is None or not isinstance(inner.rule, Branch):
        return False
    if not isinstance(inner.operands[0], gast.Name):
        return False
    return _where(inner.target, inner.operands[0].id, inner.rule, item[1]) or False


def _is_zero(program: Program, atom: gast.AST) -> bool:
    """Whether an output of a block is the number 0, or an array of it."""
    if isinstance(atom, gast.Name):
        made = next((each for each in program.body if each.target == atom.id), None)
        if not isinstance(made, form.Op):
            return False
        return made.rule.filled_with([getattr(each, "value", each) for each in made.operands]) == 0
    return type(getattr(atom, "value", None)) in (int, float) and atom.value == 0


def off_the_paths(
    sweep: Any, where: Where, write: Callable[[], list[tuple[str, Any]]]
) -> list[tuple[str, Any]]:
    """What `write` adds to adjoints of names, by a backward pass that does not run on the paths.

    That is left as it is where nothing in it is steep. On the paths an adjoint that it takes and
    goes on with is what it was before.
    """
    builder, before = sweep.builder, dict(sweep.adjoints)
    numbered, mark = dict(builder._numbered), _marked(builder)
    sweep.steep = False
    pairs = write()
    if not pairs or not sweep.steep:
        del builder.body[_place(builder, mark)]
        return pairs
    primals = [sweep.atoms[name] for name, _ in pairs]
    results = [sweep.full(y_bar, x) for (_, y_bar), x in zip(pairs, primals, strict=True)]
    ran = _cut(builder, mark), results
    builder._numbered = numbered  # nothing behind the branch reads what is inside
    taken = {name: each for name, each in before.items() if name not in sweep.adjoints}
    mark = _marked(builder)
    idle = [
        sweep.full(taken.pop(name, 0.0), x) for (name, _), x in zip(pairs, primals, strict=True)
    ]
    skipped = _cut(builder, mark), idle
    builder._numbered = dict(numbered)
    captures = {each.name: each for each in sweep.program.captured()}
    operands = _free_names((ran, skipped), captures)
    condition, truth = _asked(sweep, where)
    sides = (skipped, ran) if truth else (ran, skipped)
    made = Branch(*(_block(builder, *each, operands, captures) for each in sides))
    symbols = [Symbol(builder, each) for each in operands]
    adjoints = made.judged_by(results).call(builder, [condition, *symbols])
    return [(name, each) for (name, _), each in zip(pairs, adjoints, strict=True)]


def _asked(sweep: Any, where: Where) -> tuple[Symbol, bool]:
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


def _telling(branch: Branch, where: Where) -> Branch:
    """The branch with one more output: whether it came to one of the paths."""
    sides = zip(branch.blocks, (where.then, where.orelse), strict=True)
    return Branch(*itertools.starmap(_told, sides))


def _told(program: Program, where: Where | bool) -> Program:
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
