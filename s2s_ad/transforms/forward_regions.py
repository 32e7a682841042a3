"""Forward mode of branches and loops: their blocks hand over tangents with their values."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from s2s_ad import runtime
from s2s_ad.analysis import activity
from s2s_ad.core import form, values
from s2s_ad.core.builder import Builder, Symbol, fresh_name
from s2s_ad.core.callee import item_of
from s2s_ad.core.magnitudes import hand_in
from s2s_ad.core.program import TEMPORARY, Input, Program
from s2s_ad.core.regions import Attempt, Branch, Loop, Region, block
from s2s_ad.core.tree import Tree

Walk = Callable[..., tuple[list, list]]  # the forward mode of a program
Facts = tuple[values.AbstractValue | None, ...]  # of tangents; None where there is none
Results = tuple[list, list]  # values, and their tangents


def forward_region(
    walk: Walk,
    builder: Builder,
    region: Region,
    operands: Sequence[Any],
    tangents: Sequence[Any],
    wanted: Iterable[int],
) -> Results:
    """Emit the region with the tangents of its operands; a tangent of None is zero.

    Returns its outputs and their tangents; only the `wanted` outputs may have one.
    """
    pairs = zip(operands, tangents, strict=True)
    dots = [None if dot is None else _filled(builder, dot, value) for value, dot in pairs]
    emit = {Attempt: _attempt, Branch: _branch, Loop: _loop}[type(region)]
    return emit(walk, builder, region, list(operands), dots, tuple(sorted(wanted)))


def zero_tangent(builder: Builder, value: Any) -> Any:
    """The tangent of what does not depend on the inputs."""
    if not isinstance(value, Symbol):
        return value if value is values.UNDEFINED else 0.0
    if values.may_be_absent(value.fact):
        return builder.call(runtime.zeros_like, (value,), {})
    if isinstance(value.fact, values.List):
        rule, items, _ = builder.definition(value)
        empty = rule is not None and rule.function is runtime.list_of and not items
        return value if empty else builder.call(runtime.zeros_like, (value,), {})
    if values.may_be_wider(value.fact):  # whether it is only the run tells
        return builder.call(np.zeros_like, (value,), {})[()]
    if value.shape == ():
        single = values.single(value.fact)
        return 0.0 if single is None else single.type(0.0)
    return builder.call(runtime.broadcast_like, (0.0, value), {})


def _filled(builder: Builder, dot: Any, value: Any) -> Any:
    """A tangent in the shape of its value."""
    number = not isinstance(dot, Symbol) or dot.shape == ()
    if number and isinstance(value, Symbol) and value.shape != ():
        return builder.call(runtime.broadcast_like, (dot, value), {})
    return dot


def _facts(builder: Builder, dots: Iterable[Any]) -> Facts:
    return tuple(None if dot is None else builder.fact(dot) for dot in dots)


def _present(items: Iterable[Any]) -> list:
    return [each for each in items if each is not None]


def _spread_out(results: Sequence[Any], varies: Sequence[bool]) -> Results:
    """Outputs followed by the tangents of those that have one, as two lists of equal length."""
    count = len(varies)
    rest = iter(results[count:])
    return list(results[:count]), [next(rest) if flag else None for flag in varies]


# ---- blocks --------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Walked:
    """A block in forward mode; `tangents` are the leaves that it has more."""

    program: Program
    builder: Builder
    tangents: list[str]
    outputs: list
    dots: list

    def dots_of(self, indices: Iterable[int]) -> list:
        """The tangents of these outputs; zeros where a tangent does not vary."""
        with self.builder.at(self.program.origin, "tangent"):
            return [
                zero_tangent(self.builder, self.outputs[index])
                if self.dots[index] is None
                else _filled(self.builder, self.dots[index], self.outputs[index])
                for index in indices
            ]

    def block(self, leaves: Sequence[str], outputs: Sequence[Any]) -> Program:
        made = block(self.builder, leaves, outputs, captures=self.program.captures)
        return made.with_(name=self.program.name, doc=self.program.doc, origin=self.program.origin)


def _walked(walk: Walk, program: Program, given: Facts, wanted: Sequence[int]) -> _Walked:
    builder, tangents = Builder(), {}
    for leaf, fact in zip(program.leaves(), given, strict=True):
        if fact is not None:
            hint = program.hints.get(leaf, TEMPORARY).derived("_dot")
            tangents[leaf] = builder.symbol(fact, hint)
            hand_in(builder, [tangents[leaf].name], bounded=False)
    outputs, dots = walk(builder, program, tangents, wanted)
    return _Walked(program, builder, [each.name for each in tangents.values()], outputs, dots)


def _remembered(region: Region, key: tuple, make: Callable[[], Any]) -> Any:
    if key not in region.derived:
        region.derived[key] = make()
    return region.derived[key]


# ---- branches ------------------------------------------------------------------------------------


def _branch(
    walk: Walk, builder: Builder, region: Branch, operands: list, dots: list, wanted: tuple
) -> Results:
    given = _facts(builder, dots[1:])
    key = ("forward", given, wanted)
    made, varies = _remembered(region, key, lambda: _varied_branch(walk, region, given, wanted))
    return _spread_out(made.call(builder, [*operands, *_present(dots[1:])]), varies)


def _varied_branch(
    walk: Walk, region: Branch, given: Facts, wanted: tuple
) -> tuple[Branch, tuple[bool, ...]]:
    sides = [_walked(walk, each, given, wanted) for each in region.blocks]
    varies = _varying(sides)
    made = []
    for side in sides:
        leaves = [*side.program.leaves(), *side.tangents]
        made.append(side.block(leaves, [*side.outputs, *side.dots_of(_places(varies))]))
    return Branch(*made), varies


def _varying(sides: Sequence[_Walked]) -> tuple[bool, ...]:
    """Which outputs have a tangent on one of the sides."""
    columns = zip(*(side.dots for side in sides), strict=True)
    return tuple(any(dot is not None for dot in column) for column in columns)


def _places(flags: Iterable[bool]) -> list[int]:
    return [index for index, flag in enumerate(flags) if flag]


# ---- loops ---------------------------------------------------------------------------------------


def _loop(
    walk: Walk, builder: Builder, region: Loop, operands: list, dots: list, wanted: tuple
) -> Results:
    parts, given = region.parts(operands), region.parts(dots)
    facts = _facts(builder, given.carried), _facts(builder, given.fixed)
    zeros = tuple(_zero_fact(builder.fact(each)) for each in parts.carried)
    key = ("forward", *facts, zeros, wanted)
    made, varies = _remembered(
        region, key, lambda: _varied_loop(walk, region, facts, zeros, wanted)
    )
    initial = [
        zero_tangent(builder, value) if dot is None else dot
        for value, dot, flag in zip(parts.carried, given.carried, varies, strict=True)
        if flag
    ]
    fixed = [*parts.fixed, *_present(given.fixed)]
    results = made.call(builder, [*parts.bounds, *parts.carried, *initial, *fixed])
    return _spread_out(results, varies)


def _varied_loop(
    walk: Walk, region: Loop, facts: tuple[Facts, Facts], zeros: Facts, wanted: tuple
) -> tuple[Loop, tuple[bool, ...]]:
    """A carried value has a tangent if it has one before the loop or after a pass."""
    carried, fixed = list(facts[0]), facts[1]
    needed = sorted(activity.useful_carried(region, wanted))
    leaves = [region.body.facts[name] for name in region.leaves(region.body).carried]
    carried = [
        fact if index in needed and values.is_inexact(leaves[index]) is not False else None
        for index, fact in enumerate(carried)
    ]
    while True:
        given = (*(None,) * region.indices, *carried, *fixed)
        body = _walked(walk, region.body, given, needed)
        after = _facts(body.builder, body.dots[: region.carried])
        joined = [
            _joined(leaf, before, zero, now)
            for leaf, before, zero, now in zip(leaves, carried, zeros, after, strict=True)
        ]
        if joined == carried:
            break
        carried = joined
    varies = tuple(fact is not None for fact in carried)
    return _with_carried_tangents(region, body, varies), varies


def _zero_fact(value: values.AbstractValue) -> values.AbstractValue:
    """The abstract value of `zero_tangent` of such a value."""
    if isinstance(value, values.Array) and value.shape != ():
        return value if values.is_inexact(value) else values.Array(None, value.shape)
    if isinstance(value, values.Unknown):
        return values.as_inexact(value)
    if value == values.Static(values.UNDEFINED) or isinstance(value, values.List):
        return value
    return value if values.is_single(value) else values.Scalar(float)


def _joined(leaf: Any, before: Any, zero: Any, now: Any) -> Any:
    """What holds for a carried tangent before and after a pass."""
    if before is None and now is None:
        return None
    joined = values.join(zero if before is None else before, zero if now is None else now)
    return _in_shape_of(leaf, joined)


def _in_shape_of(leaf: Any, fact: Any) -> Any:
    """The abstract value of a tangent, which has the shape of its value."""
    if isinstance(leaf, values.List) and isinstance(fact, values.List):
        return values.List(_in_shape_of(leaf.item, fact.item))
    if isinstance(leaf, values.Array) and isinstance(fact, values.Array):
        return values.Array(
            fact.dtype, leaf.shape, real=fact.real, weak=fact.weak and not leaf.shape
        )
    return values.as_inexact(leaf) if isinstance(leaf, values.Unknown) else fact


def _with_carried_tangents(region: Loop, body: _Walked, varies: Sequence[bool]) -> Loop:
    places, names = _places(varies), region.leaves(region.body)
    count = len(places)
    dots = body.tangents[:count]
    leaves = [*names.bounds, *names.carried, *dots, *names.fixed, *body.tangents[count:]]
    outputs = body.outputs[: region.carried]
    leaving = body.outputs[region.carried :]
    made = body.block(leaves, [*outputs, *body.dots_of(places), *leaving])
    if region.test is None:
        return region.like([made], region.carried + count)
    facts = {name: body.builder.facts[name] for name in body.tangents}
    test = _with_more_leaves(region, region.test, dots, body.tangents[count:], facts)
    return region.like([test, made], region.carried + count)


def _with_more_leaves(
    region: Loop, test: Program, carried: list[str], fixed: list[str], facts: dict[str, Any]
) -> Program:
    """The test, which is given the tangents and does not read them."""
    fresh = {name: fresh_name() for name in (*carried, *fixed)}
    names = region.leaves(test)
    leaves = [*names.carried, *(fresh[name] for name in carried)]
    leaves += [*names.fixed, *(fresh[name] for name in fixed)]
    known = test.facts | {fresh[name]: facts[name] for name in fresh}
    return _with_leaves(test, leaves, known)


def _with_leaves(program: Program, leaves: list[str], facts: dict[str, Any]) -> Program:
    return program.with_(inputs=tuple(Input(name, name) for name in leaves), facts=facts)


# ---- try -----------------------------------------------------------------------------------------


def _attempt(
    walk: Walk, builder: Builder, region: Attempt, operands: list, dots: list, wanted: tuple
) -> Results:
    """The tangents are computed behind the `try`, along the path that was taken.

    So what is raised while differentiating is not taken for an exception of the user's code.
    """
    given = _facts(builder, dots)
    last = region.count - 1
    key = ("forward", given, wanted)
    made = _remembered(region, key, lambda: _divided(walk, region, given, wanted))
    operands = [*operands, *_present(dots)]
    results = made.values.call(builder, operands)
    position, kept = results[-1], results[last:-1]
    with builder.at(builder.origin, "tangent"):
        found = iter(_selected(builder, position, made.tangents, [*operands, *kept]))
    varies = (*made.varies, False)
    return [*results[:last], position], [next(found) if flag else None for flag in varies]


@dataclass(frozen=True, slots=True)
class _Divided:
    """A `try` that hands over what the tangents need, and the tangents for each of its blocks."""

    values: Attempt
    tangents: list[Program]
    varies: tuple[bool, ...]


def _divided(walk: Walk, region: Attempt, given: Facts, wanted: tuple) -> _Divided:
    sides = [_walked(walk, each, given, wanted) for each in region.blocks]
    varies = _varying(sides)
    dots = [side.dots_of(_places(varies)) for side in sides]
    parts = [_early_and_late(side, found) for side, found in zip(sides, dots, strict=True)]
    early, late = [], []
    for index, (side, found) in enumerate(zip(sides, dots, strict=True)):
        leaves = [*side.program.leaves(), *side.tangents]
        outputs, names = list(side.outputs), list(leaves)
        for other, (_, _, kept) in enumerate(parts):
            own = other == index
            outputs += [Symbol(side.builder, name) if own else values.UNDEFINED for name in kept]
            names += kept if own else [_stand_in(side, sides[other], name) for name in kept]
        before, after, _ = parts[index]
        early.append(side.block(leaves, outputs).with_(body=tuple(before)))
        late.append(side.block(names, found).with_(body=tuple(after)))
    return _Divided(region.like(early), late, varies)


def _stand_in(side: _Walked, other: _Walked, name: str) -> str:
    """A leaf for what another block hands over."""
    return side.builder.symbol(other.builder.facts[name]).name


def _early_and_late(side: _Walked, dots: list) -> tuple[list, list, list[str]]:
    """(what runs in the `try`, what is computed behind it, the names that this reads of that)."""
    early, late = [], []
    # what a slope has computed may be a value of the program, too: it is computed once
    needed = {each.name for each in side.outputs if isinstance(each, Symbol)}
    for statement in reversed(side.builder.body):
        target = statement.target
        if statement.phase == "tangent" and target not in needed:
            late.append(statement)
            continue
        if isinstance(side.builder.facts.get(target), Tree):
            early += [each for each in late if _is_item(each, target)]
            late = [each for each in late if not _is_item(each, target)]
        early.append(statement)
        needed.update(statement.reads)
    defined = {each.target for each in early if isinstance(each, form.Op)}
    read = [name for each in reversed(late) for name in each.reads]
    read += [dot.name for dot in dots if isinstance(dot, Symbol)]
    kept = [name for name in dict.fromkeys(read) if name in defined]
    return early[::-1], late[::-1], kept


def _is_item(statement: form.Statement, of: str) -> bool:
    """Whether a statement takes one of several results: they are handed over one by one."""
    item = item_of(statement)
    return item is not None and item[0] == of


def _selected(
    builder: Builder, position: Any, sides: list[Program], operands: list, first: int = 0
) -> list:
    """The outputs of the side that `position` names, which counts the sides from `first` on."""
    if len(sides) == 1:
        (side,) = sides
        return list(builder.splice(side, dict(zip(side.leaves(), operands, strict=True))).items)
    inner = Builder()
    inner.origin, inner.phase = builder.origin, builder.phase
    leaves = [inner.symbol(builder.fact(each)) for each in (position, *operands)]
    outputs = _selected(inner, leaves[0], sides[1:], leaves[1:], first + 1)
    inner.know_captures(sides[1:])
    rest = block(inner, [each.name for each in leaves], outputs)
    captures = {each.text: each for side in sides[1:] for each in side.captures}
    unread = fresh_name()
    known = sides[0].facts | {unread: builder.fact(position)}
    side = _with_leaves(sides[0], [unread, *sides[0].leaves()], known)
    made = Branch(side, rest.with_(captures=tuple(captures.values())))
    return made.call(builder, [position == first, position, *operands])
