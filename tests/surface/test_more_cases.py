"""More of what the surface promises: cases of the same kinds as MindSpore's that are not on file.

Expected values come from loops over samples and cells, from eager execution, from formulas or
from central differences, never from compiled code.
"""

import numpy as np
import pytest

import s2s_ad as ms
from s2s_ad import Parameter, Tensor, grad, jit, nn, vmap
from s2s_ad.diagnostics import ArgumentTypeError, ArgumentValueError


def random(*shape, seed=0):
    return Tensor(np.random.default_rng(seed).normal(size=shape))


def assert_same(found, expected, rtol=1e-10):
    """The same nesting, and the same numbers."""
    if isinstance(expected, tuple | list):
        assert isinstance(found, type(expected))
        assert len(found) == len(expected)
        for mine, theirs in zip(found, expected, strict=True):
            assert_same(mine, theirs, rtol)
    elif isinstance(expected, dict):
        assert list(found) == list(expected)
        for key, theirs in expected.items():
            assert_same(found[key], theirs, rtol)
    else:
        np.testing.assert_allclose(np.asarray(found), np.asarray(expected), rtol=rtol, atol=1e-12)


# ---- vmap of a CellList: an ensemble of models ---------------------------------------------------


class Scaled(nn.Cell):
    """Two outputs, the second in a dict."""

    def __init__(self, seed):
        super().__init__()
        self.fc = nn.Dense(3, 2, dtype=ms.float64)
        self.w = Parameter(random(3, seed=seed), name="w")

    def construct(self, x, k):
        return self.fc(x), {"sum": (x * self.w).sum() * k}


DENSES = nn.CellList([nn.Dense(3, 2, dtype=ms.float64) for _ in range(4)])
SCALED = nn.CellList([Scaled(seed) for seed in range(4)])
X, EACH = random(5, 3), random(4, 3, seed=1)


def stacked(parts, axis=0):
    return np.stack([np.asarray(each) for each in parts], axis)


def of_scaled(i):
    return SCALED[i](EACH[i], 2.0)


ENSEMBLES = {
    "all cells on one input": (
        lambda: vmap(DENSES, in_axes=None)(X),
        lambda: stacked([cell(X) for cell in DENSES]),
    ),
    "cell i on sample i": (
        lambda: vmap(DENSES)(EACH),
        lambda: stacked([cell(EACH[i]) for i, cell in enumerate(DENSES)]),
    ),
    "samples along another axis": (
        lambda: vmap(DENSES, -1, 1)(EACH.T),
        lambda: stacked([cell(EACH[i]) for i, cell in enumerate(DENSES)], 1),
    ),
    "an entry for each input and output": (
        lambda: vmap(SCALED, (0, None), (1, {"sum": 0}))(EACH, 2.0),
        lambda: (
            stacked([of_scaled(i)[0] for i in range(4)], 1),
            {"sum": stacked([of_scaled(i)[1]["sum"] for i in range(4)])},
        ),
    ),
    "a batch of ensembles": (
        lambda: vmap(vmap(DENSES, in_axes=None))(X),
        lambda: stacked([[np.asarray(cell(x)) for cell in DENSES] for x in X]),
    ),
}


@pytest.mark.parametrize("name", ENSEMBLES)
def test_an_ensemble_is_a_loop_over_its_cells(name):
    call, expected = ENSEMBLES[name]
    assert_same(call(), expected())


def test_gradients_of_an_ensemble_are_those_of_its_cells():
    def total(x):
        return (vmap(DENSES, in_axes=None)(x) ** 2).sum()

    def one_after_the_other(x):
        return sum([(cell(x) ** 2).sum() for cell in DENSES])

    weights = DENSES.trainable_params()
    assert_same(jit(total)(X), one_after_the_other(X))
    assert_same(grad(total, 0, weights)(X), grad(one_after_the_other, 0, weights)(X))


def test_an_ensemble_follows_its_list():
    cells = nn.CellList([nn.Dense(3, 1)])
    ensemble = vmap(cells, in_axes=None)
    assert ensemble(X).shape == (1, 5, 1)
    cells.append(nn.Dense(3, 1))
    assert ensemble(X).shape == (2, 5, 1)


@pytest.mark.parametrize(
    "call, error, message",
    [
        (lambda: vmap(DENSES)(X), ArgumentValueError, "has length 5, beside a CellList of 4"),
        (lambda: vmap(DENSES, 5)(X), ArgumentValueError, "'in_axes' is 5 for an input with 2 axes"),
        (lambda: vmap(DENSES, (0, 0))(EACH), ArgumentValueError, "2 entries for 1 items"),
        (lambda: vmap(DENSES, None, None), ArgumentValueError, "'out_axes', got None"),
        (lambda: vmap(DENSES, None, (0, 0))(X), ArgumentTypeError, "'out_axes' is"),
        (lambda: vmap(nn.CellList(), None), ArgumentValueError, "the CellList has no cells"),
    ],
)
def test_an_ensemble_refuses_axes_that_do_not_fit(call, error, message):
    with pytest.raises(error, match=message):
        call()


# ---- what a construct may do ---------------------------------------------------------------------


class Compiled(nn.Cell):
    """Its construct is compiled by itself, and counts its calls."""

    def __init__(self):
        super().__init__()
        self.w = Parameter(random(3), name="w")
        self.calls = Parameter(Tensor(0), name="calls", requires_grad=False)

    @jit
    def construct(self, x):
        self.calls += 1
        return np.sin(x) * self.w


@pytest.mark.parametrize("called_before", [False, True])
def test_a_construct_that_is_compiled_is_transformed_like_any_other(called_before):
    net = Compiled()
    if called_before:
        net(X)
    before = int(net.calls)
    sine, cosine, w = np.sin(np.asarray(X)), np.cos(np.asarray(X)), np.asarray(net.w)
    assert_same(grad(net)(X), cosine * w)
    assert_same(grad(net, None, net.w)(X), sine.sum(0))
    assert_same(jit(nn.SequentialCell(net, net))(X), np.sin(sine * w) * w)
    assert int(net.calls) == before + 4


class Sliced(nn.Cell):
    """Goes through parts of its containers."""

    def __init__(self):
        super().__init__()
        self.body = nn.SequentialCell([nn.Dense(3, 3, dtype=ms.float64) for _ in range(3)])
        self.more = nn.CellList([nn.Dense(3, 3, dtype=ms.float64) for _ in range(3)])

    def construct(self, x):
        x = self.body[:2](x)
        for first, second in zip(self.more[:-1], self.more[1:], strict=True):
            x = np.tanh(second(first(x)))
        return x * len(self.more[::2])


def by_hand(net, x):
    x = net.body[1](net.body[0](x))
    count = len(net.more)
    for i in range(count - 1):
        x = np.tanh(net.more[i + 1](net.more[i](x)))
    return x * ((count + 1) // 2)


def test_slices_of_containers_follow_them():
    net = Sliced()
    compiled = jit(net)
    assert_same(compiled(X), by_hand(net, X))
    net.more.append(nn.Dense(3, 3, dtype=ms.float64))
    assert_same(compiled(X), by_hand(net, X))
    net.body[0] = nn.Dense(3, 3, dtype=ms.float64)
    assert_same(compiled(X), by_hand(net, X))
    weights = net.trainable_params()
    expected = grad(lambda x: by_hand(net, x), 0, weights)(X)
    assert_same(grad(net, 0, weights)(X), expected)


class Oscillator(nn.Cell):
    """u'' + u' u of a network u, with gradients of a method inside a function inside."""

    def __init__(self):
        super().__init__()
        layers = nn.Dense(1, 4, dtype=ms.float64), nn.Tanh(), nn.Dense(4, 1, dtype=ms.float64)
        self.net = nn.SequentialCell(*layers)

    def u(self, t):
        return self.net(t)[0]

    def construct(self, t):
        slope = grad(self.u)(t)
        return grad(lambda t: grad(self.u)(t)[0])(t) + slope * self.u(t)


def test_gradients_of_methods_inside_functions_inside_a_construct():
    net, t, h = Oscillator(), Tensor(np.array([0.3])), 1e-4
    first, _, last = net.net
    w, b, v, c = (
        np.asarray(p) for p in (first.weight[:, 0], first.bias, last.weight[0], last.bias)
    )
    u = lambda t: np.sum(v * np.tanh(w * t + b)) + c[0]
    slope = lambda t: np.sum(v * w / np.cosh(w * t + b) ** 2)
    curve = lambda t: np.sum(-2 * v * w**2 * np.tanh(w * t + b) / np.cosh(w * t + b) ** 2)
    residual = lambda t: np.array([curve(t) + slope(t) * u(t)])
    for call in (net, jit(net), lambda t: vmap(net)(t[None])[0]):
        assert_same(call(t), residual(0.3))
    central = (residual(0.3 + h) - residual(0.3 - h)) / (2 * h)
    assert_same(grad(net)(t), central, rtol=1e-6)


def test_parameters_are_listed_outside():
    net = nn.Dense(3, 2)

    def penalty(x):
        return net(x).sum() + sum([(each**2).sum() for each in net.trainable_params()])

    with pytest.raises(ms.S2SError, match=r"(?s)listed inside.*test_more_cases.*list them outside"):
        grad(penalty)(Tensor(np.ones((2, 3))))
