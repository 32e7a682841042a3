"""Classes as people write them, without `dataclass`: what tests differentiate by."""

import abc
import functools
import itertools
from typing import Generic, TypeVar

import numpy as np

T = TypeVar("T")


class Dense:
    __slots__ = ("W", "b")

    def __init__(self, n, m, rng):
        self.W, self.b = rng.normal(size=(n, m)), rng.normal(size=m)

    def __call__(self, x):
        return x @ self.W + self.b


class Model(abc.ABC):
    scale = 2.0

    @abc.abstractmethod
    def forward(self, x): ...

    def __call__(self, x):
        self.seen = x
        return self.forward(x)


class Net(Model, Generic[T]):
    def __init__(self, *sizes):
        rng = np.random.default_rng(0)
        self.layers = [Dense(n, m, rng) for n, m in itertools.pairwise(sizes)]
        self.act, self.depth, self.label = np.tanh, len(self.layers), "net"
        self._gain = 0.7

    @property
    def gain(self):
        return self._gain**2

    @functools.cached_property
    def size(self):
        return sum(np.sum(each.W**2) for each in self.layers)

    def forward(self, x):
        for i, layer in enumerate(self.layers):
            x = layer(x)
            if i < self.depth - 1:
                x = self.act(x)
        return self.gain * self.scale * x


class Pair:
    def __init__(self, a, b):
        self.a, self.b = a, b

    def __add__(self, other):
        return Pair(self.a + other.a, self.b * other.b)


class Node:
    def __init__(self, value):
        self.value, self.next = value, None


class Whole(Pair):
    """An object that says itself what setting an attribute does."""

    def __setattr__(self, name, value):
        object.__setattr__(self, name, round(value))


def loss(net, x):
    return np.sum(net(x) ** 2) + 0.1 * net.size


def product(p, q):
    return (p + q).a * (p + q).b ** 2
