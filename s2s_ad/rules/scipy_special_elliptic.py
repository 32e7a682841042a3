"""scipy.special: elliptic integrals, hypergeometric functions and orthogonal polynomials."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.special

from s2s_ad import runtime
from s2s_ad.core.builder import Symbol
from s2s_ad.core.registry import register
from s2s_ad.rules.scipy_special_calls import UNKNOWN, Special, called, row, several

POSITIVE = {"domain": "positive"}
ORDER = {"operands": ("v", "z"), "domain": "positive"}
DEGREE = {"operands": ("n", "x"), "domain": "unit", "holomorphic": True}

# ---- elliptic integrals --------------------------------------------------------------------------

# Carlson's forms: of homogeneous functions, with Euler's relation for the last derivative of R_D.


def elliprc_by_first(a: Any, b: Any, y: Any) -> Any:
    """(y - 1 / sqrt(a)) / (2 * (b - a)), and its limit where a == b."""
    distance = np.where(a == b, 1.0, 2 * (b - a))
    return np.where(a == b, -(a**-1.5) / 6, (y - 1 / np.sqrt(a)) / distance)


def agm_by(a: Any, b: Any, y: Any, special: Any) -> Any:
    """The derivative of agm with respect to a, from agm = pi / 4 * (a + b) / K(m)."""
    m = ((a - b) / (a + b)) ** 2
    nonzero = np.where(m == 0, 0.5, m)
    k, e = special.ellipk(nonzero), special.ellipe(nonzero)
    relative = np.where(m == 0, 0.25, (e / (1 - nonzero) - k) / (2 * nonzero * k))
    return y * (1 - relative * (4 * b * (a - b) / (a + b) ** 2)) / (a + b)


def share(a: Any, slope: Any) -> Any:
    """a * slope: nothing for the number 0, where R_D's slope is infinite and the product is 0."""
    return 0.0 if isinstance(a, float) and a == 0 else a * slope


row(
    "agm",
    "y_bar * by(a, b, y, special)",
    "y_bar * by(b, a, y, special)",
    helpers={"by": agm_by},
    **POSITIVE,
)
RD = "(special.elliprd({0}, {1}, {2}) - y) / ({2} - c) / 2"
# the slopes of R_D along a and b
RD_A, RD_B = RD.format("b", "c", "a"), RD.format("a", "c", "b")
ABC = {"operands": ("a", "b", "c"), "domain": "positive", "holomorphic": True}
row(
    "elliprc",
    "y_bar * by_first(a, b, y)",
    "-y_bar * ((y / 2 + a * by_first(a, b, y)) / b)",
    helpers={"by_first": elliprc_by_first},
    holomorphic=True,
    **POSITIVE,
)
row(
    "elliprd",
    f"y_bar * ({RD_A})",
    f"y_bar * ({RD_B})",
    f"-y_bar * ((1.5 * y + share(a, {RD_A}) + share(b, {RD_B})) / c)",
    helpers={"share": share},
    **ABC,
)
RF = "-y_bar * (special.elliprd({0}, {1}, {2}) / 6)"
row("elliprf", RF.format("b", "c", "a"), RF.format("a", "c", "b"), RF.format("a", "b", "c"), **ABC)
RG = "y_bar * ((3 * special.elliprf(a, b, c) - {2} * special.elliprd({0}, {1}, {2})) / 12)"
row("elliprg", RG.format("b", "c", "a"), RG.format("a", "c", "b"), RG.format("a", "b", "c"), **ABC)
# of complete ones by R_D (DLMF 19.25.1), which is a number where m is zero, too
row("ellipe", "-y_bar * (special.elliprd(0.0, 1 - m, 1.0) / 6)", operands=("m",), domain="unit")


def far(m: Any) -> Any:
    """m, which is no divisor where it is small."""
    return np.where(abs(m) < 0.1, 1.0, m)


def by_m(phi: Any, m: Any, p: int, quotient: Any) -> Any:
    """The derivative by m of an integral of (1 - m * sin(t)**2)**(1 - p / 2), but for its sign: the
    quotient, and for small m, where that cancels, the integral of the derivative."""
    small = called(runtime.sine_integral, phi, np.clip(m, -0.1, 0.1), p, 1) / 2
    return np.where(abs(m) < 0.1, small, quotient)


BY_M = {"by_m": by_m, "far": far}
register(
    Special(
        runtime.sine_integral,
        (
            "y_bar * np.sin(phi) ** (2 * q) / (1 - m * np.sin(phi) ** 2) ** (p / 2)",
            "y_bar * (p / 2 * runtime.sine_integral(phi, m, p + 2, q + 1))",
            None,
            None,
        ),
        operands=("phi", "m", "p", "q"),
        domain="unit",
    )
)
row(
    "ellipeinc",
    "y_bar * np.sqrt(1 - m * np.sin(phi) ** 2)",
    "-y_bar * by_m(phi, m, 1, (special.ellipkinc(phi, m) - y) / far(m) / 2)",
    operands=("phi", "m"),
    domain="unit",
    helpers=BY_M,
)
row("ellipk", "y_bar * (special.elliprd(0.0, 1.0, 1 - m) / 6)", operands=("m",), domain="unit")
row(
    "ellipkinc",
    "y_bar / np.sqrt(1 - m * np.sin(phi) ** 2)",
    "y_bar * by_m(phi, m, 3, ((special.ellipeinc(phi, m) / far(m) - np.sin(2 * phi) "
    "/ (2 * np.sqrt(1 - m * np.sin(phi) ** 2))) / (1 - m) - y / far(m)) / 2)",
    operands=("phi", "m"),
    domain="unit",
    helpers=BY_M,
)
row("ellipkm1", "-y_bar * (special.elliprd(0.0, 1.0, p) / 6)", operands=("p",), domain="unit")


def amplitude_by_m(u: Any, m: Any, parts: Any) -> Any:
    """The derivative of Jacobi's amplitude with respect to m (DLMF 22.13 and 22.16.1)."""
    sn, cn, dn, amplitude = parts.p0(u, m), parts.p1(u, m), parts.p2(u, m), parts.p3(u, m)
    e = u.builder.call if isinstance(u, Symbol) else m.builder.call
    e = e(scipy.special.ellipeinc, (amplitude, m), {})
    return (((m - 1) * u + e) * dn - m * sn * cn) / (2 * m * (m - 1))


several(
    "ellipj",
    ("y_bar * (parts.p1(u, m) * parts.p2(u, m))", "y_bar * (parts.p1(u, m) * by_m(u, m, parts))"),
    ("-y_bar * (parts.p0(u, m) * parts.p2(u, m))", "-y_bar * (parts.p0(u, m) * by_m(u, m, parts))"),
    (
        "-y_bar * (m * parts.p0(u, m) * parts.p1(u, m))",
        "-y_bar * (parts.p0(u, m) * (parts.p0(u, m) / 2"
        " + m * parts.p1(u, m) * by_m(u, m, parts)) / y)",
    ),
    ("y_bar * parts.p2(u, m)", "y_bar * by_m(u, m, parts)"),
    operands=("u", "m"),
    domain="unit",
    helpers={"by_m": amplitude_by_m},
)

# ---- hypergeometric functions --------------------------------------------------------------------

row("hyp0f1", UNKNOWN, "y_bar * (special.hyp0f1(v + 1, z) / v)", **ORDER, holomorphic=True)
row(
    "hyp1f1",
    UNKNOWN,
    UNKNOWN,
    "y_bar * (a / b * special.hyp1f1(a + 1, b + 1, x))",
    operands=("a", "b", "x"),
    domain="positive",
    holomorphic=True,
)
row(
    "hyp2f1",
    UNKNOWN,
    UNKNOWN,
    UNKNOWN,
    "y_bar * (a * b / c * special.hyp2f1(a + 1, b + 1, c + 1, z))",
    operands=("a", "b", "c", "z"),
    domain="unit",
    holomorphic=True,
)
row(
    "hyperu",
    UNKNOWN,
    UNKNOWN,
    "-y_bar * (a * special.hyperu(a + 1, b + 1, x))",
    operands=("a", "b", "x"),
    domain="positive",
)

# ---- orthogonal polynomials ----------------------------------------------------------------------

row("eval_chebyt", None, "y_bar * (n * special.eval_chebyu(n - 1, x))", **DEGREE)
row("eval_chebyu", None, "y_bar * (2 * special.eval_gegenbauer(n - 1, 2.0, x))", **DEGREE)
row(
    "eval_gegenbauer",
    None,
    UNKNOWN,
    "y_bar * (2 * alpha * special.eval_gegenbauer(n - 1, alpha + 1, x))",
    operands=("n", "alpha", "x"),
    domain="unit",
    holomorphic=True,
)
row(
    "eval_genlaguerre",
    None,
    UNKNOWN,
    "-y_bar * special.eval_genlaguerre(n - 1, alpha + 1, x)",
    operands=("n", "alpha", "x"),
    domain="unit",
    holomorphic=True,
)
row("eval_hermite", None, "y_bar * (2 * n * special.eval_hermite(one_less(n), x))", **DEGREE)
row("eval_hermitenorm", None, "y_bar * (n * special.eval_hermitenorm(one_less(n), x))", **DEGREE)
row(
    "eval_jacobi",
    None,
    UNKNOWN,
    UNKNOWN,
    "y_bar * ((n + alpha + beta + 1) / 2 * special.eval_jacobi(n - 1, alpha + 1, beta + 1, x))",
    operands=("n", "alpha", "beta", "x"),
    domain="unit",
    holomorphic=True,
)
row("eval_laguerre", None, "-y_bar * special.eval_genlaguerre(n - 1, 1.0, x)", **DEGREE)
row(
    "eval_legendre",
    None,
    "y_bar * ((n + 1) / 2 * special.eval_jacobi(n - 1, 1.0, 1.0, x))",
    **DEGREE,
)
row(
    "lpmv",
    None,
    None,
    "y_bar * ((v * x * y - (v + m) * special.lpmv(m, v - 1, x)) / (x**2 - 1))",
    operands=("m", "v", "x"),
    domain="unit",
)
row(
    "sph_harm_y",
    None,
    None,
    "y_bar * (m / np.tan(theta) * y + np.sqrt((n - m) * (n + m + 1.0)) * np.exp(-1j * phi)"
    " * special.sph_harm_y(n, m + 1, theta, phi))",
    "y_bar * (1j * m * y)",
    operands=("n", "m", "theta", "phi"),
    holomorphic=True,
    gives_complex=True,
)
