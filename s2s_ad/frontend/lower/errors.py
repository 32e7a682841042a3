"""Exceptions as values: kept, shown, asked what they are, and raised later.

What an exception carries beside its text is not known when code is generated: it may be a value
that has a derivative, so reading it is refused.
"""

from __future__ import annotations

from typing import Any

import gast

from s2s_ad.core import form, values
from s2s_ad.core.tree import Tree
from s2s_ad.diagnostics import UnsupportedError
from s2s_ad.frontend.lower import effects
from s2s_ad.frontend.lower.attributes import Arguments, ClassOf
from s2s_ad.frontend.lower.calls import HANDLERS
from s2s_ad.frontend.lower.caught import Caught, Error, error
from s2s_ad.frontend.lower.core import Lowering
from s2s_ad.frontend.lower.string_unions import word
from s2s_ad.frontend.lower.subscripts import ITEMS, known_position
from s2s_ad.frontend.lower.texts import Text, emitted
from s2s_ad.frontend.resolve import unwrap

NO_TEXT = "an argument of the exception is no text: what it tells cannot be read"


class Held(Text):
    """An expression of an exception that stands where it was caught, and is read elsewhere."""

    shows = False
    distinct = True


def _as_value(lowering: Lowering, args: list, kwargs: dict[str, Any]) -> Tree:
    """What a handler has caught, where it is read as a value."""
    (caught,) = args
    if caught.shown is None:
        raise UnsupportedError(
            "S2S201",
            "the exception that was caught, as a value",
            help="print it, log it, or raise another one that shows it",
        )
    return error(emitted(lowering, caught.shown, of_kinds(*caught.kinds), Held))


HANDLERS[Caught] = _as_value


def _made(lowering: Lowering, args: list, kwargs: dict[str, Any]) -> Tree:
    """An exception that is made before it is raised, with what its text shows as it is now."""
    node, kind = args
    return error(emitted(lowering, effects.kept_call(lowering, node), of_kinds(kind)))


HANDLERS[BaseException] = _made


def of_kinds(*kinds: type) -> values.Error:
    return values.Error(frozenset(kinds))


# ---- what it is asked ----------------------------------------------------------------------------


def _name_of_class(lowering: Lowering, args: list, kwargs: dict[str, Any]) -> Any:
    """`type(error).__name__`"""
    of, name = args
    if name not in ("__name__", "__qualname__"):
        raise _not_known(f"{name!r} of the class of an exception", "ask isinstance(error, ...)")
    read = gast.Attribute(_called(lowering, type, of.error), name, gast.Load())
    return word(emitted(lowering, read, values.ANY_TEXT))


HANDLERS[ClassOf] = _name_of_class


def _called(lowering: Lowering, function: Any, value: Tree, *others: Any) -> gast.Call:
    """A call with an exception, as an expression."""
    known = [form.constant(each) for each in others]
    shown = effects.as_expression(lowering, value)
    return gast.Call(form.constant(function), [shown, *known], [])


def _is_instance(lowering: Lowering, args: list, kwargs: dict[str, Any]) -> Any:
    """`isinstance(error, kinds)`, which the classes that it may be of decide, or the run."""
    value, kinds = args
    if all(issubclass(each, kinds) for each in value.items[0].fact.kinds):
        return True
    return emitted(lowering, _called(lowering, isinstance, value, kinds), values.Scalar(bool))


HANDLERS[isinstance, Error] = _is_instance


def _compared_class(lowering: Lowering, args: list, kwargs: dict[str, Any]) -> Any:
    """`type(error) is ValueError`"""
    left, right, same = args
    if isinstance(right, ClassOf):
        left, right = right, left
    kind = unwrap(right)
    if not isinstance(kind, type):
        raise _not_known("the class of an exception", "ask isinstance(error, ...)")
    operator = gast.Is() if same else gast.IsNot()
    test = gast.Compare(_called(lowering, type, left.error), [operator], [form.constant(kind)])
    return emitted(lowering, test, values.Scalar(bool))


HANDLERS[type, Error] = _compared_class


def _not_known(what: str, help: str) -> UnsupportedError:
    why = "which exception it is shows when the code runs"
    return UnsupportedError("S2S201", what, why=why, help=help)


def _attribute(lowering: Lowering, args: list, kwargs: dict[str, Any]) -> Any:
    value, name = args
    if name == "args":
        return Arguments(value)
    if name == "__class__":
        return ClassOf(value)
    what = f"the attribute {name!r} of an exception that was caught"
    raise _not_known(what, "assign what it tells to a name before it is raised, or return that")


HANDLERS[Error] = _attribute


def _argument(lowering: Lowering, value: Arguments, index: Any) -> Any:
    """`error.args[0]`, which is a text for sure once that has been looked at."""
    place = known_position(lowering, index)
    args = gast.Attribute(effects.as_expression(lowering, value.error), "args", gast.Load())
    read = gast.Subscript(args, form.constant(place), gast.Load())
    is_text = gast.Call(form.constant(isinstance), [read, form.constant(str)], [])
    wrong = gast.Call(form.constant(TypeError), [form.constant(NO_TEXT)], [])
    check = gast.If(gast.UnaryOp(gast.Not(), is_text), [gast.Raise(wrong, None)], [])
    effects.emit(lowering, check)
    return word(emitted(lowering, read, values.ANY_TEXT))


ITEMS[Arguments] = _argument
