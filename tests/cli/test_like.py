"""The language of --like: what each item gives, and where an error points."""

import numpy as np
import pytest

from s2s_ad.cli.like import TYPES, LikeError, parse


def zeros(dtype, shape):
    return np.zeros(shape, dtype)


def array(dtype, *shape):
    return np.zeros(shape, dtype)


ITEMS = [
    ("", ()),
    ("f64[3]", (array("f8", 3),)),
    ("f32[64, 3], i64", (array("f4", 64, 3), array("i8"))),
    ("f64, f64[]", (array("f8"), array("f8"))),
    ("f64[0,2],", (array("f8", 0, 2),)),
    ("b[2], u8[1], c64[2]", (array("?", 2), array("u1", 1), array("c8", 2))),
    ("float, int, bool, complex", (0.0, 0, False, 0j)),
    ('"mode", \'a "b" c\'', ("mode", 'a "b" c')),
    ("3, -3, 0.5, -1e-3, .5", (3, -3, 0.5, -1e-3, 0.5)),
    ("None, True, False", (None, True, False)),
    ("(f64[2], 3)", ((array("f8", 2), 3),)),
    ("(f64[2],), (3), ()", ((array("f8", 2),), 3, ())),
    ("[f64, [int, None]], []", ([array("f8"), [0, None]], [])),
    (
        '{"W1": f32[784,128], "b1": f32[128]}, {}',
        ({"W1": array("f4", 784, 128), "b1": array("f4", 128)}, {}),
    ),
    ('{0: {"x": (float,)}, }', ({0: {"x": (0.0,)}},)),
]


def same(a, b):
    assert type(a) is type(b)
    if isinstance(a, np.ndarray):
        assert (a.dtype, a.shape) == (b.dtype, b.shape)
    elif isinstance(a, dict):
        assert list(a) == list(b)
        for key in a:
            same(a[key], b[key])
    elif isinstance(a, tuple | list):
        assert len(a) == len(b)
        for x, y in zip(a, b):
            same(x, y)
    else:
        assert a == b


@pytest.mark.parametrize("text, expected", ITEMS, ids=[text for text, _ in ITEMS])
def test_items(text, expected):
    same(parse(text, zeros), expected)


@pytest.mark.parametrize("name", TYPES)
def test_every_type_has_the_size_that_its_name_says(name):
    bits = int(name[1:] or 8)
    assert TYPES[name].itemsize * 8 == bits
    kinds = {"f": "f", "c": "c", "i": "i", "u": "u", "b": "b"}
    assert TYPES[name].kind == kinds[name[0]]


ERRORS = [
    ("f65[3]", "unknown type 'f65'", 0, 3),
    ("f64[3], g", "unknown type 'g'", 8, 1),
    ("f64[3", "expected ',' or ']'", 5, 1),
    ("f64[-3]", "expected a length", 4, 2),
    ("f64[x]", "expected a length", 4, 1),
    ("f64[2.5]", "expected a length", 4, 3),
    ("f64 f64", "expected ',' or the end", 4, 3),
    ("f64[3]]", "expected ',' or the end", 6, 1),
    ("(f64", "expected ',' or ')'", 4, 1),
    (",", "expected a type, a container or a value", 0, 1),
    ("{f64: 3}", "expected a key", 1, 3),
    ('{"a" 3}', "expected ':'", 5, 1),
    ('"open', "unexpected '\"'", 0, 1),
    ("f64 @", "unexpected '@'", 4, 1),
]


@pytest.mark.parametrize("text, what, column, width", ERRORS)
def test_errors_point_at_the_place(text, what, column, width):
    with pytest.raises(LikeError) as caught:
        parse(text, zeros)
    first, line, carets = str(caught.value).split("\n")[:3]
    assert first == what
    assert line == f"  {text}"
    assert carets == "  " + " " * column + "^" * width
