"""Optimizers do what MindSpore 2.10 does: recorded runs of four steps on two parameters."""

import json
import platform
from pathlib import Path

import numpy as np
import pytest

import s2s_ad
from s2s_ad import Parameter, Tensor, jit, nn

DATA = Path(__file__).parents[1] / "data/training"
RECORD = json.loads((DATA / "optimizers.json").read_text())
SCHEDULES = json.loads((DATA / "schedules.json").read_text())
RUNS = RECORD["runs"]


def parameters():
    return [
        Parameter(np.array(value, np.float32), name=name) for name, value in RECORD["start"].items()
    ]


def gradients(optimizer, step):
    given = RECORD["gradients"][step]
    return tuple(Tensor(np.array(given[each.name], np.float32)) for each in optimizer.parameters)


def made(text, ps):
    return eval(text, {"nn": nn, "ps": ps, "Tensor": Tensor})


def assert_close(found, expected):
    np.testing.assert_allclose(np.asarray(found), expected, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("run", RUNS, ids=lambda run: run["optimizer"])
def test_each_step_leaves_the_parameters_where_mindspore_does(run):
    ps = parameters()
    memory = [each.ctypes.data for each in ps]
    optimizer = made(run["optimizer"], ps)
    assert type(optimizer.parameters).__name__ == "ParameterTuple"
    assert [each.name for each in optimizer.parameters] == run["order"]
    for step, expected in enumerate(run["trace"]):
        assert optimizer(gradients(optimizer, step)) == (True, True)
        for each in ps:
            assert_close(each, expected[each.name])
    assert [each.ctypes.data for each in ps] == memory


@pytest.mark.parametrize("run", RUNS, ids=lambda run: run["optimizer"])
def test_the_state_has_the_names_dtypes_and_values_of_mindspore(run):
    optimizer = made(run["optimizer"], parameters())
    for step in range(len(run["trace"])):
        optimizer(gradients(optimizer, step))
    found = {each.name: each for each in optimizer.get_parameters()}
    assert set(found) == set(run["state"])
    for name, (dtype, value) in run["state"].items():
        assert str(found[name].dtype) == dtype
        assert_close(found[name].ravel(), np.ravel(value)[: found[name].size])


@pytest.mark.parametrize("text", list(SCHEDULES["lists"]))
def test_lists_of_rates_are_those_of_mindspore(text):
    np.testing.assert_allclose(made(text, None), SCHEDULES["lists"][text], rtol=1e-7)


@pytest.mark.parametrize("text", list(SCHEDULES["schedules"]))
def test_schedules_give_the_rates_of_mindspore(text):
    schedule = made(text, None)
    expected = SCHEDULES["schedules"][text]
    found = [float(schedule(Tensor(step, s2s_ad.int32))) for step in range(len(expected))]
    np.testing.assert_allclose(found, expected, rtol=1e-5)


# What MindSpore's CPU kernels leave out: the formulas of the documentation, element by element.


def one_parameter(value, gradient, make, steps=3):
    p = Parameter(np.array(value, np.float64), name="p")
    optimizer = make([p])
    for _ in range(steps):
        optimizer((np.array(gradient, np.float64),))
    return np.asarray(p)


def test_nesterov_momentum_goes_along_the_gradient_after_the_step():
    value, moments = np.array([1.0, -2.0]), np.zeros(2)
    gradient = np.array([0.5, 0.25])
    for _ in range(3):
        moments = 0.5 * moments + gradient
        value = value - 0.25 * (gradient + 0.5 * moments)
    found = one_parameter(
        [1.0, -2.0], gradient, lambda ps: nn.Momentum(ps, 0.25, 0.5, use_nesterov=True)
    )
    np.testing.assert_allclose(found, value, rtol=1e-12)


def test_adagrad_may_keep_its_sums():
    value, gradient = np.array([1.0, -2.0]), np.array([0.5, 4.0])
    expected = value - 3 * 0.25 * gradient / np.sqrt(0.25)
    make = lambda ps: nn.Adagrad(ps, accum=0.25, learning_rate=0.25, update_slots=False)
    np.testing.assert_allclose(one_parameter(value, gradient, make), expected, rtol=1e-12)


@pytest.mark.parametrize("decay", [0.0, 0.5])
def test_a_step_of_lamb_is_as_long_as_the_parameter_times_the_rate(decay):
    value, gradient = np.array([3.0, 4.0]), np.array([0.5, -1.0])
    m, v, expected = np.zeros(2), np.zeros(2), value
    for t in (1, 2, 3):
        m, v = 0.75 * m + 0.25 * gradient, 0.5 * v + 0.5 * gradient**2
        step = (m / (1 - 0.75**t)) / (np.sqrt(v / (1 - 0.5**t)) + 0.125) + decay * expected
        ratio = np.linalg.norm(expected) / np.linalg.norm(step)
        expected = expected - 0.25 * ratio * step
    make = lambda ps: nn.Lamb(ps, 0.25, beta1=0.75, beta2=0.5, eps=0.125, weight_decay=decay)
    np.testing.assert_allclose(one_parameter(value, gradient, make), expected, rtol=1e-5)


def test_centralized_gradients_have_mean_zero_over_what_leads_to_one_output():
    p = Parameter(np.zeros((2, 3)), name="p")
    group = {"params": [p], "grad_centralization": True}
    nn.SGD([group], 1.0)((np.array([[1.0, 2.0, 6.0], [1.0, 1.0, 1.0]]),))
    np.testing.assert_allclose(np.asarray(p), [[2.0, 1.0, -3.0], [0.0, 0.0, 0.0]])


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_parameters_and_state_keep_their_dtype(dtype):
    p = Parameter(np.ones(3, dtype), name="p")
    optimizer = nn.Adam([p], 0.5)
    optimizer((np.array([1.0, -2.0, 4.0], dtype),))
    assert np.asarray(p).dtype == dtype
    assert np.asarray(optimizer.moment1[0]).dtype == dtype
    np.testing.assert_allclose(np.asarray(p), [0.5, 1.5, 0.5], rtol=1e-3)


@pytest.mark.parametrize(
    "given", [lambda g: (g,), lambda g: [g], lambda g: g], ids=["tuple", "list", "bare"]
)
def test_gradients_come_as_a_tuple_a_list_or_alone(given):
    p = Parameter(Tensor([1.0, 2.0]), name="p")
    assert nn.SGD([p], 0.5)(given(Tensor([1.0, 1.0]))) == (True,)
    assert_close(p, [0.5, 1.5])


def test_the_learning_rate_is_a_parameter_that_can_be_set():
    p = Parameter(Tensor([0.0]), name="p")
    optimizer = nn.SGD([p], 0.5)
    optimizer((Tensor([1.0]),))
    optimizer.learning_rate.set_data(Tensor(0.25))
    optimizer((Tensor([1.0]),))
    assert_close(p, [-0.75])
    assert optimizer.get_lr_parameter(p) is optimizer.learning_rate


def test_a_list_of_rates_ends():
    p = Parameter(Tensor([0.0]), name="p")
    optimizer = nn.SGD([p], [0.5, 0.25])
    for expected in (-0.5, -0.75):
        optimizer((Tensor([1.0]),))
        assert_close(p, [expected])
    with pytest.raises(ValueError, match="a rate for each of 2 steps"):
        optimizer((Tensor([1.0]),))
    assert optimizer.global_step.asnumpy().tolist() == [2]


def test_weight_decay_may_change_with_the_step():
    class Later(nn.Cell):
        def construct(self, step):
            return 0.5 * step

    p = Parameter(Tensor([1.0]), name="p")
    optimizer = nn.SGD([p], 1.0, weight_decay=Later())
    for expected in (1.0, 0.5, 0.0):
        optimizer((Tensor([0.0]),))
        assert_close(p, [expected])


@pytest.mark.parametrize("order", ["C", "F"])
def test_parameters_move_whatever_their_order_in_memory(order):
    value, slope = np.arange(1.0, 7.0).reshape(2, 3), np.array([[1.0, -2, 3], [-4, 5, -6]])
    p = Parameter(np.asarray(value, order=order), name="p")
    nn.Adam([p], 0.5)((slope,))
    np.testing.assert_allclose(np.asarray(p), value - 0.5 * np.sign(slope), rtol=1e-4)


@pytest.mark.skipif(
    platform.libc_ver()[0] != "glibc", reason="of other allocators nothing is known"
)
def test_steps_do_not_take_their_memory_from_the_system_again_and_again():
    resource = pytest.importorskip("resource")
    p = Parameter(np.zeros(200_000, np.float32), name="p")
    slope, optimizer = np.ones(200_000, np.float32), nn.Adam([p])

    def faults(steps):
        before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
        for _ in range(steps):
            optimizer((slope.copy(),))
        return (resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before) / steps

    faults(3)
    assert faults(20) < 100  # an array of this size has 200 pages


# ---- refusals ------------------------------------------------------------------------------------

REFUSED = [
    ("nn.SGD([p], -0.1)", ValueError, "'learning_rate'.*-0.1"),
    ("nn.SGD([p], 'a')", TypeError, "'learning_rate'.*'a'"),
    ("nn.SGD([p], None)", TypeError, "'learning_rate'.*None"),
    ("nn.SGD([p], True)", TypeError, "'learning_rate'.*True"),
    ("nn.SGD([p], Tensor([[0.1]]))", ValueError, "'learning_rate'"),
    ("nn.SGD([p], [])", ValueError, "'learning_rate'"),
    ("nn.SGD([p], [0.5, -0.25])", ValueError, "'learning_rate'.*-0.25"),
    ("nn.SGD([p], float('nan'))", ValueError, "'learning_rate'.*nan"),
    ("nn.SGD([], 0.1)", ValueError, "'params' is empty"),
    ("nn.SGD(p, 0.1)", TypeError, "'params'.*a list of Parameters"),
    ("nn.SGD(None)", TypeError, "'params'.*None"),
    ("nn.SGD([3])", TypeError, "'params'.*int 3"),
    ("nn.SGD([p, {'params': [q]}])", TypeError, "'params'.*dict"),
    ("nn.SGD([p, p])", ValueError, "'p' is given twice"),
    ("nn.SGD([p, Parameter(Tensor([1.0]), name='p')])", ValueError, "'p' names two parameters"),
    ("nn.SGD([{'params': [p]}, {'params': [p]}])", ValueError, "'p' is given twice"),
    ("nn.SGD([{'lr': 0.1}])", ValueError, "group 0 needs the key 'params'"),
    ("nn.SGD([{'params': [p], 'foo': 1}])", ValueError, "no key 'foo'"),
    ("nn.SGD([{'params': []}])", ValueError, r"params\[0\]\['params'\]"),
    ("nn.SGD([{'params': [p], 'lr': -1.0}])", ValueError, "'learning_rate'.*-1.0"),
    ("nn.SGD([{'params': [p], 'weight_decay': -1.0}])", ValueError, "'weight_decay'.*-1.0"),
    ("nn.SGD([{'params': [p]}, {'order_params': [q]}])", ValueError, "order_params"),
    ("nn.SGD([p], momentum=-1.0)", ValueError, "'momentum'.*-1.0"),
    ("nn.SGD([p], dampening=-1.0)", ValueError, "'dampening'.*-1.0"),
    ("nn.SGD([p], nesterov=True)", ValueError, "nesterov=True needs momentum above 0"),
    ("nn.SGD([p], momentum=0.9, dampening=0.1, nesterov=True)", ValueError, "dampening=0.1"),
    ("nn.SGD([p], nesterov=1)", TypeError, "'nesterov'.*int 1"),
    ("nn.SGD([p], weight_decay=-1.0)", ValueError, "'weight_decay'.*-1.0"),
    ("nn.SGD([p], loss_scale=0.0)", ValueError, "'loss_scale'.*0.0"),
    ("nn.Momentum([p], 0.1)", TypeError, "momentum"),
    ("nn.Momentum([p], 0.1, -0.1)", ValueError, "'momentum'.*-0.1"),
    ("nn.Adam([p], beta1=1.0)", ValueError, "'beta1'.*1.0"),
    ("nn.Adam([p], beta2=0.0)", ValueError, "'beta2'.*0.0"),
    ("nn.Adam([p], eps=0.0)", ValueError, "'eps'.*0.0"),
    ("nn.Adam([p], eps='x')", TypeError, "'eps'.*'x'"),
    ("nn.Adam([p], use_amsgrad=1)", TypeError, "'use_amsgrad'.*int 1"),
    ("nn.RMSProp([p], decay=-0.1)", ValueError, "'decay'.*-0.1"),
    ("nn.Adagrad([p], accum=-1.0)", ValueError, "'accum'.*-1.0"),
    ("nn.Adadelta([p], rho=1.5)", ValueError, "'rho'.*1.5"),
    ("nn.SGD([p])(())", TypeError, "SGD: got 0 gradients for 1 parameter\n"),
    ("nn.SGD([p])((g, g))", TypeError, "SGD: got 2 gradients for 1 parameter\n"),
    ("nn.SGD([p])((g[:1],))", ValueError, r"'p' has not its shape, \(2,\)"),
    ("nn.SGD([p]).get_lr_parameter(q)", ValueError, "'param'.*'q'"),
    ("nn.exponential_decay_lr(0.0, 0.9, 6, 2, 1)", ValueError, "'learning_rate'.*0.0"),
    ("nn.exponential_decay_lr(0.1, 0.9, 6.0, 2, 1)", TypeError, "'total_step'.*6.0"),
    ("nn.exponential_decay_lr(0.1, -0.9, 6, 2, 1)", ValueError, "'decay_rate'.*-0.9"),
    ("nn.natural_exp_decay_lr(0.1, 0.9, 6, 0, 1)", ValueError, "'step_per_epoch'.*0"),
    ("nn.inverse_decay_lr(0.1, 0.9, 6, 2, 1, 1)", TypeError, "'is_stair'.*int 1"),
    ("nn.cosine_decay_lr(0.1, 0.1, 6, 2, 1)", ValueError, "'max_lr'.*above min_lr"),
    ("nn.polynomial_decay_lr(0.1, -0.2, 6, 2, 1, 0.5)", ValueError, "'end_learning_rate'.*-0.2"),
    ("nn.polynomial_decay_lr(0.1, 0.1, 6, 2, 1, -0.5)", ValueError, "'power'.*-0.5"),
    ("nn.warmup_lr(0.1, 6, 2, 0)", ValueError, "'warmup_epoch'.*0"),
    ("nn.piecewise_constant_lr([2, 5], [0.1])", ValueError, "2 milestones and 1 learning rates"),
    ("nn.piecewise_constant_lr([5, 2], [0.1, 0.2])", ValueError, r"milestone\[1\].*2"),
    ("nn.piecewise_constant_lr(5, [0.1])", TypeError, "'milestone'.*int 5"),
    ("nn.ExponentialDecayLR(0.1, 0.9, 0)", ValueError, "'decay_steps'.*0"),
    ("nn.CosineDecayLR(0.1, 0.1, 4)", ValueError, "'max_lr'.*above min_lr"),
    ("nn.PolynomialDecayLR(0.1, 0.01, 4, 0)", ValueError, "'power'.*0"),
    ("nn.WarmUpLR(-0.1, 4)", ValueError, "'learning_rate'.*-0.1"),
]


@pytest.mark.parametrize("text, kind, message", REFUSED, ids=[row[0] for row in REFUSED])
def test_what_makes_no_sense_is_refused_by_name(text, kind, message):
    space = {"nn": nn, "Tensor": Tensor, "Parameter": Parameter}
    space["p"] = Parameter(Tensor([1.0, 2.0]), name="p")
    space["q"] = Parameter(Tensor([1.0]), name="q")
    space["g"] = Tensor([1.0, 1.0])
    with pytest.raises(kind, match=message):
        eval(text, space)
    assert space["p"].asnumpy().tolist() == [1.0, 2.0]


# ---- compiled ------------------------------------------------------------------------------------

COMPILED = [
    "nn.SGD(ps, 0.05, momentum=0.9, dampening=0.3, weight_decay=0.1, loss_scale=4.0)",
    "nn.SGD(ps, 0.05, momentum=0.9, nesterov=True)",
    "nn.SGD(ps, [0.1, 0.2, 0.3, 0.4])",
    "nn.SGD(ps, nn.ExponentialDecayLR(0.1, 0.5, 2))",
    "nn.Momentum(ps, nn.PolynomialDecayLR(0.1, 0.01, 3, 2.0, True), 0.9, weight_decay=0.2)",
    "nn.SGD([{'params': ps[:1], 'lr': 0.5, 'weight_decay': 0.3}, {'params': ps[1:]}])",
    "nn.SGD([{'params': ps[1:], 'lr': [0.2] * 4}, {'params': ps[:1]}, {'order_params': ps}])",
    "nn.Adam(ps, 0.1, weight_decay=0.3)",
    "nn.Adam(ps, 0.1, use_nesterov=True, use_amsgrad=True, beta2=0.5)",
    "nn.AdamWeightDecay(ps, 0.1, weight_decay=0.3)",
    "nn.AdaMax(ps, nn.WarmUpLR(0.1, 3))",
    "nn.Lamb(ps, 0.1, weight_decay=0.3)",
    "nn.RMSProp(ps, 0.05, momentum=0.9, centered=True, decay=0.5)",
    "nn.Adagrad(ps, accum=0.5, learning_rate=0.1)",
    "nn.Adadelta(ps, 0.5, rho=0.8, epsilon=1e-3)",
]


@pytest.mark.thinned(2)
@pytest.mark.parametrize("text", COMPILED)
def test_a_compiled_step_does_what_the_step_does(text):
    eager, compiled = made(text, parameters()), made(text, parameters())

    @jit
    def step(gradients):
        return compiled(gradients)

    for i in range(4):
        eager(gradients(eager, i))
        assert step(gradients(compiled, i)) == (True, True)
    for expected, found in zip(eager.get_parameters(), compiled.get_parameters(), strict=True):
        assert expected.name == found.name
        np.testing.assert_allclose(np.asarray(found), np.asarray(expected), rtol=1e-6, atol=1e-7)
