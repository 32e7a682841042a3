"""The pages of error codes, which the package holds, as pages of the site."""

from pathlib import Path
from typing import Any

from sphinx.application import Sphinx

from s2s_ad.cli import codes
from s2s_ad.diagnostics import CATALOGUE

ERRORS = """\
# Error codes

Every refusal begins with a code and ends with the name of its page, which is here and in the
terminal: `s2s-ad help S2S207`. The first figure says what stopped: 1 the source, 2 the language,
3 a derivative, 4 a batch, 5 an argument, 6 a Cell, 7 the workers, 9 the compiler itself.

"""


def setup(app: Sphinx) -> dict[str, Any]:
    """Called by Sphinx."""
    app.connect("builder-inited", write_all)
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def write_all(app: Sphinx) -> None:
    """The pages of error codes, which are part of the package, with a list of them."""
    docs = Path(app.srcdir)
    for code in CATALOGUE:
        write(docs / "errors" / f"{code}.md", codes.page(code))
    listed = "".join(f"{code}\n" for code in CATALOGUE)
    write(
        docs / "errors" / "index.md", ERRORS + "```{toctree}\n:maxdepth: 1\n\n" + listed + "```\n"
    )


def write(path: Path, text: str) -> None:
    """The file with this text; it keeps its date where it has it already."""
    path.parent.mkdir(exist_ok=True)
    if not path.exists() or path.read_text(encoding="utf-8") != text:
        path.write_text(text, encoding="utf-8")
