"""scipy.sparse: what is written in Python."""

from __future__ import annotations

import scipy.sparse
import scipy.sparse.linalg

from s2s_ad.api.written import write
from s2s_ad.written import scipy_sparse

for _kind in ("coo", "csc", "csr"):
    write(getattr(scipy.sparse, f"{_kind}_array"), scipy_sparse.Coordinates)
    write(getattr(scipy.sparse, f"{_kind}_matrix"), scipy_sparse.Coordinates)
write(scipy.sparse.linalg.spsolve, scipy_sparse.spsolve)
