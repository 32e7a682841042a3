"""What `ops` says where mathematics leaves a choice: kinks, ties, edges, dtypes, structures."""

import numpy as np
import pytest

import s2s_ad as ms
from s2s_ad import Parameter, Tensor, grad, jit, ops, value_and_grad, vmap


def slopes(function, *x):
    """The derivative of a function of each element."""
    return grad(lambda t: function(t).sum())(np.array(x)).tolist()


@pytest.mark.parametrize(
    "function, x, slope",
    [
        (ops.relu, 0.0, 0.0),
        (ops.abs, 0.0, 0.0),
        (ops.relu6, 0.0, 0.0),
        (ops.relu6, 6.0, 0.0),
        (ops.leaky_relu, 0.0, 0.6),
        (ops.elu, 0.0, 1.0),
        (ops.sqrt, 0.0, np.inf),
        (ops.sigmoid, 0.0, 0.25),
        (ops.sigmoid, -1000.0, 0.0),
        (ops.softplus, 0.0, 0.5),
        (ops.softplus, 1000.0, 1.0),
        (ops.logsigmoid, -1000.0, 1.0),
        (lambda t: ops.clip_by_value(t, -1.0, 1.0), 1.0, 0.5),
        (lambda t: ops.clamp(t, -1.0, 1.0), 1.0, 1.0),
        (lambda t: ops.maximum(t, 0.0), 0.0, 0.5),
    ],
)
@pytest.mark.filterwarnings("ignore:divide by zero")
def test_the_slope_at_a_kink_or_far_out(function, x, slope):
    assert slopes(function, x) == [slope]


@pytest.mark.parametrize(
    "function, second",
    [(ops.sigmoid, 0.0), (ops.softplus, 0.25), (ops.silu, 0.5), (ops.tanh, 0.0)],
)
def test_second_derivatives_at_zero(function, second):
    twice = grad(grad(lambda t: function(t).sum()))
    assert twice(np.array(0.0)) == pytest.approx(second, abs=1e-15)


@pytest.mark.parametrize(
    "function, expected",
    [
        (ops.amax, [0.5, 0.0, 0.5]),
        (lambda x: ops.max(x, 0)[0], [0.5, 0.0, 0.5]),
        (lambda x: ops.prod(x * np.array([1.0, 0.0, 1.0])), [0.0, 0.0, 0.0]),
        (lambda x: ops.max_pool2d(x.reshape(1, 1, 1, 3), (1, 3)).sum(), [1.0, 0.0, 0.0]),
    ],
)
def test_equal_elements_share_a_derivative(function, expected):
    assert grad(function)(np.array([3.0, 1.0, 3.0])).tolist() == expected


@pytest.mark.parametrize("x", [100.0, -100.0, 1000.0, -1000.0])
@pytest.mark.parametrize("y", [0.0, 0.5, 1.0])
def test_losses_of_large_logits_are_straight_lines(x, y):
    loss, slope = value_and_grad(ops.binary_cross_entropy_with_logits)(np.array([x]), np.array([y]))
    assert loss == pytest.approx(max(x, 0) - x * y)
    assert slope[0] == pytest.approx((x > 0) - y)


def test_logits_of_any_size_have_a_cross_entropy():
    loss, slope = value_and_grad(ops.cross_entropy)(np.array([[1e4, 0.0]]), np.array([1]))
    assert (loss, slope.tolist()) == (1e4, [[1.0, -1.0]])


def test_ignored_samples_have_no_derivative():
    x, t = np.array([[1.0, 2.0], [3.0, 5.0]]), np.array([-100, 0])
    loss, slope = value_and_grad(ops.cross_entropy)(x, t)
    assert loss == pytest.approx(2 + np.log1p(np.exp(-2)))
    assert slope[0].tolist() == [0.0, 0.0]


@pytest.mark.parametrize(
    "made, dtype",
    [
        (lambda: ops.ones(2), ms.float32),
        (lambda: ops.zeros((2, 2)), ms.float32),
        (lambda: ops.zeros(2, ms.int8), ms.int8),
        (lambda: ops.full((2,), 2), ms.int64),
        (lambda: ops.full((2,), 1.5), ms.float32),
        (lambda: ops.full((2,), True), ms.bool_),
        (lambda: ops.arange(3), ms.int64),
        (lambda: ops.arange(0.0, 1.0, 0.5), ms.float32),
        (lambda: ops.linspace(0, 1, 3), ms.float32),
        (lambda: ops.eye(2), ms.float32),
        (lambda: ops.ones_like(Tensor([1, 2])), ms.int64),
        (lambda: ops.full_like(Tensor([1, 2]), 1, dtype=ms.float64), ms.float64),
        (lambda: ops.one_hot(Tensor([0]), 2), ms.int64),
        (lambda: ops.one_hot(Tensor([0]), 2, 1.0, 0.0), ms.float32),
        (lambda: ops.sin(Tensor([1, 2])), ms.float32),
        (lambda: ops.maximum(Tensor([1, 2]), Tensor([1.5, 0.5])), ms.float32),
        (lambda: ops.minimum(1.5, Tensor([1, 2])), ms.float32),
        (lambda: ops.fmod(Tensor([1, 2]), Tensor([3, 4])), ms.int64),
        (lambda: ops.where(Tensor([True, False]), Tensor([1, 2]), Tensor([1.5, 0.5])), ms.float32),
        (lambda: ops.mean(Tensor([1, 2])), ms.float32),
        (lambda: ops.sum(Tensor([1, 2])), ms.int64),
        (lambda: ops.argmax(Tensor([1.0, 2.0])), ms.int64),
        (lambda: ops.sort(Tensor([1.0, 2.0]))[1], ms.int32),
        (lambda: ops.topk(Tensor([1.0, 2.0]), 1)[1], ms.int32),
        (lambda: ops.cast(Tensor([1.5]), ms.int32), ms.int32),
        (lambda: ops.rand(2), ms.float32),
        (lambda: ops.randn(2, dtype=ms.float64), ms.float64),
        (lambda: ops.randint(0, 5, (2,)), ms.int64),
    ],
)
def test_tensors_have_the_dtypes_of_mindspore_eagerly_and_compiled(made, dtype):
    for each in (made(), jit(made)()):
        assert type(each) is Tensor
        assert each.dtype == dtype


@pytest.mark.parametrize("keep", ["first", "second"])
def test_places_of_sorted_elements(keep):
    x = np.array([[3.0, 1.0, 3.0], [0.0, 2.0, 1.0]])
    assert ops.argsort(x).tolist() == [[1, 0, 2], [0, 2, 1]]
    assert ops.argsort(x, descending=True).tolist() == [[0, 2, 1], [1, 2, 0]]


def test_indices_of_pooled_maxima_are_places_in_the_flat_image():
    x = np.arange(16.0).reshape(1, 1, 4, 4)
    maxima, places = ops.max_pool2d(x, 3, 1, 1, return_indices=True)
    np.testing.assert_array_equal(x.ravel()[places], maxima)


def test_clipped_gradients_keep_their_structure_and_dtypes():
    x = (Tensor([3.0], ms.float16), [Tensor([0.0, 4.0])])
    clipped = ops.clip_by_global_norm(x, 1.0)
    assert [type(each) for each in (clipped, clipped[1])] == [tuple, tuple]
    assert [clipped[0].dtype, clipped[1][0].dtype] == [ms.float16, ms.float32]
    np.testing.assert_allclose(clipped[1][0], [0.0, 0.8])


@pytest.mark.parametrize("kind", [tuple, list])
def test_clipping_by_the_norm_of_several_gives_a_tuple(kind):
    """As it did in MindSpore 2.10.0, which gave the list itself where there was nothing to clip."""
    x = kind((Tensor([3.0]), Tensor([0.0, 4.0])))
    for clip in (ops.clip_by_norm, jit(ops.clip_by_norm)):
        clipped = clip(x, 1.0)
        assert type(clipped) is tuple
        np.testing.assert_allclose(np.concatenate(clipped), [0.6, 0.0, 0.8], rtol=1e-6)


def test_indices_of_the_smallest_are_of_int32_and_of_the_largest_of_int64():
    """As in MindSpore's pages, and in MindSpore 2.10.0."""
    x = Tensor([[3.0, 1.0], [2.0, 4.0]])
    for of in (lambda f: f, jit):
        assert of(lambda x: ops.argmin(x, 1))(x).dtype == ms.int32
        assert of(lambda x: ops.argmin(x))(x).dtype == ms.int32
        assert of(lambda x: ops.argmax(x, 1))(x).dtype == ms.int64
        assert of(lambda x: ops.min(x, 1))(x)[1].dtype == ms.int64


def test_trees_are_mapped_leaf_by_leaf():
    trees = (1, (2, 3)), (10, (20, 30))
    assert ops.HyperMap()(lambda a, b: a + b, *trees) == (11, (22, 33))
    assert ops.HyperMap(lambda a: -a, reverse=True)(trees[0]) == (-1, (-2, -3))
    assert ops.Map(ops.partial(max, 2))((1, 2, 3)) == (2, 2, 3)


def test_a_function_of_several_definitions_is_chosen_by_types():
    scale = ops.MultitypeFuncGraph("scale")

    @scale.register("Number", "Tensor")
    def of_tensor(factor, x):
        return factor * x

    @scale.register("Number", "Number")
    def of_number(factor, x):
        return factor + x

    def f(x):
        return ops.HyperMap()(ops.partial(scale, 2.0), (x, 1.0))

    for function in (f, jit(f)):
        tensor, number = function(Tensor([1.0, 2.0]))
        assert (tensor.tolist(), number) == ([2.0, 4.0], 3.0)


def test_parameters_are_assigned_in_place():
    p = Parameter(Tensor([1.0, 2.0]), name="p")
    memory = p.asnumpy()
    ops.assign(p, Tensor([5.0, 6.0]))
    ops.assign_add(p, Tensor([1.0, 1.0]))
    result = ops.assign_sub(p, 2.0)
    assert (result.tolist(), memory.tolist()) == ([4.0, 5.0], [4.0, 5.0])
    assert type(result) is Tensor


def test_draws_follow_the_seed():
    def draw():
        ops.set_seed(3)
        return [ops.rand(2).tolist(), ops.randn(2).tolist(), ops.dropout(np.ones(9)).tolist()]

    assert draw() == draw()


def test_dropout_keeps_the_mean_and_is_itself_outside_training():
    x = np.ones(10_000)
    assert set(ops.dropout(x, 0.25).tolist()) == {0.0, 1 / 0.75}
    assert ops.dropout(x, 0.25).mean() == pytest.approx(1, abs=0.05)
    assert ops.dropout(x, 0.25, training=False) is x


def test_samples_share_a_draw():
    rows = vmap(lambda x: x + ops.randn(3))(np.zeros((2, 3)))
    assert rows[0].tolist() == rows[1].tolist()


def test_generated_text_shows_numpy_and_no_checks():
    text = jit(lambda x: ops.tanh(ops.relu(x)) + ops.sum(x, 0)).source(Tensor([1.0]))
    assert "np.tanh(np.maximum(x, 0)) + np.sum(x, axis=0)" in text
    assert "raise" not in text
