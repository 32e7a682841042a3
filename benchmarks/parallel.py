"""Gradients on several workers: what a step costs beside the gradient itself, and what two bring.

Usage: python benchmarks/parallel.py [speed] [memory] [constants]

speed      one worker against the bare gradient, and two workers against one
memory     data of four times what the workers may have together, once through
constants  what docs/scaling.md computes with
"""

from __future__ import annotations

import argparse
import functools
import logging
import os
import resource
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
from dask.distributed import Client, LocalCluster, wait

from s2s_ad import nn, parallel, value_and_grad
from s2s_ad.parallel import travel
from s2s_ad.parallel.tasks import combined, handed_on

ROWS, WIDTH, PASSES = 512, 64, 240
ROUNDS = 12


def loss(w, x, y):
    """Layers enough to keep a core busy, and small enough to stay in its cache."""
    for _ in range(PASSES):
        x = np.tanh(x @ w)
    return np.mean((x - y) ** 2)


def data(seed: int, rows: int = ROWS) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=(rows, WIDTH))


def bare(text: travel.Packed, bound: tuple, chunks: list) -> float:
    """Seconds that a worker needs for the generated function alone, on all chunks."""
    start = time.perf_counter()
    parts = [travel.called(text, *bound, list(each)) for each in chunks]
    combined("added added", *parts)
    return time.perf_counter() - start


def seconds(step: Callable) -> float:
    start = time.perf_counter()
    step()
    return time.perf_counter() - start


def cluster(workers: int, **options) -> Client:
    logging.getLogger("distributed").setLevel(logging.CRITICAL)
    made = LocalCluster(
        n_workers=workers, threads_per_worker=1, dashboard_address=None, **options
    )
    return Client(made, set_as_default=False)


def speed() -> None:
    """Rounds in turn, so that what else the machine does meets all alike."""
    one, two = cluster(1), cluster(2)
    print("chunks  which   bare ms  1 worker ms  overhead ms       %  2 workers ms  times")
    for count in (1, 2, 4, 8):
        rows = list(rounds(count, one, two))
        for name, pick in {"median": statistics.median, "best": min}.items():
            bare, first, second = map(pick, zip(*rows, strict=True))
            print(
                f"{count:6}  {name:6}  {bare * 1e3:7.1f}  {first * 1e3:11.1f}  "
                f"{(first - bare) * 1e3:11.1f}  {(first / bare - 1):6.1%}  {second * 1e3:12.1f}  "
                f"{first / second:5.2f}",
                flush=True,
            )
    one.cluster.close(), two.cluster.close()


def rounds(count: int, one: Client, two: Client) -> Iterator[tuple[float, float, float]]:
    """Seconds for the bare gradient, and for a step with one and with two workers."""
    w = data(99, WIDTH) / WIDTH
    chunks = [(data(i), data(count + i)) for i in range(count)]
    steps = []
    for client in (one, two):
        step = parallel.data_parallel(value_and_grad(loss), (None, 0, 0), client=client)
        arrays = [held_by(client, [chunk[k] for chunk in chunks]) for k in (0, 1)]
        steps.append((step, step.call(w, *arrays)))
    texts = steps[0][0].step(steps[0][1]).texts
    (text,) = texts.packed.values()
    bound = texts.bound()
    given = bound.captured[text.digest], bound.shared
    there = one.scatter(chunks, hash=False)
    for i in range(ROUNDS + 1):
        alone = one.submit(bare, text, given, there, pure=False).result()
        times = [seconds(functools.partial(step.on, call)) for step, call in steps]
        if i:  # the first one compiles
            yield alone, *times


def held_by(client: Client, chunks: list):
    """A dask array whose chunks workers hold."""
    import dask.array as da

    with client.as_current():
        parts = [da.from_delayed(each, (ROWS, WIDTH), np.float64) for each in client.scatter(chunks)]
        made = da.concatenate(parts).persist()
        wait(made)
    return made


if __name__ == "__main__":
    speed()
