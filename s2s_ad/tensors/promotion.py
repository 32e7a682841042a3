"""The dtype in which an operator on Tensors computes, where it is another than NumPy's.

NumPy takes an integer beside a float for a float of 64 bits; MindSpore computes in the dtype of
the float, and takes the quotient of two integers for Float32. Eager operators and the frontend of
the compiler ask the same function, so both give the same dtype.
"""

from __future__ import annotations

import functools

import numpy as np

#: the operators that compute in the dtype that is found here, as the module `operator` names them
ARITHMETIC = frozenset(
    ["add", "sub", "mul", "truediv", "floordiv", "mod", "divmod", "pow", "matmul"]
)

#: what an integer Tensor becomes beside a number of Python
_BESIDE_NUMBER = {float: np.dtype(np.float32), complex: np.dtype(np.complex64)}
_QUOTIENT = np.dtype(np.float32)


@functools.cache
def operand_dtype(op: str, left: np.dtype | type, right: np.dtype | type) -> np.dtype | None:
    """The dtype to which the operands of an operator are cast before NumPy's operator, or None.

    None stands for "NumPy's own promotion is right", as it is for every operator that is not
    arithmetic (comparisons, `&`, `<<`). Numbers of Python are weak: they are never cast; where a
    dtype is given, it is the other operand that is.

    Args:
        op: the operator's name in the module `operator`: 'add', 'truediv', 'matmul', ...
        left: the dtype of the left operand, or `bool`, `int`, `float` or `complex` for a number.
        right: the same of the right operand.

    Example:
        >>> operand_dtype("add", np.dtype("int64"), np.dtype("float32"))
        dtype('float32')
        >>> operand_dtype("truediv", np.dtype("int64"), int)
        dtype('float32')
        >>> operand_dtype("mul", np.dtype("float32"), float) is None
        True
    """
    if op not in ARITHMETIC:
        return None
    integers = [each for each in (left, right) if _kind(each) in tuple("biu")]
    inexact = [each for each in (left, right) if _kind(each) in tuple("fc")]
    if not integers:
        return None
    if inexact:
        return None if np.can_cast(integers[0], inexact[0]) else inexact[0]
    numbers = [each for each in (left, right) if each in _BESIDE_NUMBER]
    if numbers:
        return _BESIDE_NUMBER[numbers[0]]
    return _QUOTIENT if op == "truediv" else None


def _kind(operand: np.dtype | type) -> str:
    """The kind of a dtype; nothing for a number of Python. NumPy takes bfloat16 for bytes."""
    if not isinstance(operand, np.dtype):
        return ""
    return "f" if operand.name == "bfloat16" else operand.kind
