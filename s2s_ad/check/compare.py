"""What is compared with what, transform by transform, and the report on it."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from s2s_ad.api.function import Transformed
from s2s_ad.api.transform import Grad, Jacobian, StarTree, Vmap, located
from s2s_ad.check.differences import inexact_leaves, leaves, precision
from s2s_ad.check.modes import Modes
from s2s_ad.core import tree
from s2s_ad.core.tree import Tree
from s2s_ad.transforms.batches import prefix

STAR = inspect.Parameter.VAR_POSITIONAL


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two ways to the same numbers: the largest relative error, and what is tolerated."""

    what: str
    where: str
    error: float
    tolerance: float

    @property
    def passed(self) -> bool:
        return bool(self.error <= self.tolerance)


@dataclass(frozen=True, slots=True)
class Report:
    """What `check` found; its text is a table."""

    comparisons: tuple[Comparison, ...]

    @property
    def passed(self) -> bool:
        return all(each.passed for each in self.comparisons)

    @property
    def largest_error(self) -> float:
        """NaN where one of the errors is."""
        return float(np.max([each.error for each in self.comparisons], initial=0.0))

    def __str__(self) -> str:
        rows = [("compared", "at", "error", "tolerated", "")]
        for each in self.comparisons:
            numbers = (f"{each.error:.1e}", f"{each.tolerance:.1e}")
            rows.append((each.what, each.where, *numbers, "ok" if each.passed else "FAILED"))
        widths = [max(len(row[i]) for row in rows) for i in range(4)]
        lines = ["  ".join([*map(str.ljust, row[:4], widths), row[4]]).rstrip() for row in rows]
        return "\n".join([*lines, "passed" if self.passed else "FAILED"])


@dataclass(frozen=True, slots=True)
class Plan:
    """How a check goes about it; `only` are the paths of the leaves it looks at, None for all."""

    rng: np.random.Generator
    tolerance: float | None
    only: frozenset[tree.Path] | None = None

    def near(self, modes: Modes) -> float:
        """What is tolerated between a derivative and differences."""
        return 2 * modes.precision ** (1 / 3) if self.tolerance is None else self.tolerance


def check(fn: Callable, *args: Any, seed: int = 0, tolerance: float | None = None) -> Report:
    """Compare reverse mode, forward mode and central differences of `fn`, along random directions.

    Of a transformed function each transform is compared with what defines it: `grad` and the
    Jacobians with central differences, `vmap` with a loop over the samples, `jit` with the
    function. Then the function inside is checked in the same way, with the first sample.

    Args:
        fn: a function, or what `grad`, `vmap` and their kin made of one.
        args: where it is checked.
        seed: of the random directions.
        tolerance: the relative error against differences that is still right; by default what
            the coarsest dtype among the arguments allows.

    Returns:
        A report: `passed`, `largest_error`, the `comparisons`, and a table as its text.

    Raises:
        S2SError: what cannot be compiled or differentiated.

    Example:
        >>> import numpy as np
        >>> from s2s_ad import grad
        >>> def squared_length(x):
        ...     return x @ x
        >>> check(grad(squared_length), np.array([1.0, 2.0])).passed
        True
    """
    return Report(tuple(_comparisons(fn, args, Plan(np.random.default_rng(seed), tolerance))))


def dot_product_test(fn: Callable, args: Sequence[Any], *, seed: int = 0) -> float:
    """The relative difference of <y_bar, J x_dot> and <J^T y_bar, x_dot> for random vectors.

    Forward mode gives the first, reverse mode the second: they agree but for rounding where both
    are derivatives of the same function.
    """
    modes = Modes(fn, tuple(args), np.random.default_rng(seed))
    return max((_duality(modes, i) for i in range(len(modes.paths))), default=0.0)


def _comparisons(fn: Callable, args: tuple, plan: Plan) -> Iterator[Comparison]:
    if not isinstance(fn, Transformed):
        yield from _of_function(fn, args, plan)
        return
    if isinstance(fn.transform, Vmap):
        samples = _samples(fn, args)
        yield _against_loop(fn, args, samples)
        if not samples:
            return
        args = samples[0]
    elif isinstance(fn.transform, Grad | Jacobian):
        chosen = _chosen(fn, args)
        yield from _against_differences(fn, args, chosen, plan)
        plan = replace(plan, only=frozenset(chosen) | (plan.only or frozenset()))
    else:
        expected, found = leaves(fn.fn(*args)), leaves(fn(*args))
        worst = _worst(found, expected)
        yield Comparison(f"{fn!r}, {_name(fn.fn)}", "value", worst, _rounding(found))
    yield from _comparisons(fn.fn, args, plan)


def _name(fn: Callable) -> str:
    return repr(fn) if isinstance(fn, Transformed) else getattr(fn, "__name__", repr(fn))


# ---- both modes ----------------------------------------------------------------------------------


def _of_function(fn: Callable, args: tuple, plan: Plan) -> Iterator[Comparison]:
    modes = Modes(fn, args, plan.rng, only=plan.only)
    name = _name(fn)
    exact = _rounding([*modes.value, *map(modes.leaf, range(len(modes.paths)))])
    near = plan.near(modes)
    for i in range(len(modes.paths)):
        forward, central, where = modes.forward(i), modes.central(i), modes.label(i)
        weighted = [w * dot for w, dot in zip(modes.weights, central, strict=True)]
        noise = [w * y * SEEN for w, y in zip(modes.weights, modes.value, strict=True)]
        adjoint = _dot([modes.adjoints[i]], [modes.directions[i]])
        reverse = _error(adjoint, sum(map(np.sum, weighted)), sum(map(_magnitude, noise)))
        yield Comparison(f"{name}: forward, reverse", where, _duality(modes, i), exact)
        yield Comparison(f"{name}: reverse, differences", where, reverse, near)
        error = _worst(forward, central, _noise(modes))
        yield Comparison(f"{name}: forward, differences", where, error, near)


def _duality(modes: Modes, i: int) -> float:
    """The error of <y_bar, J x_dot> against <J^T y_bar, x_dot>, relative to their terms."""
    forward, direction, adjoint = modes.forward(i), modes.directions[i], modes.adjoints[i]
    left, right = _dot(modes.weights, forward), _dot([adjoint], [direction])
    sizes = _dot(*([np.abs(each) for each in side] for side in (modes.weights, forward)))
    sizes += _dot([np.abs(adjoint)], [np.abs(direction)])
    return _error(left, right, sizes)


# ---- transforms against what defines them --------------------------------------------------------


def _against_differences(
    fn: Transformed, args: tuple, chosen: list[tree.Path], plan: Plan
) -> Iterator[Comparison]:
    """The derivative times a direction, for each leaf that it is taken at."""
    modes = Modes(fn.fn, args, plan.rng, only=chosen, first_output=fn.transform.has_aux)
    blocks = _derivatives(fn.transform, fn(*args))
    near, noise = plan.near(modes), _noise(modes)
    for place, path in enumerate(chosen):
        i = modes.paths.index(path)
        v, expected = modes.directions[i], modes.central(i)
        if isinstance(fn.transform, Grad):
            expected = [sum(map(np.sum, expected))]
            noise = [sum(SEEN * _magnitude(y) for y in modes.value)]
        found = [np.tensordot(each, v, np.ndim(v)) for each in blocks[place :: len(chosen)]]
        error = _worst(found, expected, noise)
        yield Comparison(f"{fn!r}, differences", modes.label(i), error, near)


def _derivatives(transform: Grad | Jacobian, result: Any) -> list:
    """The derivatives in a result: for each output in turn, one for each leaf."""
    if getattr(transform, "with_value", False):
        result = result[1]
    elif transform.has_aux:
        result = result[0]
    if getattr(transform, "return_ids", False):
        result = result[1] if transform.bare else [each for _, each in result]
    return leaves(result)


def _chosen(fn: Transformed, args: tuple) -> list[tree.Path]:
    """The paths of the leaves that the derivative is taken at, in the order of the positions."""
    arguments = _bound(fn, args).arguments
    names = list(arguments)
    structure = {
        name: len(value) if fn.__signature__.parameters[name].kind is STAR else None
        for name, value in arguments.items()
    }
    found = []
    for _, name, item in located(fn.transform.positions, structure, fn.label):
        start = (("item", names.index(name)), *([("item", item)] if item is not None else []))
        value = tree.follow(tuple(arguments.values()), start)
        found += tree.paths(tree.from_object(value, lambda leaf, _: leaf), start)
    return found


def _against_loop(fn: Transformed, args: tuple, samples: list[tuple]) -> Comparison:
    """Each sample of the batched output against the function of that sample."""
    found = tree.from_object(fn(*args), lambda leaf, _: leaf)
    axes = tree.from_object(fn.transform.out_axes, lambda leaf, _: leaf)
    axes = tree.leaves(prefix(axes, found, "out_axes"))
    pairs = list(zip(tree.leaves(found), axes, strict=True))
    worst = 0.0
    for k, sample in enumerate(samples):
        mine = [y if axis is None else np.take(y, k, axis) for y, axis in pairs]
        worst = max(worst, _worst(mine, leaves(fn.fn(*sample))))
    tolerated = _rounding(tree.leaves(found))
    return Comparison(f"{fn!r}, a loop", f"{len(samples)} samples", worst, tolerated)


def _samples(fn: Transformed, args: tuple) -> list[tuple]:
    """The arguments of each sample."""
    bound = _bound(fn, args)
    parameters = fn.__signature__.parameters
    trees = {
        name: tree.from_object(value, lambda leaf, _: leaf)
        for name, value in bound.arguments.items()
    }
    facts = {
        name: StarTree(each.kind, each.keys, each.items) if parameters[name].kind is STAR else each
        for name, each in trees.items()
    }
    axes = fn.transform.axes(fn.label, bound.arguments, facts)
    pairs = [
        (value, axis)
        for name in trees
        for value, axis in zip(tree.leaves(trees[name]), tree.leaves(axes[name]), strict=True)
    ]
    count = next(np.shape(value)[axis] for value, axis in pairs if axis is not None)
    return [_sample(bound, trees, axes, k) for k in range(count)]


def _sample(
    bound: inspect.BoundArguments, trees: dict[str, Any], axes: dict[str, Tree], k: int
) -> tuple:
    def one(value: Any, axis: int | None) -> Any:
        return value if axis is None else np.asarray(np.take(value, k, axis))

    found = {
        name: tree.to_object(tree.tree_map(one, each, axes[name])) for name, each in trees.items()
    }
    return inspect.BoundArguments(bound.signature, found).args


def _bound(fn: Transformed, args: tuple) -> inspect.BoundArguments:
    bound = fn.__signature__.bind(*args)
    bound.apply_defaults()
    return bound


# ---- errors --------------------------------------------------------------------------------------

SEEN = 1e-5  # differences do not show changes that are smaller, relative to the value


def _rounding(found: Sequence[Any]) -> float:
    """What sums in another order may differ by."""
    return 3 * precision(inexact_leaves(list(found))) ** (2 / 3)


def _noise(modes: Modes) -> list[float]:
    return [SEEN * float(np.max(np.abs(y), initial=0.0)) for y in modes.value]


def _magnitude(value: Any) -> float:
    return float(np.sum(np.abs(value)))


def _dot(left: Sequence[Any], right: Sequence[Any]) -> float:
    return sum(float(np.sum(a * b)) for a, b in zip(left, right, strict=True))


def _worst(
    found: Sequence[Any], expected: Sequence[Any], floors: Sequence[float] | None = None
) -> float:
    if len(found) != len(expected):
        return float("inf")
    floors = floors if floors is not None else [0.0] * len(found)
    return max(map(_error, found, expected, floors), default=0.0)


def _error(found: Any, expected: Any, floor: float = 0.0) -> float:
    """The largest difference, relative to the largest number, or to `floor` if that is larger."""
    found, expected = np.asarray(found), np.asarray(expected)
    if found.shape != expected.shape:
        return float("inf")
    if found.dtype.kind not in "fc":
        return 0.0 if np.array_equal(found, expected) else float("inf")
    if not found.size:
        return 0.0
    difference = np.max(np.abs(found - expected))
    scale = max(np.max(np.abs(found)), np.max(np.abs(expected)), floor)
    return float(difference / scale) if scale > 0 else float(difference)
