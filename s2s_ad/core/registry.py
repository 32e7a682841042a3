"""The rules, found by the very function that each of them is for."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from s2s_ad.core.homes import module_of
from s2s_ad.core.rule import ORDINARY, Rule
from s2s_ad.diagnostics import InternalError, Origin

RULES: dict[Any, Rule] = {}  # by function
FINDERS: list[Callable[[Any], Rule | None]] = []  # for functions that are made as objects are
METHODS: dict[str, Callable] = {}  # ndarray method -> function that takes the array first


def register(rule: Rule) -> Rule:
    if module_of(rule.function) is not None:  # of SciPy, where solvers tell that they have failed
        rule.raises = (*ORDINARY, RuntimeError)
    RULES[rule.function] = rule
    return rule


def rule_of(function: Any, origin: Origin | None = None) -> Rule:
    """The rule of a function that is certain to have one."""
    rule = rule_for(function)
    if rule is None:
        raise InternalError("S2S901", f"no rule for {function!r}", origin=origin)
    return rule


def rule_for(function: Any) -> Rule | None:
    """The rule of a function; an operation made for one place is its own rule."""
    if isinstance(function, Rule):
        return function
    try:
        found = RULES.get(function)
    except TypeError:  # unhashable
        return None
    return found or next(filter(None, (find(function) for find in FINDERS)), None)
