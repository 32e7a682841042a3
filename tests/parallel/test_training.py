"""parallel.Model: its steps, its checkpoints, and exact resumption."""

import subprocess
import sys
import time

import dask.array as da
import numpy as np
import pytest

import s2s_ad as ms
from s2s_ad import nn, parallel
from s2s_ad.diagnostics import ParallelError, S2SError

RNG = np.random.default_rng(2)
X = RNG.normal(size=(48, 3)).astype(np.float32)
Y = (X @ np.array([[1.0], [-2.0], [0.5]]) + 0.3).astype(np.float32)


def model_of(optimizer=nn.Adam, **options):
    ms.set_seed(3)
    net = nn.Dense(3, 1)
    rate = nn.ExponentialDecayLR(0.1, 0.9, 4)
    return parallel.Model(net, nn.MSELoss(), optimizer(net.trainable_params(), rate), **options)


def state(model):
    return [np.array(each) for each in model.parameters()]


SETTINGS = {"chunk_size": 8, "chunks_per_step": 2, "progress": False}


def test_its_steps_are_those_of_a_loop():
    model, other = model_of(nn.SGD), model_of(nn.SGD)
    losses = model.train(2, X, Y, shuffle=False, **SETTINGS)
    net, expected = other.network, []
    step = ms.value_and_grad(
        lambda x, y: np.mean((net(x) - y) ** 2), None, other.optimizer.parameters
    )
    for _ in range(2):
        for start in range(0, 48, 16):
            loss, slopes = step(X[start : start + 16], Y[start : start + 16])
            other.optimizer(slopes)
            expected.append(float(loss))
    np.testing.assert_allclose(losses, expected, rtol=1e-5)
    np.testing.assert_allclose(net.weight, model.network.weight, rtol=1e-5)


@pytest.mark.parametrize("optimizer", [nn.Adam, nn.Momentum])
def test_an_interrupted_training_goes_on_to_the_same_bits(tmp_path, optimizer):
    def made():
        given = (lambda p, r: nn.Momentum(p, r, 0.9)) if optimizer is nn.Momentum else optimizer
        return model_of(given)

    whole = made()
    losses = whole.train(4, X, Y, seed=5, **SETTINGS)
    path = tmp_path / "run.npz"
    first, calls = made(), []

    def interrupted(gradients):
        calls.append(1)
        if len(calls) == 8:
            raise KeyboardInterrupt
        return inner(gradients)

    inner = first.optimizer
    first.optimizer = interrupted
    first.parameters = lambda: [*first.network.get_parameters(), *inner.get_parameters()]
    with pytest.raises(KeyboardInterrupt):
        first.train(4, X, Y, seed=5, checkpoint=path, every=3, **SETTINGS)
    second = made()
    again = second.train(4, X, Y, seed=5, checkpoint=path, resume=True, **SETTINGS)
    assert again == losses
    assert all(map(np.array_equal, state(second), state(whole)))
    assert [each.name for each in tmp_path.iterdir()] == ["run.npz"]
    third = made()
    assert third.train(4, X, Y, seed=5, checkpoint=path, resume=True, **SETTINGS) == losses
    assert all(map(np.array_equal, state(third), state(whole)))


def test_a_checkpoint_that_fails_leaves_the_last_one_whole(tmp_path, monkeypatch):
    path = tmp_path / "run.npz"
    model = model_of()
    model.train(1, X, Y, checkpoint=path, every=1, **SETTINGS)
    before = path.read_bytes()

    def full(file, **arrays):
        file.write(b"half")
        raise OSError("no space left on device")

    monkeypatch.setattr(np, "savez", full)
    with pytest.raises(OSError, match="no space left"):
        model.train(2, X, Y, checkpoint=path, every=1, resume=True, **SETTINGS)
    assert path.read_bytes() == before
    assert [each.name for each in tmp_path.iterdir()] == ["run.npz"]


OTHER = {
    "seed": ({"seed": 1}, X, "seed is 0 there, and 1 here"),
    "chunks": ({"chunk_size": 6}, X, "chunks is .* there"),
    "order": ({"shuffle": False}, X, "shuffle is True there"),
    "step": ({"chunks_per_step": 3}, X, "chunks_per_step is 2 there, and 3 here"),
}


@pytest.mark.parametrize("name", OTHER)
def test_the_checkpoint_of_another_training_is_refused(tmp_path, name):
    changed, data, text = OTHER[name]
    path = tmp_path / "run.npz"
    model_of().train(1, X, Y, checkpoint=path, **SETTINGS)
    with pytest.raises(ParallelError, match=text):
        model_of().train(2, data, Y, checkpoint=path, resume=True, **{**SETTINGS, **changed})
    with pytest.raises(ParallelError, match="names is"):
        model_of(nn.SGD).train(2, data, Y, checkpoint=path, resume=True, **SETTINGS)


def test_a_checkpoint_that_is_cut_off_is_refused(tmp_path):
    path = tmp_path / "run.npz"
    model_of().train(1, X, Y, checkpoint=path, **SETTINGS)
    path.write_bytes(path.read_bytes()[:-200])
    with pytest.raises(ParallelError, match="cannot be read"):
        model_of().train(2, X, Y, checkpoint=path, resume=True, **SETTINGS)


class Noisy(nn.Cell):
    """Draws random numbers in training, and has running values."""

    def __init__(self):
        super().__init__()
        self.body = nn.SequentialCell(nn.Dense(3, 4), nn.BatchNorm1d(4), nn.Tanh())
        self.drop, self.head = nn.Dropout(p=0.4), nn.Dense(4, 1)

    def construct(self, x):
        return self.head(self.drop(self.body(x)))


def noisy_model(client=None):
    ms.set_seed(8)
    net = Noisy().set_train()
    optimizer = nn.Adam(net.trainable_params(), 0.05)
    return parallel.Model(net, nn.MSELoss(), optimizer, client=client)


def test_a_training_that_draws_goes_on_exactly(tmp_path):
    whole, half, rest = (noisy_model() for _ in range(3))
    losses = whole.train(4, X, Y, **SETTINGS)
    half.train(2, X, Y, checkpoint=tmp_path / "run.npz", **SETTINGS)
    np.random.random(3)
    assert rest.train(4, X, Y, checkpoint=tmp_path / "run.npz", resume=True, **SETTINGS) == losses
    assert all(map(np.array_equal, state(rest), state(whole)))
    moved = whole.network.body[1].moving_mean
    assert np.all(moved != 0)


def test_a_network_may_be_its_own_loss():
    class Loss(nn.Cell):
        def __init__(self):
            super().__init__()
            self.head = nn.Dense(3, 1, "zeros", "zeros")

        def construct(self, x, y):
            return np.mean((self.head(x) - y) ** 2)

    net = Loss()
    model = parallel.Model(net, optimizer=nn.SGD(net.trainable_params(), 0.1))
    losses = model.train(2, X, Y, **SETTINGS)
    assert losses[0] == pytest.approx(np.mean(Y[_first_chunks()] ** 2), rel=1e-5)
    assert losses[-1] < losses[0]
    mapped = parallel.vmap(net, chunk_size=8)(X, Y).compute()
    np.testing.assert_allclose(mapped, [net(x, y) for x, y in zip(X, Y, strict=True)], rtol=1e-4)


def _first_chunks():
    """The samples of the first step: two chunks of eight, in the order that the seed decides."""
    order = np.random.default_rng([0, 0]).permutation(6)[:2]
    return np.concatenate([np.arange(8 * i, 8 * i + 8) for i in order])


def test_dask_arrays_are_trained_on_with_a_bar(capsys):
    pair = [da.from_array(each, chunks=(8, -1)) for each in (X, Y)]
    mine = model_of().train(2, *pair, chunks_per_step=2)
    assert mine == model_of().train(2, X, Y, **SETTINGS)
    assert "6/6" in capsys.readouterr().err


@pytest.mark.parametrize(
    "options, text",
    [
        ({"epoch": 0}, "argument 'epoch' must be a positive int, got int 0"),
        ({"epoch": 1, "every": 1.5}, "argument 'every' must be a positive int"),
        ({"epoch": 1, "chunk_size": -1}, "argument 'chunk_size' must be"),
    ],
)
def test_settings_are_checked(options, text):
    with pytest.raises(S2SError, match=text):
        model_of().train(options.pop("epoch"), X, Y, **options)


def test_an_optimizer_is_needed():
    with pytest.raises(S2SError, match="argument 'optimizer' must be an Optimizer"):
        parallel.Model(nn.Dense(3, 1), nn.MSELoss())


KILLED = """
import sys
sys.path.insert(0, {folder!r})
from test_training import SETTINGS, X, Y, model_of
model = model_of()
print("started", flush=True)
model.train(400, X, Y, checkpoint={path!r}, every=1, **SETTINGS)
"""


@pytest.mark.slow
def test_a_killed_process_leaves_a_checkpoint_that_goes_on_to_the_same_bits(tmp_path):
    path = tmp_path / "run.npz"
    whole = model_of()
    losses = whole.train(400, X, Y, **SETTINGS)
    code = KILLED.format(folder=__file__.rpartition("/")[0], path=str(path))
    process = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE)
    process.stdout.readline()
    for _ in range(200):
        time.sleep(0.05)
        if path.exists():
            break
    time.sleep(0.4)
    process.kill()
    process.wait()
    other = model_of()
    assert other.train(400, X, Y, checkpoint=path, resume=True, **SETTINGS) == losses
    assert all(map(np.array_equal, state(other), state(whole)))
