"""Convolutions, products of stacks, histograms, grids and polynomials."""

from rules.properties import case, distinct, fixed, integers, invertible, number, positive, real

LIKE = {"general": False}  # needs the rank of its argument
ONE = {"general": False, "batches": False}  # the lengths of results depend on values

PRODUCTS = [
    case(f"np.{name}(x, y, mode='{mode}')", x=real(a), y=real(b), **LIKE)
    for name in ["convolve", "correlate"]
    for mode in ["full", "same", "valid"]
    for a, b in [(5, 3), (2, 4), (3, 3), (1, 2)]
]
PRODUCTS += [
    case("np.vdot(x, y)", x=real(2, 3), y=real(2, 3), **LIKE),
    case("np.vecdot(x, y)", x=real(3), y=real(3), **LIKE),
    case("np.vecdot(x, y, axis=0)", x=real(3, 2), y=real(3, 2), **LIKE),
    case("np.matvec(x, y)", x=real(2, 3, 4), y=real(2, 4), **LIKE),
    case("np.matvec(x, y)", x=real(3, 4), y=real(4), **LIKE),
    case("np.vecmat(x, y)", x=real(2, 3), y=real(2, 3, 4), **LIKE),
    case("np.vecmat(x, y)", x=real(3), y=real(3, 4), **LIKE),
    case("np.cross(x, y)", x=real(3), y=real(3), **LIKE),
    case("np.cross(x, y)", x=real(2, 3), y=real(3), **LIKE),
    case("np.cross(x, y, axis=0)", x=real(3, 2), y=real(3, 2), **LIKE),
    case("np.cross(x, y, 0, 1, 0)", x=real(3, 2), y=real(2, 3), **LIKE),
    case("np.kron(x, y)", x=real(2), y=real(3), **LIKE),
    case("np.kron(x, y)", x=real(2, 1), y=real(2, 3), **LIKE),
    case("np.kron(x, y)", x=real(2, 2), y=real(3), **LIKE),
]
HISTOGRAMS = [
    case("np.bincount(i, weights=y)", i=integers(4), y=real(4), **ONE),
    case("np.bincount(i, y, minlength=5)", i=integers(4), y=real(4), **ONE),
    case("np.bincount(np.array([0, 2, 2]), y, 4)", y=real(3), **LIKE),
    case("x * np.bincount(i, minlength=4)[0]", x=real(2), i=integers(4), **ONE),
    case("np.histogram(t, 3, weights=y)[0]", t=fixed(5), y=real(5), **ONE),
    case("np.histogram(t, 3)[1]", t=real(5), **LIKE),
    case("np.histogram(t, 2, (-1.0, 1.0), True, y)[0]", t=fixed(5), y=positive(5), **ONE),
    case("x * np.histogram(x, bins=np.array([-1.0, 0.0, 1.0]))[0]", x=real(2), **ONE),
    case("np.histogram2d(t, u, 2, weights=y)[0]", t=fixed(5), u=fixed(5), y=real(5), **ONE),
    case(
        "np.histogramdd((t, u), 2, density=True, weights=y)[0]",
        t=fixed(5),
        u=fixed(5),
        y=positive(5),
        **ONE,
    ),
    case("np.histogram_bin_edges(x, 4)", x=real(5), **LIKE),
]
GRIDS = [
    case("np.meshgrid(x, y)[0] * np.meshgrid(x, y)[1]", x=real(3), y=real(2), **LIKE),
    case("np.meshgrid(x, y, indexing='ij')[1]", x=real(3), y=real(2), **LIKE),
    case("np.meshgrid(x, y, sparse=True)[1]", x=real(3), y=real(2), **LIKE),
    case("np.meshgrid(x, y, x, copy=False)[2]", x=real(3), y=real(2), **LIKE),
    case("np.mgrid[0:2, 0:3][1] * x + np.ogrid[0:2, 0:3][0]", x=real(2, 3), **LIKE),
    case("np.indices((2, 3))[1] * x", x=real(2, 3), **LIKE),
    case("np.r_[x, 2.0, y, 0:2]", x=real(3), y=real(), **LIKE),
    case("np.c_[x, y]", x=real(3), y=real(3, 2), **LIKE),
    case("x[np.s_[1:, ::2]] + x[np.index_exp[:1, ::2]]", x=real(2, 3), **LIKE),
    case("x[np.tril_indices(3, -1)] * x[np.triu_indices(3, 1)]", x=real(3, 3), **LIKE),
    case("x[np.tril_indices_from(x)] + x[np.triu_indices_from(x)]", x=real(3, 3), **LIKE),
    case("x[np.diag_indices_from(x)] + x[np.mask_indices(3, np.triu)][:3]", x=real(3, 3), **LIKE),
    case("np.tri(3) * x + np.tri(3, 3, -1)", x=real(3, 3), **LIKE),
    case("(np.bartlett(4) + np.blackman(4) + np.hamming(4) + np.hanning(4)) * x", x=real(4)),
    case("np.kaiser(5, x) + np.kaiser(5, 2.0)", x=number(), **LIKE),
    case("np.logspace(x, y, 4)", x=number(), y=number(), **LIKE),
    case("np.logspace(x, 2.0, num=3, endpoint=False, base=y)", x=number(), y=number(), **LIKE),
    case("np.geomspace(x, y, 4)", x=number(), y=number(), **LIKE),
    case("np.geomspace(x, y, 3, axis=-1)", x=positive(2), y=positive(2), **LIKE),
]
VALUES = ["polynomial.polyval", "chebyshev.chebval", "legendre.legval", "hermite.hermval"]
VALUES += ["hermite_e.hermeval", "laguerre.lagval"]
POLYNOMIALS = [
    case(f"np.polynomial.{name}(x, c)", x=x, c=real(4), **LIKE)
    for name in VALUES
    for x in [real(3), real(2, 2)]
]
POLYNOMIALS += [
    case("np.polyval(p, x)", p=real(4), x=real(3), **LIKE),
    case("np.polyval(p, x)", p=real(3), x=number(), **LIKE),
    case("np.polyval(p, x)", p=real(1), x=real(2, 2), **LIKE),
    case("np.polynomial.chebyshev.chebval(x, c)", x=number(), c=real(3), **LIKE),
    case("np.vander(x)", x=real(3), **LIKE),
    case("np.vander(x, 2)", x=real(3), **LIKE),
    case("np.polyadd(x, y) * np.polysub(x, y)", x=real(3), y=real(2), **LIKE),
    case("np.polymul(x, y)", x=real(3), y=real(2), **ONE),
    case("np.polyder(x)", x=real(4), **LIKE),
    case("np.polyder(x, 2)", x=real(4), **LIKE),
    case("np.polyint(x)", x=real(3), **LIKE),
    case("np.polyint(x, 2, k=[y, 1.0])", x=real(3), y=number(), **LIKE),
]
POLYNOMIALS += [
    case("np.polydiv(x, y)[0]", x=real(5), y=positive(3), **LIKE),
    case("np.polydiv(x, y)[0]", x=real(3), y=positive(3), **LIKE),
    case("np.polydiv(x, y)[1][-2:]", x=real(5), y=positive(3), **ONE),
    case("np.polyfit(x, y, 2)", x=distinct(5), y=real(5), **LIKE),
    case("np.polyfit(x, y, 1, w=p)", x=distinct(5), y=real(5, 2), p=positive(5), **LIKE),
    case("np.polyfit(t, y, 3, rcond=1e-9)", t=fixed(5), y=real(5), **LIKE),
    case("np.polyfit(x, y, 1, None, False, p)", x=distinct(5), y=real(5), p=positive(5), **LIKE),
    case("np.poly(x)", x=distinct(4), **LIKE),
    case("np.poly(x)", x=real(1), **LIKE),
    case("np.poly(x)", x=invertible(3, 3), **LIKE),
    case("np.abs(np.roots(x)) ** 2", x=distinct(4), **LIKE),
    case("np.imag(np.roots(x)) ** 2", x=distinct(3), **LIKE),
]
FAMILIES = {"chebyshev": "cheb", "hermite": "herm", "hermite_e": "herme", "laguerre": "lag"}
FAMILIES |= {"legendre": "leg", "polynomial": "poly"}
POLYNOMIALS += [
    case(f"np.polynomial.{module}.{name}{call}", x=real(3), **LIKE)
    for module, name in FAMILIES.items()
    for call in ["der(x)", "vander(x, 2)"]
]
SIGNALS = PRODUCTS + HISTOGRAMS + GRIDS + POLYNOMIALS
