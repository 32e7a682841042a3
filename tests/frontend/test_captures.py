"""Captured objects: whatever changes between two calls, nothing stale is used."""

import dataclasses
import functools

import numpy as np
import pytest

from frontend.loading import load
from s2s_ad import grad, jit, jvp

pytestmark = pytest.mark.thinned(2)

X = np.array([0.3, -0.7, 1.1])

MODULE = """
import dataclasses
import functools
import numpy as np

number = 2.0
integer = 2
flag = True
text = "a"
axis = 0
array = np.array([1.0, 2.0, 3.0])
table = {"w": np.array([1.0, 2.0, 3.0]), "k": 2.0}
items = [2.0, (3.0, np.array([1.0, 1.0, 2.0]))]
nothing = None

def helper(x):
    return x * 2.0

def other_helper(x):
    return x * x

def with_default(x, w=np.array([1.0, 2.0, 3.0])):
    return x * w

functions = {"f": helper}

class Model:
    rate = 0.5
    def __init__(self):
        self.w = np.array([1.0, 2.0, 3.0])
        self.mode = "linear"
    def step(self, x):
        return self.rate * self.w * x
    @property
    def double(self):
        return 2.0 * self.w
    @staticmethod
    def static(x):
        return x * 3.0

class Inner:
    def __init__(self):
        self.model = Model()

@dataclasses.dataclass
class Params:
    w: object
    b: float = 1.0

model = Model()
inner = Inner()
params = Params(np.array([1.0, 2.0, 3.0]))
partial = functools.partial(lambda w, x: w * x, 2.0)

def make(k):
    def set_k(value):
        nonlocal k
        k = value
    return (lambda x: k * x * x), set_k

closure, set_k = make(2.0)

def f(x):
    y = x * number * integer + array * x + table["w"] * x * table["k"]
    y = y + items[0] * x + items[1][0] * items[1][1] * x
    if flag:
        y = y * x
    if nothing is None and text == "a":
        y = y + x
    y = y + helper(x) * functions["f"](x) * with_default(x) + model.step(x) + model.double * x
    y = y + model.static(x) + inner.model.w * x + params.w * x * params.b + partial(x)
    y = y + (x * x if model.mode == "linear" else x) + Model.rate * x
    return y + closure(x) + y.sum(axis=axis) * len(table)
"""


def changed_dtype(m):
    m.array = np.array([4, 5, 6], np.int32)


def another_object_inside(m):
    m.inner.model = m.Model()
    m.inner.model.w = X


def grown_dict(m):
    m.table["extra"] = 1.0


def replaced_default(m):
    m.with_default.__defaults__ = (np.array([3.0, 2.0, 1.0]),)


def moved_in_place(m):
    m.array[1] = 17.0


CHANGES = {
    "array changed in place": moved_in_place,
    "array of another dtype": changed_dtype,
    "array of another rank": lambda m: setattr(m, "array", np.array(4.0)),
    "array of the same kind": lambda m: setattr(m, "array", np.array([3.0, 1.0, 2.0])),
    "array with a length of one": lambda m: setattr(m, "array", np.array([4.0])),
    "attribute": lambda m: setattr(m.model, "w", np.array([5.0, 6.0, 7.0])),
    "attribute of a class": lambda m: setattr(m.Model, "rate", 0.25),
    "attribute of an attribute": lambda m: setattr(m.inner.model, "w", np.array([5.0, 6.0, 7.0])),
    "attribute over that of the class": lambda m: setattr(m.model, "rate", 0.75),
    "attribute that is text": lambda m: setattr(m.model, "mode", "square"),
    "boolean": lambda m: setattr(m, "flag", False),
    "cell": lambda m: m.set_k(5.0),
    "cell to an array": lambda m: m.set_k(np.array([5.0, 6.0, 7.0])),
    "closure": lambda m: setattr(m, "closure", m.make(9.0)[0]),
    "dataclass": lambda m: setattr(m, "params", m.Params(np.array([2.0, 2.0, 2.0]), 3.0)),
    "default": replaced_default,
    "entry added": grown_dict,
    "entry replaced": lambda m: m.table.update(w=np.array([7.0, 8.0, 9.0])),
    "field": lambda m: setattr(m.params, "b", 4.0),
    "function": lambda m: setattr(m, "helper", m.other_helper),
    "function in a dict": lambda m: m.functions.update(f=m.other_helper),
    "integer": lambda m: setattr(m, "integer", 3),
    "integer to float": lambda m: setattr(m, "integer", 3.5),
    "item of a list": lambda m: m.items.__setitem__(0, 5.0),
    "item of a list in a list": lambda m: m.items.__setitem__(1, (1.0, X)),
    "method": lambda m: setattr(m.Model, "step", lambda self, x: x * x * self.w),
    "none": lambda m: setattr(m, "nothing", 1.0),
    "number": lambda m: setattr(m, "number", 3.0),
    "number known in code": lambda m: setattr(m, "axis", -1),
    "object": lambda m: setattr(m, "inner", type(m.inner)()),
    "object inside an object": another_object_inside,
    "partial": lambda m: setattr(m, "partial", functools.partial(m.partial.func, X)),
    "property": lambda m: setattr(m.Model, "double", property(lambda self: 5.0 * self.w)),
    "static method": lambda m: setattr(m.Model, "static", staticmethod(lambda x: x * 4.0)),
    "text": lambda m: setattr(m, "text", "b"),
}


def numeric_gradient(function, x, step=1e-6):
    ends = [(np.sum(function(x + h)), np.sum(function(x - h))) for h in step * np.eye(x.size)]
    return [(up - down) / (2 * step) for up, down in ends]


@pytest.mark.thinned(18)
@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("calls", [1, 20], ids=["cold", "hot"])
def test_a_change_between_two_calls_is_followed(change, calls, tmp_path):
    module = load(tmp_path, MODULE)
    value, gradient = jit(module.f), grad(module.f)
    for _ in range(calls):
        value(X)
        gradient(X)
    before = module.f(X)
    CHANGES[change](module)
    assert not np.array_equal(module.f(X), before) or change in ("number known in code", "object")
    for _ in range(calls):
        np.testing.assert_allclose(value(X), module.f(X), rtol=1e-12)
    np.testing.assert_allclose(gradient(X), numeric_gradient(module.f, X), rtol=1e-5)


def test_the_users_module_is_left_as_it_is(tmp_path):
    module = load(tmp_path, MODULE)
    before = dict(vars(module))
    attributes = dict(vars(module.model))
    grad(module.f)(X)
    assert vars(module) == before
    assert vars(module.model) == attributes
    assert "s2s" not in " ".join(vars(module))


def test_what_is_gone_is_an_error_and_not_the_old_value(tmp_path):
    module = load(tmp_path, "number = 2.0\ndef f(x):\n    return x * number\n")
    value = jit(module.f)
    assert value(3.0) == 6.0
    del module.number
    with pytest.raises(Exception, match="number"):
        value(3.0)
    module.number = 5.0
    assert value(3.0) == 15.0


def test_equal_objects_are_told_apart_by_identity():
    @dataclasses.dataclass(frozen=True)
    class Mode:
        name: str

    class Model:
        def __init__(self, name, w):
            self.name, self.w = name, w

        def __eq__(self, other):
            return self.name == other.name

        def __hash__(self):
            return hash(self.name)

    def f(x, model):
        return x * x * model.w

    value = jit(f)
    assert value(3.0, Model("a", 2.0)) == 18.0
    assert value(3.0, Model("a", 5.0)) == 45.0
    model = Model("a", 3.0)
    assert value(3.0, model) == 27.0
    model.w = 4.0
    assert value(3.0, model) == 36.0


def test_a_captured_integer_that_code_needs_is_part_of_it(tmp_path):
    module = load(
        tmp_path,
        """
        import numpy as np
        AXIS, WHICH = 0, "a"
        def f(x):
            return x.sum(axis=AXIS) * [1.0, 2.0][AXIS] * {"a": 3.0, "b": 4.0}[WHICH]
        """,
    )
    x = np.arange(6.0).reshape(2, 3)
    value = jit(module.f)
    np.testing.assert_allclose(value(x), module.f(x))
    module.AXIS = 1
    np.testing.assert_allclose(value(x), module.f(x))
    module.WHICH = "b"
    np.testing.assert_allclose(value(x), module.f(x))


def test_which_of_captured_arguments_are_replaced(tmp_path):
    """Where a known index is looked for in captured integers, they decide what each place holds."""
    module = load(
        tmp_path,
        """
        import numpy as np
        others, places = [np.arange(1.0, 5.0), 3], (0,)
        def spectrum(x, n):
            return np.sum(np.abs(np.fft.rfft(x, n)) ** 2)
        def f(x):
            return spectrum(*[x if i in places else others[i] for i in range(len(others))])
        """,
    )
    x = np.array([0.3, -0.7, 1.1, 0.4])
    np.testing.assert_allclose(jvp(module.f, (x,), (x,)), (module.f(x), 2 * module.f(x)))
    module.places, module.others = (1, 0), [2.0, x]
    module.spectrum = np.dot
    np.testing.assert_allclose(grad(module.f)(x), 2 * x)
