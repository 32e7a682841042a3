"""Another module of the user's, with the same names for other things."""

scale = 5.0


def helper(x):
    return scale + x * x
