"""Steps that are measured by sums or averages of squared gradients: RMSProp, Adagrad, Adadelta."""

from __future__ import annotations

from typing import Any

import numpy as np

from s2s_ad.nn.optimizers.optimizer import Optimizer
from s2s_ad.nn.settings import flag, non_negative, positive, within_unit


class RMSProp(Optimizer):
    """Gradient descent, measured by the root of the average of squared gradients.

    mean_square, which is 1 at first, is the average of the square; moment = momentum * moment
    + learning_rate * gradient / sqrt(mean_square + epsilon); parameter -= moment. `centered` takes
    the square of the average gradient off mean_square.

    Args:
        params: Parameters, or groups of them (see `Optimizer`).
        learning_rate: a number, one for each step, or a schedule.
        decay: what the averages keep at each step, not negative.
        momentum: not negative.
        epsilon: above 0.
        use_locking: accepted, and without a meaning here.
        centered: measure by the standard deviation.
        loss_scale: what gradients are divided by.
        weight_decay: what of the parameter is added to its gradient.

    Raises:
        ArgumentTypeError, ArgumentValueError: as `Optimizer`.

    Example:
        >>> import s2s_ad as ms
        >>> p = ms.Parameter(ms.Tensor([1.0]), name="p")
        >>> RMSProp([p], 0.5)((ms.Tensor([1.0]),))
        (True,)
        >>> print(p.asnumpy())
        [0.5]
    """

    def __init__(
        self,
        params: Any,
        learning_rate: Any = 0.1,
        decay: float = 0.9,
        momentum: float = 0.0,
        epsilon: float = 1e-10,
        use_locking: bool = False,
        centered: bool = False,
        loss_scale: float = 1.0,
        weight_decay: Any = 0.0,
    ):
        super().__init__(learning_rate, params, weight_decay, loss_scale)
        self.decay = non_negative("RMSProp", "decay", decay)
        self.momentum = non_negative("RMSProp", "momentum", momentum)
        self.epsilon = positive("RMSProp", "epsilon", epsilon)
        flag("RMSProp", "use_locking", use_locking)
        self.centered = flag("RMSProp", "centered", centered)
        if centered:
            self.mg = self.state("mean_grad")
        self.ms = self.state("mean_square", 1.0)
        self.moment = self.state("moment")

    def construct(self, gradients: Any) -> tuple:
        states = (self.ms, self.moment, self.mg) if self.centered else (self.ms, self.moment)
        for parameter, gradient, rate, _, mean_square, moment, *mean in self.steps(
            gradients, *states
        ):
            mean_square += (gradient * gradient - mean_square) * (1 - self.decay)
            variance = mean_square
            if self.centered:
                mean_gradient = mean[0]
                mean_gradient += (gradient - mean_gradient) * (1 - self.decay)
                variance = mean_square - mean_gradient * mean_gradient
            moment *= self.momentum
            moment += rate * gradient / np.sqrt(variance + self.epsilon)
            parameter -= moment
        return self.done


class Adagrad(Optimizer):
    """Gradient descent, measured by the root of the sum of squared gradients.

    accum += gradient**2; parameter -= learning_rate * gradient / sqrt(accum).

    Args:
        params: Parameters, or groups of them (see `Optimizer`).
        accum: where the sums begin, not negative.
        learning_rate: a number, one for each step, or a schedule.
        update_slots: whether the sums grow.
        loss_scale: what gradients are divided by.
        weight_decay: what of the parameter is added to its gradient.

    Raises:
        ArgumentTypeError, ArgumentValueError: as `Optimizer`.

    Example:
        >>> import s2s_ad as ms
        >>> p = ms.Parameter(ms.Tensor([1.0]), name="p")
        >>> Adagrad([p], accum=0.0, learning_rate=0.5)((ms.Tensor([4.0]),))
        (True,)
        >>> print(p.asnumpy())
        [0.5]
    """

    def __init__(
        self,
        params: Any,
        accum: float = 0.1,
        learning_rate: Any = 0.001,
        update_slots: bool = True,
        loss_scale: float = 1.0,
        weight_decay: Any = 0.0,
    ):
        super().__init__(learning_rate, params, weight_decay, loss_scale)
        self.update_slots = flag("Adagrad", "update_slots", update_slots)
        self.accum = self.state("accum", non_negative("Adagrad", "accum", accum))

    def construct(self, gradients: Any) -> tuple:
        for parameter, gradient, rate, _, accum in self.steps(gradients, self.accum):
            if self.update_slots:
                accum += gradient * gradient
            parameter -= rate * gradient / np.sqrt(accum)
        return self.done


class Adadelta(Optimizer):
    """Gradient descent, measured by squared gradients and by squared steps.

    step = sqrt(accum_update + epsilon) / sqrt(accum + epsilon) * gradient, where accum and
    accum_update are the averages of gradient**2 and of step**2; parameter -= learning_rate * step.

    Args:
        params: Parameters, or groups of them (see `Optimizer`).
        learning_rate: a number, one for each step, or a schedule.
        rho: what the averages keep at each step, from 0 to 1.
        epsilon: above 0.
        loss_scale: what gradients are divided by.
        weight_decay: what of the parameter is added to its gradient.

    Raises:
        ArgumentTypeError, ArgumentValueError: as `Optimizer`.

    Example:
        >>> import s2s_ad as ms
        >>> p = ms.Parameter(ms.Tensor([1.0]), name="p")
        >>> Adadelta([p], rho=0.0, epsilon=1e-20)((ms.Tensor([1.0]),))
        (True,)
        >>> print(p.asnumpy())
        [1.]
    """

    def __init__(
        self,
        params: Any,
        learning_rate: Any = 1.0,
        rho: float = 0.9,
        epsilon: float = 1e-6,
        loss_scale: float = 1.0,
        weight_decay: Any = 0.0,
    ):
        super().__init__(learning_rate, params, weight_decay, loss_scale)
        self.rho = within_unit("Adadelta", "rho", rho)
        self.epsilon = positive("Adadelta", "epsilon", epsilon)
        self.accum = self.state("accum")
        self.accum_update = self.state("accum_update")

    def construct(self, gradients: Any) -> tuple:
        steps = self.steps(gradients, self.accum, self.accum_update)
        for parameter, gradient, rate, _, accum, accum_update in steps:
            accum += (gradient * gradient - accum) * (1 - self.rho)
            step = np.sqrt(accum_update + self.epsilon) * gradient / np.sqrt(accum + self.epsilon)
            accum_update += (step * step - accum_update) * (1 - self.rho)
            parameter -= rate * step
        return self.done
