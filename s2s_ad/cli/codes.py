"""The page of each error code: what it means, what is refused, and what to do instead."""

from __future__ import annotations

from importlib.resources import files

from s2s_ad.diagnostics import CATALOGUE

FOLDER = files("s2s_ad.cli") / "pages"


class UnknownCode(Exception):
    """There is no such code."""


def page(code: str) -> str:
    """The text of a code's page, in Markdown."""
    if code.upper() not in CATALOGUE:
        raise UnknownCode(f"{code} is no code of an error; s2s-ad help lists them")
    return (FOLDER / f"{code.upper()}.md").read_text(encoding="utf-8")


def overview() -> str:
    """All codes with what they stand for."""
    return "".join(f"{code}  {what}\n" for code, what in CATALOGUE.items())
