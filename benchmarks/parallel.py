"""Gradients on several workers: what a step costs beside the gradient itself, and what two bring.

Usage: python benchmarks/parallel.py [speed] [memory] [constants] [asleep]

speed      one worker against the bare gradient, and two workers against one
memory     data of four times what the workers may have together, once through
constants  what docs/scaling.md computes with
asleep     steps on up to eight workers whose chunks sleep, beside what benchmarks/scaling.py says
"""

from __future__ import annotations

import argparse
import functools
import itertools
import logging
import os
import resource
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import scaling
from dask.distributed import Client, LocalCluster, wait

import s2s_ad as ms
from s2s_ad import nn, parallel, value_and_grad
from s2s_ad.parallel import travel
from s2s_ad.parallel.tasks import combined, handed_on

ROWS, WIDTH, PASSES = 512, 64, 240
ROUNDS = 16


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
    made = LocalCluster(n_workers=workers, threads_per_worker=1, dashboard_address=None, **options)
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
        asked = [lambda: one.submit(bare, text, given, there, pure=False).result()]
        asked += [functools.partial(seconds, functools.partial(step.on, c)) for step, c in steps]
        order = (0, 1, 2) if i % 2 else (2, 1, 0)
        times = {k: asked[k]() for k in order}
        if i:  # the first one compiles
            yield times[0], times[1], times[2]


def held_by(client: Client, chunks: list):
    """A dask array whose chunks workers hold."""
    import dask.array as da

    with client.as_current():
        parts = [
            da.from_delayed(each, (ROWS, WIDTH), np.float64) for each in client.scatter(chunks)
        ]
        made = da.concatenate(parts).persist()
        wait(made)
    return made


# ---- memory --------------------------------------------------------------------------------------

LIMIT, FILES, SAMPLES, FEATURES = 1 << 30, 64, 1 << 18, 64  # 64 files of 64 MB


def memory() -> None:
    """Training on files of four times a worker's limit, in steps and then all at once."""
    ms.set_seed(0)
    true = np.linspace(-1, 1, FEATURES, dtype=np.float32)[:, None]
    with tempfile.TemporaryDirectory() as folder:
        xs, ys = [], []
        for i in range(FILES):
            rng = np.random.default_rng(i)
            x = rng.standard_normal((SAMPLES, FEATURES), np.float32)
            path = Path(folder) / f"{i}.npy"
            np.save(path, x)
            xs.append(parallel.Loader(np.load, str(path), shape=x.shape, dtype=x.dtype))
            ys.append(x @ true)
        size = FILES * SAMPLES * FEATURES * 4
        client = cluster(2, memory_limit=LIMIT)
        before = client.run(os.getpid)
        net = nn.Dense(FEATURES, 1, "zeros", "zeros")
        optimizer = nn.Momentum(net.trainable_params(), 0.1, 0.9)
        model = parallel.Model(net, nn.MSELoss(), optimizer, client=client)
        start = time.perf_counter()
        losses = model.train(1, xs, ys, chunks_per_step=8, progress=False)
        steps = time.perf_counter() - start
        start = time.perf_counter()
        model.train(1, xs, ys, chunks_per_step=FILES, progress=False)
        whole = time.perf_counter() - start
        peaks = client.run(lambda: resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024)
        print(
            f"{size / 2**30:.1f} GiB in {FILES} files, two workers of {LIMIT / 2**30:.1f} GiB:\n"
            f"an epoch of {len(losses)} steps {steps:.1f} s, loss {losses[0]:.3f} to "
            f"{losses[-1]:.3f}; one step over all {whole:.1f} s\n"
            f"peak of each worker: {', '.join(f'{p / 2**20:.0f} MiB' for p in peaks.values())}; "
            f"workers that were restarted: {len(set(before) - set(client.run(os.getpid)))}"
        )
        client.cluster.close()


# ---- constants -----------------------------------------------------------------------------------


def constants() -> None:
    """What docs/scaling.md computes with: seconds and bytes a second, each the best of some."""
    client = cluster(2)
    workers = list(client.scheduler_info()["workers"])

    def best(action: Callable, count: int = 5) -> float:
        return min(seconds(action) for _ in range(count))

    def graph(count: int) -> None:
        token = time.perf_counter_ns()
        keys = [f"nothing-{token}-{i}" for i in range(count)]
        client.get({key: (handed_on, i) for i, key in enumerate(keys)}, keys)

    def chain(count: int) -> None:
        token = time.perf_counter_ns()
        keys = [f"chain-{token}-{i}" for i in range(count)]
        tasks = {key: (handed_on, before) for before, key in itertools.pairwise(keys)}
        client.get({keys[0]: (handed_on, 1), **tasks}, keys[-1])

    graph(10)
    cpu = time.process_time()
    many = best(lambda: graph(1000), 3)
    cpu = (time.process_time() - cpu) / 3000
    few = best(lambda: graph(1), 20)
    level = (best(lambda: chain(11), 9) - best(lambda: chain(1), 9)) / 10
    print(f"a step of one task: {few * 1e3:.1f} ms")
    print(f"a further task: {(many - few) / 999 * 1e3:.2f} ms, of which the scheduler", end=" ")
    print(f"and the client {cpu * 1e3:.2f} ms\na level of a tree: {level * 1e3:.1f} ms")
    print("parameters      to a worker   from a worker  between workers  sum of four, in ms")
    for count in (10**4, 10**6, 10**8):
        bound = np.zeros(count, np.float32)
        held: list = []

        def send(bound=bound, held=held) -> None:
            held[:] = client.scatter([bound], workers=workers[:1], hash=False)

        def move(held=held) -> None:
            client.submit(np.size, held[0], workers=workers[1:], pure=False).result()

        times = [best(send, 3), best(lambda held=held: held[0].result(), 3)]
        moved = []
        for _ in range(3):
            send()
            moved.append(seconds(move))
        times.append(min(moved) - few)
        parts = [np.zeros(count, np.float32) for _ in range(4)]
        times.append(best(lambda parts=parts: combined("added", *[[each] for each in parts]), 3))
        print(f"{count:11,}  " + "  ".join(f"{each * 1e3:14.2f}" for each in times))
    client.cluster.close()


# ---- more workers than cores ---------------------------------------------------------------------


def late(seconds: float) -> np.ndarray:
    """A chunk that takes so long."""
    time.sleep(seconds)
    return np.ones(1)


def asleep() -> None:
    """Steps whose chunks sleep: so there may be more workers than cores."""
    print("workers  parameters  step, s  simulated, s")
    for workers in (1, 2, 4, 8):
        client = cluster(workers)
        for count in (10**4, 10**6):
            step = parallel.data_parallel(
                value_and_grad(lambda w, x: np.sum(w) * np.mean(x)), (None, 0), client=client
            )
            chunk = parallel.Loader(late, 2.0 / workers, shape=(1,), dtype=np.float64)
            w = np.zeros(count, np.float32)
            best = min(seconds(lambda: step(w, [chunk] * workers)) for _ in range(3))
            simulated = scaling.step(workers, count, 2.0, scaling.Constants())
            print(f"{workers:7}  {count:10,}  {best:7.3f}  {simulated:12.3f}", flush=True)
        client.cluster.close()


PARTS = {"speed": speed, "memory": memory, "constants": constants, "asleep": asleep}

if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("parts", nargs="*", metavar="part", choices=PARTS, default=["speed"])
    for name in parser.parse_args().parts:
        PARTS[name]()
