"""
Write a rule of your own
========================

Where you know more about a derivative than the compiler can (a library's function, a solver, a
formula that is more stable), you say so. Rules are plain functions: they are compiled, batched
and differentiated again like any other.
"""

import numpy as np
import scipy.special

from s2s_ad import custom_rule, grad, insert_grad_of, jvp, stop_gradient, vmap
from s2s_ad.check import check

# %%
# Reverse code
# ------------
#
# ``reverse(y_bar, y, *args)`` gives the adjoint of each argument, from the adjoint of the
# result, the result and the arguments. Here the linear system is solved once more, with the
# transposed matrix.


def solve_reverse(x_bar, x, A, b):
    b_bar = np.linalg.solve(A.T, x_bar)
    return -np.outer(b_bar, x), b_bar


@custom_rule(reverse=solve_reverse)
def solve(A, b):
    return np.linalg.solve(A, b)


def norm(A, b):
    return np.sum(solve(A, b) ** 2)


A, b = np.array([[3.0, 1.0], [0.5, 2.0]]), np.array([1.0, -1.0])
print(grad(norm, (0, 1)).source(A, b))

# %%
# Test it: a wrong rule would be found.

print(check(grad(norm, (0, 1)), A, b))

# %%
# Forward code
# ------------
#
# ``forward(dots, y, *args)`` gives the tangent of the result from those of the arguments. It is
# linear in them, so reverse mode follows by itself: one rule for both.


@custom_rule(forward=lambda dots, y, x: dots[0] * y * (1 - y))
def logistic(x):
    return 1 / (1 + np.exp(-x))


print(jvp(lambda x: logistic(x), (0.3,), (1.0,)), grad(lambda x: logistic(x))(0.3))
print(grad(grad(lambda x: logistic(x)))(0.3))

# %%
# A function of a library
# -----------------------
#
# Nothing is known of a compiled function but that it can be called. That is enough.

airy = custom_rule(
    scipy.special.itairy, reverse=lambda y_bar, y, x: y_bar[0] * scipy.special.airy(x)[0], results=4
)
print(grad(lambda x: airy(x)[0])(0.5), "is", scipy.special.airy(0.5)[0])

# %%
# Changing a gradient on its way
# ------------------------------
#
# ``with insert_grad_of(y) as y_bar`` is code that runs in the backward pass, where the adjoint
# of ``y`` comes by: to clip it, to scale it, to look at it.


def clipped(x):
    y = x**2
    with insert_grad_of(y) as y_bar:
        y_bar = np.clip(y_bar, -1.0, 1.0)
    return np.sum(np.exp(y))


print(grad(clipped)(np.array([0.1, 2.0])))
print(grad(clipped).source(np.array([0.1, 2.0])))

# %%
# And ``stop_gradient`` says that a value counts as a constant.

print(grad(lambda x: stop_gradient(np.exp(x)) * x)(1.0), "is", np.exp(1.0))

# %%
# Batches use the rule for each sample, without a word from you.

print(vmap(grad(norm), in_axes=(None, 0))(A, np.eye(2)).shape)
