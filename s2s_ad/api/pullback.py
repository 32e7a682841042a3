"""The functions that vjp and linearize return: from the adjoint of the output to the adjoints of
the inputs, and from tangents of the inputs to the tangent of the output."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from s2s_ad.api.arguments import exact_leaf
from s2s_ad.api.check_arguments import check_like, check_nesting
from s2s_ad.core import tree, values
from s2s_ad.core.program import Program
from s2s_ad.diagnostics import ArgumentTypeError, ArgumentValueError
from s2s_ad.transforms.common import is_floating


def pullback(
    backward: Callable,
    needed: tuple,
    output: Any,
    seeds: Callable[[], list[tuple[tree.Path, bool]]],
) -> Callable:
    """`backward` for what the forward pass kept; `output` says what an adjoint looks like.

    Args:
        seeds: what `seeds_of` says of the program, asked where the output holds lists.
    """
    facts = values.of_object(output, "output")
    lists = seeds() if _holds_list(facts) else []
    paths = zip(tree.paths(facts), tree.leaves(facts), strict=True)
    floats = [
        (i, path, tree.follow(output, path))
        for i, (path, fact) in enumerate(paths)
        if values.is_inexact(fact) is not False
    ]

    def vjp_fn(*adjoints: Any) -> tuple:
        """The adjoints of the inputs, for the adjoint of each output."""
        given = _as_given(adjoints, output)
        fitting = {path: _fitting(given[i], path, y) for i, path, y in floats}
        return backward(needed, *(_together(fitting, output, lists) if lists else fitting.values()))

    return vjp_fn


def seeds_of(program: Program, output: Any) -> list[tuple[tree.Path, bool]]:
    """For each part of a program's output that has an adjoint its path, and whether it is a list
    whose length the program does not know."""
    leaves = zip(tree.paths(output), tree.leaves(output), strict=True)
    return [
        (path, isinstance(program.fact(atom), values.List))
        for path, atom in leaves
        if is_floating(program, atom)
    ]


def _holds_list(value: Any) -> bool:
    items = value.items if isinstance(value, tree.Tree) else ()
    return getattr(value, "kind", None) is list or any(map(_holds_list, items))


def _together(fitting: dict, output: Any, seeds: list[tuple[tree.Path, bool]]) -> list:
    """The adjoints with lists in one piece, made anew: the backward pass takes their items off."""

    def of_list(path: tree.Path) -> Any:
        items = tree.from_object(tree.follow(output, path), lambda _, inner: inner)
        return tree.to_object(tree.tree_map(lambda inner: fitting[(*path, *inner)], items))

    return [of_list(path) if is_list else fitting[path] for path, is_list in seeds]


def pushforward(second: Callable, needed: tuple, inputs: list) -> Callable:
    """`second` for what the first half kept; a tangent looks like its input."""

    def linear(*tangents: Any) -> Any:
        """The tangent of the output, for a tangent of each input."""
        given = one_by_one(tangents, inputs)
        for i, (v, x) in enumerate(zip(given, inputs, strict=True)):
            check_like("linearize", f"the tangent {i}", _fact(v), f"input {i}", _fact(x))
        return second(needed, *map(_in_its_kind, given, inputs))

    return linear


def _fact(value: Any) -> Any:
    return tree.from_object(value, lambda leaf, _: exact_leaf(leaf))


def one_by_one(tangents: Sequence, inputs: Sequence) -> list:
    """A tangent for each input, which are given as these or as one tuple or list of them."""
    whole = len(inputs) == 1 and tree.is_container(inputs[0])
    together = len(tangents) == 1 and tree.kind_of(tangents[0]) in (tuple, list) and not whole
    given = tree.one_level(tangents[0]).items if together else tangents
    if len(given) != len(inputs):
        raise ArgumentValueError(
            "S2S502",
            f"linearize: {len(inputs)} inputs and {len(given)} tangents",
            help="give one tangent for each input",
        )
    return list(given)


def _as_given(adjoints: tuple, output: Any) -> list:
    """The adjoint of each leaf of the output, in the order of these."""
    if len(adjoints) == 1 and not tree.is_container(adjoints[0]) and not tree.is_container(output):
        return [adjoints[0]]
    try:
        given = [tree.from_object(each, lambda leaf, _: leaf) for each in adjoints]
        return leaf_by_leaf(given, tree.from_object(output, lambda leaf, _: leaf))
    except RecursionError:
        check_nesting("vjp_fn", {"adjoint": adjoints})
        raise


def leaf_by_leaf(adjoints: Sequence, output: Any) -> list:
    """The adjoint of each leaf of the output, a Tree or a leaf, in the order of its leaves.

    Several adjoints come one by one or as a tuple; those of a dict in any order.
    """
    if not adjoints:
        raise ArgumentTypeError(
            "S2S501", "vjp_fn: needs the adjoint of the output (its gradient), 0 given"
        )
    of_tuple = tree.kind_of(output) is tuple
    alone = len(adjoints) == 1 and (not of_tuple or tree.kind_of(adjoints[0]) is tuple)
    given = adjoints[0] if alone else tree.tuple_of(adjoints)
    by_path = dict(zip(tree.paths(given), tree.leaves(given), strict=True))
    wanted = tree.paths(output)
    if set(by_path) != set(wanted):
        raise ArgumentTypeError(
            "S2S501",
            f"vjp_fn: {_counted(given)} given, the output has {_counted(output)}",
            help="give the adjoints in the structure of the output",
        )
    return [by_path[path] for path in wanted]


def _counted(value: Any) -> str:
    """How many adjoints a structure has, and which where they have names."""
    if not isinstance(value, tree.Tree):
        return "1 adjoint"
    named = f" with the keys {list(value.keys)!r}" if value.kind is dict else ""
    return f"{len(value.items)} adjoints{named}"


def _fitting(y_bar: Any, path: tree.Path, y: Any) -> Any:
    """One adjoint, once it is known to fit its output."""
    if not _alike(y_bar, y):
        names = tree.path_text("the adjoint", path), tree.path_text("the output", path)
        check_like("vjp_fn", names[0], exact_leaf(y_bar), names[1], exact_leaf(y))
    return _of_its_kind(y_bar, y)


def _in_its_kind(given: Any, like: Any) -> Any:
    """Numbers of a tangent, in the structure of its input, as that has them."""
    if not tree.is_container(like):
        return _of_its_kind(given, like)
    found, wanted = (tree.from_object(each, lambda leaf, _: leaf) for each in (given, like))
    leaves = map(_of_its_kind, tree.leaves(found), tree.leaves(wanted))
    return tree.to_object(tree.tree_map(lambda _: next(leaves), found))


def _of_its_kind(given: Any, like: Any) -> Any:
    """A Python number, given for NumPy's number or an array without axes, as such a one.

    Of a complex number of Python's the adjoint is one, too.
    """
    if type(like) is complex:
        return complex(given)
    if type(given) not in values.PYTHON_NUMBERS or not isinstance(like, np.generic | np.ndarray):
        return given
    number = like.dtype.type(given)
    return np.asarray(number) if isinstance(like, np.ndarray) else number


def _alike(y_bar: Any, y: Any) -> bool:
    """Whether they plainly fit: the same kind of array, or a float for a scalar."""
    if type(y_bar) is float:
        return type(y) in (float, complex) or y.shape == ()
    if type(y) in values.PYTHON_NUMBERS:
        return type(y_bar) is type(y)
    return type(y_bar) is type(y) and y_bar.dtype == y.dtype and y_bar.shape == y.shape
