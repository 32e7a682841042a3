"""scipy.ndimage: values between the elements of an array."""

from __future__ import annotations

from typing import Any

import numpy as np

from s2s_ad.written.marks import unsupported


def map_coordinates(
    input, coordinates, output=None, order=3, mode="constant", cval=0.0, prefilter=True
) -> Any:
    """The nearest elements, or straight lines along each axis from one to the next."""
    if output is not None:
        unsupported("map_coordinates with output=")
    if order not in (0, 1):
        unsupported("map_coordinates by splines", "give order=1, or interpolate by CubicSpline")
    if mode not in ("constant", "nearest"):
        unsupported(f"map_coordinates with mode={mode!r}", "use mode='nearest', and np.pad")
    x, at = np.asarray(input), np.asarray(coordinates)
    if x.dtype.kind not in "fc":
        unsupported("map_coordinates of whole numbers", "convert them: input.astype(float)")
    inside, places, weights = at[0] == at[0], (), ()
    for axis in range(x.ndim):
        last = x.shape[axis] - 1
        q = np.clip(at[axis], 0.0, last)
        inside = inside & (q == at[axis])
        if order == 0:
            places = (*places, np.floor(q + 0.5).astype(np.intp))
        else:
            first = np.minimum(np.floor(q).astype(np.intp), np.maximum(last - 1, 0))
            places, weights = (*places, first), (*weights, q - first)
    if order == 0:
        result = x[places]
    else:
        result = 0.0
        for corner in range(2**x.ndim):
            index, weight = (), 1.0
            for axis in range(x.ndim):
                up = (corner >> axis) % 2
                index = (*index, np.minimum(places[axis] + up, x.shape[axis] - 1))
                weight = weight * (weights[axis] if up else 1.0 - weights[axis])
            result = result + weight * x[index]
    result = np.where(inside, result, cval) if mode == "constant" else result
    return result.astype(x.dtype)
