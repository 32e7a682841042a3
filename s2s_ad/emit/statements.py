"""Lines as statements of Python: assignments, updates in place, branches, loops."""

from __future__ import annotations

import builtins
import sys
import warnings
from collections.abc import Collection, Sequence
from itertools import groupby
from typing import Any

import gast

from s2s_ad.core import form, sizes, values
from s2s_ad.core.builder import DERIVED
from s2s_ad.core.program import TEMPORARY
from s2s_ad.core.regions import region_of
from s2s_ad.core.sizes import Size
from s2s_ad.diagnostics import KINDS
from s2s_ad.emit.choices import as_alternative, chosen, negated
from s2s_ad.emit.coalesce import ordered
from s2s_ad.emit.folding import negative_of, settings_of
from s2s_ad.emit.lines import Line, flat
from s2s_ad.emit.provenance import Node, mark, with_origin
from s2s_ad.emit.rename import Naming
from s2s_ad.emit.stores import Store
from s2s_ad.emit.sugar import items_of, part_of, shortened, step_and_start, sweetened, turned_round
from s2s_ad.emit.surface import BINARY, Surface, dotted

#: what the head of a loop may call
OF_LOOPS = {"enumerate", "len", "range", "reversed", "zip"}


class Statements:
    """Writes lines in the names that they are given.

    Args:
        unbound: variables that are None where a path has no value for them.
    """

    def __init__(self, naming: Naming, surface: Surface, unbound: Collection[str] = ()):
        self.naming, self.surface, self.unbound = naming, surface, unbound
        self.settings: tuple[tuple[str, str], ...] = ()  # of np.errstate around what is written

    def of(self, lines: Sequence[Line]) -> list[gast.stmt]:
        """The statements of the lines, under the settings that they need."""
        around, found = self.settings, []
        for settings, several in groupby(lines, lambda line: _needed(line, around)):
            self.settings = settings
            statements = self._plainly([*several])
            if settings != around:
                statements = under(settings, statements, self.surface)
            found += statements
        self.settings = around
        return found

    def _plainly(self, lines: Sequence[Line]) -> list[gast.stmt]:
        found: list[gast.stmt] = []
        for line in lines:
            write = getattr(self, f"_{line.kind}")
            made = self._store(line, line.store) if line.store else write(line)
            plain = line.kind == "moves" and all(map(_is_atom, (a for _, a in line.moves)))
            origin = None if plain else line.statement.origin
            for each in made:
                if not hasattr(each, "origin"):
                    with_origin(each, origin, line.statement.phase)
                mark(each, line.origins(), _defined(line))
            found += made
        return found

    def _renamed(self, node: Any) -> Any:
        return self.naming.renamed(node)

    def _target(self, name: str) -> gast.Name:
        return form.name(self.naming.shown.get(name, self.naming.discarded), gast.Store)

    def _assign(self, line: Line) -> list[gast.stmt]:
        if self.surface.facts.get(line.name) == values.Static(None):
            return [gast.Expr(self._renamed(line.expression))]
        target, value = self._target(line.name), self._renamed(line.expression)
        derived = line.statement.phase in DERIVED and self._is_number(line.name)
        added = _added_to(value, target.id) if derived else None
        if added is not None:
            return [_augmented(target, *added)]
        made = self._assigned(line.name, target, value)
        made.beside = self._beside(line) if isinstance(made, gast.Assign) else None
        made.of_user = self._is_users(line.name)
        return [made]

    def _is_number(self, name: str) -> bool:
        return name in self.naming.shown and self.naming.is_number(name)

    def _is_users(self, name: str) -> bool:
        return self.naming.program.hints.get(name, TEMPORARY).kind == "user"

    def _beside(self, line: Line) -> Any:
        """Which line of the user's gives a name of his its value: its assignments stay on one.

        So do temporaries of one line that are computed alike, and zeros that adjoints begin with.
        """
        statement, hint = line.statement, self.naming.program.hints.get(line.name, TEMPORARY)
        origin, kind = statement.origin, hint.kind
        if hint.copied or (kind == "derived" and not _is_zeros(statement)):
            return None
        alike = "" if kind == "user" else (statement.rule.function, statement.phase)
        return origin and (origin.file, origin.line, origin.root, alike)

    def _assigned(self, name: str, target: gast.Name, value: gast.AST) -> gast.stmt:
        """target = value, or target += value where that is the same."""
        if not isinstance(value, gast.BinOp) or isinstance(value.op, gast.MatMult):
            return gast.Assign([target], value, None)  # of arrays, though the result is a number
        if self._is_number(name):
            if getattr(value.left, "id", None) == target.id:
                return _augmented(target, value.op, value.right)
            swaps = isinstance(value.op, gast.Add | gast.Mult)
            if swaps and getattr(value.right, "id", None) == target.id:
                return _augmented(target, value.op, value.left)
        return gast.Assign([target], value, None)

    def _unpack(self, line: Line) -> list[gast.stmt]:
        """a, b = cell(x): the outputs that are used have a name."""
        shown = [
            self._target(name) if name else form.name(self.naming.discarded, gast.Store)
            for name in line.names
        ]
        target = gast.Tuple(shown, gast.Store())
        return [gast.Assign([target], self._renamed(line.expression), None)]

    def _effect(self, line: Line) -> list[gast.stmt]:
        return [self._renamed(line.expression)]

    def _break(self, line: Line) -> list[gast.stmt]:
        return [gast.Break()]

    def _moves(self, line: Line) -> list[gast.stmt]:
        """Assignments that happen at once; a name that is not assigned on this path stays so."""
        names: dict[str, str] = {}  # shown -> name
        moves = []
        for name, atom in line.moves:
            if form.is_undefined(atom):
                if self.naming.variables.of(name) not in self.unbound:
                    continue
                is_list = isinstance(self.naming.program.facts[name], values.List)
                atom = gast.List([], gast.Load()) if is_list else form.constant(None)
            shown = self.naming.shown[name]
            names[shown] = name
            moves.append((shown, self._renamed(atom)))
        found: list[gast.stmt] = []
        for step in ordered(moves):
            targets = [form.name(shown, gast.Store) for shown, _ in step]
            moved = [value for _, value in step]
            if len(step) == 1:
                found.append(self._assigned(names[targets[0].id], targets[0], moved[0]))
            else:
                target = gast.Tuple(targets, gast.Store())
                found.append(gast.Assign([target], gast.Tuple(moved, gast.Load()), None))
        return found

    # ---- updates in place

    def _store(self, line: Line, store: Store) -> list[gast.stmt]:
        array = form.name(self.naming.shown[store.base])
        value = self._renamed(line.expression)
        if store.kind == "pop":
            return self._pop(line, array)
        if store.kind == "append":
            append = gast.Attribute(array, "append", gast.Load())
            return [gast.Expr(gast.Call(append, [value], []))]
        if store.operator is not None:
            array = form.name(array.id, gast.Store)
            return [_augmented(array, BINARY[store.operator](), value)]
        index = self._renamed(line.index)
        if store.kind == "add at":
            call = gast.Call(dotted("np", "add", "at"), [array, form.as_value(index), value], [])
            return [gast.Expr(call)]
        target = gast.Subscript(array, index, gast.Store())
        if store.kind == "set":
            return [self._set(line, target, value)]
        return [_augmented(target, gast.Add(), value)]

    def _set(self, line: Line, target: gast.Subscript, value: gast.AST) -> gast.stmt:
        """x[i] = value, or x[i] *= 2 where that is x[i] * 2 of the same dtype."""
        statement, program = line.statement, self.naming.program
        plain = isinstance(value, gast.BinOp) and not isinstance(value.op, gast.MatMult)
        if plain and isinstance(statement, form.Op):
            dtypes = [values.strong_dtype(program.fact(each)) for each in statement.operands[:2]]
            same = not values.missing(dtypes) and dtypes[0] == dtypes[1]
            same = same or self.naming.holds_numbers(statement.operands[0].id)
            if same and _is_read(value.left, target):
                return _augmented(target, value.op, value.right)
            if same and isinstance(value.op, gast.Mult) and _is_read(value.right, target):
                return _augmented(target, value.op, value.left)
        return gast.Assign([target], value, None)

    def _pop(self, line: Line, array: gast.AST) -> list[gast.stmt]:
        call = gast.Call(gast.Attribute(array, "pop", gast.Load()), [], [])
        if not line.name:
            return [gast.Expr(call)]
        made = gast.Assign([self._target(line.name)], call, None)
        made.of_user = self._is_users(line.name)
        return [made]

    # ---- branches and loops

    def _if(self, line: Line) -> list[gast.stmt]:
        then, orelse = (self.of(block) for block in line.blocks)
        condition = self._renamed(line.expression)
        if not then and not orelse:
            return []
        if not then:
            then, orelse, condition = orelse, [], negated(condition)
        if _leaves(then):
            return [_placed(gast.If(condition, then, []), line), *orelse]
        branch = _placed(gast.If(condition, then, as_alternative(orelse)), line)
        plain = any(each.kind == "moves" for block in line.blocks for each in block)
        return [_placed(chosen(branch, truth=self._is_truth(line), plain=plain), line)]

    def _is_truth(self, line: Line) -> bool:
        """Whether a branch on one truth decides on values that have no name of the user's."""
        program = self.naming.program
        condition = program.fact(line.statement.operands[0]) if line.statement.operands else None
        names = [name for block in line.blocks for each in block for name in each.assigns()]
        return values.shape_of(condition) == () and all(
            program.hints.get(name, TEMPORARY).kind == "temporary" for name in names
        )

    def _for(self, line: Line) -> list[gast.stmt]:
        body = self.of(line.blocks[0])
        if not body:
            return []
        start, stop, step = (self._renamed(each) for each in line.expression)
        bounds = [start, stop, step]
        if _is(step, 1):
            end = shortened(stop)
            bounds = [end] if _is(start, 0) else [start, end]
        source = gast.Call(form.name("range"), bounds, [])
        if line.backwards and not _is_unread(self.naming, line.name):
            source = gast.Call(form.name("reversed"), [source], [])
        loop = gast.For(self._target(line.name), source, body, [], None)
        if line.name not in self.naming.read:
            return [loop]
        sources = self._as_long_as(line) or part_of(stop)
        if sources and isinstance(sources[0], gast.Name) and not isinstance(bounds[0], gast.Name):
            length = gast.Call(form.name("len"), [sources[0]], [])
            (loop.iter.args[0] if line.backwards else loop.iter).args = [length]
        made = sweetened(loop, reads=self._reads_of_index(line), equal=sources)
        return [turned_round(made) if line.backwards and self._counts_python(line) else made]

    def _counts_python(self, line: Line) -> bool:
        """Whether the bounds are whole numbers of Python's: 0 - 1 of NumPy's may be 255."""
        if region_of(line.statement) is None:
            return False
        bounds, facts = line.statement.operands[:3], self.naming.program.facts
        named = [each.id for each in bounds if isinstance(each, gast.Name)]
        return all(facts.get(each) == values.Scalar(int) for each in named)

    def _reads_of_index(self, line: Line) -> int:
        variables = self.naming.variables
        if len(variables.names(variables.of(line.name))) > 1:
            return sys.maxsize  # it may be read after the loop
        return sum(each.reads().count(line.name) for each in flat(line.blocks[0]))

    def _as_long_as(self, line: Line) -> list[gast.AST]:
        """The arrays in whose rows a loop goes to the end, which may be said of another array.

        Parts of arrays too, where the user's loop is over a part.
        """
        start, _, step = line.expression
        count = self._count(line)
        if not _is(start, 0) or not _is(step, 1) or count is None:
            return []
        made = {name for each in flat(line.blocks[0]) for name in each.assigns()}
        counted = getattr(_counted(line), "id", "")
        found: dict[str, gast.AST] = {}
        for each in line.blocks[0]:
            row = each.expression if each.kind in ("assign", "unpack") else None
            if not isinstance(row, gast.Subscript):
                continue
            items = items_of(row.slice)  # none in `x[()]`
            place = step_and_start(items[0], line.name) if items else None
            if place is None or made.intersection(form.reads(row.value)):
                continue
            atom = row.value if each.kind == "unpack" else each.statement.operands[0]
            whole = self._length(atom)
            if getattr(row.value, "id", None) == counted:
                whole = count
            part, rest = None, items[1:]
            if whole and not rest and place == (None, None) and _are_equal(whole, count):
                part = row.value
            elif whole and each.statement.origin == line.statement.origin:
                taken = _slice_of(place, whole, count)
                index = gast.Tuple([taken, *rest], gast.Load()) if rest else taken
                part = taken and gast.Subscript(row.value, index, gast.Load())
            if part is not None:
                found[gast.dump(part)] = self._renamed(part)
        return [*found.values()]

    def _length(self, atom: gast.AST | None) -> Size | None:
        """The length of an array, and of a list that is an input."""
        if not isinstance(atom, gast.Name):
            return None
        if isinstance(self.surface.fact(atom), values.List):
            variables, facts = self.naming.variables, self.naming.program.facts
            for leaf in self.naming.program.leaves():
                count = getattr(facts[leaf], "count", None)
                if count is not None and variables.of(leaf) == variables.of(atom.id):
                    return count.size
            return None
        shape = values.shape_of(self.surface.fact(atom))
        return values.size_of_dim(shape[0]) if shape else None

    def _count(self, line: Line) -> Size | None:
        """How often a loop runs, where that is a length, and no number that the user has named."""
        if region_of(line.statement) is None:
            return None
        stop = line.statement.operands[1]
        fact, hints = self.surface.fact(stop), self.naming.program.hints
        named = hints.get(getattr(stop, "id", ""), TEMPORARY).kind == "user"
        if named:
            return None
        size = self._length(_counted(line)) or getattr(fact, "size", None)
        return size if size is not None and size.known is None else None

    def _while(self, line: Line) -> list[gast.stmt]:
        test, body = (self.of(block) for block in line.blocks)
        condition = self._renamed(line.expression)
        if not test:
            return [gast.While(condition, body or [gast.Pass()], [])]
        leave = _placed(gast.If(negated(condition), [_placed(gast.Break(), line)], []), line)
        return [gast.While(form.constant(True), [*test, leave, *body], [])]

    def _try(self, line: Line) -> list[gast.stmt]:
        body, *handlers = ([*self.of(block)] or [gast.Pass()] for block in line.blocks)
        made = []
        objects = self.surface.objects.items()
        names = {each: name for name, each in objects if isinstance(each, form.Handled)}
        for handled, block in zip(line.errors, handlers, strict=True):
            kinds = [self.surface.object(each) for each in handled.kinds]
            kind = kinds[0] if len(kinds) == 1 else gast.Tuple(kinds, gast.Load())
            name = form.name(names[handled], gast.Store) if handled in names else None
            handler = gast.ExceptHandler(type=kind, name=name, body=block)
            made.append(_placed(handler, line))
        return [gast.Try(body=body, handlers=made, orelse=[], finalbody=[])]


def _counted(line: Line) -> gast.AST | None:
    """xs of a loop over `range(len(xs))`."""
    stop = line.expression[1]
    is_length = isinstance(stop, gast.Call) and getattr(stop.func, "id", "") == "len"
    return stop.args[0] if is_length else None


def _needed(line: Line, around: tuple[tuple[str, str], ...]) -> tuple[tuple[str, str], ...]:
    """The settings of a line: those `around` it where it has none of its own, but that nothing
    raises which is to be calm."""
    own, origin = settings_of(line.statement), line.statement.origin
    is_calm = line.statement.phase in DERIVED or (origin is not None and own != origin.settings)
    if not is_calm or all(each != "raise" for _, each in around):
        return own or around
    calm = {name: "warn" if each == "raise" else each for name, each in around if name in KINDS}
    if any(name not in KINDS for name, _ in around):
        calm = dict.fromkeys(KINDS, "ignore")  # or a warning is raised
    return tuple((calm | dict(own)).items())


def under(
    settings: Sequence[tuple[str, str]], body: list[gast.stmt], surface: Surface
) -> list[gast.stmt]:
    """The statements where `np.errstate` is entered with these settings; what is set of no kind of
    errors, but of a class of warnings, is a filter."""
    computing = [i for i, statement in enumerate(body) if _computes(statement)]
    if not computing:
        return body
    first, end = computing[0], computing[-1] + 1
    before, body, after = body[:first], body[first:end], body[end:]
    raised = [name for name, _ in settings if name not in KINDS]
    settings = [(name, value) for name, value in settings if name in KINDS]
    alike = {value for _, value in settings}
    if len(settings) == 4 and len(alike) == 1:
        settings = [("all", alike.pop())]
    keywords = [gast.keyword(name, form.constant(value)) for name, value in settings]
    if keywords:
        body = _entered(gast.Call(dotted("np", "errstate"), [], keywords), body)
    if raised:
        kinds = [surface.object(getattr(builtins, name)) for name in raised if name != "Warning"]
        call = gast.Call(
            surface.object(warnings.simplefilter), [form.constant("error"), *kinds], []
        )
        filter = with_origin(gast.Expr(call), None, getattr(body[0], "phase", ""))
        context = gast.Call(surface.object(warnings.catch_warnings), [], [])
        body = _entered(context, [filter, *body], getattr(body[0], "origins", ()))
    return [*before, *body, *after]


def _entered(
    context: gast.Call, body: list[gast.stmt], origins: Sequence[Any] | None = None
) -> list[gast.stmt]:
    """The statements under a context."""
    made = gast.With([gast.withitem(context, None)], body, None)
    mark(made, getattr(body[0], "origins", ()) if origins is None else origins)
    return [with_origin(made, None, getattr(body[0], "phase", ""))]


def _computes(statement: gast.stmt) -> bool:
    """Whether the statement does more than to bind and to leave."""
    value = getattr(statement, "value", None)
    return not isinstance(statement, gast.Break | gast.Pass) and not (
        isinstance(statement, gast.Assign) and isinstance(value, gast.Name | gast.Constant)
    )


def _slice_of(place: Any, whole: Size, count: Size) -> gast.Slice | None:
    """The slice of so many items that begins at a place and goes to the end, or but for some."""
    step, start = place
    first = 0 if start is None else getattr(start, "value", None)
    if step is not None or type(first) is not int:
        return None
    rest = sizes.number_of(whole - sizes.above_zero(count) - first)
    part = values.size_of_dim(values.dim_of_size(whole - first - (rest or 0)))
    if rest is None or rest < 0 or not _are_equal(part, count):
        return None
    return gast.Slice(start, form.constant(-rest) if rest else None, None)


def _are_equal(one: Size, other: Size) -> bool:
    """Whether two lengths are equal, by their forms or by what was assumed."""
    return one == other or sizes.are_taken_for_equal(one, other)


def _defined(line: Line) -> list[str]:
    """The values that a line computes, and those that it puts into a list."""
    kept = line.kind == "store" and isinstance(line.statement, form.Op)
    return [*line.assigns(), *([line.statement.target] if kept else [])]


def _is_atom(node: gast.AST) -> bool:
    return isinstance(node, gast.Name | gast.Constant)


def _is_read(value: gast.AST, target: gast.Subscript) -> bool:
    """Whether a value is what stands where it is to be stored."""
    parts = isinstance(value, gast.Subscript) and (value.value, value.slice)
    return bool(parts) and all(
        gast.dump(a) == gast.dump(b)
        for a, b in zip(parts, (target.value, target.slice), strict=True)
    )


def _leaves(block: list[gast.stmt]) -> bool:
    """Whether a block does not come to its end, so that what follows needs no else."""
    return isinstance(block[-1], gast.Break)


def _placed(statement: Node, line: Line) -> Node:
    return with_origin(statement, line.statement.origin, line.statement.phase)


def _is(node: gast.AST, value: int) -> bool:
    return isinstance(node, gast.Constant) and type(node.value) is int and node.value == value


def _is_unread(naming: Naming, name: str) -> bool:
    return name not in naming.read


def _is_zeros(statement: form.Statement) -> bool:
    """Whether it makes an array of zeros that holds an adjoint."""
    if isinstance(statement, form.Effect) or statement.phase != "backward":
        return False
    atoms = [getattr(each, "value", None) for each in statement.operands]
    return statement.rule.filled_with(atoms) == 0.0


def _added_to(value: gast.AST, name: str) -> tuple[gast.AST, gast.AST] | None:
    """`+= b - c` of `a + b - c`, and of `a - c + b`, where `a` has this name; `-= b + c` of
    `a - b - c`."""
    added: list[gast.AST] = []
    taken: list[gast.AST] = []
    first: gast.AST = value
    while isinstance(first, gast.BinOp) and isinstance(first.op, gast.Add | gast.Sub):
        (added if isinstance(first.op, gast.Add) else taken).insert(0, first.right)
        first = first.left
    if getattr(first, "id", None) != name or len(added) + len(taken) < 2:
        return None
    if not added:
        return gast.Sub(), _joined(taken, [])
    return gast.Add(), _joined(added, taken)


def _joined(added: list[gast.AST], taken: list[gast.AST]) -> gast.AST:
    rest, *more = added
    for operator, term in [(gast.Add(), x) for x in more] + [(gast.Sub(), x) for x in taken]:
        rest = gast.BinOp(rest, operator, term)
    return rest


def _augmented(target: gast.AST, operator: gast.AST, value: gast.AST) -> gast.AugAssign:
    """target += value, or target -= -value."""
    negative = negative_of(value) if isinstance(operator, gast.Add) else None
    if negative is None:
        return gast.AugAssign(target, operator, value)
    return gast.AugAssign(target, gast.Sub(), negative)


__all__ = ["Statements", "negated"]
