"""
Learn without telling on anyone
===============================

Private learning may use no sample too much: each sample's gradient is cut to a length, and noise
is added to their sum. So each sample needs a gradient of its own, which is ``vmap(grad(...))``,
and what it writes is one matrix product for the whole batch, without a loop.
"""

import matplotlib.pyplot as plt
import numpy as np

from s2s_ad import grad, vmap

# %%
# Two crescents of points, and a network with one hidden layer.

rng = np.random.default_rng(3)
angle = rng.uniform(0, np.pi, 400)
side = rng.integers(0, 2, 400)
points = np.stack([np.cos(angle), np.sin(angle)], 1) * np.where(side, -1, 1)[:, None]
points += np.where(side, 1, 0)[:, None] * [1.0, 0.4] + rng.normal(0, 0.13, (400, 2))
signs = 2.0 * side - 1


def score(net, x):
    return np.tanh(x @ net["W"] + net["b"]) @ net["out"]


def loss(net, x, sign):
    return np.logaddexp(0.0, -sign * score(net, x))


per_sample = vmap(grad(loss), in_axes=(None, 0, 0))
net = {
    "W": 2 * rng.normal(size=(2, 16)),
    "b": rng.normal(size=16),
    "out": 0.1 * rng.normal(size=16),
}
print(per_sample.source(net, points[:64], signs[:64]))

# %%
# One step: no sample moves a weight by more than ``clip``, whatever it says.


def train(net, clip, noise, steps=600, rate=1.0):
    rng = np.random.default_rng(0)
    lengths = []
    for _ in range(steps):
        chosen = rng.integers(0, len(points), 64)
        slopes = per_sample(net, points[chosen], signs[chosen])
        squares = [np.sum(s.reshape(64, -1) ** 2, axis=1) for s in slopes.values()]
        length = np.sqrt(np.sum(squares, axis=0))
        share = np.minimum(1, clip / length)
        total = {key: np.tensordot(share, s, axes=1) for key, s in slopes.items()}
        net = {
            key: net[key] - rate / 64 * (s + noise * clip * rng.normal(size=s.shape))
            for key, s in total.items()
        }
        lengths.append(length)
    return net, np.concatenate(lengths[:40])


# %%

fig, axes = plt.subplots(1, 4, figsize=(9, 2.5), width_ratios=[1.2, 1, 1, 1])
grid = np.stack(np.meshgrid(np.linspace(-1.6, 2.6, 160), np.linspace(-1.2, 1.7, 120)), -1)
for ax, noise in zip(axes[1:], (0.0, 10.0, 30.0)):
    learned, lengths = train(net, 0.5, noise)
    values = score(learned, grid.reshape(-1, 2)).reshape(grid.shape[:2])
    ax.contourf(*grid.T, values.T, np.linspace(-6, 6, 25), cmap="RdBu", extend="both", alpha=0.75)
    ax.contour(*grid.T, values.T, [0], colors="#1f2937", linewidths=1.2)
    ax.scatter(*points.T, s=4, c=np.where(side, "#1e3a8a", "#991b1b"))
    right = np.mean(np.sign(score(learned, points)) == signs)
    ax.set(title=f"noise {noise:g}: {right:.0%} right", xticks=[], yticks=[])
    if noise == 0:
        axes[0].hist(lengths, 40, range=(0, 3), color="#94a3b8")
        axes[0].axvline(0.5, color="#e4572e", label="clip")
axes[0].set(title="each sample's gradient", xlabel="length", yticks=[], xlim=(0, 3))
axes[0].spines["left"].set_visible(False)
axes[0].legend(fontsize=8)
plt.show()
