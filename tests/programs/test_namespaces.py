"""The corpus in other array namespaces: the text gives what NumPy's gives, or is refused."""

import copy

import numpy as np
import pytest

from emit.test_namespaces import run
from programs.test_corpus import CASES, SUPPORTED, derived
from s2s_ad.diagnostics import UnsupportedError


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("program", SUPPORTED)
@pytest.mark.parametrize("name", ["array_api", "jax.numpy", "torch"])
def test_the_text_is_right_or_refused(name, program):
    try:
        pairs = run(name, derived(program), copy.deepcopy(CASES[program].arguments))
    except UnsupportedError as refused:
        pytest.skip(str(refused).splitlines()[0])
    for found, expected in pairs:
        np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-12)
