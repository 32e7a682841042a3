"""What is compared with what, transform by transform, and the report on it."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from s2s_ad.api.batching import Vmap
from s2s_ad.api.function import Transformed
from s2s_ad.api.gradients import Grad
from s2s_ad.api.transform import Jacobian
from s2s_ad.check.differences import inexact_leaves, leaves, precision
from s2s_ad.check.modes import Modes
from s2s_ad.core import tree
from s2s_ad.core.tree import Tree
from s2s_ad.diagnostics import ArgumentTypeError, ArgumentValueError


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
    if tolerance is not None and not tolerance > 0:
        raise ArgumentValueError("S2S502", f"check: tolerance must be above 0, got {tolerance}")
    plan = Plan(np.random.default_rng(seed), tolerance)
    comparisons = tuple(_comparisons(fn, args, plan))
    if not comparisons:
        raise ArgumentTypeError("S2S303", f"check({_name(fn)}): no argument holds floats")
    return Report(comparisons)


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
        _refuse_what_is_no_argument(fn)
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
        where = modes.label(i)
        central, doubts = modes.central(i)
        floors = _floors(modes.value, doubts, near)
        adjoint = _dot([modes.adjoints[i]], [modes.directions[i]])
        sizes = [float(np.max(np.abs(w), initial=0.0)) for w in modes.weights]
        floor = sum(f * w * np.size(y) for f, w, y in zip(floors, sizes, central, strict=True))
        reverse = _error(adjoint, _dot(modes.weights, central), floor)
        if modes.has_forward:
            yield Comparison(f"{name}: forward, reverse", where, _duality(modes, i), exact)
        yield Comparison(f"{name}: reverse, differences", where, reverse, near)
        if modes.has_forward:
            error = _worst(modes.forward(i), central, floors)
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
    near = plan.near(modes)
    for index, path in enumerate(chosen):
        i = modes.paths.index(path)
        v, (expected, doubts) = modes.directions[i], modes.central(i)
        floors = _floors(modes.value, doubts, near)
        if isinstance(fn.transform, Grad):
            floors = [sum(floor * np.size(y) for floor, y in zip(floors, expected, strict=True))]
            expected = [sum(map(np.sum, expected))]
        found = [np.tensordot(each, v, np.ndim(v)) for each in blocks[index :: len(chosen)]]
        error = _worst(found, expected, floors)
        yield Comparison(f"{fn!r}, differences", modes.label(i), error, near)


def _refuse_what_is_no_argument(fn: Transformed) -> None:
    """Directions are along arguments, and differences of the sum of the outputs."""
    weights, sens = (getattr(fn.transform, each, None) for each in ("weights", "sens_param"))
    if weights is not None or sens:
        what = "to Parameters" if weights is not None else "to a given gradient of the output"
        raise ArgumentTypeError(
            "S2S501",
            f"check: {fn!r} is with respect {what}, which is not compared",
            help="check the gradient of a function that takes the Parameters as arguments",
        )


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
    bound = fn.__signature__.bind(*args)
    bound.apply_defaults()
    inputs = _inputs(bound)
    positions = fn.transform.positions
    return [
        path
        for position in (range(len(inputs)) if positions is ... else positions)
        for path in _leaf_paths(bound.arguments, inputs[position])
    ]


def _inputs(bound: inspect.BoundArguments) -> list[tree.Path]:
    """The path of each input, as positions count them: what *args takes is one by one."""
    found: list[tree.Path] = []
    for name, value in bound.arguments.items():
        star = bound.signature.parameters[name].kind is inspect.Parameter.VAR_POSITIONAL
        steps = [(("item", i),) for i in range(len(value))] if star else [()]
        found += [(("item", name), *step) for step in steps]
    return found


def _leaf_paths(arguments: Any, start: tree.Path) -> list[tree.Path]:
    value = tree.follow(arguments, start)
    return tree.paths(tree.from_object(value, lambda leaf, _: leaf), start)


def _against_loop(fn: Transformed, args: tuple, samples: list[tuple]) -> Comparison:
    """Each sample of the batched output against the function of that sample."""
    found = fn(*args)
    axes = _spread(fn.transform.out_axes, found)
    worst = 0.0
    for k, sample in enumerate(samples):
        mine = [
            y if axis is None else np.take(y, k, axis)
            for y, axis in zip(leaves(found), axes, strict=True)
        ]
        worst = max(worst, _worst(mine, leaves(fn.fn(*sample))))
    where = f"{len(samples)} samples"
    return Comparison(f"{fn!r}, a loop", where, worst, _rounding(leaves(found)))


def _samples(fn: Transformed, args: tuple) -> list[tuple]:
    """The arguments of each sample."""
    bound = fn.__signature__.bind(*args)
    axes: dict[tree.Path, int | None] = {}
    for i, start in enumerate(_inputs(bound)):
        entry = _entry(fn.transform.in_axes, i, start[0][1])
        value = tree.follow(bound.arguments, start)
        axes |= zip(_leaf_paths(bound.arguments, start), _spread(entry, value), strict=True)
    mapped = [(path, axis) for path, axis in axes.items() if axis is not None]
    count = min(np.shape(tree.follow(bound.arguments, path))[axis] for path, axis in mapped)

    def sample(k: int) -> tuple:
        def one(leaf: Any, path: tree.Path) -> Any:
            axis = axes.get(path)
            return leaf if axis is None else np.asarray(np.take(leaf, k, axis))

        taken = tree.to_object(tree.from_object(dict(bound.arguments), one))
        return inspect.BoundArguments(bound.signature, taken).args

    return [sample(k) for k in range(count)]


def _entry(in_axes: Any, position: int, name: str) -> Any:
    """What `in_axes` says of one input."""
    axes = _one_level(in_axes)
    if axes is None:
        return in_axes
    if axes.kind is not dict:
        return axes.items[position]
    return axes.get(name) if name in axes.keys else None


def _spread(axes: Any, value: Any) -> list:
    """The axis of each leaf of a value: one axis serves a whole container."""
    top = _one_level(axes)
    if top is None:
        return [axes for _ in leaves(value)]
    inner = tree.one_level(value)
    pairs = [
        (top.get(key) if top.kind is dict else top.items[i], item)
        for i, (key, item) in enumerate(zip(inner.keys, inner.items, strict=True))
    ]
    return [axis for pair in pairs for axis in _spread(*pair)]


def _one_level(axes: Any) -> Tree | None:
    if isinstance(axes, Tree):
        return axes
    return tree.one_level(axes) if isinstance(axes, tuple | list | dict) else None


# ---- errors --------------------------------------------------------------------------------------

SEEN = 1e-5  # differences do not show changes that are smaller, relative to the value
DOUBT = 4.0  # they may be wrong by this many times what two lengths of step disagree by


def _rounding(found: Sequence[Any]) -> float:
    """What sums in another order may differ by."""
    return 3 * precision(inexact_leaves(list(found))) ** (2 / 3)


def _floors(value: Sequence[Any], doubts: Sequence[Any], near: float) -> list[float]:
    """For each output what an error is relative to at least, so that rounding is not an error."""
    return [
        SEEN * float(np.max(np.abs(y), initial=0.0))
        + DOUBT / near * float(np.max(doubt, initial=0.0))
        for y, doubt in zip(value, doubts, strict=True)
    ]


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
