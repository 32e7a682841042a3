"""Integrators: of ordinary differential equations, and of functions."""

import math

import numpy as np

from programs.case import Case


def pendulum_rk4(state, length, damping):
    def slope(y):
        return np.array([y[1], -9.81 / length * np.sin(y[0]) - damping * y[1]])

    h = 0.1
    for _ in range(5):
        k1 = slope(state)
        k2 = slope(state + h / 2 * k1)
        k3 = slope(state + h / 2 * k2)
        k4 = slope(state + h * k3)
        state = state + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
    return state


def lotka_volterra(rates, start):
    a, b, c, d = rates
    steps = 8
    path = np.zeros((steps + 1, 2))
    path[0] = start
    for n in range(steps):
        prey, predator = path[n]
        path[n + 1, 0] = prey + 0.1 * prey * (a - b * predator)
        path[n + 1, 1] = predator + 0.1 * predator * (d * prey - c)
    return np.mean(path[:, 0]) + np.std(path[:, 1])


def adaptive_heun(y, stiffness, tolerance=1e-3):
    """Steps are taken again with half the length where the error estimate is too large."""
    t, h = 0.0, 0.4
    taken = rejected = 0
    while t < 1.0 - 1e-12:
        h = min(h, 1.0 - t)
        k1 = -stiffness * (y - math.cos(t))
        k2 = -stiffness * (y + h * k1 - math.cos(t + h))
        error = abs(0.5 * h * (k2 - k1))
        if error > tolerance * 20:
            h *= 0.5
            rejected += 1
            continue
        y = y + 0.5 * h * (k1 + k2)
        t += h
        taken += 1
        if error < tolerance:
            h *= 1.5
        if taken + rejected > 50:
            raise RuntimeError("too many steps")
    return y


def implicit_euler_newton(y0, rate, capacity):
    h = 0.3
    y = y0
    for _ in range(4):
        z = y
        for _ in range(8):
            residual = z - y - h * rate * z * (1 - z / capacity)
            slope = 1 - h * rate * (1 - 2 * z / capacity)
            step = residual / slope
            z = z - step
            if np.abs(step) < 1e-13:
                break
        y = z
    return y


def adams_bashforth(y, omega):
    def derivative(t, y):
        return np.array([y[1], -(omega**2) * y[0] + 0.3 * np.sin(t)])

    h, t = 0.1, 0.0
    history = [derivative(t, y)]
    while len(history) < 6:
        if len(history) < 2:
            y = y + h * history[-1]
        else:
            y = y + h * (1.5 * history[-1] - 0.5 * history[-2])
        t += h
        history.append(derivative(t, y))
    return y @ y + np.sum(np.stack(history))


def runge_kutta_tableau(y, tableau):
    A, b = tableau["A"], tableau["b"]
    h = 0.2
    for _ in range(3):
        k = np.zeros((len(b), len(y)))
        for i in range(len(b)):
            stage = y.copy()
            for j in range(i):
                stage += h * A[i, j] * k[j]
            k[i] = np.array([-stage[1], stage[0] - 0.1 * stage[1] ** 3])
        y = y + h * b @ k
    return np.sum(y)


def velocity_verlet(x, v, potential):
    def force(x):
        return -potential[0] * x - potential[1] * x**3

    h = 0.15
    f = force(x)
    energies = []
    for _ in range(6):
        x = x + h * v + h**2 / 2 * f
        f, f_old = force(x), f
        v = v + h / 2 * (f + f_old)
        energies.append(0.5 * v**2 + potential[0] * x**2 / 2 + potential[1] * x**4 / 4)
    return max(energies) - min(energies)


def romberg(scale, shift):
    """The trapezoidal rule, extrapolated in a triangular table."""

    def f(x):
        return np.exp(-scale * x**2) * np.cos(x + shift)

    levels = 4
    table = np.zeros((levels, levels))
    h = 2.0
    table[0, 0] = h / 2 * (f(0.0) + f(2.0))
    for i in range(1, levels):
        h /= 2
        middle = 0.0
        for k in range(1, 2**i, 2):
            middle += f(k * h)
        table[i, 0] = table[i - 1, 0] / 2 + h * middle
        for j in range(1, i + 1):
            table[i, j] = table[i, j - 1] + (table[i, j - 1] - table[i - 1, j - 1]) / (4**j - 1)
    return table[-1, -1]


def simpson(f, a, b):
    return (b - a) / 6 * (f(a) + 4 * f((a + b) / 2) + f(b))


def adaptive_simpson(f, a, b, whole, tolerance):
    m = (a + b) / 2
    left, right = simpson(f, a, m), simpson(f, m, b)
    if abs(left + right - whole) < 15 * tolerance:
        return left + right + (left + right - whole) / 15
    return adaptive_simpson(f, a, m, left, tolerance / 2) + adaptive_simpson(
        f, m, b, right, tolerance / 2
    )


def area_under_peak(centre, width):
    peak = lambda x: 1 / ((x - centre) ** 2 + width**2)
    return adaptive_simpson(peak, 0.0, 1.0, simpson(peak, 0.0, 1.0), 1e-2)


def gauss_legendre(coefficients):
    nodes = [-math.sqrt(0.6), 0.0, math.sqrt(0.6)]
    weights = [5 / 9, 8 / 9, 5 / 9]
    total = 0.0
    for i, (x, wx) in enumerate(zip(nodes, weights)):
        for y, wy in zip(nodes, weights):
            value = 0.0
            for power, c in enumerate(coefficients):
                value += c * x**power * y ** (power % 2)
            total += wx * wy * np.exp(value)
    return total


def shooting(mass, target):
    """The slope at the left end that hits the right end, by the secant method."""

    def miss(slope):
        y, dy = 0.0, slope
        for k in range(10):
            dy += 0.1 * (-mass * np.sin(y) + 0.1 * k)
            y += 0.1 * dy
        return y - target

    s0, s1 = 0.5, 1.5
    f0, f1 = miss(s0), miss(s1)
    iterations = 0
    while np.abs(f1) > 1e-12 and iterations < 20:
        s0, s1, f0 = s1, s1 - f1 * (s1 - s0) / (f1 - f0), f1
        f1 = miss(s1)
        iterations += 1
    return s1


def time_of_event(speed, resistance):
    """When a braking car stops, located within the step in which it happens."""
    x, v, t, h = 0.0, speed, 0.0, 0.25
    for _ in range(100):
        v_next = v - h * (2.0 + resistance * v**2)
        if v_next <= 0:
            part = v / (v - v_next)
            x += part * h * v / 2
            return x + 0.1 * (t + part * h)
        x += h * (v + v_next) / 2
        v = v_next
        t += h
    return x


def strang_splitting(u, nu, reaction):
    half = 0.05
    n = u.size
    for _ in range(4):
        u = u / (u + (1 - u) * np.exp(-reaction * half))
        new = np.empty_like(u)
        for i in range(n):
            new[i] = u[i] + nu * (u[(i + 1) % n] - 2 * u[i] + u[i - 1])
        u = new / (new + (1 - new) * np.exp(-reaction * half))
    return np.sum(u**2)


def epidemic(beta, gamma, vaccinated):
    s, i, r = 0.99 - vaccinated, 0.01, vaccinated
    peak = 0.0
    for day in range(10):
        if day >= 6:
            beta_now = 0.5 * beta
        elif day >= 3:
            beta_now = 0.8 * beta
        else:
            beta_now = beta
        new = beta_now * s * i
        healed = gamma * i
        s, i, r = s - new, i + new - healed, r + healed
        if i > peak:
            peak = i
    assert abs(s + i + r - 1) < 1e-9
    return peak + 0.2 * r


def exponential_time_differencing(u, decay, forcing):
    h = 0.25
    e = np.exp(-h * decay)
    phi = (1 - e) / decay
    previous = None
    for _ in range(4):
        nonlinear = forcing * np.tanh(u[::-1])
        if previous is None:
            u = e * u + phi * nonlinear
        else:
            u = e * u + phi * (1.5 * nonlinear - 0.5 * previous)
        previous = nonlinear
    return np.dot(u, u)


CASES = [
    Case(pendulum_rk4, (np.array([0.9, -0.2]), 1.4, 0.3), wrt=(0, 1, 2), complex_step=True),
    Case(lotka_volterra, (np.array([1.1, 0.4, 0.6, 0.2]), np.array([2.0, 1.0])), wrt=(0, 1)),
    Case(adaptive_heun, (0.3, 6.0), wrt=(0, 1), complex_step=True),
    Case(implicit_euler_newton, (0.4, 1.2, 2.5), wrt=(0, 1, 2), complex_step=True),
    Case(adams_bashforth, (np.array([1.0, 0.2]), 1.7), wrt=(0, 1), complex_step=True),
    Case(
        runge_kutta_tableau,
        (
            np.array([1.0, -0.4]),
            {
                "A": np.array([[0.0, 0.0, 0.0], [0.5, 0.0, 0.0], [-1.0, 2.0, 0.0]]),
                "b": np.array([1 / 6, 2 / 3, 1 / 6]),
            },
        ),
        wrt=(0, 1),
    ),
    Case(velocity_verlet, (0.8, 0.5, (1.3, 0.6)), wrt=(0, 1, 2), complex_step=True),
    Case(romberg, (0.7, 0.4), wrt=(0, 1)),
    Case(area_under_peak, (0.37, 0.5), wrt=(0, 1), complex_step=True),
    Case(gauss_legendre, (np.array([0.2, 0.5, -0.3, 0.4]),), complex_step=True),
    Case(shooting, (1.1, 0.9), wrt=(0, 1), complex_step=True),
    Case(time_of_event, (6.0, 0.07), wrt=(0, 1), complex_step=True),
    Case(
        strang_splitting,
        (np.array([0.2, 0.7, 0.4, 0.5, 0.1]), 0.2, 1.5),
        wrt=(0, 1, 2),
    ),
    Case(epidemic, (1.4, 0.3, 0.2), wrt=(0, 1, 2), complex_step=True),
    Case(
        exponential_time_differencing,
        (np.array([0.5, -0.3, 0.8]), np.array([1.0, 2.5, 0.6]), 0.9),
        wrt=(0, 1, 2),
        complex_step=True,
    ),
]
