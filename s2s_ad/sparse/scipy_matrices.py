"""What sparse Jacobians need of SciPy: it is imported when the first of them is asked for."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse


def by_rows(
    data: np.ndarray, columns: np.ndarray, starts: np.ndarray, shape: tuple[int, int]
) -> scipy.sparse.csr_array:
    """A matrix of its elements, row by row; the caller may do with it what he likes."""
    return scipy.sparse.csr_array((data, columns.copy(), starts.copy()), shape=shape)


def coordinates(matrix: Any) -> tuple[np.ndarray, np.ndarray]:
    """The rows and the columns of the elements that a matrix holds."""
    return scipy.sparse.coo_array(matrix).coords


def is_sparse(value: Any) -> bool:
    return scipy.sparse.issparse(value)
