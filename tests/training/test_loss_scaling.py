"""Loss scalers: what they do to Tensors, and how their factor follows the gradients."""

import numpy as np
import pytest

from s2s_ad import Tensor, float16, grad, jit
from s2s_ad.amp import DynamicLossScaler, StaticLossScaler, all_finite


def test_scaling_keeps_structure_and_dtypes():
    scaler = StaticLossScaler(4.0)
    given = (Tensor([1.0, 2.0]), [Tensor([3.0], float16), np.float64(5.0)], 0.5)
    first, (second, third), fourth = scaler.scale(given)
    assert [first.tolist(), second.tolist(), float(third), float(fourth)] == [[4, 8], [12], 20, 2]
    assert [str(first.dtype), str(second.dtype)] == ["Float32", "Float16"]
    assert scaler.unscale((first,))[0].tolist() == [1.0, 2.0]


def test_the_gradient_of_a_scaled_loss_is_scaled():
    scaler = StaticLossScaler(8.0)
    slope = grad(lambda x: scaler.scale((x * x).sum()))
    x = Tensor([1.0, -2.0])
    assert slope(x).tolist() == [16.0, -32.0]
    scaler.scale_value.set_data(Tensor(2.0))
    assert slope(x).tolist() == [4.0, -8.0]


# (scale, factor, window), what the gradients were, (scale, counter) after each step
FOLLOWED = [
    ((8, 2, 2), [1, 1, 1, 1], [(8, 1), (16, 0), (16, 1), (32, 0)]),
    ((8, 2, 2), [1, 0, 1, 1], [(8, 1), (4, 0), (4, 1), (8, 0)]),
    ((4, 4, 1), [0, 0, 0, 1], [(1, 0), (1, 0), (1, 0), (4, 0)]),
    ((2.0**127, 2, 1), [1, 0], [(2.0**127, 0), (2.0**126, 0)]),
]


@pytest.mark.parametrize("settings, finite, expected", FOLLOWED)
@pytest.mark.parametrize("kind", [bool, np.bool_, lambda each: Tensor(bool(each))])
def test_the_factor_follows_the_gradients(settings, finite, expected, kind):
    scaler = DynamicLossScaler(*settings)
    for each, (scale, counter) in zip(finite, expected, strict=True):
        assert scaler.adjust(kind(each)) is True
        assert (scaler.scale_value.item(), scaler.counter.item()) == (scale, counter)


def test_a_compiled_function_may_adjust_the_factor():
    eager, compiled = DynamicLossScaler(8, 2, 2), DynamicLossScaler(8, 2, 2)
    step = jit(lambda gradients: compiled.adjust(all_finite(gradients)))
    for value in (1.0, 1.0, np.inf, 1.0, np.nan):
        gradients = (Tensor([value]), Tensor([1.0, 2.0]))
        eager.adjust(all_finite(gradients))
        step(gradients)
        assert compiled.scale_value.item() == eager.scale_value.item()
        assert compiled.counter.item() == eager.counter.item()


def test_a_static_factor_stays():
    scaler = StaticLossScaler(8.0)
    assert scaler.adjust(Tensor(False)) is False
    assert scaler.scale_value.item() == 8.0


FINITE = [
    ((), True),
    (Tensor([1.0]), True),
    ((Tensor([1.0]), Tensor(2.0)), True),
    ((Tensor([1.0]), (Tensor([2.0]), [Tensor([np.nan])])), False),
    ([np.array([1.0, -np.inf])], False),
    ((Tensor([np.inf], float16),), False),
]


@pytest.mark.parametrize("inputs, expected", FINITE)
def test_all_finite_looks_at_every_element(inputs, expected):
    found = all_finite(inputs)
    assert isinstance(found, Tensor)
    assert found.shape == ()
    assert bool(found) is expected


REFUSED = [
    (lambda: StaticLossScaler(0.5), ValueError, "'scale_value'.*0.5"),
    (lambda: StaticLossScaler("a"), TypeError, "'scale_value'.*'a'"),
    (lambda: StaticLossScaler(True), TypeError, "'scale_value'.*True"),
    (lambda: DynamicLossScaler(0.5, 2, 3), ValueError, "'scale_value'.*0.5"),
    (lambda: DynamicLossScaler(2, 2.0, 3), TypeError, "'scale_factor'.*2.0"),
    (lambda: DynamicLossScaler(2, 0, 3), ValueError, "'scale_factor'.*0"),
    (lambda: DynamicLossScaler(2, 2, 0), ValueError, "'scale_window'.*0"),
    (lambda: DynamicLossScaler(2, 2, 3.0), TypeError, "'scale_window'.*3.0"),
    (lambda: DynamicLossScaler(2, 2, 3).adjust("yes"), TypeError, "'grads_finite'.*'yes'"),
]


@pytest.mark.parametrize("call, kind, message", REFUSED)
def test_what_makes_no_sense_is_refused_by_name(call, kind, message):
    with pytest.raises(kind, match=message):
        call()
