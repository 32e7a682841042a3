"""scipy.stats: one row per distribution, and statistics that are written as plain NumPy."""

from __future__ import annotations

from s2s_ad.rules import scipy_stats_arrays  # noqa: F401  (registers its rows)
from s2s_ad.rules.scipy_stats_kinds import discrete, distribution

POSITIVE = "z > 0"

distribution(
    "beta",
    "(a - 1) / z - (b - 1) / (1 - z)",
    {
        "a": "np.log(z) - special.psi(a) + special.psi(a + b)",
        "b": "np.log1p(-z) - special.psi(b) + special.psi(a + b)",
    },
    {"a": "betainc_by_a(a, b, z)", "b": "-betainc_by_a(b, a, 1 - z)"},
    support="(z > 0) & (z < 1)",
)
distribution("cauchy", "-2 * z / (1 + z**2)")
distribution(
    "chi2",
    "(df / 2 - 1) / z - 0.5",
    {"df": "(np.log(z / 2) - special.psi(df / 2)) / 2"},
    {"df": "gammainc_by_a(df / 2, z / 2) / 2"},
    support=POSITIVE,
)
distribution("expon", "-1.0", support="z >= 0")
distribution(
    "f",
    "(dfn / 2 - 1) / z - (dfn + dfd) / 2 * dfn / (dfd + dfn * z)",
    {
        "dfn": "(np.log(dfn * z / (dfd + dfn * z)) + 1 - (dfn + dfd) * z / (dfd + dfn * z)"
        " - special.psi(dfn / 2) + special.psi((dfn + dfd) / 2)) / 2",
        "dfd": "(np.log(dfd / (dfd + dfn * z)) + 1 - (dfn + dfd) / (dfd + dfn * z)"
        " - special.psi(dfd / 2) + special.psi((dfn + dfd) / 2)) / 2",
    },
    support=POSITIVE,
)
distribution(
    "gamma",
    "(a - 1) / z - 1",
    {"a": "np.log(z) - special.psi(a)"},
    {"a": "gammainc_by_a(a, z)"},
    support=POSITIVE,
)
distribution(
    "gennorm",
    "-beta * np.sign(z) * abs(z) ** (beta - 1)",
    {"beta": "1 / beta + special.psi(1 / beta) / beta**2 - special.xlogy(abs(z) ** beta, abs(z))"},
)
distribution("gumbel_l", "1 - np.exp(z)")
distribution("gumbel_r", "np.exp(-z) - 1")
distribution("halfnorm", "-z", support="z >= 0")
distribution(
    "invgamma",
    "-(a + 1) / z + 1 / z**2",
    {"a": "-np.log(z) - special.psi(a)"},
    {"a": "-gammainc_by_a(a, 1 / z)"},
    support=POSITIVE,
)
distribution("laplace", "-np.sign(z)")
distribution("logistic", "-np.tanh(z / 2)")
distribution(
    "lognorm",
    "-(1 + np.log(z) / s**2) / z",
    {"s": "(np.log(z) / s) ** 2 / s - 1 / s"},
    {"s": "-density * (z * np.log(z) / s)"},
    support=POSITIVE,
)
distribution("norm", "-z")
distribution(
    "pareto",
    "-(b + 1) / z",
    {"b": "1 / b - np.log(z)"},
    {"b": "z**-b * np.log(z)"},
    support="z >= 1",
)
distribution("rayleigh", "1 / z - z", support=POSITIVE)
# The ratio of the normal density and distribution function, phi(t) / Phi(t), at t = a * z.
MILLS = "np.exp(-((a * z) ** 2) / 2 - special.log_ndtr(a * z)) / math.sqrt(2 * math.pi)"
distribution(
    "skewnorm",
    f"a * {MILLS} - z",
    {"a": f"z * {MILLS}"},
    {"a": "-np.exp(-(z**2) * (1 + a**2) / 2) / (math.pi * (1 + a**2))"},
)
distribution(
    "t",
    "-(df + 1) * z / (df + z**2)",
    {
        "df": "(special.psi((df + 1) / 2) - special.psi(df / 2) - 1 / df - np.log1p(z**2 / df)"
        " + (df + 1) * z**2 / (df * (df + z**2))) / 2"
    },
    {
        "df": "-np.sign(z) * betainc_by_a(df / 2, 0.5, df / (df + z**2)) / 4"
        " - density * z / (2 * df)"
    },
)
distribution(
    "triang",
    "np.where(z < c, 1 / z, -1 / (1 - z))",
    {"c": "np.where(z < c, -1 / c, 1 / (1 - c))"},
    {"c": "-np.where(z < c, z**2 / c**2, (1 - z) ** 2 / (1 - c) ** 2)"},
    support="(z > 0) & (z < 1)",
)
# The density at the bounds over the probability of what lies between them.
BETWEEN = "np.exp(-({0}**2) / 2) / (math.sqrt(2 * math.pi) * (special.ndtr(b) - special.ndtr(a)))"
distribution(
    "truncnorm",
    "-z",
    {"a": BETWEEN.format("a"), "b": f"-{BETWEEN.format('b')}"},
    {
        "a": f"-{BETWEEN.format('a')} * dist.sf(z, a, b)",
        "b": f"-{BETWEEN.format('b')} * dist.cdf(z, a, b)",
    },
    support="(z >= a) & (z <= b)",
)
distribution("uniform", "0.0", support="(z >= 0) & (z <= 1)")
distribution(
    "vonmises",
    "-kappa * np.sin(z)",
    {"kappa": "np.cos(z) - special.i1e(kappa) / special.i0e(kappa)"},
)
distribution(
    "weibull_min",
    "(c - 1) / z - c * z ** (c - 1)",
    {"c": "1 / c + np.log(z) - z**c * np.log(z)"},
    {"c": "density * (z * np.log(z) / c)"},
    support=POSITIVE,
)
distribution(
    "wrapcauchy",
    "-2 * c * np.sin(z) / (1 + c**2 - 2 * c * np.cos(z))",
    {"c": "-2 * c / (1 - c**2) - 2 * (c - np.cos(z)) / (1 + c**2 - 2 * c * np.cos(z))"},
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
        "n": "np.where(k >= 0, betainc_by_a(n, k + 1, p), 0.0)",
        "p": "np.where(k >= 0, np.exp((n - 1) * np.log(p) + special.xlog1py(k, -p)"
        " - special.betaln(n, k + 1)), 0.0)",
    },
)
discrete("poisson", {"mu": "k / mu - 1"}, {"mu": "-dist.pmf(k, mu)"})
