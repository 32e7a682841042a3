"""The form of Core: what the verifier lets pass, and what it names."""

from __future__ import annotations

import operator

import gast
import numpy as np
import pytest

from s2s_ad import rules  # noqa: F401  (fills the registry)
from s2s_ad.core import form
from s2s_ad.core.builder import Builder
from s2s_ad.core.values import Array, Scalar
from s2s_ad.diagnostics import InternalError, Origin

HERE = Origin("f.py", 1, 0, 1, "x", "f")


def sine(target="y", operand=None):
    operand = operand or form.name("x")
    return form.op(target, np.sin, [operand], origin=HERE)


def test_one_operation_on_atoms_is_well_formed():
    index = gast.Tuple([gast.Slice(form.constant(1), None, None), form.constant(None)], gast.Load())
    item = sine().beside("z", operator.getitem, [form.name("y")], {"index": index})
    form.verify([sine(), item], ["x"], [form.name("z")])


MALFORMED = {
    "read before it is assigned": [sine(operand=form.name("q"))],
    "assigned twice": [sine(), sine()],
    "a Assign as a statement": [gast.Assign([form.name("y", gast.Store)], sine().call, None)],
    "an operand that is a Call": [sine(operand=form.operation(np.sin, [form.name("x")], {}))],
}


@pytest.mark.parametrize("what", MALFORMED)
def test_the_verifier_names_what_is_malformed(what):
    with pytest.raises(InternalError, match=what):
        form.verify(MALFORMED[what], ["x"], [])


def test_what_is_returned_has_to_be_assigned():
    with pytest.raises(InternalError, match="never assigned"):
        form.verify([sine()], ["x"], [form.name("nothing")])


def test_reads_leaves_out_what_an_effect_binds_itself():
    loop = gast.parse("for i in n:\n    print(x[i])").body[0]
    assert sorted(set(form.reads(loop))) == ["n", "print", "x"]


def test_equal_operations_are_merged_but_not_numbers_of_other_types():
    builder = Builder()
    x = builder.symbol(Array(np.dtype(float), ()))
    assert np.sin(x) is np.sin(x)
    assert (x + 2) is (x + 2)
    assert (x + 2) is not (x + 2.0)
    assert (x + 0.5) is not (x + -0.5)


def test_the_users_statements_are_not_merged():
    builder = Builder(merge=False)
    x = builder.symbol(Array(np.dtype(float), ()))
    assert np.sin(x) is not np.sin(x)


@pytest.mark.parametrize(
    "expression",
    [
        lambda x: x * 1,
        lambda x: 1 * x,
        lambda x: x + 0,
        lambda x: x**1,
        lambda x: -(-x),
        lambda x: np.transpose(x),
    ],
)
def test_what_changes_nothing_is_not_emitted(expression):
    builder = Builder()
    x = builder.symbol(Array(np.dtype(float), (3,)))
    assert expression(x) is x


@pytest.mark.parametrize("kind", ["bool", "int64"])
def test_a_factor_of_one_that_changes_the_dtype_stays(kind):
    builder = Builder()
    x = builder.symbol(Array(np.dtype(kind), (3,)))
    expected = (np.zeros(3, kind) * 1.0).dtype
    assert (x * 1.0).dtype == expected
    assert np.zeros(3, bool).dtype != (np.zeros(3, bool) * 1).dtype  # why 1 * mask stays
    assert (x * 1).dtype == (np.zeros(3, kind) * 1).dtype


def test_python_numbers_have_the_types_that_python_gives_them():
    builder = Builder()
    n, x = builder.symbol(Scalar(int)), builder.symbol(Scalar(float))
    assert (n + n).fact == Scalar(int)
    assert (n / n).fact == Scalar(float)
    assert (n * x).fact == Scalar(float)
    assert (n < x).fact == Scalar(bool)
