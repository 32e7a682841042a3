"""Optimisation: roots, descent and search, each differentiated through its iterations."""

import math

import numpy as np

from programs.case import Case


def bisection_root(a, b):
    """The root of x**3 + a*x - b between brackets, polished by Newton's method."""
    low, high = 0.0, 4.0
    for _ in range(12):
        middle = 0.5 * (low + high)
        if middle**3 + a * middle - b > 0:
            high = middle
        else:
            low = middle
    x = 0.5 * (low + high)
    for _ in range(2):
        x = x - (x**3 + a * x - b) / (3 * x**2 + a)
    return x


def kepler(mean_anomaly, eccentricity):
    """Newton's method until the step is small."""
    E = mean_anomaly
    while True:
        step = (E - eccentricity * math.sin(E) - mean_anomaly) / (1 - eccentricity * math.cos(E))
        E -= step
        if abs(step) < 1e-9:
            break
    return math.cos(E) - eccentricity


def secant(f, x0, x1, tolerance=1e-10, limit=20):
    f0, f1 = f(x0), f(x1)
    for _ in range(limit):
        if abs(f1) < tolerance:
            break
        x0, x1 = x1, x1 - f1 * (x1 - x0) / (f1 - f0)
        f0, f1 = f1, f(x1)
    else:
        raise RuntimeError("the secant method did not converge")
    return x1


def implied_rate(cashflows, price):
    def excess(rate):
        return sum(c / (1 + rate) ** (t + 1) for t, c in enumerate(cashflows)) - price

    return secant(excess, 0.05, 0.06)


def tuned_descent(rate, momentum, A, b):
    """Descent with momentum, unrolled, so that its learning rate can be learned."""
    x = np.zeros(len(b))
    v = np.zeros_like(x)
    losses = []
    for _ in range(8):
        gradient = A @ x - b
        v = momentum * v - rate * gradient
        x = x + v
        losses.append(0.5 * x @ A @ x - b @ x)
    return losses[-1] + 0.1 * sum(losses)


def rosenbrock(x, curvature):
    return (1 - x[0]) ** 2 + curvature * (x[1] - x[0] ** 2) ** 2


def line_search_descent(start, curvature):
    """Steepest descent; the step is halved until the decrease suffices."""
    x = start
    for _ in range(3):
        slope = x[1] - x[0] ** 2
        g = np.array([-2 * (1 - x[0]) - 4 * curvature * x[0] * slope, 2 * curvature * slope])
        value, step = rosenbrock(x, curvature), 1.0
        while rosenbrock(x - step * g, curvature) > value - 0.3 * step * (g @ g):
            step *= 0.5
            if step < 1e-8:
                return np.nan
        x = x - step * g
    return rosenbrock(x, curvature)


def levenberg_marquardt(t, y, guess):
    """Fits a*exp(-b*t); the damping follows the success of the steps."""
    p = guess
    damping = 0.1
    r = y - p[0] * np.exp(-p[1] * t)
    cost = r @ r
    for _ in range(4):
        e = np.exp(-p[1] * t)
        J = np.stack([e, -p[0] * t * e], axis=1)
        H = J.T @ J
        delta = np.linalg.solve(H + damping * np.diag(np.diag(H)), J.T @ r)
        trial = p + delta
        r_trial = y - trial[0] * np.exp(-trial[1] * t)
        if r_trial @ r_trial < cost:
            p, r = trial, r_trial
            cost = r @ r
            damping /= 3
        else:
            damping *= 2
    return p[0] + p[1] ** 2 + cost


def simulated_annealing(x, cooling, proposals, uniforms):
    energy = x**2 / 4 + math.sin(3 * x)
    best = energy
    temperature = 1.0
    for proposal, u in zip(proposals, uniforms):
        candidate = x + temperature * proposal
        new = candidate**2 / 4 + math.sin(3 * candidate)
        if new < energy or u < math.exp(-(new - energy) / temperature):
            x, energy = candidate, new
            best = min(best, energy)
        temperature *= cooling
    return best + 0.5 * energy


def adam(params, x, y, rate=0.1, betas=(0.9, 0.999), steps=4):
    """Adam by hand: the state is a dict of arrays for each parameter."""
    b1, b2 = betas
    state = {name: {"m": np.zeros_like(p), "v": np.zeros_like(p)} for name, p in params.items()}
    weights = {name: p.copy() for name, p in params.items()}
    for t in range(1, steps + 1):
        residual = x @ weights["w"] + weights["b"] - y
        gradients = {"w": x.T @ residual / len(y), "b": np.mean(residual, keepdims=True)}
        for name, g in gradients.items():
            slot = state[name]
            slot["m"] = b1 * slot["m"] + (1 - b1) * g
            slot["v"] = b2 * slot["v"] + (1 - b2) * g**2
            m_hat = slot["m"] / (1 - b1**t)
            v_hat = slot["v"] / (1 - b2**t)
            weights[name] -= rate * m_hat / (np.sqrt(v_hat) + 1e-8)
    residual = x @ weights["w"] + weights["b"] - y
    return np.mean(residual**2)


def golden_section(center, width):
    def f(x):
        return (x - center) ** 2 + width * math.cos(x)

    ratio = (math.sqrt(5) - 1) / 2
    a, b = -1.0, 3.0
    c, d = b - ratio * (b - a), a + ratio * (b - a)
    fc, fd = f(c), f(d)
    while b - a > 0.05:
        if fc < fd:
            b, d, fd = d, c, fc
            c = b - ratio * (b - a)
            fc = f(c)
        else:
            a, c, fc = c, d, fd
            d = a + ratio * (b - a)
            fd = f(d)
    return f((a + b) / 2)


def conjugate_gradient(A, b, tolerance=1e-9):
    """All updates in place, and a way out once the residual is small."""
    A = 0.5 * (A + A.T)
    x = np.zeros_like(b)
    r = b.copy()
    p = r.copy()
    rs = r @ r
    for _ in range(3 * len(b)):
        Ap = A @ p
        alpha = rs / (p @ Ap)
        x += alpha * p
        r -= alpha * Ap
        rs_new = r @ r
        if np.sqrt(rs_new) < tolerance:
            break
        p *= rs_new / rs
        p += r
        rs = rs_new
    return b @ x


def nelder_mead(simplex, steepness):
    def f(p):
        return (p[0] - 1.0) ** 2 + steepness * (p[1] + 0.5 * p[0]) ** 2

    points = [simplex[i] for i in range(3)]
    for _ in range(5):
        points = sorted(points, key=f)
        best, middle, worst = points
        center = (best + middle) / 2
        reflected = 2 * center - worst
        if f(reflected) < f(best):
            expanded = 3 * center - 2 * worst
            points[2] = expanded if f(expanded) < f(reflected) else reflected
        elif f(reflected) < f(middle):
            points[2] = reflected
        else:
            contracted = 0.5 * (center + worst)
            if f(contracted) < f(worst):
                points[2] = contracted
            else:
                points[1:] = [0.5 * (best + p) for p in points[1:]]
    return min(f(p) for p in points)


def project_to_simplex(v):
    u = np.sort(v)[::-1]
    total, theta = 0.0, 0.0
    for i, value in enumerate(u):
        total += value
        candidate = (total - 1) / (i + 1)
        if value - candidate <= 0:
            break
        theta = candidate
    return np.maximum(v - theta, 0)


def projected_portfolio(returns, risk, aversion):
    w = np.ones(len(returns)) / len(returns)
    for k in range(6):
        gradient = aversion * risk @ w - returns
        w = project_to_simplex(w - 0.4 / (1 + 0.2 * k) * gradient)
    return returns @ w - 0.5 * aversion * w @ risk @ w + w[0]


def frank_wolfe(target, corners):
    """Towards the best corner of a hull, by exact steps of clipped length."""
    x = corners[0]
    for _ in range(4):
        gradient = x - target
        corner = corners[np.argmin(corners @ gradient)]
        direction = corner - x
        if -(gradient @ direction) < 1e-12:
            break
        step = -(gradient @ direction) / (direction @ direction)
        x = x + min(step, 1.0) * direction
    return np.sum((x - target) ** 2) + x[0]


SPD = np.array([[2.0, 0.3, 0.1], [0.3, 1.5, -0.2], [0.1, -0.2, 1.0]])
T = np.array([0.0, 0.5, 1.0, 1.5, 2.0])

CASES = [
    Case(bisection_root, (2.0, 7.0), wrt=(0, 1)),
    Case(kepler, (1.2, 0.3), wrt=(0, 1)),
    Case(implied_rate, (np.array([5.0, 5.0, 6.0, 105.0]), 98.0), wrt=(0, 1), complex_step=True),
    Case(
        tuned_descent,
        (0.2, 0.5, SPD, np.array([1.0, -0.5, 0.8])),
        wrt=(0, 1, 2, 3),
        complex_step=True,
    ),
    Case(line_search_descent, (np.array([-0.6, 0.9]), 3.0), wrt=(0, 1), complex_step=True),
    Case(
        levenberg_marquardt,
        (T, np.array([2.1, 1.2, 0.9, 0.5, 0.25]), np.array([1.0, 0.4])),
        wrt=(0, 1, 2),
        complex_step=True,
    ),
    Case(
        simulated_annealing,
        (
            1.7,
            0.8,
            [0.5, -0.8, -0.6, 0.9, -0.7, 0.4],
            [0.2, 0.9, 0.35, 0.8, 0.1, 0.6],
        ),
        wrt=(0, 1, 2),
    ),
    Case(
        adam,
        (
            {"w": np.array([0.5, -0.3]), "b": np.array([0.1])},
            np.array([[1.0, 0.4], [0.3, -0.8], [-0.5, 1.2]]),
            np.array([0.9, 0.1, -0.4]),
        ),
        wrt=(0, 1, 2),
    ),
    Case(golden_section, (0.8, 0.3), wrt=(0, 1)),
    Case(conjugate_gradient, (SPD, np.array([1.0, 2.0, -0.7])), wrt=(0, 1)),
    Case(
        nelder_mead,
        (np.array([[0.0, 0.3], [0.4, -0.9], [1.9, 0.7]]), 2.0),
        wrt=(0, 1),
        complex_step=True,
    ),
    Case(
        projected_portfolio,
        (np.array([0.3, 0.25, 0.1]), SPD, 0.4),
        wrt=(0, 1, 2),
        complex_step=True,
    ),
    Case(
        frank_wolfe,
        (np.array([0.5, 0.3]), np.array([[0.0, 0.0], [1.0, 0.1], [0.2, 1.0]])),
        wrt=(0, 1),
        complex_step=True,
    ),
]
