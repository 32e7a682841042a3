"""Shapes and dtypes of what a call gives, before it runs."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

import numpy as np

from s2s_ad.core import tree, values
from s2s_ad.interop.calls import Call, Hole
from s2s_ad.sparse.found import shapes_of


def results_of(call: Call, kinds: Sequence[Any]) -> list[tuple[tuple[int, ...], Any]]:
    """Shape and dtype of each array in the result; the call is told their structure.

    Args:
        kinds: the shape and dtype of each array that it is called with.
    """
    args = call.arguments([np.ones(each.shape, each.dtype) for each in kinds])
    program = list(call.fn.lower(*args).values())[-1]
    leaves = tree.leaves(program.result)
    found = zip(shapes_of(program, call.fn.bind(tuple(args), {}).arguments), leaves, strict=False)
    numbered = itertools.count()
    call.outputs = tree.tree_map(
        lambda atom: None if _is_none(atom) else Hole(next(numbered)), program.result
    )
    kept = [(value.shape, program.fact(atom)) for value, atom in found if not _is_none(atom)]
    call.dtypes = [values.strong_dtype(fact) or np.dtype(float) for _, fact in kept]
    return [(shape, dtype) for (shape, _), dtype in zip(kept, call.dtypes, strict=True)]


def _is_none(atom: Any) -> bool:
    return getattr(atom, "value", ...) is None
