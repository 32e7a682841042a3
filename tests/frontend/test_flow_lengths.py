"""What only lists and loops of a known length can do: the lengths of arguments then count."""

import itertools

import numpy as np
import pytest

from frontend.every_mode import assert_both_modes
from frontend.flow import lowered
from s2s_ad import S2SError, grad, vmap
from s2s_ad.frontend.lower import loops

XS = np.array([1.3, 0.4, -0.8])
ROWS = np.array([[0.5, -0.3], [1.2, 0.7], [-0.4, 0.9]])


class Section:
    def __init__(self, row):
        self.gain, self.leak = row
        self.state = 0.0

    def __call__(self, x):
        self.state = self.leak * self.state + x
        return self.gain * self.state


class Link:
    def __init__(self, value, rest):
        self.value, self.rest = value, rest


def objects_that_are_changed(rows):
    sections, total = [Section(row) for row in rows], 0.0
    for x in (1.0, -0.5, 0.25):
        for section in sections:
            x = section(x)
        total += x**2
    return total


def chain(xs):
    head = None
    for x in xs:
        head = Link(x, head)
    total, weight = 0.0, 1.0
    while head is not None:
        total, weight, head = total + weight * head.value**2, weight * 0.5, head.rest
    return total


def rows_of_other_lengths(xs):
    rows = [(xs[0],)]
    for x in xs[1:]:
        rows.append((*rows[-1], x * rows[-1][0]))
    return sum(sum(row) for row in rows)


def tuple_of_a_comprehension(xs):
    a, *rest = tuple([x * x for x in xs])
    return a * sum(rest)


def starred_in_a_tuple(xs):
    def weighted(scale, a, b, c):
        return scale * a + b * c

    return weighted(2.0, *xs) * len((0.0, *xs))


def keys_from_a_range(rows):
    n, m = rows.shape
    named = {(i, j): rows[i, j] * (i + 2 * j) for i in range(n) for j in range(m) if i != j}
    kinds = {(i + j) % 2 for i, j in named}
    return sum(named[key] ** 2 for key in named) * len(kinds)


def items_of_a_dict_with_pairs(rows):
    named = {(i, i + 1): rows[i, 0] for i in range(len(rows))}
    return sum((1 + i * j) * x for (i, j), x in named.items())


def over_subsets(xs):
    total = 0.0
    for size in range(1, len(xs) + 1):
        for subset in itertools.combinations(range(len(xs)), size):
            total += np.prod(np.stack([xs[i] for i in subset])) / size
    return total


def memo_by_bits(xs):
    best = {0: 0.0}
    for bits in range(1, 1 << len(xs)):
        choices = [best[bits ^ (1 << k)] + x * (k + 1) for k, x in enumerate(xs) if bits >> k & 1]
        best[bits] = choices[0] * 0.5 + 0.5 * choices[-1]
    return best[(1 << len(xs)) - 1]


def prefixes(rows):
    """Tuples that grow in a list that is sorted by values."""
    beam = [((), 0.0)]
    for row in rows:
        grown = []
        for prefix, total in beam:
            for place in range(len(row)):
                gain = 0.5 if prefix and prefix[-1] == place else 0.0
                grown.append((prefix + (place,), total + row[place] + gain))
        grown.sort(key=lambda item: item[1], reverse=True)
        beam = grown[:2]
    return beam[0][1] - 0.5 * beam[1][1] ** 2


def jumps(x, program):
    """The text of the program decides which statement comes next."""
    at, count = 0, 3
    while at < len(program):
        name, value = program[at]
        if name == "loop":
            count -= 1
            if count > 0:
                at = value
                continue
        elif name == "scale":
            x = x * 1.5
        else:
            x = np.sin(x) + value
        at += 1
    return x


def spread_over_a_graph(xs, graph):
    waiting, seen, total = [(0, 1.0)], {0}, 0.0
    while waiting:
        node, amount = waiting.pop(0)
        total += amount * (node + 1)
        fresh = [each for each in graph[node] if each not in seen]
        seen.update(fresh)
        for each in fresh:
            waiting.append((each, amount * xs[each] / len(fresh)))
    return total


def pieces_side_by_side(x):
    pieces = [x[:0]]
    for i in range(len(x)):
        pieces.append(x[i:] * x[i])
    return np.sum(np.hstack(pieces) ** 2)


def pieces_on_top_of_each_other(x):
    pieces = []
    for i in range(len(x)):
        pieces.append(np.outer(x[i:], x))
    return np.sum(np.vstack(pieces) ** 2)


PROGRAMS = [
    (pieces_side_by_side, (XS,)),
    (pieces_on_top_of_each_other, (XS,)),
    (objects_that_are_changed, (ROWS,)),
    (chain, (XS,)),
    (rows_of_other_lengths, (XS,)),
    (tuple_of_a_comprehension, (XS,)),
    (starred_in_a_tuple, (XS,)),
    (keys_from_a_range, (ROWS,)),
    (items_of_a_dict_with_pairs, (ROWS,)),
    (over_subsets, (XS,)),
    (memo_by_bits, (XS,)),
    (prefixes, (ROWS,)),
    (jumps, (0.4, [("add", 1), ("scale", 0), ("loop", 1), ("add", 2)])),
    (spread_over_a_graph, (XS, [[1, 2], [2], []])),
]


@pytest.mark.parametrize("function", [chain, rows_of_other_lengths, over_subsets, memo_by_bits])
def test_each_length_has_code_of_its_own(function):
    gradient = grad(function)
    for xs in (XS[:2], XS, np.array([0.2, 0.9, -0.4, 1.1])):
        for sample in (xs, xs * 2.0):
            step = 1e-6 * np.eye(len(xs))
            expected = [(function(sample + h) - function(sample - h)) / 2e-6 for h in step]
            np.testing.assert_allclose(gradient(sample), expected, rtol=1e-6, atol=1e-8)
    assert gradient.source(XS) == gradient.source(XS * 3.0)
    assert gradient.source(XS) != gradient.source(XS[:2])


def test_a_batch_has_the_lengths_of_its_samples():
    batch = np.stack([XS, 2 * XS])
    np.testing.assert_allclose(vmap(chain)(batch), [chain(x) for x in batch])
    np.testing.assert_allclose(vmap(grad(chain))(batch), [grad(chain)(x) for x in batch])


def test_where_lengths_do_not_matter_one_text_serves_all():
    def total(xs):
        squares = [x * x for x in xs]
        return sum(squares) + squares[-1]

    gradient = grad(total)
    assert gradient.source(XS) == gradient.source(np.arange(7.0))


def of_those_that_are_positive(xs):
    sections = [Section((x, 0.5)) for x in xs if x > 0]
    return sum(section(1.0) + section(2.0) for section in sections)


def test_values_decide_which_of_the_objects_are_kept():
    assert_both_modes(of_those_that_are_positive, (XS,))


# ---- what stays refused --------------------------------------------------------------------------


def chain_of_unknown_length(xs):
    head = None
    while xs[0] > 0.1:
        head = Link(xs[0], head)
        xs = xs * 0.5
    return head.rest.value


def test_where_values_decide_the_length_it_is_refused():
    with pytest.raises(S2SError) as caught:
        lowered(chain_of_unknown_length, (XS,))
    assert caught.value.origin is not None
    with pytest.raises(S2SError):
        grad(chain_of_unknown_length)(XS)


def a_tuple_of_all(xs):
    return tuple(xs)[1] * xs[0]


def test_a_loop_of_very_many_passes_is_not_written_out(monkeypatch):
    monkeypatch.setattr(loops, "MOST_WRITTEN", 6)
    assert grad(a_tuple_of_all)(np.arange(6.0)).tolist() == [1.0, 0.0, 0.0, 0.0, 0.0, 0.0]
    with pytest.raises(S2SError, match="more than 6 items one by one"):
        grad(a_tuple_of_all)(np.arange(7.0))
