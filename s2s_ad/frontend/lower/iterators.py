"""iter(), next(), zip(...), (f(x) for x in xs), ...: items with a position, which reading moves on.

An iterator is a Box that holds what it reads from and how many items of that were read: so all who
hold it see how far it is, and so do the passes of a loop. Who reads all of it (`sum`, `zip`, ...)
gets what is left, and nobody may read it afterwards.
"""

from __future__ import annotations

import dataclasses
import operator
import types
from typing import Any

import gast

from s2s_ad.core.builder import Symbol
from s2s_ad.core.callee import has_effect
from s2s_ad.core.tree import Tree
from s2s_ad.diagnostics import UnsupportedError
from s2s_ad.frontend.lower import growing
from s2s_ad.frontend.lower.builtin import evaluates
from s2s_ad.frontend.lower.calls import HANDLERS, LEAVES_ITERATORS, STEPPED, apply
from s2s_ad.frontend.lower.classes import is_read_by_index, is_written
from s2s_ad.frontend.lower.comprehensions import (
    consumed,
    generator_over,
    private,
    run_through,
)
from s2s_ad.frontend.lower.conditions import choose
from s2s_ad.frontend.lower.containers import sequence
from s2s_ad.frontend.lower.core import Lowering
from s2s_ad.frontend.lower.desugar import quote
from s2s_ad.frontend.lower.exits import leavers
from s2s_ad.frontend.lower.indexed import by_index
from s2s_ad.frontend.lower.iterables import is_apart, items_of, zip_columns
from s2s_ad.frontend.lower.iteration import (
    ENDLESS,
    IN_PLACE,
    Generator,
    InTurn,
    Items,
    Iterator,
    Produced,
    Range,
    ReadOn,
    Suspended,
    generator_in,
    is_iterator,
    iterator,
)
from s2s_ad.frontend.lower.kinds import class_name, hint_of
from s2s_ad.frontend.lower.lists import method
from s2s_ad.frontend.lower.objects import NOTHING, call_method, class_of
from s2s_ad.frontend.lower.references import Box, parts_of
from s2s_ad.frontend.lower.resuming import begin_items, has_item, take_item
from s2s_ad.frontend.lower.suspended import (
    goes_on,
    has_started,
    is_at_end,
    is_held,
    next_of,
    stop,
)
from s2s_ad.frontend.resolve import unwrap

HERE = gast.Constant(value=None, kind=None)


@evaluates(iter)
def iterated(lowering: Lowering, value: Any) -> Any:
    """iter(): of an object what its __iter__ gives."""
    if is_iterator(value):
        return value
    if is_read_by_index(class_of(value)):
        return by_index(lowering, value)
    made = call_method(lowering, value, "__iter__", [])
    return iterator(lowering, value) if made is NOTHING else made


@evaluates(next)
def next_item(lowering: Lowering, value: Any, *default: Any) -> Any:
    """next(): the item at the position, or the default where there is none."""
    if not is_iterator(value):
        found = call_method(lowering, value, "__next__", []) if not default else NOTHING
        if found is NOTHING:
            raise TypeError(f"{class_name(value)!r} object is not an iterator")
        return found
    if generator_in(value) is not None:
        return _next_yielded(lowering, value, default)
    if isinstance(value.known().items[0], Generator) and not is_held(lowering, value):
        return _first(lowering, taken(lowering, value), default)
    there = has_more(lowering, value)
    if default:
        return choose(lowering, there, lambda: step(lowering, value), lambda: default[0])
    if there is False:
        raise _nothing_left(lowering)
    if there is not True:
        lowering.raise_where(lowering.call(operator.not_, there), StopIteration())
    return step(lowering, value)


@method(types.GeneratorType.__next__)
def next_method(lowering: Lowering, value: Box) -> Any:
    return next_item(lowering, value)


@method(types.GeneratorType.send)
def send(lowering: Lowering, value: Box, sent: Any) -> Any:
    """The next item, where `sent` is what the `yield` gives at which the generator waits."""
    if generator_in(value) is None:
        raise UnsupportedError(
            "S2S204",
            "send() to a generator that reads nothing that is sent",
            help="call next()",
        )
    if has_started(lowering, value) is not True and unwrap(sent) is not None:
        raise lowering.python_raises(
            TypeError("can't send non-None value to a just-started generator")
        )
    return _next_yielded(lowering, value, (), sent)


@method(types.GeneratorType.close)
def close(lowering: Lowering, value: Box) -> None:
    if generator_in(value) is None:
        finish(lowering, value)
    else:
        stop(lowering, value)


METHODS_OF_GENERATORS = ("__next__", "send", "throw", "close")
LEAVES_ITERATORS.extend(getattr(types.GeneratorType, each) for each in METHODS_OF_GENERATORS)


def _next_yielded(lowering: Lowering, value: Box, default: tuple, sent: Any = None) -> Any:
    """The next item of a generator that runs step by step."""
    item = next_of(lowering, value, sent)
    finished = is_at_end(lowering, value)
    if default:
        return choose(lowering, finished, lambda: default[0], lambda: item)
    if finished is True:
        raise _nothing_left(lowering)
    if finished is not False:
        lowering.raise_where(finished, StopIteration())
    return item


def _nothing_left(lowering: Lowering) -> Exception:
    error = StopIteration()
    raises = lowering.there_is_none(error)
    if raises is not error:
        return raises
    what = "StopIteration: the iterator has no more items"
    return UnsupportedError("S2S203", what, why="Python refuses this")


def _first(lowering: Lowering, items: Generator, default: tuple) -> Any:
    """`next(x for x in xs if x > 0)`: the loop ends with the first item."""
    if default:
        values, before, after = {"D": default[0]}, "F = True\nT = D", ""
    else:
        values, before, after = {"R": StopIteration}, "F = True", "if F:\n    raise R()"
    each, inner = "T = E\nF = False\nbreak", "if not F:\n    break"
    return consumed(
        lowering, items, before, each, inner=inner, after=after, values=values, called="first"
    )


# ---- where an iterator is ------------------------------------------------------------------------


def holds(place: Any, value: Box) -> bool:
    return any(each is value for each in parts_of(place))


def has_more(lowering: Lowering, value: Box) -> Any:
    """Whether there is a next item: True or False where it is known."""
    position, length = value.known().items[1], _source(lowering, value).length
    if type(length) is int and length == ENDLESS:
        return True
    if isinstance(position, Symbol) or isinstance(length, Symbol):
        return lowering.call(operator.lt, position, length)
    return position < length


def step(lowering: Lowering, value: Box) -> Any:
    """The item at the position, which moves on."""
    source, (inner, position, *_) = _source(lowering, value), value.known().items
    found = source.at(position)
    _move(lowering, value, inner, lowering.call(operator.add, position, 1))
    return found


def _move(lowering: Lowering, value: Box, inner: Any, position: Any) -> None:
    content = value.known()
    lowering.memory.change(value, Tree(content.kind, content.keys, (inner, position)))


def _source(lowering: Lowering, value: Box) -> Items:
    """What the iterator reads, by position."""
    inner, position, *_ = value.known().items
    if isinstance(inner, Generator):
        inner = _run(lowering, inner)
        _move(lowering, value, inner, position)
    if isinstance(inner, Produced):
        inner.check(lowering)
        inner = inner.items
    if isinstance(inner, InTurn):
        now = isinstance(position, Symbol)
        inner = sequence(list, inner.items.known()) if now else inner.items
    whole = is_apart(inner) and isinstance(inner, Tree) and isinstance(position, Symbol)
    if whole and growing.is_uniform(lowering, inner):
        return Items(len(inner.items), lambda i: growing.item(lowering, inner, i), (inner,))
    return items_of(lowering, inner)


def _run(lowering: Lowering, items: Generator) -> Produced:
    """All items of a generator expression, which Python computes one by one."""
    moment, start = lowering.memory.moment(), len(lowering.builder.body)
    found = run_through(lowering, items)
    changed = [each for each in lowering.memory.changes(moment) if not is_iterator(each)]
    if changed or any(map(has_effect, lowering.builder.body[start:])):
        raise UnsupportedError(
            "S2S201",
            "next() of a generator expression that does more than to give items",
            why="all its items are computed at once",
            help="make a list first: list(...)",
        )
    for each in lowering.memory.changes(moment):
        read_on(lowering, each)
    return dataclasses.replace(found, moment=lowering.memory.moment())


# ---- who reads all of it -------------------------------------------------------------------------


def taken(lowering: Lowering, value: Box) -> Any:
    """What is left of an iterator, for one who reads all of it."""
    if generator_in(value) is not None:
        return drained(lowering, value)
    inner, position, *_ = value.known().items
    inner = inner.items if isinstance(inner, InTurn) else inner
    if not (type(position) is int and position == 0):
        inner = _rest(lowering, value)
    read_on(lowering, value)
    return inner


def read_on(lowering: Lowering, value: Box) -> None:
    """Somebody reads the iterator when he needs its items: nobody else may."""
    name = hint_of(lowering, value).text
    lowering.memory.change(value, ReadOn("an iterator is read on", lowering.builder.origin, name))


def _rest(lowering: Lowering, value: Box) -> Any:
    """The items from the position on."""
    source, position = _source(lowering, value), value.known().items[1]
    if type(source.length) is int and type(position) is int:
        return sequence(list, [source.at(i) for i in range(position, source.length)])

    def at(index: Any) -> Any:
        return source.at(lowering.call(operator.add, position, index))

    return Items(lowering.call(operator.sub, source.length, position), at, source.sources)


@evaluates(zip)
def zipped(lowering: Lowering, *columns: Any, strict: Any = False) -> Any:
    """zip(); of one iterator several times, zip(it, it), tuples of items that follow each other."""
    first, *others = columns or (None,)
    if is_iterator(first) and others and all(each is first for each in others) and not strict:
        source, count = items_of(lowering, taken(lowering, first)), len(columns)

        def at(index: Any) -> Any:
            start = lowering.call(operator.mul, index, count)
            indices = [lowering.call(operator.add, start, i) for i in range(count)]
            return sequence(tuple, [source.at(each) for each in indices])

        number = lowering.call(operator.floordiv, source.length, count)
        return Items(number, at, source.sources)
    left = [all_left(lowering, each) for each in columns]
    return zip_columns(lowering, *left, strict=strict)


def all_left(lowering: Lowering, value: Any) -> Any:
    """What somebody gets who reads all of a value."""
    return taken(lowering, value) if is_iterator(value) else value


def is_read_whole(lowering: Lowering, node: gast.For, value: Box) -> bool:
    """Whether a loop over an iterator reads all of it, and nobody else reads it meanwhile."""
    if not is_held(lowering, value):
        return True
    position = value.known().items[1]
    if any(isinstance(each, gast.Break | gast.Return) for each in leavers(node.body)):
        return False
    nodes = (each for part in (*node.body, *node.orelse) for each in gast.walk(part))
    read = {each.id for each in nodes if isinstance(each, gast.Name)}
    seen = [lowering.frame.locals[name] for name in read if name in lowering.frame.locals]
    return type(position) is int and position == 0 and not holds(seen, value)


def finish(lowering: Lowering, value: Box) -> None:
    """The iterator has no items left."""
    content = Tree(Iterator, ("items", "position"), (sequence(tuple, []), 0))
    lowering.memory.change(value, content)


def step_by_step(lowering: Lowering, node: gast.For, value: Box) -> gast.While:
    """`for x in iterator` as `while` there is an item: `x` is the next one."""
    _source(lowering, value)  # before the loop, which has to find the iterator as it leaves it
    name = private("iterator")
    lowering.frame.locals[name] = value
    places = {"I": name, "H": gast.Constant(value=has_more, kind=None), "X": node.target}
    places |= {"N": gast.Constant(value=step, kind=None), "B": node.body}
    (loop,) = quote("while H(I):\n    X = N(I)\n    B", node, places)
    return gast.copy_location(gast.While(loop.test, loop.body, node.orelse), node)


def gives_next(value: Any) -> bool:
    """Whether it is an object whose class says what the next item is."""
    return is_written(class_of(value), "__next__")


def object_by_object(lowering: Lowering, node: gast.For, value: Any) -> gast.While:
    """`for x in iterator` of an object of the user's: `x` is what its __next__ gives."""
    if any(True for _ in leavers(node.orelse)):
        raise lowering.refuse(node, "an else of a loop over an iterator that leaves a loop around")
    if lowering.reads_ahead is lowering.frame:
        raise read_to_its_end(value)
    name = private("iterator")
    lowering.frame.locals[name] = value
    places = {"I": name, "N": gast.Constant(value=next, kind=None), "X": node.target}
    places |= {"S": gast.Constant(value=StopIteration, kind=None)}
    places |= {"E": node.orelse, "B": node.body}
    text = "while True:\n    try:\n        X = N(I)\n    except S:\n        E\n        break\n    B"
    (loop,) = quote(text, node, places)
    return loop


def read_to_its_end(value: Any) -> UnsupportedError:
    """Python reads an iterator as far as somebody asks, and it may have no end."""
    return UnsupportedError(
        "S2S201",
        f"an iterator of class {class_of(value).__name__} that is read item by item with others",
        why="where it ends shows when it is run",
        help="loop over it, or make a list of all that it gives: [x for x in ...]",
    )


def taken_unless_held(lowering: Lowering, value: Any) -> Any:
    """What an iterator reads, where only the loop that asks will ever see it."""
    if is_iterator(value) and (generator_in(value) is not None or is_held(lowering, value)):
        return value
    return all_left(lowering, value)


# ---- generators that run step by step ------------------------------------------------------------


def drained(lowering: Lowering, value: Box) -> Any:
    """The list of all that a generator yields from here on."""
    return consumed(lowering, generator_over(lowering, value, HERE), "T = []", "T.append(E)")


def iterator_of(lowering: Lowering, value: Any) -> Box:
    """What a loop in a generator reads: it lasts from one of its yields to the next."""
    if isinstance(value, Range):
        return apply(lowering, STEPPED[Range], [value.start, value.stop, value.step], {})
    made = iterated(lowering, value)
    if is_iterator(made):
        return made
    return apply(lowering, STEPPED[Suspended], [made], {})


def has_next(lowering: Lowering, value: Box) -> Any:
    """Whether there is a next item; of a generator it is there then."""
    if generator_in(value) is None:
        return has_more(lowering, value)
    item = next_of(lowering, value)
    content = value.known()
    parts = (content.items[0], item, content.items[2])
    lowering.memory.change(value, Tree(content.kind, content.keys, parts))
    return lowering.call(operator.not_, is_at_end(lowering, value))


def taken_next(lowering: Lowering, value: Box) -> Any:
    """That item."""
    if generator_in(value) is None:
        return step(lowering, value)
    goes_on(lowering, value)
    return value.known().items[1]


HANDLERS[Iterator] = all_left
HANDLERS[IN_PLACE] = taken_unless_held
HANDLERS[has_more] = lambda lowering, args, kwargs: has_more(lowering, *args)
LEAVES_ITERATORS.extend((has_more, step, begin_items, has_item, take_item))
HANDLERS[begin_items] = lambda lowering, args, kwargs: iterator_of(lowering, *args)
HANDLERS[has_item] = lambda lowering, args, kwargs: has_next(lowering, *args)
HANDLERS[take_item] = lambda lowering, args, kwargs: taken_next(lowering, *args)
HANDLERS[step] = lambda lowering, args, kwargs: step(lowering, *args)
