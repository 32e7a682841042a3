"""Docstrings are read in terminals too: what is a sign of reST in them is mathematics here."""

import functools
import re
from typing import Any

from sphinx.application import Sphinx


def setup(app: Sphinx) -> dict[str, Any]:
    """Called by Sphinx."""
    app.connect("autodoc-process-docstring", plain)
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def plain(app: Sphinx, what: str, name: str, value: Any, options: Any, lines: list[str]) -> None:
    """Bars, as in |x|, are no substitutions, a letter may follow code; Python documents its own."""
    if value is functools.partial:
        lines[:] = ["Python's `functools.partial`."]
    for number, line in enumerate(lines):
        line = re.sub(r"(?<!`)\|", r"\\|", line)
        lines[number] = re.sub(r"(?<!`)`([^`]+)`(?=\w)", r"`\1`\\ ", line)
