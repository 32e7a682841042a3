"""
Coming from MindSpore
=====================

The import changes, and the program stays. Tensors are arrays of NumPy, and everything runs on the
CPU in Python that you can read.
"""

import numpy as np

import s2s_ad as ms
from s2s_ad import Parameter, Tensor, grad, jit, nn, ops, vmap

# %%
# ``import mindspore as ms`` becomes ``import s2s_ad as ms``. There are ``grad`` and
# ``value_and_grad`` with ``grad_position``, ``weights``, ``has_aux``, ``return_ids`` and
# ``sens_param``, ``GradOperation``, ``get_grad``, ``vmap``, ``jit``, ``Tensor``, ``Parameter``,
# ``nn`` with layers, losses and optimizers, ``ops`` and ``amp``.


class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        self.z = Parameter(Tensor(np.array([1.0], np.float32)), name="z")

    def construct(self, x, y):
        return ops.matmul(x * self.z, y)


x = Tensor([[0.8, 0.6, 0.2], [1.8, 1.3, 1.1]], dtype=ms.float32)
y = Tensor([[0.11, 3.3, 1.1], [1.1, 0.2, 1.4], [1.1, 2.2, 0.3]], dtype=ms.float32)
net = Net()
print(grad(net)(x, y))
print(grad(net, grad_position=(0, 1))(x, y)[1])
print(grad(net, None, weights=net.trainable_params())(x, y))

# %%
# Auxiliary results, and the gradient of them stopped:


def forward(x, y):
    out = ops.matmul(x, y)
    return ops.sum(out), out


loss_grad = grad(forward, has_aux=True)
gradient, (out,) = loss_grad(x, y)
print(out.shape)

# %%
# ``jit`` and ``vmap`` around each other:


@jit
def scaled(v, factor):
    return ops.tanh(v) * factor


print(vmap(scaled, in_axes=(0, None))(x, Tensor(2.0)))

# %%
# And there is a text to be read, for everything:

print(grad(net).source(x, y))

# %%
# What to know
# ------------
#
# * ``set_context(mode=...)`` is accepted; there is one mode, which behaves as both.
# * Devices and graphs are not there: ``jit`` writes Python.
# * The examples ``td0_tensors.py``, ``linear_layer.py``, ``positions_and_weights.py``,
#   ``loss_scale.py`` and ``accumulation.py`` of the repository are MindSpore's tutorials with
#   another import line.
