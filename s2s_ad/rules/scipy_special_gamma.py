"""scipy.special: gamma and beta functions, and the distributions that are made of them."""

from __future__ import annotations

import functools
import operator
from typing import Any

import numpy as np
import scipy.special

from s2s_ad import runtime
from s2s_ad.core.registry import register
from s2s_ad.rules.scipy_special_calls import UNKNOWN, Special, called, row

POSITIVE = {"domain": "positive"}

# ---- gamma and beta ------------------------------------------------------------------------------


def gammainc_by_a(a: Any, x: Any) -> Any:
    """The slope of gammainc in the shape: its series (DLMF 8.11.4) term by term,
    gammainc = x**a * exp(-x) / gamma(a + 1) * gamma_series(a, x, 0)."""
    factor = np.exp(a * np.log(x) - x - called("gammaln", a + 1))
    by_terms = factor * called(runtime.gamma_series, a, x, 1)
    return called("gammainc", a, x) * (np.log(x) - called("psi", a + 1)) - by_terms


def betainc_by_a(a: Any, b: Any, x: Any) -> Any:
    """The slope of betainc in its first argument: its series (DLMF 8.17.8) term by term,
    betainc = x**a * (1 - x)**b / (a * beta(a, b)) * F(a + b, 1; a + 1; x)."""
    factor = np.exp(a * np.log(x) + b * np.log1p(-x) - called("betaln", a, b)) / a
    of_factor = np.log(x) - 1 / a - called("psi", a) + called("psi", a + b)
    by_terms = factor * called(runtime.beta_series, a, b, x)
    return called("betainc", a, b, x) * of_factor + by_terms


def multipsi(a: Any, d: int) -> Any:
    """The derivative of multigammaln, a sum of digamma functions."""
    terms = [a.builder.call(scipy.special.psi, (a - j / 2,), {}) for j in range(d)]
    return functools.reduce(operator.add, terms)


def gamma_series_by_a(a: Any, x: Any, order: int, y_bar: Any) -> Any:
    if order == 2:
        raise NotImplementedError
    return -y_bar * y_bar.builder.call(runtime.gamma_series, (a, x, order + 1), {})


def gamma_series_by_x(a: Any, x: Any, order: int, y: Any, y_bar: Any) -> Any:
    """From the recurrence of the terms, (a + n) * c(n) = x * c(n - 1)."""
    below = a if order == 0 else y_bar.builder.call(runtime.gamma_series, (a, x, order - 1), {})
    return y_bar * (((x - a) * y + (below, below - 1, 2 * below)[order]) / x)


AB = {"operands": ("a", "b"), "domain": "positive"}
AX = {"operands": ("a", "x"), "domain": "positive"}
row("beta", *(f"y_bar * (y * (special.psi({z}) - special.psi(a + b)))" for z in "ab"), **AB)
row("betaln", *(f"y_bar * (special.psi({z}) - special.psi(a + b))" for z in "ab"), **AB)
row(
    "binom",
    "y_bar * (y * (special.psi(n + 1) - special.psi(n - k + 1)))",
    "y_bar * (y * (special.psi(n - k + 1) - special.psi(k + 1)))",
    operands=("n", "k"),
    domain="positive",
)
row(("digamma", "psi"), "y_bar * special.polygamma(1, x)", **POSITIVE)
row("gamma", "y_bar * (y * special.psi(x))", **POSITIVE)
DENSITY = "np.exp((a - 1) * np.log({x}) - {x} - special.gammaln(a))"  # of the gamma distribution
GAMMA_SLOPES = ("gammainc_by_a(a, x)", DENSITY.format(x="x"))
GAMMA_INVERSE = ("gammainc_by_a(a, y)", DENSITY.format(x="y"))
AX |= {"helpers": {"gammainc_by_a": gammainc_by_a}}
row("gammainc", *(f"y_bar * {slope}" for slope in GAMMA_SLOPES), **AX)
row("gammaincc", *(f"-y_bar * {slope}" for slope in GAMMA_SLOPES), **AX)
for _name, _sign in (("gammaincinv", ""), ("gammainccinv", "-")):
    _slopes = (
        f"-y_bar * {GAMMA_INVERSE[0]} / {GAMMA_INVERSE[1]}",
        f"{_sign}y_bar / {GAMMA_INVERSE[1]}",
    )
    row(_name, *_slopes, **AX)
register(
    Special(
        runtime.gamma_series,
        ("by_a(a, x, order, y_bar)", "by_x(a, x, order, y, y_bar)", None),
        operands=("a", "x", "order"),
        domain="positive",
        helpers={"by_a": gamma_series_by_a, "by_x": gamma_series_by_x},
    )
)
row(("gammaln", "loggamma"), "y_bar * special.psi(x)", **POSITIVE)
row("factorial", "y_bar * (y * special.psi(n + 1))", operands=("n",), domain="positive")
row("gammasgn", None)
row(
    "multigammaln",
    "y_bar * multipsi(a, d)",
    None,
    operands=("a", "d"),
    helpers={"multipsi": multipsi},
)
row(
    "poch",
    "y_bar * (y * (special.psi(a + m) - special.psi(a)))",
    "y_bar * (y * special.psi(a + m))",
    operands=("a", "m"),
    domain="positive",
)
row(
    "polygamma",
    None,
    "y_bar * special.polygamma(n + 1, x)",
    operands=("n", "x"),
    domain="positive",
)
row("rgamma", "-y_bar * (y * special.psi(x))", **POSITIVE)
row(
    "zeta",
    "y_bar * runtime.zeta_derivative(x, q, 1)",
    "-y_bar * (x * special.zeta(x + 1, q))",
    operands=("x", "q"),
    domain="above one",
)
row("zetac", "y_bar * runtime.zeta_derivative(x, 1.0, 1)", domain="above one")
register(
    Special(
        runtime.zeta_derivative,
        (
            "y_bar * runtime.zeta_derivative(x, q, order + 1)",
            "-y_bar * (x * runtime.zeta_derivative(x + 1, q, order)"
            " + order * runtime.zeta_derivative(x + 1, q, order - 1))",
            None,
        ),
        operands=("x", "q", "order"),
        domain="above one",
    )
)
ABX = {"operands": ("a", "b", "x"), "domain": "unit"}
BETA = "np.exp((a - 1) * np.log({x}) + (b - 1) * np.log1p(-{x}) - special.betaln(a, b))"
BETA_SLOPES = ("betainc_by_a(a, b, {x})", "-betainc_by_a(b, a, 1 - {x})", BETA)
ABX |= {"helpers": {"betainc_by_a": betainc_by_a}}
for _name, _sign in (("betainc", ""), ("betaincc", "-")):
    row(_name, *(f"{_sign}y_bar * ({slope.format(x='x')})" for slope in BETA_SLOPES), **ABX)
for _name, _sign in (("betaincinv", ""), ("betainccinv", "-")):
    _by_a, _by_b, _density = (slope.format(x="y") for slope in BETA_SLOPES)
    _slopes = (f"-y_bar * {_by_a} / {_density}", f"-y_bar * ({_by_b}) / {_density}")
    row(_name, *_slopes, f"{_sign}y_bar / {_density}", **ABX)
register(
    Special(
        runtime.beta_series,
        (UNKNOWN, UNKNOWN, UNKNOWN),
        operands=("a", "b", "x"),
        domain="unit",
    )
)

# ---- distribution functions ----------------------------------------------------------------------

BINOMIAL = (
    "np.exp({k} * np.log(p) + (n - {k} - 1) * np.log1p(-p) - special.betaln({k} + 1, n - {k}))"
).replace("{k}", "whole(k)")
POISSON = "np.exp(whole(k) * np.log(m) - m - special.gammaln(whole(k) + 1))"
for _name, _sign in (("bdtr", "-"), ("bdtrc", "")):
    row(_name, None, None, f"{_sign}y_bar * {BINOMIAL}", operands=("k", "n", "p"), domain="unit")
for _name, _sign in (("pdtr", "-"), ("pdtrc", "")):
    row(_name, None, f"{_sign}y_bar * {POISSON}", operands=("k", "m"), domain="positive")
STUDENT = (
    "np.exp(special.gammaln((df + 1) / 2) - special.gammaln(df / 2)"
    " - (df + 1) / 2 * np.log1p({t}**2 / df)) / np.sqrt(math.pi * df)"
)
row("stdtr", UNKNOWN, f"y_bar * ({STUDENT.format(t='t')})", operands=("df", "t"), domain="positive")
row("stdtrit", UNKNOWN, f"y_bar / ({STUDENT.format(t='y')})", operands=("df", "p"), domain="unit")
