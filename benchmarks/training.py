"""One step of training (loss, gradient, Adam) of two small networks, ours and the peers'."""

import sys
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

import s2s_ad as ms
from s2s_ad import jit

BATCH, CLASSES, RATE = 64, 10, 1e-6  # so small a rate leaves each step as the first one was
BETAS, EPS = (0.9, 0.999), 1e-8


class Task(NamedTuple):
    """A network by its initial weights, its data, and the ratio to JAX to stay below."""

    title: str
    weights: dict
    images: np.ndarray
    target: float


def make_tasks(seed=0):
    rng = np.random.default_rng(seed)

    def dense(fan_in, fan_out, *kernel):
        scale = 1 / np.sqrt(fan_in * max(np.prod(kernel), 1))
        return (scale * rng.standard_normal((fan_out, fan_in, *kernel))).astype(np.float32)

    def images(*shape):
        return rng.standard_normal((BATCH, *shape)).astype(np.float32)

    zeros = lambda n: np.zeros(n, np.float32)
    mlp = {"w1": dense(784, 128), "b1": zeros(128), "w2": dense(128, 10), "b2": zeros(10)}
    cnn = {"k1": dense(1, 8, 3, 3), "c1": zeros(8), "k2": dense(8, 16, 3, 3), "c2": zeros(16)}
    small = cnn | {"w": dense(64, 10), "b": zeros(10)}
    large = cnn | {"w": dense(784, 10), "b": zeros(10)}
    return [
        Task("MLP 784-128-10", mlp, images(784), 1.2),
        Task("CNN 8x8, two 3x3 convolutions", small, images(1, 8, 8), 2.0),
        Task("CNN 28x28, two 3x3 convolutions", large, images(1, 28, 28), 2.0),
    ]


def labels():
    return np.random.default_rng(1).integers(0, CLASSES, BATCH).astype(np.int32)


# ---- ours: MindSpore's surface -------------------------------------------------------------------


def network(library, task):
    """The network in a library of MindSpore's names: s2s_ad, or MindSpore."""
    nn, of = library.nn, lambda name: library.Tensor(task.weights[name])
    if "w1" in task.weights:
        return nn.SequentialCell(
            nn.Dense(784, 128, of("w1"), of("b1")), nn.ReLU(), nn.Dense(128, 10, of("w2"), of("b2"))
        )
    first = {"weight_init": of("k1"), "bias_init": of("c1"), "has_bias": True}
    second = {"weight_init": of("k2"), "bias_init": of("c2"), "has_bias": True}
    return nn.SequentialCell(
        nn.Conv2d(1, 8, 3, pad_mode="same", **first),
        nn.ReLU(),
        nn.MaxPool2d(2, 2),
        nn.Conv2d(8, 16, 3, pad_mode="same", **second),
        nn.ReLU(),
        nn.MaxPool2d(2, 2),
        nn.Flatten(),
        nn.Dense(len(task.weights["w"][0]), 10, of("w"), of("b")),
    )


def step_of(library, task, compiled):
    """The functional step of MindSpore's tutorials; `compiled` is `jit`, or None for eager code."""
    net, loss_fn = network(library, task), library.nn.CrossEntropyLoss()
    optimizer = library.nn.Adam(net.trainable_params(), learning_rate=RATE)

    def forward_fn(x, y):
        return loss_fn(net(x), y)

    grad_fn = library.value_and_grad(forward_fn, None, optimizer.parameters)

    def train_step(x, y):
        loss, grads = grad_fn(x, y)
        optimizer(grads)
        return loss

    step = train_step if compiled is None else compiled(train_step)
    x, y = library.Tensor(task.images), library.Tensor(labels())
    return lambda: step(x, y).asnumpy()


# ---- peers ---------------------------------------------------------------------------------------


def jax_step(task):
    """The same step in JAX, jitted; the old parameters' memory may be given to the new ones."""
    import jax
    import jax.numpy as jnp

    def pooled(x):
        n, c, h, w = x.shape
        return x[:, :, : h // 2 * 2, : w // 2 * 2].reshape(n, c, h // 2, 2, w // 2, 2).max((3, 5))

    def convolved(x, kernel, bias):
        return jax.lax.conv(x, kernel, (1, 1), "SAME") + bias[:, None, None]

    def logits(p, x):
        if "w1" in p:
            return jax.nn.relu(x @ p["w1"].T + p["b1"]) @ p["w2"].T + p["b2"]
        x = pooled(jax.nn.relu(convolved(x, p["k1"], p["c1"])))
        x = pooled(jax.nn.relu(convolved(x, p["k2"], p["c2"])))
        return x.reshape(len(x), -1) @ p["w"].T + p["b"]

    def loss(p, x, y):
        scores = jax.nn.log_softmax(logits(p, x))
        return -jnp.mean(jnp.take_along_axis(scores, y[:, None], 1))

    def step(state, x, y):
        p, m, v, t = state
        value, slopes = jax.value_and_grad(loss)(p, x, y)
        t = t + 1
        m = jax.tree.map(lambda m, g: m + (g - m) * (1 - BETAS[0]), m, slopes)
        v = jax.tree.map(lambda v, g: v + (g * g - v) * (1 - BETAS[1]), v, slopes)
        rate = RATE * jnp.sqrt(1 - BETAS[1] ** t) / (1 - BETAS[0] ** t)
        p = jax.tree.map(lambda p, m, v: p - rate * m / (jnp.sqrt(v) + EPS), p, m, v)
        return (p, m, v, t), value

    jitted = jax.jit(step, donate_argnums=0)
    zeros = {name: np.zeros_like(each) for name, each in task.weights.items()}
    start = task.weights, zeros, zeros, np.float32(0)
    state = [jax.tree.map(lambda each: jnp.array(each, jnp.float32), start)]
    x, y = jnp.asarray(task.images), jnp.asarray(labels())

    def call():
        state[0], value = jitted(state[0], x, y)
        return np.asarray(jax.block_until_ready((state[0], value))[1])

    return call


def mindspore_step(task, compiled):
    import mindspore

    return step_of(mindspore, task, mindspore.jit if compiled else None)


STEPS: dict[str, Callable] = {
    "s2s_ad, jit": lambda task: step_of(ms, task, jit),
    "s2s_ad": lambda task: step_of(ms, task, None),
    "jax, jit": jax_step,
    "mindspore, jit": lambda task: mindspore_step(task, True),
    "mindspore": lambda task: mindspore_step(task, False),
}


def steps_of(task):
    """(name, step) of ours, and of the peers that are installed and give the same losses."""
    expected = None
    for name, make in STEPS.items():
        try:
            step = make(task)
            losses = [_tried(step) for _ in range(3)]
            expected = losses if expected is None else expected
            np.testing.assert_allclose(losses, expected, rtol=1e-3)
        except ImportError:
            continue
        except Exception as error:  # a peer's failure is not ours
            if name.startswith("s2s_ad"):
                raise
            print(f"{name}, {task.title}: {type(error).__name__}: {error}", file=sys.stderr)
            continue
        yield name, step


def _tried(step):
    """The loss; MindSpore may fail once, while it meets a newer NumPy than it was built for."""
    try:
        return float(step())
    except SystemError:
        return float(step())
