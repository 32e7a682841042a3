"""Operations that go into a branch, where one of its sides then has nothing to do."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import gast
import numpy as np

from s2s_ad import runtime
from s2s_ad.core import form, values
from s2s_ad.core.builder import Builder, Symbol, to_node
from s2s_ad.core.callee import compound_of, has_effect, item_of
from s2s_ad.core.magnitudes import may_be_infinite
from s2s_ad.core.parts import in_kind_of
from s2s_ad.core.passes import Pass
from s2s_ad.core.program import TEMPORARY, Program
from s2s_ad.core.regions import Branch, block, blocks_of, everywhere, region_of
from s2s_ad.core.rule import ITEM, Operation

OURS = ("backward", "tangent")  # the user's own operations stay where he wrote them


class Sides:
    """Both blocks of a branch, while they grow.

    Attributes:
        operands: what the leaves of the blocks stand for.
        builders: hold the blocks.
        outputs: of each block.
        zeros: of each block, the arrays of zeros made for what nothing is added to there.
    """

    def __init__(self, program: Program, statement: form.Statement, *, fills: bool = False):
        self.program, self.statement, self.fills = program, statement, fills
        self.zeros: tuple[set[str], set[str]] = set(), set()
        self._whole: Builder | None = None
        blocks = blocks_of(statement)
        self.condition, *self.operands = statement.operands
        self.captures = [each.captures for each in blocks]
        self.builders = [_continued(each) for each in blocks]
        self.leaves = [each.leaves() for each in blocks]
        self.outputs = [
            [_view(builder, atom) for atom in each.outputs()]
            for builder, each in zip(self.builders, blocks, strict=True)
        ]

    def leaf(self, side: int, name: str) -> Symbol:
        """The leaf that stands for a name of the program."""
        for index, operand in enumerate(self.operands):
            if getattr(operand, "id", None) == name:
                return Symbol(self.builders[side], self.leaves[side][index])
        self.operands.append(form.name(name))
        for builder, leaves in zip(self.builders, self.leaves, strict=True):
            hint = self.program.hints.get(name, TEMPORARY)
            leaves.append(builder.symbol(self.program.facts[name], hint).name)
        return Symbol(self.builders[side], self.leaves[side][-1])

    @property
    def whole(self) -> Builder:
        """The program around, of which rules can be asked."""
        if self._whole is None:
            self._whole = Builder.of(self.program)
        return self._whole

    def written(self, change: Callable[[Program], Program] = lambda block: block) -> form.Op:
        """The statement with the blocks as they are now, `change` made in them."""
        parts = zip(self.builders, self.leaves, self.outputs, self.captures, strict=True)
        blocks = (
            block(builder, leaves, outputs, captures=captures)
            for builder, leaves, outputs, captures in parts
        )
        made = Branch(*map(change, blocks))
        return _assigned(self.statement, made, [self.condition, *self.operands])

    def leave_zeros(self, read: Iterable[int]) -> bool:
        """Whether an output that is read comes of zeros that were made here."""
        return any(
            isinstance(outputs[index], Symbol)
            and not zeros.isdisjoint(builder.ancestors(outputs[index].name))
            for builder, outputs, zeros in zip(self.builders, self.outputs, self.zeros, strict=True)
            for index in read
        )


def _continued(program: Program) -> Builder:
    """A builder that goes on where the program ends."""
    builder = Builder.of(program)
    builder.body = list(program.body)
    return builder


def _view(builder: Builder, atom: gast.AST) -> Any:
    return Symbol(builder, atom.id) if isinstance(atom, gast.Name) else atom.value


def _assigned(statement: form.Statement, made: Branch, operands: Sequence[gast.AST]) -> form.Op:
    return statement.with_call(made, list(operands))


# ---- what follows a branch ---------------------------------------------------------------------


def sink(program: Program) -> Program:
    """Let a branch do what follows it, where one of its sides then has nothing to do.

    Example:
        >>> from s2s_ad.check.passes import after
        >>> def f(c, a, b):
        ...     y = 0.0 if c > 0 else a
        ...     return y * b
        >>> print(after(SINK, f, 1.0, 2.0, 3.0, derived=True))
        f(c: float, a: float, b: float):
            t1 = c > 0
            t3 = if t1:
                give 0.0
            else:
                t2 = a * b
                give t2
            return t3
    """
    if program.tried:
        return program  # what may raise first decides on what happens next
    ours = [each.target for each in program.body if _is_ours(each)]
    followed = _followed(program) if ours else set()
    for target in ours:
        if target in followed:
            before, program = program, _sink_into(program, target, fills=True)
            followed = followed if program is before else _followed(program)
    return _sink_operands(program) if ours else program


def _is_ours(statement: form.Statement) -> bool:
    return isinstance(region_of(statement), Branch) and statement.phase in OURS


def _followed(program: Program) -> set[str]:
    """The results of calls, branches and loops of which operations read an item."""
    items = {each.target: item[0] for each in program.body if (item := item_of(each))}
    readers = [each for each in program.body if _may_sink(each)]
    return {items[name] for each in readers for name in each.reads if name in items}


def _may_sink(statement: form.Statement) -> bool:
    """Whether it is an operation of ours that a branch may do."""
    if isinstance(statement, form.Effect) or statement.phase not in OURS or has_effect(statement):
        return False
    return compound_of(statement) is None and item_of(statement) is None


def _sink_into(program: Program, target: str, *, fills: bool) -> Program:
    """What follows the branch that computes `target` goes into it.

    What `fills` it with zeros is no more than a step to where nothing is added: no array of zeros
    is made instead of an operation behind the branch.
    """
    body = list(program.body)
    index = next(i for i, each in enumerate(body) if each.target == target)
    items = {
        each.target: item[1]
        for each in body
        if (item := item_of(each)) is not None and item[0] == target
    }
    if not items:
        return program
    sides, before, after = Sides(program, body[index], fills=fills), [], []
    changed = False
    depends = {target, *items}
    for each in body[index + 1 :]:
        reads = set(each.reads)
        if not reads & depends:
            before.append(each)
            continue
        name = each.target
        if (
            reads & items.keys()
            and not reads & (depends - items.keys())
            and _sunk(sides, each, items)
        ):
            items[name] = len(sides.outputs[0]) - 1
            each, changed = _item(each, target, items[name]), True
        if name is not None:
            depends.add(name)
        after.append(each)
    if not changed:
        return program
    read = {name for each in after for name in each.reads}
    read |= {getattr(atom, "id", "") for atom in program.outputs()}
    given = sorted({place for name, place in items.items() if name in read})
    if fills and sides.leave_zeros(given):
        return _sink_into(program, target, fills=False)
    sides.outputs = [[outputs[place] for place in given] for outputs in sides.outputs]
    after = [
        _item(each, target, given.index(items[each.target])) if each.target in items else each
        for each in after
        if each.target not in items or each.target in read
    ]
    made = sides.written(sink)
    facts = program.facts | {target: made.function.infer([], {})}
    return program.with_(body=(*body[:index], *before, made, *after), facts=facts)


def _item(statement: form.Statement, target: str, index: int) -> form.Op:
    """The statement as an output of a branch."""
    return statement.with_call(ITEM, [form.name(target)], {"index": form.constant(index)})


def _sunk(sides: Sides, statement: form.Statement, items: dict[str, int]) -> bool:
    """Do the operation in both blocks, if that is nothing in one of them."""
    if not _may_sink(statement):
        return False
    read = items.keys() & set(statement.reads)
    if not all(_has_its_rank(sides, name, items[name]) for name in read):
        return False
    marks = [each.mark() for each in sides.builders]
    results, idle, before = [], [], [set(each) for each in sides.zeros]
    for side, builder in enumerate(sides.builders):
        atoms = {
            name: sides.outputs[side][items[name]] if name in items else sides.leaf(side, name)
            for name in statement.reads
        }
        count = len(builder.body)
        with builder.at(statement.origin, statement.phase):
            value = _value(builder, sides.program, statement, atoms, sides.zeros[side])
            fact = sides.program.facts[statement.target]
            if type(value) in (int, float, complex):
                value = _as_wide(sides.program, in_kind_of(builder, value, fact), fact)
            results.append(value if _has_its_dtype(builder, value, fact) else None)
        made = builder.body[count:]
        sides.zeros[side].update(each.target for each in made if _makes_zeros(each))
        idle.append(not made or (sides.fills and all(map(_makes_zeros, made))))
    may_go = any(idle) or _leaves_out(sides, statement, items)
    may_go = may_go or _adds_deeper_inside(sides, statement, items, idle)
    if not may_go or any(value is None for value in results):
        for builder, mark in zip(sides.builders, marks, strict=True):
            builder.undo(mark)
        for each, old in zip(sides.zeros, before, strict=True):
            each.intersection_update(old)
        return False
    hint = sides.program.hints.get(statement.target, TEMPORARY)
    for builder, outputs, value in zip(sides.builders, sides.outputs, results, strict=True):
        outputs.append(builder.named(value, hint))
    return True


def _as_wide(program: Program, value: Any, fact: values.AbstractValue) -> Any:
    """A number of Python's as one of NumPy's, where some numbers are of single precision."""
    dtype = fact.dtype if isinstance(fact, values.Array) and not fact.weak else None
    if dtype is None or isinstance(value, np.generic):
        return value
    return dtype.type(value) if any(map(values.is_single, program.facts.values())) else value


def _leaves_out(sides: Sides, statement: form.Statement, items: dict[str, int]) -> bool:
    """Whether an inner branch leaves something out that may be infinite, and may not be multiplied.

    The path that leaves it out is deeper inside, where the operation goes next.
    """
    names = [getattr(atom, "id", None) for atom in statement.operands]
    factors = [name for index, name in enumerate(names) if index in statement.rule.linear]
    others = [name for name in names if name is not None and name not in items]
    left_out = any(
        _is_zero_on_a_path(builder.body, to_node(outputs[items[name]]))
        for name in factors
        if name in items
        for builder, outputs in zip(sides.builders, sides.outputs, strict=True)
    )
    return left_out and (
        any(may_be_infinite(sides.whole, Symbol(sides.whole, name)) for name in others)
        or _has_pole(sides.whole, statement.target)
    )


def _adds_deeper_inside(
    sides: Sides, statement: form.Statement, items: dict[str, int], idle: Sequence[bool]
) -> bool:
    """Whether each side adds nothing to elements of an array, at least on a path deeper inside."""
    value = getattr(statement.operands[-1], "id", None)
    if not statement.rule.updates or statement.rule.identity.get(1) != 0 or value not in items:
        return False
    return all(
        is_idle or _is_zero_on_a_path(builder.body, to_node(outputs[items[value]]))
        for is_idle, builder, outputs in zip(idle, sides.builders, sides.outputs, strict=True)
    )


def _has_pole(builder: Builder, name: str) -> bool:
    """Whether the operation that computes a value may give infinity of finite numbers."""
    rule, operands, _ = builder.definitions[name]
    return rule.elementwise and not rule.is_finite(builder, operands)


def _is_zero_on_a_path(body: Sequence[form.Statement], atom: gast.AST) -> bool:
    """Whether an inner branch gives zeros on one of its paths, or what it gives does."""
    if not isinstance(atom, gast.Name):
        return False
    defined = {each.target: each for each in body if isinstance(each, form.Op)}
    item = item_of(defined[atom.id]) if atom.id in defined else None
    if item is None or item[0] not in defined:
        return False
    region = region_of(defined[item[0]])
    if not isinstance(region, Branch):
        return False
    pairs = [(each.body, each.outputs()[item[1]]) for each in region.blocks]
    return any(
        getattr(inner, "value", None) == 0
        or any(each.target == getattr(inner, "id", "") and _makes_zeros(each) for each in block)
        or _is_zero_on_a_path(block, inner)
        for block, inner in pairs
    )


def _has_its_dtype(builder: Builder, value: Any, fact: values.AbstractValue) -> bool:
    """Whether a side gives the dtype that is known of both: a zero of Python's widens nothing."""
    known = [values.strong_dtype(each) for each in (fact, builder.fact(value))]
    return not isinstance(fact, values.Array) or values.missing(known) or known[0] == known[1]


def _has_its_rank(sides: Sides, name: str, index: int) -> bool:
    """Whether both sides give an output of the rank that what follows reads.

    A side after which nobody reads it may give nothing, or a number.
    """
    rank = values.rank_of(sides.program.facts[name])
    pairs = zip(sides.builders, sides.outputs, strict=True)
    return all(values.rank_of(b.fact(outputs[index])) == rank for b, outputs in pairs)


def _value(
    builder: Builder,
    program: Program,
    statement: form.Statement,
    atoms: dict,
    zeros: set[str],
) -> Any:
    """The result of the operation in a block; zero where it is linear in a zero.

    None where it cannot be done with the number that a side gives. Arrays of `zeros` that were
    made before are what goes away first.
    """
    operation = builder.operation(statement, atoms)
    result = program.facts[statement.target]
    shape = values.shape_of(result)

    def stands_for_it(value: Any) -> bool:
        fact = builder.fact(value)
        dtypes = values.strong_dtype(fact), values.strong_dtype(result)
        alike = dtypes[0] == dtypes[1] and values.missing(dtypes) == all(e is None for e in dtypes)
        own = values.shape_of(fact)
        return alike and (values.same_shape(own, shape) or values.are_equal(own, shape))

    found = _of_zero(builder, operation, stands_for_it, zeros, is_number=shape == ())
    if found is not None:
        return found
    pairs = zip(statement.operands, operation.operands, strict=True)
    if not operation.rule.elementwise and any(
        isinstance(atom, gast.Name) and not isinstance(operand, Symbol) for atom, operand in pairs
    ):
        return None  # a number has no axes that could be moved
    return builder.emit(operation.rule, operation.operands, operation.params)


def _of_zero(
    builder: Builder,
    operation: Operation,
    stands_for_it: Callable[[Any], bool],
    zeros: set[str],
    *,
    is_number: bool,
) -> Any:
    """The result of an operation on a zero, where that says what it is; see `_value`."""
    rule, operands = operation.rule, operation.operands
    made = [getattr(each, "name", None) in zeros for each in operands]
    for index in sorted(range(len(made)), key=made.__getitem__, reverse=True):
        operand = operands[index]
        if not _is_zero(builder, operand):
            continue
        if index in rule.vanishes_with():
            if is_number:
                return 0.0
            if stands_for_it(operand):
                return operand
            like = next(filter(stands_for_it, operands), None)
            if isinstance(like, Symbol):
                return builder.call(runtime.broadcast_like, (0.0, like), {})
        neutral = rule.identity.get(index) == 0
        other = operands[1 - index] if neutral else None
        if neutral and stands_for_it(other):
            return other
        if neutral and _is_zero(builder, other) and stands_for_it(operand):
            zeros.discard(operand.name)  # it is there for the other one
            return operand
    return None


def _makes_zeros(statement: form.Statement) -> bool:
    """Whether it is an array of zeros, like another one."""
    fills = statement.rule.function is runtime.broadcast_like
    return fills and getattr(statement.operands[0], "value", None) == 0.0


def _is_zero(builder: Builder, value: Any) -> bool:
    """Whether a value is the number 0 or an array of zeros."""
    if not isinstance(value, Symbol):
        return type(value) in (int, float) and value == 0
    rule, operands, _ = builder.definition(value)
    if rule is None:
        return False
    return rule.zeros or (
        rule.function is runtime.broadcast_like and _is_zero(builder, operands[0])
    )


# ---- what comes before a branch ----------------------------------------------------------------


def _sink_operands(program: Program) -> Program:
    """What only one side of a branch reads is computed there.

    Example:
        >>> import numpy as np
        >>> from s2s_ad.check.passes import after
        >>> def f(c, x, a):
        ...     t = np.sign(x)
        ...     return x if c > 0 else a * t
        >>> print(after(SINK, f, 1.0, 2.0, 3.0, derived=True))
        f(c: float, x: float, a: float):
            t1 = c > 0
            t4 = if t1:
                give x
            else:
                t2 = np.sign(x)
                t3 = a * t2
                give t3
            return t4
    """
    body: list[form.Statement] = []
    readers = _readers(program)
    computed = _computed(program)
    moved: dict[str, form.Statement] = {}
    for statement in reversed(program.body):
        if statement.target in moved:
            continue
        if _is_ours(statement):
            statement = _with_operands(program, statement, readers, computed, moved)
        body.append(statement)
    return program.with_(body=tuple(reversed(body))) if moved else program


def _readers(program: Program) -> dict[str, int]:
    """How many statements, outputs among them, read each name."""
    counts: dict[str, int] = {}
    for statement in program.body:
        for name in set(statement.reads):
            counts[name] = counts.get(name, 0) + 1
    for atom in program.outputs():
        if isinstance(atom, gast.Name):
            counts[atom.id] = counts.get(atom.id, 0) + 1
    return counts


def _computed(program: Program) -> dict[str, form.Statement]:
    """The operations that a branch may do, by their results.

    What is read of an array before it is changed stays there: later it would need a copy.
    """
    changed = {name for each in program.body for name in _changed(each)}
    return {
        each.target: each
        for each in program.body
        if _may_sink(each) and changed.isdisjoint(each.reads)
    }


def _with_operands(
    program: Program,
    statement: form.Statement,
    readers: dict[str, int],
    computed: Mapping[str, form.Statement],
    moved: dict[str, form.Statement],
) -> form.Statement:
    """The branch with the operations that one of its sides alone needs."""
    condition, *operands = statement.operands
    names = [getattr(each, "id", "") for each in operands]
    if not any(readers.get(name) == 1 and name in computed for name in names):
        return statement
    asked, sides = set(form.reads(condition)), Sides(program, statement)
    read = [_names_read(each) for each in blocks_of(statement)]
    count = len(moved)
    while (found := _needed_by_one(sides, readers, computed, read, asked)) is not None:
        index, side = found
        name, names = sides.operands[index].id, {getattr(e, "id", None) for e in sides.operands}
        moved[name] = made = computed[name]
        for each in set(made.reads):
            readers[each] -= 1 if each in names else 0
        read[side].update(_move(sides, index, side, made))
    return sides.written(_sink_operands) if len(moved) > count else statement


def _needed_by_one(
    sides: Sides, readers: dict[str, int], computed: Mapping, read: list[set[str]], asked: set[str]
) -> tuple[int, int] | None:
    """The position of an operand that one block alone reads, and that may be computed there."""
    names = [getattr(operand, "id", "") for operand in sides.operands]
    for index, name in enumerate(names):
        if readers.get(name) != 1 or name not in computed:
            continue
        using = [i for i, leaves in enumerate(sides.leaves) if leaves[index] in read[i]]
        if len(using) == 1 and names.count(name) == 1 and name not in asked:
            return index, using[0]
    return None


def _changed(statement: form.Statement) -> list[str]:
    """The array that is changed, where the text updates elements in place."""
    return form.reads(statement.operands[0]) if statement.rule.updates else []


def _names_read(program: Program) -> set[str]:
    read = {name for statement in program.body for name in statement.reads}
    return read | {atom.id for atom in program.outputs() if isinstance(atom, gast.Name)}


def _move(sides: Sides, index: int, side: int, made: form.Statement) -> list[str]:
    """Put an operation in front of one block, in place of an operand; returns what it reads."""
    names = {name: sides.leaf(side, name) for name in made.reads}
    builder, leaf = sides.builders[side], sides.leaves[side][index]
    nodes = {name: to_node(value) for name, value in names.items()}
    first = form.substitute(made, nodes | {made.target: form.name(leaf)})
    builder.body.insert(0, first)
    for leaves in sides.leaves:
        del leaves[index]
    del sides.operands[index]
    return [each.name for each in names.values()]


SINK = Pass("sink", everywhere(sink))
