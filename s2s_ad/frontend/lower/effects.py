"""Effects: prints, logs, asserts and raises are kept whole, and run once, in the forward pass."""

from __future__ import annotations

import builtins
import functools
import itertools
import logging
import operator
import re
import sys
import types
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import gast

from s2s_ad.core import form, tree, values
from s2s_ad.core.builder import NeedStatic, Symbol, fresh_name
from s2s_ad.core.callee import has_effect
from s2s_ad.core.program import Hint
from s2s_ad.core.registry import METHODS, rule_for
from s2s_ad.core.tree import Tree
from s2s_ad.diagnostics import UnsupportedError
from s2s_ad.frontend.lower import rows
from s2s_ad.frontend.lower.attributes import Made, Method
from s2s_ad.frontend.lower.caught import Caught
from s2s_ad.frontend.lower.classes import HELD, is_written
from s2s_ad.frontend.lower.core import EFFECT, HANDLERS, Lowering, statement
from s2s_ad.frontend.lower.derived import is_array_object
from s2s_ad.frontend.lower.desugar import quote
from s2s_ad.frontend.lower.exits import CONTINUE, Exits, Raises
from s2s_ad.frontend.lower.functions import Closure
from s2s_ad.frontend.lower.iteration import Range, is_iterator
from s2s_ad.frontend.lower.objects import class_of, is_made_by_its_content
from s2s_ad.frontend.lower.optional import is_optional
from s2s_ad.frontend.lower.paths import look
from s2s_ad.frontend.lower.picked import is_picked, one_of_several, options
from s2s_ad.frontend.lower.references import Box
from s2s_ad.frontend.lower.refused import is_statement_only
from s2s_ad.frontend.lower.string_unions import as_result
from s2s_ad.frontend.resolve import Captured, is_library, unwrap
from s2s_ad.frontend.scopes import COMPREHENSIONS

LOGGER_METHODS = ("debug", "info", "warning", "error", "critical", "exception", "log")
LOGGER_METHODS += ("addHandler", "removeHandler", "setLevel")
#: what a logger says of itself, and what it is given
ASKED_OF_LOGGERS = ("getEffectiveLevel", "hasHandlers", "isEnabledFor")
OF_LOGGERS = (logging.Handler, logging.Formatter)
PURE = (abs, all, any, ascii, bool, complex, dict, divmod, enumerate, float, format, getattr)
PURE += (hasattr, int, isinstance, len, list, logging.getLogger, max, min, range, repr, reversed)
PURE += (round, set, sorted, str, sum, tuple, type, zip)
PURE_METHODS = {"format", "item", "join", "lower", "strip", "title", "tolist", "upper", *METHODS}
REFUSED_INSIDE = (gast.Await, gast.Lambda, gast.NamedExpr, gast.Yield, gast.YieldFrom)
IDENTITY = (gast.Is, gast.IsNot)
#: values whose attributes and items are known now, or values themselves
WITH_ATTRIBUTES = Captured | Closure | Made | Tree | type | types.FunctionType
OF_CONTAINERS = {"count", "get", "index", "items", "keys", "values"}


@statement(gast.Assert)
def asserted(lowering: Lowering, node: gast.Assert) -> Any:
    """`assert condition, message` Kept as it stands, and checked once."""
    try:
        _replaced(lowering, node.msg, {}, False)  # before the test is evaluated, for it acts once
        append(lowering, node)
    except Acts:
        places = {"T": node.test, "M": node.msg or form.constant("")}
        return lowering.run(quote("if not (T): raise AssertionError(M)", node, places))
    assume(lowering, node.test)
    return CONTINUE


def assume(lowering: Lowering, test: gast.expr) -> None:
    """From here on the test is true, as far as it says that something is not None."""
    names = [each.id for each in gast.walk(test) if isinstance(each, gast.Name)]
    if not any(is_optional(lowering.frame.locals.get(each)) for each in names):
        return
    found: list[Any] = []

    def evaluated() -> Any:
        found.append(lowering.evaluate_any(test))
        return CONTINUE

    look(lowering, evaluated)
    lowering.assumptions.assume(found[0], True)


@statement(gast.Raise)
def raised(lowering: Lowering, node: gast.Raise) -> Any:
    """`raise Error(message)` Kept as it stands."""
    paths = _paths_of_raise(lowering, node)
    if paths is not None:
        return lowering.run(paths)
    keep_statement(lowering, node)
    raise Raises


def _left_for_good(lowering: Lowering, args: list, kwargs: dict[str, Any]) -> Any:
    """`sys.exit(message)`, which raises SystemExit."""
    given = [as_expression(lowering, each) for each in args]
    emit(lowering, gast.Raise(gast.Call(form.constant(SystemExit), given, []), None))
    raise Raises


HANDLERS[sys.exit] = _left_for_good
for _name in ("exit", "quit"):  # Python runs without them, too
    if hasattr(builtins, _name):
        HANDLERS[getattr(builtins, _name)] = _left_for_good


def _paths_of_raise(lowering: Lowering, node: gast.Raise) -> list[gast.stmt] | None:
    """A `raise` for each class of which the exception may be, and one for a cause that is None."""
    cause = lowering.assumptions.settled(_of_name(lowering, node.cause))
    if is_optional(cause):
        places = {"F": form.constant(cause.items[0]), "E": node.exc, "C": node.cause}
        return quote("if F: raise E from None\nelse: raise E from C", node, places)
    call = node.exc if isinstance(node.exc, gast.Call) else None
    kind = _of_name(lowering, call.func if call else node.exc)
    if is_optional(kind):
        lowering.present(kind)  # or the function raises TypeError here, as Python does
    if not is_picked(kind):
        return None

    def raised_as(member: Any) -> gast.Raise:
        found: gast.expr = form.constant(member)
        if call is not None:
            found = gast.copy_location(gast.Call(found, call.args, call.keywords), node)
        return gast.copy_location(gast.Raise(found, node.cause), node)

    return each_on_its_path(node, kind, raised_as)


def _of_name(lowering: Lowering, node: gast.AST | None) -> Any:
    """The value of a name; None of anything else."""
    return _read(lowering, node, {}) if isinstance(node, gast.Name) else None


def each_on_its_path(
    node: gast.stmt, value: Tree, make: Callable[[Any], gast.stmt]
) -> list[gast.stmt]:
    """The statement that `make` gives of one of several objects, for each on a path of its own."""
    *others, (_, last) = options(value)
    made = [make(last)]
    for flag, member in reversed(others):
        places = {"F": form.constant(flag), "A": [make(member)], "B": made}
        made = quote("if F:\n    A\nelse:\n    B", node, places)
    return made


def keep_statement(lowering: Lowering, node: gast.stmt) -> bool:
    """Keep the statement whole if it is an effect and nothing else."""
    node = _without_partial(lowering, node)
    if not is_effect(lowering, node):
        return False
    try:
        append(lowering, node)
    except Acts as found:
        if isinstance(node, gast.If):
            return False
        raise found.error from None
    return True


def _without_partial(lowering: Lowering, node: gast.stmt) -> gast.stmt:
    """A call of a `partial` of what prints, warns or logs, as the call that it stands for."""
    call = node.value if isinstance(node, gast.Expr) else None
    held = (
        unwrap(_read(lowering, call.func, {}, asked=True)) if isinstance(call, gast.Call) else None
    )
    if not isinstance(held, functools.partial) or not _is_effect_function(held.func):
        return node
    given = {each.arg for each in call.keywords}
    first = [*map(form.constant, held.args)]
    more = [gast.keyword(key, form.constant(each)) for key, each in held.keywords.items()]
    keywords = [*(each for each in more if each.arg not in given), *call.keywords]
    made = gast.Call(form.constant(held.func), [*first, *call.args], keywords)
    return gast.copy_location(gast.Expr(gast.copy_location(made, node)), node)


def append(lowering: Lowering, node: gast.stmt) -> None:
    statement = _replaced(lowering, node, {}, True)
    if not _never_acts(statement):
        emit(lowering, statement)


def _never_acts(statement: gast.stmt) -> bool:
    """An assert of what is known to be true, or a check for what is known to be false."""
    test = getattr(statement, "test", None)
    if not isinstance(test, gast.Constant):
        return False
    if isinstance(statement, gast.Assert):
        return bool(test.value)
    return not test.value and not statement.orelse


def emit(lowering: Lowering, statement: gast.stmt) -> None:
    """Append a statement whose names are Core's."""
    reads = {each: Symbol(lowering.builder, each) for each in form.reads(statement)}
    lowering.builder.effect(statement, reads)


def require(
    lowering: Lowering,
    value: Symbol | int,
    expected: Symbol | int,
    error: Exception,
    *,
    at_least: bool = False,
) -> None:
    """Append a check that raises the error where a number turns out to be another, or smaller."""
    if isinstance(value, int) and isinstance(expected, int):
        if value < expected or (value > expected and not at_least):
            raise error
        return
    wrong = gast.Lt() if at_least else gast.NotEq()
    sides = (as_expression(lowering, each) for each in (value, expected))
    test = gast.Compare(next(sides), [wrong], [*sides])
    made = gast.Call(form.constant(type(error)), [*map(form.constant, error.args)], [])
    emit(lowering, gast.If(test, [gast.Raise(made, None)], []))


def is_effect(lowering: Lowering, node: gast.stmt) -> bool:
    if isinstance(node, gast.Assert | gast.Raise | gast.Pass):
        return True
    if isinstance(node, gast.If):
        return all(is_effect(lowering, each) for each in [*node.body, *node.orelse])
    if not isinstance(node, gast.Expr):
        return False
    if isinstance(node.value, gast.Constant):
        return True
    return isinstance(node.value, gast.Call) and _is_effect_call(lowering, node.value.func)


def _is_effect_call(lowering: Lowering, function: gast.AST) -> bool:
    """Whether the call prints, warns or logs."""
    return _is_effect_function(_read(lowering, function, {}, asked=True))


def _is_effect_function(value: Any) -> bool:
    holder = value.holder if isinstance(value, Method) else getattr(value, "__self__", None)
    if isinstance(unwrap(holder), logging.Logger):
        method = value.function if isinstance(value, Method) else value
        return getattr(method, "__name__", "") in LOGGER_METHODS
    return is_statement_only(value)


def _done(lowering: Lowering, args: list, kwargs: dict[str, Any]) -> bool:
    """Print, warn or log where the value of the call counts, too: it is None."""
    node, function = args
    if not _is_effect_function(function):
        return False
    return keep_statement(lowering, gast.copy_location(gast.Expr(node), node))


HANDLERS[EFFECT] = _done


def _acts(lowering: Lowering, node: gast.AST) -> bool:
    """Whether it is the effect itself: evaluated before it would be no less of one."""
    return isinstance(node, gast.Call) and _is_effect_call(lowering, node.func)


def _read(
    lowering: Lowering, node: gast.AST, bound: Mapping[str, str], *, asked: bool = False
) -> Any:
    """The value of a name, or of an attribute or item of one; None of anything else.

    What one of several objects has may be missing: it is read where Python reads it. With `asked`
    nothing is done with the value; no operation for it stays.
    """
    root, parts = node, [node]
    while isinstance(root, gast.Attribute | gast.Subscript):
        root = root.value
        parts.append(root)
    if isinstance(root, gast.Name) and root.id not in bound:
        if _caught(lowering, root):
            return None
        known = unwrap(lowering.evaluate_any(root))
        if node is root or isinstance(known, types.ModuleType | type):
            return lowering.evaluate_any(node)
        return _read_once(lowering, node, parts, asked)
    if isinstance(root, gast.Call) and _is_logger(lowering, root):
        return lowering.evaluate(node)
    if isinstance(node, gast.Constant) and callable(node.value):
        return node.value
    return None


def _read_once(lowering: Lowering, node: gast.AST, parts: list[gast.AST], asked: bool) -> Any:
    """An attribute or item; None where reading it does something: Python reads it once."""
    found: list[Any] = []

    def read() -> None:
        if not any(is_picked(lowering.evaluate_any(each)) for each in reversed(parts[1:])):
            found.append(lowering.evaluate_any(node))

    if _does_something(lowering, read) or not found:
        return None
    return found[0] if asked else lowering.evaluate_any(node)


def _does_something(lowering: Lowering, run: Callable[[], Any]) -> bool:
    """Whether what is lowered changes or says anything; nothing of it stays."""

    def left() -> Exits:
        run()
        return CONTINUE

    path = look(lowering, left)
    return bool(path.changed) or any(map(_does_more_than_raise, path.body))


def _does_more_than_raise(statement: form.Statement) -> bool:
    if not isinstance(statement, form.Effect):
        return has_effect(statement)
    return any(isinstance(each, gast.Expr) for each in gast.walk(statement.node))


def _caught(lowering: Lowering, node: gast.Name) -> gast.AST | None:
    """The expression for what a handler has caught, if that is what the name is."""
    value = lowering.frame.locals.get(node.id)
    return value.shown if isinstance(value, Caught) else None


def _is_logger(lowering: Lowering, node: gast.Call) -> bool:
    return unwrap(_read(lowering, node.func, {}, asked=True)) is logging.getLogger


# ---- keeping an expression whole -----------------------------------------------------------------


class Acts(Exception):
    """What is kept whole holds what cannot be: a call of the user's, say. It is evaluated before,
    where Python would evaluate it, too; elsewhere the error says what is wrong."""

    def __init__(self, error: UnsupportedError | NeedStatic):
        self.error = error


#: expressions that may be evaluated before the statement in which they stand
EVALUATED = (gast.BoolOp, gast.Call, gast.Compare, gast.FormattedValue, gast.IfExp, gast.ListComp)
EVALUATED += (gast.Attribute, gast.NamedExpr, gast.Subscript)
AS_IT_IS = -1  # of a field of an f-string: what `str` makes of it
#: the fields of a message that is logged
FIELDS = re.compile(r"%[^a-zA-Z%]*[a-zA-Z%]")
#: what evaluates some of its parts on some paths only
LAZY = (gast.BoolOp, gast.IfExp, gast.If, *COMPREHENSIONS)


def kept(lowering: Lowering, node: gast.AST) -> gast.AST:
    """The tree with the user's names replaced by Core names and by the objects they stand for."""
    try:
        return _replaced(lowering, node, {}, True)
    except Acts as found:
        raise found.error from None


def kept_call(lowering: Lowering, node: gast.Call) -> gast.AST:
    """What is kept of a call that is evaluated itself; what it is given may be before it."""
    try:
        return _rebuilt(lowering, node, {}, True)
    except Acts as found:
        raise found.error from None


def _check(lowering: Lowering, node: gast.AST, bound: Mapping[str, str]) -> None:
    """Only calls that change nothing may stand in what is kept."""
    if isinstance(node, REFUSED_INSIDE):
        raise Acts(lowering.refuse(node))
    if isinstance(node, gast.Call) and not _is_pure_call(lowering, node.func, bound):
        error = UnsupportedError(
            "S2S201",
            "a call inside a print, an assert, a raise, an f-string or a boolean operator",
            origin=lowering.origin(node),
            why="it runs as it stands, and is not known to leave its arguments alone",
            help="assign its result to a name first",
        )
        raise Acts(error)


def _check_reading(lowering: Lowering, node: gast.AST, bound: Mapping[str, str]) -> None:
    """What is read inside of what is kept is read where Python reads it, or changes nothing."""
    names = [each for each in gast.walk(node) if isinstance(each, gast.Name)]
    if any(each.id in bound or _caught(lowering, each) for each in names):
        return
    if _does_something(lowering, lambda: lowering.evaluate_any(node)):
        what = "what changes something when it is read, inside a print, an assert, a raise,"
        what += " an f-string or a boolean operator"
        help = "assign it to a name first"
        raise Acts(UnsupportedError("S2S201", what, origin=lowering.origin(node), help=help))


def _is_pure_call(lowering: Lowering, function: gast.AST, bound: Mapping[str, str]) -> bool:
    if isinstance(function, gast.Attribute):
        holder = _read(lowering, function.value, bound)
        if isinstance(holder, Tree):
            return function.attr in OF_CONTAINERS and holder.kind in (tuple, list, dict)
        if not isinstance(holder, Captured | type) and not is_library(holder):
            return function.attr in PURE_METHODS
        if _is_effect_call(lowering, function) or _asks_logger(function.attr, holder):
            return True
    value = unwrap(_read(lowering, function, bound, asked=True))
    if isinstance(value, type) and issubclass(value, (BaseException, *OF_LOGGERS)):
        return True
    if _is_effect_function(value):
        return True
    return rule_for(value) is not None or any(value is each for each in PURE)


def _asks_logger(name: str, holder: Any) -> bool:
    return name in ASKED_OF_LOGGERS and isinstance(unwrap(holder), logging.Logger)


def _replaced(lowering: Lowering, node: Any, bound: Mapping[str, str], always: bool) -> Any:
    """`bound` gives the new names of what comprehensions around the node bind; `always` says
    whether Python evaluates the node whenever it comes to the statement."""
    if isinstance(node, list):
        return [_replaced(lowering, item, bound, always) for item in node]
    if isinstance(node, gast.Constant) and isinstance(node.value, Symbol):
        return form.name(node.value.name)
    if isinstance(node, gast.Constant) or not isinstance(node, gast.AST):
        return node
    several = isinstance(node, gast.Compare) and len(node.ops) > 1
    inside = always and not several and not isinstance(node, LAZY)
    try:
        return _rebuilt(lowering, node, bound, inside)
    except Acts as found:
        if not always or not isinstance(node, EVALUATED) or _acts(lowering, node):
            raise
        if isinstance(node, gast.FormattedValue):
            return _with_own_text(lowering, node, found)
    return _expressed(lowering, lowering.evaluate_any(node))


#: the handler of what an object in an f-string says of itself: an expression
OWN_TEXT = "what the class of an object says its text is"


def _with_own_text(
    lowering: Lowering, node: gast.FormattedValue, reason: Acts
) -> gast.FormattedValue:
    """An object in an f-string, as its class says what its text is."""
    value = lowering.evaluate_any(node.value)
    shows = repr if node.conversion == ord("r") else str
    own = class_of(value) is not None or is_picked(value)
    if node.format_spec is not None or not own:
        raise reason
    return gast.FormattedValue(HANDLERS[OWN_TEXT](lowering, [shows, value], {}), -1, None)


def _rebuilt(
    lowering: Lowering, node: gast.AST, bound: Mapping[str, str], always: bool
) -> gast.AST:
    if isinstance(node, COMPREHENSIONS):
        return _comprehension(lowering, node, bound)
    _check(lowering, node, bound)
    asks = ASKS.get(type(node))
    if asks is not None and (answer := asks(lowering, node, bound)) is not None:
        return answer
    if isinstance(node, gast.Name):
        if node.id in bound:
            return form.name(bound[node.id], type(node.ctx))
        if (shown := _caught(lowering, node)) is not None:
            return shown
        return _expressed(lowering, lowering.lookup(node))
    if isinstance(node, gast.Attribute | gast.Subscript):
        _check_reading(lowering, node, bound)
        holder = _read(lowering, node.value, bound)
        if is_picked(holder):
            raise Acts(one_of_several(holder, "whose parts are shown"))
        if isinstance(holder, WITH_ATTRIBUTES) or is_library(holder):
            return _item(lowering, node, holder, bound)
    if isinstance(node, gast.Call):
        node = _call_of_texts(lowering, node, bound)
    fields = {
        name: _replaced(lowering, getattr(node, name, None), bound, always and name != "msg")
        for name in node._fields
    }
    made = type(node)(**fields)
    fold = FOLDED.get(type(node))
    return made if fold is None else fold(made)


def _call_of_texts(lowering: Lowering, node: gast.Call, bound: Mapping[str, str]) -> gast.Call:
    """The call with the text of what it shows as text."""
    shown = _shown_as_text(lowering, node, bound)
    args = [
        _as_printed(lowering, each, bound, shown[index]) if index in shown else each
        for index, each in enumerate(node.args)
    ]
    return gast.Call(node.func, _with_texts(node.args, args, shown), node.keywords)


def _answered(lowering: Lowering, node: gast.Call, bound: Mapping[str, str]) -> gast.AST | None:
    """What `isinstance` or `len` says of a value, where that is known and nothing else is done."""
    function = unwrap(_read(lowering, node.func, bound, asked=True))
    names = [each.id for each in gast.walk(node) if isinstance(each, gast.Name)]
    if function not in (isinstance, len) or any(each in bound for each in names):
        return None
    found: list[Any] = []

    def asked() -> Exits:
        found.append(lowering.evaluate_any(node))
        return CONTINUE

    try:
        path = look(lowering, asked)
    except (NeedStatic, UnsupportedError):
        return None
    if path.body or path.changed:  # what is computed for it may raise
        return None
    return form.constant(found[0]) if found and type(found[0]) in (bool, int) else None


def _shown_as_text(
    lowering: Lowering, node: gast.Call, bound: Mapping[str, str]
) -> Mapping[int, int]:
    """The arguments of which the call shows what `str` or `repr` makes of them: those of a print,
    and what is logged with `%s` or `%r`."""
    if unwrap(_read(lowering, node.func, bound, asked=True)) is print:
        return dict.fromkeys(range(len(node.args)), AS_IT_IS)
    if not node.args or not _acts(lowering, node):
        return {}
    message = getattr(node.args[0], "value", None)
    if not isinstance(message, str):
        return {}
    fields = [each for each in FIELDS.findall(message) if each != "%%"]
    plain = {"s": AS_IT_IS, "r": ord("r")}
    places = enumerate(fields, start=1)
    return {place: plain[each[-1]] for place, each in places if each[-1] in plain}


def _with_texts(
    given: list[gast.AST], args: list[gast.AST], shown: Mapping[int, int]
) -> list[gast.AST]:
    """The arguments, and a message whose fields show what is a text now as it is: `%r` is `%s`."""
    texts = [place for place in shown if shown[place] == ord("r")]
    texts = [place for place in texts if args[place] is not given[place]]
    if not texts:
        return args
    places = itertools.count(1)

    def field(found: re.Match) -> str:
        text = found.group()
        if text == "%%" or next(places) not in texts:
            return text
        return text[:-1] + "s"

    message = form.constant(FIELDS.sub(field, getattr(args[0], "value", "")))
    return [message, *args[1:]]


def _as_printed(
    lowering: Lowering, node: gast.AST, bound: Mapping[str, str], conversion: int
) -> gast.AST:
    """What print shows: of an object of the user's its text."""
    value = _read(lowering, node, bound)
    if class_of(value) is None and not is_picked(value):
        return node
    return gast.copy_location(gast.JoinedStr([gast.FormattedValue(node, conversion, None)]), node)


def _expressed(lowering: Lowering, value: Any) -> gast.AST:
    """`as_expression` of an operand: what asks for it is evaluated before where it has none."""
    try:
        if isinstance(value, Box) and value.is_dynamic and rows.texts_of(value.content) is None:
            value.known()
        return as_expression(lowering, value)
    except (NeedStatic, UnsupportedError) as error:
        raise Acts(error) from None


def _joined(node: gast.JoinedStr) -> gast.AST:
    """An f-string whose texts that are known are part of it: f"{'x'} has {n}" is f"x has {n}"."""
    parts: list[gast.AST] = []
    for each in _flat(node):
        known = getattr(each, "value", None) if isinstance(each, gast.FormattedValue) else each
        plain = each is known or (each.conversion == -1 and each.format_spec is None)
        if not (plain and isinstance(known, gast.Constant) and isinstance(known.value, str)):
            parts.append(each)
        elif parts and isinstance(parts[-1], gast.Constant):
            parts[-1] = form.constant(parts[-1].value + known.value)
        else:
            parts.append(known)
    whole = len(parts) == 1 and isinstance(parts[0], gast.Constant)
    return parts[0] if whole else gast.JoinedStr(parts)


def _flat(node: gast.JoinedStr) -> Iterator[gast.AST]:
    """The parts of an f-string, and of those that it shows as they are."""
    for each in node.values:
        shown = each.value if isinstance(each, gast.FormattedValue) else None
        plain = shown is not None and each.conversion in (-1, ord("s")) and not each.format_spec
        if plain and isinstance(shown, gast.JoinedStr):
            yield from _flat(shown)
        else:
            yield each


def _asks_what_it_is(
    lowering: Lowering, node: gast.Compare, bound: Mapping[str, str]
) -> gast.AST | None:
    """The flag of `x is None`, where x may be None, and a truth of Python's for `x is True`.

    NumPy's truths, which those of a batch are, are neither True nor False.
    """
    if len(node.ops) > 1 or not isinstance(node.ops[0], IDENTITY):
        return None
    value, known = _read(lowering, node.left, bound), getattr(node.comparators[0], "value", node)
    if known is None and is_optional(value):
        flag, holds = form.name(value.items[0].name), True
    elif isinstance(known, bool) and getattr(value, "fact", None) == values.Scalar(bool):
        flag, holds = form.name(value.name), known
    else:
        return None
    return flag if isinstance(node.ops[0], gast.Is) is holds else gast.UnaryOp(gast.Not(), flag)


def _compared(node: gast.Compare) -> gast.AST:
    """A comparison of numbers and texts that are known."""
    parts = [*map(_of_constants, [node.left, *node.comparators])]
    compare = COMPARISONS.get(type(node.ops[0])) if len(node.ops) == 1 else None
    if compare is None or not all(isinstance(each, gast.Constant) for each in parts):
        return node
    if not all(isinstance(each.value, int | float | str | tuple) for each in parts):
        return node
    return form.constant(compare(*(each.value for each in parts)))


def _of_constants(node: gast.AST) -> gast.AST:
    """A tuple of constants as one."""
    items = node.elts if isinstance(node, gast.Tuple) else [None]
    if not all(isinstance(each, gast.Constant) for each in items):
        return node
    return form.constant(tuple(each.value for each in items))


def _decided(node: gast.BoolOp) -> gast.AST:
    """`and` and `or` without what is known: an operand that decides is the last."""
    decides = isinstance(node.op, gast.Or)
    parts: list[gast.AST] = []
    for each in node.values:
        known = isinstance(each, gast.Constant) and isinstance(each.value, bool)
        if not known or each.value is decides or each is node.values[-1]:
            parts.append(each)
        if known and each.value is decides:
            break
    if len(parts) > 1 and isinstance(parts[-1], gast.Constant) and parts[-1].value is not decides:
        return node
    return parts[0] if len(parts) == 1 else gast.BoolOp(node.op, parts)


def _formatted(node: gast.FormattedValue) -> gast.AST:
    """The format of a value stays an f-string, also where all of it is known."""
    spec = node.format_spec
    if isinstance(spec, gast.Constant):
        return gast.FormattedValue(node.value, node.conversion, gast.JoinedStr([spec]))
    return node


#: what is asked here, so that the text does not ask it
ASKS = {gast.Call: _answered, gast.Compare: _asks_what_it_is}
FOLDED = {
    gast.BoolOp: _decided,
    gast.Compare: _compared,
    gast.FormattedValue: _formatted,
    gast.JoinedStr: _joined,
}
COMPARISONS = {
    gast.Eq: operator.eq,
    gast.Gt: operator.gt,
    gast.GtE: operator.ge,
    gast.In: lambda item, items: item in items,
    gast.Lt: operator.lt,
    gast.LtE: operator.le,
    gast.NotEq: operator.ne,
    gast.NotIn: lambda item, items: item not in items,
}


def _comprehension(lowering: Lowering, node: gast.AST, bound: Mapping[str, str]) -> gast.AST:
    """The names that it binds are its own: they get names that nothing else has."""
    inner, generators = dict(bound), []
    for each in node.generators:
        source = _replaced(lowering, each.iter, inner, False)
        for name in gast.walk(each.target):
            if isinstance(name, gast.Name):
                inner[name.id] = fresh_name()
                lowering.builder.hints[inner[name.id]] = Hint(name.id, "user")
        target, tests = (
            _replaced(lowering, part, inner, False) for part in (each.target, each.ifs)
        )
        generators.append(gast.comprehension(target, source, tests, each.is_async))
    fields = [name for name in node._fields if name != "generators"]
    parts = [_replaced(lowering, getattr(node, name), inner, False) for name in fields]
    return type(node)(*parts, generators)


def _item(lowering: Lowering, node: gast.AST, holder: Any, bound: Mapping[str, str]) -> gast.AST:
    """self.rate is a captured number, params["w"] an item of a Tree, np.sum a function."""
    if isinstance(node, gast.Attribute):
        value = lowering.evaluate(node)
        if not isinstance(value, Method):
            return _expressed(lowering, value)
        return gast.Attribute(_expressed(lowering, value.holder), node.attr, gast.Load())
    if any(isinstance(each, gast.Name) and each.id in bound for each in gast.walk(node.slice)):
        index = _replaced(lowering, node.slice, bound, False)
        return gast.Subscript(_expressed(lowering, holder), index, gast.Load())
    return _expressed(lowering, lowering.evaluate(node))


def is_shown_as_number(value: Box) -> bool:
    """Whether an object that holds a number shows it as NumPy does."""
    own = any(is_written(value.kind, each) for each in ("__str__", "__repr__", "__format__"))
    return not own and getattr(value.known().get(HELD), "shape", None) == ()


SHOWN = "a print, an assert, a raise or an f-string of"


def as_expression(lowering: Lowering, value: Any) -> gast.AST:
    """An expression that gives a lowering value."""
    value = lowering.certain(value, SHOWN)
    value = as_result(value)
    if is_picked(value):
        raise one_of_several(value, "inside a print, an assert, a raise or an f-string")
    if is_array_object(value) and is_shown_as_number(value):
        value = value.known().get(HELD)
    if isinstance(value, Symbol):
        return form.name(value.name)
    if is_iterator(value):
        what = "an iterator inside a print, an assert, a raise or an f-string"
        raise UnsupportedError("S2S201", what, help="make a list: list(...)")
    if isinstance(value, Closure | Method):
        raise UnsupportedError("S2S201", "a function as a value inside a print or a condition")
    if isinstance(value, Made):
        raise UnsupportedError("S2S201", "an object of a library inside a print or a condition")
    if isinstance(value, Box) and (texts := rows.texts_of(value.content)) is not None:
        return form.name(texts.name)
    if isinstance(value, Range):
        ends = [as_expression(lowering, each) for each in value.arguments()]
        return gast.Call(form.constant(range), ends, [])
    if not isinstance(value, Tree):
        return form.constant(unwrap(value))
    return _container(value, [as_expression(lowering, item) for item in value.items])


def _container(value: Tree, items: list[gast.AST]) -> gast.AST:
    if value.kind is tuple:
        return gast.Tuple(items, gast.Load())
    if value.kind is list:
        return gast.List(items, gast.Load())
    if value.kind is dict:
        return gast.Dict([form.constant(key) for key in value.keys], items)
    kind = getattr(value.kind, "__s2s_stands_for__", value.kind)
    if tree.is_namedtuple(kind):
        return gast.Call(form.constant(kind), items, [])
    if not is_made_by_its_content(value):
        raise UnsupportedError(
            "S2S201",
            f"an object of class {kind.__name__} inside a print, an assert, a raise or an f-string",
            why="its class may make another object of what this one holds",
            help="show its text, str(x), or its attributes",
        )
    pairs = zip(value.keys, items, strict=True)
    return gast.Call(form.constant(kind), [], [gast.keyword(key, item) for key, item in pairs])
