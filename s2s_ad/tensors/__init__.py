"""Tensor and Parameter: NumPy arrays with MindSpore's default types, text, operators, methods."""

from s2s_ad.tensors.dtypes import DTYPES, DType, bfloat16, dtype_of, is_dtype, plain_dtype
from s2s_ad.tensors.parameter import Parameter, ParameterTuple
from s2s_ad.tensors.tensor import EAGER, Tensor, plain, tensor

__all__ = [
    "DTYPES",
    "EAGER",
    "DType",
    "Parameter",
    "ParameterTuple",
    "Tensor",
    "bfloat16",
    "dtype_of",
    "is_dtype",
    "plain",
    "plain_dtype",
    "tensor",
]
