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
import scipy.stats

from s2s_ad.core.registry import register
from s2s_ad.rules.scipy_special_calls import UNKNOWN, Special
from s2s_ad.rules.scipy_special_gamma import betainc_by_a, gammainc_by_a


def standard(x: Any, loc: Any, scale: Any) -> Any:
    """(x - loc) / scale, without what does nothing."""
    return over(x if _is(loc, 0) else x - loc, scale)


def over(value: Any, scale: Any) -> Any:
    """value / scale, which is the value itself for a scale of 1."""
    return value if _is(scale, 1) else value / scale


def _is(value: Any, number: int) -> bool:
    return type(value) in (int, float) and value == number


HELPERS = {
    "betainc_by_a": betainc_by_a,
    "gammainc_by_a": gammainc_by_a,
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
) -> None:
    """A continuous distribution.

    Args:
        slope: of the log-density of z, as text over z and the shapes.
        shapes: of the log-density with respect to each shape parameter.
        cdf: of the distribution function with respect to the shape parameters that have a formula;
            `density` is the density of z.
        support: where the density is not zero: elsewhere all slopes are.
    """
    shapes, cdf = shapes or {}, cdf or {}
    slopes = _Slopes(
        support, tuple(shapes), slope, list(shapes.values()), [cdf.get(each) for each in shapes]
    )
    made = getattr(scipy.stats, name)
    defaults = {"loc": 0, "scale": 1}
    for method, texts in slopes.methods().items():
        first = "q" if method in ("ppf", "isf") else "x"
        names = (first, *shapes, "loc", "scale")
        register(Method(getattr(made, method), texts, names, defaults))


class _Slopes:
    """The texts of the adjoints of each method, for x, the shapes, loc and scale in turn."""

    def __init__(
        self, support: str, names: tuple[str, ...], slope: str, shapes: list[str], cdf: list
    ):
        within = f"np.where({support}, {{}}, 0.0)".format if support else "{}".format
        self.names, self.slope, self.cdf = names, within(slope), cdf
        self.shapes = [within(each) for each in shapes]
        self.cdf_within = [each and within(each) for each in cdf]

    def methods(self) -> dict[str, tuple[str, ...]]:
        density, log_density = (self._call(each, "x") for each in ("pdf", "logpdf"))
        ratio = f"np.exp({log_density} - y)"
        return {
            "pdf": self._density(
                "over(y * ({}), scale)", "over(y * (1 + z * ({})), scale)", "y * ({})"
            ),
            "logpdf": self._density("over({}, scale)", "over(1 + z * ({}), scale)", "{}"),
            "cdf": self._distribution("", density, "{}"),
            "sf": self._distribution("-", density, "{}"),
            "logcdf": self._distribution("", ratio, "{} * np.exp(-y)"),
            "logsf": self._distribution("-", ratio, "{} * np.exp(-y)"),
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

    def _distribution(self, sign: str, density: str, by_shape: str) -> tuple[str, ...]:
        shapes = [
            f"{sign}y_bar * ({by_shape.format(f'({each})')})" if each else UNKNOWN
            for each in self.cdf_within
        ]
        other = "" if sign else "-"
        loc, scale = f"{other}y_bar * {density}", f"{other}y_bar * ({density} * z)"
        return self._at("x", (f"{sign}y_bar * {density}", *shapes, loc, scale))

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
    for method, sign in {"cdf": "", "sf": "-"}.items():
        found = [(cdf or {}).get(each, shapes[each] and UNKNOWN) for each in shapes]
        texts = [
            each
            if each in (None, UNKNOWN)
            else f"{sign}y_bar * ({at_k.sub('np.floor(k - loc)', each)})"
            for each in found
        ]
        register(Method(getattr(made, method), (None, *texts, None), names, {"loc": 0}))
