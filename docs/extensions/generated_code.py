"""What programs print is shown as what it is: a derivative as Python, a refusal as prose."""

import ast
import re
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx

PRINTED = "sphx-glr-script-out"
REFUSAL = re.compile(r"^S2S\d{3}: ", re.MULTILINE)


def setup(app: Sphinx) -> dict[str, Any]:
    """Called by Sphinx."""
    app.connect("doctree-read", colour)
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def colour(app: Sphinx, doctree: nodes.document) -> None:
    """Outputs that are modules have the language Python; places are those of the file alone."""
    pages = re.compile(re.escape(str(app.srcdir) + "/pages/") + r"\w+/")
    for block in doctree.findall(nodes.literal_block):
        if PRINTED not in (*block.parent.get("classes", ()), *block.get("classes", ())):
            continue
        text = pages.sub("", block.astext())
        block.children = [nodes.Text(text)]
        block.rawsource = text
        if _is_python(text):
            block["language"] = "python"
            block["classes"].append("generated-code")
        elif REFUSAL.search(text):
            block["classes"].append("refusal")


def _is_python(text: str) -> bool:
    try:
        return any(isinstance(each, ast.FunctionDef) for each in ast.parse(text).body)
    except (SyntaxError, ValueError):
        return False
