"""Objects: classes, dataclasses and namedtuples, as arguments and made on the way."""

import math
from abc import ABC, abstractmethod
from collections import namedtuple
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np

from programs.case import Case


class Layer:
    def __init__(self, weight, bias):
        self.weight = weight
        self.bias = bias

    def __call__(self, x):
        return self.activate(self.weight @ x + self.bias)

    def activate(self, x):
        return x


class Tanh(Layer):
    def activate(self, x):
        return np.tanh(x)


class Residual(Tanh):
    def __init__(self, weight, bias, scale=0.5):
        super().__init__(weight, bias)
        self.scale = scale

    def __call__(self, x):
        return x + self.scale * super().__call__(x)


def network_of_layers(weights, biases, x):
    layers = [
        Tanh(weights[0], biases[0]),
        Residual(weights[1], biases[1]),
        Residual(weights[2], biases[2], scale=0.1),
        Layer(weights[3], biases[3]),
    ]
    for layer in layers:
        x = layer(x)
    return np.sum(x**2)


@dataclass
class Model:
    weight: np.ndarray
    bias: np.ndarray
    log_noise: float

    def predict(self, x):
        return x @ self.weight + self.bias


def dataclass_likelihood(model, x, y):
    residual = y - model.predict(x)
    noise = np.exp(model.log_noise)
    return 0.5 * np.sum(residual**2) / noise + 0.5 * residual.size * model.log_noise


@dataclass(frozen=True)
class Body:
    position: np.ndarray
    velocity: np.ndarray
    mass: float = 1.0

    def kick(self, force, dt):
        return replace(self, velocity=self.velocity + force / self.mass * dt)

    def drift(self, dt):
        return replace(self, position=self.position + self.velocity * dt)


def two_bodies(position, velocity, mass):
    bodies = (Body(position, velocity, mass), Body(np.zeros(2), -0.1 * velocity))
    for _ in range(4):
        d = bodies[1].position - bodies[0].position
        force = d / (d @ d + 0.01) ** 1.5
        bodies = (bodies[0].kick(force, 0.1), bodies[1].kick(-force, 0.1))
        bodies = tuple(body.drift(0.1) for body in bodies)
    return sum(0.5 * b.mass * (b.velocity @ b.velocity) for b in bodies) + bodies[0].position[0]


State = namedtuple("State", "susceptible infected recovered")


def epidemic(beta, gamma, infected):
    state = State(1 - infected, infected, 0.0)
    peak = state.infected
    for day in range(10):
        new = beta * state.susceptible * state.infected
        healed = gamma * state.infected
        state = state._replace(
            susceptible=state.susceptible - new,
            infected=state.infected + new - healed,
            recovered=state.recovered + healed,
        )
        if state.infected > peak:
            peak = state.infected
    s, i, r = state
    return r + 0.5 * peak + s * i


class Circle:
    def __init__(self, radius):
        self._radius = radius
        self.changes = 0

    @property
    def radius(self):
        return self._radius

    @radius.setter
    def radius(self, value):
        if value <= 0:
            raise ValueError(f"radius {value} is not positive")
        self._radius = value
        self.changes += 1

    @property
    def area(self):
        return math.pi * self.radius**2

    @cached_property
    def first_area(self):
        return self.area


def inflate(radius, rate):
    circle = Circle(radius)
    start = circle.first_area
    for _ in range(3):
        circle.radius *= 1 + rate
        circle.radius = circle.radius + 0.1 * rate / circle.changes
    return (circle.area - start) / circle.first_area


class Pose:
    count = 0

    def __init__(self, x, y, angle):
        self.x, self.y, self.angle = x, y, angle

    @classmethod
    def from_polar(cls, r, phi):
        return cls(r * math.cos(phi), r * math.sin(phi), phi)

    @classmethod
    def identity(cls):
        return cls(0.0, 0.0, 0.0)

    @staticmethod
    def wrap(angle):
        while angle > math.pi:
            angle -= 2 * math.pi
        while angle <= -math.pi:
            angle += 2 * math.pi
        return angle

    def compose(self, other):
        c, s = math.cos(self.angle), math.sin(self.angle)
        return type(self)(
            self.x + c * other.x - s * other.y,
            self.y + s * other.x + c * other.y,
            self.wrap(self.angle + other.angle),
        )


def odometry(radii, turns):
    pose = Pose.identity()
    for r, phi in zip(radii, turns):
        pose = pose.compose(Pose.from_polar(r, phi))
    return pose.x**2 + pose.x * pose.y + pose.angle


class Dual:
    """Arithmetic by operators: a value with its derivative."""

    def __init__(self, value, slope=0.0):
        self.value, self.slope = value, slope

    def __add__(self, other):
        other = other if isinstance(other, Dual) else Dual(other)
        return Dual(self.value + other.value, self.slope + other.slope)

    __radd__ = __add__

    def __mul__(self, other):
        other = other if isinstance(other, Dual) else Dual(other)
        return Dual(self.value * other.value, self.value * other.slope + self.slope * other.value)

    __rmul__ = __mul__

    def __neg__(self):
        return Dual(-self.value, -self.slope)

    def __sub__(self, other):
        return self + -other

    def sin(self):
        return Dual(math.sin(self.value), math.cos(self.value) * self.slope)


def slope_by_duals(x, a, b):
    t = Dual(x, 1.0)
    y = 2 * t * t * t - (a * t).sin() + b
    z = y * t.sin() - t
    return z.slope + 0.1 * z.value


class Polynomial:
    def __init__(self, coefficients):
        self.coefficients = list(coefficients)

    def __len__(self):
        return len(self.coefficients)

    def __getitem__(self, i):
        return self.coefficients[i] if i < len(self) else 0.0

    def __iter__(self):
        return iter(self.coefficients)

    def __call__(self, x):
        result = 0.0
        for c in reversed(self.coefficients):
            result = result * x + c
        return result

    def __matmul__(self, other):
        product = [0.0] * (len(self) + len(other) - 1)
        for i, a in enumerate(self):
            for j, b in enumerate(other):
                product[i + j] += a * b
        return Polynomial(product)

    def derivative(self):
        return Polynomial(k * c for k, c in enumerate(self.coefficients) if k > 0)


def polynomial_algebra(p, q, x):
    product = Polynomial(p) @ Polynomial(q)
    slope = product.derivative()
    return slope(x) + product[1] * product[9] + product[2] ** 2


class Shape(ABC):
    density = 1.0

    @abstractmethod
    def area(self): ...

    def mass(self):
        return self.density * self.area()


class Rectangle(Shape):
    def __init__(self, w, h):
        self.w, self.h = w, h

    def area(self):
        return self.w * self.h


class Disc(Shape):
    density = 0.5

    def __init__(self, r):
        self.r = r

    def area(self):
        return np.pi * self.r**2

    def mass(self):
        return super().mass() + 0.1 * self.r


def total_mass(sizes):
    shapes: list[Shape] = [Rectangle(sizes[0], sizes[1]), Disc(sizes[2]), Rectangle(sizes[2], 2.0)]
    heavy = [s for s in shapes if isinstance(s, Disc) or s.w > 0.4]
    return sum(s.mass() for s in heavy) ** 2


class Account:
    def __init__(self, balance):
        self.balance = balance
        self.history = []

    def deposit(self, amount):
        self.balance += amount
        self.history.append(amount)
        return self

    def accrue(self, rate):
        interest = self.balance * rate
        return self.deposit(interest)


def savings(balance, deposits, rate):
    """Calls that are chained, and a history that the object keeps."""
    account = Account(balance)
    for amount in deposits:
        account.deposit(amount).accrue(rate)
    return account.balance + 0.01 * sum(h**2 for h in account.history[1::2])


class Node:
    def __init__(self, value, next=None):
        self.value = value
        self.next = next


def linked_list(values, factor):
    head = None
    for v in values:
        head = Node(v, head)
    node, weight, total = head, 1.0, 0.0
    while node is not None:
        total += weight * node.value**2
        weight *= factor
        node = node.next
    return total


@dataclass
class Accumulator:
    total: float = 0.0
    squares: float = 0.0
    seen: list = field(default_factory=list)

    def __post_init__(self):
        self.scale = 2.0

    def add(self, x):
        self.total += x
        self.squares += self.scale * x * x
        self.seen.append(x)

    @property
    def variance(self):
        n = len(self.seen)
        return self.squares / self.scale / n - (self.total / n) ** 2


def streaming_variance(data, weights):
    plain, weighted = Accumulator(), Accumulator(squares=0.1)
    for x, w in zip(data, weights):
        plain.add(x)
        weighted.add(w * x)
    return plain.variance + 2 * weighted.variance * weighted.seen[-1]


class Gaussian(NamedTuple):
    mean: float
    precision: float

    def times(self, other: "Gaussian") -> "Gaussian":
        precision = self.precision + other.precision
        mean = (self.mean * self.precision + other.mean * other.precision) / precision
        return Gaussian(mean, precision)


def message_passing(means, precisions, coupling):
    """Messages between the nodes of a chain, forward and then backward."""
    nodes = [Gaussian(m, p) for m, p in zip(means, precisions)]
    forward = [nodes[0]]
    for node in nodes[1:]:
        last = forward[-1]
        sent = Gaussian(last.mean, 1 / (1 / last.precision + 1 / coupling))
        forward.append(sent.times(node))
    belief = forward[-1]
    for node in forward[-2::-1]:
        sent = Gaussian(belief.mean, 1 / (1 / belief.precision + 1 / coupling))
        belief = node.times(sent)
    return belief.mean * belief.precision


WEIGHTS = [0.6 * np.sin(np.arange(9.0) + k).reshape(3, 3) for k in range(4)]
BIASES = [np.array([0.1, -0.2, 0.3]) * k for k in range(1, 5)]

CASES = [
    Case(
        network_of_layers,
        (WEIGHTS, BIASES, np.array([0.5, -0.4, 0.9])),
        wrt=(0, 1, 2),
        complex_step=True,
    ),
    Case(
        dataclass_likelihood,
        (
            Model(np.array([[0.5, -0.2], [0.1, 0.8]]), np.array([0.3, -0.1]), -0.4),
            np.array([[1.0, 0.5], [-0.3, 0.9], [0.4, -1.1]]),
            np.array([[0.7, 0.2], [-0.1, 1.0], [0.4, -0.6]]),
        ),
        wrt=(0, 1),
        complex_step=True,
    ),
    Case(
        two_bodies,
        (np.array([1.0, 0.2]), np.array([-0.1, 0.7]), 1.4),
        wrt=(0, 1, 2),
        complex_step=True,
    ),
    Case(epidemic, (0.9, 0.3, 0.05), wrt=(0, 1, 2)),
    Case(inflate, (1.2, 0.15), wrt=(0, 1)),
    Case(odometry, (np.array([1.0, 0.7, 1.3, 0.4]), np.array([0.9, 1.5, 1.4, -0.6])), wrt=(0, 1)),
    Case(slope_by_duals, (0.7, 1.3, 0.4), wrt=(0, 1, 2)),
    Case(
        polynomial_algebra,
        (np.array([1.0, -0.5, 0.3]), np.array([0.2, 0.8]), 0.9),
        wrt=(0, 1, 2),
        complex_step=True,
    ),
    Case(total_mass, (np.array([0.7, 1.2, 0.3]),), complex_step=True),
    Case(savings, (100.0, [10.0, 20.0, 5.0], 0.03), wrt=(0, 1, 2), complex_step=True),
    Case(linked_list, (np.array([0.5, -1.2, 0.8, 0.3]), 0.7), wrt=(0, 1), complex_step=True),
    Case(
        streaming_variance,
        (np.array([0.4, 1.3, -0.7]), np.array([1.0, 0.5, 2.0])),
        wrt=(0, 1),
        complex_step=True,
    ),
    Case(
        message_passing,
        ([0.3, -0.8, 1.1, 0.2], [1.0, 2.0, 0.5, 1.5], 3.0),
        wrt=(0, 1, 2),
        complex_step=True,
    ),
]
