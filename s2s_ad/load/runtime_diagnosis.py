"""What generated code refuses while it runs, said with the place in the user's code."""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable, Iterator, Sequence

from s2s_ad import runtime
from s2s_ad.core import form
from s2s_ad.core.callee import callee_of
from s2s_ad.core.program import Program
from s2s_ad.core.regions import region_of
from s2s_ad.diagnostics import Origin, S2SError, SamplesDiffer, UnsupportedError
from s2s_ad.emit.provenance import Row

#: helpers that refuse what they are given, by the word that the text of their error begins with
REFUSALS: dict[str, tuple[type[S2SError], str, frozenset]] = {
    "vmap": (SamplesDiffer, "S2S402", frozenset({runtime.each_sample, runtime.stacked})),
    "complex": (UnsupportedError, "S2S203", frozenset({runtime.real_power, runtime.stays_real})),
}
REFUSING = {each.__name__ for *_, helpers in REFUSALS.values() for each in helpers}


def located(name: str, program: Program | None, rows: Sequence[Row]) -> Callable:
    """The helper of this name, as a module with these rows has it.

    Without the program, where text has come from another process, it refuses without a place.
    """
    helper = getattr(runtime, name)
    if name not in REFUSING:
        return helper

    @functools.wraps(helper)
    def call(*args, **options):
        try:
            return helper(*args, **options)
        except ValueError as error:
            kind, _, text = str(error).partition(": ")
            if kind not in REFUSALS:
                raise
            row = rows[sys._getframe(1).f_lineno - 1] if rows else None
        refusal, code, helpers = REFUSALS[kind]
        what, why, advice = text.split("; ")
        what = f"vmap: {what}" if kind == "vmap" else what
        origin = None if program is None else _origin_of_call(program, row, helpers)
        raise refusal(code, what, origin=origin, why=why, help=advice)

    return call


def _origin_of_call(program: Program, row: Row, helpers: frozenset) -> Origin | None:
    """Where the call of a helper stands that is in this line."""

    def calls(statement: form.Statement) -> bool:
        return isinstance(statement, form.Op) and statement.function in helpers

    places = [each for each in _places(program, calls, set()) if each is not None]
    here = [each for each in places if each in row.origins]
    return next(iter([*here, *row.origins, *places]), program.origin)


def _places(
    program: Program, wanted: Callable[[form.Statement], bool], seen: set[int]
) -> Iterator[Origin | None]:
    """Where such statements stand, in the program and in all that it runs."""
    if id(program) in seen:
        return
    seen.add(id(program))
    for statement in program.body:
        if wanted(statement):
            yield statement.origin
        if isinstance(statement, form.Effect):
            continue
        call, region = callee_of(statement), region_of(statement)
        inner = [] if call is None or call.is_stub else [call.program]
        for each in [*inner, *(region.blocks if region is not None else ())]:
            yield from _places(each, wanted, seen)
