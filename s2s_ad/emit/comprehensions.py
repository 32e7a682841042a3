"""A loop that does no more than to fill a list is a comprehension."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence

import gast

from s2s_ad.core import form
from s2s_ad.emit.filled import makes_list
from s2s_ad.emit.provenance import absorb, with_origin
from s2s_ad.emit.sugar import called_on, names_of, sources_of


def as_comprehension(
    loop: gast.For, before: list[gast.stmt], function: Sequence[gast.stmt]
) -> gast.stmt:
    """Before: `xs = []; for y in ys: xs.append(f(y))`; after: `xs = [f(y) for y in ys]`.

    The empty list is taken from what stands before the loop. The loop stays one where that is made
    elsewhere, or where the function reads afterwards what the last pass has bound.
    """
    filled = _filled(loop)
    index = _place_of_list(before, filled)
    if index is None:
        return loop
    item = loop.body[0].value.args[0]
    bound = names_of(loop.target)
    if filled in names_of(item) | names_of(loop.iter) | bound:
        return loop
    if _are_read_later(loop, bound, function):
        return loop
    made = gast.Assign(before[index].targets, _listed(loop, item), None)
    with_origin(made, loop.origin, loop.phase)
    absorb(made, [loop, loop.body[0], before[index]])
    del before[index]
    return made


def put_into(first: gast.stmt, second: gast.stmt, loads: Callable[[], Counter[str]]) -> bool:
    """Write a comprehension where it is read once, as what an array is made of; whether it was.

    Before: `xs = [f(y) for y in ys]; x = np.array(xs)`; after: `x = np.array([f(y) for y in ys])`.
    """
    if not isinstance(first, gast.Assign) or not isinstance(first.value, gast.ListComp):
        return False
    name = getattr(first.targets[0], "id", "")
    if loads()[name] != 2 or not isinstance(second, gast.Assign | gast.Return):  # append, and here
        return False
    for call in getattr(second.value, "elts", [second.value]):
        if [getattr(each, "id", "") for each in getattr(call, "args", ())] == [name]:
            call.args = [first.value]
            absorb(second, [first])
            return True
    return False


def _filled(loop: gast.For) -> str:
    """xs of a loop that is `xs.append(...)` and nothing else; "" of any other."""
    only = loop.body[0] if len(loop.body) == 1 and not loop.orelse else None
    return called_on(only.value, "append") if isinstance(only, gast.Expr) else ""


def _place_of_list(before: Sequence[gast.stmt], name: str) -> int | None:
    """Where `name = []` stands, behind which nothing mentions the name."""
    for index in range(len(before) - 1, -1, -1) if name else ():
        if name in names_of(before[index]):
            return index if makes_list(before[index]) else None
    return None


def _listed(loop: gast.For, item: gast.AST) -> gast.AST:
    """The list: a copy of all items where that is what it is."""
    index = getattr(loop.target, "id", "")
    is_part = isinstance(item, gast.Subscript) and getattr(item.slice, "id", "") == index
    if is_part and sources_of(loop.iter) == [getattr(item.value, "id", "")]:
        return gast.Call(form.name("list"), [item.value], [])
    if index and getattr(item, "id", "") == index:
        return gast.Call(form.name("list"), [loop.iter], [])
    every = gast.comprehension(target=loop.target, iter=loop.iter, ifs=[], is_async=0)
    return gast.ListComp(item, [every])


def _are_read_later(loop: gast.For, bound: set[str], function: Sequence[gast.stmt]) -> bool:
    """Whether what the loop binds is read where no other loop has bound it."""
    return any(_reads(each, name, loop, True) for name in bound for each in function)


def _reads(node: gast.AST, name: str, loop: gast.For, reached: bool) -> bool:
    """Whether a name is read, where what the loop has bound may have `reached`."""
    if isinstance(node, gast.Name):
        return reached and node.id == name and isinstance(node.ctx, gast.Load)
    if isinstance(node, gast.For) and name in names_of(node.target):
        inside = node is not loop and any(each is loop for each in gast.walk(node))
        if _reads(node.iter, name, loop, reached):
            return True
        return any(_reads(each, name, loop, inside) for each in (*node.body, *node.orelse))
    return any(_reads(each, name, loop, reached) for each in gast.iter_child_nodes(node))
