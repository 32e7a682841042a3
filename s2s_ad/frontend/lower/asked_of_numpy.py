"""Of which class the result of one of NumPy's functions is: NumPy is asked, with examples.

Classes that derive from ndarray are kept by some functions, and lost in others, in ways of NumPy's
own. So the very call is made with arrays of the same shapes and dtypes. In the place of the user's
objects stand objects of classes made here, which note what NumPy asks of them; code of the user's
does not run.
"""

from __future__ import annotations

import types
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from s2s_ad.frontend.lower.classes import method_of

#: what NumPy calls of an object by protocol: what the user's class says of these is followed
FINALIZE, WRAP = "__array_finalize__", "__array_wrap__"
UFUNC, FUNCTION = "__array_ufunc__", "__array_function__"


class Asked(Exception):
    """Of which class a result is cannot be told: NumPy has called a method that the user's class
    has instead of that of ndarray, or computes with what one gives."""

    def __init__(self, name: str, why: str = ""):
        super().__init__(name)
        self.why = why or f"NumPy calls {name} of the class there, and goes on with what it gives"


class Noting(np.ndarray):
    """An array that notes of which one it is made.

    Attributes:
        made_of: the array that it was made of, as `__array_finalize__` is told.
        stands_for: the object in whose place it stands; None of what NumPy has made.
        users: the user's class.
    """

    users: Any = None
    stands_for: Any = None
    made_of: Any = None

    def __array_finalize__(self, obj: Any) -> None:
        self.made_of = obj


def _raise(name: str) -> Callable:
    def asked(*_: Any, **__: Any) -> Any:
        raise Asked(name)

    return asked


class Said(np.ndarray):
    """What a method of the user's would give; NumPy is not to compute with it.

    Attributes:
        call: the name of the method, the object that has it, and what NumPy gives it.
    """

    call: tuple[str, Noting, tuple, dict[str, Any]]

    __array_ufunc__ = _raise("what a method gives")
    __array_function__ = _raise("what a method gives")


def _says(name: str, calls: list) -> Callable:
    """The method of a class whose objects note that NumPy has called it."""

    def method(self: Noting, *args: Any, **kwargs: Any) -> Said:
        made = np.zeros(()).view(Said)
        made.call = (name, self, args, kwargs)
        calls.append(made)
        return made

    return method


def in_python(kind: type, name: str) -> bool:
    """Whether a class that derives from ndarray has its own, written in Python."""
    return isinstance(method_of(kind, name), types.FunctionType)


def noting_class(kind: type, calls: list[Said]) -> type[Noting]:
    """A class like that of the user's for what NumPy sees of it; `calls` is what it has called."""
    own = kind.__mro__[: kind.__mro__.index(np.ndarray)]
    names = {name for each in own for name in vars(each)}
    plain = {each for each in dir(object) if getattr(np.ndarray, each) is getattr(object, each)}
    said = {each for each in names & {*dir(np.ndarray)} - plain if each not in NEVER}
    space: dict[str, Any] = {each: property(_raise(each)) for each in said}
    space |= {each: _says(each, calls) for each in (WRAP, UFUNC) if in_python(kind, each)}
    if in_python(kind, FUNCTION):
        space[FUNCTION] = _raise(FUNCTION)
    space |= {"__array_priority__": kind.__array_priority__, "users": kind}
    return type(kind.__name__, (Noting,), space)


#: what making a class or an object looks up, and NumPy's functions do not; and what is no method
NEVER = (FINALIZE, "__array_priority__", "__dict__", "__doc__", "__hash__", "__init__")
NEVER += ("__module__",)
NEVER += ("__new__", "__repr__", "__str__", "__weakref__", "__reduce__", "__setstate__")
NEVER += ("__class_getitem__", "__getattr__", "__init_subclass__", "__format__", "__sizeof__")
NEVER += ("__getattribute__", "__setattr__", "__array__", "__deepcopy__", "__copy__")


def example_of(dtype: np.dtype, shape: tuple[int, ...]) -> np.ndarray:
    """An array of which no function is certain to fail: numbers between a half and one, zeros as
    indices, and truths that hold."""
    if dtype.kind in "fc":
        return np.random.default_rng(len(shape)).uniform(0.5, 1.0, shape).astype(dtype)
    return np.full(shape, dtype.kind == "b").astype(dtype)


def answer(function: Callable, args: list, kwargs: dict[str, Any]) -> Any:
    """What NumPy gives for the examples."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        return function(*args, **kwargs)
