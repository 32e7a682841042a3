"""The transforms as values: each says how to derive its program from the program inside."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from s2s_ad.api.check_arguments import check_differentiable, shown
from s2s_ad.core import tree, values
from s2s_ad.core.program import Program
from s2s_ad.core.tree import Tree
from s2s_ad.diagnostics import ArgumentTypeError, ArgumentValueError
from s2s_ad.transforms.batches import batched_program, prefix
from s2s_ad.transforms.common import Target
from s2s_ad.transforms.gradients import cotangent_program, gradient, partition, tangent_program
from s2s_ad.transforms.jacobians import jacobian

Inner = Callable[[dict[str, Any]], Program]  # abstract values by parameter -> program


@dataclass(frozen=True)
class Transform:
    """One step of a chain; `suffix` names it in a repr."""

    def signature(self, inner: inspect.Signature) -> inspect.Signature:
        """The signature of the transformed function."""
        return inner

    def check(self, label: str, arguments: dict[str, Any], abstract: dict[str, Any]) -> None:
        """Refuse wrong arguments before any work."""

    def inside(self, abstract: dict[str, Any]) -> dict[str, Any]:
        """The abstract values that the function inside sees."""
        return abstract

    def loosen(self, abstract: dict[str, Any]) -> dict[str, Any]:
        """The abstract values with what the signature need not tell apart left out."""
        return abstract

    def program(self, inner: Inner, abstract: dict[str, Any]) -> Program:
        raise NotImplementedError

    def programs(self, inner: Inner, abstract: dict[str, Any]) -> list[Program]:
        """The program, and others that are compiled with it."""
        return [self.program(inner, abstract)]


@dataclass(frozen=True)
class Jit(Transform):
    """The function itself, simplified and compiled."""

    def program(self, inner: Inner, abstract: dict[str, Any]) -> Program:
        return inner(abstract)


@dataclass(frozen=True)
class Differentiation(Transform):
    """What is common to transforms with positions; `single` positions give a bare result."""

    positions: tuple[int, ...]
    has_aux: bool = False

    @property
    def bare(self) -> bool:
        return len(self.positions) == 1

    def check(self, label: str, arguments: dict[str, Any], abstract: dict[str, Any]) -> None:
        structure = {name: star_count(fact) for name, fact in abstract.items()}
        for position, name, item in located(self.positions, structure, label):
            fact = abstract[name] if item is None else abstract[name].items[item]
            shown_name = name if item is None else f"{name}[{item}]"
            check_differentiable(label, f"{position} ({shown_name})", fact)

    def targets(self, program: Program) -> list[Target]:
        trees = {each.name: each.tree for each in program.inputs}
        structure = {
            each.name: len(each.tree.items) if each.kind is STAR else None
            for each in program.inputs
        }
        return [
            Target(position, name, trees[name])
            if item is None
            else Target(position, f"{name}_{item}", trees[name].items[item])
            for position, name, item in located(self.positions, structure, program.name)
        ]


STAR = inspect.Parameter.VAR_POSITIONAL


@dataclass(frozen=True, slots=True)
class StarTree(Tree):
    """The abstract values of *args: each of them is an input of its own."""


def star_count(fact: Any) -> int | None:
    return len(fact.items) if isinstance(fact, StarTree) else None


def located(positions: tuple[int, ...], structure: dict[str, int | None], label: str) -> list:
    """(position, parameter, item of *args or None) for each position of a call.

    `structure` gives for each parameter the number of its arguments if it is *args, else None.
    """
    flat: list[tuple[str, int | None]] = []
    for name, count in structure.items():
        flat += [(name, None)] if count is None else [(name, i) for i in range(count)]
    for position in positions:
        if position >= len(flat):
            raise ArgumentValueError(
                "S2S502",
                f"{label}: grad_position {position} is out of range: the call has {len(flat)} "
                "inputs",
            )
    return [(position, *flat[position]) for position in positions]


@dataclass(frozen=True)
class Grad(Differentiation):
    """grad and value_and_grad."""

    with_value: bool = False
    return_ids: bool = False

    def program(self, inner: Inner, abstract: dict[str, Any]) -> Program:
        program = inner(abstract)
        return gradient(
            program,
            self.targets(program),
            bare=self.bare,
            with_value=self.with_value,
            has_aux=self.has_aux,
            return_ids=self.return_ids,
        )


@dataclass(frozen=True)
class Jacobian(Differentiation):
    """jacrev and jacfwd."""

    reverse: bool = True

    def program(self, inner: Inner, abstract: dict[str, Any]) -> Program:
        program = inner(abstract)
        targets = self.targets(program)
        return jacobian(
            program, targets, bare=self.bare, has_aux=self.has_aux, reverse=self.reverse
        )


@dataclass(frozen=True)
class Vmap(Transform):
    """vmap; `in_axes` and `out_axes` as the user gave them."""

    in_axes: Any = 0
    out_axes: Any = 0

    def axes(self, label: str, arguments: dict[str, Any], abstract: dict[str, Any]) -> dict:
        """For each parameter a Tree of axes, one for each leaf."""
        given = self._by_name(label, abstract)
        found = {}
        for name, fact in abstract.items():
            axes = tree.from_object(given[name], lambda leaf, _: leaf)
            found[name] = prefix(axes, fact, f"{label}: in_axes of {name}")
        return found

    def _by_name(self, label: str, abstract: dict[str, Any]) -> dict[str, Any]:
        names = list(abstract)
        if isinstance(self.in_axes, dict):
            unknown = [each for each in self.in_axes if each not in names]
            if unknown:
                raise ArgumentValueError(
                    "S2S502", f"{label}: in_axes names {unknown[0]!r}, the function has {names}"
                )
            return {name: self.in_axes.get(name) for name in names}
        if not isinstance(self.in_axes, tuple | list):
            return dict.fromkeys(names, self.in_axes)
        if len(self.in_axes) != len(names):
            raise ArgumentValueError(
                "S2S502",
                f"{label}: in_axes has {len(self.in_axes)} entries, the call has {len(names)} "
                f"inputs ({', '.join(names)})",
                help="give one entry for each input, None for those without a batch axis",
            )
        return dict(zip(names, self.in_axes, strict=True))

    def check(self, label: str, arguments: dict[str, Any], abstract: dict[str, Any]) -> None:
        """Each axis exists, at least one is mapped, and the lengths agree."""
        sizes: dict[str, int] = {}
        axes = self.axes(label, arguments, abstract)
        for name, fact in abstract.items():
            paths = tree.paths(fact)
            leaves = zip(paths, tree.leaves(fact), tree.leaves(axes[name]), strict=True)
            for path, leaf, axis in leaves:
                if axis is not None:
                    where = tree.path_text(name, path)
                    value = tree.follow(arguments[name], path) if arguments else None
                    size = self._size(label, where, leaf, axis, value)
                    if size is not None:
                        sizes[where] = size
        mapped = any(axis is not None for each in axes.values() for axis in tree.leaves(each))
        if not mapped:
            raise ArgumentValueError(
                "S2S502",
                f"{label}: in_axes={self.in_axes!r} maps no input over a batch axis",
                help="give at least one input an axis",
            )
        if len(set(sizes.values())) > 1:
            listed = ", ".join(f"{where} has {size}" for where, size in sizes.items())
            raise ArgumentValueError("S2S502", f"{label}: the inputs' batch sizes differ: {listed}")

    def _size(self, label: str, where: str, fact: Any, axis: int, value: Any) -> int | None:
        if isinstance(fact, values.Unknown):
            return None
        if not isinstance(fact, values.Array) or not fact.shape:
            raise ArgumentTypeError(
                "S2S501",
                f"{label}: in_axes maps {where} over axis {axis}, and it is {shown(value)}",
                help=f"give it the axis None, or pass an array with a batch axis for {where}",
            )
        rank = len(fact.shape)
        if not -rank <= axis < rank:
            raise ArgumentValueError(
                "S2S502",
                f"{label}: in_axes maps {where} over axis {axis}, and it has {rank} axes "
                f"(valid: {-rank}..{rank - 1})",
            )
        return value.shape[axis] if value is not None else None

    def _per_leaf(self, abstract: dict[str, Any], change: Callable) -> dict[str, Any]:
        axes = self.axes("vmap", {}, abstract)
        return {name: tree.tree_map(change, abstract[name], axes[name]) for name in abstract}

    def inside(self, abstract: dict[str, Any]) -> dict[str, Any]:
        return self._per_leaf(abstract, _without_axis)

    def loosen(self, abstract: dict[str, Any]) -> dict[str, Any]:
        return self._per_leaf(abstract, _any_length)

    def program(self, inner: Inner, abstract: dict[str, Any]) -> Program:
        axes = self.axes("vmap", {}, abstract)
        program = inner(self.inside(abstract))
        facts = [leaf for each in abstract.values() for leaf in tree.leaves(each)]
        flat = [leaf for each in axes.values() for leaf in tree.leaves(each)]
        in_axes = [
            _normal(axis, fact) if axis is not None else None
            for axis, fact in zip(flat, facts, strict=True)
        ]
        out_axes = tree.from_object(self.out_axes, lambda leaf, _: leaf)
        return batched_program(program, in_axes, out_axes)


def _normal(axis: int, fact: Any) -> int:
    rank = values.rank_of(fact)
    return axis if rank is None else axis % rank


def _without_axis(fact: Any, axis: int | None) -> Any:
    if axis is None or not isinstance(fact, values.Array):
        return fact
    shape = list(fact.shape)
    del shape[axis]
    return values.Array(fact.dtype, tuple(shape))


def _any_length(fact: Any, axis: int | None) -> Any:
    if axis is None or not isinstance(fact, values.Array):
        return fact
    shape = list(fact.shape)
    shape[axis] = values.fresh_dim()
    return values.Array(fact.dtype, tuple(shape))


@dataclass(frozen=True)
class Jvp(Differentiation):
    """Primals and tangents -> (output, tangent of the output)."""

    def signature(self, inner: inspect.Signature) -> inspect.Signature:
        return extended(inner, [f"{name}_dot" for name in inner.parameters])

    def inside(self, abstract: dict[str, Any]) -> dict[str, Any]:
        return dict(list(abstract.items())[: len(abstract) // 2])

    def check(self, label: str, arguments: dict[str, Any], abstract: dict[str, Any]) -> None:
        return None

    def program(self, inner: Inner, abstract: dict[str, Any]) -> Program:
        program = inner(self.inside(abstract))
        return tangent_program(program, self.targets(program))


@dataclass(frozen=True)
class VjpForward(Differentiation):
    """Primals -> (output, what the backward pass needs)."""

    def programs(self, inner: Inner, abstract: dict[str, Any]) -> list[Program]:
        program = inner(abstract)
        joint = cotangent_program(program, self.targets(program))
        seeds = joint.leaves()[len(program.leaves()) :]
        return list(partition(joint, seeds))


def extended(inner: inspect.Signature, names: list[str]) -> inspect.Signature:
    """The signature with more parameters after the others, all by position."""
    kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
    taken = list(inner.parameters)
    parameters = [inspect.Parameter(name, kind) for name in taken]
    for name in names:
        label, count = name, 2
        while label in taken:
            label, count = f"{name}_{count}", count + 1
        taken.append(label)
        parameters.append(inspect.Parameter(label, kind))
    return inspect.Signature(parameters)
