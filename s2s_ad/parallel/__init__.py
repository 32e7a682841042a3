"""The same functions on many cores and many machines: chunks of data, on Dask.

`data_parallel` adds what a function gives for chunks of its data, `vmap` maps a function over dask
arrays. The scheduler is Dask's; what travels to workers is generated text.
"""

from s2s_ad.parallel.batching import Mapped, vmap
from s2s_ad.parallel.chunks import Loader
from s2s_ad.parallel.data_parallel import DataParallel, data_parallel
from s2s_ad.parallel.per_chunk import PerChunk
from s2s_ad.parallel.training import Model

__all__ = ["DataParallel", "Loader", "Mapped", "Model", "PerChunk", "data_parallel", "vmap"]
