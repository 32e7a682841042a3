"""
A network that draws
====================

A recurrent network of twenty-four neurons gets nothing but a start, and has to draw a figure:
its state is fed back a hundred and twenty times. Back-propagation through time is the loop of
this page run backwards; the page shows it.
"""

import matplotlib.pyplot as plt
import numpy as np
from scipy.optimize import minimize

from s2s_ad import grad, value_and_grad

# %%
# The figure, and the network: a dict of arrays, and a loop that appends to a list.

t = np.linspace(0, 2 * np.pi, 120)
radius = 1 + 0.35 * np.cos(5 * t)
figure = np.stack([radius * np.cos(t), radius * np.sin(t)], 1)


def draw(net):
    h = net["start"]
    points = []
    for _ in range(120):
        h = np.tanh(net["W"] @ h + net["b"])
        points.append(net["out"] @ h)
    return np.array(points)


def loss(net, figure):
    return np.mean((draw(net) - figure) ** 2)


# %%
# At first the neurons turn in pairs, each at a speed of its own, and see little of each other.

rng = np.random.default_rng(0)
N = 24
turns = 0.02 * rng.normal(size=(N, N))
for pair, speed in zip(range(0, N, 2), rng.uniform(0.02, 0.1, N // 2)):
    turns[pair : pair + 2, pair : pair + 2] = [
        [np.cos(speed), -np.sin(speed)],
        [np.sin(speed), np.cos(speed)],
    ]
net = {
    "start": 0.5 * rng.normal(size=N),
    "W": turns,
    "b": np.zeros(N),
    "out": 0.3 * rng.normal(size=(2, N)),
}
print(grad(loss).source(net, figure))

# %%
# SciPy wants one vector; the gradient of a dict is a dict with the same keys.

step = value_and_grad(loss)
keys, cuts = list(net), np.cumsum([value.size for value in net.values()])[:-1]


def as_dict(vector):
    parts = np.split(vector, cuts)
    return {key: part.reshape(net[key].shape) for key, part in zip(keys, parts)}


def as_vector(net):
    return np.concatenate([net[key].ravel() for key in keys])


def objective(vector):
    value, slopes = step(as_dict(vector), figure)
    return value, as_vector(slopes)


drawings, seen = {0: draw(net)}, 0


def keep(vector):
    global seen
    seen += 1
    if seen in (15, 60, 150):
        drawings[seen] = draw(as_dict(vector))


fit = minimize(
    objective,
    as_vector(net),
    jac=True,
    method="L-BFGS-B",
    callback=keep,
    options={"maxiter": 400, "maxfun": 600},
)
drawings[fit.nit] = draw(as_dict(fit.x))
print(f"mean squared error {loss(net, figure):.2f} -> {fit.fun:.6f}")

# %%

fig, axes = plt.subplots(1, 5, figsize=(8.6, 2))
for ax, (k, points) in zip(axes, drawings.items()):
    ax.plot(*figure.T, color="#d1d5db", lw=5)
    ax.scatter(*points.T, c=np.arange(120), s=7, cmap="plasma", zorder=3)
    ax.plot(*points.T, color="#475569", lw=0.6)
    ax.set(title=f"after {k} steps", aspect="equal", xlim=(-1.5, 1.6), ylim=(-1.5, 1.5))
    ax.axis("off")
plt.show()
