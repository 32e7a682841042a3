"""Adjoints that are zero but for some elements, as a function hands them to its caller.

Of `y = A[i]` in a function the adjoint of A is `zeros; A_bar[i] += y_bar`. The backward pass
returns `y_bar` alone, and the caller adds it to what it has of A_bar: a loop of such calls costs no
more a pass for a larger A. What is a considerable part of A together, as `A[1:]` and `A[:-1]`, is
one A_bar: nothing is gained by handing out its parts.
"""

from __future__ import annotations

import functools
import math
import operator
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import IntEnum
from fractions import Fraction
from typing import Any

import numpy as np

from s2s_ad import runtime
from s2s_ad.core import sizes, values
from s2s_ad.core.builder import Builder, Symbol, key_of
from s2s_ad.core.callee import Compound
from s2s_ad.core.program import TEMPORARY, Hint
from s2s_ad.core.registry import rule_of
from s2s_ad.core.rule import ITEM
from s2s_ad.core.sizes import Size
from s2s_ad.transforms.filling import filled

MANY = Fraction(1, 8)  # of an array; elements that are fewer are handed out for themselves


class Whole(IntEnum):
    """When the adjoint of an array of which elements at several indices are read is one array.

    NEVER, as zeros where nobody reads would be numbers to multiply by; where they are MANY; or
    ALWAYS, as who calls has to do with all elements in any case.
    """

    NEVER, MANY, ALWAYS = range(3)


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
        index: which of the adjoints that it is given.
    """

    index: int


def handed(adjoints: Sequence[Any], given: Sequence[str]) -> list[Handed | None]:
    """Which adjoints are given ones; None for the others, of which there is at least one."""
    names = [each.name if isinstance(each, Symbol) else "" for each in adjoints]
    found = [Handed(given.index(name)) if name in given else None for name in names]
    return found if None in found else [None for _ in found]


def handed_out(
    leaf: str, adjoint: Any, leaves: Sequence[str], whole: Whole
) -> tuple[Any, Scattered | None, Whole]:
    """An adjoint as a function hands it out: (the adjoint, its elements where these are handed out
    alone, what `whole` has at least to be for that).

    It is handed out as a whole where it is another sum than one of elements, is needed as a whole,
    or an index is not at hand; and where `whole` says so.
    """
    elements = _elements_of(adjoint, leaves)
    if not elements:
        return adjoint, None, Whole.NEVER
    indices = [index for index, *_ in elements.values()]
    if len(elements) > 1 and whole is not Whole.NEVER:
        made = filled(adjoint.builder, adjoint)
        many = made is not adjoint or _are_many(indices, adjoint.fact)
        if not many and whole is Whole.MANY:
            many = _are_many_here(indices, adjoint.fact)
        if many or whole is Whole.ALWAYS:
            adjoint.builder.named(made, adjoint.builder.hints[adjoint.name])
            return made, None, Whole.MANY if many else Whole.ALWAYS
    return adjoint, _collected(leaf, elements), Whole.NEVER


def _elements_of(adjoint: Any, leaves: Sequence[str]) -> dict[Any, list]:
    """Of a sum of elements alone, by the key of an index: the index, and what is added there."""
    if not isinstance(adjoint, Symbol) or not isinstance(adjoint.fact, values.Array):
        return {}
    zeros, sums = adjoint.builder.applied(adjoint, runtime.index_add)
    rule, _, _ = adjoint.builder.definition(zeros)
    known = all(_is_known(params["index"], leaves) for _, params in sums)
    if rule is None or not rule.zeros or not known or _is_read(adjoint):
        return {}
    elements: dict[Any, list] = {}
    for operands, params in reversed(sums):
        given = elements.setdefault(key_of(params["index"]), [params["index"]])
        given.append(operands[1])
    return elements


def _is_read(value: Symbol) -> bool:
    """Whether the function computes with it, and so needs all of it."""
    return any(value.name in each.reads for each in value.builder.body)


def _collected(leaf: str, elements: Mapping[Any, list]) -> Scattered:
    """What is added to the elements of each index, in the order of the program, as one sum."""
    pairs = [(index, sum(rest[::-1], start=last)) for index, *rest, last in elements.values()]
    indices, added = zip(*reversed(pairs), strict=True)
    return Scattered(leaf, added, indices)


def _are_many(indices: Sequence[Any], array: values.Array) -> bool:
    """Whether elements at several indices are together a considerable part of a large array."""
    counts = filter(None, (_counts(index, array) for index in indices))
    lengths = _lengths(array)
    parts = (math.prod(map(sizes.share, each, lengths)) for each in counts)
    return sum(parts, start=Fraction(0)) >= MANY


def _are_many_here(indices: Sequence[Any], array: values.Array) -> bool:
    """Whether that is so in the call that is compiled for, of indices that stay the same."""
    counts = [_counts(index, array) if _is_fixed(index) else None for index in indices]
    if None in counts:
        return False
    total = sum((_product(each) for each in counts if each), start=sizes.of(0))
    return sizes.at_least(total.times(MANY.denominator), _product(_lengths(array)))


def _lengths(array: values.Array) -> list[Size]:
    return [values.size_of_dim(dim) for dim in array.shape or ()]


def _counts(index: Any, array: values.Array) -> list[Size] | None:
    """How many elements an index of numbers and slices takes along each axis of an array."""
    items = index if isinstance(index, tuple) else (index,)
    if not all(isinstance(each, slice) or _is_number(each) for each in items):
        return None
    taken: Any = rule_of(operator.getitem).infer([array], {"index": index})
    lengths = iter(_lengths(taken))
    counts = [next(lengths) if isinstance(each, slice) else sizes.of(1) for each in items]
    return [*counts, *lengths]


def _product(lengths: Iterable[Size]) -> Size:
    return functools.reduce(sizes.product, lengths, sizes.of(1))


def _is_number(index: Any) -> bool:
    return type(index) is int or (isinstance(index, Symbol) and index.fact == values.Scalar(int))


def _is_fixed(index: Any) -> bool:
    """Whether an index stays the same from call to call."""
    if isinstance(index, tuple):
        return all(map(_is_fixed, index))
    if isinstance(index, slice):
        return all(map(_is_fixed, (index.start, index.stop, index.step)))
    return index is None or type(index) is int


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
            adjoints.append([y_bars[elements.index]])
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
