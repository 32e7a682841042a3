"""
6. When it refuses
==================

A derivative that cannot be proved right is not given. You get a refusal: what it is, where it
stands, why, and what to do instead. This page goes through those that people meet first.
"""

import numpy as np
from scipy.special import pbdv

from s2s_ad import S2SError, custom_rule, grad, stop_gradient, vmap


def refusal(function, *args):
    """What is said instead of a gradient."""
    try:
        grad(function)(*args)
    except S2SError as error:
        print(error)


# %%
# Changing what is not yours
# --------------------------
#
# A gradient runs the forward pass in its own way and at its own times, so it does not write to
# globals.

history = []


def logged(x):
    y = np.sum(x**2)
    history.append(y)
    return y


refusal(logged, np.ones(3))

# %%
# The code in the first line has :doc:`a page of its own </errors/index>`. The help says what to
# do: what is to be kept is returned beside the value, with ``has_aux=True``.


def with_history(x):
    y = np.sum(x**2)
    return y, y


slope, (seen,) = grad(with_history, has_aux=True)(np.ones(3))
print(slope, seen)

# %%
# What has no derivative
# ----------------------
#
# A number that counts is nothing to differentiate by.


def whole(n):
    return n * 2.0


refusal(whole, 3)

# %%
# 3 is an int. With ``3.0`` it works.

print(grad(whole)(3.0))

# %%
# A function without a rule
# -------------------------
#
# Some functions of libraries have no rule. Then you give one. The refusal writes down the
# skeleton.


def cylinder(x):
    return pbdv(1.5, x)[0]


refusal(cylinder, 0.5)

# %%
# This one is easy: SciPy gives the derivative of the parabolic cylinder function beside its
# value.


def pbdv_reverse(y_bar, y, order, x):
    return None, y_bar[0] * y[1]


D = custom_rule(pbdv, reverse=pbdv_reverse, results=2)
print(grad(lambda x: D(1.5, x)[0])(0.5), "is", pbdv(1.5, 0.5)[1])

# %%
# Two samples that do not fit together
# ------------------------------------
#
# Results of a batch are one array, so all samples have to give the same shape.


def kept(x):
    return x[x > 0]


try:
    vmap(kept)(np.array([[1.0, -1.0], [2.0, 3.0]]))
except S2SError as error:
    print(error)

# %%
# Where nothing is refused, and something is to be left out
# ----------------------------------------------------------
#
# ``stop_gradient`` says of a value that it counts as a constant.

print(grad(lambda x: stop_gradient(x) * x)(3.0))

# %%
# Every code, from ``S2S101`` on, has :doc:`its page </errors/index>`, which is also in the
# terminal: ``s2s-ad help S2S207``. What the compiler reads is :doc:`a list </language>`, and so
# are :doc:`the functions that have rules </rules>`.
