"""A transform of a class method: made for each class that the method is read from."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from s2s_ad.api.recent import Recent


class ClassMethod:
    """What `@grad` over `@classmethod` leaves in the class: the class is not one of the inputs."""

    def __init__(self, method: classmethod, make: Callable[[Callable], Any]):
        functools.update_wrapper(self, method, updated=())
        self._method, self._make = method, make
        self._made = Recent()

    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        owner = owner or type(instance)
        bound = self._method.__get__(instance, owner)
        return self._made.get((owner,), lambda: self._make(bound))
