"""The arguments of one call as the transforms see them: abstract values under a signature."""

from __future__ import annotations

import inspect
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import Any

from s2s_ad.core import tree, values

STAR = inspect.Parameter.VAR_POSITIONAL
DOUBLE_STAR = inspect.Parameter.VAR_KEYWORD
KEYWORD_ONLY = inspect.Parameter.KEYWORD_ONLY
POSITIONAL_ONLY = inspect.Parameter.POSITIONAL_ONLY


class SensParameter(inspect.Parameter):
    """The parameter that takes the gradient of the output: the last argument of a call."""


def sens_of(signature: inspect.Signature) -> SensParameter | None:
    """The parameter of the signature that is such a one."""
    found = (each for each in signature.parameters.values() if isinstance(each, SensParameter))
    return next(found, None)


@dataclass(frozen=True, slots=True)
class Slot:
    """One input: a parameter, or one of the arguments that `*args` takes.

    `position` is what `grad_position` and `in_axes` count by; None for what `**kwargs` takes.
    """

    position: int | None
    name: str
    step: tuple[str, Any] | None = None

    @property
    def identifier(self) -> str:
        """A name for it in generated code: x, or args_0."""
        return self.name if self.step is None else f"{self.name}_{self.step[1]}"

    def text(self, path: tree.Path = ()) -> str:
        """How a message calls the input, or what `path` leads to in it."""
        steps = path if self.step is None else (self.step, *path)
        shown = tree.path_text(self.name, steps)
        return f"input {shown}" if self.position is None else f"input {self.position} ({shown})"


@dataclass(frozen=True, slots=True)
class Arguments:
    """Abstract values (Trees of them) by parameter, of the parameters that a call supplies.

    Parameters that keep their default are absent: the default is part of the code.
    """

    signature: inspect.Signature
    facts: dict[str, Any]

    def slots(self) -> Iterator[Slot]:
        """Each input in the order of the signature, those left to their defaults too."""
        position = 0
        for name, parameter in self.signature.parameters.items():
            if parameter.kind not in (STAR, DOUBLE_STAR):
                yield Slot(position, name)
                position += 1
                continue
            for step in self.facts[name].steps() if name in self.facts else ():
                yield Slot(position if parameter.kind is STAR else None, name, step)
                position += parameter.kind is STAR

    def supplied(self) -> list[Slot]:
        return [slot for slot in self.slots() if slot.name in self.facts]

    def at(self, slot: Slot) -> Any:
        """The abstract value of an input."""
        fact = self.facts[slot.name]
        return fact if slot.step is None else fact.get(slot.step[1])

    def map(self, change: Any) -> Arguments:
        """The arguments with each leaf changed."""
        changed = {name: tree.tree_map(change, fact) for name, fact in self.facts.items()}
        return Arguments(self.signature, changed)


def exact(
    signature: inspect.Signature, given: dict[str, Any], opened: Collection[str] = ()
) -> Arguments:
    """The abstract values of arguments, with the lengths that their arrays have in this call.

    Objects in those that are `opened` are trees.
    """

    facts = {}
    for name in signature.parameters:
        if name in given:
            facts[name] = tree.from_object(
                given[name],
                lambda value, path, name=name: exact_leaf(value, tree.path_text(name, path)),
                opens=name in opened,
            )
    return Arguments(signature, facts)


def exact_leaf(value: Any, name: str = "value") -> values.AbstractValue:
    """The abstract value of an object, with the lengths that it has."""
    fact = values.of_leaf(value, name)
    return values.with_shape(fact, value.shape) if values.shape_of(fact) else fact


def any_length(fact: Any) -> Any:
    """An abstract value without its lengths, but for which of them are one.

    A whole number is told apart from others: code may ask whether it is below 0, or a length.
    """
    if not isinstance(fact, values.Array) or not fact.shape:
        return values.told_apart(fact)
    return values.with_shape(
        fact, tuple(n if n == 1 else values.fresh_dim(False) for n in fact.shape)
    )


def with_lists(fact: Any, *, rows: bool, tuples: bool) -> Any:
    """An abstract value in which a long list of numbers, or of tuples of them, is one input.

    So the code is the same for all lengths. Of a short list each number is an input. With `rows`
    lists of lists are such inputs too, with `tuples` those of tuples.
    """
    if not isinstance(fact, tree.Tree):
        return fact
    whole = _as_list(fact)
    if isinstance(whole, values.List) and (
        isinstance(whole.item, values.Scalar) or (tuples if values.holds_rows(whole) else rows)
    ):
        numbers = fact.items if isinstance(whole.item, values.Row) else tree.leaves(fact)
        if values.is_long(numbers, whole.item):
            return values.List(whole.item, values.fresh_dim(False))
    items = tuple(with_lists(each, rows=rows, tuples=tuples) for each in fact.items)
    return tree.Tree(fact.kind, fact.keys, items)


def _as_list(fact: Any) -> values.AbstractValue | None:
    """A number, a tuple of numbers, or a list of what is alike and such; None for anything else."""
    if _is_listed(fact):
        return fact
    if not isinstance(fact, tree.Tree) or fact.kind not in (list, tuple):
        return None
    if fact.kind is tuple:
        kinds = tuple(map(_kind_in_row, fact.items))
        return values.Row(kinds) if kinds and None not in kinds else None
    items = set(map(_as_list, fact.items))
    item = items.pop() if len(items) == 1 else None
    return None if item is None or values.holds_rows(item) else values.List(item)


def _is_listed(fact: Any) -> bool:
    return isinstance(fact, values.Scalar) and fact.kind in values.LISTED


def _kind_in_row(fact: Any) -> type | None:
    """The kind of a number that may stand in a tuple of a list that is one input."""
    kind = type(fact.value) if isinstance(fact, values.Static) else getattr(fact, "kind", None)
    return kind if kind in values.IN_ROWS else None


def has_lists(fact: Any) -> bool:
    """Whether a list is one input in it."""
    return any(isinstance(leaf, values.List) for leaf in tree.leaves(fact))


def unknown(signature: inspect.Signature) -> Arguments:
    """Arguments of which nothing is known; there is no such thing for *args and **kwargs."""
    names = [
        name
        for name, parameter in signature.parameters.items()
        if parameter.kind not in (STAR, DOUBLE_STAR)
    ]
    return Arguments(signature, {name: values.unknown(inexact=True) for name in names})
