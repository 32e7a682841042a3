"""Initial values of parameters, by the path that MindSpore has for them."""

from s2s_ad.nn.initializers import *  # noqa: F403
from s2s_ad.nn.initializers import __all__ as __all__
