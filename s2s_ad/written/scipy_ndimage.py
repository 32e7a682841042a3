"""scipy.ndimage: values between the elements of an array."""

from __future__ import annotations

from typing import Any

import numpy as np

from s2s_ad.written.marks import unsupported


def map_coordinates(
    input, coordinates, output=None, order=3, mode="constant", cval=0.0, prefilter=True
) -> Any:
    """The nearest elements, or straight lines along each axis from one to the next."""
    if output is not None or order not in (0, 1):
        unsupported("map_coordinates by splines, or with output=", "give order=1")
    if mode not in ("constant", "nearest"):
        unsupported(f"map_coordinates with mode={mode!r}", "use mode='nearest', and np.pad")
    x, at = np.asarray(input), np.asarray(coordinates)
    if x.dtype.kind not in "fc":
        unsupported("map_coordinates of whole numbers", "convert them: input.astype(float)")
    if at.shape[0] != x.ndim:
        raise RuntimeError("invalid shape for coordinate array")
    inside, places = at[0] == at[0], ()
    for axis in range(x.ndim):
        known = np.where(at[axis] == at[axis], at[axis], 0.0)
        q = np.clip(known, 0.0, x.shape[axis] - 1)
        inside, places = inside & (q == at[axis]), (*places, q)
    result = nearest(x, places) if order == 0 else between(x, places)
    result = np.where(inside, result, cval) if mode == "constant" else result
    return result.astype(x.dtype)


def nearest(x, places) -> Any:
    index = ()
    for q in places:
        index = (*index, np.floor(q + 0.5).astype(np.intp))
    return x[index]


def between(x, places) -> Any:
    """The weighted elements at the corners of the cell in which each place is."""
    result = 0.0
    for corner in range(2**x.ndim):
        index, weight = (), 1.0
        for axis, q in enumerate(places):
            last, up = x.shape[axis] - 1, (corner >> axis) % 2
            first = np.minimum(np.floor(q).astype(np.intp), np.maximum(last - 1, 0))
            index = (*index, np.minimum(first + up, last))
            weight = weight * (q - first if up else 1.0 - (q - first))
        result = result + weight * x[index]
    return result
