"""Sparse Jacobians and Hessians beside dense ones: make bench BENCHMARK=sparse_jacobians.py

Tridiagonal ones of n = 2,000: the time of a call once the pattern is known, and what finding it
takes the first time.
"""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np

from s2s_ad import hessian, jacfwd, sparse_hessian, sparse_jacobian

SIZE = 2_000


def flow(u):
    """The slope of Burgers' equation, by central differences."""
    du = np.zeros_like(u)
    du[1:-1] = 0.1 * (u[2:] - 2 * u[1:-1] + u[:-2]) - u[1:-1] * (u[2:] - u[:-2]) / 2
    return du


def energy(u):
    """The energy of a chain."""
    return np.sum(np.diff(u) ** 4) + np.sum(np.cos(u))


def seconds(call: Callable, least: float = 0.5) -> float:
    """The shortest of several runs."""
    best, end = np.inf, time.perf_counter() + least
    while time.perf_counter() < end:
        start = time.perf_counter()
        call()
        best = min(best, time.perf_counter() - start)
    return best


def main() -> None:
    u = np.random.default_rng(0).normal(size=SIZE)
    for fn, sparse, dense in ((flow, sparse_jacobian, jacfwd), (energy, sparse_hessian, hessian)):
        start = time.perf_counter()
        made, whole = sparse(fn), dense(fn)
        found = made(u)
        first = time.perf_counter() - start
        error = np.max(np.abs(found.toarray() - whole(u)))
        few, all_ = seconds(lambda made=made: made(u)), seconds(lambda whole=whole: whole(u), 2.0)
        print(
            f"{made!r}, n = {SIZE}: {1e3 * few:.3f} ms by {made.directions(u)} directions, dense "
            f"{1e3 * all_:.1f} ms ({all_ / few:,.0f} times), first call {first:.2f} s, "
            f"largest difference {error:.1e}"
        )


if __name__ == "__main__":
    main()
