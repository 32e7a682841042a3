"""Arrays of other libraries: what they are called, and how NumPy's is had of one."""

from __future__ import annotations

import numpy as np

#: methods that such arrays have, by what a call that gives NumPy's looks like
WAYS = {"to_numpy": ".to_numpy()", "detach": ".detach().numpy()", "compute": ".compute()"}


def name_of_foreign(kind: type) -> str:
    """What a message calls arrays of a class that is not NumPy's; "" for any other class.

    Such objects say of themselves that they can be arrays of NumPy's.
    """
    of_numpy = any(each.__module__.partition(".")[0] == np.__name__ for each in kind.__mro__)
    if of_numpy or not hasattr(kind, "__array__"):
        return ""
    return f"{kind.__module__.partition('.')[0]} {kind.__qualname__}"


def to_numpy(kind: type) -> str:
    """How the array of NumPy's is had of one."""
    found = [way for name, way in WAYS.items() if callable(getattr(kind, name, None))]
    return found[0] if found else "np.asarray(...)"
