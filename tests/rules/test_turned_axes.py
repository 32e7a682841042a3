"""x[::-1] undoes itself: its adjoint is one more, no zeros are filled, and two of them are none."""

from __future__ import annotations

import numpy as np
import pytest

from s2s_ad import grad, vmap
from transforms.differences import differences

X = np.linspace(0.5, 2.0, 12).reshape(3, 4)

ROWS = [
    (lambda x: np.sum(np.sin(x[::-1]) * x), "[::-1]", "np.zeros_like"),
    (lambda x: np.sum(np.sin(x[:, ::-1]) * x), "[:, ::-1]", "np.zeros_like"),
    (lambda x: np.sum(x[::-1]) + np.sum(x[1:, ::-1] ** 2), "np.ones_like", ""),
    (lambda x: np.sum(np.cumsum(x[::-1], axis=0)[::-1] ** 3), "np.cumsum(", "np.flip"),
    (
        lambda x: np.sum(np.cumsum(np.flip(x, 1), axis=1)[:, ::-1] ** 3),
        "np.cumsum(",
        "_bar[:, ::-1]",
    ),
    (lambda x: np.sum(np.cumsum(x[0]) ** 3), "np.flip(np.cumsum(np.flip(", "axis"),
    (lambda x: np.sum(np.exp(x[::-1, ::-1]) * x[::-1, 0, None]), "[::-1, ::-1]", ""),
]


@pytest.mark.parametrize("f, wanted, unwanted", ROWS)
def test_the_adjoint_takes_the_axis_from_its_end(f, wanted, unwanted):
    text = grad(f).source(X)
    assert wanted in text, text
    assert not unwanted or unwanted not in text, text
    np.testing.assert_allclose(grad(f)(X), differences(f, X), rtol=1e-6)
    batch = np.stack([X, 2 * X])
    np.testing.assert_allclose(vmap(grad(f))(batch), [grad(f)(each) for each in batch])


def test_what_the_user_turns_twice_stays_so():
    assert "x[::-1][::-1]" in grad(lambda x: np.sum(x[::-1][::-1] ** 2)).source(X)
