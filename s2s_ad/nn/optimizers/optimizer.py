"""What all optimizers share: parameters, learning rates, weight decay, and the count of steps."""

from __future__ import annotations

import functools
from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np

from s2s_ad.diagnostics import ArgumentValueError
from s2s_ad.nn.cell import Cell
from s2s_ad.nn.check import wrong_type, wrong_value
from s2s_ad.nn.optimizers.groups import GRADIENTS, Member, members, miscounted, misshapen
from s2s_ad.nn.optimizers.schedules import LearningRateSchedule
from s2s_ad.nn.settings import non_negative, positive
from s2s_ad.tensors import Parameter, ParameterTuple

ARRAYS = (np.ndarray, np.generic)
SEQUENCES = (tuple, list)
#: parts of the names of parameters that are not decayed, unless they came in groups
NOT_DECAYED = ("beta", "gamma")
RATES = "a number, a list or a Tensor with one for each step, or a LearningRateSchedule"
#: bytes: arrays above 32 MB teach that allocator nothing
LARGEST_KEPT = 31 << 20
ENDED = "give as many learning rates as there are steps"


@functools.cache
def keep_freed_memory() -> None:
    """Let the process keep the memory that arrays free, for those of the next step.

    A step frees arrays as large as the parameters. The allocator of the GNU C library gives such
    memory back to the system, and every step then pays for its pages again, which takes as long as
    the arithmetic. It stops that for arrays up to the size of the largest that was ever freed: so
    free one. Its pages are never touched.
    """
    np.empty(LARGEST_KEPT, np.uint8)


class Constant(NamedTuple):
    """A setting that no schedule changes: a number, or a Parameter that may be set."""

    value: Any


class RatePerStep(LearningRateSchedule):
    """The learning rates of a list, one for each step."""

    def __init__(self, rates: np.ndarray, name: str):
        super().__init__()
        self.rates = Parameter(rates, name=name)
        self.ended = f"{name}: there is a rate for each of {len(rates)} steps, and this is one more"

    def construct(self, global_step: Any) -> Any:
        rates = np.asarray(self.rates)
        if np.max(global_step) >= len(rates):
            raise ArgumentValueError("S2S502", self.ended, help=ENDED)
        return rates[np.asarray(global_step)]


class Optimizer(Cell):
    """Base of the optimizers: called with the gradients of `parameters`, it changes these in place.

    Args:
        learning_rate: a number; a list or 1-D Tensor with one for each step; or a schedule.
        parameters: Parameters, or groups: dicts with 'params' and, where a group differs, 'lr',
            'weight_decay' and 'grad_centralization'. One more dict {'order_params': parameters} may
            say in which order the gradients come.
        weight_decay: what is added to the gradient for each unit of the parameter, or a Cell that
            gives it at a step. Without groups, it leaves out the parameters with 'beta' or 'gamma'
            in their names.
        loss_scale: what gradients are divided by, before weight decay.

    Attributes:
        parameters: ParameterTuple of the parameters, in the order of the gradients.
        learning_rate: Parameter or schedule; with groups that set their own, one a parameter.
        global_step: Parameter of shape (1,), the number of steps taken.

    A subclass says in `construct` what happens to each parameter; `steps` gives it what it needs.

    Raises:
        ArgumentTypeError: an argument is of the wrong kind; the gradients are too many or too few.
        ArgumentValueError: a number out of its range, no parameters, one given twice; the gradient
            of a parameter has another shape.
    """

    def __init__(
        self, learning_rate: Any, parameters: Any, weight_decay: Any = 0.0, loss_scale: float = 1.0
    ):
        super().__init__(auto_prefix=False)
        keep_freed_memory()
        api = type(self).__name__
        found, grouped = members(api, parameters)
        self.loss_scale = positive(api, "loss_scale", loss_scale)
        self.is_scaled = loss_scale != 1
        self.global_step = Parameter(np.zeros(1, np.int32), name="global_step")
        self._set_rates(api, found, learning_rate)
        self.parameters = ParameterTuple(member.parameter for member in found)
        default = _decay(api, weight_decay)
        self._decays = tuple(_decay_of(api, each, default, grouped) for each in found)
        self._centralized = tuple(member.centralized for member in found)
        self._misshapen = tuple(misshapen(api, member.parameter) for member in found)
        self.done = (True,) * len(found)

    def _set_rates(self, api: str, found: list[Member], learning_rate: Any) -> None:
        """The learning rate of each parameter: that of its group, or else that of all."""
        own = {each.group: each.learning_rate for each in found if each.learning_rate is not None}
        groups = [each.group if each.group in own else None for each in found]
        rates = {group: _rate(api, group, own.get(group, learning_rate)) for group in groups}
        self._rates = tuple(rates[group] for group in groups)
        self.is_group_lr = bool(own)
        held = {group: getattr(each, "value", each) for group, each in rates.items()}
        for group, each in held.items():
            self._register(_name(group), each)
        given = tuple(held[group] for group in groups) if own else held[None]
        object.__setattr__(self, "learning_rate", given)

    def state(self, prefix: str, value: float = 0.0) -> ParameterTuple:
        """A Parameter 'prefix.name' beside each parameter, of its shape and dtype."""
        return ParameterTuple(
            Parameter(np.full(each.shape, value, np.asarray(each).dtype), f"{prefix}.{each.name}")
            for each in self.parameters
        )

    def get_lr(self) -> Any:
        """The learning rate of the next step; with groups that set their own, one a parameter."""
        if self.is_group_lr:
            return tuple(at(each, self.global_step) for each in self._rates)
        return at(self._rates[0], self.global_step)

    def get_lr_parameter(self, param: Any) -> Any:
        """The learning rate of a parameter, or of each in a list: the Parameter that holds it.

        Raises:
            ArgumentValueError: it is no parameter of the optimizer.
        """
        if not isinstance(param, Parameter):
            return [self.get_lr_parameter(each) for each in param]
        where = [i for i, each in enumerate(self.parameters) if each is param]
        if not where:
            raise wrong_value(
                "get_lr_parameter", "param", param.name, "one of optimizer.parameters"
            )
        rate = self._rates[where[0]]
        return rate.rates if isinstance(rate, RatePerStep) else getattr(rate, "value", rate)

    def steps(self, gradients: Any, *states: ParameterTuple) -> list[tuple]:
        """(parameter, gradient, learning rate, weight decay, states...) of each parameter.

        All are arrays, those of parameters and states in their memory. Counts the step.
        """
        given = gradients if isinstance(gradients, SEQUENCES) else (gradients,)
        if len(given) != len(self.parameters):
            raise miscounted(type(self).__name__, len(given), len(self.parameters))
        rate = np.asarray(at(self._rates[0], self.global_step))
        found = []
        for i, (parameter, gradient) in enumerate(zip(self.parameters, given, strict=True)):
            decay = at(self._decays[i], self.global_step)
            value, slope = np.asarray(parameter), np.asarray(gradient)
            if slope.shape != value.shape:
                raise ArgumentValueError("S2S502", self._misshapen[i], help=GRADIENTS)
            if self._centralized[i]:
                slope = slope - np.mean(slope, axis=tuple(range(1, slope.ndim)), keepdims=True)
            if self.is_group_lr:
                rate = np.asarray(at(self._rates[i], self.global_step))
            own = [np.asarray(state[i]) for state in states]
            found.append((value, self.prepared(slope, value, decay), rate, decay, *own))
        global_step = np.asarray(self.global_step)
        global_step += 1
        return found

    def prepared(self, gradient: Any, parameter: Any, decay: Any) -> Any:
        """The gradient that the rule is given: divided by the loss scale, with weight decay."""
        unscaled = gradient * (1 / self.loss_scale) if self.is_scaled else gradient
        return decayed(unscaled, parameter, decay)


def decayed(gradient: Any, parameter: Any, decay: Any) -> Any:
    """The gradient with that of `decay / 2 * parameter**2` added; `decay` may be None."""
    return gradient if decay is None else gradient + decay * parameter


def at(setting: Constant | Cell, global_step: Any) -> Any:
    """What a learning rate or a weight decay is at a step."""
    if isinstance(setting, Constant):
        return setting.value
    return np.reshape(np.asarray(setting(global_step)), ())


def _name(group: int | None) -> str:
    return "learning_rate" if group is None else f"learning_rate_group_{group}"


def _rate(api: str, group: int | None, given: Any) -> Constant | Cell:
    """A learning rate as it was given, as what holds it."""
    if isinstance(given, Cell):
        return given
    if isinstance(given, bool | str | dict) or given is None:
        raise wrong_type(api, "learning_rate", given, RATES)
    if isinstance(given, int | float):
        given = np.float32(non_negative(api, "learning_rate", given))
    elif not isinstance(given, np.generic | Iterable):
        raise wrong_type(api, "learning_rate", given, RATES)
    rates = np.array(given if isinstance(given, ARRAYS) else list(given), np.float32)
    if rates.ndim > 1 or rates.size == 0:
        raise wrong_value(api, "learning_rate", given, RATES)
    for rate in rates.ravel().tolist():
        non_negative(api, "learning_rate", rate)
    if rates.ndim:
        return RatePerStep(rates, _name(group))
    return Constant(Parameter(rates, name=_name(group)))


def _decay(api: str, given: Any) -> Constant | Cell:
    """A weight decay as it was given, as what holds it; None for none at all."""
    if isinstance(given, Cell):
        return given
    return Constant(non_negative(api, "weight_decay", given) or None)


def _decay_of(api: str, member: Member, default: Any, grouped: bool) -> Constant | Cell:
    if member.weight_decay is not None:
        return _decay(api, member.weight_decay)
    kept = not grouped and any(part in member.parameter.name for part in NOT_DECAYED)
    return Constant(None) if kept else default
