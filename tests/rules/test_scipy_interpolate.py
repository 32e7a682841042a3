"""scipy.interpolate: what is written in Python, against SciPy, in every mode."""

import numpy as np
import pytest

from rules.properties import case, check_all, module, real, some_slow, unit
from s2s_ad import grad, jit, vmap
from s2s_ad.diagnostics import S2SError

LIKE = {"general": False, "empty": False}
POINTS = "np.array([-1.5, -0.4, 0.3, 1.1, 2.0])"
KNOTS = "np.array([-1.0, -1.0, -1.0, -1.0, -0.2, 0.5, 1.0, 1.0, 1.0, 1.0])"
LINEAR = "np.array([-1.0, -1.0, 0.1, 1.0, 1.0])"
THREE, TWO = "np.array([-1.0, 0.2, 1.5])", "np.array([-1.0, 1.5])"


def of_points(call, **inputs):
    return case(f"scipy.interpolate.{call}", **inputs, **LIKE)


CASES = [
    of_points(f"interp1d({POINTS}, y)(q)", y=real(5), q=unit(3)),
    of_points(f"interp1d({POINTS}, y, axis=0)(q)", y=real(5, 2), q=unit(3)),
    of_points(f"interp1d({POINTS}, y, kind='cubic')(q)", y=real(5), q=unit(3)),
    of_points(f"interp1d({POINTS}, y, 'nearest', axis=0)(q)", y=real(5, 2), q=unit(3)),
    of_points(f"interp1d({POINTS}, y, kind='previous')(q)", y=real(5), q=unit(3)),
    of_points(f"interp1d({POINTS}, y, kind='next')(q)", y=real(5), q=unit(3)),
    of_points(f"interp1d({POINTS}[::-1], y)(q)", y=real(2, 5), q=unit(2, 2)),
    of_points(f"interp1d({TWO}, y, fill_value='extrapolate')(3.0 * q)", y=real(2), q=unit(3)),
    of_points(
        f"interp1d({POINTS}, y, bounds_error=False, fill_value=(0.5, 0.7))(3.0 * q)",
        y=real(5),
        q=unit(4),
    ),
    of_points(f"CubicSpline({POINTS}, y)(q)", y=real(5), q=unit(3)),
    of_points(f"CubicSpline({POINTS} + x, y)(q)", x=unit(), y=real(5), q=unit(2)),
    of_points(f"CubicSpline({POINTS}, y, axis=1)(q)", y=real(2, 5), q=unit(2, 2)),
    of_points(f"CubicSpline({THREE}, y)(2.0 * q)", y=real(3), q=unit(3)),
    of_points(f"CubicSpline({TWO}, y)(q, 1)", y=real(2), q=unit(2)),
    of_points(f"CubicSpline({POINTS}, y, bc_type='natural')(q, 1)", y=real(5), q=unit(3)),
    of_points(f"CubicSpline({POINTS}, y, bc_type='clamped')(q, 2)", y=real(5, 2), q=unit(3)),
    of_points(f"CubicSpline({THREE}, y, bc_type=((1, 0.3), (2, -0.4)))(q)", y=real(3), q=unit(3)),
    of_points(f"make_interp_spline({POINTS}, y)(q)", y=real(5), q=unit(3)),
    of_points(f"make_interp_spline({POINTS}, y, k=1)(q)", y=real(5, 2), q=unit(3)),
    of_points(f"splev(1.5 * q, ({KNOTS}, c, 3))", q=unit(3), c=real(6)),
    of_points(f"splev(q, ({KNOTS}, c, 3), 2)", q=unit(2, 2), c=real(10)),
    of_points(f"splev(q, ({KNOTS}, np.cos(np.arange(6)), 3), der=1)", q=unit()),
    of_points(
        f"bisplev(np.sort(2 * p), np.sort(q), ({KNOTS}, {LINEAR}, c, 3, 1))",
        p=unit(3),
        q=unit(2),
        c=real(18),
    ),
    of_points(
        f"bisplev(np.sort(q), 0.3, ({LINEAR}, {KNOTS}, c, 1, 3), dy=1)", q=unit(2), c=real(18)
    ),
    of_points(f"bisplev(p, q, ({KNOTS}, {LINEAR}, c, 3, 1), 1)", p=unit(), q=unit(), c=real(18)),
    of_points(f"PchipInterpolator({POINTS}, y)(q)", y=real(5), q=unit(3)),
    of_points(f"PchipInterpolator({POINTS}, np.sort(y))(q)", y=real(5), q=unit(3)),
    of_points(f"PchipInterpolator({THREE}, y, extrapolate=False)(q, 1)", y=real(3), q=unit(3)),
    of_points(f"PchipInterpolator({TWO}, y)(q)", y=real(2), q=unit(3)),
    of_points(
        f"RegularGridInterpolator(({POINTS}, {THREE}), y)(np.stack([q, r], axis=-1))",
        y=real(5, 3),
        q=unit(4),
        r=unit(4),
    ),
    of_points(f"RegularGridInterpolator(({POINTS},), y)((q,))", y=real(5, 2), q=unit(3)),
    of_points(
        f"RegularGridInterpolator(({POINTS},), y, bounds_error=False, fill_value=0.5)((2.5 * q,))",
        y=real(5),
        q=unit(4),
    ),
    of_points(f"interpn(({POINTS}, {THREE}), y, (q, r))", y=real(5, 3), q=unit(2), r=unit(2)),
]


@pytest.mark.thinned(5)
@pytest.mark.filterwarnings("ignore::s2s_ad.diagnostics.SampleLoopWarning")
@pytest.mark.parametrize("each", some_slow(CASES, 9))
def test_properties(each):
    check_all(each)


@pytest.mark.parametrize(
    "call, said",
    [
        ("interp1d(x, y)(q)", "above the interpolation range"),
        ("CubicSpline(x[::-1], y)(q)", "strictly increasing"),
        ("PchipInterpolator(x * 0.0, y)(q)", "strictly increasing"),
        ("RegularGridInterpolator((x,), y)((q,))", "out of bounds"),
    ],
)
def test_what_scipy_raises_is_raised(call, said):
    f = module(f"def f(x, y, q):\n    return np.sum(scipy.interpolate.{call})\n").f
    x = np.arange(4.0)
    for each in (f, jit(f), grad(f, 1)):
        with pytest.raises(ValueError, match=said):
            each(x, x**2, np.array([0.5, 3.5]))


def test_samples_that_are_out_of_bounds_raise():
    text = "scipy.interpolate.interp1d(np.arange(4.0), y)(q)"
    f = module(f"def f(y, q):\n    return np.sum({text})\n").f
    y, q = np.ones((2, 4)), np.array([[0.5, 1.0], [0.5, 3.5]])
    with pytest.raises(ValueError, match="above"):
        vmap(grad(f))(y, q)


@pytest.mark.parametrize(
    "call, said",
    [
        ("interp1d(y, y, kind='quadratic')(y)", "kind='quadratic'"),
        ("CubicSpline(y, y, bc_type='periodic')(y)", "bc_type='periodic'"),
        ("CubicSpline(y, y, extrapolate='periodic')(y)", "extrapolate='periodic'"),
        ("CubicSpline(y, y)(y * 1j)", "complex points"),
        ("CubicSpline(y, y).derivative()(y)", "derivative"),
        ("make_interp_spline(y, y, k=5)(y)", "k="),
        ("RegularGridInterpolator((y,), y, method='cubic')((y,))", "method"),
        ("griddata(y, y, y)", "griddata"),
        ("UnivariateSpline(y, y)(y)", "UnivariateSpline"),
        ("RBFInterpolator(y[:, None], y)(y[:, None])", "RBFInterpolator"),
    ],
)
def test_what_is_refused(call, said):
    f = module(f"def f(y):\n    return np.sum(np.abs(scipy.interpolate.{call}))\n").f
    with pytest.raises(S2SError, match=said):
        grad(f)(np.arange(5.0))
