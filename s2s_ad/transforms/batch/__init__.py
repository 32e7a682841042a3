"""Batching: a program of one sample becomes a program of a batch, the batch axis first."""

from s2s_ad.transforms.batch import sample_rule  # noqa: F401  (registers its rule)
from s2s_ad.transforms.batch.context import Batch
from s2s_ad.transforms.batch.walk import batch

__all__ = ["Batch", "batch"]
