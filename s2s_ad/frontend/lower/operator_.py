"""The operator module: operators as functions, and functions that get items and call methods."""

from __future__ import annotations

import dataclasses
import operator
import types
from collections.abc import Callable
from typing import Any, ClassVar

import gast
import numpy as np

from s2s_ad.core import values
from s2s_ad.core.builder import Symbol, describe
from s2s_ad.core.registry import rule_for
from s2s_ad.diagnostics import UnsupportedError
from s2s_ad.frontend.lower.attributes import read_attribute
from s2s_ad.frontend.lower.builtin import evaluates
from s2s_ad.frontend.lower.calls import (
    CAPTURED_OBJECTS,
    HANDLER_FINDERS,
    HANDLERS,
    apply,
    known_object,
)
from s2s_ad.frontend.lower.containers import sequence
from s2s_ad.frontend.lower.core import Lowering
from s2s_ad.frontend.lower.kinds import is_number
from s2s_ad.frontend.lower.objects import class_of
from s2s_ad.frontend.lower.operators import BINARY, apply_operator
from s2s_ad.frontend.lower.statements import in_place
from s2s_ad.frontend.lower.subscripts import delete_item, read_item, write_item
from s2s_ad.frontend.resolve import Captured

evaluates(operator.abs)(lambda lowering, value: lowering.call(abs, value))
evaluates(operator.delitem)(delete_item)
evaluates(operator.getitem)(read_item)
evaluates(operator.setitem)(write_item)


def _binary(kind: type[gast.AST]) -> Callable:
    return lambda lowering, a, b: apply_operator(lowering, kind(), a, b)


def _in_place(kind: type[gast.AST]) -> Callable:
    statement = gast.AugAssign(target=None, op=kind(), value=None)
    return lambda lowering, old, value: in_place(lowering, statement, old, value)


for _kind, _function in BINARY.items():
    evaluates(_function)(_binary(_kind))
    _name = _function.__name__.strip("_")
    evaluates(getattr(operator, f"i{_name}"))(_in_place(_kind))


evaluates(operator.concat)(_binary(gast.Add))
evaluates(operator.iconcat)(_in_place(gast.Add))


def _of_floats(kind: type[gast.AST], reflected: bool) -> Callable:
    """`float.__add__(a, b)` of numbers: what others are, it leaves to their class."""

    def handler(lowering: Lowering, a: Any, b: Any) -> Any:
        a, b = _plain(lowering, a), _plain(lowering, b)
        if not _is_number(a, float) or not _is_number(b, float, int):
            raise UnsupportedError(
                "S2S203", "a method of float of other numbers", help="use the operator"
            )
        return apply_operator(lowering, kind(), *((b, a) if reflected else (a, b)))

    return handler


def _plain(lowering: Lowering, value: Any) -> Any:
    """A np.float64, which is a float, as one of Python's; other values as they are."""
    own = isinstance(value, Symbol) and value.shape == () and value.dtype == np.float64
    if not own or isinstance(value.fact, values.Scalar) or is_number(value) is False:
        return value
    return lowering.call(float, value)


def _is_number(value: Any, *kinds: type) -> bool:
    """Whether it is a number of Python's of one of these types."""
    if isinstance(value, Symbol):
        return isinstance(value.fact, values.Scalar) and value.fact.kind in kinds
    return type(value) in kinds


for _kind, _function in BINARY.items():
    _name = _function.__name__.strip("_")
    for _prefix in ("", "r"):
        _method = getattr(float, f"__{_prefix}{_name}__", None)
        if _method is not None:
            evaluates(_method)(_of_floats(_kind, bool(_prefix)))


def _of_syntax(function: Any) -> Callable | None:
    """`x.__len__()`, `xs.__getitem__(0)` of what is no object of the user's: what Python's syntax
    stands for."""
    if not isinstance(function, types.WrapperDescriptorType | types.MethodDescriptorType):
        return None
    name = function.__name__
    reflected = not hasattr(operator, name) and hasattr(operator, f"__{name[3:]}")
    name = f"__{name[3:]}" if reflected else name
    stands = len if name == "__len__" else getattr(operator, name, None)
    if not name.startswith("__") or (stands not in HANDLERS and rule_for(stands) is None):
        return None

    def handler(lowering: Lowering, args: list, kwargs: dict[str, Any]) -> Any:
        if class_of(args[0]) is not None:
            what = f"{describe(function)} of an object whose class may say it otherwise"
            raise UnsupportedError("S2S204", what, help="use the operator, or len")
        return apply(lowering, stands, args[::-1] if reflected else args, kwargs)

    return handler


HANDLER_FINDERS.append(_of_syntax)


@dataclasses.dataclass(frozen=True, eq=False, slots=True)
class Getter:
    """operator.itemgetter(...), attrgetter(...) or methodcaller(...)."""

    in_python: ClassVar[str] = "function"

    read: Callable[[Lowering, Any], Any]

    def __s2s_call__(self, lowering: Lowering, args: list, kwargs: dict[str, Any]) -> Any:
        (value,) = args
        return self.read(lowering, value)


def _each(read: Callable, keys: tuple) -> Getter:
    """One key gives what is read by it, several give a tuple."""

    def read_all(lowering: Lowering, value: Any) -> Any:
        found = [read(lowering, value, key) for key in keys]
        return found[0] if len(found) == 1 else sequence(tuple, found)

    return Getter(read_all)


def _attribute(lowering: Lowering, value: Any, path: Any) -> Any:
    for name in known_object(path).split("."):
        value = read_attribute(lowering, value, name)
    return value


@evaluates(operator.itemgetter)
def item_getter(lowering: Lowering, *keys: Any) -> Getter:
    return _each(read_item, keys)


@evaluates(operator.attrgetter)
def attribute_getter(lowering: Lowering, *paths: Any) -> Getter:
    return _each(_attribute, paths)


def method_caller(lowering: Lowering, args: list, kwargs: dict[str, Any]) -> Getter:
    name, *rest = args

    def call(lowering: Lowering, value: Any) -> Any:
        return apply(lowering, _attribute(lowering, value, name), rest, kwargs)

    return Getter(call)


HANDLERS[operator.methodcaller] = method_caller


def _made_outside(lowering: Lowering, holder: Captured) -> Getter:
    """A getter of the user's module: it says itself how it was made."""
    kind, args, *_ = holder.value.__reduce__()
    return apply(lowering, kind, list(args), {})


for _getter in (operator.attrgetter, operator.itemgetter, operator.methodcaller):
    CAPTURED_OBJECTS[_getter] = _made_outside
