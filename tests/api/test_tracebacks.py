"""What a user sees of an error: the frames of their own code, and the line that it comes from."""

import subprocess
import sys
import traceback

import numpy as np
import pytest

from s2s_ad import S2SError, grad, vmap
from s2s_ad.core import faults


def refused(x):
    return open("numbers.txt") * x


def inverse_of_twice(x):
    y = x * 2
    return np.sum(np.linalg.inv(y))


def one_over(x):
    return 1 / (x - 1.0)


def frames(error):
    return [each.filename for each in traceback.extract_tb(error.__traceback__)]


@pytest.mark.parametrize(
    "call",
    [
        lambda: grad(refused)(1.0),
        lambda: vmap(grad(refused))(np.ones(2)),
        lambda: grad(refused).source(1.0),
        lambda: grad(refused).explain(1.0),
        lambda: grad(inverse_of_twice)("text"),
    ],
)
def test_a_refusal_shows_none_of_the_frames_of_the_compiler(call, monkeypatch):
    with pytest.raises(S2SError) as caught:
        call()
    found = frames(caught.value)
    assert sum(file.startswith(faults.PACKAGE) for file in found) <= 2  # the door, and its helper
    assert found[0] == __file__
    assert len("".join(traceback.format_exception(caught.value)).splitlines()) < 30
    monkeypatch.setenv("S2S_AD_TRACEBACK", "full")
    with pytest.raises(S2SError) as caught:
        call()
    assert len(frames(caught.value)) > len(found)


def misfits(x, measured):
    total = 0.0
    for t in range(len(x)):
        y = x * t
        total += np.sum(np.exp(y) * (y - measured[t]) ** 2 / x[None])
    return total


def test_what_is_kept_as_it_is_computed_tells_its_line():
    with pytest.raises(IndexError) as caught:
        grad(misfits)(np.ones(3), np.ones((2, 3)))
    (note,) = caught.value.__notes__
    line = misfits.__code__.co_firstlineno + 4
    assert f"test_tracebacks.py:{line} in misfits: total += np.sum(" in note


def test_what_generated_code_raises_tells_the_line_of_the_user():
    g = grad(inverse_of_twice)
    assert g(np.eye(2)).shape == (2, 2)
    for _ in range(4):  # on the first call, and on the fast path
        with pytest.raises(np.linalg.LinAlgError) as caught:
            g(np.zeros((2, 2)))
        (note,) = caught.value.__notes__
        assert note.startswith("test_tracebacks.py:")
        assert "in inverse_of_twice" in note
        assert "np.linalg.inv(y)" in note


def test_an_error_of_python_s_numbers_is_the_function_s_own():
    with pytest.raises(ZeroDivisionError) as caught:
        grad(one_over)(1.0)
    assert frames(caught.value)[-1] == __file__


@pytest.mark.parametrize(
    "function, what, help",
    [
        (lambda x: np.summ(x), "module 'numpy' has no attribute 'summ'", "did you mean 'sum'?"),
        (lambda x: np.linalg.invv(x), "'numpy.linalg' has no attribute 'invv'", "'inv'?"),
        (lambda x: x.summ(), "attribute or method 'summ' of an array", "did you mean 'sum'?"),
        (lambda x: x.at[0].set(1.0), "'at' of an array", "y = x.copy() and y[index] = value"),
        (lambda x: x.backward(), "'backward' of an array", "call grad of the function"),
        (lambda x: x.detach() * x, "'detach' of an array", "stop_gradient(x)"),
    ],
)
def test_a_mistake_and_what_is_said_of_it(function, what, help):
    with pytest.raises(S2SError) as caught:
        grad(function)(np.ones(2))
    assert what in caught.value.what
    assert help in caught.value.help


def test_a_debugger_steps_into_generated_code(tmp_path):
    """Past one line that says what it is, for the code that decides which code serves the call."""
    script = tmp_path / "slope.py"
    script.write_text(
        "import numpy as np\n"
        "from s2s_ad import grad\n"
        "def f(x):\n"
        "    y = np.sin(x)\n"
        "    return np.sum(y**2)\n"
        "g, x = grad(f), np.ones(3)\n"
        "for _ in range(20): g(x)\n"
        "g(x)\n"
    )
    commands = "b 8\nc\n" + "s\n" * 5 + "p 10 * x.size\nq\n"
    call = [sys.executable, "-m", "pdb", str(script)]
    shown = subprocess.run(call, input=commands, capture_output=True, text=True, check=False).stdout
    assert shown.count("-> # step once more: the code for these arguments is called") == 2
    assert "-> y = np.sin(x)  # line 4" in shown
    assert shown.index("-> y = np.sin(x)") < shown.index("(Pdb) 30")
