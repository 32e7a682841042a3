"""Programs that pick items out of lists, exchange them or hold them twice, and change them then.

Each gives what Python gives, or is refused: whatever may hold an item has to know of its changes.
"""

from __future__ import annotations

import random
import re
from typing import NamedTuple

MARGIN = "    "


class Kind(NamedTuple):
    """What the items of a program are, as texts: how they are made of a number, read, changed."""

    made: str
    key: str
    value: str
    rest: str
    changes: tuple[str, ...] = ()
    peers: bool = False  # whether it may hold another one


KINDS = (
    Kind("Item({})", "{}.key", "{}.value", "{}.value", ("{0}.bump({1})",), True),
    Kind("[{}, 0.0]", "{}[0]", "{}[1]", "sum({})", ("{0}.append({1})", "{0} += [{1}]")),
    Kind("np.array([{}, 0.0])", "{}[0]", "{}[1]", "np.sum({})", ("{0} *= {1}", "{0}[:] = {1}")),
    Kind("dict(key={}, value=0.0)", "{}['key']", "{}['value']", "{}['value']"),
    Kind(
        "Owner({})",
        "{}.row[0]",
        "{}.row[1]",
        "sum({}.tags)",
        ("{0}.row = {0}.row + {1}", "{0}.tags.append({1})", "row = {0}.row\nrow[0] += {1}"),
        True,
    ),
)
HEAD = """
import copy
import numpy as np

class Item:
    def __init__(self, key):
        self.key, self.value, self.peer = key, 0.0, None

    def bump(self, by):
        self.value = self.value + by

class Owner:
    def __init__(self, key):
        self.row, self.tags, self.peer = np.array([key, 0.0]), [key], None

class Holder:
    def __init__(self, items):
        self.items, self.held = items, items[0]

    def hold(self, i):
        self.held = self.items[i]
        return self.held

def least(items):
    best = items[0]
    for item in items:
        if KEY(item) < KEY(best):
            best = item
    return best

def touch(item, by):
    VALUE(item) += by

def main(x):
"""
PICKS = (  # {0} is a name, {1} a list, {2} an index
    "{0} = {1}[{2}]",
    "{0} = {1}[int(x[0] * 2)]",
    "for item in {1}:\n    {0} = item",
    "{0} = min({1}, key=lambda item: KEY(item))",
    "{0} = sorted({1}, key=lambda item: KEY(item))[{2}]",
    "{0} = {1}[0]\nfor item in {1}:\n    if KEY(item) > KEY({0}):\n        {0} = item",
    "{0} = None\nfor item in {1}:\n    if {0} is None or KEY(item) < KEY({0}):\n        {0} = item",
    "{0} = next(item for item in {1} if KEY(item) > 0.3)",
    "{0} = {1}[0] if x[0] > 0.5 else {1}[{2}]",
    "{0} = least({1})",
    "{0} = holder.hold({2})",
    "i = 0\nwhile i < len({1}) - 1:\n    i += 1\n{0} = {1}[i]",
)
LISTS = (  # {0} is a name, {1} a list
    "{0} = list({1})",
    "{0} = {1}",
    "{0} = {1}[1:]",
    "{0} = {1} + {1}[:1]",
    "{0} = sorted({1}, key=lambda item: KEY(item))",
    "{0} = [item for item in {1} if KEY(item) > 0.3]",
    "{0} = []\nfor item in {1}:\n    {0}.append(item)",
)
OTHERS = (  # {0} is a list, {1} an item
    "{0}.append({1})",
    "{0}.append({1})",
    "{0}.insert(0, {1})",
    "{0}.pop()",
)
CHANGES = (  # {0} is an item, {1} a number
    "VALUE({0}) += {1}",
    "VALUE({0}) = {1}",
    "VALUE({0}) = VALUE({0}) * 2 + {1}",
    "KEY({0}) = {1}",
    "touch({0}, {1})",
)
PEERS = """for p, q in zip({0}, {0}[1:]):
    p.peer = q
for p in {0}:
    if p.peer is not None:
        VALUE(p.peer) += KEY(p) * {1}"""
TOTAL = """for k, item in enumerate({0}):
    t += (k + 1) * (KEY(item) + 2 * VALUE(item) + REST(item))"""


class Writer:
    """Writes the program of a seed."""

    def __init__(self, seed: int):
        self.rng = random.Random(seed)
        self.kind = self.rng.choice(KINDS)
        self.items, self.lists, self.numbers = [], ["pool"], ["x[0]", "x[1] * 3", "1.5"]
        self.names = 0
        self.depth = 0
        self.grows = True  # nothing is added to a list while it is walked through

    def text(self) -> str:
        parts = [f"pool = [{self.kind.made.format('each')} for each in x]", "holder = Holder(pool)"]
        if self.rng.random() < 0.3:
            added = f"pool.append({self.kind.made.format('each')})"
            parts[0] = f"pool = []\nfor each in x:\n    {added}"
        parts += [self.pick(), self.pick(), *(self.statement() for _ in range(self.many(1, 4)))]
        parts += ["t = 0.0", *(TOTAL.format(each) for each in self.lists)]
        parts += [f"t += 3 * VALUE({each}) + REST({each})" for each in self.items]
        body = HEAD + indented("\n".join([*parts, "return t"])) + "\n"
        forms = {"KEY": self.kind.key, "VALUE": self.kind.value, "REST": self.kind.rest}
        return re.sub(r"(KEY|VALUE|REST)\(([^()]*)\)", lambda m: forms[m[1]].format(m[2]), body)

    def many(self, least: int, most: int) -> int:
        return self.rng.randint(least, most)

    def name(self, stem: str) -> str:
        self.names += 1
        return f"{stem}{self.names}"

    def number(self) -> str:
        return self.rng.choice(self.numbers)

    def list(self) -> str:
        return self.rng.choice(self.lists)

    def item(self) -> str:
        """An item, and where it is held: it may be read, changed and assigned to."""
        held = f"{self.list()}[{self.rng.choice((0, 1, -1))}]"
        return self.rng.choice([*self.items * 2, "holder.held", held])

    def statement(self) -> str:
        ways = [self.pick, self.change, self.change, self.change, self.exchange, self.again]
        ways += [self.another]
        ways += [self.other_items] * self.grows
        ways += [self.branch, self.walk, self.passes] * (self.depth < 2)
        ways += [self.peers] * self.kind.peers
        return self.rng.choice(ways)()

    def block(self, header: str, item: str | None = None, number: str | None = None) -> str:
        """Statements that may use one more item or number; the names that they make end there."""
        before = self.items, self.lists, self.numbers
        self.items = self.items + [item] * bool(item)
        self.numbers = self.numbers + [number] * bool(number) * 3
        self.depth += 1
        body = "\n".join(self.statement() for _ in range(self.many(1, 3)))
        self.depth -= 1
        self.items, self.lists, self.numbers = before
        return f"{header}:\n{indented(body)}"

    def branch(self) -> str:
        test = self.rng.choice([f"{self.number()} > 0.5", f"KEY({self.item()}) > 0.3"])
        text = self.block(f"if {test}")
        return text if self.rng.random() < 0.5 else f"{text}\n{self.block('else')}"

    def walk(self) -> str:
        name, grows, self.grows = self.name("each"), self.grows, False
        text = self.block(f"for {name} in {self.list()}", item=name)
        self.grows = grows
        return text

    def passes(self) -> str:
        name = self.name("u")
        return self.block(f"for {name} in x", number=name)

    def pick(self) -> str:
        old = self.items and self.rng.random() < 0.3
        name = self.rng.choice(self.items) if old else self.name("s")
        index = self.rng.choice(("0", "1", "-1", "len(x) - 2"))
        self.items = [*dict.fromkeys([*self.items, name])]
        return self.rng.choice(PICKS).format(name, self.list(), index)

    def change(self) -> str:
        return self.rng.choice(CHANGES + self.kind.changes * 2).format(self.item(), self.number())

    def exchange(self) -> str:
        first, second = self.item(), self.item()
        return f"{first}, {second} = {second}, {first}"

    def again(self) -> str:
        copied = self.rng.random() < 0.2
        return f"{self.item()} = " + (f"copy.copy({self.item()})" if copied else self.item())

    def other_items(self) -> str:
        new = self.kind.made.format(self.number())
        item = new if self.rng.random() < 0.3 else self.item()
        return self.rng.choice(OTHERS).format(self.list(), item)

    def another(self) -> str:
        name = self.list() if self.rng.random() < 0.3 else self.name("list")
        text = self.rng.choice(LISTS).format(name, self.list())
        self.lists = [*dict.fromkeys([*self.lists, name])]
        return text

    def peers(self) -> str:
        return PEERS.format(self.list(), self.number())


def indented(text: str) -> str:
    return MARGIN + text.replace("\n", "\n" + MARGIN)
