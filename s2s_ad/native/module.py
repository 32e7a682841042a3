"""The module of a native function: its text, and the function that calls what Numba makes of it."""

from __future__ import annotations

import contextlib
import os
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import replace
from typing import Any

import gast

from s2s_ad.core.callee import Callee
from s2s_ad.core.program import Program
from s2s_ad.emit.definition import comment, docstring
from s2s_ad.emit.lines import flat
from s2s_ad.emit.printer import print_rows
from s2s_ad.emit.provenance import NO_ROW, Row
from s2s_ad.emit.ready import ready_functions
from s2s_ad.emit.text import WIDTH, Text
from s2s_ad.emit.variables import Opening
from s2s_ad.native.at_once import at_once
from s2s_ad.native.function import Function
from s2s_ad.native.masked import chosen_by_masks
from s2s_ad.native.nodes import NotNative
from s2s_ad.native.rooms import Rooms, rooms_of
from s2s_ad.native.state import RESERVED
from s2s_ad.native.support import CALLED, INTRINSICS, SUPPORT

#: a module, and where each of its lines comes from
Native = tuple[str, tuple[Row, ...]]
DECORATOR = '@njit(error_model="numpy", nogil=True)\n'
BRIEF = '@njit(error_model="numpy")\n'  # letting other threads run takes longer than the code


def native_text(program: Program) -> Native:
    """The module with the loops of a program and of the functions that it calls.

    Raises:
        NotNative: something in it has no native form.
    """
    if not program.outputs():
        raise NotNative("a function that returns no number")
    return Module(functions_of(program), {program.name}).text(program)


def with_loops(program: Program, text: Text) -> Text:
    """The text with the module of its loops, or why it has none."""
    return with_native(text, lambda: native_text(program))


def with_native(text: Text, make: Callable[[], Native]) -> Text:
    """The text with the module that `make` writes, or why it has none."""
    made: list[Native] = []
    refused = reason_of(lambda: made.append(make()))
    if refused:
        return replace(text, refused=refused)
    native, rows = made[0]
    return replace(text, native=native, native_rows=rows, refused="")


def reason_of(make: Callable[[], Any]) -> str:
    """Why something has no native form; empty where it has one."""
    try:
        make()
    except NotNative as error:
        return str(error) or "no native form"
    except Exception as error:  # the text for NumPy is right, whatever is wrong with the loops
        if "S2S_AD_VERIFY" in os.environ:
            raise
        return f"a fault of s2s_ad: {type(error).__name__}: {error}"
    return ""


def functions_of(program: Program) -> dict:
    """The program and the functions that it comes to, with their updates in place decided."""
    return ready_functions(program, change=for_loops)[0]


def for_loops(program: Program) -> Program:
    """The program with what is computed otherwise by loops."""
    return at_once(chosen_by_masks(program))


def hint_of(program: Program, name: str) -> str:
    """What a leaf is called."""
    hint = program.hints.get(name)
    return hint.text if hint is not None and hint.text else "x"


def _row(statement: gast.AST | None) -> Row:
    """Where a line comes from; a comment, and what passes data on, comes from nowhere."""
    origin = getattr(statement, "origin", None)
    return NO_ROW if origin is None else Row((origin,), getattr(statement, "phase", ""))


def _has_loops(definition: gast.AST) -> bool:
    return any(isinstance(each, gast.For | gast.While) for each in gast.walk(definition))


def _kind_of(callee: Callee) -> tuple[str, str]:
    """What functions that come from one of the user's have in common."""
    return callee.program.name, callee.program.doc


def _called(ready: Any) -> Iterator[Callee]:
    """The functions that a function calls, each as often as it stands there."""
    for line in flat(Opening(ready.stores).body(ready.program)):
        function = getattr(getattr(line.expression, "func", None), "value", None)
        if isinstance(function, Callee):
            yield function


class Module:
    """The functions that stand in a module of loops.

    Args:
        taken: names that other functions in it have.
    """

    def __init__(self, functions: dict, taken: Collection[str] = ()):
        self.functions, self.taken = functions, {*taken, *RESERVED}
        self.names: dict[Callee, str] = {}
        callees = [each for each in functions if each is not None]
        for each in callees:
            self._call(each)
        self.first: dict[Callee, Callee] = {}
        kinds = Counter(map(_kind_of, callees))
        self.repeated = {each for each in callees if kinds[_kind_of(each)] > 1}
        self.loops: dict[str, Callee] = {}
        written = {each: functions[each] for each in [None, *map(self._first, callees)]}
        self.calls = Counter(
            self._first(each) for ready in written.values() for each in _called(ready)
        )
        self.written: set[Callee] = set()
        self.texts: list[str] = []
        self.rooms = Rooms()
        self.one_by_one: set[str] = set()  # functions of which no several numbers are computed
        self.rows: list[Row] = []

    def text(
        self, program: Program, taken: Iterable[str] = (), *, many_calls: bool = False
    ) -> Native:
        """The module.

        Args:
            taken: further names of functions that will stand in it.
            many_calls: the function will be called often: it is given arrays to work in, `rooms`.
        """
        main = self._written(None, program.name, many_calls)
        body = "\n\n".join([*self.texts, main])
        used = {each for each in SUPPORT if re.search(rf"(?<![.\w]){each}\(", body)}
        used = used.union(*(CALLED.get(each, ()) for each in used))
        parts = [SUPPORT[each] for each in SUPPORT if each in used]
        own = ["import math"] if any("math." in each for each in [body, *parts]) else []
        others = ["import numpy as np"]
        others.append(
            "from numba import njit"
            + (", types" if any("types." in each for each in parts) else "")
        )
        others += ["from numba.extending import intrinsic"] if used & INTRINSICS else []
        head = "\n".join([*own, *([""] if own else []), *others]) + "\n"
        for each in used & {program.name, *taken}:  # the user's function is called like ours
            called = rf"(?<![.\w]){each}(?=\()"
            parts = [re.sub(called, f"{each}_helper", text) for text in parts]
            body = re.sub(f"(?<!def ){called}", f"{each}_helper", body)
        support = "\n\n".join([head, *parts, ""])
        return support + body, (*[NO_ROW] * support.count("\n"), *self.rows)

    def _written(self, key: Any, text: str, many_calls: bool = False) -> str:
        ready = self.functions[key]
        taken = [own for each, own in self.names.items() if self.calls[each] > 1]
        is_recursive = key is not None and key.is_recursive
        kind = {"is_recursive": is_recursive, "is_entry": key is None}
        writer = Function(ready, text, self._name_of, self._alone, taken, **kind)
        definition = writer.write()
        self.one_by_one |= writer.writer.one_by_one
        if many_calls:
            self.rooms = rooms_of(definition)
        comment(ready.program, definition.body)
        doc = gast.Expr(gast.Constant(docstring(ready.program), None))
        definition.body.insert(0, doc)
        text, statements = print_rows([definition], WIDTH)
        between = [NO_ROW] * (2 if self.rows else 0)  # functions stand two lines apart
        is_brief = key is None and not self.texts and not _has_loops(definition)
        decorator = BRIEF if is_brief else DECORATOR
        self.rows += [*between, *[NO_ROW] * decorator.count("\n"), *map(_row, statements)]
        return decorator + text

    def _first(self, callee: Callee) -> Callee:
        """The first function with the same loops, which stands in the module for all of them.

        Functions are asked for it that come from one of the user's, for arguments of other kinds.
        """
        if callee not in self.first:
            self.first[callee] = callee
            if callee in self.repeated and not callee.is_recursive:
                with contextlib.suppress(NotNative):  # who writes the module says so
                    text = self._loops(callee)
                    self.first[callee] = self.loops.setdefault(text, callee)
        return self.first[callee]

    def _loops(self, callee: Callee) -> str:
        """The text of a function alone, by a name that says nothing."""
        ready = self.functions[callee]
        name_of = lambda inner: self.names[self._first(inner)]  # noqa: E731
        definition = Function(ready, "_", name_of, lambda _: None).write()
        return print_rows([definition], WIDTH)[0]

    def _alone(self, callee: Callee) -> Any:
        """A function that is called in one place: it is compiled with what is around it, once."""
        first = self._first(callee)
        return self.functions[first] if self.calls[first] == 1 else None

    def _call(self, callee: Callee) -> None:
        """Give a function a name, which no variable of any function has."""
        text, count = callee.program.name, 2
        while text in self.names.values() or text in self.taken:
            text, count = f"{callee.program.name}_{count}", count + 1
        self.names[callee] = text

    def _name_of(self, callee: Callee) -> str:
        callee = self._first(callee)
        if callee not in self.written:
            self.written.add(callee)
            self.texts.append(self._written(callee, self.names[callee]))
        return self.names[callee]
