"""The texts of a call, one for each length of its chunks, and the values that they are bound to."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from s2s_ad.load.module import Loaded
from s2s_ad.parallel.calls import Call
from s2s_ad.parallel.tasks import Bound, contiguous
from s2s_ad.parallel.travel import Packed, packed


@dataclass(frozen=True)
class Texts:
    """What is compiled for a call, and the same as it travels, by the length of a chunk."""

    call: Call
    loaded: dict[int, Loaded]
    packed: dict[int, Packed]

    @classmethod
    def of(cls, call: Call, lengths: Iterable[int] | None = None) -> Texts:
        """Those for chunks of these lengths; of all chunks without them."""
        wanted = dict.fromkeys(call.lengths if lengths is None else lengths)
        loaded = {length: call.loaded(length) for length in wanted}
        form = call.travelling()
        return cls(call, loaded, {n: packed(each, form, call.label) for n, each in loaded.items()})

    def bound(self, *, copied: bool = False) -> Bound:
        """Arguments and captured values as they are now; copies, where they may change later."""

        def sent(value: Any) -> Any:
            if not isinstance(value, np.ndarray):
                return value
            return np.array(value) if copied else contiguous(value)

        captured = {
            text.digest: [sent(loaded.namespace[name]) for name in loaded.text.captured]
            for text, loaded in zip(self.packed.values(), self.loaded.values(), strict=True)
        }
        return Bound([sent(each) for each in self.call.shared], captured)
