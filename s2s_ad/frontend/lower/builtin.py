"""Python's own functions on numbers and containers, evaluated while lowering."""

from __future__ import annotations

import dataclasses
import functools
import logging
import operator
from collections import OrderedDict
from collections.abc import Callable
from typing import Any

import numpy as np

from s2s_ad import versions
from s2s_ad.core import values
from s2s_ad.core.builder import Symbol
from s2s_ad.core.tree import ITEMS_VIEW, KEYS_VIEW, VALUES_VIEW, Tree
from s2s_ad.diagnostics import UnsupportedError
from s2s_ad.frontend.lower import growing
from s2s_ad.frontend.lower.attributes import Super, asks_itself, read_attribute
from s2s_ad.frontend.lower.calls import HANDLERS, apply, known_object
from s2s_ad.frontend.lower.caught import Error, is_error
from s2s_ad.frontend.lower.classes import is_written, method_of
from s2s_ad.frontend.lower.conditions import choose, known_truth
from s2s_ad.frontend.lower.containers import (
    entries_given,
    known_items,
    known_key,
    new_dict,
    new_list,
    of_key,
    sequence,
)
from s2s_ad.frontend.lower.core import Lowering
from s2s_ad.frontend.lower.entries import entries_there, has_entry, may_lack_entries, may_lack_items
from s2s_ad.frontend.lower.entries_in_turn import in_turn
from s2s_ad.frontend.lower.functions import Closure
from s2s_ad.frontend.lower.heap import symbols
from s2s_ad.frontend.lower.iteration import Range, deferred, is_iterator
from s2s_ad.frontend.lower.kinds import class_name, is_number, with_article
from s2s_ad.frontend.lower.lengths import items_needed
from s2s_ad.frontend.lower.optional import is_optional
from s2s_ad.frontend.lower.references import Box, Poison, Reference
from s2s_ad.frontend.resolve import unwrap
from s2s_ad.tensors import Parameter, Tensor


def handles(*functions: Any) -> Callable:
    """Register the handler of some functions: handler(lowering, args, kwargs)."""
    return lambda handler: [HANDLERS.update({each: handler}) for each in functions] and handler


def evaluates(*functions: Any) -> Callable:
    """Register the handler of some functions: handler(lowering, *args, **kwargs)."""

    def register(handler: Callable) -> Callable:
        handler.__qualname__ = getattr(functions[0], "__name__", handler.__qualname__)
        handles(*functions)(lambda lowering, args, kwargs: handler(lowering, *args, **kwargs))
        return handler

    return register


def _refused(what: str, help: str) -> UnsupportedError:
    return UnsupportedError("S2S205", what, help=help)


def _items(lowering: Lowering, value: Any, what: str) -> list:
    found = known_items(lowering, value)
    if found is None:
        error = _refused(f"{what} of a value whose length is not known", "use NumPy's function")
        raise items_needed(value, error)
    return found


def _is_known(*operands: Any) -> bool:
    return not any(True for _ in symbols(operands))


# ---- numbers -------------------------------------------------------------------------------------


@evaluates(float)
def to_float(lowering: Lowering, value: Any = 0.0) -> Any:
    if not isinstance(value, Symbol):
        with lowering.as_python():
            return float(known_object(value))
    if value.shape not in ((), None):
        if any(map(values.known_not_one, value.shape)) or versions.numbers_have_no_axes():
            message = "only 0-dimensional arrays can be converted to Python scalars"
            raise lowering.python_raises(TypeError(message))
        raise _refused("float() of an array", "leave it out, or use .astype(float)")
    return lowering.call(float, value)


@evaluates(int)
def to_int(lowering: Lowering, value: Any = 0, *base: Any) -> Any:
    if not isinstance(value, Symbol):
        with lowering.as_python():
            return int(known_object(value), *base)
    if value.fact == values.Scalar(int):
        return value
    return lowering.call(int, value)


@evaluates(complex)
def to_complex(lowering: Lowering, *parts: Any) -> Any:
    if _is_known(*parts):
        return complex(*map(known_object, parts))
    if any(isinstance(each, Symbol) and each.shape not in ((), None) for each in parts):
        raise _refused("complex() of an array", "write a + 1j * b, or use .astype(complex)")
    return lowering.call(complex, *parts)


@evaluates(bool)
def to_bool(lowering: Lowering, value: Any = False) -> Any:
    truth = known_truth(value)
    if truth is not None:
        return truth
    if not isinstance(value, Symbol) or value.shape != ():
        raise _refused("bool() of a value", "compare it: x != 0")
    return lowering.call(bool, value)


@evaluates(ord)
def code_of(lowering: Lowering, character: Any) -> Any:
    return ord(known_object(character))


@evaluates(chr)
def character_of(lowering: Lowering, code: Any) -> Any:
    return chr(known_object(code))


@evaluates(sum)
def total(lowering: Lowering, items: Any, start: Any = 0) -> Any:
    return functools.reduce(
        lambda a, b: lowering.call(operator.add, a, b), _items(lowering, items, "sum()"), start
    )


def _extreme(function: Callable, numpy_name: str) -> Callable:
    def handler(lowering: Lowering, args: list, kwargs: dict[str, Any]) -> Any:
        items = args if len(args) > 1 else _items(lowering, args[0], f"{function.__name__}()")
        if kwargs or not _is_known(*items):
            raise _refused(f"{function.__name__}() of values", f"use np.{numpy_name}")
        return function(map(known_object, items))

    return handler


HANDLERS[max], HANDLERS[min] = _extreme(max, "maximum"), _extreme(min, "minimum")


@evaluates(round)
def rounded(lowering: Lowering, number: Any, ndigits: Any = None) -> Any:
    value, digits = number, ndigits
    if _is_known(value, digits):
        return round(known_object(value), digits)
    if not isinstance(value, Symbol) or value.shape != ():
        raise _refused("round() of anything but one number", "use np.round or np.rint")
    digits = unwrap(digits)
    return lowering.call(round, value, **({} if digits is None else {"ndigits": digits}))


@evaluates(divmod)
def quotient_and_rest(lowering: Lowering, a: Any, b: Any) -> Any:
    operators = (operator.floordiv, operator.mod)
    return sequence(tuple, [lowering.call(each, a, b) for each in operators])


@evaluates(pow)
def power(lowering: Lowering, base: Any, exp: Any, mod: Any = None) -> Any:
    if unwrap(mod) is not None:
        if not _is_known(base, exp, mod):
            raise _refused("pow() with a modulus of values", "write (base**exp) % mod")
        return pow(*map(known_object, (base, exp, mod)))
    return lowering.call(operator.pow, base, exp)


# ---- containers ----------------------------------------------------------------------------------


@evaluates(len)
def length(lowering: Lowering, value: Any) -> Any:
    if isinstance(value, Symbol):
        if value.shape == ():
            raise lowering.python_raises(TypeError("object of type 'float' has no len()"))
        return np.size(value, 0)
    if isinstance(value, Box) and value.is_dynamic:
        return growing.length(lowering, value)
    if may_lack_entries(value) or may_lack_items(value):
        return entries_there(lowering, value)
    if isinstance(value, Range):
        return HANDLERS[Range](lowering, [value], {})
    kind = value.kind if isinstance(value, Tree) else type(unwrap(value))
    own = is_written(kind, "__len__")  # how many items it gives in turn is no matter then
    found = None if own else known_items(lowering, value)
    return (
        apply(lowering, read_attribute(lowering, value, "__len__"), [], {})
        if (found is None)
        else len(found)
    )


@evaluates(tuple)
def make_tuple(lowering: Lowering, items: Any = ()) -> Any:
    return sequence(tuple, _items(lowering, items, "tuple()") if items != () else [])


@evaluates(list)
def make_list(lowering: Lowering, items: Any = ()) -> Any:
    return new_list(lowering, _items(lowering, items, "list()") if items != () else [])


@handles(dict, OrderedDict)  # every dict has an order now
def make_dict(lowering: Lowering, args: list, kwargs: dict[str, Any]) -> Any:
    entries: dict = {}
    for each in args:
        known = entries_given(lowering, each)
        if known is not None:
            entries.update(known)
            continue
        for pair in _items(lowering, each, "dict()"):
            key, value = _items(lowering, pair, "dict()")
            entries[known_key(lowering, key)] = value
    return new_dict(lowering, entries | kwargs)


@evaluates(dict.keys)
def dict_keys(lowering: Lowering, value: Tree) -> Any:
    if may_lack_entries(value):
        return in_turn(lowering, value, lambda key, _: of_key(key))
    return deferred(lambda i: of_key(value.keys[i]), lambda: len(value.keys), value, kind=KEYS_VIEW)


@evaluates(dict.values)
def dict_values(lowering: Lowering, value: Tree) -> Any:
    if may_lack_entries(value):
        return in_turn(lowering, value, lambda _, item: item)
    return deferred(lambda i: value.items[i], lambda: len(value.items), value, kind=VALUES_VIEW)


@evaluates(dict.items)
def dict_items(lowering: Lowering, value: Tree) -> Any:
    if may_lack_entries(value):
        return in_turn(lowering, value, lambda key, item: sequence(tuple, [of_key(key), item]))
    return deferred(
        lambda i: sequence(tuple, [of_key(value.keys[i]), value.items[i]]),
        lambda: len(value.keys),
        value,
        kind=ITEMS_VIEW,
    )


@evaluates(functools.reduce)
def reduced(lowering: Lowering, function: Any, items: Any, *start: Any) -> Any:
    def step(a: Any, b: Any) -> Any:
        return apply(lowering, function, [a, b], {})

    return functools.reduce(step, _items(lowering, items, "reduce()"), *start)


@evaluates(slice)
def make_slice(lowering: Lowering, *bounds: Any) -> Any:
    return slice(*bounds)


# ---- objects -------------------------------------------------------------------------------------


@evaluates(isinstance)
def is_instance(lowering: Lowering, value: Any, kinds: Any) -> Any:
    kinds = known_object(kinds)
    value = lowering.noted(lowering.assumptions.settled(value), value)
    if is_optional(value):
        return _is_instance_or_none(lowering, value, kinds)
    if is_iterator(value):
        raise _refused("isinstance() of an iterator", "leave the check out")
    if is_error(value):
        return HANDLERS[isinstance, Error](lowering, [value, kinds], {})
    if isinstance(value, Tree):
        return issubclass(getattr(value.kind, "__s2s_stands_for__", value.kind), kinds)
    if not isinstance(value, Symbol):
        return isinstance(unwrap(value), kinds)
    answers = {issubclass(each, kinds) for each in _kinds_of(value)}
    if len(answers) == 1:
        return answers.pop()
    raise _refused(
        "isinstance() of a value that is not known",
        "give example arguments, so that its type is known; or leave the check out",
    )


def _is_instance_or_none(lowering: Lowering, value: Tree, kinds: Any) -> Any:
    """isinstance() of what is None on some paths: where the answers differ it asks for that."""
    is_none, held = value.items
    of_none, of_held = isinstance(None, kinds), is_instance(lowering, held, kinds)
    if of_none is of_held:
        return of_held
    if not isinstance(of_held, bool):
        return choose(lowering, is_none, lambda: of_none, lambda: of_held)
    lowering.partial.update(each.name for each in symbols(held))
    return is_none if of_none else lowering.call(operator.not_, is_none)


@evaluates(callable)
def is_callable(lowering: Lowering, value: Any) -> Any:
    if isinstance(value, Tree):
        return method_of(value.kind, "__call__") is not None
    return isinstance(value, Closure) or callable(unwrap(value))


@evaluates(super)
def parent(lowering: Lowering, *args: Any) -> Any:
    """super(), which reads the class and the object from the method around it."""
    if args:
        below, holder = args
        return Super(known_object(below), holder)
    frame = lowering.frame
    first = [*frame.source.node.args.posonlyargs, *frame.source.node.args.args][0].id
    return Super(frame.cells["__class__"].cell_contents, frame.locals[first])


@evaluates(id)
def identity(lowering: Lowering, value: Any) -> Any:
    """id() A number that no other object has."""
    value = unwrap(value)
    if isinstance(value, Box | Reference):
        return value.born
    if isinstance(value, Symbol | Tree):
        raise _refused("id() of a value", "leave it out")
    return id(value)


@evaluates(locals)
def local_names(lowering: Lowering) -> Any:
    """locals() The names of the function with their values, as they are now."""
    frame = lowering.frame
    found = {name: each for name, each in frame.locals.items() if name in frame.scope.names}
    if frame.parent is not None or any(isinstance(each, Poison) for each in found.values()):
        raise _refused("locals() here", "name the values")
    return new_dict(lowering, found)


@evaluates(getattr)
def get_attribute(lowering: Lowering, value: Any, name: Any, *default: Any) -> Any:
    has = not default or _has_attribute(lowering, value, known_object(name))
    sides = lambda: read_attribute(lowering, value, known_object(name)), lambda: default[0]
    return choose(lowering, has, *sides)


@evaluates(hasattr)
def has_attribute(lowering: Lowering, value: Any, name: Any) -> Any:
    found = {hasattr(kind, known_object(name)) for kind in _kinds_of(value)}
    if len(found) > 1:
        raise _refused("hasattr() of a value that may be an array", "leave the check out")
    return found.pop() if found else _has_attribute(lowering, value, name)


def _kinds_of(value: Any) -> tuple[type, ...]:
    """The types that a value may have, of which nothing but the abstract value is known.

    Of an array without axes NumPy makes a number, or not: the Reference knows which, if anybody.
    """
    if not isinstance(value, Symbol):
        return ()
    fact = value.fact
    if isinstance(fact, values.Scalar):
        return (fact.kind,)
    if isinstance(fact, values.List):
        return (list,)
    if isinstance(value, Reference) and value.born == 0:  # it was there before: a Parameter
        return (Parameter,)
    if not isinstance(fact, values.Array) or fact.shape is None:
        return (np.ndarray, *_NUMBERS, float, int)
    if fact.tensor:
        return (Tensor,)
    numbers = _NUMBERS if fact.dtype is None else (fact.dtype.type,)
    if fact.shape or is_number(value) is False:
        return (np.ndarray,)
    return numbers if is_number(value) else (np.ndarray, *numbers)


#: what a NumPy number of unknown dtype may be an object of
_NUMBERS = (np.float64, np.float32, np.complex128, np.int64, np.bool_)


def _has_attribute(lowering: Lowering, value: Any, name: str) -> Any:
    if isinstance(value, Symbol):
        return any(hasattr(kind, name) for kind in _kinds_of(value))
    if isinstance(value, Tree):
        found = hasattr(value.kind, name) or has_entry(lowering, value, name)
        if found is not True and is_written(value.kind, "__getattr__"):
            raise asks_itself(value.kind, name)
        return found
    return hasattr(unwrap(value), name)


@evaluates(type)
def kind_of(lowering: Lowering, value: Any) -> Any:
    if is_iterator(value):
        raise _refused("type() of an iterator", "leave the check out")
    if is_error(value):
        return read_attribute(lowering, value, "__class__")
    if hasattr(value, "in_python"):
        raise _refused(f"type() of {with_article(class_name(value))}", "leave the check out")
    if isinstance(value, Tree):
        return getattr(value.kind, "__s2s_stands_for__", value.kind)
    if not isinstance(value, Symbol):
        return type(unwrap(value))
    kinds = _kinds_of(value)
    if len(kinds) > 1:
        raise _refused("type() of a value that may be an array", "leave the check out")
    return kinds[0]


@handles(dataclasses.replace)
def replaced(lowering: Lowering, args: list, kwargs: dict[str, Any]) -> Any:
    """dataclasses.replace(params, w=w), and namedtuple's params._replace(w=w)."""
    (value,) = args
    if not isinstance(value, Tree):
        raise _refused("dataclasses.replace of something else", "pass a dataclass")
    if not kwargs.keys() <= set(value.keys):
        raise ValueError(f"{value.kind.__name__} has no field {(kwargs.keys() - set(value.keys))}")
    old = dict(zip(value.keys, value.items, strict=True))
    if dataclasses.is_dataclass(value.kind):  # other attributes are made by `__post_init__` again
        given = {each.name for each in dataclasses.fields(value.kind) if each.init}
        if not kwargs.keys() <= given:
            raise ValueError(f"{kwargs.keys() - given} is declared with init=False")
        old = {key: item for key, item in old.items() if key in given}
    return apply(lowering, value.kind, [], old | kwargs)


@evaluates(logging.getLogger)
def logger(lowering: Lowering, *name: Any) -> Any:
    found = logging.getLogger(*map(known_object, name))
    return lowering.captures.held(found, found.name)
