"""
A Gaussian process that tunes itself
====================================

Thirty measurements, a curve through them with its uncertainty, and the question how smooth and
how noisy it is. The answer is where the likelihood is greatest; its gradient goes through a
Cholesky factor, and batches it for twelve first guesses at once.
"""

import matplotlib.pyplot as plt
import numpy as np
from scipy.linalg import cho_solve, cholesky
from scipy.optimize import minimize

from s2s_ad import grad, value_and_grad, vmap

# %%

rng = np.random.default_rng(1)
x = np.sort(np.concatenate([rng.uniform(0, 4, 20), rng.uniform(6.5, 10, 12)]))
y = np.sin(1.3 * x) + 0.3 * np.cos(4 * x) + rng.normal(0, 0.12, x.shape)


def kernel(a, b, scale, height):
    return height**2 * np.exp(-0.5 * ((a[:, None] - b) / scale) ** 2)


def surprise(log_p, x, y):
    """Minus the logarithm of the marginal likelihood."""
    scale, height, noise = np.exp(log_p)
    factor = cholesky(kernel(x, x, scale, height) + noise**2 * np.eye(len(x)), lower=True)
    weights = cho_solve((factor, True), y)
    return 0.5 * y @ weights + np.sum(np.log(np.diag(factor)))


print(grad(surprise).source(np.zeros(3), x, y))

# %%
# The surface has more than one valley, so several guesses are tried. ``vmap`` of the gradient
# takes them all at once; a few steps of plain descent show which are worth more.

slope = value_and_grad(surprise)
starts = rng.uniform([-2, -1, -3], [1.5, 1, 0], (12, 3))
all_slopes = vmap(grad(surprise), in_axes=(0, None, None))
points = starts.copy()
trails = [points.copy()]
for _ in range(60):
    steps = all_slopes(points, x, y)
    points -= 0.15 * steps / (1 + np.linalg.norm(steps, axis=1, keepdims=True))
    trails.append(points.copy())
trails = np.array(trails)
best = min(points, key=lambda p: slope(p, x, y)[0])
fit = minimize(slope, best, args=(x, y), jac=True, method="BFGS")
scale, height, noise = np.exp(fit.x)
print(f"length scale {scale:.2f}, height {height:.2f}, noise {noise:.3f} (truth 0.12)")

# %%


def posterior(log_p, at):
    scale, height, noise = np.exp(log_p)
    within = kernel(x, x, scale, height) + noise**2 * np.eye(len(x))
    across = kernel(at, x, scale, height)
    mean = across @ np.linalg.solve(within, y)
    cov = kernel(at, at, scale, height) - across @ np.linalg.solve(within, across.T)
    return mean, cov


at = np.linspace(-0.4, 10.6, 300)
fig, (left, right) = plt.subplots(1, 2, figsize=(8.4, 3.2), width_ratios=[2.2, 1])
mean, cov = posterior(fit.x, at)
sd = np.sqrt(np.diag(cov).clip(0))
for width, alpha in ((2, 0.14), (1, 0.22)):
    left.fill_between(at, mean - width * sd, mean + width * sd, color="#2563eb", alpha=alpha, lw=0)
draws = rng.multivariate_normal(mean, cov + 1e-9 * np.eye(len(at)), 3, method="eigh")
left.plot(at, draws.T, color="#2563eb", lw=0.6, alpha=0.7)
left.plot(at, mean, color="#1e3a8a")
left.plot(x, y, "o", ms=4.5, color="#e4572e", mec="white", mew=0.7)
left.set(title="what is known between the points", xlim=(at[0], at[-1]), ylim=(-2.4, 2.4))
grid = np.stack(np.meshgrid(np.linspace(-2.2, 1.7, 60), np.linspace(-3.2, 0.2, 60)), -1)
full = np.stack([grid[..., 0], np.full(grid.shape[:2], fit.x[1]), grid[..., 1]], -1).reshape(-1, 3)
values = np.array([slope(p, x, y)[0] for p in full]).reshape(60, 60)
right.contourf(grid[..., 0], grid[..., 1], np.log(values - values.min() + 1), 24, cmap="Blues_r")
right.plot(trails[:, :, 0], trails[:, :, 2], color="#e4572e", lw=1, alpha=0.8)
right.plot(fit.x[0], fit.x[2], "*", ms=13, color="#fbbf24", mec="#1f2937", mew=0.6)
right.set(title="twelve descents", xlabel="log length scale", ylabel="log noise")
right.set(xlim=(-2.2, 1.7), ylim=(-3.2, 0.2))
plt.show()
