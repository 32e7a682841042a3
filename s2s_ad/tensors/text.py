"""How a Tensor is shown: `str` is NumPy's text, `repr` that of MindSpore.

    Tensor(shape=[3], dtype=Float32, value= [ 2.00000003e-01, -2.00000003e-01,  1.00000001e-01])

Floats stand in columns of 15 characters with 9 significant digits (11 and 5 for Float16), integers
in columns as wide as the widest, a single number with at most 6 digits. Of an axis longer than 6
the first and last three are shown, of a Tensor of one axis where it is longer than 1000; otherwise
the latter breaks its lines after 12 floats or bools, or 24 integers.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

EDGE = 3
LONGEST_AXIS = 2 * EDGE
LONGEST_VECTOR = 1000
FLOATS_IN_A_LINE = 12
INTEGERS_IN_A_LINE = 24


def shown(array: np.ndarray) -> str:
    """NumPy's text of an array; bfloat16 is shown with 6 decimals."""
    if array.dtype.name == "bfloat16":
        return np.array2string(array.astype(np.float32), formatter={"float_kind": "{:f}".format})
    return str(array)


def represented(array: np.ndarray, dtype: object) -> str:
    """MindSpore's text of an array whose dtype has this text."""
    space = "\n" if array.ndim > 1 else " "
    return f"Tensor(shape={list(array.shape)}, dtype={dtype}, value={space}{_values(array)})"


def _values(array: np.ndarray) -> str:
    if not array.size:
        return ""
    return _rows(array, _column(array), 0) if array.ndim else _single(array[()])


def _single(value: np.generic) -> str:
    if value.dtype.kind == "c":
        return f"{value.real:g}{value.imag:+g}j"
    return f"{float(value):g}" if value.dtype.kind in "fV" else str(value)


def _column(array: np.ndarray) -> Callable[[np.generic], str]:
    """How an element of the array is written, so that all that are shown are equally wide."""
    kind = array.dtype.kind
    if kind == "f":
        form = "{:11.4e}" if array.dtype.itemsize == 2 else "{:15.8e}"
        return form.format
    if kind == "c":
        return _single
    width = 5 if kind == "b" else max(len(_single(value)) for value in _visible(array).flat)
    return lambda value: _single(value).rjust(width)


def _visible(array: np.ndarray) -> np.ndarray:
    """The elements that are shown."""
    limit = LONGEST_VECTOR if array.ndim == 1 else LONGEST_AXIS
    for axis, length in enumerate(array.shape):
        if length > limit:
            array = np.take(array, [*range(EDGE), *range(-EDGE, 0)], axis)
    return array


def _rows(array: np.ndarray, column: Callable[[np.generic], str], depth: int) -> str:
    """The text of an array, or of a part of one that stands in `depth` brackets."""
    is_row = array.ndim == 1
    if is_row and not depth and len(array) <= LONGEST_VECTOR:
        return f"[{_lines(array, column)}]"
    space = " " if is_row else "\n" + " " * (depth + 1)

    def joined(part: np.ndarray) -> str:
        items = map(column, part) if is_row else (_rows(row, column, depth + 1) for row in part)
        return f",{space}".join(items)

    if len(array) <= LONGEST_AXIS:
        return f"[{joined(array)}]"
    comma = "" if is_row else ","
    return f"[{joined(array[:EDGE])}{comma}{space}...{space}{joined(array[-EDGE:])}]"


def _lines(vector: np.ndarray, column: Callable[[np.generic], str]) -> str:
    """The text of a Tensor of one axis, which breaks its lines."""
    length = FLOATS_IN_A_LINE if vector.dtype.kind in "fb" else INTEGERS_IN_A_LINE
    ends = [", " + "\n " * (not i % length) for i in range(1, len(vector))]
    ends.append("\n " * (not len(vector) % length))
    return "".join(column(value) + end for value, end in zip(vector, ends, strict=True))
