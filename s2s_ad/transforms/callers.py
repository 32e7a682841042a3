"""What the derivatives of calls that call a function of the user's have in common."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from s2s_ad.core import tree
from s2s_ad.core.builder import Builder
from s2s_ad.core.measure import rank
from s2s_ad.core.program import Program
from s2s_ad.transforms.calls import without_effects
from s2s_ad.transforms.common import Target, pair
from s2s_ad.transforms.gradients import cotangent_program, tangent_program
from s2s_ad.transforms.jacobians import jacobian


def written(builder: Builder, program: Program, values: Sequence[Any]) -> Any:
    """Write what a function of the user's computes of these values; its effects are elsewhere."""
    program = without_effects(program)
    body = [each.at(each.origin, builder.phase) for each in program.body]
    atoms = dict(zip(program.leaves(), values, strict=True))
    return builder.splice(program.with_(body=tuple(body)), atoms)


def targets(program: Program, indices: Sequence[int]) -> list[Target]:
    """The leaves at these indices, as what is differentiated."""
    leaves = program.leaves()
    return [Target(index, program.inputs[index].name, leaves[index]) for index in indices]


def derivative(builder: Builder, program: Program, index: int, values: Sequence[Any]) -> Any:
    """The derivative with respect to one leaf: a number of a number, the Jacobian of a vector."""
    if rank(values[index]) == 0:
        return along(builder, program, values, {index: 1.0})
    wanted = targets(without_effects(program), [index])
    made = jacobian(without_effects(program), wanted, bare=True, has_aux=False, reverse=False)
    return written(builder, made, values)


def along(
    builder: Builder, program: Program, values: Sequence[Any], tangents: dict[int, Any]
) -> Any:
    """The tangent of the output, of the tangents of the leaves at some places."""
    made = tangent_program(without_effects(program), targets(program, list(tangents)))
    made = made.with_(output=made.output.items[1])
    return written(builder, made, [*values, *tangents.values()])


def transposed(
    builder: Builder, program: Program, values: Sequence[Any], indices: Sequence[int], y_bar: Any
) -> list:
    """The adjoints of the leaves at these indices, of the adjoint of the output."""
    if not indices:
        return []
    made = cotangent_program(without_effects(program), pair(*targets(program, indices)))
    made = made.with_(output=made.output.items[1])
    return tree.leaves(written(builder, made, [*values, y_bar]))


def in_dtype_of(value: Any, like: Any) -> Any:
    """An adjoint in the precision of what it belongs to: libraries compute in float64."""
    dtypes = [getattr(each, "dtype", None) for each in (value, like)]
    known = all(isinstance(each, np.dtype) for each in dtypes)
    return value.astype(like.dtype.type) if known and dtypes[0] != dtypes[1] else value
