"""
Throw a soft body
=================

A block of jelly, masses and springs, is to be thrown so that it bounces once and comes to stand
over a mark. How fast, and with how much spin? The simulation has four hundred and fifty steps,
springs, friction and a floor. Its gradient runs through all of them, the bounce included.
"""

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.animation import FuncAnimation
from scipy.optimize import minimize

from s2s_ad import value_and_grad

# %%
# Masses on a grid, and springs between neighbours.

WIDE, HIGH = 8, 5
block = np.stack(np.meshgrid(np.arange(WIDE), np.arange(HIGH)), -1).reshape(-1, 2) * 0.18
block += [0.2, 0.9]
one, other = np.triu_indices(len(block), 1)
close = np.linalg.norm(block[one] - block[other], axis=1) < 0.27
one, other = one[close], other[close]
length = np.linalg.norm(block[one] - block[other], axis=1)

# %%
# The simulation moves the masses in place, as a game engine does. The floor pushes back only
# those that are below it, and slows them down.


def throw(push, start, steps, seen=None):
    """Where the masses are at the end, thrown with a speed along x, along y, and a spin."""
    x = start.copy()
    from_middle = start - np.mean(start, axis=0)
    v = push[:2] + push[2] * from_middle[:, ::-1] * np.array([-1.0, 1.0])
    for step in range(steps):
        away = x[one] - x[other]
        distance = np.sqrt(np.sum(away**2, axis=1))
        pull = (1500 * (distance / length - 1) / distance)[:, None] * away
        pull += 3.0 * (v[one] - v[other])
        force = np.zeros_like(x)
        np.subtract.at(force, one, pull)
        np.add.at(force, other, pull)
        force[:, 1] -= 9.81
        under = x[:, 1] < 0
        force[under, 1] -= 3000 * x[under, 1]
        force[under] -= 12 * v[under]
        v += 0.004 * force
        x += 0.004 * v
        if seen is not None and step % 8 == 0:
            seen.append(x.copy())
    return x


def miss(push, start, steps, mark):
    """How far the middle is from the mark at the end, and how fast it was thrown."""
    end = throw(push, start, steps)
    return np.sum((np.mean(end, axis=0) - mark) ** 2) + 1e-4 * np.sum(push**2)


# %%
# The gradient of one step, read from the text: what the mask chose in the forward pass it
# chooses in the backward pass, and ``np.add.at`` turns into reading at the same indices.

slope = value_and_grad(miss)
mark = np.array([6.0, 0.45])
text = slope.source(np.array([2.0, 2.0, 0.0]), block, 450, mark)
print(text[text.index("def throw_backward") :])

# %%
# A few tens of throws are enough.

first = np.array([2.0, 3.0, -1.0])
fit = minimize(
    slope, first, args=(block, 450, mark), jac=True, method="BFGS", options={"maxiter": 25}
)
print(f"misses by {np.sqrt(slope(first, block, 450, mark)[0]):.2f} m at first,", end=" ")
print(f"by {np.sqrt(fit.fun):.3f} m after {fit.nfev} throws: {np.round(fit.x, 2)}")

# %%

films = []
for push in (first, fit.x):
    films.append([])
    throw(push, block, 450, films[-1])

fig, ax = plt.subplots(figsize=(7, 2.9))
ax.axhspan(-0.4, 0, color="#e5e7eb")
ax.plot([mark[0]], [-0.12], marker="^", ms=12, color="#12926f")
ax.set(xlim=(-0.2, 8), ylim=(-0.3, 2.9), aspect="equal", title="thrown at first, and as found")
ax.axis("off")
edge = np.concatenate(
    [
        np.arange(WIDE),
        np.arange(2, HIGH + 1) * WIDE - 1,
        np.arange(HIGH * WIDE - 2, (HIGH - 1) * WIDE - 1, -1),
        np.arange((HIGH - 2) * WIDE, 0, -WIDE),
    ]
)
colours = ("#94a3b8", "#e4572e")
bodies = [ax.fill([0], [0], fc=c + "66", ec=c, lw=1.5)[0] for c in colours]
springs = [ax.plot([], [], color=c, lw=0.5, alpha=0.8)[0] for c in colours]
trails = [ax.plot([], [], color=c, lw=1, ls=":")[0] for c in colours]


def draw(frame):
    for film, body, net, trail in zip(films, bodies, springs, trails):
        x = film[min(frame, len(film) - 1)]
        body.set_xy(x[edge])
        lines = np.stack([x[one], x[other], np.full_like(x[one], np.nan)], 1).reshape(-1, 2)
        net.set_data(*lines.T)
        trail.set_data(*np.mean(film[: frame + 1], axis=1).T)


animation = FuncAnimation(fig, draw, frames=len(films[0]) + 12, interval=60)
