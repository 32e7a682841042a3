"""
Atoms find their crystal
========================

Sixty-one atoms are thrown into a shallow trap and relaxed. The energy is summed over pairs in a
loop with a cutoff and an early ``continue``, as in a textbook. Its gradient gives the forces,
its Hessian the vibrations of the crystal; both are generated from the same function.
"""

import matplotlib.pyplot as plt
import numpy as np
from scipy.optimize import minimize

from s2s_ad import grad, hessian, value_and_grad

# %%
# Two atoms attract each other, and repel where they are close. Pairs that are far apart are
# skipped.


def energy(positions, cutoff, trap):
    total = 0.5 * trap * np.sum(positions**2)
    for i in range(len(positions) - 1):
        away = positions[i + 1 :] - positions[i]
        square = np.sum(away**2, axis=1)
        near = square[square < cutoff**2]
        if len(near) == 0:
            continue
        sixth = 1 / near**3
        total += 4 * np.sum(sixth * (sixth - 1))
    return total


# %%
# The forces, as they are computed. The slices, the mask and the ``continue`` are all there, and
# what belongs to atom ``i`` is added to its place.

start = np.random.default_rng(3).uniform(-3.9, 3.9, (61, 2))
print(grad(energy).source(start, 3.0, 0.05))

# %%
# A relaxation with SciPy. The first positions are random, so some atoms all but sit on each
# other; they are pushed apart softly before the real forces act.

slope = value_and_grad(energy)


def apart(positions):
    """A soft repulsion of close atoms."""
    total = 0.02 * np.sum(positions**2)
    for i in range(len(positions) - 1):
        distance = np.sqrt(np.sum((positions[i + 1 :] - positions[i]) ** 2, axis=1))
        total += np.sum(np.maximum(1.05 - distance, 0) ** 2)
    return total


def relax(function, positions, *args):
    def objective(flat):
        value, gradient = function(flat.reshape(-1, 2), *args)
        return value, gradient.ravel()

    seen = [positions]
    minimize(
        objective,
        positions.ravel(),
        jac=True,
        method="L-BFGS-B",
        callback=lambda flat: seen.append(flat.reshape(-1, 2).copy()),
        options={"maxiter": 400, "ftol": 1e-13},
    )
    return seen


seen = relax(value_and_grad(apart), start)
seen += relax(slope, seen[-1], 3.0, 0.05)
crystal = seen[-1]
print(
    f"energy {slope(seen[len(seen) // 3], 3.0, 0.05)[0]:.1f} -> {slope(crystal, 3.0, 0.05)[0]:.2f}"
)

# %%
# The Hessian of the energy is a matrix of 122 x 122 numbers. Its eigenvectors are the ways in
# which the crystal can ring.

stiffness = hessian(energy)(crystal, 3.0, 0.05).reshape(122, 122)
squares, modes = np.linalg.eigh(stiffness)


def neighbours(positions):
    distance = np.linalg.norm(positions[:, None] - positions, axis=2)
    return np.sum((distance < 1.5) & (distance > 0), axis=1)


fig, axes = plt.subplots(1, 3, figsize=(8.2, 3.1))
titles = ["thrown", "relaxed", "one of its vibrations"]
for ax, positions, title in zip(axes, (start, crystal, crystal), titles):
    colours = plt.get_cmap("viridis")(neighbours(positions) / 6)
    ax.scatter(*positions.T, s=150, color=colours, edgecolor="white", lw=0.8)
    ax.set(title=title, aspect="equal", xlim=(-4.9, 4.9), ylim=(-4.9, 4.9))
    ax.axis("off")
mode = modes[:, 5].reshape(-1, 2)
axes[2].quiver(*crystal.T, *mode.T, color="#e4572e", scale=2.2, width=0.008, zorder=3)
plt.show()
