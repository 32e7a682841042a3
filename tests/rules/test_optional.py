"""Rules of SciPy, which may be missing: found when they are asked for, and named in the text."""

import subprocess
import sys

import numpy as np
import pytest
from scipy.special import erf

from rules.properties import module
from s2s_ad import grad
from s2s_ad.diagnostics import NoDerivative

X = np.array([0.1, 0.7])
SLOPE = 2 / np.sqrt(np.pi) * np.exp(-(X**2))


@pytest.mark.parametrize(
    "head, call",
    [
        ("import scipy.special", "scipy.special.erf(x)"),
        ("from scipy import special", "special.erf(x)"),
        ("from scipy.special import erf", "erf(x)"),
    ],
)
def test_the_text_imports_the_public_module(head, call):
    f = module(f"{head}\ndef f(x):\n    return np.sum({call} ** 2)\n").f
    text = grad(f).source(X, standalone=True)
    assert "import numpy as np\nimport scipy.special\n" in text
    assert "scipy.special.erf(x)" in text
    space = {}
    exec(text, space)
    np.testing.assert_allclose(space["f_grad"](X), grad(f)(X), rtol=1e-15)


def test_a_function_without_a_rule_is_named_as_its_users_name_it():
    f = module("def f(x):\n    return scipy.stats.norm.expect(x)\n").f
    with pytest.raises(NoDerivative, match=r"scipy\.stats\.norm\.expect has no rule"):
        grad(f)(1.0)


def test_rows_are_imported_when_the_first_function_is_met():
    program = """
import sys, s2s_ad
from s2s_ad.core.registry import rule_for
assert "scipy" not in sys.modules
import scipy.special
assert "s2s_ad.rules.scipy_special" not in sys.modules
assert rule_for(scipy.special.erf) is not None
assert "s2s_ad.rules.scipy_special" in sys.modules
"""
    subprocess.run([sys.executable, "-c", program], check=True)


def test_a_name_of_the_users_may_be_the_librarys():
    head = "from scipy.special import erf\n"
    f = module(f"{head}def f(x):\n    scipy = 2 * x\n    return erf(scipy) ** 2\n").f
    expected = 4 * erf(0.4) * 2 / np.sqrt(np.pi) * np.exp(-0.16)
    np.testing.assert_allclose(grad(f)(0.2), expected, rtol=1e-12)
    assert "\n    scipy = " not in grad(f).source(0.2)


@pytest.mark.thinned(4)
@pytest.mark.parametrize(
    "release, refused", [("1.15.3", True), ("1.9.0", True), ("1.16.0", False), ("2.0.0rc1", False)]
)
def test_older_releases_are_refused_by_name(release, refused):
    program = f"""
import scipy.special
from s2s_ad.core.registry import rule_for
from s2s_ad.diagnostics import UnsupportedError
scipy.__version__ = {release!r}
try:
    assert rule_for(scipy.special.erf) is not None
except UnsupportedError as error:
    print(error.what, error.help)
"""
    said = subprocess.check_output([sys.executable, "-c", program], text=True)
    expected = f"functions of SciPy {release} pip install 'scipy>=1.16'" if refused else ""
    assert said.strip() == expected
