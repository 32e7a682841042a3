"""Derivatives from another source than the compiler: central differences of plain Python calls."""

from collections.abc import Callable
from typing import Any

import numpy as np

STEP = 1e-5


def jacobian(function: Callable[[np.ndarray], Any], x: Any) -> np.ndarray:
    """The central difference of an array function: shape of the output, then of the input."""
    x = np.asarray(x, float)
    columns = []
    for index in np.ndindex(x.shape):
        up, down = x.copy(), x.copy()
        up[index] += STEP
        down[index] -= STEP
        columns.append((np.asarray(function(up)) - np.asarray(function(down))) / (2 * STEP))
    if not columns:
        return np.zeros((*np.shape(function(x)), *x.shape))
    stacked = np.stack(columns, axis=-1)
    return stacked.reshape((*stacked.shape[:-1], *x.shape))


def gradient(function: Callable[[np.ndarray], Any], x: Any) -> np.ndarray:
    """Of the sum of the output's elements."""
    return jacobian(lambda each: np.sum(function(each)), x)


def hessian(function: Callable[[np.ndarray], Any], x: Any) -> np.ndarray:
    """Second differences, from four values each: no derivative is asked of anyone."""
    x = np.asarray(x, float)
    step = 1e-3
    places = list(np.ndindex(x.shape))

    def value(*moves: tuple) -> Any:
        moved = x.copy()
        for index, by in moves:
            moved[index] += by
        return np.asarray(function(moved))

    rows = [
        [
            value((i, step), (j, step))
            - value((i, step), (j, -step))
            - value((i, -step), (j, step))
            + value((i, -step), (j, -step))
            for j in places
        ]
        for i in places
    ]
    found = np.array(rows) / (4 * step**2)
    out = found.shape[2:]
    return np.moveaxis(found, (0, 1), (-2, -1)).reshape((*out, *x.shape, *x.shape))
