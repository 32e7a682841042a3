"""Learning rates as functions of the step, for optimizers to ask at each."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from s2s_ad.nn.cell import Cell
from s2s_ad.nn.optimizers.rates import refuse_crossed
from s2s_ad.nn.settings import count, flag, non_negative, positive


class LearningRateSchedule(Cell):
    """Base of schedules: `construct(global_step)` gives the learning rate at a step, from 0 on.

    Example:
        >>> class Halving(LearningRateSchedule):
        ...     def construct(self, global_step):
        ...         return 0.1 / 2**global_step
        >>> float(Halving()(2))
        0.025
    """


class ExponentialDecayLR(LearningRateSchedule):
    """`learning_rate * decay_rate**(step / decay_steps)`; `is_stair` rounds the exponent down."""

    def __init__(
        self, learning_rate: float, decay_rate: float, decay_steps: int, is_stair: bool = False
    ):
        super().__init__()
        _keep(self, learning_rate, decay_rate, decay_steps, is_stair)

    def construct(self, global_step: Any) -> Any:
        decayed = _decayed(global_step, self.decay_steps, self.is_stair)
        return self.learning_rate * np.float32(self.decay_rate) ** decayed


class NaturalExpDecayLR(LearningRateSchedule):
    """`learning_rate * exp(-decay_rate * step)`; `is_stair` takes multiples of `decay_steps`."""

    def __init__(
        self, learning_rate: float, decay_rate: float, decay_steps: int, is_stair: bool = False
    ):
        super().__init__()
        _keep(self, learning_rate, decay_rate, decay_steps, is_stair)

    def construct(self, global_step: Any) -> Any:
        decayed = _decayed(global_step, self.decay_steps, self.is_stair)
        return self.learning_rate * np.exp(-self.decay_rate * self.decay_steps * decayed)


class InverseDecayLR(LearningRateSchedule):
    """`learning_rate / (1 + decay_rate * step / decay_steps)`; `is_stair` rounds the quotient."""

    def __init__(
        self, learning_rate: float, decay_rate: float, decay_steps: int, is_stair: bool = False
    ):
        super().__init__()
        _keep(self, learning_rate, decay_rate, decay_steps, is_stair)

    def construct(self, global_step: Any) -> Any:
        decayed = _decayed(global_step, self.decay_steps, self.is_stair)
        return self.learning_rate / (1 + self.decay_rate * decayed)


class CosineDecayLR(LearningRateSchedule):
    """Half a cosine from `max_lr` down to `min_lr` in `decay_steps` steps, then `min_lr`."""

    def __init__(self, min_lr: float, max_lr: float, decay_steps: int):
        super().__init__()
        refuse_crossed("CosineDecayLR", min_lr, max_lr)
        self.min_lr, self.max_lr = min_lr, max_lr
        self.decay_steps = count("CosineDecayLR", "decay_steps", decay_steps)

    def construct(self, global_step: Any) -> Any:
        done = np.minimum(_single(global_step) / self.decay_steps, 1)
        return self.min_lr + 0.5 * (self.max_lr - self.min_lr) * (1 + np.cos(math.pi * done))


class PolynomialDecayLR(LearningRateSchedule):
    """`(learning_rate - end) * (1 - step / decay_steps)**power + end`, then `end_learning_rate`.

    With `update_decay_steps` the decay begins anew, over `decay_steps` more, each time they are
    over.
    """

    def __init__(
        self,
        learning_rate: float,
        end_learning_rate: float,
        decay_steps: int,
        power: float,
        update_decay_steps: bool = False,
    ):
        super().__init__()
        api = "PolynomialDecayLR"
        self.learning_rate = positive(api, "learning_rate", learning_rate)
        self.end_learning_rate = non_negative(api, "end_learning_rate", end_learning_rate)
        self.decay_steps = count(api, "decay_steps", decay_steps)
        self.power = positive(api, "power", power)
        self.update_decay_steps = flag(api, "update_decay_steps", update_decay_steps)

    def construct(self, global_step: Any) -> Any:
        step = _single(global_step)
        rounds = np.maximum(np.ceil(step / self.decay_steps), 1) if self.update_decay_steps else 1
        left = 1 - np.minimum(step / (self.decay_steps * rounds), 1)
        span = self.learning_rate - self.end_learning_rate
        return span * left**self.power + self.end_learning_rate


class WarmUpLR(LearningRateSchedule):
    """From 0 up to `learning_rate` in `warmup_steps` steps, evenly, then `learning_rate`."""

    def __init__(self, learning_rate: float, warmup_steps: int):
        super().__init__()
        self.learning_rate = non_negative("WarmUpLR", "learning_rate", learning_rate)
        self.warmup_steps = count("WarmUpLR", "warmup_steps", warmup_steps)

    def construct(self, global_step: Any) -> Any:
        return self.learning_rate * np.minimum(_single(global_step) / self.warmup_steps, 1)


def _keep(
    cell: Any, learning_rate: float, decay_rate: float, decay_steps: int, is_stair: bool
) -> None:
    """The arguments that three of the schedules share."""
    api = type(cell).__name__
    cell.learning_rate = positive(api, "learning_rate", learning_rate)
    cell.decay_rate = positive(api, "decay_rate", decay_rate)
    cell.decay_steps = count(api, "decay_steps", decay_steps)
    cell.is_stair = flag(api, "is_stair", is_stair)


def _single(step: Any) -> Any:
    """The step as a float32: what a rate is made of."""
    return np.asarray(step).astype(np.float32)


def _decayed(step: Any, steps: int, is_stair: bool) -> Any:
    """How many times a rate has decayed."""
    return np.floor(_single(step) / steps) if is_stair else _single(step) / steps
