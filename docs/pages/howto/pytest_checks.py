"""
Test derivatives with pytest
============================

Two questions belong into a test: are the derivatives right, and has the generated text changed?
"""

import numpy as np
import pytest

from s2s_ad import custom_rule, grad, vmap
from s2s_ad.check import check

# %%
# The function under test, with a rule of its own, in which somebody may have made a mistake.


@custom_rule(reverse=lambda y_bar, y, x: y_bar * y * (1 - y))
def logistic(x):
    return 1 / (1 + np.exp(-x))


def loss(w, x):
    return np.sum(logistic(x @ w) ** 2)


w, x = np.array([0.3, -0.2]), np.random.default_rng(0).normal(size=(4, 2))

# %%
# Right?
# ------
#
# The report is true where everything agrees, so an ``assert`` is enough; pytest shows the
# report when it is not.


def test_the_gradient_is_right():
    report = check(grad(loss), w, x)
    assert report.passed, str(report)


def test_the_batch_is_right():
    report = check(vmap(grad(loss), in_axes=(None, 0)), w, x[:, None])
    assert report.passed, str(report)


test_the_gradient_is_right()
test_the_batch_is_right()
print(check(grad(loss), w, x))

# %%
# A wrong rule is found:

wrong = custom_rule(lambda x: 1 / (1 + np.exp(-x)), reverse=lambda y_bar, y, x: y_bar * y)
print(check(grad(lambda x: np.sum(wrong(x))), w))

# %%
# The plugin
# ----------
#
# With ``pytest_plugins = ["s2s_ad.pytest_plugin"]`` in ``conftest.py``, a mark does the same
# before the body of the test runs. Arguments are described, or given with ``args=``.


@pytest.mark.derivatives(grad(loss), "f64[2], f64[4,2]")
def test_the_loss():
    assert loss(w, x) > 0


# %%
# Unchanged?
# ----------
#
# A golden file makes changes of the derivative visible in a review, as ``git diff``.


def test_the_text_is_the_one_in_the_repository(tmp_path):
    golden = tmp_path / "loss_grad.py"  # in a repository: a file beside the test
    text = grad(loss).source(w, x, standalone=True)
    if not golden.exists():
        golden.write_text(text)
    assert golden.read_text() == text
