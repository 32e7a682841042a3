"""Loops that stay loops: what a pass hands to the next is found by lowering the pass.

Each value that may change enters the pass as a new name with the facts that hold before the loop.
Where they do not hold after the pass, the facts are joined and the pass is lowered again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from s2s_ad.core import form, sizes, values
from s2s_ad.core.builder import NeedStatic, Symbol, fresh_name, to_node
from s2s_ad.core.callee import has_effect
from s2s_ad.core.program import Hint
from s2s_ad.core.regions import Loop, index_size
from s2s_ad.core.sharing import lazy
from s2s_ad.core.tree import Tree
from s2s_ad.core.values import UNDEFINED
from s2s_ad.diagnostics import SharedMemoryError, UnsupportedError
from s2s_ad.frontend.lower.carrying import Carrying
from s2s_ad.frontend.lower.exits import BREAK, CONTINUE, FLAGS, RESULT, RETURN, Exits, is_users
from s2s_ad.frontend.lower.iteration import ENDLESS
from s2s_ad.frontend.lower.joins import joined_array
from s2s_ad.frontend.lower.kinds import Alike, Kinds, Leaf, hint_of, hint_of_name
from s2s_ad.frontend.lower.optional import (
    MISSING,
    Lacking,
    is_partial,
    optional,
    settled_by,
    whole,
)
from s2s_ad.frontend.lower.paths import Path, block, explore, free_names, look
from s2s_ad.frontend.lower.poisons import (
    Hole,
    Holes,
    StructureChanges,
    Unjoined,
    after_pass,
    is_unreadable,
)
from s2s_ad.frontend.lower.references import Box, Reference, is_rows, settled
from s2s_ad.frontend.lower.segments import Segmented, segmented
from s2s_ad.frontend.lower.templates import (
    fill,
    general,
    holds_content,
    is_equal,
    template_at_first,
    template_of,
)

if TYPE_CHECKING:
    from s2s_ad.frontend.lower.core import Lowering

MOST_ROUNDS = 8


@dataclass(frozen=True, slots=True)
class Test:
    """The condition of a `while`: its value, and how it is computed."""

    path: Path
    value: Any


@dataclass(frozen=True, slots=True)
class Rolled:
    """A loop that was emitted.

    Attributes:
        broke, returned: whether it was left by a break, or a return.
        endless: whether it can only be left by these, and by an exception.
        raises: whether it may raise, or does what is seen from outside.
        shares: whether it leaves an array of which it is not known whose memory it shares.
    """

    broke: Any
    returned: Any
    endless: bool
    raises: bool = False
    shares: bool = False


class TestChanges(Exception):
    """The condition of a `while` does more than to compute a value."""


class Rolling:
    """One loop while it is rolled.

    Args:
        run: lowers the body.
        bounds: start, stop and step of a `for`; None for a `while`.
        start: makes ready for a pass of a `for`, given the index.
        test: evaluates the condition of a `while`.
        bound: the names that the loop binds.
        updated: those of them that it only updates (`a += b`).
    """

    def __init__(
        self,
        lowering: Lowering,
        run: Callable[[], Exits],
        *,
        bounds: Sequence[Any] | None = None,
        start: Callable[[Symbol], None] | None = None,
        test: Callable[[], Any] | None = None,
        bound: Iterable[str] = (),
        updated: Iterable[str] = (),
        backwards: bool = False,
    ):
        self.lowering, self.run, self.start, self.test = lowering, run, start, test
        self.bounds = None if bounds is None else settled(tuple(bounds))
        self.backwards = backwards
        self.origin = lowering.builder.origin
        self.before = dict(lowering.frame.locals)
        self.names: dict[str, Any] = {}  # templates of the locals
        self.objects: dict[int, tuple[Any, Any]] = {}  # objects that change, and their templates
        self.index = fresh_name()
        self.leaves: dict[tuple, str] = {}  # by place in the templates; made anew for each round
        self.mine: set[str] = set()  # the leaves of all rounds
        self.schedule: Segmented | None = None  # of checkpoints
        self.ends: list[dict[tuple, Any]] = []  # what earlier rounds left in each place
        self.holes = Holes()  # what only an earlier pass can have assigned
        self.entered: dict[tuple, Any] = {}  # what the last pass started from, by place
        self.contents: list[dict[int, Any]] = []  # what earlier rounds left in each object
        self.links = 0  # how many there were at the start of the last pass
        self.clock = lowering.memory.tick()
        self.newest = sizes.newest()
        self.made: list[str] = []  # what the emitted loop leaves
        self._enter_names(bound, set(updated))

    def _enter_names(self, bound: Iterable[str], updated: set[str]) -> None:
        for name in bound:
            value = self.before.get(name, UNDEFINED)
            if isinstance(value, Hole):  # where no pass runs it stays what it is
                value.hand_on()
                value = self.before[name] = UNDEFINED
            if name in updated and isinstance(value, Reference) and value.number is False:
                self.carry_object(value.root)
            else:
                hint = hint_of_name(name)
                self.names[name] = self._at_first(value, hint)

    def _at_first(self, value: Any, hint: Hint) -> Any:
        return template_at_first(self.lowering.builder, value, hint, self.clock)

    def carry_object(self, each: Any) -> None:
        """Carry what an array or a container holds."""
        content = self.lowering.memory.content(each)
        hint = hint_of(self.lowering, each)
        self.objects[id(each)] = each, template_of(self.lowering.builder, content, hint)

    def explains(self, need: NeedStatic | StructureChanges) -> bool:
        """Whether nobody would ask if the passes were written one after the other."""
        if isinstance(need, StructureChanges):
            return need.source is self
        if isinstance(need, UnsupportedError):
            # of memory that may be shared, one pass is certain
            return isinstance(need, SharedMemoryError)
        return bool(self.mine & self.lowering.builder.ancestors(*need.names))

    # ---- rounds

    def roll(self) -> Rolled:
        """Emit the loop."""
        for _ in range(MOST_ROUNDS):
            self.leaves = {}
            test = None if self.test is None else self.tested()
            if test is not None and test.value is False:
                return Rolled(False, False, False)
            entered = self.entered = {}
            path = explore(self.lowering, lambda now=entered, test=test: self.one_pass(now, test))
            learned, ends = self.learns(path), self.ends_of(path)
            if self.shares_more(entered, ends) or learned or self.links_more(entered):
                self.ends.append(ends)
                self.contents.append({key: each for key, (_, each) in path.changed.items()})
                self.lowering.memory.bury(path.clock)
            else:
                return self.emit(path, test)
        error = StructureChanges(
            "S2S201",
            "a loop whose values are of another kind after each pass",
            origin=self.origin,
            help="give them the same dtype and the same number of dimensions in each pass",
        )
        error.source = self
        raise error

    def one_pass(self, entered: dict[tuple, Any], test: Test | None) -> Exits:
        self.enter(entered)
        if test is not None:
            self.lowering.assumptions.assume(test.value, True)
        self.links = len(self.lowering.memory.links)
        if self.start is not None:
            builder = self.lowering.builder
            index = builder.adopt(self.index, values.Scalar(int))
            builder.is_size(index, index_size(builder, self.bounds))
            self._depends(self.index, self.bounds)
            self.start(self.number(index))
        return self.run()

    def number(self, index: Any) -> Any:
        """The index of a pass, as a value of the user's code."""
        if not isinstance(index, Symbol):
            return index
        number = self.lowering.memory.fresh(index)
        number.number = True
        return number

    def enter(self, entered: dict[tuple, Any]) -> None:
        """Let names and objects have the values that a pass starts from."""
        others: list = []

        def visit(place: tuple, leaf: Leaf, before: Any, _: Any) -> Any:
            columns = [ends.get(place, UNDEFINED) for ends in self.ends]
            entered[place] = self.entry(place, leaf, [before, *columns], others)
            return entered[place]

        def make(place: tuple, tree: Tree, before: Any, _: Any) -> Any:
            columns = [ends.get(place, UNDEFINED) for ends in self.ends]
            return self.container(place, tree, [before, *columns])

        names = self.lowering.frame.locals
        names |= dict.fromkeys(FLAGS, False)
        for name, template, before in self.templates():
            value = fill(template, (name,), before, UNDEFINED, visit, make)
            if not isinstance(name, str):
                parts = [ends[name] for ends in self.contents if name in ends]
                self.lowering.memory.assign(self.objects[name][0], value, parts)
            else:
                names[name] = Hole(name, self.holes) if value is UNDEFINED else value

    def container(self, place: tuple, content: Tree, items: list) -> Any:
        """A container in a place, which may be one of these."""
        fixed = issubclass(content.kind, tuple) and not is_rows(content) and not is_partial(content)
        if holds_content(place) or fixed:
            return content
        parts = [each.content for each in items if isinstance(each, Box)]
        kind = list if is_rows(content) else whole(content.kind)
        return self.lowering.memory.joined_box(content, items, kind, parts)

    def entry(self, place: tuple, leaf: Leaf, items: list, others: list) -> Symbol:
        """A carried value at the start of a pass: the value before the loop, or of a pass."""
        builder = self.lowering.builder
        if place not in self.leaves:
            self.leaves[place] = fresh_name()
            self.mine.add(self.leaves[place])
        name = self.leaves[place]
        fact = leaf.fact
        if items[0] is UNDEFINED:
            fact = values.as_absent(values.of_any_pass(fact, self.newest))
        builder.adopt(name, fact, leaf.hint)
        self._depends(name, items[:1])
        if isinstance(leaf.fact, values.List):
            symbol, memory = Symbol(builder, name), self.lowering.memory
            parts = [each.content if isinstance(each, Box) else each for each in items]
            return symbol if holds_content(place) else memory.joined_box(symbol, items, list, parts)
        symbol = joined_array(self.lowering, items, others)
        symbol.name = name
        return symbol

    def _depends(self, name: str, sources: Iterable[Any]) -> None:
        """Note what a leaf of the loop comes from, for who asks for its value."""
        operands = [*sources, *(self.bounds or ())]
        known = [settled(each) for each in operands if isinstance(each, Symbol)]
        self.lowering.builder.definitions[name] = (None, known, {})
        self.mine.add(name)

    def templates(self) -> Iterator[tuple[Any, Any, Any]]:
        """(key, template, value before the loop): of names, then of objects by their identity."""
        for name, template in self.names.items():
            yield name, template, self.before.get(name, UNDEFINED)
        for key, (each, template) in self.objects.items():
            yield key, template, self.lowering.memory.content(each)

    def tested(self) -> Test:
        """The condition of a `while`."""
        found: list[Any] = []
        start: dict[Any, Any] = {}
        memory = self.lowering.memory

        def run() -> Exits:
            self.enter({})
            start.update(self.lowering.frame.locals)
            start.update({key: memory.content(each) for key, (each, _) in self.objects.items()})
            found.append(self.test())
            return CONTINUE

        path = look(self.lowering, run)
        now = path.names | {key: content for key, (_, content) in path.changed.items()}
        if any(map(has_effect, path.body)) or not all(
            key in start and _is_as_before(start[key], value) for key, value in now.items()
        ):
            raise TestChanges
        return Test(path, found[0])

    def learns(self, path: Path) -> bool:
        """Make the templates more general, as far as the pass asks for it."""
        learned, alike = self.fill_holes(path), Alike(path.held_by, self.clock)
        for key, (each, _) in path.changed.items():
            if key not in self.objects and each.born <= self.clock:
                self.carry_object(each)
                learned = True
        for key, template, before in [*self.templates()]:
            end = self.end(path, key, before)
            made = self._general(template, end, self.hint(key), alike)
            deleted = end is UNDEFINED and before is not UNDEFINED and not path.stops
            if deleted and not is_unreadable(template):
                what = f"the local name {key!r}, or was deleted in a pass of the loop"
                made = Unjoined(self.lowering, what, self.origin, self)
            learned |= not is_equal(made, template)
            if isinstance(key, str):
                self.names[key] = made
            else:
                self.objects[key] = self.objects[key][0], made
        return learned

    def fill_holes(self, path: Path) -> bool:
        """Carry what a pass reads and only an earlier one has assigned.

        A local that a path leaves as it is may be without a value after the loop, and one that a
        pass reads within: it is missing before, unless the first pass is certain to assign it.
        """
        holes, self.holes = self.holes, Holes()
        ends = {n: self.end(path, n, UNDEFINED) for n in (*holes.read, *sorted(holes.handed_on))}
        found = {n: end for n, end in ends.items() if end is not UNDEFINED or n in holes.read}
        for name, end in found.items():
            if end is UNDEFINED and path.stops:
                what = f"the local name {name!r} is read before it is assigned"
                advice = self.lowering.advice()
                raise UnsupportedError("S2S202", what, origin=holes.read[name], **advice)
            left = name in holes.handed_on or name not in self.assigned_first
            if end is UNDEFINED or (left and is_users(name)):  # our own are read where they are
                end = self.before[name] = MISSING
            self.names[name] = self._at_first(end, self.hint(name))
        return bool(found)

    @lazy
    def assigned_first(self) -> set[str]:
        """The locals that the first pass is certain to assign, and not to read before that."""
        holes = Holes()
        missing = [name for name, _, before in self.templates() if before is UNDEFINED]

        def run() -> Exits:
            names = self.lowering.frame.locals
            names |= dict.fromkeys(FLAGS, False) | {each: Hole(each, holes) for each in missing}
            if self.test is not None:
                self.lowering.assumptions.assume(self.test(), True)
            if self.start is not None:
                self.start(self.number(self.bounds[0]))
            return self.run()

        if self.backwards:
            return set()
        try:
            path = look(self.lowering, run)
        except (NeedStatic, UnsupportedError):
            return set()
        assigned = {each for each in missing if self.end(path, each, UNDEFINED) is not UNDEFINED}
        return assigned - {*holes.read, *holes.handed_on}

    def _general(self, template: Any, end: Any, hint: Hint, alike: Alike) -> Any:
        try:
            return general(self.lowering, template, end, hint, alike)
        except Kinds as kinds:
            poison = Unjoined(self.lowering, str(kinds), self.origin, self)
            poison.entries = kinds.entries
            return poison

    def end(self, path: Path, key: Any, before: Any) -> Any:
        """The value of a name, or the content of an object, after a pass."""
        if isinstance(key, str):
            return after_pass(settled_by(path.known, path.name(key)))
        return after_pass(path.content(self.objects[key][0], before))

    def hint(self, key: Any) -> Hint:
        if isinstance(key, str):
            return hint_of_name(key)
        return hint_of(self.lowering, self.objects[key][0])

    # ---- memory

    def ends_of(self, path: Path) -> dict[tuple, Any]:
        """What the pass left in each place."""
        found: dict[tuple, Any] = {}

        def visit(place: tuple, _: Leaf, __: Any, end: Any) -> Any:
            found[place] = end
            return end

        def make(place: tuple, tree: Tree, _: Any, end: Any) -> Any:
            found[place] = end
            return tree

        for key, template, before in self.templates():
            end = self.end(path, key, before)
            fill(template, (key,), UNDEFINED, end, visit, make, path.held_by)
        return found

    def links_more(self, entered: dict[tuple, Any]) -> bool:
        """Whether the pass made objects share memory that were there at its start."""
        start = {id(each) for each in entered.values()}
        return any(
            all(each.born <= self.clock or id(each) in start for each in pair)
            for pair in self.lowering.memory.links[self.links :]
        )

    def shares_more(self, entered: dict[tuple, Any], ends: dict[tuple, Any]) -> bool:
        """Whether arrays share memory after a pass that did not at its start."""
        memory = self.lowering.memory
        pairs = [
            (entered[index], end)
            for index, end in ends.items()
            if isinstance(end, Reference) and isinstance(entered.get(index), Reference)
        ]
        for index, (start, end) in enumerate(pairs):
            outer = {id(each) for each in (end.root, *end.root.kin) if each.born <= self.clock}
            if not end.number and not outer <= {id(each) for each in start.root.kin}:
                return True
            if (start.number and not end.number) or (end.refusal and not start.refusal):
                return True
            for start_2, end_2 in pairs[:index]:
                if memory.may_share(end, end_2) and not memory.may_share(start, start_2):
                    return True
        return False

    # ---- the region

    def emit(self, path: Path, test: Test | None) -> Rolled:
        self.lowering.memory.bury(path.clock)  # what follows has objects of its own
        parts = (self.leaves, self.entered, self.clock, self.newest)
        carrying = Carrying(self.lowering, path, *parts)
        after, span = {}, self.span()
        missing = carrying.missing() if self.may_lack_a_pass(test, span) else None

        def make(place: tuple, tree: Tree, before: Any, end: Any) -> Any:
            return self.container(place, tree, [before, end])

        for key, template, before in [*self.templates()]:
            end = self.end(path, key, before)
            if template is UNDEFINED:
                after[key] = value = carrying.first_assigned(end, self.hint(key))
                if span is not None and value is not end:  # None is one object, wherever assigned
                    self.lowering.frame.of_passes[key] = value, span
                if missing is not None and is_users(key) and not is_unreadable(value):
                    after[key] = optional(missing, value, Lacking)
            else:
                after[key] = fill(
                    template, (key,), before, end, carrying.column, make, path.held_by
                )
        broke, returned = (False if path.stops else path.names[each] for each in (BREAK, RETURN))
        if returned is not False:
            after[RESULT] = carrying.first_assigned(path.name(RESULT), self.hint(RESULT))
        flags = [carrying.flag(BREAK, broke), carrying.flag(RETURN, returned)]
        self.emit_region(carrying, path, test, broke)
        for key, value in after.items():
            if isinstance(key, str):
                put(self.lowering.frame.locals, key, value)
            else:
                parts = [path.content(self.objects[key][0], None)]
                self.lowering.memory.assign(self.objects[key][0], value, parts)
        raises = any(map(has_effect, path.body))
        return Rolled(*flags, self.has_no_end(test), raises, carrying.shares)

    def span(self) -> sizes.Size | None:
        """What is above zero where the loop has a pass; None where the call does not tell it."""
        if self.bounds is None or type(self.bounds[2]) is not int:
            return None
        start, stop = (self.lowering.builder.size(each) for each in self.bounds[:2])
        if start is None or stop is None:
            return None
        found = stop - start if self.bounds[2] > 0 else start - stop
        return None if sizes.number_of(found) is None else found

    def may_lack_a_pass(self, test: Test | None, span: sizes.Size | None) -> bool:
        """Whether data alone tell if the loop has a pass."""
        if test is None or test.value is True:
            return test is None and span is None
        found: list[Any] = []

        def run() -> Exits:
            found.append(self.test and self.test())
            return CONTINUE

        look(self.lowering, run)
        return found[0] is not True

    def has_no_end(self, test: Test | None) -> bool:
        """Whether the loop can only be left from within."""
        if test is not None:
            return test.value is True
        return type(self.bounds[1]) is int and self.bounds[1] == ENDLESS

    def emit_region(self, carrying: Carrying, path: Path, test: Test | None, broke: Any) -> None:
        lowering, builder, atoms = self.lowering, self.lowering.builder, carrying.join_twins()
        columns, passes = carrying.columns, [form.substitute(each, atoms) for each in path.body]
        outputs = [to_node(each.end) for each in columns]
        if broke is not False:
            outputs.append(to_node(broke))
        outputs = [form.substitute(each, atoms) for each in outputs]
        carried = [each.leaf for each in columns]
        index = [] if self.bounds is None else [self.index]
        free = free_names(lowering, passes, outputs)
        made = None
        if test is not None:
            node = form.substitute(to_node(test.value), atoms)
            tested = [form.substitute(each, atoms) for each in test.path.body]
            free += free_names(lowering, tested, [node])
        fixed = [each for each in dict.fromkeys(free) if each not in {*index, *carried}]
        if test is not None:
            made = block(lowering, tested, [*carried, *fixed], [node])
        body = block(lowering, passes, [*index, *carried, *fixed], outputs)
        exits = broke is not False
        loop = Loop(body, len(carried), test=made, backwards=self.backwards, exits=exits)
        operands = [*(self.bounds or ()), *(each.before for each in columns)]
        operands += [carrying.fixed.get(each, Symbol(builder, each)) for each in fixed]
        operands = [settled(each) for each in operands]
        if self.schedule is None:
            results = loop.call(builder, operands)
        else:
            results = segmented(lowering, loop, operands, self.schedule)
        carrying.bind(results)
        self.made = [each.name for each in results]


def _is_as_before(a: Any, b: Any) -> bool:
    """Whether a local or the content of an object is the same."""
    contents = type(a) is Symbol and type(b) is Symbol
    return a is b or (contents and a.name == b.name)


def put(names: dict[str, Any], name: str, value: Any) -> None:
    """Let a local have a value, or none."""
    if value is UNDEFINED:
        names.pop(name, None)
    else:
        names[name] = value
