"""The user's files: which are shown on the left, and which of their lines."""

from __future__ import annotations

import ast
import linecache
from collections.abc import Iterable, Sequence
from pathlib import Path

from s2s_ad.diagnostics import Origin
from s2s_ad.show.model import Place, Source

WHOLE = 160  # lines of a file that is shown whole
PACKAGE = str(Path(__file__).parents[1])


def is_users(file: str) -> bool:
    """Whether a file is not one of ours, whose lines stand for the line that calls them."""
    return not file.startswith(PACKAGE)


def places_of(origins: Iterable[Origin], main: str) -> tuple[Place, ...]:
    """The lines to show for what comes from there: its own, and that of `main` that led there."""
    found: dict[Place, None] = {}
    for each in origins:
        if is_users(each.file):
            found[each.file, each.line] = None
    for each in origins:
        if each.root:
            found[main, each.root] = None
    return tuple(found)


def columns_of(origins: Sequence[Origin]) -> tuple[int, int] | None:
    """The expression that the first of them is, where that is less than its line."""
    first = origins[0] if origins else None
    if first is None or not is_users(first.file):
        return None
    end = min(first.end_column, len(first.text))
    part = first.text[first.column : end].strip()
    return (first.column, end) if part and part != first.text.strip() else None


def sources_of(main: str, places: Iterable[Place]) -> tuple[Source, ...]:
    """The file of the function first, then those of what it calls, as far as they matter."""
    lines: dict[str, set[int]] = {main: set()} if main else {}
    for file, line in places:
        lines.setdefault(file, set()).add(line)
    return tuple(filter(None, (_source(file, numbers) for file, numbers in lines.items())))


def _source(file: str, numbers: set[int]) -> Source | None:
    text = tuple(line.rstrip("\r\n") for line in linecache.getlines(file))
    if not text:
        return None
    known = {each for each in numbers if each <= len(text)}
    parts = ((1, len(text)),) if len(text) <= WHOLE or not known else _parts(text, known)
    some = Origin(file, 1, 0, 0, "", "")
    return Source(file, some.place.removesuffix(":1").removesuffix(", line 1"), text, parts)


def _parts(text: Sequence[str], numbers: set[int]) -> tuple[tuple[int, int], ...]:
    """The definitions that hold these lines, or else the lines themselves."""
    ranges = {_around(first, last, numbers) for first, last in _definitions(text)} - {None}
    covered = {n for first, last in ranges for n in range(first, last + 1)}
    ranges |= {(each, each) for each in numbers - covered}
    found: list[tuple[int, int]] = []
    for first, last in sorted(ranges):
        if found and first <= found[-1][1] + 2:
            found[-1] = found[-1][0], max(last, found[-1][1])
        else:
            found.append((first, last))
    return tuple(found)


def _around(first: int, last: int, numbers: set[int]) -> tuple[int, int] | None:
    return (first, last) if any(first <= each <= last for each in numbers) else None


def _definitions(text: Sequence[str]) -> list[tuple[int, int]]:
    """The first and last line of each function, those inside of classes each alone."""
    try:
        tree = ast.parse("\n".join(text))
    except SyntaxError:
        return []
    found = []
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            first = min([node.lineno, *(each.lineno for each in node.decorator_list)])
            found.append((first, node.end_lineno or first))
    return found


__all__ = ["columns_of", "is_users", "places_of", "sources_of"]
