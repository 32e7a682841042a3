"""A Cell that gives the value and the gradients of another one."""

from __future__ import annotations

from typing import Any

from s2s_ad import value_and_grad
from s2s_ad.diagnostics import ArgumentTypeError, ArgumentValueError
from s2s_ad.nn.cell import Cell
from s2s_ad.nn.check import shown

__all__ = ["ForwardValueAndGrad"]


class ForwardValueAndGrad(Cell):
    """The value of a network and its gradients: (value, gradients).

    Args:
        network: a Cell or a function.
        weights: the Parameters of which gradients are taken, with `get_by_list`.
        get_all: the gradients of all inputs, as a tuple; without it that of the first.
        get_by_list: the gradients of `weights`, as a tuple: alone, or with `get_all` as
            (gradients of inputs, gradients of weights).
        sens_param: the last argument of a call is the gradient of the output.

    Raises:
        ArgumentTypeError, ArgumentValueError: as `grad`; where weights are asked for and not
            given.

    Example:
        >>> from s2s_ad import Tensor, nn
        >>> line = nn.Dense(2, 1, weight_init="ones", bias_init="zeros")
        >>> both = nn.ForwardValueAndGrad(line, line.trainable_params(), get_by_list=True)
        >>> value, (of_weight, of_bias) = both(Tensor([[1.0, 2.0]]))
        >>> print(value, of_weight, of_bias)
        [[3.]] [[1. 2.]] [1.]
    """

    def __init__(
        self,
        network: Any,
        weights: Any = None,
        get_all: bool = False,
        get_by_list: bool = False,
        sens_param: bool = False,
    ):
        super().__init__(auto_prefix=False)
        for name, value in {"get_all": get_all, "get_by_list": get_by_list}.items():
            if not isinstance(value, bool):
                raise ArgumentTypeError(
                    "S2S501",
                    f"ForwardValueAndGrad: argument {name!r} must be True or False, "
                    f"got {shown(value)}",
                )
        if get_by_list and weights is None:
            raise ArgumentValueError(
                "S2S502",
                "ForwardValueAndGrad(get_by_list=True): argument 'weights' is missing",
                help="pass the parameters: weights=network.trainable_params()",
            )
        position = ... if get_all else None if get_by_list else 0
        chosen = weights if get_by_list else None
        self.network = network
        self.both = value_and_grad(network, position, chosen, sens_param=sens_param)

    def construct(self, *inputs: Any) -> Any:
        return self.both(*inputs)
