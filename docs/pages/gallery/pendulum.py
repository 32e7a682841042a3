"""
Which pendulum is it?
=====================

A double pendulum is seen for three seconds by a poor camera: sixty noisy positions of its ends.
Which lengths and masses has it, and how did it start? Two hundred steps of Runge-Kutta are
differentiated with respect to seven unknowns, and the curvature at the end says how well each is
known.
"""

import matplotlib.pyplot as plt
import numpy as np
from scipy.optimize import least_squares

from s2s_ad import jacfwd

# %%
# The equations of motion, from a textbook, and the method that everybody writes once in his life.


def motion(state, lengths, ratio):
    """The derivatives of angles and speeds; `ratio` is the lower mass, where both weigh 1."""
    (a, b), (va, vb) = state[:2], state[2:]
    (la, lb), m = lengths, ratio
    sine, cosine = np.sin(a - b), np.cos(a - b)
    bottom = 1 - m * cosine**2
    to_a = 9.81 * (m * np.sin(b) * cosine - np.sin(a))
    to_a -= m * sine * (la * va**2 * cosine + lb * vb**2)
    to_b = sine * (la * va**2 + m * lb * vb**2 * cosine) + 9.81 * (np.sin(a) * cosine - np.sin(b))
    return np.array([va, vb, to_a / (la * bottom), to_b / (lb * bottom)])


def film(unknown, steps, every):
    """x and y of both ends in each frame."""
    lengths, ratio, state = unknown[:2], unknown[2], unknown[3:]
    dt = 3.0 / steps
    frames = []
    for step in range(steps):
        k1 = motion(state, lengths, ratio)
        k2 = motion(state + dt / 2 * k1, lengths, ratio)
        k3 = motion(state + dt / 2 * k2, lengths, ratio)
        k4 = motion(state + dt * k3, lengths, ratio)
        state = state + dt / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
        if (step + 1) % every == 0:
            x, y = lengths[0] * np.sin(state[0]), -lengths[0] * np.cos(state[0])
            x2, y2 = x + lengths[1] * np.sin(state[1]), y - lengths[1] * np.cos(state[1])
            frames.append(np.array([x, y, x2, y2]))
    return np.array(frames)


# %%
# What the camera saw.

truth = np.array([1.0, 0.8, 0.4, 1.0, -1.4, 0.0, 0.0])
names = ["upper length", "lower length", "share of lower mass"]
names += ["angle", "lower angle", "speed", "lower speed"]
rng = np.random.default_rng(2)
seen = film(truth, 240, 4) + rng.normal(0, 0.06, (60, 4))

# %%
# Least squares with the exact Jacobian: seven directions, carried along by forward mode in one
# run.

jacobian = jacfwd(film)
guess = np.array([1.08, 0.74, 0.46, 0.88, -1.3, 0.0, 0.2])
fit = least_squares(
    lambda unknown: (film(unknown, 240, 4) - seen).ravel(),
    guess,
    jac=lambda unknown: jacobian(unknown, 240, 4).reshape(-1, 7),
    max_nfev=40,
)
spread = np.sqrt(np.diag(np.linalg.inv(fit.jac.T @ fit.jac)) * 2 * fit.cost / (seen.size - 7))
for name, found, error, true in zip(names, fit.x, spread, truth):
    print(f"{name:24} {found:7.3f} ± {error:.3f}   (truth {true:.3f})")

# %%
# The picture: what the camera saw, the motion that was found, and where it started looking.

fig, axes = plt.subplots(1, 2, figsize=(8, 2.7))
for ax, unknown, title in zip(axes, (guess, fit.x), ("first guess", "found")):
    path = film(unknown, 240, 1)
    ax.scatter(*seen[:, 2:].T, s=9, color="#94a3b8", label="seen")
    ax.plot(*path[:, 2:].T, color="#e4572e", lw=1.3, alpha=0.9)
    ax.plot(*path[:, :2].T, color="#2563eb", lw=1.3, alpha=0.9)
    for frame, alpha in ((0, 0.35), (len(path) // 2, 0.6), (len(path) - 1, 1.0)):
        x, y, x2, y2 = path[frame]
        ax.plot([0, x, x2], [0, y, y2], "o-", color="#1f2937", lw=1.5, ms=5, alpha=alpha)
    ax.set(title=title, aspect="equal", xlim=(-1.9, 1.9), ylim=(-1.9, 0.4))
    ax.axis("off")
plt.show()
