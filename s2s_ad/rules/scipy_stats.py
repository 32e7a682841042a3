"""scipy.stats: one row per distribution, and statistics that are written as plain NumPy."""

from __future__ import annotations

import scipy.stats

from s2s_ad import runtime
from s2s_ad.core.registry import register
from s2s_ad.rules import scipy_stats_arrays  # noqa: F401  (registers its rows)
from s2s_ad.rules.scipy_special_calls import Special
from s2s_ad.rules.scipy_stats_kinds import Method, discrete, distribution

POSITIVE = "z > 0"

distribution(
    "beta",
    "(a - 1) / z - (b - 1) / (1 - z)",
    {
        "a": "np.log(z) - special.psi(a) + special.psi(a + b)",
        "b": "np.log1p(-z) - special.psi(b) + special.psi(a + b)",
    },
    {
        "a": "runtime.betainc_by_shapes(a, b, z, 1, 0)",
        "b": "runtime.betainc_by_shapes(a, b, z, 0, 1)",
    },
    support="(z > 0) & (z < 1)",
)
distribution("cauchy", "-2 * z / (1 + z**2)")
distribution(
    "chi2",
    "(df / 2 - 1) / z - 0.5",
    {"df": "(np.log(z / 2) - special.psi(df / 2)) / 2"},
    {"df": "runtime.gammainc_by_shape(df / 2, z / 2, 1) / 2"},
    support=POSITIVE,
)
distribution("expon", "-1.0", support="z >= 0", log_sf={"z": "-1.0"})
OF_BETA = "dfn * z / (dfd + dfn * z)"  # the variable of f's distribution that has a beta one
distribution(
    "f",
    "(dfn / 2 - 1) / z - (dfn + dfd) / 2 * dfn / (dfd + dfn * z)",
    {
        "dfn": "(np.log(dfn * z / (dfd + dfn * z)) + 1 - (dfn + dfd) * z / (dfd + dfn * z)"
        " - special.psi(dfn / 2) + special.psi((dfn + dfd) / 2)) / 2",
        "dfd": "(np.log(dfd / (dfd + dfn * z)) + 1 - (dfn + dfd) / (dfd + dfn * z)"
        " - special.psi(dfd / 2) + special.psi((dfn + dfd) / 2)) / 2",
    },
    {
        "dfn": f"runtime.betainc_by_shapes(dfn / 2, dfd / 2, {OF_BETA}, 1, 0) / 2"
        " + density * z / dfn",
        "dfd": f"runtime.betainc_by_shapes(dfn / 2, dfd / 2, {OF_BETA}, 0, 1) / 2"
        " - density * z / dfd",
    },
    support=POSITIVE,
)
distribution(
    "gamma",
    "(a - 1) / z - 1",
    {"a": "np.log(z) - special.psi(a)"},
    {"a": "runtime.gammainc_by_shape(a, z, 1)"},
    support=POSITIVE,
)
distribution(
    "gennorm",
    "-beta * np.sign(z) * abs(z) ** (beta - 1)",
    {"beta": "1 / beta + special.psi(1 / beta) / beta**2 - special.xlogy(abs(z) ** beta, abs(z))"},
    {
        "beta": "-np.sign(z) * runtime.gammainc_by_shape(1 / beta, abs(z) ** beta, 1)"
        " / (2 * beta**2) + density * special.xlogy(z, abs(z)) / beta"
    },
    steep=True,
)
distribution("gumbel_l", "-np.expm1(z)", log_sf={"z": "-np.exp(z)"}, steep=True)
distribution("gumbel_r", "np.expm1(-z)", log_cdf={"z": "np.exp(-z)"}, steep=True)
distribution("halfnorm", "-z", support="z >= 0")
distribution(
    "invgamma",
    "-(a + 1) / z + 1 / z**2",
    {"a": "-np.log(z) - special.psi(a)"},
    {"a": "-runtime.gammainc_by_shape(a, 1 / z, 1)"},
    support=POSITIVE,
    steep=True,
)
distribution("laplace", "-np.sign(z)")
distribution(
    "logistic",
    "-np.tanh(z / 2)",
    log_cdf={"z": "special.expit(-z)"},
    log_sf={"z": "-special.expit(z)"},
)
distribution(
    "lognorm",
    "-(1 + np.log(z) / s**2) / z",
    {"s": "(np.log(z) / s) ** 2 / s - 1 / s"},
    {"s": "-density * (z * np.log(z) / s)"},
    support=POSITIVE,
    log_cdf={
        "z": "inverse_mills(np.log(z) / s) / (s * z)",
        "s": "-inverse_mills(np.log(z) / s) * np.log(z) / s**2",
    },
    log_sf={
        "z": "-inverse_mills(-np.log(z) / s) / (s * z)",
        "s": "inverse_mills(-np.log(z) / s) * np.log(z) / s**2",
    },
)
distribution("norm", "-z", log_cdf={"z": "inverse_mills(z)"}, log_sf={"z": "-inverse_mills(-z)"})
distribution(
    "pareto",
    "-(b + 1) / z",
    {"b": "1 / b - np.log(z)"},
    {"b": "z**-b * np.log(z)"},
    support="z >= 1",
)
distribution("rayleigh", "1 / z - z", support=POSITIVE, log_sf={"z": "-z"})
distribution(
    "skewnorm",
    "a * inverse_mills(a * z) - z",
    {"a": "z * inverse_mills(a * z)"},
    {"a": "-np.exp(-(z**2) * (1 + a**2) / 2) / (math.pi * (1 + a**2))"},
)
distribution(
    "t",
    "-(df + 1) * z / (df + z**2)",
    {
        "df": "(runtime.psi_half_step(df / 2, 0) - log1p_excess(z**2 / df)"
        " + z**2 / (df * (df + z**2))) / 2"
    },
    {
        "df": "np.where(df < 0.25,"
        " -np.sign(z) * runtime.betainc_by_shapes(df / 2, 0.5, df / (df + z**2), 1, 0) / 4"
        " - density * z / (2 * df), runtime.t_cdf_by_df(z, np.maximum(df, 0.25), 1))"
    },
)
distribution(
    "triang",
    "np.where(z < c, 1 / z, -1 / (1 - z))",
    {"c": "np.where(z < c, -1 / c, 1 / (1 - c))"},
    {"c": "-np.where(z < c, z**2 / c**2, (1 - z) ** 2 / (1 - c) ** 2)"},
    support="(z > 0) & (z < 1)",
)
distribution(
    "truncnorm",
    "-z",
    {"a": "dist.pdf(a, a, b)", "b": "-dist.pdf(b, a, b)"},
    {"a": "-dist.pdf(a, a, b) * dist.sf(z, a, b)", "b": "-dist.pdf(b, a, b) * dist.cdf(z, a, b)"},
    support="(z >= a) & (z <= b)",
    log_cdf={
        "a": "-dist.pdf(a, a, b) * np.exp(dist.logsf(z, a, b) - y)",
        "b": "-dist.pdf(b, a, b)",
    },
    log_sf={
        "a": "dist.pdf(a, a, b)",
        "b": "dist.pdf(b, a, b) * np.exp(dist.logcdf(z, a, b) - y)",
    },
)
distribution("uniform", "0.0", support="(z >= 0) & (z <= 1)")
distribution(
    "vonmises",
    "-kappa * np.sin(z)",
    {"kappa": "i_gap(kappa) - 2 * np.sin(z / 2) ** 2"},
)
distribution(
    "weibull_min",
    "(c - 1) / z - c * z ** (c - 1)",
    {"c": "1 / c + np.log(z) - z**c * np.log(z)"},
    {"c": "density * (z * np.log(z) / c)"},
    support=POSITIVE,
    log_sf={"z": "-c * z ** (c - 1)", "c": "-(z**c) * np.log(z)"},
    steep=True,
)
WRAPPED = "((1 - c) ** 2 + 4 * c * np.sin(z / 2) ** 2)"  # 1 + c**2 - 2 * c * cos(z)
distribution(
    "wrapcauchy",
    f"-2 * c * np.sin(z) / {WRAPPED}",
    {"c": f"-2 * c / (1 - c**2) + 2 * (1 - c - 2 * np.sin(z / 2) ** 2) / {WRAPPED}"},
    support="(z >= 0) & (z <= 2 * math.pi)",
)

discrete("bernoulli", {"p": "np.where(k == 1, 1 / p, -1 / (1 - p))"}, {"p": "-1.0 * (k == 0)"})
discrete(
    "betabinom",
    {
        "n": None,
        "a": "special.psi(k + a) - special.psi(n + a + b) - special.psi(a) + special.psi(a + b)",
        "b": "special.psi(n - k + b) - special.psi(n + a + b) - special.psi(b)"
        " + special.psi(a + b)",
    },
)
discrete(
    "binom",
    {"n": None, "p": "k / p - (n - k) / (1 - p)"},
    {"p": "np.where((k >= 0) & (k < n), k - n, 0.0) * dist.pmf(k, n, p) / (1 - p)"},
)
discrete(
    "geom",
    {"p": "1 / p - (k - 1) / (1 - p)"},
    {"p": "np.where(k >= 1, k * (1 - p) ** (k - 1), 0.0)"},
)
discrete(
    "nbinom",
    {
        "n": "special.psi(k + n) - special.psi(n) + np.log(p)",
        "p": "n / p - k / (1 - p)",
    },
    {
        "n": "np.where(k >= 0, runtime.betainc_by_shapes(n, k + 1, p, 1, 0), 0.0)",
        "p": "np.where(k >= 0, np.exp((n - 1) * np.log(p) + special.xlog1py(k, -p)"
        " - special.betaln(n, k + 1)), 0.0)",
    },
)
discrete("poisson", {"mu": "k / mu - 1"}, {"mu": "-dist.pmf(k, mu)"})
register(
    Method(
        scipy.stats.poisson.entropy,
        ("y_bar * runtime.poisson_entropy_by_mu(mu, 1)", None),
        ("mu", "loc"),
        {"loc": 0},
    )
)
register(
    Special(
        runtime.poisson_entropy_by_mu,
        ("y_bar * runtime.poisson_entropy_by_mu(mu, order + 1)", None),
        operands=("mu", "order"),
        domain="positive",
    )
)
