"""
5. Reading the text
===================

The text of a derivative is not a curiosity: it is what runs. So it can be read, questioned,
stepped through, measured, saved and shipped.
"""

import numpy as np

from s2s_ad import grad

# %%
# The conventions
# ---------------
#
# ``x_bar`` is the adjoint of ``x`` in reverse mode, ``x_dot`` its tangent in forward mode.
# ``y_saved`` is a list of what the passes of a loop keep. A comment names the line of yours
# that what follows belongs to.


def spread(x, weights):
    mean = np.sum(weights * x) / np.sum(weights)
    return np.sqrt(np.sum(weights * (x - mean) ** 2))


x, weights = np.array([1.0, 2.0, 4.0]), np.ones(3)
g = grad(spread)
print(g.source(x, weights))

# %%
# Beside your code
# ----------------
#
# ``show`` gives a page with your code at the left and the text at the right. Move over a line, or
# go through them with the arrow keys: what comes of it is lit on the other side, forward in blue
# and backward in red. The tabs have what else can be made of the function.

g.show(x, weights)

# %%
# In a notebook it stands under the cell, as here; from a script the browser opens it; with
# ``path="spread.html"`` it becomes a file that needs nothing else.
#
# What is kept, and why
# ---------------------
#
# What the backward pass needs of the forward pass stays in memory until then.

print(g.explain(x, weights))

# %%
# For whom the text is
# --------------------
#
# ``source`` with arguments is the text for arguments like these: their dtypes, ranks, and which
# lengths are 1. Batches of other sizes are served by the same text. Without arguments it is the
# text for all ranks, which asks for them when it runs. That is longer, so give arguments.

for text in g.source(x, weights), g.source():
    print(len(text.splitlines()), "lines")

# %%
# Tracebacks and debuggers show it
# --------------------------------
#
# An exception that generated code raises shows its line, and carries a note with yours.


def pick(x, i):
    return np.log(x[i])


try:
    grad(pick)(np.ones(3), 7)
except IndexError as error:
    print(error)
    print(*error.__notes__)

# %%
# ``breakpoint()`` in your function stops in the generated one, with your names: see the page on
# :doc:`pdb </howto/debugging>`.
#
# Shipping it
# -----------
#
# A standalone module needs NumPy, and nothing else. So a derivative can go where this library
# does not: into a repository, a wheel, a machine without a compiler.

text = g.source(x, weights, standalone=True)
print(text)

# %%
# From the command line that is ``s2s-ad dump model.py 'grad(spread)' --standalone -o
# spread_grad.py``. :doc:`A check in CI </howto/drift_check>` tells when it is out of date.
