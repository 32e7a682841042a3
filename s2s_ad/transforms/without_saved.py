"""Calls whose backward pass restores what they saved, in terms of functions that save nothing.

Every transform sees a program in this form: what was saved carries no derivative and no batch.
"""

from __future__ import annotations

from typing import Any

from s2s_ad.core import form, tree
from s2s_ad.core.builder import fresh_name
from s2s_ad.core.callee import item_of
from s2s_ad.core.program import Program
from s2s_ad.core.rule import ITEM
from s2s_ad.core.saved import PACK, RestoringCallee, SavingCallee
from s2s_ad.transforms.calls import quiet


def without_saved(program: Program, *, real: bool = True) -> Program:
    """The program without calls that restore; those that save are only there for what they save.

    Where that is not to be `real`, because nothing will read it, it is an empty value.
    """
    if not any(isinstance(each.rule, SavingCallee | RestoringCallee) for each in program.body):
        return program
    saving: dict[str, tuple[form.Op, SavingCallee]] = {}
    read = _read_outputs(program)
    facts, body, plain = dict(program.facts), [], {}
    for statement in program.body:
        item = item_of(statement)
        if isinstance(statement, form.Effect):
            body.append(statement)
        elif isinstance(call := statement.rule, RestoringCallee):
            args = statement.operands
            operands = [*args[: call.index], *args[call.index + 1 :]]
            body.append(statement.with_call(call.plain(), operands))
        elif isinstance(call, SavingCallee):
            saving[statement.target] = statement, call
            body += [statement] if real else []
            if not real and call.plain.effects and statement.target not in read:
                alone = statement.beside(fresh_name(), call.plain, statement.operands)
                items = facts[statement.target].items[:-1]
                facts[alone.target] = tree.tuple_of(items) if call.plain.several else items[0]
                body.append(alone)  # for what it does: it may raise, or print
        elif item is not None and item[0] in saving:
            body += _item(statement, *saving[item[0]], item[1], real, plain, facts)
        else:
            body.append(statement)
    return program.with_(body=tuple(body), facts=facts)


def _read_outputs(program: Program) -> set[str]:
    """The calls of which something reads another output than what they save."""
    calls = {each.target: each.rule for each in program.body if isinstance(each, form.Op)}
    items = filter(None, map(item_of, program.body))
    return {
        name
        for name, index in items
        if isinstance(call := calls.get(name), SavingCallee)
        and index < len(call.plain.program.outputs())
    }


def _item(
    statement: form.Op,
    whole: form.Op,
    call: SavingCallee,
    index: int,
    real: bool,
    plain: dict[str, str],
    facts: dict[str, Any],
) -> list[form.Op]:
    """An output of a call that saves, or what it saves; `plain` names results of plain calls."""
    name = whole.target
    if index == len(call.plain.program.outputs()):
        return [statement] if real else [statement.with_call(PACK, [])]
    function = quiet(call.plain) if real and call.plain.effects else call.plain
    if not call.plain.several:
        return [statement.with_call(function, whole.operands)]
    found = []
    if name not in plain:
        plain[name] = fresh_name()
        items = facts[name].items[:-1]
        facts[plain[name]] = tree.tuple_of(items)
        found.append(whole.beside(plain[name], function, whole.operands))
    params = {"index": form.constant(index)}
    return [*found, statement.with_call(ITEM, [form.name(plain[name])], params)]
