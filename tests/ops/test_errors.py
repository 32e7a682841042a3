"""Misuse of `ops`: refused at the call, naming the function, the argument and the value."""

import numpy as np
import pytest

from s2s_ad import Tensor, grad, ops, vmap
from s2s_ad.diagnostics import ArgumentTypeError, ArgumentValueError

x, y, a, c = Tensor([1.0, 2.0]), Tensor([3.0, -1.0]), Tensor(np.ones((2, 3))), Tensor([1.0] * 3)
images, kernels = Tensor(np.ones((1, 3, 4, 4))), Tensor(np.ones((2, 3, 3, 3)))
INTS, volume = Tensor([0, 1]), Tensor(np.ones((2, 3, 4, 4)))

WRONG_TYPES = [
    (lambda: ops.relu([1.0, -1.0]), "relu: argument 'input' is a list; expected a Tensor"),
    (lambda: ops.sin(None), "sin: argument 'input' is a NoneType"),
    (lambda: ops.add(x, "a"), "add: argument 'other' is a str"),
    (lambda: ops.stack([1.0, 2.0]), "stack: tensors[0] is a float; expected a Tensor"),
    (lambda: ops.stack(x), "stack: argument 'tensors' is a Tensor; expected a tuple or list"),
    (lambda: ops.tensor_dot(x, y, None), "tensor_dot: argument 'axes' is None; expected an int"),
    (lambda: ops.sum(a, 1.0), "sum: argument 'dim' is 1.0; expected an int"),
    (lambda: ops.binary_cross_entropy_with_logits([1.0, 2.0], x), "argument 'input' is a list"),
    (lambda: ops.mse_loss(x, y, 3), "mse_loss: argument 'reduction' is 3; expected one of mean"),
    (lambda: ops.clip_by_global_norm(x), "argument 'x' is a Tensor; expected a tuple or list"),
    (lambda: ops.assign(x, y), "assign: argument 'variable' is a Tensor; expected a Parameter"),
    (lambda: ops.conv2d(images, kernels, stride="2"), "conv2d: argument 'stride' is '2'"),
    (lambda: ops.Map()(len, 3), "Map: argument 0 is a int; expected a tuple"),
    (lambda: ops.MultitypeFuncGraph("f")(x), "f: no definition for (Tensor)"),
    (lambda: ops.one_hot(x, 3), "one_hot: argument 'indices' has dtype float32; expected integers"),
    (lambda: ops.topk(x, 1.0), "topk: argument 'k' is 1.0; expected an int"),
    (lambda: ops.split(x, "a"), "split: argument 'split_size_or_sections' is 'a'; expected an int"),
    (lambda: ops.full((2,), "a"), "full: argument 'fill_value' is a str"),
    (lambda: ops.nll_loss(a, x), "nll_loss: argument 'target' has dtype float32; expected integer"),
    (lambda: ops.cross_entropy(a, INTS, ignore_index="a"), "argument 'ignore_index' is 'a'"),
    (lambda: ops.clip_by_global_norm((x, 3)), "an item of 'x' is 3; expected a Tensor"),
]

WRONG_VALUES = [
    (lambda: ops.softmax(x, axis=3), "softmax: argument 'axis' is 3; expected a value in [-1, 1)"),
    (lambda: ops.matmul(a, a), "shapes (2, 3) and (2, 3) do not line up: 3 != 2"),
    (lambda: ops.bmm(a, a), "bmm: argument 'input_x' has 2 axes; expected 3"),
    (lambda: ops.tensor_dot(x, c, 1), "tensor_dot: axis 0 of x1 has 2, axis 0 of x2 has 3"),
    (lambda: ops.stack([]), "stack: argument 'tensors' is empty; expected at least one Tensor"),
    (lambda: ops.stack([x, c]), "stack: tensors[1] has shape (3,), tensors[0] has (2,)"),
    (lambda: ops.stack([x, y], axis=5), "stack: argument 'axis' is 5; expected a value in [-2, 2)"),
    (lambda: ops.split(c, (1, 1)), "split: argument 'split_size_or_sections' is (1, 1), 2 in all"),
    (lambda: ops.mse_loss(x, y, "average"), "'reduction' is 'average'; expected one of mean, sum"),
    (lambda: ops.binary_cross_entropy_with_logits(x, c), "input has shape (2,), target has shape"),
    (lambda: ops.cross_entropy(a, Tensor([0, 7])), "target[1] = 7 is not a class index (3 classes"),
    (lambda: ops.cross_entropy(a, Tensor([0, -1])), "cross_entropy: target[1] = -1 is not a class"),
    (lambda: ops.cross_entropy(a, Tensor([0, 1, 2])), "input has 2 rows, target has 3"),
    (lambda: ops.nll_loss(a, Tensor(0)), "nll_loss: input has 2 axes and target 0"),
    (lambda: ops.clip_by_value(x), "clip_by_value: both bounds are None"),
    (lambda: ops.clip_by_global_norm((x,), 0.0), "argument 'clip_norm' is 0.0; expected a number"),
    (lambda: ops.clip_by_global_norm((x,), 1.0, Tensor(10.0)), "argument 'use_norm' is 10.0"),
    (lambda: ops.clip_by_global_norm(()), "clip_by_global_norm: argument 'x' is empty"),
    (lambda: ops.clip_by_norm(Tensor([np.inf]), 1.0, 2.0, True), "the norm of 'x' is inf"),
    (lambda: ops.dropout(x, 1.5), "dropout: argument 'p' is 1.5; expected a number in [0, 1]"),
    (lambda: ops.randn(2, seed=1), "randn: argument 'seed' is 1; expected None"),
    (lambda: ops.conv2d(images, a), "conv2d: argument 'weight' has 2 axes; expected 4"),
    (lambda: ops.conv2d(images, kernels, groups=3), "input has 3 channels; weight of shape"),
    (lambda: ops.conv2d(images, kernels, padding=1), "'padding' is 1 with pad_mode='valid'"),
    (lambda: ops.one_hot(INTS, -1), "one_hot: argument 'depth' is -1; expected an int of at least"),
    (lambda: ops.topk(a, 4), "topk: argument 'k' is 4; axis 1 of input has length 3"),
    (lambda: ops.split(c, 0), "split: argument 'split_size_or_sections' is 0; expected an int of"),
    (lambda: ops.split(c, (4, -1)), "split: argument 'split_size_or_sections' is -1"),
    (lambda: ops.tensor_dot(x, y, -1), "tensor_dot: argument 'axes' is -1; expected a value in"),
    (
        lambda: ops.tensor_dot(a, x, 2),
        "tensor_dot: argument 'axes' is 2; expected a value in [0, 1",
    ),
    (lambda: ops.dense(x, a), "dense: argument 'input' has shape (2,); expected (..., 3) for"),
    (
        lambda: ops.cross_entropy(a, INTS, x),
        "argument 'weight' has shape (2,); expected one number",
    ),
    (lambda: ops.cross_entropy(a, a, x), "argument 'weight' has shape (2,); expected one"),
    (lambda: ops.cross_entropy(a, INTS, label_smoothing=2), "'label_smoothing' is 2; expected a n"),
    (
        lambda: ops.cross_entropy(volume, INTS[:, None, None]),
        "target has shape (2, 1, 1); expec",
    ),
    (lambda: ops.clip_by_norm(x, -1.0), "argument 'max_norm' is -1.0; expected at least 0"),
    (lambda: ops.gelu(x, "exact"), "gelu: argument 'approximate' is 'exact'"),
    (
        lambda: ops.HyperMap()(len, (1,), (1, 2)),
        "HyperMap: argument 1 has 2 items, argument 0 has 1",
    ),
]


@pytest.mark.parametrize("call, says", WRONG_TYPES)
def test_a_wrong_type_is_a_type_error_that_names_it(call, says):
    with pytest.raises(ArgumentTypeError) as raised:
        call()
    assert says in str(raised.value)
    assert isinstance(raised.value, TypeError)


@pytest.mark.parametrize("call, says", WRONG_VALUES)
def test_a_wrong_value_is_a_value_error_that_names_it(call, says):
    with pytest.raises(ArgumentValueError) as raised:
        call()
    assert says in str(raised.value)
    assert isinstance(raised.value, ValueError)


@pytest.mark.parametrize(
    "function, says",
    [
        (lambda t: ops.softmax(t, axis=3), "softmax: argument 'axis' is 3"),
        (lambda t: ops.relu([t]), "relu: argument 'input' is a list"),
        (lambda t: ops.mse_loss(t, t, "average"), "'reduction' is 'average'"),
        (lambda t: ops.topk(t, 3)[0], "topk: argument 'k' is 3"),
        (lambda t: ops.tensor_dot(t, t, -1), "tensor_dot: argument 'axes' is -1"),
        (lambda t: ops.cross_entropy(t.ravel(), Tensor(0), c), "'weight' has shape (3,)"),
    ],
)
def test_derivatives_and_batches_refuse_it_too(function, says):
    for transformed in (grad(function), vmap(function)):
        with pytest.raises((ArgumentTypeError, ArgumentValueError)) as raised:
            transformed(Tensor(np.ones((2, 2))))
        assert says in str(raised.value)


def test_operator_classes_are_pointed_to_the_functions():
    with pytest.raises(AttributeError, match=r"ops.sin for ops.Sin\(\)"):
        ops.Sin
