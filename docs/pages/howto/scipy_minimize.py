"""
Minimize with SciPy
===================

``scipy.optimize`` takes gradients, Hessians and products with them from here as they are.
"""

import numpy as np
from scipy.optimize import minimize

from s2s_ad import grad, hessian, jacfwd, value_and_grad


def rosenbrock(x, a=1.0):
    return np.sum(100 * (x[1:] - x[:-1] ** 2) ** 2 + (a - x[:-1]) ** 2)


start = np.full(20, -1.0)

# %%
# Value and gradient together
# ---------------------------
#
# ``jac=True`` says that the function gives both. This is what you want nearly always.

fit = minimize(value_and_grad(rosenbrock), start, jac=True, method="L-BFGS-B")
print(fit.message, fit.nfev, np.abs(fit.x - 1).max())

# %%
# With arguments, bounds and constraints
# --------------------------------------
#
# ``args`` are passed on. The Jacobian of a constraint is :func:`~s2s_ad.jacfwd` or ``jacrev``
# of it.


def radius(x):
    return np.array([4.0 - np.sum(x**2)])


fit = minimize(
    value_and_grad(rosenbrock),
    np.zeros(20),
    args=(1.0,),
    jac=True,
    method="SLSQP",
    constraints={"type": "ineq", "fun": radius, "jac": jacfwd(radius)},
)
print(fit.message, "on the sphere:", np.sum(fit.x**2))

# %%
# Second order
# ------------
#
# A Hessian for small problems; :doc:`products with it <newton_cg>` for large ones.

fit = minimize(
    value_and_grad(rosenbrock), start, jac=True, hess=hessian(rosenbrock), method="trust-exact"
)
print(fit.message, fit.nit, np.abs(fit.x - 1).max())

# %%
# The same functions serve ``root`` (``jac=jacfwd(f)``), ``check_grad`` and every other solver
# that takes a gradient. What SciPy itself gives, a root or a minimum, is differentiated too,
# with respect to what your function reads. (Where the solver says that it has failed, the
# derivative is nan.)


def depth(stiffness):
    lowest = minimize(lambda x: np.sum((x**2 - stiffness) ** 2), np.ones(2)).x
    return np.sum(lowest)


print(grad(depth)(np.array([4.0, 9.0])), "is", 1 / (2 * np.sqrt([4.0, 9.0])))
