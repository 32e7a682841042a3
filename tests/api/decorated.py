"""Functions that are decorated where they are defined: test_protocols pickles them by name."""

import numpy as np

from s2s_ad import checkpoint, custom_rule, grad, jit, vmap


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


def double_adjoint(y_bar, y, x):
    return 2 * y_bar * x


@custom_rule(reverse=double_adjoint)
def with_own_rule(x):
    return np.sum(x * x)


@checkpoint
def again(x):
    return np.sum(np.sin(x))


def cubes(x):
    return np.sum(x**3)


@grad
@checkpoint
def slope_again(x):
    return np.sum(np.cos(x))


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
