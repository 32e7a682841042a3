"""What `Tensor(input_data, dtype, shape, init)` makes of its arguments, and what it refuses."""

from __future__ import annotations

from typing import Any

import numpy as np

from s2s_ad.diagnostics import ArgumentTypeError, ArgumentValueError
from s2s_ad.tensors.dtypes import DTYPES, dtype_argument

#: what a Tensor may be made of
ACCEPTED = (np.ndarray, np.generic, list, tuple, bool, int, float, complex)

#: the dtype that data without a dtype of its own gets, by the kind that NumPy finds
DEFAULTS = {"f": np.dtype(np.float32), "i": np.dtype(np.int64)}

_KNOWN = {each.dtype for each in DTYPES.values()}
#: how the APIs call their data, where not `input_data`
_NAMES = {"Parameter": "default_input", "from_numpy": "array"}
_FILLS = {"zeros": 0, "ones": 1}


def array_of(api: str, data: Any, dtype: Any = None) -> np.ndarray:
    """A plain array with this data: that of an array in the same memory, other data in new memory.

    Numbers and sequences of numbers get the default dtypes, Float32 and Int64.

    Raises:
        ArgumentTypeError: the data is not numbers, its rows differ in length, or the dtype is not
            one of this library.
    """
    wanted = None if dtype is None else dtype_argument(api, dtype)
    if not isinstance(data, ACCEPTED):
        raise _wrong(api, data)
    array = np.asarray(data) if isinstance(data, np.ndarray | np.generic) else _new(api, data)
    if wanted is None and not isinstance(data, np.ndarray | np.generic) and not _has_arrays(data):
        wanted = DEFAULTS.get(array.dtype.kind)
    if array.dtype not in _KNOWN and array.dtype.name != "bfloat16":
        array = _native(api, data, array)
    return array if wanted is None else array.astype(wanted, copy=False)


def filled(api: str, shape: Any, dtype: Any, init: Any) -> np.ndarray:
    """A new array of this shape, with the values that `init` says: a number, a name or a filler.

    Raises:
        ArgumentTypeError, ArgumentValueError: an argument is missing, or of the wrong kind.
    """
    if shape is None or init is None or dtype is None:
        raise ArgumentValueError(
            "S2S502",
            f"{api}: input_data is missing",
            help="give it, or give all of shape, dtype and init",
        )
    array = np.empty(shape, dtype_argument(api, dtype))
    if callable(init):
        init(array)
        return array
    value = _FILLS.get(init) if isinstance(init, str) else init
    if not isinstance(value, int | float):
        raise ArgumentTypeError(
            "S2S501",
            f"{api}: argument 'init' got {init!r}; expected a number, 'zeros', 'ones' or an "
            "initializer of s2s_ad.nn",
        )
    array[...] = value
    return array


def _new(api: str, data: Any) -> np.ndarray:
    """The array of numbers and sequences, with the dtype that NumPy finds."""
    try:
        return np.array(data)
    except ValueError:
        raise _ragged(api, data) from None


def _has_arrays(data: Any) -> bool:
    """Whether the data is a sequence of arrays, whose dtype stays."""
    while isinstance(data, list | tuple) and data:
        data = data[0]
    return isinstance(data, np.ndarray)


def _native(api: str, data: Any, array: np.ndarray) -> np.ndarray:
    """The array in the byte order of the machine."""
    native = array.dtype.newbyteorder("=")
    if native not in _KNOWN:
        raise _wrong(api, data)
    return array.astype(native)


# ---- what is refused -----------------------------------------------------------------------------


def _wrong(api: str, data: Any) -> ArgumentTypeError:
    kind = type(data).__name__
    if isinstance(data, np.ndarray | np.generic):
        kind += f" of {data.dtype}"
    elif isinstance(data, list | tuple):
        kind += f" with {_not_a_number(data)}"
    return ArgumentTypeError(
        "S2S501",
        f"{api}: argument {_NAMES.get(api, 'input_data')!r} is a {kind}; expected numbers: "
        "an array, a Tensor, a number, or a list or tuple of these",
    )


def _not_a_number(data: list | tuple) -> str:
    """The first item in nested sequences that is none of what is accepted."""
    for item in data:
        if isinstance(item, list | tuple):
            if found := _not_a_number(item):
                return found
        elif not isinstance(item, ACCEPTED):
            return repr(item)
    return ""


def _ragged(api: str, data: Any) -> ArgumentTypeError:
    lengths = _row_lengths(data)
    why = f"rows have different lengths {lengths}" if lengths else "rows have different shapes"
    return ArgumentTypeError(
        "S2S501", f"{api}: {why}", help="pad them to one length, or make a Tensor of each"
    )


def _row_lengths(data: list | tuple) -> tuple[int, ...]:
    """The lengths of the first rows in nested sequences that differ; empty where none do."""
    rows = [item for item in data if isinstance(item, list | tuple) or np.ndim(item)]
    lengths = tuple(map(len, rows))
    if len(set(lengths)) > 1:
        return lengths
    nested = (_row_lengths(row) for row in rows if isinstance(row, list | tuple))
    return next(filter(None, nested), ())
