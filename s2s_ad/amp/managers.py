"""Loss scales as the older API has them: what gives `TrainOneStepWithLossScaleCell` its scale."""

from __future__ import annotations

from s2s_ad.nn import DynamicLossScaleUpdateCell, FixedLossScaleUpdateCell
from s2s_ad.nn.settings import at_least_one, count, flag


class FixedLossScaleManager:
    """A loss scale that stays as it is.

    Args:
        loss_scale: at least 1.
        drop_overflow_update: whether a step is left out where a gradient is not finite.

    Raises:
        ArgumentTypeError, ArgumentValueError: an argument is of the wrong kind, or below 1.

    Example:
        >>> FixedLossScaleManager(1024.0).get_loss_scale()
        1024.0
    """

    def __init__(self, loss_scale: float = 128.0, drop_overflow_update: bool = True):
        api = "FixedLossScaleManager"
        self._loss_scale = at_least_one(api, "loss_scale", loss_scale)
        self._drop = flag(api, "drop_overflow_update", drop_overflow_update)

    def get_loss_scale(self) -> float:
        """The scale."""
        return self._loss_scale

    def get_drop_overflow_update(self) -> bool:
        """Whether a step is left out where a gradient is not finite."""
        return self._drop

    def update_loss_scale(self, overflow: bool) -> None:
        """Nothing changes."""

    def get_update_cell(self) -> FixedLossScaleUpdateCell | None:
        """The Cell for `TrainOneStepWithLossScaleCell`; None where no step is left out."""
        return FixedLossScaleUpdateCell(self._loss_scale) if self._drop else None


class DynamicLossScaleManager:
    """A loss scale that grows while gradients are finite and shrinks when they are not.

    Args:
        init_loss_scale: the scale at first, at least 1.
        scale_factor: what it is multiplied or divided by.
        scale_window: after how many steps with finite gradients in a row it grows.

    Raises:
        ArgumentTypeError, ArgumentValueError: an argument is of the wrong kind or out of its range.

    Example:
        >>> manager = DynamicLossScaleManager(8.0, scale_factor=2, scale_window=2)
        >>> for overflow in (False, False, True):
        ...     manager.update_loss_scale(overflow)
        ...     print(manager.get_loss_scale())
        8.0
        16.0
        8.0
    """

    def __init__(
        self, init_loss_scale: float = 2.0**24, scale_factor: int = 2, scale_window: int = 2000
    ):
        api = "DynamicLossScaleManager"
        self._loss_scale = at_least_one(api, "init_loss_scale", init_loss_scale)
        self._scale_factor = count(api, "scale_factor", scale_factor)
        self._scale_window = count(api, "scale_window", scale_window)
        self._finite_steps = 0

    def get_loss_scale(self) -> float:
        """The scale now."""
        return self._loss_scale

    def get_drop_overflow_update(self) -> bool:
        """True: a step is left out where a gradient is not finite."""
        return True

    def update_loss_scale(self, overflow: bool) -> None:
        """Learn whether a gradient was not finite."""
        self._finite_steps = 0 if overflow else self._finite_steps + 1
        if overflow:
            self._loss_scale = max(self._loss_scale / self._scale_factor, 1.0)
        elif self._finite_steps == self._scale_window:
            self._loss_scale, self._finite_steps = self._loss_scale * self._scale_factor, 0

    def get_update_cell(self) -> DynamicLossScaleUpdateCell:
        """The Cell for `TrainOneStepWithLossScaleCell`."""
        return DynamicLossScaleUpdateCell(self._loss_scale, self._scale_factor, self._scale_window)
