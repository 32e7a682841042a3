"""All modes of one program, compared with plain Python."""

from __future__ import annotations

import ast
import contextlib
import copy
import dataclasses
import hashlib
import math
import re
import traceback
import types
from collections.abc import Callable
from typing import Any

import numpy as np

import s2s_ad
from native_code.watched import bounds_checked, is_out_of_bounds, watched
from random_programs import paths
from random_programs.program import Endless, TimeIsUp, limited, namespace, quiet
from random_programs.values import (
    children,
    inexact,
    is_container,
    is_inexact,
    is_single,
    kind,
    leaves,
    like,
    random_like,
    rebuilt,
)
from s2s_ad.diagnostics import InternalError, S2SError

SAMPLES = 3
MANY = 40  # samples to see which shapes there are
SECONDS = 60  # for one mode of one program
NATIVE_SECONDS = 240  # Numba takes long on a machine that does something else
PYTHON_SECONDS = 5  # for one run of it by Python
MODES = (
    "value", "grad", "value_and_grad", "jvp", "vmap", "vmap(grad)", "jvp(grad)", "grad(grad)",
    "grad(vmap)", "standalone", "determinism",
)  # fmt: skip
NATIVE_MODES = tuple(f"native {each}" for each in (
    "value", "value_and_grad", "jvp", "vmap", "vmap(grad)", "jvp(grad)", "grad(grad)",
))  # fmt: skip


class Mismatch(Exception):
    """What a mode gives is not what Python says."""

    def __init__(self, sort: str, detail: str):
        self.sort, self.detail = sort, detail
        super().__init__(f"{sort}: {detail}")


class WithRoots(types.SimpleNamespace):
    """The module `math` or `np`, whose roots note whether one has no derivative: that of zero, or
    of what is below."""

    def __init__(self, module: types.ModuleType):
        super().__init__(**vars(module))
        self.roots_of_zero = 0

        def noted(root: Callable) -> Callable:
            def function(*args: Any, **options: Any) -> Any:
                result = root(*args, **options)
                self.roots_of_zero += np.any((np.asarray(result) == 0) | np.isnan(result))
                return result

            return function

        self.sqrt = noted(module.sqrt)
        if module is np:
            self.std = noted(np.std)
            self.linalg = types.SimpleNamespace(**vars(np.linalg))
            self.linalg.norm = noted(np.linalg.norm)


class _Powers(ast.NodeTransformer):
    """Writes `a ** b` as a call of `__power__`."""

    def visit_BinOp(self, node: ast.BinOp) -> ast.expr:
        self.generic_visit(node)
        if not isinstance(node.op, ast.Pow):
            return node
        function = ast.Name("__power__", ast.Load())
        return ast.Call(function, [node.left, node.right], [])


def _noting_roots(source: str) -> tuple[dict[str, Any], Callable[[], bool]]:
    """What a program defines, and whether it has taken a root of zero when it was run."""
    scope = namespace(ast.unparse(ast.fix_missing_locations(_Powers().visit(ast.parse(source)))))
    modules = WithRoots(math), WithRoots(np)
    powers = 0

    def power(base: Any, exponent: Any) -> Any:
        nonlocal powers
        result = base**exponent
        if kind(base) and kind(exponent):
            is_root = (np.asarray(exponent) > 0) & (np.asarray(exponent) < 1)
            powers += np.any((np.asarray(base) == 0) & is_root | np.isnan(result))
        return result

    scope.update(math=modules[0], np=modules[1], __power__=power)
    return scope, lambda: bool(powers + sum(each.roots_of_zero for each in modules))


class Skipped(Exception):
    """Python itself says nothing of this mode here: there is a kink, or a sample fails."""


@dataclasses.dataclass
class Outcome:
    """What came of one mode: ok, skipped, refused, or failed; which sort of it, and the details."""

    mode: str
    status: str
    sort: str = ""
    detail: str = ""


# ---- comparisons -----------------------------------------------------------------------------


def _compare(
    found: Any, expected: Any, tolerance: float, types: bool = True, where: str = "result"
) -> None:
    """Raise Mismatch where structure, dtype, shape or numbers differ."""
    if is_container(expected) or is_container(found):
        left, right = [
            list(children(each)) if is_container(each) else None for each in (found, expected)
        ]
        if left is None or right is None or [k for k, _ in left] != [k for k, _ in right]:
            raise Mismatch("structure", f"{where} is {found!r}, expected {expected!r}")
        if type(found).__name__ != type(expected).__name__:
            raise Mismatch("structure", f"{where} is a {type(found)}, expected {type(expected)}")
        for (part, a), (_, b) in zip(left, right, strict=True):
            _compare(a, b, tolerance, types, where + part)
        return
    if not kind(expected):
        if type(found) is not type(expected) or (isinstance(expected, str) and found != expected):
            raise Mismatch("structure", f"{where} is {found!r}, expected {expected!r}")
        return
    if not kind(found):
        raise Mismatch("structure", f"{where} is {found!r}, expected {expected!r}")
    if np.shape(found) != np.shape(expected):
        raise Mismatch(
            "shape", f"{where} has shape {np.shape(found)}, expected {np.shape(expected)}"
        )
    if types and np.asarray(found).dtype != np.asarray(expected).dtype:
        raise Mismatch(
            "dtype",
            f"{where} has dtype {np.asarray(found).dtype}, expected {np.asarray(expected).dtype}",
        )
    if (
        types
        and where == "result"
        and isinstance(found, np.ndarray) != isinstance(expected, np.ndarray)
    ):
        raise Mismatch("arrayness", f"{where} is a {type(found)}, expected {type(expected)}")
    a, b = np.asarray(found), np.asarray(expected)
    if a.dtype.kind in "bi" and b.dtype.kind in "bi":
        if not np.array_equal(a, b):
            raise Mismatch("numbers", f"{where} is {found!r}, expected {expected!r}")
        return
    scale = max(1.0, float(np.max(np.abs(b), initial=0.0)))
    with quiet():
        near = np.abs(a - b) <= tolerance * scale
    if not np.all(near | ((a != a) & (b != b)) | (a == b)):
        raise Mismatch("numbers", f"{where} is {found!r}, expected {expected!r}")


class Checked:
    """A program that is compared; `directions` and `weights` come from `seed`."""

    def __init__(self, source: str, arguments: list[str], seed: int):
        self.source, self.texts, self.seed = source, arguments, seed
        self.rng = np.random.default_rng([seed, 7])
        self.scope = namespace(source, readable=True)
        self.main = self.scope["main"]
        args = self.arguments()
        self.single = is_single(args) or "float32" in source
        self.active = tuple(i for i, arg in enumerate(args) if inexact(arg))
        self.digest = ""
        self._cache: dict[str, Any] = {}

    def arguments(self, scope: dict[str, Any] | None = None) -> list:
        return [eval(each, scope or self.scope) for each in self.texts]

    @property
    def rounding(self) -> float:
        return 2e-4 if self.single else 1e-9

    @property
    def nearness(self) -> float:
        return 5e-3 if self.single else 2e-5

    def once(self, name: str, make: Callable[[], Any]) -> Any:
        """A value that several modes need; an error stays one."""
        if name not in self._cache:
            try:
                self._cache[name] = (make(), None)
            except Exception as error:
                self._cache[name] = (None, error)
        value, error = self._cache[name]
        if error is not None:
            raise error
        return value

    # ---- plain Python ------------------------------------------------------------------------

    def python(self, args: list, main: Callable | None = None) -> Any:
        """What Python gives; the arguments are kept."""
        try:
            with limited(PYTHON_SECONDS):
                return (main or self.main)(*copy.deepcopy(args))
        except TimeIsUp:
            raise Endless from None

    @property
    def value(self) -> Any:
        return self.once("value", lambda: self.python(self.arguments()))

    @property
    def precise(self) -> tuple[Callable, list]:
        """The program and its arguments in double precision."""

        def make() -> tuple[Callable, list]:
            if not self.single:
                return self.main, self.arguments()
            scope = namespace(self.source.replace("float32", "float64"), readable=True)
            texts = [each.replace("float32", "float64") for each in self.texts]
            return scope["main"], [eval(each, scope) for each in texts]

        return self.once("precise", make)

    def moved(self, args: list, steps: list) -> list:
        """The arguments with a step added to each inexact leaf of those that are active."""
        steps = iter(steps)
        return [
            rebuilt(arg, lambda leaf: like(leaf + next(steps), leaf) if is_inexact(leaf) else leaf)
            for arg in args
        ]

    def along(self, main: Callable, args: list, direction: list) -> list:
        """The derivative of each inexact output along a direction; Skipped where there is none."""

        def at(size: float) -> list:
            try:
                moved = self.moved(copy.deepcopy(args), [size * d for d in direction])
                found = inexact(self.python(moved, main))
            except S2SError:
                raise
            except (Exception, Endless):
                raise Skipped("fails nearby") from None
            return [np.asarray(each, dtype=np.result_type(each, float)) for each in found]

        far, near = 2e-5, 4e-6
        middle, right, left, beyond, before = at(0.0), at(near), at(-near), at(far), at(-far)
        result = []
        for m, r, s, b, a in zip(middle, right, left, beyond, before, strict=True):
            if not m.shape == r.shape == s.shape == b.shape == a.shape:
                raise Skipped("shape changes nearby")
            fine, coarse = (r - s) / (2 * near), (b - a) / (2 * far)
            scale = 1.0 + np.max(np.abs(coarse), initial=0.0)
            bend = np.max(np.abs(r - 2 * m + s), initial=0.0) / near
            if not (
                np.max(np.abs(fine - coarse), initial=0.0) < 1e-6 * scale and bend < 1e-3 * scale
            ):
                raise Skipped("kink")
            if not np.all(np.isfinite(coarse)) or scale > 1e4:
                raise Skipped("steep")
            result.append(coarse)
        return result

    def gradient_by_differences(self) -> list:
        """Of the sum of the outputs, leaf by leaf."""
        main, args = self.precise
        points = inexact([args[i] for i in self.active])
        gradient = []
        for k, point in enumerate(points):
            found = np.zeros(np.shape(point), dtype=np.result_type(point, float))
            for where in np.ndindex(found.shape):
                for unit in (1.0, 1j) if kind(point) == "c" else (1.0,):
                    direction = [
                        np.zeros(np.shape(p), dtype=np.result_type(p, float)) for p in points
                    ]
                    direction[k][where] = unit
                    slope = sum(np.sum(each) for each in self.along(main, args, direction))
                    found[where] += unit * np.real(slope)
            gradient.append(found)
        return gradient

    # ---- what is differentiated --------------------------------------------------------------

    def derivable(self) -> None:
        """Skipped where the program has no derivative that could be asked for."""
        outputs = inexact(self.value)
        if not self.active or not outputs:
            raise Skipped("nothing to differentiate")
        if any(kind(each) == "c" for each in outputs):
            raise Skipped("complex output")

    @property
    def smooth(self) -> None:
        """Skipped where differences along a random direction do not agree with themselves."""

        def look() -> None:
            main, args = self.precise
            self.along(
                main,
                args,
                [random_like(p, self.rng) for p in inexact([args[i] for i in self.active])],
            )
            if self.single:
                with quiet():
                    try:
                        _compare(self.python(args, main), self.value, 1e-3, types=False)
                    except Mismatch:
                        raise Skipped("single precision decides otherwise") from None

        return self.once("smooth", look)

    @property
    def is_singular(self) -> bool:
        """Whether the program takes a root of zero, or one that is nan: the chain rule has no
        derivative there.

        0 times infinity is nan, though differences may see that the argument never moves.
        """

        def look() -> bool:
            scope, has_taken_roots = _noting_roots(self.source)
            scope["main"](*self.arguments(scope))
            return has_taken_roots()

        return self.once("singular", look)

    def finite(self, found: list) -> None:
        """Skipped where a derivative is not finite, and need not be."""
        if not all(np.all(np.isfinite(each)) for each in found) and self.is_singular:
            raise Skipped("root of zero")

    @property
    def grad(self) -> Callable:
        return self.once("grad", lambda: s2s_ad.grad(self.main, self.positions))

    @property
    def positions(self) -> int | tuple[int, ...]:
        """What is differentiated, as `grad` is told."""
        return self.active if len(self.active) != 1 else self.active[0]

    def each(self, gradient: Any) -> tuple:
        """The gradient of each argument that is active."""
        return gradient if len(self.active) != 1 else (gradient,)

    @property
    def gradient(self) -> Any:
        return self.once("gradient", lambda: self.unchanged(self.grad))

    def unchanged(self, function: Callable) -> Any:
        """The function's result, whose call must leave the arguments as they are."""
        args = self.arguments()
        result = function(*args)
        try:
            _compare(args, self.arguments(), 0.0)
        except Mismatch as error:
            raise Mismatch("arguments", f"changed: {error.detail}") from None
        return result

    def as_inputs(self, found: Any, args: list, what: str) -> list:
        """The inexact leaves of a gradient, which are of the types of the inputs."""
        gradient, inputs = [], []
        for value, i in zip(self.each(found), self.active, strict=True):
            gradient += _matching(value, args[i], f"{what}[{i}]")
            inputs += inexact(args[i])
        for g, x in zip(gradient, inputs, strict=True):
            if np.shape(g) != np.shape(x):
                raise Mismatch("shape", f"{what} has shape {np.shape(g)}, the input {np.shape(x)}")
            weak = isinstance(x, float | complex) and not isinstance(x, np.generic)
            if np.asarray(g).dtype != np.asarray(x).dtype and not weak:
                raise Mismatch(
                    "dtype",
                    f"{what} has dtype {np.asarray(g).dtype}, the input {np.asarray(x).dtype}",
                )
        return gradient

    def extended(self, text: str, **names: Any) -> dict[str, Any]:
        """Functions that read the program's, from their text."""
        scope = namespace("import numpy as np\n\n\n" + text, readable=True)
        scope.update(names)
        return scope

    def on_floats(self, main: Callable, args: list) -> tuple[Callable, list]:
        """The program as a function of the arguments that are differentiated alone."""
        fixed = {f"fixed{i}": arg for i, arg in enumerate(args) if i not in self.active}
        names = [f"x{i}" for i in self.active]
        passed = [f"x{i}" if i in self.active else f"fixed{i}" for i in range(len(args))]
        for i, arg in enumerate(args):  # what is captured may not be changed
            if i not in self.active and isinstance(arg, list | np.ndarray):
                passed[i] += ".copy()"
        text = f"def on_floats({', '.join(names)}):\n    return main({', '.join(passed)})\n"
        return self.extended(text, main=main, **fixed)["on_floats"], [args[i] for i in self.active]

    # ---- batches -----------------------------------------------------------------------------

    @property
    def samples(self) -> list[list]:
        """Arguments that differ in all numbers, and what Python makes of them."""

        def make() -> list[list]:
            rng = np.random.default_rng([self.seed, 11])
            close = rng.random() < 0.5
            samples = []
            for i in range(SAMPLES):

                def leaf(x: Any, scale: float = 0.0 if i == 0 else 0.02 if close else 0.7) -> Any:
                    x = x + random_like(x, rng, scale) if is_inexact(x) else x
                    return np.asarray(x)[()] if kind(x) and not isinstance(x, np.ndarray) else x

                args = self.arguments()
                samples.append(
                    [rebuilt(a, leaf) if k in self.active else a for k, a in enumerate(args)]
                )
            return samples

        return self.once("samples", make)

    def has_many_shapes(self) -> bool:
        """Whether results of other samples than those that are compared have another shape."""
        rng, shapes = np.random.default_rng([self.seed, 19]), set()
        for _ in range(MANY):
            args = [
                rebuilt(
                    arg, lambda leaf: leaf + random_like(leaf, rng) if is_inexact(leaf) else leaf
                )
                if i in self.active
                else arg
                for i, arg in enumerate(self.arguments())
            ]
            with contextlib.suppress(Exception, Endless):
                shapes.add(tuple(map(np.shape, leaves(self.python(args)))))
        return len(shapes) > 1

    @property
    def sample_values(self) -> list:
        def make() -> list:
            try:
                values = [self.python(args) for args in self.samples]
            except (Exception, Endless) as error:
                raise Skipped("a sample fails") from error
            try:
                for value in values[1:]:
                    _alike(value, values[0])
            except Mismatch:
                raise Skipped("the samples' results differ in structure") from None
            if not all(kind(each) for each in leaves(values[0])):
                raise Skipped("results that are no numbers")
            return values

        return self.once("sample values", make)

    def batch(self) -> tuple[list, tuple]:
        """The samples' arguments in one, and the axes."""

        def stacked(values: list) -> Any:
            others = [iter(leaves(each)) for each in values]
            return rebuilt(values[0], lambda _: np.stack([next(each) for each in others]))

        columns = list(zip(*self.samples, strict=True))
        args = [stacked(list(c)) if i in self.active else c[0] for i, c in enumerate(columns)]
        return args, tuple(0 if i in self.active else None for i in range(len(args)))

    # ---- the modes ---------------------------------------------------------------------------

    def mode_value(self) -> None:
        _compare(self.unchanged(s2s_ad.jit(self.main)), self.value, self.rounding)

    def mode_grad(self) -> None:
        self.derivable()
        found = self.as_inputs(self.gradient, self.arguments(), "gradient")
        self.smooth
        self.finite(found)
        expected = self.gradient_by_differences()
        for g, e in zip(found, expected, strict=True):
            _compare(g, e, self.nearness, types=False, where="gradient")

    def mode_value_and_grad(self) -> None:
        self.derivable()
        value, gradient = self.unchanged(s2s_ad.value_and_grad(self.main, self.positions))
        _compare(value, self.value, self.rounding, where="value")
        _compare(gradient, self.gradient, self.rounding, where="gradient")

    def mode_jvp(self) -> None:
        if not self.active or not inexact(self.value):
            raise Skipped("nothing to differentiate")
        function, inputs = self.on_floats(self.main, self.arguments())
        rng = np.random.default_rng([self.seed, 13])
        direction = [random_like(leaf, rng) for leaf in inexact(inputs)]
        steps = iter(direction)
        tangents = [
            rebuilt(x, lambda leaf: next(steps) if is_inexact(leaf) else leaf) for x in inputs
        ]
        value, tangent = s2s_ad.jvp(function, tuple(inputs), tuple(tangents))
        _compare(value, self.value, self.rounding, where="value")
        found = _matching(tangent, self.value, "tangent")
        self.check_kinds(tangent, found)
        self.smooth
        self.finite(found)
        expected = self.along(*self.precise, direction)
        for t, e in zip(found, expected, strict=True):
            _compare(t, e, self.nearness, types=False, where="tangent")
        if not any(kind(y) == "c" for y in inexact(self.value)):
            self.finite(_inexact_of(self.gradient))
            forward = sum(float(np.sum(t)) for t in found)
            backward = [
                np.real(np.sum(np.conj(g) * d))
                for g, d in zip(_inexact_of(self.gradient), direction, strict=True)
            ]
            _compare(
                forward, float(sum(backward)), self.rounding * 10, types=False, where="<1, J v>"
            )

    def mode_vmap(self) -> None:
        values = self.sample_values
        args, axes = self.batch()
        if not self.active:
            raise Skipped("nothing to batch")
        found = s2s_ad.vmap(self.main, axes)(*args)
        expected = rebuilt(values[0], lambda _: None)
        columns = [iter(leaves(each)) for each in values]
        expected = rebuilt(values[0], lambda _: np.stack([next(each) for each in columns]))
        try:
            _compare(found, expected, self.rounding)
        except Mismatch as error:
            if error.sort != "dtype":
                raise
            _compare(found, expected, self.rounding, types=False)
            if self.dtype_of_the_path(found, expected, self.samples):
                raise Skipped("the dtype depends on the path") from None
            raise

    def check_kinds(self, tangent: Any, found: list) -> None:
        """Tangents have the shapes of their values, and the dtypes of those that are NumPy's."""
        pairs = list(zip(found, inexact(self.value), strict=True))
        for t, y in pairs:
            if np.shape(t) != np.shape(y):
                raise Mismatch("shape", f"tangent {t!r} of a value {y!r}")
        strong = [(t, y) for t, y in pairs if isinstance(y, np.ndarray | np.generic)]
        if any(np.asarray(t).dtype != y.dtype for t, y in strong):
            if not self.dtype_of_the_path(tangent, self.value, [self.arguments()]):
                raise Mismatch("dtype", f"tangents {found!r} of values {inexact(self.value)!r}")

    def dtype_of_the_path(self, found: Any, expected: Any, samples: list[list]) -> bool:
        """Whether dtypes that are not the expected ones are those that other paths give."""
        known = paths.dtypes(self.source, lambda: copy.deepcopy(samples))
        pairs = [
            [np.asarray(leaf).dtype for leaf in pair]
            for pair in zip(leaves(found), leaves(expected), strict=True)
        ]
        return len(known) == len(pairs) and all(
            a == b or b.kind not in "fc" or paths.may_have(a, each | {b})
            for each, (a, b) in zip(known, pairs, strict=True)
        )

    @property
    def sample_gradients(self) -> list[list]:
        def make() -> list[list]:
            self.derivable()
            values = self.sample_values
            del values
            for args in self.samples:
                if not self.single:
                    self.along(
                        self.main,
                        args,
                        [random_like(p, self.rng) for p in inexact([args[i] for i in self.active])],
                    )
            return [_inexact_of(self.grad(*copy.deepcopy(args))) for args in self.samples]

        return self.once("sample gradients", make)

    def mode_vmap_grad(self) -> None:
        gradients = self.sample_gradients
        args, axes = self.batch()
        found = self.as_inputs(s2s_ad.vmap(self.grad, axes)(*args), args, "gradient")
        self.finite([each for gradient in gradients for each in gradient])
        for g, e in zip(found, zip(*gradients, strict=True), strict=True):
            _compare(g, np.stack(e), self.rounding * 10, where="gradient")

    def mode_grad_vmap(self) -> None:
        gradients = self.sample_gradients
        args, axes = self.batch()
        weights = np.array([0.7, -1.3, 0.4])
        terms = []
        for path, leaf in _paths(self.value, "r"):
            if is_inexact(leaf):
                terms.append(
                    f"np.sum(weights.reshape({(SAMPLES,) + (1,) * np.ndim(leaf)}) * {path})"
                )
        names = ", ".join(f"x{i}" for i in range(len(args)))
        text = f"def summed({names}):\n    r = batched({names})\n    return {' + '.join(terms)}\n"
        summed = self.extended(text, batched=s2s_ad.vmap(self.main, axes), weights=weights)[
            "summed"
        ]
        found = self.as_inputs(s2s_ad.grad(summed, self.positions)(*args), args, "gradient")
        self.finite([each for gradient in gradients for each in gradient])
        for g, e in zip(found, zip(*gradients, strict=True), strict=True):
            weighted = np.stack([w * each for w, each in zip(weights, e, strict=True)])
            _compare(g, weighted, self.rounding * 10, types=False, where="gradient")

    def second(self) -> tuple[Callable, list, list, list]:
        """The gradient function in double precision, where, a direction, and its derivative along it."""

        def make() -> tuple[Callable, list, list, list]:
            self.derivable()
            self.smooth
            main, args = self.precise
            gradient = self.grad if main is self.main else s2s_ad.grad(main, self.positions)
            rng = np.random.default_rng([self.seed, 17])
            direction = [random_like(leaf, rng) for leaf in inexact([args[i] for i in self.active])]
            plain = lambda *a: _inexact_of(gradient(*a))
            return gradient, args, direction, self.along(plain, args, direction)

        return self.once("second", make)

    def mode_jvp_grad(self) -> None:
        gradient, args, direction, expected = self.second()
        function, inputs = self.on_floats(gradient, args)
        steps = iter(direction)
        tangents = [
            rebuilt(x, lambda leaf: next(steps) if is_inexact(leaf) else leaf) for x in inputs
        ]
        _, tangent = s2s_ad.jvp(function, tuple(inputs), tuple(tangents))
        self.finite(_inexact_of(tangent))
        for t, e in zip(_inexact_of(tangent), expected, strict=True):
            _compare(t, e, 1e-4, types=False, where="second derivative")

    def mode_grad_grad(self) -> None:
        """By the symmetry of second derivatives; of complex inputs, as those of real pairs."""
        expected = self.second()[-1]
        along, args = self.along_gradient()
        found = self.as_inputs(s2s_ad.grad(along, self.positions)(*args), args, "second derivative")
        self.finite(found)
        for g, e in zip(found, expected, strict=True):
            _compare(g, e, 1e-4, types=False, where="second derivative")

    def along_gradient(self) -> tuple[Callable, list]:
        """The part of the gradient along a direction, and what it is called with."""
        gradient, args, direction, _ = self.second()
        terms, names, k = [], {}, 0
        active = [args[i] for i in self.active]
        for path, leaf in _paths(active[0] if len(active) == 1 else tuple(active), "g"):
            if is_inexact(leaf):
                names[f"c{k}"] = np.conj(direction[k])
                terms.append(
                    f"np.sum(np.real(c{k} * {path}))"
                    if kind(leaf) == "c"
                    else f"np.sum(c{k} * {path})"
                )
                k += 1
        params = ", ".join(f"x{i}" for i in range(len(args)))
        text = f"def along({params}):\n    g = gradient({params})\n    return {' + '.join(terms)}\n"
        return self.extended(text, gradient=gradient, **names)["along"], args

    def mode_standalone(self) -> None:
        self.derivable()
        expected = self.gradient
        try:
            text = self.grad.source(*self.arguments(), standalone=True)
        except S2SError as error:
            if "cannot be imported" in error.what:
                raise Skipped("a class of a module that is no file") from None
            raise
        scope = namespace(text)
        name = re.findall(r"^def (main\w*)\(", text, re.MULTILINE)[-1]
        try:
            found = scope[name](*self.arguments())
        except ZeroDivisionError:  # of Python's numbers: text that stands alone has no door
            if self.is_singular:
                raise Skipped("root of zero") from None
            raise
        where, tolerance = "standalone", self.rounding if self.single else 1e-12
        _compare(found, expected, tolerance, types=False, where=where)  # it assumes no lengths
        self.as_inputs(found, self.arguments(), where)  # a Python number's may have any dtype

    def mode_determinism(self) -> None:
        self.derivable()

        def text_of_one_compilation() -> str:
            scope = namespace(self.source, readable=True)  # nothing that has served other calls
            text = s2s_ad.grad(scope["main"], self.positions).source(*self.arguments(scope))
            return _without_file(text)

        text = text_of_one_compilation()
        self.digest = hashlib.sha256(text.encode()).hexdigest()[:16]
        if text_of_one_compilation() != text:
            raise Mismatch(
                "text", "the text of the gradient differs from one compilation to the next"
            )

    # ---- native code -------------------------------------------------------------------------

    def natively(self, function: Callable, args: list) -> None:
        """The loops give what the text for NumPy gives, and no index is out of bounds."""
        compiled = s2s_ad.jit(function)
        with bounds_checked():
            text = compiled.text(*copy.deepcopy(args))
        if not text.native and text.cut is None:
            raise Skipped("no native form")
        expected = function(*copy.deepcopy(args))
        found, raised = watched(compiled, *copy.deepcopy(args))
        if any(map(is_out_of_bounds, raised)):
            raise Mismatch("memory", f"{raised[0]}\n{text.native}")
        tolerance = self.rounding if self.single else 1e-12
        try:
            _compare(found, expected, tolerance)
        except Mismatch as error:
            if error.sort != "dtype" or not _differ_where_python_gives_numbers(found, expected):
                raise
            _compare(found, expected, tolerance, types=False)
        if raised:
            raise Skipped(f"the loops raise {type(raised[0]).__name__}")

    def mode_native_value(self) -> None:
        self.natively(self.main, self.arguments())

    def mode_native_value_and_grad(self) -> None:
        self.derivable()
        self.natively(s2s_ad.value_and_grad(self.main, self.positions), self.arguments())

    def mode_native_jvp(self) -> None:
        self.derivable()
        self.natively(*self.forward(self.main))

    def forward(self, main: Callable) -> tuple[Callable, list]:
        """A function with its derivative along a direction, and what it is called with."""
        function, inputs = self.on_floats(main, self.arguments())
        rng = np.random.default_rng([self.seed, 13])
        along = lambda leaf: random_like(leaf, rng) if is_inexact(leaf) else leaf
        tangents = [rebuilt(each, along) for each in inputs]
        text = "def forward(xs, vs):\n    return jvp(function, xs, vs)\n"
        scope = self.extended(text, jvp=s2s_ad.jvp, function=function)
        return scope["forward"], [tuple(inputs), tuple(tangents)]

    def mode_native_vmap(self) -> None:
        self.sample_values
        if not self.active:
            raise Skipped("nothing to batch")
        args, axes = self.batch()
        self.natively(s2s_ad.vmap(self.main, axes), args)

    def mode_native_vmap_grad(self) -> None:
        self.sample_gradients
        args, axes = self.batch()
        self.natively(s2s_ad.vmap(self.grad, axes), args)

    def mode_native_jvp_grad(self) -> None:
        self.derivable()
        self.natively(*self.forward(self.grad))

    def mode_native_grad_grad(self) -> None:
        self.derivable()
        main, args = self.along_gradient()
        self.natively(s2s_ad.grad(main, self.positions), args)

    # ---- exceptions --------------------------------------------------------------------------

    def as_python(self, error: Exception, function: Callable) -> None:
        """Where Python raises, the same is raised.

        What nobody reads is not computed, so an exception that no `raise` or `assert` of the
        program makes may be missing.
        """
        try:
            found = function(*self.arguments())
        except type(error):
            return
        except InternalError:
            raise
        except S2SError as refused:
            if refused.code == "S2S203" and refused.why == "Python refuses this":
                return  # it would raise, and says so while code is generated
            raise
        except Exception as other:
            raise Mismatch("exception", f"{other!r}, expected {error!r}") from other
        last = traceback.extract_tb(error.__traceback__)[-1]
        own = last.filename == self.main.__code__.co_filename
        if own and (last.line or "").startswith(("raise", "assert")):
            raise Mismatch("exception", f"none, but {found!r}; expected {error!r}")


def _without_file(text: str) -> str:
    return re.sub(r"<random program \d+>", "<random program>", text)


def _paths(value: Any, start: str) -> list[tuple[str, Any]]:
    if is_container(value):
        return [each for part, item in children(value) for each in _paths(item, start + part)]
    return [(start, value)]


def _alike(value: Any, example: Any) -> None:
    a, b = _paths(value, ""), _paths(example, "")
    if [p for p, _ in a] != [p for p, _ in b]:
        raise Mismatch("structure", "")
    for (_, x), (_, y) in zip(a, b, strict=True):
        if (
            np.shape(x) != np.shape(y)
            or kind(x) != kind(y)
            or np.result_type(x) != np.result_type(y)
        ):
            raise Mismatch("structure", "")


def _inexact_of(gradient: Any) -> list:
    return inexact(gradient)


def _differ_where_python_gives_numbers(found: Any, expected: Any) -> bool:
    """Whether dtypes differ only where a number of Python's is expected, on a path on which a
    number is none of NumPy's: in native code it has one type, whichever path is taken."""
    pairs = zip(leaves(found), leaves(expected), strict=True)
    return all(
        np.asarray(a).dtype == np.asarray(b).dtype or type(b) in (int, float, complex)
        for a, b in pairs
    )


def _matching(found: Any, example: Any, what: str) -> list:
    """The leaves of a gradient at the places where the example has inexact ones."""
    if is_container(example):
        got = dict(children(found)) if is_container(found) else {}
        result = []
        for part, item in children(example):
            if inexact(item):
                if part not in got:
                    raise Mismatch("structure", f"{what} is {found!r} for {example!r}")
                result += _matching(got[part], item, what + part)
        return result
    if not is_inexact(example):
        return []
    if not kind(found):
        raise Mismatch("structure", f"{what} is {found!r} for {example!r}")
    return [found]


def check(
    source: str, arguments: list[str], seed: int = 0, modes: tuple[str, ...] = MODES
) -> tuple[list[Outcome], str]:
    """The outcome of each mode, and a digest of the gradient's text."""
    checked = Checked(source, arguments, seed)
    with quiet():
        try:
            checked.value
        except Endless:
            return [Outcome(mode, "skipped", "endless") for mode in modes], ""
        except Exception as error:
            raised = error
        else:
            raised = None
        found = []
        for mode in modes:
            if raised is not None and mode in ("value", "native value", "grad"):
                function = checked.grad if mode == "grad" else s2s_ad.jit(checked.main)
                outcome = _outcome(mode, lambda f=function: checked.as_python(raised, f))
                outcome.sort += (
                    f" where Python raises {type(raised).__name__}" if outcome.sort else ""
                )
                found.append(outcome)
            elif raised is not None:
                found.append(Outcome(mode, "skipped", "Python raises"))
            else:
                method = "mode_" + re.sub(r"\W+", "_", mode).strip("_")
                seconds = NATIVE_SECONDS if mode in NATIVE_MODES else SECONDS
                found.append(_outcome(mode, getattr(checked, method), seconds))
        for code, what, is_so in _to_be_refused(checked):
            asked = [each for each in found if (each.status, each.sort) == ("refused", code)]
            if asked and is_so():
                for each in asked:
                    each.status, each.sort = "skipped", what
    return found, checked.digest


def _to_be_refused(checked: Checked) -> list[tuple[str, str, Callable[[], bool]]]:
    """What is refused on purpose: its code, what it is, and whether the program is such a one."""
    source, texts = checked.source, checked.texts
    return [
        ("S2S207", "adds to a list that was passed", lambda: paths.lengthens(source, texts)),
        ("S2S402", "the shape of a result depends on numbers", checked.has_many_shapes),
        (
            "S2S201",
            "the structure of the result depends on the path",
            lambda: paths.has_structures(source, lambda: [checked.arguments()]),
        ),
    ]


def _outcome(mode: str, run: Callable[[], None], seconds: float = SECONDS) -> Outcome:
    try:
        with limited(seconds):
            run()
    except Skipped as skipped:
        return Outcome(mode, "skipped", str(skipped))
    except Mismatch as error:
        return Outcome(mode, "failed", f"wrong {error.sort}", error.detail)
    except TimeIsUp:
        return Outcome(mode, "failed", "timeout")
    except InternalError as error:
        return Outcome(mode, "failed", "internal", str(error))
    except S2SError as error:
        return Outcome(mode, "refused", error.code, str(error))
    except NotImplementedError as error:  # of generated code, where it depends on numbers
        return Outcome(mode, "refused", "NotImplementedError", str(error))
    except Endless:
        return Outcome(mode, "skipped", "endless")
    except Exception as error:
        last = traceback.extract_tb(error.__traceback__)[-1]
        where = (
            "compiled code"
            if "s2s_ad" not in last.filename.split("/")
            else last.filename.split("s2s_ad/")[-1]
        )
        text = "".join(traceback.format_exception(error)[-6:])
        return Outcome(
            mode, "failed", f"raises {type(error).__name__} in {where}", f"{error!r}\n{text}"
        )
    return Outcome(mode, "ok")
