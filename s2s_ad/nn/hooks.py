"""Hooks of a Cell: functions of the user's that run around its construct."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

from s2s_ad.diagnostics import ArgumentTypeError
from s2s_ad.nn.check import shown


class Hooks:
    """The hooks of one cell, by when they run, in the order in which they were registered."""

    def __init__(self) -> None:
        self.forward_pre: dict[int, Callable] = {}
        self.forward: dict[int, Callable] = {}
        self.backward_pre: dict[int, Callable] = {}
        self.backward: dict[int, Callable] = {}

    def register(self, when: str, hook: Callable, cell: Any) -> Handle:
        """Add a hook.

        Raises:
            ArgumentTypeError: it is not a function.
        """
        if not callable(hook):
            raise ArgumentTypeError(
                "S2S501",
                f"register_{when}_hook: argument 'hook_fn', got {shown(hook)}; expected a function",
            )
        hooks = getattr(self, when)
        handle = Handle(hooks)
        hooks[handle.number] = hook
        cell._is_special = True
        return handle


class Handle:
    """What registering a hook gives: `remove()` ends it."""

    _numbers = itertools.count()

    def __init__(self, hooks: dict[int, Callable]):
        self.hooks, self.number = hooks, next(Handle._numbers)

    def remove(self) -> None:
        """End the hook; a second time nothing happens."""
        self.hooks.pop(self.number, None)
