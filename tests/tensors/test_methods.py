"""Methods of Tensors: the value, dtype and nesting that NumPy or a definition gives, eager and
compiled.

In the table `t` is a float32 Tensor and `a` its array, (2, 3); `v`, `u` are vectors of three, `i`
is an int64 Tensor of the shape of `a`, `m` an array of bools. Expected values are plain NumPy.
"""

import numpy as np
import pytest

import s2s_ad as ms
from s2s_ad import Tensor, grad, jit

pytestmark = pytest.mark.thinned(6)

A = np.array([[0.5, -1.5, 2.0], [3.0, 0.25, -0.75]], np.float32)
V = np.array([1.0, -2.0, 0.5], np.float32)
U = np.array([0.5, 4.0, 3.0], np.float32)
I64 = np.array([[3, -1, 2], [0, 5, 2]])
F32 = np.float32

ELEMENTWISE = {
    "t.add(1)": "a + 1",
    "t.add(v, alpha=2)": "a + 2 * v_",
    "t.sub(v)": "a - v_",
    "t.subtract(v, alpha=3)": "a - 3 * v_",
    "t.mul(v)": "a * v_",
    "t.multiply(2)": "a * 2",
    "t.div(u)": "a / u_",
    "t.divide(2)": "a / 2",
    "i.true_divide(2)": "(i_ / 2).astype(F32)",
    "i.div(i.add(7))": "(i_ / (i_ + 7)).astype(F32)",
    "t.floor_divide(0.5)": "a // 0.5",
    "i.remainder(3)": "i_ % 3",
    "t.fmod(2.0)": "np.fmod(a, F32(2))",
    "t.pow(2)": "a**2",
    "t.neg()": "-a",
    "t.negative()": "-a",
    "t.positive()": "a",
    "t.square()": "a * a",
    "t.reciprocal()": "1 / a",
    "i.add(6).reciprocal()": "(1 / (i_ + 6)).astype(F32)",
    "t.lerp(v, 0.25)": "0.75 * a + F32(0.25) * v_",
    "t.addcmul(v, u, 2)": "a + 2 * v_ * u_",
    "t.addcdiv(v, u)": "a + v_ / u_",
    "t.hypot(u)": "np.sqrt(a * a + u_ * u_)",
    "t.maximum(v)": "np.where(a > v_, a, v_)",
    "t.minimum(v)": "np.where(a < v_, a, v_)",
    "t.copysign(v)": "np.abs(a) * np.sign(v_)",
    "t.heaviside(0.5)": "(a > 0).astype(F32)",
    "t.logaddexp(v)": "np.log(np.exp(a) + np.exp(v_))",
    "t.logaddexp2(v)": "np.log2(2**a + 2**v_)",
    "t.clip(-1, 1)": "np.minimum(np.maximum(a, -1), 1)",
    "t.clamp(min=0)": "np.maximum(a, 0)",
    "t.clamp(max=0.5)": "np.minimum(a, F32(0.5))",
    "t.abs()": "np.abs(a)",
    "t.absolute()": "np.abs(a)",
    "t.sign()": "np.sign(a)",
    "t.abs().sqrt()": "np.abs(a) ** F32(0.5)",
    "i.abs().sqrt()": "(np.abs(i_) ** 0.5).astype(F32)",
    "t.abs().rsqrt()": "np.abs(a) ** F32(-0.5)",
    "t.exp()": "np.e ** a",
    "i.exp()": "(np.e ** i_).astype(F32)",
    "t.exp2()": "F32(2) ** a",
    "t.expm1()": "np.e ** a - 1",
    "t.abs().log()": "np.log(np.abs(a))",
    "t.abs().log2()": "np.log2(np.abs(a))",
    "t.abs().log10()": "np.log10(np.abs(a))",
    "t.abs().log1p()": "np.log(1 + np.abs(a))",
    "t.sin()": "np.sin(a)",
    "t.cos()": "np.cos(a)",
    "t.tan()": "np.sin(a) / np.cos(a)",
    "t.div(4).asin()": "np.arcsin(a / 4)",
    "t.div(4).arcsin()": "np.arcsin(a / 4)",
    "t.div(4).acos()": "np.arccos(a / 4)",
    "t.div(4).arccos()": "np.arccos(a / 4)",
    "t.atan()": "np.arctan(a)",
    "t.arctan()": "np.arctan(a)",
    "t.atan2(u)": "np.arctan(a / u_)",
    "t.arctan2(u)": "np.arctan(a / u_)",
    "t.sinh()": "(np.exp(a) - np.exp(-a)) / 2",
    "t.cosh()": "(np.exp(a) + np.exp(-a)) / 2",
    "t.tanh()": "np.sinh(a) / np.cosh(a)",
    "t.asinh()": "np.log(a + np.sqrt(a * a + 1))",
    "t.arcsinh()": "np.log(a + np.sqrt(a * a + 1))",
    "t.square().add(1).acosh()": "np.arccosh(a * a + 1)",
    "t.square().add(1).arccosh()": "np.arccosh(a * a + 1)",
    "t.div(4).atanh()": "np.arctanh(a / 4)",
    "t.div(4).arctanh()": "np.arctanh(a / 4)",
    "t.sinc()": "np.sin(np.pi * a) / (F32(np.pi) * a)",
    "t.sigmoid()": "1 / (1 + np.exp(-a))",
    "t.div(8).add(0.5).logit()": "np.log((a / 8 + 0.5) / (0.5 - a / 8))",
    "t.relu()": "np.maximum(a, 0)",
    "t.softmax()": "np.exp(a) / np.exp(a).sum(1, keepdims=True)",
    "t.softmax(0)": "np.exp(a) / np.exp(a).sum(0)",
    "t.log_softmax(axis=1)": "np.log(np.exp(a) / np.exp(a).sum(1, keepdims=True))",
    "t.floor()": "np.floor(a)",
    "t.ceil()": "np.ceil(a)",
    "t.trunc()": "np.trunc(a)",
    "t.round()": "np.round(a)",
    "t.round(decimals=1)": "np.round(a, 1)",
    "t.deg2rad()": "a * F32(np.pi / 180)",
    "t.rad2deg()": "a * F32(180 / np.pi)",
    "t.nan_to_num()": "a",
    "t.eq(v)": "a == v_",
    "t.equal(t)": "np.full((2, 3), True)",
    "t.ne(v)": "a != v_",
    "t.not_equal(v)": "a != v_",
    "t.lt(0.5)": "a < 0.5",
    "t.less(0.5)": "a < 0.5",
    "t.le(0.5)": "a <= 0.5",
    "t.less_equal(0.5)": "a <= 0.5",
    "t.gt(v)": "a > v_",
    "t.greater(v)": "a > v_",
    "t.ge(v)": "a >= v_",
    "t.greater_equal(v)": "a >= v_",
    "t.isfinite()": "np.full((2, 3), True)",
    "t.isinf()": "np.full((2, 3), False)",
    "t.isnan()": "np.full((2, 3), False)",
    "t.isclose(t.add(1e-9))": "np.full((2, 3), True)",
    "m.logical_and(t > 1)": "m_ & (a > 1)",
    "m.logical_or(t > 1)": "m_ | (a > 1)",
    "m.logical_xor(t > 1)": "m_ ^ (a > 1)",
    "m.logical_not()": "~m_",
    "i.bitwise_and(3)": "i_ & 3",
    "i.bitwise_or(3)": "i_ | 3",
    "i.bitwise_xor(3)": "i_ ^ 3",
    "i.bitwise_not()": "-i_ - 1",
    "i.bitwise_left_shift(2)": "i_ * 4",
    "i.bitwise_right_shift(1)": "i_ // 2",
    "t.sgn()": "np.sign(a)",
    "t.isposinf()": "np.full((2, 3), False)",
    "t.isneginf()": "np.full((2, 3), False)",
    "t.fill(3)": "np.full((2, 3), F32(3))",
    "t.fills(2.5)": "np.full((2, 3), F32(2.5))",
    "t.where(m, 0.0)": "np.where(m_, a, F32(0))",
    "t.masked_fill(m, 7.0)": "np.where(m_, F32(7), a)",
    "i.masked_fill(m, 7)": "np.where(m_, 7, i_)",
}
DTYPES = {
    "t.to(ms.float16)": "a.astype(np.float16)",
    "t.astype(ms.int32)": "a.astype(np.int32)",
    "t.type(ms.float64)": "a.astype(np.float64)",
    "i.type_as(t)": "i_.astype(F32)",
    "t.bool()": "a != 0",
    "i.abs().byte()": "np.abs(i_).astype(np.uint8)",
    "t.short()": "a.astype(np.int16)",
    "t.int()": "a.astype(np.int32)",
    "t.long()": "a.astype(np.int64)",
    "t.half()": "a.astype(np.float16)",
    "i.float()": "i_.astype(F32)",
    "t.double()": "a.astype(np.float64)",
}
REDUCTIONS = {
    "t.sum()": "a.sum()",
    "t.sum(0)": "a.sum(0)",
    "t.sum(axis=[0, 1])": "a.sum()",
    "t.sum(1, keepdims=True)": "a.sum(1, keepdims=True)",
    "t.sum(dim=1, keepdim=True)": "a.sum(1, keepdims=True)",
    "t.sum(1, True)": "a.sum(1, keepdims=True)",
    "i.sum(dtype=ms.float32)": "i_.sum().astype(F32)",
    "m.sum()": "m_.sum()",
    "t.prod(1)": "a[:, 0] * a[:, 1] * a[:, 2]",
    "t.mean()": "a.sum() / 6",
    "t.mean(0, True)": "a.sum(0, keepdims=True) / 2",
    "t.mean(axis=1)": "a.sum(1) / 3",
    "i.mean()": "F32(11 / 6)",
    "t.mean(dtype=ms.float64)": "a.astype(float).mean()",
    "t.var()": "((a - a.mean()) ** 2).mean()",
    "t.var(0, ddof=1)": "((a - a.mean(0)) ** 2).sum(0)",
    "t.std(axis=1)": "np.sqrt(((a - a.mean(1, keepdims=True)) ** 2).mean(1))",
    "t.max()": "F32(3)",
    "t.max(axis=1)": "F32([2, 3])",
    "t.max(dim=1)": "(F32([2, 3]), np.array([2, 0]))",
    "t.max(axis=0, return_indices=True)": "(F32([3, 0.25, 2]), np.array([1, 1, 0]))",
    "t.min()": "F32(-1.5)",
    "t.min(dim=1, keepdim=True)": "(F32([[-1.5], [-0.75]]), np.array([[1], [2]]))",
    "t.amax(1)": "F32([2, 3])",
    "t.amin(1)": "F32([-1.5, -0.75])",
    "t.ptp(1)": "F32([3.5, 3.75])",
    "t.argmax()": "np.int64(3)",
    "t.argmax(1)": "np.array([2, 0])",
    "t.argmax(dim=0)": "np.array([1, 1, 0])",
    "t.argmin(axis=1)": "np.array([1, 2], np.int32)",
    "t.argmin()": "np.int32(1)",
    "m.all()": "np.False_",
    "m.all(axis=0)": "m_.all(0)",
    "m.any(1)": "m_.any(1)",
    "m.any()": "np.True_",
    "t.norm()": "np.sqrt((a * a).sum())",
    "v.norm(1)": "np.abs(v_).sum()",
    "t.norm(dim=1, keepdim=True)": "np.sqrt((a * a).sum(1, keepdims=True))",
    "t.logsumexp(1)": "np.log(np.exp(a).sum(1))",
    "t.logsumexp(axis=(0, 1))": "np.log(np.exp(a).sum())",
    "t.logsumexp(0, keepdims=True)": "np.log(np.exp(a).sum(0, keepdims=True))",
    "t.sum(axis=())": "a.sum()",
    "m.all(axis=())": "np.False_",
    "t.nanmean(1)": "a.sum(1) / 3",
    "t.nansum(0)": "a.sum(0)",
    "i.count_nonzero()": "np.int64(5)",
    "i.count_nonzero(axis=0)": "np.array([1, 2, 2])",
    "t.trace()": "a[0, 0] + a[1, 1]",
    "t.cumsum(1)": "np.add.accumulate(a, 1)",
    "t.cumprod(0)": "np.multiply.accumulate(a, 0)",
    "t.matmul(v)": "a @ v_",
    "t.mm(t.T)": "a @ a.T",
    "t.mv(v)": "a @ v_",
    "t.unsqueeze(0).bmm(t.T.unsqueeze(0))": "(a @ a.T)[None]",
    "v.dot(u)": "(v_ * u_).sum()",
    "v.inner(u)": "(v_ * u_).sum()",
    "v.outer(u)": "v_[:, None] * u_",
    "v.ger(u)": "v_[:, None] * u_",
    "v.cross(u)": "np.cross(v_, u_)",
    "t.addr(v[:2], u)": "a + v_[:2, None] * u_",
    "v.baddbmm(t.T[None], t[None])": "v_ + (a.T @ a)[None]",
    "v.kron(u[:2])": "np.kron(v_, u_[:2])",
    "t.mm(t.T).matrix_power(2)": "a @ a.T @ a @ a.T",
    "t.mm(t.T).det()": "F32(np.linalg.det((a @ a.T).astype(float)))",
    "t.mm(t.T).inverse()": "np.linalg.inv((a @ a.T).astype(float)).astype(F32)",
    "v.addmm(t.T, t, beta=2, alpha=3)": "2 * v_ + 3 * a.T @ a",
    "v.addmv(t.T @ t, u)": "v_ + a.T @ a @ u_",
}
STRUCTURE = {
    "t.view(3, 2)": "a.reshape(3, 2)",
    "t.view((-1,))": "a.reshape(-1)",
    "t.view(-1)": "a.reshape(-1)",
    "t.reshape(3, -1)": "a.reshape(3, 2)",
    "t.reshape((6,))": "a.reshape(6)",
    "v.view_as(u)": "v_",
    "t.reshape_as(t.T)": "a.reshape(3, 2)",
    "t.flatten()": "a.reshape(-1)",
    "t.unsqueeze(0).flatten(start_dim=1)": "a.reshape(1, 6)",
    "t.ravel()": "a.reshape(-1)",
    "t.squeeze()": "a",
    "t.expand_dims(1)": "a[:, None]",
    "t.unsqueeze(-1)": "a[:, :, None]",
    "t.unsqueeze(0).squeeze(0)": "a",
    "t.permute(1, 0)": "a.T",
    "t.permute((1, 0))": "a.T",
    "t.transpose()": "a.T",
    "t.transpose(1, 0)": "a.T",
    "t.unsqueeze(0).transpose(0, 2)": "a[None].swapaxes(0, 2)",
    "t.unsqueeze(0).transpose(0, 2, 1)": "a.T[None]",
    "t.swapaxes(0, 1)": "a.T",
    "t.T": "a.T",
    "t.t()": "a.T",
    "t.unsqueeze(0).moveaxis(0, -1)": "a[:, :, None]",
    "t.unsqueeze(0).movedim(0, 1)": "a[:, None]",
    "v.broadcast_to((2, 3))": "np.stack([v_, v_])",
    "v.broadcast_to((2, -1))": "np.stack([v_, v_])",
    "v.expand(2, 3)": "np.stack([v_, v_])",
    "v.expand_as(t)": "np.stack([v_, v_])",
    "t.tile((1, 2))": "np.concatenate([a, a], 1)",
    "t.repeat_interleave(2, 0)": "a[[0, 0, 1, 1]]",
    "t.repeat(2, 0)": "a[[0, 0, 1, 1]]",
    "t.roll(1, 1)": "a[:, [2, 0, 1]]",
    "t.flip(0)": "a[::-1]",
    "t.flip((0, 1))": "a[::-1, ::-1]",
    "t.reverse(1)": "a[:, ::-1]",
    "t.swapdims(0, 1)": "a.T",
    "t.adjoint()": "a.T",
    "t.H": "a.T",
    "(t + 2j * t).H": "(1 - 2j) * a.T",
    "t[None].mH": "a.T[None]",
    "t.fliplr()": "a[:, ::-1]",
    "t.flipud()": "a[::-1]",
    "t.rot90()": "a.T[::-1]",
    "t.split(1)": "(a[:1], a[1:])",
    "t.split(2, 1)": "(a[:, :2], a[:, 2:])",
    "t.chunk(2, 1)": "(a[:, :2], a[:, 2:])",
    "t.unbind()": "(a[0], a[1])",
    "t.unbind(1)": "(a[:, 0], a[:, 1], a[:, 2])",
    "t.contiguous()": "a",
    "t.T.contiguous()": "a.T",
    "t.gather_nd(Tensor([[0, 1], [1, 2]]))": "F32([a[0, 1], a[1, 2]])",
    "t.gather_nd(Tensor([[1]]))": "a[[1]]",
    "m.argwhere()": "np.array([[0, 1], [1, 0]])",
    "m.nonzero()": "np.array([[0, 1], [1, 0]])",
    "m.nonzero(as_tuple=True)": "(np.array([0, 1]), np.array([1, 0]))",
    "t.masked_select(m)": "F32([-1.5, 3])",
    "t[m]": "F32([-1.5, 3])",
    "t.split([1, 2], axis=1)": "(a[:, :1], a[:, 1:])",
    "t.narrow(1, 1, 2)": "a[:, 1:]",
    "t.select(1, 2)": "a[:, 2]",
    "v.diag()": "np.eye(3, dtype=F32) * v_",
    "t.diag()": "F32([a[0, 0], a[1, 1]])",
    "v.diagflat(1)": "np.diag(v_, 1)",
    "t.index_fill(1, Tensor([0, 2]), 7)": "np.where([True, False, True], F32(7), a)",
    "t.index_add(0, Tensor([1, 1]), t)": "a + F32([[0], [1]]) * a.sum(0)",
    "t.index_add(1, Tensor([0]), t[:, 1:2], alpha=2)": "a + F32([2, 0, 0]) * a[:, 1:2]",
    "t.diagonal()": "F32([a[0, 0], a[1, 1]])",
    "t.tril()": "a * F32([[1, 0, 0], [1, 1, 0]])",
    "t.triu(1)": "a * F32([[0, 1, 1], [0, 0, 1]])",
    "t.take(Tensor([0, 5]))": "F32([a[0, 0], a[1, 2]])",
    "t.take(Tensor([1]), axis=1)": "a[:, 1:2]",
    "t.index_select(1, Tensor([2, 0]))": "a[:, [2, 0]]",
    "t.gather(Tensor([1, 1]), 0)": "a[[1, 1]]",
    "t.gather_elements(1, Tensor([[0], [2]]))": "F32([[a[0, 0]], [a[1, 2]]])",
    "t.diff()": "a[:, 1:] - a[:, :-1]",
    "t.argsort()": "np.argsort(a).astype(np.int32)",
    "t.argsort(descending=True)": "np.argsort(-a).astype(np.int32)",
    "t.sort()": "(np.sort(a), np.argsort(a).astype(np.int32))",
    "i.sort(0, True)": "(-np.sort(-i_, 0), np.argsort(-i_, 0, 'stable').astype(np.int32))",
    "t.topk(2)": "(F32([[2, 0.5], [3, 0.25]]), np.int32([[2, 0], [0, 1]]))",
    "t.topk(1, dim=0, largest=False)": "(a.min(0, keepdims=True), np.int32([[0, 0, 1]]))",
    "v.sort()[0].searchsorted(u)": "np.array([1, 3, 3])",
    "t.clone()": "a",
    "t.copy()": "a",
    "t.new_zeros((2,))": "np.zeros(2, F32)",
    "t.new_zeros(3, dtype=ms.int32)": "np.zeros(3, np.int32)",
    "t.new_ones((2, 1))": "np.ones((2, 1), F32)",
    "t.new_full((2,), 3.5)": "F32([3.5, 3.5])",
    "t.new_empty(2)": "np.zeros(2, F32)",
    "t.new_tensor([1, 2])": "F32([1, 2])",
    "t.value()": "a",
    "t.init_data()": "a",
    "t[0]": "a[0]",
    "t[0, 1]": "a[0, 1]",
    "t[:, None, ::2]": "a[:, None, ::2]",
    "t[..., -1]": "a[:, 2]",
    "t[Tensor([1, 0])]": "a[[1, 0]]",
    "v[v.argmax()]": "F32(1)",
}
#: what the compiler refuses, as it does for arrays, or has in another form
EAGER_ONLY = {
    "t.signbit()": "a < 0",
    "t.ldexp(Tensor([1, 2, 3]))": "a * F32([2, 4, 8])",
    "(1 + 2j) * t.conj()": "(1 + 2j) * a",
}
NOT_TENSORS = {
    "t.allclose(t)": True,
    "t.dim()": 2,
    "t.numel()": 6,
    "t.nelement()": 6,
    "t.ndimension()": 2,
    "t.element_size()": 4,
    "t.ndim": 2,
    "t.size": 6,
    "t.shape": (2, 3),
    "t.itemsize": 4,
    "t.nbytes": 24,
    "t.is_floating_point()": True,
    "i.is_floating_point()": False,
    "t.is_complex()": False,
    "t.is_signed()": True,
    "t.has_init": False,
    "t.device": "CPU",
    "t.tolist()": A.tolist(),
    "t.item(4)": 0.25,
    "t.max().item()": 3.0,
}

M = np.array([[False, True, False], [True, False, False]])
TENSORS = {"t": Tensor(A), "v": Tensor(V), "u": Tensor(U), "i": Tensor(I64), "m": Tensor(M)}
ARRAYS = {"a": A, "v_": V, "u_": U, "i_": I64, "m_": M, "np": np, "F32": F32}
COMPILED = ELEMENTWISE | DTYPES | REDUCTIONS | STRUCTURE


def check(result, expected):
    if isinstance(expected, tuple):
        assert isinstance(result, tuple)
        for one, other in zip(result, expected, strict=True):
            check(one, other)
        return
    assert type(result) is Tensor
    assert result.dtype == np.asarray(expected).dtype
    assert result.shape == np.shape(expected)
    np.testing.assert_allclose(result.asnumpy(), expected, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("method", COMPILED | EAGER_ONLY)
def test_value_of_a_method(method):
    expected = eval((COMPILED | EAGER_ONLY)[method], dict(ARRAYS))
    check(eval(method, TENSORS | {"Tensor": Tensor, "ms": ms}), expected)


IN_PLACE = {
    "t.add_(1)": "a + 1",
    "t.add_(v, alpha=2)": "a + 2 * v_",
    "t.sub_(v)": "a - v_",
    "t.mul_(2)": "a * 2",
    "t.div_(u)": "a / u_",
    "t.copy_(v)": "np.stack([v_, v_])",
    "t.assign_value(v)": "np.stack([v_, v_])",
    "t.fill_(3)": "np.full((2, 3), F32(3))",
    "t.zero_()": "np.zeros((2, 3), F32)",
    "t.clamp_(0, 1)": "np.minimum(np.maximum(a, 0), 1)",
    "t.masked_fill_(m, 7)": "np.where(m_, F32(7), a)",
}


@pytest.mark.parametrize("method", IN_PLACE)
def test_a_method_that_changes_the_tensor(method):
    t = Tensor(A)
    assert eval(method, TENSORS | {"t": t}) is t
    check(t, eval(IN_PLACE[method], dict(ARRAYS)))


@pytest.mark.parametrize("method", NOT_TENSORS)
def test_value_that_is_no_tensor(method):
    result = eval(method, dict(TENSORS))
    assert result == NOT_TENSORS[method]
    assert type(result) is type(NOT_TENSORS[method])


def known(t):
    return t.device, t.has_init, str(t.dtype), t.dtype == ms.float32, t.ndim, t.numel(), t.itemsize


def test_what_compiled_code_knows_of_a_tensor():
    assert jit(known)(Tensor(A)) == known(Tensor(A)) == ("CPU", False, "Float32", True, 2, 6, 4)


@pytest.fixture(scope="module")
def functions(tmp_path_factory):
    """A function for each row of the table, in a file, for the compiler reads source."""
    path = tmp_path_factory.mktemp("methods") / "methods.py"
    rows = "".join(
        f"def f{n}(t, v, u, i, m):\n    return {row}\n" for n, row in enumerate(COMPILED)
    )
    path.write_text(f"import s2s_ad as ms\nfrom s2s_ad import Tensor\n\n{rows}")
    space = {}
    exec(compile(path.read_text(), str(path), "exec"), space)
    return {row: space[f"f{n}"] for n, row in enumerate(COMPILED)}


@pytest.mark.parametrize(
    "method",
    [
        pytest.param(method, marks=[pytest.mark.slow] if place % 2 else [])
        for place, method in enumerate(COMPILED)
    ],
)
def test_value_of_a_method_that_is_compiled(method, functions):
    expected = eval(COMPILED[method], dict(ARRAYS))
    check(jit(functions[method])(*TENSORS.values()), expected)


#: gradients of sums where functions have no derivative, by MindSpore's conventions, and others by
#: the derivative of the definition
GRADIENTS = [
    # method, at, gradient of the sum of the result
    ("relu()", [-1.0, 0.0, 2.0], [0, 0, 1]),
    ("abs()", [-1.0, 0.0, 2.0], [-1, 0, 1]),
    ("clamp(-1, 1)", [-1.0, 0.5, 1.0, 2.0], [1, 1, 1, 0]),
    ("max()", [2.0, 2.0, 1.0], [0.5, 0.5, 0]),
    ("amax(axis=0)", [2.0, 2.0, 1.0], [0.5, 0.5, 0]),
    ("sqrt()", [0.0, 4.0], [np.inf, 0.25]),
    ("norm()", [0.0, 0.0], [np.nan, np.nan]),
    ("norm()", [3.0, 4.0], [0.6, 0.8]),
    ("prod()", [2.0, 0.0, 3.0], [0, 6, 0]),
    ("sign()", [-1.0, 2.0], [0, 0]),
    ("maximum(1.0)", [1.0, 2.0], [0.5, 1]),
    ("sigmoid()", [0.0, -200.0, 200.0], [0.25, 0, 0]),
    ("softmax()[0]", [0.0, 0.0], [0.25, -0.25]),
    ("log_softmax()[0]", [0.0, 0.0], [0.5, -0.5]),
    ("logsumexp()", [0.0, 0.0], [0.5, 0.5]),
    ("masked_fill(x > 1, 5.0)", [0.0, 2.0], [1, 0]),
    ("topk(2)[0]", [1.0, 3.0, 2.0], [0, 1, 1]),
    ("split(2)[1]", [1.0, 2.0, 3.0], [0, 0, 1]),
    ("chunk(2)[0]", [1.0, 2.0, 3.0], [1, 1, 0]),
    ("unbind()[1]", [1.0, 2.0, 3.0], [0, 1, 0]),
    ("contiguous()", [1.0, 2.0], [1, 1]),
    ("std()", [1.0, 3.0], [-0.5, 0.5]),
    ("float()", [1.0, 2.0], [1, 1]),
    ("index_add(0, Tensor([0]), x[1:])", [1.0, 2.0], [1, 2]),
]


@pytest.fixture(scope="module")
def sums(tmp_path_factory):
    path = tmp_path_factory.mktemp("sums") / "sums.py"
    rows = (f"def f{n}(x):\n    return x.{row[0]}.sum()\n" for n, row in enumerate(GRADIENTS))
    path.write_text("from s2s_ad import Tensor\n\n" + "".join(rows))
    space = {}
    exec(compile(path.read_text(), str(path), "exec"), space)
    return space


@pytest.mark.filterwarnings("ignore:divide by zero", "ignore:invalid value")
@pytest.mark.parametrize("case", range(len(GRADIENTS)), ids=[row[0] for row in GRADIENTS])
def test_gradient_through_a_method(case, sums):
    _, at, expected = GRADIENTS[case]
    gradient = grad(sums[f"f{case}"])(Tensor(at))
    assert gradient.dtype == ms.float32
    np.testing.assert_allclose(gradient.asnumpy(), expected, atol=1e-6)
