"""Parameters: a name, a value that changes in place, and what is computed with them a Tensor."""

import copy
import gc
import pickle

import numpy as np
import pytest

import s2s_ad as ms
from s2s_ad import Parameter, ParameterTuple, Tensor


def new(name="w"):
    return Parameter(Tensor([1.0, 2.0]), name=name)


@pytest.mark.parametrize(
    "data, dtype",
    [
        (1.5, ms.float32),
        (2, ms.int32),
        ([1, 2], ms.int64),
        (np.ones(2), ms.float64),
        (Tensor([1], ms.int8), ms.int8),
    ],
    ids=repr,
)
def test_dtype_of_the_data(data, dtype):
    assert Parameter(data).dtype == dtype


def test_the_value_is_a_copy():
    array, tensor = np.ones(2), Tensor([1.0, 1.0])
    parameters = Parameter(array), Parameter(tensor), Parameter(Parameter(tensor))
    array[0] = tensor[0] = 9
    assert [p.tolist() for p in parameters] == [[1.0, 1.0]] * 3


def test_it_is_a_tensor_with_a_name():
    p = new()
    assert isinstance(p, Tensor)
    assert isinstance(p, np.ndarray)
    assert (p.name, p.requires_grad) == ("w", True)
    p.name, p.requires_grad = "v", False
    assert (p.name, p.requires_grad) == ("v", False)


def test_without_a_name_each_has_its_own():
    names = {Parameter(1.0).name, Parameter(1.0, name=None).name, Parameter(1.0, name=" ").name}
    assert len(names) == 3
    assert all(name.startswith("Parameter#") for name in names)


RESULTS = {
    "p * 2": [2, 4],
    "2 * p": [2, 4],
    "p + p": [2, 4],
    "-p": [-1, -2],
    "p[:]": [1, 2],
    "p[0]": 1,
    "p.T": [1, 2],
    "p.view(2, 1)": [[1], [2]],
    "p.reshape(1, 2)": [[1, 2]],
    "p.copy()": [1, 2],
    "p.astype(ms.int32)": [1, 2],
    "p.sum()": 3,
    "p.squeeze()": [1, 2],
    "p.ravel()": [1, 2],
    "np.exp(p) * 0": [0, 0],
    "np.add(p, 1, out=None)": [2, 3],
    "np.stack([p, p])": [[1, 2], [1, 2]],
    "p.data": [1, 2],
    "p.value()": [1, 2],
    "Tensor(p)": [1, 2],
    "np.atleast_1d(p)": [1, 2],
}


@pytest.mark.parametrize("text", RESULTS)
def test_what_is_made_of_it_is_a_tensor(text):
    result = eval(text, {"p": new(), "np": np, "ms": ms, "Tensor": Tensor})
    assert type(result) is Tensor
    np.testing.assert_array_equal(np.asarray(result), RESULTS[text])


# ---- changes in place ------------------------------------------------------------------------


def assigned(p):
    p[...] = [5.0, 6.0]


def added(p):
    p += [4.0, 4.0]


def through_data(p):
    p.data = Tensor([5.0, 6.0])


CHANGES = [
    lambda p: p.set_data(Tensor([5.0, 6.0])),
    lambda p: p.set_data(Tensor([5, 6], ms.int32)),
    lambda p: p.set_data(Tensor([5, 6], ms.float64)),
    lambda p: p.set_data(np.array([5.0, 6.0])),
    lambda p: p.set_data(Parameter([5.0, 6.0])),
    lambda p: np.copyto(p, [5.0, 6.0]),
    lambda p: np.add(p, 4, out=p),
    assigned,
    added,
    through_data,
]


@pytest.mark.parametrize("change", CHANGES)
def test_whoever_holds_the_value_sees_a_change(change):
    p = new()
    held = p.asnumpy(), p.value(), p.data, p[:], p.view(1, 2)[0]
    result = change(p)
    assert result is None or result is p
    assert p.dtype == ms.float32
    for each in (p, *held):
        np.testing.assert_array_equal(np.asarray(each), [5, 6])


def test_set_data_takes_what_shares_memory_with_the_parameter():
    p = Parameter([1.0, 2.0, 3.0])
    assert p.set_data(p[::-1]).tolist() == [3.0, 2.0, 1.0]


def test_a_view_outlives_its_parameter():
    views = [new().value(), new().asnumpy(), new()[:]]
    gc.collect()
    assert all(view.tolist() == [1.0, 2.0] for view in views)


# ---- copies ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "init, value", [("same", [1, 2]), ("zeros", [0, 0]), ("ones", [1, 1]), (2.5, [2.5, 2.5])]
)
def test_clone(init, value):
    p = Parameter(Tensor([1.0, 2.0]), name="w", requires_grad=False)
    found = p.clone(init)
    found_value = found.tolist()
    p[0] = 9
    assert type(found) is Parameter
    assert found_value == found.tolist() == value
    assert (found.name, found.requires_grad, found.dtype) == ("w", False, ms.float32)


@pytest.mark.parametrize(
    "made", [copy.copy, copy.deepcopy, lambda p: pickle.loads(pickle.dumps(p))]
)
def test_copies_are_parameters_of_their_own(made):
    p = Parameter(Tensor([1.0, 2.0]), name="w", requires_grad=False)
    found = made(p)
    p[0] = 9
    assert type(found) is Parameter
    assert found.tolist() == [1.0, 2.0]
    assert (found.name, found.requires_grad) == ("w", False)


def test_a_deep_copy_of_a_structure_keeps_who_is_who():
    p = new()
    a, b = copy.deepcopy([p, p])
    assert a is b
    assert a is not p


def test_parameters_are_told_apart_by_identity():
    p, q = new("p"), new("q")
    assert {p: 1, q: 2}[q] == 2


# ---- tuples ----------------------------------------------------------------------------------


def test_a_tuple_of_parameters():
    p, q = new("p"), new("q")
    found = ParameterTuple(each for each in (p, q))
    assert isinstance(found, tuple)
    assert [each is other for each, other in zip(found, (p, q), strict=True)] == [True, True]
    assert len(ParameterTuple([p, p])) == 2


def test_a_clone_of_a_tuple_has_a_prefix():
    found = ParameterTuple([new("p"), new("q")]).clone(prefix="accumulate", init="zeros")
    assert type(found) is ParameterTuple
    assert [each.name for each in found] == ["accumulate.p", "accumulate.q"]
    assert [each.tolist() for each in found] == [[0.0, 0.0]] * 2


def test_a_parameter_that_a_tuple_holds_twice_is_cloned_once():
    p = new("p")
    a, b = ParameterTuple([p, p]).clone("c")
    assert a is b


# ---- what is refused -------------------------------------------------------------------------


REFUSED = [
    (lambda: Parameter("abc"), TypeError, "Parameter: argument 'default_input' is a str"),
    (lambda: Parameter(None), TypeError, "Parameter: argument 'default_input' is a NoneType"),
    (lambda: Parameter(True), TypeError, "'default_input' is a bool"),
    (lambda: Parameter(1.0, name=3), TypeError, "'name' must be a string or None, got 3"),
    (lambda: Parameter(1.0, name="n" * 2000), ValueError, "more than 1024 characters"),
    (lambda: Parameter(1.0, requires_grad="yes"), TypeError, "must be a bool, got 'yes'"),
    (lambda: setattr(new(), "requires_grad", 1), TypeError, "must be a bool, got 1"),
    (lambda: new().set_data([1.0, 2.0]), TypeError, "'w' must be a Tensor.* got list"),
    (lambda: new().set_data(None), TypeError, "got NoneType"),
    (lambda: new().set_data(Tensor([1j, 1])), TypeError, "complex data.*of Float32"),
    (lambda: new().set_data(Tensor([1.0] * 3)), ValueError, r"shape \(3,\) != shape \(2,\)"),
    (lambda: new().set_data(3.0), ValueError, r"shape \(\) != shape \(2,\)"),
    (lambda: new().clone("some"), ValueError, "'same', 'zeros', 'ones' or a number, got 'some'"),
    (lambda: ParameterTuple([Tensor(1.0)]), TypeError, "item 0 is a Tensor, no Parameter"),
    (lambda: ParameterTuple([new(), new()]), ValueError, "two parameters have the name 'w'"),
    (lambda: ParameterTuple([new()]).clone(3), TypeError, "'prefix' must be a string, got 3"),
]


@pytest.mark.parametrize("make, kind, message", REFUSED, ids=[row[2] for row in REFUSED])
def test_refused(make, kind, message):
    with pytest.raises(kind, match=message):
        make()


def test_a_value_that_is_refused_leaves_the_parameter():
    p = new()
    with pytest.raises(ms.S2SError):
        p.set_data(Tensor([[5.0, 6.0]]))
    assert p.tolist() == [1.0, 2.0]
