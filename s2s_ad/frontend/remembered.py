"""What is asked of a syntax node again and again is kept with the node, and goes when it goes."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import TypeVar

import gast

Node = TypeVar("Node", bound=gast.AST)
Result = TypeVar("Result")


def remembered(function: Callable[[Node], Result]) -> Callable[[Node], Result]:
    """A function of a node that is computed once; the node must not change afterwards."""
    attribute = f"_remembered_{function.__name__}"

    @functools.wraps(function)
    def ask(node: Node) -> Result:
        kept = node.__dict__
        if attribute not in kept:
            kept.setdefault(attribute, function(node))  # another thread may have been faster
        return kept[attribute]

    return ask
