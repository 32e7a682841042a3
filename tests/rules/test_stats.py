"""scipy.stats: every method of every distribution in every mode, in all its parameters."""

import numpy as np
import pytest
import scipy.stats
from scipy import stats

from rules.properties import Draw, case, check_all, distinct, integers, module, positive, real
from s2s_ad import grad, jit, jvp, vmap

METHODS = ("pdf", "logpdf", "cdf", "logcdf", "sf", "logsf", "ppf", "isf")
LOCATED = {"scale": positive(3), "loc": real(3)}


def between(low, high, *shape):
    return Draw(shape or (3,), lambda rng, shape: rng.uniform(low, high, shape))


#: distribution -> its shape parameters, where the standard variable is drawn from, and those
#: parameters in which the distribution function has no derivative
DISTRIBUTIONS = {
    "beta": ({"a": between(1.2, 2.5), "b": between(1.2, 2.5)}, (0.2, 0.8), ()),
    "cauchy": ({}, (-2.0, 2.0), ()),
    "chi2": ({"df": between(2.0, 5.0)}, (0.5, 3.0), ()),
    "expon": ({}, (0.2, 2.0), ()),
    "f": ({"dfn": between(2.0, 5.0), "dfd": between(2.0, 5.0)}, (0.5, 2.0), ()),
    "gamma": ({"a": between(0.8, 3.0)}, (0.5, 3.0), ()),
    "gennorm": ({"beta": between(1.2, 2.5)}, (0.3, 1.5), ()),
    "gumbel_l": ({}, (-1.0, 1.0), ()),
    "gumbel_r": ({}, (-1.0, 1.0), ()),
    "halfnorm": ({}, (0.3, 1.5), ()),
    "invgamma": ({"a": between(1.2, 3.0)}, (0.4, 2.0), ()),
    "laplace": ({}, (0.3, 1.5), ()),
    "logistic": ({}, (-1.5, 1.5), ()),
    "lognorm": ({"s": between(0.6, 1.4)}, (0.4, 2.0), ()),
    "norm": ({}, (-1.5, 1.5), ()),
    "pareto": ({"b": between(1.2, 3.0)}, (1.3, 2.5), ()),
    "rayleigh": ({}, (0.4, 2.0), ()),
    "skewnorm": ({"a": between(0.5, 2.0)}, (-0.5, 1.5), ()),
    "t": ({"df": between(2.5, 6.0)}, (-1.5, 1.5), ()),
    "triang": ({"c": between(0.55, 0.7)}, (0.1, 0.5), ()),
    "truncnorm": ({"a": between(-1.5, -1.0), "b": between(1.0, 1.5)}, (-0.8, 0.8), ()),
    "uniform": ({}, (0.2, 0.8), ()),
    "vonmises": ({"kappa": between(0.5, 2.0)}, (-1.5, 1.5), ("kappa",)),
    "weibull_min": ({"c": between(1.2, 2.5)}, (0.4, 1.5), ()),
    "wrapcauchy": ({"c": between(0.3, 0.6)}, (0.5, 2.5), ("c",)),
}
#: of these SciPy computes the distribution function by numbers alone
NUMERIC = {"vonmises", "wrapcauchy", "skewnorm"}


def cases_of(name: str):
    shapes, (low, high), without = DISTRIBUTIONS[name]
    fixed = {each: float(shapes[each](np.random.default_rng(0))[0]) for each in without}
    for method in METHODS:
        if name in NUMERIC and "pdf" not in method:
            continue
        inverse = method in ("ppf", "isf")
        point = between(0.2, 0.8) if inverse else between(low, high)
        at = "q" if inverse else "loc + scale * x"
        given = shapes if "pdf" in method else {k: v for k, v in shapes.items() if k not in fixed}
        text = ", ".join(each if each in given else repr(fixed[each]) for each in shapes)
        call = f"scipy.stats.{name}.{method}({at}, {text}{', ' if text else ''}loc, scale)"
        yield case(call, **{"q" if inverse else "x": point}, **given, **LOCATED)


CONTINUOUS = [each for name in DISTRIBUTIONS for each in cases_of(name)]
DISCRETE = [
    case(
        f"scipy.stats.{name}.{method}(k, {parameters})", k=integers(3, low=low, high=high), **given
    )
    for name, parameters, low, high, given in [
        ("bernoulli", "p", 0, 2, {"p": between(0.2, 0.8)}),
        ("betabinom", "5, a, b", 0, 6, {"a": between(0.8, 2.0), "b": between(0.8, 2.0)}),
        ("binom", "5, p", 0, 6, {"p": between(0.2, 0.8)}),
        ("geom", "p", 1, 6, {"p": between(0.2, 0.8)}),
        ("nbinom", "n, p", 0, 6, {"n": between(2.0, 4.0), "p": between(0.2, 0.8)}),
        ("poisson", "mu", 0, 6, {"mu": between(0.5, 4.0)}),
    ]
    for method in ("pmf", "logpmf", "cdf", "sf")
    if name != "betabinom" or "pmf" in method
]
MATRICES = {"A": real(2, 2), "S": real(2, 2), "d": between(4.0, 6.0, 1), "general": False}
SAMPLES = {"general": False, "empty": False}
ARRAYS = [
    case(f"scipy.stats.{name}(x{options})", x=positive(4, 5), general=False)
    for name in ("gmean", "hmean", "kurtosis", "sem", "skew", "zscore")
    for options in ("", ", axis=1", ", axis=None")
]
ARRAYS += [
    case("x * scipy.stats.rankdata(x)", x=distinct(5), general=False),
    case("scipy.stats.linregress(x, y)[2]", x=real(5), y=real(5), **SAMPLES),
    case("scipy.stats.linregress(x, y).pvalue", x=real(5), y=real(5), **SAMPLES),
    case("x * scipy.stats.rankdata(x, 'min', axis=1)", x=distinct(2, 3), general=False),
    case("x + scipy.stats.bernoulli.ppf(0.4, p)", x=real(3), p=between(0.7, 0.9), general=False),
    case("scipy.stats.wishart.logpdf(A @ A.T + np.eye(2), d[0], S @ S.T + np.eye(2))", **MATRICES),
]
ARRAYS += [
    case(f"scipy.stats.gaussian_kde(x{options})", x=real(*shape), q=real(*points), **SAMPLES)
    for options, shape, points in [
        (")(q", (6,), (3,)),
        (", 'silverman').evaluate(q", (2, 6), (2, 3)),
        (", 0.7).logpdf(q", (2, 6), (2,)),
    ]
]
EVERY = 102  # of the cases is checked by `make test`, all by `make test-all`
FIRST = 24  # from here on: densities, both tails, quantiles, a discrete one and a sample
CASES = CONTINUOUS + DISCRETE + ARRAYS


@pytest.mark.thinned(7)
@pytest.mark.parametrize(
    "each",
    [
        pytest.param(each, id=str(each), marks=[pytest.mark.slow] * (place % EVERY != FIRST))
        for place, each in enumerate(CASES)
    ],
)
def test_method(each):
    check_all(each)


EULER = np.euler_gamma
#: phi(30) / (1 - Phi(30)), from the asymptotic series of Mills' ratio
MILLS = 30 + 1 / 30 - 2 / 30**3 + 10 / 30**5 - 74 / 30**7 + 706 / 30**9 - 8162 / 30**11
#: a method of x and a, a point far out (or one where terms cancel), and the slopes along both
#: from forms that are elementary there; None for one that has none
TAILS = [
    ("beta.cdf(x, a, 1.0)", 1e-100, 0.1, 0.1e90, 1e-10 * np.log(1e-100)),
    ("beta.logcdf(x, a, 1.0)", 1e-12, 20.0, 20e12, np.log(1e-12)),
    ("beta.sf(x, 1.0, a)", 1 - 2**-40, 3.0, -3 * 2.0**-80, 2.0**-120 * np.log(2.0**-40)),
    ("beta.logsf(x, 1.0, a)", 0.999, 80.0, -80 / (1 - 0.999), np.log(1 - 0.999)),
    ("chi2.logsf(x, a)", 1200.0, 2.0, -0.5, (np.log(600) + 600**-1 * 0.99833887 + EULER) / 2),
    ("f.logsf(x, 2.0, a)", 1e6, 6.0, None, -np.log1p(1e6 / 3) / 2 + (1e6 / 6) / (1 + 1e6 / 3)),
    ("f.logcdf(x, a, 2.0)", 1e-9, 4.0, None, np.log(4e-9 / (2 + 4e-9)) / 2 + 1 / (2 + 4e-9)),
    ("gamma.cdf(x, a)", 1e-30, 1.0, 1.0, 1e-30 * (np.log(1e-30) - 1 + EULER)),
    ("gamma.logcdf(x, a)", 1e-30, 1.0, 1e30, np.log(1e-30) - 1 + EULER),
    ("gamma.logsf(x, a)", 600.0, 1.0, -1.0, np.log(600) + 600**-1 * 0.99833887 + EULER),
    ("gumbel_l.logsf(x * a)", 40.0, 1.0, -np.exp(40), -40 * np.exp(40)),
    ("gumbel_l.logpdf(x * a)", 1e-12, 1.0, -1e-12, -1e-24),
    ("gumbel_r.logcdf(x * a)", -100.0, 1.0, np.exp(100), -100 * np.exp(100)),
    ("gumbel_r.pdf(x * a)", -800.0, 1.0, 0.0, 0.0),
    ("logistic.logsf(x * a)", 800.0, 1.0, -1.0, -800.0),
    ("lognorm.logcdf(x, a)", np.exp(-30), 1.0, MILLS * np.exp(30), MILLS * 30),
    ("lognorm.logsf(x, a)", np.exp(30), 1.0, -MILLS * np.exp(-30), MILLS * 30),
    ("norm.logcdf(x * a)", -1e5, 1.0, 1e5 + 1e-5, -1e10 - 1.0),
    ("norm.logsf(x * a)", 1e100, 1.0, -1e100, -1e200),
    ("rayleigh.logsf(x * a)", 1e5, 1.0, -1e5, -1e10),
    ("t.logpdf(0 * x, a)", 1.0, 1e8, 0.0, 0.25e-16),
    ("truncnorm.logpdf(x, a, 90.0)", 30.5, 30.0, -30.5, MILLS),
    ("truncnorm.logsf(x, a, 90.0)", 30.0, 29.0, -MILLS, None),
    ("weibull_min.logsf(x, a)", 40.0, 20.0, -20 * 40.0**19, -(40.0**20) * np.log(40)),
]


@pytest.mark.filterwarnings("ignore:.*encountered in")
@pytest.mark.parametrize("call, x, a, by_x, by_a", TAILS, ids=[each[0] for each in TAILS])
def test_slopes_in_the_tails(call, x, a, by_x, by_a):
    f = module(f"def f(x, a):\n    return scipy.stats.{call}\n").f
    for found, wanted in zip(grad(f, (0, 1))(x, a), (by_x, by_a), strict=True):
        assert wanted is None or found == pytest.approx(wanted, rel=2e-8, abs=0)


@pytest.mark.parametrize("x", [1e-30, 0.3, 0.9999])
@pytest.mark.parametrize("a", [0.2, 1.7, 30.0])
def test_derivatives_of_all_orders_by_a_shape(x, a):
    """Of beta's distribution with b = 1, which is x**a."""
    f = module("def f(a, x):\n    return scipy.stats.beta.cdf(x, a, 1.0)\n").f
    wanted, log = x**a, np.log(x)
    for order in (1, 2, 3):
        f = grad(f)
        assert f(a, x) == pytest.approx(wanted * log**order, rel=1e-7)


BOUNDED = ("beta", "chi2", "expon", "gamma", "halfnorm", "invgamma", "lognorm", "pareto")
BOUNDED += ("rayleigh", "triang", "truncnorm", "uniform", "weibull_min")


@pytest.mark.parametrize("method", ["pdf", "cdf", "sf"])
@pytest.mark.parametrize("name", BOUNDED)
def test_outside_of_the_support(name, method):
    """The functions are 0 or 1 there, whatever their parameters are, and so their slopes are 0."""
    rng = np.random.default_rng(0)
    shapes = {each: float(draw(rng)[0]) for each, draw in DISTRIBUTIONS[name][0].items()}
    names = ", ".join(["x", *shapes, "loc", "scale"])
    f = module(f"def f({names}):\n    return scipy.stats.{name}.{method}({names})\n").f
    arguments = [-5.5, *shapes.values(), 0.1, 1.3]
    assert f(*arguments) == (1.0 if method == "sf" else 0.0)
    slopes = grad(f, tuple(range(len(arguments))))(*arguments)
    assert slopes == (0.0,) * len(arguments)


@pytest.mark.parametrize("parameters", ["n, 0.3", "2.5, n / 9"])
def test_no_successes_of_fewer_than_no_trials(parameters):
    f = module(f"def f(n):\n    return scipy.stats.nbinom.cdf(-2, {parameters})\n").f
    assert grad(f)(2.5) == f(2.5) == 0.0


@pytest.mark.parametrize("name", ["norm", "logistic"])
@pytest.mark.parametrize("method", METHODS)
def test_what_a_method_calls_without_its_checks(name, method):
    """`norm._cdf(x)`, as those write who price options by the thousand."""
    inner = getattr(getattr(stats, name), f"_{method}")
    x = np.array([0.2, 0.7])
    slope = (inner(x + 1e-6) - inner(x - 1e-6)) / 2e-6
    np.testing.assert_allclose(jit(inner)(x), inner(x), rtol=1e-14)
    np.testing.assert_allclose(grad(lambda x: np.sum(inner(x)))(x), slope, rtol=1e-7)


def test_defaults_are_not_printed():
    f = module("def f(x):\n    return np.sum(scipy.stats.norm.logpdf(x))\n").f
    text = grad(f).source(np.ones(3))
    assert "loc" not in text
    assert "/ 1" not in text


def test_a_multivariate_normal_density():
    """The gradients of Gauss: precision times deviation."""
    f = module("def f(x, m, c):\n    return scipy.stats.multivariate_normal.logpdf(x, m, c)\n").f
    rng = np.random.default_rng(0)
    x, m, root = rng.normal(size=3), rng.normal(size=3), rng.normal(size=(3, 3))
    c = root @ root.T + np.eye(3)
    u = np.linalg.solve(c, x - m)
    x_bar, m_bar, c_bar = grad(f, (0, 1, 2))(x, m, c)
    np.testing.assert_allclose(x_bar, -u, rtol=1e-10)
    np.testing.assert_allclose(m_bar, u, rtol=1e-10)
    np.testing.assert_allclose(c_bar, (np.outer(u, u) - np.linalg.inv(c)) / 2, rtol=1e-10)


LOGPDF = scipy.stats.multivariate_normal.logpdf
PLACE, VARIANCES = np.array([0.4, -0.3, 0.9]), np.array([0.7, 1.6, 0.9])


@pytest.mark.parametrize(
    "f, x",
    [
        (lambda x: LOGPDF(x), 0.3),
        (lambda x: LOGPDF(x), PLACE[:1]),
        (lambda x: LOGPDF(x, None, 2.0), PLACE),
        (lambda x: LOGPDF(x, 0.2, 2.0, True), PLACE[:, None]),
        (lambda x: LOGPDF(x, VARIANCES), np.stack([PLACE, 2 * PLACE])),
        (lambda x: LOGPDF(x, VARIANCES), PLACE[None]),
        (lambda x: LOGPDF(PLACE, x, VARIANCES), VARIANCES * 1.5),
        (lambda x: LOGPDF(PLACE, VARIANCES, x), 0.8),
        (lambda x: LOGPDF(PLACE, VARIANCES, x), VARIANCES),
        (lambda x: LOGPDF(PLACE, VARIANCES, x, allow_singular=True), VARIANCES),
        (lambda x: LOGPDF(PLACE, None, x), 0.8),
        (lambda x: LOGPDF(x, VARIANCES, 2.0), PLACE[:1]),
        (lambda x: LOGPDF(x, VARIANCES, np.diag(PLACE**2)), 0.3),
        (lambda x: LOGPDF(x, None, np.diag(PLACE**2), True), PLACE[:, None]),
    ],
)
def test_a_multivariate_normal_density_of_variances(f, x):
    """A covariance may be a number or a vector, a mean none: numbers are points, then."""
    value, expected, h = jit(f)(x), f(x), 1e-6
    assert np.shape(value) == np.shape(expected)
    np.testing.assert_allclose(value, expected, rtol=1e-12)
    d = np.cos(np.arange(np.size(x))).reshape(np.shape(x)) if np.shape(x) else 1.0
    change = (np.sum(f(x + h * d)) - np.sum(f(x - h * d))) / (2 * h)
    assert np.sum(grad(f)(x) * d) == pytest.approx(change, rel=1e-7)
    assert np.sum(jvp(f, x, d)[1]) == pytest.approx(change, rel=1e-7)


def test_a_singular_normal_density():
    """That of the plane in which there is one, none beside it; else what it is by default."""
    call = "scipy.stats.multivariate_normal.logpdf(x, m, c, allow_singular=singular)"
    f = module(f"def f(x, m, c, singular):\n    return {call}\n").f
    rng = np.random.default_rng(0)
    basis = np.linalg.qr(rng.normal(size=(4, 4)))[0][:, :2]
    root = rng.normal(size=(2, 2)) + 2 * np.eye(2)
    s, t = rng.normal(size=(2, 2))
    x, m, c = basis @ s, basis @ t, basis @ root @ root.T @ basis.T
    inside = basis @ np.linalg.solve(root @ root.T, s - t)
    for got, expected in zip(grad(f, (0, 1))(x, m, c, True), (-inside, inside), strict=True):
        np.testing.assert_allclose(got, expected, rtol=1e-8)
    xs = np.stack([x, m, x + rng.normal(size=4)])
    expected = scipy.stats.multivariate_normal.logpdf(xs, m, c, allow_singular=True)
    assert list(np.isfinite(expected)) == [True, True, False]
    np.testing.assert_allclose(vmap(f, (0, None, None, None))(xs, m, c, True), expected)
    arguments = x, m, c + np.eye(4)
    for got, expected in zip(
        grad(f, (0, 1, 2))(*arguments, True), grad(f, (0, 1, 2))(*arguments, False), strict=True
    ):
        np.testing.assert_allclose(got, expected, rtol=1e-8, atol=1e-10)


CAPTURED_NORMAL, CAPTURED_GAMMA = stats.norm(0.3, 2.0), stats.gamma(2.0, scale=1.5)
CAPTURED_POISSON = stats.poisson(3.0)
CAPTURED_PLANE = stats.multivariate_normal([0.1, -0.2], [[2.0, 0.3], [0.3, 1.0]])


def frozen_inside(x):
    plane = stats.multivariate_normal(np.stack([x, 2 * x]), np.eye(2), allow_singular=True)
    return stats.norm(loc=x).cdf(0.4) + stats.gamma(x + 1, scale=x).logpdf(0.7) + plane.logpdf(x)


def frozen_outside(x):
    density = CAPTURED_GAMMA.pdf(x) + CAPTURED_POISSON.pmf(2) * x + CAPTURED_GAMMA.ppf(0.3) * x
    return density + CAPTURED_NORMAL.logpdf(x) + CAPTURED_PLANE.pdf(np.stack([x, x**2]))


@pytest.mark.parametrize("function", [frozen_inside, frozen_outside])
def test_a_distribution_with_its_parameters(function):
    x, h = 0.8, 1e-6
    slope = (function(x + h) - function(x - h)) / (2 * h)
    value, tangent = jvp(function, x, 1.0)
    np.testing.assert_allclose(value, function(x), rtol=1e-12)
    np.testing.assert_allclose([grad(function)(x), tangent], slope, rtol=1e-6)
    points = np.array([0.5, 0.8, 1.3])
    np.testing.assert_allclose(vmap(function)(points), [function(each) for each in points])


def test_another_distribution_in_its_place_is_seen(monkeypatch):
    def f(x):
        return CAPTURED_NORMAL.logpdf(x)

    g = grad(f)
    assert g(0.8) == pytest.approx(-(0.8 - 0.3) / 4)
    monkeypatch.setitem(globals(), "CAPTURED_NORMAL", stats.norm(0.0, 1.0))
    assert g(0.8) == pytest.approx(-0.8)
