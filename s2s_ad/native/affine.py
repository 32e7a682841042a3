"""Indices as sums of names and numbers, and which elements they can mean at once."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import gast

from s2s_ad.native.spelling import Expression

#: what an index is: pairs of an atom and its factor; the atom "" is 1
Form = frozenset[tuple[str, int]]
ONE = ""


def form_of(node: Expression, meanings: Mapping[str, Expression] | None = None) -> Form:
    """An index as a sum; what is no sum, product with a constant or name is an atom of its own.

    Args:
        meanings: names that are written out -> what they are.
    """
    return frozenset((atom, k) for atom, k in _terms(node, meanings or {}).items() if k)


def _terms(node: Expression, meanings: Mapping[str, Expression]) -> dict[str, int]:
    if isinstance(node, gast.Name):
        meaning = meanings.get(node.id)
        return {node.id: 1} if meaning is None else _terms(meaning, meanings)
    if isinstance(node, gast.Constant) and type(node.value) is int:
        return {ONE: node.value}
    if isinstance(node, gast.UnaryOp) and isinstance(node.op, gast.USub):
        return _scaled(_terms(node.operand, meanings), -1)
    if isinstance(node, gast.BinOp):
        made = _of_operator(node, meanings)
        if made is not None:
            return made
    return {gast.dump(node): 1}


def _of_operator(node: gast.BinOp, meanings: Mapping[str, Expression]) -> dict[str, int] | None:
    if not isinstance(node.op, gast.Add | gast.Sub | gast.Mult):
        return None
    left, right = _terms(node.left, meanings), _terms(node.right, meanings)
    if isinstance(node.op, gast.Mult):
        if left.keys() <= {ONE}:
            return _scaled(right, left.get(ONE, 0))
        return _scaled(left, right.get(ONE, 0)) if right.keys() <= {ONE} else None
    sign = 1 if isinstance(node.op, gast.Add) else -1
    return _sum(left, _scaled(right, sign))


def _scaled(terms: Mapping[str, int], factor: int) -> dict[str, int]:
    return {atom: factor * k for atom, k in terms.items()}


def _sum(one: Mapping[str, int], other: Mapping[str, int]) -> dict[str, int]:
    return {atom: one.get(atom, 0) + other.get(atom, 0) for atom in one.keys() | other.keys()}


def difference(one: Form, other: Form) -> Form:
    terms = _sum(dict(one), _scaled(dict(other), -1))
    return frozenset((atom, k) for atom, k in terms.items() if k)


def factor_of(form: Form, index: str) -> int | None:
    """By how much it grows with an index; None where that is not the same everywhere."""
    if any(f"id='{index}'" in atom for atom, _ in form):
        return None
    return dict(form).get(index, 0)


def tells_apart(form: Form, index: str, written: Iterable[str] = ()) -> bool:
    """Whether it is another element for each value of an index.

    Args:
        written: numbers that may differ with the index.
    """
    return bool(factor_of(form, index)) and not any(_mentions(form, each) for each in written)


def _mentions(form: Form, name: str) -> bool:
    return any(atom == name or f"id='{name}'" in atom for atom, _ in form)


def distances(
    stored: Sequence[Form], read: Sequence[Form], indices: Sequence[str]
) -> list[int | None] | None:
    """How many passes later an element is read than stored, for each loop of a nest.

    Args:
        stored, read: the index of an element, for each axis.
        indices: of the loops, the outermost first; each goes up from 0.

    Returns:
        None where no pass reads what a pass stores. A distance of None is not known.
    """
    found = _Distances(indices)
    try:
        for one, other in zip(stored, read, strict=True):
            found.axis(one, other)
        for index in found.fixed[0].keys() & found.fixed[1].keys():
            apart = difference(found.fixed[1][index], found.fixed[0][index])
            if _is_number(apart):
                found.know(index, value_of(apart))
    except _Never:
        return None
    return [found.known.get(each) for each in indices]


class _Never(Exception):
    """No pass reads what a pass stores."""


class _Distances:
    """What follows, axis by axis, of `stored(x) == read(y)` for the indices x and y of two passes.

    Attributes:
        known: y - x, by index.
        fixed: what x alone, and y alone, has to be.
    """

    def __init__(self, indices: Sequence[str]):
        self.indices = indices
        self.known: dict[str, int] = {}
        self.fixed: tuple[dict[str, Form], dict[str, Form]] = ({}, {})

    def know(self, index: str, apart: int) -> None:
        if self.known.setdefault(index, apart) != apart:
            raise _Never

    def axis(self, stored: Form, read: Form) -> None:
        sides = [{e: factor_of(form, e) for e in self.indices} for form in (stored, read)]
        if any(None in side.values() for side in sides):
            return
        rest = difference(_without(read, self.indices), _without(stored, self.indices))
        moving = [{index: k for index, k in side.items() if k} for side in sides]
        if not any(moving):
            if rest and _is_number(rest):
                raise _Never
        elif moving[0] == moving[1] and len(moving[0]) == 1:
            if _is_number(rest):
                ((index, k),) = moving[0].items()
                self.know(index, _quotient(-value_of(rest), k))
        elif not moving[1] and len(moving[0]) == 1:
            self._fix(0, moving[0], rest)
        elif not moving[0] and len(moving[1]) == 1:
            self._fix(1, moving[1], frozenset((atom, -k) for atom, k in rest))

    def _fix(self, side: int, moving: Mapping[str, int], value: Form) -> None:
        """Note that a factor times an index is a value, and no index is below 0."""
        ((index, k),) = moving.items()
        if _is_number(value) and _quotient(value_of(value), k) < 0:
            raise _Never
        if k == 1:
            self.fixed[side][index] = value


def _quotient(value: int, factor: int) -> int:
    if value % factor:
        raise _Never
    return value // factor


def _without(form: Form, indices: Sequence[str]) -> Form:
    return frozenset((atom, k) for atom, k in form if atom not in indices)


def _is_number(form: Form) -> bool:
    return all(atom == ONE for atom, _ in form)


def value_of(form: Form) -> int:
    return dict(form).get(ONE, 0)


def comes_no_later(apart: Sequence[int | None] | None) -> bool:
    """Whether each element is stored in the pass that reads it last, or in a later one."""
    for each in apart or ():
        if each is None or each > 0:
            return False
        if each < 0:
            return True
    return True
