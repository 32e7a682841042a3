"""What each pass of a backward loop multiplies by the same array is added up first."""

from __future__ import annotations

import functools
import operator
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import gast
import numpy as np

from s2s_ad import runtime
from s2s_ad.analysis import liveness
from s2s_ad.core import form, tree, values
from s2s_ad.core.builder import Builder, Symbol, to_node
from s2s_ad.core.callee import item_of
from s2s_ad.core.passes import Pass
from s2s_ad.core.program import TEMPORARY, Hint, Input, Program
from s2s_ad.core.regions import Loop, region_of, with_blocks
from s2s_ad.simplify.own_zeros import makes_zeros
from s2s_ad.simplify.presence import has_value, present_inside, runs


def late_factors(program: Program) -> Program:
    """A sum over the passes of a backward loop is multiplied by a fixed array behind the loop.

    Example:
        >>> import numpy as np
        >>> from s2s_ad.check.passes import after
        >>> def f(x, w, n):
        ...     total = np.ones_like(x)
        ...     mask = w > 0
        ...     for _ in range(n):
        ...         x = np.sin(x)
        ...         total = total + x * mask
        ...     return total
        >>> print(after(LATE_FACTORS, f, np.ones(3), np.ones(3), 4, derived=True))
        f(x: f64[n], w: f64[n], n: int):
            total = np.ones_like(x)
            mask = w > 0
            t1 = np.zeros_like(w)
            x.4, total_unscaled.3 = for _ in range(n) with x.2 = x, total_unscaled = t1:
                x.3 = np.sin(x.2)
                total_unscaled.2 = total_unscaled + x.3
                t2 = x.3 * mask
                next x.3, total_unscaled.2
            t3 = total_unscaled.3 * mask
            total.2 = total + t3
            return total.2

    What nobody reads any more goes with the next pass.
    """
    return _late(program, program.leaves())


def late_factors_called(program: Program) -> Program:
    """`late_factors` of a function of ours, which may be given what only a pass has made."""
    return _late(program, ())


def _late(program: Program, present: Iterable[str]) -> Program:
    """`present` are names of the program that have a value whatever loops have run."""
    present, body = {*present}, []
    for statement in program.body:
        region = region_of(statement)
        if region is not None:
            inner = [(each, present_inside(statement, each, present)) for each in region.blocks]
            statement = with_blocks(statement, region, [_late(*each) for each in inner])
        body.append(statement)
        present.update([statement.target] if has_value(program, statement) else [])
    return _with_late_factors(program.with_body(body), present)


def _with_late_factors(program: Program, present: set[str]) -> Program:
    """A program, of which the blocks are done."""
    made = {each.target: each for each in program.body if isinstance(each, form.Op)}
    items = {found: each for each in made.values() if (found := item_of(each))}
    sums = {}
    for statement in program.body:
        loop = region_of(statement)
        if isinstance(loop, Loop) and loop.is_for and not loop.exits:
            parts = loop.parts(statement.operands)
            pairs = zip(loop.leaves(loop.body).fixed, parts.fixed, strict=True)
            some = runs(loop, parts)
            late = {x for x, atom in pairs if some or present.issuperset(form.reads(atom))}
            found = _sums(loop, late, {p for name, p in items if name == statement.target})
            sums.update({statement.target: found} if found else {})
    return _Late(program, made, sums).written() if sums else program


@dataclass(frozen=True, slots=True)
class _Term:
    """One term of what a pass adds: what is added up, and what that is multiplied by at last."""

    name: str
    negative: bool
    own: tuple[str, ...] = ()
    late: tuple[str, ...] = ()


class _Terms:
    """The terms of a value that a pass of a loop computes and nothing else reads."""

    def __init__(self, loop: Loop, fixed: Collection[str] = ()):
        self.block, self.fixed = loop.body, fixed
        self.counts = liveness.counts(self.block.body, self.block.outputs())
        self.made = {each.target: each for each in self.block.body if isinstance(each, form.Op)}

    def once(self, atom: Any) -> form.Op | None:
        """The operation of a derivative whose result is read once, there."""
        name = getattr(atom, "id", "")
        found = self.made.get(name) if self.counts[name] == 1 else None
        return found if found is not None and found.phase == "backward" else None

    def of(self, atom: Any, negative: bool = False) -> list[_Term]:
        """The terms of a sum, with the arrays taken out that are the same in each pass."""
        statement, shape = self.once(atom), values.shape_of(self.block.fact(atom))
        if statement is not None and statement.rule.adds:
            sides = statement.operands
            shapes = (values.shape_of(self.block.fact(each)) for each in sides)
            if all(values.same_shape(each, shape) for each in shapes):
                turned = negative != (statement.function is operator.sub)
                return [*self.of(sides[0], negative), *self.of(sides[1], turned)]
        return [self._term(atom, negative)]

    def _term(self, atom: Any, negative: bool) -> _Term:
        name = getattr(atom, "id", "")
        factors = list(self._factors(atom))
        late = [each for each in factors if each in self.fixed and self._is_array(each)]
        own = [each for each in factors if each not in late]
        if not late or not own or not self._may_wait(name, own, late):
            return _Term(name, negative)
        return _Term(name, negative, tuple(own), tuple(late))

    def _factors(self, atom: Any) -> Iterator[str]:
        statement = self.once(atom)
        operands = () if statement is None else statement.operands
        named = all(isinstance(each, gast.Name) for each in operands)
        if statement is not None and statement.function is operator.mul and named:
            for each in operands:
                yield from self._factors(each)
        else:
            yield getattr(atom, "id", "")

    def ready(self, term: _Term) -> str:
        """The value with which what is added up is there: without the factors that wait."""
        name = term.name
        while True:
            statement = self.once(form.name(name))
            if statement is None or statement.function is not operator.mul:
                return name if name in self.made else term.name
            inner = [e for e in statement.operands if getattr(e, "id", "") not in term.late]
            if len(inner) > 1 or not isinstance(inner[0], gast.Name):
                return name
            name = inner[0].id

    def _is_array(self, name: str) -> bool:
        return isinstance(self.block.facts.get(name), values.Array) and bool(
            values.shape_of(self.block.facts[name])
        )

    def _may_wait(self, name: str, own: list[str], late: list[str]) -> bool:
        """Whether the sum of the rest has the type of the product, and the shape of a factor."""
        facts = self.block.facts
        if not all(each in facts for each in own) or not values.is_inexact(facts[name]):
            return False
        shape = values.broadcast([values.shape_of(facts[each]) for each in own])
        dtypes = {values.strong_dtype(facts[each]) for each in [name, *own]}
        whole = values.same_shape(shape, values.shape_of(facts[name]))
        known = len(dtypes) == 1 and None not in dtypes
        return whole and known and any(self.is_like(name, each) for each in late)

    def is_like(self, name: str, other: str) -> bool:
        return values.same_shape(*(values.shape_of(self.block.facts[e]) for e in (name, other)))


@dataclass(frozen=True, slots=True)
class _Addition:
    """A statement that adds to what a loop carries, and the terms of what it adds."""

    statement: form.Op
    terms: list[_Term]

    @property
    def late(self) -> list[_Term]:
        return [each for each in self.terms if each.late]

    @property
    def rest(self) -> list[_Term]:
        return [each for each in self.terms if not each.late]


@dataclass(frozen=True, slots=True)
class _Sum:
    """What a loop adds up: its index among what the loop carries, and what each pass adds."""

    index: int
    additions: list[_Addition]

    @property
    def late(self) -> list[_Term]:
        return [term for each in self.additions for term in each.late]

    @property
    def whole(self) -> bool:
        """Whether nothing is left to add in the loop itself."""
        return not any(each.rest for each in self.additions)


def _sums(loop: Loop, late: set[str], indices: set[int]) -> list[_Sum]:
    """The sums of a loop that have terms whose factors can wait.

    Args:
        late: the leaves that have a value even where the loop has no pass.
        indices: of what the loop carries those that are read behind it.
    """
    terms, leaves = _Terms(loop, late), loop.leaves(loop.body).carried
    sums = [
        _Sum(index, _additions(terms, leaves[index], atom))
        for index, atom in enumerate(loop.results()[0])
        if index in indices and terms.counts[leaves[index]] == 1
    ]
    return [each for each in sums if each.late]


def _additions(terms: _Terms, leaf: str, atom: gast.AST) -> list[_Addition]:
    """What makes, one after the other, the value of `atom` of a leaf; [] where anything else is
    done with it."""
    found: list[_Addition] = []
    while getattr(atom, "id", "") != leaf:
        added = terms.once(atom)
        if added is None or not (added.rule.adds or added.function is runtime.index_add):
            return []
        if any(form.reads([*added.parameters.values()])):
            return []
        atom, term = added.operands
        found.append(_Addition(added, terms.of(term)))
    return found[::-1]


class _Late:
    """A program written again, with loops that leave factors for later.

    Args:
        made: the operations of the program, by their results.
        sums: those of each loop, by its result.
    """

    def __init__(
        self, program: Program, made: Mapping[str, form.Op], sums: Mapping[str, list[_Sum]]
    ):
        self.program, self.made, self.sums = program, made, sums
        self.builder = Builder()
        self.atoms: dict[str, Any] = {}
        self.behind: dict[tuple[str, int], Any] = {}  # what stands for an item of a loop

    def written(self) -> Program:
        program, builder = self.program, self.builder
        for name in [*program.leaves(), *(each.name for each in program.captured())]:
            self.atoms[name] = builder.import_name(program, name)
        for statement in program.body:
            name, item = statement.target or "", item_of(statement)
            with builder.at(statement.origin, statement.phase):
                if name in self.sums:
                    self._loop(statement, region_of(statement))
                elif item in self.behind:
                    hint = program.hints.get(name, TEMPORARY)
                    self.atoms[name] = builder.named(self.behind[item], hint)
                else:
                    builder.replay(statement, self.atoms, program)
        output = tree.tree_map(lambda atom: to_node(builder.view(atom, self.atoms)), program.output)
        facts, hints = program.facts | builder.facts, program.hints | builder.hints
        return program.with_(body=tuple(builder.body), output=output, facts=facts, hints=hints)

    def _loop(self, statement: Any, loop: Any) -> None:
        """Write the loop that adds up, and behind it the products."""
        builder, name = self.builder, statement.target
        terms = _Terms(loop)
        parts = loop.parts([builder.view(each, self.atoms) for each in statement.operands])
        fixed = dict(zip(loop.leaves(loop.body).fixed, parts.fixed, strict=True))
        starts, indices = [*parts.carried], []
        for each in self.sums[name]:
            found = []
            for term in each.late:
                like = next(fixed[late] for late in term.late if terms.is_like(term.name, late))
                dtype = values.strong_dtype(loop.body.facts[term.name])
                first = each.whole and not found
                found.append(each.index if first else len(starts))
                starts[found[-1] : found[-1] + 1] = [_zeros_like(builder, like, dtype)]
            indices.append(found)
        made = _Inside(loop, self.sums[name], indices, len(starts)).written()
        outputs = made.call(builder, [*parts.bounds, *starts, *parts.fixed])
        for output, leaf in zip(outputs, made.leaves(made.body).carried, strict=True):
            builder.named(output, made.body.hints.get(leaf, TEMPORARY))
        self.behind |= {(name, index): each for index, each in enumerate(outputs)}
        for each, found in zip(self.sums[name], indices, strict=True):
            base = parts.carried[each.index] if each.whole else outputs[each.index]
            rest = iter([outputs[index] for index in found])
            for addition in each.additions:
                with builder.at(addition.statement.origin, "backward"):
                    base = self._added(addition, base, rest, fixed) if addition.late else base
            self.behind[name, each.index] = base

    def _added(
        self, each: _Addition, base: Any, sums: Iterator[Any], fixed: Mapping[str, Any]
    ) -> Any:
        """The products of sums added to what there was before."""
        total: Any = None
        for term in each.late:
            late = [fixed[name] for name in term.late]
            total = _plus(total, functools.reduce(operator.mul, late, next(sums)), term)
        rule, operands, _ = self.builder.definition(base)
        if rule is not None and rule.filled_with(operands) == 0:
            if each.statement.rule.adds:
                return -total if each.statement.function is operator.sub else total
            if rule.like_position == 1:  # zeros of its own, where nothing stands yet
                base = _zeros_like(self.builder, operands[1], base.dtype)
        nodes = each.statement.parameters.items()
        params = {key: self.builder.view(node, self.atoms) for key, node in nodes}
        return self.builder.emit(each.statement.rule, [base, total], params)


class _Inside:
    """The body of a loop, written again so that it adds up what its products are made of.

    Args:
        indices: for each sum where the loop carries those.
        count: how many values it carries.
    """

    def __init__(self, loop: Loop, sums: list[_Sum], indices: list[list[int]], count: int):
        self.loop, self.block, self.builder = loop, loop.body, Builder()
        self.leaves = loop.leaves(loop.body)
        block, terms = self.block, _Terms(loop)
        names = [*block.leaves(), *(each.name for each in block.captured())]
        self.atoms: dict[str, Any] = {name: self.builder.import_name(block, name) for name in names}
        self.carried = [*self.leaves.carried, *[""] * (count - loop.carried)]
        self.additions = {e.statement.target: e for each in sums for e in each.additions}
        self.indices: dict[str, int] = {}  # of what is carried, by the product
        self.own: dict[str, tuple[str, ...]] = {}  # what that is made of
        self.ready: dict[str, list[str]] = {}  # the products, by what is computed right before
        self.begun: dict[str, Symbol] = {}  # zeros of a loop inside -> what it goes on with
        self.after: dict[int, Any] = {}
        for each, found in zip(sums, indices, strict=True):
            text = block.hints.get(self.leaves.carried[each.index], TEMPORARY).text
            hint = Hint(f"{text}_unscaled", "derived") if text else TEMPORARY
            for index, term in zip(found, each.late, strict=True):
                before = self.builder.symbol(block.facts[term.name], hint)
                self.carried[index] = before.name
                self.indices[term.name], self.own[term.name] = index, term.own
                self.ready.setdefault(terms.ready(term), []).append(term.name)
                zeros = _begins_with_zeros(terms, term.own)
                if zeros:
                    self.begun[zeros] = before

    def written(self) -> Loop:
        builder, block, count = self.builder, self.block, len(self.carried)
        for statement in block.body:
            with builder.at(statement.origin, statement.phase):
                if statement.target in self.begun:
                    self.atoms[statement.target] = self.begun[statement.target]
                elif statement.target in self.additions:
                    self._add_rest(self.additions[statement.target])
                else:
                    builder.replay(statement, self.atoms, block)
                    for product in self.ready.get(statement.target or "", ()):
                        self._add_up(product)
        outputs = [builder.view(atom, self.atoms) for atom in self.loop.results()[0]]
        outputs = [self.after.get(index, each) for index, each in enumerate(outputs)]
        outputs += [self.after[index] for index in range(self.loop.carried, count)]
        names = [*self.leaves.bounds, *self.carried, *self.leaves.fixed]
        made = block.with_(
            inputs=tuple(Input(name, name) for name in names),
            body=tuple(builder.body),
            output=tree.tuple_of(tuple(map(to_node, outputs))),
            facts=block.facts | builder.facts,
            hints=block.hints | builder.hints,
        )
        return self.loop.like([made], count)

    def _add_up(self, product: str) -> None:
        """Add what a product is made of."""
        own, index = [self.atoms[name] for name in self.own[product]], self.indices[product]
        before = Symbol(self.builder, self.carried[index])
        goes_on = any(each.name == before.name for each in self.begun.values())
        after = own[0] if goes_on else before + functools.reduce(operator.mul, own)
        self.after[index] = self.builder.named(after, self.builder.hints[before.name])

    def _add_rest(self, addition: _Addition) -> None:
        """Add the terms whose factors do not wait."""
        statement, builder = addition.statement, self.builder
        result = builder.view(statement.operands[0], self.atoms)
        if addition.rest:
            total: Any = None
            for term in addition.rest:
                total = _plus(total, self.atoms[term.name], term)
            nodes = statement.parameters.items()
            params = {key: builder.view(node, self.atoms) for key, node in nodes}
            result = builder.emit(statement.rule, [result, total], params)
        self.atoms[statement.target] = result


def _begins_with_zeros(terms: _Terms, own: tuple[str, ...]) -> str | None:
    """The zeros that a loop inside begins a sum with, if that is all that a product has."""
    item = item_of(terms.made[own[0]]) if len(own) == 1 and own[0] in terms.made else None
    inner = terms.made.get(item[0]) if item else None
    loop = region_of(inner) if inner is not None else None
    if item is None or inner is None or not isinstance(loop, Loop) or terms.counts[own[0]] != 1:
        return None
    start = getattr(loop.parts(inner.operands).carried[item[1]], "id", "")
    zeros = start in terms.made and makes_zeros(terms.made[start]) and terms.counts[start] == 1
    return start if zeros and _only_adds(loop, item[1]) else None


def _only_adds(loop: Loop, index: int) -> bool:
    """Whether all that a loop does with what it carries there is to add to it."""
    terms, atom = _Terms(loop), loop.results()[0][index]
    leaf = loop.leaves(loop.body).carried[index]
    while terms.counts[leaf] == 1 and getattr(atom, "id", "") != leaf:
        statement = terms.made.get(getattr(atom, "id", ""))
        if statement is None or terms.counts[statement.target] != 1:
            return False
        item = item_of(statement)
        inner = terms.made[item[0]] if item else None
        region = region_of(inner) if inner is not None else None
        if item and inner and isinstance(region, Loop) and _only_adds(region, item[1]):
            atom = region.parts(inner.operands).carried[item[1]]
        elif statement.rule.adds or statement.function is runtime.index_add:
            atom = statement.operands[0]
        else:
            return False
    return terms.counts[leaf] == 1


def _zeros_like(builder: Builder, like: Any, dtype: np.dtype | None) -> Any:
    """Zeros of this shape; those of a mask, or of a function, are the zeros of its operand."""
    found, each = None, like
    while each is not None:
        found = each if values.is_dtype(each.dtype, dtype) else found
        rule, operands, _ = builder.definition(each)
        inner = [e for e in operands if rule and rule.elementwise and isinstance(e, Symbol)]
        each = next((e for e in inner if values.same_shape(e.shape, like.shape)), None)
    if found is not None:
        return np.zeros_like(found)
    return builder.call(np.zeros_like, (like,), {"dtype": dtype})


def _plus(total: Any, value: Any, term: _Term) -> Any:
    if total is None:
        return -value if term.negative else value
    return total - value if term.negative else total + value


LATE_FACTORS = Pass("late-factors", late_factors)
LATE_FACTORS_CALLED = Pass("late-factors", late_factors_called)
