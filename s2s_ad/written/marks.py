"""What the compiler is told of the functions that are written in Python."""

from __future__ import annotations

from collections.abc import Callable


def unsupported(what: str, help: str = "") -> None:
    """Where the compiler comes to a call of this, the call of the library is refused."""
    raise NotImplementedError(f"{what} is not supported. {help}")


def kept(function: Callable) -> Callable:
    """A function that is a function of its own in the text, too."""
    function.__s2s_kept__ = True
    return function
