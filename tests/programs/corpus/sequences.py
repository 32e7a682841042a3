"""Sequences: recurrent cells, alignments by dynamic programming, filters, scans, sorting."""

from collections import deque

import numpy as np

from programs.case import Case


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def gru(params, sequence):
    h = np.zeros(params["U"].shape[1])
    outputs = []
    for x in sequence:
        z = sigmoid(params["W"][0] @ x + params["U"][0] @ h)
        r = sigmoid(params["W"][1] @ x + params["U"][1] @ h)
        candidate = np.tanh(params["W"][2] @ x + params["U"][2] @ (r * h))
        h = (1 - z) * h + z * candidate
        outputs.append(h)
    return np.sum(np.stack(outputs) * np.arange(1.0, len(outputs) + 1)[:, None])


def soft_dtw(a, b, gamma):
    n, m = len(a), len(b)
    D = np.full((n + 1, m + 1), 1e10)
    D[0, 0] = 0.0
    for i in range(1, n + 1):
        for j in range(1, m + 1):
            previous = [D[i - 1, j], D[i, j - 1], D[i - 1, j - 1]]
            least = min(previous)
            total = sum(np.exp(-(p - least) / gamma) for p in previous)
            D[i, j] = (a[i - 1] - b[j - 1]) ** 2 + least - gamma * np.log(total)
    return D[n, m]


def edit_distance(insertion, deletion, substitution, source, target):
    """Two rows of the table, swapped; the letters are known, the costs are learned."""
    previous = [j * insertion for j in range(len(target) + 1)]
    for i, a in enumerate(source, start=1):
        current = [i * deletion]
        for j, b in enumerate(target, start=1):
            if a == b:
                current.append(previous[j - 1])
            else:
                change = substitution[abs(ord(a) - ord(b)) % len(substitution)]
                current.append(
                    min(
                        previous[j] + deletion,
                        current[j - 1] + insertion,
                        previous[j - 1] + change,
                    )
                )
        previous, current = current, previous
    return previous[-1] ** 2


def ctc_probability(logits, labels):
    """The forward pass of connectionist temporal classification; class 0 is the blank."""
    p = np.exp(logits)
    p = p / p.sum(axis=1, keepdims=True)
    extended = [0]
    for label in labels:
        extended += [label, 0]
    size = len(extended)
    alpha = np.zeros(size)
    alpha[0] = p[0, 0]
    alpha[1] = p[0, extended[1]]
    for t in range(1, len(p)):
        new = np.zeros(size)
        for s in range(size):
            mass = alpha[s]
            if s > 0:
                mass = mass + alpha[s - 1]
            if s > 1 and extended[s] != 0 and extended[s] != extended[s - 2]:
                mass = mass + alpha[s - 2]
            new[s] = mass * p[t, extended[s]]
        alpha = new
    return -np.log(alpha[-1] + alpha[-2])


def echo(signal, feedback, mix, delay=2):
    """A comb filter: what leaves a queue of fixed length comes back in."""
    line = deque([0.0] * delay)
    out = np.zeros(len(signal))
    for i, sample in enumerate(signal):
        delayed = line.popleft()
        line.append(sample + feedback * delayed)
        out[i] = (1 - mix) * sample + mix * delayed
    return np.sum(out**2) + sum(line)


def holt_winters(series, alpha, beta, gamma, period=3):
    seasonal = series[:period] - series[:period].mean()
    level = series[:period].mean()
    trend = 0.0
    sse = 0.0
    for t in range(period, len(series)):
        s = seasonal[t % period]
        sse += (series[t] - (level + trend + s)) ** 2
        last = level
        level = alpha * (series[t] - s) + (1 - alpha) * (level + trend)
        trend = beta * (level - last) + (1 - beta) * trend
        seasonal[t % period] = gamma * (series[t] - level) + (1 - gamma) * s
    return sse


def peak_areas(signal, threshold):
    """The area of each run above the threshold, the last of which may be open."""
    areas = []
    inside = False
    area = 0.0
    for value in signal:
        if value > threshold:
            if not inside:
                inside = True
                area = 0.0
            area += value - threshold
        elif inside:
            inside = False
            areas.append(area)
    if inside:
        areas.append(area)
    return sum(a**2 for a in areas) + len(areas)


def beam_search(log_start, log_step, width=2, length=4):
    """Keeps the best few prefixes; the score of a beam is the log of its mass."""
    beam = [((state,), log_start[state]) for state in range(len(log_start))]
    beam = sorted(beam, key=lambda item: item[1], reverse=True)[:width]
    for _ in range(length - 1):
        candidates = []
        for path, score in beam:
            for state in range(len(log_start)):
                candidates.append((path + (state,), score + log_step[path[-1], state]))
        candidates.sort(key=lambda item: item[1], reverse=True)
        beam = candidates[:width]
    return np.log(sum(np.exp(score) for _, score in beam))


def insertion_sort(values):
    """In place, on a copy; a weighted sum tells the order."""
    a = values.copy()
    for i in range(1, len(a)):
        key = a[i]
        j = i - 1
        while j >= 0 and a[j] > key:
            a[j + 1] = a[j]
            j -= 1
        a[j + 1] = key
    return np.sum(a * np.arange(len(a)) ** 2)


def quick_sort(a, low, high):
    if low >= high:
        return
    pivot, store = a[high], low
    for i in range(low, high):
        if a[i] < pivot:
            a[i], a[store] = a[store], a[i]
            store += 1
    a[store], a[high] = a[high], a[store]
    quick_sort(a, low, store - 1)
    quick_sort(a, store + 1, high)


def ranked_sum(values, weights):
    """Recursion that sorts an array in place, by swaps of its elements."""
    ranked = values.copy()
    quick_sort(ranked, 0, len(ranked) - 1)
    return np.sum(weights * ranked**2)


def best_run(gains, decay):
    """The largest sum of a contiguous run, where older gains fade."""
    best = current = gains[0]
    start = best_start = best_end = 0
    for i in range(1, len(gains)):
        if current * decay < 0:
            current = gains[i]
            start = i
        else:
            current = current * decay + gains[i]
        if current > best:
            best, best_start, best_end = current, start, i
    return best**2 * (best_end - best_start + 1)


def attention_decoder(Wq, Wk, Wv, tokens):
    """One token after another, over keys and values that are kept."""
    keys, values = [], []
    out = 0.0
    for x in tokens:
        keys.append(Wk @ x)
        values.append(Wv @ x)
        K, V = np.array(keys), np.array(values)
        scores = K @ (Wq @ x) / np.sqrt(K.shape[1])
        weights = np.exp(scores - scores.max())
        weights /= weights.sum()
        x = weights @ V
        out += np.sum(np.tanh(x))
    return out


def running_median(series, width):
    """The middle of a window that slides, in a list that is kept in order."""
    window = sorted(series[:width])
    total = window[width // 2] * 1.0
    for old, new in zip(series, series[width:]):
        window.remove(old)
        position = 0
        while position < len(window) and window[position] < new:
            position += 1
        window.insert(position, new)
        total = 0.7 * total + window[width // 2] ** 2
    return total


def linear_recurrence(a, b, x):
    """A scan in doubling steps, each of which updates all later elements at once."""
    a, x = a.copy(), b * x
    n, step = len(x), 1
    while step < n:
        x[step:] = x[step:] + a[step:] * x[:-step]
        a[step:] = a[step:] * a[:-step]
        step *= 2
    return np.sum(np.sin(x))


GRU = {
    "W": np.cos(np.arange(18.0)).reshape(3, 3, 2),
    "U": 0.5 * np.sin(np.arange(27.0) * 0.7).reshape(3, 3, 3),
}
SERIES = np.array([1.2, 0.4, 2.1, 1.5, 0.6, 2.6, 1.9, 0.7, 2.8])

CASES = [
    Case(gru, (GRU, np.sin(np.arange(8.0)).reshape(4, 2)), wrt=(0, 1), complex_step=True),
    Case(soft_dtw, (np.array([0.1, 0.9, 0.4]), np.array([0.2, 0.5, 1.1, 0.3]), 0.5), wrt=(0, 1, 2)),
    Case(
        edit_distance,
        (0.9, 1.1, np.array([0.5, 0.7, 1.3]), "kitten", "sitting"),
        wrt=(0, 1, 2),
    ),
    Case(ctc_probability, (np.cos(np.arange(15.0)).reshape(5, 3), [1, 2])),
    Case(echo, (np.array([1.0, 0.3, -0.5, 0.2, 0.7, -0.1]), 0.6, 0.4), wrt=(0, 1, 2)),
    Case(holt_winters, (SERIES, 0.4, 0.2, 0.3), wrt=(0, 1, 2, 3)),
    Case(
        peak_areas,
        (np.array([0.1, 0.9, 1.2, 0.2, 0.7, 0.1, 1.1, 0.8]), 0.45),
        wrt=(0, 1),
        complex_step=True,
    ),
    Case(
        beam_search,
        (
            np.array([-0.3, -1.2, -2.0]),
            np.array([[-1.0, -0.5, -1.7], [-0.4, -1.6, -0.9], [-0.8, -1.1, -0.2]]),
        ),
        wrt=(0, 1),
        complex_step=True,
    ),
    Case(insertion_sort, (np.array([0.7, -0.2, 1.4, 0.3, -1.1]),), complex_step=True),
    Case(
        best_run,
        (np.array([0.5, -1.2, 0.8, 1.1, -0.3, 0.9, -2.0]), 0.9),
        wrt=(0, 1),
        complex_step=True,
    ),
    Case(
        attention_decoder,
        (
            np.sin(np.arange(6.0)).reshape(2, 3),
            np.cos(np.arange(6.0)).reshape(2, 3),
            np.sin(np.arange(9.0) + 1).reshape(3, 3),
            np.cos(np.arange(12.0) * 0.3).reshape(4, 3),
        ),
        wrt=(0, 1, 2, 3),
        complex_step=True,
    ),
    Case(running_median, ([0.3, 1.2, 0.7, -0.4, 0.9, 1.7, 0.1], 3)),
    Case(
        linear_recurrence,
        (
            np.array([0.5, -0.3, 0.8, 0.9, -0.6]),
            np.array([1.0, 0.4, -0.7, 0.2, 0.5]),
            np.array([0.3, 0.8, -0.5, 1.1, 0.6]),
        ),
        wrt=(0, 1, 2),
    ),
    Case(
        ranked_sum,
        (np.array([0.9, -0.3, 1.6, 0.2, -1.2, 0.5]), np.linspace(0.5, 2.0, 6)),
        wrt=(0, 1),
        complex_step=True,
    ),
]
