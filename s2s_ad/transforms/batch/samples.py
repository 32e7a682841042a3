"""The form of last resort: one sample after the other, for what has no batched form."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from s2s_ad import runtime
from s2s_ad.core import measure, tree, values
from s2s_ad.core.builder import Builder, Symbol
from s2s_ad.core.callee import reached
from s2s_ad.core.callers import Caller
from s2s_ad.core.program import TEMPORARY, Hint, Program
from s2s_ad.core.regions import Loop, Region, block
from s2s_ad.core.rule import Operation, Ragged
from s2s_ad.diagnostics import BatchError, SampleLoopWarning
from s2s_ad.transforms.batch.context import Batch, batched_fact, sample_fact
from s2s_ad.transforms.batch.gathers import empty


def each_sample(context: Batch, operation: Operation, flags: list[bool]) -> Any:
    """Apply the operation to one sample after the other."""
    if any(context.is_batched(each) for each in operation.params.values()):
        raise BatchError(
            "S2S402",
            f"{operation.rule.name} with an index or parameter that differs between samples",
            origin=context.builder.origin,
            help="give example arguments, so that ranks are known",
        )
    if all(measure.rank(each) is not None for each in operation.operands):
        _warn(context, operation.rule.name)
    operands = operation.operands
    if operation.rule.flat:  # the loop is no step function by itself
        stop = runtime.stop_gradient
        operands = [context.builder.call(stop, (each,), {}) for each in operands]
    arguments = (operation.rule.function, tuple(flags), *operands)
    return context.builder.call(runtime.each_sample, arguments, operation.params)


def _warn(context: Batch, name: str) -> None:
    context.needs_no_masks()
    origin = context.builder.origin
    place = f" ({origin.place})" if origin else ""
    text = f"{name} has no batched form: a loop over samples{place}"
    warnings.warn(text, SampleLoopWarning, stacklevel=2)


# ---- a loop over the samples ---------------------------------------------------------------------


def each_of_region(
    context: Batch, region: Region, operands: list, flags: list[bool]
) -> tuple[list, list[bool]]:
    """Run the region for one sample after the other."""
    if not all(map(_fits_an_array, region.facts)) or _leaves_undefined(region):
        raise Ragged
    if any(flag and _is_list(each) for each, flag in zip(operands, flags, strict=True)):
        raise Ragged  # that of one sample would be a list of parts of its items
    body = region.blocks[-1]
    names = body.leaves()[region.indices if isinstance(region, Loop) else 0 :]
    first = [None] * (len(operands) - len(names))  # bounds, or a condition
    kinds = [*first, *(body.facts[name] for name in names)]
    either = any(
        flag and values.is_of_two_kinds(kind) for kind, flag in zip(kinds, flags, strict=True)
    )
    if either and any(
        each.tried for part in (region, *reached(region.blocks)) for each in part.blocks
    ):
        raise Ragged  # a number of Python's raises where one of NumPy's does not
    _warn(context, region.name)
    found = _each(context, region.call, operands, flags, kinds, region.facts, region.blocks)
    return found, [True] * len(found)


def each_of_call(
    context: Batch, caller: Caller, operands: list, flags: list[bool]
) -> tuple[list, list[bool]]:
    """Let a library's function call the user's for one sample after the other."""
    context.draw_alike(operands, caller.blocks)
    kinds = [
        sample_fact(context.builder.fact(each)) if flag else context.builder.fact(each)
        for each, flag in zip(operands, flags, strict=True)
    ]
    found = caller.infer(kinds, {})
    facts = list(found.items) if caller.several else [found]
    known = set().union(*map(values.atoms_of, kinds))
    if any(values.atoms_of(fact) - known for fact in facts):
        raise Ragged  # the samples' results could have different shapes
    _warn(context, caller.name)
    results = _each(context, caller.call, operands, flags, kinds, facts, caller.blocks)
    return results, [True] * len(results)


def each_of_program(
    context: Batch, program: Program, arguments: Mapping[str, Any], ragged: Ragged
) -> tuple[list, list[bool]]:
    """Run the whole program for one sample after the other, because of what is `ragged`."""
    atoms, leaves = program.outputs(), program.leaves()
    computed = [
        i for i, atom in enumerate(atoms) if getattr(atom, "id", None) not in (None, *leaves)
    ]
    facts = [program.fact(atoms[index]) for index in computed]
    _refuse_ragged(program, facts, ragged)
    with context.builder.at(program.origin):
        _warn(context, program.name)
        chosen = program.with_(output=tree.tuple_of(atoms[index] for index in computed))

        def write(builder: Builder, operands: list) -> list:
            items = builder.splice(chosen, dict(zip(leaves, operands, strict=True))).items
            return list(items)

        operands = [arguments[name] for name in leaves]
        flags = [context.is_batched(each) for each in operands]
        kinds = [program.facts[name] for name in leaves]
        found = iter(_each(context, write, operands, flags, kinds, facts, [program]))
    outputs = [
        next(found) if index in computed else context.builder.view(atom, arguments)
        for index, atom in enumerate(atoms)
    ]
    return outputs, [context.is_batched(each) for each in outputs]


def _refuse_ragged(program: Program, facts: Sequence[Any], ragged: Ragged) -> None:
    """Refuse results whose shapes could differ from sample to sample."""
    known = {dim for leaf in program.leaves() for dim in values.dims_of(program.facts[leaf])}
    found = values.atoms_in(values.dims_of(ragged.fact) - known)
    for fact in facts:
        if isinstance(fact, values.Word):
            raise BatchError(
                "S2S402",
                f"{program.name} returns a text that differs from sample to sample",
                origin=program.origin,
                why="a batch is an array of numbers",
                help="return a number that tells which text it is, or call vmap of what returns "
                "the numbers alone",
            )
        differs = found & values.atoms_of(fact)
        if differs or not _fits_an_array(fact):
            raise BatchError(
                "S2S402",
                f"what {program.name} returns could have another shape for each sample",
                origin=getattr(ragged.statement, "origin", program.origin),
                why="a batch is one array",
                help="return arrays of one shape: np.where(mask, x, other) instead of x[mask]",
            )


def _fits_an_array(fact: Any) -> bool:
    return isinstance(fact, values.Array | values.Scalar | values.Unknown)


def _leaves_undefined(region: Region) -> bool:
    """Whether an output may be missing on the path that a sample takes."""
    atoms = [atom for each in region.blocks for atom in each.outputs()]
    return any(getattr(atom, "value", None) is values.UNDEFINED for atom in atoms)


def _each(
    context: Batch,
    write: Callable[[Builder, list], list],
    operands: Sequence[Any],
    flags: Sequence[bool],
    kinds: Sequence[Any],
    facts: Sequence[Any],
    programs: Sequence[Program],
) -> list:
    """What `write` gives for each sample of the operands, in arrays.

    kinds: the facts of a sample's operands; facts: those of its results; programs: what it runs,
    whose captures the loop has.
    """
    outer = context.builder
    operands = [
        _side_by_side(context, each) if flag and _is_list(each) else each
        for each, flag in zip(operands, flags, strict=True)
    ]
    starts = [_start(context, fact, operands) for fact in facts]
    builder = Builder()
    builder.origin, builder.phase = outer.origin, outer.phase
    builder.know_captures(programs)
    index = builder.symbol(values.Scalar(int), Hint("sample", "derived"))
    carried = [
        builder.symbol(values.List(fact) if _is_list(start) else outer.fact(start))
        for start, fact in zip(starts, facts, strict=True)
    ]
    leaves = [builder.symbol(outer.fact(each), _hint(outer, each)) for each in operands]
    samples = [
        _sample(leaf, index, kind) if flag else leaf
        for leaf, kind, flag in zip(leaves, kinds, flags, strict=True)
    ]
    outputs = [
        builder.call(runtime.list_append, (before, value), {})
        if isinstance(before.fact, values.List)
        else builder.call(runtime.index_set, (before, index, value), {})
        for before, value in zip(carried, write(builder, samples), strict=True)
    ]
    names = [each.name for each in (index, *carried, *leaves)]
    captures = {id(capture): capture for each in programs for capture in each.captures}
    made = block(builder, names, outputs, captures=tuple(captures.values()))
    results = Loop(made, len(carried)).call(outer, [0, context.size, 1, *starts, *operands])
    return [
        context.mark(_array(context, each, fact)) for each, fact in zip(results, facts, strict=True)
    ]


def _side_by_side(context: Batch, items: Symbol) -> Symbol:
    """A list whose items are those of all samples as one array, sample by sample."""
    fact = items.fact
    if isinstance(fact, values.List) and isinstance(fact.item, values.List):
        raise BatchError(
            "S2S402",
            "a list of lists whose lengths are not known, which differ from sample to sample",
            origin=context.builder.origin,
            help="make an array of each list first",
        )
    return context.builder.call(runtime.samples_array, (items, context.example), {})


def _sample(leaf: Symbol, index: Symbol, kind: Any) -> Any:
    """One sample, a Python number where the code of one sample has one."""
    value = leaf[index]
    if isinstance(kind, values.List):
        numbers = {"numbers": True} if isinstance(kind.item, values.Scalar) else {}
        return leaf.builder.call(runtime.list_rows, (value,), numbers)
    is_number = isinstance(kind, values.Scalar) and kind.kind in values.PYTHON_NUMBERS
    return leaf.builder.call(kind.kind, (value,), {}) if is_number else value


def _start(context: Batch, fact: Any, operands: Sequence[Any]) -> Any:
    """Where the results go: an array where its shape is known before the loop, else a list.

    So is its dtype where a number of Python's on some paths would be cut to it.
    """
    if values.may_be_wider(fact):
        return context.builder.call(runtime.list_of, (), {})
    try:
        return empty(context, [fact], operands)
    except Ragged:
        return context.builder.call(runtime.list_of, (), {})


def _is_list(value: Any) -> bool:
    return isinstance(value, Symbol) and isinstance(value.fact, values.List)


def _array(context: Batch, result: Symbol, fact: Any) -> Symbol:
    if not _is_list(result):
        return result
    found = context.builder.call(runtime.stacked, (result, 0), {})
    known = batched_fact(fact, context.dim)
    if values.may_be_wider(fact):
        known = replace(known, dtype=None, real=values.is_real(fact))
    context.builder.facts[found.name] = known
    return found


def _hint(builder: Builder, value: Any) -> Hint:
    return builder.hints[value.name] if isinstance(value, Symbol) else TEMPORARY
