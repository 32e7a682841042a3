"""Operators on Tensors compute in MindSpore's dtype; NumPy's where both agree.

The table is written by hand from MindSpore's rules: an integer beside a float takes the dtype of
the float, the quotient of integers is Float32, a number of Python never widens a float.
"""

import operator

import numpy as np
import pytest

from s2s_ad import Tensor, jit
from s2s_ad.tensors.promotion import ARITHMETIC, operand_dtype

RESULTS = [
    # operator, left, right, dtype of the result
    ("add", "int32", "float16", "float16"),
    ("add", "int64", "float16", "float16"),
    ("add", "int64", "float32", "float32"),
    ("add", "float32", "int64", "float32"),
    ("add", "int64", "float64", "float64"),
    ("add", "bool", "float16", "float16"),
    ("add", "bool", "int32", "int32"),
    ("add", "uint8", "int8", "int16"),
    ("add", "int32", "int64", "int64"),
    ("add", "float16", "float32", "float32"),
    ("add", "float32", "float64", "float64"),
    ("add", "int64", "complex64", "complex64"),
    ("add", "float64", "complex64", "complex128"),
    ("sub", "int64", "float32", "float32"),
    ("mul", "int64", "float32", "float32"),
    ("mod", "int64", "float32", "float32"),
    ("floordiv", "int64", "float32", "float32"),
    ("floordiv", "int64", "int64", "int64"),
    ("pow", "int64", "int64", "int64"),
    ("pow", "float32", "int64", "float32"),
    ("pow", "int64", float, "float32"),
    ("pow", int, "float32", "float32"),
    ("matmul", "int64", "float32", "float32"),
    ("matmul", "int64", "int64", "int64"),
    ("truediv", "int64", "int64", "float32"),
    ("truediv", "bool", "bool", "float32"),
    ("truediv", "int8", "uint8", "float32"),
    ("truediv", "int64", int, "float32"),
    ("truediv", int, "int64", "float32"),
    ("truediv", "int64", "float16", "float16"),
    ("truediv", "float64", "int64", "float64"),
    ("add", "int64", float, "float32"),
    ("add", float, "int8", "float32"),
    ("add", "bool", float, "float32"),
    ("add", "bool", int, "int64"),
    ("add", "uint8", int, "uint8"),
    ("add", "int64", bool, "int64"),
    ("add", "float16", float, "float16"),
    ("add", "float64", int, "float64"),
    ("add", "float16", complex, "complex64"),
    ("add", "float64", complex, "complex128"),
    ("add", "int32", complex, "complex64"),
    ("lt", "int64", "float32", "bool"),
    ("eq", "int64", float, "bool"),
    ("and_", "int32", "int64", "int64"),
    ("lshift", "int32", int, "int32"),
]


def operand(kind):
    return kind(1) if isinstance(kind, type) else Tensor(np.ones((2,), kind))


@pytest.mark.parametrize("op, left, right, expected", RESULTS)
def test_dtype_of_an_operator(op, left, right, expected):
    result = getattr(operator, op)(operand(left), operand(right))
    assert isinstance(result, Tensor)
    assert result.dtype == np.dtype(expected)


@pytest.mark.parametrize("op, left, right, expected", RESULTS)
def test_dtype_of_an_operator_that_is_compiled(op, left, right, expected):
    apply = getattr(operator, op)
    result = jit(lambda x, y: apply(x, y))(operand(left), operand(right))
    assert isinstance(result, Tensor)
    assert result.dtype == np.dtype(expected)


@pytest.mark.parametrize("op, left, right, expected", RESULTS)
def test_operands_that_are_cast_give_that_dtype_with_numpy(op, left, right, expected):
    kinds = [each if isinstance(each, type) else np.dtype(each) for each in (left, right)]
    common = operand_dtype(op, *kinds)
    values = [kind(1) if isinstance(kind, type) else np.ones(2, common or kind) for kind in kinds]
    assert getattr(operator, op)(*values).dtype == np.dtype(expected)


@pytest.mark.parametrize("op", sorted(ARITHMETIC))
@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "complex64", "complex128"])
def test_operands_of_one_inexact_dtype_are_never_cast(op, dtype):
    same = np.dtype(dtype)
    assert all(operand_dtype(op, same, other) is None for other in (same, bool, int, float))
