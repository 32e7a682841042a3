"""Loops as a reader expects them: over the rows of an array where only they are read."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, TypeGuard

import gast

from s2s_ad.core import form
from s2s_ad.emit.provenance import absorb


def sweetened(loop: gast.For, *, reads: int, equal: Sequence[str] = ()) -> gast.For:
    """Before: `for i in range(len(xs)): x = xs[i]`; after: `for x in xs:`.

    Where the index is read for something else too: `for i, x in enumerate(xs):`. Of the shortest
    of several, or of `equal` lengths: `for x, y in zip(xs, ys):`.

    Args:
        reads: how often the index is read.
    """
    if len(equal) > 1:
        made = _over(loop, equal, reads)
        if made is not loop:
            return made
    return _over(loop, sources_of(_forwards(loop.iter)), reads)


def _over(loop: gast.For, sources: Sequence[str], reads: int) -> gast.For:
    """The loop over the rows of these; itself where it is not that."""
    backwards = _forwards(loop.iter) is not loop.iter
    rows = _Rows(loop, sources)
    if not sources or not rows.fit():
        return loop
    read = reads > len(sources)
    if (backwards and (read or len(sources) > 1)) or (read and len(sources) > 1):
        return loop
    target, items = _together(rows.names, sources)
    if backwards:
        items = gast.Call(form.name("reversed"), [items], [])
    if read:
        items = gast.Call(form.name("enumerate"), [items], [])
        target = gast.Tuple([form.name(loop.target.id, gast.Store), target], gast.Store())
    made = gast.For(target, items, rows.rest, [], None)
    absorb(made, rows.taking)
    return made


def turned_round(loop: gast.For) -> gast.For:
    """Before: `for i in reversed(range(n))`; after: `for i in range(n - 1, -1, -1)`.

    Numba reads this one, too. The bounds are whole numbers of Python's. Where the range has another
    step than 1 or -1 the former says more.
    """
    source = _forwards(loop.iter)
    if source is loop.iter or not _is_call(source, "range"):
        return loop
    start, stop, *step = source.args if len(source.args) > 1 else [form.constant(0), *source.args]
    if not step:
        bounds = [_moved(stop, -1), _moved(start, -1), form.constant(-1)]
    elif isinstance(step[0], gast.Constant) and step[0].value == -1:
        bounds = [_moved(stop, 1), _moved(start, 1)]
        bounds = bounds[getattr(bounds[0], "value", None) == 0 :]
    else:
        return loop
    loop.iter = gast.Call(source.func, bounds, [])
    return loop


def _moved(bound: gast.AST, by: int) -> gast.AST:
    """`bound + by`, in the fewest words."""
    if isinstance(bound, gast.Constant):
        return form.constant(bound.value + by)
    number = getattr(getattr(bound, "right", None), "value", None)
    if type(number) is int and isinstance(bound.op, gast.Add | gast.Sub):
        bound, by = bound.left, by + (number if isinstance(bound.op, gast.Add) else -number)
    if by == 0:
        return bound
    return gast.BinOp(bound, gast.Add() if by > 0 else gast.Sub(), form.constant(abs(by)))


class _Rows:
    """The statements of a loop that take a row of each source, and the rest."""

    def __init__(self, loop: gast.For, sources: Sequence[str]):
        self.loop, self.sources = loop, sources
        self.taking: list[gast.Assign] = []
        for source in sources:
            found = (s for s in loop.body if _takes_row(s, source, loop.target.id))
            self.taking += [each for each in found if each not in self.taking][:1]
        self.names = [each.targets[0].id for each in self.taking]
        self.rest = [each for each in loop.body if each not in self.taking]

    def fit(self) -> bool:
        """Whether the rows may as well be taken by the loop, before all else."""
        if len(self.taking) < len(self.sources) or not self.rest:
            return False
        if len({*self.names, self.loop.target.id, *self.sources}) < 2 * len(self.names) + 1:
            return False
        last = max(self.loop.body.index(each) for each in self.taking)
        before = [each for each in self.loop.body[:last] if each not in self.taking]
        if not all(map(_is_plain, before)) or set(self.names) & _names_in(before):
            return False
        return not any(map(_changes, self.rest, [set(self.sources)] * len(self.rest)))


def _forwards(iterable: gast.AST) -> Any:
    """xs of `reversed(xs)`, and of `xs`."""
    return iterable.args[0] if _is_call(iterable, "reversed") else iterable


def _together(names: Sequence[str], sources: Sequence[str]) -> tuple:
    """(x, y), zip(xs, ys), or x, xs of one alone."""
    targets = [form.name(each, gast.Store) for each in names]
    items = [form.name(each) for each in sources]
    if len(items) == 1:
        return targets[0], items[0]
    return gast.Tuple(targets, gast.Store()), gast.Call(form.name("zip"), items, [])


def sources_of(iterable: gast.AST) -> list[str]:
    """xs, ys of `range(np.minimum(len(xs), len(ys)))`; nothing where it is another range."""
    if not _is_call(iterable, "range") or len(iterable.args) != 1:
        return []
    sources = list(_lengths(iterable.args[0]))
    known = "" not in sources and len(set(sources)) == len(sources)
    return sources if known else []


def _lengths(node: gast.AST) -> Iterator[str]:
    function = getattr(node, "func", None)
    if isinstance(function, gast.Attribute) and function.attr == "minimum":
        for arg in node.args:
            yield from _lengths(arg)
    else:
        yield getattr(node.args[0], "id", "") if _is_call(node, "len") else ""


def _is_call(node: Any, name: str) -> TypeGuard[gast.Call]:
    return isinstance(node, gast.Call) and getattr(node.func, "id", None) == name


def _takes_row(statement: gast.stmt, source: str, index: str) -> bool:
    """`x = xs[i]`"""
    if not isinstance(statement, gast.Assign) or not isinstance(statement.targets[0], gast.Name):
        return False
    value = statement.value
    return (
        isinstance(value, gast.Subscript)
        and getattr(value.value, "id", None) == source
        and getattr(value.slice, "id", None) == index
    )


def called_on(node: Any, method: str) -> str:
    """xs of `xs.append(x)`, where that is the method; "" of anything else."""
    function = getattr(node, "func", None)
    if not isinstance(function, gast.Attribute) or function.attr != method:
        return ""
    return getattr(function.value, "id", "")


def names_of(node: gast.AST) -> set[str]:
    return {each.id for each in gast.walk(node) if isinstance(each, gast.Name)}


def _names_in(statements: Sequence[gast.stmt]) -> set[str]:
    return set().union(*map(names_of, statements))


def _is_plain(statement: gast.stmt) -> bool:
    """Whether it does no more than to give names to values, or to put them into a list."""
    if isinstance(statement, gast.Expr):
        function = getattr(statement.value, "func", None)
        return isinstance(function, gast.Attribute) and function.attr == "append"
    if not isinstance(statement, gast.Assign):
        return False
    target = statement.targets[0]
    targets = target.elts if isinstance(target, gast.Tuple) else [target]
    return all(isinstance(each, gast.Name) for each in targets)


def _changes(statement: gast.stmt, names: set[str]) -> bool:
    """Whether the statement assigns one of the names, or changes the length of what it holds."""
    for node in gast.walk(statement):
        if isinstance(node, gast.Name) and isinstance(node.ctx, gast.Store) and node.id in names:
            return True
        method = isinstance(node, gast.Attribute) and node.attr in ("append", "pop")
        if method and getattr(node.value, "id", None) in names:
            return True
    return False
