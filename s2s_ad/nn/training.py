"""Cells around a network: its loss, its evaluation, and one step of its training."""

from __future__ import annotations

from typing import Any

import numpy as np

from s2s_ad import value_and_grad
from s2s_ad.nn.cell import Cell, check_cell
from s2s_ad.nn.check import wrong_type
from s2s_ad.nn.optimizers.optimizer import Optimizer
from s2s_ad.nn.scales import adjust_scale, finite, times
from s2s_ad.nn.settings import at_least_one, count, flag, number
from s2s_ad.tensors import Parameter, Tensor


class WithLossCell(Cell):
    """The loss of a network: `loss_fn(backbone(data), label)`.

    Args:
        backbone: the network, a Cell.
        loss_fn: a function or Cell of the network's output and the label.

    Raises:
        ArgumentTypeError: `backbone` is no Cell, `loss_fn` cannot be called.

    Example:
        >>> from s2s_ad import Tensor, nn
        >>> loss = nn.WithLossCell(nn.Dense(2, 1, "ones", "zeros"), nn.MSELoss())
        >>> print(loss(Tensor([[1.0, 2.0]]), Tensor([[5.0]])))
        4.0
    """

    def __init__(self, backbone: Cell, loss_fn: Any):
        super().__init__(auto_prefix=False)
        check_cell("WithLossCell", "backbone", backbone)
        _check_callable("WithLossCell", "loss_fn", loss_fn)
        self._backbone = backbone
        self._loss_fn = loss_fn

    def construct(self, data: Any, label: Any) -> Any:
        return self._loss_fn(self._backbone(data), label)

    @property
    def backbone_network(self) -> Cell:
        """The network."""
        return self._backbone


class WithEvalCell(Cell):
    """What evaluation needs of a network: `(loss, outputs, label)`.

    Args:
        network: the network, a Cell.
        loss_fn: a function or Cell of the network's output and the label, or None: then no loss is
            computed, and the result is `(outputs, label)`.
        add_cast_fp32: cast outputs and label to float32 before the loss.

    Raises:
        ArgumentTypeError: an argument is of the wrong kind.

    Example:
        >>> from s2s_ad import Tensor, nn
        >>> evaluate = nn.WithEvalCell(nn.Dense(2, 1, "ones", "zeros"), nn.MSELoss())
        >>> loss, outputs, label = evaluate(Tensor([[1.0, 2.0]]), Tensor([[5.0]]))
        >>> print(loss, outputs, label)
        4.0 [[3.]] [[5.]]
    """

    def __init__(self, network: Cell, loss_fn: Any, add_cast_fp32: bool = False):
        super().__init__(auto_prefix=False)
        check_cell("WithEvalCell", "network", network)
        if loss_fn is not None:
            _check_callable("WithEvalCell", "loss_fn", loss_fn)
        self._network = network
        self._loss_fn = loss_fn
        self.add_cast_fp32 = flag("WithEvalCell", "add_cast_fp32", add_cast_fp32)

    def construct(self, data: Any, label: Any) -> tuple:
        outputs = self._network(data)
        if self.add_cast_fp32:
            outputs, label = outputs.astype(np.float32), label.astype(np.float32)
        if self._loss_fn is None:
            return outputs, label
        return self._loss_fn(outputs, label), outputs, label


class TrainOneStepCell(Cell):
    """One step of training: `network(*inputs)`, its gradient, and the optimizer's step.

    Args:
        network: a Cell that gives the loss, as `WithLossCell` does; of several outputs, or one that
            is not a number, the sum of all elements is what is made smaller.
        optimizer: an Optimizer; the gradient is that of its parameters.
        sens: what the gradient is multiplied by.
        return_grad: give (loss, {name of a parameter: gradient}) instead of the loss.

    Raises:
        ArgumentTypeError: an argument is of the wrong kind.

    Example:
        >>> from s2s_ad import Tensor, nn
        >>> net = nn.Dense(1, 1, "ones", has_bias=False)
        >>> optimizer = nn.SGD(net.trainable_params(), learning_rate=0.25)
        >>> step = nn.TrainOneStepCell(nn.WithLossCell(net, nn.MSELoss()), optimizer)
        >>> [step(Tensor([[1.0]]), Tensor([[3.0]])).item() for _ in range(3)]
        [4.0, 1.0, 0.25]
    """

    def __init__(
        self,
        network: Cell,
        optimizer: Optimizer,
        sens: float | None = None,
        return_grad: bool = False,
    ):
        super().__init__(auto_prefix=False)
        api = type(self).__name__
        check_cell(api, "network", network)
        if not isinstance(optimizer, Optimizer):
            raise wrong_type(api, "optimizer", optimizer, "an Optimizer, as nn.SGD(...)")
        self.network = network.set_grad()
        self.optimizer = optimizer
        self.weights = optimizer.parameters
        self.sens = 1.0 if sens is None else number(api, "sens", sens)
        self.return_grad = flag(api, "return_grad", return_grad)
        self.grad_fn = value_and_grad(network, None, self.weights)

    def construct(self, *inputs: Any) -> Any:
        loss, grads = self.grad_fn(*inputs)
        if self.sens != 1:
            grads = times(grads, self.sens)
        self.optimizer(grads)
        if self.return_grad:
            return loss, {each.name: grad for each, grad in zip(self.weights, grads, strict=True)}
        return loss


class TrainOneStepWithLossScaleCell(Cell):
    """One step of training with a scaled loss, left out where a gradient is not finite.

    The gradient is that of the loss times the scale, and divided by the scale before the optimizer
    is called.

    Args:
        network: a Cell that gives the loss.
        optimizer: an Optimizer.
        scale_sense: the scale, a Tensor of one number; or a Cell that says how it changes, as
            `DynamicLossScaleUpdateCell`.

    Returns:
        Of a call: (loss, whether the step was left out, the scale that it was computed with).

    Raises:
        ArgumentTypeError: an argument is of the wrong kind.

    Example:
        >>> from s2s_ad import Tensor, nn
        >>> net = nn.Dense(1, 1, "ones", has_bias=False)
        >>> optimizer = nn.SGD(net.trainable_params(), learning_rate=0.25)
        >>> loss = nn.WithLossCell(net, nn.MSELoss())
        >>> manager = nn.DynamicLossScaleUpdateCell(8.0, scale_factor=2, scale_window=1)
        >>> step = nn.TrainOneStepWithLossScaleCell(loss, optimizer, manager)
        >>> for x in (1.0, float("inf"), 1.0):
        ...     loss, overflow, scale = step(Tensor([[x]]), Tensor([[3.0]]))
        ...     print(loss, overflow, scale)
        4.0 False 8.0
        inf True 16.0
        1.0 False 8.0
    """

    def __init__(self, network: Cell, optimizer: Optimizer, scale_sense: Any):
        super().__init__(auto_prefix=False)
        api = "TrainOneStepWithLossScaleCell"
        check_cell(api, "network", network)
        if not isinstance(optimizer, Optimizer):
            raise wrong_type(api, "optimizer", optimizer, "an Optimizer, as nn.SGD(...)")
        self.network = network.set_grad()
        self.optimizer = optimizer
        self.weights = optimizer.parameters
        self.manager = scale_sense if isinstance(scale_sense, Cell) else None
        first = scale_sense if self.manager is None else scale_sense.get_loss_scale()
        self.scale_sense = Parameter(_one_number(api, first), name="scale_sense")
        self.grad_fn = value_and_grad(self.scaled_loss, None, self.weights, has_aux=True)

    def scaled_loss(self, *inputs: Any) -> tuple:
        """The loss times the scale, and the loss."""
        loss = self.network(*inputs)
        return times(loss, self.scale_sense), loss

    def construct(self, *inputs: Any) -> tuple:
        scale = Tensor(np.copy(self.scale_sense))
        (_, loss), grads = self.grad_fn(*inputs)
        grads = times(grads, 1 / scale)
        is_finite = finite(grads)
        if is_finite:
            self.optimizer(grads)
        if self.manager is not None:
            self.manager(self.scale_sense, np.logical_not(is_finite))
        return loss, Tensor(np.logical_not(is_finite)), scale

    def set_sense_scale(self, sens: Any) -> None:
        """Set the scale."""
        self.scale_sense.set_data(Tensor(_one_number("set_sense_scale", sens)))


class DynamicLossScaleUpdateCell(Cell):
    """How a loss scale changes: it grows after steps with finite gradients, and shrinks otherwise.

    Args:
        loss_scale_value: the scale at first, at least 1.
        scale_factor: what it is multiplied or divided by.
        scale_window: after how many steps with finite gradients in a row it grows.

    Raises:
        ArgumentTypeError, ArgumentValueError: a number is of the wrong kind or out of its range.
    """

    def __init__(self, loss_scale_value: float, scale_factor: int, scale_window: int):
        super().__init__()
        api = "DynamicLossScaleUpdateCell"
        self.loss_scale_value = at_least_one(api, "loss_scale_value", loss_scale_value)
        self.scale_factor = count(api, "scale_factor", scale_factor)
        self.scale_window = count(api, "scale_window", scale_window)
        self.counter = Parameter(np.int32(0), name="counter")

    def get_loss_scale(self) -> float:
        """The scale at first."""
        return self.loss_scale_value

    def construct(self, loss_scale: Parameter, overflow: Any) -> Any:
        """Change `loss_scale` in place; gives `overflow` back."""
        is_finite = np.logical_not(overflow)
        adjust_scale(loss_scale, self.counter, is_finite, self.scale_factor, self.scale_window)
        return overflow


class FixedLossScaleUpdateCell(Cell):
    """A loss scale that stays as it is.

    Args:
        loss_scale_value: the scale.

    Raises:
        ArgumentTypeError, ArgumentValueError: it is no number of at least 1.
    """

    def __init__(self, loss_scale_value: float):
        super().__init__()
        self.loss_scale_value = at_least_one(
            "FixedLossScaleUpdateCell", "loss_scale_value", loss_scale_value
        )

    def get_loss_scale(self) -> float:
        """The scale."""
        return self.loss_scale_value

    def construct(self, loss_scale: Parameter, overflow: Any) -> Any:
        """Give `overflow` back."""
        return overflow


def _check_callable(api: str, name: str, value: Any) -> None:
    if not callable(value):
        raise wrong_type(api, name, value, "a Cell or a function")


def _one_number(api: str, scale: Any) -> np.ndarray:
    if not isinstance(scale, np.ndarray | float) or np.size(scale) != 1:
        raise wrong_type(api, "scale_sense", scale, "a Tensor of one number, or a Cell")
    return np.reshape(np.asarray(scale, np.float32), ())


__all__ = [
    "DynamicLossScaleUpdateCell",
    "FixedLossScaleUpdateCell",
    "TrainOneStepCell",
    "TrainOneStepWithLossScaleCell",
    "WithEvalCell",
    "WithLossCell",
]
