"""The page of the explorer that the first page of the site shows a picture of, and the picture."""

import tempfile
from pathlib import Path
from typing import Any

from make_picture import drawn, explorer, outdated
from sphinx.application import Sphinx
from sphinx.util import logging

from s2s_ad.show.html import document

FILE = "heat.html"


def setup(app: Sphinx) -> dict[str, Any]:
    """Called by Sphinx."""
    app.connect("builder-inited", write)
    app.connect("builder-inited", draw)
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def write(app: Sphinx) -> None:
    """The page as a file of its own beside the others."""
    with tempfile.TemporaryDirectory() as folder:
        text = document(explorer(Path(folder)))
    Path(app.outdir, FILE).write_text(text, encoding="utf-8")


def draw(app: Sphinx) -> None:
    """Pictures of code that is not written any more, again."""
    try:
        drawn(outdated())
    except FileNotFoundError as error:
        logging.getLogger(__name__).warning("the pictures of the explorer are outdated: %s", error)
