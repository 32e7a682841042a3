"""Calls: of functions with a rule, of the user's functions, of classes and of other objects."""

from __future__ import annotations

import contextlib
import dataclasses
import enum
import functools
import inspect
import itertools
import math
import operator
import types
from collections.abc import Callable, Iterable, Mapping
from typing import Any, ClassVar

import gast
import numpy as np

from s2s_ad.core import tree, values
from s2s_ad.core.builder import Symbol, constant_value, describe
from s2s_ad.core.homes import is_of_arrays
from s2s_ad.core.program import LONGEST, Hint
from s2s_ad.core.registry import rule_for
from s2s_ad.core.tree import Tree
from s2s_ad.diagnostics import ArgumentTypeError, NoDerivative, UnsupportedError
from s2s_ad.frontend.lower import growing
from s2s_ad.frontend.lower.attributes import Dispatching, Method, read_attribute
from s2s_ad.frontend.lower.classes import CLOSURE, is_written, method_of
from s2s_ad.frontend.lower.constants import known_result, makes_constant
from s2s_ad.frontend.lower.containers import (
    entries_given,
    items_of_starred,
    new_dict,
    sequence,
    spread,
)
from s2s_ad.frontend.lower.core import EFFECT, HANDLERS, Lowering, expression
from s2s_ad.frontend.lower.derived import (
    ARRAY_CALL,
    HELD,
    OF_C,
    holds_array_objects,
    is_array_object,
    may_be_array,
    written_methods,
)
from s2s_ad.frontend.lower.entries import GATHERED, may_lack_items
from s2s_ad.frontend.lower.functions import Closure, MakesManagers, Remembering
from s2s_ad.frontend.lower.iteration import (
    ITERATORS,
    Iterator,
    Produced,
    Range,
    generator_in,
    is_iterator,
    iterated_over,
    iterator,
)
from s2s_ad.frontend.lower.kinds import class_name, with_article
from s2s_ad.frontend.lower.optional import is_optional
from s2s_ad.frontend.lower.picked import EACH, Picked, is_picked, members
from s2s_ad.frontend.lower.poisons import readable
from s2s_ad.frontend.lower.references import Box, settled, symbols
from s2s_ad.frontend.lower.refused import refused_call, refused_foreign
from s2s_ad.frontend.lower.string_unions import Word, is_word, texts_differ
from s2s_ad.frontend.numba_ import python_of
from s2s_ad.frontend.resolve import Captured, Place, unwrap
from s2s_ad.frontend.signatures import signature_of
from s2s_ad.frontend.source import is_generator

#: objects of Python's and NumPy's that are functions: type -> (lowering, captured) -> a function
CAPTURED_OBJECTS: dict[type, Callable] = {}
#: for functions of libraries that may be missing
HANDLER_FINDERS: list[Callable[[Any], Callable | None]] = []
#: for objects of such libraries: captured object -> the same as in CAPTURED_OBJECTS
OBJECT_FINDERS: list[Callable[[Any], Callable | None]] = []
#: as many items has a known range at most that may be one of axes
MOST_AXES = 16
#: the key of the handler of calls with out=
OUT = object()

#: what keeps a value as it is, and may be given one that is None on some paths
HOLDS_ANY = (dict.get, dict.setdefault, functools.partial, list.append, list.insert, setattr)
#: what may be asked of such a value
TAKES_NONE = (*HOLDS_ANY, isinstance)
#: functions that do not read the iterators that they are given, or only as far as they say
LEAVES_ITERATORS = [*HOLDS_ANY, bool, callable, hasattr, isinstance, iter, next, type, zip]
LEAVES_ITERATORS += [itertools.islice]
#: what loops over an argument, which may be a generator that runs step by step
STEP_THROUGH: list[Any] = []
#: what gives an iterator over others: the generator function that does of those that run so
STEPPED: dict[Any, Any] = {}

#: the handler of a method of a str that is given values; None where there is none
TEXT_METHOD = "a method of a str with values"

LIBRARIES = ("numpy", "scipy")

#: what contextlib.contextmanager makes of a function runs this code
OF_MANAGERS = contextlib.contextmanager(lambda: None).__code__


@dataclasses.dataclass(frozen=True, eq=False, slots=True)
class Partial:
    """functools.partial(...), made inside the function."""

    in_python: ClassVar[str] = "partial"

    function: Any
    args: tuple
    kwargs: tuple

    def holds(self) -> tuple:
        return (self.function, *self.args, *(value for _, value in self.kwargs))


def make_partial(lowering: Lowering, args: list, kwargs: dict[str, Any]) -> Any:
    function, *first = args
    return Partial(function, tuple(first), tuple(kwargs.items()))


HANDLERS[functools.partial] = make_partial


@expression(gast.Call)
def call(lowering: Lowering, node: gast.Call) -> Any:
    """`f(x, *items, key=value, **entries)` See the next sections for what f may be."""
    function = _callee(lowering, node.func)
    if HANDLERS[EFFECT](lowering, [node, function], {}):
        return None
    if isinstance(function, type) and issubclass(function, BaseException):
        return HANDLERS[BaseException](lowering, [node, function], {})
    args = _rows_turned(lowering, function, node)
    if isinstance(args, Box):
        return args
    kwargs: dict[str, Any] = {}
    for keyword in node.keywords:
        value = lowering.evaluate_any(keyword.value)
        more = {keyword.arg: value}
        if keyword.arg is None:
            more = entries_given(lowering, value)
        if more is None:
            raise lowering.refuse(node, "'**' of something that is not a known dict")
        twice = kwargs.keys() & more.keys()
        if twice:
            raise TypeError(f"multiple values for keyword argument {twice.pop()!r}")
        kwargs |= more
    lowering.captures.calls(function if isinstance(node.func, gast.Name) else None)
    result = apply(lowering, function, args, kwargs)
    if result is None:
        lowering.gave_none.append(node)
    written = isinstance(unwrap(function), types.FunctionType | Closure)
    return lowering.builder.named(result, _hint_of(node)) if written else result


def _hint_of(node: gast.Call) -> Hint:
    """`root_x` for what root(x) gives, where its own code has no name for that."""
    names = [getattr(each, "id", "") for each in (node.func, *node.args, *node.keywords)]
    text = "_".join(names) if all(names) and len(names) == 2 else ""
    return Hint(text if len(text) <= LONGEST else "", "temporary")


def _rows_turned(lowering: Lowering, function: Any, node: gast.Call) -> Any:
    """The arguments of a call; of `zip(*rows)` with rows whose number is not known its result."""
    starred = node.args[0] if len(node.args) == 1 else None
    if not isinstance(starred, gast.Starred) or unwrap(function) is not zip:
        return spread(lowering, node.args)
    rows = lowering.evaluate(starred.value)
    columns = growing.turned(lowering, rows)
    if columns is not None:
        return iterator(lowering, sequence(tuple, columns))
    return items_of_starred(lowering, starred, rows)


def _callee(lowering: Lowering, node: gast.AST) -> Any:
    if not isinstance(node, gast.Name):
        return lowering.evaluate(node)
    with lowering.captures.to_be_called():
        return lowering.evaluate(node)


def apply(lowering: Lowering, function: Any, args: list, kwargs: dict[str, Any]) -> Any:
    """The value of a call."""
    if isinstance(function, Method):
        return apply(lowering, function.function, [function.holder, *args], kwargs)
    if isinstance(function, Partial):
        first, named = function.args, dict(function.kwargs)
        return apply(lowering, function.function, [*first, *args], named | kwargs)
    if isinstance(function, Closure):
        arguments = arguments_of(lowering, function, args, kwargs)
        if function.yields:
            return iterator(lowering, HANDLERS[Produced](lowering, [function, arguments], {}))
        return lowering.enter_closure(function.new_frame(), arguments)
    if isinstance(function, Remembering | MakesManagers):
        return HANDLERS[type(function)](lowering, [function, *args], kwargs)
    if is_picked(function):
        return HANDLERS[EACH](
            lowering, [function, lambda each: apply(lowering, each, args, kwargs)], {}
        )
    if isinstance(function, Tree) and function.kind in (dict, list, tuple):
        error = TypeError(f"{function.kind.__name__!r} object is not callable")
        error.add_note("leave the brackets out: x.shape; or use square ones: x.shape[0]")
        raise lowering.python_raises(error)
    if isinstance(function, Tree):
        method = read_attribute(lowering, function, "__call__")
        return apply(lowering, method, args, kwargs)
    if isinstance(function, Symbol):
        brackets = "index an array with brackets: x[0]; what is no method has none: x.T, x.size"
        help = brackets if function.shape else "leave the brackets out: x.size"
        raise UnsupportedError("S2S203", "a call of a value that is not a function", help=help)
    return _applied(lowering, function, args, kwargs)


def _applied(lowering: Lowering, function: Any, args: list, kwargs: dict[str, Any]) -> Any:
    """The value of a call of a function or class that is known now."""
    method = _special_method(function, args)
    if method is not None:
        return apply(lowering, read_attribute(lowering, args[0], method), args[1:], kwargs)
    own = getattr(function, CLOSURE, None) or _written_method(function, args)
    if own is not None:
        return apply(lowering, own, args, kwargs)
    if _is_of_arrays(unwrap(function)) and any(map(holds_array_objects, (*args, *kwargs.values()))):
        return HANDLERS[ARRAY_CALL](lowering, [function, args, kwargs], {})
    known = _known_function(unwrap(function))
    if known is not None:
        return _called(lowering, known, function, args, kwargs)
    if isinstance(function, Captured):
        return _of_object(lowering, function, args, kwargs)
    raise refused_call(function, lowering.builder.origin, args, kwargs)


def _is_of_arrays(function: Any) -> bool:
    """Whether it is a function of NumPy's or SciPy's, which may keep the class of an array, or a
    method of ndarray."""
    if isinstance(function, OF_C):
        return _of_library(function.__objclass__)
    return not isinstance(function, type) and is_of_arrays(function)


def _written_method(function: Any, args: list) -> Any:
    """What `list.append(self, item)` calls where the object is of a class derived from list."""
    holder = args[0] if args else None
    if not isinstance(function, OF_C) or function.__objclass__ is object:
        return None
    if not isinstance(holder, Tree):
        return None
    return written_methods(holder.kind).get(function.__name__)


#: functions of Python's that ask the class of their first argument: id -> its method
SPECIAL_METHODS = {
    id(abs): "__abs__",
    id(complex): "__complex__",
    id(divmod): "__divmod__",
    id(float): "__float__",
    id(int): "__int__",
    id(math.ceil): "__ceil__",
    id(math.floor): "__floor__",
    id(math.trunc): "__trunc__",
    id(reversed): "__reversed__",
    id(round): "__round__",
}


def _special_method(function: Any, args: list) -> str | None:
    """The method of the user's class that such a function calls; None where there is none."""
    first = args[0] if args else None
    name = SPECIAL_METHODS.get(id(unwrap(function)))
    if name is None or not isinstance(first, Tree | Captured):
        return None
    kind = first.kind if isinstance(first, Tree) else type(first.value)
    return name if is_written(kind, name) else None


def _called(
    lowering: Lowering, known: Callable, function: Any, args: list, kwargs: dict[str, Any]
) -> Any:
    """The call of a function, once for each text, or each object, that an argument may be."""
    index = next((i for i, each in enumerate(args) if is_word(each)), None)
    asks = known in (_by_handler, by_rule, of_text) and unwrap(function) not in HOLDS_ANY
    if index is not None and asks:
        return HANDLERS[Word](lowering, [function, args, index], kwargs)
    if asks:
        several = next((each for each in (*args, *kwargs.values()) if is_picked(each)), None)
        if several is not None:
            return _of_each(lowering, function, args, kwargs, several)
    return known(lowering, unwrap(function), args, kwargs)


def _of_each(
    lowering: Lowering, function: Any, args: list, kwargs: dict[str, Any], several: Any
) -> Any:
    """The call for each object that an argument may be."""

    def act(member: Any) -> Any:
        given = [member if each is several else each for each in args]
        named = {key: member if each is several else each for key, each in kwargs.items()}
        return apply(lowering, function, given, named)

    return HANDLERS[Picked](lowering, [several, act], {})


def _known_function(function: Any) -> Callable | None:
    """How a call of this object is lowered, where the object itself says so."""
    if _handler(function) is not None:
        return _by_handler
    if rule_for(function) is not None:
        return by_rule
    if hasattr(function, "__s2s_call__"):
        return _derived
    if makes_constant(function):
        return _of_constants
    if isinstance(function, types.FunctionType):
        return _of_function
    if isinstance(function, type):
        return _construct
    if isinstance(function, types.MethodDescriptorType) and function.__objclass__ in (str, bytes):
        return of_text
    return None


def _by_handler(lowering: Lowering, function: Any, args: list, kwargs: dict[str, Any]) -> Any:
    """What Python's own functions give; only some of them take a value that may be None."""
    if any(map(is_optional, (*args, *kwargs.values()))) and function not in TAKES_NONE:
        what = f"{describe(function)} of"
        args = [lowering.certain(each, what) for each in args]
        kwargs = {key: lowering.certain(each, what) for key, each in kwargs.items()}
    if any(generator_in(each) is not None for each in args):
        stepped = STEPPED.get(function)
        if stepped is not None:
            return apply(lowering, stepped, args, kwargs)
    if any(map(is_iterator, args)) and not _is_one_of(function, LEAVES_ITERATORS):
        read = _is_one_of(function, STEP_THROUGH)
        args = [
            each if read and generator_in(each) is not None else HANDLERS[Iterator](lowering, each)
            for each in args
        ]
    result = _handler(function)(lowering, args, kwargs)
    if _is_one_of(function, ITERATORS):
        return iterated_over(lowering, function, args, result)
    return result


def _is_one_of(function: Any, functions: Iterable) -> bool:
    """A method of a class, chain.from_iterable, is another object each time that it is read."""
    methods = types.BuiltinMethodType
    same = isinstance(function, methods)
    return any(function is each or (same and function == each) for each in functions)


def _handler(function: Any) -> Callable | None:
    try:
        found = HANDLERS.get(function)
    except TypeError:
        return None
    return found or _found(HANDLER_FINDERS, function)


def _found(finders: list[Callable[[Any], Callable | None]], value: Any) -> Callable | None:
    return next(filter(None, (find(value) for find in finders)), None)


def _with_out(function: Any, kwargs: dict[str, Any]) -> dict[str, Any]:
    """The arguments, with the array that is to hold the result as `out`, whatever it is called."""
    rule = rule_for(unwrap(function)) if kwargs else None
    if rule is None or rule.out == "out" or not isinstance(kwargs.get(rule.out), Symbol):
        return kwargs
    rest = {key: value for key, value in kwargs.items() if key != rule.out}
    return rest | {"out": kwargs[rule.out]}


def by_rule(lowering: Lowering, function: Any, args: list, kwargs: dict[str, Any]) -> Any:
    """An operation; containers reach the rule as Python's own."""
    if isinstance(function, np.ufunc) and len(args) > function.nin:
        outs = args[function.nin :]
        kwargs = kwargs | {"out": outs[0] if function.nout == 1 else sequence(tuple, outs)}
        args = args[: function.nin]
    check_keywords(function, kwargs)
    if _copies_itself(function, args) and kwargs.keys() <= {"dtype"}:
        made = _as_array(lowering, args[0], copy=True)
        return lowering.call(np.asarray, made, *args[1:], **kwargs)
    kwargs = _with_out(function, kwargs)
    if unwrap(kwargs.get("out")) is not None:
        return HANDLERS[OUT](lowering, [function, *args], kwargs)
    kwargs = {key: value for key, value in kwargs.items() if key != "out"}
    plain = [as_argument(lowering, each) for each in args]
    named = {key: as_argument(lowering, value) for key, value in kwargs.items()}
    try:
        result = lowering.call(function, *plain, **named)
    except AttributeError as error:
        raise _of_a_function(function, (*plain, *named.values())) or error from None
    return (
        tree.from_object(result, lambda leaf, _: leaf)
        if isinstance(result, tuple | list)
        else result
    )


def _of_a_function(function: Any, given: Iterable) -> UnsupportedError | None:
    """The error where one of NumPy's functions is given a function, of which it wants a value."""
    called = next((each for each in given if isinstance(each, types.FunctionType)), None)
    if called is None:
        return None
    name = called.__name__
    return UnsupportedError(
        "S2S203",
        f"{describe(function)} of the function {name}",
        help=f"give it what {name} returns: {name}(x); the derivative of {name} is grad({name})",
    )


def check_keywords(function: Any, kwargs: dict[str, Any]) -> None:
    """Refuse what NumPy refuses of keywords that are no part of a value."""
    order = unwrap(kwargs.get("order"))
    if isinstance(order, str) and (len(order) != 1 or order not in "CFAKcfak"):
        raise ValueError(f"order must be one of 'C', 'F', 'A', or 'K' (got {order!r})")
    if "where" in kwargs and isinstance(function, np.ufunc) and function.signature is not None:
        raise TypeError(f"{function.__name__}() got an unexpected keyword argument 'where'")


def as_argument(lowering: Lowering, value: Any) -> Any:
    """Tuples and lists as Python's own; NumPy reads namedtuples as tuples."""
    value = lowering.present(value)
    if is_picked(value) and all(map(may_be_array, members(value))):
        value = HANDLERS[EACH](lowering, [value, array_of], {})
    if not isinstance(value, Tree):
        known = unwrap(readable(lowering, value))
        if isinstance(known, range) and len(known) <= MOST_AXES:
            return [*known]
        return numbers_of(lowering, known) if isinstance(known, range | Range) else known
    if may_lack_items(value):
        value = HANDLERS[GATHERED](lowering, [value], {})
    if isinstance(value, Box) and value.is_dynamic:
        fact = getattr(value.content, "fact", None)
        if isinstance(fact, values.List) and isinstance(fact.item, values.List):
            deep = isinstance(fact.item.item, values.List)
            value = apply(lowering, _arrays_of_tables if deep else _arrays_of, [value], {})
        return growing.as_array(lowering, value.content)
    if value.kind in (tuple, list):
        return value.kind(_as_item(lowering, each) for each in value.items)
    if tree.is_namedtuple(value.kind):
        return tuple(_as_item(lowering, each) for each in value.items)
    if is_word(value):
        raise texts_differ("an argument of a NumPy function")
    return _object_as_argument(lowering, value)


def numbers_of(lowering: Lowering, value: range | Range) -> Any:
    """The array that NumPy makes of a range."""
    given = value.arguments() if isinstance(value, Range) else [value.start, value.stop, value.step]
    return lowering.call(np.arange, *given)


def array_of(value: Any) -> Any:
    """The array that a value is, or that it holds."""
    return settled(value.known().get(HELD) if is_array_object(value) else value)


def _object_as_argument(lowering: Lowering, value: Tree) -> Any:
    """An object of a class that says where its items are, or what array it is."""
    holds = getattr(value.kind, "__s2s_items__", None)
    if holds is not None:
        return as_argument(lowering, read_attribute(lowering, value, holds))
    if is_array_object(value):
        return as_argument(lowering, value.known().get(HELD))
    if _says_its_array(value.kind):
        return as_argument(lowering, _as_array(lowering, value))
    raise refused_foreign([value.kind]) or UnsupportedError(
        "S2S203",
        f"{with_article(class_name(value))} as an argument of a NumPy function",
        help="make a list of its items: np.array(list(...)), or use sum(...) for np.sum"
        if is_iterator(value)
        else "pass the arrays that it holds",
    )


def _says_its_array(kind: type) -> bool:
    """Whether a class has an `__array__` that can be read."""
    return is_written(kind, "__array__") and not _of_library(method_of(kind, "__array__"))


def _as_array(lowering: Lowering, value: Tree, **kwargs: Any) -> Any:
    """The array that an object of the user's says it is."""
    return apply(lowering, read_attribute(lowering, value, "__array__"), [], kwargs)


def _copies_itself(function: Any, args: list) -> bool:
    """Whether NumPy takes as a copy what the `__array__` of an object gives, which is asked for
    one: the array that it holds where the method does not heed that."""
    kind = args[0].kind if args and isinstance(args[0], Tree) else None
    if kind is None or not getattr(rule_for(function), "asks_for_a_copy", False):
        return False
    if not _says_its_array(kind):
        return False
    return "copy" in inspect.signature(kind.__array__).parameters


def _arrays_of(rows: list) -> list:
    """Lowered as the user's functions are: NumPy makes one array of lists of one length."""
    return [np.array(row) for row in rows]


def _arrays_of_tables(tables: list) -> list:
    """Of lists three or four deep: lowered in itself the function above would call itself."""
    return [np.array([np.array(row) for row in rows]) for rows in tables]


def _as_item(lowering: Lowering, value: Any) -> Any:
    """An item of an argument, which a list whose length is not known reaches as an array."""
    item = as_argument(lowering, value)
    is_list = isinstance(item, Symbol) and isinstance(item.fact, values.List)
    return lowering.call(np.array, item) if is_list else item


def of_text(lowering: Lowering, function: Any, args: list, kwargs: dict[str, Any]) -> Any:
    """A method of a str, or a function of texts, evaluated now where its arguments are known."""
    if any(True for _ in symbols((*args, *kwargs.values()))):
        made = HANDLERS[TEXT_METHOD](lowering, [function, args], kwargs)
        if made is not None:
            return made
    known, named = [*map(known_object, args)], {k: known_object(v) for k, v in kwargs.items()}
    with lowering.as_python():
        result = function(*known, **named)
    made = tree.from_object(result, lambda leaf, _: leaf)
    return lowering.memory.box(made) if isinstance(result, list) else made


def _of_constants(lowering: Lowering, function: Any, args: list, kwargs: dict[str, Any]) -> Any:
    return known_result(lowering, function, *map(known_object, args), **kwargs)


def known_object(value: Any) -> Any:
    """The object that a value is; an error where it depends on values that are not known now."""
    value = tree.tree_map(constant_value, value)
    for each in tree.leaves(value):
        if isinstance(each, Symbol) and each.fact == values.Scalar(int):
            operator.index(each)  # tells who asks that it is not known
    if any(isinstance(each, Symbol) for each in tree.leaves(value)):
        raise UnsupportedError("S2S205", "an argument that has to be known when code is generated")
    return unwrap(tree.to_object(tree.tree_map(unwrap, value)))


# ---- functions -----------------------------------------------------------------------------------


def _of_function(
    lowering: Lowering, function: types.FunctionType, args: list, kwargs: dict[str, Any]
) -> Any:
    """A function of the user's, written in place."""
    if getattr(function, "__s2s_static__", False):
        known = {key: known_object(value) for key, value in kwargs.items()}
        made = function(*map(known_object, args), **known)
        return lowering.captures.held(made, function.__name__)
    if function.__code__ is OF_MANAGERS:
        made = MakesManagers(function.__wrapped__)
        return HANDLERS[MakesManagers](lowering, [made, *args], kwargs)
    if isinstance(getattr(function, "registry", None), types.MappingProxyType):
        return _of_registered(lowering, function, args, kwargs)
    if _of_library(function):
        raise refused_call(function, lowering.builder.origin, args, kwargs)
    if is_generator(function):
        arguments = arguments_of(lowering, function, args, kwargs)
        return iterator(lowering, HANDLERS[Produced](lowering, [function, arguments], {}))
    return lowering.enter(function, arguments_of(lowering, function, args, kwargs))


def _of_registered(
    lowering: Lowering, function: types.FunctionType, args: list, kwargs: dict[str, Any]
) -> Any:
    """A call of what functools.singledispatch makes: the function for the class of the first
    argument."""
    if args and is_picked(args[0]):
        return _of_each(lowering, function, args, kwargs, args[0])
    return apply(lowering, _registered(lowering, function, args[0]), args, kwargs)


def _registered(lowering: Lowering, function: Any, argument: Any) -> Any:
    """The function that is registered for the class of an argument."""
    kind = HANDLERS[type](lowering, [argument], {})
    place = Place(
        f"{function.__name__}.dispatch({kind.__name__})",
        lambda: function.dispatch(kind),
        (id(function), "dispatch", kind),
    )
    return lowering.captures.of(function.dispatch(kind), place)


def _of_registered_method(lowering: Lowering, args: list, kwargs: dict[str, Any]) -> Any:
    """A call of what functools.singledispatchmethod makes, with its object."""
    function, holder, *given = args
    if given and is_picked(given[0]):
        return _of_each(lowering, Dispatching(function), [holder, *given], kwargs, given[0])
    chosen = _registered(lowering, function, given[0])
    return apply(lowering, chosen, [holder, *given], kwargs)


HANDLERS[Dispatching] = _of_registered_method


def is_foreign(function: Any) -> bool:
    """Whether nothing is known of a function but that it can be called: a library's or a compiled
    one without a rule."""
    whole = getattr(function, "__func__", function)
    known = isinstance(whole, Closure | Partial | Tree) or _known_function(function) is not None
    python = is_written(type(whole), "__call__")
    if (known and not _of_library(whole)) or python or isinstance(whole, functools.partial | type):
        return False
    return rule_for(function) is None and isinstance(refused_call(function, None), NoDerivative)


def _of_library(function: Any) -> bool:
    """Whether it is a function or class that a library defines in Python."""
    stated = function.__module__ if isinstance(function, types.FunctionType | type) else None
    return (stated or "").partition(".")[0] in LIBRARIES


def arguments_of(
    lowering: Lowering, function: types.FunctionType | Closure, args: list, kwargs: dict[str, Any]
) -> dict[str, Any]:
    """The arguments of a call by parameter name, with defaults."""
    if isinstance(function, Closure):
        return bind(lowering, function.signature(), function.name, args, kwargs)
    signature = signature_of(function)
    arguments = bind(lowering, signature, function.__qualname__, args, kwargs)
    supplied = signature.bind(*args, **kwargs).arguments
    for name, parameter in signature.parameters.items():
        if name not in supplied and parameter.default is not inspect.Parameter.empty:
            arguments[name] = lowering.captures.default(function, parameter)
    return arguments


def bind(
    lowering: Lowering,
    signature: inspect.Signature,
    name: str,
    args: list,
    kwargs: Mapping[str, Any],
) -> dict[str, Any]:
    """The arguments by parameter name, as Python binds them."""
    try:
        bound = signature.bind(*args, **kwargs)
    except TypeError as error:
        error = TypeError(f"{name}() {error}")
        raises = lowering.there_is_none(error)  # Python does on this path, if it is taken
        if raises is not error:
            raise raises from None
        raise ArgumentTypeError("S2S203", f"{error}", origin=lowering.builder.origin) from None
    bound.apply_defaults()
    arguments = dict(bound.arguments)
    for parameter in signature.parameters.values():
        if parameter.kind is inspect.Parameter.VAR_POSITIONAL:
            arguments[parameter.name] = sequence(tuple, list(arguments[parameter.name]))
        elif parameter.kind is inspect.Parameter.VAR_KEYWORD:
            arguments[parameter.name] = new_dict(lowering, arguments[parameter.name])
    return arguments


def _derived(lowering: Lowering, function: Any, args: list, kwargs: dict[str, Any]) -> Any:
    """A call of grad(f), vmap(f), ... inside a function: its program, written in place."""
    return function.__s2s_call__(lowering, args, kwargs)


# ---- objects -------------------------------------------------------------------------------------


def _of_object(lowering: Lowering, holder: Captured, args: list, kwargs: dict[str, Any]) -> Any:
    """functools.partial, bound methods, and objects with __call__."""
    value = holder.value
    if isinstance(value, functools.partial):
        return _of_partial(lowering, holder, args, kwargs)
    if isinstance(value, types.MethodType) and not _of_library(value.__func__):
        own = lowering.captures.of(value.__self__, holder.attribute("__self__"))
        return apply(lowering, value.__func__, [own, *args], kwargs)
    made = CAPTURED_OBJECTS.get(type(value)) or _found(OBJECT_FINDERS, value)
    if made is not None:
        return apply(lowering, made(lowering, holder), args, kwargs)
    if is_written(type(value), "__call__"):
        method = read_attribute(lowering, holder, "__call__")
        return apply(lowering, method, args, kwargs)
    raise refused_call(value, lowering.builder.origin, args, kwargs)


def _of_partial(lowering: Lowering, holder: Captured, args: list, kwargs: dict[str, Any]) -> Any:
    partial = holder.value

    def item(field: str, key: Any) -> Any:
        place = holder.attribute(field).inside(partial, ("item", key))
        return lowering.captures.of(getattr(partial, field)[key], place)

    keys = Place(
        f"{holder.place.text}.keywords", lambda: (*partial.keywords,), (id(partial), "keys")
    )
    lowering.captures.fixes((*partial.keywords,), keys, same=operator.eq)
    first = [item("args", i) for i in range(len(partial.args))]
    named = {key: item("keywords", key) for key in partial.keywords}
    inner = lowering.captures.of(partial.func, holder.attribute("func"))
    return apply(lowering, inner, [*first, *args], named | kwargs)


def _compiled_by_numba(value: Any) -> Callable | None:
    """The code that a Python function of Numba's runs is that of the Python function."""
    if python_of(value) is None:
        return None
    return lambda lowering, holder: lowering.captures.of(
        holder.value.py_func, holder.attribute("py_func")
    )


OBJECT_FINDERS.append(_compiled_by_numba)


def _construct(lowering: Lowering, kind: type, args: list, kwargs: dict[str, Any]) -> Any:
    """An object of a class of the user's, or of a class that says how one is made for good."""
    if issubclass(kind, enum.Enum):
        return lowering.captures.held(kind(*map(known_object, args)), kind.__name__)
    made = getattr(kind, "__s2s_made__", None)
    if made is not None:
        known = {key: known_object(value) for key, value in kwargs.items()}
        return lowering.captures.held(made(*map(known_object, args), **known), kind.__name__)
    if kind.__module__ == "builtins" or _of_library(kind):
        raise refused_call(kind, lowering.builder.origin)
    return HANDLERS[type.__call__](lowering, [kind, *args], kwargs)
