"""Which cells compute in float16, told by what float16 rounds and what it cannot hold."""

import numpy as np
import pytest

from s2s_ad import Tensor, amp, grad, nn

X = Tensor([[1.0, 2.0], [3.0, 5.0]])


class Probe(nn.Cell):
    """Keeps the dtype of what passes."""

    def construct(self, x):
        self.seen = str(x.dtype)
        return x


def network():
    first, second = nn.Dense(2, 3, "ones", "zeros"), nn.Dense(3, 1, "ones", "zeros")
    norm = nn.BatchNorm1d(3)
    return nn.SequentialCell(first, Probe(), norm, Probe(), second)


# level -> what follows the first Dense, what follows BatchNorm, the result
DTYPES = {
    "O0": ["Float32", "Float32", "Float32"],
    "O1": ["Float32", "Float32", "Float32"],
    "O2": ["Float16", "Float16", "Float32"],  # a Probe is a cell that computes in float16, too
    "O3": ["Float16", "Float16", "Float32"],
}


@pytest.mark.parametrize("level", DTYPES)
def test_cells_of_each_level(level):
    net = amp.auto_mixed_precision(network(), level)
    result = net(X)
    assert [net[1].seen, net[3].seen, str(result.dtype)] == DTYPES[level]
    assert {str(each.dtype) for each in net.get_parameters()} == {"Float32"}


@pytest.mark.parametrize("level", DTYPES)
def test_gradients_have_the_dtypes_of_the_parameters(level):
    net = nn.SequentialCell(nn.Dense(2, 3, "ones", "zeros"), nn.ReLU(), nn.Dense(3, 1, "ones"))
    amp.auto_mixed_precision(net, level)
    slopes = grad(lambda x: net(x).sum(), None, net.trainable_params())(X)
    assert {str(each.dtype) for each in slopes} == {"Float32"}
    np.testing.assert_allclose(slopes[0], np.tile(np.sum(X, axis=0), (3, 1)), rtol=1e-3)


@pytest.mark.parametrize(
    "level, rounded", [("O0", False), ("O1", True), ("O2", True), ("O3", True)]
)
def test_a_dense_layer_computes_in_float16(level, rounded):
    net = amp.auto_mixed_precision(nn.Dense(1, 1, 1 / 3, has_bias=False), level)
    expected = np.float16(1 / 3) if rounded else np.float32(1 / 3)
    assert net(Tensor([[1.0]])).item() == expected


class SeenNorm(nn.BatchNorm1d):
    """Keeps the dtype that it computes in."""

    def construct(self, x):
        self.seen = str(x.dtype)
        return super().construct(x)


@pytest.mark.parametrize("level, dtype", [("O1", "Float32"), ("O2", "Float32"), ("O3", "Float16")])
def test_batch_norm_keeps_its_precision_below_o3(level, dtype):
    norm = SeenNorm(3)
    net = nn.SequentialCell(nn.Dense(2, 3, "ones", "zeros"), norm, nn.ReLU())
    amp.auto_mixed_precision(net, level)(X)
    assert norm.seen == dtype


def test_lists_of_classes():
    white = amp.custom_mixed_precision(network(), white_list=[nn.Dense])
    black = amp.custom_mixed_precision(network(), black_list=[nn.Dense, Probe])
    assert [str(white(X).dtype), white[1].seen] == ["Float32", "Float32"]
    assert [str(black(X).dtype), black[1].seen] == ["Float32", "Float32"]
    assert nn.Dense in amp.get_white_list()
    assert nn.LayerNorm in amp.get_black_list()


def test_managers_give_the_cells_for_a_step_with_loss_scale():
    fixed = amp.FixedLossScaleManager(8.0).get_update_cell()
    assert fixed.get_loss_scale() == 8.0
    assert amp.FixedLossScaleManager(8.0, drop_overflow_update=False).get_update_cell() is None
    dynamic = amp.DynamicLossScaleManager(8.0, 2, 2)
    scales = []
    for overflow in (False, False, True, True, True, True, True):
        dynamic.update_loss_scale(overflow)
        scales.append(dynamic.get_loss_scale())
    assert scales == [8, 16, 8, 4, 2, 1, 1]
    assert isinstance(dynamic.get_update_cell(), nn.DynamicLossScaleUpdateCell)


REFUSED = [
    (lambda net: amp.auto_mixed_precision(net, "O4"), ValueError, "'amp_level'.*'O4'"),
    (lambda net: amp.auto_mixed_precision(3, "O2"), TypeError, "'network'.*int 3"),
    (lambda net: amp.auto_mixed_precision(net, "O2", np.float32), ValueError, "'dtype'"),
    (lambda net: amp.custom_mixed_precision(net), ValueError, "either white_list or black_list"),
    (
        lambda net: amp.custom_mixed_precision(net, white_list=[nn.Dense], black_list=[nn.Dense]),
        ValueError,
        "either white_list or black_list",
    ),
    (lambda net: amp.custom_mixed_precision(net, white_list=nn.Dense), TypeError, "'white_list'"),
    (lambda net: amp.custom_mixed_precision(net, black_list=[3]), TypeError, "'black_list'.*int 3"),
    (lambda net: amp.FixedLossScaleManager(0.0), ValueError, "'loss_scale'.*0.0"),
    (lambda net: amp.DynamicLossScaleManager(0.5), ValueError, "'init_loss_scale'.*0.5"),
]


@pytest.mark.parametrize("call, kind, message", REFUSED)
def test_what_makes_no_sense_is_refused_by_name(call, kind, message):
    with pytest.raises(kind, match=message):
        call(network())
