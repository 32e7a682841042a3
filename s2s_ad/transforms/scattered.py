"""Adjoints that are zero but for some elements, as a function hands them to its caller.

Of `y = A[i]` in a function the adjoint of A is `zeros; A_bar[i] += y_bar`. The backward pass
returns `y_bar` alone, and the caller adds it to what it has of A_bar: a loop of such calls costs no
more a pass for a larger A.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from s2s_ad import runtime
from s2s_ad.core import values
from s2s_ad.core.builder import Builder, Symbol, key_of
from s2s_ad.core.callee import Compound
from s2s_ad.core.program import TEMPORARY, Hint
from s2s_ad.core.rule import ITEM


@dataclass(frozen=True, slots=True)
class Scattered:
    """The elements of the adjoint of a leaf.

    Attributes:
        leaf: of the function.
        added: what is added to them, in the function.
        indices: which they are, in the function.
    """

    leaf: str
    added: tuple[Any, ...]
    indices: tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class Handed:
    """An adjoint that is just what the function is given as the adjoint of an output.

    Attributes:
        place: which of the adjoints that it is given.
    """

    place: int


def handed(adjoints: Sequence[Any], given: Sequence[str]) -> list[Handed | None]:
    """Which adjoints are given ones; None for the others, of which there is at least one."""
    names = [each.name if isinstance(each, Symbol) else "" for each in adjoints]
    found = [Handed(given.index(name)) if name in given else None for name in names]
    return found if None in found else [None for _ in found]


def scattered(
    leaf: str, adjoint: Any, leaves: Sequence[str], *, together: bool = False
) -> Scattered | None:
    """The elements of an adjoint; None where it is another sum, is needed as a whole, or an index
    is not at hand.

    Several elements at indices that are known now stay `together`, in one array.
    """
    if not isinstance(adjoint, Symbol) or not isinstance(adjoint.fact, values.Array):
        return None
    zeros, sums = adjoint.builder.applied(adjoint, runtime.index_add)
    rule, _, _ = adjoint.builder.definition(zeros)
    known = all(_is_known(params["index"], leaves) for _, params in sums)
    if rule is None or not rule.zeros or not sums or not known or _is_read(adjoint):
        return None
    elements: dict[Any, list] = {}  # by the index, which elements they are and what is added
    for operands, params in reversed(sums):
        given = elements.setdefault(key_of(params["index"]), [params["index"]])
        given.append(operands[1])
    fixed = len(elements) > 1 and all(_is_fixed(index) for index, *_ in elements.values())
    return None if together and fixed else _collected(leaf, elements)


def _is_read(value: Symbol) -> bool:
    """Whether the function computes with it, and so needs all of it."""
    return any(value.name in each.reads for each in value.builder.body)


def _collected(leaf: str, elements: Mapping[Any, list]) -> Scattered:
    """What is added to the elements of each index, in the order of the program, as one sum."""
    pairs = [(index, sum(rest[::-1], start=last)) for index, *rest, last in elements.values()]
    indices, added = zip(*reversed(pairs), strict=True)
    return Scattered(leaf, added, indices)


def _is_fixed(index: Any) -> bool:
    return all(type(each) is int for each in (index if isinstance(index, tuple) else (index,)))


def _is_known(index: Any, leaves: Sequence[str]) -> bool:
    """Whether the caller can compute an index: of arguments, by arithmetic of whole numbers."""
    if isinstance(index, tuple | list):
        return all(_is_known(each, leaves) for each in index)
    if isinstance(index, slice):
        return all(_is_known(each, leaves) for each in (index.start, index.stop, index.step))
    if not isinstance(index, Symbol) or index.name in leaves:
        return True
    rule, operands, params = index.builder.definition(index)
    if rule is None or isinstance(rule, Compound) or rule is ITEM or rule.effects:
        return False
    whole = index.fact == values.Scalar(int)
    return whole and _is_known([*operands, *params.values()], leaves)


def gathered(
    builder: Builder,
    parts: Sequence[Scattered | Handed | None],
    results: Sequence[Any],
    y_bars: Sequence[Any],
    atoms: Mapping[str, Any],
    hints: Mapping[str, Hint],
) -> list[list]:
    """The adjoints in the caller, each as its summands, of what the function returned.

    Args:
        parts: the elements of each adjoint, where it was not returned as a whole.
        y_bars: the adjoints that it was given.
        atoms: the arguments by the names of the leaves.
        hints: what the function calls the leaves.
    """
    rest, adjoints = iter(results), []
    for elements in parts:
        if elements is None:
            adjoints.append([next(rest)])
            continue
        if isinstance(elements, Handed):
            adjoints.append([y_bars[elements.place]])
            continue
        summands, like = [], atoms[elements.leaf]
        called = builder.hints.get(like.name, TEMPORARY), hints.get(elements.leaf, TEMPORARY)
        name = called[0].text or called[1].text
        for index in elements.indices:
            part = builder.named(next(rest), Hint(f"part_{name}_bar" if name else "", "derived"))
            where = _translated(builder, index, atoms)
            added = (np.zeros_like(like), where, part)
            summands.append(builder.call(runtime.index_add, added, {}))
        adjoints.append(summands)
    return adjoints


def _translated(builder: Builder, index: Any, atoms: Mapping[str, Any]) -> Any:
    """An index of the function in terms of its arguments."""
    if isinstance(index, tuple | list):
        return type(index)(_translated(builder, each, atoms) for each in index)
    if isinstance(index, slice):
        parts = (index.start, index.stop, index.step)
        return slice(*(_translated(builder, each, atoms) for each in parts))
    if not isinstance(index, Symbol):
        return index
    if index.name in atoms:
        return atoms[index.name]
    rule, operands, params = index.builder.definitions[index.name]
    operands = [_translated(builder, each, atoms) for each in operands]
    given = {key: _translated(builder, each, atoms) for key, each in params.items()}
    return builder.emit(rule, operands, given)
