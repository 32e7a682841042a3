"""The names that a function binds, and statements that would change names of another scope."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

import gast

from s2s_ad.frontend.remembered import remembered

FUNCTIONS = (gast.FunctionDef, gast.AsyncFunctionDef, gast.Lambda)
COMPREHENSIONS = (gast.ListComp, gast.SetComp, gast.DictComp, gast.GeneratorExp)
ELSEWHERE = (gast.Yield, gast.YieldFrom)


@dataclass(frozen=True, slots=True)
class Scope:
    """One function's own scope, nested functions left out.

    `names` are bound in it somewhere, so reading them before they are assigned is an error.
    `refused` is the first statement that gives the whole function another meaning, wherever it
    stands: yield. `module` are the names of the module that it binds (global), and the statements
    that say so; `outer` are names of functions around that it binds (nonlocal), and the
    statements that say so; `shared` those of its names that functions inside bind in this way.
    """

    names: frozenset[str]
    refused: gast.AST | None
    outer: Mapping[str, gast.AST] = field(default_factory=dict)
    shared: frozenset[str] = frozenset()
    module: Mapping[str, gast.AST] = field(default_factory=dict)


def parameters_of(function: gast.FunctionDef | gast.Lambda) -> set[str]:
    """The names of a function's parameters."""
    args = function.args
    names = {each.id for each in [*args.posonlyargs, *args.args, *args.kwonlyargs]}
    return names | {each.id for each in (args.vararg, args.kwarg) if each is not None}


@remembered
def scope_of(function: gast.FunctionDef | gast.Lambda) -> Scope:
    """The scope of a function's definition."""
    names = parameters_of(function)
    body = [function.body] if isinstance(function, gast.Lambda) else function.body
    nodes = [each for statement in body for each in _walk(statement)]
    names.update(name for each in nodes for name in bound_by(each))
    refused = next((each for each in nodes if isinstance(each, ELSEWHERE)), None)
    said = [each for each in nodes if isinstance(each, gast.Nonlocal)]
    outer = {name: each for each in said for name in each.names}
    told = {name: each for each in nodes if isinstance(each, gast.Global) for name in each.names}
    module = {name: node for name, node in told.items() if name in names}
    names -= outer.keys() | told.keys()
    inside = {
        name for each in nodes if isinstance(each, FUNCTIONS) for name in _bound_outside(each)
    }
    return Scope(frozenset(names), refused, outer, frozenset(names & inside), module)


def _bound_outside(function: gast.AST) -> set[str]:
    """The names of functions around it that a function binds, or one inside it."""
    if isinstance(function, gast.AsyncFunctionDef):
        return set()
    body = [function.body] if isinstance(function, gast.Lambda) else function.body
    inner = [each for node in body for each in _walk(node) if isinstance(each, FUNCTIONS)]
    scope = scope_of(function)
    return {name for each in inner for name in _bound_outside(each)} - scope.names | {*scope.outer}


def _walk(node: gast.AST) -> Iterator[gast.AST]:
    """The nodes of one scope, in the order of the text."""
    waiting = [node]
    while waiting:
        node = waiting.pop()
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
            inside = list(gast.iter_child_nodes(node))
        waiting += reversed(inside)


def bound_by(node: gast.AST) -> Iterator[str]:
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
    others = [each for each in found if all(each is not x for x in updates)]
    bound = [name for each in others for name in bound_by(each)]
    names = [each.id for each in updates if isinstance(each, gast.Name)]
    return list(dict.fromkeys(bound)), list(dict.fromkeys(names))


def bound_otherwise(nodes: list[gast.AST]) -> set[str]:
    """The names that statements bind to something else than an item or attribute of that name.

    `gain = params["gain"]` is such an item; the target of a loop is none.
    """
    own: set[str] = set()
    for each in (each for node in nodes for each in _walk(node) if isinstance(each, gast.Assign)):
        read = [*gast.walk(each.value)]
        called = {part.attr for part in read if isinstance(part, gast.Attribute)}
        called |= {part.value for part in read if isinstance(part, gast.Constant)}
        targets = (part for target in each.targets for part in gast.walk(target))
        own |= {name for part in targets for name in bound_by(part) if name in called}
    return {*bound_names(nodes)[0]} - own
