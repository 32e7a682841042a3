"""What a call of an object runs, and what it is called in the text.

The `__call__` of a class may name the method that it leads to in its attribute `__s2s_method__`:
signature, place and name of a call are then those of that method and of the object. What Numba has
compiled, or functools keeps the results of, is called by the function that it was made from.
"""

from __future__ import annotations

import functools
import inspect
import re
import types
from typing import Any

from s2s_ad.core.program import as_name
from s2s_ad.frontend.numba_ import python_of

#: the type of what functools.cache and functools.lru_cache make
CACHED = type(functools.cache(lambda: None))


def _made_from(function: Any) -> Any:
    """The Python of what Numba has compiled, or functools keeps the results of; None of others."""
    return function.__wrapped__ if isinstance(function, CACHED) else python_of(function)


def called(function: Any) -> Any:
    """What stands for a call of an object: the method that its `__call__` names, or its Python."""
    python = _made_from(function)
    if python is not None:
        return python
    method = inspect.getattr_static(type(function), "__call__", None)
    name = getattr(method, "__s2s_method__", None)
    return function if name is None else getattr(function, name)


def name_of_call(function: Any, plain: types.FunctionType) -> str:
    """What a program is called: as its function, and a call of an object as the object's class."""
    if called(function) is not function and _made_from(function) is None:
        return _snake(type(function).__name__)
    return as_name(plain.__name__)


def name_of_method(function: Any, holder: Any, text: str) -> str | None:
    """What the method is called that an object's call is; None where it has its own name.

    It is the attribute that holds the object; the class where an index leads to it.
    """
    if getattr(called(holder), "__func__", None) is not function or called(holder) is holder:
        return None
    return as_name(text.rpartition(".")[2], _snake(type(holder).__name__))


def name_of_special(name: str, kind: type | None) -> str:
    """The name of a helper; `__call__`, as every method that operators call, says its class too."""
    special = kind is not None and name.startswith("__") and name.endswith("__")
    if not special:
        return name
    word = "" if name == "__call__" else f"_{name.strip('_')}"
    return as_name(f"{_snake(kind.__name__)}{word}")


def _snake(name: str) -> str:
    """BatchNorm -> batch_norm, MLP -> mlp"""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", name).lower()
