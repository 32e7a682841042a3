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
    found: dict[str, int] = {}
    fixed: tuple[dict[str, Form], dict[str, Form]] = ({}, {})
    for one, other in zip(stored, read, strict=True):
        factors = [[factor_of(form, each) for each in indices] for form in (one, other)]
        if None in factors[0] or None in factors[1]:
            continue
        rest = difference(_without(other, indices), _without(one, indices))
        moving = [[each for each, k in zip(indices, of, strict=True) if k] for of in factors]
        if moving == [[], []]:
            if rest and _is_number(rest):
                return None
        elif len(moving[0]) == len(moving[1]) == 1 and moving[0] == moving[1]:
            (index,) = moving[0]
            a, b = (of[indices.index(index)] for of in factors)
            # a * stored + one = a * read + other
            if a == b and _is_number(rest):
                apart = -dict(rest).get(ONE, 0)
                if apart % a or found.get(index, apart // a) != apart // a:
                    return None
                found[index] = apart // a
        else:
            for side, (index, *others) in ((s, each) for s, each in enumerate(moving) if each):
                if others or moving[1 - side]:
                    continue
                a = factors[side][indices.index(index)]
                value = rest if side == 0 else frozenset((atom, -k) for atom, k in rest)
                if _is_number(value) and (value_of(value) % a or value_of(value) // a < 0):
                    return None
                if a == 1:
                    fixed[side][index] = value
    for index in fixed[0].keys() & fixed[1].keys():
        apart = difference(fixed[1][index], fixed[0][index])
        if _is_number(apart):
            if found.get(index, value_of(apart)) != value_of(apart):
                return None
            found[index] = value_of(apart)
    return [found.get(each) for each in indices]


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
