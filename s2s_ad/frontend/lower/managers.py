"""with: the user's own context managers, classes and functions under contextlib.contextmanager.

What a manager does at the end is a statement of its own, put behind the body as a `finally` is.
"""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import gast

from s2s_ad.core import form
from s2s_ad.core.callee import has_effect
from s2s_ad.diagnostics import UnsupportedError
from s2s_ad.frontend.lower.attempt import with_finally
from s2s_ad.frontend.lower.attributes import read_attribute
from s2s_ad.frontend.lower.calls import HANDLERS, apply, arguments_of
from s2s_ad.frontend.lower.classes import CLOSURE, is_written, method_of
from s2s_ad.frontend.lower.conditions import known_truth
from s2s_ad.frontend.lower.containers import new_dict
from s2s_ad.frontend.lower.core import CONTINUE, Lowering
from s2s_ad.frontend.lower.desugar import quote
from s2s_ad.frontend.lower.effects import each_on_its_path
from s2s_ad.frontend.lower.entries import put_entry
from s2s_ad.frontend.lower.exits import Exits, Raises, always_leaves
from s2s_ad.frontend.lower.functions import MakesManagers
from s2s_ad.frontend.lower.generators import frame_of
from s2s_ad.frontend.lower.nonlocals import share
from s2s_ad.frontend.lower.objects import class_of
from s2s_ad.frontend.lower.paths import look
from s2s_ad.frontend.lower.picked import is_picked
from s2s_ad.frontend.lower.references import Box
from s2s_ad.frontend.lower.statements import bind
from s2s_ad.frontend.resolve import Frame, unwrap
from s2s_ad.frontend.source import source_of


def leave_context(lowering: Lowering, args: list, kwargs: dict[str, Any]) -> None:
    """The handler of itself: what a context manager does when its body is left."""
    (leave,) = args
    leave()


HANDLERS[leave_context] = leave_context


def under_manager(lowering: Lowering, node: gast.With, item: gast.withitem) -> Exits | None:
    """The body under a manager of the user's; None where the expression is none."""
    with lowering.placed(item.context_expr):
        manager = lowering.evaluate(item.context_expr)
        if isinstance(manager, Manager):
            entered, leave, protected = _entered(lowering, manager)
        else:
            if is_picked(manager):
                return lowering.run(each_on_its_path(node, manager, functools.partial(_of, node)))
            kind = class_of(manager)
            if not is_written(kind, "__enter__"):
                return None
            entered = apply(lowering, read_attribute(lowering, manager, "__enter__"), [], {})
            leave, protected = _exit_of(lowering, manager, kind), True
    if item.optional_vars is not None:
        bind(lowering, item.optional_vars, entered)
    if protected and _has_effect(lowering, leave):
        parts = {"L": form.constant(leave_context), "A": form.constant(leave)}
        made = gast.Try(node.body, [], [], quote("L(A)", node, parts))
        return with_finally(lowering, gast.copy_location(made, node))
    try:
        left = lowering.run(node.body)
    except Raises:
        if protected:
            leave()
        raise
    leave()
    return left


def _of(node: gast.With, manager: Any) -> gast.With:
    """The statement with one of the managers that it may be of."""
    item = gast.withitem(form.constant(manager), node.items[0].optional_vars)
    return gast.copy_location(gast.With([item], node.body), node)


def _has_effect(lowering: Lowering, leave: Callable[[], None]) -> bool:
    """Whether the end of the context prints or raises: that is seen after an exception, too.

    What it changes is not: a handler may not read what changed before an exception reached it.
    """

    def left() -> Exits:
        leave()
        return CONTINUE

    return any(map(has_effect, look(lowering, left).body))


# ---- classes -------------------------------------------------------------------------------------


def _exit_of(lowering: Lowering, manager: Any, kind: type) -> Callable[[], None]:
    """`__exit__`, which is not told of an exception, and lets it go on."""
    method = method_of(kind, "__exit__")
    own = getattr(method, CLOSURE, None)  # of a class that is defined in the function
    definition = own.node if own is not None else source_of(method).node
    given = definition.args
    told = {each.id for each in [*given.posonlyargs, *given.args][1:]}
    told |= {given.vararg.id} if given.vararg is not None else set()
    nodes = (each for line in definition.body for each in gast.walk(line))
    if any(isinstance(each, gast.Name) and each.id in told for each in nodes):
        raise UnsupportedError(
            "S2S201",
            f"'with' of a {kind.__name__}, whose __exit__ asks for the exception",
            why="which one it is, if any, is not known when code is generated",
            help="write 'try' and 'except'",
        )

    def leave() -> None:
        result = apply(lowering, read_attribute(lowering, manager, "__exit__"), [None] * 3, {})
        if known_truth(result) is not False:
            raise UnsupportedError(
                "S2S201",
                f"'with' of a {kind.__name__}, whose __exit__ may swallow an exception",
                help="write 'try' and 'except'",
            )

    return leave


# ---- functions -----------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Manager:
    """What a call of a function under contextlib.contextmanager gives; `state` says whether it was
    entered, which Python does once."""

    in_python: ClassVar[str] = "_GeneratorContextManager"

    frame: Frame
    state: Box

    def holds(self) -> tuple:
        return (*self.frame.arguments.values(), self.state)

    def enter(self, lowering: Lowering) -> None:
        if self.state.known().get("entered") is not False:
            raise UnsupportedError(
                "S2S201",
                f"'with' of what {self.frame.source.name} gave, for the second time",
                why="Python enters it once",
                help="call the function again",
            )
        put_entry(lowering, self.state, "entered", True)


def _manager(lowering: Lowering, args: list, kwargs: dict[str, Any]) -> Manager:
    """A call of such a function, of which nothing runs before a `with` enters it."""
    function, args = args[0].function, args[1:]
    frame = frame_of(lowering, function)
    frame.arguments = arguments_of(lowering, function, args, kwargs)
    return Manager(frame, new_dict(lowering, {"entered": False}))


def _entered(lowering: Lowering, manager: Manager) -> tuple[Any, Callable[[], None], bool]:
    """What it yields, what runs after that, and whether that runs after an exception, too."""
    manager.enter(lowering)
    frame = manager.frame
    before, given, after, protected = _at_yield(lowering, frame.source.node)
    frame.locals.update(frame.arguments)

    def run(body: list[gast.stmt], value: gast.AST | None = None) -> Any:
        lowering.frames.append(frame)
        try:
            lowering.run(body)
            return None if value is None else lowering.evaluate_any(value)
        finally:
            lowering.frames.pop()

    share(lowering, frame)
    return run(before, given), lambda: run(after), protected


HANDLERS[MakesManagers] = _manager
HANDLERS[contextlib.contextmanager] = lambda lowering, args, kwargs: MakesManagers(
    *map(unwrap, args)
)


def _at_yield(
    lowering: Lowering, node: gast.FunctionDef
) -> tuple[list[gast.stmt], gast.AST | None, list[gast.stmt], bool]:
    """The statements before the one `yield`, what it gives, and those after it."""
    for i, each in enumerate(node.body):
        before, after = node.body[:i], node.body[i + 1 :]
        if _is_yield(each):
            found = before, each.value.value, after, False
        elif isinstance(each, gast.Try) and not (each.handlers or each.orelse):
            if not (_is_yield(each.body[-1]) and len(each.body) == 1):
                continue
            found = before, each.body[0].value.value, [*each.finalbody, *after], True
        else:
            continue
        if not any(_yields_or_leaves(one) for one in (*found[0], *found[2])):
            return found
    raise UnsupportedError(
        "S2S201",
        f"'with' of {node.name}, whose 'yield' does not stand by itself",
        why="what is before it and after it runs around the body of the 'with'",
        help="let it have one 'yield' at its top, or alone in a 'try' with a 'finally'",
    )


def _is_yield(node: gast.stmt) -> bool:
    return isinstance(node, gast.Expr) and isinstance(node.value, gast.Yield)


def _yields_or_leaves(node: gast.stmt) -> bool:
    kinds = gast.Yield | gast.YieldFrom | gast.Return
    return any(isinstance(each, kinds) for each in gast.walk(node))


# ---- contextlib.suppress -------------------------------------------------------------------------


def suppressed(lowering: Lowering, node: gast.With, item: gast.withitem) -> Exits:
    """`with suppress(Error): ...` is a `try` whose handler does nothing."""
    if always_leaves(node.body) or item.context_expr.keywords:
        raise lowering.refuse(
            node, "'with suppress(...)' around what leaves the function", "write 'try' and 'except'"
        )
    kinds = gast.Tuple(item.context_expr.args, gast.Load())
    handler = gast.ExceptHandler(kinds, None, [gast.Pass()])
    made = gast.Try(node.body, [handler], [], [])
    for each in (kinds, handler, handler.body[0], made):
        gast.copy_location(each, node)
    return lowering.run([made])
