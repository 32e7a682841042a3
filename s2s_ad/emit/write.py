"""The text of a program: stores, folding, names, comments and layout put together."""

from __future__ import annotations

import inspect
import re
import textwrap
from collections import ChainMap
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from keyword import iskeyword
from typing import Any

import gast

from s2s_ad.analysis import liveness
from s2s_ad.analysis.described import Described
from s2s_ad.core import form, tree
from s2s_ad.core.callee import Callee, item_of, reached
from s2s_ad.core.callers import Caller
from s2s_ad.core.homes import is_optional
from s2s_ad.core.passes import STORES, tell
from s2s_ad.core.program import TEMPORARY, Input, Program
from s2s_ad.core.regions import map_blocks
from s2s_ad.core.tree import Tree
from s2s_ad.diagnostics import Origin, UnsupportedError
from s2s_ad.emit.alpha_renaming import apart
from s2s_ad.emit.coalesce import Variables
from s2s_ad.emit.folding import Refold
from s2s_ad.emit.idioms import idiomatic
from s2s_ad.emit.lines import Line, flat
from s2s_ad.emit.live_ranges import Liveness
from s2s_ad.emit.printer import print_rows, print_statements
from s2s_ad.emit.provenance import BLOCKS, NO_ROW, Row, mark, settle, with_origin
from s2s_ad.emit.rename import Naming, means_something
from s2s_ad.emit.statements import OF_LOOPS, Statements
from s2s_ad.emit.stores import plan_stores
from s2s_ad.emit.surface import Surface
from s2s_ad.emit.tidy import (
    popped_from,
    unbound,
    with_pops_unpacked,
    with_shapes_unpacked,
    with_values_in_moves,
    without_dead,
)
from s2s_ad.emit.together import together
from s2s_ad.emit.tuples import Functions, Ready
from s2s_ad.emit.variables import Opening

WIDTH = 88
BY_NAME = (inspect.Parameter.KEYWORD_ONLY, inspect.Parameter.VAR_KEYWORD)
PLACEHOLDER = "the_function"  # stands for the name where texts are compared


@dataclass(frozen=True)
class Text:
    """Generated source, and what has to stand in its module for it to run.

    Attributes:
        name: the function's name.
        function: the text of the function.
        captured: the name of each captured number or array -> its Core name.
        objects: names of objects of the user's that the text refers to.
        helpers: names of runtime helpers.
        statements: how many statements the function has, its docstring apart.
        modules: modules of the standard library and of SciPy that the text names.
        shown: Core name -> its name in the text, for the values that have one.
        assumed: what it assumes of the lengths of its arguments.
        native: the module of its loops, where there is one; `refused` says why there is none.
        rows: where each line of `function` comes from.
        families: each name of the text, and the one that it is made of: `x_bar` of `x`.
        kept_in: Core name of a list -> that of the list of tuples which its items are put into.
    """

    name: str
    function: str
    captured: dict[str, str]
    objects: dict[str, Any]
    helpers: tuple[str, ...]
    statements: int
    modules: tuple[str, ...] = ()
    shown: dict[str, str] = field(default_factory=dict)
    assumed: tuple[str, ...] = ()
    native: str = ""
    refused: str = ""
    rows: tuple[Row, ...] = ()
    families: dict[str, str] = field(default_factory=dict)
    kept_in: dict[str, str] = field(default_factory=dict)

    @property
    def module(self) -> str:
        """The function with its imports."""
        return self._head + self.function

    @property
    def module_rows(self) -> list[Row]:
        """Where each line of `module` comes from; its head is ours."""
        return [NO_ROW] * self._head.count("\n") + [*self.rows]

    @property
    def _head(self) -> str:
        imports = ["\n".join(group) + "\n" for group in import_groups(self.modules, numpy=True)]
        imports[-1] = imports[-1].rstrip("\n")
        if self.helpers:
            names = [gast.alias(each, None) for each in self.helpers]
            line = gast.ImportFrom(module="s2s_ad.runtime", names=names, level=0)
            imports += ["", print_statements([line], WIDTH).rstrip("\n")]
        bound = [*self.captured, *self.objects]
        note = [f"# bound when it was compiled: {', '.join(bound)}"] if bound else []
        if self.assumed:
            assumed, start = ", ".join(self.assumed), "# for arguments with "
            note += textwrap.wrap(assumed, WIDTH, initial_indent=start, subsequent_indent="# ")
        return "\n".join([*imports, *(["", *note] if note else []), "", "", ""])


def import_groups(modules: Iterable[str], *, numpy: bool) -> list[list[str]]:
    """The import statements of the standard library, and those of other libraries."""
    lines = sorted((is_optional(each), f"import {each}") for each in modules)
    own, others = ([line for flag, line in lines if flag is optional] for optional in (False, True))
    groups = [own, [*(["import numpy as np"] if numpy else []), *others]]
    return [group for group in groups if group]


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
    functions = together(*_functions(program, by_parts))
    module = Module(functions, {each.name for each in program.inputs})
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


@dataclass(frozen=True, slots=True)
class Written:
    """One function as text, and the program that it is the text of."""

    name: str
    program: Program
    text: str
    statements: int
    shown: dict[str, str]
    rows: list[Row]
    families: dict[str, str]


def _functions(program: Program, by_parts: bool = True) -> tuple[Functions, set]:
    """The program and all functions that it comes to, and those that others call too."""
    functions: Functions = {None: ready(program, by_parts)}
    opened: set = {None}
    for each in reached((program,)):
        if isinstance(each, Caller):
            each = each.callee
            opened.add(each)
        if isinstance(each, Callee):
            functions[each] = ready(each.program, by_parts)
            if each.is_recursive:
                opened.add(each)
    return functions, opened


def ready(program: Program, by_parts: bool = True) -> Ready:
    """A function with copies and updates in place."""
    program = apart(without_keywords(with_value_names(program)))
    known = frozenset(program.facts)
    stored, stores = plan_stores(program, by_parts=by_parts)
    tell(STORES, program, stored)
    return Ready(stored, stores, known)


class Module:
    """The functions that are written together, and the names that they share.

    Args:
        functions: all of them, by what is called.
        parameters: the names of the parameters of the function that the user calls.
    """

    def __init__(self, functions: Functions, parameters: set[str]) -> None:
        self.functions, self.parameters = functions, parameters
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

    def write(self, function: Ready, name: str, *, called: bool = True) -> Written:
        program = function.program.with_(name=name)
        opening = Opening(function.stores)
        opened = opening.body(program)
        output = tree.tree_map(opening.atom, program.output)
        inputs = {each.name for each in program.inputs}
        hinted = {hint.text for hint in program.hints.values()}
        taken = {"np", "numpy", *self.taken, *inputs, *hinted, *self.captured.values()}
        surface = Surface(program.facts, taken, self.objects, self.name_of)
        fold = Refold(program, opened, output, surface, called=called)
        lines = with_pops_unpacked(fold.lines(), fold.outputs)
        lines = with_shapes_unpacked(lines, program.facts)
        output, returned = _output_expression(fold.output(), surface), fold.folded
        weak = program.facts.keys() - function.known
        lines, variables = _with_variables(program, lines, output, opening.aliases, weak)
        _tell_pops(lines, variables)
        reserved = {"np", "slice", name, *self.objects, *surface.helpers}
        reserved |= surface.builtins | set(self.names.values())
        reserved |= OF_LOOPS if any(line.kind == "for" for line in flat(lines)) else set()
        reserved |= {each.partition(".")[0] for each in surface.modules}
        keywords = _keywords(program)
        program = _with_free_trees(program, reserved)
        reserved |= {each.name for each in program.inputs if isinstance(each.tree, Tree)}
        elsewhere = self.parameters | self.taken
        made = (each.statement for each in flat(opened) if each.kind == "assign")
        described = Described(program, made)
        naming = Naming(program, lines, variables, described, reserved, self.captured, elsewhere)
        _check_keywords(program, naming, keywords)
        kept = map(opening.atom, program.kept_atoms())
        missing = unbound(lines, variables, _outside(program), kept)
        statements = Statements(naming, surface, missing)
        body = _destructuring(program, lines, output, naming)
        body += statements.of(lines)
        body.append(_return(naming.renamed(output), returned))
        body = idiomatic(body)
        _comment(program, body)
        self.helpers |= surface.helpers
        self.modules |= surface.modules
        definition = _function(program, body, naming)
        settle([definition], ())
        text, printed = print_rows([definition], WIDTH)
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
    lines = without_dead(lines, inputs, outputs)
    lines = with_values_in_moves(lines, variables_of(lines), outputs, program.hints)
    return lines, variables_of(lines)


def _outside(program: Program) -> list[str]:
    return [*program.leaves(), *(each.name for each in program.captured())]


def without_keywords(program: Program) -> Program:
    """Hints that Python cannot have as names count as none."""
    made = map_blocks(program, without_keywords)
    if not any(iskeyword(hint.text) for hint in made.hints.values()):
        return made
    nameless = {"text": "", "kind": "temporary"}
    hints = {n: replace(h, **nameless) if iskeyword(h.text) else h for n, h in made.hints.items()}
    return made.with_(hints=hints)


def with_value_names(program: Program) -> Program:
    """Outputs among several that have no name are called `value`, unless they are saved ones.

    Others may stand in the return, unless that would compute a value after its derivatives.
    """
    if not isinstance(program.output, Tree):
        return program
    hints, described = dict(program.hints), Described(program)
    counts = liveness.counts(program.body, program.outputs())
    made = {each.target: each for each in program.body if isinstance(each, form.Op)}
    backward = any(each.phase == "backward" for each in program.body)
    own = len(program.outputs()) - program.kept
    for index, atom in enumerate(program.outputs()):
        hint = hints.get(getattr(atom, "id", ""), TEMPORARY)  # a pass may have made the name
        if isinstance(atom, gast.Name) and not hint.text:
            statement = made.get(atom.id)
            if statement is not None and statement.rule.copy:
                inner = hints.get(statement.operands[0].id)
                text = f"{inner.text}_copy" if inner and inner.text else "copied"
            elif backward or counts[atom.id] > 1 or statement is None or item_of(statement):
                words = (described.text(atom.id), described.kind(atom.id), "value")
                text = "value" if index < own else next(filter(None, words))
            else:
                continue
            hints[atom.id] = replace(hint, text=text, kind="derived", of="")
    return program.with_(hints=hints)


# ---- statements ----------------------------------------------------------------------------------


def _return(value: gast.AST, origins: list[Origin]) -> gast.stmt:
    statement = with_origin(gast.Return(value), None)
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
    pairs = zip(output.keys, items, strict=True)
    return gast.Call(surface.object(output.kind), [], [gast.keyword(k, item) for k, item in pairs])


def _destructuring(
    program: Program, lines: list[Line], output: gast.AST, naming: Naming
) -> list[gast.stmt]:
    """W, b = params["W"], params["b"]: what is read of an argument that is a container."""
    read = {name for line in flat(lines) for name in line.reads()} | set(form.reads(output))
    body: list[gast.stmt] = []
    for each in program.inputs:
        if not isinstance(each.tree, Tree):
            continue
        if each.tree.kind is tuple and each.tree.items and read.issuperset(each.tree.items):
            shown = [form.name(naming.shown[leaf], gast.Store) for leaf in each.tree.items]
            target = gast.Tuple(shown, gast.Store())
            body.append(with_origin(gast.Assign([target], form.name(each.name), None), None))
            continue
        pairs = [
            (form.name(naming.shown[leaf], gast.Store), _path(each.name, path))
            for leaf, path in zip(tree.leaves(each.tree), tree.paths(each.tree), strict=True)
            if leaf in read
        ]
        if not pairs:
            continue
        targets, values = zip(*pairs, strict=True)
        single = len(pairs) == 1
        target = targets[0] if single else gast.Tuple(list(targets), gast.Store())
        value = values[0] if single else gast.Tuple(list(values), gast.Load())
        body.append(with_origin(gast.Assign([target], value, None), None))
    return body


def _path(root: str, path: tree.Path) -> gast.AST:
    node: gast.AST = form.name(root)
    for way, key in path:
        if way == "attribute":
            node = gast.Attribute(node, key, gast.Load())
        else:
            node = gast.Subscript(node, gast.Constant(key, None), gast.Load())
    return node


# ---- the function --------------------------------------------------------------------------------


def _comment(program: Program, body: list[gast.stmt]) -> None:
    """Sweeps are headed, and the first statement of each of the user's lines names it."""
    phases = [getattr(statement, "phase", "") for statement in body]
    both = phases.count("forward") > 1 and phases.count("backward") > 1
    shown = ""
    for statement, phase in zip(body, phases, strict=True):
        if both and phase in ("forward", "backward") and phase != shown:
            statement.comments_before = [phase]
            shown = phase
    first = None if program.origin is None else program.origin.line
    _comment_lines(body, first, None)


def _comment_lines(
    body: list[gast.stmt],
    first: int | None,
    previous: int | None,
    named: set[int | None] | None = None,
) -> int | None:
    """Name the user's line where it is another than that of the statement before.

    In a block each line is named once; `named` are those that are already.
    """
    for statement in body:
        origin = getattr(statement, "origin", None)
        if origin is not None and origin.root != previous:
            previous = origin.root
            if origin.root != first and (named is None or origin.root not in named):
                statement.comment_after = f"line {origin.root}"
            if named is not None:
                named.add(origin.root)
        for block in BLOCKS:
            inner = getattr(statement, block, None)
            if isinstance(inner, list):
                known = {previous} if named is None else named
                previous = _comment_lines(inner, first, previous, known)
    return previous


def _function(program: Program, body: list[gast.stmt], naming: Naming) -> gast.FunctionDef:
    doc = gast.Expr(gast.Constant(docstring(program), None))
    definition = gast.FunctionDef(
        name=program.name,
        args=_arguments(program, naming),
        body=[doc, *body],
        decorator_list=[],
        returns=None,
        type_comment=None,
        type_params=[],
    )
    mark(definition, [program.origin])
    return definition


def docstring(program: Program) -> str:
    """What the function computes, in a sentence, and where the user's function stands."""
    first = program.doc.split(" ", 1)[0]
    sentence = program.doc
    if first in ("gradient", "Jacobian"):
        sentence = sentence[0].upper() + sentence[1:]
    if program.origin is not None:
        sentence += f" ({program.origin.place})"
    return _wrapped(f"{sentence}.{_of_writes(program)}")


def _of_writes(program: Program) -> str:
    """What the results after the first are: the caller stores them in Parameters."""
    names = [each.text for each in program.writes]
    if not names:
        return ""
    listed = " and ".join(filter(None, (", ".join(names[:-1]), names[-1])))
    return f" The results after the first are what {listed} {_holds(names)} afterwards."


def _holds(names: list[str]) -> str:
    return "holds" if len(names) == 1 else "hold"


def _wrapped(text: str) -> str:
    if len(text) <= WIDTH - 10:
        return text
    rows = textwrap.wrap(text, WIDTH - 7, break_long_words=False, break_on_hyphens=False)
    return "\n    ".join(rows) + "\n    "


def _with_free_trees(program: Program, reserved: Collection[str]) -> Program:
    """Parameters that are containers called otherwise, where the text calls what they shadow."""
    used = {*reserved, *(each.name for each in program.inputs)}
    inputs = []
    for each in program.inputs:
        name, count = each.name, 2
        while isinstance(each.tree, Tree) and each.name in reserved and name in used:
            name, count = f"{each.name}_{count}", count + 1
        inputs.append(replace(each, name=name))
        used.add(name)
    return program.with_(inputs=tuple(inputs))


def _keywords(program: Program) -> list[str]:
    """The names of the parameters that are passed by name."""
    return [each.name for each in program.inputs if each.kind in BY_NAME]


def _check_keywords(program: Program, naming: Naming, names: Collection[str]) -> None:
    """Refuse to call a parameter that is passed by name otherwise."""
    shown = [_shown(each, naming) for each in program.inputs if each.kind in BY_NAME]
    for name, other in zip(names, shown, strict=True):
        if name != other:
            raise UnsupportedError(
                "S2S201",
                f"a keyword-only parameter called {name!r}",
                origin=program.origin,
                why=f"the generated function calls what Python or the module calls {name!r}",
                help="give it another name",
            )


def _shown(each: Input, naming: Naming) -> str:
    return each.name if isinstance(each.tree, Tree) else naming.shown[each.tree]


def _arguments(program: Program, naming: Naming) -> gast.arguments:
    kinds = inspect.Parameter
    groups: dict[Any, list] = {kind: [] for kind in inspect._ParameterKind}
    for each in program.inputs:
        groups[each.kind].append(form.name(_shown(each, naming), gast.Param))
    return gast.arguments(
        args=groups[kinds.POSITIONAL_OR_KEYWORD],
        posonlyargs=groups[kinds.POSITIONAL_ONLY],
        vararg=next(iter(groups[kinds.VAR_POSITIONAL]), None),
        kwonlyargs=groups[kinds.KEYWORD_ONLY],
        kw_defaults=[None] * len(groups[kinds.KEYWORD_ONLY]),
        kwarg=next(iter(groups[kinds.VAR_KEYWORD]), None),
        defaults=[],
    )
