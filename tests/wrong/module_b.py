"""A module with a global and a helper whose names module_a has too."""

rate = 7.0


def helper(x):
    return x**rate


def scaled(x):
    return helper(x) - rate


def twofold(x):
    y = x * x
    return y - rate
