"""Products of arrays that need not be made: those that are summed up, and negatives of others."""

from __future__ import annotations

import operator
import string
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import gast
import numpy as np

from s2s_ad import runtime
from s2s_ad.analysis import liveness
from s2s_ad.core import form, values
from s2s_ad.core.builder import DERIVED, fresh_name
from s2s_ad.core.passes import Pass
from s2s_ad.core.program import Program
from s2s_ad.core.regions import everywhere
from s2s_ad.core.rewriting import rewritten


def contract_sums(program: Program) -> Program:
    """Contractions for the sums of products that nothing else reads: text has `x @ y`, `A @ x`.

    Example:
        >>> from s2s_ad.check.passes import after
        >>> def f(A, x):
        ...     return np.sum(x * x), np.sum(A * x, axis=1)
        >>> print(after(CONTRACT, f, np.ones((2, 3)), np.ones(3), derived=True))
        f(A: f64[n, m], x: f64[p]):
            t1 = contract(x, x, spec='a,a->')
            t2 = contract(A, x, spec='ab,b->a')
            return (t1, t2)
    """
    made = {each.target: each for each in program.body if isinstance(each, form.Op)}
    counts = liveness.counts(program.body, program.outputs())
    facts, gone = dict(program.facts), set()

    def change(statement: form.Statement) -> form.Statement | list[form.Op]:
        if not statement.rule.sums or statement.phase not in DERIVED:
            return statement
        name = getattr(statement.operands[0], "id", None)
        if name not in made or counts[name] != 1:
            return statement
        product = _Product(program, made[name], made, counts, facts)
        ways = (product.traced, product.contraction, product.scaled, product.divided)
        found = next(filter(None, (way(statement) for way in ways)), None)
        gone.update([name] if found else [])
        return found or statement

    return rewritten(program, change, facts, gone)


def scale_last(program: Program) -> Program:
    """A number that a matrix is multiplied by for one product goes to a smaller result.

    Example:
        >>> from s2s_ad.check.passes import after
        >>> def f(A, x, s):
        ...     return (s * A) @ x
        >>> print(after(SCALE_LAST, f, np.ones((2, 3)), np.ones(3), 2.0, derived=True))
        f(A: f64[n, m], x: f64[p], s: float):
            t1 = contract(A, x, spec='ab,b->a')
            t2 = t1 * s
            return t2
    """
    made = {each.target: each for each in program.body if isinstance(each, form.Op)}
    counts = liveness.counts(program.body, program.outputs())
    facts, gone = dict(program.facts), set()

    def change(statement: form.Statement) -> form.Statement | list[form.Op]:
        if statement.function is not runtime.contract or statement.phase not in DERIVED:
            return statement
        for position, each in enumerate(statement.operands):
            name = getattr(each, "id", "")
            smaller = (values.rank_of(facts[statement.target]) or 0) < (
                values.rank_of(facts.get(name)) or 0
            )
            parts = _scaled(program, made.get(name)) if smaller and counts[name] == 1 else None
            if parts is None:
                continue
            operands, product = list(statement.operands), fresh_name()
            operands[position], number = parts
            facts[product] = facts[statement.target]
            gone.add(name)
            inner = statement.beside(product, statement.rule, operands, statement.parameters)
            factors = [form.name(product), number]
            factors = factors[::-1] if isinstance(number, gast.Constant) else factors
            return [inner, statement.with_call(operator.mul, factors, {})]
        return statement

    return rewritten(program, change, facts, gone)


def _scaled(program: Program, statement: form.Op | None) -> tuple[gast.AST, gast.AST] | None:
    """(an array, the number) of which a statement makes the product, in the array's precision."""
    if statement is None or statement.function is not operator.mul:
        return None
    for number, array in (statement.operands, statement.operands[::-1]):
        same = program.fact(array) == program.facts[statement.target]
        if (
            same
            and values.shape_of(program.fact(number)) == ()
            and values.is_inexact(program.fact(array))
        ):
            return array, number
    return None


INNER = {"spec": form.constant("a,a->")}


def _is_outer(statement: form.Op) -> bool:
    return statement.parameters["spec"].value == "a,b->ab"


@dataclass(frozen=True, slots=True)
class _Product:
    """What may be a product of two arrays, which is made for a sum alone."""

    program: Program
    statement: form.Op
    made: Mapping[str, form.Op]
    counts: Mapping[str, int]
    facts: dict

    @property
    def is_product(self) -> bool:
        rule = self.statement.rule
        return rule.elementwise and rule.linear == (0, 1)

    def traced(self, total: form.Statement) -> list[form.Op] | None:
        """The sum of the diagonal, where the other factor is an identity.

        Example:
            >>> from s2s_ad.check.passes import after
            >>> def f(A, x):
            ...     B, I = A @ A.T, np.eye(len(A))
            ...     return np.sum(B * I) + np.sum(np.outer(x, x) * np.eye(len(x)))
            >>> print(after(CONTRACT, f, np.ones((3, 2)), np.ones(3), derived=True))
            f(A: f64[n, m], x: f64[p]):
                t1 = np.transpose(A)
                B = contract(A, A, spec='ab,cb->ac')
                t2 = np.size(A, axis=0)
                I = np.eye(N=t2)
                t3 = np.diagonal(B)
                t4 = np.sum(t3)
                t5 = contract(x, x, spec='a,b->ab')
                t6 = np.size(x, axis=0)
                t7 = np.eye(N=t6)
                t8 = contract(x, x, spec='a,a->')
                t9 = t4 + t8
                return t9
        """
        fact = self.facts[self.statement.target]
        derived = self.is_product and self.statement.phase in DERIVED
        if not derived or total.function is not np.sum or form.literals(total):
            return None
        for x, identity in (self.statement.operands, self.statement.operands[::-1]):
            source, own = self.made.get(getattr(identity, "id", "")), self.program.fact(x)
            if source is None or not source.rule.gives_identity or len(source.parameters) != 1:
                continue
            if own != fact or values.rank_of(fact) != 2:
                continue
            outer = self.made.get(getattr(x, "id", ""))
            if outer is not None and outer.function is runtime.contract and _is_outer(outer):
                return [total.with_call(runtime.contract, outer.operands, INNER)]
            diagonal = fresh_name()
            self.facts[diagonal] = values.with_shape(fact, fact.shape[:1])
            taken = total.beside(diagonal, np.diagonal, [x])
            return [taken, total.with_call(np.sum, [form.name(diagonal)])]
        return None

    def contraction(self, total: form.Statement) -> list[form.Op] | None:
        """The contraction that the sum is; None where it is none, or would take longer."""
        fact, params = self.facts[self.statement.target], form.literals(total)
        derived = self.is_product and self.statement.phase in DERIVED
        if not derived or "keepdims" in params or not values.rank_of(fact):
            return None
        letters = string.ascii_letters[: len(fact.shape)]
        axes = _axes(params.get("axis"), len(letters))
        operands = [self._aligned(each, fact, letters) for each in self.statement.operands]
        if axes is None or None in operands:
            return None
        (a, x, before), (b, y, more) = filter(None, operands)
        out = "".join(letter for axis, letter in enumerate(letters) if axis not in axes)
        summed = set(letters) - set(out)
        whole = a == b == letters  # no smaller product is saved: only the full sum is faster
        if not summed <= set(a) & set(b) or not set(out) <= set(a + b) or (whole and out):
            return None
        return [
            *before,
            *more,
            total.with_call(runtime.contract, [x, y], {"spec": form.constant(f"{a},{b}->{out}")}),
        ]

    def scaled(self, total: form.Statement) -> list[form.Op] | None:
        """The sum of an array, times a number, where it is a sum of products with that number."""
        fact = self.facts[self.statement.target]
        if not self.is_product or not values.is_inexact(fact):
            return None
        for number, array in (self.statement.operands, self.statement.operands[::-1]):
            facts = self.program.fact(number), self.program.fact(array)
            if values.shape_of(facts[0]) != () or facts[1] != fact or not values.rank_of(fact):
                continue
            name = fresh_name()
            self.facts[name] = self.facts[total.target]
            summed = total.beside(name, total.rule, [array], total.parameters)
            return [summed, total.with_call(operator.mul, [number, form.name(name)])]
        return None

    def divided(self, total: form.Statement) -> list[form.Op] | None:
        """The sum of products, divided by what each term is divided by.

        Example:
            >>> from s2s_ad.check.passes import after
            >>> def f(A, B, s):
            ...     return np.sum(A * (B / s), axis=0)
            >>> A, s = np.ones((2, 3)), np.ones(3)
            >>> print(after(CONTRACT, f, A, A, s, derived=True))
            f(A: f64[n, m], B: f64[p, q], s: f64[r]):
                t1 = B / s
                t2 = A * B
                t3 = np.sum(t2, axis=0)
                t4 = t3 / s
                return t4
        """
        fact = self.facts[self.statement.target]
        if not self.is_product or self.statement.phase not in DERIVED:
            return None
        for x, quotient in (self.statement.operands, self.statement.operands[::-1]):
            name = getattr(quotient, "id", "")
            source = self.made.get(name)
            if source is None or source.function is not operator.truediv:
                continue
            if self.counts[name] > 1 or source.phase not in DERIVED:
                continue
            y, divisor = source.operands
            alike = all(are_alike(self.program.fact(each), fact) for each in (x, y))
            if not alike or not self._is_same_along(total, fact, self.program.fact(divisor)):
                continue
            product, summed = fresh_name(), fresh_name()
            self.facts.update({product: fact, summed: self.facts[total.target]})
            return [
                total.beside(product, operator.mul, [x, y]),
                total.beside(summed, total.rule, [form.name(product)], total.parameters),
                total.with_call(operator.truediv, [form.name(summed), divisor]),
            ]
        return None

    def _is_same_along(self, total: form.Statement, fact: values.Array, divisor: object) -> bool:
        """Whether a divisor has the shape of a sum of what it divides."""
        shape, rank = values.shape_of(divisor), values.rank_of(fact) or 0
        axes = _axes(form.literals(total).get("axis"), rank) if rank else None
        if axes is None or not shape or not values.is_real(divisor):
            return False
        if "keepdims" in form.literals(total):
            return len(shape) == rank and all(shape[axis] == 1 for axis in axes)
        return len(shape) == rank - len(axes) and max(axes) < len(axes)

    def _aligned(
        self, atom: gast.AST, fact: values.Array, letters: str
    ) -> tuple[str, gast.AST, list[form.Op]] | None:
        """(the letters of an operand's axes, the operand without axes of length one that were
        added, what computes that)."""
        own, shape = self.program.fact(atom), fact.shape
        real = isinstance(own, values.Array) and own.dtype is not None and own.dtype == fact.dtype
        if shape is None or not real or not np.issubdtype(own.dtype, np.floating) or not own.shape:
            return None
        rank, before, added = len(own.shape), [], []
        found = dict(zip(range(rank), letters[-rank:], strict=True))
        source = self.made.get(atom.id)
        if source is not None and source.rule.inserts_axes:
            added = _axes(form.literals(source)["axis"], rank) or []
            atom = source.operands[0]
        elif source is not None and (added := _axes_of_none(source, self.program)):
            before = [self._without_none(source, own, added)]
            atom = form.name(before[0].target)
        for axis in added:
            del found[axis]
        whole = shape[-rank:]
        same = all(values.same_dim(own.shape[axis], whole[axis]) for axis in found)
        return ("".join(found.values()), atom, before) if same and found else None

    def _without_none(self, source: form.Statement, own: Any, added: list[int]) -> form.Op:
        """The operand without the axes of length one that the index adds."""
        items = [each for each in source.parameters["index"].elts if not _is_none(each)]
        index = items[0] if len(items) == 1 else gast.Tuple(items, gast.Load())
        name = fresh_name()
        kept = tuple(dim for axis, dim in enumerate(own.shape) if axis not in added)
        self.facts[name] = values.Array(own.dtype, kept)
        return source.beside(name, operator.getitem, source.operands, {"index": index})


def are_alike(one: object, other: object) -> bool:
    """Whether an array has the dtype and shape of one that it broadcasts with."""
    same = values.same_shape(values.shape_of(one), values.shape_of(other))
    return same and values.strong_dtype(one) == values.strong_dtype(other)


def _is_none(node: gast.AST) -> bool:
    return isinstance(node, gast.Constant) and node.value is None


def _axes_of_none(statement: form.Op, program: Program) -> list[int]:
    """The axes that an index of numbers, slices and None adds."""
    if statement.function is not operator.getitem:
        return []
    index = statement.parameters["index"]
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


def _axes(axis: Any, rank: int) -> list[int] | None:
    """The axes that are summed over; None where that is not known."""
    if axis is None:
        return list(range(rank))
    items = axis if isinstance(axis, tuple) else (axis,)
    if any(type(each) is not int for each in items):
        return None
    return [each % rank for each in items]


def share_products(program: Program) -> Program:
    """Of two multiples of an array that differ in their sign one is the negative of the other.

    Example:
        >>> from s2s_ad.check.passes import after
        >>> def f(a, x):
        ...     a[1:] += -0.5 * x
        ...     a[:-1] += 0.5 * x
        ...     return a
        >>> print(after(SHARE, f, np.ones(4), np.ones(3), derived=True))
        f(a: f64[n], x: f64[m]):
            t1 = 0.5 * x
            t2 = -t1
            a.2 = index_add(a, t2, index=1:)
            a.3 = index_add(a.2, t1, index=:-1)
            return a.3
    """
    found = [_multiple(program, statement) for statement in program.body]
    signs: dict[tuple[float, str], set[bool]] = {}
    for number, name in filter(None, found):
        signs.setdefault((abs(number), name), set()).add(number > 0)
    if all(len(each) == 1 for each in signs.values()):
        return program
    facts = dict(program.facts)
    positive: dict[tuple[float, str], str] = {}

    def change(statement: form.Statement) -> form.Statement | list[form.Statement] | gast.AST:
        number, array = _multiple(program, statement) or (0.0, "")
        key, name, made = (abs(number), array), statement.target, []
        if len(signs.get(key, ())) < 2:
            return statement
        if key not in positive:
            positive[key] = name if number > 0 else fresh_name()
            facts[positive[key]] = facts[name]
            operands = [form.constant(key[0]), form.name(array)]
            made.append(statement.beside(positive[key], statement.function, operands))
        if number < 0:
            made.append(_negative(name, positive[key], statement))
        return made or form.name(positive[key])

    return rewritten(program, change, facts)


def _negative(name: str, of: str, like: form.Statement) -> form.Op:
    return like.beside(name, operator.neg, [form.name(of)])


def own_negatives(program: Program) -> Program:
    """Each sum into elements has a negative of its own, so that it is written `a[i] -= x`.

    Example:
        >>> from s2s_ad.check.passes import after
        >>> def f(a, x):
        ...     a[1:] -= x
        ...     a[:-1] -= x
        ...     return a
        >>> print(after(OWN_NEGATIVES, f, np.ones(4), np.ones(3)))
        f(a: f64[n], x: f64[m]):
            t1 = -x
            a.2 = index_add(a, t1, index=1:)
            t2 = -x
            a.3 = index_add(a.2, t2, index=:-1)
            return a.3
    """
    found = {s.target: s.operands[0] for s in program.body if s.function is operator.neg}
    counts = liveness.counts(program.body, program.outputs()) if found else {}
    negatives = {name: each for name, each in found.items() if counts[name] > 1}
    if not negatives:
        return program
    facts = dict(program.facts)

    def change(statement: form.Statement) -> form.Statement | list:
        adds = statement.function is runtime.index_add
        value = getattr(statement.operands[1], "id", "") if adds else ""
        if value not in negatives:
            return statement
        name = fresh_name()
        facts[name] = facts[value]
        own = statement.beside(name, operator.neg, [negatives[value]])
        return [own, form.substitute(statement, {value: form.name(name)})]

    return rewritten(program, change, facts)


def _multiple(program: Program, statement: form.Statement) -> tuple[float, str] | None:
    """(number, array) of which a derivative takes the product."""
    if isinstance(statement, form.Effect) or statement.phase not in DERIVED:
        return None
    rule, fact = statement.rule, program.facts[statement.target]
    if not (rule.elementwise and rule.linear == (0, 1)) or not values.is_inexact(fact):
        return None
    number, array = statement.operands
    known = isinstance(number, gast.Constant) and type(number.value) in (int, float)
    if not known or not number.value or not values.rank_of(fact):
        return None
    return (number.value, array.id) if isinstance(array, gast.Name) else None


SCALE_LAST = Pass("scale-last", everywhere(scale_last))
CONTRACT = Pass("contract", everywhere(contract_sums))
SHARE = Pass("share-products", everywhere(share_products))
OWN_NEGATIVES = Pass("own-negatives", everywhere(own_negatives))
