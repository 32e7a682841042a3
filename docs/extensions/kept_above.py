"""CONTRIBUTING.md stands above docs, where people look for it; in the site it is a page."""

from typing import Any

from check_links import ABOVE
from sphinx.application import Sphinx


def setup(app: Sphinx) -> dict[str, Any]:
    """Called by Sphinx."""
    app.connect("source-read", to_the_page)
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def to_the_page(app: Sphinx, name: str, text: list[str]) -> None:
    """Links to the file lead to its page."""
    for file, page in ABOVE.items():
        text[0] = text[0].replace(f"]({file}", f"]({page}")
