"""Imports inside functions: the module is imported now, and the name is a local like any other."""

from __future__ import annotations

import importlib
import sys
import types
from typing import Any

import gast

from s2s_ad.diagnostics import UnsupportedError
from s2s_ad.frontend.lower.core import CONTINUE, Lowering, statement
from s2s_ad.frontend.lower.nonlocals import give_name
from s2s_ad.frontend.resolve import Captured, Place


@statement(gast.Import)
def import_module(lowering: Lowering, node: gast.Import) -> Any:
    """`import scipy.special as sp` Modules are imported when code is generated."""
    for alias in node.names:
        module = _imported(lowering, alias.name)
        if alias.asname is None:  # `import a.b` binds a
            module = sys.modules[alias.name.partition(".")[0]]
        _bind(lowering, node, alias, _captured(lowering, module))
    return CONTINUE


@statement(gast.ImportFrom)
def import_names(lowering: Lowering, node: gast.ImportFrom) -> Any:
    """`from math import sqrt` Names of modules, which are imported when code is generated."""
    path = "." * (node.level or 0) + (node.module or "")
    module = _imported(lowering, path)
    for alias in node.names:
        if not hasattr(module, alias.name) and hasattr(module, "__path__"):
            _imported(lowering, f"{module.__name__}.{alias.name}")
        if not hasattr(module, alias.name):
            what = f"cannot import name {alias.name!r} from {module.__name__!r}"
            raise lowering.there_is_none(ImportError(what))
        holder = _captured(lowering, module)
        _bind(lowering, node, alias, lowering.captures.attribute(holder, alias.name))
    return CONTINUE


def _imported(lowering: Lowering, path: str) -> types.ModuleType:
    """The module; where there is none, the path of the function raises as Python does."""
    package = lowering.frame.globals.get("__package__")
    try:
        return importlib.import_module(path, package)
    except ImportError as error:
        plain = type(error)(*error.args)
        raises = lowering.there_is_none(plain)
        if raises is not plain:
            raise raises from None
        help = "install it, or leave out what needs it"
        raise UnsupportedError("S2S202", f"the import of {path}: {error}", help=help) from None


def _captured(lowering: Lowering, module: types.ModuleType) -> Captured:
    """The module as the object that stands in `sys.modules`, under a guard."""
    name = module.__name__
    key = (id(sys.modules), name)
    place = Place(name, lambda: sys.modules[name], key, (sys.modules, name))
    return lowering.captures.of(module, place)


def _bind(lowering: Lowering, node: gast.stmt, alias: gast.alias, value: Any) -> None:
    name = alias.asname or alias.name.partition(".")[0]
    target = gast.Name(name, gast.Store(), None, None)
    give_name(lowering, gast.copy_location(target, node), value)
