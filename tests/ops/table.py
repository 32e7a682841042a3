"""Calls of the functions of `ops`, each with what it gives by another way of computing it."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from scipy import signal, special

from s2s_ad import ops

ANY, POSITIVE, UNIT, ABOVE_ONE = "any", "positive", "unit", "above one"


class Call(NamedTuple):
    """A call of `ops.<name>`, and what it gives.

    shapes: of the random arguments. kinds: where their elements are from, one for all or each.
    """

    name: str
    call: Callable
    expected: Callable
    shapes: tuple
    kinds: Any = ANY

    def arguments(self, seed: int = 0, batch: int | None = None) -> list[np.ndarray]:
        rng = np.random.default_rng(seed)
        kinds = [self.kinds] * len(self.shapes) if isinstance(self.kinds, str) else self.kinds
        lead = () if batch is None else (batch,)
        return [drawn(rng, (*lead, *each), kind) for each, kind in zip(self.shapes, kinds)]


def drawn(rng: np.random.Generator, shape: tuple, kind: Any) -> np.ndarray:
    if isinstance(kind, int):  # class indices
        return rng.integers(0, kind, shape)
    uniform = rng.uniform(0.1, 0.9, shape)
    scaled = {
        POSITIVE: 2 * uniform,
        UNIT: uniform,
        ABOVE_ONE: 1 + uniform,
        ANY: rng.normal(size=shape) * 2 + 0.05,
    }
    return scaled[kind]


def each(function: Callable) -> Callable:
    """A function of numbers, of each element."""
    return np.vectorize(function, otypes=[float])


V, M, T3, IMAGES = (5,), (3, 4), (2, 3, 4), (2, 3, 6, 6)


def of_elements() -> list[Call]:
    rows = {
        "abs": (math.fabs, ANY),
        "sign": (lambda x: math.copysign(1, x), ANY),
        "neg": (lambda x: 0 - x, ANY),
        "positive": (lambda x: x, ANY),
        "reciprocal": (lambda x: 1 / x, ANY),
        "square": (lambda x: x * x, ANY),
        "sqrt": (math.sqrt, POSITIVE),
        "rsqrt": (lambda x: x**-0.5, POSITIVE),
        "exp": (math.exp, ANY),
        "exp2": (lambda x: 2**x, ANY),
        "expm1": (math.expm1, ANY),
        "log": (math.log, POSITIVE),
        "log2": (math.log2, POSITIVE),
        "log10": (math.log10, POSITIVE),
        "log1p": (math.log1p, POSITIVE),
        "sin": (math.sin, ANY),
        "cos": (math.cos, ANY),
        "tan": (math.tan, UNIT),
        "asin": (math.asin, UNIT),
        "acos": (math.acos, UNIT),
        "atan": (math.atan, ANY),
        "sinh": (math.sinh, ANY),
        "cosh": (math.cosh, ANY),
        "tanh": (math.tanh, ANY),
        "asinh": (math.asinh, ANY),
        "acosh": (math.acosh, ABOVE_ONE),
        "atanh": (math.atanh, UNIT),
        "sinc": (lambda x: math.sin(math.pi * x) / (math.pi * x), ANY),
        "deg2rad": (math.radians, ANY),
        "rad2deg": (math.degrees, ANY),
        "floor": (math.floor, ANY),
        "ceil": (math.ceil, ANY),
        "trunc": (math.trunc, ANY),
        "round": (round, ANY),
        "frac": (lambda x: math.modf(x)[0], ANY),
        "nan_to_num": (lambda x: x, ANY),
        "real": (lambda x: x, ANY),
        "conj": (lambda x: x, ANY),
        "erf": (math.erf, ANY),
        "erfc": (math.erfc, ANY),
        "erfinv": (lambda x: float(special.ndtri((x + 1) / 2)) / math.sqrt(2), UNIT),
        "lgamma": (math.lgamma, POSITIVE),
        "digamma": (lambda x: (math.lgamma(x + 1e-5) - math.lgamma(x - 1e-5)) / 2e-5, POSITIVE),
        "relu": (lambda x: max(x, 0), ANY),
        "relu6": (lambda x: min(max(4 * x, 0), 6), ANY),
        "leaky_relu": (lambda x: x if x > 0 else 0.2 * x, ANY),
        "hardtanh": (lambda x: min(max(x, -1), 1), ANY),
        "hardsigmoid": (lambda x: min(max(x / 6 + 0.5, 0), 1), ANY),
        "hardswish": (lambda x: x * min(max(x / 6 + 0.5, 0), 1), ANY),
        "hardshrink": (lambda x: 0 if abs(x) <= 0.5 else x, ANY),
        "softshrink": (lambda x: math.copysign(max(abs(x) - 0.5, 0), x), ANY),
        "sigmoid": (lambda x: 1 / (1 + math.exp(-x)), ANY),
        "logsigmoid": (lambda x: -math.log(1 + math.exp(-x)), ANY),
        "softplus": (lambda x: math.log(1 + math.exp(x)), ANY),
        "silu": (lambda x: x / (1 + math.exp(-x)), ANY),
        "mish": (lambda x: x * math.tanh(math.log(1 + math.exp(x))), ANY),
        "gelu": (lambda x: x * float(special.ndtr(x)), ANY),
        "fast_gelu": (lambda x: x / (1 + math.exp(-1.702 * x)), ANY),
        "elu": (lambda x: x if x > 0 else math.exp(x) - 1, ANY),
        "celu": (lambda x: x if x > 0 else math.exp(x) - 1, ANY),
        "selu": (
            lambda x: 1.0507009873554805 * (x if x > 0 else 1.6732632423543772 * math.expm1(x)),
            ANY,
        ),
        "softsign": (lambda x: x / (1 + abs(x)), ANY),
        "tanhshrink": (lambda x: x - math.tanh(x), ANY),
    }
    special_calls = {"relu6": lambda x: ops.relu6(4 * x)}
    return [
        Call(name, special_calls.get(name, getattr(ops, name)), each(reference), (V,), kind)
        for name, (reference, kind) in rows.items()
    ]


def of_pairs() -> list[Call]:
    rows = {
        "add": (lambda a, b: a + b, ANY),
        "sub": (lambda a, b: a - b, ANY),
        "mul": (lambda a, b: a * b, ANY),
        "div": (lambda a, b: a / b, POSITIVE),
        "floor_divide": (lambda a, b: math.floor(a / b), POSITIVE),
        "remainder": (lambda a, b: a - b * math.floor(a / b), POSITIVE),
        "fmod": (math.fmod, POSITIVE),
        "pow": (math.pow, POSITIVE),
        "maximum": (max, ANY),
        "minimum": (min, ANY),
        "fmax": (max, ANY),
        "fmin": (min, ANY),
        "atan2": (math.atan2, ANY),
        "hypot": (math.hypot, ANY),
        "logaddexp": (lambda a, b: math.log(math.exp(a) + math.exp(b)), ANY),
        "logaddexp2": (lambda a, b: math.log2(2**a + 2**b), ANY),
        "xlogy": (lambda a, b: a * math.log(b), POSITIVE),
    }
    return [
        Call(name, getattr(ops, name), each(reference), (M, (4,)), kind)
        for name, (reference, kind) in rows.items()
    ]


def softmax(x: np.ndarray, axis: int = -1) -> np.ndarray:
    return np.apply_along_axis(
        lambda row: np.array([1 / sum(np.exp(row - a)) for a in row]), axis, x
    )


def of_axes() -> list[Call]:
    two = (M, M)
    return [
        Call("addcdiv", ops.addcdiv, lambda a, b, c: a + b / c, (V, V, V), POSITIVE),
        Call("addcmul", ops.addcmul, lambda a, b, c: a + b * c, (V, V, V)),
        Call("lerp", ops.lerp, lambda a, b, c: (1 - c) * a + c * b, (V, V, V)),
        Call("gelu tanh", lambda x: ops.gelu(x, "tanh"), tanh_gelu, (V,)),
        Call("prelu", ops.prelu, lambda x, w: np.maximum(x, 0) + w * np.minimum(x, 0), (M, (4,))),
        Call("threshold", lambda x: ops.threshold(x, 0.3, 7.0), thresholded, (V,)),
        Call("glu", ops.glu, lambda x: x[:, :2] / (1 + np.exp(-x[:, 2:])), (M,)),
        Call(
            "softplus beta",
            lambda x: ops.softplus(x, 2),
            lambda x: np.log1p(np.exp(2 * x)) / 2,
            (V,),
        ),
        # reductions
        Call("sum", lambda x: ops.sum(x, 1, True), lambda x: x @ np.ones((4, 1)), (M,)),
        Call("sum all", ops.sum, lambda x: np.einsum("ij->", x), (M,)),
        Call(
            "reduce_sum",
            lambda x: ops.reduce_sum(x, (0, 2)),
            lambda x: np.einsum("ijk->j", x),
            (T3,),
        ),
        Call("mean", lambda x: ops.mean(x, 0), lambda x: np.ones(3) @ x / 3, (M,)),
        Call(
            "prod", lambda x: ops.prod(x, 1), lambda x: x[:, 0] * x[:, 1] * x[:, 2] * x[:, 3], (M,)
        ),
        Call("nansum", ops.nansum, lambda x: np.einsum("ij->", x), (M,)),
        Call("std", lambda x: ops.std(x, 0, 1), lambda x: np.sqrt(np.diag(np.cov(x.T))), (M,)),
        Call("var", lambda x: ops.var(x, 0, 1), lambda x: np.diag(np.cov(x.T)), (M,)),
        Call("logsumexp", lambda x: ops.logsumexp(x, 1), lambda x: special.logsumexp(x, 1), (M,)),
        Call(
            "logsumexp keep",
            lambda x: ops.logsumexp(x, 0, True),
            lambda x: special.logsumexp(x, 0)[None],
            (M,),
        ),
        Call("amax", lambda x: ops.amax(x, 1), lambda x: np.sort(x)[:, -1], (M,)),
        Call("amin", lambda x: ops.amin(x, 1), lambda x: np.sort(x)[:, 0], (M,)),
        Call("max", lambda x: ops.max(x, 1)[0], lambda x: np.sort(x)[:, -1], (M,)),
        Call("min", lambda x: ops.min(x, 1)[0], lambda x: np.sort(x)[:, 0], (M,)),
        Call("max all", lambda x: ops.max(x)[0], lambda x: np.sort(x.ravel())[-1], (M,)),
        Call(
            "norm",
            lambda x: ops.norm(x, dim=1),
            lambda x: np.sqrt(np.einsum("ij,ij->i", x, x)),
            (M,),
        ),
        Call("norm 1", lambda x: ops.norm(x, 1, 0), lambda x: np.abs(x).sum(0), (M,)),
        Call("cumsum", lambda x: ops.cumsum(x, 1), lambda x: x @ np.triu(np.ones((4, 4))), (M,)),
        Call(
            "cumprod",
            lambda x: ops.cumprod(x, 1),
            lambda x: np.exp(np.log(x) @ np.triu(np.ones((4, 4)))),
            (M,),
            POSITIVE,
        ),
        Call("diff", ops.diff, lambda x: x[1:] - x[:-1], (V,)),
        Call("softmax", ops.softmax, softmax, (M,)),
        Call("softmax 0", lambda x: ops.softmax(x, 0), lambda x: softmax(x, 0), (M,)),
        Call("softmin", ops.softmin, lambda x: softmax(-x), (M,)),
        Call("log_softmax", ops.log_softmax, lambda x: np.log(softmax(x)), (M,)),
        # shapes
        Call("cast", lambda x: ops.cast(x, x.dtype), lambda x: x, (V,)),
        Call(
            "reshape",
            lambda x: ops.reshape(x, (4, 3)),
            lambda x: np.array(x.tolist()).reshape(4, 3),
            (M,),
        ),
        Call(
            "transpose",
            lambda x: ops.transpose(x, (2, 0, 1)),
            lambda x: np.einsum("ijk->kij", x),
            (T3,),
        ),
        Call(
            "permute",
            lambda x: ops.permute(x, (2, 0, 1)),
            lambda x: np.einsum("ijk->kij", x),
            (T3,),
        ),
        Call(
            "swapaxes", lambda x: ops.swapaxes(x, 0, 2), lambda x: np.einsum("ijk->kji", x), (T3,)
        ),
        Call("movedim", lambda x: ops.movedim(x, 0, 2), lambda x: np.einsum("ijk->jki", x), (T3,)),
        Call("t", ops.t, lambda x: np.einsum("ij->ji", x), (M,)),
        Call("squeeze", lambda x: ops.squeeze(x, 1), lambda x: x[:, 0], ((3, 1, 2),)),
        Call("expand_dims", lambda x: ops.expand_dims(x, 1), lambda x: x[:, None], (M,)),
        Call("unsqueeze", lambda x: ops.unsqueeze(x, -1), lambda x: x[..., None], (M,)),
        Call("flatten", ops.flatten, lambda x: np.array([r.ravel() for r in x]), (T3,)),
        Call(
            "flatten 0",
            lambda x: ops.flatten(x, start_dim=0),
            lambda x: np.array([*x[0].ravel(), *x[1].ravel()]),
            (T3,),
        ),
        Call("ravel", ops.ravel, lambda x: np.array([a for row in x for a in row]), (M,)),
        Call(
            "broadcast_to", lambda x: ops.broadcast_to(x, (3, 5)), lambda x: np.stack([x] * 3), (V,)
        ),
        Call(
            "broadcast_to -1",
            lambda x: ops.broadcast_to(x, (3, -1)),
            lambda x: np.stack([x] * 3),
            (V,),
        ),
        Call("tile", lambda x: ops.tile(x, (2, 1)), lambda x: np.vstack([x, x]), (M,)),
        Call(
            "repeat_elements",
            lambda x: ops.repeat_elements(x, 2, 1),
            lambda x: x[:, [0, 0, 1, 1, 2, 2, 3, 3]],
            (M,),
        ),
        Call(
            "repeat_interleave",
            lambda x: ops.repeat_interleave(x, 2, 0),
            lambda x: x[[0, 0, 1, 1, 2, 2]],
            (M,),
        ),
        Call("flip", lambda x: ops.flip(x, (0,)), lambda x: x[::-1], (M,)),
        Call("fliplr", ops.fliplr, lambda x: x[:, ::-1], (M,)),
        Call("flipud", ops.flipud, lambda x: x[::-1], (M,)),
        Call("roll", lambda x: ops.roll(x, 1, 0), lambda x: x[[2, 0, 1]], (M,)),
        Call("rot90", ops.rot90, lambda x: x.T[::-1], (M,)),
        Call("narrow", lambda x: ops.narrow(x, 1, 1, 2), lambda x: x[:, 1:3], (M,)),
        Call("tril", ops.tril, lambda x: x * np.tri(3, 4), (M,)),
        Call("triu", lambda x: ops.triu(x, 1), lambda x: x * (1 - np.tri(3, 4)), (M,)),
        Call("diag", ops.diag, lambda x: np.eye(5) * x, (V,)),
        Call("diagonal", ops.diagonal, lambda x: np.einsum("iij->ji", x), ((3, 3, 2),)),
        Call(
            "pad",
            lambda x: ops.pad(x, (1, 2)),
            lambda x: np.hstack([np.zeros((3, 1)), x, np.zeros((3, 2))]),
            (M,),
        ),
        Call(
            "pad reflect",
            lambda x: ops.pad(x, (1, 1), "reflect"),
            lambda x: x[[1, 0, 1, 2, 3, 4, 3]],
            (V,),
        ),
        Call(
            "pad replicate",
            lambda x: ops.pad(x, (1, 1), "replicate"),
            lambda x: x[[0, 0, 1, 2, 3, 4, 4]],
            (V,),
        ),
        Call(
            "concat",
            lambda a, b: ops.concat((a, b), 1),
            lambda a, b: np.array([[*r, *s] for r, s in zip(a, b)]),
            two,
        ),
        Call(
            "stack",
            lambda a, b: ops.stack([a, b], -1),
            lambda a, b: np.array([[*zip(r, s)] for r, s in zip(a, b)]),
            two,
        ),
        Call("hstack", lambda a, b: ops.hstack((a, b)), lambda a, b: np.array([*a, *b]), (V, V)),
        Call("vstack", lambda a, b: ops.vstack((a, b)), lambda a, b: np.array([*a, *b]), two),
        Call("unstack", lambda x: ops.unstack(x, 0)[1], lambda x: x[1], (M,)),
        Call("unbind", lambda x: ops.unbind(x, 1)[1], lambda x: x[:, 1], (M,)),
        Call("split", lambda x: ops.split(x, (1, 3), 1)[1], lambda x: x[:, 1:], (M,)),
        Call("split size", lambda x: ops.split(x, 2, 1)[1], lambda x: x[:, 2:], (M,)),
        Call("chunk", lambda x: ops.chunk(x, 2, 1)[1], lambda x: x[:, 2:], (M,)),
        # choosing, sorting, writing
        Call(
            "where",
            lambda a, b: ops.where(a > b, a, 2 * b),
            lambda a, b: each(lambda p, q: p if p > q else 2 * q)(a, b),
            two,
        ),
        Call(
            "select",
            lambda a, b: ops.select(a > b, a, 2 * b),
            lambda a, b: each(lambda p, q: p if p > q else 2 * q)(a, b),
            two,
        ),
        Call(
            "masked_fill",
            lambda x: ops.masked_fill(x, x > 0, 3.0),
            each(lambda x: 3.0 if x > 0 else x),
            (M,),
        ),
        Call(
            "gather",
            lambda x, i: ops.gather(x, i, 1),
            lambda x, i: np.array([[r[j] for j in i] for r in x]),
            (M, V),
            (ANY, 4),
        ),
        Call(
            "gather batch",
            lambda x, i: ops.gather(x, i, 1, 1),
            lambda x, i: np.array([[r[k] for k in j] for r, j in zip(x, i)]),
            (M, (3, 2)),
            (ANY, 4),
        ),
        Call(
            "gather_elements",
            lambda x, i: ops.gather_elements(x, 1, i),
            lambda x, i: np.array([[r[k] for k in j] for r, j in zip(x, i)]),
            (M, (3, 2)),
            (ANY, 4),
        ),
        Call(
            "gather_nd",
            ops.gather_nd,
            lambda x, i: np.array([x[a, b] for a, b in i]),
            (M, (4, 2)),
            (ANY, 3),
        ),
        Call(
            "index_select",
            lambda x, i: ops.index_select(x, 0, i),
            lambda x, i: np.array([x[j] for j in i]),
            (M, V),
            (ANY, 3),
        ),
        Call(
            "index_add",
            lambda x, i, y: ops.index_add(x, i, y, 0),
            added,
            (M, (2,), (2, 4)),
            (ANY, 3, ANY),
        ),
        Call("index_fill", lambda x, i: ops.index_fill(x, 1, i, 2.0), filled, (M, (2,)), (ANY, 4)),
        Call(
            "scatter",
            lambda x, y: ops.scatter(x, 0, np.array([[2, 1, 0, 1]]), y),
            scattered,
            (M, (1, 4)),
        ),
        Call(
            "scatter_nd",
            lambda i, y: ops.scatter_nd(i, y, (3, 4)),
            lambda i, y: added_at(np.zeros((3, 4)), i, y),
            ((4, 2), (4,)),
            (3, ANY),
        ),
        Call(
            "tensor_scatter_add", ops.tensor_scatter_add, added_at, (M, (4, 2), (4,)), (ANY, 3, ANY)
        ),
        Call(
            "tensor_scatter_update",
            lambda x, y: ops.tensor_scatter_update(x, np.array([[0, 1], [2, 2]]), y),
            updated,
            (M, (2,)),
        ),
        Call("sort", lambda x: ops.sort(x)[0], lambda x: np.array([sorted(r) for r in x]), (M,)),
        Call(
            "sort down",
            lambda x: ops.sort(x, 0, True)[0],
            lambda x: np.array([sorted(r)[::-1] for r in x.T]).T,
            (M,),
        ),
        Call(
            "topk",
            lambda x: ops.topk(x, 2)[0],
            lambda x: np.array([sorted(r)[:1:-1] for r in x]),
            (M,),
        ),
        Call(
            "topk smallest",
            lambda x: ops.topk(x, 2, 0, False)[0],
            lambda x: np.array([sorted(r)[:2] for r in x.T]).T,
            (M,),
        ),
        Call(
            "median",
            lambda x: ops.median(x, 1)[0],
            lambda x: np.array([sorted(r)[1] for r in x]),
            (M,),
        ),
    ]


def tanh_gelu(x: np.ndarray) -> np.ndarray:
    return x / (1 + np.exp(-2 * np.sqrt(2 / np.pi) * (x + 0.044715 * x * x * x)))


def thresholded(x: np.ndarray) -> np.ndarray:
    return np.array([a if a > 0.3 else 7.0 for a in x])


def added(x: np.ndarray, index: np.ndarray, y: np.ndarray) -> np.ndarray:
    result = x.copy()
    for i, row in zip(index, y):
        result[i] += row
    return result


def filled(x: np.ndarray, index: np.ndarray) -> np.ndarray:
    return np.array([[2.0 if j in index else a for j, a in enumerate(row)] for row in x])


def scattered(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    result = x.copy()
    for j, i in enumerate((2, 1, 0, 1)):
        result[i, j] = y[0, j]
    return result


def added_at(x: np.ndarray, index: np.ndarray, y: np.ndarray) -> np.ndarray:
    result = x.copy()
    for (i, j), value in zip(index, y):
        result[i, j] += value
    return result


def updated(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    result = x.copy()
    result[0, 1], result[2, 2] = y
    return result


def of_matrices() -> list[Call]:
    square = (3, 3)
    return [
        Call("matmul", ops.matmul, lambda a, b: np.einsum("ij,jk->ik", a, b), (M, (4, 2))),
        Call(
            "matmul stack", ops.matmul, lambda a, b: np.einsum("ij,njk->nik", a, b), (M, (2, 4, 2))
        ),
        Call("matmul vector", ops.matmul, lambda a, b: np.einsum("ij,j->i", a, b), (M, (4,))),
        Call("mm", ops.mm, lambda a, b: np.einsum("ij,jk->ik", a, b), (M, (4, 2))),
        Call("mv", ops.mv, lambda a, b: np.einsum("ij,j->i", a, b), (M, (4,))),
        Call("bmm", ops.bmm, lambda a, b: np.einsum("nij,njk->nik", a, b), (T3, (2, 4, 2))),
        Call("dot", ops.dot, lambda a, b: sum(p * q for p, q in zip(a, b)), (V, V)),
        Call(
            "tensor_dot",
            lambda a, b: ops.tensor_dot(a, b, 2),
            lambda a, b: np.einsum("ijk,jkl->il", a, b),
            (T3, (3, 4, 2)),
        ),
        Call(
            "tensor_dot axes",
            lambda a, b: ops.tensor_dot(a, b, ((0, 1), (1, 0))),
            lambda a, b: np.einsum("ij,ji->", a, b),
            (M, (4, 3)),
        ),
        Call("outer", ops.outer, lambda a, b: a[:, None] * b, (V, (3,))),
        Call("inner", ops.inner, lambda a, b: a @ b.T, (M, (2, 4))),
        Call(
            "kron",
            ops.kron,
            lambda a, b: (a[:, None, :, None] * b[None, :, None, :]).reshape(4, 4),
            ((2, 2), (2, 2)),
        ),
        Call("cross", ops.cross, crossed, ((3,), (3,))),
        Call(
            "einsum", lambda a, b: ops.einsum("ij,kj->ik", a, b), lambda a, b: a @ b.T, (M, (2, 4))
        ),
        Call(
            "dense", ops.dense, lambda x, w, b: np.einsum("ij,kj->ik", x, w) + b, (M, (2, 4), (2,))
        ),
        Call(
            "addmm",
            ops.addmm,
            lambda c, a, b: c + np.einsum("ij,jk->ik", a, b),
            ((3, 2), M, (4, 2)),
        ),
        Call("addmv", ops.addmv, lambda c, a, b: c + np.einsum("ij,j->i", a, b), ((3,), M, (4,))),
        Call(
            "baddbmm",
            ops.baddbmm,
            lambda c, a, b: c + np.einsum("nij,njk->nik", a, b),
            ((2, 3, 2), T3, (2, 4, 2)),
        ),
        Call("trace", ops.trace, lambda x: np.einsum("ii->", x), (square,)),
        Call(
            "inverse",
            lambda x: ops.inverse(x + 5 * np.eye(3, dtype=x.dtype)),
            lambda x: np.linalg.solve(x + 5 * np.eye(3), np.eye(3)),
            (square,),
        ),
        Call("pinv", ops.pinv, lambda x: np.linalg.solve(x.T @ x, x.T), ((4, 2),)),
        Call("det", ops.det, lambda x: x[0] @ crossed(x[1], x[2]), (square,)),
        Call(
            "slogdet",
            lambda x: ops.slogdet(x)[1],
            lambda x: np.log(np.abs(x[0] @ crossed(x[1], x[2]))),
            (square,),
        ),
        Call(
            "cholesky", lambda x: ops.cholesky(x @ x.T + np.eye(2, dtype=x.dtype)), lower, ((2, 2),)
        ),
        Call("matrix_power", lambda x: ops.matrix_power(x, 3), lambda x: x @ x @ x, (square,)),
        Call(
            "cosine_similarity",
            ops.cosine_similarity,
            lambda a, b: np.array(
                [np.dot(p, q) / np.linalg.norm(p) / np.linalg.norm(q) for p, q in zip(a, b)]
            ),
            (M, M),
        ),
    ]


def crossed(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    return np.array(
        [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
    )


def lower(x: np.ndarray) -> np.ndarray:
    a = x @ x.T + np.eye(2)
    p = math.sqrt(a[0, 0])
    return np.array([[p, 0], [a[1, 0] / p, math.sqrt(a[1, 1] - (a[1, 0] / p) ** 2)]])


def logs(x: np.ndarray) -> np.ndarray:
    return np.log(softmax(x, 1))


def smooth(a: np.ndarray, b: np.ndarray, beta: float) -> np.ndarray:
    return each(lambda d: d * d / 2 / beta if abs(d) < beta else abs(d) - beta / 2)(a - b)


def bce(p: np.ndarray, y: np.ndarray) -> np.ndarray:
    return -y * np.log(p) - (1 - y) * np.log(1 - p)


def of_losses() -> list[Call]:
    two, classes = (M, M), (M, (3,))
    picked = lambda x, t: np.array([-logs(x)[i, t[i]] for i in range(3)])
    weighted = lambda x, t, w: sum(w[t] * picked(x, t)) / sum(w[t])
    return [
        Call("mse_loss", ops.mse_loss, lambda a, b: np.mean((a - b) ** 2), two),
        Call(
            "mse_loss sum",
            lambda a, b: ops.mse_loss(a, b, "sum"),
            lambda a, b: np.sum((a - b) ** 2),
            two,
        ),
        Call("l1_loss", ops.l1_loss, lambda a, b: np.mean(abs(a - b)), two),
        Call(
            "smooth_l1_loss",
            lambda a, b: ops.smooth_l1_loss(a, b, 0.7),
            lambda a, b: smooth(a, b, 0.7),
            two,
        ),
        Call(
            "huber_loss",
            lambda a, b: ops.huber_loss(a, b, "none", 0.7),
            lambda a, b: 0.7 * smooth(a, b, 0.7),
            two,
        ),
        Call(
            "binary_cross_entropy",
            ops.binary_cross_entropy,
            lambda p, y: np.mean(bce(p, y)),
            two,
            UNIT,
        ),
        Call(
            "binary_cross_entropy weight",
            lambda p, y, w: ops.binary_cross_entropy(p, y, w, "sum"),
            lambda p, y, w: np.sum(w * bce(p, y)),
            (M, M, M),
            UNIT,
        ),
        Call(
            "binary_cross_entropy_with_logits",
            ops.binary_cross_entropy_with_logits,
            lambda x, y: np.mean(bce(special.expit(x), y)),
            two,
            (ANY, UNIT),
        ),
        Call(
            "binary_cross_entropy_with_logits weights",
            ops.binary_cross_entropy_with_logits,
            lambda x, y, w, p: np.mean(
                -w * (p * y * np.log(special.expit(x)) + (1 - y) * np.log(special.expit(-x)))
            ),
            (M, M, M, (4,)),
            (ANY, UNIT, POSITIVE, POSITIVE),
        ),
        Call(
            "cross_entropy",
            ops.cross_entropy,
            lambda x, t: np.mean(picked(x, t)),
            classes,
            (ANY, 4),
        ),
        Call(
            "cross_entropy none",
            lambda x, t: ops.cross_entropy(x, t, reduction="none"),
            picked,
            classes,
            (ANY, 4),
        ),
        Call(
            "cross_entropy ignored",
            lambda x, t: ops.cross_entropy(x, t, None, 2, "sum"),
            lambda x, t: sum(picked(x, t)[t != 2]),
            classes,
            (ANY, 4),
        ),
        Call(
            "cross_entropy weight", ops.cross_entropy, weighted, (M, (3,), (4,)), (ANY, 4, POSITIVE)
        ),
        Call(
            "cross_entropy smoothed",
            lambda x, t: ops.cross_entropy(x, t, label_smoothing=0.2),
            lambda x, t: np.mean(0.8 * picked(x, t) - 0.2 * logs(x).mean(1)),
            classes,
            (ANY, 4),
        ),
        Call(
            "cross_entropy images",
            ops.cross_entropy,
            lambda x, t: np.mean(
                [-np.log(softmax(x, 1))[i, t[i, j], j] for i in range(2) for j in range(4)]
            ),
            (T3, (2, 4)),
            (ANY, 3),
        ),
        Call(
            "cross_entropy probabilities",
            ops.cross_entropy,
            lambda x, y: np.mean(-(y * logs(x)).sum(1)),
            two,
            (ANY, UNIT),
        ),
        Call(
            "cross_entropy one",
            ops.cross_entropy,
            lambda x, t: -np.log(softmax(x))[t],
            ((4,), ()),
            (ANY, 4),
        ),
        Call(
            "nll_loss",
            ops.nll_loss,
            lambda x, t: -np.mean([x[i, t[i]] for i in range(3)]),
            classes,
            (ANY, 4),
        ),
        Call(
            "kl_div",
            lambda x, y: ops.kl_div(x, y, "batchmean"),
            lambda x, y: np.sum(y * (np.log(y) - x)) / 3,
            two,
            (ANY, UNIT),
        ),
        Call(
            "margin_ranking_loss",
            lambda a, b: ops.margin_ranking_loss(a, b, 1.0, 0.5),
            lambda a, b: np.mean(np.maximum(0, b - a + 0.5)),
            two,
        ),
        Call(
            "hinge_embedding_loss",
            lambda x: ops.hinge_embedding_loss(x, np.array([1, -1, 1, -1])),
            lambda x: np.mean([[a, max(0, 1 - b), c, max(0, 1 - d)] for a, b, c, d in x]),
            (M,),
        ),
        Call(
            "soft_margin_loss",
            lambda x: ops.soft_margin_loss(x, -1.0),
            lambda x: np.mean(np.log(1 + np.exp(x))),
            (M,),
        ),
        Call(
            "gaussian_nll_loss",
            ops.gaussian_nll_loss,
            lambda x, t, v: np.mean(np.log(v) + (x - t) ** 2 / v) / 2,
            (M, M, M),
            POSITIVE,
        ),
    ]


def correlated(x: np.ndarray, w: np.ndarray) -> np.ndarray:
    """The convolution of images, image by image and kernel by kernel."""
    return np.array(
        [
            [sum(signal.correlate2d(c, k, "valid") for c, k in zip(image, kernel)) for kernel in w]
            for image in x
        ]
    )


def of_windows(x: np.ndarray, size: int, step: int, function: Callable) -> np.ndarray:
    places = range(0, x.shape[2] - size + 1, step)
    return np.array(
        [
            [[[function(c[i : i + size, j : j + size]) for j in places] for i in places] for c in n]
            for n in x
        ]
    )


def bordered(x: np.ndarray, width: int, value: float = 0.0) -> np.ndarray:
    result = np.full((*x.shape[:2], x.shape[2] + 2 * width, x.shape[3] + 2 * width), value)
    result[:, :, width:-width, width:-width] = x
    return result


def of_images() -> list[Call]:
    conv = (IMAGES, (4, 3, 3, 3))
    return [
        Call(
            "conv2d", ops.conv2d, lambda x, w, b: correlated(x, w) + b[:, None, None], (*conv, (4,))
        ),
        Call(
            "conv2d same",
            lambda x, w: ops.conv2d(x, w, pad_mode="same"),
            lambda x, w: correlated(bordered(x, 1), w),
            conv,
        ),
        Call(
            "conv2d stride",
            lambda x, w: ops.conv2d(x, w, None, 2, "pad", 1),
            lambda x, w: correlated(bordered(x, 1), w)[:, :, ::2, ::2],
            conv,
        ),
        Call(
            "conv2d dilation",
            lambda x, w: ops.conv2d(x, w, dilation=2),
            lambda x, w: correlated(x, np.kron(w, [[1, 0], [0, 0]])[:, :, :5, :5]),
            conv,
        ),
        Call(
            "conv2d groups",
            lambda x, w: ops.conv2d(x, w, groups=3),
            lambda x, w: np.hstack(
                [correlated(x[:, i : i + 1], w[2 * i : 2 * i + 2]) for i in range(3)]
            ),
            (IMAGES, (6, 1, 3, 3)),
        ),
        Call(
            "conv1d",
            lambda x, w: ops.conv1d(x, w, pad_mode="pad", padding=1),
            lambda x, w: np.array(
                [[sum(np.correlate(np.pad(c, 1), k) for c, k in zip(s, f)) for f in w] for s in x]
            ),
            (T3, (2, 3, 3)),
        ),
        Call(
            "max_pool2d",
            lambda x: ops.max_pool2d(x, 2),
            lambda x: of_windows(x, 2, 2, np.max),
            (IMAGES,),
        ),
        Call(
            "max_pool2d overlap",
            lambda x: ops.max_pool2d(x, 3, 2, 1),
            lambda x: of_windows(bordered(x, 1, -9e9), 3, 2, np.max),
            (IMAGES,),
        ),
        Call(
            "avg_pool2d",
            lambda x: ops.avg_pool2d(x, 2, 2),
            lambda x: of_windows(x, 2, 2, np.mean),
            (IMAGES,),
        ),
        Call(
            "avg_pool2d overlap",
            lambda x: ops.avg_pool2d(x, 3),
            lambda x: of_windows(x, 3, 1, np.mean),
            (IMAGES,),
        ),
        Call(
            "avg_pool2d same",
            lambda x: ops.avg_pool2d(x, 3, 1, "same", count_include_pad=False),
            lambda x: of_windows(bordered(x, 1, np.nan), 3, 1, np.nanmean),
            (IMAGES,),
        ),
        Call(
            "adaptive_avg_pool2d",
            lambda x: ops.adaptive_avg_pool2d(x, 3),
            lambda x: of_windows(x, 2, 2, np.mean),
            (IMAGES,),
        ),
        Call(
            "layer_norm",
            lambda x, w, b: ops.layer_norm(x, (4,), w, b),
            lambda x, w, b: ((x.T - x.mean(1)) / np.sqrt(x.var(1) + 1e-5)).T * w + b,
            (M, (4,), (4,)),
        ),
        Call(
            "rms_norm",
            ops.rms_norm,
            lambda x, w: (x.T / np.sqrt((x * x).mean(1) + 1e-6)).T * w,
            (M, (4,)),
        ),
        Call(
            "batch_norm",
            lambda x, m, v, w, b: ops.batch_norm(x, m, v, w, b, True),
            lambda x, m, v, w, b: (x - x.mean(0)) / np.sqrt(x.var(0) + 1e-5) * w + b,
            (M, (4,), (4,), (4,), (4,)),
            POSITIVE,
        ),
        Call(
            "batch_norm running",
            ops.batch_norm,
            lambda x, m, v, w, b: (x - m) / np.sqrt(v + 1e-5) * w + b,
            (M, (4,), (4,), (4,), (4,)),
            POSITIVE,
        ),
        Call(
            "group_norm",
            lambda x: ops.group_norm(x, 2),
            lambda x: np.stack([normal(r.reshape(2, -1)).reshape(4, 3) for r in x]),
            ((2, 4, 3),),
        ),
        Call(
            "l2_normalize",
            lambda x: ops.l2_normalize(x, 1),
            lambda x: np.array([r / np.linalg.norm(r) for r in x]),
            (M,),
        ),
        Call(
            "clip_by_value",
            lambda x: ops.clip_by_value(x, -1.0, 1.0),
            each(lambda x: min(max(x, -1), 1)),
            (M,),
        ),
        Call("clamp", lambda x: ops.clamp(x, -1.0, 1.0), each(lambda x: min(max(x, -1), 1)), (M,)),
        Call(
            "clip_by_norm",
            lambda x: ops.clip_by_norm(x, 1.0),
            lambda x: x / (np.linalg.norm(x) + 1e-6),
            (V,),
        ),
        Call(
            "clip_by_global_norm",
            lambda x, y: ops.clip_by_global_norm((x, y))[0],
            lambda x, y: x / max(1, math.hypot(*x, *y)),
            (V, V),
        ),
    ]


def normal(x: np.ndarray) -> np.ndarray:
    return ((x.T - x.mean(1)) / np.sqrt(x.var(1) + 1e-5)).T


CALLS = [*of_elements(), *of_pairs(), *of_axes(), *of_matrices(), *of_losses(), *of_images()]
