"""Arrays that loops carry: stored over where each pass makes one from the one before alone."""

import numpy as np
import pytest

from native_code.interpreted import interpreted
from native_code.test_native import leaves
from s2s_ad import jit, value_and_grad
from s2s_ad.check import central_differences

pytestmark = pytest.mark.thinned(2)

pytest.importorskip("numba")


@pytest.fixture(autouse=True)
def native(monkeypatch):
    monkeypatch.setenv("S2S_AD_NATIVE", "1")


def decays(x, n):
    y = np.ones(len(x))
    for _ in range(n):
        y = y * 0.5 + np.sin(x) * y**2
    return np.sum(y)


def decays_from_an_argument(x, n):
    y = x
    for _ in range(n):
        y = np.where(y > 0.55, y - 0.1 * y**2, y + 0.1)
    return np.sum(y * x)


def reads_a_neighbour(x, n):
    y = np.ones(len(x)) * x[0]
    for _ in range(n):
        y = y * 0.5 + np.roll(y, 1) * x
    return np.sum(y)


def reads_the_old_one_later(x, n):
    y, total = np.ones(len(x)), 0.0
    for _ in range(n):
        z = y * 0.5 + np.sin(x)
        total = total + np.sum(z * y[::-1])
        y = z
    return total


def leaves_before_it_is_handed_on(x, n):
    y = np.ones(len(x))
    for k in range(n + 3):
        z = y * 0.5 + np.sin(x)
        if np.sum(z) > 1.7 + k:
            break
        y = z
    return np.sum(y * x)


def changes_places(x, n):
    a, b = np.ones(len(x)), np.zeros(len(x))
    for _ in range(n):
        a, b = b + x, a * 0.5
    return np.sum(a * b) + np.sum(b)


def keeps_a_row(x, n):
    y = np.ones((2, len(x)))
    row = y[0]
    for _ in range(n):
        row = y[1]
        y = y * 0.5 + x
    return np.sum(y) + np.sum(row * x)


def keeps_all(x, n):
    y, kept = np.ones(len(x)), []
    for _ in range(n):
        kept.append(y)
        y = y * 0.5 + np.sin(x)
    return np.sum(y) + sum(np.sum(each**2) for each in kept)


def within_another(x, n):
    total, y = 0.0, np.ones((len(x), 3))
    for k in range(n):
        for _ in range(2):
            y = np.minimum(y + x[:, None] * k, 4.0 * y)
        total = total + np.sum(y[0])
    return total


PROGRAMS = [
    decays, decays_from_an_argument, reads_a_neighbour, reads_the_old_one_later,
    leaves_before_it_is_handed_on, changes_places, keeps_a_row, keeps_all, within_another,
]  # fmt: skip
POINT = np.array([0.3, 1.1, -0.4, 0.8])


@pytest.mark.thinned(16)
@pytest.mark.parametrize("count", [0, 1, 4])
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda each: each.__name__)
def test_value_and_gradient(program, count):
    """The loops as Python runs them give what the program gives, and differences."""
    compiled = jit(value_and_grad(program))
    text = compiled.source(POINT, count, native=True)
    loops = interpreted(text, compiled.text(POINT, count).name)
    given = (POINT, np.int64(count))
    found = [np.asarray(each) for each in leaves(loops(*given))]
    slopes = central_differences(lambda x: program(x, count), (POINT,))
    expected = [program(POINT, count), *leaves(slopes)]
    for mine, its in zip(found, expected, strict=True):
        np.testing.assert_allclose(mine, its, rtol=1e-6, atol=1e-8)


def arrays_made(program):
    text = jit(program).source(POINT, 3, native=True)
    return text.count("np.empty") + text.count(".copy()") + text.count("np.zeros")


@pytest.mark.parametrize("program", [decays, decays_from_an_argument, within_another])
def test_one_array_is_enough(program):
    assert arrays_made(program) == 1


@pytest.mark.parametrize("program", [reads_the_old_one_later, leaves_before_it_is_handed_on])
def test_two_arrays_are_needed(program):
    assert arrays_made(program) == 2


def test_natively():
    """By Numba, and the argument that is copied stays as it was."""
    x = POINT.copy()
    assert jit(decays_from_an_argument)(x, 3) == pytest.approx(decays_from_an_argument(x, 3))
    assert np.array_equal(x, POINT)
