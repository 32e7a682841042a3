"""The problems: our callable, the expert's function, the arguments, the ratio to reach."""

from collections.abc import Callable
from typing import NamedTuple

import by_hand
import numpy as np
from subjects import programs

from s2s_ad import grad, jit, jvp, stop_gradient, value_and_grad, vmap

r_tp1 = np.array(2.0)
s_tp1 = np.array([1.0, 2.0, 0.0])
value_fn = lambda theta, state: np.tensordot(theta, state, axes=1)


def td_loss(theta, s_tm1, r_t, s_t):
    """As in examples/td0.py: it captures globals, as users' functions do."""
    return (stop_gradient(r_tp1 + value_fn(theta, s_tp1)) - value_fn(theta, s_t)) ** 2


class Problem(NamedTuple):
    """One row: what is compiled, what it is measured against, on which arguments."""

    name: str
    title: str
    ours: Callable
    by_hand: Callable
    args: tuple
    target: float | None = None


def make_problems(seed=0):
    """All problems on inputs made with this seed."""
    rng = np.random.default_rng(seed)
    p = programs(np, stop_gradient)
    rosenbrock_grad = grad(p.rosenbrock)

    def hvp(x, v):
        return jvp(rosenbrock_grad, (x,), (v,))

    normal = rng.standard_normal
    td = np.array([0.2, -0.2, 0.1]), np.array([2.0, 1.0, -2.0]), np.array(2.0), normal(3)
    td_batch = td[0], normal((64, 3)), normal(64), normal((64, 3))
    params = {
        "W1": 0.04 * normal((784, 128)),
        "b1": 0.1 * normal(128),
        "W2": 0.1 * normal((128, 10)),
        "b2": 0.1 * normal(10),
    }
    single = {name: value.astype(np.float32) for name, value in params.items()}
    images = normal((64, 784)).astype(np.float32)
    samples = single, images, rng.integers(0, 10, 64)
    regression = 0.1 * normal(20), np.array(0.1), normal((200, 20)), rng.integers(0, 2, 200) * 1.0
    axes = (None, 0, 0, 0)
    per_sample = vmap(value_and_grad(p.mlp_loss), in_axes=(None, 0, 0))
    classifier = "per-sample classifier, 64 x 784-128-10, float32"
    return [
        Problem("td0", "td0, 3 features", grad(td_loss), by_hand.td_loss_grad, td, 1.3),
        Problem(
            "td0 batch",
            "td0, vmap(grad), 64 x 3",
            vmap(grad(td_loss), in_axes=axes),
            by_hand.td_loss_grad_vmap,
            td_batch,
            1.3,
        ),
        Problem(
            "classifier",
            classifier,
            per_sample,
            by_hand.mlp_loss_value_and_grad_vmap,
            samples,
            1.1,
        ),
        Problem(
            "rosenbrock",
            "rosenbrock, gradient, 1000",
            rosenbrock_grad,
            by_hand.rosenbrock_grad,
            (normal(1000),),
        ),
        Problem(
            "rosenbrock hvp",
            "rosenbrock, gradient and Hessian-vector product, 1000",
            jit(hvp),
            by_hand.rosenbrock_hvp,
            (normal(1000), normal(1000)),
        ),
        Problem(
            "logistic",
            "logistic regression, 200 x 20",
            grad(p.logistic, (0, 1)),
            by_hand.logistic_grad,
            regression,
        ),
    ]
