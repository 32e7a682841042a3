"""
Newton-CG with Hessian-vector products
======================================

A Hessian of n² numbers is not needed where only its product with a direction is: forward mode
over reverse mode costs about two gradients.
"""

import time

import numpy as np
from scipy.optimize import minimize

from s2s_ad import grad, hessian, jit, jvp, value_and_grad


def loss(x):
    return np.sum(100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2)


slope = grad(loss)


def hessian_times(x, direction):
    return jvp(slope, (x,), (direction,))[1]


# %%
# It is what the Hessian would give.

x, direction = np.linspace(-1, 1, 6), np.arange(6.0)
print(hessian_times(x, direction) - hessian(loss)(x) @ direction)

# %%
# And it is what one would write by hand.


def product(x, direction):
    return jvp(slope, (x,), (direction,))


print(jit(product).source(x, direction))

# %%
# Three hundred unknowns:

start = np.zeros(300)
started = time.perf_counter()
fit = minimize(value_and_grad(loss), start, jac=True, hessp=hessian_times, method="Newton-CG")
print(fit.message, f"{fit.nhev} products, {time.perf_counter() - started:.1f} s")

# %%
# ``method="trust-ncg"`` and ``"trust-krylov"`` take ``hessp`` as well. A complete example, a
# regression with its ridge, is ``examples/newton_cg.py`` of the repository.
