"""vmap of a CellList: an ensemble of models."""

import numpy as np
import pytest

from s2s_ad import S2SError, Tensor, nn, value_and_grad, vmap

CELLS = nn.CellList([nn.Dense(3, 2), nn.SequentialCell(nn.Dense(3, 4), nn.Tanh(), nn.Dense(4, 2))])
X = Tensor(np.arange(12.0).reshape(2, 2, 3) / 12)


def test_each_cell_gets_the_whole_input():
    result = vmap(CELLS, in_axes=None)(X[0])
    np.testing.assert_allclose(result, np.stack([cell(X[0]) for cell in CELLS]), rtol=1e-6)


@pytest.mark.parametrize("in_axes, out_axes", [(0, 0), (1, -1), ((0,), 1)])
def test_each_cell_gets_a_sample(in_axes, out_axes):
    axis = in_axes[0] if isinstance(in_axes, tuple) else in_axes
    samples = [np.take(X, i, axis=axis) for i in range(2)]
    expected = [cell(x) for cell, x in zip(CELLS, samples, strict=True)]
    result = vmap(CELLS, in_axes, out_axes)(X)
    np.testing.assert_allclose(result, np.stack(expected, axis=out_axes), rtol=1e-6)


def test_an_ensemble_is_differentiated_with_respect_to_its_parameters():
    ensemble, weights = vmap(CELLS, in_axes=None), CELLS.trainable_params()
    value, slopes = value_and_grad(lambda x: (ensemble(x) ** 2).sum(), None, weights)(X[0])

    def alone(cell):
        return value_and_grad(lambda x: (cell(x) ** 2).sum(), None, cell.trainable_params())(X[0])

    parts = [alone(cell) for cell in CELLS]
    np.testing.assert_allclose(value, sum(each[0] for each in parts), rtol=1e-6)
    expected = [slope for _, slopes in parts for slope in slopes]
    for a, b in zip(slopes, expected, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-6)


def test_there_is_a_sample_for_each_cell():
    with pytest.raises(S2SError, match="CellList of 2"):
        vmap(CELLS)(Tensor(np.ones((3, 2, 3))))
