"""parallel.vmap: dask arrays whose shapes and dtypes are known before anything is computed."""

import dask.array as da
import numpy as np
import pytest

from s2s_ad import S2SError, grad, jacrev, parallel, vmap

RNG = np.random.default_rng(1)
W, X, Y = RNG.normal(size=3), RNG.normal(size=(13, 3)), RNG.normal(size=13)


def loss(w, x, y):
    return np.sum((np.tanh(x @ w) - y) ** 2)


def nested(w, x):
    return {"outer": np.outer(x, w), "pair": (np.sum(x) > 0, np.argmax(x).astype(np.int32))}


def heat(u, k):
    u = u.copy()
    for _ in range(20):
        u[1:-1] += k * (u[2:] - 2 * u[1:-1] + u[:-2])
    return u


FIELD = np.exp(-(np.linspace(-2, 2, 33) ** 2))
KS = np.linspace(0.1, 0.4, 13)
CASES = {
    "gradients of samples": (grad(loss), (None, 0, 0), 0, (W, (X, 5), (Y, 5))),
    "chunks of lists and arrays": (grad(loss), (None, 0, 0), 0, (W, (X, None), (Y, 5))),
    "jacobians": (jacrev(lambda w, x: np.tanh(np.outer(w, x))), (None, 0), 0, (W, (X, 4))),
    "nested, other axes": (
        nested,
        (None, 1),
        {"outer": 2, "pair": (0, 0)},
        (W, (np.ascontiguousarray(X.T), 5)),
    ),
    "single precision": (
        grad(loss),
        (None, 0, 0),
        0,
        (W.astype(np.float32), (X.astype(np.float32), 5), (Y.astype(np.float32), 5)),
    ),
    "an ensemble": (heat, (None, 0), 0, (FIELD, (KS, 4))),
    "chunks of one": (grad(loss), (None, 0, 0), 0, (W, (X, 6), (Y, 6))),
}


def in_chunks(value, axis):
    """The argument as the case says: a dask array with chunks of a length, or a list."""
    if axis is None:
        return value, value
    array, length = value
    if length is None:
        return array, [array[:5], array[5:10], array[10:]]
    chunks = tuple(length if i == axis else -1 for i in range(array.ndim))
    return array, da.from_array(array, chunks=chunks)


@pytest.mark.parametrize("name", CASES)
def test_it_is_vmap_chunk_by_chunk(name):
    function, in_axes, out_axes, arguments = CASES[name]
    pairs = [in_chunks(*each) for each in zip(arguments, in_axes, strict=True)]
    found = parallel.vmap(function, in_axes, out_axes)(*(chunked for _, chunked in pairs))
    expected = vmap(function, in_axes, out_axes)(*(whole for whole, _ in pairs))
    if not isinstance(expected, dict):
        found, expected = {"": found}, {"": expected}
    flat = found.pop("pair", ()), expected.pop("pair", ())
    for mine, its in [
        *zip(found.values(), expected.values(), strict=True),
        *zip(*flat, strict=True),
    ]:
        assert isinstance(mine, da.Array)
        assert (mine.shape, mine.dtype) == (its.shape, its.dtype)
        assert mine.blocks[0].compute().dtype == its.dtype
        np.testing.assert_allclose(mine.compute(), its, rtol=1e-6 if its.dtype == "f4" else 1e-13)


def test_nothing_runs_before_it_is_computed_and_values_are_those_of_the_call():
    ran, w = [], W.copy()

    def read(i):
        ran.append(i)
        return X[5 * i : 5 * i + 5]

    chunks = [parallel.Loader(read, i, shape=(5, 3), dtype=X.dtype) for i in range(2)]
    result = parallel.vmap(grad(loss), (None, 0, 0))(w, chunks, Y[:10])
    assert (ran, result.shape, result.chunks) == ([], (10, 3), ((5, 5), (3,)))
    w[:] = 0
    np.testing.assert_allclose(
        result.compute(scheduler="sync"), vmap(grad(loss), (None, 0, 0))(W, X[:10], Y[:10])
    )
    assert sorted(ran) == [0, 1]


def test_results_go_on_as_dask_arrays():
    slopes = parallel.vmap(grad(loss), (None, 0, 0))(W, da.from_array(X, chunks=(5, 3)), Y)
    norms = da.sqrt((slopes**2).sum(axis=1)).max()
    expected = np.linalg.norm(2 * ((np.tanh(X @ W) - Y) / np.cosh(X @ W) ** 2)[:, None] * X, axis=1)
    np.testing.assert_allclose(norms.compute(), expected.max())


def grown(x):
    out = []
    for _ in range(5):
        x = 2 * x + 1
        out.append(x)
    return np.array(out)


REFUSED = {
    "length": (grown, 0, 0, "has a shape that only the run tells"),
    "out_axes": (lambda x: 2.0, 0, None, "out_axes None"),
    "in_axes": (lambda x: x, None, 0, "maps no input"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_the_compiler_does_not_know_is_refused(name):
    function, in_axes, out_axes, text = REFUSED[name]
    with pytest.raises(S2SError, match=text):
        parallel.vmap(function, in_axes, out_axes)(da.from_array(Y, chunks=5))
