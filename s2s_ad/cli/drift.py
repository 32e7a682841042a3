"""Whether a file is what would be generated now, and how it differs."""

from __future__ import annotations

import difflib
from pathlib import Path

END = "\n\\ No newline at end of file\n"


def difference(file: Path, expected: str) -> str:
    """A unified diff from a file to a text; empty where they are the same.

    The lines of the file may end as they do on any one platform, all of them: version control may
    have changed them.

    Raises:
        FileNotFoundError: there is no such file.
    """
    found = file.read_bytes().decode("utf-8", errors="backslashreplace")
    windows, ends = found.count("\r\n"), found.count("\n")
    if windows == ends:
        found = found.replace("\r\n", "\n")
    elif windows:
        found = found.replace("\r", "\\r")  # some of the ends: they are shown
    if found == expected:
        return ""
    lines = (text.splitlines(keepends=True) for text in (found, expected))
    diff = difflib.unified_diff(*lines, str(file), "what would be generated")
    return "".join(line if line.endswith("\n") else line + END for line in diff)
