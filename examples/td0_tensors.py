"""Temporal-difference learning as MindSpore's tutorial has it: a gradient for each sample."""

import s2s_ad as ms
from s2s_ad import Tensor, grad, jit, ops, vmap

r_tp1 = Tensor(2.0)
s_tp1 = Tensor([1.0, 2.0, 0.0])
value_fn = lambda theta, state: ops.tensor_dot(theta, state, axes=1)


def td_loss(theta, s_tm1, r_t, s_t):
    """The squared error of the value of s_t against a target that is not differentiated."""
    v_t = value_fn(theta, s_t)
    target = r_tp1 + value_fn(theta, s_tp1)
    return (ops.stop_gradient(target) - v_t) ** 2


def main():
    ms.set_context(mode=ms.GRAPH_MODE)
    theta = Tensor([0.2, -0.2, 0.1])
    s_tm1 = Tensor([2.0, 1.0, -2.0])
    r_t = Tensor(2.0)
    s_t = Tensor([1.0, 2.0, 0.0])
    batch = [ops.stack([each, each]) for each in (s_tm1, r_t, s_t)]

    td_grad = grad(td_loss)
    per_sample = jit(vmap(td_grad, in_axes=(None, 0, 0, 0)))
    print(td_grad(theta, s_tm1, r_t, s_t))
    print(per_sample(theta, *batch))
    print(per_sample.source(theta, *batch))


if __name__ == "__main__":
    main()

# Output:
#
# [-4. -8. -0.]
# [[-4. -8. -0.]
#  [-4. -8. -0.]]
# import numpy as np
#
# # bound when it was compiled: r_tp1, s_tp1
#
#
# def td_loss_grad_vmap(theta, s_tm1, r_t, s_t):
#     """Gradient of td_loss with respect to theta, for each of a batch of (s_tm1, r_t,
#     s_t) (td0_tensors.py:11).
#     """
#     # forward
#     v_t = s_t @ theta  # line 13
#     target = r_tp1 + theta @ s_tp1  # line 14
#     # backward
#     v_t_bar = -2.0 * (target - v_t)  # line 15
#     return v_t_bar[:, None] * s_t  # line 13
