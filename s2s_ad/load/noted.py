"""What generated code raises while it runs carries a note with the line of the user's code."""

from __future__ import annotations

import linecache
import weakref
from collections.abc import Sequence
from types import CodeType

from s2s_ad.diagnostics import Origin, S2SError
from s2s_ad.emit.provenance import Row

#: by the name of the file of generated code, for as long as there is the code
_rows: dict[str, Sequence[Row]] = {}


def remember(file: str, rows: Sequence[Row], code: CodeType) -> None:
    """Note where each line of a file of generated code comes from."""
    _rows[file] = rows
    weakref.finalize(code, _forget, file, rows).atexit = False


def _forget(file: str, rows: Sequence[Row]) -> None:
    if _rows.get(file) is rows:  # not those of the same text, made again
        del _rows[file]


def known_as(file: str, rows: Sequence[Row], source: str, code: CodeType) -> None:
    """Note under which name other processes have a text with these rows.

    So a traceback that comes from there leads to the lines of the text, and to the user's.
    """
    linecache.cache[file] = (len(source), None, source.splitlines(keepends=True), file)
    remember(file, rows, code)


def noted(error: BaseException) -> None:
    """Add the place in the user's code to an exception that came out of generated code."""
    row = _row(error)
    if row is None or isinstance(error, S2SError) or not row.origins:
        return
    note = _told(row.origins)
    if note not in getattr(error, "__notes__", ()):
        error.add_note(note)


def _told(origins: Sequence[Origin]) -> str:
    """The line of a statement, and others of which parts were folded into it."""
    first = origins[0]
    others = {(each.file, each.line): each.place for each in origins}
    del others[first.file, first.line]
    told = f"{first.place} in {first.function}: {first.text.strip()}"
    return f"{told} (or {', '.join(others.values())})" if others else told


def _row(error: BaseException) -> Row | None:
    """Where the innermost line of generated code comes from that the exception passed."""
    found, traceback = None, error.__traceback__
    while traceback is not None:
        rows = _rows.get(traceback.tb_frame.f_code.co_filename)
        if rows is not None:
            found = rows[traceback.tb_lineno - 1]
        traceback = traceback.tb_next
    return found
