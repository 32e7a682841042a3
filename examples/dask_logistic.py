"""Logistic regression on a dask array: SciPy minimises, and each gradient is a sum over its chunks.

pip install s2s_ad[parallel,scipy]. As it stands the chunks are computed on threads. With a
`dask.distributed.Client` before main() they are on its workers, and nothing else changes.
"""

import dask.array as da
import numpy as np
from scipy.optimize import minimize

from s2s_ad import parallel, value_and_grad

TRUE = np.array([1.5, -2.0, 0.5, 0.0])


def samples(count=20_000, chunk=2_500):
    """Features and labels in chunks, each made where it is computed."""
    random = da.random.default_rng(0)
    x = random.normal(size=(count, len(TRUE)), chunks=(chunk, -1))
    chance = 1 / (1 + da.exp(-(x @ TRUE)))
    return x, (random.uniform(size=count, chunks=chunk) < chance).astype(np.float64)


def loss(w, x, y):
    score = x @ w
    return np.mean(np.logaddexp(0.0, score) - y * score)


def main():
    x, y = (each.persist() for each in samples())
    step = parallel.data_parallel(value_and_grad(loss), in_axes=(None, 0, 0))
    found = minimize(lambda w: step(w, x, y), np.zeros(len(TRUE)), jac=True, method="BFGS")
    print("converged:", found.success)
    print("farther than 0.1 from the true weights:", bool(np.any(np.abs(found.x - TRUE) > 0.1)))
    print(parallel.explain_parallel(step, found.x, x, y).splitlines()[0])


if __name__ == "__main__":
    main()

# Output:
#
# converged: True
# farther than 0.1 from the true weights: False
# 8 chunks of 2500 samples each, mean of 20000
