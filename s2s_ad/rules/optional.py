"""Rules of libraries that may be missing: a part's rows are imported when the part is first met."""

from __future__ import annotations

import functools
import importlib
import importlib.util
from typing import Any

from s2s_ad.core.homes import module_of
from s2s_ad.core.registry import FINDERS, RULES, Rule
from s2s_ad.core.sharing import unforked


def rule_of_optional(function: Any) -> Rule | None:
    """The rule of a function of SciPy: the rows of `scipy.linalg` are in `scipy_linalg`."""
    module = module_of(function)
    if module is None or not _load("_".join(module.split(".")[:2])):
        return None
    return RULES.get(function)


@functools.cache
def _load(name: str) -> bool:
    """Import the rows of a part; whether there are any."""
    full = f"{__package__}.{name}"
    if importlib.util.find_spec(full) is None:
        return False
    with unforked:
        importlib.import_module(full)
    return True


FINDERS.append(rule_of_optional)
