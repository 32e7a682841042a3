"""scipy.cluster: the nearest of some points."""

from __future__ import annotations

from typing import Any

import numpy as np


def vq(obs, code_book, check_finite=True) -> Any:
    """For each row the place of the nearest row of the book, and the distance."""
    obs, book = np.asarray(obs), np.asarray(code_book)
    if obs.ndim > 2:
        raise ValueError("ndim different than 1 or 2 are not supported")
    if obs.ndim == 1:
        obs, book = obs[:, None], book[:, None]
    if obs.shape[1] != book.shape[1]:
        raise ValueError("obs and code should have same number of features (columns)")
    if check_finite and not (np.all(np.isfinite(obs)) and np.all(np.isfinite(book))):
        raise ValueError("array must not contain infs or NaNs")
    distances = np.sqrt(np.sum((obs[:, None, :] - book[None, :, :]) ** 2, axis=-1))
    return np.argmin(distances, axis=-1), np.min(distances, axis=-1)
