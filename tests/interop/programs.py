"""Functions that the bridges are tested with."""

import numpy as np


def layer(x, w, b):
    return np.tanh(x @ w + b)


def recurrence(h, w, steps):
    """A loop with an update in place, which keeps values for its backward pass."""
    h = h.copy()
    for _ in range(steps):
        h[1:] += np.sin(w * h[:-1])
    return h


def of_containers(parameters, scale):
    w, (b, c) = parameters["w"], parameters["rest"]
    return {"loss": scale * np.sum(w**2) * b[0], "images": (w * c, b + 1.0)}


def picked(x, places):
    return x[places] ** 2
