"""Partial differential equations: grids, stencils, fluxes, sweeps and time levels."""

import numpy as np

from programs.case import Case


def minmod(a, b):
    if a * b <= 0:
        return 0.0
    return a if abs(a) < abs(b) else b


def limited_advection(u, speed, steps=3):
    """Finite volumes, slopes limited cell by cell, periodic."""
    n = len(u)
    dx, dt = 1.0 / n, 0.4 / n
    for _ in range(steps):
        slopes = np.zeros(n)
        for i in range(n):
            slopes[i] = minmod(u[i] - u[i - 1], u[(i + 1) % n] - u[i]) / dx
        flux = np.empty(n)
        for i in range(n):
            flux[i] = speed * (u[i] + 0.5 * (dx - speed * dt) * slopes[i])
        u = u - dt / dx * (flux - np.roll(flux, 1))
    return u @ np.arange(1.0, n + 1)


def upwind(u, velocity, dt):
    """The side that the wind comes from, in place, against the direction of reading."""
    c = u.copy()
    dx = 0.25
    for _ in range(4):
        old = c.copy()
        for i in range(1, len(c) - 1):
            if velocity[i] > 0:
                c[i] -= velocity[i] * dt / dx * (old[i] - old[i - 1])
            else:
                c[i] -= velocity[i] * dt / dx * (old[i + 1] - old[i])
        c[0] = c[1]
        c[-1] = c[-2]
    return c


def wave(u, speed, dt=0.1, dx=0.25):
    """Three time levels in three arrays that trade places."""
    u_prev, u = u.copy(), u.copy()
    u_next = np.zeros_like(u)
    r = (speed * dt / dx) ** 2
    energy = 0.0
    for _ in range(6):
        inner = u_next[1:-1]
        inner[:] = 2 * u[1:-1] - u_prev[1:-1] + r * (u[2:] - 2 * u[1:-1] + u[:-2])
        u_next[0] = 0.0
        u_next[-1] = 0.0
        energy += np.sum((u_next - u) ** 2)
        u_prev, u, u_next = u, u_next, u_prev
    return energy + u[2]


def godunov(left, right):
    if left > right:
        speed = 0.5 * (left + right)
        return 0.5 * left**2 if speed > 0 else 0.5 * right**2
    if left > 0:
        return 0.5 * left**2
    if right < 0:
        return 0.5 * right**2
    return 0.0


def burgers(u, viscosity):
    dx, dt = 0.2, 0.05
    for _ in range(4):
        flux = [godunov(u[i], u[i + 1]) for i in range(len(u) - 1)]
        new = [u[0]]
        for i in range(1, len(u) - 1):
            diffusion = viscosity * (u[i + 1] - 2 * u[i] + u[i - 1]) / dx**2
            new.append(u[i] - dt / dx * (flux[i] - flux[i - 1]) + dt * diffusion)
        new.append(u[-1])
        u = new
    return sum(value**2 for value in u)


def laplacian(f):
    return np.roll(f, 1, 0) + np.roll(f, -1, 0) + np.roll(f, 1, 1) + np.roll(f, -1, 1) - 4 * f


def gray_scott(u, v, feed, kill):
    for _ in range(3):
        reaction = u * v * v
        u, v = (
            u + 0.16 * laplacian(u) - reaction + feed * (1 - u),
            v + 0.08 * laplacian(v) + reaction - (feed + kill) * v,
        )
    return np.sum(u * v) + np.max(v)


def sor(source, omega):
    """Gauss-Seidel with over-relaxation: each cell reads what the sweep has already written."""
    n = len(source)
    phi = np.zeros((n, n))
    for sweep in range(4):
        change = 0.0
        for i in range(1, n - 1):
            for j in range(1, n - 1):
                total = phi[i - 1, j] + phi[i + 1, j] + phi[i, j - 1] + phi[i, j + 1]
                update = omega * (0.25 * (total - source[i, j]) - phi[i, j])
                phi[i, j] += update
                change = max(change, abs(update))
        if change < 1e-12:
            break
    return np.sum(phi * source)


def thomas(lower, diagonal, upper, d):
    n = len(d)
    c, d = upper.copy(), d.copy()
    c[0] /= diagonal[0]
    d[0] /= diagonal[0]
    for i in range(1, n):
        m = diagonal[i] - lower[i] * c[i - 1]
        if i < n - 1:
            c[i] /= m
        d[i] = (d[i] - lower[i] * d[i - 1]) / m
    for i in reversed(range(n - 1)):
        d[i] -= c[i] * d[i + 1]
    return d


def implicit_heat(u, conductivity, dt):
    n = len(u)
    k = 0.5 * (conductivity[1:] + conductivity[:-1])
    lower, upper = np.zeros(n), np.zeros(n)
    lower[1:] = -dt * k
    upper[:-1] = -dt * k
    diagonal = 1 - lower - upper
    for _ in range(3):
        u = thomas(lower, diagonal, upper, u)
    return np.sum(u**2)


def crank_nicolson(psi, potential, dt):
    n = len(psi)
    H = 2 * np.eye(n) - np.eye(n, k=1) - np.eye(n, k=-1) + np.diag(potential)
    left = np.eye(n) + 0.5 * dt * H
    right = np.eye(n) - 0.5 * dt * H
    history = [psi]
    while len(history) < 4:
        history.append(np.linalg.solve(left, right @ history[-1]))
    return sum(weight * (p @ p) for weight, p in enumerate(history, start=1))


def heat_plate(plate, alpha, hot):
    """Views of the interior and of its neighbours; borders are set anew in each step."""
    T = plate.copy()
    center, north, south = T[1:-1, 1:-1], T[:-2, 1:-1], T[2:, 1:-1]
    west, east = T[1:-1, :-2], T[1:-1, 2:]
    for _ in range(4):
        center += alpha * (north + south + west + east - 4 * center)
        T[0, :] = hot
        T[-1] = T[-2]
        T[:, 0] = T[:, 1]
    return T.ravel() @ np.linspace(-1, 1, T.size)


def shallow_water(h, u, gravity):
    """Staggered height and velocity, stepped in turn, each in place."""
    h, u = h.copy(), u.copy()
    c = 0.1
    for step in range(4):
        u[1:-1] -= c * gravity * (h[1:] - h[:-1])
        h *= 1 - 0.01 * step
        h -= c * np.diff(u * np.concatenate([h[:1], 0.5 * (h[1:] + h[:-1]), h[-1:]]))
    return np.sum(h**2) + np.sum(u**2)


def adaptive_decay(u, rate, end):
    """Steps as long as stability allows, the last one cut to end in time."""
    t = 0.0
    while t < end:
        fastest = np.max(np.abs(rate * u))
        dt = min(0.3 / fastest, end - t)
        u = u - dt * rate * u * np.abs(u)
        t += dt
        if end - t < 1e-12:
            break
    return np.sum(u**2)


def finite_elements(stiffness, load, nodes):
    """Quadratic elements, assembled by np.ix_; the ends are held."""
    elements = np.array([[0, 1, 2], [2, 3, 4]])
    local = np.array([[7.0, -8.0, 1.0], [-8.0, 16.0, -8.0], [1.0, -8.0, 7.0]]) / 3
    n = len(nodes)
    K = np.zeros((n, n))
    f = np.zeros(n)
    for e, dofs in enumerate(elements):
        length = nodes[dofs[-1]] - nodes[dofs[0]]
        K[np.ix_(dofs, dofs)] += stiffness[e] / length * local
        f[dofs] += load[e] * length * np.array([1.0, 4.0, 1.0]) / 6
    for end in (0, -1):
        K[end] = 0.0
        K[end, end] = 1.0
        f[end] = 0.0
    u = np.linalg.solve(K, f)
    return f @ u


BUMP = np.array([0.1, 0.4, 1.1, 0.9, 0.35, 0.2])
GRID = np.sin(np.arange(16.0)).reshape(4, 4)

CASES = [
    Case(limited_advection, (BUMP, 0.8), wrt=(0, 1)),
    Case(upwind, (BUMP, np.array([0.0, 0.5, -0.3, 0.7, -0.6, 0.0]), 0.2), wrt=(0, 1, 2)),
    Case(wave, (BUMP, 1.3), wrt=(0, 1)),
    Case(burgers, ([1.0, 0.8, 0.3, -0.2, -0.7, 0.5], 0.05), wrt=(0, 1)),
    Case(
        gray_scott,
        (1 - 0.2 * GRID, 0.3 + 0.1 * GRID.T, 0.04, 0.06),
        wrt=(0, 1, 2, 3),
        complex_step=True,
    ),
    Case(sor, (np.cos(np.arange(25.0)).reshape(5, 5), 1.4), wrt=(0, 1)),
    Case(implicit_heat, (BUMP, np.array([1.0, 0.7, 1.3, 0.9, 1.1, 0.8]), 0.3), wrt=(0, 1, 2)),
    Case(
        crank_nicolson,
        (BUMP[:4], np.array([0.1, 0.5, 0.2, 0.9]), 0.2),
        wrt=(0, 1, 2),
        complex_step=True,
    ),
    Case(heat_plate, (GRID, 0.15, np.array([1.0, 1.2, 0.8, 0.9])), wrt=(0, 1, 2)),
    Case(
        shallow_water,
        (1 + 0.2 * np.sin(np.arange(5.0)), np.array([0.0, 0.1, -0.2, 0.1, 0.05, 0.0]), 9.81),
        wrt=(0, 1, 2),
    ),
    Case(
        finite_elements,
        (np.array([1.0, 2.5]), np.array([0.7, -0.4]), np.array([0.0, 0.4, 0.8, 1.3, 1.8])),
        wrt=(0, 1, 2),
    ),
    Case(adaptive_decay, (np.array([0.9, -0.4, 0.6]), 1.1, 1.0), wrt=(0, 1, 2)),
]
