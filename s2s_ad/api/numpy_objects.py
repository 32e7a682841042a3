"""Classes of NumPy that are written in Python here."""

from __future__ import annotations

import numpy as np

from s2s_ad.api.written import write
from s2s_ad.written import numpy_polynomials


def handle_objects() -> None:
    """Let objects of these classes be made inside functions."""
    write(np.poly1d, numpy_polynomials.poly1d)
