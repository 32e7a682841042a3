"""matmul, dot, inner, outer, tensordot and einsum: specifications and ranks."""

import math

import numpy as np
import pytest

from rules.properties import Subject, case, check_all, close, real
from s2s_ad import grad, jit, versions, vmap
from transforms.differences import differences

LIKE = {"general": False}


def pair(text, a, b, **options):
    return case(text, a=real(*a), b=real(*b), **options)


MATMUL = [
    pair("a @ b", *shapes)
    for shapes in [
        ((3,), (3,)),
        ((2, 3), (3,)),
        ((3,), (3, 2)),
        ((2, 3), (3, 4)),
        ((5, 2, 3), (5, 3, 4)),
        ((5, 2, 3), (3, 4)),
        ((2, 3), (5, 3, 4)),
        ((5, 2, 3), (3,)),
        ((3,), (5, 3, 4)),
        ((5, 2, 3), (1, 3, 4)),
        ((1, 2, 3), (5, 3, 4)),
        ((2, 1, 2, 3), (4, 3, 2)),
        ((1, 3), (3, 1)),
        ((2, 0), (0, 3)),
        ((0, 2), (2, 3)),
        ((1,), (1,)),
        ((2, 1), (1, 3)),
        ((5, 1, 1), (5, 1, 3)),
    ]
]
NAMED = [
    pair(text, *shapes)
    for text, shapes in [
        ("np.matmul(a, b)", ((2, 3), (3, 4))),
        ("np.dot(a, b)", ((3,), (3,))),
        ("np.dot(a, b)", ((2, 3), (3,))),
        ("np.dot(a, b)", ((2, 3), (3, 4))),
        ("np.dot(a, b)", ((2, 3, 4), (5, 4, 2))),
        ("np.dot(a, b)", ((), (2, 3))),
        ("np.dot(a, b)", ((2, 3), ())),
        ("np.dot(a, b)", ((2, 3, 4), (4,))),
        ("np.dot(a, b)", ((4,), (2, 4, 3))),
        ("np.inner(a, b)", ((3,), (3,))),
        ("np.inner(a, b)", ((2, 3), (4, 3))),
        ("np.inner(a, b)", ((2, 4, 3), (3,))),
        ("np.inner(a, b)", ((), (3,))),
        ("np.outer(a, b)", ((2,), (3,))),
        ("np.outer(a, b)", ((2, 2), (3,))),
        ("np.outer(a, b)", ((), (3,))),
        ("np.outer(a, b)", ((0,), (3,))),
        ("np.tensordot(a, b, axes=1)", ((3,), (3,))),
        ("np.tensordot(a, b, axes=1)", ((2, 3), (3, 4))),
        ("np.tensordot(a, b)", ((2, 3, 4), (3, 4, 2))),
        ("np.tensordot(a, b, axes=0)", ((2, 3), (4,))),
        ("np.tensordot(a, b, 2)", ((3, 4), (3, 4))),
        ("np.tensordot(a, b, axes=([0], [1]))", ((3, 2), (4, 3))),
        ("np.tensordot(a, b, axes=([1, 0], [0, 1]))", ((3, 2, 4), (2, 3, 5))),
        ("np.tensordot(a, b, axes=(0, 0))", ((3, 2), (3, 4))),
        ("np.tensordot(a, b, axes=([-1], [0]))", ((2, 3), (3, 4))),
        ("np.tensordot(a, b, axes=(-1, -1))", ((2, 3), (4, 3))),
        ("np.tensordot(a, b, axes=((0, 1), (0, 1)))", ((3, 2), (3, 2))),
    ]
]
NAMED += [case("a.dot(b)", a=real(2, 3), b=real(3), **LIKE)]
EINSUM = [
    case(
        f"np.einsum({spec!r}, {', '.join('abc'[: len(shapes)])})",
        general=False,
        **{name: real(*shape) for name, shape in zip("abc", shapes, strict=False)},
    )
    for spec, *shapes in [
        ("ibj,kbj->bik", (2, 5, 3), (4, 5, 3)),
        ("bij,jbk->ibk", (5, 2, 3), (3, 5, 4)),
        ("bijc,kcbj->kcib", (2, 3, 4, 5), (2, 5, 2, 4)),
        ("ij->ji", (2, 3)),
        ("ij->", (2, 3)),
        ("ij->i", (2, 3)),
        ("ij->j", (2, 3)),
        ("ii", (3, 3)),
        ("ii->i", (3, 3)),
        ("iij->j", (3, 3, 2)),
        ("iij->ij", (3, 3, 2)),
        ("iji->j", (3, 2, 3)),
        ("iii->i", (3, 3, 3)),
        ("iii", (3, 3, 3)),
        ("iijj->ij", (2, 2, 3, 3)),
        ("ij", (2, 3)),
        ("ji", (2, 3)),
        ("...i->i...", (2, 3, 4)),
        ("...", (2, 3)),
        ("i...->...", (2, 3)),
        ("...ii->...i", (2, 3, 3)),
        (" i j -> j i ", (2, 3)),
        ("i,i", (3,), (3,)),
        ("i,i->i", (3,), (3,)),
        ("i,j", (2,), (3,)),
        ("i,j->ji", (2,), (3,)),
        ("ij,jk", (2, 3), (3, 4)),
        ("ij,jk->ki", (2, 3), (3, 4)),
        ("ij,kj->ik", (2, 3), (4, 3)),
        ("ij,ij->", (2, 3), (2, 3)),
        ("ij,ij->j", (2, 3), (2, 3)),
        ("ij,j->ij", (2, 3), (3,)),
        ("ij,i->ij", (2, 3), (2,)),
        ("ij,j->", (2, 3), (3,)),
        ("ij,k->k", (2, 3), (4,)),
        ("ij,k->ik", (2, 3), (4,)),
        ("bij,bjk->bik", (5, 2, 3), (5, 3, 4)),
        ("bij,bjk->bki", (5, 2, 3), (5, 3, 4)),
        ("bij,jk->bik", (5, 2, 3), (3, 4)),
        ("bhid,bhjd->bhij", (2, 2, 3, 4), (2, 2, 3, 4)),
        ("...ij,...jk->...ik", (5, 2, 3), (5, 3, 4)),
        ("...ij,...jk->...ik", (2, 3), (5, 3, 4)),
        ("...ij,...jk->...ik", (1, 2, 3), (5, 3, 4)),
        ("...ij,...jk", (2, 1, 2, 3), (4, 3, 2)),
        ("...,...", (2, 3), (3,)),
        ("...,i->...i", (2, 3), (4,)),
        ("i...,i...->...", (3, 2), (3,)),
        ("ij,jk->ik", (2, 1), (3, 4)),
        ("ij,ij->ij", (2, 1), (1, 3)),
        ("ii,ij->j", (3, 3), (3, 2)),
        ("ii,i->i", (3, 3), (3,)),
        ("ij,jj->i", (2, 3), (3, 3)),
        (",i->i", (), (3,)),
        (",", (), ()),
        ("i,->", (3,), ()),
        ("ijk,jil->kl", (2, 3, 4), (3, 2, 5)),
        ("i,j,k->ijk", (2,), (3,), (4,)),
        ("ij,jk,kl->il", (2, 3), (3, 4), (4, 2)),
        ("ij,jk,kl", (2, 3), (3, 4), (4, 2)),
        ("i,ij,j", (2,), (2, 3), (3,)),
        ("i,i,i->i", (3,), (3,), (3,)),
        ("ij,i,j->", (2, 3), (2,), (3,)),
        ("bi,ij,bj->b", (5, 2), (2, 3), (5, 3)),
        ("...i,ij,...j->...", (5, 2), (2, 3), (5, 3)),
        ("ij,ij,ij->i", (2, 3), (2, 3), (2, 3)),
        ("ij,kl,m->m", (2, 3), (2, 2), (4,)),
        ("ij,jk->ik", (0, 3), (3, 4)),
        ("ij,jk->ik", (2, 0), (0, 4)),
        ("ij,jk->ik", (1, 3), (3, 1)),
        ("i,i->", (1,), (3,)),
    ]
]
MIXED = [
    case("a @ b @ c", a=real(2, 3), b=real(3, 4), c=real(4)),
    case("a @ a.T", a=real(2, 3)),
    case("a.T @ b", a=real(3, 2), b=real(3, 4)),
    case("a @ b.T", a=real(2, 3), b=real(4, 3)),
    case("a.T @ b.T", a=real(3, 2), b=real(4, 3)),
    case("(a @ b) * np.outer(c, c)", a=real(2, 3), b=real(3, 2), c=real(2)),
    case("c * (a @ b)", a=real(2, 3), b=real(3), c=real(2, 1)),
    case("np.sum(a @ b, axis=0) @ b", a=real(2, 3), b=real(3, 3)),
    case("a @ np.array([1.0, 2.0, 3.0])", a=real(2, 3)),
    case("np.dot(a, 2.0)", a=real(2, 3)),
    case("np.einsum('ij,j->i', a, [1.0, 2.0, 3.0])", a=real(2, 3), **LIKE),
    case("np.einsum(a, [0, 1], b, [1, 2])", a=real(2, 3), b=real(3, 4), **LIKE),
    case("np.einsum(a, [7, 1], b, [1, 0])", a=real(2, 3), b=real(3, 4), **LIKE),
    case("np.einsum(a, [..., 1], b, [1, 2], [2, ...])", a=real(2, 3), b=real(3, 4), **LIKE),
]

PRODUCTS = MATMUL + NAMED + EINSUM + MIXED


@pytest.mark.thinned(48)
@pytest.mark.parametrize("each", PRODUCTS, ids=str)
def test_product(each):
    check_all(each)


@pytest.mark.thinned(3)
@pytest.mark.slow
@pytest.mark.parametrize("each", PRODUCTS, ids=str)
def test_product_at_every_batch_axis(each):
    check_all(each, thorough=True)


@pytest.mark.parametrize(
    "each",
    [
        case("a @ b", a=real(2, 3, 4), b=real(4, 5)),
        case("a @ b", a=real(4), b=real(4, 5)),
        case("np.dot(a, b)", a=real(2, 4), b=real(3, 4, 5)),
        case("np.outer(a, b)", a=real(2, 4), b=real(3)),
        case("np.inner(a, b)", a=real(2, 4), b=real(3, 4)),
        case("np.tensordot(a, b, axes=1)", a=real(2, 4), b=real(4, 3)),
    ],
    ids=str,
)
def test_second_order_where_ranks_are_not_known(each):
    """The general text of reverse over reverse gives what that for these ranks gives."""
    subject = Subject(each)
    positions = tuple(2 + place for place in subject.positions)
    slope = grad(subject.module.slope, positions)
    args = [subject.w, *subject.tangents(), *subject.args]
    text = slope.text()
    assert "product_adjoint" in text.helpers
    space: dict = {}
    exec(text.module, space)
    for found, expected in zip(space[text.name](*args), slope(*args), strict=True):
        close(found, expected, text.module, 1e-11)


def one_by_stack(a, b):
    return a @ b


def test_a_matrix_times_each_of_a_stack_is_written_as_such():
    a, b = np.ones((2, 3)), np.ones((5, 3, 4))
    assert "return a @ b\n" in jit(one_by_stack).source(a, b)
    squared = lambda a, b: np.sum((a @ b) ** 2)
    assert "return a.T @ " in grad(squared, 1).source(a, b)


def test_the_adjoints_of_a_product_of_vectors_are_such_products():
    a, b = np.ones((5, 3)), np.ones(3)
    text = grad(lambda a, b: np.sum(np.cross(a, b) ** 2), (0, 1)).source(a, b)
    assert text.count("np.cross(") == 3
    assert "roll" not in text


@pytest.mark.skipif(not versions.crosses_in_a_plane(), reason="NumPy takes vectors in space alone")
@pytest.mark.filterwarnings("ignore:Arrays of 2-dimensional vectors:DeprecationWarning")
@pytest.mark.parametrize("shapes", [((2,), (3,)), ((4, 3), (2,)), ((2,), (2,)), ((4, 2), (4, 2))])
def test_products_of_vectors_in_a_plane(shapes):
    a, b = (np.linspace(0.3, 1.7, math.prod(shape)).reshape(shape) for shape in shapes)
    function = lambda a, b: np.sum(np.exp(np.cross(a, b)))
    for k, found in enumerate(grad(function, (0, 1))(a, b)):
        moved = lambda x, k=k: function(*((x, b), (a, x))[k])
        np.testing.assert_allclose(found, differences(moved, (a, b)[k]), rtol=1e-6)
    batched = vmap(grad(function))(np.stack([a, a + 0.1]), np.stack([b, b - 0.1]))
    expected = np.stack([grad(function)(a, b), grad(function)(a + 0.1, b - 0.1)])
    np.testing.assert_allclose(batched, expected, rtol=1e-12)
