"""The cases of MindSpore 2.10: what each runs, and how its outcome is held against ours.

A case is a snippet that uses MindSpore's names and leaves its result in `out`. `follow`: nesting,
shapes, dtypes and numbers agree with what both of MindSpore's modes give. `refuse`: any exception
with a message; an answer fails. `note`: conventions and faults of MindSpore, not counted.
"""

from __future__ import annotations

import contextlib
import io
import json
import sys
import types
from pathlib import Path
from typing import Any

import numpy as np

import s2s_ad
from printed import same_text

NAMES = (
    "Tensor Parameter ParameterTuple nn ops amp grad value_and_grad vmap jit jvp vjp jacfwd jacrev"
    " get_grad"
).split()
#: float32 functions whose last bits differ between libraries
LOOSE = "exp log softmax cross_entropy sigmoid tanh gelu erf pow BCE CrossEntropy Adam".split()

CASES = {
    case["id"]: case
    for case in json.loads(
        (Path(__file__).parents[1] / "data/mindspore/cases.json").read_text(encoding="utf-8")
    )
}


def run(case: dict[str, Any], folder: Path) -> tuple[dict[str, Any], str]:
    """Run a case as a module of its own; what it leaves in its names, and what it printed."""
    name = "".join(c if c.isalnum() else "_" for c in case["id"])
    path = folder / f"{name}.py"
    path.write_text(case["code"] + "\n", encoding="utf-8")
    module = types.ModuleType(name)
    module.__file__ = str(path)
    space = vars(module)
    space |= {"np": np, "ms": s2s_ad, "mindspore": s2s_ad}
    space |= {each: getattr(s2s_ad, each) for each in NAMES if hasattr(s2s_ad, each)}
    aliases = {"mindspore": s2s_ad, name: module}
    aliases |= {f"mindspore.{each}": getattr(s2s_ad, each) for each in ("nn", "ops", "amp")}
    before = dict(sys.modules)
    sys.modules.update(aliases)
    printed = io.StringIO()
    try:
        for key, spec in case["inputs"].items():
            space[key] = s2s_ad.Tensor(np.array(spec["data"], dtype=np.dtype(spec["dtype"])))
        with contextlib.redirect_stdout(printed):
            exec(compile(path.read_text(encoding="utf-8"), str(path), "exec"), space)
    finally:
        for each in aliases:
            sys.modules.pop(each, None)
        sys.modules.update({k: v for k, v in before.items() if k in aliases})
    return space, printed.getvalue()


def fault(case: dict[str, Any], folder: Path) -> str:
    """What is wrong with our outcome of a case; empty where nothing is."""
    if case["kind"] == "refuse":
        try:
            space, _ = run(case, folder)
        except Exception as error:
            return "" if str(error).strip() else f"{type(error).__name__} without a message"
        return f"accepted, gave {space.get('out')!r}"
    try:
        space, printed = run(case, folder)
    except Exception as error:
        return f"{type(error).__name__}: {str(error).strip()[:2000]}"
    loose = any(word in case["code"] for word in LOOSE)
    found = difference(case["outputs"], space.get("out"), 2e-4 if loose else 1e-5)
    if not found and case.get("stdout") and not same_text(printed, case["stdout"]):
        found = f"printed {printed!r}, expected {case['stdout']!r}"
    return found


# ---- comparison ----------------------------------------------------------------------------------


def difference(expected: dict[str, Any], got: Any, tolerance: float, where: str = "out") -> str:
    """Where `got` is other than `expected`; empty where it is not."""
    kind = expected.get("k")
    if kind in ("Tensor", "Parameter", "ndarray"):
        return _of_array(expected, got, tolerance, where)
    if kind in ("tuple", "list", "ParameterTuple"):
        return _of_sequence(list if kind == "list" else tuple, expected["v"], got, tolerance, where)
    if kind == "dict":
        return _of_dict(expected["v"], got, tolerance, where)
    if kind in ("int", "float", "bool"):
        return _of_number(expected["v"], got, tolerance, where)
    if kind == "str":
        return "" if str(got) == expected["v"] else f"{where}: {str(got)!r}, not {expected['v']!r}"
    if kind == "none":
        return "" if got is None else f"{where}: {got!r}, not None"
    return ""  # a description of an object of MindSpore's: that the case runs is what counts


def _of_array(expected: dict, got: Any, tolerance: float, where: str) -> str:
    array = got.asnumpy() if hasattr(got, "asnumpy") else np.asarray(got)
    if list(array.shape) != expected["shape"]:
        return f"{where}: shape {list(array.shape)}, not {expected['shape']}"
    if str(array.dtype).lower() != expected["dtype"].lower():
        return f"{where}: dtype {array.dtype}, not {expected['dtype']}"
    wanted = np.array(_numbers(expected["data"]))
    if not np.allclose(array, wanted, rtol=tolerance, atol=tolerance, equal_nan=True):
        return f"{where}: {array.tolist()}, not {expected['data']}"
    return ""


def _of_sequence(kind: type, expected: list, got: Any, tolerance: float, where: str) -> str:
    if not isinstance(got, kind):
        return f"{where}: {type(got).__name__}, not {kind.__name__}"
    if len(got) != len(expected):
        return f"{where}: {len(got)} items, not {len(expected)}"
    pairs = enumerate(zip(expected, got, strict=True))
    found = (difference(a, b, tolerance, f"{where}[{i}]") for i, (a, b) in pairs)
    return next(filter(None, found), "")


def _of_dict(expected: list, got: Any, tolerance: float, where: str) -> str:
    if not isinstance(got, dict):
        return f"{where}: {type(got).__name__}, not dict"
    for key, item in expected:
        name = key.get("v", key) if isinstance(key, dict) else key
        if name not in got:
            return f"{where}: no key {name!r}"
        if found := difference(item, got[name], tolerance, f"{where}[{name!r}]"):
            return found
    return ""


def _of_number(expected: Any, got: Any, tolerance: float, where: str) -> str:
    number = np.asarray(got).item() if np.ndim(got) == 0 else got
    if not isinstance(number, int | float):
        return f"{where}: {type(got).__name__}, not a number"
    same = np.isclose(number, float(expected), rtol=tolerance, atol=tolerance, equal_nan=True)
    return "" if same else f"{where}: {number}, not {expected}"


def _numbers(data: Any) -> Any:
    """Nested lists in which nan and the infinities are text."""
    return [_numbers(each) for each in data] if isinstance(data, list) else float_or_same(data)


def float_or_same(value: Any) -> Any:
    return float(value) if isinstance(value, str) else value
