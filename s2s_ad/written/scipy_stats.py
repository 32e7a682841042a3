"""scipy.stats: the density that samples suggest."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.special

from s2s_ad.written.marks import unsupported


def finite(x) -> Any:
    if not np.all(np.isfinite(x)):
        raise ValueError("array must not contain infs or NaNs")
    return x


class gaussian_kde:
    """The mean of Gaussians around the samples, as wide as their covariance and number say."""

    def __init__(self, dataset, bw_method=None, weights=None):
        if weights is not None:
            unsupported("gaussian_kde with weights=")
        self.dataset = finite(np.atleast_2d(np.asarray(dataset)))
        if self.dataset.ndim != 2:
            raise ValueError("`dataset` should have at most two dimensions.")
        self.d, self.n = self.dataset.shape
        if self.n < 2:
            raise ValueError("`dataset` input should have multiple elements.")
        if bw_method is None or (isinstance(bw_method, str) and bw_method == "scott"):
            self.factor = self.n ** (-1.0 / (self.d + 4))
        elif isinstance(bw_method, str) and bw_method == "silverman":
            self.factor = (self.n * (self.d + 2.0) / 4.0) ** (-1.0 / (self.d + 4))
        elif isinstance(bw_method, str):
            raise ValueError("`bw_method` should be 'scott', 'silverman', or a scalar.")
        elif callable(bw_method):
            unsupported("gaussian_kde with a function as bw_method=", "give the number it returns")
        else:
            self.factor = bw_method
        centred = self.dataset - np.mean(self.dataset, axis=1, keepdims=True)
        covariance = centred @ centred.T * (self.factor**2 / (self.n - 1))
        self.root = np.linalg.cholesky(covariance)  # raises where samples lie in a subspace

    def logpdf(self, x) -> Any:
        points = finite(np.atleast_2d(np.asarray(x)))
        if points.shape[0] != self.d:
            if points.shape[0] != 1 or points.shape[1] != self.d:
                raise ValueError("points have another dimension than the dataset")
            points = np.reshape(points, (self.d, 1))
        apart = self.dataset[:, :, None] - points[:, None, :]
        flat = np.reshape(apart, (self.d, -1))
        whitened = np.reshape(np.linalg.solve(self.root, flat), apart.shape)
        energy = np.sum(whitened**2, axis=0) / 2.0
        size = np.sum(np.log(np.diagonal(self.root))) + self.d * np.log(2.0 * np.pi) / 2.0
        return scipy.special.logsumexp(-energy, axis=0) - size - np.log(self.n)

    def evaluate(self, points) -> Any:
        return np.exp(self.logpdf(points))

    def pdf(self, x) -> Any:
        return self.evaluate(x)

    def __call__(self, points) -> Any:
        return self.evaluate(points)
