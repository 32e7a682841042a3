"""A parameter study of the heat equation: an ensemble of runs, each with its sensitivity.

pip install s2s_ad[parallel]. Each member has its own diffusivity and its own width of the hot spot;
what is computed of it are the temperature in the middle at the end, and its derivatives with respect to
both. The members are a dask array, so a thousand of them or a million are the same code.
"""

import dask.array as da
import numpy as np

from s2s_ad import parallel, value_and_grad

POINTS, STEPS = 41, 200
GRID = np.linspace(-1.0, 1.0, POINTS)


def middle(diffusivity, width):
    """The temperature in the middle after all steps."""
    u = np.exp(-((GRID / width) ** 2))
    for _ in range(STEPS):
        u[1:-1] += diffusivity * (u[2:] - 2 * u[1:-1] + u[:-2])
    return u[POINTS // 2]


def main():
    diffusivities, widths = np.linspace(0.05, 0.45, 24), np.linspace(0.1, 0.5, 16)
    members = da.meshgrid(*(da.from_array(each, chunks=8) for each in (diffusivities, widths)))
    k, s = (each.ravel().rechunk(64) for each in members)
    study = parallel.vmap(value_and_grad(middle, (0, 1)))
    temperature, (by_diffusivity, by_width) = study(k, s)
    print(temperature)
    hottest = int(temperature.argmax())
    print(f"hottest at diffusivity {k[hottest].compute():.2f}, width {s[hottest].compute():.2f}")
    print("more diffusion is cooler everywhere:", bool((by_diffusivity < 0).all()))
    print("a wider spot is hotter everywhere:", bool((by_width > 0).all()))
    step = 1e-6
    moved = middle(0.25 + step, 0.3) - middle(0.25 - step, 0.3)
    (slope,) = study(np.array([0.25]), np.array([0.3]))[1][0].compute()
    print("as differences say:", bool(np.isclose(slope, moved / (2 * step), rtol=1e-6)))


if __name__ == "__main__":
    main()

# Output:
#
# dask.array<middle-0, shape=(384,), dtype=float64, chunksize=(64,), chunktype=numpy.ndarray>
# hottest at diffusivity 0.05, width 0.50
# more diffusion is cooler everywhere: True
# a wider spot is hotter everywhere: True
# as differences say: True
