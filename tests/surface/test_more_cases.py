"""More of what the surface promises: cases of the same kinds as MindSpore's that are not on file.

Expected values come from loops over samples and cells, from eager execution, from formulas or
from central differences, never from compiled code.
"""

import numpy as np
import pytest

import s2s_ad as ms
from s2s_ad import Parameter, Tensor, grad, jit, nn, vmap
from s2s_ad.diagnostics import ArgumentTypeError, ArgumentValueError


def random(*shape, seed=0):
    return Tensor(np.random.default_rng(seed).normal(size=shape))


def assert_same(found, expected, rtol=1e-10):
    """The same nesting, and the same numbers."""
    if isinstance(expected, tuple | list):
        assert isinstance(found, type(expected))
        assert len(found) == len(expected)
        for mine, theirs in zip(found, expected, strict=True):
            assert_same(mine, theirs, rtol)
    elif isinstance(expected, dict):
        assert list(found) == list(expected)
        for key, theirs in expected.items():
            assert_same(found[key], theirs, rtol)
    else:
        np.testing.assert_allclose(np.asarray(found), np.asarray(expected), rtol=rtol, atol=1e-12)


# ---- vmap of a CellList: an ensemble of models ---------------------------------------------------


class Scaled(nn.Cell):
    """Two outputs, the second in a dict."""

    def __init__(self, seed):
        super().__init__()
        self.fc = nn.Dense(3, 2, dtype=ms.float64)
        self.w = Parameter(random(3, seed=seed), name="w")

    def construct(self, x, k):
        return self.fc(x), {"sum": (x * self.w).sum() * k}


DENSES = nn.CellList([nn.Dense(3, 2, dtype=ms.float64) for _ in range(4)])
SCALED = nn.CellList([Scaled(seed) for seed in range(4)])
X, EACH = random(5, 3), random(4, 3, seed=1)


def stacked(parts, axis=0):
    return np.stack([np.asarray(each) for each in parts], axis)


def of_scaled(i):
    return SCALED[i](EACH[i], 2.0)


ENSEMBLES = {
    "all cells on one input": (
        lambda: vmap(DENSES, in_axes=None)(X),
        lambda: stacked([cell(X) for cell in DENSES]),
    ),
    "cell i on sample i": (
        lambda: vmap(DENSES)(EACH),
        lambda: stacked([cell(EACH[i]) for i, cell in enumerate(DENSES)]),
    ),
    "samples along another axis": (
        lambda: vmap(DENSES, -1, 1)(EACH.T),
        lambda: stacked([cell(EACH[i]) for i, cell in enumerate(DENSES)], 1),
    ),
    "an entry for each input and output": (
        lambda: vmap(SCALED, (0, None), (1, {"sum": 0}))(EACH, 2.0),
        lambda: (
            stacked([of_scaled(i)[0] for i in range(4)], 1),
            {"sum": stacked([of_scaled(i)[1]["sum"] for i in range(4)])},
        ),
    ),
    "a batch of ensembles": (
        lambda: vmap(vmap(DENSES, in_axes=None))(X),
        lambda: stacked([[np.asarray(cell(x)) for cell in DENSES] for x in X]),
    ),
}


@pytest.mark.parametrize("name", ENSEMBLES)
def test_an_ensemble_is_a_loop_over_its_cells(name):
    call, expected = ENSEMBLES[name]
    assert_same(call(), expected())


def test_gradients_of_an_ensemble_are_those_of_its_cells():
    def total(x):
        return (vmap(DENSES, in_axes=None)(x) ** 2).sum()

    def one_after_the_other(x):
        return sum([(cell(x) ** 2).sum() for cell in DENSES])

    weights = DENSES.trainable_params()
    assert_same(jit(total)(X), one_after_the_other(X))
    assert_same(grad(total, 0, weights)(X), grad(one_after_the_other, 0, weights)(X))


def test_an_ensemble_follows_its_list():
    cells = nn.CellList([nn.Dense(3, 1)])
    ensemble = vmap(cells, in_axes=None)
    assert ensemble(X).shape == (1, 5, 1)
    cells.append(nn.Dense(3, 1))
    assert ensemble(X).shape == (2, 5, 1)


@pytest.mark.parametrize(
    "call, error, message",
    [
        (lambda: vmap(DENSES)(X), ArgumentValueError, "has length 5, beside a CellList of 4"),
        (lambda: vmap(DENSES, 5)(X), ArgumentValueError, "'in_axes' is 5 for an input with 2 axes"),
        (lambda: vmap(DENSES, (0, 0))(EACH), ArgumentValueError, "2 entries for 1 items"),
        (lambda: vmap(DENSES, None, None), ArgumentValueError, "'out_axes', got None"),
        (lambda: vmap(DENSES, None, (0, 0))(X), ArgumentTypeError, "'out_axes' is"),
        (lambda: vmap(nn.CellList(), None), ArgumentValueError, "the CellList has no cells"),
    ],
)
def test_an_ensemble_refuses_axes_that_do_not_fit(call, error, message):
    with pytest.raises(error, match=message):
        call()
