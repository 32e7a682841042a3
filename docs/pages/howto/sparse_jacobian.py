"""
Sparse Jacobians
================

The Jacobian of a discretised equation has a few numbers in each row. It is got from as many
directions as there are colours, three for a chain of two thousand unknowns, instead of two
thousand.
"""

import time

import matplotlib.pyplot as plt
import numpy as np
import scipy.sparse
from scipy.sparse.linalg import spsolve

from s2s_ad import jacfwd, jvp, vmap

# %%
# Burgers' equation, one implicit step: each unknown meets its neighbours alone.


def residual(new, old, dt):
    n = len(new)
    left, right = np.concatenate([[0.0], new[:-1]]), np.concatenate([new[1:], [0.0]])
    slope = new * (right - left) * (n / 2)
    return new - old + dt * (slope - 0.002 * (right - 2 * new + left) * n**2)


# %%
# Columns that share no row can be looked at together: here every third.

n = 2000
colours = np.arange(n) % 3
seeds = (colours == np.arange(3)[:, None]).astype(float)
rows, columns = scipy.sparse.diags([np.ones(n)] * 3, [-1, 0, 1], (n, n)).nonzero()


def product(seed, new, old, dt):
    """The Jacobian times a direction."""
    return jvp(lambda new: residual(new, old, dt), (new,), (seed,))[1]


products = vmap(product, in_axes=(0, None, None, None))


def jacobian(new, old, dt):
    compressed = products(seeds, new, old, dt)
    values = compressed[colours[columns], rows]
    return scipy.sparse.csr_matrix((values, (rows, columns)), shape=(n, n))


x = np.linspace(0, 1, n)
old = np.sin(np.pi * x) ** 2
print(products.source(seeds, old, old, 1e-3))

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

u, films = old, [old]
for step in range(80):
    new = u
    for _ in range(8):
        off = residual(new, u, 5e-3)
        if np.abs(off).max() < 1e-10:
            break
        new = new - spsolve(jacobian(new, u, 5e-3).tocsc(), off)
    u = new
    films.append(u)

fig, ax = plt.subplots(figsize=(6.4, 2.7))
for k in range(0, 81, 8):
    ax.plot(x, films[k], color=plt.get_cmap("viridis")(k / 90), lw=1.3)
ax.set(title="a wave steepens", xlabel="x", xlim=(0, 1))
plt.show()
