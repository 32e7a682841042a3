"""What may not be changed, or nobody knows whether it was: refused by place, with advice."""

import enum

import numpy as np
import pytest

from frontend.flow import lowered
from s2s_ad import S2SError

X = np.array([3.0, 1.0, 2.0, 5.0])
A = np.arange(12.0).reshape(3, 4) + 0.5
ARRAY = np.zeros(4)
ITEMS = [1.0]
TABLE = {"a": 1.0}


class Holder:
    total = 0.0

    def __init__(self):
        self.w = np.zeros(4)

    def set(self, w):
        self.w = w


HOLDER = Holder()


def captured_array(x):
    ARRAY[0] = x[0]
    return ARRAY


def captured_array_updated(x):
    y = ARRAY
    y += x
    return y


def captured_view(x):
    v = ARRAY[1:]
    v[0] = x[0]
    return x


def captured_list(x):
    ITEMS.append(x[0])
    return ITEMS


def captured_dict(x):
    TABLE["b"] = x[0]
    return TABLE


def captured_attribute(x):
    HOLDER.w = x
    return x


def captured_attribute_in_a_method(x):
    HOLDER.set(x)
    return x


def captured_attribute_element(x):
    HOLDER.w[0] = x[0]
    return x


def class_attribute(x):
    Holder.total = x[0]
    return x


def cell(x):
    kept = []

    def remember(v):
        kept.append(v)
        ITEMS.extend(kept)
        return v

    return remember(x)


def reshaped_argument(a):
    v = a.reshape(-1)
    v[0] = 5.0
    return a


def raveled_argument(a):
    v = a.ravel()
    a[0] = 0.0
    return v * 2.0


def perhaps_no_pass(x, n):
    y = x
    for _ in range(int(n)):
        y = y * 2
    y[0] = 5.0
    return x * y


def in_a_list_of_unknown_length(x, n):
    y, items = x * 1.0, []
    for _ in x[x > n]:
        y[0] += 1.0
        items.append(y)
    return np.array(items)


def row_of_the_last_pass(a, n):
    b, row = a.copy(), a[0]
    for i in range(int(n)):
        row = b[i]
    b[1] = 0.0
    return row


def one_array_many_times(x, n):
    r = np.zeros(4)
    rows = [r for _ in range(n)]
    rows[0][1] = x[0]
    return r


def read_only_diagonal(a):
    d = np.diagonal(a)
    d[0] = 1.0
    return d


def read_only_broadcast(x):
    b = np.broadcast_to(x, (3, 4))
    b[0] = 1.0
    return b


def integers_take_no_floats(x):
    n = np.zeros(4, int)
    n += x
    return n


def complex_into_real(x):
    y = x * 1.0
    y[0] = 1j
    return y


def behind_the_end(x):
    y = np.zeros(3)
    y[5] = x[0]
    return np.sum(y)


def before_the_start(x):
    y = np.zeros((3, 2))
    y[0, -3] += x[0]
    return np.sum(y)


def at_the_length(x):
    y = np.zeros(len(x))
    y[len(x)] = x[0]
    return np.sum(y)


def larger_than_its_place(x):
    y = np.zeros(1)
    y += x
    return y


def item_of_a_number(x):
    s = np.sum(x)
    s[0] = 1.0
    return s


def item_of_a_tuple(x):
    t = (x, x)
    t[0] = 1.0
    return t


def resized(x):
    x.resize(2)
    return x


def tuples_in_a_growing_list(x, n):
    items = []
    for i in range(n):
        items.append({"value": x[i]})
    return items[0]["value"]


def list_in_itself(x):
    items = [x]
    items.append(items)
    return items[0]


def deleted(x):
    y = x * 2
    del y
    return y  # noqa: F821


class Plain:
    def __init__(self, x):
        self.x = x


class Slotted:
    __slots__ = ("x",)


def one_dict_for_two(x):
    p, q = Plain(x[0]), Plain(x[1])
    q.__dict__ = p.__dict__
    q.x = x[2]
    return p.x


def slots_left_empty(x):
    q = object.__new__(Slotted)
    q.y = x[0]
    return q.y


class Branch:
    def __init__(self, length, parent=None):
        self.length, self.parent, self.children = length, parent, []
        if parent is not None:
            parent.children.append(self)


def each_holds_the_other(x):
    root = Branch(x)
    return Branch(2.0 * x, root).length * len(root.children)


def key_of_values(x):
    found = {}
    found[x.sum()] = 1.0
    return x * found[x.sum()]


class Slots:
    def __delattr__(self, name):
        object.__delattr__(self, name)


def own_way_to_delete_attributes(x):
    s = Slots()
    s.x = x
    return s.x


class Color(enum.Enum):
    RED = 1


def object_returned(x):
    class Local:
        pass

    return Local()


MUTABLE, COPY = "S2S207", "copy"

#: the code, what stands at the caret's line, and a word of the advice or the cause
CASES = {
    captured_array: ((X,), MUTABLE, "ARRAY[0] = x[0]", COPY),
    captured_array_updated: ((X,), MUTABLE, "y += x", COPY),
    captured_attribute: ((X,), MUTABLE, "HOLDER.w = x", "has_aux=True"),
    captured_attribute_element: ((X,), MUTABLE, "HOLDER.w[0] = x[0]", COPY),
    captured_attribute_in_a_method: ((X,), MUTABLE, "self.w = w", "has_aux=True"),
    captured_dict: ((X,), MUTABLE, 'TABLE["b"] = x[0]', "has_aux=True"),
    captured_list: ((X,), MUTABLE, "ITEMS.append(x[0])", "has_aux=True"),
    captured_view: ((X,), MUTABLE, "v[0] = x[0]", COPY),
    cell: ((X,), MUTABLE, "ITEMS.extend(kept)", "has_aux=True"),
    class_attribute: ((X,), MUTABLE, "Holder.total = x[0]", "return"),
    complex_into_real: ((X,), "S2S203", "y[0] = 1j", "complex"),
    deleted: ((X,), "S2S202", "return y", "after it was deleted"),
    in_a_list_of_unknown_length: ((X, 3), MUTABLE, "items.append(y)", COPY),
    integers_take_no_floats: ((X,), "S2S203", "n += x", "int64"),
    item_of_a_number: ((X,), "S2S203", "s[0] = 1.0", "number"),
    item_of_a_tuple: ((X,), "S2S203", "t[0] = 1.0", "item assignment"),
    behind_the_end: ((X,), "S2S203", "y[5] = x[0]", "out of bounds"),
    before_the_start: ((X,), "S2S203", "y[0, -3] += x[0]", "out of bounds"),
    at_the_length: ((X,), "S2S203", "y[len(x)] = x[0]", "out of bounds"),
    larger_than_its_place: ((X,), "S2S203", "y += x", "shape"),
    each_holds_the_other: ((X,), "S2S201", "parent.children.append(self)", "one direction out"),
    key_of_values: ((X,), "S2S205", "found[x.sum()] = 1.0", "by their place"),
    list_in_itself: ((X,), "S2S201", "items.append(items)", "holds itself"),
    object_returned: ((X,), "S2S304", "", "Local"),
    one_array_many_times: ((X, 3), MUTABLE, "rows[0][1] = x[0]", COPY),
    own_way_to_delete_attributes: ((X,), "S2S201", "s = Slots()", "__delattr__"),
    one_dict_for_two: ((X,), "S2S201", "q.__dict__ = p.__dict__", "__dict__"),
    slots_left_empty: ((X,), "S2S203", "q.y = x[0]", "'Slotted' object has no attribute 'y'"),
    perhaps_no_pass: ((X, 3.0), MUTABLE, "return x * y", COPY),
    raveled_argument: ((A,), MUTABLE, "return v * 2.0", COPY),
    read_only_broadcast: ((X,), "S2S203", "b[0] = 1.0", "read-only"),
    read_only_diagonal: ((A,), "S2S203", "d[0] = 1.0", "read-only"),
    reshaped_argument: ((A,), MUTABLE, "return a", COPY),
    resized: ((X,), MUTABLE, "x.resize(2)", "new array"),
    row_of_the_last_pass: ((A, 3.0), MUTABLE, "return row", COPY),
}


@pytest.mark.parametrize("function", CASES, ids=lambda each: each.__name__)
def test_refused_by_place_with_advice(function):
    args, code, line, word = CASES[function]
    with pytest.raises(S2SError) as caught:
        lowered(function, args)
    error = caught.value
    assert error.code == code
    assert line in error.origin.text
    assert word in str(error)


@pytest.mark.parametrize(
    "function, changing",
    [
        (raveled_argument, "a[0] = 0.0"),
        (row_of_the_last_pass, "b[1] = 0.0"),
    ],
)
def test_what_may_have_changed_is_refused_with_the_line_that_changes_it(function, changing):
    with pytest.raises(S2SError) as caught:
        lowered(function, CASES[function][0])
    assert f"`{changing}`; whether that is the same memory" in caught.value.why


def test_nothing_of_the_module_was_changed():
    np.testing.assert_array_equal(ARRAY, np.zeros(4))
    np.testing.assert_array_equal(HOLDER.w, np.zeros(4))
    assert (ITEMS, TABLE, Holder.total) == ([1.0], {"a": 1.0}, 0.0)


def changes_two(a, b, items):
    a[0] = 1.0
    items[0] = 2.0
    return a * b


def changes_a_view(a, b, items):
    v = b.T
    v += 1.0
    return a * b


@pytest.mark.parametrize(
    "function, mutated", [(changes_two, {"a", "items"}), (changes_a_view, {"b"})]
)
def test_the_program_knows_which_arguments_it_changes(function, mutated):
    program = lowered(function, (X, X, [1.0]))
    assert {name for name, _ in program.mutated} == mutated
