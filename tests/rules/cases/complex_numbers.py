"""Functions about complex numbers, of real arguments and as real functions of complex ones."""

from rules.properties import case, distinct, positive, real, unit

LIKE = {"general": False}  # complex numbers: their types have to be known

OF_COMPLEX = [
    case("np.real_if_close(x) * 2", x=real(3), **LIKE),
    case("x * np.iscomplexobj(x) + x * np.isrealobj(x)", x=real(3), **LIKE),
    case("np.sort_complex(x).real", x=distinct(4), **LIKE),
    case("np.abs(np.sort_complex(x + 1j * y))", x=distinct(4), y=real(4), **LIKE),
    case("np.angle(x + 1j * y) + np.angle(x + 1j * y, deg=True)", x=real(3), y=real(3), **LIKE),
    case("(x + 1j * y).conj().imag * (x + 1j * y).real", x=real(2, 3), y=real(3), **LIKE),
    case("np.where(np.iscomplex(x), 2 * x, x) + np.isreal(x)", x=real(3)),
    case("np.imag(np.exp(1j * x)) + np.real(1j * x)", x=real(3), **LIKE),
    case("np.var(x * (1 + 2j)) + np.std(np.exp(1j * x))", x=real(4), **LIKE),
    case("np.linalg.norm(x * (1 + 2j)) * abs(np.dot(x, 1j * x))", x=real(4), **LIKE),
    case("np.emath.sqrt(x) * np.emath.log(x) + np.emath.log2(x)", x=positive(3)),
    case("np.emath.log10(x) * np.emath.logn(x + 2.0, x)", x=positive(3)),
    case("np.emath.power(x, y) + np.emath.power(x, -2)", x=positive(3), y=real(3)),
    case("np.emath.arcsin(x) * np.emath.arccos(x) + np.emath.arctanh(x)", x=unit(3)),
    case("np.emath.sqrt(x**2 + 1)", x=real(3)),
    case("np.abs(np.emath.sqrt(x + 0j))", x=distinct(3), **LIKE),
    case("x.astype(complex).real * np.complex128(x[0]).imag", x=real(3), **LIKE),
]
