"""scipy.linalg: a matrix that is made entry by entry."""

from __future__ import annotations

from typing import Any

import numpy as np

from s2s_ad.written.marks import unsupported


def fiedler_companion(a) -> Any:
    """A companion matrix with five diagonals."""
    a = np.asarray(a)
    if a.ndim != 1:
        unsupported("fiedler_companion of an array of other rank than 1", "use vmap")
    a = a / a[0]
    n = len(a) - 1
    made = np.zeros((n, n), dtype=a.dtype)
    made[0, 0] = -a[1]
    made[1:2, 0] = 1.0
    odd, even = np.arange(1, n - 1, 2), np.arange(0, n - 1, 2)
    made[odd[: (n - 2) // 2] + 2, odd[: (n - 2) // 2]] = 1.0
    made[odd + 1, odd] = -a[3::2]
    made[even[: (n - 1) // 2], even[: (n - 1) // 2] + 2] = 1.0
    made[even, even + 1] = -a[2::2]
    return made
