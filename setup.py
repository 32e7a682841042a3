"""A shim for tools that expect it, and the page of a package index: the rest is in setup.cfg."""

import re
from configparser import ConfigParser
from pathlib import Path

from setuptools import setup

ROOT = Path(__file__).resolve().parent
RELATIVE = r"(?!https?:|#)"


def index_page(readme: str, address: str) -> str:
    """The README where its neighbours are not beside it.

    Links and pictures lead to `address`, the files of the repository; where that is not known the
    words of a link stay, and pictures go.
    """
    if address:
        base = address.rstrip("/") + "/"
        readme = re.sub(rf"\]\({RELATIVE}", f"]({base}", readme)
        return re.sub(rf'(src|srcset)="{RELATIVE}', rf'\1="{base}', readme)
    readme = re.sub(r"<picture>.*?</picture>\n*", "", readme, flags=re.DOTALL)
    return re.sub(rf"\[([^\]]*)\]\({RELATIVE}[^)]*\)", r"\1", readme)


def long_description() -> dict[str, str]:
    """Of a checkout; nothing where there is no README."""
    readme = ROOT / "README.md"
    if not readme.exists():
        return {}
    config = ConfigParser(interpolation=None)
    config.read(ROOT / "setup.cfg", encoding="utf-8")
    address = config.get("metadata", "url", fallback="")
    text = index_page(readme.read_text(encoding="utf-8"), address)
    return {"long_description": text, "long_description_content_type": "text/markdown"}


if __name__ == "__main__":
    setup(**long_description())
