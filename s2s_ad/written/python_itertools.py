"""itertools where items decide: whether they are taken, and how long a group is."""

from __future__ import annotations

from typing import Any


def compress(data: Any, selectors: Any) -> Any:
    found = []
    for each, taken in zip(data, selectors, strict=False):
        if taken:
            found.append(each)
    return iter(found)


def dropwhile(predicate: Any, iterable: Any) -> Any:
    found, dropping = [], True
    for each in iterable:
        dropping = dropping and predicate(each)
        if not dropping:
            found.append(each)
    return iter(found)


def filterfalse(function: Any, iterable: Any) -> Any:
    found = []
    for each in iterable:
        if not (each if function is None else function(each)):
            found.append(each)
    return iter(found)


def starmap(function: Any, iterable: Any) -> Any:
    found = []
    for each in iterable:
        found.append(function(*each))
    return iter(found)


def takewhile(predicate: Any, iterable: Any) -> Any:
    found = []
    for each in iterable:
        if not predicate(each):
            break
        found.append(each)
    return iter(found)


def tee(iterable: Any, n: int = 2) -> tuple:
    items = list(iterable)
    return tuple([iter(items) for _ in range(n)])


def groupby(iterable: Any, key: Any = None) -> Any:
    groups = []
    for each in iterable:
        label = each if key is None else key(each)
        if len(groups) == 0 or groups[-1][0] != label:
            groups.append((label, []))
        groups[-1][1].append(each)
    return iter([(label, iter(group)) for label, group in groups])


def next_of(iterator: Any, count: int) -> list:
    """The next items of an iterator, which goes on behind them."""
    found = []
    if count > 0:
        for each in iterator:
            found.append(each)
            if len(found) == count:
                break
    return found


__all__ = ["compress", "dropwhile", "filterfalse", "groupby", "starmap", "takewhile", "tee"]
