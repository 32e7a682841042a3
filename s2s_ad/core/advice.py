"""What to do about a function without a rule: the closest one that has one, the lines of a rule."""

from __future__ import annotations

import ast
import difflib
import inspect
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from s2s_ad.core import values
from s2s_ad.core.builder import Symbol, describe
from s2s_ad.core.homes import Home, home_of
from s2s_ad.core.registry import RULES
from s2s_ad.diagnostics import NoDerivative, Origin

#: functions whose closest relative goes by another name
RELATIVES = {
    "scipy.linalg.bandwidth": "np.triu",
    "scipy.linalg.cossin": "scipy.linalg.svd",
    "scipy.linalg.ldl": "scipy.linalg.cholesky",
    "scipy.linalg.qz": "scipy.linalg.schur",
    "scipy.ndimage.affine_transform": "np.interp",
    "scipy.signal.csd": "np.fft.rfft",
    "scipy.signal.filtfilt": "scipy.signal.lfilter",
    "scipy.signal.hilbert": "np.fft.fft",
    "scipy.signal.istft": "np.fft.irfft",
    "scipy.signal.periodogram": "np.fft.rfft",
    "scipy.signal.resample": "np.fft.rfft",
    "scipy.signal.sosfilt": "scipy.signal.lfilter",
    "scipy.signal.spectrogram": "np.fft.rfft",
    "scipy.signal.stft": "np.fft.rfft",
    "scipy.signal.upfirdn": "np.convolve",
    "scipy.signal.welch": "np.fft.rfft",
    "scipy.special.smirnov": "scipy.special.ndtr",
}
#: how alike two names have to be, from 0 to 1: of one package, and of any other
ALIKE, ALIKE_ELSEWHERE = 0.6, 0.8


def no_derivative(
    function: Any,
    origin: Origin | None,
    args: Sequence[Any] = (),
    kwargs: Mapping[str, Any] | None = None,
) -> NoDerivative:
    """The error for a call of a function without a rule."""
    given = (*args, *(kwargs or {}).values())
    near = closest(function)
    first = f"the closest function that has a rule is {near}" if near else ""
    lines = rule_lines(function, origin, args, kwargs or {})
    if lines:
        own = lines[-1].partition(" = ")[0]
        start = f"{first}; or give it" if first else "give it"
        code = "\n".join(f"        {each}" for each in lines)
        whole = f"{start} a rule of your own, outside the function, and call {own}(...):\n{code}"
    elif not any(map(_may_vary, given)):
        whole = "call it outside of the function, and hand in what it gives"
    else:
        whole = first or "write it as a plain Python function of NumPy calls that have rules"
    return NoDerivative(
        "S2S301",
        f"{describe(function)} has no rule",
        origin=origin,
        why="the compiler knows neither its derivative nor its batched form",
        help=whole,
    )


# ---- the closest function ------------------------------------------------------------------------


def closest(function: Any) -> str | None:
    """The function with a rule whose name is most like this one's, of its own module if there is
    one; None where no name is like it. What a package without rules has means something else,
    unless its name is almost the same."""
    own = describe(function)
    if own in RELATIVES:
        return RELATIVES[own]
    module, _, name = own.rpartition(".")
    known = sorted(filter(None, map(_public, list(RULES))))
    packages = {each.partition(".")[0] for each in known}
    alike = ALIKE if module.partition(".")[0] in packages else ALIKE_ELSEWHERE
    return _most_alike(name, [each for each in known if each.rpartition(".")[0] == module]) or (
        _most_alike(name, known, alike)
    )


def _public(function: Any) -> str | None:
    """How a function with a rule is called; None where it is refused, or is none of a library."""
    if RULES[function].refused:
        return None
    home = home_of(function)
    return home and home.path


def _most_alike(name: str, paths: Sequence[str], alike: float = ALIKE) -> str | None:
    by_name: dict[str, str] = {}
    for path in paths:
        by_name.setdefault(path.rpartition(".")[2], path)
    found = difflib.get_close_matches(name, by_name, 1, alike)
    return by_name[found[0]] if found else None


# ---- a rule of the user's ------------------------------------------------------------------------


def rule_lines(
    function: Any, origin: Origin | None, args: Sequence[Any], kwargs: Mapping[str, Any]
) -> list[str]:
    """The lines that give the function a `custom_rule`; what is left to fill in is `...`.

    Without lines for a class: what it makes is no number. Without arguments that may vary there are
    none either: there is no adjoint to write.
    """
    call = _call_at(origin)
    home = home_of(function)
    path = home.path if home else ast.unparse(call.func) if call is not None else ""
    if isinstance(function, type) or not path or not (args or kwargs):
        return []
    given = dict(zip(_parameters(function, len(args)), args, strict=True)) | dict(kwargs)
    own = path.rpartition(".")[2]
    y = "result" if {"y", "y_bar"} & given.keys() else "y"
    adjoints = ["..." if _may_vary(each) else "None" for each in given.values()]
    names = [name for name, each in given.items() if _may_vary(each)]
    if not names:
        return []
    count = _targets(origin, call)
    return [
        *_imports(home),
        "from s2s_ad import custom_rule",
        f"def {own}_reverse({', '.join((f'{y}_bar', y, *given))}):",
        f"    return {', '.join(adjoints)}  # {_what(names)}, from that of {y} = {own}(...)",
        f"{own} = custom_rule({path}, reverse={own}_reverse{f', results={count}' * bool(count)})",
    ]


def _imports(home: Home | None) -> list[str]:
    if home is None:
        return []
    return ["import numpy as np" if home.module == "numpy" else f"import {home.module}"]


def _what(names: Sequence[str]) -> str:
    return (
        f"the adjoint of {names[0]}" if len(names) == 1 else f"the adjoints of {', '.join(names)}"
    )


def _may_vary(value: Any) -> bool:
    """Whether a derivative with respect to an argument may be asked for."""
    return isinstance(value, Symbol) and values.is_inexact(value.fact) is not False


def _parameters(function: Any, count: int) -> list[str]:
    """What the function calls its first parameters, as far as it says so."""
    try:
        found = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):  # ufuncs and other compiled functions
        found = ()
    known = [
        each.name
        for each in found
        if each.kind in (each.POSITIONAL_ONLY, each.POSITIONAL_OR_KEYWORD)
    ]
    if isinstance(function, np.ufunc) or not known:
        known = ["x"] if count == 1 else []
    return [*known[:count], *(f"x{index + 1}" for index in range(len(known), count))]


def _call_at(origin: Origin | None) -> ast.Call | None:
    """The call at a place of the user's code, where it stands on one line."""
    if origin is None:
        return None
    encoded = origin.text[origin.column : origin.end_column]
    try:
        node = ast.parse(encoded.strip(), mode="eval").body
    except SyntaxError:
        return None
    return node if isinstance(node, ast.Call) else None


def _targets(origin: Origin | None, call: ast.Call | None) -> int:
    """The number of names that the call's line gives to its results; 0 where it gives none."""
    if call is None or origin is None:
        return 0
    try:
        line = ast.parse(origin.text.strip()).body[0]
    except SyntaxError:
        return 0
    if not isinstance(line, ast.Assign) or ast.unparse(line.value) != ast.unparse(call):
        return 0
    target = line.targets[0]
    return len(target.elts) if isinstance(target, ast.Tuple | ast.List) else 0
