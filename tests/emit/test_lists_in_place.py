"""A list that grows is not copied for what was read of it before: its items are not itself."""

import numpy as np
import pytest

from s2s_ad import grad, jvp, value_and_grad, vjp
from transforms.differences import agrees

X = np.array([0.3, -0.7, 1.9])


def trajectory(x):
    xs, vs = [x[0]], [x[1]]
    for _ in range(4):
        a = -np.sin(xs[-1])
        vs.append(vs[-1] + x[2] * a)
        xs.append(xs[-1] + 0.1 * vs[-1])
    return sum(xs) + np.sum(np.array(vs) ** 2)


def states(x):
    held = [x]
    for _ in range(3):
        held.append(np.sin(held[-1]) * held[0] + held[-1])
    return np.sum(held[-1] * held[1])


def replaced(x):
    held = [x[0], x[1], x[2]]
    for i in range(3):
        before = held[i]
        held[i] = before * held[i - 1] + np.cos(before)
    return held[0] * held[1] + held[2]


PLAIN = [trajectory, states, replaced]


def item_changes(x):
    """What was read of the list is an array that changes, and the list has it still."""
    held = [x * 1.0]
    for k in range(3):
        last = held[-1]
        held.append(last * 2.0)
        last[k] = x[0] * last[1]
    return np.sum(np.array(held) ** 2)


def item_kept_before_the_change(x):
    held = [x * 1.0]
    for k in range(3):
        last = held[-1]
        kept = last.copy()
        last[k] = 3.0
        held.append(last * kept)
    return np.sum(held[-1] * held[1])


def list_inside(x):
    """The item is a list, which grows where it stands."""
    held = [[x[0]]]
    for k in range(3):
        row = held[-1]
        row.append(row[-1] * x[k])
        held.append([row[0] + x[1]])
    return sum(row[-1] * len(row) for row in held)


def two_names(x):
    a = [x[0]]
    b = a
    for k in range(3):
        first = a[-1]
        b.append(first * x[k])
        a[0] = first + a[-1]
    return sum(a) * len(b)


def taken_and_put_back(x):
    held = [x[0], x[1]]
    for k in range(3):
        last = held.pop()
        held.append(held[-1] * last)
        held.append(last * x[k])
    return held[0] * held[-1] + held[1]


@pytest.mark.thinned(2)
@pytest.mark.filterwarnings("ignore:.*no batched form")
@pytest.mark.parametrize(
    "fn",
    [*PLAIN, item_changes, item_kept_before_the_change, list_inside, two_names, taken_and_put_back],
)
def test_values_and_gradients(fn):
    agrees(fn, X)


@pytest.mark.parametrize("fn", PLAIN)
def test_no_list_is_copied(fn):
    assert "[:]" not in value_and_grad(fn).source(X)


def test_what_is_added_to_a_number_of_a_list_is_an_update():
    text = grad(trajectory).source(X)
    assert "vs_bar[-1] += " in text
    assert "xs_bar[-1] += " in text


def shared_items(x):
    held = [x, x]
    held[0] = held[0] * x
    return held[0] * held[1] + held[1]


def walk(xs):
    out = [xs[0]]
    for i in range(1, len(xs)):
        out.append(out[-1] * xs[i])
    return out


def test_nor_do_those_of_a_list_change():
    seeds = [np.array(1.0) for _ in range(3)]
    _, pullback = vjp(walk, [np.array(0.5), np.array(2.0), np.array(3.0)])
    assert pullback(seeds)[0] == [1 + 2 + 6, 0.5 + 1.5, 1.0]
    assert seeds == [1.0, 1.0, 1.0]


def test_an_array_without_axes_that_was_handed_in_stays():
    x, seed = np.array(0.7), np.array(2.0)
    _y, pullback = vjp(shared_items, x)
    assert pullback(seed)[0] == pytest.approx(2.0 * (3 * 0.7**2 + 1))
    assert (x, seed) == (0.7, 2.0)
    assert jvp(shared_items, (x,), (seed,))[1] == pytest.approx(2.0 * (3 * 0.7**2 + 1))
    assert (x, seed) == (0.7, 2.0)
