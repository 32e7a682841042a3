"""Gradients of array kernels beside adjoints by hand: time, peak memory and statements of each."""

import argparse
import ast
import copy
import inspect
import math
import re
import tracemalloc
from typing import NamedTuple

import kernel_adjoints
import numpy as np
from kernel_arguments import ARGUMENTS
from timing import medians, shown

from s2s_ad import grad

GOALS = {"time": (1.05, 1.3), "memory": (1.2, 1.2), "statements": (1.2, 1.6)}


class Case(NamedTuple):
    """A kernel, its generated gradient and the one by hand, on arguments of one size."""

    kernel: object
    ours: object
    by_hand: object
    counting: tuple
    args: tuple


def make_case(kernel, large, seed=0):
    counting, make = ARGUMENTS[kernel]
    ours = grad(kernel, counting if len(counting) > 1 else counting[0])
    by_hand = getattr(kernel_adjoints, kernel.__name__)
    return Case(kernel, ours, by_hand, counting, make(np.random.default_rng(seed), large))


def peak(fn, args):
    """The bytes that a call has allocated at most, what it returns included."""
    fn(*args)
    tracemalloc.start()
    try:
        fn(*args)
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def statements(source):
    """The statements of all functions in a text, docstrings not."""
    count = 0
    for function in ast.parse(source).body:
        if isinstance(function, ast.FunctionDef):
            documented = ast.get_docstring(function) is not None
            inside = sum(isinstance(node, ast.stmt) for node in ast.walk(function))
            count += inside - 1 - documented
    return count


def source_by_hand(by_hand):
    """The text of an adjoint by hand and of the functions of its module that it calls."""
    source = inspect.getsource(by_hand)
    called = dict.fromkeys(re.findall(r"\b_\w+(?=\()", source))
    return "\n\n".join([*(inspect.getsource(getattr(kernel_adjoints, f)) for f in called), source])


def measured(case, rounds, at_least):
    """Seconds, bytes at the peak and statements: a pair of each, ours and by hand."""
    both = case.ours, case.by_hand
    times = medians([(fn, copy.deepcopy(case.args)) for fn in both], rounds, at_least)
    memory = [peak(fn, copy.deepcopy(case.args)) for fn in both]
    sources = case.ours.source(*case.args), source_by_hand(case.by_hand)
    return {"time": times, "memory": memory, "statements": list(map(statements, sources))}


def summary(ratios):
    """Geometric mean and worst of each ratio, beside the goals."""
    for what, (mean_goal, worst_goal) in GOALS.items():
        values = {name: row[what] for name, row in ratios.items()}
        mean = math.exp(sum(map(math.log, values.values())) / len(values))
        worst = sorted(values, key=values.get, reverse=True)[:6]
        listed = ", ".join(f"{name} {values[name]:.2f}" for name in worst)
        over = sum(value > worst_goal for value in values.values())
        print(
            f"{what}: geometric mean {mean:.3f} (goal {mean_goal}), {over} of {len(values)} above "
            f"{worst_goal}; worst {listed}"
        )


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", help="kernels, all by default")
    parser.add_argument("--rounds", type=int, default=15, help="samples for each median (15)")
    parser.add_argument("--print", action="store_true", help="show both texts, measure nothing")
    options = parser.parse_args()
    by_name = {kernel.__name__: kernel for kernel in ARGUMENTS}
    ratios = {}
    if not options.print:
        print(f"{'kernel':22}{'by hand':>9}{'time':>7}{'memory':>8}{'statements':>12}")
    for name in options.names or by_name:
        case = make_case(by_name[name], large=True)
        if options.print:
            print(case.ours.source(*case.args), source_by_hand(case.by_hand), sep="\n\n# by hand\n")
            continue
        pairs = measured(case, options.rounds, at_least=2e-3)
        row = ratios[name] = {what: ours / theirs for what, (ours, theirs) in pairs.items()}
        seconds = shown(pairs["time"][1])
        print(
            f"{name:22}{seconds:>9}{row['time']:7.2f}{row['memory']:8.2f}{row['statements']:12.2f}",
            flush=True,
        )
    if ratios:
        summary(ratios)


if __name__ == "__main__":
    main()
