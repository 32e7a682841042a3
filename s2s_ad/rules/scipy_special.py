"""scipy.special: error functions, logistic and entropy functions, powers, exponential integrals.

Formulas without a source are those of the NIST Digital Library of Mathematical Functions
(https://dlmf.nist.gov), in the chapter of the function's family.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from s2s_ad import runtime
from s2s_ad.core.registry import register
from s2s_ad.rules import (  # noqa: F401  (they register their rows)
    scipy_special_bessel,
    scipy_special_composites,
    scipy_special_elliptic,
    scipy_special_gamma,
)
from s2s_ad.rules.scipy_special_calls import Special, called, inverse_mills, row

POSITIVE = {"domain": "positive"}
UNIT = {"domain": "unit"}
HOLOMORPHIC = {"holomorphic": True}
COMPLEX = {"holomorphic": True, "gives_complex": True}

# ---- error functions and the normal distribution -------------------------------------------------


def erfcx_slope(x: Any, y: Any) -> Any:
    """2 * x * y - 2 / sqrt(pi); far out, where the two cancel, the asymptotic series."""
    if x.builder.may_be_complex(x):
        return 2 * x * y - 2 / math.sqrt(math.pi)
    far = 1 / np.maximum(x, 100.0) ** 2
    series = far * (1 - far * (1.5 - far * (3.75 - far * 13.125)))
    return np.where(x < 100, 2 * x * y - 2 / math.sqrt(math.pi), series / -math.sqrt(math.pi))


def kolmogorov_density(x: Any) -> Any:
    """Of the two series, which are transforms of each other, the one that converges at once."""
    left, right = np.clip(x, 1e-2, 1.0), np.maximum(x, 1.0)
    few = [(2 * k - 1) ** 2 * math.pi**2 / 8 for k in (1, 2, 3)]
    of_left = sum(np.exp(-c / left**2) * (2 * c / left**4 - 1 / left**2) for c in few)
    of_right = sum((-1) ** (k + 1) * k**2 * np.exp(-2 * k**2 * right**2) for k in range(1, 5))
    return np.where(x < 1, math.sqrt(2 * math.pi) * of_left, 8 * right * of_right)


row("dawsn", "y_bar * (1 - 2 * x * y)", **HOLOMORPHIC)
row("erf", "y_bar * (2 / math.sqrt(math.pi) * np.exp(-(x**2)))", **HOLOMORPHIC)
row("erfc", "-y_bar * (2 / math.sqrt(math.pi) * np.exp(-(x**2)))", **HOLOMORPHIC)
row("erfcinv", "-y_bar * (math.sqrt(math.pi) / 2 * np.exp(y**2))", **POSITIVE)
row("erfcx", "y_bar * slope(x, y)", helpers={"slope": erfcx_slope}, **HOLOMORPHIC)
row("erfi", "y_bar * (2 / math.sqrt(math.pi) * np.exp(x**2))", **HOLOMORPHIC)
row("erfinv", "y_bar * (math.sqrt(math.pi) / 2 * np.exp(y**2))", **UNIT)
row("kolmogorov", "-y_bar * density(x)", helpers={"density": kolmogorov_density}, **POSITIVE)
row(
    "log_ndtr",
    "y_bar * inverse_mills(x)",
    helpers={"inverse_mills": inverse_mills},
    **HOLOMORPHIC,
)
row("ndtr", "y_bar * (np.exp(-(x**2) / 2) / math.sqrt(2 * math.pi))", **HOLOMORPHIC)
row("ndtri", "y_bar * (math.sqrt(2 * math.pi) * np.exp(y**2 / 2))", **UNIT)
row("ndtri_exp", "y_bar * (math.sqrt(math.pi / 2) * special.erfcx(y / -math.sqrt(2)))")
row(
    "owens_t",
    "-y_bar * (np.exp(-(h**2) / 2) * special.erf(a * h / math.sqrt(2)) / math.sqrt(8 * math.pi))",
    "y_bar * (np.exp(-(h**2) * (1 + a**2) / 2) / (2 * math.pi * (1 + a**2)))",
    operands=("h", "a"),
)


def voigt_z(x: Any, sigma: Any, gamma: Any) -> Any:
    """The profile is the real part of wofz(z), over sqrt(2 * pi) * sigma."""
    return (x + 1j * gamma) / (math.sqrt(2) * sigma)


def voigt_slope(x: Any, sigma: Any, gamma: Any, special: Any) -> Any:
    """The derivative of wofz at z."""
    z = voigt_z(x, sigma, gamma)
    return 2j / math.sqrt(math.pi) - 2 * z * special.wofz(z)


SLOPE, WIDTH = "voigt_slope(x, sigma, gamma, special)", "(2 * math.sqrt(math.pi) * sigma**2)"
TURNED = f"np.real({SLOPE} * voigt_z(x, sigma, gamma)) / (math.sqrt(2 * math.pi) * sigma)"
row(
    "voigt_profile",
    f"y_bar * (np.real({SLOPE}) / {WIDTH})",
    f"-y_bar * ((y + {TURNED}) / sigma)",
    f"-y_bar * (np.imag({SLOPE}) / {WIDTH})",
    operands=("x", "sigma", "gamma"),
    domain="positive",
    helpers={"voigt_slope": voigt_slope, "voigt_z": voigt_z},
)
row("wofz", "y_bar * (2j / math.sqrt(math.pi) - 2 * z * y)", operands=("z",), **COMPLEX)

# ---- logistic, entropy, powers -------------------------------------------------------------------


def exprel_slope(x: Any) -> Any:
    """((x - 1) * exp(x) + 1) / x**2, near zero by a series (far out SciPy's does not end)."""
    near = called("hyp1f1", 2.0, 3.0, np.clip(x, -1.0, 1.0)) / 2
    far = np.where(abs(x) < 1, 1.0, x)
    return np.where(abs(x) < 1, near, (np.exp(far) * (far - 1) + 1) / far**2)


EXPREL = {"slope": exprel_slope}
# boxcox is log(x) * exprel(lambda * log(x)), and the inverse the exponential of
# x * log1p(lambda * x) / (lambda * x): series in lambda, which have no quotient by it.
BY_LAMBDA = "y_bar * ({0}**2 * slope(lmbda * {0}))"
BY_LAMBDA_OF_INVERSE = "-y_bar * ({0} * x**2 * runtime.log1p_slope(lmbda * x))"
register(Special(runtime.log1p_slope, ("-2 / 3 * y_bar * special.hyp2f1(3.0, 3.0, 4.0, -x)",)))
LAMBDA = {"operands": ("x", "lmbda"), "domain": "positive", "helpers": EXPREL}
row("boxcox", "y_bar * x ** (lmbda - 1)", BY_LAMBDA.format("np.log(x)"), **LAMBDA)
row("boxcox1p", "y_bar * (1 + x) ** (lmbda - 1)", BY_LAMBDA.format("np.log1p(x)"), **LAMBDA)
row("cbrt", "y_bar / (3 * y**2)", **POSITIVE)
row("cosm1", "-y_bar * np.sin(x)")
row("entr", "y_bar * (-np.log(x) - 1)", **POSITIVE)
row("exp10", "y_bar * (math.log(10.0) * y)")
row("exp2", "y_bar * (math.log(2.0) * y)")
row("expit", "y_bar * (y * special.expit(-x))")
row("expm1", "y_bar * (y + 1)", **HOLOMORPHIC)
row("exprel", "y_bar * slope(x)", helpers=EXPREL)
row(
    "huber",
    "y_bar * np.maximum(abs(r) - delta, 0.0)",
    "y_bar * np.clip(r, -delta, delta)",
    operands=("delta", "r"),
    domain="positive",
)
row("inv_boxcox", "y_bar * y ** (1 - lmbda)", BY_LAMBDA_OF_INVERSE.format("y"), **LAMBDA)
row(
    "inv_boxcox1p",
    "y_bar * (y + 1) ** (1 - lmbda)",
    BY_LAMBDA_OF_INVERSE.format("(y + 1)"),
    **LAMBDA,
)
row("kl_div", "y_bar * np.log(a / b)", "y_bar * (1 - a / b)", domain="positive")
row("log1p", "y_bar / (1 + x)", **POSITIVE, **HOLOMORPHIC)
row("log_expit", "y_bar * special.expit(-x)")
row("logit", "y_bar / (x * (1 - x))", **UNIT)
row("powm1", "y_bar * (b * a ** (b - 1))", "y_bar * ((y + 1) * np.log(a))", domain="positive")
row(
    "pseudo_huber",
    "y_bar * (2 * y / delta - r**2 / np.hypot(delta, r))",
    "y_bar * (delta * r / np.hypot(delta, r))",
    operands=("delta", "r"),
    domain="positive",
)
row("rel_entr", "y_bar * (np.log(a / b) + 1)", "-y_bar * (a / b)", domain="positive")
row("round", None)
row("softplus", "y_bar * special.expit(x)")
row("xlog1py", "y_bar * np.log1p(b)", "y_bar * (a / (1 + b))", domain="positive", holomorphic=True)
row("xlogy", "y_bar * np.log(b)", "y_bar * (a / b)", domain="positive", holomorphic=True)

# ---- angles in degrees ---------------------------------------------------------------------------

row("cosdg", "-y_bar * (math.pi / 180 * special.sindg(x))")
row("cotdg", "-y_bar * (math.pi / 180 * (1 + y**2))", **POSITIVE)
row("sindg", "y_bar * (math.pi / 180 * special.cosdg(x))")
row("tandg", "y_bar * (math.pi / 180 * (1 + y**2))", **UNIT)

# ---- exponential integrals and relatives ---------------------------------------------------------

row("exp1", "-y_bar * (np.exp(-x) / x)", **POSITIVE, **HOLOMORPHIC)
row("expi", "y_bar * (np.exp(x) / x)", **POSITIVE, **HOLOMORPHIC)
row("expn", None, "-y_bar * special.expn(one_less(n), x)", operands=("n", "x"), domain="positive")
row(
    "spence",
    "y_bar * np.where(x == 1, -1.0, np.log(x) / np.where(x == 1, 1.0, 1 - x))",
    **POSITIVE,
    **HOLOMORPHIC,
)
row(
    "lambertw",
    "y_bar * (np.exp(-y) / (1 + y))",
    operands=("z",),
    options=", k=0, tol=1e-8",
    **COMPLEX,
)
row("wrightomega", "y_bar * (y / (1 + y))", **HOLOMORPHIC)
