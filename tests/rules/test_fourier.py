"""numpy.fft: every function with every keyword, of real and of complex numbers."""

import numpy as np
import pytest

from rules.cases.fourier import TRANSFORMS
from rules.complex_properties import check_complex
from rules.properties import module
from rules.test_complex import label, some_slow, takes_complex
from s2s_ad import grad


def kinds():
    """Each transform of real numbers, and of complex ones where it takes these."""
    found = []
    for each in TRANSFORMS:
        names = tuple(each.inputs)
        found.append((each, ()))
        found += [(each, names)] if takes_complex(each, names) else []
    return found


@pytest.mark.thinned(20)
@pytest.mark.parametrize("pair", some_slow(kinds(), 4), ids=label)
def test_transform(pair):
    check_complex(*pair)


def test_text_of_a_power_spectrum():
    f = module("def f(x):\n    return np.sum(np.abs(np.fft.rfft(x)) ** 2)\n").f
    text = grad(f).source(np.arange(5.0))
    assert 'np.fft.ifft(2 * np.fft.rfft(x), n=len(x), norm="forward").real' in text


def test_transform_of_unknown_numbers_needs_their_type():
    f = module("def f(x):\n    return np.sum(np.fft.fft(x).real)\n").f
    with pytest.raises(Exception, match="real or complex"):
        grad(f).source()


def test_a_spectrum_and_its_frequencies_are_equally_long():
    def near(x, f0):
        weight = np.exp(-((np.fft.rfftfreq(len(x)) - f0) ** 2))
        return np.sum(weight * np.abs(np.fft.rfft(x)) ** 2)

    x = np.array([0.3, -1.2, 0.7, 0.4, 2.0])
    assert "unbroadcast" not in grad(near, (0, 1)).source(x, 0.2)
    change = [near(x, 0.2 + step) for step in (1e-6, -1e-6)]
    np.testing.assert_allclose(grad(near, 1)(x, 0.2), (change[0] - change[1]) / 2e-6, rtol=1e-8)
