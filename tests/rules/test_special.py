"""scipy.special: each function in every mode, and at the edges that its formula singles out."""

import math

import numpy as np
import pytest
import scipy.special

from rules.properties import (
    Draw,
    case,
    check_all,
    integers,
    module,
    positive,
    real,
    some_slow,
    unit,
)
from s2s_ad import grad
from s2s_ad.diagnostics import DerivativeError


def between(low, high, *shape):
    return Draw(shape, lambda rng, shape: rng.uniform(low, high, shape))


def probability(*shape):
    return between(0.15, 0.85, *shape)


ANY = "cosm1 dawsn erf erfc erfcx erfi exp10 exp2 expit expm1 exprel i0 i1 j0 j1 log_expit log_ndtr"
ANY += " ndtr sindg cosdg softplus wrightomega"
POSITIVE = "bei beip ber berp cbrt cotdg digamma entr exp1 expi gamma gammaln i0e i1e itstruve0 k0"
POSITIVE += " k0e k1 k1e kei keip ker kerp log1p loggamma psi rgamma spence y0 y1 factorial"
PROBABILITY = "ellipe ellipk ellipkm1 erfinv erfcinv logit ndtri tandg"
LIKE = {"general": False}

UNARY = [
    case(f"scipy.special.{name}(x)", x=draw(2, 3))
    for names, draw in [(ANY, real), (POSITIVE, positive), (PROBABILITY, probability)]
    for name in names.split()
]
UNARY += [
    case("scipy.special.ndtri_exp(x)", x=between(-2.0, -0.5, 3)),
    case("scipy.special.kolmogorov(x)", x=between(0.5, 2.0, 3)),
    case("scipy.special.exprel(x)", x=between(-3.0, 3.0, 5)),
    case("scipy.special.zetac(x)", x=between(1.5, 4.0, 3)),
    case("scipy.special.gamma(x)", x=real()),
    case("scipy.special.erf(x)", x=real(0)),
]
SEVERAL = [
    case(f"scipy.special.{name}(x)[{place}]", x=positive(3))
    for name, count in [("airy", 4), ("airye", 4), ("fresnel", 2), ("sici", 2), ("shichi", 2)]
    for place in range(count)
]
SEVERAL += [
    case(f"scipy.special.ellipj(u, m)[{place}]", u=real(3), m=probability(2, 1))
    for place in range(4)
]
PAIRS = [
    case(f"scipy.special.{name}(a, b)", a=positive(2, 1), b=positive(3))
    for name in "agm beta betaln elliprc kl_div poch powm1 rel_entr xlog1py xlogy".split()
]
PAIRS += [
    case(f"scipy.special.{name}(a, x)", a=positive(3), x=positive(2, 1))
    for name in ("gammainc", "gammaincc", "chdtr", "chdtrc")
]
PAIRS += [
    case(f"scipy.special.{name}(a, p)", a=between(1.0, 3.0, 3), p=probability(3))
    for name in ("gammaincinv", "gammainccinv", "chdtri")
]
PAIRS += [
    case("scipy.special.binom(n, k)", n=between(2.0, 4.0, 3), k=between(0.5, 1.5, 3)),
    case("scipy.special.boxcox(x, l)", x=positive(3), l=real(3)),
    case("scipy.special.boxcox1p(x, l)", x=positive(3), l=real(3)),
    case("x * scipy.special.comb(5, 2, exact=True)", x=between(0.5, 1.5, 3)),
    case("scipy.special.comb(n, k)", n=between(2.0, 4.0, 3), k=between(0.5, 1.5, 3)),
    case("scipy.special.ellipeinc(x, m)", x=positive(3), m=probability(3)),
    case("scipy.special.ellipkinc(x, m)", x=between(0.2, 1.2, 3), m=probability(3)),
    case("scipy.special.huber(d, r)", d=positive(3), r=between(2.5, 3.5, 3)),
    case("scipy.special.inv_boxcox(x, l)", x=positive(3), l=probability(3)),
    case("scipy.special.inv_boxcox1p(x, l)", x=positive(3), l=probability(3)),
    case("scipy.special.owens_t(h, a)", h=real(3), a=real(3)),
    case("scipy.special.pseudo_huber(d, r)", d=positive(3), r=real(3)),
    case("scipy.special.zeta(x, q)", x=between(1.5, 4.0, 3), q=positive(3)),
]
MANY = [
    case("scipy.special.elliprd(a, b, c)", a=positive(3), b=positive(2, 1), c=positive(3)),
    case("scipy.special.elliprf(a, b, c)", a=positive(3), b=positive(2, 1), c=positive(3)),
    case("scipy.special.elliprg(a, b, c)", a=positive(3), b=positive(2, 1), c=positive(3)),
    case("scipy.special.gdtr(a, b, x)", a=positive(3), b=positive(3), x=positive(3)),
    case("scipy.special.gdtrc(a, b, x)", a=positive(3), b=positive(3), x=positive(3)),
]
ORDERS = [
    case(f"scipy.special.{name}(1.5, x)", x=positive(3))
    for name in "iv ive jv jve kv kve yv yve struve modstruve hyp0f1 ivp jvp kvp yvp".split()
]
ORDERS += [
    case(f"scipy.special.{name}(2, x)", x=positive(3)) for name in "jn kn yn expn polygamma".split()
]
ORDERS += [
    case(f"scipy.special.eval_{name}({degree}, {parameters}x)", x=unit(3))
    for name, parameters in [
        ("chebyt", ""),
        ("chebyu", ""),
        ("gegenbauer", "0.5, "),
        ("genlaguerre", "0.5, "),
        ("hermite", ""),
        ("hermitenorm", ""),
        ("jacobi", "0.5, 0.3, "),
        ("laguerre", ""),
        ("legendre", ""),
    ]
    for degree in (0, 3)
]
ORDERS += [case(f"scipy.special.spherical_{name}n(2, x)", x=positive(3)) for name in "ijky"]
ORDERS += [
    case("scipy.special.bdtr(2, 5, p) + scipy.special.bdtrc(2, 5, p) * p", p=probability(3)),
    case("scipy.special.eval_hermite(i, x)", i=integers(3), x=real(3)),
    case("scipy.special.fdtr(3.0, 4.0, x) * scipy.special.fdtrc(3.0, 4.0, x)", x=positive(3)),
    case("scipy.special.hyp1f1(1.5, 2.5, x)", x=positive(3)),
    case("scipy.special.hyp2f1(1.5, 0.5, 2.5, x)", x=probability(3)),
    case("scipy.special.hyperu(1.5, 2.5, x)", x=positive(3)),
    case("scipy.special.jvp(1.5, x, 3)", x=positive(3)),
    case("scipy.special.lpmv(1, 2, x)", x=unit(3)),
    case("scipy.special.multigammaln(x, 3)", x=between(2.0, 4.0, 3)),
    case("scipy.special.pdtr(3.0, x) * scipy.special.pdtrc(2.0, x)", x=positive(3)),
    case("scipy.special.spherical_jn(2, x, derivative=True)", x=positive(3)),
    case("scipy.special.stdtr(3.0, x)", x=real(3)),
    case("scipy.special.stdtrit(3.0, p)", p=probability(3)),
]
ALONG = [
    case(f"scipy.special.{name}(x{options})", x=real(2, 3))
    for name in ("logsumexp", "softmax", "log_softmax")
    for options in ("", ", axis=1", ", axis=0")
]
ALONG += [
    case("scipy.special.logsumexp(x, axis=1, b=k)", x=real(2, 3), k=positive(3), **LIKE),
    case("scipy.special.logsumexp(x, b=np.array([1.0, -0.2, 0.0]))", x=real(3), **LIKE),
    case(
        "scipy.special.logsumexp(x, 0, -k, True, return_sign=True)[0]",
        x=real(3, 2),
        k=positive(3, 1),
        **LIKE,
    ),
]
ALONG += [case("scipy.special.logsumexp(x, axis=-1, keepdims=True)", x=real(2, 3))]
MANY += [
    case("scipy.special.voigt_profile(x, s, g)", x=real(3), s=positive(3), g=positive(3)),
    case("np.abs(scipy.special.wofz(x + 1j * y))", x=real(3), y=positive(3), **LIKE),
    case("np.real(scipy.special.lambertw(x))", x=positive(3), **LIKE),
    case("np.abs(scipy.special.hankel1(1.5, x))", x=positive(3), **LIKE),
    case("np.imag(scipy.special.sph_harm_y(3, 1, x, y))", x=positive(3), y=real(3), **LIKE),
]
CASES = UNARY + SEVERAL + PAIRS + MANY + ORDERS + ALONG
EVERY = 15  # of the cases is checked by `make test`, all by `make test-all`


@pytest.mark.thinned(20)
@pytest.mark.parametrize("each", some_slow(CASES, EVERY))
def test_function(each):
    check_all(each)


@pytest.mark.parametrize("d", [1, 2, 4])
def test_a_dimension_that_is_an_argument(d):
    """The sum of log-gammas that stands on SciPy's page has the sum of digammas for its slope."""
    f = module("def f(a, d):\n    return np.sum(scipy.special.multigammaln(a, d))\n").f
    a = np.array([2.5, 7.0])
    expected = sum(scipy.special.digamma(a - i / 2) for i in range(d))
    np.testing.assert_allclose(grad(f)(a, d), expected, rtol=1e-13)


@pytest.mark.parametrize(
    "text, at, slope",
    [
        ("scipy.special.boxcox(2.0, x)", 0.0, np.log(2.0) ** 2 / 2),
        ("scipy.special.spence(x)", 1.0, -1.0),
        ("scipy.special.agm(x, 3.0)", 3.0, 0.5),
        ("scipy.special.elliprc(x, 4.0)", 4.0, -1 / 48),
        ("scipy.special.i1(x)", 0.0, 0.5),
        ("scipy.special.j1(x)", 0.0, 0.5),
        ("scipy.special.exprel(x)", 0.0, 0.5),
        ("scipy.special.exprel(x)", -1e5, 1e-10),
        ("scipy.special.logsumexp(np.array([x, 1e4]), b=np.array([3.0, 1.0]))", 1e4, 0.75),
        ("scipy.special.kolmogorov(x)", 1e-3, 0.0),
        ("scipy.special.kolmogorov(x)", 9.0, -72 * np.exp(-162.0)),
        ("scipy.special.sici(x)[0]", 0.0, 1.0),
        ("scipy.special.eval_legendre(3, x)", 1.0, 6.0),
        ("scipy.special.logsumexp(np.array([x, 1000.0]))", 1000.0, 0.5),
        ("scipy.special.log_ndtr(x)", -40.0, 40.0249688472),
    ],
)
def test_where_the_formula_is_a_limit(text, at, slope):
    """Values by hand: series at the point, and the asymptotic series of Mills' ratio."""
    f = module(f"def f(x):\n    return {text}\n").f
    np.testing.assert_allclose(grad(f)(at), slope, rtol=1e-9)


@pytest.mark.parametrize("call", ["jv(x, 1.5)", "stdtr(x, 0.5)", "hyp1f1(x, 1.0, 0.5)"])
def test_derivative_without_a_closed_form(call):
    f = module(f"def f(x):\n    return scipy.special.{call}\n").f
    with pytest.raises(DerivativeError, match="with respect to this argument") as caught:
        grad(f)(1.5)
    assert caught.value.origin.text.strip() == f"return scipy.special.{call}"


def test_incomplete_gamma_over_its_range():
    """The slope in the shape, against differences, where it is small and where it is large."""
    f = module("def f(a, x):\n    return scipy.special.gammainc(a, x)\n").f
    for a in (0.1, 1.0, 7.5, 60.0):
        for x in (0.01, 1.0, 7.0, 70.0):
            step = 1e-5 * a
            near = scipy.special.gammainc(a + step, x) - scipy.special.gammainc(a - step, x)
            np.testing.assert_allclose(grad(f)(a, x), near / (2 * step), rtol=1e-6, atol=1e-10)


@pytest.mark.parametrize("call", ["betainc(a, 2.0, x)", "gammainc(a, x)", "betaincinv(a, 2.0, x)"])
@pytest.mark.parametrize("x", [0.0, 1.0, 3.0, -1.0, np.inf, np.nan])
def test_series_come_to_an_end(call, x):
    """At the ends of their range, and beyond it: a number or nan, and never a loop without end."""
    f = module(f"def f(a, x):\n    return scipy.special.{call}\n").f
    with np.errstate(all="ignore"):
        assert np.shape(grad(f)(1.5, x)) == ()


CATALAN = 0.915965594177219015


@pytest.mark.parametrize(
    "x, slope",
    [
        (1.0, math.pi**2 / 6),
        (0.5, math.pi**2 / 2),
        (0.25, math.pi**2 + 8 * CATALAN),
        (2.0, math.pi**2 / 6 - 1),
        (-0.5, math.pi**2 / 2 + 4),
        (-1.5, math.pi**2 / 2 + 4 + 4 / 9),
        (1e9, 1e-9 + 0.5e-18),
        (1e-9, 1e18 + math.pi**2 / 6),
        (math.inf, 0.0),
        (-1.0, math.inf),
        (math.nan, math.nan),
    ],
)
def test_slope_of_digamma(x, slope):
    """Known values of the trigamma function, alone and in a large array with all others."""
    f = module("def f(x):\n    return np.sum(scipy.special.psi(x))\n").f
    np.testing.assert_allclose(grad(f)(x), slope, rtol=1e-14)
    many = np.tile([x, 1.0, -0.5], 30_000)
    np.testing.assert_allclose(grad(f)(many)[-3], slope, rtol=1e-14)
