"""Case: one ordinary program of the corpus, with the arguments it is tested at."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Case:
    """A program and how it is tested.

    Attributes:
        function: the program; it returns a number, or arrays whose sum is meant.
        arguments: what it is called with.
        wrt: the positions it is differentiated by: floats, arrays of floats, or containers of
            nothing else.
        smooth: whether it has a second derivative there, so that second order is tested.
        complex_step: whether the function itself runs on complex numbers and is analytic in them.
        tolerance: the relative error of gradients that is still right.
    """

    function: Callable
    arguments: tuple[Any, ...]
    wrt: tuple[int, ...] = (0,)
    smooth: bool = True
    complex_step: bool = False
    tolerance: float = 1e-6
