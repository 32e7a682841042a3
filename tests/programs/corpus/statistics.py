"""Statistics: estimators, resampling, likelihoods and fits."""

import numpy as np

from programs.case import Case


def welford(samples):
    mean, m2, count = 0.0, 0.0, 0
    for x in samples:
        count += 1
        delta = x - mean
        mean += delta / count
        m2 += delta * (x - mean)
    if count < 2:
        return 0.0
    return mean + m2 / (count - 1)


def autocorrelation(series, decay):
    n = len(series)
    centred = series - series.mean()
    variance = np.dot(centred, centred) / n
    total = 0.0
    for lag in range(1, 4):
        rho = np.dot(centred[:-lag], centred[lag:]) / (n * variance)
        total += decay**lag * rho**2
    return total


DRAWS = np.array([[0, 2, 2, 4, 1], [3, 3, 0, 1, 4], [1, 1, 1, 2, 0], [4, 0, 3, 3, 3]])


def bootstrap_variance(samples, trim):
    estimates = []
    for draw in DRAWS:
        resampled = samples[draw]
        estimates.append(np.mean(resampled) - trim * np.mean(resampled**3))
    estimates = np.array(estimates)
    return np.var(estimates)


PROPOSALS = np.array([0.4, -0.9, 1.3, 0.2, -0.6, 0.8])
UNIFORMS = np.array([0.3, 0.9, 0.4, 0.7, 0.1, 0.6])


def metropolis(mean, scale):
    """A chain with fixed draws: moves depend on the parameters, acceptances are given by them."""

    def log_density(x):
        return -0.5 * ((x - mean) / scale) ** 2 - 0.1 * x**4

    x = mean + 0.1
    accepted = 0
    chain = np.empty(len(PROPOSALS))
    for i, (step, u) in enumerate(zip(PROPOSALS, UNIFORMS)):
        candidate = x + scale * step
        if np.log(u) < log_density(candidate) - log_density(x):
            x = candidate
            accepted += 1
        chain[i] = x
    return np.mean(chain**2) * (1 + accepted)


def trimmed_mean(samples, weight):
    ordered = np.sort(samples)
    kept = ordered[1:-1]
    median = np.sort(samples)[len(samples) // 2]
    return weight * np.mean(kept) + (1 - weight) * median**2


def kernel_density(samples, bandwidth):
    """Leave-one-out log-likelihood of a Gaussian kernel."""
    n = len(samples)
    total = 0.0
    for i in range(n):
        density = 0.0
        for j in range(n):
            if j != i:
                z = (samples[i] - samples[j]) / bandwidth
                density += np.exp(-0.5 * z**2)
        total += np.log(density / ((n - 1) * bandwidth * np.sqrt(2 * np.pi)))
    return total / n


def ridge_cross_validation(X, y, penalty):
    folds = 3
    n = len(y)
    error = 0.0
    for fold in range(folds):
        held_out = np.arange(n) % folds == fold
        X_train, y_train = X[~held_out], y[~held_out]
        gram = X_train.T @ X_train + penalty * np.eye(X.shape[1])
        beta = np.linalg.solve(gram, X_train.T @ y_train)
        error += np.sum((y[held_out] - X[held_out] @ beta) ** 2)
    return error / n


def irls_logistic(X, y, ridge):
    beta = np.zeros(X.shape[1])
    for iteration in range(25):
        p = 1 / (1 + np.exp(-(X @ beta)))
        w = p * (1 - p)
        hessian = X.T @ (w[:, None] * X) + ridge * np.eye(len(beta))
        step = np.linalg.solve(hessian, X.T @ (y - p) - ridge * beta)
        beta = beta + step
        if np.max(np.abs(step)) < 1e-10:
            break
    return beta


def em_mixture(data, means, sigma):
    """Two steps of expectation maximisation, then the log-likelihood."""
    k = len(means)
    mu, weights = means.copy(), np.full(k, 1.0 / k)
    likelihood = 0.0
    for _ in range(2):
        responsibility = np.zeros((len(data), k))
        for i, x in enumerate(data):
            for j in range(k):
                responsibility[i, j] = weights[j] * np.exp(-0.5 * ((x - mu[j]) / sigma) ** 2)
            norm = responsibility[i].sum()
            likelihood += np.log(norm / sigma)
            responsibility[i] /= norm
        counts = responsibility.sum(axis=0)
        weights = counts / len(data)
        for j in range(k):
            mu[j] = responsibility[:, j] @ data / counts[j]
    return likelihood + np.sum(mu**2)


def gaussian_process(x, y, log_length, noise):
    """The log marginal likelihood; noise is added until the factorisation succeeds."""
    distance = x[:, None] - x[None, :]
    K = np.exp(-0.5 * (distance / np.exp(log_length)) ** 2)
    K[np.diag_indices(len(x))] -= 0.5
    jitter = noise
    for _ in range(6):
        try:
            L = np.linalg.cholesky(K + jitter * np.eye(len(x)))
        except np.linalg.LinAlgError:
            jitter = jitter * 2
        else:
            break
    alpha = np.linalg.solve(L.T, np.linalg.solve(L, y))
    return -0.5 * y @ alpha - np.sum(np.log(np.diag(L)))


def yule_walker(series):
    n, order = len(series), 2
    r = [series[: n - k] @ series[k:] / n for k in range(order + 1)]
    R = np.empty((order, order))
    for i in range(order):
        for j in range(order):
            R[i, j] = r[abs(i - j)]
    phi = np.linalg.solve(R, np.array(r[1:]))
    innovation = r[0] - phi @ np.array(r[1:])
    return np.sum(phi**2) + np.log(innovation)


def huber_location(samples, delta, iterations=6):
    location = np.mean(samples)
    for _ in range(iterations):
        weights = np.ones(len(samples))
        for i in range(len(samples)):
            r = abs(samples[i] - location)
            if r > delta:
                weights[i] = delta / r
        location = weights @ samples / np.sum(weights)
    return location


def cox_partial_likelihood(beta, covariates, times, observed):
    order = np.argsort(-times)
    risk, total = 0.0, 0.0
    for i in order:
        eta = covariates[i] @ beta
        risk = risk + np.exp(eta)
        if not observed[i]:
            continue
        total += eta - np.log(risk)
    return -total


def isotonic(values, weights):
    """Pool adjacent violators: blocks are merged while they are out of order."""
    blocks = []
    for v, w in zip(values, weights):
        blocks.append((v, w, 1))
        while len(blocks) > 1 and blocks[-2][0] >= blocks[-1][0]:
            v2, w2, n2 = blocks.pop()
            v1, w1, n1 = blocks.pop()
            blocks.append(((v1 * w1 + v2 * w2) / (w1 + w2), w1 + w2, n1 + n2))
    fitted = []
    for v, _, n in blocks:
        fitted.extend([v] * n)
    return np.sum(np.array(fitted) ** 2)


def jackknife(samples, power):
    def ratio(x):
        return np.mean(x**power) / np.mean(x)

    n = len(samples)
    whole = ratio(samples)
    parts = [ratio(np.concatenate([samples[:i], samples[i + 1 :]])) for i in range(n)]
    bias = (n - 1) * (sum(parts) / n - whole)
    spread = sum((part - whole) ** 2 for part in parts)
    return whole - bias + spread


def analysis_of_variance(groups):
    everything = np.concatenate(groups)
    grand = np.mean(everything)
    between = within = 0.0
    for group in groups:
        between += len(group) * (group.mean() - grand) ** 2
        within += ((group - group.mean()) ** 2).sum()
    k, n = len(groups), len(everything)
    return (between / (k - 1)) / (within / (n - k))


def gibbs_sampler(correlation, location):
    noise = np.array([0.3, -1.1, 0.6, 0.9, -0.4, 0.2])
    x = y = 0.0
    scale = np.sqrt(1 - correlation**2)
    kept = []
    for k in range(0, len(noise), 2):
        x = location + correlation * (y - location) + scale * noise[k]
        y = location + correlation * (x - location) + scale * noise[k + 1]
        if k >= 2:
            kept.append(x * y)
    return sum(kept) / len(kept)


CASES = [
    Case(welford, (np.array([0.4, 1.7, -0.3, 2.2, 0.9]),), complex_step=True),
    Case(
        autocorrelation,
        (np.array([0.3, 0.9, 0.2, -0.7, -0.4, 0.6, 1.1]), 0.8),
        wrt=(0, 1),
        complex_step=True,
    ),
    Case(bootstrap_variance, (np.array([0.3, 1.2, -0.4, 0.8, 2.0]), 0.15), wrt=(0, 1)),
    Case(metropolis, (0.4, 0.9), wrt=(0, 1)),
    Case(trimmed_mean, (np.array([3.0, -1.0, 0.5, 2.2, 8.0]), 0.3), wrt=(0, 1), complex_step=True),
    Case(
        kernel_density,
        (np.array([0.1, 0.9, -0.5, 1.6, 0.4]), 0.6),
        wrt=(0, 1),
        complex_step=True,
    ),
    Case(
        ridge_cross_validation,
        (
            np.array([[1.0, 0.2], [0.3, -1.1], [0.8, 0.5], [-0.4, 0.9], [1.3, -0.2], [0.1, 0.7]]),
            np.array([0.9, -0.6, 1.2, 0.3, 1.0, 0.8]),
            0.4,
        ),
        wrt=(0, 1, 2),
        complex_step=True,
    ),
    Case(
        irls_logistic,
        (
            np.array([[1.0, 0.4], [1.0, -1.2], [1.0, 0.9], [1.0, -0.1], [1.0, 1.7]]),
            np.array([1.0, 0.0, 1.0, 1.0, 0.0]),
            0.5,
        ),
        wrt=(0, 1, 2),
        complex_step=True,
    ),
    Case(
        em_mixture,
        (np.array([0.1, 0.4, 2.1, 1.8, -0.3]), np.array([0.0, 1.5]), 0.7),
        wrt=(0, 1, 2),
    ),
    Case(
        gaussian_process,
        (np.array([0.0, 0.5, 1.1, 1.8]), np.array([0.2, 0.9, 0.4, -0.6]), -0.2, 0.15),
        wrt=(0, 1, 2, 3),
    ),
    Case(yule_walker, (np.array([0.5, 1.1, 0.2, -0.9, -0.3, 0.8, 0.7]),)),
    Case(huber_location, (np.array([0.2, 0.5, 3.0, -0.1, 0.7, -4.0]), 0.8), wrt=(0, 1)),
    Case(
        cox_partial_likelihood,
        (
            np.array([0.5, -0.8]),
            np.array([[0.2, 1.0], [0.9, -0.3], [-0.5, 0.4], [1.1, 0.6]]),
            np.array([3.0, 1.5, 4.2, 2.7]),
            [True, True, False, True],
        ),
        wrt=(0, 1),
        complex_step=True,
    ),
    Case(
        isotonic,
        (np.array([1.0, 3.0, 2.0, 2.6, 1.9, 4.0]), np.array([1.0, 0.5, 2.0, 1.0, 1.5, 1.0])),
        wrt=(0, 1),
        complex_step=True,
    ),
    Case(jackknife, (np.array([0.8, 1.5, 0.4, 2.1]), 2.5), wrt=(0, 1), complex_step=True),
    Case(
        analysis_of_variance,
        ([np.array([1.0, 1.4, 0.7]), np.array([2.1, 1.8]), np.array([0.3, 0.9, 1.1, 0.6])],),
        complex_step=True,
    ),
    Case(gibbs_sampler, (0.6, 0.9), wrt=(0, 1), complex_step=True),
]
