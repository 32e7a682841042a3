"""Products of arrays that need not be made: those that are summed up, and negatives of others.

Before: `np.sum(x * y)`; after: `x @ y`. Before: `np.sum(A * x, axis=1)`; after: `A @ x`.
"""

from __future__ import annotations

import operator
import string
from collections.abc import Mapping
from dataclasses import dataclass

import gast
import numpy as np

from s2s_ad import runtime
from s2s_ad.analysis import liveness
from s2s_ad.core import form, tree, values
from s2s_ad.core.builder import DERIVED, fresh_name
from s2s_ad.core.passes import Pass
from s2s_ad.core.program import Program
from s2s_ad.core.regions import everywhere
from s2s_ad.core.registry import rule_for


def contract_sums(program: Program) -> Program:
    """Contractions for the sums of products that nothing else reads."""
    made = {form.target(each): each for each in program.body if not form.is_effect(each)}
    counts = liveness.counts(program.body, program.outputs())
    facts, body = dict(program.facts), []
    for statement in program.body:
        found = None
        if not form.is_effect(statement) and rule_for(form.function_of(statement)).sums:
            name = getattr(statement.value.args[0], "id", None)
            if statement.phase in DERIVED and name in made and counts[name] == 1:
                product = _Product(program, made[name], made, counts, facts)
                found = product.contraction(statement) or product.scaled(statement)
                found = found or product.divided(statement)
        body += found or [statement]
    return program.with_(body=tuple(body), facts=facts)


@dataclass(frozen=True, slots=True)
class _Product:
    """What may be a product of two arrays, which is made for a sum alone."""

    program: Program
    statement: gast.Assign
    made: Mapping[str, gast.Assign]
    counts: Mapping[str, int]
    facts: dict

    @property
    def is_product(self) -> bool:
        rule = rule_for(form.function_of(self.statement))
        return rule.elementwise and rule.linear == (0, 1)

    def contraction(self, total: gast.Assign) -> list[gast.Assign] | None:
        """The contraction that the sum is; None where it is none, or would take longer."""
        fact, params = self.facts[form.target(self.statement)], _params(total)
        derived = self.is_product and self.statement.phase in DERIVED
        if not derived or "keepdims" in params or not values.rank_of(fact):
            return None
        letters = string.ascii_letters[: len(fact.shape)]
        axes = _axes(params.get("axis"), len(letters))
        operands = [self._aligned(each, fact, letters) for each in self.statement.value.args]
        if axes is None or None in operands:
            return None
        (a, x, before), (b, y, more) = operands
        out = "".join(letter for axis, letter in enumerate(letters) if axis not in axes)
        summed = set(letters) - set(out)
        whole = a == b == letters  # no smaller product is saved: only the full sum is faster
        if not summed <= set(a) & set(b) or not set(out) <= set(a + b) or (whole and out):
            return None
        call = form.operation(runtime.contract, [x, y], {"spec": form.constant(f"{a},{b}->{out}")})
        return [*before, *more, form.assign(form.target(total), call, total.origin, total.phase)]

    def scaled(self, total: gast.Assign) -> list[gast.Assign] | None:
        """The sum of an array, times a number, where it is a sum of products with that number."""
        fact = self.facts[form.target(self.statement)]
        if not self.is_product or not values.is_inexact(fact):
            return None
        for number, array in (self.statement.value.args, self.statement.value.args[::-1]):
            facts = self.program.fact(number), self.program.fact(array)
            if values.shape_of(facts[0]) != () or facts[1] != fact or not values.rank_of(fact):
                continue
            name = fresh_name()
            self.facts[name] = self.facts[form.target(total)]
            params = {each.arg: each.value for each in total.value.keywords}
            calls = [
                form.operation(form.function_of(total), [array], params),
                form.operation(operator.mul, [number, form.name(name)], {}),
            ]
            names = name, form.target(total)
            where = total.origin, total.phase
            return [form.assign(n, call, *where) for n, call in zip(names, calls, strict=True)]
        return None

    def divided(self, total: gast.Assign) -> list[gast.Assign] | None:
        """The sum of products, divided by what each term is divided by.

        Before: `np.sum(x * (y / s), axis=0)`; after: `np.sum(x * y, axis=0) / s`.
        """
        fact, where = self.facts[form.target(self.statement)], (total.origin, total.phase)
        if not self.is_product or self.statement.phase not in DERIVED:
            return None
        for x, quotient in (self.statement.value.args, self.statement.value.args[::-1]):
            name = getattr(quotient, "id", None)
            source = self.made.get(name)
            if source is None or form.function_of(source) is not operator.truediv:
                continue
            if self.counts[name] > 1 or source.phase not in DERIVED:
                continue
            y, divisor = source.value.args
            alike = all(_are_alike(self.program.fact(each), fact) for each in (x, y))
            if not alike or not self._is_same_along(total, fact, self.program.fact(divisor)):
                continue
            product, summed = fresh_name(), fresh_name()
            self.facts.update({product: fact, summed: self.facts[form.target(total)]})
            params = {each.arg: each.value for each in total.value.keywords}
            calls = {
                product: form.operation(operator.mul, [x, y], {}),
                summed: form.operation(form.function_of(total), [form.name(product)], params),
                form.target(total): form.operation(
                    operator.truediv, [form.name(summed), divisor], {}
                ),
            }
            return [form.assign(name, call, *where) for name, call in calls.items()]
        return None

    def _is_same_along(self, total: gast.Assign, fact: values.Array, divisor: object) -> bool:
        """Whether a divisor has the shape of a sum of what it divides."""
        shape, rank = values.shape_of(divisor), values.rank_of(fact)
        axes = _axes(_params(total).get("axis"), rank) if rank else None
        if axes is None or not shape or not values.is_real(divisor):
            return False
        if "keepdims" in _params(total):
            return len(shape) == rank and all(shape[axis] == 1 for axis in axes)
        return len(shape) == rank - len(axes) and max(axes) < len(axes)

    def _aligned(
        self, atom: gast.AST, fact: values.Array, letters: str
    ) -> tuple[str, gast.AST, list[gast.Assign]] | None:
        """(the letters of an operand's axes, the operand without axes of length one that were
        added, what computes that)."""
        own = self.program.fact(atom)
        real = isinstance(own, values.Array) and own.dtype is not None and own.dtype == fact.dtype
        if not real or not np.issubdtype(own.dtype, np.floating) or not own.shape:
            return None
        rank, before = len(own.shape), []
        found = dict(zip(range(rank), letters[-rank:], strict=True))
        source = self.made.get(atom.id)
        if source is not None and rule_for(form.function_of(source)).inserts_axes:
            added = _axes(_params(source)["axis"], rank)
            atom = source.value.args[0]
        else:
            added = [] if source is None else _axes_of_none(source, self.program)
            if added:
                before = [self._without_none(source, own, added)]
                atom = form.name(form.target(before[0]))
        for axis in added or ():
            del found[axis]
        whole = fact.shape[-rank:]
        same = all(values.same_dim(own.shape[axis], whole[axis]) for axis in found)
        return ("".join(found.values()), atom, before) if same and found else None

    def _without_none(
        self, source: gast.Assign, own: values.Array, added: list[int]
    ) -> gast.Assign:
        """The same elements, without the axes that the index adds."""
        items = [each for each in source.value.keywords[0].value.elts if not _is_none(each)]
        index = items[0] if len(items) == 1 else gast.Tuple(items, gast.Load())
        call = form.operation(operator.getitem, source.value.args, {"index": index})
        name = fresh_name()
        kept = tuple(dim for axis, dim in enumerate(own.shape) if axis not in added)
        self.facts[name] = values.Array(own.dtype, kept)
        return form.assign(name, call, source.origin, source.phase)


def _are_alike(one: object, other: values.Array) -> bool:
    """Whether an array has the dtype and shape of one that it broadcasts with."""
    same = values.same_shape(values.shape_of(one), other.shape)
    return same and isinstance(one, values.Array) and one.dtype == other.dtype


def _params(statement: gast.Assign) -> dict[str, object]:
    return {each.arg: getattr(each.value, "value", each.value) for each in statement.value.keywords}


def _is_none(node: gast.AST) -> bool:
    return isinstance(node, gast.Constant) and node.value is None


def _axes_of_none(statement: gast.Assign, program: Program) -> list[int]:
    """The axes that an index of numbers, slices and None adds."""
    if form.function_of(statement) is not operator.getitem:
        return []
    index = statement.value.keywords[0].value
    found = []
    axis = 0
    for item in index.elts if isinstance(index, gast.Tuple) else ():
        if _is_none(item):
            found.append(axis)
        elif not isinstance(item, gast.Slice):
            if program.fact(item) != values.Scalar(int):
                return []  # an array, or an ellipsis
            continue
        axis += 1
    return found


def _axes(axis: object, rank: int) -> list[int] | None:
    """The axes that are summed over; None where that is not known."""
    if axis is None:
        return list(range(rank))
    items = [getattr(each, "value", None) for each in getattr(axis, "elts", ())] or [axis]
    if any(type(each) is not int for each in items):
        return None
    return [each % rank for each in items]


def numbers_first(program: Program) -> Program:
    """Numbers are multiplied before an array is: that takes one product of the array, and not two.

    Before: `p = x * s; q = p * t`; after: `p = s * t; q = p * x`.
    """
    counts = liveness.counts(program.body, program.outputs())
    facts, body = dict(program.facts), []
    products: dict[str, tuple[gast.AST, gast.AST]] = {}  # those that are read once: number, array
    for statement in program.body:
        parts = _number_and_array(program, statement)
        name = None if parts is None else getattr(parts[1], "id", None)
        if parts is not None and name in products:
            number, array = products[name]
            *before, statement = _with_one_number(
                program, statement, (number, parts[0]), array, facts
            )
            body += before
            parts = None
        if parts is not None and counts[form.target(statement)] == 1:
            products[form.target(statement)] = parts
        body.append(statement)
    return program.with_(body=tuple(body), facts=facts)


def _with_one_number(
    program: Program,
    statement: gast.Assign,
    numbers: tuple[gast.AST, gast.AST],
    array: gast.AST,
    facts: dict,
) -> list[gast.Assign]:
    """The product of two numbers and an array; a known number stands first, without its sign."""
    where, name = (statement.origin, statement.phase), form.target(statement)
    first, second = sorted(numbers, key=lambda each: not isinstance(each, gast.Constant))
    negative = isinstance(first, gast.Constant) and first.value < 0
    first = form.constant(-first.value) if negative else first
    both, whole = fresh_name(), fresh_name() if negative else name
    known = [facts.get(getattr(each, "id", None)) or program.fact(each) for each in (first, second)]
    facts |= {both: rule_for(operator.mul).infer(known, {}), whole: facts[name]}
    made = [
        form.assign(both, form.operation(operator.mul, [first, second], {}), *where),
        form.assign(whole, form.operation(operator.mul, [form.name(both), array], {}), *where),
    ]
    return [*made, _negative(name, whole, statement)] if negative else made


def _number_and_array(
    program: Program, statement: form.Statement
) -> tuple[gast.AST, gast.AST] | None:
    """The number and the array, of one dtype, that a derivative multiplies."""
    if form.is_effect(statement) or statement.phase not in DERIVED:
        return None
    fact = program.facts[form.target(statement)]
    if form.function_of(statement) is not operator.mul or not values.rank_of(fact):
        return None
    operands = statement.value.args
    for number, array in (operands, operands[::-1]):
        single = program.fact(number)
        if values.shape_of(single) == () and values.is_real(single) and program.fact(array) == fact:
            return number, array
    return None


def share_products(program: Program) -> Program:
    """Of two multiples of an array that differ in their sign one is the negative of the other.

    Before: `p = -0.5 * x; q = 0.5 * x; b = index_add(a, i, p)`;
    after: `q = 0.5 * x; p = -q; b = index_add(a, i, p)`.
    """
    found = [_multiple(program, statement) for statement in program.body]
    signs: dict[tuple[float, str], set[bool]] = {}
    for number, name in filter(None, found):
        signs.setdefault((abs(number), name), set()).add(number > 0)
    if all(len(each) == 1 for each in signs.values()):
        return program
    facts, body = dict(program.facts), []
    positive: dict[tuple[float, str], str] = {}
    negatives: dict[str, str] = {}
    atoms: dict[str, gast.AST] = {}
    for statement, multiple in zip(program.body, found, strict=True):
        key = None if multiple is None else (abs(multiple[0]), multiple[1])
        if key is None or len(signs[key]) == 1:
            statement = form.substitute(statement, atoms) if atoms else statement
            body += _with_own_negative(statement, negatives, facts)
            continue
        name = form.target(statement)
        if key not in positive:
            positive[key] = name if multiple[0] > 0 else fresh_name()
            facts[positive[key]] = facts[name]
            operands = [form.constant(key[0]), form.name(multiple[1])]
            call = form.operation(form.function_of(statement), operands, {})
            body.append(form.assign(positive[key], call, statement.origin, statement.phase))
        if multiple[0] < 0:
            negatives[name] = positive[key]
            body.append(_negative(name, positive[key], statement))
        elif positive[key] != name:
            atoms[name] = form.name(positive[key])
    output = tree.tree_map(lambda atom: form.substitute(atom, atoms), program.output)
    return program.with_(body=tuple(body), facts=facts, output=output)


def _negative(name: str, of: str, like: gast.Assign) -> gast.Assign:
    call = form.operation(operator.neg, [form.name(of)], {})
    return form.assign(name, call, like.origin, like.phase)


def _with_own_negative(
    statement: form.Statement, negatives: Mapping[str, str], facts: dict
) -> list[form.Statement]:
    """A sum into elements has a negative of its own, so that it is written `a[i] -= x`."""
    if form.is_effect(statement) or form.function_of(statement) is not runtime.index_add:
        return [statement]
    value = getattr(statement.value.args[1], "id", None)
    if value not in negatives:
        return [statement]
    name = fresh_name()
    facts[name] = facts[value]
    own = form.substitute(statement, {value: form.name(name)})
    return [_negative(name, negatives[value], statement), own]


def _multiple(program: Program, statement: form.Statement) -> tuple[float, str] | None:
    """(number, array) of which a derivative takes the product."""
    if form.is_effect(statement) or statement.phase not in DERIVED:
        return None
    rule, fact = rule_for(form.function_of(statement)), program.facts[form.target(statement)]
    if not (rule.elementwise and rule.linear == (0, 1)) or not values.is_inexact(fact):
        return None
    number, array = statement.value.args
    known = isinstance(number, gast.Constant) and type(number.value) in (int, float)
    if not known or not number.value or not values.rank_of(fact):
        return None
    return (number.value, array.id) if isinstance(array, gast.Name) else None


CONTRACT = Pass("contract sums", everywhere(contract_sums))
NUMBERS_FIRST = Pass("numbers first", everywhere(numbers_first))
SHARE = Pass("share products", everywhere(share_products))
