"""scipy.special: gamma and beta functions, and the distributions that are made of them."""

from __future__ import annotations

import functools
import itertools
import math
import operator
from typing import Any

import numpy as np
import scipy.special

from s2s_ad import runtime
from s2s_ad.core.registry import register
from s2s_ad.rules.scipy_special_calls import UNKNOWN, Special, called, row

POSITIVE = {"domain": "positive"}
HOLOMORPHIC = {"holomorphic": True}

# ---- gamma and beta ------------------------------------------------------------------------------


def gamma_density(a: Any, x: Any) -> Any:
    """The derivative of gammainc by x."""
    return np.exp((a - 1) * np.log(x) - x - called("gammaln", a))


def gamma_density_by_shape(a: Any, x: Any, order: int) -> Any:
    """The derivatives of the density by the shape, which are those of gammainc_by_shape by x."""
    slopes = [np.log(x) - called("psi", a)] + [-called("polygamma", k, a) for k in range(1, order)]
    factors = [1.0]
    for i in range(order):
        terms = (math.comb(i, k) * slopes[k] * factors[i - k] for k in range(i + 1))
        factors.append(functools.reduce(operator.add, terms))
    return gamma_density(a, x) * factors[order]


def beta_density(a: Any, b: Any, x: Any) -> Any:
    """The derivative of betainc by x."""
    return np.exp((a - 1) * np.log(x) + (b - 1) * np.log1p(-x) - called("betaln", a, b))


def beta_density_by_shapes(a: Any, b: Any, x: Any, by_a: int, by_b: int) -> Any:
    """The derivatives of the density by the shapes: those of betainc_by_shapes by x."""

    def slope(i: int, j: int) -> Any:
        found = called("polygamma", i + j - 1, a + b)
        for order, shape, log in ((i, a, np.log(x)), (j, b, np.log1p(-x))):
            if order == i + j:
                found = found - called("polygamma", order - 1, shape)
                found = found + log if order == 1 else found
        return found

    def factor(i: int, j: int) -> Any:
        if i + j == 0:
            return 1.0
        p, q = (i - 1, j) if i else (0, j - 1)
        terms = (
            math.comb(p, k) * math.comb(q, m) * slope(i - p + k, j - q + m) * factor(p - k, q - m)
            for k, m in itertools.product(range(p + 1), range(q + 1))
        )
        return functools.reduce(operator.add, terms)

    return beta_density(a, b, x) * factor(by_a, by_b)


class Multigammaln(Special):
    """The dimension is known; the function raises of dimensions that are too large for a sample."""

    def _dtype(self, operands: list, d: int) -> np.dtype | None:
        return super()._dtype(operands, d=1)


def multipsi(a: Any, d: int) -> Any:
    """The derivative of multigammaln, a sum of digamma functions."""
    terms = [called("psi", a - j / 2 if j else a) for j in range(d)]
    return functools.reduce(operator.add, terms)


def rgamma_slope(x: Any, y: Any) -> Any:
    """-y * psi(x); left of 1/2 by reflection, gamma(1 - x) * sin(pi * x) / pi, for there are the
    poles of psi, where y is zero."""
    if x.builder.may_be_complex(x):
        return -y * called("psi", x)
    left = np.minimum(x, 0.5)
    sine, cosine = called("sindg", 180 * left) / math.pi, called("cosdg", 180 * left)
    reflected = called("gamma", 1 - left) * (cosine - called("psi", 1 - left) * sine)
    return np.where(x < 0.5, reflected, -y * called("psi", np.maximum(x, 0.5)))


def psi_slope(x: Any) -> Any:
    """The trigamma function; SciPy has none of complex numbers."""
    if x.builder.may_be_complex(x):
        return called(runtime.complex_polygamma, 1, x)
    return called(runtime.trigamma, x)


def zeta_slope(x: Any) -> Any:
    """The derivative of Riemann's zeta function; of negative numbers by reflection (DLMF 25.4.1),
    zeta(x) = 2 * (2 * pi)**(x - 1) * sin(pi * x / 2) * gamma(1 - x) * zeta(1 - x)."""
    left = np.minimum(x, -0.25)
    factor = (2 * math.pi) ** left / math.pi * called("gamma", 1 - left)
    sine, cosine = called("sindg", 90 * left), called("cosdg", 90 * left)
    zeta = called("zeta", 1 - left, 1.0)
    by_zeta = called(runtime.zeta_derivative, 1 - left, 1.0, 1)
    of_sine = (math.log(2 * math.pi) - called("psi", 1 - left)) * zeta - by_zeta
    reflected = factor * (math.pi / 2 * cosine * zeta + sine * of_sine)
    return np.where(
        x < -0.25, reflected, called(runtime.zeta_derivative, np.maximum(x, -0.25), 1.0, 1)
    )


PSI = {"psi_slope": psi_slope}
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
row(("digamma", "psi"), "y_bar * psi_slope(x)", helpers=PSI, **POSITIVE, **HOLOMORPHIC)
register(Special(runtime.trigamma, ("y_bar * special.polygamma(2, x)",), **POSITIVE))
register(
    Special(
        runtime.complex_polygamma,
        (None, "y_bar * runtime.complex_polygamma(n + 1, x)"),
        operands=("n", "x"),
        **POSITIVE,
        **HOLOMORPHIC,
    )
)
row("gamma", "y_bar * (y * special.psi(x))", **POSITIVE, **HOLOMORPHIC)
GAMMA = {"density": gamma_density, "density_by_shape": gamma_density_by_shape}
AX |= {"helpers": GAMMA}
BY_SHAPE = "runtime.gammainc_by_shape(a, {}, 1)"
row("gammainc", f"y_bar * {BY_SHAPE.format('x')}", "y_bar * density(a, x)", **AX)
row("gammaincc", f"-y_bar * {BY_SHAPE.format('x')}", "-y_bar * density(a, x)", **AX)
for _name, _sign in (("gammaincinv", ""), ("gammainccinv", "-")):
    _by_shape = f"-y_bar * ({BY_SHAPE.format('y')} / density(a, y))"
    row(_name, _by_shape, f"{_sign}y_bar / density(a, y)", **AX)
register(
    Special(
        runtime.gammainc_by_shape,
        (
            "y_bar * runtime.gammainc_by_shape(a, x, order + 1)",
            "y_bar * density_by_shape(a, x, order)",
            None,
        ),
        operands=("a", "x", "order"),
        domain="positive",
        helpers=GAMMA,
    )
)
row(("gammaln", "loggamma"), "y_bar * special.psi(x)", **POSITIVE, **HOLOMORPHIC)
row("factorial", "y_bar * (y * special.psi(n + 1))", operands=("n",), domain="positive")
row("gammasgn", None)
register(
    Multigammaln(
        scipy.special.multigammaln,
        ("y_bar * multipsi(a, d)",),
        operands=("a",),
        options=", d",
        helpers={"multipsi": multipsi},
    )
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
register(
    Special(
        runtime.psi_half_step,
        ("y_bar * runtime.psi_half_step(x, order + 1)", None),
        operands=("x", "order"),
        domain="positive",
    )
)
row("rgamma", "y_bar * slope(x, y)", helpers={"slope": rgamma_slope}, **POSITIVE, **HOLOMORPHIC)
row(
    "zeta",
    "y_bar * runtime.zeta_derivative(x, q, 1)",
    "-y_bar * (x * special.zeta(x + 1, q))",
    operands=("x", "q"),
    domain="above one",
)
row("zetac", "y_bar * slope(x)", helpers={"slope": zeta_slope}, domain="above one")
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
BETA = {"density": beta_density, "density_by_shapes": beta_density_by_shapes}
ABX = {"operands": ("a", "b", "x"), "domain": "unit", "helpers": BETA}
BY_A, BY_B = (f"runtime.betainc_by_shapes(a, b, {{}}, {order})" for order in ("1, 0", "0, 1"))
for _name, _sign in (("betainc", ""), ("betaincc", "-")):
    _slopes = (BY_A.format("x"), BY_B.format("x"), "density(a, b, x)")
    row(_name, *(f"{_sign}y_bar * {slope}" for slope in _slopes), **ABX)
for _name, _sign in (("betaincinv", ""), ("betainccinv", "-")):
    _slopes = (f"-y_bar * ({slope.format('y')} / density(a, b, y))" for slope in (BY_A, BY_B))
    row(_name, *_slopes, f"{_sign}y_bar / density(a, b, y)", **ABX)
register(
    Special(
        runtime.betainc_by_shapes,
        (
            "y_bar * runtime.betainc_by_shapes(a, b, x, by_a + 1, by_b)",
            "y_bar * runtime.betainc_by_shapes(a, b, x, by_a, by_b + 1)",
            "y_bar * density_by_shapes(a, b, x, by_a, by_b)",
            None,
            None,
        ),
        operands=("a", "b", "x", "by_a", "by_b"),
        domain="unit",
        helpers=BETA,
    )
)

# ---- distribution functions ----------------------------------------------------------------------


def share(dfn: Any, dfd: Any, x: Any) -> Any:
    """What betainc is asked for by fdtr."""
    return dfn * x / (dfd + dfn * x)


# y = fdtr(dfn, dfd, x) is betainc(dfn / 2, dfd / 2, z) with z = share(dfn, dfd, x): z by dfn is
# x * dfd / (dfd + dfn * x)**2, and so on; the densities are those of gammainc and betainc by x.
F_SHAPES = "dfn / 2, dfd / 2, share(dfn, dfd, x)"
F_MOVED = f"density({F_SHAPES}) / (dfd + dfn * x)**2"
BY_DFN, BY_DFD = (
    f"(runtime.betainc_by_shapes({F_SHAPES}, {orders}) / 2 {sign} {factor} * x * {F_MOVED})"
    for orders, sign, factor in (("1, 0", "+", "dfd"), ("0, 1", "-", "dfn"))
)
SHARE = {"operands": ("dfn", "dfd", "x"), "domain": "positive", "helpers": BETA | {"share": share}}
for _name, _sign in (("fdtr", ""), ("fdtrc", "-")):
    _slopes = (BY_DFN, BY_DFD, f"(dfn * dfd * {F_MOVED})")
    row(_name, *(f"{_sign}y_bar * {slope}" for slope in _slopes), **SHARE)
OF_CHI = "runtime.gammainc_by_shape(v / 2, {}, 1)"
for _name, _sign in (("chdtr", ""), ("chdtrc", "-")):
    _slopes = (f"({OF_CHI.format('x / 2')} / 2)", "(density(v / 2, x / 2) / 2)")
    _texts = (f"{_sign}y_bar * {slope}" for slope in _slopes)
    row(_name, *_texts, operands=("v", "x"), domain="positive", helpers=GAMMA)
row(
    "chdtri",
    f"-y_bar * ({OF_CHI.format('y / 2')} / density(v / 2, y / 2))",
    "-y_bar * (2 / density(v / 2, y / 2))",
    operands=("v", "p"),
    domain="unit",
    helpers=GAMMA,
)
for _name, _sign in (("gdtr", ""), ("gdtrc", "-")):
    _slopes = ("(x * density(b, a * x))", BY_SHAPE.format("a * x").replace("(a,", "(b,"))
    _texts = (f"{_sign}y_bar * {slope}" for slope in (*_slopes, "(a * density(b, a * x))"))
    row(_name, *_texts, operands=("a", "b", "x"), domain="positive", helpers=GAMMA)
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
