"""Comprehensions and generator expressions consumed on the spot, as the loops they stand for.

`[f(x) for x in xs if c]` is a loop that appends to a list: pass by pass where the items are known,
else rolled, and the list is one whose length is not known.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import gast

from s2s_ad.core.builder import fresh_name
from s2s_ad.core.values import UNDEFINED
from s2s_ad.frontend.lower.core import HANDLERS, Lowering, expression
from s2s_ad.frontend.lower.desugar import quote
from s2s_ad.frontend.lower.exits import rearranged
from s2s_ad.frontend.lower.iteration import IN_PLACE, Generator, Produced
from s2s_ad.frontend.lower.nonlocals import owner_of, refuse_shared
from s2s_ad.frontend.lower.poisons import Unjoined
from s2s_ad.frontend.lower.references import changing
from s2s_ad.frontend.resolve import Comprehension
from s2s_ad.frontend.scopes import bound_names


@expression(gast.ListComp)
def list_comprehension(lowering: Lowering, node: gast.ListComp) -> Any:
    """`[f(x) for x in xs if x > 0]`"""
    return consumed(lowering, generator(lowering, node), "T = []", "T.append(E)")


@expression(gast.DictComp)
def dict_comprehension(lowering: Lowering, node: gast.DictComp) -> Any:
    """`{key: f(x) for key, x in pairs}` The keys have to be known."""
    places = {"K": node.key, "E": node.value}
    return consumed(lowering, generator(lowering, node), "T = {}", "T[K] = E", places)


@expression(gast.SetComp)
def set_comprehension(lowering: Lowering, node: gast.SetComp) -> Any:
    """`{f(x) for x in items}` Of objects that are known."""
    return consumed(lowering, generator(lowering, node), "T = S()", "T.add(E)", values={"S": set})


def generator(lowering: Lowering, node: gast.AST) -> Generator:
    """The loops of a comprehension or a generator expression."""
    first = lowering.evaluate(node.generators[0].iter)
    return Generator(node, HANDLERS[IN_PLACE](lowering, first), lowering.frame)


def generator_over(lowering: Lowering, value: Any, node: gast.AST, test: Any = None) -> Generator:
    """The items of an iterable, as a generator expression gives them; those that pass a test."""
    if isinstance(value, Generator) and test is None:
        return value
    item = private("")
    load, store = (_name(item, context, node) for context in (gast.Load(), gast.Store()))
    clause = gast.comprehension(store, load, [] if test is None else [test(load)], 0)
    made = gast.copy_location(gast.GeneratorExp(load, [clause]), node)
    return Generator(made, value, lowering.frame)


def consumed(
    lowering: Lowering,
    items: Generator,
    before: str,
    each: str,
    places: Mapping[str, Any] | None = None,
    *,
    inner: str = "",
    after: str = "",
    values: Mapping[str, Any] | None = None,
    called: str = "T",
) -> Any:
    """The value of the local T after the loops of a generator expression.

    Args:
        before, each, after: statements before the loops, for each item E, and after the loops.
        inner: statements after each loop but the first.
        places: what stands in these statements for names in upper case.
        values: the values of further locals in them.
        called: what T is called in the text; F is the flag of the first pass.
    """
    node = items.node
    words = {"T": called, "F": "is_first"}
    keys = ("T", "I", "V", "W", "F", "N", *(values or {}))
    own = {key: private(words.get(key, key)) for key in keys}
    every = own | {"E": getattr(node, "elt", None)} | dict(places or {})
    body = quote(each, node, every)
    for place, clause in reversed([*enumerate(node.generators)]):
        iterable = clause.iter if place else _name(own["I"], gast.Load(), node)
        for test in reversed(clause.ifs):
            body = [gast.copy_location(gast.If(test, body, []), test)]
        loop = gast.For(clause.target, iterable, body, [], None)
        body = [gast.copy_location(loop, node), *(quote(inner, node, every) if place else [])]
    statements = [*quote(before, node, every), *body, *quote(after, node, every)]
    targets, _ = bound_names([clause.target for clause in node.generators])
    with hidden(lowering, items, [*targets, *own.values()]):
        names = lowering.frame.locals
        names[own["I"]] = items.first
        names |= {own[key]: value for key, value in (values or {}).items()}
        lowering.run(rearranged(statements))
        value = lowering.frame.locals[own["T"]]
    if isinstance(value, Unjoined):
        raise value.error(lowering)
    return value


def run_through(lowering: Lowering, items: Generator) -> Produced:
    """The items of a generator expression, all at once."""
    read = {each.id for each in gast.walk(items.node) if isinstance(each, gast.Name)}
    values = [items.first, *(items.frame.locals.get(name) for name in read)]
    owners = (owner_of(items.frame, name) for name in sorted(read))
    values += [each.shared for each in owners if each is not None]
    before, lowering.reads_ahead = lowering.reads_ahead, items.frame
    try:
        found = consumed(lowering, items, "T = []", "T.append(E)")
    finally:
        lowering.reads_ahead = before
    watched, moment = [*changing(values)], lowering.memory.moment()
    return Produced(found, watched, moment, "the generator expression")


@contextmanager
def hidden(lowering: Lowering, items: Generator, names: list[str]) -> Iterator[None]:
    """These locals of the frame in which a comprehension stands are its own inside it."""
    refuse_shared(items.frame, names)
    lowering.frames.append(items.frame)
    outer = items.frame.inner
    try:
        before = {name: items.frame.locals.pop(name, UNDEFINED) for name in names}
        scope = items.frame.inner = Comprehension(items.frame)
        yield
        for name, value in before.items():
            if name in items.frame.locals:  # a lambda in it reads what the name was last
                scope.locals[name] = items.frame.locals.pop(name)
            if value is not UNDEFINED:
                items.frame.locals[name] = value
    finally:
        items.frame.inner = outer
        lowering.frames.pop()


def private(text: str) -> str:
    """A local that a construct needs: no identifier of Python, so no user has it.

    In text it is called `text`, if that is a word in lower case.
    """
    return f"{fresh_name()} {text}"


def _name(identifier: str, context: gast.expr_context, node: gast.AST) -> gast.Name:
    return gast.copy_location(gast.Name(identifier, context, None, None), node)
