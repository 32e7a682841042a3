"""Expressions of a wanted type, made of values that are known."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import numpy as np

from random_programs.program import quiet
from random_programs.values import Type, children, is_container, is_tame, type_of

GAP = 1e-2  # between what is compared

Maker = Callable[[], str]


class NoWay(Exception):
    """There is no expression of this kind here."""


@dataclasses.dataclass(frozen=True)
class Callable_:
    """A function that expressions may call: examples of its arguments and of its result."""

    name: str
    arguments: tuple[Any, ...]
    result: Any
    keywords: tuple[str, ...] = ()


class Expressions:
    """Writes expressions from the variables `scope`, which Python has where they will stand."""

    def __init__(
        self, rng: np.random.Generator, names: list[str], scope: dict[str, Any], floats: str
    ):
        self.rng, self.scope, self.floats = rng, scope, floats
        self.names = [name for name in names if name in scope]
        self.helpers: list[Callable_] = []
        self.fuel = 40
        self.atoms = self._atoms()

    # ---- what is there -----------------------------------------------------------------------

    def _atoms(self) -> list[tuple[str, Any]]:
        """Each variable, and what containers in variables hold, with the text that reads it."""
        found = []
        pending = [(name, self.scope[name], 0) for name in self.names]
        while pending and len(found) < 60:
            text, value, depth = pending.pop(0)
            found.append((text, value))
            if is_container(value) and depth < 3:
                inner = [(text + part, item, depth + 1) for part, item in children(value)]
                if isinstance(value, list | tuple) and inner and self.rng.random() < 0.2:
                    inner.append((f"{text}[-1]", value[-1], depth + 1))
                pending += inner
        return found

    def some(self, test: Callable[[Any], bool]) -> str:
        """The text of a value for which the test holds."""
        fitting = [text for text, value in self.atoms if test(value)]
        if not fitting:
            raise NoWay
        later = min(len(fitting) - 1, int(self.rng.integers(0, 2 * len(fitting))))
        return fitting[later] if self.rng.random() < 0.3 else self.pick(fitting)

    def arrays(self, test: Callable[[np.ndarray], bool] = lambda _: True, kinds="fc") -> str:
        return self.some(lambda v: isinstance(v, np.ndarray) and v.dtype.kind in kinds and test(v))

    def value(self, text: str) -> Any:
        """The value of an expression, which has to be finite."""
        try:
            with quiet():
                found = eval(text, dict(self.scope))
        except Exception:
            raise NoWay from None
        if not is_tame(found):
            raise NoWay
        return found

    def pick(self, options: list) -> Any:
        if not options:
            raise NoWay
        return options[int(self.rng.integers(len(options)))]

    def chance(self, share: float) -> bool:
        return bool(self.rng.random() < share)

    def attempt(self, makers: list[Maker], fits: Callable[[Any], bool], tries: int = 6) -> str:
        """What the first maker that succeeds gives."""
        for _ in range(tries):
            self.fuel -= 1
            try:
                text = self.pick(makers)()
                if fits(self.value(text)):
                    return text
            except NoWay:
                continue
        raise NoWay

    def constant(self, kind: str = "f") -> str:
        size = self.pick([0.25, 0.5, 0.7, 1.3, 1.5, 2.0, 0.31, 1.75])
        if kind == "c":
            return f"({size} {self.pick(['+', '-'])} {self.pick([0.5, 1.2, 0.8])}j)"
        return f"-{size}" if self.chance(0.25) else str(size)

    # ---- numbers -----------------------------------------------------------------------------

    def number(self, depth: int = 2) -> str:
        """A floating-point number: of Python, or of NumPy."""
        fits = lambda v: (t := type_of(v)) is not None and t.dtype[0] == "f" and not t.shape
        leaf = [
            lambda: self.some(lambda v: fits(v) and not isinstance(v, np.ndarray)),
            self.constant,
        ]
        if depth <= 0 or self.fuel < 0 or self.chance(0.2):
            try:
                return self.attempt(leaf[:1], fits, 1)
            except NoWay:
                return self.constant()
        e = lambda: self.number(depth - 1)
        makers: list[Maker] = [
            *leaf,
            lambda: f"({e()} {self.pick(['+', '-', '*'])} {e()})",
            lambda: f"({e()} {self.pick(['+', '-', '*'])} {e()})",
            lambda: f"({e()} / {self.away(e())})",
            lambda: (
                f"np.{self.pick(['sin', 'cos', 'tanh', 'arctan', 'exp', 'square', 'negative'])}({e()})"
            ),
            lambda: f"math.{self.pick(['sin', 'cos', 'tanh', 'exp', 'atan'])}({e()})",
            lambda: (
                f"{self.pick(['np', 'math'])}.{self.pick(['sqrt', 'log'])}({self.positive(e())})"
            ),
            lambda: f"({e()} ** {self.pick(['2', '3', '2.0'])})",
            lambda: f"({self.positive(e())} ** {self.pick(['0.5', '-1', '1.5', e()])})",
            lambda: f"abs({self.away(e())})",
            lambda: f"-{e()}",
            lambda: self.extreme(e(), e()),
            lambda: f"({e()} if {self.condition(depth - 1)} else {e()})",
            lambda: f"({e()} * {self.integer(depth - 1)})",
            lambda: f"float({e()})",
            lambda: self.reduced(depth),
            lambda: self.reduced(depth),
            lambda: self.element(),
            lambda: self.element(),
            lambda: self.of_container(depth),
            lambda: self.call(fits, depth),
            lambda: self.linear_number(),
            lambda: f"np.float64({e()})",
            lambda: self.folded(depth),
        ]
        try:
            return self.attempt(makers, fits)
        except NoWay:
            return self.constant()

    def integer(self, depth: int = 1, low: int = -3, high: int = 4) -> str:
        """An integer from `low` to `high`."""
        fits = lambda v: (
            isinstance(v, int | np.integer) and not isinstance(v, bool) and low <= v <= high
        )
        constant = str(int(self.rng.integers(low, high + 1)))
        if depth <= 0 or self.fuel < 0 or self.chance(0.3):
            return constant
        e = lambda: self.integer(depth - 1)
        makers: list[Maker] = [
            lambda: self.some(fits),
            lambda: self.some(fits),
            lambda: f"len({self.sized()})",
            lambda: f"{self.arrays(lambda a: a.ndim > 0)}.shape[{self.pick([0, -1])}]",
            lambda: f"{self.arrays(lambda a: a.ndim > 0)}.{self.pick(['size', 'ndim'])}",
            lambda: f"({e()} {self.pick(['+', '-', '*'])} {e()})",
            lambda: f"({e()} {self.pick(['%', '//'])} {self.pick(['2', '3'])})",
            lambda: f"np.sum({self.mask_of_any()})",
            lambda: f"int(np.argmax({self.spread()}))",
            lambda: f"int({self.between(self.number(1))})",
            lambda: f"({e()} if {self.condition(0)} else {e()})",
            lambda: f"abs({e()})",
            lambda: f"{self.pick(['min', 'max'])}({e()}, {e()})",
            lambda: f"sum(1 for v in {self.iterable_of_numbers()} if v > {self.constant()})",
        ]
        try:
            return self.attempt(makers, fits, 4)
        except NoWay:
            return constant

    def sized(self) -> str:
        return self.some(
            lambda v: (
                isinstance(v, list | tuple | dict) or (isinstance(v, np.ndarray) and v.ndim > 0)
            )
        )

    def condition(self, depth: int = 1) -> str:
        """A truth value that does not change with a small change of what it reads."""
        e = lambda: self.condition(depth - 1)
        makers: list[Maker] = [
            self._comparison,
            self._comparison,
            lambda: (
                f"{self.integer()} {self.pick(['<', '<=', '==', '!=', '>', '>='])} {self.integer()}"
            ),
            lambda: f"{self.pick(['np.any', 'np.all'])}({self.mask_of_any()})",
            lambda: f"{self.mask_of_any()}.{self.pick(['any', 'all'])}()",
            lambda: self.some(lambda v: isinstance(v, bool | np.bool_)),
            lambda: f"{self.sized()}",
            lambda: (
                f"isinstance({self.pick(self.names)}, {self.pick(['float', 'int', 'np.ndarray', 'list', 'tuple', 'dict', 'str'])})"
            ),
            lambda: f"{self.pick(self.names)} is {self.pick(['', 'not '])}None",
            lambda: (
                f"{self.some(lambda v: isinstance(v, str))} {self.pick(['==', '!='])} {self.pick(['chr(97)', repr('left'), repr('right')])}"
            ),
            lambda: f"{self.pick(['a', 'b', 'w'])!r} in {self.some(lambda v: isinstance(v, dict))}",
            lambda: f"{self.integer(0)} in {self.pick(['(0, 1)', '[1, 2, 3]', 'range(2)'])}",
        ]
        if depth > 0:
            makers += [
                lambda: f"not ({e()})",
                lambda: f"({e()}) {self.pick(['and', 'or'])} ({e()})",
            ]
        # an array of more than one element is no truth value, and an empty one only with a warning
        fits = lambda v: not isinstance(v, np.ndarray)
        try:
            return self.attempt(makers, fits)
        except NoWay:
            return self.pick(["True", "False"])

    def _comparison(self) -> str:
        left, right = self.number(1), self.number(0)
        a, b = self.value(left), self.value(right)
        if abs(a - b) < GAP:
            raise NoWay
        if self.chance(0.2):
            return f"{self.value_below(min(a, b))} < {left if a < b else right} {self.pick(['<', '<='])} {right if a < b else left}"
        return f"{left} {self.pick(['<', '<=', '>', '>=', '!='])} {right}"

    def value_below(self, number: float) -> str:
        return f"{float(number) - 1.0:.2f}"

    # ---- parts of numbers --------------------------------------------------------------------

    def away(self, text: str) -> str:
        """Away from zero."""
        value = self.value(text)
        return (
            text
            if np.size(value) and np.min(np.abs(value)) > 0.1
            else f"({text} + {self.beyond(value)})"
        )

    def beyond(self, value: Any) -> str:
        return f"{float(np.max(np.abs(value), initial=0.0)) + 1.0:.1f}"

    def positive(self, text: str) -> str:
        value = self.value(text)
        if np.iscomplexobj(value):
            raise NoWay
        if np.size(value) and np.min(value) > 0.1:
            return text
        return self.pick(
            [
                f"(1.5 + ({text}) ** 2)",
                f"({text} + {self.beyond(value)})",
                f"(abs({self.away(text)}) + 0.5)",
            ]
        )

    def between(self, text: str) -> str:
        """Away from the integers."""
        value = np.asarray(self.value(text))
        if np.any(np.abs(value - np.round(value)) < GAP) or value.dtype.kind != "f":
            raise NoWay
        return text

    def extreme(self, left: str, right: str) -> str:
        """The larger or smaller of two that are far enough from each other."""
        a, b = self.value(left), self.value(right)
        if np.iscomplexobj(a) or np.iscomplexobj(b) or np.any(np.abs(np.subtract(a, b)) < GAP):
            raise NoWay
        numbers = not np.ndim(a) and not np.ndim(b)
        name = self.pick(
            ["np.maximum", "np.minimum", "np.fmax", *(["max", "min"] if numbers else [])]
        )
        return f"{name}({left}, {right})"

    def spread(self) -> str:
        """An array whose elements are far enough from each other."""

        def test(a: np.ndarray) -> bool:
            with quiet():
                return a.size > 0 and bool(np.all(np.diff(np.sort(a, axis=None)) > GAP))

        return self.arrays(test, "f")

    def reduced(self, depth: int) -> str:
        """A whole array in one number."""
        name = self.pick(
            ["sum", "mean", "prod", "max", "min", "var", "std", "ptp", "median", "norm"]
        )
        if name in ("max", "min", "ptp", "median"):
            array = self.spread()
        else:
            array = self.pick([self.any_array, lambda: self.arrays(kinds="f")])()
        if np.iscomplexobj(self.value(array)):
            array = f"np.{self.pick(['real', 'imag'])}({array})"
        if name in ("std", "norm"):
            value = np.asarray(self.value(array))
            if value.size == 0 or np.std(value) < GAP or np.max(np.abs(value)) < 0.1:
                raise NoWay
        if name == "norm":
            return f"np.linalg.norm({array})"
        if name in ("ptp", "median") or self.chance(0.6):
            return f"np.{name}({array})"
        return f"{array}.{name}()"

    def any_array(self) -> str:
        shape = self.pick([(2,), (3,), (1,), (2, 3)])
        return self.array(Type(self.floats, shape), 1)

    def element(self) -> str:
        text = self.arrays(lambda a: a.size > 0, "f")
        shape = np.shape(self.value(text))
        if not shape:
            return self.pick([f"{text}[()]", f"{text}.item()", text + " * 1.0"])
        where = [self.index(n) for n in shape]
        if self.chance(0.15):
            return "".join([text, *(f"[{i}]" for i in where)])
        return f"{text}[{', '.join(where)}]"

    def index(self, length: int) -> str:
        """A position in so many elements."""
        if not length:
            raise NoWay
        if self.chance(0.4):
            try:
                return self.some(lambda v: type(v) is int and -length <= v < length)
            except NoWay:
                pass
        return str(int(self.rng.integers(-length, length)))

    def of_container(self, depth: int) -> str:
        text = self.some(
            lambda v: (
                isinstance(v, list | tuple)
                and v
                and all(
                    (t := type_of(x)) is not None and t.shape is None and t.dtype[0] in "fi"
                    for x in v
                )
            )
        )
        value = self.value(text)
        ways = [
            f"sum({text})",
            f"sum(v * {self.constant()} for v in {text})",
            f"{text}[{self.index(len(value))}]",
        ]
        if len(value) > 1 and np.min(np.diff(np.sort([float(v) for v in value]))) > GAP:
            ways += [f"max({text})", f"min({text})", f"sorted({text})[{self.index(len(value))}]"]
        return self.pick(ways)

    def iterable_of_numbers(self) -> str:
        return self.some(
            lambda v: (
                (isinstance(v, list | tuple) and all(type(x) is float for x in v))
                or (isinstance(v, np.ndarray) and v.ndim == 1 and v.dtype.kind == "f")
            )
        )

    def folded(self, depth: int) -> str:
        """A comprehension or a generator that is summed."""
        body = self.pick(["v * {}", "v * v + {}", "np.sin(v) * {}", "v / {}"]).format(
            self.away(self.number(0))
        )
        items = self.pick(
            [
                self.iterable_of_numbers,
                lambda: f"[{self.number(1)}, {self.number(0)}]",
                lambda: f"range({self.integer(0, 1, 3)})",
            ]
        )()
        form = self.pick(
            [
                "sum({0} for v in {1})",
                "sum([{0} for v in {1}])",
                "sum({0} for v in {1} if v > 0.3)",
                "sum(map(lambda v: {0}, {1}))",
                "sum(i * ({0}) for i, v in enumerate({1}))",
            ]
        )
        return "float(" + form.format(body, items) + ")"

    def linear_number(self) -> str:
        square = self.arrays(lambda a: a.ndim == 2 and a.shape[0] == a.shape[1] > 0, "f")
        n = self.value(square).shape[0]
        return self.pick(
            [
                f"np.trace({square})",
                f"np.linalg.det({square} + {self.beyond(self.value(square))} * np.eye({n}))",
                f"np.linalg.slogdet({square} @ {square}.T + np.eye({n}))[1]",
            ]
        )

    def call(self, fits: Callable[[Any], bool], depth: int) -> str:
        """A call of a function of the program."""
        helpers = [helper for helper in self.helpers if fits(helper.result)]
        if not helpers:
            raise NoWay
        return self.call_of(self.pick(helpers), depth)

    def call_of(self, helper: Callable_, depth: int) -> str:
        texts = [self.argument(each, depth - 1) for each in helper.arguments]
        for keyword in helper.keywords:
            name, _, default = keyword.partition("=")
            if self.chance(0.4):
                like = eval(default)
                texts.append(f"{name}={self.argument(like, 0)}")
        return f"{helper.name}({', '.join(texts)})"

    def argument(self, example: Any, depth: int) -> str:
        """An expression of the type of an example."""
        known = type_of(example)
        if known is None:
            return self.some(lambda v: type(v) is type(example) and _alike(v, example))
        if known.shape is not None:
            if known.dtype[0] in "fc":
                try:
                    if self.chance(0.5):
                        return self.some(lambda v: type_of(v) == known)
                except NoWay:
                    pass
                return self.array(known, depth)
            return self.some(lambda v: type_of(v) == known)
        if known.dtype[0] == "f":
            return self.number(depth)
        if known.dtype[0] == "b":
            return self.pick(["True", "False"])
        if known.dtype[0] == "i":
            return self.integer(0, 0, 3)
        raise NoWay

    # ---- masks and arrays --------------------------------------------------------------------

    def mask_of_any(self) -> str:
        return self.mask(self.arrays(lambda a: a.ndim > 0, "f"))

    def mask(self, array: str) -> str:
        """Which elements of an array are above a number that none of them is near."""
        value = np.asarray(self.value(array))
        limit = float(self.constant())
        if value.dtype.kind not in "f" or (value.size and np.min(np.abs(value - limit)) < GAP):
            raise NoWay
        one = f"({array} {self.pick(['<', '>', '>=', '<='])} {limit})"
        if self.chance(0.15):
            return f"~{one}"
        if self.chance(0.15) and (not value.size or np.min(np.abs(value - limit - 0.5)) > GAP):
            return f"({one} {self.pick(['&', '|'])} ({array} < {limit + 0.5}))"
        return one

    def array(self, want: Type, depth: int = 2) -> str:
        """An array of this dtype and shape."""
        shape, kind = want.shape, want.dtype[0]
        fits = lambda v: isinstance(v, np.ndarray) and type_of(v) == want
        plain = f"np.full({shape}, {self.constant(kind)}{self.dtype(want.dtype)})"
        leaf = [lambda: self.some(fits)]
        if depth <= 0 or self.fuel < 0 or self.chance(0.15):
            try:
                return self.attempt(leaf, fits, 1)
            except NoWay:
                return plain if self.chance(0.5) else self.created(want)
        e = lambda: self.array(want, depth - 1)
        makers: list[Maker] = [
            *leaf,
            lambda: f"({self.operands(want, depth)})",
            lambda: f"({self.operands(want, depth)})",
            lambda: f"({self.operands(want, depth)})",
            lambda: f"({e()} / {self.away(self.smaller(want, depth - 1))})",
            lambda: (
                f"np.{self.pick(['sin', 'cos', 'tanh', 'exp', 'square', 'negative', 'arctan'])}({e()})"
            ),
            lambda: (
                f"np.{self.pick(['sqrt', 'log', 'reciprocal', 'cbrt', 'log1p'])}({self.positive(e())})"
            ),
            lambda: f"({e()} ** {self.pick(['2', '3', '2.0'])})",
            lambda: (
                f"({self.positive(e())} ** {self.pick(['0.5', '-1.5', self.smaller(want, 0)])})"
            ),
            lambda: f"-{e()}",
            lambda: f"np.abs({self.away(e())})",
            lambda: self.extreme(e(), self.smaller(want, depth - 1)),
            lambda: f"np.where({self.mask(e())}, {e()}, {self.smaller(want, depth - 1)})",
            lambda: self.clipped(e()),
            lambda: self.created(want),
            lambda: self.created(want),
            lambda: self.rearranged(want, depth),
            lambda: self.rearranged(want, depth),
            lambda: self.rearranged(want, depth),
            lambda: self.reduced_along(want),
            lambda: self.reduced_along(want),
            lambda: self.selected(want),
            lambda: self.selected(want),
            lambda: self.joined(want, depth),
            lambda: self.product(want, depth),
            lambda: self.product(want, depth),
            lambda: self.solved(want, depth),
            lambda: f"({e()} if {self.condition(depth - 1)} else {e()})",
            lambda: self.call(fits, depth),
            lambda: self.scanned(e()),
            lambda: f"{e()}.copy()",
            lambda: self.collected(want, depth),
            lambda: self.converted(want, depth),
        ]
        try:
            return self.attempt(makers, fits)
        except NoWay:
            return plain

    def dtype(self, code: str) -> str:
        names = {"f8": "", "f4": "np.float32", "c16": "complex", "i8": "int", "b1": "bool"}
        if code not in names:
            raise NoWay
        return f", dtype={names[code]}" if names[code] else ""

    def smaller(self, want: Type, depth: int) -> str:
        """What broadcasts to the shape: an array with fewer or shorter axes, or a number."""
        if self.chance(0.35):
            return self.number(depth)
        shape = want.shape[int(self.rng.integers(len(want.shape) + 1)) :] if want.shape else ()
        shape = tuple(1 if self.chance(0.15) else n for n in shape)
        return self.array(dataclasses.replace(want, shape=shape), depth)

    def operands(self, want: Type, depth: int) -> str:
        sides = [self.array(want, depth - 1), self.smaller(want, depth - 1)]
        if self.chance(0.4):
            sides.reverse()
        if self.chance(0.1):
            return f"np.{self.pick(['add', 'subtract', 'multiply', 'hypot', 'arctan2', 'logaddexp'])}({sides[0]}, {sides[1]})"
        return f"{sides[0]} {self.pick(['+', '-', '*'])} {sides[1]}"

    def clipped(self, text: str) -> str:
        value = self.value(text)
        low, high = sorted([float(self.constant()), float(self.constant()) + 1.0])
        if np.iscomplexobj(value) or low == high:
            raise NoWay
        if any(np.any(np.abs(value - limit) < GAP) for limit in (low, high)):
            raise NoWay
        return self.pick([f"np.clip({text}, {low}, {high})", f"{text}.clip({low}, {high})"])

    def created(self, want: Type) -> str:
        shape, dtype = want.shape, self.dtype(want.dtype)
        kind = want.dtype[0]
        size = int(np.prod(shape))
        ways = [
            f"np.full({shape}, {self.number(1) if kind == 'f' else self.constant(kind)}{dtype})",
            f"np.{self.pick(['zeros', 'ones'])}({shape}{dtype})",
        ]
        if len(shape) == 1:
            ways.append(f"np.arange({shape[0]}{dtype or ', dtype=float'})")
            ways.append(f"np.linspace(0.1, 1.1, {shape[0]}{dtype})")
            items = ", ".join(self.number(1) for _ in range(size))
            if size <= 4:
                ways += [f"np.array([{items}]{dtype})"] * 3
        if len(shape) == 2 and shape[0] == shape[1]:
            ways.append(f"np.eye({shape[0]}{dtype})")
        try:
            same = self.some(lambda v: type_of(v) == want)
            ways.append(f"np.{self.pick(['zeros_like', 'ones_like'])}({same})")
            ways.append(f"np.full_like({same}, {self.constant()})")
        except NoWay:
            pass
        return self.pick(ways)

    def rearranged(self, want: Type, depth: int) -> str:
        shape = want.shape
        same = lambda s: self.array(dataclasses.replace(want, shape=tuple(s)), depth - 1)
        size = int(np.prod(shape))
        ways: list[Maker] = []
        if len(shape) >= 2:
            ways += [
                lambda: f"{same(shape[::-1])}.T",
                lambda: f"np.transpose({same(shape[::-1])})",
                lambda: f"{same([shape[1], shape[0], *shape[2:]])}.swapaxes(0, 1)",
                lambda: f"np.broadcast_to({same(shape[1:])}, {shape})",
                lambda: (
                    f"np.tile({same(shape[1:])}, ({shape[0]}, {', '.join(['1'] * (len(shape) - 1))}))"
                ),
                lambda: (
                    f"{same([size])}.reshape({self.pick([shape, (*shape[:-1], -1) if size else shape])})"
                ),
            ]
            if shape[0] == 1:
                ways += [
                    lambda: f"{same(shape[1:])}[None]",
                    lambda: f"np.expand_dims({same(shape[1:])}, 0)",
                ]
            if shape[-1] == 1:
                ways += [lambda: f"{same(shape[:-1])}[..., None]"]
            if len(shape) == 2:
                ways += [lambda: f"np.{self.pick(['tril', 'triu'])}({same(shape)})"]
        if len(shape) == 1:
            n = shape[0]
            if n % 2 == 0 and n:
                ways += [
                    lambda: f"{same([2, n // 2])}.ravel()",
                    lambda: f"{same([n // 2, 2])}.flatten()",
                    lambda: f"np.repeat({same([n // 2])}, 2)",
                ]
            ways += [
                lambda: (
                    f"np.squeeze({same([1, n] if n != 1 else [1, 1])}{', axis=0' if n == 1 else ''})"
                ),
                lambda: f"{same([n, 1])}.reshape(-1)",
                lambda: f"np.diag({same([n, n])})",
            ]
        if shape and shape[0]:
            ways += [
                lambda: (
                    f"np.roll({same(shape)}, {self.integer()}{', axis=0' if self.chance(0.6) else ''})"
                ),
                lambda: f"{same(shape)}[::-1]",
                lambda: f"np.flip({same(shape)}, axis=0)",
                lambda: f"{same([shape[0] + 1, *shape[1:]])}[{self.pick(['1:', ':-1'])}]",
                lambda: f"np.diff({same([shape[0] + 1, *shape[1:]])}, axis=0)",
            ]
            if shape[0] > 1:
                ways.append(
                    lambda: (
                        f"np.pad({same([shape[0] - 1, *shape[1:]])}, {[(1, 0), *[(0, 0)] * (len(shape) - 1)]})"
                    )
                )
        if not shape:
            ways += [
                lambda: f"np.asarray({self.number(depth)})",
                lambda: f"np.array({self.number(1)})",
                lambda: f"{same([1])}.reshape(())",
                lambda: f"np.squeeze({same([1])})",
            ]
        return self.pick(ways)()

    def reduced_along(self, want: Type) -> str:
        """One axis less than an array of this program has, or as many with keepdims."""
        text = self.arrays(lambda a: a.ndim > 0 and a.size > 0)
        value = self.value(text)
        axis = int(self.rng.integers(-value.ndim, value.ndim))
        keep = ", keepdims=True" if self.chance(0.25) else ""
        name = self.pick(["sum", "mean", "prod", "max", "min", "var"])
        if name in ("max", "min"):
            with quiet():
                if (
                    value.dtype.kind == "c"
                    or (np.diff(np.sort(value, axis=axis), axis=axis) < GAP).any()
                ):
                    raise NoWay
        if self.chance(0.3):
            return f"{text}.{name}(axis={axis}{keep})"
        return f"np.{name}({text}, axis={axis}{keep})"

    def selected(self, want: Type) -> str:
        text = self.arrays(lambda a: a.ndim > 0)
        return f"{text}[{self.indices(np.shape(self.value(text)))}]"

    def indices(self, shape: tuple[int, ...]) -> str:
        """Some index: numbers, slices, lists, masks, None, an ellipsis."""
        parts = []
        fancy = False
        for n in shape[: int(self.rng.integers(1, len(shape) + 1))]:
            ways: list[Maker] = [
                lambda n=n: self.index(n),
                lambda: ":",
                lambda: self.pick(["1:", ":-1", "::2", "::-1", ":2", "-2:", "1:2", "0:0"]),
                lambda n=n: f"{self.index(n)}:",
            ]
            if not fancy and n:
                ways += [
                    lambda n=n: (
                        f"[{', '.join(self.index(n) for _ in range(int(self.rng.integers(1, 4))))}]"
                    ),
                    lambda n=n: f"np.arange({n}) % {max(1, n - 1)}",
                    lambda n=n: f"np.array({[bool(self.rng.random() < 0.6) for _ in range(n)]})",
                ]
            part = self.pick(ways)()
            fancy = fancy or part[0] in "[n"
            parts.append(part)
        if self.chance(0.1):
            parts.insert(int(self.rng.integers(len(parts) + 1)), "None")
        if self.chance(0.1):
            parts.append("...")
        return ", ".join(parts)

    def joined(self, want: Type, depth: int) -> str:
        shape = want.shape
        if not shape or not 1 <= shape[0] <= 4:
            raise NoWay
        part = lambda s: self.array(dataclasses.replace(want, shape=tuple(s)), depth - 1)
        if len(shape) > 1 and self.chance(0.4):
            name = self.pick(
                ["np.stack", "np.array", "np.vstack" if len(shape) == 2 else "np.stack"]
            )
            return f"{name}([{', '.join(part(shape[1:]) for _ in range(shape[0]))}])"
        cut = int(self.rng.integers(0, shape[0] + 1))
        sides = f"[{part([cut, *shape[1:]])}, {part([shape[0] - cut, *shape[1:]])}]"
        name = self.pick(["np.concatenate", "np.hstack" if len(shape) == 1 else "np.concatenate"])
        return f"{name}({sides})"

    def product(self, want: Type, depth: int) -> str:
        shape = want.shape
        inner = self.pick([1, 2, 3])
        part = lambda *s: self.array(dataclasses.replace(want, shape=s), depth - 1)
        if len(shape) == 1:
            n = shape[0]
            return self.pick(
                [
                    lambda: f"({part(n, inner)} @ {part(inner)})",
                    lambda: f"({part(inner)} @ {part(inner, n)})",
                    lambda: f"np.dot({part(n, inner)}, {part(inner)})",
                    lambda: f"np.einsum('ij,j->i', {part(n, inner)}, {part(inner)})",
                ]
            )()
        if len(shape) == 2:
            n, m = shape
            return self.pick(
                [
                    lambda: f"({part(n, inner)} @ {part(inner, m)})",
                    lambda: f"np.outer({part(n)}, {part(m)})",
                    lambda: f"({part(n)}[:, None] * {part(m)})",
                    lambda: f"np.einsum('ij,kj->ik', {part(n, inner)}, {part(m, inner)})",
                ]
            )()
        raise NoWay

    def solved(self, want: Type, depth: int) -> str:
        """Linear algebra with a matrix that is well-conditioned."""
        shape = want.shape
        if not shape or shape[0] not in (1, 2, 3) or want.dtype == "f4":
            raise NoWay
        n = shape[0]
        matrix = self.array(dataclasses.replace(want, shape=(n, n)), depth - 1)
        size = float(np.sum(np.abs(self.value(matrix)))) + 1.0
        regular = f"({matrix} + {size:.1f} * np.eye({n}))"
        if len(shape) == 1 or self.chance(0.4):
            return f"np.linalg.solve({regular}, {self.array(want, depth - 1)})"
        if shape == (n, n):
            return self.pick(
                [
                    f"np.linalg.inv({regular})",
                    f"np.linalg.cholesky({matrix} @ {matrix}.T + np.eye({n}))",
                ]
            )
        raise NoWay

    def scanned(self, text: str) -> str:
        name = self.pick(["cumsum", "cumprod", "sort"])
        value = np.asarray(self.value(text))
        if value.ndim < 1:
            raise NoWay
        if name == "sort":
            with quiet():
                if (
                    value.dtype.kind != "f"
                    or (np.diff(np.sort(value, axis=-1), axis=-1) < GAP).any()
                ):
                    raise NoWay
            return f"np.sort({text}, axis=-1)"
        return f"np.{name}({text}, axis={self.pick([0, -1])})"

    def collected(self, want: Type, depth: int) -> str:
        """A comprehension over rows or numbers."""
        if not want.shape:
            raise NoWay
        want.shape[0]
        rows = self.arrays(
            lambda a: a.ndim == len(want.shape) and a.shape == want.shape, want.dtype[0]
        )
        body = self.pick(["v * {}", "np.sin(v) + {}", "v + i * {}", "v ** 2 - {}"]).format(
            self.number(0)
        )
        items = f"enumerate({rows})" if self.chance(0.5) or "i" in body.split() else rows
        head = "i, v" if items.startswith("enumerate") else "v"
        return f"np.array([{body} for {head} in {items}]{self.dtype(want.dtype)})"

    def converted(self, want: Type, depth: int) -> str:
        if want.dtype == "f8":
            if self.chance(0.4):
                inner = self.array(Type("c16", want.shape), depth - 1)
                if self.chance(0.3):
                    return f"np.abs({self.away(inner)})"
                return self.pick(
                    [f"np.real({inner})", f"np.imag({inner})", f"{inner}.real", f"{inner}.imag"]
                )
            counted = self.some(
                lambda v: (
                    isinstance(v, np.ndarray) and v.dtype.kind in "ib" and v.shape == want.shape
                )
            )
            return self.pick([f"{counted}.astype(float)", f"({counted} * {self.constant()})"])
        if want.dtype == "f4":
            return f"{self.array(Type('f8', want.shape), depth - 1)}.astype(np.float32)"
        if want.dtype == "c16":
            inner = self.array(Type("f8", want.shape), depth - 1)
            return self.pick(
                [
                    f"({inner} + {self.constant()} * 1j)",
                    f"{inner}.astype(complex)",
                    f"np.exp(1j * {inner})",
                ]
            )
        raise NoWay

    # ---- anything ----------------------------------------------------------------------------

    def anything(self) -> str:
        """An expression of whatever type comes out."""
        makers: list[Maker] = [
            lambda: self.number(),
            lambda: self.number(),
            lambda: self.array(Type(self.floats, self.shape())),
            lambda: self.array(Type(self.floats, self.shape())),
            lambda: self.array(Type(self.floats, self.shape())),
            lambda: self.selected(Type("f8", ())),
            lambda: self.selected(Type("f8", ())),
            lambda: self.reduced_along(Type("f8", ())),
            lambda: self.call(lambda v: v is not None, 2),
            lambda: self.call(lambda v: v is not None, 2),
            lambda: self.integer(2),
            lambda: self.mask_of_any(),
            lambda: self.condition(),
            lambda: self.container(),
            lambda: self.container(),
            lambda: self.pick(["None", repr("left"), repr("right"), "True", "()", "[]", "{}"]),
            lambda: f"np.argsort({self.spread()}, axis=None)",
            lambda: f"np.arange({self.integer(0, 1, 4)})",
            lambda: f"np.nonzero({self.mask_of_any()})[0]",
            lambda: f"{self.arrays()}.astype({self.pick(['np.float32', 'float', 'complex'])})",
            lambda: self.pick(self.names),
            lambda: f"np.float32({self.number(1)})",
        ]
        return self.attempt(makers, lambda _: True, 8)

    def shape(self) -> tuple[int, ...]:
        """Mostly one that an array of the program has."""
        known = [v.shape for _, v in self.atoms if isinstance(v, np.ndarray) and v.size <= 16]
        if known and self.chance(0.75):
            return self.pick(known)
        return self.pick(
            [(), (1,), (2,), (3,), (4,), (2, 3), (3, 1), (1, 2), (2, 2), (0,), (3, 0), (2, 1, 2)]
        )

    def container(self) -> str:
        item = lambda: self.pick(
            [
                self.number,
                lambda: self.number(1),
                lambda: self.pick(self.names),
                lambda: self.array(Type(self.floats, self.shape()), 1),
            ]
        )()
        length = int(self.rng.integers(1, 4))
        many = ", ".join(item() for _ in range(length))
        numbers = ", ".join(self.number(1) for _ in range(length))
        return self.pick(
            [
                lambda: f"[{many}]",
                lambda: f"[{numbers}]",
                lambda: f"({many},)",
                lambda: (
                    "{" + ", ".join(f"{k!r}: {item()}" for k in self.pick(["ab", "abw", "w"])) + "}"
                ),
                lambda: f"[v * {self.constant()} for v in {self.iterable_of_numbers()}]",
                lambda: "{k: k * " + self.number(1) + " for k in range(3)}",
                lambda: f"list({self.iterable_of_numbers()})",
                lambda: f"[{self.number(1)}] * {self.integer(0, 1, 3)}",
                lambda: f"list(zip({self.iterable_of_numbers()}, [{numbers}]))",
            ]
        )()


def _alike(value: Any, example: Any) -> bool:
    """Whether two containers hold the same types."""
    if not is_container(example):
        return True
    left, right = list(children(value)), list(children(example))
    return [k for k, _ in left] == [k for k, _ in right] and all(
        type_of(a) == type_of(b) and type(a) is type(b) and _alike(a, b)
        for (_, a), (_, b) in zip(left, right, strict=True)
    )
