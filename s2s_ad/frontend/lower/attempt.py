"""try: a region whose handlers see what held before it.

Where the body was left nobody knows. So where what it assigns or changes is read after it failed,
it is taken apart; what is left of that is not to be read.
"""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable, Hashable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import gast
import numpy as np

from s2s_ad.core import form, values
from s2s_ad.core.builder import Symbol
from s2s_ad.core.callee import compound_of, is_watched, item_of, may_raise, reached
from s2s_ad.core.program import Program
from s2s_ad.core.regions import Attempt
from s2s_ad.core.registry import rule_for
from s2s_ad.core.rule import BY_VALUES, ORDINARY
from s2s_ad.core.tree import Tree
from s2s_ad.diagnostics import UnsupportedError
from s2s_ad.frontend.lower.caught import Caught
from s2s_ad.frontend.lower.chosen import Taken
from s2s_ad.frontend.lower.classes import method_of
from s2s_ad.frontend.lower.core import Lowering, statement
from s2s_ad.frontend.lower.desugar import quote
from s2s_ad.frontend.lower.exits import CONTINUE, FLAGS, Exits, Raises, leavers
from s2s_ad.frontend.lower.in_place import STORING
from s2s_ad.frontend.lower.joins import Join
from s2s_ad.frontend.lower.meeting import branch, go_on, unite
from s2s_ad.frontend.lower.objects import class_of
from s2s_ad.frontend.lower.paths import Path, explore, look
from s2s_ad.frontend.lower.poisons import Unjoined
from s2s_ad.frontend.lower.references import Poison, Reference, symbols
from s2s_ad.frontend.lower.try_splitting import (
    CHANGES,
    half_done,
    in_parts,
    up_to_last,
    values_of_change,
)
from s2s_ad.frontend.resolve import unwrap

UPDATES = gast.AugAssign | gast.AnnAssign


class Unreadable(Unjoined):
    """A local that nobody may read: it says why."""

    def __init__(self, what: str, help: str):
        self.what, self.help = what, help

    def error(self, lowering: Lowering | None = None) -> Exception:
        origin = lowering.builder.origin if lowering else None
        return UnsupportedError("S2S201", self.what, origin=origin, help=self.help)


@statement(gast.Try)
def try_(lowering: Lowering, node: gast.Try) -> Exits:
    """`try: ... except Error: ... else: ... finally: ...` A handler sees what was done by then.
    What it has caught is a value: it is shown, kept, asked for its class, and raised later.
    """
    if node.finalbody:
        return with_finally(lowering, node)
    function = lowering.frame.source.node
    parts = in_parts(node, function)
    if parts is not None:
        return lowering.run(parts)
    errors = [
        form.Handled(errors_of(lowering, each), getattr(each.name, "id", ""))
        for each in node.handlers
    ]
    firsts: dict[int, tuple[Any, int]] = {}
    start = len(lowering.builder.body)

    def run() -> Exits:
        since = lowering.memory.moment()
        try:
            with catching(lowering, node, errors):
                return lowering.run(node.body)
        finally:  # also where the body is certain to raise
            firsts.update(lowering.memory.first_changes(since))

    body = explore(lowering, run)
    fails = failing(lowering, [kind for each in errors for kind in each.kinds])
    if not any(map(fails, body.body)):
        lowering.memory.bury(body.clock)
        return lowering.run([*node.body, *node.orelse])
    certain = certain_handler(lowering, node, errors, body)
    if certain is not None:
        lowering.memory.bury(body.clock)
        return always_failed(lowering, run, certain)
    with catching(lowering, node, errors):
        early = changed_early(lowering, node, body)
    changed = [
        each
        for each in early
        if id(each) not in firsts
        or not _changes_last(fails, body, firsts[id(each)][0], firsts[id(each)][1] - start)
    ]
    parts = in_parts(node, function, changes=True) if changed else None
    if parts is not None:
        lowering.memory.bury(body.clock)
        return lowering.run(parts)
    handlers = [
        explore(lowering, functools.partial(handled, lowering, node, *each, changed))
        for each in zip(node.handlers, errors, strict=True)
    ]
    position: list[Symbol] = []

    def emit(blocks: list[Program], operands: list[Symbol]) -> list[Symbol]:
        *results, last = Attempt(blocks[0], errors, blocks[1:]).call(lowering.builder, operands)
        position.append(last)
        return results

    join = Join(lowering, [body, *handlers])
    left = unite(lowering, join, emit)
    join.decided_by(Taken(position[0], is_number=True)) if position else None
    return with_else(lowering, node, left, position[0], handlers)


# ---- bodies that always fail ---------------------------------------------------------------------


@contextmanager
def catching(lowering: Lowering, node: gast.Try, errors: list[form.Handled]) -> Iterator[None]:
    """While the body is lowered: what the types decide is raised, for a handler is there."""
    pairs = zip(errors, node.handlers, strict=True)
    plain = [each.kinds for each, handler in pairs if not _goes_on(handler)]
    lowering.caught.append(tuple(kind for kinds in plain for kind in kinds))
    try:
        yield
    finally:
        lowering.caught.pop()


def _goes_on(handler: gast.ExceptHandler) -> bool:
    """Whether the handler raises again what it has caught."""
    raises = (each for each in gast.walk(handler) if isinstance(each, gast.Raise))
    return any(each.exc is None for each in raises)


def certain_handler(
    lowering: Lowering, node: gast.Try, errors: list[form.Handled], body: Path
) -> gast.ExceptHandler | None:
    """The handler that runs whatever the values are: the body ends with an exception that is known,
    and nothing before it may raise."""
    *before, last = body.body
    kind = form.raised_class(last) if body.stops else None
    if kind is None:
        return None
    if any(may_raise(each, lowering.builder.fact_of) for each in before):
        return None
    pairs = zip(errors, node.handlers, strict=True)
    handler = next((each for caught, each in pairs if issubclass(kind, caught.kinds)), None)
    return None if handler is None or _goes_on(handler) else handler


def always_failed(
    lowering: Lowering, run: Callable[[], Exits], handler: gast.ExceptHandler
) -> Exits:
    """What a body did before it raised, and then the handler."""
    frames, error = len(lowering.frames), None
    try:
        run()
    except Raises:
        error = getattr(form.raised(lowering.builder.body.pop()), "exc", None)
    del lowering.frames[frames:]
    return run_handler(lowering, handler, error)


def with_else(
    lowering: Lowering, node: gast.Try, left: Exits, position: Symbol, handlers: list[Path]
) -> Exits:
    """The else clause, which runs where the body came to its end."""
    if not node.orelse:
        return left

    def run() -> Exits:
        return go_on(lowering, left, lambda: lowering.run(node.orelse))

    if not any(each.left is CONTINUE for each in handlers):
        return run()
    return branch(lowering, lowering.call(operator.eq, position, 0), run, lambda: left)


def errors_of(lowering: Lowering, node: gast.ExceptHandler) -> tuple:
    """The classes of exceptions that a handler is for."""
    if node.type is None:
        return (BaseException,)
    value = lowering.evaluate(node.type)
    kinds = tuple(map(unwrap, value.items)) if isinstance(value, Tree) else (unwrap(value),)
    if not all(isinstance(each, type) and issubclass(each, BaseException) for each in kinds):
        raise lowering.refuse(node, "an 'except' of something that is not a class of exceptions")
    return kinds


def handled(
    lowering: Lowering,
    node: gast.Try,
    handler: gast.ExceptHandler,
    caught: form.Handled,
    changed: list,
) -> Exits:
    """Run a handler on what held before the body."""
    names, origin = lowering.frame.locals, lowering.builder.origin
    for each in half_done(node) & names.keys():
        names[each] = Unreadable(
            f"the value of {each!r} after a 'try' body that may have failed before or after it "
            "was assigned",
            "assign it in the last statement of the body, or in the handler",
        )
    for each in changed:
        what = "what a 'try' body changed, which may have failed before or after that,"
        lowering.memory.assign(each, Poison(what, origin, "how far it came is not known"))
    return run_handler(lowering, handler, form.constant(caught))


def run_handler(lowering: Lowering, handler: gast.ExceptHandler, shown: gast.AST | None) -> Exits:
    """The statements of a handler; `shown` is the expression for what it has caught."""
    names = lowering.frame.locals
    if handler.name is not None:
        names[handler.name.id] = Caught(shown, errors_of(lowering, handler))
    left = lowering.run(handler.body)
    if handler.name is not None:
        lowering.frame.locals.pop(handler.name.id, None)
    return left


def changed_early(lowering: Lowering, node: gast.Try, body: Path) -> list:
    """The objects that the body may or may not have changed where it failed."""
    *before, last = up_to_last(node.body)
    stored = values_of_change(last)
    if not body.changed or stored is None:
        return [each for each, _ in body.changed.values()]
    plain: list[bool] = []

    def all_but_the_change() -> Exits:
        left = lowering.run(before)
        if left is CONTINUE:
            plain.append(_is_plain_change(lowering, last))
            for each in stored:
                lowering.evaluate(each)
        return left

    early = look(lowering, all_but_the_change)
    return [each for each, _ in (early if all(plain) else body).changed.values()]


def failing(lowering: Lowering, kinds: Sequence[type]) -> Callable[[form.Statement], bool]:
    """Which statements may raise an exception of one of some classes."""
    return lambda statement: _may_raise_one_of(kinds, statement, lowering.builder.fact_of)


def _may_raise_one_of(kinds: Sequence[type], statement: form.Statement, fact: Callable) -> bool:
    """Whether a statement may raise an exception of one of some classes, or of one below."""
    if isinstance(statement, form.Effect):
        return _are_related(kinds, _raised_by(statement))
    compound = compound_of(statement)
    if compound is None:
        return may_raise(statement, fact) and _are_related(kinds, _classes_of(statement, fact))
    inside = [compound, *reached(compound.blocks)]
    if any(getattr(each, "is_stub", False) for each in inside):
        return True  # of a function that is not known yet anything may
    return not compound.marker and any(
        _may_raise_one_of(kinds, each, block.fact)
        for one in inside
        for block in one.blocks
        for each in block.body
        if compound_of(each) is None
    )


def _classes_of(statement: form.Op, fact: Callable) -> tuple[type[BaseException], ...]:
    """Of which classes exceptions are that an operation raises."""
    if is_watched(statement):
        return (*statement.rule.raises, FloatingPointError, Warning)
    rule, facts = statement.rule, (fact(form.name(each)) for each in statement.reads)
    return BY_VALUES if rule.typed and all(map(_is_typed, facts)) else rule.raises


def _is_typed(fact: Any) -> bool:
    """Whether nothing about the type of a value is left open."""
    if isinstance(fact, values.Array):
        return fact.dtype is not None and fact.shape is not None
    return isinstance(fact, values.Scalar | values.List)


def _raised_by(statement: form.Effect) -> tuple[type[BaseException], ...]:
    """Of which classes exceptions are that an effect raises, printing among them."""
    found: list[type[BaseException]] = [*ORDINARY, AssertionError, OSError, Warning]
    for each in gast.walk(statement.node):
        if isinstance(each, gast.Raise):
            kind = each.exc.func if isinstance(each.exc, gast.Call) else each.exc
            kind = getattr(kind, "value", None)
            is_known = isinstance(kind, type) and issubclass(kind, BaseException)
            found.append(kind if is_known else BaseException)
    return (*found,)


def _are_related(kinds: Sequence[type], raised: Sequence[type]) -> bool:
    """Whether an exception of one of these classes may be of one of the others.

    What is no Exception, like KeyboardInterrupt, comes from outside, at any time.
    """
    return any(
        not issubclass(kind, Exception) or issubclass(kind, each) or issubclass(each, kind)
        for kind in kinds
        for each in raised
    )


def _changes_last(fails: Callable, body: Path, content: Any, at: int) -> bool:
    """Whether nothing raises once an object holds `content`, which it does after `at` statements.

    A loop that made it, or a function, may have raised when half of that was done.
    """
    names = {content} if isinstance(content, str) else {each.name for each in symbols(content)}
    items = {each.target: item[0] for each in body.body if (item := item_of(each))}
    makers = {name for name in (*names, *map(items.get, names)) if name}
    return not any(map(fails, body.body[at:])) and not any(
        each.target in makers and fails(each)
        for each in body.body[:at]
        if compound_of(each) is not None
    )


def _is_plain_change(lowering: Lowering, node: gast.stmt) -> bool:
    """Whether the change that the statement makes runs no code of the user's."""
    if isinstance(node, gast.Expr):
        return _stores_at_once(lowering, node.value.func)
    (target,) = [node.target] if isinstance(node, UPDATES) else node.targets
    if isinstance(node, gast.AugAssign) and class_of(lowering.evaluate(_loaded(target))):
        return False
    if isinstance(target, gast.Subscript):
        holder = lowering.evaluate(target.value)
        return isinstance(holder, Reference) or _is_container(holder)
    if isinstance(target, gast.Attribute):
        kind = class_of(lowering.evaluate(target.value)) or object
        return not isinstance(method_of(kind, target.attr), property)
    return True


def _stores_at_once(lowering: Lowering, function: gast.expr) -> bool:
    """Whether what is called looks at all that it is given before it stores anything.

    So do NumPy's functions, and the methods of arrays, lists, dicts and sets.
    """
    if isinstance(function, gast.Attribute):
        value = unwrap(lowering.evaluate(function.value))
        if isinstance(value, Reference | np.ufunc):
            return True
        if _is_container(value):
            return function.attr in CHANGES
    called = unwrap(lowering.evaluate(function))
    hashable = isinstance(called, Hashable)
    return hashable and (called in STORING or rule_for(called) is not None)


def _is_container(value: Any) -> bool:
    return getattr(value, "kind", None) in (dict, list, set)


def _loaded(target: gast.AST) -> gast.AST:
    """What is assigned to, as it is read."""
    fields = {name: getattr(target, name, None) for name in target._fields}
    return gast.copy_location(type(target)(**fields | {"ctx": gast.Load()}), target)


# ---- finally -------------------------------------------------------------------------------------


def with_finally(lowering: Lowering, node: gast.Try) -> Exits:
    """The last clause runs whatever way the others are left; also where an exception goes on."""
    if next(iter(leavers(node.finalbody)), None) is not None:
        raise lowering.refuse(node, "a 'return', 'break' or 'continue' in a 'finally'")
    inner = node.body
    if node.handlers:
        made = gast.Try(node.body, node.handlers, node.orelse, [])
        inner = [gast.copy_location(made, node)]
    if any(isinstance(each, gast.Expr | gast.Assert | gast.If) for each in node.finalbody):
        text = "try:\n    B\nexcept:\n    F\n    raise"
        inner = quote(text, node, {"B": inner, "F": node.finalbody})
    left = _before_finally(lowering, inner, node.finalbody)
    flags = {name: lowering.frame.locals.get(name, False) for name in FLAGS}
    lowering.run(node.finalbody)
    lowering.frame.locals |= flags
    return left


def _before_finally(lowering: Lowering, body: list[gast.stmt], last: list[gast.stmt]) -> Exits:
    """Run what a last clause follows; what is certain to raise is followed by it, too."""
    frames = len(lowering.frames)
    try:
        return lowering.run(body)
    except Raises:
        del lowering.frames[frames:]
        raised = lowering.builder.body[-1]
        if form.raised(raised) is not None:  # else it is in what was kept of the body
            lowering.builder.body.pop()
            lowering.run(last)
            lowering.builder.body.append(raised)
        raise
