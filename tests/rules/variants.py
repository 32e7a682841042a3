"""The coverage table's programs at other inputs: what NumPy takes, we take, and give what it gives.

A variant is a program's arguments in another form: another dtype, layout in memory, shape, or
number. NumPy says what is right: where it raises we raise, and else value, shape and dtype are its
own. A gradient has the shape and dtype of its argument, and is compared with central differences,
with the gradient at the same numbers in double precision, or with that of the same numbers in
other memory.
"""

from __future__ import annotations

import ast
import itertools
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from rules import probes
from s2s_ad import jit, jvp, value_and_grad, vmap
from s2s_ad.diagnostics import InternalError

EXACT = 1e-10  # of the same numbers, relative to the largest element
ROUNDED = 2e-3  # of numbers in single precision
DIFFERENCES = 1e-5  # of central differences of fourth order
SAMPLES = 2
Arguments = dict[str, Any]


@dataclass
class Variant:
    """Arguments in another form, by name.

    Attributes:
        reference: arguments at which the derivatives are the same; None: there are none.
        tolerance: of the derivatives against those at `reference`.
        apart: the place of the one element that is not as at `reference`: what else an
            elementwise function gives is the same.
        differences: whether the derivatives are compared with central differences.
        axes: where each argument has a batch axis, of a batch, and `out` where the result gets it.
    """

    name: str
    arguments: Arguments
    reference: Arguments | None = None
    tolerance: float = EXACT
    apart: int | None = None
    differences: bool = False
    axes: dict[str, int | None] | None = None
    out: int = 0


class Program:
    """A row's program as `f`, and as a weighted sum `loss` of its result, which goes along."""

    def __init__(self, row: probes.Row):
        *before, last = (ast.unparse(each) for each in row.statements)
        names = row.names
        text = probes.function("f", names, [*before, f"return {last}"])
        total = "np.sum(np.real(y * W))"
        text += probes.function("loss", names, [*before, f"y = {last}", f"return {total}, y"])
        self.row, self.names = row, names
        self.module = probes.load(text)
        self.f = self.module.f
        self.compiled = jit(self.f)
        positions = tuple(range(len(names))) if len(names) > 1 else 0
        self.both = value_and_grad(self.module.loss, positions, has_aux=True)

    def inputs(self) -> Arguments:
        return {name: probes.INPUTS[name] for name in self.names}

    def eager(self, arguments: Arguments) -> np.ndarray:
        """What NumPy gives."""
        return np.asarray(self.f(*map(copied, arguments.values())))

    def weigh(self, y: np.ndarray) -> None:
        """Weights for results like this one, of the same dtype."""
        weights = np.random.default_rng(5).uniform(0.5, 1.5, y.shape)
        self.module.W = (weights * (1 - 0.5j) if y.dtype.kind == "c" else weights).astype(y.dtype)

    def value_and_bars(self, arguments: Arguments) -> tuple[Any, list]:
        (_, y), bars = self.both(*map(copied, arguments.values()))
        return y, list(bars) if len(self.names) > 1 else [bars]

    def total(self, arguments: Arguments) -> float:
        return self.module.loss(*map(copied, arguments.values()))[0]


def copied(value: Any) -> Any:
    """Arguments of NumPy's own call: programs may change what they are given."""
    return value.copy() if type(value) is np.ndarray and value.flags.writeable else value


def recorded(program: Program, column: str) -> str:
    """What docs/rules.md says of the program's row."""
    return RECORDED[program.row.module, program.row.name][column]


# ---- variants ------------------------------------------------------------------------------------


def is_array(value: Any) -> bool:
    return isinstance(value, np.ndarray)


def each(change: Callable, arguments: Arguments) -> Arguments:
    """The arguments with all arrays changed."""
    return {n: change(value) if is_array(value) else value for n, value in arguments.items()}


def in_dtype(kind: str) -> Callable:
    return lambda value: value.astype(np.dtype(kind))


def dtypes(program: Program) -> Iterator[Variant]:
    """Single precision, whole and complex numbers, and two dtypes in one call."""
    inputs = program.inputs()
    single = each(in_dtype("f4"), inputs)
    double = each(in_dtype("f8"), single)
    if any(map(is_array, inputs.values())):
        yield Variant("float32", single, double, ROUNDED)
    if not all(map(is_array, inputs.values())):
        scalars = {n: np.asarray(value, "f4")[()] for n, value in inputs.items()}
        wide = {n: value.astype("f8") for n, value in scalars.items()}
        yield Variant("float32 scalars", scalars, wide, ROUNDED)
        yield Variant("0-d arrays", {n: np.asarray(v) for n, v in inputs.items()}, inputs)
    if sum(map(is_array, inputs.values())) > 1:
        first = next(n for n, value in inputs.items() if is_array(value))
        yield Variant("float32 first", double | {first: single[first]}, double, ROUNDED)
        yield Variant("float32 last", single | {first: double[first]}, double, ROUNDED)
    whole = each(lambda v: np.rint(4 * np.abs(v)).astype(int) + 1, inputs)
    if any(map(is_array, whole.values())) and not program.row.module.startswith("scipy"):
        yield Variant("whole numbers", whole)
        last = [n for n, value in inputs.items() if is_array(value)][-1]
        if len(inputs) > 1:
            yield Variant("whole numbers last", inputs | {last: whole[last]})
    if recorded(program, "complex") == "yes":
        wide = {n: probes.as_complex(value) for n, value in inputs.items()}
        narrow = each(in_dtype("c8"), wide)
        yield Variant("complex64", narrow, each(in_dtype("c16"), narrow), ROUNDED)
        if len(inputs) > 1:
            first = next(iter(inputs))
            yield Variant("complex first", inputs | {first: wide[first]}, differences=True)
            yield Variant("complex last", wide | {first: inputs[first]}, differences=True)


def spread(value: np.ndarray) -> np.ndarray:
    """The same numbers, every second one of an array."""
    wide = np.full([2 * length for length in value.shape], 7.0, value.dtype)
    view = wide[(slice(None, None, 2),) * value.ndim]
    view[...] = value
    return view


def backwards(value: np.ndarray) -> np.ndarray:
    """The same numbers with negative strides."""
    return np.flip(np.flip(value).copy())


def locked(value: np.ndarray) -> np.ndarray:
    value = value.copy()
    value.flags.writeable = False
    return value


LAYOUTS = {"strided": spread, "reversed": backwards, "Fortran": np.asfortranarray, "locked": locked}


def layouts(program: Program) -> Iterator[Variant]:
    """The same numbers in other memory."""
    inputs = program.inputs()
    if any(map(is_array, inputs.values())):
        for name, change in LAYOUTS.items():
            yield Variant(name, each(change, inputs), inputs)


def numbers(program: Program) -> Iterator[Variant]:
    """One element that is nan or infinite, in one argument after the other."""
    for special, (name, value) in itertools.product(
        (np.nan, np.inf, -np.inf), program.inputs().items()
    ):
        inputs, changed = program.inputs(), np.array(value)
        place = changed.size // 2
        changed.flat[place] = special
        changed = changed if is_array(value) else float(changed)
        yield Variant(f"{special} in {name}", inputs | {name: changed}, inputs, apart=place)


def shortened(value: np.ndarray, lengths: dict[int, int]) -> np.ndarray:
    return value[tuple(slice(lengths.get(length, length)) for length in value.shape)].copy()


def lengths(program: Program) -> Iterator[Variant]:
    """Axes of length 1 and 0, and arguments with fewer axes or with more."""
    inputs = program.inputs()
    arrays = [value for value in inputs.values() if is_array(value)]
    own = sorted({length for value in arrays for length in value.shape})
    chosen = [(length,) for length in own] + [tuple(own)] * (len(own) > 1)
    for few, short in itertools.product((1, 0), chosen):
        change = dict.fromkeys(short, few)
        name = f"lengths {', '.join(map(str, short))} are {few}"
        yield Variant(name, each(lambda v: shortened(v, change), inputs), differences=True)
    if arrays:
        corner = {n: v[(0,) * v.ndim] if is_array(v) else v for n, v in inputs.items()}
        yield Variant("0-d", {n: np.asarray(v) for n, v in corner.items()}, differences=True)
        yield Variant("scalars", {n: np.float64(v) for n, v in corner.items()}, differences=True)
        yield Variant("floats", {n: float(v) for n, v in corner.items()}, differences=True)
        yield Variant("one axis less", each(lambda v: v[0].copy(), inputs), differences=True)
        more = each(lambda v: np.stack([v, 0.9 * v]), inputs)
        yield Variant("one axis more", more, differences=True)


def broadcasts(program: Program) -> Iterator[Variant]:
    """One argument that is spread over the others."""
    inputs = program.inputs()
    if len(inputs) < 2:
        return
    for name, value in inputs.items():
        if not is_array(value):
            full = np.linspace(value, value + 0.3, 12).reshape(3, 4)
            yield Variant(f"{name} full", inputs | {name: full}, differences=True)
            continue
        forms = {f"length 1 on axis {axis}": value.take([0], axis) for axis in range(value.ndim)}
        forms["length 1"] = value[(slice(1),) * value.ndim].copy()
        forms["one axis less"] = value[0].copy()
        forms["one axis more"] = np.stack([value, 0.9 * value])
        forms["a new axis behind"] = value[..., None].copy()
        forms["a float"] = float(value.flat[0])
        forms["0-d"] = np.array(value.flat[0])
        for form, changed in forms.items():
            yield Variant(f"{name}: {form}", inputs | {name: changed}, differences=True)


def batches(program: Program) -> Iterator[Variant]:
    """The batch axis at each place of each argument, and of one argument alone."""
    if recorded(program, "batch") == "refused":
        return
    inputs = program.inputs()
    names = list(inputs)
    for axis in (0, 1, -1):
        yield _batch(f"axis {axis}", inputs, names, axis, "f8")
    if any(map(is_array, inputs.values())):
        yield _batch("axis 0, single precision", inputs, names, 0, "f4")
    if len(names) > 1:
        yield _batch("first alone", inputs, names[:1], -1, "f8")
        yield _batch("last alone", inputs, names[-1:], 0, "f8")


def _batch(name: str, inputs: Arguments, chosen: list[str], place: int, dtype: str) -> Variant:
    """Samples of the chosen arguments along an axis, as far as they have so many."""
    axes: dict[str, int | None] = dict.fromkeys(inputs)
    stacked = {n: v.astype(dtype) if is_array(v) else v for n, v in inputs.items()}
    for each_name in chosen:
        value = np.asarray(stacked[each_name])
        axis = axes[each_name] = place if -value.ndim - 1 <= place <= value.ndim else 0
        samples = [value * (1 + 0.05 * sample) for sample in range(SAMPLES)]
        stacked[each_name] = np.stack(samples, axis).astype(value.dtype)
    return Variant(name, stacked, axes=axes, out=place)


GROUPS = {
    "batches": batches,
    "dtypes": dtypes,
    "layouts": layouts,
    "numbers": numbers,
    "lengths": lengths,
    "broadcasts": broadcasts,
}
RECORDED = probes.recorded()


# ---- checks --------------------------------------------------------------------------------------


def same(actual: Any, expected: Any, what: str, tolerance: float) -> None:
    """Equal shape, dtype and numbers; nan where it is expected."""
    actual, expected = np.asarray(actual), np.asarray(expected)
    assert actual.dtype == expected.dtype, f"{what}: dtype {actual.dtype}, not {expected.dtype}"
    near(actual, expected, what, tolerance)


def near(actual: Any, expected: Any, what: str, tolerance: float) -> None:
    actual, expected = np.asarray(actual), np.asarray(expected)
    assert actual.shape == expected.shape, f"{what}: shape {actual.shape}, not {expected.shape}"
    if expected.dtype.kind not in "fc":
        np.testing.assert_array_equal(actual, expected, err_msg=what)
        return
    known = np.abs(expected[np.isfinite(expected)])
    scale = max(1.0, float(np.max(known, initial=0.0)))
    np.testing.assert_allclose(
        actual, expected, rtol=tolerance, atol=tolerance * scale, err_msg=what
    )


def fits(actual: Any, argument: Any, what: str) -> None:
    """A derivative has the kind of its argument or result; of a number of Python's, which is weak,
    it may have any precision."""
    assert np.shape(actual) == np.shape(argument), f"{what}: shape {np.shape(actual)}"
    wanted, found = np.asarray(argument).dtype, np.asarray(actual).dtype
    if not isinstance(argument, np.ndarray | np.generic):
        wanted, found = wanted.kind, found.kind
    assert found == wanted, f"{what}: dtype {found}, not {wanted}"


def precision(*values: Any) -> float:
    """How near two ways to compute the same come, where some of these are the numbers."""
    narrow = any(np.asarray(each).dtype in (np.float32, np.complex64) for each in values)
    return 1e-4 if narrow else 1e-11


def check(program: Program, variant: Variant) -> None:
    """Everything that holds of a program at some arguments.

    Raises:
        AssertionError: something does not.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if variant.axes is not None:
            check_batch(program, variant)
        else:
            check_call(program, variant)


def check_call(program: Program, variant: Variant) -> None:
    arguments = variant.arguments
    before = {name: np.copy(value) for name, value in arguments.items()}
    try:
        y = program.eager(arguments)
    except Exception as error:
        refuses(lambda: program.compiled(*map(copied, arguments.values())), error)
        return
    exact = precision(y, *arguments.values())
    same(program.compiled(*map(copied, arguments.values())), y, "value", exact)
    kinds = {np.asarray(value).dtype.kind for value in (y, *arguments.values())}
    if kinds <= {"f", "c"}:
        check_derivatives(program, variant, y)
    for name, value in arguments.items():
        np.testing.assert_array_equal(value, before[name], err_msg=f"{name} was changed")


def refuses(call: Callable, error: Exception) -> None:
    """It raises, as NumPy does."""
    try:
        found = call()
    except InternalError:
        raise
    except Exception:  # of which class is a matter of tests/rules/test_refusals.py
        return
    raise AssertionError(f"NumPy raises {type(error).__name__}: {error}; ours gives {found!r:.60}")


def check_derivatives(program: Program, variant: Variant, y: np.ndarray) -> None:
    arguments = variant.arguments
    program.weigh(y)
    exact = precision(y, *arguments.values())
    value, bars = program.value_and_bars(arguments)
    same(value, y, "value beside the gradient", exact)
    for name, bar in zip(program.names, bars, strict=True):
        fits(bar, arguments[name], f"{name}_bar")
    dots = directions(arguments)
    value, y_dot = jvp(program.f, tuple(map(copied, arguments.values())), tuple(dots.values()))
    same(value, y, "value beside the tangent", exact)
    fits(y_dot, value, "tangent")
    if variant.apart is not None:
        check_others(program, variant, bars, y_dot)
    elif variant.reference is not None:
        reference = variant.reference
        ours = program.eager(reference)
        if ours.shape != y.shape or not np.allclose(ours, y, variant.tolerance, equal_nan=True):
            return  # the program asks for the form: x.itemsize
        program.weigh(ours)
        _, expected = program.value_and_bars(reference)
        for name, bar, own in zip(program.names, bars, expected, strict=True):
            near(bar, own, f"{name}_bar", variant.tolerance)
        wide = {n: np.asarray(dots[n]).astype(np.asarray(reference[n]).dtype) for n in dots}
        wide = {n: like(wide[n], reference[n]) for n in dots}
        _, expected = jvp(program.f, tuple(reference.values()), tuple(wide.values()))
        near(y_dot, expected, "tangent", variant.tolerance)
    if variant.differences and y.dtype in (np.float64, np.complex128):
        against_differences(program, arguments, dots, bars, y_dot)


def check_others(program: Program, variant: Variant, bars: list, y_dot: Any) -> None:
    """What is computed of the other elements is as if the one were an ordinary number."""
    inputs, place = variant.reference, variant.apart
    if not is_elementwise(program, variant):
        return
    _, expected = program.value_and_bars(inputs)
    _, dot = jvp(program.f, tuple(inputs.values()), tuple(directions(inputs).values()))
    for actual, own in zip([*bars, y_dot], [*expected, dot], strict=True):
        near(np.delete(actual, place), np.delete(own, place), "other elements", EXACT)


def is_elementwise(program: Program, variant: Variant) -> bool:
    """Whether an element of the arguments changes nothing but the same element of the result."""
    inputs, place = variant.reference, variant.apart
    y = program.eager(inputs)
    if not all(is_array(value) and value.shape == y.shape for value in inputs.values()):
        return False
    nearby = np.ones(y.shape)
    nearby.flat[place] = 1.01
    changed = [variant.arguments, *(inputs | {n: v * nearby} for n, v in inputs.items())]
    return not any(np.any(np.delete(program.eager(each) != y, place)) for each in changed)


def like(value: Any, argument: Any) -> Any:
    return value if is_array(argument) else type(argument)(value)


def directions(arguments: Arguments) -> Arguments:
    """A direction for each argument, of its shape and dtype."""
    rng = np.random.default_rng(7)
    found = {}
    for name, value in arguments.items():
        way = rng.normal(size=np.shape(value))
        if np.iscomplexobj(value):
            way = way + 1j * rng.normal(size=np.shape(value))
        if isinstance(value, np.ndarray | np.generic):
            way = np.asarray(way).astype(value.dtype)
        found[name] = like(way, value)
    return found


def moved(value: Any, change: Any) -> Any:
    return np.asarray(value + change) if is_array(value) else value + change


def against_differences(
    program: Program, arguments: Arguments, dots: Arguments, bars: list, y_dot: Any
) -> None:
    """Both modes along the directions, where the differences are finite."""
    found, named = [], list(arguments.items())
    for function in (program.eager, program.total):
        at = {
            step: function({n: moved(v, step * probes.STEP * dots[n]) for n, v in named})
            for step in (-2, -1, 1, 2)
        }
        change = 8.0 * np.subtract(at[1], at[-1]) - np.subtract(at[2], at[-2])
        found.append(change / (12 * probes.STEP))
    change, whole = found
    known = np.isfinite(change)
    near(np.asarray(y_dot)[known], change[known], "tangent against differences", DIFFERENCES)
    if np.isfinite(whole):
        pairs = zip(bars, dots.values(), strict=True)
        total = sum(np.sum(np.real(np.conj(bar) * dot)) for bar, dot in pairs)
        near(total, whole, "gradient against differences", DIFFERENCES)


def check_batch(program: Program, variant: Variant) -> None:
    """vmap of the value and of the gradient, against loops over the samples."""
    arguments, axes = variant.arguments, variant.axes
    samples = [
        {n: v if axes[n] is None else sample_of(v, k, axes[n]) for n, v in arguments.items()}
        for k in range(SAMPLES)
    ]
    rows = [program.eager(sample) for sample in samples]
    in_axes = tuple(axes.values())
    out = variant.out if rows[0].ndim else 0
    whole = np.stack(rows, out)
    batched = vmap(program.f, in_axes, out)(*map(copied, arguments.values()))
    same(batched, whole, f"vmap to axis {out}", precision(whole, *arguments.values()))
    if rows[0].dtype.kind not in "fc":
        return
    program.weigh(rows[0])
    _, bars = vmap(program.both, in_axes)(*map(copied, arguments.values()))
    bars = bars if len(program.names) > 1 else (bars,)
    own = [program.value_and_bars(sample)[1] for sample in samples]
    tolerance = 100 * precision(rows[0], *arguments.values())
    for name, bar, column in zip(program.names, bars, zip(*own, strict=True), strict=True):
        expected = np.stack(column)
        same(bar, expected, f"vmap of the gradient: {name}_bar", tolerance)


def sample_of(value: np.ndarray, number: int, axis: int) -> Any:
    """A sample with memory of its own, as a loop over the axis reads it."""
    found = value.take(number, axis)
    return found.copy() if is_array(found) else found
