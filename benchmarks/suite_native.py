"""The kernels of suite.py as native code: whether they have it, agreement, times, compiling.

Both the kernel and the gradient of the sum of squares of its results; a kernel that has no
native code says why.
"""

import argparse
import copy
import inspect
import linecache
import os
import time

os.environ |= {"S2S_AD_NATIVE": "1", "OPENBLAS_NUM_THREADS": "1"}  # before NumPy is imported

import numpy as np
from suite import SUITE
from timing import medians, shown

from s2s_ad import jit, value_and_grad
from s2s_ad.core import tree


def loss_of(kernel, places, args):
    """A function of the kernel's arguments: the sum of the squares of its results."""
    parameters = inspect.signature(kernel).parameters
    given = ", ".join(parameters)
    if places:  # of the arguments that it changes
        names = [[*parameters][each] for each in places]
        body = f"    kernel({given})\n"
    else:
        several = isinstance(kernel(*copy.deepcopy(args)), tuple)
        names = ["y[0]", "y[1]"] if several else ["y"]
        body = f"    y = kernel({given})\n"
    squares = " + ".join(f"np.sum(np.abs({each}) ** 2)" for each in names)
    head = ", ".join(map(str, parameters.values()))
    text = f"def {kernel.__name__}_loss({head}):\n{body}    return {squares}\n"
    file = f"<{kernel.__name__}_loss>"
    linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
    space = {"np": np, "kernel": kernel}
    exec(compile(text, file, "exec"), space)
    return space[f"{kernel.__name__}_loss"]


def leaves(value):
    return tree.leaves(tree.from_object(value, lambda leaf, _: leaf))


def row(plain, args):
    """What is to be said of a function, on arguments of which the second are for the times."""
    small, large = args
    native = jit(plain)
    start = time.process_time()  # of this process alone, whatever else runs on the machine
    text = native.text(*copy.deepcopy(small))
    compiling = time.process_time() - start
    if not text.native:
        return f"not native: {text.refused}"
    found, expected = (leaves(each(*copy.deepcopy(small))) for each in (native, plain))
    for mine, its in zip(found, expected, strict=True):
        np.testing.assert_allclose(mine, its, rtol=1e-11, atol=1e-12)
    by_numpy, natively = medians([(each, large) for each in (plain, native)], rounds=7)
    times = f"{shown(by_numpy):>10}{shown(natively):>10}{by_numpy / natively:>8.2f}"
    return f"{times}{compiling:>9.2f} s"


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", help="kernels; all of them without")
    options = parser.parse_args()
    np.seterr(all="ignore")
    print(f"{'kernel':<28}{'NumPy':>10}{'native':>10}{'times':>8}{'compiling':>11}")
    for kernel, (places, wrt, make) in SUITE.items():
        if options.names and kernel.__name__ not in options.names:
            continue
        args = [make(np.random.default_rng(size), size) for size in (0, 1)]
        loss = loss_of(kernel, places, args[0])
        functions = {"value": loss}
        if wrt:
            functions["gradient"] = value_and_grad(loss, wrt if len(wrt) > 1 else wrt[0])
        for what, function in functions.items():
            try:
                said = row(function, args)
            except Exception as error:  # the row says it, and the others go on
                said = f"{type(error).__name__}: {str(error).strip().splitlines()[0]}"
            print(f"{kernel.__name__ + ', ' + what:<28}{said}", flush=True)


if __name__ == "__main__":
    main()
