"""The plugin for pytest, in test runs of its own."""

import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from s2s_ad import custom_rule
from s2s_ad.pytest_plugin import assert_derivatives

ROOT = Path(__file__).resolve().parents[2]

TESTS = """
import numpy as np
import pytest

from s2s_ad import custom_rule, grad

ran = []


def energy(u, k, steps):
    return steps * k * np.sum(u**3)


wrong = custom_rule(lambda x: x**2, forward=lambda dots, y, x: 3 * x * dots[0])


@pytest.mark.derivatives(grad(energy, (0, 1)), "f64[4], float, 2")
@pytest.mark.derivatives(energy, args=(np.ones(3), 0.5, 1), seed=2)
def test_right():
    ran.append(1)


def test_the_body_ran():
    assert ran == [1]


@pytest.mark.derivatives(grad(lambda x: wrong(x)), "float")
def test_wrong():
    raise ValueError("the body does not run")


@pytest.mark.derivatives(energy, seed=1)
def test_without_arguments():
    pass
"""


def test_marked_tests_check_derivatives(tmp_path):
    (tmp_path / "conftest.py").write_text('pytest_plugins = ["s2s_ad.pytest_plugin"]\n')
    (tmp_path / "test_some.py").write_text(TESTS)
    command = [sys.executable, "-m", "pytest", "-q", "--strict-markers", "-p", "no:cacheprovider"]
    done = subprocess.run(
        command, cwd=tmp_path, env={"PYTHONPATH": str(ROOT)}, stdout=subprocess.PIPE, text=True
    )
    assert "2 failed, 2 passed" in done.stdout, done.stdout
    assert "AssertionError: derivatives differ" in done.stdout
    assert re.search(
        r"grad\(<lambda>\), differences +x +[0-9.e+-]+ +[0-9.e+-]+ +FAILED", done.stdout
    )
    assert "derivatives needs a description of the arguments" in done.stdout
    assert "E   ValueError" not in done.stdout


def test_the_function_says_what_differs():
    doubled = custom_rule(lambda x: x, forward=lambda dots, y, x: 2.0 * dots[0])
    with pytest.raises(AssertionError, match="reverse, differences"):
        assert_derivatives(lambda x: np.sum(doubled(x)) + np.sum(x), np.ones(3))
