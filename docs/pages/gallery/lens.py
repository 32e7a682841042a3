"""
Design a lens
=============

A spherical lens does not bring all rays to one point: those near its edge cross too early. An
aspherical one may. Here the two surfaces of a lens of glass are found by gradient: rays are
traced through them, and where a ray meets a surface is searched by Newton's method, in a loop
that stops when it is near enough. The gradient goes through the loop, the early exit included.
"""

import matplotlib.pyplot as plt
import numpy as np
from scipy.optimize import least_squares

from s2s_ad import jacfwd

GLASS, HEIGHT, FOCUS = 1.6, 1.0, 2.1
heights = np.linspace(-HEIGHT, HEIGHT, 33)

# %%
# A surface is a sphere of curvature ``shape[0]`` and what is added to it near the edge.


def sag(shape, h):
    sphere = shape[0] * h**2 / (1 + np.sqrt(1 - (shape[0] * h) ** 2))
    return sphere + shape[1] * h**4 + shape[2] * h**6


def sag_slope(shape, h):
    sphere = shape[0] * h / np.sqrt(1 - (shape[0] * h) ** 2)
    return sphere + 4 * shape[1] * h**3 + 6 * shape[2] * h**5


# %%
# Where the rays meet it, and how they are bent there (Snell's law, as vectors).


def meet(shape, z0, z, h, dz, dh):
    """The distance along each ray to the surface, by Newton's method."""
    t = (z0 - z) / dz
    for _ in range(20):
        miss = z + t * dz - z0 - sag(shape, h + t * dh)
        if np.max(np.abs(miss)) < 1e-12:
            break
        t = t - miss / (dz - sag_slope(shape, h + t * dh) * dh)
    return t


def refract(shape, h, dz, dh, ratio):
    slope = sag_slope(shape, h)
    norm = np.sqrt(1 + slope**2)
    nz, nh = -1 / norm, slope / norm
    cosine = -(nz * dz + nh * dh)
    inside = ratio * cosine - np.sqrt(1 - ratio**2 * (1 - cosine**2))
    return ratio * dz + inside * nz, ratio * dh + inside * nh


def trace(front, back, heights, thickness):
    """Points where the rays meet the surfaces, and the directions in which they leave."""
    z, h = np.full(heights.shape, -1.0), heights
    dz, dh = np.ones(heights.shape), np.zeros(heights.shape)
    path = [(z, h)]
    for shape, z0, ratio in ((front, 0.0, 1 / GLASS), (back, thickness, GLASS)):
        t = meet(shape, z0, z, h, dz, dh)
        z, h = z + t * dz, h + t * dh
        path.append((z, h))
        dz, dh = refract(shape, h, dz, dh, ratio)
    return path, dz, dh


def misses(front, back, heights, thickness):
    """How far from the axis the rays reach the screen."""
    path, dz, dh = trace(front, back, heights, thickness)
    z, h = path[-1]
    return h + (FOCUS - z) / dz * dh


# %%
# A row of the Jacobian is a ray, a column a coefficient. Forward mode carries the derivatives
# along with the rays. This is what it makes of Snell's law where the glass itself is varied,
# which is how the colours come apart:

jacobian = jacfwd(misses, (0, 1))
print(jacfwd(refract, 4).source(np.ones(3), heights, heights**0, 0 * heights, 1 / GLASS))

# %%
# Two lenses: the best with spherical surfaces, and the best with two more coefficients for each.


def best(free):
    """The surfaces that bring the rays together, with so many coefficients each."""

    def surfaces(numbers):
        return numbers.reshape(2, free) @ np.eye(free, 3)

    def differences(numbers):
        return misses(*surfaces(numbers), heights, 0.7)

    def slopes(numbers):
        to_front, to_back = jacobian(*surfaces(numbers), heights, 0.7)
        return np.hstack([to_front[:, :free], to_back[:, :free]])

    start = np.zeros((2, free))
    start[:, 0] = 0.3, -0.3
    fit = least_squares(differences, start.ravel(), slopes, bounds=(-0.9, 0.9), xtol=1e-12)
    return surfaces(fit.x)


lenses = {"spherical surfaces": best(1), "aspherical surfaces": best(3)}
for name, (front, back) in lenses.items():
    spot = np.sqrt(np.mean(misses(front, back, heights, 0.7) ** 2))
    print(f"{name}: rays miss the axis by {1e3 * spot:.4f} thousandths")

# %%
# The rays, and beside them the spot on the screen.

fig, axes = plt.subplots(
    2, 2, figsize=(7.4, 4.9), width_ratios=[3.2, 1], sharex="col", squeeze=False
)
h = np.linspace(-1.08, 1.08, 200)
for (name, (front, back)), (ax, detail) in zip(lenses.items(), axes):
    path, dz, dh = trace(front, back, heights, 0.7)
    z, y = path[-1]
    end = (FOCUS + 0.4 - z) / dz
    zs = np.vstack([each[0] for each in path] + [z + end * dz])
    ys = np.vstack([each[1] for each in path] + [y + end * dh])
    ax.fill_betweenx(h, sag(front, h), 0.7 + sag(back, h), color="#bfdbfe", ec="#60a5fa", lw=1)
    ax.plot(zs, ys, color="#e4572e", lw=0.7, alpha=0.85)
    ax.axvline(FOCUS, color="#64748b", lw=1, ls=":")
    ax.set(title=name, xlim=(-1, FOCUS + 0.4), ylim=(-1.15, 1.15), yticks=[], aspect="equal")
    ax.spines["left"].set_visible(False)
    fine = np.linspace(-HEIGHT, HEIGHT, 400)
    detail.plot(1e3 * misses(front, back, fine, 0.7), fine, color="#2563eb")
    detail.set(yticks=[], title="miss")
    detail.spines["left"].set_position("zero")
axes[1][0].set_xlabel("along the axis")
axes[1][1].set_xlabel("thousandths")
plt.show()
