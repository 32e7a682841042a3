"""What it costs to write `grad(f)(x)` where it is called, beside a gradient that is kept.

    python benchmarks/inline.py

Each row is one way of writing it; all are timed in one run, in turn. The body of the function is
small, so that the way to it shows.
"""

import numpy as np
import timing

from s2s_ad import GradOperation, grad, jvp, value_and_grad, vjp, vmap

X, BATCH = np.ones(5), np.ones((4, 5))


def energy(x, k=1.0):
    return np.sum(np.sin(x) * x) * k


class Net:
    def __init__(self):
        self.scale = 2.0

    def __call__(self, x):
        return energy(x) * self.scale


KEPT, KEPT_BATCH, NET = grad(energy), vmap(grad(energy)), Net()
NUMBERS = iter(range(10**12))


def of_a_number():
    k = float(next(NUMBERS))
    return grad(lambda x: energy(x) * k)(X)


def of_an_array():
    w = np.full(5, float(next(NUMBERS)))
    return grad(lambda x: energy(x * w))(X)


def of_a_default():
    return grad(lambda x, k=float(next(NUMBERS)): energy(x) * k)(X)


def hessian_vector_product():
    p = np.full(5, float(next(NUMBERS)))
    return grad(lambda x: grad(energy)(x) @ p)(X)


def kept_product(product=grad(lambda x, p: grad(energy)(x) @ p)):
    return product(X, np.full(5, float(next(NUMBERS))))


ROWS = {
    "kept(x)": lambda: KEPT(X),
    "grad(f)(x)": lambda: grad(energy)(X),
    "grad(f)(x=x)": lambda: grad(energy)(x=X),
    "value_and_grad(f)(x)": lambda: value_and_grad(energy)(X),
    "vmap(kept)(xs)": lambda: KEPT_BATCH(BATCH),
    "vmap(grad(f))(xs)": lambda: vmap(grad(energy))(BATCH),
    "a lambda over a number": of_a_number,
    "a lambda over an array": of_an_array,
    "a lambda with a default": of_a_default,
    "a kept Hessian-vector product": kept_product,
    "a Hessian-vector product": hessian_vector_product,
    "GradOperation()(net)(x)": lambda: GradOperation()(NET)(X),
    "jvp(f, x, v)": lambda: jvp(energy, X, X),
    "vjp(f, x)": lambda: vjp(energy, X)[1](1.0),
}


def measured(rows=ROWS, **options):
    """Seconds of a call, by row."""
    return dict(zip(rows, timing.medians([(run, ()) for run in rows.values()], **options)))


def main():
    for name, seconds in measured().items():
        print(f"{name:30} {timing.shown(seconds):>10}")


if __name__ == "__main__":
    main()
