"""The storage plan: how each value that the backward pass reads is had."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass

import gast

from s2s_ad.core import form, values
from s2s_ad.core.callee import Compound
from s2s_ad.storage.costs import (
    NUMBER,
    SHARED,
    cost_of_computing,
    cost_of_keeping,
    is_small,
    size,
    value_of,
)
from s2s_ad.storage.cut import Value, cheapest


@dataclass(frozen=True, slots=True)
class Plan:
    """What is kept, and what is computed again, in the order of the forward pass."""

    kept: list[str]
    again: list[form.Op]


def decide(
    body: Sequence[form.Statement],
    needed: Iterable[str],
    facts: Mapping[str, values.AbstractValue],
    *,
    passing: Collection[str] = (),
    around: Collection[str] = (),
    free: Set[str] = frozenset(),
    restored: Collection[str] = (),
    only_kept: Collection[str] = (),
    asked_again: Collection[str] = (),
    either: Collection[str] = (),
    repeated: bool,
) -> Plan:
    """How the names that are `needed` of a forward pass are had.

    Args:
        body: the forward pass.
        needed: what the backward pass reads; names that nothing here speaks of are at hand.
        facts: the abstract values.
        passing: leaves that are gone when the backward pass runs, like the values that a loop
            carries from pass to pass.
        around: leaves that are kept by whoever runs both passes, which may need them anyway.
        free: names that cost nothing to keep, because they are kept anyway.
        restored: arrays that are had again by putting back a few elements.
        only_kept: what that needs, the elements among it, and nothing else can stand for.
        asked_again: conditions that are asked again rather than kept, where what they ask about
            is at hand and they cost little.
        either: what one half computes or the other; of that only small values are kept.
        repeated: whether the forward pass runs many times before the backward pass does.
    """
    described = {name: Value(cost_of_keeping(facts[name]), None) for name in passing}
    for name in around:
        described[name] = Value((cost_of_keeping(facts[name]) or 0) // SHARED, None)
    computed = {each.target: each for each in body if isinstance(each, form.Op)}
    for name, statement in computed.items():
        described[name] = value_of(statement, facts, repeated=repeated)
    for name in described.keys() & {*asked_again}:
        cost = cost_of_computing(computed[name], facts[name]) if name in computed else None
        if cost is not None and cost <= NUMBER:
            described[name] = Value(described[name].keep, 0, described[name].operands)
    for name in _shares_memory(computed, described, facts) if repeated else ():
        described[name] = Value(None, 0, described[name].operands)
    for name in restored:
        described[name] = Value(described[name].keep, NUMBER, described[name].operands)
    for name in only_kept:
        described[name] = Value(cost_of_keeping(facts[name]), None)  # a view, too
    for name in either:
        keep = described[name].keep if is_small(computed[name], facts[name]) else None
        described[name] = Value(keep, 0, described[name].operands)
    for name in described.keys() & free:
        described[name] = Value(0, described[name].again, described[name].operands)
    kept, again = cheapest(needed, described)
    return Plan(
        [name for name in described if name in kept],
        [statement for name, statement in computed.items() if name in again],
    )


def _shares_memory(
    computed: Mapping[str, form.Op],
    described: Mapping[str, Value],
    facts: Mapping[str, values.AbstractValue],
) -> Iterator[str]:
    """The views of arrays that nothing here may change: who keeps one keeps all of the array."""

    def fact(atom: gast.AST) -> values.AbstractValue:
        return facts[atom.id] if isinstance(atom, gast.Name) else values.of_constant(atom.value)

    changed = set()
    for statement in computed.values():
        if isinstance(statement.rule, Compound):
            changed.update(statement.reads)
        elif statement.rule.updates:
            changed.update(form.reads(statement.operands[0]))
    closed = set()
    for name, statement in computed.items():
        named = statement.operands and isinstance(statement.operands[0], gast.Name)
        if not named or size(facts[name]) == 1:
            continue
        if not statement.rule.is_view(statement.operands, fact):
            continue
        array = getattr(statement.operands[0], "id", "")
        if isinstance(facts.get(array), values.List):
            continue  # an item is kept without the list
        others = {*statement.reads} - {array}
        known = array in closed or (array in described and described[array].keep is not None)
        if known and array not in changed and not described.keys() & others:
            closed.add(name)
            yield name
