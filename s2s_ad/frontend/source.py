"""The syntax tree of a function: found in its file by position, and proved to be what runs."""

from __future__ import annotations
import __future__

import ast
import contextlib
import copy
import dis
import functools
import inspect
import linecache
import types
import weakref
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

import gast

from s2s_ad.core.sharing import quiet
from s2s_ad.diagnostics import Origin, SourceError
from s2s_ad.frontend.notebooks import Script, of_magics

FUTURE = functools.reduce(
    int.__or__, (getattr(__future__, name).compiler_flag for name in __future__.all_feature_names)
)
SUSPENDING = inspect.CO_GENERATOR | inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR


@dataclass(frozen=True, slots=True)
class Source:
    """A function's definition: its node in gast, and where it stands.

    `lines` are its own, by their numbers: a file may be long, and a process keep many of its
    functions.
    """

    node: gast.FunctionDef | gast.Lambda
    file: str
    lines: Mapping[int, str]
    name: str

    def origin(
        self, node: gast.AST, root: int = 0, settings: tuple[tuple[str, str], ...] = ()
    ) -> Origin:
        """The place of a node of this source."""
        line = getattr(node, "lineno", self.node.lineno)
        column = getattr(node, "col_offset", 0)
        text = self.lines.get(line, "")
        end = getattr(node, "end_col_offset", None)
        if end is None or getattr(node, "end_lineno", line) != line:
            end = len(text.rstrip().encode())
        columns = _characters(text, column), _characters(text, end)
        return Origin(self.file, line, *columns, text, self.name, root or line, settings)


def _characters(text: str, offset: int) -> int:
    """Python counts columns in UTF-8 bytes; people count characters."""
    return len(text.encode()[:offset].decode(errors="ignore"))


def source_of(function: types.FunctionType, *, yields: bool = False) -> Source:
    """The source of a function; of a generator function where it `yields`.

    Raises:
        SourceError: there is no source, or it is not the source of the code that runs.
    """
    code = function.__code__
    suspends = code.co_flags & SUSPENDING
    if suspends and not (yields and is_generator(function)):
        raise SourceError(
            "S2S103",
            f"{function.__qualname__} is a generator or an async function",
            why="its body does not run from start to end at once",
            help="return the values in a tuple or an array",
        )
    proved = _PROVED.get(id(code))
    if proved is None:
        proved = _PROVED.setdefault(id(code), _read(function))
        weakref.finalize(code, _PROVED.pop, id(code), None).atexit = False
    return proved


def is_generator(function: types.FunctionType) -> bool:
    """Whether a call of the function gives a generator."""
    return function.__code__.co_flags & SUSPENDING == inspect.CO_GENERATOR


#: by the identity of the code, for as long as there is the code
_PROVED: dict[int, Source] = {}


def _read(function: types.FunctionType) -> Source:
    """The source, from the text of the file or from one that has no file.

    Many functions of no file may share its name: that its text is that of another says nothing.
    """
    file = function.__code__.co_filename
    linecache.checkcache(file)
    lines = tuple(linecache.getlines(file, function.__globals__))
    if lines and not _is_of_no_file(file):
        return _read_in(Script(lines), function)
    texts = [lines, _frozen(function)]
    scripts = [Script(each) for each in texts if each]
    for script in [*scripts, *of_magics(function.__code__.co_firstlineno)]:
        with contextlib.suppress(SourceError):
            return _read_in(script, function)
    raise SourceError(
        "S2S101",
        f"the source of {function.__qualname__} cannot be read",
        why=f"no text of it is known for {file}: code given to exec leaves none, nor does "
        "what is typed into a bare interpreter before Python 3.13",
        help="put the function into a file or a notebook cell",
    )


def _frozen(function: types.FunctionType) -> tuple[str, ...]:
    """The text of a module that is part of Python itself: `<frozen _collections_abc>`."""
    file = function.__globals__.get("__file__")
    named = function.__code__.co_filename.startswith("<frozen ")
    return tuple(linecache.getlines(file)) if named and isinstance(file, str) else ()


def _is_of_no_file(file: str) -> bool:
    """Whether it is a name that stands for code of no file: <string>, <timed exec>."""
    return file.startswith("<") and file.endswith(">")


def _read_in(script: Script, function: types.FunctionType) -> Source:
    """The source where it stands in this text, and compiling it gives the code that runs."""
    file = function.__code__.co_filename
    try:
        module = _parsed(script, file)
    except SyntaxError as error:
        raise _stale(function, f"{file} no longer parses: {error}") from None
    top, around, node = _find(module, function)
    _prove(function, module.units(top), node)
    converted = gast.ast_to_gast(node)
    if around is not None:
        mangle(converted, around.name.lstrip("_"))
    return Source(converted, file, _lines_of(node, script), function.__name__)


def _lines_of(node: ast.AST, script: Script) -> dict[int, str]:
    """The lines from the first decorator to the last of the body, by their numbers."""
    first, last = _first_line(node), node.end_lineno or node.lineno
    return dict(enumerate(script.lines[first - 1 : last], first))


Found = tuple[ast.stmt, ast.ClassDef | None, ast.FunctionDef | ast.Lambda]


@dataclass(frozen=True, slots=True)
class Module:
    """A parsed text: its imports, and each function with the statement and class around it.

    `inside` is the function that the statements may have been compiled in.
    """

    imports: list[ast.stmt]
    definitions: list[Found]
    inside: ast.stmt | None = None

    def units(self, top: ast.stmt) -> Iterator[list[ast.stmt]]:
        """What may have been compiled at once, as far as it makes a difference to a statement.

        A file is compiled as a whole, a cell of a notebook statement by statement.
        """
        yield [*self.imports, top]
        if self.imports:
            yield [top]
        if self.inside is not None:
            yield [self.inside]
        yield [*self.imports, _with_asserts_at_one_place(top)]


def _with_asserts_at_one_place(top: ast.stmt) -> ast.stmt:
    """The statement as pytest before 8.4 has it compiled: all inside of an `assert` stands where
    that does."""
    made = copy.deepcopy(top)
    for statement in ast.walk(made):
        if isinstance(statement, ast.Assert):
            for node in ast.walk(statement):
                ast.copy_location(node, statement)
    return made


@functools.lru_cache(maxsize=64)
def _parsed(script: Script, file: str) -> Module:
    with quiet(file):
        module = ast.parse("".join(script.lines), file)
        inside = None if script.before is None else _timed("".join(script.before), module)
    return Module(_imports(module), list(_definitions(module)), inside)


def _timed(before: str, module: ast.Module) -> ast.stmt:
    """The statements in a function, as timeit has them, after those of its setup."""
    function = ast.parse("def inner(_it, _timer): pass").body[0]
    function.body = [*ast.parse(before).body, *module.body, *function.body]
    return function


def _stale(function: types.FunctionType, why: str) -> SourceError:
    return SourceError(
        "S2S102",
        f"the source of {function.__qualname__} is not the code that runs",
        why=f"the file was changed after it was imported: {why}",
        help="import it again (restart, or importlib.reload)",
    )


# ---- finding the definition ----------------------------------------------------------------------


def _definitions(module: ast.Module) -> Iterator[Found]:
    """Each function: the statement of the module and the class that it stands in, and its node."""
    for top in module.body:
        waiting: list[tuple[ast.AST, ast.ClassDef | None]] = [(top, None)]
        while waiting:
            node, around = waiting.pop()
            if isinstance(node, ast.FunctionDef | ast.Lambda):
                yield top, around, node
            inner = node if isinstance(node, ast.ClassDef) else around
            waiting += [(child, inner) for child in ast.iter_child_nodes(node)]


def _find(module: Module, function: types.FunctionType) -> Found:
    """The definition whose code starts where the function's does."""
    code = function.__code__
    if code.co_name == "<lambda>":
        found = _find_lambdas(module, code)
    else:
        found = [
            each
            for each in module.definitions
            if getattr(each[2], "name", "") == code.co_name
            and _first_line(each[2]) == code.co_firstlineno
        ]
    if not found:
        raise _stale(function, "its definition is not at the line where it was")
    if len(found) > 1:
        raise SourceError(
            "S2S101",
            f"the source of {function.__qualname__} cannot be told from others on its line",
            help="give it a line of its own",
        )
    return found[0]


def _first_line(node: ast.FunctionDef | ast.Lambda) -> int:
    decorators = getattr(node, "decorator_list", ())
    return min([node.lineno, *(each.lineno for each in decorators)])


def _find_lambdas(module: Module, code: types.CodeType) -> list[Found]:
    """The lambdas that the code may belong to: one, where the code knows its columns."""
    lambdas = [each for each in module.definitions if isinstance(each[2], ast.Lambda)]
    place = _first_position(code)
    if place is None:  # Python was told to leave the columns out
        return [each for each in lambdas if each[2].lineno == code.co_firstlineno]
    around = [each for each in lambdas if _holds(each[2].body, place)]
    if not around:  # see `_with_asserts_at_one_place`
        return [each for each in lambdas if _is_asserted_at(place, *each)]
    return [max(around, key=lambda each: (each[2].lineno, each[2].col_offset))]


def _is_asserted_at(place: tuple[int, int], top: ast.stmt, _: object, node: ast.Lambda) -> bool:
    """Whether a lambda is part of the `assert` that begins there."""
    return any(
        isinstance(each, ast.Assert)
        and (each.lineno, each.col_offset) == place
        and _holds(each, (node.lineno, node.col_offset))
        for each in ast.walk(top)
    )


def _first_position(code: types.CodeType) -> tuple[int, int] | None:
    """Where the first expression of the code stands."""
    places = [
        (line, column)
        for line, end_line, column, end_column in code.co_positions()
        if line is not None and column is not None and (line, column) != (end_line, end_column)
    ]
    return min(places, default=None)


def _holds(node: ast.AST, place: tuple[int, int]) -> bool:
    start, end = (node.lineno, node.col_offset), (node.end_lineno, node.end_col_offset)
    return start <= place < end


def mangle(node: gast.AST, name: str) -> None:
    """Names with two underscores are private to the class, as Python makes them."""
    fields = {gast.Attribute: "attr", gast.FunctionDef: "name", gast.Name: "id"}
    fields |= {gast.keyword: "arg"}
    for each in gast.walk(node):
        field = fields.get(type(each))
        text = getattr(each, field) if field else None
        if text and text.startswith("__") and not text.endswith("__"):
            setattr(each, field, f"_{name}{text}")


# ---- proving that it is what runs ----------------------------------------------------------------


def _imports(module: ast.Module) -> list[ast.stmt]:
    """The module's imports: Python compiles attributes of what is imported in a way of its own."""
    found, waiting = [], [*module.body]
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.Import | ast.ImportFrom):
            if getattr(node, "module", "") != "__future__":
                found.append(node)
        elif not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.expr):
            waiting += ast.iter_child_nodes(node)
    return found


def _prove(function: types.FunctionType, units: Iterable[list[ast.stmt]], node: ast.AST) -> None:
    """One of the ways in which the text may have been compiled has to give the code that runs."""
    code = function.__code__
    asserts = [(n.lineno, n.end_lineno) for n in ast.walk(node) if isinstance(n, ast.Assert)]
    running = None
    for statements in units:
        with contextlib.suppress(SyntaxError, ValueError):
            compiled = list(_codes(_compiled(statements, code)))
            if code in compiled:
                return
            running = running or _comparable(code, asserts)
            if any(_comparable(each, asserts) == running for each in compiled):
                return
    raise _stale(function, "compiling the text gives other code")


def _compiled(statements: list[ast.stmt], code: types.CodeType) -> types.CodeType:
    flags = code.co_flags & FUTURE | ast.PyCF_ALLOW_TOP_LEVEL_AWAIT
    module = ast.Module(statements, [])
    with quiet(code.co_filename):  # Python gave them when it compiled the file
        return compile(module, code.co_filename, "exec", flags, dont_inherit=True)


def _codes(code: types.CodeType) -> Iterator[types.CodeType]:
    yield code
    for each in code.co_consts:
        if isinstance(each, types.CodeType):
            yield from _codes(each)


def _instructions(code: types.CodeType, asserts: list[tuple[int, int]]) -> Iterator[tuple]:
    """What the code does, and where it stands; `assert` is left out, which test runners rewrite."""
    jumps = {*dis.hasjrel, *dis.hasjabs}
    for each in dis.get_instructions(code):
        place = each.positions
        line = place.lineno if place is not None else None
        if line is None or any(first <= line <= last for first, last in asserts):
            continue
        argument = None if each.opcode in jumps else _comparable(each.argval, asserts)
        if each.opname not in ("EXTENDED_ARG", "NOP", "RESUME") and each.opcode not in jumps:
            yield each.opname, argument, line, place.col_offset, place.end_col_offset


def _comparable(value: object, asserts: list[tuple[int, int]]) -> object:
    """The argument of an instruction, so that 1, 1.0 and True differ."""
    if isinstance(value, types.CodeType):
        named = value.co_argcount + value.co_kwonlyargcount
        counts = value.co_posonlyargcount, value.co_argcount, value.co_kwonlyargcount
        head = value.co_name, counts, value.co_varnames[:named]
        return (*head, *_instructions(value, asserts))
    if isinstance(value, tuple):
        return tuple(_comparable(each, asserts) for each in value)
    return (type(value), value) if isinstance(value, frozenset) else (type(value), repr(value))
