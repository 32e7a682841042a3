"""Functions on many cores and many machines: chunks of data, on Dask.

`data_parallel` adds what a function gives for chunks of its data, `vmap` maps a function over dask
arrays. The scheduler is Dask's; what travels to workers is generated text.
"""

from importlib.util import find_spec

from s2s_ad.diagnostics import S2SError

if not all(map(find_spec, ("cloudpickle", "dask"))):
    raise S2SError(
        "S2S503",
        "s2s_ad.parallel needs Dask, which is not installed",
        help="pip install s2s_ad[parallel]",
    )

from s2s_ad.parallel.batching import Mapped, vmap
from s2s_ad.parallel.chunks import Loader
from s2s_ad.parallel.data_parallel import DataParallel, data_parallel
from s2s_ad.parallel.explain import explain_parallel
from s2s_ad.parallel.per_chunk import PerChunk
from s2s_ad.parallel.training import Model

__all__ = [
    "DataParallel",
    "Loader",
    "Mapped",
    "Model",
    "PerChunk",
    "data_parallel",
    "explain_parallel",
    "vmap",
]
