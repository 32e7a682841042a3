"""Cases of elementwise functions beyond their rows: options, choices, methods of ufuncs."""

from rules.properties import Draw, case, distinct, integers, mask, positive, real

CHOICES = [
    case("np.select([x < -0.5, x > 0.5], [y, x * y], default=0.3)", x=distinct(2, 3), y=real(3)),
    case("np.select([x < 0], [x])", x=distinct(4)),
    case("np.choose(i, [x, y, 2.0])", i=integers(2, 3), x=real(2, 3), y=real(3)),
    case("np.choose(i, (x, x * y), mode='clip')", i=integers(3, high=5), x=real(3), y=real(3)),
    case("np.choose(i - 3, [x, y], mode='wrap')", i=integers(2, 1), x=real(3), y=real()),
    case("i.choose([x, y, x])", i=integers(3), x=real(3), y=real(3), general=False),
]
ROUNDING = [
    case(
        "np.round(x, 1) * x + np.around(x) - np.fix(x) * x.round(2)", x=distinct(3), general=False
    ),
    case("np.nan_to_num(np.where(m, x, np.nan), nan=2.0) * x", x=real(2, 3), m=mask(3)),
    case("np.nan_to_num(np.where(m, x, np.inf), posinf=3.0, neginf=-1.0)", x=real(3), m=mask(3)),
    case("np.where(np.isclose(x, y, rtol=0.5), x, x * y)", x=positive(3), y=positive(2, 3)),
]
PARTS = [
    case("np.modf(x)[0] * np.modf(x)[1]", x=distinct(2, 3)),
    case("np.frexp(x)[0] * x + np.frexp(x)[1]", x=distinct(3)),
    case("np.divmod(x, y)[1] + np.divmod(x, y)[0] * y", x=Draw((3,)), y=distinct(3)),
    case("np.ldexp(x, 3) + np.ldexp(x, i)", x=real(2, 3), i=integers(3)),
]

CASES = CHOICES + ROUNDING + PARTS
