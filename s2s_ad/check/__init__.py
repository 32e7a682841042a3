"""Derivatives checked against what does not rest on derivative rules."""

from s2s_ad.check.compare import Comparison, Report, check, dot_product_test
from s2s_ad.check.differences import central_differences, complex_step

__all__ = [
    "Comparison",
    "Report",
    "central_differences",
    "check",
    "complex_step",
    "dot_product_test",
]
