"""Classes and functions of NumPy that are written in Python here."""

from __future__ import annotations

import numpy as np

from s2s_ad.api.written import write
from s2s_ad.written import numpy_polynomials, numpy_scans


def handle_objects() -> None:
    """Let objects of these classes be made inside functions, and these functions be called."""
    write(np.poly1d, numpy_polynomials.poly1d)
    write(np.polynomial.Polynomial, numpy_polynomials.Polynomial)
    write(np.logaddexp.accumulate, numpy_scans.accumulated_logaddexp)
    write(np.logaddexp2.accumulate, numpy_scans.accumulated_logaddexp2)
