"""Program: the one representation of a function from the frontend to the printer."""

from __future__ import annotations

import builtins
import inspect
import itertools
import keyword
import operator
import unicodedata
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any

import gast

from s2s_ad.core import form, tree
from s2s_ad.core.sharing import lazy
from s2s_ad.core.values import AbstractValue, List, Unknown, is_complex, of_constant
from s2s_ad.diagnostics import Origin

MOSTLY_OWN = 2  # the facts of a program for each name that it has


@dataclass(frozen=True, slots=True)
class CopyReason:
    """Why the compiler put a copy: what else may be the same memory.

    Attributes:
        of: the Core name of what may be the same memory.
        kind: "argument" (`of` is the caller's), "foreign" (it is memory of nobody that we know),
            "read" (`of` is read again after the change), "next" (in the next pass of a loop) or
            "result" (`of` is handed out).
        changed: where the copy would be changed, and in which sweep; None where it is handed out.
        read: where `of` is read then.
    """

    of: str
    kind: str
    changed: tuple[Origin | None, str] | None = None
    read: tuple[Origin | None, str] | None = None


@dataclass(frozen=True, slots=True)
class Hint:
    """What a name should be called in the text, and how much the reader cares for it.

    Kinds: "user" (a name of the user's), "derived" (the adjoint or tangent of one),
    "temporary" (a value that the user did not name). `of` is the name that a derived one is made
    of: `x` of `x_bar`, and of `x_bar_dot` too. `copied` says of a copy that the compiler put why,
    `saves` that the name is a list that the compiler keeps values of passes in.
    """

    text: str
    kind: str
    of: str = field(default="", compare=False)
    copied: CopyReason | None = field(default=None, compare=False)
    saves: bool = field(default=False, compare=False)

    def derived(self, suffix: str) -> Hint:
        kind = "temporary" if self.kind == "temporary" else "derived"
        return Hint(self.text + suffix if self.text else "", kind, self.of or self.text)


TEMPORARY = Hint("", "temporary")

LONGEST = 20  # characters of a name that is made of others


def list_of(text: str) -> str:
    """What a list is called that keeps a value of each pass: `x_saved`, of such lists `x_lists`."""
    if text in ("", "saved"):
        return ""
    plain = text.removesuffix("_saved")
    return f"{text}_saved" if plain == text else f"{plain}_lists"


def as_name(text: str, other: str = "f") -> str:
    """What stands for a name in code, where Python reads full-width letters as plain ones.

    Where it can be no name it is `other`: a lambda has none.
    """
    text = unicodedata.normalize("NFKC", text)
    return text if text.isidentifier() and not keyword.iskeyword(text) else other


def identifier(text: str) -> str:
    """A name for a captured path: self.w -> self_w, params["W1"] -> params_W1, 0.w -> w_0."""
    joined = "".join(c if c.isalnum() or c == "_" else "_" for c in text)
    words = [*filter(None, joined.split("_"))]
    numbers = [*itertools.takewhile(lambda word: word[0].isdigit(), words)]
    return "_".join([*words[len(numbers) :], *numbers]) if len(numbers) < len(words) else "captured"


@dataclass(frozen=True, slots=True)
class Input:
    """One parameter of the function: its kind in the signature, and the leaves it brings."""

    name: str
    tree: Any  # a leaf name, or a Tree of leaf names
    kind: inspect._ParameterKind = inspect.Parameter.POSITIONAL_OR_KEYWORD


@dataclass(frozen=True, eq=False, slots=True)
class Names:
    """The names as the code of a module sees them: its globals, and behind them the builtins."""

    space: dict[str, Any]

    def __getitem__(self, name: str) -> Any:
        return self.space[name] if name in self.space else vars(builtins)[name]


@dataclass(frozen=True, slots=True)
class Capture:
    """An object that the function reads and the user did not pass.

    `read()` gives the object that stands there now; compiled code is bound to `value`. Blocks and
    templates (`load/templates.py`) have neither. `name` is the Core name of a captured number or
    array, None where the object shaped the code itself. `source` is (Names or dict, key) or
    (object, attribute) where the place is such, or with further keys an item of it, for a guard
    without a call. `holder` is the tuple whose item it is. Of a tuple `read` gives the structure,
    and `whole` is how the tuple itself is read: (read, source).

    `path` leads to the place from the function that is transformed, where the place is its own: its
    globals, cells, defaults, and what is in them. What stands there in another function with the
    same code is found by it (`stands_at`). `aspect` is what `read` makes of what stands there.
    `called` says of a function that it is called and no more: its code and what that reads are
    captures of their own, so another function with that code does as well.
    """

    text: str
    read: Callable[[], Any] | None
    value: Any
    name: str | None = None
    source: tuple | None = None
    same: Callable[[Any, Any], bool] = operator.is_
    holder: tuple | None = None
    whole: tuple[Callable[[], Any], tuple | None] | None = None
    path: tree.Path | None = None
    aspect: Callable[[Any], Any] | None = None
    called: bool = False


#: the steps to a name of the function's module, to what a cell of it holds, and to its code
GLOBAL = "global"
CLOSURE = ("attribute", "__closure__")
CONTENTS = ("attribute", "cell_contents")
CODE = (("attribute", "__code__"),)
DEFAULTS = (("attribute", "__defaults__"),)


def stands_at(function: Any, path: tree.Path) -> Any:
    """The object that a path leads to from a function."""
    found = function
    for way, key in path:
        if way == "item":
            found = found[key]
        elif way == "attribute":
            found = getattr(found, key)
        else:
            space = found.__globals__
            found = space[key] if key in space else vars(builtins)[key]
    return found


@dataclass(frozen=True)
class Program:
    """A function in Core, with all that is known about it.

    `facts` maps each name to its abstract value, `hints` to what it should be called.
    `subject` is what the docstring speaks of: the user's function. `mutated` tells which arrays and
    containers among the arguments, by (parameter, path), the user's function changes in place: it
    means something else where one of them shares memory with another argument, or with an array
    of `beside`: those captured ones that it reads then. `tried` says that it runs in the body of a
    `try`, where whether it raises decides on what happens next. `tensors` says that the user's
    function has to do with Tensors: then what it returns are Tensors. `writes` are the Parameters
    that it changes: the output is a tuple of the function's result and of the new value of each,
    which the door of the compiled function stores (`load/tensor_entry.py`). `derived` says that a
    derivative or a batched form is in it, whose results share no memory with what came in. `kept`
    is how many of the result's leaves, the last ones, are there for a backward pass alone: some may
    have no value on a path, where nobody reads them. `own` are leaves that are lists which nobody
    else has: they may be changed. `part` is the number of the part of a cut function that it is
    (`native/cutting.py`), whose arguments and results stay as they are.
    """

    name: str
    doc: str
    inputs: tuple[Input, ...]
    body: tuple[form.Statement, ...]
    output: Any  # an atom, or a Tree of atoms
    facts: dict[str, Any]  # AbstractValues: passes know of which kind
    hints: dict[str, Hint]
    captures: tuple[Capture, ...] = ()
    origin: Origin | None = None
    notes: tuple[str, ...] = field(default=())
    mutated: tuple[tuple[str, tree.Path], ...] = ()
    beside: tuple[Capture, ...] = ()
    tried: bool = False
    tensors: bool = False
    writes: tuple[Capture, ...] = ()
    derived: bool = False
    kept: int = 0
    own: frozenset[str] = frozenset()
    part: int = 0

    @property
    def result(self) -> Any:
        """What the user's function returns: the output without the new values of Parameters."""
        return self.output.items[0] if self.writes else self.output

    def with_result(self, result: Any) -> Any:
        """The output in which something else stands for what the user's function returns."""
        if not self.writes:
            return result
        items = (result, *self.output.items[1:])
        return replace(self.output, items=items)

    def kept_atoms(self) -> list[gast.AST]:
        """What is handed to a backward pass."""
        leaves = tree.leaves(self.result)
        return leaves[len(leaves) - self.kept :]

    def written(self) -> list[Any]:
        """The new values of Parameters, one for each of `writes`."""
        return list(self.output.items[1:]) if self.writes else []

    def leaves(self) -> list[str]:
        """The names of all inputs' leaves, in order."""
        return list(self._leaves)

    @lazy
    def _leaves(self) -> list[str]:
        return [leaf for each in self.inputs for leaf in tree.leaves(each.tree)]

    @lazy
    def takes_lists(self) -> bool:
        """Whether a list whose length is not known is an input."""
        return any(isinstance(self.facts[leaf], List) for leaf in self._leaves)

    def fact(self, node: gast.AST) -> Any:
        """The abstract value of an atom."""
        if isinstance(node, gast.Name):
            return self.facts[node.id]
        return of_constant(node.value) if isinstance(node, gast.Constant) else Unknown()

    def outputs(self) -> list[gast.AST]:
        return tree.leaves(self.output)

    @lazy
    def own_facts(self) -> Mapping[str, AbstractValue]:
        """The facts without those of other programs, where these are among them.

        The blocks of a function are cut out of one builder, so each comes with the facts of all.
        """
        names = [each.target for each in self.body if isinstance(each, form.Op)]
        names += [*self.leaves(), *(each.name for each in self.captured())]
        if len(self.facts) <= MOSTLY_OWN * len(names):
            return self.facts
        return {name: self.facts[name] for name in names}

    @lazy
    def knows_complex(self) -> bool:
        """Whether one of the facts is that a name holds complex numbers."""
        return any(map(is_complex, self.own_facts.values()))

    @lazy
    def compounds(self) -> list[Any]:
        """The functions of its operations that have programs inside, each once."""
        rules = (statement.rule for statement in self.body)
        return list({id(each): each for each in rules if hasattr(each, "blocks")}.values())

    def captured(self) -> Iterator[Any]:
        """The captures that have a name."""
        return (each for each in self.captures if each.name is not None)

    def with_(self, **changes: Any) -> Program:
        """The program with other values of these fields.

        Programs are made by the thousand: `dataclasses.replace` takes ten times as long.
        """
        own = self.__dict__
        if not changes.keys() <= FIELDS:
            raise TypeError(f"a Program has no {', no '.join(changes.keys() - FIELDS)}")
        made = object.__new__(Program)
        made.__dict__.update({name: own[name] for name in FIELDS}, **changes)
        known = own.get("knows_complex")
        if known or (known is not None and "facts" not in changes):
            made.__dict__["knows_complex"] = known
        return made

    def with_body(self, body: Sequence[form.Statement]) -> Program:
        """The program with these statements; itself where they are its own."""
        if len(body) == len(self.body) and all(map(operator.is_, body, self.body)):
            return self
        return self.with_(body=tuple(body))

    def __str__(self) -> str:
        """Core as short text (see `core/text.py`)."""
        from s2s_ad.core.text import program_text

        return program_text(self)

    def verify(self) -> Program:
        """Check the form and that every name has a fact, blocks included; returns the program.

        A program never changes: it is checked once.
        """
        if "verified" in self.__dict__:
            return self
        self.__dict__["verified"] = True  # said before: a function that calls itself is in itself
        known = [*self.leaves(), *(each.name for each in self.captured())]
        form.verify(list(self.body), known, self.outputs())
        for statement in self.body:
            if isinstance(statement, form.Effect):
                continue
            if statement.target not in self.facts:
                raise form._broken(f"no fact for {statement.target}", statement)
            stub = getattr(statement.rule, "is_stub", False)  # its body is not known yet
            for block in () if stub else getattr(statement.rule, "blocks", ()):
                block.verify()
        return self


FIELDS = frozenset(each.name for each in fields(Program))
