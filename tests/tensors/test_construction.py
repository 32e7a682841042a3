"""What a Tensor is made of: its dtype, whose memory it has, and what is refused."""

import copy
import pickle

import numpy as np
import pytest

import s2s_ad as ms
from s2s_ad import Tensor

DTYPES = [
    ([1.0, 2.0], ms.float32),
    ([1, 2], ms.int64),
    ([1, 2.5], ms.float32),
    ([True, False], ms.bool_),
    ((1.0, 2.0), ms.float32),
    ([[1, 2], [3, 4]], ms.int64),
    ([], ms.float32),
    (1.0, ms.float32),
    (3, ms.int64),
    (True, ms.bool_),
    (1 + 2j, ms.complex128),
    (2**63, ms.uint64),
    (np.array([1.0]), ms.float64),
    (np.array([1], np.int8), ms.int8),
    (np.array([1.0], ">f4"), ms.float32),
    (np.float64(1.0), ms.float64),
    (np.float16(1.0), ms.float16),
    ([np.float64(1.0)], ms.float32),
    ([np.array([1.0])], ms.float64),
    ([Tensor(1.0), Tensor(2.0)], ms.float32),
    ([Tensor([1], ms.int8)], ms.int8),
]


@pytest.mark.parametrize("data, dtype", DTYPES, ids=repr)
def test_dtype_of_the_data(data, dtype):
    made = Tensor(data)
    assert type(made) is Tensor
    assert made.dtype == dtype
    np.testing.assert_array_equal(made.asnumpy(), np.array(data))
    assert ms.tensor(data).dtype == dtype


@pytest.mark.parametrize("dtype", [ms.float16, ms.float64, ms.int32, ms.bool_, ms.complex64])
@pytest.mark.parametrize("data", [[1.7, 0.0], np.array([1.7, 0.0]), (1, 0), Tensor([1, 0])])
def test_a_dtype_that_is_asked_for(data, dtype):
    made = Tensor(data, dtype)
    assert made.dtype is dtype
    np.testing.assert_array_equal(made.asnumpy(), np.array(data).astype(dtype.dtype))


@pytest.mark.parametrize("init, expected", [("zeros", 0), ("ones", 1), (2.5, 2.5)])
def test_a_shape_that_is_filled(init, expected):
    made = Tensor(shape=(2, 3), dtype=ms.float32, init=init)
    assert made.dtype == ms.float32
    np.testing.assert_array_equal(made, np.full((2, 3), expected))


def test_a_shape_that_an_initializer_fills():
    def counted(array):
        array[...] = np.arange(array.size).reshape(array.shape)

    made = Tensor(shape=(2, 2), dtype=ms.int32, init=counted)
    assert made.tolist() == [[0, 1], [2, 3]]
    assert made.init_data() is made


# ---- memory ----------------------------------------------------------------------------------


def changed(data, make):
    """What a Tensor made of the data has after the first element of the data was changed."""
    made = make(data)
    data[0] = 9
    return made.tolist()


MEMORY = [
    ("an array is copied", np.array([1.0, 2.0]), Tensor, [1.0, 2.0]),
    ("from_numpy shares", np.array([1.0, 2.0]), Tensor.from_numpy, [9.0, 2.0]),
    ("a Tensor shares", Tensor([1.0, 2.0]), Tensor, [9.0, 2.0]),
    ("another dtype copies", Tensor([1.0, 2.0]), lambda x: Tensor(x, ms.float64), [1.0, 2.0]),
    ("asnumpy shares", Tensor([1.0, 2.0]), Tensor.asnumpy, [9.0, 2.0]),
    ("a slice shares", Tensor([1.0, 2.0]), lambda x: x[:], [9.0, 2.0]),
    ("view shares", Tensor([1.0, 2.0]), lambda x: x.view(2), [9.0, 2.0]),
    ("a list of Tensors is copied", Tensor([1.0, 2.0]), lambda x: Tensor([x])[0], [1.0, 2.0]),
    ("copy", Tensor([1.0, 2.0]), Tensor.copy, [1.0, 2.0]),
    ("clone", Tensor([1.0, 2.0]), Tensor.clone, [1.0, 2.0]),
    ("flatten copies", Tensor([1.0, 2.0]), Tensor.flatten, [1.0, 2.0]),
    ("copy.copy", Tensor([1.0, 2.0]), copy.copy, [1.0, 2.0]),
    ("copy.deepcopy", Tensor([1.0, 2.0]), copy.deepcopy, [1.0, 2.0]),
]


@pytest.mark.parametrize("made", [copy.copy, copy.deepcopy, Tensor.copy, Tensor.clone])
def test_a_copy_is_a_tensor(made):
    assert type(made(Tensor([1.0]))) is Tensor


@pytest.mark.parametrize("name, data, make, expected", MEMORY, ids=[row[0] for row in MEMORY])
def test_memory_is_shared_or_copied(name, data, make, expected):
    assert changed(data.copy(), make) == expected


def test_pickling_keeps_type_and_dtype():
    found = pickle.loads(pickle.dumps(Tensor([1.0, 2.0])))
    assert type(found) is Tensor
    assert found.dtype is ms.float32
    assert found.tolist() == [1.0, 2.0]
    assert pickle.loads(pickle.dumps(ms.bool_)) is ms.bool_


def test_item_assignment_and_in_place_operators_keep_object_and_dtype():
    x = same = Tensor([1, 2, 3], ms.int32)
    x[1] = 5
    x += 1
    x *= Tensor([2, 2, 2])
    x -= [1, 1, 1]
    assert same is x
    assert x.dtype == ms.int32
    assert x.tolist() == [3, 11, 7]
    y = Tensor([1.0, 2.0])
    y /= Tensor([2.0, 4.0], ms.float64)
    assert y.dtype == ms.float32
    assert y.tolist() == [0.5, 0.5]


# ---- what is refused -------------------------------------------------------------------------

REFUSED = [
    (lambda: Tensor("abc"), TypeError, "'input_data' is a str"),
    (lambda: Tensor(None), TypeError, "'input_data' is a NoneType"),
    (lambda: Tensor(), TypeError, "'input_data' is a NoneType"),
    (lambda: Tensor({"a": 1}), TypeError, "'input_data' is a dict"),
    (lambda: Tensor(b"abc"), TypeError, "'input_data' is a bytes"),
    (lambda: Tensor(np.array(["a"])), TypeError, "ndarray of <U1"),
    (lambda: Tensor(np.array([None])), TypeError, "ndarray of object"),
    (lambda: Tensor([1.0, "b"]), TypeError, "list with 'b'"),
    (lambda: Tensor([1.0, [None]]), TypeError, "rows have different shapes"),
    (lambda: Tensor([[1.0, 2.0], [3.0]]), TypeError, r"rows have different lengths \(2, 1\)"),
    (lambda: Tensor([[[1, 2], [3]], [[1, 2], [3, 4]]]), TypeError, r"lengths \(2, 1\)"),
    (lambda: Tensor([1.0], "float32"), TypeError, "write s2s_ad.float32"),
    (lambda: Tensor([1.0], np.float32), TypeError, "write s2s_ad.float32"),
    (lambda: Tensor([1.0], float), TypeError, "write s2s_ad.float64"),
    (lambda: Tensor([1.0], bool), TypeError, "write s2s_ad.bool_"),
    (lambda: Tensor([1.0], "nothing"), TypeError, "one of s2s_ad.bool_"),
    (lambda: Tensor(shape=(2,), init="zeros"), ValueError, "shape, dtype and init"),
    (lambda: Tensor(shape=(2,), dtype=ms.float32, init="some"), TypeError, "'init' got 'some'"),
    (lambda: Tensor([1.0, 2.0], shape=(3,)), ValueError, r"'shape' is \(3,\); input_data has"),
    (lambda: Tensor.from_numpy([1.0]), TypeError, "from_numpy: expected an array, got a list"),
    (lambda: Tensor([1.0, 2.0]).item(), ValueError, "item: only one element.*has 2"),
    (lambda: float(Tensor([1.0, 2.0])), ValueError, "float: only one element.*has 2"),
    (lambda: int(Tensor([1.0, 2.0])), ValueError, "int: only one element.*has 2"),
    (lambda: complex(Tensor([1.0, 2.0])), ValueError, "complex: only one element.*has 2"),
    (lambda: bool(Tensor([1.0, 2.0])), ValueError, "ambiguous"),
    (lambda: Tensor([1.0, 2.0])[5], IndexError, "index 5 is out of bounds for axis 0 with size 2"),
    (lambda: Tensor([1, 2]).__iadd__(1.5), TypeError, "Cannot cast"),
    (lambda: Tensor([1.0, 2.0]).split([1, 2]), ValueError, "are 3 in all, axis 0 has 2"),
    (lambda: iter(Tensor(1.0)), TypeError, "iteration over a 0-d"),
]


@pytest.mark.parametrize("make, kind, message", REFUSED, ids=[row[2] for row in REFUSED])
def test_refused(make, kind, message):
    with pytest.raises(kind, match=message):
        make()


def test_one_element_is_a_number():
    for one in (Tensor(2.5), Tensor([2.5]), Tensor([[2.5]])):
        assert (float(one), int(one), complex(one), bool(one), one.item()) == (2.5, 2, 2.5, 1, 2.5)
    assert [10, 20][Tensor(1)] == 20


def test_a_dtype_cannot_change_in_place():
    x = Tensor([1.0])
    with pytest.warns(UserWarning, match=r"x = x.astype\(s2s_ad.float16\)"):
        assert x.set_dtype(ms.float16) == ms.float16
    assert x.dtype == ms.float32


def test_bfloat16_comes_from_ml_dtypes():
    try:
        import ml_dtypes  # noqa: F401
    except ImportError:
        with pytest.raises(ms.S2SError, match="pip install ml_dtypes"):
            ms.bfloat16
        return
    x = Tensor([1.0, 2.5], ms.bfloat16)
    assert str(x) == "[1.000000 2.500000]"
    assert repr(x) == "Tensor(shape=[2], dtype=BFloat16, value= [  1, 2.5])"
    assert (x + x).dtype == (x * 2.0).dtype == (Tensor([1, 2]) * x).dtype == ms.bfloat16
    assert (x + Tensor([1.0, 2.0])).dtype == (x + Tensor([1], ms.float16)).dtype == ms.float32


def test_a_subclass_makes_its_own_and_operators_give_tensors():
    class Weights(Tensor):
        pass

    made = Weights([1.0, 2.0])
    assert type(made) is Weights
    assert type(made + made) is type(made + 1.0) is Tensor
    assert (made + made).tolist() == [2.0, 4.0]


def test_a_number_of_no_axes_is_added_to_in_place():
    total = same = Tensor(0.0)
    total += Tensor([1.0, 2.0]).sum()
    assert total is same
    assert total.tolist() == 3.0
    assert sum([Tensor(1.0), Tensor(2.0)]).item() == 3.0
