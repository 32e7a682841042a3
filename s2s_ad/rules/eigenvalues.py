"""Eigenvalues of any square matrix: eig, eigvals.

NumPy gives real numbers where all eigenvalues of a real matrix happen to be real, and complex ones
otherwise. What happens to be cannot be known when code is generated: here they are always complex.

The derivative of a vector is that of the one LAPACK gives: of length one, its largest element real.
"""

from __future__ import annotations

import functools
import operator
from typing import Any

import numpy as np

from s2s_ad import runtime
from s2s_ad.core import values
from s2s_ad.core.builder import Symbol
from s2s_ad.core.registry import register
from s2s_ad.core.rule import Operation
from s2s_ad.rules import support
from s2s_ad.rules.composite import composite
from s2s_ad.rules.decompositions import inverse_gaps
from s2s_ad.rules.matrices import Several, conj, known_rank, mH, rows

EigResult = type(np.linalg.eig(np.eye(1)))


class Eig(Several):
    """w, v = eig(a); M. Giles (2008), 3.1, with the length and phase of the vectors."""

    of_complex = True
    kind = EigResult
    names = ("w", "v")

    def shapes(self, shape: values.Shape, params: dict[str, Any]) -> list[values.Shape]:
        return [shape[:-1], shape]

    def reverse(self, operation: Operation, y_bar: dict[int, Any]) -> list:
        w, v = self.items(operation.result.builder, operation.result)
        terms = []
        if 0 in y_bar:
            terms.append(_diagonal(y_bar[0]))
        if 1 in y_bar:
            terms.append(conj(inverse_gaps(w)) * (mH(v) @ _free(v, y_bar[1])))
        middle = functools.reduce(operator.add, terms)
        return [np.linalg.solve(mH(v), middle @ mH(v))]

    def forward(self, operation: Operation, tangents: list) -> list:
        w, v = self.items(operation.result.builder, operation.result)
        inner = np.linalg.solve(v, tangents[0] @ v)
        moved = v @ (inverse_gaps(w) * inner)
        longer = np.sum(np.real(conj(v) * moved), axis=-2)
        largest, element = _largest(v)
        turned = np.sum(np.where(largest, np.imag(moved), 0.0), axis=-2) / element
        return [np.diagonal(inner, axis1=-2, axis2=-1), moved - v * rows(longer + 1j * turned)]


def _diagonal(w_bar: Symbol) -> Symbol:
    if known_rank(w_bar) == 1:
        return np.diag(w_bar)
    options = {} if w_bar.dtype is None else {"dtype": w_bar.dtype}
    one = w_bar.builder.call(np.eye, (np.size(w_bar, -1),), options)
    return w_bar[..., None] * one


def _free(v: Symbol, v_bar: Any) -> Symbol:
    """The adjoint of vectors whose length and phase are free, from that of these."""
    products = conj(v_bar) * v
    length, phase = (np.sum(part(products), axis=-2) for part in (np.real, np.imag))
    largest, element = _largest(v)
    return v_bar - v * rows(length) + np.where(largest, rows(1j * (phase / element)), 0.0)


def _largest(v: Symbol) -> tuple[Symbol, Symbol]:
    """Where the largest element of each vector is, and what it is."""
    size = np.abs(v)
    indices = v.builder.call(np.arange, (np.size(v, -2),), {})
    largest = indices[:, None] == rows(np.argmax(size, axis=-2))
    return largest, np.sum(np.where(largest, np.real(v), 0.0), axis=-2)


def _eig(a: Symbol) -> Any:
    support.known_rank(a, "np.linalg.eig")  # whether numbers are complex has to be known
    return a.builder.call(runtime.complex_eig, (a,), {})


composite(np.linalg.eig, "a", _eig)
composite(np.linalg.eigvals, "a", lambda a: _eig(a)[0])  # in the order of the vectors

register(Eig(runtime.complex_eig, "eig"))
