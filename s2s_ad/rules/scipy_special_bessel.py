"""scipy.special: Bessel functions and relatives, and functions with several results."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import scipy.special

from s2s_ad.rules.scipy_special_calls import UNKNOWN, row, several

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
row("i0e", "y_bar * (special.i1e(x) - np.sign(x) * y)")
row("i1", "y_bar * ((special.i0(x) + special.iv(2, x)) / 2)")
row("i1e", "y_bar * ((special.i0e(x) + special.ive(2, x)) / 2 - np.sign(x) * y)")
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
row("j1", "y_bar * ((special.j0(x) - special.jv(2, x)) / 2)")
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
row("k0e", "y_bar * (y - special.k1e(x))", **POSITIVE)
row("k1", "-y_bar * (special.k0(x) + y / x)", **POSITIVE)
row("k1e", "y_bar * (y - special.k0e(x) - y / x)", **POSITIVE)
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
