"""Random programs of branches, loops, exits, stores and lists that grow, by number."""

import random

NAMES = ("x", "y", "z", "t")
HEAD = (
    "import numpy as np\n\n\ndef f(x, y, A, n):\n    z, t, k, L = 1.0, x, 0, []\n    A = A.copy()\n"
)
RESULT = "return x + y, A * 1.0, k, t, z"


def program(number):
    """The text of a function f(x, y, A, n) of two floats, an array of four and an integer."""
    lines = Writer(random.Random(number)).block(1, 6, in_loop=False)
    return HEAD + "\n".join([*lines, f"    {RESULT}"]) + "\n"


class Writer:
    def __init__(self, random):
        self.random, self.loops = random, 0

    def choose(self, *items):
        return self.random.choice(items)

    def number(self, depth=0):
        choice = self.random.random()
        if depth > 2 or choice < 0.35:
            return self.choose(*NAMES, "1.5", "0.5", "A[0]", "A[k % 4]", "-1.0")
        a, b = self.number(depth + 1), self.number(depth + 1)
        if choice < 0.7:
            return f"({a} {self.choose('+', '-', '*')} {b}) * 0.5"
        if choice < 0.78:
            return f"({a} if {self.condition(depth + 1)} else {b})"
        if choice < 0.84:
            return f"np.sin({a})"
        if choice < 0.88:
            return f"max({a}, {b})"
        if choice < 0.92:
            return f"sum(v * {a} for v in A)"
        return f"(L[-1] if L else {a})" if choice < 0.95 else "A[1:3].sum()"

    def condition(self, depth=0):
        choice = self.random.random()
        if depth < 2 and choice < 0.15:
            return f"({self.condition(depth + 1)} and {self.condition(depth + 1)})"
        if depth < 2 and choice < 0.3:
            return f"({self.condition(depth + 1)} or not {self.condition(depth + 1)})"
        if choice < 0.4:
            return f"k % {self.choose(2, 3)} == {self.choose(0, 1)}"
        if choice < 0.5:
            return f"-1 < {self.number(2)} < 1"
        return f"{self.number(2)} {self.choose('<', '>', '<=', '>=')} {self.number(2)}"

    def block(self, indent, most, *, in_loop):
        count = self.random.randint(1, most)
        return [line for _ in range(count) for line in self.statement(indent, in_loop)]

    def statement(self, indent, in_loop):
        choice, pad = self.random.random(), "    " * indent
        if choice < 0.52 or indent > 4:
            return [pad + each for each in self.simple()]
        if choice < 0.74:
            return self.branch(indent, in_loop)
        if choice < 0.9 and indent < 4:
            return self.loop(indent, in_loop)
        leaves = self.choose("break", "continue") if in_loop and choice < 0.95 else RESULT
        return [f"{pad}if {self.condition()}:", f"{pad}    {leaves}"]

    def simple(self):
        name, value, choice = self.choose(*NAMES), self.number(), self.random.random()
        if choice < 0.4:
            return [f"{name} = {value}"]
        if choice < 0.55:
            return [f"{name} {self.choose('+=', '-=', '*=')} {value}"]
        if choice < 0.63:
            # two names: CPython 3.11.2 itself gives `x, x = a, b` the wrong value
            other = self.choose(*(each for each in NAMES if each != name))
            return [f"{name}, {other} = {value}, {self.number()}"]
        if choice < 0.75:
            place = self.choose("0", "k % 4", "1:3", "2")
            return [f"A[{place}] {self.choose('=', '+=', '*=')} {value}"]
        if choice < 0.8:
            return [f"A {self.choose('+=', '*=')} {value}"]
        if choice < 0.86:
            return [f"L.append({value})"]
        if choice < 0.9:
            return ["if L:", f"    {name} = L.pop()"]
        return ["k += 1"] if choice < 0.95 else [f"A = A * 0.5 + {value}"]

    def branch(self, indent, in_loop):
        pad = "    " * indent
        lines = [f"{pad}if {self.condition()}:", *self.block(indent + 1, 3, in_loop=in_loop)]
        if self.random.random() < 0.3:
            lines += [f"{pad}elif {self.condition()}:"]
            lines += self.block(indent + 1, 2, in_loop=in_loop)
        if self.random.random() < 0.5:
            lines += [f"{pad}else:", *self.block(indent + 1, 2, in_loop=in_loop)]
        return lines

    def loop(self, indent, in_loop):
        self.loops += 1
        pad, index, name = "    " * indent, f"i{self.loops}", self.choose(*NAMES)
        ranges = self.choose("n", "3", "k % 3", "n, 0, -1")
        count = f"{pad}while {index} < {self.choose('n', '4')} and {self.condition(1)}:"
        head = self.choose(
            [f"{pad}for {index} in range({ranges}):"],
            [f"{pad}for {self.choose(name, index)} in A:"],
            [f"{pad}for {index}, {name} in enumerate(A):"],
            [f"{pad}for {name} in (x, 0.5, z):"],
            [f"{pad}for {name} in reversed(L):"],
            [f"{pad}{index} = 0", count, f"{pad}    {index} += 1"],
        )
        lines = [*head, *self.block(indent + 1, 4, in_loop=True)]
        if self.random.random() < 0.2:
            lines += [f"{pad}else:", *self.block(indent + 1, 2, in_loop=in_loop)]
        return lines
