"""What native code costs beside its loops: calls, batches of branchy code, the first call of all.

    python benchmarks/native_calls.py [calls] [batches] [disk]

Times of one table are interleaved. Two threads on a machine that does something else gain less.
"""

import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path

os.environ |= {"S2S_AD_NATIVE": "1", "OPENBLAS_NUM_THREADS": "1"}  # before NumPy is imported
os.environ.setdefault("S2S_AD_CACHE", "0")

import numpy as np
from kernel_arguments import ARGUMENTS
from kernels import make_case
from numba import njit
from problems import make_problems
from timing import fastest, shown

from s2s_ad import jit, value_and_grad, vmap

SAMPLES = 10_000


# ---- calls ---------------------------------------------------------------------------------------


def firsts(a, b, c):
    return a[0] * b[0] + c[0]


def calls():
    arrays = tuple(np.ones(3) for _ in range(3))
    td0 = next(each for each in make_problems() if each.name == "td0")
    rows = [(jit(firsts), arrays), (njit(firsts), arrays), (jit(td0.ours), td0.args)]
    ours, numbas, gradient = fastest(rows, rounds=100)
    print(f"a call with three arrays: {shown(ours)}, Numba's own {shown(numbas)}; ", end="")
    print(f"{(ours - numbas) * 1e6:+.2f} µs (goal 0.5 µs)")
    print(f"TD(0) gradient: {shown(gradient)} (goal 1.5 µs)")


# ---- batches -------------------------------------------------------------------------------------


def root(a, x):
    """A cubic root by Newton's method, as long as it takes."""
    while abs(x**3 - a) > 1e-10:
        x = x - (x**3 - a) / (3 * x**2)
    return x


def barrier(spot, volatility, steps):
    """What an option pays that ends at a barrier, along a path that is known."""
    price, is_alive = spot, True
    for step in steps:
        price = price * np.exp(volatility * step - 0.5 * volatility**2)
        if price < 0.8 or price > 1.6:
            is_alive = False
            break
    return max(price - 1.0, 0.0) if is_alive else 0.05 * price


def regimes(x, y):
    """Steps of several kinds, of which the point decides."""
    for _ in range(30):
        if x * x + y * y > 4.0:
            x, y = 0.5 * x, 0.5 * y
        elif x > y:
            x, y = x - 0.1 * np.sin(y), y + 0.1 * x
        else:
            x, y = y + 0.05, x * 0.9
    return x * y


def layers(x, y):
    """Passes that all samples make, with a branch in each."""
    for _ in range(10):
        x = np.log(1.0 + np.exp(x)) - 0.5 * y
        if x > 1.0:
            y = np.tanh(x) * y
        else:
            y = 0.9 * y + 0.1 * x
    return x * y


def rotations(x, y):
    """Arithmetic alone."""
    for _ in range(20):
        x, y = x - 0.01 * y * (1.0 + x * x) / (1.0 + y * y), y + 0.01 * x
    return x * x + y


def batched():
    """Functions of one sample, with the arguments of many."""
    rng = np.random.default_rng(0)
    draw = rng.uniform
    steps = 0.3 * rng.standard_normal((SAMPLES, 20))
    return [
        (root, (draw(0.5, 8.0, SAMPLES), draw(1.0, 2.0, SAMPLES))),
        (barrier, (draw(0.9, 1.2, SAMPLES), draw(0.1, 0.6, SAMPLES), steps)),
        (regimes, (draw(-2.0, 2.0, SAMPLES), draw(-2.0, 2.0, SAMPLES))),
        (layers, (draw(-2.0, 2.0, SAMPLES), draw(-2.0, 2.0, SAMPLES))),
        (rotations, (draw(-2.0, 2.0, SAMPLES), draw(-2.0, 2.0, SAMPLES))),
    ]


def batches():
    print(f"{SAMPLES} samples, value and gradient by two arguments")
    print(f"{'':<10}{'NumPy':>10}{'native':>10}{'threads':>10}{'of NumPy':>10}{'of native':>11}")
    for function, args in batched():
        plain = vmap(value_and_grad(function, (0, 1)))
        native, threads = jit(plain), jit(plain, parallel=True)
        for each in (native, threads):
            for mine, its in zip(flat(each(*args)), flat(plain(*args)), strict=True):
                np.testing.assert_allclose(mine, its, rtol=1e-9, atol=1e-11)
        times = fastest([(e, args) for e in (plain, native, threads)], rounds=10)
        row = "".join(f"{shown(each):>10}" for each in times)
        by_numpy, one, several = times
        print(f"{function.__name__:<10}{row}{by_numpy / one:>10.0f}{one / several:>11.2f}")
    print(f"goals: 20 times NumPy; 1.8 times that by two threads, of {os.cpu_count()} processors")


def flat(result):
    value, slopes = result
    return (value, *slopes)


# ---- the first call ------------------------------------------------------------------------------


def first_call(name):
    """Seconds that this process takes for its first call, without the import of Numba."""
    import time

    import numba  # noqa: F401

    kernel = next(each for each in ARGUMENTS if each.__name__ == name)
    case = make_case(kernel, False)
    start = time.process_time()
    jit(case.ours)(*case.args)
    return time.process_time() - start


def disk(names=("seidel_2d", "lu", "conv2d", "nbody", "burgers", "residual_block")):
    print(f"{'first call':<20}{'compiled':>10}{'from disk':>11}")
    for name in names:
        with tempfile.TemporaryDirectory() as folder:
            where = {**os.environ, "S2S_AD_CACHE": "1", "S2S_AD_CACHE_DIR": folder}
            times = [_in_a_process(name, where) for _ in range(4)]
        print(f"{name:<20}{shown(times[0]):>10}{shown(min(times[1:])):>11}", flush=True)
    print("goal: 0.3 s from disk")


def _in_a_process(name, where):
    command = [sys.executable, Path(__file__), "--first-call", name]
    return float(subprocess.run(command, env=where, capture_output=True, check=True).stdout)


TABLES = {"calls": calls, "batches": batches, "disk": disk}


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("tables", nargs="*", help=f"of {', '.join(TABLES)}; all without")
    parser.add_argument("--first-call", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.first_call:
        print(first_call(options.first_call))
        return
    for each in options.tables or TABLES:
        TABLES[each]()


if __name__ == "__main__":
    main()
