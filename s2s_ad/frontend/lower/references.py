"""What the values of the lowering are: arrays and containers with identity, and views of them."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from s2s_ad.core.builder import Builder, NeedStatic, Symbol
from s2s_ad.core.tree import Tree
from s2s_ad.core.values import List, Scalar, shape_of
from s2s_ad.diagnostics import Origin, SharedMemoryError, UnsupportedError
from s2s_ad.frontend.lower.optional import is_partial, is_uncertain

if TYPE_CHECKING:
    from s2s_ad.frontend.lower.heap import Memory

COPY = "take a copy: y = x.copy()"


@dataclass(frozen=True, slots=True)
class Poison:
    """What an array holds after a store that may have changed it, and may not.

    `items` is a list whose length is not known, which may share the memory, too.
    """

    what: str
    origin: Origin | None
    why: str = ""
    items: str = ""

    def error(self, *_: Any) -> UnsupportedError:
        what, why = self.what, self.why
        if self.origin is not None:
            line, text = self.origin.line, self.origin.text.strip()
            what, why = f"{what} at line {line}", f"line {line} is `{text}`; {why}" if why else ""
        error = SharedMemoryError("S2S207", what, why=why, help=COPY)
        error.items = self.items
        return error


@dataclass(frozen=True, slots=True)
class View:
    """How a view is read from the array that it is a view of, and how it is written back.

    `read(whole)` and `write(whole, part)` take and give values. `write` is None where NumPy lets
    nobody write; `place(index)` is the index into the array that stands for an index into the view,
    or None where there is none.
    """

    base: Reference | Box
    read: Callable[[Any], Any]
    write: Callable[[Any, Any], Any] | None
    place: Callable[[Any], Any] | None = None


class Reference(Symbol):
    """An array: which one it is stays, what it holds may change.

    Attributes:
        born: when it was made; see `Memory.mark`.
        content: the name of the value that it holds, or what forbids to read it.
        view: how it is read from another array; None where it has memory of its own.
        views: the views of it that somebody still holds.
        kin: the objects that may share its memory, without it being certain.
        refusal: why nobody may write to it; "" where it may be changed.
        number: True where it is a number, which nothing changes; None where it may be one.
        contiguous: whether its elements are certain to stand in memory in the order of C.
        source: (parameter, path) of an array that was passed to the function.
    """

    __slots__ = ("__weakref__", "born", "content", "contiguous", "kin", "memory", "number")
    __slots__ += ("refusal", "source", "view", "views")
    __hash__ = object.__hash__

    def __init__(self, memory: Memory, builder: Builder, content: Any):
        self.builder, self.content = builder, content
        self.number: bool | None = False
        self.contiguous = False
        _begin(self, memory)

    @property
    def name(self) -> str:
        if isinstance(self.content, str):
            return self.content
        raise self.content.error()

    @name.setter
    def name(self, name: str) -> None:
        self.content = name

    # In a rule's hands it is the value that it holds now: stores that follow change nothing there.

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **kwargs: Any) -> Any:
        return super().__array_ufunc__(ufunc, method, *settled(inputs), **settled(kwargs))

    def __array_function__(self, function: Any, types: Any, args: tuple, kwargs: dict) -> Any:
        return super().__array_function__(function, types, settled(args), settled(kwargs))

    def __getitem__(self, index: Any) -> Any:
        return settled(self)[settled(index)]

    def __getattr__(self, attribute: str) -> Any:
        if attribute.startswith("_"):
            raise AttributeError(attribute)
        return getattr(settled(self), attribute)

    @property
    def root(self) -> Reference | Box:
        """The array whose memory it is, or the list whose item."""
        return self if self.view is None else self.view.base.root


class Rows(tuple):
    """The kind of what a list of containers holds whose length is not known: see `rows`."""

    __slots__ = ()


class Each(str):
    """The key in such a Tree, which adds nothing to the names of what is under it."""

    __slots__ = ()


EACH = Each("")


def is_rows(value: Any) -> bool:
    """Whether it is what a list of containers holds whose length is not known."""
    return isinstance(value, Tree) and value.kind is Rows


def is_open(content: Any) -> bool:
    """Whether it is what a list holds whose length is not known."""
    return isinstance(content, Symbol) or is_rows(content)


class Box(Tree):
    """A list, dict or object with identity, which may change.

    Attributes:
        content: a Tree of what it holds; a Symbol, or Rows, where it is a list whose length is not
            known now.
        distinct: whether no two items of a list whose length is not known are the same array.
        factory: what makes the missing values of a defaultdict.
        view: how it is read from the list whose item it is; None where it is no such item.
        kin: the arrays and lists that may be among the items of a list of a length not known.
        holders: the lists of lengths not known that hold it as a value.
        same: the objects that it may be: where it comes from several paths, or is read of a list.
        joined: of which paths it is, and what it is on each; None where it is of one.
        parts: the containers that may be one of the items of a list of a length not known.
        born, refusal, source, views: as those of a Reference.
    """

    __slots__ = ("__weakref__", "born", "content", "distinct", "factory", "holders", "joined")
    __slots__ += ("kin", "memory", "parts", "refusal", "same", "source", "type", "view", "views")
    __setattr__ = object.__setattr__
    __eq__ = object.__eq__
    __hash__ = object.__hash__

    def __init__(self, memory: Memory, content: Any, kind: type | None = None):
        self.content, self.type = content, content.kind if kind is None else kind
        self.distinct = not is_open(content) or holds_values(content)
        self.holders: list[Box] = []
        self.parts: list[Box] = []
        self.same: list[Box] = []
        self.joined: tuple[Any, Any] | None = None
        self.factory: Any = None
        _begin(self, memory)
        if not self.distinct and not holds_numbers(content):
            memory.unions.append(self)

    @property
    def root(self) -> Reference | Box:
        return self if self.view is None else self.view.base.root

    @property
    def kind(self) -> type:
        return self.type

    @property
    def keys(self) -> tuple:
        return self.known().keys

    @property
    def items(self) -> tuple:
        return self.known().items

    @property
    def is_dynamic(self) -> bool:
        """Whether it is a list whose length is not known now."""
        return is_open(self.content)

    def known(self) -> Tree:
        if is_partial(self.content):
            raise unknown_entries(self.content)
        if isinstance(self.content, Tree) and not is_rows(self.content):
            return self.content
        if is_open(self.content):
            error = UnsupportedError(
                "S2S205",
                "a list whose length is not known when code is generated",
                help="make an array of it: np.array(items)",
            )
            raise NeedStatic(next(symbols(self)).name, "the number of items", error)
        raise self.content.error()

    def __repr__(self) -> str:
        return f"Box({self.type.__name__}, {self.born})"


def unknown_entries(content: Tree) -> UnsupportedError:
    """The error for what needs all entries of a dict or an object."""
    lacking = [repr(k) for k, x in zip(content.keys, content.items, strict=True) if is_uncertain(x)]
    name = content.kind.of.__name__
    entries = {"dict": "entries", "list": "items"}.get(name, "attributes")
    ask = "set them before it, or ask for one: d[key], key in d, d.get(key)"
    return UnsupportedError(
        "S2S205",
        f"which {entries} a {name} has, where {', '.join(lacking) or 'some'} may be missing",
        why="a branch or a loop decides which there are, and in which order",
        help="write a loop over its items" if name == "list" else ask,
    )


def _begin(value: Reference | Box, memory: Memory) -> None:
    value.memory, value.born = memory, memory.tick()
    value.view, value.refusal, value.source = None, "", None
    value.kin = []
    value.views = []


def is_immutable(value: Symbol) -> bool:
    """Whether the value is a number, of Python's or NumPy's, which nothing changes."""
    if isinstance(value, Reference) and value.number:
        return True
    return isinstance(value.fact, Scalar)


def holds_numbers(value: Any) -> bool:
    """Whether a list holds numbers, which nothing changes."""
    if is_rows(value):
        return all(map(holds_numbers, symbols(value)))
    if isinstance(value, Tree):
        items = [each for each in value.items if isinstance(each, Symbol)]
        return all(map(is_immutable, items)) and not any(isinstance(e, Tree) for e in value.items)
    return isinstance(value.fact, List) and shape_of(value.fact.item) == ()


def holds_values(content: Any) -> bool:
    """Whether what a list holds whose length is not known are numbers, and tuples of these."""
    return holds_numbers(content) and not any(
        isinstance(each, Tree) and not issubclass(each.kind, tuple) for each in parts_of(content)
    )


def settled(value: Any) -> Any:
    """The value as it is now: what later stores leave alone."""
    if isinstance(value, Reference):
        return Symbol(value.builder, value.name)
    if isinstance(value, Poison):
        raise value.error()
    if isinstance(value, Box):
        return settled(value.content if value.is_dynamic else value.known())
    if isinstance(value, Tree):
        return Tree(value.kind, value.keys, tuple(map(settled, value.items)))
    if isinstance(value, slice):
        return slice(settled(value.start), settled(value.stop), settled(value.step))
    if type(value) in (tuple, list):
        return type(value)(map(settled, value))
    if type(value) is dict:
        return {key: settled(item) for key, item in value.items()}
    return value


def rebuilt(value: Any, leaf: Callable[[Any], Any]) -> Any:
    """The containers in a value as Trees, and what `leaf` gives for everything else."""
    if isinstance(value, Box) and (value.is_dynamic or is_partial(value.content)):
        return rebuilt(value.content, leaf)
    if isinstance(value, Tree):
        return Tree(value.kind, value.keys, tuple(rebuilt(each, leaf) for each in value.items))
    return leaf(value)


def opened_by(holding: Callable[[Any], Any], value: Any) -> Any:
    """The containers in a value as Trees, with what `holding` says that each part of it holds."""
    held = holding(value)
    if type(held) is not Tree:
        return held
    items = tuple(opened_by(holding, each) for each in held.items)
    return Tree(held.kind, held.keys, items)


def opened(value: Any) -> Any:
    """The containers in a value as Trees; lists whose length is not known are leaves."""
    return rebuilt(value, lambda leaf: leaf)


def symbols(value: Any) -> Iterator[Symbol]:
    """The Symbols in a value, with those in its containers and closures."""
    return (each for each in parts_of(value) if isinstance(each, Symbol))


def changing(value: Any) -> Iterator[Reference | Box]:
    """The objects in a value that may change."""
    for each in parts_of(value):
        if isinstance(each, Box) or (isinstance(each, Reference) and not is_immutable(each)):
            yield each


def parts_of(value: Any) -> Iterator[Any]:
    """The value, and all that it holds at any depth, each Box once."""
    waiting, seen = [value], set()
    while waiting:
        each = waiting.pop()
        if id(each) in seen:
            continue
        if isinstance(each, Box):
            seen.add(id(each))
        yield each
        waiting += reversed(held_by(each))


def held_by(value: Any) -> list:
    """What a value holds directly."""
    if isinstance(value, slice):
        return [value.start, value.stop, value.step]
    if isinstance(value, dict):
        return list(value.values())
    if isinstance(value, tuple | list):
        return list(value)
    if isinstance(value, Box):
        return [value.content]
    if dataclasses.is_dataclass(value) and hasattr(value, "holds"):
        return list(value.holds())
    return list(value.items) if isinstance(value, Tree) else []
