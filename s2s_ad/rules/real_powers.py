"""Powers of Python's numbers, which turn complex: (-2.0)**1.5 is, where NumPy's numbers give nan.

Code is for numbers of one kind, and of such a power it takes for granted that it is real. What is
holomorphic gives the same either way. Where a function uses such powers, and something that tells
complex numbers from real ones (`abs`, `np.imag`), it is lowered again with powers that are checked.
"""

from __future__ import annotations

from typing import Any

from s2s_ad.core import values
from s2s_ad.core.builder import Builder
from s2s_ad.core.magnitudes import least
from s2s_ad.core.rule import Rule

POWERS, TELLS, CHECKED = "powers of numbers", "tells complex numbers", "powers are checked"


def note_use(builder: Builder, rule: Rule) -> None:
    """Note that the user's code calls a function that may tell complex numbers from real ones."""
    if rule.tells_complex and not builder.derived:
        builder.notes[TELLS] = True


def check_powers(builder: Builder) -> None:
    """From now on such powers are checked."""
    builder.notes[CHECKED] = True


def asks_of_powers(builder: Builder) -> bool:
    """Whether what was lowered is right only while powers are real that nobody checks."""
    return {POWERS, TELLS} <= builder.notes.keys() and CHECKED not in builder.notes


def is_to_be_checked(builder: Builder, base: Any, exponent: Any) -> bool:
    """Whether a power of the user's may turn complex, and has to be checked; it is noted."""
    if builder.derived or not _may_turn_complex(builder, base, exponent):
        return False
    builder.notes[POWERS] = True
    return CHECKED in builder.notes


def _may_turn_complex(builder: Builder, base: Any, exponent: Any) -> bool:
    facts = [builder.fact(each) for each in (base, exponent)]
    if not all(map(values.may_be_python, facts)) or not all(map(values.is_real, facts)):
        return False
    if values.is_inexact(facts[1]) is False or _is_whole(exponent):
        return False
    low = least(builder, base)
    return low is None or low < 0


def _is_whole(exponent: Any) -> bool:
    return type(exponent) is float and exponent.is_integer()
