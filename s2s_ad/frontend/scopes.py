"""The names that a function binds, and statements that would change names of another scope."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from dataclasses import dataclass

import gast

FUNCTIONS = (gast.FunctionDef, gast.AsyncFunctionDef, gast.Lambda)
COMPREHENSIONS = (gast.ListComp, gast.SetComp, gast.DictComp, gast.GeneratorExp)
ELSEWHERE = (gast.Global, gast.Nonlocal, gast.Yield, gast.YieldFrom)


@dataclass(frozen=True, slots=True)
class Scope:
    """One function's own scope, nested functions left out.

    `names` are bound in it somewhere, so reading them before they are assigned is an error.
    `refused` is the first statement that gives the whole function another meaning, wherever it
    stands: global, nonlocal, yield.
    """

    names: frozenset[str]
    refused: gast.AST | None


@functools.lru_cache(maxsize=4096)
def scope_of(function: gast.FunctionDef | gast.Lambda) -> Scope:
    """The scope of a function's definition."""
    args = function.args
    names = {each.id for each in [*args.posonlyargs, *args.args, *args.kwonlyargs]}
    names |= {each.id for each in (args.vararg, args.kwarg) if each is not None}
    refused = None
    body = [function.body] if isinstance(function, gast.Lambda) else function.body
    for node in (each for statement in body for each in _walk(statement)):
        names |= set(_bound(node))
        if refused is None and isinstance(node, ELSEWHERE):
            refused = node
    return Scope(frozenset(names), refused)


def _walk(node: gast.AST) -> Iterator[gast.AST]:
    """The nodes of one scope, in the order of the text."""
    yield node
    if isinstance(node, FUNCTIONS):
        inside = [*node.args.defaults, *filter(None, node.args.kw_defaults)]
        inside += getattr(node, "decorator_list", [])
    elif isinstance(node, gast.ClassDef):
        inside = [*node.bases, *(each.value for each in node.keywords), *node.decorator_list]
    elif isinstance(node, COMPREHENSIONS):
        inside = [node.generators[0].iter]
        inside += [each for each in gast.walk(node) if isinstance(each, gast.NamedExpr)]
    else:
        inside = gast.iter_child_nodes(node)
    for child in inside:
        yield from _walk(child)


def _bound(node: gast.AST) -> Iterator[str]:
    """The names that a node itself binds."""
    if isinstance(node, gast.Name) and isinstance(node.ctx, gast.Store | gast.Del):
        yield node.id
    elif isinstance(node, gast.FunctionDef | gast.AsyncFunctionDef | gast.ClassDef):
        yield node.name
    elif isinstance(node, gast.Import | gast.ImportFrom):
        for alias in node.names:
            yield alias.asname or alias.name.partition(".")[0]
    elif isinstance(node, gast.MatchAs | gast.MatchStar) and node.name:
        yield node.name
    elif isinstance(node, gast.MatchMapping) and node.rest:
        yield node.rest


def bound_names(nodes: list[gast.AST]) -> tuple[list[str], list[str]]:
    """The names that some statements of one scope bind, and those they update (`a += b`)."""
    found = [each for node in nodes for each in _walk(node)]
    updates = [each.target for each in found if isinstance(each, gast.AugAssign)]
    bound = [name for each in found if all(each is not x for x in updates) for name in _bound(each)]
    names = [each.id for each in updates if isinstance(each, gast.Name)]
    return list(dict.fromkeys(bound)), list(dict.fromkeys(names))
