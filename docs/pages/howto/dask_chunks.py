"""
Many cores and many machines: Dask
==================================

A loss that is a sum over samples is computed chunk by chunk. ``parallel.data_parallel`` hands the
generated text to Dask's workers and adds what they find.
"""

import dask
import dask.array as da
import numpy as np

from s2s_ad import grad, parallel, value_and_grad

# %%
# A loss over many samples
# ------------------------


def loss(w, x, y):
    return np.sum(np.logaddexp(0.0, -y * (x @ w)))


rng = np.random.default_rng(0)
x, truth = rng.normal(size=(20_000, 5)), np.arange(5.0) - 2
y = np.sign(x @ truth + rng.normal(size=20_000))
w = np.zeros(5)

# %%
# Chunks of data
# --------------
#
# ``in_axes`` says which arguments hold samples, as for ``vmap``. Arrays are cut; Dask's arrays
# are taken chunk by chunk where they are. Without a client the chunks run on threads of this
# process; with ``dask.distributed.Client`` they run on its workers, and nothing else changes.

step = parallel.data_parallel(value_and_grad(loss), in_axes=(None, 0, 0), reduce="sum")
xs, ys = da.from_array(x, chunks=(2500, 5)), da.from_array(y, chunks=2500)
value, slope = step(w, xs, ys)
np.testing.assert_allclose(slope, grad(loss)(w, x, y), rtol=1e-9)
print(value, slope)

# %%
# What would travel, and what a lost worker would cost, can be asked before anything runs.

print(parallel.explain_parallel(step, w, xs, ys))

# %%
# A gradient for each sample, as an array of Dask
# -----------------------------------------------


def one(w, x, y):
    return np.logaddexp(0.0, -y * (x @ w))


per_sample = parallel.vmap(grad(one), in_axes=(None, 0, 0))(w, xs, ys)
print(per_sample)
print(per_sample.std(axis=0).compute())

# %%
# Without Dask's collections
# --------------------------
#
# A transformed function can be pickled, in a few hundred bytes, so every pool takes it:
# ``concurrent.futures``, ``joblib``, or ``dask.delayed``.

delayed = [dask.delayed(grad(loss))(w, x[k::4], y[k::4]) for k in range(4)]
print(sum(dask.compute(*delayed, scheduler="threads")))

# %%
# :doc:`More on chunks, training and checkpoints </parallel>`.
