"""The settings of MindSpore's that its programs begin with; here there is nothing to set."""

from __future__ import annotations

from typing import Any

from s2s_ad.api.check_arguments import shown
from s2s_ad.diagnostics import ArgumentValueError

GRAPH_MODE, PYNATIVE_MODE = 0, 1


def set_context(**options: Any) -> None:
    """Accepted, and nothing else: eager code is Python's, what `jit` and its kin take is compiled.

    Raises:
        ArgumentValueError: `mode` is none of MindSpore's.

    Example:
        >>> import s2s_ad as ms
        >>> ms.set_context(mode=ms.PYNATIVE_MODE, device_target="CPU")
    """
    mode = options.get("mode", GRAPH_MODE)
    if mode not in (GRAPH_MODE, PYNATIVE_MODE):
        raise ArgumentValueError(
            "S2S502",
            "set_context: argument 'mode' must be GRAPH_MODE (0) or PYNATIVE_MODE (1), "
            f"got {shown(mode)}",
        )
