"""What a call costs before and after the compiled function: one kind of call, several in turn.

    python benchmarks/dispatch.py

The body of the function is small, so that the way to it shows.
"""

import numpy as np
import timing

from s2s_ad import grad


def loss(w, x, k):
    return np.sum(w * x) * k


def arguments(dtype=float, shape=(3,), k=2.0):
    return np.ones(shape, dtype), np.ones(shape, dtype), k


KINDS = {
    "one": [arguments()],
    "2 dtypes": [arguments(), arguments("f4")],
    "2 kinds of numbers": [arguments(), arguments(k=np.float64(2.0))],
    "2 ranks": [arguments(), arguments(shape=(2, 3))],
    "3 ranks": [arguments(shape=(3,) * rank) for rank in (1, 2, 3)],
    "4 dtypes and ranks": [arguments(d, s) for d in (float, "f4") for s in [(3,), (2, 3)]],
    "2 batch sizes": [arguments(shape=(n, 3)) for n in (32, 7)],
    "4 batch sizes": [arguments(shape=(n, 3)) for n in (2, 3, 4, 5)],
    "16 batch sizes": [arguments(shape=(n, 3)) for n in range(2, 18)],
}


def in_turn(function, kinds):
    """A function without arguments that makes one call of each kind."""

    def run():
        for args in kinds:
            function(*args)

    return run


def measured(kinds=KINDS, **options):
    """For each row: seconds of a call with the kinds in turn, and where each has an object of its
    own, which sees one kind only. The difference is what telling them apart costs."""
    calls = []
    for row in kinds.values():
        together, alone = grad(loss), [grad(loss) for _ in row]
        for args in row * 40:
            together(*args)
        calls.append((in_turn(together, row), ()))
        calls.append((apart(alone, row), ()))
    times = timing.medians(calls, **options)
    return {
        name: (times[2 * i] / len(row), times[2 * i + 1] / len(row))
        for i, (name, row) in enumerate(kinds.items())
    }


def apart(functions, kinds):
    """The same calls, each of a function of its own."""

    def run():
        for function, args in zip(functions, kinds):
            function(*args)

    return run


def main():
    print(f"{'kinds in turn':20} {'together':>10} {'apart':>10} {'ratio':>6}")
    for name, (together, alone) in measured().items():
        ratio = f"{together / alone:.2f}"
        print(f"{name:20} {timing.shown(together):>10} {timing.shown(alone):>10} {ratio:>6}")


if __name__ == "__main__":
    main()
