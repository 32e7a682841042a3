"""What begins as a number and comes to differ from sample to sample, against a loop over these."""

import numpy as np
import pytest

from s2s_ad import grad, jvp, vmap

X = np.array([1.1, 2.0, 2.7])


def times(d, x):
    new = [0] * len(d)
    for k in range(len(d)):
        new[k] += d[k] * x
    return new


def shifted(d, x):
    new = [0] * (len(d) + 1)
    for k in range(len(d)):
        new[k] += d[k] * x
        new[k - 1] += d[k] * 2
    return new


def product(c, d):
    new = [0] * (len(c) + len(d) - 1)
    for i in range(len(c)):
        for j in range(len(d)):
            new[i + j] += c[i] * d[j]
    return new


def of_entries(d, x):
    new = dict.fromkeys(d, 0)
    for key in d:
        new[key] += d[key] * x
    return new


def in_an_array(d, x):
    new = np.zeros(2)
    for k in range(2):
        new[k] += d[k] * x
    return new


def called_twice(x):
    return times(times([1], x), x)[0] * x


def in_a_loop(x):
    d = [1]
    for _ in range(3):
        d = times(d, x)
    return d[0]


def in_a_while(x):
    d, i = [np.float64(1.0)], 0
    while i < 3:
        d, i = times(d, x), i + 1
    return d[0]


def grows(x):
    d = [1]
    for _ in range(2):
        d = shifted(d, x)
    return d[0] * d[0]


def of_polynomials(x):
    p = product([1, x], [x, 1])
    p = product(p, [1, x])
    return p[0] + p[1] + p[2] + p[3]


def of_a_dict(x):
    d = of_entries(of_entries({"a": 1, "b": 2.0}, x), x)
    return d["a"] * x + d["b"]


def of_an_array(x):
    return in_an_array(in_an_array(np.ones(2), x), x)[1] * x


def of_a_tuple(x):
    d = (1,)
    for _ in range(3):
        d = tuple(v * x for v in d)
    return d[0]


class Holder:
    value = 1


def of_an_attribute(x):
    holder = Holder()
    holder.value = 1
    for _ in range(3):
        total = 0
        for _ in range(1):
            total += holder.value * x
        holder.value = total
    return holder.value


def again(d, x, n):
    return d if n == 0 else again(times(d, x), x, n - 1)


def by_recursion(x):
    return again([1], x, 3)[0]


PROGRAMS = [called_twice, in_a_loop, in_a_while, grows, of_polynomials, of_a_dict, of_an_array]
PROGRAMS += [of_a_tuple, of_an_attribute, by_recursion]

MODES = {
    "grad(vmap)": lambda f: grad(lambda xs: np.sum(vmap(f)(xs)))(X),
    "vmap(jvp)": lambda f: vmap(lambda x: jvp(f, (x,), (1.0,))[1])(X),
    "vmap(vmap(grad))": lambda f: vmap(vmap(grad(f)))(np.stack([X, X]))[1],
}


def slopes(f):
    return np.array([(f(x + 1e-6) - f(x - 1e-6)) / 2e-6 for x in X])


def check(found, expected):
    assert found.dtype == float
    assert found.shape == X.shape
    np.testing.assert_allclose(found, expected, rtol=1e-7)


@pytest.mark.thinned(2)
@pytest.mark.parametrize("f", PROGRAMS)
def test_gradients_of_samples(f):
    check(vmap(grad(f))(X), slopes(f))


@pytest.mark.slow
@pytest.mark.parametrize("f", PROGRAMS)
@pytest.mark.parametrize("mode", MODES)
def test_modes_of_batches(mode, f):
    check(MODES[mode](f), slopes(f))


@pytest.mark.slow
@pytest.mark.parametrize("f", PROGRAMS)
def test_second_derivatives_of_samples(f):
    check(vmap(grad(grad(f)))(X), slopes(grad(f)))
