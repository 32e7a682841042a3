"""Running results of NumPy's functions of two operands whose order counts, written as loops."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

LOG_2 = math.log(2.0)


def accumulated_logaddexp(array, axis=0) -> Any:
    """np.logaddexp.accumulate"""
    x = np.moveaxis(np.asarray(array) * 1.0, axis, 0)
    out = np.copy(x)
    for i in range(1, len(x)):
        out[i] = np.logaddexp(out[i - 1], x[i])
    return np.moveaxis(out, 0, axis)


def accumulated_logaddexp2(array, axis=0) -> Any:
    """np.logaddexp2.accumulate"""
    return accumulated_logaddexp(np.asarray(array) * LOG_2, axis) / LOG_2
