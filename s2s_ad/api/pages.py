"""What the explorer shows of a transformed function: its own text, and what else is made of it."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from s2s_ad.api.arguments import Arguments, exact, sens_of
from s2s_ad.api.batching import Vmap
from s2s_ad.api.check_arguments import check_differentiable
from s2s_ad.api.explain import explained
from s2s_ad.api.function import Transformed
from s2s_ad.api.gradients import Grad
from s2s_ad.api.transform import ALL, Differentiation, Jit
from s2s_ad.core import tree
from s2s_ad.core.builder import DERIVED
from s2s_ad.core.program import Program
from s2s_ad.core.text import core_text
from s2s_ad.diagnostics import Origin, S2SError, SampleLoopWarning
from s2s_ad.emit.provenance import Row
from s2s_ad.emit.text import Text
from s2s_ad.frontend.called import called
from s2s_ad.load.module import Loaded
from s2s_ad.load.timing import time_lines
from s2s_ad.show.model import Fact, Kept, Line, Page, Panel, Place, Source, Time
from s2s_ad.show.sources import columns_of, is_users, places_of, sources_of
from s2s_ad.tensors import plain
from s2s_ad.transforms.gradients import tangent_program

SAMPLES = 3  # of the batch that stands for all
INDENT = "    "


@dataclass(frozen=True)
class Tangent(Differentiation):
    """The text of a directional derivative: inputs, then a tangent for each of the positions."""

    takes_lists = True

    def programs(self, program: Program, arguments: Arguments) -> list[Program]:
        return [tangent_program(program, self.targets(program, arguments))]


@dataclass(frozen=True, slots=True)
class Tab:
    """A function to show, with the arguments that it is compiled for."""

    key: str
    label: str
    function: Transformed
    args: tuple
    kwargs: dict[str, Any]


def page(
    transformed: Transformed,
    args: tuple,
    kwargs: dict[str, Any],
    *,
    title: str = "",
    like: str = "",
    timed: bool = False,
) -> Page:
    """The function, compiled for these arguments, and what else is made of the one inside.

    What is refused is a panel that says why; so is the function itself.

    Args:
        timed: call each of them, and say how long each line takes.
    """
    tabs = [*_tabs(transformed, args, kwargs)]
    own = next((each for each in tabs if each.function.chain == transformed.chain), None)
    if own is None:
        labels = [label for label, _ in reversed(transformed.chain)]
        name = "(".join(labels) + ")" * (len(labels) - 1)
        own = Tab("own", name, transformed, args, kwargs)
        tabs.insert(0, own)
    drawn = _Drawn(_file_of(transformed), timed=timed)
    panels = [drawn.panel(each) for each in tabs]
    if any(each.refused and each.key == own.key for each in panels):
        panels = [each for each in panels if each.key == own.key or not each.refused]
    panels += filter(None, [drawn.native(own), drawn.core(own)])
    return drawn.page(panels, own.key, title or repr(transformed), like)


def page_of_latest(transformed: Transformed, loaded: Loaded) -> Page:
    """What was compiled already, without a word on what was not."""
    drawn = _Drawn(_file_of(transformed))
    panel = drawn.text("own", transformed.label, loaded.program, loaded.text, {})
    return drawn.page([panel], "own", repr(transformed), "")


def failed_page(error: S2SError, *, file: str = "", title: str = "", like: str = "") -> Page:
    """Where there is no function yet: why, and the place in the user's file."""
    panel = Panel("own", "refused", refused=error)
    return _Drawn(file).page([panel], "own", title, like)


# ---- which functions -----------------------------------------------------------------------------


def _tabs(transformed: Transformed, args: tuple, kwargs: dict[str, Any]) -> Iterator[Tab]:
    """The function inside, its gradient, and what is made of both, for arguments like these."""
    try:
        inner = _innermost_call(transformed, args, kwargs)
    except S2SError:
        return  # said of the function itself
    if inner is None:
        return
    root, (args, kwargs) = transformed.root, inner
    is_primal = isinstance(transformed.transform, Jit) and transformed.fn is root
    primal = transformed if is_primal else Transformed(root, Jit(), "jit")
    yield Tab("primal", "primal", primal, args, kwargs)
    grad = _gradient(transformed) or _default_gradient(root, args, kwargs)
    if grad is None:
        return
    yield Tab("grad", grad.label, grad, args, kwargs)
    positions = grad.transform.positions
    if positions:
        along = Transformed(root, Tangent(positions), "jvp")
        yield Tab("jvp", "jvp", along, args, kwargs)
    plain = Transformed(root, Grad(positions, weights=grad.transform.weights), "grad")
    batch = _batch(args, positions)
    if batch is not None and not kwargs:
        axes, samples = batch
        batched = Transformed(plain, Vmap(axes), "vmap")
        yield Tab("vmap", "vmap(grad)", batched, samples, {})
    if positions:
        second = Transformed(plain, Tangent(positions), "jvp")
        yield Tab("hvp", "Hessian · vector", second, args, kwargs)


def _file_of(transformed: Transformed) -> str:
    """The user's file, as far as it is known without a compilation."""
    code = getattr(called(transformed.root), "__code__", None)
    return code.co_filename if code is not None and is_users(code.co_filename) else ""


def _innermost_call(
    transformed: Transformed, args: tuple, kwargs: dict[str, Any]
) -> tuple[tuple, dict] | None:
    """What the user's function is called with; of a batch for the first sample."""
    if sens_of(transformed.__signature__) is not None:
        return None
    inner = transformed.transform.inner_call(transformed.bind(args, kwargs))
    if inner is None or not isinstance(transformed.fn, Transformed):
        return inner
    return _innermost_call(transformed.fn, *inner)


def _gradient(transformed: Transformed) -> Transformed | None:
    """The gradient that the function is, or is made of."""
    while isinstance(transformed.fn, Transformed):
        transformed = transformed.fn
    return transformed if isinstance(transformed.transform, Grad) else None


def _default_gradient(root: Callable, args: tuple, kwargs: dict[str, Any]) -> Transformed | None:
    """The gradient with respect to all inputs that have one."""
    plain = Transformed(root, Jit(), "jit")
    arguments = exact(plain.__signature__, plain.bind(args, kwargs).arguments)
    positions = []
    for slot in arguments.supplied():
        try:
            check_differentiable("grad", slot.text, arguments.at(slot))
        except S2SError:
            continue
        if slot.position is not None:
            positions.append(slot.position)
    return Transformed(root, Grad(tuple(positions)), "grad") if positions else None


def _batch(args: tuple, positions: Any) -> tuple[tree.Tree, tuple] | None:
    """(in_axes, a batch): of the data where there is any, else of what is differentiated."""
    moved = range(len(args)) if positions is ALL else positions
    floats = [index for index, each in enumerate(args) if _is_float(each)]
    mapped = [index for index in floats if index not in moved] or floats
    if not mapped:
        return None
    axes = tuple(0 if index in mapped else None for index in range(len(args)))
    samples = (_samples(each) if i in mapped else each for i, each in enumerate(args))
    return tree.tuple_of(axes), tuple(samples)


def _is_float(value: Any) -> bool:
    return isinstance(value, float | np.ndarray | np.floating) and np.result_type(value).kind == "f"


def _samples(value: Any) -> np.ndarray:
    return np.stack([np.asarray(value)] * SAMPLES)


# ---- panels --------------------------------------------------------------------------------------


class _Drawn:
    """Makes panels of the functions that are derived from one of the user's."""

    def __init__(self, file: str, *, timed: bool = False):
        self.file, self.timed = file, timed
        self.main: Origin | None = None
        self.places: dict[Place, None] = {}

    def page(self, panels: Sequence[Panel], selected: str, title: str, like: str) -> Page:
        for panel in panels:
            origin = None if panel.refused is None else panel.refused.origin
            if origin is not None:
                self.main = self.main or origin
                self.places[origin.file, origin.line] = None
        return Page(title, like, self._sources(), tuple(panels), selected)

    def _sources(self) -> tuple[Source, ...]:
        main = self.file if self.main is None else self.main.file
        return sources_of(main, self.places)

    def panel(self, tab: Tab) -> Panel:
        """The text of a function, or why there is none."""
        try:
            with warnings.catch_warnings(record=True) as told:
                warnings.simplefilter("always")  # nobody asked for all of these functions
                bound, entry = tab.function._served(tab.args, tab.kwargs)
        except S2SError as error:
            return Panel(tab.key, tab.label, refused=error)
        loaded = entry.found.loaded
        made = self.text(tab.key, tab.label, loaded.program, loaded.text, bound.arguments)
        notes = {str(each.message) for each in told if each.category is SampleLoopWarning}
        made = replace(made, facts=(*made.facts, *(Fact("note", each) for each in sorted(notes))))
        return _timed(made, loaded, tab) if self.timed else made

    def text(
        self, key: str, label: str, program: Program, text: Text, arguments: dict[str, Any]
    ) -> Panel:
        self.main = self.main or program.origin
        found = explained(program, text, arguments)
        rows = text.module_rows
        kept = tuple(Kept(each.name, each.size, each.when, each.why) for each in found.kept)
        by_row = _by_row(rows, text, found.kept, kept)
        derived = any(row.phase in DERIVED for row in rows)
        lines = [
            Line(
                line,
                self._places(row.origins),
                row.phase or ("forward" if derived and row.defines else ""),
                tuple(by_row.get(index, ())),
                columns=columns_of(row.origins),
            )
            for index, (line, row) in enumerate(zip(text.module.splitlines(), rows, strict=True))
        ]
        guards = Fact("for arguments with", ", ".join(text.assumed)) if text.assumed else None
        facts = [
            Fact("statements", str(found.statements)),
            Fact("lines of yours", str(found.lines)),
            Fact("kept", found.total) if kept else Fact("kept", "nothing"),
            *([guards] if guards else []),
        ]
        about = program.doc[:1].upper() + program.doc[1:]
        families = dict(sorted(text.families.items()))
        return Panel(key, label, about, "python", tuple(lines), families, tuple(facts), kept)

    def _places(self, origins: Sequence[Origin]) -> tuple[Place, ...]:
        found = places_of(origins, self.main.file if self.main else "")
        self.places |= dict.fromkeys(found)
        return found

    def core(self, tab: Tab) -> Panel | None:
        """The stages of a function in Core, one after the other."""
        try:
            stages = tab.function.lower(*tab.args, **tab.kwargs)
        except S2SError:
            return None
        lines: list[Line] = []
        families: dict[str, str] = {}
        for name, program in stages.items():
            written = core_text(program, facts=True)
            families |= written.families
            lines += [Line("")] if lines else []
            lines.append(Line(f"# {name}"))
            for each in written.lines:
                origin = getattr(each.statement, "origin", None)
                origins = [origin] if origin is not None else []
                text = f"{INDENT * each.depth}{each.text}".rstrip()
                phase, columns = getattr(each.statement, "phase", ""), columns_of(origins)
                lines.append(Line(text, self._places(origins), phase, columns=columns))
        facts = [Fact("stages", ", ".join(stages))]
        return Panel(
            "core",
            "Core",
            "What the compiler works on",
            "core",
            tuple(lines),
            families,
            tuple(facts),
        )

    def native(self, tab: Tab) -> Panel | None:
        """The loops that Numba compiles, where a `jit` of the function asks for them."""
        if not any(getattr(each, "native", False) for _, each in tab.function.chain):
            return None
        try:
            text = tab.function.with_native_code(tab.args, tab.kwargs)
        except S2SError as error:
            return Panel("native", "native", refused=error)
        rows = text.native_rows
        other = "forward" if any(row.phase in DERIVED for row in rows) else ""
        lines = [
            Line(
                line,
                self._places(row.origins),
                row.phase or (other if row.origins else ""),
                columns=columns_of(row.origins),
            )
            for line, row in zip(text.native.splitlines(), rows, strict=True)
        ]
        return Panel("native", "native", "What is compiled to machine code", lines=tuple(lines))


def _timed(panel: Panel, loaded: Loaded, tab: Tab) -> Panel:
    """The panel with the time of each line; where a call raises, with what it raises."""
    transform = tab.function.transform
    moved = transform.positions if isinstance(transform, Tangent) else ()
    tangents = [tab.args[index] for index in (range(len(tab.args)) if moved is ALL else moved)]
    given = tree.to_object(tree.from_object((*tab.args, *tangents), lambda leaf, _: plain(leaf)))
    try:
        times = time_lines(loaded, given, tab.kwargs)
    except Exception as error:
        failed = Fact("time", f"the call raises {type(error).__name__}", str(error))
        return replace(panel, facts=(*panel.facts, failed))
    total = sum(times.values())
    lines = [
        replace(line, time=Time(1e6 * times[number], times[number] / total))
        if number in times and total
        else line
        for number, line in enumerate(panel.lines, 1)
    ]
    taken = Fact("time", _duration(total), "of a call: medians of many, on this machine")
    return replace(panel, lines=tuple(lines), facts=(*panel.facts, taken))


def _duration(seconds: float) -> str:
    for unit, scale in (("s", 1.0), ("ms", 1e3)):
        if seconds * scale >= 1:
            return f"{seconds * scale:.3g} {unit}"
    return f"{seconds * 1e6:.3g} µs"


def _by_row(
    rows: Sequence[Row], text: Text, found: Sequence[Any], kept: Sequence[Kept]
) -> dict[int, list[Kept]]:
    """For lines that keep something what it is."""
    made: dict[str, int] = {}
    for index, row in enumerate(rows):
        for name in row.defines:
            made.setdefault(name, index)
    by_row: dict[int, list[Kept]] = {}
    last = {  # what branches and loops hand on is what was assigned last
        text.shown[name]: index
        for index, row in enumerate(rows)
        for name in row.defines
        if name in text.shown and row.phase != "backward"
    }
    appends = {  # where a tuple goes into a list one of its items is told of
        text.kept_in[value.names[-1]]: made[value.names[-1]]
        for value in found
        if value.names[-1] in made and value.names[-1] in text.kept_in
    }
    for value, one in zip(found, kept, strict=True):
        append = value.names[-1]
        index = made.get(append, appends.get(text.kept_in.get(append), last.get(one.name)))
        if index is not None:
            by_row.setdefault(index, []).append(one)
    return by_row


__all__ = ["failed_page", "page", "page_of_latest"]
