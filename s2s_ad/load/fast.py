"""The fast path: generated methods, each of which knows what one kind of call looks like.

They make a chain: a call that one does not know it hands to the next.
"""

from __future__ import annotations

import ast
import builtins
import inspect
import keyword
import linecache
import operator
import types
from collections.abc import Callable, Iterable, Set
from dataclasses import dataclass
from types import CodeType
from typing import Any

import numpy as np

from s2s_ad.core import tree, values
from s2s_ad.core.program import Capture, Names, Program
from s2s_ad.load.dispatch import BY_VALUE, GONE_ERRORS, LARGEST_TABLE, Specialisation, exact_key
from s2s_ad.load.native_lengths import Unserved
from s2s_ad.load.noted import noted
from s2s_ad.tensors import Tensor, plain

STAR = inspect.Parameter.VAR_POSITIONAL
DOUBLE_STAR = inspect.Parameter.VAR_KEYWORD
KEYWORD_ONLY = inspect.Parameter.KEYWORD_ONLY


class Absent:
    """Stands in the fast path for an argument that the call does not give."""


ABSENT = Absent()


MOST_HOT = 4  # kinds of calls that the fast path serves, shapes apart


@dataclass(frozen=True, slots=True, eq=False)
class Hot:
    """One kind of call: what serves it, its shapes so far, and the next method -> its own.

    Two kinds have one form where they differ in nothing but shapes and captured objects.
    """

    tests: tuple[str, ...]
    objects: tuple  # with which the tests compare
    found: Specialisation
    shapes: set[tuple]
    link: Callable[[Callable | None], Callable]

    def has_form(self, tests: tuple[str, ...], objects: tuple) -> bool:
        same = self.tests == tests and len(self.objects) == len(objects)
        return same and all(map(_is_same, self.objects, objects))

    def add(self, shapes: set[tuple]) -> None:
        if len(self.shapes) >= LARGEST_TABLE:
            self.shapes.clear()
        self.shapes.update(shapes)


def _is_same(a: Any, b: Any) -> bool:
    """Whether a test with the one is the test with the other."""
    return a is b or (type(a) is type(b) and type(a) in (*BY_VALUE, tuple) and a == b)


def linked(hots: tuple[Hot, ...]) -> Callable:
    """The method that knows all of these kinds."""
    method = None
    for each in reversed(hots):
        method = each.link(method)
    return method


def with_call(
    hots: tuple[Hot, ...],
    signature: inspect.Signature,
    arguments: dict[str, Any],
    found: Specialisation,
    slow: Callable,
    rescue: Callable,
    *,
    by_value: Set[tuple[str, tree.Path]] = frozenset(),
    ignored: Set[str] = frozenset(),
    required: Set[str] = frozenset(),
) -> tuple[Hot, ...]:
    """The kinds of calls that are served from now on, this one among them.

    Args:
        hots: those that are served already.
        signature: of the transformed function.
        arguments: of the call that others are compared with.
        slow: for all other calls: (the callable, arguments by position, by name) -> result.
        rescue: (the callable, an ArithmeticError, both kinds of arguments) -> result, or raises.
        by_value: where the arguments stand that count by value.
        ignored: parameters of which only the type is compared.
        required: parameters that are passed on though a call may leave them to their defaults.

    Returns:
        The same as before where the names of the parameters are ours.
    """
    parameters = list(signature.parameters.values())
    if any(p.name.startswith("_s2s") for p in parameters):
        return hots
    writer = Writer(found.loaded.program, signature.parameters, by_value, ignored)
    for parameter in parameters:
        if parameter.name in arguments:
            writer.argument(parameter.name, arguments[parameter.name])
        elif parameter.kind in (STAR, DOUBLE_STAR):
            writer.tests.append(f"not {parameter.name}")
        else:
            writer.tests.append(f"{parameter.name} is _s2s_absent")
    tests, objects = tuple(writer.tests), tuple(writer.space.values())
    alike = [each for each in hots if each.has_form(tests, objects)]
    native = found.loaded.native
    asks_itself = native is not None and native.asks_lengths
    shapes = writer.compare_shapes(written=bool(alike) or not asks_itself)
    writer.tests += found.assumed.texts_of_counts("_s2s_")
    known = next((each for each in alike if each.found is found), None)
    if known is not None:
        known.add(shapes)
        return hots
    writer.guards(found)
    writer.space |= {"_s2s_f": found.function, "_s2s_slow": slow, "_s2s_rescue": rescue}
    hot = Hot(tests, objects, found, shapes, writer.compiled(parameters, arguments, required))
    # the same code bound to other captured objects: those before are gone
    gone = [each for each in alike if each.found.loaded.text is found.loaded.text]
    return (hot, *(each for each in hots if each not in gone))[:MOST_HOT]


#: what debuggers show of the code that decides
FILE, SHOWN = "<s2s_ad dispatch>", "# step once more: the code for these arguments is called\n"
linecache.cache[FILE] = (len(SHOWN), None, [SHOWN], FILE)


def _on_one_line(source: str) -> CodeType:
    """The code with all of it on one line, so that a debugger steps over it at once."""
    module = ast.parse(source)
    for node in ast.walk(module):
        if hasattr(node, "lineno"):
            node.lineno = node.end_lineno = 1
            node.col_offset = node.end_col_offset = 0
    return compile(module, FILE, "exec")


class Writer:
    """Collects the tests of one fast path, and the objects that they compare with."""

    def __init__(
        self, program: Program, parameters: Iterable[str], by_value: Set, ignored: Set[str]
    ):
        self.by_value, self.ignored = by_value, ignored
        self.trees = {each.name: each.tree for each in program.inputs}
        self.tests: list[str] = []
        self.space: dict[str, Any] = {
            "_s2s_absent": ABSENT,
            "_s2s_arithmetic": ArithmeticError,
            "_s2s_attributes": tree.attributes_of,
            "_s2s_exception": Exception,
            "_s2s_gone": GONE_ERRORS,
            "_s2s_key": exact_key,
            "_s2s_keys": tuple,
            "_s2s_len": len,
            "_s2s_max": max,
            "_s2s_min": min,
            "_s2s_noted": noted,
            "_s2s_plain": np.asarray,
            "_s2s_range": range,
            "_s2s_type": type,
            "_s2s_unserved": Unserved,
        }
        self.names = {id(each): name for name, each in self.space.items()}
        self.temporaries = 0
        self.arrays: dict[str, str] = {}  # name of a Tensor -> that of its array
        self.shapes: dict[str, tuple[int, ...]] = {}  # text of an array -> its shape
        self.globals: dict[str, Any] = {}  # what the names in the text are
        self.taken = frozenset(parameters)

    def object(self, value: Any) -> str:
        """A name for an object that a test compares with."""
        known = self.names.get(id(value))
        if known is None:
            known = self.names[id(value)] = f"_s2s_{len(self.space)}"
            self.space[known] = value
        return known

    # ---- arguments

    def argument(self, name: str, value: Any) -> None:
        self._value(name, value, self.trees[name], (name, ()))

    def _value(self, text: str, value: Any, node: Any, place: tuple) -> None:
        if isinstance(node, tree.Tree):
            self._container(text, value, node, place)
        elif type(value) in BY_VALUE - {int, float, complex} or (
            type(value) is int and place in self.by_value
        ):
            self._known(text, value)
        elif type(value) in values.ARRAY_TYPES:
            self._array(text, value, place[0] not in self.ignored)
        elif type(value) in (int, float, complex) or isinstance(value, np.generic):
            self.tests.append(f"_s2s_type({text}) is {self.object(type(value))}")
        else:
            self.tests.append(f"_s2s_key({text}) == {self.object(exact_key(value))}")

    def _array(self, text: str, value: np.ndarray, compared: bool) -> None:
        if not compared:
            self.tests.append(f"_s2s_type({text}) is {self.object(type(value))}")
            return
        array = name = text
        if not name.isidentifier():  # an item: read once
            array = name = self._temporary()
            text = f"({name} := {text})"
        self.tests.append(f"_s2s_type({text}) is {self.object(type(value))}")
        dtype = f"{array}.dtype"
        if isinstance(value, Tensor):  # the array that it is: the compiled function wants that
            array = self.arrays[name] = self._temporary()
            dtype = f"({array} := _s2s_plain({name})).dtype"
        self.tests.append(f"{dtype} is {self.object(plain(value).dtype)}")
        self.shapes[array] = value.shape

    def compare_shapes(self, written: bool) -> set[tuple]:
        """Let a call have the shapes of this one, or others that are put into what is returned.

        Code that asks for lengths itself is tried last, and its calls need not be `written`.
        """
        known = self.space["_s2s_shapes"] = {tuple(self.shapes.values())}
        if self.shapes and written:
            pairs = self.shapes.items()
            these = " and ".join(f"{text}.shape == {self.object(each)}" for text, each in pairs)
            others = "".join(f"{text}.shape, " for text in self.shapes)
            self.tests.append(f"({these} or ({others}) in _s2s_shapes)")
        return known

    def _temporary(self) -> str:
        self.temporaries += 1
        return f"_s2s_item_{self.temporaries}"

    def _known(self, text: str, value: Any) -> None:
        if value is None or type(value) is bool:
            self.tests.append(f"{text} is {value}")
            return
        self.tests.append(f"_s2s_type({text}) is {self.object(type(value))}")
        self.tests.append(f"{text} == {self.object(value)}")

    def _container(self, text: str, value: Any, node: tree.Tree, place: tuple) -> None:
        self.tests.append(f"_s2s_type({text}) is {self.object(node.kind)}")
        if node.kind in (tuple, list):
            self.tests.append(f"_s2s_len({text}) == {len(node.items)}")
        elif node.kind is dict:
            self.tests.append(f"_s2s_keys({text}) == {self.object(node.keys)}")
            if not all(type(key) is str for key in node.keys):  # 1, 1.0 and True are equal
                self.tests.append(f"_s2s_key({text}) == {self.object(exact_key(value))}")
        elif not tree.is_made_by_a_call(node.kind):
            self.tests.append(f"_s2s_keys(_s2s_attributes({text})) == {self.object(node.keys)}")
        name, path = place
        for step, item in zip(node.steps(), node.items, strict=True):
            way, key = step
            plain = isinstance(key, str) or type(key) is int
            index = repr(key) if plain else self.object(key)
            inner = f"{text}.{key}" if way == "attribute" else f"{text}[{index}]"
            self._value(inner, tree.follow(value, (step,)), item, (name, (*path, step)))

    # ---- captured objects

    def guards(self, found: Specialisation) -> None:
        """Captured objects have to be the ones that the code is bound to.

        A tuple that is the same has the same items: these are not looked at.
        """
        spaces = [each for each in map(_space, found.captures) if each is not None]
        most = max(spaces, key=lambda each: sum(each is other for other in spaces), default={})
        if most:
            self.globals = most  # names cost least to read where they are globals
        tuples = [each.whole[0]() for each in found.captures if each.whole is not None]
        for capture, value in zip(found.captures, found.bound, strict=True):
            if any(capture.holder is each for each in tuples):
                continue
            if capture.whole is not None:
                now = self._now(*capture.whole)
                self.tests.append(f"{now} is {self.object(capture.whole[0]())}")
            elif capture.same is operator.is_:
                now = self._now(capture.read, capture.source)
                self.tests.append(f"{now} is {self.object(value)}")
            else:
                now = self._now(capture.read, capture.source)
                self.tests.append(f"{self.object(capture.same)}({now}, {self.object(value)})")

    def _now(self, read: Callable, source: tuple | None) -> str:
        """The text that reads what stands at a place."""
        if source is None:
            return f"{self.object(read)}()"
        holder, first, *keys = source
        if isinstance(holder, Names) or holder is self.globals:
            place = self._name(getattr(holder, "space", holder), first)
        elif isinstance(holder, dict | types.MappingProxyType):
            place = f"{self.object(holder)}[{first!r}]"
        else:
            place = f"{self.object(holder)}.{first}"
        return place + "".join(f"[{key!r}]" for key in keys)

    def _name(self, space: dict[str, Any], name: str) -> str:
        """A name of a module, as the code of that module reads it."""
        readable = name.isidentifier() and not keyword.iskeyword(name)
        if space is self.globals and readable and name not in self.taken:
            return name
        if name in space:
            return f"{self.object(space)}[{name!r}]"
        found = f"{self.object(vars(builtins))}[{name!r}]"
        return f"({found} if {name!r} not in {self.object(space)} else _s2s_absent)"

    # ---- the method

    def compiled(self, parameters: list, arguments: dict[str, Any], required: Set[str]) -> Callable:
        source = self._source(parameters, arguments, required)
        names = ", ".join(self.space)
        body = "".join(f"        {line}\n" for line in source.splitlines())
        link = f"    def link(_s2s_next):\n{body}        return __call__\n    return link\n"
        factory = f"def _s2s_make({names}):\n{link}"
        exec(_on_one_line(factory), made := {})
        link, space = made["_s2s_make"](*self.space.values()), self.globals
        return link if not space else lambda following: _among(space, link(following))

    def _source(self, parameters: list, arguments: dict[str, Any], required: Set[str]) -> str:
        """The tests are in a `try`: what a guard reads may be gone. The call is not."""
        head, passed, again, named, on = ["_s2s_self", "/"], [], [], [], ["_s2s_self"]
        filled = [p for p in parameters if p.name in required and p.default is not p.empty]
        more = next((p.name for p in parameters if p.kind is STAR), "_s2s_more")
        for p in parameters:
            given = f"_s2s_given_{p.name}" if any(p is each for each in filled) else p.name
            if p.kind >= KEYWORD_ONLY and f"*{more}" not in head:
                head.append(f"*{more}")
            stars = {STAR: "*", DOUBLE_STAR: "**"}.get(p.kind)
            head.append(f"{stars}{p.name}" if stars else f"{p.name}=_s2s_absent")
            on.append(f"{p.name}={given}" if p.kind is KEYWORD_ONLY else (stars or "") + given)
            array = self.arrays.get(p.name, p.name)
            by_name = f"{p.name}={array}" if p.kind is KEYWORD_ONLY else array
            if p.name in arguments:
                passed.append(f"{stars}{p.name}" if stars else by_name)
            if p.kind >= KEYWORD_ONLY:
                named.append(f"**{p.name}" if stars else f"{p.name!r}: {given}")
            elif not stars:
                again.append(given)
            if p.kind is inspect.Parameter.POSITIONAL_ONLY:
                head.remove("/")
                head.append("/")
        if f"*{more}" not in head:
            head.append(f"*{more}")
        own = ["not _s2s_more"] if more == "_s2s_more" else []
        if all(p.kind is not DOUBLE_STAR for p in parameters):
            head.append("**_s2s_named")
            named.append("**_s2s_named")
            own.append("not _s2s_named")
        condition = " and ".join([*own, *self.tests]) or "True"
        keywords = f"{{{', '.join(named)}}}"
        has_next = " and ".join(["_s2s_next is not None", *own])
        given = f"({''.join(f'{each}, ' for each in again)}*{more},)"
        return (
            f"def __call__({', '.join(head)}):\n"
            f"{''.join(map(self._filled, filled))}"
            f"    _s2s_failed = None\n"
            f"    try:\n"
            f"        _s2s_other = not ({condition})\n"
            f"    except _s2s_gone:\n"
            f"        _s2s_other = True\n"
            f"    if not _s2s_other:\n"
            f"        try:\n"
            f"            return _s2s_f({', '.join(passed)})\n"
            f"        except _s2s_unserved:\n"
            f"            pass\n"
            f"        except _s2s_arithmetic as _s2s_error:\n"
            f"            _s2s_failed = _s2s_error\n"
            f"        except _s2s_exception as _s2s_error:\n"
            f"            _s2s_noted(_s2s_error)\n"
            f"            raise\n"
            f"    if _s2s_failed is None:\n"
            f"        if {has_next}:\n"
            f"            return _s2s_next({', '.join(on)})\n"
            f"        return _s2s_slow(_s2s_self, {given}, {keywords})\n"
            f"    try:\n"
            f"        return _s2s_rescue(_s2s_self, _s2s_failed, {given}, {keywords})\n"
            f"    finally:\n"
            f"        del _s2s_failed\n"
        )

    def _filled(self, p: inspect.Parameter) -> str:
        """What gives a parameter its default, and keeps what it was given."""
        return (
            f"    _s2s_given_{p.name} = {p.name}\n"
            f"    if {p.name} is _s2s_absent:\n"
            f"        {p.name} = {self.object(p.default)}\n"
        )


def _space(capture: Capture) -> dict[str, Any] | None:
    """The globals of the module in which a captured object has a name."""
    holder = None if capture.source is None else capture.source[0]
    space = holder.space if isinstance(holder, Names) else holder
    return space if type(space) is dict and "__name__" in space else None


def _among(space: dict[str, Any], call: Callable) -> Callable:
    """A function with this code, whose globals are those of a module."""
    made = types.FunctionType(
        call.__code__, space, call.__name__, call.__defaults__, call.__closure__
    )
    made.__kwdefaults__ = call.__kwdefaults__
    return made
