"""scipy.stats: what is written in Python, and distributions with their parameters: norm(mu, s)."""

from __future__ import annotations

import types
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import scipy.stats
from scipy.stats._distn_infrastructure import rv_frozen
from scipy.stats._multivariate import multi_rv_generic, multivariate_normal_frozen

from s2s_ad.api.written import write
from s2s_ad.frontend.lower.attributes import Made, read_attribute
from s2s_ad.frontend.lower.calls import HANDLERS, Partial, apply
from s2s_ad.frontend.resolve import Captured
from s2s_ad.written import scipy_stats

write(scipy.stats.gaussian_kde, scipy_stats.gaussian_kde)
write(scipy.stats.linregress, scipy_stats.linregress)

#: methods that are told no point
OF_PARAMETERS = ("entropy", "mean", "median", "std", "var")


@dataclass(frozen=True, eq=False, slots=True)
class Frozen(Made):
    """A distribution with its parameters, which each of its methods is given after the point."""

    distribution: Any
    args: tuple
    kwargs: tuple

    def holds(self) -> tuple:
        return (*self.args, *(value for _, value in self.kwargs))

    def attribute(self, lowering: Any, name: str) -> Any:
        method = read_attribute(lowering, self.distribution, name)
        if name in OF_PARAMETERS:
            return Partial(method, self.args, self.kwargs)
        return Partial(_at_point, (method, self), ())


def _at_point(lowering: Any, args: list, kwargs: dict[str, Any]) -> Any:
    """The handler of itself: a method called with a point, and then the parameters."""
    method, frozen, *points = args
    return apply(lowering, method, [*points, *frozen.args], kwargs | dict(frozen.kwargs))


HANDLERS[_at_point] = _at_point


def _freezes(distribution: Any) -> Callable:
    def handler(lowering: Any, args: list, kwargs: dict[str, Any]) -> Frozen:
        held = lowering.captures.held(distribution, "distribution")
        return Frozen(held, tuple(args), tuple(kwargs.items()))

    return handler


# ---- distributions that the function captured ----------------------------------------------------


def _univariate(lowering: Any, own: Captured) -> Frozen:
    args = lowering.captures.of(own.value.args, own.attribute("args"))
    kwargs = lowering.captures.of(own.value.kwds, own.attribute("kwds"))
    named = tuple(zip(kwargs.keys, kwargs.items, strict=True))
    return _freezes(getattr(scipy.stats, own.value.dist.name))(lowering, args.items, dict(named))


def _normal(lowering: Any, own: Captured) -> Frozen:
    names = ("mean", "cov", "allow_singular")
    named = {n: lowering.captures.of(getattr(own.value, n), own.attribute(n)) for n in names}
    return _freezes(scipy.stats.multivariate_normal)(lowering, [], named)


def _of_captured(name: str, frozen: Callable) -> Callable:
    """The handler of a method of the class of such distributions."""

    def handler(lowering: Any, args: list, kwargs: dict[str, Any]) -> Any:
        own, *points = args
        method = frozen(lowering, own).attribute(lowering, name)
        return apply(lowering, method, points, kwargs)

    return handler


UNIVARIATE = (scipy.stats.rv_continuous, scipy.stats.rv_discrete)
for _distribution in vars(scipy.stats).values():
    if isinstance(_distribution, (*UNIVARIATE, multi_rv_generic)):
        HANDLERS[_distribution] = _freezes(_distribution)
for _class in (*rv_frozen.__subclasses__(), rv_frozen):
    for _name, _function in vars(_class).items():
        if isinstance(_function, types.FunctionType) and not _name.startswith("_"):
            HANDLERS[_function] = _of_captured(_name, _univariate)
for _name in ("cdf", "entropy", "logcdf", "logpdf", "pdf"):
    HANDLERS[vars(multivariate_normal_frozen)[_name]] = _of_captured(_name, _normal)
