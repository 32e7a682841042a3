"""The adjoint of a list may be one number for all items: no list of it is made, nor of the items.

The mean of a list that a loop makes is the commonest of all losses.
"""

from __future__ import annotations

import numpy as np
import pytest

from s2s_ad import grad, jit, jvp, vmap
from transforms.differences import differences

W = np.array([0.4, -0.7, 1.1])


def mean_of_items(x):
    out = []
    for v in x:
        out.append(np.sin(v) ** 2)
    return np.mean(out)


def sum_of_states(x):
    out, h = [], 0.1
    for v in x:
        h = np.tanh(h + v)
        out.append(h)
    return np.sum(np.array(out)) ** 2


def states_from_the_front(x):
    states, h = [], 0.1
    for v in reversed(x):
        h = np.tanh(h * v + 0.3)
        states.insert(0, h * W)
    return np.sum(np.stack(states)) / 3


def rows_side_by_side(x):
    return np.mean(np.stack([v * W + v**3 for v in x], axis=1))


def lists_in_turn(x):
    outs = []
    for v in x:
        row = []
        for w in W:
            row.append(v * w**2)
        outs.append(np.sum(row))
    return np.mean(outs)


def read_in_between(x):
    out = [x[0]]
    for v in x:
        out.append(np.sin(v * out[-1]))
    return np.sum(out)


def read_in_several_ways(x):
    out = [v * v for v in x]
    both = out[:-1] + out[1:]
    return np.sum(out[:]) + 2 * np.mean(both) + np.sum(np.array(out) * x) + np.sum(out[::2])


def on_paths(x):
    out = []
    for v in x:
        if v > 0.5:
            out.append(v * v)
        else:
            out.append(np.sin(v))
            out.append(v)
    return np.mean(out) ** 2


def left_out_on_a_path(x):
    out = []
    for i, v in enumerate(x):
        if i == 0:
            continue
        out.append((v - x[i - 1]) ** 2)
    return np.sqrt(np.mean(out))


def of_two(x):
    a, b = [], []
    for v in x:
        if v > 0.5:
            a.append(v * v)
        else:
            b.append(np.sin(v))
    return np.sum(a) - 2 * np.sum(b)


def begun_anew(x):
    a = [x[0]]
    for v in x:
        if v > 0.6:
            a = [v * 2]
        elif v > 0.4:
            a.append(np.sin(v) * a[-1])
        else:
            a.append(v * v)
    return np.sum(a)


def where_it_fails(x):
    out = []
    for v in x:
        try:
            if v < 0.4:
                raise ValueError("low")
            out.append(v * v)
        except ValueError:
            out.append(v**3)
    return np.sum(np.array(out) * 2.0) + np.mean(out)


def taken_back(x):
    out = []
    for v in x:
        out.append(v)
        if len(out) > 3:
            last = out.pop()
            out.append(last * last)
    return np.sum(out) ** 2


def until_it_is_enough(x):
    out = []
    for v in x:
        out.append(v**3)
        if sum(out) > 0.5:
            break
    return np.mean(out)


def made_by(v):
    out = []
    for w in W:
        out.append(np.tanh(w * v))
    return out


def from_a_helper(x):
    total = 0.0
    for v in x:
        total += np.sum(made_by(v)) * total + 1.0
    return total


PROGRAMS = [
    *(mean_of_items, sum_of_states, states_from_the_front, rows_side_by_side, lists_in_turn),
    *(read_in_between, read_in_several_ways, on_paths, taken_back, until_it_is_enough),
    *(left_out_on_a_path, of_two, begun_anew, where_it_fails, from_a_helper),
]
WITHOUT_LISTS = [
    *(mean_of_items, states_from_the_front, rows_side_by_side, lists_in_turn),
    *(left_out_on_a_path, on_paths, where_it_fails),
]


@pytest.mark.thinned(16)
@pytest.mark.parametrize("length", [6, 2])
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda each: each.__name__)
def test_in_all_modes(program, length):
    x = np.random.default_rng(length).uniform(0.2, 0.9, length)
    batch, slope = np.stack([x, 0.9 * x[::-1], 1.1 * x]), differences(program, x)
    np.testing.assert_allclose(grad(program)(x), slope, rtol=1e-7, atol=1e-8)
    np.testing.assert_allclose(jit(grad(program))(x), slope, rtol=1e-7, atol=1e-8)
    np.testing.assert_allclose(jvp(program, (x,), (x,))[1], slope @ x, rtol=1e-7)
    slopes = [differences(program, each) for each in batch]
    np.testing.assert_allclose(vmap(grad(program))(batch), slopes, rtol=1e-6, atol=1e-8)
    found = grad(lambda rows: np.sum(vmap(program)(rows)))(batch)
    np.testing.assert_allclose(found, slopes, rtol=1e-6, atol=1e-8)
    second = differences(lambda x: grad(program)(x) @ x, x)
    found = grad(lambda x: grad(program)(x) @ x)(x)
    np.testing.assert_allclose(found, second, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("program", WITHOUT_LISTS, ids=lambda each: each.__name__)
def test_no_list_of_adjoints(program):
    text = grad(program).source(np.array([0.3, 0.5, 0.8]))
    assert "list(" not in text
    assert "full_like" not in text


@pytest.mark.parametrize("dtype", [np.float32, np.complex128])
def test_the_gradient_has_the_type_of_the_argument(dtype):
    def real_mean(z):
        out = []
        for v in z:
            out.append(v * v)
        return np.real(np.mean(np.array(out)))

    z = np.array([0.5, 1.5, -2.0], dtype) * (1 + 2j if dtype is np.complex128 else 1)
    assert grad(real_mean)(z).dtype == dtype
    np.testing.assert_allclose(grad(real_mean)(z), 2 * np.conj(z) / 3, rtol=1e-6)
