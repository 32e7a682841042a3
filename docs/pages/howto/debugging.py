"""
Step through a gradient
=======================

Generated code is known to Python's debugger, traceback and profiler. A ``breakpoint()`` in your
function stops in the code that runs: in the gradient, with your names and its adjoints.
"""

import io
import pdb
import sys

import numpy as np

from s2s_ad import grad


def energy(u, k):
    flow = k * (u[1:] - u[:-1])
    breakpoint()
    return np.sum(flow**2)


# %%
# At a prompt you would just call it. On this page the commands to the debugger are given in
# advance.

commands = """list
p flow
next
p u_difference_bar
continue
"""


def scripted():
    """What ``breakpoint()`` calls here: pdb, which reads the commands above."""
    debugger = pdb.Pdb(stdin=io.StringIO(commands), stdout=sys.stdout, nosigint=True)
    debugger.use_rawinput = False
    debugger.set_trace(sys._getframe(1))


sys.breakpointhook = scripted
grad(energy)(np.array([0.0, 1.0, 4.0]), 0.5)
sys.breakpointhook = sys.__breakpointhook__

# %%
# An exception carries a note with the line of yours that it comes from.


def pick(x, i):
    return np.log(x[i])


try:
    grad(pick)(np.ones(3), 7)
except IndexError as error:
    print(error, *error.__notes__, sep="\n")

# %%
# A refusal of the compiler is shortened: the compiler's own frames are left out of the
# traceback. With ``S2S_AD_TRACEBACK=full`` in the environment they come back, which is what a
# bug report needs.
#
# To see where the time goes, any profiler does. The functions have names, and their files are
# known:

import cProfile
import pstats

with cProfile.Profile() as profile:
    for _ in range(100):
        grad(pick)(np.ones(3), 1)
out = io.StringIO()
pstats.Stats(profile, stream=out).sort_stats("tottime").print_stats("pick_grad")
print(out.getvalue().split("filename", 1)[1])

# %%
# Coverage and break points
# -------------------------
#
# Tools that look at files find generated code where ``S2S_AD_TEXT_DIR`` names a folder: each
# gradient is written there and runs from there. An editor stops at break points in it, and coverage
# counts its lines, as here:
#
# .. code-block:: console
#
#     $ S2S_AD_TEXT_DIR=generated coverage run --source=. -m pytest
#     $ coverage report
#
# The name of a file says which function it holds, and changes with its text.
