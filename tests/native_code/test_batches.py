"""Batches natively: what one sample works in is made once, and no sample sees another's."""

import numpy as np
import pytest

from native_code.interpreted import interpreted
from native_code.test_native import leaves, loops_alone
from s2s_ad import jit, value_and_grad, vmap

pytest.importorskip("numba")


@pytest.fixture(autouse=True)
def native(monkeypatch):
    monkeypatch.setenv("S2S_AD_NATIVE", "1")


def root(a, x):
    while abs(x**3 - a) > 1e-10:
        x = x - (x**3 - a) / (3 * x**2)
    return x


def many_passes(x, y):
    n = 0
    while x * y > 0.01 and n < 100:  # more than a list has room for at first
        x, n = 0.95 * np.sin(x), n + 1
    return x + y * n


def barrier(spot, volatility, steps):
    price, is_alive = spot, True
    for step in steps:
        price = price * np.exp(volatility * step - 0.5 * volatility**2)
        if price < 0.8 or price > 1.6:
            is_alive = False
            break
    return max(price - 1.0, 0.0) if is_alive else 0.05 * price


def some_of_a_row(x, y):
    work = np.empty(len(x))
    for i in range(len(x)):
        work[i] = x[i] ** 2
        if work[i] * y > 0.8:
            break
    else:
        i = 0
    return work[i] * y + np.sum(x)


def no_pass(x, y):
    while x > 10.0:
        x = x * 0.5
    return x * y


rng = np.random.default_rng(4)
SCALARS = rng.uniform(0.5, 3.0, (2, 7))
PROGRAMS = [
    (root, tuple(SCALARS)),
    (many_passes, tuple(SCALARS)),
    (barrier, (rng.uniform(0.9, 1.2, 7), SCALARS[1] * 0.1, rng.normal(size=(7, 12)))),
    (barrier, (rng.uniform(0.9, 1.2, 7), SCALARS[1] * 0.1, rng.normal(size=(7, 0)))),
    (some_of_a_row, (rng.uniform(0, 1, (7, 5)), SCALARS[0])),
    (no_pass, tuple(SCALARS)),
]


def in_two_ways(x, y, rates):
    for rate in rates:
        if x > y:
            x, y = np.log(x - y) * rate, y / (x - y)  # of the others this is nan
        elif y > 1.0 and x > 0.0:
            x = np.sqrt(x * (y - 1.0)) * np.exp(-x)
        else:
            y = y + rate**2
    return x * y


def at_the_ends(x, w):
    k = 0
    if x > 1.0:
        k = 2
    return w[k] * x**2 + w[-1]


def with_others(x, y, is_first):
    if is_first:
        return x**3 - y
    return np.tanh(y) * x + np.arctan2(x, y)


SIDE_BY_SIDE = [
    lambda n: (in_two_ways, (*rng.uniform(0.5, 3.0, (2, n)), rng.uniform(0.5, 1.5, (n, 4)))),
    lambda n: (in_two_ways, (*rng.uniform(0.5, 3.0, (2, n)), rng.uniform(0.5, 1.5, (n, 0)))),
    lambda n: (at_the_ends, (rng.uniform(0.0, 2.0, n), rng.normal(size=(n, 3)))),
    lambda n: (with_others, (*rng.normal(size=(2, n)), rng.normal(size=n) > 0)),
]


def agrees_with_a_loop(function, args, found):
    one = value_and_grad(function, (0, 1))
    for k, sample in enumerate(zip(*args, strict=True)):
        for mine, its in zip(found, leaves(one(*sample)), strict=True):
            np.testing.assert_allclose(mine[k], its, rtol=1e-12, atol=1e-12)


@pytest.mark.thinned(3)
@pytest.mark.parametrize("make", SIDE_BY_SIDE[:2] + SIDE_BY_SIDE[3:])
def test_samples_of_numbers_are_computed_side_by_side(make):
    """In strips of 64, of which the last two overlap; both sides of a branch for all samples."""
    function, args = make(7)
    batch = jit(vmap(value_and_grad(function, (0, 1))))
    source = batch.source(*args, native=True)
    assert "_strip(" in source
    loops = interpreted(source, batch.text(*args).name)
    for count in (1, 7, 64, 65, 130):
        _, args = make(count)
        agrees_with_a_loop(function, args, loops(*args))


@pytest.mark.thinned(4)
@pytest.mark.parametrize("make", SIDE_BY_SIDE[::-1])
def test_side_by_side_natively(make):
    """No thread writes to a sample of another's, however the strips lie."""
    function, _ = make(1)
    for parallel in (False, True):
        batch = jit(vmap(value_and_grad(function, (0, 1))), parallel=parallel)
        for count in (1, 130):
            _, args = make(count)
            agrees_with_a_loop(function, args, leaves(loops_alone(batch, *args)))


def waits(x, y):
    return np.sinh(x) * y


def raises(x, y):
    if x > 1.0:
        return y**x
    return y


@pytest.mark.thinned(3)
@pytest.mark.parametrize("function", [root, waits, raises, many_passes, no_pass])
def test_what_is_computed_one_by_one_is_a_loop_over_samples(function):
    """Passes that samples make or do not; functions without a form of several numbers at once."""
    batch = jit(vmap(value_and_grad(function, (0, 1))))
    source = batch.source(*SCALARS, native=True)
    assert "_of_one(" in source
    assert "_strip(" not in source


@pytest.mark.thinned(3)
@pytest.mark.parametrize("function, args", PROGRAMS)
def test_samples_are_those_of_a_loop(function, args):
    """By the loops as Python runs them, which find what was not stored."""
    one = value_and_grad(function, (0, 1))
    batch = jit(vmap(one))
    loops = interpreted(batch.source(*args, native=True), batch.text(*args).name)
    found = loops(*args)
    for k, sample in enumerate(zip(*args, strict=True)):
        for mine, its in zip(found, leaves(one(*sample)), strict=True):
            np.testing.assert_allclose(mine[k], its, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("function, args", PROGRAMS[1:3])
def test_natively(function, args):
    plain = vmap(value_and_grad(function, (0, 1)))
    for mine, its in zip(leaves(loops_alone(jit(plain), *args)), leaves(plain(*args)), strict=True):
        np.testing.assert_allclose(mine, its, rtol=1e-12, atol=1e-12)


def test_what_a_sample_works_in_is_made_once():
    function, args = PROGRAMS[2]
    text = jit(vmap(value_and_grad(function, (0, 1)))).source(*args, native=True)
    of_one = text.partition("_of_one(")[2].partition("\n@njit")[0]
    assert "np.empty" not in of_one
    assert ".append(" not in of_one
