"""Loop text run as Python: nothing is compiled, and what is wrong with memory is an error.

An index below 0, or one too large, raises; an element that is read before it was stored is nan.
"""

from __future__ import annotations

import math
import struct
from typing import Any

import numpy as np


class OutOfBounds(IndexError):
    """An element that there is not."""


class Checked(np.ndarray):
    """An array whose elements have to be there."""

    def __getitem__(self, index: Any) -> Any:
        self._check(index)
        return super().__getitem__(index)

    def __setitem__(self, index: Any, value: Any) -> None:
        self._check(index)
        super().__setitem__(index, value)

    def _check(self, index: Any) -> None:
        for k, each in enumerate(index if isinstance(index, tuple) else (index,)):
            if isinstance(each, int | np.integer) and not 0 <= each < self.shape[k]:
                raise OutOfBounds(f"{index} of {self.shape}")


class _NumPy:
    """NumPy, of which new arrays are checked and hold nan."""

    def __getattr__(self, name: str) -> Any:
        return getattr(np, name)

    def empty(self, shape: Any, dtype: Any = float) -> Any:
        made = np.zeros(shape, dtype)
        if made.dtype.kind in "fc":
            made[...] = np.nan
        return made.view(Checked)

    def zeros(self, shape: Any, dtype: Any = float) -> Any:
        return np.zeros(shape, dtype).view(Checked)

    def ascontiguousarray(self, array: Any) -> Any:
        return np.ascontiguousarray(array).view(Checked)


def _njit(*functions: Any, **_: Any) -> Any:
    return functions[0] if functions else lambda function: function


INTRINSICS = {
    "at": lambda index: index,
    "plus": lambda a, b: a + b,
    "complex_plus": lambda a, b: a + b,
    "bits_of": lambda x: struct.unpack("q", struct.pack("d", x))[0],
    "of_bits": lambda n: struct.unpack("d", struct.pack("Q", n % 2**64))[0],  # as machines do
}


class _Math:
    """The module math, of which Numba's square root of a negative number is nan."""

    def __getattr__(self, name: str) -> Any:
        return getattr(math, name)

    @staticmethod
    def sqrt(x: float) -> float:
        return math.nan if x < 0.0 else math.sqrt(x)


def interpreted(text: str, name: str) -> Any:
    """The function of a module of loops, as Python runs it."""
    lines = text.splitlines(keepends=True)
    body = "".join("\n" if e.startswith(("import ", "from ")) else e for e in lines)
    space = {"np": _NumPy(), "math": _Math(), "njit": _njit, "types": None}
    space["intrinsic"] = lambda function: INTRINSICS[function.__name__]
    exec(compile(body, f"<{name} as Python>", "exec"), space)
    function = space[name]

    def called(*args: Any) -> Any:
        found = function(*(e.copy().view(Checked) if np.ndim(e) else e for e in args))
        many = found if isinstance(found, tuple) else (found,)
        plain = tuple(e.view(np.ndarray) if isinstance(e, Checked) else e for e in many)
        return plain if isinstance(found, tuple) else plain[0]

    return called
