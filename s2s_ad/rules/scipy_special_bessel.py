"""scipy.special: Bessel functions and relatives, and functions with several results."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.special

from s2s_ad import runtime
from s2s_ad.core.registry import register
from s2s_ad.rules.scipy_special_calls import UNKNOWN, Special, called, row, several

POSITIVE = {"domain": "positive"}
ORDER = {"operands": ("v", "z"), "domain": "positive"}
HOLOMORPHIC = {"holomorphic": True}

# ---- Bessel functions and relatives --------------------------------------------------------------


def spherical_slope(function: Callable, sign: int) -> Callable:
    """The derivative of a spherical Bessel function, or of its derivative: their equation 10.47."""

    def slope(n: Any, z: Any, derivative: bool, y: Any) -> Any:
        call = y.builder.call
        if not derivative:
            return call(function, (n, z), {"derivative": True})
        return (n * (n + 1) / z**2 + sign) * call(function, (n, z), {}) - 2 / z * y

    return slope


# Beyond 500 the scaled functions are nearly equal, and what tells them apart is the quotient of
# their asymptotic series (DLMF 10.40.1 and 10.40.2).


def far_series(x: Any, signs: tuple[int, ...], *numbers: float) -> Any:
    """A sum of numbers over powers of abs(x), from the first on, with signs that repeat."""
    far, total = 1 / np.maximum(abs(x), 500.0), 0.0
    for power, number in reversed(list(enumerate(numbers))):
        total = far * (total + signs[power % len(signs)] * number)
    return total


def i_gap(x: Any) -> Any:
    """1 - I1 / I0 of abs(x)."""
    near = np.minimum(abs(x), 500.0)
    quotient = 1 - called("i1e", near) / called("i0e", near)
    series = far_series(x, (1,), 1 / 2, 1 / 8, 1 / 8, 25 / 128, 13 / 32, 1073 / 1024)
    return np.where(abs(x) < 500, quotient, series)


def i1e_slope(x: Any, y: Any) -> Any:
    near = np.clip(x, -500.0, 500.0)
    slope = (called("i0e", near) + called("ive", 2.0, near)) / 2 - np.sign(x) * y
    series = far_series(x, (1,), -1 / 2, 3 / 8, 3 / 8, 63 / 128, 27 / 32, 1899 / 1024)
    return np.where(abs(x) < 500, slope, np.sign(x) * y * series)


def k0e_slope(x: Any, y: Any) -> Any:
    series = far_series(x, (-1, 1), 1 / 2, 1 / 8, 1 / 8, 25 / 128, 13 / 32, 1073 / 1024)
    return np.where(x < 500, y - called("k1e", x), y * series)


def k1e_slope(x: Any, y: Any) -> Any:
    series = far_series(x, (-1, 1), 1 / 2, -3 / 8, -3 / 8, -63 / 128, -27 / 32, -1899 / 1024)
    return np.where(x < 500, y - called("k0e", x) - y / x, y * series)


def scaled(slope: str, part: str) -> dict[str, Any]:
    """The texts of complex numbers for a function that is scaled by exp(-abs(part(z))), whose
    tangent is that of the analytic function, scaled, and that of the scale."""
    back = "" if part == "np.real" else "1j * "
    size = f"np.sign({part}(z))"
    adjoint = f"y_bar * np.conj({slope}) - {back}({size} * np.real(np.conj(y_bar) * y))"
    tangent = f"y_bar * ({slope}) - {size} * {part}(y_bar) * y"
    return {
        "of_complex": (UNKNOWN, adjoint),
        "tangents": (UNKNOWN, tangent),
        **HOLOMORPHIC,
    }


row("bei", "y_bar * special.beip(x)", **POSITIVE)
row("beip", "y_bar * (special.ber(x) - y / x)", **POSITIVE)
row("ber", "y_bar * special.berp(x)", **POSITIVE)
row("berp", "-y_bar * (special.bei(x) + y / x)", **POSITIVE)
row("i0", "y_bar * special.i1(x)")
row("i0e", "-y_bar * (np.sign(x) * y * i_gap(x))", helpers={"i_gap": i_gap})
row("i1", "y_bar * ((special.i0(x) + special.iv(2, x)) / 2)")
row("i1e", "y_bar * slope(x, y)", helpers={"slope": i1e_slope})
row("itstruve0", "y_bar * special.struve(0, x)", **POSITIVE)
row(
    "iv",
    UNKNOWN,
    "y_bar * ((special.iv(v - 1, z) + special.iv(v + 1, z)) / 2)",
    **ORDER,
    **HOLOMORPHIC,
)
row(
    "ive",
    UNKNOWN,
    "y_bar * ((special.ive(v - 1, z) + special.ive(v + 1, z)) / 2 - np.sign(z) * y)",
    **ORDER,
    **scaled("(special.ive(v - 1, z) + special.ive(v + 1, z)) / 2", "np.real"),
)
row("j0", "-y_bar * special.j1(x)")
for _name in ("ivp", "jvp", "kvp", "yvp"):
    _slope = f"y_bar * special.{_name}(v, z, n + 1)"
    row(_name, UNKNOWN, _slope, options=", n=1", **ORDER, **HOLOMORPHIC)
row("j1", "y_bar * ((special.j0(x) - runtime.bessel_j2(x)) / 2)")
register(Special(runtime.bessel_j2, ("y_bar * ((special.j1(x) - special.jv(3, x)) / 2)",)))
for _name in ("hankel1", "hankel2", "jv", "yv"):
    _slope = f"y_bar * ((special.{_name}(v - 1, z) - special.{_name}(v + 1, z)) / 2)"
    row(
        _name,
        UNKNOWN,
        _slope,
        **ORDER,
        holomorphic=True,
        gives_complex=_name.startswith("hankel"),
    )
for _name in ("jve", "yve"):
    _slope = f"(special.{_name}(v - 1, z) - special.{_name}(v + 1, z)) / 2"
    row(_name, UNKNOWN, f"y_bar * ({_slope})", **ORDER, **scaled(_slope, "np.imag"))
row("yn", UNKNOWN, "y_bar * ((special.yn(v - 1, z) - special.yn(v + 1, z)) / 2)", **ORDER)
row("k0", "-y_bar * special.k1(x)", **POSITIVE)
row("k0e", "y_bar * slope(x, y)", helpers={"slope": k0e_slope}, **POSITIVE)
row("k1", "-y_bar * (special.k0(x) + y / x)", **POSITIVE)
row("k1e", "y_bar * slope(x, y)", helpers={"slope": k1e_slope}, **POSITIVE)
row("kei", "y_bar * special.keip(x)", **POSITIVE)
row("keip", "y_bar * (special.ker(x) - y / x)", **POSITIVE)
row("ker", "y_bar * special.kerp(x)", **POSITIVE)
row("kerp", "-y_bar * (special.kei(x) + y / x)", **POSITIVE)
for _name in ("kn", "kv"):
    row(
        _name,
        UNKNOWN,
        "-y_bar * ((special.kv(v - 1, z) + special.kv(v + 1, z)) / 2)",
        **ORDER,
        **HOLOMORPHIC,
    )
row(
    "kve",
    UNKNOWN,
    "y_bar * (y - (special.kve(v - 1, z) + special.kve(v + 1, z)) / 2)",
    **ORDER,
    **HOLOMORPHIC,
)
for _name in ("struve", "modstruve"):
    row(_name, UNKNOWN, f"y_bar * (special.{_name}(v - 1, z) - v * y / z)", **ORDER)
for _name, _sign in (("jn", -1), ("yn", -1), ("in", 1), ("kn", 1)):
    row(
        f"spherical_{_name}",
        None,
        "y_bar * slope(n, z, derivative, y)",
        operands=("n", "z"),
        options=", derivative=False",
        domain="positive",
        holomorphic=True,
        helpers={"slope": spherical_slope(getattr(scipy.special, f"spherical_{_name}"), _sign)},
    )
row("y0", "-y_bar * special.y1(x)", **POSITIVE)
row("y1", "y_bar * (special.y0(x) - y / x)", **POSITIVE)

# ---- functions with several results --------------------------------------------------------------

several(
    "airy",
    ("y_bar * parts.p1(z)",),
    ("y_bar * (z * parts.p0(z))",),
    ("y_bar * parts.p3(z)",),
    ("y_bar * (z * parts.p2(z))",),
    operands=("z",),
    holomorphic=True,
)
# exp(2 / 3 * z * sqrt(z)) times Ai and Ai', and exp(-2 / 3 * z * sqrt(z)) times Bi and Bi'.
several(
    "airye",
    ("y_bar * (parts.p1(z) + np.sqrt(z) * y)",),
    ("y_bar * (z * parts.p0(z) + np.sqrt(z) * y)",),
    ("y_bar * (parts.p3(z) - np.sqrt(np.maximum(z, 0.0)) * y)",),
    ("y_bar * (z * parts.p2(z) - np.sqrt(np.maximum(z, 0.0)) * y)",),
    operands=("z",),
    domain="positive",
    holomorphic=(True, True, False, False),  # the scale of Bi is by the size of a real part
)


several(
    "fresnel",
    ("y_bar * np.sin(math.pi / 2 * z**2)",),
    ("y_bar * np.cos(math.pi / 2 * z**2)",),
    operands=("z",),
    holomorphic=True,
)
several(
    "shichi",
    ("y_bar * (np.sinh(x) / x)",),
    ("y_bar * (np.cosh(x) / x)",),
    domain="positive",
    holomorphic=True,
)
several(
    "sici",
    ("y_bar * np.sinc(x / math.pi)",),
    ("y_bar * (np.cos(x) / x)",),
    domain="positive",
    holomorphic=True,
)
