"""How long a step takes on 1 to 1,000 workers: a simulation with measured constants.

Usage: python benchmarks/scaling.py

The constants are what `python benchmarks/parallel.py constants` prints; docs/scaling.md says what
follows. A step is: parameters go to all workers, each computes its chunk, results are added over
the tree, and the sum comes back. The scheduler handles one message after the other; so does the
network card of each worker.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

FAN_IN = 4
WORKERS = (1, 2, 4, 10, 20, 50, 100, 200, 500, 1000)
PARAMETERS = (10**4, 10**6, 10**8)
LARGE, SMALL_RESULT = 1 << 16, 1 << 20  # bytes, as in s2s_ad/parallel/engines.py


@dataclass(frozen=True)
class Constants:
    """Seconds, and seconds for a byte."""

    start: float = 7.1e-3  # a step of one task, beside the task
    task: float = 0.71e-3  # the scheduler's work for a task
    hop: float = 5.8e-3  # from the end of a task to the start of one that needs it
    byte: float = 0.76e-9  # from process to process: 100 million float32 in 0.3 s
    add: float = 0.07e-9  # for each byte of each result that a node adds


def step(workers: int, parameters: int, compute: float, of: Constants) -> float:
    """Seconds for a step with a chunk for each worker, each of compute / workers seconds."""
    size = 4 * parameters
    # who has large parameters hands them on to two others; small ones go with each task
    rounds = math.ceil(math.log(workers + 1, 2)) if size > LARGE else 0
    ready = of.start + rounds * (of.hop + size * of.byte)
    ends = [ready + (i + 1) * of.task + compute / workers for i in range(workers)]
    scheduler = ready + workers * of.task
    while len(ends) * size > SMALL_RESULT and len(ends) > 1:
        above = []
        for i in range(0, len(ends), FAN_IN):
            group = ends[i : i + FAN_IN]
            scheduler = max(scheduler, *group) + of.task
            fetched = (len(group) - 1) * size * of.byte
            above.append(scheduler + of.hop + fetched + len(group) * size * of.add)
        ends = above
    return max(ends) + len(ends) * size * of.byte  # the client adds what is small


def knee(times: dict[int, float]) -> int:
    """The most workers that are still used by half or more."""
    return max(n for n, each in times.items() if times[1] / each / n >= 0.5)


def main() -> None:
    of = Constants()
    print("compute parameters" + "".join(f"{n:>8}" for n in WORKERS) + "    knee")
    for compute in (10.0, 100.0, 1000.0):
        for parameters in PARAMETERS:
            times = {n: step(n, parameters, compute, of) for n in WORKERS}
            cells = "".join(f"{each:8.2f}" for each in times.values())
            print(
                f"{compute:5.0f} s      1e{round(math.log10(parameters))} {cells}  {knee(times):6}"
            )


if __name__ == "__main__":
    main()
