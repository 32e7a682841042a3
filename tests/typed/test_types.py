"""mypy finds the mistakes in a user's file and nothing else; what it is told is what there is."""

import ast
import inspect
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import s2s_ad
from typed.user import right

USER = Path(__file__).with_name("user.py")
STUB = Path(s2s_ad.__file__).with_suffix(".pyi")
MAKERS = ("grad", "value_and_grad", "jacrev", "jacfwd", "hessian", "vmap", "jit")
OTHERS = ("jvp", "vjp", "linearize", "derivative", "jet", "checkpoint", "custom_rule")


def test_what_is_right_runs():
    right(np.ones(3), np.ones(3))


def test_the_stub_names_what_is_public():
    names = set()
    for node in ast.parse(STUB.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.ImportFrom):
            names |= {each.asname for each in node.names if each.asname == each.name}
        elif isinstance(node, ast.FunctionDef | ast.ClassDef):
            names.add(node.name)
        elif isinstance(node, ast.AnnAssign):
            names.add(node.target.id)
    public = {name for name in names if not name.startswith("_")}
    assert public == {*s2s_ad.__all__, "bfloat16"}  # which needs a package of its own


@pytest.mark.parametrize("name", MAKERS + OTHERS)
def test_parameters_of_the_stub_are_those_of_the_function(name):
    parameters = inspect.signature(getattr(s2s_ad, name)).parameters
    text = ast.parse(STUB.read_text(encoding="utf-8")).body
    overloads = [n.args for n in text if isinstance(n, ast.FunctionDef) and n.name == name]
    assert overloads
    for each in overloads:
        rest = [one for one in (each.vararg, each.kwarg) if one]
        told = {one.arg for one in (*each.posonlyargs, *each.args, *each.kwonlyargs, *rest)}
        first = next(iter(parameters))
        assert told | {first} == set(parameters)


@pytest.mark.slow
def test_mypy_finds_the_mistakes_and_nothing_else(tmp_path):
    options = ["--strict", "--follow-imports=silent", "--cache-dir", str(tmp_path)]
    command = [sys.executable, "-m", "mypy", *options, str(USER)]
    found = subprocess.run(command, capture_output=True, text=True)
    lines = re.findall(r"user\.py:(\d+): error", found.stdout)
    text = USER.read_text(encoding="utf-8").splitlines()
    wrong = [i for i, line in enumerate(text, 1) if line.endswith("# wrong")]
    assert len(wrong) > 15
    assert sorted({*map(int, lines)}) == wrong, found.stdout + found.stderr
