"""
Compile a gradient with Numba
=============================

A loop of many small steps is slow in Python. Where Numba is installed, ``jit`` writes the gradient
as loops over elements, compiles them, and lets them answer.
"""

import time

import numba
import numpy as np

from s2s_ad import grad, jit

# %%
# A hundred steps on a short rod: what takes the time is not the arithmetic.


def energy(u, k, steps):
    u = u.copy()
    for _ in range(steps):
        u[1:-1] += k * (u[2:] - 2 * u[1:-1] + u[:-2])
    return np.sum(u**2)


u = np.sin(np.linspace(0, 3, 20))
slope = grad(energy, (0, 1))

# %%
# The first call compiles. The results are the same.

compiled = jit(slope)

for native, python in zip(compiled(u, 0.1, 100), slope(u, 0.1, 100)):
    np.testing.assert_allclose(native, python, rtol=1e-12)


def microseconds(function, repeat):
    started = time.perf_counter()
    for _ in range(repeat):
        function(u, 0.1, 100)
    return 1e6 * (time.perf_counter() - started) / repeat


print(f"Python {microseconds(slope, 20):.0f} µs, Numba {microseconds(compiled, 500):.0f} µs")

# %%
# The loops are text, too: a module that needs NumPy and Numba, and nothing of this library.

text = compiled.source(u, 0.1, 100, native=True)
print(text)
exec(text, module := {})
np.testing.assert_allclose(module["energy_grad"](u, 0.1, 100)[0], slope(u, 0.1, 100)[0], rtol=1e-12)

# %%
# What has no native form stays NumPy's, and ``explain`` says what that is and why.

print(compiled.explain(u, 0.1, 100, native=True))

# %%
# A function that *is* compiled by Numba already is read through: its gradient is that of the
# Python that it was made from.


@numba.njit
def softly(x):
    return np.sum(np.log1p(np.exp(x)))


print(grad(softly)(np.array([-1.0, 0.0, 1.0])))
