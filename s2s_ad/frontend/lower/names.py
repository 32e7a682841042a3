"""`(x := value)` and `del`."""

from __future__ import annotations

from typing import Any

import gast

from s2s_ad.frontend.lower.core import Lowering, expression, statement
from s2s_ad.frontend.lower.entries import drop_entry
from s2s_ad.frontend.lower.exits import CONTINUE, Exits
from s2s_ad.frontend.lower.nonlocals import owner_of
from s2s_ad.frontend.lower.objects import delete_attribute
from s2s_ad.frontend.lower.statements import bind
from s2s_ad.frontend.lower.subscripts import delete_item


@expression(gast.NamedExpr)
def walrus(lowering: Lowering, node: gast.NamedExpr) -> Any:
    """`(x := value)`"""
    value = lowering.evaluate_any(node.value)
    bind(lowering, node.target, value)
    return value


@statement(gast.Delete)
def deleted(lowering: Lowering, node: gast.Delete) -> Exits:
    """`del x, items[i], obj.name` Of names, items of lists and dicts, and attributes."""
    for target in node.targets:
        if isinstance(target, gast.Name):
            delete_name(lowering, target)
        elif isinstance(target, gast.Tuple | gast.List):
            deleted(lowering, gast.copy_location(gast.Delete(targets=target.elts), node))
        elif isinstance(target, gast.Subscript):
            index = lowering.evaluate(target.slice)
            delete_item(lowering, lowering.evaluate(target.value), index)
        else:
            delete_attribute(lowering, lowering.evaluate(target.value), target.attr)
    return CONTINUE


def delete_name(lowering: Lowering, node: gast.Name) -> None:
    """`del x`, which raises what reading the name would where it is not assigned."""
    read = gast.Name(node.id, gast.Load(), None, None)
    lowering.evaluate_any(gast.copy_location(read, node))
    owner = owner_of(lowering.frame, node.id)
    if owner is None:
        del lowering.frame.locals[node.id]
    else:
        error = UnboundLocalError(f"the local {node.id!r} is not assigned")
        drop_entry(lowering, owner.shared, node.id, error)
