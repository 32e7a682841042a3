"""Measure what is generated against hand-written code and other libraries: `make bench`."""

import argparse
import sys

import numpy as np
import startup
from peers import load_peers
from problems import make_problems
from timing import medians, shown

from training import STEPS, make_tasks, steps_of

PEERS = ("jax", "autograd", "torch")


def speed(rounds):
    """A row for each problem: the expert, ours, and the peers that are installed."""
    peers = load_peers()
    rows = []
    for problem in make_problems():
        ours = [(problem.by_hand, problem.args), (problem.ours, problem.args)]
        _check_equal(ours)
        others = dict(_peer_calls(peers, problem, ours[0]))
        by_hand, called, *times = medians([*ours, *others.values()], rounds)
        columns = dict(zip(others, map(shown, times)))
        target = "" if problem.target is None else f"{problem.target:.2f}"
        row = [problem.title, shown(by_hand), shown(called), f"{called / by_hand:.2f}", target]
        rows.append(row + [columns.get(name, "") for name in PEERS])
    return rows


def _peer_calls(peers, problem, expert):
    """(name, call) of each peer that solves the problem; one that cannot is named on stderr."""
    for name, (functions, convert) in peers.items():
        if problem.name not in functions:
            continue
        call = functions[problem.name], convert(problem.args)
        try:
            _check_equal([expert, call])
        except Exception as error:  # a peer's failure is not ours
            print(f"{name}, {problem.title}: {type(error).__name__}: {error}", file=sys.stderr)
        else:
            yield name, call


def _check_equal(calls):
    """All ways have to give the same numbers before their times mean anything."""
    expected, *others = [_leaves(fn(*args)) for fn, args in calls]
    for found in others:
        for a, b in zip(expected, found, strict=True):
            np.testing.assert_allclose(a, b, rtol=2e-3, atol=1e-4)


def _leaves(value):
    if isinstance(value, tuple | list):
        return [leaf for item in value for leaf in _leaves(item)]
    if isinstance(value, dict):
        return [leaf for key in sorted(value) for leaf in _leaves(value[key])]
    return [np.asarray(value)]


def training(rounds):
    """A row for each network: one step by each library that is installed."""
    rows = []
    for task in make_tasks():
        steps = dict(steps_of(task))
        times = dict(zip(steps, medians([(step, ()) for step in steps.values()], rounds)))
        jax = times.get("jax, jit")
        ratio = "" if jax is None else f"{times['s2s_ad, jit'] / jax:.2f}"
        columns = [shown(times[name]) if name in times else "" for name in STEPS]
        rows.append([task.title, *columns, ratio, f"{task.target:.1f}"])
    return rows


def paid_once():
    """Import and deriving, with the targets."""
    rows = [["import s2s_ad, after NumPy", shown(startup.import_time()), "250 ms"]]
    for batch, name in ((False, "grad(td_loss)"), (True, "vmap(grad(td_loss))")):
        rows.append([f"derive {name}, first in a process", shown(startup.fresh(batch)), "30 ms"])
        rows.append([f"derive {name}, later", shown(startup.warm(batch)), "30 ms"])
    return rows


def overhead(rounds):
    """A call through what `grad` returns against a call of the generated function itself."""
    rows = []
    for problem in make_problems()[:2]:
        problem.ours(*problem.args)
        generated = _generated(problem)
        calls = [(generated, problem.args), (problem.ours, problem.args)]
        direct, through = medians(calls, rounds)
        rows.append([problem.title, shown(direct), shown(through), shown(max(through - direct, 0))])
    return rows


def _generated(problem):
    """The generated function, from the text that it has with everything in it."""
    text = problem.ours.source(*problem.args, standalone=True)
    space = {}
    exec(text, space)
    return space[problem.ours.text(*problem.args).name]


OUTER = {
    'einsum("bi,bj->bij")': lambda a, b: np.einsum("bi,bj->bij", a, b),
    "a[:, :, None] * b[:, None, :]": lambda a, b: a[:, :, None] * b[:, None, :],
    "a[:, :, None] @ b[:, None, :]": lambda a, b: a[:, :, None] @ b[:, None, :],
}


def outer_products(rounds):
    """The outer product of each sample, in three forms: which one generated code should use."""
    rng = np.random.default_rng(0)
    rows = []
    for n, i, j, dtype in (
        (64, 784, 128, np.float32),
        (64, 128, 10, np.float32),
        (64, 128, 128, np.float64),
        (64, 3, 3, np.float64),
        (10_000, 3, 3, np.float64),
    ):
        a, b = (rng.standard_normal((n, size)).astype(dtype) for size in (i, j))
        times = medians([(form, (a, b)) for form in OUTER.values()], rounds)
        rows.append([f"{n} x {i} x {j}, {np.dtype(dtype)}", *map(shown, times)])
    return rows


def table(head, rows):
    """A Markdown table."""
    widths = [max(len(row[i]) for row in [head, *rows]) for i in range(len(head))]
    lines = [head, ["-" * width for width in widths], *rows]
    cells = [[cell.ljust(width) for cell, width in zip(line, widths)] for line in lines]
    return "\n".join(f"| {' | '.join(line)} |" for line in cells)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=40, help="samples for each median (40)")
    rounds = parser.parse_args().rounds
    head = ["problem", "by hand", "s2s_ad", "ratio", "target", *PEERS]
    print("## Speed\n")
    print(table(head, speed(rounds)))
    print("\n## A step of training: loss, gradient and Adam, 64 images, float32\n")
    print(table(["network", *STEPS, "jit / jax", "target"], training(rounds)))
    print("\n## A call, against the generated function itself\n")
    print(table(["problem", "generated", "called", "difference"], overhead(rounds)))
    print("\n## Paid once\n")
    print(table(["what", "time", "target"], paid_once()))
    print("\n## Outer products of samples\n")
    print(table(["shape", *OUTER], outer_products(max(rounds // 4, 1))))


if __name__ == "__main__":
    main()
