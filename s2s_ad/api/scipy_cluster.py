"""scipy.cluster: what is written in Python."""

from __future__ import annotations

import scipy.cluster.vq

from s2s_ad.api.written import write
from s2s_ad.written import scipy_cluster

write(scipy.cluster.vq.vq, scipy_cluster.vq)
