"""The rule tables; importing this package fills the registry."""

from s2s_ad.rules import (  # noqa: F401
    adjoint,
    contractions,
    creation,
    elementwise,
    indexing,
    linalg,
    numbers,
    reductions,
    repeats,
    scans,
    structure,
)
