"""What is computed of constants alone is known where code is generated, if that has to be."""

import numpy as np
import pytest

from api.oracles import gradient
from frontend.every_mode import assert_as_a_whole
from s2s_ad import S2SError, grad

KEYS = np.array([2, 1, 2, 3, 1])
TABLE = np.array([0.1, 0.5, 0.9, 1.3, 2.0])
X = np.array([0.7, 1.3, 0.4, 2.0, 1.1])


def counts_by_key(x):
    found, counts = np.unique(KEYS, return_counts=True)
    table = dict(zip(found, counts, strict=True))
    return x[0] * table[2] + x[1] ** table[1]


def groups(x):
    labels = np.array([0, 1, 1, 0, 2])
    parts = {int(k): x[labels == k] for k in np.unique(labels)}
    return sum(v.sum() ** (k + 1) for k, v in parts.items())


def parts_between(x):
    return sum(np.prod(part) for part in np.split(x, np.flatnonzero(np.diff(KEYS) > 0)))


def as_long_as_the_mask(x):
    return np.sum((x[TABLE > 0.6].reshape(3, 1) @ np.ones((1, 2))) ** 2)


def means(x, labels):
    return {k: np.mean(x[labels == k]) for k in np.unique(labels)}


def means_of_a_helper(x):
    found = means(x, KEYS)
    return found[1] + found[2] * found[3]


def by_rank(x):
    ranked = {rank: x[i] for rank, i in enumerate(np.argsort(TABLE)[::-1])}
    return ranked[0] ** 3 + ranked[4] * int(np.round(TABLE.sum()))


@pytest.mark.thinned(3)
@pytest.mark.parametrize(
    "f",
    [groups, parts_between, as_long_as_the_mask, counts_by_key, means_of_a_helper, by_rank],
)
def test_in_all_modes(f):
    assert_as_a_whole(f, X)


def test_other_items_are_other_code():
    slopes = grad(counts_by_key)
    before = KEYS.copy()
    try:
        for keys in ([2, 1, 2, 3, 1], [1, 1, 2, 2, 2], [2, 1, 2, 3, 1]):
            KEYS[:] = keys
            np.testing.assert_allclose(slopes(X), gradient(counts_by_key, X), atol=1e-8)
    finally:
        KEYS[:] = before


def test_what_an_argument_decides_is_not_known():
    with pytest.raises(S2SError, match="computed from values"):
        grad(lambda x: sum({k: x[0] for k in np.round(x)}.values()))(X)
