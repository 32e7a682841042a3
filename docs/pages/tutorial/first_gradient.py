"""
1. A first gradient
===================

x
"""

from s2s_ad import grad


def f(x):
    return x**3


grad(f)(2.0)
