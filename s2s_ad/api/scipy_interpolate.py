"""scipy.interpolate: what is written in Python, and what is refused."""

from __future__ import annotations

import scipy.interpolate

from s2s_ad.api.written import write
from s2s_ad.written import scipy_interpolate

write(scipy.interpolate.CubicSpline, scipy_interpolate.CubicSpline)
write(scipy.interpolate.PchipInterpolator, scipy_interpolate.PchipInterpolator)
write(scipy.interpolate.RegularGridInterpolator, scipy_interpolate.RegularGridInterpolator)
write(scipy.interpolate.bisplev, scipy_interpolate.bisplev)
write(scipy.interpolate.interp1d, scipy_interpolate.interp1d)
write(scipy.interpolate.interpn, scipy_interpolate.interpn)
write(scipy.interpolate.make_interp_spline, scipy_interpolate.make_interp_spline)
write(scipy.interpolate.splev, scipy_interpolate.splev)
