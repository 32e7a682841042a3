"""Finance: prices, schedules, risk, and rates found by iteration."""

import itertools
import math
from dataclasses import dataclass

import numpy as np

from programs.case import Case


def normal_cdf(x):
    """Abramowitz and Stegun 26.2.17."""
    if x < 0:
        return 1.0 - normal_cdf(-x)
    t = 1 / (1 + 0.2316419 * x)
    series = 0.0
    for c in reversed((0.319381530, -0.356563782, 1.781477937, -1.821255978, 1.330274429)):
        series = t * (c + series)
    return 1.0 - np.exp(-0.5 * x**2) / np.sqrt(2 * np.pi) * series


def black_scholes(spot, strike, rate, volatility, maturity):
    spread = volatility * np.sqrt(maturity)
    d1 = (np.log(spot / strike) + (rate + 0.5 * volatility**2) * maturity) / spread
    d2 = d1 - spread
    return spot * normal_cdf(d1) - strike * np.exp(-rate * maturity) * normal_cdf(d2)


def european_tree(spot, volatility, rate, strike=1.0, steps=6):
    dt = 1.0 / steps
    up = np.exp(volatility * np.sqrt(dt))
    p = (np.exp(rate * dt) - 1 / up) / (up - 1 / up)
    values = np.zeros(steps + 1)
    for j in range(steps + 1):
        values[j] = max(spot * up ** (2 * j - steps) - strike, 0.0)
    for i in range(steps, 0, -1):
        for j in range(i):
            values[j] = np.exp(-rate * dt) * (p * values[j + 1] + (1 - p) * values[j])
    return values[0]


def american_put(spot, volatility, rate):
    strike, steps = 1.1, 5
    dt = 0.2
    up = math.exp(volatility * math.sqrt(dt))
    down = 1 / up
    p = (math.exp(rate * dt) - down) / (up - down)
    prices = spot * up ** (2.0 * np.arange(steps + 1) - steps)
    values = np.maximum(strike - prices, 0.0)
    while len(values) > 1:
        prices = prices[1:] * down
        held = math.exp(-rate * dt) * (p * values[1:] + (1 - p) * values[:-1])
        exercised = strike - prices > held
        held[exercised] = (strike - prices)[exercised]
        values = held
    return values[0]


def bond_yield(price, coupons, face):
    y = 0.05
    for _ in range(50):
        value, slope = -price, 0.0
        for k, coupon in enumerate(coupons, start=1):
            discount = (1 + y) ** -k
            value += coupon * discount
            slope -= k * coupon * discount / (1 + y)
        n = len(coupons)
        value += face * (1 + y) ** -n
        slope -= n * face * (1 + y) ** (-n - 1)
        step = value / slope
        y -= step
        if abs(step) < 1e-14:
            return y
    raise ArithmeticError("no yield found")


@dataclass(frozen=True)
class Mortgage:
    principal: float
    rate: float
    payment: float


def interest_paid(mortgage, extra):
    """Paid each month until nothing is left; the last payment is what is left."""
    balance, interest, month = mortgage.principal, 0.0, 0
    while balance > 0:
        month += 1
        charge = balance * mortgage.rate / 12
        interest += charge
        payment = mortgage.payment + (extra if month % 3 == 0 else 0.0)
        if payment >= balance + charge:
            payment = balance + charge
            balance = 0.0
            continue
        balance = balance + charge - payment
    return interest


def ewma_volatility(prices, smoothing):
    returns = np.diff(np.log(prices))
    variance = returns[0] ** 2
    history = [variance]
    for r in returns[1:]:
        variance = smoothing * variance + (1 - smoothing) * r**2
        history.append(variance)
    return np.sqrt(np.stack(history)).sum()


def garch_likelihood(parameters, returns):
    omega, alpha, beta = parameters
    variance = np.zeros(len(returns))
    variance[0] = omega / (1 - alpha - beta)
    for t in range(1, len(returns)):
        variance[t] = omega + alpha * returns[t - 1] ** 2 + beta * variance[t - 1]
    return 0.5 * np.sum(np.log(variance) + returns**2 / variance)


def rebalanced_portfolio(weights, returns, cost):
    wealth = 1.0
    holdings = weights / weights.sum()
    target = holdings.copy()
    for day, change in enumerate(returns):
        holdings = holdings * (1 + change)
        growth = holdings.sum()
        wealth *= growth
        holdings /= growth
        drift = np.abs(holdings - target).sum()
        if drift > 0.05 or day == len(returns) - 1:
            wealth *= 1 - cost * drift
            holdings = target.copy()
    return wealth


def internal_rate_of_return(flows):
    """By bisection, finished with Newton steps so that the result depends on the flows."""

    def value(rate):
        total = 0.0
        for flow in flows[::-1]:
            total = total / (1 + rate) + flow
        return total

    low, high = 0.0, 1.0
    while high - low > 0.05:
        middle = (low + high) / 2
        if value(middle) > 0:
            low = middle
        else:
            high = middle
    rate = (low + high) / 2
    for _ in range(6):
        slope = sum(-k * flows[k] * (1 + rate) ** (-k - 1) for k in range(1, len(flows)))
        rate = rate - value(rate) / slope
    return rate


def bootstrapped_curve(par_rates, horizon):
    discounts = []
    for rate in par_rates:
        annuity = sum(discounts)
        discounts.append((1 - rate * annuity) / (1 + rate))
    forwards = [1 / discounts[0] - 1]
    for before, after in itertools.pairwise(discounts):
        forwards.append(before / after - 1)
    return discounts[-1] * np.exp(-horizon * forwards[-1]) + max(forwards)


SHOCKS = np.array([[0.3, -0.8, 0.5, 1.1], [-0.6, 0.2, -1.0, 0.4], [1.2, 0.7, -0.3, 0.9]])


def asian_option(spot, volatility, strike):
    payoff = 0.0
    for path in SHOCKS:
        s, running = spot, 0.0
        for z in path:
            s = s * np.exp(-0.5 * volatility**2 / 4 + volatility * np.sqrt(0.25) * z)
            running += s
        average = running / len(path)
        payoff += average - strike if average > strike else 0.0
    return payoff / len(SHOCKS)


def barrier_option(spot, volatility, barrier):
    payoffs = np.zeros(len(SHOCKS))
    for i, path in enumerate(SHOCKS):
        s = spot
        for z in path:
            s *= np.exp(volatility * 0.5 * z)
            if s < barrier:
                payoffs[i] = 0.1 * s / barrier
                break
        else:
            payoffs[i] = (s - 0.9 * barrier) ** 2
    return payoffs.mean()


def short_rate_discount(kappa, theta, sigma, r0):
    """A square-root process along one path; it is reflected where it would be negative."""
    r, integral = r0, 0.0
    for z in (-1.5, -2.5, 0.7, 1.1, -0.2):
        r_new = r + kappa * (theta - r) * 0.5 + sigma * np.sqrt(r * 0.5) * z
        r_new = -r_new if r_new < 0 else r_new
        integral += 0.25 * (r + r_new)
        r = r_new
    return np.exp(-integral)


def nelson_siegel(parameters, maturities, yields):
    tau = parameters["tau"]
    loss = 0.0
    for m, observed in zip(maturities, yields):
        x = m / tau
        slope = (1 - np.exp(-x)) / x
        fitted = parameters["level"] + parameters["slope"] * slope
        fitted += parameters["curvature"] * (slope - np.exp(-x))
        loss += (fitted - observed) ** 2
    return 1e2 * loss


def income_tax(income, rates, deduction):
    brackets = [1.0, 3.0, 6.0, math.inf]
    taxable = income - deduction
    if taxable <= 0:
        return 0.0
    tax, lower = 0.0, 0.0
    for upper, rate in zip(brackets, rates):
        if taxable <= upper:
            tax += rate * (taxable - lower)
            break
        tax += rate * (upper - lower)
        lower = upper
    return tax + 0.01 * taxable**2


def max_drawdown(returns, leverage):
    wealth = np.cumsum(np.log1p(leverage * returns))
    worst, peak = 0.0, wealth[0]
    for w in wealth:
        if w > peak:
            peak = w
        worst = min(worst, w - peak)
    return np.exp(worst)


CASES = [
    Case(black_scholes, (1.05, 1.0, 0.03, 0.25, 0.8), wrt=(0, 1, 2, 3, 4), complex_step=True),
    Case(european_tree, (1.02, 0.3, 0.05), wrt=(0, 1, 2)),
    Case(american_put, (1.0, 0.35, 0.06), wrt=(0, 1, 2)),
    Case(
        bond_yield,
        (0.97, np.array([0.04, 0.045, 0.05, 0.05]), 1.0),
        wrt=(0, 1, 2),
        complex_step=True,
    ),
    Case(interest_paid, (Mortgage(1.0, 0.6, 0.17), 0.05), wrt=(0, 1), complex_step=True),
    Case(
        ewma_volatility,
        (np.array([1.0, 1.1, 1.04, 1.2, 1.15, 1.3]), 0.85),
        wrt=(0, 1),
        complex_step=True,
    ),
    Case(
        garch_likelihood,
        (np.array([0.1, 0.2, 0.6]), np.array([0.3, -0.8, 1.2, 0.1, -0.5, 0.9])),
        wrt=(0, 1),
    ),
    Case(
        rebalanced_portfolio,
        (
            np.array([2.0, 1.0, 1.5]),
            np.array([[0.02, -0.01, 0.03], [0.2, -0.15, 0.1], [-0.05, 0.04, 0.01]]),
            0.3,
        ),
        wrt=(0, 1, 2),
    ),
    Case(internal_rate_of_return, (np.array([-1.0, 0.3, 0.4, 0.25, 0.5]),), complex_step=True),
    Case(bootstrapped_curve, ([0.02, 0.025, 0.032, 0.036], 0.5), wrt=(0, 1), complex_step=True),
    Case(asian_option, (1.0, 0.4, 0.95), wrt=(0, 1, 2), complex_step=True),
    Case(barrier_option, (1.0, 0.35, 0.85), wrt=(0, 1, 2)),
    Case(short_rate_discount, (0.8, 0.05, 0.3, 0.06), wrt=(0, 1, 2, 3), complex_step=True),
    Case(
        nelson_siegel,
        (
            {"level": 0.04, "slope": -0.02, "curvature": 0.01, "tau": 1.7},
            np.array([0.5, 1.0, 3.0, 7.0]),
            np.array([0.022, 0.025, 0.033, 0.037]),
        ),
        wrt=(0, 1, 2),
        complex_step=True,
    ),
    Case(
        income_tax, (5.2, np.array([0.1, 0.2, 0.35, 0.45]), 0.6), wrt=(0, 1, 2), complex_step=True
    ),
    Case(
        max_drawdown,
        (np.array([0.05, -0.08, 0.03, -0.1, 0.07]), 1.5),
        wrt=(0, 1),
        complex_step=True,
    ),
]
