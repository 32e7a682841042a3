"""How derivatives that do not exist, or cannot be written for want of facts, are refused."""

from __future__ import annotations

from collections.abc import Container, Iterable

import gast

from s2s_ad.analysis import activity
from s2s_ad.core import form, values
from s2s_ad.core.builder import describe
from s2s_ad.core.callee import Callee, compound_of, has_effect, reached
from s2s_ad.core.program import Program
from s2s_ad.core.registry import rule_for
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


def refuse_parameters(statement: gast.Assign, active: Container[str]) -> None:
    """Raise where a derivative would have to pass through a parameter of an operation."""
    if any(name in active for name in activity.parameter_names(statement)):
        function = describe(rule_for(form.function_of(statement)).function)
        raise DerivativeError(
            "S2S302",
            f"a derivative with respect to an option of {function}",
            origin=statement.origin,
            why="the option is computed from an input that is differentiated",
            help="write what it does as arithmetic, or pass stop_gradient(...) of it",
        )


def unknown_rank(name: str, origin: Origin | None) -> DerivativeError:
    return DerivativeError(
        "S2S302",
        f"the derivative of {name} needs the rank of its argument",
        origin=origin,
        help="give example arguments, or --like on the command line",
    )


def refuse_twice(program: Program, call: Callee) -> None:
    """Refuse to compute again what would be another value the second time: a draw, a clock."""
    for each in (program, *(block for inner in reached([program]) for block in inner.blocks)):
        for statement in each.body:
            if form.is_effect(statement) or compound_of(statement) is not None:
                continue
            if has_effect(statement):
                raise DerivativeError(
                    "S2S302",
                    f"{rule_for(form.function_of(statement)).name} in {call.program.name}, "
                    "whose values the backward pass computes again",
                    origin=statement.origin,
                    why="a value that is drawn or read again is another one",
                    help="draw it outside and pass it as an argument",
                )
