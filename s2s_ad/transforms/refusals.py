"""How derivatives that do not exist, or cannot be written for want of facts, are refused."""

from __future__ import annotations

from collections.abc import Container, Iterable

from s2s_ad.analysis import activity
from s2s_ad.core import form, tree, values
from s2s_ad.core.builder import describe
from s2s_ad.core.callee import drawn
from s2s_ad.core.program import Program
from s2s_ad.core.rule import Rule
from s2s_ad.diagnostics import DerivativeError, Origin


def refuse_complex(program: Program, statement: form.Op, rule: Rule, names: Iterable[str]) -> None:
    """Raise where a derivative passes through `names` whose complex values the rule cannot take.

    Text without known types is for real numbers; where complex numbers occur, it has to be known
    which values are complex.
    """
    facts = [fact for name in names for fact in tree.leaves(program.facts.get(name))]
    if any(map(values.is_complex, facts)) and not rule.of_complex:
        raise DerivativeError(
            "S2S302",
            f"the derivative of {describe(rule.function)} for complex numbers is not known",
            origin=statement.origin,
            help="differentiate the real and imaginary parts, or write it with other functions",
        )
    unknown = [each for each in facts if not (values.is_complex(each) or values.is_real(each))]
    if unknown and activity.has_complex(program):
        raise DerivativeError(
            "S2S302",
            "the derivative of a value that may be real or complex",
            origin=statement.origin,
            why="whether numbers are conjugated depends on it",
            help="make it complex with .astype(complex), or give example arguments",
        )


def refuse_parameters(statement: form.Op, active: Container[str]) -> None:
    """Raise where a derivative would have to pass through a parameter of an operation."""
    if any(name in active for name in activity.parameter_names(statement)):
        function = describe(statement.rule.function)
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


def refuse_twice(program: Program, name: str) -> None:
    """Refuse to compute again what would be another value the second time: a draw, a clock."""
    for statement in drawn(program):
        raise DerivativeError(
            "S2S302",
            f"{statement.rule.name} in {name}, whose values the second pass computes again",
            origin=statement.origin,
            why="a value that is drawn or read again is another one",
            help="draw it outside and pass it as an argument",
        )
