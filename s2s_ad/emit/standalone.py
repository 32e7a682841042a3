"""A generated function as a module of its own, which needs NumPy (and SciPy where it calls it)."""

from __future__ import annotations

import ast
import functools
import inspect
import sys
from collections.abc import Iterable, Iterator
from typing import Any

import gast
import numpy as np

from s2s_ad import runtime
from s2s_ad.core import form
from s2s_ad.core.program import Program
from s2s_ad.diagnostics import S2SError
from s2s_ad.emit.printer import print_statements
from s2s_ad.emit.records import Failure, body_of, definition, own_code
from s2s_ad.emit.surface import dotted
from s2s_ad.emit.text import WIDTH, Text, import_groups

LARGEST = 1000  # elements of a captured array that are written out
IMPLIED = {np.dtype(kind) for kind in (bool, int, float, complex)}  # np.array finds these itself


def standalone_module(program: Program, text: Text) -> str:
    """The text of a module with the function, and all that the function refers to.

    Raises:
        S2SError: what the function captured cannot be written down.
    """
    read = _names_in(text.function)
    shown = [each for each in text.captured if each in read]
    objects = {name: value for name, value in text.objects.items() if name in read}
    constants = [_assignment(program, name, text.captured[name]) for name in shown]
    taken = {text.name, *shown, *objects}
    records = {name: definition(name, value) for name, value in objects.items()}
    classes = _exceptions(objects, taken) | {n: each for n, each in records.items() if each}
    helpers = _helpers(text.helpers, taken | set(classes))
    body = [print_statements(constants, WIDTH), text.function, print_statements(helpers, WIDTH)]
    by_classes = set().union(*map(_names_in, classes.values()))
    needs_numpy = "np" in by_classes or any("np" in _names_in(each) for each in body)
    modules = {*text.modules, *(by_classes & {"collections", "dataclasses", "logging"})}
    groups = [
        *import_groups(modules, numpy=needs_numpy),
        sorted(_import(program, name, objects[name]) for name in objects if name not in classes),
    ]
    imports = "\n".join("".join(f"{line}\n" for line in group) for group in groups if group)
    lines = [each for each in classes.values() if each.count("\n") == 1]
    blocks = [each for each in classes.values() if each not in lines]
    head = "\n".join(filter(None, [imports, "".join([*lines, body[0]])]))
    return "\n\n".join(filter(None, [head, *blocks, *body[1:]]))


def _names_in(source: str) -> set[str]:
    return {node.id for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Name)}


# ---- helpers -------------------------------------------------------------------------------------


def _helpers(wanted: Iterable[str], taken: set[str]) -> list[gast.FunctionDef]:
    """The wanted functions of `runtime` and those they call in turn, by name."""
    known = _runtime_functions()
    needed: set[str] = set()
    waiting = list(wanted)
    while waiting:
        name = waiting.pop()
        if name not in needed:
            needed.add(name)
            waiting += [each for each in _called(known[name]) if each in known]
    names = {name: _free(name, taken) for name in sorted(needed)}
    return [_renamed(known[name], names) for name in names]


@functools.cache
def _runtime_functions() -> dict[str, gast.FunctionDef]:
    functions = filter(inspect.isfunction, vars(runtime).values())
    modules = [sys.modules[name] for name in sorted({each.__module__ for each in functions})]
    statements = [each for one in modules for each in gast.parse(inspect.getsource(one)).body]
    return {each.name: each for each in statements if isinstance(each, gast.FunctionDef)}


def _called(function: gast.FunctionDef) -> Iterator[str]:
    return (node.id for node in gast.walk(function) if isinstance(node, gast.Name))


def _free(name: str, taken: set[str]) -> str:
    """A captured object may have the name of a helper that only helpers call."""
    candidate, count = name, 2
    while candidate in taken:
        candidate, count = f"{name}_{count}", count + 1
    return candidate


def _renamed(function: gast.FunctionDef, names: dict[str, str]) -> gast.FunctionDef:
    atoms = {old: form.name(new) for old, new in names.items() if old != new}
    renamed = form.substitute(function, atoms) if atoms else function
    fields = {field: getattr(renamed, field, None) for field in renamed._fields}
    return gast.FunctionDef(**{**fields, "name": names[function.name]})


# ---- classes of exceptions -----------------------------------------------------------------------


def _exceptions(objects: dict[str, Any], taken: set[str]) -> dict[str, str]:
    """The user's classes of exceptions by name, defined anew: who handles one of these catches the
    nearest class of Python's. One with code that reads more than builtins is imported, and so are
    those that it derives from, by which it may be caught."""
    made: dict[type, tuple[str, str]] = {}
    wanted = {value: name for name, value in objects.items() if _is_own_exception(value)}
    own = {kind: list(filter(_is_own_exception, reversed(kind.__mro__))) for kind in wanted}
    bodies = {each: _body(each) for kinds in own.values() for each in kinds}
    imported = {each for kinds in own.values() if not all(map(bodies.get, kinds)) for each in kinds}
    for kinds in own.values():
        for each in kinds if imported.isdisjoint(kinds) else ():
            if each not in made:
                name = wanted.get(each) or _free(each.__name__, taken)
                known = {of: known for of, (known, _) in made.items()}
                bases = ", ".join(known.get(base) or base.__name__ for base in each.__bases__)
                made[each] = name, f"class {name}({bases}):\n{bodies[each]}"
    return dict(made.values())


def _is_own_exception(value: Any) -> bool:
    """Whether it is a class of exceptions that is neither Python's nor a library's."""
    if not isinstance(value, type) or not issubclass(value, BaseException):
        return False
    root = value.__module__.partition(".")[0]
    return root not in sys.stdlib_module_names and root not in ("builtins", "numpy", "scipy")


def _body(kind: type) -> str:
    """The statements of the class; "" where they read more than builtins."""
    if not all(_is_own_exception(e) or e.__module__ == "builtins" for e in kind.__bases__):
        return ""
    return body_of(kind) if own_code(kind, (), Failure) else "    pass\n"


# ---- objects that are imported -------------------------------------------------------------------


def _import(program: Program, name: str, value: Any) -> str:
    """The statement that binds `name` to an object of the user's."""
    for module, known in _homes(program, value):
        importable = module != "__main__" and all(map(str.isidentifier, module.split(".")))
        if importable and getattr(sys.modules.get(module), known, None) is value:
            return f"from {module} import {known}{'' if known == name else f' as {name}'}"
    raise S2SError(
        "S2S205",
        f"{name} cannot be imported, and the standalone form of {program.name} refers to it",
        origin=program.origin,
        why=f"it is the {type(value).__name__} {value!r}, no module that can be imported names it",
        help="define it at the top of a module, and import that module",
    )


def _homes(program: Program, value: Any) -> Iterator[tuple[str, str]]:
    """(module, name) where the object may be found."""
    module, name = getattr(value, "__module__", None), getattr(value, "__qualname__", None)
    if isinstance(module, str) and isinstance(name, str):
        yield module, name
    for capture in program.captures:
        holder, *keys = capture.source or (None,)
        if type(holder) is dict and len(keys) == 1 and capture.value is value:
            yield str(holder.get("__name__")), keys[0]


# ---- numbers and arrays that are written out -----------------------------------------------------


def _assignment(program: Program, shown: str, name: str) -> gast.Assign:
    capture = next(each for each in program.captured() if each.name == name)
    value = capture.read()  # what stands there now: the compiled function follows it too
    why = _unwritable(value)
    if why:
        raise S2SError(
            "S2S205",
            f"{capture.text} cannot be written into the standalone form of {program.name}",
            origin=program.origin,
            why=why,
            help=f"pass {capture.text} as an argument",
        )
    return gast.Assign([form.name(shown, gast.Store)], literal(value), None)


def _unwritable(value: Any) -> str:
    size = np.size(value)
    if size > LARGEST:
        return f"it has {size:,} elements, more than {LARGEST:,}"
    if isinstance(value, list):
        return ""
    dtype = np.result_type(value)
    if dtype.kind in "fc" and np.finfo(dtype).bits > 64:
        return f"{dtype} has more digits than a literal of Python keeps"
    return ""


def literal(value: Any) -> gast.AST:
    """The expression that makes a number, an array or a list of numbers again, with its dtype."""
    if isinstance(value, list | tuple):
        kind = gast.List if isinstance(value, list) else gast.Tuple
        return kind([literal(each) for each in value], gast.Load())
    if isinstance(value, np.generic):
        return gast.Call(dotted("np", type(value).__name__), [_number(value, value.dtype)], [])
    if not isinstance(value, np.ndarray):
        return _number(value, None)
    dtype, empty = value.dtype, value.size == 0
    implied = dtype.isnative and dtype in ({np.dtype(float)} if empty else IMPLIED)
    keywords = [] if implied else [gast.keyword("dtype", _dtype(dtype))]
    if empty:
        lengths = [form.constant(length) for length in value.shape]
        return gast.Call(dotted("np", "zeros"), [gast.Tuple(lengths, gast.Load())], keywords)
    return gast.Call(dotted("np", "array"), [_nested(value.tolist(), dtype)], keywords)


def _dtype(dtype: np.dtype) -> gast.AST:
    return dotted("np", dtype.name) if dtype.isnative else form.constant(dtype.str)


def _nested(item: Any, dtype: np.dtype) -> gast.AST:
    if isinstance(item, list):
        return gast.List([_nested(each, dtype) for each in item], gast.Load())
    return _number(item, dtype)


def _number(value: Any, dtype: np.dtype | None) -> gast.AST:
    plain = value.item() if isinstance(value, np.generic) else value
    if isinstance(plain, complex):
        return form.constant(complex(_short(plain.real, dtype), _short(plain.imag, dtype)))
    if not isinstance(plain, float):
        return form.constant(plain)
    if np.isnan(plain):
        return dotted("np", "nan")
    if np.isinf(plain):
        inf = dotted("np", "inf")
        return inf if plain > 0 else gast.UnaryOp(gast.USub(), inf)
    return form.constant(_short(plain, dtype))


def _short(value: float, dtype: np.dtype | None) -> float:
    """The number with the fewest digits that is `value` in its dtype: 0.1, not 0.10000000149."""
    if dtype is None or not np.isfinite(value):
        return value
    part = np.real(np.empty(0, dtype.newbyteorder("="))).dtype.type
    short = float(str(part(value)))
    return short if part(short) == value else value


__all__ = ["LARGEST", "literal", "standalone_module"]
