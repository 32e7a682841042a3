"""Cases of elementwise functions beyond their rows: options, choices, methods of ufuncs."""

import numpy as np

from rules.properties import Draw, case, distinct, integers, mask, number, positive, real, unit


def ascending(*shape):
    """Numbers in order, well apart."""
    return Draw(shape, lambda rng, shape: np.cumsum(rng.uniform(0.4, 0.8, shape)))


LIKE = {"general": False}  # needs the rank of its argument

CHOICES = [
    case("np.select([x < -0.5, x > 0.5], [y, x * y], default=0.3)", x=distinct(2, 3), y=real(3)),
    case("np.select([x < 0], [x])", x=distinct(4)),
    case("np.choose(i, [x, y, 2.0])", i=integers(2, 3), x=real(2, 3), y=real(3)),
    case("np.choose(i, (x, x * y), mode='clip')", i=integers(3, high=5), x=real(3), y=real(3)),
    case("np.choose(i - 3, [x, y], mode='wrap')", i=integers(2, 1), x=real(3), y=real()),
    case("np.compress([True, False, True], x, axis=0) * y", x=real(3, 2), y=real(2), **LIKE),
    case("np.compress(m, x)", x=real(2, 3), m=mask(6), batches=False, **LIKE),
    case("i.choose([x, y, x])", i=integers(3), x=real(3), y=real(3), general=False),
]
ROUNDING = [
    case(
        "np.round(x, 1) * x + np.around(x) - np.fix(x) * x.round(2)", x=distinct(3), general=False
    ),
    case("np.nan_to_num(np.where(m, x, np.nan), nan=2.0) * x", x=real(2, 3), m=mask(3)),
    case("np.nan_to_num(np.where(m, x, np.inf), posinf=3.0, neginf=-1.0)", x=real(3), m=mask(3)),
    case("np.where(np.isclose(x, y, rtol=0.5), x, x * y)", x=positive(3), y=positive(2, 3)),
]
PARTS = [
    case("np.modf(x)[0] * np.modf(x)[1]", x=distinct(2, 3)),
    case("np.frexp(x)[0] * x + np.frexp(x)[1]", x=distinct(3)),
    case("np.divmod(x, y)[1] + np.divmod(x, y)[0] * y", x=Draw((3,)), y=distinct(3)),
    case("np.ldexp(x, 3) + np.ldexp(x, i)", x=real(2, 3), i=integers(3)),
]

KEYWORDS = [
    case("np.log(x, where=m) * m", x=positive(2, 3), m=mask(3)),
    case("np.divide(x, y, where=m, order='C') * m", x=real(2, 1), y=positive(3), m=mask(2, 3)),
    case("np.multiply(x, y, where=m) * m", x=real(3), y=number(), m=mask(2, 3)),
    case("np.hypot(x, y, dtype=np.float64)", x=positive(3), y=positive(2, 3)),
    case("np.subtract(x, i, dtype=float, casting='unsafe')", x=real(3), i=integers(3)),
    case("np.exp(x, out=None, subok=True)", x=real(3)),
    case(
        "np.where(m, np.modf(x, where=m, dtype=np.float64)[0], 0.0)", x=distinct(2, 3), m=mask(2, 3)
    ),
    case(
        "np.where(m, np.divmod(x, y, where=m, order='F')[1], 0.0)",
        x=Draw((3,)),
        y=distinct(3),
        m=mask(3),
    ),
    case("np.matmul(x, i, dtype=float, order='C')", x=real(2, 3), i=integers(3), **LIKE),
    case("np.vecdot(x, i, dtype=np.float64)", x=real(2, 3), i=integers(3), **LIKE),
    case("np.einsum('ij,j->i', x, i, dtype=float)", x=real(2, 3), i=integers(3), **LIKE),
    case("np.hstack([x, i], dtype=float, casting='unsafe')", x=real(2), i=integers(3), **LIKE),
    case("np.maximum.accumulate(x, dtype=np.float64)", x=distinct(4, 2), **LIKE),
    case("np.add.reduceat(x, [0, 2, 1], dtype=np.float64)", x=real(4), **LIKE),
]
METHODS_OF_UFUNCS = [
    *(
        case(f"np.{name}.reduce(x{options})", x=distinct(2, 3, 2), **LIKE)
        for name, options in [
            ("add", ""),
            ("add", ", axis=(0, 2), keepdims=True"),
            ("logaddexp", ", axis=1"),
            ("logaddexp2", ", axis=None"),
            ("maximum", ", axis=-1"),
            ("fmin", ", axis=1, keepdims=True"),
            ("hypot", ", axis=(0, 1)"),
        ]
    ),
    case("np.hypot.reduce(x)", x=positive(3), **LIKE),
    case("np.logaddexp.reduce(x, initial=0.5, where=m)", x=real(3, 2), m=mask(3, 1), **LIKE),
    case("np.multiply.reduce(x, axis=1, initial=2.0)", x=real(2, 3), **LIKE),
    case("np.add.accumulate(x)", x=real(2, 3)),
    case("np.maximum.accumulate(x)", x=distinct(4, 2), **LIKE),
    case("np.minimum.accumulate(x, axis=1)", x=distinct(2, 4), **LIKE),
    case("np.fmax.accumulate(x, -1)", x=distinct(0, 2), **LIKE),
    case("np.multiply.outer(x, y)", x=real(2), y=real(3, 2), **LIKE),
    case("np.add.outer(x, y) * np.arctan2.outer(x, y)", x=positive(), y=positive(3), **LIKE),
    case("np.power.outer(x, 2.0) + np.subtract.outer(1.0, x)", x=positive(3), **LIKE),
    case("np.add.reduceat(x, [0, 2, 1])", x=real(4), **LIKE),
    case("np.add.reduceat(x, i, axis=1)", x=real(2, 3), i=integers(4), batches=False, **LIKE),
    case("np.add.reduceat(x, [0, 1])", x=real(2, 1), **LIKE),
]

CALLERS = [
    case("np.vectorize(lambda q: q * q)(x)", x=real(2, 3), **LIKE),
    case(
        "np.vectorize(lambda a, b: a * b if a > b else np.sin(a))(x, y)",
        x=distinct(2, 3),
        y=distinct(3),
        **LIKE,
    ),
    case("np.vectorize(lambda a, b: (a + b, a * b))(x, 2.0)[1]", x=real(3), **LIKE),
    case(
        "np.vectorize(lambda a, b: a * b, otypes=[float])(x, b=y)",
        x=real(2, 1),
        y=real(1, 3),
        **LIKE,
    ),
    case("np.frompyfunc(lambda a: a**3, 1, 1)(x).astype(float)", x=real(3), **LIKE),
    case("np.apply_along_axis(lambda r: r / np.sum(r), 1, x)", x=positive(2, 3), **LIKE),
    case("np.apply_along_axis(np.sum, 0, x)", x=real(2, 3, 2), **LIKE),
    case(
        "np.apply_along_axis(lambda r, k: np.outer(r, r) * k, 1, x, 2.0)", x=real(2, 3, 2), **LIKE
    ),
    case("np.apply_along_axis(lambda r: r * r[0], -1, x)", x=real(3), **LIKE),
    case("np.apply_over_axes(np.sum, x, [0, -1])", x=real(2, 3, 2), **LIKE),
    case(
        "np.piecewise(x, [x < 0, x > 1], [lambda q: q**2, 0.5, np.exp])", x=distinct(2, 3), **LIKE
    ),
    case(
        "np.piecewise(x, [x < 0], [lambda q, k: q * k, lambda q, k: np.sqrt(q) + k], 3.0)",
        x=distinct(4),
        **LIKE,
    ),
    case(
        "np.piecewise(s, [s < 0.2, s > 5.0], [0.5, np.exp, lambda q: q**2 * np.sum(q)])",
        s=number(),
        **LIKE,
    ),
    case("np.fromfunction(lambda i, j: i * x + j * x**2, (2, 3), dtype=int)", x=number()),
    case("np.fromiter((q * x for q in range(3)), float)", x=number()),
]

POINTS = [
    case("np.interp(x, np.cumsum(y), z)", x=unit(2, 3), y=positive(4), z=real(4), **LIKE),
    case("np.interp(x, y - 1.0, z, left=0.5)", x=real(5), y=ascending(3), z=real(3), **LIKE),
    case("np.interp(x, [0.0, 0.3, 1.1], z, right=2.0)", x=number(0.1, 1.0), z=real(3), **LIKE),
    case("np.interp(x, y, z, period=2.5)", x=real(5), y=ascending(3), z=real(3), **LIKE),
    case("np.interp(x, [0.2], z, 1.0)", x=distinct(3), z=real(1), **LIKE),
    case("np.polyval(p, x)", p=real(4), x=real(2, 3), **LIKE),
    case("np.polyval(p, x) * np.polyval([2.0, 1.0], x)", p=real(1), x=real(), **LIKE),
    case("np.polynomial.polynomial.polyval(x, p)", p=real(3), x=real(3), **LIKE),
]
AS_ARRAYS = [
    case(
        "np.asanyarray(x) * np.ascontiguousarray(y) + np.asfortranarray(x)",
        x=real(2, 3),
        y=real(),
        **LIKE,
    ),
    case("np.require(x, float, ['C']) * np.astype(x, np.float64, copy=False)", x=real(2, 3)),
    case(
        "np.array(x, copy=True, order='C', ndmin=3) + np.array([x, x], ndmin=1)",
        x=real(2, 3),
        **LIKE,
    ),
    case("x.astype(np.float64, copy=False) * np.copy(x, order='F')", x=real(2, 3), **LIKE),
    case("np.unwrap(x * 4.0) * x", x=real(5)),
    case("np.unwrap(x * 4.0, axis=0, period=3.0)", x=real(4, 2)),
]
COMPARISONS = [
    case("x * np.allclose(x, y, atol=5.0) + y * np.allclose(x, 2.0)", x=real(3), y=real(2, 3)),
    case(
        "x * np.array_equal(x, x) + x * np.array_equal(x, y, equal_nan=True)",
        x=real(3),
        y=real(3),
        batches=False,  # the lengths may differ: sample by sample, of which there has to be one
    ),
    case("x * np.array_equiv(x, x) + 2 * x * np.array_equal(x, x[0])", x=real(2, 3), **LIKE),
]

FACTS = [
    case("x[np.unravel_index(np.argmax(x), x.shape)] * x", x=distinct(2, 3), **LIKE),
    case(
        "x.ravel()[np.ravel_multi_index((1, 2), (2, 3))] * x[np.unravel_index(4, (2, 3))]",
        x=real(2, 3),
        **LIKE,
    ),
    case(
        "x * np.finfo(x.dtype).bits + y.astype(np.result_type(x, y)) * np.iinfo(np.int32).bits",
        x=real(3),
        y=real(2, 3),
        **LIKE,
    ),
    case("x * (2.0 if np.isscalar(x) or not np.iterable(x) else 3.0)", x=real(3), **LIKE),
    case("x * np.isrealobj(x) * (1.0 + np.shares_memory(x, x))", x=real(3), **LIKE),
    case(
        "x * np.can_cast('f4', float) * len(np.broadcast_shapes((3, 1), (1, 4)))",
        x=real(3),
        **LIKE,
    ),
]

CASES = (
    FACTS
    + AS_ARRAYS
    + CALLERS
    + COMPARISONS
    + POINTS
    + CHOICES
    + KEYWORDS
    + METHODS_OF_UFUNCS
    + PARTS
    + ROUNDING
)
