"""What generated code raises while it runs carries a note with the line of the user's code."""

from __future__ import annotations

import linecache
import weakref
from types import CodeType

from s2s_ad.core.program import Program
from s2s_ad.diagnostics import S2SError
from s2s_ad.load.located import LINE, origin_of_last

#: by the name of the file of generated code, for as long as there is the code
_programs: dict[str, Program] = {}


def remember(file: str, program: Program, code: CodeType) -> None:
    """Note which program a file of generated code was written for."""
    _programs[file] = program
    weakref.finalize(code, _programs.pop, file, None).atexit = False


def known_as(file: str, program: Program, source: str, code: CodeType) -> None:
    """Note under which name other processes have the text of the program.

    So a traceback that comes from there leads to the lines of the text, and to the user's.
    """
    linecache.cache[file] = (len(source), None, source.splitlines(keepends=True), file)
    remember(file, program, code)


def noted(error: BaseException) -> None:
    """Add the place in the user's code to an exception that came out of generated code."""
    where = _line(error)
    if where is None or isinstance(error, S2SError):
        return
    file, line = where
    lines = linecache.getlines(file)[:line]
    origin = origin_of_last(_programs[file], lines)
    if origin is not None:
        exact = LINE.search(lines[-1]) is not None
        text = f": {origin.text.strip()}" if exact else ", or below"
        note = f"{origin.place} in {origin.function}{text}"
        if note not in getattr(error, "__notes__", ()):
            error.add_note(note)


def _line(error: BaseException) -> tuple[str, int] | None:
    """The innermost line of generated code that the exception passed: file and number."""
    found, traceback = None, error.__traceback__
    while traceback is not None:
        file = traceback.tb_frame.f_code.co_filename
        if file in _programs:
            found = file, traceback.tb_lineno
        traceback = traceback.tb_next
    return found
