"""`weights=`: the Parameters with respect to which a function is differentiated."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Set
from typing import Any

import numpy as np

from s2s_ad.api.check_arguments import shown
from s2s_ad.core.builder import Symbol
from s2s_ad.core.program import Program
from s2s_ad.core.tree import Tree
from s2s_ad.diagnostics import ArgumentTypeError, ArgumentValueError
from s2s_ad.tensors import Parameter, plain
from s2s_ad.transforms.common import Target, pair
from s2s_ad.transforms.parameters import with_parameters

WANTED = "a Parameter, or a list, tuple or ParameterTuple of Parameters"


class Weights:
    """Parameters, told apart by identity; `bare`: one that was given by itself."""

    def __init__(self, parameters: Iterable[Parameter], bare: bool = False):
        self.parameters, self.bare = tuple(parameters), bare

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Weights) and self._key() == other._key()

    def __hash__(self) -> int:
        return hash(self._key())

    def _key(self) -> tuple:
        return (self.bare, *map(id, self.parameters))

    def __repr__(self) -> str:
        names = [repr(each.name) for each in self.parameters]
        return names[0] if self.bare else f"[{', '.join(names)}]"

    def __reduce__(self) -> tuple:
        raise ArgumentTypeError(
            "S2S501",
            f"a gradient with respect to {self!r} cannot be pickled or copied",
            why="which parameters those are is known by their identity, which a copy does not have",
            help="make it again from the function and its parameters",
        )

    def __deepcopy__(self, memo: dict[int, Any]) -> Weights:
        """The copies of these, where what reads them was copied before."""
        if not all(id(each) in memo for each in self.parameters):
            self.__reduce__()
        return Weights([memo[id(each)] for each in self.parameters], self.bare)

    def check_names(self, api: str) -> None:
        """Where names tell them apart, no two of them may have the same."""
        by_name = {each.name: each for each in self.parameters}
        for i, each in enumerate(self.parameters):
            if by_name[each.name] is not each:
                raise ArgumentValueError(
                    "S2S502",
                    f"{api}: return_ids=True, and weights[{i}] has the name {each.name!r} of "
                    "another Parameter",
                    help="give each Parameter a name of its own",
                )

    def of(self, program: Program) -> tuple[Program, Target | Tree]:
        """The program with each of them as a captured leaf, and what they are in it."""
        program, targets = with_parameters(program, self.parameters)
        return program, targets[0] if self.bare else pair(*targets)


def check_weights(api: str, weights: Any) -> Weights | None:
    """What `weights` names, in its order.

    Raises:
        ArgumentTypeError: something in it is no Parameter of floating-point numbers.
    """
    if weights is None:
        return None
    if isinstance(weights, Parameter):
        return Weights([_checked(api, "weights", weights)], bare=True)
    if isinstance(weights, str | bytes | Mapping | Set | np.ndarray) or not _is_iterable(weights):
        raise ArgumentTypeError(
            "S2S501",
            f"{api}: argument 'weights' must be {WANTED}, got {shown(weights)}",
            help=_advice(weights),
        )
    items = enumerate(weights)
    return Weights([_checked(api, f"weights[{i}]", each) for i, each in items])


def _is_iterable(value: Any) -> bool:
    other = isinstance(value, Symbol) or hasattr(value, "trainable_params")
    return isinstance(value, Iterable) and not other


def _advice(weights: Any) -> str:
    if hasattr(weights, "trainable_params"):
        return "it is a Cell; did you mean weights=net.trainable_params()?"
    if isinstance(weights, Mapping):
        return "pass a list of its values"
    if isinstance(weights, Set):
        return "sets have no order; pass a list"
    if isinstance(weights, np.ndarray | Symbol):
        return "an input is named by grad_position; what a model has is a Parameter"
    return ""


def _checked(api: str, label: str, value: Any) -> Parameter:
    if not isinstance(value, Parameter):
        raise ArgumentTypeError("S2S501", f"{api}: {label} must be a Parameter, got {shown(value)}")
    dtype = plain(value).dtype
    if dtype.kind not in "fc":
        raise ArgumentTypeError(
            "S2S303",
            f"{api}: {label} ({value.name}) has dtype {dtype}; gradients need floating-point "
            "numbers",
            help="leave it out, or make it a Parameter of floats",
        )
    return value
