"""Copies are looked for step by step: what is known of memory then, and how long that takes."""

from __future__ import annotations

import importlib.util

import numpy as np
import pytest

from emit.random_memory import random_program
from s2s_ad import value_and_grad
from s2s_ad.analysis.memory import Memory
from s2s_ad.emit.copying import CopyPlan
from s2s_ad.emit.updates import updates_in

LOOP = """
    for i in range(len(x)):
        a[i] = np.sin(x[i]) * a[i]
        s = s * 0.5 + a[i] * x[i]
"""


@pytest.mark.thinned(6)
@pytest.mark.parametrize("seed", range(60))
def test_memory_revised_is_memory_analysed_anew(seed):
    program = random_program(seed)
    plan = CopyPlan(program, dict(updates_in(program, ())))
    for step in (plan.put_copies, plan.join_copies, plan.drop_copies, plan.update_whole_arrays):
        step()
        plan.memory.reach()
        anew = Memory(program, plan.chosen, plan.cuts, plan.contents)
        for each in ("held", "sharing", "names", "parts", "carried", "changed", "same"):
            assert getattr(plan.memory, each) == getattr(anew, each), each
        assert plan.memory.outputs == anew.outputs


def statements_walked(loops, folder, monkeypatch):
    """How often the memory of a statement is looked at while the gradient is derived."""
    path = folder / f"loops_{loops}.py"
    text = "import numpy as np\n\n\ndef f(x):\n    a, s = np.ones(len(x)), 0.0\n"
    path.write_text(text + LOOP * loops + "    return s + np.sum(a)\n")
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    walked, walk = [], Memory._walk
    with monkeypatch.context() as patch:
        patch.setattr(Memory, "_walk", lambda *args: (walked.append(args[3]), walk(*args)))
        value_and_grad(module.f).source(np.ones(3))
    return len(walked)


def test_memory_is_looked_at_in_linear_time(tmp_path, monkeypatch):
    few, many = (statements_walked(loops, tmp_path, monkeypatch) for loops in (3, 12))
    assert many < 5 * few
