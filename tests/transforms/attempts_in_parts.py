"""Programs that read, after a `try` has failed, what it did before it failed."""

import numpy as np

ERROR = np.linalg.LinAlgError


def root(A, k):
    """Raises where the matrix, less k, is not positive definite."""
    return np.linalg.cholesky(A - k * np.eye(2))[0, 0]


def assigned_twice(x, A):
    y = 2.0 * x
    try:
        y = y * root(A, 0)
        y = y * root(A, 2)
    except ERROR:
        y = y + 1.0
    return y


def nothing_to_do(x, A):
    try:
        y = x * x
        y = y * root(A, 0)
        y = y * root(A, 2)
    except ERROR:
        pass
    return y


def several_names(x, A):
    a = b = c = x
    try:
        a = x * root(A, 0)
        b, c = 2.0 * a, 3.0 * root(A, 2)
        c = c * root(A, 5) * x
    except ERROR:
        a = a * 7.0
    return a + 10.0 * b + 100.0 * c


def with_else_clause(x, A):
    k = 0
    try:
        k = 1
        y = x * root(A, 0)
        k = 2
        y = y * root(A, 2)
    except ERROR:
        y = x * k
    else:
        y = y * y * root(A, 1)
    return y + k


def with_finally_clause(x, A):
    y = x
    try:
        y = y * root(A, 0)
        y = y * y * root(A, 2)
    except ERROR:
        y = y + 1.0
    finally:
        y = y * 3.0
    return y


def which_of_several(x, A):
    y = x
    try:
        y = y * 2.0
        if A[0, 0] < 0.5:
            raise ValueError("small")
        y = y * root(A, 0)
        y = y * root(A, 2)
    except ValueError:
        y = y * 5.0
    except ZeroDivisionError:
        y = y * 7.0
    return y


def branches_inside(x, A):
    y = x
    try:
        if root(A, 0) > 1.5:
            y = y * 2.0
            y = y * root(A, 3)
        else:
            y = y * x
            y = y * root(A, 2)
        y = y + 1.0
    except ERROR:
        y = y * 11.0
    return y


def loop_inside(x, A):
    y, k = x, 0
    try:
        for i in range(5):
            y = y * root(A, 0.4 * i) + x
            k = k + 1
    except ERROR:
        y = y * x
    return y * (k + 1)


def loop_left_inside(x, A):
    y, k = x, 0
    try:
        for i in range(5):
            if i == 1:
                continue
            if i == 4:
                break
            y = y * root(A, 0.4 * i) + x
            k = i
        else:
            k = 100
    except ERROR:
        y = y * x
    return y * (k + 1)


def while_inside(x, A):
    y, k = x, 0.0
    try:
        while root(A, k) > 0.1:
            y = y + x * root(A, k + 0.1)
            k = k + 0.3
    except ERROR:
        k = k + 10.0
    return y * k


def while_on_a_number(x, A):
    y, k = x, 0
    try:
        while k < 4:
            y = y * x
            y = y + root(A, 0.5 * k)
            k += 1
    except ERROR:
        y = y * 2.0
    return y * k


def returned_inside(x, A):
    y = x
    try:
        y = y * root(A, 0)
        if y > 2.0:
            return y * root(A, 1)
        y = y * x
        return y * root(A, 2)
    except ERROR:
        y = y * 13.0
    return y + 1.0


def inside_a_loop(x, A):
    y, s = x, 0.0
    for i in range(4):
        try:
            y = y + x * x
            s = s + y * root(A, i)
            if i == 2:
                break
            y = y * 1.5
        except ERROR:
            s = s * y
            continue
        s = s + 1.0
    return s + y


def one_in_another(x, A):
    y = x
    try:
        y = y * 2.0
        try:
            y = y * x
            y = y * root(A, 0)
            if A[0, 0] > 5.0:
                raise KeyError("large")
        except ERROR:
            y = y + 1.0
            y = y * root(A + 2.0 * np.eye(2), 0)
        y = y * root(A, 2)
    except (ERROR, KeyError):
        y = y * 3.0
    return y


def elements(x, A):
    v = np.zeros(3)
    try:
        v[0] = x
        v[1] = x * root(A, 0)
        v[2] = x * x * root(A, 2)
    except ERROR:
        v[2] += 5.0 * x
    return v * np.array([1.0, 10.0, 100.0])


def elements_in_a_loop(x, A):
    v = np.ones(4) * x
    try:
        for i in range(4):
            v[i] *= root(A, i) * x
    except ERROR:
        v = v * 2.0
    return v * np.arange(1.0, 5.0)


def list_that_grows(x, A):
    items = [x]
    try:
        items.append(x * root(A, 0))
        items.append(x * x * root(A, 2))
    except ERROR:
        items.append(x * 3.0)
    return sum(items) * len(items)


def attribute(x, A):
    d = {"a": x, "n": 1.0}
    try:
        d["a"] = x * root(A, 0)
        d["n"] += 1.0
        d["a"] *= root(A, 2)
    except ERROR:
        d["n"] *= 5.0
    return d["a"] * d["n"]


def filled(v, x, A):
    v[0] = x
    v[1] = x * root(A, 0)
    return v


def root_or_error(x, A):
    y, k = x, 0
    try:
        y = y * 2.0
        k = k + 1
        y = y * root(A, 0)
    except ERROR:
        raise ValueError(f"after {k} steps: {y}")
    return y * k


def raises_another(x, A):
    y = x
    try:
        y = y * x
        y = y * root_or_error(y, A)
        y = y * root(A, 2)
    except (ERROR, ValueError):
        y = y + 7.0
    return y


def quiet(x, A):
    y = x
    try:
        with np.errstate(divide="ignore"):
            y = y / (1.0 + x)
            y = y * root(A, 0)
        y = y * root(A, 2)
    except ERROR:
        y = y * 2.0
    return y


def handler_that_changes_and_finally(x, A):
    """`finally` makes two of the `try`: what says which of them has failed are two flags."""
    B = A.copy()
    try:
        y = x * root(A, 2)
    except ERROR:
        y = 3.0 * x
        B[0, 0] *= 4.0
    finally:
        B[0, 1] += x
    return y + B[0, 0] * x + B[0, 1]


PROGRAMS = [
    handler_that_changes_and_finally,
    *(assigned_twice, nothing_to_do, several_names, with_else_clause, with_finally_clause),
    *(which_of_several, branches_inside, loop_inside, loop_left_inside, while_inside),
    *(while_on_a_number, returned_inside, inside_a_loop, one_in_another, elements),
    *(elements_in_a_loop, list_that_grows, attribute, raises_another, quiet),
]
