"""Classes that derive from ndarray: their objects hold an array, which NumPy's functions are given.

Of which class the result is NumPy says itself (`asked_of_numpy`); an object of that class is made
of it, and `__array_finalize__` and `__array_wrap__` of the user's run where NumPy would call them.
"""

from __future__ import annotations

import inspect
import operator
import types
from collections.abc import Callable
from typing import Any

import numpy as np

from s2s_ad.core import sizes, values
from s2s_ad.core.builder import Symbol
from s2s_ad.core.tree import Tree
from s2s_ad.diagnostics import UnsupportedError
from s2s_ad.frontend.lower.asked_of_numpy import (
    FUNCTION,
    UFUNC,
    WRAP,
    Asked,
    Noting,
    Said,
    answer,
    example_of,
    in_python,
    noting_class,
)
from s2s_ad.frontend.lower.attributes import read_attribute
from s2s_ad.frontend.lower.calls import HANDLERS, apply
from s2s_ad.frontend.lower.containers import sequence
from s2s_ad.frontend.lower.core import Lowering
from s2s_ad.frontend.lower.derived import (
    ARRAY_ATTRIBUTE,
    ARRAY_CALL,
    ARRAY_VIEW,
    HELD,
    SET_ARRAY_ATTRIBUTE,
    is_array_object,
    with_written_methods,
)
from s2s_ad.frontend.lower.entries import held, put_entry
from s2s_ad.frontend.lower.kinds import is_number, name_of
from s2s_ad.frontend.lower.objects import refuse_special, set_attribute
from s2s_ad.frontend.lower.references import Box, settled
from s2s_ad.frontend.lower.subscripts import read_item, write_item
from s2s_ad.frontend.resolve import unwrap

PLAIN = "take the plain array, np.asarray(x), and make an object of the result where one is needed"


def users_class(value: Box) -> type:
    """The class of an object as the user has written it."""
    return value.kind.__s2s_stands_for__


def array_in(lowering: Lowering, value: Box) -> Any:
    """The array that an object holds."""
    return held(lowering, value, HELD)


def new_object(lowering: Lowering, kind: type, array: Any, made_of: Any) -> Box:
    """An object of a class that derives from ndarray, as NumPy makes it of an array."""
    refuse_special(lowering, kind)
    made = lowering.memory.box(Tree(with_written_methods(kind), (), ()))
    put_entry(lowering, made, HELD, array)
    if in_python(kind, "__array_finalize__"):
        apply(lowering, read_attribute(lowering, made, "__array_finalize__"), [made_of], {})
    return made


def _allocated(lowering: Lowering, args: list, kwargs: dict[str, Any]) -> Any:
    """`super().__new__(cls, shape, dtype)`: an object whose array is to be filled."""
    kind, *given = args
    array = apply(lowering, np.ndarray, given, kwargs)
    kind = unwrap(kind)
    return array if kind is np.ndarray else new_object(lowering, kind, array, None)


# ---- calls ---------------------------------------------------------------------------------------


def _call(lowering: Lowering, function: Any, args: list, kwargs: dict[str, Any]) -> Any:
    """A call of one of NumPy's functions, or of a method of ndarray, with such objects."""
    said = _overridden(lowering, function, args, kwargs)
    return _unless_overridden(lowering, function, args, kwargs) if said is None else said


def _unless_overridden(lowering: Lowering, function: Any, args: list, kwargs: dict) -> Any:
    """What NumPy itself does with the objects."""
    function, (first, *_) = unwrap(function), (*args, *kwargs.values())
    of_view = function is np.ndarray.view and isinstance(unwrap((*args, None, None)[1]), type)
    if of_view and issubclass(unwrap(args[1]), np.ndarray):
        return _viewed(lowering, array_in(lowering, first), unwrap(args[1]), first)
    out = kwargs.get("out")
    if is_array_object(out) and is_number(array_in(lowering, out)):
        return _put_number(lowering, function, args, kwargs, out)
    plain = [_plain(lowering, each) for each in args]
    named = {key: _plain(lowering, each) for key, each in kwargs.items()}
    try:
        result = _applied(lowering, function, plain, named)
        found = _asked(lowering, function, args, kwargs)
        return _of_class(lowering, function, args, result, found)
    except Asked as error:
        steps = STEPS.get(function)
        if steps is not None:
            return apply(lowering, steps, args, kwargs)
        raise _refused(function, users_class(_first(args, kwargs)), error.why) from None


def _put_number(lowering: Lowering, function: Any, args: list, kwargs: dict, out: Box) -> Box:
    """A result that is put into an object without axes: what it holds is a number here."""
    if out.refusal:
        raise UnsupportedError(
            "S2S207",
            f"an object of class {name_of(users_class(out))} without axes is changed in place",
            why="another array may show the same number",
            help="say x = x + y",
        )
    named = {key: each for key, each in kwargs.items() if key != "out"}
    result = _plain(lowering, apply(lowering, function, args, named))
    if result.dtype != array_in(lowering, out).dtype or result.shape != ():
        raise lowering.python_raises(TypeError("the result does not fit the array it is put into"))
    put_entry(lowering, out, HELD, result)
    return out


def _applied(lowering: Lowering, function: Any, args: list, kwargs: dict[str, Any]) -> Any:
    """The call with the arrays."""
    if not _is_method(function):
        return apply(lowering, function, args, kwargs)
    if function in OF_SYNTAX:
        return OF_SYNTAX[function](lowering, *args)
    method = read_attribute(lowering, args[0], function.__name__)
    return apply(lowering, method, args[1:], kwargs)


#: methods that no attribute of an array gives, for code says them by syntax
OF_SYNTAX = {np.ndarray.__getitem__: read_item}


def _is_method(function: Any) -> bool:
    kinds = types.MethodDescriptorType | types.WrapperDescriptorType
    return isinstance(function, kinds) and function.__objclass__ is np.ndarray


def _plain(lowering: Lowering, value: Any) -> Any:
    """A value with arrays in the place of the objects."""
    if is_array_object(value):
        return array_in(lowering, value)
    if isinstance(value, Tree) and value.kind in (tuple, list) and _objects_in(value):
        return sequence(value.kind, [_plain(lowering, each) for each in value.items])
    return value


def _objects_in(value: Any) -> list[Box]:
    """The objects in an argument, from left to right."""
    if is_array_object(value):
        return [value]
    if not isinstance(value, Tree) or value.kind not in (tuple, list):
        return []
    if isinstance(value, Box) and value.is_dynamic:
        return []
    return [found for each in value.items for found in _objects_in(each)]


def _overridden(lowering: Lowering, function: Any, args: list, kwargs: dict) -> Any:
    """What `__array_ufunc__` or `__array_function__` of the user's class gives; None where there
    is none."""
    known = unwrap(function)
    ufunc, method = known, "__call__"
    if isinstance(getattr(known, "__self__", None), np.ufunc):
        ufunc, method = known.__self__, known.__name__
    of_ufunc = isinstance(ufunc, np.ufunc)
    if not of_ufunc and not hasattr(known, "_implementation"):
        return None
    name = UFUNC if of_ufunc else FUNCTION
    objects = [each for value in (*args, *kwargs.values()) for each in _objects_in(value)]
    for each in _in_turn([each for each in objects if in_python(users_class(each), name)]):
        said = read_attribute(lowering, each, name)
        if of_ufunc:
            out = {"out": sequence(tuple, [kwargs["out"]])} if "out" in kwargs else {}
            result = apply(lowering, said, [ufunc, method, *args], kwargs | out)
        else:
            kinds = sequence(tuple, [*dict.fromkeys(map(users_class, objects))])
            named = Tree(dict, tuple(kwargs), tuple(kwargs.values()))
            result = apply(lowering, said, [known, kinds, sequence(tuple, args), named], {})
        if unwrap(result) is not NotImplemented:
            return result
    return None


def _in_turn(objects: list[Box]) -> list[Box]:
    """The order in which NumPy asks objects: from left to right, subclasses before their bases."""
    found: list[Box] = []
    for each in objects:
        kind = users_class(each)
        if kind in map(users_class, found):
            continue
        before = (i for i, one in enumerate(found) if issubclass(kind, users_class(one)))
        found.insert(next(before, len(found)), each)
    return found


def without_overrides(lowering: Lowering, args: list, kwargs: dict[str, Any]) -> Any:
    """`super().__array_ufunc__(ufunc, method, *inputs)`, which asks no class."""
    _, ufunc, method, *inputs = args
    given = [*inputs, *kwargs.values()]
    objects = [found for each in given for found in _objects_in(each)]
    if any(in_python(users_class(each), UFUNC) for each in objects):
        return NotImplemented
    out = unwrap(kwargs.get("out"))
    if isinstance(out, Tree) and len(out.items) == 1:
        kwargs = kwargs | {"out": out.items[0]}
    ufunc, method = unwrap(ufunc), unwrap(method)
    function = ufunc if method == "__call__" else read_attribute(lowering, ufunc, method)
    return apply(lowering, function, inputs, kwargs)


def implementation(lowering: Lowering, args: list, kwargs: dict[str, Any]) -> Any:
    """`super().__array_function__(function, types, args, kwargs)`, which asks no class."""
    function, given, named = args
    entries = dict(zip(named.keys, named.items, strict=True))
    if any(_objects_in(each) for each in (*given.items, *entries.values())):
        return _unless_overridden(lowering, function, [*given.items], entries)
    return apply(lowering, function, [*given.items], entries)


# ---- results -------------------------------------------------------------------------------------


def _asked(lowering: Lowering, function: Any, args: list, kwargs: dict[str, Any]) -> Any:
    """What NumPy gives for examples of the arguments."""
    examples = _Examples(lowering)
    calls = examples.calls
    given = [examples.of(each) for each in args]
    named = {key: examples.of(each) for key, each in kwargs.items()}
    run = getattr(function, "_implementation", function)
    try:
        found = answer(run if callable(run) else operator.getitem, given, named)
    except Asked:
        raise
    except Exception as error:  # whatever NumPy says: no class is known without it
        raise Asked("", f"NumPy was asked with an example, and said: {error}") from None
    for each in examples.made:
        is_array = isinstance(found, np.ndarray) and not isinstance(found, Said)
        if is_array and not found.shape and found is not each and np.may_share_memory(found, each):
            each.stands_for.refusal = "another array may show the same number"
    if calls and (len(calls) > 1 or found is not calls[0]):
        raise Asked(calls[0].call[0])
    return found


def _first(args: list, kwargs: dict[str, Any]) -> Box:
    return next(found for each in (*args, *kwargs.values()) for found in _objects_in(each))


def _refused(function: Any, kind: type, why: str) -> UnsupportedError:
    what = f"{_called(function)} of an object of class {name_of(kind)}"
    return UnsupportedError("S2S201", what, why=why, help=PLAIN)


def _called(function: Any) -> str:
    owner = "np" if not _is_method(function) else "the method"
    name = getattr(function, "__name__", str(function))
    return f"{owner} {name}" if _is_method(function) else f"{owner}.{name}"


class _Examples:
    """Arguments as they may look to NumPy."""

    def __init__(self, lowering: Lowering):
        self.lowering = lowering
        self.kinds: dict[type, type[Noting]] = {}
        self.calls: list[Said] = []
        self.made: list[Noting] = []

    def of(self, value: Any) -> Any:
        if is_array_object(value):
            return self._object(value)
        if isinstance(value, Symbol):
            return self._value(value)
        if isinstance(value, slice):
            return slice(*map(self.of, (value.start, value.stop, value.step)))
        if isinstance(value, Tree) and value.kind in (tuple, list):
            return value.kind(map(self.of, value.items))
        return unwrap(value)

    def _object(self, value: Box) -> Noting:
        kind = users_class(value)
        noting = self.kinds.setdefault(kind, noting_class(kind, self.calls))
        made = np.asarray(self._value(array_in(self.lowering, value))).view(noting)
        made.stands_for, made.made_of = value, None
        self.made.append(made)
        return made

    def _value(self, value: Any) -> Any:
        fact = settled(value).fact if isinstance(value, Symbol) else value
        if isinstance(fact, values.Scalar):
            known = None if fact.size is None else sizes.number_of(fact.size)
            return fact.kind(fact.kind is not int) if known is None else known
        if isinstance(fact, values.Array) and fact.dtype is not None and fact.shape is not None:
            return example_of(fact.dtype, tuple(map(_length, fact.shape)))[()]
        if not isinstance(value, Symbol):
            return value
        raise UnsupportedError(
            "S2S201",
            "an object of a class that derives from ndarray, beside a value of unknown type",
            help="give example arguments, so that its type is known",
        )


#: a length of which nothing is known, in examples
ANY_LENGTH = 3


def _length(dim: Any) -> int:
    number = sizes.number_of(values.size_of_dim(dim))
    return ANY_LENGTH if number is None else number


def _of_class(lowering: Lowering, function: Any, args: list, result: Any, found: Any) -> Any:
    """A result, as an object of the class that NumPy gives it."""
    if isinstance(found, tuple | list) and isinstance(result, Tree):
        pairs = zip(result.items, found, strict=True)
        items = [_of_class(lowering, function, args, *each) for each in pairs]
        return Tree(result.kind, result.keys, tuple(items))
    if isinstance(found, Said):
        return _of_method(lowering, found, args, result)
    if not isinstance(found, Noting):
        return result
    if found.stands_for is not None:
        return found.stands_for
    links = [found.made_of]
    while isinstance(links[-1], Noting) and links[-1].stands_for is None:
        links.append(links[-1].made_of)
    *between, first = links
    origin = first.stands_for if isinstance(first, Noting) else result
    kind = type(found).users
    if in_python(kind, "__array_finalize__") and any(e.shape != found.shape for e in between):
        why = "its __array_finalize__ would see arrays on the way that have another shape"
        raise Asked("", why)
    for _ in between:
        origin = new_object(lowering, kind, result, origin)
    return new_object(lowering, kind, result, origin)


def _of_method(lowering: Lowering, found: Said, args: list, result: Any) -> Any:
    """What a method of the user's class gives that NumPy calls last: with the result that NumPy
    has, or with what NumPy itself was given."""
    name, whose, given, named = found.call
    value = _thing(whose)
    said = read_attribute(lowering, value, name)
    if name != WRAP:
        keywords = {key: _thing(each) for key, each in named.items()}
        return apply(lowering, said, [*map(_thing, given)], keywords)
    _, context, *more = given
    if context is not None:
        context = sequence(tuple, [context[0], sequence(tuple, args), context[2]])
    takes = inspect.signature(users_class(value).__array_wrap__).parameters.values()
    several = any(each.kind is each.VAR_POSITIONAL for each in takes)
    all_of_it = [result, context, *more]
    return apply(lowering, said, all_of_it if several else all_of_it[: len(takes) - 1], {})


def _thing(value: Any) -> Any:
    """What an argument stands for that NumPy gives to a method."""
    if isinstance(value, Noting) and value.stands_for is not None:
        return value.stands_for
    if isinstance(value, np.ndarray):
        raise Asked(UFUNC)
    return sequence(tuple, [*map(_thing, value)]) if isinstance(value, tuple) else value


# ---- methods and attributes ----------------------------------------------------------------------


def method_of_arrays(lowering: Lowering, args: list, kwargs: dict[str, Any]) -> Any:
    """A method of ndarray itself, of an object whose class may say it otherwise."""
    name, first, *given = args
    if name in STORES_AND_SUCH:
        return STORES_AND_SUCH[name](lowering, first, *given)
    return _unless_overridden(lowering, getattr(np.ndarray, name), [first, *given], kwargs)


def _iterator(lowering: Lowering, first: Box) -> Any:
    return HANDLERS[iter](lowering, [_rows(lowering, first)], {})


def _store(lowering: Lowering, first: Box, index: Any, item: Any) -> None:
    where, what = (_plain(lowering, each) for each in (index, item))
    write_item(lowering, array_in(lowering, first), where, what)


def _wrap(lowering: Lowering, first: Box, array: Any, context: Any, return_scalar: Any) -> Any:
    """What ndarray says in `__array_wrap__`: an object of the class, whatever its shape."""
    if is_array_object(array):
        return array
    return new_object(lowering, users_class(first), array, first)


#: by method: what gives no result of which NumPy could say of which class it is
STORES_AND_SUCH = {"__iter__": _iterator, "__setitem__": _store, "__array_wrap__": _wrap}


def _rows(lowering: Lowering, value: Box) -> Any:
    """What a loop over an object goes through: its items, as indices give them."""
    array = array_in(lowering, value)
    own = in_python(users_class(value), "__getitem__")
    shape = array.shape
    if shape is not None and len(shape) == 1 and not own:
        return array
    if not shape or not isinstance(shape[0], int):
        raise UnsupportedError(
            "S2S201",
            f"a loop over the rows of an object of class {name_of(users_class(value))}",
            help="loop over the plain array: for row in np.asarray(x)",
        )
    return sequence(list, [read_item(lowering, value, index) for index in range(shape[0])])


def _viewed(lowering: Lowering, array: Any, kind: type, made_of: Any) -> Any:
    """`x.view(Vector)`: the same memory as another class."""
    seen = read_item(lowering, array, Ellipsis) if array.shape else array
    return seen if kind is np.ndarray else new_object(lowering, kind, seen, made_of)


def _attribute(lowering: Lowering, value: Box, name: str) -> Any:
    """`v.T`, `v.shape`: what ndarray says of an object."""
    array = array_in(lowering, value)
    result = read_attribute(lowering, array, name)
    example = _Examples(lowering).of(value)
    found = getattr(np.ndarray, name).__get__(example)
    return _of_class(lowering, getattr(np.ndarray, name), [value], result, found)


def _set_attribute(lowering: Lowering, value: Box, name: str, item: Any) -> None:
    """`v.shape = shape`, `v.real = x`"""
    set_attribute(lowering, array_in(lowering, value), name, _plain(lowering, item))


#: by a function that computes with what the user's methods give: its steps, each a call of NumPy's
STEPS: dict[Any, Callable] = {}

HANDLERS[np.ndarray.__new__] = _allocated
HANDLERS[ARRAY_CALL] = lambda lowering, given, kwargs: _call(lowering, *given)
HANDLERS[ARRAY_ATTRIBUTE] = lambda lowering, given, kwargs: _attribute(lowering, *given)
HANDLERS[SET_ARRAY_ATTRIBUTE] = lambda lowering, given, kwargs: _set_attribute(lowering, *given)
HANDLERS[ARRAY_VIEW] = lambda lowering, given, kwargs: _viewed(lowering, *given)

#: the handlers of the functions so called that stand in `written/numpy_arrays`
MARKS = {each.__name__: each for each in (implementation, method_of_arrays, without_overrides)}
