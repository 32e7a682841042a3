"""The training recipes of MindSpore's tutorials, each as a user writes it."""

import numpy as np
import pytest

import s2s_ad as ms
from s2s_ad import Parameter, Tensor, grad, jacfwd, jacrev, jit, jvp, nn, ops, value_and_grad, vmap
from s2s_ad.amp import DynamicLossScaler, StaticLossScaler, all_finite

RNG = np.random.default_rng(3)
X = Tensor(RNG.standard_normal((8, 3)).astype(np.float32))
Y = Tensor(RNG.standard_normal((8, 2)).astype(np.float32))


def network():
    rng = np.random.default_rng(5)

    def init(*shape):
        return Tensor(rng.standard_normal(shape).astype(np.float32))

    hidden = nn.Dense(3, 4, init(4, 3), init(4), activation="tanh")
    return nn.SequentialCell(hidden, nn.Dense(4, 2, init(2, 4), init(2)))


def values(net):
    return [np.array(each) for each in net.trainable_params()]


def by_hand(net, x, y):
    """Loss (mean of squares) and gradients of the network, in float64."""
    w, b, v, c = (each.astype(np.float64) for each in values(net))
    x, y = np.asarray(x, np.float64), np.asarray(y, np.float64)
    h = np.tanh(x @ w.T + b)
    error = h @ v.T + c - y
    slope = 2 * error / error.size
    back = slope @ v * (1 - h**2)
    return np.mean(error**2), [back.T @ x, back.sum(0), slope.T @ h, slope.sum(0)]


def descended(net, rate, x=X, y=Y):
    """Where the parameters are after a step of gradient descent."""
    return [p - rate * g for p, g in zip(values(net), by_hand(net, x, y)[1], strict=True)]


def assert_values(net, expected, rtol=1e-4):
    for found, each in zip(values(net), expected, strict=True):
        np.testing.assert_allclose(found, each, rtol=rtol, atol=1e-5)


@pytest.mark.parametrize("compiled", [lambda f: f, jit], ids=["eager", "jit"])
class TestStep:
    def test_functional_step(self, compiled):
        net, loss_fn = network(), nn.MSELoss()
        optimizer = nn.SGD(net.trainable_params(), learning_rate=0.1)

        def forward_fn(x, y):
            logits = net(x)
            return loss_fn(logits, y), logits

        grad_fn = value_and_grad(forward_fn, None, optimizer.parameters, has_aux=True)

        @compiled
        def train_step(x, y):
            (loss, _), grads = grad_fn(x, y)
            optimizer(grads)
            return loss

        for _ in range(3):
            (loss, _), expected = by_hand(net, X, Y), descended(net, 0.1)
            np.testing.assert_allclose(train_step(X, Y).asnumpy(), loss, rtol=1e-5)
            assert_values(net, expected)

    def test_gradients_clipped_by_their_global_norm(self, compiled):
        net, loss_fn = network(), nn.MSELoss()
        optimizer = nn.SGD(net.trainable_params(), learning_rate=0.1)
        grad_fn = value_and_grad(lambda x, y: loss_fn(net(x), y), None, optimizer.parameters)

        @compiled
        def train_step(x, y):
            loss, grads = grad_fn(x, y)
            optimizer(ops.clip_by_global_norm(grads, 0.25))
            return loss

        before, (_, grads) = values(net), by_hand(net, X, Y)
        norm = np.sqrt(sum(np.sum(g**2) for g in grads))
        assert norm > 0.25
        train_step(X, Y)
        expected = [p - 0.1 * 0.25 / norm * g for p, g in zip(before, grads, strict=True)]
        assert_values(net, expected)

    def test_loss_scale(self, compiled):
        net, loss_fn = network(), nn.MSELoss()
        optimizer = nn.SGD(net.trainable_params(), learning_rate=0.1)
        scaler = DynamicLossScaler(scale_value=2.0**10, scale_factor=2, scale_window=2)

        def forward_fn(x, y):
            loss = loss_fn(net(x), y)
            return scaler.scale(loss), loss

        grad_fn = value_and_grad(forward_fn, None, optimizer.parameters, has_aux=True)

        @compiled
        def train_step(x, y):
            (_, loss), grads = grad_fn(x, y)
            grads = scaler.unscale(grads)
            finite = all_finite(grads)
            if finite:
                optimizer(grads)
            scaler.adjust(finite)
            return loss

        scales = []
        for factor in (1.0, 1.0, np.inf, 1.0):
            expected = descended(net, 0.1) if np.isfinite(factor) else values(net)
            with np.errstate(all="ignore"):
                train_step(X, Y * factor)
            assert_values(net, expected)
            scales.append(scaler.scale_value.item())
        assert scales == [2.0**10, 2.0**11, 2.0**10, 2.0**10]

    def test_accumulated_gradients_are_those_of_the_whole_batch(self, compiled):
        net, loss_fn, parts = network(), nn.MSELoss(), 4
        optimizer = nn.SGD(net.trainable_params(), learning_rate=0.1)
        accumulated = optimizer.parameters.clone(prefix="accumulated", init="zeros")
        counter = Parameter(Tensor(0, ms.int32), name="counter")

        def forward_fn(x, y):
            return loss_fn(net(x), y) / parts

        grad_fn = value_and_grad(forward_fn, None, optimizer.parameters)

        @compiled
        def train_step(x, y):
            loss, grads = grad_fn(x, y)
            for total, each in zip(accumulated, grads):
                ops.assign_add(total, each)
            ops.assign_add(counter, Tensor(1, ms.int32))
            if counter % parts == 0:
                optimizer(accumulated)
                for total in accumulated:
                    ops.assign(total, ops.zeros_like(total))
            return loss

        for _ in range(2):
            expected = descended(net, 0.1)
            for start in range(0, 8, 2):
                train_step(X[start : start + 2], Y[start : start + 2])
            assert_values(net, expected)
        assert counter.item() == 8

    def test_a_static_scale_changes_nothing_but_the_range(self, compiled):
        net, loss_fn = network(), nn.MSELoss()
        scaler = StaticLossScaler(2.0**8)
        grad_fn = compiled(
            grad(lambda x, y: scaler.scale(loss_fn(net(x), y)), None, net.trainable_params())
        )
        plain = grad(lambda x, y: loss_fn(net(x), y), None, net.trainable_params())
        for scaled, each in zip(scaler.unscale(grad_fn(X, Y)), plain(X, Y), strict=True):
            np.testing.assert_array_equal(scaled, each)


def test_a_gradient_function_made_elsewhere_may_be_called_in_a_compiled_step():
    """The parameters of a SequentialCell are called '0.weight', which no name of Python is."""

    def made(net, loss_fn):
        grad_fn = grad(lambda x, y: loss_fn(net(x), y), None, net.trainable_params())
        return jit(lambda x, y: grad_fn(x, y))

    net = network()
    _, expected = by_hand(net, X, Y)
    for each, slope in zip(made(net, nn.MSELoss())(X, Y), expected, strict=True):
        np.testing.assert_allclose(each, slope, rtol=1e-4, atol=1e-5)


def test_gradients_of_each_sample():
    net, loss_fn = network(), nn.MSELoss()
    slopes = vmap(grad(lambda x, y: loss_fn(net(x), y), None, net.trainable_params()))(X, Y)
    for i in range(len(X)):
        _, expected = by_hand(net, X[i : i + 1], Y[i : i + 1])
        for each, one in zip(slopes, expected, strict=True):
            np.testing.assert_allclose(each[i], one, rtol=1e-4, atol=1e-5)


def test_hessian_and_its_product_with_a_vector():
    matrix = np.array([[2.0, 1.0, 0.0], [1.0, 3.0, -1.0], [0.0, -1.0, 4.0]], np.float32)
    quadratic = lambda x: 0.5 * (x @ Tensor(matrix) @ x) + ops.sum(x**3)
    x, v = Tensor([1.0, -2.0, 0.5]), Tensor([0.5, 1.0, -1.0])
    hessian = matrix + np.diag(6 * x.asnumpy())
    np.testing.assert_allclose(jacfwd(jacrev(quadratic))(x), hessian, rtol=1e-5)
    _, product = jvp(grad(quadratic), x, v)
    np.testing.assert_allclose(product, hessian @ v.asnumpy(), rtol=1e-5)


@pytest.mark.parametrize("sens", [None, 2.0])
def test_classic_step(sens):
    net = network()
    optimizer = nn.SGD(net.trainable_params(), learning_rate=0.1)
    step = nn.TrainOneStepCell(nn.WithLossCell(net, nn.MSELoss()), optimizer, sens=sens)
    step.set_train()
    for _ in range(3):
        (loss, _), expected = by_hand(net, X, Y), descended(net, 0.1 * (sens or 1.0))
        np.testing.assert_allclose(step(X, Y), loss, rtol=1e-5)
        assert_values(net, expected)


def test_classic_step_gives_the_gradients_by_name():
    net = network()
    optimizer = nn.SGD(net.trainable_params(), learning_rate=0.1)
    loss_net = nn.WithLossCell(net, nn.MSELoss())
    _, grads = by_hand(net, X, Y)
    _, found = nn.TrainOneStepCell(loss_net, optimizer, return_grad=True)(X, Y)
    assert list(found) == [each.name for each in net.trainable_params()]
    for each, expected in zip(found.values(), grads, strict=True):
        np.testing.assert_allclose(each, expected, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("compiled", [lambda f: f, jit], ids=["eager", "jit"])
def test_classic_step_with_loss_scale(compiled):
    net = network()
    optimizer = nn.SGD(net.trainable_params(), learning_rate=0.1)
    manager = nn.DynamicLossScaleUpdateCell(8.0, scale_factor=2, scale_window=2)
    loss_net = nn.WithLossCell(net, nn.MSELoss())
    cell = nn.TrainOneStepWithLossScaleCell(loss_net, optimizer, manager)
    step = compiled(lambda x, y: cell(x, y))
    seen = []
    for factor in (1.0, 1.0, np.inf, 1.0):
        expected = descended(net, 0.1) if np.isfinite(factor) else values(net)
        with np.errstate(all="ignore"):
            _, overflow, scale = step(X, Y * factor)
        assert_values(net, expected)
        seen.append((bool(overflow), float(scale)))
    assert seen == [(False, 8.0), (False, 8.0), (True, 16.0), (False, 8.0)]


def test_a_fixed_scale_may_be_set():
    net = network()
    optimizer = nn.SGD(net.trainable_params(), learning_rate=0.1)
    loss_net = nn.WithLossCell(net, nn.MSELoss())
    step = nn.TrainOneStepWithLossScaleCell(loss_net, optimizer, Tensor(8.0))
    expected = descended(net, 0.1)
    assert float(step(X, Y)[2]) == 8.0
    assert_values(net, expected)
    step.set_sense_scale(Tensor(2.0))
    assert float(step(X, Y)[2]) == 2.0


def test_evaluation():
    net = network()
    loss, outputs, label = nn.WithEvalCell(net, nn.MSELoss())(X, Y)
    np.testing.assert_allclose(loss, by_hand(net, X, Y)[0], rtol=1e-5)
    np.testing.assert_array_equal(outputs, net(X))
    np.testing.assert_array_equal(label, Y)
    assert len(nn.WithEvalCell(net, None)(X, Y)) == 2


def test_an_ensemble_of_models_with_stacked_weights():
    nets = [network() for _ in range(3)]
    for i, net in enumerate(nets):
        for each in net.trainable_params():
            each.set_data(each + 0.25 * i)
    stacked = tuple(
        ops.stack([net.trainable_params()[k] for net in nets]) for k in range(len(values(nets[0])))
    )

    def model(weights, x):
        w, b, v, c = weights
        return ops.tanh(x @ w.T + b) @ v.T + c

    outputs = jit(vmap(model, in_axes=(0, None)))(stacked, X)
    for output, net in zip(outputs, nets, strict=True):
        np.testing.assert_allclose(output, net(X), rtol=1e-5, atol=1e-6)


REFUSED = [
    (lambda net, opt: nn.TrainOneStepCell(3, opt), "'network'.*int 3"),
    (lambda net, opt: nn.TrainOneStepCell(net, 3), "'optimizer'.*int 3"),
    (lambda net, opt: nn.TrainOneStepCell(net, opt, sens="x"), "'sens'.*'x'"),
    (lambda net, opt: nn.TrainOneStepCell(net, opt, return_grad=1), "'return_grad'.*int 1"),
    (lambda net, opt: nn.TrainOneStepWithLossScaleCell(net, opt, 3), "'scale_sense'.*int 3"),
    (lambda net, opt: nn.TrainOneStepWithLossScaleCell(net, opt, X), "'scale_sense'"),
    (lambda net, opt: nn.WithLossCell(3, nn.MSELoss()), "'backbone'.*int 3"),
    (lambda net, opt: nn.WithLossCell(net, 4), "'loss_fn'.*int 4"),
    (lambda net, opt: nn.WithEvalCell(net, 4), "'loss_fn'.*int 4"),
]


@pytest.mark.parametrize("call, message", REFUSED)
def test_what_makes_no_sense_is_refused_by_name(call, message):
    net = network()
    with pytest.raises(TypeError, match=message):
        call(net, nn.SGD(net.trainable_params()))
