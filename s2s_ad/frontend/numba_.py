"""Functions that Numba has compiled: they stand for the Python that they were compiled from.

Numba is never imported here: a function of its kinds exists only where the user has done so.
"""

from __future__ import annotations

import sys
import types
from typing import Any


def python_of(function: Any) -> types.FunctionType | None:
    """The Python function of what `numba.njit` has made; None of anything else."""
    kinds = _kinds("numba.core.dispatcher", "Dispatcher")
    return function.py_func if isinstance(function, kinds) else None


def python_of_elements(function: Any) -> types.FunctionType | None:
    """The Python function, of one element, of what `numba.vectorize` has made; else None."""
    kinds = _kinds("numba.np.ufunc.dufunc", "DUFunc")
    return function.__wrapped__ if isinstance(function, kinds) else None


def compiles(function: Any) -> bool:
    """Whether it is what `numba.njit` and `numba.jit` are."""
    return _is_one_of(function, "jit", "njit")


def is_range(function: Any) -> bool:
    """Whether it is `numba.prange`."""
    return _is_one_of(function, "prange")


def _is_one_of(function: Any, *names: str) -> bool:
    numba = sys.modules.get("numba")
    return numba is not None and any(function is getattr(numba, name, None) for name in names)


def _kinds(module: str, name: str) -> tuple[type, ...]:
    found = getattr(sys.modules.get(module), name, None)
    return () if found is None else (found,)
