"""Whole programs: statements are put into a hole, and kept if Python comes through."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import numpy as np

from random_programs.expressions import GAP, Callable_, Expressions, NoWay
from random_programs.program import Clause, Compound, Function, Hole, Line, Program, namespace
from random_programs.values import (
    Type,
    children,
    inexact,
    is_container,
    is_deep,
    is_tame,
    kind,
    leaves,
    type_of,
)

MODES = ("f8", "f8", "f8", "f8", "f4", "c16")


@dataclasses.dataclass
class Generated:
    """A program as text, and the texts of the arguments of its last function, `main`."""

    source: str
    arguments: list[str]
    seed: int


def generate(seed: int) -> Generated:
    """The program of a seed."""
    return Generator(seed).program()


class Generator:
    """Writes one program."""

    def __init__(self, seed: int):
        self.seed = seed
        self.rng = np.random.default_rng([seed, 20261122])
        self.floats = self.pick(MODES)
        self.built = Program()
        self.helpers: list[Callable_] = []
        self.inner: dict[str, Callable_] = {}
        self.budget = int(self.rng.integers(3, 15))
        self.counter = 0
        self.may_raise = self.chance(0.1)
        self.shapes = self._shapes()

    def _shapes(self) -> list[tuple[int, ...]]:
        n, m = (self.pick([0, 1, 2, 3, 3, 4]) for _ in range(2))
        return [(n,), (n,), (m,), (n, m), (n, n), (), (1, n), (2, n, 1)]

    def pick(self, options: Any) -> Any:
        return options[int(self.rng.integers(len(options)))]

    def chance(self, share: float) -> bool:
        return bool(self.rng.random() < share)

    # ---- programs ----------------------------------------------------------------------------

    def program(self) -> Generated:
        if self.chance(0.25):
            self._add_class()
        for _ in range(self.pick([0, 0, 1, 1, 2])):
            self._add_helper()
        arguments = self._arguments()
        names = [
            f"{self.pick('xyzuvw')}{i}" if self.chance(0.4) else "xyzuvw"[i]
            for i in range(len(arguments))
        ]
        main = Function("main", ", ".join(names), [], arguments)
        self._fill_function(main, names, self.budget)
        return Generated(self.built.source(), arguments, self.seed)

    def _arguments(self) -> list[str]:
        many = int(self.rng.integers(1, 4))
        arguments = [self._inexact_argument() for _ in range(many)]
        for _ in range(self.pick([0, 0, 1])):
            arguments.insert(
                int(self.rng.integers(len(arguments) + 1)),
                self.pick(
                    [
                        "2",
                        "3",
                        "1",
                        "True",
                        "'left'",
                        "'right'",
                        "None",
                        "np.array([1, 0, 2])",
                        "np.array([0, 1])",
                        "[0, 2]",
                        "np.array([True, False, True])",
                    ]
                ),
            )
        return arguments

    def _inexact_argument(self) -> str:
        ways: list[Callable[[], str]] = [
            lambda: self._number(),
            lambda: self._array(self.pick(self.shapes)),
            lambda: self._array(self.pick(self.shapes)),
            lambda: self._array(self.pick(self.shapes)),
            lambda: self._array(self.pick(self.shapes)),
            lambda: f"[{', '.join(self._number() for _ in range(self.pick([1, 2, 3])))}]",
            lambda: f"({self._array(self.pick(self.shapes))}, {self._number()})",
            lambda: f"{{'w': {self._array(self.pick(self.shapes))}, 'b': {self._number()}}}",
            lambda: f"[{', '.join([self._array(self.pick(self.shapes)) for _ in range(2)])}]",
        ]
        if self.built.classes and self.built.classes[0].startswith("@"):
            ways += [lambda: f"Holder({self._array(self.pick(self.shapes))}, {self._number()})"] * 2
        return self.pick(ways)()

    def _number(self) -> str:
        value = round(float(self.rng.normal()), 3) or 0.337
        return f"np.float32({value})" if self.floats == "f4" and self.chance(0.3) else str(value)

    def _array(self, shape: tuple[int, ...]) -> str:
        made = np.round(self.rng.standard_normal(shape), 3)
        if self.floats == "c16":
            made = made + 1j * np.round(self.rng.standard_normal(shape), 3)
        dtype = {"f4": ", dtype=np.float32", "c16": ", dtype=complex"}.get(self.floats, "")
        text = f"np.array({made.tolist()!r}{dtype})"
        return text if made.size else f"np.zeros({shape}{dtype})"

    def _add_class(self) -> None:
        """A class with state, a method that reads, one that changes, and a property."""
        factor = lambda: self.pick(["0.5", "self.rate", "np.tanh(self.rate)"])
        head = self.pick(
            [
                "class Holder:\n    def __init__(self, w, rate=0.5):\n        self.w = w\n        self.rate = rate\n        self.count = 0\n",
                "@dataclass\nclass Holder:\n    w: object\n    rate: float = 0.5\n",
            ]
        )
        plain = not head.startswith("@")
        self.built.classes.append(
            f"{head}\n    @property\n    def total(self):\n        return np.sum(np.real(self.w)) * {factor()}\n\n"
            f"    def moved(self, step):\n        return self.w * {factor()} + step\n\n"
            f"    def update(self, step):\n        self.w = self.w * {self.pick(['0.5', '0.9', 'self.rate'])} + step\n"
            f"        self.{'count += 1' if plain else 'rate *= 0.9'}\n        return {self.pick(['self', 'self.rate * step', 'None'])}\n"
        )

    def _add_helper(self) -> None:
        """A function at module level: plain, with effects on its arguments, recursive, with defaults."""
        name = f"{self.pick(['step', 'cell', 'part', 'score', 'items', 'values', 'update'])}{len(self.built.functions)}"
        arguments = [
            self.pick([self._number, lambda: self._array(self.pick(self.shapes))])()
            for _ in range(self.pick([1, 1, 2, 3]))
        ]
        names = list("pqrs"[: len(arguments)])
        keywords: tuple[str, ...] = ()
        signature = ", ".join(names)
        if self.chance(0.3):
            keywords = (f"scale={self.pick(['0.5', '2.0', '1.5'])}",)
            signature += f", {'*, ' if self.chance(0.4) else ''}{keywords[0]}"
        if self.chance(0.2):
            names.append("depth")
            signature = ", ".join([*signature.split(", ")[: len(arguments)], "depth"])
            keywords = ()
            arguments.append("2")
        function = Function(name, signature, [], arguments)
        if names[-1] == "depth":
            stop = self.pick(["depth <= 0", "depth < 1", "not depth"])
            function.body += [Compound([Clause(f"if {stop}:", [Line(f"return {names[0]} * 0.5")])])]
        extra = [word.split("=")[0] for word in keywords]
        result = self._fill_function(
            function, [*names, *extra], int(self.rng.integers(0, 4)), helper=True
        )
        if result is None:
            return
        if names[-1] == "depth":
            last = function.body[-1]
            again = ", ".join([f"{names[0]} * 0.7", *names[1:-1], "depth - 1"])
            if isinstance(last, Line) and last.text.startswith("return "):
                with_call = Line(
                    f"return {last.text[7:]} + {self.pick(['0.5', '0.3'])} * {name}({again})"
                )
                function.body[-1] = with_call
        scope = namespace(self.built.source())
        try:
            examples = tuple(eval(each, scope) for each in arguments)
            value = scope[name](*[eval(each, scope) for each in arguments])
            assert is_tame(value)
        except Exception:
            self.built.functions.remove(function)
            return
        self.helpers.append(Callable_(name, examples, value, keywords))

    def _fill_function(
        self, function: Function, names: list[str], budget: int, helper: bool = False
    ) -> Any:
        """Statements and a return; the value that is returned for the examples, None without one."""
        self.built.functions.append(function)
        self.function, self.names = function, list(names)
        saved, self.inner = self.inner, {}
        self.remaining = budget
        self.loop_depth = 0
        hole = Hole()
        function.body.append(hole)
        self._fill(function.body, budget, in_loop=False, top=not helper)
        text = self._result(helper)
        function.body.remove(hole) if hole in function.body else None
        function.body.append(Line(f"return {text}"))
        self.inner = saved
        return text

    def _result(self, helper: bool) -> str:
        """What is returned: it reads most of what there is."""
        found = self._here()
        if found is None:
            return "0.0"
        if helper:
            try:
                return self.pick([found.anything, found.number])()
            except NoWay:
                return "0.5"
        terms = []
        for text, value in found.atoms:
            if is_container(value) or not kind(value) or any(text.startswith(c) for c in terms):
                continue
            terms.append(text)
        self.rng.shuffle(terms)
        terms = terms[:6]
        if self.chance(0.2):
            parts = [text for text in terms if kind(found.scope_value(text)) != "c"] or ["0.0"]
            return self.pick(
                [
                    f"({', '.join(parts)},)",
                    f"[{', '.join(parts)}]",
                    parts[0],
                    "{" + ", ".join(f"'k{i}': {part}" for i, part in enumerate(parts)) + "}",
                ]
            )
        scalars = [self._scalar(found, text) for text in terms]
        return " + ".join(scalars) or "0.0"

    def _scalar(self, here: Expressions, text: str) -> str:
        value = here.scope_value(text)
        known = type_of(value)
        weight = self.pick(["0.5", "1.5", "0.8", "2.0"])
        if known.dtype[0] == "c":
            return f"{weight} * np.sum(np.{self.pick(['real', 'imag'])}({text} * (0.6 + 0.8j)))"
        if known.shape is None:
            return self.pick(
                [f"{weight} * {text}", f"np.sin({text})", f"{text} ** 2"]
                if known.dtype[0] == "f"
                else [f"{weight} * {text}"]
            )
        return self.pick(
            [
                f"{weight} * np.sum({text})",
                *(
                    [f"np.sum(np.sin({text}) * {weight})", f"np.sum({text} ** 2)"]
                    if known.dtype[0] != "b"
                    else []
                ),
            ]
        )

    # ---- statements --------------------------------------------------------------------------

    def _here(self) -> Expressions | None:
        """What may be written at the hole; None if Python does not come there."""
        scope = self.built.at_hole(self.function)
        if not isinstance(scope, dict):
            return None
        made = _Here(self.rng, list(dict.fromkeys(self.names)), scope, self.floats)
        made.helpers = [*self.helpers, *(h for n, h in self.inner.items() if n in scope)]
        return made

    def _fill(self, block: list, budget: int, in_loop: bool, top: bool = False) -> None:
        """Put statements before the hole of the block, which is its last node."""
        tries = 0
        while budget > 0 and tries < 4 * budget + 6:
            tries += 1
            here = self._here()
            if here is None:
                return
            names = list(self.names)
            try:
                cost = self._statement(block, here, budget, in_loop, top)
            except NoWay:
                self.names = names
                continue
            after = self.built.at_hole(self.function)
            if isinstance(after, dict) and self._is_fine(after):
                if top or self.chance(0.02) or self._keeps_forms(here.scope, after):
                    budget -= cost
                    continue
            if self.may_raise and top and isinstance(after, Exception) and self.chance(0.3):
                return
            del block[-2]
            self.names = names

    def _is_fine(self, scope: dict[str, Any]) -> bool:
        values = [scope[name] for name in self.names if name in scope]
        return all(not is_deep(value) and is_tame(value) for value in values)

    def _keeps_forms(self, before: dict[str, Any], after: dict[str, Any]) -> bool:
        """Whether no variable becomes another kind of thing, which depends on the path then."""
        return all(
            _form(before[name]) == _form(after[name])
            for name in self.names
            if name in before and name in after
        )

    def _statement(
        self, block: list, here: Expressions, budget: int, in_loop: bool, top: bool
    ) -> int:
        """Insert one statement before the hole; what it costs."""
        compound = budget > 1
        ways: list[tuple[float, Callable]] = [
            (6, self._assign),
            (3, self._reassign),
            (4, self._augmented),
            (5, self._store),
            (4, self._view),
            (2, self._unpack),
            (1, self._swap),
            (3, self._containers),
            (0.5, self._delete),
            (1, self._effects),
            (0.6, self._check),
            (0.7, self._out),
        ]
        if not isinstance(block[-1], Hole):
            raise NoWay
        if compound:
            ways += [
                (4, self._if),
                (4, self._for),
                (1.5, self._while),
                (2, self._try),
                (1, self._def),
                (0.6, self._match),
                (0.4, self._with),
            ]
        else:
            ways += [(1, self._def)]
        if top:
            ways += [(0.7, self._early_return)]
        if in_loop:
            ways += [(2, self._jump)]
        weights = np.array([w for w, _ in ways])
        way = ways[int(self.rng.choice(len(ways), p=weights / weights.sum()))][1]
        return way(block, here, budget, in_loop)

    def _put(self, block: list, node: Any) -> None:
        block.insert(len(block) - 1, node)

    def _line(self, block: list, text: str) -> int:
        self._put(block, Line(text))
        return 1

    def _fresh(self) -> str:
        self.counter += 1
        stems = [
            "a",
            "b",
            "c",
            "d",
            "h",
            "k",
            "out",
            "acc",
            "item",
            "state",
            "total",
            "tmp",
            "res",
            "val",
        ]
        name = self.pick(stems)
        return name if name not in self.names and self.chance(0.7) else f"{name}{self.counter}"

    def _bind(self, name: str) -> str:
        if name not in self.names:
            self.names.append(name)
        return name

    def _assign(self, block, here, *_) -> int:
        text = here.anything()
        if self.built.classes and self.chance(0.15):
            text = f"Holder({self.pick([here.anything, here.number])()}, {here.number(1)})"
        return self._line(block, f"{self._bind(self._fresh())} = {text}")

    def _reassign(self, block, here, *_) -> int:
        name = self.pick(here.names)
        known = type_of(here.scope[name])
        if known is not None and self.chance(0.8):
            text = here.argument(here.scope[name], 2)
            if known.shape is None and known.dtype[0] == "f" and self.chance(0.3):
                text = f"({text} if {here.condition()} else {name})"
        else:
            text = here.anything()
        return self._line(block, f"{name} = {text}")

    def _augmented(self, block, here, *_) -> int:
        name = here.some(lambda v: (t := type_of(v)) is not None and t.dtype[0] in "fc")
        value = here.scope_value(name)
        if ")" in name:
            raise NoWay
        if isinstance(value, np.ndarray):
            if not value.flags.writeable:
                raise NoWay
            right = here.smaller(type_of(value), 1)
        else:
            right = here.number(1)
        operator = self.pick(["+", "-", "*", "+", "*", "/"])
        if operator == "/":
            right = here.away(right)
        if operator == "*" and self.chance(0.5):
            right = self.pick(["0.5", "0.9"])
        return self._line(block, f"{name} {operator}= {right}")

    def _store(self, block, here, *_) -> int:
        """Into elements of an array."""
        text = here.some(
            lambda v: (
                isinstance(v, np.ndarray)
                and v.ndim > 0
                and v.dtype.kind in "fc"
                and v.flags.writeable
            )
        )
        value = here.scope_value(text)
        if self.chance(0.25) and value.dtype.kind == "f":
            index = (
                here.mask(text).removeprefix("(").removesuffix(")")
                if self.chance(0.7)
                else here.mask(text)
            )
            if index.startswith("~"):
                index = here.mask(text)
        else:
            index = self.pick(
                [
                    lambda: here.indices(value.shape),
                    lambda: here.indices(value.shape),
                    lambda: "...",
                    lambda: ":",
                ]
            )()
        target = np.asarray(here.value(f"{text}[{index}]"))
        known = Type(type_of(value).dtype, target.shape)
        operator = self.pick(["", "", "+", "-", "*"])
        if target.ndim == 0:
            right = here.number(2) if known.dtype[0] == "f" else here.constant()
        elif "<" in index or ">" in index:
            right = self.pick(
                [
                    lambda: here.number(1),
                    lambda: f"{text}[{index}] * {here.constant()}",
                    lambda: f"np.sin({text}[{index}])",
                ]
            )()
        else:
            right = here.smaller(known, 2) if self.chance(0.6) else here.array(known, 2)
        return self._line(block, f"{text}[{index}] {operator}= {right}")

    def _view(self, block, here, *_) -> int:
        """Another name for memory, which statements that follow may change."""
        text = here.some(lambda v: isinstance(v, np.ndarray) and v.dtype.kind in "fc")
        value = here.scope_value(text)
        ways = [text, f"{text}.T", f"{text}[...]", f"{text}.view()", f"np.asarray({text})"]
        if value.ndim:
            ways += [
                f"{text}[1:]",
                f"{text}[::-1]",
                f"{text}[::2]",
                f"{text}[:2]",
                f"{text}[None]",
            ] * 2
            if value.shape[0]:
                ways += [f"{text}[{here.index(value.shape[0])}]"] * 3
        if self.chance(0.1):
            ways += [f"{text}.reshape(-1)", f"{text}.ravel()"]
        if value.ndim == 2:
            ways += [f"{text}[:, 0]", f"{text}[0, :]", f"{text}[:, ::-1]", f"np.diag({text})"]
        return self._line(block, f"{self._bind(self._fresh())} = {self.pick(ways)}")

    def _unpack(self, block, here, *_) -> int:
        ways = []
        for text, value in here.atoms:
            if isinstance(value, list | tuple) and 0 < len(value) < 5:
                ways.append((text, len(value)))
            if isinstance(value, np.ndarray) and value.ndim and 0 < value.shape[0] < 4:
                ways.append((text, value.shape[0]))
        ways.append((f"({here.number(1)}, {here.number(1)})", 2))
        text, length = self.pick(ways)
        names = [self._bind(self._fresh()) for _ in range(length)]
        if length > 1 and self.chance(0.3):
            names = [names[0], f"*{names[1]}"]
        if len(names) == 1:
            return self._line(block, f"({names[0]},) = {text}")
        return self._line(block, f"{', '.join(names)} = {text}")

    def _swap(self, block, here, *_) -> int:
        if self.chance(0.5):
            a, b = self.pick(here.names), self.pick(here.names)
            return self._line(block, f"{a}, {b} = {b}, {a}")
        text = here.arrays(lambda a: a.ndim > 0 and a.shape[0] > 1 and a.flags.writeable)
        n = here.scope_value(text).shape[0]
        i, j = here.index(n), here.index(n)
        if here.scope_value(text).ndim == 1 and self.chance(0.5):
            return self._line(block, f"{text}[{i}], {text}[{j}] = {text}[{j}], {text}[{i}]")
        return self._line(block, f"{text}[[{i}, {j}]] = {text}[[{j}, {i}]]")

    def _containers(self, block, here, *_) -> int:
        """A change of a list, a dict or an object."""
        text = here.some(
            lambda v: isinstance(v, list | dict) or (is_container(v) and not isinstance(v, tuple))
        )
        value = here.scope_value(text)
        item = self.pick([here.number, lambda: here.number(1), here.anything])()
        item = (
            item
            if not isinstance(here.value(item), np.ndarray) or self.chance(0.5)
            else f"{item} * 1.0"
        )
        if isinstance(value, list):
            ways = [f"{text}.append({item})"] * 2 + [
                f"{text}.extend([{item}])",
                f"{text}.insert(0, {item})",
                f"{text}.reverse()",
                f"{text} += [{item}]",
            ]
            if value:
                i = here.index(len(value))
                ways += [f"{text}[{i}] = {item}"] * 3 + [
                    f"{text}.pop()",
                    f"{text}.pop({i})",
                    f"del {text}[{i}]",
                    f"{self._fresh_bound()} = {text}.pop()",
                    f"{text}[{i}:] = [{item}]",
                ]
                if isinstance(value[int(i) if i.lstrip("-").isdigit() else 0], float):
                    ways += [f"{text}[{i}] += {here.number(1)}"] * 3
        elif isinstance(value, dict):
            key = repr(self.pick([*map(str, value), "w", "new"]))
            ways = [f"{text}[{key}] = {item}"] * 2 + [
                f"{text}.update(new={item})",
                f"{text}.setdefault({key}, {item})",
                f"{self._fresh_bound()} = {text}.get({key}, {here.number(0)})",
                f"{text}.pop({key}, None)",
            ]
        else:
            ways = [
                f"{text}.rate = {here.number(1)}",
                f"{text}.w = {text}.w * {here.number(1)}",
                f"{text}.update({here.number(1)})",
                f"{self._fresh_bound()} = {text}.moved({here.number(1)})",
                f"{self._fresh_bound()} = {text}.total",
                f"{text}.extra = {item}",
            ]
        return self._line(block, self.pick(ways))

    def _fresh_bound(self) -> str:
        return self._bind(self._fresh())

    def _delete(self, block, here, *_) -> int:
        if len(here.names) < 3:
            raise NoWay
        name = self.pick(here.names)
        self.names.remove(name)
        return self._line(block, f"del {name}")

    def _effects(self, block, here, *_) -> int:
        """A helper that is called for what it does to its arguments."""
        if not here.helpers:
            raise NoWay
        return self._line(block, here.call_of(self.pick(here.helpers), 1))

    def _check(self, block, here, *_) -> int:
        condition = here.condition()
        truth = bool(here.value(condition))
        if self.chance(0.5):
            return self._line(block, f"assert {condition if truth else f'not ({condition})'}")
        error = self.pick(["ValueError", "RuntimeError", "KeyError"])
        header = f"if {f'not ({condition})' if truth else condition}:"
        self._put(block, Compound([Clause(header, [Line(f"raise {error}('no')")])]))
        return 1

    def _out(self, block, here, *_) -> int:
        """NumPy's functions that change an array."""
        text = here.arrays(lambda a: a.ndim > 0 and a.flags.writeable, "f")
        value = here.scope_value(text)
        other = here.array(type_of(value), 1)
        ways = [
            f"np.{self.pick(['add', 'multiply', 'subtract'])}({text}, {other}, out={text})",
            f"np.copyto({text}, {other})",
            f"{text}.fill({here.number(1)})",
            f"np.sin({text}, out={text})",
        ]
        if value.shape[0]:
            where = ", ".join(here.index(value.shape[0]) for _ in range(2))
            ways += [f"np.add.at({text}, [{where}], {here.number(1)})"] * 2
        return self._line(block, self.pick(ways))

    # ---- blocks ------------------------------------------------------------------------------

    def _block(
        self, block: list, compound: Compound, clause: Clause, budget: int, in_loop: bool
    ) -> None:
        """Write the block of one clause: the hole moves there meanwhile."""
        outer = block.pop()
        assert isinstance(outer, Hole)
        clause.at_the_hole = True
        clause.body.append(Hole())
        names = list(self.names)
        try:
            if isinstance(self.built.at_hole(self.function), dict):
                self._fill(clause.body, budget, in_loop)
        finally:
            clause.body[:] = [node for node in clause.body if not isinstance(node, Hole)]
            clause.at_the_hole = False
            block.append(outer)
        if not clause.body:
            clause.body.append(Line("pass"))
        del names

    def _share(self, budget: int) -> int:
        return int(self.rng.integers(1, max(2, min(budget, 5))))

    def _if(self, block, here, budget, in_loop) -> int:
        condition = here.condition()
        if self.chance(0.1):
            name = self._bind(self._fresh())
            condition = (
                f"({name} := {here.number(1)}) > {here.value_below(float(self.pick([0.0, 2.0])))}"
            )
        clauses = [Clause(f"if {condition}:", entered_by="if True:")]
        if self.chance(0.25):
            clauses.append(Clause(f"elif {here.condition()}:"))
        if self.chance(0.6):
            clauses.append(Clause("else:"))
        compound = Compound(clauses)
        self._put(block, compound)
        spent = 1
        for i, clause in enumerate(clauses):
            share = self._share(budget - spent)
            before = clauses[0].header
            if i:  # Python comes there only if the first condition is false
                clauses[0].header = "if False:"
                if clause.header != "else:":
                    clause.entered_by = "elif True:"
                elif len(clauses) == 3:
                    between, clauses[1].header = clauses[1].header, "elif False:"
            try:
                self._block(block, compound, clause, share, in_loop)
            finally:
                clauses[0].header = before
                if i and clause.header == "else:" and len(clauses) == 3:
                    clauses[1].header = between
            spent += share
        return spent

    def _for(self, block, here, budget, in_loop) -> int:
        name = self._fresh()
        numbers = lambda: here.iterable_of_numbers()
        ways: list[Callable[[], str]] = [
            lambda: f"{name} in range({here.integer(1, 0, 4)})",
            lambda: f"{name} in range({self.pick([1, 2, 3])})",
            lambda: f"{name} in range({self.pick([3, 2])}, -1, -1)",
            lambda: f"{name} in range(len({here.sized()}))",
            lambda: f"{name} in {here.arrays(lambda a: a.ndim > 0)}",
            lambda: f"{name} in {here.some(lambda v: isinstance(v, list | tuple))}",
            lambda: f"{name}_i, {name} in enumerate({here.sized()})",
            lambda: f"{name}_l, {name} in zip({here.sized()}, {here.sized()})",
            lambda: f"{name}_k, {name} in {here.some(lambda v: isinstance(v, dict))}.items()",
            lambda: f"{name} in {here.some(lambda v: isinstance(v, dict))}.values()",
            lambda: f"{name} in reversed({numbers()})",
            *[lambda: f"{name} in (v * {here.constant()} for v in {numbers()})"] * self.chance(0.2),
        ]
        header = self.pick(ways)()
        clauses = [Clause(f"for {header}:")]
        if self.chance(0.12):
            clauses.append(Clause("else:"))
        compound = Compound(clauses)
        self._put(block, compound)
        target = header.split(" in ")[0]
        before = list(self.names)
        for each in target.split(", "):
            self._bind(each)
        share = self._share(budget)
        self._block(block, compound, clauses[0], share, True)
        if len(clauses) > 1:
            self._block(block, compound, clauses[1], 1, in_loop)
        self._leave(before)
        return 1 + share

    def _leave(self, before: list[str]) -> None:
        """What only a loop or a `try` binds is seldom read after it, where it need not be bound."""
        self.names = [n for n in self.names if n in before or self.chance(0.15)]

    def _while(self, block, here, budget, in_loop) -> int:
        share = self._share(budget)
        if self.chance(0.5):
            name = self._bind(self._fresh())
            self._put(block, Line(f"{name} = 0"))
            more = f" and {here.condition()}" if self.chance(0.5) else ""
            clause = Clause(f"while {name} < {self.pick([1, 2, 3])}{more}:", [Line(f"{name} += 1")])
        else:
            text = here.some(lambda v: isinstance(v, float | np.ndarray) and kind(v) == "f")
            value = here.scope_value(text)
            size = float(np.sum(np.square(value)))
            if size < 0.3 or not isinstance(text, str) or "[" in text:
                raise NoWay
            clause = Clause(
                f"while np.sum(np.square({text})) > {size * self.pick([0.1, 0.3, 0.6]):.3f}:",
                [Line(f"{text} = {text} * {self.pick(['0.7', '0.5'])}")],
            )
        clauses = [clause]
        if self.chance(0.15):
            clauses.append(Clause("else:"))
        compound = Compound(clauses)
        self._put(block, compound)
        before = list(self.names)
        try:
            self._block(block, compound, clause, share, True)
            if len(clauses) > 1:
                self._block(block, compound, clauses[1], 1, in_loop)
        finally:
            self._join(
                block,
                2
                if clause.header.split()[1] in [n for n in self.names]
                and isinstance(block[-3], Line)
                and block[-3].text.endswith(" = 0")
                else 1,
            )
        self._leave(before)
        return 1 + share

    def _join(self, block: list, many: int) -> None:
        """Make one node of the last ones before the hole, so that they are taken back together."""
        if many > 1:
            nodes = block[-1 - many : -1]
            block[-1 - many : -1] = [Compound([Clause("if True:", nodes)])]

    def _try(self, block, here, budget, in_loop) -> int:
        """Something that may fail, which is known to or not."""
        share = self._share(budget)
        numbers = [t for t, v in here.atoms if isinstance(v, float)]
        dictionary = [t for t, v in here.atoms if isinstance(v, dict)]
        sequence = [
            t
            for t, v in here.atoms
            if isinstance(v, list) or (isinstance(v, np.ndarray) and v.ndim)
        ]
        name = self._bind(self._fresh())
        risks = [
            (
                f"{name} = {here.number(1)} / {self.pick(['0', '2', here.integer(1)])}",
                "ZeroDivisionError",
            ),
            (f"{name} = math.sqrt({here.number(1)})", "ValueError"),
            (f"{name} = math.log({here.number(1)})", "ValueError"),
            (f"raise {self.pick(['ValueError', 'KeyError', 'RuntimeError'])}('no')", "ValueError"),
            (f"{name} = float({here.number(1)})", "TypeError"),
        ]
        if dictionary:
            risks.append(
                (
                    f"{name} = {self.pick(dictionary)}[{self.pick(['w', 'b', 'a', 'zz'])!r}]",
                    "KeyError",
                )
            )
        if sequence:
            risks.append((f"{name} = {self.pick(sequence)}[{here.integer(1)}]", "IndexError"))
        if numbers:
            risks.append(
                (
                    f"{name} = np.linalg.inv(np.array([[{self.pick(numbers)}, 0.0], [1.0, {self.pick(['0.0', '2.0'])}]]))[0, 0]",
                    "np.linalg.LinAlgError",
                )
            )
        risk, error = self.pick(risks)
        handler = self.pick(
            [error, "Exception", error, f"({error}, RuntimeError)", "ArithmeticError"]
        )
        bound = " as error" if self.chance(0.2) else ""
        first = Clause("try:")
        clauses = [first, Clause(f"except {handler}{bound}:", [Line(f"{name} = {here.number(1)}")])]
        if self.chance(0.2):
            clauses.append(Clause("else:"))
        if self.chance(0.25):
            clauses.append(Clause("finally:"))
        compound = Compound(clauses)
        self._put(block, compound)
        before = list(self.names)
        self._block(block, compound, first, share, in_loop)
        self._leave(before)
        first.body[:] = [
            node for node in first.body if not (isinstance(node, Line) and node.text == "pass")
        ]
        first.body.insert(int(self.rng.integers(len(first.body) + 1)), Line(risk))
        for clause in clauses[1:]:
            if clause.header.startswith("except"):
                saved = list(first.body)
                first.body.insert(0, Line(f"raise {error}"))
                lines = list(clause.body)
                self._block(block, compound, clause, 1, in_loop)
                clause.body[:] = (
                    [n for n in clause.body if n not in lines] if False else clause.body
                )
                first.body[:] = saved
            else:
                self._block(block, compound, clause, 1, in_loop and clause.header != "finally:")
        return 2 + share

    def _with(self, block, here, budget, in_loop) -> int:
        clause = Clause("with np.errstate(all='ignore'):")
        compound = Compound([clause])
        self._put(block, compound)
        share = self._share(budget)
        self._block(block, compound, clause, share, in_loop)
        return share

    def _match(self, block, here, budget, in_loop) -> int:
        text = self.pick(
            [
                lambda: here.integer(1),
                lambda: here.some(lambda v: isinstance(v, str)),
                lambda: here.some(lambda v: isinstance(v, list | tuple)),
                lambda: here.some(lambda v: isinstance(v, dict)),
            ]
        )()
        value = here.value(text)
        first = second = self._fresh()
        while second == first:
            second = self._fresh()
        if isinstance(value, str):
            patterns = ["'left'", "'right' | 'middle'"]
        elif isinstance(value, int | np.integer):
            patterns = ["0", "1 | 2", f"{first} if {first} > 1"]
        elif isinstance(value, dict):
            patterns = [f"{{'w': {first}}}", f"{{'a': {first}, **{second}}}"]
        else:
            patterns = [f"[{first}]", f"[{first}, {second}]", f"[{first}, *_]"]
        cases = [Clause(f"case {pattern}:") for pattern in patterns]
        cases.append(Clause("case _:"))
        chosen = Compound([Clause(f"match {text}:", [Compound([case]) for case in cases])])
        name = self._bind(self._fresh())
        for case in cases:
            bound = here.names
            line = f"{name} = {here.number(1)}"
            if (
                isinstance(value, list | tuple)
                and f"[{first}" in case.header
                and value
                and kind(value[0]) == "f"
            ):
                line = f"{name} = np.sum({first}) * {here.constant()}"
            case.body.append(Line(line))
            del bound
        self._put(block, chosen)
        return 2

    def _def(self, block, here, budget, in_loop) -> int:
        """A function inside, which reads and perhaps changes what is around it."""
        name = f"inner{self.counter}"
        self.counter += 1
        examples: tuple[Any, ...] = (0.7,)
        if self.chance(0.4):
            array = here.arrays(kinds="f" if self.floats != "c16" else "c")
            examples = (here.scope_value(array),)
        scope = {**here.scope, "p": examples[0]}
        inside = _Here(self.rng, [*here.names, "p"], scope, self.floats)
        inside.helpers = here.helpers
        body = []
        if self.chance(0.5):
            text = inside.anything()
            inside.scope["t"] = inside.value(text)
            inside.names.append("t")
            inside.atoms = inside._atoms()
            body.append(Line(f"t = {text}"))
        floats = [n for n in here.names if isinstance(here.scope[n], float)]
        arrays = [
            n
            for n in here.names
            if isinstance(here.scope[n], np.ndarray)
            and here.scope[n].ndim
            and here.scope[n].flags.writeable
            and kind(here.scope[n]) == "f"
        ]
        if floats and self.chance(0.25):
            changed = self.pick(floats)
            if changed in self.function.parameters.split(", ") or self.chance(1):
                body.insert(0, Line(f"nonlocal {changed}"))
                body.append(Line(f"{changed} = {changed} * 0.5 + {inside.constant()}"))
        elif arrays and self.chance(0.25):
            body.append(Line(f"{self.pick(arrays)}[0] = {inside.number(1)}"))
        result = self.pick([inside.number, inside.anything])()
        body.append(Line(f"return {result}"))
        if len(body) == 1 and self.chance(0.5):
            self._put(block, Line(f"{name} = lambda p: {result}"))
        else:
            default = (
                f"={examples[0]}" if isinstance(examples[0], float) and self.chance(0.2) else ""
            )
            self._put(block, Compound([Clause(f"def {name}(p{default}):", body)]))
        value = inside.value(result)
        self.inner[name] = Callable_(name, examples, value)
        return 1

    def _early_return(self, block, here, *_) -> int:
        """A way out that is mostly not taken."""
        condition = here.condition()
        truth = bool(here.value(condition))
        text = here.number(2)
        header = f"if {f'not ({condition})' if truth else condition}:"
        self._put(block, Compound([Clause(header, [Line(f"return {text}")])]))
        return 1

    def _jump(self, block, here, *_) -> int:
        clause = Clause(f"if {here.condition()}:", [Line(self.pick(["break", "continue"]))])
        self._put(block, Compound([clause]))
        return 1


def _form(value: Any) -> Any:
    """What the paths of a program mostly agree on."""
    if isinstance(value, list):
        return list, frozenset(map(_form, value)) if len(value) != 1 else frozenset(
            [_form(value[0])]
        )
    if is_container(value):
        return type(value).__name__, tuple((part, _form(item)) for part, item in children(value))
    known = type_of(value)
    if known is None:
        return type(value)
    return known.dtype[0] == "c", known.dtype[0] == "b", known.shape and len(known.shape)


class _Here(Expressions):
    """Expressions at a hole, with values of texts that are known to be fine."""

    def scope_value(self, text: str) -> Any:
        return eval(text, dict(self.scope))


__all__ = ["GAP", "Generated", "generate", "inexact", "leaves"]
