"""Texts that differ from path to path: `mode = "heat"` on one and `mode = "idle"` on another.

Such a value is a text when the code runs, too. What is known of it is which texts it may be, so
that a comparison is an operation, and everything else is done for each of them.
"""

from __future__ import annotations

from typing import Any

from s2s_ad.core import values
from s2s_ad.core.builder import NeedStatic, Symbol
from s2s_ad.core.tree import Tree
from s2s_ad.diagnostics import UnsupportedError
from s2s_ad.frontend.lower.caught import is_error


class Word(tuple):
    """The kind of a Tree of one value, which is one of several texts."""

    in_python = "str"

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


#: the handler of a call with a text that is made when the code runs; None where there is none
OPEN_TEXT = "a text that is made when the code runs"


def is_open_text(value: Any) -> bool:
    """Whether it may be any text."""
    return is_word(value) and getattr(value.items[0], "fact", None) == values.ANY_TEXT


def options_of(value: Any) -> list[str]:
    """The texts that it may be, in order; of any text it is asked for what it is made of."""
    if not is_word(value):
        return [value]
    (held,) = value.items
    if is_open_text(value):
        raise text_needed(held)
    return sorted(values.options_of(held.fact))


def text_needed(held: Symbol) -> NeedStatic:
    """What to raise where a text has to be known that is made when the code runs."""
    error = UnsupportedError(
        "S2S205",
        "a text that depends on values, where it has to be known",
        why="it is made when the code runs",
        help="print it, return it beside the result, or compare it",
    )
    return NeedStatic(held.name, "the text", error)


def texts_differ(what: str) -> UnsupportedError:
    return UnsupportedError(
        "S2S205",
        f"a text that differs from path to path, as {what}",
        help="compare it: if mode == 'heat'",
    )


def as_result(value: Any) -> Any:
    """A value as the function hands it out: a text is a text, an exception an exception."""
    return value.items[0] if is_word(value) or is_error(value) else value
