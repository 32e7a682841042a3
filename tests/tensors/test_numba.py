"""Numba takes a Tensor as the array that it is: same code, same memory."""

import numpy as np
import pytest

from s2s_ad import Parameter, Tensor

numba = pytest.importorskip("numba", reason="Numba is not installed")


def test_a_tensor_is_an_array_to_numba():
    x = Tensor([1.0, 2.0])
    assert numba.typeof(x) == numba.typeof(Parameter(x)) == numba.typeof(x.asnumpy())


def test_compiled_code_serves_arrays_and_tensors_and_writes_into_them():
    @numba.njit
    def doubled(x):
        for i in range(len(x)):
            x[i] *= 2

    x, a = Tensor([1.0, 2.0]), np.ones(2, np.float32)
    doubled(x)
    doubled(a)
    assert x.tolist() == [2.0, 4.0]
    assert len(doubled.signatures) == 1
