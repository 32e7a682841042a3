"""Blocks of a batch: their facts, what they hand over, and lists of batches."""

from __future__ import annotations

import operator
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from s2s_ad.core import form, tree, values
from s2s_ad.core.builder import Builder, Symbol, to_node
from s2s_ad.core.callee import Compound, compound_of, may_raise
from s2s_ad.core.program import TEMPORARY, Program
from s2s_ad.core.regions import Attempt, Branch, block, region_of, with_blocks
from s2s_ad.core.rule import Item, Ragged
from s2s_ad.diagnostics import BatchError
from s2s_ad.transforms.batch.context import Batch


@dataclass(frozen=True, slots=True)
class Block:
    """A block that was written for a batch.

    Attributes:
        source: the block of one sample.
        context: the batch inside the block, with the builder.
        leaves: the leaves of the source, then one that is as long as the batch.
        outputs, batched: its outputs, and which of them have a batch axis.
    """

    source: Program
    context: Batch
    leaves: list[str]
    outputs: list
    batched: list[bool]

    def spread(self, facts: Sequence[Any], batched: Sequence[bool]) -> list:
        """The outputs, with a batch axis where `batched`; `facts` are those of one sample."""
        with self.context.builder.at(self.source.origin):
            return [
                spread_as(self.context, value, own, fact) if flag else self._there(value, fact)
                for value, own, fact, flag in zip(
                    self.outputs, self.batched, facts, batched, strict=True
                )
            ]

    def _there(self, value: Any, fact: values.AbstractValue) -> Any:
        """A value that is not spread, and something in the place of one that is not there."""
        shape = values.shape_of(fact)
        if value is not values.UNDEFINED or shape is None:
            return value
        if shape == ():
            return _number(value, fact)
        dtype, call = values.strong_dtype(fact), self.context.builder.call
        known = all(isinstance(each, int) for each in shape) and dtype is not None
        return call(np.zeros, (shape,), {"dtype": dtype}) if known else value

    def is_quiet(self) -> bool:
        """Whether nothing that differs from sample to sample can raise anything.

        Functions of each element raise nothing, but for Python numbers (1.0 / 0.0). Of a branch
        that samples take or do not, what is written for those that take it need not show it.
        """
        body, varied = self.context.builder.body, self._varied_operations()
        if any(compound_of(each) and may_raise(each, self.source.fact) for each in varied):
            return False
        return all(
            self.context.is_elementwise(each) for each in body if self.context.is_varied(each)
        ) and not any(
            values.may_be_python(self.source.facts[each.target]) and not each.rule.total
            for each in varied
        )

    def _varied_operations(self) -> list[form.Op]:
        """The operations of the source whose operands differ from sample to sample."""
        varied = {leaf for leaf in self.source.leaves() if leaf in self.context.batched}
        found = []
        for statement in self.source.body:
            if isinstance(statement, form.Op) and varied.intersection(statement.reads):
                varied.add(statement.target)
                found.append(statement)
        return found

    def program_with(self, leaves: Sequence[str], outputs: Sequence[Any]) -> Program:
        source = self.source
        made = block(self.context.builder, leaves, outputs, captures=source.captures)
        return made.with_(name=source.name, doc=source.doc, origin=source.origin)


def adopted(
    builder: Builder, program: Program, names: Iterable[str], facts: Iterable[Any]
) -> dict[str, Symbol]:
    """Leaves of a program under their own names, with other facts."""
    return {
        name: builder.adopt(name, fact, program.hints.get(name, TEMPORARY))
        for name, fact in zip(names, facts, strict=True)
    }


def batched_block(
    context: Batch, program: Program, facts: Sequence[Any], batched: Sequence[bool]
) -> Block:
    """A block of a batch: its leaves have these facts, and one that is as long as the batch
    follows."""
    builder = Builder()
    arguments = adopted(builder, program, program.leaves(), facts)
    extra = builder.symbol(context.example.fact)
    inner = context.like(builder, extra)
    for value, flag in zip(arguments.values(), batched, strict=True):
        inner.mark(value, flag)
    with builder.at(program.origin):
        outputs, flags = inner.walk(program, arguments)
    return Block(program, inner, [*arguments, extra.name], outputs, flags)


def _number(value: Any, fact: values.AbstractValue) -> Any:
    """A value that some path does not have, and nobody reads there, as a number where it can be.

    Among the samples of a batch there is no None.
    """
    dtype = values.strong_dtype(fact) if value is values.UNDEFINED else None
    return value if dtype is None else dtype.type(0).item()


def all_there(statement: form.Statement) -> form.Statement:
    """A branch or a `try` that is the same for all samples, with such numbers for its outputs."""
    region = region_of(statement)
    if region is None:
        return statement
    blocks = [each.with_body(list(map(all_there, each.body))) for each in region.blocks]
    if isinstance(region, Branch | Attempt):
        blocks = [_with_numbers(each, region.facts) for each in blocks]
    return with_blocks(statement, region, blocks)


def _with_numbers(program: Program, facts: Sequence[Any]) -> Program:
    outputs = [
        to_node(_number(atom.value, fact)) if form.is_undefined(atom) else atom
        for atom, fact in zip(program.outputs(), facts, strict=False)
    ]
    if all(map(operator.is_, outputs, program.outputs())):
        return program
    rest = iter(outputs)
    return program.with_(output=tree.tree_map(lambda _: next(rest), program.output))


def spread_as(context: Batch, value: Any, batched: bool, fact: Any) -> Any:
    """`value` with a batch axis, and in the dtype that `fact` has for one sample."""
    wanted = values.strong_dtype(fact)
    if value is values.UNDEFINED:  # a number that nobody reads, next to some that are read
        return filled(context, (), 0, wanted) if values.shape_of(fact) == () and wanted else value
    if isinstance(value, Symbol):
        if not batched and value.shape == ():  # memory of its own, for it will be written to
            kind = wanted if _is_of_paths(context, value) else None
            value = context.builder.call(np.full, (context.size, value), {"dtype": kind})
        elif not batched:
            value = context.spread(value, False)
        if wanted is None or value.dtype is None or value.dtype == wanted:
            return value
        if batched and values.may_be_wider(fact) and not np.can_cast(value.dtype, wanted):
            raise Ragged  # Python's numbers, which differ from sample to sample, would be cut
        return value.astype(wanted.type)
    if type(value) not in values.PYTHON_NUMBERS and not isinstance(value, np.generic):
        raise BatchError(
            "S2S402",
            f"{value!r} for some samples and something else for others",
            origin=context.builder.origin,
            why="a batch has one array for all samples",
            help="let both sides give numbers or arrays",
        )
    if values.shape_of(fact) and value == 0 and values.may_be_absent(fact):
        return value  # which stands for no array, whatever the samples are
    value = value if wanted is None else wanted.type(value)
    return filled(context, (), value, wanted)


def _is_of_paths(context: Batch, value: Symbol) -> bool:
    """Whether it is a number of Python's that a branch, a loop or a helper gives: on some path it
    may be whole."""
    rule, _, _ = context.builder.definition(value)
    return isinstance(rule, Item | Compound) and isinstance(value.fact, values.Scalar)


def filled(context: Batch, lengths: Sequence[Any], value: Any, dtype: np.dtype | None) -> Any:
    """An array of samples that have these lengths, all elements the same number."""
    call = context.builder.call
    shape = (context.size, *lengths) if lengths else context.size
    if value in (0, 1) and dtype is not None:
        return call(np.ones if value else np.zeros, (shape,), {"dtype": dtype})
    if isinstance(value, np.generic) and np.asarray(value.item()).dtype == value.dtype:
        value = value.item()
    return call(np.full, (shape, value), {})
