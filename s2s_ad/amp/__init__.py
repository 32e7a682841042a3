"""Loss scaling and mixed precision."""

from s2s_ad.amp.scaling import DynamicLossScaler, LossScaler, StaticLossScaler, all_finite

__all__ = ["DynamicLossScaler", "LossScaler", "StaticLossScaler", "all_finite"]
