"""What is paid once: the import, and deriving a function."""

import statistics
import subprocess
import sys
from time import perf_counter

import numpy as np
import problems

from s2s_ad import grad, vmap

IMPORT = """\
import numpy
from time import perf_counter
start = perf_counter()
import s2s_ad
print(perf_counter() - start)
"""

ARGS = np.ones(3), np.ones(3), np.array(2.0), np.ones(3)
BATCH = np.ones(3), np.ones((8, 3)), np.ones(8), np.ones((8, 3))


def derive_once(batch):
    """Seconds to derive the gradient of td_loss, or its batched form, in this process."""
    gradient = grad(problems.td_loss)
    fn = vmap(gradient, in_axes=(None, 0, 0, 0)) if batch else gradient
    start = perf_counter()
    fn.source(*(BATCH if batch else ARGS))
    return perf_counter() - start


def warm(batch, repeats=20):
    """The median time to derive it again, for a function that is not known yet."""
    derive_once(batch)
    return statistics.median(derive_once(batch) for _ in range(repeats))


def fresh(batch, repeats=5):
    """The median time to derive it as the first thing that a process does."""
    return _in_processes([__file__, "batch" if batch else "single"], repeats)


def import_time(repeats=5):
    """The median time to import s2s_ad after NumPy."""
    return _in_processes(["-c", IMPORT], repeats)


def _in_processes(arguments, repeats):
    command = [sys.executable, *arguments]
    times = []
    for _ in range(repeats + 1):
        done = subprocess.run(command, check=True, capture_output=True, text=True)
        times.append(float(done.stdout))
    return statistics.median(times[1:])  # the first one fills the caches of the disk


if __name__ == "__main__":
    print(derive_once(sys.argv[1] == "batch"))
