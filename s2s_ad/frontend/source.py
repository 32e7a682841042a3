"""The syntax tree of a function: found in its file by position, and proved to be what runs."""

from __future__ import annotations

import ast
import dis
import functools
import inspect
import linecache
import types
from dataclasses import dataclass

import gast

from s2s_ad.diagnostics import Origin, SourceError


@dataclass(frozen=True, slots=True)
class Source:
    """A function's definition: its node in gast, and where it stands."""

    node: gast.FunctionDef | gast.Lambda
    file: str
    lines: tuple[str, ...]
    name: str

    def origin(self, node: gast.AST, root: int = 0) -> Origin:
        """The place of a node of this source."""
        line = getattr(node, "lineno", self.node.lineno)
        column = getattr(node, "col_offset", 0)
        text = self.lines[line - 1] if 0 < line <= len(self.lines) else ""
        end = getattr(node, "end_col_offset", None)
        if end is None or getattr(node, "end_lineno", line) != line:
            end = len(text.encode())
        columns = _characters(text, column), _characters(text, end)
        return Origin(self.file, line, *columns, text, self.name, root or line)


def _characters(text: str, offset: int) -> int:
    """Python counts columns in UTF-8 bytes; people count characters."""
    return len(text.encode()[:offset].decode(errors="ignore"))


@functools.lru_cache(maxsize=64)
def _module(text: tuple[str, ...], file: str) -> ast.Module:
    return ast.parse("".join(text), file)


@functools.lru_cache(maxsize=1024)
def source_of(function: types.FunctionType) -> Source:
    """The source of a function.

    Raises:
        SourceError: there is no source, or it is not the source of the code that runs.
    """
    code = function.__code__
    file = code.co_filename
    linecache.checkcache(file)
    lines = tuple(linecache.getlines(file, function.__globals__))
    if not lines:
        raise SourceError(
            "S2S101",
            f"the source of {function.__qualname__} cannot be read",
            why=f"no text is known for {file}: code typed into a bare interpreter or given to "
            "exec leaves none",
            help="put the function into a file or a notebook cell",
        )
    try:
        module = _module(lines, file)
    except SyntaxError as error:
        raise _stale(function, f"{file} no longer parses: {error}") from None
    node = _find(module, function)
    kind = ast.AsyncFunctionDef
    if isinstance(node, kind):
        raise SourceError("S2S103", f"{function.__qualname__} is an async function")
    converted = gast.ast_to_gast(node)
    source = Source(converted, file, lines, function.__name__)
    _prove(function, node, lines)
    return source


def _find(module: ast.Module, function: types.FunctionType) -> ast.AST:
    """The definition whose code starts where the function's does."""
    code = function.__code__
    wanted = (
        (ast.Lambda,) if code.co_name == "<lambda>" else (ast.FunctionDef, ast.AsyncFunctionDef)
    )
    found = [node for node in ast.walk(module) if isinstance(node, wanted)]
    if wanted == (ast.Lambda,):
        place = _first_position(code)
        found = [node for node in found if _body_holds(node, place)]
        found.sort(key=lambda node: (node.end_lineno - node.lineno, node.end_col_offset))
        found = [n for n in found if _arguments(n) == _code_arguments(code)] or found
        innermost = [n for n in found if not any(o is not n and _inside(o, n) for o in found)]
        found = innermost
    else:
        found = [
            node
            for node in found
            if node.name == code.co_name and _first_line(node) == code.co_firstlineno
        ]
    if not found:
        raise _stale(function, "its definition is not at the line where it was")
    return found[0]


def _inside(inner: ast.AST, outer: ast.AST) -> bool:
    start, end = (outer.lineno, outer.col_offset), (outer.end_lineno, outer.end_col_offset)
    return start <= (inner.lineno, inner.col_offset) and (
        (inner.end_lineno, inner.end_col_offset) <= end
    )


def _first_line(node: ast.FunctionDef) -> int:
    return min([node.lineno, *(each.lineno for each in node.decorator_list)])


def _first_position(code: types.CodeType) -> tuple[int, int]:
    """Where the first instruction with a width stands."""
    places = [
        (line, column)
        for line, end_line, column, end_column in code.co_positions()
        if line is not None and column is not None and (line, column) != (end_line, end_column)
    ]
    return min(places, default=(code.co_firstlineno, 0))


def _body_holds(node: ast.Lambda, place: tuple[int, int]) -> bool:
    body = node.body
    return (body.lineno, body.col_offset) <= place <= (body.end_lineno, body.end_col_offset)


def _arguments(node: ast.AST) -> list[str]:
    args = node.args
    named = [*args.posonlyargs, *args.args, *args.kwonlyargs]
    return [each.arg for each in [*named, *filter(None, (args.vararg, args.kwarg))]]


def _code_arguments(code: types.CodeType) -> list[str]:
    flags = (code.co_flags & inspect.CO_VARARGS) // inspect.CO_VARARGS
    flags += (code.co_flags & inspect.CO_VARKEYWORDS) // inspect.CO_VARKEYWORDS
    return list(code.co_varnames[: code.co_argcount + code.co_kwonlyargcount + flags])


def _prove(function: types.FunctionType, node: ast.AST, lines: tuple[str, ...]) -> None:
    """The names that the code reads must stand in the text where the code says they do."""
    if _arguments(node) != _code_arguments(function.__code__):
        raise _stale(function, "its parameters are others in the file")
    asserts = [(n.lineno, n.end_lineno) for n in ast.walk(node) if isinstance(n, ast.Assert)]
    for instruction in dis.get_instructions(function.__code__):
        place, name = instruction.positions, instruction.argval
        if instruction.opname not in ("LOAD_GLOBAL", "LOAD_DEREF", "LOAD_FAST", "LOAD_NAME"):
            continue
        if place is None or place.lineno is None or place.lineno != place.end_lineno:
            continue
        if any(first <= place.lineno <= last for first, last in asserts):
            continue  # test runners rewrite assert statements
        text = lines[place.lineno - 1].encode() if place.lineno <= len(lines) else b""
        there = text[place.col_offset : place.end_col_offset].decode(errors="ignore")
        if there.isidentifier() and there != name and not name.endswith(there):
            raise _stale(
                function, f"line {place.lineno} has {there!r} where the code reads {name!r}"
            )
        if not there:
            raise _stale(function, f"line {place.lineno} is shorter than the code")


def _stale(function: types.FunctionType, why: str) -> SourceError:
    return SourceError(
        "S2S102",
        f"the source of {function.__qualname__} is not the code that runs",
        why=f"the file was changed after it was imported: {why}",
        help="import it again (restart, or importlib.reload)",
    )
