"""The table of NumPy functions that are refused, each with its reason."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.lib.stride_tricks import as_strided

from s2s_ad.core.builder import Builder, describe
from s2s_ad.core.registry import register
from s2s_ad.core.rule import Rule
from s2s_ad.diagnostics import UnsupportedError


class Refused(Rule):
    """A function that cannot be supported, and why."""

    refused = flat = True

    def __init__(self, function: Callable, why: str, help: str):
        super().__init__(function, function.__name__)
        self.why, self.help = why, help

    def bind(self, builder: Builder, args: tuple, kwargs: dict[str, Any]) -> Any:
        raise UnsupportedError(
            "S2S203",
            f"{describe(self.function)}: {self.why}",
            origin=builder.origin,
            help=self.help,
        )


def refuse(function: Callable, why: str, help: str) -> None:
    register(Refused(function, why, help))


MEMORY = "it goes over the elements in the order in which they stand in memory"
MATRIX = "it gives an np.matrix, whose * is a matrix product"

refuse(as_strided, "which elements share memory cannot be told", "use sliding_window_view")
refuse(np.bmat, MATRIX, "use np.block")
refuse(np.nditer, MEMORY, "loop over x.flat or np.ndenumerate(x), or compute with the whole array")
