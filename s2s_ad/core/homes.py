"""Where a library's object stands for everybody: np.linalg.solve, scipy.special.erf, math.sin."""

from __future__ import annotations

import cmath
import math
import operator
import random
import sys
import time
import warnings
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np

#: the modules of which text names members as they are, and how it calls them
PREFIXES: dict[ModuleType, str] = {
    operator: "operator",
    math: "math",
    cmath: "cmath",
    time: "time",
    warnings: "warnings",
    np: "np",
    np.linalg: "np.linalg",
    np.fft: "np.fft",
    np.random: "np.random",
    np.lib.stride_tricks: "np.lib.stride_tricks",
}
TESTING = "numpy.testing"  # named like these, and not imported for it
#: whose classes are not the user's
LIBRARIES = {*sys.stdlib_module_names, "numpy", "scipy", "s2s_ad"}
#: functions by the shorter of their names
SHORT = {np.absolute: "abs", np.conjugate: "conj"}
for _family in ("chebyshev", "hermite", "hermite_e", "laguerre", "legendre", "polynomial"):
    PREFIXES[getattr(np.polynomial, _family)] = f"np.polynomial.{_family}"
#: libraries that may be missing: their members are known by where they say they are from
OPTIONAL = ("scipy",)
#: modules with ufuncs, which do not say where they are from
OF_UFUNCS = ("scipy.special",)


def is_of_library(kind: type) -> bool:
    """Whether a class is Python's own, or of a library that the compiler knows."""
    return kind.__module__.partition(".")[0] in LIBRARIES


def is_of_arrays(function: Any) -> bool:
    """Whether a function is one of NumPy's, or of a library for its arrays."""
    if isinstance(function, np.ufunc) or isinstance(getattr(function, "__self__", None), np.ufunc):
        return True
    stated = getattr(function, "__module__", None) or ""
    return stated.partition(".")[0] in ("numpy", *OPTIONAL)


class Held:
    """An object of the user's that text calls by a name made of where it stands.

    Two are the same where the objects are: what these say of `==` is not asked.
    """

    __slots__ = ("text", "value")

    def __init__(self, value: Any, text: str):
        self.value, self.text = value, text

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Held) and other.value is self.value

    def __hash__(self) -> int:
        return id(self.value)


class Home(NamedTuple):
    """The module that has to be imported, and the dotted path by which text names the object."""

    module: str
    path: str


def home_of(value: Any) -> Home | None:
    """Where the object of a library stands; None for any other object."""
    if value is random:
        return Home("random", "random")
    label = SHORT.get(value) if isinstance(value, np.ufunc) else None
    label = label or getattr(value, "__name__", None)
    owner = getattr(value, "__self__", None)
    if isinstance(owner, np.ufunc):  # np.logaddexp.reduce
        whole = home_of(owner)
        return whole and Home(whole.module, f"{whole.path}.{label}")
    if not isinstance(label, str) or not label:
        return None
    for module, prefix in PREFIXES.items():
        if vars(module).get(label) is value:  # np.__getattr__ warns of some names
            return Home(module.__name__.partition(".")[0], f"{prefix}.{label}")
    if _member(TESTING, label) is value:
        return Home("numpy", f"np.testing.{label}")
    return _optional_home(value, label)


def is_optional(module: str) -> bool:
    """Whether it is a module of a library that may be missing."""
    return module.partition(".")[0] in OPTIONAL


def module_of(value: Any) -> str | None:
    """The public module of an optional library that an object is from: scipy.sparse.linalg."""
    if isinstance(value, np.ufunc):
        loaded = [name for name in OF_UFUNCS if name in sys.modules]
        return next((n for n in loaded if _member(n, value.__name__) is value), None)
    stated = getattr(value, "__module__", None)
    if not isinstance(stated, str) or not is_optional(stated):
        return None
    parts = stated.split(".")
    private = next((i for i, part in enumerate(parts) if part.startswith("_")), len(parts))
    if private == 1:  # scipy._lib: some other part shows it
        return _shown_by(parts[0], value) or parts[0]
    return ".".join(parts[:private])


def _shown_by(library: str, value: Any) -> str | None:
    """The public part of a library, loaded, that has an object as a member."""
    public = (name for name in sorted(sys.modules) if name.startswith(f"{library}."))
    label = getattr(value, "__name__", "")
    return next((n for n in public if "._" not in n and _member(n, label) is value), None)


def _optional_home(value: Any, label: str) -> Home | None:
    module = module_of(value)
    if module is None:
        return None
    if _member(module, label) is value:
        return Home(module, f"{module}.{label}")
    owner = getattr(value, "__self__", None)  # of a method of a member: scipy.stats.norm.pdf
    members = vars(sys.modules[module]).items() if owner is not None else ()
    name = next((name for name, each in members if each is owner), None)
    return Home(module, f"{module}.{name}.{label}") if name else None


def _member(module: str, name: str) -> Any:
    return getattr(sys.modules.get(module), name, None)
