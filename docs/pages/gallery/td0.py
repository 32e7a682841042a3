"""
How far is it to the exit?
==========================

A walker in a maze learns how good it is to be where it is, from nothing but its own steps:
temporal differences. The target of each step must not be differentiated, which is
``stop_gradient``; what is left of it in the generated code is nothing at all.
"""

import matplotlib.pyplot as plt
import numpy as np

from s2s_ad import grad, stop_gradient, vmap

# %%
# The maze. A step costs one; at the exit the walk is over.

plan = """
#################
#.....#.....#..E#
#.###.#.###.#.#.#
#.#...#.#.....#.#
#.#.###.#####.#.#
#.#.....#...#.#.#
#.#####.#.#.#.#.#
#.....#...#...#.#
#####.#########.#
#...............#
#################
"""
maze = np.array([list(line) for line in plan.split()])
free = np.argwhere(maze != "#")
number = np.full(maze.shape, -1)
number[tuple(free.T)] = np.arange(len(free))
exit_at = number[tuple(np.argwhere(maze == "E")[0])]
steps = np.array([(0, 1), (0, -1), (1, 0), (-1, 0)])
ways = [[number[tuple(at + s)] for s in steps if number[tuple(at + s)] >= 0] for at in free]

# %%
# The value of a place is linear in what is seen there: here, the place itself.


def td_loss(weights, seen, reward, seen_next):
    target = reward + stop_gradient(weights @ seen_next)
    return 0.5 * (target - weights @ seen) ** 2


td_grad = grad(td_loss)
one = np.eye(len(free))
print(td_grad.source(np.zeros(len(free)), one[0], -1.0, one[1]))

# %%
# Sixty-four walkers learn together. Each step is one gradient for each of them.

each_walker = vmap(td_grad, in_axes=(None, 0, 0, 0))
print(each_walker.source(np.zeros(len(free)), one[:64], -np.ones(64), one[:64]))

rng = np.random.default_rng(0)
weights, pictures = np.zeros(len(free)), {}
walkers = rng.integers(0, len(free), 64)
for k in range(1, 3001):
    by_chance = [ways[at][rng.integers(len(ways[at]))] for at in walkers]
    by_value = [max(ways[at], key=weights.__getitem__) for at in walkers]
    ahead = np.where(rng.random(64) < 0.3, by_chance, by_value)
    seen_next = np.where((ahead == exit_at)[:, None], 0.0, one[ahead])
    weights -= 0.2 * np.sum(each_walker(weights, one[walkers], -np.ones(64), seen_next), axis=0)
    walkers = np.where(ahead == exit_at, rng.integers(0, len(free), 64), ahead)
    if k in (30, 200, 3000):
        pictures[k] = weights.copy()

# %%
# What they think of each place, and, at the end, where they would go from there.

fig, axes = plt.subplots(1, 3, figsize=(9, 2.3))
for ax, (k, values) in zip(axes, pictures.items()):
    shown = np.full(maze.shape, np.nan)
    shown[tuple(free.T)] = values
    ax.imshow(np.where(maze == "#", 1.0, np.nan), cmap="gray_r", vmin=0, vmax=1.25)
    ax.imshow(shown, cmap="viridis")
    ax.text(15, 1, "exit", ha="center", va="center", fontsize=6, weight="bold")
    ax.set_title(f"after {k} steps")
    ax.axis("off")
best = np.array([max(way, key=weights.__getitem__) for way in ways])
away = (free[best] - free) * 0.55
moving = np.arange(len(free)) != exit_at
axes[2].quiver(
    *free[moving].T[::-1],
    *away[moving].T[::-1],
    color="white",
    angles="xy",
    scale_units="xy",
    scale=1,
    width=0.006,
    pivot="middle",
)
plt.show()
