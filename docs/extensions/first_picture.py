"""A page of the gallery begins with the picture that it ends with."""

from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx_gallery.directives import imgsgnode


def setup(app: Sphinx) -> dict[str, Any]:
    """Called by Sphinx."""
    app.connect("doctree-read", put_first)
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def put_first(app: Sphinx, doctree: nodes.document) -> None:
    """Show the last picture under the first paragraph, too."""
    if not app.env.docname.startswith("gallery/") or app.env.docname == "gallery/index":
        return
    *_, last = doctree.findall(imgsgnode)
    title = next(doctree.findall(nodes.title))
    first = next(each for each in title.parent if isinstance(each, nodes.paragraph))
    title.parent.insert(title.parent.index(first) + 1, last.deepcopy())
