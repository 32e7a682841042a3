"""Functions that are stable where a plain formula is not, at arguments where that shows: the value,
the slope and the curvature are their limits, to the last digits."""

import math

import numpy as np
import pytest

from rules.properties import module
from s2s_ad import grad, jvp

pytestmark = pytest.mark.thinned(2)

SMALL = 1e-10
TAIL = -30.0
#: phi(t) / Phi(t) far out, from the asymptotic series of Mills' ratio: t + 1/t - 2/t**3 + 10/t**5
MILLS = 30 + 1 / 30 - 2 / 30**3 + 10 / 30**5 - 74 / 30**7 + 706 / 30**9 - 8162 / 30**11
#: 1 - 1/t**2 + 6/t**4 - 50/t**6: minus the curvature of log(Phi)
CURVE = 1 - 1 / 30**2 + 6 / 30**4 - 50 / 30**6 + 518 / 30**8 - 6354 / 30**10
ROOT_PI = math.sqrt(math.pi)
FAR = math.sqrt(2e10 - math.log(4e10 * math.pi))  # log(Phi(-FAR)) is -1e10
#: the integrals of sin(t)**2 and sin(t)**4 from 0 to 1.5
SINE_2 = 0.75 - math.sin(3.0) / 4
SINE_4 = 9 / 16 - math.sin(3.0) / 4 + math.sin(6.0) / 32
#: the density of the normal distribution
PHI_1, PHI_2 = (math.exp(-(x**2) / 2) / math.sqrt(2 * math.pi) for x in (1, 2))
I_FAR, K_FAR = math.sqrt(0.5 / math.pi), math.sqrt(math.pi / 2)
GLAISHER, ZETA_3 = 1.2824271291006226, 1.2020569031595943
#: the function of x, x, its slope there, its curvature there
LIMITS = [
    # logarithms and exponentials near zero and far out
    ("np.log1p(x)", 1e-20, 1.0, -1.0),
    ("np.log1p(x)", 1e200, 1e-200, 0.0),
    ("np.log1p(x)", -1 + 2**-40, 2.0**40, -(2.0**80)),
    ("np.expm1(x)", 1e-20, 1.0, 1.0),
    ("np.expm1(x)", -800.0, 0.0, 0.0),
    ("np.exp(x)", -800.0, 0.0, 0.0),
    ("math.log1p(x)", 1e-20, 1.0, -1.0),
    ("math.expm1(x)", 1e-20, 1.0, 1.0),
    ("np.sqrt(x)", 1e-300, 0.5e150, None),
    ("np.hypot(x, 1e200)", 1e200, math.sqrt(0.5), None),
    ("np.hypot(x, 3e-200)", 4e-200, 0.8, None),
    # hyperbolic and inverse functions
    ("np.tanh(x)", 400.0, 0.0, 0.0),
    ("np.tanh(x)", 1e-20, 1.0, -2e-20),
    ("np.sinh(x)", 1e-20, 1.0, 1e-20),
    ("np.arcsinh(x)", 1e100, 1e-100, 0.0),
    ("np.arcsinh(x)", -1e100, 1e-100, 0.0),
    ("np.arccosh(x)", 1e200, 1e-200, 0.0),
    ("np.arctan(x)", 1e200, 0.0, 0.0),
    ("np.arctanh(x)", 1e-20, 1.0, 2e-20),
    ("np.arccosh(x)", 1 + 2**-40, 2**20 / math.sqrt(2 + 2**-40), None),
    ("np.arcsin(x)", 1 - 2**-40, 2**20 / math.sqrt(2 - 2**-40), None),
    ("np.sinc(x)", 0.0, 0.0, -(math.pi**2) / 3),
    ("np.sinc(x)", 1e-9, -(math.pi**2) / 3 * 1e-9, -(math.pi**2) / 3),
    ("np.sinc(x)", 1e-3, None, -(math.pi**2) / 3 + math.pi**4 * 1e-6 / 10),
    # sums of exponentials
    ("np.logaddexp(x, 0.0)", 1000.0, 1.0, 0.0),
    ("np.logaddexp(x, 0.0)", -1000.0, 0.0, 0.0),
    ("np.logaddexp(x, -1e4)", -1e4, 0.5, 0.25),
    ("np.logaddexp(x, 1e4)", 1e4, 0.5, 0.25),
    ("np.logaddexp(x, -np.inf)", 3.0, 1.0, 0.0),
    ("np.logaddexp(x, 0.0)", -40.0, math.exp(-40), math.exp(-40)),
    ("np.logaddexp2(x, 1e4)", 1e4, 0.5, 0.25 * math.log(2)),
    ("scipy.special.logsumexp(np.stack([x, -1e4]))", -1e4, 0.5, 0.25),
    ("scipy.special.logsumexp(np.stack([x, 1e4]))", 1e4, 0.5, 0.25),
    ("scipy.special.logsumexp(np.stack([x, 0.0]))", 1000.0, 1.0, 0.0),
    ("scipy.special.logsumexp(np.stack([x, 0.0]))", -40.0, math.exp(-40), math.exp(-40)),
    ("scipy.special.softmax(np.stack([x, 1e4]))[0]", 1e4, 0.25, 0.0),
    ("scipy.special.log_softmax(np.stack([x, 0.0]))[0]", -1000.0, 1.0, 0.0),
    # the logistic family
    ("scipy.special.expit(x)", 800.0, 0.0, 0.0),
    ("scipy.special.expit(x)", -800.0, 0.0, 0.0),
    ("scipy.special.expit(x)", -40.0, math.exp(-40), math.exp(-40)),
    ("scipy.special.log_expit(x)", -1000.0, 1.0, 0.0),
    ("scipy.special.log_expit(x)", 40.0, math.exp(-40), -math.exp(-40)),
    ("scipy.special.logit(x)", 1e-200, 1e200, None),
    ("scipy.special.logit(x)", 1e-20, 1e20, -1e40),
    # the error function and its kin
    # scaled Bessel functions far out, of which two nearly cancel, and elliptic integrals near m = 0
    ("scipy.special.i0e(x)", 1e10, -I_FAR / 2e15 * (1 + 3 / 8e10), I_FAR * 0.75e-25),
    ("scipy.special.i0e(x)", -1e10, I_FAR / 2e15 * (1 + 3 / 8e10), I_FAR * 0.75e-25),
    ("scipy.special.i1e(x)", 1e10, -I_FAR / 2e15 * (1 - 9 / 8e10), I_FAR * 0.75e-25),
    ("scipy.special.k0e(x)", 1e10, -K_FAR / 2e15 * (1 - 3 / 8e10), K_FAR * 0.75e-25),
    ("scipy.special.k1e(x)", 1e10, -K_FAR / 2e15 * (1 + 9 / 8e10), K_FAR * 0.75e-25),
    ("scipy.stats.vonmises.logpdf(0.0, x)", 1e8, 0.5e-8 + 0.125e-16, -0.5e-16),
    ("scipy.stats.poisson.entropy(x)", 1e6, 0.5e-6 + 1e-12 / 12 + 1e-18 / 12, None),
    ("scipy.stats.poisson.entropy(x)", 1e-9, math.log(1e9) + 1e-9 * math.log(2), -1e9),
    # by R. A. Fisher's expansion in 1 / df (1925)
    (
        "scipy.stats.t.cdf(1.0, x)",
        1e6,
        PHI_1 * (0.5e-12 - 0.25e-18 - 0.0625e-24),
        -PHI_1 * (1e-18 - 0.75e-24),
    ),
    ("scipy.stats.t.cdf(-1.0, x)", 1e6, -PHI_1 * (0.5e-12 - 0.25e-18 - 0.0625e-24), None),
    ("scipy.stats.t.sf(2.0, x)", 1e6, -PHI_2 * (2.5e-12 + 2.375e-18 - 12.921875e-24), None),
    ("scipy.special.ellipeinc(1.5, x)", 0.0, -SINE_2 / 2, -SINE_4 / 4),
    ("scipy.special.ellipeinc(1.5, x)", 1e-10, -SINE_2 / 2 - SINE_4 / 4e10, -SINE_4 / 4),
    ("scipy.special.ellipkinc(1.5, x)", 0.0, SINE_2 / 2, 0.75 * SINE_4),
    ("scipy.special.ellipkinc(1.5, x)", -1e-10, SINE_2 / 2 - 0.75e-10 * SINE_4, 0.75 * SINE_4),
    ("scipy.special.erf(x)", 1e-20, 2 / ROOT_PI, -4e-20 / ROOT_PI),
    ("scipy.special.erfc(x)", 20.0, -2 / ROOT_PI * math.exp(-400), 80 / ROOT_PI * math.exp(-400)),
    ("scipy.special.erfcx(x)", 1e-20, -2 / ROOT_PI, 2.0),
    ("scipy.special.log_ndtr(x)", TAIL, MILLS, -CURVE),
    ("scipy.special.log_ndtr(x)", -1e8, 1e8, None),
    ("scipy.special.ndtri_exp(x)", -1e10, 1 / (FAR + 1 / FAR), None),
    ("scipy.special.erfcx(x)", 1e5, -(1 - 1.5e-10) / (1e10 * ROOT_PI), 2 / (1e15 * ROOT_PI)),
    ("scipy.special.expit(x)", 40.0, math.exp(-40), -math.exp(-40)),
    ("scipy.special.log_ndtr(x)", 40.0, 0.0, 0.0),
    ("scipy.special.log_ndtr(x)", 0.0, math.sqrt(2 / math.pi), -2 / math.pi),
    ("scipy.stats.norm.logcdf(x)", TAIL, MILLS, -CURVE),
    ("scipy.stats.norm.logsf(x)", -TAIL, -MILLS, -CURVE),
    ("scipy.stats.norm.logpdf(x)", 1e4, -1e4, -1.0),
    ("scipy.stats.logistic.logpdf(x)", 1000.0, -1.0, 0.0),
    ("scipy.stats.logistic.logcdf(x)", -1000.0, 1.0, 0.0),
    # x log x and its kin at zero
    ("scipy.special.xlogy(x, x + 2.0)", 0.0, math.log(2.0), 1.0),
    ("scipy.special.xlog1py(x, SMALL)", 2.0, math.log1p(SMALL), 0.0),
    ("scipy.special.xlog1py(2.0, x)", SMALL, 2 / (1 + SMALL), -2 / (1 + SMALL) ** 2),
    # quotients of differences
    ("scipy.special.exprel(x)", 0.0, 0.5, 1 / 3),
    ("scipy.special.exprel(x)", SMALL, 0.5 + SMALL / 3, 1 / 3 + SMALL / 4),
    ("scipy.special.exprel(x)", 1e-4, 0.5 + 1e-4 / 3 + 1e-8 / 8, 1 / 3 + 1e-4 / 4 + 1e-8 / 10),
    ("scipy.special.cosm1(x)", SMALL, -SMALL, -1.0),
    ("scipy.special.boxcox(x, 0.0)", 2.0, 0.5, -0.25),
    ("scipy.special.boxcox(2.0, x)", 0.0, math.log(2) ** 2 / 2, math.log(2) ** 3 / 3),
    ("scipy.special.boxcox(2.0, x)", 1e-13, math.log(2) ** 2 / 2, math.log(2) ** 3 / 3),
    ("scipy.special.boxcox1p(x, 0.0)", 1e-20, 1.0, -1.0),
    ("scipy.special.boxcox1p(1.0, x)", 0.0, math.log(2) ** 2 / 2, math.log(2) ** 3 / 3),
    ("scipy.special.inv_boxcox(x, 0.0)", 0.5, math.exp(0.5), math.exp(0.5)),
    # elliptic integrals at zero, where quotients are 0 / 0
    ("scipy.special.ellipk(x)", 1e-14, math.pi / 8, None),
    ("scipy.special.ellipe(x)", 0.0, -math.pi / 8, None),
    ("scipy.special.ellipkm1(x)", 1.0, -math.pi / 8, None),
    # the zeta function left of zero, the gamma function's poles
    ("scipy.special.zetac(x)", -1.0, 1 / 12 - math.log(GLAISHER), None),
    ("scipy.special.zetac(x)", -2.0, -ZETA_3 / (4 * math.pi**2), None),
    ("scipy.special.zetac(x)", 0.0, -math.log(2 * math.pi) / 2, None),
    ("scipy.special.rgamma(x)", 0.0, 1.0, 2 * np.euler_gamma),
    ("scipy.special.rgamma(x)", -3.0, -6.0, None),
    # logarithms of gamma functions
    ("scipy.special.gammaln(x)", 1e-10, -1e10 - np.euler_gamma, 1e20),
    ("scipy.special.gammaln(x)", 1e10, math.log(1e10) - 0.5e-10, 1e-10),
    ("scipy.special.entr(x)", 1e-200, -1 + 200 * math.log(10), None),
    ("scipy.special.rel_entr(x, 1e-200)", 1e-200, 1.0, None),
    ("scipy.special.kl_div(x, 1e-20)", 1e-20, 0.0, 1e20),
    ("scipy.special.pseudo_huber(1.0, x)", 1e10, 1.0, 0.0),
    ("scipy.special.pseudo_huber(1.0, x)", 1e-10, 1e-10, 1.0),
]


@pytest.mark.thinned(4)
@pytest.mark.parametrize("text, x, slope, curve", LIMITS)
def test_limit(text, x, slope, curve):
    made = module(f"import math\nSMALL = {SMALL}\ndef f(x):\n    return {text}\n")
    x = np.float64(x)
    if slope is not None:
        assert grad(made.f)(x) == pytest.approx(slope, rel=1e-12, abs=1e-300)
    if curve is not None:
        _, second = jvp(grad(made.f), (x,), (1.0,))
        assert second == pytest.approx(curve, rel=1e-9, abs=1e-12 * abs(slope or 0.0))
        assert grad(grad(made.f))(x) == pytest.approx(second, rel=1e-9, abs=1e-12 * abs(slope or 0))
