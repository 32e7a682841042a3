"""What a function that calls itself saves for its backward pass: one value, which holds its own.

How much that is shows when it runs, so the value has no structure in Core: it is packed at the end
of the forward pass, and unpacked at the start of the backward pass. Derivatives and batches do not
look into it: they are made of the functions that compute the same without it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import gast

from s2s_ad.core import tree, values
from s2s_ad.core.callee import Callee, Compound
from s2s_ad.core.program import Program
from s2s_ad.core.rule import Rule


class Pack(Rule):
    """Several values as one: `(a, b)`."""

    flat = True

    def __init__(self) -> None:
        super().__init__(self, "pack")

    def infer(self, operands: list, params: dict[str, Any]) -> values.AbstractValue:
        return values.Saved()

    def surface(self, call: gast.Call, facts: Callable) -> gast.AST:
        return gast.Tuple(call.args, gast.Load())


PACK = Pack()


class Unpack(Compound):
    """The values again: `a, b = saved`; `facts` are their abstract values."""

    flat = True

    def __init__(self, facts: Sequence[values.AbstractValue]):
        super().__init__("unpack", ())
        self.facts = tuple(facts)

    @property
    def count(self) -> int:
        return len(self.facts)

    def infer(self, operands: list, params: dict[str, Any]) -> Any:
        return tree.tuple_of(self.facts)

    def surface(self, call: gast.Call, facts: Callable) -> gast.AST:
        return call.args[0]


class SavingCallee(Callee):
    """A call that returns what `plain` does, and then what its backward pass needs."""

    def __init__(self, program: Program, plain: Callee):
        super().__init__(program, stub=True)
        self.plain = plain


class RestoringCallee(Callee):
    """A backward pass that is given what was saved, after the operands of the forward pass.

    Attributes:
        index: which operand that is.
        plain: makes the backward pass that does without it.
    """

    def __init__(self, program: Program, index: int, plain: Callable[[], Callee]):
        super().__init__(program, stub=True)
        self.index, self.plain = index, plain


__all__ = ["PACK", "RestoringCallee", "SavingCallee", "Unpack"]
