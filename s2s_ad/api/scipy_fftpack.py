"""scipy.fftpack: what is written in Python."""

from __future__ import annotations

import scipy.fftpack

from s2s_ad.api.written import write
from s2s_ad.written import scipy_fftpack

for each in scipy_fftpack.__all__:
    write(getattr(scipy.fftpack, each), getattr(scipy_fftpack, each))
