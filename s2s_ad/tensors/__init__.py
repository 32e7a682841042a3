"""Tensor and Parameter: NumPy arrays with MindSpore's default types, text and methods."""

from s2s_ad.tensors.dtypes import DTYPES, DType, dtype_of, is_dtype, plain_dtype
from s2s_ad.tensors.parameter import Parameter, ParameterTuple
from s2s_ad.tensors.tensor import Tensor, plain, tensor

__all__ = [
    "DTYPES",
    "DType",
    "Parameter",
    "ParameterTuple",
    "Tensor",
    "dtype_of",
    "is_dtype",
    "plain",
    "plain_dtype",
    "tensor",
]
