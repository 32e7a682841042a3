"""Functions of NumPy take Tensors as arrays, keep NumPy's dtypes and values, and give Tensors."""

import numpy as np
import pytest

import s2s_ad as ms
from s2s_ad import Parameter, Tensor

A = np.array([[1.0, -2.0, 3.0], [0.5, 4.0, -1.0]], np.float32)
S = np.array([[2.0, 1.0], [1.0, 3.0]])
I64 = np.array([[2, 0, 1], [1, 1, 3]])

CALLS = {
    "np.exp(x)": 1,
    "np.add(x, i)": 1,
    "np.true_divide(i, 2)": 1,
    "np.modf(x)": 2,
    "np.add.reduce(x, 1)": 1,
    "np.multiply.outer(x[0], x[1])": 1,
    "np.sum(x)": 1,
    "np.mean(i)": 1,
    "np.max(x, axis=0)": 1,
    "np.argmax(x)": 1,
    "np.where(x > 0, x, 0)": 1,
    "np.where(x > 0)": 2,
    "np.stack([x, x])": 1,
    "np.stack((x, y))": 1,
    "np.concatenate([x, x], axis=1)": 1,
    "np.block([[x, x], [x, x]])": 1,
    "np.einsum('ij,kj->ik', x, x)": 1,
    "np.tensordot(x, x, 2)": 1,
    "np.dot(x[0], x[1])": 1,
    "np.vdot(x, x)": 1,
    "np.outer(x[0], x[1])": 1,
    "np.linalg.norm(x)": 1,
    "np.linalg.inv(s)": 1,
    "np.linalg.svd(s)": 3,
    "np.linalg.eigh(s).eigenvalues": 1,
    "np.clip(x, -1, 1)": 1,
    "np.cumsum(x, axis=1)": 1,
    "np.sort(x)": 1,
    "np.split(x, 2)": 2,
    "np.meshgrid(x[0], x[1])": 2,
    "np.broadcast_arrays(x, x[0])": 2,
    "np.take_along_axis(x, i % 3, 1)": 1,
    "np.apply_along_axis(lambda v: v.unsqueeze(0).sum(), 1, x)": 1,
    "np.piecewise(x, [x > 0], [lambda v: v.square(), 0.0])": 1,
    "np.zeros_like(x)": 1,
    "np.asanyarray(x)": 1,
    "np.lib.stride_tricks.sliding_window_view(x, 2, 1)": 1,
    "np.pad(x, 1)": 1,
    "np.interp(x, y[0].sort()[0], y[1])": 1,
    "np.quantile(x, 0.5)": 1,
    "np.fft.fft(x)": 1,
}


class Plain(np.ndarray):
    """Plain arrays with the two methods of Tensors that the table uses."""

    def unsqueeze(self, axis):
        return np.expand_dims(self, axis)

    def square(self):
        return self * self


def evaluated(call, convert):
    names = {"x": A, "y": A[::-1] * 2, "s": S, "i": I64}
    found = eval(call, {"np": np} | {name: convert(each) for name, each in names.items()})
    return found if isinstance(found, tuple | list) else [found]


@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize("kind", [Tensor, Parameter])
def test_a_function_gives_tensors_of_the_values_of_numpy(call, kind):
    results = evaluated(call, kind)
    plain = call.replace("y[0].sort()[0]", "np.sort(y[0])")
    expected = evaluated(plain, lambda each: each.view(Plain))
    assert len(results) == CALLS[call]
    for result, wanted in zip(results, expected, strict=True):
        assert type(result) is (kind if call == "np.asanyarray(x)" else Tensor)
        assert result.dtype == np.asarray(wanted).dtype
        assert result.shape == np.shape(wanted)
        np.testing.assert_allclose(np.asarray(result), np.asarray(wanted), rtol=1e-6)


NO_TENSORS = {
    "np.shape(x)": (2, 3),
    "np.ndim(x)": 2,
    "np.size(x)": 6,
    "np.array_equal(x, x)": True,
    "np.allclose(x, x)": True,
    "np.iscomplexobj(x)": False,
    "np.shares_memory(x, x)": True,
    "np.result_type(x, 1.0)": np.dtype(np.float32),
    "np.issubdtype(x.dtype, np.floating)": True,
    "np.finfo(x.dtype).bits": 32,
    "type(np.asarray(x))": np.ndarray,
    "type(np.array(x))": np.ndarray,
    "np.can_cast(x.dtype, np.float64)": True,
}


@pytest.mark.parametrize("call", NO_TENSORS)
def test_a_function_that_gives_no_array(call):
    assert eval(call, {"np": np, "x": Tensor(A)}) == NO_TENSORS[call]


def test_out_is_what_was_given():
    x, out = Tensor(A), Tensor(np.zeros(3, np.float32))
    assert np.sum(x, axis=0, out=out) is out
    assert out.tolist() == [1.5, 2.0, 2.0]


def test_functions_that_change_an_array_change_the_tensor():
    x = Tensor(np.zeros((2, 2)))
    np.fill_diagonal(x, 5)
    np.put(x, [1], 7)
    np.copyto(x[1:], [[3, 3]])
    assert x.tolist() == [[5.0, 7.0], [3.0, 3.0]]


def test_a_result_of_an_array_and_a_tensor_is_a_tensor():
    x = Tensor([1.0, 2.0])
    for result in (np.ones(2) * x, x * np.ones(2), np.float64(2) * x, x - np.float32(1)):
        assert type(result) is Tensor
    assert (np.ones(2) * x).dtype == ms.float64


def test_elements_rows_and_comparisons_are_tensors():
    x = Tensor(A)
    found = [*x, *x[0], x[0, 0], x == x, x[0] @ x[1], *divmod(x, 2), *divmod(7, x), -x, abs(x)]
    assert all(type(each) is Tensor for each in found)
    assert [each.shape for each in x[0]] == [()] * 3


def test_tensors_are_told_apart_by_identity():
    x, y = Tensor([1.0]), Tensor([1.0])
    assert {x: "x", y: "y"}[x] == "x"
    assert hash(x) != hash(y)
