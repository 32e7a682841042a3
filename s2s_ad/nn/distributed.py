"""The gradients of several devices become one: `DistributedGradReducer`."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from s2s_ad.nn.cell import Cell
from s2s_ad.nn.check import wrong_type
from s2s_ad.nn.scales import times
from s2s_ad.nn.settings import count, flag
from s2s_ad.tensors import Parameter, Tensor

__all__ = ["DistributedGradReducer"]


class DistributedGradReducer(Cell):
    """The sum, or the mean, of gradients over all devices.

    What MindSpore computes on a device, `parallel.data_parallel(..., reduce=None)` computes for a
    chunk: its gradients stay on the workers until they are reduced here. Gradients that are plain
    Tensors are those of the one device that there is.

    Args:
        parameters: the Parameters whose gradients these are.
        mean: divide the sum by `degree`; not done where it is left out.
        degree: the number of devices; without it that of the chunks.
        fusion_type, group: accepted for those who come from MindSpore; they change nothing.

    Raises:
        ArgumentTypeError, ArgumentValueError: an argument is of the wrong kind.

    Example:
        >>> import numpy as np
        >>> from s2s_ad import nn, parallel, value_and_grad
        >>> net = nn.Dense(1, 1, "zeros", has_bias=False)
        >>> loss = lambda x, y: np.mean((net(x) - y) ** 2)
        >>> grad_fn = value_and_grad(loss, None, net.trainable_params())
        >>> step = parallel.data_parallel(grad_fn, in_axes=0, reduce=None, chunk_size=2)
        >>> reducer = nn.DistributedGradReducer(net.trainable_params(), mean=True)
        >>> value, gradients = step(np.ones((4, 1), np.float32), np.ones((4, 1), np.float32))
        >>> print(value, reducer(gradients)[0])
        PerChunk(2 chunks) [[-2.]]
    """

    def __init__(
        self,
        parameters: Iterable[Parameter],
        mean: bool | None = None,
        degree: int | None = None,
        fusion_type: int = 1,
        group: str = "",
    ):
        super().__init__(auto_prefix=False)
        given = [parameters] if isinstance(parameters, Parameter) else list(parameters)
        for i, each in enumerate(given):
            if not isinstance(each, Parameter):
                raise wrong_type(type(self).__name__, f"parameters[{i}]", each, "a Parameter")
        api = type(self).__name__
        self.mean = False if mean is None else flag(api, "mean", mean)
        self.degree = None if degree is None else count(api, "degree", degree)

    def construct(self, grads: Any) -> Any:
        parts = list(grads) if isinstance(grads, tuple | list) else [grads]
        reduce = getattr(type(parts[0]), "__s2s_all_reduce__", None)
        if reduce is None:
            return times(grads, 1 / (self.degree or 1)) if self.mean else grads
        factor = 1 / (self.degree or parts[0].count) if self.mean else None
        reduced = [np.asarray(each).view(Tensor) for each in reduce(parts, factor)]
        return type(grads)(reduced) if isinstance(grads, tuple | list) else reduced[0]
