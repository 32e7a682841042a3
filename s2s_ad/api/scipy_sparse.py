"""scipy.sparse: matrices that the function captured, and what is written in Python."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import scipy.sparse
import scipy.sparse.linalg

from s2s_ad.api.callers import arguments_of
from s2s_ad.api.written import write
from s2s_ad.core.homes import Held
from s2s_ad.core.program import identifier
from s2s_ad.diagnostics import UnsupportedError
from s2s_ad.frontend.lower.calls import HANDLERS, as_argument
from s2s_ad.frontend.resolve import Captured, Place, unwrap
from s2s_ad.rules.scipy_sparse import sparse_product, sparse_solution
from s2s_ad.written import scipy_sparse

for _kind in ("coo", "csc", "csr"):
    for _suffix in ("array", "matrix"):
        write(getattr(scipy.sparse, f"{_kind}_{_suffix}"), scipy_sparse.KINDS[_kind])

# ---- matrices that the function captured ---------------------------------------------------------


class Transposed:
    """The transpose of a captured sparse matrix: text reads `A.T`, whatever A holds then."""

    def __init__(self, matrix: Captured):
        self.matrix, self.shape, self.dtype = matrix, matrix.value.shape[::-1], matrix.value.dtype
        self.ndim = 2

    @property
    def T(self) -> Any:
        return self.transpose()

    def transpose(self) -> Any: ...
    def dot(self, other: Any) -> Any: ...
    def __matmul__(self, other: Any) -> Any: ...
    def __rmatmul__(self, other: Any) -> Any: ...


def _parameters(holder: Captured) -> dict[str, Any]:
    """The matrix, and whether it is transposed."""
    transposed = isinstance(holder.value, Transposed)
    matrix = holder.value.matrix if transposed else holder
    held = Held(matrix.value, identifier(matrix.place.text))
    return {"matrix": held, "transposed": transposed}


def _product(left: bool) -> Callable:
    def handler(lowering: Any, args: list, kwargs: dict[str, Any]) -> Any:
        holder, x = args
        x = as_argument(lowering, x)
        if isinstance(x, Transposed) or scipy.sparse.issparse(x):
            raise UnsupportedError(
                "S2S203",
                "a product of two sparse matrices",
                help="make it outside the function, or multiply the vector by one after the other",
            )
        return lowering.call(sparse_product, x, **_parameters(holder), left=left)

    return handler


def _transposed(lowering: Any, args: list, kwargs: dict[str, Any]) -> Any:
    (holder,) = args
    if isinstance(holder.value, Transposed):
        return holder.value.matrix
    made = Transposed(holder)
    return Captured(made, Place.of_object(made, f"{holder.place.text}.T"))


METHODS = {"__matmul__": _product(False), "dot": _product(False), "__rmatmul__": _product(True)}
METHODS["transpose"] = _transposed
OF_MATRICES = METHODS | {"__mul__": _product(False), "__rmul__": _product(True)}  # as in algebra

for _name, _handler in METHODS.items():
    HANDLERS[getattr(Transposed, _name)] = _handler
for _kind in ("bsr", "coo", "csc", "csr", "dia", "dok", "lil"):
    for _suffix, _methods in (("array", METHODS), ("matrix", OF_MATRICES)):
        for _name, _handler in _methods.items():
            HANDLERS[getattr(getattr(scipy.sparse, f"{_kind}_{_suffix}"), _name)] = _handler


def _is_sparse(lowering: Any, args: list, kwargs: dict[str, Any]) -> bool:
    """Whether a value is a sparse matrix, captured or made inside."""
    (x,) = (*args, *kwargs.values())
    matrix = unwrap(x)
    made = getattr(x, "kind", None) in scipy_sparse.KINDS.values()
    return made or isinstance(matrix, Transposed) or scipy.sparse.issparse(matrix)


HANDLERS[scipy.sparse.issparse] = _is_sparse

# ---- systems -------------------------------------------------------------------------------------

write(scipy.sparse.linalg.spsolve, scipy_sparse.spsolve)
_of_made = HANDLERS[scipy.sparse.linalg.spsolve]


def _spsolve(lowering: Any, args: list, kwargs: dict[str, Any]) -> Any:
    library = scipy.sparse.linalg.spsolve
    text = "A, b, permc_spec=None, use_umfpack=True"
    found = arguments_of(lowering, library, text, args, kwargs)
    matrix = unwrap(found["A"])
    if not isinstance(matrix, Transposed) and not scipy.sparse.issparse(matrix):
        return _of_made(lowering, args, kwargs)
    b = as_argument(lowering, found["b"])
    if b.ndim == 2 and b.shape[1] == 1:
        b = b[:, 0]  # SciPy gives a vector for one column
    return lowering.call(sparse_solution, b, **_parameters(found["A"]))


HANDLERS[scipy.sparse.linalg.spsolve] = _spsolve
