"""Options, bonds, models of growth and regressions, as their repositories write them."""

from __future__ import annotations

import abc
import datetime
import functools
import math
import operator
from dataclasses import dataclass, field, replace
from functools import cached_property
from types import SimpleNamespace
from typing import Iterator

import numpy as np
from scipy.special import gammaln
from scipy.stats import norm

from programs.case import Case

N = norm.cdf


def validate(fn):
    @functools.wraps(fn)
    def wrapper(*args, **kwargs):
        flag = args[0]
        if flag.lower()[0] not in "cp":
            raise ValueError("flag must be 'c' or 'p', not %s" % flag)
        return fn(*args, **kwargs)

    return wrapper


@validate
def black_scholes(flag, S, K, t, r, sigma, q=0.0):
    """Generalised Black-Scholes price."""
    if t <= 0:
        return max(S - K, 0) if flag == "c" else max(K - S, 0)
    d1 = (math.log(S / K) + (r - q + sigma**2 / 2) * t) / (sigma * math.sqrt(t))
    d2 = d1 - sigma * math.sqrt(t)
    binary = {"c": 1, "p": -1}[flag.lower()[0]]
    return binary * (S * math.exp(-q * t) * N(binary * d1) - K * math.exp(-r * t) * N(binary * d2))


def bs_call(flag, S, K, t, r, sigma):
    return black_scholes(flag, S, K, t, r, sigma)


class Instrument(metaclass=abc.ABCMeta):
    def __init__(self, notional=1.0, **kw):
        super().__init__()
        self.notional = notional
        for k, v in kw.items():
            setattr(self, k, v)

    @abc.abstractmethod
    def cashflows(self):
        raise NotImplementedError

    def npv(self, curve):
        return sum(cf * curve.discount(t) for t, cf in self.cashflows())


class Bond(Instrument):
    def __init__(self, coupon, maturity, freq=2, **kw):
        super(Bond, self).__init__(**kw)
        self.coupon = coupon
        self.maturity = maturity
        self.freq = freq

    def cashflows(self) -> Iterator:
        periods = int(self.maturity * self.freq)
        for i in range(1, periods + 1):
            yield i / self.freq, self.notional * self.coupon / self.freq
        yield self.maturity, self.notional


class ZeroCurve:
    def __init__(self, times, rates, method="linear"):
        if len(times) != len(rates):
            raise ValueError("lengths differ")
        self.times = np.asarray(times, dtype=float)
        self.rates = np.asarray(rates, dtype=float)
        self._interp = getattr(self, "_" + method)

    def _linear(self, t):
        return np.interp(t, self.times, self.rates)

    def _flat(self, t):
        i = np.searchsorted(self.times, t)
        return self.rates[min(i, len(self.rates) - 1)]

    def discount(self, t):
        return np.exp(-self._interp(t) * t)

    def shifted(self, bump: float = 1e-4) -> "ZeroCurve":
        return type(self)(self.times, self.rates + bump)


def bond_book(rates, coupon):
    curve = ZeroCurve([0.5, 1, 2, 5], rates)
    book = [
        Bond(coupon, 2, notional=100.0, name="a"),
        Bond(coupon * 1.5, 3, freq=1, notional=50.0, name="b"),
    ]
    total = functools.reduce(operator.add, (b.npv(curve) for b in book))
    dv01 = sum([b.npv(curve.shifted()) for b in book]) - total
    flat = ZeroCurve([0.5, 1, 2, 5], rates, method="flat")
    return total + 10 * dv01 + book[1].npv(flat) * (book[0].name == "a")


@dataclass(frozen=True)
class Schedule:
    start: float
    end: float
    step: float = 0.5
    tags: tuple = field(default_factory=tuple)

    def __post_init__(self):
        if self.end <= self.start:
            raise ValueError("schedule ends before it starts")

    def times(self):
        n_ = int(round((self.end - self.start) / self.step))
        return [self.start + (i + 1) * self.step for i in range(n_)]


def swap_pv(fixed, forwards):
    sched = Schedule(0.0, 2.0, tags=("usd",))
    longer = replace(sched, end=2.0)
    df, pv = 1.0, 0.0
    discounts = {}
    for t, f in zip(longer.times(), forwards):
        df /= 1 + sched.step * f
        discounts[t] = df
        pv += df * sched.step * (f - fixed)
    annuity = sum(discounts.values()) * sched.step
    par = (1 - discounts[2.0]) / annuity
    assert "usd" in sched.tags
    return 1e4 * pv + par


def xnpv(rate, flows):
    t0 = min(d for d, _ in flows)
    return sum(cf / (1 + rate) ** ((d - t0).days / 365.0) for d, cf in flows)


FLOW_DATES = [datetime.date(2020, 1, 1), datetime.date(2020, 7, 1), datetime.date(2021, 1, 1)]


def dated_npv(rate, amounts):
    flows = list(zip(FLOW_DATES, amounts))
    return xnpv(rate, flows)


class CRRAUtility:
    def __init__(self, gamma=2.0):
        self.gamma = gamma

    def __call__(self, c):
        if self.gamma == 1:
            return np.log(c)
        return (c ** (1 - self.gamma) - 1) / (1 - self.gamma)

    def prime(self, c):
        return c**-self.gamma


class GrowthModel:
    """Cake eating with production on a grid."""

    def __init__(self, u, alpha=0.4, beta=0.9, grid_size=8):
        self.u, self.alpha, self.beta = u, alpha, beta
        self.grid = np.linspace(0.1, 2.0, grid_size)

    @cached_property
    def shocks(self):
        return np.array([0.9, 1.0, 1.1])

    def bellman(self, v):
        v_new = np.empty_like(v)
        for i, k in enumerate(self.grid):
            y = k**self.alpha
            best = -np.inf
            for s in (0.2, 0.5, 0.8):
                c = (1 - s) * y
                value = self.u(c) + self.beta * np.mean(
                    np.interp(self.shocks * s * y, self.grid, v)
                )
                if value > best:
                    best = value
            v_new[i] = best
        return v_new


def value_iteration(risk_aversion, alpha):
    model = GrowthModel(CRRAUtility(risk_aversion), alpha=alpha)
    v, error, it = np.zeros_like(model.grid), 1.0, 0
    while it < 4 and error > 1e-6:
        v_new = model.bellman(v)
        error = np.max(np.abs(v_new - v))
        v = v_new
        it += 1
    return v.sum()


def garch_loglik(params, eps):
    omega, alpha, beta = params
    T = len(eps)
    sigma2 = np.repeat(np.var(eps), T + 1)
    ll = 0
    for t in range(T):
        sigma2[t + 1] = omega + alpha * eps[t] ** 2 + beta * sigma2[t]
        ll -= 0.5 * (np.log(2 * np.pi) + np.log(sigma2[t]) + eps[t] ** 2 / sigma2[t])
    if not np.isfinite(ll):
        return -1e10
    return ll


def solow(alpha, delta):
    p = SimpleNamespace(alpha=alpha, delta=delta, s=0.25, n=0.01, g=0.02)
    k_star = (p.s / (p.n + p.g + p.delta)) ** (1 / (1 - p.alpha))
    path = [0.5 * k_star]
    while len(path) < 10:
        k = path[-1]
        path.append((p.s * k**p.alpha + (1 - p.delta) * k) / (1 + p.n + p.g))
    out = np.array(path) ** p.alpha
    growth = np.diff(np.log(out))
    return growth.sum() + vars(p)["s"] * k_star


def _prior(kind, **kw):
    if kind == "normal":
        mu, sd = kw.get("mu", 0.0), kw["sd"]
        return lambda x: -0.5 * ((x - mu) / sd) ** 2 - np.log(sd) - 0.5 * np.log(2 * np.pi)
    elif kind == "gamma":
        a, b = kw["a"], kw["b"]
        return lambda x: (
            a * np.log(b) - gammaln(a) + (a - 1) * np.log(x) - b * x if x > 0 else -np.inf
        )
    raise KeyError("unknown prior " + kind)


PRIORS = {"beta": _prior("normal", sd=2.0), "phi": _prior("gamma", a=2.0, b=1.0)}


def log_posterior(theta, counts):
    lp = 0.0
    for name, value in sorted(theta.items()):
        contribution = PRIORS[name](value)
        if contribution == -np.inf:
            return -np.inf
        lp += contribution
    mu, phi = np.exp(theta["beta"]), theta["phi"]
    ll = (
        gammaln(counts + phi)
        - gammaln(phi)
        - gammaln(counts + 1)
        + phi * np.log(phi / (phi + mu))
        + counts * np.log(mu / (mu + phi))
    )
    return lp + np.sum(ll)


CASES = [
    Case(
        bs_call,
        (
            "c",
            100.0,
            95.0,
            0.5,
            0.03,
            0.2,
        ),
        wrt=(1, 3, 5),
    ),
    Case(
        bond_book,
        (
            np.array([0.01, 0.015, 0.02, 0.022]),
            0.03,
        ),
        wrt=(0, 1),
    ),
    Case(
        swap_pv,
        (
            0.025,
            np.array([0.02, 0.021, 0.024, 0.026]),
        ),
        wrt=(0, 1),
    ),
    Case(
        dated_npv,
        (
            0.08,
            np.array([-100.0, 40.0, 70.0]),
        ),
        wrt=(0, 1),
    ),
    Case(
        value_iteration,
        (
            2.5,
            0.35,
        ),
        wrt=(0, 1),
        smooth=False,
    ),
    Case(
        garch_loglik,
        (
            np.array([0.5, 0.3, 0.2]),
            np.array([2.0, 3.5, 1.0, 0.5]),
        ),
    ),
    Case(
        solow,
        (
            0.33,
            0.05,
        ),
        wrt=(0, 1),
    ),
    Case(
        log_posterior,
        (
            {"beta": 0.4, "phi": 1.3},
            np.array([1, 0, 2, 4]),
        ),
    ),
]
