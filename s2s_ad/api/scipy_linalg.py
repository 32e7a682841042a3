"""scipy.linalg: what is written in Python."""

from __future__ import annotations

import scipy.linalg

from s2s_ad.api.written import write
from s2s_ad.written import scipy_linalg

write(scipy.linalg.fiedler_companion, scipy_linalg.fiedler_companion)
