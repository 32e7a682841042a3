"""Loops that only keep values for the loop back run in its passes, where nobody sees that."""

import re

import numpy as np
import pytest

from s2s_ad import grad, value_and_grad
from transforms.differences import differences

X, W = np.array([0.3, -0.7, 1.9]), np.array([1.1, 0.6, 0.3])


def samples(x, w):
    total = 0.0
    for each, weight in zip(x, w):
        total += np.exp(each * weight) * weight
    return total


def pairs(x, w):
    total = 0.0
    for i in range(len(x)):
        for j in range(i):
            total += w[j] * np.sqrt(1.0 + (x[i] - x[j]) ** 2)
    return total


def paths(x, w):
    """A loop inside depends on its own passes."""
    total = 0.0
    for i in range(len(x) - 1, -1, -1):
        y = x[i]
        for _ in range(3):
            y = np.sin(y) * np.sum(np.abs(w))
        total += y**2
    return total


def same_in_each(x, w):
    total = 0.0
    for each in x:
        total += np.exp(each) * np.sum(np.exp(w)) ** 2
    return total


def filled(x, w):
    """An array that the passes fill, and that is read behind the loop."""
    y = np.zeros(3)
    for i in range(3):
        y[i] = np.exp(x[i] * w[i])
    return np.sum(y**2)


def carried(x, w):
    y = 0.5
    for each in x:
        y = np.sin(y * each) + np.exp(w[0] * each)
    return y


def updated(x, w):
    """What the passes read is another value when the loop back runs."""
    y, total = x * 2.0, 0.0
    for i in range(3):
        total += np.exp(y[i]) * w[i]
    for i in range(3):
        y[i] = np.cos(y[i]) * total
    return np.sum(y)


def ended(x, w):
    total = 0.0
    for each in x:
        if each > 1.0:
            break
        total += np.exp(each * w[1])
    return total


def loops_in(text):
    return len(re.findall(r"^ *for ", text, flags=re.MULTILINE))


JOINED = {samples: 1, pairs: 2, paths: 3, same_in_each: 1}
APART = {filled: 2, carried: 2, ended: 2}


def scaled(x, w):
    """What both loops read is a number of single precision."""
    for _ in range(2):
        y = np.where(np.full((), 1.5, dtype=np.float32), x[0], w[1])
        y = y * np.min(y) + x[1]
    return y * 2.0


def test_a_number_of_single_precision_in_both_loops():
    expected = differences(lambda x: scaled(x, W), X)
    np.testing.assert_allclose(grad(scaled)(X, W), expected, rtol=1e-6)


@pytest.mark.parametrize("fn, loops", (JOINED | APART).items())
def test_loops_and_gradients(fn, loops):
    for argument, at in enumerate((X, W)):
        given = [X, W]
        expected = differences(lambda x: fn(*given[:argument], x, *given[argument + 1 :]), at)
        np.testing.assert_allclose(grad(fn, argument)(X, W), expected, rtol=1e-6)
    assert loops_in(grad(fn, (0, 1)).source(X, W)) == loops


def test_the_loop_stays_where_its_sum_is_wanted():
    value, found = value_and_grad(samples)(X, W)
    np.testing.assert_allclose(value, samples(X, W))
    np.testing.assert_allclose(found, grad(samples)(X, W))
    assert loops_in(value_and_grad(samples).source(X, W)) == 2


def test_what_is_updated_in_between():
    expected = differences(lambda x: updated(x, W), X)
    np.testing.assert_allclose(grad(updated)(X, W), expected, rtol=1e-6)


def test_what_is_printed_stays_in_order(capsys):
    def f(x):
        total = 0.0
        for each in x:
            print(each)
            total += np.exp(each)
        return total

    np.testing.assert_allclose(grad(f)(X), np.exp(X))
    assert capsys.readouterr().out.split() == [str(each) for each in X]
