"""What travels together is one value: what a pass of a loop saves, or a call, is one tuple.

In Core each value that a backward pass needs is handed over by itself, a list for each in a loop,
an output for each of a call, so that each transform sees what it is. Where they go the same way,
the text has one list of tuples, `steps.append((x, r))`, and one tuple, `y, saved = f_forward(x)`,
which the backward pass takes apart by the names that the values have in the forward pass.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping
from typing import Any

import gast

from s2s_ad import runtime
from s2s_ad.analysis import liveness
from s2s_ad.analysis.described import Described
from s2s_ad.core import form, values
from s2s_ad.core.callee import Callee, item_of
from s2s_ad.core.program import TEMPORARY, Hint, Program, list_of
from s2s_ad.core.saved import Unpack
from s2s_ad.emit.ready import Functions, Ready
from s2s_ad.emit.travels import Node, Travels
from s2s_ad.emit.tuples import Change, Saved

FEWEST = 3  # values that a call saves: taking two out of a tuple is no shorter than two names


def together(functions: Functions, opened: Collection[Any]) -> Functions:
    """The functions in which what travels together is one value.

    Args:
        opened: those whose arguments and results others know too.
    """
    if not any(map(_saving, functions.values())):
        return functions
    functions, opened = _with_lists_together(functions, opened)
    return _with_saved_together(functions, opened)


def _saving(function: Ready) -> int:
    """How many values a function may save."""
    return sum(each.kind == "append" for each in function.stores.values()) + function.program.kept


# ---- lists ---------------------------------------------------------------------------------------


def _with_lists_together(functions: Functions, opened: Collection[Any]) -> tuple:
    travels = Travels({each: ready.program for each, ready in functions.items()}, opened)
    moved = _popped_for_good(travels)
    groups = _lists_alike(travels, moved)
    if not groups and not moved:
        return functions, opened
    dropped = {each for group in groups for each in group[1:]}
    change = Change(travels, dropped=dropped, moved=moved)
    for group in groups:
        change.tuples[group[0]] = group
    _call_items_alike(travels, change)
    for function, ready in functions.items():
        if function in opened:
            continue
        nodes = [Node(function, leaf) for leaf in ready.program.leaves()]
        change.inputs[function] = {i for i, each in enumerate(nodes) if change.is_gone(each)}
        atoms = [getattr(atom, "id", "") for atom in ready.program.outputs()]
        gone = {i for i, each in enumerate(atoms) if each and change.is_gone(Node(function, each))}
        change.outputs[function] = gone
    return change.made(functions, opened)


def _call_items_alike(travels: Travels, change: Change) -> None:
    """What is popped is called as what was appended."""
    items = {
        node for group in change.tuples.values() for each in group for node in travels.items[each]
    }
    for node, hint, text, is_single in _appended_as(travels, items):
        change.called[travels.root(node)] = Hint(text, "derived") if text else hint
        if is_single:
            change.names[node] = hint  # it may stand where it is kept


def _appended_as(
    travels: Travels, items: Collection[Node]
) -> Iterator[tuple[Node, Hint, str, bool]]:
    """What is appended to lists as one of these classes: its hint, what it may be called, and
    whether nothing else reads it."""
    blocks: dict[int, tuple[Described, Mapping[str, int]]] = {}
    for node, block in travels.appended:
        if travels.root(node) not in items:
            continue
        if id(block) not in blocks:
            counts = liveness.counts(block.body, block.outputs())
            blocks[id(block)] = Described(block), counts
        described, counts = blocks[id(block)]
        hint = block.hints.get(node.name, TEMPORARY)
        text = hint.text or described.text(node.name) or described.kind(node.name)
        yield node, hint, text, counts[node.name] == 1


def _lists_alike(travels: Travels, moved: Collection[Node]) -> list[list[Node]]:
    """The classes of lists to which the same happens, which are one list each.

    Args:
        moved: classes that are popped from without a copy, so that it does not matter who has one.
    """
    alike: defaultdict[frozenset, list[Node]] = defaultdict(list)
    for root, events in travels.events.items():
        if root not in travels.mixed and _is_plain_list(events):
            happens = (each for each in events if root not in moved or each[0] != "copied")
            alike[frozenset(happens)].append(root)
    groups = [group for group in alike.values() if len(group) > 1]
    while True:  # lists in lists are one only if these are
        fine = [group for group in groups if _holders_alike(travels, group, groups)]
        if len(fine) == len(groups):
            return groups
        groups = fine


def _popped_for_good(travels: Travels) -> set[Node]:
    """The lists that nobody has any more when they were popped from the list that holds them."""
    plain = {
        root
        for root, events in travels.events.items()
        if root not in travels.mixed and _is_plain_list(events) and _count(events, "popped") == 1
    }
    holders: defaultdict[Node, list[Node]] = defaultdict(list)
    for items, nodes in travels.items.items():
        for each in nodes & plain:
            holders[each].append(items)
    return {
        each
        for each, (first, *others) in holders.items()
        if not others and first in plain and not _count(travels.events[first], "copied")
    }


def _count(events: Mapping[tuple, int], kind: str) -> int:
    """In how many blocks that happens to a list."""
    return sum(each[0] == kind for each in events)


def _is_plain_list(events: Mapping[tuple, int]) -> bool:
    """Whether a list begins empty, and is appended to and popped once in a block, in no `try`."""
    if any(count > 1 for count in events.values()):
        return False
    blocks = defaultdict(set)
    for kind, *rest in events:
        if kind in ("appended", "popped") and not rest[-1]:
            return False
        blocks[kind].add(rest[0])
    changed = blocks["appended"], blocks["popped"], blocks["copied"]
    apart = sum(map(len, changed)) == len(set().union(*changed))
    return bool(blocks["made"] and blocks["appended"] and blocks["popped"]) and apart


def _holders_alike(travels: Travels, group: list[Node], groups: list[list[Node]]) -> bool:
    """Whether the lists that hold the lists of a group, if any, are a group of their own."""
    holders = [{h for h, held in travels.items.items() if each in held} for each in group]
    if not any(holders):
        return True
    several = {each for found in holders for each in found}
    single = all(len(found) == 1 for found in holders) and len(several) == len(group)
    return single and any(several <= set(other) for other in groups)


# ---- what calls save -----------------------------------------------------------------------------


def _with_saved_together(functions: Functions, opened: Collection[Any]) -> Functions:
    programs = {each: ready.program for each, ready in functions.items()}
    travels = Travels(programs, opened, lists=Travels(programs, opened))
    change = Change(travels)
    for function, program in programs.items():
        if function not in opened and program.kept:
            _call_alike(travels, change, function, program)
            for saved in _saved_alike(travels, function, program):
                if change.join(function, saved):
                    _take_arguments_in(travels, change, function, saved)
    functions, opened = change.made(functions, opened)
    return functions


def _call_alike(travels: Travels, change: Change, function: Callee, program: Program) -> None:
    """What is saved has one name in the forward pass and in the backward pass."""
    atoms = program.outputs()
    described = Described(program)
    for slot in range(len(atoms) - program.kept, len(atoms)):
        roots = _roots(travels, function, slot)
        inputs = _inputs(travels, roots) if roots and not roots & travels.mixed else None
        name = getattr(atoms[slot], "id", "")
        hint = program.hints.get(name, TEMPORARY)
        if hint.kind != "user":
            text = described.text(name)
            hint = Hint(text or _list_word(travels, function, slot) or hint.text, "derived")
        if hint.text:
            change.names[Node(function, name)] = hint
            change.called.update(dict.fromkeys(roots, hint))
        for backward, index in (inputs or {}).items() if hint.text else ():
            leaf = travels.functions[backward].leaves()[index]
            change.names[Node(backward, leaf)] = hint


def _list_word(travels: Travels, function: Callee, slot: int) -> str:
    """What an output that is a list is called after its items."""
    lists = [travels.list_of(each) for each in travels.outputs.get((function, slot), ())]
    items = {node for each in lists for node in travels.items.get(each, ())}
    words = {list_of(text) for _, _, text, _ in _appended_as(travels, items)}
    return words.pop() if len(words) == 1 else ""


def _roots(travels: Travels, function: Callee, slot: int) -> frozenset[Node]:
    """The classes of an output of a function."""
    return frozenset(travels.root(each) for each in travels.outputs.get((function, slot), ()))


def _saved_alike(travels: Travels, function: Callee, program: Program) -> list[Saved]:
    count = len(program.outputs())
    alike: defaultdict[frozenset, list[int]] = defaultdict(list)
    roots: dict[int, frozenset[Node]] = {}
    for slot in range(count - program.kept, count):
        roots[slot] = _roots(travels, function, slot)
        if _is_saved_alone(travels, function, slot, roots[slot]):
            alike[frozenset(frozenset(travels.events[r]) for r in roots[slot])].append(slot)
    found = []
    for slots in alike.values():
        inputs = [_inputs(travels, roots[slot]) for slot in slots]
        fine = all(inputs) and len({frozenset(each) for each in inputs}) == 1
        kept = any(event[0] == "item" for r in roots[slots[0]] for event in travels.events[r])
        if len(slots) >= (2 if kept else FEWEST) and fine:
            given = {g: tuple(each[g] for each in inputs) for g in inputs[0]}
            if all(len(set(each)) == len(each) for each in given.values()):
                found.append(Saved(tuple(slots), given, tuple(roots[slot] for slot in slots)))
    return found


def _is_saved_alone(travels: Travels, function: Callee, slot: int, roots: frozenset[Node]) -> bool:
    """Whether classes hold nothing but one output of a function, on its way to other functions."""
    born = [each for root in roots for each in travels.given.get(root, ())]
    return (
        bool(roots)
        and not roots & travels.mixed
        and all(each.function is function and each.slot == slot for each in born)
        and all(count == 1 for root in roots for count in travels.events[root].values())
    )


def _inputs(travels: Travels, roots: Collection[Node]) -> dict[Callee, int]:
    """The functions that a value is handed to, and as which input; {} where calls differ."""
    found: defaultdict[Callee, list[int]] = defaultdict(list)
    for each in (each for root in roots for each in travels.handed.get(root, ())):
        found[each.function].append(each.slot)
    for function, slots in found.items():
        if len(set(slots)) > 1 or len(slots) != travels.calls[function]:
            return {}
    return {function: slots[0] for function, slots in found.items()}


# ---- what calls are given and save ---------------------------------------------------------------


def _take_arguments_in(travels: Travels, change: Change, function: Callee, saved: Saved) -> None:
    """Let a call save arguments that travel with what it saves.

    `steps.append((h, step))` after `h_2, step = f_forward(h)` becomes `steps.append(step)`.
    """
    if len(saved.inputs) != 1:
        return
    (backward, inputs), *_ = saved.inputs.items()
    known = _kept_beside(travels, function, saved.slots[0])
    taken = _given_beside(travels, backward, inputs[0])
    if known is None or taken is None or set(known) != set(taken):
        return
    program = travels.functions[function]
    slots = {items: set(known[items]) & set(taken[items]) for items in known}
    pairs = [{(known[items][k], taken[items][k]): k for k in slots[items]} for items in known]
    for argument, given in sorted(set.intersection(*map(set, pairs))):
        fact = program.facts[program.leaves()[argument]]
        if isinstance(fact, values.List) or given in change.inputs[backward]:
            continue
        for items, found in zip(known, pairs, strict=True):
            change.slots[items].add(found[argument, given])
        change.inputs[backward].add(given)
        change.again.setdefault(function, []).append(argument)
        change.taken.setdefault(backward, []).append(given)


def _kept_beside(
    travels: Travels, function: Callee, slot: int
) -> dict[Node, dict[int, int]] | None:
    """For the lists that an output is kept in: part of a tuple -> the argument that it is.

    None where a call's output goes elsewhere.
    """
    found: dict[Node, dict[int, int]] = {}
    for each in travels.results:
        if each.function is not function or each.slot != slot:
            continue
        name = _item(each.block, each.call.target, slot)
        whole = next((w for w in _appended(each.block) if name in form.reads(w[1])), None)
        if whole is None:
            return None
        items = travels.list_of(Node(each.node.function, whole[0]))
        args = [getattr(atom, "id", None) for atom in each.call.operands]
        parts = [getattr(atom, "id", "") for atom in whole[1].elts]
        given = {k: args.index(part) for k, part in enumerate(parts) if part in args}
        if found.setdefault(items, given) != given:
            return None
    return found


def _given_beside(
    travels: Travels, function: Callee, slot: int
) -> dict[Node, dict[int, int]] | None:
    """For the lists that an input comes from: part of a tuple -> the input that it is.

    A part that is read elsewhere too is left out.
    """
    found: dict[Node, dict[int, int]] = {}
    for each in travels.operands:
        if each.function is not function or each.slot != slot:
            continue
        args = [getattr(atom, "id", "") for atom in each.call.operands]
        parts, items = _parts_with(travels, each.node.function, each.block, args[slot])
        counts = liveness.counts(each.block.body, each.block.outputs())
        given = {
            k: args.index(part) for k, part in parts.items() if part in args and counts[part] == 1
        }
        if items is None or found.setdefault(items, given) != given:
            return None
    return found


def _item(block: Program, result: str, slot: int) -> str | None:
    return next((s.target for s in block.body if item_of(s) == (result, slot)), None)


def _appended(block: Program) -> Iterator[tuple[str, gast.Tuple]]:
    """The tuples that a block appends to lists."""
    for each in block.body:
        if isinstance(each, form.Op) and each.function is runtime.list_append:
            items, whole = each.operands
            if isinstance(whole, gast.Tuple):
                yield items.id, whole


def _parts_with(
    travels: Travels, function: Any, block: Program, name: str
) -> tuple[dict[int, str], Node | None]:
    """The parts of the tuple that a name is a part of, and the list that it comes from."""
    made = {each.target: each for each in block.body if isinstance(each, form.Op)}
    item = item_of(made[name]) if name in made else None
    result = "" if item is None else item[0]
    if result not in made or not isinstance(made[result].function, Unpack):
        return {}, None
    whole = form.reads(made[result])[0]
    popped = item_of(made[whole]) if whole in made else None
    if popped is None or made[popped[0]].function is not runtime.list_pop:
        return {}, None
    parts = {
        item[1]: n for n, each in made.items() if (item := item_of(each)) and item[0] == result
    }
    return parts, travels.list_of(Node(function, form.reads(made[popped[0]])[0]))
