"""Texts that programs print, compared but for the rounding of the numbers in them."""

import re

import numpy as np

#: a number as float32 is printed: its last digits are those of rounding
NUMBER = re.compile(r"[-+]?\d+\.\d*(?:e[-+]?\d+)?")


def same_text(printed: str, expected: str) -> bool:
    """Whether the texts are the same but for spaces, and for the rounding of numbers."""
    texts = [NUMBER.sub("#", each).split() for each in (printed, expected)]
    numbers = [np.array(NUMBER.findall(each), float) for each in (printed, expected)]
    return texts[0] == texts[1] and np.allclose(*numbers, rtol=1e-6, atol=1e-6)
