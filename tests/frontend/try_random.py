"""Random programs that fail in the middle of what they do, and go on."""

import random

PREAMBLE = """\
import numpy as np

ERROR = np.linalg.LinAlgError


def root(c):
    return np.linalg.cholesky(np.array([[c]]))[0, 0]


def scaled(x, c):
    y = x * root(c)
    return y + 1.0


def function(x, c):
    y, z, k = x, 2.0 * x, 0
    v = np.ones(3) * x
    items = [x]
    d = {"a": x}
"""

RESULT = """\
    return y + 2.0 * z + 3.0 * k + np.sum(v * np.arange(1.0, 4.0)) + sum(items) + d["a"]
"""

SIMPLE = (
    *("y = y * 1.5", "z = z + y", "k = k + 1", "k += 1"),
    *("y = scaled(y, c)", "z = scaled(y, c - 2.0)", "z *= root(c - 1.0)"),
    *("v[0] = y", "v[k % 3] += root(c - 1.0)", "v[1] *= z", "items.append(y)", "v = v * 1.1"),
    *("items.append(z * root(c))", 'd["a"] = y * 0.5', 'd["a"] += root(c - 3.0)'),
    *("y, z = z, y * root(c)", "v += root(c - 2.0)", "y = y + root(c - k)", "items[0] = root(c)"),
    *("if c > {n}.5:\n    raise ValueError('large')", "if y > {n}0.0:\n    raise KeyError('y')"),
)
ERRORS = ("ERROR", "ValueError", "(ERROR, KeyError)", "Exception", "ArithmeticError")


class Generator:
    """One program: the same for the same seed."""

    def __init__(self, seed):
        self.rng = random.Random(seed)

    def text(self):
        body = [*self.block(1, False), *self.tried(3, False), *self.block(1, False)]
        lines = [f"    {line}" for each in body for line in each.split("\n")]
        return PREAMBLE + "\n".join(lines) + "\n" + RESULT

    def block(self, depth, in_loop):
        count = self.rng.randint(1, 3)
        return [line for _ in range(count) for line in self.statement(depth - 1, in_loop)]

    def statement(self, depth, in_loop):
        kind = self.rng.random()
        if depth > 0 and kind < 0.45:
            inner = self.rng.choice([self.tried, self.tried, self.loop, self.branch, self.repeated])
            return inner(depth, in_loop)
        if kind > 0.95:
            return [f"if c > {self.rng.randint(0, 3)}.0:", "    return y + z"]
        if in_loop and kind > 0.85:
            leave = self.rng.choice(["break", "continue"])
            return [f"if i == {self.rng.randint(0, 2)}:", f"    {leave}"]
        return self.rng.choice(SIMPLE).format(n=self.rng.randint(0, 4)).split("\n")

    def tried(self, depth, in_loop):
        lines = ["try:", *indented(self.block(depth, in_loop))]
        for _ in range(self.rng.choice([1, 1, 1, 2])):
            lines += [f"except {self.rng.choice(ERRORS)}:"]
            lines += indented(self.rng.choice([["pass"], self.block(1, in_loop)]))
        if self.rng.random() < 0.3:
            lines += ["else:", *indented(self.block(1, in_loop))]
        if self.rng.random() < 0.15:
            lines += ["finally:", *indented([self.rng.choice(SIMPLE[:4])])]
        return lines

    def loop(self, depth, in_loop):
        return [f"for i in range({self.rng.randint(1, 3)}):", *indented(self.block(depth, True))]

    def repeated(self, depth, in_loop):
        head = self.rng.choice(["while k < 3:", "while root(c - k) > 0.5:"])
        return [head, "    k = k + 1", *indented(self.block(depth, False))]

    def branch(self, depth, in_loop):
        head = f"if {self.rng.choice(['y > z', 'c > 1.5', 'root(c) > 1.2'])}:"
        lines = [head, *indented(self.block(depth, in_loop))]
        return [*lines, "else:", *indented(self.block(1, in_loop))]


def indented(lines):
    return [f"    {line}" for line in lines]
