"""What shares memory with what: rules say of their functions what NumPy does."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import s2s_ad.rules  # noqa: F401  (fills the registry)
from s2s_ad.analysis.indices import index_kind
from s2s_ad.core import values
from s2s_ad.core.builder import Builder, to_node
from s2s_ad.core.registry import RULES
from s2s_ad.rules.composite import Composite
from s2s_ad.rules.conversions import Conversion
from s2s_ad.rules.creation import MakeArray
from s2s_ad.rules.einsum import Einsum
from s2s_ad.rules.measures import Most
from s2s_ad.rules.triangles import FromDiagonal
from s2s_ad.rules.unsupported import Refused

ARRAYS = [np.linspace(0.1, 0.9, n).reshape(s) for n, s in ((3, (3,)), (9, (3, 3)), (3, (1, 3)))]
#: what Core never applies to an array under this name, or not in this way: some are taken apart or
#: refused, the others stand for astype, for a copy, or for nothing
NOT_OF_ARRAYS = Composite | Conversion | Einsum | FromDiagonal | Most | MakeArray | Refused
#: whose second argument, where it is 0, makes the frontend store the result in the array
STORED = (np.nan_to_num,)


def results():
    """(rule, array, result) of all functions that take an array, or an array and one thing more."""
    for function, rule in RULES.items():
        if isinstance(rule, NOT_OF_ARRAYS) or isinstance(rule.function, type) or function in STORED:
            continue
        for x in ARRAYS:
            for more in ((), (0,), ((-1,),), (x.shape,), (0, 1), (slice(1, None),)):
                try:
                    with warnings.catch_warnings():
                        warnings.simplefilter("ignore")
                        result = function(x, *more)
                except Exception:  # not a call that the function takes
                    continue
                if isinstance(result, np.ndarray):
                    yield rule, x, result


def test_functions_whose_result_is_a_view_say_so():
    shared = [(rule, result) for rule, x, result in results() if np.shares_memory(x, result)]
    assert {rule.name for rule, _ in shared} >= {"getitem", "reshape", "squeeze", "transpose"}
    assert {rule.name for rule, _ in shared if not rule.view and not rule.marker} == set()


def test_views_that_numpy_protects_say_so():
    protected = {
        rule
        for rule, x, result in results()
        if np.shares_memory(x, result) and not result.flags.writeable
    }
    assert {rule.name for rule in protected} >= {"broadcast_to", "diagonal"}
    assert {rule.name for rule in protected if not rule.overlapping} == set()


FACT = {
    "i": values.Scalar(int),
    "number": values.Array(np.dtype(int), ()),
    "places": values.Array(np.dtype(int), (2,)),
    "mask": values.Array(np.dtype(bool), (3,)),
    "anything": values.Unknown(),
}


@pytest.mark.parametrize(
    "index, kind",
    [
        ("i", "row"),
        (("i", "i"), "number"),
        ((0, "number"), "number"),
        (1, "row"),
        (slice(1, None), "slice"),
        ((slice(None), "i"), "row"),
        ((None, slice(None)), "slice"),
        (Ellipsis, "slice"),
        (("i", "i", Ellipsis), "row"),  # an array without axes, which is a view
        ("places", "new"),
        (("i", "places"), "new"),
        ("mask", "new"),
        ("anything", "unknown"),
        (True, "unknown"),
    ],
)
def test_what_an_index_takes_of_a_matrix(index, kind):
    builder = Builder()
    items = index if isinstance(index, tuple) else (index,)
    items = tuple(builder.symbol(FACT[i]) if isinstance(i, str) else i for i in items)
    node = to_node(items if isinstance(index, tuple) else items[0])

    def facts(atom):
        name = getattr(atom, "id", None)
        return values.of_constant(atom.value) if name is None else builder.facts[name]

    matrix = values.Array(np.dtype(float), (3, 3))
    assert index_kind(node, matrix, facts) == kind
    x = np.arange(9.0).reshape(3, 3)
    values_ = {"i": 1, "number": np.int64(1), "places": np.array([0, 2]), "mask": x[0] > 0}
    if kind != "unknown":
        real = index if isinstance(index, tuple) else (index,)
        part = x[tuple(values_[i] if isinstance(i, str) else i for i in real)]
        assert np.shares_memory(part, x) == (kind in ("row", "slice"))
        assert isinstance(part, np.ndarray) == (kind != "number")
