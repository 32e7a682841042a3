"""What does something when it is read or called does it as often as in Python."""

import numpy as np
import pytest

from s2s_ad import grad, jit

X = np.array([0.4, -0.3, 0.9, -0.2, 0.7])


class Meter:
    """Counts how often it is asked."""

    def __init__(self):
        self.asked, self.values = 0, [2.0]

    def sign(self, v):
        self.asked += 1
        return int(v > 0)

    @property
    def share(self):
        self.asked += 1
        return 1.0 * self.asked

    @property
    def items(self):
        self.asked += 1
        return self.values

    def __getitem__(self, place):
        self.asked += 10
        return self.values[place]


def method_of_an_item(meter, x):
    bins = [[], []]
    for v in x:
        bins[meter.sign(v)].append(v * v)
    return sum(bins[0]) * 2 + sum(bins[1])


def method_of_a_property(meter, x):
    meter.items.append(x[0])
    return meter[1]


def asserted(meter, x):
    for v in x:
        assert meter.items[0] > v, f"{meter[0]}"
    return x[0]


def guarded(meter, x):
    if meter.share > x[0] + 100:
        raise ValueError("too large")
    return x[0]


def guarded_by_an_item(meter, x):
    if meter.items[-1] > 100:
        raise ValueError("too large")
    return x[0]


def shown_if_it_is_raised(meter, x):
    if x[0] > 100:
        raise ValueError(f"{meter.items}")
    return x[0]


def printed(meter, x):
    print(meter.share, meter[0])
    if x[0] > 10:
        print(meter.share)
    return x[0]


def formatted(meter, x):
    text = f"{meter.share:.2f} {meter.sign(x[0])}"
    return x[0] * len(text)


PROGRAMS = [method_of_an_item, method_of_a_property, asserted, guarded, guarded_by_an_item]
PROGRAMS += [shown_if_it_is_raised, printed, formatted]


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda each: each.__name__)
def test_once(program, capsys):
    def f(x):
        meter = Meter()
        return program(meter, x) * (1 + meter.asked)

    expected, said = f(X), capsys.readouterr().out
    assert jit(f)(X) == pytest.approx(expected)
    assert capsys.readouterr().out == said
    step = 1e-6 * np.eye(len(X))
    slope = [(f(X + h) - f(X - h)) / 2e-6 for h in step]
    np.testing.assert_allclose(grad(f)(X), slope, rtol=1e-6, atol=1e-8)
