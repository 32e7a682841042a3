"""What a notebook gave to its magics: %%time, %timeit and their kin compile text of no file."""

from __future__ import annotations

import ast
import contextlib
import linecache
import re
import sys
import warnings
from collections.abc import Iterator
from dataclasses import dataclass

#: what IPython makes of `%name line` and `%%name line` with a cell below, with their arguments
MAGICS = {"run_cell_magic": 3, "run_line_magic": 2}


@dataclass(frozen=True, slots=True)
class Script:
    """The lines of a text; what ran before it in the same function, if it may have been in one."""

    lines: tuple[str, ...]
    before: tuple[str, ...] | None = None


def of_magics(length: int) -> Iterator[Script]:
    """The texts of so many lines or more that cells gave to magics, those of the last cell first.

    What a magic did with a text is not known here: whoever uses one has to prove that it is the
    text of the code that runs.
    """
    for entry in reversed(list(linecache.cache.values())):
        if len(entry) != 4 or entry[1] is not None:  # a cell has no time of change
            continue
        lines = entry[2]
        if any(name in line for line in lines for name in MAGICS):
            yield from (each for each in _given("".join(lines)) if len(each.lines) >= length)


def _given(text: str) -> Iterator[Script]:
    """What the magics in a text were given, and the magics in what they were given."""
    for line, cell in filter(None, map(_arguments, _nodes(text))):
        for statement in _without_options(line):
            setup = _lines(statement)
            yield Script(setup, ())
            if cell is not None:
                yield Script(_lines(cell), setup)
                yield Script(_lines(f"{statement}\n{cell}"))
        for inner in (line, cell):
            yield from _given("".join(_lines(inner or "")))


def _nodes(text: str) -> list[ast.AST]:
    """The nodes of a text; none where it is no Python."""
    try:
        with warnings.catch_warnings(action="ignore"):
            return list(ast.walk(ast.parse(text)))
    except (SyntaxError, ValueError):
        return []


def _arguments(node: ast.AST) -> tuple[str, str | None] | None:
    """The line and the cell that a call of a magic is given."""
    function = node.func if isinstance(node, ast.Call) else None
    count = MAGICS.get(function.attr) if isinstance(function, ast.Attribute) else None
    texts = [each.value for each in node.args if isinstance(each, ast.Constant)] if count else []
    if len(texts) != count or not all(isinstance(each, str) for each in texts):
        return None
    return texts[1], texts[2] if count == 3 else None


def _without_options(line: str) -> Iterator[str]:
    """The statement of a line `-n 2 -r 3 statement`: where it begins the proof will tell."""
    yield line.strip()
    if line.lstrip().startswith("-"):
        yield from (line[space.end() :] for space in re.finditer(r"\s+", line))


def _lines(text: str) -> tuple[str, ...]:
    """The lines of a text, made Python by IPython as the magics do it."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython is not None else None
    if shell is not None:
        with contextlib.suppress(SyntaxError):
            text = shell.transform_cell(text)
    return tuple(text.splitlines(keepends=True))
