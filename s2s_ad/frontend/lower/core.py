"""The lowering walk: dispatch on node types, frames of functions, and what an error says.

While a function is lowered its values are Symbols (known by abstract value only), Python objects
(known), Trees (containers of these), Captured objects and Closures.
"""

from __future__ import annotations

import dataclasses
import operator
import types
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import gast

from s2s_ad.core import faults, form, sizes, tree
from s2s_ad.core.builder import Builder, NeedStatic, Symbol
from s2s_ad.core.program import TEMPORARY
from s2s_ad.core.tree import Tree
from s2s_ad.diagnostics import (
    EndlessError,
    LengthError,
    NestingError,
    Origin,
    S2SError,
    UnsupportedError,
)
from s2s_ad.frontend.lower.caught import Caught
from s2s_ad.frontend.lower.chosen import Choices
from s2s_ad.frontend.lower.classes import CLOSURE
from s2s_ad.frontend.lower.entries import may_lack, there_for_sure
from s2s_ad.frontend.lower.exits import (
    CONTINUE,
    MAYBE,
    RESULT,
    Exits,
    Raises,
    leave,
    structured,
)
from s2s_ad.frontend.lower.heap import Memory, settled
from s2s_ad.frontend.lower.lifting import free_values
from s2s_ad.frontend.lower.meeting import unless_left
from s2s_ad.frontend.lower.nonlocals import owner_of, read_shared, share
from s2s_ad.frontend.lower.optional import (
    MISSING,
    Assumptions,
    is_optional,
    is_uncertain,
)
from s2s_ad.frontend.lower.outline import call_key, calls_itself, keeps_name, outlined_call
from s2s_ad.frontend.lower.picked import is_picked
from s2s_ad.frontend.lower.poisons import Unjoined, is_unreadable
from s2s_ad.frontend.lower.references import Poison, symbols
from s2s_ad.frontend.lower.refused import (
    did_you_mean,
    meant_attribute,
    refusal,
    refused_foreign,
)
from s2s_ad.frontend.lower.tail_duplication import branch_and_rest, decides
from s2s_ad.frontend.lower.views import given
from s2s_ad.frontend.resolve import Captures, Frame, Unassigned, unwrap
from s2s_ad.frontend.source import Source, source_of
from s2s_ad.rules.elementwise import UnfitTypes
from s2s_ad.rules.real_powers import check_powers
from s2s_ad.rules.unpacking import unpacking

EXPRESSIONS: dict[type, Callable[[Lowering, Any], Any]] = {}
#: functions that are evaluated while lowering: function -> handler(lowering, args, kwargs)
HANDLERS: dict[Any, Callable] = {}
STATEMENTS: dict[type, Callable[[Lowering, Any], Any]] = {}
#: the handler of a call that may print, warn or log, which says whether it does
EFFECT = "a call that prints, warns or logs"

DEEPEST = 1000  # functions that are written in place inside of each other
MOST_OPEN = 8  # calls of one function inside of each other
ASK = "ask first: if x is not None"
NOT_ASSOCIATED = "cannot access local variable {!r} where it is not associated with a value"


def expression(*kinds: type) -> Callable:
    """Register the handler of some expression nodes."""
    return lambda handler: [EXPRESSIONS.update({kind: handler}) for kind in kinds] and handler


def statement(*kinds: type) -> Callable:
    """Register the handler of some statement nodes."""
    return lambda handler: [STATEMENTS.update({kind: handler}) for kind in kinds] and handler


def _kind(node: gast.stmt) -> type:
    """The kind of a statement in the tables: what was made while lowering may be a subclass."""
    kind = type(node)
    return kind if kind in STATEMENTS else kind.__base__ or kind


class StaticNeeded(Exception):
    """A rule needs the value of some inputs: (parameter, path) of each, and what to say else."""

    def __init__(self, inputs: list[tuple[str, tree.Path]], error: S2SError):
        self.inputs, self.error = inputs, error
        super().__init__(str(error))


class CallsItself(Exception):
    """A function that was written in place turned out to call itself, through others."""

    def __init__(self, node: gast.AST, error: S2SError):
        self.node, self.error = node, error
        super().__init__(str(error))


#: what Python and NumPy raise of arguments that do not fit
REFUSALS = (ArithmeticError, AttributeError, LookupError, TypeError, ValueError)


def _passes(error: Exception) -> bool:
    """Whether an exception leaves the compiler as it is."""
    if isinstance(error, UnfitTypes):
        return False
    return faults.is_meant(error) or (
        not isinstance(error, REFUSALS) and faults.is_of_user_code(error)
    )


def _raise(error: Exception) -> gast.Raise:
    call = gast.Call(form.constant(type(error)), list(map(form.constant, error.args)), [])
    return gast.Raise(call, None)


class Placed:
    """Around the lowering of a node: operations emitted inside, and errors raised, belong to it.

    It is entered for each node, and a generator would take three times as long.
    """

    __slots__ = ("before", "builder", "lowering", "origin")

    def __init__(self, lowering: Lowering, origin: Origin):
        self.lowering, self.builder, self.origin = lowering, lowering.builder, origin

    def __enter__(self) -> None:
        self.before = self.builder.origin
        self.builder.origin = self.origin

    def __exit__(self, kind: type | None, error: BaseException | None, traceback: Any) -> None:
        try:
            meant = None if error is None else self.lowering.error_at(error, self.origin)
            if meant is not None and meant is not error:
                raise meant from meant.__cause__
        finally:
            self.builder.origin = self.before


class Lowering:
    """The state while one function, with the helpers it calls, is lowered.

    Args:
        static: keys of the captured numbers that are part of the code (see `Captures`).
        apart: where the loops stand that are written out, for what they make has to be known.
        recursive: definitions that are known to call themselves through others.
        follows: let stores follow arrays that are others on other paths, by a branch on the path.
        tells_apart: objects, lists and dicts that are others on other paths stay the objects that
            they are: what is done with them is done with the one that it is.
        lacks_entries: let dicts and objects have entries on some paths only; other ways to know
            which there are have failed.
        real_powers: powers of Python's numbers are checked to be real (see `rules/real_powers`).
        knows_arrays: what is computed of constants alone is known (see `core/known_arrays`).
        refused: why the function was refused while conditions on captured numbers, or on whole
            numbers among the arguments, were open; now branches have to know these.
        lengths: they have to know lengths of arguments, too.
        passes: they have to know what the passes of loops make of such numbers, too.
        stepwise: generator functions that run from one item to the next, where it is asked for.
    """

    def __init__(
        self,
        static: frozenset[tuple] = frozenset(),
        apart: frozenset[tuple] = frozenset(),
        recursive: frozenset[gast.AST] = frozenset(),
        lacks_entries: bool = False,
        follows: bool = False,
        tells_apart: bool = False,
        real_powers: bool = False,
        refused: S2SError | None = None,
        lengths: bool = False,
        passes: bool = False,
        stepwise: frozenset[gast.AST] = frozenset(),
        knows_arrays: bool = False,
    ) -> None:
        self.stepwise = stepwise
        self.decides_lengths, self.decides_passes = lengths, passes
        self.left_to_passes = False  # whether a condition was open that passes of a loop decide
        self.known_by: dict[str, frozenset[str] | None] = {}  # see `may_be_known`
        self.refused, self.decides, self.branches = refused, refused is not None, False
        self.apart, self.recursive, self.lacks_entries = apart, recursive, lacks_entries
        self.rolled: dict[str, tuple] = {}  # what a loop left that could be written out, and where
        self.sharing: dict[tuple, Sequence] = {}  # loops that left aliases: where, and their bounds
        self.builder = Builder(merge=False)  # the user's statements stay as they were written
        if knows_arrays:
            self.builder.known = {}
        if real_powers:
            check_powers(self.builder)
        self.memory = Memory(self.builder)
        self.memory.choices = Choices(self) if follows or tells_apart else None
        self.memory.tells_apart = tells_apart
        self.lumped = False  # whether objects that could be told apart were taken for one value
        self.assumptions = Assumptions()
        self.partial: set[str] = set()  # values that are not there on some paths
        self.captures = Captures(self.builder, static, self.memory.captured)
        self.frames: list[Frame] = []
        self.left: Any = None  # the frame that was left last
        self.root = 0
        self.settings: tuple[tuple[str, str], ...] = ()  # of np.errstate, where it is entered
        #: the settings outside of the context by which filters of warnings are put back
        self.filters: tuple[tuple[str, str], ...] | None = None
        self.written_twice = 0  # see `tail_duplication`
        self.derived = False  # a derivative was written in place
        self.needed_at: Origin | None = None
        self.unfit: tuple[LengthError, Origin] | None = None  # that a path raises, the last one
        #: helpers that keep their name, with what they were called with first, by kind of call
        self.outlined: dict[Any, tuple] = {}
        self.exact: dict[Any, Any] = {}  # functions whose integers tell calls of them apart
        self.open: dict[Any, Any] = {}  # the same, of those that are being lowered
        self.checkpoints: list[Any] = []  # functions that are, and are being lowered
        self.gave_none: list[gast.Call] = []  # calls that did, in the order that Python has
        self.outside: dict[tuple[int, str], Any] = {}  # names of modules that are assigned
        self.reads_ahead: Frame | None = None  # whose generator expression is run to its end
        self.caught: list[tuple] = []  # what the handlers of the `try`s around are for

    @property
    def frame(self) -> Frame:
        return self.frames[-1]

    def in_own(self) -> bool:
        """Whether a function of this library is lowered."""
        return bool(self.frames) and self.frame.is_own

    def call(self, function: Callable, *args: Any, **kwargs: Any) -> Any:
        """The operation(s) that a call of a function with a rule stands for."""
        result = self.builder.call(function, settled(args), settled(kwargs))
        return given(self.memory, function, args, kwargs, result)

    def unpacked(self, array: Symbol, count: int) -> list:
        """The items of an array along its first axis, as an assignment to so many names takes them.

        Each is what `array[index]` is: a number, or a view.
        """
        items = unpacking(count).items(self.builder, settled(array))
        getitem = operator.getitem
        return [
            given(self.memory, getitem, (array, index), {}, item)
            for index, item in enumerate(items)
        ]

    # ---- nodes

    def evaluate(self, node: gast.AST) -> Any:
        """The value of an expression that is used: it is not None where it may be."""
        value = self.evaluate_any(node)
        if not is_optional(value):
            return value
        with self.placed(node):
            return self.present(value)

    def evaluate_any(self, node: gast.AST) -> Any:
        """The value of an expression that is passed on, or compared with None."""
        handler = EXPRESSIONS.get(type(node))
        if handler is None:
            raise self.refuse(node)
        with self.placed(node):
            value = handler(self, node)
            if isinstance(value, Poison | Unjoined):
                raise value.error(self)
            return self.noted(self.assumptions.settled(value), value)

    def present(self, value: Any, shown: str = "") -> Any:
        """A value that is used: where it is None the function raises TypeError, as Python does."""
        known = self.assumptions.settled(value)
        if not is_optional(known):
            return self.noted(known, value)
        is_none, held = known.items
        hint = self.builder.hints.get(is_none.name, TEMPORARY).text
        shown = shown or (hint.removesuffix("_is_none") if hint.endswith("_is_none") else "")
        self.raise_where(is_none, TypeError(f"{shown or 'a value'} is None"))
        return self.noted(held, value)

    def raise_where(self, condition: Symbol, error: Exception) -> None:
        """Append a check: from here to the end of the path the condition is false."""
        check = gast.If(form.name(condition.name), [_raise(error)], [])
        self.builder.effect(check, {condition.name: condition})
        self.assumptions.assume(condition, False)

    def there_is_none(self, error: Exception) -> Exception:
        """What to raise for an item that a container lacks: Python raises this error there.

        On a path that may not be taken the error is written where it is taken.
        """
        if not self.memory.explores and not self.is_caught(error):
            return error
        return self._raised_here(error)

    def python_raises(self, error: Exception) -> Exception:
        """What to raise for what Python refuses for certain, by the types alone: in the body of a
        `try` that is for such errors the path raises it; elsewhere the code is refused."""
        return self._raised_here(error) if self.is_caught(error) else error

    def is_caught(self, error: Exception) -> bool:
        """Whether a handler around is for such errors."""
        return any(isinstance(error, kinds) for kinds in self.caught)

    def _is_reached(self) -> bool:
        """Whether what is lowered now runs in each call, and nothing before it can be noticed."""
        before = any(isinstance(each, form.Effect) for each in self.builder.body)
        return not self.memory.explores and not before

    def _raised_here(self, error: Exception) -> Exception:
        self.builder.effect(_raise(error), {})
        return Raises()

    @contextmanager
    def as_python(self) -> Iterator[None]:
        """Around what Python itself does with a container: what that raises, the path raises."""
        try:
            yield
        except (LookupError, ValueError) as error:
            raise self.there_is_none(error) from None

    def certain(self, value: Any, what: str) -> Any:
        """A value that is used where Python takes None, too: it has to be certain."""
        known = self.assumptions.settled(value)
        if not is_optional(known):
            return self.noted(known, value)
        raise UnsupportedError("S2S201", f"{what} a value that may be None", help=ASK)

    def noted(self, known: Any, value: Any) -> Any:
        """Note that what is certain of a value is not there on the other paths."""
        if is_uncertain(value) and known is not value:
            self.partial.update(each.name for each in symbols(settled(known)))
        if is_picked(value) and known is not value:
            parts = (each for each in symbols(known) if not is_unreadable(each))
            self.partial.update(each.name for each in parts)
        return known

    def run(self, body: list[gast.stmt]) -> Exits:
        """Lower statements up to the first that leaves; says whether what follows is reached."""
        for index, node in enumerate(body):
            if self._is_root():
                self.root = getattr(node, "lineno", self.root)
            if _kind(node) not in STATEMENTS:
                raise self.refuse(node)
            rest = body[index + 1 :]
            if rest and decides(node):
                return branch_and_rest(self, node, rest, self._run_one)
            result = self._run_one(node)
            if result is MAYBE and rest:
                return unless_left(self, lambda rest=rest: self.run(rest))
            if result is not CONTINUE:
                return result
        return CONTINUE

    def _is_root(self) -> bool:
        """Whether text names the lines of this function, not that of a call around it."""
        if len(self.frames) == 1 or self.frame.is_kept:
            return True
        return not self.frame.is_own and all(each.is_own for each in self.frames[:-1])

    def _run_one(self, node: gast.stmt) -> Exits:
        with self.placed(node):
            return STATEMENTS[_kind(node)](self, node)

    def placed(self, node: gast.AST) -> Placed:
        """Operations emitted inside, and errors raised, belong to this node."""
        return Placed(self, self.origin(node))

    def error_at(self, error: BaseException, origin: Origin) -> BaseException:
        """What to raise for an exception from the lowering of a node; itself where it says all.

        In a function of this library it stands nowhere: it is the user's call that is shown.
        """
        own = self.in_own()
        if isinstance(error, LengthError):
            raised = error.raises(f"{error.what}; {error.help}")
            if self._is_reached() and not self.is_caught(raised):
                return error if own else error.at(origin)
            self.unfit = self.unfit if own else (error, origin)
            return self._raised_here(raised)
        if isinstance(error, S2SError):
            return error.out_of(origin.file) if own else error.at(origin)
        if isinstance(error, NeedStatic):
            self.needed_at = self.needed_at or (None if own else origin)
            return error
        if isinstance(error, RecursionError):
            return self.too_deep(origin)
        if not isinstance(error, Exception) or _passes(error):
            return error
        explained = self.explained(error, None if own else origin)
        explained.__cause__ = error
        return explained

    def explained(self, error: Exception, origin: Origin | None) -> Exception:
        """What is said of a call that NumPy or Python would refuse, or of a fault of ours.

        What the types alone refuse is raised by the path, where there are others.
        """
        if isinstance(error, UnfitTypes):
            error = TypeError(*error.args).with_traceback(error.__traceback__)
            if self.memory.explores or self.is_caught(error):
                return self._raised_here(error)
        if isinstance(error, REFUSALS) and not faults.names_ours(error):
            what = f"{type(error).__name__}: {faults.in_words_of_python(error)}"
            why, help = "Python refuses this", meant_attribute(error)
            return UnsupportedError("S2S203", what, origin=origin, why=why, help=help)
        return faults.internal(error, origin)

    def too_deep(self, origin: Origin) -> S2SError:
        """Calls, or expressions, that are nested more deeply than Python's stack allows."""
        owner, source = self.frame.owner, self.frame.source
        if sum(frame.owner is owner for frame in self.frames) < MOST_OPEN:
            what = "an expression that is nested too deeply"
            return NestingError("S2S206", what, origin=origin, help="take it apart")
        return EndlessError(
            "S2S206",
            f"{source.name} calls itself with arguments of another structure each time",
            origin=source.origin(source.node),
            why="each call is written out, for a list that is longer is known to be another one",
            help="write the recursion as a loop that appends to the list",
        )

    def origin(self, node: gast.AST) -> Origin:
        return self.frame.source.origin(node, self.root, self.settings)

    def refuse(self, node: gast.AST, what: str = "", help: str = "") -> UnsupportedError:
        """The error for a construct that is not accepted."""
        default_what, default_help = refusal(type(node))
        return UnsupportedError(
            "S2S201", what or default_what, origin=self.origin(node), help=help or default_help
        )

    def lookup(self, node: gast.Name) -> Any:
        owner = owner_of(self.frame, node.id)
        if owner is not None:
            return read_shared(self, owner, node)
        try:
            value = self.frame.lookup(node.id, self.captures)
            if isinstance(value, Poison | Unjoined):
                raise value.error(self)
            if isinstance(value, Caught):
                return HANDLERS[Caught](self, [value], {})
            value = self.assumptions.settled(value) if may_lack(value) else value
            if value is MISSING or self._has_no_pass(node.id, value):
                raise Unassigned(node.id)
            error = UnboundLocalError(NOT_ASSOCIATED.format(node.id))
            return there_for_sure(self, value, error)
        except NameError:
            error: Exception = NameError(f"name {node.id!r} is not defined")
            what = f"the name {node.id!r} is not defined"
        except Unassigned:
            error = UnboundLocalError(NOT_ASSOCIATED.format(node.id))
            where = "after it was deleted" if self._deletes(node.id) else "before it is assigned"
            what = f"the local name {node.id!r} is read {where}"
        raises = self.there_is_none(error)  # Python does on this path, if it is taken
        if raises is not error:
            raise raises
        help = did_you_mean(node.id, {*self.frame.locals, *self.frame.globals} - {node.id})
        raise UnsupportedError("S2S202", what, origin=self.origin(node), **self.advice(help=help))

    def _deletes(self, name: str) -> bool:
        """Whether the function has a `del` of the name."""
        nodes = gast.walk(self.frame.source.node)
        targets = (
            target for each in nodes if isinstance(each, gast.Delete) for target in each.targets
        )
        return any(getattr(each, "id", None) == name for each in targets)

    def advice(self, why: str = "", help: str = "") -> dict[str, str]:
        """What is said of what nothing comes to: that lengths do not fit on the way, if so."""
        if self.unfit is None:
            return {"why": why, "help": help}
        error, origin = self.unfit
        return {"why": f"on the way there, {origin.place}: {error.what}", "help": error.help}

    def _has_no_pass(self, name: str, value: Any) -> bool:
        """Whether only the passes of a loop assign the local, and the call has none."""
        known, span = self.frame.of_passes.get(name, (None, None))
        return span is not None and known is value and sizes.positive(span) is False

    # ---- functions

    def enter(self, function: types.FunctionType, arguments: dict[str, Any]) -> Any:
        """The value of a call of a Python function, written in place."""
        own = getattr(function, CLOSURE, None)
        if own is not None:
            return self.enter_closure(own.new_frame(), arguments)
        try:
            return self._entered(function, arguments)
        except S2SError as error:
            first = unwrap(next(iter(arguments.values()), None))
            kind = first.kind if isinstance(first, Tree) else type(first)
            foreign = refused_foreign([] if isinstance(first, Symbol) else [kind])
            if foreign is None:
                raise
            raise foreign.at(self.builder.origin) from error

    def _entered(self, function: types.FunctionType, arguments: dict[str, Any]) -> Any:
        source = source_of(function)
        cells = self.captures.cells_of(function)
        frame = Frame(function, source, function.__globals__, cells)
        self.captures.runs(function)
        own = frame.is_own and not getattr(function, "__s2s_kept__", False)
        if not own and (self._calls_itself(source) or (self.frames and keeps_name(source))):
            return self._enter_kept(frame, arguments)
        return self.enter_frame(frame, arguments)

    def enter_closure(self, frame: Frame, arguments: dict[str, Any]) -> Any:
        """The value of a call of a function of the function that is lowered."""
        if self._calls_itself(frame.source):
            return self._enter_kept(frame, arguments)
        free = free_values(frame) if keeps_name(frame.source) and not frame.is_own else None
        given = arguments if free is None else arguments | free
        if free is None or call_key(self, frame.owner, given)[1] is None:
            return self.enter_frame(frame, arguments)
        return self._enter_kept(frame, given)

    def _calls_itself(self, source: Source) -> bool:
        """Whether a named function calls itself, directly or, as was found out, through others."""
        named = isinstance(source.node, gast.FunctionDef)
        return named and (source.node in self.recursive or calls_itself(source))

    def _enter_kept(self, frame: Frame, arguments: dict[str, Any]) -> Any:
        root, frame.is_kept, start = self.root, True, len(self.builder.body)
        known, self.assumptions.known = self.assumptions.known, {}  # other calls know other things
        try:
            with self.under(self.raising):  # the others hold where it is called
                result = outlined_call(self, frame, arguments)
        finally:
            self.root, self.assumptions.known = root, known
        self.builder.body[start:] = map(self._settled, self.builder.body[start:])
        return result

    @contextmanager
    def under(self, settings: tuple[tuple[str, str], ...]) -> Iterator[None]:
        """What is lowered inside runs under these settings of np.errstate."""
        before, self.settings = self.settings, settings
        try:
            yield
        finally:
            self.settings = before

    @property
    def raising(self) -> tuple[tuple[str, str], ...]:
        """The settings by which operations raise, which is part of what a function does."""
        return tuple(each for each in self.settings if each[1] == "raise")

    def _settled(self, statement: form.Statement) -> form.Statement:
        """The statement under the settings that hold now."""
        if not self.settings or statement.origin is None:
            return statement
        settings = dict(self.settings) | dict(statement.origin.settings)
        origin = dataclasses.replace(statement.origin, settings=tuple(settings.items()))
        return statement.at(origin, statement.phase)

    def result_of(self, left: Exits) -> Any:
        """What the function returns, whose body was left in this way."""
        if left is MAYBE:
            unless_left(self, lambda: leave(self.frame.locals, None))
        if left is not CONTINUE and RESULT not in self.frame.locals:
            raise UnsupportedError(
                "S2S201",
                f"{self.frame.source.name} never returns",
                origin=self.frame.source.origin(self.frame.source.node),
                **self.advice(
                    "it has a loop that nothing ends: while True without break or return",
                    "let the loop end",
                ),
            )
        value = None if left is CONTINUE else self.frame.locals[RESULT]
        if isinstance(value, Poison | Unjoined):
            raise value.error(self)
        return value

    def enter_frame(self, frame: Frame, arguments: dict[str, Any]) -> Any:
        node = frame.source.node
        again = not frame.is_kept and self._is_inside(frame, arguments)
        if len(self.frames) > DEEPEST or again:
            error = UnsupportedError(
                "S2S206",
                f"{frame.source.name} calls itself",
                origin=self.builder.origin,
                why="a function that is written in place cannot",
                help="define it with def at the top of a module",
            )
            named = isinstance(node, gast.FunctionDef) and node not in self.recursive
            raise CallsItself(node, error) if named else error
        frame.arguments = arguments
        frame.locals.update(arguments)
        self.frames.append(frame)
        try:
            share(self, frame)
            if frame.scope.refused is not None:
                raise self.refuse(frame.scope.refused)
            if isinstance(node, gast.Lambda):
                return self.evaluate_any(node.body)
            return self.result_of(self.run(structured(node)))
        finally:
            self.left = self.frames.pop()

    @contextmanager
    def with_its_result(self) -> Iterator[None]:
        """Around what is done with the result of the function, which has been left."""
        self.frames.append(self.left)
        try:
            yield
        finally:
            self.frames.pop()

    def _is_inside(self, frame: Frame, arguments: dict[str, Any]) -> bool:
        """Whether a call of the same form is being lowered: with other objects it is another.

        A function of this library that the user's calls again is none: who calls without end is
        the user's.
        """
        around = [each for each in self.frames if each.owner is frame.owner]
        if around and frame.is_own:
            since = self.frames[self.frames.index(around[-1]) :]
            around = around if all(each.is_own for each in since) else []
        form_of_call = call_key(self, frame.owner, arguments)[0] if around else None
        return any(
            form_of_call is None or call_key(self, each.owner, each.arguments)[0] == form_of_call
            for each in around
        )
