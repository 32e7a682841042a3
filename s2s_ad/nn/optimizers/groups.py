"""The parameters of an optimizer in groups: which belong to it, and what a group sets for them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

from s2s_ad.diagnostics import ArgumentTypeError, ArgumentValueError
from s2s_ad.nn.check import wrong_type
from s2s_ad.tensors import Parameter

KEYS = ("params", "lr", "weight_decay", "grad_centralization", "order_params")
PARAMETERS = "Parameters, as net.trainable_params() gives them, or group dicts with a key 'params'"
GRADIENTS = "call it with the gradients of optimizer.parameters, in their order"


class Member(NamedTuple):
    """A parameter with what its group sets; None where the group leaves it to the optimizer."""

    parameter: Parameter
    group: int
    learning_rate: Any
    weight_decay: Any
    centralized: bool


def members(api: str, params: Any) -> tuple[list[Member], bool]:
    """The parameters in order, and whether they came in groups.

    Raises:
        ArgumentTypeError: `params` is not an iterable of Parameters, or of dicts.
        ArgumentValueError: it is empty, names a parameter twice, or a group has an unknown key.
    """
    given = _listed(api, "params", params)
    grouped = all(isinstance(each, dict) for each in given)
    if grouped:
        found = _ordered(api, given)
    else:
        found = [Member(_parameter(api, "params", p), 0, None, None, False) for p in given]
    _refuse_twice(api, [member.parameter for member in found])
    return found, grouped


def _ordered(api: str, groups: list[dict]) -> list[Member]:
    orders = [group for group in groups if "order_params" in group]
    groups = [group for group in groups if "order_params" not in group]
    found = [member for i, group in enumerate(groups) for member in _of_group(api, i, group)]
    if not orders:
        return found
    where = {id(member.parameter): member for member in found}
    order = _listed(api, "order_params", orders[0]["order_params"])
    if len(orders) > 1 or len(orders[0]) > 1 or set(map(id, order)) != set(where):
        raise ArgumentValueError(
            "S2S502",
            f"{api}: 'order_params' does not name the parameters of the groups, each once",
            help="give one dict {'order_params': net.trainable_params()} beside the groups",
        )
    return [where[id(parameter)] for parameter in order]


def _of_group(api: str, index: int, group: dict) -> list[Member]:
    unknown = [key for key in group if key not in KEYS]
    if unknown or "params" not in group:
        what = f"has no key {unknown[0]!r}" if unknown else "needs the key 'params'"
        known = ", ".join(map(repr, KEYS))
        raise ArgumentValueError("S2S502", f"{api}: group {index} {what}", help=f"keys: {known}")
    name = f"params[{index}]['params']"
    settings = group.get("lr"), group.get("weight_decay"), bool(group.get("grad_centralization"))
    given = _listed(api, name, group["params"])
    return [Member(_parameter(api, name, each), index, *settings) for each in given]


def _listed(api: str, name: str, given: Any) -> list:
    if isinstance(given, Parameter) or not isinstance(given, Iterable):
        raise wrong_type(api, name, given, f"a list of {PARAMETERS}")
    found = list(given)
    if not found:
        raise ArgumentValueError(
            "S2S502",
            f"{api}: argument {name!r} is empty; expected a list of {PARAMETERS}",
            help="has the network parameters with requires_grad=True?",
        )
    return found


def _parameter(api: str, name: str, each: Any) -> Parameter:
    if not isinstance(each, Parameter):
        raise wrong_type(api, name, each, f"a list of {PARAMETERS}, not of both")
    return each


def _refuse_twice(api: str, parameters: list[Parameter]) -> None:
    seen: dict[str, Parameter] = {}
    for each in parameters:
        if each.name in seen:
            which = "is given twice" if seen[each.name] is each else "names two parameters"
            raise ArgumentValueError(
                "S2S502",
                f"{api}: parameter {each.name!r} {which}",
                help="each parameter belongs to one group; give the others names of their own",
            )
        seen[each.name] = each


def miscounted(api: str, gradients: int, parameters: int) -> ArgumentTypeError:
    """The error for gradients that are more or fewer than the parameters."""
    counted = f"{gradients} gradient{'' if gradients == 1 else 's'}"
    return ArgumentTypeError(
        "S2S501",
        f"{api}: got {counted} for {parameters} parameter{'' if parameters == 1 else 's'}",
        help=GRADIENTS,
    )


def misshapen(api: str, parameter: Parameter) -> str:
    """What is wrong with a gradient that has not the shape of its parameter."""
    return f"{api}: the gradient of {parameter.name!r} has not its shape, {parameter.shape}"
