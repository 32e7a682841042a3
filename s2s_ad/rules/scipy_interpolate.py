"""scipy.interpolate: what is refused. The rest is written in `written/scipy_interpolate`."""

from __future__ import annotations

import scipy.interpolate

from s2s_ad.rules.unsupported import refuse

FITTED = "it is fitted by FITPACK, whose knots move in steps"
SPLINE = "use CubicSpline or make_interp_spline, which go through the points"
TRIANGLES = "which triangle a point is in changes in steps, and is searched for by Qhull"
GRID = "use RegularGridInterpolator, or a sum over the points of your own weights"
WEIGHTS = "write it as the matrix that it stands for: np.linalg.solve(kernel(x, x), y)"

for _each in [
    "BSpline",
    "LSQBivariateSpline",
    "LSQUnivariateSpline",
    "RectBivariateSpline",
    "SmoothBivariateSpline",
    "UnivariateSpline",
    "InterpolatedUnivariateSpline",
    "bisplrep",
    "make_lsq_spline",
    "make_smoothing_spline",
    "splprep",
    "splrep",
]:
    refuse(getattr(scipy.interpolate, _each), FITTED, SPLINE)
for _each in [
    "CloughTocher2DInterpolator",
    "LinearNDInterpolator",
    "NearestNDInterpolator",
    "griddata",
]:
    refuse(getattr(scipy.interpolate, _each), TRIANGLES, GRID)
refuse(scipy.interpolate.Akima1DInterpolator, "its slopes are not smooth", "use PchipInterpolator")
refuse(scipy.interpolate.BarycentricInterpolator, "its weights are kept", "use np.polyfit")
refuse(scipy.interpolate.KroghInterpolator, "its divided differences are kept", "use np.polyfit")
refuse(scipy.interpolate.PPoly, "it is a table of coefficients", "use np.polyval of the pieces")
refuse(scipy.interpolate.RBFInterpolator, "its neighbours change in steps", WEIGHTS)
