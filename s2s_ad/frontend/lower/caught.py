"""The exception that a handler has caught: the name for it, and what it is as a value."""

from __future__ import annotations

from typing import Any

import gast

from s2s_ad.core.tree import Tree
from s2s_ad.frontend.lower.picked import OfOurs


class Caught:
    """What a handler calls the exception; effects in the handler show it as it stands.

    Attributes:
        shown: the expression for it there; None where there is none.
        kinds: the classes that it may be of.
    """

    def __init__(self, shown: gast.AST | None, kinds: tuple[type, ...]):
        self.shown, self.kinds = shown, kinds


class Error(OfOurs, tuple):
    """The kind of a Tree of one value, which is an exception."""

    in_python = "exception"

    __slots__ = ()


def is_error(value: Any) -> bool:
    """Whether it is an exception that was caught."""
    return isinstance(value, Tree) and value.kind is Error


def error(value: Any) -> Tree:
    """The exception that a value of Core is."""
    return Tree(Error, ("",), (value,))
