"""Classes of the user's that have no code of their own, as definitions in a text."""

from __future__ import annotations

import ast
import builtins
import dataclasses
import dis
import inspect
import logging
import math
import textwrap
import types
import typing
from collections.abc import Iterable
from typing import Any

import numpy as np

from s2s_ad.core.homes import is_of_library

ANNOTATED = {np.ndarray: "np.ndarray", "np.ndarray": "np.ndarray"}
ANNOTATED |= {
    key: kind.__name__ for kind in (bool, int, float, str) for key in (kind, kind.__name__)
}


@dataclasses.dataclass
class Plain:
    """A dataclass without code of its own, under the Python that runs."""

    field: Any


@dataclasses.dataclass(frozen=True)
class Frozen:
    """A frozen dataclass without code of its own."""

    field: Any


class Named(typing.NamedTuple):
    """A namedtuple without code of its own."""

    field: Any


class Failure(Exception):
    """An exception without code of its own."""


def definition(name: str, kind: Any) -> str:
    """The statement that defines a class of the user's, or a logger, anew; "" where there is none:
    a class that is more than its fields.

    Example:
        >>> import collections
        >>> Point = collections.namedtuple("Point", "x y")
        >>> Point.__module__ = "points"
        >>> print(definition("Point", Point), end="")
        Point = collections.namedtuple("Point", ["x", "y"])
    """
    if isinstance(kind, logging.Logger):
        return _logger(name, kind)
    if not isinstance(kind, type) or is_of_library(kind):
        return ""
    if dataclasses.is_dataclass(kind):
        return _dataclass(name, kind)
    if issubclass(kind, tuple) and kind.__bases__ == (tuple,) and hasattr(kind, "_fields"):
        return _namedtuple(name, kind)
    return ""


def _logger(name: str, kind: logging.Logger) -> str:
    if kind is logging.getLogger():
        return f"{name} = logging.getLogger()\n"
    known = logging.Logger.manager.loggerDict.get(kind.name) is kind
    return f'{name} = logging.getLogger("{kind.name}")\n' if known else ""


def body_of(kind: type) -> str:
    """The statements of a class whose methods read nothing but builtins; "" for any other."""
    functions = [each for each in vars(kind).values() if isinstance(each, types.FunctionType)]
    if not all(map(_reads_builtins_only, functions)):
        return ""
    try:
        (node,) = ast.parse(textwrap.dedent(inspect.getsource(kind))).body
    except (OSError, TypeError, ValueError, SyntaxError):
        return ""
    if not isinstance(node, ast.ClassDef) or node.decorator_list or node.keywords:
        return ""
    if not all(map(_is_method_or_constant, node.body)):
        return ""
    return textwrap.indent("\n".join(map(ast.unparse, node.body)), "    ") + "\n"


def _reads_builtins_only(function: types.FunctionType) -> bool:
    codes = [function.__code__]
    for each in codes:
        codes += [inner for inner in each.co_consts if isinstance(inner, types.CodeType)]
    steps = [step for each in codes for step in dis.get_instructions(each)]
    loaded = {step.argval for step in steps if _is_global(step)}
    if loaded - vars(builtins).keys() or loaded & function.__globals__.keys():
        return False
    return {*function.__code__.co_freevars} <= {"__class__"}


def _is_global(step: dis.Instruction) -> bool:
    return step.opname in ("LOAD_GLOBAL", "STORE_GLOBAL", "LOAD_NAME")


def _is_method_or_constant(node: ast.stmt) -> bool:
    if isinstance(node, ast.FunctionDef):
        written = [*node.args.defaults, *filter(None, node.args.kw_defaults)]
        annotations = [each.annotation for each in ast.walk(node.args) if isinstance(each, ast.arg)]
        read = any(annotations) or node.returns is not None
        return not (node.decorator_list or read) and all(map(_is_written_out, written))
    value = getattr(node, "value", None)
    return isinstance(node, ast.Assign | ast.Expr | ast.Pass) and (
        value is None or isinstance(value, ast.Constant)
    )


def _is_written_out(default: ast.expr) -> bool:
    """Whether a default reads no names."""
    return not any(isinstance(each, ast.Name) for each in ast.walk(default))


def _namedtuple(name: str, kind: type) -> str:
    if own_code(kind, kind._fields, Named) or kind._field_defaults:
        return ""
    fields = ", ".join(f'"{each}"' for each in kind._fields)
    return f'{name} = collections.namedtuple("{name}", [{fields}])\n'


def _dataclass(name: str, kind: type) -> str:
    fields, params = dataclasses.fields(kind), kind.__dataclass_params__
    usual = params.init and params.repr and params.eq and not (params.order or params.unsafe_hash)
    plain = kind.__bases__ == (object,) and usual and all(map(_is_plain, fields))
    names = [each.name for each in fields]
    if not plain or own_code(kind, names, Frozen if params.frozen else Plain):
        return ""
    decorator = "dataclasses.dataclass" + ("(frozen=True)" if params.frozen else "")
    lines = [f"    {each.name}: {_annotation(each)}{_default(each)}\n" for each in fields]
    return f"@{decorator}\nclass {name}:\n{''.join(lines)}"


def own_code(kind: type, fields: Iterable[str], like: type) -> set[str]:
    """What a class has besides its fields and what every class like `like` has."""
    made = vars(like)
    own = {key: value for key, value in vars(kind).items() if key not in fields}
    return {k for k in own if k not in made or _file_of(own[k]) != _file_of(made[k])}


def _file_of(value: Any) -> str | None:
    """Where the code of a method is from."""
    function = inspect.unwrap(value) if callable(value) else getattr(value, "__func__", None)
    code = getattr(function, "__code__", None)
    return None if code is None else code.co_filename


def _is_plain(field: dataclasses.Field) -> bool:
    default = field.default
    written = default is None or type(default) in (bool, int, str) or _is_finite(default)
    has_value = default is dataclasses.MISSING or written
    usual = field.init and field.repr and field.compare and field.hash is None
    return (
        usual and not field.kw_only and has_value and (field.default_factory is dataclasses.MISSING)
    )


def _is_finite(value: Any) -> bool:
    return type(value) is float and math.isfinite(value)


def _annotation(field: dataclasses.Field) -> str:
    known = isinstance(field.type, type | str) and field.type in ANNOTATED
    return ANNOTATED[field.type] if known else "object"


def _default(field: dataclasses.Field) -> str:
    return "" if field.default is dataclasses.MISSING else f" = {field.default!r}"


__all__ = ["Failure", "body_of", "definition", "own_code"]
