"""The door of a compiled function: Tensors go in as the arrays they are, and arrays come out as
Tensors; the new values of Parameters are stored. Generated code sees NumPy's own arrays only."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from types import CodeType
from typing import Any

import gast
import numpy as np

from s2s_ad.core import tree, values
from s2s_ad.core.program import Program
from s2s_ad.core.tree import Tree
from s2s_ad.load.module import Loaded
from s2s_ad.tensors import Tensor, plain

STAR = inspect.Parameter.VAR_POSITIONAL
DOUBLE_STAR = inspect.Parameter.VAR_KEYWORD
KEYWORD_ONLY = inspect.Parameter.KEYWORD_ONLY


def with_door(loaded: Loaded, function: Callable) -> Callable:
    """The compiled function; for programs that have to do with Tensors one around it."""
    if not loaded.program.tensors:
        return function
    names = {
        "_s2s_array": np.asarray,
        "_s2s_f": function,
        "_s2s_opened": opened,
        "_s2s_tensor": Tensor,
        "_s2s_wrapped": wrapped,
    }
    for i, capture in enumerate(loaded.program.writes):
        names[f"_s2s_write_{i}"] = plain(capture.value)
    made: dict[str, Callable] = {}
    exec(compiled(_source(loaded.program)), names, made)
    return made["call"]


@functools.lru_cache(maxsize=64)
def compiled(source: str) -> CodeType:
    """One code for all functions that this is the door of, whatever they captured."""
    return compile(source, "<s2s_ad door>", "exec")


def opened(value: Any) -> Any:
    """The value with each Tensor in it as the array that it is."""
    if not tree.is_container(value):
        return plain(value)
    return tree.to_object(tree.from_object(value, lambda leaf, _: plain(leaf)))


def wrapped(value: Any) -> Any:
    """The value with each array and each of NumPy's numbers in it as a Tensor."""
    if isinstance(value, np.ndarray | np.generic):
        return np.asarray(value).view(Tensor)
    if not tree.is_container(value):
        return value
    return tree.to_object(tree.from_object(value, lambda leaf, _: wrapped(leaf)))


# ---- text ----------------------------------------------------------------------------------------


def around(program: Program, opened: Callable[[str, Any, bool], str]) -> tuple[str, str]:
    """(the parameters of a function around the compiled one, what that is called with)

    `opened` writes an argument: of its name, its leaf or leaves, and whether it has a star.
    """
    head, passed = [], []
    for each in program.inputs:
        star = {STAR: "*", DOUBLE_STAR: "**"}.get(each.kind, "")
        if each.kind is KEYWORD_ONLY and not any(part.startswith("*") for part in head):
            head.append("*")
        head.append(star + each.name)
        by_name = f"{each.name}=" if each.kind is KEYWORD_ONLY else ""
        passed.append(f"{star}{by_name}{opened(each.name, each.tree, bool(star))}")
    return ", ".join(head), ", ".join(passed)


def _source(program: Program) -> str:
    """The function around: what is known of inputs and outputs is done without a look at them."""
    head, passed = around(program, functools.partial(_opened, program))
    result = "_s2s_y[0]" if program.writes else "_s2s_y"
    stores = "".join(
        f"    _s2s_write_{i}[...] = _s2s_y[{i + 1}]\n" for i in range(len(program.writes))
    )
    return (
        f"def call({head}):\n"
        f"    _s2s_y = _s2s_f({passed})\n"
        f"{stores}"
        f"    return {_wrapped(program, program.result, result)}\n"
    )


def _opened(program: Program, name: str, leaf: Any, starred: bool) -> str:
    if starred or isinstance(leaf, Tree):
        return f"_s2s_opened({name})"
    return f"_s2s_array({name})" if values.is_tensor(program.facts.get(leaf)) else name


def _wrapped(program: Program, output: Any, text: str) -> str:
    """The text of an output that arrives under the name `text`, with its arrays as Tensors."""
    if not isinstance(output, Tree):
        return _leaf(program.fact(output) if isinstance(output, gast.AST) else None, text)
    if output.kind not in (tuple, list, dict) or not all(
        type(key) in (int, str) for key in output.keys
    ):
        return f"_s2s_wrapped({text})"
    items = [
        _wrapped(program, item, f"{text}[{key!r}]")
        for key, item in zip(output.keys, output.items, strict=True)
    ]
    if output.kind is dict:
        pairs = zip(output.keys, items, strict=True)
        return "{" + ", ".join(f"{key!r}: {item}" for key, item in pairs) + "}"
    if output.kind is list:
        return f"[{', '.join(items)}]"
    return f"({', '.join(items)}{',' if len(items) == 1 else ''})"


def _leaf(fact: Any, text: str) -> str:
    if isinstance(fact, values.Array):
        return f"_s2s_array({text}).view(_s2s_tensor)"
    return text if isinstance(fact, values.Scalar | values.Static) else f"_s2s_wrapped({text})"
