"""Dynamic programming: tables, memories and recursions over sub-problems, hard and soft."""

import itertools

import numpy as np

from programs.case import Case


def soft_min(*values, temperature=0.3):
    stacked = np.stack(values)
    low = np.min(stacked)
    return low - temperature * np.log(np.sum(np.exp((low - stacked) / temperature)))


def soft_edit_distance(a, b, gap):
    D = np.zeros((len(a) + 1, len(b) + 1))
    D[1:, 0] = gap * np.arange(1, len(a) + 1)
    D[0, 1:] = gap * np.arange(1, len(b) + 1)
    for i in range(len(a)):
        for j in range(len(b)):
            substitution = D[i, j] + (a[i] - b[j]) ** 2
            D[i + 1, j + 1] = soft_min(substitution, D[i, j + 1] + gap, D[i + 1, j] + gap)
    return D[-1, -1]


def viterbi(log_start, log_transition, log_emission):
    """The score of the best path, and the score of its states under other weights."""
    steps, states = log_emission.shape
    score = log_start + log_emission[0]
    back = np.zeros((steps, states), dtype=int)
    for t in range(1, steps):
        candidates = score[:, None] + log_transition
        back[t] = np.argmax(candidates, axis=0)
        score = np.max(candidates, axis=0) + log_emission[t]
    state = int(np.argmax(score))
    path = [state]
    for t in range(steps - 1, 0, -1):
        state = back[t, state]
        path.append(state)
    path.reverse()
    bonus = 0.0
    for t, s in enumerate(path):
        bonus += 0.1 * t * log_emission[t, s] ** 2
    return np.max(score) + bonus


def log_sum_exp(x):
    high = max(x)
    return high + np.log(np.sum(np.exp(np.array(x) - high)))


def hidden_markov_forward(start, transition, emission, observations):
    states = range(len(start))
    alpha = [np.log(start[s]) + np.log(emission[s, observations[0]]) for s in states]
    for observed in observations[1:]:
        alpha = [
            log_sum_exp([alpha[r] + np.log(transition[r, s]) for r in states])
            + np.log(emission[s, observed])
            for s in states
        ]
    return log_sum_exp(alpha)


EDGES = {"a": ["b", "c"], "b": ["c", "d"], "c": ["d", "e"], "d": ["e"], "e": []}


def longest_path(weights):
    best = {}

    def length(node):
        if node in best:
            return best[node]
        value = 0.0
        for successor in EDGES[node]:
            value = max(value, weights[node + successor] + length(successor))
        best[node] = value
        return value

    return length("a") ** 2


def knapsack(values, sizes, capacity):
    best = np.zeros(capacity + 1)
    for value, size in zip(values, sizes):
        for room in range(capacity, size - 1, -1):
            best[room] = np.maximum(best[room], best[room - size] + value)
    return best[capacity] + 0.5 * best[capacity // 2]


def soft_knapsack(values, sizes, temperature):
    """Log of the sum over all fillings, by capacity left."""
    capacity = 6
    log_z = np.zeros(capacity + 1)
    for value, size in zip(values, sizes):
        shifted = log_z[:-size] + value / temperature
        log_z[size:] = np.logaddexp(log_z[size:], shifted)
    return temperature * log_z[-1]


def matrix_chain(dimensions):
    n = len(dimensions) - 1
    cost = np.zeros((n, n))
    for length in range(2, n + 1):
        for i in range(n - length + 1):
            j = i + length - 1
            cost[i, j] = np.inf
            for k in range(i, j):
                product = dimensions[i] * dimensions[k + 1] * dimensions[j + 1]
                total = cost[i, k] + cost[k + 1, j] + product
                if total < cost[i, j]:
                    cost[i, j] = total
    return cost[0, n - 1]


def connectionist_temporal_classification(logits, labels):
    """Forward probabilities over labels with blanks between them."""
    extended = [0]
    for label in labels:
        extended += [label, 0]
    p = np.exp(logits) / np.sum(np.exp(logits), axis=1, keepdims=True)
    T, S = len(p), len(extended)
    alpha = np.zeros((T, S))
    alpha[0, 0] = p[0, 0]
    alpha[0, 1] = p[0, extended[1]]
    for t in range(1, T):
        for s in range(S):
            total = alpha[t - 1, s]
            if s > 0:
                total = total + alpha[t - 1, s - 1]
            if s > 1 and extended[s] != 0 and extended[s] != extended[s - 2]:
                total = total + alpha[t - 1, s - 2]
            alpha[t, s] = total * p[t, extended[s]]
    return -np.log(alpha[-1, -1] + alpha[-1, -2])


def needleman_wunsch(similarity, gap):
    n, m = similarity.shape
    row = -gap * np.arange(m + 1.0)
    for i in range(n):
        diagonal, row[0] = row[0], row[0] - gap
        for j in range(m):
            best = max(diagonal + similarity[i, j], row[j] - gap, row[j + 1] - gap)
            diagonal, row[j + 1] = row[j + 1], best
    return row[m]


def optimal_search_tree(weights):
    def cost(low, high):
        if low > high:
            return 0.0
        total = sum(weights[low : high + 1])
        best = None
        for root in range(low, high + 1):
            candidate = cost(low, root - 1) + cost(root + 1, high) + total
            if best is None or candidate < best:
                best = candidate
        return best

    return cost(0, len(weights) - 1)


def floyd_warshall(lengths):
    d = lengths.copy()
    n = len(d)
    for k in range(n):
        for i in range(n):
            for j in range(n):
                through = d[i, k] + d[k, j]
                if through < d[i, j]:
                    d[i, j] = through
    return np.sum(d**2)


def bellman_ford(edges, costs, source, target):
    distance = [np.inf] * 5
    distance[source] = 0.0
    for _ in range(4):
        changed = False
        for (start, end), cost in zip(edges, costs):
            if distance[start] + cost < distance[end]:
                distance[end] = distance[start] + cost
                changed = True
        if not changed:
            break
    return distance[target] + sum(distance) / 5


def value_iteration(rewards, discount, slip):
    """A corridor of cells: a step may fail and leave the agent where it is."""
    n = len(rewards)
    V = np.zeros(n)
    for _ in range(6):
        V_new = np.empty(n)
        for s in range(n):
            left, right = V[max(s - 1, 0)], V[min(s + 1, n - 1)]
            q = np.array([left, right]) * (1 - slip) + V[s] * slip
            V_new[s] = rewards[s] + discount * np.max(q)
        V = V_new
    return V[0]


def inside_algorithm(lexical, rule):
    """The weight of all binary trees over a sentence, by spans."""
    n = len(lexical)
    chart = {}
    for i in range(n):
        chart[i, i + 1] = lexical[i]
    for width in range(2, n + 1):
        for start in range(n - width + 1):
            end = start + width
            chart[start, end] = sum(
                rule * chart[start, middle] * chart[middle, end] for middle in range(start + 1, end)
            )
    return np.log(chart[0, n])


def dtw_with_path(a, b):
    n, m = len(a), len(b)
    D = np.full((n + 1, m + 1), np.inf)
    D[0, 0] = 0.0
    for i, j in itertools.product(range(1, n + 1), range(1, m + 1)):
        cheapest = min(D[i - 1, j], D[i, j - 1], D[i - 1, j - 1])
        D[i, j] = abs(a[i - 1] - b[j - 1]) + cheapest
    i, j, length = n, m, 0
    while i > 0 or j > 0:
        length += 1
        moves = [(i - 1, j - 1), (i - 1, j), (i, j - 1)]
        i, j = min(moves, key=lambda cell: D[cell] if min(cell) >= 0 else np.inf)
    return D[n, m] / length


def optimal_stopping(offers, probabilities, patience):
    """The value of waiting, from the last day backwards."""
    waiting = 0.0
    for day in range(5, 0, -1):
        expected = 0.0
        for offer, p in zip(offers, probabilities):
            if offer >= waiting:
                expected += p * offer
            else:
                expected += p * waiting
        waiting = patience * expected
    return waiting


def travelling_salesman(points):
    """Held and Karp, over subsets as bits."""
    n = len(points)
    d = np.sqrt(np.sum((points[:, None] - points[None, :]) ** 2, axis=-1) + 1e-9)
    best = {(1, 0): 0.0}
    for size in range(1, n):
        for subset in itertools.combinations(range(1, n), size):
            bits = 1 + sum(1 << k for k in subset)
            for last in subset:
                before = bits ^ (1 << last)
                choices = [
                    best[before, k] + d[k, last] for k in (0, *subset) if (before, k) in best
                ]
                best[bits, last] = min(choices)
    full = (1 << n) - 1
    return min(best[full, k] + d[k, 0] for k in range(1, n))


def stick_cutting(prices, waste):
    memo = [0.0]
    for length in range(1, len(prices) + 1):
        best = prices[length - 1]
        for cut in range(1, length):
            if (candidate := prices[cut - 1] + memo[length - cut] - waste) > best:
                best = candidate
        memo.append(best)
    return memo[-1] * memo[-2]


WEIGHTS = {"ab": 1.0, "ac": 2.5, "bc": 1.2, "bd": 0.4, "cd": 0.7, "ce": 1.0, "de": 0.9}

CASES = [
    Case(
        soft_edit_distance,
        (np.array([0.2, 1.1, -0.4]), np.array([0.3, 0.9]), 0.6),
        wrt=(0, 1, 2),
    ),
    Case(
        viterbi,
        (
            np.log(np.array([0.6, 0.4])),
            np.log(np.array([[0.7, 0.3], [0.4, 0.6]])),
            np.array([[-0.5, -1.2], [-0.9, -0.7], [-2.0, -0.3], [-0.4, -1.9]]),
        ),
        wrt=(0, 1, 2),
        complex_step=True,
    ),
    Case(
        hidden_markov_forward,
        (
            np.array([0.6, 0.4]),
            np.array([[0.7, 0.3], [0.2, 0.8]]),
            np.array([[0.5, 0.3, 0.2], [0.1, 0.4, 0.5]]),
            [0, 2, 1, 1],
        ),
        wrt=(0, 1, 2),
        complex_step=True,
    ),
    Case(longest_path, (WEIGHTS,), complex_step=True),
    Case(knapsack, (np.array([1.2, 2.3, 1.9, 0.8]), (2, 3, 4, 1), 7)),
    Case(soft_knapsack, (np.array([1.2, 2.3, 1.9]), (2, 3, 4), 0.7), wrt=(0,)),
    Case(matrix_chain, (np.array([2.0, 5.0, 1.5, 3.0, 4.0]),)),
    Case(
        connectionist_temporal_classification,
        (np.array([[0.2, 1.0, -0.3], [0.5, 0.4, 0.1], [-0.6, 0.2, 0.9], [0.3, 0.1, 0.7]]), [1, 2]),
    ),
    Case(
        needleman_wunsch,
        (np.array([[1.0, -0.4, 0.2], [-0.7, 1.3, -0.2], [0.1, -0.9, 0.8]]), 0.35),
        wrt=(0, 1),
    ),
    Case(optimal_search_tree, ([0.3, 0.15, 0.4, 0.1],), complex_step=True),
    Case(
        floyd_warshall,
        (
            np.array(
                [
                    [0.1, 3.0, 8.0, 1.0],
                    [2.0, 0.2, 1.5, 7.0],
                    [5.0, 4.0, 0.3, 2.2],
                    [6.0, 1.1, 9.0, 0.1],
                ]
            ),
        ),
        complex_step=True,
    ),
    Case(
        bellman_ford,
        (
            [(0, 1), (0, 2), (1, 3), (2, 1), (2, 3), (3, 4)],
            np.array([4.0, 1.0, 2.0, 1.5, 6.0, 0.8]),
            0,
            4,
        ),
        wrt=(1,),
        complex_step=True,
    ),
    Case(value_iteration, (np.array([0.1, -0.2, 0.3, 1.0, -0.5]), 0.9, 0.15), wrt=(0, 1, 2)),
    Case(inside_algorithm, (np.array([0.4, 0.9, 0.6, 0.7]), 0.5), wrt=(0, 1), complex_step=True),
    Case(dtw_with_path, (np.array([0.1, 0.9, 0.4, -0.3]), np.array([0.2, 0.7, 0.63])), wrt=(0, 1)),
    Case(
        optimal_stopping,
        (np.array([0.5, 1.0, 1.8, 2.9]), np.array([0.4, 0.3, 0.2, 0.1]), 0.95),
        wrt=(0, 1, 2),
        complex_step=True,
    ),
    Case(
        travelling_salesman,
        (np.array([[0.0, 0.1], [1.0, 0.3], [0.8, 1.4], [-0.2, 0.9]]),),
        complex_step=True,
    ),
    Case(stick_cutting, ([1.0, 2.6, 3.1, 5.5, 5.9], 0.1), wrt=(0, 1), complex_step=True),
]
