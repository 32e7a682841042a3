"""Loops: speed against an expert's adjoint code, cost per pass, time to derive, memory.

Run it by itself: `python benchmarks/flow.py`.
"""

import pathlib
import sys
import tracemalloc
from time import perf_counter

import numpy as np
from timing import medians, shown

from s2s_ad import grad

sys.path.append(str(pathlib.Path(__file__).parent.parent / "tests"))
from golden import flow


def fill(x, n, A):
    """Reads and writes elements of an array that may be much longer than the loop."""
    A = A.copy()
    for i in range(n):
        A[i + 1] = np.sin(A[i]) * x
    return A[n]


def long_sum(x, n):
    """A loop of many passes, of which each keeps one number."""
    y = 0.0
    for _ in range(n):
        y = np.sin(y + x)
    return y


def against_the_expert(rounds):
    rng = np.random.default_rng(0)
    recurrent = (
        0.1 * rng.normal(size=(32, 16)),
        0.1 * rng.normal(size=(32, 32)),
        rng.normal(size=(50, 16)),
        rng.normal(size=32),
    )
    problems = [
        (
            "logistic map, 100 passes",
            grad(flow.logistic_map),
            flow.logistic_map_grad,
            (3.7, 0.4, 100),
        ),
        (
            "heat, 1000 points, 50 passes",
            grad(flow.heat, (0, 1)),
            flow.heat_grad,
            (rng.normal(size=1000), 0.1, 50),
        ),
        ("Newton's square root", grad(flow.newton_sqrt), flow.newton_sqrt_grad, (2.0,)),
        ("huber", grad(flow.huber), flow.huber_grad, (0.3, 1.0)),
        (
            "recurrent network, 50 passes",
            grad(flow.rnn_loss, (0, 1)),
            flow.rnn_loss_grad,
            recurrent,
        ),
    ]
    rows = []
    for title, ours, expert, args in problems:
        for a, b in zip(_flat(ours(*args)), _flat(expert(*args)), strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-9)
        by_hand, called = medians([(expert, args), (ours, args)], rounds)
        rows.append([title, shown(by_hand), shown(called), f"{called / by_hand:.2f}"])
    return rows


def _flat(value):
    return value if isinstance(value, tuple) else (value,)


def cost_per_pass(rounds):
    """Doubling the array at the same number of passes: the time of the loop stays."""
    ours = grad(fill)
    small, large = ((1.1, 1000, np.zeros(size)) for size in (2_000, 4_000))
    times = medians([(ours, small), (ours, large)], rounds)
    return [["1000 passes", *map(shown, times), f"{times[1] / times[0]:.2f}"]]


def deriving():
    rows = []
    for passes in (10, 100_000):
        start = perf_counter()
        grad(long_sum).source(0.5, passes)
        rows.append([f"{passes} passes", shown(perf_counter() - start)])
    return rows


def memory():
    derived = grad(long_sum)
    derived(0.5, 10)
    tracemalloc.start()
    derived(0.5, 1_000_000)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return [["a million passes", f"{peak / 1e6:.0f} MB"]]


def main(rounds=40):
    from run import table

    print("## Loops against an expert\n")
    print(table(["problem", "by hand", "s2s_ad", "ratio"], against_the_expert(rounds)))
    print("\n## The array twice as long\n")
    print(table(["loop", "2,000", "4,000", "ratio"], cost_per_pass(rounds)))
    print("\n## Deriving\n")
    print(table(["loop", "time"], deriving()))
    print("\n## Memory\n")
    print(table(["loop", "peak"], memory()))


if __name__ == "__main__":
    main()
