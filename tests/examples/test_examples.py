"""The examples run, print what they promise, and can be given to the command line."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from printed import same_text

pytestmark = pytest.mark.thinned(3)

ROOT = Path(__file__).resolve().parents[2]
EXAMPLES = sorted((ROOT / "examples").glob("*.py"))


def run(*arguments):
    done = subprocess.run(
        [sys.executable, *map(str, arguments)],
        cwd=ROOT,
        check=True,
        capture_output=True,
        text=True,
        encoding="utf-8",
    )
    assert done.stderr == ""
    return done.stdout


def numbers(text):
    """The array that NumPy printed as this text."""
    return np.array(eval(",".join(text.split()).replace("[,", "["), {}))


def test_td0_prints_two_sources_and_the_gradients():
    out = run(ROOT / "examples" / "td0.py")
    assert out.index("def td_loss_grad(") < out.index("def td_loss_grad_vmap(")
    single, batch = out.split("the gradient:\n")[1].split(
        "the gradient for each of a batch of two:\n"
    )
    np.testing.assert_allclose(numbers(single), [-4, -8, 0])
    np.testing.assert_allclose(numbers(batch), [[-4, -8, 0], [-4, -8, 0]])


def test_mlp_prints_two_sources_the_shapes_and_the_check():
    out = run(ROOT / "examples" / "mlp.py")
    assert out.index("def mlp_loss_value_and_grad(") < out.index("def mlp_loss_grad_vmap(")
    for line in (
        "W1: float32[64, 784, 128]",
        "b1: float32[64, 128]",
        "W2: float32[64, 128, 10]",
        "b2: float32[64, 10]",
    ):
        assert f"  {line}\n" in out
    difference = float(out.split("from a loop over the samples: ")[1])
    assert difference < 1e-5


MARK = "\n# Output:\n#\n"
#: of the examples on Dask, which alone takes a second to import, one is run by default
LONG = {"dask_logistic.py", "gradients_to_zarr.py"}


def thinned(paths):
    return [
        pytest.param(path, marks=[pytest.mark.slow] if path.name in LONG else [], id=path.name)
        for path in paths
    ]


SHOWN = [path for path in EXAMPLES if MARK in path.read_text(encoding="utf-8")]


@pytest.mark.parametrize("path", thinned(SHOWN))
def test_the_output_is_the_one_that_is_shown(path):
    lines = path.read_text(encoding="utf-8").split(MARK)[1].splitlines()
    expected = "\n".join(line.removeprefix("#").removeprefix(" ") for line in lines)
    printed = run(path)
    assert same_text(printed, expected), printed


@pytest.mark.slow
@pytest.mark.parametrize("workers", [0, 2])
def test_the_digits_are_told_apart(tmp_path, workers):
    for library in ("matplotlib", "sklearn", "tqdm"):
        pytest.importorskip(library)
    picture = tmp_path / "loss.png"
    command = ["digits.py", "--picture", picture, "--workers", str(workers)]
    done = subprocess.run(
        [sys.executable, ROOT / "examples" / command[0], *command[1:]],
        check=True,
        capture_output=True,
        text=True,
    )
    assert float(done.stdout.split("test accuracy ")[1]) >= 0.97
    assert picture.stat().st_size > 0


@pytest.mark.parametrize("path", thinned(EXAMPLES))
def test_import_prints_nothing(path):
    code = f"import runpy; runpy.run_path({str(path)!r}, run_name='imported')"
    assert run("-c", code) == ""


@pytest.mark.parametrize(
    "path, expression, like",
    [
        ("td0.py", "grad(td_loss)", "f64[3], f64[3], f64, f64[3]"),
        (
            "td0.py",
            "vmap(grad(td_loss), in_axes=(None, 0, 0, 0))",
            "f64[3], f64[64,3], f64[64], f64[64,3]",
        ),
        (
            "mlp.py",
            "value_and_grad(mlp_loss)",
            '{"W1": f32[20,8], "b1": f32[8], "W2": f32[8,10], "b2": f32[10]}, f32[20], i64',
        ),
    ],
)
def test_check_passes_the_examples(path, expression, like):
    out = run("-m", "s2s_ad.cli", "check", ROOT / "examples" / path, expression, "--like", like)
    assert out.endswith("\npassed\n")
