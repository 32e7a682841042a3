"""vmap as a value: which axis of which input is the batch."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from s2s_ad.api.arguments import DOUBLE_STAR, STAR, Arguments, Slot, exact
from s2s_ad.api.check_arguments import kind_text, shape_text
from s2s_ad.api.transform import Transform
from s2s_ad.core import tree, values
from s2s_ad.core.program import Program
from s2s_ad.diagnostics import ArgumentTypeError, ArgumentValueError
from s2s_ad.transforms.batches import batched_program, prefix


@dataclass(frozen=True)
class Vmap(Transform):
    """vmap; `in_axes` and `out_axes` as the user gave them, containers as Trees."""

    takes_lists = True

    in_axes: Any = 0
    out_axes: Any = 0

    def check_mapped(self, label: str) -> None:
        """At least one input is mapped."""
        if all(axis is None for axis in tree.leaves(self.in_axes)):
            raise _nothing_mapped(label, self.in_axes)

    def check_signature(self, label: str, signature: inspect.Signature) -> None:
        """What can be said of `in_axes` before there are arguments."""
        kinds = {each.kind for each in signature.parameters.values()}
        slots = list(Arguments(signature, {}).slots())
        if not slots and not kinds & {STAR, DOUBLE_STAR}:
            raise ArgumentValueError("S2S502", f"{label}: the function takes no inputs to map")
        if not isinstance(self.in_axes, tree.Tree):
            return
        names = [slot.name for slot in slots]
        if self.in_axes.kind is dict:
            if DOUBLE_STAR not in kinds:
                check_names(label, self.in_axes, [*signature.parameters])
        elif STAR not in kinds and len(self.in_axes.items) > len(names):
            raise _wrong_count(label, self.in_axes, f"the function has {_counted(names)}")
        else:
            needed = [name for name in names if _is_needed(signature.parameters[name])]
            if len(self.in_axes.items) < len(needed):
                raise _wrong_count(label, self.in_axes, f"the function has {_counted(names)}")

    def axes(self, label: str, arguments: Arguments) -> dict[str, Any]:
        """For each supplied parameter a Tree of axes, one for each leaf."""
        by_name: dict[str, list] = {name: [] for name in arguments.facts}
        for slot in arguments.supplied():
            by_name[slot.name].append(self._axes_of(label, slot, arguments))
        found = {}
        for name, mine in by_name.items():
            fact = arguments.facts[name]
            spread = arguments.signature.parameters[name].kind in (STAR, DOUBLE_STAR)
            found[name] = tree.Tree(fact.kind, fact.keys, tuple(mine)) if spread else mine[0]
        return found

    def leaf_axes(self, arguments: Arguments) -> Any:
        """For each leaf of the inputs, in their order, the axis of the batch."""
        found = self.axes("vmap", arguments)
        return tree.tuple_of(found.values())

    def is_first(self) -> bool:
        """Whether all outputs have the batch axis first."""
        return all(axis == 0 for axis in tree.leaves(self.out_axes))

    def _axes_of(self, label: str, slot: Slot, arguments: Arguments) -> Any:
        """The axes of the leaves of one input."""
        what, axes = f"{label}: in_axes", self.in_axes
        if not isinstance(axes, tree.Tree):
            return prefix(axes, arguments.at(slot), what, slot.text())
        if axes.kind is not dict:
            if slot.position is None or slot.position >= len(axes.items):
                raise _no_entry(label, axes, slot)
            what = f"{what}[{slot.position}]"
            return prefix(axes.items[slot.position], arguments.at(slot), what, slot.text())
        if slot.step is not None and slot.name in axes.keys:  # an entry for all of *args
            what = f"{what}[{slot.name!r}]"
            whole = prefix(axes.get(slot.name), arguments.facts[slot.name], what, slot.name)
            return whole.get(slot.step[1])
        key = slot.name if slot.step is None else slot.step[1]
        entry = axes.get(key) if key in axes.keys else None
        return prefix(entry, arguments.at(slot), f"{what}[{key!r}]", slot.text())

    def _entry(self, slot: Slot) -> str:
        """What a message calls the entry of `in_axes` for an input."""
        if not isinstance(self.in_axes, tree.Tree):
            return "in_axes"
        key = slot.name if self.in_axes.kind is dict else slot.position
        return f"in_axes[{key!r}]"

    def check(self, label: str, arguments: Arguments) -> None:
        """Each axis exists, at least one is mapped, and the lengths agree."""
        self._check_count(label, arguments)
        sizes: dict[str, Any] = {}
        for slot, path, fact, axis in self._leaves(label, arguments):
            if axis is not None:
                where = f"{slot.text(path)} axis {axis}"
                entry = f"{label}: {self._entry(slot)}"
                sizes[where] = _length(label, slot.text(path), fact, axis, entry)
        if not sizes:
            raise _nothing_mapped(label, self.in_axes)
        known = {size for size in sizes.values() if isinstance(size, int)}
        if len(known) > 1:
            listed = ", ".join(f"{where} has {size}" for where, size in sizes.items())
            raise ArgumentValueError(
                "S2S502",
                f"{label}: the mapped axes have different sizes: {listed}",
                help="pass arrays that agree, or None in in_axes for what all samples share",
            )

    def _check_count(self, label: str, arguments: Arguments) -> None:
        """A tuple of axes has an entry for each input, and none too many where *args is spread."""
        if not isinstance(self.in_axes, tree.Tree) or self.in_axes.kind is dict:
            return
        supplied = [slot for slot in arguments.supplied() if slot.position is not None]
        needed = max((slot.position for slot in supplied), default=-1) + 1
        count = len(self.in_axes.items)
        spread = any(each.kind is STAR for each in arguments.signature.parameters.values())
        if count < needed or (spread and count > needed):
            names = [slot.identifier for slot in supplied]
            raise _wrong_count(label, self.in_axes, f"the call has {_counted(names)}")

    def _leaves(self, label: str, arguments: Arguments) -> Iterator[tuple]:
        for slot in arguments.supplied():
            fact, axes = arguments.at(slot), self._axes_of(label, slot, arguments)
            for path, leaf, axis in zip(
                tree.paths(fact), tree.leaves(fact), tree.leaves(axes), strict=True
            ):
                yield slot, path, leaf, axis

    def inside(self, arguments: Arguments, inner: inspect.Signature) -> Arguments:
        return Arguments(inner, self._per_leaf(arguments, _without_axis))

    def inner_call(self, bound: inspect.BoundArguments) -> tuple[tuple, dict] | None:
        """The call for the first sample: Python's numbers are the same for all of them."""
        arguments = exact(bound.signature, bound.arguments)
        axes = self.axes("vmap", arguments)
        first = {}
        for name, value in bound.arguments.items():
            held = tree.from_object(value, lambda leaf, path: leaf)
            first[name] = tree.to_object(tree.tree_map(_first_sample, held, axes[name]))
        inner = inspect.BoundArguments(bound.signature, first)
        return inner.args, inner.kwargs

    def loosen(self, arguments: Arguments) -> Arguments:
        return Arguments(arguments.signature, self._per_leaf(arguments, _any_length))

    def _per_leaf(self, arguments: Arguments, change: Callable) -> dict[str, Any]:
        axes = self.axes("vmap", arguments)
        pairs = arguments.facts.items()
        return {name: tree.tree_map(change, fact, axes[name]) for name, fact in pairs}

    def watched(self, arguments: Arguments) -> set[str]:
        axes = self.axes("vmap", arguments).items()
        return {name for name, each in axes if any(a is not None for a in tree.leaves(each))}

    def programs(self, program: Program, arguments: Arguments) -> list[Program]:
        axes = self.axes("vmap", arguments)
        in_axes = []
        for each in program.inputs:
            if each.name not in axes:  # of the function around: the same for each sample
                in_axes += [None] * len(tree.leaves(each.tree))
                continue
            pairs = zip(
                tree.leaves(axes[each.name]), tree.leaves(arguments.facts[each.name]), strict=True
            )
            in_axes += [_normal(axis, fact) for axis, fact in pairs]
        return [batched_program(program, in_axes, self.out_axes)]

    def options(self) -> str:
        given = {"in_axes": self.in_axes, "out_axes": self.out_axes}
        return "".join(f", {k}={tree.to_object(v)!r}" for k, v in given.items() if v != 0)


def _is_needed(parameter: inspect.Parameter) -> bool:
    by_position = parameter.kind in (parameter.POSITIONAL_ONLY, parameter.POSITIONAL_OR_KEYWORD)
    return by_position and parameter.default is parameter.empty


def _counted(names: list[str]) -> str:
    plural = "input" if len(names) == 1 else "inputs"
    return f"{len(names)} {plural} ({', '.join(names)})" if names else "no inputs"


def _nothing_mapped(label: str, in_axes: Any) -> ArgumentValueError:
    return ArgumentValueError(
        "S2S502",
        f"{label}: in_axes = {tree.to_object(in_axes)!r} maps no input over a batch axis",
        help="give at least one input an axis",
    )


def _no_entry(label: str, in_axes: tree.Tree, slot: Slot) -> ArgumentValueError:
    return ArgumentValueError(
        "S2S502",
        f"{label}: in_axes = {tree.to_object(in_axes)!r} has no entry for {slot.text()}",
        help="give one axis for all inputs, or a dict by argument name",
    )


def _wrong_count(label: str, in_axes: tree.Tree, what: str) -> ArgumentValueError:
    count = len(in_axes.items)
    plural = "entry" if count == 1 else "entries"
    return ArgumentValueError(
        "S2S502",
        f"{label}: in_axes = {tree.to_object(in_axes)!r} has {count} {plural}, {what}",
        help="give one entry for each input, None for those without a batch axis",
    )


def check_names(label: str, in_axes: tree.Tree, names: list[str]) -> None:
    """The keys of a dict of axes are names of arguments."""
    for key in in_axes.keys:
        if key not in names:
            raise ArgumentValueError(
                "S2S502", f"{label}: in_axes names {key!r}, the function has {_counted(names)}"
            )


def _length(label: str, where: str, fact: Any, axis: int, entry: str) -> Any:
    """The length of the mapped axis, an int or a Dim; None where nothing is known.

    `entry` is what a message calls the place of the axis.
    """
    if isinstance(fact, values.Unknown):
        return None
    if not isinstance(fact, values.Array):
        raise ArgumentTypeError(
            "S2S501",
            f"{label}: {where} is {kind_text(fact)}: it has no axis {axis} to map",
            help="give it None in in_axes, or pass an array with a batch axis",
        )
    rank = values.rank_of(fact)
    if rank is None:
        return None
    if not rank:
        raise ArgumentValueError(
            "S2S502",
            f"{label}: {where} is a scalar (shape ()): it has no axis {axis} to map",
            help="give it None in in_axes, or pass an array with a batch axis",
        )
    if not -rank <= axis < rank:
        raise ArgumentValueError(
            "S2S502",
            f"{entry} = {axis} is out of range for {where} of shape "
            f"{shape_text(fact.shape)} (valid: {-rank}..{rank - 1})",
        )
    return fact.shape[axis]


def _normal(axis: int | None, fact: Any) -> int | None:
    rank = values.rank_of(fact)
    return axis if axis is None or rank is None else axis % rank


def _without_axis(fact: Any, axis: int | None) -> Any:
    if axis is None or not values.shape_of(fact):
        return fact
    shape = list(fact.shape)
    del shape[axis]
    sample = values.with_shape(fact, tuple(shape))
    return sample if shape else replace(sample, number=True)  # as x[i] is one


def _first_sample(leaf: Any, axis: int | None) -> Any:
    """The first item along an axis; zeros in the place of one where there are no samples."""
    if axis is None:
        return leaf
    return np.take(leaf, 0, axis) if np.shape(leaf)[axis] else np.zeros_like(leaf).sum(axis)


def _any_length(fact: Any, axis: int | None) -> Any:
    if axis is None or not values.shape_of(fact):
        return fact
    shape = list(fact.shape)
    shape[axis] = values.fresh_dim()
    return values.with_shape(fact, tuple(shape))
