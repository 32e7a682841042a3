"""Modules written by a test: source text in a file of its own, imported."""

import importlib.util
import itertools
import sys
import textwrap

_number = itertools.count()


def load(folder, text, name=None):
    """The module with this text."""
    name = name or f"user_module_{next(_number)}"
    path = folder / f"{name}.py"
    path.write_bytes(textwrap.dedent(text).encode())
    return load_file(path)


def load_file(path):
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[path.stem] = module
    sys.dont_write_bytecode, before = True, sys.dont_write_bytecode
    try:
        spec.loader.exec_module(module)
    finally:
        sys.dont_write_bytecode = before
    return module
