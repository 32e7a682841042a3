"""scipy.integrate, ndimage, signal and spatial: functions of arrays, in every mode."""

import numpy as np
import pytest
import scipy.ndimage

from api.oracles import gradient
from rules.properties import (
    case,
    check_all,
    distinct,
    module,
    number,
    positive,
    real,
    some_slow,
    unit,
)
from s2s_ad import grad, jit
from s2s_ad.diagnostics import S2SError, UnsupportedError

LIKE = {"general": False}
MODES = ("constant", "mirror", "nearest", "reflect", "wrap")

INTEGRALS = [
    case("scipy.integrate.trapezoid(y, dx=0.5)", y=real(5), **LIKE),
    case("scipy.integrate.trapezoid(y, x, axis=0)", y=real(4, 3), x=real(4), **LIKE),
    case("scipy.integrate.cumulative_trapezoid(y, dx=0.5)", y=real(2, 5), **LIKE),
    case("scipy.integrate.cumulative_trapezoid(y, x, axis=0)", y=real(4, 3), x=real(4), **LIKE),
    case("scipy.integrate.cumulative_trapezoid(y, x)", y=real(4), x=real(4), **LIKE),
    case("scipy.integrate.cumulative_trapezoid(y, initial=0)", y=real(4), **LIKE),
    case("scipy.integrate.romb(y, dx=0.5)", y=real(9), **LIKE),
    case("scipy.integrate.romb(y, 0.5, 0)", y=real(5, 2), **LIKE),
    case(
        "scipy.integrate.fixed_quad(lambda x, s: np.sin(s * x), 0.0, s, (s,), n=4)[0]",
        s=number(),
        **LIKE,
    ),
]
IMAGES = [
    case(f"scipy.ndimage.{name}(x, k, mode='{mode}')", x=real(6), k=real(size), **LIKE)
    for name in ("convolve1d", "correlate1d")
    for mode in MODES
    for size in (3, 2)
]
IMAGES += [
    case(f"scipy.ndimage.{name}(x, k)", x=real(4, 5), k=real(*size), **LIKE)
    for name in ("convolve", "correlate")
    for size in ((3, 3), (2, 3))
]
IMAGES += [
    case("scipy.ndimage.convolve1d(x, k, axis=0)", x=real(4, 2), k=real(3), **LIKE),
    case("scipy.ndimage.convolve1d(x, k, mode='nearest')", x=real(2), k=real(6), **LIKE),
    case(
        "scipy.ndimage.correlate(x, k, None, 'constant', 2.0)", x=real(4, 3), k=real(2, 2), **LIKE
    ),
    case("scipy.ndimage.correlate(x, k, mode='mirror')", x=real(4, 3), k=real(2, 5), **LIKE),
    case(
        "scipy.ndimage.correlate1d(x, k, cval=1.5, mode='constant')", x=real(5), k=real(3), **LIKE
    ),
    case("scipy.ndimage.gaussian_filter(x, 1.5, mode='grid-wrap')", x=real(4, 2), **LIKE),
    case("scipy.ndimage.gaussian_filter(x, 0.5, mode=['wrap', 'mirror'])", x=real(4, 3), **LIKE),
    case("scipy.ndimage.gaussian_filter(x, 0.6, order=[1, 2])", x=real(3, 4), **LIKE),
    case("scipy.ndimage.uniform_filter(x, 4, mode='nearest')", x=real(3), **LIKE),
    case("scipy.ndimage.uniform_filter(x, 3, mode='constant', cval=2.0)", x=real(4), **LIKE),
    case("scipy.ndimage.gaussian_filter1d(x, 0.7)", x=real(6), **LIKE),
    case("scipy.ndimage.gaussian_filter1d(x, 0.7, axis=0, order=1)", x=real(6, 2), **LIKE),
    case("scipy.ndimage.gaussian_filter(x, 0.5, mode='nearest')", x=real(4, 5), **LIKE),
    case("scipy.ndimage.maximum_filter(x, 2)", x=distinct(4, 3), **LIKE),
    case("scipy.ndimage.maximum_filter(x, 3)", x=distinct(5), **LIKE),
    case("scipy.ndimage.median_filter(x, 3)", x=distinct(5), **LIKE),
    case("scipy.ndimage.median_filter(x, (2, 3))", x=distinct(4, 3), **LIKE),
    case("scipy.ndimage.minimum_filter(x, 3, mode='constant')", x=distinct(5), **LIKE),
    case("scipy.ndimage.uniform_filter(x, 3)", x=real(4, 3), **LIKE),
    case("scipy.ndimage.uniform_filter(x, (3, 2), axes=(2, 0))", x=real(4, 2, 3), **LIKE),
    case("scipy.ndimage.gaussian_filter(x, (0.5, 0.8), axes=(1, 0))", x=real(4, 5), **LIKE),
    case("scipy.ndimage.maximum_filter(x, 2, axes=1)", x=distinct(2, 4), **LIKE),
    case("scipy.ndimage.sobel(x)", x=real(4, 5), **LIKE),
    case("scipy.ndimage.sobel(x, 0, mode='nearest')", x=real(4, 3), **LIKE),
    case("scipy.ndimage.sobel(x, mode=['mirror', 'constant'], cval=1.5)", x=real(3, 4), **LIKE),
    case("scipy.ndimage.sobel(x, axis=1)", x=real(3, 2, 3), **LIKE),
    case("scipy.ndimage.prewitt(x, axis=-2, mode='wrap')", x=real(4, 3), **LIKE),
    case("scipy.ndimage.prewitt(x)", x=real(5), **LIKE),
    case("scipy.ndimage.laplace(x)", x=real(4, 5), **LIKE),
    case("scipy.ndimage.laplace(x, mode='constant', cval=0.5)", x=real(3, 2, 3), **LIKE),
    case("scipy.ndimage.gaussian_laplace(x, 0.8)", x=real(4, 5), **LIKE),
    case("scipy.ndimage.gaussian_laplace(x, [0.5, 0.8], truncate=3.0)", x=real(3, 4), **LIKE),
    case("scipy.ndimage.gaussian_gradient_magnitude(x, 0.7)", x=real(4, 3), **LIKE),
    case("scipy.ndimage.maximum_filter1d(x, 3)", x=distinct(3, 4), **LIKE),
    case("scipy.ndimage.maximum_filter1d(x, 2, axis=0, mode='nearest')", x=distinct(4, 2), **LIKE),
    case("scipy.ndimage.minimum_filter1d(x, 4)", x=distinct(6), **LIKE),
    case("scipy.ndimage.minimum_filter(x, size=(2, 3))", x=distinct(4, 3), **LIKE),
    case("scipy.ndimage.uniform_filter1d(x, 3)", x=real(3, 4), **LIKE),
    case("scipy.ndimage.uniform_filter1d(x, 4, axis=0, mode='mirror')", x=real(5, 2), **LIKE),
    case("scipy.ndimage.rank_filter(x, -2, size=3)", x=distinct(6), **LIKE),
    case("scipy.ndimage.rank_filter(x, 1, (2, 3))", x=distinct(4, 3), **LIKE),
    case("scipy.ndimage.percentile_filter(x, 70, size=3)", x=distinct(4, 3), **LIKE),
    case("scipy.ndimage.percentile_filter(x, -20, 4)", x=distinct(7), **LIKE),
    case(
        "scipy.ndimage.maximum_filter(x, footprint=np.arange(3)[None] != 1)",
        x=distinct(4, 3),
        **LIKE,
    ),
    case("scipy.ndimage.minimum_filter(x, footprint=[[0, 1], [1, 1]])", x=distinct(4, 3), **LIKE),
    case(
        "scipy.ndimage.grey_erosion(x, structure=0.1 * k)", x=distinct(4, 5), k=real(2, 3), **LIKE
    ),
    case(
        "scipy.ndimage.grey_dilation(x, structure=0.1 * k)", x=distinct(4, 5), k=real(2, 3), **LIKE
    ),
    case("scipy.ndimage.grey_dilation(x, 2, axes=1)", x=distinct(3, 4), **LIKE),
    case(
        "scipy.ndimage.grey_dilation(x, footprint=[[0, 1, 1]], mode='wrap')",
        x=distinct(3, 4),
        **LIKE,
    ),
    case("scipy.ndimage.grey_opening(x, (2, 3))", x=distinct(4, 5), **LIKE),
    case("scipy.ndimage.grey_closing(x, 3, mode='nearest')", x=distinct(7), **LIKE),
    case("scipy.ndimage.black_tophat(x, 3)", x=distinct(4, 5), **LIKE),
    case("scipy.ndimage.morphological_gradient(x, 3)", x=distinct(4, 5), **LIKE),
    case("scipy.ndimage.morphological_laplace(x, 2)", x=distinct(4, 5), **LIKE),
    case(
        "scipy.ndimage.white_tophat(x, footprint=scipy.ndimage.generate_binary_structure(2, 1))",
        x=distinct(4, 5),
        **LIKE,
    ),
    case("scipy.ndimage.median_filter(x, 3, axes=(0,))", x=distinct(4, 2), **LIKE),
    case("scipy.ndimage.correlate(x, k, axes=(1,))", x=real(2, 5), k=real(3), **LIKE),
    case("scipy.ndimage.convolve(x, k, axes=(2, 0))", x=real(2, 2, 3), k=real(2, 3), **LIKE),
]
IMAGES += [
    case(
        f"scipy.ndimage.map_coordinates(x, np.stack([3.4 * u - 0.2, v + 0.1]), {options})",
        x=real(4, 3),
        u=unit(5),
        v=unit(5),
        general=False,
        empty=False,
    )
    for options in ("order=1", "order=1, mode='nearest'", "order=1, cval=0.5")
]
IMAGES += [
    case(
        "scipy.ndimage.map_coordinates(x, np.array([[0.4, 2.6, 9.0], [1.2, 0.0, 1.0]]), order=0)",
        x=real(4, 3),
        general=False,
        empty=False,
    ),
    case("scipy.cluster.vq.vq(x, k)[1]", x=real(5, 2), k=real(3, 2), **LIKE),
    case("x[scipy.cluster.vq.vq(x, k)[0]]", x=real(5), k=real(3), **LIKE),
]
SIGNALS = [
    case(f"scipy.signal.{name}(x, k, mode='{mode}')", x=real(*n), k=real(*m), **LIKE)
    for name in ("convolve", "correlate", "fftconvolve")
    for mode, n, m in [
        ("full", (5,), (3,)),
        ("same", (5,), (3,)),
        ("same", (6,), (2,)),
        ("valid", (5,), (3,)),
        ("same", (4, 3), (2, 3)),
    ]
]
SIGNALS += [
    case("scipy.signal.convolve2d(x, k)", x=real(4, 3), k=real(2, 2), **LIKE),
    case("scipy.signal.correlate2d(x, k, 'same')", x=real(3, 4), k=real(2, 3), **LIKE),
    case("scipy.signal.convolve2d(x, k, 'same', 'symm')", x=real(3, 4), k=real(2, 3), **LIKE),
    case("scipy.signal.correlate2d(x, k, 'same', 'wrap')", x=real(3, 4), k=real(2, 3), **LIKE),
    case("scipy.signal.convolve2d(x, k, fillvalue=0.3)", x=real(3, 3), k=real(2, 2), **LIKE),
    case("scipy.signal.correlate2d(x, k, mode='valid')", x=real(4, 3), k=real(2, 2), **LIKE),
    case("scipy.signal.oaconvolve(x, k)", x=real(5), k=real(3), **LIKE),
    case(
        "scipy.signal.lfilter(np.array([0.5, 0.2]), np.array([2.0, 0.3]), x, axis=0)",
        x=real(4, 2),
        **LIKE,
    ),
    case("scipy.signal.detrend(x)", x=real(6), **LIKE),
    case("scipy.signal.detrend(x, axis=0, type='constant')", x=real(4, 2), **LIKE),
    case("scipy.signal.medfilt(x, 3)", x=distinct(5), **LIKE),
    case("scipy.signal.savgol_filter(x, 5, 2)", x=real(8), **LIKE),
    case("scipy.signal.savgol_filter(x, 3, 1, deriv=1, delta=0.5)", x=real(6), **LIKE),
    case("scipy.signal.savgol_filter(x, 5, 2, axis=0)", x=real(7, 2), **LIKE),
    *(
        case(f"scipy.signal.savgol_filter(x, 5, 2, mode='{m}', cval=0.3)", x=real(2, 7), **LIKE)
        for m in ("constant", "mirror", "nearest", "wrap")
    ),
    *(
        case(f"scipy.signal.{name}(x, k, '{mode}', {axes})", x=real(4, 3), k=real(4, 2), **LIKE)
        for name, mode, axes in [
            ("fftconvolve", "full", "axes=1"),
            ("fftconvolve", "same", "axes=(-1,)"),
            ("oaconvolve", "full", "axes=[0, 1]"),
        ]
    ),
    case("x * scipy.signal.windows.hann(4)", x=real(4), **LIKE),
    case("x * scipy.signal.get_window('hamming', 4)", x=real(4), **LIKE),
    case("scipy.signal.lfilter(*scipy.signal.butter(2, 0.4), x)", x=real(5), **LIKE),
]
DISTANCES = [
    case(
        f"scipy.spatial.distance.cdist(x, y, '{name}')", x=positive(3, 2), y=positive(2, 2), **LIKE
    )
    for name in ("braycurtis", "canberra", "cityblock", "cosine", "euclidean", "sqeuclidean")
]
DISTANCES += [
    case("scipy.spatial.distance.cdist(x, y)", x=positive(2, 3), y=positive(4, 3), **LIKE),
    case("scipy.spatial.distance.pdist(x)", x=positive(4, 3), **LIKE),
    case("scipy.spatial.distance.pdist(x, 'cityblock')", x=positive(4, 3), **LIKE),
    case("scipy.spatial.distance.pdist(x, 'sqeuclidean')", x=positive(4, 3), **LIKE),
    case("scipy.spatial.distance.squareform(x)", x=real(6), **LIKE),
    case("scipy.spatial.distance.squareform(x, checks=False)", x=real(4, 4), **LIKE),
    case(
        "scipy.spatial.distance.squareform(scipy.spatial.distance.pdist(x))",
        x=positive(4, 3),
        **LIKE,
    ),
]
DISTANCES += [
    case(f"scipy.spatial.distance.{name}(x, y)", x=positive(3), y=positive(3), **LIKE)
    for name in ("chebyshev", "cosine", "euclidean")
]
EVERY = 11  # of the cases is checked by `make test`, all by `make test-all`


@pytest.mark.thinned(6)
@pytest.mark.parametrize("each", some_slow(INTEGRALS + IMAGES + SIGNALS + DISTANCES, EVERY))
def test_function(each):
    check_all(each)


@pytest.mark.parametrize(
    "call, sizes",
    [
        ("scipy.signal.lfilter(a, b, x)", (3, 2, 6)),
        ("scipy.signal.convolve(a, x, mode='valid') * b", (3, 1, 6)),
    ],
)
def test_slopes_without_a_batch(call, sizes):
    """Against central differences along a random direction."""
    f = module(f"def f(a, b, x):\n    return np.sum({call} ** 2)\n").f
    rng = np.random.default_rng(0)
    args = [rng.uniform(0.5, 1.5, size) for size in sizes]
    ways = [rng.normal(size=size) for size in sizes]
    near = [
        f(*(x + step * way for x, way in zip(args, ways, strict=True))) for step in (1e-5, -1e-5)
    ]
    slopes = grad(f, (0, 1, 2))(*args)
    along = sum(bar @ way for bar, way in zip(slopes, ways, strict=True))
    np.testing.assert_allclose(along, (near[0] - near[1]) / 2e-5, rtol=1e-6)


@pytest.mark.parametrize(
    "call, said",
    [
        ("scipy.spatial.distance.cdist(x, x, 'hamming')", "hamming"),
        ("scipy.ndimage.convolve1d(x[0], x[1], origin=1)", "origin"),
        ("scipy.signal.lfilter(x[0], x[1], x[0], zi=x[1][1:])", "zi"),
        ("scipy.signal.fftconvolve(x, x, 'valid', axes=0)", "valid"),
    ],
)
def test_what_is_refused(call, said):
    f = module(f"def f(x):\n    return np.sum({call})\n").f
    with pytest.raises(S2SError, match=said):
        grad(f)(np.ones((3, 3)))


def into_another(x):
    y = np.empty_like(x)
    scipy.ndimage.gaussian_filter(x, 0.8, output=y)
    y[0] *= 2.0
    return np.sum(y**2)


def into_itself(x):
    x = 1.0 * x
    scipy.ndimage.grey_erosion(x, size=2, output=x)
    return np.sum(x**2)


@pytest.mark.parametrize("f", [into_another, into_itself])
def test_output_holds_the_result(f):
    x = np.random.default_rng(2).normal(size=(4, 5))
    np.testing.assert_allclose(jit(f)(x), f(x), rtol=1e-13)
    np.testing.assert_allclose(grad(f)(x), gradient(f, x), rtol=1e-6, atol=1e-8)


def test_output_of_another_dtype_is_refused():
    def f(x):
        y = np.zeros(x.shape, np.float32)
        return scipy.ndimage.maximum_filter(x, size=2, output=y)

    with pytest.raises(UnsupportedError, match="an array of another dtype as output="):
        jit(f)(np.ones(3))
