"""Functions over chunks are the outermost: no transform looks into what runs on other machines."""

from __future__ import annotations

from typing import Any

from s2s_ad.diagnostics import UnsupportedError


class Outermost:
    """What is refused where a transform, or a function that is compiled, meets it.

    `label` is what made it.
    """

    label: str

    def __s2s_lower__(self, facts: dict[str, Any]) -> Any:
        raise self._refused()

    def __s2s_call__(self, lowering: Any, args: list, kwargs: dict[str, Any]) -> Any:
        raise self._refused(lowering.builder.origin)

    def _refused(self, origin: Any = None) -> UnsupportedError:
        return UnsupportedError(
            "S2S203",
            f"a transform of {self!r}",
            origin=origin,
            why="its chunks run on other threads or machines, and nothing is derived there",
            help=f"put the transform inside: {self.label}(grad(f), in_axes)",
        )
