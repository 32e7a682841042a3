"""Derivatives that the user says: in code of his own, or by computing values again."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import gast

from s2s_ad.core import form, tree, values
from s2s_ad.core.callee import Callee, Compound
from s2s_ad.core.program import Program
from s2s_ad.core.rule import CannotBatch, Operation, Rule


class CheckpointCallee(Callee):
    """A call whose backward pass is given the arguments alone, and computes the rest again."""


class ScheduledCallee(Callee):
    """Passes of a loop, of which the backward pass keeps few states and runs others again.

    The operands are the numbers of the first pass and of the one after the last, how many states
    there is memory for, what the loop carries, and what is fixed. The outputs are what it carries;
    with `whole` also the number after the last pass that ran, which may be less than asked for.

    Attributes:
        one_pass: the number of a pass, what is carried, what is fixed -> what is carried on.
        whole: the same for passes of which all are known to run.
    """

    numbers = 3

    def __init__(self, program: Program, one_pass: Program, whole: ScheduledCallee | None = None):
        super().__init__(program)
        self.one_pass, self.whole = one_pass, whole

    @property
    def carried(self) -> int:
        return len(self.one_pass.outputs())


class CustomCallee(Callee):
    """A call whose derivatives are programs of the user's.

    Attributes:
        reverse: the adjoints of the outputs, the outputs, the operands -> the adjoint of each of
            the first `own` operands.
        forward: the tangents of the first `own` operands, the outputs, the operands -> the
            tangents of the outputs.
        own: the number of operands that the user passes; the function reads the others from
            around it, and no derivative is known for them.
    """

    def __init__(
        self, program: Program, reverse: Program | None, forward: Program | None, own: int
    ):
        super().__init__(program)
        self.reverse_program, self.forward_program, self.own = reverse, forward, own
        self.told_derivatives = tuple(each for each in (reverse, forward) if each is not None)


class Opaque(Rule):
    """A function of which nothing is known but that it can be called: see `custom_rule`.

    Args:
        function: what the text calls.
        results: how many it gives, where that is a tuple.
    """

    of_complex = True
    raises = (BaseException,)

    def __init__(self, function: Callable, results: int | None):
        super().__init__(self, getattr(function, "__name__", type(function).__name__))
        self.called, self.count = function, results

    def bind(self, builder: Any, args: tuple, kwargs: dict[str, Any]) -> Any:
        result = builder.emit(self, list(args), kwargs)
        if self.count is None:
            return result
        return tuple(builder.emit_item(result, index) for index in range(self.count))

    def infer(self, operands: list, params: dict[str, Any]) -> Any:
        if self.count is None:
            return values.unknown(True)
        items = tuple(values.unknown(True) for _ in range(self.count))
        return tree.tuple_of(items)

    def batch(self, operation: Operation, batched: list[bool], batch: Any) -> Any:
        raise CannotBatch

    def surface(self, call: gast.Call, facts: Any) -> gast.AST:
        return gast.Call(form.constant(self.called), call.args, call.keywords)


class InsertGrad(Compound):
    """The identity of its first operand, whose adjoint goes through code of the user's.

    The program's leaves are the adjoint and the other operands; its output is the new adjoint.
    """

    marker = True
    of_complex = view = True

    def __init__(self, program: Program):
        super().__init__("insert_grad_of", (program,))
        self.program = program

    @property
    def effects(self) -> bool:  # type: ignore[override]
        return False  # the code runs in the backward pass, where it is spliced

    @property
    def count(self) -> None:
        return None

    def infer(self, operands: list, params: dict[str, Any]) -> values.AbstractValue:
        return operands[0]

    def reverse(self, operation: Operation, y_bar: Any) -> list:
        result: Any = operation.result
        builder, others = result.builder, operation.operands[1:]
        leaves = dict(zip(self.program.leaves(), [y_bar, *others], strict=True))
        x_bar = builder.splice(self.program, leaves, phase=builder.phase)
        return [x_bar, *(None for _ in others)]

    def forward(self, operation: Operation, tangents: list) -> Any:
        return tangents[0]

    def batch(self, operation: Operation, batched: list[bool], batch: Any) -> Any:
        made = InsertGrad(batch.program(self.program, operation.operands, batched))
        return batch.builder.emit(made, operation.operands, {})
