"""A function without a batched form is taken sample by sample, with one warning."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

from s2s_ad import grad, vmap
from s2s_ad.core.registry import CannotBatch, rule_for
from s2s_ad.diagnostics import SampleLoopWarning

x = np.random.default_rng(0).normal(size=(4, 3))


def weighted(x):
    y = np.flip(x) * np.array([1.0, 2.0, 3.0])
    return np.sum(y * y)


@pytest.fixture
def no_batched_flip(monkeypatch):
    def batch(self, operation, batched, batch):
        raise CannotBatch

    monkeypatch.setattr(type(rule_for(np.flip)), "batch", batch)


def test_the_numbers_are_those_of_a_loop(no_batched_flip):
    line = weighted.__code__.co_firstlineno + 1
    with pytest.warns(SampleLoopWarning, match=f"flip has no batched form.*test_samples.py:{line}"):
        found = vmap(grad(weighted))(x)
    np.testing.assert_allclose(found, [grad(weighted)(row) for row in x])
    with pytest.warns(SampleLoopWarning):
        total = grad(vmap(weighted))(x)
    np.testing.assert_allclose(total, found)


def test_one_warning_for_each_compilation(no_batched_flip):
    derived = vmap(weighted)
    with pytest.warns(SampleLoopWarning) as caught:
        derived(x)
    assert len(caught) == 1
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        derived(x)
        derived(x[:2])


def first_two_or_all(x):
    y = x[:2] if x[0] > 0 else x
    return y * 2


def test_samples_whose_results_have_several_shapes():
    derived = vmap(first_two_or_all)
    with pytest.warns(SampleLoopWarning):
        np.testing.assert_allclose(derived(np.abs(x)), 2 * np.abs(x)[:, :2])
    with pytest.raises(ValueError, match=r"results of shapes \(2,\) and \(3,\)"):
        derived(np.array([[1.0, 2.0, 3.0], [-1.0, 2.0, 3.0]]))


def test_an_empty_batch_is_refused_where_only_a_sample_shows_the_shape():
    with pytest.warns(SampleLoopWarning), pytest.raises(ValueError, match="empty batch"):
        vmap(first_two_or_all)(x[:0])
