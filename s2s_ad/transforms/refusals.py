"""How derivatives that do not exist, or cannot be written for want of facts, are refused."""

from __future__ import annotations

from collections.abc import Iterable

import gast

from s2s_ad.core import values
from s2s_ad.core.program import Program
from s2s_ad.diagnostics import DerivativeError, Origin


def refuse_complex(program: Program, statement: gast.Assign, names: Iterable[str]) -> None:
    """Raise where one of the names that a derivative passes through is complex."""
    for name in names:
        dtype = values.strong_dtype(program.facts.get(name))
        if dtype is not None and dtype.kind == "c":
            raise DerivativeError(
                "S2S302",
                "a derivative of complex numbers",
                origin=statement.origin,
                help="differentiate the real and imaginary parts",
            )


def unknown_rank(name: str, origin: Origin | None) -> DerivativeError:
    return DerivativeError(
        "S2S302",
        f"the derivative of {name} needs the rank of its argument",
        origin=origin,
        help="give example arguments, or --like on the command line",
    )
