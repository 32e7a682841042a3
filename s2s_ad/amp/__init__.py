"""Loss scaling and mixed precision."""

from s2s_ad.amp.managers import DynamicLossScaleManager, FixedLossScaleManager
from s2s_ad.amp.precision import (
    auto_mixed_precision,
    custom_mixed_precision,
    get_black_list,
    get_white_list,
)
from s2s_ad.amp.scaling import DynamicLossScaler, LossScaler, StaticLossScaler, all_finite

__all__ = [
    "DynamicLossScaleManager",
    "DynamicLossScaler",
    "FixedLossScaleManager",
    "LossScaler",
    "StaticLossScaler",
    "all_finite",
    "auto_mixed_precision",
    "custom_mixed_precision",
    "get_black_list",
    "get_white_list",
]
