"""Classes of Python's own modules that are written in Python here."""

from __future__ import annotations

import heapq
import itertools
import random
import types
from collections import Counter, OrderedDict, deque
from collections.abc import Sequence
from typing import Any

import numpy as np

from s2s_ad.api.written import write
from s2s_ad.frontend.lower import array_classes
from s2s_ad.frontend.lower.calls import HANDLERS, STEPPED, apply
from s2s_ad.frontend.lower.containers import sequence
from s2s_ad.frontend.lower.derived import WRITTEN as WRITTEN_CLASSES
from s2s_ad.frontend.lower.generators_made import WRITTEN
from s2s_ad.frontend.lower.iteration import Range, Suspended, is_iterator
from s2s_ad.frontend.lower.iterators import is_held
from s2s_ad.frontend.resolve import unwrap
from s2s_ad.written import (
    numpy_arrays,
    python_collections,
    python_containers,
    python_heaps,
    python_itertools,
    python_random,
    steps,
)

#: what is written of the methods of generators that are made inside
GENERATORS = {
    np.random.Generator: python_random.Numpy,
    np.random.RandomState: python_random.State,
    random.Random: python_random.Python,
}


def handle_iterators() -> None:
    """Let iterators over generators that run step by step be such generators."""
    STEPPED.update({Suspended: steps.items_of_object, Range: steps.numbers, zip: steps.zipped})
    STEPPED[IndexError] = steps.by_index
    STEPPED.update({each: getattr(steps, each.__name__) for each in (enumerate, filter, map)})
    named = {name: getattr(itertools, name) for name in steps.OF_ITERTOOLS}
    STEPPED.update({each: getattr(steps, name) for name, each in named.items()})
    write(types.GeneratorType.throw, steps.thrown)


def handle_python_objects() -> None:
    """Let objects of these classes be made inside functions."""
    unbounded = HANDLERS[deque]

    def make_deque(lowering: Any, args: list, kwargs: dict[str, Any]) -> Any:
        """With a greatest length it is an object; any other is a list with two ends."""
        named = dict(zip(("iterable", "maxlen"), args, strict=False)) | kwargs
        maxlen = named.pop("maxlen", None)
        if unwrap(maxlen) is None:
            return unbounded(lowering, [*named.values()], {})
        items = named.get("iterable", sequence(tuple, []))
        return apply(lowering, python_collections.BoundedDeque, [items, maxlen], {})

    def make_namespace(lowering: Any, args: list, kwargs: dict[str, Any]) -> Any:
        return apply(lowering, python_collections.Namespace, args, kwargs)

    def make_counter(lowering: Any, args: list, kwargs: dict[str, Any]) -> Any:
        return apply(lowering, python_collections.Counter, args, kwargs)

    write(Sequence.index, python_collections.index)
    write(Sequence.count, python_collections.count)
    write(Sequence.__contains__, python_collections.contains)
    for name in python_heaps.__all__:
        write(getattr(heapq, name), getattr(python_heaps, name))
    of_items = HANDLERS[itertools.islice]

    def islice(lowering: Any, args: list, kwargs: dict[str, Any]) -> Any:
        """Of an iterator that has a name: it goes on behind them."""
        if len(args) == 2 and is_iterator(args[0]) and is_held(lowering, args[0]):
            return apply(lowering, python_itertools.next_of, args, kwargs)
        return of_items(lowering, args, kwargs)

    HANDLERS[itertools.islice] = islice
    for name in python_itertools.__all__:
        write(getattr(itertools, name), getattr(python_itertools, name))
    HANDLERS[Counter] = make_counter
    HANDLERS[deque] = make_deque
    HANDLERS[types.SimpleNamespace] = make_namespace
    WRITTEN_CLASSES[list] = python_containers.Items
    WRITTEN_CLASSES[dict] = python_containers.Entries
    WRITTEN_CLASSES[OrderedDict] = python_containers.Ordered
    _derive_from_arrays()
    for kind, methods in GENERATORS.items():
        found = [each for base in methods.__mro__[:-1] for each in vars(base).items()]
        WRITTEN.update({(kind, name): each for name, each in found if name[0] != "_"})


def _derive_from_arrays() -> None:
    """Let objects of classes that derive from ndarray be made."""
    WRITTEN_CLASSES[np.ndarray] = numpy_arrays.Elements
    array_classes.STEPS |= dict.fromkeys((np.mean, np.ndarray.mean), numpy_arrays.mean)
    for name, handler in array_classes.MARKS.items():
        HANDLERS[getattr(numpy_arrays, name)] = handler


__all__ = ["handle_iterators", "handle_python_objects"]
