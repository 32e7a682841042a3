"""Probability: likelihoods, samplers with fixed draws, chains, survival, point processes."""

import math

import numpy as np

from programs.case import Case


def log_sum_exp(x):
    top = np.max(x)
    return top + np.log(np.sum(np.exp(x - top)))


def beta_binomial(a, b, successes, trials):
    """Rising factorials in place of gamma functions."""
    loglik = 0.0
    for k, n in zip(successes, trials):
        for i in range(k):
            loglik += math.log(a + i)
        for i in range(n - k):
            loglik += math.log(b + i)
        for i in range(n):
            loglik -= math.log(a + b + i)
    return -loglik


def poisson_regression(beta, X, ridge, counts):
    loss = 0.0
    for row, count in zip(X, counts):
        eta = row @ beta
        loss += np.exp(eta) - count * eta
        loss += sum(math.log(j) for j in range(2, int(count) + 1))
    return loss / len(counts) + ridge * np.sum(beta[1:] ** 2)


def mixture_log_density(points, weights, means, log_scales):
    """Spherical Gaussians whose weights are given as logits."""
    log_weights = weights - log_sum_exp(weights)
    d = points.shape[1]
    total = 0.0
    for x in points:
        terms = []
        for lw, mean, ls in zip(log_weights, means, log_scales):
            z = (x - mean) / np.exp(ls)
            terms.append(lw - 0.5 * np.sum(z**2) - d * ls - 0.5 * d * math.log(2 * math.pi))
        total += log_sum_exp(np.array(terms))
    return -total


def metropolis(start, scale, normals, log_uniforms):
    def log_density(x):
        return -0.25 * x**4 + x**2 - 0.3 * x

    x = start
    samples = []
    accepted = 0
    for z, lu in zip(normals, log_uniforms):
        proposal = x + scale * z
        if lu < log_density(proposal) - log_density(x):
            x = proposal
            accepted += 1
        samples.append(x)
    mean = sum(samples) / len(samples)
    return sum((s - mean) ** 2 for s in samples) + 0.1 * accepted


def stationary_distribution(logits, damping):
    """Power iteration to a fixed point, then the entropy of what was found."""
    P = np.exp(logits)
    P /= P.sum(axis=1, keepdims=True)
    n = len(P)
    P = damping * P + (1 - damping) / n
    pi = np.ones(n) / n
    for _ in range(100):
        updated = pi @ P
        done = np.sum(np.abs(updated - pi)) < 1e-13
        pi = updated
        if done:
            break
    return -np.sum(pi * np.log(pi))


def weibull_survival(shape, beta, ages, times, status):
    """Exact, right-censored, left-censored and interval-censored records."""
    loglik = 0.0
    for (start, stop), kind, age in zip(times, status, ages):
        scale = math.exp(-beta * age)
        H_start = scale * start**shape
        if kind == "event":
            loglik += math.log(shape) + (shape - 1) * math.log(start) + math.log(scale) - H_start
        elif kind == "right":
            loglik -= H_start
        elif kind == "left":
            loglik += math.log(1 - math.exp(-H_start))
        else:
            H_stop = scale * stop**shape
            loglik += math.log(math.exp(-H_start) - math.exp(-H_stop))
    return -loglik


def kaplan_meier(weights, times, events):
    """A weighted survival curve; its area up to the last event is the mean lifetime."""
    order = np.argsort(times)
    at_risk = np.sum(weights)
    survival, area, last = 1.0, 0.0, 0.0
    for i in order:
        area += survival * (times[i] - last)
        last = times[i]
        if events[i]:
            survival *= 1 - weights[i] / at_risk
        at_risk = at_risk - weights[i]
        if at_risk < 1e-9:
            break
    return area


def cox_partial_likelihood(beta, covariates, times, events):
    risk = covariates @ beta
    loss = 0.0
    for i in range(len(times)):
        if not events[i]:
            continue
        at_risk = times >= times[i]
        loss += log_sum_exp(risk[at_risk]) - risk[i]
    return loss


def hamiltonian_chain(q, step, momenta, log_uniforms):
    """Leapfrog trajectories under a correlated Gaussian, accepted or not."""
    precision = np.array([[1.5, -0.6], [-0.6, 1.0]])
    total = 0.0
    for p0, lu in zip(momenta, log_uniforms):
        x, p = q, p0
        p = p - 0.5 * step * precision @ x
        for i in range(3):
            x = x + step * p
            if i < 2:
                p = p - step * precision @ x
        p = p - 0.5 * step * precision @ x
        before = 0.5 * (q @ precision @ q + p0 @ p0)
        after = 0.5 * (x @ precision @ x + p @ p)
        if lu < before - after:
            q = x
        total = total + q[0] * q[1] + after
    return total


def stick_breaking(fractions, values):
    remaining = 1.0
    weights = []
    for v in fractions:
        weights.append(v * remaining)
        remaining *= 1 - v
    weights.append(remaining)
    mean = sum(w * x for w, x in zip(weights, values))
    spread = sum(w * (x - mean) ** 2 for w, x in zip(weights, values))
    return spread - sum(w * math.log(w) for w in weights)


def ordinal_regression(beta, cuts, X, grades):
    """Cumulative logits; the lowest and the highest grade have one cut only."""
    loss = 0.0
    for x, grade in zip(X, grades):
        eta = x @ beta
        match grade:
            case 0:
                p = 1 / (1 + np.exp(eta - cuts[0]))
            case g if g == len(cuts):
                p = 1 - 1 / (1 + np.exp(eta - cuts[-1]))
            case _:
                p = 1 / (1 + np.exp(eta - cuts[grade])) - 1 / (1 + np.exp(eta - cuts[grade - 1]))
        loss -= np.log(p)
    return loss


def hawkes_log_likelihood(mu, alpha, decay, times, horizon):
    excitation = 0.0
    loglik = -mu * horizon
    previous = None
    for t in times:
        if previous is not None:
            excitation = (1 + excitation) * math.exp(-decay * (t - previous))
        loglik += math.log(mu + alpha * excitation)
        loglik -= alpha / decay * (1 - math.exp(-decay * (horizon - t)))
        previous = t
    return loglik


def gaussian_process(log_scale, noise, x, y):
    """The diagonal grows until the Cholesky decomposition succeeds."""
    scale = np.exp(log_scale)
    K = np.exp(-0.5 * (x[:, None] - x[None, :]) ** 2 / scale**2)
    K[np.arange(len(x)), np.arange(len(x))] += noise**2
    L = None
    for jitter in (0.0, 1e-6, 1e-3):
        try:
            L = np.linalg.cholesky(K + jitter * np.eye(len(x)))
            break
        except np.linalg.LinAlgError:
            continue
    if L is None:
        raise ValueError("the covariance is not positive definite")
    alpha = np.linalg.solve(L.T, np.linalg.solve(L, y))
    return 0.5 * y @ alpha + np.sum(np.log(np.diag(L)))


def gamblers_ruin(p, reward, capital=3):
    """Backward induction over states that a dictionary holds, then the value at the start."""
    value = {s: 0.0 for s in range(7)}
    value[6] = reward
    for _ in range(8):
        updated = dict(value)
        for s in value:
            if s in (0, 6):
                continue
            updated[s] = 0.95 * (p * value[s + 1] + (1 - p) * value[s - 1])
        value = updated
    return value[capital]


CASES = [
    Case(beta_binomial, (2.3, 1.4, [3, 0, 5], [5, 2, 6]), wrt=(0, 1)),
    Case(
        poisson_regression,
        (
            np.array([0.2, -0.4, 0.3]),
            np.array([[1.0, 0.5, -0.2], [1.0, -0.7, 0.9], [1.0, 0.1, 1.4], [1.0, 1.2, 0.3]]),
            0.1,
            np.array([1.0, 3.0, 4.0, 0.0]),
        ),
        wrt=(0, 1, 2),
        complex_step=True,
    ),
    Case(
        mixture_log_density,
        (
            np.array([[0.1, 0.7], [-0.8, 0.3], [1.1, -0.5]]),
            np.array([0.2, -0.4]),
            np.array([[0.0, 0.5], [0.6, -0.6]]),
            np.array([-0.1, 0.3]),
        ),
        wrt=(0, 1, 2, 3),
        complex_step=True,
    ),
    Case(
        metropolis,
        (
            0.4,
            0.9,
            np.array([0.7, -1.3, 0.4, 1.9, -0.6, 0.2]),
            np.log([0.5, 0.8, 0.3, 0.9, 0.2, 0.6]),
        ),
        wrt=(0, 1, 2),
        complex_step=True,
    ),
    Case(
        stationary_distribution,
        (np.cos(np.arange(9.0)).reshape(3, 3), 0.9),
        wrt=(0, 1),
        complex_step=True,
    ),
    Case(
        weibull_survival,
        (
            1.4,
            0.3,
            np.array([0.2, -0.5, 0.7, 0.1, -0.3]),
            [(1.2, None), (2.0, None), (0.8, None), (0.5, 1.5), (1.7, None)],
            ["event", "right", "left", "interval", "event"],
        ),
        wrt=(0, 1, 2),
    ),
    Case(
        kaplan_meier,
        (
            np.array([1.0, 0.7, 1.3, 0.9, 1.1]),
            np.array([2.5, 0.8, 1.9, 3.4, 1.2]),
            [True, True, False, True, True],
        ),
        wrt=(0, 1),
        complex_step=True,
    ),
    Case(
        cox_partial_likelihood,
        (
            np.array([0.5, -0.3]),
            np.array([[0.2, 1.0], [-0.7, 0.4], [1.1, -0.2], [0.6, 0.9]]),
            np.array([2.0, 1.0, 3.0, 0.5]),
            [1, 1, 0, 1],
        ),
        wrt=(0, 1),
        complex_step=True,
    ),
    Case(
        hamiltonian_chain,
        (
            np.array([0.8, -0.4]),
            0.3,
            np.array([[0.5, -0.9], [1.2, 0.3], [-0.6, 0.8]]),
            np.log([0.4, 0.7, 0.9]),
        ),
        wrt=(0, 1, 2),
        complex_step=True,
    ),
    Case(
        stick_breaking,
        (np.array([0.4, 0.3, 0.6]), np.array([0.5, -1.0, 2.0, 0.8])),
        wrt=(0, 1),
    ),
    Case(
        ordinal_regression,
        (
            np.array([0.6, -0.2]),
            np.array([-0.5, 0.4, 1.3]),
            np.array([[0.2, 0.5], [1.0, -0.3], [-0.8, 0.1], [0.7, 0.9]]),
            [1, 3, 0, 2],
        ),
        wrt=(0, 1, 2),
        complex_step=True,
    ),
    Case(hawkes_log_likelihood, (0.6, 0.5, 1.2, [0.3, 0.9, 1.0, 2.2], 3.0), wrt=(0, 1, 2, 3, 4)),
    Case(
        gaussian_process,
        (-0.3, 0.4, np.array([0.1, 0.5, 1.2, 1.9]), np.array([0.3, 0.8, 0.5, -0.4])),
        wrt=(0, 1, 2, 3),
    ),
    Case(gamblers_ruin, (0.45, 10.0), wrt=(0, 1), complex_step=True),
]
