"""The walk that batches each operation whose operands differ from sample to sample."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import gast
import numpy as np

from s2s_ad.core import form, values
from s2s_ad.core.builder import Builder, Symbol
from s2s_ad.core.program import TEMPORARY, Hint, Program
from s2s_ad.core.registry import Operation
from s2s_ad.diagnostics import BatchError
from s2s_ad.rules import support
from s2s_ad.rules.elementwise import is_zeros
from s2s_ad.transforms.batch import effects, samples


class Batch:
    """The batch that a program is being written for, as batching rules see it.

    Args:
        builder: where the batched program is written.
        example: a batched Symbol; its first axis is the batch.
    """

    def __init__(self, builder: Builder, example: Symbol):
        self.builder, self.example = builder, example
        self.batched: set[str] = set()
        self.dim = example.shape[0] if example.shape else values.fresh_dim()

    @property
    def size(self) -> Any:
        """The number of samples."""
        return np.size(self.example, 0)

    @property
    def positions(self) -> Symbol:
        """0, 1, ... for each sample."""
        found = np.arange(self.size, like=self.example)
        return self.builder.named(found, Hint("batch", "derived"))

    def is_batched(self, value: Any) -> bool:
        if isinstance(value, tuple | list):
            return any(map(self.is_batched, value))
        if isinstance(value, slice):
            if any(map(self.is_batched, (value.start, value.stop, value.step))):
                raise BatchError(
                    "S2S402",
                    "a slice whose bounds differ from sample to sample",
                    origin=self.builder.origin,
                    why="the samples' slices could have different lengths",
                    help="use an index array, or np.where with a mask",
                )
            return False
        return isinstance(value, Symbol) and value.name in self.batched

    def sample(self, value: Symbol) -> Symbol:
        """A stand-in with the abstract value of one sample."""
        return self.builder.symbol(sample_fact(value.fact))

    def spread(self, value: Any, batched: bool) -> Any:
        """`value` with a batch axis, the same for every sample where it had none."""
        if batched:
            return value
        if not isinstance(value, Symbol):
            return self.builder.call(np.full, ((self.size,), value), {})
        rank = support.sample_rank(value, False)
        shape = (self.size, *support.lengths(value, range(rank)))
        if is_zeros(self.builder, value) and value.dtype is not None:
            return self.builder.call(np.zeros, (shape,), {"dtype": value.dtype})
        return np.broadcast_to(value, shape)


def sample_fact(fact: values.AbstractValue) -> values.AbstractValue:
    shape = values.shape_of(fact)
    return fact if not shape else values.with_shape(fact, shape[1:])


def batch(
    builder: Builder, program: Program, arguments: Mapping[str, Any], batched: set[str]
) -> tuple[list, list[bool], Batch]:
    """Write `program` for a batch.

    Args:
        arguments: a value for each leaf; those of `batched` have the batch axis first.
    Returns:
        the outputs, which of them are batched, and the batch.
    """
    atoms = dict(arguments)
    example = next(atoms[name] for name in program.leaves() if name in batched)
    context = Batch(builder, example)
    context.batched.update(atoms[name].name for name in batched)
    for capture in program.captured():
        atoms[capture.name] = builder.import_name(program, capture.name)
    for statement in program.body:
        with builder.at(statement.origin, statement.phase):
            _step(context, program, statement, atoms)
    outputs = [builder.view(atom, atoms) for atom in program.outputs()]
    return outputs, [context.is_batched(each) for each in outputs], context


def _step(context: Batch, program: Program, statement: form.Statement, atoms: dict) -> None:
    if form.is_effect(statement):
        effects.batch_effect(context, statement, atoms)
        return
    operation = context.builder.operation(statement, atoms)
    flags = [context.is_batched(each) for each in operation.operands]
    in_params = any(context.is_batched(each) for each in operation.params.values())
    if not any(flags) and not in_params:
        context.builder.replay(statement, atoms, program)
        return
    result = _batched(context, statement, operation, flags)
    name = form.target(statement)
    atoms[name] = context.builder.named(result, program.hints.get(name, TEMPORARY))
    if isinstance(result, Symbol) and not getattr(operation.rule, "uniform", False):
        context.batched.add(result.name)
        known = program.facts[name]
        if isinstance(result.fact, values.Unknown) and isinstance(known, values.Array):
            context.builder.facts[result.name] = values.add_axis(known, 0, context.dim)


def _batched(
    context: Batch, statement: gast.Assign, operation: Operation, flags: list[bool]
) -> Any:
    try:
        return operation.rule.batch(operation, flags, context)
    except support.CannotBatch:
        return samples.each_sample(context, operation, flags)
    except NotImplementedError:
        raise BatchError(
            "S2S401",
            f"{operation.rule.name} has no batching rule",
            origin=statement.origin,
            help="write it with other NumPy functions, or loop over the samples",
        ) from None
