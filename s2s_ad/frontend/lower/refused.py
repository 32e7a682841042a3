"""What the frontend refuses: what to call it, and what to write instead."""

from __future__ import annotations

import logging
import warnings
from typing import Any

import gast
import numpy as np

from s2s_ad.core.builder import describe, no_rule
from s2s_ad.diagnostics import Origin, S2SError, UnsupportedError

_AT_ONCE = "differentiated functions run to their end at once"
_LATER = "it comes with a later version"
_LOOP = f"{_LATER}; use NumPy operations on whole arrays"
_SCALAR = f"{_LATER}; np.where chooses between values"
_MODULE = "define it at module level"
_VALUES = "return the values in a tuple or an array"

#: by the name of the node: what the construct is called, and what to do instead
REFUSED: dict[str, tuple[str, str]] = {
    "AsyncFor": ("'async for'", _AT_ONCE),
    "AsyncFunctionDef": ("an async function", _AT_ONCE),
    "AsyncWith": ("'async with'", _AT_ONCE),
    "Await": ("'await'", _AT_ONCE),
    "Break": ("'break'", _LOOP),
    "ClassDef": ("a class defined inside the function", _MODULE),
    "Continue": ("'continue'", _LOOP),
    "Delete": ("'del'", "leave the name to Python"),
    "DictComp": ("a dict comprehension", "write the dict out"),
    "For": ("a 'for' loop", _LOOP),
    "GeneratorExp": ("a generator expression", _LOOP),
    "Global": ("'global'", "pass the value as an argument and return the new one"),
    "If": ("a branch on a value that is not known when code is generated", _SCALAR),
    "IfExp": ("a choice on a value that is not known when code is generated", _SCALAR),
    "Import": ("an import inside the function", "import at module level"),
    "ImportFrom": ("an import inside the function", "import at module level"),
    "ListComp": ("a list comprehension", _LOOP),
    "Match": ("'match'", _SCALAR),
    "NamedExpr": ("an assignment inside an expression (':=')", "assign in a statement of its own"),
    "Nonlocal": ("'nonlocal'", "return the new value"),
    "Set": ("a set", "use a tuple or a list"),
    "SetComp": ("a set comprehension", "use a tuple or a list"),
    "TemplateStr": ("a template string", "use an f-string"),
    "Try": ("'try'", f"{_LATER}; let the exception leave the function"),
    "TryStar": ("'try' with 'except*'", "let the exception leave the function"),
    "TypeAlias": ("a type alias inside the function", _MODULE),
    "While": ("a 'while' loop", _LOOP),
    "With": ("'with'", f"{_LATER}; enter the context around the call"),
    "Yield": ("'yield'", _VALUES),
    "YieldFrom": ("'yield from'", _VALUES),
}

_NEW_LIST = "write a new list or dict: [*items, x], {**entries, key: value}"
_NEW_ARRAY = "updates in place come with a later version; build a new array"

#: methods that change their object: what to do instead
IN_PLACE_METHODS: dict[str, str] = {
    **dict.fromkeys(("append", "clear", "extend", "insert", "pop", "popitem"), _NEW_LIST),
    **dict.fromkeys(("remove", "reverse", "setdefault", "update"), _NEW_LIST),
    **dict.fromkeys(("fill", "itemset", "partition", "put", "resize", "setfield"), _NEW_ARRAY),
    **dict.fromkeys(("byteswap", "setflags"), _NEW_ARRAY),
    "sort": "np.sort(x) gives a sorted copy",
}

IN_PLACE_FUNCTIONS = (np.copyto, np.fill_diagonal, np.place, np.put, np.put_along_axis, np.putmask)
STATEMENTS_ONLY = (print, warnings.warn, logging.debug, logging.info, logging.warning)
STATEMENTS_ONLY += (logging.error, logging.critical, logging.exception, logging.log)


def refusal(kind: type[gast.AST]) -> tuple[str, str]:
    """What the construct is called, and what to do instead."""
    what, help = REFUSED.get(kind.__name__, (kind.__name__, "write it another way"))
    return f"{what} is not supported", help


def refused_call(function: Any, origin: Origin | None) -> S2SError:
    """The error for a call of an object that is neither the user's nor has a rule."""
    label = describe(function)
    if any(function is each for each in STATEMENTS_ONLY):
        return UnsupportedError(
            "S2S201",
            f"a call of {label} inside an expression",
            origin=origin,
            help="make it a statement of its own",
        )
    if any(function is each for each in IN_PLACE_FUNCTIONS):
        return UnsupportedError(
            "S2S207", f"{label} changes its argument in place", origin=origin, help=_NEW_ARRAY
        )
    if label.startswith(("np.random.", "random.")) or "RandomState" in label:
        return UnsupportedError(
            "S2S201",
            f"a call of {label}: a value that differs from call to call",
            origin=origin,
            help="draw it outside the function and pass it as an argument",
        )
    if not callable(function):
        return UnsupportedError(
            "S2S203", f"a call of {label}, which is not callable", origin=origin
        )
    return no_rule(function, origin)
