"""What is known of the adjoint of a factorisation: that its matrix has an outer product for one.

Whatever way a system is solved, the adjoint of its matrix is an outer product. So a solution hands
the adjoint of the factors on together with the two vectors of that product (`of_product`), and
where it comes to the factorisation, the product is all that is computed.
"""

from __future__ import annotations

import functools
import operator
from typing import Any

from s2s_ad.core import values
from s2s_ad.core.builder import Builder
from s2s_ad.core.registry import register
from s2s_ad.core.rule import Operation, Rule
from s2s_ad.rules.matrices import outer
from s2s_ad.runtime import of_product


class OfProduct(Rule):
    """of_product(factors_bar, p, q): the first operand, which is there because the matrix has the
    adjoint -p @ q.H."""

    marker = of_complex = quiet = total = cheap = True
    cost = 0

    def bind(self, builder: Builder, args: tuple, kwargs: dict[str, Any]) -> Any:
        return builder.emit(self, list(args), {})

    def infer(self, operands: list, params: dict[str, Any]) -> values.AbstractValue:
        return operands[0]

    def reverse(self, operation: Operation, y_bar: Any) -> list:
        return [y_bar, None, None]

    def forward(self, operation: Operation, tangents: list) -> Any:
        return tangents[0]

    def batch(self, operation: Operation, batched: list[bool], batch: Any) -> Any:
        return batch.spread(operation.operands[0], batched[0])


def products_in(builder: Builder, factors_bar: Any) -> tuple[list, Any]:
    """The products that an adjoint of factors is known to come from, and what else it has."""
    rule, operands, _ = builder.definition(factors_bar)
    if isinstance(rule, OfProduct):
        return [operands[1:]], None
    if rule is None or rule.function is not operator.add:
        return [], factors_bar
    found = [products_in(builder, each) for each in operands]
    products = [product for each, _ in found for product in each]
    rest = [each for _, each in found if each is not None]
    return (products, sum(rest[1:], rest[0]) if rest else None) if products else ([], factors_bar)


def matrix_bar(products: list) -> Any:
    """The adjoint of the matrix, from the products that it is known by."""
    return functools.reduce(operator.add, [-outer(p, q) for p, q in products])


register(OfProduct(of_product, "of_product"))
