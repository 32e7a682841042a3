"""scipy.stats: what is written in Python."""

from __future__ import annotations

import scipy.stats

from s2s_ad.api.written import write
from s2s_ad.written import scipy_stats

write(scipy.stats.gaussian_kde, scipy_stats.gaussian_kde)
