"""The command s2s-ad: what it prints, what it refuses, and the status it exits with."""

import importlib.metadata
import subprocess
import sys

import numpy as np
import pytest

from s2s_ad import grad
from s2s_ad.cli import main

PROGRAM = """\
import numpy as np

from s2s_ad import grad, stop_gradient

r_tp1 = np.array(2.0)
s_tp1 = np.array([1.0, 2.0, 0.0])
value_fn = lambda theta, state: np.tensordot(theta, state, axes=1)
pi = 3.0


def td_loss(theta, s_tm1, r_t, s_t):
    return (stop_gradient(r_tp1 + value_fn(theta, s_tp1)) - value_fn(theta, s_t)) ** 2


def pick(params, x, mode, index):
    y = params["W"] @ x
    if mode == "square":
        y = y * y
    return y[index]


def reads_a_file(x):
    with open("data") as file:
        return x * len(file.read())


def log(x):
    return np.log(x)


def changes_a_view(x):
    y = x.reshape(-1)
    y[0] = 3.0
    return x.sum()


if __name__ == "__main__":
    raise AssertionError("the file was run, not imported")
"""

TD_LIKE = "f64[3], f64[3], f64, f64[3]"
BATCH = "vmap(grad(td_loss), in_axes=(None, 0, 0, 0))"
BATCH_LIKE = "f64[3], f64[64,3], f64[64], f64[64,3]"


@pytest.fixture
def run(tmp_path, monkeypatch, capsys):
    """Runs a command in a folder with the program; gives (status, stdout, stderr)."""
    (tmp_path / "program.py").write_text(PROGRAM, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    before = set(sys.modules)

    def run(*arguments):
        try:
            status = main(arguments)
        except SystemExit as stop:  # argparse
            status = stop.code
        for name in set(sys.modules) - before:
            if name.partition(".")[0] in ("program", "broken", "leaves", "package"):
                del sys.modules[name]
        return status, *capsys.readouterr()

    return run


@pytest.mark.parametrize(
    "expression, like, expected",
    [
        ("grad(td_loss)", TD_LIKE, "def td_loss_grad(theta, s_tm1, r_t, s_t):"),
        (BATCH, BATCH_LIKE, "def td_loss_grad_vmap(theta, s_tm1, r_t, s_t):"),
        ("td_loss", TD_LIKE, "def td_loss(theta, s_tm1, r_t, s_t):"),
        ("grad(pick)", '{"W": f64[2,3]}, f64[3], "square", int', "def pick_grad("),
        ("grad(lambda x: pi * x**2)", "float", "pi * "),
        ("grad(lambda x: np.sin(x))", "f64[3]", "np.cos(x)"),
    ],
)
def test_dump_prints_the_source(run, expression, like, expected):
    status, out, err = run("dump", "program.py", expression, "--like", like)
    assert (status, err) == (0, "")
    assert expected in out
    compile(out, "dumped", "exec")


def test_the_version(capsys):
    with pytest.raises(SystemExit):
        main(["--version"])
    assert capsys.readouterr().out == f"s2s_ad {importlib.metadata.version('s2s_ad')}\n"


def test_explain_says_why_copies_are_made(run):
    told = ("explain", "program.py", "grad(lambda x, y: np.sum(x * y))", "--like", "f64[3], f64[3]")
    status, out, err = run(*told, "--copies")
    assert (status, err) == (0, "")
    assert out.startswith(run(*told)[1])
    last = out.split("\n")[-2].split()
    assert last[:4] == ["y.copy()", "1", "24", "once"]


def test_dump_prints_core(run):
    told = ("dump", "program.py", "jit(log)", "--like", "f64[3]")
    lines = ["log(x: f64[n]):", "    t1 = np.log(x)", "    return t1"]
    assert run(*told, "--core") == (0, "\n".join(lines) + "\n", "")
    lines[1] = f"{lines[1]:44}  # f64[n]"
    assert run(*told, "--facts") == (0, "\n".join(lines) + "\n", "")


def test_dump_prints_what_passes_change(run):
    told = ("dump", "program.py", "grad(td_loss)", "--like", TD_LIKE)
    status, out, err = run(*told, "--passes", "erase,merge")
    assert (status, err) == (0, "")
    titles = [each for each in out.split("\n") if each.startswith("#")]
    assert titles == ["# erase: td_loss_grad", "# merge: td_loss_grad"]
    status, out, err = run(*told, "--passes")
    assert (status, err) == (0, "")
    assert "# transform: td_loss\n" in out
    assert "# merge" not in out
    status, out, err = run(*told, "--passes", "daed")
    assert (status, out) == (2, "")
    assert "daed" in err


def test_show_writes_a_page(run, tmp_path):
    answer = run("show", "program.py", "grad(td_loss)", "--like", TD_LIKE, "-o", "page.html")
    assert answer == (0, "page.html\n", "")
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert all(text in page for text in ("td_loss_grad", TD_LIKE, "program.py", "Hessian"))


@pytest.mark.parametrize(
    "expression, like, code", [("grad(reads_a_file)", "f64[3]", "S2S"), ("grad(lgo)", "", "Python")]
)
def test_show_writes_a_page_of_a_refusal_too(run, tmp_path, expression, like, code):
    status, out, err = run("show", "program.py", expression, "--like", like, "-o", "page.html")
    assert (status, out) == (1, "page.html\n")
    assert err.startswith(f"s2s-ad: {code}")
    assert 'class="refused"' in (tmp_path / "page.html").read_text(encoding="utf-8")


def test_show_needs_arguments(run):
    status, out, err = run("show", "program.py", "grad(td_loss)", "-o", "page.html")
    assert (status, out) == (2, "")
    assert "--like" in err


def test_dump_takes_arguments_from_an_expression(run):
    shaped = run("dump", "program.py", "grad(td_loss)", "--like", TD_LIKE)
    given = "s_tp1, s_tp1, np.array(2.0), s_tp1"
    assert run("dump", "program.py", "grad(td_loss)", "--args", given) == shaped
    assert run("dump", "program.py", "grad(log)", "--args", "2.0")[0] == 0


def test_dump_without_arguments_gives_text_that_is_right_for_all(run, tmp_path):
    for expression in ("grad(td_loss)", BATCH):
        options = ("--standalone", "-o", "out.py")
        assert run("dump", "program.py", expression, *options) == (0, "", "")
        space: dict = {}
        exec((tmp_path / "out.py").read_text(encoding="utf-8"), space)
        theta, s_t = np.array([0.2, -0.2, 0.1]), np.array([1.0, 2.0, 0.0])
        if expression == BATCH:
            found = space["td_loss_grad_vmap"](theta, np.ones((2, 3)), np.ones(2), [s_t, s_t])
            np.testing.assert_allclose(found, [[-4, -8, 0], [-4, -8, 0]])
        else:
            found = space["td_loss_grad"](theta, s_t, 2.0, s_t)
            np.testing.assert_allclose(found, [-4, -8, 0])


def test_standalone_file_imports_with_numpy_alone(run, tmp_path):
    run("dump", "program.py", "grad(td_loss)", "--standalone", "-o", "td_grad.py")
    done = subprocess.run([sys.executable, "-I", str(tmp_path / "td_grad.py")])
    assert done.returncode == 0


@pytest.mark.parametrize("end", [b"\n", b"\r\n"])
def test_dump_checks_a_file(run, tmp_path, end):
    command = "dump", "program.py", "grad(td_loss)", "--like", TD_LIKE, "--standalone"
    file = tmp_path / "td_grad.py"
    status, _, err = run(*command, "--check", "td_grad.py")
    assert (status, err) == (1, "s2s-ad: there is no file td_grad.py\n")
    run(*command, "-o", "td_grad.py")
    written = file.read_bytes().replace(b"\r\n", b"\n").replace(b"\n", end)
    file.write_bytes(written)
    assert run(*command, "--check", "td_grad.py") == (0, "", "")
    assert file.read_bytes() == written

    file.write_bytes(written.replace(b"def td_loss_grad(", b"def other("))
    status, out, err = run(*command, "--check", "td_grad.py")
    assert (status, err) == (1, "")
    assert "-def other(theta, s_tm1, r_t, s_t):\n+def td_loss_grad(theta," in out
    file.write_bytes(written[: -len(end)])
    assert "No newline at end of file" in run(*command, "--check", "td_grad.py")[1]


def test_dump_sees_line_ends_that_are_mixed(run, tmp_path):
    command = "dump", "program.py", "grad(log)", "--like", "f64[3]"
    run(*command, "-o", "log_grad.py")
    file = tmp_path / "log_grad.py"
    file.write_bytes(file.read_bytes().replace(b"numpy as np\n", b"numpy as np\r\n"))
    status, out, _ = run(*command, "--check", "log_grad.py")
    assert status == 1
    assert "-import numpy as np\\r\n+import numpy as np\n" in out
    assert run(*command, "--check", "log_grad.py", "-o", "other.py")[0] == 2


CHECKS_TOML = """
[[tool.s2s_ad.check]]
target = "program.py"
expression = "grad(td_loss)"
like = "f64[3], f64[3], f64, f64[3]"

[[tool.s2s_ad.check]]
target = "program.py"
expression = "log"
args = "np.array([0.5, 2.0])"
seed = 3
"""
CHECKS_CFG = """
[s2s_ad:check]
program.py =
    grad(td_loss) | f64[3], f64[3], f64, f64[3]
    grad(lambda x: np.sum(x**2)) | f64[2]
"""
WRONG_CHECKS = [
    ("[tool.s2s_ad]\ncheck = 3", "array of tables"),
    ("[[tool.s2s_ad.check]]\ntarget = 'a.py'", "missing"),
    (CHECKS_TOML + "colour = 'red'", "colour"),
    (CHECKS_TOML.replace("3", "'3'"), "seed = '3' is no int"),
    (CHECKS_TOML.replace("args", "unknown"), "unknown"),
    (CHECKS_TOML + "like = 'f64'", "one of them"),
    ("[tool", "pyproject.toml: "),
    ("", "lists no checks"),
]


@pytest.mark.parametrize("name, text", [("pyproject.toml", CHECKS_TOML), ("setup.cfg", CHECKS_CFG)])
def test_checks_of_a_project(run, tmp_path, name, text):
    (tmp_path / name).write_text(text, encoding="utf-8")
    status, out, err = run("check")
    assert (status, err) == (0, "")
    assert out.startswith("program.py grad(td_loss)\ncompared")
    assert out.endswith("\n2 of 2 passed\n")
    (tmp_path / "inner").mkdir()
    (tmp_path / name).rename(tmp_path / "inner" / name)
    (tmp_path / "program.py").rename(tmp_path / "inner" / "program.py")
    assert run("check", "--config", f"inner/{name}")[0] == 0


@pytest.mark.filterwarnings("ignore:.*encountered in:RuntimeWarning")
def test_a_check_of_a_project_that_fails_or_is_refused_does_not_stop_the_others(run, tmp_path):
    text = CHECKS_CFG + "    grad(reads_a_file) | f64\n    nowhere | f64\n    log | f64[2]\n"
    (tmp_path / "setup.cfg").write_text(text, encoding="utf-8")
    status, out, err = run("check")
    assert status == 1
    assert "S2S201" in err
    assert "NameError" in err
    assert out.endswith("\n2 of 5 passed\n")  # the logarithm of a number below 0 is nan


@pytest.mark.parametrize("text, said", WRONG_CHECKS)
def test_checks_of_a_project_that_are_wrong(run, tmp_path, text, said):
    (tmp_path / "pyproject.toml").write_text(text, encoding="utf-8")
    status, out, err = run("check")
    assert (status, out) == (2, "")
    assert said in err


def test_module_by_its_dotted_name(run, tmp_path):
    (tmp_path / "package").mkdir()
    (tmp_path / "package" / "__init__.py").touch()
    (tmp_path / "package" / "inner.py").write_text(PROGRAM, encoding="utf-8")
    status, out, _ = run("dump", "package.inner", "grad(td_loss)", "--like", TD_LIKE)
    assert status == 0
    assert "def td_loss_grad(" in out


def test_explain_says_what_is_kept(run):
    status, out, err = run("explain", "program.py", "grad(log)", "--like", "f64[5]")
    assert (status, err) == (0, "")
    assert out == grad(log_here).explain(np.ones(5)).replace("log_here", "log") + "\n"
    assert run("explain", "program.py", "grad(td_loss)")[0] == 0


def log_here(x):
    return np.log(x)


@pytest.mark.parametrize(
    "expression, given",
    [
        ("td_loss", ("--like", TD_LIKE)),
        ("grad(td_loss)", ("--like", TD_LIKE)),
        ("grad(td_loss)", ("--like", TD_LIKE.replace("64", "32"))),
        (BATCH, ("--like", BATCH_LIKE.replace("64,3", "4,3").replace("f64[64]", "f64[4]"))),
        ("grad(pick, (0, 1))", ("--like", '{"W": f64[2,3]}, f64[3], "square", i64')),
        ("log", ("--args", "np.array([0.5, 2.0])")),
        ("jacfwd(log)", ("--args", "(np.array([0.5, 2.0]),)")),
    ],
)
def test_check_passes_what_is_right(run, expression, given):
    status, out, err = run("check", "program.py", expression, *given)
    assert (status, err) == (0, "")
    assert out.endswith("\npassed\n")
    assert "FAILED" not in out


def test_check_uses_double_precision_and_its_seed(run):
    arguments = "check", "program.py", "grad(td_loss)", "--like", TD_LIKE
    first = run(*arguments)
    assert run(*arguments) == first
    assert run(*arguments, "--seed", "1") != first
    single = "check", "program.py", "grad(td_loss)", "--like", TD_LIKE.replace("64", "32")
    assert run(*single) == first


@pytest.mark.filterwarnings("ignore:.*encountered in:RuntimeWarning")
def test_check_that_fails_exits_with_one(run):
    status, out, _ = run("check", "program.py", "log", "--args", "np.array([0.0])")
    assert status == 1
    assert out.endswith("\nFAILED\n")


REFUSALS = [
    (("grad(reads_a_file)",), ("S2S201", "program.py:", "with open", "^^^")),
    (("grad(changes_a_view)",), ("S2S207", "example arguments (`--like`", "else take a copy")),
    (("grad(pick)",), ("S2S203", "help: give example arguments")),
    (("nowhere",), ("NameError: name 'nowhere' is not defined", "program.py: it has ")),
    (("grad(td_los)",), ("NameError: name 'td_los' is not defined", "did you mean 'td_loss'?")),
    (("grad(3)",), ("S2S501", "grad: argument 'fn'")),
    (("1 / 0",), ("ZeroDivisionError",)),
    (("grad(td_loss)", "--like", "f64[3], i64[3]"), ("S2S501", "missing")),
    (("grad(log)", "--like", "i64[3]"), ("S2S303", "gradients need floating-point numbers")),
    (("grad(td_loss)", "--args", "1 / 0"), ("ZeroDivisionError",)),
]
WRONG_USES = [
    (("grad(td_loss)", "--like", "f65[3]"), ("unknown type 'f65'", "^^^")),
    (("grad(",), ("'grad('", "never closed")),
    (("grad(td_loss)", "--args", "(1"), ("'(1'", "never closed")),
    (("pi",), ("EXPRESSION", "function", "float")),
    (("log", "--like", "f64", "--args", "1"), ("not allowed with",)),
]


@pytest.mark.parametrize("arguments, said", REFUSALS)
def test_refusals_are_said_without_a_traceback(run, arguments, said):
    status, out, err = run("dump", "program.py", *arguments)
    assert (status, out) == (1, "")
    assert err.startswith("s2s-ad: ")
    assert "Traceback" not in err
    for each in said:
        assert each in err


def test_a_target_alone(run):
    for target in ("program.py", "program.py:td_loss"):
        status, _, err = run("dump", target)
        assert status == 2
        assert "give the file and the expression apart: program.py 'grad(" in err


@pytest.mark.parametrize("arguments, said", WRONG_USES)
def test_wrong_uses_exit_with_two(run, arguments, said):
    status, out, err = run("dump", "program.py", *arguments)
    assert (status, out) == (2, "")
    for each in said:
        assert each in err


@pytest.mark.parametrize(
    "target, status, said",
    [
        ("missing.py", 2, "there is no file missing.py"),
        ("no.such.module", 2, "neither a file nor a module"),
        ("nothing_of_this_name", 2, "neither a file nor a module"),
        ("program.py:td_loss", 2, "give the file and the expression apart: program.py 'f'"),
        ("numpy.py", 2, "rename it"),
        ("broken.py", 1, 'broken.py", line 1\n    def f(:\n          ^\nSyntaxError'),
        ("lacking.py", 1, '.py", line 2, in <module>\n    import missing\nModuleNotFoundError'),
        ("leaves.py", 1, "SystemExit"),
    ],
)
def test_targets_that_cannot_be_imported(run, tmp_path, target, status, said):
    (tmp_path / "numpy.py").touch()
    (tmp_path / "broken.py").write_text("def f(:\n")
    (tmp_path / "lacking.py").write_text("import math\nimport missing\n")
    (tmp_path / "leaves.py").write_text("raise SystemExit(0)\n")
    found, out, err = run("dump", target, "f")
    assert (found, out) == (status, "")
    assert said in err


def test_check_without_arguments_is_a_wrong_use(run):
    status, _, err = run("check", "program.py", "log")
    assert status == 2
    assert "--like or --args" in err


@pytest.mark.parametrize("arguments", [(), ("dump",), ("unknown", "program.py", "log")])
def test_wrong_commands_show_the_usage(run, arguments):
    status, _, err = run(*arguments)
    assert status == 2
    assert err.startswith("usage: s2s-ad")


@pytest.mark.parametrize("command", ["dump", "explain", "check"])
def test_help_shows_the_language_of_like(run, command):
    status, out, _ = run(command, "--help")
    assert status == 0
    assert '{"W": f64[3]}' in out


def test_command_runs_as_a_program(tmp_path):
    (tmp_path / "program.py").write_text(PROGRAM, encoding="utf-8")
    command = [sys.executable, "-m", "s2s_ad", "check", "program.py", "grad(td_loss)"]
    done = subprocess.run(
        [*command, "--like", TD_LIKE], cwd=tmp_path, stdout=subprocess.PIPE, text=True
    )
    assert done.returncode == 0
    assert done.stdout.endswith("passed\n")
