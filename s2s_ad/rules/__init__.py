"""The rule tables; importing this package fills the registry."""

from s2s_ad.rules import (  # noqa: F401
    adjoint,
    axes,
    contractions,
    conversions,
    creation,
    einsum,
    elementwise_table,
    indexing,
    joining,
    linalg,
    lists,
    measures,
    moves,
    products,
    reductions,
    repeats,
    scans,
    shapes,
    triangles,
)
