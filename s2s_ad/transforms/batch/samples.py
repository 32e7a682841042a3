"""The form of last resort: one sample after the other, for what has no batched form."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

from s2s_ad import runtime
from s2s_ad.core import measure
from s2s_ad.core.registry import Operation
from s2s_ad.diagnostics import BatchError, SampleLoopWarning

if TYPE_CHECKING:
    from s2s_ad.transforms.batch.core import Batch


def each_sample(context: Batch, operation: Operation, flags: list[bool]) -> Any:
    """Apply the operation to one sample after the other."""
    if any(context.is_batched(each) for each in operation.params.values()):
        raise BatchError(
            "S2S402",
            f"{operation.rule.name} with an index or parameter that differs between samples",
            origin=context.builder.origin,
            help="give example arguments, so that ranks are known",
        )
    if all(measure.rank(each) is not None for each in operation.operands):
        origin = context.builder.origin
        place = f" ({origin.file}:{origin.line})" if origin else ""
        text = f"{operation.rule.name} has no batched form: a loop over samples{place}"
        warnings.warn(text, SampleLoopWarning, stacklevel=2)
    arguments = (operation.rule.function, tuple(flags), *operation.operands)
    return context.builder.call(runtime.each_sample, arguments, operation.params)
