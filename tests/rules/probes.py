"""The coverage table's programs, one per function, and what each has to do in every column.

A row of `tests/data/coverage.csv` has a `probe`: statements over the inputs below. A column is a
check against central differences, or against a loop over samples, and each is either passed or
refused with an error of this library's: nothing else counts.
"""

from __future__ import annotations

import ast
import csv
import functools
import importlib.util
import itertools
import tempfile
import warnings
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import scipy.stats

from s2s_ad import grad, jvp, vmap
from s2s_ad.diagnostics import S2SError

DATA = Path(__file__).resolve().parents[1] / "data"
PEERS = ("autograd_vjp", "autograd_jvp", "jax", "torch", "mindspore")
STEP = 1e-4  # of central differences of fourth order
SAMPLES = 3
MODULES = """\
import cmath
import functools
import math
import operator as op

import numpy as np
import scipy as sp
import scipy.cluster.vq
import scipy.fft
import scipy.integrate
import scipy.interpolate
import scipy.linalg
import scipy.ndimage
import scipy.optimize
import scipy.signal
import scipy.sparse
import scipy.sparse.linalg
import scipy.spatial
import scipy.special
import scipy.stats

M = np.array([[True, False, True, True], [False, True, True, False], [True, False, False, True]])
I = np.array([1, 0, 2, 1])
n = 3
"""
_folder = tempfile.TemporaryDirectory(prefix="s2s_ad_probes_")
_number = itertools.count()


def inputs() -> dict[str, Any]:
    """What a probe may read and is differentiated with respect to."""
    rng = np.random.default_rng(11)

    def draw(*shape: int) -> np.ndarray:
        return rng.uniform(0.2, 0.9, shape)

    return {
        **{name: draw(3, 4) for name in "xy"},
        "z": rng.uniform(-0.9, 0.9, (3, 4)),
        **{name: draw(5) for name in "vw"},
        **{"b": draw(3), "u": draw(4), "T": draw(2, 3, 4)},
        **{name: draw(3, 3) + np.eye(3) for name in "AB"},
        **{"s": 0.7, "t": 1.3},
    }


INPUTS = inputs()


@dataclass(frozen=True)
class Row:
    """A row of the coverage table."""

    module: str
    name: str
    kind: str
    keywords: tuple[str, ...]
    peers: dict[str, str]
    probe: str

    def __str__(self) -> str:
        return f"{self.module}.{self.name}".replace(" ", "-")

    @property
    def random(self) -> bool:
        return "random." in self.probe

    @functools.cached_property
    def statements(self) -> list[ast.stmt]:
        return ast.parse("\n".join(part.strip() for part in self.probe.split(";;"))).body

    @property
    def names(self) -> list[str]:
        """The inputs that the probe reads."""
        nodes = [node for statement in self.statements for node in ast.walk(statement)]
        own = {each.arg for each in nodes if isinstance(each, ast.arg)}
        names = [each for each in nodes if isinstance(each, ast.Name)]
        own |= {each.id for each in names if isinstance(each.ctx, ast.Store)}
        return [each for each in INPUTS if each in {node.id for node in names} - own]


def rows() -> list[Row]:
    """The coverage table."""
    with (DATA / "coverage.csv").open(encoding="utf-8", newline="") as file:
        return [
            Row(
                each["module"],
                each["name"],
                each["class"],
                tuple(each["keywords"].split()),
                {peer: each[peer] for peer in PEERS},
                each["probe"],
            )
            for each in csv.DictReader(file)
        ]


# ---- programs ------------------------------------------------------------------------------------


def load(text: str) -> ModuleType:
    """A module from a file of its own: the compiler reads sources."""
    name = f"s2s_ad_probe_{next(_number)}"
    path = Path(_folder.name) / f"{name}.py"
    path.write_text(MODULES + text, encoding="utf-8")
    spec = importlib.util.spec_from_file_location(name, path)
    made = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(made)
    return made


def function(name: str, parameters: list[str], statements: list[str]) -> str:
    body = "".join(f"    {each}\n" for each in statements)
    return f"\n\ndef {name}({', '.join(parameters)}):\n{body}"


class Program:
    """A probe as a function `f`, and as a weighted sum `loss` of its result, at some arguments."""

    def __init__(self, statements: list[ast.stmt], arguments: dict[str, Any]):
        *before, last = (ast.unparse(each) for each in statements)
        self.arguments = list(arguments.values())
        plain = load(function("f", list(arguments), [*before, f"return {last}"]))
        self.result = np.asarray(plain.f(*map(_copied, self.arguments)))
        complex_result = np.iscomplexobj(self.result)
        total = f"np.real(({last}) * W)" if complex_result else f"({last}) * W"
        text = function("f", list(arguments), [*before, f"return {last}"])
        text += function("loss", list(arguments), [*before, f"return np.sum({total})"])
        self.module = load(text)
        rng = np.random.default_rng(5)
        weights = rng.uniform(0.5, 1.5, self.result.shape)
        self.module.W = weights * (1 - 0.5j) if complex_result else weights
        self.directions = [self._direction(rng, each) for each in self.arguments]

    def _direction(self, rng: np.random.Generator, value: Any) -> Any:
        if not isinstance(value, np.ndarray):
            return type(value)(rng.normal())
        found = rng.normal(size=value.shape)
        return found + 1j * rng.normal(size=value.shape) if np.iscomplexobj(value) else found

    @functools.cached_property
    def slopes(self) -> Any:
        """The compiled gradient of the loss with respect to all arguments."""
        many = len(self.arguments) > 1
        return grad(self.module.loss, tuple(range(len(self.arguments))) if many else 0)

    def gradient(self, *arguments: Any) -> tuple:
        found = self.slopes(*arguments)
        return found if isinstance(found, tuple) else (found,)

    def flat_gradient(self, *arguments: Any) -> np.ndarray:
        return np.concatenate([np.ravel(each) for each in self.gradient(*arguments)])

    def along(self, bars: tuple) -> float:
        """The change of the loss along the directions, by its gradient."""
        pairs = zip(bars, self.directions, strict=True)
        return sum(np.sum(np.real(np.conj(bar) * direction)) for bar, direction in pairs)

    def central(self, function: Any) -> np.ndarray:
        """The change of function(*arguments) along the directions, by central differences."""

        def at(step: float) -> np.ndarray:
            pairs = zip(self.arguments, self.directions, strict=True)
            return np.asarray(function(*[value + step * way for value, way in pairs])) * 1.0

        near, far = at(STEP) - at(-STEP), at(2 * STEP) - at(-2 * STEP)
        return (8 * near - far) / (12 * STEP)

    def samples(self) -> list[list]:
        """A few arguments of the same kinds."""
        return [
            [_like(value * (1 + 0.05 * sample), value) for value in self.arguments]
            for sample in range(SAMPLES)
        ]


def _copied(value: Any) -> Any:
    return value.copy() if isinstance(value, np.ndarray) else value


def _like(value: Any, like: Any) -> Any:
    return value if isinstance(like, np.ndarray) else type(like)(value)


def close(actual: Any, expected: Any, tolerance: float) -> None:
    scale = max(1.0, float(np.max(np.abs(expected), initial=0.0)))
    np.testing.assert_allclose(
        np.asarray(actual) * 1.0, expected, rtol=tolerance, atol=tolerance * scale
    )


# ---- columns -------------------------------------------------------------------------------------


def check_reverse(program: Program) -> None:
    bars = program.gradient(*program.arguments)
    close(program.along(bars), program.central(program.module.loss), 1e-5)


def check_forward(program: Program) -> None:
    _, y_dot = jvp(program.module.f, tuple(program.arguments), tuple(program.directions))
    close(y_dot, program.central(program.module.f), 1e-5)


def check_second_order(program: Program) -> None:
    arguments, directions = tuple(program.arguments), tuple(program.directions)
    _, dots = jvp(program.slopes, arguments, directions)
    dots = dots if isinstance(dots, tuple) else (dots,)
    actual = np.concatenate([np.ravel(each) for each in dots])
    close(actual, program.central(program.flat_gradient), 1e-4)


def check_batch(program: Program, random: bool = False) -> None:
    samples = program.samples()
    stacked = [np.stack(column) for column in zip(*samples, strict=True)]
    actual = vmap(program.module.f)(*stacked)
    if random:  # each sample draws numbers of its own: the loop draws others
        assert np.shape(actual) == (SAMPLES, *program.result.shape)
        assert len({np.asarray(each).tobytes() for each in actual}) == SAMPLES
        return
    close(actual, np.stack([np.asarray(program.module.f(*each)) for each in samples]), 1e-9)


def as_complex(value: Any) -> Any:
    """A complex argument near a real one."""
    return value * (1 + 0.3j) + 0.1j


def outputs_given(row: Row) -> list[ast.stmt] | None:
    """The probe with the result of the row's function written into an array of its own."""
    if "out" not in row.keywords:
        return None
    finder = _CallOf(row)
    *before, last = row.statements
    last = finder.visit(ast.parse(ast.unparse(last)).body[0])
    if finder.found is None:
        return None
    call = ast.unparse(finder.found)
    space = vars(load("")) | {name: _copied(INPUTS[name]) for name in row.names}
    exec("\n".join(ast.unparse(each) for each in before), space)
    value = eval(call, space)
    if not isinstance(value, np.ndarray):
        return None
    finder.found.keywords.append(ast.keyword("out", ast.Name("r", ast.Load())))
    make = ast.parse(f"r = np.zeros({value.shape}, np.{value.dtype})").body
    return [*before, *make, ast.parse(ast.unparse(finder.found)).body[0], last]


class _CallOf(ast.NodeTransformer):
    """Takes the first call of a row's function out of an expression."""

    def __init__(self, row: Row):
        self.name, self.found = row.name.rpartition(".")[2], None

    def visit_Call(self, node: ast.Call) -> ast.AST:
        if self.found is None and getattr(node.func, "attr", "") == self.name:
            self.found = node
            return ast.Name("r", ast.Load())
        return self.generic_visit(node)


COLUMNS = ("reverse", "forward", "second order", "batch", "complex", "in place")


def outcome(row: Row, column: str) -> tuple[str, str]:
    """(`yes`, ""), (`refused`, code and reason), or (`none`, ""): the column means nothing for it.

    Raises:
        AssertionError: the numbers are wrong.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return ("yes" if _check(row, column) else "none"), ""
        except S2SError as error:
            return "refused", f"{error.code}: {error.what}"


def _check(row: Row, column: str) -> bool:
    """Check one column of one row; False where the column does not apply."""
    arguments = {name: _copied(INPUTS[name]) for name in row.names}
    statements = row.statements
    if column == "complex":
        arguments = {name: as_complex(value) for name, value in arguments.items()}
        if not _takes_complex(row, arguments):
            return False
    elif column == "in place":
        statements = outputs_given(row)
        if statements is None:
            return False
    program = Program(statements, arguments)
    if column == "forward":
        check_forward(program)
    elif column == "second order":
        check_second_order(program)
    elif column == "batch":
        check_batch(program, row.random)
    else:
        check_reverse(program)
    return True


def _takes_complex(row: Row, arguments: dict[str, Any]) -> bool:
    """Whether the library itself takes complex arguments, and gives numbers: it does not raise, nor
    drop the imaginary parts as SciPy does where it does not say so (NumPy's programs ask for it).
    A distribution is one of real numbers, whatever SciPy computes."""
    if hasattr(getattr(scipy.stats, row.module.rpartition(".")[2], None), "rvs"):
        return False
    try:
        with warnings.catch_warnings():
            if row.module.startswith("scipy"):
                warnings.simplefilter("error", np.exceptions.ComplexWarning)
            return bool(np.all(np.isfinite(Program(row.statements, arguments).result)))
    except Exception:  # whatever a function says of numbers that it does not take
        return False


# ---- what is on record ---------------------------------------------------------------------------


def recorded() -> dict[tuple[str, str], dict[str, str]]:
    """Per function the outcome in each column, and the reason where one is `refused`."""
    with (DATA / "rules.csv").open(encoding="utf-8", newline="") as file:
        return {(each.pop("module"), each.pop("name")): each for each in csv.DictReader(file)}


def record(chosen: Collection[str] = ()) -> None:
    """Run every program, or those of some modules or rows, and write down what it does.

    Args:
        chosen: modules as the table has them, `numpy.linalg`, and rows of them, `numpy.linalg.qr`.

    Raises:
        AssertionError: a number is wrong: there is nothing to write down before that is right.
    """
    known = recorded()
    lines = []
    for row in rows():
        cells = known.get((row.module, row.name))
        asked = not {row.module, f"{row.module}.{row.name}"}.isdisjoint(chosen)
        if cells is None or not chosen or asked:
            found = [outcome(row, column) for column in COLUMNS]
            reason = next((why for _, why in found if why), "")
            lines.append([row.module, row.name, *(cell for cell, _ in found), reason])
        else:
            lines.append([row.module, row.name, *cells.values()])
    with (DATA / "rules.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["module", "name", *COLUMNS, "reason"])
        writer.writerows(lines)
