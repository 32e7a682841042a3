"""
2. Loops and updates in place
=============================

NumPy is written in loops that change arrays. Libraries that record operations ask you to write
``jnp.where``, ``lax.scan`` and ``x.at[i].set`` instead; here you write Python.
"""

import numpy as np

from s2s_ad import checkpoint, grad, value_and_grad

# %%
# A simulation
# ------------
#
# Heat moves along a rod. The array is updated in place, and the number of steps is an argument.


def energy(u, k, steps):
    u = u.copy()
    for _ in range(steps):
        u[1:-1] += k * (u[2:] - 2 * u[1:-1] + u[:-2])
    return np.sum(u**2)


u = np.sin(np.linspace(0, 3, 9))
print(grad(energy, (0, 1)).source(u, 0.1, 5))

# %%
# The backward pass is the same loop again, and updates its adjoints in place as well. Each pass
# of the forward loop keeps one array, which the derivative with respect to ``k`` needs. If only
# ``u`` is asked for, nothing is kept:

print(grad(energy).source(u, 0.1, 5))

# %%
# The caller's array stays as it was, and the code serves any length and any number of steps.

slope = grad(energy)
print(slope(u, 0.1, 5).shape, slope(np.ones(1000), 0.1, 50).shape, u[:3])

# %%
# Branches and early exits
# ------------------------
#
# ``if``, ``while``, ``break``, ``continue``, ``return`` in the middle: what happened on the way
# forward is known on the way back.


def root(a, tolerance):
    """A square root by Newton's method."""
    x = a
    while True:
        following = 0.5 * (x + a / x)
        if abs(following - x) < tolerance:
            return following
        x = following


print(grad(root)(9.0, 1e-12), "is", 1 / (2 * np.sqrt(9.0)))

# %%
# The way back runs as many passes as the way forward did, and knows in which of them it left.

print(grad(root).source(9.0, 1e-12))

# %%
# Lists that grow, and loops over rows
# ------------------------------------
#
# A list is filled as one fills it; an array is gone through by its rows.


def longest(points):
    """The length of the longest edge of a polygon, softly."""
    edges = []
    before = points[-1]
    for point in points:
        edges.append(np.sqrt(np.sum((point - before) ** 2)))
        before = point
    return np.log(np.sum(np.exp(np.array(edges))))


print(value_and_grad(longest)(np.array([[0.0, 0], [2, 0], [2, 1]])))

# %%
# Functions of yours
# ------------------
#
# A helper of more than one expression keeps its name: ``cell`` becomes ``cell_forward``, with
# what it keeps, and ``cell_backward``. So the gradient of a large program has the structure of
# the program, and its length is in proportion.


def cell(state, x, weights):
    gate = 1 / (1 + np.exp(-weights[0] * x))
    return gate * state + (1 - gate) * np.tanh(weights[1] * x)


def last(weights, xs):
    state = 0.0
    for x in xs:
        state = cell(state, x, weights)
    return state


print(grad(last).source(np.ones(2), np.ones(4)))

# %%
# Long loops
# ----------
#
# Where a loop runs so often that what it keeps does not fit into memory,
# :func:`~s2s_ad.checkpoint` keeps every n-th state only, and computes the passes between them
# again.


def walked(u, k, steps):
    for _ in checkpoint(range(steps), every=100):
        u = u + k * np.sin(u)
    return np.sum(u)


print(grad(walked, (0, 1))(np.ones(3), 0.01, 10_000))
print(grad(walked, (0, 1)).explain(np.ones(3), 0.01, 10_000))

# %%
# Next: many samples at once.
