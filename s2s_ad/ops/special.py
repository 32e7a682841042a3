"""Special functions, which are SciPy's: this module is imported when the first is asked for."""

from __future__ import annotations

from typing import Any

from scipy import special

from s2s_ad.ops.arguments import floating
from s2s_ad.tensors import Tensor


def erf(input: Any) -> Tensor:
    """The error function."""
    return special.erf(floating("erf", input))


def erfc(input: Any) -> Tensor:
    """1 - erf(input), exact for large elements."""
    return special.erfc(floating("erfc", input))


def erfinv(input: Any) -> Tensor:
    """The inverse of erf."""
    return special.erfinv(floating("erfinv", input))


def lgamma(input: Any) -> Tensor:
    """The logarithm of the absolute value of the gamma function."""
    return special.gammaln(floating("lgamma", input))


def digamma(input: Any) -> Tensor:
    """The derivative of lgamma."""
    return special.digamma(floating("digamma", input))
