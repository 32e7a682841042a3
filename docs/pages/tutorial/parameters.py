"""
4. Parameters and Cells
=======================

A model of any size is a class. Those who know MindSpore change an import; those who do not will
recognise it: a ``Cell`` has parameters and other Cells, and ``construct`` says what it computes.
"""

from dataclasses import dataclass

import numpy as np

import s2s_ad as ms
from s2s_ad import Tensor, grad, nn, value_and_grad, vmap

# %%
# A network
# ---------


class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        self.hidden = nn.Dense(2, 16)
        self.act = nn.Tanh()
        self.out = nn.Dense(16, 1)

    def construct(self, x):
        return self.out(self.act(self.hidden(x)))


ms.set_seed(0)
net = Net()
for parameter in net.trainable_params():
    print(parameter.name, parameter.shape)

# %%
# The gradient with respect to its parameters
# -------------------------------------------
#
# ``grad(function, None, parameters)``: no argument, these parameters.

loss_fn = nn.MSELoss()
optimizer = nn.Adam(net.trainable_params(), learning_rate=0.02)


def forward(x, y):
    return loss_fn(net(x), y)


train = value_and_grad(forward, None, optimizer.parameters)
x = np.random.default_rng(0).uniform(-1, 1, (64, 2)).astype(np.float32)
y = (x[:, :1] * x[:, 1:]).astype(np.float32)
print(train.source(Tensor(x), Tensor(y)))

# %%
# Layers, loss and activation are plain NumPy functions, and leave no trace in the text. The
# parameters are bound to the module, and read at each call: what an optimizer changes is never
# missed.

for step in range(400):
    value, slopes = train(Tensor(x), Tensor(y))
    optimizer(slopes)
    if step in (0, 399):
        print(f"step {step}: {float(value):.5f}")

# %%
# Other ways to hold parameters
# -----------------------------
#
# Nothing obliges you to use Cells: a dict, a dataclass or an object of any class of yours that
# holds arrays is differentiated as it stands. What is not a number in it, a name or a count, has
# the gradient None. The gradient by an object is one of its class with the gradients as attributes;
# `__init__` does not run for it.


@dataclass
class Line:
    slope: float
    offset: float
    name: str = "a line"


def miss(line, x, y):
    return np.mean((line.slope * x + line.offset - y) ** 2)


print(grad(miss)(Line(1.0, 0.0), np.arange(3.0), np.arange(3.0) * 2))

# %%
# A gradient for each sample of a network
# ---------------------------------------

per_sample = vmap(grad(forward, None, net.trainable_params()))
print([tuple(slope.shape) for slope in per_sample(Tensor(x[:8]), Tensor(y[:8]))])
