"""
Give a function to PyTorch or JAX
=================================

A simulation in NumPy, inside a model of PyTorch or JAX: ``s2s_ad.interop`` makes of it a
function of tensors, which these libraries differentiate, by the gradient that was generated.
"""

# %%
# The function
# ------------
#
# A loop that updates in place, as these libraries would not take it.

import numpy as np
from scipy.optimize import minimize

from s2s_ad import grad, interop


def energy(u, k):
    u = u.copy()
    for _ in range(20):
        u[1:-1] += k * (u[2:] - 2 * u[1:-1] + u[:-2])
    return np.sum(u**2)


u = np.sin(np.linspace(0, 3, 9))
print(grad(energy, (0, 1))(u, 0.1))

# %%
# PyTorch
# -------
#
# .. code-block:: python
#
#    import torch
#
#    simulated = interop.torch(energy)
#    u = torch.tensor(u, requires_grad=True)
#    k = torch.tensor(0.1, dtype=torch.float64, requires_grad=True)
#    simulated(u, k).backward()
#    u.grad, k.grad
#
# It is differentiated twice where that is asked for, and ``torch.func.vmap`` makes one call of
# the batched function. Tensors on the CPU share their memory with the arrays.
#
# JAX
# ---
#
# .. code-block:: python
#
#    import jax
#
#    simulated = interop.jax(energy)
#    jax.jit(jax.grad(lambda u: simulated(u, 0.1)))(jax.numpy.asarray(u))
#
# It works under ``jit`` and ``vmap``; JAX calls back to NumPy, so the speed is that of NumPy.
# JAX computes in float32 unless it is told otherwise.
#
# SciPy
# -----
#
# SciPy's optimizers want a vector. Parameters in a dict or a dataclass are put into one, and
# taken out again, by ``interop.fun_and_jac`` and ``interop.vector``.

x = np.linspace(-2, 2, 40)
y = np.tanh(1.5 * x - 0.3)


def miss(model):
    return np.mean((np.tanh(model["slope"] * x + model["offset"]) - y) ** 2)


model = {"slope": 1.0, "offset": 0.0}
fit = minimize(
    interop.fun_and_jac(miss, like=model), interop.vector(model), jac=True, method="BFGS"
)
print(fit.x.round(4), fit.fun)
