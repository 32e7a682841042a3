"""
Grow a bridge
=============

A deck is loaded from above, and stands on two feet. With a third of the material that there is
room for, the stiffest shape is searched: each of 2,400 cells has a density, and the stiffness of
the whole is assembled from the cells in place, and solved. The gradient of all that is
generated.
"""

import matplotlib.pyplot as plt
import numpy as np
from scipy.linalg import solve_banded

from s2s_ad import custom_rule, value_and_grad

WIDE, HIGH, PART = 100, 24, 0.35

# %%
# The stiffness of one cell, a square of four corners that move in two directions each: an
# integral of what stretches and shears, taken at four points.

corners = np.array([[-1, -1], [1, -1], [1, 1], [-1, 1]])
elastic = np.array([[1, 0.3, 0], [0.3, 1, 0], [0, 0, 0.35]]) / (1 - 0.3**2)
cell = np.zeros((8, 8))
for x, y in corners / np.sqrt(3):
    along_x = corners[:, 0] * (1 + corners[:, 1] * y) / 2
    along_y = corners[:, 1] * (1 + corners[:, 0] * x) / 2
    strain = np.zeros((3, 8))
    strain[0, 0::2] = strain[2, 1::2] = along_x
    strain[1, 1::2] = strain[2, 0::2] = along_y
    cell += strain.T @ elastic @ strain / 4

# %%
# Which rows and columns of the whole belong to which cell. The matrix has a narrow band, and
# only the band is stored, as SciPy's ``solve_banded`` wants it: entry (i, j) in row BAND + i -
# j.

column, level = np.meshgrid(np.arange(WIDE), np.arange(HIGH), indexing="ij")
right, up = corners.T.clip(0)[:, :, None, None]
node = ((column + right) * (HIGH + 1) + level + up).reshape(4, -1)
freedoms = np.stack([2 * node, 2 * node + 1], 1).reshape(8, -1).T
row, col = freedoms[:, :, None], freedoms[:, None, :]
BAND, SIZE = int(np.max(row - col)), 2 * (WIDE + 1) * (HIGH + 1)

load = np.zeros((WIDE + 1, HIGH + 1, 2))
load[:, HIGH, 1] = -1 / WIDE
feet = np.zeros((WIDE + 1, HIGH + 1, 2))
feet[12:17, 0] = feet[-17:-12, 0] = 1
load, feet = load.ravel(), feet.ravel()

# %%
# The solver of SciPy has a rule. We know more than it does, though: the matrix is symmetric, so
# the adjoint is solved with the same band. That is said by a rule of our own.

rows = np.clip(np.arange(SIZE) + np.arange(-BAND, BAND + 1)[:, None], 0, SIZE - 1)


def adjoint_of_solve(moved_bar, moved, band):
    force_bar = solve_banded((BAND, BAND), band, moved_bar)
    return -force_bar[rows] * moved


@custom_rule(reverse=adjoint_of_solve)
def solve(band):
    return solve_banded((BAND, BAND), band, load)


# %%
# How far the deck gives way under its load. Neighbours share their density, so that no shape is
# thinner than a cell; the cube makes half dense cells a bad bargain.


def smooth(density):
    shape = density.copy()
    shape[1:-1, 1:-1] += density[2:, 1:-1] + density[:-2, 1:-1]
    shape[1:-1, 1:-1] += density[1:-1, 2:] + density[1:-1, :-2]
    shape[1:-1, 1:-1] /= 5
    return shape


def compliance(density):
    shape = smooth(density)
    strength = 1e-4 + shape.ravel() ** 3
    band = np.zeros((2 * BAND + 1, SIZE))
    band[BAND] += 1e3 * feet
    np.add.at(band, (BAND + row - col, col), strength[:, None, None] * cell)
    moved = solve(band)
    return load @ moved


slope = value_and_grad(compliance)
density = np.full((WIDE, HIGH), PART)
print(slope.source(density))

# %%
# Material goes where it is worth most. How much that must be is found by halving, so that the
# whole weighs what it may; no cell changes by more than a fifth at once, and the deck stays.

history = []
for step in range(60):
    value, gradient = slope(density)
    history.append(value)
    low, high = 1e-9, 1e9
    while high / low > 1 + 1e-6:
        price = np.sqrt(low * high)
        wanted = density * np.sqrt(np.maximum(-gradient, 0) / price)
        new = np.clip(wanted, density - 0.2, density + 0.2).clip(0.001, 1)
        new[:, -1] = 1
        low, high = (price, high) if new.mean() > PART else (low, price)
    density = new
print(f"compliance {history[0]:.2f} -> {history[-1]:.2f} in {len(history)} steps")

# %%

fig, ax = plt.subplots(figsize=(8, 2.5))
ax.imshow(smooth(density).T, cmap="bone_r", origin="lower", vmax=1.15, interpolation="bicubic")
arrow = {"arrowstyle": "-|>", "color": "#e4572e"}
for x in range(2, WIDE, 8):
    ax.annotate("", (x, HIGH - 0.5), (x, HIGH + 4), arrowprops=arrow)
for x in (14, WIDE - 15):
    ax.plot([x], [-2], marker="^", ms=13, color="#64748b", clip_on=False)
ax.set(xlim=(-1, WIDE), ylim=(-3, HIGH + 4))
ax.axis("off")
plt.show()
