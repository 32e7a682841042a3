"""The coverage table's programs with each listed keyword given: what NumPy computes, and its slope.

A keyword is given with the first of its values that NumPy takes in the row's program. The value is
compared with NumPy's, and the gradient with central differences of NumPy's program. Of a ufunc with
where= what is expected is np.where of the plain call: what NumPy leaves elsewhere is undefined, and
SciPy's own ufuncs damage memory there.
"""

from __future__ import annotations

import ast
import inspect
import warnings
from typing import Any

import numpy as np

from rules import probes
from s2s_ad import grad, jit

#: expressions over the inputs of the probes, other than the default where there is another
VALUES: dict[str, tuple[str, ...]] = {
    "append": ("1.0",),
    "atol": ("1e-8",),
    "axes": ("(1, 0)", "(0, 1)", "[1, 0]", "(0,)"),
    "axis": ("0", "-1", "1", "None", "(0, 1)"),
    "axis1": ("1", "0"),
    "axis2": ("0", "1"),
    "base": ("3.0",),
    "axisa": ("-1",),
    "axisb": ("-1",),
    "axisc": ("0",),
    "bias": ("False", "True"),
    "compute_uv": ("False",),
    "density": ("True",),
    "edge_order": ("2",),
    "minlength": ("7",),
    "range": ("(0.0, 1.0)", "[[0.0, 1.0], [0.0, 1.0]]"),
    "retstep": ("True", "False"),
    "return_index": ("True", "False"),
    "sorter": ("np.arange(5)", "np.arange(4)"),
    "assume_a": ("'gen'",),
    "trans": ("1",),
    "b": ("2.0",),
    "fill_value": ("0.5",),
    "min": ("0.3",),
    "max": ("0.7",),
    "scale": ("'n'", "False"),
    "x": ("np.arange(4.0)", "np.arange(5.0)"),
    "casting": ("'unsafe'", "'same_kind'", "'safe'"),
    "check_finite": ("False",),
    "copy": ("True",),
    "correction": ("1",),
    "ddof": ("1",),
    "dtype": ("np.float64", "np.complex128", "np.int64", "bool"),
    "dx": ("0.5",),
    "endpoint": ("False",),
    "equal_nan": ("True",),
    "full_matrices": ("False",),
    "hermitian": ("True", "False"),
    "initial": ("2.0", "0.0"),
    "keepdims": ("True",),
    "kind": ("'stable'", "'introselect'", "'sort'", "'cubic'", "'lower'"),
    "lower": ("True", "False"),
    "method": (
        "'lower'",
        "'linear'",
        "'direct'",
        "'DOP853'",
        "'lm'",
        "'gust'",
        "'taylor'",
        "'average'",
        "'blockEnlarge'",
    ),
    "mode": (
        "'same'",
        "'wrap'",
        "'clip'",
        "'constant'",
        "'reduced'",
        "'valid'",
        "'economic'",
        "'magnitude'",
        "'right'",
    ),
    "n": ("4", "3", "2"),
    "nan": ("2.0",),
    "neginf": ("-1.0",),
    "norm": ("'ortho'", "'forward'"),
    "num": ("4",),
    "offset": ("1",),
    "optimize": ("True",),
    "ord": ("1", "2"),
    "order": ("'F'", "'K'", "'C'", "1"),
    "overwrite_a": ("False",),
    "period": ("4.0",),
    "prepend": ("1.0",),
    "posinf": ("3.0",),
    "k": ("1",),
    "rcond": ("1e-10", "None"),
    "right": ("True", "0.5"),
    "left": ("0.5",),
    "rowvar": ("False",),
    "rtol": ("1e-9",),
    "s": ("(3, 4)",),
    "side": ("'right'",),
    "size": ("3", "(3, 4)"),
    "subok": ("False",),
    "UPLO": ("'U'",),
    "weights": ("np.abs(y)", "np.abs(w)", "b", "u", "None"),
    "where": (
        "M",
        "M[0]",
        "np.array([True, False, True, True, False])",
        "M[:, 0]",
        "M[:, :3]",
        "M, initial=0.3",
    ),
}


def expected_and_called(row: probes.Row, keyword: str, value: str) -> tuple | None:
    """What NumPy is asked, and the program with the keyword; None where the call is not found."""
    called = ast.parse("\n".join(map(ast.unparse, row.statements)))
    call = _call_of(row, called)
    if call is None:
        return None
    if keyword in _given(call):
        return called.body, called.body
    plain = ast.parse(ast.unparse(called))
    call.keywords += ast.parse(f"_({keyword}={value})", mode="eval").body.keywords
    if keyword != "where" or not is_ufunc(row):
        return ast.parse(ast.unparse(called)).body, called.body
    for tree in (plain, called):
        _Masked(_call_of(row, tree), value).visit(tree)
    return ast.parse(ast.unparse(plain)).body, ast.parse(ast.unparse(called)).body


def is_ufunc(row: probes.Row) -> bool:
    """Whether it is a ufunc of single elements."""
    space = vars(probes.load(""))
    module = {"numpy": "np", "scipy.special": "sp.special"}.get(row.module)
    function = module and eval(f"getattr({module}, {row.name!r}, None)", space)
    return isinstance(function, np.ufunc) and function.signature is None


def _call_of(row: probes.Row, tree: ast.AST) -> ast.Call | None:
    """The first call of the row's function."""
    name = row.name.rpartition(".")[2]
    calls = (each for each in ast.walk(tree) if isinstance(each, ast.Call))
    names = ((getattr(e.func, "attr", getattr(e.func, "id", "")), e) for e in calls)
    return next((each for found, each in names if found == name), None)


def _given(call: ast.Call) -> set[str]:
    """The names of the arguments that a program gives already, by keyword or by position."""
    names = {each.arg for each in call.keywords}
    try:
        function = eval(ast.unparse(call.func), vars(probes.load("")) | probes.INPUTS)
        parameters = list(inspect.signature(function).parameters)
    except (NameError, TypeError, ValueError):  # a method of a local, or no signature
        return names
    return names | set(parameters[: len(call.args)])


class _Masked(ast.NodeTransformer):
    """Puts a call into np.where."""

    def __init__(self, call: ast.Call | None, mask: str):
        self.call, self.mask = call, mask

    def visit_Call(self, node: ast.Call) -> ast.AST:
        if node is not self.call:
            return self.generic_visit(node)
        return ast.parse(f"np.where({self.mask}, {ast.unparse(node)}, 0.0)", mode="eval").body


def found(row: probes.Row, keyword: str) -> tuple | None:
    """The program that NumPy runs with the keyword, and the one to compile; None: there is none."""
    for value in VALUES.get(keyword, ("...",)):  # which NumPy takes where the program gives it
        programs = expected_and_called(row, keyword, value)
        if programs is None:
            return None
        expected, called = programs
        names = row.names + [n for n in "ywbu" if n not in row.names and n in _names(called)]
        arguments = {name: probes._copied(probes.INPUTS[name]) for name in names}
        try:
            return probes.Program(expected, arguments), called
        except Exception:  # whatever NumPy says of a value that it does not take
            continue
    return None


def _names(statements: list[ast.stmt]) -> set[str]:
    nodes = [node for each in statements for node in ast.walk(each)]
    return {node.id for node in nodes if isinstance(node, ast.Name)}


def check(row: probes.Row, keyword: str) -> bool:
    """Compare value and gradient; False where there is nothing to compare.

    Raises:
        AssertionError: the numbers are wrong.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        programs = found(row, keyword)
        if programs is None:
            return False
        expected, called = programs
        actual = _compiled(expected, called)
        np.testing.assert_allclose(
            np.asarray(jit(actual.f)(*_arguments(expected))),
            np.asarray(expected.module.f(*_arguments(expected))),
            rtol=1e-9,
            atol=1e-12,
        )
        if np.issubdtype(expected.result.dtype, np.inexact) and expected.arguments:
            slopes = expected.central(expected.module.loss)
            if np.any(slopes) and np.all(np.isfinite(slopes)):
                count = len(expected.arguments)
                places = tuple(range(count)) if count > 1 else 0
                bars = grad(actual.loss, places)(*_arguments(expected))
                bars = bars if isinstance(bars, tuple) else (bars,)
                probes.close(expected.along(bars), slopes, 1e-5)
    return True


def _arguments(program: Any) -> list:
    return [probes._copied(each) for each in program.arguments]


def _compiled(expected: probes.Program, called: list[ast.stmt]) -> Any:
    """The program with the keyword as `f`, and as the same weighted sum as the one expected."""
    *before, last = (ast.unparse(each) for each in called)
    weighted = f"np.real(({last}) * W)" if np.iscomplexobj(expected.result) else f"({last}) * W"
    names = _parameters(expected)
    text = probes.function("f", names, [*before, f"return {last}"])
    text += probes.function("loss", names, [*before, f"return np.sum({weighted})"])
    module = probes.load(text)
    module.W = expected.module.W
    return module


def _parameters(expected: probes.Program) -> list[str]:
    code = expected.module.f.__code__
    return list(code.co_varnames[: code.co_argcount])


def pairs() -> list[tuple[probes.Row, str]]:
    """Each row with each keyword that the table lists for it; out= is a column of its own."""
    rows = [each for each in probes.rows() if not each.random]
    return [(row, keyword) for row in rows for keyword in row.keywords if keyword != "out"]
