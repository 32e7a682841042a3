"""scipy.special: functions of single numbers, with the derivatives of the DLMF."""

from __future__ import annotations

import scipy.special as sp

from s2s_ad.rules.elementwise import elementwise

elementwise(sp.erf, "y_bar * (2 / math.sqrt(math.pi) * np.exp(-(x**2)))")
