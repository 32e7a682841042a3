"""Padding and sliding windows."""

from rules.properties import case, distinct, fixed, number, real

LIKE = {"general": False}  # needs the rank of its argument

VIEW = "np.lib.stride_tricks.sliding_window_view"

PADDING = [
    case(f"np.pad(x, (1, 2), mode='{mode}')", x=distinct(4), **LIKE)
    for mode in ["constant", "edge", "linear_ramp", "maximum", "mean", "median", "minimum"]
    + ["reflect", "symmetric", "wrap"]
]
PADDING += [
    case(f"np.pad(x, ((1, 0), (0, 2)), mode='{mode}')", x=distinct(2, 3), **LIKE)
    for mode in ["constant", "edge", "linear_ramp", "mean", "reflect", "wrap"]
]
PADDING += [
    case("np.pad(x, 1)", x=real(2, 3), **LIKE),
    case("np.pad(x, (1,))", x=real(2, 1), **LIKE),
    case("np.pad(x, 0)", x=real(3), **LIKE),
    case("np.pad(x, 2)", x=real(0), **LIKE),
    case("np.pad(x, len(y), constant_values=2.0)", x=real(3), y=fixed(2), **LIKE),
    case("np.pad(x, 1, constant_values=(y, 1.0))", x=real(3), y=real(), **LIKE),
    case("np.pad(x, 1, constant_values=y)", x=real(3), y=number(), **LIKE),
    case("np.pad(x, 5, mode='reflect')", x=real(3), **LIKE),
    case("np.pad(x, 2, mode='linear_ramp', end_values=y)", x=real(3), y=real(), **LIKE),
    case("np.pad(x, 2, mode='mean', stat_length=2)", x=real(4), **LIKE),
    case("np.pad(x, 2, mode='maximum', stat_length=((1, 3),))", x=distinct(4), **LIKE),
    case(f"{VIEW}(x, 2)", x=real(4), **LIKE),
    case(f"{VIEW}(x, 2, axis=0)", x=real(4, 2), **LIKE),
    case(f"{VIEW}(x, (2, 2))", x=real(3, 3), **LIKE),
    case(f"{VIEW}(x, (2, 1), axis=(-1, 0))", x=real(2, 3), **LIKE),
    case(f"np.mean({VIEW}(x, len(y)) * y, axis=-1)", x=real(5), y=real(2), **LIKE),
]
