"""Temporal-difference learning: the gradient of a loss that holds its target fixed."""

import numpy as np

from s2s_ad import grad, stop_gradient, vmap

r_tp1 = np.array(2.0)
s_tp1 = np.array([1.0, 2.0, 0.0])
value_fn = lambda theta, state: np.tensordot(theta, state, axes=1)


def td_loss(theta, s_tm1, r_t, s_t):
    """The squared error of the value of s_t against a target that is not differentiated."""
    v_t = value_fn(theta, s_t)
    target = r_tp1 + value_fn(theta, s_tp1)
    return (stop_gradient(target) - v_t) ** 2


def main():
    theta = np.array([0.2, -0.2, 0.1])
    s_tm1 = np.array([2.0, 1.0, -2.0])
    r_t = np.array(2.0)
    s_t = np.array([1.0, 2.0, 0.0])
    batch = [np.stack([each, each]) for each in (s_tm1, r_t, s_t)]

    td_grad = grad(td_loss)
    per_sample = vmap(td_grad, in_axes=(None, 0, 0, 0))

    print("# grad(td_loss)\n")
    print(td_grad.source(theta, s_tm1, r_t, s_t))
    print("# vmap(grad(td_loss), in_axes=(None, 0, 0, 0))\n")
    print(per_sample.source(theta, *batch))
    print("the gradient:")
    print(td_grad(theta, s_tm1, r_t, s_t))
    print("the gradient for each of a batch of two:")
    print(per_sample(theta, *batch))


if __name__ == "__main__":
    main()
