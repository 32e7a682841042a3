"""The walk that batches each operation whose operands differ from sample to sample."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import gast
import numpy as np

from s2s_ad.core import form, measure, values
from s2s_ad.core.builder import Builder, Symbol, describe
from s2s_ad.core.callee import Callee, item_of
from s2s_ad.core.program import TEMPORARY, Hint, Program
from s2s_ad.core.registry import CannotBatch, Operation
from s2s_ad.diagnostics import BatchError
from s2s_ad.transforms.batch import effects, samples
from s2s_ad.transforms.calls import derived_callee


class Batch:
    """The batch that a program is being written for, as batching rules see it.

    Args:
        builder: where the batched program is written.
        example: a batched Symbol; its first axis is the batch.
    """

    def __init__(self, builder: Builder, example: Symbol):
        self.builder, self.example = builder, example
        self.batched: set[str] = set()
        self.outputs: dict[str, tuple[bool, ...]] = {}  # of calls with several outputs
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
        rank = measure.sample_rank(value, False)
        shape = (self.size, *measure.lengths(value, range(rank)))
        rule, _, _ = self.builder.definition(value)
        if rule is not None and rule.zeros and value.dtype is not None:
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
    item = item_of(statement)
    if item is not None and atoms[item[0]].name in context.outputs:
        context.builder.replay(statement, atoms, program)
        if context.outputs[atoms[item[0]].name][item[1]]:
            context.batched.add(atoms[form.target(statement)].name)
        return
    operation = context.builder.operation(statement, atoms)
    flags = [context.is_batched(each) for each in operation.operands]
    in_params = any(context.is_batched(each) for each in operation.params.values())
    if not any(flags) and not in_params:
        context.builder.replay(statement, atoms, program)
        return
    if in_params and not operation.rule.varied_parameters:
        function = describe(operation.rule.function)
        raise BatchError(
            "S2S402",
            f"{function} with an argument that differs from sample to sample",
            origin=statement.origin,
            why="the samples' results could have different shapes",
        )
    name = form.target(statement)
    if isinstance(operation.rule, Callee):
        atoms[name] = _call(context, operation, flags, program.hints.get(name, TEMPORARY))
        return
    result = _batched(context, statement, operation, flags)
    atoms[name] = context.builder.named(result, program.hints.get(name, TEMPORARY))
    if isinstance(result, Symbol) and not operation.rule.uniform:
        context.batched.add(result.name)
        known = program.facts[name]
        if isinstance(result.fact, values.Unknown) and isinstance(known, values.Array):
            context.builder.facts[result.name] = values.add_axis(known, 0, context.dim)


def _call(context: Batch, operation: Operation, flags: list[bool], hint: Hint) -> Any:
    """Call the batched callee; each of its outputs is batched or not."""
    facts = tuple(map(context.builder.fact, operation.operands))
    made, batched = batched_call(operation.rule, facts, tuple(flags))
    result = context.builder.named(context.builder.emit(made, operation.operands, {}), hint)
    if made.several:
        context.outputs[result.name] = batched
    elif batched[0]:
        context.batched.add(result.name)
    return result


def batched_call(
    call: Callee, facts: tuple[Any, ...], flags: tuple[bool, ...]
) -> tuple[Callee, tuple[bool, ...]]:
    """(callee of a batch, which outputs are batched)."""
    key = ("batch", facts, flags)
    if key not in call.derived:
        call.derived[key] = _batched_call(call, facts, flags)
    return call.derived[key]


def _batched_call(call: Callee, facts: tuple, flags: tuple) -> tuple[Callee, tuple[bool, ...]]:
    program, builder = call.program, Builder()
    leaves = program.leaves()
    arguments = {
        name: builder.adopt(name, fact, program.hints.get(name, TEMPORARY))
        for name, fact in zip(leaves, facts, strict=True)
    }
    moved = {name for name, flag in zip(leaves, flags, strict=True) if flag}
    outputs, batched, _ = batch(builder, program, arguments, moved)
    made = derived_callee(
        program.with_(facts=dict(builder.facts), hints=dict(builder.hints)),
        outputs,
        body=tuple(builder.body),
        name=f"{program.name}_vmap",
        doc=f"{program.doc}, for each of a batch",
    )
    return made, tuple(batched)


def _batched(
    context: Batch, statement: gast.Assign, operation: Operation, flags: list[bool]
) -> Any:
    try:
        return operation.rule.batch(operation, flags, context)
    except CannotBatch:
        return samples.each_sample(context, operation, flags)
    except NotImplementedError:
        raise BatchError(
            "S2S401",
            f"{operation.rule.name} has no batching rule",
            origin=statement.origin,
            help="write it with other NumPy functions, or loop over the samples",
        ) from None
