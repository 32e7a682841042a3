"""
Compile a gradient with Numba
=============================

The text that comes out is plain NumPy, and much of it is what ``numba.njit`` reads. So a loop of
many small steps, at which Python is slow, becomes a gradient at the speed of C.
"""

import time

import numba
import numpy as np

from s2s_ad import grad

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
# Write a module that needs nothing of this library, and give its function to Numba.

text = slope.source(u, 0.1, 100, standalone=True)
print(text)
module = {}
exec(text, module)
compiled = numba.njit(module["energy_grad"])

# %%
# The first call compiles. The results are the same.

for native, python in zip(compiled(u, 0.1, 100), slope(u, 0.1, 100)):
    np.testing.assert_allclose(native, python, rtol=1e-12)


def microseconds(function, repeat):
    started = time.perf_counter()
    for _ in range(repeat):
        function(u, 0.1, 100)
    return 1e6 * (time.perf_counter() - started) / repeat


print(f"Python {microseconds(slope, 20):.0f} µs, Numba {microseconds(compiled, 500):.0f} µs")

# %%
# What Numba does not read, a dict among the arguments or some keyword of NumPy's, it names with
# the line of the generated text.
#
# A function that *is* compiled by Numba already is read through: its gradient is that of the
# Python that it was made from.


@numba.njit
def softly(x):
    return np.sum(np.log1p(np.exp(x)))


print(grad(softly)(np.array([-1.0, 0.0, 1.0])))
