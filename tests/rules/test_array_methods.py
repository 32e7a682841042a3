"""Methods and attributes of arrays: values, gradients by differences, batches, and refusals."""

import numpy as np
import pytest

from rules.properties import module
from s2s_ad import S2SError, grad, jit, vmap

BODIES = {
    "flat": "y = x + 0\n    y.flat[3] = x[0, 0] ** 2\n    return sum([q**2 for q in y.flat]) * x",
    "flat_all": "y = x.T.copy()\n    y.flat = x[0, 1] * x[1, 2]\n    return y * x.T",
    "flat_repeated": "y = x.T.copy()\n    y.flat = x[0]\n    y[1:].flat = [x[1, 0]]\n    return y",
    "flat_cut": "y = x[:, 1:] * 1.0\n    y.flat = x.T * x.T\n    y.flat = x[0, :0]\n    return y",
    "flat_of_a_view": "y = np.copy(x)\n    y[:, 1:].flat[2] *= x[0, 0]\n    return y * y.flat[5]",
    "item": "return x.item(1, 2) * x.item(3) * x[0, 0].item() * x[0, 0].reshape(1, 1).item()",
    "item_of_a_vector": "return x[0].item(2) * x[1].item(-1) * x",
    "tolist": "rows = x.tolist()\n    return rows[1][2] * sum(rows[0]) + x[0].tolist()[1]",
    "view": "y = np.copy(x)\n    y.view()[0] = x[1] ** 2\n    return y * x",
    "partition": "y = x[0] * x[1]\n    y.partition(1)\n    return np.sort(y[:2])",
    "compress": "return x.compress([True, False, True], axis=1) ** 2",
    "compress_all": "return x.compress(np.array([True, False, True, True])) ** 2",
    "resize": "y = x[0] * 1.0\n    y.resize((2, 1))\n    z = y * 2\n    z.resize(5)\n    return z",
    "resize_more": "y = x.ravel() * 2\n    y.resize(2, 4, refcheck=False)\n    return y.T",
    "multiply_at": "y = x[0] * 2\n    np.multiply.at(y, np.array([2, 0, 2]), x[1])\n    return y",
    "multiply_at_zero": "y = x[0] * 2\n    np.multiply.at(y, [1, 1], [0.0, x[1, 1]])\n    return y",
    "divide_at": "y = x * 1.0\n    np.divide.at(y, ([1, 1, 0], [2, 2, 0]), x[1])\n    return y",
    "maximum_at": "y = x[0] * 0\n    np.maximum.at(y, [1, 1, 0], x[1] + 1)\n    return y",
    "negative_at": "y = x.copy()\n    np.negative.at(y, [1, 0, 1])\n    return y * x",
    "rows_at": "y = x.copy()\n    np.multiply.at(y, [1, 0, 1], x[0])\n    return y",
    "setflags": "y = x * 1.0\n    y.setflags(write=True)\n    y[0] = x[1] ** 2\n    return y",
    "read_only": "y = x * 1.0\n    y.setflags(write=False)\n    return y * x",
    "put": "y = np.copy(x)\n    y.put(np.array([1, 5]), x[0, :2] ** 2)\n    return y * x",
    "sizes": "return x * x.itemsize / x.nbytes * (1.0 if x.device == 'cpu' else 0.0) * x",
    "astype": "return x.astype(float, copy=False, order='C') * x.clip(-0.5, 0.5) * x.round(1)",
}
X = np.array([[0.3, -1.2, 0.8], [1.1, 0.4, -0.7]])


def function(name):
    return module(f"def f(x):\n    {BODIES[name]}\n").f


@pytest.mark.thinned(6)
@pytest.mark.parametrize("name", BODIES)
@pytest.mark.filterwarnings("ignore::s2s_ad.diagnostics.SampleLoopWarning")
def test_method(name):
    f, space = function(name), module(f"def f(x):\n    {BODIES[name]}\n\n\n{LOSS}")
    np.testing.assert_array_equal(jit(f)(X), f(X))
    w, dot = np.random.default_rng(2).normal(size=(2, *X.shape))
    space.w = np.resize(w, np.shape(f(X)))
    near = (space.loss(X + 1e-6 * dot) - space.loss(X - 1e-6 * dot)) / 2e-6
    assert np.sum(grad(space.loss)(X) * dot) == pytest.approx(near, rel=1e-7)
    xs = np.stack([X, 2 * X, X[::-1]])
    np.testing.assert_allclose(vmap(f)(xs), [f(x) for x in xs], rtol=1e-13)
    np.testing.assert_allclose(
        vmap(grad(space.loss))(xs), [grad(space.loss)(x) for x in xs], rtol=1e-12
    )


LOSS = "def loss(x):\n    return np.sum(w * f(x))\n"


@pytest.mark.parametrize(
    "text, said",
    [
        ("x.flags.writeable", "'flags' of an array"),
        ("x.strides[0] * x", "may keep them in other memory"),
        ("x.base is None", "'base' of an array"),
        ("x.tobytes()", "the bytes would leave the function"),
        ("x.item()", "can only convert an array of size 1"),
        ("x.view(np.int64)", "'view' of the memory as another type"),
        ("x.resize((3, 2))", "resize of an array that is not certain to be alone"),
        ("(x * 1.0)\n    y.resize((3, 2))", "in the order of C"),
        ("x.ravel() * 1.0\n    z = y[1:]\n    y.resize(2)\n    y = y * z[0]", "resize of an array"),
        ("x.setflags(write=False)", "setflags of an array that others may see"),
        ("(x * 1.0).setflags(align=True)", "or of more than write"),
        ("x * 1.0\n    y.setflags(write=False)\n    y[:1] = 2.0", "was made read-only"),
        ("x * np.zeros(2, 'm8[D]').size", "an array of dtype timedelta64[D]"),
        ("x * len(np.array(['2007-02'], 'M8[Y]'))", "an array of dtype datetime64[Y]"),
        ("x * np.zeros(2).astype('U1').size", "an array of dtype <U1"),
        ("x * np.isfortran(x)", "np.isfortran of an array whose layout is not known"),
        ("x * np.shares_memory(x, x.reshape(6))", "whether the arrays share memory is not certain"),
    ],
)
def test_what_is_refused(text, said):
    f = module(f"def f(x):\n    y = {text}\n    return np.sum(x * y)\n").f
    with pytest.raises(S2SError) as caught:
        grad(f)(X)
    assert said in str(caught.value)


@pytest.mark.parametrize(
    "call",
    [
        "np.ascontiguousarray(y)",
        "np.asanyarray(y)",
        "np.asarray(y, float)",
        "np.require(y, float)",
        "np.array(y, copy=False)",
        "np.astype(y, float, copy=False)",
        "y.astype(float, copy=False)",
        "y.astype(np.float32, copy=False)",
        "y.astype(float)",
        "np.astype(y, float)",
        "np.array(y)",
    ],
)
def test_a_store_into_what_may_be_the_same_array(call):
    """The other name sees it, or the reading of it is refused: never the old values."""
    f = module(
        f"def f(x):\n    y = x * 1.0\n    z = {call}\n    z[0] = 5.0\n    return np.sum(y)\n"
    ).f
    try:
        result, said = jit(f)(X), ""
    except S2SError as error:
        result, said = None, str(error)
    assert result == f(X) or "may share memory" in said


@pytest.mark.parametrize("dtype", [float, np.float32])
def test_lists_of_arrays_hold_numbers_of_python(dtype):
    """Beside single precision these are weak, as NumPy's are not."""

    def scaled(x):
        first, *rest = x.tolist()
        return first * np.ones(2, np.float32), sum(rest), np.outer(x, x).tolist()[0][1]

    x = np.array([0.5, 0.25, 2.0], dtype)
    found, expected = jit(scaled)(x), scaled(x)
    assert found[0].dtype == expected[0].dtype
    assert [*map(type, found[1:])] == [*map(type, expected[1:])] == [float, float]
    assert found[1:] == expected[1:]
    gradient = grad(lambda x: scaled(x)[1] * scaled(x)[2])(x)
    np.testing.assert_allclose(gradient, [0.5625, 1.25, 0.125])
