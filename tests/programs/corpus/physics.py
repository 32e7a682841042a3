"""Physics: bodies, fields and events, simulated step by step."""

import math
from dataclasses import dataclass

import numpy as np

from programs.case import Case


def projectile_with_drag(velocity, drag):
    position = np.array([0.0, 1.5])
    v = velocity.copy()
    gravity = np.array([0.0, -9.81])
    dt = 0.05
    while True:
        speed = np.sqrt(v @ v)
        v = v + dt * (gravity - drag * speed * v)
        previous = position
        position = position + dt * v
        if position[1] < 0.0:
            fraction = previous[1] / (previous[1] - position[1])
            return previous[0] + fraction * (position[0] - previous[0])


def accelerations(positions, masses, softening=0.05):
    n = len(masses)
    acc = np.zeros_like(positions)
    for i in range(n):
        for j in range(n):
            if i == j:
                continue
            r = positions[j] - positions[i]
            acc[i] += masses[j] * r / (np.sum(r**2) + softening) ** 1.5
    return acc


def n_body_leapfrog(positions, velocities, masses):
    dt = 0.1
    x, v = positions.copy(), velocities.copy()
    a = accelerations(x, masses)
    for _ in range(4):
        v += 0.5 * dt * a
        x += dt * v
        a = accelerations(x, masses)
        v += 0.5 * dt * a
    kinetic = 0.5 * np.sum(masses * np.sum(v**2, axis=1))
    return kinetic + np.sum(x[0] * x[1])


def lennard_jones(positions, epsilon, sigma, cutoff=2.5):
    energy = 0.0
    n = positions.shape[0]
    for i in range(n - 1):
        for j in range(i + 1, n):
            d = positions[i] - positions[j]
            r2 = d @ d
            if r2 > cutoff**2:
                continue
            s6 = (sigma**2 / r2) ** 3
            energy += 4 * epsilon * (s6**2 - s6)
    return energy


def hanging_chain(height, stiffness):
    """Verlet on the inner nodes; the ends are held."""
    y = height.copy()
    y_old = height.copy()
    inner, left, right = y[1:-1], y[:-2], y[2:]
    for _ in range(5):
        force = stiffness * (left - 2 * inner + right) - 0.3
        new = 2 * inner - y_old[1:-1] + 0.04 * force
        y_old[:] = y
        inner[:] = new
    return np.sum(y**2) + np.max(y - 0.1 * np.arange(len(y)))


def ising_mean_field(magnetisation, coupling, field):
    rows, columns = magnetisation.shape
    energy = 0.0
    for i in range(rows):
        for j in range(columns):
            neighbours = magnetisation[(i + 1) % rows, j] + magnetisation[i, (j + 1) % columns]
            energy -= coupling * magnetisation[i, j] * neighbours + field * magnetisation[i, j]
    p = 0.5 * (1 + magnetisation)
    entropy = -np.sum(p * np.log(p) + (1 - p) * np.log(1 - p))
    return energy - 0.8 * entropy


def heated_rod(temperature, conductivity):
    u = temperature.copy()
    for step in range(6):
        flux = conductivity * np.diff(u)
        u[:-1] += 0.1 * flux
        u[1:] -= 0.1 * flux
        u[0] = temperature[0]
        if step % 2 == 1:
            u[-1] *= 0.95
    return np.sum(u * np.linspace(0.0, 1.0, len(u)))


def bouncing_ball(height, restitution, gravity):
    """From bounce to bounce until the next apex is too low."""
    speed = math.sqrt(2 * gravity * height)
    time = math.sqrt(2 * height / gravity)
    bounces = 0
    while bounces < 10:
        speed *= restitution
        if speed**2 / (2 * gravity) < 0.05:
            break
        time += 2 * speed / gravity
        bounces += 1
    else:
        time += 100.0
    return time


def layered_refraction(angle, thickness, index):
    """How far a ray travels sideways before it is reflected or has passed all layers."""
    sine = np.sin(angle)
    offset = 0.0
    for k, (d, n) in enumerate(zip(thickness, index)):
        if k > 0:
            sine = sine * index[k - 1] / n
        if sine >= 1.0:
            offset = 2.0 * offset
            break
        offset += d * sine / np.sqrt(1 - sine**2)
    return offset


def decay_chain(rates, initial):
    amounts = {"parent": initial, "daughter": 0.0, "granddaughter": 0.0, "stable": 0.0}
    dt = 0.2
    for _ in range(5):
        gone = {name: rates[name] * amounts[name] * dt for name in rates}
        amounts["parent"] -= gone["parent"]
        amounts["daughter"] += gone["parent"] - gone["daughter"]
        amounts["granddaughter"] += gone["daughter"] - gone["granddaughter"]
        amounts["stable"] += gone["granddaughter"]
    return amounts["stable"] + 0.1 * amounts["daughter"] ** 2


def double_pendulum(state, lengths):
    l1, l2 = lengths
    for _ in range(4):
        t1, t2, w1, w2 = state
        delta = t2 - t1
        denominator = 2.0 - np.cos(delta) ** 2
        a1 = w1**2 * np.sin(delta) * np.cos(delta) + 9.8 / l1 * np.sin(t2) * np.cos(delta)
        a1 += l2 / l1 * w2**2 * np.sin(delta) - 2 * 9.8 / l1 * np.sin(t1)
        a2 = -(w2**2) * np.sin(delta) * np.cos(delta)
        a2 += 2 * (9.8 / l2 * (np.sin(t1) * np.cos(delta) - np.sin(t2)))
        a2 -= 2 * l1 / l2 * w1**2 * np.sin(delta)
        state = state + 0.02 * np.array([w1, w2, a1 / denominator, a2 / denominator])
    return l1 * np.cos(state[0]) + l2 * np.cos(state[1])


@dataclass
class Spring:
    stiffness: float
    rest: float

    def force(self, stretch):
        return -self.stiffness * (stretch - self.rest)


def spring_train(springs, start):
    x = [start + 1.1 * k for k in range(len(springs) + 1)]
    v = [0.0] * len(x)
    for _ in range(4):
        forces = [0.0 for _ in x]
        for k, spring in enumerate(springs):
            f = spring.force(x[k + 1] - x[k])
            forces[k] -= f
            forces[k + 1] += f
        for k in range(len(x)):
            v[k] += 0.1 * forces[k]
            x[k] += 0.1 * v[k]
    return sum(each**2 for each in v) + x[-1]


def plucked_string(shape, speed):
    old, now = shape, shape.copy()
    new = np.zeros_like(shape)
    for _ in range(5):
        new[1:-1] = 2 * now[1:-1] - old[1:-1]
        new[1:-1] += speed**2 * (now[2:] - 2 * now[1:-1] + now[:-2])
        old, now, new = now, new, np.zeros_like(new)
    return np.sum(now * shape)


def staged_rocket(stages, payload):
    """Stages of (fuel, structure, exhaust speed), burnt from the last to the first."""
    speed = 0.0
    while stages:
        fuel, structure, exhaust = stages[-1]
        above = payload
        for other in stages[:-1]:
            above += other[0] + other[1]
        speed += exhaust * math.log((above + structure + fuel) / (above + structure))
        stages = stages[:-1]
    return speed


def charged_ring(charges, height):
    n = len(charges)
    potential = 0.0
    field = np.zeros(3)
    for k in range(n):
        angle = 2 * math.pi * k / n
        source = np.array([math.cos(angle), math.sin(angle), 0.0])
        r = np.array([0.1, 0.2, 0.0])
        r[2] = height
        r -= source
        distance = np.linalg.norm(r)
        potential += charges[k] / distance
        field += charges[k] * r / distance**3
    return potential + field @ field


CASES = [
    Case(projectile_with_drag, (np.array([6.0, 5.0]), 0.03), wrt=(0, 1), complex_step=True),
    Case(
        n_body_leapfrog,
        (
            np.array([[0.0, 0.1], [1.0, -0.2], [0.3, 1.2]]),
            np.array([[0.1, 0.3], [-0.2, 0.1], [0.2, -0.3]]),
            np.array([1.0, 0.7, 0.4]),
        ),
        wrt=(0, 1, 2),
    ),
    Case(
        lennard_jones,
        (
            np.array([[0.0, 0.0, 0.0], [1.2, 0.1, 0.0], [0.2, 1.1, 0.3], [3.0, 2.0, 1.0]]),
            1.3,
            0.95,
        ),
        wrt=(0, 1, 2),
        complex_step=True,
    ),
    Case(hanging_chain, (np.array([0.0, 0.2, -0.1, 0.5, 0.3, 1.0]), 2.0), wrt=(0, 1)),
    Case(
        ising_mean_field,
        (np.array([[0.3, -0.2, 0.5], [0.1, 0.6, -0.4], [-0.5, 0.2, 0.25]]), 0.7, 0.2),
        wrt=(0, 1, 2),
        complex_step=True,
    ),
    Case(heated_rod, (np.array([2.0, 0.5, 0.1, 1.0, 0.7]), 1.4), wrt=(0, 1)),
    Case(bouncing_ball, (2.0, 0.7, 9.81), wrt=(0, 1, 2)),
    Case(
        layered_refraction,
        (0.5, np.array([1.0, 0.7, 0.4, 0.8]), np.array([1.5, 1.3, 0.9, 0.6])),
        wrt=(0, 1, 2),
        complex_step=True,
    ),
    Case(
        decay_chain,
        ({"parent": 0.9, "daughter": 0.5, "granddaughter": 0.7}, 3.0),
        wrt=(0, 1),
        complex_step=True,
    ),
    Case(
        double_pendulum,
        (np.array([0.8, -0.3, 0.4, 0.9]), (1.1, 0.7)),
        wrt=(0, 1),
        complex_step=True,
    ),
    Case(
        spring_train,
        ([Spring(2.0, 1.0), Spring(3.0, 0.9), Spring(1.5, 1.3)], 0.2),
        wrt=(0, 1),
        complex_step=True,
    ),
    Case(
        plucked_string,
        (np.array([0.0, 0.4, 0.9, 0.6, 0.2, 0.0]), 0.6),
        wrt=(0, 1),
    ),
    Case(
        staged_rocket,
        ([(8.0, 1.0, 3.0), (4.0, 0.6, 3.3), (2.0, 0.3, 4.1)], 0.5),
        wrt=(0, 1),
    ),
    Case(charged_ring, (np.array([1.0, -0.5, 0.8, 0.3]), 0.7), wrt=(0, 1)),
]
