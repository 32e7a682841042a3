"""The transforms as values: each says how to derive its program from the program inside."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass, replace
from types import EllipsisType
from typing import Any, ClassVar

from s2s_ad.api.arguments import DOUBLE_STAR, KEYWORD_ONLY, STAR, Arguments, Slot
from s2s_ad.api.check_arguments import check_differentiable, check_like, check_real
from s2s_ad.api.weights import Weights
from s2s_ad.core import tree
from s2s_ad.core.program import Input, Program
from s2s_ad.diagnostics import ArgumentValueError
from s2s_ad.transforms.common import Target, pair
from s2s_ad.transforms.gradients import (
    cotangent_program,
    linear_program,
    partition,
    tangent_program,
)
from s2s_ad.transforms.jacobians import jacobian

BY_POSITION = inspect.Parameter.POSITIONAL_OR_KEYWORD

ALL = ...  #: instead of positions: all inputs that a call gives
Positions = tuple[int, ...] | EllipsisType


@dataclass(frozen=True)
class Transform:
    """One step of a chain. It knows nothing of the function: that is `Transformed`'s to know.

    `takes_lists` says whether a list of floats may be one input, `takes_rows` whether a list of
    such lists may, of which a half of two that runs later would see what its owner does with them.
    """

    takes_lists: ClassVar[bool] = False
    takes_rows: ClassVar[bool] = True

    def signature(self, inner: inspect.Signature) -> inspect.Signature:
        """The signature of the transformed function."""
        return inner

    def required(self, signature: inspect.Signature) -> list[str]:
        """Parameters that are inputs even where a call leaves them to their defaults."""
        return []

    def check(self, label: str, arguments: Arguments) -> None:
        """Refuse wrong arguments before any work."""

    def inside(self, arguments: Arguments, inner: inspect.Signature) -> Arguments:
        """What the function inside is called with; `inner` is its signature."""
        return Arguments(inner, arguments.facts)

    def place(self, inner: tuple[str, tree.Path], signature: inspect.Signature) -> tuple:
        """Where an argument of the function inside is found among ours; `signature` is its own."""
        return inner

    def inner_call(self, bound: inspect.BoundArguments) -> tuple[tuple, dict] | None:
        """The arguments of the function inside in a call; None where there is no such call."""
        return bound.args, bound.kwargs

    def loosen(self, arguments: Arguments) -> Arguments:
        """The arguments without what one compilation need not tell apart."""
        return arguments

    def watched(self, arguments: Arguments) -> set[str]:
        """Parameters that matter even where the function does not mention them."""
        return set()

    def advice(self) -> str:
        """What helps whose call does not fit the signature."""
        return ""

    def programs(self, program: Program, arguments: Arguments) -> list[Program]:
        """What is derived from the program inside, and others that are compiled with it."""
        raise NotImplementedError

    def function(self, made: list[Callable]) -> Callable:
        """What a call runs, made of the compiled `programs`."""
        return made[0]

    def options(self) -> str:
        """The options that are not the default, as a repr shows them."""
        return ""


@dataclass(frozen=True)
class Jit(Transform):
    """The function itself, simplified and compiled; where it is `native`, as loops for Numba."""

    native: bool = False
    parallel: bool = False
    wait: bool = True
    cache: bool = True
    takes_lists = True

    def programs(self, program: Program, arguments: Arguments) -> list[Program]:
        return [program]


@dataclass(frozen=True)
class Differentiation(Transform):
    """What is common to transforms with positions; ALL of them are those of the call."""

    positions: Positions = (0,)
    has_aux: bool = False

    @property
    def bare(self) -> bool:
        """A single position gives its result itself, not a tuple of one."""
        return self.positions is not ALL and len(self.positions) == 1

    def required(self, signature: inspect.Signature) -> list[str]:
        if self.positions is ALL:
            return []
        slots = Arguments(signature, {}).slots()
        return [slot.name for slot in slots if slot.position in self.positions]

    def check(self, label: str, arguments: Arguments) -> None:
        for slot in located(self.positions, arguments, label):
            check_differentiable(label, slot.text, arguments.at(slot))

    def watched(self, arguments: Arguments) -> set[str]:
        return {slot.name for slot in located(self.positions, arguments)}

    def targets(self, program: Program, arguments: Arguments) -> list[Target]:
        trees = {each.name: each.tree for each in program.inputs}
        found = []
        for slot in located(self.positions, arguments):
            target = trees[slot.name] if slot.step is None else trees[slot.name].get(slot.step[1])
            found.append(Target(slot.position, slot.identifier, target))
        return found

    def options(self) -> str:
        shown = self.positions[0] if self.bare else self.positions
        position = f", grad_position={shown}" if self.positions != (0,) else ""
        return position + (", has_aux=True" if self.has_aux else "")


def located(positions: Positions, arguments: Arguments, label: str = "") -> list[Slot]:
    """The input that each position names.

    Raises:
        ArgumentValueError: there is no such input in this call.
    """
    by_position = {slot.position: slot for slot in arguments.supplied()}
    if positions is ALL:
        return [slot for position, slot in by_position.items() if position is not None]
    found = []
    for position in positions:
        if position not in by_position:
            raise _not_given(position, arguments, label)
        found.append(by_position[position])
    return found


def _not_given(position: int, arguments: Arguments, label: str) -> ArgumentValueError:
    names = {slot.position: slot.identifier for slot in arguments.slots()}
    if position in names:
        what = f"names {names[position]}, which the call leaves to its default"
    else:
        count = sum(each is not None for each in names)
        what = f"is out of range: the call has {count} {'input' if count == 1 else 'inputs'}"
    return ArgumentValueError(
        "S2S502",
        f"{label}: grad_position {position} {what}",
        help="pass the argument"
        if position in names
        else "inputs are counted from 0, those of a method without self",
    )


@dataclass(frozen=True)
class Jacobian(Differentiation):
    """jacrev and jacfwd."""

    reverse: bool = True

    def check(self, label: str, arguments: Arguments) -> None:
        super().check(label, arguments)
        for slot in located(self.positions, arguments, label):
            check_real(label, slot.text, arguments.at(slot))

    def programs(self, program: Program, arguments: Arguments) -> list[Program]:
        targets = self.targets(program, arguments)
        made = jacobian(
            program, targets, bare=self.bare, has_aux=self.has_aux, reverse=self.reverse
        )
        return [made]


@dataclass(frozen=True)
class Halves(Differentiation):
    """Inputs -> ((output[, aux]), what the second half needs, the second half)."""

    takes_lists, takes_rows = True, False

    def function(self, made: list[Callable]) -> Callable:
        first, second = made

        def both(*args: Any, **kwargs: Any) -> tuple:
            output, needed = first(*args, **kwargs)
            return output, needed, second

        return both

    def programs(self, program: Program, arguments: Arguments) -> list[Program]:
        joint = self.joint(program, arguments)
        return list(partition(joint, joint.leaves()[len(program.leaves()) :]))

    def joint(self, program: Program, arguments: Arguments) -> Program:
        """Inputs and what the second half is given -> (output, result of the second half)."""
        raise NotImplementedError


@dataclass(frozen=True)
class Vjp(Halves):
    """The second half: an adjoint for each floating-point output -> adjoints of the inputs.

    With weights, (adjoints of inputs, adjoints of weights).
    """

    weights: Weights | None = None

    def joint(self, program: Program, arguments: Arguments) -> Program:
        wanted = pair(*self.targets(program, arguments))
        if self.weights is not None:
            program, parameters = self.weights.of(program)
            wanted = pair(wanted, parameters)
        return cotangent_program(program, wanted, has_aux=self.has_aux)


@dataclass(frozen=True)
class Linearization(Halves):
    """The second half: a tangent for each leaf of the inputs -> the tangent of the output."""

    def joint(self, program: Program, arguments: Arguments) -> Program:
        return linear_program(program, self.targets(program, arguments))


@dataclass(frozen=True)
class Jvp(Transform):
    """The first `count` inputs, then a tangent for each -> (output, its tangent[, aux])."""

    takes_lists = True

    count: int = 1
    has_aux: bool = False

    def signature(self, inner: inspect.Signature) -> inspect.Signature:
        """Inputs and tangents by position; other parameters keep their defaults."""
        primals = self._primals(inner)
        names = [slot.identifier for slot in primals]
        for name in list(names):
            names.append(free_name(f"{name}_dot", {*inner.parameters, *names}))
        parameters = [inspect.Parameter(each, BY_POSITION) for each in names]
        taken = {slot.name for slot in primals}
        for name, parameter in inner.parameters.items():
            if name not in taken and parameter.kind is not STAR:
                kind = DOUBLE_STAR if parameter.kind is DOUBLE_STAR else KEYWORD_ONLY
                parameters.append(parameter.replace(kind=kind))
        return inspect.Signature(parameters)

    def inside(self, arguments: Arguments, inner: inspect.Signature) -> Arguments:
        names, facts = list(arguments.signature.parameters), {}
        for slot, name in zip(self._primals(inner), names, strict=False):
            if slot.step is None:
                facts[slot.name] = arguments.facts[name]
            else:
                items = (*getattr(facts.get(slot.name), "items", ()), arguments.facts[name])
                facts[slot.name] = pair(*items)
        others = names[2 * self.count :]
        facts |= {name: arguments.facts[name] for name in others if name in arguments.facts}
        return Arguments(inner, facts)

    def inner_call(self, bound: inspect.BoundArguments) -> tuple[tuple, dict] | None:
        return bound.args[: self.count], bound.kwargs

    def place(self, inner: tuple[str, tree.Path], signature: inspect.Signature) -> tuple:
        name, path = inner
        for slot in self._primals(signature):
            if slot.step is not None and (slot.name, *path[:1]) == (name, slot.step):
                return slot.identifier, path[1:]
        return inner

    def check(self, label: str, arguments: Arguments) -> None:
        names = list(arguments.signature.parameters)[: 2 * self.count]
        given = [arguments.facts[name] for name in names]
        for i in range(self.count):
            check_differentiable(label, Slot(i, names[i]).text, given[i])
            check_like(label, f"v[{i}]", given[self.count + i], f"input {i} ({names[i]})", given[i])

    def watched(self, arguments: Arguments) -> set[str]:
        return set(list(arguments.signature.parameters)[: 2 * self.count])

    def programs(self, program: Program, arguments: Arguments) -> list[Program]:
        inputs = [part for each in program.inputs for part in _spread(each)]
        primals, others = inputs[: self.count], inputs[self.count :]
        targets = [Target(i, each.name, each.tree) for i, each in enumerate(primals)]
        made = tangent_program(program, targets, has_aux=self.has_aux)
        tangents = made.inputs[len(program.inputs) :]
        others = [replace(each, kind=max(each.kind, KEYWORD_ONLY)) for each in others]
        return [made.with_(inputs=(*primals, *tangents, *others))]

    def _primals(self, inner: inspect.Signature) -> list[Slot]:
        """The inputs of the function inside that have a tangent."""
        slots: list[Slot] = []
        for name, parameter in inner.parameters.items():
            left = self.count - len(slots)
            if parameter.kind is STAR:
                slots += [Slot(len(slots) + i, name, ("item", i)) for i in range(left)]
            elif left and parameter.kind < STAR:
                slots.append(Slot(len(slots), name))
        return slots


def _spread(each: Input) -> list[Input]:
    """An input as inputs by position: what *args takes, one by one."""
    if each.kind is not STAR:
        return [each if each.kind > STAR else replace(each, kind=BY_POSITION)]
    parts = enumerate(each.tree.items)
    return [Input(Slot(i, each.name, ("item", i)).identifier, part) for i, part in parts]


def free_name(name: str, taken: set[str]) -> str:
    """The name, or the name with a number, that is not taken."""
    found, count = name, 2
    while found in taken:
        found, count = f"{name}_{count}", count + 1
    return found
