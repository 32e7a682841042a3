"""Functions that are typed into Python's own prompt, which keeps their source since Python 3.13."""

import os
import sys
from pathlib import Path

import pytest

pexpect = pytest.importorskip("pexpect")

TYPED = [
    ("import numpy as np", None),
    ("from s2s_ad import grad", None),
    ("def f(x):\r    return np.sum(x**3)\r", None),
    ("grad(f)(np.array([1.0, 2.0]))", r"array\(\[ 3., 12.\]\)"),
    ("grad(lambda x: x**2)(3.0)", r"6\.0"),
    ("def f(x):\r    return np.sum(x**2)\r", None),  # another function of that name
    ("grad(f)(np.array([1.0, 2.0]))", r"array\(\[2., 4.\]\)"),
]


@pytest.mark.skipif(sys.version_info < (3, 13), reason="the prompt keeps no source")
@pytest.mark.parametrize("basic", ["", "1"])
def test_functions_typed_at_the_prompt_are_differentiated(basic):
    env = {
        **os.environ,
        "PYTHONPATH": str(Path(__file__).parents[2]),
        "PYTHON_BASIC_REPL": basic,
        "PYTHON_COLORS": "0",
        "TERM": "xterm",
    }
    prompt = pexpect.spawn(sys.executable, ["-q"], env=env, encoding="utf8", timeout=60)
    prompt.expect(">>> ")
    for line, answer in TYPED:
        prompt.send(line + "\r")
        if answer is not None:
            prompt.expect(answer)
        prompt.expect(">>> ")
    prompt.send("exit()\r")
    prompt.expect(pexpect.EOF)
