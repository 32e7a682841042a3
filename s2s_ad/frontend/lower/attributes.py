"""x.T, x.shape, params.w, self.rate, np.pi."""

from __future__ import annotations

import dataclasses
import types
from typing import Any

import gast
import numpy as np

from s2s_ad.core import values
from s2s_ad.core.builder import Symbol
from s2s_ad.core.registry import METHODS
from s2s_ad.core.tree import Tree
from s2s_ad.diagnostics import UnsupportedError
from s2s_ad.frontend.lower.core import Lowering, expression
from s2s_ad.frontend.resolve import Captured, unwrap


@dataclasses.dataclass(frozen=True, slots=True)
class Method:
    """A function with the value it was read from: `x.sum`, `params.scaled`, `self.step`."""

    function: Any
    holder: Any


@expression(gast.Attribute)
def attribute(lowering: Lowering, node: gast.Attribute) -> Any:
    return read_attribute(lowering, node, lowering.evaluate(node.value), node.attr)


def read_attribute(lowering: Lowering, node: gast.AST, value: Any, name: str) -> Any:
    if isinstance(value, Symbol):
        return _of_array(lowering, node, value, name)
    if isinstance(value, Tree):
        return _of_container(lowering, node, value, name)
    if isinstance(value, Captured):
        return _of_object(lowering, node, value, name)
    if isinstance(value, np.dtype) or isinstance(value, type):
        return getattr(value, name)
    if isinstance(value, str):
        return Method(getattr(str, name), value)
    raise UnsupportedError(
        "S2S204", f"the attribute {name!r} of {type(value).__name__}", origin=lowering.origin(node)
    )


def _of_array(lowering: Lowering, node: gast.AST, x: Symbol, name: str) -> Any:
    """What an array knows of itself is read through NumPy's functions."""
    if name == "T":
        return np.transpose(x)
    if name == "ndim":
        return np.ndim(x)
    if name == "size":
        return np.size(x)
    if name == "mT" and x.ndim is not None:
        return np.swapaxes(x, -1, -2)
    if name == "shape":
        return shape_of(x)
    if name == "dtype" and x.dtype is not None:
        return x.dtype
    if name in METHODS:
        return Method(METHODS[name], x)
    unknown = isinstance(x.fact, values.Unknown)
    raise UnsupportedError(
        "S2S204",
        f"the attribute or method {name!r} of an array is not supported",
        origin=lowering.origin(node),
        help="give example arguments, so that its type is known"
        if unknown
        else "use the NumPy function that does the same",
    )


def shape_of(x: Symbol) -> Any:
    if x.shape is None:
        return np.shape(x)
    sizes = tuple(
        dim if isinstance(dim, int) else np.size(x, axis) for axis, dim in enumerate(x.shape)
    )
    return Tree(tuple, tuple(range(len(sizes))), sizes)


def _of_container(lowering: Lowering, node: gast.AST, value: Tree, name: str) -> Any:
    """A field, a property or a method of a dataclass or namedtuple; methods of a dict."""
    if value.kind not in (tuple, list, dict) and name in value.keys:
        return value.get(name)
    found = getattr(value.kind, name, None)
    if value.kind is dict and name in ("keys", "values", "items", "get"):
        return Method(getattr(dict, name), value)
    if isinstance(found, property):
        return lowering.enter(found.fget, bind_self(found.fget, value))
    if isinstance(found, types.FunctionType):
        static = isinstance(value.kind.__dict__.get(name), staticmethod)
        return found if static else Method(found, value)
    if isinstance(found, types.MethodType):
        return Method(found.__func__, value.kind)
    raise UnsupportedError(
        "S2S204",
        f"the attribute or method {name!r} of a {value.kind.__name__} is not supported",
        origin=lowering.origin(node),
    )


def _of_object(lowering: Lowering, node: gast.AST, value: Captured, name: str) -> Any:
    """An attribute of a module or of an object of the user's."""
    if isinstance(value.value, types.ModuleType):
        if not hasattr(value.value, name):
            raise UnsupportedError(
                "S2S202",
                f"module {value.value.__name__!r} has no attribute {name!r}",
                origin=lowering.origin(node),
            )
        return lowering.captures.attribute(value, name)
    kind = type(value.value)
    found = getattr(kind, name, None)
    own = getattr(value.value, "__dict__", {})
    if name not in own and isinstance(found, property):
        return lowering.enter(found.fget, bind_self(found.fget, value))
    if name not in own and isinstance(found, types.FunctionType):
        holder = next(each for each in kind.__mro__ if name in each.__dict__)
        static = isinstance(holder.__dict__[name], staticmethod)
        return found if static else Method(found, value)
    if name not in own and isinstance(found, types.MethodType):
        return Method(found.__func__, kind)
    if not hasattr(value.value, name):
        raise UnsupportedError(
            "S2S204",
            f"{kind.__name__!r} object has no attribute {name!r}",
            origin=lowering.origin(node),
        )
    return lowering.captures.attribute(value, name)


def bind_self(function: types.FunctionType, holder: Any) -> dict[str, Any]:
    """The arguments of a method that takes nothing but its object."""
    return {function.__code__.co_varnames[0]: holder}


__all__ = ["Method", "read_attribute", "unwrap"]
