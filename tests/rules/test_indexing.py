"""x[index] in every form that NumPy has, against loops and central differences."""

import numpy as np
import pytest

from rules.properties import case, check_all, distinct, integers, mask, positive, real
from s2s_ad import grad, vmap
from s2s_ad.check import central_differences

pytestmark = pytest.mark.thinned(3)

FIXED = {"batches": False}  # the number of elements chosen depends on the mask
LIKE = {"general": False}

BASIC = [
    case(f"x[{index}]", x=real(3, 4, 2))
    for index in [
        "0",
        "-1",
        "1, 2",
        "1, -1, 0",
        "1:",
        ":-1",
        "::2",
        "::-1",
        "2:0:-1",
        "1:3, ::2",
        "None",
        ":, None",
        "..., 0",
        "0, ..., 1:",
        "...",
        "None, 1, ..., None",
        ":, 1:2",
        "5:",
        "-2:, -3:-1",
        "()",
        ":, ::-1, 0",
    ]
]
SMALL = [
    case("x[0]", x=real(3)),
    case("x[1:1]", x=real(3)),
    case("x[:0] + x[1:1]", x=real(3)),
    case("x[0]", x=real(1)),
    case("x[::-1]", x=real(0)),
    case("x[1:] * x[:-1]", x=real(4)),
    case("x[1:] * x[0] + x[-1]", x=real(4)),
    case("x[...] + x[()]", x=real()),
    case("x[0] * x[1] + x[0]", x=real(2, 3)),
    case("x[1:][1:] + x[2:]", x=real(4)),
    case("x[:, 0] + x[:, 1]", x=real(3, 2)),
]
ARRAYS = [
    case(text, x=real(3, 4, 2), i=integers(5), **LIKE)
    for text in [
        "x[i]",
        "x[i, 0]",
        "x[0, i]",
        "x[:, i]",
        "x[i, :, 0]",
        "x[i, i]",
        "x[0, :, i % 2]",
        "x[i, :, i % 2]",
        "x[..., i % 2]",
        "x[None, i]",
        "x[i, None]",
        "x[:, i, ::-1]",
        "x[1:, i]",
        "x[i, 1:3]",
        "x[:, i, i % 2]",
        "x[i, None, 0]",
        "x[:, None, i]",
    ]
]
ARRAYS += [
    case("x[i]", x=real(4), i=integers(2, 3), **LIKE),
    case("x[i]", x=real(4), i=integers(0), **LIKE),
    case("x[i]", x=real(4), i=integers(1), **LIKE),
    case("x[i]", x=real(4), i=integers(), **LIKE),
    case("x[:, i]", x=real(4, 3), i=integers(), **LIKE),
    case("x[i, :, j]", x=real(4, 2, 3), i=integers(), j=integers(2), **LIKE),
    case("x[i, j]", x=real(4, 3), i=integers(2, 1), j=integers(3), **LIKE),
    case("x[:, i, j]", x=real(2, 4, 3), i=integers(2, 1), j=integers(3), **LIKE),
    case("x[i, :, j]", x=real(4, 2, 3), i=integers(2, 1), j=integers(3), **LIKE),
    case("x[i][j]", x=real(4, 3), i=integers(3), j=integers(2), **LIKE),
    case("x[[0, 0, 2]]", x=real(3, 2), **LIKE),
    case("x[[0, 2], [1, 1]]", x=real(3, 2), **LIKE),
    case("x[[[0, 1], [2, 2]]]", x=real(3, 2), **LIKE),
    case("x[(0, 2), (1, 1)]", x=real(3, 2), **LIKE),
    case("np.real(1j * x[(0, 1, 0), 1] ** 1j)", x=positive(3, 2), **LIKE),
    case("x[[]]", x=real(3, 2), **LIKE),
    case("x[(), 0]", x=real(3, 2), **LIKE),
    case("x[np.array([0, 0, 1])]", x=real(3, 2), **LIKE),
    case("x[np.arange(3), i]", x=real(3, 4), i=integers(3), **LIKE),
    case("x[np.arange(len(x)), i]", x=real(3, 4), i=integers(3), **LIKE),
    case("x[range(3), i]", x=real(3, 4), i=integers(3), **LIKE),
    case("x[range(len(x)), i]", x=real(3, 4), i=integers(3), **LIKE),
    case("x[range(2, 0, -1), range(1, 3)]", x=real(4, 3), **LIKE),
    case("x[-1 - i]", x=real(4), i=integers(3), **LIKE),
    case("x[np.argmax(x)]", x=distinct(4), **LIKE),
    case("x[:, np.argmax(x[0])]", x=distinct(2, 4), **LIKE),
]
MASKS = [
    case("x[m]", x=real(4), m=mask(4), **FIXED, **LIKE),
    case("x[m]", x=real(4, 2), m=mask(4), **FIXED, **LIKE),
    case("x[m]", x=real(2, 3), m=mask(2, 3), **FIXED, **LIKE),
    case("x[:, m]", x=real(2, 3), m=mask(3), **FIXED, **LIKE),
    case("x[0, m]", x=real(2, 3), m=mask(3), **FIXED, **LIKE),
    case("x[m, 0]", x=real(3, 2), m=mask(3), **FIXED, **LIKE),
    case("x[m, 1:]", x=real(3, 2, 3), m=mask(3), **FIXED, **LIKE),
    case("x[..., m]", x=real(2, 3), m=mask(3), **FIXED, **LIKE),
    case("x[m, :, 0]", x=real(3, 2, 3), m=mask(3), **FIXED, **LIKE),
    case("x[:, m]", x=real(2, 3, 2), m=mask(3, 2), **FIXED, **LIKE),
    case("x[x > 0]", x=distinct(4), **FIXED, **LIKE),
    case("x[np.array([True, False, True])]", x=real(3, 2), **LIKE),
    case("x[:, [True, False, True]]", x=real(2, 3), **LIKE),
    case("x[:, True] * x[..., None, :]", x=real(2, 3), **LIKE),
    case("x[True, :, 0]", x=real(2, 3), **LIKE),
    case("x[False]", x=real(2, 3), **LIKE),
    case("x[True if x[0, 0] > -9 else False]", x=real(2, 3), **FIXED, **LIKE),
]

DIAGONAL = [case("x[np.diag_indices(3)]", x=real(3, 3))]
INDEXING = BASIC + SMALL + ARRAYS + MASKS + DIAGONAL


@pytest.mark.thinned(24)
@pytest.mark.parametrize("each", INDEXING, ids=str)
def test_index(each):
    check_all(each)


@pytest.mark.thinned(4)
@pytest.mark.slow
@pytest.mark.parametrize("each", INDEXING, ids=str)
def test_index_at_every_batch_axis(each):
    check_all(each, thorough=True)


SETTING = [
    case(f"np.sin(runtime.index_set(x, {index}, v)) * x", x=real(3, 4), v=real(*shape))
    for index, shape in [
        ("0", (4,)),
        ("(1, 2)", ()),
        ("slice(1, None)", (2, 4)),
        ("slice(1, None)", (4,)),
        ("slice(1, None)", (2, 1)),
        ("slice(None, None, -2)", ()),
        ("(slice(None), slice(0, None, 2))", (3, 2)),
        ("(None, slice(0, 1))", (1, 4)),
        ("...", ()),
        ("(np.array([0, 2]), 1)", (2,)),
        ("np.array([0, 2, 0])", (3, 4)),
        ("(np.array([1, 1]), np.array([2, 2]))", (2,)),
    ]
]


@pytest.mark.thinned(6)
@pytest.mark.parametrize("each", SETTING, ids=str)
def test_index_set(each):
    """Elements that are set, in both modes; of an index that repeats the last value counts."""
    check_all(each)


def stored(A, x):
    A[A > 1] = x[1]
    return np.sum(A**2)


def added(A, x):
    A[A > 1] += x[0]
    return np.sum(A**2)


@pytest.mark.filterwarnings("error::s2s_ad.diagnostics.SampleLoopWarning")
@pytest.mark.parametrize("store", [stored, added])
def test_one_number_stored_through_a_mask_has_a_batched_form(store):
    def function(x):
        return store(np.outer(x, x), x)

    batch = np.array([[1.1, 0.7, 2.0], [0.2, -1.5, 0.4]])
    expected = [central_differences(function, (x,))[0] for x in batch]
    np.testing.assert_allclose(vmap(grad(function))(batch), expected, rtol=1e-6, atol=1e-8)


def test_an_adjoint_that_is_a_number_of_an_array_without_axes():
    """The adjoint of x before it is read is the number 0, which the batch updates, too."""

    def read_on_one_path(x, n):
        k = 0
        while k < n:
            k += 1
        if k > 2:
            item = x[()]
        return 2.0 * x + np.sin(item)

    batch = np.arange(3.0)
    found = vmap(grad(read_on_one_path), (0, None))(batch, 3)
    np.testing.assert_allclose(found, 2.0 + np.cos(batch), rtol=1e-14)


def rows_set(w, v, mask):
    w = w.copy()
    w[mask] = v
    return np.sum(w**2 * np.arange(1.0, 10.0).reshape(3, 3))


def rows_set_for_some(w, v, mask):
    w = w * 1.0
    if np.any(w > 1.0):
        w[[False, False, True]] = v
    return np.sum(w**2 * np.arange(1.0, 10.0).reshape(3, 3))


@pytest.mark.filterwarnings("ignore::s2s_ad.diagnostics.SampleLoopWarning")
@pytest.mark.parametrize("function", [rows_set, rows_set_for_some])
def test_a_mask_of_rows_is_of_the_first_axis_in_a_batch_too(function):
    r = np.random.default_rng(3)
    w, v, masks = r.normal(size=(5, 3, 3)), r.normal(size=5), r.random((5, 3)) > 0.5
    weights = np.arange(1.0, 10.0).reshape(3, 3)
    found = vmap(grad(function, (0, 1)))(w, v, masks)
    for i in range(5):
        mask = masks[i]
        if function is rows_set_for_some:
            mask = np.array([False, False, bool(np.any(w[i] > 1.0))])
        expected = np.where(mask[:, None], 0.0, 2 * w[i] * weights)
        np.testing.assert_allclose(found[0][i], expected)
        np.testing.assert_allclose(found[1][i], np.sum(2 * v[i] * weights[mask]), atol=1e-12)


def set_and_added_to(x, y):
    try:
        item = y
        if ~x.all():
            raise KeyError
    except KeyError:
        item = 0
    part = item[::2]
    part[:] = 1.5
    part[:] += 4
    return np.sum(item)


def test_an_array_whose_rank_is_open_is_set_and_added_to():
    """It is a number on a path that is not taken."""
    found = grad(set_and_added_to, 1)(np.ones(2), np.array([1.0, 2.0, 3.0]))
    np.testing.assert_array_equal(found, [0.0, 1.0, 0.0])
