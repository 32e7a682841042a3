"""Arrays turned, cut, joined and edited."""

import numpy as np

from rules.properties import case, integers, mask, real

LIKE = {"general": False}  # needs the rank of its argument
RAGGED = {"batches": False, "general": False}  # samples differ in the length of their results

REARRANGING = [case(f"np.rot90(x, {k})", x=real(2, 3), **LIKE) for k in (-1, 0, 1, 2, 3)]
REARRANGING += [
    case("np.rot90(x, axes=(-1, 0))", x=real(2, 3, 2), **LIKE),
    case("np.rollaxis(x, 2)", x=real(2, 3, 4), **LIKE),
    case("np.rollaxis(x, 0, 3)", x=real(2, 3, 4), **LIKE),
    case("np.rollaxis(x, -1, -2)", x=real(2, 3, 4), **LIKE),
    case("np.matrix_transpose(x)", x=real(2, 3, 4), **LIKE),
    case("np.permute_dims(x, (1, 0))", x=real(2, 3), **LIKE),
    case(
        "np.broadcast_arrays(x, y)[0] * np.broadcast_arrays(x, y)[1]",
        x=real(3),
        y=real(2, 1),
        **LIKE,
    ),
    case("np.atleast_1d(x)", x=real(), **LIKE),
    case("np.atleast_2d(x)", x=real(3), **LIKE),
    case("np.atleast_3d(x)", x=real(2, 3), **LIKE),
    case("np.atleast_3d(x)", x=real(2), **LIKE),
    case("np.atleast_2d(x, y)[1]", x=real(), y=real(2), **LIKE),
    case("np.dstack([x, y])", x=real(2, 3), y=real(2, 3), **LIKE),
    case("np.dstack([x, y])", x=real(3), y=real(3), **LIKE),
    case("np.block([[x, y], [y, x]])", x=real(2, 2), y=real(2, 2), **LIKE),
    case("np.block([x, 1.0, y])", x=real(2), y=real(3), **LIKE),
    case("np.block([[x, y], [z, 0.0]])", x=real(2, 2), y=real(2, 1), z=real(2), **LIKE),
    case("np.array_split(x, 3)[0] * np.array_split(x, 3)[1]", x=real(8), **LIKE),
    case("np.array_split(x, 2, axis=1)[1]", x=real(2, 3), **LIKE),
    case("np.array_split(x, [1, 2])[1]", x=real(4), **LIKE),
    case("np.hsplit(x, 2)[1]", x=real(2, 4), **LIKE),
    case("np.hsplit(x, [1])[0]", x=real(4), **LIKE),
    case("np.vsplit(x, 2)[0]", x=real(4, 2), **LIKE),
    case("np.dsplit(x, 2)[0]", x=real(2, 2, 4), **LIKE),
    case("np.unstack(x)[1] * np.unstack(x, axis=1)[0][0]", x=real(2, 3), **LIKE),
    case("np.unstack(x)[0]", x=real(1, 3), **LIKE),
    case("np.vstack([x, y])", x=real(2), y=real(2), **LIKE),
    case("np.column_stack(x)", x=real(3), **LIKE),
    case("np.column_stack(x)", x=real(2, 3, 4), **LIKE),
    case("np.dstack(x)", x=real(2, 3), **LIKE),
    case("np.dstack(x)", x=real(2, 3, 2, 2), **LIKE),
    case("np.hstack(x)", x=real(2, 3, 4), **LIKE),
    case("np.hstack([[], x, 1.0])", x=real(3), **LIKE),
    case("np.vstack([[1.0, 2.0], x])", x=real(3, 2), **LIKE),
    case("np.vstack(x)", x=real(3), **LIKE),
    case("np.vstack(x)", x=real(2, 3, 4), **LIKE),
    case("np.concatenate(x, axis=-1)", x=real(2, 3, 4), **LIKE),
    case("np.stack(x, axis=-1)", x=real(2, 3, 2), **LIKE),
    case("np.squeeze(x @ y)", x=real(1, 3), y=real(3), **LIKE),
    case("np.diag(x, 1)", x=real(3), **LIKE),
    case("np.diag(x, -2)", x=real(2), **LIKE),
    case("np.diagflat(x)", x=real(2, 2), **LIKE),
    case("np.diagflat(x, -1)", x=real(3), **LIKE),
    case("np.trace(x, offset=1)", x=real(3, 3), **LIKE),
    case("np.trace(x, -1, 1, 2)", x=real(2, 3, 3), **LIKE),
]
EDITING = [
    case("np.insert(x, 1, y)", x=real(3), y=real(), **LIKE),
    case("np.insert(x, 2, y)", x=real(3), y=real(2), **LIKE),
    case("np.insert(x, [0, 2, 2], y)", x=real(3), y=real(3), **LIKE),
    case("np.insert(x, [0, -1], 1.5, axis=1)", x=real(2, 3), **LIKE),
    case("np.insert(x, 1, y, axis=0)", x=real(3, 2), y=real(2), **LIKE),
    case("np.insert(x, slice(0, 2), y)", x=real(3), y=real(2), **LIKE),
    case("np.delete(x, 1)", x=real(2, 3), **LIKE),
    case("np.delete(x, -1, axis=1)", x=real(2, 3), **LIKE),
    case("np.delete(x, [0, 2], axis=0)", x=real(4, 2), **LIKE),
    case("np.delete(x, slice(1, 3))", x=real(4), **LIKE),
    case("np.compress([True, False, True], x, axis=1)", x=real(2, 3), **LIKE),
    case("np.compress(m, x)", x=real(2, 3), m=mask(5), **RAGGED),
    case("np.extract(m, x)", x=real(2, 3), m=mask(2, 3), **RAGGED),
    case("np.resize(x, (2, 4))", x=real(3), **LIKE),
    case("np.resize(x, 2)", x=real(2, 2), **LIKE),
    case("np.trim_zeros(np.pad(x, 2))", x=real(3), **RAGGED),
    case("np.trim_zeros(np.pad(x, 2), 'f')", x=real(3), **RAGGED),
    case("np.trim_zeros(np.pad(x, (0, 2)), 'b')", x=real(2, 3), **RAGGED),
    case("x[np.ix_([0, 1], [1, 1, 2])]", x=real(2, 3), **LIKE),
    case("np.take(x, i, mode='wrap')", x=real(3), i=integers(4, low=-5, high=7), **LIKE),
    case("np.take(x, i, axis=1, mode='clip')", x=real(2, 3), i=integers(4, high=7), **LIKE),
]
EDITING += [case("np.row_stack([x, y])", x=real(2), y=real(2), **LIKE)] * hasattr(np, "row_stack")
SHAPES = REARRANGING + EDITING
