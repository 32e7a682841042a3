"""What the command works on: a module from a file or by name, and an expression in it."""

from __future__ import annotations

import importlib
import importlib.util
import linecache
import sys
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import ModuleType
from typing import Any

from s2s_ad.api import make


class TargetError(Exception):
    """The target cannot be found, or is not a module."""


def module_of(target: str) -> ModuleType:
    """The module: the path of a .py file, or a dotted name; the current directory counts.

    The file is imported under its own name, so that what stands under
    `if __name__ == "__main__"` does not run.
    """
    path = Path(target)
    if path.suffix == ".py" or path.is_file():
        return _from_file(path)
    sys.path.insert(0, "")
    if _spec(target) is None:
        raise TargetError(f"{target} is neither a file nor a module that can be found")
    return importlib.import_module(target)


def file_of(target: str) -> str:
    """The path of the file that the target is, or that the module is in."""
    path = Path(target)
    if path.suffix == ".py" or path.is_file():
        if not path.is_file():
            raise TargetError(f"there is no file {path}")
        return str(path.resolve())
    sys.path.insert(0, "")
    spec = _spec(target)
    if spec is None or not spec.has_location:
        raise TargetError(f"{target} is neither a file nor a module that can be found")
    return str(spec.origin)


def _spec(target: str) -> ModuleSpec | None:
    try:
        return importlib.util.find_spec(target)
    except (ImportError, ValueError):
        return None


def _from_file(path: Path) -> ModuleType:
    if not path.is_file():
        raise TargetError(f"there is no file {path}")
    name = path.stem
    if name in sys.modules:
        raise TargetError(f"{path} has the name of a module that is in use: rename it")
    path = path.resolve()
    sys.path.insert(0, str(path.parent))
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise TargetError(f"{path} is not a Python file")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def defined_in(module: ModuleType) -> list[str]:
    """The functions and classes that a module defines."""
    own = [name for name, each in vars(module).items() if _is_of(each, module)]
    return [name for name in own if not name.startswith("_")]


def _is_of(value: Any, module: ModuleType) -> bool:
    return callable(value) and getattr(value, "__module__", None) == module.__name__


def evaluate(expression: str, module: ModuleType, label: str) -> Any:
    """The value of an expression in the module's namespace and the public names of s2s_ad.

    A lambda in it can be compiled: the expression is put where source is looked for.
    """
    text = expression.strip()
    file = f"<{label}>"
    linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
    public = {name: getattr(make, name) for name in make.__all__}
    return eval(compile(text, file, "eval"), public | vars(module))
