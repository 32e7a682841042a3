"""Cells, layers, losses and optimizers, all plain NumPy code."""

from s2s_ad.nn import activations, basic, containers, initializers, losses, optimizers
from s2s_ad.nn.activations import *  # noqa: F403
from s2s_ad.nn.basic import *  # noqa: F403
from s2s_ad.nn.cell import Cell
from s2s_ad.nn.containers import *  # noqa: F403
from s2s_ad.nn.losses import *  # noqa: F403
from s2s_ad.nn.optimizers import *  # noqa: F403

__all__ = [
    "Cell",
    "initializers",
    *activations.__all__,
    *basic.__all__,
    *containers.__all__,
    *losses.__all__,
    *optimizers.__all__,
]
