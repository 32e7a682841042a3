"""The walk that batches each operation whose operands differ from sample to sample."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from s2s_ad.core import form, values
from s2s_ad.core.builder import Builder, fresh_name
from s2s_ad.core.callee import Callee, draws, item_of, seeds
from s2s_ad.core.callers import Caller
from s2s_ad.core.custom import CheckpointCallee, CustomCallee, ScheduledCallee
from s2s_ad.core.program import TEMPORARY, Program
from s2s_ad.core.regions import Branch, Region
from s2s_ad.core.rule import Apart, CannotBatch, Operation, Ragged
from s2s_ad.core.tree import Tree, tuple_of
from s2s_ad.diagnostics import BatchError
from s2s_ad.transforms.batch import effects, samples
from s2s_ad.transforms.batch.blocks import adopted, all_there
from s2s_ad.transforms.batch.context import Batch, Whole, batched_fact
from s2s_ad.transforms.batch.effects import Shown
from s2s_ad.transforms.batch.kept import count_of
from s2s_ad.transforms.batch.regions import batch_region
from s2s_ad.transforms.batch.schedules import batch_schedule, has_schedule
from s2s_ad.transforms.calls import derived_callee
from s2s_ad.transforms.custom import custom_batch
from s2s_ad.transforms.without_saved import without_saved


def batch(
    builder: Builder,
    program: Program,
    arguments: Mapping[str, Any],
    batched: set[str],
    *,
    masked: bool = False,
    seeded: bool = False,
) -> tuple[list, list[bool], Batch]:
    """Write `program` for a batch.

    Args:
        arguments: a value for each leaf; those of `batched` have the batch axis first.
        masked: what is not for all samples is masked: see `Batch`.
        seeded: who calls the program has set the state that random numbers come from.
    Returns:
        the outputs, which of them are batched, and the batch.
    """
    examples = [arguments[name] for name in program.leaves() if name in batched]
    arrays = [each for each in examples if not isinstance(each.fact, values.List)]
    example = (arrays or examples)[0]  # a list has the length of the loop
    own = seeded or seeds(program)
    context = Batch(builder, example, _written, masked=masked, seeded=own)
    context.batched.update(arguments[name].name for name in batched)
    mark = builder.mark()
    try:
        outputs, flags = context.walk(program, arguments)
    except Ragged as ragged:
        builder.undo(mark)
        if isinstance(ragged, Apart):
            context.draw_alike([arguments[name] for name in program.leaves()], ())
        if seeded and draws([program]):
            raise Apart from None
        outputs, flags = samples.each_of_program(context, program, arguments, ragged)
    return outputs, flags, context


Regions = dict[str, tuple[list, list[bool]]]  # outputs by the name of the result, and flags


def _written(context: Batch, program: Program, arguments: Mapping[str, Any]) -> list:
    """Write a program for a batch: its outputs."""
    program = without_saved(program, real=False)
    builder, atoms = context.builder, dict(arguments)
    for capture in program.captured():
        atoms[capture.name] = builder.import_name(program, capture.name)
    regions: Regions = {}
    for statement in program.body:
        with builder.at(statement.origin, statement.phase):
            try:
                _step(context, program, statement, atoms, regions)
            except Ragged as ragged:
                if ragged.statement is None and isinstance(statement, form.Op):
                    ragged.statement = statement
                    ragged.fact = program.facts[statement.target]
                raise
    outputs = [builder.view(atom, atoms) for atom in program.outputs()]
    for each in outputs:
        if isinstance(each, Shown):
            raise each.error()
    return outputs


def _step(
    context: Batch, program: Program, statement: form.Statement, atoms: dict, regions: Regions
) -> None:
    if isinstance(statement, form.Effect):
        effects.batch_effect(context, statement, atoms)
        return
    name, item = statement.target, item_of(statement)
    hint = program.hints.get(name, TEMPORARY)
    if item is not None and item[0] in regions:
        value, flag = (each[item[1]] for each in regions[item[0]])
        context.builder.named(getattr(value, "array", value), hint)
        atoms[name] = context.mark(value, flag)
        return
    operation = context.builder.operation(statement, atoms)
    some = _shown(context, program, statement, operation) or _of_some(context, operation)
    if some is not None:
        atoms[name] = some
        context.builder.named(getattr(some, "array", some), hint)
        return
    operation = _gathered(context, operation)
    flags = [context.is_batched(each) for each in operation.operands]
    in_params = any(context.is_batched(each) for each in operation.params.values())
    kept, rule = any(map(context.kept_of, operation.operands)), operation.rule
    if kept and not isinstance(rule, Region | Callee):
        atoms[name] = count_of(context, operation)
    elif item is not None or not (any(flags) or in_params or kept):
        context.builder.replay(all_there(statement), atoms, program)
        context.mark(atoms[name], any(flags))
    elif isinstance(rule, Region | Callee | Caller):
        results = _compound(context, rule, operation.operands, flags)
        if rule.several:
            regions[name] = results
        else:
            (value,), (flag,) = results
            atoms[name] = context.mark(context.builder.named(value, hint), flag)
    else:
        if in_params and not rule.varied_parameters:
            raise Ragged  # the samples' results could have different shapes
        operation = _with_numbers(context, operation, map(program.fact, statement.operands))
        result = _batched(context, statement, operation, flags, program.facts[name])
        result = _as_narrow(result, program.facts[name])
        atoms[name] = context.builder.named(result, hint)
        context.mark(result, not rule.uniform)
        _know(context, result, program.facts[name])


def _shown(
    context: Batch, program: Program, statement: form.Statement, operation: Operation
) -> Shown | None:
    """A text that differs from sample to sample; None of anything else."""
    texts = [each for each in operation.operands if isinstance(each, Shown)]
    differs = texts or any(map(context.is_batched, operation.operands))
    if not (operation.rule.shows and differs) and not texts:
        return None
    if isinstance(program.facts[statement.target], values.Scalar):
        raise Ragged  # what is asked of a text is asked of that of each sample
    if not operation.rule.shows:
        raise texts[0].error()
    return Shown(operation.rule, operation.operands, statement.origin)


def _with_numbers(context: Batch, operation: Operation, facts: Iterable[Any]) -> Operation:
    """Python's numbers take the dtype of the arrays beside them; a batch of them has to, too.

    `facts` are those of the operands of one sample.
    """
    facts = list(facts)
    weak = [values.may_be_python(each) and each != values.Scalar(bool) for each in facts]
    dtypes = [values.dtype_argument(each) for each in facts]
    if not operation.rule.elementwise or all(weak) or values.missing(dtypes):
        return operation
    # a number of Python stands for its type: the type itself would be one of NumPy's dtypes
    dtypes = [each(0) if isinstance(each, type) else each for each in dtypes]
    dtype = np.result_type(*dtypes)

    def fitting(operand: Any, is_weak: bool) -> Any:
        array = isinstance(context.builder.fact(operand), values.Array)
        if not (is_weak and array) or np.result_type(operand.dtype, dtype) == dtype:
            return operand
        rule, sources, _ = context.builder.definition(operand)
        source = sources[0] if rule is not None and rule.converts else operand
        narrowed = source.dtype == dtype and np.can_cast(dtype, operand.dtype)  # it was widened
        return context.mark(source if narrowed else operand.astype(dtype), True)

    operands = list(map(fitting, operation.operands, weak))
    return replace(operation, operands=operands)


def _as_narrow(result: Any, fact: values.AbstractValue) -> Any:
    """The result in single precision, where that of a sample is: a batch of numbers of Python's is
    an array of doubles."""
    single = None if values.is_of_two_kinds(fact) else values.single(fact)
    wide = getattr(getattr(result, "fact", None), "dtype", None)
    if single is None or wide is None or wide.kind != single.kind or wide == single:
        return result
    return result.astype(single.type)


def _of_some(context: Batch, operation: Operation) -> Any:
    """The result for some of the samples, where they need not be gathered for it."""
    whole = operation.operands[0] if operation.operands else None
    if not isinstance(whole, Whole):
        return None
    rest = [context.gathered(each) for each in operation.operands[1:]]
    params = {key: context.gathered(each) for key, each in operation.params.items()}
    own = Operation(operation.rule, [whole.array, *rest], params)
    flags = [True, *map(context.is_batched, rest)]
    result = operation.rule.of_some(own, flags, whole.places, context)
    if result is not None and operation.rule.updates:
        return replace(whole, array=result)
    return context.mark(result)


def _gathered(context: Batch, operation: Operation) -> Operation:
    """The operation on gathered samples; for their shapes alone nothing is gathered."""
    rule, operands = operation.rule, operation.operands
    if isinstance(rule, Branch) and context.is_batched(operands[0]):
        condition, *others = operands  # its sides gather what they read
        return replace(operation, operands=[context.gathered(condition), *others])
    if rule.uniform:
        operands = [context.mark(e.array) if isinstance(e, Whole) else e for e in operands]
    params = {key: context.gathered(each) for key, each in operation.params.items()}
    return replace(operation, operands=[context.gathered(e) for e in operands], params=params)


def _know(context: Batch, result: Any, known: values.AbstractValue) -> None:
    """Where a batch of something is unknown, it is a batch of what a sample is known to be."""
    unknown = context.is_batched(result) and isinstance(result.fact, values.Unknown)
    if unknown and isinstance(known, values.Array):
        context.builder.facts[result.name] = batched_fact(known, context.dim)


def _compound(
    context: Batch, rule: Region | Callee | Caller, operands: list, flags: list[bool]
) -> tuple[list, list[bool]]:
    """A region, or the call of a function: its outputs, and which of them are batched."""
    if isinstance(rule, Region):
        return batch_region(context, rule, operands, flags)
    if isinstance(rule, Caller):
        return samples.each_of_call(context, rule, operands, flags)
    if isinstance(rule, ScheduledCallee) and has_schedule(rule, flags):
        return batch_schedule(context, rule, operands, flags, _batched_program)
    facts = tuple(map(context.builder.fact, operands))
    alone = all(isinstance(x, values.List) for x, flag in zip(facts, flags, strict=True) if flag)
    if alone or context.masked or any(map(context.kept_of, operands)):
        return _inlined(context, rule, operands)
    try:
        made, batched = batched_call(rule, facts, tuple(flags), context.seeded)
    except BatchError:  # what has other shapes for other samples may end where it is called
        if isinstance(rule, CustomCallee) or rule.is_recursive:
            raise
        return _inlined(context, rule, operands)
    return made.call(context.builder, operands), list(batched)


def _inlined(context: Batch, call: Callee, operands: list) -> tuple[list, list[bool]]:
    """The call of a function written in place: lists bring the batch, and do not tell its size,
    or they have items for some of the samples only, which no function can be given."""
    if isinstance(call, CustomCallee) or call.is_recursive:
        raise Ragged
    atoms = dict(zip(call.program.leaves(), operands, strict=True))
    return context.walk(call.program, atoms, in_place=True)


def batched_call(
    call: Callee, facts: tuple[Any, ...], flags: tuple[bool, ...], seeded: bool = False
) -> tuple[Callee, tuple[bool, ...]]:
    """(callee of a batch, which outputs are batched)."""
    if call.is_recursive:
        facts = _of_any_call(call.program, facts, flags)
    key = ("batch", values.canonical(facts), flags, seeded)
    known = call.derived.setdefault(key, [])
    for before, made in known:
        if values.in_another_call(before, facts):
            return made
    if call.is_recursive and not isinstance(call, CustomCallee):
        return _batched_anew(call, facts, flags, known, seeded)
    made = _batched_call(call, facts, flags, seeded)
    if isinstance(call, CustomCallee):
        made = custom_batch(batch, call, facts, flags, made)
    known.append((facts, made))
    return made


def _of_any_call(program: Program, facts: Sequence[Any], flags: Sequence[bool]) -> tuple[Any, ...]:
    """The facts with the lengths that a function that calls itself knows, be they for a batch:
    those of its calls may differ from call to call, without end."""

    def known(name: str, fact: Any, flag: bool) -> Any:
        own, shape = values.shape_of(program.facts[name]), values.shape_of(fact)
        batch = shape[: int(flag)] if shape else ()
        fits = own is not None and shape is not None and len(shape) == len(batch) + len(own)
        return values.with_shape(fact, (*batch, *own)) if own and fits else fact

    return tuple(map(known, program.leaves(), facts, flags))


def _batched_anew(
    call: Callee, facts: tuple, flags: tuple, known: list, seeded: bool
) -> tuple[Callee, tuple[bool, ...]]:
    """A function that calls itself: all its outputs are batched."""
    program = call.program
    shapes = [values.shape_of(fact) for fact, flag in zip(facts, flags, strict=True) if flag]
    dim = next((shape[0] for shape in shapes if shape), None) or values.fresh_dim()
    outputs = {fresh_name(): batched_fact(program.fact(a), dim) for a in program.outputs()}
    nodes = tuple(form.name(name) for name in outputs)
    several = tuple_of(nodes)
    stub = Callee(
        program.with_(
            body=(),
            output=several if call.several else nodes[0],
            facts=program.facts | dict(zip(program.leaves(), facts, strict=True)) | outputs,
            captures=(),
        ),
        stub=True,
    )
    batched = (True,) * len(nodes)
    known.append((facts, (stub, batched)))  # for the calls of itself
    made, _ = _batched_program(program, facts, flags, batched, seeded)
    stub.define(made.program)
    return stub, batched


def _batched_call(
    call: Callee, facts: tuple, flags: tuple, seeded: bool
) -> tuple[Callee, tuple[bool, ...]]:
    made, batched = _batched_program(call.program, facts, flags, (), seeded)
    if isinstance(call, CheckpointCallee):
        made = CheckpointCallee(made.program)
    return made, batched


def _batched_program(
    program: Program,
    facts: Sequence[Any],
    flags: Sequence[bool],
    spread: Sequence[bool] = (),
    seeded: bool = False,
) -> tuple[Callee, tuple[bool, ...]]:
    """`spread` marks outputs that get a batch axis even where all samples have the same."""
    builder = Builder()
    arguments = adopted(builder, program, program.leaves(), facts)
    moved = {name for name, flag in zip(arguments, flags, strict=True) if flag}
    outputs, batched, context = batch(builder, program, arguments, moved, seeded=seeded)
    if any(spread):
        outputs = [
            context.spread(value, own) if flag else value
            for value, own, flag in zip(outputs, batched, spread, strict=True)
        ]
    made = derived_callee(
        builder.as_body_of(program),
        outputs,
        name=f"{program.name}_vmap",
        doc=f"{program.doc}, for each of a batch",
        kept=program.kept,
    )
    return made, tuple(batched)


def _batched(
    context: Batch,
    statement: form.Op,
    operation: Operation,
    flags: list[bool],
    fact: values.AbstractValue,
) -> Any:
    """The operation for all samples; `fact` is that of the result of one."""
    try:
        return operation.rule.batch(operation, flags, context)
    except Ragged:
        raise
    except CannotBatch:
        if any(isinstance(context.builder.fact(each), values.List) for each in operation.operands):
            raise Ragged from None
        if isinstance(fact, Tree):
            raise Ragged from None  # the results of all samples are no arrays
        return samples.each_sample(context, operation, flags)
    except NotImplementedError:
        raise BatchError(
            "S2S401",
            f"{operation.rule.name} has no batching rule",
            origin=statement.origin,
            help="write it with other NumPy functions, or loop over the samples",
        ) from None
