"""S2S_AD_TEXT_DIR: generated text stands in files, so tools that look at files know its lines."""

import json
import subprocess
import sys

import numpy as np
import pytest

from s2s_ad import S2SError, grad

PROGRAM = """
import numpy as np
from s2s_ad import grad

def bent(x, t):
    if t > 0.0:
        return np.sum(np.sin(x) * t)
    return np.sum(x**2)

print(grad(bent)(np.ones(3), 2.0))
"""


def squares(x):
    y = x * 2
    return np.sum(np.linalg.inv(y) ** 2)


def test_the_text_stands_in_a_file_of_its_own_once(tmp_path, monkeypatch):
    monkeypatch.setenv("S2S_AD_TEXT_DIR", str(tmp_path / "text"))
    x = np.eye(3)
    texts = [g.source(x) for g in (grad(squares), grad(squares)) if g(x) is not None]
    (file,) = (tmp_path / "text").iterdir()
    assert file.match("squares_grad_*.py")
    assert file.read_text() == texts[0] == texts[1]


def test_tracebacks_lead_into_the_file_and_tell_the_line_of_the_user(tmp_path, monkeypatch):
    monkeypatch.setenv("S2S_AD_TEXT_DIR", str(tmp_path))
    with pytest.raises(np.linalg.LinAlgError) as caught:
        grad(squares)(np.zeros((3, 3)))
    (file,) = tmp_path.iterdir()
    assert str(file) in [str(entry.path) for entry in caught.traceback]
    (note,) = caught.value.__notes__
    assert "in squares: return np.sum(np.linalg.inv(y) ** 2)" in note


def test_a_folder_that_cannot_be_is_refused_by_name(tmp_path, monkeypatch):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("S2S_AD_TEXT_DIR", str(tmp_path / "file"))
    with pytest.raises(S2SError, match="S2S_AD_TEXT_DIR"):
        grad(squares)(np.eye(2))


def test_coverage_counts_the_lines_of_the_gradient(tmp_path, monkeypatch):
    monkeypatch.setenv("S2S_AD_TEXT_DIR", str(tmp_path / "text"))
    (tmp_path / "model.py").write_text(PROGRAM)
    for command in (["run", "--source=.", "model.py"], ["json", "-o", "report.json"]):
        subprocess.run([sys.executable, "-m", "coverage", *command], cwd=tmp_path, check=True)
    files = json.loads((tmp_path / "report.json").read_text())["files"]
    ((name, report),) = ((name, each) for name, each in files.items() if "bent_grad" in name)
    lines = (tmp_path / name).read_text().splitlines()
    assert any("np.cos(x)" in lines[line - 1] for line in report["executed_lines"])
    (missing,) = report["missing_lines"]  # the branch that was not taken
    assert "2 * x" in lines[missing - 1]
