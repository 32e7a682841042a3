"""
The Greeks of an American option
================================

The price of an American put is a loop backwards through a tree, with a decision in each node:
keep it, or exercise? Traders want to know how the price moves with everything. One gradient
gives all Greeks; ``vmap`` of it gives them for every price of the stock at once.
"""

import matplotlib.pyplot as plt
import numpy as np
from scipy.special import ndtr

from s2s_ad import grad, value_and_grad, vmap

# %%
# The closed formula of the European put, which may not be exercised early.


def european_put(spot, volatility, rate, years, strike):
    root = volatility * np.sqrt(years)
    d1 = (np.log(spot / strike) + (rate + volatility**2 / 2) * years) / root
    return strike * np.exp(-rate * years) * ndtr(root - d1) - spot * ndtr(-d1)


# %%
# Cox, Ross and Rubinstein's tree for the American one. The array of values shrinks by one at
# each step towards the root. In the last layer the closed formula is used, which makes the
# prices smooth.


def american_put(spot, volatility, rate, years, strike, steps):
    dt = years / steps
    up = np.exp(volatility * np.sqrt(dt))
    chance = (np.exp(rate * dt) - 1 / up) / (up - 1 / up)
    prices = spot * np.exp(np.log(up) * (2.0 * np.arange(steps + 1) - steps))
    values = np.maximum(strike - prices, 0.0)
    for step in range(steps):
        prices = prices[1:] / up
        if step == 0:
            keep = european_put(prices, volatility, rate, dt, strike)
        else:
            keep = np.exp(-rate * dt) * (chance * values[1:] + (1 - chance) * values[:-1])
        values = np.maximum(keep, strike - prices)
    return values[0]


# %%
# The gradient with respect to four arguments. Which branch ``np.maximum`` took in each node comes
# back in the backward loop.

greeks = value_and_grad(american_put, (0, 1, 2, 3))
print(greeks.source(100.0, 0.25, 0.05, 1.0, 100.0, 200))

# %%
# For 241 prices of the stock and three volatilities, no loop is written.

spots = np.linspace(60.0, 140.0, 241)
every_spot = vmap(greeks, in_axes=(0, None, None, None, None, None))
curves = {vol: every_spot(spots, vol, 0.05, 1.0, 100.0, 400) for vol in (0.15, 0.25, 0.4)}

# %%
# The European put beside it: who may exercise early does so where the stock is cheap, and from
# there on the American put moves with the stock, one for one.

delta = vmap(grad(european_put), in_axes=(0, None, None, None, None))(spots, 0.25, 0.05, 1.0, 100.0)

fig, axes = plt.subplots(1, 4, figsize=(9, 2.6))
titles = ("price", "delta", "vega", "rho")
for (vol, (price, (d, v, r, _))), colour in zip(curves.items(), ("#93c5fd", "#2563eb", "#1e3a8a")):
    for ax, curve in zip(axes, (price, d, v, r)):
        ax.plot(spots, curve, color=colour, lw=1.6, label=f"volatility {vol}")
axes[1].plot(spots, delta, color="#e4572e", lw=1.2, ls="--", label="European, 0.25")
for ax, title in zip(axes, titles):
    ax.axvline(100, color="#cbd5e1", lw=0.8, zorder=0)
    ax.set(title=title, xlabel="price of the stock", xlim=(60, 140))
handles, names = axes[1].get_legend_handles_labels()
axes[0].legend(handles, names, fontsize=7, loc="upper right", handlelength=1.4)
plt.show()
