"""Gradients of array kernels as native code beside the text for NumPy, and what compiling takes."""

import argparse
import copy
import os
import time

import numpy as np
from kernel_arguments import ARGUMENTS
from kernels import make_case
from timing import medians, shown

from s2s_ad import jit


def measured(kernel, large):
    """(seconds by NumPy, seconds natively, seconds to compile) of the gradient of a kernel."""
    case = make_case(kernel, large)
    native = jit(case.ours)
    start = time.perf_counter()
    text = native.text(*copy.deepcopy(case.args))
    compiling = time.perf_counter() - start
    if not text.native:
        raise SystemExit(f"{kernel.__name__} has no native code: {text.refused}")
    found, expected = (f(*copy.deepcopy(case.args)) for f in (native, case.by_hand))
    for mine, other in zip(as_tuple(found), as_tuple(expected), strict=True):
        np.testing.assert_allclose(mine, other, rtol=1e-8, atol=1e-10)
    by_numpy, natively = medians([(case.ours, case.args), (native, case.args)], rounds=10)
    return by_numpy, natively, compiling


def as_tuple(value):
    return value if isinstance(value, tuple) else (value,)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", help="kernels; all of them without")
    parser.add_argument("--small", action="store_true", help="the sizes at which tests run")
    options = parser.parse_args()
    os.environ["S2S_AD_NATIVE"] = "1"
    os.environ["S2S_AD_CACHE"] = "0"  # the time to compile is that of a first run
    kernels = [each for each in ARGUMENTS if not options.names or each.__name__ in options.names]
    ratios, compiled = [], []
    print(f"{'kernel':<22}{'NumPy':>10}{'native':>10}{'times':>8}{'compiling':>11}")
    for kernel in kernels:
        by_numpy, natively, compiling = measured(kernel, not options.small)
        ratios.append(by_numpy / natively)
        compiled.append(compiling)
        times = f"{shown(by_numpy):>10}{shown(natively):>10}{ratios[-1]:>8.1f}"
        print(f"{kernel.__name__:<22}{times}{compiling:>9.2f} s", flush=True)
    print(f"geomean of the times: {np.exp(np.mean(np.log(ratios))):.1f}, least {min(ratios):.2f}")
    print(f"compiling: median {np.median(compiled):.2f} s, longest {max(compiled):.2f} s")


if __name__ == "__main__":
    main()
