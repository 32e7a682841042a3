"""Quantiles, weighted means and covariances."""

from rules.properties import case, distinct, integers, number, positive, real

LIKE = {"general": False}  # needs the rank of its argument

HALF = number(0.4, 0.41)
COUNTS = integers(4, low=1, high=4)
METHODS = ["averaged_inverted_cdf", "closest_observation", "hazen", "higher", "inverted_cdf"]
METHODS += ["interpolated_inverted_cdf", "linear", "lower", "median_unbiased", "midpoint"]
METHODS += ["nearest", "normal_unbiased", "weibull"]

STATISTICS = [
    case(f"np.{name}(x{options})", x=distinct(2, 3, 2))
    for name in ["median", "nanmedian"]
    for options in ["", ", axis=1", ", axis=-1, keepdims=True"]
]
STATISTICS += [
    case(f"np.quantile(x, 0.3, axis=0, method='{method}')", x=distinct(5, 2), **LIKE)
    for method in METHODS
]
STATISTICS += [
    case(f"np.nanquantile(x, 0.4, axis=1, method='{method}')", x=distinct(2, 4), **LIKE)
    for method in METHODS
]
STATISTICS += [
    case("np.median(x, axis=(0, -1), keepdims=True)", x=distinct(2, 3, 2), **LIKE),
    case("np.nanmedian(x, axis=(0, 1))", x=distinct(2, 3, 2), **LIKE),
    case("np.median(x)", x=distinct(4)),
    case("np.median(x)", x=distinct(1)),
    case("np.quantile(x, 0.25, keepdims=True)", x=distinct(2, 3)),
    case("np.quantile(x, [0.2, 0.9], axis=1)", x=distinct(2, 3)),
    case("np.quantile(x, q, axis=0)", x=distinct(4, 2), q=number(0.3, 0.31), **LIKE),
    case("np.quantile(x, q)", x=distinct(5), q=number(0.3, 0.31), **LIKE),
    case(
        "np.quantile(x, q, axis=(0, 1), keepdims=True)",
        x=distinct(2, 2),
        q=number(0.4, 0.41),
        **LIKE,
    ),
    case("np.quantile(x, np.linspace(0.1, 0.9, 3), axis=1)", x=distinct(2, 4), **LIKE),
    case("np.percentile(x, 30, axis=0)", x=distinct(4, 2), **LIKE),
    case("np.nanpercentile(x, 70.0)", x=distinct(4), **LIKE),
    case("np.average(x)", x=real(2, 3), **LIKE),
    case("np.average(x, axis=0, weights=p)", x=real(3, 2), p=positive(3), **LIKE),
    case("np.average(x, weights=p)", x=real(3, 2), p=positive(3, 2), **LIKE),
    case("np.average(x, -1, p, keepdims=True)", x=real(3, 2), p=positive(2), **LIKE),
    case("np.average(x, 0, p, True)[1]", x=real(3, 2), p=positive(3), **LIKE),
    case("np.cov(x)", x=real(2, 4), **LIKE),
    case("np.cov(x)", x=real(4), **LIKE),
    case("np.cov(x, y, ddof=0)", x=real(2, 4), y=real(4), **LIKE),
    case("np.cov(x, rowvar=False, bias=True)", x=real(4, 2), **LIKE),
    case("np.cov(x, aweights=p)", x=real(2, 4), p=positive(4), **LIKE),
    case(
        "np.cov(x, fweights=n, aweights=p)",
        x=real(2, 4),
        n=integers(4, low=1, high=4),
        p=positive(4),
        **LIKE,
    ),
    case("np.corrcoef(x)", x=real(3, 5), **LIKE),
    case("np.corrcoef(x, y)", x=real(5), y=real(5), **LIKE),
]
