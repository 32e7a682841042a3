"""
1. A first gradient
===================

You give the compiler a function; you get a function. This page takes one step at a time: a
derivative, a gradient, its text, several arguments, value and gradient together, and a check.
"""

import numpy as np

from s2s_ad import grad, hessian, value_and_grad
from s2s_ad.check import check

# %%
# A number
# --------
#
# :func:`~s2s_ad.grad` takes a function of a number and gives its derivative, which is a
# function of a number, too.


def cube(x):
    return x**3


slope = grad(cube)
slope(2.0)

# %%
# It is not a table of numbers, and no graph is kept: it is a function of Python that was written
# when it was first called. Here it is.

print(slope.source(2.0))

# %%
# A derivative is a function like any other, so it can be differentiated again.

print(grad(slope).source(2.0))

# %%
# An array
# --------
#
# Of a function of an array the gradient is an array of the same shape.


def loss(w, x, y):
    error = np.tanh(x @ w) - y
    return np.sum(error**2)


rng = np.random.default_rng(0)
w, x, y = rng.normal(size=3), rng.normal(size=(5, 3)), rng.normal(size=5)
grad(loss)(w, x, y)

# %%
# The text has your names: ``w_bar`` is the adjoint of ``w``, which is to say how much the
# result changes where ``w`` does. The comments name the lines of yours that a line belongs to.

print(grad(loss).source(w, x, y))

# %%
# Read it from the top: the forward part computes what the function computes, and keeps what the
# backward part needs; the backward part goes through the same lines from the last to the first.
# It does not compute ``np.sum(error**2)``, because the gradient does not need it.
#
# Which argument, and how many
# ----------------------------
#
# The first argument is differentiated. Others are chosen by position.

for_x, for_y = grad(loss, (1, 2))(w, x, y)
print(for_x.shape, for_y.shape)

# %%
# Whoever minimizes wants the value, too. Both are computed together, and share what they can.

value, for_w = value_and_grad(loss)(w, x, y)
print(value, for_w)

# %%
# Containers
# ----------
#
# Arguments may be dicts, tuples, lists, dataclasses and objects of plain classes. The gradient has
# the same form.


def model_loss(model, x, y):
    hidden = np.tanh(x @ model["hidden"])
    return np.mean((hidden @ model["out"] - y) ** 2)


model = {"hidden": rng.normal(size=(3, 4)), "out": rng.normal(size=4)}
{name: slope.shape for name, slope in grad(model_loss)(model, x, y).items()}

# %%
# Is it right?
# ------------
#
# ``check`` compares the gradient with differences, and reverse mode with forward mode.

print(check(grad(loss), w, x, y))

# %%
# Second derivatives are not special either.

print(hessian(lambda v: v[0] ** 2 * v[1])(np.array([1.0, 2.0])))

# %%
# Next: what happens to loops, and to arrays that change.
