"""
Learn what a Kalman filter should trust
=======================================

A drone sends its position now and then, and some messages are lost. A Kalman filter follows it,
if it knows how far to trust its model and how far the messages. Both are learned: the likelihood
of what was heard is a loop with matrices, a branch and an update in place, and its gradient is
generated.
"""

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.patches import Circle
from scipy.optimize import minimize

from s2s_ad import grad, value_and_grad

# %%
# A flight, and what is heard of it.

rng = np.random.default_rng(5)
t = np.linspace(0, 6.2, 260)
path = np.stack([2.2 * np.sin(t) + 0.4 * np.sin(3.1 * t), 1.3 * np.sin(2 * t + 0.4)], 1)
heard = path + rng.normal(0, 0.2, path.shape)
lost = rng.random(len(t)) < 0.3
lost[138:152] = True
heard[lost] = np.nan

# %%
# The filter. Where a message was lost it goes on by itself, which is a ``continue``.


def surprise(log_noise, heard, dt):
    """Minus the logarithm of the likelihood of what was heard."""
    push, blur = np.exp(log_noise[0]), np.exp(log_noise[1])
    step = np.eye(4)
    step[0, 2] = step[1, 3] = dt
    spread = np.zeros((4, 4))
    spread[2, 2] = spread[3, 3] = push**2 * dt
    state, cov = np.zeros(4), np.eye(4)
    total = 0.0
    for message in heard:
        state = step @ state
        cov = step @ cov @ step.T + spread
        if np.isnan(message[0]):
            continue
        off = message - state[:2]
        seen = cov[:2, :2] + blur**2 * np.eye(2)
        gain = np.linalg.solve(seen, cov[:2]).T
        total += 0.5 * off @ np.linalg.solve(seen, off) + 0.5 * np.log(np.linalg.det(seen))
        state = state + gain @ off
        cov = cov - gain @ cov[:2]
    return total


slope = value_and_grad(surprise)
dt = t[1] - t[0]
print(grad(surprise).source(np.zeros(2), heard, dt))

# %%
# Two numbers are learned by BFGS.

fit = minimize(slope, np.zeros(2), args=(heard, dt), jac=True, method="BFGS")
push, blur = np.exp(fit.x)
print(f"messages are off by {blur:.3f} (truth 0.2)")
print(f"surprise {slope(np.zeros(2), heard, dt)[0]:.0f} -> {fit.fun:.0f}")

# %%
# The path that the filter sees with what we first assumed, and with what it has learned.


def follow(log_noise):
    """Mean and spread of the position after each message, by the same steps."""
    step, spread = np.eye(4), np.zeros((4, 4))
    step[0, 2] = step[1, 3] = dt
    spread[2, 2] = spread[3, 3] = np.exp(log_noise[0]) ** 2 * dt
    state, cov, means, spreads = np.zeros(4), np.eye(4), [], []
    for message in heard:
        state, cov = step @ state, step @ cov @ step.T + spread
        if not np.isnan(message[0]):
            gain = np.linalg.solve(cov[:2, :2] + np.exp(log_noise[1]) ** 2 * np.eye(2), cov[:2]).T
            state, cov = state + gain @ (message - state[:2]), cov - gain @ cov[:2]
        means.append(state[:2])
        spreads.append(np.sqrt(cov[0, 0]))
    return np.array(means), np.array(spreads)


fig, axes = plt.subplots(1, 2, figsize=(8.2, 3.1), sharey=True)
for ax, noise, title in zip(axes, (np.array([-0.7, 0.0]), fit.x), ("guessed", "learned")):
    means, spreads = follow(noise)
    ax.plot(*path.T, color="#94a3b8", lw=1.2, ls="--", label="where it is")
    ax.scatter(*heard.T, s=8, color="#64748b", alpha=0.7, label="messages")
    for mean, spread in zip(means[3::2], spreads[3::2]):
        ax.add_patch(Circle(mean, 2 * spread, color="#2563eb", alpha=0.07, lw=0))
    ax.plot(*means[3:].T, color="#2563eb", label="filter")
    ax.set(title=title, aspect="equal", xlim=(-3.3, 3.3), ylim=(-2.1, 2.1))
    ax.axis("off")
axes[1].legend(loc="lower right", fontsize=8, bbox_to_anchor=(1.0, -0.12), ncols=3)
plt.show()
