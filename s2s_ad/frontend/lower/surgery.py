"""with insert_grad_of(x) as x_bar: code that runs in the backward pass."""

from __future__ import annotations

from typing import TYPE_CHECKING

import gast

from s2s_ad.core.builder import Symbol, to_node
from s2s_ad.core.custom import InsertGrad
from s2s_ad.core.program import TEMPORARY, Hint
from s2s_ad.frontend.lower.exits import CONTINUE, Exits
from s2s_ad.frontend.lower.paths import block, explore, free_names

if TYPE_CHECKING:
    from s2s_ad.frontend.lower.core import Lowering


def insert_grad(lowering: Lowering, node: gast.With, item: gast.withitem) -> Exits:
    """The body is cut out, and becomes code on the adjoint; x goes on as a value of its own."""
    (argument,) = item.context_expr.args
    target = item.optional_vars
    if not isinstance(argument, gast.Name) or not isinstance(target, gast.Name):
        raise lowering.refuse(
            node,
            "insert_grad_of of anything but a name",
            "with insert_grad_of(x) as x_bar: ... of a name x",
        )
    x = lowering.evaluate(argument)
    if not isinstance(x, Symbol):
        return CONTINUE  # it is known now, and has no adjoint
    x_bar = lowering.builder.symbol(x.fact, Hint(target.id, "user"))

    def run() -> Exits:
        lowering.frame.locals[target.id] = x_bar
        return lowering.run(node.body)

    path = explore(lowering, run)
    result = path.name(target.id)
    others = [each for each, value in path.names.items() if _is_changed(lowering, each, value)]
    if path.left is not CONTINUE or path.changed or [each for each in others if each != target.id]:
        raise lowering.refuse(
            node,
            "an insert_grad_of that does more than to change the gradient",
            f"its body runs in the backward pass: it may assign {target.id}, and print",
        )
    output = to_node(result)
    free = [each for each in free_names(lowering, path.body, [output]) if each != x_bar.name]
    program = block(lowering, path.body, [x_bar.name, *free], [output])
    operands = [x, *(Symbol(lowering.builder, each) for each in free)]
    rule = InsertGrad(program.with_(output=program.output.items[0]))
    made = lowering.builder.emit(rule, operands, {})
    lowering.builder.named(made, lowering.builder.hints.get(x.name, TEMPORARY))
    lowering.memory.assign(x, made)
    return CONTINUE


def _is_changed(lowering: Lowering, name: str, value: object) -> bool:
    return lowering.frame.locals.get(name) is not value


__all__ = ["insert_grad"]
