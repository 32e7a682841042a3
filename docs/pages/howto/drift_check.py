"""
Keep a generated file up to date in CI
======================================

A derivative that is written into the repository can be read in reviews and needs no compiler
where it runs. Then something must notice when the function has changed and the file has not.
"""

import subprocess
import sys
import tempfile
from pathlib import Path

folder = Path(tempfile.mkdtemp())
(folder / "model.py").write_text("""\
import numpy as np

from s2s_ad import grad


def loss(w, x, y):
    return np.sum((np.tanh(x @ w) - y) ** 2)
""")

# %%
# Write the file once
# -------------------
#
# ``--like`` says for which arguments. The text is the same in every run, under every Python and
# on every machine, so it can be compared.

LIKE = "f64[3], f64[5,3], f64[5]"


def s2s_ad(*arguments):
    command = [sys.executable, "-m", "s2s_ad.cli", *arguments]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True)


dump = ("dump", "model.py", "grad(loss)", "--like", LIKE, "--standalone")
s2s_ad(*dump, "-o", "loss_grad.py")
print((folder / "loss_grad.py").read_text())

# %%
# Compare it in CI
# ----------------
#
# ``dump --check`` writes nothing. It fails where the file is not what would be written now, and
# says how.

check = (*dump, "--check", "loss_grad.py")
print("status", s2s_ad(*check).returncode)

model = (folder / "model.py").read_text()
(folder / "model.py").write_text(model.replace("** 2", "** 4"))
changed = s2s_ad(*check)
print("status", changed.returncode, "after the loss has changed")
print(changed.stdout, changed.stderr)

# %%
# In a shell that is
#
# .. code-block:: console
#
#    $ s2s-ad dump model.py 'grad(loss)' --like 'f64[3], f64[5,3], f64[5]' --standalone \\
#          --check loss_grad.py
#
# Check the mathematics, too
# --------------------------
#
# ``s2s-ad check`` compares reverse mode, forward mode and central differences at random
# arguments, and its status is not 0 where they differ.

checked = s2s_ad("check", "model.py", "grad(loss)", "--like", LIKE)
print(checked.stdout, "status", checked.returncode)

# %%
# A project lists its checks once, in ``pyproject.toml``, and runs them all with ``s2s-ad check``:
#
# .. code-block:: toml
#
#    [[tool.s2s_ad.check]]
#    target = "model.py"
#    expression = "grad(loss)"
#    like = "f64[3], f64[5,3], f64[5]"
