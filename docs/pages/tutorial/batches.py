"""
3. Batches
==========

:func:`~s2s_ad.vmap` makes of a function of one sample a function of many. What it writes has no
loop over the samples, wherever there is an operation of NumPy for all of them.
"""

import numpy as np

from s2s_ad import grad, jacfwd, vmap

# %%
# A function of one sample
# ------------------------


def loss(w, x, y):
    error = np.tanh(x @ w) - y
    return error**2


rng = np.random.default_rng(0)
w, xs, ys = rng.normal(size=3), rng.normal(size=(5, 3)), rng.normal(size=5)

# %%
# ``in_axes`` says which arguments have a sample axis, and where. The weights are shared, so they
# have none.

losses = vmap(loss, in_axes=(None, 0, 0))
print(losses(w, xs, ys))
print(losses.source(w, xs, ys))

# %%
# A gradient for each sample
# --------------------------
#
# The order in which transforms are put together says what is meant: ``vmap(grad(loss))`` is a
# gradient for each sample, ``grad`` of a sum over ``vmap(loss)`` is one for all.

per_sample = vmap(grad(loss), in_axes=(None, 0, 0))
print(per_sample(w, xs, ys).shape)
print(per_sample.source(w, xs, ys))

# %%
# Nothing that the samples share is copied, and one compilation serves batches of every size.
#
# Samples may go different ways
# -----------------------------
#
# A branch that depends on the sample becomes a choice; a loop runs as long as a sample needs it.


def settle(x, speed):
    steps = 0
    while x > 1.0:
        x = x - speed * x
        steps += 1
    if steps > 3:
        x = x / 2
    return x


starts = np.array([0.5, 1.5, 20.0])
together = vmap(grad(settle), in_axes=(0, None))(starts, 0.4)
alone = [grad(settle)(start, 0.4) for start in starts]
print(together, alone)

# %%
# Batches of Jacobians
# --------------------


def rotate(angle, point):
    c, s = np.cos(angle), np.sin(angle)
    return np.array([c * point[0] - s * point[1], s * point[0] + c * point[1]])


jacobians = vmap(jacfwd(rotate, 1), in_axes=(0, 0))
print(jacobians(np.array([0.0, np.pi / 2]), np.ones((2, 2))).round(3))

# %%
# Where there is no batched form, ``vmap`` says so and goes through the samples one by one: the
# result is the same.
