"""The definition of a generated function: parameters, docstring and comments."""

from __future__ import annotations

import inspect
import textwrap
from collections.abc import Collection
from dataclasses import replace
from typing import Any

import gast

from s2s_ad.core import form, tree
from s2s_ad.core.program import Input, Program
from s2s_ad.core.tree import Tree
from s2s_ad.diagnostics import UnsupportedError
from s2s_ad.emit.lines import Line, flat
from s2s_ad.emit.provenance import BLOCKS, mark, with_origin
from s2s_ad.emit.rename import Naming
from s2s_ad.emit.text import WIDTH

BY_NAME = (inspect.Parameter.KEYWORD_ONLY, inspect.Parameter.VAR_KEYWORD)


def definition(program: Program, body: list[gast.stmt], naming: Naming) -> gast.FunctionDef:
    doc = gast.Expr(gast.Constant(docstring(program), None))
    made = gast.FunctionDef(
        name=program.name,
        args=_arguments(program, naming),
        body=[doc, *body],
        decorator_list=[],
        returns=None,
        type_comment=None,
        type_params=[],
    )
    mark(made, [program.origin])
    return made


def docstring(program: Program) -> str:
    """What the function computes, in a sentence, and where the user's function stands."""
    first = program.doc.split(" ", 1)[0]
    sentence = program.doc
    if first in ("gradient", "Jacobian"):
        sentence = sentence[0].upper() + sentence[1:]
    if program.origin is not None:
        sentence += f" ({program.origin.place})"
    return _wrapped(f"{sentence}.{_of_writes(program)}")


def _of_writes(program: Program) -> str:
    """What the results after the first are: the caller stores them in Parameters."""
    names = [each.text for each in program.writes]
    if not names:
        return ""
    listed = " and ".join(filter(None, (", ".join(names[:-1]), names[-1])))
    return f" The results after the first are what {listed} {_holds(names)} afterwards."


def _holds(names: list[str]) -> str:
    return "holds" if len(names) == 1 else "hold"


def _wrapped(text: str) -> str:
    if len(text) <= WIDTH - 10:
        return text
    rows = textwrap.wrap(text, WIDTH - 7, break_long_words=False, break_on_hyphens=False)
    return "\n    ".join(rows) + "\n    "


# ---- parameters ----------------------------------------------------------------------------------


def _arguments(program: Program, naming: Naming) -> gast.arguments:
    kinds = inspect.Parameter
    groups: dict[Any, list] = {kind: [] for kind in inspect._ParameterKind}
    for each in program.inputs:
        groups[each.kind].append(form.name(_shown(each, naming), gast.Param))
    return gast.arguments(
        args=groups[kinds.POSITIONAL_OR_KEYWORD],
        posonlyargs=groups[kinds.POSITIONAL_ONLY],
        vararg=next(iter(groups[kinds.VAR_POSITIONAL]), None),
        kwonlyargs=groups[kinds.KEYWORD_ONLY],
        kw_defaults=[None] * len(groups[kinds.KEYWORD_ONLY]),
        kwarg=next(iter(groups[kinds.VAR_KEYWORD]), None),
        defaults=[],
    )


def _shown(each: Input, naming: Naming) -> str:
    return each.name if isinstance(each.tree, Tree) else naming.shown[each.tree]


def with_free_trees(program: Program, reserved: Collection[str]) -> Program:
    """Parameters that are containers called otherwise, where the text calls what they shadow."""
    used = {*reserved, *(each.name for each in program.inputs)}
    inputs = []
    for each in program.inputs:
        name, count = each.name, 2
        while isinstance(each.tree, Tree) and each.name in reserved and name in used:
            name, count = f"{each.name}_{count}", count + 1
        inputs.append(replace(each, name=name))
        used.add(name)
    return program.with_(inputs=tuple(inputs))


def keywords_of(program: Program) -> list[str]:
    """The names of the parameters that are passed by name."""
    return [each.name for each in program.inputs if each.kind in BY_NAME]


def check_keywords(program: Program, naming: Naming, names: Collection[str]) -> None:
    """Refuse to call a parameter that is passed by name otherwise."""
    shown = [_shown(each, naming) for each in program.inputs if each.kind in BY_NAME]
    for name, other in zip(names, shown, strict=True):
        if name != other:
            raise UnsupportedError(
                "S2S201",
                f"a keyword-only parameter called {name!r}",
                origin=program.origin,
                why=f"the generated function calls what Python or the module calls {name!r}",
                help="give it another name",
            )


def destructuring(
    program: Program, lines: list[Line], output: gast.AST, naming: Naming
) -> list[gast.stmt]:
    """W, b = params["W"], params["b"]: what is read of an argument that is a container."""
    read = {name for line in flat(lines) for name in line.reads()} | set(form.reads(output))
    body: list[gast.stmt] = []
    for each in program.inputs:
        if not isinstance(each.tree, Tree):
            continue
        if each.tree.kind is tuple and each.tree.items and read.issuperset(each.tree.items):
            shown = [form.name(naming.shown[leaf], gast.Store) for leaf in each.tree.items]
            target = gast.Tuple(shown, gast.Store())
            body.append(with_origin(gast.Assign([target], form.name(each.name), None), None))
            continue
        pairs = [
            (form.name(naming.shown[leaf], gast.Store), _path(each.name, path))
            for leaf, path in zip(tree.leaves(each.tree), tree.paths(each.tree), strict=True)
            if leaf in read
        ]
        if not pairs:
            continue
        targets, values = zip(*pairs, strict=True)
        single = len(pairs) == 1
        target = targets[0] if single else gast.Tuple(list(targets), gast.Store())
        value = values[0] if single else gast.Tuple(list(values), gast.Load())
        body.append(with_origin(gast.Assign([target], value, None), None))
    return body


def _path(root: str, path: tree.Path) -> gast.AST:
    node: gast.AST = form.name(root)
    for way, key in path:
        if way == "attribute":
            node = gast.Attribute(node, key, gast.Load())
        else:
            node = gast.Subscript(node, gast.Constant(key, None), gast.Load())
    return node


# ---- comments ------------------------------------------------------------------------------------


def comment(program: Program, body: list[gast.stmt]) -> None:
    """Sweeps are headed, and the first statement of each of the user's lines names it."""
    phases = [getattr(statement, "phase", "") for statement in body]
    both = phases.count("forward") > 1 and phases.count("backward") > 1
    shown = ""
    for statement, phase in zip(body, phases, strict=True):
        if both and phase in ("forward", "backward") and phase != shown:
            statement.comments_before = [phase]
            shown = phase
    first = None if program.origin is None else program.origin.line
    _comment_lines(body, first, None)


def _comment_lines(
    body: list[gast.stmt],
    first: int | None,
    previous: int | None,
    named: set[int | None] | None = None,
) -> int | None:
    """Name the user's line where it is another than that of the statement before.

    In a block each line is named once; `named` are those that are already.
    """
    for statement in body:
        origin = getattr(statement, "origin", None)
        if origin is not None and origin.root != previous:
            previous = origin.root
            if origin.root != first and (named is None or origin.root not in named):
                statement.comment_after = f"line {origin.root}"
            if named is not None:
                named.add(origin.root)
        for block in BLOCKS:
            inner = getattr(statement, block, None)
            if isinstance(inner, list):
                known = {previous} if named is None else named
                previous = _comment_lines(inner, first, previous, known)
    return previous
