"""scipy.stats: every method of every distribution in every mode, in all its parameters."""

import numpy as np
import pytest

from rules.properties import Draw, case, check_all, integers, module, positive, real
from s2s_ad import grad
from s2s_ad.diagnostics import DerivativeError

METHODS = ("pdf", "logpdf", "cdf", "logcdf", "sf", "logsf", "ppf", "isf")
LOCATED = {"scale": positive(3), "loc": real(3)}


def between(low, high):
    return Draw((3,), lambda rng, shape: rng.uniform(low, high, shape))


#: distribution -> its shape parameters, where the standard variable is drawn from, and those
#: parameters in which the distribution function has no derivative
DISTRIBUTIONS = {
    "beta": ({"a": between(1.2, 2.5), "b": between(1.2, 2.5)}, (0.2, 0.8), ()),
    "cauchy": ({}, (-2.0, 2.0), ()),
    "chi2": ({"df": between(2.0, 5.0)}, (0.5, 3.0), ()),
    "expon": ({}, (0.2, 2.0), ()),
    "f": ({"dfn": between(2.0, 5.0), "dfd": between(2.0, 5.0)}, (0.5, 2.0), ("dfn", "dfd")),
    "gamma": ({"a": between(0.8, 3.0)}, (0.5, 3.0), ()),
    "gennorm": ({"beta": between(1.2, 2.5)}, (0.3, 1.5), ("beta",)),
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
ARRAYS = [
    case(f"scipy.stats.{name}(x{options})", x=positive(4, 5), general=False)
    for name in ("gmean", "hmean", "kurtosis", "sem", "skew", "zscore")
    for options in ("", ", axis=1", ", axis=None")
]
SECOND_ORDER_REFUSED = ("beta.cdf", "beta.sf", "beta.logcdf", "beta.logsf", "beta.ppf", "beta.isf")
EVERY = 22  # of the cases is checked by `make test`, all by `make test-all`
CASES = CONTINUOUS + DISCRETE + ARRAYS


@pytest.mark.parametrize(
    "each",
    [
        pytest.param(each, id=str(each), marks=[pytest.mark.slow] if place % EVERY else [])
        for place, each in enumerate(CASES)
        if not any(f".{name}(" in each.text for name in SECOND_ORDER_REFUSED)
        and "stats.t." not in each.text
        and "nbinom.cdf" not in each.text
        and "nbinom.sf" not in each.text
    ],
)
def test_method(each):
    check_all(each)


@pytest.mark.parametrize(
    "call",
    [
        "beta.cdf(x, a, 2.0)",
        "beta.ppf(x, a, 2.0)",
        "t.cdf(x, a)",
        "t.ppf(x, a)",
        "beta.logsf(x, a, 2.0)",
    ],
)
def test_slopes_by_series(call):
    """Those that are series have a first derivative, against differences, and no second."""
    f = module(f"def f(x, a):\n    return scipy.stats.{call}\n").f
    slopes = grad(f, (0, 1))(0.3, 1.7)
    step = 1e-5
    near = [(f(0.3 + step, 1.7) - f(0.3 - step, 1.7)), (f(0.3, 1.7 + step) - f(0.3, 1.7 - step))]
    np.testing.assert_allclose(slopes, np.array(near) / (2 * step), rtol=1e-6)
    with pytest.raises(DerivativeError, match="closed form"):
        grad(grad(f, 1), 1)(0.3, 1.7)


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
