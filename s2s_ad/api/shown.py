"""The page that `show` gives: in a notebook it is displayed, elsewhere a browser opens it."""

from __future__ import annotations

import sys
import tempfile
import webbrowser
from pathlib import Path

from s2s_ad.show.html import document, fragment
from s2s_ad.show.model import Page


class Shown:
    """A page of the explorer: the user's file beside the generated code.

    Methods:
        save(path): write it into a file, which needs nothing else.
        open(): show it in the browser.

    Attributes:
        html: the page as one file.
    """

    def __init__(self, page: Page):
        self.page = page

    @property
    def html(self) -> str:
        return document(self.page)

    def save(self, path: str | Path) -> Path:
        """Write the page into a file; returns its path."""
        path = Path(path)
        path.write_text(self.html, encoding="utf-8", newline="\n")
        return path

    def open(self) -> Path:
        """Write the page into a file of its own, and open it in the browser."""
        name = "".join(c if c.isalnum() else "_" for c in self.page.title)[:40]
        path = self.save(Path(tempfile.mkdtemp(prefix="s2s_ad_")) / f"{name}.html")
        webbrowser.open(path.as_uri())
        return path

    def _repr_html_(self) -> str:
        return fragment(self.page)

    def __repr__(self) -> str:
        return f"<page of {self.page.title}>"


def shown(page: Page) -> Shown:
    """The page, opened in the browser unless a notebook is about to display it."""
    made = Shown(page)
    if not _displays():
        made.open()
    return made


def _displays() -> bool:
    """Whether what a cell gives is shown as HTML: in a notebook, not in a terminal."""
    ipython = sys.modules.get("IPython")
    shell = None if ipython is None else ipython.get_ipython()
    return getattr(shell, "kernel", None) is not None


__all__ = ["Shown", "shown"]
