"""A user's file, as type checkers read it: a line that ends in `# wrong` is a mistake they find.

It also runs, but for these lines, which stand in functions that nobody calls.
"""

import numpy as np
import numpy.typing as npt

import s2s_ad
from s2s_ad import custom_rule, grad, hessian, jit, nn, stop_gradient, value_and_grad, vmap

Vector = npt.NDArray[np.float64]


def loss(w: Vector, x: Vector, scale: float = 1.0) -> float:
    return float(np.sum(w * x) * scale)


slope = grad(loss)
both = value_and_grad(loss, (0, 1))
compiled = jit(loss)
batch = vmap(grad(loss), in_axes=(None, 0))
nested = jit(grad(grad(loss)))
seeded = grad(loss, sens_param=True)


@grad
def plain(x: float) -> float:
    return x * x


@grad(argnums=1)
def with_options(x: float, y: float) -> float:
    return x * y


@jit(jit_level="O1")
def fast(x: float) -> float:
    return x * x


@custom_rule(reverse=lambda y_bar, y, x: y_bar * x)
def ruled(x: float) -> float:
    return x


class Model:
    def __init__(self, k: float) -> None:
        self.k = k

    @grad
    def slope(self, x: float) -> float:
        return x * self.k

    @jit
    def value(self, x: float) -> float:
        return x * self.k


class Net(nn.Cell):
    def construct(self, x: Vector) -> Vector:
        return x * 2.0


def right(w: Vector, x: Vector) -> None:
    slope(w, x)
    slope(w, x, scale=2.0)
    value, _ = both(w, x)
    value.is_integer()
    (compiled(w, x) + 1.0).is_integer()
    batch(w, np.stack([x, x]))
    nested(w, x)
    seeded(w, x, 1.0)
    plain(2.0)
    with_options(2.0, 3.0)
    fast(2.0).is_integer()
    ruled(2.0).is_integer()
    Model(2.0).slope(3.0)
    Model(2.0).value(3.0).is_integer()
    slope.source(w, x, standalone=True).splitlines()
    slope.explain(w, x).splitlines()
    hessian(loss)(w, x)
    grad(Net())(x)
    stop_gradient(2.0).is_integer()
    s2s_ad.__version__.split(".")


def mistakes(w: Vector, x: Vector) -> None:
    slope("wrong", x)  # wrong
    slope(w)  # wrong
    slope(w, x, 1.0, 2.0)  # wrong
    slope(w, x, scal=2.0)  # wrong
    slope.sourc(w, x)  # wrong
    slope.source(w, x).appendd("")  # wrong
    both(w, "x")  # wrong
    compiled(w, x).splitlines()  # wrong
    _, _, _ = both(w, x)  # wrong
    nested(w, None)  # wrong
    plain("2.0")  # wrong
    with_options(2.0)  # wrong
    fast(2.0).upper()  # wrong
    ruled("2.0")  # wrong
    Model(2.0).slope("3.0")  # wrong
    Model(2.0).value(3.0, 4.0)  # wrong
    grad(loss, argnums="w")  # wrong
    grad(loss, has_auxx=True)  # wrong
    grad(3.0)  # wrong
    s2s_ad.gradd(loss)  # wrong
    s2s_ad.nn.Densee(3, 2)  # wrong
