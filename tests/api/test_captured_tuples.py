"""Calls follow what captured tuples hold: other tuples, and what changes inside them."""

import numpy as np

from s2s_ad import Tensor, grad, jit

pair = (2.0, np.array([1.0, 2.0]))
nested = (3.0, [1.0, (4.0, 5.0)])


class Model:
    def __init__(self, *scales):
        self.scales = scales


model = Model(2.0, 3.0)


def affine(x):
    return np.sum(pair[0] * x + pair[1])


def deep(x):
    return x * nested[0] * nested[1][0] * nested[1][1][1]


def scaled(x):
    return x * model.scales[0] * model.scales[1]


def called_often(function, x):
    """The result once the fast path serves such calls."""
    return [function(x) for _ in range(20)][-1]


def test_another_tuple_is_noticed(monkeypatch):
    function, x = jit(affine), np.array([1.0, 1.0])
    assert called_often(function, x) == 7.0
    monkeypatch.setitem(globals(), "pair", (5.0, np.array([0.0, 1.0])))
    assert called_often(function, x) == 11.0
    monkeypatch.setitem(globals(), "pair", (5.0, pair[1]))  # another tuple of the same items
    assert called_often(function, x) == 11.0


def test_a_list_in_a_tuple_may_change():
    function = grad(deep)
    assert called_often(function, 1.0) == 15.0
    nested[1][0] = 2.0
    assert called_often(function, 1.0) == 30.0
    nested[1][1] = (4.0, 6.0)
    assert called_often(function, 1.0) == 36.0


def test_a_tuple_of_an_object_may_be_another(monkeypatch):
    function = grad(scaled)
    assert called_often(function, 1.0) == 6.0
    monkeypatch.setattr(model, "scales", (2.0, 4.0))
    assert called_often(function, 1.0) == 8.0
    monkeypatch.setattr(model, "scales", (2.0,))
    monkeypatch.setattr(model, "scales", (Tensor(1.0), 4.0))
    assert called_often(function, 1.0) == 4.0
