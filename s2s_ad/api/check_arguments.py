"""Arguments of the transforms, refused at the earliest moment with their name and value."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from types import EllipsisType
from typing import Any

import numpy as np

from s2s_ad.core import tree, values
from s2s_ad.core.builder import Symbol
from s2s_ad.core.foreign import name_of_foreign, to_numpy
from s2s_ad.core.registry import rule_for
from s2s_ad.diagnostics import ArgumentTypeError, ArgumentValueError, InternalError
from s2s_ad.frontend import signatures

DEEPEST = 100  # containers in each other
VARIADIC = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)


def shown(value: Any) -> str:
    """A value as a message shows it: its type and a short repr."""
    if value is None:
        return "None"
    if isinstance(value, Symbol):
        return "a number" if isinstance(value.fact, values.Scalar) else "an array"
    if isinstance(value, np.ndarray):
        return f"{type(value).__name__} of shape {value.shape}"
    text, kind = " ".join(repr(value).split()), type(value).__name__
    text = text if len(text) <= 60 else text[:57] + "..."
    return text if text.startswith(f"{kind}(") else f"{kind} {text}"


def kind_text(fact: Any) -> str:
    """An abstract value as a message shows it."""
    if isinstance(fact, values.Static):
        return shown(fact.value)
    if isinstance(fact, values.Scalar):
        return f"a Python {fact.kind.__name__}"
    return f"an array of {values.strong_dtype(fact)}"


# ---- the function, flags -------------------------------------------------------------------------


def check_callable(api: str, fn: Any, name: str = "fn") -> None:
    if isinstance(fn, np.ufunc) and rule_for(fn) is None:
        raise ArgumentTypeError(
            "S2S501",
            f"{api}: the ufunc {fn.__name__!r} has no rule and no Python source",
            help="write it as a Python function of NumPy calls",
        )
    if not callable(fn) or isinstance(fn, type):
        raise ArgumentTypeError(
            "S2S501",
            f"{api}: argument {name!r} must be a function or a Cell, got {shown(fn)}",
            help=f"make an object of it: {fn.__name__}(...)"
            if isinstance(fn, type)
            else f"hand in the function itself, and call what comes back: {api}(f)(...)",
        )
    if inspect.isgeneratorfunction(fn):
        raise ArgumentTypeError(
            "S2S501", f"{api}: {fn.__name__} is a generator function and cannot be differentiated"
        )


def name_of(fn: Any) -> str:
    """What a message or the text calls a function; an object that can be called, as its class."""
    return getattr(fn, "__name__", None) or type(fn).__name__


def check_flag(api: str, name: str, value: Any) -> None:
    if not isinstance(value, bool):
        raise ArgumentTypeError(
            "S2S501", f"{api}: argument {name!r} must be True or False, got {shown(value)}"
        )


def check_option(api: str, name: str, value: Any, choices: tuple) -> None:
    """`value` is one of the choices, and of its kind."""
    if not isinstance(value, type(choices[0])) or isinstance(value, bool) or value not in choices:
        *first, last = map(repr, choices)
        raise ArgumentValueError(
            "S2S502",
            f"{api}: argument {name!r} must be {', '.join(first)} or {last}, got {shown(value)}",
        )


def signature_of(api: str, fn: Callable) -> inspect.Signature:
    """The signature of the function that runs: a decorator's wrapper has its own."""
    try:
        return signatures.signature_of(fn)
    except (ValueError, TypeError):
        raise ArgumentTypeError(
            "S2S501",
            f"{api}: {fn!r} has no Python source",
            help="wrap it: def f(x): return ...",
        ) from None


def same_signature(one: inspect.Signature, other: inspect.Signature) -> bool:
    """Whether both have the same parameters, with the same objects as defaults.

    Those of a function without Python code are read off a text anew each time.
    """
    pairs = zip(one.parameters.values(), other.parameters.values(), strict=False)
    return len(one.parameters) == len(other.parameters) and all(
        (a.name, a.kind) == (b.name, b.kind) and _same_default(a.default, b.default)
        for a, b in pairs
    )


def _same_default(a: Any, b: Any) -> bool:
    plain = type(a) is type(b) and type(a) in (str, *values.PYTHON_NUMBERS)
    return a is b or (plain and repr(a) == repr(b))


# ---- positions -----------------------------------------------------------------------------------


def either(api: str, grad_position: Any, argnums: Any) -> Any:
    """`grad_position`, or what was given under its other name."""
    if argnums is None:
        return grad_position
    if grad_position not in (0, argnums):
        raise ArgumentValueError(
            "S2S502",
            f"{api}: grad_position {grad_position!r} and argnums {argnums!r} are two names of one "
            "argument and differ",
            help="give one of them",
        )
    return argnums


def check_positions(api: str, value: Any, weights: Any = None) -> tuple[int, ...] | EllipsisType:
    """`grad_position` as a tuple of ints; an ellipsis, all inputs, as it is.

    Raises:
        ArgumentTypeError: not None, an int or a tuple of ints.
        ArgumentValueError: empty, negative, or twice the same.
    """
    if value is None and weights is None:
        raise ArgumentValueError(
            "S2S502",
            f"{api}: nothing to differentiate: `grad_position` and `weight` can not be None at the "
            "same time.",
            help="give an input index (grad_position=0) or parameters (weights=...)",
        )
    if value is None:
        return ()
    if value is ...:
        return value
    if isinstance(value, bool) or not isinstance(value, int | tuple | list):
        raise ArgumentTypeError(
            "S2S501",
            f"{api}: argument 'grad_position' must be None, an int or a tuple of ints, "
            f"got {shown(value)}",
            help=_meant_position(value),
        )
    positions = (value,) if isinstance(value, int) else tuple(value)
    if not positions:
        raise ArgumentValueError(
            "S2S502",
            f"{api}: argument 'grad_position' is empty, got {shown(value)}",
            help="name at least one input, or None with weights=...",
        )
    for label, each in _labelled(value):
        _check_position(api, label, each)
    if len(set(positions)) < len(positions):
        twice = next(each for each in positions if positions.count(each) > 1)
        raise ArgumentValueError(
            "S2S502", f"{api}: argument 'grad_position' {positions} names input {twice} twice"
        )
    return positions


def _meant_position(value: Any) -> str:
    """The help for what is no position of an input."""
    if isinstance(value, bool):
        return "did you mean has_aux=True?"
    if isinstance(value, str):
        return "count the parameters: the first one is 0"
    return "hand arguments to what comes back: grad(f)(x)"


def _labelled(value: Any) -> list[tuple[str, Any]]:
    """Each position with what a message calls it."""
    if isinstance(value, tuple | list):
        return [(f"grad_position[{i}]", each) for i, each in enumerate(value)]
    return [("grad_position", value)]


def _check_position(api: str, label: str, value: Any) -> None:
    if isinstance(value, bool) or not isinstance(value, int):
        raise ArgumentTypeError("S2S501", f"{api}: {label} must be an int, got {shown(value)}")
    if value < 0:
        raise ArgumentValueError(
            "S2S502",
            f"{api}: {label} must be >= 0, got {value}",
            why="negative indices are not counted from the end",
        )


def check_range(api: str, value: Any, fn: Callable) -> None:
    """Each position is one of the function's, as far as its signature tells."""
    signature = signature_of(api, fn)
    kinds = {each.kind for each in signature.parameters.values()}
    if value in (None, ...) or inspect.Parameter.VAR_POSITIONAL in kinds:
        return
    names = [name for name, each in signature.parameters.items() if each.kind not in VARIADIC]
    for label, position in _labelled(value):
        if position >= len(names):
            inputs = "input" if len(names) == 1 else "inputs"
            valid = f"valid: 0..{len(names) - 1}" if names else "it takes none"
            raise ArgumentValueError(
                "S2S502",
                f"{api}: {label} = {position} is out of range: "
                f"{name_of(fn)}({', '.join(names)}) has {len(names)} "
                f"{inputs} ({valid})",
            )


# ---- what the function is called with ------------------------------------------------------------


def check_nesting(api: str, arguments: Mapping[str, Any]) -> None:
    """No argument is nested more deeply than functions that call themselves can follow."""
    for name, value in arguments.items():
        if tree.is_deeper(value, DEEPEST):
            raise ArgumentValueError(
                "S2S502",
                f"{api}: argument {name!r} is nested more than {DEEPEST} deep, or holds itself",
                help="give a flat list of what is in it",
            )


def check_differentiable(api: str, text: Callable[[tree.Path], str], fact: Any) -> None:
    """What is differentiated has to hold floating-point or complex numbers.

    Beside such a container may hold integers, texts, None and other objects: their gradient is
    None. Arrays and lists of integers are refused, for they may be meant to hold floats.
    `text(path)` is what a message calls the leaf that `path` leads to.
    """
    leaves = tree.leaves(fact)
    beside = any(values.is_inexact(leaf) is not False for leaf in leaves)
    for path, leaf, holder in zip(tree.paths(fact), leaves, _holders(fact), strict=True):
        dtype = values.strong_dtype(leaf)
        unknown = isinstance(leaf, values.Unknown | values.Array) and dtype is None
        if unknown or (dtype is not None and dtype.kind in "fc"):
            continue
        foreign = name_of_foreign(type(leaf.value)) if isinstance(leaf, values.Static) else ""
        if foreign:
            raise ArgumentTypeError(
                "S2S303",
                f"{api}: {text(path)} is a {foreign}; gradients are taken of NumPy's arrays",
                help=f"pass its NumPy array: {to_numpy(type(leaf.value))}",
            )
        counted = isinstance(leaf, values.Scalar) and holder is not list
        if beside and (counted or isinstance(leaf, values.Static)):
            continue
        what = f"has dtype {dtype}" if isinstance(leaf, values.Array) else f"is {kind_text(leaf)}"
        reason, help = "gradients need floating-point numbers", "pass a float or an array of floats"
        if isinstance(leaf, values.Array):
            help = "convert it with .astype(float)"
        elif isinstance(leaf, values.Static):
            help = _instead_of(leaf.value) or help
        raise ArgumentTypeError("S2S303", f"{api}: {text(path)} {what}; {reason}", help=help)


def _instead_of(value: Any) -> str:
    """What to do where an object is no container of numbers."""
    name = type(value).__name__
    if tree.has_plain_attributes(type(value)):
        return f"let {name} hold floats or arrays of floats, and nothing that leads back to it"
    own = getattr(value, "__dict__", None)
    return f"make {name} a dataclass, or differentiate by its numbers" if own else ""


def _holders(fact: Any, holder: type | None = None) -> list[type | None]:
    """The kind of container that each leaf stands in."""
    if not isinstance(fact, tree.Tree):
        return [holder]
    return [kind for item in fact.items for kind in _holders(item, fact.kind)]


def check_real(api: str, text: Callable[[tree.Path], str], fact: Any) -> None:
    """The derivative with respect to a complex argument need not be a complex matrix."""
    for path, leaf in zip(tree.paths(fact), tree.leaves(fact), strict=True):
        if values.is_complex(leaf):
            raise ArgumentTypeError(
                "S2S303",
                f"{api}: {text(path)} has dtype {values.strong_dtype(leaf)}; Jacobians are taken "
                "with respect to real numbers",
                help="use vjp or jvp, or differentiate with respect to real and imaginary parts",
            )


def check_like(api: str, label: str, fact: Any, like_label: str, like: Any) -> None:
    """A tangent or an adjoint has the structure, shape and dtype of what it belongs to.

    Python floats fit every scalar.
    """
    _check_structure(api, label, fact, like_label, like)
    leaves = zip(tree.paths(fact), tree.leaves(fact), tree.leaves(like), strict=True)
    for path, one, other in leaves:
        names = tree.path_text(label, path), tree.path_text(like_label, path)
        if path and values.is_inexact(other) is False:
            _check_none(api, names, one, other)
        else:
            _check_leaf(api, names, one, other)


def _check_none(api: str, names: tuple[str, str], one: Any, other: Any) -> None:
    """What has no gradient has no tangent either."""
    if one != values.Static(None):
        raise ArgumentTypeError(
            "S2S501",
            f"{api}: {names[0]} is {kind_text(one)}, and {names[1]}, {kind_text(other)}, has no "
            "tangent",
            help="give None for it",
        )


def check_adjoint(api: str, label: str, fact: Any, like_label: str, like: Any) -> None:
    """Refuse an adjoint unlike its output; what it gives for one without a gradient is not read."""
    _check_structure(api, label, fact, like_label, like)
    leaves = zip(tree.paths(fact), tree.leaves(fact), tree.leaves(like), strict=True)
    for path, one, other in leaves:
        if values.is_inexact(other) is not False:
            names = tree.path_text(label, path), tree.path_text(like_label, path)
            _check_leaf(api, names, one, other)


def _check_structure(api: str, label: str, fact: Any, like_label: str, like: Any) -> None:
    if tree.paths(fact) != tree.paths(like) or isinstance(fact, tree.Tree) != isinstance(
        like, tree.Tree
    ):
        raise ArgumentTypeError(
            "S2S501",
            f"{api}: {label} is {structure_text(fact)}, {like_label} is {structure_text(like)}",
            help="give it the same structure",
        )


def _check_leaf(api: str, names: tuple[str, str], one: Any, other: Any) -> None:
    if isinstance(one, values.Unknown) or isinstance(other, values.Unknown):
        return
    dtype, wanted = values.strong_dtype(one), values.strong_dtype(other)
    fits = "fc" if wanted is not None and wanted.kind == "c" else "f"
    if dtype is None or dtype.kind not in fits:
        found = f"has dtype {dtype}" if isinstance(one, values.Array) else f"is {kind_text(one)}"
        raise ArgumentTypeError(
            "S2S501",
            f"{api}: {names[0]} {found}, {names[1]} has dtype {wanted}",
            help="pass floating-point numbers",
        )
    a, b = values.shape_of(one), values.shape_of(other)
    if a is not None and b is not None and not may_be_same(a, b):
        raise ArgumentValueError(
            "S2S502",
            f"{api}: {names[0]} has shape {shape_text(a)}, {names[1]} has shape {shape_text(b)}",
        )
    weak = isinstance(one, values.Scalar) or isinstance(other, values.Scalar)
    if not weak and wanted is not None and dtype != wanted:
        raise ArgumentTypeError(
            "S2S501", f"{api}: {names[0]} has dtype {dtype}, {names[1]} has dtype {wanted}"
        )


def may_be_same(a: values.Shape, b: values.Shape) -> bool:
    """Whether two shapes may be equal, as far as their lengths are known."""
    known = zip(a, b, strict=False)
    return len(a) == len(b) and all(
        x == y for x, y in known if isinstance(x, int) and isinstance(y, int)
    )


def shape_text(shape: values.Shape) -> str:
    """A shape as a message shows it: n where a length is not known."""
    return str(tuple(each if isinstance(each, int) else "n" for each in shape)).replace("'", "")


def structure_text(fact: Any) -> str:
    if not isinstance(fact, tree.Tree):
        return kind_text(fact)
    if fact.kind is dict:
        return f"a dict with the keys {list(fact.keys)!r}"
    return f"a {fact.kind.__name__} of {len(fact.items)}"


def check_call(api: str, fn: Callable, inputs: tuple) -> None:
    """The inputs fit the signature; the text of the error is Python's own."""
    try:
        signature_of(api, fn).bind(*inputs)
    except TypeError:
        signature = signature_of(api, fn)
        text = misfit(name_of(fn), signature, inputs, {})
        help = f"{api} takes the inputs of {call_of(name_of(fn), signature)}"
        raise ArgumentTypeError("S2S501", text, help=help) from None


def call_of(name: str, signature: inspect.Signature) -> str:
    """How a function is called, with what it needs."""
    needed = [
        f"{each.name}=..." if each.kind is each.KEYWORD_ONLY else each.name
        for each in signature.parameters.values()
        if each.default is each.empty and each.kind not in (each.VAR_POSITIONAL, each.VAR_KEYWORD)
    ]
    return f"{name}({', '.join(needed)})"


def misfit(name: str, signature: inspect.Signature, args: tuple, kwargs: dict[str, Any]) -> str:
    """What Python says of a call that does not fit a signature."""
    plain = [
        each.replace(
            annotation=each.empty, default=each.empty if each.default is each.empty else None
        )
        for each in signature.parameters.values()
    ]
    made: dict[str, Callable] = {}
    exec(f"def stub{inspect.Signature(plain)}: pass", made)
    stub = made["stub"]
    stub.__qualname__ = stub.__name__ = name
    try:
        stub(*args, **kwargs)
    except TypeError as error:
        return str(error)
    raise InternalError("S2S901", f"{name}{signature} takes what it was said not to take")


def check_axis_names(api: str, value: Any) -> None:
    """in_axes as a dict is by argument name."""
    for key in value if isinstance(value, dict) else ():
        if not isinstance(key, str):
            raise ArgumentTypeError(
                "S2S501",
                f"{api}: in_axes as a dict is by argument name, got the key {shown(key)}",
                help="write in_axes={'x': 0}, or a tuple with one entry for each input",
            )


def check_axes(api: str, name: str, value: Any) -> None:
    """in_axes and out_axes: ints, None, and tuples, lists or dicts of these."""
    if value is None or (isinstance(value, int) and not isinstance(value, bool)):
        return
    if isinstance(value, tuple | list):
        for i, each in enumerate(value):
            check_axes(api, f"{name}[{i}]", each)
    elif isinstance(value, dict):
        for key, each in value.items():
            check_axes(api, f"{name}[{key!r}]", each)
    else:
        raise ArgumentTypeError(
            "S2S501",
            f"{api}: {name} must be an int, None, or a tuple, list or dict of these, "
            f"got {shown(value)}",
        )
