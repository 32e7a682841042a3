"""A row of the table of elementwise functions, checked before it is added."""

from __future__ import annotations

import ast
import importlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from s2s_ad.api.families import FAMILIES
from s2s_ad.api.make import grad, vmap
from s2s_ad.check.compare import Report, check
from s2s_ad.core.registry import RULES, rule_for
from s2s_ad.core.rule import Rule
from s2s_ad.diagnostics import ArgumentValueError
from s2s_ad.rules.elementwise import OPERAND_NAMES, Elementwise

SAMPLES, LENGTH = 4, 3  # of the batch that a row is checked with
MOST = 2  # operands

#: where a function is defined and smooth -> numbers from there
DOMAINS: dict[str, Callable[[np.random.Generator, tuple[int, ...]], np.ndarray]] = {
    "real": lambda rng, shape: rng.standard_normal(shape),
    "positive": lambda rng, shape: rng.uniform(0.5, 2.0, shape),
    "above one": lambda rng, shape: rng.uniform(1.2, 3.0, shape),
    "unit": lambda rng, shape: rng.uniform(-0.9, 0.9, shape),
}
#: what a text may name besides the operands
NAMES = {"y": "the result", "y_bar": "its adjoint", "np": "NumPy", "math": "", "runtime": ""}


def check_row(
    function: Callable, texts: Sequence[str | None], *, domain: str = "real", seed: int = 0
) -> Report:
    """Compare the derivatives that a row gives with differences, in double precision.

    Reverse mode, forward mode, the batch, and the derivative of the derivative are compared.

    Args:
        function: the elementwise function.
        texts: for each operand the text of its contribution to the adjoint; None where the
            function moves in steps.
        domain: where the function is defined and smooth, a key of DOMAINS.
        seed: of the inputs.

    Raises:
        ArgumentValueError: a text is none, or names what it may not.

    Example:
        >>> check_row(np.tanh, ["y_bar * (1 - y**2)"]).passed
        True
        >>> check_row(np.tanh, ["y_bar * (1 + y**2)"]).passed
        False
    """
    if len(texts) > MOST:
        raise ArgumentValueError("S2S502", f"{len(texts)} texts: an operand each, {MOST} at most")
    for text in texts:
        _check_text(text, OPERAND_NAMES[len(texts)])
    rng = np.random.default_rng(seed)
    args = [DOMAINS[domain](rng, (SAMPLES, LENGTH)) for _ in texts]
    call = _call(function, len(texts))
    with _registered(Elementwise(function, tuple(texts), domain=domain)):
        first = check(vmap(call), *args, seed=seed)
        if not any(texts):
            return first
        total = _total(call, len(texts))
        return Report((*first.comparisons, *check(total, *args, seed=seed).comparisons))


def _call(function: Callable, count: int) -> Callable:
    """A call of the function with as many arguments, as code that can be compiled."""

    def unary(x: Any) -> Any:
        return function(x)

    def binary(a: Any, b: Any) -> Any:
        return function(a, b)

    return (unary, binary)[count - 1]


def _total(call: Callable, count: int) -> Callable:
    """The gradient of a sum of squares, for a batch."""

    def of_one(x: Any) -> Any:
        return np.sum(call(x) ** 2)

    def of_two(a: Any, b: Any) -> Any:
        return np.sum(call(a, b) ** 2)

    return vmap(grad((of_one, of_two)[count - 1], tuple(range(count))))


def _check_text(text: str | None, operands: Sequence[str]) -> None:
    if text is None:
        return
    try:
        tree = ast.parse(text, mode="eval")
    except SyntaxError as error:
        raise ArgumentValueError("S2S502", f"the text {text!r}: {error.msg}") from None
    known = {*operands, *NAMES}
    strange = {e.id for e in ast.walk(tree) if isinstance(e, ast.Name)} - known
    if strange:
        raise ArgumentValueError(
            "S2S502",
            f"the text {text!r} names {', '.join(sorted(strange))}",
            help=f"a text may name {', '.join([*operands, *NAMES])}",
        )


@contextmanager
def _registered(rule: Rule) -> Iterator[None]:
    """Let a function have this rule meanwhile."""
    before = rule_for(rule.function)
    FAMILIES.clear()
    RULES[rule.function] = rule
    try:
        yield
    finally:
        del RULES[rule.function]
        if before is not None:
            RULES[rule.function] = before
        FAMILIES.clear()


# ---- what to add ---------------------------------------------------------------------------------


def function_at(path: str) -> Callable:
    """The function that a dotted path leads to: `np.cbrt`, `scipy.special.erf`."""
    module, _, name = numpy_path(path).rpartition(".")
    try:
        found = getattr(importlib.import_module(module), name)
    except (ImportError, ValueError, AttributeError):
        found = None
    if not callable(found):
        raise ArgumentValueError(
            "S2S502", f"there is no function {path}", help="name it with its module: np.cbrt"
        )
    return found


def numpy_path(path: str) -> str:
    """The path with NumPy called by its full name."""
    head, dot, rest = path.partition(".")
    return f"numpy{dot}{rest}" if head == "np" else path


def table_of(path: str) -> str:
    """The file that the row of a function belongs to."""
    module = numpy_path(path).rpartition(".")[0]
    special = module.startswith("scipy")
    return f"s2s_ad/rules/{module.replace('.', '_') if special else 'elementwise_table'}.py"


def row_text(path: str, texts: Sequence[str | None], domain: str) -> str:
    """The row, as it stands in `rules/elementwise_table.py`."""
    parts = [path, *(repr(each) if each is None else _quoted(each) for each in texts)]
    return f"elementwise({', '.join(parts + ([f'domain={_quoted(domain)}'] * (domain != 'real')))})"


def coverage_row(path: str, count: int) -> str:
    """The row of `tests/data/coverage.csv` by which tests run the function in every mode."""
    module, _, name = path.rpartition(".")
    probe = f"{module.replace('scipy', 'sp')}.{name}({', '.join('xy'[:count])})"
    cells = [
        numpy_path(module),
        name,
        ("elementwise unary", "elementwise binary")[count - 1],
        "out where dtype casting order",
        *"nnnnnn",  # what other libraries have
        f'"{probe}"' if "," in probe else probe,
        "",
    ]
    return ",".join(cells)


def _quoted(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


__all__ = [
    "DOMAINS",
    "check_row",
    "coverage_row",
    "function_at",
    "numpy_path",
    "row_text",
    "table_of",
]
