"""Jacobians: a batch of adjoints (by rows) or of tangents (by columns)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import gast
import numpy as np

from s2s_ad import runtime
from s2s_ad.analysis import activity
from s2s_ad.core import form, tree, values
from s2s_ad.core.builder import Builder, Symbol
from s2s_ad.core.callee import compound_of
from s2s_ad.core.measure import all_lengths, known_rank, lengths
from s2s_ad.core.parts import in_kind_of
from s2s_ad.core.program import Input, Program
from s2s_ad.transforms.batches import batched_program
from s2s_ad.transforms.calls import without_effects
from s2s_ad.transforms.common import (
    Target,
    always_raises,
    bare_aux,
    check_output,
    finished,
    for_gradients,
    has_gradient,
    pair,
    refill,
    split_aux,
    wanted_leaves,
    with_respect_to,
)
from s2s_ad.transforms.gradients import cotangent_program, tangent_program
from s2s_ad.transforms.refusals import unknown_rank


def jacobian(
    program: Program, targets: Sequence[Target], *, bare: bool, has_aux: bool, reverse: bool
) -> Program:
    """The Jacobian of each floating-point output: shape of the output, then of the input."""
    if always_raises(program):
        return program
    output, _ = split_aux(program, has_aux)
    atoms = tree.leaves(output)
    for atom in [each for each in atoms if not is_none(each)] or atoms:
        check_output(program, atom)
    drawn = _drawn(program, wanted_leaves(program, targets))
    subject = without_effects(_with_leaves(program.with_(output=output, writes=()), drawn))
    build = _jacobian_by_rows if reverse else _jacobian_by_columns
    builder = Builder()
    atoms = {name: builder.import_name(program, name) for name in program.leaves()}
    whole = program.with_(output=pair(program.output, *map(form.name, drawn)))
    value, *numbers = builder.splice(whole, atoms).items
    atoms |= dict(zip(drawn, numbers, strict=True))
    value, *written = value.items if program.writes else (value,)
    result = build(builder, subject, targets, atoms)
    if bare:
        result = tree.tree_map(lambda parts: parts[0], result)
    else:
        result = tree.tree_map(lambda parts: pair(*parts), result)
    if has_aux:
        result = pair(result, bare_aux(pair(*value.items[1:])))
    return finished(
        builder,
        program,
        name=program.name + ("_jacrev" if reverse else "_jacfwd"),
        doc=f"Jacobian of {program.doc} with respect to {with_respect_to(targets)}",
        output=result,
        written=written,
    )


def _drawn(program: Program, wanted: Sequence[str]) -> list[str]:
    """The random numbers that depend on nothing that is differentiated: they are drawn once."""
    varied = activity.varied(program, wanted)
    return [
        each.target
        for each in program.body
        if isinstance(each, form.Op)
        and compound_of(each) is None
        and each.rule.draws(each.operands)
        and isinstance(program.facts[each.target], values.Array | values.Scalar)
        and varied.isdisjoint(each.reads)
    ]


def _with_leaves(program: Program, names: Sequence[str]) -> Program:
    """The program that is given values which it computes."""
    if not names:
        return program
    body = [each for each in program.body if each.target not in names]
    inputs = (*program.inputs, *(Input(each, each) for each in names))
    return program.with_(body=tuple(body), inputs=inputs)


def _jacobian_by_rows(
    builder: Builder, program: Program, targets: Sequence[Target], atoms: dict
) -> Any:
    """One adjoint per element of each output, in a batch."""
    return tree.tree_map(lambda atom: _rows(builder, program, targets, atoms, atom), program.output)


def _rows(
    builder: Builder, program: Program, targets: Sequence[Target], atoms: dict, atom: Any
) -> list:
    """The derivative of one output with respect to each target."""
    if is_none(atom):
        return [tree.tree_map(lambda _: None, each.tree) for each in targets]
    one = program.with_(output=atom)
    check_output(one, atom)
    y = builder.splice(one, atoms)
    if not isinstance(y, Symbol):  # the slope of a linear function, say
        return [
            for_gradients(program, each.tree, lambda leaf: _zero(atoms[leaf])) for each in targets
        ]
    adjoint = cotangent_program(one, pair(*targets))
    seed = adjoint.leaves()[-1]
    if y.ndim is None:
        raise unknown_rank("the Jacobian", program.origin)
    parts = [each for each in tree.leaves(adjoint.output.items[1]) if not is_none(each)]
    adjoint = adjoint.with_(output=pair(*parts))
    rows = _along(builder, adjoint, atoms, seed, y, 1.0)
    if values.is_complex(y.fact):  # the adjoint for a seed is the real part of conj(J).T @ seed
        imaginary = _along(builder, adjoint, atoms, seed, y, 1j)
        rows = [row + 1j * other for row, other in zip(rows, imaginary, strict=True)]
    shaped = iter([_row_shape(row, y) for row in rows])
    return [for_gradients(program, each.tree, lambda _: next(shaped)) for each in targets]


def is_none(atom: Any) -> bool:
    return isinstance(atom, gast.Constant) and atom.value is None


def _zero(x: Symbol) -> Any:
    return in_kind_of(x.builder, 0.0, x.fact) if x.shape == () else np.zeros_like(x)


def _along(
    builder: Builder, program: Program, atoms: dict, leaf: str, x: Symbol, unit: complex
) -> list:
    """The outputs of `program` for each unit array in the shape of `x`, times a unit, as `leaf`."""
    if x.ndim == 0:
        return tree.leaves(builder.splice(program, atoms | {leaf: unit}))
    units = basis(x) if unit == 1 else unit * basis(x)
    return _batch_along(builder, program, atoms, leaf, units)


def _batch_along(builder: Builder, program: Program, atoms: dict, leaf: str, units: Any) -> list:
    """The outputs of `program` for each of the arrays `units` as `leaf`."""
    in_axes = [0 if name == leaf else None for name in program.leaves()]
    batched = batched_program(program, in_axes, 0)
    return tree.leaves(builder.splice(batched, atoms | {leaf: units}))


def _row_shape(row: Symbol, y: Symbol) -> Any:
    """(y.size, *x.shape) -> (*y.shape, *x.shape)."""
    if known_rank(y) < 2:
        return row
    return np.reshape(row, (*all_lengths(y), *lengths(row, range(1, known_rank(row)))))


def _jacobian_by_columns(
    builder: Builder, program: Program, targets: Sequence[Target], atoms: dict
) -> Any:
    """One tangent per element of each input, in a batch."""
    columns: list[list] = [[] for _ in tree.leaves(program.output)]
    for target in targets:
        found = [_columns(builder, program, leaf, atoms) for leaf in tree.leaves(target.tree)]
        for index, column in enumerate(columns):
            column.append(refill(target.tree, [each[index] for each in found]))
    return refill(program.output, columns)


def _columns(builder: Builder, program: Program, leaf: str, atoms: dict) -> list:
    """The derivative of each output with respect to one leaf."""
    whole = program.output
    if not has_gradient(program, leaf):
        return [None for _ in tree.leaves(whole)]
    columns = iter(_columns_of(builder, _without_none(program), leaf, atoms))
    return [None if is_none(each) else next(columns) for each in tree.leaves(whole)]


def _without_none(program: Program) -> Program:
    """The program whose outputs are those that may have a derivative."""
    leaves = tree.leaves(program.output)
    if not any(map(is_none, leaves)):
        return program
    return program.with_(output=pair(*(each for each in leaves if not is_none(each))))


def _columns_of(builder: Builder, program: Program, leaf: str, atoms: dict) -> list:
    x = atoms[leaf]
    if x.ndim is None:
        raise unknown_rank("the Jacobian", program.origin)
    single = tangent_program(program, [Target(0, "x", leaf)])
    direction = single.leaves()[-1]
    if x.ndim == 0:
        _, dots = builder.splice(single, atoms | {direction: 1.0}).items
        values_ = builder.splice(program, atoms)
        zipped = zip(tree.leaves(dots), tree.leaves(values_), strict=True)
        return [builder.call(runtime.broadcast_like, (dot, y), {}) for dot, y in zipped]
    dots = single.with_(output=single.output.items[1])
    return [
        _column_shape(each, x) for each in _batch_along(builder, dots, atoms, direction, basis(x))
    ]


def _column_shape(columns: Any, x: Symbol) -> Any:
    """(x.size, *y.shape) -> (*y.shape, *x.shape)."""
    last: Any = np.moveaxis(columns, 0, -1)
    if x.ndim == 1:
        return last
    return np.reshape(last, (*lengths(last, range(known_rank(last) - 1)), *all_lengths(x)))


def basis(x: Symbol) -> Any:
    """The unit arrays in the shape of `x`, one after the other along axis 0."""
    plain = x.dtype is None or values.is_dtype(x.dtype, float)
    unit = x.builder.call(np.eye, (np.size(x),), {} if plain else {"dtype": x.dtype})
    return unit if x.ndim == 1 else np.reshape(unit, (np.size(x), *all_lengths(x)))
