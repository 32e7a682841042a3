"""Texts of values: f"{x:.3f}", str(x), np.array2string(x): made when the code runs.

Such a text has no derivative. It is printed, logged, returned beside the result, compared, joined
to others, and asked for its length and by the methods of `str`; where it has to be known (as a
key), what it is made of has to be.
"""

from __future__ import annotations

import operator
import types
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import gast
import numpy as np

from s2s_ad.core import form, tree, values
from s2s_ad.core.builder import NeedStatic, Symbol, describe
from s2s_ad.core.rule import Rule
from s2s_ad.core.tree import Tree
from s2s_ad.diagnostics import S2SError, UnsupportedError
from s2s_ad.frontend.lower import effects
from s2s_ad.frontend.lower.calls import HANDLERS, TEXT_METHOD, known_object
from s2s_ad.frontend.lower.caught import is_error
from s2s_ad.frontend.lower.conditions import for_each_picked
from s2s_ad.frontend.lower.core import Lowering, expression
from s2s_ad.frontend.lower.exits import CONTINUE, Exits
from s2s_ad.frontend.lower.iteration import Iterator, is_iterator
from s2s_ad.frontend.lower.objects import NOTHING, call_method
from s2s_ad.frontend.lower.paths import as_symbols, look
from s2s_ad.frontend.lower.references import symbols
from s2s_ad.frontend.lower.string_unions import OPEN_TEXT, is_open_text, is_text, is_word, word
from s2s_ad.frontend.resolve import unwrap

#: expressions that do nothing but to give a value
PLAIN = gast.Name | gast.Constant
#: methods of `str` whose arguments may be anything
SHOW_ANY = (str.format, str.join)


class Text(Rule):
    """An expression with texts kept whole, as a function of the names that it reads, and its own
    rule."""

    flat = True
    shows = True

    def __init__(self, node: gast.AST, names: tuple[str, ...], fact: values.AbstractValue):
        super().__init__(self, "a text")
        self.node, self.names, self.fact = node, names, fact

    def infer(self, operands: list, params: dict[str, Any]) -> values.AbstractValue:
        return self.fact

    def surface(self, call: gast.Call, facts: Callable) -> gast.AST:
        return self.shown(call.args)

    def shown(self, operands: list) -> gast.AST:
        return form.substitute(self.node, dict(zip(self.names, operands, strict=True)))


def _emitted(lowering: Lowering, node: gast.AST, kind: type = str) -> Any:
    """The value of an expression with texts, which is a text itself, or a number."""
    if kind is str:
        return word(emitted(lowering, node, values.ANY_TEXT))
    return emitted(lowering, node, values.Scalar(kind))


def emitted(
    lowering: Lowering, node: gast.AST, fact: values.AbstractValue, rule: type[Text] = Text
) -> Symbol:
    """The value of an expression that is kept whole."""
    names = tuple(dict.fromkeys(form.reads(node)))
    return lowering.builder.emit(rule(node, names, fact), [*as_symbols(lowering, names)], {})


# ---- f-strings -----------------------------------------------------------------------------------


@expression(gast.JoinedStr)
def text(lowering: Lowering, node: gast.JoinedStr) -> Any:
    """`f"{x:.3f}"` Text where all that it shows is known, else kept whole."""
    if _is_known(lowering, node):
        return "".join(filter(None, (_part(lowering, each) for each in node.values)))
    return _emitted(lowering, effects.kept(lowering, node))


def _is_known(lowering: Lowering, node: gast.JoinedStr) -> bool:
    """Whether all that it shows is known; what computes it may do something, and is done later."""
    parts: list[str | None] = []

    def read() -> Exits:
        for each in node.values:
            parts.append(_part(lowering, each))
            if parts[-1] is None:
                break
        return CONTINUE

    if all(isinstance(getattr(each, "value", each), PLAIN) for each in node.values):
        read()
    else:
        with suppress(S2SError, NeedStatic):  # whoever keeps it whole says so
            look(lowering, read)
    return len(parts) == len(node.values) and None not in parts


CONVERSIONS: dict[int, Callable[[Any], Any]] = {-1: lambda value: value, 97: ascii, 114: repr}
CONVERSIONS |= {115: str}


def _part(lowering: Lowering, node: gast.AST) -> str | None:
    if isinstance(node, gast.Constant):
        return node.value
    value = lowering.evaluate(node.value)
    spec = "" if node.format_spec is None else text(lowering, node.format_spec)
    if not isinstance(value, str | int | float | complex) or not isinstance(spec, str):
        return None
    return format(CONVERSIONS[node.conversion](value), spec)


# ---- str(x) and its kin --------------------------------------------------------------------------


def _shows(function: Callable, *methods: str) -> Callable:
    """The handler of a function that gives the text of its arguments.

    Objects of the user's classes say it themselves by the first of the `methods` that they have.
    """

    def handler(lowering: Lowering, args: list, kwargs: dict[str, Any]) -> Any:
        for method in methods:
            found = call_method(lowering, args[0], method, args[1:]) if args else NOTHING
            if found is not NOTHING:
                return found
        everything = (*args, *kwargs.values())
        for each in everything:
            _check(function, each)
        if not any(True for _ in symbols(everything)):
            return function(*map(known_object, args), **_known(kwargs))
        return _emitted(lowering, _call(lowering, form.constant(function), args, kwargs))

    return handler


def _own_text(lowering: Lowering, args: list, kwargs: dict[str, Any]) -> gast.AST:
    """What an object says of itself as an expression, to stand where it is shown."""
    function, value = args
    value = lowering.certain(value, effects.SHOWN)
    made = for_each_picked(lowering, value, lambda one: HANDLERS[function](lowering, [one], {}))
    return _written_out(lowering, made.items[0] if is_word(made) else made)


def _written_out(lowering: Lowering, value: Any) -> gast.AST:
    """A text as an expression of what it shows, so that it is made where it is shown alone."""
    rule, operands, _ = lowering.builder.definition(value)
    if isinstance(rule, Text):
        return rule.shown([_written_out(lowering, each) for each in operands])
    return effects.as_expression(lowering, value)


def _known(kwargs: dict[str, Any]) -> dict[str, Any]:
    return {key: known_object(each) for key, each in kwargs.items()}


def _check(function: Callable, value: Any) -> None:
    """Refuse what would be shown otherwise than in the user's code."""
    plain = str | int | float | complex | None | np.dtype | type | np.ndarray | np.generic
    known = unwrap(value)
    if isinstance(value, Tree) and not is_iterator(value):
        shown = is_word(value) or is_error(value) or value.kind in (dict, list, set, tuple)
        shown = shown and not any(values.is_tensor(each.fact) for each in symbols(value))
        if shown or tree.is_namedtuple(value.kind):
            return
    elif isinstance(value, Symbol):
        if not values.is_tensor(value.fact):
            return
    elif isinstance(known, plain):
        return
    raise UnsupportedError(
        "S2S205", f"{describe(function)} of a value", help="use an f-string in a print or an error"
    )


def _call(lowering: Lowering, function: gast.AST, args: list, kwargs: dict[str, Any]) -> gast.Call:
    shown = [effects.as_expression(lowering, each) for each in args]
    named = [gast.keyword(k, effects.as_expression(lowering, v)) for k, v in kwargs.items()]
    return gast.Call(function, shown, named)


HANDLERS[effects.OWN_TEXT] = _own_text
HANDLERS[str] = _shows(str, "__str__", "__repr__")
HANDLERS[repr] = _shows(repr, "__repr__")
HANDLERS[format] = _shows(format, "__format__")
for _function in (np.array2string, np.array_repr, np.array_str):
    HANDLERS[_function] = _shows(_function)
for _function in (np.format_float_positional, np.format_float_scientific):
    HANDLERS[_function] = _shows(_function)


# ---- what is asked of texts ----------------------------------------------------------------------


def _of_open_text(lowering: Lowering, args: list, kwargs: dict[str, Any]) -> Any:
    """A call with a text that is made when the code runs; None where the text has to be known."""
    function, given = args
    if function is str and len(given) == 1:
        return given[0]
    if function is isinstance and is_open_text(given[0]):
        return issubclass(str, known_object(given[1]))
    if function is len:
        return _emitted(lowering, _call(lowering, form.constant(len), given, {}), int)
    if function in (repr, format):
        return HANDLERS[function](lowering, given, kwargs)
    return of_method(lowering, [function, given], kwargs)


def of_method(lowering: Lowering, args: list, kwargs: dict[str, Any]) -> Any:
    """A method of `str` that gives a text or a number; None where it gives something else."""
    function, given = args
    if not isinstance(function, types.MethodDescriptorType) or function.__objclass__ is not str:
        return None
    given = [_items_of(lowering, each) for each in given]
    if not any(True for _ in symbols((given, kwargs))):
        return function(*map(known_object, given), **_known(kwargs))
    kind = str if function in SHOW_ANY else _kind_of_result(function, given, kwargs)
    if kind not in (bool, int, str):
        return None
    holder = effects.as_expression(lowering, given[0])
    called = gast.Attribute(holder, function.__name__, gast.Load())
    return _emitted(lowering, _call(lowering, called, given[1:], kwargs), kind)


def _items_of(lowering: Lowering, value: Any) -> Any:
    """What `join` is given: the items of an iterator as a list."""
    if not is_iterator(value):
        return value
    return HANDLERS[list](lowering, [HANDLERS[Iterator](lowering, value)], {})


def _kind_of_result(function: Callable, given: list, kwargs: dict[str, Any]) -> type | None:
    """What kind of value a method of `str` gives, for which it is asked of the empty text."""
    if any(isinstance(each, Symbol) for each in given):
        return None
    examples = ["" if is_text(each) and type(each) is not str else each for each in given]
    try:
        return type(function(*map(known_object, examples), **_known(kwargs)))
    except ValueError:  # of the empty text: it may raise for others, too
        return None


def none_or(lowering: Lowering, value: Tree) -> Symbol:
    """A text, or an exception, that is None on some paths, as the function hands it out."""
    flag, held = (effects.as_expression(lowering, each) for each in value.items)
    return emitted(lowering, gast.IfExp(flag, form.constant(None), held), values.ANY_TEXT)


def joined_texts(lowering: Lowering, left: Any, right: Any) -> Any:
    """`left + right` of texts of which one is made when the code runs."""
    parts = [effects.as_expression(lowering, each) for each in (left, right)]
    return _emitted(lowering, gast.BinOp(parts[0], gast.Add(), parts[1]))


def _compared(lowering: Lowering, args: list, kwargs: dict[str, Any]) -> Any:
    """`"singular" in text`, `a < b` of texts of which one is made when the code runs."""
    kind, *texts = args
    left, right = (effects.as_expression(lowering, each) for each in texts)
    return _emitted(lowering, gast.Compare(left, [kind()], [right]), bool)


HANDLERS[gast.Compare] = _compared


def _letter(lowering: Lowering, args: list, kwargs: dict[str, Any]) -> Any:
    """`"CDE"[i]`, where the number is known when the code runs."""
    text, index = (effects.as_expression(lowering, each) for each in args)
    return _emitted(lowering, gast.Subscript(text, index, gast.Load()))


HANDLERS[gast.Subscript] = _letter


def formatted(lowering: Lowering, left: Any, right: Any) -> Any:
    """`"%.3f" % x` and `"%d of %d" % (i, n)`"""
    parts = right.items if isinstance(right, Tree) else (right,)
    for each in (left, *parts):
        _check(operator.mod, each)
    if not any(True for _ in symbols((left, *parts))):
        return known_object(left) % known_object(right)
    shown = [effects.as_expression(lowering, each) for each in (left, right)]
    return _emitted(lowering, gast.BinOp(shown[0], gast.Mod(), shown[1]))


HANDLERS[OPEN_TEXT] = _of_open_text
HANDLERS[TEXT_METHOD] = of_method
