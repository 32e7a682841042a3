"""Core with its stores performed: arrays and lists change in place, views share memory."""

from __future__ import annotations

import numpy as np

from programs.interpreter import apply, evaluate
from s2s_ad import runtime
from s2s_ad.core import form, tree
from s2s_ad.core.callee import Callee
from s2s_ad.core.regions import Attempt, Branch, Loop


class InPlace:
    """Runs a program; each store does to memory what its text would do.

    Each store is checked against what it says of itself: "same" finds the result in memory, and
    `changed` names the variables that share the memory that it changes and are read. (A list that
    another store changed since it got a name is not met under that name: nothing that reads it
    moves past that store.)
    """

    def __init__(self, stores):
        self.stores = stores
        self.frames = []
        self.gone = set()  # names of lists that were changed

    def run(self, program, leaves):
        values = dict(zip(program.leaves(), leaves, strict=True))
        values |= {each.name: each.value for each in program.captured()}
        self.gone -= set(program.leaves())
        nodes = [*program.body, *program.outputs()]
        self.frames.append((values, {name for node in nodes for name in form.reads(node)}))
        for statement in program.body:
            name = statement.target
            args = [evaluate(each, values) for each in statement.operands]
            params = {key: evaluate(each, values) for key, each in statement.parameters.items()}
            if name in self.stores:
                values[name] = self.store(name, values, args, params)
            else:
                values[name] = self.operation(statement.function, args, params)
            self.gone.discard(name)
        self.frames.pop()
        return [evaluate(atom, values) for atom in tree.leaves(program.output)]

    def store(self, name, values, args, params):
        store = self.stores[name]
        base = values[store.base]
        if store.kind == "same":
            if "index" in params and len(args) == 2:
                assert holds(base, params["index"], args[1]), f"{name} is not in memory"
            return base
        self.check_changed(name, store, base, changed_part(store, base, params))
        if store.kind == "set":
            base[params["index"]] = args[1]
        elif store.kind == "add":
            base[params["index"]] += args[1]
        elif store.kind == "add at":
            np.add.at(base, params["index"], args[1])
        elif store.kind == "append":
            base.append(args[1])
        elif store.kind == "pop":
            return base.pop(), base
        else:
            assert store.kind == "update"
            other = evaluate(store.value, values)
            inplace = {
                "add": "__iadd__",
                "mul": "__imul__",
                "sub": "__isub__",
                "truediv": "__itruediv__",
            }[store.operator.__name__]
            return getattr(base, inplace)(other)
        return base

    def variable(self, name):
        """The name whose memory the results of stores have taken over, one after the other."""
        while name in self.stores:
            name = self.stores[name].base
        return name

    def check_changed(self, name, store, base, part):
        for frame, read in self.frames:
            for each in read & frame.keys() - self.gone:
                value = frame[each]
                if shares(value, part):
                    said = f"{name} changes {each} and does not say so"
                    assert self.variable(each) in store.changed, said
                    if isinstance(base, list) and value is base:
                        self.gone.add(each)

    def operation(self, function, args, params):
        if isinstance(function, Callee):
            frames, self.frames = self.frames, []
            results = self.run(function.program, args)
            self.frames = frames
            return tuple(results) if function.several else results[0]
        if isinstance(function, Branch):
            condition, *operands = args
            return tuple(self.run(function.then if condition else function.orelse, operands))
        if isinstance(function, Loop):
            return self.loop(function, args)
        if isinstance(function, Attempt):
            return self.attempt(function, args)
        if function is runtime.list_pop:
            return args[0][-1], args[0][:-1]
        return apply(function, args, params)

    def loop(self, loop, args):
        parts = loop.parts(args)
        carried = tuple(parts.carried)
        indices = range(*parts.bounds) if loop.is_for else None
        passes = iter(lambda: [], None)
        if loop.is_for:
            passes = ([each] for each in (reversed(indices) if loop.backwards else indices))
        for index in passes:
            if not loop.is_for and not self.run(loop.test, [*carried, *parts.fixed])[0]:
                break
            results = self.run(loop.body, [*index, *carried, *parts.fixed])
            carried = tuple(results[: loop.carried])
            if loop.exits and results[-1]:
                break
        return carried

    def attempt(self, function, args):
        depth = len(self.frames)
        try:
            return (*self.run(function.body, args), 0)
        except tuple(kind for each in function.errors for kind in each.kinds) as error:
            del self.frames[depth:]
            place = next(i for i, e in enumerate(function.errors) if isinstance(error, e.kinds))
            return (*self.run(function.handlers[place], args), place + 1)


def holds(base, index, value):
    """Whether a store of the value at the index would change nothing."""
    if isinstance(base, list):
        return base[index] is value
    part = base[index]
    return np.array_equal(part, value, equal_nan=True) and np.shares_memory(part, value)


def changed_part(store, base, params):
    """The elements that a store writes, where they are a view of the array; else all of it."""
    if store.kind not in ("set", "add") or not isinstance(base, np.ndarray):
        return base
    index = params["index"] if isinstance(params["index"], tuple) else (params["index"],)
    is_whole = any(each is Ellipsis for each in index)
    part = base[index if is_whole else (*index, ...)]  # an element is a view without axes
    return part if np.shares_memory(part, base) else base


def shares(value, base):
    """Whether a value is memory of `base`, or a list that holds such."""
    if isinstance(value, list):
        return value is base or any(shares(each, base) for each in value)
    arrays = isinstance(value, np.ndarray) and isinstance(base, np.ndarray)
    return arrays and np.shares_memory(value, base)
