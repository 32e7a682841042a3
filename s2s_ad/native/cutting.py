"""A function that has no native form as a whole, cut: what has one goes into parts of their own.

A part is a run of statements with native form, put into a function of its own (a Callee), so that
the rest is written for NumPy as ever, and calls it. Statements keep their order, and values go in
and out as arrays and numbers: a list stays on the one side. Blocks of branches and loops that are
not native are cut as functions are.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import gast

from s2s_ad.analysis.described import Described
from s2s_ad.core import form, values
from s2s_ad.core.builder import fresh_name
from s2s_ad.core.callee import (
    Callee,
    callee_of,
    captured_names,
    has_effect,
    is_watched,
    item_of,
    may_raise,
)
from s2s_ad.core.program import TEMPORARY, Hint, Input, Program
from s2s_ad.core.regions import Attempt, Loop, region_of, with_blocks
from s2s_ad.core.rule import ITEM
from s2s_ad.core.saved import Unpack
from s2s_ad.core.tree import one_or_tuple, tuple_of
from s2s_ad.emit.provenance import NO_ROW
from s2s_ad.emit.text import Text
from s2s_ad.emit.write import functions_of, write
from s2s_ad.native.entries import dtype_of
from s2s_ad.native.module import native_text, reason_of
from s2s_ad.native.operations import form_of
from s2s_ad.rules.unpacking import Unpack as Unpacking

#: the operations on arrays that a call has to stand for, and what a value that goes in or out
#: takes of it; a loop stands for many
FEWEST, PER_VALUE, LOOP, NUMBER = 2.0, 0.2, 20.0, 0.1
SMALL = "a call would cost more than it saves"
LISTS = "a list, or what is neither array nor number, goes in or out"


@dataclass(frozen=True, slots=True)
class Part:
    """A part with its loops: the function of the text for NumPy that these stand for.

    Attributes:
        name: what the text calls it.
        native: the module of its loops.
    """

    name: str
    program: Program
    native: str


@dataclass(frozen=True, slots=True)
class Place:
    """Where one statement is: in a part, or in NumPy's text for a reason."""

    statement: form.Statement
    part: int
    reason: str


@dataclass(frozen=True, slots=True)
class Cut:
    """A function in parts: its program and text, which call them, and these."""

    program: Program
    text: Text
    parts: tuple[Part, ...]
    places: tuple[Place, ...]


def with_parts(program: Program, text: Text) -> Text:
    """The text with parts that have native code, where it has none as a whole."""
    if text.native:
        return text
    found: list[Cut | None] = []
    reason_of(lambda: found.append(cut(program)))
    if not found or found[0] is None:
        return text
    native = loops_of(found[0].parts)
    return replace(text, cut=found[0], native=native, native_rows=(NO_ROW,) * native.count("\n"))


def cut(program: Program) -> Cut | None:
    """The function with parts that have native code; None where there are none."""
    cutter = Cutter(program.name)
    made = cutter.cut(program)
    if not cutter.parts:
        return None
    names = {each.program.part: each.name for each in functions_of(made)}
    parts = tuple(
        Part(names[number], inner, native)
        for number, (inner, native) in cutter.parts.items()
    )  # fmt: skip
    return Cut(made, write(made), parts, tuple(cutter.places))


def places_of(program: Program) -> list[Place]:
    """Where the statements of a function would be, were it cut."""
    cutter = Cutter(program.name)
    cutter.cut(program)
    return cutter.places


@dataclass
class Cutter:
    """Cuts a function of this name."""

    name: str
    parts: dict[int, tuple[Program, str]] = field(default_factory=dict)
    places: list[Place] = field(default_factory=list)

    def cut(self, program: Program, lacking: Collection[str] = ()) -> Program:
        """The program, or block, with calls of parts.

        Args:
            lacking: its leaves that some paths do not have.
        """
        if program.tried:
            self._stay(program.body, "what runs in a try stays together")
            return program
        body: list[form.Statement] = []
        program, reasons = _in_runs(program)
        lacking = lacking_in(program, lacking)
        facts, hints = dict(program.facts), dict(program.hints)
        run: list[form.Statement] = []
        for index, (statement, reason) in enumerate(zip(program.body, reasons, strict=True)):
            if not reason:
                run.append(statement)
                continue
            body += self._run(Run(program, index - len(run), index, lacking), facts, hints)
            run = []
            body.append(self._outside(statement, reason, lacking))
        end = len(program.body)
        body += self._run(Run(program, end - len(run), end, lacking), facts, hints)
        return program.with_(body=tuple(body), facts=facts, hints=hints)

    def _stay(self, statements: Sequence[form.Statement], reason: str) -> None:
        self.places += [Place(each, 0, reason) for each in statements if each.rule is not ITEM]

    def _outside(
        self, statement: form.Statement, reason: str, lacking: Collection[str]
    ) -> form.Statement:
        """A statement of NumPy's text, whose blocks may be cut."""
        region = region_of(statement)
        if region is None or isinstance(region, Attempt):
            self._stay([statement], reason)
            return statement
        given = lacking_leaves(statement, lacking)
        blocks = [self.cut(b, each) for b, each in zip(region.blocks, given, strict=True)]
        return with_blocks(statement, region, blocks)

    def _run(self, run: Run, facts: dict, hints: dict) -> Iterator[form.Statement]:
        """A run of statements: calls of parts, and what cannot be in any."""
        while run.statements:
            first = run.statements[0]
            apart = _is_number(first, run.whole) and not values.rank_of(facts.get(first.target))
            end, reason = (run.start, SMALL) if apart else self._longest(run)
            if end > run.start:
                yield from self._call(replace(run, end=end), facts, hints)
            else:
                end = run.end if run.is_small() else run.start + 1
                for each in run.whole.body[run.start : end]:
                    yield self._outside(each, reason, run.lacking)
            run = replace(run, start=end)

    def _longest(self, run: Run) -> tuple[int, str]:
        """Where the longest part from a statement on ends, and why it is no longer."""
        if run.is_small():
            return run.start, SMALL
        ends = [
            replace(run, end=k + 1) for k in range(run.start, run.end)
            if not _is_number(run.whole.body[k], run.whole)
        ]  # fmt: skip
        ends = [each for each in ends if each.is_closed()]
        if not ends:
            return run.start, LISTS
        reason = "" if ends[-1].is_small() else ends[-1].refused()
        if not reason:
            return (run.start, SMALL) if ends[-1].is_small() else (ends[-1].end, "")
        low, high = 0, len(ends)
        while high - low > 1:  # so many ends do as they are, the next one does not
            middle = (low + high) // 2
            found = ends[middle - 1].refused()
            low, high = (low, middle) if found else (middle, high)
            reason = found or reason
        if low and ends[low - 1].is_small():
            return run.start, SMALL
        return ends[low - 1].end if low else run.start, reason

    def _call(self, run: Run, facts: dict, hints: dict) -> Iterator[form.Statement]:
        """The call of a part."""
        number = len(self.parts) + 1
        described = Described(run.whole)
        for name in (*run.inputs(), *run.outputs()):
            if not hints.get(name, TEMPORARY).text:
                text = described.text(name) or described.kind(name)
                hints |= {name: Hint(text, "derived")} if text else {}
        run = replace(run, whole=run.whole.with_(hints=hints))
        inner = run.program(f"{self.name}_part_{number}", number)
        self.parts[number] = inner, native_text(inner)[0]
        self.places += [Place(each, number, "") for each in _with_blocks_of(run.statements)]
        first, outputs = run.statements[0], run.outputs()
        given = [form.name(each) for each in run.inputs()]
        if len(outputs) == 1:
            yield form.op(outputs[0], Callee(inner), given, {}, first.origin, first.phase)
            return
        several = fresh_name()
        facts[several] = tuple_of([facts[each] for each in outputs])
        hints[several] = TEMPORARY
        yield form.op(several, Callee(inner), given, {}, first.origin, first.phase)
        for slot, each in enumerate(outputs):
            index = {"index": form.constant(slot)}
            yield form.Op(each, ITEM, (form.name(several),), index, first.origin, first.phase)


def lacking_in(program: Program, leaves: Collection[str]) -> set[str]:
    """The values of a program that some paths lack: nobody reads them there, not even to hand on.

    Args:
        leaves: those of its leaves.
    """
    found = set(leaves)
    missing: dict[str, set[int]] = {}  # outputs of blocks and calls
    for each in program.body:
        item = item_of(each)
        if item is not None and item[1] in missing.get(item[0], ()):
            found.add(each.target)
        elif region_of(each) is not None or _is_plain_call(each):
            missing[each.target] = _missing(each, found)
    return found


def _is_plain_call(statement: form.Statement) -> bool:
    call = callee_of(statement)
    return call is not None and not call.is_recursive


def _missing(statement: form.Statement, lacking: Collection[str]) -> set[int]:
    """The outputs of a region, or of a call, that some paths lack."""
    found: set[int] = set()
    region = region_of(statement)
    if isinstance(region, Loop):
        carried = region.parts(statement.operands).carried
        found = {k for k, atom in enumerate(carried) if _lacks(atom, lacking)}
    while True:
        before = len(found)
        given = lacking_leaves(statement, lacking, found)
        for block, leaves in zip(statement.rule.blocks, given, strict=True):
            if not isinstance(region, Loop) or block is region.body:
                inner = lacking_in(block, leaves)
                found |= {k for k, atom in enumerate(block.outputs()) if _lacks(atom, inner)}
        if not isinstance(region, Loop) or len(found) == before:
            return found


def lacking_leaves(
    statement: form.Statement, lacking: Collection[str], carried: Collection[int] = ()
) -> list[set[str]]:
    """The leaves of each block of a region, or of a call, that some paths lack.

    Args:
        carried: the values that a loop carries and some passes may lack.
    """
    region, found = region_of(statement), []
    for block in statement.rule.blocks:
        if isinstance(region, Loop):
            parts, leaves = region.parts(statement.operands), region.leaves(block)
            own = [*leaves.fixed, *leaves.carried], [*parts.fixed, *parts.carried]
            more = {leaf for k, leaf in enumerate(leaves.carried) if k in carried}
        else:
            leaves, more = block.leaves(), set()
            own = leaves, statement.operands[len(statement.operands) - len(leaves) :]
        pairs = zip(*own, strict=True)
        found.append(more | {leaf for leaf, atom in pairs if _lacks(atom, lacking)})
    return found


def _lacks(atom: gast.AST, lacking: Collection[str]) -> bool:
    return form.is_undefined(atom) or getattr(atom, "id", "") in lacking


def _in_runs(program: Program) -> tuple[Program, list[str]]:
    """The program, and why its statements are not native: what nobody waits for is put off.

    What a loop keeps of each pass would else stand between statements that are one part.
    """
    body: list[form.Statement] = []
    reasons: list[str] = []
    made: set[str] = set()  # in the run that is under way
    handed = {each for each in program.leaves() if isinstance(program.facts[each], values.List)}
    late: list[tuple[form.Statement, str]] = []

    def end() -> None:
        for each, reason in late:
            body.append(each)
            reasons.append(reason)
        late.clear()
        made.clear()

    for statement in program.body:
        item = item_of(statement)
        stray = item is not None and item[0] not in made
        reason = "its operation has no native form" if stray else why_not(statement, program)
        if not handed.isdisjoint(statement.reads):
            result = program.facts.get(statement.target)
            handed |= set() if result is None or is_plain(result) else {statement.target}
            reason = reason or LISTS
        if reason and made and not has_effect(statement) and not _raises(statement, program):
            late.append((statement, reason))
            continue
        if reason or not {each.target for each, _ in late}.isdisjoint(statement.reads):
            end()
            if item is not None:
                reason = reason or "its operation has no native form"
        body.append(statement)
        reasons.append(reason)
        if not reason and statement.target:
            made.add(statement.target)
    end()
    return program.with_(body=tuple(body)), reasons


def _raises(statement: form.Statement, program: Program) -> bool:
    appends = statement.rule.at_end and isinstance(program.facts[statement.target], values.List)
    return not appends and may_raise(statement, program.fact)


@dataclass(frozen=True, slots=True)
class Run:
    """Statements of a program that may be a part; `lacking` are values that some paths lack."""

    whole: Program
    start: int
    end: int
    lacking: Collection[str] = ()

    @property
    def statements(self) -> tuple[form.Statement, ...]:
        return self.whole.body[self.start : self.end]

    def inputs(self) -> list[str]:
        """What it reads, in order."""
        made = {each.target for each in self.statements}
        captured = {each.name for each in self.whole.captured()}
        read = (name for each in self.statements for name in each.reads)
        return [each for each in dict.fromkeys(read) if each not in made | captured]

    def outputs(self) -> list[str]:
        """What is read behind it, in order."""
        read = {name for each in self.whole.body[self.end :] for name in each.reads}
        read.update(name for atom in self.whole.outputs() for name in form.reads(atom))
        return [each.target for each in self.statements if each.target in read]

    def is_closed(self) -> bool:
        """Whether arrays and numbers alone go in and out, and something does go out."""
        fact, outputs = self.whole.facts.get, self.outputs()
        handed = [*self.inputs(), *outputs]
        if not outputs or not all(is_plain(fact(e)) and e not in self.lacking for e in handed):
            return False
        weak = {each for each in outputs if getattr(fact(each), "weak", False)}
        return not weak or all(
            dtype_of(fact(each.target)) is not None
            for each in self.whole.body[self.end :]
            if isinstance(each, form.Op) and not weak.isdisjoint(each.reads)
        )

    def is_small(self) -> bool:
        done = sum(work(each, self.whole) for each in self.statements)
        return done < FEWEST + PER_VALUE * (len(self.inputs()) + len(self.outputs()))

    def refused(self) -> str:
        """Why it has no native form; empty where it has one."""
        return reason_of(lambda: native_text(self.program(self.whole.name, 1)))

    def program(self, name: str, part: int) -> Program:
        """The statements as a function of their own."""
        hints, inputs, taken = dict(self.whole.hints), [], set()
        for each in self.inputs():
            hint = hints.get(each, TEMPORARY)
            text = own = hint.text or "value"
            count = 2
            while own in taken:
                own, count = f"{text}_{count}", count + 1
            taken.add(own)
            hints[each] = hint if own == hint.text else Hint(own, "derived")
            inputs.append(Input(own, each))
        read = {name for each in self.statements for name in (*each.reads, *captured_names(each))}
        captures = tuple(each for each in self.whole.captured() if each.name in read)
        return self.whole.with_(
            name=name,
            doc=f"Part {part} of {name.removesuffix(f'_part_{part}')}",
            inputs=tuple(inputs),
            body=self.statements,
            output=one_or_tuple([form.name(each) for each in self.outputs()]),
            hints=hints,
            captures=captures,
            mutated=(), beside=(), writes=(), kept=0, own=frozenset(), notes=(),
            part=part,
        )  # fmt: skip


def is_plain(fact: Any) -> bool:
    """Whether a value is an array or a number of which the kind is known, on each path."""
    if not isinstance(fact, values.Array | values.Scalar) or values.may_be_absent(fact):
        return False
    if values.may_be_wider(fact):
        return False
    dtype, rank = dtype_of(fact), values.rank_of(fact)
    return dtype is not None and dtype.kind in "biufc" and rank is not None


def why_not(statement: form.Statement, program: Program) -> str:
    """Why a statement is certain to have no native form; empty where it may have one."""
    if isinstance(statement, form.Effect):
        prints = any(isinstance(each, gast.Expr) for each in gast.walk(statement.node))
        return "an effect other than an exception" if prints else ""
    region, call = region_of(statement), callee_of(statement)
    if isinstance(region, Attempt):
        return "try"
    if region is not None:
        return _first(why_not(each, block) for block in region.blocks for each in block.body)
    if call is not None:
        if call.is_recursive or call.is_stub:
            return "a function that calls itself"
        return _first(why_not(each, call.program) for each in call.program.body)
    if is_watched(statement):
        return "np.errstate(...='raise')"
    fact = program.facts.get
    of_lists = any(isinstance(fact(e), values.List) for e in (statement.target, *statement.reads))
    rule = statement.rule
    if of_lists or rule.updates or isinstance(rule, Unpack | Unpacking) or item_of(statement):
        return ""
    if rule.count is not None:
        return f"{rule.name} has no native form"
    return reason_of(lambda: form_of(statement.function))


def _is_number(statement: form.Statement, program: Program) -> bool:
    """Whether a statement is about numbers alone, and as good outside of a part as at its end."""
    plain = isinstance(statement, form.Op) and not hasattr(statement.rule, "blocks")
    return plain and statement.rule is not ITEM and work(statement, program) < 1.0


def _with_blocks_of(statements: Sequence[form.Statement]) -> Iterator[form.Statement]:
    """The statements, and those in their blocks."""
    for each in statements:
        yield each
        region = region_of(each)
        for block in () if region is None else region.blocks:
            yield from _with_blocks_of(block.body)


def _first(reasons: Iterator[str]) -> str:
    return next(filter(None, reasons), "")


def work(statement: form.Statement, program: Program) -> float:
    """What a statement is to NumPy, in operations on arrays."""
    if isinstance(statement, form.Effect):
        return NUMBER
    region, call = region_of(statement), callee_of(statement)
    if isinstance(region, Loop):
        return LOOP
    if region is not None or call is not None:
        blocks: Sequence[Program] = statement.rule.blocks
        return sum(work(each, block) for block in blocks for each in block.body)
    if statement.rule is ITEM or statement.rule.view:
        return 0.0
    facts = [program.facts.get(each) for each in (statement.target, *statement.reads)]
    return 1.0 if any(values.rank_of(each) for each in facts if each is not None) else NUMBER


# ---- text ----------------------------------------------------------------------------------------


def loops_of(parts: Sequence[Part]) -> str:
    """The modules of the loops of all parts, as one."""
    imports: dict[str, None] = {}
    known: dict[str, str] = {}
    for part in parts:
        source = _apart(part.native, known)
        lines, module = source.splitlines(), ast.parse(source)
        heads = [each for each in module.body if isinstance(each, ast.Import | ast.ImportFrom)]
        imports |= dict.fromkeys(lines[each.lineno - 1] for each in heads)
        known |= dict(_definitions(source))
    return "\n".join([*sorted(imports), "", "", "\n\n".join(known.values())])


def _apart(source: str, known: Mapping[str, str]) -> str:
    """A module in which no function is called like another one that is known."""
    own = dict(_definitions(source))
    for name in [each for each in own if known.get(each, own[each]) != own[each]]:
        count = 2
        while f"{name}_{count}" in {*known, *own}:
            count += 1
        source = re.sub(rf"(?<![.\w]){name}(?=\()", f"{name}_{count}", source)
    return source


def _definitions(source: str) -> Iterator[tuple[str, str]]:
    """The functions of a module, each with its decorators."""
    lines = source.splitlines(keepends=True)
    for each in ast.parse(source).body:
        if isinstance(each, ast.FunctionDef):
            first = min([each.lineno, *(one.lineno for one in each.decorator_list)])
            yield each.name, "".join(lines[first - 1 : each.end_lineno])


def around_parts(cut: Cut) -> Text:
    """The text of what is not native: the functions that are no parts."""
    written = [each for each in functions_of(cut.program) if not each.program.part]
    function = "\n\n".join(each.text for each in written)
    words = {*re.findall(r"\w+", function)}
    helpers = tuple(each for each in cut.text.helpers if each in words)
    modules = tuple(each for each in cut.text.modules if f"{each}." in function)
    return replace(cut.text, function=function, helpers=helpers, modules=modules)
