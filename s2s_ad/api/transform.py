"""The transforms as values: each says how to derive its program from the program inside."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from dataclasses import dataclass, fields
from typing import Any

from s2s_ad.api.arguments import KEYWORD_ONLY, STAR, Arguments, Slot
from s2s_ad.api.check_arguments import check_differentiable, check_like
from s2s_ad.core import tree
from s2s_ad.core.program import Input, Program
from s2s_ad.diagnostics import ArgumentValueError
from s2s_ad.transforms.common import Target
from s2s_ad.transforms.gradients import cotangent_program, gradient, partition, tangent_program
from s2s_ad.transforms.jacobians import jacobian


@dataclass(frozen=True)
class Transform:
    """One step of a chain. It knows nothing of the function: that is `Transformed`'s to know."""

    def signature(self, inner: inspect.Signature) -> inspect.Signature:
        """The signature of the transformed function."""
        return inner

    def required(self, signature: inspect.Signature) -> list[str]:
        """Parameters that are inputs even where a call leaves them to their defaults."""
        return []

    def check(self, label: str, arguments: Arguments) -> None:
        """Refuse wrong arguments before any work."""

    def inside(self, arguments: Arguments) -> dict[str, Any]:
        """The abstract values that the function inside sees."""
        return arguments.facts

    def loosen(self, arguments: Arguments) -> Arguments:
        """The arguments without what one compilation need not tell apart."""
        return arguments

    def watched(self, arguments: Arguments) -> set[str]:
        """Parameters that matter even where the generated code does not read them."""
        return set()

    def programs(self, program: Program, arguments: Arguments) -> list[Program]:
        """What is derived from the program inside, and others that are compiled with it."""
        raise NotImplementedError

    def options(self) -> str:
        """The options as a repr shows them: those that are not the default."""
        changed = [each for each in fields(self) if getattr(self, each.name) != each.default]
        return "".join(f", {each.name}={getattr(self, each.name)!r}" for each in changed)


@dataclass(frozen=True)
class Jit(Transform):
    """The function itself, simplified and compiled."""

    def programs(self, program: Program, arguments: Arguments) -> list[Program]:
        return [program]


@dataclass(frozen=True)
class Differentiation(Transform):
    """What is common to transforms with positions."""

    grad_position: tuple[int, ...] = (0,)
    has_aux: bool = False

    def required(self, signature: inspect.Signature) -> list[str]:
        slots = list(Arguments(signature, {}).slots())
        return [slot.name for slot in slots if slot.position in self.grad_position]

    def located(self, label: str, arguments: Arguments) -> list[Slot]:
        """The input that each position names.

        Raises:
            ArgumentValueError: there is no such input in this call.
        """
        by_position = {slot.position: slot for slot in arguments.supplied()}
        count = sum(position is not None for position in by_position)
        found = []
        for position in self.grad_position:
            if position not in by_position:
                raise ArgumentValueError(
                    "S2S502",
                    f"{label}: grad_position {position} is out of range: the call has {count} "
                    "inputs",
                )
            found.append(by_position[position])
        return found

    def check(self, label: str, arguments: Arguments) -> None:
        for slot in self.located(label, arguments):
            check_differentiable(label, slot.text, arguments.at(slot))

    def watched(self, arguments: Arguments) -> set[str]:
        return {slot.name for slot in self.located("", arguments)}

    def targets(self, program: Program, arguments: Arguments) -> list[Target]:
        trees = {each.name: each.tree for each in program.inputs}
        return [
            Target(slot.position, slot.name, trees[slot.name])
            if slot.step is None
            else Target(
                slot.position, f"{slot.name}_{slot.step[1]}", trees[slot.name].get(slot.step[1])
            )
            for slot in self.located(program.name, arguments)
        ]

    @property
    def bare(self) -> bool:
        """A single position gives its result itself, not a tuple of one."""
        return len(self.grad_position) == 1

    def options(self) -> str:
        shown = super().options()
        return shown.replace(f"{self.grad_position!r}", f"{self.grad_position[0]}", int(self.bare))


@dataclass(frozen=True)
class Grad(Differentiation):
    """grad, and value_and_grad: then with the value."""

    return_ids: bool = False

    with_value = False

    def programs(self, program: Program, arguments: Arguments) -> list[Program]:
        made = gradient(
            program,
            self.targets(program, arguments),
            bare=self.bare,
            with_value=self.with_value,
            has_aux=self.has_aux,
            return_ids=self.return_ids,
        )
        return [made]


@dataclass(frozen=True)
class ValueAndGrad(Grad):
    """value_and_grad."""

    with_value = True


@dataclass(frozen=True)
class Jacobian(Differentiation):
    """jacfwd, and jacrev: then by reverse mode."""

    reverse = False

    def programs(self, program: Program, arguments: Arguments) -> list[Program]:
        targets = self.targets(program, arguments)
        made = jacobian(
            program, targets, bare=self.bare, has_aux=self.has_aux, reverse=self.reverse
        )
        return [made]


@dataclass(frozen=True)
class JacobianByRows(Jacobian):
    """jacrev."""

    reverse = True


@dataclass(frozen=True)
class Jvp(Transform):
    """The first `count` inputs and a tangent for each -> (output, its tangent[, aux])."""

    count: int
    has_aux: bool = False

    def signature(self, inner: inspect.Signature) -> inspect.Signature:
        """The inputs by position, their tangents, and the parameters left to their defaults."""
        primals = self._primals(inner)
        names = [_joined(slot) for slot in primals]
        taken = [*inner.parameters, *names]
        for name in names[:]:
            names.append(_free(f"{name}_dot", taken))
            taken.append(names[-1])
        by_position = inspect.Parameter.POSITIONAL_OR_KEYWORD
        parameters = [inspect.Parameter(name, by_position) for name in names]
        rest = inner.parameters.keys() - {slot.name for slot in primals}
        for name, parameter in inner.parameters.items():
            if name in rest and parameter.kind != STAR:
                kind = parameter.kind if parameter.kind > KEYWORD_ONLY else KEYWORD_ONLY
                parameters.append(parameter.replace(kind=kind))
        return inspect.Signature(parameters)

    def _primals(self, inner: inspect.Signature) -> list[Slot]:
        """The inputs of the function inside that have a tangent."""
        slots: list[Slot] = []
        for name, parameter in inner.parameters.items():
            left = self.count - len(slots)
            if parameter.kind is STAR:
                slots += [Slot(None, name, ("item", i)) for i in range(left)]
            elif left and parameter.kind < STAR:
                slots.append(Slot(None, name))
        return slots

    def inside(self, arguments: Arguments) -> dict[str, Any]:
        raise NotImplementedError
