"""Statements as a reader expects them together: `a = b = 0.0`, `a, b = f(x), g(y)`, saved lists."""

from __future__ import annotations

import functools
from collections import Counter
from collections.abc import Callable
from typing import Any

import gast

from s2s_ad.core import form
from s2s_ad.emit.comprehensions import as_comprehension, put_into
from s2s_ad.emit.filled import is_filled_as_often, place_of
from s2s_ad.emit.printer import print_expression
from s2s_ad.emit.provenance import BLOCKS, absorb, with_origin
from s2s_ad.emit.read_once import without_lines_between
from s2s_ad.emit.sugar import called_on, names_of, sources_of

MOST = 3  # values on one line
INDENT = 4
COMMENT = len("  # line 1000")


def idiomatic(body: list[gast.stmt], width: int) -> list[gast.stmt]:
    """The body of a function in the idioms of Python, in lines of so many columns."""

    @functools.cache
    def loads() -> Counter[str]:
        return sum(map(_loads, body), Counter())

    return without_lines_between(_block(body, body, loads, width - INDENT))


def _block(
    body: list[gast.stmt],
    function: list[gast.stmt],
    loads: Callable[[], Counter[str]],
    width: int,
) -> list[gast.stmt]:
    found: list[gast.stmt] = []
    for statement in body:
        for name in BLOCKS:
            inner = getattr(statement, name, None)
            if isinstance(inner, list) and inner:
                setattr(statement, name, _block(inner, function, loads, width - INDENT))
        if found and _is_alike(found[-1], statement):
            found[-1].targets.extend(statement.targets)
            absorb(found[-1], [statement])
            continue
        if found and _go_beside(found[-1], statement, width - COMMENT):
            found[-1] = _beside(found[-1], statement)
            continue
        if isinstance(statement, gast.For):
            _iterate(statement, found, loads, width, outermost=body is function)
            statement = as_comprehension(statement, found, function)
        if found and put_into(found[-1], statement, loads):
            del found[-1]
        found.append(statement)
        if isinstance(statement, gast.Raise):
            break  # nothing comes to what follows
    return found


# ---- numbers -------------------------------------------------------------------------------------


def _is_alike(first: gast.stmt, second: gast.stmt) -> bool:
    """Whether both give one number to names: adjoints that begin at zero."""
    values = [_number(first), _number(second)]
    return values[0] is not None and values[0] == values[1]


def _number(statement: gast.stmt) -> tuple | None:
    if not isinstance(statement, gast.Assign) or getattr(statement, "phase", "") != "backward":
        return None
    number = getattr(statement.value, "value", None)
    named = all(isinstance(each, gast.Name) for each in statement.targets)
    if not named or not isinstance(statement.value, gast.Constant) or number is None:
        return None
    return type(number), repr(number)


# ---- tuples --------------------------------------------------------------------------------------


def _go_beside(first: gast.stmt, second: gast.stmt, width: int) -> bool:
    """Whether the two assignments read better as one of tuples: see `Statements._beside`."""
    shared = getattr(first, "beside", None)
    if shared is None or getattr(second, "beside", None) != shared:
        return False
    (targets, values), (target, value) = _sides(first), _sides(second)
    bound = {name for each in targets for name in names_of(each)}
    if len(targets) == MOST or bound & (names_of(target[0]) | names_of(value[0])):
        return False
    parts = (*targets, *target, *values, *value)
    return sum(len(print_expression(each)) + len(", ") for each in parts) <= width


def _sides(assignment: Any) -> tuple[list[gast.AST], list[gast.AST]]:
    """The targets and the values of an assignment, which may be one of tuples made here."""
    target, value = assignment.targets[0], assignment.value
    several = isinstance(target, gast.Tuple)
    return (target.elts, value.elts) if several else ([target], [value])


def _beside(first: gast.stmt, second: gast.stmt) -> gast.Assign:
    (targets, values), (target, value) = _sides(first), _sides(second)
    made = gast.Assign(
        [gast.Tuple([*targets, *target], gast.Store())],
        gast.Tuple([*values, *value], gast.Load()),
        None,
    )
    with_origin(made, first.origin, first.phase)
    made.beside = first.beside
    absorb(made, [first, second])
    return made


# ---- lists ---------------------------------------------------------------------------------------


def _iterate(
    loop: gast.For,
    before: list[gast.stmt],
    loads: Callable[[], Counter[str]],
    width: int,
    *,
    outermost: bool,
) -> None:
    """Go through a list that the loop pops to its end: `for x in reversed(xs)`.

    Before: `for _ in range(len(xs)): x = xs.pop()`, perhaps of a copy made for that, or as often as
    a loop before it has put something into the list.
    """
    pop, unread = loop.body[0], loop.target
    is_pop = isinstance(pop, gast.Assign) and not getattr(pop.value, "args", ())
    popped = called_on(pop.value, "pop") if is_pop else ""
    if not popped or len(loop.body) < 2:
        return
    if not isinstance(unread, gast.Name) or loads()[unread.id]:
        return
    iterable = gast.Call(form.name("reversed"), [form.name(popped)], [])
    head = [print_expression(each) for each in (pop.targets[0], iterable)]
    if len("for  in :") + sum(map(len, head)) > width:
        return
    sources, source = sources_of(loop.iter), popped
    counts_it = len(sources) == 1 and popped in sources
    if not counts_it and not is_filled_as_often(before, popped, loop.iter):
        if len(sources) != 1 or loads()[popped] > 1:
            return
        (source,) = sources
    if any({source, popped} & names_of(each) for each in loop.body[1:]):
        return
    if popped == source:
        made = place_of(before, source)
        known = before if outermost else before[made:] if made is not None else []
        own = [*known, gast.Expr(loop.iter), pop]
        if loads()[source] > sum(_loads(each)[source] for each in own):
            return  # it is read again, and would not be empty
    elif not _without_copy(before, popped, source):
        return
    loop.target = pop.targets[0]
    loop.iter = gast.Call(form.name("reversed"), [form.name(source)], [])
    absorb(loop, [pop])
    del loop.body[0]


def _loads(statement: gast.AST) -> Counter[str]:
    names = (each for each in gast.walk(statement) if isinstance(each, gast.Name))
    return Counter(each.id for each in names if isinstance(each.ctx, gast.Load))


def _without_copy(before: list[gast.stmt], copy: str, source: str) -> bool:
    """Take `copy = source[:]` away, where that is all that is done with them before a loop."""
    for position in range(len(before) - 1, -1, -1):
        if _is_copy(before[position], copy, source):
            del before[position]
            return True
        if {copy, source} & names_of(before[position]):
            return False
    return False


def _is_copy(statement: gast.stmt, copy: str, source: str) -> bool:
    if not isinstance(statement, gast.Assign) or len(statement.targets) != 1:
        return False
    value, index = statement.value, getattr(statement.value, "slice", None)
    whole = isinstance(index, gast.Slice) and not (index.lower or index.upper or index.step)
    named = getattr(statement.targets[0], "id", "") == copy
    return named and whole and getattr(value.value, "id", "") == source
