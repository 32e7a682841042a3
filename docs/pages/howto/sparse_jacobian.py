"""
Sparse Jacobians
================

The Jacobian of a discretised equation has a few numbers in each row. ``sparse_jacobian`` reads
off the program which, and gets them from a few directions: three for a chain of two thousand
unknowns, instead of two thousand. The result is a matrix of ``scipy.sparse``.
"""

import time

import matplotlib.pyplot as plt
import numpy as np
from scipy.sparse.linalg import spsolve

from s2s_ad import jacfwd, sparse_hessian, sparse_jacobian

# %%
# Burgers' equation, one implicit step: each unknown meets its neighbours alone.


def residual(new, old, dt):
    n = len(new)
    left, right = np.concatenate([[0.0], new[:-1]]), np.concatenate([new[1:], [0.0]])
    slope = new * (right - left) * (n / 2)
    return new - old + dt * (slope - 0.002 * (right - 2 * new + left) * n**2)


n = 2000
x = np.linspace(0, 1, n)
old = np.sin(np.pi * x) ** 2
jacobian = sparse_jacobian(residual)
print(repr(jacobian(old, old, 1e-3)))
print(jacobian.directions(old, old, 1e-3), "directions, computed by")
print(jacobian.source(old, old, 1e-3))

# %%
# It is the dense Jacobian, in a small part of the time.


def seconds(function, repeat):
    started = time.perf_counter()
    for _ in range(repeat):
        function(old, old, 1e-3)
    return (time.perf_counter() - started) / repeat


dense = jacfwd(residual)
np.testing.assert_allclose(jacobian(old, old, 1e-3).toarray(), dense(old, old, 1e-3), atol=1e-12)
print(f"sparse {1e3 * seconds(jacobian, 20):.2f} ms, dense {1e3 * seconds(dense, 2):.0f} ms")

# %%
# Newton's method with it: eighty implicit steps.

u, film = old, [old]
for step in range(80):
    new = u
    for _ in range(8):
        off = residual(new, u, 5e-3)
        if np.abs(off).max() < 1e-10:
            break
        new = new - spsolve(jacobian(new, u, 5e-3).tocsc(), off)
    u = new
    film.append(u)

fig, ax = plt.subplots(figsize=(6.4, 2.7))
for k in range(0, 81, 8):
    ax.plot(x, film[k], color=plt.get_cmap("viridis")(k / 90), lw=1.3)
ax.set(title="a wave steepens", xlabel="x", xlim=(0, 1))
plt.show()

# %%
# Hessians
# --------
#
# ``sparse_hessian`` does the same for a function of which the unknowns meet in small groups.


def rosenbrock(x):
    return np.sum(100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2)


curvature = sparse_hessian(rosenbrock)(np.ones(1000))
print(repr(curvature), curvature[:3, :3].toarray(), sep="\n")

# %%
# Where the pattern is known better than the program says it, or where values decide it, it is
# given: ``sparse_jacobian(f, pattern=matrix)``.
