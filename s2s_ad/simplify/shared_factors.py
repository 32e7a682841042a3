"""Sums of products with one matrix are the product of that matrix with a sum."""

from __future__ import annotations

import operator
from dataclasses import replace

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

PLAIN = ("ab,bc->ac", "ab,ca->cb")  # x @ y and y @ x: neither is transposed


def join_products(program: Program) -> Program:
    """One product for two, where the sum of what they multiply costs less than a product does.

    Example:
        >>> from s2s_ad.check.passes import after
        >>> def f(Z, X):
        ...     S = X - X.T @ X
        ...     return Z @ S.T + Z @ S
        >>> print(after(JOIN_PRODUCTS, f, np.ones((4, 2)), np.ones((2, 2)), derived=True))
        f(Z: f64[n, m], X: f64[p, q]):
            t1 = np.transpose(X)
            t2 = contract(X, X, spec='ab,ac->bc')
            S = X - t2
            t3 = np.transpose(S)
            t4 = np.transpose(S)
            t5 = S + t4
            t6 = contract(Z, t5, spec='ab,bc->ac')
            return t6
    """
    derived = [each for each in program.body if isinstance(each, form.Op) and each.phase in DERIVED]
    products = {each.target: each for each in derived if each.function is runtime.contract}
    if len(products) < 2:
        return program
    return _Joining(program, derived, products).program()


class _Joining:
    """Walks the sums of a block once.

    Attributes:
        gone: what the sums were made of, and nothing reads any more.
    """

    def __init__(self, program: Program, derived: list, products: dict[str, form.Op]):
        self.before, self.products = program, products
        self.sums = {each.target: each for each in derived if each.function is operator.add}
        self.counts = liveness.counts(program.body, program.outputs())
        self.facts, self.gone = dict(program.facts), set[str]()

    def program(self) -> Program:
        made = rewritten(self.before, self._changed, self.facts)
        kept = [each for each in made.body if getattr(each, "target", "") not in self.gone]
        return made.with_body(kept) if self.gone else self.before

    def _changed(self, statement: form.Statement) -> form.Statement | list[form.Op]:
        if not isinstance(statement, form.Op) or statement.target not in self.sums:
            return statement
        for last, others in (statement.operands, statement.operands[::-1]):
            product = self._once(last, self.products)
            made = None if product is None else self._with(statement, product, others)
            if made is not None:
                return made
        return statement

    def _with(self, statement: form.Op, product: form.Op, others: gast.AST) -> list[form.Op] | None:
        """The sum of a product and of others, of which one shares a factor with it."""
        inner = self._once(others, self.sums)
        pairs = [(others, None)] if inner is None else [inner.operands, inner.operands[::-1]]
        for first, rest in pairs:
            source = self._once(first, self.products)
            made = None if source is None else self._joined(source, product)
            if made is None:
                continue
            self.gone |= {each.target for each in (product, source, inner) if each is not None}
            *before, joined = made
            if rest is None:
                parts = joined.operands, joined.parameters
                return [*before, statement.with_call(runtime.contract, *parts)]
            total = statement.with_call(operator.add, [rest, form.name(joined.target)])
            return [*before, joined, total]
        return None

    def _once(self, atom: gast.AST, made: dict[str, form.Op]) -> form.Op | None:
        """The statement that makes a value which nothing else reads."""
        name = getattr(atom, "id", "")
        return made.get(name) if self.counts.get(name) == 1 and name not in self.gone else None

    def _joined(self, one: form.Op, other: form.Op) -> list[form.Op] | None:
        """What computes the sum of two products as one; None where they share no factor, or where
        that would take longer."""
        if self.facts[one.target] != self.facts[other.target]:
            return None
        if other.parameters["spec"].value in PLAIN:
            one, other = other, one
        for index, shared in enumerate(one.operands):
            for there, same in enumerate(other.operands):
                if getattr(shared, "id", "") != getattr(same, "id", None):
                    continue
                axes = _axes(one, index, other, there)
                x, y = one.operands[1 - index], other.operands[1 - there]
                made = None if axes is None else self._written(other, x, y, axes)
                if made is not None:
                    operands = [*one.operands]
                    operands[1 - index] = form.name(made[-1].target)
                    name = fresh_name()
                    self.facts[name] = self.facts[one.target]
                    product = other.beside(name, one.rule.function, operands, one.parameters)
                    return [*made, product]
        return None

    def _written(
        self, at: form.Op, x: gast.AST, y: gast.AST, axes: list[int]
    ) -> list[form.Op] | None:
        """The sum of x and of y, whose axes are in that order those of x."""
        fact, own = self.before.fact(x), self.before.fact(y)
        if not isinstance(own, values.Array) or not own.shape:
            return None
        turned = replace(own, shape=tuple(own.shape[axis] for axis in axes))
        if turned != fact or not values.is_inexact(fact):
            return None
        before = []
        if axes != sorted(axes):
            params = {} if len(axes) == 2 else {"axes": form.constant(tuple(axes))}
            name = fresh_name()
            self.facts[name] = turned
            before, y = [at.beside(name, np.transpose, [y], params)], form.name(name)
        name = fresh_name()
        self.facts[name] = turned
        return [*before, at.beside(name, operator.add, [x, y])]


def _axes(one: form.Op, index: int, other: form.Op, there: int) -> list[int] | None:
    """How the axes of what the other product multiplies have to stand to be those of the one's."""
    (ins, out), (other_ins, other_out) = (
        each.parameters["spec"].value.split("->") for each in (one, other)
    )
    mine, its = ins.split(","), other_ins.split(",")
    pairs = [*zip(its[there], mine[index], strict=False), *zip(other_out, out, strict=False)]
    called = dict(pairs)
    if len(called) != len(set(pairs)) or len(set(called.values())) != len(called):
        return None  # not the same axes are summed
    varied, wanted = [called.get(letter) for letter in its[1 - there]], mine[1 - index]
    cheaper = set(wanted) < set(ins) - {","}
    if not cheaper or sorted(wanted) != sorted(map(str, varied)) or len({*wanted}) < len(wanted):
        return None
    return [varied.index(letter) for letter in wanted]


JOIN_PRODUCTS = Pass("join-products", everywhere(join_products))
