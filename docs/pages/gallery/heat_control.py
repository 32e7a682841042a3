"""
Heat a plate so that a picture appears
======================================

Where must the heaters of a plate stand, and how strong must each be, so that after two hundred
steps of diffusion the plate shows a given picture? The simulation is an ordinary loop that
updates the temperature in place. Its gradient is the same loop, run backwards.
"""

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.path import Path
from matplotlib.textpath import TextPath
from scipy.optimize import minimize

from s2s_ad import value_and_grad

# %%
# The picture that is wanted: the letter of this trade, as warm as 1 on a plate of 0.

n = 64
x, y = np.meshgrid(np.linspace(-0.2, 0.75, n), np.linspace(0.86, -0.09, n))
points = np.column_stack([x.ravel(), y.ravel()])
outlines = TextPath((0, 0), "∂", size=1).to_polygons()
inside = [Path(outline).contains_points(points) for outline in outlines]
target = np.logical_xor.reduce(inside).reshape(n, n).astype(float)

# %%
# The simulation, written as everybody writes it. The heaters are on all the time.


def temperature(heaters, steps):
    u = np.zeros_like(heaters)
    for _ in range(steps):
        u[1:-1, 1:-1] += 0.2 * (
            u[2:, 1:-1] + u[:-2, 1:-1] + u[1:-1, 2:] + u[1:-1, :-2] - 4 * u[1:-1, 1:-1]
        )
        u += 0.1 * heaters
        u *= 0.95  # the plate loses heat to the air
    return u


def misfit(heaters, target, steps):
    return np.sum((temperature(heaters, steps) - target) ** 2)


# %%
# This is its gradient, as the compiler writes it. No array is kept from pass to pass: the
# equation is linear, so the backward sweep needs no temperature but the last. A library that
# records operations would keep all of them.

slope = value_and_grad(misfit)
print(slope.source(target, target, 200))

# %%
# SciPy's L-BFGS-B takes it as it is. Heaters do not cool, so their strength is at least 0.


def objective(strengths):
    value, gradient = slope(strengths.reshape(n, n), target, 200)
    return value, gradient.ravel()


fit = minimize(
    objective,
    np.zeros(n * n),
    jac=True,
    method="L-BFGS-B",
    bounds=[(0, None)] * n**2,
    options={"maxiter": 40},
)
heaters = fit.x.reshape(n, n)
print(f"misfit {np.sum(target):.0f} -> {fit.fun:.1f} in {fit.nit} iterations")

# %%
# What the heaters do, seen three times on the way.

pictures = {"heaters found": heaters / np.percentile(heaters, 99.5)}
pictures |= {f"plate, step {steps}": temperature(heaters, steps) for steps in (3, 12, 200)}
pictures["wanted"] = target
fig, axes = plt.subplots(1, 5, figsize=(8.4, 2.05))
for ax, (title, picture) in zip(axes, pictures.items()):
    ax.imshow(picture, cmap="inferno", vmin=0, vmax=1.05, interpolation="bicubic")
    ax.set_title(title, fontsize=9)
    ax.axis("off")
plt.show()
