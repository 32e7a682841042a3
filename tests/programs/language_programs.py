"""Random programs over the whole language: text that a user could have written.

The tables hold what may be written. In a text `$number` stands for any number, `$<a|b>` for one of
these texts; the first of each table is what hypothesis shrinks to.
"""

from __future__ import annotations

import random
import re

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

# A and W, C and D['q'] are arrays of four, B of three; V is a view of three.

KNOWN_NUMBERS = (
    *("0.5", "x", "y", "z", "s", "A[0]", "W[k % 4]", "B[-1]", "V[1]", "L[-1]", "L[0]", "D['p']"),
    *("cell.state", "C[2]", "a[1]", "b[n % 3]", "D['q'][1]"),
)
NUMBERS = (
    "0.5 * ($number $<+|-|*> $number)",
    "0.5 * ($number $<+|-|*> $number)",
    "np.sin($number)",
    "np.tanh($number)",
    "$number / (2.0 + np.cos($number))",
    "($number if $condition else $number)",
    "0.2 * sum(v * $number for v in $<A|L|B|V>)",
    "max(np.sin(v + $number) for v in $<A|B>)",
    "0.3 * sum([np.sin($number * j) for j in range(n)])",
    "0.3 * sum(v * j for j, v in enumerate(A) if j != k)",
    "power(np.sin($number), $<n|2|k % 3>)",
    "early($number, $number, $<n|k|3>)",
    "g($number)",
    "cell.push($number)",
    "np.mean($array * $number)",
    "0.3 * ($array @ C)",
    "sum(D[key] * $number for key in ('p',))",
    "(k > 1 and $number or $number)",
    "min($number, $number)",
    "guarded($number, $number)",
    "weighted($number, $number, y, scale=0.3, extra=$number)",
    "weighted(*[$number, x], **{'extra': $number})",
    "chosen(k, ($number, $number))",
    "functools.reduce(lambda u, v: 0.5 * (u + v), [$number, $number, z])",
    "(lambda u, v=$number: u * 0.5 + v)($number)",
    "sum({key: $number * i for i, key in enumerate('pq')}.values())",
    "0.1 * sum((last := v * $number) + last * last for v in B)",
)
KNOWN_ARRAYS = ("a", "A", "W", "C", "D['q']")
ARRAYS = (
    "0.5 * ($array $<+|-|*> $array)",
    "np.sin($array)",
    "$known * $array",
    "$array[::-1]",
    "np.array([np.sin(v * $known) for v in $array])",
    "np.where($array > 0.1, $array, 0.5 * $array)",
    "np.concatenate([B, $array[:1]])",
    "fill($array.copy(), L)",
    "np.cumsum(0.3 * A)",
)
CONDITIONS = (
    "n > 1",
    "k % $<2|3> == $<0|1>",
    "$known $<<|>> $<0.11|-0.23|s>",
    "-1.0 < $known < 0.37",
    "len(L) < 4",
    "($condition $<and|or|and not> $condition)",
)
# One of two arrays that a branch chose between may be changed, but the other not read then.
AT_THE_TOP = (
    ("A = $array",),
    ("W = $<A|C>",),
    ("V = $<A|C>[$<:3|1:|::-1>][:3]",),
)
SIMPLE = (
    ("$float = $number",),
    ("$float = $number",),
    ("$float $<+|-|*>= $number",),
    ("x, $<y|z> = $number, $number",),
    ("$target[$place] $update $number",),
    ("$target[$place] $update $number",),
    ("$masked $update $number",),
    ("$whole[:] = $array",),
    ("$whole $<+|*>= $array",),
    ("V += $number",),
    ("C[:] = np.zeros(4)", "for i in range(4):", "    C[i] = np.sin(A[i] * $number)"),
    ("L.append($number)",),
    ("k = k + note(L, $number)",),
    ("if len(L) > 1:", "    $float = L.pop()"),
    ("L[$<0|-1>] $update $number",),
    ("D['p'] $update $number",),
    ("D['q'] = $array",),
    ("cell.state $update $number",),
    ("cell.weight = $number",),
    ("$float = cell.push($number)",),
    ("soften($target, $number)",),
    ("$new = $array", "$new[1:] += B", "$float = 0.3 * $new[2]"),
    ("$new = [np.sin($array) for _ in range(n + 1)]", "C[:] = np.stack($new)[-1]"),
    ("B = np.sin(B * $number)",),
    ("k += 1",),
    ("$new, *rest$new = [$number, $number, s]", "$float = $new + rest$new[-1] * 0.5"),
    ("with np.errstate(all='ignore'):", "    $float = $number"),
    ("np.add.at(C, [0, k % 3, 0], $number)",),
    ("np.multiply($array, 0.5, out=C)",),
    ("C.fill($number)",),
    ("np.copyto($<A|C>, $array)",),
    ("L.insert($<0|1>, $number)",),
    ("L.extend([$number, $number])",),
    ("D['p'] = D.get('$<p|r>', $number) * 0.5",),
    ("D.setdefault('$<p|r>', $number)",),
    ("$new = {'u': $number, **{'v': $number}}", "$float = $new.pop('u')"),
    ("$new = $number", "assert abs($new) < 1e9, 'too large'"),
    (
        "def $new(u, scale=0.5):",
        "    C[1] = $<0.5 * u|u * scale + C[0]>",
        "    return u * scale * $float",
        "$float = $new($number)",
    ),
    (
        "try:",
        "    x = $number",
        "    if $condition:",
        "        raise ZeroDivisionError",
        "    $float = $number",
        "except ZeroDivisionError:",
        "    x = 0.5 * x",
    ),
    (
        "match k % 2:",
        "    case 0:",
        "        $float = $number",
        "    case $<1|_> if $condition:",
        "        $float = $number",
    ),
    (
        "$new = np.outer($array, B)",
        "$new[1] *= $number",
        "$new.T[0] += C",
        "for row in $new:",
        "    x = 0.5 * x + row[0] * 0.1",
        "C[:] = $new[:, k % 3]",
    ),
    ("$new = $number", "$float = $new * 0.5", "del $new"),
    ("$float = 0.5 * (($new := $number) + $new * $new * 0.1)",),
)
LOOPS = (
    ("for $new in range($<n|3|k % 3|n, 0, -1>):",),
    ("for $float in B:",),
    ("for $new, $float in enumerate(a):",),
    ("for $new, $float in zip(range(n), A.copy()):",),
    ("for $float in (x, 0.5, z):",),
    ("for $float in reversed(A.copy()):",),
    ("for $new, $float in {'u': x, 'v': 0.5}.items():",),
    ("for $new in reversed(range(n)):",),
    ("$new = 0", "while $new < $<n|4> and $condition:", "    $new += 1"),
)
WORDS = {
    "float": ("x", "y", "z"),
    "target": ("A", "C", "V", "W", "D['q']"),
    "whole": ("A", "C", "W"),
    "masked": ("A[A > 0.21]", "C[C > 0.21]", "V[V > 0.21]", "W[W > 0.21]", "D['q'][D['q'] > 0.21]"),
    "place": ("0", "k % 3", "1:3", "2", "[0, 2]", "-1", "::2"),
    "update": ("=", "+=", "-=", "*="),
    "known": KNOWN_NUMBERS,
}
HOLE = re.compile(r"\$(?:<(.*?[^<|])>|(\w+))")


def program(chance: random.Random) -> str:
    """The text of a function f(a, b, s, n) of arrays of four and three, a float and an int."""
    lines = Writer(chance).block(1, 6, in_loop=False)
    return HEAD + "\n".join([*lines, f"    {RESULT}"]) + "\n"


class Writer:
    """Writes statements; what they compute stays smooth and bounded."""

    def __init__(self, chance: random.Random):
        self.chance, self.made = chance, 0

    def one_of(self, percent: int) -> bool:
        """True so many times out of a hundred; False is simpler."""
        return self.chance.randint(0, 99) >= 100 - percent

    def filled(self, lines: tuple[str, ...], depth: int = 0) -> list[str]:
        """The lines with something in each hole, the same new name in all of them."""
        self.made += 1
        new = f"t{self.made}"

        def fill(hole: re.Match) -> str:
            either, word = hole.groups()
            if either:
                return self.chance.choice(either.split("|"))
            if word == "new":
                return new
            return self.chance.choice(WORDS[word]) if word in WORDS else self.value(word, depth + 1)

        return [HOLE.sub(fill, line) for line in lines]

    def value(self, word: str, depth: int) -> str:
        """A number, an array or a condition; deeper inside it is a simple one."""
        simple, others, most = {
            "number": (KNOWN_NUMBERS, NUMBERS, 2),
            "array": (KNOWN_ARRAYS, ARRAYS, 2),
            "condition": (CONDITIONS[:-1], CONDITIONS[-1:], 2),
        }[word]
        often = 20 if word == "condition" else 60
        table = others if depth <= most and self.one_of(often) else simple
        return self.filled((self.chance.choice(table),), depth)[0]

    def block(self, indent: int, most: int, *, in_loop: bool) -> list[str]:
        count = self.chance.randint(1, most)
        return [line for _ in range(count) for line in self.statement(indent, in_loop)]

    def statement(self, indent: int, in_loop: bool) -> list[str]:
        choice, pad = self.chance.randint(0, 99), "    " * indent
        if choice < 60 or indent > 3:
            top = indent == 1 and self.one_of(20)
            return [
                pad + each for each in self.filled(self.chance.choice((SIMPLE, AT_THE_TOP)[top]))
            ]
        if choice < 76:
            return self.branch(indent, in_loop)
        if choice < 92 and indent < 3:
            return self.loop(indent, in_loop)
        leave = self.chance.choice(("break", "continue")) if in_loop and choice < 97 else RESULT
        return [f"{pad}if {self.value('condition', 1)}:", f"{pad}    {leave}"]

    def branch(self, indent: int, in_loop: bool) -> list[str]:
        pad = "    " * indent
        lines = [f"{pad}if {self.value('condition', 1)}:"]
        lines += self.block(indent + 1, 3, in_loop=in_loop)
        if self.one_of(30):
            lines += [f"{pad}elif {self.value('condition', 1)}:"]
            lines += self.block(indent + 1, 2, in_loop=in_loop)
        if self.one_of(50):
            lines += [f"{pad}else:", *self.block(indent + 1, 2, in_loop=in_loop)]
        return lines

    def loop(self, indent: int, in_loop: bool) -> list[str]:
        pad = "    " * indent
        lines = [pad + each for each in self.filled(self.chance.choice(LOOPS))]
        lines += self.block(indent + 1, 4, in_loop=True)
        if self.one_of(20):
            lines += [f"{pad}else:", *self.block(indent + 1, 2, in_loop=in_loop)]
        return lines
