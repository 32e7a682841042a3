"""Names bound to objects: what a name or an attribute of the user's code is, and how it is read."""

from __future__ import annotations

import builtins
import inspect
import operator
import types
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from s2s_ad.core import sizes, tree, values
from s2s_ad.core.builder import Builder, Symbol, fresh_name
from s2s_ad.core.known_arrays import LARGEST
from s2s_ad.core.program import (
    CLOSURE,
    CONTENTS,
    GLOBAL,
    Capture,
    Hint,
    Names,
    identifier,
    stands_at,
)
from s2s_ad.core.tree import Tree
from s2s_ad.diagnostics import UnsupportedError
from s2s_ad.frontend.scopes import Scope, scope_of
from s2s_ad.frontend.source import Source
from s2s_ad.tensors import Parameter, is_dtype, plain_dtype

LIBRARIES = ("numpy", "math", "cmath", "builtins", "scipy", "s2s_ad")

#: objects that the compiler works with as they are; what stands at the place is guarded
PLAIN = (str, bytes, type(None), bool, type, np.dtype, types.EllipsisType, np.ufunc)
PLAIN += (types.FunctionType, types.BuiltinFunctionType, types.NotImplementedType, range)

#: functions bound to an object
BOUND = (types.MethodType, types.BuiltinMethodType)

#: what is captured as it is; a slice that the function makes may hold values, too
CAPTURED_AS_IS = (*PLAIN, slice)

#: what a default may be without being captured as a value
LITERALS = (int, float, complex, str, bool, type(None))

DEEPEST = 100


@dataclass(frozen=True, slots=True)
class Place:
    """Where a captured object stands: its text, how it is read now, what tells it from others.

    The key names the holder by identity, never by name: two closures may both have a cell `k`.
    `source` is (Names or dict, key) or (object, attribute) where the place is such, or with further
    keys an item of it, for a guard without a call. `holder` is the tuple whose item it is. `path`
    leads to it from the function that is transformed (see `Capture`).
    """

    text: str
    read: Callable[[], Any]
    key: tuple
    source: tuple | None = None
    holder: tuple | None = None
    path: tree.Path | None = None

    @classmethod
    def in_globals(cls, space: dict, name: str, path: tree.Path | None = None) -> Place:
        names = Names(space)
        return cls(name, lambda: names[name], (id(space), name), (names, name), path=path)

    @classmethod
    def in_cell(cls, cell: types.CellType, name: str, path: tree.Path | None = None) -> Place:
        return cls(name, lambda: cell.cell_contents, (id(cell),), path=path)

    @classmethod
    def of_attribute(
        cls, holder: Any, name: str, text: str, path: tree.Path | None = None
    ) -> Place:
        """An attribute that no number or container of the user's stands in: code, defaults."""
        source = holder, name
        return cls(text, lambda: getattr(holder, name), (id(holder), name), source, path=path)

    @classmethod
    def of_object(cls, value: Any, text: str) -> Place:
        """The object itself, wherever it stands."""
        return cls(text, lambda: value, (id(value), "self"))

    def inside(self, holder: Any, step: tuple[str, Any]) -> Place:
        """An item or attribute of the container that stands here."""
        text = tree.path_text(self.text, (step,))
        key = (id(holder), *step) if step[0] == "attribute" else (*self.key, *step)
        way, index = step
        is_item = way != "attribute" and type(index) in (int, str)
        source = (*self.source, index) if self.source and is_item else None
        fixed = holder if isinstance(holder, tuple) else None
        path = None if self.path is None else (*self.path, step)
        return Place(text, lambda: tree.follow(self.read(), (step,)), key, source, fixed, path)


@dataclass(frozen=True, slots=True)
class Captured:
    """An object of the user's that is neither a number nor a container: its attributes are read."""

    value: Any
    place: Place

    def attribute(self, name: str) -> Place:
        """The place of `value.name`; that the object is still this one is a guard of its own."""
        holder = self.value
        text = tree.path_text(self.place.text, (("attribute", name),))
        source = (vars(holder), name) if isinstance(holder, types.ModuleType) else (holder, name)
        if type(source[0]) is not dict and isinstance(source[0], dict):
            source = None  # its attributes are no entries
        return Place(text, lambda: getattr(holder, name), (id(holder), "attribute", name), source)


class Captures:
    """The objects that a function reads and the user did not pass, each noted once.

    `static` holds the keys of the places whose numbers, or the lengths of whose arrays, are part of
    the code, and those (`items_of`) of the arrays whose items are. `entered` is given the name of a
    number or an array, whether it is a number, and the text of a Parameter, which may be changed,
    and gives what stands for it. Where the class of an object has `__s2s_static__`, the numbers
    among its attributes are part of the code too.

    `root` is the function that is transformed, where it is a plain one: the code that is made may
    serve other functions with its code.
    """

    def __init__(
        self,
        builder: Builder,
        static: frozenset[tuple] = frozenset(),
        entered: Callable[[Symbol, bool, str], Symbol] = lambda symbol, *_: symbol,
    ):
        self.builder, self.static, self.entered = builder, static, entered
        self.found: dict[Any, Capture] = {}
        self.numbers: dict[str, tuple] = {}  # Core name of a captured number -> key of its place
        self.arrays: dict[str, tuple] = {}  # the same of arrays, whose lengths may be asked for
        self.lists: dict[str, tuple] = {}  # the same of long lists that are one value
        self.parameters: dict[tuple, Symbol] = {}  # what stands for each, by the key of its place
        self.reads: list[Any] = []  # what was asked for, in order
        self._values: dict[tuple, Any] = {}
        self._constant: set[int] = set()  # of which objects the numbers are part of the code
        self._depth = 0
        self.root: types.FunctionType | None = None
        self._cells: dict[str, types.CellType] = {}  # those of the root
        self._varying: frozenset[str] = frozenset()
        self._paths: dict[tuple, tree.Path | None] = {}  # by key: the first way to each place
        self._bare: dict[str, Capture] = {}
        self._inner = CalledFunctions()

    # ---- the function that is transformed

    def start(self, root: types.FunctionType, varying: frozenset[str]) -> None:
        """Note which function it is, and which of its parameters have defaults that vary."""
        self.root, self._cells, self._varying = root, cells_of(root), varying

    def cells_of(self, function: types.FunctionType) -> dict[str, types.CellType]:
        """The cells of a function by name; those of the root are known by the dict itself."""
        return self._cells if function is self.root else self._inner.cells_of(function)

    @contextmanager
    def to_be_called(self) -> Iterator[None]:
        """A function that is read inside is called, and nothing else is done with it."""
        before, self._inner.is_callee = self._inner.is_callee, True
        try:
            yield
        finally:
            self._inner.is_callee = before

    def calls(self, function: Any) -> None:
        """Note that the function that was read to be called is called now."""
        self._inner.next = function

    def in_globals(self, space: dict, name: str) -> Place:
        own = self.root is not None and space is self.root.__globals__
        return Place.in_globals(space, name, ((GLOBAL, name),) if own else None)

    def in_cell(self, cells: dict[str, types.CellType], name: str) -> Place:
        way = () if cells is self._cells else self._inner.way_to_cells(cells)
        if way is None:
            return Place.in_cell(cells[name], name)
        step = ("item", list(cells).index(name))
        return Place.in_cell(cells[name], name, (*way, CLOSURE, step, CONTENTS))

    def of_function(self, function: types.FunctionType, name: str, text: str) -> Place:
        """The place of an attribute of a function."""
        way = () if function is self.root else self._inner.way_to(function)
        path = None if way is None else (*way, ("attribute", name))
        return Place.of_attribute(function, name, text, path)

    def _meet(self, place: Place) -> None:
        """Where two ways lead to a place, both have to lead to what holds it.

        In another function with the same code they may lead to two places.
        """
        first = self._paths.setdefault(place.key, place.path)
        if first != place.path:
            self._pin(first, place.text)
            self._pin(place.path, place.text)

    def _pin(self, path: tree.Path | None, text: str) -> None:
        """Note the object that holds what a path leads to: it has to stay that one."""
        if path and ("pinned", path) not in self.found:
            root, way = self.root, path[:-1]
            self.found["pinned", path] = Capture(
                text, lambda: stands_at(root, way), stands_at(root, way), path=way
            )

    # ---- what is captured

    def of(self, value: Any, place: Place) -> Any:
        """What the compiler works with for the captured object that stands at a place."""
        self._meet(place)
        if type(value) is types.FunctionType:
            self._inner.meet(value, place.path)
        if place.key not in self._values:
            self._values[place.key] = self._enter(value, place)
        found = self._values[place.key]
        if isinstance(found, Symbol) and isinstance(found.fact, values.List):
            found = self.entered(found, False, "")  # its parts are read where it is
        self.reads.append(found)
        return found

    def held(self, value: Any, text: str) -> Any:
        """What stands for an object that cannot be another: only its items are guarded."""
        place = Place.of_object(value, text)
        if tree.is_container(value):
            return self._container(value, place)
        if type(value) is set:
            return self._set(value, place)
        return value if isinstance(value, CAPTURED_AS_IS) else Captured(value, place)

    def computed(self, value: Any, text: str) -> Any:
        """What stands for an object that was computed of constants: its numbers are known, too.

        It is another object each time, so no place would be that of a number that was asked for.
        """
        self._constant.add(id(value))
        return self.held(value, text)

    def fixed(self, value: Any, text: str) -> Any:
        """What the compiler works with for a constant of this library, without guards."""
        if tree.is_container(value):
            top = tree.one_level(value)
            items = tuple(self.fixed(item, text) for item in top.items)
            return Tree(top.kind, top.keys, items)
        if isinstance(value, Parameter):
            return self.parameter(value, text)
        if is_array(value):
            return self.of(value, Place.of_object(value, text))
        if is_dtype(value):
            return plain_dtype(value)
        known = isinstance(value, PLAIN) or type(value) in (int, float, complex)
        return value if known else Captured(value, Place.of_object(value, text))

    def fixes(self, value: Any, place: Place, **options: Any) -> None:
        """Note an object that shaped the code itself, and where it stands."""
        self._meet(place)
        if place.key not in self.found:
            self._guard(place, value, **options)

    def runs(self, function: types.FunctionType) -> None:
        """Note that the code of a function became part of the code: it may be replaced in place."""
        self._inner.enter(function)
        if not of_this_library(function.__globals__):
            text = f"{function.__qualname__}.__code__"
            self.fixes(function.__code__, self.of_function(function, "__code__", text))

    def default(self, function: types.FunctionType, parameter: inspect.Parameter) -> Any:
        """The default of a parameter, which the user did not pass: it may be replaced in place."""
        value, name = parameter.default, parameter.name
        own, text = of_this_library(function.__globals__), f"{function.__qualname__}.{name}"
        if own and type(value) in LITERALS:
            return value
        if parameter.kind is inspect.Parameter.KEYWORD_ONLY:
            place = self.of_function(function, "__kwdefaults__", text)
            place = place.inside(function.__kwdefaults__, ("item", name))
        else:
            self.defaults(function)
            positional = function.__code__.co_varnames[: function.__code__.co_argcount]
            place = self.of_function(function, "__defaults__", text)
            index = positional.index(name) - len(positional) + len(function.__defaults__)
            place = place.inside(function.__defaults__, ("item", index))
        varies = function is self.root and name in self._varying
        if type(value) in LITERALS and not varies:
            self.fixes(value, place)
            return value
        return self.of(value, replace(place, text=text))

    def defaults(self, function: types.FunctionType) -> None:
        """Note the defaults of the parameters of a function."""
        if function.__defaults__ is not None and not of_this_library(function.__globals__):
            text = f"{function.__qualname__}.__defaults__"
            place = self.of_function(function, "__defaults__", text)
            whole = Capture(
                text, place.read, function.__defaults__, None, place.source, path=place.path
            )
            self.found[place.key] = replace(whole, whole=(place.read, place.source))

    def adopt(self, capture: Capture) -> None:
        """Take over a capture of a program that is written in place: of another function's."""
        self.found.setdefault((id(capture.read), capture.text), replace(capture, path=None))

    def all(self) -> tuple[Capture, ...]:
        """What was noted, in order."""
        return tuple(
            replace(each, called=True) if self._is_only_called(key, each) else each
            for key, each in self.found.items()
        )

    def _is_only_called(self, key: tuple, capture: Capture) -> bool:
        function = capture.value
        if type(function) is not types.FunctionType or key[0] == "pinned":
            return False
        runs = (id(function), "__code__") in self.found
        return runs and self._inner.is_only_called(function, capture.path)

    def named_parameters(self) -> dict[str, Capture]:
        """The Parameters by name. Blocks and functions are given them like any other value."""
        return {each.name: each for each in self._named() if isinstance(each.value, Parameter)}

    def held_parameters(self) -> dict[str, Capture]:
        """The Parameters by the names of the values that they hold now."""
        pairs = ((self.found[key], held) for key, held in self.parameters.items())
        return {held.name: replace(capture, name=held.name) for capture, held in pairs}

    def constants(self) -> dict[str, Capture]:
        """Other numbers and arrays by name: blocks and functions read them where they stand.

        Of these they know the names alone.
        """
        return {
            each.name: self._bare.setdefault(each.name, Capture(each.text, None, None, each.name))
            for each in self._named()
            if not isinstance(each.value, Parameter)
        }

    def _named(self) -> Iterator[Capture]:
        return (each for each in self.found.values() if each.name is not None)

    def _enter(self, value: Any, place: Place) -> Any:
        if type(value) in (int, float, complex) and self._is_static(place):
            self._guard(place, value, same=_same_number)
            return value
        if isinstance(value, Parameter):
            self._guard(place, value)
            return self.parameter(value, place.text)
        if is_array(value) or type(value) in (int, float, complex):
            return self._leaf(value, place)
        if tree.is_container(value):
            whole = None if self._is_static(place) else _as_whole(value)
            return (
                self._container(value, place) if whole is None else self._list(value, whole, place)
            )
        if type(value) is set:
            return self._set(value, place)
        named = tree.as_namedtuple(value)
        if named is not None:
            self._guard(place, value, same=_equal)
            return Tree(type(named), named._fields, tuple(named))
        self._guard(place, value)
        if isinstance(value, np.ndarray):
            values.of_leaf(value, place.text)  # refuses subclasses
        if is_dtype(value):
            return plain_dtype(value)
        return value if isinstance(value, CAPTURED_AS_IS) else Captured(value, place)

    def _is_static(self, place: Place) -> bool:
        return place.key in self.static or place.key[0] in self._constant

    def _guard(self, place: Place, value: Any, **options: Any) -> None:
        if isinstance(value, BOUND) and place.read() is not value:  # one is made at each read
            options.setdefault("same", _same_method)
        self._found(place, value, None, **options)

    def _found(self, place: Place, value: Any, name: str | None, **options: Any) -> None:
        options |= {"holder": place.holder, "path": place.path}
        made = Capture(place.text, place.read, value, name, place.source, **options)
        self.found[place.key] = made

    def _leaf(self, value: Any, place: Place) -> Symbol:
        name = fresh_name()
        fact = values.of_leaf(value, place.text)
        if isinstance(value, Parameter):  # code is bound to its memory, so its lengths are known
            fact = replace(fact, shape=value.shape)
        elif place.key in self.static:
            fact = replace(fact, shape=value.shape)
            shape = place.inside(value, ("attribute", "shape"))
            self._guard(shape, value.shape, same=operator.eq)
            if items_of(place.key) in self.static and value.size <= LARGEST:
                self._items(name, value, place)
        self._found(place, value, name)
        if not is_array(value):
            self.numbers[name] = place.key
        elif not isinstance(value, np.generic):
            self.arrays[name] = place.key
            inputs = {place.text: fact}
            lengths = values.lengths_of_inputs(inputs, {place.text: value})
            sizes.capture(name, lengths, values.names_of_inputs(inputs))
        text = identifier(_text(value, place))
        symbol = self.builder.adopt(name, fact, Hint(text, "user"))
        changes = place.text if isinstance(value, Parameter) else ""
        return self.entered(symbol, not isinstance(value, np.ndarray), changes)

    def _items(self, name: str, value: np.ndarray, place: Place) -> None:
        """An array whose items are part of the code."""

        def items() -> tuple | None:
            return _items_as_bytes(place.read())

        options = {"path": place.path, "aspect": _items_as_bytes}
        guard = Capture(place.text, items, items(), None, None, operator.eq, **options)
        self.found[items_of(place.key)] = guard
        self.builder.known[name] = np.array(value)

    def _list(self, value: list, fact: values.List, place: Place) -> Symbol:
        """A long list as one value, as long as its items are of these kinds."""

        def kinds() -> values.List | None:
            return values.of_long_list(place.read())

        options = {"path": place.path, "aspect": values.of_long_list}
        guard = Capture(place.text, kinds, fact, None, None, operator.eq, **options)
        self.found["items", *place.key] = guard
        name = fresh_name()
        self._found(place, value, name)
        self.lists[name] = place.key
        return self.builder.adopt(name, fact, Hint(identifier(place.text), "user"))

    def parameter(self, value: Parameter, text: str) -> Symbol:
        """The one name of a Parameter, at however many places it stands."""
        itself = Place.of_object(value, text)
        if itself.key not in self._values:
            self._values[itself.key] = self._leaf(value, itself)
            self.parameters[itself.key] = self._values[itself.key]
        return self._values[itself.key]

    def named(self, value: Parameter) -> str:
        """The name of what a Parameter held when the function was called."""
        return self.found[Place.of_object(value, "").key].name

    def written(self) -> list[tuple[Capture, Symbol]]:
        """The Parameters that hold another value than before, with it."""
        pairs = ((self.found[key], held) for key, held in self.parameters.items())
        return [(capture, held) for capture, held in pairs if held.name != capture.name]

    def _container(self, value: Any, place: Place) -> Tree:
        def structure() -> Any:
            return _structure(place.read())

        guard = Capture(
            place.text,
            structure,
            structure(),
            None,
            None,
            _equal,
            path=place.path,
            aspect=_structure,
        )
        if isinstance(value, tuple):
            guard = replace(guard, holder=place.holder, whole=(place.read, place.source))
        self.found[place.key] = guard
        top = tree.one_level(value)
        pairs = zip(top.items, top.steps(), strict=True)
        self._depth += 1
        if self._depth > DEEPEST:
            name = place.text.partition("[")[0]
            raise UnsupportedError(
                "S2S201", f"{name} is nested more than {DEEPEST} deep, or holds itself"
            )
        items = tuple(self.of(item, place.inside(value, step)) for item, step in pairs)
        self._depth -= 1
        return Tree(top.kind, top.keys, items)

    def _set(self, value: set, place: Place) -> Tree:
        """A set, whose members are part of the code."""

        def members() -> tuple:
            return _members(place.read())

        options = {"path": place.path, "aspect": _members}
        guard = Capture(place.text, members, members(), None, None, _equal, **options)
        self.found[place.key] = guard
        items = [x if type(x) in LITERALS else self.held(x, place.text) for x in value]
        return Tree(set, tuple(value), tuple(items))

    def attribute(self, holder: Captured, name: str) -> Any:
        """`holder.name`, where the class gives no function for it."""
        value = getattr(holder.value, name)
        if is_library(holder.value):
            return plain_dtype(self.of_library(holder.value, name))
        if getattr(type(holder.value), "__s2s_static__", False):
            self._constant.add(id(holder.value))
        return self.of(value, holder.attribute(name))

    def attributes(self, holder: Captured, held: Callable[[Any], dict] = vars) -> tuple[str, ...]:
        """The names of the attributes that the object has itself, as `held` gives them."""

        def names() -> tuple[str, ...]:
            return tuple(held(holder.value))

        key = (id(holder.value), "attributes", held)
        self.found[key] = Capture(holder.place.text, names, names(), None, None, _equal)
        return names()

    def entries(self, holder: Any) -> Tree | None:
        """The entries of a captured dict of a class of its own, or of a view of a dict; the items
        of a list or a tuple of such a class."""
        if not isinstance(holder, Captured) or below(holder.value) is None:
            return None
        value, text = holder.value, holder.place.text

        def keys() -> tuple:
            return tree.one_level(below(value)).keys

        key = (id(value), "entries")
        self.found[key] = Capture(text, keys, keys(), None, None, _equal)
        place = Place(text, lambda: below(value), key)
        top = tree.one_level(below(value))
        pairs = zip(top.items, top.steps(), strict=True)
        return Tree(
            top.kind, top.keys, tuple(self.of(each, place.inside(value, k)) for each, k in pairs)
        )

    def of_library(self, module: types.ModuleType, name: str) -> Any:
        """A function or constant of a library, which may be replaced by something else."""
        value = getattr(module, name)
        if not isinstance(value, types.ModuleType) and name in vars(module):
            text, space = f"{module.__name__}.{name}", vars(module)
            key = (id(module), "attribute", name)
            self.fixes(value, Place(text, lambda: space[name], key, (space, name)))
        return value


class CalledFunctions:
    """Functions in cells: by which way each was reached, and whether it was only called.

    In another function with the same code another function may stand there.
    """

    def __init__(self) -> None:
        self.is_callee = False
        self.next: Any = None  #: what is called next, by its name
        self._ways: dict[int, tuple[types.FunctionType, tree.Path | None]] = {}
        self._objects: set[int] = set()  #: those that count as objects, too
        self._cells: dict[int, tuple[types.FunctionType, dict[str, types.CellType]]] = {}

    def meet(self, function: types.FunctionType, path: tree.Path | None) -> None:
        """Note a function that is read at a place."""
        way = path if path is not None and path[0] == CLOSURE else None
        first = self._ways.setdefault(id(function), (function, way))[1]
        if way is None or way != first or not self.is_callee:
            self._objects.add(id(function))

    def enter(self, function: types.FunctionType) -> None:
        """Note a function that is called, by its name or in any other way."""
        if self.next is not function:
            self._objects.add(id(function))
        self.next = None

    def way_to(self, function: types.FunctionType) -> tree.Path | None:
        return self._ways.get(id(function), (function, None))[1]

    def cells_of(self, function: types.FunctionType) -> dict[str, types.CellType]:
        """The cells by name, one dict for a function."""
        return self._cells.setdefault(id(function), (function, cells_of(function)))[1]

    def way_to_cells(self, cells: dict[str, types.CellType]) -> tree.Path | None:
        """The way to the function whose cells these are."""
        ways = (self.way_to(function) for function, own in self._cells.values() if own is cells)
        return next(ways, None)

    def is_only_called(self, function: types.FunctionType, path: tree.Path | None) -> bool:
        """Whether nothing is seen of a function but what its code does."""
        reached = path is not None and self.way_to(function) == path
        return reached and id(function) not in self._objects and not vars(function)


def is_mapping(value: Any) -> bool:
    """Whether it is a dict of a class of its own, or a view of a dict."""
    if type(value) is types.MappingProxyType:
        return type(value.copy()) in (dict, OrderedDict)
    return isinstance(value, dict)


def _dict_below(value: Any) -> dict:
    """The entries of a mapping in its order, without the methods that its class may have."""
    if isinstance(value, OrderedDict):
        return dict(OrderedDict.items(value))
    return value if isinstance(value, dict) else dict(value.items())


def below(value: Any) -> dict | list | tuple | None:
    """What Python's own class holds from which the class of a value derives, without the methods
    that this may have; None of anything else."""
    if is_mapping(value):
        return dict(_dict_below(value))
    own = type(value) not in (list, tuple) and not tree.is_namedtuple(type(value))
    base = next((each for each in (list, tuple) if own and isinstance(value, each)), None)
    return None if base is None else base(base.__iter__(value))


def is_array(value: Any) -> bool:
    return type(value) in values.ARRAY_TYPES or isinstance(value, np.generic)


def of_this_library(space: dict[str, Any]) -> bool:
    """Whether these are the globals of a module of this library: its functions do not change."""
    return space.get("__name__", "").partition(".")[0] == "s2s_ad"


def is_library(value: Any) -> bool:
    """Whether the object is a module of which the compiler knows the functions and constants."""
    return isinstance(value, types.ModuleType) and value.__name__.partition(".")[0] in LIBRARIES


def _members(value: Any) -> tuple:
    """What a set has in it, in the order in which a loop comes to it; and that it is a set."""
    found = value if isinstance(value, set) else ()
    return (type(value), *found, *map(type, found))


def _structure(value: Any) -> Any:
    """What a container is, without its items."""
    return (type(value), tree.one_level(value).keys) if tree.is_container(value) else None


def _equal(a: Any, b: Any) -> bool:
    return a == b


def _same_method(a: Any, b: Any) -> bool:
    """Whether these are the same method of the same object."""
    return type(a) is type(b) and a == b


@dataclass(slots=True)
class WholeLists:
    """Lets long lists that are captured be one value each, and notes whether one was."""

    used: bool = False


_whole_lists: ContextVar[WholeLists | None] = ContextVar("whole_lists", default=None)


@contextmanager
def whole_lists(allowed: WholeLists | None) -> Iterator[None]:
    """Lower what is inside with long lists as one value, where that is allowed."""
    token = _whole_lists.set(allowed)
    try:
        yield
    finally:
        _whole_lists.reset(token)


def items_of(key: tuple) -> tuple:
    """The key of the items of an array that stands at a place."""
    return ("items", *key)


def _items_as_bytes(value: Any) -> tuple | None:
    """What tells arrays apart whose items are part of the code."""
    if not isinstance(value, np.ndarray):
        return None
    return value.dtype.str, value.shape, value.tobytes()


def _as_whole(value: Any) -> values.List | None:
    allowed = _whole_lists.get()
    fact = None if allowed is None else values.of_long_list(value)
    if allowed is not None and fact is not None:
        allowed.used = True
    return fact


def _same_number(a: Any, b: Any) -> bool:
    return type(a) is type(b) and repr(a) == repr(b)  # tells 0.0 from -0.0, and nan is nan


def _text(value: Any, place: Place) -> str:
    """What a captured value is called: a Parameter as it says itself, where it has a name."""
    named = isinstance(value, Parameter) and "#" not in value.name
    return value.name if named else place.text


class Unassigned(Exception):
    """A local name is read before it is assigned."""


class Frame:
    """One function being lowered: its locals, the frame it was defined in, cells and globals.

    `owner` is the function or closure that runs, by which a call of itself is known;
    `is_kept` tells whether it becomes a function of the generated code. `inner` is the scope of
    the comprehension that is lowered, as the lambdas in it see it; `shared` holds the locals that
    functions inside assign (`nonlocal`), `outside` the names of modules that functions assign
    (`global`), by the identity of the module's names and the name. `of_passes` are locals that
    only the passes of a loop have assigned: the value, and what is above zero if there is one.
    """

    def __init__(
        self,
        owner: Any,
        source: Source,
        function_globals: dict,
        cells: dict[str, types.CellType],
        parent: Frame | None = None,
    ):
        self.owner, self.source, self.globals = owner, source, function_globals
        self.cells, self.parent = cells, parent
        self.locals: dict[str, Any] = {}
        self.arguments: dict[str, Any] = {}
        self.is_kept = False
        self.inner: Frame | None = None
        self.shared: Any = None
        self.outside: Mapping[tuple[int, str], Any] = {}
        self.of_passes: dict[str, tuple[Any, sizes.Size]] = {}

    @property
    def scope(self) -> Scope:
        return scope_of(self.source.node)

    @property
    def is_own(self) -> bool:
        """Whether it is a function of this library: text shows the NumPy that it stands for."""
        return of_this_library(self.globals)

    def around(self) -> Frame:
        """The scope in which a function that is defined now looks up its names."""
        return self if self.inner is None else self.inner

    def lookup(self, name: str, captures: Captures) -> Any:
        """The value of a name.

        Raises:
            Unassigned: it is a local name of the function or of one around it, not assigned yet.
            NameError: there is no such name.
        """
        frame: Frame | None = self
        while frame is not None:
            if name in frame.locals:
                return frame.locals[name]
            if name in frame.scope.names:
                raise Unassigned(name)
            frame = frame.parent
        if name in self.cells:
            return self._in_cell(name, captures)
        if name in self.globals and self.is_own:
            return captures.fixed(self.globals[name], name)
        if name in self.globals:
            return captures.of(self.globals[name], captures.in_globals(self.globals, name))
        if hasattr(builtins, name):
            value = getattr(builtins, name)
            if not self.is_own:
                captures.fixes(value, captures.in_globals(self.globals, name))
            return value
        raise NameError(name)

    def _in_cell(self, name: str, captures: Captures) -> Any:
        cell = self.cells[name]
        try:
            value = cell.cell_contents
        except ValueError:
            raise Unassigned(name) from None
        return captures.of(value, captures.in_cell(self.cells, name))


class Comprehension(Frame):
    """The scope of a comprehension in a frame; its names are in `locals` once it is at its end."""

    scope = Scope(frozenset(), None)  # type: ignore[assignment]

    def __init__(self, frame: Frame):
        super().__init__(frame.owner, frame.source, frame.globals, frame.cells, frame.around())
        self.outside = frame.outside


def cells_of(function: types.FunctionType) -> dict[str, types.CellType]:
    names = function.__code__.co_freevars
    return dict(zip(names, function.__closure__ or (), strict=True))


def unwrap(value: Any) -> Any:
    """The object itself."""
    return value.value if isinstance(value, Captured) else value


__all__ = ["Captured", "Captures", "Frame", "Place", "cells_of", "is_library", "unwrap"]
