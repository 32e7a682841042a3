"""The kinds of scipy.stats: a distribution is a row that gives the slopes of its log-density.

Everything else follows: with z = (x - loc) / scale and s(z) the slope of the log-density of z,
the density's slope is density * s, the distribution function's is the density, and those of the
inverse functions are reciprocals.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import gast
import numpy as np
import scipy.stats

from s2s_ad import runtime
from s2s_ad.core.builder import Builder
from s2s_ad.core.registry import register
from s2s_ad.rules import scipy_special_gamma  # noqa: F401  (registers slopes by shapes)
from s2s_ad.rules.composite import composed
from s2s_ad.rules.scipy_special_bessel import i_gap
from s2s_ad.rules.scipy_special_calls import UNKNOWN, Special, called, inverse_mills


def standard(x: Any, loc: Any, scale: Any) -> Any:
    """(x - loc) / scale, without what does nothing."""
    return over(x if _is(loc, 0) else x - loc, scale)


def over(value: Any, scale: Any) -> Any:
    """value / scale, which is the value itself for a scale of 1."""
    return value if _is(scale, 1) else value / scale


def log1p_excess(w: Any) -> Any:
    """log1p(w) - w / (1 + w) for w >= 0, of which near zero the two cancel."""
    return w**2 * called(runtime.log1p_slope, w)


def damped(density: Any, slope: Any) -> Any:
    """density * slope; 0 where the one is too small for a number, though the other be too large."""
    return np.where(density == 0, 0.0, density * slope)


def t_density_by_df(t: Any, df: Any) -> Any:
    """The derivative of Student's density by df."""
    w = t**2 / df
    slope = called(runtime.psi_half_step, df / 2, 0) - log1p_excess(w) + w / (df + t**2)
    return called(scipy.stats.t.pdf, t, df) * slope / 2


# Of large df the derivative of the distribution function is a small rest of large terms.
register(
    Special(
        runtime.t_cdf_by_df,
        (
            "y_bar * (by_df(t, df) if order == 1 else unknown(y))",
            "y_bar * runtime.t_cdf_by_df(t, df, order + 1)",
            None,
        ),
        operands=("t", "df", "order"),
        domain="positive",
        helpers={"by_df": t_density_by_df},
    )
)


def _is(value: Any, number: int) -> bool:
    return type(value) in (int, float) and value == number


HELPERS = {
    "damped": damped,
    "i_gap": i_gap,
    "inverse_mills": inverse_mills,
    "log1p_excess": log1p_excess,
    "over": over,
    "standard": standard,
}


class Method(Special):
    """A method of a distribution; trailing parameters that have their defaults are not printed."""

    def __init__(self, method: Callable, adjoints: tuple, names: tuple[str, ...], defaults: dict):
        super().__init__(method, adjoints, operands=names, helpers=HELPERS, domain="positive")
        self.defaults = defaults
        self.modules = Special.modules | {"dist": method.__self__}
        self.text = ", ".join(
            f"{name}={defaults[name]}" if name in defaults else name for name in names
        )

    def surface(self, call: gast.Call, facts: Callable) -> gast.AST:
        args = list(call.args)
        names = list(self.operand_names)
        while names[-1] in self.defaults and _is(
            getattr(args[-1], "value", None), self.defaults[names[-1]]
        ):
            args.pop()
            names.pop()
        return gast.Call(func=call.func, args=args, keywords=call.keywords)


def distribution(
    name: str,
    slope: str,
    shapes: dict[str, str] | None = None,
    cdf: dict[str, str] | None = None,
    support: str = "",
    log_cdf: dict[str, str] | None = None,
    log_sf: dict[str, str] | None = None,
    steep: bool = False,
) -> None:
    """A continuous distribution.

    Args:
        slope: of the log-density of z, as text over z and the shapes.
        shapes: of the log-density with respect to each shape parameter.
        cdf: of the distribution function with respect to the shape parameters that have a formula;
            `density` is the density of z.
        support: where the density is not zero: elsewhere all slopes are.
        log_cdf: of the logarithm of the distribution function with respect to z and to shapes,
            where SciPy's is finite though the function is too small for a number.
        log_sf: the same of 1 less the distribution function.
        steep: whether slopes may be too large for a number where the density is too small for one.
    """
    shapes = shapes or {}
    slopes = _Slopes(support, slope, shapes, cdf or {}, log_cdf or {}, log_sf or {}, steep)
    made = getattr(scipy.stats, name)
    defaults = {"loc": 0, "scale": 1}
    for method, texts in slopes.methods().items():
        first = "q" if method in ("ppf", "isf") else "x"
        names = (first, *shapes, "loc", "scale")
        register(Method(getattr(made, method), texts, names, defaults))
        if not shapes and not support:  # no number is outside: what SciPy computes then is this
            _register_inner(getattr(made, f"_{method}"), getattr(made, method), first)


def _register_inner(inner: Callable, method: Callable, name: str) -> None:
    """`norm._cdf(x)`: called without the checks of `norm.cdf(x)`, which gives the same."""

    def meaning(builder: Builder, **given: Any) -> Any:
        return builder.call(method, tuple(given.values()), {})

    composed(inner, name, meaning)


class _Slopes:
    """The texts of the adjoints of each method, for x, the shapes, loc and scale in turn."""

    def __init__(
        self,
        support: str,
        slope: str,
        shapes: dict[str, str],
        cdf: dict[str, str],
        log_cdf: dict[str, str],
        log_sf: dict[str, str],
        steep: bool,
    ):
        within = f"np.where({support}, {{}}, 0.0)".format if support else "{}".format
        self.names, self.slope, self.steep = tuple(shapes), within(slope), steep
        self.shapes = [within(each) for each in shapes.values()]
        self.cdf = [cdf.get(each) for each in shapes]
        self.cdf_within = [each and within(each) for each in self.cdf]
        self.log_cdf = {name: within(each) for name, each in log_cdf.items()}
        self.log_sf = {name: within(each) for name, each in log_sf.items()}

    def methods(self) -> dict[str, tuple[str, ...]]:
        y = "damped(y, {})" if self.steep else "y * ({})"
        by_x, by_scale = y.format("{}"), y.format("1 + z * ({})")
        return {
            "pdf": self._density(f"over({by_x}, scale)", f"over({by_scale}, scale)", y),
            "logpdf": self._density("over({}, scale)", "over(1 + z * ({}), scale)", "{}"),
            "cdf": self._distribution(""),
            "sf": self._distribution("-"),
            "logcdf": self._log_distribution("", self.log_cdf),
            "logsf": self._log_distribution("-", self.log_sf),
            "ppf": self._inverse(""),
            "isf": self._inverse("-"),
        }

    def _call(self, method: str, at: str) -> str:
        return f"dist.{method}({', '.join([at, *self.names, 'loc', 'scale'])})"

    def _density(self, by_x: str, by_scale: str, by_shape: str) -> tuple[str, ...]:
        x, scale = by_x.format(self.slope), by_scale.format(self.slope)
        shapes = [f"y_bar * ({by_shape.format(each)})" for each in self.shapes]
        texts = (f"y_bar * ({x})", *shapes, f"-y_bar * ({x})", f"-y_bar * ({scale})")
        return self._at("x", texts)

    def _distribution(self, sign: str) -> tuple[str, ...]:
        shapes = [f"{sign}y_bar * ({each})" if each else UNKNOWN for each in self.cdf_within]
        density, other = self._call("pdf", "x"), "" if sign else "-"
        loc, scale = f"{other}y_bar * {density}", f"{other}y_bar * ({density} * z)"
        return self._at("x", (f"{sign}y_bar * {density}", *shapes, loc, scale))

    def _log_distribution(self, sign: str, known: dict[str, str]) -> tuple[str, ...]:
        """Where nothing else is known: quotients by the distribution function."""
        ratio = f"{sign}np.exp({self._call('logpdf', 'x')} - y)"
        by_x = f"over({known['z']}, scale)" if "z" in known else ratio
        quotients = (each and f"{sign}({each}) * np.exp(-y)" for each in self.cdf_within)
        by_shape = dict(zip(self.names, quotients, strict=True)) | known
        shapes = [f"y_bar * ({by_shape[n]})" if by_shape[n] else UNKNOWN for n in self.names]
        texts = (f"y_bar * ({by_x})", *shapes, f"-y_bar * ({by_x})", f"-y_bar * ({by_x} * z)")
        return self._at("x", texts)

    def _inverse(self, sign: str) -> tuple[str, ...]:
        density = self._call("pdf", "y")
        shapes = [f"-y_bar * (({each}) / {density})" if each else UNKNOWN for each in self.cdf]
        return self._at("y", (f"{sign}y_bar / {density}", *shapes, "y_bar", "y_bar * z"))

    def _at(self, point: str, texts: tuple[str, ...]) -> tuple[str, ...]:
        """The texts with z and the density of z written out."""
        density = f"({self._call('pdf', point)} * scale)"
        z = f"standard({point}, loc, scale)"
        written = (re.sub(r"\bdensity\b", density, each) for each in texts)
        return tuple(re.sub(r"\bz\b", z, each) for each in written)


def discrete(name: str, shapes: dict[str, str | None], cdf: dict[str, str] | None = None) -> None:
    """A distribution on the integers.

    Args:
        shapes: the slope of the log-probability of k with respect to each shape parameter; None
            where the parameter is a number of things.
        cdf: the same of the distribution function, where there is a formula.
    """
    made, names = getattr(scipy.stats, name), ("k", *shapes, "loc")
    at_k = re.compile(r"\bk\b")
    for method, pattern in {"pmf": "y_bar * (y * ({}))", "logpmf": "y_bar * ({})"}.items():
        texts = [each and pattern.format(at_k.sub("(k - loc)", each)) for each in shapes.values()]
        register(Method(getattr(made, method), (None, *texts, None), names, {"loc": 0}))
    for method in ("ppf", "isf"):  # they move in steps
        steps = (None,) * (len(names))
        register(Method(getattr(made, method), steps, ("q", *shapes, "loc"), {"loc": 0}))
    for method, sign in {"cdf": "", "sf": "-"}.items():
        found = [(cdf or {}).get(each, shapes[each] and UNKNOWN) for each in shapes]
        texts = [
            each
            if each in (None, UNKNOWN)
            else f"{sign}y_bar * ({at_k.sub('np.floor(k - loc)', each)})"
            for each in found
        ]
        register(Method(getattr(made, method), (None, *texts, None), names, {"loc": 0}))
