"""Recipes of MindSpore's tutorials, cell by cell in a real kernel: they print what its pages do.

But for the sign of a zero, which `same_text` does not see: -4.0 * 0.0 is -0.0, and MindSpore's
matrix product, which adds to 0.0, gives 0.0.
"""

import json
import re
from pathlib import Path

import pytest

from printed import same_text

nbclient = pytest.importorskip("nbclient")
nbformat = pytest.importorskip("nbformat")
pytest.importorskip("ipykernel")

CASES = Path(__file__).parents[1] / "data" / "mindspore" / "cases.json"
NAMES = "Parameter, Tensor, amp, grad, jit, nn, ops, value_and_grad, vmap"
IMPORTS = f"import numpy as np\nimport s2s_ad as ms\nfrom s2s_ad import {NAMES}\n"

#: (cells, what they print together), of the page on gradients of each sample
TD_ERRORS = [
    (
        IMPORTS
        + "value_fn = lambda theta, state: ops.tensor_dot(theta, state, axes=1)\n"
        + "def td_loss(theta, s_tm1, r_t, s_t):\n"
        + "    v_t = value_fn(theta, s_t)\n"
        + "    target = r_tp1 + value_fn(theta, s_tp1)\n"
        + "    return (ops.stop_gradient(target) - v_t) ** 2",
        "",
    ),
    (
        "theta = Tensor([0.2, -0.2, 0.1])\nr_tp1 = Tensor(2.0)\ns_tp1 = Tensor([1.0, 2.0, 0.0])\n"
        "s_tm1, r_t, s_t = Tensor([2.0, 1.0, -2.0]), Tensor(2.0), Tensor([1.0, 2.0, 0.0])",
        "",
    ),
    ("td_grad = grad(td_loss)\nprint(td_grad(theta, s_tm1, r_t, s_t))", "[-4. -8. 0.]"),
    (
        "batch = [ops.stack([each, each]) for each in (s_tm1, r_t, s_t)]\n"
        "per_sample = vmap(td_grad, in_axes=(None, 0, 0, 0))\n"
        "print(per_sample(theta, *batch))",
        "[[-4. -8. 0.] [-4. -8. 0.]]",
    ),
    (
        "@jit\ndef vmap_td_grad(*args):\n    return vmap(td_grad, in_axes=(None, 0, 0, 0))(*args)\n"
        "print(vmap_td_grad(theta, *batch))",
        "[[-4. -8. 0.] [-4. -8. 0.]]",
    ),
    (
        "%%time\n\nimport numpy as np\ndef scaled_loss(theta, *rest):\n"
        "    return np.float32(2.0) * td_loss(theta, *rest)\n"
        "print(grad(scaled_loss)(theta, s_tm1, r_t, s_t))",
        "[ -8. -16. 0.]",
    ),
    (
        "%timeit -n1 -r1 print(grad(lambda t: 3 * td_loss(t, s_tm1, r_t, s_t))(theta))",
        "[-12. -24. 0.]",
    ),
    ("r_tp1 = Tensor(0.0)\nprint(td_grad(theta, s_tm1, r_t, s_t))", "[0. 0. 0.]"),
    (
        "def value_fn(theta, state):\n    return 2 * ops.tensor_dot(theta, state, axes=1)\n"
        "r_tp1 = Tensor(2.0)\nprint(td_grad(theta, s_tm1, r_t, s_t))",
        "[ -8. -16. 0.]",
    ),
]


def recipes():
    """The recipes of the pages in two cells each, with what MindSpore 2.10 prints of them."""
    for case in json.loads(CASES.read_text(encoding="utf-8")):
        if case["group"].startswith("seed") and case.get("stdout"):
            code = case["code"].replace("from mindspore", "from s2s_ad")
            head, last = re.fullmatch(r"(.*?)\n((?:out =|vg =).*)", code, re.DOTALL).groups()
            yield [(IMPORTS + head, ""), (last, case["stdout"])]


def printed(cell):
    return "".join(each["text"] for each in cell.outputs if each.output_type == "stream")


def lasting(text):
    """What was printed, without the times of magics, and without the space before a first minus."""
    lines = [line for line in text.splitlines() if not re.search(r"^(CPU|Wall)|per loop", line)]
    return re.sub(r"\[\s+", "[", "\n".join(lines))


def test_recipes_print_in_a_kernel_what_their_pages_print(tmp_path, monkeypatch):
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path))
    monkeypatch.setenv("JUPYTER_RUNTIME_DIR", str(tmp_path))
    cells = [cell for recipe in (TD_ERRORS, *recipes()) for cell in recipe]
    notebook = nbformat.v4.new_notebook()
    notebook.cells = [nbformat.v4.new_code_cell(text) for text, _ in cells]
    client = nbclient.NotebookClient(notebook, timeout=60, kernel_name="python3")
    client.execute(cwd=str(Path(__file__).parents[2]))
    assert len(cells) > 25
    for (text, expected), cell in zip(cells, notebook.cells, strict=True):
        assert same_text(lasting(printed(cell)), lasting(expected)), text
