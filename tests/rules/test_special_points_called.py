"""What is left out of a result has no part in a derivative, however steep the function is."""

import numpy as np
import pytest

from s2s_ad import grad, jvp, vmap

X = np.array([3.0, 1.0, 1.0, 2.0])  # the two in the middle are moved together
DIRECTIONS = [np.array(each, float) for each in ([1, 0, 0, 0], [0, 1, 1, 0], [0, 0, 0, 1])]


def ratio(x):
    d = x[1:] - x[:-1]
    inverse = 1.0 / d
    return np.sqrt(x[1:]) * inverse


def scaled(x):
    twice = ratio(x) * 2.0
    shifted = twice - x[1:]
    return shifted


def both(x):
    d = x[1:] - x[:-1]
    inverse = 1.0 / d
    return inverse, np.log(np.abs(d))


def distances(d):
    r = np.sqrt(d * d)
    s = 1.0 / r
    return s


def by_mask(x):
    r = ratio(x)
    return np.sum(r[np.isfinite(r)])


def by_where(x):
    r = scaled(x)
    return np.sum(np.where(np.isfinite(r), r, 0) ** 2)


def by_store(x):
    r = ratio(x)
    r[~np.isfinite(r)] = 0.0
    return r.sum()


def by_index(x):
    r = scaled(x)
    return np.mean(r[np.flatnonzero(np.isfinite(r))])


def by_parts(x):
    r = ratio(x)
    return r[0] + r[2] + np.sum(r[2:])


def by_reduction(x):
    r = ratio(x)
    return np.sum(r, where=np.isfinite(r)) + np.nan_to_num(r, posinf=0.0, neginf=0.0).sum()


def of_two(x):
    inverse, logs = both(x)
    m = np.isfinite(inverse)
    return np.sum(inverse[m]) + np.sum(np.where(m, inverse, 1.0) * np.where(m, logs, 0.0))


def by_triangle(x):
    r = distances(x[:, None] - x[None, :])
    return np.sum(np.triu(r, 2))


LEFT_OUT = [by_mask, by_where, by_store, by_index, by_parts, by_reduction, of_two, by_triangle]


@pytest.mark.thinned(2)
@pytest.mark.parametrize("fn", LEFT_OUT, ids=lambda fn: fn.__name__)
@np.errstate(all="ignore")
def test_what_is_left_out_of_a_result(fn):
    h = 1e-6
    expected = [(fn(X + h * v) - fn(X - h * v)) / (2 * h) for v in DIRECTIONS]
    batch = np.stack([X, X])
    found = {
        "grad": grad(fn)(X),
        "vmap(grad)": vmap(grad(fn))(batch)[1],
        "grad(vmap)": grad(lambda a: np.sum(vmap(fn)(a)))(batch)[1],
    }
    for mode, each in found.items():
        along = [np.sum(each[v != 0]) for v in DIRECTIONS]
        np.testing.assert_allclose(along, expected, rtol=1e-5, atol=1e-8, err_msg=mode)
    tangents = [jvp(fn, (X,), (v,))[1] for v in DIRECTIONS]
    np.testing.assert_allclose(tangents, expected, rtol=1e-5, atol=1e-8)


def test_a_function_that_is_not_steep_is_given_no_mask():
    def shifted(x):
        y = np.sin(x)
        return y * x

    def f(x):
        y = shifted(x)
        return np.sum(y[x > 0.0])

    assert "chosen" not in grad(f).source(X)
    assert "y_bar_chosen" not in grad(lambda x: np.sum(ratio(x))).source(X)
