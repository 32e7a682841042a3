"""`Model`: training over chunks of data, with checkpoints, from which it goes on exactly."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from s2s_ad import value_and_grad
from s2s_ad.api.check_arguments import check_callable, shown
from s2s_ad.api.tracebacks import short
from s2s_ad.diagnostics import ArgumentTypeError, ArgumentValueError, S2SError
from s2s_ad.nn import Cell, Optimizer
from s2s_ad.parallel.checkpoints import Checkpoint
from s2s_ad.parallel.chunks import checked_size
from s2s_ad.parallel.data_parallel import DataParallel
from s2s_ad.parallel.engines import PATIENCE
from s2s_ad.tensors import Parameter

LABEL = "parallel.Model"


class Model:
    """A network, its loss and its optimizer, trained on chunks of data by all workers together.

    Args:
        network: a Cell or function: the loss of a chunk, or, with `loss_fn`, the output for it.
        loss_fn: a function or Cell of the network's output and the label, a mean over samples.
        optimizer: an Optimizer of `nn`; its parameters are trained.
        client: where chunks are computed, as for `data_parallel`.
        patience: seconds to wait where no worker is left.

    Example:
        >>> import numpy as np
        >>> from s2s_ad import nn, parallel
        >>> net = nn.Dense(1, 1, "zeros", has_bias=False)
        >>> model = parallel.Model(net, nn.MSELoss(), nn.SGD(net.trainable_params(), 0.25))
        >>> x = np.ones((8, 1), np.float32)
        >>> losses = model.train(3, x, 2 * x, chunk_size=4, chunks_per_step=2, progress=False)
        >>> print(losses, net.weight.asnumpy())
        [4.0, 1.0, 0.25] [[1.75]]
    """

    def __init__(
        self,
        network: Callable,
        loss_fn: Callable | None = None,
        optimizer: Optimizer | None = None,
        *,
        client: Any = None,
        patience: float = PATIENCE,
    ):
        check_callable(LABEL, network, "network")
        if loss_fn is not None:
            check_callable(LABEL, loss_fn, "loss_fn")
        if not isinstance(optimizer, Optimizer):
            raise ArgumentTypeError(
                "S2S501",
                f"{LABEL}: argument 'optimizer' must be an Optimizer, as nn.SGD(...), "
                f"got {shown(optimizer)}",
            )
        self.network, self.loss_fn, self.optimizer = network, loss_fn, optimizer
        step = value_and_grad(self._forward(), None, optimizer.parameters)
        self.step = DataParallel(step, 0, "mean", None, client, patience)

    def _forward(self) -> Callable:
        network, loss_fn = self.network, self.loss_fn
        if loss_fn is None:
            return network

        def forward(data: Any, label: Any) -> Any:
            return loss_fn(network(data), label)

        return forward

    def parameters(self) -> list[Parameter]:
        """All that a step changes: of the network, the loss, and the state of the optimizer."""
        cells = [each for each in (self.network, self.loss_fn) if isinstance(each, Cell)]
        own = [parameter for cell in cells for parameter in cell.get_parameters()]
        return [*own, *self.optimizer.parameters, *self.optimizer.get_parameters()]

    @short
    def train(
        self,
        epoch: int,
        *data: Any,
        chunk_size: int | None = None,
        chunks_per_step: int = 1,
        shuffle: bool = True,
        seed: int = 0,
        checkpoint: Any = None,
        every: int = 100,
        resume: bool = False,
        progress: bool = True,
    ) -> list[float]:
        """Train for some epochs; the loss of each step.

        Args:
            epoch: how often all data is gone through.
            data: arrays, dask arrays or lists of chunks, with samples along axis 0.
            chunk_size: samples in a chunk, where data are arrays.
            chunks_per_step: how many chunks the gradient of a step is the mean of.
            shuffle: take the chunks in another order in each epoch, which `seed` decides.
            seed: of that order, and of what is drawn from np.random in a step (`Dropout`).
            checkpoint: a file for Parameters and optimizer, written every so many steps and at the
                end.
            every: steps between checkpoints.
            resume: go on from the checkpoint, where there is one: the steps are those of a training
                that was not interrupted, to the last bit.
            progress: show a bar.

        Raises:
            ParallelError: the workers cannot go on, or the checkpoint is of another training.
        """
        positive = {"epoch": epoch, "chunks_per_step": chunks_per_step, "every": every}
        for name, value in positive.items():
            if type(value) is not int or value < 1:
                raise ArgumentValueError(
                    "S2S502",
                    f"{LABEL}.train: argument {name!r} must be a positive int, got {shown(value)}",
                )
        self.step.chunk_size = checked_size(f"{LABEL}.train", chunk_size)
        call = self.step.call(*data)
        count = len(call.lengths)
        settings = {
            "seed": seed,
            "shuffle": shuffle,
            "chunks_per_step": chunks_per_step,
            "chunks": list(call.lengths),
        }
        saved = None if checkpoint is None else Checkpoint(checkpoint, self.parameters(), settings)
        done, losses = 0, []
        if resume and saved is not None and saved.path.exists():
            done, losses = saved.read()
        total = epoch * -(-count // chunks_per_step)
        steps = _steps(epoch, count, chunks_per_step, seed if shuffle else None)
        with _bar(total, done, progress) as bar:
            for number, chunks in enumerate(steps, 1):
                if number <= done:
                    continue
                loss, gradients = self.step.on(call, chunks, seed=(seed, number))
                self.optimizer(gradients)
                losses.append(float(loss))
                if saved is not None and (number % every == 0 or number == total):
                    saved.write(number, losses)
                bar.set_postfix(loss=f"{losses[-1]:.4g}", refresh=False)
                bar.update()
        return losses


def _steps(epochs: int, count: int, at_once: int, seed: int | None) -> Iterator[list[int]]:
    """The chunks of each step; their order in an epoch depends on seed and epoch alone."""
    for epoch in range(epochs):
        order = range(count)
        if seed is not None:
            order = np.random.default_rng([seed, epoch]).permutation(count).tolist()
        for start in range(0, count, at_once):
            yield list(order[start : start + at_once])


class _NoBar:
    def set_postfix(self, **shown: Any) -> None:
        """Nothing is shown."""

    def update(self) -> None:
        """Nothing is shown."""


def _bar(total: int, done: int, progress: bool) -> Any:
    if not progress:
        return contextlib.nullcontext(_NoBar())
    try:
        from tqdm import tqdm
    except ImportError:
        raise S2SError(
            "S2S503",
            "parallel.Model.train: argument 'progress' is True, and tqdm is not installed",
            help="pip install s2s_ad[parallel], or progress=False",
        ) from None
    return tqdm(total=total, initial=done, unit="step")
