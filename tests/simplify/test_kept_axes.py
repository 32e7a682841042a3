"""Gradients keep no axis of length one that is taken away where it is read."""

from __future__ import annotations

import numpy as np
import pytest

from s2s_ad import grad
from transforms.differences import differences

R = np.random.default_rng(3)
X, W, B, C = R.uniform(0.3, 1, 5), R.uniform(0.3, 1, 4), R.uniform(0.3, 1, 5), R.normal(size=(5, 1))


def columns(x, w, b):
    waves = np.sin(x[:, None] * w)
    height = b[:, None] * np.exp(x)[:, None]
    return np.sum(waves * height) + np.sum((height * x[:, None])[:, 0])


def half_kept(x, w, b):
    """The constant has the axis, so it is taken from that."""
    scale = C * np.sum(np.outer(x, w), axis=1, keepdims=True)
    return np.sum(scale * w) + np.sum((scale * b[:, None])[:, 0])


@pytest.mark.parametrize("program, squeezed", [(columns, 1), (half_kept, 2)])
def test_no_axis_is_kept_to_be_taken_away(program, squeezed):
    slopes = grad(program, (0, 1, 2))
    assert slopes.source(X, W, B).count("squeeze") == squeezed
    expected = [
        differences(lambda x: program(x, W, B), X),
        differences(lambda w: program(X, w, B), W),
        differences(lambda b: program(X, W, b), B),
    ]
    for slope, each in zip(slopes(X, W, B), expected, strict=True):
        np.testing.assert_allclose(slope, each, rtol=1e-6)
