"""Random programs that change arrays, lists, dicts and objects under several names."""

import random

PREAMBLE = """\
import numpy as np


class Thing:
    def __init__(self, w):
        self.w = w
        self.n = 0.5
        self.items = [w]

    def step(self, v):
        self.n += v
        self.w[1] *= 2.0
        self.items.append(self.w * v)
        return self


def same(v):
    return v


def bump(v):
    v[0] += 1.0
    v *= 1.5


def part(v):
    w = v * 2.0
    return v[0:2]


def held(thing):
    w = thing.w
    return w


def function(x, s, n):
    a = x * 1.0
    b = {b}
    xs = [a, b * 1.0]
    ys = xs
    ns = [s]
    ms = ns
    d = {{"k": {k}, "n": 2.0, "l": xs}}
    o = Thing({o})

    def put(i, v):
        a[i] = v

"""

RESULT = """\
    arrays = a, b, x, xs[0], xs[-1], ys[0], d["k"], o.w, o.items[-1]
    return arrays, len(xs), sum(ns), ms[-1], d["n"], o.n
"""

ARRAYS = ("a", "b", 'd["k"]', "o.w", "xs[0]", "xs[-1]", "o.items[0]", 'd["l"][0]')
COUNTERS = ('d["n"]', "o.n")
NUMBERS = ("s", "1.5", "a[0]", 'd["n"]', "o.n", "b[-1]", "xs[0][0]", "ns[0]", "ns[-1]")
COPIES = ("{0} * 1.5", "{0} + 1.0", "{0}.copy()", "{0}[:] + {1}[:]")
ALIASES = ("{0}", "{0}", "{0}[:]", "{0}[::-1]", "({1}, {0})[1]", "same({0})", "np.asarray({0})")
LISTS = (
    "xs[0] = {e}",
    "xs[0], xs[-1] = xs[-1], xs[0]",
    "ys = xs",
    "ms = ns",
    "xs = [a, b]",
    "ms = list(ns)",
    "ys = xs[:]",
    "o.items = xs",
    "xs.reverse()",
    "ns.insert(0, s)",
    "xs.insert(0, b)",
)


class Generator:
    """One program: the same for the same seed."""

    def __init__(self, seed):
        self.rng = random.Random(seed)

    def text(self):
        pick = self.rng.choice
        preamble = PREAMBLE.format(
            b=pick(["a", "x * 2.0", "a[::-1]", "x", "x.copy()"]),
            k=pick(["a", "b", "x * 3.0"]),
            o=pick(["a", "b", "x * 4.0"]),
        )
        body = [*self.block(2, 1, False), *self.block(2, 1, False)]
        return preamble + "\n".join(body) + "\n" + RESULT

    def array(self):
        return self.rng.choice(ARRAYS)

    def number(self):
        return self.rng.choice(NUMBERS)

    def expression(self):
        form = self.rng.choice([*COPIES, *ALIASES, *ALIASES, "held(o)"])
        return form.format(self.array(), self.array())

    def block(self, depth, indent, in_loop):
        count = self.rng.randint(1, 4)
        return [x for _ in range(count) for x in self.statement(depth, indent, in_loop)]

    def statement(self, depth, indent, in_loop):
        pad = "    " * indent
        if depth and self.rng.random() < 0.25:
            return self.compound(depth, indent)
        return [pad + self.rng.choice([self.binding, self.store, self.change])(in_loop)]

    def binding(self, in_loop):
        target = self.rng.choice(["a", "b", 'd["k"]', "o.w"])
        swaps = ["a, b = b, a", f'(d["k"], o.w) = ({self.array()}, {self.array()})']
        return self.rng.choice([f"{target} = {self.expression()}"] * 4 + swaps)

    def store(self, in_loop):
        pick = self.rng.choice
        place = pick(["0", "1", "-1", "i" if in_loop else "2", ":", "1:", "::2", ":-1"])
        element = f"{self.array()}[{place}] {pick(['=', '+=', '*='])} {self.number()}"
        whole = pick(["a", "b", "o.w", 'd["k"]', "xs[0]"])
        update = f"{whole} {pick(['+=', '*='])} {pick(['s', '1.5', self.array()])}"
        return pick([element, element, update, f"bump({self.array()})"])

    def change(self, in_loop):
        pick = self.rng.choice
        return pick(
            [
                f"{pick(COUNTERS)} {pick(['=', '+=', '*='])} {self.number()}",
                f"{pick(['xs', 'ys', 'o.items'])}.append({self.expression()})",
                f"{pick(['ns', 'ms'])}.append({self.number()})",
                f"{pick(['ns', 'ms'])}[{pick(['0', '-1'])}] {pick(['=', '+='])} {self.number()}",
                pick(LISTS).format(e=self.expression()),
                f"put(0, {self.number()})",
                f"o.step({self.number()})",
            ]
        )

    def compound(self, depth, indent):
        pick, pad = self.rng.choice, "    " * indent
        kind = self.rng.random()
        if kind < 0.5:
            lines = [f"{pad}if s > {pick(['0', '5'])}:", *self.block(depth - 1, indent + 1, False)]
            if self.rng.random() < 0.6:
                lines += [f"{pad}else:", *self.block(depth - 1, indent + 1, False)]
            return lines
        if kind < 0.85:
            head = f"{pad}for i in range({pick(['n', '2', 'n'])}):"
            return [head, *self.block(depth - 1, indent + 1, True)]
        if kind < 0.95:
            head = f"{pad}for v in {pick(['xs[:2]', '[a, b]', '(b, xs[0])'])}:"
            store = f"{pad}    v[0] += {self.number()}"
            return [head, store, *self.block(depth - 1, indent + 1, False)]
        return [f"{pad}for v in ns:", f"{pad}    a[0] += v"]
