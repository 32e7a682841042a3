"""What MindSpore 2.10 computes, and what it should refuse: each of its counted cases.

`EXCLUDED` are those on which we differ, each with the reason. Most are misuse to MindSpore that we
support, as the notes on its errors ask for.
"""

import pytest

from surface.cases import CASES, fault

pytestmark = pytest.mark.thinned(6)

SUPPORTED = "a dict of arrays is a structure like any other"
FRESH = "what a name stands for is read at each call: nothing stale is ever used"
FLOATING = "a gradient of integers would be cut off: 1.5 * x has the slope 1 then"
KEPT_MEMORY = "views and compiled code are bound to a Parameter's memory: its shape stays"

EXCLUDED = {
    "err.grad.callable_obj": "objects with __call__ are differentiated",
    "err.grad.unknown_kw": "argnums, JAX's name for grad_position, is accepted",
    "err.grad.np_function": "a function of NumPy that has a rule is differentiated as it stands",
    "op.select_nan": "what a selection leaves out has no part in a gradient: 0, not NaN",
    "err.jit.lambda": "a lambda is found by its place in the line",
    "err.vmap.dict_input": SUPPORTED,
    "err.vmap.dict_input_axes": SUPPORTED,
    "err.vmap.dict_output": SUPPORTED,
    "err.vmap.if_batched": "each sample takes the side that it would take alone",
    "err.vmap.item_inside": "under vmap each sample has a number of its own",
    "err.vmap.kwargs": "an argument given by name is mapped like one given by position",
    "err.vmap.none_output": "None is the same for all samples",
    "err.vmap.while_batched": "each sample leaves the loop when it would leave it alone",
    "input.bool_tensor": FLOATING,
    "input.int64_tensor": FLOATING,
    "input.mixed_pos_int": FLOATING,
    "jit.closure_change": FRESH,
    "jit.closure_tensor_change": FRESH,
    "jit.side_effect": "a list outside the function is not changed silently only once: refused",
    "op.pow0": "x**0 is 1 for all x: its slope at 0 is 0, not nan, as PyTorch and JAX have it",
    "param.set_data_scalar": KEPT_MEMORY,
    "param.set_data_shape": KEPT_MEMORY,
    "print.Tensor([1., 2.], ms.bfloat16)": "NumPy has no bfloat16 without a further library",
}

COUNTED = [name for name, case in CASES.items() if case["kind"] != "note"]


@pytest.mark.parametrize("name", [name for name in COUNTED if name not in EXCLUDED])
def test_the_case_has_the_outcome_of_mindspore(name, tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(tmp_path)
    assert fault(CASES[name], tmp_path) == ""


@pytest.mark.parametrize("name", EXCLUDED)
def test_an_excluded_case_still_differs(name, tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(tmp_path)
    assert fault(CASES[name], tmp_path) != ""
