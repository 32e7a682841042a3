"""Real worker processes that are killed: the same bits, or an error that says why."""

import contextlib
import logging
import os
import signal
import socket
import subprocess
import sys
import threading
import time

import numpy as np
import pytest
from dask.distributed import Client, LocalCluster

from s2s_ad import grad, jit, nn, parallel, set_seed, value_and_grad
from s2s_ad.diagnostics import ParallelError
from s2s_ad.load import noted
from s2s_ad.parallel import engines, travel

RNG = np.random.default_rng(4)
W, Y = RNG.normal(size=3), RNG.normal(size=(6, 50))


def loss(w, x, y):
    return np.mean((np.tanh(x @ w) - y) ** 2)


def chunks(seconds, seeds=range(6)):
    """Chunks that take a while to read, so that something can happen meanwhile."""
    # a lambda, for workers cannot import this module
    read = lambda seed: (time.sleep(seconds), np.random.default_rng(seed).normal(size=(50, 3)))[1]
    return [parallel.Loader(read, seed, shape=(50, 3), dtype=np.float64) for seed in seeds]


def expected():
    """The weighed sum of the chunks, over the tree of three nodes of up to four."""
    parts = [
        value_and_grad(loss)(W, np.random.default_rng(seed).normal(size=(50, 3)), y)
        for seed, y in enumerate(Y)
    ]
    found = []
    for column in zip(*parts, strict=True):
        weighed = [each * (50 / 300) for each in column]
        first = weighed[0] + weighed[1] + weighed[2] + weighed[3]
        found.append(first + (weighed[4] + weighed[5]))
    return found


@contextlib.contextmanager
def cluster(workers, **options):
    logging.getLogger("distributed").setLevel(logging.CRITICAL)
    given = {"threads_per_worker": 1, "dashboard_address": None, **options}
    with LocalCluster(n_workers=workers, **given) as made, Client(made) as client:
        yield made, client


def killed(*pids):
    for pid in pids:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)


def kill(pids, after):
    """Kill these processes a little later; the timer that does it says whether it has."""
    timer = threading.Timer(after, killed, pids)
    timer.start()
    return timer


def pids_of(client):
    """Those of the workers, once none of them is dying."""
    for _ in range(50):
        with contextlib.suppress(OSError):
            return list(client.run(os.getpid).values())
        time.sleep(0.2)
    raise AssertionError("the workers do not answer")


def assert_same_bits(found):
    for mine, its in zip(found, expected(), strict=True):
        np.testing.assert_array_equal(mine, its)


def test_a_worker_is_killed_in_the_middle_of_a_step():
    step = parallel.data_parallel(value_and_grad(loss), (None, 0, 0))
    with cluster(2) as (_, client):
        killer = kill(pids_of(client)[:1], after=0.15)
        assert_same_bits(step(W, chunks(0.2), list(Y)))
        assert killer.finished.is_set()


@pytest.mark.slow
@pytest.mark.parametrize("workers, threads", [(1, 1), (2, 2), (3, 1)])
def test_the_number_of_workers_changes_no_bit_and_each_compiles_a_text_once(workers, threads):
    with cluster(workers, threads_per_worker=threads) as (made, client):
        ways = {"active": None, "cluster": made, "address": made.scheduler_address}
        for way in ways.values():
            step = parallel.data_parallel(value_and_grad(loss), (None, 0, 0), client=way)
            assert_same_bits(step(W, chunks(0.05), list(Y)))
        # functions of modules that workers can import: they cannot import this one
        names = client.run(lambda: [module.name for *_, module in travel._functions.values()])
        assert list(names.values()) == [["loss_value_and_grad"]] * workers
        # a process that derives something notes the lines of it
        assert list(client.run(lambda: len(noted._rows)).values()) == [0] * workers


def hits():
    """By function: how many of its forms this process has, and how many were on disk."""
    known = [(module.name, space["_s2s_kernel"]) for _, space, module in travel._functions.values()]
    return {n: (len(k.signatures), sum(k.stats.cache_hits.values())) for n, k in known}


class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        self.normal, self.drop, self.head = nn.BatchNorm1d(3), nn.Dropout(p=0.3), nn.Dense(3, 1)

    def construct(self, x):
        return np.mean(self.head(self.drop(self.normal(x))) ** 2)


def trained(client, data):
    """What a network becomes that draws random numbers and has running values."""
    set_seed(6)
    net = Net().set_train()
    optimizer = nn.SGD(net.trainable_params(), 0.1)
    model = parallel.Model(net, optimizer=optimizer, client=client)
    losses = model.train(2, data, chunks_per_step=3, progress=False)
    return losses, [np.array(each) for each in model.parameters()]


@pytest.mark.slow
def test_a_training_sends_its_data_once_and_again_where_workers_died(monkeypatch):
    data = np.random.default_rng(0).normal(size=(80_000, 3)).astype("f4")  # chunks above 64 KB

    def run(client, epochs):
        set_seed(0)
        net = Net().set_train(False)
        model = parallel.Model(net, optimizer=nn.SGD(net.trainable_params(), 0.01), client=client)
        return model.train(epochs, data, chunk_size=10_000, chunks_per_step=4, progress=False)

    with cluster(2, env={"OPENBLAS_NUM_THREADS": "1"}) as (_, client):
        sent, scatter = [], client.scatter
        monkeypatch.setattr(
            client, "scatter", lambda given, **k: sent.append(len(given)) or scatter(given, **k)
        )
        whole = run(client, 6)
        assert sum(sent) == 8
        sent.clear()
        killer = kill(pids_of(client)[:1], after=0.15)
        assert run(client, 60)[:12] == whole
        assert killer.finished.is_set()
        assert 8 <= sum(sent) <= 20  # what was lost, and with it all that this engine had sent
        monkeypatch.setattr(engines, "SHARE_HELD", 0)
        vars(client).pop(engines.ENGINE)
        sent.clear()
        assert run(client, 2) == whole[:4]
        assert sum(sent) == 16


@pytest.mark.slow
def test_random_numbers_and_running_values_are_the_same_though_workers_die():
    read = lambda seed: (
        time.sleep(0.1),
        np.random.default_rng(seed).normal(size=(20, 3)).astype("f4"),
    )[1]
    data = [parallel.Loader(read, i, shape=(20, 3), dtype=np.float32) for i in range(6)]
    losses, state = trained("threads", data)
    for workers, threads in ((1, 1), (2, 2)):
        with cluster(workers, threads_per_worker=threads) as (made, client):
            killer = kill(pids_of(client)[:1], after=0.5)
            found = trained(made, data)
            assert killer.finished.is_set()
        assert found[0] == losses
        assert all(map(np.array_equal, found[1], state))


@pytest.mark.slow
def test_workers_find_native_code_on_disk_and_give_the_same_bits(monkeypatch, tmp_path):
    pytest.importorskip("numba")
    for name, value in {"NATIVE": "1", "CACHE": "1", "CACHE_DIR": str(tmp_path)}.items():
        monkeypatch.setenv(f"S2S_AD_{name}", value)
    x = np.random.default_rng(3).normal(size=(300, 3))
    step = parallel.data_parallel(jit(value_and_grad(loss)), (None, 0, 0), chunk_size=50)
    slopes = parallel.vmap(jit(grad(loss)), (None, 0, 0), chunk_size=50)
    value, slope = step(W, x, Y.ravel())
    each = slopes(W, x, Y.ravel()).compute(scheduler="threads")
    for workers in (1, 2):  # those of the second cluster are as if started again
        with cluster(workers) as (_, client):
            found = step(W, x, Y.ravel())
            assert found[0] == value
            np.testing.assert_array_equal(found[1], slope)
            np.testing.assert_array_equal(slopes(W, x, Y.ravel()).compute(), each)
            for known in client.run(hits).values():
                assert set(known.values()) == {(1, 1)}


@pytest.mark.slow
def test_all_workers_are_killed_with_what_they_were_sent():
    """What was scattered to them is lost; the client sends it again to those that come after."""
    w, x = RNG.normal(size=30_000), RNG.normal(size=(8, 30_000)) / 100
    y = RNG.normal(size=8)
    step = parallel.data_parallel(value_and_grad(loss), (None, 0, 0), chunk_size=1)
    slow = parallel.data_parallel(value_and_grad(loss), (None, 0, 0))
    with cluster(2) as (_, client):
        whole = step(w, x, y)  # not here: with more threads BLAS adds in another order
        killer = kill(pids_of(client), after=0.1)
        while not killer.finished.is_set():
            value, slope = step(w, x, y)
            assert value == whole[0]
            np.testing.assert_array_equal(slope, whole[1])
        kill(pids_of(client), after=0.4)
        assert_same_bits(slow(W, chunks(0.3), list(Y)))


@pytest.mark.slow
def test_gradients_that_workers_held_are_computed_again():
    step = parallel.data_parallel(value_and_grad(loss), (None, 0, 0), reduce=None)
    with cluster(2) as (_, client):
        value, slope = step(W, chunks(0.0), list(Y))
        np.testing.assert_allclose(np.mean(value.values()), expected()[0])
        kill(pids_of(client), after=0.0)
        time.sleep(1.0)
        np.testing.assert_allclose(np.mean(slope.values(), axis=0), expected()[1])


@pytest.mark.slow
def test_no_worker_left_is_said():
    step = parallel.data_parallel(grad(loss), (None, 0, 0), patience=2.0)
    with cluster(1) as (made, _):
        step(W, chunks(0.0), list(Y))
        threading.Timer(0.5, lambda: made.scale(0)).start()
        with pytest.raises(ParallelError, match="there has been no worker for 2 seconds"):
            step(W, chunks(0.3), list(Y))


@pytest.mark.slow
def test_a_chunk_that_needs_too_much_memory_is_said():
    def hog():
        return np.ones((400_000_000, 1))[:50] * np.ones(3)

    hogs = [parallel.Loader(lambda: hog(), shape=(50, 3), dtype=np.float64)]
    # on a busy machine a worker takes half a minute to come back
    step = parallel.data_parallel(grad(loss), (None, 0, 0), patience=300.0)
    with cluster(1, memory_limit="700MB"):
        with pytest.raises(ParallelError, match="workers died again and again") as caught:
            step(W, hogs, list(Y[:1]))
        assert "needs more memory than its limit" in str(caught.value)
        assert np.all(np.isfinite(step(W, chunks(0.0), list(Y))))


def free_port():
    with socket.socket() as made:
        made.bind(("127.0.0.1", 0))
        return made.getsockname()[1]


@contextlib.contextmanager
def processes(port):
    """A scheduler and a worker, started as one does on several machines."""
    address, started = f"tcp://127.0.0.1:{port}", []
    for command in (
        ["dask_scheduler", "--host", "127.0.0.1", "--port", str(port), "--no-dashboard"],
        ["dask_worker", address, "--nthreads", "1", "--no-dashboard"],
    ):
        line = [sys.executable, "-m", f"distributed.cli.{command[0]}", *command[1:]]
        started.append(subprocess.Popen(line, stderr=subprocess.DEVNULL))
    try:
        yield address, *started
    finally:
        for each in started[::-1]:
            each.terminate()
            each.wait(20)


@pytest.mark.slow
def test_the_scheduler_is_lost_and_the_last_checkpoint_is_whole(tmp_path):
    def made(client):
        net = nn.Dense(3, 1, "zeros", "zeros")
        optimizer = nn.Adam(net.trainable_params(), 0.1)
        return parallel.Model(net, nn.MSELoss(), optimizer, client=client, patience=5.0)

    logging.getLogger("distributed").setLevel(logging.CRITICAL)
    x, y = RNG.normal(size=(40, 3)).astype("f4"), np.ones((40, 1), "f4")
    path = tmp_path / "run.npz"
    settings = {"chunk_size": 10, "every": 1, "checkpoint": path, "progress": False}
    with processes(free_port()) as (address, scheduler, _):
        model = made(connected(address))
        killer = threading.Thread(target=lambda: (wait_for(path), scheduler.kill()))
        killer.start()
        with pytest.raises(ParallelError, match="the scheduler is lost"):
            model.train(5000, x, y, **settings)
        killer.join()
    steps = len(np.load(path)["losses"])
    assert steps > 0
    epochs = steps // 4 + 2
    losses = made("threads").train(epochs, x, y, resume=True, **settings)
    assert losses == made("threads").train(epochs, x, y, chunk_size=10, progress=False)


def connected(address):
    """A client, once the scheduler answers and has a worker."""
    client = Client(address, set_as_default=False, timeout=60)
    client.wait_for_workers(1, timeout=60)
    return client


def wait_for(path):
    deadline = time.monotonic() + 60
    while not path.exists() and time.monotonic() < deadline:
        time.sleep(0.05)
