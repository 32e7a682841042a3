"""What programs print is shown as Python where it is Python: the text of derivatives."""

import ast
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx

PRINTED = "sphx-glr-script-out"


def setup(app: Sphinx) -> dict[str, Any]:
    """Called by Sphinx."""
    app.connect("doctree-read", colour)
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def colour(app: Sphinx, doctree: nodes.document) -> None:
    """Give each output that is a module the language Python."""
    for block in doctree.findall(nodes.literal_block):
        if PRINTED in block.parent.get("classes", ()) + block.get("classes", []) and _is_python(
            block.astext()
        ):
            block["language"] = "python"
            block["classes"].append("generated-code")


def _is_python(text: str) -> bool:
    try:
        return any(isinstance(each, ast.FunctionDef) for each in ast.parse(text).body)
    except (SyntaxError, ValueError):
        return False
