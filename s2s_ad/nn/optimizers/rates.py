"""Learning rates for each step, as lists: one number a step, by the epoch that the step is in."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from s2s_ad.diagnostics import ArgumentValueError
from s2s_ad.nn.check import wrong_type, wrong_value
from s2s_ad.nn.settings import count, flag, non_negative, positive


def exponential_decay_lr(
    learning_rate: float,
    decay_rate: float,
    total_step: int,
    step_per_epoch: int,
    decay_epoch: int,
    is_stair: bool = False,
) -> list[float]:
    """`learning_rate * decay_rate**(epoch / decay_epoch)` for each of `total_step` steps.

    `is_stair` rounds the exponent down, so that the rate changes every `decay_epoch` epochs.

    Example:
        >>> exponential_decay_lr(0.5, 0.5, 4, 2, 1)
        [0.5, 0.5, 0.25, 0.25]
    """
    api = "exponential_decay_lr"
    decayed = _checked(api, learning_rate, decay_rate, decay_epoch, is_stair)
    return _by_epoch(
        api, total_step, step_per_epoch, lambda e: learning_rate * decay_rate ** decayed(e)
    )


def natural_exp_decay_lr(
    learning_rate: float,
    decay_rate: float,
    total_step: int,
    step_per_epoch: int,
    decay_epoch: int,
    is_stair: bool = False,
) -> list[float]:
    """`learning_rate * exp(-decay_rate * epoch)` for each of `total_step` steps.

    `is_stair` takes the last multiple of `decay_epoch` for the epoch.

    Example:
        >>> [round(each, 4) for each in natural_exp_decay_lr(1.0, 0.5, 4, 2, 2)]
        [1.0, 1.0, 0.6065, 0.6065]
    """
    api = "natural_exp_decay_lr"
    _checked(api, learning_rate, decay_rate, decay_epoch, is_stair)

    def rate(epoch: int) -> float:
        reached = epoch // decay_epoch * decay_epoch if is_stair else epoch
        return learning_rate * math.exp(-decay_rate * reached)

    return _by_epoch(api, total_step, step_per_epoch, rate)


def inverse_decay_lr(
    learning_rate: float,
    decay_rate: float,
    total_step: int,
    step_per_epoch: int,
    decay_epoch: int,
    is_stair: bool = False,
) -> list[float]:
    """`learning_rate / (1 + decay_rate * epoch / decay_epoch)` for each of `total_step` steps.

    Example:
        >>> inverse_decay_lr(1.0, 1.0, 4, 2, 1)
        [1.0, 1.0, 0.5, 0.5]
    """
    api = "inverse_decay_lr"
    decayed = _checked(api, learning_rate, decay_rate, decay_epoch, is_stair)
    return _by_epoch(
        api, total_step, step_per_epoch, lambda e: learning_rate / (1 + decay_rate * decayed(e))
    )


def cosine_decay_lr(
    min_lr: float, max_lr: float, total_step: int, step_per_epoch: int, decay_epoch: int
) -> list[float]:
    """Half a cosine from `max_lr` down to `min_lr` in `decay_epoch` epochs, then `min_lr`.

    Example:
        >>> [round(each, 2) for each in cosine_decay_lr(0.0, 1.0, 6, 2, 2)]
        [1.0, 1.0, 0.5, 0.5, 0.0, 0.0]
    """
    api = "cosine_decay_lr"
    refuse_crossed(api, min_lr, max_lr)
    count(api, "decay_epoch", decay_epoch)

    def rate(epoch: int) -> float:
        done = min(epoch, decay_epoch) / decay_epoch
        return min_lr + 0.5 * (max_lr - min_lr) * (1 + math.cos(math.pi * done))

    return _by_epoch(api, total_step, step_per_epoch, rate)


def polynomial_decay_lr(
    learning_rate: float,
    end_learning_rate: float,
    total_step: int,
    step_per_epoch: int,
    decay_epoch: int,
    power: float,
    update_decay_epoch: bool = False,
) -> list[float]:
    """`(learning_rate - end) * (1 - epoch / decay_epoch)**power + end`, then `end_learning_rate`.

    With `update_decay_epoch` the decay begins anew, over one more `decay_epoch`, each time that
    these are over.

    Example:
        >>> polynomial_decay_lr(1.0, 0.0, 6, 2, 2, 1.0)
        [1.0, 1.0, 0.5, 0.5, 0.0, 0.0]
    """
    api = "polynomial_decay_lr"
    positive(api, "learning_rate", learning_rate)
    non_negative(api, "end_learning_rate", end_learning_rate)
    positive(api, "power", power)
    count(api, "decay_epoch", decay_epoch)
    flag(api, "update_decay_epoch", update_decay_epoch)

    def rate(epoch: int) -> float:
        rounds = max(math.ceil(epoch / decay_epoch), 1) if update_decay_epoch else 1
        over = decay_epoch * rounds
        left = 1 - min(epoch, over) / over
        return (learning_rate - end_learning_rate) * left**power + end_learning_rate

    return _by_epoch(api, total_step, step_per_epoch, rate)


def warmup_lr(
    learning_rate: float, total_step: int, step_per_epoch: int, warmup_epoch: int
) -> list[float]:
    """From 0 up to `learning_rate` in `warmup_epoch` epochs, evenly, then `learning_rate`.

    Example:
        >>> warmup_lr(1.0, 6, 2, 2)
        [0.0, 0.0, 0.5, 0.5, 1.0, 1.0]
    """
    api = "warmup_lr"
    non_negative(api, "learning_rate", learning_rate)
    count(api, "warmup_epoch", warmup_epoch)
    return _by_epoch(
        api,
        total_step,
        step_per_epoch,
        lambda epoch: learning_rate * min(epoch, warmup_epoch) / warmup_epoch,
    )


def piecewise_constant_lr(milestone: Sequence[int], learning_rates: Sequence[float]) -> list[float]:
    """`learning_rates[i]` for the steps before `milestone[i]` that no earlier milestone covers.

    Example:
        >>> piecewise_constant_lr([2, 3], [0.1, 0.01])
        [0.1, 0.1, 0.01]
    """
    api = "piecewise_constant_lr"
    for name, given in (("milestone", milestone), ("learning_rates", learning_rates)):
        if not isinstance(given, list | tuple):
            raise wrong_type(api, name, given, "a list or a tuple")
    if len(milestone) != len(learning_rates):
        raise ArgumentValueError(
            "S2S502",
            f"{api}: got {len(milestone)} milestones and {len(learning_rates)} learning rates",
            help="give one learning rate for each milestone",
        )
    rates: list[float] = []
    for i, (end, rate) in enumerate(zip(milestone, learning_rates, strict=True)):
        non_negative(api, f"learning_rates[{i}]", rate)
        if count(api, f"milestone[{i}]", end) <= len(rates):
            raise wrong_value(api, f"milestone[{i}]", end, f"an int above milestone[{i - 1}]")
        rates += [rate] * (end - len(rates))
    return rates


def refuse_crossed(api: str, min_lr: float, max_lr: float) -> None:
    """Both rates are numbers and the larger is the larger."""
    non_negative(api, "min_lr", min_lr)
    positive(api, "max_lr", max_lr)
    if max_lr <= min_lr:
        raise wrong_value(api, "max_lr", max_lr, f"a number above min_lr = {min_lr!r}")


def _checked(
    api: str, learning_rate: float, decay_rate: float, decay_epoch: int, is_stair: bool
) -> Callable[[int], float]:
    """How many times the rate has decayed at an epoch, once the arguments make sense."""
    positive(api, "learning_rate", learning_rate)
    positive(api, "decay_rate", decay_rate)
    count(api, "decay_epoch", decay_epoch)
    if flag(api, "is_stair", is_stair):
        return lambda epoch: epoch // decay_epoch
    return lambda epoch: epoch / decay_epoch


def _by_epoch(
    api: str, total_step: int, step_per_epoch: int, rate: Callable[[int], float]
) -> list[float]:
    count(api, "step_per_epoch", step_per_epoch)
    return [rate(i // step_per_epoch) for i in range(count(api, "total_step", total_step))]
