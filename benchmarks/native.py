"""Gradients of array kernels as native code, beside NumPy text and loops by hand for Numba.

With --jax beside the kernels as one writes them for JAX, too, where it is installed (`make bench`).
"""

import argparse
import copy
import os
import time

# before NumPy is imported; the time to compile is that of a first run
os.environ |= {"S2S_AD_NATIVE": "1", "S2S_AD_CACHE": "0", "OPENBLAS_NUM_THREADS": "1"}
os.environ.setdefault("XLA_FLAGS", "--xla_cpu_multi_thread_eigen=false")

import numba_kernels
import numpy as np
from kernel_arguments import ARGUMENTS
from kernels import make_case
from timing import fastest, shown

from s2s_ad import jit


def measured(kernel, large, ported=None):
    """Seconds of the gradient of a kernel: by NumPy, natively, by hand for Numba and by JAX; and
    those to compile.

    Args:
        ported: (kernel, the places of its inputs) -> the gradient by JAX, or None.
    """
    by_hand = getattr(numba_kernels, kernel.__name__, None)
    small, case = make_case(kernel, False), make_case(kernel, large)
    native = jit(case.ours)
    start = time.process_time()  # of this process alone, whatever else runs on the machine
    text = native.text(*copy.deepcopy(case.args))
    compiling = time.process_time() - start
    if not text.native:
        raise SystemExit(f"{kernel.__name__} has no native code: {text.refused}")
    by_jax = ported(kernel, case.counting) if ported is not None else None
    others = [each for each in (by_hand, by_jax) if each is not None]
    for each in [native, *others]:
        agree(each, case.by_hand, small.args, 1e-10)
        agree(each, case.by_hand, case.args, 1e-4)  # ten steps of a solver amplify rounding
    calls = [(each, case.args) for each in (case.ours, native, *others)]
    times = dict(zip(map(id, (case.ours, native, *others)), fastest(calls, 20, 1e-3), strict=True))
    return [times.get(id(e)) for e in (case.ours, native, by_hand, by_jax)], compiling


def agree(function, expected, args, tolerance):
    """The results are those expected, as far as the largest of them tells."""
    found, wanted = (as_tuple(f(*copy.deepcopy(args))) for f in (function, expected))
    for mine, other in zip(found, wanted, strict=True):
        np.testing.assert_allclose(mine, other, rtol=0, atol=tolerance * np.max(np.abs(other)))


def as_tuple(value):
    return value if isinstance(value, tuple) else (value,)


def geomean(values):
    return np.exp(np.mean(np.log(values)))


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", help="kernels; all of them without")
    parser.add_argument("--small", action="store_true", help="the sizes at which tests run")
    parser.add_argument("--jax", action="store_true", help="beside JAX, compiled")
    options = parser.parse_args()
    ported = None
    if options.jax:
        from jax_kernels import gradient as ported
    kernels = [each for each in ARGUMENTS if not options.names or each.__name__ in options.names]
    over_numpy, over_hand, over_jax, compiled = [], {}, {}, []
    head = f"{'kernel':<22}{'NumPy':>10}{'native':>10}{'by hand':>10}"
    last = f"{'JAX':>10}{'of JAX':>8}" if options.jax else ""
    print(f"{head}{'of NumPy':>10}{'of hand':>9}{'compiling':>11}{last}")
    for kernel in kernels:
        times, compiling = measured(kernel, not options.small, ported)
        by_numpy, natively, by_hand, by_jax = times
        over_numpy.append(by_numpy / natively)
        compiled.append(compiling)
        row = f"{kernel.__name__:<22}{shown(by_numpy):>10}{shown(natively):>10}"
        if by_hand is None:
            row += f"{'':>10}{over_numpy[-1]:>10.1f}{'':>9}"
        else:
            over_hand[kernel.__name__] = natively / by_hand
            row += f"{shown(by_hand):>10}{over_numpy[-1]:>10.1f}{natively / by_hand:>9.2f}"
        row += f"{compiling:>9.2f} s"
        if by_jax is not None:
            over_jax[kernel.__name__] = by_jax / natively
            row += f"{shown(by_jax):>10}{by_jax / natively:>8.1f}"
        print(row, flush=True)
    print(f"as fast as NumPy: {geomean(over_numpy):.1f} times, least {min(over_numpy):.2f}")
    if over_hand:
        worst = max(over_hand, key=over_hand.get)
        ratios = [*over_hand.values()]
        print(
            f"time of loops by hand: {geomean(ratios):.2f} times (goal 1.25) over {len(ratios)}, "
            f"most {over_hand[worst]:.2f} ({worst}; goal 2)"
        )
    if over_jax:
        least = min(over_jax, key=over_jax.get)
        print(
            f"as fast as JAX: {geomean([*over_jax.values()]):.1f} times (goal 8) over "
            f"{len(over_jax)}, least {over_jax[least]:.1f} ({least}; goal 1)"
        )
    print(f"compiling: median {np.median(compiled):.2f} s, longest {max(compiled):.2f} s")


if __name__ == "__main__":
    main()
