"""
Coming from PyTorch
===================

There is no ``backward()`` and no ``requires_grad``: ``grad`` of a function *is* the backward
pass, written down. This page sets the idioms side by side.
"""

# %%
# .. list-table::
#    :header-rows: 1
#
#    * - PyTorch
#      - here
#    * - ``loss = f(w); loss.backward(); w.grad``
#      - ``loss, w_grad = value_and_grad(f)(w)``
#    * - ``torch.func.grad``, ``vmap``, ``jacrev``, ``jvp``
#      - the same names
#    * - ``x.detach()``, ``torch.no_grad()``
#      - :func:`~s2s_ad.stop_gradient`
#    * - ``torch.autograd.Function``
#      - :func:`~s2s_ad.custom_rule`
#    * - ``y.register_hook(...)``
#      - ``with insert_grad_of(y) as y_bar:``
#    * - ``torch.utils.checkpoint``
#      - :func:`~s2s_ad.checkpoint`
#    * - ``nn.Module`` and ``forward``
#      - ``nn.Cell`` and ``construct``
#    * - ``optimizer.zero_grad(); loss.backward(); optimizer.step()``
#      - ``loss, gradients = train(x, y); optimizer(gradients)``
#    * - ``gradcheck``
#      - ``s2s_ad.check.check``
#
# A step of training
# ------------------

import numpy as np

import s2s_ad as ms
from s2s_ad import Tensor, nn, value_and_grad


class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        self.layers = nn.SequentialCell(nn.Dense(3, 16), nn.ReLU(), nn.Dense(16, 1))

    def construct(self, x):
        return self.layers(x)


ms.set_seed(0)
net, loss_fn = Net(), nn.MSELoss()
optimizer = nn.Adam(net.trainable_params(), learning_rate=0.02)


def forward(x, y):
    return loss_fn(net(x), y)


train = value_and_grad(forward, None, optimizer.parameters)
x = np.random.default_rng(0).normal(size=(128, 3)).astype(np.float32)
y = np.sum(x**2, axis=1, keepdims=True)
for step in range(300):
    loss, gradients = train(Tensor(x), Tensor(y))
    optimizer(gradients)
print(float(loss))

# %%
# And this is the backward pass, which nothing records any more:

print(train.source(Tensor(x), Tensor(y)))

# %%
# What to know
# ------------
#
# * Gradients are returned, and never accumulated behind your back.
# * Arrays are NumPy's, on the CPU.
# * The gradient with respect to a complex number is PyTorch's.
# * A tensor of PyTorch is not taken as an argument: give ``x.numpy()``.
