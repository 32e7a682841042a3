"""Random programs over the whole language: text that a user could have written, by number."""

from __future__ import annotations

import random

HEAD = """import functools

import numpy as np


class Cell:
    def __init__(self, weight, state):
        self.weight = weight
        self.state = state
        self.count = 0

    def push(self, x):
        self.state = np.tanh(self.weight * x + 0.5 * self.state)
        self.count += 1
        return self.state


def soften(A, x):
    A *= 0.5
    A[0] += np.sin(x)


def fill(A, items):
    for i in range(len(A)):
        A[i] = 0.3 * A[i] + np.sin(items[i % len(items)])
    return A


def note(L, x):
    L.append(x * 0.5)
    return len(L)


def power(x, n):
    if n <= 0:
        return 1.0
    return 0.8 * x * power(x, n - 1)


def early(x, y, k):
    if k % 2:
        return np.sin(x) * y
    for i in range(k):
        y = 0.5 * y + x * 0.1 * i
        if i > 1:
            return y
    return x + y


def guarded(x, limit):
    try:
        if x > limit:
            raise ValueError("too large")
        x = np.sin(x) * 1.5
    except ValueError:
        x = 0.5 * x
    finally:
        limit = 0.1 * limit
    return x + limit


def weighted(first, *rest, scale=0.5, **named):
    return scale * first + sum(0.1 * each for each in rest) + sum(named.values()) * 0.1


def chosen(k, pair):
    match k % 3, pair:
        case 0, (u, v):
            return u * v
        case 1, [u, *_]:
            return np.cos(u)
        case _:
            return 0.25


def f(a, b, s, n):
    x, y, z, k = s, 0.4, s * 0.5, 0
    A, B, C = a.copy(), b, np.zeros(4)
    L, D, cell = [s], {"p": s, "q": 0.3 * a}, Cell(s, 0.2)
    V = A[1:]
    W = A
    g = lambda t: np.sin(t * x) + 0.1 * y
"""
RESULT = (
    "return x + 0.7 * y + z + np.sum(A * 1.1) + np.sum(B) + np.sum(C * C) + 0.3 * np.sum(V)"
    " + np.sum(np.stack(L)) * 0.2 + D['p'] + np.sum(D['q']) + cell.state + 0.1 * sum(L) + W[2]"
)
FLOATS = ("x", "y", "z")
ARRAYS = ("A", "W", "C", "D['q']")  # of four; B has three, V is a view of three


def program(number: int) -> str:
    """The text of a function f(a, b, s, n) of arrays of four and three, a float and an int."""
    writer = Writer(random.Random(number))
    lines = writer.block(1, 8, in_loop=False)
    return HEAD + "\n".join([*lines, f"    {RESULT}"]) + "\n"


class Writer:
    """Writes statements; what they compute stays smooth and bounded."""

    def __init__(self, random: random.Random):
        self.random, self.made = random, 0

    def choose(self, *items):
        return self.random.choice(items)

    def fresh(self, stem):
        self.made += 1
        return f"{stem}{self.made}"

    def number(self, depth=0):
        if depth > 2 or self.random.random() < 0.3:
            return self.choose(
                *FLOATS, "s", "0.5", "A[0]", "W[k % 4]", "B[-1]", "V[1]", "L[-1]", "L[0]", "D['p']",
                "cell.state", "C[2]", "a[1]", "b[n % 3]", "D['q'][1]",
            )  # fmt: skip
        a, b = self.number(depth + 1), self.number(depth + 1)
        return self.choose(
            f"0.5 * ({a} {self.choose('+', '-', '*')} {b})",
            f"0.5 * ({a} {self.choose('+', '-', '*')} {b})",
            f"np.sin({a})",
            f"np.tanh({a})",
            f"{a} / (2.0 + np.cos({b}))",
            f"({a} if {self.condition(depth + 1)} else {b})",
            f"0.2 * sum(v * {a} for v in {self.choose('A', 'L', 'B', 'V')})",
            f"max(np.sin(v + {a}) for v in {self.choose('A', 'B')})",
            f"0.3 * sum([np.sin({a} * j) for j in range(n)])",
            "0.3 * sum(v * j for j, v in enumerate(A) if j != k)",
            f"power(np.sin({a}), {self.choose('n', '2', 'k % 3')})",
            f"early({a}, {b}, {self.choose('n', 'k', '3')})",
            f"g({a})",
            f"cell.push({a})",
            f"np.mean({self.choose(*ARRAYS)} * {a})",
            f"0.3 * ({self.array()} @ C)",
            f"sum(D[key] * {a} for key in ('p',))",
            f"(k > 1 and {a} or {b})",
            f"min({a}, {b})",
            f"guarded({a}, {b})",
            f"weighted({a}, {b}, y, scale=0.3, extra={a})",
            f"weighted(*[{a}, x], **{{'extra': {b}}})",
            f"chosen(k, ({a}, {b}))",
            f"functools.reduce(lambda u, v: 0.5 * (u + v), [{a}, {b}, z])",
            f"(lambda u, v={b}: u * 0.5 + v)({a})",
            f"sum({{key: {a} * i for i, key in enumerate('pq')}}.values())",
        )

    def array(self, depth=0):
        """An array of four."""
        if depth > 1 or self.random.random() < 0.3:
            return self.choose(*ARRAYS, "a")
        a, x = self.array(depth + 1), self.number(3)
        return self.choose(
            f"0.5 * ({a} {self.choose('+', '-', '*')} {self.array(depth + 1)})",
            f"np.sin({a})",
            f"{x} * {a}",
            f"{a}[::-1]",
            f"np.array([np.sin(v * {x}) for v in {a}])",
            f"np.where({a} > 0.1, {a}, 0.5 * {a})",
            f"np.concatenate([B, {a}[:1]])",
            f"fill({a}.copy(), L)",
            "np.cumsum(0.3 * A)",
        )

    def condition(self, depth=0):
        if depth < 2 and self.random.random() < 0.25:
            parts = self.condition(depth + 1), self.condition(depth + 1)
            return "({} {} {})".format(parts[0], self.choose("and", "or", "and not"), parts[1])
        return self.choose(
            f"k % {self.choose(2, 3)} == {self.choose(0, 1)}",
            f"{self.number(3)} {self.choose('<', '>')} {self.choose('0.11', '-0.23', 's')}",
            f"-1.0 < {self.number(3)} < 0.37",
            "n > 1",
            "len(L) < 4",
        )

    def block(self, indent, most, *, in_loop):
        count = self.random.randint(1, most)
        return [line for _ in range(count) for line in self.statement(indent, in_loop)]

    def statement(self, indent, in_loop):
        choice, pad = self.random.random(), "    " * indent
        if choice < 0.6 or indent > 3:
            return [pad + each for each in self.simple(indent)]
        if choice < 0.76:
            return self.branch(indent, in_loop)
        if choice < 0.92 and indent < 3:
            return self.loop(indent, in_loop)
        leave = self.choose("break", "continue") if in_loop and choice < 0.97 else RESULT
        return [f"{pad}if {self.condition()}:", f"{pad}    {leave}"]

    def simple(self, indent):
        name, value, array = self.choose(*FLOATS), self.number(), self.array()
        target = self.choose("A", "C", "V", "W", "D['q']")
        place = self.choose("0", "k % 3", "1:3", "2", "[0, 2]", "-1", "::2")
        update = self.choose("=", "+=", "-=", "*=")
        made = self.fresh("t")
        # One of two arrays that a branch chose between may be changed, but the other not read then.
        if indent == 1 and self.random.random() < 0.2:
            return self.choose(
                [f"A = {array}"],
                [f"W = {self.choose('A', 'C')}"],
                [f"V = {self.choose('A', 'C')}[{self.choose(':3', '1:', '::-1')}][:3]"],
            )
        return self.choose(
            [f"{name} = {value}"],
            [f"{name} = {value}"],
            [f"{name} {self.choose('+=', '-=', '*=')} {value}"],
            [
                f"{name}, {self.choose(*(each for each in FLOATS if each != name))} = "
                f"{value}, {self.number()}"
            ],
            [f"{target}[{place}] {update} {value}"],
            [f"{target}[{place}] {update} {value}"],
            [f"{target}[{target} > 0.21] {update} {value}"],
            [f"{self.choose('A', 'C', 'W')}[:] = {array}"],
            [f"{self.choose('A', 'C', 'W')} {self.choose('+=', '*=')} {array}"],
            [f"V += {value}"],
            ["C[:] = np.zeros(4)", "for i in range(4):", f"    C[i] = np.sin(A[i] * {value})"],
            [f"L.append({value})"],
            [f"k = k + note(L, {value})"],
            ["if len(L) > 1:", f"    {name} = L.pop()"],
            [f"L[{self.choose('0', '-1')}] {update} {value}"],
            [f"D['p'] {update} {value}"],
            [f"D['{self.choose('q')}'] = {array}"],
            [f"cell.state {update} {value}"],
            [f"cell.weight = {value}"],
            [f"{name} = cell.push({value})"],
            [f"soften({self.choose('A', 'C', 'V', 'W')}, {value})"],
            [f"{made} = {array}", f"{made}[1:] += B", f"{name} = 0.3 * {made}[2]"],
            [f"{made} = [np.sin({array}) for _ in range(n + 1)]", f"C[:] = np.stack({made})[-1]"],
            [f"B = np.sin(B * {value})"],
            ["k += 1"],
            *self.rarer(name, value, array, made),
        )

    def rarer(self, name, value, array, made):
        """Statements of which a program has one or two."""
        other = self.number(2)
        return (
            [f"{made}, *{made}r = [{value}, {other}, s]", f"{name} = {made} + {made}r[-1] * 0.5"],
            ["with np.errstate(all='ignore'):", f"    {name} = {value}"],
            [f"np.add.at(C, [0, k % 3, 0], {value})"],
            [f"np.multiply({array}, 0.5, out=C)"],
            [f"C.fill({value})"],
            [f"np.copyto({self.choose('A', 'C')}, {array})"],
            [f"L.insert({self.choose('0', '1')}, {value})"],
            [f"L.extend([{value}, {other}])"],
            [f"D['p'] = D.get('{self.choose('p', 'r')}', {value}) * 0.5"],
            [f"D.setdefault('{self.choose('p', 'r')}', {value})"],
            [f"{made} = {{'u': {value}, **{{'v': {other}}}}}", f"{name} = {made}.pop('u')"],
            [f"{made} = {value}", f"assert abs({made}) < 1e9, 'too large'"],
            [
                f"def {made}(u, scale=0.5):",
                f"    C[1] = {self.choose('0.5 * u', 'u * scale + C[0]')}",
                f"    return u * scale * {self.choose(*FLOATS)}",
                f"{name} = {made}({value})",
            ],
            [
                "try:",
                f"    {name} = {value}",
                f"    if {self.condition()}:",
                "        raise ZeroDivisionError",
                f"    {self.choose(*FLOATS)} = {other}",
                "except ZeroDivisionError:",
                f"    {name} = 0.5 * {name}",
            ],
            [
                "match k % 2:",
                "    case 0:",
                f"        {name} = {value}",
                f"    case {self.choose('1', '_')} if {self.condition()}:",
                f"        {self.choose(*FLOATS)} = {other}",
            ],
            [
                f"{made} = np.outer({array}, B)",
                f"{made}[1] *= {value}",
                f"{made}.T[0] += C",
                f"for {made}r in {made}:",
                f"    {name} = 0.5 * {name} + {made}r[0] * 0.1",
                f"C[:] = {made}[:, k % 3]",
            ],
            [f"{made} = {value}", f"{name} = {made} * 0.5", f"del {made}"],
            [f"{name} = 0.5 * (({made} := {value}) + {made} * {made} * 0.1)"],
        )

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
        pad, index, name = "    " * indent, self.fresh("i"), self.choose(*FLOATS)
        ranges = self.choose("n", "3", "k % 3", "n, 0, -1")
        test = self.condition(1)
        head = self.choose(
            [f"{pad}for {index} in range({ranges}):"],
            [f"{pad}for {name} in B:"],
            [f"{pad}for {index}, {name} in enumerate(a):"],
            [f"{pad}for {index}, {name} in zip(range(n), A.copy()):"],
            [f"{pad}for {name} in (x, 0.5, z):"],
            [f"{pad}for {name} in reversed(A.copy()):"],
            [f"{pad}for {index}, {name} in {{'u': x, 'v': 0.5}}.items():"],
            [f"{pad}for {index} in reversed(range(n)):"],
            [
                f"{pad}{index} = 0",
                f"{pad}while {index} < {self.choose('n', '4')} and {test}:",
                f"{pad}    {index} += 1",
            ],
        )
        lines = [*head, *self.block(indent + 1, 4, in_loop=True)]
        if self.random.random() < 0.2:
            lines += [f"{pad}else:", *self.block(indent + 1, 2, in_loop=in_loop)]
        return lines
