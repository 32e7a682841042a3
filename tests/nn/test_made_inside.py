"""Cells that `construct` makes where it calls them."""

import numpy as np
import pytest

from s2s_ad import S2SError, Tensor, grad, jit, nn


class Activated(nn.Cell):
    def construct(self, x):
        return nn.SequentialCell(nn.Tanh(), nn.Sigmoid())(x) * nn.ReLU()(x)


class Layered(nn.Cell):
    def construct(self, x):
        return nn.Dense(3, 1)(x)


X = Tensor([1.0, -2.0, 0.5])


def test_a_cell_without_parameters_is_made_once():
    net = Activated()
    np.testing.assert_allclose(jit(net)(X), net(X), rtol=1e-6)
    expected = 1 / (1 + np.exp(-np.tanh(X.asnumpy()))) * np.maximum(X.asnumpy(), 0)
    np.testing.assert_allclose(net(X), expected, rtol=1e-6)


def test_a_cell_with_parameters_has_to_be_made_outside():
    with pytest.raises(S2SError, match="Dense is made inside the function"):
        jit(Layered())(X)


def test_the_text_names_the_lines_of_construct():
    assert "x_2 = np.tanh(x)  # line 11\n" in grad(Activated()).source(X)
