"""Effects of a batch: a print, assert or raise that reads samples happens once for each."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import gast

from s2s_ad.core import form
from s2s_ad.core.builder import Symbol, fresh_name, to_node
from s2s_ad.core.registry import rule_for
from s2s_ad.diagnostics import BatchError, Origin
from s2s_ad.transforms.batch.context import Batch


@dataclass(frozen=True, slots=True)
class Shown:
    """A text that differs from sample to sample: it is made where an effect shows it."""

    rule: Any
    operands: list
    origin: Origin | None

    def written(self, found: dict[str, Any]) -> gast.AST:
        """The expression; the values that it reads go into `found`, by name."""
        nodes = []
        for each in self.operands:
            if isinstance(each, Symbol):
                found[each.name] = each
            nodes.append(each.written(found) if isinstance(each, Shown) else to_node(each))
        return self.rule.shown(nodes)

    def error(self) -> BatchError:
        what = "a text that differs from sample to sample"
        return BatchError("S2S402", what, origin=self.origin)


def batch_effect(context: Batch, statement: form.Effect, atoms: dict[str, Any]) -> None:
    """Before: `print(x)`; after: `for sample in range(len(x)): print(x[sample])`."""
    read = [name for name in dict.fromkeys(statement.reads) if name in atoms]
    texts = {name: atoms[name] for name in read if isinstance(atoms[name], Shown)}
    if texts:
        found: dict[str, Any] = {}
        nodes = {name: each.written(found) for name, each in texts.items()}
        node = form.substitute(statement.node, nodes)
        statement = form.Effect(node, statement.origin, statement.phase)
        read, atoms = list(dict.fromkeys(statement.reads)), {**atoms, **found}
        read = [name for name in read if name in atoms]
    atoms = {name: value for name, value in atoms.items() if not isinstance(value, Shown)}
    batched = {
        name: context.gathered(atoms[name]) for name in read if context.is_batched(atoms[name])
    }
    if not batched:
        context.builder.effect(statement.node, atoms)
        return
    if _holds_of_all(statement.node, batched):
        context.builder.effect(statement.node, {**atoms, **batched})
        return
    sample = fresh_name()
    one = {
        name: gast.Subscript(form.name(value.name), form.name(sample), gast.Load())
        for name, value in batched.items()
    }
    body = form.substitute(statement.node, one)
    size = gast.Call(form.constant(len), [form.name(context.example.name)], [])
    loop = gast.For(
        target=form.name(sample, gast.Store),
        iter=gast.Call(form.constant(range), [size], []),
        body=[body],
        orelse=[],
        type_comment=None,
    )
    kept = {name: value for name, value in atoms.items() if name not in batched}
    kept |= {value.name: value for value in batched.values()}
    kept[context.example.name] = context.example
    context.builder.effect(loop, kept)


def _holds_of_all(node: gast.stmt, batched: Mapping[str, Any]) -> bool:
    """Whether one check of all samples says the same: `if np.any(x): raise ValueError("...")`."""
    if not isinstance(node, gast.If) or node.orelse:
        return False
    test, body = node.test, node.body
    if not (isinstance(test, gast.Call) and isinstance(test.func, gast.Constant)):
        return False
    rule = rule_for(test.func.value)
    plain = len(test.args) == 1 and isinstance(test.args[0], gast.Name) and not test.keywords
    return (
        rule is not None
        and rule.disjunction
        and plain
        and all(isinstance(each, gast.Raise) for each in body)
        and not any(name in batched for each in body for name in form.reads(each))
    )
