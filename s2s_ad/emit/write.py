"""The text of a program: stores, folding, names, comments and layout put together."""

from __future__ import annotations

import re
from collections import ChainMap
from collections.abc import Collection, Iterator, Mapping
from functools import partial
from typing import Any

import gast

from s2s_ad import runtime
from s2s_ad.analysis.described import Described
from s2s_ad.core import form, tree
from s2s_ad.core.callee import Callee
from s2s_ad.core.program import Program
from s2s_ad.core.tree import Tree, is_made_by_a_call
from s2s_ad.diagnostics import Origin
from s2s_ad.emit.coalesce import Variables, are_alike
from s2s_ad.emit.definition import (
    check_keywords,
    comment,
    definition,
    destructuring,
    keywords_of,
    with_free_trees,
)
from s2s_ad.emit.early_returns import INDENT, with_early_returns
from s2s_ad.emit.folding import Refold
from s2s_ad.emit.idioms import idiomatic
from s2s_ad.emit.kept_early import with_values_computed_late, with_values_kept_early
from s2s_ad.emit.lines import Line, flat
from s2s_ad.emit.live_ranges import Liveness
from s2s_ad.emit.printer import print_rows
from s2s_ad.emit.provenance import BLOCKS, NO_ROW, Row, mark, settle, with_origin
from s2s_ad.emit.ready import Functions, Ready, ready_functions
from s2s_ad.emit.rename import Naming, means_something
from s2s_ad.emit.statements import OF_LOOPS, Statements
from s2s_ad.emit.surface import Surface
from s2s_ad.emit.text import WIDTH, Text, Written
from s2s_ad.emit.tidy import (
    popped_from,
    unbound,
    with_pops_unpacked,
    with_shapes_unpacked,
    with_values_in_moves,
    without_dead,
)
from s2s_ad.emit.together import together
from s2s_ad.emit.variables import Opening

PLACEHOLDER = "the_function"  # stands for the name where texts are compared


def write(program: Program, *, by_parts: bool = True) -> Text:
    """The text of a program that has been simplified for good, with the functions it calls.

    Args:
        by_parts: whether an array changes when a part of it does, as NumPy's do.
    """
    module, main = _written(program, by_parts)
    function = "\n\n".join([main.text, *(each.text for each in module.texts)])
    words = set(re.findall(r"\w+", function)) if module.captured else ()
    return Text(
        name=main.program.name,
        function=function,
        captured={shown: name for name, shown in module.captured.items() if shown in words},
        objects={
            name: each
            for name, each in module.objects.items()
            if not isinstance(each, form.Handled)
        },
        helpers=tuple(sorted(module.helpers)),
        statements=main.statements,
        modules=tuple(sorted(module.modules)),
        shown=main.shown,
        rows=tuple(_rows([main, *module.texts])),
        families=dict(ChainMap(*(each.families for each in [main, *module.texts]))),
        kept_in={name: items for name, (_, items) in module.functions[None].parts.items()},
    )


def _written(program: Program, by_parts: bool = True) -> tuple[Module, Written]:
    """A module, and in it the function that is the program."""
    functions = together(*ready_functions(program, by_parts))
    module = Module(functions, {each.name for each in program.inputs}, by_parts)
    name = module.free(program.name)
    return module, module.write(module.functions[None], name, called=False)


def functions_of(program: Program, *, by_parts: bool = True) -> list[Written]:
    """The functions in the text of a program, in their order: see `write`."""
    module, main = _written(program, by_parts)
    return [main, *module.texts]


def _rows(functions: list[Written]) -> Iterator[Row]:
    """The rows of functions that stand two lines apart."""
    for index, each in enumerate(functions):
        yield from (NO_ROW, NO_ROW) if index else ()
        yield from each.rows


class Module:
    """The functions that are written together, and the names that they share.

    Args:
        functions: all of them, by what is called.
        parameters: the names of the parameters of the function that the user calls.
        by_parts: see `write`. Where an array does not change with its parts, stores into arrays and
            into lists are written apart, so a name is never that of both in turn.
    """

    def __init__(self, functions: Functions, parameters: set[str], by_parts: bool = True) -> None:
        self.functions, self.parameters, self.by_parts = functions, parameters, by_parts
        self.names: dict[Callee, str] = {}
        self.texts: list[Written] = []
        self.captured: dict[str, str] = {}
        self.objects: dict[str, Any] = {}
        self.helpers: set[str] = set()
        self.modules: set[str] = set()
        self.taken: set[str] = set()
        self._known: dict[tuple[str, str], dict[str, str | Ready]] = {}  # of functions alike

    def name_of(self, call: Callee) -> str:
        """The name of a function that is called; its text is written the first time."""
        if call not in self.names and call.is_recursive:
            self.names[call] = name = self.free(call.program.name)  # the text says it itself
            index = len(self.texts)
            self.texts.insert(index, self.write(self.functions[call], name))
        elif call not in self.names:
            index = len(self.texts)
            function = self.functions[call]
            self.names[call] = self._same(function) or self._written(function, index)
        return self.names[call]

    def _same(self, function: Ready) -> str | None:
        """The function that has the same text but for its name.

        That text is written where there is another function of the user's name for it, only.
        """
        program = function.program
        alike = self._known.get((program.name, program.doc))
        if alike is None:
            return None
        for name, each in alike.items():
            if isinstance(each, Ready):
                alike[name] = self.write(each, PLACEHOLDER).text
        text = self.write(function, PLACEHOLDER).text
        return next((name for name, other in alike.items() if other == text), None)

    def _written(self, function: Ready, index: int) -> str:
        """Write a function before those that it calls, which choose their names first."""
        program = function.program
        name = self._unused(program.name)
        text = self.write(function, name)
        if name in self.taken:
            name = self._unused(program.name)
            text = self.write(function, name)
        self.taken.add(name)
        self.texts.insert(index, text)
        self._known.setdefault((program.name, program.doc), {})[name] = function
        return name

    def free(self, text: str) -> str:
        """`text`, or `text_2` ... where it means something else in the module: now it is taken."""
        name = self._unused(text)
        self.taken.add(name)
        return name

    def _unused(self, text: str) -> str:
        candidate, count = text, 2
        used = {*self.taken, *self.captured.values(), *self.objects}
        while candidate in used or means_something(candidate):
            candidate, count = f"{text}_{count}", count + 1
        return candidate

    def _taken_in(self, program: Program) -> set[str]:
        """Names that an object of the user's cannot have in the text of a function."""
        inputs = {each.name for each in program.inputs}
        hinted = {hint.text for hint in program.hints.values()}
        return {"np", "numpy", *self.taken, *inputs, *hinted, *self.captured.values()}

    def _meant_by_text(self, surface: Surface, lines: list[Line]) -> set[str]:
        """Names of modules, functions and objects in the text: no variable can have them."""
        names = {"np", "slice", *self.objects, *self.names.values()}
        names |= surface.helpers | surface.builtins
        names |= OF_LOOPS if any(line.kind == "for" for line in flat(lines)) else set()
        return names | {each.partition(".")[0] for each in surface.modules}

    def write(self, function: Ready, name: str, *, called: bool = True) -> Written:
        """The text of a function; `called`: whether another function of the module calls it."""
        program = function.program.with_(name=name)
        opening = Opening(function.stores)
        opened = opening.body(program)
        output = tree.tree_map(opening.atom, program.output)
        surface = Surface(program.facts, self._taken_in(program), self.objects, self.name_of)
        fold = Refold(program, opened, output, surface, called=called)
        lines = with_pops_unpacked(fold.lines(), fold.outputs)
        lines = with_values_kept_early(with_shapes_unpacked(lines, program.facts))
        lines = with_values_computed_late(lines, partial(are_alike, program.hints))
        output, returned = _output_expression(fold.output(), surface), fold.folded
        weak = program.facts.keys() - function.known
        lines, variables = _with_variables(program, lines, output, opening.aliases, weak)
        _tell_pops(lines, variables)
        reserved = {name, *self._meant_by_text(surface, lines)}
        keywords = keywords_of(program)
        program = with_free_trees(program, reserved)
        reserved |= {each.name for each in program.inputs if isinstance(each.tree, Tree)}
        elsewhere = self.parameters | self.taken
        assigned = (each.statement for each in flat(opened) if each.kind == "assign")
        described = Described(program, assigned)
        naming = Naming(
            program,
            lines,
            variables,
            described,
            reserved,
            self.captured,
            elsewhere,
            by_sort=not self.by_parts,
        )
        check_keywords(program, naming, keywords)
        kept = map(opening.atom, program.kept_atoms())
        missing = unbound(lines, variables, _outside(program), kept)
        statements = Statements(naming, surface, missing)
        body = destructuring(program, lines, output, naming)
        body += statements.of(lines)
        body.append(_return(naming.renamed(output), returned, fold.made_last))
        body = idiomatic(body, WIDTH)
        comment(program, body)
        body = with_early_returns(body, naming.of_the_user(output), WIDTH - INDENT)
        self.helpers |= surface.helpers
        self.modules |= surface.modules
        made = definition(program, body, naming)
        settle([made], ())
        text, printed = print_rows([made], WIDTH)
        rows = [NO_ROW if each is None else each.row for each in printed]
        shown = dict(naming.shown)
        for each, (item, items) in function.parts.items():
            shown[each] = f"{item or 'a value'} in {naming.shown.get(items, 'a list')}"
        return Written(name, program, text, _count(body), shown, rows, naming.families())


def _tell_pops(lines: list[Line], variables: Variables) -> None:
    """What is taken off a list comes from where it was put into it, too."""
    put: dict[str, list[Origin]] = {}
    for line in flat(lines):
        if line.store is not None and line.store.kind == "append":
            put.setdefault(variables.of(line.store.base), []).extend(line.origins())
    for line in flat(lines) if put else ():
        if source := popped_from(line):
            line.folded = [*line.folded, *put.get(variables.of(source), ())]


def _with_variables(
    program: Program,
    lines: list[Line],
    output: gast.AST,
    aliases: Mapping[str, list[str]],
    weak: Collection[str],
) -> tuple[list[Line], Variables]:
    """The lines with as few moves as there may be, and which names are one variable in them."""
    inputs, outputs = program.leaves(), form.reads(output)
    captured = [each.name for each in program.captured()]

    def variables_of(lines: list[Line]) -> Variables:
        liveness = Liveness(lines, inputs, outputs)
        return Variables(lines, liveness, captured, aliases, program.hints, weak)

    if not any(line.moves for line in flat(lines)):
        return lines, variables_of(lines)
    lines = without_dead(lines, inputs, outputs, program.fact)
    lines = with_values_in_moves(lines, variables_of(lines), outputs, program.hints)
    return lines, variables_of(lines)


def _outside(program: Program) -> list[str]:
    return [*program.leaves(), *(each.name for each in program.captured())]


def _return(value: gast.AST, origins: list[Origin], made: form.Statement | None) -> gast.stmt:
    """The last statement; where it computes the one result it stands for what `made` that."""
    statement = with_origin(gast.Return(value), None)
    if made is not None:
        statement = with_origin(gast.Return(value), made.origin, made.phase)
    mark(statement, origins)
    return statement


def _count(body: list[gast.stmt]) -> int:
    """Statements, with those in blocks."""
    parts = (getattr(each, name, ()) for each in body for name in BLOCKS)
    inside = sum(_count(each) for each in parts if isinstance(each, list))
    return inside + sum(isinstance(each, gast.stmt) for each in body)


def _output_expression(output: Any, surface: Surface) -> gast.AST:
    """The containers that the function returns."""
    if not isinstance(output, Tree):
        return output
    items = [_output_expression(item, surface) for item in output.items]
    if output.kind is tuple:
        return gast.Tuple(items, gast.Load())
    if output.kind is list:
        return gast.List(items, gast.Load())
    if output.kind is dict:
        return gast.Dict([gast.Constant(key, None) for key in output.keys], items)
    named = [gast.keyword(k, item) for k, item in zip(output.keys, items, strict=True)]
    if is_made_by_a_call(output.kind):
        return gast.Call(surface.object(output.kind), [], named)
    return gast.Call(surface.object(runtime.instance), [surface.object(output.kind)], named)
