"""
Fit curves: ``least_squares`` and ``curve_fit``
===============================================

A Jacobian with a row for each residual and a column for each parameter. Forward mode is right
where there are few parameters, which is the usual case.
"""

import matplotlib.pyplot as plt
import numpy as np
from scipy.optimize import curve_fit, least_squares

from s2s_ad import jacfwd

# %%
# ``least_squares``
# -----------------


def residuals(p, t, y):
    return p[0] * np.exp(-p[1] * t) * np.cos(p[2] * t) - y


rng = np.random.default_rng(0)
t = np.linspace(0, 6, 60)
y = 2.0 * np.exp(-0.4 * t) * np.cos(3.0 * t) + rng.normal(0, 0.1, 60)

fit = least_squares(residuals, [1.0, 0.1, 2.8], jac=jacfwd(residuals), args=(t, y))
print(fit.x, "in", fit.nfev, "evaluations")

# %%
# What the Jacobian computes: three directions at once, along a new axis, and no differences.

print(jacfwd(residuals).source(fit.x, t, y))

# %%
# ``curve_fit``
# -------------
#
# Its models take the parameters one by one, so the Jacobian is a tuple of columns.


def model(t, height, decay, frequency):
    return height * np.exp(-decay * t) * np.cos(frequency * t)


columns = jacfwd(model, (1, 2, 3))
found, cov = curve_fit(model, t, y, [1, 0.1, 2.8], jac=lambda *p: np.stack(columns(*p), axis=1))
for name, value, spread in zip(("height", "decay", "frequency"), found, np.sqrt(np.diag(cov))):
    print(f"{name:10} {value:.3f} ± {spread:.3f}")

# %%
# The band of the fit, from the same Jacobian.

J = np.stack(columns(t, *found), axis=1)
band = 2 * np.sqrt(np.sum((J @ cov) * J, axis=1))
fig, ax = plt.subplots(figsize=(6.4, 2.8))
ax.fill_between(
    t, model(t, *found) - band, model(t, *found) + band, color="#2563eb", alpha=0.2, lw=0
)
ax.plot(t, model(t, *found), color="#2563eb")
ax.plot(t, y, "o", ms=4, color="#e4572e", mec="white", mew=0.6)
ax.set(title="a fit and its uncertainty", xlabel="t")
plt.show()
