"""Steps that are measured by the gradient's own size, averaged over steps: Adam and its kin."""

from __future__ import annotations

from typing import Any

import numpy as np

from s2s_ad.nn.optimizers.optimizer import Optimizer, decayed
from s2s_ad.nn.settings import flag, fraction, positive
from s2s_ad.tensors import Parameter


class Adam(Optimizer):
    """Adam, with the corrections of both averages in the learning rate.

    moment1 and moment2 are the averages of the gradient and of its square; parameter -=
    learning_rate * sqrt(1 - beta2**t) / (1 - beta1**t) * moment1 / (sqrt(moment2) + eps) at step
    t = 1, 2, ...

    Args:
        params: Parameters, or groups of them (see `Optimizer`).
        learning_rate: a number, one for each step, or a schedule.
        beta1, beta2: what the averages keep at each step, between 0 and 1.
        eps: above 0.
        use_locking: accepted, and without a meaning here.
        use_nesterov: let beta1 * moment1 + (1 - beta1) * gradient take the place of moment1.
        weight_decay: what of the parameter is added to its gradient.
        loss_scale: what gradients are divided by.
        use_amsgrad: divide by the largest moment2 that there was.

    Raises:
        ArgumentTypeError, ArgumentValueError: as `Optimizer`.

    Example:
        >>> import s2s_ad as ms
        >>> p = ms.Parameter(ms.Tensor([1.0, 2.0]), name="p")
        >>> Adam([p], learning_rate=0.5)((ms.Tensor([3.0, -4.0]),))
        (True,)
        >>> print(np.round(p.asnumpy(), 4))
        [0.5 2.5]
    """

    def __init__(
        self,
        params: Any,
        learning_rate: Any = 1e-3,
        beta1: float = 0.9,
        beta2: float = 0.999,
        eps: float = 1e-8,
        use_locking: bool = False,
        use_nesterov: bool = False,
        weight_decay: Any = 0.0,
        loss_scale: float = 1.0,
        use_amsgrad: bool = False,
    ):
        super().__init__(learning_rate, params, weight_decay, loss_scale)
        self.beta1 = fraction("Adam", "beta1", beta1)
        self.beta2 = fraction("Adam", "beta2", beta2)
        self.eps = positive("Adam", "eps", eps)
        flag("Adam", "use_locking", use_locking)
        self.use_nesterov = flag("Adam", "use_nesterov", use_nesterov)
        self.use_amsgrad = flag("Adam", "use_amsgrad", use_amsgrad)
        self.beta1_power = Parameter(np.float32(1), name="beta1_power")
        self.beta2_power = Parameter(np.float32(1), name="beta2_power")
        self.moment1 = self.state("moment1")
        self.moment2 = self.state("moment2")
        self.vhat = self.state("vhat") if use_amsgrad else self.moment2

    def construct(self, gradients: Any) -> tuple:
        steps = self.steps(gradients, self.moment1, self.moment2, self.vhat)
        beta1_power, beta2_power = np.asarray(self.beta1_power), np.asarray(self.beta2_power)
        beta1_power *= self.beta1
        beta2_power *= self.beta2
        correction = np.sqrt(1 - beta2_power) / (1 - beta1_power)
        for parameter, gradient, rate, _, moment1, moment2, vhat in steps:
            moment1 += (gradient - moment1) * (1 - self.beta1)
            moment2 += (gradient * gradient - moment2) * (1 - self.beta2)
            if self.use_amsgrad:
                vhat[...] = np.maximum(vhat, moment2)
            if self.use_nesterov:
                moment1 = self.beta1 * moment1 + (1 - self.beta1) * gradient
            parameter -= rate * correction * moment1 / (np.sqrt(vhat) + self.eps)
        return self.done


class AdamWeightDecay(Optimizer):
    """Adam without corrections, whose weight decay is a part of the step, not of the gradient.

    parameter -= learning_rate * (adam_m / (sqrt(adam_v) + eps) + weight_decay * parameter).

    Args:
        params: Parameters, or groups of them (see `Optimizer`).
        learning_rate: a number, one for each step, or a schedule.
        beta1, beta2: what the averages keep at each step, between 0 and 1.
        eps: above 0.
        weight_decay: not negative.

    Raises:
        ArgumentTypeError, ArgumentValueError: as `Optimizer`.

    Example:
        >>> import s2s_ad as ms
        >>> p = ms.Parameter(ms.Tensor([1.0]), name="p")
        >>> AdamWeightDecay([p], 0.5, weight_decay=0.5)((ms.Tensor([0.0]),))
        (True,)
        >>> print(p.asnumpy())
        [0.75]
    """

    def __init__(
        self,
        params: Any,
        learning_rate: Any = 1e-3,
        beta1: float = 0.9,
        beta2: float = 0.999,
        eps: float = 1e-6,
        weight_decay: Any = 0.0,
    ):
        super().__init__(learning_rate, params, weight_decay)
        self.beta1 = fraction("AdamWeightDecay", "beta1", beta1)
        self.beta2 = fraction("AdamWeightDecay", "beta2", beta2)
        self.eps = positive("AdamWeightDecay", "eps", eps)
        self.adam_m = self.state("adam_m")
        self.adam_v = self.state("adam_v")

    def construct(self, gradients: Any) -> tuple:
        for parameter, gradient, rate, decay, m, v in self.steps(
            gradients, self.adam_m, self.adam_v
        ):
            m += (gradient - m) * (1 - self.beta1)
            v += (gradient * gradient - v) * (1 - self.beta2)
            parameter -= rate * decayed(m / (np.sqrt(v) + self.eps), parameter, decay)
        return self.done

    def prepared(self, gradient: Any, parameter: Any, decay: Any) -> Any:
        return gradient


class AdaMax(Optimizer):
    """Adam whose step is measured by the largest gradient, which fades.

    moment2 = max(beta2 * moment2, abs(gradient));
    parameter -= learning_rate / (1 - beta1**t) * moment1 / (moment2 + eps) at step t = 1, 2, ...

    Args:
        params: Parameters, or groups of them (see `Optimizer`).
        learning_rate: a number, one for each step, or a schedule.
        beta1, beta2: what moment1 and moment2 keep at each step, between 0 and 1.
        eps: above 0.
        weight_decay: what of the parameter is added to its gradient.
        loss_scale: what gradients are divided by.

    Raises:
        ArgumentTypeError, ArgumentValueError: as `Optimizer`.

    Example:
        >>> import s2s_ad as ms
        >>> p = ms.Parameter(ms.Tensor([1.0]), name="p")
        >>> AdaMax([p], 0.5)((ms.Tensor([4.0]),))
        (True,)
        >>> print(np.round(p.asnumpy(), 4))
        [0.5]
    """

    def __init__(
        self,
        params: Any,
        learning_rate: Any = 1e-3,
        beta1: float = 0.9,
        beta2: float = 0.999,
        eps: float = 1e-8,
        weight_decay: Any = 0.0,
        loss_scale: float = 1.0,
    ):
        super().__init__(learning_rate, params, weight_decay, loss_scale)
        self.beta1 = fraction("AdaMax", "beta1", beta1)
        self.beta2 = fraction("AdaMax", "beta2", beta2)
        self.eps = positive("AdaMax", "eps", eps)
        self.beta1_power = Parameter(np.float32(1), name="beta1_power")
        self.moment1 = self.state("moment1")
        self.moment2 = self.state("moment2")

    def construct(self, gradients: Any) -> tuple:
        steps = self.steps(gradients, self.moment1, self.moment2)
        beta1_power = np.asarray(self.beta1_power)
        beta1_power *= self.beta1
        for parameter, gradient, rate, _, moment1, moment2 in steps:
            moment1 += (gradient - moment1) * (1 - self.beta1)
            moment2[...] = np.maximum(self.beta2 * moment2, np.abs(gradient))
            parameter -= rate / (1 - beta1_power) * moment1 / (moment2 + self.eps)
        return self.done


class Lamb(Optimizer):
    """Adam whose step is, for each parameter, as long as the parameter times the learning rate.

    With both averages corrected, step = m / (sqrt(v) + eps) + weight_decay * parameter and
    parameter -= learning_rate * norm(parameter) / norm(step) * step; where one of the norms is 0,
    their quotient is taken for 1.

    Args:
        params: Parameters, or groups of them (see `Optimizer`).
        learning_rate: a number, one for each step, or a schedule.
        beta1, beta2: what the averages keep at each step, between 0 and 1.
        eps: above 0.
        weight_decay: not negative.

    Raises:
        ArgumentTypeError, ArgumentValueError: as `Optimizer`.

    Example:
        >>> import s2s_ad as ms
        >>> p = ms.Parameter(ms.Tensor([3.0, 4.0]), name="p")
        >>> Lamb([p], 0.5)((ms.Tensor([0.0, 2.0]),))
        (True,)
        >>> print(p.asnumpy())
        [3.  1.5]
    """

    def __init__(
        self,
        params: Any,
        learning_rate: Any,
        beta1: float = 0.9,
        beta2: float = 0.999,
        eps: float = 1e-6,
        weight_decay: Any = 0.0,
    ):
        super().__init__(learning_rate, params, weight_decay)
        self.beta1 = fraction("Lamb", "beta1", beta1)
        self.beta2 = fraction("Lamb", "beta2", beta2)
        self.eps = positive("Lamb", "eps", eps)
        self.beta1_power = Parameter(np.float32(1), name="beta1_power")
        self.beta2_power = Parameter(np.float32(1), name="beta2_power")
        self.moments1 = self.state("lamb_m")
        self.moments2 = self.state("lamb_v")

    def construct(self, gradients: Any) -> tuple:
        steps = self.steps(gradients, self.moments1, self.moments2)
        beta1_power, beta2_power = np.asarray(self.beta1_power), np.asarray(self.beta2_power)
        beta1_power *= self.beta1
        beta2_power *= self.beta2
        for parameter, gradient, rate, decay, m, v in steps:
            m += (gradient - m) * (1 - self.beta1)
            v += (gradient * gradient - v) * (1 - self.beta2)
            measured = np.sqrt(v / (1 - beta2_power)) + self.eps
            step = decayed(m / (1 - beta1_power) / measured, parameter, decay)
            lengths = np.sqrt(np.sum(parameter**2)), np.sqrt(np.sum(step**2))
            ratio = lengths[0] / lengths[1] if lengths[0] > 0 and lengths[1] > 0 else 1.0
            parameter -= rate * ratio * step
        return self.done

    def prepared(self, gradient: Any, parameter: Any, decay: Any) -> Any:
        return gradient
