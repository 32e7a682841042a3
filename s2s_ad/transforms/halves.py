"""A block in two halves: the forward pass, and the backward pass with what it computes again.

Both sweeps over a block are written into one program first. What the second reads of the first
is then either kept, or computed again; the storage plan decides.
"""

from __future__ import annotations

import operator
from collections.abc import Collection, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass
from typing import Any

from s2s_ad.analysis.restoring import Restoring
from s2s_ad.core import form, values
from s2s_ad.core.builder import Builder, to_node
from s2s_ad.core.callee import item_of
from s2s_ad.core.passes import run
from s2s_ad.core.program import Input, Program
from s2s_ad.core.rule import Rule
from s2s_ad.core.tree import Tree, tuple_of
from s2s_ad.simplify.dead import DEAD
from s2s_ad.simplify.finish import nearest_shapes, nearest_shapes_in_block, without_shapes
from s2s_ad.storage import plan
from s2s_ad.transforms.small import in_one, in_steps, small_values


@dataclass(frozen=True, slots=True)
class Halves:
    """A block in two halves.

    kept: what the second half reads of the first, or of leaves that are gone when it runs.
    read: all that the second half reads: what is kept, leaves, and adjoints.
    checks_again: whether the second half finds out what the first then need not ask.
    """

    early: list[form.Statement]
    late: list[form.Statement]
    kept: list[str]
    read: list[str]
    checks_again: bool = False


def joint(
    builder: Builder,
    block: Program,
    more: Sequence[str],
    results: Iterable[Any],
    like: Sequence[str] | None = None,
) -> Program:
    """Both sweeps over a block as one program, without what nobody reads.

    Args:
        builder: holds both sweeps.
        block: what was swept.
        more: leaves that it did not have: adjoints.
        results: everything that is computed.
        like: leaves that the backward sweep may read shapes off; without it the block's own.
    """
    made = swept(builder, block, results)
    if like is None:
        made = without_shapes(nearest_shapes_in_block(made))
    else:
        nearer = without_shapes(nearest_shapes_in_block(made.with_(inputs=leaves(like))))
        late = [each for each in nearer.body if _is_late(each)]
        early = [each for each in made.body if not _is_late(each)]
        made = made.with_(body=(*early, *late), facts=nearer.facts)
    made = run(made.with_(inputs=(*block.inputs, *leaves(more))), (DEAD,))
    return in_steps(made)


def lengths(program: Program, like: Sequence[str]) -> dict[str, form.Op]:
    """How the second half reads lengths off these leaves, of which each has a value of its own."""
    present = [name for name in like if not values.may_be_absent(program.facts[name])]
    nearer = nearest_shapes(program.with_(inputs=leaves(present)), at_hand=False)
    before = {each.target: each for each in program.body}
    early = [each for each in nearer.body if isinstance(each, form.Op) and not _is_late(each)]
    return {
        each.target: each
        for each in early
        if each.rule.length and before.get(each.target, each) is not each
    }


def swept(builder: Builder, block: Program, results: Iterable[Any]) -> Program:
    """What a builder holds of both sweeps over a block, as a block with the same leaves."""
    return builder.as_body_of(block, output=outputs(results))


def leaves(names: Iterable[str]) -> tuple[Input, ...]:
    """An input for each name."""
    return tuple(Input(name, name) for name in names)


def outputs(results: Iterable[Any]) -> Tree:
    """Values as the outputs of a block."""
    nodes = tuple(map(to_node, results))
    return tuple_of(nodes)


def halve(
    program: Program,
    results: Iterable[Any],
    *,
    passing: Collection[str] = (),
    around: Collection[str] = (),
    free: Set[str] = frozenset(),
    instead: Mapping[str, form.Op] | None = None,
    restoring: Restoring | None = None,
    asked_again: Collection[str] = (),
    given: Collection[str] = (),
    repeated: bool,
) -> Halves:
    """The two halves of both sweeps over a block; `results` are the adjoints it computes.

    Args:
        passing: leaves that are gone when the second half runs.
        around: leaves that whoever runs both halves keeps, or has for other reasons.
        free: names that are kept in any case.
        instead: statements by which the second half can compute names in another way.
        restoring: arrays into which the second half puts elements back.
        asked_again: conditions that the second half finds out again, if it can.
        given: the leaves of the first half, where it may compute masks for the second.
        repeated: whether the first half runs many times before the second does.
    """
    late = [each for each in program.body if _is_late(each)]
    early = [each for each in program.body if not _is_late(each)]
    tuples = {t for each in early if isinstance(program.facts.get(t := each.target), Tree)}
    moved = [each for each in late if (item := item_of(each)) and item[0] in tuples]
    early += moved
    late = [each for each in late if not any(each is other for other in moved)]
    small = small_values(program, early, late, given) if given else []
    names = {each.target for each in small}
    late = [each for each in late if each.target not in names]
    both: list[form.Statement] = [*early, *small]
    again = [(instead or {}).get(each.target, each) for each in both]
    gone = passing
    if restoring is not None:
        others = {*restoring.again, *restoring.after}
        again = [each for each in again if each.target not in others]
        again += restoring.again.values()
        gone = [name for name in passing if name not in restoring.again]
    chosen = plan.decide(
        again,
        _outside(program, late, results),
        program.facts,
        passing=gone,
        around=around,
        free=free,
        restored=restoring.again if restoring else (),
        only_kept=(*restoring.overwritten, *restoring.indices) if restoring else (),
        asked_again=asked_again,
        either=names,
        repeated=repeated,
    )
    if small and names.isdisjoint(chosen.kept):
        options: dict[str, Any] = {"passing": passing, "around": around, "free": free}
        options |= {"instead": instead, "restoring": restoring, "asked_again": asked_again}
        return halve(program, results, repeated=repeated, **options)
    early = _with_small(early, small, chosen.kept)
    checked = _checked_once(early, chosen.again)
    again = any(map(operator.is_not, early, checked))
    late = in_one([*map(_again, _in_order(chosen.again)), *late])
    kept = [name for name in chosen.kept if name not in around]
    return Halves(checked, late, kept, _outside(program, late, results), again)


def recomputing(program: Program, results: Iterable[Any]) -> Halves:
    """Both halves with nothing kept: the second begins with the whole first."""
    body = in_one(program.body)
    return Halves([], body, [], _outside(program, body, results))


def writer(program: Program) -> Builder:
    """A builder that goes on with what a program knows; its body is still empty."""
    builder = Builder()
    builder.facts, builder.hints = dict(program.facts), dict(program.hints)
    return builder


def written(
    builder: Builder, program: Program, names: Iterable[str], results: Iterable[Any]
) -> Program:
    """What a `writer` for the program has written, as a block with these leaves and outputs."""
    made = builder.as_body_of(program, inputs=leaves(names), output=outputs(results))
    return run(made, (DEAD,))


def define(builder: Builder, name: str, rule: Rule, operands: Sequence[Any], **params: Any) -> None:
    """Emit an operation whose result has a name already."""
    nodes = {key: to_node(value) for key, value in params.items()}
    atoms = [to_node(each) for each in operands]
    builder.body.append(form.op(name, rule, atoms, nodes, builder.origin, builder.phase))
    builder.facts[name] = rule.infer([builder.fact(each) for each in operands], params)
    builder.definitions[name] = (rule, list(operands), params)


def _is_late(statement: form.Statement) -> bool:
    return statement.phase == "backward"


def _in_order(body: Sequence[form.Op]) -> list[form.Op]:
    """The statements, each after those that it reads."""
    waiting = {each.target: each for each in body}
    ordered: list[form.Op] = []

    def place(statement: form.Op) -> None:
        for name in statement.reads:
            if name in waiting:
                place(waiting.pop(name))
        ordered.append(statement)

    while waiting:
        place(waiting.pop(next(iter(waiting))))
    return ordered


def _again(statement: form.Op) -> form.Op:
    return statement.at(statement.origin, "backward")


def _with_small(
    early: list[form.Statement], small: Sequence[form.Op], kept: Collection[str]
) -> list[form.Statement]:
    """The first half with the small values that it keeps, each as soon as it can be computed."""
    needed, wanted = {*kept}, []
    for each in reversed(small):
        if each.target in needed:
            needed.update(each.reads)
            wanted.append(each.at(each.origin, "forward"))
    early = [*early]
    for each in reversed(wanted):
        indices = (index for index, other in enumerate(early) if other.target in each.reads)
        early.insert(1 + max(indices, default=-1), each)
    return early


def _checked_once(early: list, again: Collection[form.Statement]) -> list[form.Statement]:
    """The first half, which need not run what the second half runs again for its check alone."""
    names = {each.target for each in again}
    return [_unchecked(each) if each.target in names else each for each in early]


def _unchecked(statement: form.Op) -> form.Op:
    if statement.rule.unchecked is not None:
        return statement.with_call(statement.rule.unchecked, statement.operands)
    return statement.trusted([0]) if statement.required else statement


def _outside(program: Program, body: Sequence[form.Statement], results: Iterable[Any]) -> list[str]:
    """The names that statements and results read and do not define; captured ones are known."""
    defined = {statement.target for statement in body}
    defined |= {each.name for each in program.captured()}
    read = [name for statement in body for name in statement.reads]
    read += [name for each in results for name in form.reads(to_node(each))]
    return [name for name in dict.fromkeys(read) if name not in defined]


# ---- facts of adjoints -------------------------------------------------------------------------


def adjoint_fact(primal: values.AbstractValue, given: values.AbstractValue) -> Any:
    """The fact of an adjoint, of which `given` is known to be one: it has the primal's shape."""
    if isinstance(primal, values.List):
        item = given.item if isinstance(given, values.List) else given
        return values.List(adjoint_fact(primal.item, item))
    if isinstance(primal, values.Unknown):
        return values.as_inexact(primal)
    if isinstance(primal, values.Array) and primal.shape != ():
        known = given if isinstance(given, values.Array) else primal
        real = known.real or (known.dtype is None and values.is_real(primal))
        return values.Array(known.dtype, primal.shape, absent=primal.absent, real=real)
    if not isinstance(given, values.Array | values.Scalar):
        return values.Array(values.strong_dtype(primal), ())
    return values.join(values.Scalar(float), given)


def same_kind(a: values.AbstractValue, b: values.AbstractValue) -> bool:
    """Whether code for the one serves the other, their shapes being the same."""
    if isinstance(a, values.List) and isinstance(b, values.List):
        return same_kind(a.item, b.item)
    if isinstance(a, values.Array) and isinstance(b, values.Array):
        return values.Array(a.dtype, ()) == values.Array(b.dtype, ())
    return type(a) is type(b)
