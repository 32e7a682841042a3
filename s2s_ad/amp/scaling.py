"""Loss scaling: factors that keep small gradients of float16 from vanishing, and their test."""

from __future__ import annotations

from typing import Any

import numpy as np

from s2s_ad.nn.check import wrong_type
from s2s_ad.nn.scales import adjust_scale, finite, times
from s2s_ad.nn.settings import at_least_one, count
from s2s_ad.tensors import Parameter, Tensor

#: what tells whether gradients are finite
TRUTHS = (bool, np.bool_, np.ndarray)


class LossScaler:
    """Base of the loss scalers: a factor that the loss is multiplied by, and gradients divided by.

    Attributes:
        scale_value: Parameter of float32, the factor.
    """

    scale_value: Parameter

    def scale(self, inputs: Any) -> Any:
        """`inputs` times the factor: a Tensor, a number, or tuples and lists of these.

        Each keeps its dtype: what float16 cannot hold becomes infinite.
        """
        return times(inputs, self.scale_value)

    def unscale(self, inputs: Any) -> Any:
        """`inputs` divided by the factor: a Tensor, a number, or tuples and lists of these."""
        return times(inputs, 1 / self.scale_value)

    def adjust(self, grads_finite: Any) -> bool:
        """Learn whether the last gradients were finite; whether the factor follows that."""
        raise NotImplementedError(f"{type(self).__name__} has no adjust method")


class StaticLossScaler(LossScaler):
    """A factor that stays as it is.

    Args:
        scale_value: the factor, at least 1.

    Raises:
        ArgumentTypeError, ArgumentValueError: it is no number, or below 1.

    Example:
        >>> from s2s_ad import Tensor
        >>> scaler = StaticLossScaler(1024.0)
        >>> print(scaler.scale(Tensor(0.5)))
        512.0
        >>> scaler.unscale((Tensor([512.0, 0.0]),))
        (Tensor(shape=[2], dtype=Float32, value= [ 5.00000000e-01,  0.00000000e+00]),)
    """

    def __init__(self, scale_value: float):
        self.scale_value = _factor("StaticLossScaler", "scale_value", scale_value)

    def adjust(self, grads_finite: Any) -> bool:
        """False: nothing changes."""
        return False


class DynamicLossScaler(LossScaler):
    """A factor that grows while gradients are finite and shrinks when they are not.

    Args:
        scale_value: the factor at first, at least 1.
        scale_factor: what it is multiplied or divided by.
        scale_window: after how many steps with finite gradients in a row it grows.

    Attributes:
        counter: Parameter of int32, the steps with finite gradients since the factor changed.

    Raises:
        ArgumentTypeError, ArgumentValueError: `scale_factor` or `scale_window` is no int above 0,
            `scale_value` no number of at least 1.

    Example:
        >>> import s2s_ad as ms
        >>> scaler = DynamicLossScaler(scale_value=8, scale_factor=2, scale_window=2)
        >>> for finite in (True, True, False, False):
        ...     _ = scaler.adjust(ms.Tensor(finite))
        ...     print(scaler.scale_value.asnumpy(), scaler.counter.asnumpy())
        8.0 1
        16.0 0
        8.0 0
        4.0 0
    """

    def __init__(self, scale_value: float, scale_factor: int, scale_window: int):
        api = "DynamicLossScaler"
        self.scale_value = _factor(api, "scale_value", scale_value)
        self.scale_factor = count(api, "scale_factor", scale_factor)
        self.scale_window = count(api, "scale_window", scale_window)
        self.counter = Parameter(np.int32(0), name="counter")

    def adjust(self, grads_finite: Any) -> bool:
        """Let the factor follow `grads_finite`, a bool or a Tensor of one; True.

        It grows only as long as float32 can hold it, and never falls below 1.

        Raises:
            ArgumentTypeError: `grads_finite` is something else.
        """
        if not isinstance(grads_finite, TRUTHS):
            raise wrong_type("adjust", "grads_finite", grads_finite, "a bool or a Tensor of one")
        adjust_scale(
            self.scale_value, self.counter, grads_finite, self.scale_factor, self.scale_window
        )
        return True


def all_finite(inputs: Any) -> Tensor:
    """Whether no element of any Tensor is infinite or nan, as a Tensor of one bool.

    Args:
        inputs: a Tensor, or tuples and lists of Tensors, as `grad` gives them; of none it is True.

    Example:
        >>> from s2s_ad import Tensor
        >>> print(all_finite((Tensor([1.0, 2.0]), Tensor(float("inf")))))
        False
    """
    return Tensor(finite(inputs))


def _factor(api: str, name: str, value: Any) -> Parameter:
    return Parameter(np.float32(at_least_one(api, name, value)), name=name)
