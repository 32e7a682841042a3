"""Iterators over others that run step by step, as generator functions: no item is read early."""

from __future__ import annotations

import operator
from typing import Any


def items_of_object(iterator: Any) -> Any:
    """The items of an object whose class has a __next__."""
    while True:
        try:
            each = next(iterator)
        except StopIteration:
            return
        yield each


def by_index(items: Any) -> Any:
    """The items of an object that is indexed: they end with the first IndexError."""
    index = 0
    while True:
        try:
            each = items[index]
        except IndexError:
            return
        yield each
        index += 1


def thrown(generator: Any, error: Any) -> None:
    """What a generator raises into which an exception is thrown: it stands in no `try`."""
    generator.close()
    raise error


def numbers(start: int, stop: int, step: int) -> Any:
    number = start
    while number < stop if step > 0 else number > stop:
        yield number
        number += step


def zipped(*iterables: Any, strict: bool = False) -> Any:
    if strict:
        raise NotImplementedError("zip(strict=True) of a generator that runs step by step")
    rows = alone(iterables[0])
    for each in iterables[1:]:
        rows = beside(rows, each)
    return rows


def alone(iterable: Any) -> Any:
    for each in iterable:
        yield (each,)


def beside(rows: Any, iterable: Any) -> Any:
    """The rows, each with one item more; the row is read first."""
    others = iter(iterable)
    for row in rows:
        for other in others:
            yield (*row, other)
            break
        else:
            return


def enumerate(iterable: Any, start: int = 0) -> Any:
    number = start
    for each in iterable:
        yield number, each
        number += 1


def map(function: Any, *iterables: Any) -> Any:
    if len(iterables) == 1:
        return of_each(function, iterables[0])
    return starmap(function, zipped(*iterables))


def of_each(function: Any, iterable: Any) -> Any:
    for each in iterable:
        yield function(each)


def starmap(function: Any, iterable: Any) -> Any:
    for row in iterable:
        yield function(*row)


def filter(function: Any, iterable: Any) -> Any:
    for each in iterable:
        if each if function is None else function(each):
            yield each


def filterfalse(function: Any, iterable: Any) -> Any:
    for each in iterable:
        if not (each if function is None else function(each)):
            yield each


def compress(data: Any, selectors: Any) -> Any:
    for each, taken in zipped(data, selectors):
        if taken:
            yield each


def takewhile(predicate: Any, iterable: Any) -> Any:
    for each in iterable:
        if not predicate(each):
            return
        yield each


def dropwhile(predicate: Any, iterable: Any) -> Any:
    items = iter(iterable)
    for each in items:
        if not predicate(each):
            yield each
            break
    for each in items:
        yield each


def chain(*iterables: Any) -> Any:
    rest = iterables[-1]
    for each in reversed(iterables[:-1]):
        rest = before(each, rest)
    return iter(rest)


def before(iterable: Any, others: Any) -> Any:
    for each in iterable:
        yield each
    for each in others:
        yield each


def accumulate(iterable: Any, func: Any = operator.add, *, initial: Any = None) -> Any:
    items = iter(iterable)
    return running(items, func) if initial is None else running_from(initial, items, func)


def running(items: Any, func: Any) -> Any:
    for total in items:  # noqa: B007  (the first one)
        break
    else:
        return
    yield total
    for each in items:
        total = func(total, each)
        yield total


def running_from(total: Any, items: Any, func: Any) -> Any:
    yield total
    for each in items:
        total = func(total, each)
        yield total


def pairwise(iterable: Any) -> Any:
    items = iter(iterable)
    for last in items:  # noqa: B007  (the first one)
        break
    else:
        return
    for each in items:
        yield last, each
        last = each


def islice(iterable: Any, *bounds: Any) -> Any:
    start, stop, step = (0, *bounds, 1) if len(bounds) == 1 else (*bounds, 1)[:3]
    if step not in (1, None):
        return every(iterable, start or 0, stop, step)
    rest = iter(iterable) if start in (0, None) else without(iterable, start)
    return rest if stop is None else first_of(rest, stop - (start or 0))


def every(iterable: Any, start: int, stop: Any, step: int) -> Any:
    items, count = iter(iterable), 0
    while stop is None or count < stop:
        for each in items:  # noqa: B007  (yielded below)
            break
        else:
            return
        if count >= start and (count - start) % step == 0:
            yield each
        count += 1


def without(iterable: Any, count: int) -> Any:
    items = iter(iterable)
    for _ in range(count):
        for _ in items:
            break
    yield from items


def first_of(iterable: Any, count: int) -> Any:
    items = iter(iterable)
    for _ in range(count):
        for each in items:
            yield each
            break
        else:
            return


#: those that are called as in itertools
OF_ITERTOOLS = ("accumulate", "chain", "compress", "dropwhile", "filterfalse", "islice")
OF_ITERTOOLS += ("pairwise", "starmap", "takewhile")
