"""Rules of libraries that may be missing: a part's rows are imported when the part is first met."""

from __future__ import annotations

import functools
import importlib
import importlib.util
from typing import Any

from s2s_ad.core.homes import module_of
from s2s_ad.core.registry import FINDERS, RULES
from s2s_ad.core.rule import Rule
from s2s_ad.core.sharing import unforked
from s2s_ad.diagnostics import UnsupportedError
from s2s_ad.versions import OLDEST_SCIPY, scipy_too_old


def rule_of_optional(function: Any) -> Rule | None:
    """The rule of a function of SciPy: the rows of `scipy.linalg` are in `scipy_linalg`."""
    return RULES.get(function) if load_part(__package__, module_of(function)) else None


@functools.cache
def load_part(package: str, module: str | None) -> bool:
    """Import what a package of ours has for a module of SciPy; whether it has anything.

    Raises:
        UnsupportedError: SciPy is older than the releases that ours is right for.
    """
    if module is None:
        return False
    full = f"{package}.{'_'.join(module.split('.')[:2])}"
    if importlib.util.find_spec(full) is None:
        return False
    _check_release()
    with unforked:
        importlib.import_module(full)
    return True


def _check_release() -> None:
    release = scipy_too_old()
    if release is None:
        return
    oldest = ".".join(map(str, OLDEST_SCIPY))
    raise UnsupportedError(
        "S2S203",
        f"functions of SciPy {release}",
        why=f"their rules are right for SciPy {oldest} and later",
        help=f"pip install 'scipy>={oldest}'",
    )


FINDERS.append(rule_of_optional)
