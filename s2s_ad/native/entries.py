"""What the statements of a function read, and which of its lists are stacks."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import gast
import numpy as np

from s2s_ad import runtime
from s2s_ad.core import form, values
from s2s_ad.emit.variables import Entry


def carried(entry: Entry) -> list[str]:
    """The variables that a loop assigns at the end of each pass."""
    last = [each for each in entry.blocks[-1] if each.kind == "moves"]
    return [core for each in last for core, _ in each.moves]


def stacks_of(entries: Sequence[Entry], output: Sequence[Any], facts: Any) -> set[str]:
    """The lists of numbers that are appended to and popped from, and nothing else."""
    kin: dict[str, set[str]] = {}
    escaped = set(names_in_atoms(output))
    for entry in every(entries):
        for core, atom in entry.moves:
            for each in form.reads(atom):
                kin.setdefault(core, set()).add(each)
                kin.setdefault(each, set()).add(core)
        escaped |= _used_otherwise(entry)
    lists = {each for each, fact in facts.items() if isinstance(fact, values.List)}
    items = {each: facts[each].item for each in lists}
    escaped |= {  # of an empty list nothing is known yet
        each
        for each, item in items.items()
        if not is_number(item) and not isinstance(item, values.Static)
    }
    return lists - _closed(escaped, kin) - {e for e in lists if not is_number(_item(e, kin, items))}


def _used_otherwise(entry: Entry) -> set[str]:
    """The names that an entry uses for more than to append to a list or to pop from it."""
    if entry.kind == "operation" and entry.call.func.value is runtime.list_of:
        return {entry.name} if entry.call.args else set()
    if entry.kind in ("operation", "call", "effect"):
        return {*read_by(entry), *filter(None, (entry.name, *entry.names))}
    if entry.kind != "store":
        return set()
    if entry.store.kind == "append":
        return set(form.reads(entry.call.args[1]))
    # a list that is popped is an item of another one
    return {entry.name} if entry.store.kind == "pop" else {entry.store.base}


def _closed(names: set[str], kin: Mapping[str, set[str]]) -> set[str]:
    """The names and all that they are handed on as."""
    found, waiting = set(names), list(names)
    while waiting:
        more = kin.get(waiting.pop(), set()) - found
        found |= more
        waiting += more
    return found


def _item(name: str, kin: Mapping[str, set[str]], items: Mapping[str, Any]) -> Any:
    """What an item of a list is, which an empty one is told by what it becomes."""
    known = (items[each] for each in _closed({name}, kin) if each in items)
    return next((each for each in known if is_number(each)), None)


def is_number(item: Any) -> bool:
    return values.rank_of(item) == 0 and dtype_of(item) is not None


def keyword(call_: gast.Call, key: str) -> gast.AST:
    return next(each.value for each in call_.keywords if each.arg == key)


def dtype_of(fact: Any) -> np.dtype | None:
    if isinstance(fact, values.Scalar):
        return np.dtype(fact.kind) if fact.kind in (bool, int, float, complex) else None
    return getattr(fact, "dtype", None)


def inner_of(entry: Entry) -> list[Entry]:
    return [each for block in entry.blocks for each in block]


def every(entries: Sequence[Entry]) -> Iterator[Entry]:
    for each in entries:
        yield each
        for block in each.blocks:
            yield from every(block)


def names_in_atoms(nodes: Any) -> Iterator[str]:
    for node in nodes:
        yield from form.reads(node)


def read_by(entry: Entry) -> list[str]:
    """The names that an entry itself reads, each as often as it does."""
    found = list(names_in_atoms(atom for _, atom in entry.moves))
    if entry.store is not None:
        found.append(entry.store.base)
    if entry.kind == "for":
        found += names_in_atoms(entry.call)
    elif entry.kind == "store" and entry.store.kind == "update":
        found += form.reads(entry.store.value)
    elif entry.kind == "store":
        found += [
            *names_in_atoms(entry.call.args[1:]),
            *names_in_atoms(each.value for each in entry.call.keywords),
        ]
    elif entry.call is not None:
        found += form.reads(entry.call)
    if entry.test is not None:
        found += form.reads(entry.test)
    return found
