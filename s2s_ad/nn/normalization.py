"""Layers that bring their inputs to mean 0 and variance 1."""

from __future__ import annotations

from typing import Any

import numpy as np

from s2s_ad import ops
from s2s_ad.nn import check
from s2s_ad.nn.cell import Cell
from s2s_ad.nn.parameters import parameter


class _BatchNorm(Cell):
    """(x - mean) / sqrt(variance + eps) * gamma + beta, for each item of axis 1.

    In training, mean and variance are those of the batch, and the running ones move towards them:
    `moving = momentum * moving + (1 - momentum) * batch`, with the unbiased variance. Otherwise
    they are the running ones. Where chunks of a batch are computed apart (`data_parallel`), each
    has its own mean and variance, and the running values go towards the means of these.

    Args:
        num_features: the length of axis 1.
        eps: what is added to the variance.
        momentum: how much of the running values stays, in [0, 1].
        affine: whether gamma and beta are learned.
        gamma_init, beta_init, moving_mean_init, moving_var_init: initial values.
        use_batch_statistics: True or False for these statistics always; None as in training.
        dtype: the dtype of the parameters.
    """

    RANKS: tuple[int, ...] = ()

    def __init__(
        self,
        num_features: int,
        eps: float = 1e-5,
        momentum: float = 0.9,
        affine: bool = True,
        gamma_init: Any = "ones",
        beta_init: Any = "zeros",
        moving_mean_init: Any = "zeros",
        moving_var_init: Any = "ones",
        use_batch_statistics: bool | None = None,
        data_format: str = "NCHW",
        dtype: Any = np.float32,
    ):
        super().__init__()
        name, shape = type(self).__name__, (num_features,)
        check.positive_int(name, num_features=num_features)
        check.number(name, eps=eps, momentum=momentum)
        check.flag(name, affine=affine)
        check.choice(name, "data_format", data_format, ("NCHW",))
        if not 0 <= momentum <= 1:
            raise check.wrong_value(name, "momentum", momentum, "a number in [0, 1]")
        if use_batch_statistics is not None:
            check.flag(name, use_batch_statistics=use_batch_statistics)
        self.num_features, self.eps, self.momentum = num_features, eps, momentum
        self.use_batch_statistics, self.affine = use_batch_statistics, affine
        running = (
            (name, "moving_mean", moving_mean_init),
            (name, "moving_variance", moving_var_init),
        )
        self.moving_mean, self.moving_variance = (
            parameter(*each, shape, dtype, requires_grad=False) for each in running
        )
        self.moving_mean.over_chunks = self.moving_variance.over_chunks = "mean"
        self.gamma = parameter(name, "gamma_init", gamma_init, shape, dtype, affine)
        self.beta = parameter(name, "beta_init", beta_init, shape, dtype, affine)

    def construct(self, x: Any) -> Any:
        self._check(x)
        if not (self.training if self.use_batch_statistics is None else self.use_batch_statistics):
            mean, variance = along(self.moving_mean, x), along(self.moving_variance, x)
            return self._scaled(x - mean, variance)
        axes = (0, *range(2, x.ndim))
        mean = np.mean(x, axis=axes, keepdims=True)
        centred = x - mean
        variance = np.mean(np.square(centred), axis=axes, keepdims=True)
        if self.training:
            count = x.size // self.num_features
            self._move(self.moving_mean, mean)
            self._move(self.moving_variance, variance * (count / max(count - 1, 1)))
        return self._scaled(centred, variance)

    def _check(self, x: Any) -> None:
        if x.ndim not in self.RANKS:
            expected = " or ".join(map(str, self.RANKS))
            raise check.wrong_value(type(self).__name__, "x", x, f"an array of {expected} axes")
        check.axis_length(type(self).__name__, x, 1, self.num_features)

    def _move(self, running: Any, batch: Any) -> None:
        """Let a running value go towards that of the batch."""
        running.set_data(self.momentum * running + (1 - self.momentum) * batch.ravel())

    def _scaled(self, centred: Any, variance: Any) -> Any:
        normalized = centred / np.sqrt(variance + self.eps)
        return along(self.gamma, centred) * normalized + along(self.beta, centred)

    def extend_repr(self) -> str:
        return f"num_features={self.num_features}, eps={self.eps}, momentum={self.momentum}"


def along(values: Any, x: Any) -> Any:
    """Values by channel, in a shape that goes along axis 1 of x."""
    return np.expand_dims(values, (0, *range(2, x.ndim)))


class BatchNorm1d(_BatchNorm):
    """Batch normalisation of (n, channels) or (n, channels, length).

    Example:
        >>> from s2s_ad import Tensor, nn
        >>> norm = nn.BatchNorm1d(1, eps=0.0).set_train()
        >>> print(norm(Tensor([[1.0], [3.0]])))
        [[-1.]
         [ 1.]]
        >>> print(norm.moving_mean)
        Parameter (name=moving_mean, shape=(1,), dtype=Float32, requires_grad=False)
    """

    RANKS = (2, 3)


class BatchNorm2d(_BatchNorm):
    """Batch normalisation of (n, channels, height, width)."""

    RANKS = (4,)


class BatchNorm3d(_BatchNorm):
    """Batch normalisation of (n, channels, depth, height, width)."""

    RANKS = (5,)


class LayerNorm(Cell):
    """(x - mean) / sqrt(variance + epsilon) * gamma + beta, over the last axes.

    Args:
        normalized_shape: their lengths, an int or a tuple.
        begin_norm_axis, begin_params_axis: taken for MindSpore's sake: the first of these axes.
        gamma_init, beta_init: initial values of the parameters, in this shape.
        epsilon: what is added to the variance.
        dtype: the dtype of the parameters.
    """

    def __init__(
        self,
        normalized_shape: Any,
        begin_norm_axis: int = -1,
        begin_params_axis: int = -1,
        gamma_init: Any = "ones",
        beta_init: Any = "zeros",
        epsilon: float = 1e-7,
        dtype: Any = np.float32,
    ):
        super().__init__()
        sizes = (normalized_shape,) if isinstance(normalized_shape, int) else normalized_shape
        if not isinstance(sizes, tuple | list) or not sizes:
            expected = "an int or a tuple of ints"
            raise check.wrong_type("LayerNorm", "normalized_shape", normalized_shape, expected)
        for each in sizes:
            check.positive_int("LayerNorm", normalized_shape=each)
        self.normalized_shape, self.epsilon = tuple(sizes), epsilon
        for name, axis in (
            ("begin_norm_axis", begin_norm_axis),
            ("begin_params_axis", begin_params_axis),
        ):
            if axis not in (-1, -len(sizes)) and axis < 0:
                expected = f"-{len(sizes)}, the first axis of normalized_shape"
                raise check.wrong_value("LayerNorm", name, axis, expected)
        self.begin_norm_axis, self.begin_params_axis = begin_norm_axis, begin_params_axis
        shape = self.normalized_shape
        self.gamma = parameter("LayerNorm", "gamma_init", gamma_init, shape, dtype)
        self.beta = parameter("LayerNorm", "beta_init", beta_init, shape, dtype)

    def construct(self, x: Any) -> Any:
        return ops.layer_norm(x, self.normalized_shape, self.gamma, self.beta, self.epsilon)

    def extend_repr(self) -> str:
        return f"normalized_shape={self.normalized_shape}"


class GroupNorm(Cell):
    """The channels in groups, each to mean 0 and variance 1 for each sample.

    Args:
        num_groups: a divisor of num_channels.
        num_channels: the length of axis 1.
        eps: what is added to the variance.
        affine: whether gamma and beta, by channel, are learned.
    """

    def __init__(
        self,
        num_groups: int,
        num_channels: int,
        eps: float = 1e-5,
        affine: bool = True,
        gamma_init: Any = "ones",
        beta_init: Any = "zeros",
        dtype: Any = np.float32,
    ):
        super().__init__()
        check.positive_int("GroupNorm", num_groups=num_groups, num_channels=num_channels)
        check.flag("GroupNorm", affine=affine)
        if num_channels % num_groups:
            expected = f"a multiple of num_groups={num_groups}"
            raise check.wrong_value("GroupNorm", "num_channels", num_channels, expected)
        self.num_groups, self.num_channels, self.eps = num_groups, num_channels, eps
        shape = (num_channels,)
        self.gamma = parameter("GroupNorm", "gamma_init", gamma_init, shape, dtype, affine)
        self.beta = parameter("GroupNorm", "beta_init", beta_init, shape, dtype, affine)

    def construct(self, x: Any) -> Any:
        return ops.group_norm(x, self.num_groups, self.gamma, self.beta, self.eps)

    def extend_repr(self) -> str:
        return f"num_groups={self.num_groups}, num_channels={self.num_channels}"


class InstanceNorm2d(GroupNorm):
    """Each channel of each sample to mean 0 and variance 1."""

    def __init__(
        self,
        num_features: int,
        eps: float = 1e-5,
        momentum: float = 0.1,
        affine: bool = True,
        gamma_init: Any = "ones",
        beta_init: Any = "zeros",
        dtype: Any = np.float32,
    ):
        super().__init__(num_features, num_features, eps, affine, gamma_init, beta_init, dtype)
        self.momentum = momentum


__all__ = [
    "BatchNorm1d",
    "BatchNorm2d",
    "BatchNorm3d",
    "GroupNorm",
    "InstanceNorm2d",
    "LayerNorm",
]
