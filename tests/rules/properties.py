"""What holds of every rule: a case is an expression with inputs, and is checked in every mode.

Expected values come from NumPy, from central differences and from Python loops over samples. A
gradient is compared with differences first, and what is derived from it with the gradient then.
"""

from __future__ import annotations

import ast
import importlib
import importlib.util
import itertools
import operator
import pkgutil
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
import scipy

import s2s_ad.rules
from s2s_ad import grad, jit, jvp, runtime, vmap
from s2s_ad.core import form, sizes, values
from s2s_ad.core.builder import describe
from s2s_ad.core.regions import Region
from s2s_ad.core.registry import RULES
from s2s_ad.core.tree import Tree
from s2s_ad.diagnostics import S2SError
from s2s_ad.emit.write import write
from s2s_ad.load.module import load
from s2s_ad.rules.elementwise import Elementwise
from s2s_ad.rules.scipy_special_calls import Special

for _module in pkgutil.iter_modules(s2s_ad.rules.__path__, "s2s_ad.rules."):
    importlib.import_module(_module.name)  # all rows, those of optional libraries too

STEP = 1e-3  # of central differences of fourth order
_folder = tempfile.TemporaryDirectory(prefix="s2s_ad_rules_")
_number = itertools.count()


# ---- inputs --------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Draw:
    """An input of some shape: `values(rng, shape)`; `varies` where it can be differentiated."""

    shape: tuple
    values: Callable = field(default=lambda rng, shape: rng.normal(size=shape))
    varies: bool = True

    def __call__(self, rng: np.random.Generator):
        value = self.values(rng, self.shape)
        return np.asarray(value) if self.shape is not None else value


def real(*shape):
    return Draw(shape)


def distinct(*shape):
    """Numbers well apart from one another and from zero: no step of ours makes them meet."""

    def values(rng, shape):
        count = int(np.prod(shape))
        sizes = 0.3 * (1 + np.arange(count)) + rng.uniform(-0.1, 0.1, count)
        signs = rng.choice([-1.0, 1.0], count)
        return rng.permutation(sizes * signs).reshape(shape)

    return Draw(shape, values)


def positive(*shape):
    return Draw(shape, lambda rng, shape: rng.uniform(0.5, 2.0, shape))


def above_one(*shape):
    return Draw(shape, lambda rng, shape: rng.uniform(1.2, 3.0, shape))


def unit(*shape):
    return Draw(shape, lambda rng, shape: rng.uniform(-0.9, 0.9, shape))


def invertible(*shape):
    return Draw(shape, lambda rng, shape: rng.normal(size=shape) + 3 * np.eye(shape[-1]))


def definite(*shape):
    """Symmetric positive definite matrices."""

    def values(rng, shape):
        root = rng.normal(size=shape)
        return root @ np.swapaxes(root, -1, -2) + 2 * np.eye(shape[-1])

    return Draw(shape, values)


def integers(*shape, low=0, high=3):
    return Draw(shape, lambda rng, shape: rng.integers(low, high, shape), varies=False)


def fixed(*shape):
    """Numbers well apart that are not differentiated."""
    return Draw(shape, distinct(*shape).values, varies=False)


def mask(*shape):
    return Draw(shape, lambda rng, shape: rng.uniform(size=shape) < 0.5, varies=False)


def number(low=0.5, high=2.0):
    """A Python float."""
    return Draw(None, lambda rng, shape: float(rng.uniform(low, high)))


def some_slow(cases, every):
    """One of so many cases by default, the others with the slow tests."""
    return [
        pytest.param(each, id=str(each), marks=[pytest.mark.slow] if place % every else [])
        for place, each in enumerate(cases)
    ]


DOMAINS = {"real": distinct, "positive": positive, "above one": above_one, "unit": unit}


# ---- cases ---------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Case:
    """An expression over named inputs.

    Args:
        general: whether the text without example arguments has to exist.
        batches: whether all samples have results of one shape.
        empty: whether a batch may have no samples, which most functions of SciPy refuse.
    """

    text: str
    inputs: dict
    general: bool = True
    batches: bool = True
    empty: bool = True

    @property
    def names(self) -> list[str]:
        return list(self.inputs)

    @property
    def varying(self) -> list[str]:
        return [name for name, draw in self.inputs.items() if draw.varies]

    def __str__(self) -> str:
        shapes = (
            draw.shape if draw.shape is not None else "float" for draw in self.inputs.values()
        )
        return f"{self.text} {', '.join(str(shape).replace(' ', '') for shape in shapes)}"


def case(text, general=True, batches=True, empty=True, **inputs):
    return Case(text, inputs, general, batches, empty)


def spelled(function: Callable) -> str:
    """The function as the text of a case calls it."""
    if getattr(operator, function.__name__, None) is function:
        return f"operator.{function.__name__}"
    if getattr(runtime, function.__name__, None) is function:
        return f"runtime.{function.__name__}"
    return describe(function)


def elementwise_rows() -> list[tuple[Callable, Elementwise]]:
    """Every elementwise function with its rule, by name; those of math, of cmath and of SciPy have
    tests of their own, cases/ufuncs has np.choose."""
    found = [
        (function, rule)
        for function, rule in RULES.items()
        if isinstance(rule, Elementwise)
        and not isinstance(rule, Special)
        and getattr(function, "__module__", "") not in ("math", "cmath")
        and function is not np.choose
    ]
    return sorted(found, key=lambda row: spelled(row[0]))


def functions_named(text: str) -> set:
    """The objects that the dotted names of an expression stand for, and its operators."""
    space, found = {"np": np, "operator": operator, "scipy": scipy}, set()
    for node in ast.walk(ast.parse(text, mode="eval")):
        if isinstance(node, ast.Call):
            try:
                found.add(eval(ast.unparse(node.func), dict(space)))
            except (NameError, AttributeError, TypeError):
                name = getattr(node.func, "attr", "")
                found.add(getattr(np.ndarray, name, None))
                found.add(getattr(np, name, None))
        elif isinstance(node, ast.Subscript):
            found |= {operator.getitem, _bracketed(ast.unparse(node.value))}
        elif isinstance(node, ast.BinOp) and isinstance(node.op, ast.MatMult):
            found.add(operator.matmul)
    return found


def _bracketed(text: str):
    """An object of NumPy's that is used with brackets: np.r_[...]."""
    name = text.removeprefix("np.")
    return getattr(np, name, None) if text.startswith("np.") and name.isidentifier() else None


# ---- modules of functions under test -------------------------------------------------------------


HEAD = """
import operator

import numpy as np
import scipy
import scipy.fft
import scipy.integrate
import scipy.interpolate
import scipy.linalg
import scipy.ndimage
import scipy.optimize
import scipy.signal
import scipy.sparse
import scipy.sparse.linalg
import scipy.spatial.distance
import scipy.special
import scipy.stats

from s2s_ad import grad, runtime, vmap
"""


def module(text: str) -> ModuleType:
    """A module with this text, from a file of its own: the compiler reads sources."""
    name = f"s2s_ad_case_{next(_number)}"
    path = Path(_folder.name) / f"{name}.py"
    path.write_text(f"{HEAD}\n{text}")
    spec = importlib.util.spec_from_file_location(name, path)
    made = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(made)
    return made


def functions_of(case: Case) -> str:
    """The case as a function, its weighted sum, a weighted sum of its gradient; then the value
    and the gradient with the inputs that do not vary, and the weights, read from the module."""
    names, varying = ", ".join(case.names), case.varying
    own = ", ".join(varying)
    lines = [f"def f({names}):", f"    return {case.text}"]
    lines += [f"def loss(w, {names}):", f"    return np.sum(w * f({names}))"]
    positions = tuple(1 + case.names.index(name) for name in varying)
    bars = [f"{name}_bar" for name in varying]
    weights = ", ".join(f"v_{name}" for name in varying)
    total = " + ".join(f"np.sum(v_{name} * {name}_bar)" for name in varying)
    if varying:
        lines += [f"def slope(w, {weights}, {names}):"]
        lines += [f"    {', '.join(bars)} = grad(loss, {positions})(w, {names})"]
        lines += [f"    return {total}"]
        lines += [f"def value({own}):", f"    return f({names})"]
        lines += [f"def gradient({own}):", f"    return grad(loss, {positions})(w, {names})"]
    return "\n".join(lines) + "\n"


class Subject:
    """A case with its functions and one draw of its inputs."""

    def __init__(self, case: Case, seed: int = 0):
        self.case, self.rng = case, np.random.default_rng(seed)
        self.positions = tuple(1 + case.names.index(name) for name in case.varying)
        self.module = module(functions_of(case))
        self.f, self.loss = self.module.f, self.module.loss
        self.slopes = grad(self.loss, self.positions) if self.positions else None
        self.args = [draw(self.rng) for draw in case.inputs.values()]
        self.y = self.f(*self.args)
        self.w = self.rng.normal(size=np.shape(self.y))
        self.directions = {
            name: self.rng.normal(size=np.shape(self.args[case.names.index(name)]))
            for name in case.varying
        }
        vars(self.module).update(zip(case.names, self.args, strict=True))
        self.module.w = self.w

    def moved(self, step: float) -> list:
        """The inputs, a step along the directions."""
        return [
            value + step * self.directions[name] if name in self.directions else value
            for name, value in zip(self.case.names, self.args, strict=True)
        ]

    def central(self, function: Callable):
        """The derivative of function(*args) along the directions, by central differences."""
        near = np.subtract(function(*self.moved(STEP)), function(*self.moved(-STEP)))
        far = np.subtract(function(*self.moved(2 * STEP)), function(*self.moved(-2 * STEP)))
        return (8 * near - far) / (12 * STEP)

    def gradient(self, args=None):
        """The gradient of the weighted sum, as a tuple."""
        found = self.slopes(self.w, *(self.args if args is None else args))
        return found if len(self.positions) > 1 else (found,)

    def primals(self) -> list:
        return [self.args[self.case.names.index(name)] for name in self.case.varying]

    def tangents(self, dtype=float) -> list:
        made = []
        for name in self.case.varying:
            dot = self.directions[name]
            made.append(float(dot) if self.case.inputs[name].shape is None else dot.astype(dtype))
        return made


def close(actual, expected, what: str, tolerance: float = 1e-7) -> None:
    assert np.shape(actual) == np.shape(expected), (
        f"{what}: shape {np.shape(actual)}, expected {np.shape(expected)}"
    )
    scale = max(1.0, float(np.max(np.abs(expected), initial=0.0)))
    np.testing.assert_allclose(
        actual, expected, rtol=tolerance, atol=tolerance * scale, err_msg=what
    )


def check_value(subject: Subject) -> None:
    """jit gives what NumPy gives: value, shape and dtype."""
    actual = jit(subject.f)(*subject.args)
    close(actual, subject.y, "value", 1e-13)
    same_dtype(actual, subject.y, "value")


def same_dtype(actual, expected, what: str) -> None:
    assert np.asarray(actual).dtype == np.asarray(expected).dtype, (
        f"{what}: dtype {np.asarray(actual).dtype}, expected {np.asarray(expected).dtype}"
    )


def check_forward(subject: Subject) -> None:
    """The tangent is the central difference along a random direction."""
    y, y_dot = jvp(subject.module.value, subject.primals(), subject.tangents())
    close(y, subject.y, "value beside the tangent", 1e-13)
    close(y_dot, subject.central(subject.f), "tangent")


def check_reverse(subject: Subject) -> None:
    """<w, J d> is <J.T w, d>, and each position by itself gives the same adjoint."""
    bars = subject.gradient()
    for bar, name in zip(bars, subject.case.varying, strict=True):
        value = subject.args[subject.case.names.index(name)]
        assert np.shape(bar) == np.shape(value), f"{name}_bar has shape {np.shape(bar)}"
    forward = np.sum(subject.w * subject.central(subject.f))
    backward = sum(np.sum(bar * dot) for bar, dot in zip(bars, subject.tangents(), strict=True))
    close(backward, forward, "adjoint against central differences")
    if len(bars) > 1:
        for bar, position in zip(bars, subject.positions, strict=True):
            alone = grad(subject.loss, position)(subject.w, *subject.args)
            close(alone, bar, f"gradient with respect to input {position} alone", 1e-12)


def check_second_order(subject: Subject) -> None:
    """Forward over reverse and reverse over reverse, against central differences."""

    def flat_gradient(*args):
        return np.concatenate([np.ravel(bar) for bar in subject.gradient(args)])

    expected = subject.central(flat_gradient)
    _, dots = jvp(subject.module.gradient, subject.primals(), subject.tangents())
    dots = dots if len(subject.positions) > 1 else (dots,)
    close(np.concatenate([np.ravel(d) for d in dots]), expected, "forward over reverse", 1e-6)
    weights = [subject.rng.normal(size=np.shape(dot)) for dot in subject.tangents()]
    count = len(subject.positions)
    positions = tuple(count + each for each in subject.positions)
    bars = grad(subject.module.slope, positions)(subject.w, *weights, *subject.args)
    bars = bars if count > 1 else (bars,)
    backward = sum(np.sum(bar * dot) for bar, dot in zip(bars, subject.tangents(), strict=True))
    forward = np.sum(np.concatenate([np.ravel(each) for each in weights]) * expected)
    close(backward, forward, "reverse over reverse", 1e-6)


# ---- batches -------------------------------------------------------------------------------------


def placements(case: Case, thorough: bool) -> Iterator[dict]:
    """Which inputs have a batch axis, and where: every subset; axes 0, 1 and -1 in turn."""
    able = [name for name, draw in case.inputs.items() if draw.shape is not None]
    turn = itertools.cycle((0, 1, -1)) if thorough else itertools.cycle((0, -1, 1))
    for count in range(1, len(able) + 1):
        for chosen in itertools.combinations(able, count):
            variants = (
                [(0,) * count, (1,) * count, (-1,) * count]
                if thorough
                else [tuple(next(turn) for _ in chosen)]
            )
            for axes in variants:
                yield {
                    name: fitting(axis, len(case.inputs[name].shape))
                    for name, axis in zip(chosen, axes, strict=True)
                }


def fitting(axis: int, rank: int) -> int:
    return axis if -rank - 1 <= axis <= rank else 0


class Samples:
    """Inputs for a batch: a list of samples, and the same stacked along the axes."""

    def __init__(self, subject: Subject, axes: dict, size: int):
        case = subject.case
        self.axes = tuple(axes.get(name) for name in case.names)
        self.samples = []
        for _ in range(max(size, 1)):
            drawn = [
                case.inputs[name](subject.rng) if axis is not None else value
                for name, axis, value in zip(case.names, self.axes, subject.args, strict=True)
            ]
            self.samples.append(drawn)
        self.size = size
        self.batch = [
            column[0] if axis is None else self._stacked(column, axis)
            for column, axis in zip(zip(*self.samples, strict=True), self.axes, strict=True)
        ]

    def _stacked(self, column, axis):
        whole = np.stack(column, axis=axis)
        return whole if self.size else np.delete(whole, 0, axis=axis)

    def loop(self, function: Callable):
        """function(*sample) for each sample, stacked."""
        results = [np.asarray(function(*sample)) for sample in self.samples]
        return np.stack(results)[: self.size]


def check_batches(subject: Subject, sizes=(3, 1, 0), thorough: bool = False) -> None:
    """vmap, the gradient of each sample, and the gradient of the sum, against loops."""
    for axes in placements(subject.case, thorough):
        batched = Batched(subject, axes)
        for size in [each for each in sizes if each or subject.case.empty]:
            what = f"vmap over {axes}, batch of {size}"
            samples = Samples(subject, axes, size)
            try:
                close(batched.f(*samples.batch), samples.loop(subject.f), what, 1e-11)
                if subject.case.varying:
                    batched.check_gradients(samples, what)
            except AssertionError:
                raise
            except Exception as error:
                error.add_note(f"{what}: {batched.f.source(*samples.batch)}")
                raise


class Batched:
    """The batched forms of a subject for one choice of axes, compiled once for all sizes."""

    def __init__(self, subject: Subject, axes: dict):
        names = ", ".join(subject.case.names)
        self.subject, self.axes = subject, axes
        in_axes = tuple(axes.get(name) for name in subject.case.names)
        self.f = vmap(subject.f, in_axes)
        whole = module(
            f"def f({names}):\n    return {subject.case.text}\n"
            f"def total(w, {names}):\n    return np.sum(w * vmap(f, {in_axes})({names}))\n"
        )
        if subject.positions:
            self.per_sample = vmap(subject.slopes, (None, *in_axes))
            self.of_batch = grad(whole.total, subject.positions)

    def check_gradients(self, samples: Samples, what: str) -> None:
        varying, w = self.subject.case.varying, self.subject.w
        per_sample = listed(self.per_sample(w, *samples.batch), varying)
        of_batch = listed(self.of_batch(w, *samples.batch), varying)
        rows = [listed(self.subject.slopes(w, *sample), varying) for sample in samples.samples]
        for name, bar, whole, own in zip(
            varying, per_sample, of_batch, zip(*rows, strict=True), strict=True
        ):
            expected = np.stack(own)[: samples.size]
            close(bar, expected, f"vmap(grad): {name}_bar, {what}", 1e-9)
            axis = self.axes.get(name)
            total = np.sum(expected, axis=0) if axis is None else np.moveaxis(expected, 0, axis)
            close(whole, total, f"grad(vmap): {name}_bar, {what}", 1e-9)


def listed(result, names: list) -> tuple:
    """A gradient with respect to several inputs is a tuple, with respect to one it is bare."""
    return result if len(names) > 1 else (result,)


# ---- float32, and text without arguments ---------------------------------------------------------


def check_float32(subject: Subject) -> None:
    """Single precision in, single precision out, in every mode."""
    case, args = subject.case, [as_single(value) for value in subject.args]
    y = subject.f(*args)
    actual = jit(subject.f)(*args)
    same_dtype(actual, y, "value of float32 inputs")
    close(actual, y, "value of float32 inputs", 1e-5)
    if not case.varying or np.asarray(y).dtype != np.float32:
        return
    w = as_single(subject.w)
    arrays = [name for name in case.varying if case.inputs[name].shape is not None]
    bars = dict(zip(case.varying, listed(subject.slopes(w, *args), case.varying), strict=True))
    for name in arrays:
        same_dtype(bars[name], np.float32(0), f"{name}_bar of float32 inputs")
    primals = [as_single(value) for value in subject.primals()]
    y, y_dot = jvp(subject.module.value, primals, subject.tangents(np.float32))
    same_dtype(y_dot, y, "tangent of float32 inputs")
    for axes in itertools.islice(placements(case, False), int(case.batches)):
        samples = Samples(subject, axes, 3)
        batch = [as_single(value) for value in samples.batch]
        same_dtype(vmap(subject.f, samples.axes)(*batch), y, f"vmap of float32 over {axes}")
        found = vmap(subject.slopes, (None, *samples.axes))(w, *batch)
        bars = dict(zip(case.varying, listed(found, case.varying), strict=True))
        for name in arrays:
            same_dtype(bars[name], np.float32(0), f"vmap(grad): {name}_bar of float32 inputs")


def as_single(value):
    inexact = isinstance(value, np.ndarray | np.generic) and value.dtype.kind == "f"
    return value.astype(np.float32) if inexact else value


def check_general(subject: Subject) -> None:
    """The text without example arguments gives the same numbers, or is refused with a reason."""
    for transformed, args, wanted in every_mode(subject):
        text = general_text(transformed)
        if text is None:
            assert not subject.case.general, f"no general text of {transformed}"
            continue
        space: dict = {}
        exec(text.module, space)
        for actual, each in zip(listed(space[text.name](*args), wanted), wanted, strict=True):
            close(actual, each, f"general text\n{text.module}", 1e-11)


def every_mode(subject: Subject) -> Iterator[tuple]:
    """The value and the gradient, of one sample and of a batch, with what they have to give."""
    case, w = subject.case, subject.w
    yield jit(subject.f), subject.args, [subject.y]
    yield subject.slopes, [w, *subject.args], subject.gradient()
    able = [name for name, draw in case.inputs.items() if draw.shape is not None]
    if not (case.general and case.batches and able):
        return
    samples = Samples(subject, dict.fromkeys(able, 0), 3)
    yield vmap(subject.f, samples.axes), samples.batch, [samples.loop(subject.f)]
    rows = [listed(subject.slopes(w, *sample), case.varying) for sample in samples.samples]
    expected = [np.stack(column) for column in zip(*rows, strict=True)]
    yield vmap(subject.slopes, (None, *samples.axes)), [w, *samples.batch], expected


def general_text(transformed):
    """The text without example arguments; None where it is refused, which names the place."""
    try:
        return transformed.text()
    except S2SError as error:
        if error.origin is None:
            raise
        return None


# ---- facts ---------------------------------------------------------------------------------------


def check_facts(subject: Subject) -> None:
    """What the compiler believes of every value is true of the value: its dtype and its shape."""
    facts_hold(jit(subject.f), subject.args)
    if subject.case.varying:
        facts_hold(subject.slopes, [subject.w, *subject.args])
    if subject.case.varying and subject.case.batches:
        for axes in list(placements(subject.case, False))[-1:]:
            samples = Samples(subject, dict.fromkeys(axes, 0), 3)
            per_sample = vmap(subject.slopes, (None, *samples.axes))
            facts_hold(per_sample, [subject.w, *samples.batch])


def facts_hold(transformed, args) -> None:
    """Run the last stage with every intermediate value as a result."""
    *_, program = transformed.lower(*args).values()
    names = [s.target for s in program.body if _gives_a_value(s)]
    names = [name for name in names if not isinstance(program.facts[name], Tree)]
    atoms = tuple(form.name(name) for name in names)
    every = program.with_(output=Tree(tuple, tuple(range(len(names))), atoms))
    function = load(every, write(every)).function
    known = Known()
    given = zip(program.leaves(), args, strict=True)
    for name, value in [*given, *zip(names, function(*args), strict=True)]:
        holds(program.facts[name], value, known)


def _gives_a_value(statement) -> bool:
    """Whether the text has a value for the statement: branches and loops give several."""
    return isinstance(statement, form.Op) and not isinstance(statement.function, Region)


class Known:
    """The numbers that sizes and what they are computed from turned out to be."""

    def __init__(self):
        self.sizes, self.atoms = {}, {}

    def is_number(self, size: sizes.Size, number: int) -> bool:
        """Whether a size may be this number; if so it is."""
        found = sizes.value_of(size, self.atoms)
        if found is not None:
            return found == number
        (factor, coefficient), *others = size.terms
        if not others and coefficient == 1 and isinstance(factor, sizes.Atom):
            self.atoms[factor] = number - size.constant
        return self.sizes.setdefault(size, number) == number


def holds(fact, value, known: Known) -> None:
    """The abstract value describes the value, given what is known of lengths."""
    if isinstance(fact, values.Scalar):
        assert type(value) is fact.kind, f"{value!r} is not a {fact.kind.__name__}"
        assert fact.size is None or known.is_number(fact.size, value), f"{fact.size}: {value}"
    if not isinstance(fact, values.Array):
        return
    assert fact.dtype is None or fact.dtype == np.asarray(value).dtype, f"{fact}: {value!r}"
    if fact.shape is None:
        return
    assert len(fact.shape) == np.ndim(value), f"{fact}: {value!r}"
    for dim, length in zip(fact.shape, np.shape(value), strict=True):
        if isinstance(dim, int):
            assert dim == length, f"{fact}: {value!r}"
            continue
        assert dim.maybe_one or length != 1, f"{fact}: {value!r}"
        assert known.is_number(values.size_of_dim(dim), length), f"{fact}: {value!r}"


def check_all(each: Case, thorough: bool = False) -> None:
    """Every property of a case."""
    subject = Subject(each)
    before = [np.copy(value) for value in subject.args]
    check_value(subject)
    check_facts(subject)
    if each.varying:
        check_forward(subject)
        check_reverse(subject)
        check_second_order(subject)
        check_general(subject)
    if each.batches:
        check_batches(subject, thorough=thorough)
    check_float32(subject)
    for value, kept in zip(subject.args, before, strict=True):
        np.testing.assert_array_equal(value, kept, err_msg="an input was changed")
