"""
Sensitivities of differential equations
=======================================

Two ways: let SciPy solve and differentiate its solution, or write the steps yourself and
differentiate them.
"""

import matplotlib.pyplot as plt
import numpy as np
from scipy.integrate import solve_ivp

from s2s_ad import grad, jacfwd

# %%
# Through ``solve_ivp``
# ---------------------
#
# The solution is differentiated with respect to the initial state and to what the right-hand side
# reads, by the equations of its sensitivities.


def hunters(t, state, p):
    prey, hunters = state
    return np.array([p[0] * prey - p[1] * prey * hunters, p[2] * prey * hunters - p[3] * hunters])


def population(p, start, times):
    return solve_ivp(
        hunters, (0.0, times[-1]), start, t_eval=times, args=(p,), rtol=1e-8, atol=1e-8
    ).y


p, start = np.array([1.1, 0.4, 0.1, 0.4]), np.array([10.0, 5.0])
times = np.linspace(0.5, 20.0, 80)
sensitivities = jacfwd(population)(p, start, times)
print(sensitivities.shape)

# %%
# They agree with differences.

step = np.array([1e-5, 0, 0, 0])
ahead, behind = population(p + step, start, times), population(p - step, start, times)
print(np.abs((ahead - behind) / 2e-5 - sensitivities[..., 0]).max())

# %%
# Steps of your own
# -----------------
#
# Where the method is yours, its gradient is exact for the steps that were made, and cheap in
# reverse mode however many parameters there are.


def last(p, state, steps):
    dt = 20.0 / steps
    for _ in range(steps):
        k1 = hunters(0.0, state, p)
        k2 = hunters(0.0, state + dt / 2 * k1, p)
        k3 = hunters(0.0, state + dt / 2 * k2, p)
        k4 = hunters(0.0, state + dt * k3, p)
        state = state + dt / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
    return state[0]


print(grad(last, (0, 1))(p, start, 400))
print(sensitivities[0, -1])

# %%
# A loop of many thousand steps is given ``checkpoint(range(steps), every=100)``: then a
# hundredth of the states is kept.

fig, axes = plt.subplots(1, 2, figsize=(7.6, 2.7))
solution = population(p, start, times)
axes[0].plot(times, solution[0], label="prey")
axes[0].plot(times, solution[1], label="hunters")
axes[0].set(title="solution", xlabel="t")
names = ("birth", "hunting", "feeding", "death")
for k, name in enumerate(names):
    axes[1].plot(times, sensitivities[0, :, k] * p[k], label=name, lw=1.4)
axes[1].set(title="what the prey owes to each rate", xlabel="t")
for ax in axes:
    ax.legend(fontsize=8)
plt.show()
