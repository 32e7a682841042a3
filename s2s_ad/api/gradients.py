"""Gradients as values: of which inputs and parameters, with what nesting, for which adjoint."""

from __future__ import annotations

import inspect
from dataclasses import dataclass
from typing import Any

from s2s_ad.api.arguments import KEYWORD_ONLY, STAR, Arguments, SensParameter, sens_of
from s2s_ad.api.check_arguments import check_adjoint
from s2s_ad.api.transform import BY_POSITION, Differentiation, free_name
from s2s_ad.api.weights import Weights
from s2s_ad.core import tree
from s2s_ad.core.program import Program
from s2s_ad.transforms.common import pair, split_aux
from s2s_ad.transforms.gradients import gradient
from s2s_ad.transforms.seeds import Sens


@dataclass(frozen=True)
class Grad(Differentiation):
    """grad, value_and_grad and GradOperation: the gradients of inputs, then those of weights."""

    takes_lists = True

    weights: Weights | None = None
    with_value: bool = False
    return_ids: bool = False
    sens_param: bool = False

    def programs(self, program: Program, arguments: Arguments) -> list[Program]:
        sens = self._sens(program, arguments)
        wanted: list[Any] = []
        if self.positions:
            targets = self.targets(program, self._own(arguments))
            wanted.append(targets[0] if self.bare else pair(*targets))
        if self.weights is not None:
            program, parameters = self.weights.of(program)
            wanted.append(parameters)
        made = gradient(
            program,
            wanted[0] if len(wanted) == 1 else pair(*wanted),
            with_value=self.with_value,
            has_aux=self.has_aux,
            return_ids=self.return_ids,
            sens=sens,
        )
        return [made]

    def options(self) -> str:
        shown = super().options() if self.positions else ", grad_position=None"
        shown += f", weights={self.weights!r}" if self.weights is not None else ""
        shown += ", return_ids=True" if self.return_ids else ""
        return shown + (", sens_param=True" if self.sens_param else "")

    # ---- sens_param: the adjoint of the output is the last argument

    def signature(self, inner: inspect.Signature) -> inspect.Signature:
        """With the adjoint behind the inputs; where there may be more of these, by name."""
        if not self.sens_param:
            return inner
        parameters = [_plain(each) for each in inner.parameters.values()]
        kind = KEYWORD_ONLY if any(map(_may_be_left_out, parameters)) else BY_POSITION
        index = sum(each.kind <= kind for each in parameters)
        parameters.insert(index, SensParameter(free_name("sens", {*inner.parameters}), kind))
        return inspect.Signature(parameters)

    def advice(self) -> str:
        text = "sens_param=True: the last argument must be the gradient of the output"
        return text if self.sens_param else ""

    def inside(self, arguments: Arguments, inner: inspect.Signature) -> Arguments:
        return Arguments(inner, self._own(arguments).facts)

    def required(self, signature: inspect.Signature) -> list[str]:
        return super().required(self._own(Arguments(signature, {})).signature)

    def check(self, label: str, arguments: Arguments) -> None:
        super().check(label, self._own(arguments))

    def watched(self, arguments: Arguments) -> set[str]:
        sens = sens_of(arguments.signature)
        return super().watched(self._own(arguments)) | ({sens.name} if sens else set())

    def _own(self, arguments: Arguments) -> Arguments:
        """What the function inside is called with."""
        if not self.sens_param:
            return arguments
        sens = sens_of(arguments.signature)
        parameters = arguments.signature.parameters.values()
        signature = inspect.Signature([each for each in parameters if each is not sens])
        return Arguments(
            signature, {k: v for k, v in arguments.facts.items() if k in signature.parameters}
        )

    def _sens(self, program: Program, arguments: Arguments) -> Sens | None:
        if not self.sens_param:
            return None
        sens = sens_of(arguments.signature)
        output, _ = split_aux(program, self.has_aux)
        label = "value_and_grad" if self.with_value else "grad"
        like = tree.tree_map(program.fact, output)
        fact = arguments.facts[sens.name]
        check_adjoint(label, sens.name, fact, f"the output of {program.name}", like)
        return Sens(label, sens.name, fact, sens.kind)


def _plain(parameter: inspect.Parameter) -> inspect.Parameter:
    """The sens of a gradient inside is an input like any other."""
    return inspect.Parameter(parameter.name, parameter.kind, default=parameter.default)


def _may_be_left_out(parameter: inspect.Parameter) -> bool:
    by_position = parameter.kind < STAR and parameter.default is not parameter.empty
    return by_position or parameter.kind is STAR
