"""Functions of `ops`: values, derivatives and batches, and the dtype that goes through."""

import numpy as np
import pytest

import s2s_ad
from s2s_ad import Tensor, value_and_grad, vmap

from .table import CALLS

pytestmark = pytest.mark.thinned(4)


def some_slow(every):
    """One of so many calls by default, the others with the slow tests."""
    return [
        pytest.param(each, id=each.name, marks=[pytest.mark.slow] if place % every else [])
        for place, each in enumerate(CALLS)
    ]


def weighted(call):
    """The call as a function to a number, and which of its arguments have derivatives."""
    arguments = call.arguments()
    weights = np.cos(np.arange(np.size(call.call(*arguments)), dtype=float))
    weights = weights.reshape(np.shape(call.call(*arguments)))
    positions = tuple(i for i, each in enumerate(arguments) if each.dtype.kind == "f")

    def total(*args):
        return (call.call(*args) * weights.astype(args[positions[0]].dtype)).sum()

    return total, positions


def central_differences(function, arguments, position, step=1e-6):
    """The gradient of a function to a number, element by element."""
    x = arguments[position]
    found = np.zeros_like(x)
    for place in np.ndindex(x.shape):
        values = []
        for sign in (1, -1):
            moved = [np.copy(each) for each in arguments]
            moved[position][place] += sign * step
            values.append(float(function(*moved)))
        found[place] = (values[0] - values[1]) / (2 * step)
    return found


@pytest.mark.parametrize("call", some_slow(1))
def test_the_value_is_that_of_another_way_to_compute_it(call):
    arguments = call.arguments()
    tolerance = {"rtol": 1e-6, "atol": 1e-8}
    np.testing.assert_allclose(call.call(*arguments), call.expected(*arguments), **tolerance)


@pytest.mark.thinned(8)
@pytest.mark.parametrize("call", some_slow(4))
def test_batches_of_values_and_gradients_are_those_of_each_sample(call):
    total, positions = weighted(call)
    samples = call.arguments(seed=1, batch=2)
    made = vmap(value_and_grad(total, positions))
    values, gradients = made(*samples)
    gradients = gradients if len(positions) > 1 else (gradients,)
    for i in range(2):
        sample = [each[i] for each in samples]
        np.testing.assert_allclose(values[i], total(*sample), rtol=1e-9, atol=1e-9)
        for position, gradient in zip(positions, gradients):
            expected = central_differences(total, sample, position)
            np.testing.assert_allclose(gradient[i], expected, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("call", some_slow(5))
def test_float32_stays_float32_in_tensors(call):
    total, positions = weighted(call)
    arguments = [
        Tensor(each.astype(np.float32) if each.dtype.kind == "f" else each)
        for each in call.arguments()
    ]
    value, gradients = value_and_grad(total, positions)(*arguments)
    found = [call.call(*arguments), value, *(gradients if len(positions) > 1 else (gradients,))]
    assert [(type(each), each.dtype) for each in found] == [(Tensor, s2s_ad.float32)] * len(found)
