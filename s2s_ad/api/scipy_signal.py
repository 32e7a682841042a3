"""scipy.signal: what is written in Python."""

from __future__ import annotations

import scipy.signal

from s2s_ad.api.written import write
from s2s_ad.written import scipy_signal

write(scipy.signal.csd, scipy_signal.csd)
write(scipy.signal.filtfilt, scipy_signal.filtfilt)
write(scipy.signal.hilbert, scipy_signal.hilbert)
write(scipy.signal.istft, scipy_signal.istft)
write(scipy.signal.periodogram, scipy_signal.periodogram)
write(scipy.signal.resample, scipy_signal.resample)
write(scipy.signal.sosfilt, scipy_signal.sosfilt)
write(scipy.signal.spectrogram, scipy_signal.spectrogram)
write(scipy.signal.stft, scipy_signal.stft)
write(scipy.signal.upfirdn, scipy_signal.upfirdn)
write(scipy.signal.welch, scipy_signal.welch)
