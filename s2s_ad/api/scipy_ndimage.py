"""scipy.ndimage: what is written in Python."""

from __future__ import annotations

import scipy.ndimage

from s2s_ad.api.written import write
from s2s_ad.written import scipy_ndimage

write(scipy.ndimage.map_coordinates, scipy_ndimage.map_coordinates)
