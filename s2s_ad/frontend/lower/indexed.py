"""Objects that are iterated over by `value[0]`, `value[1]`, ... up to an IndexError.

Their class has no `__iter__`, or that of `collections.abc.Sequence`, which does the same.
"""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Iterator
from typing import Any

import gast

from s2s_ad.core import form
from s2s_ad.core.callee import has_effect
from s2s_ad.diagnostics import StepwiseError
from s2s_ad.frontend.lower.attempt import failing
from s2s_ad.frontend.lower.calls import STEPPED, apply
from s2s_ad.frontend.lower.classes import is_read_by_index
from s2s_ad.frontend.lower.containers import sequence
from s2s_ad.frontend.lower.core import Lowering
from s2s_ad.frontend.lower.exits import Raises
from s2s_ad.frontend.lower.iteration import Produced, iterator
from s2s_ad.frontend.lower.kinds import class_name, with_article
from s2s_ad.frontend.lower.objects import NOTHING, call_method, class_of
from s2s_ad.frontend.lower.references import Box, changing
from s2s_ad.frontend.source import source_of

#: items of an object that is indexed which are taken one by one
MOST_ITEMS = 1_000


def by_index(lowering: Lowering, value: Any) -> Box:
    """An iterator over an object that is indexed: all its items now, or, where who reads them may
    see a difference, each when it is asked for."""
    if _runs_by_index(lowering):
        return apply(lowering, STEPPED[IndexError], [value], {})
    moment, start = lowering.memory.moment(), len(lowering.builder.body)
    items = [*itertools.islice(ByIndex(lowering, value), MOST_ITEMS + 1)]
    changed = lowering.memory.changes(moment)
    if len(items) > MOST_ITEMS or changed or any(map(has_effect, lowering.builder.body[start:])):
        raise _step_by_step(value)
    found, now, node = sequence(tuple, items), lowering.memory.moment(), _index_loop()
    return iterator(lowering, Produced(found, [*changing(value)], now, class_name(value), node))


def _index_loop() -> gast.FunctionDef:
    """The generator function that reads an object by its index."""
    return source_of(STEPPED[IndexError], yields=True).node


def _runs_by_index(lowering: Lowering) -> bool:
    return _index_loop() in lowering.stepwise


def _step_by_step(value: Any) -> StepwiseError:
    error = StepwiseError("S2S201", f"a loop over {with_article(class_name(value))}")
    error.generator = _index_loop()
    return error


@dataclasses.dataclass(frozen=True, slots=True)
class ByIndex:
    """`value[0]`, `value[1]`, ... up to one that raises IndexError, each when it is asked for."""

    lowering: Lowering
    value: Any
    start: int = 0

    def __iter__(self) -> Iterator[Any]:
        for place in itertools.count(self.start):
            item = self._at(place)
            if item is NOTHING:
                return
            yield item

    def __getitem__(self, part: slice) -> ByIndex:
        return ByIndex(self.lowering, self.value, self.start + part.start)

    def _at(self, index: int) -> Any:
        """The item; NOTHING where there is none for certain."""
        lowering = self.lowering
        frames, start = len(lowering.frames), len(lowering.builder.body)
        moment = lowering.memory.moment()
        perhaps = failing(lowering, (IndexError,))
        lowering.caught.append((IndexError,))
        try:
            item = call_method(lowering, self.value, "__getitem__", [index])
            if any(map(perhaps, lowering.builder.body[start:])):
                raise _step_by_step(self.value)
            return item
        except Raises:
            if not _raises_index_error(lowering.builder.body[-1]):
                raise
        finally:
            lowering.caught.pop()
        del lowering.frames[frames:], lowering.builder.body[start:]
        lowering.memory.bury(moment.clock)
        lowering.memory.rollback(moment)
        return NOTHING


def items_when_asked_for(lowering: Lowering, value: Any) -> ByIndex | None:
    """What a loop over an object that is indexed reads pass by pass; None of anything else."""
    indexed = is_read_by_index(class_of(value)) and not _runs_by_index(lowering)
    return ByIndex(lowering, value) if indexed else None


def _raises_index_error(statement: form.Statement) -> bool:
    return issubclass(form.raised_class(statement) or object, IndexError)
