"""Selecting and searching: partitions, places, and sets."""

from rules.properties import case, distinct, fixed, integers, mask, real

LIKE = {"general": False}  # needs the rank of its argument
RAGGED = {"batches": False, "general": False}  # samples differ in the length of their results

SEARCHING = [
    case("np.partition(x, 2)", x=distinct(5)),
    case("np.partition(x, int(len(x) * 0.7))[:2]", x=distinct(5), **LIKE),
    case("np.partition(x, 1, axis=0)", x=distinct(4, 2)),
    case("np.partition(x, (0, 2), axis=None)", x=distinct(2, 3)),
    case("x[np.argpartition(x, 2)[2]]", x=distinct(5), **LIKE),
    case("np.take_along_axis(x, np.argpartition(x, 0)[:, :1], axis=1)", x=distinct(2, 3), **LIKE),
    case("np.sort(x, axis=None, kind='mergesort')", x=distinct(2, 3)),
    case("np.sort(x, stable=True)", x=distinct(4)),
    case("np.take_along_axis(x, np.argsort(x, 0, 'stable'), axis=0)", x=distinct(3, 2), **LIKE),
    case("x * np.argsort(y, axis=None)", x=real(6), y=fixed(2, 3)),
    case("x[np.lexsort((y, i))]", x=real(4), y=fixed(4), i=integers(4), **LIKE),
    case("x * np.lexsort([y, y * y], axis=0)", x=real(3, 2), y=fixed(3, 2), **LIKE),
    case("x * np.searchsorted(np.sort(y), x)", x=distinct(4), y=fixed(3), **RAGGED),
    case(
        "x * np.searchsorted(np.sort(y), x, side='right')", x=distinct(2, 2), y=fixed(3), **RAGGED
    ),
    case("x * np.searchsorted(y, x, sorter=np.argsort(y))", x=distinct(2), y=fixed(3), **RAGGED),
    case("x * np.searchsorted(np.array([-1.0, 0.0, 1.0]), x)", x=distinct(2, 2)),
    case("x * np.digitize(x, np.array([-1.0, 0.0, 1.0]))", x=distinct(4)),
    case("x * np.digitize(x, bins=np.array([1.0, 0.0]), right=True)", x=distinct(2, 2)),
    case("np.argmax(y, axis=1, keepdims=True) * x", x=real(2, 3), y=fixed(2, 3)),
    case("np.argmin(y, keepdims=True) * x", x=real(2, 3), y=fixed(2, 3)),
    case("np.where(np.isin(i, [0, 2]), x, 0.0)", x=real(4), i=integers(4)),
    case("np.where(np.isin(i, j, invert=True), x, 2 * x)", x=real(4), i=integers(4), j=integers(2)),
    case("x[np.nonzero(x > 0)]", x=distinct(4), **RAGGED),
    case("x[np.nonzero(m)]", x=real(2, 3), m=mask(2, 3), **RAGGED),
    case("np.sum(x[m.nonzero()])", x=real(2, 3), m=mask(2, 3), **RAGGED),
    case("np.sum(x) * np.sum(np.argwhere(m))", x=real(2, 3), m=mask(2, 3), **RAGGED),
    case("np.unique(x)", x=distinct(2, 3), **RAGGED),
    case("np.unique(x[i])", x=distinct(3), i=integers(5), **RAGGED),
    case("np.unique(x, axis=1)", x=distinct(2, 3), **RAGGED),
    case("np.unique(x, return_index=True)[0]", x=distinct(4), **RAGGED),
    case("x * np.unique(i, return_inverse=True)[1]", x=real(4), i=integers(4), **RAGGED),
    case("x[np.unique(i, False, True, True)[2] - 1]", x=real(4), i=integers(4), **RAGGED),
    case("np.unique_all(x).values * np.unique_counts(x).counts", x=distinct(4), **RAGGED),
    case("np.unique_values(x) + np.unique_inverse(x).values", x=distinct(3), **RAGGED),
    case("np.union1d(x, y)", x=distinct(3), y=distinct(2), **RAGGED),
    case("np.intersect1d(x, x[1:])", x=distinct(4), **RAGGED),
    case("np.intersect1d(x, x[1:], return_indices=True)[1] * x[1:]", x=distinct(4), **RAGGED),
    case("np.setdiff1d(x, x[1:])", x=distinct(4), **RAGGED),
    case("np.setdiff1d(x, x[:1], assume_unique=True)", x=distinct(4), **RAGGED),
    case("np.setxor1d(x, x[1:])", x=distinct(4), **RAGGED),
]
