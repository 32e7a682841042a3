"""How Tensors are shown: `str` is NumPy's text, `repr` that of MindSpore, letter by letter."""

import numpy as np
import pytest

from s2s_ad import Parameter, Tensor

F32 = np.float32

REPRESENTATIONS = [
    # data, dtype in the text, text of the value
    (F32([0.2, -0.2]), "Float32", " [ 2.00000003e-01, -2.00000003e-01]"),
    (np.array([1e300]), "Float64", " [1.00000000e+300]"),
    (np.float16([0.1, 65504]), "Float16", " [ 9.9976e-02,  6.5504e+04]"),
    (
        F32([np.nan, np.inf, -np.inf]),
        "Float32",
        " [            nan,             inf,            -inf]",
    ),
    (np.array([7, -123, 40]), "Int64", " [   7, -123,   40]"),
    (np.uint8([1, 200]), "UInt8", " [  1, 200]"),
    (np.array([True, False]), "Bool", " [ True, False]"),
    (np.array([1 + 2j, 0.5 - 1e9j]), "Complex128", " [1+2j, 0.5-1e+09j]"),
    (np.array(20), "Int64", " 20"),
    (F32(20), "Float32", " 20"),
    (F32(3.14159265), "Float32", " 3.14159"),
    (F32(1.5e-7), "Float32", " 1.5e-07"),
    (np.array(True), "Bool", " True"),
    (np.array(1 - 2j), "Complex128", " 1-2j"),
    (np.zeros((0,), F32), "Float32", " "),
    (np.zeros((0, 3), F32), "Float32", "\n"),
    (np.array([[1, 20], [300, 4]]), "Int64", "\n[[  1,  20],\n [300,   4]]"),
    (
        np.arange(8).reshape(2, 2, 2),
        "Int64",
        "\n[[[0, 1],\n  [2, 3]],\n [[4, 5],\n  [6, 7]]]",
    ),
    (np.arange(7)[None], "Int64", "\n[[0, 1, 2 ... 4, 5, 6]]"),
    (
        np.arange(7)[:, None],
        "Int64",
        "\n[[0],\n [1],\n [2],\n ...\n [4],\n [5],\n [6]]",
    ),
    (np.arange(25), "Int64", f" [{', '.join(f'{i:2}' for i in range(24))}, \n 24]"),
    (np.full(12, True), "Bool", f" [{', '.join([' True'] * 12)}\n ]"),
    (np.arange(1001), "Int64", " [   0,    1,    2 ...  998,  999, 1000]"),
]


@pytest.mark.parametrize("array, dtype, value", REPRESENTATIONS, ids=lambda each: None)
def test_representation(array, dtype, value):
    expected = f"Tensor(shape={list(array.shape)}, dtype={dtype}, value={value})"
    assert repr(Tensor(array)) == expected
    assert str((Tensor(array),)) == f"({expected},)"


@pytest.mark.parametrize("array", [row[0] for row in REPRESENTATIONS], ids=lambda each: None)
def test_str_is_the_text_of_numpy(array):
    assert str(Tensor(array)) == f"{Tensor(array)}" == str(np.asarray(array))


def test_a_million_elements_are_shown_at_once():
    text = repr(Tensor(np.zeros((1000, 1000), np.int64)))
    row = "[0, 0, 0 ... 0, 0, 0]"
    rows = f",\n {row}" * 2
    value = f"[{row}{rows},\n ...\n {row}{rows}]"
    assert text == f"Tensor(shape=[1000, 1000], dtype=Int64, value=\n{value})"


@pytest.mark.parametrize(
    "form, text", [("{:.3f}", "0.100"), ("{:>7.2f}", "   0.10"), ("{:e}", "1.000000e-01")]
)
def test_one_element_takes_the_format_of_a_number(form, text):
    assert form.format(Tensor([0.1])[0]) == text


def test_a_parameter_shows_its_name():
    p = Parameter(Tensor([1.0]), name="w", requires_grad=False)
    assert str(p) == repr(p) == "Parameter (name=w, shape=(1,), dtype=Float32, requires_grad=False)"
