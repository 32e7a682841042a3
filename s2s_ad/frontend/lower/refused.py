"""What the frontend refuses: what to call it, and what to write instead."""

from __future__ import annotations

import difflib
import logging
import sys
import warnings
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import gast
import numpy as np

from s2s_ad.core.advice import no_derivative
from s2s_ad.core.builder import describe
from s2s_ad.core.foreign import name_of_foreign, to_numpy
from s2s_ad.core.tree import Tree
from s2s_ad.diagnostics import Origin, S2SError, UnsupportedError
from s2s_ad.frontend.resolve import unwrap

_AT_ONCE = "differentiated functions run to their end at once"
_MODULE = "define it at module level"
_VALUES = "return the values in a tuple or an array"

#: by the name of the node: what the construct is called, and what to do instead
REFUSED: dict[str, tuple[str, str]] = {
    "AsyncFor": ("'async for'", _AT_ONCE),
    "AsyncFunctionDef": ("an async function", _AT_ONCE),
    "AsyncWith": ("'async with'", _AT_ONCE),
    "Await": ("'await'", _AT_ONCE),
    "TemplateStr": ("a template string", "use an f-string"),
    "TryStar": ("'try' with 'except*'", "let the exception leave the function"),
    "TypeAlias": ("a type alias inside the function", _MODULE),
    "Yield": ("'yield'", _VALUES),
    "YieldFrom": ("'yield from'", _VALUES),
}

_NEW_ARRAY = "build a new array"

#: methods that change their array and are refused: what to do instead
IN_PLACE_METHODS: dict[str, str] = {
    **dict.fromkeys(("byteswap", "itemset", "setfield"), _NEW_ARRAY),
}

#: of what is asked of the memory of an array, which differs between the user's code and this
LAYOUT = "compiled code computes the same values, and may keep them in other memory"
OUTSIDE = "decide on it outside the function, and pass what follows from it as an argument"
_OUTSIDE = "the bytes would leave the function"

#: attributes and methods of arrays that are refused: why, and what to do instead
REFUSED_ATTRIBUTES: dict[str, tuple[str, str]] = {
    **dict.fromkeys(("base", "ctypes", "data", "flags"), (LAYOUT, OUTSIDE)),
    **dict.fromkeys(("dump", "dumps", "tobytes", "tofile"), (_OUTSIDE, "return the array")),
    "at": ("arrays are updated in place", "write y = x.copy() and y[index] = value"),
    "backward": ("grad is the backward pass", "leave it out, and call grad of the function"),
    "detach": ("it belongs to other libraries", "use stop_gradient(x)"),
    "getfield": (LAYOUT, "use x.astype(dtype)"),
    "cpu": ("there is one device", "leave it out"),
    "cuda": ("there is one device", "leave it out"),
    "grad": ("gradients are returned", "call grad of the function"),
    "numpy": ("it is an array of NumPy's", "leave it out"),
    "requires_grad_": ("grad says what is differentiated", "leave it out"),
    "to_device": ("there is one device", "leave it out"),
    "to_numpy": ("it is an array of NumPy's", "leave it out"),
}

STATEMENTS_ONLY = (
    breakpoint,
    print,
    warnings.warn,
    logging.basicConfig,
    logging.debug,
    logging.info,
    logging.warning,
)
STATEMENTS_ONLY += (logging.error, logging.critical, logging.exception, logging.log)
#: the same of numpy.testing, which takes long to import
CHECKS = ("assert_allclose", "assert_almost_equal", "assert_array_almost_equal")
CHECKS += ("assert_array_equal", "assert_array_less", "assert_equal")


def is_statement_only(function: Any) -> bool:
    """Whether a call of the function says or checks something, and gives None."""
    testing = sys.modules.get("numpy.testing")
    checks = (getattr(testing, each, None) for each in CHECKS) if testing else ()
    return any(function is each for each in (*STATEMENTS_ONLY, *checks))


#: how alike a name is to what may be meant: 'apend' is not to be 'shape'
ALIKE = 0.7


def did_you_mean(name: str, names: Iterable[str]) -> str:
    """The help for a name that is spelled almost like another; "" where there is none."""
    found = difflib.get_close_matches(name, names, 1, cutoff=ALIKE)
    return f"did you mean {found[0]!r}?" if found else ""


def meant_attribute(error: Exception) -> str:
    """The help for an attribute that an object does not have, but one of almost this name, or what
    the error notes."""
    noted = getattr(error, "__notes__", [])
    if noted:
        return noted[0]
    holder = getattr(error, "obj", None)
    if not isinstance(error, AttributeError) or holder is None:
        return ""
    is_tree = isinstance(holder, Tree)
    if is_tree and holder.kind is dict and error.name in holder.keys:
        return f"read the entry: [{error.name!r}]"
    names = [*dir(holder.kind), *holder.keys] if is_tree else dir(unwrap(holder))
    others = [each for each in names if isinstance(each, str) and each != error.name]
    return did_you_mean(error.name, others)


def refusal(kind: type[gast.AST]) -> tuple[str, str]:
    """What the construct is called, and what to do instead."""
    what, help = REFUSED.get(kind.__name__, (kind.__name__, "write it another way"))
    return f"{what} is not supported", help


def refused_foreign(kinds: Iterable[type], origin: Origin | None = None) -> S2SError | None:
    """The error where one of these is a class of arrays of another library; None where none is."""
    for kind in kinds:
        if name_of_foreign(kind):
            return UnsupportedError(
                "S2S204",
                f"an operation on a {name_of_foreign(kind)}",
                origin=origin,
                why="only NumPy's arrays are compiled; this object's own code is not",
                help=f"take its NumPy array outside the function: {to_numpy(kind)}",
            )
    return None


def _of_other_arrays(function: Any) -> bool:
    """Whether it is a subclass of arrays, or of the modules in which NumPy has these."""
    if isinstance(function, type) and issubclass(function, np.ndarray):
        return True
    home = getattr(function, "__globals__", {}).get("__name__") or type(function).__module__
    return home.startswith(("numpy.ma.", "numpy.matrixlib."))


def refused_call(
    function: Any,
    origin: Origin | None,
    args: Sequence[Any] = (),
    kwargs: Mapping[str, Any] | None = None,
) -> S2SError:
    """The error for a call of an object that is neither the user's nor has a rule."""
    own = getattr(type(function), "in_python", "")  # of what stands for an object of Python's
    label = f"a {own}" if own else describe(function)
    if is_statement_only(function):
        return UnsupportedError(
            "S2S201",
            f"a call of {label} inside an expression",
            origin=origin,
            help="make it a statement of its own",
        )
    if label.startswith(("np.random.", "random.")) or "RandomState" in label:
        return UnsupportedError(
            "S2S201",
            f"a call of {label}: a value that differs from call to call",
            origin=origin,
            help="draw it outside the function and pass it as an argument",
        )
    if _of_other_arrays(function):
        return UnsupportedError(
            "S2S201",
            f"a call of {label}: arrays of a class of their own",
            origin=origin,
            why="their operators have another meaning than those of arrays",
            help="use arrays: a @ b for the product of matrices, np.where(mask, x, 0) for what a "
            "mask leaves out",
        )
    if not callable(function):
        return UnsupportedError(
            "S2S203", f"a call of {label}, which is not callable", origin=origin
        )
    if isinstance(function, np.ufunc) and set("".join(function.types)) == set("O->"):
        return UnsupportedError(
            "S2S203",
            "a call of what np.frompyfunc made outside the function",
            origin=origin,
            why="NumPy does not tell which Python function it calls",
            help="call np.frompyfunc inside the function, or make it by np.vectorize",
        )
    return no_derivative(function, origin, args, kwargs)
