"""Functions that are decorated where they are defined: test_protocols pickles them by name."""

import numpy as np

from s2s_ad import grad, jit, vmap


@grad
def slope(x):
    """The slope of a parabola."""
    return np.sum(x * x)


@vmap
@grad(grad_position=1)
def each_slope(x, y):
    return np.sum(x * y * y)


def plain(x, y):
    return np.sum(x * y)


grad_of_plain = grad(plain, (0, 1))
jitted = jit(slope)


class Model:
    rate = 2.0

    def __init__(self, w):
        self.w = w

    @grad
    def loss(self, x):
        return np.sum(self.w * x * x)

    @grad(grad_position=1)
    def second(self, x, y):
        return np.sum(self.w * x * y)

    @staticmethod
    @grad
    def inner_static(x):
        return np.sum(x * x)

    @grad
    @staticmethod
    def outer_static(x):
        return np.sum(x * x)

    @grad
    @classmethod
    def of_class(cls, x):
        return np.sum(cls.rate * x * x)

    def plain(self, x):
        return np.sum(self.w * x)

    def __call__(self, x):
        return np.sum(self.w * x**3)


class Child(Model):
    rate = 5.0
