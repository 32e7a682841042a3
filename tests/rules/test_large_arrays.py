"""The helpers that treat large arrays otherwise than small ones: the same numbers, bit by bit, as
the plain NumPy that they stand for, whatever the dtype and the layout."""

import numpy as np
import pytest

from s2s_ad import grad, runtime

SIZES = [3, 5000, 70_000, 100_003]
LAYOUTS = {
    "contiguous": lambda x: x,
    "strided": lambda x: np.repeat(x, 2)[::2],
    "reversed": lambda x: x[::-1],
    "columns": lambda x: np.stack([x, x], axis=1)[:, 0],
    "fortran": lambda x: np.asfortranarray(np.stack([x, x + 1])),
    "read-only": lambda x: np.broadcast_to(x, (2, x.size)),
}
DTYPES = [np.float16, np.float32, np.float64, np.longdouble, np.complex64, np.complex128]
EDGES = [np.nan, np.inf, -np.inf, 0.0, -0.0, 1.0]


def drawn(size, dtype=np.float64, seed=3):
    """Numbers with many ties, and with nan, infinity and both zeros among them."""
    rng = np.random.default_rng(seed)
    x = rng.integers(-3, 4, size) / 4
    places = rng.integers(0, size, len(EDGES))
    x[places] = EDGES
    return x.astype(dtype)


def same_bits(actual, expected):
    assert actual.dtype == expected.dtype
    np.testing.assert_array_equal(actual, expected)
    np.testing.assert_array_equal(np.signbit(actual.real), np.signbit(expected.real))


@pytest.mark.parametrize("layout", LAYOUTS.values(), ids=LAYOUTS)
@pytest.mark.parametrize("dtype", DTYPES, ids=lambda each: each.__name__)
@pytest.mark.parametrize("size", [3, 5000])
def test_where_or_zero(size, dtype, layout):
    value, mask = layout(drawn(size, dtype)), layout(drawn(size, seed=5)) > 0
    same_bits(runtime.where_or_zero(mask, value), np.where(mask, value, dtype(0)))


@pytest.mark.parametrize("condition", [[1, 0, 2], [0.5, 0.0, np.nan], True])
def test_where_or_zero_of_what_is_no_mask(condition):
    value = np.tile([1.0, -2.0, 3.0], 2000)
    condition = np.tile(condition, 2000) if isinstance(condition, list) else condition
    same_bits(runtime.where_or_zero(condition, value), np.where(condition, value, 0.0))


def test_where_or_zero_broadcasts():
    value, mask = np.arange(3.0), drawn(6000).reshape(2000, 3) > 0
    same_bits(runtime.where_or_zero(mask, value), np.where(mask, value, 0.0))
    same_bits(runtime.where_or_zero(mask, 2.5), np.where(mask, 2.5, 0.0))


LARGER = {
    "where_larger": (np.greater, False),
    "where_smaller": (np.less, False),
    "where_larger, skip_nan": (np.greater, True),
    "where_smaller, skip_nan": (np.less, True),
}


@pytest.mark.parametrize("layout", LAYOUTS.values(), ids=LAYOUTS)
@pytest.mark.parametrize("name", LARGER)
@pytest.mark.parametrize("size", SIZES)
def test_where_larger(size, name, layout):
    beats, skip_nan = LARGER[name]
    value, a, b = (layout(drawn(size, seed=seed)) for seed in (1, 2, 3))
    for other in (b, 0.0):
        chosen = beats(a, other) | (skip_nan & np.isnan(other))
        expected = np.where(a == other, 0.5 * value, np.where(chosen, value, 0.0))
        found = getattr(runtime, name.partition(",")[0])(value, a, other, skip_nan)
        same_bits(found, expected)
        if not skip_nan:
            halves = getattr(runtime, name.replace("where", "halves"))(a, other)
            np.testing.assert_array_equal(runtime.by_halves(value, halves), expected)


@pytest.mark.parametrize("size", SIZES)
def test_an_infinite_adjoint_stays_where_it_belongs(size):
    """0 * inf would be nan."""

    def f(x):
        return np.sum(np.sqrt(np.maximum(x, 0.0)))

    x = np.tile([-1.0, 4.0], size)
    with np.errstate(divide="ignore"):
        np.testing.assert_array_equal(grad(f)(x), np.tile([0.0, 0.25], size))


# ---- elements followed through an order, and sums of runs ----------------------------------------


@pytest.mark.parametrize("kept", [0, 1, 3, 400])
@pytest.mark.parametrize("values", ["different", "ties", "nan"])
def test_partitioned_elements_keep_their_adjoint(kept, values):
    """Each element has the adjoint of the place where it came to stand, ties in any order."""
    rng = np.random.default_rng(4)
    x = rng.permutation(500) * 1.0 if values == "different" else rng.integers(0, 9, 500) * 1.0
    if values == "nan":
        x[[3, 7]] = np.nan
    weights = np.where(np.arange(500) < kept, rng.uniform(1, 2, 500), 0.0)

    def f(x):
        return np.sum(np.partition(x, 20) * weights)

    slopes, y = grad(f)(x), np.partition(x, 20)
    np.testing.assert_array_equal(np.sort(slopes), np.sort(weights))
    for each in np.unique(x):
        at, there = (np.isnan(z) if np.isnan(each) else z == each for z in (x, y))
        np.testing.assert_allclose(np.sum(slopes[at]), np.sum(weights[there]), rtol=1e-14)


@pytest.mark.parametrize("shape, axis", [((0,), 0), ((7,), 0), ((5, 6), 0), ((5, 6), 1)])
def test_the_first_of_each_run_has_its_sum(shape, axis):
    rng = np.random.default_rng(6)
    y = np.maximum.accumulate(rng.integers(0, 4, shape) * 1.0, axis=axis)
    items = rng.normal(size=shape)
    rows = np.moveaxis(y, axis, -1).reshape(y.size // max(1, shape[axis]), shape[axis])
    wanted = np.zeros(rows.shape)
    for row, given, sums in zip(rows, np.moveaxis(items, axis, -1).reshape(rows.shape), wanted):
        for place, value in enumerate(row):
            sums[list(row).index(value)] += given[place]
    found = np.moveaxis(runtime.sums_of_runs(items, y, axis), axis, -1).reshape(rows.shape)
    np.testing.assert_allclose(found, wanted, rtol=1e-14)


# ---- quotients of polynomials --------------------------------------------------------------------


@pytest.mark.parametrize("lengths", [(7, 3), (9, 1), (4, 4), (3, 5), (40, 12)])
def test_polydiv_is_numpys_with_derivatives(lengths):
    """The slopes are central differences of np.polydiv itself."""
    rng = np.random.default_rng(8)
    u, v = (rng.uniform(0.5, 1.0, length) for length in lengths)
    v[0] = 2.0
    weights = rng.normal(size=np.polydiv(u, v)[0].shape)

    def f(u, v):
        return np.sum(np.polydiv(u, v)[0] * weights)

    slopes = grad(f, (0, 1))(u, v)
    for place, (found, each) in enumerate(zip(slopes, (u, v), strict=True)):
        for i in range(each.size):
            step = np.zeros_like(each)
            step[i] = 1e-6
            ends = [
                np.sum(
                    np.polydiv(*(z + s if p == place else z for p, z in enumerate((u, v))))[0]
                    * weights
                )
                for s in (step, -step)
            ]
            np.testing.assert_allclose(found[i], (ends[0] - ends[1]) / 2e-6, rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("edges", [[], [0.0], EDGES, [1e-310, 1e308 + 1e308j]], ids=str)
@pytest.mark.parametrize("dtype", [np.float64, np.complex64, np.complex128, np.clongdouble])
@pytest.mark.parametrize("shape", [(), (1,), (5000,)], ids=str)
@pytest.mark.filterwarnings("ignore")
def test_times_sign(shape, dtype, edges):
    rng = np.random.default_rng(3)
    x = (rng.normal(size=5000) + 1j * rng.normal(size=5000)).astype(dtype)
    x[: len(edges)] = np.array(edges, complex).astype(dtype)
    value = rng.normal(size=shape).astype(x.real.dtype)
    actual, expected = runtime.times_sign(value, x), value * np.sign(x)
    assert actual.dtype == expected.dtype
    np.testing.assert_allclose(actual, expected, rtol=4 * np.finfo(dtype).eps, atol=0)


def test_abs_of_many_complex_numbers():
    """Its gradient is abs's slope towards each number, z / abs(z), and the second derivative that
    of two dimensions."""
    z = np.exp(1j * np.linspace(0.0, 6.0, 2000)) * np.linspace(0.5, 2.0, 2000)
    assert grad(lambda z: np.sum(np.abs(z)))(z) == pytest.approx(z / abs(z), rel=1e-14)
    total = grad(lambda z: np.sum(np.real(np.conj(1j * z) * grad(lambda z: np.sum(np.abs(z)))(z))))
    assert total(z) == pytest.approx(np.zeros(2000), abs=1e-14)  # along circles abs is constant
