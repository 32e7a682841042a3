"""Gradient descent: SGD and Momentum."""

from __future__ import annotations

from typing import Any

import numpy as np

from s2s_ad.diagnostics import ArgumentValueError
from s2s_ad.nn.optimizers.optimizer import Optimizer
from s2s_ad.nn.settings import flag, non_negative
from s2s_ad.tensors import Parameter


class SGD(Optimizer):
    """Stochastic gradient descent, with momentum and damping.

    accum = momentum * accum + (1 - dampening) * gradient; parameter -= learning_rate * accum,
    where the first step takes the gradient itself for `accum`. `nesterov` goes along
    gradient + momentum * accum. Without momentum it goes along the gradient.

    Args:
        params: Parameters, or groups of them (see `Optimizer`).
        learning_rate: a number, one for each step, or a schedule.
        momentum, dampening: not negative; `nesterov` needs a momentum and no dampening.
        weight_decay: what of the parameter is added to its gradient.
        loss_scale: what gradients are divided by.

    Raises:
        ArgumentTypeError, ArgumentValueError: as `Optimizer`; `nesterov` with dampening.

    Example:
        >>> import s2s_ad as ms
        >>> p = ms.Parameter(ms.Tensor([1.0, 2.0]), name="p")
        >>> SGD([p], learning_rate=0.5)((ms.Tensor([1.0, -1.0]),))
        (True,)
        >>> print(p.asnumpy())
        [0.5 2.5]
    """

    def __init__(
        self,
        params: Any,
        learning_rate: Any = 0.1,
        momentum: float = 0.0,
        dampening: float = 0.0,
        weight_decay: Any = 0.0,
        nesterov: bool = False,
        loss_scale: float = 1.0,
    ):
        super().__init__(learning_rate, params, weight_decay, loss_scale)
        moving = non_negative("SGD", "momentum", momentum) > 0
        self.dampening = non_negative("SGD", "dampening", dampening)
        self.nesterov = flag("SGD", "nesterov", nesterov)
        if nesterov and (not moving or dampening):
            raise ArgumentValueError(
                "S2S502",
                "SGD: nesterov=True needs momentum above 0 and dampening 0, "
                f"got momentum={momentum!r}, dampening={dampening!r}",
            )
        self.momentum = Parameter(np.float32(momentum), name="momentum")
        self.accum = self.state("accum")
        self.stat = self.state("stat", 1.0)
        self.is_moving, self.is_damped = moving, dampening > 0

    def construct(self, gradients: Any) -> tuple:
        momentum = np.asarray(self.momentum)
        steps = self.steps(gradients, self.accum, self.stat)
        for parameter, gradient, rate, _, accum, stat in steps:
            if self.is_moving:
                accum *= momentum
                accum += damped(gradient, self.dampening, stat) if self.is_damped else gradient
                stat[...] = 0
                gradient = gradient + momentum * accum if self.nesterov else accum
            parameter -= rate * gradient
        return self.done


def damped(gradient: Any, dampening: float, stat: Any) -> Any:
    """The gradient less its damped part, which the first step does not have: `stat` is 1 there."""
    return gradient * (1 - dampening * (1 - stat))


class Momentum(Optimizer):
    """Gradient descent with momentum.

    moments = momentum * moments + gradient; parameter -= learning_rate * moments. `use_nesterov`
    goes along gradient + momentum * moments.

    Args:
        params: Parameters, or groups of them (see `Optimizer`).
        learning_rate: a number, one for each step, or a schedule.
        momentum: not negative.
        weight_decay: what of the parameter is added to its gradient.
        loss_scale: what gradients are divided by.

    Raises:
        ArgumentTypeError, ArgumentValueError: as `Optimizer`.

    Example:
        >>> import s2s_ad as ms
        >>> p = ms.Parameter(ms.Tensor([1.0]), name="p")
        >>> optimizer = Momentum([p], learning_rate=0.5, momentum=0.5)
        >>> optimizer((ms.Tensor([1.0]),)), optimizer((ms.Tensor([1.0]),))
        ((True,), (True,))
        >>> print(p.asnumpy())
        [-0.25]
    """

    def __init__(
        self,
        params: Any,
        learning_rate: Any,
        momentum: float,
        weight_decay: Any = 0.0,
        loss_scale: float = 1.0,
        use_nesterov: bool = False,
    ):
        super().__init__(learning_rate, params, weight_decay, loss_scale)
        self.momentum = Parameter(
            np.float32(non_negative("Momentum", "momentum", momentum)), name="momentum"
        )
        self.use_nesterov = flag("Momentum", "use_nesterov", use_nesterov)
        self.moments = self.state("moments")

    def construct(self, gradients: Any) -> tuple:
        momentum = np.asarray(self.momentum)
        for parameter, gradient, rate, _, moments in self.steps(gradients, self.moments):
            moments *= momentum
            moments += gradient
            parameter -= rate * (gradient + momentum * moments if self.use_nesterov else moments)
        return self.done
