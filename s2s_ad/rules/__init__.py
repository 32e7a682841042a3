"""The rule tables; importing this package fills the registry."""

from s2s_ad.rules import (  # noqa: F401
    adjoint,
    contractions,
    conversions,
    creation,
    elementwise_table,
    indexing,
    joining,
    linalg,
    moves,
    reductions,
    repeats,
    scans,
    shapes,
    triangles,
)
