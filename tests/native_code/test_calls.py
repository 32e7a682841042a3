"""Functions that call themselves, and what is tried, in native code."""

import sys

import numpy as np
import pytest

from native_code.test_native import loops_alone
from s2s_ad import grad, jit, value_and_grad, vmap
from s2s_ad.check import central_differences

pytest.importorskip("numba")
pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")


@pytest.fixture(autouse=True)
def native(monkeypatch):
    monkeypatch.setenv("S2S_AD_NATIVE", "1")


def halved(x, n):
    """Both halves call it again."""
    if n <= 1:
        return np.sin(x) * n
    return halved(x * 0.9, n // 2) * np.cos(x) + halved(x + 0.1, n - n // 2)


def of_halves(x):
    if len(x) == 1:
        return x[0] ** 2
    middle = len(x) // 2
    return of_halves(x[:middle]) * of_halves(x[middle:]) + 0.1 * x[0]


def of_arrays(x, n):
    if n == 0:
        return x
    y = of_arrays(x * 0.5 + np.sin(x), n - 1)
    return y * x + y


def odd(x, n):
    return x if n == 0 else even(x * 1.1, n - 1) + 0.1


def even(x, n):
    return x * x if n == 0 else odd(x - 0.2, n - 1) * x


X = np.array([0.3, -0.8, 1.2, 0.7, 0.4])
RECURSIVE = {
    "two calls": (halved, (0.7, 11)),
    "parts of an array": (of_halves, (X,)),
    "arrays": (lambda x: np.sum(of_arrays(x, 4)), (X,)),
    "by turns": (odd, (0.8, 5)),
}


@pytest.mark.parametrize(
    "name",
    [pytest.param(e, marks=pytest.mark.slow if "array" in e else ()) for e in RECURSIVE],
)
def test_functions_that_call_themselves(name):
    function, args = RECURSIVE[name]
    np.testing.assert_allclose(loops_alone(jit(function), *args), function(*args), rtol=1e-12)
    value, slope = loops_alone(jit(value_and_grad(function)), *args)
    np.testing.assert_allclose(value, function(*args), rtol=1e-12)
    (expected,) = central_differences(lambda x: function(x, *args[1:]), args[:1])
    np.testing.assert_allclose(slope, expected, rtol=1e-6, atol=1e-8)


@pytest.mark.slow
def test_batches_and_second_derivatives_of_them():
    xs = np.linspace(0.2, 1.0, 4)
    found = jit(vmap(grad(halved), in_axes=(0, None)))(xs, 7)
    np.testing.assert_allclose(found, [grad(halved)(x, 7) for x in xs], rtol=1e-11)
    second = jit(grad(grad(halved)))(0.7, 6)
    np.testing.assert_allclose(second, grad(grad(halved))(0.7, 6), rtol=1e-10)


def down(x, n):
    return x if n == 0 else down(x * 1.001, n - 1) + 0.5


def test_deep_calls_are_numpys_and_endless_ones_raise():
    compiled = jit(down)
    assert compiled.text(0.5, 3).native
    for n in (3, 150, 400):
        np.testing.assert_allclose(compiled(0.5, n), down(0.5, n), rtol=1e-12)
    with pytest.raises(RecursionError):
        compiled(0.5, 10 * sys.getrecursionlimit())


def test_code_that_calls_itself_is_not_kept_on_disk(monkeypatch, tmp_path):
    """Numba's form of it holds an address of this process."""
    monkeypatch.setenv("S2S_AD_CACHE_DIR", str(tmp_path))

    def once_more(x, n):
        return x * 1.5 if n == 0 else once_more(x * 0.5, n - 1) + x

    assert jit(once_more)(2.0, 3) == once_more(2.0, 3)
    assert not [*tmp_path.rglob("*.s2s")]


def factored(K, y, jitter):
    try:
        L = np.linalg.cholesky(K)
    except np.linalg.LinAlgError:
        L = np.linalg.cholesky(K + jitter * np.eye(len(K)))
    return np.sum(np.linalg.solve(L, y) ** 2) + 2 * np.sum(np.log(np.diagonal(L)))


def checked_root(x):
    try:
        if x < 0:
            raise ValueError("below 0")
        y = x**1.5
    except ValueError:
        y = -x
    return y * 2


def test_what_is_tried_is_native_and_handlers_are_numpys():
    for x in (2.0, -2.0):
        assert jit(checked_root)(x) == checked_root(x)
        assert jit(grad(checked_root))(x) == pytest.approx(3 * x**0.5 if x > 0 else -2)
    assert jit(checked_root).text(2.0).native


@pytest.mark.slow
def test_a_factor_that_is_tried():
    K, y = np.eye(3) + 0.2, np.array([1.0, -0.5, 2.0])
    indefinite = K - 2.5 * np.eye(3)
    compiled = jit(value_and_grad(factored, (0, 1, 2)))
    loops_alone(compiled, K, y, 3.0)
    for matrix in (K, indefinite, K):
        value, slopes = compiled(matrix, y, 3.0)
        expected_value, expected = value_and_grad(factored, (0, 1, 2))(matrix, y, 3.0)
        np.testing.assert_allclose(value, factored(matrix, y, 3.0), rtol=1e-12)
        assert value == pytest.approx(expected_value, rel=1e-12)
        for mine, its in zip(slopes, expected, strict=True):
            np.testing.assert_allclose(mine, its, rtol=1e-10, atol=1e-12)
