"""x.T, x.shape, params.w, self.rate, np.pi."""

from __future__ import annotations

import builtins
import dataclasses
import functools
import types
from collections import OrderedDict, deque
from typing import Any, ClassVar

import gast
import numpy as np

from s2s_ad.core import values
from s2s_ad.core.builder import NeedKind, Symbol
from s2s_ad.core.homes import home_of, module_of
from s2s_ad.core.registry import METHODS, rule_for
from s2s_ad.core.tree import VIEWS, Tree, from_object, is_namedtuple
from s2s_ad.diagnostics import SharedMemoryError, UnsupportedError
from s2s_ad.frontend.called import CACHED
from s2s_ad.frontend.lower.caught import Error, is_error
from s2s_ad.frontend.lower.classes import is_local, is_written, method_of
from s2s_ad.frontend.lower.constants import is_constant
from s2s_ad.frontend.lower.containers import sequence
from s2s_ad.frontend.lower.core import HANDLERS, Lowering, expression
from s2s_ad.frontend.lower.derived import (
    ARRAY_ATTRIBUTE,
    OF_C,
    is_array_object,
    is_made,
    written_methods,
)
from s2s_ad.frontend.lower.entries import held, may_lack, put_entry, read_entry
from s2s_ad.frontend.lower.iteration import is_iterator
from s2s_ad.frontend.lower.kinds import class_name, name_of, with_article
from s2s_ad.frontend.lower.optional import MISSING
from s2s_ad.frontend.lower.picked import Picked, is_picked
from s2s_ad.frontend.lower.references import Box
from s2s_ad.frontend.lower.refused import (
    IN_PLACE_METHODS,
    LAYOUT,
    REFUSED_ATTRIBUTES,
    did_you_mean,
)
from s2s_ad.frontend.lower.string_unions import is_word
from s2s_ad.frontend.resolve import PLAIN, Captured, Place, is_library, unwrap
from s2s_ad.tensors import Tensor, plain_dtype
from s2s_ad.tensors.tensor import EAGER

CONTAINERS = (tuple, list, dict, set, *VIEWS)
#: the key of the handler that lowers one of two values, by a condition
CHOICE = object()
#: a deque is a list
OF_DEQUES = ("appendleft", "popleft", "rotate")
#: an OrderedDict is a dict
OF_ORDERED = ("move_to_end",)
#: of arrays, where the function of the same name has a rule
SAME_AS_FUNCTION = ("clip", "cumprod", "nonzero", "prod", "repeat", "round", "searchsorted")
#: methods that give a copy, where the function that METHODS has gives a view
COPIES = {"copy": np.ndarray.copy, "flatten": np.ndarray.flatten}
#: methods that change the array
CHANGES = ("fill", "partition", "put", "sort")
#: methods that no function of NumPy stands for: see array_methods
OWN = ("compress", "item", "resize", "setflags", "tolist", "view")
UFUNC_METHODS = ("accumulate", "at", "outer", "reduce", "reduceat")
#: what Python's numbers have too
OF_NUMBERS = ("conjugate", "imag", "real")


@dataclasses.dataclass(frozen=True, slots=True)
class Method:
    """A function with the value it was read from: `x.sum`, `params.scaled`, `self.step`."""

    in_python: ClassVar[str] = "method"

    function: Any
    holder: Any

    def holds(self) -> tuple:
        """The values that it keeps."""
        return (self.holder,)

    def same(self, other: Method) -> bool:
        """Whether it is the same function of the same object."""
        holders = [unwrap(each) for each in (self.holder, other.holder)]
        return self.function is other.function and holders[0] is holders[1]


@dataclasses.dataclass(frozen=True, slots=True)
class OwnMethod:
    """A method that an object keeps among its attributes, bound to the object itself.

    `same` tells that two are the same where the functions are.
    """

    in_python: ClassVar[str] = "method"

    function: types.FunctionType

    def same(self, other: OwnMethod) -> bool:
        return self.function is other.function


def kept_by(holder: Any, value: Any) -> Any:
    """What an object keeps as an attribute: a method of its own is not to hold the object."""
    is_own = isinstance(value, Method) and value.holder is holder
    return OwnMethod(value.function) if is_own else value


class Made:
    """What the compiler makes in the place of an object; it says what its attributes are."""

    __slots__ = ()

    def attribute(self, lowering: Lowering, name: str) -> Any:
        raise NotImplementedError

    def opened(self, lowering: Lowering) -> Any:
        """What iterating over it, or a copy of it, reads."""
        return self


@dataclasses.dataclass(frozen=True, slots=True)
class Super(Made):
    """super(): the object with what the classes after one of its own give."""

    in_python: ClassVar[str] = "super"

    below: type
    holder: Any

    def attribute(self, lowering: Lowering, name: str) -> Any:
        holder = self.holder
        kind = holder.kind if isinstance(holder, Tree) else unwrap(holder)
        kind = kind if isinstance(kind, type) else type(kind)
        found = _of_class(lowering, kind, holder, name, self.below)
        of_base = _of_base(lowering, holder, name, found) if isinstance(holder, Captured) else None
        return found if of_base is None else of_base


@dataclasses.dataclass(frozen=True, eq=False, slots=True)
class ClassOf(Made):
    """`type(error)` of an exception that was caught."""

    in_python: ClassVar[str] = "type"

    error: Tree

    def attribute(self, lowering: Lowering, name: str) -> Any:
        return HANDLERS[ClassOf](lowering, [self, name], {})


BY_INDEX = (
    "a text among them is read by its place, error.args[0]; assign what else it tells to a name "
    "before it is raised"
)


@dataclasses.dataclass(frozen=True, eq=False, slots=True)
class Arguments(Made):
    """`error.args` of an exception that was caught."""

    in_python: ClassVar[str] = "tuple"

    error: Tree

    def attribute(self, lowering: Lowering, name: str) -> Any:
        raise _refused(f"{name!r} of the arguments of an exception", BY_INDEX)

    def opened(self, lowering: Lowering) -> Any:
        raise _refused("reading all arguments of an exception", BY_INDEX)

    def __bool__(self) -> bool:
        raise _refused("whether an exception has arguments", "show its text, str(error)")


@dataclasses.dataclass(frozen=True, slots=True)
class Dispatching:
    """A method under functools.singledispatchmethod: the class of its first argument says which
    function it is."""

    in_python: ClassVar[str] = "method"

    dispatcher: Any

    def __s2s_call__(self, lowering: Lowering, args: list, kwargs: dict[str, Any]) -> Any:
        return HANDLERS[Dispatching](lowering, [self.dispatcher, *args], kwargs)


@expression(gast.Attribute)
def attribute(lowering: Lowering, node: gast.Attribute) -> Any:
    """`x.T`, `params.w`, `self.rate` Of arrays, containers, objects, classes and modules."""
    return read_attribute(lowering, lowering.evaluate(node.value), node.attr)


def read_attribute(lowering: Lowering, value: Any, name: str) -> Any:
    """`value.name`; raises UnsupportedError where the compiler does not know it."""
    if isinstance(value, Symbol):
        return _of_array(lowering, value, name)
    if is_picked(value):
        return HANDLERS[Picked](lowering, [value, lambda each: _of_one(lowering, each, name)], {})
    if is_error(value):
        return HANDLERS[Error](lowering, [value, name], {})
    if isinstance(value, Tree):
        return _of_container(lowering, value, name)
    if isinstance(unwrap(value), frozenset):
        return _of_library_object(lowering, unwrap(value), name)
    if isinstance(value, Captured):
        return _of_object(lowering, value, name)
    if isinstance(value, Made):
        return value.attribute(lowering, name)
    if isinstance(value, type):
        return _of_class(lowering, value, value, name)
    return _of_library_object(lowering, value, name)


def _of_one(lowering: Lowering, value: Any, name: str) -> Any:
    """The attribute of one of several objects: one that lacks it raises where it is that one."""
    fact = value.fact if isinstance(value, Symbol) else None
    if isinstance(fact, values.Array) and not hasattr(np.ndarray, name):
        error = AttributeError(f"'numpy.ndarray' object has no attribute {name!r}")
        raise lowering.there_is_none(error)
    try:
        return read_attribute(lowering, value, name)
    except AttributeError as error:
        if getattr(error, "obj", None) is None:
            raise
        raise lowering.there_is_none(error) from None


def _of_library_object(lowering: Lowering, value: Any, name: str) -> Any:
    """An attribute of a library, or of an object that the compiler works with as it is."""
    if isinstance(value, np.ufunc) and name in UFUNC_METHODS:
        return Method(np.ufunc.at, value) if name == "at" else getattr(value, name)
    if name == "__call__" and isinstance(value, np.ufunc | types.FunctionType):
        return value
    if is_library(value):
        return _of_library(lowering, value, name)
    if isinstance(value, np.dtype) or is_method_of_optional(value, name):
        return getattr(value, name)
    plain = isinstance(value, str | bytes | frozenset | int | float | complex)
    of_c = types.BuiltinMethodType | types.MethodWrapperType
    if plain and isinstance(getattr(value, name), of_c):
        return Method(getattr(type(value), name), value)
    return _of_known(lowering, value, name)


def _of_known(lowering: Lowering, value: Any, name: str) -> Any:
    """An attribute of a number, of a function, or of an array made of nothing but constants."""
    if type(value) in values.PYTHON_NUMBERS and name in ("imag", "real"):
        return getattr(value, name)
    if isinstance(value, np.ndarray) and name in ("dtype", "ndim", "shape", "size"):
        found = getattr(value, name)
        return sequence(tuple, list(found)) if name == "shape" else found
    if isinstance(value, types.FunctionType) and hasattr(value, name):
        place = lowering.captures.of_function(value, name, f"{value.__name__}.{name}")
        return lowering.captures.of(getattr(value, name), place)
    if type(value) in values.PYTHON_NUMBERS and not hasattr(value, name):
        raise no_attribute(lowering, type(value), name)
    raise _refused(f"the attribute {name!r} of {with_article(class_name(value))}")


def no_attribute(lowering: Lowering, kind: type, name: str, holder: Any = None) -> Exception:
    """What to raise where an object of a class has no such attribute."""
    text = f"{name_of(kind)!r} object has no attribute {name!r}"
    error = AttributeError(text, name=name, obj=kind if holder is None else holder)
    return lowering.python_raises(error)


def _refused(what: str, help: str = "") -> UnsupportedError:
    return UnsupportedError("S2S204", f"{what} is not supported", help=help)


# ---- arrays --------------------------------------------------------------------------------------


def _of_array(lowering: Lowering, x: Symbol, name: str) -> Any:
    """What an array knows of itself is read through NumPy's functions."""
    if isinstance(x.fact, values.Scalar) and name not in OF_NUMBERS:
        return _of_number(lowering, x, x.fact.kind, name)
    if values.is_tensor(x.fact):
        found = _of_tensor(lowering, x, name)
        if found is not None:
            return found
    if name in PROPERTIES:
        return PROPERTIES[name](lowering, x)
    if name in COPIES:
        return Method(COPIES[name], x)
    if name in CHANGES or name in OWN:
        return Method(getattr(np.ndarray, name), x)
    function = METHODS.get(name) or same_as_function(name) or _of_syntax(name)
    if function is not None:
        return Method(function, x)
    if name == "__class__":
        return HANDLERS[type](lowering, [x], {})
    if name in IN_PLACE_METHODS:
        raise SharedMemoryError(
            "S2S207", f"the method {name!r} changes the array in place", help=IN_PLACE_METHODS[name]
        )
    return _not_of_arrays(lowering, x, name)


def _of_number(lowering: Lowering, x: Symbol, kind: type, name: str) -> Any:
    held = getattr(kind, name, None)
    if held in HANDLERS:
        return Method(held, x)
    if held is not None:
        raise _refused(f"{name!r} of a number of type {kind.__name__}")
    raise no_attribute(lowering, kind, name)


def _of_syntax(name: str) -> Any:
    """A method of arrays that Python's syntax calls, `__len__` or `__add__`."""
    method = getattr(np.ndarray, name, None)
    return method if isinstance(method, types.WrapperDescriptorType) else None


def _not_of_arrays(lowering: Lowering, x: Symbol, name: str) -> Any:
    """A method that NumPy's numbers have and arrays lack; what to raise for any other attribute."""
    if x.shape == () and getattr(float, name, None) in HANDLERS:
        return _of_number(lowering, x, float, name)
    raise _unknown_of_arrays(lowering, x, name)


def _unknown_of_arrays(lowering: Lowering, x: Symbol, name: str) -> Exception:
    """What to raise for an attribute that arrays do not have, or that is not supported."""
    unknown = isinstance(x.fact, values.Unknown)
    if not unknown and not any(hasattr(each, name) for each in (np.ndarray, np.float64)):
        error = AttributeError(f"'numpy.ndarray' object has no attribute {name!r}")
        raises = lowering.python_raises(error)
        if raises is not error:
            return raises
    if name in REFUSED_ATTRIBUTES:
        why, help = REFUSED_ATTRIBUTES[name]
        what = f"{name!r} of an array: {why}" if why is LAYOUT else f"{name!r} of an array"
        return UnsupportedError("S2S204", what, why="" if why is LAYOUT else why, help=help)
    return _refused(
        f"the attribute or method {name!r} of an array",
        "give example arguments, so that its type is known"
        if unknown
        else "an array has a fixed length: collect items in a list, and make one of it"
        if hasattr(list, name)
        else _as_a_function(name)
        or did_you_mean(name, dir(np.ndarray))
        or "use the NumPy function that does the same",
    )


def _as_a_function(name: str) -> str:
    """The help where what is written as a method is a function of Python's or NumPy's."""
    if callable(getattr(builtins, name, None)):
        return f"call the function: {name}(x)"
    return f"call the function: np.{name}(x)" if callable(getattr(np, name, None)) else ""


def _of_tensor(lowering: Lowering, x: Symbol, name: str) -> Any:
    """What Tensors have and arrays have not, or have otherwise; None where there is no such."""
    if name in OF_TENSORS:
        return OF_TENSORS[name](lowering, x)
    method = method_of(Tensor, name)
    if isinstance(method, property):
        return _entered(lowering, method.fget, x)
    own = isinstance(method, types.FunctionType) and name not in EAGER
    return Method(method, x) if own else None


def same_as_function(name: str) -> Any:
    function = getattr(np, name) if name in SAME_AS_FUNCTION else None
    return function if rule_for(function) is not None else None


def _matrix_transpose(lowering: Lowering, x: Symbol) -> Any:
    return lowering.call(np.swapaxes, x, -1, -2)


def shape_of(lowering: Lowering, x: Symbol) -> Any:
    """`x.shape`: lengths that are not known are numbers of the run time."""
    if x.shape is None:
        return lowering.call(np.shape, x)
    sizes = [d if isinstance(d, int) else np.size(x, axis) for axis, d in enumerate(x.shape)]
    return sequence(tuple, sizes)


def _dtype(lowering: Lowering, x: Symbol) -> Any:
    if x.dtype is None:
        error = _refused("the dtype of this value", "give example arguments, so that it is known")
        raise error if x.shape is None else NeedKind(x.name, "the dtype", error)
    return x.dtype


def _real(lowering: Lowering, x: Symbol) -> Any:
    return x if values.is_real(x.fact) else lowering.call(np.real, x)


#: of objects of the user's, what gives all attributes: name -> (lowering, object) -> value
NAMESPACES: dict[str, Any] = {}

#: of Tensors alone, or other than those of arrays: name -> (lowering, x) -> value
OF_TENSORS: dict[str, Any] = {}

#: of arrays, what an assignment to the attribute does: name -> (lowering, x, value)
SETTERS: dict[str, Any] = {}

PROPERTIES = {
    "T": lambda lowering, x: lowering.call(np.transpose, x),
    "dtype": _dtype,
    "imag": lambda lowering, x: lowering.call(np.imag, x),
    "mT": _matrix_transpose,
    "ndim": lambda lowering, x: np.ndim(x),
    "real": _real,
    "shape": shape_of,
    "size": lambda lowering, x: np.size(x),
}


# ---- containers and objects ----------------------------------------------------------------------


def _of_pythons_own(lowering: Lowering, value: Tree, name: str) -> Method:
    """A method of a tuple, list, dict, set or iterator."""
    kind = types.GeneratorType if is_iterator(value) else value.kind
    if kind is list and name in OF_DEQUES:
        return Method(getattr(deque, name), value)
    if kind is dict and name in OF_ORDERED:
        return Method(getattr(OrderedDict, name), value)
    if name not in dir(kind):
        raise no_attribute(lowering, kind, name, value)
    return Method(getattr(kind, name), value)


def _of_container(lowering: Lowering, value: Tree, name: str) -> Any:
    """A field, a property or a method of a dataclass or namedtuple; methods of a dict."""
    kind = value.kind
    if is_word(value) and isinstance(getattr(str, name, None), types.MethodDescriptorType):
        return Method(getattr(str, name), value)
    if kind in CONTAINERS or is_iterator(value):
        return _of_pythons_own(lowering, value, name)
    if name == "__class__":
        return getattr(kind, "__s2s_stands_for__", kind)
    if name in NAMESPACES:
        return NAMESPACES[name](lowering, value)
    of_class = method_of(kind, name)
    first = isinstance(of_class, property) or is_written(type(of_class), "__set__")
    own = MISSING if first else held(lowering, value, name)
    if may_lack(own) and of_class is None and is_written(kind, "__getattr__"):
        raise asks_itself(kind, name)
    if may_lack(own) and of_class is not None:  # what the class has shows where it is missing
        sides = lambda: _of_class(lowering, kind, value, name), lambda: own.items[1]
        return HANDLERS[CHOICE](lowering, [own.items[0], *sides], {})
    if own is not MISSING:
        error = AttributeError(f"{name_of(kind)!r} object has no attribute {name!r}")
        found = read_entry(lowering, value, name, error)
        return Method(found.function, value) if isinstance(found, OwnMethod) else found
    if is_namedtuple(kind) and name == "_replace":
        return Method(dataclasses.replace, value)
    if of_class is None and is_written(kind, "__getattr__"):
        method = _of_class(lowering, kind, value, "__getattr__")
        return _entered(lowering, method.function, value, name)
    return _of_class(lowering, kind, value, name)


def asks_itself(kind: type, name: str) -> UnsupportedError:
    """Whether there is an attribute is not known, and the class has a `__getattr__`."""
    return UnsupportedError(
        "S2S201",
        f"whether an object of class {kind.__name__} has {name!r}",
        why="its __getattr__ says so when the code runs",
        help="set the attribute in __init__",
    )


def _of_object(lowering: Lowering, value: Captured, name: str) -> Any:
    """An attribute of a module or of an object of the user's."""
    holder = value.value
    if isinstance(holder, types.ModuleType):
        if not hasattr(holder, name):
            raise _no_such_name(holder, name)
        if is_library(holder):
            return plain_dtype(_of_library(lowering, holder, name))
        return lowering.captures.attribute(value, name)
    if is_method_of_optional(holder, name):
        return getattr(holder, name)
    if is_constant(holder) and isinstance(getattr(type(holder), name, None), METHODS_OF_C):
        return Method(getattr(type(holder), name), value)
    if name in NAMESPACES and hasattr(holder, name):
        return NAMESPACES[name](lowering, value)
    found = method_of(type(holder), name)
    own = name in getattr(holder, "__dict__", {})
    of_base = None if own else _of_base(lowering, value, name, found)
    if of_base is not None:
        return of_base
    plain = isinstance(found, METHOD_KINDS) and not own
    if isinstance(found, property) or (plain and rule_for(getattr(holder, name)) is None):
        _note_class(lowering, holder, name, hides=plain)
        return _of_class(lowering, type(holder), value, name)
    if not hasattr(holder, name):
        raise no_attribute(lowering, type(holder), name)
    return lowering.captures.attribute(value, name)


def _of_base(lowering: Lowering, value: Captured, name: str, found: Any) -> Method | None:
    """A method that a captured object has of dict, list or tuple, with what it holds."""
    entries = lowering.captures.entries(value) if isinstance(found, METHODS_OF_C) else None
    known = entries is not None and hasattr(entries.kind, name)
    return Method(getattr(entries.kind, name), entries) if known else None


def _no_such_name(module: types.ModuleType, name: str) -> UnsupportedError:
    what = f"module {module.__name__!r} has no attribute {name!r}"
    return UnsupportedError("S2S202", what, help=did_you_mean(name, dir(module)))


def _of_library(lowering: Lowering, module: types.ModuleType, name: str) -> Any:
    """A function or constant of a library, which the user's code finds where it stands."""
    if not hasattr(module, name):
        raise _no_such_name(module, name)
    if not lowering.in_own():
        return lowering.captures.of_library(module, name)
    return getattr(module, name)


def is_method_of_optional(holder: Any, name: str) -> bool:
    """Whether it is a method of an object that an optional library has, as scipy.stats.norm.pdf."""
    method = getattr(holder, name, None) if module_of(holder) is not None else None
    return callable(method) and home_of(method) is not None


METHODS_OF_C = types.MethodDescriptorType
DECORATED_METHODS = staticmethod | classmethod | functools.singledispatchmethod
METHOD_KINDS = types.FunctionType | DECORATED_METHODS | functools.cached_property | CACHED


def _of_decorated(kind: type, holder: Any, found: Any) -> Any:
    """What a method gives that stands in its class under a decorator of Python's."""
    if isinstance(found, staticmethod):
        return found.__func__
    if isinstance(found, classmethod):
        return Method(found.__func__, kind)
    return Method(Dispatching(found.dispatcher), holder)


def _of_class(
    lowering: Lowering, kind: type, holder: Any, name: str, below: type | None = None
) -> Any:
    """What a class gives for `holder.name`; the holder may be the class itself.

    With `below` only the classes after it in the order of resolution count, as super() has it.
    """
    base, found = _standing(kind, holder, name, below)
    _guard(lowering, base, name, found, kind if below is None else base)
    if isinstance(found, property | functools.cached_property) and holder is not kind:
        function = found.fget if isinstance(found, property) else found.func
        result = _entered(lowering, function, holder)
        if isinstance(found, functools.cached_property) and isinstance(holder, Box):
            with lowering.memory.keeping():
                put_entry(lowering, holder, name, result)
        return result
    of_object = isinstance(found, types.WrapperDescriptorType) and found in HANDLERS
    if isinstance(found, types.FunctionType) or of_object:
        return found if holder is kind else Method(found, holder)
    if base is np.ndarray and is_array_object(holder):
        is_method = isinstance(found, OF_C)
        given = [holder, name]
        return (
            Method(found, holder) if is_method else HANDLERS[ARRAY_ATTRIBUTE](lowering, given, {})
        )
    if isinstance(found, CACHED):
        place = Place(
            f"{base.__name__}.{name}", lambda: vars(base)[name], (id(base), "cache", name)
        )
        found = lowering.captures.of(found, place)
        return found if holder is kind else Method(found, holder)
    if isinstance(found, DECORATED_METHODS):
        return _of_decorated(kind, holder, found)
    if base is not None and holder is not kind and is_written(type(found), "__get__"):
        return of_descriptor(lowering, base, name, "__get__", [holder, kind])
    if base is None and below is not None:
        raise AttributeError(f"'super' object has no attribute {name!r}")
    return _class_attribute(lowering, kind if base is None else base, holder, name)


def _standing(kind: type, holder: Any, name: str, below: type | None) -> tuple[type | None, Any]:
    """The class in which an attribute stands, and what that is."""
    order = kind.__mro__ if below is None else kind.__mro__[kind.__mro__.index(below) + 1 :]
    base = next((each for each in order if name in vars(each)), None)
    found = None if base is None else vars(base)[name]
    if isinstance(found, OF_C) and base is not object and holder is not kind:
        found = written_methods(kind).get(name, found)
    return base, found


def of_descriptor(lowering: Lowering, base: type, name: str, method: str, given: list[Any]) -> Any:
    """What `__get__` or `__set__` of a descriptor of the user's does."""
    space = vars(base)
    place = Place(f"{base.__name__}.{name}", lambda: space[name], (id(base), "descriptor", name))
    function = getattr(type(space[name]), method)
    return _entered(lowering, function, lowering.captures.of(space[name], place), *given)


def _entered(lowering: Lowering, function: types.FunctionType, *given: Any) -> Any:
    """What a function gives that Python calls for an attribute."""
    names = function.__code__.co_varnames[: function.__code__.co_argcount]
    return lowering.enter(function, dict(zip(names, given, strict=False)))


def _class_attribute(lowering: Lowering, kind: type, holder: Any, name: str) -> Any:
    """What stands in the class, for the class and its objects alike."""
    try:
        found = getattr(kind, name)
    except AttributeError as error:
        if not isinstance(holder, type):
            raise no_attribute(lowering, kind, name, holder) from None
        raise lowering.python_raises(error) from None
    if kind.__module__ in ("builtins", "numpy"):
        return found
    if is_local(kind):
        return from_object(found, lambda leaf, _: leaf) if isinstance(found, tuple) else found
    if isinstance(found, types.MemberDescriptorType):  # of __slots__, and not set yet
        raise no_attribute(lowering, kind, name)
    if not isinstance(found, PLAIN) and isinstance(found, types.MethodWrapperType):
        raise _refused(f"the attribute {name!r} of class {kind.__name__}")
    text, key = f"{kind.__name__}.{name}", (id(kind), "attribute", name)
    return lowering.captures.of(found, Place(text, lambda: getattr(kind, name), key))


def _guard(lowering: Lowering, base: type, name: str, found: Any, kind: type) -> None:
    """The code is that of this method: note where it stands, for it may be replaced or hidden."""
    if not isinstance(found, property | METHOD_KINDS) or _is_own(base):
        return  # the library's own classes stay as they are
    if is_made(base):  # as long as nothing hides what the user's class derives from
        kind, text = base.__s2s_stands_for__, f"{base.__name__}.{name}"
        place = Place(text, lambda: getattr(kind, name, None), (id(kind), "method", name))
        lowering.captures.fixes(getattr(kind, name, None), place)
        return
    space, text = vars(base), f"{base.__name__}.{name}"
    place = Place(text, lambda: space[name], (id(base), "method", name), (space, name))
    if getattr(kind, name) is found:  # what classes before the base may get counts, too
        key = (id(kind), "method", name)
        place = Place(text, lambda: getattr(kind, name), key, (kind, name))
    lowering.captures.fixes(found, place)


def _note_class(lowering: Lowering, holder: Any, name: str, *, hides: bool) -> None:
    """Note that the class of an object gives this, and not the object, where it would be first."""
    kind = type(holder)
    if _is_own(kind):
        return
    lowering.captures.fixes(
        kind, Place.of_attribute(holder, "__class__", f"{kind.__name__} object")
    )
    if hides and hasattr(holder, "__dict__"):
        is_there = functools.partial(vars(holder).__contains__, name)
        place = Place(f"{kind.__name__}.{name}", is_there, (id(holder), "hides", name))
        lowering.captures.fixes(False, place)


def _is_own(kind: type) -> bool:
    return kind.__module__.partition(".")[0] == "s2s_ad" or is_local(kind)
