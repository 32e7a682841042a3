"""Layers: values by independent formulas, gradients by central differences, per sample by loops."""

import math

import numpy as np
import pytest
from scipy.signal import correlate2d

from s2s_ad import Parameter, Tensor, grad, jit, nn, value_and_grad, vmap
from s2s_ad.diagnostics import ArgumentTypeError, ArgumentValueError

pytestmark = pytest.mark.thinned(2)

F64 = np.float64


def random(*shape, seed=0):
    return np.random.default_rng(seed).normal(size=shape)


def close(got, expected, rtol=1e-10, atol=1e-12):
    np.testing.assert_allclose(np.asarray(got), expected, rtol=rtol, atol=atol)


# ---- values --------------------------------------------------------------------------------------


def test_dense_is_a_product_and_a_sum_of_any_rank():
    layer = nn.Dense(3, 2, dtype=F64)
    for shape in [(3,), (4, 3), (2, 4, 3)]:
        x = random(*shape)
        expected = np.einsum("...i,oi->...o", x, layer.weight) + np.asarray(layer.bias)
        close(layer(x), expected)


def test_dense_starts_uniform_within_one_over_the_root_of_its_inputs():
    layer = nn.Dense(400, 50)
    for each in (layer.weight, layer.bias):
        assert np.abs(each).max() <= 1 / 20
        assert np.std(np.asarray(layer.weight)) == pytest.approx(1 / 20 / math.sqrt(3), rel=0.05)
    assert nn.Dense(2, 2, has_bias=False).bias is None


@pytest.mark.parametrize("activation", ["relu", nn.ReLU(), lambda y: np.maximum(y, 0)])
def test_dense_goes_through_an_activation(activation):
    layer = nn.Dense(2, 2, weight_init=np.eye(2), bias_init="zeros", activation=activation)
    close(layer(np.array([[1.0, -2.0]])), [[1.0, 0.0]])


def padded(x, kernel, stride, dilation, pad_mode, padding):
    """The image with zeros around it, by the definition of the modes."""
    if pad_mode == "valid":
        return x
    if pad_mode == "pad":
        return np.pad(x, [(padding, padding)] * 2)
    ends = []
    for length, k, s, d in zip(x.shape, kernel, stride, dilation, strict=True):
        total = max((-(-length // s) - 1) * s + d * (k - 1) + 1 - length, 0)
        ends.append((total // 2, total - total // 2))
    return np.pad(x, ends)


def spread(kernel, dilation):
    """A kernel with zeros between its elements."""
    wide = np.zeros([(n - 1) * d + 1 for n, d in zip(kernel.shape, dilation, strict=True)])
    wide[:: dilation[0], :: dilation[1]] = kernel
    return wide


def convolved(x, weight, bias, stride, pad_mode, padding, dilation, group):
    """Each output channel as a sum of correlations by SciPy."""
    n, out = len(x), len(weight)
    width, per_group = weight.shape[1], out // group
    images = []
    for sample in range(n):
        for o in range(out):
            first = (o // per_group) * width
            total = 0.0
            for c in range(width):
                image = padded(
                    x[sample, first + c], weight.shape[2:], stride, dilation, pad_mode, padding
                )
                total = total + correlate2d(image, spread(weight[o, c], dilation), "valid")
            images.append(total[:: stride[0], :: stride[1]] + (0 if bias is None else bias[o]))
    return np.array(images).reshape(n, out, *images[0].shape)


@pytest.mark.parametrize(
    "kernel, options",
    [
        (3, {}),
        ((3, 2), {"pad_mode": "valid", "has_bias": True}),
        (3, {"stride": 2}),
        (2, {"stride": (2, 1), "pad_mode": "valid"}),
        (3, {"pad_mode": "pad", "padding": 1, "group": 2, "stride": 2}),
        (2, {"dilation": 2, "pad_mode": "valid"}),
        (1, {"has_bias": True}),
    ],
)
def test_conv2d_is_a_sum_of_correlations(kernel, options):
    layer = nn.Conv2d(4, 6, kernel, dtype=F64, **options)
    x = random(2, 4, 6, 7)
    expected = convolved(
        x,
        np.asarray(layer.weight),
        None if layer.bias is None else np.asarray(layer.bias),
        layer.stride,
        layer.pad_mode,
        options.get("padding", 0),
        layer.dilation,
        layer.group,
    )
    close(layer(x), expected)
    close(jit(layer)(x), expected)


def test_conv1d_is_conv2d_of_one_row():
    layer = nn.Conv1d(2, 3, 3, stride=2, has_bias=True, dtype=F64)
    x = random(2, 2, 7)
    one, strides = (1, 2), np.asarray(layer.weight)[:, :, None]
    expected = convolved(x[:, :, None], strides, layer.bias, one, "same", 0, (1, 1), 1)
    close(layer(x), expected[:, :, 0])


def pooled(x, kernel, stride, function):
    """A function of each window, window by window."""
    rows = range(0, x.shape[2] - kernel[0] + 1, stride[0])
    columns = range(0, x.shape[3] - kernel[1] + 1, stride[1])
    windows = [[x[:, :, i : i + kernel[0], j : j + kernel[1]] for j in columns] for i in rows]
    return np.moveaxis(
        np.array([[function(w, axis=(2, 3)) for w in r] for r in windows]), (0, 1), (2, 3)
    )


@pytest.mark.parametrize(
    "kernel, stride", [((2, 2), (2, 2)), ((3, 2), (1, 2)), ((2, 3), (3, 3)), ((1, 1), (1, 1))]
)
@pytest.mark.parametrize("layer, function", [(nn.MaxPool2d, np.max), (nn.AvgPool2d, np.mean)])
def test_pooling_goes_window_by_window(layer, function, kernel, stride):
    x = random(2, 3, 6, 7)
    close(layer(kernel, stride)(x), pooled(x, kernel, stride, function))


def test_pooling_with_a_border():
    x = -1 - np.abs(random(1, 1, 5, 5))  # a border of zeros would be the maximum
    border = np.pad(x, ((0, 0), (0, 0), (1, 1), (1, 1)), constant_values=-np.inf)
    close(nn.MaxPool2d(3, 2, "same")(x), pooled(border, (3, 3), (2, 2), np.max))
    close(nn.MaxPool2d(3, 2, "pad", 1)(x), pooled(border, (3, 3), (2, 2), np.max))
    zeros = np.pad(x, ((0, 0), (0, 0), (1, 1), (1, 1)))
    close(nn.AvgPool2d(3, 2, "pad", 1)(x), pooled(zeros, (3, 3), (2, 2), np.mean))
    counts = pooled(
        np.pad(np.ones_like(x), ((0, 0), (0, 0), (1, 1), (1, 1))), (3, 3), (2, 2), np.sum
    )
    expected = pooled(zeros, (3, 3), (2, 2), np.sum) / counts
    close(nn.AvgPool2d(3, 2, "same")(x), expected)
    close(nn.AvgPool2d(3, 2, "pad", 1, count_include_pad=False)(x), expected)
    close(nn.AvgPool2d(2, 2, divisor_override=1)(x), pooled(x, (2, 2), (2, 2), np.sum))


def test_pooling_of_one_axis_and_to_a_size():
    x = random(2, 3, 8)
    close(nn.MaxPool1d(2, 2)(x), x.reshape(2, 3, 4, 2).max(3))
    close(nn.AvgPool1d(4, 4)(x), x.reshape(2, 3, 2, 4).mean(3))
    image = random(2, 3, 6, 4)
    close(nn.AdaptiveAvgPool2d((3, 1))(image), image.reshape(2, 3, 3, 2, 1, 4).mean((3, 5)))


@pytest.mark.parametrize(
    "make, shape",
    [(nn.BatchNorm1d, (5, 3)), (nn.BatchNorm1d, (5, 3, 4)), (nn.BatchNorm2d, (4, 3, 2, 5))],
)
def test_batch_norm_in_training_and_afterwards(make, shape):
    norm = make(3, momentum=0.8, gamma_init=2.0, beta_init=0.5, dtype=F64)
    x, axes = 3 + 2 * random(*shape), tuple(i for i in range(len(shape)) if i != 1)
    mean, var = x.mean(axes, keepdims=True), x.var(axes, keepdims=True)
    moved_mean, moved_var = 0.2 * mean, 0.8 + 0.2 * x.var(axes, keepdims=True, ddof=1)
    close(norm(x), 2 * x / np.sqrt(1 + 1e-5) + 0.5)
    norm.set_train()
    close(norm(x), 2 * (x - mean) / np.sqrt(var + 1e-5) + 0.5)
    close(norm.moving_mean, moved_mean.ravel())
    close(norm.moving_variance, moved_var.ravel())
    norm.set_train(False)
    expected = 2 * (x - moved_mean) / np.sqrt(moved_var + 1e-5) + 0.5
    close(norm(x), expected)
    close(jit(norm)(x), expected)
    assert [p.name for p in norm.trainable_params()] == ["gamma", "beta"]


def test_batch_norm_moves_its_statistics_in_compiled_code_once_a_call():
    eager, compiled = nn.BatchNorm1d(3).set_train(), nn.BatchNorm1d(3).set_train()
    step = value_and_grad(lambda x: (compiled(x) ** 2).sum(), None, compiled.trainable_params())
    for k in range(2):
        x = random(6, 3, seed=k).astype(np.float32)
        eager(x)
        step(x)
    close(compiled.moving_mean, np.asarray(eager.moving_mean), rtol=1e-5)
    close(compiled.moving_variance, np.asarray(eager.moving_variance), rtol=1e-5)


def normal(x, axes, eps):
    return (x - x.mean(axes, keepdims=True)) / np.sqrt(x.var(axes, keepdims=True) + eps)


def test_layer_group_and_instance_norm():
    x = random(2, 4, 3, 5)
    gamma, beta = random(3, 5, seed=1), random(3, 5, seed=2)
    layer = nn.LayerNorm((3, 5), gamma_init=gamma, beta_init=beta, dtype=F64)
    close(layer(x), normal(x, (2, 3), 1e-7) * gamma + beta)
    by_channel = np.arange(4.0)
    group = nn.GroupNorm(2, 4, gamma_init=by_channel, beta_init=1.0, dtype=F64)
    expected = normal(x.reshape(2, 2, -1), 2, 1e-5).reshape(x.shape)
    close(group(x), expected * by_channel[:, None, None] + 1)
    close(nn.InstanceNorm2d(4, dtype=F64)(x), normal(x, (2, 3), 1e-5))


def test_embedding_picks_rows_and_starts_with_a_row_of_zeros():
    layer = nn.Embedding(5, 2, padding_idx=3)
    index = np.array([[0, 3], [4, 0]])
    close(layer(index), np.asarray(layer.embedding_table)[index])
    assert not np.any(layer.embedding_table[3])
    counts = grad(lambda i: layer(i).sum(), None, layer.embedding_table)(index)
    close(counts, np.bincount(index.ravel(), minlength=5)[:, None] * np.ones((1, 2)))


def test_dropout_keeps_the_mean_in_training_and_all_otherwise():
    layer = nn.Dropout(p=0.25)
    x = np.ones(20_000)
    close(layer(x), x)
    layer.set_train()
    np.random.seed(0)
    for y in (layer(x), jit(layer)(x)):
        assert set(np.unique(y)) == {0.0, 1 / 0.75}
        assert np.mean(y) == pytest.approx(1, abs=0.02)
    assert nn.Dropout(keep_prob=0.9).p == pytest.approx(0.1)


def test_flatten_and_identity():
    x = random(2, 3, 4, 5)
    assert nn.Flatten()(x).shape == (2, 60)
    assert nn.Flatten(0, 1)(x).shape == (6, 4, 5)
    assert nn.Flatten(-2)(x).shape == (2, 3, 20)
    assert nn.Identity()(x) is x


# ---- gradients -----------------------------------------------------------------------------------

LAYERS = {
    "Dense": (lambda: nn.Dense(4, 3, activation="tanh", dtype=F64), (2, 4)),
    "Conv1d": (lambda: nn.Conv1d(2, 3, 3, has_bias=True, dtype=F64), (2, 2, 6)),
    "Conv2d": (lambda: nn.Conv2d(2, 3, 3, stride=2, has_bias=True, dtype=F64), (2, 2, 5, 4)),
    "Conv2d_groups": (
        lambda: nn.Conv2d(4, 2, 2, pad_mode="pad", padding=1, group=2, dtype=F64),
        (2, 4, 4, 3),
    ),
    "MaxPool2d": (lambda: nn.MaxPool2d(3, 2, "same"), (2, 2, 5, 4)),
    "AvgPool2d": (lambda: nn.AvgPool2d(2, 2), (2, 2, 4, 4)),
    "BatchNorm2d": (lambda: nn.BatchNorm2d(3, dtype=F64).set_train(), (3, 3, 2, 2)),
    "BatchNorm2d_running": (lambda: nn.BatchNorm2d(3, dtype=F64), (3, 3, 2, 2)),
    "LayerNorm": (lambda: nn.LayerNorm(4, dtype=F64), (3, 4)),
    "GroupNorm": (lambda: nn.GroupNorm(2, 4, dtype=F64), (2, 4, 3)),
    "PReLU": (lambda: nn.PReLU(3), (2, 3, 2)),
    "Sequential": (
        lambda: nn.SequentialCell(
            nn.Conv2d(1, 2, 3, dtype=F64),
            nn.ReLU(),
            nn.MaxPool2d(2, 2),
            nn.Flatten(),
            nn.Dense(8, 2, dtype=F64),
        ),
        (2, 1, 4, 4),
    ),
}


def check_gradients(net, x, of=lambda y: y):
    """Value, gradient of the input and of each parameter against central differences."""
    parameters = net.trainable_params()
    for each in parameters:
        each += 0.1 * random(*each.shape, seed=7).astype(each.dtype)
    weight = random(*of(net(x)).shape, seed=3)

    def loss(x):
        return np.sum(weight * of(net(x)))

    before = float(loss(x))
    value, (x_bar, bars) = value_and_grad(loss, 0, parameters)(x)
    assert float(value) == pytest.approx(before, rel=1e-6)
    h, direction = 1e-6, random(*x.shape, seed=5)
    slope = float(loss(x + h * direction) - loss(x - h * direction)) / (2 * h)
    assert np.sum(np.asarray(x_bar) * direction) == pytest.approx(slope, rel=1e-4, abs=1e-6)
    for each, bar in zip(parameters, bars, strict=True):
        h, kept = (1e-6 if each.dtype == F64 else 1e-2), np.array(each)
        step = random(*each.shape, seed=9).astype(each.dtype)
        each.set_data(kept + h * step)
        above = float(loss(x))
        each.set_data(kept - h * step)
        slope = (above - float(loss(x))) / (2 * h)
        each.set_data(kept)
        assert bar.shape == each.shape
        rel = 1e-4 if each.dtype == F64 else 1e-2
        assert np.sum(np.asarray(bar) * step) == pytest.approx(slope, rel=rel, abs=1e-6)


@pytest.mark.parametrize("name", LAYERS)
def test_gradients_of_inputs_and_parameters(name):
    make, shape = LAYERS[name]
    check_gradients(make(), random(*shape))


SAMPLES = ["Dense", "Conv2d", "MaxPool2d", "LayerNorm", "GroupNorm", "Sequential"]


@pytest.mark.parametrize("name", SAMPLES)
def test_gradients_of_each_sample_against_a_loop(name):
    make, shape = LAYERS[name]
    net, x = make(), random(3, 1, *shape[1:])  # a batch of batches of one

    def loss(x):
        return np.sum(net(x) ** 2)

    one = grad(loss, 0, net.trainable_params())
    singles = [one(each) for each in x]
    x_bar, bars = vmap(one)(x)
    close(x_bar, np.stack([np.asarray(each[0]) for each in singles]))
    for i, bar in enumerate(bars):
        close(bar, np.stack([np.asarray(each[1][i]) for each in singles]))


# ---- recurrent layers ----------------------------------------------------------------------------


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def one_step(kind, weights, x, state):
    """One step by the textbook."""
    w_ih, w_hh, b_ih, b_hh = map(np.asarray, weights)
    given, h = x @ w_ih.T + b_ih, state[0]
    back = h @ w_hh.T + b_hh
    if kind == "RNN":
        return (np.tanh(given + back),)
    size = h.shape[-1]
    parts = lambda a: [a[..., i : i + size] for i in range(0, a.shape[-1], size)]
    if kind == "LSTM":
        i, f, g, o = parts(given + back)
        c = sigmoid(f) * state[1] + sigmoid(i) * np.tanh(g)
        return sigmoid(o) * np.tanh(c), c
    (r, z, n), (hr, hz, hn) = parts(given), parts(back)
    r, z = sigmoid(r + hr), sigmoid(z + hz)
    n = np.tanh(n + r * hn)
    return ((1 - z) * n + z * h,)


STATES = {"RNN": 1, "LSTM": 2, "GRU": 1}


def weights_of(net, suffix=""):
    names = ("weight_ih", "weight_hh", "bias_ih", "bias_hh")
    return [getattr(net, name + suffix) for name in names]


@pytest.mark.parametrize("kind", STATES)
def test_one_step_of_a_recurrent_cell(kind):
    cell = getattr(nn, f"{kind}Cell")(3, 4, dtype=F64)
    x, state = random(2, 3), [random(2, 4, seed=i) for i in range(STATES[kind])]
    expected = one_step(kind, weights_of(cell), x, state)
    got = cell(x, tuple(state) if STATES[kind] > 1 else state[0])
    for a, b in zip(got if STATES[kind] > 1 else (got,), expected, strict=True):
        close(a, b)


@pytest.mark.parametrize("kind", STATES)
@pytest.mark.parametrize("lengths", [None, [4, 2]])
def test_sequences_go_step_by_step_in_layers_and_directions(kind, lengths):
    net = getattr(nn, kind)(3, 4, num_layers=2, bidirectional=True, batch_first=True, dtype=F64)
    x, outputs, last = random(2, 4, 3), [], []
    count = lengths or [4, 4]
    for sample in range(2):  # one sample after the other, so lengths are loops that end earlier
        inputs = x[sample, : count[sample]]
        for layer in range(2):
            both = []
            for suffix in (f"_l{layer}", f"_l{layer}_reverse"):
                state, ys = [np.zeros(4)] * STATES[kind], []
                for step in inputs[::-1] if "reverse" in suffix else inputs:
                    state = one_step(kind, weights_of(net, suffix), step, state)
                    ys.append(state[0])
                both.append(np.array(ys[::-1] if "reverse" in suffix else ys))
                last.append(state)
            inputs = np.concatenate(both, axis=-1)
        outputs.append(np.vstack([inputs, np.zeros((4 - count[sample], 8))]))
    given = None if lengths is None else np.array(lengths)
    for run in (net, jit(net)):
        y, state = run(x, None, given) if lengths else run(x)
        close(y, np.array(outputs))
        states = state if STATES[kind] > 1 else (state,)
        for i, each in enumerate(states):
            expected = np.array([pair[i] for pair in last]).reshape(2, 4, 4)
            close(each, np.swapaxes(expected, 0, 1))


@pytest.mark.parametrize("kind", STATES)
def test_gradients_of_a_sequence(kind):
    net = getattr(nn, kind)(3, 2, dtype=F64)
    check_gradients(net, random(4, 2, 3), of=lambda y: y[0])


def test_names_of_recurrent_parameters():
    names = [each.name for each in nn.GRU(2, 3, bidirectional=True).get_parameters()]
    parts = ["weight_ih_l0", "weight_hh_l0", "bias_ih_l0", "bias_hh_l0"]
    assert names == [*parts, *(f"{each}_reverse" for each in parts)]


# ---- attention -----------------------------------------------------------------------------------


def attended(net, query, key, value, counts):
    """Head by head and position by position, of one sample."""
    w, b, size = np.asarray(net.in_proj_weight), np.asarray(net.in_proj_bias), net.embed_dim
    parts = [slice(i * size, (i + 1) * size) for i in range(3)]
    pairs = zip((query, key, value), parts, strict=True)
    q, k, v = (x @ w[part].T + b[part] for x, part in pairs)
    width, rows, weights = net.head_dim, [], 0.0
    for head in range(net.num_heads):
        own = slice(head * width, (head + 1) * width)
        scores = np.where(counts, q[:, own] @ k[:, own].T / math.sqrt(width), -np.inf)
        each = np.exp(scores - scores.max(1, keepdims=True))
        each /= each.sum(1, keepdims=True)
        rows.append(each @ v[:, own])
        weights = weights + each / net.num_heads
    mixed = np.concatenate(rows, axis=1)
    return mixed @ np.asarray(net.out_proj.weight).T + np.asarray(net.out_proj.bias), weights


@pytest.mark.parametrize("masks", [False, True])
def test_attention_head_by_head(masks):
    net = nn.MultiheadAttention(4, 2, batch_first=True, dtype=F64)
    net.in_proj_bias.set_data(random(12, seed=4))
    query, key, value = random(2, 3, 4), random(2, 5, 4, seed=1), random(2, 5, 4, seed=2)
    padding = np.arange(5) > np.array([[4], [2]])
    later = np.arange(5) > np.arange(3)[:, None]
    options = {"key_padding_mask": padding, "attn_mask": later} if masks else {}
    for run in (net, jit(net)):
        y, weights = run(query, key, value, **options)
        for i in range(2):
            counts = ~(padding[i] | later) if masks else np.ones((3, 5), bool)
            expected = attended(net, query[i], key[i], value[i], counts)
            close(y[i], expected[0])
            close(weights[i], expected[1])


def test_gradients_of_attention():
    net = nn.MultiheadAttention(4, 2, dtype=F64)
    check_gradients(nn_of_one_input(net), random(3, 2, 4))


def nn_of_one_input(net):
    class SelfAttention(nn.Cell):
        def __init__(self):
            super().__init__()
            self.net = net

        def construct(self, x):
            return self.net(x, x, x, need_weights=False)[0]

    return SelfAttention()


# ---- half precision ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "net, shape",
    [
        (nn.Dense(4, 3), (2, 4)),
        (nn.Conv2d(2, 3, 3, has_bias=True), (2, 2, 5, 4)),
        (nn.GRUCell(3, 2), None),
    ],
)
def test_layers_compute_in_half_precision_and_their_gradients_are_of_the_parameters(net, shape):
    inputs = (random(*shape),) if shape else (random(2, 3), random(2, 2))
    expected = np.asarray(net(*inputs))
    net.to_float(np.float16)

    def loss(*inputs):
        return net(*inputs).sum()

    y = net(*inputs)
    assert y.dtype == np.float16
    np.testing.assert_allclose(np.asarray(y, F64), expected, atol=2e-2)
    bars = grad(loss, None, net.trainable_params())(*inputs)
    assert {each.dtype for each in bars} == {np.dtype(np.float32)}


# ---- text ----------------------------------------------------------------------------------------


def test_the_gradient_of_two_layers_reads_as_numpy_with_the_names_of_the_parameters():
    class Model(nn.Cell):
        def __init__(self):
            super().__init__()
            self.fc1, self.fc2 = nn.Dense(3, 4), nn.Dense(4, 1)

        def construct(self, x):
            return self.fc2(np.tanh(self.fc1(x)))

    model = Model()
    text = grad(model, 0, model.trainable_params()).source(np.ones((2, 3), np.float32))
    for name in ("fc1_weight", "fc1_bias", "fc2_weight", "fc2_bias"):
        assert name in text
    assert "ops" not in text
    assert "self" not in text


# ---- refusals ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "make, error, message",
    [
        (lambda: nn.Dense("a", 2), ArgumentTypeError, "Dense: argument 'in_channels', got str 'a'"),
        (
            lambda: nn.Dense(0, 2),
            ArgumentValueError,
            "'in_channels', got int 0; expected an int gr",
        ),
        (lambda: nn.Dense(2, 3, has_bias=1), ArgumentTypeError, "'has_bias', got int 1"),
        (
            lambda: nn.Dense(2, 3, weight_init=Tensor(np.ones((2, 3)))),
            ArgumentValueError,
            r"Dense: argument 'weight_init' has shape \(2, 3\), expected \(3, 2\)",
        ),
        (lambda: nn.Dense(2, 3, weight_init="nope"), ArgumentValueError, "'he_normal', 'he_unif"),
        (lambda: nn.Dense(2, 3, activation="nope"), ArgumentValueError, "'relu', 'relu6'"),
        (lambda: nn.Dense(2, 3, activation=3), ArgumentTypeError, "'activation', got int 3"),
        (lambda: nn.Conv2d(3, 4, 3, group=2), ArgumentValueError, "a multiple of group=2"),
        (lambda: nn.Conv2d(2, 4, 3, pad_mode="x"), ArgumentValueError, "'same', 'valid', 'pad'"),
        (lambda: nn.Conv2d(2, 4, 3, padding=1), ArgumentValueError, "pad_mode='pad'"),
        (lambda: nn.Conv2d(2, 4, (3, 3, 3)), ArgumentValueError, "'kernel_size'"),
        (lambda: nn.Conv2d(2, 4, 3, data_format="NHWC"), ArgumentValueError, "'data_format'"),
        (lambda: nn.MaxPool2d(0), ArgumentValueError, "'kernel_size'"),
        (lambda: nn.MaxPool2d(2, padding=1), ArgumentValueError, "'padding'"),
        (lambda: nn.BatchNorm2d(3, momentum=2.0), ArgumentValueError, "'momentum'"),
        (lambda: nn.BatchNorm2d(3)(np.ones((2, 3))), ArgumentValueError, "an array of 4 axes"),
        (
            lambda: nn.BatchNorm2d(3)(np.ones((2, 4, 1, 1))),
            ArgumentValueError,
            "length 4; expected 3",
        ),
        (lambda: nn.GroupNorm(2, 3), ArgumentValueError, "a multiple of num_groups=2"),
        (lambda: nn.LayerNorm("a"), ArgumentTypeError, "'normalized_shape'"),
        (lambda: nn.Dropout(p=1.0), ArgumentValueError, r"Dropout: argument 'p', .*\[0, 1\)"),
        (lambda: nn.Dropout(keep_prob=0.0), ArgumentValueError, "'keep_prob'"),
        (lambda: nn.Embedding(3, 2, padding_idx=3), ArgumentValueError, "'padding_idx'"),
        (lambda: nn.RNN(3, 4, nonlinearity="x"), ArgumentValueError, "'tanh', 'relu'"),
        (lambda: nn.LSTM(3, 0), ArgumentValueError, "'hidden_size'"),
        (lambda: nn.get_activation("nope"), ArgumentValueError, "'relu'"),
    ],
)
def test_bad_arguments_are_refused_by_name(make, error, message):
    with pytest.raises(error, match=message):
        make()


X3, H = random(4, 5, 2), random(1, 5, 3)


@pytest.mark.parametrize(
    "layer, inputs, message",
    [
        (nn.LSTM, (X3[0],), "LSTM: argument 'x' has 2 axes; expected 3"),
        (nn.GRU, (X3, H[0]), "GRU: argument 'hx' has 2 axes; expected 3"),
        (nn.RNN, (X3, random(1, 1, 3)), r"'hx' has shape \(1, 1, 3\); expected \(1, 5, 3\)"),
        (nn.RNN, (X3, random(2, 5, 3)), r"'hx' has shape \(2, 5, 3\); expected \(1, 5, 3\)"),
        (nn.LSTM, (X3, (H, random(1, 5, 1))), r"'hx' has shape \(1, 5, 1\)"),
        (nn.LSTM, (X3, H), r"LSTM: argument 'hx' is no pair of Tensors; expected \(h, c\)"),
        (nn.RNNCell, (X3, H[0]), "RNNCell: argument 'x' has 3 axes; expected 2"),
        (nn.GRUCell, (X3[0], random(1, 3)), r"'hx' has shape \(1, 3\); expected \(5, 3\)"),
    ],
)
def test_states_that_would_broadcast_are_refused(layer, inputs, message):
    net = layer(2, 3, dtype=F64)
    for call in (net, jit(net)):
        with pytest.raises((ArgumentTypeError, ArgumentValueError), match=message):
            call(*inputs)


def test_a_parameter_may_stand_for_initial_values():
    layer = nn.Dense(2, 1, weight_init=Parameter(Tensor([[1.0, 2.0]])))
    assert layer.weight.name == "weight"
