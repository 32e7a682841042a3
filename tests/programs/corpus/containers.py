"""Containers: lists, dicts and arrays that are filled, shared, aliased and updated in place."""

from collections import defaultdict, deque

import numpy as np

from programs.case import Case


def accumulate_by_key(params, batches):
    """Gradients of a linear model summed key by key, then one step."""
    grads = {key: np.zeros_like(value) for key, value in params.items()}
    for x, y in batches:
        error = x @ params["w"] + params["b"] - y
        grads["w"] += x.T @ error
        grads["b"] += np.sum(error)
    updated = {}
    for key, value in params.items():
        updated[key] = value - 0.1 * grads[key]
    return sum(np.sum(value**2) for value in updated.values())


def tree_map(f, tree):
    if isinstance(tree, dict):
        return {key: tree_map(f, value) for key, value in tree.items()}
    if isinstance(tree, (list, tuple)):
        return type(tree)([tree_map(f, item) for item in tree])
    return f(tree)


def tree_sum(tree):
    if isinstance(tree, dict):
        return sum(tree_sum(value) for value in tree.values())
    if isinstance(tree, (list, tuple)):
        return sum(map(tree_sum, tree))
    return np.sum(tree)


def nested_parameters(params, rate):
    """Weight decay on a tree of parameters, by recursion over its structure."""
    decayed = tree_map(lambda p: p * (1 - rate), params)
    squared = tree_map(lambda p: p * p, decayed)
    return tree_sum(squared) + params["encoder"]["layers"][1][0]


def group_means(values, labels):
    groups = {}
    for value, label in zip(values, labels):
        groups.setdefault(label, []).append(value)
    between = 0.0
    for label in sorted(groups):
        members = groups[label]
        mean = sum(members) / len(members)
        between += len(members) * mean**2
    return between


def stack_machine(x, y, program):
    """Words on a stack: numbers are pushed, operations pop what they need."""
    stack = []
    for word in program:
        if word == "x":
            stack.append(x)
        elif word == "y":
            stack.append(y)
        elif word == "dup":
            stack.append(stack[-1])
        elif word == "swap":
            stack[-1], stack[-2] = stack[-2], stack[-1]
        elif word == "add":
            b = stack.pop()
            stack[-1] += b
        elif word == "mul":
            stack.append(stack.pop() * stack.pop())
        elif word == "sin":
            stack.append(np.sin(stack.pop()))
        else:
            stack.append(float(word))
    (result,) = stack
    return result


def list_surgery(values, extra):
    items = [v**2 for v in values]
    items.extend(np.sin(e) for e in extra)
    items.insert(1, extra[0])
    last = items.pop()
    first = items.pop(0)
    items += [last * first]
    items[1:3] = [items[1] + items[2]]
    del items[-2]
    items.reverse()
    rest = items * 2
    return sum(weight * item for weight, item in enumerate(rest, 1)) + items.index(items[-1])


def shortest_path(weights, edges, start, goal):
    """Dijkstra's algorithm; the length is differentiable, the path is not."""
    distance = defaultdict(lambda: float("inf"))
    distance[start] = 0.0
    unvisited = {node for edge in edges for node in edge}
    while unvisited:
        node = min(unvisited, key=lambda n: distance[n])
        if node == goal:
            break
        unvisited.remove(node)
        for (a, b), weight in zip(edges, weights):
            if a == node and distance[a] + weight < distance[b]:
                distance[b] = distance[a] + weight
    return distance[goal] ** 2


def pascal_prices(up, down, strike, steps=4):
    """A binomial tree as a list of lists, valued from the leaves with early exercise."""
    tree = [[100.0]]
    for _ in range(steps):
        last = tree[-1]
        tree.append([node * down for node in last] + [last[-1] * up])
    p = (1.01 - down) / (up - down)
    values = [max(strike - node, 0.0) for node in tree.pop()]
    while tree:
        row = tree.pop()
        for i, node in enumerate(row):
            held = (p * values[i + 1] + (1 - p) * values[i]) / 1.01
            values[i] = max(held, strike - node)
        values.pop()
    return values[0]


def breadth_first_flow(capacity, graph, source):
    """What a source pours out, shared among neighbours level by level."""
    queue = deque([(source, 1.0)])
    visited = {source}
    received = np.zeros(len(graph))
    while queue:
        node, amount = queue.popleft()
        received[node] += amount
        fresh = [n for n in graph[node] if n not in visited]
        visited.update(fresh)
        for neighbour in fresh:
            queue.append((neighbour, amount * capacity[neighbour] / (1 + len(fresh))))
    return np.sum(received**2 * np.arange(1, len(graph) + 1))


def aliased_rows(A, b):
    """Two names for one array: what is written through one is read through the other."""
    work = A.copy()
    alias = work
    row = work[1]
    alias[0] = b * 2
    row += work[0]
    work[1, 0] *= 3
    return np.sum(alias[1] * b) + row[0] + np.sum(work[2] ** 2)


def unpacked_rows(points, speed):
    """x and y are rows of one array: what moves them moves it."""
    state = points.copy()
    x, y = state
    for _ in range(3):
        x += speed * y
        y -= speed * x
        x[0], y[-1] = y[0], x[-1]
    center = state.mean(axis=1)
    return center @ center + np.sum(state[0] * state[1])


def remembered_states(x, rate):
    """A history of one array that is updated in place, and one of copies."""
    x = x.copy()
    same, copies = [], []
    for _ in range(3):
        same.append(x)
        copies.append(x.copy())
        x -= rate * x**3
    x[0] = 1.0
    return sum(np.sum(s * c) for s, c in zip(same, copies)) + np.sum(np.stack(same))


def shared_rows(a, b):
    """A list times a number holds one row many times."""
    row = [a, b, 0.0]
    shared = [row] * 3
    separate = [list(row) for _ in range(3)]
    for i in range(3):
        shared[i][2] += a * (i + 1)
        separate[i][2] += a * (i + 1)
    row[0] *= 2
    other = shared[1]
    other += [b]
    return sum(sum(r) for r in shared) * sum(r[2] for r in separate) + len(row)


def overlapping_slices(x, k):
    """Stores into what they read: the right-hand side is read before anything is written."""
    x = x.copy()
    x[1:] += k * x[:-1]
    x[:-1] = x[1:]
    x[::2], x[1::2] = x[1::2], x[::2].copy()
    x[2:4] *= x[1:3]
    x[-1] += x[0]
    x[...] = x[::-1] * k
    return x @ np.arange(1.0, len(x) + 1)


def written_views(v, w):
    """A reshaped array, its transpose, a ravel and a diagonal, all of one memory."""
    buffer = np.zeros(9)
    grid = buffer.reshape(3, 3)
    grid[:] = np.outer(v, w)
    grid.T[0] += v**2
    flat = grid.ravel()
    flat[4] *= w[0]
    flat[::4] -= 0.5 * w
    buffer[2:4] = buffer[6:8]
    return np.sum(grid * grid.T) + grid.diagonal() @ v


def masked_stores(x, y, threshold):
    out = np.where(x > 0, x, 0.1 * x)
    mask = out > threshold
    out[mask] = threshold + np.tanh(out[mask] - threshold)
    out[~mask] *= y[~mask]
    out[(x > -0.5) & (x < 0.2)] = 2.0
    return np.sum(out**2)


def scatter_repeated(values, bins, positions):
    """A histogram of weights: += keeps one of each repeated index, np.add.at adds them all."""
    once = np.zeros(len(bins))
    once[positions] += values
    every = bins.copy()
    np.add.at(every, positions, values**2)
    last = np.ones(len(bins))
    last[positions] = values
    return once @ bins + every @ last


def given_memory(a, b):
    """Results written where the caller says: out=, np.copyto, fill, and a swap of buffers."""
    front, back = np.empty_like(a), np.empty(len(a))
    np.multiply(a, b, out=front)
    back.fill(0.5)
    for _ in range(3):
        np.add(front, back, out=back)
        np.sin(back, out=back)
        front, back = back, front
    result = np.empty((2, len(a)))
    np.copyto(result[0], front)
    result[1, :] = back
    result *= 2
    return np.sum(result[0] * result[1])


def sorted_in_place(x, weights):
    """x.sort() on a copy, then on a view of every second element."""
    y = x.copy()
    y.sort()
    y[::2] = y[::2][::-1]
    z = y[1:]
    z.sort()
    y -= y[0]
    return y @ weights


def cholesky_by_hand(A):
    n = A.shape[0]
    L = np.zeros((n, n))
    for j in range(n):
        for i in range(j, n):
            s = A[i, j] - np.dot(L[i, :j], L[j, :j])
            if i == j:
                L[i, i] = np.sqrt(s)
            else:
                L[i, j] = s / L[j, j]
    return np.sum(np.log(np.diagonal(L))) + np.sum(L[:, 0])


def gaussian_elimination(A, b):
    """Partial pivoting: rows swap places in the array and in the right-hand side."""
    M = np.column_stack([A, b])
    n = len(b)
    for k in range(n):
        pivot = k + np.argmax(np.abs(M[k:, k]))
        if pivot != k:
            M[[k, pivot]] = M[[pivot, k]]
        for i in range(k + 1, n):
            M[i, k:] -= M[i, k] / M[k, k] * M[k, k:]
    x = np.zeros(n)
    for k in range(n - 1, -1, -1):
        x[k] = (M[k, n] - M[k, k + 1 : n] @ x[k + 1 :]) / M[k, k]
    return x


def table_of_rows(table, rate):
    """A dict of columns becomes rows, rows are sorted, and the best ones pay."""
    rows = [dict(zip(table, row)) for row in zip(*table.values())]
    for row in rows:
        row["profit"] = row["price"] * row["sold"] - rate * row["sold"] ** 2
    rows.sort(key=lambda row: row["profit"], reverse=True)
    best, second, *others = rows
    return best["profit"] * second["price"] + sum(row["profit"] for row in others)


PARAMS = {
    "encoder": {"layers": [(0.5, np.array([0.1, 0.2])), (-0.7, np.array([0.4, 0.9]))]},
    "scale": np.array([[1.0, 0.3]]),
}
MATRIX = np.array([[2.0, 0.5, 0.3], [0.5, 1.8, -0.4], [0.3, -0.4, 1.5]])

CASES = [
    Case(
        accumulate_by_key,
        (
            {"w": np.array([0.4, -0.6]), "b": np.array(0.2)},
            [
                (np.array([[1.0, 0.5], [0.2, -0.3]]), np.array([0.7, 0.1])),
                (np.array([[0.3, 0.8], [-0.9, 0.6]]), np.array([-0.2, 0.5])),
            ],
        ),
        wrt=(0, 1),
    ),
    Case(nested_parameters, (PARAMS, 0.1), wrt=(0, 1), complex_step=True),
    Case(
        group_means,
        (np.array([0.3, 1.2, -0.4, 0.8, 0.5]), ["b", "a", "b", "c", "a"]),
        complex_step=True,
    ),
    Case(
        stack_machine,
        (0.7, 1.3, ("x", "dup", "mul", "y", "swap", "sin", "add", "2.5", "mul")),
        wrt=(0, 1),
        complex_step=True,
    ),
    Case(list_surgery, (np.array([0.5, 1.2, -0.8]), [0.3, 0.9]), wrt=(0, 1), complex_step=True),
    Case(
        shortest_path,
        (
            np.array([1.0, 2.5, 0.8, 1.1, 3.0]),
            [("a", "b"), ("a", "c"), ("b", "c"), ("c", "d"), ("b", "d")],
            "a",
            "d",
        ),
        complex_step=True,
    ),
    Case(pascal_prices, (1.1, 0.92, 103.0), wrt=(0, 1, 2)),
    Case(
        breadth_first_flow,
        (np.array([1.0, 0.8, 0.5, 0.9, 0.3]), [[1, 2], [0, 3], [3, 4], [4], []], 0),
    ),
    Case(aliased_rows, (MATRIX, np.array([0.2, 0.7, -0.5])), wrt=(0, 1)),
    Case(written_views, (np.array([0.3, -0.8, 1.1]), np.array([0.9, 0.4, -0.6])), wrt=(0, 1)),
    Case(
        masked_stores,
        (np.array([0.8, -0.9, 0.1, 1.4, -0.3]), np.array([0.5, 1.5, 0.7, -0.4, 1.2]), 0.5),
        wrt=(0, 1, 2),
    ),
    Case(
        scatter_repeated,
        (
            np.array([0.5, 1.2, -0.7, 0.9]),
            np.array([0.3, 0.8, -0.4]),
            np.array([2, 0, 2, 1]),
        ),
        wrt=(0, 1),
    ),
    Case(given_memory, (np.array([0.4, 0.9, -0.3]), np.array([1.1, -0.6, 0.8])), wrt=(0, 1)),
    Case(
        sorted_in_place,
        (np.array([0.7, -0.4, 1.5, 0.2, 0.9]), np.array([1.0, -2.0, 0.5, 3.0, 0.7])),
        wrt=(0, 1),
        complex_step=True,
    ),
    Case(cholesky_by_hand, (MATRIX,)),
    Case(
        gaussian_elimination,
        (
            np.array([[0.2, 1.5, -0.3], [2.0, 0.4, 0.7], [0.5, -0.8, 1.1]]),
            np.array([1.0, 0.3, -0.6]),
        ),
        wrt=(0, 1),
    ),
    Case(
        table_of_rows,
        ({"price": [2.0, 3.5, 1.2, 2.8], "sold": [4.0, 1.5, 6.0, 2.2]}, 0.15),
        wrt=(0, 1),
    ),
    Case(unpacked_rows, (np.array([[0.5, -0.2, 0.8], [0.3, 0.9, -0.6]]), 0.2), wrt=(0, 1)),
    Case(remembered_states, (np.array([0.6, -1.1, 0.4]), 0.3), wrt=(0, 1)),
    Case(shared_rows, (0.7, -1.3), wrt=(0, 1), complex_step=True),
    Case(overlapping_slices, (np.array([0.5, -0.3, 0.9, 1.2, -0.7, 0.4]), 0.8), wrt=(0, 1)),
]
