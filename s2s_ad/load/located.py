"""What generated code refuses while it runs, said with the place in the user's code."""

from __future__ import annotations

import functools
import re
import sys
from collections.abc import Callable, Iterator

from s2s_ad import runtime
from s2s_ad.core import form
from s2s_ad.core.callee import callee_of
from s2s_ad.core.program import Program
from s2s_ad.core.regions import region_of
from s2s_ad.diagnostics import Origin, S2SError, SamplesDiffer, UnsupportedError

#: helpers that refuse what they are given, by the word that the text of their error begins with
REFUSALS: dict[str, tuple[type[S2SError], str, frozenset]] = {
    "vmap": (SamplesDiffer, "S2S402", frozenset({runtime.each_sample, runtime.stacked})),
    "complex": (UnsupportedError, "S2S203", frozenset({runtime.real_power})),
}
REFUSING = {each.__name__ for *_, helpers in REFUSALS.values() for each in helpers}
LINE = re.compile(r"  # line (\d+)")


def located(name: str, program: Program | None, source: str) -> Callable:
    """The helper of this name, as the module with this source has it.

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
            line = sys._getframe(1).f_lineno
        refusal, code, helpers = REFUSALS[kind]
        what, why, advice = text.split("; ")
        what = f"vmap: {what}" if kind == "vmap" else what
        lines, wanted = source.splitlines()[:line], _calls_one_of(helpers)
        origin = None if program is None else origin_of_last(program, lines, wanted)
        raise refusal(code, what, origin=origin, why=why, help=advice)

    return call


def origin_of_last(
    program: Program, lines: list[str], wanted: Callable[[form.Statement], bool] = bool
) -> Origin | None:
    """The place that the last of these lines comes from: the comments name the user's lines.

    `wanted` says of which statements of the program it may be the place.
    """
    named = [found[1] for line in lines if (found := LINE.search(line))]
    places = [each for each in _places(program, wanted, set()) if each is not None]
    near = [each for each in places if named and each.root == int(named[-1])]
    return next(iter([*near, *places]), program.origin)


def _calls_one_of(helpers: frozenset) -> Callable[[form.Statement], bool]:
    """Whether a statement is a call of one of them."""
    return lambda each: not form.is_effect(each) and form.function_of(each) in helpers


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
        if form.is_effect(statement):
            continue
        call, region = callee_of(statement), region_of(statement)
        inner = [] if call is None or call.is_stub else [call.program]
        for each in [*inner, *(region.blocks if region is not None else ())]:
            yield from _places(each, wanted, seen)
