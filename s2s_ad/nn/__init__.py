"""Cells, layers, losses and optimizers, all plain NumPy code."""

from s2s_ad.nn import (
    activations,
    attention,
    basic,
    containers,
    convolution,
    distributed,
    initializers,
    losses,
    normalization,
    optimizers,
    pooling,
    recurrent,
    training,
    value_and_grad,
)
from s2s_ad.nn.activations import *  # noqa: F403
from s2s_ad.nn.attention import *  # noqa: F403
from s2s_ad.nn.basic import *  # noqa: F403
from s2s_ad.nn.cell import Cell
from s2s_ad.nn.containers import *  # noqa: F403
from s2s_ad.nn.convolution import *  # noqa: F403
from s2s_ad.nn.distributed import *  # noqa: F403
from s2s_ad.nn.losses import *  # noqa: F403
from s2s_ad.nn.normalization import *  # noqa: F403
from s2s_ad.nn.optimizers import *  # noqa: F403
from s2s_ad.nn.pooling import *  # noqa: F403
from s2s_ad.nn.recurrent import *  # noqa: F403
from s2s_ad.nn.training import *  # noqa: F403
from s2s_ad.nn.value_and_grad import *  # noqa: F403

__all__ = [
    "Cell",
    "initializers",
    *activations.__all__,
    *attention.__all__,
    *basic.__all__,
    *containers.__all__,
    *convolution.__all__,
    *distributed.__all__,
    *losses.__all__,
    *normalization.__all__,
    *optimizers.__all__,
    *pooling.__all__,
    *recurrent.__all__,
    *training.__all__,
    *value_and_grad.__all__,
]
