"""Generated source, function by function and as a module."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import gast

from s2s_ad.core.homes import is_optional
from s2s_ad.core.program import Program
from s2s_ad.emit.printer import print_statements
from s2s_ad.emit.provenance import NO_ROW, Row

WIDTH = 88


@dataclass(frozen=True, slots=True)
class Written:
    """One function as text, and the program that it is the text of."""

    name: str
    program: Program
    text: str
    statements: int
    shown: dict[str, str]
    rows: list[Row]
    families: dict[str, str]


@dataclass(frozen=True)
class Text:
    """Generated source, and what has to stand in its module for it to run.

    Attributes:
        name: the function's name.
        function: the text of the function.
        captured: the name of each captured number or array -> its Core name.
        objects: names of objects of the user's that the text refers to.
        helpers: names of runtime helpers.
        statements: how many statements the function has, its docstring apart.
        modules: modules of the standard library and of SciPy that the text names.
        shown: Core name -> its name in the text, for the values that have one.
        assumed: what it assumes of the lengths of its arguments.
        native: the module of its loops, where there is one; `refused` says why there is none.
        rows: where each line of `function` comes from, `native_rows` each of `native`.
        cut: the function in parts, some of them native (`native/cutting.py`), where that is all.
        families: each name of the text, and the one that it is made of: `x_bar` of `x`.
        kept_in: Core name of a list -> that of the list of tuples which its items are put into.
    """

    name: str
    function: str
    captured: dict[str, str]
    objects: dict[str, Any]
    helpers: tuple[str, ...]
    statements: int
    modules: tuple[str, ...] = ()
    shown: dict[str, str] = field(default_factory=dict)
    assumed: tuple[str, ...] = ()
    native: str = ""
    native_rows: tuple[Row, ...] = ()
    refused: str = ""
    cut: Any = None
    rows: tuple[Row, ...] = ()
    families: dict[str, str] = field(default_factory=dict)
    kept_in: dict[str, str] = field(default_factory=dict)

    @property
    def module(self) -> str:
        """The function with its imports."""
        return self._head + self.function

    @property
    def module_rows(self) -> list[Row]:
        """Where each line of `module` comes from; its head is ours."""
        return [NO_ROW] * self._head.count("\n") + [*self.rows]

    @property
    def _head(self) -> str:
        imports = ["\n".join(group) + "\n" for group in import_groups(self.modules, numpy=True)]
        imports[-1] = imports[-1].rstrip("\n")
        if self.helpers:
            names = [gast.alias(each, None) for each in self.helpers]
            line = gast.ImportFrom(module="s2s_ad.runtime", names=names, level=0)
            imports += ["", print_statements([line], WIDTH).rstrip("\n")]
        bound = [*self.captured, *self.objects]
        note = [f"# bound when it was compiled: {', '.join(bound)}"] if bound else []
        if self.assumed:
            assumed, start = ", ".join(self.assumed), "# for arguments with "
            note += textwrap.wrap(assumed, WIDTH, initial_indent=start, subsequent_indent="# ")
        return "\n".join([*imports, *(["", *note] if note else []), "", "", ""])


def import_groups(modules: Iterable[str], *, numpy: bool) -> list[list[str]]:
    """The import statements of the standard library, and those of other libraries."""
    lines = sorted((is_optional(each), f"import {each}") for each in modules)
    own, others = ([line for flag, line in lines if flag is optional] for optional in (False, True))
    groups = [own, [*(["import numpy as np"] if numpy else []), *others]]
    return [group for group in groups if group]
