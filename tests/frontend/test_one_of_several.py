"""An object that is one of several, of a list or of paths, is changed: all that may hold it knows.

Each function gives what Python gives, in all modes.
"""

import copy

import numpy as np
import pytest

from api.oracles import gradient
from s2s_ad import S2SError, grad, jit, jvp, vmap


class Server:
    def __init__(self, busy=0.0):
        self.busy = busy


def servers(x):
    return [Server(each) for each in x]


def total(pool):
    return sum((i + 1) * each.busy for i, each in enumerate(pool))


def weighed(rows):
    return sum((i + 1) * (a + b) for i, (a, b) in enumerate(rows))


def least_by_key(x):
    pool = [Server() for _ in range(2)]
    for each in x:
        idle = min(pool, key=lambda server: server.busy)
        idle.busy = idle.busy + each
    return max(server.busy for server in pool) + pool[0].busy


def last_of_a_loop(x):
    pool = servers(x)
    for each in pool:
        last = each
    last.busy = last.busy * 5
    return total(pool)


def least(pool):
    best = pool[0]
    for each in pool:
        if each.busy < best.busy:
            best = each
    return best


def given_by_a_helper(x):
    pool = servers(x)
    least(pool).busy *= x[1]
    return total(pool)


def list_in_a_list(x):
    rows = [[each, 0.0] for each in x]
    for row in rows:
        last = row
    last[1] = x[0] * 3
    return weighed(rows)


def item_behind_a_name(x):
    rows = [[each, 0.0] for each in x]
    for row in rows:
        last = row
    rows[-1][1] = x[0] * 3
    return last[1] + last[0]


def appended_and_changed(x):
    server, history = Server(1.0), []
    for each in x:
        server = Server(server.busy * each)
        history.append(server)
    server.busy = server.busy + 1.0
    return total(history) + server.busy


def next_that_is_busy(x):
    pool = servers(x)
    found = next(each for each in pool if each.busy > 0.3)
    found.busy *= x[1]
    return total(pool)


def list_least_by_key(x):
    rows = [[each, 0.0] for each in x]
    least = min(rows, key=lambda row: row[0])
    least[1] = x[0] * 3
    return weighed(rows)


def changed_while_it_moves(x):
    rows = [[each, 0.0] for each in x]
    best = rows[0]
    for row in rows:
        best[1] += row[0]
        if row[0] < best[0]:
            best = row
    return weighed(rows)


def one_of_two_items(x):
    rows = [[each, 0.0] for each in x]
    row = rows[int(x[0] * 2)] if x[1] > 0.1 else rows[0]
    row[1] = x[1] * 3
    return weighed(rows)


def previous_row(x):
    rows = [[1.0, 2.0]]
    previous = rows[0]
    for each in x:
        row = [previous[0] * each, previous[1] + each]
        rows.append(row)
        previous = row
    return weighed(rows) + previous[0]


def item_of_a_list_that_grows(x):
    rows = [[each, 0.0] for each in x]
    last = rows[-1]
    rows.append([1.0, 2.0])
    last[1] = x[0]
    return weighed(rows)


class Node:
    def __init__(self, key, value):
        self.key, self.value, self.left, self.right = key, value, None, None


def tree_of_nodes(x):
    root = None
    for i, each in enumerate(x):
        node = Node(i * 5 % 7, each)
        if root is None:
            root = node
            continue
        here = root
        while True:
            if node.key < here.key:
                if here.left is None:
                    here.left = node
                    break
                here = here.left
            else:
                if here.right is None:
                    here.right = node
                    break
                here = here.right
    result, stack = 0.0, [(root, 1)]
    while stack:
        node, depth = stack.pop()
        if node is not None:
            result += node.value**2 * depth
            stack += [(node.left, depth + 1), (node.right, depth + 1)]
    return result


def none_or_least(x):
    rows, found = [[each, 0.0] for each in x], None
    for row in rows:
        if found is None or row[0] < found[0]:
            found = row
    rows[1][1] = x[0]
    return found[1] + weighed(rows)


def held_by_a_part_of_the_list(x):
    rows = [[each, 0.0] for each in x]
    row = rows[len(x) - 2]
    others = rows[1:]
    row[1] += 1.5
    return weighed(rows) + weighed(others)


def put_in_before(x):
    row = [1.0, x[0]]
    rows = [row]
    for each in x:
        rows.append([each, 0.0])
    rows[int(x[0])][1] = 5.0
    return row[1] + weighed(rows)


def exchanged_on_a_path(x):
    """Either may be the one list or the other, and they are never the same."""
    a, b = [], []
    for each in x:
        if each > 0.5:
            a.append(each)
            b.append(each * each)
        else:
            a, b = b, a
            a.append(each**3)
    return np.sum(a) - np.sum(b)


def exchanged_in_each_pass(x):
    a, b = [], []
    for each in x:
        a.append(each)
        a, b = b, a
    return np.sum(a) - 2 * np.sum(b)


def each_but_itself(x):
    pool = servers(x)
    for one in pool:
        for other in pool:
            if other is not one:
                one.busy += 0.1 * other.busy
    return total(pool)


def changed_or_added_to(x):
    pool = servers(x)
    if x[1] < x[2]:
        pool[1].busy = x[0]
    else:
        pool.append(Server(x[1]))
    return total(pool)


def changed_in_depth_or_added_to(x):
    pool = [Server([Server(each), Server(1.0)]) for each in x]
    if x[0] < x[2]:
        pool[0].busy[1].busy = x[0] * x[1]
    else:
        pool.append(Server([Server(x[1]), Server(x[2])]))
    return sum((i + 1) * total(each.busy) for i, each in enumerate(pool))


def item_that_is_changed_or_added_again(x):
    pool = servers(x)
    one = pool[len(x) - 2]
    if x[1] < x[2]:
        for each in x:
            one.busy = one.busy * each
    else:
        pool.append(one)
    return one.busy + total(pool)


def item_that_is_another_since(x):
    rows = [[each, 0.0] for each in x]
    row, other = rows[0], rows[int(x[0] * 2)]
    if x[0] < x[2]:
        row[0] = x[1] * 3
        row, other = other, row
    return row[0] + other[0] * 2 + weighed(rows)


def list_of_lists_that_grow_on_paths(x):
    rows = [[x[0], 1.0], [x[1], 2.0]]
    if x[0] < x[2]:
        rows[0].append(x[2])
        rows[1][0] = x[0] * 5
    else:
        rows.append([x[2]])
    return sum((i + 1) * sum(row) for i, row in enumerate(rows))


def array_changed_or_added(x):
    pool = [np.array([each, 1.0]) for each in x]
    one = pool[1]
    if x[0] < x[2]:
        one *= x[2]
    else:
        pool.append(one * 2)
    return sum((i + 1) * np.sum(each) for i, each in enumerate(pool)) + one[0]


def exchanged_for_copies(x):
    """What the loop leaves holds what was there before it, and is another list."""
    rows = [[each, 0.0] for each in x]
    first = second = rows[1]
    for _ in x:
        first, second = second, first
        for _ in x:
            second = copy.copy(second)
    first[1] = first[1] * 2 + x[1] * 3
    return weighed(rows)


RIGHT = [exchanged_on_a_path, exchanged_in_each_pass, each_but_itself]
RIGHT += [list_of_lists_that_grow_on_paths, array_changed_or_added]
RIGHT += [changed_or_added_to, changed_in_depth_or_added_to]
RIGHT += [item_that_is_changed_or_added_again, item_that_is_another_since]
RIGHT += [least_by_key, last_of_a_loop, given_by_a_helper, list_in_a_list, item_behind_a_name]
RIGHT += [appended_and_changed, previous_row, tree_of_nodes]
RIGHT += [next_that_is_busy, list_least_by_key, changed_while_it_moves, one_of_two_items]
RIGHT += [item_of_a_list_that_grows, none_or_least, held_by_a_part_of_the_list, put_in_before]
XS = [np.array([0.7, 0.2, 0.9]), np.array([0.9, 0.2, 0.6])]


@pytest.mark.thinned(8)
@pytest.mark.parametrize("f", RIGHT)
def test_what_is_right(f):
    for x in XS:
        np.testing.assert_allclose(jit(f)(x), f(x), rtol=1e-12)
        np.testing.assert_allclose(grad(f)(x), gradient(f, x), rtol=1e-6, atol=1e-8)
        tangent = jvp(f, (x,), (np.ones(3),))[1]
        np.testing.assert_allclose(tangent, np.sum(gradient(f, x)), rtol=1e-6)
    batch = np.stack(XS)
    np.testing.assert_allclose(vmap(f)(batch), [f(x) for x in XS], rtol=1e-12)


def test_what_copies_replace_in_a_loop_is_refused():
    with pytest.raises(S2SError, match="S2S207"):
        jit(exchanged_for_copies)(XS[0])
