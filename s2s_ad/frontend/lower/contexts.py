"""with: the contexts that are known."""

from __future__ import annotations

import contextlib
import types
import warnings
from collections.abc import Callable, Sequence
from typing import Any

import gast
import numpy as np

from s2s_ad.core.callee import may_run_again
from s2s_ad.diagnostics import KINDS, SharedMemoryError, UnsupportedError
from s2s_ad.frontend.lower.core import HANDLERS, Lowering, statement
from s2s_ad.frontend.lower.exits import Exits
from s2s_ad.frontend.lower.managers import suppressed, under_manager
from s2s_ad.frontend.resolve import unwrap

QUIET = ("ignore", "warn")  # what NumPy does then is no part of what the function computes
USUAL = "warn"
AROUND = "write 'with np.errstate(...):' around what is to raise"


def quiet_warnings(lowering: Lowering, node: gast.With, item: gast.withitem) -> Exits:
    """`with warnings.catch_warnings()`: filters that are set inside hold up to its end."""
    call, settings, start = item.context_expr, lowering.settings, len(lowering.builder.body)
    keeps = [each.arg for each in call.keywords] == ["record"]
    if call.args or (call.keywords and not keeps) or _is_read(lowering, item.optional_vars):
        help = "filter them: warnings.simplefilter('ignore')"
        raise lowering.refuse(node, "'with warnings.catch_warnings(...)' that keeps them", help)
    if keeps and lowering.evaluate(call.keywords[0].value) is True:
        settings = _silenced(settings)
    before = lowering.filters
    lowering.filters = lowering.settings
    try:
        with lowering.under(settings):
            left = lowering.run(node.body)
    finally:
        lowering.filters = before
    if keeps and not may_run_again(lowering.builder.body[start:]):
        what = "a print or a warning where warnings are kept"
        raise lowering.refuse(node, what, "leave record=True out")
    return left


def _is_read(lowering: Lowering, target: gast.AST | None) -> bool:
    """Whether the function reads what the context gives."""
    nodes = gast.walk(lowering.frame.source.node)
    names = [each for each in nodes if isinstance(each, gast.Name) and each is not target]
    return target is not None and any(each.id == getattr(target, "id", None) for each in names)


def filter_warnings(lowering: Lowering, args: list, kwargs: dict[str, Any]) -> None:
    """warnings.simplefilter and filterwarnings, which say what is shown and compute nothing."""
    action = unwrap(kwargs.get("action", args[0] if args else None))
    if lowering.filters is None:
        raise SharedMemoryError(
            "S2S207",
            "the filters of warnings, which stand outside the function, are changed",
            help="do so under 'with warnings.catch_warnings():'",
        )
    if action == "error":
        category = _category_raised(args[1:], kwargs)
        lowering.settings = tuple((dict(lowering.filters) | {category: "raise"}).items())
        return
    if any(map(_hides_numerical, (*args[1:], kwargs.get("category")))):
        kinds = tuple(each for each in lowering.settings if each[0] in KINDS)  # nothing is an error
        lowering.settings = _silenced(kinds) if action == "ignore" else kinds


def _silenced(settings: Sequence[tuple[str, str]]) -> tuple[tuple[str, str], ...]:
    """The settings where no warning is shown; what raises does so still."""
    quiet = dict.fromkeys(KINDS, "ignore") | dict(settings)
    return tuple((name, each if each == "raise" else "ignore") for name, each in quiet.items())


def _category_raised(args: list, kwargs: dict[str, Any]) -> str:
    """The class of warnings that are raised as errors, if NumPy's are among them."""
    given = [*map(unwrap, args), unwrap(kwargs.get("category", Warning))]
    if (
        given[0] not in (Warning, RuntimeWarning)
        or len(args) > 1
        or kwargs.keys() - {"action", "category"}
    ):
        help = (
            "let all be errors, or RuntimeWarning: warnings.simplefilter('error', RuntimeWarning)"
        )
        raise UnsupportedError("S2S201", "some warnings that are raised as errors", help=help)
    return given[0].__name__


def _hides_numerical(category: Any) -> bool:
    kind = unwrap(category)
    return kind is None or (isinstance(kind, type) and issubclass(RuntimeWarning, kind))


def set_errors(lowering: Lowering, args: list, kwargs: dict[str, Any]) -> Any:
    """np.seterr, which says from here on what is warned of, and gives what was said before."""
    said = dict(lowering.settings)
    before = {kind: said.get(kind, USUAL) for kind in KINDS}
    given = dict(zip(("all", *KINDS), args, strict=False)) | kwargs
    asked = {name: unwrap(each) for name, each in given.items() if unwrap(each) is not None}
    for name, value in _of_each_kind(asked, "np.seterr", QUIET, AROUND).items():
        said.pop(name, None)
        said |= {} if value == USUAL else {name: value}
    lowering.settings = tuple(said.items())
    return HANDLERS[dict](lowering, [], before)


HANDLERS[np.seterr] = set_errors
HANDLERS[warnings.simplefilter] = HANDLERS[warnings.filterwarnings] = filter_warnings

#: functions that make a context which changes how its body is compiled
CONTEXTS: dict[Any, Callable[[Lowering, gast.With, gast.withitem], Exits]] = {
    contextlib.suppress: suppressed,
    warnings.catch_warnings: quiet_warnings,
}


@statement(gast.With)
def with_(lowering: Lowering, node: gast.With) -> Exits:
    """`with np.errstate(...)`, `with insert_grad_of(x) as y`, `with timer()` Settings, managers."""
    first, *others = node.items
    if others:
        inner = gast.With(others, node.body)
        outer = gast.With([first], [gast.copy_location(inner, node)])
        return with_(lowering, gast.copy_location(outer, node))
    function = _maker(lowering, first)
    if function in CONTEXTS:
        return CONTEXTS[function](lowering, node, first)
    if function is np.errstate:
        with lowering.placed(first.context_expr):
            settings = _settings(lowering, node, first.context_expr)
        with lowering.under(tuple((dict(lowering.settings) | settings).items())):
            return lowering.run(node.body)
    left = None if function is open else under_manager(lowering, node, first)
    if left is not None:
        return left
    if function is open:
        raise lowering.refuse(
            node, "'with open(...)'", "read the file outside the function, and pass what it holds"
        )
    raise lowering.refuse(
        node,
        "'with' of an object whose class is not written in Python",
        "enter the context around the call",
    )


def _maker(lowering: Lowering, item: gast.withitem) -> Any:
    """The function whose call makes the context."""
    call = item.context_expr
    if not isinstance(call, gast.Call):
        return None
    function = unwrap(lowering.evaluate(call.func))
    kinds = type | types.FunctionType | types.BuiltinFunctionType
    return function if isinstance(function, kinds) else None


def _settings(lowering: Lowering, node: gast.With, call: gast.Call) -> dict[str, str]:
    """What is said of each kind of error where the context is entered."""
    settings = {each.arg: unwrap(lowering.evaluate(each.value)) for each in call.keywords}
    if call.args:
        raise lowering.refuse(node, "np.errstate with anything but keywords")
    return _of_each_kind(
        settings, "np.errstate", (*QUIET, "raise"), "enter the context around the call"
    )


def _of_each_kind(
    settings: dict[str, str], name: str, accepted: tuple[str, ...], help: str
) -> dict[str, str]:
    """What is said of each kind of error, which is one of what is accepted."""
    if any(each not in accepted for each in settings.values()):
        *others, last = map(repr, accepted)
        what = f"{name} with anything but {', '.join(others)} or {last}"
        raise UnsupportedError("S2S201", what, help=help)
    return {each: settings["all"] for each in KINDS if "all" in settings} | {
        name: value for name, value in settings.items() if name != "all"
    }
