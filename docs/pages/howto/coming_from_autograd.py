"""
Coming from autograd
====================

Most programs change two imports. What autograd could not do, updates in place first of all, is
allowed.
"""

# %%
# .. list-table::
#    :header-rows: 1
#
#    * - autograd
#      - here
#    * - ``import autograd.numpy as np``
#      - ``import numpy as np``
#    * - ``from autograd import grad``
#      - ``from s2s_ad import grad``
#    * - ``elementwise_grad(f)``
#      - ``grad(f)``: of an array it is the gradient of the sum
#    * - ``jacobian``, ``hessian``
#      - :func:`~s2s_ad.jacrev` or :func:`~s2s_ad.jacfwd`, :func:`~s2s_ad.hessian`
#    * - ``make_jvp``, ``make_vjp``
#      - :func:`~s2s_ad.jvp`, :func:`~s2s_ad.vjp`
#    * - ``hessian_vector_product(f)(x, v)``
#      - ``jvp(grad(f), (x,), (v,))[1]``
#    * - ``@primitive`` and ``defvjp``
#      - :func:`~s2s_ad.custom_rule`
#    * - ``checkpoint``
#      - :func:`~s2s_ad.checkpoint`
#    * - ``autograd.scipy``
#      - ``scipy`` itself
#
# The first example of autograd's own page, as it stands but for the imports:

import numpy as np

from s2s_ad import grad


def tanh(x):
    return (1.0 - np.exp(-2 * x)) / (1.0 + np.exp(-2 * x))


grad_tanh = grad(tanh)
print(grad_tanh(1.0), (tanh(1.0001) - tanh(0.9999)) / 0.0002)

# %%
# And six derivatives deep:

import matplotlib.pyplot as plt

x = np.linspace(-7, 7, 200)
fig, ax = plt.subplots(figsize=(6.4, 2.8))
f = tanh
for order in range(7):
    values = f(x)
    ax.plot(x, values / np.abs(values).max(), lw=1.5, label=str(order))
    f = grad(f)
ax.set(title="tanh and six derivatives, scaled", yticks=[])
ax.spines["left"].set_visible(False)
ax.legend(fontsize=7, ncols=7, loc="upper center", bbox_to_anchor=(0.5, -0.08))
plt.show()

# %%
# What was forbidden
# ------------------
#
# In autograd, assignment to arrays raised an error, and each operation was recorded at each
# call. Here it is compiled once, and assignment is assignment:


def smooth(x):
    for _ in range(3):
        x[1:-1] = (x[:-2] + x[2:]) / 2
    return np.sum(x**2)


print(grad(smooth)(np.arange(5.0) ** 2))
