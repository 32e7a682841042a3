"""Branches that do no more than to choose a value, as one assignment; conditions with and, or."""

from __future__ import annotations

from typing import Any

import gast

from s2s_ad.core.rule import Rule
from s2s_ad.emit.printer import print_expression
from s2s_ad.emit.provenance import absorb

LONGEST = 60  # characters of a value that is chosen in one line

OPPOSITE = {
    gast.Eq: gast.NotEq,
    gast.In: gast.NotIn,
    gast.Is: gast.IsNot,
    gast.IsNot: gast.Is,
    gast.NotEq: gast.Eq,
    gast.NotIn: gast.In,
}
ORDERS = (gast.Lt, gast.LtE), (gast.Gt, gast.GtE)
QUIET = (gast.Name, gast.Constant, gast.Compare, gast.BoolOp, gast.UnaryOp, gast.BinOp)
QUIET_OPERATORS = (gast.Add, gast.Sub, gast.Mult)


def negated(condition: gast.AST) -> gast.AST:
    """`not condition`, said simply; an order has no opposite, for there is nan."""
    if isinstance(condition, gast.UnaryOp) and isinstance(condition.op, gast.Not):
        return condition.operand
    single = isinstance(condition, gast.Compare) and len(condition.ops) == 1
    if single and type(condition.ops[0]) in OPPOSITE:
        opposite = OPPOSITE[type(condition.ops[0])]()
        return gast.Compare(condition.left, [opposite], condition.comparators)
    return gast.UnaryOp(gast.Not(), condition)


def of_truths(node: gast.AST, rule: Rule) -> gast.AST:
    """`a and b`, `a or b` or `not a` for an operation that says so of truths.

    What is only looked at where the first decides nothing must be certain not to raise.
    """
    first, *others = _operands(node)
    if rule.negates:
        return negated(first)
    if not all(map(_is_quiet, others)):
        return node
    operator = gast.And if rule.shared_truth else gast.Or
    parts: list[gast.AST] = []
    for each in (first, *others):
        for part in each.values if _is_joined(each, operator) else [each]:
            chain = _chained(parts[-1], part) if parts and rule.shared_truth else None
            parts = [*parts, part] if chain is None else [*parts[:-1], chain]
    return parts[0] if len(parts) == 1 else gast.BoolOp(operator(), parts)


def _is_joined(node: gast.AST, operator: type[gast.AST]) -> bool:
    return isinstance(node, gast.BoolOp) and isinstance(node.op, operator)


def _chained(first: gast.AST, second: gast.AST) -> gast.Compare | None:
    """`a < b < c` for `a < b and b < c`."""
    if not isinstance(first, gast.Compare) or not isinstance(second, gast.Compare):
        return None
    *_, middle = first.comparators
    ops = [*first.ops, *second.ops]
    ordered = any(all(isinstance(each, order) for each in ops) for order in ORDERS)
    same = isinstance(middle, gast.Name) and middle.id == getattr(second.left, "id", "")
    if not ordered or not same:
        return None
    return gast.Compare(first.left, ops, [*first.comparators, *second.comparators])


def _operands(node: gast.AST) -> list[gast.AST]:
    """The operands of a call or of an operator."""
    if isinstance(node, gast.Call):
        return node.args
    return [node.operand] if isinstance(node, gast.UnaryOp) else [node.left, node.right]


def _is_quiet(node: gast.AST) -> bool:
    parts = [each for each in gast.walk(node) if isinstance(each, gast.expr)]
    operators = [each.op for each in parts if isinstance(each, gast.BinOp)]
    return all(isinstance(each, QUIET) for each in parts) and all(
        isinstance(each, QUIET_OPERATORS) for each in operators
    )


def chosen(branch: gast.If, *, truth: bool, plain: bool) -> gast.stmt:
    """The branch, or an assignment of the value that it chooses where that is a short line.

    Before: `if c: a = 1.0, else: a = 0.0`; after: `a = 1.0 if c else 0.0`. What is computed on a
    side stays there, unless the user wrote all of it in one line.

    Args:
        truth: whether the choice is one of truths, of which only that they are true counts.
        plain: whether only names and numbers may be chosen.
    """
    first, second = _assigned(branch.body), _assigned(branch.orelse)
    if first is None or second is None or first.targets[0].id != second.targets[0].id:
        return branch
    then, orelse = first.value, second.value
    value = _decided(branch.test, then, orelse) if truth else None
    atoms = all(isinstance(side, gast.Name | gast.Constant) for side in (then, orelse))
    if value is None and (atoms or (not plain and _in_one_line(first, second, branch))):
        value = _either(branch.test, then, orelse)
    if value is None or _is_nested(then, orelse) or len(print_expression(value)) > LONGEST:
        return branch
    assignment = gast.Assign([first.targets[0]], value, None)
    assignment.branch = branch
    absorb(assignment, [first, second])
    return assignment


def as_alternative(block: list[gast.stmt]) -> list[gast.stmt]:
    """What stands behind `else`: another branch is one there, an `elif`."""
    branch = getattr(block[0], "branch", None) if len(block) == 1 else None
    return block if branch is None else [branch]


def _either(test: gast.AST, then: gast.AST, orelse: gast.AST) -> gast.AST:
    if isinstance(test, gast.UnaryOp) and isinstance(test.op, gast.Not):
        return gast.IfExp(test.operand, orelse, then)
    return gast.IfExp(test, then, orelse)


def _assigned(block: list[gast.stmt]) -> gast.Assign | None:
    only = block[0] if len(block) == 1 else None
    if isinstance(only, gast.Assign) and isinstance(only.targets[0], gast.Name):
        return only
    return None


def _decided(test: gast.AST, then: gast.AST, orelse: gast.AST) -> gast.AST | None:
    """`test or b` for `True if test else b`, and its kin."""
    for value, operator, other, condition in (
        (then, {True: gast.Or, False: gast.And}, orelse, {True: test, False: negated(test)}),
        (orelse, {True: gast.Or, False: gast.And}, then, {True: negated(test), False: test}),
    ):
        known = value.value if isinstance(value, gast.Constant) else None
        if isinstance(known, bool) and not isinstance(other, gast.Constant):
            return gast.BoolOp(operator[known](), [condition[known], other])
    return None


def _in_one_line(*parts: gast.stmt) -> bool:
    """Whether the user wrote all that he wrote of it in one line."""
    origins = [each.origin for each in parts if getattr(each, "origin", None)]
    return len({(each.file, each.line) for each in origins}) <= 1


def _is_nested(*values: Any) -> bool:
    return any(isinstance(part, gast.IfExp) for each in values for part in gast.walk(each))


__all__ = ["as_alternative", "chosen", "negated", "of_truths"]
