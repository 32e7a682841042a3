"""Native code takes the place of a function: compiled by Numba, called by a function around it.

Whatever native code raises, the function for NumPy answers the call instead: it raises the error
that Python raises, at the user's line, or serves what the loops were not written for.
"""

from __future__ import annotations

import contextlib
import functools
import importlib.util
import itertools
import linecache
import os
import re
import threading
import weakref
from collections.abc import Callable, Collection, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from sys import stdlib_module_names as STANDARD
from types import CodeType
from typing import Any

import gast
import numpy as np

from s2s_ad.core import tree, values
from s2s_ad.core.builder import Builder, Symbol, is_array_in_text
from s2s_ad.core.program import Input, Program
from s2s_ad.core.tree import Tree
from s2s_ad.emit.printer import print_statements
from s2s_ad.emit.standalone import standalone_module
from s2s_ad.emit.text import WIDTH
from s2s_ad.load.dispatch import Assumed
from s2s_ad.load.module import Loaded, load
from s2s_ad.load.native_functions import NativeModule
from s2s_ad.load.native_lengths import Unserved, misfits, with_check
from s2s_ad.load.numba_cache import keep_on_disk
from s2s_ad.native.cutting import Cut, Part, around_parts, loops_of
from s2s_ad.native.state import captured_by, is_passed

_number = itertools.count(1)
KERNEL, UNSERVED, DTYPE = "_s2s_kernel", "_s2s_unserved", "_s2s_dtype"


def is_available() -> bool:
    """Whether Numba is installed, and S2S_AD_NATIVE=0 does not switch native code off."""
    wanted = os.environ.get("S2S_AD_NATIVE") != "0"
    return wanted and importlib.util.find_spec("numba") is not None


class NotReady(Exception):
    """The native code is not compiled yet."""


class Later:
    """Native code that a thread compiles meanwhile."""

    def __init__(self, native: Native):
        self.kernel: Callable | None = None
        self.thread = threading.Thread(target=self._compile, args=(native,), daemon=True)
        self.thread.start()

    def _compile(self, native: Native) -> None:
        try:
            self.kernel = native.kernel()
        except Exception:  # Numba refuses it: the code for NumPy goes on answering
            return

    def __call__(self, *args: Any) -> Any:
        if self.kernel is None:
            raise NotReady
        return self.kernel(*args)


class Shared:
    """A batch whose samples are shared out among threads: native code holds no lock."""

    def __init__(self, first: Callable, rows: Callable):
        self.first, self.rows = first, rows

    def __call__(self, *args: Any) -> Any:
        results = self.first(*args)
        arrays = results if isinstance(results, tuple) else (results,)
        count, parts = len(arrays[0]), os.cpu_count() or 1
        (start, stop), *others = itertools.pairwise(count * k // parts for k in range(parts + 1))
        waiting = [
            _threads().submit(self.rows, *args, *arrays, start, stop) for start, stop in others
        ]
        self.rows(*args, *arrays, start, stop)
        for each in waiting:
            each.result()  # what it raises, it raises here
        return results


@functools.cache
def _threads() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(os.cpu_count(), "s2s_ad")


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_threads.cache_clear)


@dataclass(frozen=True, slots=True)
class Native:
    """Native code as text, from which each process compiles its own.

    `text` is the module of the loops and `around` the function that calls them; `kinds` are dtype
    and rank of the arguments of the loops. `parallel` and `cache` are those of `jit`. A `part` is
    not compiled for arguments of other kinds: where there are such, NumPy answers. With
    `asks_lengths` a call with lengths that the code is not for raises Unserved.
    """

    name: str
    text: str
    kinds: tuple[tuple[np.dtype, int], ...]
    around: str
    parallel: bool
    cache: bool
    part: bool = False
    asks_lengths: bool = False

    @classmethod
    def of(cls, loaded: Loaded, parallel: bool, cache: bool, misfits: str | None = None) -> Native:
        """That of a function, for arguments of the kinds that its program takes."""
        name, text, program = loaded.text.name, loaded.text.native, loaded.program
        around = _around(program, loaded, replace(WHOLE, misfits=misfits))
        text = with_check(text, name, misfits) if misfits else text
        asks = misfits is not None
        return cls(name, text, _kinds(program), around, parallel, cache, asks_lengths=asks)

    @classmethod
    def of_part(cls, loaded: Loaded, part: Part, cache: bool) -> Native:
        """That of a part of a function, which is loaded with the text that calls its parts."""
        function = loaded.namespace[part.name]
        whole = replace(loaded, function=function, program=part.program)
        whole = replace(whole, text=replace(loaded.text, name=part.name))
        around = _around(part.program, whole, Names.of_part(part.name))
        return cls(part.name, part.native, _kinds(part.program), around, False, cache, True)

    def kernel(self) -> Callable:
        """What Numba makes of the loops."""
        from numba import from_dtype, types

        file = f"<s2s_ad native {self.name} {next(_number)}>"
        text, name = self.text, self.name
        linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
        module = NativeModule(text)
        space = module.define(file, _entries(name))
        entries = {each: space[each] for each in _entries(name) if each in space}
        _called_from_python_alone(space, entries)
        if self.cache and not module.is_recursive:  # a call of itself is of an address
            keep_on_disk(entries, module.digest)  # the others are compiled into these
        kernel = space[name]
        weakref.finalize(kernel.py_func.__code__, linecache.cache.pop, file, None).atexit = False
        kinds = [(from_dtype(dtype), rank) for dtype, rank in self.kinds]
        arguments = tuple(types.Array(one, rank, "C") if rank else one for one, rank in kinds)
        with _checked_in_inner_loops():
            kernel.compile(arguments)
        if self.part:
            kernel.disable_compile()
        if self.parallel and f"{name}_rows" in space:
            return Shared(space[f"{name}_first"], space[f"{name}_rows"])
        return kernel

    def put_into(self, space: dict[str, Any], function: Callable, kernel: Callable) -> Callable:
        """The function around, in the module of the function for NumPy that it falls back on."""
        space[self.name] = function
        space[KERNEL], space[UNSERVED] = kernel, Unserved
        space |= {f"{DTYPE}_{i}": dtype for i, (dtype, _) in enumerate(self.kinds)}
        made: dict[str, Any] = {}
        exec(compile(self.around, f"<s2s_ad around {self.name}>", "exec"), space, made)
        (around,) = made.values()
        space[around.__name__] = around
        return around


@contextlib.contextmanager
def _checked_in_inner_loops() -> Iterator[None]:
    """Let LLVM ask before each inner loop whether arrays overlap, and not before the loop around:
    there rows that are taken from the last one on, as in a backward pass, count as overlapping,
    and are computed element by element."""
    from llvmlite.binding import llvm_version_info, set_option

    if llvm_version_info < (17,):  # an option that LLVM does not know ends the process
        yield
        return
    option = "--hoist-runtime-checks"
    set_option("s2s_ad", f"{option}=false")
    try:
        yield
    finally:
        set_option("s2s_ad", f"{option}=true")  # its default


def _entries(name: str) -> tuple[str, ...]:
    """The functions of a module that Python calls, where it has them."""
    return name, f"{name}_first", f"{name}_rows"


def _called_from_python_alone(space: Mapping[str, Any], entries: Collection[str]) -> None:
    """Let Numba make the ways in from Python for these functions alone, and none from C."""
    for name, function in space.items():
        options = getattr(function, "targetoptions", None)
        if options is not None:
            options["no_cfunc_wrapper"] = True
            options["no_cpython_wrapper"] = name not in entries


def natively(
    loaded: Loaded,
    assumed: Assumed | None,
    *,
    parallel: bool = False,
    wait: bool = True,
    cache: bool = True,
) -> Loaded:
    """The function with loops for the calls that they serve; as it is where Numba refuses them.

    Args:
        assumed: what it assumes of the lengths of its arguments, where it may ask for itself.
    """
    if loaded.text.cut is not None:
        return natively_in_parts(loaded, loaded.text.cut, wait=wait, cache=cache)
    asks = assumed is not None and wait and not parallel
    try:
        native = Native.of(
            loaded, parallel, cache, misfits(loaded.program, assumed) if asks else None
        )
        kernel = native.kernel() if wait else Later(native)
    except Exception as error:  # of Numba's, of which not all are NumbaErrors
        return _refused(loaded, _reason(error))
    function = native.put_into(loaded.namespace, loaded.function, kernel)
    return replace(loaded, function=function, native=native)


def natively_in_parts(loaded: Loaded, cut: Cut, *, wait: bool = True, cache: bool = True) -> Loaded:
    """The function with loops for its parts; as it is where Numba refuses them all."""
    whole, reason = load(cut.program, cut.text), ""
    space, count = whole.namespace, 0
    if cut.text.captured != loaded.text.captured:  # what is captured is found by these names
        return _refused(loaded, "what the parts capture is called otherwise")
    for part in cut.parts:
        try:
            native = Native.of_part(whole, part, cache)
            kernel = native.kernel() if wait else Later(native)
        except Exception as error:  # of Numba's: the part stays NumPy's
            reason = _reason(error)
            continue
        names = Names.of_part(part.name)
        space[names.fallback], space[names.kernel] = space[part.name], kernel
        made: dict[str, Any] = {}
        exec(compile(native.around, f"<s2s_ad around {part.name}>", "exec"), space, made)
        (space[part.name],) = made.values()
        count += 1
    if not count:
        return _refused(loaded, reason)
    return replace(loaded, function=whole.function, namespace=space)


def _reason(error: Exception) -> str:
    first = next(iter(str(error).strip().splitlines()), type(error).__name__)
    return f"Numba: {first}"


def _refused(loaded: Loaded, reason: str) -> Loaded:
    return replace(loaded, text=replace(loaded.text, native="", cut=None, refused=reason))


def _leaves(program: Program) -> dict[str, Any]:
    """What native code is called with."""
    facts = {each: program.facts[each] for each in program.leaves()} | captured_by(program)
    return {name: fact for name, fact in facts.items() if is_passed(fact)}


# ---- the function around -------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Names:
    """What the function around calls: the loops, and the function for NumPy."""

    kernel: str
    fallback: str = ""
    is_part: bool = False
    misfits: str | None = None  # when it serves no call, if it asks

    @classmethod
    def of_part(cls, name: str) -> Names:
        return cls(f"{KERNEL}_of_{name}", f"_s2s_numpy_{name}", True)


WHOLE = Names(KERNEL)


def _kinds(program: Program) -> tuple[tuple[np.dtype, int], ...]:
    return tuple(map(_kind, _leaves(program).values()))


def _kind(fact: Any) -> tuple[np.dtype, int]:
    """Dtype and rank of a leaf; the items of a list are an array, tuples of numbers records."""
    if isinstance(fact, values.List):
        return _dtype_of_items(fact.item), 1
    return values.strong_dtype(fact), values.rank_of(fact)


def _dtype_of_items(item: Any) -> np.dtype:
    if isinstance(item, values.Row):
        return np.dtype([(f"f{i}", np.dtype(kind)) for i, kind in enumerate(item.kinds)])
    return values.strong_dtype(item)


def _around(program: Program, loaded: Loaded, called: Names) -> str:
    """def f_jitted(x, k): the loops are called with the leaves, and give the leaves."""
    code = loaded.function.__code__
    names = _parameters(code, program)
    given = []
    for each in program.inputs:
        for leaf, path in zip(tree.leaves(each.tree), tree.paths(each.tree), strict=True):
            text = names[each.name] + "".join(map(_step, path))
            if is_passed(program.facts[leaf]):
                fact = program.facts[leaf]
                given.append(_passed(text, fact, len(given), in_order=called.is_part))
    shown = {name: text for text, name in loaded.text.captured.items()}
    for name, fact in captured_by(program).items():
        if is_passed(fact):
            given.append(_passed(shown[name], fact, len(given)))
    outputs = program.outputs()
    results = [f"_s2s_y{k}" for k in range(len(outputs))]
    target = ", ".join(results) if len(results) != 1 else results[0]
    builder = Builder.of(program)
    leaves = iter([_returned(*each, builder) for each in zip(results, outputs, strict=True)])
    objects = {id(each): name for name, each in loaded.text.objects.items()}
    returned = _text(tree.tree_map(lambda _: next(leaves), program.output), objects)
    name = loaded.text.name
    head = _head(code, program, names)
    passed = _passed_on(code, program, names)
    passes, misfit = "", ""
    if called.misfits:
        passes = f"    except {UNSERVED}:\n        raise\n"
        # nothing was asked where Numba's compiler failed
        misfit = f"        if {called.misfits.format(*given)}:\n            raise {UNSERVED}\n"
    return (
        f"def {name}_jitted({head}):\n"
        f"    try:\n"
        f"        {target} = {called.kernel}({', '.join(given)})\n"
        f"{passes}"
        f"    except Exception:\n"
        f"{misfit}"
        f"        return {called.fallback or name}({passed})\n"
        f"    return {returned}\n"
    )


def module_in_parts(cut: Cut) -> str:
    """The module of a function in parts: their loops, and the text for NumPy that calls them."""
    whole = load(cut.program, cut.text)
    loops, arounds = loops_of(cut.parts), []
    for part in cut.parts:
        names = Names(f"{part.name}_loops", is_part=True)
        loops = re.sub(rf"(?<![.\w]){part.name}(?=\()", names.kernel, loops)
        loaded = replace(whole, function=whole.namespace[part.name], program=part.program)
        loaded = replace(loaded, text=replace(whole.text, name=part.name))
        arounds.append(_plainly(_around(part.program, loaded, names)))
    text = standalone_module(cut.program, around_parts(cut))
    heads, bodies = zip(*map(_with_head, (loops, text)), strict=True)
    lines = {line for head in heads for line in head}
    lines -= {"from numba import njit"} if "from numba import njit, types" in lines else set()
    own = [each for each in sorted(lines) if each.split()[1].partition(".")[0] in STANDARD]
    imports = [*own, *([""] if own else []), *sorted(lines.difference(own))]
    return "\n".join([*imports, "", "", "\n\n".join([bodies[0], *arounds, bodies[1]])])


def _with_head(module: str) -> tuple[list[str], str]:
    """The import statements at the head of a module, and the rest."""
    lines = module.splitlines(keepends=True)
    count = 0
    while count < len(lines) and lines[count].startswith(("import ", "from ", "\n")):
        count += 1
    return [each.rstrip() for each in lines[:count] if each.strip()], "".join(lines[count:])


def _plainly(around: str) -> str:
    """The function around without its other way: `def f(x): y = f_loops(x); return y`."""
    head, _, call, _, _, *rest = around.splitlines()
    text = "\n".join([head.replace("_jitted(", "(", 1), call[4:], *rest])
    short = text.replace("_s2s_y", "y")
    text = short if not re.search(r"\by\d", text) else text
    return print_statements(gast.parse(text).body, WIDTH)


def _parameters(code: CodeType, program: Program) -> dict[str, str]:
    """Input -> what its parameter is called in the text."""
    plain = [e for e in program.inputs if e.kind <= Input("", None).kind]
    by_name = [e for e in program.inputs if e.kind == e.kind.KEYWORD_ONLY]
    starred = [e for e in program.inputs if e.kind in (e.kind.VAR_POSITIONAL, e.kind.VAR_KEYWORD)]
    ordered = [*plain, *by_name, *sorted(starred, key=lambda each: each.kind)]
    return {e.name: text for e, text in zip(ordered, code.co_varnames, strict=False)}


def _head(code: CodeType, program: Program, names: dict[str, str]) -> str:
    parts: list[str] = []
    for index, text in enumerate(code.co_varnames[: code.co_argcount]):
        parts.append(text)
        if index + 1 == code.co_posonlyargcount:
            parts.append("/")
    stars = {e.kind.name: names[e.name] for e in program.inputs}
    if "VAR_POSITIONAL" in stars:
        parts.append(f"*{stars['VAR_POSITIONAL']}")
    elif code.co_kwonlyargcount:
        parts.append("*")
    parts += code.co_varnames[code.co_argcount : code.co_argcount + code.co_kwonlyargcount]
    if "VAR_KEYWORD" in stars:
        parts.append(f"**{stars['VAR_KEYWORD']}")
    return ", ".join(parts)


def _passed_on(code: CodeType, program: Program, names: dict[str, str]) -> str:
    """The arguments of the call of the function that answers otherwise."""
    parts = []
    marks = {"VAR_POSITIONAL": "*{}", "VAR_KEYWORD": "**{}", "KEYWORD_ONLY": "{0}={0}"}
    for each in sorted(program.inputs, key=lambda each: each.kind):
        parts.append(marks.get(each.kind.name, "{}").format(names[each.name]))
    return ", ".join(parts)


def _step(step: tuple[str, Any]) -> str:
    way, key = step
    return f".{key}" if way == "attribute" else f"[{key!r}]"


def _passed(text: str, fact: Any, index: int, *, in_order: bool = False) -> str:
    """A leaf as native code takes it: an array without axes is a number, a list an array.

    Args:
        index: how many leaves come before it.
        in_order: arrays are given in the order of C, for which the loops are compiled first.
    """
    if isinstance(fact, values.List):
        return f"np.array({text}, {DTYPE}_{index})"
    if in_order and values.rank_of(fact):
        return f"np.ascontiguousarray({text})"
    if not isinstance(fact, values.Array) or fact.shape != () or fact.number is True:
        return text
    return f"np.{_name(fact.dtype)}({text})" if fact.weak else f"{text}[()]"


def _name(dtype: np.dtype) -> str:
    return "bool" if dtype.kind == "b" else dtype.name


def _returned(text: str, atom: gast.AST, builder: Builder) -> str:
    """A result as NumPy gives it: without axes it is a number, or an array."""
    fact = builder.fact_of(atom)
    if not isinstance(fact, values.Array) or fact.shape != ():
        return text
    name = _name(fact.dtype)
    if isinstance(atom, gast.Name) and is_array_in_text(Symbol(builder, atom.id)):
        return f"np.array({text}, np.{name})"
    return f"np.{name}({text})"


def _text(output: Any, objects: dict[int, str]) -> str:
    if not isinstance(output, Tree):
        return output
    items = [_text(each, objects) for each in output.items]
    if output.kind is tuple:
        return f"({', '.join(items)}{',' if len(items) == 1 else ''})"
    if output.kind is list:
        return f"[{', '.join(items)}]"
    pairs = zip(output.keys, items, strict=True)
    if output.kind is dict:
        return "{" + ", ".join(f"{key!r}: {item}" for key, item in pairs) + "}"
    arguments = ", ".join(f"{key}={item}" for key, item in pairs)
    return f"{objects[id(output.kind)]}({arguments})"
