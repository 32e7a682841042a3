"""Optimizers, and the learning rates and schedules that they take."""

from s2s_ad.nn.optimizers.adam import Adam, AdaMax, AdamWeightDecay, Lamb
from s2s_ad.nn.optimizers.optimizer import Optimizer
from s2s_ad.nn.optimizers.rates import (
    cosine_decay_lr,
    exponential_decay_lr,
    inverse_decay_lr,
    natural_exp_decay_lr,
    piecewise_constant_lr,
    polynomial_decay_lr,
    warmup_lr,
)
from s2s_ad.nn.optimizers.scaled import Adadelta, Adagrad, RMSProp
from s2s_ad.nn.optimizers.schedules import (
    CosineDecayLR,
    ExponentialDecayLR,
    InverseDecayLR,
    LearningRateSchedule,
    NaturalExpDecayLR,
    PolynomialDecayLR,
    WarmUpLR,
)
from s2s_ad.nn.optimizers.sgd import SGD, Momentum

__all__ = [
    "SGD",
    "AdaMax",
    "Adadelta",
    "Adagrad",
    "Adam",
    "AdamWeightDecay",
    "CosineDecayLR",
    "ExponentialDecayLR",
    "InverseDecayLR",
    "Lamb",
    "LearningRateSchedule",
    "Momentum",
    "NaturalExpDecayLR",
    "Optimizer",
    "PolynomialDecayLR",
    "RMSProp",
    "WarmUpLR",
    "cosine_decay_lr",
    "exponential_decay_lr",
    "inverse_decay_lr",
    "natural_exp_decay_lr",
    "piecewise_constant_lr",
    "polynomial_decay_lr",
    "warmup_lr",
]
