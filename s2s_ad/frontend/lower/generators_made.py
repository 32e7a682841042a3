"""Generators of random numbers that a function makes for itself: rng = np.random.default_rng(0)."""

from __future__ import annotations

import dataclasses
import random
from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np

from s2s_ad.core.builder import Symbol
from s2s_ad.core.program import Hint
from s2s_ad.core.registry import rule_for
from s2s_ad.diagnostics import UnsupportedError
from s2s_ad.frontend.lower.attributes import Made, Method
from s2s_ad.frontend.lower.calls import HANDLERS
from s2s_ad.frontend.lower.core import Lowering
from s2s_ad.rules.draws import draw_of_made


@dataclasses.dataclass(frozen=True, eq=False)
class MadeGenerator(Made):
    """The generator; its methods are operations on it, in the order in which they are called."""

    in_python: ClassVar[str] = "Generator"

    kind: type
    value: Symbol

    def holds(self) -> tuple:
        return (self.value,)

    def attribute(self, lowering: Lowering, name: str) -> Any:
        rule = draw_of_made(self.kind, name)
        if rule is None and (self.kind, name) in WRITTEN:
            return Method(WRITTEN[self.kind, name], self)
        if rule is None:
            raise UnsupportedError("S2S204", f"{name} of a generator that the function makes")
        return Method(rule.function, self.value)


#: methods that are others of the same generator and plain Python, by class and name
WRITTEN: dict[tuple[type, str], Callable] = {}


def _handler(function: Any, kind: type) -> None:
    def handler(lowering: Lowering, args: list, kwargs: dict[str, Any]) -> Any:
        made = lowering.builder.call(function, args, kwargs)
        return MadeGenerator(kind, lowering.builder.named(made, Hint("rng", "derived")))

    assert rule_for(function) is not None
    HANDLERS[function] = handler


_handler(np.random.default_rng, np.random.Generator)
_handler(np.random.RandomState, np.random.RandomState)
_handler(random.Random, random.Random)
