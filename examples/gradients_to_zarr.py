"""One gradient for each sample of data that need not fit into memory, written to a Zarr store.

pip install s2s_ad[parallel,examples]. The shape and dtype of the store are known before anything is
computed; chunk after chunk is computed and written.
"""

import tempfile

import dask.array as da
import numpy as np

from s2s_ad import grad, parallel

COUNT, CHUNK, WIDTH = 6_000, 1_000, 20


def loss(w, x, y):
    return (np.tanh(x @ w) - y) ** 2


def main():
    rng = np.random.default_rng(0)
    w = rng.normal(size=WIDTH)
    random = da.random.default_rng(1)
    x = random.normal(size=(COUNT, WIDTH), chunks=(CHUNK, -1))
    y = random.uniform(size=COUNT, chunks=CHUNK)
    gradients = parallel.vmap(grad(loss), in_axes=(None, 0, 0))(w, x, y)
    print(gradients.shape, gradients.dtype, gradients.chunks[0])
    with tempfile.TemporaryDirectory() as store:
        gradients.to_zarr(store)
        held = da.from_zarr(store)
        norms = np.sqrt((held**2).sum(axis=1)).compute()
        sample = held[3_210].compute()
    tanh = np.tanh(x[3_210].compute() @ w)
    expected = 2 * (tanh - y[3_210].compute()) * (1 - tanh**2) * x[3_210].compute()
    print("the gradient of sample 3210 is right:", np.allclose(sample, expected))
    print(f"samples whose gradient is longer than 1: {np.mean(norms > 1):.1%}")


if __name__ == "__main__":
    main()

# Output:
#
# (6000, 20) float64 (1000, 1000, 1000, 1000, 1000, 1000)
# the gradient of sample 3210 is right: True
# samples whose gradient is longer than 1: 28.5%
