"""Which elements a selection takes, of what is computed from its adjoint."""

from __future__ import annotations

import numpy as np

from s2s_ad import runtime
from s2s_ad.core import values
from s2s_ad.core.builder import Builder
from s2s_ad.transforms.chosen import chosen_of


def test_a_product_of_one_row_is_one_element():
    builder, (n, m) = Builder(), (values.fresh_dim(), values.fresh_dim())
    table, row = (builder.symbol(values.Array(np.dtype(float), shape)) for shape in ((n, m), (m,)))
    part = builder.call(runtime.index_add, (np.zeros_like(table), 0, row), {})
    product = builder.call(runtime.contract, ("ij,j->i", part, row), {})
    rule, _, params = builder.definition(chosen_of(builder, product))
    assert rule is not None
    assert params["index"] in (0, (0,))
