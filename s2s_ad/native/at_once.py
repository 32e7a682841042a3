"""Products that the passes of a loop make of fixed matrices are one product, for BLAS.

A pass that multiplies a row of a matrix by another matrix makes a row of one product, which is
computed before the loop. What passes add to an array, of rows of a matrix and vectors of their own,
is one product behind the loop, for which the vectors are kept as rows. So memory is read once for
all passes: loops that go along rows take three to five times as long.
"""

from __future__ import annotations

import functools
import operator
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import gast
import numpy as np

from s2s_ad import runtime
from s2s_ad.analysis import liveness
from s2s_ad.analysis.indices import index_text
from s2s_ad.core import form, sizes, tree, values
from s2s_ad.core.builder import Builder, Symbol, filling_of, fresh_name
from s2s_ad.core.callee import items_of
from s2s_ad.core.program import Input, Program
from s2s_ad.core.regions import Loop, everywhere, region_of
from s2s_ad.simplify.dead import remove_dead
from s2s_ad.simplify.first_sums import first_into_zeros
from s2s_ad.simplify.invariants import pass_by

#: how many rows of a matrix the passes of a loop may leave out
MOST_LEFT = 2
#: the letters of a product: the axis of the passes, the one of a matrix beside it, the new one
EACH, OWN, NEW = "iab"


def at_once(program: Program) -> Program:
    """The program with products of matrices taken out of its loops."""
    made = everywhere(_without_products)(program)
    return program if made is program else everywhere(pass_by)(remove_dead(made))


def _without_products(program: Program) -> Program:
    items = items_of(program)
    for statement in program.body if not program.tried else ():
        loop = region_of(statement)
        if isinstance(loop, Loop) and _counts_up(loop, statement):
            products = _Products(program, statement, loop, items.get(statement.target, {}))
            products.look()
            program = products.taken_out() if products.is_any else program
    return program


def _counts_up(loop: Loop, statement: form.Statement) -> bool:
    if not loop.is_for or loop.exits:
        return False
    start, _, step = (getattr(e, "value", None) for e in loop.parts(statement.operands).bounds)
    return type(start) is int and 0 <= start <= MOST_LEFT and step == 1


@dataclass(frozen=True, slots=True)
class Sum:
    """What passes add to an array that they carry.

    Attributes:
        index: of the array among what is carried.
        statement: the one that adds.
        matrix: the fixed matrix that is multiplied.
        spec: of the product behind the loop.
        vector: of each pass.
        part: where the vector stands in the row that is kept; None where it is the row.
        axes: arrays and their axes that are as long as there are rows, and as the rows are.
    """

    index: int
    statement: form.Op
    matrix: str
    spec: str
    vector: gast.Name
    part: gast.AST | None
    axes: tuple[tuple[str, int], tuple[str, int]]
    is_all: bool


@dataclass
class _Products:
    """The products of a loop, which are taken out of it.

    Attributes:
        items: what the values are called that the loop has carried.
        rows: products before the loop, each with the statement for one row of it.
        sums: products behind it.
    """

    program: Program
    statement: form.Op
    loop: Loop
    items: dict[int, str]
    rows: list[tuple[form.Op, str, tuple[str, str], gast.AST | None]] = field(default_factory=list)
    sums: list[Sum] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.block, parts = self.loop.body, self.loop.parts(self.statement.operands)
        self.leaves, self.stop = self.loop.leaves(self.block), parts.bounds[1]
        self.start = parts.bounds[0].value
        self.index = self.leaves.bounds[0]
        pairs = zip(self.leaves.fixed, parts.fixed, strict=True)
        self.outer = {leaf: atom.id for leaf, atom in pairs if isinstance(atom, gast.Name)}
        both = {e.name for e in self.block.captured()} & {e.name for e in self.program.captured()}
        self.outer |= {each: each for each in both}
        carried = zip(self.leaves.carried, parts.carried, strict=True)
        self.carried = {leaf: atom.id for leaf, atom in carried if isinstance(atom, gast.Name)}
        self.made = {e.target: e for e in self.block.body if isinstance(e, form.Op)}

    @property
    def is_any(self) -> bool:
        return bool(self.rows or self.sums)

    def look(self) -> None:
        """Find the products."""
        self.counts = liveness.counts(self.block.body, self.block.outputs())
        for each in self.made.values():
            if each.function is runtime.contract:
                self._look_for_row(each)
        results, _ = self.loop.results()
        for index, (leaf, atom) in enumerate(zip(self.leaves.carried, results, strict=True)):
            if index in self.items and leaf in self.carried:
                self._look_for_sums(index, leaf, atom)

    # ---- facts

    def _size(self, name: str, axis: int) -> sizes.Size:
        return values.size_of_dim(self.block.facts[name].shape[axis])

    def _is_matrix(self, name: str, dtype: np.dtype, rank: int = 2) -> bool:
        fact = self.block.facts.get(name)
        is_array = isinstance(fact, values.Array) and values.rank_of(fact) == rank
        return is_array and fact.dtype is not None and fact.dtype == dtype and dtype.kind == "f"

    def _left(self, name: str, axis: int) -> int | None:
        """How many rows the passes do not come to; None where these may be many."""
        stop = self.program.fact(self.stop)
        size = sizes.of(self.stop.value) if isinstance(self.stop, gast.Constant) else stop.size
        left = None if size is None else (self._size(name, axis) - size).known
        return left + self.start if left is not None and 0 <= left <= MOST_LEFT else None

    def _row(self, atom: gast.AST, dtype: np.dtype) -> tuple[str, int] | None:
        """(matrix, axis) where a vector is another row, or column, of a fixed matrix each pass."""
        taken = self._taken(atom, dtype)
        if taken is None:
            return None
        matrix, at = taken
        axis = self._axis_of(at)
        found = axis is not None and matrix in self.outer
        return (matrix, axis) if found and self._left(matrix, axis) is not None else None

    def _taken(self, atom: gast.AST, dtype: np.dtype) -> tuple[str, list[gast.AST | None]] | None:
        """(matrix, for each axis what is taken of it, None: all) of elements of a matrix."""
        name = getattr(atom, "id", "")
        op = self.made.get(name)
        if op is None or op.function is not operator.getitem:
            whole = name in self.outer and self._is_matrix(name, dtype)
            return (name, [None, None]) if whole else None
        matrix = getattr(op.operands[0], "id", "")
        if op.required or op.waits or not self._is_matrix(matrix, dtype):
            return None
        at = _along_axes(op.parameters["index"])
        return None if at is None else (matrix, at)

    def _axis_of(self, at: Sequence[gast.AST | None]) -> int | None:
        """The axis along which the index of the loop names one row of all."""
        found = [axis for axis, each in enumerate(at) if getattr(each, "id", "") == self.index]
        return found[0] if len(found) == 1 and at[1 - found[0]] is None else None

    def _part(self, atom: gast.AST, dtype: np.dtype) -> tuple[str, list[gast.AST | None]] | None:
        """(matrix, slice of each axis) where a matrix is part of a fixed one."""
        taken = self._taken(atom, dtype)
        if taken is None or taken[0] not in self.outer:
            return None
        return taken if all(e is None or isinstance(e, gast.Slice) for e in taken[1]) else None

    # ---- products before the loop

    def _look_for_row(self, op: form.Op) -> None:
        dtype = values.strong_dtype(self.block.facts[op.target])
        if op.waits or dtype is None or op.target in self.carried:
            return
        for vector, letter, matrix, letters, out in _both_ways(op):
            if len(letter) != 1 or len(letters) != 2 or letter not in letters:
                continue
            axis = letters.index(letter)
            row, part = self._row(vector, dtype), self._part(matrix, dtype)
            if out != letters[1 - axis] or row is None or part is None or part[1][axis] is not None:
                continue
            of_row = EACH + OWN if row[1] == 0 else OWN + EACH
            spec = f"{of_row},{OWN + NEW if axis == 0 else NEW + OWN}->{EACH + NEW}"
            self.rows.append((op, spec, (row[0], part[0]), part[1][1 - axis]))
            return

    # ---- products behind it

    def _look_for_sums(self, index: int, leaf: str, atom: gast.AST) -> None:
        """Follow an array that is only added to from the end of a pass to its beginning."""
        found = []
        while getattr(atom, "id", "") != leaf:
            op = self.made.get(getattr(atom, "id", ""))
            if op is None or not self._adds(op):
                return
            if self.counts[op.target] != 1 or op.waits or op.required:
                return
            found.append(op)
            atom = self._summed(op, leaf)
        if self.counts[leaf] == 1:
            self.sums += [e for op in found if (e := self._sum(index, leaf, op)) is not None]

    def _adds(self, op: form.Op) -> bool:
        """Whether it adds to an array, or stores where there is zero."""
        if op.function is runtime.index_set:
            return op.target in first_into_zeros(self.program, [self.statement])
        return op.function in (runtime.index_add, operator.add)

    def _summed(self, op: form.Op, leaf: str) -> gast.AST:
        """The operand of a sum that is the array so far."""
        if op.function is operator.add and self._is_chain(op.operands[1], leaf):
            return op.operands[1]
        return op.operands[0]

    def _is_chain(self, atom: gast.AST, leaf: str) -> bool:
        op = self.made.get(getattr(atom, "id", ""))
        return getattr(atom, "id", "") == leaf or (op is not None and op.rule.updates)

    def _sum(self, index: int, leaf: str, op: form.Op) -> Sum | None:
        dtype = values.strong_dtype(self.block.facts[leaf])
        value = next(each for each in op.operands if each is not self._summed(op, leaf))
        product = self.made.get(getattr(value, "id", ""))
        if product is None or product.function is not runtime.contract or product.waits:
            return None
        if dtype is None or not self._is_matrix(leaf, dtype) or self.counts[product.target] != 1:
            return None
        at: Any = [None, None]
        if op.rule.updates:
            at = _along_axes(op.parameters["index"])
        if at is None:
            return None
        for vector, letter, other, letters, out in _both_ways(product):
            if len(letter) != 1 or not self._is_matrix(getattr(vector, "id", ""), dtype, 1):
                continue
            of = self._of_rows if len(letters) == 1 else self._of_parts
            found = of(leaf, at, letter, other, letters, out, dtype)
            if found is not None:
                return Sum(index, op, found[0], found[1], vector, *found[2:])
        return None

    def _of_rows(
        self, leaf: str, at: list, letter: str, other: gast.AST, letters: str, out: str, dtype: Any
    ) -> tuple | None:
        """y[:, part] += outer(row, vector)"""
        row = self._row(other, dtype)
        if row is None or len(out) != 2 or letter == letters:
            return None
        matrix, axis = row
        index = out.index(letters)  # of the row's axis in what is added
        part = at[1 - index]
        fits = sizes.equals(self._size(matrix, 1 - axis), self._size(leaf, index))
        if at[index] is not None or not fits or not (part is None or isinstance(part, gast.Slice)):
            return None
        of_row = EACH + OWN if axis == 0 else OWN + EACH
        target = OWN + NEW if index == 0 else NEW + OWN
        axes = (matrix, axis), (leaf, 1 - index)
        is_all = part is None and self._left(matrix, axis) == 0
        return matrix, f"{of_row},{EACH + NEW}->{target}", part, axes, is_all

    def _of_parts(
        self, leaf: str, at: list, letter: str, other: gast.AST, letters: str, out: str, dtype: Any
    ) -> tuple | None:
        """y[i] += matrix[:, part] @ vector"""
        part, axis = self._part(other, dtype), self._axis_of(at)
        if part is None or axis is None or len(letters) != 2 or letter not in letters:
            return None
        matrix, slices = part
        summed = letters.index(letter)
        fits = sizes.equals(self._size(matrix, 1 - summed), self._size(leaf, 1 - axis))
        if slices[1 - summed] is not None or not fits or out != letters[1 - summed]:
            return None
        if self._left(leaf, axis) is None:
            return None
        of_matrix = NEW + OWN if summed == 0 else OWN + NEW
        target = EACH + OWN if axis == 0 else OWN + EACH
        axes = (leaf, axis), (matrix, summed)
        is_all = slices[summed] is None and self._left(leaf, axis) == 0
        return matrix, f"{of_matrix},{EACH + NEW}->{target}", slices[summed], axes, is_all

    # ---- the loop without them

    def taken_out(self) -> Program:
        """The program with the products before and behind the loop."""
        builder, statement = Builder.of(self.program), self.statement
        self.builder = builder
        self.fixed: list[tuple[str, Symbol]] = []  # leaves, and what they are outside
        self.kept: dict[Any, tuple[str, str, Symbol]] = {}  # leaf, its last value and its zeros
        changed: dict[int, list[form.Op]] = {}
        self.facts: dict[str, Any] = {}
        for op, spec, matrices, part in self.rows:
            changed[id(op)] = [self._as_row(op, spec, matrices, part)]
        for each in self.sums:
            with builder.at(statement.origin, each.statement.phase):
                changed[id(each.statement)] = self._kept_row(each)
        ahead, builder.body = builder.body, []
        made = self._loop(changed)
        builder.facts[made.target] = tree.tuple_of(made.rule.facts)
        behind = {}
        for index in dict.fromkeys(each.index for each in self.sums):
            behind[self.items[index]] = self._added(made, index)
        body = []
        for each in self.program.body:
            if each is statement:
                body += [*ahead, made]
            else:
                body += behind.get(each.target, [each])
        return self.program.with_(
            body=tuple(body),
            facts=self.program.facts | builder.facts,
            hints=self.program.hints | builder.hints,
        )

    def _as_row(
        self, op: form.Op, spec: str, matrices: tuple[str, str], part: gast.AST | None
    ) -> form.Op:
        """A product of a pass as a row of that of all."""
        operands = [Symbol(self.builder, self.outer[each]) for each in matrices]
        with self.builder.at(op.origin, op.phase):
            whole = self.builder.call(runtime.contract, (spec, *operands), {})
        leaf = self._leaf(whole)
        index: Any = form.name(self.index)
        index = index if part is None else gast.Tuple([index, part], gast.Load())
        return op.with_call(operator.getitem, [form.name(leaf)], {"index": index})

    def _leaf(self, value: Symbol) -> str:
        """The name in the loop of what is fixed there."""
        known = [leaf for leaf, each in self.fixed if each is value]
        if known:
            return known[0]
        leaf = fresh_name()
        self.facts[leaf] = value.fact
        self.fixed.append((leaf, value))
        return leaf

    def _key(self, each: Sum) -> tuple:
        """What sums have in common that keep one vector in one place."""
        return each.vector.id, index_text(each.part), *(self._size(*axis) for axis in each.axes)

    def _kept_row(self, each: Sum) -> list[form.Op]:
        """The statements that keep the vector of a pass; another sum may keep it, too."""
        (rows, first), (row, second) = each.axes
        key = self._key(each)
        known = key in self.kept
        if not known:
            atoms = self.outer | self.carried
            sides = [Symbol(self.builder, atoms[name]) for name in (rows, row)]
            shape = tuple(map(np.size, sides, (first, second)))
            dtype = self.block.facts[each.vector.id].dtype
            kind = {} if dtype == np.float64 else {"dtype": dtype}
            zeros = self.builder.call(np.zeros, (shape,), kind)
            leaf, last = fresh_name(), fresh_name()
            self.facts |= {leaf: zeros.fact, last: zeros.fact}
            self.kept[key] = leaf, last, zeros
        leaf, last, _ = self.kept[key]
        index: Any = form.name(self.index)
        index = index if each.part is None else gast.Tuple([index, each.part], gast.Load())
        store = each.statement.beside(
            last, runtime.index_set, [form.name(leaf), each.vector], {"index": index}
        )
        return [] if known else [store]

    def _loop(self, changed: dict[int, list[form.Op]]) -> form.Op:
        """The loop, which keeps vectors and reads the products before it."""
        gone = {each.statement.target: form.name(self._before(each)) for each in self.sums}
        while any(atom.id in gone for atom in gone.values()):
            gone = {name: gone.get(atom.id, atom) for name, atom in gone.items()}
        body = []
        for each in self.block.body:
            made = changed.get(id(each), [each])
            body += [form.substitute(e, gone) for e in made] if gone else made
        results = [form.substitute(each, gone) for each in self.loop.results()[0]]
        kept = [*self.kept.values()]
        first = self.loop.indices + self.loop.carried
        inputs, parts = self.block.inputs, self.loop.parts(self.statement.operands)
        more = [Input(leaf, leaf) for leaf, _, _ in kept]
        own = [Input(leaf, leaf) for leaf, _ in self.fixed]
        block = self.block.with_(
            inputs=(*inputs[:first], *more, *inputs[first:], *own),
            body=tuple(body),
            output=tree.tuple_of([*results, *(form.name(last) for _, last, _ in kept)]),
            facts=self.block.facts | self.facts,
        )
        operands = [*parts.bounds, *parts.carried, *(form.name(z.name) for _, _, z in kept)]
        operands += [*parts.fixed, *(form.name(each.name) for _, each in self.fixed)]
        facts = [*self.loop.facts, *(zeros.fact for _, _, zeros in kept)]
        return self.statement.with_call(self.loop.with_blocks([block], facts), operands)

    def _before(self, each: Sum) -> str:
        return self._summed(each.statement, self.leaves.carried[each.index]).id

    def _added(self, made: form.Op, index: int) -> list[form.Statement]:
        """What stands for the value of an array behind the loop."""
        builder, sums = self.builder, [each for each in self.sums if each.index == index]
        result, target = Symbol(builder, made.target), self.items[index]
        builder.body = []
        start = Symbol(builder, self.carried[self.leaves.carried[index]])
        body = {each.target: each for each in self.block.body}
        several = len(sums) < _length_of_chain(body, self.loop.results()[0][index])
        is_zero = not several and filling_of(builder, start) == 0
        terms = [] if is_zero else [builder.emit_item(result, index)]
        for each in sums:
            with builder.at(made.origin, each.statement.phase):
                terms.append(self._product(result, each))
        with builder.at(made.origin, sums[-1].statement.phase):
            total = functools.reduce(operator.add, terms)
        renamed = {total.name: form.name(target)}
        return [form.substitute(each, renamed) for each in builder.body]

    def _product(self, result: Symbol, each: Sum) -> Symbol:
        number = [*self.kept].index(self._key(each))
        rows = self.builder.emit_item(result, self.loop.carried + number)
        matrix = Symbol(self.builder, self.outer[each.matrix])
        product = self.builder.call(runtime.contract, (each.spec, matrix, rows), {})
        if not each.is_all:  # where a row has no vector, infinity times zero is not zero
            test = gast.Call(form.constant(np.isfinite), [form.name("total")], [])
            effect = gast.Assert(test, None)
            self.builder.effect(effect, {"total": np.sum(product)})
        return product


def _length_of_chain(made: dict[str, Any], atom: gast.AST) -> int:
    """How many statements add to an array in a pass."""
    count = 0
    while getattr(atom, "id", "") in made:
        count, atom = count + 1, made[atom.id].operands[0]
    return count


def _both_ways(op: form.Op) -> Iterator[tuple[gast.AST, str, gast.AST, str, str]]:
    """The operands of a product with their letters, either first, and the letters of the result."""
    ins, out = op.parameters["spec"].value.split("->")
    pairs = [*zip(op.operands, ins.split(","), strict=True)]
    for (one, own), (other, letters) in (pairs, pairs[::-1]):
        yield one, own, other, letters, out


def _along_axes(index: gast.AST) -> list[gast.AST | None] | None:
    """What an index takes along each axis of a matrix, None: all of it; None for other indices."""
    items = index.elts if isinstance(index, gast.Tuple) else [index]
    if len(items) > 2 or not all(isinstance(each, gast.Name | gast.Slice) for each in items):
        return None
    if any(getattr(each, "step", None) is not None for each in items):
        return None
    found: list[gast.AST | None] = [None if _is_whole(each) else each for each in items]
    return [*found, *[None] * (2 - len(found))]


def _is_whole(index: gast.AST) -> bool:
    return isinstance(index, gast.Slice) and index.lower is None and index.upper is None
