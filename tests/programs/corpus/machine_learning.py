"""Machine learning: models and their training, layer by layer and sample by sample."""

from dataclasses import dataclass

import numpy as np

from programs.case import Case


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def softmax(x):
    e = np.exp(x - np.max(x))
    return e / e.sum()


def logistic_regression(weights, bias, samples, labels):
    loss = 0.0
    for x, label in zip(samples, labels):
        z = x @ weights + bias
        if label == 1:
            loss += np.log1p(np.exp(-z))
        else:
            loss += np.log1p(np.exp(z))
    return loss / len(samples) + 0.01 * np.sum(weights**2)


def perceptron_network(layers, x):
    for i, (W, b) in enumerate(layers):
        x = W @ x + b
        if i < len(layers) - 1:
            x = np.tanh(x)
    return np.sum(x**2)


def recurrent_network(parameters, inputs, targets):
    h = np.zeros(parameters["Whh"].shape[0])
    loss = 0.0
    for x, target in zip(inputs, targets):
        h = np.tanh(parameters["Whh"] @ h + parameters["Wxh"] * x + parameters["b"])
        loss += (parameters["Why"] @ h - target) ** 2
    return loss


class LSTM:
    def __init__(self, weights, size):
        self.weights = weights
        self.h = np.zeros(size)
        self.c = np.zeros(size)
        self.size = size

    def step(self, x):
        z = self.weights @ np.concatenate([self.h, np.array([x, 1.0])])
        n = self.size
        i, f, o = sigmoid(z[:n]), sigmoid(z[n : 2 * n] + 1.0), sigmoid(z[2 * n : 3 * n])
        self.c = f * self.c + i * np.tanh(z[3 * n :])
        self.h = o * np.tanh(self.c)
        return self.h


def lstm_readout(weights, readout, sequence):
    cell = LSTM(weights, 2)
    outputs = [readout @ cell.step(x) for x in sequence]
    return np.sum(np.array(outputs) ** 2)


@dataclass
class GRUWeights:
    update: np.ndarray
    reset: np.ndarray
    candidate: np.ndarray


def gru_backwards(weights, inputs):
    """Reads the sequence from its end; returns the states in the order of the sequence."""
    n = weights.update.shape[0]
    h = np.full(n, 0.1)
    states = []
    for x in reversed(inputs):
        joined = np.append(h, x)
        z = sigmoid(weights.update @ joined)
        r = sigmoid(weights.reset @ joined)
        h = (1 - z) * h + z * np.tanh(weights.candidate @ np.append(r * h, x))
        states.insert(0, h)
    return np.stack(states)


def causal_attention(Q, K, V):
    n, d = Q.shape
    out = np.zeros_like(V)
    for i in range(n):
        scores = np.zeros(i + 1)
        for j in range(i + 1):
            scores[j] = Q[i] @ K[j] / np.sqrt(d)
        weights = softmax(scores)
        for j, w in enumerate(weights):
            out[i] += w * V[j]
    return np.sum(out**2)


def multi_head_attention(x, projections, heads):
    width = x.shape[1]
    size = width // heads
    q, k, v = (x @ P for P in projections)
    mixed = np.empty_like(x)
    for head in range(heads):
        part = slice(head * size, (head + 1) * size)
        scores = q[:, part] @ k[:, part].T / np.sqrt(size)
        scores -= scores.max(axis=-1, keepdims=True)
        attention = np.exp(scores)
        attention /= attention.sum(axis=-1, keepdims=True)
        mixed[:, part] = attention @ v[:, part]
    return np.mean((x + mixed) ** 2)


def convolution(image, kernel):
    rows = image.shape[0] - kernel.shape[0] + 1
    columns = image.shape[1] - kernel.shape[1] + 1
    out = np.zeros((rows, columns))
    for i in range(rows):
        for j in range(columns):
            patch = image[i : i + kernel.shape[0], j : j + kernel.shape[1]]
            out[i, j] = np.sum(patch * kernel)
    return out


def max_pool(x, size):
    pooled = np.empty((x.shape[0] // size, x.shape[1] // size))
    for i, j in np.ndindex(*pooled.shape):
        pooled[i, j] = x[i * size : (i + 1) * size, j * size : (j + 1) * size].max()
    return pooled


def convolutional_network(image, kernel, readout):
    features = convolution(image, kernel)
    features = np.where(features > 0, features, 0.1 * features)
    return np.tanh(max_pool(features, 2).ravel() @ readout)


def batch_norm_training(x, gamma, beta):
    running = {"mean": np.zeros(x.shape[1]), "var": np.ones(x.shape[1])}
    for batch in (x[:3], x[3:]):
        mean, var = batch.mean(axis=0), batch.var(axis=0)
        running["mean"] = 0.9 * running["mean"] + 0.1 * mean
        running["var"] = 0.9 * running["var"] + 0.1 * var
    normal = (x - running["mean"]) / np.sqrt(running["var"] + 1e-5)
    return np.sum((gamma * normal + beta) ** 3)


def soft_tree(node, x):
    """A split is (weights, threshold, left, right), a leaf is a number."""
    if not isinstance(node, tuple):
        return node
    weights, threshold, left, right = node
    p = sigmoid(weights @ x - threshold)
    return p * soft_tree(left, x) + (1 - p) * soft_tree(right, x)


def soft_k_means(points, centres, sharpness):
    centres = centres.copy()
    for _ in range(3):
        sums = np.zeros_like(centres)
        counts = np.zeros(len(centres))
        for p in points:
            squared = np.sum((centres - p) ** 2, axis=1)
            share = softmax(-sharpness * squared)
            for k in range(len(centres)):
                sums[k] += share[k] * p
                counts[k] += share[k]
        centres = sums / counts[:, None]
    return np.sum(centres**2)


def trained_by_adam(start, rate, data):
    w = start.copy()
    m, v = np.zeros_like(w), np.zeros_like(w)
    x, y = data
    for t in range(1, 5):
        g = 2 * x.T @ (x @ w - y) / len(y)
        m = 0.9 * m + 0.1 * g
        v = 0.99 * v + 0.01 * g**2
        w -= rate * (m / (1 - 0.9**t)) / (np.sqrt(v / (1 - 0.99**t)) + 1e-8)
    return np.mean((x @ w - y) ** 2)


def one_step_adaptation(weights, inner_rate, tasks):
    """Each task adapts the shared weights by gradient steps of its own."""

    def task_loss(w, slope):
        return (w[0] * np.tanh(w[1] * slope) - slope**2) ** 2

    def task_gradient(w, slope):
        t = np.tanh(w[1] * slope)
        r = w[0] * t - slope**2
        return np.array([2 * r * t, 2 * r * w[0] * (1 - t**2) * slope])

    total = 0.0
    for slope in tasks:
        adapted = weights
        for _ in range(2):
            adapted = adapted - inner_rate * task_gradient(adapted, slope)
        total += task_loss(adapted, slope)
    return total / len(tasks)


def dropout_ensemble(W1, W2, x):
    masks = np.array([[1, 0, 1], [1, 1, 0], [0, 1, 1]], dtype=bool)
    outputs = []
    for mask in masks:
        hidden = np.tanh(W1 @ x)
        hidden[~mask] = 0.0
        outputs.append(W2 @ hidden / mask.mean())
    outputs = np.stack(outputs)
    return np.mean(outputs) + np.var(outputs)


def skip_gram(embedding, context, pairs, negatives):
    loss = 0.0
    for centre, target in pairs:
        v = embedding[centre]
        loss -= np.log(sigmoid(v @ context[target]))
        for word in negatives:
            if word == target:
                continue
            loss -= np.log(sigmoid(-(v @ context[word])))
    return loss


def layer_norm(x, gain):
    return gain * (x - x.mean()) / np.sqrt(x.var() + 1e-5)


def residual_blocks(x, blocks):
    """Blocks are dicts; what they do is said by their kind."""
    for block in blocks:
        match block["kind"]:
            case "dense":
                x = x + np.tanh(block["W"] @ layer_norm(x, block["gain"]))
            case "scale" | "gate":
                x = x * sigmoid(block["s"])
            case _:
                raise ValueError(block["kind"])
    return x


def residual_loss(x, W, gain, s):
    blocks = [
        {"kind": "dense", "W": W, "gain": gain},
        {"kind": "gate", "s": s},
        {"kind": "dense", "W": W.T, "gain": 0.5 * gain},
    ]
    return np.sum(residual_blocks(x, blocks) ** 2)


def hinge_training(weights, samples, labels, rate):
    """Updates only on samples inside the margin."""
    w = weights
    mistakes = 0
    for _ in range(2):
        for x, y in zip(samples, labels):
            margin = y * (w @ x)
            if margin < 1:
                w = w + rate * (y * x - 0.1 * w)
                mistakes += 1
            else:
                w = w * (1 - 0.1 * rate)
    return w @ w + mistakes


def message_passing(features, W, edges):
    h = features
    for _ in range(2):
        incoming = np.zeros_like(h)
        degree = np.ones(len(h))
        for source, target in edges:
            incoming[target] += h[source] @ W
            degree[target] += 1
        h = np.tanh(h + incoming / degree[:, None])
    return np.sum(h[0] * h[-1])


def boosted_stumps(targets, x, rate, thresholds):
    prediction = np.zeros(len(targets))
    for threshold in thresholds:
        residual = targets - prediction
        left = x < threshold
        update = np.empty_like(prediction)
        update[left] = residual[left].mean()
        update[~left] = residual[~left].mean()
        prediction += rate * update
    return np.sum((targets - prediction) ** 2)


def policy_gradient_surrogate(logits, baseline, actions, rewards):
    returns = []
    running = 0.0
    for r in rewards[::-1]:
        running = r + 0.9 * running
        returns.append(running)
    returns = returns[::-1]
    loss = 0.0
    for t, action in enumerate(actions):
        log_p = logits[t] - np.log(np.sum(np.exp(logits[t])))
        loss -= log_p[action] * (returns[t] - baseline[t])
        loss -= 0.01 * np.sum(np.exp(log_p) * log_p)
        loss += 0.5 * (returns[t] - baseline[t]) ** 2
    return loss


def temporal_difference(values, rewards, trace_decay):
    """TD(lambda) with eligibility traces, in place on a copy of the values."""
    V = values.copy()
    trace = np.zeros(len(V))
    for episode in ((0, 1, 2, 3), (0, 2, 1, 3)):
        trace[:] = 0.0
        for k in range(len(episode) - 1):
            s, s_next = episode[k], episode[k + 1]
            delta = rewards[s_next] + 0.9 * V[s_next] - V[s]
            trace *= 0.9 * trace_decay
            trace[s] += 1.0
            V += 0.5 * delta * trace
    return np.sum(V**2)


def variational_autoencoder(encoder, decoder, samples):
    noise = np.array([0.3, -0.7, 1.1])
    bound = 0.0
    for x, eps in zip(samples, noise):
        mean, log_var = encoder @ x
        z = mean + np.exp(0.5 * log_var) * eps
        reconstruction = np.tanh(decoder * z)
        bound -= np.sum((x - reconstruction) ** 2)
        bound += 0.5 * (1 + log_var - mean**2 - np.exp(log_var))
    return -bound


def contrastive_loss(left, right, temperature):
    n = len(left)
    similarity = np.empty((n, n))
    for i in range(n):
        for j in range(n):
            lengths = np.linalg.norm(left[i]) * np.linalg.norm(right[j])
            similarity[i, j] = np.dot(left[i], right[j]) / lengths / temperature
    loss = 0.0
    for i in range(n):
        loss += np.log(np.exp(similarity[i]).sum()) - similarity[i, i]
        loss += np.log(np.exp(similarity[:, i]).sum()) - similarity[i, i]
    return loss / (2 * n)


def beam_of_two(scores, bonus):
    """The two best prefixes are kept; their scores end up in the result."""
    beam = [((), 0.0)]
    for row in scores:
        grown = []
        for prefix, total in beam:
            for symbol in range(len(row)):
                gain = bonus if prefix and prefix[-1] == symbol else 0.0
                grown.append((prefix + (symbol,), total + row[symbol] + gain))
        grown.sort(key=lambda item: item[1], reverse=True)
        beam = grown[:2]
    return beam[0][1] - 0.5 * beam[1][1] ** 2


def masked_pooling(scores, values, present):
    """Absent items get the score -inf, so that their weight is zero."""
    with np.errstate(divide="ignore"):
        allowed = np.log(present)
    pooled = []
    for row in scores:
        shifted = row + allowed
        pooled.append(softmax(shifted) @ values)
    return np.linalg.norm(np.stack(pooled))


X = np.array([[0.5, -1.2], [1.1, 0.3], [-0.7, 0.8], [0.2, 0.9]])
W = np.array([[0.4, -0.6, 0.2], [0.1, 0.5, -0.3], [-0.8, 0.3, 0.7]])
RNG = np.random.default_rng(7)

CASES = [
    Case(
        logistic_regression,
        (np.array([0.4, -0.8]), 0.1, X, [1, 0, 1, 0]),
        wrt=(0, 1, 2),
        complex_step=True,
    ),
    Case(
        perceptron_network,
        (
            [
                (W, np.array([0.1, -0.2, 0.3])),
                (W[:2], np.array([0.5, 0.1])),
            ],
            np.array([0.9, -0.4, 0.3]),
        ),
        wrt=(0, 1),
        complex_step=True,
    ),
    Case(
        recurrent_network,
        (
            {
                "Whh": np.array([[0.3, -0.4], [0.6, 0.2]]),
                "Wxh": np.array([0.5, -0.9]),
                "b": np.array([0.1, 0.2]),
                "Why": np.array([1.1, 0.4]),
            },
            np.array([0.3, -0.8, 0.5, 1.0]),
            np.array([0.1, 0.4, -0.2, 0.6]),
        ),
        wrt=(0, 1),
        complex_step=True,
    ),
    Case(
        lstm_readout,
        (RNG.normal(size=(8, 4)) * 0.6, np.array([0.9, -0.5]), np.array([0.4, -1.0, 0.7])),
        wrt=(0, 1, 2),
        complex_step=True,
    ),
    Case(
        gru_backwards,
        (
            GRUWeights(*(RNG.normal(size=(3, 2, 3)) * 0.7)),
            np.array([0.5, -0.3, 0.8]),
        ),
        wrt=(0, 1),
        complex_step=True,
    ),
    Case(causal_attention, (X[:3], X[1:], W[:, :2]), wrt=(0, 1, 2)),
    Case(
        multi_head_attention,
        (RNG.normal(size=(3, 4)), list(RNG.normal(size=(3, 4, 4)) * 0.5), 2),
        wrt=(0, 1),
    ),
    Case(
        convolutional_network,
        (
            RNG.normal(size=(5, 5)),
            np.array([[0.6, -0.4], [0.3, 0.9]]),
            np.array([0.2, -0.3, 0.5, 0.1]),
        ),
        wrt=(0, 1, 2),
    ),
    Case(
        batch_norm_training,
        (RNG.normal(size=(6, 2)), np.array([1.1, 0.8]), np.array([0.2, -0.1])),
        wrt=(0, 1, 2),
    ),
    Case(
        soft_tree,
        (
            (
                np.array([0.5, -0.8]),
                0.1,
                (np.array([1.2, 0.3]), -0.4, 1.5, -0.7),
                (np.array([-0.3, 0.6]), 0.2, 0.4, (np.array([0.9, 0.9]), 0.5, 2.0, -1.0)),
            ),
            np.array([0.7, 0.2]),
        ),
        wrt=(0, 1),
        complex_step=True,
    ),
    Case(soft_k_means, (X, np.array([[0.3, 0.5], [0.1, -0.9]]), 1.3), wrt=(0, 1, 2)),
    Case(
        trained_by_adam,
        (np.array([0.3, -0.2]), 0.1, (X, np.array([0.4, 1.1, -0.6, 0.2]))),
        wrt=(0, 1, 2),
    ),
    Case(
        one_step_adaptation,
        (np.array([0.8, 1.2]), 0.15, [0.4, -0.7, 1.1]),
        wrt=(0, 1),
        complex_step=True,
    ),
    Case(
        dropout_ensemble,
        (W, np.array([0.7, -0.4, 1.1]), np.array([0.5, 0.9, -0.3])),
        wrt=(0, 1, 2),
    ),
    Case(
        skip_gram,
        (X, X[::-1] * 0.7 + 0.2, [(0, 1), (2, 1), (3, 0)], [2, 1, 2]),
        wrt=(0, 1),
        complex_step=True,
    ),
    Case(residual_loss, (np.array([0.4, -1.1, 0.8]), W, 0.9, 0.3), wrt=(0, 1, 2, 3)),
    Case(
        hinge_training,
        (np.array([0.2, 0.1]), X, (1.0, 1.0, -1.0, -1.0), 0.7),
        wrt=(0, 1, 3),
        complex_step=True,
    ),
    Case(
        message_passing,
        (
            RNG.normal(size=(4, 2)),
            np.array([[0.5, -0.2], [0.3, 0.8]]),
            [(0, 1), (1, 2), (2, 0), (3, 2), (1, 3)],
        ),
        wrt=(0, 1),
    ),
    Case(
        boosted_stumps,
        (
            np.array([0.4, 1.1, -0.6, 0.9, 2.0]),
            np.array([0.1, 0.5, 0.9, 1.4, 1.8]),
            0.6,
            (0.7, 1.5),
        ),
        wrt=(0, 2),
    ),
    Case(
        policy_gradient_surrogate,
        (W, np.array([0.3, -0.1, 0.5]), [0, 2, 1], np.array([1.0, -0.5, 0.7])),
        wrt=(0, 1, 3),
        complex_step=True,
    ),
    Case(
        temporal_difference,
        (np.array([0.1, 0.4, -0.2, 0.8]), np.array([0.0, 0.5, -0.3, 1.0]), 0.7),
        wrt=(0, 1, 2),
    ),
    Case(
        variational_autoencoder,
        (np.array([[0.5, -0.3], [0.2, 0.4]]), np.array([0.9, -0.6]), X[:3]),
        wrt=(0, 1, 2),
        complex_step=True,
    ),
    Case(contrastive_loss, (X, X + 0.3 * X[::-1], 0.6), wrt=(0, 1, 2)),
    Case(
        masked_pooling,
        (W, X[:3], np.array([1.0, 0.0, 1.0])),
        wrt=(0, 1),
    ),
    Case(
        beam_of_two,
        (np.array([[0.3, 1.1, -0.2], [0.9, 0.1, 0.65], [0.2, 0.4, 0.35]]), 0.5),
        wrt=(0, 1),
        complex_step=True,
    ),
]
