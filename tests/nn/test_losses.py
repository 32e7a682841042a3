"""Losses and activations by their formulas, initial values by their moments."""

import math

import numpy as np
import pytest
from scipy import special

from s2s_ad import Tensor, grad, jit, nn
from s2s_ad.diagnostics import ArgumentTypeError, ArgumentValueError

X = np.random.default_rng(0).normal(size=(4, 3))
Y = np.random.default_rng(1).normal(size=(4, 3))
P, Q = special.expit(X), special.expit(Y)
LABELS = np.array([0, 2, 1, 2])
D = X - Y
LOG_SOFTMAX = X - special.logsumexp(X, axis=1, keepdims=True)
COSINES = np.sum(X * Y, 1) / (np.linalg.norm(X, axis=1) * np.linalg.norm(Y, axis=1))
SIGNS = np.array([1, -1, 1, -1])

#: loss -> (its arguments, its terms by the formula)
TERMS = {
    nn.MSELoss: ((X, Y), D**2),
    nn.L1Loss: ((X, Y), np.abs(D)),
    nn.SmoothL1Loss: ((X, Y), np.where(np.abs(D) < 1, D**2 / 2, np.abs(D) - 0.5)),
    nn.HuberLoss: ((X, Y), np.where(np.abs(D) < 1, D**2 / 2, np.abs(D) - 0.5)),
    nn.SoftMarginLoss: ((X, np.sign(Y)), np.log1p(np.exp(-np.sign(Y) * X))),
    nn.BCELoss: ((P, Q), -(Q * np.log(P) + (1 - Q) * np.log(1 - P))),
    nn.BCEWithLogitsLoss: ((X, Q), -(Q * np.log(P) + (1 - Q) * np.log(1 - P))),
    nn.CrossEntropyLoss: ((X, LABELS), -LOG_SOFTMAX[np.arange(4), LABELS]),
    nn.NLLLoss: ((X, LABELS), -X[np.arange(4), LABELS]),
    nn.SoftmaxCrossEntropyWithLogits: ((X, Q), -np.sum(Q * LOG_SOFTMAX, axis=1)),
    nn.KLDivLoss: ((X, Q), Q * (np.log(Q) - X)),
    nn.CosineEmbeddingLoss: (
        (X, Y, SIGNS),
        np.where(SIGNS == 1, 1 - COSINES, np.maximum(0, COSINES)),
    ),
}
REDUCED = {"mean": np.mean, "sum": np.sum, "none": lambda terms: terms}


@pytest.mark.parametrize("loss", TERMS)
@pytest.mark.parametrize("reduction", REDUCED)
def test_losses_are_their_terms_reduced(loss, reduction):
    arguments, terms = TERMS[loss]
    found = np.asarray(loss(reduction=reduction)(*arguments))
    np.testing.assert_allclose(found, REDUCED[reduction](terms), rtol=1e-10)


@pytest.mark.parametrize("loss", [nn.SmoothL1Loss, nn.SoftmaxCrossEntropyWithLogits])
def test_two_losses_are_not_reduced_unless_they_are_told(loss):
    arguments, terms = TERMS[loss]
    np.testing.assert_allclose(np.asarray(loss()(*arguments)), terms, rtol=1e-10)


@pytest.mark.parametrize("loss", TERMS)
def test_gradients_of_losses_against_central_differences(loss):
    (x, *others), _ = TERMS[loss]
    net = loss(reduction="mean")
    direction, h = np.cos(np.arange(12.0)).reshape(4, 3), 1e-6
    slope = (net(x + h * direction, *others) - net(x - h * direction, *others)) / (2 * h)
    found = np.sum(np.asarray(grad(net)(x, *others)) * direction)
    assert float(found) == pytest.approx(float(slope), rel=1e-6)


def test_options_of_losses():
    weight = np.array([1.0, 2.0, 4.0])
    terms = TERMS[nn.CrossEntropyLoss][1]
    weighted = np.sum(terms * weight[LABELS]) / np.sum(weight[LABELS])
    assert float(nn.CrossEntropyLoss(weight)(X, LABELS)) == pytest.approx(weighted)
    kept = LABELS != 2
    assert float(nn.CrossEntropyLoss(ignore_index=2)(X, LABELS)) == pytest.approx(
        terms[kept].mean()
    )
    smooth = 0.9 * terms - 0.1 * LOG_SOFTMAX.mean(1)
    assert float(nn.CrossEntropyLoss(label_smoothing=0.1)(X, LABELS)) == pytest.approx(
        smooth.mean()
    )
    sparse = nn.SoftmaxCrossEntropyWithLogits(sparse=True)
    np.testing.assert_allclose(np.asarray(sparse(X, LABELS)), terms)
    far = nn.HuberLoss(delta=0.1, reduction="sum")(X, Y)
    near = np.where(np.abs(D) <= 0.1, D**2 / 2, 0.1 * (np.abs(D) - 0.05))
    assert float(far) == pytest.approx(near.sum())


def test_a_loss_of_ones_own():
    class Cubed(nn.LossBase):
        def construct(self, x):
            return self.get_loss(np.abs(x) ** 3)

    np.testing.assert_allclose(np.asarray(grad(Cubed("sum"))(X)), 3 * X * np.abs(X))


@pytest.mark.parametrize(
    "make, error",
    [
        (lambda: nn.MSELoss("average"), ArgumentValueError),
        (lambda: nn.KLDivLoss("average"), ArgumentValueError),
        (lambda: nn.SmoothL1Loss(beta=0.0), ArgumentValueError),
        (lambda: nn.HuberLoss(delta="1"), ArgumentTypeError),
        (lambda: nn.CrossEntropyLoss(label_smoothing=2), ArgumentValueError),
        (lambda: nn.SoftmaxCrossEntropyWithLogits(sparse=1), ArgumentTypeError),
    ],
)
def test_losses_refuse_bad_options(make, error):
    with pytest.raises(error, match=r"argument '\w+', got .*; expected"):
        make()


# ---- activations ---------------------------------------------------------------------------------

Z = np.array([-7.0, -2.0, -0.4, 0.3, 1.0, 4.0])
NORMAL = 0.5 * (1 + special.erf(Z / math.sqrt(2)))
HARD = np.clip(Z + 3, 0, 6) / 6
GELU = 0.5 * Z * (1 + np.tanh(math.sqrt(2 / math.pi) * (Z + 0.044715 * Z**3)))
ACTIVATIONS = [
    (nn.ReLU(), np.maximum(Z, 0)),
    (nn.ReLU6(), np.clip(Z, 0, 6)),
    (nn.LeakyReLU(), np.where(Z > 0, Z, 0.2 * Z)),
    (nn.ELU(), np.where(Z > 0, Z, np.expm1(Z))),
    (nn.CELU(2.0), np.where(Z > 0, Z, 2 * np.expm1(Z / 2))),
    (nn.SELU(), 1.0507009873554805 * np.where(Z > 0, Z, 1.6732632423543772 * np.expm1(Z))),
    (nn.Sigmoid(), special.expit(Z)),
    (nn.LogSigmoid(), special.log_expit(Z)),
    (nn.Tanh(), np.tanh(Z)),
    (nn.Softmax(), special.softmax(Z)),
    (nn.LogSoftmax(), special.log_softmax(Z)),
    (nn.Softmin(), special.softmax(-Z)),
    (nn.GELU(), GELU),
    (nn.GELU(approximate=False), Z * NORMAL),
    (nn.FastGelu(), Z * special.expit(1.702 * Z)),
    (nn.SiLU(), Z * special.expit(Z)),
    (nn.Mish(), Z * np.tanh(np.log1p(np.exp(Z)))),
    (nn.HSigmoid(), HARD),
    (nn.HSwish(), Z * HARD),
    (nn.Softsign(), Z / (1 + np.abs(Z))),
    (nn.Tanhshrink(), Z - np.tanh(Z)),
    (nn.HShrink(), np.where(np.abs(Z) > 0.5, Z, 0)),
    (nn.SoftShrink(), np.sign(Z) * np.maximum(np.abs(Z) - 0.5, 0)),
    (nn.Hardtanh(), np.clip(Z, -1, 1)),
]


@pytest.mark.parametrize("net, expected", ACTIVATIONS, ids=lambda each: repr(each)[:20])
def test_activations_by_their_formulas(net, expected):
    np.testing.assert_allclose(np.asarray(net(Z)), expected, rtol=1e-6, atol=1e-7)
    np.testing.assert_allclose(np.asarray(jit(net)(Z)), expected, rtol=1e-6, atol=1e-7)


def test_activations_by_name():
    assert isinstance(nn.get_activation("silu"), nn.SiLU)
    assert nn.get_activation(None) is None


# ---- initial values ------------------------------------------------------------------------------

INIT = nn.initializers
SHAPE = (40, 30, 3, 3)  # 270 inputs and 360 outputs of a unit

DEVIATIONS = [
    ("normal", 0.01),
    (INIT.Normal(0.5), 0.5),
    ("uniform", 0.07 / math.sqrt(3)),
    (INIT.XavierUniform(), math.sqrt(2 / 630)),
    (INIT.XavierNormal(2.0), 2 * math.sqrt(2 / 630)),
    (INIT.HeUniform(), math.sqrt(2 / 270)),
    (INIT.HeNormal(mode="fan_out", nonlinearity="relu"), math.sqrt(2 / 360)),
    (INIT.HeUniform(math.sqrt(5)), math.sqrt(1 / 3 / 270)),
    (INIT.TruncatedNormal(1.0), math.sqrt(1 - 4 * math.exp(-2) / math.sqrt(2 * math.pi) / 0.9545)),
]


@pytest.mark.parametrize("init, deviation", DEVIATIONS, ids=lambda each: str(each)[:24])
def test_initial_values_have_mean_0_and_their_deviation(init, deviation):
    np.random.seed(0)
    drawn = np.asarray(INIT.initializer(init, SHAPE, np.float64))
    assert drawn.shape == SHAPE
    assert drawn.std() == pytest.approx(deviation, rel=0.03)
    assert abs(drawn.mean()) < 5 * deviation / math.sqrt(drawn.size)


def test_initial_values_that_are_given():
    assert INIT.initializer("ones", 3).dtype == np.float32
    np.testing.assert_array_equal(np.asarray(INIT.initializer(0.5, (2,))), [0.5, 0.5])
    np.testing.assert_array_equal(np.asarray(INIT.initializer("identity", (2, 2))), np.eye(2))
    given = Tensor([1.0, 2.0])
    made = INIT.initializer(given, (2,))
    made[0] = 7
    assert float(given[0]) == 1
    assert np.abs(INIT.initializer(INIT.TruncatedNormal(1.0), SHAPE)).max() <= 2


@pytest.mark.parametrize(
    "init, shape",
    [
        ("nope", (2,)),
        ("he_uniform", (2,)),
        (None, (2,)),
        ("ones", -1),
        ("ones", "a"),
        (Tensor([1.0]), (2,)),
        ("identity", (2,)),
    ],
)
def test_initial_values_that_are_refused(init, shape):
    with pytest.raises((ArgumentTypeError, ArgumentValueError), match=r"argument '\w+', got"):
        INIT.initializer(init, shape)
