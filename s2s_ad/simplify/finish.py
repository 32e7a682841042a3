"""The last simplifications before text: they are not undone by a further transform."""

from __future__ import annotations

import itertools
import operator
from collections import Counter
from collections.abc import Collection, Mapping
from functools import partial
from typing import Any

import gast
import numpy as np

from s2s_ad.analysis import liveness
from s2s_ad.analysis.cells import OUTSIDE, Edge
from s2s_ad.analysis.copies import Costs, with_copies
from s2s_ad.analysis.memory import Memory
from s2s_ad.core import form, values
from s2s_ad.core.builder import DERIVED
from s2s_ad.core.callee import Compound, callee_of, item_of
from s2s_ad.core.passes import Pass
from s2s_ad.core.program import TEMPORARY, CopyReason, Program
from s2s_ad.core.regions import Loop, everywhere, region_of, with_blocks
from s2s_ad.core.rewriting import rewritten
from s2s_ad.core.rule import ITEM, Item
from s2s_ad.simplify.known_lengths import (
    by_lengths_of_inputs,
    counted_late,
    is_array,
    lengths,
)


def erase_markers(program: Program) -> Program:
    """Markers have done their work: names take the value that a marker passed on.

    Example:
        >>> from s2s_ad import stop_gradient
        >>> from s2s_ad.check.passes import after
        >>> def f(s, v):
        ...     return stop_gradient(s) - v
        >>> print(after(ERASE, f, 1.0, 2.0))
        f(s: float, v: float):
            t1 = s - v
            return t1
    """
    return rewritten(program, lambda each: each.operands[0] if each.rule.marker else each)


def nearest_shapes(program: Program, *, at_hand: bool = True) -> Program:
    """Read a shape off an input of the same shape rather than keep a value for its shape alone.

    In the body of a loop the inputs are what is the same in each pass. What a loop ends with, and
    is computed for more than that, is read itself if it is `at_hand`: it is a variable.

    Example:
        >>> from s2s_ad.check.passes import after
        >>> def f(x):
        ...     y = np.sin(x)
        ...     return np.ones_like(y)
        >>> print(after(NEAREST, f, np.ones(3)))
        f(x: f64[n]):
            y = np.sin(x)
            t1 = np.ones_like(x)
            return t1
    """
    return _nearest(program, program.leaves(), at_hand=at_hand)


def nearest_shapes_in_block(program: Program) -> Program:
    """`nearest_shapes` of a block, whose inputs need not all be there when it runs."""
    return _nearest(program, _read_anyway(program, program.leaves()), at_hand=False)


def without_shapes(program: Program) -> Program:
    """What a backward pass would be handed for its shape alone is made of lengths at hand.

    Args:
        program: both sweeps over a block; its leaves are at hand in the second, too.
    """
    inputs = [name for name in program.leaves() if is_array(program.facts[name])]
    wanted = _handed_for_shapes(program)
    if not wanted:
        return program
    body, facts = [], dict(program.facts)
    for statement in program.body:
        position, made = statement.rule.like_position, None
        atoms = statement.operands if statement.phase == "backward" and position is not None else ()
        if position is not None and atoms and getattr(atoms[position], "id", None) in wanted:
            made = _of_known_shape(program, statement, position, inputs, wanted)
        *before, last = made or [statement]
        facts |= {each.target: values.Scalar(int) for each in before}
        body += [*before, last]
    return program.with_(body=tuple(body), facts=facts)


def _handed_for_shapes(program: Program) -> set[str]:
    """The results of functions that the backward sweep reads for their shape alone."""
    results = {each.target for each in program.body if item_of(each) or callee_of(each)}
    read, likes = set(), set()
    for statement in program.body:
        if statement.phase == "backward":
            position = statement.rule.like_position
            like = None if position is None else statement.operands[position]
            names = [name for name in statement.reads if name != getattr(like, "id", None)]
            read.update(names)
            likes.add(getattr(like, "id", ""))
    read.update(atom.id for atom in program.outputs() if isinstance(atom, gast.Name))
    early = {each.target for each in program.body if each.phase != "backward"}
    return (likes & results & early) - read


def _read_anyway(block: Program, leaves: list[str]) -> list[str]:
    """The leaves that a block reads each time it runs; others may be undefined on its path."""
    read = {name for each in block.body if region_of(each) is None for name in each.reads}
    return [leaf for leaf in leaves if leaf in read]


def _nearest(program: Program, leaves: list[str], *, at_hand: bool) -> Program:
    """The program with shapes read off these leaves; one that stays as it is remembers them."""
    if program.__dict__.get("nearest_are") == (leaves, at_hand):
        return program
    made = _read_off(program, leaves, at_hand=at_hand)
    if made is program:
        program.__dict__["nearest_are"] = leaves, at_hand
    return made


def _in_blocks(program: Program, *, at_hand: bool) -> Program:
    """The program with shapes read off in its blocks."""
    body = []
    for statement in program.body:
        region = region_of(statement)
        if region is not None:
            loop = region if isinstance(region, Loop) else None
            blocks = [
                _nearest(
                    each,
                    _read_anyway(each, loop.leaves(each).fixed if loop else each.leaves()),
                    at_hand=at_hand,
                )
                for each in region.blocks
            ]
            statement = with_blocks(statement, region, blocks)
        body.append(statement)
    return program.with_body(body)


def _read_off(program: Program, leaves: list[str], *, at_hand: bool) -> Program:
    program = _in_blocks(program, at_hand=at_hand)
    inputs = [name for name in leaves if is_array(program.facts[name])]
    made = {each.target: each for each in program.body if isinstance(each, form.Op)}
    for_shapes = _only_for_shapes(program, made)
    counted = set() if at_hand else counted_late(program)
    body, facts, popped = [], dict(program.facts), []
    for statement in program.body:
        rule = statement.rule
        if _is_popped(program, statement, made):
            popped.append(statement.target)
        if rule.length:
            if not (at_hand and _is_end(program, statement, 0, made, inputs)):
                statement = _nearest_length(program, statement, inputs)
            *before, statement = by_lengths_of_inputs(program, statement, inputs, counted)
            facts |= {each.target: values.Scalar(int) for each in before}
            body += before
            if statement.rule.length:
                statement = _before_elementwise(program, statement, 0, made, counted)
        elif rule.like_position is not None:
            if not (at_hand and _is_end(program, statement, rule.like_position, made)):
                statement = _nearest_like(program, statement, rule.like_position, inputs, made)
            statement = _made_directly(program, statement, rule.like_position, made)
            if statement.operands:
                near = [*inputs, *popped]
                *before, statement = _with_known_shape(
                    program, statement, rule.like_position, near, for_shapes, made
                )
                facts |= {each.target: values.Scalar(int) for each in before}
                body += before
        elif rule.shape_position is not None:
            statement = _before_elementwise(program, statement, rule.shape_position, made)
        body.append(statement)
    return (
        program.with_body(body)
        if facts == program.facts
        else program.with_(body=tuple(body), facts=facts)
    )


def _is_popped(program: Program, statement: form.Statement, made: Made) -> bool:
    """Whether a statement gives an array that was kept, and is at hand from there on."""
    item = item_of(statement)
    source = None if item is None else made.get(item[0])
    return source is not None and source.rule.at_end and is_array(program.facts[statement.target])


Made = dict[str, form.Op]  # how each name of a body is made
FILLED = {0.0: np.zeros, 1.0: np.ones}


def _nearest_like(
    program: Program, statement: form.Statement, position: int, inputs: list[str], made: Made
) -> form.Statement:
    """The operation with an input for the operand that gives shape and dtype."""
    like = statement.operands[position]
    if not isinstance(like, gast.Name):  # a number that became known
        return statement
    fact = program.facts.get(like.id)
    found = next((each for each in inputs if program.facts[each] == fact), None)
    if like.id in inputs:
        return statement
    found = _before_loop(program, like, made) if found is None else form.name(found)
    return statement if found is None else form.substitute(statement, {like.id: found})


def _is_end(
    program: Program,
    statement: form.Statement,
    position: int,
    made: Made,
    starts: list[str] | None = None,
) -> bool:
    """Whether an operand is what a loop ends with, and is computed for more than its shape.

    Args:
        starts: where they are given, what the loop starts from has to be one of these.
    """
    like = statement.operands[position]
    item = item_of(made[like.id]) if getattr(like, "id", "") in made else None
    source = None if item is None else made.get(item[0])
    loop = None if source is None else region_of(source)
    if item is None or source is None or not isinstance(loop, Loop) or item[1] >= loop.carried:
        return False
    start = getattr(loop.parts(source.operands).carried[item[1]], "id", "")
    return (starts is None or start in starts) and _is_computed(program, like, made)


def _is_computed(program: Program, like: gast.AST, made: Made) -> bool:
    """Whether what a loop ends with is computed for more than its shape."""
    item: Any = item_of(made[like.id])
    loop: Any = region_of(made[item[0]])
    read = _read_for_values(program)
    found = [(each.target, item_of(each)) for each in made.values()]
    others = {at[1] for name, at in found if at and at[0] == item[0] and name in read - {like.id}}
    return like.id in read or _is_carried_for(loop, item[1], others)


def _made_directly(
    program: Program, statement: form.Statement, position: int, made: Made
) -> form.Statement:
    """`np.ones(n)` for ones like `np.zeros(n)`."""
    value, like = statement.operands[0], statement.operands[position]
    source = made.get(getattr(like, "id", ""))
    if source is None or not position or not isinstance(value, gast.Constant):
        return statement
    function = source.rule.fillings.get(value.value)
    facts = program.fact(like), program.facts[statement.target]
    dtypes = [values.strong_dtype(each) for each in facts]
    if function is None or values.missing(dtypes) or dtypes[0] != dtypes[1]:
        return statement
    return statement.with_call(function, [], source.parameters)


def _with_known_shape(
    program: Program,
    statement: form.Statement,
    position: int,
    inputs: list[str],
    for_shapes: set[str],
    made: Made,
) -> list[form.Statement]:
    """The array made of its lengths, or else like something that takes less work."""
    found = _of_known_shape(program, statement, position, inputs, for_shapes)
    if found is not None:
        return found
    like = getattr(statement.operands[position], "id", None)
    if like not in for_shapes:
        return [statement]
    return [_before_elementwise(program, statement, position, made)]


def _of_known_shape(
    program: Program,
    statement: form.Statement,
    position: int,
    inputs: list[str],
    for_shapes: set[str],
) -> list[form.Statement] | None:
    """What makes the same array of its lengths, and before that what reads these.

    `np.zeros(3)` for zeros like a value of three, `np.ones(len(x))` for ones like `A @ x`.
    """
    like = statement.operands[position]
    facts = program.fact(like), program.facts[statement.target]
    value = statement.operands[0] if position else form.constant(0.0)
    filled = isinstance(value, gast.Constant) and type(value.value) is float
    known = all(is_array(each) and values.is_dtype(each.dtype, float) for each in facts)
    made = position or statement.rule.zeros
    if not (known and filled and made) or getattr(like, "id", None) in inputs:
        return None
    if like.id not in for_shapes and _goes_on(program, like):
        return None
    dims = facts[0].shape
    if like.id not in for_shapes and not all(type(each) is int for each in dims):
        return None
    found = lengths(program, statement, dims, inputs)
    if found is None:
        return None
    before, nodes = found
    function = FILLED.get(value.value, np.full)
    single = len(nodes) == 1 and function is not np.full  # whose shape is a tuple
    whole = nodes[0] if single else gast.Tuple(nodes, gast.Load())
    made = statement.with_call(function, [] if value.value in FILLED else [value], {"shape": whole})
    return [*before, made]


def _goes_on(program: Program, like: gast.AST) -> bool:
    """Whether it is what a loop has made of a variable of the user's."""
    made = next((each for each in program.body if each.target == like.id), None)
    named = program.hints.get(like.id, TEMPORARY).kind == "user"
    return made is not None and named and made.rule is ITEM


def _only_for_shapes(program: Program, made: Made) -> set[str]:
    """The arrays that it takes work to compute and that are read for their shape alone."""
    counts, likes = liveness.counts(program.body, program.outputs()), Counter()
    for statement in program.body:
        position = statement.rule.like_position
        if position is not None:
            likes[getattr(statement.operands[position], "id", None)] += 1
    found = {name for name, count in likes.items() if name in made and counts[name] == count}
    return {
        name for name in found if _takes_work(made[name]) and _fits(program, name, made, counts)
    }


def _takes_work(statement: form.Op) -> bool:
    rule = statement.rule
    return not (isinstance(rule, Compound | Item) or rule.cheap or rule.view)


def _fits(program: Program, name: str, made: Made, counts: Counter) -> bool:
    """Whether nothing is raised by what computes an array, and nothing else."""
    if name not in made:
        return True
    statement = made[name]
    if isinstance(statement.rule, Compound | Item):
        return False
    operands = [program.fact(each) for each in statement.operands]
    if not statement.rule.fits(operands, program.facts[name], form.literals(statement)):
        return False
    alone = [each for each in statement.reads if counts[each] == 1]
    return all(_fits(program, each, made, counts) for each in alone)


def _before_loop(program: Program, like: gast.AST, made: Made) -> gast.AST | None:
    """What a loop starts from, for the array that it ends with: each pass keeps the shape.

    Only where nobody else reads the end, nor its passes for anything else, so that the loop need
    not compute it at all.
    """
    counts = liveness.counts(program.body, program.outputs())
    if counts[like.id] > 1:
        return None
    item = item_of(made[like.id]) if like.id in made else None
    statement = None if item is None else made.get(item[0])
    loop = None if statement is None else region_of(statement)
    if item is None or statement is None or not isinstance(loop, Loop):
        return None
    start = loop.parts(statement.operands).carried[item[1]]
    leaf, end = loop.leaves(loop.body).carried[item[1]], loop.results()[0][item[1]]
    facts = [program.facts[like.id], program.fact(start), loop.body.fact(end)]
    arrays = isinstance(start, gast.Name) and all(map(is_array, facts))
    kept = arrays and loop.body.facts[leaf].shape == facts[2].shape
    if not (
        kept and facts[1].dtype is not None and values.is_dtype(facts[0].dtype, facts[1].dtype)
    ):
        return None
    return None if _is_computed(program, like, made) else start


def _read_for_values(program: Program) -> set[str]:
    """The names that are read for more than their shape and dtype."""
    found = {each.id for each in program.outputs() if isinstance(each, gast.Name)}
    for statement in program.body:
        rule = statement.rule
        if not (rule.of_shape or rule.length):
            like = None if rule.like_position is None else statement.operands[rule.like_position]
            found.update(name for name in statement.reads if name != getattr(like, "id", None))
    return found


def _is_carried_for(loop: Loop, index: int, others: set[int]) -> bool:
    """Whether what is carried at an index is needed for other results, or for effects."""
    ends, leaves = loop.body.outputs(), loop.leaves(loop.body).carried
    runs, before = set(others), None
    while runs != before:
        before = set(runs)
        last = [] if loop.results()[1] is None else [loop.results()[1]]
        atoms = [*(ends[each] for each in runs), *(last if runs else [])]
        needed = {each.id for each in atoms if isinstance(each, gast.Name)}
        for statement in reversed(loop.body.body):
            if isinstance(statement, form.Effect) or statement.target in needed:
                needed.update(statement.reads)
        runs |= {each for each, leaf in enumerate(leaves) if leaf in needed}
    return index in runs


def _nearest_length(
    program: Program, statement: form.Statement, inputs: list[str]
) -> form.Statement:
    """The length read off an input."""
    name, params = statement.operands[0].id, form.literals(statement)
    fact = program.facts[name]
    if name in inputs or not is_array(fact):
        return statement
    dims = (fact.shape[params["axis"]],) if "axis" in params else fact.shape
    ways = (operator.eq, *(() if statement.phase != "backward" else (values.are_taken_for_equal,)))
    for are_equal, name in itertools.product(ways, inputs):
        shape = program.facts[name].shape
        own = [(each,) for each in shape] if "axis" in params else [shape]
        same = [are_equal(each, dims) for each in own]
        if any(same):
            found = {"axis": form.constant(same.index(True))} if "axis" in params else {}
            return statement.with_call(statement.function, [form.name(name)], found)
    return statement


def _before_elementwise(
    program: Program,
    statement: form.Statement,
    position: int,
    made: Made,
    counted: Collection[str] = (),
) -> form.Statement:
    """The operation with what elementwise operations that nobody else reads, and that cannot
    fail, are applied to: it has the same shape. What is `counted` is read for nothing else where
    the operation runs.

    Before: `y = x[1:] - x[:-1]; b = unbroadcast(w, y)`; after: `b = unbroadcast(w, x[1:])`.
    Before: `y = x**2; n = np.size(y)`; after: `n = np.size(x)`.
    """
    like = found = statement.operands[position]
    fact = program.fact(like)
    counts = liveness.counts(program.body, program.outputs())
    while is_array(fact) and found.id in made:
        if counts[found.id] > 1 and like.id not in counted:
            break
        rule, args = made[found.id].rule, made[found.id].operands
        if not rule.elementwise or not rule.fits(list(map(program.fact, args)), fact, {}):
            break
        names = [each for each in args if isinstance(each, gast.Name)]
        source = next((each for each in names if program.facts.get(each.id) == fact), None)
        if source is None:
            break
        found = source
    return statement if found is like else form.substitute(statement, {like.id: found})


def keep_dimensions(program: Program) -> Program:
    """A reduction whose axis is put back at once keeps it.

    Example:
        >>> from s2s_ad.check.passes import after
        >>> def f(x):
        ...     return np.max(x, axis=1)[:, None]
        >>> print(after(KEEP_DIMENSIONS, f, np.ones((2, 3))))
        f(x: f64[n, m]):
            t1 = np.max(x, axis=1)
            t2 = np.max(x, axis=1, keepdims=True)
            return t2
    """
    counts = liveness.counts(program.body, program.outputs())
    reductions = {
        statement.target: statement for statement in program.body if statement.rule.reduction
    }

    def change(statement: form.Statement) -> form.Statement:
        source = None
        if statement.rule.inserts_axes:
            source = reductions.get(getattr(statement.operands[0], "id", ""))
        if source is None or counts[source.target] > 1:
            return statement
        params = form.literals(source)
        if "keepdims" in params or params.get("axis") != form.literals(statement)["axis"]:
            return statement
        keep = dict(source.parameters) | {"keepdims": form.constant(True)}
        return statement.with_call(source.function, source.operands, keep)

    return rewritten(program, change)


def divide(program: Program) -> Program:
    """A factor that is a reciprocal used once becomes a division.

    Example:
        >>> from s2s_ad.check.passes import after
        >>> def f(a, b):
        ...     r = 1.0 / b
        ...     return a * r
        >>> print(after(DIVIDE, f, 1.0, 2.0, derived=True))
        f(a: float, b: float):
            r = 1.0 / b
            t1 = a / b
            return t1
    """
    counts = liveness.counts(program.body, program.outputs())
    reciprocals: dict[str, gast.AST] = {}

    def change(statement: form.Statement) -> form.Statement:
        if statement.phase not in DERIVED:
            return statement
        if statement.function is operator.mul:
            return _as_quotient(statement, reciprocals, counts)
        if statement.function is operator.truediv and _is_one(statement.operands[0]):
            reciprocals[statement.target] = statement.operands[1]
        return statement

    return rewritten(program, change)


def _is_one(node: gast.AST) -> bool:
    return isinstance(node, gast.Constant) and node.value == 1


def _as_quotient(statement: form.Statement, reciprocals: dict, counts: Any) -> form.Statement:
    a, b = statement.operands
    for dividend, factor in ((a, b), (b, a)):
        name = getattr(factor, "id", None)
        if name in reciprocals and counts[name] == 1 and isinstance(dividend, gast.Name):
            return statement.with_call(operator.truediv, [dividend, reciprocals[name]])
    return statement


def own_outputs(program: Program, *, items: bool = False, numbers: bool = True) -> Program:
    """What is handed out shares no memory with what came in, nor with another output.

    Lists are lists of our own; their items are, too, where `items` says so. Without `numbers` a
    value without axes is left alone: between functions of ours it may be a Python number.

    Example:
        >>> from s2s_ad.check.passes import after
        >>> def f(x, y):
        ...     return y
        >>> print(after(OWN, f, np.ones(3), np.ones(3)))
        f(x: f64[n], y: f64[m]):
            t1 = np.copy(y)
            return t1
    """
    outputs = enumerate(program.outputs())
    sharing = [(slot, atom) for slot, atom in outputs if _may_share(program, atom, numbers)]
    if not sharing:
        return program
    reasons: dict[Edge, CopyReason] = {}
    memory, taken = Memory(program), {}
    costs = Costs(program)
    for slot, atom in sharing:
        here = Edge("end", (), len(program.body), slot)
        memory, reasons = _owned(program, memory, reasons, here, taken, costs)
        while items and (edges := _of_items(memory, memory.outputs[slot].items)):
            held: Any = memory.outputs[slot].items
            name, kind = memory.outside(held)
            reasons = reasons | {edges[0]: CopyReason(name, kind)}
            memory = Memory(program, cuts=reasons)
        if memory.outputs[slot].own is not None:
            taken[memory.outputs[slot].own] = atom.id
    return with_copies(program, reasons, reasons) if reasons else program


def _may_share(program: Program, atom: gast.AST, numbers: bool) -> bool:
    """Whether what is handed out may be memory of something else."""
    fact = program.fact(atom)
    if not isinstance(atom, gast.Name) or not isinstance(fact, values.Array | values.List):
        return False
    return fact.shape != () or (numbers and not _is_item(program, atom))


def _owned(
    program: Program,
    memory: Memory,
    reasons: dict[Edge, CopyReason],
    here: Edge,
    taken: Mapping[int, str],
    costs: Costs,
) -> tuple[Memory, dict[Edge, CopyReason]]:
    """The copies that make an output memory of its own: at the end, or on some path to it."""
    before, spent = (memory, reasons), 0.0
    while shared := _shared(memory, here.slot, taken):
        own: Any = memory.outputs[here.slot].own  # it has one: it is shared
        if shared[0] == OUTSIDE:
            reason = CopyReason(*memory.outside(own))
        else:
            reason = CopyReason(taken[shared[0]], "result")
        edges = memory.between(own, shared[0])
        if not _is_certain(program, program.outputs()[here.slot]):
            edges = [each for each in edges if each.kind == "view"]
            if not edges:
                return before  # a number
            best = edges[0]
        else:
            edges = [each for each in edges if each.kind == "end"]
            best = min(edges, key=costs.of, default=here)
            spent += costs.of(best)
            if spent >= costs.of(here):
                return before[0], before[1] | {here: reason}
        reasons = reasons | {best: reason}
        memory = Memory(program, cuts=reasons)
    return memory, reasons


def _shared(memory: Memory, slot: int, taken: Collection[int]) -> list[int]:
    """The cells outside, or of the outputs before, that an output may share memory with."""
    own = memory.outputs[slot].own
    if own is None:
        return []
    return sorted(each for each in {OUTSIDE, *taken} if each == own or each in memory.sharing[own])


def _of_items(memory: Memory, items: int | None) -> list[Edge]:
    """Where arrays that came in are put into a list."""
    if items is None or OUTSIDE not in memory.sharing[items]:
        return []
    return [each for each in memory.between(items, OUTSIDE) if each.kind == "item"]


def _is_certain(program: Program, atom: gast.AST) -> bool:
    """Whether it is certain to be an array, which a number that comes from a branch is not."""
    if program.facts[atom.id].shape != () or atom.id in program.leaves():
        return True
    statement = next((s for s in program.body if s.target == atom.id), None)
    return statement is not None and statement.function is not ITEM


def _is_item(program: Program, atom: gast.Name) -> bool:
    """Whether it is an item of a list, which is a number where it has no axes."""
    statement = next((s for s in program.body if s.target == atom.id), None)
    if statement is None or statement.function is not operator.getitem:
        return False
    return isinstance(program.fact(statement.operands[0]), values.List)


DIVIDE = Pass("divide", everywhere(divide))
ERASE = Pass("erase", everywhere(erase_markers))
KEEP_DIMENSIONS = Pass("keep-dimensions", everywhere(keep_dimensions))
NEAREST = Pass("nearest-shapes", nearest_shapes)
OWN = Pass("own-outputs", partial(own_outputs, numbers=False))
OWN_ITEMS = Pass("own-items", partial(own_outputs, items=True))
