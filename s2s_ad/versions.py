"""Facts that differ between releases of Python, NumPy and SciPy: asked of what is installed.

A fact is found by a call of the library rather than by its version, so that it is right for later
releases, too. SciPy is imported where a fact of it is asked for. Whether a library has a function
is no such fact: a row of a function that may be missing asks `hasattr` beside it.
"""

from __future__ import annotations

import functools
import warnings
from collections.abc import Callable

import numpy as np

#: The releases that generated code is right for; setup.cfg requires them.
OLDEST_SCIPY = (1, 16)

#: Whether arrays match the sequence patterns of `match`: NumPy 2.5 set the flag of sequences.
ARRAYS_ARE_SEQUENCES = bool(np.ndarray.__flags__ & 1 << 5)


@functools.cache
def average_refuses_axis_of_number() -> bool:
    """Whether `np.average` of a number along an axis raises; older releases took it."""
    try:
        np.average(np.ones(()), axis=0, weights=np.ones(()))
    except np.exceptions.AxisError:
        return True
    return False


@functools.cache
def scipy_too_old() -> str | None:
    """The release of SciPy if it is older than the oldest supported one.

    SciPy 1.16 is the first whose linear algebra takes stacks of matrices throughout, which the
    batched form of its functions relies on.
    """
    import scipy

    release = tuple(map(int, scipy.__version__.split(".")[:2]))
    return scipy.__version__ if release < OLDEST_SCIPY else None


@functools.cache
def cho_factor_clears() -> bool:
    """Whether the array of `scipy.linalg.cho_factor` is zero beside the factor.

    Before SciPy 1.18 what stood in the matrix is left there.
    """
    from scipy import linalg

    array, _ = linalg.cho_factor(np.array([[2.0, 1.0], [1.0, 2.0]]))
    return array[1, 0] == 0


@functools.cache
def numbers_have_no_axes() -> bool:
    """Whether float() refuses an array with an axis of one element: NumPy does from 2.4 on."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        try:
            float(np.ones(1))
        except TypeError:
            return True
    return False


@functools.cache
def crosses_in_a_plane() -> bool:
    """Whether np.cross takes vectors of two components: NumPy 2.0 says that it will not."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        try:
            np.cross(np.ones(2), np.ones(2))
        except ValueError:
            return False
    return True


@functools.cache
def takes_stacks(distance: Callable) -> bool:
    """Whether a function of `scipy.spatial.distance` takes vectors along the last axis of arrays.

    From SciPy 1.18 on some do; each of the others refuses all but single vectors.
    """
    try:
        distance(np.ones((1, 2)), np.ones((1, 2)))
    except ValueError:
        return False
    return True


def simpson_is_double() -> bool:
    """Whether `scipy.integrate.simpson` weighs samples of any precision in double precision.

    From SciPy 1.18 on the samples, and where these were taken, are brought to one dtype first.
    """
    from scipy import integrate

    samples = np.ones(4, np.float32)
    return integrate.simpson(samples).dtype == np.float64


# `written.scipy_integrate` calls it: the compiler does so when code is generated.
simpson_is_double.__s2s_static__ = True
