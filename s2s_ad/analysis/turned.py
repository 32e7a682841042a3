"""Which decompositions of a program give eigenvectors of which it does not matter which they are.

Those of equal eigenvalues may be turned into one another. That makes no difference where all that
is computed of them is computed of all alike: they are scaled by a function of the eigenvalues, laid
out otherwise, added, and in the end summed over in pairs, as in `(v * f(w)) @ v.T` or
`np.sum((v.T @ x) ** 2 * f(w))`. Of complex ones one of each pair is conjugated,
`(v * f(w)) @ v.conj().T`; then their phases make none, either.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import gast

from s2s_ad.core import form, values
from s2s_ad.core.callee import item_of
from s2s_ad.core.program import Program
from s2s_ad.core.sharing import lazy


@dataclass(frozen=True)
class Kind:
    """How a value depends on a decomposition; axes are counted from the end, -1 being the last.

    Attributes:
        of: the name of the decomposition.
        axes: those that count vectors, of a matrix in their basis both; or the one that counts
            eigenvalues.
        stack: the axes that count the matrices of a stack.
        scales: whether it is a function of the eigenvalues, the same one at each.
        others: what else that function depends on.
        conjugated: for each of the axes that count complex vectors, whether these are conjugated;
            None where vectors are real.
        paired: whether it is the product of two such values, which is to be summed along the axis.
    """

    of: str
    axes: tuple[int, ...]
    stack: tuple[int, ...]
    scales: bool = False
    others: frozenset[str] = frozenset()
    conjugated: tuple[bool, ...] | None = None
    paired: bool = False

    def is_alike(self, other: Kind | None) -> bool:
        """Whether the same axes count the same, in another value."""
        return other is not None and (self.axes, self.stack) == (other.axes, other.stack)

    def moved(self, places: Sequence[int | None], rank: int) -> Kind | None:
        """That of a value whose axes are those of this one, of so many, at these places."""
        where = {axis - rank: i - len(places) for i, axis in enumerate(places) if axis is not None}
        if not where.keys() >= {*self.axes, *self.stack}:
            return None
        axes, stack = (tuple(where[axis] for axis in each) for each in (self.axes, self.stack))
        return replace(self, axes=axes, stack=stack)


class _Unknown(Exception):
    """It may matter which of the vectors are which."""


@dataclass
class Turned:
    """What is known of the names of a program.

    Attributes:
        made: the decompositions of whose vectors it does not matter which they are; one whose
            outputs are put into another order is another one.
        items: the name of each of their outputs.
        outputs: which output of which decomposition a name is.
        kinds: of names that depend on a decomposition.
        sites: what is computed of vectors and of what scales them.
    """

    program: Program
    made: dict[str, form.Op] = field(default_factory=dict)
    items: dict[tuple[str, int], str] = field(default_factory=dict)
    outputs: dict[str, tuple[str, int]] = field(default_factory=dict)
    kinds: dict[str, Kind] = field(default_factory=dict)
    sites: set[str] = field(default_factory=set)
    _ordered: dict[str, str] = field(default_factory=dict)  # one in another order -> that one

    @classmethod
    def of(cls, program: Program, outputs: Iterable[str]) -> Turned:
        """Look at a program of which these outputs count."""
        found = cls(program)
        for name, statement in found._definitions.items() if _has_vectors(program) else ():
            item = item_of(statement) or found._put_in_order(statement)
            if statement.rule.gives_eigenvectors:
                found.made[name] = statement
            elif item is not None and item[0] in found.made:
                found.outputs[name] = item
                found.items.setdefault(item, name)
        for name in [*found.made]:
            found._drop_unless(name, found._is_known(name))
        for statement in program.body if found.made else ():
            found._look_at(statement)
        for name in outputs:
            kind = found.kinds.get(name)
            found._drop_unless(kind.of if kind else "", kind is None or kind.scales)
        return found

    @lazy
    def _definitions(self) -> dict[str, form.Op]:
        return {each.target: each for each in self.program.body if isinstance(each, form.Op)}

    def _put_in_order(self, statement: form.Op) -> tuple[str, int] | None:
        """Which output of which decomposition, in which other order, a statement gives."""
        index = statement.parameters.get("index")
        base = getattr(statement.operands[0], "id", "") if statement.operands else ""
        whole = self.outputs.get(base)
        if index is None or whole is None or len(statement.operands) > 1:
            return None
        *axes, last = index.elts if isinstance(index, gast.Tuple) else [index]
        order = self._order(last)
        rank = len(_shape(self.program.facts[base]))
        is_last = len(axes) == rank - 1 and all(map(_is_whole_axis, axes))
        is_one = rank == 1 + whole[1] or _is_reversed(last)  # not an order for each of a stack
        if order is None or not is_last or not is_one:
            return None
        name = f"{whole[0]} {order}"
        self.made.setdefault(name, self.made[whole[0]])
        self._ordered[name] = whole[0]
        return name, whole[1]

    def _order(self, index: gast.AST) -> str | None:
        """What an order of all positions is called; None where an index is none."""
        if _is_reversed(index):
            return "reversed"
        name = getattr(index, "id", "")
        made = self._definitions.get(name)
        while made is not None and _is_reversed(made.parameters.get("index")):
            made = self._definitions.get(getattr(made.operands[0], "id", ""))
        is_vector = made is not None and len(_shape(self.program.facts[made.target])) == 1
        return name if made is not None and is_vector and made.rule.permutes else None

    def _drop_unless(self, name: str, holds: bool) -> None:
        """Where an order of vectors is dropped, what was put into that order is."""
        if not holds and self.made.pop(name, None) is not None:
            self._drop_unless(self._ordered.get(name, ""), False)

    def _is_known(self, name: str) -> bool:
        """Whether both outputs are read, and their dtypes and ranks are known."""
        outputs = [self.items.get((name, index)) for index in (0, 1)]
        facts = [self.program.facts[each] for each in outputs if each is not None]
        known = all(values.strong_dtype(each) is not None and _shape(each) for each in facts)
        return len(facts) == 2 and known

    def _conjugated(self, of: str, *axes: bool) -> tuple[bool, ...] | None:
        """Which axes count conjugated vectors of a decomposition, where it makes a difference."""
        return axes if values.is_complex(self.program.facts[self.items[of, 1]]) else None

    def _look_at(self, statement: form.Statement) -> None:
        item = self.outputs.get(statement.target or "")
        if item is not None and item[0] in self.made:
            rank = len(_shape(self.program.facts[statement.target]))
            stack = tuple(range(-rank, -1 - item[1]))
            scales = item[1] == 0
            conjugated = None if scales else self._conjugated(item[0], False)
            made = Kind(item[0], (-1,), stack, scales, conjugated=conjugated)
            self.kinds[statement.target] = made
            return
        met = [self.kinds[name] for name in statement.reads if name in self.kinds]
        if not met:
            return
        try:
            kind = self._kind(statement, met)
        except _Unknown:
            for each in met:
                self._drop_unless(each.of, each.scales)
            return
        if kind is not None:
            fact = self.program.facts[statement.target]
            self.kinds[statement.target] = kind
            self._drop_unless(kind.of, kind.conjugated is None or values.is_complex(fact))

    def _kind(self, statement: form.Statement, met: list[Kind]) -> Kind | None:
        """That of a result, None of one that depends on no vectors."""
        if isinstance(statement, form.Effect) or len({each.of for each in met}) > 1:
            return _none(met)
        if self._is_chosen(statement, met):
            return self._scales(statement, met)
        kinds = [self.kinds.get(getattr(each, "id", "")) for each in statement.operands]
        facts = [self.program.fact(each) for each in statement.operands]
        facts.append(self.program.facts[statement.target])
        is_whole = len(list(filter(None, kinds))) == len(met)  # no part of an operand or parameter
        if not is_whole or any(values.shape_of(each) is None for each in facts):
            return _none(met)
        *shapes, shape = map(_shape, facts)
        rule, params = statement.rule, form.literals(statement)
        if (letters := rule.product_axes(params)) is not None:
            return _of_product(kinds, letters)
        if (place := self._diagonal(statement, params)) is not None and kinds[place]:
            return self._on_diagonal(statement.target, met[0], shapes[place])
        if rule.elementwise:
            return self._elementwise(statement, kinds, shapes, shape)
        return self._of_one(statement, met[0], len(shapes[0]), params)

    def _of_one(
        self, statement: form.Op, kind: Kind, rank: int, params: Mapping[str, Any]
    ) -> Kind | None:
        """That of what is computed of one value, of so many axes."""
        rule, fact = statement.rule, self.program.facts[statement.target]
        if rule.is_inverse and getattr(statement.operands[0], "id", "") in self.outputs:
            return _of_inverse(kind)
        if rule.copy or rule.converts:
            return kind if values.is_inexact(fact) else _none([kind])
        if rule.sums and kind.paired:
            return _of_sum(kind, rank, params)
        places = rule.axes_from(rank, params)
        return (None if places is None else kind.moved(places, rank)) or _none([kind])

    def _is_chosen(self, statement: form.Op, met: list[Kind]) -> bool:
        """Whether a number is stored where a function of eigenvalues says: `w[w < 0] = 0`."""
        index = statement.parameters.get("index")
        if not statement.rule.updates or not isinstance(index, gast.Name):
            return False
        base, value = (self.program.fact(each) for each in statement.operands)
        mask = self.program.facts[index.id]
        is_mask = values.is_dtype(values.strong_dtype(mask), bool)
        masked = is_mask and values.same_shape(_shape(mask), values.shape_of(base))
        alike = all(each.scales and each.axes == met[0].axes for each in met)
        return masked and alike and len(met) == 2 and values.shape_of(value) == ()

    def _scales(self, statement: form.Op, met: list[Kind]) -> Kind:
        """A function of eigenvalues that is computed of others, and of what has none."""
        others = {name for name in statement.reads if name not in self.kinds}
        return replace(met[0], others=frozenset(others.union(*(each.others for each in met))))

    def _diagonal(self, statement: form.Op, params: dict[str, Any]) -> int | None:
        """The place of the operand that stands on the diagonals of matrices of zeros."""
        if statement.rule.is_diagonal(params):
            return 0
        index = statement.parameters.get("index")
        if not statement.rule.updates or not isinstance(index, gast.Tuple):
            return None
        names = [getattr(each, "id", "") for each in (*index.elts, statement.operands[0])]
        *stack, row, column, base = names
        whole, counts = self._definitions.get(base), self._definitions.get(row)
        if row != column or whole is None or counts is None:
            return None
        counted = counts.rule.counts_up and set(counts.parameters) == {"start"}
        is_stack = all(map(_is_whole_axis, index.elts[: len(stack)]))
        return 1 if counted and is_stack and whole.rule.zeros else None

    def _on_diagonal(self, name: str, kind: Kind, shape: values.Shape) -> Kind | None:
        """A matrix in the basis of the vectors."""
        if not kind.scales or kind.axes != (-1,) or len(shape) != 1 + len(kind.stack):
            return _none([kind])
        if not values.is_inexact(self.program.facts[name]):
            return None  # whole numbers carry no derivative
        self.sites.add(name)
        stack = tuple(axis - 1 for axis in kind.stack)
        return Kind(kind.of, (-2, -1), stack, conjugated=self._conjugated(kind.of, True, False))

    def _elementwise(
        self, statement: form.Op, kinds: list, shapes: list, shape: values.Shape
    ) -> Kind | None:
        """Vectors that are scaled, or added; or a function of eigenvalues."""
        vectors = [i for i, each in enumerate(kinds) if each is not None and not each.scales]
        first = kinds[vectors[0]] if vectors else next(filter(None, kinds))
        for kind, own in zip(kinds, shapes, strict=True):
            fits = kind is None and _is_alike_along(own, first.axes)
            if not fits and not first.is_alike(kind):
                return _none(kinds)
        rule = statement.rule
        if not vectors:
            return self._scales(statement, list(filter(None, kinds)))
        if not all(values.same_shape(shapes[i], shape) for i in vectors):
            return _none(kinds)
        if rule.is_conjugate:
            return _conjugate(first)
        if len(first.axes) > 1:
            return _none(kinds)
        return self._of_vectors(statement, kinds, vectors)

    def _of_vectors(self, statement: form.Op, kinds: list, vectors: list[int]) -> Kind | None:
        """That of vectors, at these places, that are added, multiplied or scaled."""
        rule, first = statement.rule, kinds[vectors[0]]
        if len(vectors) == len(kinds) > 1 and rule.adds:
            return first if kinds[0] == kinds[1] else _none(kinds)
        factors = rule.factors(statement.operands)
        if factors is not None and all(place in vectors for place in factors):
            return _pair(*(kinds[place] for place in factors))
        if len(vectors) > 1 or vectors[0] not in rule.linear:
            return _none(kinds)
        if any(each is not None and each.scales for each in kinds):
            if first.paired and self.pair(statement.operands[vectors[0]]) is None:
                return _none(kinds)
            self.sites.add(statement.target)
        return first

    def pair(self, operand: gast.AST) -> tuple[gast.AST, gast.AST] | None:
        """The two values whose product an operand is; None where it is more than that."""
        made = self._definitions.get(getattr(operand, "id", ""))
        places = None if made is None else made.rule.factors(made.operands)
        if made is None or places is None:
            return None
        factors = [made.operands[place] for place in places]
        kinds = [self.kinds.get(getattr(each, "id", "")) for each in factors]
        are_vectors = all(each is not None and not (each.paired or each.scales) for each in kinds)
        return (factors[0], factors[1]) if are_vectors else None


def _of_product(kinds: Sequence[Kind | None], letters: Sequence[str]) -> Kind | None:
    """Pairs of vectors are summed over; what is left of their axes counts them still."""
    *names, out = letters
    given = [(kind, own) for kind, own in zip(kinds, names, strict=True) if kind is not None]
    if all(kind.scales for kind, _ in given):
        return None
    counted = "".join(own[axis] for kind, own in given for axis in kind.axes)
    stacks = {"".join(own[axis] for axis in kind.stack) for kind, own in given}
    if len(stacks) > 1 or any(kind.scales or kind.paired for kind, _ in given):
        return _none(kinds)
    left, every, (stack,) = [], "".join(names), stacks
    flags = [each for kind, _ in given for each in kind.conjugated or [None] * len(kind.axes)]
    for letter in dict.fromkeys(counted):
        met = [flag for each, flag in zip(counted, flags, strict=True) if each == letter]
        if letter in out and every.count(letter) == 1:
            left.append((out.index(letter) - len(out), *met))
        elif letter in out or not every.count(letter) == 2 == counted.count(letter):
            return _none(kinds)
        elif None not in met and len(set(met)) == 1:
            return _none(kinds)  # neither of them is conjugated, or both are
    if not left:
        return None
    if not set(stack) <= set(out):
        return _none(kinds)
    axes, conjugated = zip(*left, strict=True)
    places = tuple(out.index(each) - len(out) for each in stack)
    found = Kind(given[0][0].of, axes, places)
    return found if None in conjugated else replace(found, conjugated=conjugated)


def _of_inverse(vectors: Kind) -> Kind:
    """That of the inverse of a matrix of orthonormal vectors, which is its transpose conjugated."""
    return replace(_conjugate(vectors), axes=(-2,))


def _conjugate(kind: Kind) -> Kind:
    flags = kind.conjugated
    return replace(kind, conjugated=None if flags is None else tuple(not each for each in flags))


def _pair(one: Kind, other: Kind) -> Kind | None:
    """That of the product of two vectors, element by element; of complex ones one is conjugated."""
    if one.paired or other.paired or (one.conjugated and one.conjugated == other.conjugated):
        return _none([one])
    return replace(one, conjugated=None, paired=True)


def _of_sum(kind: Kind, rank: int, params: Mapping[str, Any]) -> Kind | None:
    """That of a sum over pairs of vectors, or over other axes."""
    axis = params.get("axis")
    axes = range(rank) if axis is None else axis if isinstance(axis, tuple) else (axis,)
    summed = {each % rank for each in axes}
    if kind.axes[0] % rank in summed and params.keys() <= {"axis", "keepdims"}:
        return None
    return _none([kind])


def _none(kinds: Iterable[Kind | None]) -> None:
    """Of eigenvalues anything can be computed, of vectors not."""
    if any(each is not None and not each.scales for each in kinds):
        raise _Unknown


def _has_vectors(program: Program) -> bool:
    return any(each.rule.gives_eigenvectors for each in program.body)


def _shape(fact: Any) -> values.Shape:
    return values.shape_of(fact) or ()


def _is_whole_axis(item: gast.AST) -> bool:
    return isinstance(item, gast.Slice) and not any((item.lower, item.upper, item.step))


def _is_reversed(index: gast.AST | None) -> bool:
    """Whether an index takes an axis from its end."""
    if not isinstance(index, gast.Slice) or index.lower or index.upper:
        return False
    return type(getattr(index.step, "value", None)) is int and index.step.value == -1


def _is_alike_along(shape: values.Shape, axes: Collection[int]) -> bool:
    """Whether a value is the same at each place along axes of what it is broadcast to."""
    return all(-axis > len(shape) or shape[axis] == 1 for axis in axes)
