"""A refusal shows the user's frames, not those of the compiler."""

from __future__ import annotations

import functools
import os
from collections.abc import Callable
from typing import Any, TypeVar

from s2s_ad.diagnostics import InternalError, S2SError

Method = TypeVar("Method", bound=Callable[..., Any])

#: the variable of the environment that brings the frames of the compiler back
SWITCH = "S2S_AD_TRACEBACK"


def shortened(error: S2SError) -> S2SError:
    """The error without the frames it came through, unless it is a fault of ours.

    With `S2S_AD_TRACEBACK=full` it stays as it is.
    """
    if isinstance(error, InternalError) or os.environ.get(SWITCH) == "full":
        return error
    error.__cause__, error.__suppress_context__ = None, True
    return error.with_traceback(None)


def short(method: Method) -> Method:
    """A method whose refusals come without the frames of the compiler."""

    @functools.wraps(method)
    def call(*args: Any, **kwargs: Any) -> Any:
        try:
            return method(*args, **kwargs)
        except S2SError as error:
            raise shortened(error)  # noqa: B904  (it is this one)

    return call
