"""The operands of an operator on Tensors, which has rules of its own for dtypes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from s2s_ad.core import values
from s2s_ad.core.builder import Symbol
from s2s_ad.frontend.lower.core import Lowering
from s2s_ad.tensors.promotion import operand_dtype


def promoted(lowering: Lowering, function: Callable, left: Any, right: Any) -> tuple[Any, Any]:
    """The operands in the dtype that an operator of `operator` has for Tensors."""
    facts = [lowering.builder.fact(each) for each in (left, right)]
    dtypes = [values.dtype_argument(each) for each in facts]
    if not any(map(values.is_tensor, facts)) or values.missing(dtypes):
        return left, right
    dtype = operand_dtype(function.__name__.strip("_"), *dtypes)
    if dtype is None:
        return left, right
    return _cast(lowering, left, dtype), _cast(lowering, right, dtype)


def _cast(lowering: Lowering, value: Any, dtype: np.dtype) -> Any:
    strong = isinstance(lowering.builder.fact(value), values.Array)
    if not strong or values.strong_dtype(lowering.builder.fact(value)) == dtype:
        return value
    return lowering.call(np.ndarray.astype, value, dtype) if isinstance(value, Symbol) else value
