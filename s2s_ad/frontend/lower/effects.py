"""Effects: prints, logs, asserts and raises are kept whole, and run once, in the forward pass."""

from __future__ import annotations

import logging
import types
import warnings
from typing import Any

import gast

from s2s_ad.core import form, tree
from s2s_ad.core.builder import Symbol
from s2s_ad.core.registry import METHODS, rule_for
from s2s_ad.core.tree import Tree
from s2s_ad.diagnostics import UnsupportedError
from s2s_ad.frontend.lower.core import CONTINUE, Lowering, statement
from s2s_ad.frontend.resolve import Captured, unwrap

EFFECTS = (print, warnings.warn, logging.debug, logging.info, logging.warning, logging.error)
EFFECTS += (logging.critical, logging.exception, logging.log)
LOGGER_METHODS = ("debug", "info", "warning", "error", "critical", "exception", "log")
PURE = (abs, all, any, bool, complex, dict, enumerate, float, format, getattr, hasattr, int)
PURE += (isinstance, len, list, max, min, range, repr, reversed, round, set, sorted, str, sum)
PURE += (tuple, type, zip)
PURE_METHODS = {"format", "item", "join", "lower", "strip", "title", "tolist", "upper", *METHODS}


@statement(gast.Assert)
def asserted(lowering: Lowering, node: gast.Assert) -> Any:
    append(lowering, node)
    return CONTINUE


@statement(gast.Raise)
def raised(lowering: Lowering, node: gast.Raise) -> Any:
    append(lowering, node)
    return CONTINUE


def keep_statement(lowering: Lowering, node: gast.stmt) -> bool:
    """Keep the statement whole if it is an effect and nothing else."""
    if not is_effect(lowering, node):
        return False
    append(lowering, node)
    return True


def append(lowering: Lowering, node: gast.stmt) -> None:
    copy = kept(lowering, node)
    reads = {each: Symbol(lowering.builder, each) for each in form.reads(copy)}
    lowering.builder.effect(copy, reads)


def is_effect(lowering: Lowering, node: gast.stmt) -> bool:
    if isinstance(node, gast.Assert | gast.Raise | gast.Pass):
        return True
    if isinstance(node, gast.If):
        return all(is_effect(lowering, each) for each in [*node.body, *node.orelse])
    if not isinstance(node, gast.Expr):
        return False
    if isinstance(node.value, gast.Constant):
        return True
    return isinstance(node.value, gast.Call) and _is_effect_call(lowering, node.value.func)


def _is_effect_call(lowering: Lowering, function: gast.AST) -> bool:
    if isinstance(function, gast.Attribute) and isinstance(function.value, gast.Name):
        holder = unwrap(lowering.lookup(function.value))
        if isinstance(holder, logging.Logger):
            return function.attr in LOGGER_METHODS
        if isinstance(holder, types.ModuleType):
            return getattr(holder, function.attr, None) in EFFECTS
        return False
    if not isinstance(function, gast.Name):
        return False
    value = lowering.lookup(function)
    return any(value is each for each in EFFECTS)


# ---- keeping an expression whole -----------------------------------------------------------------


def kept(lowering: Lowering, node: gast.AST) -> gast.AST:
    """The tree with the user's names replaced by Core names and by the objects they stand for."""
    bound = {each.id for each in gast.walk(node) if isinstance(each, gast.Name) and _binds(each)}
    for each in gast.walk(node):
        _check(lowering, each, bound)
    return _replaced(lowering, node, bound)


def _binds(node: gast.Name) -> bool:
    return isinstance(node.ctx, gast.Store | gast.Param)


def _check(lowering: Lowering, node: gast.AST, bound: set[str]) -> None:
    """Only calls that change nothing may stand in what is kept."""
    if isinstance(node, gast.NamedExpr | gast.Await | gast.Yield | gast.YieldFrom):
        raise lowering.refuse(node)
    if not isinstance(node, gast.Call):
        return
    function = node.func
    if isinstance(function, gast.Attribute):
        if function.attr in PURE_METHODS or _is_effect_call(lowering, function):
            return
        value = _static_attribute(lowering, function)
    elif isinstance(function, gast.Name) and function.id not in bound:
        value = unwrap(lowering.lookup(function))
    else:
        value = None
    known = any(value is each for each in (*EFFECTS, *PURE)) or rule_for(value) is not None
    if not known and not (isinstance(value, type) and issubclass(value, BaseException)):
        raise UnsupportedError(
            "S2S201",
            "a call inside a print, an assert, a raise, an f-string or a boolean operator",
            origin=lowering.origin(node),
            why="it runs as it stands, and is not known to leave its arguments alone",
            help="assign its result to a name first",
        )


def _static_attribute(lowering: Lowering, node: gast.Attribute) -> Any:
    """The object that a dotted path of modules leads to, or None."""
    if isinstance(node.value, gast.Name):
        holder = unwrap(lowering.lookup(node.value))
    elif isinstance(node.value, gast.Attribute):
        holder = _static_attribute(lowering, node.value)
    else:
        return None
    return getattr(holder, node.attr, None) if isinstance(holder, types.ModuleType) else None


def _replaced(lowering: Lowering, node: Any, bound: set[str]) -> Any:
    if isinstance(node, list):
        return [_replaced(lowering, item, bound) for item in node]
    if isinstance(node, gast.Name):
        if node.id in bound:
            return node
        return as_expression(lowering, lowering.lookup(node))
    if isinstance(node, gast.Attribute):
        value = _static_attribute(lowering, node)
        if value is not None:
            return form.constant(value)
        return _attribute(lowering, node, bound)
    if isinstance(node, gast.Constant) or not isinstance(node, gast.AST):
        return node
    fields = {name: _replaced(lowering, getattr(node, name, None), bound) for name in node._fields}
    return type(node)(**fields)


def _attribute(lowering: Lowering, node: gast.Attribute, bound: set[str]) -> gast.AST:
    """x.shape stays as it is; self.rate is a captured number, config.rate an item of a Tree."""
    if isinstance(node.value, gast.Name) and node.value.id not in bound:
        holder = lowering.lookup(node.value)
        if isinstance(holder, Captured | Tree):
            return as_expression(lowering, lowering.evaluate(node))
    return gast.Attribute(_replaced(lowering, node.value, bound), node.attr, gast.Load())


def as_expression(lowering: Lowering, value: Any) -> gast.AST:
    """An expression that gives a lowering value."""
    if isinstance(value, Symbol):
        return form.name(value.name)
    if not isinstance(value, Tree):
        return form.constant(unwrap(value))
    items = [as_expression(lowering, item) for item in value.items]
    if value.kind is tuple:
        return gast.Tuple(items, gast.Load())
    if value.kind is list:
        return gast.List(items, gast.Load())
    if value.kind is dict:
        return gast.Dict([form.constant(key) for key in value.keys], items)
    positional = tree.is_namedtuple(value.kind)
    pairs = zip(value.keys, items, strict=True)
    keywords = [] if positional else [gast.keyword(key, item) for key, item in pairs]
    return gast.Call(form.constant(value.kind), items if positional else [], keywords)
