"""Texts of the site that the project itself writes while the site is built."""

import importlib.util
from pathlib import Path
from typing import Any

import numpy as np
from sphinx.application import Sphinx

from s2s_ad import grad


def setup(app: Sphinx) -> dict[str, Any]:
    """Called by Sphinx."""
    app.connect("builder-inited", write_all)
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def write_all(app: Sphinx) -> None:
    """What pages include with `literalinclude`, under docs/made."""
    docs = Path(app.srcdir)
    energy = module_of(docs / "pages" / "start" / "heat.py").energy
    gradient = grad(energy, (0, 1)).source(np.ones(9), 0.1, 5)
    write(docs / "made" / "heat_gradient.py", gradient)


def module_of(path: Path) -> Any:
    """The module in this file."""
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def write(path: Path, text: str) -> None:
    """The file with this text; it keeps its date where it has it already."""
    path.parent.mkdir(exist_ok=True)
    if not path.exists() or path.read_text(encoding="utf-8") != text:
        path.write_text(text, encoding="utf-8")
