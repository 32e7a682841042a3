"""The signature of a callable: of what runs, whatever its annotations name."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable
from typing import Any

import numpy as np

from s2s_ad.frontend.called import called

# From Python 3.14 on, annotations are evaluated when somebody asks for them; they may name what
# only type checkers import.
UNEVALUATED: dict[str, Any] = {}
if sys.version_info >= (3, 14):
    import annotationlib

    UNEVALUATED["annotation_format"] = annotationlib.Format.FORWARDREF


def signature_of(function: Callable) -> inspect.Signature:
    """The signature of what runs, not of what a decorator says it wraps.

    Raises:
        TypeError: the object cannot be called.
        ValueError: it is not written in Python, and has no signature.
    """
    if isinstance(function, np.ufunc):
        return _of_ufunc(function)
    try:
        return inspect.signature(called(function), follow_wrapped=False, **UNEVALUATED)
    except ValueError:  # NumPy's own tell theirs by the Python that they wrap
        if not hasattr(function, "__wrapped__"):
            raise
        return inspect.signature(function)


def _of_ufunc(function: np.ufunc) -> inspect.Signature:
    """The operands of a ufunc, by position, as its documentation calls them."""
    names = ["x"] if function.nin == 1 else [f"x{i + 1}" for i in range(function.nin)]
    kind = inspect.Parameter.POSITIONAL_ONLY
    return inspect.Signature([inspect.Parameter(name, kind) for name in names])
