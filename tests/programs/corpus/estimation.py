"""Estimation: filters, smoothers, particles, hidden Markov models, tracking."""

from itertools import pairwise

import numpy as np

from programs.case import Case


def kalman_filter(F, H, Q, R, x0, P0, measurements):
    """The filtered means and covariances, and the log-likelihood."""
    x, P = x0, P0
    means, covariances = [], []
    loglik = 0.0
    for z in measurements:
        x = F @ x
        P = F @ P @ F.T + Q
        y = z - H @ x
        S = H @ P @ H.T + R
        K = P @ H.T @ np.linalg.inv(S)
        x = x + K @ y
        P = (np.eye(len(x)) - K @ H) @ P
        means.append(x)
        covariances.append(P)
        loglik -= 0.5 * (y @ np.linalg.solve(S, y) + np.log(np.linalg.det(S)))
    return means, covariances, loglik


def kalman_log_likelihood(F, Q, R, measurements):
    H = np.array([[1.0, 0.0]])
    *_, loglik = kalman_filter(F, H, Q, R, np.zeros(2), np.eye(2), measurements)
    return loglik


def rts_smoother(F, Q, R, measurements):
    H = np.array([[1.0, 0.0]])
    means, covariances, _ = kalman_filter(F, H, Q, R, np.zeros(2), np.eye(2), measurements)
    x, P = means[-1], covariances[-1]
    smoothed = [x]
    for mean, covariance in zip(reversed(means[:-1]), reversed(covariances[:-1])):
        predicted = F @ covariance @ F.T + Q
        G = covariance @ F.T @ np.linalg.inv(predicted)
        x = mean + G @ (x - F @ mean)
        P = covariance + G @ (P - predicted) @ G.T
        smoothed.insert(0, x)
    track = np.array(smoothed)
    return np.sum(track[:, 0] ** 2) + np.trace(P)


def extended_kalman(beacons, noise, ranges):
    """Ranges to beacons; a range that was lost is not a number."""
    x = np.array([0.5, 0.2])
    P = 0.5 * np.eye(2)
    for row in ranges:
        P = P + 0.01 * np.eye(2)
        for i, r in enumerate(row):
            if np.isnan(r):
                continue
            delta = x - beacons[i]
            expected = np.sqrt(delta @ delta)
            h = delta / expected
            s = h @ P @ h + noise**2
            k = P @ h / s
            x = x + k * (r - expected)
            P -= np.outer(k, h @ P)
    return x @ x + np.trace(P)


def systematic_resample(weights, offset):
    n = len(weights)
    cumulative = np.cumsum(weights)
    indices = np.zeros(n, dtype=int)
    j = 0
    for i in range(n):
        position = (i + offset) / n
        while j < n - 1 and cumulative[j] < position:
            j += 1
        indices[i] = j
    return indices


def particle_filter(drift, spread, measurements, draws, offsets):
    particles = draws[0] * 0.5
    estimate = 0.0
    for t, z in enumerate(measurements):
        particles = drift * particles + spread * draws[t + 1]
        log_weights = -0.5 * (z - particles) ** 2 / 0.3
        weights = np.exp(log_weights - np.max(log_weights))
        weights /= np.sum(weights)
        estimate = estimate + np.sum(weights * particles)
        if 1.0 / np.sum(weights**2) < len(particles) * 0.8:
            particles = particles[systematic_resample(weights, offsets[t])]
    return estimate


def forward_backward(initial, transition, emission, observed):
    """Posterior of each state at each time; the score is its weighted sum."""
    n, k = len(observed), len(initial)
    alpha = np.zeros((n, k))
    beta = np.ones((n, k))
    scale = np.zeros(n)
    alpha[0] = initial * emission[:, observed[0]]
    scale[0] = alpha[0].sum()
    alpha[0] /= scale[0]
    for t in range(1, n):
        alpha[t] = (alpha[t - 1] @ transition) * emission[:, observed[t]]
        scale[t] = alpha[t].sum()
        alpha[t] /= scale[t]
    for t in range(n - 2, -1, -1):
        beta[t] = transition @ (emission[:, observed[t + 1]] * beta[t + 1]) / scale[t + 1]
    gamma = alpha * beta
    return np.sum(np.log(scale)) + gamma[:, 0] @ np.arange(1.0, n + 1)


def viterbi_score(log_initial, log_transition, log_emission, observed):
    """The best path by back-pointers, then the score along that path."""
    n, k = len(observed), len(log_initial)
    delta = log_initial + log_emission[:, observed[0]]
    back = np.zeros((n, k), dtype=int)
    for t in range(1, n):
        scores = delta[:, None] + log_transition
        back[t] = np.argmax(scores, axis=0)
        delta = np.max(scores, axis=0) + log_emission[:, observed[t]]
    path = [int(np.argmax(delta))]
    for t in range(n - 1, 0, -1):
        path.append(int(back[t, path[-1]]))
    path = path[::-1]
    score = log_initial[path[0]]
    for a, b in pairwise(path):
        score = score + log_transition[a, b] ** 2
    return score + np.max(delta)


def recursive_least_squares(rows, targets, forgetting):
    n = rows.shape[1]
    theta = np.zeros(n)
    P = 10.0 * np.eye(n)
    for a, y in zip(rows, targets):
        gain = P @ a / (forgetting + a @ P @ a)
        theta += gain * (y - a @ theta)
        P -= np.outer(gain, a) @ P
        P /= forgetting
    return np.sum(theta**2)


def unscented_transform(mean, covariance, kappa):
    n = mean.size
    root = np.linalg.cholesky((n + kappa) * covariance)
    points = [mean]
    for i in range(n):
        points.append(mean + root[:, i])
        points.append(mean - root[:, i])
    weights = [kappa / (n + kappa)] + [0.5 / (n + kappa)] * (2 * n)
    images = [np.array([p[0] * np.cos(p[1]), p[0] * np.sin(p[1])]) for p in points]
    m = sum(w * y for w, y in zip(weights, images))
    C = np.zeros((2, 2))
    for w, y in zip(weights, images):
        d = y - m
        C += w * np.outer(d, d)
    return m[0] + C[0, 0] + 2 * C[0, 1]


def alpha_beta_tracker(alpha, beta, readings):
    """Coasts through missing readings, restarts after three in a row."""
    position, velocity = readings[0], 0.0
    missing = 0
    error = 0.0
    for reading in readings[1:]:
        if reading is None:
            missing += 1
            if missing >= 3:
                velocity = 0.0
                missing = 0
            position = position + velocity
            continue
        missing = 0
        predicted = position + velocity
        residual = reading - predicted
        position = predicted + alpha * residual
        velocity = velocity + beta * residual
        error += residual**2
    return error


def mixture_em(data, means, sigma):
    """A few rounds of expectation maximisation from given means."""
    k = len(means)
    weights = np.full(k, 1.0 / k)
    variances = np.full(k, 1.0) * sigma**2
    for _ in range(3):
        log_p = -0.5 * (data[:, None] - means) ** 2 / variances - 0.5 * np.log(variances)
        p = weights * np.exp(log_p)
        r = p / p.sum(axis=1, keepdims=True)
        total = r.sum(axis=0)
        weights = total / data.size
        means = r.T @ data / total
        variances = np.sum(r * (data[:, None] - means) ** 2, axis=0) / total + 1e-2
    return np.sum(weights * means**2 + np.log(variances))


def triangulate(bearings, stations):
    """Gauss-Newton on bearing residuals, wrapped to the half circle."""
    p = stations.mean(axis=0) + np.array([0.3, 1.0])
    for _ in range(4):
        JtJ = np.zeros((2, 2))
        Jtr = np.zeros(2)
        for bearing, station in zip(bearings, stations):
            dx, dy = p - station
            r = bearing - np.arctan2(dy, dx)
            while r > np.pi:
                r -= 2 * np.pi
            while r < -np.pi:
                r += 2 * np.pi
            q = dx**2 + dy**2
            J = np.array([-dy / q, dx / q])
            JtJ += np.outer(J, J)
            Jtr += J * r
        p = p + np.linalg.solve(JtJ, Jtr)
    return p[0] + 2 * p[1]


MOTION = np.array([[1.0, 0.5], [0.0, 0.9]])
MEASURED = np.array([[0.2], [0.5], [0.4], [0.9]])
DRAWS = np.sin(np.arange(1.0, 25.0) * 1.7).reshape(4, 6)
TRANSITION = np.array([[0.7, 0.2, 0.1], [0.3, 0.5, 0.2], [0.1, 0.3, 0.6]])
EMISSION = np.array([[0.6, 0.3, 0.1], [0.2, 0.5, 0.3], [0.1, 0.2, 0.7]])
OBSERVED = [0, 2, 1, 1, 2]
STATIONS = np.array([[0.0, 0.0], [2.0, 0.1], [1.0, -0.5]])

CASES = [
    Case(
        kalman_log_likelihood,
        (MOTION, np.diag([0.1, 0.2]), np.array([[0.3]]), MEASURED),
        wrt=(0, 1, 2, 3),
        complex_step=True,
    ),
    Case(
        rts_smoother,
        (MOTION, np.diag([0.1, 0.2]), np.array([[0.3]]), MEASURED),
        wrt=(0, 1, 2, 3),
        complex_step=True,
    ),
    Case(
        extended_kalman,
        (
            np.array([[2.0, 0.0], [0.0, 3.0], [-1.0, -1.0]]),
            0.3,
            np.array([[1.4, 2.9, np.nan], [np.nan, 2.7, 2.1], [1.2, 2.6, 2.3]]),
        ),
        wrt=(0, 1),
    ),
    Case(
        particle_filter,
        (0.9, 0.4, np.array([0.3, -0.4, 0.6]), DRAWS, np.array([0.35, 0.6, 0.15])),
        wrt=(0, 1, 2),
        complex_step=True,
    ),
    Case(
        forward_backward,
        (np.array([0.5, 0.3, 0.2]), TRANSITION, EMISSION, OBSERVED),
        wrt=(0, 1, 2),
    ),
    Case(
        viterbi_score,
        (np.log([0.5, 0.3, 0.2]), np.log(TRANSITION), np.log(EMISSION), OBSERVED),
        wrt=(0, 1, 2),
        complex_step=True,
    ),
    Case(
        recursive_least_squares,
        (
            np.array([[1.0, 0.2], [0.5, -1.0], [-0.3, 0.8], [1.2, 0.4]]),
            np.array([0.7, -0.2, 0.5, 1.0]),
            0.95,
        ),
        wrt=(0, 1, 2),
    ),
    Case(
        unscented_transform,
        (np.array([1.5, 0.4]), np.array([[0.2, 0.05], [0.05, 0.1]]), 1.0),
        wrt=(0, 1, 2),
    ),
    Case(
        alpha_beta_tracker,
        (0.6, 0.2, [0.1, 0.5, None, 0.9, None, None, None, 1.4, 1.2]),
        wrt=(0, 1),
        complex_step=True,
    ),
    Case(
        mixture_em,
        (np.array([-1.2, -0.8, 0.1, 0.9, 1.3, 1.1]), np.array([-1.0, 0.8]), 0.7),
        wrt=(0, 1, 2),
        complex_step=True,
    ),
    Case(triangulate, (np.array([0.9, 2.3, 1.6]), STATIONS), wrt=(0, 1)),
]
