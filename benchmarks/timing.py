"""Times of several callables in one run: interleaved, so that all see the same machine."""

import gc
import statistics
from time import perf_counter


def medians(calls, rounds=40, at_least=2e-3):
    """The median time of a call, for each (callable, arguments)."""
    return [statistics.median(times) for times in interleaved(calls, rounds, at_least)]


def fastest(calls, rounds=40, at_least=2e-3):
    """The least time of a call, for each (callable, arguments): what else runs takes no part."""
    return [min(times) for times in interleaved(calls, rounds, at_least)]


def interleaved(calls, rounds, at_least):
    """The times of each (callable, arguments).

    Each round times every callable once, in turn, over as many calls as take `at_least` seconds.
    """
    counts = [_enough(fn, args, at_least) for fn, args in calls]
    times = [[] for _ in calls]
    gc.collect()
    gc.disable()
    try:
        for _ in range(rounds):
            for mine, (fn, args), count in zip(times, calls, counts):
                mine.append(_repeat(fn, args, count) / count)
    finally:
        gc.enable()
    return times


def _enough(fn, args, at_least):
    for _ in range(20):  # past the calls that compile and settle
        fn(*args)
    count = 1
    while (spent := _repeat(fn, args, count)) < at_least:
        count = max(2 * count, int(count * at_least / max(spent, 1e-9)))
    return count


def _repeat(fn, args, count):
    start = perf_counter()
    for _ in range(count):
        fn(*args)
    return perf_counter() - start


def shown(seconds):
    """A time in the unit that suits it."""
    for unit, size in (("s", 1.0), ("ms", 1e-3), ("µs", 1e-6)):
        if seconds >= size:
            return f"{seconds / size:.3g} {unit}"
    return f"{seconds * 1e9:.3g} ns"
