"""Texts that differ from path to path: `mode = "heat"` on one and `mode = "idle"` on another.

Such a value is a text when the code runs, too. What is known of it is which texts it may be, so
that a comparison is an operation, and everything else is done for each of them.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from s2s_ad.core import values
from s2s_ad.core.tree import Tree
from s2s_ad.diagnostics import UnsupportedError


class Word(tuple):
    """The kind of a Tree of one value, which is one of several texts."""

    __slots__ = ()


def is_word(value: Any) -> bool:
    """Whether it is a text that is not known now."""
    return isinstance(value, Tree) and value.kind is Word


def is_text(value: Any) -> bool:
    """Whether it is a text, known or not."""
    return type(value) is str or is_word(value)


def word(text: Any) -> Tree:
    """The text that a value of Core, or a Leaf for one, is."""
    return Tree(Word, ("",), (text,))


def text_of(value: Any) -> Any:
    """What a text is in Core: itself, or the value that holds it."""
    return value.items[0] if is_word(value) else value


def options_of(value: Any) -> list[str]:
    """The texts that it may be, in order."""
    if not is_word(value):
        return [value]
    (held,) = value.items
    return sorted(values.options_of(held.fact))


def words_in(operands: Iterable[Any]) -> bool:
    return any(map(is_word, operands))


def texts_differ(what: str) -> UnsupportedError:
    return UnsupportedError(
        "S2S205",
        f"a text that differs from path to path, as {what}",
        help="compare it: if mode == 'heat'",
    )


def as_result(value: Any) -> Any:
    """A value as the function hands it out: a text is a text."""
    return value.items[0] if is_word(value) else value
