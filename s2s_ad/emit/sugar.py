"""Loops as a reader expects them: over the rows of an array where only they are read."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, TypeGuard

import gast

from s2s_ad.core import form
from s2s_ad.emit.provenance import absorb


def sweetened(loop: gast.For, *, reads: int, equal: Sequence[gast.AST] = ()) -> gast.For:
    """Before: `for i in range(len(xs)): x = xs[i]`; after: `for x in xs:`.

    Where the index is read for something else too: `for i, x in enumerate(xs):`. Of the shortest
    of several, or of `equal` lengths: `for x, y in zip(xs, ys):`. Of tuples: `for a, b in pairs:`.

    Args:
        reads: how often the index is read.
        equal: arrays in whose rows the loop goes to the end.
    """
    shortest = [form.name(each) for each in sources_of(_forwards(loop.iter))]
    for sources in ([*equal], [*equal[:1]], shortest):
        made = _over(loop, sources, reads)
        if made is not loop:
            return made
    return loop


def _over(loop: gast.For, sources: Sequence[gast.AST], reads: int) -> gast.For:
    """The loop over the rows of these; itself where it is not that."""
    backwards = _forwards(loop.iter) is not loop.iter
    rows = _Rows(loop, sources)
    if not sources or not rows.fit():
        return loop
    read = reads > len(sources)
    if (backwards and (read or len(sources) > 1)) or (read and len(sources) > 1):
        return loop
    target, items = _together(rows.targets, sources)
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


def shortened(stop: Any) -> gast.AST:
    """`len(x) - 2` for `len(x[1:-1])`, as where a range ends: below 0 it is as empty as at 0."""
    for part in part_of(stop):
        return _end(part, stop)
    return stop


def part_of(stop: Any) -> list[gast.Subscript]:
    """x[1:-1] of `len(x[1:-1])`."""
    part = stop.args[0] if _is_call(stop, "len") else None
    if not isinstance(part, gast.Subscript) or not isinstance(items_of(part.slice)[0], gast.Slice):
        return []
    return [part]


def _end(part: gast.Subscript, stop: gast.Call) -> gast.AST:
    taken = items_of(part.slice)[0]
    first = 0 if taken.lower is None else getattr(taken.lower, "value", None)
    last = 0 if taken.upper is None else _below(taken.upper)
    if taken.step or type(first) is not int or first < 0 or type(last) is not int:
        return stop
    return _moved(gast.Call(stop.func, [part.value], []), last - first)


def _below(bound: gast.AST) -> int | None:
    """The number that it is, if that is below 0."""
    if isinstance(bound, gast.UnaryOp) and isinstance(bound.op, gast.USub):
        number = getattr(bound.operand, "value", None)
        return -number if type(number) is int else None
    number = getattr(bound, "value", None)
    return number if type(number) is int and number < 0 else None


class _Rows:
    """The statements of a loop that take a row of each source, and the rest."""

    def __init__(self, loop: gast.For, sources: Sequence[gast.AST]):
        self.loop, self.sources = loop, sources
        self.read = set().union(*map(names_of, sources))
        self.taking: list[gast.Assign] = []
        for source in sources:
            found = (s for s in loop.body if _takes_row(s, source, loop.target.id))
            self.taking += [each for each in found if each not in self.taking][:1]
        self.targets = [each.targets[0] for each in self.taking]
        self.names = [each.id for target in self.targets for each in items_of(target)]
        self.rest = [each for each in loop.body if each not in self.taking]

    def fit(self) -> bool:
        """Whether the rows may as well be taken by the loop, before all else."""
        if len(self.taking) < len(self.sources) or not self.rest:
            return False
        bound = {*self.names, self.loop.target.id}
        if len(bound) < len(self.names) + 1 or bound & self.read:
            return False
        last = max(self.loop.body.index(each) for each in self.taking)
        before = [each for each in self.loop.body[:last] if each not in self.taking]
        if not all(map(_is_plain, before)) or set(self.names) & _names_in(before):
            return False
        return not any(_changes(each, self.read) for each in self.rest)


def _forwards(iterable: gast.AST) -> Any:
    """xs of `reversed(xs)`, and of `xs`."""
    return iterable.args[0] if _is_call(iterable, "reversed") else iterable


def _together(targets: Sequence[gast.AST], sources: Sequence[gast.AST]) -> tuple:
    """(x, y), zip(xs, ys), or x, xs of one alone."""
    if len(sources) == 1:
        return targets[0], sources[0]
    return gast.Tuple([*targets], gast.Store()), gast.Call(form.name("zip"), [*sources], [])


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


def _takes_row(statement: gast.stmt, source: gast.AST, index: str) -> bool:
    """`x = xs[i]`, of `xs[1:]` also `x = xs[i + 1]`; `a, b = xs[i]`."""
    if not isinstance(statement, gast.Assign):
        return False
    if not all(isinstance(each, gast.Name) for each in items_of(statement.targets[0])):
        return False
    value = statement.value
    if not isinstance(value, gast.Subscript):
        return False
    if getattr(value.slice, "id", None) == index and _alike(value.value, source):
        return True
    if not isinstance(source, gast.Subscript) or not _alike(value.value, source.value):
        return False
    (item, *rest), (part, *others) = items_of(value.slice), items_of(source.slice)
    place = step_and_start(item, index)
    if place is None or not isinstance(part, gast.Slice) or len(rest) != len(others):
        return False
    return all(map(_alike, (*place, *rest), (part.step, part.lower, *others)))


def items_of(index: Any) -> list[Any]:
    """The items of an index, one for each axis."""
    return index.elts if isinstance(index, gast.Tuple) else [index]


def step_and_start(node: Any, index: str) -> tuple[gast.AST | None, gast.AST | None] | None:
    """(2, 1) of `2 * i + 1`, (None, None) of `i`: the step and start of the slices of which it is
    the item i."""
    if isinstance(node, gast.BinOp) and isinstance(node.op, gast.Add):
        for item, start in ((node.left, node.right), (node.right, node.left)):
            step = _step_of(item, index)
            if step:
                return step[0], start
    if isinstance(node, gast.BinOp) and isinstance(node.op, gast.Sub):
        step = _step_of(node.left, index)
        return (step[0], gast.UnaryOp(gast.USub(), node.right)) if step else None
    step = _step_of(node, index)
    return (step[0], None) if step else None


def _step_of(node: Any, index: str) -> list[gast.AST | None]:
    """[2] of `2 * i`, [None] of `i`; nothing of anything else."""
    step = None
    if isinstance(node, gast.BinOp) and isinstance(node.op, gast.Mult):
        step, node = node.left, node.right
    return [step] if getattr(node, "id", None) == index else []


def _alike(one: gast.AST | None, other: gast.AST | None) -> bool:
    if one is None or other is None:
        return one is other
    return gast.dump(one) == gast.dump(other)


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
