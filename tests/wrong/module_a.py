"""A module with a global and a helper whose names module_b has too."""

rate = 2.0


def helper(x):
    return rate * x


def scaled(x):
    return helper(x) + rate


def twofold(x):
    y = x * x
    return rate * y
