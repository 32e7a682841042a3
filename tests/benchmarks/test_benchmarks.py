"""What the benchmarks compare gives the same numbers, and the tables can be made."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

FOLDER = Path(__file__).resolve().parents[2] / "benchmarks"


@pytest.fixture
def module(monkeypatch):
    """Imports a module of the benchmarks, as the script does."""
    import importlib

    monkeypatch.syspath_prepend(str(FOLDER))
    return importlib.import_module


def test_ours_and_the_experts_agree_on_every_problem(module):
    run, problems = module("run"), module("problems")
    for problem in problems.make_problems():
        run._check_equal([(problem.by_hand, problem.args), (problem.ours, problem.args)])


def test_a_step_of_training_is_the_same_eagerly_and_compiled(module):
    training = module("training")
    for task in training.make_tasks()[:2]:
        losses = [
            [step() for _ in range(3)]
            for step in (training.STEPS[name](task) for name in ("s2s_ad, jit", "s2s_ad"))
        ]
        assert losses[0][2] < losses[0][0]
        np.testing.assert_allclose(losses[0], losses[1], rtol=1e-5)


def test_disagreement_is_noticed(module):
    run = module("run")
    with pytest.raises(AssertionError):
        run._check_equal([(lambda x: {"a": (x,)}, (1.0,)), (lambda x: {"a": (x + 1,)}, (1.0,))])


def test_what_is_written_inline_gives_what_the_kept_ones_give(module):
    rows = module("inline").ROWS
    kept = rows["kept(x)"]()
    for name in ("grad(f)(x)", "grad(f)(x=x)", "vmap(grad(f))(xs)"):
        np.testing.assert_allclose(rows[name](), kept if "xs" not in name else [kept] * 4)
    np.testing.assert_allclose(rows["value_and_grad(f)(x)"]()[1], kept)
    np.testing.assert_allclose(rows["GradOperation()(net)(x)"](), 2 * kept)


def test_medians_are_times_of_one_call(module):
    from time import sleep

    timing = module("timing")
    calls = [(sleep, (0.002,)), (sleep, (0.02,))]
    short, long = timing.medians(calls, rounds=3, at_least=1e-3)
    assert 0.002 <= short < 0.02 <= long


@pytest.mark.slow
def test_all_tables_are_printed():
    command = [sys.executable, str(FOLDER / "run.py"), "--rounds", "2"]
    out = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout
    titles = [line.removeprefix("## ") for line in out.splitlines() if line.startswith("## ")]
    found = ["Speed", "A step of training", "A call", "Paid once", "Outer products of samples"]
    assert len(titles) == len(found)
    assert all(map(str.startswith, titles, found))
