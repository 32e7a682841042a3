"""data_parallel on threads: what it gives, and what it refuses before anything runs."""

import copy
import hashlib
import itertools
import pickle
import random
import threading
import time
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import dask
import dask.array as da
import numpy as np
import pytest

import s2s_ad as ms
from s2s_ad import S2SError, Tensor, grad, hessian, jit, nn, parallel, value_and_grad
from s2s_ad.core import tree
from s2s_ad.diagnostics import InternalError, ParallelError
from s2s_ad.load.native import Native
from s2s_ad.parallel import travel
from s2s_ad.parallel.tasks import Bound
from s2s_ad.parallel.trees import FAN_IN, depth_of

RNG = np.random.default_rng(0)
W, X, Y = RNG.normal(size=3), RNG.normal(size=(103, 3)), RNG.normal(size=103)


def squares(w, x, y):
    return np.mean((np.tanh(x @ w) - y) ** 2)


def total(w, x, y):
    return np.sum((np.tanh(x @ w) - y) ** 2)


def by_hand(w, x, y, reduce):
    """The value and gradient of `squares`, or of `total`."""
    tanh = np.tanh(x @ w)
    count = len(y) if reduce == "mean" else 1
    slope = 2 * (tanh - y) * (1 - tanh**2)
    return np.sum((tanh - y) ** 2) / count, slope @ x / count


@pytest.mark.parametrize("reduce, loss", [("mean", squares), ("sum", total)])
@pytest.mark.parametrize("size", [None, 1, 7, 103, 500])
def test_sums_and_means_are_those_of_all_samples(reduce, loss, size):
    step = parallel.data_parallel(value_and_grad(loss), (None, 0, 0), reduce, chunk_size=size)
    value, slope = step(W, X, Y)
    expected = by_hand(W, X, Y, reduce)
    np.testing.assert_allclose(value, expected[0], rtol=1e-13)
    np.testing.assert_allclose(slope, expected[1], rtol=1e-12)
    assert (value.dtype, slope.dtype, slope.shape) == (np.float64, np.float64, (3,))


def loaders(lengths):
    ends = np.cumsum((0, *lengths))
    return [
        parallel.Loader(X.__getitem__, slice(a, b), shape=(b - a, 3), dtype=X.dtype)
        for a, b in itertools.pairwise(ends)
    ]


LENGTHS = (40, 40, 23)
BOUNDS = [(0, 40), (40, 80), (80, 103)]
SOURCES = {
    "array": lambda: X,
    "dask array": lambda: da.from_array(X, chunks=(40, 3)),
    "computed by dask": lambda: da.from_array(X / 2, chunks=(40, 3)) * 2,
    "list of arrays": lambda: [X[a:b] for a, b in BOUNDS],
    "list of dask arrays": lambda: [
        da.from_array(X[:80], chunks=(40, 3)),
        da.from_array(X[80:], chunks=(23, 3)),
    ],
    "loaders": lambda: loaders(LENGTHS),
    "loaders and arrays": lambda: [*loaders(LENGTHS)[:2], X[80:]],
}


@pytest.mark.parametrize("name", SOURCES)
def test_the_same_chunks_give_the_same_bits_wherever_they_come_from(name):
    """The expected value is that of the chunks one by one, weighed and added by hand."""
    gradient = value_and_grad(squares)
    parts = [gradient(W, X[a:b], Y[a:b]) for a, b in BOUNDS]
    weights = [(b - a) / 103 for a, b in BOUNDS]
    value, slope = (
        sum(w * part[i] for w, part in zip(weights[1:], parts[1:], strict=True))
        + weights[0] * parts[0][i]
        for i in (0, 1)
    )
    step = parallel.data_parallel(
        gradient, (None, 0, 0), chunk_size=40 if name == "array" else None
    )
    found = step(W, SOURCES[name](), Y)
    np.testing.assert_allclose(found[0], value, rtol=1e-15)
    np.testing.assert_allclose(found[1], slope, rtol=1e-14)
    again = parallel.data_parallel(gradient, (None, 0, 0), chunk_size=40)(W, X, Y)
    assert found[0] == again[0]
    assert np.array_equal(found[1], again[1])


def test_the_tree_adds_in_a_fixed_order():
    """Numbers of very different size: another order would give another sum."""
    numbers = 10.0 ** RNG.integers(-18, 18, 37) * RNG.normal(size=37)
    step = parallel.data_parallel(lambda x: x[0], 0, "sum", chunk_size=1)
    level = list(numbers)
    while len(level) > 1:
        level = [sum(level[i + 1 : i + FAN_IN], level[i]) for i in range(0, len(level), FAN_IN)]
    assert step(numbers) == level[0] != sum(numbers)
    assert depth_of(37) == 3


def misaligned(array):
    """The same elements, beginning at an odd byte: as they come out of a message of Dask's."""
    content = bytearray(array.nbytes + 1)
    made = np.frombuffer(memoryview(content)[1:], array.dtype).reshape(array.shape)
    made[...] = array
    return made


def test_a_chunk_that_came_in_a_message_adds_up_like_one_that_was_there():
    x = RNG.normal(size=40_000)
    odd = misaligned(x)
    step = parallel.data_parallel(lambda w, x: (np.sum(x), np.sum(w)), (None, 0), "sum")
    assert step(misaligned(x), [odd]) == step(x, [x]) == (np.sum(x), np.sum(x))
    content, buffers = pickled_by_dask(Bound([x], {"": [x]}))
    bound = pickle.loads(content, buffers=buffers)
    assert [np.sum(bound.shared[0]), np.sum(bound.captured[""][0])] == 2 * [np.sum(x)]


def pickled_by_dask(value):
    """With the buffers beside it, and these at any byte."""
    buffers = []
    content = pickle.dumps(value, 5, buffer_callback=buffers.append)
    return content, [misaligned(np.frombuffer(each, np.uint8)) for each in buffers]


def test_batch_axes_and_structures():
    def loss(params, data, scale=2.0):
        hidden = np.tanh(params["W"] @ data["x"] + params["b"][:, None])
        return scale * np.mean((np.sum(hidden, axis=0) - data["y"]) ** 2)

    params = {"W": RNG.normal(size=(4, 3)), "b": np.zeros(4), "note": "fixed"}
    data = {"x": np.ascontiguousarray(X.T), "y": Y}
    step = parallel.data_parallel(value_and_grad(loss), (None, {"x": 1, "y": 0}), chunk_size=20)
    expected = value_and_grad(loss)(params, data)
    value, slopes = step(params, data)
    np.testing.assert_allclose(value, expected[0], rtol=1e-13)
    assert slopes["note"] is None
    for name in ("W", "b"):
        np.testing.assert_allclose(slopes[name], expected[1][name], rtol=1e-12)
    by_name = parallel.data_parallel(loss, {"data": {"x": 1, "y": 0}}, chunk_size=20)
    assert by_name(params, data, scale=4.0) == pytest.approx(2 * value)


class Line(NamedTuple):
    w: Any
    b: Any


@dataclass
class Affine:
    w: Any
    b: Any


def of_line(line, x, y):
    return np.mean((x @ line.w + line.b - y) ** 2)


def of_many(w, *data):
    return np.mean((data[0] @ w - data[1]) ** 2)


def of_mode(w, x, mode):
    return np.mean(np.abs(x @ w) ** 2) if mode == "squares" else np.mean(x @ w)


STRUCTURES = {
    "namedtuple": (value_and_grad(of_line), (None, 0, 0), (Line(W, 0.5), X, Y)),
    "dataclass": (value_and_grad(of_line), (None, 0, 0), (Affine(W, 0.5), X, Y)),
    "list of parameters": (
        grad(lambda w, x: np.mean((x @ w[0] + w[1]) ** 2)),
        (None, 0),
        ([W, 1.0], X),
    ),
    "any number of arguments": (value_and_grad(of_many), (None, 0, 0), (W, X, Y)),
    "complex, and a text": (value_and_grad(of_mode), (None, 0, None), (W + 1j, X, "squares")),
    "with the position": (value_and_grad(of_mode, return_ids=True), (None, 0, None), (W, X, "")),
    "of a jit": (jit(value_and_grad(of_many)), (None, 0, 0), (W, X, Y)),
    "second derivatives": (hessian(of_mode), (None, 0, None), (W, X, "squares")),
    "nothing differentiated": (
        lambda w, x: {"mean": np.mean(x @ w), "right": x @ w > 0},
        (None, 0),
        (W, X),
    ),
}


@pytest.mark.parametrize("name", STRUCTURES)
def test_results_have_the_structure_and_types_of_the_function(name):
    function, in_axes, arguments = STRUCTURES[name]
    found = parallel.data_parallel(function, in_axes, chunk_size=25)(*arguments)
    expected = function(*arguments)
    assert tree.tree_map(type, as_tree(found)) == tree.tree_map(type, as_tree(expected))
    for mine, its in zip(tree.leaves(as_tree(found)), tree.leaves(as_tree(expected)), strict=True):
        np.testing.assert_allclose(mine, its, rtol=1e-12)
        assert np.asarray(mine).dtype == np.asarray(its).dtype


def as_tree(value):
    return tree.from_object(value, lambda leaf, _: leaf)


class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        self.hidden, self.act, self.out = nn.Dense(3, 5), nn.Tanh(), nn.Dense(5, 1)

    def construct(self, x):
        return self.out(self.act(self.hidden(x)))


def test_parameters_are_read_at_each_call_and_aux_comes_back_in_the_order_of_samples():
    ms.set_seed(0)
    net, x, y = Net(), X.astype(np.float32), Y.astype(np.float32)[:, None]

    def forward(x, y):
        output = net(x)
        return np.mean((output - y) ** 2), (output, "kept", np.mean(output))

    params = net.trainable_params()
    gradient = value_and_grad(forward, None, params, has_aux=True)
    step = parallel.data_parallel(gradient, in_axes=0, chunk_size=30)
    for _ in range(2):
        (value, (output, text, mean)), slopes = step(x, y)
        (one, (whole, _, average)), expected = gradient(Tensor(x), Tensor(y))
        assert text == "kept"
        assert type(value) is Tensor
        assert value.dtype == ms.float32
        np.testing.assert_allclose(output, whole, atol=1e-6)
        np.testing.assert_allclose([value, mean], [one, average], rtol=1e-5)
        for mine, its in zip(slopes, expected, strict=True):
            assert type(mine) is Tensor
            assert mine.dtype == ms.float32
            np.testing.assert_allclose(mine, its, rtol=2e-4, atol=1e-6)
        params[0].set_data(params[0] * 2)


def test_a_gradient_has_the_shape_of_its_parameter_whatever_lies_between():
    """How many features a reshape gives, the compiler need not know."""
    ms.set_seed(0)
    net = nn.SequentialCell(nn.MaxPool2d(2, 2), nn.Flatten(), nn.Dense(9, 1))
    x = RNG.normal(size=(20, 1, 6, 6)).astype(np.float32)
    gradient = grad(lambda x: np.mean(net(x) ** 2), None, net.trainable_params())
    for mine, its in zip(parallel.data_parallel(gradient)(x), gradient(x), strict=True):
        np.testing.assert_allclose(mine, its, rtol=1e-4, atol=1e-6)


def test_a_reducer_gives_what_mindspore_says():
    ms.set_seed(0)
    net, x, y = Net(), X[:100].astype(np.float32), Y[:100].astype(np.float32)[:, None]
    params = net.trainable_params()
    gradient = value_and_grad(lambda x, y: np.mean((net(x) - y) ** 2), None, params)
    step = parallel.data_parallel(gradient, in_axes=0, reduce=None, chunk_size=25)
    value, slopes = step(x, y)
    of_chunks = [gradient(x[i : i + 25], y[i : i + 25]) for i in range(0, 100, 25)]
    np.testing.assert_array_equal(value.values(), [each for each, _ in of_chunks])
    for mean, degree, factor in ((True, None, 1 / 4), (None, None, 1), (True, 2, 1 / 2)):
        reduced = nn.DistributedGradReducer(params, mean, degree)(slopes)
        assert type(reduced) is tuple
        for mine, *its in zip(reduced, *(each for _, each in of_chunks), strict=True):
            np.testing.assert_allclose(mine, factor * sum(its), rtol=1e-5, atol=1e-7)
    before = slopes[0].values()
    late, _ = step(x, y)
    params[0].set_data(params[0] * 2)
    np.testing.assert_array_equal(late.values(), value.values())
    np.testing.assert_array_equal(slopes[0].values(), before)
    plain = nn.DistributedGradReducer(params, mean=True)(of_chunks[0][1])
    assert all(np.array_equal(a, b) for a, b in zip(plain, of_chunks[0][1], strict=True))


# ---- random numbers and running values -----------------------------------------------------------


def noisy(w, x):
    """Some elements, and the others as if they were not there; and which ones."""
    kept = np.random.random(np.shape(x)) < 0.6
    return np.mean(np.where(kept, x / 0.6, 0) @ w), kept


def test_what_is_drawn_has_a_seed_for_each_chunk_that_set_seed_decides():
    step = parallel.data_parallel(value_and_grad(noisy, has_aux=True), (None, 0), chunk_size=20)
    x = RNG.normal(size=(200, 30))
    found = []
    for seed in (1, 1, 2):
        ms.set_seed(seed)
        (value, kept), slope = step(np.ones(30), x)
        np.testing.assert_allclose(slope, np.mean(np.where(kept, x / 0.6, 0), axis=0), rtol=1e-12)
        assert value == pytest.approx(np.sum(slope))
        assert 0.55 < np.mean(kept) < 0.65
        masks = {kept[i : i + 20].tobytes() for i in range(0, 200, 20)}
        assert len(masks) == 10
        found.append(kept)
    assert np.array_equal(found[0], found[1])
    assert 0.4 < np.mean(found[0] == found[2]) < 0.65
    again = step(np.ones(30), x)[0][1]
    assert not np.array_equal(again, found[2])  # another step, other numbers
    ms.set_seed(1)
    before = np.random.random()
    ms.set_seed(1)
    parallel.data_parallel(grad(squares), (None, 0, 0))(W, X, Y)
    assert np.random.random() == before  # who draws nothing changes no state


def test_running_values_are_the_means_of_those_of_the_chunks():
    """Each chunk is normalised by itself, as on each device of MindSpore's."""
    net = nn.BatchNorm1d(3, momentum=0.9, eps=0.0).set_train()
    x, y = X.astype(np.float32) + 5, Y.astype(np.float32)
    params = net.trainable_params()
    function = value_and_grad(lambda x, y: np.mean(net(x)[:, 0] * y), None, params)
    value, slopes = parallel.data_parallel(function, 0, chunk_size=40)(x, y)
    parts = [(x[a:b].astype(float), y[a:b]) for a, b in BOUNDS]
    weights = [(b - a) / 103 for a, b in BOUNDS]
    means = [np.mean(part, axis=0) for part, _ in parts]
    variances = [np.var(part, axis=0, ddof=1) for part, _ in parts]
    np.testing.assert_allclose(net.moving_mean, 0.1 * np.dot(weights, means), rtol=1e-5)
    np.testing.assert_allclose(
        net.moving_variance, 0.9 + 0.1 * np.dot(weights, variances), rtol=1e-5
    )
    pairs = zip(parts, means, strict=True)
    normal = np.concatenate([((part - m) / np.std(part, axis=0))[:, 0] for (part, _), m in pairs])
    np.testing.assert_allclose(value, np.mean(normal * y), rtol=1e-4, atol=1e-6)
    np.testing.assert_allclose(slopes[0], [np.mean(normal * y), 0, 0], rtol=1e-4, atol=1e-6)
    assert slopes[0].dtype == net.moving_mean.dtype == ms.float32
    for kind in (copy.copy, copy.deepcopy, lambda p: pickle.loads(pickle.dumps(p))):
        assert kind(net.moving_mean).over_chunks == "mean"
    with pytest.raises(S2SError, match=r"changes .*moving_mean"):
        parallel.data_parallel(function, 0, reduce=None)(x, y)
    with pytest.raises(S2SError, match="over_chunks must be 'mean' or None"):
        net.gamma.over_chunks = "sum"


# ---- what travels --------------------------------------------------------------------------------


def test_a_text_is_compiled_once_and_its_hash_is_checked(monkeypatch):
    compiled = []
    monkeypatch.setattr(travel, "_functions", {})
    inner = travel.executed
    monkeypatch.setattr(travel, "executed", lambda *a: compiled.append(a[0]) or inner(*a))
    step = parallel.data_parallel(grad(squares), (None, 0, 0), chunk_size=10)
    for _ in range(3):
        step(W, X[:90], Y[:90])
    assert compiled == ["squares_grad"]
    (text,) = step.step(step.call(W, X[:90], Y[:90])).texts.packed.values()
    assert text.digest == hashlib.sha256(text.payload).hexdigest()
    spoilt = replace(text, payload=text.payload + b" ", digest="0" + text.digest[1:])
    with pytest.raises(InternalError, match="has arrived changed"):
        travel.called(spoilt, [], [], [])


def test_a_function_that_cannot_travel_is_refused_with_the_reason():
    class Held(Exception):
        lock = threading.Lock()

    def loss(w, x):
        if np.sum(x) > 1e9:
            raise Held("too much")
        return np.mean(x @ w)

    with pytest.raises(S2SError, match=r"cannot travel .*\n(.*\n)*.*refers to Held: cannot pickle"):
        parallel.data_parallel(grad(loss), (None, 0))(W, X)


def test_what_the_function_raises_says_the_line_of_the_user():
    def bad(w, x):
        if np.sum(x) > 5:
            raise ValueError("too much")
        return np.mean(x @ w)

    with pytest.raises(ValueError, match="too much") as caught:
        parallel.data_parallel(grad(bad), (None, 0))(W, X + 1)
    assert caught.value.__notes__[0].startswith("test_data_parallel.py:")


def test_a_chunk_that_is_not_what_was_said_is_refused():
    short = parallel.Loader(np.ones, (4, 3), shape=(5, 3), dtype=np.float64)
    single = parallel.Loader(np.ones, (5, 3), np.float32, shape=(5, 3), dtype=np.float64)
    masked = parallel.Loader(np.ma.ones, (5, 3), shape=(5, 3), dtype=np.float64)
    for loader, text in ((short, r"\(4, 3\)"), (single, "float32"), (masked, "MaskedArray")):
        with pytest.raises(S2SError, match=f"chunk 0 of argument x was to .* {text}"):
            parallel.data_parallel(grad(squares), (None, 0, 0))(W, [loader], np.ones(5))


def test_explain_parallel_counts_bytes_without_running():
    ran = []
    chunk = parallel.Loader(lambda: ran.append(1), shape=(50, 20_000), dtype=np.float64)
    step = parallel.data_parallel(grad(squares), (None, 0, 0))
    text = parallel.explain_parallel(step, np.ones(20_000), [chunk] * 6, [np.ones(50)] * 6)
    assert not ran
    lines = {line.split("  ")[0]: " ".join(line.split()) for line in text.splitlines()}
    assert text.startswith("6 chunks of 50 samples each, mean of 300\n")
    assert "160,000 to each worker, once a step" in lines["what is the same for all chunks"]
    assert "0 6 chunks read by the workers" in lines["argument x"]
    assert "2,400 to one worker, once a step" in lines["argument y"]
    assert "162,400 to all workers with one worker, 160,000 more" in lines["sent in a step"]
    assert "160,000 between workers" in lines["result of a chunk"]
    assert (
        "960,000 6 parts, added here, of a tree of depth 2, 4 at a node: 0 nodes"
        in lines["what comes back"]
    )


@pytest.fixture
def native(monkeypatch, tmp_path):
    pytest.importorskip("numba")
    for name, value in {"NATIVE": "1", "CACHE": "1", "CACHE_DIR": str(tmp_path)}.items():
        monkeypatch.setenv(f"S2S_AD_{name}", value)
    monkeypatch.setattr(travel, "_functions", {})


def test_native_code_travels_as_text(native, monkeypatch):
    step = parallel.data_parallel(jit(value_and_grad(squares)), (None, 0, 0), chunk_size=40)
    value, slope = step(W, X, Y)
    expected = by_hand(W, X, Y, "mean")
    np.testing.assert_allclose(value, expected[0], rtol=1e-13)
    np.testing.assert_allclose(slope, expected[1], rtol=1e-12)
    ((function, space, module),) = travel._functions.values()
    assert function.__name__.endswith("_jitted")
    assert "for " in module.native.text
    (signature,) = space["_s2s_kernel"].signatures
    fixed, odd = X.copy(), misaligned(X)
    fixed.flags.writeable = False
    for x in (fixed, odd):  # the same machine code, and the same bits
        again = step(W, x, Y)
        assert again[0] == value
        assert np.array_equal(again[1], slope)
    assert space["_s2s_kernel"].signatures == [signature]
    lazily = parallel.data_parallel(
        jit(value_and_grad(squares), wait=False), (None, 0, 0), chunk_size=40
    )
    assert lazily(W, X, Y)[0] == value  # whether or not it was ready here

    def missing(self):
        raise ImportError("No module named 'numba'")

    monkeypatch.setattr(travel, "_functions", {})
    monkeypatch.setattr(Native, "kernel", missing)
    with pytest.raises(ParallelError, match=r"no native code of squares(.*\n)*.*No module named"):
        step(W, X, Y)


# ---- refusals ------------------------------------------------------------------------------------

XD = da.from_array(X, chunks=(40, 3))
TABLE = {
    "chunks differ": ((W, XD, da.from_array(Y, chunks=50)), "chunks differ between arguments"),
    "numbers of samples": ((W, XD, [Y[:9]]), "numbers of samples differ: .* 103, .* 9"),
    "lengths of arrays": ((W, X, Y[:9]), "different sizes: .* 103, .* 9"),
    "other axes": ((W, XD.rechunk((40, 2)), Y), "2 chunks along axis 1, which is not the batch"),
    "unknown size": ((W, XD[da.from_array(Y, chunks=40) > 0], Y), "chunks of unknown size along"),
    "no samples": ((W, X[:0], Y[:0]), "there are no samples in argument x and argument y"),
    "empty chunk": ((W, [X, X[:0]], [Y, Y[:0]]), "chunk 1 of argument x has no samples"),
    "no chunks": ((W, [], Y), "argument x is a list without chunks"),
    "dtypes": ((W, [X, X.astype(np.float32)], [Y, Y]), "chunk 1 of argument x is of float32"),
    "shapes": ((W, [X, X[:, :2]], [Y, Y]), "chunk 1 of argument x has shape"),
    "parameters": ((da.from_array(W), X, Y), "argument w is Array of shape .* the same for all"),
    "loader": ((parallel.Loader(np.ones, 3, shape=3 * (1,), dtype=float), X, Y), "is Loader"),
    "delayed": ((W, [dask.delayed(np.ones)((5, 3))], Y), "whose shape and dtype nobody knows"),
    "objects": ((W, X.astype(object), Y), "argument x has dtype object"),
    "masked": ((W, np.ma.ones((5, 3)), Y), "argument x is a numpy.ma.MaskedArray"),
    "a number": ((W, 1.0, Y), "argument x must be an array, a dask array, a Loader or a list"),
    "rank": ((W, X, np.float64(1.0)), "argument y must be an array|out of range"),
}


@pytest.mark.parametrize("name", TABLE)
def test_bad_chunks_are_refused(name):
    arguments, text = TABLE[name]
    with pytest.raises((S2SError, TypeError), match=text) as caught:
        parallel.data_parallel(grad(squares), (None, 0, 0))(*arguments)
    assert isinstance(caught.value, S2SError)


def in_place(w, x):
    w[0] = 0.0
    return np.mean(x @ w)


GENERATOR = np.random.default_rng(5)
COUNT = ms.Parameter(np.zeros(()), name="count", requires_grad=False)


def counted(w, x):
    COUNT.set_data(COUNT + len(x))
    return np.mean(x @ w)


OUTPUTS = {
    "changes an argument": (in_place, "changes w in place"),
    "changes a Parameter": (counted, "changes COUNT in place(.*\n)*.*over_chunks = 'mean'"),
    "draws by Python": (lambda w, x: random.random() * np.mean(x @ w), "another value for each"),
    "draws by its own": (lambda w, x: GENERATOR.random() * np.mean(x @ w), "another value for"),
    "reads a clock": (lambda w, x: time.time() * np.mean(x @ w), "another value for each chunk"),
    "bool": (lambda w, x: np.all(x @ w > 0), "is of bool, and its mean would be of another dtype"),
    "integer": (lambda w, x: np.argmax(w), "is of int64, and its mean would be"),
    "not along axis 0": (lambda w, x: np.outer(w, x[:, 0]), "length along axis 1 that depends on"),
    "twice as long": (lambda w, x: np.concatenate([x, x]), "axis 0 that depends on the number"),
    "one by one": (lambda w, x: np.stack([row * w for row in tuple(x)]), "is part of the code of"),
    "known by the run": (lambda w, x: w[w > 0], "depends on the number of samples, or on their"),
    "of samples": (grad(lambda w, x: np.mean(x @ w), (0, 1)), "gradient with respect to .* chunks"),
}


@pytest.mark.parametrize("name", OUTPUTS)
def test_results_that_mean_nothing_are_refused(name):
    function, text = OUTPUTS[name]
    with pytest.raises(S2SError, match=text):
        parallel.data_parallel(function, (None, 0))(W, X)


@pytest.mark.parametrize(
    "options, text",
    [
        ({"reduce": "max"}, "argument 'reduce' must be 'sum', 'mean' or None"),
        ({"chunk_size": 0}, "argument 'chunk_size' must be a positive int"),
        ({"in_axes": None}, "maps no input over a batch axis"),
        ({"in_axes": "x"}, "in_axes"),
    ],
)
def test_options_are_checked_when_it_is_made(options, text):
    with pytest.raises(S2SError, match=text):
        parallel.data_parallel(grad(squares), **options)


STEP = parallel.data_parallel(value_and_grad(squares), (None, 0, 0))
EACH = parallel.vmap(squares, (None, 0, 0))
AROUND = {
    "grad": lambda: grad(STEP)(W, X, Y),
    "jit": lambda: jit(STEP)(W, X, Y),
    "vmap": lambda: ms.vmap(EACH)(W[None], X[None], Y[None]),
    "inside": lambda: grad(lambda w: STEP(w, X, Y)[0])(W),
    "itself": lambda: parallel.data_parallel(STEP, (None, 0, 0))(W, X, Y),
    "the other": lambda: parallel.vmap(STEP, (None, 0, 0))(W, X[None], Y[None]),
}


@pytest.mark.parametrize("name", AROUND)
def test_a_transform_around_is_refused(name):
    with pytest.raises(S2SError, match=r"a transform of (.*\n)*.*put the transform inside"):
        AROUND[name]()


def test_a_client_that_is_none_is_refused():
    with pytest.raises(S2SError, match=r"argument 'client' must be a dask\.distributed"):
        parallel.data_parallel(grad(squares), (None, 0, 0), client=3)(W, X, Y)


def test_chunk_size_of_what_is_in_chunks_is_refused():
    with pytest.raises(S2SError, match="argument 'chunk_size' is 10, and argument x is in chunks"):
        parallel.data_parallel(grad(squares), (None, 0, 0), chunk_size=10)(W, XD, Y)
