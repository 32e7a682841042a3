"""What it costs to keep a value of the forward pass, and what to compute it once more.

Costs are in additions of numbers; only their order matters. Lengths that are not known count as
if they were `TYPICAL`.
"""

from __future__ import annotations

from collections.abc import Mapping

import gast

from s2s_ad.analysis.indices import index_kind
from s2s_ad.core import form, sizes, values
from s2s_ad.core.callee import has_effect, item_of
from s2s_ad.core.regions import Branch
from s2s_ad.core.tree import Tree
from s2s_ad.storage.cut import Value

KEEP = 12  # a number put into a list and taken out again
NUMBER = 3  # the most that a function of single numbers costs, next to what Python spends on it
SINGLE = values.Scalar | values.Static | values.Saved | values.Row | values.Word | values.Error
CHOICE = 1  # one number or another
FEW = 8  # numbers of an array that is shorter to write again than to name and to hand over
SHARED = 8  # of a value that somebody else may keep only a part of the cost counts
TYPICAL = 64  # the length of an axis, or of a list


def size(fact: values.AbstractValue) -> int:
    """About how many numbers a value holds."""
    if isinstance(fact, values.List):
        return TYPICAL * size(fact.item)
    if isinstance(fact, SINGLE):
        return 1
    shape = values.shape_of(fact)
    count = 1
    for dim in (TYPICAL,) if shape is None else shape:
        count *= dim if isinstance(dim, int) else _typical(dim)
    return count


def _typical(dim: values.Dim) -> int:
    """A length that is not known; a part up to an index is half of that, as in a triangle."""
    depends = any(not atom.is_length for atom in sizes.atoms_of(dim.size))
    return TYPICAL // 2 if depends else TYPICAL


def is_small(statement: form.Op, fact: values.AbstractValue) -> bool:
    """Whether a value is an array with a byte for an element, or a length, of another array."""
    dtype = values.strong_dtype(fact)
    mask = dtype is not None and dtype.itemsize == 1 and bool(values.shape_of(fact))
    return mask or statement.rule.length


def cost_of_keeping(fact: values.AbstractValue) -> int | None:
    if isinstance(fact, Tree):
        return None  # several outputs: each is kept on its own
    count, dtype = size(fact), values.strong_dtype(fact)
    if count == 1 or dtype is None:
        return KEEP * count
    return max(KEEP * count * dtype.itemsize // 8, KEEP)


def cost_of_computing(statement: form.Op, fact: values.AbstractValue) -> int | None:
    """None where it is too much, or must not happen twice."""
    rule = statement.rule
    if has_effect(statement):
        return None
    if isinstance(rule, Branch):
        return CHOICE if _is_choice(rule) else None
    if item_of(statement) is not None or rule.view or rule.cheap:
        return 0
    cost, count = rule.cost_of(statement.operands), size(fact)
    if cost is None:
        return None
    return min(cost, NUMBER) if count == 1 else cost * count


def _gathers(statement: form.Op, facts: Mapping[str, values.AbstractValue]) -> bool:
    """Whether an index takes elements one by one, as an array of indices or a mask does."""

    def fact(atom: gast.AST) -> values.AbstractValue:
        return facts[atom.id] if isinstance(atom, gast.Name) else values.of_constant(atom.value)

    index = statement.parameters.get("index")
    if not statement.rule.view or index is None:
        return False
    return index_kind(index, fact(statement.operands[0]), fact) == "new"


def _is_choice(branch: Branch) -> bool:
    """Whether a branch only chooses between two numbers that are at hand, as max and min do."""
    computes = any(block.body for block in branch.blocks)
    return not computes and branch.count == 1 and size(branch.facts[0]) == 1


def _is_short(statement: form.Op, fact: values.AbstractValue) -> bool:
    """Whether it is a number by one operation on one other, which is as short as a name for it."""
    rule = statement.rule
    simple = rule.elementwise and rule.cost_of(statement.operands) == 1
    return simple and size(fact) == 1 and len(statement.reads) <= 1


def value_of(
    statement: form.Op, facts: Mapping[str, values.AbstractValue], *, repeated: bool
) -> Value:
    """The value that a statement computes.

    Where the statement runs once (not `repeated`) its value is simply still there: keeping it
    costs nothing worth a computation. Of an array and its view the array is kept. A number that
    is computed of constants, such as `0.1**2`, is written again, and so are a few.
    """
    fact = facts[statement.target]
    keep, again = cost_of_keeping(fact), cost_of_computing(statement, fact)
    if again == 0 and _gathers(statement, facts):
        again = size(fact)
    if again is not None and not statement.reads and size(fact) <= (1 if repeated else FEW):
        again = 0
    keep = keep + 1 if keep is not None and again == 0 else keep
    if not repeated:
        short = again == 0 or (again is not None and _is_short(statement, fact))
        keep, again = (None if keep is None else 1), (0 if short else None)
    return Value(keep, again, tuple(dict.fromkeys(statement.reads)))
