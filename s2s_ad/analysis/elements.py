"""Elements of the arrays that a nest of loops writes: what is read there, and written at no other
time.

What no later pass of any of the loops overwrites is still in the array when the outermost loop has
ended; what no pass has written before is in the array that the loop started from. Both are known
where the regions are apart: `A[i, :j]` is read, and all that is stored later is `A[i', j']` with
i' > i, or with i' = i and j' >= j.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import gast

from s2s_ad import runtime
from s2s_ad.core import form, sizes, values
from s2s_ad.core.callee import item_of
from s2s_ad.core.program import Program
from s2s_ad.core.regions import Branch, Loop, region_of
from s2s_ad.core.sizes import Atom, Size

Position = tuple[int, ...]
Span = tuple[Size, Size | None]  # from where to where an axis is taken; None: to its end
Spans = Sequence[Span | None]  # of the first axes; None where nothing is known


@dataclass(frozen=True, slots=True, eq=False)
class Level:
    """A loop of a nest.

    Attributes:
        index: what tells its passes apart; None where there is no such number.
        sign: 1 where the index of a later pass is greater, -1 where it is less, 0 where that is
            not known.
        once: whether there is one pass.
    """

    index: Atom | None
    sign: int
    once: bool = False


#: a function itself, as what is around its loops
ONCE = Level(None, 0, once=True)


@dataclass(frozen=True, slots=True)
class Access:
    """A statement that reads or writes elements: in which loops, when, and which.

    Attributes:
        position: of a store the indices of its statement, and of the loops around it, in their
            bodies. Of a read those of what made the version of the array that it reads (-1 for
            the one that a pass starts from): in Core a read may stand behind the next store.
        spans: of the first axes; an axis of which nothing is known has None.
        sides: where the statement of the last position is a branch: which side of it, the index
            of the statement there, and so on into branches in it.
    """

    levels: tuple[Level, ...]
    position: Position
    spans: tuple[Span | None, ...]
    sides: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Element:
    """A value of a pass that can be read off an array when the outermost loop has ended.

    Attributes:
        place: which of the carried values of the outermost loop the array is.
        lasts: whether the array as it is then holds the value, or the one that the loop started
            from.
        index: where in the array.
        statement: what computes the value in the pass.
    """

    place: int
    lasts: bool
    index: gast.AST
    statement: form.Statement


@dataclass(slots=True)
class Written:
    """An array that the outermost loop of a nest carries, and every store into it.

    Attributes:
        fixed: the sizes that are the same in all passes of all loops.
        versions: the names that the array has in the body of each loop, and the indices of the
            statements that make them.
    """

    place: int
    fixed: frozenset[Atom]
    versions: dict[Position, dict[str, int]] = field(default_factory=dict)
    stores: list[Access] = field(default_factory=list)

    def lasts(self, access: Access) -> bool:
        """Whether nothing that is stored later is an element of what is accessed."""
        return not any(meets(access, store, 1, self.fixed) for store in self.stores)

    def is_first(self, access: Access) -> bool:
        """Whether nothing that was stored before is an element of what is accessed."""
        return not any(meets(access, store, -1, self.fixed) for store in self.stores)


def meets(access: Access, other: Access, time: int, fixed: frozenset[Atom]) -> bool:
    """Whether another access may be to an element of this one when it runs later, or before.

    Args:
        time: 1 for later, -1 for before.
        fixed: the sizes that are the same in all passes of all loops.
    """
    both = zip(access.levels, other.levels, strict=False)
    common = next((n for n, (a, b) in enumerate(both) if a is not b), None)
    common = min(len(access.levels), len(other.levels)) if common is None else common
    ahead = _ahead(access, other, common)
    passes = [index for index in range(common) if not other.levels[index].once]
    regions = [_moved(other, index, time, fixed) for index in passes]
    if ahead > 0 if time > 0 else ahead <= 0:
        regions.append(_moved(other, common, 0, fixed))
    return not all(are_apart(access.spans, each) for each in regions)


def _ahead(access: Access, other: Access, common: int) -> int:
    """How many statements later another access runs in the same pass; on another side never."""
    if ahead := other.position[common - 1] - access.position[common - 1]:
        return ahead
    paths = zip(access.sides, other.sides, strict=False)
    place, ahead = next(((n, b - a) for n, (a, b) in enumerate(paths) if a != b), (0, 0))
    return ahead if place % 2 else 0


def _moved(access: Access, slot: int, time: int, fixed: frozenset[Atom]) -> list[Span | None]:
    """The elements of an access that runs later, or before.

    The loops before the `slot` are in the same pass, that one is in one that runs later (1)
    or before (-1), and those inside of it are in any.
    """
    same = fixed | {each.index for each in access.levels[:slot]}
    renaming = _Renaming(same, {each.index for each in access.levels[slot:]})
    index = access.levels[slot].index if time else None
    if index is not None:
        renaming.move(index, access.levels[slot].sign * time)
    return [each and renaming.span(each) for each in access.spans]


class _Renaming:
    """The sizes of one pass in terms of those of another.

    Args:
        same: the atoms that do not change.
        indices: those that number passes, and so keep their bounds; of others nothing is known.
    """

    def __init__(self, same: frozenset, indices: set):
        self.same, self.indices = same, indices
        self.renamed: dict[Atom, Size] = {}

    def move(self, index: Atom, sign: int) -> None:
        """Let the index of a loop be a greater one, or a smaller one."""
        low = sizes.of(index) + 1 if sign > 0 else self._bound(index.low)
        high = sizes.of(index) - 1 if sign < 0 else self._bound(index.high)
        self.renamed[index] = sizes.of(sizes.fresh(is_length=False, low=low, high=high))

    def span(self, span: Span) -> Span:
        low, high = span
        return self.size(low), self._bound(high)

    def size(self, size: Size) -> Size:
        return sizes.substituted(size, {each: self._atom(each) for each in sizes.atoms_of(size)})

    def _bound(self, size: Size | None) -> Size | None:
        return None if size is None else self.size(size)

    def _atom(self, atom: Atom) -> Size:
        if atom in self.same:
            return sizes.of(atom)
        if atom not in self.renamed:
            if atom in self.indices:
                self.move(atom, 0)
            else:
                self.renamed[atom] = sizes.of(sizes.fresh(is_length=atom.is_length))
        return self.renamed[atom]


def are_apart(one: Spans, other: Spans) -> bool:
    """Whether there is an axis along which two regions have no index in common."""
    pairs = [(a, b) for a, b in zip(one, other, strict=False) if a and b]
    return any(_is_before(a, b) or _is_before(b, a) for a, b in pairs)


def _is_before(one: Span, other: Span) -> bool:
    return one[1] is not None and sizes.is_natural(other[0] - one[1])


# ---- the loops ----------------------------------------------------------------------------------


class Nest:
    """The body of a loop, in the loops that are around it, and the arrays that they write.

    Args:
        body: of the innermost loop.
        levels: the loops, from the outermost.
        position: of all but the outermost in the bodies around them.
        arrays: those that the outermost loop carries.
        around: the nest of the loop around this one.
    """

    def __init__(
        self,
        body: Program,
        levels: tuple[Level, ...],
        position: Position,
        arrays: list[Written],
        around: Nest | None = None,
    ):
        self.body, self.levels, self.position, self.arrays = body, levels, position, arrays
        self.around = around
        self._inner: dict[int, Nest] = {}

    @classmethod
    def outermost(cls, statement: form.Op, around: Program) -> Nest:
        """A loop that stands in no other."""
        loop: Any = region_of(statement)
        facts = [around.fact(each) for each in statement.operands]
        fixed = frozenset(atom for fact in facts for atom in atoms_of_fact(fact))
        made = cls(loop.body, (level(statement, loop),), (), [])
        leaves, results = loop.leaves(loop.body).carried, loop.results()[0]
        for index, (leaf, result) in enumerate(zip(leaves, results, strict=True)):
            fact = loop.body.facts[leaf]
            array = Written(index, fixed)
            named = isinstance(result, gast.Name) and values.shape_of(fact)
            if named and isinstance(fact, values.Array) and made._collect(array, leaf, result.id):
                made.arrays += [array] if array.stores else []
        return made

    def inside(self, position: int) -> Nest:
        """The nest of a loop in this body."""
        if position not in self._inner:
            statement = self.body.body[position]
            loop: Any = region_of(statement)
            where = (*self.position, position)
            levels = (*self.levels, level(statement, loop))
            self._inner[position] = Nest(loop.body, levels, where, self.arrays, self)
        return self._inner[position]

    def _versions(self, array: Written) -> dict[str, Position]:
        """The names that an array has in this body, which writes it or only reads it, with the
        positions of what made them."""
        made = array.versions.get(self.position, {})
        names = {name: (*self.position, index) for name, index in made.items()}
        if self.around is None or any(self.levels[-1] in each.levels for each in array.stores):
            return names
        statement = self.around.body.body[self.position[-1]]
        loop: Any = region_of(statement)
        operands = loop.parts(statement.operands).fixed
        known, fixed = self.around._versions(array), loop.leaves(loop.body).fixed
        pairs = [(n, getattr(each, "id", None)) for n, each in zip(fixed, operands, strict=True)]
        return names | {name: (*known[each], -1) for name, each in pairs if each in known}

    def _collect(self, array: Written, first: str, last: str) -> bool:
        """Note the stores that lead from one name of the array to another, if it is that."""
        return _Chain(self, self.body, self.position).collect(array, first, last)

    def first_updates(self) -> Iterator[tuple[int, str]]:
        """The updates of elements that the array still has from before the outermost loop.

        Each by its name, with the index of the array among those that the loop carries. Of a side
        of a branch they are those of the array as it is before the branch.
        """
        for array in self.arrays:
            for name in self._first_updates(array, self.body, self._versions(array)):
                yield array.place, name
        for position, statement in enumerate(self.body.body):
            if isinstance(region_of(statement), Loop):
                yield from self.inside(position).first_updates()

    def _first_updates(
        self, array: Written, block: Program, versions: Mapping[str, Position]
    ) -> Iterator[str]:
        """Those of one array in a block, which knows it by these names."""
        for statement in block.body:
            region, operand = region_of(statement), _operand(statement) or ""
            if isinstance(region, Branch):
                for side in region.blocks:
                    pairs = zip(side.leaves(), statement.operands[1:], strict=True)
                    named = [(leaf, getattr(each, "id", "")) for leaf, each in pairs]
                    own = {leaf: versions[name] for leaf, name in named if name in versions}
                    yield from self._first_updates(array, side, own)
            elif statement.target and statement.rule.updates and operand in versions:
                index = spans(_index(statement), block.facts[operand], block.fact)
                if array.is_first(Access(self.levels, versions[operand], index)):
                    yield statement.target

    def elements(self) -> Iterator[tuple[str, Element]]:
        """The values of the body that can be read off the arrays, each with its name."""
        versions = [(array, self._versions(array)) for array in self.arrays]
        for statement in self.body.body:
            operand = _operand(statement) or ""
            for array, names in (each for each in versions if operand in each[1]):
                if statement.function is operator.getitem:
                    name, version = statement.target, operand
                elif statement.target in names and _is_whole(statement, self.body.facts):
                    name, version = statement.operands[1].id, statement.target
                else:
                    continue
                index = spans(_index(statement), self.body.facts[operand], self.body.fact)
                access = Access(self.levels, names[version], index)
                if array.lasts(access):
                    yield name, Element(array.place, True, _index(statement), statement)
                elif name == statement.target and array.is_first(access):
                    yield name, Element(array.place, False, _index(statement), statement)


@dataclass(frozen=True, slots=True)
class _Chain:
    """The updates of an array in a block of the nest, whose statements count as at `at`."""

    nest: Nest
    block: Program
    position: Position
    at: int | None = None

    def collect(self, array: Written, first: str, last: str) -> bool:
        computed = {
            each.target: (place, each)
            for place, each in enumerate(self.block.body)
            if isinstance(each, form.Op)
        }
        names = array.versions.setdefault(self.position, {}) if self.at is None else {}
        while last != first:
            if last not in computed:
                return False
            place, statement = computed[last]
            if (item := item_of(statement)) is not None:
                place, source = computed[item[0]]
                operand = self._region(array, place, source, item[1])
            else:
                operand = self._update(array, place, statement)
            if operand is None:
                return False
            names[last], last = place, operand
        names[first] = -1
        return True

    def _update(self, array: Written, index: int, statement: form.Op) -> str | None:
        if not statement.rule.updates:
            return None
        operand = getattr(statement.operands[0], "id", None)
        fact: Any = self.block.facts.get(operand or "")
        where = (*self.position, index if self.at is None else self.at)
        found = spans(_index(statement), fact, self.block.fact)
        array.stores.append(Access(self.nest.levels, where, found))
        return operand

    def _region(self, array: Written, slot: int, statement: form.Op, index: int) -> str | None:
        region = region_of(statement)
        if isinstance(region, Loop) and self.at is None:
            return self._loop(array, slot, statement, region, index)
        if isinstance(region, Branch):
            return self._branch(array, slot, statement, region, index)
        return None

    def _loop(
        self, array: Written, slot: int, statement: form.Op, loop: Loop, index: int
    ) -> str | None:
        inner = self.nest.inside(slot)
        results, _ = loop.results()
        names = loop.leaves(loop.body).carried
        if index >= loop.carried or not isinstance(results[index], gast.Name):
            return None
        if not inner._collect(array, names[index], results[index].id):
            return None
        return getattr(loop.parts(statement.operands).carried[index], "id", None)

    def _branch(
        self, array: Written, slot: int, statement: form.Op, branch: Branch, index: int
    ) -> str | None:
        at = slot if self.at is None else self.at
        operands = set()
        for block in branch.blocks:
            result = block.outputs()[index]
            made = _Chain(self.nest, block, self.position, at)
            first = made._start(result)
            leaves = dict(zip(block.leaves(), statement.operands[1:], strict=True))
            if first not in leaves or not made.collect(array, first, result.id):
                return None
            operands.add(getattr(leaves[first], "id", None))
        return operands.pop() if len(operands) == 1 else None

    def _start(self, result: gast.AST) -> str | None:
        """The leaf of the block that a result is an update of."""
        computed = {e.target: e for e in self.block.body if isinstance(e, form.Op)}
        name = getattr(result, "id", None)
        while name in computed and computed[name].rule.updates:
            name = getattr(computed[name].operands[0], "id", None)
        return name


def level(statement: form.Statement, loop: Loop) -> Level:
    """What is known of the passes of a loop."""
    if not loop.is_for:
        return Level(None, 0)
    (name,) = loop.leaves(loop.body).bounds
    size = getattr(loop.body.facts[name], "size", None)
    atom = next(iter(sizes.atoms_of(size))) if size is not None and size.terms else None
    step = getattr(statement.operands[2], "value", None)
    if atom is None or size != sizes.of(atom) or type(step) is not int:
        return Level(atom, 0)
    return Level(atom, -1 if (step < 0) != loop.backwards else 1)


def atoms_of_fact(fact: values.AbstractValue) -> Iterator[Atom]:
    """The atoms of the lengths of a value, or of the number that it is."""
    size = getattr(fact, "size", None)
    if isinstance(size, Size):
        yield from sizes.atoms_of(size)
    for dim in (values.shape_of(fact) or ()) if isinstance(fact, values.Array) else ():
        yield from sizes.atoms_of(values.size_of_dim(dim))


def _operand(statement: form.Statement) -> str | None:
    """The array that is indexed."""
    if isinstance(statement, form.Effect) or not statement.operands:
        return None
    if statement.function is not operator.getitem and not statement.rule.updates:
        return None
    return getattr(statement.operands[0], "id", None)


def _index(statement: form.Statement) -> gast.AST:
    return statement.parameters["index"]


def _is_whole(statement: form.Statement, facts: Mapping[str, values.AbstractValue]) -> bool:
    """Whether a statement stores just what is read there."""
    if statement.function is not runtime.index_set:
        return False
    array, value = (facts.get(getattr(x, "id", "")) for x in statement.operands)
    if not isinstance(value, values.Array) or not isinstance(array, values.Array):
        return False
    index = _index(statement)
    atoms = index.elts if isinstance(index, gast.Tuple) else [index]
    if not all(_is_number(each, facts) or _is_all(each) for each in atoms):
        return False
    lengths: Any = array.shape
    kept = [lengths[axis] for axis, each in enumerate(atoms) if _is_all(each)]
    alike = value.dtype is not None and values.is_dtype(array.dtype, value.dtype)
    return alike and values.same_shape(value.shape, (*kept, *lengths[len(atoms) :]))


def _is_number(atom: gast.AST, facts: Mapping[str, values.AbstractValue]) -> bool:
    if isinstance(atom, gast.Constant):
        return type(atom.value) is int
    return isinstance(atom, gast.Name) and facts[atom.id] == values.Scalar(int)


def _is_all(atom: gast.AST) -> bool:
    """Whether an index takes all of its axis."""
    bounds = (atom.lower, atom.upper, atom.step) if isinstance(atom, gast.Slice) else (0,)
    return all(each is None for each in bounds)


# ---- regions ------------------------------------------------------------------------------------


def spans(
    index: gast.AST, fact: values.AbstractValue, facts: Callable[[gast.AST], values.AbstractValue]
) -> tuple[Span | None, ...]:
    """What an index takes of the first axes of an array."""
    shape = values.shape_of(fact) if isinstance(fact, values.Array) else None
    found: list[Span | None] = []
    items = index.elts if isinstance(index, gast.Tuple) else [index]
    for item, dim in zip(items, shape or (), strict=False):
        if isinstance(item, gast.Slice):
            found.append(_slice_span(item, values.size_of_dim(dim), facts))
            continue
        if not (isinstance(item, gast.Constant) or facts(item) == values.Scalar(int)):
            break  # which axis comes next is another question
        if isinstance(item, gast.Constant) and type(item.value) is not int:
            break
        place = _place(item, values.size_of_dim(dim), facts)
        found.append(place and (place, place + 1))
    return tuple(found)


def _slice_span(
    item: gast.Slice, length: Size, facts: Callable[[gast.AST], values.AbstractValue]
) -> Span | None:
    step = 1 if item.step is None else getattr(item.step, "value", None)
    if type(step) is not int or step < 1:
        return None
    first = sizes.of(0) if item.lower is None else _place(item.lower, length, facts)
    last = None if item.upper is None else _place(item.upper, length, facts)
    return first and (first, last)


def _place(
    atom: gast.AST, length: Size, facts: Callable[[gast.AST], values.AbstractValue]
) -> Size | None:
    """The index, counted from the start; None where it is not known from where it counts."""
    number = getattr(atom, "value", None)
    if type(number) is int:
        return sizes.of(number) if number >= 0 else length + number
    size = getattr(facts(atom), "size", None)
    return size if size is not None and sizes.is_natural(size) else None
