"""What Numba has compiled of native code, kept on disk between processes.

A function of Numba's asks the object in its `_cache` before it compiles, and hands it the result.
"""

from __future__ import annotations

import ast
import functools
import hashlib
import importlib.metadata
import pickle
import platform
import sys
from collections.abc import Callable, Mapping
from typing import Any

from s2s_ad.load.disk_cache import DiskCache, default_folder


def digest_of(text: str) -> str:
    """What tells the code of modules apart; comments, docstrings and blank lines do not.

    They name lines of the user's, which move when something else is edited.
    """
    module = ast.parse(text)
    for each in ast.walk(module):
        if isinstance(each, ast.FunctionDef) and ast.get_docstring(each, clean=False) is not None:
            del each.body[0]
    return hashlib.sha256(ast.dump(module).encode()).hexdigest()


def tell_apart(functions: Mapping[str, Any], digest: str) -> None:
    """Name functions of Numba's by their module, too.

    What has one name and one number is one function to the linker, and Numba counts from 1 in each
    process: code of another process might meet such a one.
    """
    for name, function in functions.items():
        own = getattr(function, "py_func", None)
        if own is not None:
            own.__qualname__ = f"{name}_{digest[:16]}"


def keep_on_disk(functions: Mapping[str, Callable], digest: str) -> None:
    """Let functions of one module find on disk what was compiled of them before.

    Args:
        digest: says all of the module that their code depends on.
    """
    folder = default_folder()
    if folder is None:
        return
    disk = DiskCache(folder)
    for name, function in functions.items():
        if hasattr(function, "_cache"):
            function._cache = Compiled(disk, name, digest, function.__doc__ or "")


class Compiled:
    """What Numba asks for one function; the methods are those of its own caches."""

    cache_path = None

    def __init__(self, disk: DiskCache, name: str, digest: str, doc: str):
        self.disk, self.name, self.digest = disk, name, digest
        self.shown = " ".join(doc.split("\n\n")[0].split())

    def load_overload(self, signature: Any, target_context: Any) -> Any:
        """The compiled code for arguments of these types; None where there is none."""
        from numba.core.compiler import CompileResult

        payload = self.disk.read(self._made_of(signature, target_context.codegen()))
        if payload is None:
            return None
        try:
            symbols, made = pickle.loads(payload)
            _provide(symbols, target_context)
            return CompileResult._rebuild(target_context, *made)
        except Exception:  # of Numba's: the code is compiled anew, and takes its place
            return None

    def save_overload(self, signature: Any, result: Any) -> None:
        """Keep what was compiled, where it can be kept: no addresses stand in it."""
        from numba.core import serialize

        if result.lifted or result.library.has_dynamic_globals:
            return
        try:
            payload = serialize.dumps((_symbols_of(result.library), result._reduce()))
        except Exception:  # something in it cannot be pickled
            return
        self.disk.write(self._made_of(signature, result.codegen), payload, self.shown)

    def _made_of(self, signature: Any, codegen: Any) -> dict[str, Any]:
        """All that the machine code follows from."""
        from numba.core.sigutils import normalize_signature

        types, _ = normalize_signature(signature)
        return {
            "function": self.name,
            "arguments": [str(each) for each in types],
            "text": self.digest,
            "versions": versions(),
            "processor": [platform.machine(), *codegen.magic_tuple()],
            "settings": _settings(),
        }

    def enable(self) -> None:
        """Numba's caches can be switched; this one is, or is not there."""

    disable = flush = enable


def _symbols_of(library: Any) -> tuple[str, ...]:
    """What machine code expects of the process: functions and values that stand outside of it."""
    module = library._final_module
    parts = (*module.functions, *module.global_variables)
    names = (each.name for each in parts if each.is_declaration)
    return tuple(each for each in names if not each.startswith("llvm."))  # those LLVM has


def _provide(symbols: tuple[str, ...], target_context: Any) -> None:
    """Have what machine code expects in the process.

    Most of it Numba brings along; for the rest it imports all that it has rules for, and SciPy's
    linear algebra, which takes as long as all else together.
    """
    from numba.core.codegen import ll
    from numba.core.runtime import rtsys

    rtsys.initialize(target_context)
    if not all(map(ll.address_of_symbol, symbols)):
        target_context.refresh()


@functools.cache
def versions() -> dict[str, str]:
    """The releases that machine code, or its form on disk, may depend on."""
    found = {"python": f"{sys.implementation.name} {sys.version}"}
    for name in ("s2s_ad", "numba", "llvmlite", "numpy"):
        try:
            found[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:  # it runs from where its source is
            found[name] = ""
    return found


def _settings() -> str:
    """Numba's settings, which variables of the environment or the program may have changed."""
    from numba import config

    plain = (bool, int, float, str, tuple, list, type(None))
    known = {k: str(v) for k, v in vars(config).items() if k.isupper() and isinstance(v, plain)}
    return hashlib.sha256(repr(sorted(known.items())).encode()).hexdigest()
