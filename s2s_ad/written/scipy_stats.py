"""scipy.stats: the density that samples suggest, and the line through points."""

from __future__ import annotations

from typing import Any, NamedTuple

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


class LinregressResult(NamedTuple):
    slope: Any
    intercept: Any
    rvalue: Any
    pvalue: Any
    stderr: Any


def linregress(x, y, alternative="two-sided") -> LinregressResult:
    """The line through points whose squared distances, upwards, have the least sum."""
    if alternative != "two-sided":
        unsupported("linregress with alternative=")
    x, y = np.asarray(x), np.asarray(y)
    if x.ndim != 1 or y.ndim != 1:
        unsupported("linregress of arrays that have not one axis")
    if len(x) == 0:
        raise ValueError("Inputs must not be empty.")
    if len(x) > 1 and np.max(x) == np.min(x):
        raise ValueError("Cannot calculate a linear regression if all x values are identical")
    dx, dy = x - np.mean(x), y - np.mean(y)
    of_x, of_y, of_both = np.mean(dx * dx), np.mean(dy * dy), np.mean(dx * dy)
    slope = of_both / of_x
    intercept = np.mean(y) - slope * np.mean(x)
    r = of_both / np.sqrt(of_x * of_y) if of_y > 0.0 else np.nan
    if len(x) == 2:
        return LinregressResult(slope, intercept, r, 1.0 if y[0] == y[1] else 0.0, 0.0)
    free = len(x) - 2
    p = scipy.special.betainc(free / 2.0, 0.5, 1.0 - r * r)
    return LinregressResult(slope, intercept, r, p, np.sqrt((1.0 - r * r) * of_y / of_x / free))
