"""scipy.sparse: matrices that are made inside a function, and their products with vectors."""

from __future__ import annotations

from typing import Any

import numpy as np

from s2s_ad.written.marks import unsupported


class Coordinates:
    """A matrix by its entries; what stands at one place twice is added.

    A matrix that is made of an array is that array.
    """

    def __init__(self, arg1, shape=None, dtype=None, copy=False):
        if dtype is not None:
            unsupported("a sparse matrix with dtype=", "convert the entries")
        self.dense = None
        if isinstance(arg1, tuple):
            self.data = np.asarray(arg1[0])
            if len(arg1) == 2 and isinstance(arg1[1], tuple):
                self.rows, self.columns = np.asarray(arg1[1][0]), np.asarray(arg1[1][1])
            elif len(arg1) == 3:
                places, starts = np.arange(self.data.shape[0]), np.asarray(arg1[2])
                self.compressed(np.searchsorted(starts, places, "right") - 1, np.asarray(arg1[1]))
            else:
                unsupported("a sparse matrix of these", "give (data, (rows, columns))")
            if self.data.shape != self.rows.shape or self.rows.shape != self.columns.shape:
                raise ValueError("all index and data arrays must have the same length")
            if shape is None:
                unsupported("a sparse matrix without shape=", "give shape=(m, n)")
            self.shape = shape
        else:
            self.dense = np.asarray(arg1)
            if self.dense.ndim != 2:
                unsupported("a sparse matrix of these", "give a matrix, or (data, (rows, columns))")
            self.shape = self.dense.shape

    def compressed(self, first, second) -> None:
        """Keep the indices along the axis that the kind compresses, and those along the other."""
        unsupported("a sparse matrix of these", "give (data, (rows, columns))")

    def toarray(self) -> Any:
        if self.dense is not None:
            return self.dense
        made = np.zeros(self.shape, dtype=self.data.dtype)
        np.add.at(made, (self.rows, self.columns), self.data)
        return made

    def __matmul__(self, other):
        x = np.asarray(other)
        if self.dense is not None:
            return self.dense @ x
        if x.ndim == 1:
            y = np.zeros(self.shape[0], dtype=np.result_type(self.data, x))
            np.add.at(y, self.rows, self.data * x[self.columns])
            return y
        y = np.zeros((self.shape[0], x.shape[1]), dtype=np.result_type(self.data, x))
        np.add.at(y, self.rows, self.data[:, None] * x[self.columns])
        return y

    def __rmatmul__(self, other):
        x = np.asarray(other)
        if x.ndim == 1:
            return self.T @ x
        return (self.T @ x.T).T

    def dot(self, other) -> Any:
        return self @ other

    def transpose(self) -> Any:
        if self.dense is not None:
            return Coordinates(self.dense.T)
        return Coordinates((self.data, (self.columns, self.rows)), self.shape[::-1])

    @property
    def T(self) -> Any:
        return self.transpose()


class Rows(Coordinates):
    def compressed(self, first, second) -> None:
        self.rows, self.columns = first, second


class Columns(Coordinates):
    def compressed(self, first, second) -> None:
        self.rows, self.columns = second, first


KINDS = {"coo": Coordinates, "csc": Columns, "csr": Rows}


def spsolve(A, b, permc_spec=None, use_umfpack=True) -> Any:
    columns = b[:, 0] if b.ndim == 2 and b.shape[1] == 1 else b  # a vector for one column
    return np.linalg.solve(A.toarray(), columns)
